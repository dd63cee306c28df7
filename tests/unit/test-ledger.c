/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/ledger.c: to whom the energy of a slice goes. */
#include "channel.h"
#include "two_packages.h"
#include "unit.h"

#include "attrib/attrib.h"
#include "attrib/key.h"
#include "attrib/state.h"

#define MS 1000000ULL

/* One that knows its idle power from the start. */
static const struct watt_channel model =
	CHANNEL("m", "model", WATT_DOMAIN_PACKAGE, .package_id = -1, .idle_uw = 4000000);

/* One that wraps every 10 J, and can't use more than 2 W. */
static const struct watt_channel narrow = CHANNEL("n", "dram-0", WATT_DOMAIN_DRAM, .package_id = -1,
						  .wrap_nj = 10000 * MS, .max_power_uw = 2000000);

/* Memory that knows its idle power. */
static const struct watt_channel memory =
	CHANNEL("d", "dram-1", WATT_DOMAIN_DRAM, .package_id = -1, .idle_uw = 2000000);

static uint64_t memory_bytes;                      /* of the machine; 0: not known */
static const struct watt_key_ops *const *all_keys; /* NULL: those of the registry */

struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_snapshot *snap;
};

/* Two packages of one CPU each; CPU 2 is in neither. */
static void open_bench_by(struct bench *b, enum watt_idle_policy idle_policy, size_t n_channels,
			  uint32_t n_cpus)
{
	static const struct watt_channel *const channels[] = { &two_packages[0], &two_packages[1],
							       &model, &narrow, &memory };
	static const uint16_t slots[3] = { 0, 1, UINT16_MAX };
	static const struct watt_cpu_place places[2] = { { 0, -1, -1 }, { 1, -1, -1 } };
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = n_channels,
					 .cpu_slot = slots,
					 .n_cpus = n_cpus,
					 .n_slots = n_cpus ? 2 : 0,
					 .places = n_cpus ? places : NULL,
					 .idle_policy = idle_policy,
					 .memory_bytes = memory_bytes,
					 .keys = all_keys };

	*b = (struct bench){ 0 };
	assert_int_equal(watt_timeline_new(channels, n_channels, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
}

static void open_bench(struct bench *b, size_t n_channels, uint32_t n_cpus)
{
	open_bench_by(b, WATT_IDLE_SEPARATE, n_channels, n_cpus);
}

static void close_bench(struct bench *b)
{
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

static void read_counter(struct bench *b, uint32_t channel, uint64_t t_ms, uint64_t energy_mj)
{
	struct watt_sample sample = { t_ms * MS, t_ms * MS, (int64_t)(energy_mj * MS), channel,
				      WATT_STATUS_OK };

	assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
}

/* One task has used cpu_ms so far, the last of it on this CPU. */
static void sweep(struct bench *b, uint64_t t_ms, uint32_t cpu, uint64_t cpu_ms)
{
	struct watt_usage u = { .t_ns = t_ms * MS,
				.cpu_ns = cpu_ms * MS,
				.start_ns = 1,
				.leader_start_ns = 1,
				.cgroup_id = 1,
				.tid = 9,
				.tgid = 9,
				.cpu = cpu,
				.comm = "task" };
	struct watt_usage_batch batch = { .t_before_ns = t_ms * MS,
					  .t_after_ns = t_ms * MS,
					  .records = &u,
					  .n_records = 1,
					  .flags = WATT_BATCH_FULL };

	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	assert_true(watt_attrib_advance(b->at, b->tl, t_ms * MS) >= 0);
}

static const struct watt_domain_state *state_of(struct bench *b, uint64_t t_ms, size_t domain)
{
	struct watt_look_opts opts = { .t_ns = t_ms * MS };

	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->sum_failures, 0);
	return watt_snapshot_get_domain_state(b->snap, domain);
}

static int64_t energy_of_task(const struct bench *b, size_t domain)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity->kind == WATT_ENTITY_PROCESS)
			return watt_energy_to_nj(row->energy[domain]);
	}
	return -1;
}

