/* SPDX-License-Identifier: Apache-2.0 */
/* cli/output.c: a file is there whole, or not at all */
#include "unit.h"

#include <dirent.h>

#include "output.h"

struct place {
	char *folder;
	char path[PATH_MAX];
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	place->folder = scratch_new();
	snprintf(place->path, sizeof(place->path), "%s/out", place->folder);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	scratch_remove(place->folder);
	free(place);
	return 0;
}

/* Whether the file has the text; NULL: it is not there. And nothing else is. */
static void assert_file(const struct place *place, const char *text)
{
	DIR *folder = opendir(place->folder);
	char buf[64] = "";
	int n = 0, fd = open(place->path, O_RDONLY);

	assert_int_equal(fd >= 0, text != NULL);
	if (text) {
		assert_true(read(fd, buf, sizeof(buf) - 1) >= 0);
		assert_string_equal(buf, text);
		close(fd);
	}
	while (readdir(folder))
		n++;
	closedir(folder);
	assert_int_equal(n, text ? 3 : 2);
}

static void test_appears_when_complete(void **state)
{
	struct output output;

	assert_int_equal(output_open(&output, ((struct place *)*state)->path, false), 0);
	fputs("half", output.file);
	fflush(output.file);
	assert_int_equal(access(((struct place *)*state)->path, F_OK), -1);
	assert_int_equal(output_commit(&output), 0);
	assert_file(*state, "half");
	output_discard(&output);
}

static void test_nothing_stays_of_a_failure(void **state)
{
	struct output output;

	assert_int_equal(output_open(&output, ((struct place *)*state)->path, true), 0);
	fputs("half", output.file);
	output_discard(&output);
	assert_file(*state, NULL);
}

static void test_replaces_only_when_told(void **state)
{
	struct place *place = *state;
	struct output output;

	scratch_write_bytes(place->folder, "out", "old", 3);
	assert_int_equal(output_open(&output, place->path, false), -EEXIST);
	assert_file(place, "old");
	assert_int_equal(output_open(&output, place->path, true), 0);
	fputs("new", output.file);
	assert_file(place, "old");
	assert_int_equal(output_commit(&output), 0);
	assert_file(place, "new");
}

static void test_somebody_else_was_quicker(void **state)
{
	struct place *place = *state;
	struct output output;

	assert_int_equal(output_open(&output, place->path, false), 0);
	fputs("late", output.file);
	scratch_write_bytes(place->folder, "out", "first", 5);
	assert_int_equal(output_commit(&output), -EEXIST);
	assert_file(place, "first");
}

static void test_no_such_folder(void **state)
{
	struct output output;

	assert_int_equal(output_open(&output, "/does/not/exist/out", false), -ENOENT);
	assert_int_equal(output_open(&output, "/tmp", true), -EISDIR);
}

static void test_full_disk(void **state)
{
	struct output output;

	if (access("/dev/full", W_OK) < 0)
		skip();
	assert_int_equal(output_open(&output, "/dev/full", false), 0);
	fputs("something", output.file);
	assert_int_equal(output_commit(&output), -ENOSPC);
}

#define with_place(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		with_place(test_appears_when_complete),
		with_place(test_nothing_stays_of_a_failure),
		with_place(test_replaces_only_when_told),
		with_place(test_somebody_else_was_quicker),
		with_place(test_no_such_folder),
		with_place(test_full_disk),
	};

	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
