/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is told of by name, and the counters. An update adds the windows of one snapshot: first to
 * what is held, everywhere; then each column in which nothing held is negative is let out.
 */
#include "roster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/view.h>

#include "xalloc.h"

#define MEAN_NS 30000000000ULL /* of means, and before which nobody is displaced */
#define NEWCOMER_FACTOR 2.0    /* above the mean of who has to go for it */

const char *level_name(enum level_kind kind)
{
	static const char *const names[LEVEL_N] = { "process", "container", "pod",
						    "unit",    "user",      "vm" };

	return names[kind];
}

static bool is_leaf(enum watt_entity_kind kind)
{
	switch (kind) {
	case WATT_ENTITY_PROCESS:
	case WATT_ENTITY_KTHREAD:
	case WATT_ENTITY_EXITED:
	case WATT_ENTITY_IRQ:
	case WATT_ENTITY_SOFTIRQ:
	case WATT_ENTITY_VM:
		return true;
	default:
		return false;
	}
}

static bool is_in_level(enum level_kind level, enum watt_entity_kind kind)
{
	switch (level) {
	case LEVEL_PROCESS:
		return is_leaf(kind);
	case LEVEL_CONTAINER:
		return kind == WATT_ENTITY_CONTAINER;
	case LEVEL_POD:
		return kind == WATT_ENTITY_POD;
	case LEVEL_UNIT:
		return kind == WATT_ENTITY_UNIT;
	case LEVEL_USER:
		return kind == WATT_ENTITY_USER;
	case LEVEL_VM:
		return kind == WATT_ENTITY_VM;
	case LEVEL_N:
		break;
	}
	return false;
}

static bool has_level(const struct roster *roster, int kind)
{
	return roster->opts.levels & 1u << kind;
}

/* ---- memory ---- */

void roster_init(struct roster *roster, const struct roster_opts *opts)
{
	memset(roster, 0, sizeof(*roster));
	roster->opts = *opts;
}

void roster_set_opts(struct roster *roster, const struct roster_opts *opts)
{
	/* A level that comes later would lack what was before it: the levels stay. */
	uint32_t levels = roster->opts.levels;

	roster->opts = *opts;
	roster->opts.levels = levels;
}

static void free_user(struct roster_user *user)
{
	free(user->labels);
	free(user->powers_w);
	free(user->sums);
	free(user);
}

void roster_done(struct roster *roster)
{
	size_t i;
	int kind;

	for (kind = 0; kind < LEVEL_N; kind++) {
		struct roster_level *level = &roster->levels[kind];

		for (i = 0; i < level->n_users; i++)
			free_user(level->users[i]);
		free(level->users);
		free(level->other);
		free(level->ended);
		free(level->slots);
	}
	free(roster->whole);
	free(roster->idle);
	free(roster->unattributed);
	free(roster->own);
	free(roster->created_ns);
	memset(roster, 0, sizeof(*roster));
}

static void widen(struct roster_sum **sums, size_t n, size_t wanted)
{
	*sums = xrealloc(*sums, wanted, sizeof(**sums));
	memset(*sums + n, 0, (wanted - n) * sizeof(**sums));
}

/* Nothing is known of what comes until it says something. */
static void widen_powers(struct roster_user *user, size_t n, size_t wanted)
{
	size_t i;

	user->powers_w = xrealloc(user->powers_w, wanted, sizeof(*user->powers_w));
	for (i = n; i < wanted; i++)
		user->powers_w[i] = NAN;
}

/* Domains that come while the session runs are behind all others. */
static void widen_all(struct roster *roster, size_t wanted, uint64_t created_ns)
{
	size_t n = roster->n_columns, i;
	int kind;

	if (wanted <= n)
		return;
	widen(&roster->whole, n, wanted);
	widen(&roster->idle, n, wanted);
	widen(&roster->unattributed, n, wanted);
	widen(&roster->own, n, wanted);
	for (kind = 0; kind < LEVEL_N; kind++) {
		struct roster_level *level = &roster->levels[kind];

		widen(&level->other, n, wanted);
		widen(&level->ended, n, wanted);
		for (i = 0; i < level->n_users; i++) {
			widen(&level->users[i]->sums, n, wanted);
			widen_powers(level->users[i], n, wanted);
		}
	}
	roster->created_ns = xrealloc(roster->created_ns, wanted, sizeof(*roster->created_ns));
	for (i = n; i < wanted; i++)
		roster->created_ns[i] = created_ns;
	roster->n_columns = wanted;
}

