/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots and their accessors. Built by one thread, read by any. */
#include "attrib/snapshot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/doubt.h"
#include "attrib/parts.h"
#include "base/cleanup.h"

#define N_KINDS (WATT_ENTITY_JOB + 1)
#define AHEAD 8 /* rows, of which memory is asked for before they are needed */

struct watt_snapshot *watt_snapshot_ref(struct watt_snapshot *snap)
{
	watt_refcount_get(&snap->refs);
	return snap;
}

struct watt_snapshot *watt_snapshot_unref(struct watt_snapshot *snap)
{
	size_t i;

	if (!snap || !watt_refcount_put(&snap->refs))
		return NULL;
	for (i = 0; i < 2 * snap->n_rows; i++) {
		if (i + AHEAD < 2 * snap->n_rows)
			watt_prefetch(snap->names[i + AHEAD]);
		watt_name_unref(snap->names[i]);
	}
	free(snap->rows);
	free(snap->states);
	free(snap->domains);
	free(snap->paths);
	free(snap->cpus);
	free(snap->gauges);
	free(snap->gauge_texts);
	free(snap);
	return NULL;
}

int watt_domain_is_missing(const struct watt_domain *domain, const struct watt_domain_state *state)
{
	if (!domain->is_partition || !watt_energy_is_zero(state->energy))
		return 0;
	switch (state->status) {
	case WATT_STATUS_FORBIDDEN:
	case WATT_STATUS_BROKEN:
	case WATT_STATUS_ABSENT:
	case WATT_STATUS_STALE:
		return 1;
	case WATT_STATUS_STUCK:
		/* memory that does not count is usual */
		return domain->kind == WATT_DOMAIN_PACKAGE;
	default:
		return 0;
	}
}

/*
 * All that there is of rows, as one piece: the C library comes to keep a piece of that size, where it
 * gives several of them back to the kernel and gets new pages each time. Who fills a row sets all of
 * it.
 */
static int alloc_rows(struct watt_snapshot *snap, size_t n, size_t n_domains)
{
	size_t n_numbers = n * n_domains;
	size_t size = n * (sizeof(*snap->rows) + sizeof(*snap->entities)) +
		      n_numbers * (sizeof(*snap->energies) + sizeof(*snap->windows) +
				   3 * sizeof(*snap->uncertainties)) +
		      2 * n * sizeof(*snap->names);

	snap->rows = malloc(size + 1);
	if (!snap->rows)
		return -ENOMEM;
	snap->entities = (void *)(snap->rows + n);
	snap->energies = (void *)(snap->entities + n);
	snap->windows = (void *)(snap->energies + n_numbers);
	snap->uncertainties = (void *)(snap->windows + n_numbers);
	snap->names = (void *)(snap->uncertainties + 3 * n_numbers);
	return 0;
}

static struct watt_snapshot *snapshot_alloc(size_t n_rows, size_t n_domains, size_t n_cpus,
					    size_t paths_size)
{
	struct watt_snapshot *snap = calloc(1, sizeof(*snap));

	if (!snap)
		return NULL;
	watt_refcount_init(&snap->refs);
	snap->states = calloc(n_domains + 1, sizeof(*snap->states));
	snap->domains = calloc(n_domains + 1, sizeof(*snap->domains));
	snap->cpus = calloc(n_cpus + 1, sizeof(*snap->cpus));
	snap->paths = malloc(paths_size + 1);
	if (alloc_rows(snap, n_rows, n_domains) < 0 || !snap->states || !snap->domains ||
	    !snap->cpus || !snap->paths)
		return watt_snapshot_unref(snap);
	snap->n_domains = n_domains;
	snap->cap_rows = n_rows;
	return snap;
}

#define NJ_PER_J 1000000000

/* Most totals of most entities fit into 64 bits, in which it is ten times as fast to divide. */
static struct watt_energy energy_of(watt_i128 total_nj)
{
	watt_i128 j;

