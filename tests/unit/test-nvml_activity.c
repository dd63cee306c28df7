/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/source/activity/nvml: who is on a GPU and how long, against the truth of a driver that is
 * not there. Its scripts began some time before they were read: what they say of it stays the same.
 */
#include "unit.h"

#include <wattribute/wattribute.h>

#include "base/usage.h"
#include "base/util.h"
#include "fake_nvml.h"
#include "source/activity/nvml/accounting.h"
#include "source/activity/nvml/mig.h"
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

static void count_warnings(void *data, enum watt_log_level level, const char *text)
{
	(void)text;
	*(unsigned int *)data += level <= WATT_LOG_WARNING;
}

/*
 * One that is lost tells nothing, and up to when the others are known does not depend on it. Who
 * reads its power warns of it.
 */
static void test_lost(void **state)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	uint64_t lost_ns, calls;
	unsigned int told = 0;
	struct fake fake;

	fake_init(&fake, "WATT_FAKE_NVML",
		  GPU "error nvmlDeviceGetProcessUtilization 40 15\n"
		      "gpu GPU-2 00000000:02:00.0 another\npower 0 100000\n");
	fake.env.log = (struct watt_log){ count_warnings, &told };
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
	assert_in_range(fake.calls() - calls, 1, 8); /* of the other alone */
	assert_int_equal(told, 0);
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

/* In a container with pids of its own, who has a number here is not whom the driver means. */
static void test_other_pids(void **state)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct watt_diag diag = { 0 };
	char *procfs = scratch_new();
	struct fake fake;
	size_t i;

	scratch_link(procfs, "self/ns/pid", "pid:[4026532000]");
	scratch_write(procfs, NOBODY_TEXT "/stat",
		      NOBODY_TEXT " (innocent) S 1 1 1 0 -1 0 0 0 0 0 9 9 0 0 20 0 1 0 77 0 0");
	fake_init(&fake, "WATT_FAKE_NVML", GPU "process " NOBODY_TEXT " 0 80\n");
	watt_root_close(&fake.env.procfs);
	assert_int_equal(watt_root_open(&fake.env.procfs, procfs), 0);
	source = open_source(&fake);
	read_batch(source, &batch);
	assert_true(batch.n_readings > 0);
	for (i = 0; i < batch.n_readings; i++) {
		assert_int_equal(batch.readings[i].pid, NOBODY | WATT_USAGE_OUTSIDE);
		assert_int_equal(batch.readings[i].start_ns, 0);
	}
	source->ops->close(source);
	assert_int_equal(watt_activity_nvml.probe(&fake.env, &diag), 0);
	assert_string_equal(diag.why, "processes on 1 GPU; all that they use is unattributed");
	assert_non_null(strstr(diag.hint, "hostPID"));
	fake_done(&fake);
	scratch_remove(procfs);
}

/* ---- memory ---- */

static size_t find_place(const struct watt_activity_batch *batch, const char *path)
{
	size_t i;

	for (i = 0; i < batch->n_places; i++)
		if (!strcmp(batch->places[i].path, path))
			return i;
	return SIZE_MAX;
}

/* What somebody did at one place, between the first reading of it in a batch and the last. */
static double amount_of(const struct watt_activity_batch *batch, size_t place, uint32_t pid,
			double *ret_dt_ns)
{
	const struct watt_activity *first = NULL, *last = NULL;
	size_t i;

	for (i = 0; i < batch->n_readings; i++)
		if (batch->readings[i].place == place && batch->readings[i].pid == pid) {
			last = &batch->readings[i];
			first = first ? first : last;
		}
	if (!first)
		fail_msg("nothing is told of %u at place %zu", pid, place);
	*ret_dt_ns = (double)(last->t_ns - first->t_ns);
	return (double)(last->amount - first->amount);
}

static void assert_near(double value, double wanted)
{
	if (value > wanted + 0.02 || value < wanted - 0.02)
		fail_msg("%f instead of %f", value, wanted);
}