/* A package's energy goes to who ran there; where nobody ran, to unattributed. */
static void test_goes_to_who_ran_there(void **state)
{
	struct bench b;
	uint64_t i;

	open_bench(&b, 2, 3);
	for (i = 0; i <= 3; i++) {
		read_counter(&b, 0, 100 * (i + 1), 10 * i);
		read_counter(&b, 1, 100 * (i + 1), 7 * i);
		sweep(&b, 100 * (i + 1), (uint32_t)(i ? i - 1 : 0), 20 * i);
	}
	assert_int_equal(watt_energy_to_nj(state_of(&b, 400, 0)->unattributed), 20 * MS);
	assert_int_equal(energy_of_task(&b, 0), 10 * MS); /* of the first slice */
	assert_int_equal(watt_energy_to_nj(state_of(&b, 400, 1)->unattributed), 14 * MS);
	assert_int_equal(energy_of_task(&b, 1), 7 * MS); /* of the second; the third ran nowhere */
	close_bench(&b);
}

/* In every slice that is divided, and every domain of every snapshot. */
static void test_all_is_checked(void **state)
{
	uint64_t before;
	struct bench b;

	open_bench(&b, 1, 3);
	read_counter(&b, 0, 100, 0);
	sweep(&b, 100, 0, 0);
	state_of(&b, 100, 0);
	before = watt_snapshot_get_quality(b.snap)->checks;
	state_of(&b, 100, 0);
	assert_int_equal(watt_snapshot_get_quality(b.snap)->checks, before + 1);
	read_counter(&b, 0, 200, 10);
	sweep(&b, 200, 0, 20);
	state_of(&b, 200, 0);
	assert_int_equal(energy_of_task(&b, 0), 10 * MS);
	assert_int_equal(watt_snapshot_get_quality(b.snap)->checks, before + 3);
	watt_ledger_check(b.at, false);
	assert_int_equal(b.at->quality.check_failures, 1);
	close_bench(&b);
}

/* Slices had to go before the sensor spoke: the energy is counted, and is nobody's. */
static void test_late_energy_is_unattributed(void **state)
{
	const struct watt_domain_state *s;
	struct bench b;
	uint64_t t_ms;

	open_bench(&b, 1, 3);
	read_counter(&b, 0, 100, 0);
	for (t_ms = 100; t_ms <= 100000; t_ms += 1000)
		sweep(&b, t_ms, 0, t_ms);
	assert_int_equal(watt_energy_to_nj(state_of(&b, t_ms, 0)->energy), 0);
	read_counter(&b, 0, 100100, 100000); /* 1 W for 100 s; the horizon is 60 s */
	sweep(&b, 100100, 0, 100100);
	s = state_of(&b, 100100, 0);
	assert_int_equal(watt_energy_to_nj(s->energy), 100000 * MS);
	assert_in_range(watt_energy_to_nj(s->late), 38000 * MS, 41000 * MS);
	assert_int_equal(watt_energy_to_nj(s->unattributed), watt_energy_to_nj(s->late));
	assert_int_equal(energy_of_task(&b, 0),
			 watt_energy_to_nj(s->energy) - watt_energy_to_nj(s->late));
	close_bench(&b);
}

/* A machine without sensors, or of which no CPU is known, is no reason to fail. */
static void test_nothing_to_measure(void **state)
{
	struct bench b;

	open_bench(&b, 0, 3);
	sweep(&b, 100, 0, 10);
	sweep(&b, 200, 0, 20);
	assert_null(state_of(&b, 200, 0));
	close_bench(&b);
	open_bench(&b, 2, 0);
	read_counter(&b, 0, 100, 0);
	read_counter(&b, 0, 200, 10);
	sweep(&b, 100, 0, 10);
	sweep(&b, 200, 0, 20);
	assert_int_equal(watt_energy_to_nj(state_of(&b, 200, 0)->unattributed), 10 * MS);
	close_bench(&b);
}

