/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/tree.c and ledger.c: what comes while a session runs joins the tree, exactly. */
#include "unit.h"

#include <wattribute/total.h>

#include "attrib/attrib.h"

#define MS 1000000ULL
#define STEP_MS 100
#define MAX_CHANNELS 4

/* Channels by their numbers, and the watts that each takes. */
enum {
	TOTAL,
	CPU,
	LATE,
	LATER,
};

static const int64_t watts[MAX_CHANNELS] = { [TOTAL] = 100, [CPU] = 20, [LATE] = 30, [LATER] = 7 };

#define CHANNEL(name_, domain_, kind_) \
	{ \
		.name = name_, .source = "t", .domain = domain_, .kind = kind_, .scale_num = 1, \
		.scale_den = 1, .package_id = -1, .die_id = -1, .core_id = -1 \
	}

struct bench {
	struct watt_channel channels[MAX_CHANNELS];
	const struct watt_channel *list[MAX_CHANNELS];
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_snapshot *snap;
	size_t n; /* channels that there are */
	uint64_t t_ms;
	uint64_t silent_until_ms[MAX_CHANNELS];
	uint64_t every_ms[MAX_CHANNELS];      /* 0: in each step */
	uint64_t zero_until_ms[MAX_CHANNELS]; /* stands at 0 until then, which is no value */
};

static void open_bench(struct bench *b, size_t n)
{
	struct watt_attrib_opts opts = { .channels = b->list, .n_channels = n };
	size_t i;

	for (i = 0; i < MAX_CHANNELS; i++)
		b->list[i] = &b->channels[i];
	b->n = n;
	assert_int_equal(watt_timeline_new(b->list, n, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
}

static void close_bench(struct bench *b)
{
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

static void grow(struct bench *b, size_t n)
{
	b->n = n;
	assert_int_equal(watt_timeline_grow(b->tl, b->list, n), 0);
	assert_int_equal(watt_attrib_grow(b->at, b->list, n), 0);
}

static void read_sensors(struct bench *b)
{
	uint32_t c;

	for (c = 0; c < b->n; c++) {
		/* in nJ, and never in step with the slices */
		uint64_t t_ns = b->t_ms * MS - 3 * MS;
		struct watt_sample sample = { t_ns, t_ns, (int64_t)t_ns * watts[c], c, 0 };

		if (b->zero_until_ms[c])
			sample.raw -= (int64_t)(b->zero_until_ms[c] * MS) * watts[c];
		if (sample.raw < 0) {
			sample.raw = 0;
			sample.status = WATT_STATUS_STUCK;
		}
		if (b->t_ms < b->silent_until_ms[c] || (b->every_ms[c] && b->t_ms % b->every_ms[c]))
			continue;
		assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
	}
}

/* A slice in which one task runs all the time. */
static void step(struct bench *b)
{
	struct watt_usage u = { .start_ns = 1,
				.leader_start_ns = 1,
				.cgroup_id = 1,
				.tid = 9,
				.tgid = 9,
				.comm = "task" };
	struct watt_usage_batch batch = { .records = &u, .n_records = 1, .flags = WATT_BATCH_FULL };

	b->t_ms += STEP_MS;
	u.t_ns = u.cpu_ns = batch.t_before_ns = batch.t_after_ns = b->t_ms * MS;
	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	read_sensors(b);
	assert_true(watt_attrib_advance(b->at, b->tl, b->t_ms * MS) >= 0);
}

static void run_until(struct bench *b, uint64_t t_ms)
{
	while (b->t_ms < t_ms)
		step(b);
}

static void snapshot(struct bench *b)
{
	struct watt_look_opts opts = { .t_ns = b->t_ms * MS };

	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_domain_count(b->snap), watt_attrib_domain_count(b->at));
}

static size_t domain_of(const struct bench *b, const char *path)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_domain_count(b->snap); i++)
		if (!strcmp(watt_snapshot_get_domain(b->snap, i)->path, path))
			return i;
	fail_msg("no domain %s", path);
	return 0;
}

