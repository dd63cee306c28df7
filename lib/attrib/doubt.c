/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a key says of the watts it has learned to the uncertainty of energies.
 *
 * Who got e joules by weights of w watts is off by e / w for each watt that w is off, less its part
 * of what all are off, as all together is what was measured. So whatever sums contain is a vector
 * over the directions of the key's space, and its variance a quadratic form of the covariance. In
 * time, an error stays what it is as long as the key learns nothing new of it: what came before
 * counts with what is told now, as far as watts have not changed since.
 *
 * Idle power that was never seen, or of which nothing is known yet, is a guess, and all who ran have
 * the other side of its error: the same part of what each got, with the same sign in every row, sum,
 * slice and domain. It is kept apart from the variances, and added as it is.
 */
#include "attrib/doubt.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TELL_NS 1000000000ULL
#define LEVEL_S 5 /* that power lasts for which no program causes, as a fall from all to nothing */
#define TELL_PART 8 /* of the time since the beginning: what is learned changes faster then */
/* Of dynamic energy, any part of which may be idle energy: 1 / sqrt(3), as in baseline.c. */
#define IDLE_UNKNOWN 0.577

/* What an account got since it was told last, as the key's space has it. */
struct parcel {
	struct watt_account *account;
	double energy_j;
	double own_j2;
	double bias_j;
	double busy_s; /* for which it had what one busy CPU takes of its watts */
	size_t vector; /* where its directions are; of all sums */
	struct watt_key_doubt doubt;
};

struct parcels {
	struct parcel *list;
	size_t n, cap;
};

struct telling {
	struct watt_attrib *at;
	struct watt_ledger *ledger;
	const struct watt_key *key;
	struct watt_key_space space;
	size_t domain;
	double passed_s;
	struct parcels members, sums;
	double *vectors; /* of sums */
	size_t cap_vectors;
	/* of everybody: joules per watt, by direction; its product with the covariance */
	double all[UINT8_MAX], all_cov[UINT8_MAX];
	double all_j2, energy_j, bias_j;
	double busy_s;    /* of everybody */
	double idle_part; /* of what all got, how far it is off as idle power is */
};

/*
 * Of several domains. What keys know of one they don't of another, and those variances add up;
 * errors of idle power have one sign.
 */
struct sum {
	double variance_j2;
	double idle_j;
	double deviation_j; /* of all in it, where that is one domain */
	size_t n;
};

static double squared(double x)
{
	return x * x;
}

static double untold_j(const watt_i128 *energy_nj, int64_t told_nj)
{
	return (double)(int64_t)((uint64_t)*energy_nj - (uint64_t)told_nj) * 1e-9;
}

static const struct watt_key *key_of(const struct watt_ledger *ledger)
{
	const struct watt_key *key = &ledger->chain.keys[0];

	return key->ops && key->ops->doubt ? key : NULL;
}

static double deviation_j(double variance_j2, double idle_j)
{
	double sum_j2 = (variance_j2 < 0 ? 0 : variance_j2) + squared(idle_j);

	return sum_j2 > 0 ? __builtin_sqrt(sum_j2) : sum_j2;
}

/* ---- what one span has ---- */

/* An error of e joules with this relative variance comes to what is there. */
static void span_add(struct watt_doubt_span *span, double e, double variation, double kept,
		     double idle_part)
{
	if (!(e > 0))
		return;
	span->idle_j += e * idle_part;
	span->variance_j2 += variation * e * (e + 2 * span->past_j);
	span->past_j = span->past_j * kept + e;
}

static void span_merge(struct watt_doubt_span *to, const struct watt_doubt_span *from, double part)
{
	to->variance_j2 =
		squared(__builtin_sqrt(to->variance_j2) + part * __builtin_sqrt(from->variance_j2));
	to->past_j += part * from->past_j;
	to->idle_j += part * from->idle_j;
}

/* Of what is untold, what lies in a window. */
static double in_window_j(const struct watt_ledger *ledger, const struct watt_account *account,
			  size_t d, size_t reader)
{
	const watt_i128 *energy_nj = &account->energy_nj[d];

	if (reader != WATT_DOUBT_ALL && ledger->bases[reader].n_told == ledger->n_told)
		return untold_j(energy_nj, (int64_t)watt_account_get_base(account, reader)[d]);
	return untold_j(energy_nj, account->doubts[d].told_nj);
}

