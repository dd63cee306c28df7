/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sensor that shows a true energy in the way of real ones: refreshed now and then, late,
 * averaged, rounded, wrapped, reset, away for a while. What it says is a function of the time and
 * its description alone. Immutable; thread-safe if the true energy is.
 */
#ifndef WATT_SOURCE_SYNTH_SENSOR_H
#define WATT_SOURCE_SYNTH_SENSOR_H

#include <stddef.h>
#include <stdint.h>

#include <wattribute/channel.h>
#include <wattribute/sample.h>

/* In [from_ns, to_ns) it answers with this status instead of a value. */
struct watt_synth_gap {
	uint64_t from_ns;
	uint64_t to_ns;
	enum watt_status status;
};

struct watt_synth_sensor {
	enum watt_quantity quantity;
	enum watt_semantics semantics; /* COUNTER for energy, the other two for power */
	uint64_t period_ns;            /* a new value at phase_ns + k * period_ns; 0: always */
	uint64_t phase_ns;
	uint64_t jitter_ns; /* each refresh is late by up to this, at random; below period_ns */
	uint64_t seed;      /* of the jitter */
	uint64_t delay_ns;  /* a value tells of so long before its refresh */
	uint64_t window_ns; /* AVERAGE: over this; INSTANT: over 1 us if 0 */
	uint64_t quantum;   /* nJ or uW of the last digit; 0: 1 */
	uint64_t wrap_nj;   /* modulus of a counter, a multiple of quantum; 0: none */
	uint64_t start_nj;  /* a counter begins with it */
	const uint64_t *resets_ns; /* ascending: at each the counter is 0 again */
	size_t n_resets;
	const struct watt_synth_gap *gaps;
	size_t n_gaps;
};

/* True energy in nJ from some instant to t_ns. */
typedef int64_t (*watt_synth_energy_fn)(const void *data, uint64_t t_ns);

/* Fills quantity, semantics, scale, wrap and timing of a channel that this sensor serves. */
void watt_synth_sensor_describe(const struct watt_synth_sensor *sensor, struct watt_channel *ret);
/* A reading at t_ns: all of the sample but its channel. */
void watt_synth_sensor_read(const struct watt_synth_sensor *sensor, watt_synth_energy_fn energy_nj,
			    const void *data, uint64_t t_ns, struct watt_sample *ret);
/* The instant that a reading at t_ns tells of: with its refresh, jitter and delay. */
uint64_t watt_synth_sensor_value_ns(const struct watt_synth_sensor *sensor, uint64_t t_ns);

#endif
