/* SPDX-License-Identifier: Apache-2.0 */
/* A machine that never was, and ops as a session on it might be told: always the same ones. */
#ifndef WATT_TESTS_OPS_H
#define WATT_TESTS_OPS_H

#include "unit.h"

#include "base/clock.h"
#include "base/util.h"
#include "record/op.h"
#include "record/record.h"

#define OPS_CHANNELS 16
#define OPS_CPUS 4
#define OPS_TASKS 40
#define OPS_PER_TICK 8
#define OPS_START_NS (1000 * WATT_NSEC_PER_SEC)

static inline uint64_t ops_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return watt_hash_u64(*state ^ *state >> 29);
}

static inline uint64_t ops_below(uint64_t *state, uint64_t n)
{
	return ops_random(state) % n;
}

/* ---- what the session was built from ---- */

struct ops_machine {
	struct watt_channel channels[OPS_CHANNELS];
	const struct watt_channel *list[OPS_CHANNELS];
	char names[OPS_CHANNELS][32];
	char paths[OPS_CHANNELS][32];
	uint16_t cpu_slot[OPS_CPUS];
	struct watt_cpu_place places[2];
	struct watt_domain domains[OPS_CHANNELS];
	const struct watt_domain *domain_list[OPS_CHANNELS];
	struct watt_setup setup;
	struct watt_machine machine;
};

static inline void ops_machine_init(struct ops_machine *m)
{
	size_t i;

	*m = (struct ops_machine){ .cpu_slot = { 0, 0, 1, UINT16_MAX } };
	for (i = 0; i < OPS_CHANNELS; i++) {
		snprintf(m->names[i], sizeof(m->names[i]), "powercap/package-%zu", i);
		snprintf(m->paths[i], sizeof(m->paths[i]), "package-%zu", i);
		m->channels[i] = (struct watt_channel){
			.sz = sizeof(m->channels[i]),
			.name = m->names[i],
			.source = "powercap",
			.domain = m->paths[i],
			.label = i % 2 ? "package" : NULL,
			.path = "/sys/class/powercap/intel-rapl:0",
			.kind = WATT_DOMAIN_PACKAGE,
			.quantity = i % 3 ? WATT_QUANTITY_ENERGY : WATT_QUANTITY_POWER,
			.semantics = i % 3 ? WATT_SEMANTICS_COUNTER : WATT_SEMANTICS_AVERAGE,
			.origin = WATT_ORIGIN_SIMULATED,
			.flags = WATT_CHANNEL_SIGNED,
			.package_id = (int32_t)i,
			.die_id = -1,
			.core_id = -1,
			.group = (uint32_t)i / 4,
			.scale_num = 1000,
			.scale_den = 1 + i,
			.wrap_nj = 262143328850000,
			.period_ns = WATT_NSEC_PER_MSEC,
			.delay_ns = i,
			.coverage_ppm = 1000000,
			.uncertainty_ppm = 20000,
		};
		m->domains[i] = (struct watt_domain){ .path = m->paths[i],
						      .name = m->paths[i],
						      .kind = WATT_DOMAIN_PACKAGE,
						      .key = WATT_KEY_CPU_TIME,
						      .parent = -1,
						      .channel = (int32_t)i,
						      .is_summed = 1,
						      .is_partition = 1 };
		m->list[i] = &m->channels[i];
		m->domain_list[i] = &m->domains[i];
	}
	m->places[0] = (struct watt_cpu_place){ 0, -1, -1 };
	m->places[1] = (struct watt_cpu_place){ 1, -1, 7 };
	m->setup = (struct watt_setup){ .channels = m->list,
					.n_channels = OPS_CHANNELS,
					.cpu_slot = m->cpu_slot,
					.n_cpus = OPS_CPUS,
					.n_slots = 2,
					.places = m->places,
					.self_pid = 4711,
					.slice_ns = 50 * WATT_NSEC_PER_MSEC,
					.usage = "bpf" };
	m->machine = (struct watt_machine){ .host = "zürich",
					    .os = "Debian GNU/Linux 12 (bookworm)",
					    .kernel = "6.1.0",
					    .arch = "x86_64",
					    .memory_bytes = 1ull << 34,
					    .n_packages = 2 };
}

/* ---- what it is told ---- */

