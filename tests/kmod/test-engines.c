/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two engines, one arithmetic: the library and the module are fed the same slices, and give the same
 * processes the same energy, to the last nJ, whatever they learn of idle power meanwhile. The one
 * thing that differs is by design: where nobody ran at all, the module calls idle what the library
 * calls unattributed.
 */
#include "../unit/two_packages.h"
#include "../unit/unit.h"

#include "attrib/attrib.h"
#include "module_engine.h"

#define MS 1000000ULL
#define N_PROCESSES 40
#define N_CPUS (ENGINE_UNITS * ENGINE_CPUS)

/* The library's side, and the machine that both are on. */
struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_snapshot *snap;
	struct watt_usage usages[N_PROCESSES];
	struct engine_use uses[N_PROCESSES];
	uint64_t t_ns, energy_nj[ENGINE_UNITS];
	uint64_t seed;
};

static uint64_t rnd(struct bench *b, uint64_t n)
{
	b->seed = b->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (b->seed >> 24) % n;
}

static void read_counters(struct bench *b)
{
	uint32_t i;

	for (i = 0; i < ENGINE_UNITS; i++) {
		struct watt_sample sample = { b->t_ns, b->t_ns, (int64_t)b->energy_nj[i], i,
					      WATT_STATUS_OK };

		assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
	}
}

static void sweep(struct bench *b)
{
	struct watt_usage_batch batch = { .t_before_ns = b->t_ns,
					  .t_after_ns = b->t_ns,
					  .records = b->usages,
					  .n_records = N_PROCESSES,
					  .flags = WATT_BATCH_FULL };

	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	assert_true(watt_attrib_advance(b->at, b->tl, b->t_ns) >= 0);
}

static void open_bench(struct bench *b, uint64_t seed)
{
	static const struct watt_channel *const channels[] = { &two_packages[0], &two_packages[1] };
	static const uint16_t slots[N_CPUS] = { 0, 0, 1, 1 };
	static const struct watt_cpu_place places[ENGINE_UNITS] = { { 0, -1, -1 }, { 1, -1, -1 } };
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = ENGINE_UNITS,
					 .cpu_slot = slots,
					 .n_cpus = N_CPUS,
					 .n_slots = ENGINE_UNITS,
					 .places = places };
	uint32_t i;

	*b = (struct bench){ .seed = seed, .t_ns = 100 * MS };
	assert_int_equal(watt_timeline_new(channels, ENGINE_UNITS, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
	module_engine_open(N_PROCESSES);
	for (i = 0; i < N_PROCESSES; i++)
		b->usages[i] = (struct watt_usage){ .start_ns = 1,
						    .leader_start_ns = 1,
						    .cgroup_id = 1,
						    .tid = 100 + i,
						    .tgid = 100 + i,
						    .comm = "task" };
	read_counters(b);
	sweep(b);
}

static void close_bench(struct bench *b)
{
	module_engine_close();
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

/*
 * A slice of this length for both engines: of each package's CPU time so many thousandths are used,
 * by some of the processes, and it takes 10 W idle, 30 W more when all of it is used, and some noise.
 */
static void live(struct bench *b, uint64_t time_ns, const uint64_t permille[ENGINE_UNITS])
{
	uint64_t left_ns[ENGINE_UNITS], slice_nj[ENGINE_UNITS];
	uint32_t i, p;

	for (p = 0; p < ENGINE_UNITS; p++)
		left_ns[p] = ENGINE_CPUS * time_ns * permille[p] / 1000;
	for (p = 0; p < ENGINE_UNITS; p++) {
		slice_nj[p] = (10000 + 30 * permille[p] + rnd(b, 300)) * time_ns / 1000;
		slice_nj[p] += rnd(b, 1000);
		b->energy_nj[p] += slice_nj[p];
	}
	b->t_ns += time_ns;
	for (i = 0; i < N_PROCESSES; i++) {
		uint32_t unit = (uint32_t)rnd(b, ENGINE_UNITS);
		uint64_t cpu_ns = rnd(b, 3) ? rnd(b, left_ns[unit] / 8 + 1) : 0;

		left_ns[unit] -= cpu_ns;
		b->uses[i] = (struct engine_use){ cpu_ns, unit };
		b->usages[i].t_ns = b->t_ns;
		b->usages[i].cpu_ns += cpu_ns;
		b->usages[i].cpu = unit * ENGINE_CPUS + (uint32_t)rnd(b, ENGINE_CPUS);
	}
	read_counters(b);
	sweep(b);
	module_engine_divide(b->uses, time_ns, slice_nj);
}

static int64_t energy_nj(const struct watt_energy *energy)
{
	int64_t sum_nj = 0;
	size_t i;

	for (i = 0; i < ENGINE_UNITS; i++)
		sum_nj += watt_energy_to_nj(energy[i]);
	return sum_nj;
}

static void look(struct bench *b)
{
	struct watt_look_opts opts = { .t_ns = b->t_ns };

	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
}

static int64_t process_nj(const struct bench *b, uint32_t process)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity->kind == WATT_ENTITY_PROCESS &&
		    row->entity->identity->pid == 100 + process)
			return energy_nj(row->energy);
	}
	return 0;
}

