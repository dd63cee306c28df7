/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the energy of each domain, slice by slice: idle by the baseline, the rest by the share
 * key, what has no owner to unattributed. Every division is checked to add up to the last nJ. It
 * must not know what kinds of activity there are.
 */
#include "attrib/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/doubt.h"
#include "attrib/parts.h"
#include "attrib/reserve.h"
#include "base/util.h"

/* Energy is spread evenly between two readings: only longer blocks show power. */
#define BLOCK_PACES 4
/* And so much of the energy of such a block is not that of its neighbours. */
#define JOINT_PACES 2

static void init_baseline(struct watt_baseline *baseline, const struct watt_channel *channel)
{
	baseline->min_block_ns = BLOCK_PACES * channel->period_ns;
	baseline->baseline_uw = channel->idle_uw;
	baseline->is_given = baseline->is_ready = channel->idle_uw > 0;
	baseline->from = baseline->is_given ? WATT_BASELINE_GIVEN : WATT_BASELINE_UNKNOWN;
}

static int ledger_init(struct watt_attrib *at, struct watt_ledger *ledger,
		       const struct watt_domain *domain, const struct watt_channel *const *channels)
{
	int r;

	*ledger = (struct watt_ledger){
		.domain = domain, .is_usable = true, .next_seq = 1, .key = domain->key
	};
	ledger->bases = calloc(at->accounts.n_windows, sizeof(*ledger->bases));
	if (!ledger->bases)
		return -ENOMEM;
	if (domain->channel >= 0)
		init_baseline(&ledger->baseline, channels[domain->channel]);
	r = watt_ledger_init_places(at, ledger);
	/* its GPU's ledger gives it what is its own */
	if (r < 0 || watt_ledger_is_instance(ledger))
		return r;
	return watt_ledger_open_keys(at, ledger);
}

static bool is_unread(const struct watt_domain *domain, const struct watt_channel *const *channels)
{
	return domain->channel >= 0 && (channels[domain->channel]->flags & WATT_CHANNEL_UNREAD);
}

int watt_ledgers_grow(struct watt_attrib *at, const struct watt_channel *const *channels,
		      bool is_late)
{
	struct watt_ledger *ledgers;
	int r = 0;

	ledgers = reallocarray(at->ledgers, at->tree.n_domains + 1, sizeof(*ledgers));
	if (!ledgers)
		return -ENOMEM;
	at->ledgers = ledgers;
	for (; at->n_ledgers < at->tree.n_domains && r == 0; at->n_ledgers++) {
		struct watt_ledger *ledger = &ledgers[at->n_ledgers];

		r = ledger_init(at, ledger, &at->tree.domains[at->n_ledgers], channels);
		if (r == 0 && watt_ledger_is_instance(ledger))
			ledgers[ledger->domain->parent].n_instances++;
		/* nobody waits for what may never have a reading */
		if (is_late || is_unread(ledger->domain, channels))
			ledger->join_seq = ledger->next_seq = WATT_NOT_JOINED;
		ledger->come_ns = is_late ? at->now_ns : 0;
	}
	return r;
}

int watt_ledgers_add_windows(struct watt_attrib *at, size_t n_windows)
{
	size_t had = at->accounts.n_windows, i;

	for (i = 0; i < at->n_ledgers; i++) {
		struct watt_ledger *ledger = &at->ledgers[i];
		struct watt_ledger_base *bases;

		bases = reallocarray(ledger->bases, n_windows, sizeof(*bases));
		if (!bases)
			return -ENOMEM;
		memset(&bases[had], 0, (n_windows - had) * sizeof(*bases));
		ledger->bases = bases;
	}
	return 0;
}

/* From a slice on that is yet to come: nobody has passed it, so every sum can count it. */
void watt_ledgers_join(struct watt_attrib *at, const struct watt_timeline *tl)
{
	struct watt_curve_stats stats;
	size_t i;

	for (i = 0; i < at->n_ledgers; i++) {
		struct watt_ledger *ledger = &at->ledgers[i];

		if (ledger->join_seq != WATT_NOT_JOINED || ledger->domain->channel < 0)
			continue;
		watt_timeline_get_stats(tl, (size_t)ledger->domain->channel, &stats);
		if (stats.first_ns && stats.first_ns <= at->last_sweep_ns)
			ledger->join_seq = ledger->next_seq = at->slices.next_seq;
	}
}

