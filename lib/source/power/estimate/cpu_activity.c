/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Busy time of every CPU out of readings of /proc/stat and the times at which they were made.
 * It must not read files or clocks, and must not believe that counters only go up.
 */
#include "source/power/estimate/cpu_activity.h"

#include "base/clock.h"
#include "base/util.h"

/* A counter that steps back further than this was reset, not corrected. */
#define BACK_STEP_MAX_NS (100 * WATT_NSEC_PER_MSEC)

static uint64_t away_of(const struct watt_cpu_time *time)
{
	return time->idle_ns + time->steal_ns;
}

static uint64_t total_of(const struct watt_cpu_time *time)
{
	return time->user_ns + time->system_ns + time->irq_ns + time->softirq_ns + away_of(time);
}

/* A stay online begins: what was before it is kept, what it begins with counts for nothing. */
static void begin(struct watt_cpu_activity *cpu, const struct watt_cpu_time *time, uint64_t now_ns)
{
	cpu->base_t_ns = now_ns;
	cpu->base_online_ns = cpu->online_ns;
	cpu->base_busy_ns = cpu->busy_ns;
	cpu->base_away_ns = away_of(time);
	cpu->away_ns = cpu->base_away_ns;
	cpu->total_ns = total_of(time);
	cpu->is_online = true;
}

static bool was_reset(const struct watt_cpu_activity *cpu, const struct watt_cpu_time *time)
{
	uint64_t away_ns = away_of(time);

	return away_ns < cpu->away_ns && cpu->away_ns - away_ns > BACK_STEP_MAX_NS;
}

/* From the base each time, so that the kernel's rounding to ticks never adds up. */
static void go_on(struct watt_cpu_activity *cpu, const struct watt_cpu_time *time, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns - cpu->base_t_ns;
	uint64_t total_ns = total_of(time);
	bool has_moved = total_ns != cpu->total_ns;
	uint64_t away_ns;

	cpu->online_ns = WATT_MAX(cpu->online_ns, cpu->base_online_ns + elapsed_ns);
	/* idle and iowait are sampled apart and may step back; what was counted stays counted. */
	cpu->away_ns = WATT_MAX(cpu->away_ns, away_of(time));
	cpu->total_ns = total_ns;
	/* A line that stands still tells nothing of the time since: it is made up for later. */
	if (!has_moved)
		return;
	away_ns = cpu->away_ns - cpu->base_away_ns;
	if (away_ns < elapsed_ns)
		cpu->busy_ns = WATT_MAX(cpu->busy_ns, cpu->base_busy_ns + elapsed_ns - away_ns);
}

void watt_cpu_activity_update(struct watt_cpu_activity *cpus, const struct watt_cpu_time *times,
			      size_t n, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct watt_cpu_activity *cpu = &cpus[i];

		if (!times[i].online)
			cpu->is_online = false;
		else if (!cpu->is_online || now_ns < cpu->base_t_ns || was_reset(cpu, &times[i]))
			begin(cpu, &times[i], now_ns);
		else
			go_on(cpu, &times[i], now_ns);
	}
}

bool watt_cpu_activity_is_same(const struct watt_cpu_activity *cpus,
			       const struct watt_cpu_time *times, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!times[i].online != !cpus[i].is_online ||
		    (times[i].online && total_of(&times[i]) != cpus[i].total_ns))
			return false;
	return true;
}
