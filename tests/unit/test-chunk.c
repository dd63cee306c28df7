/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks: what goes in comes out, in few bytes, and nothing else does. */
#include "ops.h"

#include "record/chunk.h"

struct fixture_chunk {
	struct watt_chunk chunk;
	struct watt_predict predict;
	struct watt_packer *packer;
	struct watt_chunk_reader *reader;
};

static int setup(void **state)
{
	struct fixture_chunk *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	watt_chunk_clear(&f->chunk);
	assert_int_equal(watt_predict_init(&f->predict, OPS_CHANNELS), 0);
	assert_int_equal(watt_packer_new(&f->packer), 0);
	assert_int_equal(watt_chunk_reader_new(OPS_CHANNELS, &f->reader), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture_chunk *f = *state;

	watt_chunk_reader_free(f->reader);
	watt_packer_free(f->packer);
	watt_predict_done(&f->predict);
	watt_chunk_done(&f->chunk);
	free(f);
	return 0;
}

static void fill(struct fixture_chunk *f, struct ops *ops, unsigned int n)
{
	struct watt_op op;

	watt_chunk_clear(&f->chunk);
	watt_predict_clear(&f->predict);
	while (n--) {
		ops_next(ops, &op);
		assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &op), 0);
	}
}

static size_t open_packed(struct fixture_chunk *f)
{
	struct watt_chunk_fault fault;
	const void *data;
	size_t size;

	assert_int_equal(watt_packer_pack(f->packer, &f->chunk, &data, &size), 0);
	assert_int_equal(watt_chunk_reader_open(f->reader, data, size, &fault), 0);
	return size;
}

/* The reader has the first ops of a seed, and no more. */
static void assert_ops(struct fixture_chunk *f, uint64_t seed, unsigned int n)
{
	static struct ops ops;
	struct watt_chunk_fault fault;
	struct watt_op op, expected;

	ops_init(&ops, seed);
	while (n--) {
		ops_next(&ops, &expected);
		assert_int_equal(watt_chunk_reader_next(f->reader, &op, &fault), 0);
		ops_assert_equal(&op, &expected);
	}
	assert_int_equal(watt_chunk_reader_next(f->reader, &op, &fault), 1);
}

/* What was put in comes out, and nothing more. */
static void assert_round_trip(struct fixture_chunk *f, const struct watt_op *ops, size_t n)
{
	struct watt_chunk_fault fault;
	struct watt_op op;
	size_t i;

	for (i = 0; i < n; i++)
		assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &ops[i]), 0);
	open_packed(f);
	for (i = 0; i < n; i++) {
		assert_int_equal(watt_chunk_reader_next(f->reader, &op, &fault), 0);
		ops_assert_equal(&op, &ops[i]);
	}
	assert_int_equal(watt_chunk_reader_next(f->reader, &op, &fault), 1);
}

/* CPUs that come: ids of places may be none, and great. */
static void test_cpu_places(void **state)
{
	const struct watt_op ops[] = {
		{ .kind = WATT_OP_PLACE, .place = { { 1, -1, -1 }, 3, 1 } },
		{ .kind = WATT_OP_PLACE, .place = { { INT32_MAX - 1, 0, 77 }, UINT32_MAX, 65534 } },
		{ .kind = WATT_OP_PLACE, .place = { { -1, -1, -1 }, 0, 0 } },
	};
	struct fixture_chunk *f = *state;

	assert_round_trip(f, ops, WATT_ARRAY_SIZE(ops));
}

/* Any time can be there: it is what somebody's clock said. */
static void test_clocks(void **state)
{
	const struct watt_op ops[] = {
		{ .kind = WATT_OP_CLOCK, .clock = { 1, 2, 3600000000000, 1790000000000000000 } },
		{ .kind = WATT_OP_CLOCK, .clock = { 0, UINT64_MAX, UINT64_MAX, UINT64_MAX } },
		{ .kind = WATT_OP_CLOCK, .clock = { 0, 0, 0, 0 } },
	};
	struct fixture_chunk *f = *state;

	assert_round_trip(f, ops, WATT_ARRAY_SIZE(ops));
}

