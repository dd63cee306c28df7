/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/config/config_yaml.c and config_reader.c */
#include "unit.h"

#include <wattribute/channel.h>

#include "source/config/config.h"

static char said[1024];

static void hear(void *data, enum watt_log_level level, const char *text)
{
	snprintf(said, sizeof(said), "%s", text);
}

static const struct watt_log log_said = { .fn = hear };

static int parse(const char *text, struct watt_config **ret)
{
	said[0] = '\0';
	return watt_config_parse(text, strlen(text), "f", &log_said, ret);
}

static void test_empty_files_are_valid(void **state)
{
	static const char *const texts[] = { "",      "\n\n",       "# a comment\n",
					     "---\n", "---\n...\n", "{}" };
	struct watt_config *config;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(parse(texts[i], &config), 0);
		assert_int_equal(config->n_chips + config->n_rails + config->n_models, 0);
		watt_config_free(config);
	}
}

static void test_chips(void **state)
{
	struct watt_config *config;

	assert_int_equal(parse("hwmon:\n"
			       "  chips:\n"
			       "  - name: ina\n"
			       "    pairs: [[1, 2], [3, 4], [255, 0]]\n"
			       "    skip_voltages: [7, 8]\n"
			       "    skip_currents: [9]\n"
			       "  - {name: 'other one', same_index: true}\n",
			       &config),
			 0);
	assert_int_equal(config->n_chips, 2);
	assert_string_equal(config->chips[0].name, "ina");
	assert_int_equal(config->chips[0].n_pairs, 3);
	assert_int_equal(config->chips[0].pairs[1].voltage, 3);
	assert_int_equal(config->chips[0].pairs[1].current, 4);
	assert_int_equal(config->chips[0].pairs[2].voltage, 255);
	assert_int_equal(config->chips[0].n_skip_voltages, 2);
	assert_int_equal(config->chips[0].skip_voltages[1], 8);
	assert_int_equal(config->chips[0].n_skip_currents, 1);
	assert_int_equal(config->chips[0].skip_currents[0], 9);
	assert_false(config->chips[0].is_same_index);
	assert_string_equal(config->chips[1].name, "other one");
	assert_true(config->chips[1].is_same_index);
	watt_config_free(config);
}

static void test_rails(void **state)
{
	struct watt_config *config;

	assert_int_equal(parse("rails:\n"
			       "- {label: VDD_SOC, domain: vdd_in/vdd_soc, kind: cpu_rail}\n"
			       "- {label: \"+12V\", domain: atx12v}\n",
			       &config),
			 0);
	assert_int_equal(config->n_rails, 2);
	assert_string_equal(config->rails[0].label, "VDD_SOC");
	assert_string_equal(config->rails[0].domain, "vdd_in/vdd_soc");
	assert_int_equal(config->rails[0].kind, WATT_DOMAIN_CPU_RAIL);
	assert_string_equal(config->rails[1].label, "+12V");
	assert_int_equal(config->rails[1].kind, -1);
	watt_config_free(config);
}

/* libfyaml has a text in as many pieces as escapes make of it. */
static void test_text_of_many_pieces(void **state)
{
	struct watt_config *config;

	assert_int_equal(
		parse("rails:\n"
		      "- {label: 'a''a''a''a''a''a''a''a''a''a''a''a''a''a''a''a''a''a''a''a''', domain: a}\n"
		      "- {label: \"b\\x41\\u00e4\\\\\", domain: b}\n",
		      &config),
		0);
	assert_string_equal(config->rails[0].label, "a'a'a'a'a'a'a'a'a'a'a'a'a'a'a'a'a'a'a'a'");
	assert_string_equal(config->rails[1].label, "bA\u00e4\\");
	watt_config_free(config);
	/* What libfyaml 0.7.12 reads wrongly is refused. */
	if (parse("rails:\n- {label: 'a''''b', domain: a}\n", &config) == 0) {
		assert_string_equal(config->rails[0].label, "a''b");
		watt_config_free(config);
	}
	assert_int_equal(parse("rails:\n- {label: \"a\\0b\", domain: a}\n", &config), -EINVAL);
	assert_non_null(strstr(said, "must be a text of 1 to 255 bytes"));
}

