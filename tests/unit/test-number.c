/* SPDX-License-Identifier: Apache-2.0 */
/* cli/number.c */
#include "unit.h"

#include "number.h"

static void test_count(void **state)
{
	uint64_t value = 7;

	assert_int_equal(number_count("12", 1, 100, &value), 0);
	assert_int_equal(value, 12);
	assert_int_equal(number_count("0", 1, 100, &value), -ERANGE);
	assert_int_equal(number_count("101", 1, 100, &value), -ERANGE);
	assert_int_equal(number_count("99999999999999999999", 1, UINT64_MAX, &value), -ERANGE);
	assert_int_equal(number_count("", 1, 100, &value), -EINVAL);
	assert_int_equal(number_count("-1", 0, 100, &value), -EINVAL);
	assert_int_equal(number_count(" 1", 0, 100, &value), -EINVAL);
	assert_int_equal(number_count("1x", 0, 100, &value), -EINVAL);
	assert_int_equal(value, 12);
}

static void test_octal(void **state)
{
	uint64_t value = 7;

	assert_int_equal(number_octal("7777", 07777, &value), 0);
	assert_int_equal(value, 07777);
	assert_int_equal(number_octal("10000", 07777, &value), -ERANGE);
	assert_int_equal(number_octal("8", 07777, &value), -EINVAL);
	assert_int_equal(number_octal("-1", 07777, &value), -EINVAL);
	assert_int_equal(number_octal("", 07777, &value), -EINVAL);
	assert_int_equal(value, 07777);
}

static void test_duration(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t t_ns;
	} cases[] = {
		{ "50ms", 0, 50000000 },     { "50", 0, 50000000 },       { "1.5s", 0, 1500000000 },
		{ "200us", 0, 200000 },      { "2min", 0, 120000000000 }, { "5m", 0, 300000000000 },
		{ "1d", 0, 86400000000000 }, { "0", -ERANGE, 0 },         { "0.1us", -ERANGE, 0 },
		{ "1000000h", -ERANGE, 0 },  { "", -EINVAL, 0 },          { "ms", -EINVAL, 0 },
		{ "-1s", -EINVAL, 0 },       { "+1s", -EINVAL, 0 },       { "1e3", -EINVAL, 0 },
		{ "1.2.3", -EINVAL, 0 },     { "inf", -EINVAL, 0 },       { "nan", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },      { "5 s", -EINVAL, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t t_ns = 0;

		assert_int_equal(number_duration(cases[i].text, 1000000, &t_ns), cases[i].r);
		assert_int_equal(t_ns, cases[i].t_ns);
	}
}

static void test_size(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t size_bytes;
	} cases[] = {
		{ "1", 0, 1 },           { "512B", 0, 512 },       { "2k", 0, 2048 },
		{ "1.5K", 0, 1536 },     { "100M", 0, 104857600 }, { "2GiB", 0, 2147483648 },
		{ "1MB", 0, 1048576 },   { "0", -ERANGE, 0 },      { "9999999999T", -ERANGE, 0 },
		{ "", -EINVAL, 0 },      { "M", -EINVAL, 0 },      { "1X", -EINVAL, 0 },
		{ "1MiBs", -EINVAL, 0 }, { "-1M", -EINVAL, 0 },    { "1 M", -EINVAL, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t size_bytes = 0;

		assert_int_equal(number_size(cases[i].text, &size_bytes), cases[i].r);
		assert_int_equal(size_bytes, cases[i].size_bytes);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_octal),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
