/* SPDX-License-Identifier: Apache-2.0 */
/* A live session's flush says what was lost since the one before, each loss once. */
#include "unit.h"

#include <pthread.h>
#include <unistd.h>

#include <wattribute/wattribute.h>

#include "../options_of.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/ring.h"
#include "session.h"
#include "source/source.h"

#define MS WATT_NSEC_PER_MSEC
#define DEADLINE_MS 30000u
/* Their ring is full after a second: who is kept from running for less loses nothing. */
#define N_CHANNELS 256
#define PERIOD_MS 4

/* What the sources below do next: of the test's thread, and theirs. */
static struct watt_counter n_lost_records;
static struct watt_counter n_early_sweeps; /* they know what happened until they were asked */
static struct watt_counter is_silent;      /* the first sensor */
static struct watt_counter is_held;        /* the slow one: it answers when it is not */

/* ---- sensors ---- */

static char names[N_CHANNELS][16], domains[N_CHANNELS][16];
static struct watt_channel channels[N_CHANNELS];
static const struct watt_power_group group = { .n = N_CHANNELS, .period_ns = PERIOD_MS * MS };
extern const struct watt_power_ops power_ops, slow_power_ops;

static int power_probe(const struct watt_env *env, struct watt_diag *diag)
{
	diag->state = WATT_AVAILABLE;
	diag->n_channels = N_CHANNELS;
	return 0;
}

static int open_rails(const struct watt_power_ops *ops, struct watt_power **ret)
{
	static struct watt_power power;
	size_t i;

	for (i = 0; i < N_CHANNELS; i++) {
		snprintf(names[i], sizeof(names[i]), "t/rail-%zu", i);
		snprintf(domains[i], sizeof(domains[i]), "rail-%zu", i);
		channels[i] = (struct watt_channel){
			.sz = sizeof(channels[i]),
			.name = names[i],
			.source = "t",
			.domain = domains[i],
			.kind = WATT_DOMAIN_RAIL,
			.quantity = WATT_QUANTITY_POWER,
			.semantics = WATT_SEMANTICS_INSTANT,
			.origin = WATT_ORIGIN_SIMULATED,
			.package_id = -1,
			.die_id = -1,
			.core_id = -1,
			.scale_num = 1,
			.scale_den = 1,
			.coverage_ppm = 1000000,
		};
	}
	power = (struct watt_power){ .ops = ops,
				     .channels = channels,
				     .n_channels = N_CHANNELS,
				     .groups = &group,
				     .n_groups = 1 };
	*ret = &power;
	return 0;
}

static int power_open(const struct watt_env *env, struct watt_power **ret)
{
	return open_rails(&power_ops, ret);
}

static int slow_power_open(const struct watt_env *env, struct watt_power **ret)
{
	return open_rails(&slow_power_ops, ret);
}

static void power_read(struct watt_power *power, uint32_t index, struct watt_sample *ret)
{
	uint64_t now_ns = watt_now_ns();
	size_t i;

	for (i = 0; i < N_CHANNELS; i++)
		ret[i] = (struct watt_sample){ .t_before_ns = now_ns,
					       .t_after_ns = now_ns,
					       .raw = 1000,
					       .status = WATT_STATUS_OK };
	if (watt_counter_get(&is_silent))
		ret[0].status = WATT_STATUS_ABSENT;
}

static void power_close(struct watt_power *power)
{
}

const struct watt_power_ops power_ops = {
	.name = "t",
	.summary = "rails that never change",
	.probe = power_probe,
	.open = power_open,
	.read = power_read,
	.close = power_close,
};

/* A flush does not wait for it. */
static void slow_power_read(struct watt_power *power, uint32_t index, struct watt_sample *ret)
{
	while (watt_counter_get(&is_held))
		usleep(1000);
	power_read(power, index, ret);
}