static void test_boards(void **state)
{
	const struct watt_config_board *board;
	struct watt_config *config;

	assert_int_equal(parse("boards:\n"
			       "- name: Carrier\n"
			       "  compatible: [acme, p3701-0000]\n"
			       "  gpu_load: [/sys/devices/a/load, /sys/b, /sys/c]\n"
			       "  emc: {activity: /sys/x/mc, period: /sys/x/us, rate: /sys/x/hz}\n"
			       "  thermal: [cpu-thermal]\n"
			       "  rails:\n"
			       "  - {label: VDD_IN, domain: vdd_in, kind: total}\n"
			       "  - {label: A, address: \"0040\", domain: vdd_in/a, chip: ina238}\n"
			       "  - {label: A, address: \"0041\", domain: vdd_in/b, alone: true}\n",
			       &config),
			 0);
	assert_int_equal(config->n_boards, 1);
	board = &config->boards[0];
	assert_string_equal(board->name, "Carrier");
	assert_int_equal(board->n_compatible, 2);
	assert_string_equal(board->compatible[1], "p3701-0000");
	assert_int_equal(board->n_gpu_loads, 3);
	assert_string_equal(board->gpu_loads[0], "devices/a/load");
	assert_string_equal(board->gpu_loads[2], "c");
	assert_null(board->gpu_loads[3]);
	assert_string_equal(board->emc[WATT_CONFIG_EMC_ACTIVITY], "x/mc");
	assert_string_equal(board->emc[WATT_CONFIG_EMC_PERIOD], "x/us");
	assert_string_equal(board->emc[WATT_CONFIG_EMC_RATE], "x/hz");
	assert_string_equal(board->zones[0], "cpu-thermal");
	assert_null(board->zones[1]);
	assert_int_equal(board->n_rails, 3);
	assert_int_equal(board->rails[0].kind, WATT_DOMAIN_TOTAL);
	assert_null(board->rails[0].address);
	assert_null(board->rails[0].chip);
	assert_string_equal(board->rails[1].chip, "ina238");
	assert_string_equal(board->rails[2].address, "0041");
	assert_int_equal(board->rails[2].kind, -1);
	assert_true(board->rails[2].is_alone);
	assert_false(board->rails[1].is_alone);
	watt_config_free(config);
}

static void test_models(void **state)
{
	struct watt_config *config;

	assert_int_equal(parse("estimate:\n"
			       "  models:\n"
			       "  - {name: a, match: EPYC, idle_w: 0.41, full_w: 1.834567,\n"
			       "     uncertainty_percent: 7.5}\n"
			       "  - {name: b, idle_w: 0, full_w: 4000}\n",
			       &config),
			 0);
	assert_int_equal(config->n_models, 2);
	assert_string_equal(config->models[0].match, "EPYC");
	assert_int_equal(config->models[0].idle_uw, 410000);
	assert_int_equal(config->models[0].full_uw, 1834567);
	assert_int_equal(config->models[0].uncertainty_ppm, 75000);
	assert_null(config->models[1].match);
	assert_int_equal(config->models[1].idle_uw, 0);
	assert_int_equal(config->models[1].full_uw, 4000000000u);
	assert_int_equal(config->models[1].uncertainty_ppm, 0);
	watt_config_free(config);
}

