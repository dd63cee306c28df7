/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meter source: any instrument that somebody has, as the node's total, by lines on a socket or
 * of a command. It must not know the instrument.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/power/meter/meter_link.h"
#include "source/registry.h"

/* How often it is looked at; it may talk more seldom. */
#define POLL_NS (100 * WATT_NSEC_PER_MSEC)
/* The first line tells what it measures. */
#define FIRST_LINE_NS (8 * WATT_NSEC_PER_SEC)
/* One that says nothing for so long has no value any more. */
#define SILENCE_NS (30 * WATT_NSEC_PER_SEC)
#define REOPEN_NS (2 * WATT_NSEC_PER_SEC)

struct meter {
	struct watt_power power; /* first */
	struct watt_channel channel;
	struct watt_power_group group;
	struct watt_log log;
	struct watt_meter_link link;
	char *place;
	uint64_t heard_ns;  /* the newest line that says something */
	uint64_t reopen_ns; /* not before */
	bool is_silent;     /* and that was told */
	bool was_bad;       /* the same, of lines that are none */
	bool has_first;     /* what came while it was opened was not told yet */
	struct watt_meter_line first;
};

/* ---- reading ---- */

static int listen_again(struct meter *meter, uint64_t now_ns)
{
	if (now_ns < meter->reopen_ns)
		return -EPIPE;
	watt_meter_link_close(&meter->link);
	meter->reopen_ns = now_ns + REOPEN_NS;
	return watt_meter_link_open(&meter->link, meter->place);
}

static int hear(struct meter *meter, uint64_t now_ns, struct watt_meter_line *ret)
{
	int r;

	if (meter->has_first) {
		meter->has_first = false;
		*ret = meter->first;
		return 0;
	}
	if (meter->link.fd < 0 && listen_again(meter, now_ns) < 0)
		return -EPIPE;
	r = watt_meter_link_read(&meter->link, ret);
	if (r == -EPIPE)
		watt_meter_link_close(&meter->link);
	/* power is not energy: the instrument is another one */
	return r == 0 && ret->quantity != meter->channel.quantity ? -EBADMSG : r;
}

/* Once when it begins: it has no value, or not one that is one. */
static uint32_t tell_trouble(struct meter *meter, uint64_t now_ns, int error)
{
	bool is_bad = error == -EBADMSG || error == -ERANGE;
	bool is_silent = error == -EPIPE || now_ns - meter->heard_ns > SILENCE_NS;

	if (is_bad && !meter->was_bad) {
		meter->was_bad = true;
		watt_log(&meter->log, WATT_LOG_WARNING,
			 "meter: %s says something that is neither 'W NUMBER' nor 'J NUMBER', or "
			 "another of them than before",
			 meter->place);
	}
	if (is_bad)
		return WATT_STATUS_BROKEN;
	if (!is_silent || meter->is_silent)
		return WATT_STATUS_NOTHING_NEW;
	meter->is_silent = true;
	watt_log(&meter->log, WATT_LOG_WARNING, "meter: %s %s", meter->place,
		 error == -EPIPE ? "has ended; it is tried again" : "says nothing any more");
	return WATT_STATUS_STALE;
}

static void meter_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct meter *meter = watt_container_of(power, struct meter, power);
	struct watt_meter_line line;
	uint64_t now_ns = watt_now_ns();
	int r;

	r = hear(meter, now_ns, &line);
	ret->t_before_ns = now_ns;
	ret->t_after_ns = watt_now_ns();
	ret->raw = 0;
	if (r < 0) {
		ret->status = tell_trouble(meter, now_ns, r);
		return;
	}
	meter->heard_ns = now_ns;
	meter->is_silent = meter->was_bad = false;
	ret->raw = line.value_uw;
	ret->status = WATT_STATUS_OK;
}

/* ---- opening ---- */

static void meter_close(struct watt_power *power)
{
	struct meter *meter = watt_container_of(power, struct meter, power);

	watt_meter_link_close(&meter->link);
	free(meter->place);
	free(meter);
}