const struct watt_power_ops slow_power_ops = {
	.name = "slow",
	.summary = "the same, by somebody who may block",
	.flags = WATT_POWER_BLOCKING,
	.probe = power_probe,
	.open = slow_power_open,
	.read = slow_power_read,
	.close = power_close,
};

/* ---- tasks: there are none, but some may have been lost ---- */

extern const struct watt_activity_ops usage_ops;

static int usage_open(const struct watt_env *env, const struct watt_cpu_map *map,
		      struct watt_activity_source **ret)
{
	static struct watt_activity_source source;

	source.ops = &usage_ops;
	*ret = &source;
	return 0;
}

static int usage_sweep(struct watt_activity_source *src, bool full, struct watt_usage_batch *ret)
{
	static uint64_t told_ns; /* of the last sweep */
	uint64_t now_ns = watt_now_ns();

	if (watt_counter_get(&n_early_sweeps)) {
		watt_counter_set(&n_early_sweeps, watt_counter_get(&n_early_sweeps) - 1);
		now_ns = told_ns;
	}
	told_ns = now_ns;
	*ret = (struct watt_usage_batch){
		.t_before_ns = now_ns,
		.t_after_ns = now_ns,
		.lost = watt_counter_get(&n_lost_records),
		.flags = WATT_BATCH_FULL | WATT_BATCH_DEATHS,
	};
	return 0;
}

static int usage_probe(const struct watt_env *env, struct watt_diag *diag)
{
	diag->state = WATT_AVAILABLE;
	return 0;
}

static void usage_close(struct watt_activity_source *src)
{
}

const struct watt_activity_ops usage_ops = {
	.name = "t",
	.summary = "no tasks",
	.probe = usage_probe,
	.open = usage_open,
	.sweep = usage_sweep,
	.close = usage_close,
};

/* In place of the library's tables: all sources that there are. */
const struct watt_power_ops *const watt_power_registry[] = { &power_ops, &slow_power_ops, NULL };
const struct watt_activity_ops *const watt_activity_registry[] = { &usage_ops, NULL };
const struct watt_meta_ops *const watt_meta_registry[] = { NULL };

/* ---- the session ---- */

static struct watt_session *start_with(const char *sources, const char *slice, int is_driven)
{
	struct watt_options *options =
		options_of("sources", sources, "usage", "t", "period", "4ms", "slice", slice, NULL);
	struct watt_session *ses = NULL;

	assert_int_equal(watt_options_set_driven(options, is_driven), 0);
	assert_int_equal(open_by(options, &ses), 0);
	assert_int_equal(watt_session_start(ses), 0);
	return ses;
}

static struct watt_session *start(int is_driven)
{
	return start_with("t", "20ms", is_driven);
}

/* Flushes until nothing was lost any more since the flush before. */
static void settle(struct watt_session *ses)
{
	uint64_t give_up_ns = watt_now_ns() + 4 * DEADLINE_MS * MS;
	int r;

	while ((r = watt_session_flush(ses, DEADLINE_MS)) != 0) {
		assert_true(r > 0);
		assert_true(watt_now_ns() < give_up_ns);
	}
}

static uint64_t lost_samples(const struct watt_session *ses)
{
	struct watt_reader_stats stats = { .sz = sizeof(stats) };

	assert_int_equal(ses->ops->get_reader_stats(ses, N_CHANNELS - 1, &stats), 0);
	return stats.lost;
}

/* Nobody can take samples while somebody has the session: until its readers had no room. */
static void lose_samples(struct watt_session *ses)
{
	uint64_t give_up_ns = watt_now_ns() + DEADLINE_MS * MS, before;

	watt_lock_take(ses->lock);
	before = lost_samples(ses);
	while (lost_samples(ses) == before) {
		usleep(1000);
		assert_true(watt_now_ns() < give_up_ns);
	}
	watt_lock_give(ses->lock);
}

