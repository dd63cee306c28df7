/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/activity/proclist.c */
#include "unit.h"

#include "base/util.h"
#include "source/activity/proclist.h"

static void test_pid(void **state)
{
	static const struct {
		const char *name;
		uint32_t pid;
	} cases[] = {
		{ "1", 1 },
		{ "4294967295", UINT32_MAX },
		{ "4294967296", 0 },
		{ "0", 0 },
		{ "007", 0 },
		{ "", 0 },
		{ "self", 0 },
		{ "12a", 0 },
		{ "-1", 0 },
		{ "1 ", 0 },
		{ "99999999999999999999", 0 },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++)
		assert_int_equal(watt_proclist_pid(cases[i].name), cases[i].pid);
}

static void test_sorted(void **state)
{
	struct watt_root root = WATT_ROOT_INIT;
	struct watt_proclist list = { 0 };
	char *dir = scratch_new();
	size_t i;

	scratch_write(dir, "10/x", "");
	scratch_write(dir, "9/x", "");
	scratch_write(dir, "100/x", "");
	scratch_write(dir, "2/x", "");
	scratch_write(dir, "self/x", "");
	assert_int_equal(watt_root_open(&root, dir), 0);
	assert_int_equal(watt_proclist_open(&list, &root), 0);
	assert_int_equal(watt_proclist_read(&list), 0);
	assert_int_equal(list.n, 4);
	for (i = 1; i < list.n; i++)
		assert_true(list.entries[i - 1].pid < list.entries[i].pid);
	assert_int_equal(list.entries[3].pid, 100);
	/* it looks again each time */
	scratch_write(dir, "50/x", "");
	assert_int_equal(watt_proclist_read(&list), 0);
	assert_int_equal(list.n, 5);
	watt_proclist_close(&list);
	watt_proclist_close(&list);
	watt_root_close(&root);
	scratch_remove(dir);
}

static uint64_t inode_in(const struct watt_proclist *list, uint32_t pid)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->entries[i].pid == pid)
			return list->entries[i].inode;
	return 0;
}

static void test_kernel(void **state)
{
	struct watt_root root = WATT_ROOT_INIT;
	struct watt_proclist list = { 0 };
	uint64_t own;

	assert_int_equal(watt_root_open(&root, "/proc"), 0);
	assert_int_equal(watt_proclist_open(&list, &root), 0);
	assert_int_equal(watt_proclist_read(&list), 0);
	own = inode_in(&list, (uint32_t)getpid());
	assert_true(own != 0);
	watt_proclist_close(&list);
	watt_root_close(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pid),
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests_name("proclist", tests, NULL, NULL);
}
