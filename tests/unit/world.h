/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random world, recorded: the calculating stages told random ops of tasks that are born, move
 * and die, pids that recur, sensors that wrap, are reset, fail and come late, marks, tracks, and
 * snapshots of both kinds, whose JSON is kept.
 */
#ifndef WATT_TESTS_WORLD_H
#define WATT_TESTS_WORLD_H

#include "unit.h"

#include <wattribute/json.h>
#include <wattribute/recording.h>

#include "base/util.h"
#include "executor.h"

#define MS 1000000ULL
#define SLICE_NS (50 * MS)
#define N_CHANNELS 4
#define MAX_TASKS 48
#define MAX_BATCH 512

static const struct watt_channel channels[N_CHANNELS] = {
	{ .name = "t/package-0",
	  .source = "t",
	  .domain = "package-0",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .scale_num = 1000,
	  .scale_den = 1,
	  .wrap_nj = 20000000000ULL,
	  .max_power_uw = 100000000,
	  .package_id = 0,
	  .die_id = -1,
	  .core_id = -1 },
	{ .name = "t/package-1",
	  .source = "t",
	  .domain = "package-1",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .scale_num = 1000000000,
	  .scale_den = 1ULL << 32,
	  .idle_uw = 4000000,
	  .package_id = 1,
	  .die_id = -1,
	  .core_id = -1 },
	{ .name = "t/in",
	  .source = "t",
	  .domain = "in",
	  .kind = WATT_DOMAIN_TOTAL,
	  .quantity = WATT_QUANTITY_POWER,
	  .semantics = WATT_SEMANTICS_AVERAGE,
	  .scale_num = 1000000,
	  .scale_den = 7,
	  .window_ns = 100 * MS,
	  .delay_ns = 20 * MS,
	  .package_id = -1,
	  .die_id = -1,
	  .core_id = -1 },
	{ .name = "t/slow",
	  .source = "t",
	  .domain = "slow",
	  .kind = WATT_DOMAIN_RAIL,
	  .quantity = WATT_QUANTITY_POWER,
	  .semantics = WATT_SEMANTICS_INSTANT,
	  .scale_num = 1000,
	  .scale_den = 1,
	  .package_id = -1,
	  .die_id = -1,
	  .core_id = -1 },
};
static const struct watt_channel *const channel_list[N_CHANNELS] = { &channels[0], &channels[1],
								     &channels[2], &channels[3] };

struct world {
	struct watt_executor *executor;
	struct watt_recorder *recorder;
	uint64_t seed;
	uint64_t t_ns;
	size_t n_channels; /* with even seeds, the last one comes while it runs */
	bool has_threads;
	uint32_t late_slot; /* of the CPU that comes; 0: none does */ /* with every third seed */
	double energy_j[N_CHANNELS];
	struct watt_usage tasks[MAX_TASKS];
	size_t n_tasks;
	uint32_t next_tid;
	uint64_t next_start_ns;
	struct watt_usage batch[MAX_BATCH];
	size_t n_batch;
	char **said; /* JSON of each snapshot */
	size_t n_said, cap_said;
	uint64_t tracked_id; /* of the newest set */
};

static inline uint64_t rnd(struct world *w, uint64_t n)
{
	w->seed = watt_hash_u64(w->seed + 0x9e3779b97f4a7c15ULL);
	return w->seed % n;
}

static inline bool one_in(struct world *w, uint64_t n)
{
	return rnd(w, n) == 0;
}

static inline void apply(struct world *w, const struct watt_op *op,
			 union watt_executor_result *result)
{
	assert_int_equal(watt_executor_apply(w->executor, op, result), 0);
}

static inline void tell(struct world *w, const struct watt_usage *task, enum watt_usage_kind kind)
{
	struct watt_usage *u = &w->batch[w->n_batch++];

	assert_true(w->n_batch <= MAX_BATCH);
	*u = *task;
	u->kind = (uint16_t)kind;
	u->t_ns = w->t_ns;
}

static inline void spawn(struct world *w)
{
	struct watt_usage *task = &w->tasks[w->n_tasks];

	if (w->n_tasks == MAX_TASKS)
		return;
	w->n_tasks++;
	w->next_start_ns += 1 + rnd(w, MS);
	*task = (struct watt_usage){ .tid = one_in(w, 6) ? 500 + (uint32_t)rnd(w, 9) :
							   w->next_tid++,
				     .start_ns = w->next_start_ns,
				     .leader_start_ns = w->next_start_ns,
				     .cgroup_id = 1 + rnd(w, 5),
				     .uid = (uint32_t)rnd(w, 3),
				     .cpu = (uint32_t)rnd(w, 4),
				     .parent_tgid = w->tasks[0].tgid };
	task->tgid = task->tid;
	if (w->has_threads && w->n_tasks > 1 && one_in(w, 2)) {
		task->tgid = w->tasks[0].tgid;
		task->leader_start_ns = w->tasks[0].start_ns;
	}
	snprintf(task->comm, sizeof(task->comm), "task-%u", task->tid % 5);
	if (one_in(w, 2))
		tell(w, task, WATT_USAGE_FORK);
}

