/* SPDX-License-Identifier: Apache-2.0 */
/* agent/settings.c and agent/settings_yaml.c */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"

static int take(struct settings *settings, const char *text)
{
	return settings_take_yaml(settings, text, strlen(text), "a.yaml");
}

static void test_defaults_are_valid(void **state)
{
	struct settings settings;
	int id;

	settings_init(&settings);
	for (id = 0; id < SETTING_N; id++) {
		assert_non_null(setting_get((enum setting_id)id)->name);
		assert_string_equal(settings_text(&settings, (enum setting_id)id),
				    setting_get((enum setting_id)id)->value);
	}
	assert_int_equal(settings_check(&settings), 0);
	assert_int_equal(settings_number(&settings, SETTING_INTERVAL), 1000000000);
	assert_int_equal(settings_number(&settings, SETTING_KEEP_ENDED), 300000000000);
	assert_int_equal(settings_number(&settings, SETTING_LEVELS), 0x3f);
	assert_int_equal(settings_number(&settings, SETTING_CREATED), 1);
	assert_null(settings_text_or_null(&settings, SETTING_SOURCES));
	settings_done(&settings);
}

static void test_yaml(void **state)
{
	struct settings settings;

	settings_init(&settings);
	assert_int_equal(take(&settings, "# a comment\ntop: 7\nlisten: '[::1]:1'\n"
					 "levels: pod,user\ninterval: 250ms\ncreated: false\n"
					 "usage: procfs\nmin_age: 0s\n"),
			 0);
	assert_int_equal(settings_number(&settings, SETTING_TOP), 7);
	assert_string_equal(settings_text(&settings, SETTING_LISTEN), "[::1]:1");
	assert_int_equal(settings_number(&settings, SETTING_LEVELS), 1 << 2 | 1 << 4);
	assert_int_equal(settings_number(&settings, SETTING_INTERVAL), 250000000);
	assert_int_equal(settings_number(&settings, SETTING_CREATED), 0);
	assert_int_equal(settings_number(&settings, SETTING_USAGE), 2);
	assert_int_equal(settings_number(&settings, SETTING_MIN_AGE), 0);
	assert_int_equal(take(&settings, ""), 0);
	assert_int_equal(take(&settings, "# nothing\n"), 0);
	assert_int_equal(settings_number(&settings, SETTING_TOP), 7);
	settings_done(&settings);
}

/* libfyaml has a text in as many pieces as escapes and lines make of it. */
static void test_yaml_text_of_many_pieces(void **state)
{
	char text[8192] = "sources: '", want[4200] = "";
	struct settings settings;
	size_t i;

	settings_init(&settings);
	for (i = 0; i < 100; i++) {
		strcat(text, "a''");
		strcat(want, "a'");
	}
	strcat(text, "'\nrates: \"a\\x41\\u00e4\\\\\"\nlisten: a\n  b\ndelays: \"\"\n");
	assert_int_equal(take(&settings, text), 0);
	assert_string_equal(settings_text(&settings, SETTING_SOURCES), want);
	assert_string_equal(settings_text(&settings, SETTING_RATES), "aA\u00e4\\");
	assert_string_equal(settings_text(&settings, SETTING_LISTEN), "a b");
	assert_string_equal(settings_text(&settings, SETTING_DELAYS), "");
	settings_done(&settings);

	settings_init(&settings);
	assert_int_equal(take(&settings, "sources: \"a\\0b\"\n"), -EINVAL);
	assert_non_null(strstr(settings.error, "sources must be one plain value of at most 4096"));
	/* What libfyaml 0.7.12 reads wrongly is refused. */
	if (take(&settings, "sources: 'a''''b'\n") == 0)
		assert_string_equal(settings_text(&settings, SETTING_SOURCES), "a''b");
	memset(want, 'a', 4097);
	snprintf(text, sizeof(text), "sources: '%s'\n", want);
	assert_int_equal(take(&settings, text), -EINVAL);
	assert_non_null(strstr(settings.error, "sources must be one plain value of at most 4096"));
	settings_done(&settings);
}

