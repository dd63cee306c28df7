/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a part of a whole took while its sensor said that it has no value. It is in the rest of the
 * whole, which goes on without the part: who waited for one that is lost would wait for ever, and
 * the machine would lack all of it. So the part has nothing of that time, whatever its counter
 * says once it is back. One thread per object.
 */
#ifndef WATT_ATTRIB_SILENCE_H
#define WATT_ATTRIB_SILENCE_H

#include <stdbool.h>

#include "timeline/timeline.h"

struct watt_attrib;
struct watt_ledger;

struct watt_silence {
	/* The newest time that the rest has, until the part is past it. 0, 0: none. */
	uint64_t from_ns, to_ns;
	watt_i128 energy_nj;   /* that the curve has of those before */
	uint64_t gaps, gap_ns; /* of them, what is no gap of the curve */
};

/* E(t) of a domain that is measured, without its silence. As watt_timeline_energy_nj(). */
int watt_silence_curve_nj(const struct watt_ledger *part, const struct watt_timeline *tl,
			  uint64_t t_ns, watt_i128 *ret_nj);
/* The same where its curve ends, if nobody waits for more of it now; else -EAGAIN. */
int watt_silence_end_nj(const struct watt_attrib *at, const struct watt_ledger *part,
			const struct watt_timeline *tl, watt_i128 *ret_nj);
/* Whether nobody waits for more of a part's curve now: what it takes is in the rest. */
bool watt_silence_is_taken(const struct watt_attrib *at, const struct watt_ledger *part,
			   const struct watt_timeline *tl);
/* The rest has taken all up to t_ns: what the curve lacks of it is silence. Whether there is any. */
bool watt_silence_take(struct watt_ledger *part, const struct watt_timeline *tl, uint64_t t_ns);
/* The part has taken a slice. */
void watt_silence_pass(struct watt_ledger *part, const struct watt_timeline *tl);
/* As watt_timeline_find_gap(), with the newest silence. */
bool watt_silence_find_gap(const struct watt_ledger *part, const struct watt_timeline *tl,
			   uint64_t t0_ns, uint64_t t1_ns, struct watt_gap *ret);

#endif
