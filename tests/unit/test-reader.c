/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sample/reader.c: how its thread ends. What it reads is tested with the engine. */
#include "unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "base/clock.h"
#include "sample/reader.h"

static sem_t cpu, is_busy, may_return;

/* Instead of the C library's: what a reader's thread does first. So it waits as for a CPU. */
int prctl(int option, ...)
{
	if (option == PR_SET_NAME)
		sem_wait(&cpu);
	return 0;
}

static void *give_cpu_later(void *data)
{
	static const struct timespec a_while = { .tv_nsec = 30000000 };

	nanosleep(&a_while, NULL);
	sem_post(&cpu);
	return data;
}

static struct watt_reader *start(void)
{
	static const struct watt_reader_opts opts = { .name = "test" };
	struct watt_reader *reader;

	assert_int_equal(watt_reader_new(&opts, &reader), 0);
	assert_int_equal(watt_reader_start(reader), 0);
	return reader;
}

/* A thread that has not begun when it is to end can't hang, and is not left behind. */
static void test_waits_for_the_starved(void **state)
{
	struct watt_reader *reader = start();
	pthread_t giver;

	assert_int_equal(pthread_create(&giver, NULL, give_cpu_later, NULL), 0);
	watt_reader_ask_stop(reader);
	assert_int_equal(watt_reader_join(reader, 1), 0);
	assert_int_equal(pthread_join(giver, NULL), 0);
	watt_reader_free(reader);
}

static void hang(struct watt_reader *reader, struct watt_task *task)
{
	sem_post(&is_busy);
	sem_wait(&may_return);
}

static void drop(struct watt_task *task)
{
	sem_post(&is_busy);
}

/* One that is in a call does not come back for sure: it is given up at once, and ends by itself. */
static void test_gives_up_who_hangs(void **state)
{
	struct watt_task task = { .run = hang, .drop = drop, .what = "hanging" };
	struct watt_reader *reader = start();

	assert_int_equal(watt_reader_send(reader, &task), 0);
	sem_post(&cpu);
	sem_wait(&is_busy);
	watt_reader_ask_stop(reader);
	assert_int_equal(watt_reader_join(reader, watt_now_ns()), -ETIMEDOUT);
	watt_reader_free(reader);
	sem_post(&may_return);
	sem_wait(&is_busy); /* the thread has dropped what nobody fetched */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_for_the_starved),
		cmocka_unit_test(test_gives_up_who_hangs),
	};

	if (sem_init(&cpu, 0, 0) || sem_init(&is_busy, 0, 0) || sem_init(&may_return, 0, 0))
		return 1;
	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