/* What is wrong, where, and what is allowed. */
static const struct {
	const char *text;
	const char *said;
} bad_files[] = {
	{ "hwmon: {chips: []}\nrials: []\n",
	  "f:2: unknown key 'rials'; allowed are: options, hwmon, rails, boards, estimate" },
	{ "[]", "f:1: the file must be a mapping ('key: value')" },
	{ "hello", "f:1: the file must be a mapping ('key: value')" },
	{ "? [a]\n: b\n",
	  "f:1: a key must be a word; allowed are: options, hwmon, rails, boards, estimate" },
	{ "rails:\n  a: 1\n", "f:1: rails must be a list ('- item', or [item, item])" },
	{ "rails:\n", "f:1: rails must be a list ('- item', or [item, item])" },
	{ "rails:\n- {label: x}\n", "f:2: the entry that ends here lacks 'domain'" },
	{ "rails:\n- label: x\n  domain: X/y\n",
	  "f:3: domain must be names of a-z, 0-9, ':', '_' and '-', joined by '/', "
	  "as 'vdd_in/vdd_soc'" },
	{ "rails:\n- {label: x, domain: a//b}\n", "f:2: domain must be names of" },
	{ "rails:\n- {label: x, domain: /a}\n", "f:2: domain must be names of" },
	{ "rails:\n- {label: x, domain: a/}\n", "f:2: domain must be names of" },
	{ "rails:\n- {label: '', domain: a}\n", "f:2: label must be a text of 1 to 255 bytes" },
	{ "rails:\n- {label: x, domain: a, kind: residual}\n", "f:2: kind must be one of" },
	{ "rails:\n- {label: x, domain: a}\n- {label: X, domain: b}\n",
	  "f:3: rail 'x' is there twice" },
	{ "boards:\n- {name: x, compatible: [], rails: [{label: a, domain: a}]}\n",
	  "f:2: board 'x' must have a compatible string and a rail" },
	{ "boards:\n- {name: x, compatible: [y], rails: []}\n",
	  "f:2: board 'x' must have a compatible string and a rail" },
	{ "boards:\n- {name: x, compatible: [''], rails: [{label: a, domain: a}]}\n",
	  "f:2: compatible must be a text of 1 to 255 bytes" },
	{ "boards:\n- name: x\n  compatible: [y]\n  rails:\n"
	  "  - {label: a, domain: a, alone: maybe}\n",
	  "f:5: alone must be true or false" },
	{ "boards:\n- {name: x, compatible: [y]}\n",
	  "f:2: the entry that ends here lacks 'rails'" },
	{ "boards:\n- name: x\n  gpu_load: [/sys/../etc/shadow]\n",
	  "f:3: gpu_load must be a file below /sys" },
	{ "boards:\n- name: x\n  gpu_load: [/dev/mem]\n",
	  "f:3: gpu_load must be a file below /sys" },
	{ "boards:\n- name: x\n  gpu_load: /sys/a\n", "f:3: gpu_load must be a list" },
	{ "boards:\n- name: x\n  emc: {activity: /sys/a, rate: /sys/b}\n",
	  "f:3: the entry that ends here lacks 'period'" },
	{ "boards:\n- name: x\n  thermal: ['']\n", "f:3: thermal must be a text of 1 to 255" },
	{ "boards:\n- name: x\n  compatible: [y]\n  rails:\n  - {label: a, domain: a}\n"
	  "  - {label: A, address: \"0040\", domain: b}\n",
	  "f:6: rail 'A' is there twice; an address each" },
	{ "boards:\n- name: x\n  compatible: [y]\n  rails:\n"
	  "  - {label: a, domain: a, address: 40}\n",
	  "f:5: address must be that of a device on an i2c bus" },
	{ "hwmon:\n  chips:\n  - name: a\n  - name: a\n", "f:4: chip 'a' is there twice" },
	{ "hwmon:\n  chips:\n  - name: a\n    pairs: [[1]]\n",
	  "f:4: a pair must be [N of inN, M of currM]" },
	{ "hwmon:\n  chips:\n  - name: a\n    pairs: [[1,\n     256]]\n",
	  "f:5: the number of a sensor must be from 0 to 255" },
	{ "hwmon:\n  chips:\n  - name: a\n    skip_voltages: [-1]\n",
	  "f:4: the number of a sensor must be from 0 to 255" },
	{ "hwmon:\n  chips:\n  - name: a\n    same_index: yes\n",
	  "f:4: same_index must be true or false" },
	{ "estimate:\n  models:\n  - {name: a, idle_w: 1, full_w: 4001}\n",
	  "f:3: full_w must be a number from 0 to 4000 with at most 6 decimal places" },
	{ "estimate:\n  models:\n  - {name: a, idle_w: 0.0000001, full_w: 1}\n",
	  "f:3: idle_w must be a number" },
	{ "estimate:\n  models:\n  - {name: a, idle_w: 1., full_w: 1}\n",
	  "f:3: idle_w must be a number" },
	{ "estimate:\n  models:\n  - {name: a, idle_w: -1, full_w: 1}\n",
	  "f:3: idle_w must be a number" },
	{ "estimate:\n  models:\n  - {name: a, idle_w: 99999999999999999999, full_w: 1}\n",
	  "f:3: idle_w must be a number" },
	{ "estimate:\n  models:\n  - {name: a, idle_w: 2, full_w: 1}\n",
	  "f:3: model 'a': full_w must be more than 0 and at least idle_w" },
	{ "estimate:\n  models:\n  - {name: a, idle_w: 0, full_w: 0}\n", "f:3: model 'a'" },
	{ "estimate:\n  models:\n  - {name: a, idle_w: 0, full_w: 1,\n"
	  "     uncertainty_percent: 100.1}\n",
	  "f:4: uncertainty_percent must be a number from 0 to 100 with" },
	{ "rails: []\nrails: []\n", "f:2: not valid YAML: duplicate key" },
	{ "rails: [\n", "f:2: not valid YAML: " },
	{ "a: &x 1\nrails: *x\n", "f:1: unknown key 'a'" },
	{ "rails: &x []\nhwmon: *x\n", "f:2: hwmon must be a mapping" },
	{ "rails: []\n---\nrails: []\n", "f:1: more than one document ('---')" },
};