/* The state of the machine, and room for what the last op points to. */
struct ops {
	uint64_t random;
	uint64_t now_ns;
	unsigned int step; /* within a tick */
	struct watt_sample samples[50 * OPS_CHANNELS];
	uint64_t raw[OPS_CHANNELS];
	struct watt_usage tasks[OPS_TASKS];
	struct watt_usage records[2 * OPS_TASKS];
	struct watt_cpu_time cpus[OPS_CPUS];
	struct watt_identity identity;
	struct watt_cgroup cgroup;
	struct watt_container container;
	struct watt_label labels[2];
	char text[8][64];
	struct watt_activity_place gpus[2];
	struct watt_activity readings[2 * OPS_TASKS];
	uint64_t ticks;
	uint64_t samples_made;
	bool is_full; /* the next sweep */
};

static inline void ops_init(struct ops *ops, uint64_t seed)
{
	uint32_t i;

	*ops = (struct ops){ .random = seed, .now_ns = OPS_START_NS, .is_full = true };
	for (i = 0; i < OPS_TASKS; i++)
		ops->tasks[i] = (struct watt_usage){ .tid = 100 + 3 * i,
						     .tgid = 100 + 3 * (i - i % 4),
						     .start_ns = 1000000 * i,
						     .leader_start_ns = 1000000 * (i - i % 4),
						     .cgroup_id = 4000 + i % 5,
						     .parent_tgid = 1,
						     .uid = i % 3 ? 1000 : 0,
						     .cpu = i % OPS_CPUS,
						     .comm = "worker" };
}

static inline void ops_samples(struct ops *ops, struct watt_op *ret)
{
	size_t tick, c, n = 0;

	for (tick = 0; tick < 50; tick++) {
		uint64_t t_ns = ops->now_ns + tick * WATT_NSEC_PER_MSEC + 2000 +
				ops_below(&ops->random, 16000);

		for (c = 0; c < OPS_CHANNELS; c++) {
			struct watt_sample *s = &ops->samples[n++];

			*s = (struct watt_sample){ .t_before_ns = t_ns, .channel = (uint32_t)c };
			t_ns += 900 + ops_below(&ops->random, 500);
			s->t_after_ns = t_ns;
			t_ns += 20 + ops_below(&ops->random, 30);
			ops->raw[c] += 9000 + 100 * c + ops_below(&ops->random, 2000);
			s->raw = (int64_t)ops->raw[c];
			if (ops_below(&ops->random, 500) == 0) {
				s->status = WATT_STATUS_NODATA;
				s->raw = 0;
			}
		}
	}
	ops->samples_made += n;
	ret->kind = WATT_OP_SAMPLES;
	ret->samples.list = ops->samples;
	ret->samples.n = n;
}

static inline void ops_usage(struct ops *ops, struct watt_op *ret)
{
	uint32_t flags = WATT_BATCH_DEATHS | WATT_BATCH_CPU_NS;
	size_t i, n = 0;

	for (i = 0; i < OPS_TASKS; i++) {
		struct watt_usage *task = &ops->tasks[i];

		if (!ops->is_full && ops_below(&ops->random, 3))
			continue;
		task->t_ns = ops->now_ns - 1000 + 30 * i;
		task->cpu_ns += ops_below(&ops->random, 5000000);
		task->flags = (uint16_t)ops_below(&ops->random, 4);
		task->kind = WATT_USAGE_TASK;
		if (ops_below(&ops->random, 10) == 0) {
			task->kind = (uint16_t)ops_below(&ops->random, 7);
			task->cpu = (uint32_t)ops_below(&ops->random, OPS_CPUS);
			task->cgroup_id = ops_random(&ops->random);
			snprintf(task->comm, sizeof(task->comm), "%x",
				 (unsigned int)ops_random(&ops->random));
		}
		ops->records[n++] = *task;
	}
	for (i = 0; i < OPS_CPUS; i++) {
		ops->cpus[i].user_ns += ops_below(&ops->random, 50000000);
		ops->cpus[i].idle_ns += ops_below(&ops->random, 50000000);
		ops->cpus[i].steal_ns += ops_below(&ops->random, 3);
		ops->cpus[i].online = i != 3;
	}
	ret->kind = WATT_OP_USAGE;
	ret->usage = (struct watt_usage_batch){
		.t_before_ns = ops->now_ns - 2000,
		.t_after_ns = ops->now_ns,
		.records = ops->records,
		.n_records = n,
		.cpus = ops->cpus,
		.n_cpus = OPS_CPUS,
		.lost = ops->ticks / 100,
		.flags = ops->is_full ? flags | WATT_BATCH_FULL : flags,
		.n_tasks = OPS_TASKS,
		.unseen_ns = ops->ticks,
	};
	ops->is_full = false;
}