static void test_samples(void **state)
{
	int is_driven;

	for (is_driven = 0; is_driven < 2; is_driven++) {
		struct watt_session *ses = start(is_driven);
		struct watt_snapshot *snap;

		settle(ses);
		lose_samples(ses);
		assert_int_equal(watt_session_flush(ses, DEADLINE_MS), WATT_FLUSH_LOST_SAMPLES);
		settle(ses);
		assert_int_equal(watt_session_snapshot(ses, &snap), 0);
		assert_true(watt_snapshot_get_quality(snap)->lost_samples > 0);
		watt_snapshot_unref(snap);
		watt_session_close(ses);
	}
}

static void test_usage(void **state)
{
	struct watt_session *ses = start(0);
	int r;

	settle(ses);
	watt_counter_add(&n_lost_records, 3);
	r = watt_session_flush(ses, DEADLINE_MS);
	assert_true(r > 0 && r & WATT_FLUSH_LOST_USAGE);
	settle(ses);
	watt_session_close(ses);
}

/* As long as it has none: what it would have told up to now is missing at each flush. */
static void test_silent_sensor(void **state)
{
	struct watt_session *ses = start(0);
	int i, r;

	settle(ses);
	watt_counter_set(&is_silent, 1);
	for (i = 0; i < 2; i++) {
		r = watt_session_flush(ses, DEADLINE_MS);
		assert_true(r > 0 && r & WATT_FLUSH_SILENT_SENSOR);
	}
	watt_counter_set(&is_silent, 0);
	settle(ses);
	watt_session_close(ses);
}

/* What was before a flush is there behind it, whoever it was that knew less: no slice has to end. */
static void test_early_sweep(void **state)
{
	int is_driven, i;

	for (is_driven = 0; is_driven < 2; is_driven++) {
		struct watt_session *ses = start_with("slow", "60s", is_driven);

		for (i = 0; i < 2; i++) {
			uint64_t t_ns = watt_session_get_time_ns(ses);
			struct watt_snapshot *snap;

			watt_counter_set(&n_early_sweeps, 2);
			assert_true(watt_session_flush(ses, DEADLINE_MS) >= 0);
			assert_int_equal(watt_counter_get(&n_early_sweeps), 0);
			assert_int_equal(watt_session_snapshot_at(ses, t_ns, DEADLINE_MS, &snap),
					 0);
			assert_true(watt_snapshot_get_time_ns(snap) >= t_ns);
			watt_snapshot_unref(snap);
		}
		watt_session_close(ses);
	}
}

static void *let_go(void *unused)
{
	usleep(100000);
	watt_counter_set(&is_held, 0);
	return NULL;
}

/* Nor has a slice to end where a sensor that a flush does not wait for answers later. */
static void test_late_reading(void **state)
{
	int is_driven;

	for (is_driven = 0; is_driven < 2; is_driven++) {
		struct watt_session *ses = start_with("slow", "60s", is_driven);
		struct watt_snapshot *snap;
		pthread_t thread;
		uint64_t t_ns;

		assert_true(watt_session_flush(ses, DEADLINE_MS) >= 0);
		watt_counter_set(&is_held, 1);
		t_ns = watt_session_get_time_ns(ses);
		assert_true(watt_session_flush(ses, DEADLINE_MS) >= 0);
		assert_int_equal(pthread_create(&thread, NULL, let_go, NULL), 0);
		assert_int_equal(watt_session_snapshot_at(ses, t_ns, DEADLINE_MS, &snap), 0);
		assert_true(watt_snapshot_get_time_ns(snap) >= t_ns);
		/* and it is not the last try, which comes in any case */
		assert_true(watt_now_ns() < t_ns + DEADLINE_MS * MS);
		watt_snapshot_unref(snap);
		assert_int_equal(pthread_join(thread, NULL), 0);
		watt_session_close(ses);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),       cmocka_unit_test(test_usage),
		cmocka_unit_test(test_silent_sensor), cmocka_unit_test(test_early_sweep),
		cmocka_unit_test(test_late_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
