/* SPDX-License-Identifier: Apache-2.0 */
/* The integrals of a few shapes of power. Whole periods are exact; only a sine is in doubles. */
#include "source/synth/signal.h"

#include <math.h>

#include "base/util.h"

#define FJ_PER_NJ 1000000

/* Energy of the first x_ns of a period, in fJ (uW * ns), above low. */
static watt_u128 rise_fj(const struct watt_synth_signal *signal, uint64_t x_ns)
{
	watt_u128 swing_uw = signal->high_uw - signal->low_uw;
	uint64_t high_ns;
	double turns;

	switch (signal->shape) {
	case WATT_SYNTH_SINE:
		turns = 2 * M_PI * (double)x_ns / (double)signal->period_ns;
		return swing_uw * x_ns / 2 +
		       (watt_u128)((double)swing_uw / 2 * (double)signal->period_ns / (2 * M_PI) *
					   (1 - cos(turns)) +
				   0.5);
	case WATT_SYNTH_SQUARE:
		high_ns = (uint64_t)((watt_u128)signal->period_ns * signal->duty_ppm / 1000000);
		return swing_uw * WATT_MIN(x_ns, high_ns);
	case WATT_SYNTH_RAMP:
	default:
		return swing_uw * x_ns * x_ns / 2 / signal->period_ns;
	}
}

int64_t watt_synth_signal_energy_nj(const struct watt_synth_signal *signal, uint64_t t_ns)
{
	uint64_t x_ns, n;
	watt_u128 fj;

	if (t_ns <= signal->epoch_ns)
		return 0;
	x_ns = t_ns - signal->epoch_ns;
	n = x_ns / signal->period_ns;
	fj = (watt_u128)signal->low_uw * x_ns + rise_fj(signal, signal->period_ns) * n +
	     rise_fj(signal, x_ns % signal->period_ns);
	return (int64_t)(fj / FJ_PER_NJ);
}

int64_t watt_synth_signal_true_nj(const void *signal, uint64_t t_ns)
{
	return watt_synth_signal_energy_nj(signal, t_ns);
}
