/* SPDX-License-Identifier: Apache-2.0 */
/* What is read, and what it said last. It reads nothing itself: that is the engine's. */
#include "sensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static int list_channels(struct watt_sensors *sensors)
{
	size_t n = watt_engine_channel_count(sensors->engine);
	const struct watt_channel **channels;
	struct watt_sample *newest;

	channels = reallocarray(sensors->channels, n + 1, sizeof(struct watt_channel *));
	if (channels)
		sensors->channels = channels;
	newest = reallocarray(sensors->newest, n + 1, sizeof(*newest));
	if (newest)
		sensors->newest = newest;
	if (!channels || !newest)
		return -ENOMEM;
	for (; sensors->n_channels < n; sensors->n_channels++) {
		size_t i = sensors->n_channels;

		channels[i] = watt_engine_channel(sensors->engine, i);
		newest[i] = (struct watt_sample){ .status = WATT_STATUS_PENDING };
	}
	return 0;
}

/* Of a machine that somebody captured nobody tells: it is looked at now and then, as others are. */
static void open_uevents(struct watt_sensors *sensors)
{
	const struct watt_env *env = sensors->env;
	int r = strcmp(env->sysfs.path, "/sys") ? 0 : watt_uevents_open(&sensors->uevents);

	if (r < 0)
		watt_log(
			&env->log, WATT_LOG_DEBUG,
			"the kernel does not tell of new devices here (%s): looked for each second",
			strerror(-r));
}

int watt_sensors_open(const struct watt_env *env, const struct watt_options *options,
		      struct watt_sensors *ret)
{
	const struct watt_powers_opts opts = {
		.sources = &options->sources,
		.rates = &options->rates,
		.patience_ns = options->open_wait_ms * WATT_NSEC_PER_MSEC,
		.engine = { .epoch_ns = env->epoch_ns,
			    .period_ns = options->period_ns,
			    .log = env->log,
			    .is_captured = env->is_captured },
	};
	int r;

	*ret = (struct watt_sensors){ .env = env, .uevents.fd = -1 };
	open_uevents(ret);
	r = watt_powers_open(env, &opts, &ret->powers);
	ret->engine = ret->powers.engine;
	return r < 0 ? r : list_channels(ret);
}

void watt_sensors_done(struct watt_sensors *sensors)
{
	watt_crosschecks_done(&sensors->crosschecks);
	watt_engine_free(sensors->engine);
	watt_uevents_close(&sensors->uevents);
	free(sensors->channels);
	free(sensors->newest);
}

int watt_sensors_connect(struct watt_sensors *sensors, const struct watt_attrib *attrib)
{
	sensors->attrib = attrib;
	return watt_sensors_pair(sensors, 0);
}

static void hear(void *data, const char *subsystem)
{
	watt_engine_hear(data, subsystem);
}

int watt_sensors_poll(struct watt_sensors *sensors)
{
	int r;

	watt_uevents_read(&sensors->uevents, hear, sensors->engine);
	watt_powers_poll(&sensors->powers, watt_now_ns());
	if (watt_engine_channel_count(sensors->engine) == sensors->n_channels)
		return 0;
	r = list_channels(sensors);
	return r < 0 ? r : 1;
}

/* Channels that would measure what another one does: whether they agree is worth knowing. */
int watt_sensors_pair(struct watt_sensors *sensors, size_t first)
{
	size_t i;
	int r = 0;

	for (i = first; i < sensors->n_channels && r == 0; i++) {
		int domain = watt_attrib_channel_domain(sensors->attrib, i);
		int32_t used = domain < 0 ?
				       (int32_t)i :
				       watt_attrib_domain(sensors->attrib, (size_t)domain)->channel;

		if (used != (int32_t)i)
			r = watt_crosschecks_add(&sensors->crosschecks, sensors->channels[used],
						 (uint32_t)used, sensors->channels[i], (uint32_t)i);
	}
	return r;
}

void watt_sensors_note(struct watt_sensors *sensors, const struct watt_sample *samples, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		sensors->newest[samples[i].channel] = samples[i];
		watt_crosschecks_push(&sensors->crosschecks, &samples[i]);
	}
}

/* ---- what they have told ---- */

/* Whether a quick source measures the domain. */
static bool is_quick(const struct watt_sensors *sensors, size_t domain)
{
	int32_t channel = watt_attrib_domain(sensors->attrib, domain)->channel;

	return channel >= 0 && !watt_engine_channel_is_blocking(sensors->engine, (size_t)channel);
}

bool watt_sensors_is_silent(const struct watt_sensors *sensors, size_t domain)
{
	return is_quick(sensors, domain) &&
	       sensors->newest[watt_attrib_domain(sensors->attrib, domain)->channel].status !=
		       WATT_STATUS_OK;
}

/* A residual lacks what its parts lack. */
static bool is_behind(const struct watt_sensors *sensors, size_t domain, uint64_t t_ns)
{
	return is_quick(sensors, domain) && !watt_sensors_is_silent(sensors, domain) &&
	       watt_attrib_settled_ns(sensors->attrib, domain) < t_ns;
}

bool watt_sensors_is_settled(const struct watt_sensors *sensors, uint64_t t_ns)
{
	size_t i;

	for (i = 0; i < watt_attrib_domain_count(sensors->attrib); i++)
		if (is_behind(sensors, i, t_ns))
			return false;
	return true;
}

void watt_sensors_explain(const struct watt_sensors *sensors, uint64_t t_ns)
{
	size_t i;

	for (i = 0; i < watt_attrib_domain_count(sensors->attrib); i++)
		if (is_behind(sensors, i, t_ns))
			watt_log(&sensors->env->log, WATT_LOG_INFO,
				 "flush: %s lacks the last %.3f s",
				 watt_attrib_domain(sensors->attrib, i)->path,
				 (double)(t_ns - watt_attrib_settled_ns(sensors->attrib, i)) / 1e9);
}

int watt_sensors_crosscheck(const struct watt_sensors *sensors, size_t i,
			    int64_t *ret_difference_ppm)
{
	const struct watt_crosscheck_pair *dup = watt_crosschecks_find(&sensors->crosschecks, i);

	if (!dup || dup->error < 0)
		return dup ? dup->error : -EINVAL;
	*ret_difference_ppm = dup->result.difference_ppm;
	return !dup->result.is_agreeing;
}

int watt_sensors_sample(const struct watt_sensors *sensors, size_t i, struct watt_sample *ret)
{
	bool is_hung;

	if (i >= sensors->n_channels)
		return -EINVAL;
	is_hung = watt_engine_channel_status(sensors->engine, i) == WATT_STATUS_STALE;
	if (!sensors->newest[i].t_after_ns && !is_hung)
		return -ENODATA;
	*ret = sensors->newest[i];
	if (is_hung) {
		ret->status = WATT_STATUS_STALE;
		ret->raw = 0;
	}
	return 0;
}

const char *watt_sensors_source(const struct watt_sensors *sensors, size_t i,
				enum watt_status *ret_status)
{
	const struct watt_powers *powers = &sensors->powers;

	if (i >= powers->n)
		return NULL;
	*ret_status = watt_engine_source_status(sensors->engine, powers->ops[i]);
	return powers->ops[i]->name;
}
