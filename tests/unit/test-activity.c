/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/activity.c, and the whole stage on a simulated GPU beside simulated tasks. */
#include "channel.h"
#include "unit.h"

#include "attrib/attrib.h"
#include "rules_of.h"
#include "source/synth/gpu.h"

#define MS 1000000ULL
#define IDLE_W 20
#define BUSY_W 150
#define WINDOW_NS (170 * MS)
#define DELAY_NS (400 * MS)
#define SLICE_NS (50 * MS)
#define EPOCH_NS (1000 * MS)
#define N_USERS 3
#define FIRST_PID 500

static const struct watt_channel channels[2] = {
	CHANNEL("gpu", "gpu-0", WATT_DOMAIN_GPU, .package_id = -1, .idle_uw = IDLE_W * 1000000),
	CHANNEL("cpu", "package-0", WATT_DOMAIN_PACKAGE, .package_id = -1),
};

struct world {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_synth_gpu gpu;
	struct watt_snapshot *snap;
	uint64_t told_ns;         /* by the last batch */
	uint32_t more_w[N_USERS]; /* that a user takes beyond the others, on the engine */
	uint64_t end_ns[N_USERS]; /* 0: it lives */
	uint32_t is_unknown[N_USERS];
};

static void open_world_by(struct world *w, bool has_threads, const struct watt_rules *rules)
{
	static const struct watt_channel *const list[] = { &channels[0], &channels[1] };
	static const uint16_t slots[1] = { 0 };
	struct watt_attrib_opts opts = { .channels = list,
					 .n_channels = 2,
					 .cpu_slot = slots,
					 .n_cpus = 1,
					 .n_slots = 1,
					 .share_keys = rules };
	struct watt_synth_gpu_opts gpu = { .seed = 7,
					   .epoch_ns = EPOCH_NS,
					   .window_ns = WINDOW_NS,
					   .idle_w = IDLE_W,
					   .busy_w = BUSY_W,
					   .n_users = N_USERS };

	*w = (struct world){ 0 };
	assert_int_equal(watt_timeline_new(list, 2, &w->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &w->at), 0);
	if (has_threads)
		assert_int_equal(watt_attrib_show_threads(w->at), 0);
	watt_synth_gpu_init(&w->gpu, &gpu);
}

static void open_world(struct world *w, bool has_threads)
{
	open_world_by(w, has_threads, NULL);
}

static void close_world(struct world *w)
{
	watt_snapshot_unref(w->snap);
	watt_attrib_free(w->at);
	watt_timeline_free(w->tl);
	watt_synth_gpu_done(&w->gpu);
}

static void sweep(struct world *w, uint64_t t_ns)
{
	struct watt_usage records[N_USERS];
	struct watt_usage_batch batch = { .t_before_ns = t_ns,
					  .t_after_ns = t_ns,
					  .records = records,
					  .flags = WATT_BATCH_DEATHS };
	uint32_t i;

	for (i = 0; i < N_USERS; i++) {
		struct watt_usage *u = &records[batch.n_records];
		bool is_gone = w->end_ns[i] && w->end_ns[i] <= t_ns;

		if (w->is_unknown[i] || (is_gone && w->end_ns[i] + SLICE_NS <= t_ns))
			continue;
		batch.n_records++;
		*u = (struct watt_usage){ .t_ns = t_ns,
					  .cpu_ns = (t_ns - EPOCH_NS) / 8,
					  .start_ns = 1 + i,
					  .leader_start_ns = 1 + i,
					  .cgroup_id = 1 + i / 2,
					  .tid = FIRST_PID + i,
					  .tgid = FIRST_PID + i,
					  .kind = is_gone ? WATT_USAGE_FREE : WATT_USAGE_TASK };
		snprintf(u->comm, sizeof(u->comm), "user-%u", i);
	}
	assert_int_equal(watt_attrib_push_usage(w->at, &batch), 0);
}

/* How it is when it begins, and all windows that ended DELAY_NS ago or earlier, a batch each. */
static void tell(struct world *w, uint64_t now_ns)
{
	uint64_t t_ns;
	uint32_t i;

	for (t_ns = w->told_ns ? w->told_ns + WINDOW_NS : EPOCH_NS;
	     t_ns + DELAY_NS <= now_ns || t_ns == EPOCH_NS; t_ns += WINDOW_NS) {
		struct watt_activity_place place = { "gpu-0", t_ns, WATT_ACTIVITY_GPU_TIME, 1 };
		struct watt_activity readings[N_USERS];
		struct watt_activity_batch batch = { &place, 1, readings, 0 };

		for (i = 0; i < N_USERS; i++) {
			if (w->end_ns[i] && t_ns > w->end_ns[i])
				continue;
			readings[batch.n_readings++] = (struct watt_activity){
				.t_ns = t_ns,
				.amount = watt_synth_gpu_time_ns(&w->gpu, i, t_ns),
				.start_ns = 1 + i,
				.pid = FIRST_PID + i,
			};
		}
		assert_int_equal(watt_attrib_push_activity(w->at, &batch), 0);
		w->told_ns = t_ns;
	}
}