static void check_same(struct bench *b)
{
	int64_t total_nj = 0, idle_nj = 0, given_nj = 0;
	uint64_t idle_uw = 0;
	uint32_t i;

	look(b);
	for (i = 0; i < ENGINE_UNITS; i++) {
		const struct watt_domain_state *state = watt_snapshot_get_domain_state(b->snap, i);

		total_nj += watt_energy_to_nj(state->energy);
		idle_nj += watt_energy_to_nj(state->idle) + watt_energy_to_nj(state->unattributed);
		idle_uw += state->baseline_uw;
	}
	for (i = 0; i < N_PROCESSES; i++) {
		assert_int_equal(module_engine_process_nj(i), process_nj(b, i));
		given_nj += process_nj(b, i);
	}
	assert_int_equal(module_engine_total_nj(), total_nj);
	assert_int_equal(module_engine_idle_nj(), idle_nj);
	assert_int_equal(module_engine_idle_uw(), idle_uw);
	assert_int_equal(module_engine_n_failures(), 0);
	assert_int_equal(given_nj + idle_nj, total_nj);
}

/* Of no idle power yet, of one that was seen, and of slices of any length. */
static void test_machine_that_rests(void **state)
{
	struct bench b;
	unsigned int i;

	open_bench(&b, 3);
	for (i = 0; i < 600; i++) {
		const uint64_t permille[ENGINE_UNITS] = { i % 3 ? 20 : rnd(&b, 900),
							  i % 5 ? rnd(&b, 900) : 10 };

		live(&b, MS + rnd(&b, 200 * MS), permille);
		if (i % 20 == 0)
			check_same(&b);
	}
	check_same(&b);
	assert_in_range(module_engine_idle_uw(), 19 * 1000000, 22 * 1000000);
	close_bench(&b);
}

/* Never seen idle: a line leads there, and with each point to somewhere else. */
static void test_machine_that_never_rests(void **state)
{
	struct bench b;
	unsigned int i;

	open_bench(&b, 5);
	for (i = 0; i < 600; i++) {
		const uint64_t permille[ENGINE_UNITS] = { 200 + rnd(&b, 800), 100 + rnd(&b, 900) };

		live(&b, 50 * MS, permille);
		if (i % 20 == 0)
			check_same(&b);
	}
	check_same(&b);
	assert_in_range(module_engine_idle_uw(), 14 * 1000000, 30 * 1000000);
	close_bench(&b);
}

/* Nobody runs on one package, then on none, and then they are back. */
static void test_nobody(void **state)
{
	struct bench b;
	unsigned int i;

	open_bench(&b, 7);
	for (i = 0; i < 200; i++) {
		const uint64_t permille[ENGINE_UNITS] = { i % 4 < 2 ? 500 : 0,
							  i % 4 == 1 ? 500 : 0 };

		live(&b, 100 * MS, permille);
		check_same(&b);
	}
	close_bench(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine_that_rests),
		cmocka_unit_test(test_machine_that_never_rests),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests_name("engines", tests, NULL, NULL);
}
