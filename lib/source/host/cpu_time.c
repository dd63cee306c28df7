/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the BPF program that reads the CPUs' times, and runs it. It must not say anything that
 * /proc/stat denies: where the two would count differently, it does not open.
 */
#include "source/host/cpu_time.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/types.h>

#include <bpf/bpf.h>
#include <cpu_time.skel.h>
#include <usage_layout.h>

#include "base/util.h"
#include "source/host/bpf_log.h"

_Static_assert(sizeof(struct watt_bpf_cpu_time) == sizeof(struct watt_cpu_time), "same layout");
_Static_assert(offsetof(struct watt_bpf_cpu_time, steal_ns) ==
		       offsetof(struct watt_cpu_time, steal_ns),
	       "same layout");
_Static_assert(offsetof(struct watt_bpf_cpu_time, online) == offsetof(struct watt_cpu_time, online),
	       "same layout");

/*
 * A CPU without a tick accounts at switches only. The kernel adds what has passed since then to
 * what it shows, the program does not.
 */
static bool has_tickless(const struct watt_env *env)
{
	char text[256];
	int len;

	len = watt_root_read(&env->sysfs, "devices/system/cpu/nohz_full", text, sizeof(text));
	return len > 0 && text[0] != '\n' && strncmp(text, "(null)", 6) != 0;
}

static int load(struct watt_cpu_clock *clock, size_t n_cpus)
{
	struct watt_cpu_time_bpf *skel;

	errno = 0;
	skel = watt_cpu_time_bpf__open();
	if (!skel)
		return errno ? -errno : -ENOMEM;
	clock->skel = skel;
	skel->rodata->n_cpus = (uint32_t)n_cpus;
	bpf_map__set_max_entries(skel->maps.times, (uint32_t)n_cpus);
	return watt_cpu_time_bpf__load(skel);
}

static int map_times(struct watt_cpu_clock *clock)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = clock->n_cpus * sizeof(*clock->times);
	void *mapped;

	size = (size + page_size - 1) / page_size * page_size;
	mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, bpf_map__fd(clock->skel->maps.times), 0);
	if (mapped == MAP_FAILED)
		return -errno;
	clock->times = mapped;
	clock->mapped_size = size;
	return 0;
}

static int run(const struct watt_cpu_clock *clock)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(clock->skel->progs.read_cpus), &opts);
}

static int open_all(struct watt_cpu_clock *clock, const struct watt_env *env, size_t n_cpus)
{
	int r;

	if (!n_cpus || has_tickless(env))
		return -EOPNOTSUPP;
	clock->n_cpus = n_cpus;
	r = load(clock, n_cpus);
	if (r < 0)
		return r;
	r = map_times(clock);
	if (r < 0)
		return r;
	r = run(clock);
	if (r < 0)
		return r;
	return clock->skel->bss->n_coarse ? -EOPNOTSUPP : 0;
}

static const char *why_not(int r)
{
	if (r == -ENOENT || r == -ESRCH)
		return "the kernel does not tell where they are (CONFIG_KALLSYMS_ALL)";
	if (r == -EOPNOTSUPP)
		return "a CPU counts in another way";
	return strerror(-r);
}

int watt_cpu_clock_open(struct watt_cpu_clock *clock, const struct watt_env *env, size_t n_cpus)
{
	int r;

	memset(clock, 0, sizeof(*clock));
	watt_bpf_log_begin(&env->log);
	r = open_all(clock, env, n_cpus);
	watt_bpf_log_end();
	if (r < 0) {
		watt_log(&env->log, WATT_LOG_DEBUG,
			 "usage: bpf: times of each CPU from /proc/stat, to a tick: %s",
			 why_not(r));
		watt_cpu_clock_close(clock);
	}
	return r;
}

void watt_cpu_clock_close(struct watt_cpu_clock *clock)
{
	if (clock->times)
		munmap((void *)clock->times, clock->mapped_size);
	if (clock->skel)
		watt_cpu_time_bpf__destroy(clock->skel);
	memset(clock, 0, sizeof(*clock));
}

void watt_cpu_clock_copy(const struct watt_cpu_clock *clock, struct watt_cpu_time *cpus,
			 size_t n_cpus)
{
	for (size_t cpu = 0; cpu < n_cpus; cpu++) {
		if (cpu < clock->n_cpus && clock->times[cpu].online)
			cpus[cpu] = clock->times[cpu];
		else
			memset(&cpus[cpu], 0, sizeof(cpus[cpu]));
	}
}

int watt_cpu_clock_read(struct watt_cpu_clock *clock, struct watt_cpu_time *cpus, size_t n_cpus)
{
	int r;

	if (!clock->skel)
		return -ENODATA;
	r = run(clock);
	if (r < 0)
		return r;
	/* A CPU that came without: its idle time is in ticks. */
	if (clock->skel->bss->n_coarse)
		return -EOPNOTSUPP;
	watt_cpu_clock_copy(clock, cpus, n_cpus);
	return 0;
}