static void ledger_done(struct watt_ledger *ledger)
{
	size_t kind;

	for (kind = 0; kind < WATT_N_ACTIVITIES; kind++)
		free(ledger->has_place[kind]);
	watt_key_chain_done(&ledger->chain);
	watt_baseline_done(&ledger->baseline);
	free(ledger->bases);
}

void watt_ledgers_done(struct watt_attrib *at)
{
	size_t i;

	for (i = 0; i < at->n_ledgers; i++)
		ledger_done(&at->ledgers[i]);
	free(at->ledgers);
	free(at->parts);
	free(at->shares);
}

static int residual_nj(const struct watt_attrib *at, const struct watt_ledger *ledger,
		       const struct watt_timeline *tl, uint64_t t_ns, uint64_t seq,
		       watt_i128 *ret_nj)
{
	int32_t parent = ledger->domain->parent;
	watt_i128 rest_nj, part_nj;
	size_t i;
	int r;

	r = watt_ledger_curve_nj(at, &at->ledgers[parent], tl, t_ns, seq, &rest_nj);
	for (i = 0; i < at->tree.n_domains && r == 0; i++) {
		const struct watt_ledger *part = &at->ledgers[i];

		if (part == ledger || part->domain->parent != parent || part->join_seq > seq)
			continue;
		r = watt_ledger_curve_nj(at, part, tl, t_ns, seq, &part_nj);
		if (r == -EAGAIN)
			r = watt_silence_end_nj(at, part, tl, &part_nj);
		if (r == 0)
			rest_nj -= part_nj;
	}
	if (r == 0)
		*ret_nj = rest_nj;
	return r;
}

int watt_ledger_curve_nj(const struct watt_attrib *at, const struct watt_ledger *ledger,
			 const struct watt_timeline *tl, uint64_t t_ns, uint64_t seq,
			 watt_i128 *ret_nj)
{
	if (ledger->domain->channel < 0)
		return residual_nj(at, ledger, tl, t_ns, seq, ret_nj);
	return watt_silence_curve_nj(ledger, tl, t_ns, ret_nj);
}

uint32_t watt_ledger_key_readiness_ppm(const struct watt_ledger *ledger)
{
	const struct watt_key *key = &ledger->chain.keys[0];

	return watt_parts_are_told(ledger, key->ops->needs) ? watt_key_readiness_ppm(key) : 0;
}

/* ---- what they get ---- */

/* Those who have a weight get a share; returns how many, at the front of the parts. */
static int make_shares(struct watt_attrib *at, struct watt_ledger *ledger,
		       struct watt_key_slice *view, size_t domain)
{
	size_t i, n = 0;
	int r;

	for (i = 0; i < view->n_parts; i++) {
		struct watt_part part = view->parts[i];
		const struct watt_member *actor = part.use->actor;
		int64_t *carry = actor ? &actor->self->carry[domain] : &ledger->nobodys_carry;

		if (!part.weight)
			continue;
		r = watt_grow((void **)&at->shares, &at->cap_shares, n, sizeof(*at->shares));
		if (r < 0)
			return r;
		at->shares[n] = (struct watt_share){ .weight = part.weight, .carry = carry };
		view->parts[i] = view->parts[n];
		view->parts[n++] = part;
	}
	return (int)n;
}

static int64_t give_shares(struct watt_attrib *at, struct watt_key_slice *view, size_t n,
			   size_t domain, int64_t *nobodys_nj)
{
	int64_t given_nj = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		struct watt_member *actor = view->parts[i].use->actor;
		int64_t amount_nj = at->shares[i].amount;

		view->parts[i].share_nj = amount_nj;
		if (!actor) { /* it stays unattributed */
			*nobodys_nj += amount_nj;
			continue;
		}
		given_nj += amount_nj;
		watt_member_add_energy(actor, domain, amount_nj);
	}
	return given_nj;
}

void watt_ledger_check(struct watt_attrib *at, bool is_right)
{
	at->quality.checks++;
	at->quality.check_failures += !is_right;
}