static const struct watt_domain_state *state_of(const struct bench *b, const char *path)
{
	return watt_snapshot_get_domain_state(b->snap, domain_of(b, path));
}

/* Whole and parts, each from where it counts, up to where all of them are. */
static void check_residual(const struct bench *b, const char *residual, int64_t expected_nj)
{
	assert_int_equal(watt_energy_to_nj(state_of(b, residual)->energy), expected_nj);
	assert_int_equal(state_of(b, residual)->is_usable, 1);
	assert_int_equal(watt_energy_to_nj(state_of(b, residual)->late), 0);
}

/* A part that comes is taken out of the residual from its first slice on, to the last nJ. */
static void test_part_of_a_residual(void **state)
{
	struct bench b = { .channels = { CHANNEL("t", "in", WATT_DOMAIN_TOTAL),
					 CHANNEL("c", "in/cpu", WATT_DOMAIN_CPU_RAIL),
					 CHANNEL("l", "in/gpu", WATT_DOMAIN_RAIL) } };
	int64_t total_nj, cpu_nj, late_nj;
	const struct watt_domain *in;
	size_t rest;

	open_bench(&b, 2);
	run_until(&b, 2000);
	snapshot(&b);
	rest = domain_of(&b, "in/residual");
	in = watt_attrib_domain(b.at, domain_of(&b, "in"));
	check_residual(&b, "in/residual",
		       watt_energy_to_nj(state_of(&b, "in")->energy) -
			       watt_energy_to_nj(state_of(&b, "in/cpu")->energy));
	b.silent_until_ms[LATE] = 2500;
	grow(&b, 3);
	assert_ptr_equal(watt_attrib_domain(b.at, domain_of(&b, "in")), in);
	run_until(&b, 2400); /* it has come, and says nothing yet: nobody waits */
	snapshot(&b);
	assert_int_equal(state_of(&b, "in/residual")->t_ns, 2300 * MS);
	run_until(&b, 6000);
	snapshot(&b);
	assert_int_equal(domain_of(&b, "in/residual"), rest);
	assert_int_equal(domain_of(&b, "in/gpu"), 3);
	assert_int_equal(watt_snapshot_get_domain(b.snap, 3)->is_partition, 1);
	assert_int_equal(watt_snapshot_get_domain(b.snap, 3)->parent, (int32_t)domain_of(&b, "in"));
	total_nj = watt_energy_to_nj(state_of(&b, "in")->energy);
	cpu_nj = watt_energy_to_nj(state_of(&b, "in/cpu")->energy);
	late_nj = watt_energy_to_nj(state_of(&b, "in/gpu")->energy);
	assert_int_equal(state_of(&b, "in/gpu")->status, WATT_STATUS_OK);
	assert_true(late_nj > 3000 * (int64_t)MS * 30 && late_nj < 4000 * (int64_t)MS * 30);
	check_residual(&b, "in/residual", total_nj - cpu_nj - late_nj);
	close_bench(&b);
}

