/* SPDX-License-Identifier: Apache-2.0 */
/* The order of events and sweep, with records made up here. */
#include "unit.h"

#include "source/activity/merge.h"

static struct watt_usage record(uint16_t kind, uint32_t tid, uint64_t t_ns, uint64_t cpu_ns)
{
	return (struct watt_usage){
		.kind = kind,
		.tid = tid,
		.tgid = tid,
		.start_ns = 7,
		.t_ns = t_ns,
		.cpu_ns = cpu_ns,
	};
}

struct rig {
	struct watt_merge merge;
	struct watt_usage_list list, deferred;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct rig));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	watt_merge_done(&rig->merge);
	watt_usage_list_done(&rig->list);
	watt_usage_list_done(&rig->deferred);
	free(rig);
	return 0;
}

static void add_event(struct rig *rig, uint16_t kind, uint32_t tid, uint64_t t_ns, uint64_t cpu_ns)
{
	struct watt_usage event = record(kind, tid, t_ns, cpu_ns);

	assert_int_equal(watt_usage_list_append(&rig->list, &event, 1), 0);
}

static void merge(struct rig *rig, size_t n_before, const struct watt_usage *tasks, size_t n)
{
	assert_int_equal(watt_merge(&rig->merge, &rig->list, n_before, tasks, n, &rig->deferred),
			 0);
}

static void assert_record(const struct watt_usage *got, uint16_t kind, uint32_t tid,
			  uint64_t cpu_ns)
{
	assert_int_equal(got->kind, kind);
	assert_int_equal(got->tid, tid);
	assert_int_equal(got->cpu_ns, cpu_ns);
}

static void test_nothing(void **state)
{
	struct rig *rig = *state;

	merge(rig, 0, NULL, 0);
	assert_int_equal(rig->list.n, 0);
	assert_int_equal(rig->deferred.n, 0);
}

/* What came before the sweep keeps its order and is never deferred, whatever the clocks say. */
static void test_before_sweep(void **state)
{
	struct rig *rig = *state;
	struct watt_usage task = record(WATT_USAGE_TASK, 1, 100, 50);

	add_event(rig, WATT_USAGE_FORK, 2, 20, 0);
	add_event(rig, WATT_USAGE_FORK, 1, 10, 0);
	add_event(rig, WATT_USAGE_EXEC, 1, 999, 30);
	merge(rig, 3, &task, 1);
	assert_int_equal(rig->list.n, 4);
	assert_int_equal(rig->deferred.n, 0);
	assert_record(&rig->list.records[0], WATT_USAGE_FORK, 2, 0);
	assert_record(&rig->list.records[1], WATT_USAGE_FORK, 1, 0);
	assert_record(&rig->list.records[2], WATT_USAGE_EXEC, 1, 30);
	assert_record(&rig->list.records[3], WATT_USAGE_TASK, 1, 50);
}

/* A migration is placed by what the task had used, not by the clock. */
static void test_migration_in_sweep(void **state)
{
	struct rig *rig = *state;
	const struct watt_usage tasks[] = { record(WATT_USAGE_TASK, 1, 100, 50),
					    record(WATT_USAGE_TASK, 2, 101, 50) };

	add_event(rig, WATT_USAGE_MIGRATE, 1, 120, 50);
	add_event(rig, WATT_USAGE_MIGRATE, 2, 90, 51);
	merge(rig, 0, tasks, 2);
	assert_int_equal(rig->list.n, 3);
	assert_record(&rig->list.records[0], WATT_USAGE_MIGRATE, 1, 50);
	assert_record(&rig->list.records[1], WATT_USAGE_TASK, 1, 50);
	assert_record(&rig->list.records[2], WATT_USAGE_TASK, 2, 50);
	assert_int_equal(rig->deferred.n, 1);
	assert_record(&rig->deferred.records[0], WATT_USAGE_MIGRATE, 2, 51);
}

/* After a deferred event, nothing of that task may overtake it; of another task it may. */
static void test_held_stays_in_order(void **state)
{
	struct rig *rig = *state;
	const struct watt_usage tasks[] = { record(WATT_USAGE_TASK, 1, 100, 50),
					    record(WATT_USAGE_TASK, 2, 110, 9) };

	add_event(rig, WATT_USAGE_MIGRATE, 1, 95, 60);
	add_event(rig, WATT_USAGE_EXEC, 1, 99, 60);
	add_event(rig, WATT_USAGE_EXEC, 2, 105, 8);
	add_event(rig, WATT_USAGE_EXIT, 1, 120, 61);
	merge(rig, 0, tasks, 2);
	assert_int_equal(rig->list.n, 3);
	assert_record(&rig->list.records[0], WATT_USAGE_EXEC, 2, 8);
	assert_int_equal(rig->deferred.n, 3);
	assert_record(&rig->deferred.records[0], WATT_USAGE_MIGRATE, 1, 60);
	assert_record(&rig->deferred.records[1], WATT_USAGE_EXEC, 1, 60);
	assert_record(&rig->deferred.records[2], WATT_USAGE_EXIT, 1, 61);
}

