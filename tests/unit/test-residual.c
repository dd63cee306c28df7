/* SPDX-License-Identifier: Apache-2.0 */
/* Residuals of lib/attrib/ledger.c: what is left of a whole without its parts. */
#include "channel.h"
#include "unit.h"

#include <math.h>

#include <wattribute/total.h>

#include "attrib/state.h"

#define MS 1000000ULL

static const struct watt_channel package =
	CHANNEL("p", "package-0", WATT_DOMAIN_PACKAGE, .package_id = 0);

/* Of everything below a domain; a power is that of an instant. */
static struct watt_channel total_of(const char *domain, enum watt_quantity quantity)
{
	return (struct watt_channel)CHANNEL("t", domain, WATT_DOMAIN_TOTAL, .package_id = -1,
					    .quantity = quantity,
					    .semantics = quantity == WATT_QUANTITY_POWER ?
								 WATT_SEMANTICS_INSTANT :
								 WATT_SEMANTICS_COUNTER);
}

struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_usage records[64];
	size_t n;
	struct watt_snapshot *snap;
};

static void close_bench(struct bench *b)
{
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

static void sweep(struct bench *b, uint64_t t_ms, uint32_t flags)
{
	struct watt_usage_batch batch = { .t_before_ns = t_ms * MS,
					  .t_after_ns = t_ms * MS,
					  .records = b->records,
					  .n_records = b->n,
					  .flags = flags };

	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	b->n = 0;
}

/* Ends a slice at t_ms; the package takes 1 W all the time. */
static void end_slice(struct bench *b, uint64_t t_ms, uint32_t flags)
{
	struct watt_sample sample = { .t_before_ns = t_ms * MS,
				      .t_after_ns = t_ms * MS,
				      .raw = (int64_t)(t_ms * MS) };

	sweep(b, t_ms, flags);
	assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
}

static void snapshot(struct bench *b, uint64_t t_ms)
{
	struct watt_look_opts opts = { .t_ns = t_ms * MS };

	assert_true(watt_attrib_advance(b->at, b->tl, t_ms * MS) >= 0);
	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->sum_failures, 0);
}

/*
 * A total that counts less than its parts is not believed: nobody gets a negative rest, and the
 * machine's energy is that of the parts. Jitter, and a total that catches up, lose nothing.
 */
static void test_total_below_its_parts(void **state)
{
	const struct watt_channel total = total_of("psys", WATT_QUANTITY_ENERGY);
	const struct watt_channel *const channels[] = { &package, &total };
	static const uint16_t slots[1] = { 0 };
	static const struct {
		int64_t percent; /* of what the package counts */
		bool is_usable;
	} cases[] = { { 50, false }, { 97, false }, { 100, true }, { 120, true } };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_attrib_opts opts = { .channels = channels,
						 .n_channels = 2,
						 .cpu_slot = slots,
						 .n_cpus = 1,
						 .n_slots = 1 };
		const struct watt_domain_state *psys, *rest;
		struct bench b = { 0 };
		uint64_t t_ms, clamped_ns = 0;
		int64_t rest_nj;

		assert_int_equal(watt_timeline_new(channels, 2, &b.tl), 0);
		assert_int_equal(watt_attrib_new(&opts, &b.at), 0);
		for (t_ms = 1000; t_ms <= 101000; t_ms += 1000) {
			/* what it does not count in one second it counts in the next */
			int64_t jitter_nj = t_ms % 2000 ? 0 : -200000000;
			struct watt_sample sample = {
				t_ms * MS, t_ms * MS,
				(int64_t)(t_ms * MS) / 100 * cases[i].percent + jitter_nj, 1, 0
			};

			assert_int_equal(watt_timeline_push(b.tl, &sample), 0);
			end_slice(&b, t_ms, WATT_BATCH_FULL);
			snapshot(&b, t_ms);
			rest = watt_snapshot_get_domain_state(b.snap, 2);
			assert_true(rest->window_nj >= 0 && rest->window_unattributed_nj >= 0);
			clamped_ns += rest->window_clamped_ns;
			assert_int_equal(rest->clamped_ns, clamped_ns);
		}
		psys = watt_snapshot_get_domain_state(b.snap, 0);
		assert_string_equal(watt_snapshot_get_domain(b.snap, 2)->name, "residual");
		assert_int_equal(psys->is_usable, cases[i].is_usable);
		/* from where it began, always; what only lags, half of the time; and never */
		assert_int_equal(clamped_ns / 1000000000, cases[i].percent < 100  ? 100 :
							  cases[i].percent == 100 ? 50 :
										    0);
		assert_int_equal(rest->is_usable, cases[i].is_usable);
		rest_nj = cases[i].percent > 100 ? (cases[i].percent - 100) * 1000000000 : 0;
		assert_int_equal(watt_energy_to_nj(rest->energy), rest_nj);
		assert_int_equal(
			watt_energy_to_nj(watt_snapshot_get_domain_state(b.snap, 1)->energy),
			100000000000);
		close_bench(&b);
	}
}

