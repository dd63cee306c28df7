/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the energy of each domain, slice by slice: idle by the baseline, the rest by the share
 * key, what has no owner to unattributed. Every division is checked to add up to the last nJ.
 */
#include "attrib/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static bool is_place_of(const struct watt_domain *d, const struct watt_cpu_place *place)
{
	return (d->package_id < 0 || place->package_id < 0 || d->package_id == place->package_id) &&
	       (d->die_id < 0 || place->die_id < 0 || d->die_id == place->die_id) &&
	       (d->core_id < 0 || place->core_id < 0 || d->core_id == place->core_id);
}

static void init_baseline(struct watt_baseline *baseline, const struct watt_channel *channel)
{
	/* energy is spread evenly between two readings: only longer blocks show power */
	baseline->min_block_ns = 4 * channel->period_ns;
	baseline->baseline_uw = channel->idle_uw;
	baseline->is_given = baseline->is_ready = channel->idle_uw > 0;
}

static int ledger_init(struct watt_attrib *at, struct watt_ledger *ledger,
		       const struct watt_domain *domain, const struct watt_attrib_opts *opts)
{
	uint32_t i;

	ledger->domain = domain;
	ledger->is_usable = true;
	ledger->next_seq = 1;
	if (domain->channel >= 0)
		init_baseline(&ledger->baseline, opts->channels[domain->channel]);
	/* the last one stands for CPUs that are in no slot */
	ledger->has_slot = calloc(at->n_slots + 1, sizeof(*ledger->has_slot));
	if (!ledger->has_slot)
		return -ENOMEM;
	for (i = 0; i < at->n_slots; i++)
		ledger->has_slot[i] = !opts->places || is_place_of(domain, &opts->places[i]);
	ledger->has_slot[at->n_slots] = domain->package_id < 0;
	return 0;
}

int watt_ledgers_init(struct watt_attrib *at, const struct watt_attrib_opts *opts)
{
	size_t i;
	int r = 0;

	at->ledgers = calloc(at->tree.n_domains + 1, sizeof(*at->ledgers));
	if (!at->ledgers)
		return -ENOMEM;
	for (i = 0; i < at->tree.n_domains && r == 0; i++)
		r = ledger_init(at, &at->ledgers[i], &at->tree.domains[i], opts);
	return r;
}

void watt_ledgers_done(struct watt_attrib *at)
{
	size_t i;

	for (i = 0; at->ledgers && i < at->tree.n_domains; i++) {
		free(at->ledgers[i].has_slot);
		watt_baseline_done(&at->ledgers[i].baseline);
	}
	free(at->ledgers);
	free(at->shares);
	free(at->share_use);
}

static int residual_nj(const struct watt_attrib *at, const struct watt_ledger *ledger,
		       const struct watt_timeline *tl, uint64_t t_ns, int64_t *ret_nj)
{
	int32_t parent = ledger->domain->parent;
	int64_t rest_nj, part_nj;
	size_t i;
	int r;

	r = watt_ledger_curve_nj(at, &at->ledgers[parent], tl, t_ns, &rest_nj);
	for (i = 0; i < at->tree.n_domains && r == 0; i++) {
		const struct watt_ledger *part = &at->ledgers[i];

		if (part == ledger || part->domain->parent != parent)
			continue;
		r = watt_ledger_curve_nj(at, part, tl, t_ns, &part_nj);
		if (r == 0)
			rest_nj -= part_nj;
	}
	if (r == 0)
		*ret_nj = rest_nj;
	return r;
}

int watt_ledger_curve_nj(const struct watt_attrib *at, const struct watt_ledger *ledger,
			 const struct watt_timeline *tl, uint64_t t_ns, int64_t *ret_nj)
{
	if (ledger->domain->channel < 0)
		return residual_nj(at, ledger, tl, t_ns, ret_nj);
	return watt_timeline_energy_nj(tl, (size_t)ledger->domain->channel, t_ns, ret_nj);
}

static int add_share(struct watt_attrib *at, size_t n, struct watt_use *use,
		     struct watt_account *account, size_t domain, uint64_t weight)
{
	int r;

	r = watt_grow((void **)&at->shares, &at->cap_shares, n, sizeof(*at->shares));
	if (r == 0)
		r = watt_grow((void **)&at->share_use, &at->cap_share_use, n,
			      sizeof(struct watt_use *));
	if (r < 0)
		return r;
	at->shares[n] = (struct watt_share){ .weight = weight, .carry = &account->carry[domain] };
	at->share_use[n] = use;
	return 0;
}

