/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/replay.c: a recording replayed gives what the live run gave, byte by byte, and whatever
 * else is asked of it is conserved. The live run is the calculating stages told random ops: tasks
 * that are born, move and die, pids that recur, sensors that wrap, are reset, fail and come late,
 * marks, tracks, and snapshots of both kinds.
 * More than 800 lines: the random world is what every test of it needs.
 */
#include "unit.h"

#include <wattribute/cursor.h>
#include <wattribute/json.h>
#include <wattribute/recording.h>

#include "../options_of.h"
#include "base/util.h"
#include "executor.h"

#define MS 1000000ULL
#define SLICE_NS (50 * MS)
#define N_CHANNELS 4
#define MAX_TASKS 48
#define MAX_BATCH 512
#define SECONDS 6

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

static uint64_t rnd(struct world *w, uint64_t n)
{
	w->seed = watt_hash_u64(w->seed + 0x9e3779b97f4a7c15ULL);
	return w->seed % n;
}

static bool one_in(struct world *w, uint64_t n)
{
	return rnd(w, n) == 0;
}

static void apply(struct world *w, const struct watt_op *op, union watt_executor_result *result)
{
	assert_int_equal(watt_executor_apply(w->executor, op, result), 0);
}

static void tell(struct world *w, const struct watt_usage *task, enum watt_usage_kind kind)
{
	struct watt_usage *u = &w->batch[w->n_batch++];

	assert_true(w->n_batch <= MAX_BATCH);
	*u = *task;
	u->kind = (uint16_t)kind;
	u->t_ns = w->t_ns;
}

static void spawn(struct world *w)
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

static void live_tasks(struct world *w)
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

static void sweep(struct world *w, bool full)
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

static void read_sensors(struct world *w, uint64_t dt_ns)
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

static void name_some(struct world *w)
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

static void advance(struct world *w)
{
	const struct watt_op op = { .kind = WATT_OP_ADVANCE, .advance_ns = w->t_ns + MS };

	apply(w, &op, NULL);
}

static void set_barrier(struct world *w, uint64_t t_ns)
{
	const struct watt_op op = { .kind = WATT_OP_BARRIER, .barrier_ns = t_ns };

	apply(w, &op, NULL);
}

/* NULL: this build writes no JSON. */
static char *json_of(const struct watt_snapshot *snap)
{
	char *text = NULL;
	int r = watt_snapshot_to_json(snap, 0, &text);

	assert_true(r == 0 || r == -EOPNOTSUPP);
	return text;
}

static void snapshot(struct world *w)
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
static void use_cursors(struct world *w, size_t i)
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

static void mark(struct world *w, const char *label)
{
	struct watt_op op = { .kind = WATT_OP_MARK, .mark = { .t_ns = w->t_ns, .pid = 7 } };

	snprintf(op.mark.label, sizeof(op.mark.label), "%s", label);
	apply(w, &op, NULL);
}

static void track(struct world *w, uint32_t pid)
{
	const struct watt_op op = { .kind = WATT_OP_TRACK, .track_pid = pid };
	union watt_executor_result result;

	/* a second time it is refused: also told */
	if (watt_executor_apply(w->executor, &op, &result) == 0)
		w->tracked_id = result.entity_id;
}

static void untrack(struct world *w)
{
	struct watt_op op = { .kind = WATT_OP_UNTRACK };

	if (watt_attrib_find_tracked(watt_executor_attrib(w->executor), w->tracked_id,
				     &op.untrack.pid, &op.untrack.start_ns) == 0)
		apply(w, &op, NULL);
}

static void open_world(struct world *w, uint64_t seed, const char *path,
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

static void let_channels_come(struct world *w)
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
static void let_cpu_come(struct world *w)
{
	const struct watt_op op = { .kind = WATT_OP_PLACE,
				    .place = { .cpu = 3,
					       .slot = w->late_slot,
					       .at = { w->late_slot == 1 ? 1 : 7, -1, -1 } } };

	apply(w, &op, NULL);
}

static void step(struct world *w, size_t i)
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

/* Every second snapshot is one at a time, with a barrier that some slices wait for. */
static void live(struct world *w, unsigned int seconds)
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
	watt_recorder_close(w->recorder);
	watt_executor_free(w->executor);
}

static void close_world(struct world *w)
{
	size_t i;

	for (i = 0; i < w->n_said; i++)
		free(w->said[i]);
	free(w->said);
}

static void refuse_warnings(void *data, enum watt_log_level level, const char *text)
{
	(void)data;
	if (level <= WATT_LOG_WARNING)
		fail_msg("%s", text);
}

