/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How busy CPUs are: time that has passed less time that was idle. The kernel knows idle time to
 * the ns; user and system time it may count by ticks, so that short work is seen or not by chance.
 */
#include "source/power/cpu_busy.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/host/cpu_idle.h"
#include "source/host/cpustat.h"
#include "source/host/status.h"
#ifdef WATT_HAVE_BPF
#include "source/host/cpu_time.h"
#endif

#define PRESENT "devices/system/cpu/present"
#define STAT_SIZE (1u << 20)
#define CPUS_MAX 65536
#define PPM 1000000
/* A tick of /proc/stat is 10 ms: so many are 10 %. */
#define TICKS_PERIOD_NS (100 * WATT_NSEC_PER_MSEC)
/* That a CPU goes on being idle or busy is seen by a tick. */
#define IDLE_PERIOD_NS (10 * WATT_NSEC_PER_MSEC)

/* One CPU, and what was seen of it last. */
struct cpu {
	uint32_t number;
	bool is_seen;     /* what follows counts */
	uint64_t t_ns;    /* when it was */
	uint64_t away_ns; /* idle, waiting for I/O, stolen */
	uint64_t total_ns;
	uint32_t status; /* of busy_ppm */
	int64_t busy_ppm;
	struct watt_idle_gauge gauge; /* where cpuidle tells */
};

struct watt_cpu_busy {
	const struct watt_env *env;
	struct cpu *cpus;
	size_t n, cap;
	struct watt_cpu_time *times; /* by CPU number */
	size_t n_times;
	struct watt_file stat;
	char *text;                       /* of it */
	uint64_t t_before_ns, t_after_ns; /* of the newest look */
	struct watt_cpu_idle idle;
#ifdef WATT_HAVE_BPF
	struct watt_cpu_clock clock;
#endif
};

/* ---- the CPUs ---- */

static int add_cpu(unsigned int cpu, void *data)
{
	struct watt_cpu_busy *busy = data;
	int r = watt_grow((void **)&busy->cpus, &busy->cap, busy->n, sizeof(*busy->cpus));

	if (r < 0)
		return r;
	busy->cpus[busy->n++] = (struct cpu){ .number = cpu, .status = WATT_STATUS_NODATA };
	busy->n_times = WATT_MAX(busy->n_times, (size_t)cpu + 1);
	return 0;
}

/* Where nothing lists those that are present: those that are online. */
static int add_online(struct watt_cpu_busy *busy)
{
	_cleanup_free_ struct watt_cpu_time *times = calloc(CPUS_MAX, sizeof(*times));
	size_t i, n = 0;
	int r = 0;

	if (!times)
		return -ENOMEM;
	if (watt_file_read(&busy->stat, busy->text, STAT_SIZE) <= 0 ||
	    watt_cpustat_parse(busy->text, sysconf(_SC_CLK_TCK), times, CPUS_MAX, &n) < 0)
		return -ENODATA;
	for (i = 0; i < WATT_MIN(n, (size_t)CPUS_MAX) && r == 0; i++)
		r = times[i].online ? add_cpu((unsigned int)i, busy) : 0;
	return r;
}

static int list_cpus(struct watt_cpu_busy *busy)
{
	char list[4096];
	int r = -ENOENT;

	if (watt_root_read(&busy->env->sysfs, PRESENT, list, sizeof(list)) > 0)
		r = watt_parse_cpulist(list, add_cpu, busy);
	if (r < 0 && r != -ENOMEM) {
		busy->n = busy->n_times = 0;
		r = add_online(busy);
	}
	return r < 0 ? r : busy->n ? 0 : -ENODATA;
}

static bool has_clock(const struct watt_cpu_busy *busy)
{
#ifdef WATT_HAVE_BPF
	return busy->clock.skel;
#else
	return false;
#endif
}

static int read_times(struct watt_cpu_busy *busy)
{
	size_t n;
	int r;

#ifdef WATT_HAVE_BPF
	if (has_clock(busy)) {
		r = watt_cpu_clock_read(&busy->clock, busy->times, busy->n_times);
		if (r == 0)
			return 0;
		/* from now on by ticks: the two count in other ways */
		watt_cpu_clock_close(&busy->clock);
		for (n = 0; n < busy->n; n++)
			busy->cpus[n].is_seen = false;
	}
#endif
	r = watt_file_read(&busy->stat, busy->text, STAT_SIZE);
	return r < 0 ? r :
		       watt_cpustat_parse(busy->text, sysconf(_SC_CLK_TCK), busy->times,
					  busy->n_times, &n);
}

