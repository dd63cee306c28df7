/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of a BMC against ours. Each answer tells a second that lies between the question and
 * the answer; what all of them leave possible gets narrow, where they are asked at the right times:
 * questions that are whole seconds apart all leave the same possible. One thread per object.
 */
#ifndef WATT_SOURCE_REDFISH_BMC_CLOCK_H
#define WATT_SOURCE_REDFISH_BMC_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Theirs minus ours is within [low, high]. Zeros: nothing is known. */
struct watt_bmc_clock {
	bool is_known;
	int64_t low_ns;
	int64_t high_ns;
	uint64_t seen_ns; /* when it was narrowed last */
	uint64_t took_ns; /* from that question to its answer */
	uint32_t steps;   /* times that it was set */
};

/*
 * It said date_ns, to a grain_ns (1 s: the second had begun), between two instants of ours. What
 * contradicts what was known says that it was set: then all begins again.
 */
void watt_bmc_clock_see(struct watt_bmc_clock *clock, int64_t date_ns, uint64_t grain_ns,
			uint64_t before_ns, uint64_t after_ns);
/* A time of theirs as one of ours. -ENODATA: nothing is known; -ERANGE: before our clock began. */
int watt_bmc_clock_to_ours(const struct watt_bmc_clock *clock, int64_t theirs_ns, uint64_t *ret_ns,
			   uint64_t *ret_error_ns);
/*
 * The first time of ours from t_ns on at which an answer of whole seconds halves what is possible:
 * when a second of theirs is expected to begin. 0: it is known about as well as it can be.
 */
uint64_t watt_bmc_clock_best_ns(const struct watt_bmc_clock *clock, uint64_t t_ns);

#endif
