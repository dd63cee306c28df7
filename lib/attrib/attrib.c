/* SPDX-License-Identifier: Apache-2.0 */
/* The fourth stage as a whole. A pure function of what is pushed: no clock, no file. */
#include "attrib/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/keys.h"
#include "attrib/reserve.h"
#include "base/util.h"

#define DEFAULT_GRACE_NS 300000000ULL
#define DEFAULT_HORIZON_NS 60000000000ULL

static int copy_cpu_slots(struct watt_attrib *at, const struct watt_attrib_opts *opts)
{
	uint32_t i;

	at->n_cpus = opts->n_cpus;
	at->n_slots = opts->n_slots ? opts->n_slots : 1;
	at->cpu_slot = calloc(at->n_cpus + 1, sizeof(*at->cpu_slot));
	if (!at->cpu_slot)
		return -ENOMEM;
	for (i = 0; i < at->n_cpus; i++)
		at->cpu_slot[i] = (uint16_t)WATT_MIN(opts->cpu_slot[i], at->n_slots);
	return 0;
}

const struct watt_key_ops *const *watt_keys_of(const struct watt_attrib_opts *opts)
{
	return opts->keys ? opts->keys : watt_key_registry;
}

/* What domains that come later are placed and shared by. */
static int copy_choices(struct watt_attrib *at, const struct watt_attrib_opts *opts)
{
	at->keys = watt_keys_of(opts);
	at->prior = opts->prior;
	at->idle_policy = opts->idle_policy;
	at->memory_bytes = opts->memory_bytes;
	if (watt_rules_join(&at->share_keys, opts->share_keys) < 0)
		return -ENOMEM;
	if (!opts->places)
		return 0;
	at->places = calloc(at->n_slots, sizeof(*at->places));
	if (!at->places)
		return -ENOMEM;
	memcpy(at->places, opts->places, opts->n_slots * sizeof(*at->places));
	return 0;
}

static int attrib_init(struct watt_attrib *at, const struct watt_attrib_opts *opts)
{
	int r;

	r = copy_cpu_slots(at, opts);
	if (r == 0)
		r = copy_choices(at, opts);
	if (r == 0)
		r = watt_tree_build(opts->channels, opts->n_channels, &at->tree);
	if (r == 0)
		r = watt_keys_apply(opts->share_keys, watt_keys_of(opts), &at->tree, opts->log);
	if (r < 0)
		return r;
	r = watt_accounts_init(&at->accounts, at->tree.n_domains);
	if (r == 0)
		r = watt_nobody_init(at);
	if (r == 0)
		r = watt_cursors_init(at);
	if (r == 0)
		r = watt_tasks_init(&at->tasks);
	if (r == 0)
		r = watt_groups_init(at);
	if (r == 0)
		r = watt_ledgers_grow(at, opts->channels, false);
	return r < 0 ? r : watt_gauges_grow(at, opts->channels, opts->n_channels);
}

int watt_attrib_new(const struct watt_attrib_opts *opts, struct watt_attrib **ret)
{
	struct watt_attrib *at;
	int r;

	at = calloc(1, sizeof(*at));
	if (!at)
		return -ENOMEM;
	at->grace_ns = opts->grace_ns ? opts->grace_ns : DEFAULT_GRACE_NS;
	at->horizon_ns = opts->horizon_ns ? opts->horizon_ns : DEFAULT_HORIZON_NS;
	at->self_pid = opts->self_pid;
	r = attrib_init(at, opts);
	if (r < 0) {
		watt_attrib_free(at);
		return r;
	}
	watt_slices_init(&at->slices);
	*ret = at;
	return 0;
}

struct watt_attrib *watt_attrib_free(struct watt_attrib *at)
{
	if (!at)
		return NULL;
	watt_reserves_done(at);
	watt_slices_done(&at->slices);
	watt_ledgers_done(at);
	watt_activities_done(at);
	watt_groups_done(at);
	watt_tasks_done(&at->tasks);
	watt_gauges_done(at);
	watt_accounts_done(&at->accounts);
	watt_tree_done(&at->tree);
	free(at->cursors);
	free(at->cpu_slot);
	free(at->places);
	watt_rules_clear(&at->share_keys);
	watt_cpus_done(&at->cpus);
	watt_nobody_done(at);
	free(at);
	return NULL;
}

