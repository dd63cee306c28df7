/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/channels.c */
#include "unit.h"

#include "source/channels.h"

static void test_list(void **state)
{
	struct watt_channels list = WATT_CHANNELS_INIT;
	char name[32], domain[32];
	struct watt_channel channel = { .name = name, .source = "test", .domain = domain };
	int i;

	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "test/%d", i);
		snprintf(domain, sizeof(domain), "rail-%d", i);
		assert_int_equal(watt_channels_add(&list, &channel), 0);
	}
	/* the strings are its own, and what was NULL is NULL */
	assert_int_equal(list.n, 40);
	assert_string_equal(list.channel[3].name, "test/3");
	assert_null(list.channel[3].label);
	assert_null(list.channel[3].path);
	assert_string_equal(list.channel[39].domain, "rail-39");
	watt_channels_done(&list);
	assert_int_equal(list.n, 0);
	watt_channels_done(&list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests_name("channels", tests, NULL, NULL);
}