static void tell_account(struct telling *t, struct watt_account *account, double variation,
			 double kept, double idle_part)
{
	struct watt_doubt *doubt = &account->doubts[t->domain];
	size_t w, n = t->at->accounts.n_windows;

	variation = variation > 0 ? variation : 0;
	span_add(&watt_account_get_spans(account, WATT_DOUBT_ALL)[t->domain],
		 in_window_j(t->ledger, account, t->domain, WATT_DOUBT_ALL), variation, kept,
		 idle_part);
	for (w = 0; w < n; w++)
		span_add(&watt_account_get_spans(account, w)[t->domain],
			 in_window_j(t->ledger, account, t->domain, w), variation, kept, idle_part);
	doubt->told_nj = (int64_t)account->energy_nj[t->domain];
	doubt->variation = variation;
}

/* ---- who got how much ---- */

static struct parcel *add_parcel(struct parcels *parcels, struct watt_account *account)
{
	if (watt_grow((void **)&parcels->list, &parcels->cap, parcels->n, sizeof(*parcels->list)) <
	    0)
		return NULL;
	parcels->list[parcels->n] = (struct parcel){ .account = account };
	return &parcels->list[parcels->n++];
}

static int add_vector(struct telling *t, struct parcel *sum)
{
	size_t had = t->cap_vectors, i;

	sum->vector = (t->sums.n - 1) * t->space.n;
	if (watt_grow((void **)&t->vectors, &t->cap_vectors, sum->vector + t->space.n,
		      sizeof(*t->vectors)) < 0)
		return -ENOMEM;
	for (i = had; i < t->cap_vectors; i++)
		t->vectors[i] = 0;
	return 0;
}

static void add_directions(double *vector, const struct parcel *from)
{
	size_t i;

	for (i = 0; i < from->doubt.n_at; i++)
		vector[from->doubt.at[i]] += from->energy_j * from->doubt.by;
}

/* A sum, and what it is in. */
static int add_to_sum(struct telling *t, struct watt_account *account, const struct parcel *from)
{
	struct parcel *sum;
	size_t u;
	int r = 0;

	if (!account->doubt_at) {
		sum = add_parcel(&t->sums, account);
		if (!sum || add_vector(t, sum) < 0)
			return -ENOMEM;
		account->doubt_at = (uint32_t)t->sums.n;
	}
	sum = &t->sums.list[account->doubt_at - 1];
	sum->energy_j += from->energy_j;
	sum->own_j2 += from->own_j2;
	sum->bias_j += from->bias_j;
	sum->busy_s += from->busy_s;
	add_directions(&t->vectors[sum->vector], from);
	for (u = 0; u < WATT_ACCOUNT_UPS && account->up[u] && r == 0; u++)
		r = add_to_sum(t, account->up[u], from);
	return r;
}

static int add_member(struct telling *t, struct watt_member *member)
{
	double e = untold_j(&member->energy_nj[t->domain], member->told_nj[t->domain]);
	struct parcel *parcel;
	size_t i;
	int r = 0;

	member->told_nj[t->domain] = (int64_t)member->energy_nj[t->domain];
	if (!(e > 0))
		return 0;
	parcel = add_parcel(&t->members, member->self);
	if (!parcel)
		return -ENOMEM;
	t->key->ops->doubt(t->key->state, member, t->ledger->key != t->key->ops->id,
			   &parcel->doubt);
	parcel->energy_j = e;
	parcel->own_j2 = squared(e) * parcel->doubt.own;
	parcel->bias_j = e * parcel->doubt.bias;
	parcel->busy_s = e * parcel->doubt.by;
	t->energy_j += e;
	t->bias_j += parcel->bias_j;
	t->busy_s += parcel->busy_s;
	add_directions(t->all, parcel);
	for (i = 0; i < WATT_MEMBER_SUMS && r == 0; i++)
		if (member->sums[i])
			r = add_to_sum(t, member->sums[i], parcel);
	for (i = 0; i < WATT_ACCOUNT_UPS && member->self->up[i] && r == 0; i++)
		r = add_to_sum(t, member->self->up[i], parcel);
	/* a process that is the sum of its threads may have been somebody by itself before */
	if (r == 0 && t->at->accounts.has_threads && member->self->kind == WATT_ENTITY_PROCESS)
		r = add_to_sum(t, member->self, parcel);
	return r;
}

static int collect(struct telling *t)
{
	struct watt_member *member;
	size_t i;
	int r = 0;

	for (i = 0; i < t->at->accounts.n; i++)
		t->at->accounts.list[i]->doubt_at = 0;
	for (i = 0; i < t->at->accounts.n && r == 0; i++)
		for (member = t->at->accounts.list[i]->members; member && r == 0;
		     member = member->next)
			r = add_member(t, member);
	return r;
}

