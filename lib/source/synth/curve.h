/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The true energy of something whose power changes in steps: exact, at any instant since it
 * began. mW times us is nJ, so nothing is ever rounded. One thread per object.
 */
#ifndef WATT_SOURCE_SYNTH_CURVE_H
#define WATT_SOURCE_SYNTH_CURVE_H

#include <stddef.h>
#include <stdint.h>

/* From t_us on, and until the next step. */
struct watt_synth_step {
	uint64_t t_us;
	int64_t energy_nj; /* up to t_us */
	uint64_t power_mw;
};

struct watt_synth_curve {
	struct watt_synth_step *steps;
	size_t n;
	size_t cap;
};

/* t_us is not before the last step. 0 or -ENOMEM. */
int watt_synth_curve_step(struct watt_synth_curve *curve, uint64_t t_us, uint64_t power_mw);
/* 0 before the first step; beyond the last one its power goes on. */
int64_t watt_synth_curve_energy_nj(const struct watt_synth_curve *curve, uint64_t t_us);
/* Before t_us nothing will be asked any more. */
void watt_synth_curve_forget(struct watt_synth_curve *curve, uint64_t t_us);
void watt_synth_curve_done(struct watt_synth_curve *curve);

#endif