static inline void live_tasks(struct world *w)
{
	size_t i, kept = 1;

	while (one_in(w, 2))
		spawn(w);
	for (i = 0; i < w->n_tasks; i++) {
		if (one_in(w, 3))
			continue;
		w->tasks[i].cpu_ns += rnd(w, 15 * MS);
		if (!one_in(w, 4))
			continue;
		tell(w, &w->tasks[i], WATT_USAGE_MIGRATE);
		w->tasks[i].cpu = (uint32_t)rnd(w, 4);
	}
	for (i = 1; i < w->n_tasks; i++) {
		if (one_in(w, 15)) {
			tell(w, &w->tasks[i], WATT_USAGE_EXIT);
			tell(w, &w->tasks[i], WATT_USAGE_FREE);
		} else {
			w->tasks[kept++] = w->tasks[i];
		}
	}
	w->n_tasks = kept;
}

static inline void sweep(struct world *w, bool full)
{
	struct watt_op op = { .kind = WATT_OP_USAGE };
	size_t i;

	for (i = 0; i < w->n_tasks; i++)
		if (full || one_in(w, 2))
			tell(w, &w->tasks[i], WATT_USAGE_TASK);
	op.usage = (struct watt_usage_batch){ .t_before_ns = w->t_ns - 1000,
					      .t_after_ns = w->t_ns + 1000,
					      .records = w->batch,
					      .n_records = w->n_batch,
					      .lost = w->t_ns / (2000 * MS),
					      .flags = WATT_BATCH_DEATHS |
						       (full ? WATT_BATCH_FULL : 0) };
	apply(w, &op, NULL);
	w->n_batch = 0;
}

static inline void read_sensors(struct world *w, uint64_t dt_ns)
{
	struct watt_sample samples[N_CHANNELS];
	struct watt_op op = { .kind = WATT_OP_SAMPLES, .samples.list = samples };
	uint32_t c;

	for (c = 0; c < N_CHANNELS; c++) {
		struct watt_sample *s = &samples[op.samples.n];
		double power_w = 5 + (double)rnd(w, 40);

		*s = (struct watt_sample){ w->t_ns + c * 50, w->t_ns + c * 50 + rnd(w, 40000), 0, c,
					   WATT_STATUS_OK };
		w->energy_j[c] += power_w * (double)dt_ns / 1e9;
		if (one_in(w, 80))
			w->energy_j[c] = 0;
		if ((c == 3 && !one_in(w, 20)) || c >= w->n_channels)
			continue;
		if (c == 0)
			s->raw = (int64_t)(w->energy_j[c] * 1e6) % 20000000;
		else if (c == 1)
			s->raw = (int64_t)(w->energy_j[c] * 4294967296.0);
		else
			s->raw = (int64_t)(power_w * (c == 3 ? 1e2 : 1.4e1));
		if (one_in(w, 30)) {
			s->status = 1 + (uint32_t)rnd(w, 4);
			s->raw = 0;
		}
		op.samples.n++;
	}
	apply(w, &op, NULL);
}

static inline void name_some(struct world *w)
{
	struct watt_attrib *at = watt_executor_attrib(w->executor);
	struct watt_identity identity = { .exe = "/usr/bin/x\xff y", .cmdline = "x --y \001 z" };
	struct watt_cgroup cgroup = { .path = "/some/where", .runtime = "docker" };
	struct watt_op op;
	bool v1;

	while (watt_attrib_next_nameless(at, &identity.pid, &identity.start_ns) == 0) {
		op = (struct watt_op){ .kind = WATT_OP_IDENTITY, .identity = &identity };
		snprintf(identity.comm, sizeof(identity.comm), "named-%u", identity.pid % 5);
		if (!one_in(w, 3))
			apply(w, &op, NULL);
	}
	while (watt_attrib_next_unknown_cgroup(at, &cgroup.id, &v1, &identity.pid) == 0) {
		op = (struct watt_op){ .kind = WATT_OP_CGROUP, .cgroup = &cgroup };
		cgroup.container = cgroup.id % 2 ? "odd" : NULL;
		cgroup.pod_uid = cgroup.id == 1 ? "pod" : NULL;
		cgroup.unit = cgroup.id == 2 ? "x.service" : NULL;
		apply(w, &op, NULL);
	}
	op = (struct watt_op){ .kind = WATT_OP_USER, .user.name = "somebody" };
	while (watt_attrib_next_unknown_user(at, &op.user.uid) == 0)
		apply(w, &op, NULL);
}

