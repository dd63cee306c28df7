/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of the whole way from records to snapshots: lib/timeline and lib/attrib driven with
 * random schedules, deaths, losses, wraps, resets, gaps, late and missing samples. Whatever
 * comes, energy and CPU time are conserved, curves are monotone, sums are sums, equal tasks are
 * equal, and who did nothing gets nothing.
 */
#include "channel.h"
#include "unit.h"

#include "rules_of.h"
#include "attrib/state.h"
#include "base/util.h"

#define MS 1000000ULL
#define SLICE_NS (50 * MS)
#define N_CPUS 4
#define N_CHANNELS 4
#define MAX_TASKS 64
#define MAX_BATCH 1024
#define TWIN_A 0 /* always does what TWIN_B does */
#define TWIN_B 1
#define SLEEPER 2 /* never does anything */

enum {
	PACKAGE_0,
	PACKAGE_1,
	DRAM_0,
	TOTAL
};

static const struct watt_channel machine[N_CHANNELS] = {
	[PACKAGE_0] = { .name = "p0",
			.source = "t",
			.domain = "package-0",
			.kind = WATT_DOMAIN_PACKAGE,
			.quantity = WATT_QUANTITY_ENERGY,
			.scale_num = 1000,
			.scale_den = 1,
			.wrap_nj = 60000000000ULL,
			.max_power_uw = 100000000,
			.package_id = 0,
			.die_id = -1,
			.core_id = -1 },
	[PACKAGE_1] = { .name = "p1",
			.source = "t",
			.domain = "package-1",
			.kind = WATT_DOMAIN_PACKAGE,
			.quantity = WATT_QUANTITY_ENERGY,
			.scale_num = 1000000000,
			.scale_den = 1ULL << 32,
			.max_power_uw = 100000000,
			.package_id = 1,
			.die_id = -1,
			.core_id = -1 },
	[DRAM_0] = { .name = "d0",
		     .source = "t",
		     .domain = "dram-0",
		     .kind = WATT_DOMAIN_DRAM,
		     .quantity = WATT_QUANTITY_POWER,
		     .semantics = WATT_SEMANTICS_INSTANT,
		     .scale_num = 1000,
		     .scale_den = 1,
		     .package_id = 0,
		     .die_id = -1,
		     .core_id = -1 },
	[TOTAL] = CHANNEL("in", "in", WATT_DOMAIN_TOTAL, .package_id = -1,
			  .quantity = WATT_QUANTITY_POWER, .semantics = WATT_SEMANTICS_INSTANT),
};

struct task {
	struct watt_usage u;
	bool is_alive, is_dying;
	uint64_t told_ns; /* what a record said last */
	int free_in;      /* slices until its last word; <0: it never comes */
};

struct policy {
	enum watt_idle_policy idle;
	const char *share_keys, *delays;
};

struct world {
	uint64_t seed;
	uint64_t t_ns;
	struct task tasks[MAX_TASKS];
	size_t n_tasks;
	uint32_t next_tid;
	uint64_t next_start_ns;
	struct watt_usage batch[MAX_BATCH];
	size_t n_batch;
	uint64_t given_ns;           /* CPU time that records brought */
	double energy_j[N_CHANNELS]; /* of the counters, in their own units */
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_snapshot *last;
	bool was_started[2 * N_CHANNELS]; /* per domain, at the last check */
	int64_t divided_nj[2 * N_CHANNELS];
	int64_t curve_nj[2 * N_CHANNELS];
	uint64_t late_until_ns[N_CHANNELS]; /* samples are held back */
	struct watt_sample held[N_CHANNELS][64];
	size_t n_held[N_CHANNELS];
};

static uint64_t rnd(struct world *w, uint64_t n)
{
	w->seed = watt_hash_u64(w->seed + 0x9e3779b97f4a7c15ULL);
	return w->seed % n;
}

static bool one_in(struct world *w, uint64_t n)
{
	return rnd(w, n) == 0;
}

