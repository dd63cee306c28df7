/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/source/power/amdgpu/gpu_metrics.c, by a table of each revision as the kernel lays it out. Each
 * field of them has a number of its own, so that a wrong offset is another number.
 */
#include "unit.h"

#include "base/util.h"
#include "source/power/amdgpu/gpu_metrics.h"

#define NONE (-1)
#define MHZ(mhz) (mhz##000000ll)

struct expected {
	const char *name;
	unsigned int format, content;
	int64_t value[WATT_GPU_N_METRICS];
};

/* energy, power, graphics, load, memory's load, edge, hotspot, memory, clock, its clock, fan, held */
#define CARD(energy, power_held, heat_held) \
	{ \
		energy, 187000000, NONE, 840000, 250000, 51000, 62000, 73000, MHZ(2104), \
			MHZ(1000), 1450, power_held, heat_held \
	}
#define DIES(clock, memory_clock) \
	{ \
		0x123456789all, 713000000, NONE, 840000, 250000, NONE, 62000, 73000, clock, \
			memory_clock, NONE, NONE, NONE \
	}
#define APU(power_held, heat_held) \
	{ \
		NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, MHZ(1600), MHZ(933), NONE, \
			power_held, heat_held \
	}

static const struct expected revisions[] = {
	{ "v1_0", 1, 0, CARD(0x12345678, NONE, NONE) },
	{ "v1_1", 1, 1, CARD(0x123456789all, NONE, NONE) },
	{ "v1_2", 1, 2, CARD(0x123456789all, NONE, NONE) },
	{ "v1_3", 1, 3, CARD(0x123456789all, 1000000, 1000000) },
	{ "v1_4", 1, 4, DIES(MHZ(2104), MHZ(1300)) },
	{ "v1_5", 1, 5, DIES(MHZ(2104), MHZ(1300)) },
	{ "v1_6", 1, 6, DIES(NONE, NONE) },
	{ "v1_7", 1, 7, DIES(NONE, NONE) },
	{ "v1_8", 1, 8, DIES(NONE, NONE) },
	{ "v2_0", 2, 0, APU(NONE, NONE) },
	{ "v2_1", 2, 1, APU(NONE, NONE) },
	{ "v2_2", 2, 2, APU(0, 1000000) },
	{ "v2_3", 2, 3, APU(0, 0) },
	{ "v2_4",
	  2,
	  4,
	  { NONE, 14500000, 5250000, 843700, NONE, 51200, NONE, NONE, MHZ(1600), MHZ(933), NONE,
	    1000000, 0 } },
	{ "v3_0",
	  3,
	  0,
	  { NONE, 27400000, 11300000, 840000, NONE, NONE, NONE, NONE, MHZ(2104), MHZ(1300), NONE,
	    NONE, NONE } },
};

/* Returns its length. */
static size_t read_table(const char *name, uint8_t *buf, size_t size)
{
	char path[PATH_MAX];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/../fuzz/corpus/gpu_metrics/%s", getenv("WATT_FIXTURES"),
		 name);
	file = fopen(path, "rb");
	if (!file)
		fail_msg("no %s", path);
	n = fread(buf, 1, size, file);
	fclose(file);
	return n;
}

static void check_table(const struct expected *expected)
{
	struct watt_gpu_metrics metrics;
	uint8_t table[1024];
	size_t n = read_table(expected->name, table, sizeof(table));
	int i;

	assert_int_equal(watt_gpu_metrics_parse(table, n, &metrics), 0);
	assert_int_equal(metrics.format, expected->format);
	assert_int_equal(metrics.content, expected->content);
	for (i = 0; i < WATT_GPU_N_METRICS; i++) {
		bool has = watt_gpu_metrics_has(&metrics, i);

		if (has != (expected->value[i] != NONE) ||
		    (has && metrics.value[i] != expected->value[i]))
			fail_msg("%s: metric %d is %lld", expected->name, i,
				 has ? (long long)metrics.value[i] : -1ll);
	}
}

static void test_each_revision(void **state)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(revisions); i++)
		check_table(&revisions[i]);
}

/* What a driver does not fill in has all bits set: it is missing, and no number. */
static void test_all_ones(void **state)
{
	struct watt_gpu_metrics metrics;
	uint8_t table[1024];
	size_t i, n;

	for (i = 0; i < WATT_ARRAY_SIZE(revisions); i++) {
		n = read_table(revisions[i].name, table, sizeof(table));
		memset(table + 4, 0xff, n - 4);
		assert_int_equal(watt_gpu_metrics_parse(table, n, &metrics), 0);
		assert_int_equal(metrics.has, 0);
	}
}

/* No byte behind the end of a table is looked at, and one that is cut off is none. */
static void test_cut_off(void **state)
{
	struct watt_gpu_metrics metrics, before;
	uint8_t table[1024], *cut;
	size_t i, n, len;

	memset(&metrics, 0xa5, sizeof(metrics));
	before = metrics;
	for (i = 0; i < WATT_ARRAY_SIZE(revisions); i++) {
		n = read_table(revisions[i].name, table, sizeof(table));
		for (len = 0; len < n; len++) {
			cut = malloc(len ? len : 1);
			assert_non_null(cut);
			memcpy(cut, table, len);
			assert_int_equal(watt_gpu_metrics_parse(cut, len, &metrics), -EBADMSG);
			free(cut);
		}
	}
	assert_memory_equal(&metrics, &before, sizeof(metrics));
}

static void test_refused(void **state)
{
	struct watt_gpu_metrics metrics;
	uint8_t table[1024];
	size_t n;

	n = read_table("wrong_size", table, sizeof(table));
	assert_int_equal(watt_gpu_metrics_parse(table, n, &metrics), -EBADMSG);
	n = read_table("v1_9", table, sizeof(table));
	assert_int_equal(watt_gpu_metrics_parse(table, n, &metrics), -EOPNOTSUPP);
	n = read_table("v1_3", table, sizeof(table));
	table[2] = 4;
	assert_int_equal(watt_gpu_metrics_parse(table, n, &metrics), -EOPNOTSUPP);
	table[2] = 0;
	assert_int_equal(watt_gpu_metrics_parse(table, n, &metrics), -EBADMSG);
	table[2] = 1;
	assert_int_equal(watt_gpu_metrics_parse(table, n, &metrics), 0);
	/* padded, as a copy of sysfs is */
	memset(table + n, 0, sizeof(table) - n);
	assert_int_equal(watt_gpu_metrics_parse(table, sizeof(table), &metrics), 0);
	assert_int_equal(metrics.value[WATT_GPU_METRIC_POWER], 187000000);
}

/* The mean of a clock counts where the driver does not tell what it is now. */
static void test_fallback(void **state)
{
	struct watt_gpu_metrics metrics;
	uint8_t table[1024];
	size_t n = read_table("v1_3", table, sizeof(table));

	memset(table + 54, 0xff, 2);
	assert_int_equal(watt_gpu_metrics_parse(table, n, &metrics), 0);
	assert_int_equal(metrics.value[WATT_GPU_METRIC_CLOCK], MHZ(2050));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_revision), cmocka_unit_test(test_all_ones),
		cmocka_unit_test(test_cut_off),       cmocka_unit_test(test_refused),
		cmocka_unit_test(test_fallback),
	};

	return cmocka_run_group_tests_name("gpu_metrics", tests, NULL, NULL);
}