/* What a live run wrote is never called damaged. */
static struct watt_session *open_recording(const char *path, const char *idle_policy)
{
	struct watt_options *options =
		options_of(idle_policy ? "idle-policy" : NULL, idle_policy, NULL);
	struct watt_session *ses;

	watt_options_set_log(options, refuse_warnings, NULL);
	assert_int_equal(watt_session_open_recording(path, options, &ses), 0);
	watt_options_free(options);
	assert_int_equal(watt_session_start(ses), 0);
	assert_int_equal(watt_session_start(ses), -EALREADY);
	return ses;
}

static void assert_same_json(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

/* All snapshots of the file are the first ones of the live run. Returns how many there are. */
static size_t assert_prefix(const struct world *w, const char *path)
{
	struct watt_session *ses = open_recording(path, NULL);
	struct watt_snapshot *snap;
	size_t n = 0;
	int r;

	while ((r = watt_session_next_snapshot(ses, &snap)) == 0) {
		char *text = json_of(snap);

		assert_true(n < w->n_said);
		assert_same_json(text, w->said[n++]);
		free(text);
		watt_snapshot_unref(snap);
	}
	assert_int_equal(r, 1);
	assert_null(snap);
	watt_session_close(ses);
	return n;
}

static void check_conserved(const struct watt_snapshot *snap)
{
	size_t d, i;

	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(snap)->sum_failures, 0);
	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);
		int64_t total_nj = 0, window_nj = 0;

		for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
			const struct watt_row *row = watt_snapshot_get_row(snap, i);

			if (row->entity->kind >= WATT_ENTITY_CGROUP &&
			    row->entity->kind != WATT_ENTITY_VM)
				continue;
			total_nj += watt_energy_to_nj(row->energy[d]);
			window_nj += row->window_nj[d];
		}
		assert_int_equal(total_nj, watt_energy_to_nj(s->energy));
		assert_int_equal(window_nj, s->window_nj);
	}
}

static char *scratch_file(const char *dir)
{
	char *path;

	assert_true(asprintf(&path, "%s/run.watt", dir) > 0);
	return path;
}

static void test_same_bytes(void **state)
{
	char *dir = scratch_new(), *path = scratch_file(dir);
	static struct world w;
	uint64_t seed;

	for (seed = 1; seed <= 12; seed++) {
		open_world(&w, seed, path, seed % 3 ? WATT_IDLE_SEPARATE : WATT_IDLE_PROPORTIONAL,
			   NULL);
		live(&w, SECONDS);
		if (w.said[w.n_said - 1])
			assert_int_equal(!!strstr(w.said[w.n_said - 1], "(ended threads)"),
					 w.has_threads);
		assert_int_equal(assert_prefix(&w, path), w.n_said);
		assert_int_equal(assert_prefix(&w, path), w.n_said); /* and again */
		close_world(&w);
	}
	free(path);
	scratch_remove(dir);
}

/* Another policy: the same energy, otherwise divided, and still exactly. */
static void test_other_policies(void **state)
{
	static const char *const keys[] = { NULL, "none", "in/residual=cpu_time,package=auto",
					    "learned" };
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_snapshot *snap, *usual;
	static struct world w;
	size_t i, d, n;

	open_world(&w, 5, path, WATT_IDLE_SEPARATE, NULL);
	live(&w, SECONDS);
	for (i = 0; i < WATT_ARRAY_SIZE(keys); i++) {
		struct watt_options *options = options_of(
			"idle-policy", "proportional", keys[i] ? "share-key" : NULL, keys[i], NULL);
		struct watt_session *ses, *live_ses = open_recording(path, NULL);

		assert_int_equal(watt_session_open_recording(path, options, &ses), 0);
		watt_options_free(options);
		for (n = 0; watt_session_next_snapshot(ses, &snap) == 0; n++) {
			assert_int_equal(watt_session_next_snapshot(live_ses, &usual), 0);
			check_conserved(snap);
			for (d = 0; d < watt_snapshot_get_domain_count(snap); d++)
				assert_int_equal(
					watt_snapshot_get_domain_state(snap, d)->window_nj,
					watt_snapshot_get_domain_state(usual, d)->window_nj);
			watt_snapshot_unref(snap);
			watt_snapshot_unref(usual);
		}
		assert_int_equal(n, w.n_said);
		watt_session_close(live_ses);
		watt_session_close(ses);
	}
	close_world(&w);
	free(path);
	scratch_remove(dir);
}