static void tell(struct world *w, struct task *task, enum watt_usage_kind kind, uint32_t cpu)
{
	struct watt_usage *u = &w->batch[w->n_batch++];

	assert_true(w->n_batch <= MAX_BATCH);
	*u = task->u;
	u->kind = (uint16_t)kind;
	u->cpu = cpu;
	if (kind == WATT_USAGE_TASK || kind == WATT_USAGE_MIGRATE || kind == WATT_USAGE_FREE) {
		w->given_ns += task->u.cpu_ns - task->told_ns;
		task->told_ns = task->u.cpu_ns;
	}
}

static struct task *spawn(struct world *w, bool is_thread_of, size_t leader)
{
	struct task *task = &w->tasks[w->n_tasks];
	uint32_t tid = one_in(w, 8) ? 1000 + (uint32_t)rnd(w, 20) : w->next_tid++; /* pids recur */

	if (w->n_tasks == MAX_TASKS)
		return NULL;
	w->n_tasks++;
	*task = (struct task){ .is_alive = true };
	w->next_start_ns += 1 + rnd(w, MS);
	task->u = (struct watt_usage){ .tid = tid,
				       .tgid = tid,
				       .start_ns = w->next_start_ns,
				       .leader_start_ns = w->next_start_ns,
				       .cgroup_id = 1 + rnd(w, 4),
				       .uid = (uint32_t)rnd(w, 3),
				       .cpu = (uint32_t)rnd(w, N_CPUS) };
	snprintf(task->u.comm, sizeof(task->u.comm), "task%u", tid % 7);
	if (is_thread_of) {
		task->u.tgid = w->tasks[leader].u.tgid;
		task->u.leader_start_ns = w->tasks[leader].u.leader_start_ns;
		task->u.cgroup_id = w->tasks[leader].u.cgroup_id;
		task->u.uid = w->tasks[leader].u.uid;
	}
	return task;
}

static void run_tasks(struct world *w)
{
	uint64_t twin_ns = rnd(w, 3) ? rnd(w, 10 * MS) : 0;
	uint32_t twin_cpu = (uint32_t)rnd(w, N_CPUS);
	size_t i;

	for (i = 0; i < w->n_tasks; i++) {
		struct task *task = &w->tasks[i];

		if (!task->is_alive || task->is_dying || i == SLEEPER)
			continue;
		if (i == TWIN_A || i == TWIN_B) {
			task->u.cpu_ns += twin_ns;
			task->u.cpu = twin_cpu;
			continue;
		}
		if (one_in(w, 3))
			continue;
		task->u.cpu_ns += rnd(w, 20 * MS);
		if (one_in(w, 4)) { /* it moves: what it used so far was there */
			tell(w, task, WATT_USAGE_MIGRATE, task->u.cpu);
			task->u.cpu = (uint32_t)rnd(w, N_CPUS);
			task->u.cpu_ns += rnd(w, 5 * MS);
		}
	}
}

static void kill_some(struct world *w)
{
	size_t i;

	for (i = SLEEPER + 1; i < w->n_tasks; i++) {
		struct task *task = &w->tasks[i];

		if (!task->is_alive)
			continue;
		if (!task->is_dying && one_in(w, 12)) {
			task->is_dying = true;
			task->free_in = one_in(w, 10) ? -1 : (int)rnd(w, 12);
			task->u.t_ns = w->t_ns - rnd(w, SLICE_NS);
			tell(w, task, WATT_USAGE_EXIT, task->u.cpu);
			task->u.cpu_ns += rnd(w, MS); /* tearing down */
		} else if (task->is_dying && task->free_in-- == 0) {
			tell(w, task, WATT_USAGE_FREE, task->u.cpu);
			task->is_alive = false;
		}
	}
}

static void reap(struct world *w)
{
	size_t i, kept = SLEEPER + 1;

	for (i = kept; i < w->n_tasks; i++)
		if (w->tasks[i].is_alive && !(w->tasks[i].is_dying && w->tasks[i].free_in < -100))
			w->tasks[kept++] = w->tasks[i];
	w->n_tasks = kept;
}