	if (total_nj == (int64_t)total_nj)
		return watt_energy_from_nj((int64_t)total_nj);
	j = total_nj / NJ_PER_J - (total_nj % NJ_PER_J < 0);
	return (struct watt_energy){ (int64_t)j, (int32_t)(total_nj - j * NJ_PER_J) };
}

static enum watt_entity_kind shown_kind(const struct watt_account *account)
{
	if (account->kind == WATT_ENTITY_PROCESS && account->name->has_identity &&
	    account->name->identity.vm_name)
		return WATT_ENTITY_VM;
	return account->kind;
}

static void fill_entity(struct watt_entity *entity, const struct watt_account *account,
			struct watt_name *name, struct watt_name *cgroup)
{
	*entity = (struct watt_entity){ .sz = sizeof(*entity),
					.id = account->id,
					.parent_id = account->parent_id,
					.tracked_id = account->tracked_id,
					.kind = shown_kind(account),
					.count = account->count,
					.alive = account->is_alive,
					.name = name->text };
	if (name->has_identity) {
		entity->identity = &name->identity;
		entity->missing = name->identity.missing;
	}
	if (name->has_container)
		entity->container = &name->container;
	if (cgroup) {
		entity->cgroup = &cgroup->cgroup;
		if (!cgroup->cgroup.path)
			entity->missing |= WATT_IDENTITY_CGROUP;
	}
}

/* Idle power is nobody's share; how sure it is, its own readiness says. */
static bool is_shared(const struct watt_account *account)
{
	return account->kind != WATT_ENTITY_IDLE && account->kind != WATT_ENTITY_UNATTRIBUTED;
}

static void clear_uncertainties(struct watt_snapshot *snap, size_t row)
{
	size_t n = snap->n_domains, i, d;

	for (i = 0; i < 3; i++)
		for (d = 0; d < n; d++)
			snap->uncertainties[(i * snap->cap_rows + row) * n + d] = 0;
}

/* Errors of processes of one name are as good as the same: they add up. */
static void add_uncertainties(struct watt_snapshot *snap, const struct watt_attrib *at,
			      const struct watt_account *account, size_t reader,
			      struct watt_row *row)
{
	size_t first = (size_t)(row - snap->rows), n = snap->n_domains, d;
	struct watt_doubt_row doubt = {
		.all_j = &snap->uncertainties[first * n],
		.window_j = &snap->uncertainties[(snap->cap_rows + first) * n],
		.idle_j = &snap->uncertainties[(2 * snap->cap_rows + first) * n],
		.total_j = &row->total_uncertainty_j,
		.window_total_j = &row->window_total_uncertainty_j,
	};

	row->uncertainty_j = doubt.all_j;
	row->window_uncertainty_j = doubt.window_j;
	row->window_idle_uncertainty_j = doubt.idle_j;
	if (is_shared(account)) {
		watt_doubt_add_row(at, account, reader, &doubt);
		return;
	}
	for (d = 0; d < n; d++)
		doubt.all_j[d] = doubt.window_j[d] = NAN;
	row->total_uncertainty_j = watt_energy_is_zero(row->total) ? 0 : NAN;
	row->window_total_uncertainty_j = row->window_total_nj ? NAN : 0;
}

/* What of a thread's use its set has. */
static void fill_tracked(struct watt_row *row, const struct watt_attrib *at,
			 const struct watt_account *thread)
{
	const struct watt_member *member;
	watt_i128 total_nj = 0;
	size_t d;

	for (member = thread->members; member; member = member->next) {
		const struct watt_account *set = member->sums[WATT_MEMBER_TRACKED];

		if (!set || set->id != thread->tracked_id)
			continue;
		row->tracked_cpu_ns += member->cpu_ns - member->ahead_cpu_ns;
		for (d = 0; d < at->tree.n_domains; d++)
			if (at->tree.domains[d].is_partition)
				total_nj += member->energy_nj[d];
	}
	row->tracked = energy_of(total_nj);
}