/* One rail never answers, so the rest can't be known: that costs no memory of the others. */
static void test_stands_still(void **state)
{
	const struct watt_channel total = total_of("in", WATT_QUANTITY_ENERGY);
	static const struct watt_channel silent =
		CHANNEL("s", "dram-0", WATT_DOMAIN_DRAM, .package_id = 0);
	const struct watt_channel *const channels[] = { &package, &total, &silent };
	static const uint16_t slots[1] = { 0 };
	struct watt_attrib_opts opts = {
		.channels = channels, .n_channels = 3, .cpu_slot = slots, .n_cpus = 1, .n_slots = 1
	};
	struct bench b = { 0 };
	watt_i128 energy_nj;
	uint64_t t_ms;

	assert_int_equal(watt_timeline_new(channels, 3, &b.tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b.at), 0);
	for (t_ms = 100; t_ms <= 70000; t_ms += 100) {
		struct watt_sample sample = { t_ms * MS, t_ms * MS, (int64_t)(2 * t_ms * MS), 1,
					      0 };

		assert_int_equal(watt_timeline_push(b.tl, &sample), 0);
		end_slice(&b, t_ms, WATT_BATCH_FULL);
		assert_true(watt_attrib_advance(b.at, b.tl, t_ms * MS) >= 0);
	}
	assert_int_equal(watt_timeline_energy_nj(b.tl, 0, 5000 * MS, &energy_nj), -ENODATA);
	assert_int_equal(watt_timeline_energy_nj(b.tl, 1, 5000 * MS, &energy_nj), -ENODATA);
	assert_int_equal(watt_timeline_energy_nj(b.tl, 1, 69000 * MS, &energy_nj), 0);
	close_bench(&b);
}

/* What a residual has no energy for is what its whole or any of its parts has none for. */
static void test_has_the_gaps_of_all(void **state)
{
	const struct watt_channel total = total_of("in", WATT_QUANTITY_POWER);
	struct watt_channel part[2] = { total, total };
	const struct watt_channel *const channels[] = { &total, &part[0], &part[1] };
	static const uint16_t slots[1] = { 0 };
	struct watt_attrib_opts opts = {
		.channels = channels, .n_channels = 3, .cpu_slot = slots, .n_cpus = 1, .n_slots = 1
	};
	const struct watt_domain_state *rest;
	struct bench b = { 0 };
	uint64_t t_ms;
	uint32_t c;

	part[0].domain = "in/cpu";
	part[0].kind = WATT_DOMAIN_CPU_RAIL;
	part[1].domain = "in/other";
	part[1].kind = WATT_DOMAIN_RAIL;
	assert_int_equal(watt_timeline_new(channels, 3, &b.tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b.at), 0);
	for (t_ms = 100; t_ms <= 20000; t_ms += 100) {
		for (c = 0; c < 3; c++) {
			/* one part is silent from 1 to 5 s and from 10 to 11 s, the other from
			 * 3 to 8.9 s: 8.9 s of two gaps, told apart from slice to slice; and the
			 * whole for 2 s: only there is nothing known of what is left of it */
			bool is_out = c == 1 ? (t_ms > 1000 && t_ms < 5000) ||
						       (t_ms > 10000 && t_ms < 11000) :
				      c == 2 ? t_ms > 3000 && t_ms < 8900 :
					       t_ms > 12000 && t_ms < 14000;
			struct watt_sample sample = { t_ms * MS, t_ms * MS,
						      is_out ? 0 :
						      c      ? 1000000 :
							       3000000,
						      c,
						      is_out ? WATT_STATUS_NODATA :
							       WATT_STATUS_OK };

			assert_int_equal(watt_timeline_push(b.tl, &sample), 0);
		}
		sweep(&b, t_ms, WATT_BATCH_FULL);
		assert_true(watt_attrib_advance(b.at, b.tl, t_ms * MS) >= 0);
		if (t_ms == 4000) {
			snapshot(&b, t_ms);
			rest = watt_snapshot_get_domain_state(b.snap, 3);
			assert_int_equal(rest->status, WATT_STATUS_OK); /* it waits for neither */
		}
	}
	snapshot(&b, 20000);
	assert_string_equal(watt_snapshot_get_domain(b.snap, 3)->name, "residual");
	rest = watt_snapshot_get_domain_state(b.snap, 3);
	assert_int_equal(rest->status, WATT_STATUS_OK);
	assert_int_equal(rest->gaps, 3);
	assert_int_equal(rest->gap_ns, 10900 * MS);
	assert_int_equal(rest->unknown_ns, 2000 * MS);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, 0)->gaps, 1);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, 1)->gap_ns, 5000 * MS);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, 1)->unknown_ns, 5000 * MS);
	close_bench(&b);
}