/* ---- finding users by id ---- */

static size_t first_slot(const struct roster_level *level, uint64_t id)
{
	return (size_t)(id * 0x9e3779b97f4a7c15ULL >> 32) & (level->n_slots - 1);
}

static void index_users(struct roster_level *level)
{
	size_t i, at;

	if (level->n_slots < 2 * level->n_users + 16) {
		level->n_slots = 64;
		while (level->n_slots < 4 * level->n_users)
			level->n_slots *= 2;
		free(level->slots);
		level->slots = xcalloc(level->n_slots, sizeof(*level->slots));
	}
	memset(level->slots, 0, level->n_slots * sizeof(*level->slots));
	for (i = 0; i < level->n_users; i++) {
		at = first_slot(level, level->users[i]->id);
		while (level->slots[at])
			at = (at + 1) & (level->n_slots - 1);
		level->slots[at] = (uint32_t)i + 1;
	}
}

static struct roster_user *find_user(const struct roster_level *level, uint64_t id)
{
	size_t at = first_slot(level, id);

	for (; level->slots[at]; at = (at + 1) & (level->n_slots - 1))
		if (level->users[level->slots[at] - 1]->id == id)
			return level->users[level->slots[at] - 1];
	return NULL;
}

/* ---- coming and going ---- */

/* Of a user that is not told of any more: into `ended` what was, into `other` what is held. */
static void retire(struct roster *roster, struct roster_level *level, size_t index)
{
	struct roster_user *user = level->users[index];
	size_t i;

	for (i = 0; i < roster->n_columns; i++) {
		level->ended[i].out += user->sums[i].out;
		level->other[i].held += user->sums[i].held;
	}
	level->n_leaving -= user->leaving_ns != 0;
	level->n_retired++;
	level->users[index] = level->users[--level->n_users];
	free_user(user);
}

static void set_leaving(struct roster_level *level, struct roster_user *user, uint64_t t_ns)
{
	if (user->leaving_ns)
		return;
	user->leaving_ns = t_ns;
	level->n_leaving++;
}

static size_t find_oldest_leaving(const struct roster_level *level)
{
	size_t i, best = level->n_users;

	for (i = 0; i < level->n_users; i++)
		if (level->users[i]->leaving_ns &&
		    (best == level->n_users ||
		     level->users[i]->leaving_ns < level->users[best]->leaving_ns))
			best = i;
	return best;
}

static void retire_old(struct roster *roster, struct roster_level *level)
{
	size_t i;

	for (i = 0; i < level->n_users;) {
		uint64_t leaving_ns = level->users[i]->leaving_ns;

		if (leaving_ns && roster->t_ns - leaving_ns >= roster->opts.keep_ns)
			retire(roster, level, i);
		else
			i++;
	}
}

/* As many may be on their way out as are told of; those who left first go first. */
static void limit_leaving(struct roster *roster, struct roster_level *level)
{
	while (level->n_leaving > roster->opts.top)
		retire(roster, level, find_oldest_leaving(level));
}

/* Two series of one name can't be: whoever has it and leaves makes way. Whether it is free then. */
static bool free_labels(struct roster *roster, struct roster_level *level, const char *labels)
{
	size_t i;

	for (i = 0; i < level->n_users; i++) {
		if (strcmp(level->users[i]->labels, labels) != 0)
			continue;
		if (!level->users[i]->leaving_ns)
			return false;
		retire(roster, level, i);
		return true;
	}
	return true;
}

/* Takes labels. NULL: somebody has that name. */
static struct roster_user *add_user(struct roster *roster, struct roster_level *level,
				    const struct census *census, uint64_t id, char *labels)
{
	struct roster_user *user;

	if (!free_labels(roster, level, labels)) {
		free(labels);
		return NULL;
	}
	user = xcalloc(1, sizeof(*user));
	user->id = id;
	user->labels = labels;
	user->sums = xcalloc(roster->n_columns, sizeof(*user->sums));
	user->created_ns = census->realtime_ns;
	user->since_ns = census->t_ns;
	user->power_w = user->uncertainty_w = NAN;
	widen_powers(user, 0, roster->n_columns);
	level->users = xrealloc(level->users, level->n_users + 1, sizeof(*level->users));
	level->users[level->n_users++] = user;
	return user;
}

/* ---- windows ---- */

