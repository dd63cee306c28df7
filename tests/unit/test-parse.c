/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/parse.c */
#include "unit.h"

#include "base/parse.h"
#include "base/util.h"

static void test_u64(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t value;
	} cases[] = {
		{ "0", 0, 0 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999", -ERANGE, 0 },
		{ " 42\n", 0, 42 },
		{ "", -EBADMSG, 0 },
		{ " ", -EBADMSG, 0 },
		{ "-1", -EBADMSG, 0 },
		{ "+1", -EBADMSG, 0 },
		{ "12a", -EBADMSG, 0 },
		{ "1 2", -EBADMSG, 0 },
		{ "0x10", -EBADMSG, 0 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		uint64_t value = 0;

		assert_int_equal(watt_parse_u64(cases[i].text, &value), cases[i].r);
		assert_int_equal(value, cases[i].value);
	}
}

static void test_i64(void **state)
{
	int64_t value = 7;

	assert_int_equal(watt_parse_i64("-9223372036854775808", &value), 0);
	assert_true(value == INT64_MIN);
	assert_int_equal(watt_parse_i64("9223372036854775807", &value), 0);
	assert_true(value == INT64_MAX);
	assert_int_equal(watt_parse_i64("-9223372036854775809", &value), -ERANGE);
	assert_int_equal(watt_parse_i64("9223372036854775808", &value), -ERANGE);
	assert_int_equal(watt_parse_i64("--1", &value), -EBADMSG);
	assert_int_equal(watt_parse_i64("- 1", &value), -EBADMSG);
	assert_int_equal(watt_parse_i64("-", &value), -EBADMSG);
	assert_true(value == INT64_MAX);
}

static void test_hex(void **state)
{
	uint64_t value = 0;

	assert_int_equal(watt_parse_hex("0xff", &value), 0);
	assert_int_equal(value, 255);
	assert_int_equal(watt_parse_hex("DEADbeef\n", &value), 0);
	assert_int_equal(value, 0xdeadbeef);
	assert_int_equal(watt_parse_hex("0x", &value), -EBADMSG);
	assert_int_equal(watt_parse_hex("11112222333344445", &value), -ERANGE);
}

static void test_ratio(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t num, den;
	} cases[] = {
		{ "1", 0, 1, 1 },
		{ "6.25", 0, 25, 4 },
		{ "0.001", 0, 1, 1000 },
		{ "1e3", 0, 1000, 1 },
		{ "2.50", 0, 5, 2 },
		{ ".5", 0, 1, 2 },
		/* the scale of the power PMU is 2^-32, written in full by the kernel */
		{ "2.3283064365386962890625e-10", 0, 1, 1ULL << 32 },
		/* as many digits as there may be, and one place too many */
		{ ".18446744073709551615", 0, 922337203685477581, 5000000000000000000 },
		{ "0", -ERANGE, 0, 0 },
		{ "-1", -EBADMSG, 0, 0 },
		{ "1e1001", -ERANGE, 0, 0 },
		{ "1e30", -ERANGE, 0, 0 },
		{ "1.2.3", -EBADMSG, 0, 0 },
		{ "e5", -EBADMSG, 0, 0 },
		{ "nan", -EBADMSG, 0, 0 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		uint64_t num = 0, den = 0;

		assert_int_equal(watt_parse_ratio(cases[i].text, &num, &den), cases[i].r);
		assert_int_equal(num, cases[i].num);
		assert_int_equal(den, cases[i].den);
	}
}

static int collect(unsigned int cpu, void *data)
{
	*(uint64_t *)data |= 1ULL << cpu;
	return 0;
}

static void test_cpulist(void **state)
{
	uint64_t set = 0;

	assert_int_equal(watt_parse_cpulist("0-3,8,10-11\n", collect, &set), 0);
	assert_int_equal(set, 0xd0f);
	assert_int_equal(watt_parse_cpulist("", collect, &set), 0);
	assert_int_equal(watt_parse_cpulist("3-1", collect, &set), -EBADMSG);
	assert_int_equal(watt_parse_cpulist("1,x", collect, &set), -EBADMSG);
	assert_int_equal(watt_parse_cpulist("65536", collect, &set), -ERANGE);
}

static void test_clean_name(void **state)
{
	char buf[16];

	assert_int_equal(watt_clean_name("VDD_GPU SOC", buf, sizeof(buf)), 11);
	assert_string_equal(buf, "vdd_gpu_soc");
	assert_int_equal(watt_clean_name("__ (x) __", buf, sizeof(buf)), 1);
	assert_string_equal(buf, "x");
	assert_int_equal(watt_clean_name("!!!", buf, sizeof(buf)), 0);
	assert_int_equal(watt_clean_name("a very long label indeed", buf, sizeof(buf)), 15);
}

/* As it is, but for spaces and what would garble a line; never half a letter. */
static void test_clean_name_beyond_ascii(void **state)
{
	static const struct {
		const char *label, *name;
	} cases[] = {
		{ "L\xc3\xbc"
		  "fter 1",
		  "l\xc3\xbc"
		  "fter_1" },
		{ "\xe9\x9b\xbb\xe6\xba\x90", "\xe9\x9b\xbb\xe6\xba\x90" },
		{ "CPU\xc2\xa0"
		  "12V",
		  "cpu__12v" }, /* a space */
		{ "a\xe2\x80\xae"
		  "b",
		  "a___b" }, /* turns what follows */
		{ "a\xff"
		  "b\xc3",
		  "a_b" },                                      /* Latin-1, and half a letter */
		{ "\xed\xa0\x80x", "x" },                       /* half a pair */
		{ "fourteen_bytes\xc3\xbc", "fourteen_bytes" }, /* 16 with its NUL, one too many */
		{ "\xc2\x85", "" },
	};
	char buf[16];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		watt_clean_name(cases[i].label, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].name);
	}
	assert_int_equal(watt_clean_name("\xc3\xbc", buf, 2), 0);
}

static void test_depth(void **state)
{
	static const char in_text[] = "{\"a[[[[\": \"\\\"{{{{\", \"b\": [1, {}]}";

	assert_false(watt_parse_is_deeper(in_text, strlen(in_text), 3));
	assert_true(watt_parse_is_deeper(in_text, strlen(in_text), 2));
	assert_false(watt_parse_is_deeper("[],[],[]", 8, 1));
	assert_true(watt_parse_is_deeper("[[", 2, 1)); /* that it ends there is for others to say */
	assert_false(watt_parse_is_deeper("[[", 1, 1)); /* nor is it read beyond its end */
	assert_false(watt_parse_is_deeper("]]]]", 4, 0));
	assert_false(watt_parse_is_deeper("\"\\", 2, 0));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),        cmocka_unit_test(test_i64),
		cmocka_unit_test(test_hex),        cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_cpulist),    cmocka_unit_test(test_depth),
		cmocka_unit_test(test_clean_name), cmocka_unit_test(test_clean_name_beyond_ascii),
	};

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