static inline void advance(struct world *w)
{
	const struct watt_op op = { .kind = WATT_OP_ADVANCE, .advance_ns = w->t_ns + MS };

	apply(w, &op, NULL);
}

static inline void set_barrier(struct world *w, uint64_t t_ns)
{
	const struct watt_op op = { .kind = WATT_OP_BARRIER, .barrier_ns = t_ns };

	apply(w, &op, NULL);
}

/* NULL: this build writes no JSON. */
static inline char *json_of(const struct watt_snapshot *snap)
{
	char *text = NULL;
	int r = watt_snapshot_to_json(snap, 0, &text);

	assert_true(r == 0 || r == -EOPNOTSUPP);
	return text;
}

static inline void snapshot(struct world *w)
{
	struct watt_op op = { .kind = WATT_OP_SNAPSHOT,
			      .snapshot = { w->t_ns, w->t_ns + 12345, w->n_said, w->n_said / 2 } };
	union watt_executor_result result;

	apply(w, &op, &result);
	assert_int_equal(watt_grow((void **)&w->said, &w->cap_said, w->n_said, sizeof(*w->said)),
			 0);
	w->said[w->n_said++] = json_of(result.snapshot);
	watt_snapshot_unref(result.snapshot);
}

/* Readers that come, look at paces of their own, and go. */
static inline void use_cursors(struct world *w, size_t i)
{
	struct watt_op op = { .kind = WATT_OP_CURSOR };
	union watt_executor_result result;
	uint32_t id;

	for (id = 1; id <= 3; id++) {
		op.cursor.id = id;
		op.cursor.t_ns = w->t_ns;
		op.cursor.is_open = i % 80 == 11 * id;
		if (i % 80 == 11 * id || i % 80 == 70 + id % 2)
			watt_executor_apply(w->executor, &op,
					    NULL); /* opened twice, never: refused */
	}
	op = (struct watt_op){ .kind = WATT_OP_LOOK,
			       .snapshot = { .t_ns = w->t_ns, .realtime_ns = w->t_ns + 12345 } };
	for (id = 1; id <= 3; id++) {
		if (i % 80 <= 11 * id || i % 80 >= 70 || i % (id + 1))
			continue;
		op.snapshot.cursor = id;
		op.snapshot.missed_reads = w->n_said;
		op.snapshot.lost_samples = w->n_said / 2;
		apply(w, &op, &result);
		watt_snapshot_unref(result.snapshot);
	}
}

static inline void mark(struct world *w, const char *label)
{
	struct watt_op op = { .kind = WATT_OP_MARK, .mark = { .t_ns = w->t_ns, .pid = 7 } };

	snprintf(op.mark.label, sizeof(op.mark.label), "%s", label);
	apply(w, &op, NULL);
}

static inline void track(struct world *w, uint32_t pid)
{
	const struct watt_op op = { .kind = WATT_OP_TRACK, .track_pid = pid };
	union watt_executor_result result;

	/* a second time it is refused: also told */
	if (watt_executor_apply(w->executor, &op, &result) == 0)
		w->tracked_id = result.entity_id;
}

static inline void untrack(struct world *w)
{
	struct watt_op op = { .kind = WATT_OP_UNTRACK };

	if (watt_attrib_find_tracked(watt_executor_attrib(w->executor), w->tracked_id,
				     &op.untrack.pid, &op.untrack.start_ns) == 0)
		apply(w, &op, NULL);
}