/* Windows of one's own are complete, meet without a gap, and add up to the whole. */
static void test_own_windows(void **state)
{
	static const uint64_t lengths_ns[] = { 50 * MS, 333 * MS, 2000 * MS };
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_snapshot *snap;
	static struct world w;
	size_t i, d, n;

	open_world(&w, 8, path, WATT_IDLE_SEPARATE, NULL);
	live(&w, SECONDS);
	for (i = 0; i < WATT_ARRAY_SIZE(lengths_ns); i++) {
		struct watt_session *ses = open_recording(path, NULL);
		uint64_t start_ns = watt_session_get_time_ns(ses), last_ns = 0;
		int64_t sum_nj[2 * N_CHANNELS] = { 0 };
		int r = 0;

		for (n = 1; r == 0; n++) {
			r = watt_session_snapshot_at(ses, start_ns + n * lengths_ns[i], 0, &snap);
			if (r == -ENODATA)
				assert_int_equal(watt_session_snapshot(ses, &snap), 0);
			else
				assert_int_equal(r, 0);
			check_conserved(snap);
			assert_int_equal(watt_snapshot_get_sequence(snap), n);
			if (last_ns)
				assert_int_equal(watt_snapshot_get_window_start_ns(snap), last_ns);
			last_ns = watt_snapshot_get_time_ns(snap);
			for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
				const struct watt_domain_state *s =
					watt_snapshot_get_domain_state(snap, d);

				sum_nj[d] += s->window_nj;
				assert_int_equal(sum_nj[d], watt_energy_to_nj(s->energy));
				if (r == 0 && d < 2 && s->status == WATT_STATUS_OK)
					assert_int_equal(s->t_ns, last_ns);
			}
			watt_snapshot_unref(snap);
		}
		assert_int_equal(watt_session_next_snapshot(ses, &snap), -EINVAL);
		watt_session_close(ses);
	}
	close_world(&w);
	free(path);
	scratch_remove(dir);
}

/* Several readers of one recording, each with windows of its own. */
static void test_cursors(void **state)
{
	static const uint64_t paces_ns[] = { 100 * MS, 333 * MS, 950 * MS };
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_cursor *cursors[3];
	int64_t sum_nj[3][2 * N_CHANNELS] = { 0 };
	uint64_t next_ns[3], last_ns[3] = { 0 };
	struct watt_snapshot *snap;
	struct watt_session *ses;
	static struct world w;
	size_t i, d, c, n = 0;
	int r = 0;

	open_world(&w, 9, path, WATT_IDLE_SEPARATE, NULL);
	live(&w, SECONDS);
	ses = open_recording(path, NULL);
	for (i = 0; i < 3; i++) {
		assert_int_equal(watt_cursor_open(ses, &cursors[i]), 0);
		next_ns[i] = watt_session_get_time_ns(ses) + paces_ns[i];
	}
	while (r == 0) {
		for (c = 0, i = 1; i < 3; i++)
			c = next_ns[i] < next_ns[c] ? i : c;
		r = watt_cursor_snapshot_at(cursors[c], next_ns[c], 0, &snap);
		if (r < 0)
			break;
		next_ns[c] += paces_ns[c];
		check_conserved(snap);
		if (last_ns[c])
			assert_int_equal(watt_snapshot_get_window_start_ns(snap), last_ns[c]);
		last_ns[c] = watt_snapshot_get_time_ns(snap);
		for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
			const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);

			sum_nj[c][d] += s->window_nj;
			assert_int_equal(sum_nj[c][d], watt_energy_to_nj(s->energy));
		}
		watt_snapshot_unref(snap);
		n++;
	}
	assert_int_equal(r, -ENODATA);
	assert_true(n > SECONDS * 10);
	assert_int_equal(watt_session_next_snapshot(ses, &snap), -EINVAL);
	for (i = 0; i < 3; i++)
		watt_cursor_close(cursors[i]);
	watt_session_close(ses);
	close_world(&w);
	free(path);
	scratch_remove(dir);
}

