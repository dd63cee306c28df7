/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals that last: sixty years at 10 kW a domain, through samples, curves, ledgers, accounts,
 * snapshots and JSON, live and in replay. int64 nJ end after eleven days of it.
 */
#include "unit.h"

#include <inttypes.h>

#include <wattribute/json.h>

#include "base/clock.h"
#include "executor.h"
#include "record/chunk.h"

#define DAY_NS (86400 * WATT_NSEC_PER_SEC)
#define STEP_NS (4 * DAY_NS)
#define N_STEPS 5500 /* 60 years */
#define POWER_W 10000
#define N_CHANNELS 2
#define START_NS (1000 * WATT_NSEC_PER_SEC)

/* One counts joules; the other one tells its power. */
static const struct watt_channel counter = {
	.name = "p0",
	.source = "t",
	.domain = "package-0",
	.kind = WATT_DOMAIN_PACKAGE,
	.package_id = -1,
	.die_id = -1,
	.core_id = -1,
	.scale_num = 1000000000,
	.scale_den = 1,
};
static const struct watt_channel meter = {
	.name = "p1",
	.source = "t",
	.domain = "package-1",
	.kind = WATT_DOMAIN_PACKAGE,
	.quantity = WATT_QUANTITY_POWER,
	.semantics = WATT_SEMANTICS_INSTANT,
	.package_id = -1,
	.die_id = -1,
	.core_id = -1,
	.scale_num = 1000000,
	.scale_den = 1,
};
static const struct watt_channel *const channels[N_CHANNELS] = { &counter, &meter };

struct machine {
	struct watt_executor *executor;
	struct watt_chunk chunk; /* what it was told */
	struct watt_predict predict;
	struct watt_snapshot *snap;
};

static struct watt_executor *executor_new(void)
{
	static const uint16_t cpu_slot[1];
	static const struct watt_setup setup = {
		.channels = channels,
		.n_channels = N_CHANNELS,
		.cpu_slot = cpu_slot,
		.n_cpus = 1,
		.n_slots = 1,
		.slice_ns = STEP_NS,
		.usage = "t",
	};
	struct watt_executor *executor;

	assert_int_equal(watt_executor_new(&setup, NULL, &executor), 0);
	return executor;
}

static void take(struct machine *m, struct watt_snapshot *snap)
{
	watt_snapshot_unref(m->snap);
	m->snap = snap;
}

static void tell(struct machine *m, const struct watt_op *op)
{
	union watt_executor_result result = { 0 };

	assert_int_equal(watt_chunk_put(&m->chunk, &m->predict, op), 0);
	assert_int_equal(watt_executor_apply(m->executor, op, &result), 0);
	if (op->kind == WATT_OP_SNAPSHOT)
		take(m, result.snapshot);
}

static void read_sensors(struct machine *m, uint64_t t_ns)
{
	int64_t used_j = (int64_t)((t_ns - START_NS) / WATT_NSEC_PER_SEC) * POWER_W;
	const struct watt_sample samples[N_CHANNELS] = {
		{ t_ns, t_ns, used_j, 0, WATT_STATUS_OK },
		{ t_ns, t_ns, POWER_W, 1, WATT_STATUS_OK },
	};
	const struct watt_op op = { .kind = WATT_OP_SAMPLES, .samples = { samples, N_CHANNELS } };

	tell(m, &op);
}

/* Two processes that share the CPU, one to two. */
static void sweep(struct machine *m, uint64_t t_ns)
{
	struct watt_usage records[2];
	struct watt_op op = { .kind = WATT_OP_USAGE,
			      .usage = { .t_before_ns = t_ns,
					 .t_after_ns = t_ns,
					 .records = records,
					 .n_records = 2,
					 .flags = WATT_BATCH_FULL } };
	uint32_t i;

	for (i = 0; i < 2; i++)
		records[i] = (struct watt_usage){ .t_ns = t_ns,
						  .cpu_ns = (t_ns - START_NS) / 3 * (i + 1),
						  .start_ns = 1,
						  .leader_start_ns = 1,
						  .cgroup_id = 7,
						  .tid = 10 + i,
						  .tgid = 10 + i,
						  .uid = 1000,
						  .comm = "task" };
	tell(m, &op);
}

static void step(struct machine *m, uint64_t t_ns)
{
	const struct watt_op advance = { .kind = WATT_OP_ADVANCE, .advance_ns = t_ns };

	read_sensors(m, t_ns);
	sweep(m, t_ns);
	tell(m, &advance);
}

static void look(struct machine *m, uint64_t t_ns)
{
	const struct watt_op op = { .kind = WATT_OP_SNAPSHOT,
				    .snapshot = { .t_ns = t_ns, .realtime_ns = t_ns } };

	tell(m, &op);
}

static const struct watt_row *row_of(const struct watt_snapshot *snap, enum watt_entity_kind kind)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++)
		if (watt_snapshot_get_row(snap, i)->entity->kind == kind)
			return watt_snapshot_get_row(snap, i);
	fail();
	return NULL;
}

static void check_energy(struct watt_energy energy, int64_t j)
{
	assert_int_equal(energy.j, j);
	assert_int_equal(energy.nj, 0);
}

