/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/source/activity/nvml: who is on a GPU and how long, against the truth of a driver that is
 * not there. Its scripts began some time before they were read: what they say of it stays the same.
 */
#include "unit.h"

#include <wattribute/wattribute.h>

#include "base/util.h"
#include "fake_nvml.h"
#include "source/activity/nvml/process_list.h"
#include "source/registry.h"

#define S WATT_NSEC_PER_SEC
#define GPU "age 30000\ngpu GPU-1 00000000:01:00.0 a GPU\npower 0 100000\n"
#define NOBODY 4194305u /* no pid is that large */
#define NOBODY_TEXT "4194305"

static struct watt_activity_source *open_source(struct fake *fake)
{
	struct watt_activity_source *source;

	assert_int_equal(watt_activity_nvml.open(&fake->env, NULL, &source), 0);
	return source;
}

static void read_batch(struct watt_activity_source *source, struct watt_activity_batch *ret)
{
	size_t i;

	assert_int_equal(source->ops->read(source, ret), 0);
	for (i = 0; i < ret->n_readings; i++)
		assert_true(ret->readings[i].t_ns <=
			    ret->places[ret->readings[i].place].complete_ns);
}

/* What a process had done up to an instant, by its readings alone. */
static double amount_at(const struct watt_activity_batch *batch, uint32_t pid, uint64_t t_ns)
{
	const struct watt_activity *a = NULL, *b;
	size_t i;

	for (i = 0; i < batch->n_readings; i++) {
		b = &batch->readings[i];
		if (b->pid != pid)
			continue;
		assert_true(!a || (b->t_ns >= a->t_ns && b->amount >= a->amount));
		if (b->t_ns >= t_ns && !a)
			return 0;
		if (b->t_ns >= t_ns && b->t_ns > a->t_ns)
			return (double)a->amount + (double)(b->amount - a->amount) *
							   (double)(t_ns - a->t_ns) /
							   (double)(b->t_ns - a->t_ns);
		a = b;
	}
	return a ? (double)a->amount : 0;
}

/* Three with loads of their own: each share within 2 % of the truth. */
static void test_shares(void **state)
{
	static const uint32_t pids[] = { 0, NOBODY, NOBODY + 1 };
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	uint64_t loaded_ns, from_ns, to_ns;
	char script[1024];
	struct fake fake;
	size_t i;

	snprintf(script, sizeof(script),
		 GPU "process %u 0 60\nprocess %u 14.1 80\nprocess %u 14.1 30\nprocess %u 21.3 5\n"
		     "process %u 12 0\nprocess %u 16.7 57\nprocess %u 24.9 gone\n",
		 (unsigned int)getpid(), (unsigned int)getpid(), NOBODY, NOBODY, NOBODY + 1,
		 NOBODY + 1, NOBODY + 1);
	fake_init(&fake, "WATT_FAKE_NVML", script);
	do { /* so that its beginning is known, on a machine as busy as may be */
		loaded_ns = watt_now_ns();
		assert_int_equal(fake.load(script), 0);
	} while (watt_now_ns() > loaded_ns + S / 20);
	source = open_source(&fake);
	read_batch(source, &batch);
	assert_int_equal(batch.n_places, 1);
	assert_string_equal(batch.places[0].path, "gpu-0000:01:00_0");
	assert_int_equal(batch.places[0].n_units, 1);
	/* whole seconds of the script; when it was read is known to less than a window */
	from_ns = loaded_ns - 18 * S;
	to_ns = loaded_ns - 2 * S;
	for (i = 0; i < 3; i++) {
		uint32_t pid = i ? pids[i] : (uint32_t)getpid();
		double truth = (double)fake.busy_ns(0, pid, 12 * S, 28 * S);
		double found = amount_at(&batch, pid, to_ns) - amount_at(&batch, pid, from_ns);

		/* of the whole GPU; the script was read a moment before loaded_ns */
		if (found / 16e9 - truth / 16e9 > 0.02 || truth / 16e9 - found / 16e9 > 0.02)
			fail_msg("process %zu: %f s instead of %f s", i, found / 1e9, truth / 1e9);
	}
	for (i = 0; i < batch.n_readings; i++)
		assert_int_equal(batch.readings[i].start_ns != 0,
				 batch.readings[i].pid == (uint32_t)getpid());
	source->ops->close(source);
	fake_done(&fake);
}