/* One with a long period: the residual waits for it from its first reading on, not before. */
static void test_slow_part(void **state)
{
	struct bench b = { .channels = { CHANNEL("t", "in", WATT_DOMAIN_TOTAL),
					 CHANNEL("c", "in/cpu", WATT_DOMAIN_CPU_RAIL),
					 CHANNEL("l", "in/gpu", WATT_DOMAIN_RAIL),
					 CHANNEL("m", "in/fan", WATT_DOMAIN_RAIL) } };

	open_bench(&b, 2);
	run_until(&b, 1000);
	b.silent_until_ms[LATE] = 4000;
	b.every_ms[LATE] = 2000;
	b.silent_until_ms[LATER] = UINT64_MAX;
	grow(&b, 4);
	run_until(&b, 3900);
	snapshot(&b);
	assert_int_equal(state_of(&b, "in/residual")->t_ns, 3800 * MS);
	assert_int_equal(state_of(&b, "in/gpu")->status, WATT_STATUS_PENDING);
	run_until(&b, 9900);
	snapshot(&b);
	/* up to the newest reading of the slow one */
	assert_int_equal(state_of(&b, "in/gpu")->t_ns, 7900 * MS);
	assert_int_equal(state_of(&b, "in/residual")->t_ns, 7900 * MS);
	assert_int_equal(state_of(&b, "in/fan")->status, WATT_STATUS_PENDING);
	assert_int_equal(state_of(&b, "in/residual")->status, WATT_STATUS_OK);
	/* its readings go by 2 s, in between it is a line: 30 W from its first slice on */
	check_residual(&b, "in/residual",
		       ((7900 - 100) * (100 - 20)) * (int64_t)MS -
			       watt_energy_to_nj(state_of(&b, "in/gpu")->energy));
	/* whoever says nothing for as long as anybody waits for a next reading is not early */
	run_until(&b, 11200);
	snapshot(&b);
	assert_int_equal(state_of(&b, "in/fan")->status, WATT_STATUS_STALE);
	assert_int_equal(state_of(&b, "in/fan")->samples, 0);
	assert_int_equal(state_of(&b, "in/residual")->status, WATT_STATUS_OK);
	b.silent_until_ms[LATER] = 0;
	run_until(&b, 11500);
	snapshot(&b);
	assert_int_equal(state_of(&b, "in/fan")->status, WATT_STATUS_OK);
	close_bench(&b);
}

/* One that was there at the beginning, too; the machine's sum says that it lacks it. */
static void test_never_speaks(void **state)
{
	struct bench b = { .channels = { CHANNEL("p", "package-0", WATT_DOMAIN_PACKAGE),
					 CHANNEL("q", "package-1", WATT_DOMAIN_PACKAGE) } };
	struct watt_total total = { .sz = sizeof(total) };

	b.channels[1].period_ns = 100 * MS;
	b.silent_until_ms[1] = UINT64_MAX;
	open_bench(&b, 2);
	run_until(&b, 2000);
	snapshot(&b);
	assert_int_equal(state_of(&b, "package-1")->status, WATT_STATUS_PENDING);
	assert_int_equal(watt_snapshot_get_total(b.snap, &total), 0);
	assert_int_equal(total.status, WATT_STATUS_PENDING);
	assert_string_equal(total.missing, "");
	run_until(&b, 3000); /* 2 s, and four times the period */
	snapshot(&b);
	assert_int_equal(state_of(&b, "package-1")->status, WATT_STATUS_STALE);
	assert_int_equal(watt_snapshot_get_total(b.snap, &total), 0);
	assert_int_equal(total.status, WATT_STATUS_STALE);
	assert_int_equal(total.n_known, 1);
	assert_string_equal(total.missing, "package-1");
	close_bench(&b);
}