/* Has the first key of the chain that can tell weigh everybody; *ret_used is that key. */
static int weigh(struct watt_attrib *at, struct watt_ledger *ledger, const struct watt_slice *slice,
		 struct watt_key_slice *view, const struct watt_key **ret_used)
{
	size_t i;
	int r;

	for (i = 0; i < ledger->chain.n; i++) {
		const struct watt_key *key = &ledger->chain.keys[i];

		if (!watt_parts_are_told(ledger, key->ops->needs) || !watt_key_readiness_ppm(key))
			continue;
		r = watt_parts_collect(at, ledger, slice, key->ops, view);
		if (r < 0)
			return r;
		if (!view->is_complete && !view->n_parts)
			continue; /* nobody told of this slice */
		view->dynamic_nj = view->energy_nj;
		if (key->ops->needs)
			view->dynamic_nj -= watt_baseline_idle_nj(
				&ledger->baseline, view->t1_ns - view->t0_ns, view->energy_nj);
		r = key->ops->weigh(key->state, view);
		if (r == -EAGAIN)
			continue;
		*ret_used = key;
		return r;
	}
	view->n_parts = 0;
	view->dynamic_nj = view->energy_nj;
	*ret_used = NULL;
	return 0;
}

/* Whether two keys see the same. Who likes more may see less of it than there is, or the reverse. */
static bool is_alike(const struct watt_key_ops *a, const struct watt_key_ops *b)
{
	return b && a->needs == b->needs && a->likes == b->likes;
}

/*
 * How its readings lie in a slice. A counter has its energy at each of them, and so has a mean of
 * which it is known when it ended; that of other powers is a line through the middle of what they
 * tell of. A residual has none of its own, and is learned in blocks.
 */
static void find_readings(const struct watt_attrib *at, const struct watt_ledger *ledger,
			  struct watt_key_slice *view)
{
	int32_t c = ledger->domain->channel;
	const struct watt_channel *channel = c < 0 ? NULL : at->channels[c];

	/* a model follows CPU time at once */
	if (!channel || channel->origin != WATT_ORIGIN_MEASURED)
		return;
	view->edge_ns[0] = watt_timeline_edge_ns(at->timeline, (size_t)c, view->t0_ns);
	view->edge_ns[1] = watt_timeline_edge_ns(at->timeline, (size_t)c, view->t1_ns);
	/* of one that is read about once a slice, or more often, the line is near enough */
	if (2 * channel->period_ns > 3 * (view->t1_ns - view->t0_ns) &&
	    channel->quantity == WATT_QUANTITY_POWER && !(channel->flags & WATT_CHANNEL_STEPS))
		view->joint_ns = JOINT_PACES * channel->period_ns + channel->window_ns;
}

/* Every key of the chain that learns is shown the slice with the activities that it needs. */
static int learn(struct watt_attrib *at, struct watt_ledger *ledger, const struct watt_slice *slice,
		 struct watt_key_slice *view, const struct watt_key *used)
{
	const struct watt_key_ops *shown = used ? used->ops : NULL;
	size_t i;
	int r = 0;

	for (i = 0; i < ledger->chain.n && r == 0; i++) {
		const struct watt_key *key = &ledger->chain.keys[i];

		if (!key->ops->learn || !watt_parts_are_told(ledger, key->ops->needs))
			continue;
		if (!is_alike(key->ops, shown))
			r = watt_parts_collect(at, ledger, slice, key->ops, view);
		shown = key->ops;
		find_readings(at, ledger, view);
		if (r == 0)
			r = key->ops->learn(key->state, view);
	}
	return r;
}