static void hold_row(struct roster_sum *sums, const struct watt_row *row, size_t n_domains)
{
	size_t i;

	sums[ROSTER_CPU].held += (int64_t)row->window_cpu_ns;
	for (i = 0; i < n_domains; i++)
		sums[ROSTER_DOMAIN(i)].held += row->window_nj[i];
}

/* Mean power over the partition in the window, each domain by its own time. */
static double power_of(const struct watt_row *row, const struct census *census)
{
	double power_w = 0;
	size_t i;

	for (i = 0; i < census->n_domains; i++)
		if (census->domains[i]->is_partition && census->states[i]->window_ns)
			power_w += (double)row->window_nj[i] / (double)census->states[i]->window_ns;
	return power_w;
}

/* How unsure that is. */
static double uncertainty_of(const struct watt_row *row, const struct census *census)
{
	const struct watt_view view = {
		.sz = sizeof(view),
		.domains = census->domains,
		.states = census->states,
		.n_domains = census->n_domains,
	};

	return watt_view_uncertainty_w(&view, row);
}

/* Whether anything was told of the partition: a window may be shorter than its sensors need. */
static bool has_power(const struct census *census)
{
	size_t i;

	for (i = 0; i < census->n_domains; i++)
		if (census->domains[i]->is_partition && census->states[i]->window_ns)
			return true;
	return false;
}

static void weigh(struct roster_user *user, double power_w, uint64_t took_ns)
{
	double share = 1 - exp(-(double)took_ns / (double)MEAN_NS);

	user->power_w = power_w;
	user->mean_w += share * (power_w - user->mean_w);
}

double roster_user_power_w(const struct roster_user *user, size_t domain)
{
	return user->powers_w[domain];
}

/* What all leaves have is what level sums are taken of. */
static void hold_domains(struct roster *roster, const struct census *census)
{
	int64_t cpu_ns = 0;
	size_t i;

	for (i = 0; i < census->n_rows; i++) {
		const struct watt_row *row = census->rows[i];

		if (!is_leaf(row->entity->kind))
			continue;
		cpu_ns += (int64_t)row->window_cpu_ns;
		if (row->entity->identity && row->entity->identity->pid == roster->opts.own_pid)
			hold_row(roster->own, row, census->n_domains);
	}
	roster->whole[ROSTER_CPU].held += cpu_ns;
	for (i = 0; i < census->n_domains; i++) {
		const struct watt_domain_state *state = census->states[i];

		roster->whole[ROSTER_DOMAIN(i)].held += state->window_nj;
		roster->idle[ROSTER_DOMAIN(i)].held += state->window_idle_nj;
		roster->unattributed[ROSTER_DOMAIN(i)].held += state->window_unattributed_nj;
	}
}

/* The rest of a level begins as all that is nobody's yet; who is told of takes from it. */
static void begin_other(struct roster *roster, struct roster_level *level,
			const struct census *census, nanojoules cpu_ns)
{
	size_t i;

	level->other[ROSTER_CPU].held += cpu_ns;
	for (i = 0; i < census->n_domains; i++)
		level->other[ROSTER_DOMAIN(i)].held += census->states[i]->window_nj -
						       census->states[i]->window_idle_nj -
						       census->states[i]->window_unattributed_nj;
}

static void take_row(struct roster_level *level, struct roster_user *user,
		     const struct watt_row *row, const struct census *census, uint64_t took_ns)
{
	size_t i;

	hold_row(user->sums, row, census->n_domains);
	level->other[ROSTER_CPU].held -= (int64_t)row->window_cpu_ns;
	for (i = 0; i < census->n_domains; i++) {
		uint64_t window_ns = census->states[i]->window_ns;

		level->other[ROSTER_DOMAIN(i)].held -= row->window_nj[i];
		/* A window that is shorter than its sensor needs says nothing new. */
		if (window_ns)
			user->powers_w[i] = (float)row->window_nj[i] / (float)window_ns;
	}
	if (has_power(census)) {
		weigh(user, power_of(row, census), took_ns);
		user->uncertainty_w = uncertainty_of(row, census);
	}
	user->is_seen = true;
}

/* ---- one level ---- */

struct candidate {
	const struct watt_row *row;
	double power_w;
	bool is_own;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->is_own != y->is_own)
		return x->is_own ? -1 : 1;
	if (x->power_w != y->power_w)
		return x->power_w > y->power_w ? -1 : 1;
	return (x->row->entity->id > y->row->entity->id) -
	       (x->row->entity->id < y->row->entity->id);
}