/* What was learned: any number and any text, or none. */
static void test_learned(void **state)
{
	static const uint64_t words[] = { 0, 1, 0x3ff0000000000000ULL, UINT64_MAX };
	static const char *const texts[] = { "", "/usr/bin/cc", "caf\xc3\xa9" };
	const struct watt_op ops[] = {
		{ .kind = WATT_OP_LEARNED,
		  .learned = { "package-0", words, WATT_ARRAY_SIZE(words), texts,
			       WATT_ARRAY_SIZE(texts) } },
		{ .kind = WATT_OP_LEARNED, .learned = { "dram-0", words, 1, texts, 0 } },
		{ .kind = WATT_OP_LEARNED, .learned = { "p", words, 0, texts, 0 } },
	};
	const struct watt_op too_large = { .kind = WATT_OP_LEARNED,
					   .learned = { "p", words, WATT_OP_MAX + 1, texts, 0 } };
	struct fixture_chunk *f = *state;

	assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &too_large), -E2BIG);
	assert_round_trip(f, ops, WATT_ARRAY_SIZE(ops));
}

static void test_round_trip(void **state)
{
	static struct ops ops;
	struct fixture_chunk *f = *state;
	uint64_t seed;

	for (seed = 1; seed <= 20; seed++) {
		ops_init(&ops, seed);
		fill(f, &ops, 70 + (unsigned int)seed);
		open_packed(f);
		assert_ops(f, seed, 70 + (unsigned int)seed);
	}
}

/* Values at the ends of their types. */
static void test_extremes(void **state)
{
	struct fixture_chunk *f = *state;
	const struct watt_sample samples[] = {
		{ 0, UINT64_MAX, INT64_MIN, 15, WATT_STATUS_PENDING },
		{ UINT64_MAX, UINT64_MAX, INT64_MAX, 0, 0 },
		{ 0, 0, 0, 15, 0 },
		{ 5, 7, -1, 15, WATT_STATUS_BROKEN },
	};
	struct watt_usage record = { UINT64_MAX,
				     UINT64_MAX,
				     UINT64_MAX,
				     UINT64_MAX,
				     UINT64_MAX,
				     UINT32_MAX,
				     UINT32_MAX,
				     UINT32_MAX,
				     UINT32_MAX,
				     UINT32_MAX,
				     WATT_USAGE_CGROUP,
				     UINT16_MAX,
				     "\xff\n\x01 456789abcd" };
	struct watt_op put = { .kind = WATT_OP_SAMPLES }, op;
	struct watt_chunk_fault fault;

	put.samples.list = samples;
	put.samples.n = 4;
	assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &put), 0);
	open_packed(f);
	assert_int_equal(watt_chunk_reader_next(f->reader, &op, &fault), 0);
	ops_assert_equal(&op, &put);
	watt_chunk_clear(&f->chunk);
	watt_predict_clear(&f->predict);
	put = (struct watt_op){ .kind = WATT_OP_USAGE };
	put.usage = (struct watt_usage_batch){ 0, UINT64_MAX, &record,    1,          NULL,
					       0, UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX };
	assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &put), 0);
	open_packed(f);
	assert_int_equal(watt_chunk_reader_next(f->reader, &op, &fault), 0);
	ops_assert_equal(&op, &put);
}