/* A sixth of the tasks are on two GPUs, which tell how they are three ticks late. */
static inline void ops_activity(struct ops *ops, struct watt_op *ret)
{
	uint64_t random = ops->ticks; /* of its own: the others stay as they were */
	size_t i, n = 0;

	for (i = 0; i < 2; i++)
		ops->gpus[i] = (struct watt_activity_place){
			i ? "cpus-0" : "gpu-0", ops->now_ns - 150000000 + i,
			i ? WATT_ACTIVITY_CYCLES : WATT_ACTIVITY_GPU_TIME, 1 + i
		};
	for (i = ops->ticks % 2; i < OPS_TASKS; i += 6, n++)
		ops->readings[n] = (struct watt_activity){
			.t_ns = ops->gpus[i % 2].complete_ns - ops_below(&random, 9),
			.amount = ops->ticks * 1000000 + ops_below(&random, 1000000),
			.start_ns = ops->tasks[i].start_ns,
			.pid = ops->tasks[i].tgid,
			.place = i % 2,
		};
	ret->kind = WATT_OP_ACTIVITY;
	ret->activity = (struct watt_activity_batch){ ops->gpus, 2, ops->readings, n };
}

static inline const char *ops_text(struct ops *ops, size_t i)
{
	if (ops_below(&ops->random, 4) == 0)
		return NULL;
	snprintf(ops->text[i], sizeof(ops->text[i]), "/text/%llx",
		 (unsigned long long)ops_random(&ops->random));
	return ops->text[i];
}

static inline void ops_name(struct ops *ops, struct watt_op *ret)
{
	ops->identity = (struct watt_identity){
		.pid = (uint32_t)ops_below(&ops->random, 1000),
		.start_ns = ops_random(&ops->random),
		.uid = (uint32_t)ops_random(&ops->random),
		.missing = (uint32_t)ops_below(&ops->random, 16),
		.comm = "name",
		.exe = ops_text(ops, 0),
		.cmdline = ops_text(ops, 1),
		.vm_name = ops_text(ops, 2),
		.hypervisor = ops_text(ops, 3),
	};
	ops->cgroup = (struct watt_cgroup){
		.id = ops_random(&ops->random),
		.path = ops_text(ops, 0),
		.runtime = ops_text(ops, 1),
		.container = ops_text(ops, 2),
		.pod_uid = ops_text(ops, 3),
		.unit = ops_text(ops, 4),
		.user_unit = ops_text(ops, 5),
		.job = ops_text(ops, 1),
		.v1 = (uint32_t)ops_below(&ops->random, 2),
	};
	ops->labels[0] = (struct watt_label){ "tier", "web" };
	ops->labels[1] = (struct watt_label){ "", "" };
	ops->container = (struct watt_container){
		.id = ops_text(ops, 0),
		.runtime = ops_text(ops, 1),
		.name = ops_text(ops, 2),
		.image = ops_text(ops, 3),
		.pod_uid = ops_text(ops, 4),
		.pod_name = ops_text(ops, 5),
		.pod_namespace = "default",
		.labels = ops->labels,
		.n_labels = (uint32_t)ops_below(&ops->random, 3),
	};
	switch (ops_below(&ops->random, 10)) {
	case 0:
		*ret = (struct watt_op){ .kind = WATT_OP_IDENTITY, .identity = &ops->identity };
		break;
	case 1:
		*ret = (struct watt_op){ .kind = WATT_OP_CGROUP, .cgroup = &ops->cgroup };
		break;
	case 2:
		ret->kind = WATT_OP_USER;
		ret->user.uid = (uint32_t)ops_random(&ops->random);
		ret->user.name = "jürgen";
		break;
	case 4:
		*ret = (struct watt_op){ .kind = WATT_OP_CONTAINER, .container = &ops->container };
		break;
	case 5:
		ret->kind = WATT_OP_THREADS;
		break;
	case 3:
		ret->kind = WATT_OP_TRACK;
		ret->track_pid = (uint32_t)ops_random(&ops->random);
		break;
	case 9:
		ret->kind = WATT_OP_UNTRACK;
		ret->untrack.pid = (uint32_t)ops_random(&ops->random);
		ret->untrack.start_ns = ops_random(&ops->random);
		break;
	case 6:
		ret->kind = WATT_OP_CURSOR;
		ret->cursor.t_ns = ops->now_ns;
		ret->cursor.id = 1 + (uint32_t)ops_below(&ops->random, UINT32_MAX - 1);
		ret->cursor.is_open = ops_below(&ops->random, 2);
		break;
	case 7:
		ret->kind = WATT_OP_LOOK;
		ret->snapshot.t_ns = ops->now_ns;
		ret->snapshot.missed_reads = ops->ticks;
		ret->snapshot.cursor = 1 + (uint32_t)ops_below(&ops->random, UINT32_MAX - 1);
		break;
	default:
		ret->kind = WATT_OP_MARK;
		ret->mark = (struct watt_mark){ .t_ns = ops->now_ns, .pid = 12, .label = "läuft" };
		break;
	}
}

