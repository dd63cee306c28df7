/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nut source: what uninterruptible supplies give, as the upsd of Network UPS Tools tells it.
 * Whoever names one of them says that it feeds this machine and nothing else: it is the machine's
 * total. Those of a server that is named alone are shown. It must not command them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/channels.h"
#include "source/host/status.h"
#include "source/power/nut/nut_link.h"
#include "source/registry.h"

#define PREFIX "nut:"
/* Its drivers ask their devices every 2 s, unless they are told otherwise. */
#define USUAL_PERIOD_NS (2 * WATT_NSEC_PER_SEC)
#define POLL_NS WATT_NSEC_PER_SEC
#define REOPEN_NS (2 * WATT_NSEC_PER_SEC)
/* Percent in whole numbers, of what is printed on the device. */
#define LOAD_UNCERTAINTY_PPM 100000
/* They are built for more than what they are rated for, for a while. */
#define OVERLOAD 2

enum way {
	WAY_UNKNOWN = 0,
	WAY_POWER, /* ups.realpower, in W */
	WAY_LOAD,  /* ups.load, in percent of ups.realpower.nominal */
};

struct ups {
	char *name;
	enum way way;
	int64_t nominal_uw;
	uint64_t period_ns;
};

struct nut {
	struct watt_power power; /* first */
	struct watt_channels channels;
	struct watt_power_group group;
	struct watt_log log;
	struct watt_nut_link link;
	char *server;
	struct ups ups[WATT_NUT_UPS_MAX]; /* of each channel */
	size_t n_ups;
	uint64_t reopen_ns; /* not before */
	bool is_gone;       /* and that was told */
};

/* ---- reading ---- */

static int read_load(struct nut *nut, struct ups *ups, int64_t *ret_uw)
{
	int64_t percent_micro;
	int r = 0;

	if (!ups->nominal_uw)
		r = watt_nut_link_get(&nut->link, ups->name, "ups.realpower.nominal",
				      &ups->nominal_uw);
	if (r == 0 && !ups->nominal_uw)
		r = -ENODATA;
	if (r == 0)
		r = watt_nut_link_get(&nut->link, ups->name, "ups.load", &percent_micro);
	if (r == 0)
		*ret_uw = (int64_t)((__int128)ups->nominal_uw * percent_micro / 100000000);
	return r;
}

/* The way is found by the first answer that has one. */
static int read_ups(struct nut *nut, struct ups *ups, int64_t *ret_uw)
{
	int r = -ENODATA;

	if (ups->way != WAY_LOAD) {
		r = watt_nut_link_get(&nut->link, ups->name, "ups.realpower", ret_uw);
		if (r == 0)
			ups->way = WAY_POWER;
	}
	if (r != -ENODATA || ups->way == WAY_POWER)
		return r;
	r = read_load(nut, ups, ret_uw);
	if (r == 0)
		ups->way = WAY_LOAD;
	return r;
}

static int listen_again(struct nut *nut, uint64_t now_ns)
{
	if (nut->link.fd >= 0)
		return 0;
	if (now_ns < nut->reopen_ns)
		return -EPIPE;
	nut->reopen_ns = now_ns + REOPEN_NS;
	return watt_nut_link_open(&nut->link, nut->server);
}

static uint32_t status_of(int r)
{
	return r == -EAGAIN || r == -EPIPE || r == -ETIMEDOUT ? WATT_STATUS_STALE :
								watt_status_from_errno(r);
}

/* Once when it begins. */
static void tell_gone(struct nut *nut, bool is_gone)
{
	if (is_gone && !nut->is_gone)
		watt_log(&nut->log, WATT_LOG_WARNING,
			 "nut: upsd at %s does not answer any more; it is tried again",
			 nut->server);
	nut->is_gone = is_gone;
}

static void nut_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct nut *nut = watt_container_of(power, struct nut, power);
	int gone = listen_again(nut, watt_now_ns());
	size_t i;

	for (i = 0; i < nut->channels.n; i++) {
		int r;

		ret[i].t_before_ns = watt_now_ns();
		ret[i].raw = 0;
		r = gone < 0 ? -EPIPE : read_ups(nut, &nut->ups[i], &ret[i].raw);
		ret[i].t_after_ns = watt_now_ns();
		ret[i].status = status_of(r);
		if (nut->link.fd < 0)
			gone = -EPIPE;
	}
	tell_gone(nut, gone < 0);
}

/* ---- opening ---- */

static void nut_close(struct watt_power *power)
{
	struct nut *nut = watt_container_of(power, struct nut, power);
	size_t i;

	watt_nut_link_close(&nut->link);
	for (i = 0; i < WATT_NUT_UPS_MAX; i++)
		free(nut->ups[i].name);
	watt_channels_done(&nut->channels);
	free(nut->server);
	free(nut);
}

