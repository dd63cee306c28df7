// SPDX-License-Identifier: GPL-2.0-only
#include "lag.h"

#include <linux/minmax.h>
#include <linux/time64.h>

/* What was seen longer ago does not count: clocks fall behind more and more. */
#define MEMORY_NS NSEC_PER_SEC

static void begin_again(struct watt_lag *lag, u64 now_ns, s64 distance_ns)
{
	bool is_old = !lag->since_ns || now_ns - lag->since_ns > 2 * MEMORY_NS;

	lag->previous_ns = is_old ? distance_ns : lag->least_ns;
	lag->least_ns = distance_ns;
	lag->since_ns = now_ns;
}

u64 watt_lag_running_ns(struct watt_lag *lag, u64 now_ns, u64 counted_ns, u64 most_ns)
{
	s64 distance_ns = (s64)(now_ns - counted_ns), least_ns;

	if (!lag->since_ns || now_ns - lag->since_ns > MEMORY_NS)
		begin_again(lag, now_ns, distance_ns);
	lag->least_ns = min(lag->least_ns, distance_ns);
	least_ns = min(lag->least_ns, lag->previous_ns);
	if (distance_ns - least_ns > (s64)most_ns) {
		/* it has fallen behind since */
		least_ns = distance_ns - (s64)most_ns;
		lag->least_ns = least_ns;
		lag->previous_ns = least_ns;
	}
	return distance_ns - least_ns;
}