static void births(struct world *w)
{
	struct task *task;

	while (one_in(w, 2)) {
		task = spawn(w, one_in(w, 3), SLEEPER + 1 + rnd(w, w->n_tasks - SLEEPER - 1));
		if (!task)
			return;
		if (!one_in(w, 10)) /* the record of a birth can be lost */
			tell(w, task, WATT_USAGE_FORK, task->u.cpu);
		task->u.cpu_ns = rnd(w, 3 * MS);
		if (one_in(w, 4)) { /* born and gone before any sweep */
			tell(w, task, WATT_USAGE_FREE, task->u.cpu);
			task->is_alive = false;
		}
	}
}

static void sweep(struct world *w, bool full)
{
	struct watt_usage_batch batch = { 0 };
	size_t i;

	for (i = 0; i < w->n_tasks; i++) {
		struct task *task = &w->tasks[i];

		task->u.t_ns = w->t_ns;
		if (!task->is_alive || task->is_dying)
			continue;
		if (full || task->u.cpu_ns != task->told_ns)
			tell(w, task, WATT_USAGE_TASK, task->u.cpu);
	}
	batch.t_before_ns = w->t_ns - 1000;
	batch.t_after_ns = w->t_ns + 1000;
	batch.records = w->batch;
	batch.n_records = w->n_batch;
	batch.flags = WATT_BATCH_DEATHS | (full ? WATT_BATCH_FULL : 0);
	assert_int_equal(watt_attrib_push_usage(w->at, &batch), 0);
	w->n_batch = 0;
}

static void push_sample(struct world *w, const struct watt_sample *sample)
{
	struct watt_sample *held = w->held[sample->channel];
	size_t *n = &w->n_held[sample->channel], i;

	if (*n < 64)
		held[(*n)++] = *sample;
	if (w->t_ns < w->late_until_ns[sample->channel])
		return;
	for (i = 0; i < *n; i++)
		assert_int_equal(watt_timeline_push(w->tl, &held[i]), 0);
	*n = 0;
	if (one_in(w, 40))
		w->late_until_ns[sample->channel] = w->t_ns + rnd(w, 2000) * MS;
}

static void read_sensors(struct world *w, uint64_t t_ns, uint64_t dt_ns)
{
	uint32_t c;

	for (c = 0; c < N_CHANNELS; c++) {
		struct watt_sample s = { .t_before_ns = t_ns,
					 .t_after_ns = t_ns + rnd(w, 50000),
					 .channel = c };
		double power_w = 5 + (double)rnd(w, 40);

		w->energy_j[c] += power_w * (double)dt_ns / 1e9;
		if (one_in(w, 300))
			w->energy_j[c] = 0; /* reset */
		if (c == PACKAGE_0)
			s.raw = (int64_t)(w->energy_j[c] * 1e6) % 60000000;
		else if (c == PACKAGE_1)
			s.raw = (int64_t)(w->energy_j[c] * 4294967296.0);
		else
			s.raw = (int64_t)(power_w * (c == DRAM_0 ? 1e3 : 1.2e8));
		if (one_in(w, 25)) {
			s.status = 1 + (uint32_t)rnd(w, 4);
			s.raw = 0;
		}
		if (one_in(w, 25))
			continue; /* nothing came */
		push_sample(w, &s);
	}
}

static int64_t leaf_sum(const struct watt_snapshot *snap, size_t domain, uint64_t *ret_cpu_ns)
{
	int64_t sum_nj = 0;
	size_t i;

	*ret_cpu_ns = 0;
	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		switch (row->entity->kind) {
		case WATT_ENTITY_PROCESS:
		case WATT_ENTITY_KTHREAD:
		case WATT_ENTITY_EXITED:
		case WATT_ENTITY_IRQ:
		case WATT_ENTITY_SOFTIRQ:
			sum_nj += watt_energy_to_nj(row->energy[domain]);
			*ret_cpu_ns += row->cpu_ns;
			break;
		default:
			break;
		}
	}
	return sum_nj;
}

static int64_t kind_sum(const struct watt_snapshot *snap, size_t domain, enum watt_entity_kind kind)
{
	int64_t sum_nj = 0;
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++)
		if (watt_snapshot_get_row(snap, i)->entity->kind == kind)
			sum_nj += watt_energy_to_nj(watt_snapshot_get_row(snap, i)->energy[domain]);
	return sum_nj;
}