/* Until it has said what it measures. */
static int hear_first(struct meter *meter)
{
	uint64_t deadline_ns = watt_now_ns() + FIRST_LINE_NS, now_ns;
	int r;

	for (;;) {
		r = watt_meter_link_read(&meter->link, &meter->first);
		now_ns = watt_now_ns();
		if (r != -EAGAIN || now_ns >= deadline_ns)
			break;
		watt_meter_link_wait(&meter->link,
				     (int)((deadline_ns - now_ns) / WATT_NSEC_PER_MSEC) + 1);
	}
	meter->heard_ns = now_ns;
	meter->has_first = r == 0;
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

static void describe(struct meter *meter)
{
	bool is_energy = meter->first.quantity == WATT_QUANTITY_ENERGY;

	meter->channel = (struct watt_channel){
		.name = is_energy ? "meter/energy" : "meter/power",
		.source = "meter",
		.domain = "node",
		.path = meter->place,
		.kind = WATT_DOMAIN_TOTAL,
		.quantity = meter->first.quantity,
		.semantics = is_energy ? WATT_SEMANTICS_COUNTER : WATT_SEMANTICS_INSTANT,
		.flags = WATT_CHANNEL_AGE_UNKNOWN,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
		.scale_num = is_energy ? 1000 : 1, /* of uJ; of uW */
		.scale_den = 1,
		.period_ns = WATT_NSEC_PER_SEC,
	};
	meter->group = (struct watt_power_group){ .n = 1, .period_ns = POLL_NS };
	meter->power.channels = &meter->channel;
	meter->power.n_channels = 1;
	meter->power.groups = &meter->group;
	meter->power.n_groups = 1;
}

/* A UPS by Network UPS Tools is a source of its own. */
static bool is_named(const struct watt_env *env)
{
	return env->meter && strncmp(env->meter, "nut:", 4) != 0;
}

static int find(const struct watt_env *env, struct watt_power **ret)
{
	struct meter *meter;
	int r;

	if (!is_named(env))
		return -ENODEV;
	meter = calloc(1, sizeof(*meter));
	if (!meter)
		return -ENOMEM;
	meter->power.ops = &watt_power_meter;
	meter->log = env->log;
	meter->link = (struct watt_meter_link)WATT_METER_LINK_INIT;
	meter->place = strdup(env->meter);
	r = meter->place ? watt_meter_link_open(&meter->link, meter->place) : -ENOMEM;
	if (r == 0)
		r = hear_first(meter);
	if (r < 0) {
		meter_close(&meter->power);
		return r;
	}
	describe(meter);
	*ret = &meter->power;
	return 0;
}

/* ---- when it does not work ---- */

static bool is_of_what_it_says(int error)
{
	return error == -ETIMEDOUT || error == -EPIPE || error == -EBADMSG || error == -ERANGE;
}

static const char *words_of(int error)
{
	return error == -ETIMEDOUT    ? "it says nothing" :
	       error == -EPIPE        ? "it ends before it has said anything" :
	       error == -EBADMSG      ? "it says neither 'W NUMBER' nor 'J NUMBER'" :
	       error == -ERANGE       ? "it says more than any machine takes" :
	       error == -ECONNREFUSED ? "nobody listens there" :
					strerror(-error);
}

static int meter_open(const struct watt_env *env, struct watt_power **ret)
{
	int r = find(env, ret);

	if (r < 0 && is_named(env))
		watt_log(&env->log, WATT_LOG_WARNING, "meter: %s: %s", env->meter, words_of(r));
	return r;
}

/* One that was not there may come; what it has is all that it will have. */
static int meter_rescan(const struct watt_env *env, const struct watt_known *known,
			struct watt_power **ret)
{
	return known->n ? -ENODEV : find(env, ret);
}

static void explain(int error, struct watt_diag *diag)
{
	diag->state = error == -EACCES || error == -EPERM ? WATT_FORBIDDEN : WATT_BROKEN;
	snprintf(diag->why, sizeof(diag->why), "%s", words_of(error));
	snprintf(diag->hint, sizeof(diag->hint),
		 is_of_what_it_says(error) ?
			 "an instrument says lines such as 'W 231.5' or 'J 1234567.8'" :
			 "start it, or name the place where it is: --meter");
}

static int meter_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_power *power;
	int r;

	r = find(env, &power);
	diag->error = r;
	snprintf(diag->path, sizeof(diag->path), "%s", is_named(env) ? env->meter : "");
	if (!is_named(env)) {
		diag->state = WATT_ABSENT;
		snprintf(diag->why, sizeof(diag->why), "nobody named an instrument");
		snprintf(diag->hint, sizeof(diag->hint),
			 "--meter=unix:PATH, tcp:HOST:PORT or exec:COMMAND");
	} else if (r < 0) {
		explain(r, diag);
	} else {
		diag->state = WATT_AVAILABLE;
		diag->n_channels = 1;
		snprintf(diag->why, sizeof(diag->why), "it says the %s of the node",
			 watt_quantity_name(power->channels[0].quantity));
		meter_close(power);
	}
	return r;
}

const struct watt_power_ops watt_power_meter = {
	.name = "meter",
	.summary = "the machine's total, by an instrument of yours",
	.flags = WATT_POWER_BLOCKING,
	.probe = meter_probe,
	.open = meter_open,
	.rescan = meter_rescan,
	.read = meter_read,
	.close = meter_close,
};