/* 10 W of which 4 W are idle; somebody runs in the second of three slices of 100 ms. */
static void live_with_idle(struct bench *b)
{
	uint64_t i;

	for (i = 0; i <= 3; i++) {
		read_counter(b, 2, 100 * (i + 1), 1000 * i);
		sweep(b, 100 * (i + 1), 0, i < 2 ? 0 : 20);
	}
}

/* What idle takes in a slice goes to who ran there; where nobody ran it stays idle. */
static void test_idle_is_shared_in_its_slice(void **state)
{
	const struct watt_domain_state *s;
	struct bench b;

	open_bench_by(&b, WATT_IDLE_PROPORTIONAL, 3, 3);
	live_with_idle(&b);
	s = state_of(&b, 400, 2);
	assert_int_equal(watt_energy_to_nj(s->energy), 3000 * MS);
	assert_int_equal(watt_energy_to_nj(s->shared_idle), 400 * MS);
	assert_int_equal(s->window_shared_idle_nj, 400 * MS);
	assert_int_equal(watt_energy_to_nj(s->idle), 800 * MS);
	assert_int_equal(watt_energy_to_nj(s->unattributed), 1200 * MS);
	assert_int_equal(energy_of_task(&b, 2), 1000 * MS);
	assert_int_equal(watt_snapshot_get_idle_policy(b.snap), WATT_IDLE_PROPORTIONAL);
	close_bench(&b);
	open_bench(&b, 3, 3);
	live_with_idle(&b);
	s = state_of(&b, 400, 2);
	assert_int_equal(watt_energy_to_nj(s->shared_idle), 0);
	assert_int_equal(watt_energy_to_nj(s->idle), 1200 * MS);
	assert_int_equal(energy_of_task(&b, 2), 600 * MS);
	close_bench(&b);
}

/* What may be missing because nobody looked for too long is said. */
static void test_unseen_wraps_are_told(void **state)
{
	const struct watt_domain_state *s;
	struct bench b;

	open_bench(&b, 4, 3);
	read_counter(&b, 3, 0, 9000);
	sweep(&b, 0, 0, 0);
	read_counter(&b, 3, 1000, 500);
	sweep(&b, 1000, 0, 100);
	s = state_of(&b, 1000, 3);
	assert_int_equal(watt_energy_to_nj(s->energy), 1500 * MS);
	assert_int_equal(s->wraps, 1);
	assert_int_equal(s->ambiguous, 0);
	read_counter(&b, 3, 9000, 2500);
	sweep(&b, 9000, 0, 200);
	s = state_of(&b, 9000, 3);
	assert_int_equal(watt_energy_to_nj(s->energy), 3500 * MS);
	assert_int_equal(s->ambiguous, 1);
	close_bench(&b);
}

/* ---- keys ---- */

#define N_TO_LEARN 2

/* Counts slices, is ready after two, and gives whoever ran first four times as much. */
struct learner {
	uint32_t n_learned;
	int64_t energy_nj;
	int64_t share_nj;
	uint64_t busy;
	bool is_confused; /* it can't tell */
	char program[16];
};

static struct learner *learner; /* of the one domain */

static int learner_init(void *state, const struct watt_domain *domain)
{
	assert_string_equal(domain->path, "package-0");
	learner = state;
	return 0;
}

static void learner_done(void *state)
{
	assert_ptr_equal(learner, state);
	learner = NULL;
}

static uint32_t learner_readiness_ppm(const void *state)
{
	const struct learner *l = state;

	return l->n_learned < N_TO_LEARN ? l->n_learned * 400000 : 1000000;
}

static uint32_t learner_uncertainty_ppm(const void *state)
{
	return 30000;
}

static int learner_weigh(void *state, const struct watt_key_slice *slice)
{
	struct learner *l = state;
	size_t i;

	if (l->is_confused || l->n_learned < N_TO_LEARN)
		return -EAGAIN;
	for (i = 0; i < slice->n_parts; i++) {
		struct watt_part *part = &slice->parts[i];
		bool is_first = part->use->actor->self->name->text[0] == 'a';

		assert_int_equal(part->kind, WATT_ACTIVITY_CPU_TIME);
		part->weight = part->use->amount * (is_first ? 4 : 1);
	}
	return 0;
}