static void test_memory(void **state)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct fake fake;
	double dt_ns;
	size_t place;

	fake_init(&fake, "WATT_FAKE_NVML",
		  GPU "card_mb 1000\nprocess " NOBODY_TEXT " 0 10\nbytes " NOBODY_TEXT
		      " 262144000\nprocess 4194306 0 0\nbytes 4194306 524288000\n"
		      "process 4194307 0 0\nbytes 4194307 18446744073709551615\n");
	source = open_source(&fake);
	read_batch(source, &batch);
	place = find_place(&batch, "gpu-0000:01:00_0/memory");
	assert_int_not_equal(place, SIZE_MAX);
	assert_int_equal(batch.places[place].kind, WATT_ACTIVITY_GPU_MEMORY);
	usleep(1050000);
	read_batch(source, &batch);
	assert_near(amount_of(&batch, place, NOBODY, &dt_ns) / dt_ns, 0.25);
	assert_near(amount_of(&batch, place, NOBODY + 1, &dt_ns) / dt_ns, 0.5);
	assert_true(dt_ns > 1e9);
	for (place = 0; place < batch.n_readings; place++) /* how much is not told */
		assert_true(batch.readings[place].pid != NOBODY + 2 ||
			    batch.places[batch.readings[place].place].kind !=
				    WATT_ACTIVITY_GPU_MEMORY);
	source->ops->close(source);
	fake_done(&fake);
}

/* ---- instances ---- */

#define MIG_GPU GPU "mig 1 0 3 MIG-a\nmig 2 0 2 MIG-b\nmig 2 1 1 MIG-c\n"
/* One in the first, at 80 %; two in the second, of which it is busy at 30 + 20 %. */
#define MIG_USERS \
	"process 4194305 0 80\nplace 4194305 1 0\n" \
	"process 4194306 0 30\nplace 4194306 2 0\n" \
	"process 4194307 0 20\nplace 4194307 2 0\n"
#define PLACE_A "gpu-0000:01:00_0/mig-1-0"
#define PLACE_B "gpu-0000:01:00_0/mig-2-0"
#define PLACE_C "gpu-0000:01:00_0/mig-2-1"

/* Two looks, so far apart that everything tells of the time between. */
static void look_twice(struct watt_activity_source *source, struct watt_activity_batch *ret)
{
	read_batch(source, ret);
	usleep(150000);
	read_batch(source, ret);
}

/* What each instance did, in slices, is within 2 % of the truth; who is in it is equally busy. */
static void test_instances(void **state)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	uint64_t began_ns, calls[2];
	struct fake fake;
	double dt_ns;

	fake_init(&fake, "WATT_FAKE_NVML", MIG_GPU "gpm\n" MIG_USERS);
	source = open_source(&fake);
	began_ns = watt_now_ns();
	calls[0] = fake.calls();
	read_batch(source, &batch);
	calls[1] = fake.calls();
	usleep(150000);
	read_batch(source, &batch);
	/* lists are dear: they are asked for once a second */
	if (watt_now_ns() < began_ns + S)
		assert_true(fake.calls() - calls[1] < calls[1] - calls[0]);
	assert_int_equal(batch.n_places, 4);
	assert_int_equal(batch.places[0].n_units, 0); /* nobody is on the GPU beside them */
	assert_int_equal(batch.places[find_place(&batch, PLACE_A)].n_units, 3);
	assert_int_equal(batch.places[find_place(&batch, PLACE_B)].n_units, 2);
	assert_near(amount_of(&batch, find_place(&batch, PLACE_A), NOBODY, &dt_ns) / dt_ns / 3,
		    (double)fake.busy_ns(0, NOBODY, S, 2 * S) / 1e9);
	assert_near(amount_of(&batch, find_place(&batch, PLACE_B), NOBODY + 1, &dt_ns) / dt_ns / 2,
		    0.25);
	assert_near(amount_of(&batch, find_place(&batch, PLACE_B), NOBODY + 2, &dt_ns) / dt_ns / 2,
		    0.25);
	source->ops->close(source);
	fake_done(&fake);
}