/* Adds everybody who ran on one slot to the n shares that there are; returns how many then. */
static int collect_slot(struct watt_attrib *at, const struct watt_slice *slice, size_t slot,
			size_t domain, size_t n, uint64_t *busy_ns)
{
	uint64_t i;
	int r;

	for (i = slice->first_use[slot]; i; i = slice->uses[i - 1].next_in_slot) {
		struct watt_use *use = &slice->uses[i - 1];

		if (!use->cpu_ns)
			continue;
		*busy_ns += use->cpu_ns;
		r = add_share(at, n++, use, use->process, domain, use->cpu_ns);
		if (r < 0)
			return r;
	}
	return (int)n;
}

/* Everybody who ran on the domain's CPUs. Returns how many, and the sum of their weights. */
static int collect_shares(struct watt_attrib *at, const struct watt_ledger *ledger,
			  const struct watt_slice *slice, size_t domain, uint64_t *ret_busy_ns)
{
	uint64_t irq_ns = 0, softirq_ns = 0, busy_ns = 0;
	int n = 0, r = 0;
	size_t i;

	for (i = 0; i <= at->n_slots; i++) {
		if (!ledger->has_slot[i])
			continue;
		n = collect_slot(at, slice, i, domain, (size_t)n, &busy_ns);
		if (n < 0)
			return n;
		irq_ns += slice->irq_ns[i];
		softirq_ns += slice->softirq_ns[i];
	}
	if (irq_ns)
		r = add_share(at, (size_t)n++, NULL, at->irq, domain, irq_ns);
	if (softirq_ns && r == 0)
		r = add_share(at, (size_t)n++, NULL, at->softirq, domain, softirq_ns);
	if (r < 0)
		return r;
	*ret_busy_ns = busy_ns + irq_ns + softirq_ns;
	return n;
}

static struct watt_account *account_of_carry(struct watt_attrib *at, size_t i, size_t domain)
{
	return at->shares[i].carry == &at->irq->carry[domain] ? at->irq : at->softirq;
}

static int64_t give_shares(struct watt_attrib *at, size_t n, size_t domain)
{
	int64_t given_nj = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct watt_use *use = at->share_use[i];
		int64_t amount_nj = at->shares[i].amount;

		given_nj += amount_nj;
		if (!use) {
			watt_account_add_energy(account_of_carry(at, i, domain), domain, amount_nj);
			continue;
		}
		watt_account_add_energy(use->process, domain, amount_nj);
		if (use->cgroup)
			watt_account_add_energy(use->cgroup, domain, amount_nj);
		if (use->owner)
			watt_account_add_energy(use->owner, domain, amount_nj);
		if (use->tracked)
			watt_account_add_energy(use->tracked, domain, amount_nj);
	}
	return given_nj;
}

static uint32_t online_cpus(const struct watt_attrib *at, const struct watt_ledger *ledger,
			    const struct watt_slice *slice)
{
	uint32_t i, n = 0;

	for (i = 0; i <= at->n_slots; i++)
		n += ledger->has_slot[i] ? (uint32_t)slice->n_online[i] : 0;
	return n;
}

static void check(struct watt_attrib *at, bool is_right)
{
	at->quality.checks++;
	at->quality.check_failures += !is_right;
}

/* Divides energy_nj of a slice. */
static int divide(struct watt_attrib *at, struct watt_ledger *ledger,
		  const struct watt_slice *slice, int64_t energy_nj)
{
	size_t domain = (size_t)(ledger->domain - at->tree.domains);
	uint64_t dt_ns = slice->t1_ns - slice->t0_ns, busy_ns = 0;
	int64_t idle_nj = 0, shared_idle_nj = 0, given_nj = 0, shared_nj;
	int n = 0, r;

	if (ledger->domain->key != WATT_KEY_NONE) {
		n = collect_shares(at, ledger, slice, domain, &busy_ns);
		if (n < 0)
			return n;
		idle_nj = watt_baseline_idle_nj(&ledger->baseline, dt_ns, energy_nj);
		r = watt_baseline_add(&ledger->baseline, dt_ns, energy_nj, busy_ns,
				      online_cpus(at, ledger, slice));
		if (r < 0)
			return r;
	}
	if (n > 0 && at->idle_policy == WATT_IDLE_PROPORTIONAL)
		shared_idle_nj = idle_nj;
	idle_nj -= shared_idle_nj;
	shared_nj = energy_nj - idle_nj;
	if (n > 0 && shared_nj > 0) {
		watt_share_split(at->shares, (size_t)n, shared_nj);
		given_nj = give_shares(at, (size_t)n, domain);
		check(at, given_nj == shared_nj);
	}
	ledger->energy_nj += energy_nj;
	ledger->idle_nj += idle_nj;
	ledger->shared_idle_nj += shared_idle_nj;
	ledger->unattributed_nj += shared_nj - given_nj;
	at->idle->energy_nj[domain] += idle_nj;
	at->unattributed->energy_nj[domain] += shared_nj - given_nj;
	return 0;
}