static int learner_learn(void *state, const struct watt_key_slice *slice)
{
	struct learner *l = state;
	size_t i;

	assert_true(slice->is_complete);
	l->n_learned++;
	l->energy_nj += slice->energy_nj;
	l->busy += slice->busy;
	for (i = 0; i < slice->n_parts; i++)
		l->share_nj += slice->parts[i].share_nj;
	return 0;
}

static const struct watt_key_ops key_learner = {
	.id = WATT_KEY_CPU_TIME, /* in the place of the default */
	.needs = WATT_KEY_BIT(WATT_ACTIVITY_CPU_TIME),
	.fallback = WATT_KEY_GPU_TIME,
	.state_size = sizeof(struct learner),
	.init = learner_init,
	.done = learner_done,
	.readiness_ppm = learner_readiness_ppm,
	.uncertainty_ppm = learner_uncertainty_ppm,
	.weigh = learner_weigh,
	.learn = learner_learn,
};

static int weigh_by_amount(void *state, const struct watt_key_slice *slice)
{
	size_t i;

	for (i = 0; i < slice->n_parts; i++)
		slice->parts[i].weight = slice->parts[i].use->amount;
	return 0;
}

/* Another number than cpu_time, so that one can see who divided. */
static const struct watt_key_ops key_fallback = {
	.id = WATT_KEY_GPU_TIME,
	.needs = WATT_KEY_BIT(WATT_ACTIVITY_CPU_TIME),
	.weigh = weigh_by_amount,
};

/* Two tasks, "a" and "b", that run equally long on CPU 0: 10 mJ in each slice of 100 ms. */
static void live_with_two(struct bench *b, uint64_t i)
{
	struct watt_usage u[2] = { { .t_ns = 100 * (i + 1) * MS,
				     .cpu_ns = 20 * i * MS,
				     .start_ns = 1,
				     .leader_start_ns = 1,
				     .tid = 9,
				     .tgid = 9,
				     .comm = "a" } };
	struct watt_usage_batch batch = { .t_before_ns = 100 * (i + 1) * MS,
					  .t_after_ns = 100 * (i + 1) * MS,
					  .records = u,
					  .n_records = 2,
					  .flags = WATT_BATCH_FULL };

	u[1] = u[0];
	u[1].tid = u[1].tgid = 10;
	u[1].comm[0] = 'b';
	read_counter(b, 0, 100 * (i + 1), 10 * i);
	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	assert_true(watt_attrib_advance(b->at, b->tl, 100 * (i + 1) * MS) >= 0);
}

static int64_t energy_of(const struct bench *b, const char *name)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (!strcmp(row->entity->name, name))
			return watt_energy_to_nj(row->energy[0]);
	}
	return -1;
}

/* Its fallback divides until a key is ready and whenever it can't tell, and it learns from all. */
static void test_key_that_learns(void **state)
{
	static const struct watt_key_ops *const keys[] = { &key_learner, &key_fallback, NULL };
	const struct watt_domain_state *s;
	struct bench b;

	all_keys = keys;
	open_bench(&b, 1, 3);
	all_keys = NULL;
	live_with_two(&b, 0); /* the first sweep ends a slice too, of no length */
	assert_int_equal(state_of(&b, 100, 0)->key_readiness_ppm, 400000);
	live_with_two(&b, 1);
	s = state_of(&b, 200, 0);
	assert_int_equal(s->key, WATT_KEY_GPU_TIME);
	assert_int_equal(s->key_uncertainty_ppm, 30000);
	assert_int_equal(energy_of(&b, "a"), 5 * MS);
	live_with_two(&b, 2);
	s = state_of(&b, 300, 0);
	assert_int_equal(s->key, WATT_KEY_CPU_TIME);
	assert_int_equal(s->key_readiness_ppm, 1000000);
	assert_int_equal(energy_of(&b, "a"), 13 * MS);
	assert_int_equal(energy_of(&b, "b"), 7 * MS);
	learner->is_confused = true;
	live_with_two(&b, 3);
	assert_int_equal(state_of(&b, 400, 0)->key, WATT_KEY_GPU_TIME);
	assert_int_equal(energy_of(&b, "a"), 18 * MS);
	assert_int_equal(learner->n_learned, 4);
	assert_int_equal(learner->energy_nj, 30 * MS);
	assert_int_equal(learner->share_nj, 30 * MS);
	assert_int_equal(learner->busy, 120 * MS);
	close_bench(&b);
	assert_null(learner);
}

