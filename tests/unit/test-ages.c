/* SPDX-License-Identifier: Apache-2.0 */
/* How old slow readings are, found while they come: lib/timeline/ages.c, in no time. */
#include "unit.h"

#include <math.h>

#include <wattribute/json.h>

#include "attrib/attrib.h"
#include "base/util.h"
#include "timeline/history.h"
#include "timeline/timeline.h"

#define MS 1000000ULL
#define SECOND 1000000000ULL
#define FIRST_NS (100 * SECOND)
#define N_STEPS 12800 /* of 50 ms: 640 s */

static const struct watt_channel package = { .name = "p",
					     .source = "t",
					     .domain = "package-0",
					     .kind = WATT_DOMAIN_PACKAGE,
					     .quantity = WATT_QUANTITY_ENERGY,
					     .scale_num = 1,
					     .scale_den = 1 };
static struct watt_channel node = { .name = "n",
				    .source = "t",
				    .domain = "node",
				    .kind = WATT_DOMAIN_TOTAL,
				    .quantity = WATT_QUANTITY_POWER,
				    .semantics = WATT_SEMANTICS_INSTANT,
				    .flags = WATT_CHANNEL_AGE_UNKNOWN,
				    .scale_num = 1,
				    .scale_den = 1,
				    .period_ns = SECOND };
static const struct watt_channel *const channels[] = { &package, &node };

struct world {
	int64_t package_nj[N_STEPS + 1];
	int64_t node_nj[N_STEPS + 1];
	struct watt_timeline *tl;
	size_t step;
	size_t period;   /* steps from reading to reading of the node */
	int64_t seen_nj; /* of the node, at the newest instant that was known */
};

/* A load that changes at random, and a machine that takes a tenth and 90 W more. */
static struct world *make_slow(uint64_t seed, unsigned int period_s)
{
	struct world *w = calloc(1, sizeof(*w));
	int64_t package_w = 50;
	size_t i;

	for (i = 0; i < N_STEPS; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		if (seed >> 32 < UINT32_MAX / 100)
			package_w = 30 + (int64_t)(seed % 127);
		w->package_nj[i + 1] = w->package_nj[i] + package_w * 50000000;
		w->node_nj[i + 1] = w->node_nj[i] + (900 + package_w * 11) * 5000000;
	}
	w->period = (size_t)period_s * 20;
	node.period_ns = period_s * SECOND;
	assert_int_equal(watt_timeline_new(channels, 2, &w->tl), 0);
	return w;
}

static struct world *make(uint64_t seed)
{
	return make_slow(seed, 1);
}

static void done(struct world *w)
{
	watt_timeline_free(w->tl);
	free(w);
}

static uint64_t step_ns(size_t step)
{
	return FIRST_NS + step * 50 * MS;
}

/* The package at each step; the node each period, as it was so long ago, in whole watts. */
static void go_on(struct world *w, size_t steps, uint64_t delay_ns)
{
	size_t end = w->step + steps, delay = delay_ns / (50 * MS);

	for (; w->step < end; w->step++) {
		uint64_t t_ns = step_ns(w->step);
		struct watt_sample sample = { t_ns, t_ns, w->package_nj[w->step], 0, 0 };
		watt_i128 now_nj;

		assert_int_equal(watt_timeline_push(w->tl, &sample), 0);
		if (w->step % w->period || w->step < delay + 20)
			continue;
		sample.channel = 1;
		sample.raw = (w->node_nj[w->step - delay] - w->node_nj[w->step - delay - 20]) /
			     1000000000 * 1000000;
		assert_true(watt_timeline_push(w->tl, &sample) >= 0);
		/* whatever is found, what was known stays, and nothing goes back */
		if (watt_timeline_energy_nj(w->tl, 1, t_ns - 14 * SECOND, &now_nj) == 0) {
			assert_true(now_nj >= w->seen_nj);
			w->seen_nj = (int64_t)now_nj;
		}
	}
}

static int64_t energy_nj(const struct world *w, size_t step)
{
	watt_i128 value;

	assert_int_equal(watt_timeline_energy_nj(w->tl, 1, step_ns(step), &value), 0);
	return (int64_t)value;
}