/* Roots add to the machine from then on; what would be counted twice is beside it. */
static void test_roots(void **state)
{
	struct bench b = { .channels = { CHANNEL("p", "package-0", WATT_DOMAIN_PACKAGE),
					 CHANNEL("g", "gpu-0", WATT_DOMAIN_GPU),
					 CHANNEL("c", "package-0/core", WATT_DOMAIN_CORES),
					 CHANNEL("t", "psys", WATT_DOMAIN_TOTAL) } };
	const struct watt_domain *package;
	const struct watt_row *row;
	size_t i;

	open_bench(&b, 1);
	package = watt_attrib_domain(b.at, 0);
	run_until(&b, 1000);
	snapshot(&b);
	grow(&b, 4);
	run_until(&b, 3000);
	snapshot(&b);
	assert_int_equal(watt_snapshot_get_domain(b.snap, 1)->is_summed, 1);
	assert_int_equal(watt_snapshot_get_domain(b.snap, 1)->is_partition, 1);
	assert_int_equal(watt_snapshot_get_domain(b.snap, 2)->parent, 0);
	assert_int_equal(watt_snapshot_get_domain(b.snap, 2)->is_partition, 0);
	assert_int_equal(watt_snapshot_get_domain(b.snap, 3)->parent, -1);
	assert_int_equal(watt_snapshot_get_domain(b.snap, 3)->is_summed, 0);
	assert_int_equal(watt_snapshot_get_domain(b.snap, 3)->is_partition, 0);
	/* it is shown above them, who keep their numbers and are what is added */
	assert_int_equal(watt_snapshot_get_domain(b.snap, 0)->parent, 3);
	assert_int_equal(watt_snapshot_get_domain(b.snap, 0)->is_summed, 1);
	assert_int_equal(watt_snapshot_get_domain(b.snap, 1)->parent, 3);
	assert_int_equal(package->parent, -1); /* what somebody has does not change */
	assert_ptr_not_equal(watt_attrib_domain(b.at, 0), package);
	for (i = 0; i < 4; i++)
		assert_true(watt_energy_to_nj(watt_snapshot_get_domain_state(b.snap, i)->energy) >
			    0);
	for (i = 0; i < watt_snapshot_get_row_count(b.snap); i++) {
		row = watt_snapshot_get_row(b.snap, i);
		if (row->entity->kind == WATT_ENTITY_PROCESS) {
			assert_true(watt_energy_to_nj(row->energy[2]) > 0);
			assert_true(watt_energy_to_nj(row->energy[3]) > 0);
		}
	}
	close_bench(&b);
}

/* A counter that moves from 0 has counted all of that while the session ran. */
static void test_counts_from_zero(void **state)
{
	struct bench b = { .channels = { CHANNEL("p", "package-0", WATT_DOMAIN_PACKAGE),
					 CHANNEL("g", "gpu-0", WATT_DOMAIN_GPU) } };
	const struct watt_domain_state *gpu;

	b.zero_until_ms[CPU] = 1000;
	open_bench(&b, 2);
	run_until(&b, 1000);
	snapshot(&b);
	assert_int_equal(state_of(&b, "gpu-0")->status, WATT_STATUS_STUCK);
	assert_int_equal(watt_energy_to_nj(state_of(&b, "gpu-0")->energy), 0);
	run_until(&b, 3000);
	snapshot(&b);
	gpu = state_of(&b, "gpu-0");
	assert_int_equal(gpu->status, WATT_STATUS_OK);
	assert_true(gpu->t_ns >= 2000 * MS);
	assert_int_equal(watt_energy_to_nj(gpu->energy), (int64_t)(gpu->t_ns - 1000 * MS) * 20);
	close_bench(&b);
}

/* What it had counted before it told was the rest's: a whole is never counted twice. */
static void test_part_counts_from_zero(void **state)
{
	struct bench b = { .channels = { CHANNEL("t", "in", WATT_DOMAIN_TOTAL),
					 CHANNEL("c", "in/cpu", WATT_DOMAIN_CPU_RAIL),
					 CHANNEL("l", "in/gpu", WATT_DOMAIN_RAIL) } };

	open_bench(&b, 2);
	run_until(&b, 1000);
	b.zero_until_ms[LATE] = 2000;
	grow(&b, 3);
	run_until(&b, 6000);
	snapshot(&b);
	assert_int_equal(state_of(&b, "in/gpu")->status, WATT_STATUS_OK);
	check_residual(&b, "in/residual",
		       watt_energy_to_nj(state_of(&b, "in")->energy) -
			       watt_energy_to_nj(state_of(&b, "in/cpu")->energy) -
			       watt_energy_to_nj(state_of(&b, "in/gpu")->energy));
	close_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_part_of_a_residual),
		cmocka_unit_test(test_slow_part),
		cmocka_unit_test(test_never_speaks),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_counts_from_zero),
		cmocka_unit_test(test_part_counts_from_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