/* What nobody tells of is waited for by nobody, and its energy is nobody's. */
static void test_key_without_activities(void **state)
{
	static const struct watt_key_ops gpu = {
		.id = WATT_KEY_CPU_TIME,
		.needs = WATT_KEY_BIT(WATT_ACTIVITY_GPU_TIME),
		.weigh = weigh_by_amount,
	};
	static const struct watt_key_ops none = { .id = WATT_KEY_NONE, .weigh = weigh_by_amount };
	static const struct watt_key_ops *const keys[] = { &gpu, &none, NULL };
	const struct watt_domain_state *s;
	struct bench b;
	uint64_t i;

	all_keys = keys;
	open_bench(&b, 1, 3);
	all_keys = NULL;
	for (i = 0; i <= 2; i++)
		live_with_two(&b, i);
	s = state_of(&b, 300, 0);
	assert_int_equal(s->key, WATT_KEY_NONE);
	assert_int_equal(s->key_readiness_ppm, 0);
	assert_int_equal(watt_energy_to_nj(s->unattributed), 20 * MS);
	close_bench(&b);
}

/* A task can't have run for longer than there was time: it would push all others aside. */
static void test_damaged_cpu_time(void **state)
{
	struct bench b;

	open_bench(&b, 1, 3);
	read_counter(&b, 0, 100, 0);
	sweep(&b, 100, 0, 0);
	read_counter(&b, 0, 200, 10);
	sweep(&b, 200, 0, 1000000);
	assert_int_equal(watt_energy_to_nj(state_of(&b, 200, 0)->unattributed), 10 * MS);
	assert_int_equal(watt_snapshot_get_quality(b.snap)->damaged_records, 1);
	read_counter(&b, 0, 300, 20);
	sweep(&b, 300, 0, 1000050);
	assert_int_equal(watt_energy_to_nj(state_of(&b, 300, 0)->unattributed), 10 * MS);
	assert_int_equal(energy_of_task(&b, 0), 10 * MS);
	assert_int_equal(watt_snapshot_get_quality(b.snap)->busy_ns, 50 * MS);
	close_bench(&b);
}

/* Interrupts are actors as tasks are, each on its own package. */
static void test_interrupts_are_actors(void **state)
{
	struct watt_cpu_time cpus[3] = { { .online = 1 }, { .online = 1 }, { .online = 1 } };
	struct watt_usage_batch batch = { .cpus = cpus,
					  .n_cpus = 3,
					  .flags = WATT_BATCH_IRQ_SEPARATE };
	struct bench b;
	uint64_t i;

	open_bench(&b, 2, 3);
	for (i = 0; i < 2; i++) {
		batch.t_before_ns = batch.t_after_ns = 100 * (i + 1) * MS;
		cpus[0].irq_ns = 30 * i * MS;
		cpus[0].softirq_ns = 10 * i * MS;
		cpus[1].softirq_ns = 5 * i * MS;
		read_counter(&b, 0, 100 * (i + 1), 40 * i);
		read_counter(&b, 1, 100 * (i + 1), 7 * i);
		assert_int_equal(watt_attrib_push_usage(b.at, &batch), 0);
	}
	assert_true(watt_attrib_advance(b.at, b.tl, 200 * MS) >= 0);
	assert_int_equal(watt_energy_to_nj(state_of(&b, 200, 0)->unattributed), 0);
	assert_int_equal(energy_of(&b, "irq"), 30 * MS);
	assert_int_equal(energy_of(&b, "softirq"), 10 * MS);
	assert_int_equal(energy_of(&b, "kernel"), 40 * MS);
	assert_int_equal(watt_energy_to_nj(state_of(&b, 200, 1)->unattributed), 0);
	close_bench(&b);
}

