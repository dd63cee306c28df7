/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sensors of a session: what is open, what has come since, the newest reading of each, whether
 * two that measure the same agree, and what has not been told yet. One thread per object.
 */
#ifndef WATT_SENSORS_H
#define WATT_SENSORS_H

#include <wattribute/session.h>

#include "attrib/attrib.h"
#include "base/uevent.h"
#include "crosschecks.h"
#include "options.h"
#include "powers.h"

struct watt_sensors {
	const struct watt_env *env;
	struct watt_powers powers;
	struct watt_engine *engine; /* of the powers; owned */
	const struct watt_channel **channels;
	size_t n_channels;
	struct watt_sample *newest;  /* per channel; t_after_ns 0: none yet */
	struct watt_uevents uevents; /* of devices that come and go */
	struct watt_crosschecks crosschecks;
	const struct watt_attrib *attrib; /* which domain a channel measures */
};

/* As watt_powers_open(); *ret is complete enough for watt_sensors_done(), whatever is returned. */
int watt_sensors_open(const struct watt_env *env, const struct watt_options *options,
		      struct watt_sensors *ret);
void watt_sensors_done(struct watt_sensors *sensors);
/* From then on it is known what they measure, and which of them measure the same. 0 or -ENOMEM. */
int watt_sensors_connect(struct watt_sensors *sensors, const struct watt_attrib *attrib);

/* Lists channels that have come. 1: some have; 0: none has; -ENOMEM. */
int watt_sensors_poll(struct watt_sensors *sensors);
/* When attribution knows channels that have come, from `first` on. 0 or -ENOMEM. */
int watt_sensors_pair(struct watt_sensors *sensors, size_t first);
/* These have been fetched. */
void watt_sensors_note(struct watt_sensors *sensors, const struct watt_sample *samples, size_t n);

/* A quick sensor measures the domain, has spoken, and its newest reading has no value. */
bool watt_sensors_is_silent(const struct watt_sensors *sensors, size_t domain);
/* Whether all that quick sensors will tell of the time up to t_ns is here. */
bool watt_sensors_is_settled(const struct watt_sensors *sensors, uint64_t t_ns);
/* Says in the log what is not. */
void watt_sensors_explain(const struct watt_sensors *sensors, uint64_t t_ns);

/* As watt_session_get_crosscheck(), watt_session_get_sample(). */
int watt_sensors_crosscheck(const struct watt_sensors *sensors, size_t i,
			    int64_t *ret_difference_ppm);
int watt_sensors_sample(const struct watt_sensors *sensors, size_t i, struct watt_sample *ret);
/* The name of source i, and how it does; NULL: there are not so many. */
const char *watt_sensors_source(const struct watt_sensors *sensors, size_t i,
				enum watt_status *ret_status);

#endif