static char last_said[1024];

static void keep_last(void *data, enum watt_log_level level, const char *line)
{
	snprintf(last_said, sizeof(last_said), "%s", line);
}

/* Without GPM an instance that anybody has open is busy; with it, one that nobody is listed in. */
static void test_instances_by_less(void **state)
{
	static const struct {
		const char *script;
		uint32_t pid;
		double busy; /* of the first instance */
	} cases[] = {
		{ MIG_GPU MIG_USERS, NOBODY, 1 },
		{ MIG_GPU MIG_USERS "lacks samples\nstride 16\n", NOBODY, 1 },
		{ MIG_GPU MIG_USERS "stride 32\n", NOBODY, 1 },
		/* of another's container: the driver does not list them */
		{ MIG_GPU "gpm\n" MIG_USERS "mps 4194305\n"
			  "error nvmlDeviceGetMPSComputeRunningProcesses_v3 0 4\n"
			  "error nvmlDeviceGetMPSComputeRunningProcesses 0 4\n",
		  0, 0.8 },
		/* samples that can't be had: as if there were no GPM */
		{ "error nvmlGpmMetricsGet 0 3\n" MIG_GPU "gpm\n" MIG_USERS, NOBODY, 1 },
		{ "error nvmlGpmSampleAlloc 0 23\n" MIG_GPU "gpm\n" MIG_USERS, NOBODY, 1 },
		{ MIG_GPU "gpm\n" MIG_USERS "error nvmlGpmMigSampleGet 0 3\n", NOBODY, 1 },
	};
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct fake fake;
	double dt_ns;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		fake_init(&fake, "WATT_FAKE_NVML", cases[i].script);
		fake.env.log = (struct watt_log){ keep_last, NULL };
		last_said[0] = '\0';
		source = open_source(&fake);
		look_twice(source, &batch);
		assert_near(amount_of(&batch, find_place(&batch, PLACE_A), cases[i].pid, &dt_ns) /
				    dt_ns / 3,
			    cases[i].busy);
		assert_non_null(strstr(last_said, cases[i].busy < 1 ? "(GPM)" : "has it open"));
		source->ops->close(source);
		fake_done(&fake);
	}
}

/* One comes, another goes: the first is told from when it is there, the second is not there now. */
static void test_instances_come_and_go(void **state)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct fake fake;
	uint64_t began_ns;
	size_t gone, tries = 0;

	fake_init(&fake, "WATT_FAKE_NVML",
		  GPU "gpm\nmig 1 0 3 MIG-a 0 30.4\nmig 2 0 2 MIG-b 30.4\n" MIG_USERS);
	began_ns = watt_now_ns();
	source = open_source(&fake);
	read_batch(source, &batch);
	gone = find_place(&batch, PLACE_A);
	if (watt_now_ns() < began_ns + S / 5) { /* else nobody saw it before */
		assert_int_equal(batch.places[gone].n_units, 3);
		assert_int_equal(find_place(&batch, PLACE_B), SIZE_MAX);
	}
	do {
		usleep(120000);
		read_batch(source, &batch);
	} while (find_place(&batch, PLACE_B) == SIZE_MAX && ++tries < 100);
	assert_int_not_equal(find_place(&batch, PLACE_B), SIZE_MAX);
	if (gone != SIZE_MAX) {
		assert_int_equal(batch.places[gone].n_units, 0);
		assert_int_equal(batch.places[gone].complete_ns,
				 batch.places[find_place(&batch, PLACE_B)].complete_ns);
	}
	source->ops->close(source);
	fake_done(&fake);
}

