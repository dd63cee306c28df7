/* SPDX-License-Identifier: Apache-2.0 */
/* lib/doctor.c, by the public interface alone. */
#include "unit.h"

#include <wattribute/wattribute.h>

#include "../options_of.h"

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
	struct watt_options *options;
	static struct watt_diag diags[MAX_DIAGS] = { { .sz = sizeof(diags[0]) } };
	struct watt_session *ses = NULL;
	size_t i, n = MAX_DIAGS;

	snprintf(sysfs, sizeof(sysfs), "%s", fixture(machine, "sys"));
	options = options_of("usage", "procfs", "sysfs-root", sysfs, sources ? "sources" : NULL,
			     sources, NULL);
	assert_int_equal(watt_doctor(options, diags, &n), 0);
	assert_in_range(n, 1, MAX_DIAGS);
	assert_int_equal(open_by(options, &ses), 0);
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
	struct watt_diag one = { .sz = sizeof(one) };
	size_t n = 0, n_one = 1;

	assert_int_equal(watt_doctor(NULL, NULL, &n), 0);
	assert_true(n > 1);
	assert_int_equal(watt_doctor(NULL, &one, &n_one), 0);
	assert_int_equal(n_one, n);
}

static void test_refuses_bad_options(void **state)
{
	struct watt_options *options = options_of("sysfs-root", "/nowhere", NULL);
	struct watt_diag one = { .sz = sizeof(one) };
	size_t n = 1;

	assert_int_equal(watt_doctor(options, &one, &n), -ENOENT);
	assert_int_equal(n, 1);
	assert_int_equal(watt_doctor(NULL, NULL, &n), -EINVAL);
	assert_int_equal(watt_doctor(NULL, &one, NULL), -EINVAL);
	watt_options_free(options);
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
