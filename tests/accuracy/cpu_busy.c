/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well cpuidle and /proc/stat tell what a CPU did, held against every context switch from and to
 * its idle task, which a BPF program sees. Loads of known shape run on one CPU. What is printed: the
 * true share; for both, by how much their readings are off on average, and all of them together.
 * Needs root, BPF and cpuidle; says so and skips otherwise.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/host/cpu_idle.h"
#include "source/host/cpustat.h"

#include <idle_truth.skel.h>

#define LOOK_NS (10 * WATT_NSEC_PER_MSEC)
#define TICKS_NS (100 * WATT_NSEC_PER_MSEC)
#define LOOKS 500
#define CPU 0

struct rig {
	struct watt_root procfs, sysfs;
	struct idle_truth_bpf *truth;
	struct watt_cpu_idle idle;
};

/* What somebody said of shares of time, and what was true. */
struct score {
	uint64_t since_ns, since_away_ns, since_ticks_ns;
	double off_ns, length_ns, said_ns, true_ns;
	unsigned int n;
};

static void work(double share, double period_s)
{
	struct timespec t;
	uint64_t begin_ns = watt_now_ns(), busy_ns = (uint64_t)(share * period_s * 1e9);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(CPU, &set);
	sched_setaffinity(0, sizeof(set), &set);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;; begin_ns += (uint64_t)(period_s * 1e9)) {
		while (watt_now_ns() < begin_ns + busy_ns)
			;
		t = watt_timespec_from_ns(begin_ns + (uint64_t)(period_s * 1e9));
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

static void add(struct score *score, uint64_t t_ns, uint64_t away_ns, double said)
{
	double length_ns = (double)(t_ns - score->since_ns);
	double busy_ns = length_ns - (double)(away_ns - score->since_away_ns);

	score->off_ns += fabs(said * length_ns - busy_ns);
	score->length_ns += length_ns;
	score->said_ns += said * length_ns;
	score->true_ns += busy_ns;
	score->n++;
}

/* Up to now. Once more, where a switch came between. */
static uint64_t idle_ns(const struct idle_truth_bpf__bss *truth)
{
	const volatile uint64_t *closed = (const volatile uint64_t *)&truth->idle_ns;
	const volatile uint64_t *since = (const volatile uint64_t *)&truth->since_ns;
	uint64_t before_ns, since_ns, now_ns;

	do {
		before_ns = *closed;
		since_ns = *since;
		now_ns = watt_now_ns();
	} while (*closed != before_ns || *since != since_ns);
	return before_ns + (since_ns && now_ns > since_ns ? now_ns - since_ns : 0);
}

static int look(struct rig *rig, struct watt_cpu_time *stat, uint64_t *ret_away_ns,
		uint64_t *ret_ended_ns)
{
	static char text[1 << 16];
	size_t n;
	int r = watt_root_read(&rig->procfs, "stat", text, sizeof(text));

	if (r > 0)
		r = watt_cpustat_parse(text, sysconf(_SC_CLK_TCK), stat, CPU + 1, &n);
	if (r == 0)
		r = watt_cpu_idle_read(&rig->idle, 0, ret_ended_ns);
	*ret_away_ns = idle_ns(rig->truth->bss) + stat[CPU].steal_ns;
	return r;
}

static int open_truth(struct rig *rig)
{
	int r;

	rig->truth = idle_truth_bpf__open();
	if (!rig->truth)
		return errno ? -errno : -ENOMEM;
	rig->truth->rodata->wanted_cpu = CPU;
	r = idle_truth_bpf__load(rig->truth);
	return r < 0 ? r : idle_truth_bpf__attach(rig->truth);
}

static int measure(struct rig *rig, struct score *idle, struct score *ticks)
{
	struct watt_idle_gauge gauge = { 0 };
	struct watt_cpu_time stat[CPU + 1];
	struct watt_idle_look at = { .time = &stat[CPU] };
	uint64_t away_ns, ticks_ns;
	struct timespec t = { .tv_nsec = (long)LOOK_NS };
	int64_t ppm;
	int i;

	for (i = 0; i < LOOKS; i++) {
		int r = look(rig, stat, &away_ns, &at.ended_ns);

		if (r < 0)
			return r;
		at.t_ns = watt_now_ns();
		ticks_ns = stat[CPU].idle_ns + stat[CPU].steal_ns;
		if (watt_idle_gauge_look(&gauge, &at, &ppm))
			add(idle, at.t_ns, away_ns, (double)ppm / 1e6);
		if (i == 0 || gauge.told_ns == at.t_ns)
			idle->since_ns = at.t_ns, idle->since_away_ns = away_ns;
		if (i > 0 && at.t_ns - ticks->since_ns < TICKS_NS)
			goto next;
		if (i > 0)
			add(ticks, at.t_ns, away_ns,
			    1 - WATT_MIN(1.0, (double)(ticks_ns - ticks->since_ticks_ns) /
						      (double)(at.t_ns - ticks->since_ns)));
		ticks->since_ns = at.t_ns;
		ticks->since_away_ns = away_ns;
		ticks->since_ticks_ns = ticks_ns;
next:
		nanosleep(&t, NULL);
	}
	return 0;
}

static int run(struct rig *rig, const char *name, double share, double period_s)
{
	struct score idle = { 0 }, ticks = { 0 };
	pid_t pid = fork();
	int r;

	if (pid == 0)
		work(share, period_s);
	usleep(200000);
	r = measure(rig, &idle, &ticks);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (r < 0)
		return r;
	printf("%-14s busy %5.1f %%; cpuidle, every %3.0f ms: a reading is off by %5.2f, all by "
	       "%+6.3f; "
	       "ticks, every %3.0f ms: %5.2f, %+6.3f\n",
	       name, 100 * idle.true_ns / idle.length_ns, idle.length_ns / idle.n / 1e6,
	       100 * idle.off_ns / idle.length_ns,
	       100 * (idle.said_ns - idle.true_ns) / idle.length_ns,
	       ticks.length_ns / ticks.n / 1e6, 100 * ticks.off_ns / ticks.length_ns,
	       100 * (ticks.said_ns - ticks.true_ns) / ticks.length_ns);
	return 0;
}

int main(void)
{
	static struct rig rig;
	uint32_t cpu = CPU;
	int r;

	r = watt_root_open(&rig.procfs, "/proc");
	if (r == 0)
		r = watt_root_open(&rig.sysfs, "/sys");
	if (r == 0)
		r = open_truth(&rig);
	if (r == 0)
		r = watt_cpu_idle_open(&rig.idle, &rig.sysfs, &cpu, 1);
	if (r < 0) {
		printf("needs root, BPF and cpuidle: %s\n", strerror(-r));
		return 77;
	}
	printf("percentage points of the time of CPU %d\n", CPU);
	r = run(&rig, "asleep", 0.0001, 1);
	if (r == 0)
		r = run(&rig, "1 in 100 ms", 0.01, 0.1);
	if (r == 0)
		r = run(&rig, "0.3 in 1 ms", 0.3, 0.001);
	if (r == 0)
		r = run(&rig, "2 in 7 ms", 2.0 / 7, 0.007);
	if (r == 0)
		r = run(&rig, "10 in 20 ms", 0.5, 0.02);
	if (r == 0)
		r = run(&rig, "60 in 200 ms", 0.3, 0.2);
	if (r == 0)
		r = run(&rig, "busy", 1, 1);
	return r < 0;
}