/* Divides energy_nj of a slice. */
static int divide(struct watt_attrib *at, struct watt_ledger *ledger,
		  const struct watt_slice *slice, int64_t energy_nj)
{
	struct watt_key_slice view = { .t0_ns = slice->t0_ns,
				       .t1_ns = slice->t1_ns,
				       .energy_nj = energy_nj,
				       .is_idle_known = ledger->baseline.is_ready,
				       .idle_uw = ledger->baseline.baseline_uw,
				       .idle_doubt_uw = watt_baseline_doubt_uw(&ledger->baseline),
				       .is_usable = slice->t1_ns > ledger->doubtful_ns,
				       .block_ns = ledger->baseline.min_block_ns };
	size_t domain = (size_t)(ledger->domain - at->tree.domains);
	int64_t idle_nj, shared_idle_nj = 0, given_nj = 0, nobodys_nj = 0, shared_nj, reserved_nj;
	const struct watt_key *used;
	int n, r;

	r = weigh(at, ledger, slice, &view, &used);
	if (r == 0 && used && used->ops->needs && view.is_complete)
		r = watt_baseline_add(&ledger->baseline, view.t1_ns - view.t0_ns, energy_nj,
				      view.busy, view.n_units);
	if (r < 0)
		return r;
	if (watt_doubt_is_due(ledger, &view, used))
		r = watt_doubt_tell(at, ledger);
	if (r < 0)
		return r;
	n = make_shares(at, ledger, &view, domain);
	if (n < 0)
		return n;
	idle_nj = energy_nj - view.dynamic_nj;
	if (n > 0 && at->idle_policy == WATT_IDLE_PROPORTIONAL)
		shared_idle_nj = idle_nj;
	idle_nj -= shared_idle_nj;
	shared_nj = energy_nj - idle_nj;
	if (n > 0 && shared_nj > 0) {
		watt_share_split(at->shares, (size_t)n, shared_nj);
		given_nj = give_shares(at, &view, (size_t)n, domain, &nobodys_nj);
		watt_ledger_check(at, given_nj + nobodys_nj == shared_nj);
	}
	ledger->key = used ? used->ops->id : WATT_KEY_NONE;
	watt_instances_advance(at, ledger, slice, &view, (size_t)n);
	r = watt_reserves_share(at, ledger, slice, &view, (size_t)n, idle_nj, &reserved_nj);
	if (r < 0)
		return r;
	idle_nj -= reserved_nj;
	ledger->energy_nj += energy_nj;
	ledger->idle_nj += idle_nj;
	ledger->shared_idle_nj += shared_idle_nj + reserved_nj;
	ledger->unattributed_nj += shared_nj - given_nj;
	at->idle->energy_nj[domain] += idle_nj;
	at->unattributed->energy_nj[domain] += shared_nj - given_nj;
	watt_doubt_add_slice(at, ledger, &view);
	return learn(at, ledger, slice, &view, used);
}

static void take_late(struct watt_attrib *at, struct watt_ledger *ledger, watt_i128 late_nj)
{
	size_t domain = (size_t)(ledger->domain - at->tree.domains);

	ledger->energy_nj += late_nj;
	ledger->unattributed_nj += late_nj;
	ledger->late_nj += late_nj;
	at->unattributed->energy_nj[domain] += late_nj;
}

/* Whether a residual is computed from this domain. */
static bool is_of_residual(const struct watt_attrib *at, const struct watt_ledger *residual,
			   size_t domain)
{
	int32_t whole = residual->domain->parent;
	const struct watt_domain *d = &at->tree.domains[domain];

	return d->channel >= 0 && at->ledgers[domain].join_seq != WATT_NOT_JOINED &&
	       (d->parent == whole || (int32_t)domain == whole);
}

/* Of the channel of a domain that has one. One that never said anything is not early for ever. */
static enum watt_status channel_status(const struct watt_attrib *at,
				       const struct watt_ledger *ledger,
				       const struct watt_timeline *tl)
{
	struct watt_curve_stats stats = { .status = WATT_STATUS_PENDING };
	uint64_t since_ns = ledger->come_ns ? ledger->come_ns : at->first_sweep_ns;
	bool is_silent;

	watt_timeline_get_stats(tl, (size_t)ledger->domain->channel, &stats);
	is_silent = stats.status == WATT_STATUS_PENDING && !stats.errors && at->had_sweep;
	if (stats.status == WATT_STATUS_OK)
		since_ns = stats.last_ns;
	if ((stats.status == WATT_STATUS_OK || is_silent) &&
	    at->now_ns > since_ns + stats.patience_ns)
		return WATT_STATUS_STALE;
	return stats.status;
}

