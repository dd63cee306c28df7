/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/lock.c */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/lock.h"

struct shared {
	struct watt_lock *lock;
	uint64_t sum;
	_Atomic pid_t tid; /* of who asks; 0: not known yet */
	bool is_answered;
};

static void *add_many(void *data)
{
	struct shared *shared = data;
	int i;

	for (i = 0; i < 2000; i++) {
		_cleanup_lock_ struct watt_lock *held = watt_lock_take(shared->lock);

		shared->sum++;
	}
	return NULL;
}

static void test_one_at_a_time(void **state)
{
	struct shared shared = { .lock = watt_lock_new() };
	pthread_t threads[4];
	size_t i;

	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many, &shared), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(shared.sum, 4 * 2000);
	watt_lock_free(shared.lock);
}

static void *ask_once(void *data)
{
	struct shared *shared = data;

	shared->tid = gettid();
	watt_lock_take(shared->lock);
	shared->is_answered = true;
	watt_lock_give(shared->lock);
	return NULL;
}

/* Whether a thread sleeps, as its state in procfs tells. */
static bool is_asleep(pid_t tid)
{
	char path[64], text[256] = "", *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(n > 0);
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

/* Behind the store of its tid there is nothing else to sleep for. */
static void wait_until_it_waits(struct shared *shared)
{
	int i;

	for (i = 0; i < 300000; i++) {
		if (shared->tid && is_asleep(shared->tid))
			return;
		usleep(100);
	}
	fail_msg("nobody waits for the lock");
}

/* How often this thread had the lock while another one waited for it. */
static uint64_t count_turns(struct shared *shared)
{
	pthread_t thread;
	uint64_t turns = 0;

	shared->is_answered = false;
	shared->tid = 0;
	watt_lock_take(shared->lock);
	assert_int_equal(pthread_create(&thread, NULL, ask_once, shared), 0);
	wait_until_it_waits(shared);
	while (!shared->is_answered) {
		watt_lock_give(shared->lock);
		watt_lock_take(shared->lock);
		turns++;
	}
	watt_lock_give(shared->lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return turns;
}

/* Who gives it and wants it again at once comes after those who have waited. */
static void test_in_turn(void **state)
{
	struct shared shared = { .lock = watt_lock_new() };
	int i;

	for (i = 0; i < 20; i++)
		assert_int_equal(count_turns(&shared), 1);
	assert_null(watt_lock_free(shared.lock));
	assert_null(watt_lock_free(NULL));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_at_a_time),
		cmocka_unit_test(test_in_turn),
	};

	return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
