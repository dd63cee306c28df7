/* SPDX-License-Identifier: Apache-2.0 */
/* The reading end of the ring, on a file that is laid out as the kernel lays out its ring. */
#include "unit.h"

#include <sys/mman.h>

#include <linux/bpf.h>

#include "source/activity/bpf/event_ring.h"

#define RING_SIZE (128u << 10)

struct rig {
	struct watt_event_ring ring;
	int fd;
	size_t page;
	char *map;
	unsigned long produced;
};

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	size_t size;

	rig->page = (size_t)sysconf(_SC_PAGESIZE);
	size = 2 * rig->page + 2 * RING_SIZE;
	rig->fd = memfd_create("ring", MFD_CLOEXEC);
	assert_true(rig->fd >= 0);
	assert_int_equal(ftruncate(rig->fd, (off_t)size), 0);
	rig->map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, 0);
	assert_ptr_not_equal(rig->map, MAP_FAILED);
	assert_int_equal(watt_event_ring_open(&rig->ring, rig->fd, RING_SIZE), 0);
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	watt_event_ring_close(&rig->ring);
	watt_event_ring_close(&rig->ring);
	munmap(rig->map, 2 * rig->page + 2 * RING_SIZE);
	close(rig->fd);
	free(rig);
	return 0;
}

/* The data is there twice; a plain file has to be told. */
static void put_bytes(struct rig *rig, unsigned long position, const void *data, size_t len)
{
	char *base = rig->map + 2 * rig->page;

	for (size_t i = 0; i < len; i++) {
		size_t offset = (position + i) & (RING_SIZE - 1);

		base[offset] = ((const char *)data)[i];
		base[offset + RING_SIZE] = ((const char *)data)[i];
	}
}

static void put(struct rig *rig, uint32_t tid, uint32_t len, uint32_t bits)
{
	struct watt_usage record = { .tid = tid, .t_ns = tid * 3ULL, .comm = "somebody" };
	uint32_t header[2] = { len | bits, 0 };

	put_bytes(rig, rig->produced, header, sizeof(header));
	put_bytes(rig, rig->produced + BPF_RINGBUF_HDR_SZ, &record, sizeof(record));
	rig->produced += (BPF_RINGBUF_HDR_SZ + len + 7) / 8 * 8;
	*(unsigned long *)(rig->map + rig->page) = rig->produced;
}

static void assert_next(struct rig *rig, uint32_t tid)
{
	unsigned long position = ~0UL, begin = watt_event_ring_consumed(&rig->ring);
	struct watt_usage record;

	assert_int_equal(watt_event_ring_next(&rig->ring, &record, &position), 0);
	assert_int_equal(position, begin);
	assert_int_equal(record.tid, tid);
	assert_int_equal(record.t_ns, tid * 3ULL);
	assert_string_equal(record.comm, "somebody");
}

static void test_empty(void **state)
{
	struct rig *rig = *state;
	struct watt_usage record;
	unsigned long position;

	assert_int_equal(watt_event_ring_next(&rig->ring, &record, &position), 1);
	put(rig, 1, sizeof(record), 0);
	assert_int_equal(watt_event_ring_position(&rig->ring), 88);
	assert_next(rig, 1);
	assert_int_equal(watt_event_ring_consumed(&rig->ring), 88);
	assert_int_equal(watt_event_ring_next(&rig->ring, &record, &position), 1);
}

/* One that is being written holds up all behind it. */
static void test_busy(void **state)
{
	struct rig *rig = *state;
	struct watt_usage record;
	unsigned long position;

	put(rig, 1, sizeof(record), BPF_RINGBUF_BUSY_BIT);
	put(rig, 2, sizeof(record), 0);
	assert_int_equal(watt_event_ring_next(&rig->ring, &record, &position), 1);
	*(uint32_t *)(rig->map + 2 * rig->page) = sizeof(record);
	assert_next(rig, 1);
	assert_next(rig, 2);
}

static void test_not_a_record(void **state)
{
	struct rig *rig = *state;
	struct watt_usage record;
	unsigned long position;

	put(rig, 1, sizeof(record), BPF_RINGBUF_DISCARD_BIT);
	put(rig, 2, 24, 0);
	put(rig, 3, sizeof(record), 0);
	assert_int_equal(watt_event_ring_next(&rig->ring, &record, &position), -EBADMSG);
	assert_int_equal(watt_event_ring_next(&rig->ring, &record, &position), -EBADMSG);
	assert_next(rig, 3);
}

/* Over the edges of the pieces that are mapped, and many times around. */
static void test_around(void **state)
{
	struct rig *rig = *state;
	uint32_t read = 0;

	for (uint32_t i = 0; i < 10000; i++) {
		put(rig, i, sizeof(struct watt_usage), 0);
		if (i % 1000 == 999)
			while (read <= i)
				assert_next(rig, read++);
	}
	assert_int_equal(read, 10000);
}

static void test_no_ring(void **state)
{
	struct watt_event_ring ring;

	assert_int_equal(watt_event_ring_open(&ring, -1, RING_SIZE), -EBADF);
	watt_event_ring_close(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_a_record, setup, teardown),
		cmocka_unit_test_setup_teardown(test_around, setup, teardown),
		cmocka_unit_test(test_no_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