enum watt_status watt_ledger_status(const struct watt_attrib *at, const struct watt_ledger *ledger,
				    const struct watt_timeline *tl)
{
	enum watt_status status = WATT_STATUS_OK;
	size_t i;

	if (watt_ledger_is_instance(ledger))
		return watt_instance_is_there(at, ledger) ?
			       channel_status(at, watt_ledger_get_divider(at, ledger), tl) :
			       WATT_STATUS_ABSENT;
	if (ledger->domain->channel >= 0)
		return channel_status(at, ledger, tl);
	for (i = 0; i < at->tree.n_domains && status == WATT_STATUS_OK; i++)
		if (is_of_residual(at, ledger, i) &&
		    !(at->tree.domains[i].parent == ledger->domain->parent &&
		      watt_silence_is_taken(at, &at->ledgers[i], tl)))
			status = channel_status(at, &at->ledgers[i], tl);
	return status;
}

/* The first time behind t0_ns for which a residual is not known. */
static bool find_gap(const struct watt_attrib *at, const struct watt_ledger *residual,
		     const struct watt_timeline *tl, uint64_t t0_ns, uint64_t t1_ns,
		     struct watt_gap *ret)
{
	struct watt_gap gap;
	bool found = false;
	size_t i;

	for (i = 0; i < at->tree.n_domains; i++) {
		if (!is_of_residual(at, residual, i) ||
		    !watt_silence_find_gap(&at->ledgers[i], tl, t0_ns, t1_ns, &gap) ||
		    (found && gap.t0_ns >= ret->t0_ns))
			continue;
		*ret = gap;
		found = true;
	}
	return found;
}

/* Adds the union of the gaps of its whole and its parts in the time that it takes now. */
static void count_gaps(const struct watt_attrib *at, struct watt_ledger *residual,
		       const struct watt_timeline *tl, uint64_t t1_ns)
{
	uint64_t t0_ns = residual->cursor_ns;
	struct watt_gap gap = { 0 };

	while (find_gap(at, residual, tl, t0_ns, t1_ns, &gap)) {
		residual->gaps += gap.t0_ns != residual->gap_end_ns;
		residual->gap_ns += gap.t1_ns - gap.t0_ns;
		residual->gap_end_ns = t0_ns = gap.t1_ns;
	}
}

/* Energy of a slice. More than int64 nJ is of days in which nobody swept: no shares tell of them. */
static int take_energy(struct watt_attrib *at, struct watt_ledger *ledger,
		       const struct watt_slice *slice, watt_i128 energy_nj)
{
	if (energy_nj == (int64_t)energy_nj)
		return divide(at, ledger, slice, (int64_t)energy_nj);
	take_late(at, ledger, energy_nj);
	return 0;
}

/*
 * A counter that moved from 0 while the session ran: all that it has counted is of this session.
 * Where a whole has it, what nobody told of a part has been the rest's.
 */
static bool counts_from_zero(const struct watt_ledger *ledger, const struct watt_timeline *tl)
{
	struct watt_curve_stats stats = { 0 };

	if (ledger->domain->channel < 0 || ledger->domain->parent >= 0)
		return false;
	watt_timeline_get_stats(tl, (size_t)ledger->domain->channel, &stats);
	return stats.begins_at_zero;
}

/* Begins the ledger where its curve begins, at a slice's start. 1: not yet. */
static int start_ledger(struct watt_attrib *at, struct watt_ledger *ledger,
			const struct watt_timeline *tl, const struct watt_slice *slice)
{
	size_t w;
	int r;

	r = watt_ledger_curve_nj(at, ledger, tl, slice->t0_ns, slice->seq, &ledger->last_nj);
	if (r < 0)
		return r;
	if (counts_from_zero(ledger, tl))
		ledger->last_nj = 0;
	ledger->is_started = true;
	ledger->last_seq = slice->seq;
	ledger->start_ns = ledger->cursor_ns = slice->t0_ns;
	for (w = 0; w < at->accounts.n_windows; w++)
		ledger->bases[w].t_ns = slice->t0_ns;
	return 0;
}