/* ---- how far off that is ---- */

/* The covariance times a vector. Most sums are of few programs. */
static void multiply(const struct telling *t, const double *vector, double *restrict ret)
{
	size_t n = t->space.n, i, j;

	memset(ret, 0, n * sizeof(*ret));
	for (j = 0; j < n; j++) {
		const double *restrict row;

		if (vector[j] == 0)
			continue;
		row = t->space.covariance(t->space.state, j);
		for (i = 0; i < n; i++)
			ret[i] += row[i] * vector[j];
	}
}

static double product(const double *a, const double *b, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* How much of an error lasts until the next telling, by what watts change meanwhile. */
static double kept_of(double variance, double growth)
{
	return variance > 0 ? variance / (variance + growth) : 0;
}

/*
 * What is known is known as well as the key's own check of it says; what nothing is known of stays
 * as it began.
 */
static double scale(const struct telling *t, double variance, double prior)
{
	double unknown = prior > 0 ? variance / prior : 1;

	unknown = unknown < 1 ? unknown : 1;
	/* nor is anybody less known than who is new */
	if (t->space.scale > 1)
		return variance * WATT_MAX(WATT_MIN(t->space.scale, 1 / unknown), 1.0);
	return variance * (t->space.scale + (1 - t->space.scale) * unknown);
}

/*
 * Idle power that is a guess is learned as that of whoever ran, the same of each: who takes little has
 * the greater part of it.
 */
static double get_idle_part(const struct telling *t, const struct parcel *parcel)
{
	if (!(t->busy_s > 0))
		return t->idle_part;
	return t->idle_part * (parcel->busy_s / t->busy_s) / (parcel->energy_j / t->energy_j);
}

/*
 * What is known to be wrong comes on top, and is wrong the same way each time. What no program
 * causes, and what readings leave open, is one row's as far as it isn't all others' as well.
 */
static void tell_variance(struct telling *t, const struct parcel *parcel, double variance,
			  double kept)
{
	double e = parcel->energy_j, bias = squared(parcel->bias_j - e / t->energy_j * t->bias_j);
	double known = variance > 0 ? variance : 0, all, lasting = kept * known + bias;
	double others2 = squared(e * (1 - e / t->energy_j)), level = t->space.level * others2;

	lasting += level * WATT_MAX(1 - t->passed_s / LEVEL_S, 0);
	all = known + bias + level + t->space.open / WATT_MAX(t->passed_s, 1) * others2;
	tell_account(t, parcel->account, all / squared(e), all > 0 ? lasting / all : 0,
		     get_idle_part(t, parcel));
}

static void tell_member(struct telling *t, const struct parcel *parcel)
{
	double e = parcel->energy_j, part = e / t->energy_j, x = e * parcel->doubt.by;
	double own = 0, common = 0, growth = 0, variance;
	size_t i, j;

	if (parcel->account->doubt_at)
		return; /* told as a sum */
	for (i = 0; i < parcel->doubt.n_at; i++) {
		const double *row = t->space.covariance(t->space.state, parcel->doubt.at[i]);

		for (j = 0; j < parcel->doubt.n_at; j++)
			own += row[parcel->doubt.at[j]];
		common += t->all_cov[parcel->doubt.at[i]];
		growth += t->space.growth(t->space.state, parcel->doubt.at[i]);
	}
	variance = squared(x) * own + parcel->own_j2;
	growth = kept_of(variance, squared(x) * growth * t->passed_s);
	variance += squared(part) * t->all_j2 - 2 * part * x * common;
	variance = scale(t, variance, squared(x) * t->space.prior);
	tell_variance(t, parcel, variance, growth);
}

static void tell_sum(struct telling *t, const struct parcel *sum)
{
	const double *vector = &t->vectors[sum->vector];
	double cov[UINT8_MAX], part = sum->energy_j / t->energy_j, variance, growth = 0;
	size_t i;

	multiply(t, vector, cov);
	variance = product(vector, cov, t->space.n) + sum->own_j2;
	for (i = 0; i < t->space.n; i++)
		growth += squared(vector[i]) * t->space.growth(t->space.state, i);
	growth = kept_of(variance, growth * t->passed_s);
	variance += squared(part) * t->all_j2 - 2 * part * product(vector, t->all_cov, t->space.n);
	variance = scale(t, variance, product(vector, vector, t->space.n) * t->space.prior);
	tell_variance(t, sum, variance, growth);
}

static void tell(struct telling *t)
{
	size_t i;

	multiply(t, t->all, t->all_cov);
	t->all_j2 = product(t->all, t->all_cov, t->space.n);
	for (i = 0; i < t->members.n; i++)
		tell_member(t, &t->members.list[i]);
	for (i = 0; i < t->sums.n; i++)
		tell_sum(t, &t->sums.list[i]);
}

/* Of what everybody got, as a mean by energy. */
static double mean_variation(const struct telling *t)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < t->members.n; i++) {
		const struct parcel *parcel = &t->members.list[i];
		double variation = parcel->account->doubts[t->domain].variation;

		sum += variation > 0 ? parcel->energy_j * variation : 0;
	}
	return sum / t->energy_j;
}