static int64_t energy_nj(const struct bench *b, size_t domain)
{
	return watt_energy_to_nj(watt_snapshot_get_domain_state(b->snap, domain)->energy);
}

/*
 * A part is gone from 5 to 8 s, and from 15 s to the end: nobody waits for it, and what it took is
 * in the residual, so that the machine has all that its whole has at each instant. It is not the
 * part's, too, when its counter tells of it later.
 */
static void test_has_what_a_part_did_not_tell(void **state)
{
	const struct watt_channel total = total_of("in", WATT_QUANTITY_ENERGY);
	const struct watt_channel *const channels[] = { &package, &total };
	static const uint16_t slots[1] = { 0 };
	struct watt_attrib_opts opts = {
		.channels = channels, .n_channels = 2, .cpu_slot = slots, .n_cpus = 1, .n_slots = 1
	};
	const struct watt_domain_state *part;
	struct bench b = { 0 };
	uint64_t t_ms;

	assert_int_equal(watt_timeline_new(channels, 2, &b.tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b.at), 0);
	for (t_ms = 100; t_ms <= 20000; t_ms += 100) {
		bool is_gone = (t_ms > 5000 && t_ms < 8000) || t_ms > 15000;
		struct watt_sample samples[2] = {
			{ t_ms * MS, t_ms * MS, is_gone ? 0 : (int64_t)(t_ms * MS), 0,
			  is_gone ? WATT_STATUS_ABSENT : WATT_STATUS_OK },
			{ t_ms * MS, t_ms * MS, (int64_t)(3 * t_ms * MS), 1, 0 },
		};
		struct watt_total sum = { .sz = sizeof(sum) };

		assert_int_equal(watt_timeline_push(b.tl, &samples[0]), 0);
		assert_int_equal(watt_timeline_push(b.tl, &samples[1]), 0);
		sweep(&b, t_ms, WATT_BATCH_FULL);
		snapshot(&b, t_ms);
		assert_int_equal(energy_nj(&b, 0), (int64_t)(t_ms - 100) * 3 * 1000000);
		assert_int_equal(energy_nj(&b, 1) + energy_nj(&b, 2), energy_nj(&b, 0));
		assert_true(watt_snapshot_get_domain_state(b.snap, 0)->is_usable);
		assert_int_equal(watt_snapshot_get_total(b.snap, &sum), 0);
		assert_int_equal(watt_energy_to_nj(sum.energy), energy_nj(&b, 0));
		/* and in the window in which the part comes back */
		assert_true(t_ms == 100 || fabs(sum.power_w - 3) < 1e-9);
	}
	assert_string_equal(watt_snapshot_get_domain(b.snap, 2)->name, "residual");
	part = watt_snapshot_get_domain_state(b.snap, 1);
	assert_int_equal(energy_nj(&b, 1), (4900 + 7100) * 1000000LL);
	assert_int_equal(part->t_ns, 15000 * MS);
	assert_int_equal(part->gaps, 1);
	assert_int_equal(part->gap_ns, 2900 * MS);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, 2)->clamped_ns, 0);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, 2)->gap_ns, 7900 * MS);
	close_bench(&b);
}