/* ---- requests ---- */

struct box {
	uint32_t pid;
	uint64_t cgroup_id;
	const char *container;
	const char *request; /* of CPUs; NULL: none */
	const char *memory;  /* the same, in bytes */
};

static void name_boxes(struct bench *b, const struct box *boxes, size_t n)
{
	struct watt_label labels[] = { { .key = "io.kubernetes.container.requests.cpu" },
				       { .key = "io.kubernetes.container.requests.memory" } };
	size_t i;

	for (i = 0; i < n; i++) {
		struct watt_cgroup cgroup = { .sz = sizeof(cgroup),
					      .id = boxes[i].cgroup_id,
					      .path = boxes[i].container,
					      .container = boxes[i].container };
		struct watt_container told = { .sz = sizeof(told),
					       .id = boxes[i].container,
					       .pod_uid = "pod",
					       .pod_name = "web",
					       .labels = labels,
					       .n_labels = 2 };

		labels[0].value = boxes[i].request ? boxes[i].request : "0";
		labels[1].value = boxes[i].memory ? boxes[i].memory : "0";
		assert_int_equal(watt_attrib_set_cgroup(b->at, &cgroup), 0);
		assert_int_equal(watt_attrib_set_container(b->at, &told), 0);
	}
}

/* All have used this much CPU time on CPU 0 so far; who has not changed is asleep. */
static void sweep_boxes(struct bench *b, uint64_t t_ms, const struct box *boxes,
			const uint64_t *cpu_ms, size_t n)
{
	struct watt_usage usage[4];
	struct watt_usage_batch batch = { .t_before_ns = t_ms * MS,
					  .t_after_ns = t_ms * MS,
					  .records = usage,
					  .n_records = n,
					  .flags = WATT_BATCH_FULL };
	size_t i;

	for (i = 0; i < n; i++)
		usage[i] = (struct watt_usage){ .t_ns = t_ms * MS,
						.cpu_ns = cpu_ms[i] * MS,
						.start_ns = boxes[i].pid,
						.leader_start_ns = boxes[i].pid,
						.cgroup_id = boxes[i].cgroup_id,
						.tid = boxes[i].pid,
						.tgid = boxes[i].pid,
						.comm = "task" };
	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	assert_true(watt_attrib_advance(b->at, b->tl, t_ms * MS) >= 0);
}

static int64_t domain_energy_of(const struct bench *b, size_t domain, enum watt_entity_kind kind,
				uint32_t pid, const char *name)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity->kind == kind && (!pid || row->entity->identity->pid == pid) &&
		    (!name || !strcmp(row->entity->name, name)))
			return watt_energy_to_nj(row->energy[domain]);
	}
	return -1;
}

static int64_t model_energy_of(const struct bench *b, enum watt_entity_kind kind, uint32_t pid,
			       const char *name)
{
	return domain_energy_of(b, 2, kind, pid, name);
}

/*
 * 10 W of which 4 W are idle, three CPUs. One container requests 1.5 of them and sleeps, another
 * one 0.75 and runs; somebody runs without a request as long in the last second.
 */
