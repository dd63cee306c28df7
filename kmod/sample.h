/* SPDX-License-Identifier: GPL-2.0-only */
/* The sampler: a thread that reads everything at epoch + k * sample_ns, and ends windows. */
#ifndef WATTRIBUTE_SAMPLE_H
#define WATTRIBUTE_SAMPLE_H

#include <linux/types.h>

struct watt_sampler_stat {
	u64 n_samples;
	u64 n_missed; /* instants at which no sample was taken, as an earlier one took too long */
	u64 late_max_ns;
	u64 pass_sum_ns, pass_max_ns; /* wall time */
	u64 cpu_ns;                   /* of the thread */
	u64 began_ns;
};

/* Takes the first sample and publishes the first window before it returns. */
int watt_sampler_start(void);
void watt_sampler_stop(void);
/* The parameters have changed: begins a new epoch. Any thread. */
void watt_sampler_kick(void);

struct watt_sampler_stat watt_sampler_get_stat(void);

#endif
