/* SPDX-License-Identifier: Apache-2.0 */
/* An intersection of what is possible, that widens as two clocks drift apart. */
#include "source/power/redfish/bmc_clock.h"

#include <errno.h>

#include "base/util.h"

/* Of cheap oscillators, and of an NTP that steers. */
#define DRIFT_PPM 200

void watt_bmc_clock_see(struct watt_bmc_clock *clock, int64_t date_ns, uint64_t grain_ns,
			uint64_t before_ns, uint64_t after_ns)
{
	int64_t low_ns = date_ns - (int64_t)after_ns;
	int64_t high_ns = date_ns + (int64_t)grain_ns - (int64_t)before_ns;
	int64_t drift_ns;

	if (!clock->is_known) {
		clock->is_known = true;
		clock->low_ns = low_ns;
		clock->high_ns = high_ns;
		clock->seen_ns = after_ns;
		return;
	}
	drift_ns = (int64_t)((after_ns - clock->seen_ns) / 1000000 * DRIFT_PPM);
	clock->low_ns = WATT_MAX(clock->low_ns - drift_ns, low_ns);
	clock->high_ns = WATT_MIN(clock->high_ns + drift_ns, high_ns);
	clock->seen_ns = after_ns;
	if (clock->low_ns <= clock->high_ns)
		return;
	clock->low_ns = low_ns;
	clock->high_ns = high_ns;
	clock->steps++;
}

int watt_bmc_clock_to_ours(const struct watt_bmc_clock *clock, int64_t theirs_ns, uint64_t *ret_ns,
			   uint64_t *ret_error_ns)
{
	int64_t half_ns = (clock->high_ns - clock->low_ns) / 2;
	int64_t ours_ns = theirs_ns - (clock->low_ns + half_ns);

	if (!clock->is_known)
		return -ENODATA;
	if (ours_ns <= 0)
		return -ERANGE;
	*ret_ns = (uint64_t)ours_ns;
	*ret_error_ns = (uint64_t)half_ns;
	return 0;
}