/* Nothing that is a sum ever goes down, and each row's window is the step since the last one. */
static void check_monotone(const struct watt_snapshot *last, const struct watt_snapshot *snap)
{
	size_t n = watt_snapshot_get_domain_count(snap), i, d;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i), *was;

		was = last ? watt_snapshot_find_row(last, row->entity->id) : NULL;
		for (d = 0; d < n; d++) {
			if (watt_snapshot_get_domain(snap, d)->kind == WATT_DOMAIN_RESIDUAL)
				continue;
			assert_true(watt_energy_to_nj(row->energy[d]) >= 0);
			assert_true(row->window_nj[d] >= 0);
			if (!was || row->entity->kind == WATT_ENTITY_EXITED)
				continue;
			/* A cgroup that gets its name late brings along what it used before. */
			if (row->entity->kind == WATT_ENTITY_CONTAINER ||
			    row->entity->kind == WATT_ENTITY_POD)
				assert_true(row->window_nj[d] <=
					    watt_energy_to_nj(row->energy[d]) -
						    watt_energy_to_nj(was->energy[d]));
			else
				assert_int_equal(row->window_nj[d],
						 watt_energy_to_nj(row->energy[d]) -
							 watt_energy_to_nj(was->energy[d]));
		}
	}
}

static const struct watt_row *row_of(const struct watt_snapshot *snap, const struct watt_usage *u)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (row->entity->identity && row->entity->identity->pid == u->tgid &&
		    row->entity->identity->start_ns == u->leader_start_ns)
			return row;
	}
	return NULL;
}

static void check_twins(const struct world *w, const struct watt_snapshot *snap)
{
	const struct watt_row *a = row_of(snap, &w->tasks[TWIN_A].u);
	const struct watt_row *b = row_of(snap, &w->tasks[TWIN_B].u);
	size_t d;

	assert_null(row_of(snap, &w->tasks[SLEEPER].u));
	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_int_equal(a->cpu_ns, b->cpu_ns);
	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++)
		assert_true(llabs(watt_energy_to_nj(a->energy[d]) -
				  watt_energy_to_nj(b->energy[d])) <= 2);
}

/*
 * What the ledger divided since the last check is what the curve says, to the last nJ, but for what
 * was told too late and is in the rest of its whole.
 */
static void check_curve(struct world *w, const struct watt_snapshot *snap, size_t d)
{
	const struct watt_domain_state *state = watt_snapshot_get_domain_state(snap, d);
	int32_t channel = watt_snapshot_get_domain(snap, d)->channel;
	watt_i128 now_nj;

	if (channel < 0 || !state->t_ns)
		return;
	assert_int_equal(watt_silence_curve_nj(&w->at->ledgers[d], w->tl, state->t_ns, &now_nj), 0);
	if (w->was_started[d])
		assert_int_equal(watt_energy_to_nj(state->energy) - w->divided_nj[d],
				 (int64_t)now_nj - w->curve_nj[d]);
	w->was_started[d] = true;
	w->divided_nj[d] = watt_energy_to_nj(state->energy);
	w->curve_nj[d] = (int64_t)now_nj;
}

