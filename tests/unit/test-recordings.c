/* SPDX-License-Identifier: Apache-2.0 */
/* agent/recordings.c: what asks for one, what bounds it, and what is left of one that was cut off. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* There is another one beside this file. */
#include "../../agent/recordings.h"
#include "settings.h"

static void expect_parsed(const char *text, int r)
{
	char error[256] = "";
	uint32_t seconds = 0;

	assert_int_equal(recordings_parse(text, strlen(text), &seconds, error, sizeof(error)), r);
	assert_int_equal(seconds != 0, r == 0);
	assert_int_equal(error[0] != '\0', r != 0);
}

static void test_parse(void **state)
{
	uint64_t id;

	(void)state;
	expect_parsed("{\"seconds\": 1}", 0);
	expect_parsed("{\"seconds\": 3600}", 0);
	expect_parsed("{\"seconds\": 3601}", -EINVAL);
	expect_parsed("{\"seconds\": 0}", -EINVAL);
	expect_parsed("{\"seconds\": 1.5}", -EINVAL);
	expect_parsed("{\"seconds\": 1, \"x\": 1}", -EINVAL);
	expect_parsed("[1]", -EINVAL);
	expect_parsed("", -EINVAL);
	assert_int_equal(recordings_parse_id("1795455001123", &id), 0);
	assert_int_equal(id, 1795455001123);
	assert_int_equal(recordings_parse_id("0", &id), -EINVAL);
	assert_int_equal(recordings_parse_id("01", &id), -EINVAL);
	assert_int_equal(recordings_parse_id("-1", &id), -EINVAL);
	assert_int_equal(recordings_parse_id("1/../x", &id), -EINVAL);
}

static struct recordings *open_in(const char *folder, struct settings *settings)
{
	struct recordings *recordings;

	settings_init(settings);
	assert_int_equal(settings_take(settings, SETTING_SOURCES, "synth", "test"), 0);
	assert_int_equal(settings_take(settings, SETTING_USAGE, "synth", "test"), 0);
	assert_int_equal(settings_take(settings, SETTING_RECORDINGS, folder, "test"), 0);
	assert_int_equal(settings_take(settings, SETTING_RECORDINGS_MOST, "1", "test"), 0);
	/* No file is so small that there was room for it. */
	settings->values[SETTING_RECORDING_MIB].number = 0;
	assert_int_equal(recordings_open(&recordings, settings), 0);
	assert_non_null(recordings);
	return recordings;
}

static bool is_listed(struct recordings *recordings, const char *what)
{
	char *list = recordings_list(recordings);
	bool found;

	assert_non_null(list);
	found = strstr(list, what) != NULL;
	free(list);
	return found;
}

/* An hour is asked for; it ends because it is too large. */
static void test_bounds(void **state)
{
	const struct timespec pause = { 0, 10000000 };
	char folder[] = "/tmp/watt-recordings-XXXXXX";
	struct recordings *recordings;
	struct settings settings;
	int i, fd = -1, r;
	uint64_t id;

	(void)state;
	assert_non_null(mkdtemp(folder));
	recordings = open_in(folder, &settings);
	r = recordings_begin(recordings, RECORDING_SECONDS_MAX, &id);
	assert_int_equal(r, 0);
	for (i = 0; i < 6000 && is_listed(recordings, "running"); i++)
		nanosleep(&pause, NULL);
	assert_true(is_listed(recordings, "\"done\""));
	assert_true(is_listed(recordings, "\"last_error\":null"));
	assert_int_equal(recordings_begin(recordings, 1, &id), -EDQUOT);
	assert_int_equal(recordings_open_file(recordings, id, &fd), 0);
	close(fd);
	assert_int_equal(recordings_delete(recordings, id), 0);
	assert_int_equal(recordings_delete(recordings, id), -ENOENT);
	assert_int_equal(recordings_open_file(recordings, id, &fd), -ENOENT);
	recordings_close(recordings);
	settings_done(&settings);
	assert_int_equal(rmdir(folder), 0);
}

static void write_file(const char *folder, const char *name)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("0123456789", file);
	assert_int_equal(fclose(file), 0);
}

/* Half of one is never handed out as the whole; what belongs to it goes with it. */
static void test_interrupted(void **state)
{
	char folder[] = "/tmp/watt-recordings-XXXXXX";
	struct recordings *recordings;
	struct settings settings;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	write_file(folder, "7.watt");
	write_file(folder, "7.watt-wal");
	recordings = open_in(folder, &settings);
	assert_true(is_listed(recordings, "\"interrupted\""));
	assert_true(is_listed(recordings, "\"bytes\":20"));
	assert_int_equal(recordings_open_file(recordings, 7, &fd), -EUCLEAN);
	assert_int_equal(recordings_delete(recordings, 7), 0);
	recordings_close(recordings);
	settings_done(&settings);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
