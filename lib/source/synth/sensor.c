/* SPDX-License-Identifier: Apache-2.0 */
/* The vices of real sensors, each as exactly as it was ordered. Keeps no state. */
#include "source/synth/sensor.h"

#include "base/clock.h"
#include "base/util.h"

static uint64_t quantum_of(const struct watt_synth_sensor *sensor)
{
	return sensor->quantum ? sensor->quantum : 1;
}

/* The k-th refresh. Its lateness depends on k and the seed, and on nothing else. */
static uint64_t refresh_ns(const struct watt_synth_sensor *sensor, uint64_t k)
{
	uint64_t late_ns = 0;

	if (sensor->jitter_ns)
		late_ns = watt_hash_u64(watt_hash_u64(sensor->seed + 1) ^ k) %
			  (sensor->jitter_ns + 1);
	return sensor->phase_ns + k * sensor->period_ns + late_ns;
}

uint64_t watt_synth_sensor_value_ns(const struct watt_synth_sensor *sensor, uint64_t t_ns)
{
	uint64_t shown_ns = t_ns, k;

	if (sensor->period_ns) {
		k = t_ns > sensor->phase_ns ? (t_ns - sensor->phase_ns) / sensor->period_ns : 0;
		shown_ns = refresh_ns(sensor, k);
		if (shown_ns > t_ns)
			shown_ns = k ? refresh_ns(sensor, k - 1) : 0;
	}
	return shown_ns > sensor->delay_ns ? shown_ns - sensor->delay_ns : 0;
}

/* Energy that a counter has counted at t_ns, since its start or its last reset. */
static uint64_t counted_nj(const struct watt_synth_sensor *sensor, watt_synth_energy_fn energy_nj,
			   const void *data, uint64_t t_ns)
{
	size_t i = sensor->n_resets;

	while (i > 0 && sensor->resets_ns[i - 1] > t_ns)
		i--;
	if (i == 0)
		return sensor->start_nj + (uint64_t)energy_nj(data, t_ns);
	return (uint64_t)(energy_nj(data, t_ns) - energy_nj(data, sensor->resets_ns[i - 1]));
}

static int64_t read_counter(const struct watt_synth_sensor *sensor, watt_synth_energy_fn energy_nj,
			    const void *data, uint64_t t_ns)
{
	uint64_t nj = counted_nj(sensor, energy_nj, data, t_ns);

	if (sensor->wrap_nj)
		nj %= sensor->wrap_nj;
	return (int64_t)(nj / quantum_of(sensor));
}

/* The mean over the window that ends at t_ns; at the very start over what there is of it. */
static int64_t read_power(const struct watt_synth_sensor *sensor, watt_synth_energy_fn energy_nj,
			  const void *data, uint64_t t_ns)
{
	uint64_t window_ns = sensor->window_ns ? sensor->window_ns : WATT_NSEC_PER_USEC;
	watt_i128 nj, uw;

	window_ns = WATT_MIN(window_ns, t_ns);
	if (window_ns == 0)
		return 0;
	nj = energy_nj(data, t_ns) - energy_nj(data, t_ns - window_ns);
	uw = nj * 1000000 / (watt_i128)window_ns;
	return (int64_t)(uw / (watt_i128)quantum_of(sensor));
}

static enum watt_status status_at(const struct watt_synth_sensor *sensor, uint64_t t_ns)
{
	size_t i;

	for (i = 0; i < sensor->n_gaps; i++)
		if (t_ns >= sensor->gaps[i].from_ns && t_ns < sensor->gaps[i].to_ns)
			return sensor->gaps[i].status;
	return WATT_STATUS_OK;
}

void watt_synth_sensor_read(const struct watt_synth_sensor *sensor, watt_synth_energy_fn energy_nj,
			    const void *data, uint64_t t_ns, struct watt_sample *ret)
{
	uint64_t value_ns = watt_synth_sensor_value_ns(sensor, t_ns);

	ret->t_before_ns = t_ns;
	ret->t_after_ns = t_ns;
	ret->status = status_at(sensor, t_ns);
	ret->raw = 0;
	if (ret->status != WATT_STATUS_OK)
		return;
	ret->raw = sensor->semantics == WATT_SEMANTICS_COUNTER ?
			   read_counter(sensor, energy_nj, data, value_ns) :
			   read_power(sensor, energy_nj, data, value_ns);
}

void watt_synth_sensor_describe(const struct watt_synth_sensor *sensor, struct watt_channel *ret)
{
	ret->quantity = sensor->quantity;
	ret->semantics = sensor->semantics;
	ret->origin = WATT_ORIGIN_SIMULATED;
	ret->scale_num = quantum_of(sensor);
	ret->scale_den = 1;
	ret->wrap_nj = sensor->wrap_nj;
	ret->period_ns = sensor->period_ns;
	ret->window_ns = sensor->semantics == WATT_SEMANTICS_AVERAGE ? sensor->window_ns : 0;
	ret->delay_ns = sensor->delay_ns;
	ret->coverage_ppm = 1000000;
}
