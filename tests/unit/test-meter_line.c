/* SPDX-License-Identifier: Apache-2.0 */
/* What an instrument says: lib/source/power/meter/meter_line.c. */
#include "unit.h"

#include "base/util.h"
#include "source/power/meter/meter_line.h"

static void test_lines(void **state)
{
	static const struct {
		const char *line;
		int error;
		enum watt_quantity quantity;
		int64_t value;
	} cases[] = {
		{ "W 231.5", 0, WATT_QUANTITY_POWER, 231500000 },
		{ "J 0", 0, WATT_QUANTITY_ENERGY, 0 },
		{ " \tJ\t1234567.8901239 \r", 0, WATT_QUANTITY_ENERGY, 1234567890123 },
		{ "W .5", 0, WATT_QUANTITY_POWER, 500000 },
		{ "W 7.", 0, WATT_QUANTITY_POWER, 7000000 },
		{ "", -ENODATA, 0, 0 },
		{ "\r", -ENODATA, 0, 0 },
		{ "# W 5", -ENODATA, 0, 0 },
		{ "231.5", -EBADMSG, 0, 0 },
		{ "W231.5", -EBADMSG, 0, 0 },
		{ "W", -EBADMSG, 0, 0 },
		{ "W .", -EBADMSG, 0, 0 },
		{ "W -5", -EBADMSG, 0, 0 },
		{ "W 5 W", -EBADMSG, 0, 0 },
		{ "W 1e3", -EBADMSG, 0, 0 },
		{ "w 5", -EBADMSG, 0, 0 },
		{ "W 1000000.1", -ERANGE, 0, 0 },
		{ "W 99999999999999999999999", -ERANGE, 0, 0 },
		{ "J 1000000000001", -ERANGE, 0, 0 },
		{ "J 1000000000000", 0, WATT_QUANTITY_ENERGY, 1000000000000000000 },
		{ "J 9999999999999", -ERANGE, 0, 0 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_meter_line line = { WATT_QUANTITY_POWER, -1 };

		assert_int_equal(watt_meter_line_parse(cases[i].line, &line), cases[i].error);
		assert_int_equal(line.value_uw, cases[i].error ? -1 : cases[i].value);
		if (!cases[i].error)
			assert_int_equal(line.quantity, cases[i].quantity);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests_name("meter_line", tests, NULL, NULL);
}