static void fill_row(struct watt_snapshot *snap, size_t i, const struct watt_attrib *at,
		     struct watt_account *account, size_t reader)
{
	const watt_i128 *base_nj = watt_account_get_base(account, reader);
	uint64_t cpu_ns = account->cpu_ns - account->ahead_cpu_ns;
	size_t n = snap->n_domains, d;
	struct watt_energy *energy = &snap->energies[i * n];
	int64_t *window_nj = &snap->windows[i * n];
	struct watt_row *row = &snap->rows[i];
	watt_i128 total_nj = 0;

	snap->names[2 * i] = watt_name_ref(watt_account_get_title(account));
	snap->names[2 * i + 1] = account->cgroup ? watt_name_ref(account->cgroup) : NULL;
	fill_entity(&snap->entities[i], account, snap->names[2 * i], snap->names[2 * i + 1]);
	*row = (struct watt_row){ .sz = sizeof(*row),
				  .entity = &snap->entities[i],
				  .cpu_ns = cpu_ns,
				  .window_cpu_ns = cpu_ns - account->looks[reader].base_cpu_ns,
				  .energy = energy,
				  .window_nj = window_nj };
	for (d = 0; d < n; d++) {
		energy[d] = energy_of(account->energy_nj[d]);
		window_nj[d] = (int64_t)(account->energy_nj[d] - base_nj[d]);
		if (at->tree.domains[d].is_partition) {
			total_nj += account->energy_nj[d];
			row->window_total_nj += window_nj[d];
		}
	}
	row->total = energy_of(total_nj);
	if (account->kind == WATT_ENTITY_THREAD && account->tracked_id)
		fill_tracked(row, at, account);
	clear_uncertainties(snap, i);
	add_uncertainties(snap, at, account, reader, row);
	account->row = i;
	account->looks[reader].is_owed = watt_retire_is_owing(account);
}

/* What this reader has seen the last of, and another one has not, is among those that are over. */
static void add_hidden(struct watt_snapshot *snap, const struct watt_attrib *at,
		       const struct watt_account *process, size_t reader)
{
	const struct watt_account *over = watt_retire_get_over(at, process);
	struct watt_row *row = over ? &snap->rows[over->row] : NULL;
	const watt_i128 *base_nj = watt_account_get_base(process, reader);
	struct watt_energy *energy;
	watt_i128 total_nj = 0;
	int64_t *window_nj;
	size_t d;

	if (!row)
		return;
	energy = &snap->energies[over->row * snap->n_domains];
	window_nj = &snap->windows[over->row * snap->n_domains];
	snap->entities[over->row].count += process->count;
	row->cpu_ns += process->cpu_ns - process->ahead_cpu_ns;
	row->window_cpu_ns +=
		process->cpu_ns - process->ahead_cpu_ns - process->looks[reader].base_cpu_ns;
	for (d = 0; d < snap->n_domains; d++) {
		int64_t part_nj = (int64_t)(process->energy_nj[d] - base_nj[d]);

		energy[d] = watt_energy_add(energy[d], energy_of(process->energy_nj[d]));
		window_nj[d] += part_nj;
		if (at->tree.domains[d].is_partition) {
			total_nj += process->energy_nj[d];
			row->window_total_nj += part_nj;
		}
	}
	row->total = watt_energy_add(row->total, energy_of(total_nj));
	add_uncertainties(snap, at, process, reader, row);
}

/* What is empty for this reader has no row. */
static bool has_row(const struct watt_account *account)
{
	if (account->kind == WATT_ENTITY_EXITED)
		return account->count + account->n_hidden > 0;
	if (account->is_kept && !account->members && !account->n_hidden)
		return false;
	return !account->is_hidden;
}

static void find_hidden(const struct watt_attrib *at, size_t reader)
{
	size_t i;

	for (i = 0; i < at->accounts.n; i++) {
		at->accounts.list[i]->n_hidden = 0;
		at->accounts.list[i]->is_hidden = false;
	}
	for (i = 0; at->n_gone && i < at->accounts.n; i++)
		at->accounts.list[i]->is_hidden =
			watt_retire_is_hidden(at, at->accounts.list[i], reader);
	for (i = 0; at->n_gone && i < at->accounts.n; i++) {
		struct watt_account *over;

		if (!at->accounts.list[i]->is_hidden)
			continue;
		over = watt_retire_get_over(at, at->accounts.list[i]);
		if (over)
			over->n_hidden++;
	}
}

