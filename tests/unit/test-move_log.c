/* SPDX-License-Identifier: Apache-2.0 */
/* The reading end of the migrations, on files that are laid out like the hook's memory. */
#include "unit.h"

#include <sys/mman.h>

#include <linux/types.h>

#include <usage_layout.h>

#include "source/activity/bpf/move_log.h"

enum {
	N_CPUS = 3,
	MOVES = 64
};

struct rig {
	struct watt_move_log log;
	struct watt_usage_list list;
	struct watt_bpf_move_log *logs;
	struct watt_usage *moves;
	int logs_fd, moves_fd;
};

static void *make_file(size_t size, int *ret_fd)
{
	void *map;

	*ret_fd = memfd_create("moves", MFD_CLOEXEC);
	assert_true(*ret_fd >= 0);
	assert_int_equal(ftruncate(*ret_fd, (off_t)size), 0);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *ret_fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	return map;
}

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	rig->logs = make_file(N_CPUS * sizeof(*rig->logs), &rig->logs_fd);
	rig->moves = make_file(sizeof(*rig->moves) * N_CPUS * MOVES, &rig->moves_fd);
	assert_int_equal(watt_move_log_open(&rig->log, rig->logs_fd, rig->moves_fd, N_CPUS, MOVES),
			 0);
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	watt_move_log_close(&rig->log);
	watt_move_log_close(&rig->log);
	watt_usage_list_done(&rig->list);
	munmap(rig->logs, N_CPUS * sizeof(*rig->logs));
	munmap(rig->moves, sizeof(*rig->moves) * N_CPUS * MOVES);
	close(rig->logs_fd);
	close(rig->moves_fd);
	free(rig);
	return 0;
}

static void move(struct rig *rig, uint32_t cpu, uint32_t tid, uint64_t t_ns)
{
	uint64_t n = rig->logs[cpu].written++;

	rig->moves[cpu * MOVES + n % MOVES] = (struct watt_usage){
		.kind = WATT_USAGE_MIGRATE,
		.tid = tid,
		.cpu = cpu,
		.t_ns = t_ns,
	};
}

static void test_each_cpu(void **state)
{
	struct rig *rig = *state;

	move(rig, 2, 7, 10);
	move(rig, 0, 8, 11);
	move(rig, 2, 9, 12);
	assert_int_equal(watt_move_log_drain(&rig->log, 100, &rig->list), 0);
	assert_int_equal(rig->list.n, 3);
	assert_int_equal(rig->list.records[0].tid, 8);
	assert_int_equal(rig->list.records[1].tid, 7);
	assert_int_equal(rig->list.records[2].tid, 9);
	assert_int_equal(rig->logs[2].read, 2);
	assert_int_equal(watt_move_log_drain(&rig->log, 100, &rig->list), 0);
	assert_int_equal(rig->list.n, 3);
}

/* What is later stays for the next time. */
static void test_up_to(void **state)
{
	struct rig *rig = *state;

	move(rig, 1, 1, 10);
	move(rig, 1, 2, 20);
	assert_int_equal(watt_move_log_drain(&rig->log, 19, &rig->list), 0);
	assert_int_equal(rig->list.n, 1);
	assert_int_equal(watt_move_log_drain(&rig->log, 20, &rig->list), 0);
	assert_int_equal(rig->list.n, 2);
	assert_int_equal(rig->list.records[1].tid, 2);
}

static void test_around(void **state)
{
	struct rig *rig = *state;

	for (uint32_t i = 0; i < 10 * MOVES; i++) {
		move(rig, 2, i, i);
		if (i % MOVES == MOVES - 1)
			assert_int_equal(watt_move_log_drain(&rig->log, i, &rig->list), 0);
	}
	assert_int_equal(rig->list.n, 10 * MOVES);
	for (uint32_t i = 0; i < rig->list.n; i++)
		assert_int_equal(rig->list.records[i].tid, i);
}

static void test_lost(void **state)
{
	struct rig *rig = *state;

	rig->logs[0].lost = 2;
	rig->logs[2].lost = 5;
	assert_int_equal(watt_move_log_lost(&rig->log), 7);
}

static void test_not_open(void **state)
{
	struct watt_move_log log;
	struct watt_usage_list list = { 0 };

	assert_int_equal(watt_move_log_open(&log, -1, -1, 1, MOVES), -EBADF);
	assert_int_equal(watt_move_log_drain(&log, 1, &list), 0);
	assert_int_equal(watt_move_log_lost(&log), 0);
	watt_move_log_close(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_cpu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_up_to, setup, teardown),
		cmocka_unit_test_setup_teardown(test_around, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
		cmocka_unit_test(test_not_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
