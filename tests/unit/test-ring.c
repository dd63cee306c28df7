/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/ring.h */
#include "unit.h"

#include <pthread.h>

#include "base/ring.h"

static void test_sizes(void **state)
{
	struct watt_ring ring;

	assert_int_equal(watt_ring_init(&ring, 0, 8), -EINVAL);
	assert_int_equal(watt_ring_init(&ring, 3, 8), -EINVAL);
	assert_int_equal(watt_ring_init(&ring, 4, 0), -EINVAL);
	watt_ring_done(&ring);
	assert_int_equal(watt_ring_init(&ring, 1, 8), 0);
	watt_ring_done(&ring);
}

static void test_fills_and_wraps(void **state)
{
	const uint64_t in[] = { 1, 2, 3, 4, 5, 6 };
	uint64_t out[8] = { 0 };
	struct watt_ring ring;

	assert_int_equal(watt_ring_init(&ring, 4, sizeof(uint64_t)), 0);
	assert_int_equal(watt_ring_pop(&ring, out, 8), 0);
	assert_int_equal(watt_ring_push(&ring, in, 3), 3);
	assert_int_equal(watt_ring_pop(&ring, out, 2), 2);
	assert_int_equal(out[1], 2);
	/* three fit now, over the end of the memory; the rest is left out */
	assert_int_equal(watt_ring_push(&ring, in + 3, 3), 3);
	assert_int_equal(watt_ring_push(&ring, in, 2), 0);
	assert_int_equal(watt_ring_pop(&ring, out, 8), 4);
	assert_memory_equal(out, in + 2, 4 * sizeof(uint64_t));
	assert_int_equal(watt_ring_push(&ring, in, 6), 4);
	assert_int_equal(watt_ring_pop(&ring, out, 8), 4);
	assert_memory_equal(out, in, 4 * sizeof(uint64_t));
	watt_ring_done(&ring);
}

/* The indices run over 2^32 after some weeks at 1 kHz. */
static void test_index_overflow(void **state)
{
	uint64_t in = 0, out = 0;
	struct watt_ring ring;
	int i;

	assert_int_equal(watt_ring_init(&ring, 2, sizeof(uint64_t)), 0);
	ring.head = ring.tail = ring.tail_seen = UINT32_MAX - 2;
	for (i = 0; i < 8; i++) {
		in = (uint64_t)i;
		assert_int_equal(watt_ring_push(&ring, &in, 1), 1);
		assert_int_equal(watt_ring_pop(&ring, &out, 1), 1);
		assert_int_equal(out, in);
	}
	assert_int_equal(watt_ring_pop(&ring, &out, 1), 0);
	watt_ring_done(&ring);
}

#define STREAM_LEN 200000u

static void *produce(void *data)
{
	struct watt_ring *ring = data;
	uint64_t next = 0;

	while (next < STREAM_LEN) {
		uint64_t batch[7];
		size_t n;

		for (n = 0; n < 7 && next + n < STREAM_LEN; n++)
			batch[n] = next + n;
		n = watt_ring_push(ring, batch, n);
		next += n;
		if (n == 0)
			sched_yield();
	}
	return NULL;
}

static void test_two_threads(void **state)
{
	uint64_t expected = 0, out[5];
	struct watt_ring ring;
	pthread_t thread;

	assert_int_equal(watt_ring_init(&ring, 64, sizeof(uint64_t)), 0);
	assert_int_equal(pthread_create(&thread, NULL, produce, &ring), 0);
	while (expected < STREAM_LEN) {
		size_t n = watt_ring_pop(&ring, out, 5), i;

		for (i = 0; i < n; i++)
			assert_int_equal(out[i], expected++);
		if (n == 0)
			sched_yield();
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	watt_ring_done(&ring);
}

static void test_signal_times_out(void **state)
{
	struct watt_signal signal = { 0 };

	assert_int_equal(watt_signal_wait(&signal, watt_signal_get(&signal), 0), -ETIMEDOUT);
	assert_int_equal(watt_signal_wait(&signal, watt_signal_get(&signal), watt_now_ns() + 1000),
			 -ETIMEDOUT);
}

struct letter {
	struct watt_signal signal;
	uint64_t text; /* not atomic: the signal has to carry it over */
};

static void *send_letter(void *data)
{
	struct letter *letter = data;

	letter->text = 42;
	watt_signal_send(&letter->signal);
	return NULL;
}

static void test_signal_wakes(void **state)
{
	struct letter letter = { 0 };
	uint32_t seen = watt_signal_get(&letter.signal);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, send_letter, &letter), 0);
	assert_int_equal(watt_signal_wait(&letter.signal, seen, UINT64_MAX / 2), 0);
	assert_int_equal(letter.text, 42);
	assert_int_equal(watt_signal_wait(&letter.signal, seen, 0), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_counter(void **state)
{
	struct watt_counter counter = { 0 };

	watt_counter_add(&counter, 3);
	watt_counter_raise(&counter, 2);
	assert_int_equal(watt_counter_get(&counter), 3);
	watt_counter_raise(&counter, 9);
	assert_int_equal(watt_counter_get(&counter), 9);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_fills_and_wraps),
		cmocka_unit_test(test_index_overflow),
		cmocka_unit_test(test_two_threads),
		cmocka_unit_test(test_signal_times_out),
		cmocka_unit_test(test_signal_wakes),
		cmocka_unit_test(test_counter),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
