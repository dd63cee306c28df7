/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/host/status.c */
#include "unit.h"

#include "base/util.h"
#include "source/host/status.h"

static void test_errors(void **state)
{
	static const struct {
		int r;
		enum watt_status status;
		enum watt_availability availability;
	} cases[] = {
		{ 0, WATT_STATUS_OK, WATT_AVAILABLE },
		{ 7, WATT_STATUS_OK, WATT_AVAILABLE },
		{ -EAGAIN, WATT_STATUS_NODATA, WATT_BROKEN },
		{ -ENODATA, WATT_STATUS_NODATA, WATT_BROKEN },
		{ -ENODEV, WATT_STATUS_ABSENT, WATT_ABSENT },
		{ -ENOENT, WATT_STATUS_ABSENT, WATT_ABSENT },
		{ -EACCES, WATT_STATUS_FORBIDDEN, WATT_FORBIDDEN },
		{ -EPERM, WATT_STATUS_FORBIDDEN, WATT_FORBIDDEN },
		{ -EIO, WATT_STATUS_BROKEN, WATT_BROKEN },
		{ -EBADMSG, WATT_STATUS_BROKEN, WATT_BROKEN },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		assert_int_equal(watt_status_from_errno(cases[i].r), cases[i].status);
		assert_int_equal(watt_availability_from_errno(cases[i].r), cases[i].availability);
	}
}

static void test_text(void **state)
{
	assert_string_equal(watt_error_text(-EBADMSG), "its content makes no sense");
	assert_string_equal(watt_error_text(-EACCES), "Permission denied");
	assert_string_equal(watt_error_text(-99999), "unknown error");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