static void take_late(struct watt_attrib *at, struct watt_ledger *ledger, int64_t late_nj)
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

	return d->channel >= 0 && (d->parent == whole || (int32_t)domain == whole);
}

static enum watt_status channel_status(const struct watt_attrib *at, size_t channel,
				       const struct watt_timeline *tl)
{
	struct watt_curve_stats stats = { .status = WATT_STATUS_PENDING };

	watt_timeline_get_stats(tl, channel, &stats);
	if (stats.status == WATT_STATUS_OK && at->now_ns > stats.last_ns + stats.patience_ns)
		return WATT_STATUS_STALE;
	return stats.status;
}

enum watt_status watt_ledger_status(const struct watt_attrib *at, const struct watt_ledger *ledger,
				    const struct watt_timeline *tl)
{
	enum watt_status status = WATT_STATUS_OK;
	size_t i;

	if (ledger->domain->channel >= 0)
		status = channel_status(at, (size_t)ledger->domain->channel, tl);
	for (i = 0; i < at->tree.n_domains && ledger->domain->channel < 0; i++) {
		if (status != WATT_STATUS_OK)
			break;
		if (is_of_residual(at, ledger, i))
			status = channel_status(at, (size_t)at->tree.domains[i].channel, tl);
	}
	return status == WATT_STATUS_OK && !ledger->is_started ? WATT_STATUS_PENDING : status;
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
		    !watt_timeline_find_gap(tl, (size_t)at->tree.domains[i].channel, t0_ns, t1_ns,
					    &gap) ||
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

/* Begins the ledger where its curve begins, at a slice's start. 1: not yet. */
static int start_ledger(struct watt_attrib *at, struct watt_ledger *ledger,
			const struct watt_timeline *tl, const struct watt_slice *slice)
{
	int r;

	r = watt_ledger_curve_nj(at, ledger, tl, slice->t0_ns, &ledger->last_nj);
	if (r < 0)
		return r;
	ledger->is_started = true;
	ledger->start_ns = ledger->cursor_ns = ledger->base_ns = slice->t0_ns;
	return 0;
}

/* One slice. 0: done; -EAGAIN: the energy is not known yet; -ENODATA: it never will be. */
static int take_slice(struct watt_attrib *at, struct watt_ledger *ledger,
		      const struct watt_timeline *tl, const struct watt_slice *slice)
{
	int64_t begin_nj, end_nj;
	int r;

	if (!ledger->is_started) {
		r = start_ledger(at, ledger, tl, slice);
		if (r < 0)
			return r;
	}
	r = watt_ledger_curve_nj(at, ledger, tl, slice->t1_ns, &end_nj);
	if (r < 0)
		return r;
	begin_nj = ledger->last_nj;
	if (ledger->cursor_ns < slice->t0_ns) { /* slices had to go before their energy came */
		r = watt_ledger_curve_nj(at, ledger, tl, slice->t0_ns, &begin_nj);
		if (r < 0)
			return r;
		take_late(at, ledger, begin_nj - ledger->last_nj);
	}
	if (ledger->domain->kind == WATT_DOMAIN_RESIDUAL) {
		ledger->is_usable = end_nj >= begin_nj;
		count_gaps(at, ledger, tl, slice->t1_ns);
	}
	r = divide(at, ledger, slice, end_nj - begin_nj);
	if (r < 0)
		return r;
	ledger->last_nj = end_nj;
	ledger->cursor_ns = slice->t1_ns;
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

		if (at->hold_ns && slice->t0_ns >= at->hold_ns)
			break;
		if (!is_ripe(at, slice, now_ns))
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