static bool is_taken(const struct nut *nut, const char *domain)
{
	size_t i;

	for (i = 0; i < nut->channels.n; i++)
		if (!strcmp(nut->channels.channel[i].domain, domain))
			return true;
	return false;
}

/* Names that differ only in what is not kept of them get a number. */
static void name_domain(const struct nut *nut, const struct ups *ups, bool is_machine, char *buf,
			size_t size)
{
	char clean[80];
	unsigned int n;

	if (is_machine) {
		watt_strlcpy(buf, "node", size);
		return;
	}
	if (watt_clean_name(ups->name, clean, sizeof(clean)) == 0)
		watt_strlcpy(clean, "unnamed", sizeof(clean));
	snprintf(buf, size, "supply-ups-%s", clean);
	for (n = 2; is_taken(nut, buf); n++)
		snprintf(buf, size, "supply-ups-%s-%u", clean, n);
}

static int add_channel(struct nut *nut, const struct ups *ups, bool is_machine)
{
	char name[128], domain[112], path[400];
	struct watt_channel channel = {
		.name = name,
		.source = "nut",
		.domain = domain,
		.label = ups->name,
		.path = path,
		.kind = is_machine ? WATT_DOMAIN_TOTAL : WATT_DOMAIN_SUPPLY,
		.quantity = WATT_QUANTITY_POWER,
		.semantics = WATT_SEMANTICS_INSTANT,
		.flags = WATT_CHANNEL_AGE_UNKNOWN,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
		.scale_num = 1, /* of uW */
		.scale_den = 1,
		.max_power_uw = (uint64_t)ups->nominal_uw * OVERLOAD,
		.period_ns = ups->period_ns,
		.uncertainty_ppm = ups->way == WAY_LOAD ? LOAD_UNCERTAINTY_PPM : 0,
	};

	name_domain(nut, ups, is_machine, domain, sizeof(domain));
	snprintf(name, sizeof(name), "nut/%s/power",
		 is_machine ? "node" : domain + strlen("supply-"));
	snprintf(path, sizeof(path), "%s@%s: %s", ups->name, nut->server,
		 ups->way == WAY_LOAD ? "ups.load of ups.realpower.nominal" : "ups.realpower");
	return watt_channels_add(&nut->channels, &channel);
}

/* What else it says of itself; nothing of it is needed. */
static void read_nature(struct nut *nut, struct ups *ups)
{
	int64_t seconds_micro = 0;

	if (!ups->nominal_uw &&
	    watt_nut_link_get(&nut->link, ups->name, "ups.realpower.nominal", &ups->nominal_uw) < 0)
		ups->nominal_uw = 0;
	ups->period_ns = USUAL_PERIOD_NS;
	if (watt_nut_link_get(&nut->link, ups->name, "driver.parameter.pollinterval",
			      &seconds_micro) == 0 &&
	    seconds_micro >= 100000 && seconds_micro <= 3600LL * 1000000)
		ups->period_ns = (uint64_t)seconds_micro * 1000;
}

/* 0; what says no power is left out. A driver that is not there yet may come. */
static int add_ups(struct nut *nut, char *name, bool is_machine)
{
	struct ups *ups = &nut->ups[nut->n_ups++];
	int64_t power_uw;
	int r;

	ups->name = name;
	r = read_ups(nut, ups, &power_uw);
	if (r == 0 || r == -EAGAIN || r == -ERANGE) {
		read_nature(nut, ups);
		return add_channel(nut, ups, is_machine);
	}
	if (nut->link.fd >= 0 && !is_machine)
		watt_log(&nut->log, WATT_LOG_WARNING, "nut: %s@%s: %s", name, nut->server,
			 r == -ENODATA ? "it says neither ups.realpower nor ups.load and "
					 "ups.realpower.nominal: it has no watts" :
					 watt_error_text(r));
	free(name);
	memset(ups, 0, sizeof(*ups));
	nut->n_ups--;
	return is_machine || nut->link.fd < 0 ? r : 0;
}

static int add_all(struct nut *nut)
{
	char *names[WATT_NUT_UPS_MAX];
	int i, r = 0, n = watt_nut_link_list(&nut->link, names);

	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		if (r == 0)
			r = add_ups(nut, names[i], false);
		else
			free(names[i]);
	}
	return r == 0 && !nut->channels.n ? -ENODATA : r;
}

/* "nut:[UPS@]SERVER" */
static int open_place(struct nut *nut, const char *place)
{
	const char *at = strchr(place, '@');
	char *name = NULL;
	int r;

	if (at) {
		name = strndup(place, (size_t)(at - place));
		if (!name)
			return -ENOMEM;
		if (watt_nut_check_name(name) < 0) {
			free(name);
			return -EINVAL;
		}
	}
	nut->server = strdup(at ? at + 1 : place);
	r = nut->server ? watt_nut_link_open(&nut->link, nut->server) : -ENOMEM;
	if (r < 0) {
		free(name);
		return r;
	}
	return name ? add_ups(nut, name, true) : add_all(nut);
}