int watt_attrib_place_cpu(struct watt_attrib *at, uint32_t cpu, uint32_t slot,
			  const struct watt_cpu_place *place)
{
	static const struct watt_cpu_place nowhere = { -1, -1, -1 };
	struct watt_cpu_place *there = at->places && slot < at->n_slots ? &at->places[slot] : NULL;

	if (!there || cpu >= at->n_cpus)
		return -EINVAL;
	if (at->n_slots > 1 && !memcmp(there, &nowhere, sizeof(nowhere))) {
		*there = *place;
		watt_ledgers_take_slots(at);
	}
	if (memcmp(there, place, sizeof(*place)))
		return -EINVAL;
	at->cpu_slot[cpu] = (uint16_t)slot;
	return 0;
}

/* Everything has room for the domains of the tree. */
static int grow_domains(struct watt_attrib *at, const struct watt_channel *const *channels)
{
	int r = watt_accounts_grow(&at->accounts, at->tree.n_domains);

	return r < 0 ? r : watt_ledgers_grow(at, channels, true);
}

int watt_attrib_add_instances(struct watt_attrib *at)
{
	const struct watt_activities *all = &at->activities[WATT_ACTIVITY_GPU_TIME];
	size_t had = at->tree.n_domains, i;
	int r = 0;

	for (i = 0; i < all->n_places && r >= 0; i++)
		r = watt_tree_add_instance(&at->tree, all->places[i].path);
	if (r < 0 || at->tree.n_domains == had)
		return WATT_MIN(r, 0);
	return grow_domains(at, at->channels);
}

int watt_attrib_grow(struct watt_attrib *at, const struct watt_channel *const *channels,
		     size_t n_channels)
{
	size_t first = at->tree.n_domains;
	int r;

	r = watt_tree_grow(&at->tree, channels, n_channels);
	if (r == 0)
		r = watt_keys_apply(&at->share_keys, at->keys, &at->tree, NULL);
	if (r == 0)
		r = watt_tree_show(&at->tree, channels, first);
	if (r == 0)
		r = grow_domains(at, channels);
	if (r == 0)
		r = watt_gauges_grow(at, channels, at->tree.n_channels);
	/* of a GPU that has come behind those who told of its instances */
	return r < 0 ? r : watt_attrib_add_instances(at);
}

size_t watt_attrib_domain_count(const struct watt_attrib *at)
{
	return at->tree.n_domains;
}

const struct watt_domain *watt_attrib_domain(const struct watt_attrib *at, size_t index)
{
	return index < at->tree.n_domains ? watt_tree_get(&at->tree, index) : NULL;
}

int watt_attrib_channel_domain(const struct watt_attrib *at, size_t channel)
{
	return channel < at->tree.n_channels ? at->tree.domain_of[channel] : -1;
}

/* Slices that every domain is done with. */
static void drop_slices(struct watt_attrib *at)
{
	uint64_t needed = at->slices.next_seq;
	size_t i;

	for (i = 0; i < at->tree.n_domains; i++)
		needed = WATT_MIN(needed, at->ledgers[i].next_seq);
	while (at->slices.n && watt_slices_get(&at->slices, 0)->seq < needed)
		watt_slices_drop(&at->slices);
}

/*
 * Up to where nobody will ask for the points of the curve that a domain is measured by: a residual
 * asks for those of its parts too, and, as it keeps where it stands as a number, for those of
 * slices alone. A part asks for where its silence began until it is past it.
 */
static uint64_t domain_oldest_ns(const struct watt_attrib *at, int32_t domain, uint64_t slices_ns)
{
	const struct watt_domain *d = &at->tree.domains[domain];
	const struct watt_silence *silence = &at->ledgers[domain].silence;
	uint64_t t_ns = at->ledgers[domain].cursor_ns;
	size_t i;

	if (silence->to_ns)
		t_ns = WATT_MIN(t_ns, silence->from_ns);
	for (i = 0; i < at->tree.n_domains; i++) {
		const struct watt_domain *r = &at->tree.domains[i];

		if (r->kind == WATT_DOMAIN_RESIDUAL &&
		    (r->parent == domain || r->parent == d->parent))
			t_ns = WATT_MIN(t_ns, WATT_MAX(at->ledgers[i].cursor_ns, slices_ns));
	}
	return t_ns;
}

