/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power as a function of time, with its energy by formula and not by steps. Immutable;
 * thread-safe.
 */
#ifndef WATT_SOURCE_SYNTH_SIGNAL_H
#define WATT_SOURCE_SYNTH_SIGNAL_H

#include <stdint.h>

enum watt_synth_shape {
	WATT_SYNTH_SINE,   /* between low and high, from the middle upwards */
	WATT_SYNTH_SQUARE, /* high for duty_ppm of the period, then low */
	WATT_SYNTH_RAMP,   /* from low to high, and back at once */
};

struct watt_synth_signal {
	enum watt_synth_shape shape;
	uint32_t low_uw;
	uint32_t high_uw;   /* not below low_uw */
	uint64_t period_ns; /* 1 ns to 1,000 s */
	uint32_t duty_ppm;  /* square only */
	uint64_t epoch_ns;  /* its energy is 0 there, and before */
};

/* To the nJ, rounded down (a sine: to the nearest). */
int64_t watt_synth_signal_energy_nj(const struct watt_synth_signal *signal, uint64_t t_ns);
/* A watt_synth_energy_fn: data is the signal. */
int64_t watt_synth_signal_true_nj(const void *signal, uint64_t t_ns);

#endif