static bool is_sticky(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_EXITED || kind == WATT_ENTITY_IRQ || kind == WATT_ENTITY_SOFTIRQ;
}

/* Those that run for a moment are told of together: they would be a series each. */
static bool is_eligible(const struct roster *roster, enum level_kind kind,
			const struct watt_row *row, const struct census *census)
{
	const struct watt_identity *identity = row->entity->identity;

	if (is_sticky(row->entity->kind))
		return true;
	if (!row->entity->alive)
		return false;
	if (kind != LEVEL_PROCESS || !identity || identity->start_ns > census->boot_ns)
		return true;
	return census->boot_ns - identity->start_ns >= roster->opts.min_age_ns;
}

/* Whoever is known goes on; others are candidates. Returns how many. */
static size_t take_known(struct roster *roster, enum level_kind kind, const struct census *census,
			 uint64_t took_ns, struct candidate *candidates)
{
	struct roster_level *level = &roster->levels[kind];
	size_t i, n = 0;

	for (i = 0; i < census->n_rows; i++) {
		const struct watt_row *row = census->rows[i];
		struct roster_user *user;
		double power_w;
		bool is_own;

		if (!is_in_level(kind, row->entity->kind))
			continue;
		user = find_user(level, row->entity->id);
		if (user) {
			take_row(level, user, row, census, took_ns);
			if (!row->entity->alive && !user->is_sticky)
				set_leaving(level, user, census->t_ns);
			continue;
		}
		is_own = row->entity->identity &&
			 row->entity->identity->pid == roster->opts.own_pid;
		power_w = power_of(row, census);
		/* Who never uses anything would be a series for nothing. */
		if ((power_w > 0 || is_own) && is_eligible(roster, kind, row, census))
			candidates[n++] = (struct candidate){ row, power_w, is_own };
	}
	return n;
}

/* Who used the least lately, and has been told of for long enough; n_users: nobody may go. */
static size_t find_weakest(const struct roster *roster, const struct roster_level *level)
{
	size_t i, best = level->n_users;

	for (i = 0; i < level->n_users; i++) {
		const struct roster_user *user = level->users[i];

		if (user->leaving_ns || user->is_own || roster->t_ns - user->since_ns < MEAN_NS)
			continue;
		if (best == level->n_users || user->mean_w < level->users[best]->mean_w)
			best = i;
	}
	return best;
}

/* Makes room for a candidate; whether there is any. */
static bool make_room(struct roster *roster, struct roster_level *level,
		      const struct candidate *candidate)
{
	size_t weakest;

	if (level->n_users - level->n_leaving < roster->opts.top)
		return true;
	weakest = find_weakest(roster, level);
	if (weakest == level->n_users)
		return false;
	if (!candidate->is_own &&
	    candidate->power_w <= NEWCOMER_FACTOR * level->users[weakest]->mean_w)
		return false;
	set_leaving(level, level->users[weakest], roster->t_ns);
	return true;
}

static void take_candidates(struct roster *roster, enum level_kind kind,
			    const struct census *census, struct candidate *candidates, size_t n)
{
	struct roster_level *level = &roster->levels[kind];
	size_t i;

	qsort(candidates, n, sizeof(*candidates), compare_candidates);
	for (i = 0; i < n; i++) {
		const struct watt_row *row = candidates[i].row;
		struct roster_user *user;

		if (!make_room(roster, level, &candidates[i]))
			break;
		user = add_user(roster, level, census, row->entity->id, roster_labels(kind, row));
		if (!user)
			continue;
		user->is_own = candidates[i].is_own;
		user->is_sticky = is_sticky(row->entity->kind);
		take_row(level, user, row, census, MEAN_NS);
		user->mean_w = candidates[i].power_w;
	}
}

/* Who is called otherwise from now on (an exec, a name that came late) goes on as another one. */
static void rename_users(struct roster *roster, enum level_kind kind, const struct census *census)
{
	struct roster_level *level = &roster->levels[kind];
	size_t i;

	for (i = 0; i < census->n_rows; i++) {
		const struct watt_row *row = census->rows[i];
		struct roster_user *user;
		auto_free char *labels = NULL;

		if (!is_in_level(kind, row->entity->kind))
			continue;
		user = find_user(level, row->entity->id);
		if (!user || user->leaving_ns)
			continue;
		labels = roster_labels(kind, row);
		if (strcmp(labels, user->labels) == 0)
			continue;
		/* It is found by its id no more, and its place is free. */
		set_leaving(level, user, census->t_ns);
		user->id = 0;
	}
}

