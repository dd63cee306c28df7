/* SPDX-License-Identifier: Apache-2.0 */
/* An intersection of what is possible, that widens as two clocks drift apart. */
#include "source/power/redfish/bmc_clock.h"

#include <errno.h>

#include "base/clock.h"
#include "base/util.h"

/* Of cheap oscillators, and of an NTP that steers. */
#define DRIFT_PPM 200
/* The ages of readings are told to 50 ms at best. */
#define GOOD_NS 20000000

void watt_bmc_clock_see(struct watt_bmc_clock *clock, int64_t date_ns, uint64_t grain_ns,
			uint64_t before_ns, uint64_t after_ns)
{
	int64_t low_ns = date_ns - (int64_t)after_ns;
	int64_t high_ns = date_ns + (int64_t)grain_ns - (int64_t)before_ns;
	int64_t drift_ns;

	clock->took_ns = after_ns - before_ns;
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

uint64_t watt_bmc_clock_best_ns(const struct watt_bmc_clock *clock, uint64_t t_ns)
{
	int64_t half_ns = (clock->high_ns - clock->low_ns) / 2, middle_ns = clock->low_ns + half_ns;
	int64_t into_ns;

	if (!clock->is_known || half_ns <= WATT_MAX(GOOD_NS, (int64_t)clock->took_ns))
		return 0;
	/* it looks at its clock about half way between question and answer */
	middle_ns += (int64_t)(clock->took_ns / 2);
	into_ns = ((int64_t)t_ns + middle_ns) % (int64_t)WATT_NSEC_PER_SEC;
	if (into_ns < 0)
		into_ns += (int64_t)WATT_NSEC_PER_SEC;
	return t_ns + (into_ns ? WATT_NSEC_PER_SEC - (uint64_t)into_ns : 0);
}