static void forget_points(const struct watt_attrib *at, struct watt_timeline *tl, uint64_t now_ns)
{
	uint64_t slices_ns = at->slices.n ? watt_slices_get(&at->slices, 0)->t0_ns :
					    at->last_sweep_ns;
	size_t c;

	for (c = 0; c < at->n_channels; c++) {
		int32_t domain = at->tree.domain_of[c];
		uint64_t t_ns = now_ns; /* of one that no domain is measured by */

		if (domain < 0)
			t_ns = watt_gauges_oldest_ns(at, slices_ns);
		else if (at->tree.domains[domain].channel == (int32_t)c)
			t_ns = domain_oldest_ns(at, domain, slices_ns);
		watt_timeline_forget(tl, c, t_ns);
	}
}

int watt_attrib_advance(struct watt_attrib *at, struct watt_timeline *tl, uint64_t now_ns)
{
	int done = 0, r;
	size_t i;

	at->now_ns = now_ns;
	at->timeline = tl;
	watt_ledgers_join(at, tl);
	r = watt_activities_fill(at, now_ns);
	if (r < 0)
		return r;
	for (i = 0; i < at->tree.n_domains; i++) {
		r = watt_ledger_advance(at, &at->ledgers[i], tl, now_ns);
		if (r < 0)
			return r;
		done += r;
	}
	drop_slices(at);
	forget_points(at, tl, now_ns);
	r = watt_retire_between(at);
	return r < 0 ? r : done;
}

int watt_attrib_next_nameless(struct watt_attrib *at, uint32_t *ret_pid, uint64_t *ret_start_ns)
{
	while (at->asks.n_processes) {
		const struct watt_process_ask *ask = &at->asks.processes[--at->asks.n_processes];

		if (!watt_tasks_find_process(&at->tasks, ask->pid, ask->start_ns))
			continue; /* it is gone: nobody could answer */
		*ret_pid = ask->pid;
		*ret_start_ns = ask->start_ns;
		return 0;
	}
	return 1;
}

int watt_attrib_ask_again(struct watt_attrib *at)
{
	int r = watt_groups_ask_again(at);

	return r < 0 ? r : watt_sweep_ask_again(at);
}

int watt_attrib_set_identity(struct watt_attrib *at, const struct watt_identity *identity)
{
	struct watt_process *process;
	struct watt_name *name;

	process = watt_tasks_find_process(&at->tasks, identity->pid, identity->start_ns);
	if (!process || !process->account)
		return -ESRCH;
	name = watt_name_new_identity(identity);
	if (!name)
		return -ENOMEM;
	watt_name_unref(process->account->name);
	process->account->name = name;
	return 0;
}

int watt_attrib_show_threads(struct watt_attrib *at)
{
	if (at->had_sweep && !at->accounts.has_threads)
		return -EBUSY;
	at->accounts.has_threads = true;
	return 0;
}

size_t watt_attrib_dying_count(const struct watt_attrib *at, uint64_t t_ns)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;
	size_t n = 0;

	if (!at->tasks.n_dying)
		return 0;
	while ((node = watt_htab_iterate(&at->tasks.tasks, &it))) {
		const struct watt_task *task = watt_container_of(node, struct watt_task, node);

		n += task->pending_slice && task->exit_ns < t_ns;
	}
	return n;
}

uint64_t watt_attrib_last_sweep_ns(const struct watt_attrib *at)
{
	return at->last_sweep_ns;
}

uint64_t watt_attrib_settled_ns(const struct watt_attrib *at, size_t domain)
{
	if (domain >= at->tree.n_domains || !at->ledgers[domain].is_started)
		return UINT64_MAX;
	return at->ledgers[domain].cursor_ns;
}