/* Whatever function a driver lacks, nothing is made up. */
static void test_missing_symbols(void **state)
{
	static const char *const scripts[] = { MIG_GPU "gpm\n" MIG_USERS,
					       GPU "accounting\nprocess 4194305 0 50\n" };
	size_t n = sizeof(struct watt_nvml_api) / sizeof(void (*)(void)), i, k;
	static struct watt_nvml_processes processes;
	static struct watt_nvml_mig mig;
	struct watt_nvml_accounting accounting;
	struct watt_gpu_users users;
	struct watt_nvml *nvml = NULL;
	struct fake fake;

	for (k = 0; k < 2 * n; k++) {
		i = k / 2;
		fake_init(&fake, "WATT_FAKE_NVML", scripts[k % 2]);
		assert_int_equal(watt_nvml_open(&fake.env, &nvml, NULL), 0);
		if (i > 3) /* those are always there */
			memset((char *)&nvml->api + i * sizeof(void (*)(void)), 0,
			       sizeof(void (*)(void)));
		users = (struct watt_gpu_users){ .procfs = &fake.env.procfs };
		mig = (struct watt_nvml_mig){ 0 };
		accounting = (struct watt_nvml_accounting){ 0 };
		if (watt_nvml_mig_is_on(nvml, &nvml->gpus[0]))
			assert_int_equal(
				watt_nvml_mig_read(&mig, nvml, &nvml->gpus[0], &users, 1000), 0);
		watt_nvml_list_fetch(nvml, nvml->gpus[0].device, &processes);
		if (watt_nvml_accounting_is_on(nvml, &nvml->gpus[0]))
			assert_int_equal(watt_nvml_accounting_read(&accounting, nvml,
								   &nvml->gpus[0], &processes, 0,
								   watt_now_ns()),
					 0);
		watt_nvml_mig_done(&mig, nvml);
		watt_nvml_accounting_done(&accounting);
		watt_gpu_users_done(&users);
		nvml = watt_nvml_close(nvml);
		fake_done(&fake);
	}
}

/* ---- accounting ---- */

/*
 * Where accounting is on and there are no samples: who lives has what it did in its life, and who
 * came and went between two looks is told of. Nobody switches it on: the driver here would abort.
 */
static void test_accounting(void **state)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct fake fake;
	double dt_ns, short_ns;
	uint64_t began_ns;

	fake_init(&fake, "WATT_FAKE_NVML",
		  GPU "lacks samples\naccounting\n"
		      "process 4194305 0 60\nprocess 4194306 0 30\n"
		      "process 4194307 30.6 50\nprocess 4194307 30.8 gone\n"
		      "process 4194308 20 90\nprocess 4194308 25 gone\n"
		      "process 4194309 30.6 90\nprocess 4194309 30.6005 gone\n"); /* 0 ms */
	began_ns = watt_now_ns();
	source = open_source(&fake);
	read_batch(source, &batch);
	assert_int_equal(batch.n_readings, 0);
	if (watt_now_ns() > began_ns + S / 2)
		skip(); /* so busy a machine has slept through it */
	while (watt_now_ns() < began_ns + S)
		usleep(20000);
	read_batch(source, &batch);
	assert_near(amount_of(&batch, 0, NOBODY, &dt_ns) / dt_ns, 0.6);
	assert_near(amount_of(&batch, 0, NOBODY + 1, &dt_ns) / dt_ns, 0.3);
	short_ns = amount_of(&batch, 0, NOBODY + 2, &dt_ns);
	assert_near(short_ns / (double)fake.busy_ns(0, NOBODY + 2, 0, 40 * S), 1);
	assert_int_equal(amount_at(&batch, NOBODY + 3, UINT64_MAX), 0);
	assert_int_equal(amount_at(&batch, NOBODY + 4, UINT64_MAX), 0);
	source->ops->close(source);
	fake_done(&fake);
}

/* ---- MPS ---- */