/* Of what was given since accounts were told. */
static double idle_part(const struct watt_ledger *ledger)
{
	return ledger->untold_j > 0 ? ledger->untold_idle_j / ledger->untold_j : 0;
}

void watt_doubt_add_slice(const struct watt_attrib *at, struct watt_ledger *ledger,
			  const struct watt_key_slice *slice)
{
	double dynamic_j = (double)slice->dynamic_nj * 1e-9, idle_j, most_j;

	ledger->is_idle_known = slice->is_idle_known;
	/* who ran gets idle energy, too, where that is shared */
	if (!(dynamic_j > 0) || at->idle_policy == WATT_IDLE_PROPORTIONAL)
		return;
	idle_j = (double)slice->idle_doubt_uw * 1e-6 * (double)(slice->t1_ns - slice->t0_ns) * 1e-9;
	most_j = slice->is_idle_known ? dynamic_j : dynamic_j * IDLE_UNKNOWN;
	ledger->untold_j += dynamic_j;
	ledger->untold_idle_j += WATT_MIN(idle_j, most_j);
}

int watt_doubt_tell(struct watt_attrib *at, struct watt_ledger *ledger)
{
	struct telling t = { .at = at,
			     .ledger = ledger,
			     .key = key_of(ledger),
			     .domain = (size_t)(ledger->domain - at->tree.domains) };
	int r;

	if (!t.key)
		return 0;
	t.key->ops->get_space(t.key->state, &t.space);
	if (t.space.n > UINT8_MAX)
		return -EINVAL;
	t.passed_s = (double)(ledger->cursor_ns - ledger->told_ns) / 1e9;
	r = collect(&t);
	if (r == 0 && t.energy_j > 0) {
		t.idle_part = idle_part(ledger);
		tell(&t);
		ledger->variation = mean_variation(&t);
	}
	ledger->n_told++;
	ledger->told_ns = ledger->cursor_ns;
	ledger->untold_j = ledger->untold_idle_j = 0;
	free(t.members.list);
	free(t.sums.list);
	free(t.vectors);
	return r;
}

bool watt_doubt_is_due(const struct watt_ledger *ledger, const struct watt_key_slice *slice,
		       const struct watt_key *next)
{
	uint64_t t_ns = slice->t1_ns, every_ns = (t_ns - ledger->start_ns) / TELL_PART;

	if (!key_of(ledger) || ledger->cursor_ns == ledger->start_ns)
		return false;
	if (ledger->key != (next ? next->ops->id : WATT_KEY_NONE) ||
	    ledger->is_idle_known != slice->is_idle_known)
		return true;
	return t_ns >= ledger->told_ns + WATT_MIN(every_ns, TELL_NS);
}

int watt_doubt_settle(struct watt_attrib *at, const struct watt_account *account)
{
	size_t d;
	int r = 0;

	for (d = 0; d < at->tree.n_domains && r == 0; d++)
		if (key_of(&at->ledgers[d]) &&
		    account->doubts[d].told_nj != (int64_t)account->energy_nj[d])
			r = watt_doubt_tell(at, &at->ledgers[d]);
	return r;
}

/* ---- what a reader is told ---- */

void watt_doubt_begin_rows(struct watt_attrib *at, size_t reader)
{
	size_t d;

	for (d = 0; d < at->tree.n_domains; d++) {
		struct watt_ledger *ledger = &at->ledgers[d];

		ledger->shown = (struct watt_doubt_shown){
			.is_known = key_of(ledger) && ledger->n_told,
			.is_untold_since_begin = ledger->bases[reader].n_told == ledger->n_told,
			.idle_part = idle_part(ledger),
		};
	}
}

/*
 * What is untold is as unsure as what the account was told last. Whether it has any is as good as
 * chance: to reckon with nothing takes less time than a guess that is wrong.
 */
