/* SPDX-License-Identifier: Apache-2.0 */
/* lib/meter.c, on a machine whose power is known. */
#include "unit.h"

#include <math.h>
#include <pthread.h>

#include <wattribute/wattribute.h>

#include "../options_of.h"

/* The three rails of the fixture that its energy is the sum of: mV times mA. */
#define ORIN_W ((19848.0 * (152 + 96) + 4968.0 * 912) / 1e6)

static struct watt_meter *open_orin(void)
{
	struct watt_options *options = options_of("sysfs-root", fixture("jetson-agx-orin", "sys"),
						  "sources", "hwmon", "period", "1ms", "slice",
						  "10ms", NULL);
	struct watt_meter *meter = watt_meter_open(options);

	watt_options_free(options);
	assert_non_null(meter);
	assert_null(watt_meter_get_problem(meter));
	return meter;
}

static void check(const struct watt_meter *meter, const struct watt_meter_result *result,
		  double min_s)
{
	double sum = 0;
	uint32_t i;

	assert_true(result->elapsed_s >= min_s);
	if (result->status != WATT_STATUS_OK || result->gap_s > 0)
		return; /* so busy a machine that nothing was read, and it is told */
	assert_true(fabs(result->power_w - ORIN_W) < 1e-5 * ORIN_W);
	assert_true(fabs(result->power_w - result->energy_j / result->elapsed_s) < 1e-9);
	for (i = 0; i < result->n_domains; i++)
		if (watt_meter_get_domain(meter, i)->is_partition)
			sum += result->domain_energy_j[i];
	assert_true(fabs(sum - result->energy_j) < 1e-6);
	assert_int_equal(result->origin, WATT_ORIGIN_MEASURED);
}

static void test_known_power(void **state)
{
	struct watt_meter *meter = open_orin();
	struct watt_meter_result result = { .sz = sizeof(result) };
	int i, n_exact = 0;

	for (i = 0; i < 5; i++) {
		assert_int_equal(watt_meter_begin(meter), 0);
		usleep(20000);
		assert_int_equal(watt_meter_end(meter, &result), 0);
		check(meter, &result, 0.02);
		n_exact += fabs(result.power_w - ORIN_W) < 1e-5 * ORIN_W;
	}
	assert_in_range(n_exact, 1, 5); /* where the machine was too busy, the status says so */
	assert_null(watt_meter_close(meter));
}

static void test_nested(void **state)
{
	struct watt_meter *meter = open_orin();
	struct watt_meter_result inner = { .sz = sizeof(inner) }, outer = { .sz = sizeof(outer) };

	assert_int_equal(watt_meter_begin(meter), 0);
	usleep(15000);
	assert_int_equal(watt_meter_begin(meter), 0);
	usleep(10000);
	assert_int_equal(watt_meter_end(meter, &inner), 0);
	assert_int_equal(watt_meter_end(meter, &outer), 0);
	assert_true(outer.elapsed_s >= inner.elapsed_s + 0.0149); /* each has its own begin */
	check(meter, &inner, 0.01);
	check(meter, &outer, 0.025);
	assert_int_equal(watt_meter_end(meter, &outer), -EINVAL);
	assert_int_equal(watt_meter_begin(meter), 0); /* never ended */
	watt_meter_close(meter);
}

struct measurer {
	struct watt_meter *meter;
	pthread_t thread;
	unsigned int length_us;
};

/* Its sections are as long as it made them, whatever others begin and end meanwhile. */
static void *measure(void *data)
{
	struct watt_meter_result result = { .sz = sizeof(result) };
	const struct measurer *m = data;
	int i;

	for (i = 0; i < 5; i++) {
		assert_int_equal(watt_meter_begin(m->meter), 0);
		usleep(m->length_us);
		assert_int_equal(watt_meter_end(m->meter, &result), 0);
		check(m->meter, &result, m->length_us / 1e6);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct watt_meter *meter = open_orin();
	struct measurer measurers[4];
	size_t i;

	for (i = 0; i < 4; i++) {
		struct measurer *m = &measurers[i];

		*m = (struct measurer){ .meter = meter, .length_us = 3000 + 9000 * (unsigned)i };
		assert_int_equal(pthread_create(&m->thread, NULL, measure, m), 0);
	}
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_join(measurers[i].thread, NULL), 0);
	watt_meter_close(meter);
}

static void test_mistakes(void **state)
{
	struct watt_options *options = options_of("sysfs-root", "/nowhere", NULL);
	struct watt_meter *meter = watt_meter_open(options);
	struct watt_meter_result result = { .sz = sizeof(result) };
	struct {
		size_t sz;
		double energy_j, elapsed_s;
	} older = { .sz = sizeof(older), .elapsed_s = -1 };

	watt_options_free(options);
	assert_int_equal(watt_meter_begin(meter), -ENOENT);
	assert_int_equal(watt_meter_end(meter, &result), -ENOENT);
	assert_non_null(strstr(watt_meter_get_problem(meter), "/nowhere"));
	assert_null(watt_meter_get_domain(meter, 0));
	watt_meter_close(meter);
	assert_int_equal(watt_meter_begin(NULL), -EINVAL);
	assert_int_equal(watt_meter_end(NULL, &result), -EINVAL);
	assert_null(watt_meter_close(NULL));
	meter = open_orin();
	assert_int_equal(watt_meter_begin(meter), 0);
	result.sz = 0;
	assert_int_equal(watt_meter_end(meter, &result), -EINVAL);
	assert_int_equal(watt_meter_begin(meter), 0);
	assert_int_equal(watt_meter_end(meter, (struct watt_meter_result *)(void *)&older), 0);
	assert_int_equal(older.sz, sizeof(older));
	assert_true(older.elapsed_s > 0);
	watt_meter_close(meter);
}

/* A total that counts less than its parts is not the machine's energy: theirs is. */
static void test_total_below_its_parts(void **state)
{
	char *root = scratch_new();
	struct watt_meter_result result = { .sz = sizeof(result) };
	struct watt_options *options;
	struct watt_meter *meter;
	int i, n_exact = 0;

	scratch_write(root, "class/hwmon/hwmon0/name", "power_meter\n");
	scratch_write(root, "class/hwmon/hwmon0/power1_average", "100000000\n");
	scratch_write(root, "class/hwmon/hwmon1/name", "fam15h_power\n");
	scratch_write(root, "class/hwmon/hwmon1/power1_input", "250000000\n");
	options = options_of("sysfs-root", root, "sources", "hwmon", "period", "1ms", "slice",
			     "10ms", NULL);
	meter = watt_meter_open(options);
	watt_options_free(options);
	assert_null(watt_meter_get_problem(meter));
	for (i = 0; i < 100 && n_exact < 3; i++) {
		assert_int_equal(watt_meter_begin(meter), 0);
		usleep(10000);
		assert_int_equal(watt_meter_end(meter, &result), 0);
		assert_false(fabs(result.power_w - 100) < 1);
		n_exact += fabs(result.power_w - 250) < 1e-3;
	}
	assert_int_equal(n_exact, 3);
	watt_meter_close(meter);
	scratch_remove(root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_power),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_total_below_its_parts),
	};

	return cmocka_run_group_tests_name("meter", tests, NULL, NULL);
}
