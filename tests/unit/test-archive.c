/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/archive.c */
#include "unit.h"

#include "base/archive.h"

static const struct watt_archive_limits limits = {
	.max_entries = 8,
	.max_bytes = 1 << 20,
	.max_file_bytes = 4096,
};

/* One header of a tar archive, and the blocks of its content. Returns their size. */
static size_t put(char *to, const char *path, char type, const char *link, size_t size)
{
	unsigned int sum = 0;
	size_t i;

	memset(to, 0, 512 + (size + 511) / 512 * 512);
	snprintf(to, 100, "%s", path);
	memcpy(to + 100, "0000644", 8);
	memcpy(to + 108, "0000000", 8);
	memcpy(to + 116, "0000000", 8);
	snprintf(to + 124, 12, "%011zo", size);
	memcpy(to + 136, "00000000000", 12);
	to[156] = type;
	snprintf(to + 157, 100, "%s", link);
	memcpy(to + 257, "ustar\00000", 8);
	memset(to + 148, ' ', 8);
	for (i = 0; i < 512; i++)
		sum += (unsigned char)to[i];
	snprintf(to + 148, 8, "%06o", sum);
	memset(to + 512, 'x', size);
	return 512 + (size + 511) / 512 * 512;
}

struct entry {
	const char *path;
	char type;
	const char *link;
	size_t size;
};

/* Unpacks these into a folder that is given. */
static int unpack(const char *dir, const struct entry *entries, size_t n, char *problem)
{
	static char tar[64 << 10];
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), r;
	size_t len = 0, i;

	for (i = 0; i < n; i++)
		len += put(tar + len, entries[i].path, entries[i].type,
			   entries[i].link ? entries[i].link : "", entries[i].size);
	memset(tar + len, 0, 1024);
	r = watt_archive_unpack_memory(tar, len + 1024, &limits, fd, problem);
	close(fd);
	return r;
}

static bool is_there(const char *dir, const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	return lstat(full, &st) == 0;
}

static void test_unpack(void **state)
{
	static const struct entry entries[] = {
		{ "./", '5' },
		{ "./sys/", '5' },
		{ "./sys/devices/a/energy", '0', NULL, 5 },
		{ "sys/class/a", '2', "../devices/a" },
	};
	char problem[WATT_ARCHIVE_PROBLEM_SIZE] = "", path[PATH_MAX], text[16];
	char *dir = scratch_new();
	int fd;

	assert_int_equal(unpack(dir, entries, 4, problem), 0);
	assert_string_equal(problem, "");
	snprintf(path, sizeof(path), "%s/sys/class/a/energy", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, text, sizeof(text)), 5);
	close(fd);
	scratch_remove(dir);
}

/* What is hostile, by itself or behind something harmless. */
static const struct {
	struct entry entries[3];
	int error;
	const char *problem;
} hostile[] = {
	{ { { "../up", '0' } }, -EINVAL, "'../up'" },
	{ { { "a/../../up", '0' } }, -EINVAL, "'a/../../up'" },
	{ { { "/tmp/absolute", '0' } }, -EINVAL, "'/tmp/absolute'" },
	{ { { "a//b", '0' } }, -EINVAL, "leads out" },
	{ { { "a", '2', "/etc/passwd" } }, -EINVAL, "'a' is a link that leads out" },
	{ { { "a", '2', ".." } }, -EINVAL, "link that leads out" },
	{ { { "s/a", '2', "../../etc" } }, -EINVAL, "link that leads out" },
	/* each by itself stays inside, both together would not */
	{ { { "s/t/x", '2', "../../s" }, { "s/t/y", '2', "x/../../etc" } },
	  -EINVAL,
	  "'s/t/y' is a link that leads out" },
	{ { { "a", '1', "/etc/passwd" } }, -EINVAL, "hard link" },
	{ { { "a", '3' } }, -EINVAL, "neither file, folder nor link" },
	{ { { "a", '6' } }, -EINVAL, "neither file, folder nor link" },
	/* through a link that is there, even a harmless one */
	{ { { "d/e", '0' }, { "l", '2', "d" }, { "l/f", '0' } }, -ENOTDIR, "cannot unpack 'l/f'" },
	{ { { "d/e", '0' }, { "l", '2', "d/e" }, { "l", '0' } }, -EEXIST, "cannot unpack 'l'" },
	{ { { "big", '0', NULL, 4097 } }, -E2BIG, "more than 4096 bytes" },
};