static void check(struct world *w)
{
	struct watt_look_opts opts = { .t_ns = w->t_ns, .realtime_ns = 1 };
	struct watt_snapshot *snap;
	uint64_t cpu_ns;
	size_t d;

	assert_int_equal(watt_attrib_snapshot(w->at, w->tl, &opts, &snap), 0);
	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(snap)->sum_failures, 0);
	assert_true(watt_snapshot_get_quality(snap)->checks > 0);
	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);
		int64_t leaves_nj = leaf_sum(snap, d, &cpu_ns);

		assert_int_equal(watt_energy_to_nj(s->energy),
				 watt_energy_to_nj(s->idle) + watt_energy_to_nj(s->unattributed) +
					 leaves_nj);
		assert_int_equal(kind_sum(snap, d, WATT_ENTITY_IDLE), watt_energy_to_nj(s->idle));
		assert_int_equal(kind_sum(snap, d, WATT_ENTITY_UNATTRIBUTED),
				 watt_energy_to_nj(s->unattributed));
		assert_int_equal(kind_sum(snap, d, WATT_ENTITY_CGROUP), leaves_nj);
		assert_int_equal(kind_sum(snap, d, WATT_ENTITY_USER), leaves_nj);
		assert_int_equal(kind_sum(snap, d, WATT_ENTITY_CONTAINER),
				 kind_sum(snap, d, WATT_ENTITY_POD));
		assert_int_equal(cpu_ns, w->given_ns);
		check_curve(w, snap, d);
	}
	check_monotone(w->last, snap);
	check_twins(w, snap);
	watt_snapshot_unref(w->last);
	w->last = snap;
}

static void name_all(struct world *w)
{
	struct watt_identity identity = { 0 };
	struct watt_cgroup cgroup = { 0 };
	uint32_t pid, uid;
	bool v1;

	while (watt_attrib_next_nameless(w->at, &identity.pid, &identity.start_ns) == 0)
		if (!one_in(w, 3))
			watt_attrib_set_identity(w->at, &identity);
	while (watt_attrib_next_unknown_cgroup(w->at, &cgroup.id, &v1, &pid) == 0) {
		cgroup.path = "/some/where";
		cgroup.container = cgroup.id % 2 ? "odd" : NULL;
		cgroup.pod_uid = cgroup.id % 2 ? (cgroup.id == 1 ? "pod-1" : "pod-2") : NULL;
		assert_int_equal(watt_attrib_set_cgroup(w->at, &cgroup), 0);
	}
	while (watt_attrib_next_unknown_user(w->at, &uid) == 0)
		assert_int_equal(watt_attrib_set_user(w->at, uid, "somebody"), 0);
}

static void open_world(struct world *w, uint64_t seed, const struct policy *policy)
{
	static const uint16_t slots[N_CPUS] = { 0, 0, 1, 1 };
	static const struct watt_cpu_place places[2] = { { 0, -1, -1 }, { 1, -1, -1 } };
	static const struct watt_channel *channels[N_CHANNELS];
	struct watt_rules keys = rules_of(policy->share_keys, &watt_share_key_syntax);
	struct watt_rules delays = rules_of(policy->delays, &watt_delay_syntax);
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = N_CHANNELS,
					 .cpu_slot = slots,
					 .n_cpus = N_CPUS,
					 .n_slots = 2,
					 .places = places,
					 .horizon_ns = 1500 * MS,
					 .idle_policy = policy->idle,
					 .share_keys = &keys };
	int i;

	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->next_tid = 100;
	w->next_start_ns = w->t_ns = 1000 * MS;
	for (i = 0; i < N_CHANNELS; i++)
		channels[i] = &machine[i];
	assert_int_equal(watt_timeline_new(channels, N_CHANNELS, &w->tl), 0);
	assert_int_equal(watt_timeline_set_delays(w->tl, &delays, NULL), 0);
	assert_int_equal(watt_attrib_new(&opts, &w->at), 0);
	watt_rules_clear(&keys);
	watt_rules_clear(&delays);
	for (i = 0; i < 8; i++)
		spawn(w, false, 0);
	for (i = 0; i < 3; i++) { /* twins and sleeper: pids of their own */
		w->tasks[i].u.tid = w->tasks[i].u.tgid = 90 + (uint32_t)i;
		w->tasks[i].u.cpu_ns = 5 * MS;
		w->tasks[i].told_ns = 5 * MS;
	}
	for (; i < 8; i++)
		w->tasks[i].told_ns = w->tasks[i].u.cpu_ns = rnd(w, 9 * MS);
	w->given_ns = 0;
}

static void close_world(struct world *w)
{
	watt_snapshot_unref(w->last);
	watt_attrib_free(w->at);
	watt_timeline_free(w->tl);
}

