/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/activity/precise/precise.c where it must not run, and what a machine has to count. */
#include "env.h"

#include "base/rules.h"
#include "source/activity/precise/precise_object.h"
#include "source/registry.h"
#include "source/select.h"

static void test_captured_machine(void **state)
{
	static uint16_t slots[1];
	static const struct watt_cpu_map map = { .n_cpus = 1, .n_slots = 1, .slot = slots };
	struct watt_activity_source *src = NULL;
	struct watt_diag diag = { 0 };
	char procfs[512], sysfs[512];
	struct test_env test;

	snprintf(procfs, sizeof(procfs), "%s/jetson-agx-orin/proc", getenv("WATT_FIXTURES"));
	snprintf(sysfs, sizeof(sysfs), "%s/jetson-agx-orin/sys", getenv("WATT_FIXTURES"));
	test_env_open(&test, procfs, sysfs);
	assert_int_equal(watt_activity_precise.probe(&test.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	assert_true(*diag.why);
	assert_int_equal(watt_activity_precise.open(&test.env, &map, &src), -ENODEV);
	assert_null(src);
	test_env_close(&test);
}

/* Whatever is said of power sources, it is there when asked for, and only then. */
static void test_only_when_asked_for(void **state)
{
	struct watt_rules rules = { 0 };

	assert_false(watt_select_activity_is_wanted(&watt_activity_precise, NULL, false));
	assert_true(watt_select_activity_is_wanted(&watt_activity_precise, NULL, true));
	assert_int_equal(watt_rules_add(&rules, "powercap", 1), 0);
	assert_false(watt_select_activity_is_wanted(&watt_activity_precise, &rules, false));
	assert_true(watt_select_activity_is_wanted(&watt_activity_precise, &rules, true));
	assert_true(watt_select_activity_is_wanted(&watt_activity_drm, NULL, true));
	watt_rules_clear(&rules);
}

static void write_file(const char *root, const char *path, const char *text)
{
	char command[512];

	snprintf(command, sizeof(command), "mkdir -p $(dirname %s/%s) && printf '%s' >%s/%s", root,
		 path, text, root, path);
	assert_int_equal(system(command), 0);
}

/* Siblings and frequencies are those of sysfs; counters those of the kernel that runs. */
static void test_abilities(void **state)
{
	char root[] = "/tmp/test-precise-XXXXXX", command[64];
	struct watt_env env = { 0 };
	struct watt_precise_abilities abilities;

	assert_non_null(mkdtemp(root));
	write_file(root, "devices/system/cpu/possible", "0-3\\n");
	assert_int_equal(watt_root_open(&env.sysfs, root), 0);
	watt_precise_find_abilities(&env, &abilities);
	assert_false(abilities.has_siblings);
	if (abilities.cycles_error)
		assert_int_equal(abilities.cycles, WATT_PRECISE_NO_CYCLES);
	write_file(root, "devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2\\n");
	write_file(root, "devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\\n");
	watt_precise_find_abilities(&env, &abilities);
	assert_true(abilities.has_siblings);
	assert_int_equal(abilities.cycles,
			 abilities.cycles_error ? WATT_PRECISE_BY_FREQUENCY : WATT_PRECISE_BY_PMU);
	assert_int_equal(abilities.has_instructions, abilities.instructions_error == 0);
	watt_root_close(&env.sysfs);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captured_machine),
		cmocka_unit_test(test_only_when_asked_for),
		cmocka_unit_test(test_abilities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