static inline double get_j(const struct watt_ledger *ledger, const struct watt_doubt *doubt,
			   const struct watt_doubt_span *span, double untold, bool is_part,
			   struct sum *sum)
{
	double variation = doubt->variation >= 0 ? doubt->variation : ledger->variation;
	double e = WATT_MAX(untold, 0.0);
	double idle_j = span->idle_j + e * ledger->shown.idle_part;
	double variance_j2 = span->variance_j2 + variation * e * (e + 2 * span->past_j);
	double deviation = deviation_j(variance_j2, idle_j);

	if (is_part) {
		sum->variance_j2 += variance_j2;
		sum->idle_j += idle_j;
		sum->deviation_j = sum->n++ ? NAN : deviation;
	}
	return deviation;
}

/* No energy of a domain is no energy of the sum. */
static double unknown_j(bool has_any, bool is_part, struct sum *sum)
{
	if (has_any && is_part) {
		sum->variance_j2 = sum->deviation_j = NAN;
		sum->n++;
	}
	return NAN;
}

static double sum_j(const struct sum *sum)
{
	return sum->n == 1 ? sum->deviation_j : deviation_j(sum->variance_j2, sum->idle_j);
}

void watt_doubt_add_row(const struct watt_attrib *at, const struct watt_account *account,
			size_t reader, const struct watt_doubt_row *row)
{
	const struct watt_doubt_span *all_spans = watt_account_get_spans(account, WATT_DOUBT_ALL);
	const struct watt_doubt_span *spans = watt_account_get_spans(account, reader);
	const watt_i128 *base_nj = watt_account_get_base(account, reader);
	struct sum all = { 0 }, window = { 0 };
	size_t d;

	for (d = 0; d < at->tree.n_domains; d++) {
		const struct watt_ledger *ledger = &at->ledgers[d];
		const struct watt_doubt *doubt = &account->doubts[d];
		const watt_i128 *energy_nj = &account->energy_nj[d];
		bool has_any = *energy_nj != 0, is_in_window = *energy_nj != base_nj[d];
		bool is_part = at->tree.domains[d].is_partition;
		double untold = untold_j(energy_nj, doubt->told_nj);

		if (!ledger->shown.is_known) {
			row->all_j[d] += unknown_j(has_any, is_part, &all);
			row->window_j[d] += unknown_j(is_in_window, is_part, &window);
			continue;
		}
		if (has_any)
			row->all_j[d] += get_j(ledger, doubt, &all_spans[d], untold, is_part, &all);
		/* most accounts have nothing in a window */
		if (!is_in_window)
			continue;
		if (ledger->shown.is_untold_since_begin)
			untold = untold_j(energy_nj, (int64_t)base_nj[d]);
		row->idle_j[d] -= window.idle_j;
		row->window_j[d] += get_j(ledger, doubt, &spans[d], untold, is_part, &window);
		row->idle_j[d] += window.idle_j;
	}
	*row->total_j += sum_j(&all);
	*row->window_total_j += sum_j(&window);
}

void watt_doubt_merge(const struct watt_accounts *accounts, struct watt_account *to,
		      const struct watt_account *from)
{
	size_t d, w;

	for (d = 0; d < accounts->n_domains; d++) {
		struct watt_doubt *doubt = &to->doubts[d];

		doubt->told_nj =
			(int64_t)((uint64_t)doubt->told_nj + (uint64_t)from->doubts[d].told_nj);
		if (doubt->variation < from->doubts[d].variation)
			doubt->variation = from->doubts[d].variation;
	}
	for (w = 0; w <= accounts->n_windows; w++)
		for (d = 0; d < accounts->n_domains; d++)
			span_merge(&watt_account_get_spans(to, w - 1)[d],
				   &watt_account_get_spans(from, w - 1)[d], 1);
}

void watt_doubt_join(const struct watt_accounts *accounts, struct watt_account *sum,
		     const struct watt_member *member, bool is_only)
{
	const struct watt_account *self = member->self;
	size_t d, w;

	for (d = 0; d < accounts->n_domains; d++) {
		double part = 1;

		if (!is_only && self->energy_nj[d])
			part = (double)member->energy_nj[d] / (double)self->energy_nj[d];
		sum->doubts[d].told_nj =
			(int64_t)((uint64_t)sum->doubts[d].told_nj + (uint64_t)member->told_nj[d]);
		for (w = 0; w <= (is_only ? accounts->n_windows : 0); w++)
			span_merge(&watt_account_get_spans(sum, w - 1)[d],
				   &watt_account_get_spans(self, w - 1)[d], part);
	}
}
