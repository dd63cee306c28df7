/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/hwmon/hwmon_pair.c and the rules of lib/source/power/hwmon/chip_rules.c on it */
#include "unit.h"

#include "base/util.h"
#include "source/power/hwmon/hwmon_pair.h"

#define MAX 16

/* One side as text: "1=vin 2 3=x"; a number, and a label if it has one. */
static size_t parse_side(const char *text, struct watt_sysfs_sensor *ret, char *storage)
{
	size_t n = 0;
	char *save = NULL, *word;

	strcpy(storage, text);
	for (word = strtok_r(storage, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *label = strchr(word, '=');

		assert_true(n < MAX);
		ret[n].index = (uint32_t)atoi(word);
		watt_strlcpy(ret[n++].clean, label ? label + 1 : "", sizeof(ret->clean));
	}
	return n;
}

/* Pairs as text: "in1*curr1 in2*curr2". */
static void check_pairs(const struct watt_chip_rule *rule, const char *voltages,
			const char *currents, const char *expected)
{
	struct watt_sysfs_sensor v[MAX], c[MAX];
	struct watt_hwmon_match match[MAX];
	char v_text[256], c_text[256], found[256] = "";
	size_t n_v = parse_side(voltages, v, v_text), n_c = parse_side(currents, c, c_text);
	size_t n = watt_hwmon_pair(v, n_v, c, n_c, rule, match), i;

	assert_true(n <= WATT_MIN(n_v, n_c));
	for (i = 0; i < n; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%u*%u",
			 i ? " " : "", v[match[i].in_at].index, c[match[i].curr_at].index);
	assert_string_equal(found, expected);
}

static void test_labels(void **state)
{
	static const struct {
		const char *voltages, *currents, *expected;
	} cases[] = {
		/* equal labels, wherever they are */
		{ "0=a 1=b", "1=a 2=b", "0*1 1*2" },
		{ "1=b 2=a", "1=a 2=b", "2*1 1*2" },
		/* the letter of the quantity is no difference */
		{ "1=vin 2=vout1", "1=iin 2=iout1", "1*1 2*2" },
		{ "1=vin 2=vout1", "1=iout1", "2*1" },
		{ "0=vcore 1=vsoc", "1=icore 2=isoc", "0*1 1*2" },
		{ "1=v", "1=i", "1*1" },
		/* no labels, or on one side only: equal index */
		{ "0 1 2", "1 2 3", "1*1 2*2" },
		{ "1=a 2=b", "1 2", "1*1 2*2" },
		{ "1 2", "1=a 2=b", "1*1 2*2" },
		/* labels that never match say nothing */
		{ "1=bus", "1=current", "1*1" },
		/* but where some match, two labels are two things */
		{ "1=a 2=b", "1=b 2=c", "2*1" },
		{ "1=a 2=b 3", "1=a 2=c 3=d", "1*1 3*3" },
		/* one voltage serves one current */
		{ "1=a", "1=a 2=a", "1*1" },
		{ "1=a 2=a", "1=a 2=a", "1*1 2*2" },
		/* nothing that belongs together */
		{ "0", "1", "" },
		{ "", "1", "" },
		{ "1", "", "" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++)
		check_pairs(NULL, cases[i].voltages, cases[i].currents, cases[i].expected);
}

/* Every built-in rule, on chips that have more sensors than it takes. */
static void test_chips(void **state)
{
#define ALL "0 1 2 3 4 5 6 7 8"
#define ALL_CURR "1 2 3 4 5 6 7 8"
#define SAME_INDEX "1*1 2*2 3*3 4*4 5*5 6*6 7*7 8*8"
	static const struct {
		const char *chip, *expected;
	} cases[] = {
		{ "ina3221", "1*1 2*2 3*3 8*8" },
		{ "ina209", "1*1" },
		{ "ina219", "1*1" },
		{ "ina226", "1*1" },
		{ "ina238", "1*1" },
		{ "ina260", "1*1" },
		{ "ina233", "1*1" },
		{ "ltc2945", "1*1" },
		{ "ltc4260", "1*1" },
		{ "ltc4261", "1*1" },
		{ "ltc2947", "0*1" },
		{ "ltc2992", "0*1 2*2" },
		{ "ltc4282", "1*1" },
		{ "adm1275", "1*1" },
		{ "adm1276", "1*1" },
		{ "adm1278", "1*1" },
		{ "adm1293", "1*1" },
		{ "max20730", "2*1" },
		{ "max20751", "2*1" },
		{ "max34440", "1*1 2*2 3*3 4*4 5*5 6*6" },
		{ "max34451", SAME_INDEX },
		{ "tps40422", SAME_INDEX },
		{ "tps53679", SAME_INDEX },
		{ "tps546d24", SAME_INDEX },
		{ "ir35221", SAME_INDEX },
		{ "xdpe12284", SAME_INDEX },
		{ "pmbus", SAME_INDEX },
		{ "ucd9000", SAME_INDEX },
		{ "ucd90320", SAME_INDEX },
		{ "mp2975", "1*1" },
	};
	static const struct watt_config none;
	struct watt_chip_rule rule;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		assert_true(watt_chip_rule_find(&none, cases[i].chip, &rule));
		check_pairs(&rule, ALL, ALL_CURR, cases[i].expected);
	}
	assert_false(watt_chip_rule_find(&none, "ina", &rule));
	assert_false(watt_chip_rule_find(&none, "", &rule));
}

static void test_skipped_by_rule(void **state)
{
	static const struct watt_config none;
	struct watt_chip_rule rule;

	/* the skipped shunt does not match even by its label */
	assert_true(watt_chip_rule_find(&none, "ina3221", &rule));
	check_pairs(&rule, "1=vdd 4=vdd2 7=sum", "1=vdd 2=vdd2 4=sum", "1*1");
	assert_true(watt_chip_rule_skips_voltage(&rule, 7));
	assert_false(watt_chip_rule_skips_voltage(&rule, 8));
	assert_false(watt_chip_rule_skips_voltage(&rule, 64 + 7));
	assert_true(watt_chip_rule_find(&none, "mp2975", &rule));
	assert_true(watt_chip_rule_skips_current(&rule, 8));
	assert_false(watt_chip_rule_skips_current(&rule, 1));
}

static void test_user_rules(void **state)
{
	struct watt_config_pair pairs[] = { { 3, 1 }, { 1, 2 } };
	uint32_t skip_voltages[] = { 2, 4000000000u }, skip_currents[] = { 3 };
	struct watt_config_chip chips[] = {
		{ .name = (char *)"ina3221", .pairs = pairs, .n_pairs = 2 },
		{ .name = (char *)"skipping",
		  .skip_voltages = skip_voltages,
		  .n_skip_voltages = 2,
		  .skip_currents = skip_currents,
		  .n_skip_currents = 1 },
		{ .name = (char *)"indexed", .is_same_index = true },
	};
	struct watt_config config = { .chips = chips, .n_chips = 3 };
	struct watt_chip_rule rule;

	/* it replaces the built-in rule, and goes before labels */
	assert_true(watt_chip_rule_find(&config, "ina3221", &rule));
	check_pairs(&rule, "1=a 2=b 3=c", "1=a 2=b 3=c", "3*1 1*2");
	/* it only skips: labels still count, an index does not */
	assert_true(watt_chip_rule_find(&config, "skipping", &rule));
	check_pairs(&rule, "1=a 2=b 3", "1=a 2=b 3", "1*1");
	assert_true(watt_chip_rule_find(&config, "indexed", &rule));
	check_pairs(&rule, "1=a 2=b", "1=b 2=a", "1*1 2*2");
	assert_true(watt_chip_rule_find(&config, "ina226", &rule));
	assert_false(rule.is_user);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_chips),
		cmocka_unit_test(test_skipped_by_rule),
		cmocka_unit_test(test_user_rules),
	};

	return cmocka_run_group_tests_name("hwmon_pair", tests, NULL, NULL);
}