static void check(const struct machine *m, int64_t used_j)
{
	const struct watt_quality *quality = watt_snapshot_get_quality(m->snap);
	struct watt_energy sum = { 0 };
	size_t d, i;

	assert_true(quality->checks > 0);
	assert_int_equal(quality->check_failures, 0);
	assert_int_equal(quality->sum_failures, 0);
	for (d = 0; d < N_CHANNELS; d++) {
		const struct watt_domain_state *state = watt_snapshot_get_domain_state(m->snap, d);

		check_energy(state->energy, used_j);
		assert_int_equal(state->resets + state->gaps + state->wraps, 0);
		assert_true(state->window_nj > 0);
	}
	for (i = 0; i < watt_snapshot_get_row_count(m->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(m->snap, i);

		if (row->entity->kind == WATT_ENTITY_PROCESS ||
		    row->entity->kind == WATT_ENTITY_IDLE ||
		    row->entity->kind == WATT_ENTITY_UNATTRIBUTED)
			sum = watt_energy_add(sum, row->total);
	}
	check_energy(sum, N_CHANNELS * used_j);
	check_energy(
		watt_energy_add(row_of(m->snap, WATT_ENTITY_USER)->total,
				watt_energy_add(row_of(m->snap, WATT_ENTITY_IDLE)->total,
						row_of(m->snap, WATT_ENTITY_UNATTRIBUTED)->total)),
		N_CHANNELS * used_j);
}

static void check_json(const struct machine *m, int64_t used_j)
{
	char exact[80], number[80], *text;

	assert_int_equal(watt_snapshot_to_json(m->snap, 0, &text), 0);
	snprintf(exact, sizeof(exact), "\"energy\":{\"j\":%" PRId64 ",\"nj\":0}", used_j);
	snprintf(number, sizeof(number), "\"energy_j\":%" PRId64 ".0", used_j);
	assert_non_null(strstr(text, exact));
	assert_non_null(strstr(text, number));
	free(text);
}

static void machine_done(struct machine *m)
{
	watt_snapshot_unref(m->snap);
	watt_executor_free(m->executor);
	watt_chunk_done(&m->chunk);
	watt_predict_done(&m->predict);
}

/* The same ops once more, as a recording has them: the same bytes. */
static void replay(const struct machine *m)
{
	struct machine again = { .executor = executor_new() };
	struct watt_chunk_reader *reader;
	struct watt_chunk_fault fault;
	char *live, *replayed;
	struct watt_op op;

	assert_int_equal(watt_chunk_reader_new(N_CHANNELS, &reader), 0);
	watt_chunk_reader_borrow(reader, &m->chunk);
	while (watt_chunk_reader_next(reader, &op, &fault) == 0) {
		union watt_executor_result result = { 0 };

		assert_int_equal(watt_executor_apply(again.executor, &op, &result), 0);
		if (op.kind == WATT_OP_SNAPSHOT)
			take(&again, result.snapshot);
	}
	assert_int_equal(watt_snapshot_to_json(m->snap, 0, &live), 0);
	assert_int_equal(watt_snapshot_to_json(again.snap, 0, &replayed), 0);
	assert_string_equal(live, replayed);
	free(live);
	free(replayed);
	watt_chunk_reader_free(reader);
	machine_done(&again);
}

static void test_decades(void **state)
{
	struct machine m = { .executor = executor_new() };
	int64_t used_j = 0;
	uint64_t i;

	watt_chunk_clear(&m.chunk);
	assert_int_equal(watt_predict_init(&m.predict, N_CHANNELS), 0);
	step(&m, START_NS);
	for (i = 1; i <= N_STEPS; i++) {
		step(&m, START_NS + i * STEP_NS);
		look(&m, START_NS + i * STEP_NS);
		used_j = (int64_t)(i * STEP_NS / WATT_NSEC_PER_SEC) * POWER_W;
		if (i < 4 || i % 500 == 0)
			check(&m, used_j);
	}
	assert_true(used_j > 18000000000000); /* 18 PJ */
	check_json(&m, used_j);
	replay(&m);
	machine_done(&m);
	(void)state;
}

/* Nobody looked for so long that the window is more than int64 nJ hold: it is said, once. */
static void test_long_window(void **state)
{
	const struct watt_op op = { .kind = WATT_OP_SNAPSHOT, .snapshot.t_ns = START_NS };
	struct machine m = { .executor = executor_new() };
	union watt_executor_result result;
	uint64_t i;

	watt_chunk_clear(&m.chunk);
	assert_int_equal(watt_predict_init(&m.predict, N_CHANNELS), 0);
	for (i = 0; i <= 10; i++)
		step(&m, START_NS + i * STEP_NS);
	assert_int_equal(watt_executor_apply(m.executor, &op, &result), -EOVERFLOW);
	step(&m, START_NS + 11 * STEP_NS);
	look(&m, START_NS + 11 * STEP_NS);
	check(&m, (int64_t)(11 * STEP_NS / WATT_NSEC_PER_SEC) * POWER_W);
	assert_int_equal(watt_snapshot_get_domain_state(m.snap, 0)->window_nj, STEP_NS * POWER_W);
	machine_done(&m);
	(void)state;
}

/* Sums stay between 0 and 999,999,999 nJ above whole joules, at the very edges too. */
static void test_edges(void **state)
{
	static const int64_t values[] = { 0,          1,  999999999,  1000000000,
					  1000000001, -1, -999999999, -1000000000 };
	size_t i, k;

	for (i = 0; i < WATT_ARRAY_SIZE(values); i++) {
		for (k = 0; k < WATT_ARRAY_SIZE(values); k++) {
			struct watt_energy a = watt_energy_from_nj(values[i]);
			struct watt_energy b = watt_energy_from_nj(values[k]);
			struct watt_energy sum = watt_energy_add(a, b);
			struct watt_energy rest = watt_energy_sub(a, b);

			assert_in_range(sum.nj, 0, 999999999);
			assert_in_range(rest.nj, 0, 999999999);
			assert_int_equal(sum.j * 1000000000 + sum.nj, values[i] + values[k]);
			assert_int_equal(rest.j * 1000000000 + rest.nj, values[i] - values[k]);
		}
	}
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decades),
		cmocka_unit_test(test_long_window),
		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
