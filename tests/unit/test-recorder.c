/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder: what it is told is in the file, whatever happens to it. */
#include "recordings.h"

#include <sys/resource.h>
#include <sys/wait.h>

static int setup(void **state)
{
	*state = scratch_new();
	return 0;
}

static int teardown(void **state)
{
	scratch_remove(*state);
	return 0;
}

/* Reads the whole recording and compares it with the ops from its first on. Returns how many. */
static unsigned int read_all(const char *path, uint64_t seed)
{
	static struct ops ops;
	struct watt_recording *rec;
	struct heard heard = { 0 };
	struct watt_op op, expected;
	unsigned int n = 0;
	int r;

	ops_init(&ops, seed);
	assert_int_equal(watt_recording_open(path, hear, &heard, &rec), 0);
	while ((r = watt_recording_next_op(rec, &op)) == 0) {
		ops_next(&ops, &expected);
		ops_assert_equal(&op, &expected);
		n++;
	}
	assert_int_equal(r, 1);
	assert_int_equal(heard.n_errors, 0);
	watt_recording_close(rec);
	return n;
}

static void test_round_trip(void **state)
{
	char *path = path_in(*state, "run.watt"), *wal = path_in(*state, "run.watt-wal");
	uint64_t seed;

	for (seed = 1; seed <= 5; seed++) {
		unsigned int ticks = 1 + 23 * (unsigned int)seed;

		make_recording(path, seed, ticks);
		/* one file, nothing beside it */
		assert_int_equal(access(wal, F_OK), -1);
		assert_int_equal(read_all(path, seed), 7 * ticks);
		assert_int_equal(unlink(path), 0);
	}
	free(path);
	free(wal);
}

static void test_info(void **state)
{
	char *path = path_in(*state, "run.watt");
	const struct watt_recording_info *info;
	const struct watt_setup *setup;
	struct ops_machine machine;
	struct watt_recording *rec;
	size_t i;

	ops_machine_init(&machine);
	make_recording(path, 7, 100);
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	info = watt_recording_get_info(rec);
	assert_string_equal(info->host, "zürich");
	assert_string_equal(info->cpu, "");
	assert_string_equal(info->command, "");
	assert_string_equal(info->usage, "bpf");
	assert_int_equal(info->memory_bytes, 1ull << 34);
	assert_int_equal(info->samples, 100 * 50 * OPS_CHANNELS);
	assert_true(info->usage_records > 1000);
	assert_true(info->chunks >= 6 && info->chunks <= 8);
	assert_true(info->start_ns >= OPS_START_NS);
	assert_int_equal(info->end_ns, OPS_START_NS + 100 * 50 * WATT_NSEC_PER_MSEC + 100);
	assert_int_equal(info->missed_reads, 99);
	assert_int_equal(info->is_complete, 1);
	assert_int_equal(info->format, 1);
	assert_int_equal(info->part, 1);
	assert_int_equal(info->lost_ns, 0);
	assert_true(info->bytes > 100000);
	setup = watt_recording_get_setup(rec);
	assert_int_equal(setup->n_channels, OPS_CHANNELS);
	assert_int_equal(setup->n_cpus, OPS_CPUS);
	assert_int_equal(setup->n_slots, 2);
	assert_memory_equal(setup->cpu_slot, machine.cpu_slot, sizeof(machine.cpu_slot));
	assert_memory_equal(setup->places, machine.places, sizeof(machine.places));
	assert_int_equal(setup->self_pid, 4711);
	assert_int_equal(setup->slice_ns, 50 * WATT_NSEC_PER_MSEC);
	for (i = 0; i < OPS_CHANNELS; i++) {
		struct watt_channel c = *setup->channels[i];
		const struct watt_channel *expected = &machine.channels[i];

		assert_string_equal(c.name, expected->name);
		assert_string_equal(c.domain, expected->domain);
		ops_assert_text(c.label, expected->label);
		c.name = expected->name;
		c.source = expected->source;
		c.domain = expected->domain;
		c.label = expected->label;
		c.path = expected->path;
		assert_memory_equal(&c, expected, sizeof(c));
	}
	watt_recording_close(rec);
	free(path);
}

/* Samples by themselves, from any time on. */
static void test_samples(void **state)
{
	char *path = path_in(*state, "run.watt");
	struct watt_recording *rec;
	struct watt_sample samples[1000];
	uint64_t n = 0, late = OPS_START_NS + 3 * WATT_NSEC_PER_SEC;
	int i, r;

	make_recording(path, 3, 100);
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	while ((r = watt_recording_read_samples(rec, samples, 1000)) > 0)
		n += (uint64_t)r;
	assert_int_equal(r, 0);
	assert_int_equal(n, 100 * 50 * OPS_CHANNELS);
	assert_int_equal(watt_recording_seek(rec, late), 0);
	for (n = 0; (r = watt_recording_read_samples(rec, samples, 1000)) > 0; n += (uint64_t)r)
		for (i = 0; i < r; i++)
			assert_true(samples[i].t_before_ns >= late);
	assert_int_equal(n, 40 * 50 * OPS_CHANNELS);
	assert_int_equal(watt_recording_seek(rec, UINT64_MAX), 0);
	assert_int_equal(watt_recording_read_samples(rec, samples, 1000), 0);
	assert_int_equal(watt_recording_seek(rec, 0), 0);
	assert_int_equal(watt_recording_read_samples(rec, samples, 1000), 1000);
	watt_recording_close(rec);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_info, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