/* Of accounts that are next, what else than themselves their rows need. */
static void prefetch_row(const struct watt_accounts *accounts, size_t i)
{
	const struct watt_account *account;

	if (i + AHEAD >= accounts->n)
		return;
	account = accounts->list[i + AHEAD];
	watt_prefetch(watt_account_get_title(account));
	watt_prefetch(account->energy_nj);
	watt_prefetch(account->spans);
}

/* By kind, and in the order of their ids within: where each kind begins is counted first. */
static void add_rows(struct watt_snapshot *snap, struct watt_attrib *at, size_t reader)
{
	size_t next[N_KINDS + 1] = { 0 };
	size_t i;
	int kind;

	find_hidden(at, reader);
	watt_doubt_begin_rows(at, reader);
	for (i = 0; i < at->accounts.n; i++)
		if (has_row(at->accounts.list[i]))
			next[shown_kind(at->accounts.list[i]) + 1]++;
	for (kind = 0; kind < N_KINDS; kind++)
		next[kind + 1] += next[kind];
	snap->n_rows = next[N_KINDS];
	for (i = 0; i < at->accounts.n; i++) {
		prefetch_row(&at->accounts, i);
		kind = shown_kind(at->accounts.list[i]);
		if (has_row(at->accounts.list[i]))
			fill_row(snap, next[kind]++, at, at->accounts.list[i], reader);
	}
	for (i = 0; at->n_gone && i < at->accounts.n; i++)
		if (at->accounts.list[i]->is_hidden)
			add_hidden(snap, at, at->accounts.list[i], reader);
}

/* A residual has no curve, and counts its gaps itself. What it did not tell is none on the curve. */
static struct watt_curve_stats curve_stats(const struct watt_ledger *ledger,
					   const struct watt_timeline *tl)
{
	struct watt_curve_stats stats = { .gaps = ledger->gaps, .gap_ns = ledger->gap_ns };

	if (ledger->domain->channel >= 0)
		watt_timeline_get_stats(tl, (size_t)ledger->domain->channel, &stats);
	stats.gaps += ledger->silence.gaps;
	stats.gap_ns += ledger->silence.gap_ns;
	return stats;
}

static void fill_curve_stats(struct watt_domain_state *state, const struct watt_attrib *at,
			     const struct watt_ledger *ledger, const struct watt_timeline *tl)
{
	struct watt_curve_stats stats = curve_stats(ledger, tl);

	state->status = watt_ledger_status(at, ledger, tl);
	if (state->status == WATT_STATUS_OK && !ledger->is_started)
		state->status = WATT_STATUS_PENDING;
	state->samples = stats.samples;
	state->errors = stats.errors;
	state->wraps = stats.wraps;
	state->resets = stats.resets;
	state->gaps = stats.gaps;
	state->gap_ns = stats.gap_ns;
	state->ambiguous = stats.ambiguous;
	if (ledger->domain->kind == WATT_DOMAIN_RESIDUAL)
		stats = curve_stats(&at->ledgers[ledger->domain->parent], tl);
	state->unknown_ns = stats.gap_ns;
}

static void fill_age(struct watt_domain_state *state, const struct watt_ledger *ledger,
		     const struct watt_timeline *tl)
{
	struct watt_age_found found;

	state->found_delay_ns = state->found_delay_uncertainty_ns = 0;
	if (ledger->domain->channel < 0 ||
	    watt_timeline_get_age(tl, (size_t)ledger->domain->channel, &found) < 0)
		return;
	state->found_delay_ns = found.delay_ns;
	state->found_delay_uncertainty_ns = WATT_MAX(found.uncertainty_ns, 1);
}