/* Whether a residual has other parts in this slice than in the one that it took last. */
static bool has_other_parts(const struct watt_attrib *at, const struct watt_ledger *ledger,
			    uint64_t seq)
{
	size_t i;

	for (i = 0; i < at->tree.n_domains && ledger->domain->channel < 0; i++)
		if (is_of_residual(at, ledger, i) && at->ledgers[i].join_seq > ledger->last_seq &&
		    at->ledgers[i].join_seq <= seq)
			return true;
	return false;
}

/* Jitter of two counters that are not read at one instant. */
#define DEBT_JITTER_NJ 1000000000
/* Of the whole's energy: more is no accident. */
#define DEBT_SHARE 50

/*
 * The rest of a whole that counts less than its parts is nothing, and never negative: what the
 * parts had too much is taken from what is left later, so that jitter evens out. A whole that
 * stays behind can't be used; then the parts alone are the machine's energy.
 */
static watt_i128 pay_debt(struct watt_attrib *at, struct watt_ledger *residual, watt_i128 energy_nj)
{
	struct watt_ledger *whole = &at->ledgers[residual->domain->parent];
	watt_i128 left_nj = energy_nj - residual->debt_nj;

	residual->is_clamped = left_nj < 0;
	residual->debt_nj = left_nj < 0 ? -left_nj : 0;
	residual->is_usable = residual->debt_nj <= DEBT_JITTER_NJ ||
			      residual->debt_nj <= whole->energy_nj / DEBT_SHARE;
	whole->is_usable = residual->is_usable;
	return left_nj < 0 ? 0 : left_nj;
}

/* Its pace is that of the slowest of its whole and parts. */
static void take_pace(const struct watt_attrib *at, struct watt_ledger *residual,
		      const struct watt_timeline *tl)
{
	struct watt_curve_stats stats;
	uint64_t *block_ns = &residual->baseline.min_block_ns;
	size_t i;

	for (i = 0; i < at->tree.n_domains; i++) {
		if (!is_of_residual(at, residual, i))
			continue;
		watt_timeline_get_stats(tl, (size_t)at->tree.domains[i].channel, &stats);
		*block_ns = WATT_MAX(*block_ns, BLOCK_PACES * stats.pace_ns);
	}
}

/*
 * Parts that are more than the whole stepped before it did, and it may have too much when it
 * follows: nothing is to be learned from a rest that was cut, nor from what comes just behind. Nor
 * from one that has what a part took, as nobody tells of that.
 */
static void judge(const struct watt_attrib *at, struct watt_ledger *residual,
		  const struct watt_timeline *tl, const struct watt_slice *slice, bool has_silence)
{
	int whole = at->tree.domains[residual->domain->parent].channel;

	take_pace(at, residual, tl);
	if (whole >= 0)
		residual->transient_ns +=
			watt_timeline_transient_ns(tl, (size_t)whole, slice->t0_ns, slice->t1_ns);
	if (residual->is_clamped)
		residual->clamped_ns += slice->t1_ns - slice->t0_ns;
	else if (!has_silence)
		return;
	residual->doubtful_ns = slice->t1_ns + residual->baseline.min_block_ns / 2;
}

/* What its parts can't tell of the slice is in the residual from now on. Whether there is any. */
static bool take_silence(struct watt_attrib *at, const struct watt_ledger *residual,
			 const struct watt_timeline *tl, const struct watt_slice *slice)
{
	bool has_any = false;
	size_t i;

	for (i = 0; i < at->tree.n_domains; i++)
		if (is_of_residual(at, residual, i) &&
		    at->tree.domains[i].parent == residual->domain->parent &&
		    at->ledgers[i].join_seq <= slice->seq)
			has_any |= watt_silence_take(&at->ledgers[i], tl, slice->t1_ns);
	return has_any;
}