/* What the server did, its clients did; where only lists tell, it is none of those that do it. */
static void test_mps(void **state)
{
	static const char users[] =
		"process 4194305 0 60\nprocess 4194306 0 0\nmps 4194306\nprocess 4194307 0 0\n"
		"mps 4194307\n";
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	char script[512], *procfs = scratch_new();
	struct fake fake;
	double dt_ns;
	size_t i;

	scratch_write_bytes(procfs, NOBODY_TEXT "/comm", "nvidia-cuda-mps\n", 16);
	scratch_write_bytes(procfs, "4194306/comm", "train\n", 6);
	for (i = 0; i < 2; i++) {
		snprintf(script, sizeof(script), GPU "%s%s", i ? "lacks samples\n" : "", users);
		fake_init(&fake, "WATT_FAKE_NVML", script);
		watt_root_close(&fake.env.procfs);
		assert_int_equal(watt_root_open(&fake.env.procfs, procfs), 0);
		source = open_source(&fake);
		look_twice(source, &batch);
		if (i == 0) { /* samples are not a look apart: those of the first one */
			source->ops->close(source);
			source = open_source(&fake);
			read_batch(source, &batch);
		}
		assert_near(amount_of(&batch, 0, NOBODY + 1, &dt_ns) / dt_ns, 0.3);
		assert_near(amount_of(&batch, 0, NOBODY + 2, &dt_ns) / dt_ns, 0.3);
		assert_int_equal(amount_at(&batch, NOBODY, UINT64_MAX), 0);
		source->ops->close(source);
		fake_done(&fake);
	}
	scratch_remove(procfs);
}

/* ---- layouts ---- */

static void test_layouts(void **state)
{
	uint8_t buf[8 * WATT_NVML_ELEMENT_MAX];
	static const size_t strides[] = { 16, 24, 32 };
	struct watt_nvml_process found[8];
	size_t i, j;

	for (i = 0; i < WATT_ARRAY_SIZE(strides); i++) {
		memset(buf, WATT_NVML_UNWRITTEN, sizeof(buf));
		for (j = 0; j < 5; j++) {
			uint32_t pid = (uint32_t)(100 + j);
			uint64_t bytes = 1000 + j;

			memset(buf + j * strides[i], 0xff, strides[i]);
			memcpy(buf + j * strides[i], &pid, sizeof(pid));
			memcpy(buf + j * strides[i] + 8, &bytes, sizeof(bytes));
		}
		assert_int_equal(watt_nvml_list_parse(buf, sizeof(buf), 5, found), 0);
		for (j = 0; j < 5; j++) {
			assert_int_equal(found[j].pid, 100 + j);
			assert_int_equal(found[j].bytes, 1000 + j);
		}
	}
	memset(buf, WATT_NVML_UNWRITTEN, sizeof(buf));
	assert_int_equal(watt_nvml_list_parse(buf, sizeof(buf), 0, found), 0);
	assert_int_equal(watt_nvml_list_parse(buf, sizeof(buf), 1, found), -EBADMSG);
	assert_int_equal(watt_nvml_list_parse(buf, sizeof(buf), 9, found), -EBADMSG);
	memset(buf, 0, sizeof(buf));
	assert_int_equal(watt_nvml_list_parse(buf, sizeof(buf), 2, found), -EBADMSG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_nothing_twice),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_asleep),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_other_pids),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_unused),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_instances),
		cmocka_unit_test(test_instances_by_less),
		cmocka_unit_test(test_instances_come_and_go),
		cmocka_unit_test(test_missing_symbols),
		cmocka_unit_test(test_accounting),
		cmocka_unit_test(test_mps),
	};

	if (!has_machine_pids()) {
		fprintf(stderr,
			"skipped: in a pid namespace of its own nobody is found on a GPU\n");
		return 77;
	}
	return cmocka_run_group_tests_name("nvml_activity", tests, NULL, NULL);
}
