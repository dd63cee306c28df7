/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sensor of power does, from its readings while a known load went on and off: how often it
 * has a new value, of how much time that is the mean, and how old it is then. Plain values.
 */
#ifndef WATT_SOURCE_POWER_NVML_SENSOR_FIT_H
#define WATT_SOURCE_POWER_NVML_SENSOR_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/power/nvml/gpu_timing.h"

/* The load was on in it. */
struct watt_load_pulse {
	uint64_t from_ns, to_ns;
};

/* A value that was not there at the reading before. */
struct watt_sensor_edge {
	uint64_t before_ns; /* of that reading; 0: there was none */
	uint64_t t_ns;
	int64_t value;
};

struct watt_sensor_fit {
	uint64_t period_ns;
	uint64_t window_ns; /* of a counter: 0 */
	uint64_t delay_ns;  /* from the end of the window to when it can be read */
	double explained;   /* part of the variance that the load explains */
};

/*
 * Pulses and edges are in the order of time, and pulses don't overlap. 0; -ENODATA: too few edges,
 * or the load left no trace in them. -ENOMEM.
 */
int watt_sensor_fit(const struct watt_load_pulse *pulses, size_t n_pulses,
		    const struct watt_sensor_edge *edges, size_t n_edges, bool is_counter,
		    struct watt_sensor_fit *ret);
/* As a table of generations has it: what it sees and how sure that is follow from the rest. */
struct watt_gpu_timing watt_sensor_fit_timing(const struct watt_sensor_fit *fit, bool is_counter);

#endif