/* Everybody who was there is in each batch, and nothing is told twice. */
static void test_nothing_twice(void **state)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct fake fake;
	char script[256];
	uint64_t complete_ns, amount;

	snprintf(script, sizeof(script), GPU "process %u 20 50\nprocess %u 27 0\n", NOBODY, NOBODY);
	fake_init(&fake, "WATT_FAKE_NVML", script);
	source = open_source(&fake);
	read_batch(source, &batch);
	assert_true(batch.n_readings > 0);
	amount = batch.readings[batch.n_readings - 1].amount;
	complete_ns = batch.places[0].complete_ns;
	do {
		read_batch(source, &batch);
	} while (batch.places[0].complete_ns == complete_ns);
	assert_int_equal(batch.n_readings, 1);
	assert_int_equal(batch.readings[0].pid, NOBODY);
	assert_int_equal(batch.readings[0].amount, amount);
	assert_int_equal(batch.readings[0].t_ns, batch.places[0].complete_ns);
	source->ops->close(source);
	fake_done(&fake);
}

/* What the driver has at most of each: lists, in every layout that there was. */
static void test_lists(void **state)
{
	static const char *const variables[] = { "WATT_FAKE_NVML", "WATT_FAKE_NVML",
						 "WATT_FAKE_NVML", "WATT_FAKE_NVML",
						 "WATT_FAKE_NVML_OLD" };
	static const unsigned int strides[] = { 0, 32, 24, 16, 0 };
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct fake fake;
	char script[512];
	size_t i, j;

	for (i = 0; i < 5; i++) {
		snprintf(script, sizeof(script),
			 "stride %u\n" GPU "lacks samples\nprocess %u 0 60\nprocess %u 0 20\n"
			 "%s %u\nprocess %u 0 20\nprocess %u 1 gone\n",
			 strides[i], (unsigned int)getpid(), NOBODY, i % 2 ? "graphics" : "mps",
			 NOBODY, NOBODY + 1, NOBODY + 1);
		fake_init(&fake, variables[i], script);
		source = open_source(&fake);
		read_batch(source, &batch);
		assert_int_equal(batch.n_readings, 0); /* since when is not known yet */
		usleep(2000);
		read_batch(source, &batch);
		assert_int_equal(batch.n_readings, 4); /* two, each from when and up to when */
		for (j = 0; j < 4; j++)
			assert_true(batch.readings[j].pid == (uint32_t)getpid() ||
				    batch.readings[j].pid == NOBODY);
		assert_int_equal(batch.readings[1].amount, batch.readings[3].amount);
		assert_in_range(batch.readings[1].amount, 1,
				(batch.readings[1].t_ns - batch.readings[0].t_ns) * 41 / 100);
		source->ops->close(source);
		fake_done(&fake);
	}
}

/* One that is lost tells nothing, and up to when the others are known does not depend on it. */
static void test_lost(void **state)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	uint64_t lost_ns, calls;
	struct fake fake;

	fake_init(&fake, "WATT_FAKE_NVML",
		  GPU "error nvmlDeviceGetProcessUtilization 40 15\n"
		      "gpu GPU-2 00000000:02:00.0 another\npower 0 100000\n");
	source = open_source(&fake);
	read_batch(source, &batch);
	assert_int_equal(batch.n_places, 2);
	lost_ns = batch.places[0].complete_ns;
	assert_int_equal(fake.load("age 50000\ngpu GPU-1 00000000:01:00.0 a GPU\n"
				   "error nvmlDeviceGetProcessUtilization 40 15\n"
				   "gpu GPU-2 00000000:02:00.0 another\n"),
			 0);
	do {
		read_batch(source, &batch);
	} while (batch.places[1].complete_ns <= lost_ns + 1000000);
	assert_int_equal(batch.places[0].complete_ns, lost_ns);
	calls = fake.calls();
	read_batch(source, &batch);
	assert_in_range(fake.calls() - calls, 1, 6); /* of the other alone */
	source->ops->close(source);
	fake_done(&fake);
}

