/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "source/config/config.h"
#include "source/registry.h"

static const struct watt_config no_config;

static void env_open(struct watt_env *env, const char *sys, const char *proc)
{
	*env = (struct watt_env){ .sysfs = WATT_ROOT_INIT,
				  .procfs = WATT_ROOT_INIT,
				  .config = &no_config };
	if (sys)
		assert_int_equal(watt_root_open(&env->sysfs, sys), 0);
	if (proc)
		assert_int_equal(watt_root_open(&env->procfs, proc), 0);
}

static void env_open_fixture(struct watt_env *env, const char *machine)
{
	char *sys = strdup(fixture(machine, "sys"));

	env_open(env, sys, fixture(machine, "proc"));
	free(sys);
}

static void env_close(struct watt_env *env)
{
	watt_root_close(&env->sysfs);
	watt_root_close(&env->procfs);
}

static void test_channels(void **state)
{
	struct watt_env env;
	struct watt_power *power;
	uint32_t i;

	env_open_fixture(&env, "vm-xeon");
	assert_int_equal(watt_power_estimate.open(&env, &power), 0);
	assert_ptr_equal(power->ops, &watt_power_estimate);
	assert_int_equal(power->n_channels, 2);
	assert_int_equal(power->n_groups, 1);
	assert_int_equal(power->groups[0].first, 0);
	assert_int_equal(power->groups[0].n, 2);
	assert_string_equal(power->channels[0].name, "estimate/package-0");
	assert_string_equal(power->channels[1].domain, "package-1");
	for (i = 0; i < 2; i++) {
		const struct watt_channel *channel = &power->channels[i];

		assert_int_equal(channel->kind, WATT_DOMAIN_PACKAGE);
		assert_int_equal(channel->origin, WATT_ORIGIN_ESTIMATED);
		assert_int_equal(channel->semantics, WATT_SEMANTICS_COUNTER);
		assert_int_equal(channel->package_id, i);
		assert_int_equal(channel->uncertainty_ppm, 350000);
		assert_true(channel->idle_uw > 0 && channel->idle_uw < 100000000);
		assert_int_equal(channel->period_ns, power->groups[0].period_ns);
	}
	watt_power_estimate.close(power);
	env_close(&env);
}

/* Machines that don't tell a package have one. */
static void test_unknown_package_is_zero(void **state)
{
	struct watt_env env;
	struct watt_power *power;

	env_open_fixture(&env, "vm-graviton");
	assert_int_equal(watt_power_estimate.open(&env, &power), 0);
	assert_int_equal(power->n_channels, 1);
	assert_string_equal(power->channels[0].domain, "package-0");
	watt_power_estimate.close(power);
	env_close(&env);
}

static void write_stat(const char *proc, unsigned int user, unsigned int idle)
{
	char text[128];

	snprintf(text, sizeof(text), "cpu  %u 0 0 %u 0 0 0 0 0 0\ncpu0 %u 0 0 %u 0 0 0 0 0 0\n",
		 user, idle, user, idle);
	scratch_write(proc, "stat", text);
}

/* Nothing moves but the clock: idle power; then busy for all the time since. */
static void test_energy_follows_the_model(void **state)
{
	char name[] = "mine";
	struct watt_config_model user = { .name = name, .idle_uw = 1000000, .full_uw = 3000000 };
	struct watt_config config = { .models = &user, .n_models = 1 };
	char *proc = scratch_new();
	struct watt_env env;
	struct watt_power *power;
	struct watt_sample a, b, c;

	write_stat(proc, 100, 100);
	env_open(&env, NULL, proc);
	env.config = &config;
	assert_int_equal(watt_power_estimate.open(&env, &power), 0);
	watt_power_estimate.read(power, 0, &a);
	assert_int_equal(a.status, WATT_STATUS_OK);
	assert_int_equal(a.raw, 0);
	usleep(2000);
	watt_power_estimate.read(power, 0, &b);
	assert_int_equal(b.status, WATT_STATUS_OK);
	assert_true(b.t_before_ns > a.t_before_ns && b.t_after_ns >= b.t_before_ns);
	assert_int_equal(b.raw, (b.t_before_ns - a.t_before_ns) / 1000);
	write_stat(proc, 102, 100);
	watt_power_estimate.read(power, 0, &c);
	assert_int_equal(c.raw, 3 * (c.t_before_ns - a.t_before_ns) / 1000);
	watt_power_estimate.close(power);
	env_close(&env);
	scratch_remove(proc);
}

static void test_bad_readings_are_statuses(void **state)
{
	char *proc = scratch_new();
	struct watt_env env;
	struct watt_power *power;
	struct watt_sample sample;

	write_stat(proc, 100, 100);
	env_open(&env, NULL, proc);
	assert_int_equal(watt_power_estimate.open(&env, &power), 0);
	scratch_write(proc, "stat", "cpu  1 2 3\ncpu0 x\n");
	watt_power_estimate.read(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_BROKEN);
	assert_int_equal(sample.raw, 0);
	scratch_write_bytes(proc, "stat", "cpu0 1 1\0 1 1\n", 14);
	watt_power_estimate.read(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_BROKEN);
	scratch_unlink(proc, "stat");
	watt_power_estimate.read(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_ABSENT);
	write_stat(proc, 100, 100);
	watt_power_estimate.read(power, 0, &sample);
	assert_int_equal(sample.status, WATT_STATUS_OK);
	watt_power_estimate.close(power);
	env_close(&env);
	scratch_remove(proc);
}

static void test_probe_says_what_to_expect(void **state)
{
	struct watt_diag diag = { 0 };
	struct watt_env env;

	env_open_fixture(&env, "vm-epyc");
	assert_int_equal(watt_power_estimate.probe(&env, &diag), 0);
	assert_int_equal(diag.state, WATT_AVAILABLE);
	assert_int_equal(diag.n_channels, 1);
	assert_int_equal(diag.uncertainty_ppm, 350000);
	assert_non_null(strstr(diag.why, "Zen 3"));
	assert_non_null(strstr(diag.why, "+-35 %"));
	assert_non_null(strstr(diag.hint, "estimate.models"));
	env_close(&env);
}

static void test_probe_explains_failure(void **state)
{
	char *proc = scratch_new();
	struct watt_power *power = NULL;
	struct watt_diag diag = { 0 };
	struct watt_env env;

	env_open(&env, NULL, proc);
	assert_int_equal(watt_power_estimate.probe(&env, &diag), -ENOENT);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_int_equal(watt_power_estimate.open(&env, &power), -ENOENT);
	assert_null(power);
	scratch_write(proc, "stat", "intr 0\n");
	assert_int_equal(watt_power_estimate.probe(&env, &diag), -EBADMSG);
	assert_int_equal(diag.state, WATT_BROKEN);
	assert_non_null(strstr(diag.why, "/stat"));
	env_close(&env);
	scratch_remove(proc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_channels),
		cmocka_unit_test(test_unknown_package_is_zero),
		cmocka_unit_test(test_energy_follows_the_model),
		cmocka_unit_test(test_bad_readings_are_statuses),
		cmocka_unit_test(test_probe_says_what_to_expect),
		cmocka_unit_test(test_probe_explains_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