/* One slice. 0: done; -EAGAIN: the energy is not known yet; -ENODATA: it never will be. */
static int take_slice(struct watt_attrib *at, struct watt_ledger *ledger,
		      const struct watt_timeline *tl, const struct watt_slice *slice)
{
	bool is_residual = ledger->domain->kind == WATT_DOMAIN_RESIDUAL, is_late, has_silence;
	watt_i128 begin_nj, end_nj, old_nj, late_nj, energy_nj;
	int r;

	if (!ledger->is_started) {
		r = start_ledger(at, ledger, tl, slice);
		if (r < 0)
			return r;
	}
	r = watt_ledger_curve_nj(at, ledger, tl, slice->t1_ns, slice->seq, &end_nj);
	if (r < 0)
		return r;
	old_nj = begin_nj = ledger->last_nj;
	is_late = ledger->cursor_ns < slice->t0_ns; /* slices had to go before their energy came */
	if (is_late)
		r = watt_ledger_curve_nj(at, ledger, tl, slice->t0_ns, ledger->last_seq, &old_nj);
	if (r == 0 && (is_late || has_other_parts(at, ledger, slice->seq)))
		r = watt_ledger_curve_nj(at, ledger, tl, slice->t0_ns, slice->seq, &begin_nj);
	if (r < 0)
		return r;
	late_nj = old_nj - ledger->last_nj;
	energy_nj = end_nj - begin_nj;
	if (is_residual) {
		late_nj = is_late ? pay_debt(at, ledger, late_nj) : 0;
		energy_nj = pay_debt(at, ledger, energy_nj);
		has_silence = take_silence(at, ledger, tl, slice);
		count_gaps(at, ledger, tl, slice->t1_ns);
		judge(at, ledger, tl, slice, has_silence);
	}
	if (is_late)
		take_late(at, ledger, late_nj);
	r = take_energy(at, ledger, slice, energy_nj);
	if (r < 0)
		return r;
	ledger->last_nj = end_nj;
	ledger->last_seq = slice->seq;
	ledger->cursor_ns = slice->t1_ns;
	if (!is_residual)
		watt_silence_pass(ledger, tl);
	return 0;
}

/* Whether everybody who ran in the slice has had a last word, or has had time enough for it. */
static bool is_ripe(const struct watt_attrib *at, const struct watt_slice *slice, uint64_t now_ns)
{
	return !slice->pending || now_ns >= slice->t1_ns + at->grace_ns;
}

/* Whether the sensor says that it has no value, and had none for as long as anybody waits. */
static bool is_silent_channel(const struct watt_attrib *at, const struct watt_ledger *ledger,
			      const struct watt_timeline *tl, uint64_t now_ns)
{
	struct watt_curve_stats stats = { .status = WATT_STATUS_PENDING };

	if (ledger->domain->channel < 0)
		return false;
	watt_timeline_get_stats(tl, (size_t)ledger->domain->channel, &stats);
	return stats.status != WATT_STATUS_OK && stats.status != WATT_STATUS_PENDING &&
	       (!stats.first_ns || now_ns > stats.last_ns + at->horizon_ns);
}

/* Slices that wait are what takes most memory: there is no use in waiting for a dead sensor. */
static bool is_silent(const struct watt_attrib *at, const struct watt_ledger *ledger,
		      const struct watt_timeline *tl, uint64_t now_ns)
{
	size_t i;

	if (ledger->domain->kind != WATT_DOMAIN_RESIDUAL)
		return is_silent_channel(at, ledger, tl, now_ns);
	for (i = 0; i < at->tree.n_domains; i++)
		if (is_of_residual(at, ledger, i) &&
		    is_silent_channel(at, &at->ledgers[i], tl, now_ns))
			return true;
	return false;
}

int watt_ledger_advance(struct watt_attrib *at, struct watt_ledger *ledger,
			const struct watt_timeline *tl, uint64_t now_ns)
{
	struct watt_slice *slice;
	int done = 0, r;

	while ((slice = watt_slices_find(&at->slices, ledger->next_seq))) {
		bool is_over = now_ns > slice->t1_ns + at->horizon_ns;

		if (at->barrier_ns && slice->t0_ns >= at->barrier_ns)
			break;
		if (!is_ripe(at, slice, now_ns))
			break;
		if (!is_over && !watt_parts_have_come(ledger, slice))
			break;
		r = take_slice(at, ledger, tl, slice);
		if (r == -ENOMEM)
			return r;
		if (r == -EAGAIN && !is_over && !is_silent(at, ledger, tl, now_ns))
			break;
		done += r == 0;
		ledger->next_seq++;
	}
	return done;
}