/* Of all CPUs that are online, or of none: all are to be as good as each other. */
static int open_idle(struct watt_cpu_busy *busy)
{
	_cleanup_free_ uint32_t *numbers = calloc(busy->n, sizeof(*numbers));
	size_t i;
	int r;

	if (!numbers)
		return -ENOMEM;
	for (i = 0; i < busy->n; i++)
		numbers[i] = busy->cpus[i].number;
	r = watt_cpu_idle_open(&busy->idle, &busy->env->sysfs, numbers, busy->n);
	if (r == 0)
		r = read_times(busy);
	for (i = 0; r == 0 && i < busy->n; i++)
		if (busy->times[numbers[i]].online && !watt_cpu_idle_has(&busy->idle, i))
			r = -ENODATA;
	if (r < 0)
		watt_cpu_idle_close(&busy->idle);
	return r == -ENOMEM ? r : 0;
}

static int open_all(struct watt_cpu_busy *busy)
{
	int r;

	busy->text = malloc(STAT_SIZE);
	if (!busy->text)
		return -ENOMEM;
	r = watt_file_open(&busy->stat, &busy->env->procfs, "stat");
	if (r == 0)
		r = list_cpus(busy);
	if (r < 0)
		return r;
	busy->times = calloc(busy->n_times, sizeof(*busy->times));
	if (!busy->times)
		return -ENOMEM;
#ifdef WATT_HAVE_BPF
	/* what a captured machine did is in its files alone */
	if (busy->env->procfs.is_kernel && busy->env->sysfs.is_kernel)
		(void)watt_cpu_clock_open(&busy->clock, busy->env, busy->n_times);
#endif
	if (!has_clock(busy))
		r = open_idle(busy);
	if (r < 0)
		return r;
	watt_log(&busy->env->log, WATT_LOG_INFO,
		 "context: what CPUs do is known by %s, every %u ms", watt_cpu_busy_get_clock(busy),
		 (unsigned int)(watt_cpu_busy_get_period_ns(busy) / WATT_NSEC_PER_MSEC));
	watt_cpu_busy_look(busy); /* so that the next one tells something */
	return 0;
}

int watt_cpu_busy_open(const struct watt_env *env, struct watt_cpu_busy **ret)
{
	struct watt_cpu_busy *busy = calloc(1, sizeof(*busy));
	int r;

	if (!busy)
		return -ENOMEM;
	busy->env = env;
	busy->stat = (struct watt_file)WATT_FILE_INIT;
	r = open_all(busy);
	if (r < 0)
		watt_cpu_busy_close(busy);
	else
		*ret = busy;
	return r == -ENOMEM ? r : r < 0 ? -ENODATA : 0;
}

struct watt_cpu_busy *watt_cpu_busy_close(struct watt_cpu_busy *busy)
{
	if (!busy)
		return NULL;
#ifdef WATT_HAVE_BPF
	watt_cpu_clock_close(&busy->clock);
#endif
	watt_cpu_idle_close(&busy->idle);
	watt_file_close(&busy->stat);
	free(busy->text);
	free(busy->times);
	free(busy->cpus);
	free(busy);
	return NULL;
}

/* ---- looking ---- */

const char *watt_cpu_busy_get_clock(const struct watt_cpu_busy *busy)
{
	return has_clock(busy) ? "bpf" : busy->idle.cpus ? "cpuidle" : "ticks";
}

uint64_t watt_cpu_busy_get_period_ns(const struct watt_cpu_busy *busy)
{
	return has_clock(busy) ? WATT_NSEC_PER_MSEC :
	       busy->idle.cpus ? IDLE_PERIOD_NS :
				 TICKS_PERIOD_NS;
}

static uint64_t away_of(const struct watt_cpu_time *time)
{
	return time->idle_ns + time->steal_ns;
}

static uint64_t total_of(const struct watt_cpu_time *time)
{
	return time->user_ns + time->system_ns + time->irq_ns + time->softirq_ns + away_of(time);
}

