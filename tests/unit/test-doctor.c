/* SPDX-License-Identifier: Apache-2.0 */
/* lib/doctor.c, by the public interface alone. */
#include "unit.h"

#include <wattribute/wattribute.h>

#define MAX_DIAGS 64

static bool has_channel_of(const struct watt_session *ses, const char *source)
{
	size_t i;

	for (i = 0; i < watt_session_get_channel_count(ses); i++)
		if (!strcmp(watt_session_get_channel(ses, i)->source, source))
			return true;
	return false;
}

/* What the doctor calls selected is what a session with the same options uses. */
static void check_selection(const char *machine, const char *sources)
{
	char sysfs[PATH_MAX];
	struct watt_session_opts opts = {
		.sz = sizeof(opts), .sources = sources, .usage = "procfs", .sysfs_root = sysfs
	};
	static struct watt_diag diags[MAX_DIAGS];
	struct watt_session *ses = NULL;
	size_t i, n = MAX_DIAGS;

	snprintf(sysfs, sizeof(sysfs), "%s", fixture(machine, "sys"));
	assert_int_equal(watt_doctor(&opts, diags, &n), 0);
	assert_in_range(n, 1, MAX_DIAGS);
	assert_int_equal(watt_session_open(&opts, &ses), 0);
	for (i = 0; i < n; i++)
		if (diags[i].role == WATT_ROLE_POWER)
			assert_int_equal(diags[i].is_selected,
					 has_channel_of(ses, diags[i].source));
	watt_session_close(ses);
}

static void test_selected_is_what_is_used(void **state)
{
	check_selection("xeon-2s", NULL);
	check_selection("xeon-2s", "-powercap,-perf_rapl");
	check_selection("xeon-2s", "powercap");
	check_selection("vm-xeon", NULL);
	check_selection("vm-xeon", "synth");
}

static void test_says_how_many_there_are(void **state)
{
	struct watt_session_opts opts = { .sz = sizeof(opts) };
	struct watt_diag one;
	size_t n = 0, n_one = 1;

	assert_int_equal(watt_doctor(&opts, NULL, &n), 0);
	assert_true(n > 1);
	assert_int_equal(watt_doctor(&opts, &one, &n_one), 0);
	assert_int_equal(n_one, n);
}

static void test_refuses_bad_options(void **state)
{
	struct watt_session_opts opts = { .sz = sizeof(opts), .sources = "nonsense" };
	struct watt_diag one;
	size_t n = 1;

	assert_int_equal(watt_doctor(&opts, &one, &n), -EINVAL);
	assert_int_equal(n, 1);
	opts.sources = NULL;
	assert_int_equal(watt_doctor(&opts, NULL, &n), -EINVAL);
	assert_int_equal(watt_doctor(&opts, &one, NULL), -EINVAL);
	assert_int_equal(watt_doctor(NULL, &one, &n), -EINVAL);
	opts.sz = 0;
	assert_int_equal(watt_doctor(&opts, &one, &n), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selected_is_what_is_used),
		cmocka_unit_test(test_says_how_many_there_are),
		cmocka_unit_test(test_refuses_bad_options),
	};

	return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