static void fill_state(struct watt_domain_state *state, const struct watt_attrib *at,
		       const struct watt_ledger *ledger, const struct watt_ledger_base *base,
		       const struct watt_timeline *tl)
{
	const struct watt_ledger *divider = watt_ledger_get_divider(at, ledger);
	const struct watt_key *key = &divider->chain.keys[0];
	bool is_significant = false;

	state->sz = sizeof(*state);
	fill_curve_stats(state, at, ledger, tl);
	fill_age(state, ledger, tl);
	state->t_ns = ledger->cursor_ns;
	state->energy = energy_of(ledger->energy_nj);
	state->window_nj = (int64_t)(ledger->energy_nj - base->energy_nj);
	state->window_ns = ledger->cursor_ns - base->t_ns;
	state->idle = energy_of(ledger->idle_nj);
	state->window_idle_nj = (int64_t)(ledger->idle_nj - base->idle_nj);
	state->unattributed = energy_of(ledger->unattributed_nj);
	state->window_unattributed_nj = (int64_t)(ledger->unattributed_nj - base->unattributed_nj);
	state->baseline_ready = ledger->baseline.is_ready;
	state->baseline_uw = ledger->baseline.baseline_uw;
	state->baseline_from = ledger->baseline.from;
	state->baseline_uncertainty_uw = watt_baseline_doubt_uw(&ledger->baseline);
	state->is_usable = ledger->is_usable;
	state->key = ledger->key;
	state->key_readiness_ppm = watt_ledger_key_readiness_ppm(divider);
	state->key_uncertainty_ppm = watt_key_uncertainty_ppm(key);
	state->users_status = watt_parts_status(at, divider);
	state->significance_t = NAN;
	if (key->ops && key->ops->significance)
		state->significance_t = key->ops->significance(key->state, &is_significant);
	state->is_significant = is_significant;
	state->clamped_ns = ledger->clamped_ns;
	state->window_clamped_ns = ledger->clamped_ns - base->clamped_ns;
	state->transient_ns = ledger->transient_ns;
	state->window_transient_ns = ledger->transient_ns - base->transient_ns;
	state->late = energy_of(ledger->late_nj);
	state->shared_idle = energy_of(ledger->shared_idle_nj);
	state->window_shared_idle_nj = (int64_t)(ledger->shared_idle_nj - base->shared_idle_nj);
}

/* And each sum is the sum of its members. */
static int check_sums(struct watt_attrib *at)
{
	_cleanup_free_ watt_i128 *scratch_nj = calloc(at->tree.n_domains + 1, sizeof(*scratch_nj));
	struct watt_sum_checks checks;

	if (!scratch_nj)
		return -ENOMEM;
	checks = watt_members_check(&at->accounts, scratch_nj);
	at->quality.sum_checks += checks.made;
	at->quality.sum_failures += checks.failed;
	return 0;
}

/* Whether int64 nJ hold the window: all domains together, as no row has more than that. */
static bool is_window_in_range(const struct watt_attrib *at, size_t reader)
{
	watt_i128 sum_nj = 0;
	size_t i;

	for (i = 0; i < at->tree.n_domains; i++) {
		watt_i128 window_nj =
			at->ledgers[i].energy_nj - at->ledgers[i].bases[reader].energy_nj;

		sum_nj += window_nj < 0 ? -window_nj : window_nj;
	}
	return sum_nj <= INT64_MAX;
}

/*
 * The whole sum, for each domain: all that entities, idle and unattributed have is all that the
 * domain used, since the beginning and up to where the window began, and so in the window.
 */
static void check_conservation(struct watt_attrib *at, size_t reader)
{
	size_t d, i;

	for (d = 0; d < at->tree.n_domains; d++) {
		struct watt_ledger *ledger = &at->ledgers[d];

		ledger->check_nj = ledger->idle_nj + ledger->unattributed_nj;
		ledger->check_base_nj =
			ledger->bases[reader].idle_nj + ledger->bases[reader].unattributed_nj;
	}
	for (i = 0; i < at->accounts.n; i++) {
		const struct watt_account *account = at->accounts.list[i];
		const watt_i128 *base_nj = watt_account_get_base(account, reader);

		if (!watt_entity_kind_is_leaf(account->kind))
			continue;
		for (d = 0; d < at->tree.n_domains; d++) {
			at->ledgers[d].check_nj += account->energy_nj[d];
			at->ledgers[d].check_base_nj += base_nj[d];
		}
	}
	for (d = 0; d < at->tree.n_domains; d++) {
		const struct watt_ledger *ledger = &at->ledgers[d];

		at->quality.checks++;
		at->quality.check_failures += ledger->check_nj != ledger->energy_nj ||
					      ledger->check_base_nj !=
						      ledger->bases[reader].energy_nj;
	}
}