static inline void world_open(struct world *w, uint64_t seed, const char *path,
			      enum watt_idle_policy idle_policy,
			      const struct watt_record_opts *record_opts)
{
	static const uint16_t slots[4] = { 0, 0, 1, 1 }, three[4] = { 0, 0, 1, UINT16_MAX };
	static const struct watt_cpu_place places[3] = { { 0, -1, -1 },
							 { 1, -1, -1 },
							 { -1, -1, -1 } };
	static struct watt_rule all_learned = { NULL, WATT_KEY_LEARNED };
	static const struct watt_rules learned = { &all_learned, 1, 1 };
	static struct watt_setup setup;
	const struct watt_op threads = { .kind = WATT_OP_THREADS };
	const struct watt_record_opts usual = { .sz = sizeof(usual), .overwrite = 1 };
	const struct watt_domain *domains[2 * N_CHANNELS];
	size_t i, n;
	int r;

	setup = (struct watt_setup){ .channels = channel_list,
				     .n_channels = seed % 2 ? N_CHANNELS : N_CHANNELS - 1,
				     .cpu_slot = seed % 2 ? slots : three, /* a CPU comes later */
				     .n_cpus = 4,
				     .n_slots = seed % 2 ? 2 : 3,
				     .places = places,
				     .self_pid = 4242,
				     .slice_ns = SLICE_NS,
				     .usage = "test",
				     .share_keys = seed % 4 ? NULL : &learned,
				     .idle_policy = idle_policy };
	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->n_channels = setup.n_channels;
	w->has_threads = seed % 3 == 1;
	w->late_slot = seed % 2 ? 0 : seed % 4 ? 1 : 2;
	w->t_ns = w->next_start_ns = 77000 * MS;
	w->next_tid = 1000;
	assert_int_equal(watt_executor_new(&setup, NULL, &w->executor), 0);
	n = watt_attrib_domain_count(watt_executor_attrib(w->executor));
	for (i = 0; i < n; i++)
		domains[i] = watt_attrib_domain(watt_executor_attrib(w->executor), i);
	r = watt_recorder_new(path, record_opts ? record_opts : &usual, &setup, NULL, domains, n,
			      NULL, &w->recorder);
	if (r == -EOPNOTSUPP)
		skip();
	assert_int_equal(r, 0);
	watt_executor_record(w->executor, w->recorder);
	if (w->has_threads)
		apply(w, &threads, NULL);
	for (i = 0; i < 6; i++)
		spawn(w);
}

static inline void let_channels_come(struct world *w)
{
	const struct watt_op op = { .kind = WATT_OP_CHANNELS,
				    .channels = { channel_list, N_CHANNELS } };
	const struct watt_attrib *attrib = watt_executor_attrib(w->executor);
	const struct watt_domain *domains[2 * N_CHANNELS];
	size_t i;

	apply(w, &op, NULL);
	w->n_channels = N_CHANNELS;
	for (i = 0; i < watt_attrib_domain_count(attrib); i++)
		domains[i] = watt_attrib_domain(attrib, i);
	assert_int_equal(watt_recorder_grow(w->recorder, channel_list, N_CHANNELS, domains, i), 0);
}

/* Into the slot that it has with the others, or into one that nobody had. */
static inline void let_cpu_come(struct world *w)
{
	const struct watt_op op = { .kind = WATT_OP_PLACE,
				    .place = { .cpu = 3,
					       .slot = w->late_slot,
					       .at = { w->late_slot == 1 ? 1 : 7, -1, -1 } } };

	apply(w, &op, NULL);
}

static inline void step(struct world *w, size_t i)
{
	uint64_t dt_ns = SLICE_NS + rnd(w, 10 * MS);

	w->t_ns += dt_ns;
	live_tasks(w);
	sweep(w, one_in(w, 30));
	read_sensors(w, dt_ns);
	if (i == 33 && w->n_channels < N_CHANNELS)
		let_channels_come(w);
	if (i == 10)
		track(w, w->tasks[0].tgid);
	if (i == 20 && w->late_slot)
		let_cpu_come(w);
	if (one_in(w, 25))
		mark(w, one_in(w, 3) ? "" : one_in(w, 2) ? "load" : "solve \xc3\xa9");
	if (one_in(w, 3))
		name_some(w);
	if (one_in(w, 40))
		track(w, w->tasks[rnd(w, w->n_tasks)].tgid);
	if (one_in(w, 60))
		untrack(w);
	advance(w);
}

/* What lives ends; what was recorded and said stays. */
static inline void world_end(struct world *w)
{
	watt_recorder_close(w->recorder);
	watt_executor_free(w->executor);
}

/* Every second snapshot is one at a time, with a barrier that some slices wait for. */
static inline void world_live(struct world *w, unsigned int seconds)
{
	size_t i;

	sweep(w, true);
	read_sensors(w, SLICE_NS);
	advance(w);
	for (i = 1; i <= seconds * 20; i++) {
		if (i % 20 == 18)
			set_barrier(w, w->t_ns + SLICE_NS);
		step(w, i);
		use_cursors(w, i);
		if (i % 20 == 0)
			snapshot(w);
		if (i % 20 == 0)
			set_barrier(w, 0);
		if (i % 20 == 7)
			snapshot(w);
	}
	world_end(w);
}

static inline void world_close(struct world *w)
{
	size_t i;

	for (i = 0; i < w->n_said; i++)
		free(w->said[i]);
	free(w->said);
}

#endif