static void update_level(struct roster *roster, enum level_kind kind, const struct census *census,
			 uint64_t took_ns, nanojoules cpu_ns)
{
	struct roster_level *level = &roster->levels[kind];
	struct candidate *candidates = xcalloc(census->n_rows, sizeof(*candidates));
	size_t i, n;

	for (i = 0; i < level->n_users; i++)
		level->users[i]->is_seen = false;
	index_users(level);
	rename_users(roster, kind, census);
	index_users(level);
	begin_other(roster, level, census, cpu_ns);
	n = take_known(roster, kind, census, took_ns, candidates);
	for (i = 0; i < level->n_users; i++)
		if (!level->users[i]->is_seen) {
			weigh(level->users[i], 0, took_ns);
			set_leaving(level, level->users[i], census->t_ns);
		}
	retire_old(roster, level);
	take_candidates(roster, kind, census, candidates, n);
	limit_leaving(roster, level);
	free(candidates);
}

/* ---- letting out ---- */

static bool is_column_ready(const struct roster *roster, size_t column)
{
	size_t i;
	int kind;

	if (roster->whole[column].held < 0 || roster->idle[column].held < 0 ||
	    roster->unattributed[column].held < 0 || roster->own[column].held < 0 ||
	    roster->whole[column].held < roster->idle[column].held)
		return false;
	for (kind = 0; kind < LEVEL_N; kind++) {
		const struct roster_level *level = &roster->levels[kind];

		if (!has_level(roster, kind))
			continue;
		if (level->other[column].held < 0)
			return false;
		for (i = 0; i < level->n_users; i++)
			if (level->users[i]->sums[column].held < 0)
				return false;
	}
	return true;
}

static void let_out(struct roster_sum *sum)
{
	sum->out += sum->held;
	sum->held = 0;
}

static void let_out_column(struct roster *roster, size_t column)
{
	size_t i;
	int kind;

	let_out(&roster->whole[column]);
	let_out(&roster->idle[column]);
	let_out(&roster->unattributed[column]);
	let_out(&roster->own[column]);
	for (kind = 0; kind < LEVEL_N; kind++) {
		struct roster_level *level = &roster->levels[kind];

		if (!has_level(roster, kind))
			continue;
		let_out(&level->other[column]);
		for (i = 0; i < level->n_users; i++)
			let_out(&level->users[i]->sums[column]);
	}
}

void roster_update(struct roster *roster, const struct census *census)
{
	uint64_t took_ns = roster->t_ns ? census->t_ns - roster->t_ns : 0;
	nanojoules cpu_ns;
	size_t column;
	int kind;

	/* What was there from the beginning has counted from the beginning. */
	widen_all(roster, ROSTER_DOMAIN(census->n_domains),
		  census->realtime_ns - (roster->t_ns ? 0 : census->t_ns - census->start_ns));
	roster->t_ns = census->t_ns;
	cpu_ns = -roster->whole[ROSTER_CPU].held;
	hold_domains(roster, census);
	cpu_ns += roster->whole[ROSTER_CPU].held;
	for (kind = 0; kind < LEVEL_N; kind++)
		if (has_level(roster, kind))
			update_level(roster, (enum level_kind)kind, census, took_ns, cpu_ns);
	for (column = 0; column < roster->n_columns; column++) {
		if (!is_column_ready(roster, column)) {
			roster->n_held++;
			continue;
		}
		if (column != ROSTER_CPU && census->domains[column - 1]->is_partition)
			roster->machine_nj += roster->whole[column].held;
		let_out_column(roster, column);
	}
	roster->n_updates++;
}

bool roster_is_balanced(const struct roster *roster)
{
	size_t column, i;
	int kind;

	for (kind = 0; kind < LEVEL_N; kind++) {
		const struct roster_level *level = &roster->levels[kind];

		if (!has_level(roster, kind))
			continue;
		for (column = 0; column < roster->n_columns; column++) {
			nanojoules sum = roster->idle[column].out +
					 roster->unattributed[column].out +
					 level->other[column].out + level->ended[column].out;

			for (i = 0; i < level->n_users; i++)
				sum += level->users[i]->sums[column].out;
			if (sum != roster->whole[column].out)
				return false;
		}
	}
	return true;
}
