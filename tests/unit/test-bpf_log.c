/* SPDX-License-Identifier: Apache-2.0 */
/* libbpf's messages go to the log of the thread that loads, whoever else loads at the same time. */
#include "unit.h"

#include <pthread.h>

#include "source/host/bpf_log.h"

struct loader {
	struct watt_log log;
	pthread_t thread;
	pthread_barrier_t *barrier; /* passed when it has begun, and when it may end */
	int n_lines;
};

static int n_printed; /* by the program's own function */

__attribute__((format(printf, 2, 0))) static int print_own(enum libbpf_print_level level,
							   const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	n_printed++;
	return 0;
}

static void take_line(void *data, enum watt_log_level level, const char *text)
{
	struct loader *loader = data;

	assert_int_equal(level, WATT_LOG_DEBUG);
	assert_non_null(strstr(text, "/does/not/exist"));
	loader->n_lines++;
}

/* libbpf says in a line or more that there is no such file. */
static void say_something(void)
{
	assert_null(bpf_object__open_file("/does/not/exist", NULL));
}

static void *load(void *data)
{
	struct loader *loader = data;

	watt_bpf_log_begin(&loader->log);
	pthread_barrier_wait(loader->barrier);
	pthread_barrier_wait(loader->barrier);
	say_something();
	watt_bpf_log_end();
	return NULL;
}

static int setup(void **state)
{
	(void)state;
	n_printed = 0;
	libbpf_set_print(print_own);
	return 0;
}

static void test_own_log(void **state)
{
	struct loader loader = { .log = { take_line, &loader } };

	(void)state;
	watt_bpf_log_begin(&loader.log);
	say_something();
	watt_bpf_log_end();
	assert_in_range(loader.n_lines, 1, 10);
	assert_int_equal(n_printed, 0);
	say_something();
	assert_in_range(n_printed, 1, 10);
}

static void test_nobody_listens(void **state)
{
	struct watt_log log = { 0 };

	(void)state;
	watt_bpf_log_begin(&log);
	say_something();
	watt_bpf_log_end();
	assert_int_equal(n_printed, 0);
}

/* The first to begin is the first to end, while the second still loads. */
static void test_two_at_once(void **state)
{
	struct loader first = { .log = { take_line, &first } };
	struct loader second = { .log = { take_line, &second } };
	pthread_barrier_t barrier;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	second.barrier = &barrier;
	watt_bpf_log_begin(&first.log);
	assert_int_equal(pthread_create(&second.thread, NULL, load, &second), 0);
	pthread_barrier_wait(&barrier);
	say_something();
	watt_bpf_log_end();
	pthread_barrier_wait(&barrier);
	pthread_join(second.thread, NULL);
	pthread_barrier_destroy(&barrier);
	assert_in_range(first.n_lines, 1, 10);
	assert_int_equal(second.n_lines, first.n_lines);
	assert_int_equal(n_printed, 0);

	/* And all is as before. */
	assert_ptr_equal(libbpf_set_print(print_own), print_own);
}

/* What others print while we load goes where it went. */
static void test_other_thread(void **state)
{
	struct loader loader = { .log = { take_line, &loader } };
	pthread_barrier_t barrier;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	loader.barrier = &barrier;
	assert_int_equal(pthread_create(&loader.thread, NULL, load, &loader), 0);
	pthread_barrier_wait(&barrier);
	say_something();
	assert_in_range(n_printed, 1, 10);
	assert_int_equal(loader.n_lines, 0);
	pthread_barrier_wait(&barrier);
	pthread_join(loader.thread, NULL);
	pthread_barrier_destroy(&barrier);
	assert_in_range(loader.n_lines, 1, 10);
}

/* A program that sets its own while we load keeps it. */
static void test_set_meanwhile(void **state)
{
	struct watt_log log = { 0 };

	(void)state;
	libbpf_set_print(NULL);
	watt_bpf_log_begin(&log);
	libbpf_set_print(print_own);
	watt_bpf_log_end();
	assert_ptr_equal(libbpf_set_print(NULL), print_own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_own_log, setup),
		cmocka_unit_test_setup(test_nobody_listens, setup),
		cmocka_unit_test_setup(test_two_at_once, setup),
		cmocka_unit_test_setup(test_other_thread, setup),
		cmocka_unit_test_setup(test_set_meanwhile, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