/* The next op of a session that ticks every 50 ms. */
static inline void ops_next(struct ops *ops, struct watt_op *ret)
{
	*ret = (struct watt_op){ 0 };
	switch (ops->step++) {
	case 0:
		ops_samples(ops, ret);
		ops->now_ns += 50 * WATT_NSEC_PER_MSEC;
		break;
	case 1:
		ops_usage(ops, ret);
		break;
	case 2:
	case 3:
		ops_name(ops, ret);
		break;
	case 4:
		ops_activity(ops, ret);
		break;
	case 5:
		ret->kind = WATT_OP_BARRIER;
		ret->barrier_ns = ops->ticks % 20 ? 0 : ops->now_ns;
		break;
	case 6:
		ret->kind = WATT_OP_ADVANCE;
		ret->advance_ns = ops->now_ns + 100;
		break;
	default:
		ret->kind = WATT_OP_SNAPSHOT;
		ret->snapshot.t_ns = ops->now_ns;
		ret->snapshot.realtime_ns = ops->now_ns + 1700000000 * WATT_NSEC_PER_SEC;
		ret->snapshot.missed_reads = ops->ticks;
		ret->snapshot.lost_samples = ops->ticks / 7;
		ops->step = 0;
		ops->ticks++;
		break;
	}
}

/* ---- whether two are the same ---- */

static inline void ops_assert_text(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

static inline void ops_assert_usage(const struct watt_usage_batch *a,
				    const struct watt_usage_batch *b)
{
	assert_int_equal(a->t_before_ns, b->t_before_ns);
	assert_int_equal(a->t_after_ns, b->t_after_ns);
	assert_int_equal(a->lost, b->lost);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->n_tasks, b->n_tasks);
	assert_int_equal(a->unseen_ns, b->unseen_ns);
	assert_int_equal(a->n_records, b->n_records);
	assert_int_equal(a->n_cpus, b->n_cpus);
	assert_memory_equal(a->records, b->records, a->n_records * sizeof(*a->records));
	assert_memory_equal(a->cpus, b->cpus, a->n_cpus * sizeof(*a->cpus));
}

static inline void ops_assert_identity(const struct watt_identity *a, const struct watt_identity *b)
{
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->parent_pid, b->parent_pid);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->uid, b->uid);
	assert_int_equal(a->missing, b->missing);
	assert_memory_equal(a->comm, b->comm, sizeof(a->comm));
	ops_assert_text(a->exe, b->exe);
	ops_assert_text(a->cmdline, b->cmdline);
	ops_assert_text(a->vm_name, b->vm_name);
	ops_assert_text(a->hypervisor, b->hypervisor);
}

static inline void ops_assert_cgroup(const struct watt_cgroup *a, const struct watt_cgroup *b)
{
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->v1, b->v1);
	ops_assert_text(a->path, b->path);
	ops_assert_text(a->runtime, b->runtime);
	ops_assert_text(a->container, b->container);
	ops_assert_text(a->pod_uid, b->pod_uid);
	ops_assert_text(a->unit, b->unit);
	ops_assert_text(a->user_unit, b->user_unit);
	ops_assert_text(a->job, b->job);
}