static void copy_domains(struct watt_snapshot *snap, const struct watt_tree *tree)
{
	char *cursor = snap->paths;
	size_t i;

	for (i = 0; i < tree->n_domains; i++) {
		const struct watt_domain *domain = watt_tree_get(tree, i);
		size_t name_at = (size_t)(domain->name - domain->path);

		snap->domains[i] = *domain;
		snap->domains[i].path = cursor;
		snap->domains[i].name = cursor + name_at;
		cursor = stpcpy(cursor, domain->path) + 1;
	}
}

/* Those that were online at some time. */
static void copy_cpus(struct watt_snapshot *snap, const struct watt_cpus *cpus)
{
	size_t i;

	for (i = 0; i < cpus->n; i++)
		if (cpus->states[i].wall_ns)
			snap->cpus[snap->n_cpus++] = cpus->states[i];
}

static size_t paths_size(const struct watt_tree *tree)
{
	size_t i, size = 0;

	for (i = 0; i < tree->n_domains; i++)
		size += strlen(tree->domains[i].path) + 1;
	return size;
}

static void fill_quality(struct watt_quality *quality, const struct watt_attrib *at,
			 const struct watt_quality *losses)
{
	*quality = at->quality;
	quality->sz = sizeof(*quality);
	quality->missed_reads = losses->missed_reads;
	quality->lost_samples = losses->lost_samples;
	watt_cpus_fill_quality(&at->cpus, quality);
}

/* What the snapshot is made from adds up. */
static int prepare(struct watt_attrib *at, size_t reader)
{
	int r;

	r = watt_retire_before(at, reader);
	if (r < 0)
		return r;
	watt_groups_spread_names(at);
	check_conservation(at, reader);
	r = check_sums(at);
	if (r < 0)
		return r;
	watt_barrier_count_ahead(at);
	return is_window_in_range(at, reader) ? 0 : -EOVERFLOW;
}

static void fill_head(struct watt_snapshot *snap, const struct watt_attrib *at,
		      const struct watt_look_opts *opts, const struct watt_cursor_state *cursor)
{
	snap->t_ns = opts->t_ns;
	snap->realtime_ns = opts->realtime_ns;
	snap->start_ns = at->first_sweep_ns;
	snap->window_start_ns = cursor->window_start_ns;
	if (!snap->window_start_ns)
		snap->window_start_ns = at->first_sweep_ns;
	snap->has_phase = opts->phase && opts->phase[0];
	if (snap->has_phase)
		snprintf(snap->phase, sizeof(snap->phase), "%s", opts->phase);
	snap->sequence = cursor->n_snapshots;
	snap->idle_policy = at->idle_policy;
	fill_quality(&snap->quality, at, &opts->losses);
}

static int fill(struct watt_attrib *at, const struct watt_timeline *tl,
		const struct watt_look_opts *opts, size_t reader, struct watt_snapshot **ret)
{
	struct watt_cursor_state *cursor = &at->cursors[reader];
	struct watt_snapshot *snap;
	size_t i;
	int r;

	snap = snapshot_alloc(at->accounts.n, at->tree.n_domains, at->cpus.n,
			      paths_size(&at->tree));
	if (!snap)
		return -ENOMEM;
	copy_domains(snap, &at->tree);
	copy_cpus(snap, &at->cpus);
	add_rows(snap, at, reader);
	for (i = 0; i < at->tree.n_domains; i++)
		fill_state(&snap->states[i], at, &at->ledgers[i], &at->ledgers[i].bases[reader],
			   tl);
	cursor->n_snapshots++;
	fill_head(snap, at, opts, cursor);
	r = watt_gauges_fill(at, tl, reader, snap);
	if (r < 0) {
		watt_snapshot_unref(snap);
		return r;
	}
	*ret = snap;
	return 0;
}