static bool is_named(const struct watt_env *env)
{
	return env->meter && !strncmp(env->meter, PREFIX, strlen(PREFIX));
}

static int find(const struct watt_env *env, struct watt_power **ret)
{
	struct nut *nut;
	int r;

	if (!is_named(env))
		return -ENODEV;
	nut = calloc(1, sizeof(*nut));
	if (!nut)
		return -ENOMEM;
	nut->power.ops = &watt_power_nut;
	nut->log = env->log;
	nut->link = (struct watt_nut_link)WATT_NUT_LINK_INIT;
	r = open_place(nut, env->meter + strlen(PREFIX));
	if (r < 0) {
		nut_close(&nut->power);
		return r;
	}
	nut->group =
		(struct watt_power_group){ .n = (uint32_t)nut->channels.n, .period_ns = POLL_NS };
	nut->power.channels = nut->channels.channel;
	nut->power.n_channels = (uint32_t)nut->channels.n;
	nut->power.groups = &nut->group;
	nut->power.n_groups = 1;
	*ret = &nut->power;
	return 0;
}

static const char *words_of(int error)
{
	return error == -ETIMEDOUT    ? "it does not answer in time" :
	       error == -EPIPE        ? "it ends the connection, or is no upsd" :
	       error == -EHOSTUNREACH ? "there is no such host" :
	       error == -ECONNREFUSED ? "no upsd listens there" :
	       error == -ENXIO        ? "upsd knows no UPS of that name" :
	       error == -ENODATA      ? "it says neither ups.realpower nor ups.load and "
					"ups.realpower.nominal" :
	       error == -EACCES       ? "upsd refuses to tell" :
	       error == -EBADMSG      ? "its answer makes no sense" :
	       error == -EINVAL       ? "it is no UPS@HOST[:PORT] or HOST[:PORT]" :
					strerror(-error);
}

static int nut_open(const struct watt_env *env, struct watt_power **ret)
{
	int r = find(env, ret);

	if (r < 0 && is_named(env))
		watt_log(&env->log, WATT_LOG_WARNING, "nut: %s: %s", env->meter + strlen(PREFIX),
			 words_of(r));
	return r;
}

/* A server that was not there may come; what it has is all that it will have. */
static int nut_rescan(const struct watt_env *env, const struct watt_known *known,
		      struct watt_power **ret)
{
	return known->n ? -ENODEV : find(env, ret);
}

static void explain(int error, struct watt_diag *diag)
{
	diag->state = error == -EACCES || error == -EPERM ? WATT_FORBIDDEN : WATT_BROKEN;
	snprintf(diag->why, sizeof(diag->why), "%s", words_of(error));
	snprintf(diag->hint, sizeof(diag->hint),
		 error == -ENODATA ? "a UPS that measures no watts can't be used" :
				     "upsc -l HOST lists what upsd has; its file upsd.conf says "
				     "LISTEN");
}

static void say_what_there_is(const struct nut *nut, struct watt_diag *diag)
{
	const struct watt_channel *first = &nut->channels.channel[0];

	diag->state = WATT_AVAILABLE;
	diag->n_channels = nut->power.n_channels;
	diag->period_ns = first->period_ns;
	diag->uncertainty_ppm = first->uncertainty_ppm;
	if (first->kind == WATT_DOMAIN_TOTAL)
		snprintf(diag->why, sizeof(diag->why),
			 "it is taken for the machine's total: it feeds nothing else");
	else
		snprintf(diag->why, sizeof(diag->why),
			 "%u UPS, shown and not added: one that feeds this machine alone is named "
			 "UPS@HOST",
			 diag->n_channels);
}

static int nut_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_power *power;
	int r = find(env, &power);

	diag->error = r;
	snprintf(diag->path, sizeof(diag->path), "%.200s",
		 is_named(env) ? env->meter + strlen(PREFIX) : "");
	if (!is_named(env)) {
		diag->state = WATT_ABSENT;
		snprintf(diag->why, sizeof(diag->why), "nobody named a UPS");
		snprintf(diag->hint, sizeof(diag->hint), "--meter=nut:UPS@HOST");
	} else if (r < 0) {
		explain(r, diag);
	} else {
		say_what_there_is(watt_container_of(power, struct nut, power), diag);
		nut_close(power);
	}
	return r;
}

const struct watt_power_ops watt_power_nut = {
	.name = "nut",
	.summary = "uninterruptible supplies, by Network UPS Tools",
	.flags = WATT_POWER_BLOCKING,
	.probe = nut_probe,
	.open = nut_open,
	.rescan = nut_rescan,
	.read = nut_read,
	.close = nut_close,
};