static void test_idle_is_shared_by_requests(void **state)
{
	static const struct box boxes[] = { { 11, 101, "asleep", "1.5" },
					    { 12, 101, "asleep", "1.5" },
					    { 13, 102, "busy", "0.75" },
					    { 14, 103, "free", NULL } };
	static const uint64_t used_ms[][4] = {
		{ 0, 0, 0, 0 }, { 10, 10, 10, 10 }, { 10, 10, 30, 10 }, { 10, 10, 50, 30 }
	};
	const struct watt_domain_state *s;
	int64_t before_nj[5], dynamic_nj = 0, got_nj;
	struct bench b;
	uint64_t i;

	open_bench_by(&b, WATT_IDLE_REQUESTS, 3, 3);
	for (i = 0; i < 2; i++) {
		read_counter(&b, 2, 1000 * (i + 1), 10000 * i);
		sweep_boxes(&b, 1000 * (i + 1), boxes, used_ms[i], 4);
	}
	name_boxes(&b, boxes, 4);
	s = state_of(&b, 2000, 2);
	/* nobody had reserved anything yet: all of it went to who ran */
	assert_int_equal(watt_energy_to_nj(s->shared_idle), 4000 * MS);
	for (i = 0; i < 4; i++) {
		before_nj[i] = model_energy_of(&b, WATT_ENTITY_PROCESS, boxes[i].pid, NULL);
		assert_int_equal(before_nj[i], 2500 * MS);
	}
	/* only one with a request runs: a quarter of idle is nobody's */
	read_counter(&b, 2, 3000, 20000);
	sweep_boxes(&b, 3000, boxes, used_ms[2], 4);
	s = state_of(&b, 3000, 2);
	assert_int_equal(watt_energy_to_nj(s->idle), 1000 * MS);
	assert_int_equal(watt_energy_to_nj(s->shared_idle), 7000 * MS);
	got_nj = model_energy_of(&b, WATT_ENTITY_PROCESS, 11, NULL) - before_nj[0];
	assert_int_equal(got_nj, 2000 * MS); /* half of the CPUs, by the first process */
	assert_int_equal(model_energy_of(&b, WATT_ENTITY_PROCESS, 12, NULL), before_nj[1]);
	dynamic_nj = model_energy_of(&b, WATT_ENTITY_PROCESS, 13, NULL) - before_nj[2] - 1000 * MS;
	assert_int_equal(dynamic_nj, 6000 * MS);
	/* and now somebody without one too, who has that quarter, and half of what is dynamic */
	read_counter(&b, 2, 4000, 30000);
	sweep_boxes(&b, 4000, boxes, used_ms[3], 4);
	s = state_of(&b, 4000, 2);
	assert_int_equal(watt_energy_to_nj(s->idle), 1000 * MS);
	assert_int_equal(model_energy_of(&b, WATT_ENTITY_PROCESS, 14, NULL) - before_nj[3],
			 4000 * MS);
	assert_int_equal(model_energy_of(&b, WATT_ENTITY_PROCESS, 13, NULL) - before_nj[2],
			 11000 * MS);
	assert_int_equal(model_energy_of(&b, WATT_ENTITY_CONTAINER, 0, "asleep"), 9000 * MS);
	assert_int_equal(model_energy_of(&b, WATT_ENTITY_POD, 0, "web"), 29000 * MS);
	assert_int_equal(watt_snapshot_get_idle_policy(b.snap), WATT_IDLE_REQUESTS);
	/* its first process ends: the next one stands for the container */
	read_counter(&b, 2, 4100, 31000);
	sweep_boxes(&b, 4100, boxes + 1, used_ms[3] + 1, 3);
	read_counter(&b, 2, 4200, 32000);
	sweep_boxes(&b, 4200, boxes + 1, used_ms[3] + 1, 3);
	read_counter(&b, 2, 4300, 33000);
	sweep_boxes(&b, 4300, boxes + 1, used_ms[3] + 1, 3);
	state_of(&b, 4300, 2);
	assert_true(model_energy_of(&b, WATT_ENTITY_PROCESS, 12, NULL) > before_nj[1]);
	assert_int_equal(model_energy_of(&b, WATT_ENTITY_CONTAINER, 0, "asleep"),
			 9000 * MS + 600 * MS);
	close_bench(&b);
}

