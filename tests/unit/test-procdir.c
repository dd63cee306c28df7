/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/host/procdir.c */
#include "unit.h"

#include "base/util.h"
#include "source/host/procdir.h"

static void test_parse_uid(void **state)
{
	static const struct {
		const char *text;
		int r;
		uint32_t uid;
	} cases[] = {
		{ "Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\n", 0, 2 },
		{ "Uid:\t0\t0\t0\t0", 0, 0 },
		{ "Uid: 7 4294967295", 0, UINT32_MAX },
		{ "Name:\tUid: 5 5\n", -EBADMSG, 99 },
		{ "", -EBADMSG, 99 },
		{ "Uid:", -EBADMSG, 99 },
		{ "Uid:\t1", -EBADMSG, 99 },
		{ "Uid:\t1\tx", -EBADMSG, 99 },
		{ "Uid:\t-1\t2", -EBADMSG, 99 },
		{ "Uid:\t1\t4294967296", -ERANGE, 99 },
		{ "Uid:\t1\t99999999999999999999", -ERANGE, 99 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		uint32_t uid = 99;

		assert_int_equal(watt_procdir_parse_uid(cases[i].text, &uid), cases[i].r);
		assert_int_equal(uid, cases[i].uid);
	}
}

static void test_open(void **state)
{
	struct watt_root procfs = WATT_ROOT_INIT, process = WATT_ROOT_INIT;
	char *dir = scratch_new();
	uint32_t uid = 99;

	scratch_write(dir, "5/status", "Uid:\t1\t2\t3\t4\n");
	scratch_write(dir, "6/stat", "");
	scratch_write(dir, "7", "");
	assert_int_equal(watt_root_open(&procfs, dir), 0);
	assert_int_equal(watt_procdir_open(&procfs, 4, &process), -ESRCH);
	assert_int_equal(watt_procdir_open(&procfs, 7, &process), -ENOTDIR);
	assert_int_equal(process.fd, -1);
	assert_int_equal(watt_procdir_open(&procfs, 6, &process), 0);
	assert_int_equal(watt_procdir_uid(&process, &uid), -ENOENT);
	watt_root_close(&process);
	assert_int_equal(watt_procdir_open(&procfs, 5, &process), 0);
	assert_int_equal(watt_procdir_uid(&process, &uid), 0);
	assert_int_equal(uid, 2);
	watt_root_close(&process);
	watt_root_close(&procfs);
	scratch_remove(dir);
}

static void test_own(void **state)
{
	struct watt_root procfs = WATT_ROOT_INIT, process = WATT_ROOT_INIT;
	uint32_t uid = 99;

	assert_int_equal(watt_root_open(&procfs, "/proc"), 0);
	assert_int_equal(watt_procdir_open(&procfs, (uint32_t)getpid(), &process), 0);
	assert_true(process.is_kernel);
	assert_int_equal(watt_procdir_uid(&process, &uid), 0);
	assert_int_equal(uid, geteuid());
	watt_root_close(&process);
	watt_root_close(&procfs);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_uid),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests_name("procdir", tests, NULL, NULL);
}