/* Nobody has it open: known up to a look, not up to when a sample could have come at the latest. */
static void test_unused(void **state)
{
	static const char *const scripts[] = {
		GPU,
		GPU "process " NOBODY_TEXT
		    " 0 0\n", /* it is there, and may do something any time */
		GPU "process " NOBODY_TEXT " 0 0\nmps " NOBODY_TEXT "\n",
		GPU "error nvmlDeviceGetComputeRunningProcesses_v3 0 4\n"
		    "error nvmlDeviceGetComputeRunningProcesses_v2 0 4\n"
		    "error nvmlDeviceGetComputeRunningProcesses 0 4\n", /* it may not be told */
	};
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct fake fake;
	uint64_t looked_ns;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(scripts); i++) {
		fake_init(&fake, "WATT_FAKE_NVML", scripts[i]);
		source = open_source(&fake);
		looked_ns = watt_now_ns();
		read_batch(source, &batch);
		assert_true(batch.places[0].complete_ns < looked_ns);
		usleep(450000);
		read_batch(source, &batch);
		if (i)
			assert_true(batch.places[0].complete_ns + S < watt_now_ns());
		else
			assert_true(batch.places[0].complete_ns >= looked_ns);
		source->ops->close(source);
		fake_done(&fake);
	}
}

static void test_asleep(void **state)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct fake fake;
	uint64_t calls;

	fake_init(&fake, "WATT_FAKE_NVML", GPU);
	calls = fake.calls();
	scratch_write_bytes(fake.sysfs, "bus/pci/drivers/nvidia/0000:01:00.0/vendor", "", 0);
	scratch_write_bytes(fake.sysfs, "bus/pci/devices/0000:01:00.0/power/runtime_status",
			    "suspended\n", 10);
	source = open_source(&fake);
	read_batch(source, &batch);
	assert_int_equal(batch.n_places, 1);
	assert_true(batch.places[0].complete_ns > 0); /* known: nobody uses it */
	assert_int_equal(fake.calls(), calls);
	source->ops->close(source);
	fake_done(&fake);
}

static void test_probe(void **state)
{
	struct watt_diag diag = { 0 };
	struct fake fake;

	fake_init(&fake, "WATT_FAKE_NVML", GPU);
	assert_int_equal(watt_activity_nvml.probe(&fake.env, &diag), 0);
	assert_string_equal(diag.why, "processes on 1 GPU");
	fake.env.nvml_lib = "/nowhere.so";
	assert_int_equal(watt_activity_nvml.probe(&fake.env, &diag), -ENODEV);
	assert_int_equal(diag.state, WATT_ABSENT);
	fake_done(&fake);
}

/* ---- layouts ---- */

static void test_layouts(void **state)
{
	uint8_t buf[8 * WATT_NVML_ELEMENT_MAX];
	static const size_t strides[] = { 16, 24, 32 };
	uint32_t pids[8];
	size_t i, j;

	for (i = 0; i < WATT_ARRAY_SIZE(strides); i++) {
		memset(buf, WATT_NVML_UNWRITTEN, sizeof(buf));
		for (j = 0; j < 5; j++) {
			uint32_t pid = (uint32_t)(100 + j);

			memset(buf + j * strides[i], 0xff, strides[i]);
			memcpy(buf + j * strides[i], &pid, sizeof(pid));
		}
		assert_int_equal(watt_nvml_list_parse(buf, sizeof(buf), 5, pids), 0);
		for (j = 0; j < 5; j++)
			assert_int_equal(pids[j], 100 + j);
	}
	memset(buf, WATT_NVML_UNWRITTEN, sizeof(buf));
	assert_int_equal(watt_nvml_list_parse(buf, sizeof(buf), 0, pids), 0);
	assert_int_equal(watt_nvml_list_parse(buf, sizeof(buf), 1, pids), -EBADMSG);
	assert_int_equal(watt_nvml_list_parse(buf, sizeof(buf), 9, pids), -EBADMSG);
	memset(buf, 0, sizeof(buf));
	assert_int_equal(watt_nvml_list_parse(buf, sizeof(buf), 2, pids), -EBADMSG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),  cmocka_unit_test(test_nothing_twice),
		cmocka_unit_test(test_lists),   cmocka_unit_test(test_lost),
		cmocka_unit_test(test_asleep),  cmocka_unit_test(test_probe),
		cmocka_unit_test(test_layouts), cmocka_unit_test(test_unused),
	};

	return cmocka_run_group_tests_name("nvml_activity", tests, NULL, NULL);
}