/* A whole that tells once a second: a part's power is that of its own window, which is shorter. */
static void test_waits_for_a_slow_whole(void **state)
{
	const struct watt_channel total = total_of("in", WATT_QUANTITY_ENERGY);
	const struct watt_channel *const channels[] = { &package, &total };
	static const uint16_t slots[1] = { 0 };
	struct watt_attrib_opts opts = {
		.channels = channels, .n_channels = 2, .cpu_slot = slots, .n_cpus = 1, .n_slots = 1
	};
	struct bench b = { 0 };
	uint64_t t_ms;

	assert_int_equal(watt_timeline_new(channels, 2, &b.tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b.at), 0);
	for (t_ms = 100; t_ms <= 5100; t_ms += 100) {
		struct watt_sample samples[2] = {
			{ t_ms * MS, t_ms * MS, (int64_t)(t_ms * MS), 0, 0 },
			{ t_ms * MS, t_ms * MS, (int64_t)(3 * t_ms * MS), 1, 0 },
		};
		struct watt_total sum = { .sz = sizeof(sum) };
		bool has_told = t_ms % 1000 == 100;

		assert_int_equal(watt_timeline_push(b.tl, &samples[0]), 0);
		if (has_told)
			assert_int_equal(watt_timeline_push(b.tl, &samples[1]), 0);
		sweep(&b, t_ms, WATT_BATCH_FULL);
		snapshot(&b, t_ms);
		assert_int_equal(watt_snapshot_get_total(b.snap, &sum), 0);
		assert_true(t_ms == 100 || fabs(sum.power_w - (has_told ? 3 : 1)) < 1e-9);
	}
	close_bench(&b);
}

/*
 * A total of which nobody knows how old it is: its residual is transient in the seconds around a
 * step of its parts, and in no others.
 */
static void test_transient(void **state)
{
	struct watt_channel total = total_of("node", WATT_QUANTITY_POWER);
	const struct watt_channel *const channels[] = { &package, &total };
	static const uint16_t slots[1] = { 0 };
	const struct watt_attrib_opts opts = {
		.channels = channels, .n_channels = 2, .cpu_slot = slots, .n_cpus = 1, .n_slots = 1
	};
	const struct watt_domain_state *rest;
	uint64_t t_ms, transient_ns = 0;
	struct bench b = { 0 };

	total.flags = WATT_CHANNEL_AGE_UNKNOWN;
	total.period_ns = 1000 * MS;
	assert_int_equal(watt_timeline_new(channels, 2, &b.tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b.at), 0);
	for (t_ms = 1000; t_ms <= 60000; t_ms += 1000) {
		/* 10 W, and from 30 s on 110 W; the total has 40 W more, and shows it 2 s later */
		int64_t package_uj = (int64_t)t_ms * 10000 +
				     (t_ms > 30000 ? (int64_t)(t_ms - 30000) * 100000 : 0);
		struct watt_usage_batch batch = { .t_before_ns = t_ms * MS,
						  .t_after_ns = t_ms * MS,
						  .flags = WATT_BATCH_FULL };
		struct watt_sample parts = { t_ms * MS, t_ms * MS, package_uj * 1000, 0, 0 };
		struct watt_sample whole = { t_ms * MS, t_ms * MS,
					     t_ms > 32000 ? 150000000 : 50000000, 1, 0 };

		assert_int_equal(watt_attrib_push_usage(b.at, &batch), 0);
		assert_int_equal(watt_timeline_push(b.tl, &parts), 0);
		assert_int_equal(watt_timeline_push(b.tl, &whole), 0);
		snapshot(&b, t_ms);
		rest = watt_snapshot_get_domain_state(b.snap, 2);
		transient_ns += rest->window_transient_ns;
		assert_int_equal(rest->transient_ns, transient_ns);
		/* a reading may be of 8 s before it, a line of the second before that, too */
		if (t_ms <= 30000 || t_ms > 41000)
			assert_int_equal(rest->window_transient_ns, 0);
		if (t_ms > 31000 && t_ms <= 39000)
			assert_int_equal(rest->window_transient_ns, 1000 * MS);
	}
	assert_string_equal(watt_snapshot_get_domain(b.snap, 2)->name, "residual");
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, 0)->transient_ns, 0);
	close_bench(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_total_below_its_parts),
		cmocka_unit_test(test_transient),
		cmocka_unit_test(test_stands_still),
		cmocka_unit_test(test_has_the_gaps_of_all),
		cmocka_unit_test(test_has_what_a_part_did_not_tell),
		cmocka_unit_test(test_waits_for_a_slow_whole),
	};

	return cmocka_run_group_tests_name("residual", tests, NULL, NULL);
}