/* The calls of a live session work, in the time of the recording. */
static void test_as_if_live(void **state)
{
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_reader_stats reader_stats = { .sz = sizeof(reader_stats) };
	struct watt_record_stats record_stats = { .sz = sizeof(record_stats) };
	struct watt_snapshot *snap;
	struct watt_session *ses;
	struct watt_sample sample;
	struct watt_mark told;
	static struct world w;
	uint64_t begin_ns, id;
	int64_t ppm;
	size_t n = 0;

	open_world(&w, 3, path, WATT_IDLE_SEPARATE, NULL);
	live(&w, SECONDS);
	ses = open_recording(path, NULL);
	begin_ns = watt_session_get_time_ns(ses);
	assert_in_range(begin_ns, 77000 * MS - 1000, 77000 * MS + 100000);
	assert_int_equal(watt_session_get_sample(ses, 0, &sample), -ENODATA);
	assert_int_equal(watt_session_dispatch(ses), 1);
	assert_int_equal(watt_session_wait(ses, 1500), 0);
	assert_in_range(watt_session_get_time_ns(ses), begin_ns + 1500 * MS, begin_ns + 1700 * MS);
	assert_int_equal(watt_session_flush(ses, 3000),
			 WATT_FLUSH_LOST_SAMPLES | WATT_FLUSH_LOST_USAGE); /* live, that is */
	assert_int_equal(watt_session_get_sample(ses, 0, &sample), 0);
	assert_int_equal(watt_session_get_sample(ses, N_CHANNELS, &sample), -EINVAL);
	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	assert_int_equal(watt_snapshot_get_time_ns(snap), watt_session_get_time_ns(ses));
	assert_int_equal(watt_snapshot_get_realtime_ns(snap) - watt_snapshot_get_time_ns(snap),
			 12345);
	check_conserved(snap);
	watt_snapshot_unref(snap);
	assert_int_equal(watt_session_get_channel_count(ses), N_CHANNELS);
	assert_string_equal(watt_session_get_channel(ses, 1)->name, "t/package-1");
	assert_string_equal(watt_session_get_usage_name(ses), "test");
	assert_null(watt_session_get_marks_address(ses));
	assert_int_equal(watt_session_get_reader_stats(ses, 0, &reader_stats), -ENODATA);
	assert_int_equal(watt_session_get_crosscheck(ses, 0, &ppm), -EOPNOTSUPP);
	assert_int_equal(watt_session_record(ses, path, NULL), -EOPNOTSUPP);
	assert_int_equal(watt_session_get_record_stats(ses, &record_stats), -ENODATA);
	assert_int_equal(watt_session_track(ses, 424242, &id), -ESRCH);
	assert_int_equal(watt_session_wait(ses, 3600000), -ENODATA);
	assert_int_equal(watt_session_dispatch(ses), -ENODATA);
	for (; watt_session_next_mark(ses, &told) == 0; n++)
		assert_in_range(told.t_ns, begin_ns, watt_session_get_time_ns(ses));
	assert_true(n > 0);
	watt_session_close(ses);
	close_world(&w);
	free(path);
	scratch_remove(dir);
}

/* Snapshots that were not asked for any more leave no barrier behind. */
static void test_taking_over(void **state)
{
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_snapshot *snap;
	struct watt_session *ses;
	static struct world w;
	uint64_t t_ns;

	open_world(&w, 4, path, WATT_IDLE_SEPARATE, NULL);
	live(&w, SECONDS);
	ses = open_recording(path, NULL);
	assert_int_equal(watt_session_next_snapshot(ses, &snap), 0);
	watt_snapshot_unref(snap);
	assert_int_equal(watt_session_next_snapshot(ses, &snap),
			 0); /* its barrier is not over yet */
	t_ns = watt_snapshot_get_time_ns(snap) + 700 * MS;
	watt_snapshot_unref(snap);
	assert_int_equal(watt_session_snapshot_at(ses, t_ns, 0, &snap), 0);
	assert_in_range(watt_snapshot_get_time_ns(snap), t_ns, t_ns + 80 * MS);
	assert_int_equal(watt_snapshot_get_sequence(snap), 3);
	check_conserved(snap);
	watt_snapshot_unref(snap);
	watt_session_close(ses);
	close_world(&w);
	free(path);
	scratch_remove(dir);
}

static void test_mistakes(void **state)
{
	struct watt_options *bad = options_of("share-key", "nowhere=none", NULL);
	char *dir = scratch_new(), *path = scratch_file(dir);
	struct watt_session *ses = NULL;
	static struct world w;

	open_world(&w, 4, path, WATT_IDLE_SEPARATE, NULL);
	live(&w, 1);
	assert_int_equal(watt_session_open_recording(path, bad, &ses), -ENOENT);
	watt_options_free(bad);
	assert_int_equal(watt_session_open_recording(NULL, NULL, &ses), -EINVAL);
	assert_int_equal(watt_session_open_recording("/proc/self/nothing", NULL, &ses), -ENOENT);
	assert_int_equal(watt_session_open_recording("/proc/self/exe", NULL, &ses), -EMEDIUMTYPE);
	assert_null(ses);
	close_world(&w);
	free(path);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes),  cmocka_unit_test(test_other_policies),
		cmocka_unit_test(test_own_windows), cmocka_unit_test(test_cursors),
		cmocka_unit_test(test_as_if_live),  cmocka_unit_test(test_taking_over),
		cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