/* Each names the place and what is allowed, and changes nothing. */
static void test_errors(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "top: 7\ntop: 8\n", "a.yaml:" },
		{ "top: 7\nbottom: 8\n", "a.yaml:2: 'bottom' is no setting" },
		{ "top: 0\n", "a.yaml:1: top: '0' is not a number from 1 to 10000" },
		{ "top: 1\n\nkeep_ended: 5\n", "a.yaml:3: keep_ended: '5' is not a time with its "
					       "unit, from 0ms to 24h" },
		{ "interval: 1ms\n", "a.yaml:1: interval: '1ms' is not a time" },
		{ "interval: 2h\n", "from 50ms to 1h" },
		{ "created: yes\n", "a.yaml:1: created: 'yes' is not true or false" },
		{ "usage: magic\n", "'magic' is not auto, bpf, procfs or synth" },
		{ "levels: pod,planet\n", "is not a list of process, container, pod" },
		{ "levels: pod,\n", "is not a list of" },
		{ "top: [1, 2]\n", "a.yaml:1: top must be one plain value" },
		{ "top: {a: 1}\n", "top must be one plain value" },
		{ "- top\n", "must be lines of 'name: value'" },
		{ "just text\n", "must be lines of 'name: value'" },
		{ "top: 7\n---\ntop: 8\n", "more than one document" },
		{ "top: 'a\n", "a.yaml:" },
		{ "%YAML 1.2\n", "a.yaml:1: a line can't begin with '%'" },
		{ "top: \xff\n", "a.yaml:1: byte 0xff is not UTF-8" },
		{ "top: 7\nlisten: &x a\nsources: *x\n", "a.yaml:3" },
	};
	struct settings settings;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		settings_init(&settings);
		assert_int_equal(take(&settings, cases[i].text), -EINVAL);
		if (!strstr(settings.error, cases[i].error))
			fail_msg("%s: %s", cases[i].text, settings.error);
		assert_int_equal(settings_number(&settings, SETTING_TOP), 100);
		settings_done(&settings);
	}
}

static void test_nul(void **state)
{
	struct settings settings;

	settings_init(&settings);
	assert_int_equal(settings_take_yaml(&settings, "top: 7\0\n", 8, "a.yaml"), -EINVAL);
	assert_int_equal(settings_number(&settings, SETTING_TOP), 100);
	settings_done(&settings);
}

static void test_environment(void **state)
{
	static const char *const good[] = { "HOME=/", "WATTRIBUTE_TOP=5", "WATTRIBUTE_MARKS=x",
					    "WATTRIBUTE_KEEP_ENDED=1h", NULL };
	static const char *const unknown[] = { "WATTRIBUTE_TOPP=5", NULL };
	static const char *const wrong[] = { "WATTRIBUTE_TOP=-5", NULL };
	struct settings settings;

	settings_init(&settings);
	assert_int_equal(settings_take_environment(&settings, good), 0);
	assert_int_equal(settings_number(&settings, SETTING_TOP), 5);
	assert_int_equal(settings_number(&settings, SETTING_KEEP_ENDED), 3600000000000);
	assert_int_equal(settings_take_environment(&settings, unknown), -EINVAL);
	assert_non_null(strstr(settings.error, "WATTRIBUTE_TOPP"));
	assert_int_equal(settings_take_environment(&settings, wrong), -EINVAL);
	assert_non_null(strstr(settings.error, "environment WATTRIBUTE_TOP: top: '-5'"));
	assert_int_equal(settings_number(&settings, SETTING_TOP), 5);
	settings_done(&settings);
}

static void test_combinations(void **state)
{
	struct settings settings;

	settings_init(&settings);
	assert_int_equal(take(&settings, "interval: 100ms\nslice: 200ms\n"), 0);
	assert_int_equal(settings_check(&settings), -EINVAL);
	assert_non_null(strstr(settings.error, "a.yaml:1"));
	assert_non_null(strstr(settings.error, "a.yaml:2"));
	settings_done(&settings);
}

/* What is printed is read again, and means the same. */
static void test_print(void **state)
{
	struct settings settings, again;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	int id;

	settings_init(&settings);
	assert_int_equal(settings_take(&settings, SETTING_SOURCES, "a \"b\" \\ c\td # e", "flag"),
			 0);
	assert_int_equal(settings_take(&settings, SETTING_TOP, "12", "flag"), 0);
	settings_print(&settings, out);
	fclose(out);
	settings_init(&again);
	assert_int_equal(settings_take_yaml(&again, text, n, "a.yaml"), 0);
	for (id = 0; id < SETTING_N; id++) {
		assert_string_equal(settings_text(&again, (enum setting_id)id),
				    settings_text(&settings, (enum setting_id)id));
		assert_int_equal(settings_number(&again, (enum setting_id)id),
				 settings_number(&settings, (enum setting_id)id));
	}
	assert_non_null(strstr(text, "# from: flag\n"));
	settings_done(&again);
	settings_done(&settings);
	free(text);
}

static void test_file(void **state)
{
	char path[] = "/tmp/settings.XXXXXX";
	struct settings settings;
	int fd = mkstemp(path);

	settings_init(&settings);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "top: 3\n", 7), 7);
	close(fd);
	assert_int_equal(settings_take_file(&settings, path), 0);
	assert_int_equal(settings_number(&settings, SETTING_TOP), 3);
	unlink(path);
	assert_int_equal(settings_take_file(&settings, path), -ENOENT);
	assert_non_null(strstr(settings.error, path));
	assert_true(settings_take_file(&settings, "/") < 0);
	settings_done(&settings);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_valid),
		cmocka_unit_test(test_yaml),
		cmocka_unit_test(test_yaml_text_of_many_pieces),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_combinations),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