static void live(struct world *w, int slices)
{
	int i;

	read_sensors(w, w->t_ns - 5 * MS, SLICE_NS);
	sweep(w, true);
	for (i = 0; i < slices; i++) {
		uint64_t dt_ns = SLICE_NS + rnd(w, 20 * MS);

		w->t_ns += dt_ns;
		births(w);
		run_tasks(w);
		kill_some(w);
		reap(w);
		sweep(w, one_in(w, 60));
		read_sensors(w, w->t_ns + rnd(w, MS), dt_ns);
		assert_true(watt_attrib_advance(w->at, w->tl, w->t_ns + 2 * MS) >= 0);
		if (one_in(w, 3))
			name_all(w);
		if (one_in(w, 7))
			check(w);
	}
	check(w);
}

static const struct policy usual;

static void check_properties(const struct policy *policy, uint64_t n_seeds)
{
	static struct world w;
	uint64_t seed;

	for (seed = 1; seed <= n_seeds; seed++) {
		open_world(&w, seed, policy);
		live(&w, 300);
		close_world(&w);
	}
}

static void test_properties(void **state)
{
	check_properties(&usual, 200);
}

static void test_properties_of_policies(void **state)
{
	static const struct policy policies[] = {
		{ .idle = WATT_IDLE_PROPORTIONAL },
		{ .share_keys = "none" },
		{ .share_keys = "package=none,in/residual=cpu_time" },
		{ .delays = "p*=20,d0=500" },
		{ .idle = WATT_IDLE_PROPORTIONAL, .share_keys = "cpu_time", .delays = "*=3.25" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(policies); i++)
		check_properties(&policies[i], 60);
}

/* A policy moves idle energy to who ran, and nothing else. */
static void test_policy_moves_idle_alone(void **state)
{
	static const struct policy proportional = { .idle = WATT_IDLE_PROPORTIONAL };
	static struct world a, b;
	int64_t moved_nj = 0;
	uint64_t seed;
	size_t d;

	for (seed = 1; seed <= 20; seed++) {
		open_world(&a, seed, &usual);
		live(&a, 300);
		open_world(&b, seed, &proportional);
		live(&b, 300);
		assert_int_equal(watt_snapshot_get_idle_policy(b.last), WATT_IDLE_PROPORTIONAL);
		for (d = 0; d < watt_snapshot_get_domain_count(a.last); d++) {
			const struct watt_domain_state *x, *y;

			x = watt_snapshot_get_domain_state(a.last, d);
			y = watt_snapshot_get_domain_state(b.last, d);
			assert_int_equal(watt_energy_to_nj(x->energy),
					 watt_energy_to_nj(y->energy));
			assert_int_equal(watt_energy_to_nj(x->unattributed),
					 watt_energy_to_nj(y->unattributed));
			assert_int_equal(watt_energy_to_nj(x->shared_idle), 0);
			assert_int_equal(watt_energy_to_nj(x->idle),
					 watt_energy_to_nj(y->idle) +
						 watt_energy_to_nj(y->shared_idle));
			moved_nj += watt_energy_to_nj(y->shared_idle);
		}
		close_world(&a);
		close_world(&b);
	}
	assert_true(moved_nj > 0);
}

/* The same input gives the same output, to the last nJ. */
static void test_deterministic(void **state)
{
	static struct world a, b;
	size_t i, d;

	open_world(&a, 99, &usual);
	live(&a, 200);
	open_world(&b, 99, &usual);
	live(&b, 200);
	assert_int_equal(watt_snapshot_get_row_count(a.last), watt_snapshot_get_row_count(b.last));
	for (i = 0; i < watt_snapshot_get_row_count(a.last); i++)
		for (d = 0; d < watt_snapshot_get_domain_count(a.last); d++)
			assert_int_equal(
				watt_energy_to_nj(watt_snapshot_get_row(a.last, i)->energy[d]),
				watt_energy_to_nj(watt_snapshot_get_row(b.last, i)->energy[d]));
	close_world(&a);
	close_world(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_properties_of_policies),
		cmocka_unit_test(test_policy_moves_idle_alone),
		cmocka_unit_test(test_deterministic),
	};

	return cmocka_run_group_tests_name("attribution", tests, NULL, NULL);
}