/* Birth before the child's own record; death of a task the sweep did not meet passes. */
static void test_birth_and_death(void **state)
{
	struct rig *rig = *state;
	const struct watt_usage tasks[] = { record(WATT_USAGE_TASK, 5, 110, 3) };

	add_event(rig, WATT_USAGE_FORK, 5, 115, 0);
	add_event(rig, WATT_USAGE_EXIT, 6, 106, 4);
	add_event(rig, WATT_USAGE_FREE, 6, 130, 5);
	add_event(rig, WATT_USAGE_EXIT, 5, 120, 4);
	merge(rig, 0, tasks, 1);
	assert_int_equal(rig->list.n, 4);
	assert_record(&rig->list.records[0], WATT_USAGE_FORK, 5, 0);
	assert_record(&rig->list.records[1], WATT_USAGE_EXIT, 6, 4);
	assert_record(&rig->list.records[2], WATT_USAGE_FREE, 6, 5);
	assert_record(&rig->list.records[3], WATT_USAGE_TASK, 5, 3);
	assert_int_equal(rig->deferred.n, 1);
	assert_record(&rig->deferred.records[0], WATT_USAGE_EXIT, 5, 4);
}

/* The same tid with another start is another task: nothing to compare with. */
static void test_reused_tid(void **state)
{
	struct rig *rig = *state;
	struct watt_usage task = record(WATT_USAGE_TASK, 1, 100, 50);

	task.start_ns = 99;
	add_event(rig, WATT_USAGE_FREE, 1, 120, 800);
	merge(rig, 0, &task, 1);
	assert_int_equal(rig->deferred.n, 0);
	assert_record(&rig->list.records[0], WATT_USAGE_FREE, 1, 800);
	assert_record(&rig->list.records[1], WATT_USAGE_TASK, 1, 50);
}

/* Of a task told twice in one sweep, the first record decides. */
static void test_told_twice(void **state)
{
	struct rig *rig = *state;
	const struct watt_usage tasks[] = { record(WATT_USAGE_TASK, 1, 100, 50),
					    record(WATT_USAGE_TASK, 1, 200, 70) };

	add_event(rig, WATT_USAGE_MIGRATE, 1, 150, 60);
	merge(rig, 0, tasks, 2);
	assert_int_equal(rig->list.n, 2);
	assert_int_equal(rig->deferred.n, 1);
}

/*
 * Random histories: every task's records, over all batches, come out complete and with cpu_ns
 * that never goes down.
 */
static void test_random_histories(void **state)
{
	enum {
		N_TASKS = 300,
		N_BATCHES = 50
	};
	struct rig *rig = *state;
	static struct watt_usage tasks[N_TASKS];
	static uint64_t used_ns[N_TASKS], last_ns[N_TASKS];
	uint64_t t_ns = 1;
	size_t n_in = 0, n_out = 0;

	srand(1);
	memset(used_ns, 0, sizeof(used_ns));
	memset(last_ns, 0, sizeof(last_ns));
	for (int batch = 0; batch < N_BATCHES; batch++) {
		size_t n_before, n = 0, n_deferred = rig->deferred.n;

		rig->list.n = 0;
		assert_int_equal(
			watt_usage_list_append(&rig->list, rig->deferred.records, n_deferred), 0);
		rig->deferred.n = 0;
		n_before = n_deferred;
		for (uint32_t i = 0; i < 2 * N_TASKS; i++) {
			uint32_t tid = (uint32_t)rand() % N_TASKS;

			used_ns[tid] += (uint64_t)rand() % 3;
			t_ns += (uint64_t)rand() % 3;
			if (i >= N_TASKS && i % 2 && n < N_TASKS) {
				tasks[n] = record(WATT_USAGE_TASK, (uint32_t)n, t_ns, used_ns[n]);
				n++;
			} else {
				add_event(rig, WATT_USAGE_MIGRATE, tid, t_ns, used_ns[tid]);
				n_in++;
			}
			if (i < N_TASKS)
				n_before = rig->list.n;
		}
		merge(rig, n_before, tasks, n);
		n_in += n;
		n_out += rig->list.n;
		for (size_t i = 0; i < rig->list.n; i++) {
			const struct watt_usage *got = &rig->list.records[i];

			assert_true(got->cpu_ns >= last_ns[got->tid]);
			last_ns[got->tid] = got->cpu_ns;
		}
	}
	assert_int_equal(n_in, n_out + rig->deferred.n);
}

static void test_sort(void **state)
{
	struct rig *rig = *state;

	add_event(rig, WATT_USAGE_FORK, 1, 10, 0);
	add_event(rig, WATT_USAGE_FREE, 3, 30, 7);
	add_event(rig, WATT_USAGE_EXIT, 1, 40, 5);
	add_event(rig, WATT_USAGE_MIGRATE, 3, 30, 7);
	add_event(rig, WATT_USAGE_MIGRATE, 1, 20, 2);
	assert_int_equal(watt_usage_list_sort(&rig->list, 30), 2);
	assert_record(&rig->list.records[0], WATT_USAGE_FORK, 1, 0);
	assert_record(&rig->list.records[1], WATT_USAGE_MIGRATE, 1, 2);
	assert_record(&rig->list.records[2], WATT_USAGE_MIGRATE, 3, 7);
	assert_record(&rig->list.records[3], WATT_USAGE_FREE, 3, 7);
	assert_record(&rig->list.records[4], WATT_USAGE_EXIT, 1, 5);
	rig->list.n = 0;
	assert_int_equal(watt_usage_list_sort(&rig->list, 30), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_before_sweep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_migration_in_sweep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_held_stays_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_birth_and_death, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reused_tid, setup, teardown),
		cmocka_unit_test_setup_teardown(test_told_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sort, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_histories, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