static void read_gpu(struct world *w, uint64_t t_ns)
{
	struct watt_sample sample = { t_ns, t_ns, watt_synth_gpu_energy_nj(&w->gpu, t_ns), 0,
				      WATT_STATUS_OK };
	uint32_t i;

	for (i = 0; i < N_USERS; i++)
		sample.raw += (int64_t)(watt_synth_gpu_time_ns(&w->gpu, i, t_ns) * w->more_w[i]);
	assert_int_equal(watt_timeline_push(w->tl, &sample), 0);
	sample.channel = 1;
	sample.raw = (int64_t)(t_ns / 100); /* 10 W */
	assert_int_equal(watt_timeline_push(w->tl, &sample), 0);
}

/* Readings of energy every 10 ms, slices of 50 ms, activities whenever they come. */
static void live(struct world *w, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t t_ns;

	for (t_ns = from_ns; t_ns <= to_ns; t_ns += 10 * MS) {
		assert_int_equal(watt_synth_gpu_run(&w->gpu, t_ns), 0);
		read_gpu(w, t_ns);
		tell(w, t_ns);
		if ((t_ns - EPOCH_NS) % SLICE_NS)
			continue;
		sweep(w, t_ns);
		assert_true(watt_attrib_advance(w->at, w->tl, t_ns) >= 0);
	}
}

