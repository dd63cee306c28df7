/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/sensor/sensor_read.c */
#include "sensors.h"

#include "source/power/sensor/sensor_read.h"

static void test_status(void **state)
{
	static const struct {
		int error;
		enum watt_status status;
	} cases[] = {
		{ 0, WATT_STATUS_OK },
		{ -EAGAIN, WATT_STATUS_NODATA },
		{ -ENODATA, WATT_STATUS_NODATA },
		{ -EBUSY, WATT_STATUS_NODATA },
		{ -ETIMEDOUT, WATT_STATUS_NODATA },
		{ -EPERM, WATT_STATUS_NODATA },
		{ -ENODEV, WATT_STATUS_ABSENT },
		{ -ENOENT, WATT_STATUS_ABSENT },
		{ -EACCES, WATT_STATUS_FORBIDDEN },
		{ -EIO, WATT_STATUS_BROKEN },
		{ -EBADMSG, WATT_STATUS_BROKEN },
		{ -ERANGE, WATT_STATUS_BROKEN },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		assert_int_equal(watt_sensor_status(cases[i].error), cases[i].status);
		assert_non_null(watt_sensor_reason(cases[i].error));
	}
}

static int read_text(const char *dir, const struct watt_root *root,
		     const struct watt_sensor_factor *factor, const char *text, int64_t *ret)
{
	struct watt_sensor_spec spec = { .factor = { *factor } };
	struct watt_sensor sensor;
	int r;

	scratch_write(dir, factor->path, text);
	r = watt_sensor_open(&sensor, root, &spec);
	if (r == 0)
		r = watt_sensor_read(&sensor, ret);
	watt_sensor_done(&sensor);
	return r;
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		struct watt_sensor_factor factor;
		int r;
		int64_t raw;
	} cases[] = {
		{ "42\n", { "v" }, 0, 42 },
		{ "-42\n", { "v" }, 0, -42 },
		{ "42\n", { "v", 2, -4 }, 0, 80 },
		{ "4.2\n", { "v" }, -EBADMSG, 0 },
		{ "4.25\n", { "v", 1, 0, 3 }, 0, 4250 },
		{ "-4.25\n", { "v", 1, 0, 3 }, 0, -4250 },
		{ "-0.5\n", { "v", 1, 0, 3 }, 0, -500 },
		{ " -1.5\n", { "v", 1, 0, 3 }, 0, -1500 },
		{ "4\n", { "v", 1, 0, 3 }, 0, 4000 },
		{ "4.\n", { "v", 1, 0, 3 }, 0, 4000 },
		{ "4.99999\n", { "v", 1, 0, 3 }, 0, 4999 },
		{ "4.-5\n", { "v", 1, 0, 3 }, -EBADMSG, 0 },
		{ "4.5.6\n", { "v", 1, 0, 3 }, -EBADMSG, 0 },
		{ ".5\n", { "v", 1, 0, 3 }, -EBADMSG, 0 },
		{ "9223372036854775807\n", { "v", 1, 0, 1 }, -ERANGE, 0 },
		{ "9223372036854775807\n", { "v", 2 }, -ERANGE, 0 },
		{ "9223372036854775807\n", { "v", 1, 1 }, -ERANGE, 0 },
		{ "9223372036854775808\n", { "v" }, -ERANGE, 0 },
		{ "\n", { "v" }, -EBADMSG, 0 },
		{ "1 2\n", { "v" }, -EBADMSG, 0 },
	};
	struct watt_root root = WATT_ROOT_INIT;
	char *dir = scratch_new();
	size_t i;

	assert_int_equal(watt_root_open(&root, dir), 0);
	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		int64_t raw = 0;

		assert_int_equal(read_text(dir, &root, &cases[i].factor, cases[i].text, &raw),
				 cases[i].r);
		assert_int_equal(raw, cases[i].raw);
	}
	watt_root_close(&root);
	scratch_remove(dir);
}

/* A product is whole or not at all: the second file may go between two readings. */
static void test_product(void **state)
{
	struct watt_sensor_spec spec = { .factor = { { "v" }, { "i" } } };
	struct watt_root root = WATT_ROOT_INIT;
	struct watt_sensor sensor;
	char *dir = scratch_new();
	int64_t raw = 0;

	scratch_write(dir, "v", "12000\n");
	scratch_write(dir, "i", "-250\n");
	assert_int_equal(watt_root_open(&root, dir), 0);
	assert_int_equal(watt_sensor_open(&sensor, &root, &spec), 0);
	assert_int_equal(watt_sensor_read(&sensor, &raw), 0);
	assert_int_equal(raw, -3000000);
	scratch_unlink(dir, "i");
	assert_int_equal(watt_sensor_read(&sensor, &raw), -ENODEV);
	scratch_write(dir, "i", "9223372036854775807\n");
	assert_int_equal(watt_sensor_read(&sensor, &raw), -ERANGE);
	scratch_write(dir, "i", "5\n");
	scratch_write(dir, "v", "");
	assert_int_equal(watt_sensor_read(&sensor, &raw), -EBADMSG);
	assert_int_equal(raw, -3000000);
	watt_sensor_done(&sensor);
	watt_root_close(&root);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_product),
	};

	return cmocka_run_group_tests_name("sensor_read", tests, NULL, NULL);
}
