/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/fs.c */
#include "unit.h"

#include "base/fs.h"

static void test_read(void **state)
{
	struct watt_root root = WATT_ROOT_INIT;
	char *dir = scratch_new();
	uint64_t value = 0;
	char buf[8], page[4096];

	scratch_write(dir, "a/b", "123\n");
	scratch_write_bytes(dir, "nul", "1\0002", 3);
	memset(page, 0, sizeof(page));
	memcpy(page, "4711\n", 5);
	scratch_write_bytes(dir, "padded", page, sizeof(page));
	scratch_write_bytes(dir, "nuls", page + 5, 9);
	scratch_write(dir, "long", "12345678");
	assert_int_equal(watt_root_open(&root, "/does/not/exist"), -ENOENT);
	assert_int_equal(watt_root_open(&root, dir), 0);
	assert_false(root.is_kernel);
	assert_int_equal(watt_root_read(&root, "a/b", buf, sizeof(buf)), 3);
	assert_string_equal(buf, "123");
	assert_int_equal(watt_root_read_u64(&root, "a/b", &value), 0);
	assert_int_equal(value, 123);
	assert_int_equal(watt_root_read(&root, "nul", buf, sizeof(buf)), -EBADMSG);
	/* what a copy of sysfs has behind the text, however long */
	assert_int_equal(watt_root_read(&root, "padded", buf, sizeof(buf)), 4);
	assert_string_equal(buf, "4711");
	assert_int_equal(watt_root_read_u64(&root, "padded", &value), 0);
	assert_int_equal(value, 4711);
	assert_int_equal(watt_root_read(&root, "nuls", buf, sizeof(buf)), -EMSGSIZE);
	assert_int_equal(watt_root_read(&root, "long", buf, sizeof(buf)), -EMSGSIZE);
	assert_int_equal(watt_root_read(&root, "none", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(watt_root_read(&root, "../etc/passwd", buf, sizeof(buf)), -EINVAL);
	assert_int_equal(watt_root_read(&root, "/etc/passwd", buf, sizeof(buf)), -EINVAL);
	watt_root_close(&root);
	scratch_remove(dir);
}

/* Where it is not looked for at each read, a file that is gone is noticed all the same. */
static void test_looks_now_and_then(void **state)
{
	struct watt_root root = WATT_ROOT_INIT;
	struct watt_file file = WATT_FILE_INIT;
	char *dir = scratch_new();
	uint64_t value = 0;

	scratch_write(dir, "energy_uj", "1000");
	assert_int_equal(watt_root_open(&root, dir), 0);
	root.look_ns = UINT64_MAX;
	assert_int_equal(watt_file_open(&file, &root, "energy_uj"), 0);
	assert_int_equal(watt_file_read_u64(&file, &value), 0);
	scratch_unlink(dir, "energy_uj");
	assert_int_equal(watt_file_read_u64(&file, &value), 0);
	assert_int_equal(value, 1000);
	root.look_ns = WATT_ROOT_LOOK_NS;
	while (watt_file_read_u64(&file, &value) == 0)
		continue;
	assert_int_equal(watt_file_read_u64(&file, &value), -ENODEV);
	scratch_write(dir, "energy_uj", "5");
	assert_int_equal(watt_file_read_u64(&file, &value), 0);
	assert_int_equal(value, 5);
	watt_file_close(&file);
	watt_root_close(&root);
	scratch_remove(dir);
}

/* Counters of sysfs are digits and a newline; whatever else there is has to be told apart. */
static void test_reads_a_number(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t value;
	} cases[] = {
		{ "0\n", 0, 0 },
		{ "262143328850\n", 0, 262143328850 },
		{ "262143328850", 0, 262143328850 },
		{ " 12 \n", 0, 12 },
		{ "9999999999999999999\n", 0, 9999999999999999999u },
		{ "18446744073709551615\n", 0, UINT64_MAX },
		{ "18446744073709551616\n", -ERANGE, 0 },
		{ "00000000000000000000000000012\n", 0, 12 },
		{ "\n", -EBADMSG, 0 },
		{ "", -EBADMSG, 0 },
		{ "12\n13\n", -EBADMSG, 0 },
		{ "1:2\n", -EBADMSG, 0 },
		{ "-12\n", -EBADMSG, 0 },
	};
	struct watt_root root = WATT_ROOT_INIT;
	struct watt_file file = WATT_FILE_INIT;
	char *dir = scratch_new();
	uint64_t value;
	size_t i;

	scratch_write(dir, "energy_uj", "1");
	assert_int_equal(watt_root_open(&root, dir), 0);
	assert_int_equal(watt_file_open(&file, &root, "energy_uj"), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		value = 0;
		scratch_write(dir, "energy_uj", cases[i].text);
		assert_int_equal(watt_file_read_u64(&file, &value), cases[i].r);
		assert_int_equal(value, cases[i].value);
	}
	watt_file_close(&file);
	watt_root_close(&root);
	scratch_remove(dir);
}

static void test_file_comes_back(void **state)
{
	struct watt_root root = WATT_ROOT_INIT;
	struct watt_file file = WATT_FILE_INIT;
	char *dir = scratch_new();
	uint64_t value = 0;

	scratch_write(dir, "energy_uj", "1000");
	assert_int_equal(watt_root_open(&root, dir), 0);
	assert_int_equal(watt_file_open(&file, &root, "energy_uj"), 0);
	assert_int_equal(watt_file_read_u64(&file, &value), 0);
	scratch_write(dir, "energy_uj", "2000");
	assert_int_equal(watt_file_read_u64(&file, &value), 0);
	assert_int_equal(value, 2000);
	scratch_unlink(dir, "energy_uj");
	assert_int_equal(watt_file_read_u64(&file, &value), -ENODEV);
	scratch_write(dir, "energy_uj", "5");
	assert_int_equal(watt_file_read_u64(&file, &value), 0);
	assert_int_equal(value, 5);
	scratch_write(dir, "energy_uj", "5 apples");
	assert_int_equal(watt_file_read_u64(&file, &value), -EBADMSG);
	watt_file_close(&file);
	watt_root_close(&root);
	scratch_remove(dir);
}

static void test_list(void **state)
{
	struct watt_root root = WATT_ROOT_INIT;
	struct watt_names names = WATT_NAMES_INIT;
	char *dir = scratch_new();

	scratch_write(dir, "d/hwmon10", "");
	scratch_write(dir, "d/hwmon2", "");
	scratch_write(dir, "d/other", "");
	assert_int_equal(watt_root_open(&root, dir), 0);
	assert_int_equal(watt_root_list(&root, "d", "hwmon", &names), 0);
	assert_int_equal(names.n, 2);
	assert_string_equal(names.name[0], "hwmon2");
	assert_string_equal(names.name[1], "hwmon10");
	watt_names_free(&names);
	assert_int_equal(watt_root_list(&root, "none", "", &names), -ENOENT);
	watt_root_close(&root);
	scratch_remove(dir);
}

static void test_kernel_root(void **state)
{
	struct watt_root root = WATT_ROOT_INIT;
	char *text = NULL;
	size_t len = 0;

	assert_int_equal(watt_root_open(&root, "/proc"), 0);
	assert_true(root.is_kernel);
	assert_int_equal(watt_root_slurp(&root, "stat", 1 << 20, &text, &len), 0);
	assert_true(len > 10);
	assert_memory_equal(text, "cpu ", 4);
	free(text);
	watt_root_close(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_reads_a_number),
		cmocka_unit_test(test_file_comes_back),
		cmocka_unit_test(test_looks_now_and_then),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_kernel_root),
	};

	return cmocka_run_group_tests_name("fs", tests, NULL, NULL);
}
