/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What precise mode costs at each context switch, over an empty program in the same place: two
 * processes that wake each other on one CPU, and the kernel's own statistics of its programs. And
 * what a reading costs.
 */
#include "bench.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <empty.skel.h>
#include <precise.skel.h>

#include "base/clock.h"
#include "source/activity/precise/precise.h"
#include "source/config/config.h"
#include "source/registry.h"

#define ROUNDS 31
#define SWITCHES 4000 /* in a round */

static struct watt_config config;
static struct watt_env env = { .config = &config };
static uint16_t slots[1024];
static struct watt_cpu_map map = { .slot = slots, .n_slots = 1 };

struct tally {
	uint64_t ns, n;
};

static struct tally read_tally(const struct bpf_program *program)
{
	struct bpf_prog_info info;
	uint32_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len) < 0)
		bench_exit(1, "statistics of a program: %s", strerror(errno));
	return (struct tally){ .ns = info.run_time_ns, .n = info.run_cnt };
}

/* Two processes on one CPU, of which one runs while the other waits for it. */
static void play(unsigned int n)
{
	int to[2], from[2];
	cpu_set_t all, one;
	char ball = 0;
	pid_t pid;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET((unsigned int)map.n_cpus - 1, &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pipe(to) < 0 || pipe(from) < 0)
		bench_exit(1, "pipes: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		close(to[1]);
		while (read(to[0], &ball, 1) == 1)
			if (write(from[1], &ball, 1) != 1)
				break;
		_exit(0);
	}
	for (unsigned int i = 0; i < n / 2; i++)
		if (write(to[1], &ball, 1) != 1 || read(from[0], &ball, 1) != 1)
			bench_exit(1, "the ball is lost");
	close(to[1]);
	close(to[0]);
	close(from[0]);
	close(from[1]);
	waitpid(pid, NULL, 0);
	sched_setaffinity(0, sizeof(all), &all);
}

/* Keeps the other CPU of the pair busy. */
static pid_t start_neighbour(void)
{
	pid_t pid = fork();
	cpu_set_t one;

	if (pid)
		return pid;
	CPU_ZERO(&one);
	CPU_SET(((unsigned int)map.n_cpus - 1) ^ 1, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (;;)
		;
}

/* Both programs at the same switches; the figure is their difference, round by round. */
static void bench_switch(const char *name, const struct watt_precise_opts *opts, bool has_neighbour,
			 double bar_ns)
{
	pid_t neighbour = has_neighbour ? start_neighbour() : 0;

	struct bench_series each = { 0 }, empties = { 0 };
	struct watt_precise_object object;
	struct watt_empty_bpf *empty;
	int r = watt_precise_object_open(&object, &env, &map, opts);

	if (r < 0)
		bench_exit(1, "%s: %s", name, strerror(-r));
	empty = watt_empty_bpf__open_and_load();
	if (!empty || watt_empty_bpf__attach(empty) < 0)
		bench_exit(1, "the empty programs: %s", strerror(errno));
	for (int round = 0; round < ROUNDS; round++) {
		struct tally real0 = read_tally(object.skel->progs.on_switch), real;
		struct tally empty0 = read_tally(empty->progs.empty_switch), none;

		play(SWITCHES);
		real = read_tally(object.skel->progs.on_switch);
		none = read_tally(empty->progs.empty_switch);
		if (round && real.n > real0.n && none.n > empty0.n) {
			bench_add(&each, (real.ns - real0.ns) / (real.n - real0.n));
			bench_add(&empties, (none.ns - empty0.ns) / (none.n - empty0.n));
		}
	}
	if (!each.n)
		bench_exit(1, "%s: never called", name);
	bench_report(name,
		     (double)bench_percentile(&each, 500) - (double)bench_percentile(&empties, 500),
		     "ns", bar_ns > 0 ? BENCH_AT_MOST : BENCH_NO_BAR, bar_ns,
		     "a switch, over an empty program's %.0f ns",
		     (double)bench_percentile(&empties, 500));
	bench_series_done(&each);
	bench_series_done(&empties);
	watt_empty_bpf__destroy(empty);
	watt_precise_object_close(&object);
	if (neighbour > 0) {
		kill(neighbour, SIGKILL);
		waitpid(neighbour, NULL, 0);
	}
}

static void bench_read(void)
{
	struct watt_precise_opts opts = { .is_paired = true };
	struct bench_series series = { 0 };
	struct watt_activity_source *src;
	struct watt_activity_batch batch = { 0 };
	int r = watt_precise_open_as(&env, &map, &opts, &src);

	if (r < 0)
		bench_exit(1, "reading: %s", strerror(-r));
	for (int i = 0; i < 100; i++) {
		uint64_t start_ns;

		bench_sleep_ns(10 * WATT_NSEC_PER_MSEC);
		start_ns = bench_thread_cpu_ns();
		if (src->ops->read(src, &batch) < 0)
			bench_exit(1, "reading failed");
		bench_add(&series, bench_thread_cpu_ns() - start_ns);
	}
	bench_report("precise: a reading", (double)bench_percentile(&series, 500) / 1e3, "us",
		     BENCH_NO_BAR, 0, "CPU time, %u CPUs, %zu counts told in the last one",
		     map.n_cpus, batch.n_readings);
	bench_series_done(&series);
	src->ops->close(src);
}

static int no_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

int main(void)
{
	static const struct watt_precise_event clock_event = { PERF_TYPE_SOFTWARE,
							       PERF_COUNT_SW_CPU_CLOCK };
	const struct watt_precise_opts bare = { .is_bare = true }, paired = { .is_paired = true },
				       stand_in = { .cycles = &clock_event,
						    .instructions = &clock_event };
	struct watt_precise_abilities abilities;
	struct watt_diag diag = { 0 };
	int stats;

	if (watt_root_open(&env.procfs, "/proc") < 0 || watt_root_open(&env.sysfs, "/sys") < 0)
		bench_exit(BENCH_SKIP, "no /proc or /sys");
	if (watt_activity_precise.probe(&env, &diag) < 0)
		bench_exit(BENCH_SKIP, "%s; %s", diag.why, diag.hint);
	libbpf_set_print(no_print);
	map.n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0)
		bench_exit(1, "statistics of BPF: %s", strerror(errno));
	watt_precise_find_abilities(&env, &abilities);
	bench_switch("precise: finding the task", &bare, false, 0);
	bench_switch("precise: and its sibling's time", &paired, false, 50);
	if (map.n_cpus > 1)
		bench_switch("precise: beside a busy sibling", &paired, true, 50);
	if (abilities.cycles == WATT_PRECISE_BY_PMU && abilities.has_instructions)
		bench_switch("precise: and two counters", NULL, false, 200);
	else
		bench_switch("precise: two software counters", &stand_in, false, 0);
	close(stats);
	bench_read();
	return 0;
}