static void test_errors(void **state)
{
	struct watt_config *config = NULL;
	size_t i;

	for (i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++) {
		assert_int_equal(parse(bad_files[i].text, &config), -EINVAL);
		said[strnlen(said, strlen(bad_files[i].said))] = '\0';
		assert_string_equal(said, bad_files[i].said);
		assert_null(config);
	}
}

static void test_text_that_is_none(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *said;
	} cases[] = {
		{ "rails: []\n\0", 11, "f:2: byte 0x00 is not UTF-8 text" },
		{ "\n\n\xff", 3, "f:3: byte 0xff is not UTF-8 text" },
		{ "a: \xc0\x80", 5, "f:1: byte 0xc0 is not UTF-8 text" },
		{ "a: \xed\xa0\x80", 6, "f:1: byte 0xed is not UTF-8 text" },
		{ "a: \xf4\x90\x80\x80", 7, "f:1: byte 0xf4 is not UTF-8 text" },
		{ "a: \xe2\x82", 5, "f:1: byte 0xe2 is not UTF-8 text" },
		{ "\n%YAML 1.2\n---\n", 15,
		  "f:2: a line that begins with '%'; YAML directives have no use here" },
	};
	struct watt_config *config = NULL;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(watt_config_parse(cases[i].text, cases[i].len, "f", &log_said,
						   &config),
				 -EINVAL);
		assert_string_equal(said, cases[i].said);
		assert_null(config);
	}
	/* All lengths of characters. */
	assert_int_equal(parse("# a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n", &config), 0);
	watt_config_free(config);
}

static void test_too_many_entries(void **state)
{
	struct watt_config *config = NULL;
	char text[16384] = "hwmon: {chips: [{name: a, skip_currents: [0";
	size_t len = strlen(text);
	int i;

	for (i = 0; i < 1024; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, ",%d", i % 7);
	snprintf(text + len, sizeof(text) - len, "]}]}");
	assert_int_equal(parse(text, &config), -EINVAL);
	assert_string_equal(said, "f:1: more than 1024 entries in one list");
}

/* Refused before libfyaml compares each key with all others, which takes as long as it looks. */
static void test_too_many_keys(void **state)
{
	struct watt_config *config = NULL;
	size_t size = 1 << 20, len = 0;
	char *text = malloc(size);
	int i;

	assert_non_null(text);
	for (i = 0; i < 60000; i++)
		len += (size_t)snprintf(text + len, size - len, "key%d: 1\n", i);
	assert_int_equal(parse(text, &config), -EINVAL);
	assert_string_equal(said, "f:257: more than 256 keys in one mapping");
	for (len = 0, i = 0; i < 40; i++)
		len += (size_t)snprintf(text + len, size - len, "[");
	assert_int_equal(parse(text, &config), -EINVAL);
	assert_string_equal(said, "f:1: nested deeper than 32 levels");
	free(text);
}

/* Nobody need listen. */
static void test_without_log(void **state)
{
	struct watt_config *config = NULL;

	assert_int_equal(watt_config_parse("x: 1", 4, "f", NULL, &config), -EINVAL);
	assert_null(config);
}

static void test_the_example_is_valid(void **state)
{
	char path[PATH_MAX];
	struct watt_config *config;

	snprintf(path, sizeof(path), "%s/../../docs/wattribute.yaml.example",
		 getenv("WATT_FIXTURES"));
	said[0] = '\0';
	assert_int_equal(watt_config_open(path, &log_said, &config), 0);
	assert_string_equal(said, "");
	assert_int_equal(config->n_chips, 2);
	assert_int_equal(config->chips[0].pairs[1].current, 4);
	assert_int_equal(config->n_rails, 2);
	assert_int_equal(config->n_models, 2);
	watt_config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_files_are_valid),
		cmocka_unit_test(test_chips),
		cmocka_unit_test(test_rails),
		cmocka_unit_test(test_text_of_many_pieces),
		cmocka_unit_test(test_boards),
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_text_that_is_none),
		cmocka_unit_test(test_too_many_entries),
		cmocka_unit_test(test_too_many_keys),
		cmocka_unit_test(test_without_log),
		cmocka_unit_test(test_the_example_is_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
