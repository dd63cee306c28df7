/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots and their accessors. Built by one thread, read by any. */
#include "attrib/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/state.h"
#include "base/cleanup.h"

#define N_KINDS (WATT_ENTITY_JOB + 1)

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
	for (i = 0; snap->names && i < 2 * snap->n_rows; i++)
		watt_name_unref(snap->names[i]);
	free(snap->names);
	free(snap->rows);
	free(snap->energies);
	free(snap->windows);
	free(snap->states);
	free(snap->domains);
	free(snap->paths);
	free(snap->cpus);
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
		return 1;
	case WATT_STATUS_STUCK:
		/* memory that does not count is usual */
		return domain->kind == WATT_DOMAIN_PACKAGE;
	default:
		return 0;
	}
}

static struct watt_snapshot *snapshot_alloc(size_t n_rows, size_t n_domains, size_t n_cpus,
					    size_t paths_size)
{
	struct watt_snapshot *snap = calloc(1, sizeof(*snap));

	if (!snap)
		return NULL;
	watt_refcount_init(&snap->refs);
	snap->rows = calloc(n_rows + 1, sizeof(*snap->rows));
	snap->names = calloc(2 * n_rows + 1, sizeof(*snap->names));
	snap->energies = calloc(n_rows * n_domains + 1, sizeof(*snap->energies));
	snap->windows = calloc(n_rows * n_domains + 1, sizeof(*snap->windows));
	snap->states = calloc(n_domains + 1, sizeof(*snap->states));
	snap->domains = calloc(n_domains + 1, sizeof(*snap->domains));
	snap->cpus = calloc(n_cpus + 1, sizeof(*snap->cpus));
	snap->paths = malloc(paths_size + 1);
	if (!snap->rows || !snap->names || !snap->energies || !snap->windows || !snap->states ||
	    !snap->domains || !snap->cpus || !snap->paths)
		return watt_snapshot_unref(snap);
	snap->n_domains = n_domains;
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
	entity->id = account->id;
	entity->parent_id = account->parent_id;
	entity->tracked_id = account->tracked_id;
	entity->kind = shown_kind(account);
	entity->count = account->count;
	entity->alive = account->is_alive;
	entity->name = name->text;
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

static void fill_row(struct watt_snapshot *snap, size_t i, const struct watt_attrib *at,
		     struct watt_account *account)
{
	size_t n = snap->n_domains, d;
	struct watt_energy *energy = &snap->energies[i * n];
	int64_t *window_nj = &snap->windows[i * n];
	struct watt_row *row = &snap->rows[i];
	watt_i128 total_nj = 0;

	snap->names[2 * i] = watt_name_ref(account->title ? account->title : account->name);
	if (account->cgroup)
		snap->names[2 * i + 1] = watt_name_ref(account->cgroup);
	fill_entity(&row->entity, account, snap->names[2 * i], snap->names[2 * i + 1]);
	row->cpu_ns = account->cpu_ns - account->ahead_cpu_ns;
	row->window_cpu_ns = row->cpu_ns - account->base_cpu_ns;
	row->energy = energy;
	row->window_nj = window_nj;
	for (d = 0; d < n; d++) {
		energy[d] = energy_of(account->energy_nj[d]);
		window_nj[d] = (int64_t)(account->energy_nj[d] - account->base_nj[d]);
		if (at->tree.domains[d].is_partition) {
			total_nj += account->energy_nj[d];
			row->window_total_nj += window_nj[d];
		}
	}
	row->total = energy_of(total_nj);
	account->was_shown = true;
}

/* By kind, and in the order of their ids within: where each kind begins is counted first. */
static void add_rows(struct watt_snapshot *snap, const struct watt_attrib *at)
{
	size_t next[N_KINDS + 1] = { 0 };
	size_t i;
	int kind;

	for (i = 0; i < at->accounts.n; i++)
		next[shown_kind(at->accounts.list[i]) + 1]++;
	for (kind = 0; kind < N_KINDS; kind++)
		next[kind + 1] += next[kind];
	for (i = 0; i < at->accounts.n; i++) {
		kind = shown_kind(at->accounts.list[i]);
		fill_row(snap, next[kind]++, at, at->accounts.list[i]);
	}
	snap->n_rows = at->accounts.n;
}

static void fill_curve_stats(struct watt_domain_state *state, const struct watt_attrib *at,
			     const struct watt_ledger *ledger, const struct watt_timeline *tl)
{
	struct watt_curve_stats stats = { .gaps = ledger->gaps, .gap_ns = ledger->gap_ns };

	state->status = watt_ledger_status(at, ledger, tl);
	if (ledger->domain->channel >= 0)
		watt_timeline_get_stats(tl, (size_t)ledger->domain->channel, &stats);
	state->samples = stats.samples;
	state->errors = stats.errors;
	state->wraps = stats.wraps;
	state->resets = stats.resets;
	state->gaps = stats.gaps;
	state->gap_ns = stats.gap_ns;
	state->ambiguous = stats.ambiguous;
}

static void fill_state(struct watt_domain_state *state, const struct watt_attrib *at,
		       const struct watt_ledger *ledger, const struct watt_timeline *tl)
{
	fill_curve_stats(state, at, ledger, tl);
	state->t_ns = ledger->cursor_ns;
	state->energy = energy_of(ledger->energy_nj);
	state->window_nj = (int64_t)(ledger->energy_nj - ledger->base_energy_nj);
	state->window_ns = ledger->cursor_ns - ledger->base_ns;
	state->idle = energy_of(ledger->idle_nj);
	state->window_idle_nj = (int64_t)(ledger->idle_nj - ledger->base_idle_nj);
	state->unattributed = energy_of(ledger->unattributed_nj);
	state->window_unattributed_nj =
		(int64_t)(ledger->unattributed_nj - ledger->base_unattributed_nj);
	state->baseline_ready = ledger->baseline.is_ready;
	state->baseline_uw = ledger->baseline.baseline_uw;
	state->is_usable = ledger->is_usable;
	state->key = ledger->key;
	state->key_readiness_ppm = watt_ledger_key_readiness_ppm(ledger);
	state->key_uncertainty_ppm = watt_key_uncertainty_ppm(&ledger->chain.keys[0]);
	state->late = energy_of(ledger->late_nj);
	state->shared_idle = energy_of(ledger->shared_idle_nj);
	state->window_shared_idle_nj =
		(int64_t)(ledger->shared_idle_nj - ledger->base_shared_idle_nj);
}

static void rebase_ledger(struct watt_ledger *ledger)
{
	ledger->base_ns = ledger->cursor_ns;
	ledger->base_energy_nj = ledger->energy_nj;
	ledger->base_idle_nj = ledger->idle_nj;
	ledger->base_unattributed_nj = ledger->unattributed_nj;
	ledger->base_shared_idle_nj = ledger->shared_idle_nj;
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
static bool is_window_in_range(const struct watt_attrib *at)
{
	watt_i128 sum_nj = 0;
	size_t i;

	for (i = 0; i < at->tree.n_domains; i++) {
		watt_i128 window_nj = at->ledgers[i].energy_nj - at->ledgers[i].base_energy_nj;

		sum_nj += window_nj < 0 ? -window_nj : window_nj;
	}
	return sum_nj <= INT64_MAX;
}

static void begin_window(struct watt_attrib *at, uint64_t t_ns)
{
	size_t i;

	for (i = 0; i < at->tree.n_domains; i++)
		rebase_ledger(&at->ledgers[i]);
	watt_accounts_rebase(&at->accounts);
	at->window_start_ns = t_ns;
}

/*
 * The whole sum, for each domain: all that entities, idle and unattributed have is all that the
 * domain used.
 */
static void check_conservation(struct watt_attrib *at)
{
	size_t d, i;

	for (d = 0; d < at->tree.n_domains; d++)
		at->ledgers[d].check_nj = at->ledgers[d].idle_nj + at->ledgers[d].unattributed_nj;
	for (i = 0; i < at->accounts.n; i++) {
		const struct watt_account *account = at->accounts.list[i];

		if (watt_entity_kind_is_leaf(account->kind))
			for (d = 0; d < at->tree.n_domains; d++)
				at->ledgers[d].check_nj += account->energy_nj[d];
	}
	for (d = 0; d < at->tree.n_domains; d++) {
		at->quality.checks++;
		at->quality.check_failures += at->ledgers[d].check_nj != at->ledgers[d].energy_nj;
	}
}

static void copy_domains(struct watt_snapshot *snap, const struct watt_tree *tree)
{
	char *cursor = snap->paths;
	size_t i;

	for (i = 0; i < tree->n_domains; i++) {
		size_t name_at = (size_t)(tree->domains[i].name - tree->domains[i].path);

		snap->domains[i] = tree->domains[i];
		snap->domains[i].path = cursor;
		snap->domains[i].name = cursor + name_at;
		cursor = stpcpy(cursor, tree->domains[i].path) + 1;
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
			 const struct watt_quality *other_stages)
{
	*quality = at->quality;
	quality->missed_reads = other_stages->missed_reads;
	quality->lost_samples = other_stages->lost_samples;
	watt_cpus_fill_quality(&at->cpus, quality);
}

uint64_t watt_attrib_window_start_ns(const struct watt_attrib *at)
{
	return at->window_start_ns ? at->window_start_ns : at->first_sweep_ns;
}

int watt_attrib_snapshot(struct watt_attrib *at, const struct watt_timeline *tl, uint64_t t_ns,
			 uint64_t realtime_ns, const char *phase,
			 const struct watt_quality *quality, struct watt_snapshot **ret)
{
	struct watt_snapshot *snap;
	size_t i;
	int r;

	r = watt_fold_before(at);
	if (r < 0)
		return r;
	watt_groups_spread_names(at);
	check_conservation(at);
	r = check_sums(at);
	if (r < 0)
		return r;
	watt_hold_count_ahead(at);
	if (!is_window_in_range(at)) {
		begin_window(at, t_ns);
		return -EOVERFLOW;
	}
	snap = snapshot_alloc(at->accounts.n, at->tree.n_domains, at->cpus.n,
			      paths_size(&at->tree));
	if (!snap)
		return -ENOMEM;
	copy_domains(snap, &at->tree);
	copy_cpus(snap, &at->cpus);
	add_rows(snap, at);
	for (i = 0; i < at->tree.n_domains; i++)
		fill_state(&snap->states[i], at, &at->ledgers[i], tl);
	snap->t_ns = t_ns;
	snap->realtime_ns = realtime_ns;
	snap->start_ns = at->first_sweep_ns;
	snap->window_start_ns = watt_attrib_window_start_ns(at);
	snap->has_phase = phase && phase[0];
	if (snap->has_phase)
		snprintf(snap->phase, sizeof(snap->phase), "%s", phase);
	snap->sequence = ++at->snapshot_seq;
	snap->idle_policy = at->idle_policy;
	fill_quality(&snap->quality, at, quality);
	begin_window(at, t_ns);
	r = watt_fold_after(at);
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
		if (snap->rows[i].entity.id == entity_id)
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

const struct watt_quality *watt_snapshot_get_quality(const struct watt_snapshot *snap)
{
	return &snap->quality;
}