static void test_what_makes_no_sense_changes_nothing(void **state)
{
	struct fixture_chunk *f = *state;
	struct watt_sample samples[2] = { { 1, 2, 3, 0, 0 }, { 1, 2, 3, OPS_CHANNELS, 0 } };
	struct watt_usage record = { .comm = "0123456789abcdef" };
	struct watt_activity_place place = { "gpu-0", 5, WATT_ACTIVITY_GPU_TIME, 1 };
	struct watt_activity reading = { .t_ns = 5, .place = 1 };
	struct watt_op op = { .kind = WATT_OP_SAMPLES };

	op.samples.list = samples;
	op.samples.n = 2;
	assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &op), -EINVAL);
	samples[1] = (struct watt_sample){ 2, 1, 0, 0, 0 };
	assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &op), -EINVAL);
	samples[1] = (struct watt_sample){ 1, 1, 0, 0, WATT_STATUS_PENDING + 1 };
	assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &op), -EINVAL);
	op.samples.n = WATT_OP_MAX + 1;
	assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &op), -E2BIG);
	op = (struct watt_op){ .kind = WATT_OP_USAGE };
	op.usage.records = &record;
	op.usage.n_records = 1;
	assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &op), -EINVAL);
	op = (struct watt_op){ .kind = WATT_OP_ACTIVITY };
	op.activity = (struct watt_activity_batch){ &place, 1, &reading, 1 };
	assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &op), -EINVAL);
	reading.place = 0;
	reading.t_ns = 6;
	assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &op), -EINVAL);
	op.kind = 99;
	assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &op), -EINVAL);
	assert_int_equal(watt_chunk_size(&f->chunk), 0);
	assert_int_equal(f->chunk.n_ops, 0);
}

/* A second of 16 channels at 1 kHz, read one after the other with the jitter of a real machine. */
static void test_a_sample_is_small(void **state)
{
	static struct ops ops;
	struct fixture_chunk *f = *state;
	struct watt_op op;
	size_t size;
	int i;

	ops_init(&ops, 1);
	for (i = 0; i < 15; i++) {
		ops_samples(&ops, &op);
		ops.now_ns += 50 * WATT_NSEC_PER_MSEC;
		assert_int_equal(watt_chunk_put(&f->chunk, &f->predict, &op), 0);
	}
	size = open_packed(f);
	print_message("%.2f bytes a sample\n", (double)size / (double)f->chunk.n_samples);
	assert_true(size <= 6 * f->chunk.n_samples);
}

/* Samples can be read without the ops around them. */
static void test_samples_alone(void **state)
{
	static struct ops ops, again;
	struct fixture_chunk *f = *state;
	struct watt_chunk_fault fault;
	struct watt_sample samples[777];
	struct watt_op op = { 0 };
	size_t at = 0, n = 0;
	int i, r;

	ops_init(&ops, 5);
	ops_init(&again, 5);
	fill(f, &ops, 100);
	open_packed(f);
	while ((r = watt_chunk_reader_samples(f->reader, samples, 777, &fault)) > 0)
		for (i = 0; i < r; i++, at++, n++) {
			while (op.kind != WATT_OP_SAMPLES || at == op.samples.n) {
				ops_next(&again, &op);
				at = 0;
			}
			assert_memory_equal(&samples[i], &op.samples.list[at], sizeof(samples[i]));
		}
	assert_int_equal(r, 0);
	assert_int_equal(n, f->chunk.n_samples);
}

/* Every byte of a packed chunk, changed: refused by the checksum, never anything worse. */
static void test_flipped_bytes_are_refused(void **state)
{
	static struct ops ops;
	struct fixture_chunk *f = *state;
	struct watt_chunk_fault fault;
	const void *data;
	uint8_t *copy;
	size_t size, i;

	ops_init(&ops, 3);
	fill(f, &ops, 40);
	assert_int_equal(watt_packer_pack(f->packer, &f->chunk, &data, &size), 0);
	copy = malloc(size);
	assert_non_null(copy);
	for (i = 0; i < size; i++) {
		memcpy(copy, data, size);
		copy[i] ^= (uint8_t)(1u << i % 8);
		/* a few bits of zstd's own mean nothing */
		if (watt_chunk_reader_open(f->reader, copy, size, &fault) == 0)
			assert_ops(f, 3, 40);
		if (i % 16 == 0)
			assert_int_equal(watt_chunk_reader_open(f->reader, copy, i, &fault),
					 -EBADMSG);
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cpu_places, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clocks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_learned, setup, teardown),
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_extremes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_makes_no_sense_changes_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_sample_is_small, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flipped_bytes_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
