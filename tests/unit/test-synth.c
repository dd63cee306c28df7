/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/synth.c, lib/source/activity/synth.c and lib/source/synth/live.c */
#include "unit.h"

#include "base/clock.h"
#include "base/util.h"
#include "source/config/config.h"
#include "source/registry.h"
#include "source/synth/live.h"

static const struct watt_config no_config;

static void env_open(struct watt_env *env)
{
	*env = (struct watt_env){ .sysfs = WATT_ROOT_INIT,
				  .procfs = WATT_ROOT_INIT,
				  .config = &no_config,
				  .epoch_ns = watt_now_ns() };
	assert_int_equal(watt_root_open(&env->sysfs, fixture("vm-xeon", "sys")), 0);
}

/* It stands in for the machine of the environment: 4 CPUs in 2 packages. */
static void test_channels(void **state)
{
	static const char *const names[] = { "synth/package-0", "synth/package-1", "synth/dram-0",
					     "synth/dram-1",    "synth/sine",      "synth/square",
					     "synth/ramp" };
	struct watt_power *power;
	struct watt_env env;
	uint32_t i, n = 0;

	env_open(&env);
	assert_true(watt_power_synth.flags & WATT_POWER_TEST);
	assert_int_equal(watt_power_synth.open(&env, &power), 0);
	assert_int_equal(power->n_channels, WATT_ARRAY_SIZE(names));
	for (i = 0; i < power->n_channels; i++) {
		assert_string_equal(power->channels[i].name, names[i]);
		assert_int_equal(power->channels[i].origin, WATT_ORIGIN_SIMULATED);
		assert_true(power->channels[i].period_ns >=
			    power->groups[power->channels[i].group].period_ns);
	}
	for (i = 0; i < power->n_groups; i++) {
		assert_int_equal(power->groups[i].first, n);
		n += power->groups[i].n;
	}
	assert_int_equal(n, power->n_channels);
	watt_power_synth.close(power);
	watt_power_synth.close(NULL);
	watt_root_close(&env.sysfs);
}

static void test_readings_move(void **state)
{
	struct watt_sample first[7], second[7];
	struct watt_power *power;
	struct watt_env env;
	uint32_t g, i;

	env_open(&env);
	assert_int_equal(watt_power_synth.open(&env, &power), 0);
	for (g = 0; g < power->n_groups; g++)
		power->ops->read(power, g, first + power->groups[g].first);
	usleep(30000);
	for (g = 0; g < power->n_groups; g++)
		power->ops->read(power, g, second + power->groups[g].first);
	for (i = 0; i < power->n_channels; i++) {
		assert_int_equal(second[i].status, WATT_STATUS_OK);
		if (power->channels[i].semantics == WATT_SEMANTICS_COUNTER)
			assert_true(second[i].raw > first[i].raw);
	}
	watt_power_synth.close(power);
	watt_root_close(&env.sysfs);
}

/* Two of one environment do the same, whether anyone listens or not. */
static void test_twins(void **state)
{
	struct watt_synth_machine *heard, *mute;
	struct watt_usage_batch batch;
	struct watt_env env;
	uint64_t epoch_ns, t_ns;
	size_t d;

	env_open(&env);
	assert_int_equal(watt_synth_live_open(&env, true, &heard, &epoch_ns), 0);
	assert_int_equal(watt_synth_live_open(&env, false, &mute, NULL), 0);
	assert_int_equal(epoch_ns, env.epoch_ns / 1000 * 1000);
	for (t_ns = epoch_ns; t_ns < epoch_ns + 3 * WATT_NSEC_PER_SEC; t_ns += 50000000)
		assert_int_equal(watt_synth_machine_run(heard, t_ns), 0);
	assert_int_equal(watt_synth_machine_run(heard, t_ns), 0);
	assert_int_equal(watt_synth_machine_run(mute, t_ns), 0);
	for (d = 0; d < watt_synth_machine_domain_count(heard); d++)
		assert_int_equal(watt_synth_machine_energy_nj(heard, d, t_ns),
				 watt_synth_machine_energy_nj(mute, d, t_ns));
	assert_int_equal(watt_synth_machine_sweep(heard, true, &batch), 0);
	assert_true(batch.n_records > batch.n_tasks);
	assert_int_equal(watt_synth_machine_sweep(mute, true, &batch), 0);
	assert_int_equal(batch.n_records, batch.n_tasks);
	watt_synth_machine_free(heard);
	watt_synth_machine_free(mute);
	watt_root_close(&env.sysfs);
}

static void test_usage(void **state)
{
	struct watt_activity_source *usage;
	struct watt_usage_batch batch;
	struct watt_diag diag = { .state = WATT_BROKEN };
	struct watt_cpu_map map = { 0 };
	struct watt_env env;

	env_open(&env);
	assert_true(watt_activity_synth.flags & WATT_ACTIVITY_TEST);
	assert_int_equal(watt_activity_synth.probe(&env, &diag), 0);
	assert_int_equal(diag.state, WATT_AVAILABLE);
	assert_int_equal(watt_activity_synth.open(&env, &map, &usage), 0);
	assert_ptr_equal(usage->ops, &watt_activity_synth);
	assert_int_equal(usage->ops->sweep(usage, false, &batch), 0);
	assert_true(batch.flags & WATT_BATCH_FULL);
	assert_int_equal(batch.n_cpus, 4);
	assert_true(batch.n_tasks > 4);
	usleep(3000);
	assert_int_equal(usage->ops->sweep(usage, false, &batch), 0);
	assert_false(batch.flags & WATT_BATCH_FULL);
	watt_activity_synth.close(usage);
	watt_activity_synth.close(NULL);
	watt_root_close(&env.sysfs);
}

static void test_probe(void **state)
{
	struct watt_diag diag = { .state = WATT_BROKEN };
	struct watt_env env;

	env_open(&env);
	assert_int_equal(watt_power_synth.probe(&env, &diag), 0);
	assert_int_equal(diag.state, WATT_AVAILABLE);
	assert_int_equal(diag.n_channels, 7);
	watt_root_close(&env.sysfs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_channels), cmocka_unit_test(test_readings_move),
		cmocka_unit_test(test_twins),    cmocka_unit_test(test_usage),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