/* What a snapshot, and a document of it, says of the age that was found. */
static void check_told(const struct world *w, const struct watt_age_found *age)
{
	static const uint16_t slots[1] = { 0 };
	const struct watt_attrib_opts opts = { .channels = channels,
					       .n_channels = 2,
					       .cpu_slot = slots,
					       .n_cpus = 1,
					       .n_slots = 1,
					       .horizon_ns = 60 * SECOND };
	static const char key[] = "\"found_delay_s\":";
	struct watt_look_opts look = { .t_ns = step_ns(w->step) };
	const struct watt_domain_state *state;
	struct watt_snapshot *snap;
	struct watt_attrib *at;
	const char *told;
	char *json;
	size_t i;

	assert_int_equal(watt_attrib_new(&opts, &at), 0);
	assert_int_equal(watt_attrib_snapshot(at, w->tl, &look, &snap), 0);
	for (i = 0; strcmp(watt_snapshot_get_domain(snap, i)->path, "node") != 0; i++)
		assert_true(i < watt_snapshot_get_domain_count(snap));
	state = watt_snapshot_get_domain_state(snap, i);
	assert_int_equal(state->found_delay_ns, age->delay_ns);
	assert_int_equal(state->found_delay_uncertainty_ns, age->uncertainty_ns);
	assert_int_equal(watt_snapshot_to_json(snap, 0, &json), 0);
	told = strstr(strstr(json, "\"path\":\"node\""), key);
	assert_non_null(told);
	if (age->uncertainty_ns)
		assert_true(strtod(told + strlen(key), NULL) == (double)age->delay_ns / 1e9);
	else
		assert_memory_equal(told + strlen(key), "null", 4);
	free(json);
	watt_snapshot_unref(snap);
	watt_attrib_free(at);
}

/*
 * Three minutes tell the age to 250 ms, of which half a second is the mean's; from then on each
 * step is where it was, and in ten minutes the energy is the machine's to 1 %.
 */
static void test_found_and_used(void **state)
{
	static const uint64_t delays_ns[] = { 200 * MS, 2500 * MS, 8 * SECOND };
	struct watt_age_found age;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(delays_ns); i++) {
		struct world *w = make(3);
		struct watt_curve_stats stats;
		int64_t found_nj, truth_nj;

		assert_int_equal(watt_timeline_get_age(w->tl, 1, &age), -ENODATA);
		check_told(w, &age);
		go_on(w, 3600, delays_ns[i]);
		assert_int_equal(watt_timeline_get_age(w->tl, 1, &age), 0);
		check_told(w, &age);
		assert_in_range(age.delay_ns + 250 * MS, delays_ns[i] + 500 * MS,
				delays_ns[i] + SECOND);
		assert_in_range(age.uncertainty_ns, 1, 250 * MS);
		go_on(w, N_STEPS - 3600, delays_ns[i]);
		found_nj = energy_nj(w, 12400) - energy_nj(w, 400);
		truth_nj = w->node_nj[12400] - w->node_nj[400];
		assert_in_range(found_nj, truth_nj / 100 * 99, truth_nj / 100 * 101);
		watt_timeline_get_stats(w->tl, 1, &stats);
		assert_int_equal(stats.disordered, 0);
		assert_int_equal(stats.gaps, 0);
		done(w);
	}
}

/* Of a BMC that tells little, the age is found by as many readings as of others. */
static void test_long_periods(void **state)
{
	static const struct {
		unsigned int period_s;
		size_t steps;
	} slow[] = { { 5, 3600 }, { 10, 3600 }, { 30, N_STEPS } };
	struct watt_age_found age;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(slow); i++) {
		struct world *w = make_slow(77, slow[i].period_s);
		uint64_t wrong_ns;

		go_on(w, slow[i].steps, 2500 * MS);
		assert_int_equal(watt_timeline_get_age(w->tl, 1, &age), 0);
		wrong_ns = age.delay_ns > 3000 * MS ? age.delay_ns - 3000 * MS :
						      3000 * MS - age.delay_ns;
		assert_in_range(wrong_ns, 0, 250 * MS);
		assert_in_range(wrong_ns, 0, 3 * age.uncertainty_ns);
		done(w);
	}
}

