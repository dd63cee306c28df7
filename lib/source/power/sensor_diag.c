/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a set of sensors says of itself to a probe: whether it works, why not, what to do. It must
 * not read sensors.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "source/power/sensor.h"

const char *watt_sensor_reason(int error)
{
	switch (error) {
	case -EBADMSG:
		return "it does not hold a number";
	case -ERANGE:
		return "its number is out of range";
	case -ENOENT:
	case -ENODEV:
		return "it went away";
	default:
		return strerrordesc_np(-error) ? strerrordesc_np(-error) : "it cannot be read";
	}
}

int watt_sensor_set_verdict(const struct watt_sensor_set *set)
{
	if (set->power.n_channels)
		return 0;
	if (set->n_forbidden)
		return -EACCES;
	return set->n_broken ? -EIO : -ENODEV;
}

void watt_sensor_set_describe(const struct watt_sensor_set *set, struct watt_diag *diag)
{
	uint32_t i;

	diag->n_channels = set->power.n_channels;
	diag->period_ns = 0;
	diag->uncertainty_ppm = 0;
	for (i = 0; i < set->power.n_channels; i++) {
		const struct watt_channel *c = &set->channels[i];

		if (c->period_ns && (!diag->period_ns || c->period_ns < diag->period_ns))
			diag->period_ns = c->period_ns;
		if (c->uncertainty_ppm > diag->uncertainty_ppm)
			diag->uncertainty_ppm = c->uncertainty_ppm;
	}
}

static void explain_failure(struct watt_diag *diag, int r, const char *things, size_t n_devices)
{
	switch (r) {
	case -EACCES:
		diag->state = WATT_FORBIDDEN;
		snprintf(diag->why, sizeof(diag->why), "its files may not be read by this user");
		watt_strlcpy(diag->hint, "run as root, or give this user the right to read them",
			     sizeof(diag->hint));
		break;
	case -ENODEV:
		diag->state = WATT_ABSENT;
		if (n_devices)
			snprintf(diag->why, sizeof(diag->why), "%zu %s%s, none tells of power",
				 n_devices, things, n_devices == 1 ? "" : "s");
		else
			snprintf(diag->why, sizeof(diag->why), "this machine shows no %s", things);
		break;
	default:
		diag->state = WATT_BROKEN;
		snprintf(diag->why, sizeof(diag->why), "%s", watt_sensor_reason(r));
		watt_strlcpy(diag->hint, "open it with logging on: each sensor has a line",
			     sizeof(diag->hint));
		break;
	}
}

void watt_sensor_set_explain(struct watt_diag *diag, int r, const char *things, size_t n_devices)
{
	diag->error = r;
	diag->hint[0] = '\0';
	if (r < 0) {
		explain_failure(diag, r, things, n_devices);
		return;
	}
	diag->state = WATT_AVAILABLE;
	snprintf(diag->why, sizeof(diag->why), "%u channel%s on %zu %s%s", diag->n_channels,
		 diag->n_channels == 1 ? "" : "s", n_devices, things, n_devices == 1 ? "" : "s");
}