static inline void ops_assert_container(const struct watt_container *a,
					const struct watt_container *b)
{
	uint32_t i;

	ops_assert_text(a->id, b->id);
	ops_assert_text(a->runtime, b->runtime);
	ops_assert_text(a->name, b->name);
	ops_assert_text(a->image, b->image);
	ops_assert_text(a->pod_uid, b->pod_uid);
	ops_assert_text(a->pod_name, b->pod_name);
	ops_assert_text(a->pod_namespace, b->pod_namespace);
	assert_int_equal(a->n_labels, b->n_labels);
	for (i = 0; i < a->n_labels; i++) {
		assert_string_equal(a->labels[i].key, b->labels[i].key);
		assert_string_equal(a->labels[i].value, b->labels[i].value);
	}
}

static inline void ops_assert_activity(const struct watt_activity_batch *a,
				       const struct watt_activity_batch *b)
{
	size_t i;

	assert_int_equal(a->n_places, b->n_places);
	for (i = 0; i < a->n_places; i++) {
		assert_string_equal(a->places[i].path, b->places[i].path);
		assert_int_equal(a->places[i].kind, b->places[i].kind);
		assert_int_equal(a->places[i].n_units, b->places[i].n_units);
		assert_int_equal(a->places[i].complete_ns, b->places[i].complete_ns);
	}
	assert_int_equal(a->n_readings, b->n_readings);
	assert_memory_equal(a->readings, b->readings, a->n_readings * sizeof(*a->readings));
}

static inline void ops_assert_equal(const struct watt_op *a, const struct watt_op *b)
{
	assert_int_equal(a->kind, b->kind);
	switch (a->kind) {
	case WATT_OP_SAMPLES:
		assert_int_equal(a->samples.n, b->samples.n);
		assert_memory_equal(a->samples.list, b->samples.list,
				    a->samples.n * sizeof(*a->samples.list));
		break;
	case WATT_OP_USAGE:
		ops_assert_usage(&a->usage, &b->usage);
		break;
	case WATT_OP_ACTIVITY:
		ops_assert_activity(&a->activity, &b->activity);
		break;
	case WATT_OP_IDENTITY:
		ops_assert_identity(a->identity, b->identity);
		break;
	case WATT_OP_CGROUP:
		ops_assert_cgroup(a->cgroup, b->cgroup);
		break;
	case WATT_OP_CHANNELS:
		assert_int_equal(a->channels.n, b->channels.n);
		break;
	case WATT_OP_THREADS:
		break;
	case WATT_OP_CONTAINER:
		ops_assert_container(a->container, b->container);
		break;
	case WATT_OP_USER:
		assert_int_equal(a->user.uid, b->user.uid);
		assert_string_equal(a->user.name, b->user.name);
		break;
	case WATT_OP_PLACE:
		assert_memory_equal(&a->place, &b->place, sizeof(a->place));
		break;
	case WATT_OP_CLOCK:
		assert_memory_equal(&a->clock, &b->clock, sizeof(a->clock));
		break;
	case WATT_OP_LEARNED: {
		size_t i;

		assert_string_equal(a->learned.domain, b->learned.domain);
		assert_int_equal(a->learned.n_words, b->learned.n_words);
		for (i = 0; i < a->learned.n_words; i++)
			assert_int_equal(a->learned.words[i], b->learned.words[i]);
		assert_int_equal(a->learned.n_texts, b->learned.n_texts);
		for (i = 0; i < a->learned.n_texts; i++)
			assert_string_equal(a->learned.texts[i], b->learned.texts[i]);
		break;
	}
	case WATT_OP_TRACK:
		assert_int_equal(a->track_pid, b->track_pid);
		break;
	case WATT_OP_UNTRACK:
		assert_int_equal(a->untrack.pid, b->untrack.pid);
		assert_int_equal(a->untrack.start_ns, b->untrack.start_ns);
		break;
	case WATT_OP_MARK:
		assert_memory_equal(&a->mark, &b->mark, sizeof(a->mark));
		break;
	case WATT_OP_ADVANCE:
		assert_int_equal(a->advance_ns, b->advance_ns);
		break;
	case WATT_OP_BARRIER:
		assert_int_equal(a->barrier_ns, b->barrier_ns);
		break;
	case WATT_OP_CURSOR:
		assert_int_equal(a->cursor.t_ns, b->cursor.t_ns);
		assert_int_equal(a->cursor.id, b->cursor.id);
		assert_int_equal(a->cursor.is_open, b->cursor.is_open);
		break;
	case WATT_OP_SNAPSHOT:
	case WATT_OP_LOOK:
		assert_memory_equal(&a->snapshot, &b->snapshot, sizeof(a->snapshot));
		break;
	}
}

#endif