/* More is remembered from now on, of what is remembered nothing is lost. */
static void test_a_longer_history(void **state)
{
	struct watt_history history = { 0 };
	uint64_t step, end;

	assert_int_equal(watt_history_add(&history, FIRST_NS, 0, FIRST_NS + 300 * SECOND,
					  300 * (watt_i128)SECOND),
			 0);
	end = history.end;
	for (step = end; step < end + 5000; step++)
		assert_int_equal(watt_history_add(&history, (step - 1) * 50 * MS,
						  (watt_i128)(step - 1) * 50000000, step * 50 * MS,
						  (watt_i128)step * 50000000),
				 0);
	assert_int_equal(history.end - history.first, WATT_HISTORY_STEPS);
	assert_int_equal(watt_history_reserve(&history, 6000), 0);
	assert_int_equal(watt_history_reserve(&history, 5000), 0);
	assert_int_equal(history.end - history.first, WATT_HISTORY_STEPS);
	for (; step < end + 12000; step++) {
		assert_int_equal(watt_history_add(&history, (step - 1) * 50 * MS,
						  (watt_i128)(step - 1) * 50000000, step * 50 * MS,
						  (watt_i128)step * 50000000),
				 0);
		assert_in_range(history.end - history.first, WATT_HISTORY_STEPS, 6000);
	}
	assert_int_equal(history.end - history.first, 6000);
	for (step = history.first; step < history.end; step++)
		assert_int_equal((int64_t)(watt_history_get_j(&history, step) * 1000 + 0.5),
				 (int64_t)step * 50);
	assert_int_equal(watt_history_reserve(&history, 1 << 20), 0);
	assert_int_equal(history.n_steps, WATT_HISTORY_MAX_STEPS);
	watt_history_done(&history);
}

/* The BMC gets other firmware: what is found follows, and energy goes on. */
static void test_an_age_that_changes(void **state)
{
	struct world *w = make(4);
	struct watt_curve_stats stats;
	struct watt_age_found age;
	int64_t found_nj, truth_nj;

	go_on(w, 4000, 4 * SECOND);
	assert_int_equal(watt_timeline_get_age(w->tl, 1, &age), 0);
	assert_in_range(age.delay_ns, 4250 * MS, 4750 * MS);
	go_on(w, N_STEPS - 4000, SECOND);
	assert_int_equal(watt_timeline_get_age(w->tl, 1, &age), 0);
	assert_in_range(age.delay_ns, 1250 * MS, 1750 * MS);
	found_nj = energy_nj(w, 12400) - energy_nj(w, 400);
	truth_nj = w->node_nj[12400] - w->node_nj[400];
	assert_in_range(found_nj, truth_nj / 100 * 99, truth_nj / 100 * 101);
	watt_timeline_get_stats(w->tl, 1, &stats);
	assert_int_equal(stats.disordered, 0);
	assert_int_equal(stats.gaps, 0);
	done(w);
}

/* What somebody assumes is not looked for. */
static void test_told_by_the_user(void **state)
{
	struct watt_rules delays = { 0 };
	struct watt_log log = { 0 };
	struct watt_age_found age;
	struct world *w = make(5);

	assert_int_equal(watt_rules_add(&delays, "n", 3 * SECOND), 0);
	assert_int_equal(watt_timeline_set_delays(w->tl, &delays, &log), 0);
	go_on(w, 4000, SECOND);
	assert_int_equal(watt_timeline_get_age(w->tl, 1, &age), -ENODATA);
	watt_rules_clear(&delays);
	done(w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found_and_used),   cmocka_unit_test(test_long_periods),
		cmocka_unit_test(test_a_longer_history), cmocka_unit_test(test_an_age_that_changes),
		cmocka_unit_test(test_told_by_the_user),
	};

	return cmocka_run_group_tests_name("ages", tests, NULL, NULL);
}