/* What has passed: by the clock, or by its ticks, where these are what idle time is told in. */
static uint64_t passed_ns(const struct watt_cpu_busy *busy, const struct cpu *cpu,
			  const struct watt_cpu_time *time, uint64_t t_ns)
{
	uint64_t total_ns = total_of(time);

	if (has_clock(busy))
		return t_ns - cpu->t_ns;
	return total_ns > cpu->total_ns ? total_ns - cpu->total_ns : 0;
}

/* Idle time can step back by a little: what was away before is not away again. */
static void look_by_stat(struct watt_cpu_busy *busy, struct cpu *cpu,
			 const struct watt_cpu_time *time, uint64_t t_ns)
{
	uint64_t away_ns = WATT_MAX(away_of(time), cpu->is_seen ? cpu->away_ns : 0), whole_ns;

	if (!time->online || !cpu->is_seen) {
		cpu->status = WATT_STATUS_NODATA;
	} else {
		whole_ns = passed_ns(busy, cpu, time, t_ns);
		if (!whole_ns) {
			/* no tick: it is told with the next one */
			if (cpu->status != WATT_STATUS_NODATA)
				cpu->status = WATT_STATUS_NOTHING_NEW;
			return;
		}
		cpu->status = WATT_STATUS_OK;
		cpu->busy_ppm =
			PPM - (int64_t)((watt_u128)WATT_MIN(away_ns - cpu->away_ns, whole_ns) *
					PPM / whole_ns);
	}
	cpu->is_seen = time->online;
	cpu->t_ns = t_ns;
	cpu->away_ns = away_ns;
	cpu->total_ns = total_of(time);
}

/* As cpuidle has it. One that came without has no value. */
static void look_by_idle(struct watt_cpu_busy *busy, size_t i)
{
	struct cpu *cpu = &busy->cpus[i];
	struct watt_idle_look look = { .time = &busy->times[cpu->number] };
	bool was_known = cpu->gauge.told_ns > 0;
	int r = -ENODATA;

	if (look.time->online && watt_cpu_idle_has(&busy->idle, i))
		r = watt_cpu_idle_read(&busy->idle, i, &look.ended_ns);
	look.t_ns = watt_now_ns();
	if (r < 0) {
		cpu->gauge = (struct watt_idle_gauge){ 0 };
		cpu->status = (uint32_t)watt_status_from_errno(r);
	} else if (watt_idle_gauge_look(&cpu->gauge, &look, &cpu->busy_ppm)) {
		cpu->status = WATT_STATUS_OK;
	} else {
		cpu->status = was_known && cpu->status != WATT_STATUS_NODATA ?
				      WATT_STATUS_NOTHING_NEW :
				      WATT_STATUS_NODATA;
	}
}

static void look_at(struct watt_cpu_busy *busy, size_t i)
{
	struct cpu *cpu = &busy->cpus[i];

	if (busy->idle.cpus)
		look_by_idle(busy, i);
	else
		look_by_stat(busy, cpu, &busy->times[cpu->number],
			     busy->t_before_ns + (busy->t_after_ns - busy->t_before_ns) / 2);
}

void watt_cpu_busy_look(struct watt_cpu_busy *busy)
{
	size_t i;
	int r;

	busy->t_before_ns = watt_now_ns();
	r = read_times(busy);
	busy->t_after_ns = watt_now_ns();
	for (i = 0; i < busy->n; i++) {
		if (r == 0)
			look_at(busy, i);
		else
			busy->cpus[i].status = (uint32_t)watt_status_from_errno(r);
	}
	if (busy->idle.cpus)
		busy->t_after_ns = watt_now_ns();
}

int watt_cpu_busy_get_cpu(const struct watt_cpu_busy *busy, size_t i)
{
	return i < busy->n ? (int)busy->cpus[i].number : -1;
}

void watt_cpu_busy_get(const struct watt_cpu_busy *busy, size_t i, struct watt_sample *ret)
{
	const struct cpu *cpu = &busy->cpus[i];

	ret->t_before_ns = busy->t_before_ns;
	ret->t_after_ns = busy->t_after_ns;
	ret->status = cpu->status;
	ret->raw = cpu->status == WATT_STATUS_OK ? cpu->busy_ppm : 0;
}