static const struct watt_domain_state *look(struct world *w, uint64_t t_ns)
{
	struct watt_look_opts opts = { .t_ns = t_ns };

	watt_snapshot_unref(w->snap);
	assert_int_equal(watt_attrib_snapshot(w->at, w->tl, &opts, &w->snap), 0);
	assert_int_equal(watt_snapshot_get_quality(w->snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(w->snap)->sum_failures, 0);
	return watt_snapshot_get_domain_state(w->snap, 0);
}

static int64_t energy_of_kind(const struct world *w, enum watt_entity_kind kind, const char *name)
{
	int64_t sum_nj = 0;
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(w->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(w->snap, i);

		if (row->entity->kind == kind && !strcmp(row->entity->name, name))
			sum_nj += watt_energy_to_nj(row->energy[0]);
	}
	return sum_nj;
}

static int64_t energy_of(const struct world *w, const char *name)
{
	return energy_of_kind(w, WATT_ENTITY_PROCESS, name) +
	       energy_of_kind(w, WATT_ENTITY_EXITED, name);
}

static int64_t truth_nj(const struct world *w, uint32_t user, uint64_t t_ns)
{
	return (int64_t)(watt_synth_gpu_time_ns(&w->gpu, user, t_ns) * BUSY_W);
}

/* Each slice's energy goes to who was on the GPU then, though that is told 400 ms late. */
static void check_exact(bool has_threads)
{
	const struct watt_domain_state *s;
	int64_t whole_nj;
	struct world w;
	char name[16];
	uint32_t i;

	open_world(&w, has_threads);
	live(&w, EPOCH_NS, EPOCH_NS + 20000 * MS);
	s = look(&w, EPOCH_NS + 20000 * MS);
	assert_int_equal(s->key, WATT_KEY_GPU_TIME);
	assert_int_equal(s->key_readiness_ppm, 1000000);
	/* as far as both are known: 115 windows end at 19,550 ms */
	assert_int_equal(s->t_ns, EPOCH_NS + 19550 * MS);
	assert_int_equal(watt_energy_to_nj(s->energy), watt_synth_gpu_energy_nj(&w.gpu, s->t_ns));
	assert_int_equal(watt_energy_to_nj(s->idle), 19550 * MS * IDLE_W);
	assert_int_equal(watt_energy_to_nj(s->unattributed), 0);
	for (i = 0; i < N_USERS; i++) {
		snprintf(name, sizeof(name), "user-%u", i);
		assert_true(truth_nj(&w, i, s->t_ns) > 100 * (int64_t)MS);
		assert_true(llabs(energy_of(&w, name) - truth_nj(&w, i, s->t_ns)) <= 2);
	}
	/* which thread it was, nobody tells */
	whole_nj = watt_energy_to_nj(s->energy) - watt_energy_to_nj(s->idle);
	assert_int_equal(energy_of_kind(&w, WATT_ENTITY_THREAD, "(unknown thread)"),
			 has_threads ? whole_nj : 0);
	/* the CPUs go on as they would without it */
	s = watt_snapshot_get_domain_state(w.snap, 1);
	assert_int_equal(s->key, WATT_KEY_CPU_TIME);
	assert_int_equal(s->t_ns, EPOCH_NS + 20000 * MS);
	close_world(&w);
}

static void test_exact(void **state)
{
	check_exact(false);
}

static void test_exact_with_threads(void **state)
{
	check_exact(true);
}

/* Who is gone when it is told gets its own; who nobody knows leaves it unattributed. */
static void check_gone_and_unknown(bool has_threads)
{
	const uint64_t end_ns = EPOCH_NS + 20 * WINDOW_NS;
	const struct watt_domain_state *s;
	struct world w;

	open_world(&w, has_threads);
	w.end_ns[1] = end_ns;
	w.is_unknown[2] = 1;
	live(&w, EPOCH_NS, end_ns + 150 * MS);
	look(&w, end_ns + 150 * MS); /* it is shown dead, and would be retired */
	assert_true(energy_of(&w, "user-1") < truth_nj(&w, 1, end_ns) - 1000);
	live(&w, end_ns + 160 * MS, end_ns + 450 * MS);
	s = look(&w, end_ns + 450 * MS);
	assert_int_equal(s->t_ns, end_ns);
	assert_true(llabs(energy_of(&w, "user-0") - truth_nj(&w, 0, end_ns)) <= 2);
	assert_true(llabs(energy_of(&w, "user-1") - truth_nj(&w, 1, end_ns)) <= 2);
	assert_true(llabs(watt_energy_to_nj(s->unattributed) - truth_nj(&w, 2, end_ns)) <= 2);
	live(&w, end_ns + 460 * MS, EPOCH_NS + 10000 * MS);
	look(&w, EPOCH_NS + 10000 * MS);
	assert_true(llabs(energy_of(&w, "user-1") - truth_nj(&w, 1, end_ns)) <= 2);
	close_world(&w);
}

static void test_gone_and_unknown(void **state)
{
	check_gone_and_unknown(false);
}

static void test_gone_and_unknown_with_threads(void **state)
{
	check_gone_and_unknown(true);
}

/* A source that has died is waited for as long as a sensor is, and then no more. */
static void test_silent_source(void **state)
{
	const struct watt_domain_state *s;
	struct world w;
	uint64_t told_ns, t_ns;

	open_world(&w, false);
	live(&w, EPOCH_NS, EPOCH_NS + 2000 * MS);
	told_ns = w.told_ns;
	w.told_ns = UINT64_MAX / 2;
	live(&w, EPOCH_NS + 2010 * MS, EPOCH_NS + 8000 * MS);
	s = look(&w, EPOCH_NS + 8000 * MS);
	assert_in_range(s->t_ns, told_ns - SLICE_NS, told_ns);
	t_ns = s->t_ns;
	live(&w, EPOCH_NS + 8010 * MS, EPOCH_NS + 13000 * MS);
	s = look(&w, EPOCH_NS + 13000 * MS);
	assert_int_equal(s->t_ns, EPOCH_NS + 13000 * MS);
	assert_int_equal(s->key, WATT_KEY_NONE);
	assert_int_equal(watt_energy_to_nj(s->unattributed),
			 watt_synth_gpu_energy_nj(&w.gpu, s->t_ns) -
				 watt_synth_gpu_energy_nj(&w.gpu, t_ns));
	close_world(&w);
}

/* Half a second of a GPU, as a reading of its counter and one user who is on it all the time. */
static void live_on(struct world *w, uint32_t gpu, uint64_t t_ns)
{
	static const char *const paths[] = { "gpu-0", "gpu-1" };
	struct watt_sample sample = { t_ns, t_ns, (int64_t)(t_ns * 10), gpu, WATT_STATUS_OK };
	struct watt_activity_place place = { paths[gpu], t_ns, WATT_ACTIVITY_GPU_TIME, 1 };
	struct watt_activity reading = {
		.t_ns = t_ns, .amount = t_ns - EPOCH_NS, .start_ns = 1, .pid = FIRST_PID
	};
	struct watt_activity_batch batch = { &place, 1, &reading, 1 };

	assert_int_equal(watt_timeline_push(w->tl, &sample), 0);
	assert_int_equal(watt_attrib_push_activity(w->at, &batch), 0);
}

/* Who uses a GPU that is there is known, whatever has become of another one. */
static void test_lost_beside_another(void **state)
{
	static const struct watt_channel gpus[2] = {
		CHANNEL("gpu 0", "gpu-0", WATT_DOMAIN_GPU, .package_id = -1),
		CHANNEL("gpu 1", "gpu-1", WATT_DOMAIN_GPU, .package_id = -1),
	};
	static const struct watt_channel *const list[] = { &gpus[0], &gpus[1] };
	struct watt_attrib_opts opts = { .channels = list, .n_channels = 2 };
	uint64_t t_ns, lost_ns = EPOCH_NS + 2000 * MS;
	const struct watt_domain_state *s;
	struct world w = { 0 };

	assert_int_equal(watt_timeline_new(list, 2, &w.tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &w.at), 0);
	for (t_ns = EPOCH_NS; t_ns <= lost_ns + 2000 * MS; t_ns += 500 * MS) {
		live_on(&w, 0, t_ns);
		if (t_ns < lost_ns)
			live_on(&w, 1, t_ns);
		sweep(&w, t_ns);
		assert_true(watt_attrib_advance(w.at, w.tl, t_ns) >= 0);
	}
	/* it may only be late */
	s = look(&w, t_ns);
	assert_int_equal(s->t_ns, lost_ns - 500 * MS);
	assert_int_equal(watt_timeline_push(w.tl, &(struct watt_sample){ t_ns, t_ns, 0, 1,
									 WATT_STATUS_ABSENT }),
			 0);
	assert_true(watt_attrib_advance(w.at, w.tl, t_ns) >= 0);
	s = look(&w, t_ns);
	assert_int_equal(s->t_ns, lost_ns + 2000 * MS);
	assert_int_equal(s->key, WATT_KEY_GPU_TIME);
	assert_int_equal(energy_of(&w, "user-0"), 4000 * MS * 10);
	close_world(&w);
}

/* A count that began again adds nothing, nor does one that can't be true. */
static void test_damaged_counts(void **state)
{
	static const uint64_t amounts_ms[] = { 500, 600, 20, 60, 900000, 900040 };
	struct watt_activity_place place = { "gpu-0", 0, WATT_ACTIVITY_GPU_TIME, 1 };
	struct watt_activity reading = { .pid = FIRST_PID, .start_ns = 1 };
	struct watt_activity_batch batch = { &place, 1, &reading, 1 };
	static const int64_t joules[] = { 0, 1, 1, 2, 2, 3 };
	struct world w;
	size_t i;

	open_world(&w, false);
	for (i = 0; i < WATT_ARRAY_SIZE(amounts_ms); i++) {
		uint64_t t_ns = EPOCH_NS + 100 * MS * i;

		assert_int_equal(watt_synth_gpu_run(&w.gpu, t_ns), 0);
		place.complete_ns = reading.t_ns = t_ns;
		reading.amount = amounts_ms[i] * MS;
		read_gpu(&w, t_ns);
		sweep(&w, t_ns);
		assert_int_equal(watt_attrib_push_activity(w.at, &batch), 0);
		assert_true(watt_attrib_advance(w.at, w.tl, t_ns) >= 0);
		look(&w, t_ns);
		assert_int_equal(energy_of(&w, "user-0") > 0, joules[i] > 0);
		if (i && joules[i] == joules[i - 1])
			assert_int_equal(
				watt_snapshot_get_domain_state(w.snap, 0)->window_unattributed_nj,
				watt_synth_gpu_energy_nj(&w.gpu, t_ns) -
					watt_synth_gpu_energy_nj(&w.gpu, t_ns - 100 * MS) -
					(int64_t)(100 * MS * IDLE_W));
	}
	reading.t_ns++;
	assert_int_equal(watt_attrib_push_activity(w.at, &batch), -EINVAL);
	reading.t_ns--;
	place.kind = WATT_ACTIVITY_CPU_TIME;
	assert_int_equal(watt_attrib_push_activity(w.at, &batch), -EINVAL);
	close_world(&w);
}

/* How much of what users took in the last 30 of 60 s is given to somebody else, in percent. */
static double misplaced_percent(enum watt_share_key expected, const char *text)
{
	struct watt_rules rules = rules_of(text, &watt_share_key_syntax);
	int64_t before_nj[N_USERS], wrong_nj = 0, all_nj = 0;
	uint64_t half_ns = 0;
	struct world w;
	char name[16];
	uint32_t i;

	open_world_by(&w, false, &rules);
	w.more_w[1] = 100;
	w.more_w[2] = 300;
	for (i = 0; i < 2; i++) {
		const struct watt_domain_state *s;
		uint32_t u;

		live(&w, EPOCH_NS + i * 30010 * MS, EPOCH_NS + (i + 1) * 30000 * MS);
		s = look(&w, EPOCH_NS + (i + 1) * 30000 * MS);
		assert_int_equal(s->key, expected);
		for (u = 0; u < N_USERS; u++) {
			int64_t true_nj =
				(int64_t)(watt_synth_gpu_time_ns(&w.gpu, u, s->t_ns) -
					  (i ? watt_synth_gpu_time_ns(&w.gpu, u, half_ns) : 0)) *
				(int64_t)(BUSY_W + w.more_w[u]);

			snprintf(name, sizeof(name), "user-%u", u);
			if (!i)
				before_nj[u] = energy_of(&w, name);
			else
				wrong_nj += llabs(energy_of(&w, name) - before_nj[u] - true_nj);
			all_nj += i ? true_nj : 0;
		}
		half_ns = s->t_ns;
	}
	close_world(&w);
	watt_rules_clear(&rules);
	return 100.0 * (double)wrong_nj / (double)all_nj;
}

/* Programs that take 150, 250 and 450 W on one engine: time alone can't tell them apart. */
static void test_learned(void **state)
{
	double by_time = misplaced_percent(WATT_KEY_GPU_TIME, "gpu=gpu_time");
	double learned = misplaced_percent(WATT_KEY_LEARNED, "gpu=learned");

	if (by_time < 15 || learned > 1)
		fail_msg("misplaced: %.2f %% by time, %.2f %% learned", by_time, learned);
}

/* Two hold 1 and 3 quarters of the memory, and one of them does all that is done. */
static void test_memory(void **state)
{
	struct watt_rules rules = rules_of("gpu=gpu_memory", &watt_share_key_syntax);
	struct watt_activity_place places[] = { { "gpu-0", 0, WATT_ACTIVITY_GPU_TIME, 1 },
						{ "gpu-0/memory", 0, WATT_ACTIVITY_GPU_MEMORY,
						  1 } };
	struct watt_activity readings[] = { { .pid = FIRST_PID, .start_ns = 1 },
					    { .pid = FIRST_PID, .start_ns = 1, .place = 1 },
					    { .pid = FIRST_PID + 1, .start_ns = 2, .place = 1 } };
	struct watt_activity_batch batch = { places, 2, readings, 3 };
	const struct watt_domain_state *s = NULL;
	struct world w;
	uint64_t t_ns;

	open_world_by(&w, false, &rules);
	for (t_ns = EPOCH_NS; t_ns <= EPOCH_NS + 1000 * MS; t_ns += SLICE_NS) {
		uint64_t dt_ns = t_ns - EPOCH_NS;
		size_t i;

		for (i = 0; i < 3; i++)
			readings[i].t_ns = t_ns;
		places[0].complete_ns = places[1].complete_ns = t_ns;
		readings[0].amount = dt_ns;
		readings[1].amount = dt_ns / 4;
		readings[2].amount = dt_ns / 4 * 3;
		assert_int_equal(watt_synth_gpu_run(&w.gpu, t_ns), 0);
		read_gpu(&w, t_ns);
		sweep(&w, t_ns);
		assert_int_equal(watt_attrib_push_activity(w.at, &batch), 0);
		assert_true(watt_attrib_advance(w.at, w.tl, t_ns) >= 0);
		s = look(&w, t_ns);
	}
	assert_int_equal(s->key, WATT_KEY_GPU_MEMORY);
	assert_true(energy_of(&w, "user-0") > 0);
	assert_true(llabs(energy_of(&w, "user-1") - 3 * energy_of(&w, "user-0")) <= 4);
	close_world(&w);
	watt_rules_clear(&rules);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_exact_with_threads),
		cmocka_unit_test(test_gone_and_unknown),
		cmocka_unit_test(test_gone_and_unknown_with_threads),
		cmocka_unit_test(test_silent_source),
		cmocka_unit_test(test_lost_beside_another),
		cmocka_unit_test(test_damaged_counts),
		cmocka_unit_test(test_learned),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests_name("activity", tests, NULL, NULL);
}
