/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of each CPU to the ns, held against /proc/stat of the running kernel and against the
 * clock. Needs root and a kernel that lets its data be named; says why and skips otherwise.
 */
#include "../unit/unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/config/config.h"
#include "source/host/cpustat.h"
#include "source/activity/bpf/bpf.h"
#include "source/host/cpu_time.h"

#define CPUS 1024

static struct watt_config config;
static struct watt_env env = { .config = &config };
static struct watt_cpu_clock clock_ns;
static size_t n_cpus;
static char reason[512];

static void keep_log(void *data, enum watt_log_level level, const char *text)
{
	snprintf(reason, sizeof(reason), "%s", text);
	if (getenv("WATT_TEST_VERBOSE"))
		fprintf(stderr, "# %s\n", text);
}

static const char *why_not(void)
{
	env.log.fn = keep_log;
	if (watt_root_open(&env.procfs, "/proc") < 0 || watt_root_open(&env.sysfs, "/sys") < 0)
		return "no /proc or /sys";
	n_cpus = WATT_MIN((size_t)sysconf(_SC_NPROCESSORS_CONF), (size_t)CPUS);
	if (watt_cpu_clock_open(&clock_ns, &env, n_cpus) < 0)
		return reason;
	return NULL;
}

static void read_stat(struct watt_cpu_time *cpus)
{
	static char text[CPUS * 256];
	size_t n;
	int len;

	len = watt_root_read(&env.procfs, "stat", text, sizeof(text));
	assert_true(len > 0 || len == -EMSGSIZE);
	assert_int_equal(watt_cpustat_parse(text, sysconf(_SC_CLK_TCK), cpus, n_cpus, &n), 0);
}

static uint64_t tick_ns(void)
{
	return WATT_NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* Between what was read before and after it, give or take two ticks. */
static void assert_between(size_t cpu, const char *what, uint64_t before_ns, uint64_t got_ns,
			   uint64_t after_ns)
{
	if (got_ns + 2 * tick_ns() < before_ns || got_ns > after_ns + 2 * tick_ns())
		fprintf(stderr, "CPU %zu, %s: %llu ns, /proc/stat %llu then %llu\n", cpu, what,
			(unsigned long long)got_ns, (unsigned long long)before_ns,
			(unsigned long long)after_ns);
	assert_true(got_ns + 2 * tick_ns() >= before_ns);
	assert_true(got_ns <= after_ns + 2 * tick_ns());
}

static void compare_once(void)
{
	static struct watt_cpu_time before[CPUS], got[CPUS], after[CPUS];

	read_stat(before);
	assert_int_equal(watt_cpu_clock_read(&clock_ns, got, n_cpus), 0);
	read_stat(after);
	for (size_t i = 0; i < n_cpus; i++) {
		assert_int_equal(got[i].online, before[i].online);
		assert_between(i, "user", before[i].user_ns, got[i].user_ns, after[i].user_ns);
		assert_between(i, "system", before[i].system_ns, got[i].system_ns,
			       after[i].system_ns);
		assert_between(i, "idle", before[i].idle_ns, got[i].idle_ns, after[i].idle_ns);
		assert_between(i, "irq", before[i].irq_ns, got[i].irq_ns, after[i].irq_ns);
		assert_between(i, "softirq", before[i].softirq_ns, got[i].softirq_ns,
			       after[i].softirq_ns);
		assert_between(i, "steal", before[i].steal_ns, got[i].steal_ns, after[i].steal_ns);
	}
}

/* Idle and busy by turns: idle periods begin, run and end while they are read. */
static void test_as_proc_stat(void **state)
{
	for (int i = 0; i < 100; i++) {
		uint64_t end_ns = watt_now_ns() + (uint64_t)(i % 4) * WATT_NSEC_PER_MSEC;

		compare_once();
		while (watt_now_ns() < end_ns)
			;
		usleep(7000);
	}
}

/* From 7.2 on the kernel adds whole ticks to it where the tick goes on in an idle period. */
static uint64_t excess_ns(void)
{
	struct utsname name;

	return uname(&name) == 0 && strverscmp(name.release, "7.2") >= 0 ? 10 * WATT_NSEC_PER_MSEC :
									   0;
}

/* To the ns: more than a tick's multiples, and no CPU idles for longer than there was time. */
static void test_idle_ns(void **state)
{
	static struct watt_cpu_time before[CPUS], after[CPUS];
	uint64_t start_ns, wall_ns;
	size_t n_fine = 0;

	start_ns = watt_now_ns();
	assert_int_equal(watt_cpu_clock_read(&clock_ns, before, n_cpus), 0);
	usleep(300000);
	assert_int_equal(watt_cpu_clock_read(&clock_ns, after, n_cpus), 0);
	wall_ns = watt_now_ns() - start_ns;
	for (size_t i = 0; i < n_cpus; i++) {
		if (!before[i].online || !after[i].online)
			continue;
		n_fine += after[i].idle_ns % WATT_NSEC_PER_USEC != 0;
		assert_true(after[i].idle_ns - before[i].idle_ns <= wall_ns + excess_ns());
	}
	assert_true(n_fine > 0);
}

/* The source says that it is so. */
static void test_batch(void **state)
{
	struct watt_cpu_map map = { .n_cpus = (uint32_t)n_cpus, .n_slots = 1 };
	struct watt_activity_source *source;
	struct watt_usage_batch batch;
	static uint16_t slots[CPUS];
	int i;

	map.slot = slots;
	assert_int_equal(watt_usage_bpf_open_mode(&env, &map, WATT_BPF_MODE_AUTO, NULL, &source),
			 0);
	for (i = 0; i < WATT_BPF_CLOCK_SWEEPS; i++)
		assert_int_equal(source->ops->sweep(source, i == 0, &batch), 0);
	assert_true(batch.flags & WATT_BATCH_CPU_NS);
	assert_int_equal(batch.n_cpus, n_cpus);
	assert_true(batch.cpus[0].idle_ns > 0);
	source->ops->close(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_proc_stat),
		cmocka_unit_test(test_idle_ns),
		cmocka_unit_test(test_batch),
	};
	const char *why = why_not();

	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
