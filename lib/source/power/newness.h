/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a BMC tells something new, or the same again, and how often it has something new. Pure.
 * One thread per object.
 */
#ifndef WATT_SOURCE_POWER_NEWNESS_H
#define WATT_SOURCE_POWER_NEWNESS_H

#include <stdbool.h>
#include <stdint.h>

#define WATT_ETAG_SIZE 128

/* What a BMC told. */
struct watt_bmc_reading {
	double value;    /* in W; in J where it counts energy */
	int64_t time_ns; /* since 1970, by the BMC's clock; 0: it does not say */
	/* of the report that it is in, which is another one with each; 0: none */
	uint64_t sequence;
};

/* All zeros: nothing was read yet. */
struct watt_newness {
	uint64_t usual_ns; /* set by the owner: as it is known from elsewhere; 0: it is not */
	struct watt_bmc_reading newest;
	char etag[WATT_ETAG_SIZE];
	bool has_newest;
	bool has_two;
	bool is_interrupted; /* since the newest came */
	uint64_t taken_ns;   /* when the newest was there that counts, by our clock */
	uint64_t changed_ns; /* when one came that was another one for sure; 0: none yet */
	uint64_t cadence_ns; /* distance of readings, as learnt; 0: not yet */
};

/*
 * What came at an instant of ours. Whether it counts as a reading: by its time or its number where
 * it has one, else because its value or its ETag is another one, else as a heartbeat. That is one
 * and a half cadences behind the reading before, at most max_heartbeat_ns; as long as no cadence is
 * known, what is usual, and at once for the second of all. The ETag may be empty.
 *
 * taken_ns says since when it is there: of another value, since now; of one that stands still, since
 * the newest whole cadence behind the last change. In between nobody measured: what the parts took
 * then, as bursts, is not in it, or it would be another one.
 */
bool watt_newness_take(struct watt_newness *newness, const struct watt_bmc_reading *reading,
		       const char *etag, uint64_t now_ns, uint64_t max_heartbeat_ns);
/*
 * Nothing can be read now. The next value counts at once, and teaches no cadence: when it changed,
 * nobody knows.
 */
void watt_newness_interrupt(struct watt_newness *newness);

#endif