static void test_hostile(void **state)
{
	char problem[WATT_ARCHIVE_PROBLEM_SIZE];
	size_t i, n;

	for (i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		char *dir = scratch_new();

		for (n = 0; n < 3 && hostile[i].entries[n].path; n++)
			;
		problem[0] = '\0';
		assert_int_equal(unpack(dir, hostile[i].entries, n, problem), hostile[i].error);
		assert_non_null(strstr(problem, hostile[i].problem));
		assert_false(is_there(dir, "../up"));
		assert_false(is_there(dir, "d/f"));
		scratch_remove(dir);
	}
}

static void test_limits(void **state)
{
	struct entry entries[9];
	char names[9][8], problem[WATT_ARCHIVE_PROBLEM_SIZE];
	char *dir = scratch_new();
	size_t i;

	for (i = 0; i < 9; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		entries[i] = (struct entry){ names[i], '0', NULL, 1 };
	}
	assert_int_equal(unpack(dir, entries, 9, problem), -E2BIG);
	assert_non_null(strstr(problem, "more than 8 files"));
	scratch_remove(dir);
}

static void test_no_archive(void **state)
{
	char problem[WATT_ARCHIVE_PROBLEM_SIZE] = "";
	char *dir = scratch_new();
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(watt_archive_unpack_memory("nonsense", 8, &limits, fd, problem), -EINVAL);
	assert_true(problem[0]);
	assert_int_equal(watt_archive_unpack("/dev/null", &limits, fd, problem), -EINVAL);
	close(fd);
	scratch_remove(dir);
}

/* A small file that unpacks to a large one: refused while it comes. */
static void test_bomb(void **state)
{
	static char zeros[1 << 20];
	char problem[WATT_ARCHIVE_PROBLEM_SIZE] = "", path[PATH_MAX];
	struct watt_archive_limits some = limits;
	struct watt_archive_writer *writer;
	char *dir = scratch_new();
	int out, fd;

	snprintf(path, sizeof(path), "%s/bomb.tar.zst", dir);
	out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(watt_archive_writer_open(out, path, &writer), 0);
	assert_int_equal(watt_archive_writer_add(writer, "a", zeros, sizeof(zeros)), 0);
	assert_int_equal(watt_archive_writer_add(writer, "b", "", 0), 0);
	assert_int_equal(watt_archive_writer_finish(writer), 0);
	watt_archive_writer_free(writer);
	assert_true(lseek(out, 0, SEEK_END) < 4096);
	close(out);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(watt_archive_unpack(path, &some, fd, problem), -E2BIG);
	assert_non_null(strstr(problem, "more than 4096 bytes"));
	scratch_unlink(dir, "a");
	some.max_file_bytes = 1 << 21;
	some.max_bytes = 1 << 19;
	assert_int_equal(watt_archive_unpack(path, &some, fd, problem), -E2BIG);
	assert_non_null(strstr(problem, "unpacks to more than"));
	close(fd);
	scratch_remove(dir);
}

static void test_links(void **state)
{
	assert_int_equal(watt_archive_check_link("sys/class/a", "../../sys/devices"), 0);
	assert_int_equal(watt_archive_check_link("./a", "b/c"), 0);
	assert_int_equal(watt_archive_check_link("./a", "../b"), -EINVAL);
	assert_int_equal(watt_archive_check_link("a/b", "..b"), 0);
	assert_int_equal(watt_archive_check_link("a/b", "../.."), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unpack), cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_no_archive),
		cmocka_unit_test(test_bomb),   cmocka_unit_test(test_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
