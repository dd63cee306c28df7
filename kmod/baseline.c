// SPDX-License-Identifier: GPL-2.0-only
#include "baseline.h"

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "compat.h"

/* Counters have a new value each ms: shorter blocks do not show power. */
#define BLOCK_NS (50 * NSEC_PER_MSEC)
/* At most one part in so many busy is next to nothing. */
#define BUSY_PARTS 32
#define POWER_MAX_UW 10000000000ULL

u64 watt_baseline_idle_nj(const struct watt_baseline *baseline, u64 time_ns, u64 energy_nj)
{
	u64 idle_nj = watt_mul_div(baseline->power_uw, time_ns, 1000000);

	return min(idle_nj, energy_nj);
}

static void learn(struct watt_baseline *baseline, bool is_idle)
{
	u64 power_uw = div64_u64(baseline->block_nj * 1000, baseline->block_ns / 1000);

	power_uw = min(power_uw, POWER_MAX_UW);
	if (!baseline->power_uw) {
		if (is_idle)
			baseline->power_uw = power_uw;
	} else if (power_uw < baseline->power_uw) {
		baseline->power_uw = power_uw;
	} else if (is_idle) {
		baseline->power_uw += (power_uw - baseline->power_uw) / 16;
	}
}

void watt_baseline_add(struct watt_baseline *baseline, u64 time_ns, u64 energy_nj, u64 busy_ns,
		       unsigned int n_cpus)
{
	baseline->block_nj += energy_nj;
	baseline->block_ns += time_ns;
	baseline->block_busy_ns += busy_ns;
	if (baseline->block_ns < BLOCK_NS)
		return;
	learn(baseline, baseline->block_busy_ns * BUSY_PARTS <= baseline->block_ns * n_cpus);
	baseline->block_nj = 0;
	baseline->block_ns = 0;
	baseline->block_busy_ns = 0;
}
