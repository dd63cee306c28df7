/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and probes a source that is a set of sensors: whether it works, why not, what to do. It
 * must not know where its sensors come from.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "base/efficiency.h"
#include "source/power/sensor/sensor.h"
#include "source/power/sensor/sensor_read.h"

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

/* 0; -EACCES: all that was found is forbidden; -EIO: all is broken; -ENODEV: there is nothing. */
static int verdict(const struct watt_sensor_set *set)
{
	if (set->power.n_channels)
		return 0;
	if (set->n_forbidden)
		return -EACCES;
	return set->n_broken ? -EIO : -ENODEV;
}

static void describe(const struct watt_sensor_set *set, struct watt_diag *diag)
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

static const struct watt_channel *efficiency_channel(const void *of, size_t i)
{
	return &((const struct watt_sensor_set *)of)->channels[i];
}

static int efficiency_sample(const void *of, size_t i, struct watt_sample *ret)
{
	const struct watt_sensor_set *set = of;

	ret->status = watt_sensor_status(watt_sensor_read(&set->sensors[i], &ret->raw));
	return 0;
}

static void describe_supplies(const struct watt_sensor_set *set, struct watt_diag *diag)
{
	const struct watt_efficiency_view view = { .of = set,
						   .n = set->power.n_channels,
						   .channel = efficiency_channel,
						   .sample = efficiency_sample };
	struct watt_efficiency sides;

	if (watt_efficiency_sum(&view, &sides) < 0 ||
	    watt_efficiency_ppm(&sides, &diag->efficiency_ppm) < 0)
		diag->efficiency_ppm = 0;
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
		watt_strlcpy(diag->hint,
			     "wattribute sources -v says what is wrong with each sensor",
			     sizeof(diag->hint));
		break;
	}
}

static void explain(struct watt_diag *diag, int r, const char *things, size_t n_devices)
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

/* Sensors that can't be read beside others that can: which, the log says when they are opened. */
static void explain_refused(struct watt_diag *diag, const struct watt_sensor_set *set)
{
	size_t used = strlen(diag->why);

	if (!set->power.n_refused)
		return;
	if (set->n_forbidden)
		diag->error = -EACCES;
	snprintf(diag->why + used, sizeof(diag->why) - used,
		 "; %u more can't be read (%s), and %s tried again", set->power.n_refused,
		 set->n_forbidden ? "forbidden" : "broken",
		 set->power.n_refused == 1 ? "is" : "are");
	watt_strlcpy(diag->hint,
		     set->n_forbidden ? "run as root, or give this user the right to read them" :
					"wattribute sources -v says what is wrong with each sensor",
		     sizeof(diag->hint));
}

static int load_set(const struct watt_env *env, const struct watt_power_ops *ops,
		    watt_sensor_load_fn load, struct watt_sensor_set **ret, size_t *ret_n_devices)
{
	struct watt_sensor_set *set;
	int r;

	*ret_n_devices = 0;
	r = watt_sensor_set_new(env, ops, &set);
	if (r < 0)
		return r;
	r = load(set, ret_n_devices);
	if (r < 0) {
		watt_sensor_set_close(&set->power);
		return r;
	}
	*ret = set;
	return 0;
}

int watt_sensor_source_open(const struct watt_env *env, const struct watt_power_ops *ops,
			    watt_sensor_load_fn load, struct watt_power **ret)
{
	struct watt_sensor_set *set;
	size_t n_devices;
	int r;

	r = load_set(env, ops, load, &set, &n_devices);
	if (r < 0)
		return r;
	r = verdict(set);
	if (r < 0) {
		watt_sensor_set_close(&set->power);
		return r;
	}
	*ret = &set->power;
	return 0;
}

int watt_sensor_source_rescan(const struct watt_env *env, const struct watt_power_ops *ops,
			      watt_sensor_load_fn load, const struct watt_known *known,
			      struct watt_power **ret)
{
	struct watt_sensor_set *set;
	size_t n_devices;
	int r;

	/* all of them, so that each has the name that it would have */
	r = load_set(env, ops, load, &set, &n_devices);
	if (r < 0)
		return r;
	watt_sensor_set_drop_known(set, known);
	if (!set->power.n_channels) {
		watt_sensor_set_close(&set->power);
		return -ENODEV;
	}
	*ret = &set->power;
	return 0;
}

int watt_sensor_source_probe(const struct watt_env *env, const struct watt_power_ops *ops,
			     watt_sensor_load_fn load, const char *path, const char *things,
			     struct watt_diag *diag)
{
	struct watt_env quiet = *env;
	struct watt_sensor_set *set;
	size_t n_devices;
	int r;

	/* opening says it all again */
	quiet.log = (struct watt_log){ 0 };
	watt_strlcpy(diag->path, path, sizeof(diag->path));
	diag->n_channels = 0;
	r = load_set(&quiet, ops, load, &set, &n_devices);
	if (r < 0) {
		explain(diag, r, things, n_devices);
		return r;
	}
	r = verdict(set);
	describe(set, diag);
	describe_supplies(set, diag);
	explain(diag, r, things, n_devices);
	if (r == 0)
		explain_refused(diag, set);
	watt_sensor_set_close(&set->power);
	return r;
}