/* More is requested than there is: all idle energy goes by requests. */
static void test_more_is_requested_than_there_is(void **state)
{
	static const struct box boxes[] = { { 11, 101, "a", "6" }, { 12, 102, "b", "2" } };
	static const uint64_t used_ms[][2] = { { 0, 0 }, { 1, 1 }, { 1, 1 } };
	const struct watt_domain_state *s;
	struct bench b;
	uint64_t i;

	open_bench_by(&b, WATT_IDLE_REQUESTS, 3, 3);
	for (i = 0; i < 3; i++) {
		read_counter(&b, 2, 1000 * (i + 1), 10000 * i);
		sweep_boxes(&b, 1000 * (i + 1), boxes, used_ms[i], 2);
		if (i == 1)
			name_boxes(&b, boxes, 2);
	}
	s = state_of(&b, 3000, 2);
	assert_int_equal(watt_energy_to_nj(s->idle), 0);
	assert_int_equal(model_energy_of(&b, WATT_ENTITY_CONTAINER, 0, "a"), 5000 * MS + 3000 * MS);
	assert_int_equal(model_energy_of(&b, WATT_ENTITY_CONTAINER, 0, "b"), 5000 * MS + 1000 * MS);
	close_bench(&b);
}

/*
 * What memory takes when nothing runs is divided by the memory that was requested, 48 and 16 of 128
 * GiB; the other half is of who runs without such a request, whatever CPUs that one requests.
 */
static void check_memory(uint64_t bytes, int64_t asleep_nj, int64_t small_nj, int64_t free_nj)
{
	static const struct box boxes[] = { { 11, 101, "asleep", "0.75", "51539607552" },
					    { 12, 102, "small", NULL, "17179869184" },
					    { 13, 103, "free", "1.5", NULL } };
	static const uint64_t used_ms[][3] = { { 0, 0, 0 }, { 10, 10, 10 }, { 10, 30, 30 } };
	int64_t before_nj[3];
	struct bench b;
	size_t i, k;

	memory_bytes = bytes;
	open_bench_by(&b, WATT_IDLE_REQUESTS, 5, 3);
	memory_bytes = 0;
	for (i = 0; i < 3; i++) {
		read_counter(&b, 4, 1000 * (i + 1), 4000 * i);
		sweep_boxes(&b, 1000 * (i + 1), boxes, used_ms[i], 3);
		if (i == 1) {
			name_boxes(&b, boxes, 3);
			state_of(&b, 2000, 4);
			for (k = 0; k < 3; k++)
				before_nj[k] = domain_energy_of(&b, 4, WATT_ENTITY_CONTAINER, 0,
								boxes[k].container);
		}
	}
	state_of(&b, 3000, 4);
	assert_int_equal(domain_energy_of(&b, 4, WATT_ENTITY_CONTAINER, 0, "asleep") - before_nj[0],
			 asleep_nj);
	assert_int_equal(domain_energy_of(&b, 4, WATT_ENTITY_CONTAINER, 0, "small") - before_nj[1],
			 small_nj);
	assert_int_equal(domain_energy_of(&b, 4, WATT_ENTITY_CONTAINER, 0, "free") - before_nj[2],
			 free_nj);
	close_bench(&b);
}

static void test_memory_goes_by_its_requests(void **state)
{
	/* 2 J are dynamic, half of them each; then 3/8, 1/8 and the rest of 2 J. */
	check_memory(128ULL << 30, 750 * MS, 1000 * MS + 250 * MS, 1000 * MS + 1000 * MS);
	/* How much memory there is is not known: CPUs, 1/4 and 1/2 of 3, the rest to "small". */
	check_memory(0, 500 * MS, 1000 * MS + 500 * MS, 1000 * MS + 1000 * MS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_to_who_ran_there),
		cmocka_unit_test(test_all_is_checked),
		cmocka_unit_test(test_late_energy_is_unattributed),
		cmocka_unit_test(test_nothing_to_measure),
		cmocka_unit_test(test_idle_is_shared_in_its_slice),
		cmocka_unit_test(test_idle_is_shared_by_requests),
		cmocka_unit_test(test_more_is_requested_than_there_is),
		cmocka_unit_test(test_memory_goes_by_its_requests),
		cmocka_unit_test(test_unseen_wraps_are_told),
		cmocka_unit_test(test_key_that_learns),
		cmocka_unit_test(test_key_without_activities),
		cmocka_unit_test(test_damaged_cpu_time),
		cmocka_unit_test(test_interrupts_are_actors),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