int watt_attrib_snapshot(struct watt_attrib *at, const struct watt_timeline *tl,
			 const struct watt_look_opts *opts, struct watt_snapshot **ret)
{
	struct watt_snapshot *snap = NULL;
	size_t reader;
	int r;

	r = watt_cursors_find(at, opts->cursor, &reader);
	if (r == 0)
		r = prepare(at, reader);
	if (r == 0)
		r = fill(at, tl, opts, reader, &snap);
	if (r == 0 || r == -EOVERFLOW)
		watt_cursors_begin_window(at, reader, opts->t_ns);
	if (r < 0)
		return r;
	r = watt_retire_after(at);
	if (r < 0) {
		watt_snapshot_unref(snap);
		return r;
	}
	*ret = snap;
	return 0;
}

uint64_t watt_snapshot_get_time_ns(const struct watt_snapshot *snap)
{
	return snap->t_ns;
}

uint64_t watt_snapshot_get_realtime_ns(const struct watt_snapshot *snap)
{
	return snap->realtime_ns;
}

uint64_t watt_snapshot_get_start_ns(const struct watt_snapshot *snap)
{
	return snap->start_ns;
}

uint64_t watt_snapshot_get_window_start_ns(const struct watt_snapshot *snap)
{
	return snap->window_start_ns;
}

uint64_t watt_snapshot_get_sequence(const struct watt_snapshot *snap)
{
	return snap->sequence;
}

const char *watt_snapshot_get_phase(const struct watt_snapshot *snap)
{
	return snap->has_phase ? snap->phase : NULL;
}

enum watt_idle_policy watt_snapshot_get_idle_policy(const struct watt_snapshot *snap)
{
	return snap->idle_policy;
}

size_t watt_snapshot_get_domain_count(const struct watt_snapshot *snap)
{
	return snap->n_domains;
}

const struct watt_domain *watt_snapshot_get_domain(const struct watt_snapshot *snap, size_t index)
{
	return index < snap->n_domains ? &snap->domains[index] : NULL;
}

const struct watt_domain_state *watt_snapshot_get_domain_state(const struct watt_snapshot *snap,
							       size_t index)
{
	return index < snap->n_domains ? &snap->states[index] : NULL;
}

size_t watt_snapshot_get_row_count(const struct watt_snapshot *snap)
{
	return snap->n_rows;
}

const struct watt_row *watt_snapshot_get_row(const struct watt_snapshot *snap, size_t index)
{
	return index < snap->n_rows ? &snap->rows[index] : NULL;
}

const struct watt_row *watt_snapshot_find_row(const struct watt_snapshot *snap, uint64_t entity_id)
{
	size_t i;

	for (i = 0; i < snap->n_rows; i++)
		if (snap->rows[i].entity->id == entity_id)
			return &snap->rows[i];
	return NULL;
}

size_t watt_snapshot_get_cpu_count(const struct watt_snapshot *snap)
{
	return snap->n_cpus;
}

const struct watt_cpu_state *watt_snapshot_get_cpu(const struct watt_snapshot *snap, size_t index)
{
	return index < snap->n_cpus ? &snap->cpus[index] : NULL;
}

size_t watt_snapshot_get_gauge_count(const struct watt_snapshot *snap)
{
	return snap->n_gauges;
}

double watt_gauge_get_now(const struct watt_gauge *gauge)
{
	return isnan(gauge->mean) && gauge->status == WATT_STATUS_OK ? gauge->value : gauge->mean;
}

const struct watt_gauge *watt_snapshot_get_gauge(const struct watt_snapshot *snap, size_t index)
{
	return index < snap->n_gauges ? &snap->gauges[index] : NULL;
}

const struct watt_quality *watt_snapshot_get_quality(const struct watt_snapshot *snap)
{
	return &snap->quality;
}
