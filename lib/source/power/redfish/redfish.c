/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redfish source: what a BMC says that the machine takes, asked over the network. What it says
 * again is no new reading, and what it says of another time is given that time. It must not decide
 * what the node is: discovery does.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/channels.h"
#include "source/power/redfish/client.h"
#include "source/power/redfish/discovery.h"
#include "source/power/newness.h"
#include "source/registry.h"

/* How often it is asked, and how long it may take. */
#define POLL_NS WATT_NSEC_PER_SEC
#define READ_TIMEOUT_NS (8 * WATT_NSEC_PER_SEC)
#define OPEN_TIMEOUT_NS (8 * WATT_NSEC_PER_SEC)
#define OPEN_DEADLINE_NS (60 * WATT_NSEC_PER_SEC)
/* Of a maker that nobody knows. */
#define UNKNOWN_PERIOD_NS (10 * WATT_NSEC_PER_SEC)
/* When it answers that it has too much to do. */
#define BUSY_PAUSE_NS (5 * WATT_NSEC_PER_SEC)
/* With a time that stands still for so many of its periods, a value is too old. */
#define STALE_PERIODS 4
/* A value that stands still counts again that often, so that the curve sees no gap. */
#define MAX_HEARTBEAT_PERIODS 3

/* What was read of one total. */
struct total {
	struct watt_redfish_total plan;
	struct watt_newness newness;
	uint64_t ask_again_ns; /* not before */
	bool has_time;         /* of its own */
	bool is_stale;         /* and that was told */
	int error;             /* of the last time that it was asked */
};

struct redfish {
	struct watt_power power; /* first */
	struct watt_log log;
	struct watt_redfish_client *client;
	struct watt_redfish_plan plan;
	struct watt_channels channels;
	struct watt_power_group groups[WATT_REDFISH_MAX_TOTALS];
	struct total totals[WATT_REDFISH_MAX_TOTALS];
};

static uint64_t period_of(const struct watt_redfish_total *plan)
{
	return plan->period_ns ? plan->period_ns : UNKNOWN_PERIOD_NS;
}

/* ---- reading ---- */

static enum watt_status status_of(int error)
{
	switch (error) {
	case -EACCES:
	case -EKEYREJECTED:
		return WATT_STATUS_FORBIDDEN;
	case -ENOENT:
		return WATT_STATUS_ABSENT;
	case -ENODATA:
	case -EBUSY:
		return WATT_STATUS_NODATA;
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
		return WATT_STATUS_STALE;
	default:
		return WATT_STATUS_BROKEN;
	}
}

/* Once for each thing that goes wrong, not for each time. */
static void note_error(struct redfish *redfish, struct total *total, int error, const char *why)
{
	if (error < 0 && error != total->error)
		watt_log(&redfish->log, WATT_LOG_WARNING, "redfish: %s: %s", total->plan.chassis,
			 why);
	total->error = error;
}

/* One of the places of a total. */
static int read_place(struct redfish *redfish, const struct watt_redfish_place *place,
		      struct watt_redfish_answer *answer, struct watt_bmc_reading *ret)
{
	json_t *doc;
	int r;

	r = watt_redfish_get(redfish->client, place->path, &doc, answer);
	if (r < 0)
		return r;
	r = watt_redfish_read(place, doc, ret);
	json_decref(doc);
	return r;
}

/* The sum of its places, which are read one after the other. */
static int read_places(struct redfish *redfish, struct total *total,
		       struct watt_redfish_answer *answer, struct watt_bmc_reading *ret)
{
	struct watt_redfish_answer one;
	size_t i;
	int r;

	*ret = (struct watt_bmc_reading){ 0 };
	for (i = 0; i < total->plan.n_places; i++) {
		struct watt_bmc_reading reading = { 0 };

		r = read_place(redfish, &total->plan.places[i], &one, &reading);
		if (i == 0)
			*answer = one;
		answer->t_after_ns = one.t_after_ns;
		answer->retry_after_s = one.retry_after_s;
		if (r < 0)
			return r;
		ret->value += reading.value;
		ret->time_ns = total->plan.n_places == 1 ? reading.time_ns : 0;
		ret->sequence = total->plan.n_places == 1 ? reading.sequence : 0;
	}
	if (total->plan.n_places > 1)
		answer->etag[0] = '\0';
	return ret->value > 0 ? 0 : -ENODATA;
}

/* Puts a reading where its own time is, or when it was there; it is never newer than the answer. */
static void set_time(const struct redfish *redfish, const struct watt_newness *newness,
		     const struct watt_bmc_reading *reading,
		     const struct watt_redfish_answer *answer, struct watt_sample *ret)
{
	uint64_t ago_ns = answer->t_after_ns - newness->taken_ns, t_ns, error_ns;

	ret->t_before_ns = answer->t_before_ns - ago_ns;
	ret->t_after_ns = answer->t_after_ns - ago_ns;
	if (!reading->time_ns || watt_bmc_clock_to_ours(watt_redfish_get_clock(redfish->client),
							reading->time_ns, &t_ns, &error_ns) < 0)
		return;
	t_ns = WATT_MIN(t_ns, answer->t_after_ns);
	ret->t_before_ns = t_ns - WATT_MIN(error_ns, t_ns);
	ret->t_after_ns = WATT_MIN(t_ns + error_ns, answer->t_after_ns);
	ret->t_before_ns = WATT_MIN(ret->t_before_ns, ret->t_after_ns);
}

/* The same reading again, which is no reading; too often, and it is too old to be one. */
static void tell_again(struct total *total, const struct watt_bmc_reading *reading, uint64_t now_ns,
		       struct watt_sample *ret)
{
	uint64_t period_ns = WATT_MAX(total->newness.cadence_ns, total->plan.period_ns);
	uint64_t limit_ns = STALE_PERIODS * WATT_MAX(period_ns, 3 * POLL_NS);

	ret->status = WATT_STATUS_NOTHING_NEW;
	if ((!reading->time_ns && !reading->sequence) || total->is_stale ||
	    now_ns - total->newness.taken_ns < limit_ns)
		return;
	total->is_stale = true;
	ret->status = WATT_STATUS_STALE;
}

static void tell_reading(struct redfish *redfish, struct total *total,
			 const struct watt_bmc_reading *reading,
			 const struct watt_redfish_answer *answer, struct watt_sample *ret)
{
	struct watt_newness *newness = &total->newness;

	total->has_time = reading->time_ns != 0;
	if (!watt_newness_take(newness, reading, answer->etag, answer->t_after_ns,
			       MAX_HEARTBEAT_PERIODS * period_of(&total->plan))) {
		tell_again(total, reading, answer->t_after_ns, ret);
		return;
	}
	set_time(redfish, newness, reading, answer, ret);
	total->is_stale = false;
	/* in between there is nothing to ask for */
	if (reading->time_ns && newness->cadence_ns > 2 * POLL_NS)
		total->ask_again_ns = ret->t_after_ns + newness->cadence_ns - POLL_NS;
	ret->raw = llround(reading->value * 1e6);
	ret->status = WATT_STATUS_OK;
}

static void redfish_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct redfish *redfish = watt_container_of(power, struct redfish, power);
	struct total *total = &redfish->totals[group];
	struct watt_redfish_answer answer = { 0 };
	struct watt_bmc_reading reading;
	uint64_t now_ns = watt_now_ns();
	int r;

	*ret = (struct watt_sample){ .t_before_ns = now_ns,
				     .t_after_ns = now_ns,
				     .status = WATT_STATUS_NOTHING_NEW };
	if (now_ns < total->ask_again_ns)
		return;
	r = read_places(redfish, total, &answer, &reading);
	ret->t_after_ns = watt_now_ns();
	if (r == -ENODATA)
		note_error(redfish, total, r, "it has no power now: nothing, null or 0 W");
	else
		note_error(redfish, total, r, watt_redfish_get_problem(redfish->client));
	if (r == 0) {
		tell_reading(redfish, total, &reading, &answer, ret);
		return;
	}
	watt_newness_interrupt(&total->newness);
	if (r == -EBUSY)
		total->ask_again_ns =
			ret->t_after_ns + (answer.retry_after_s ?
						   answer.retry_after_s * WATT_NSEC_PER_SEC :
						   BUSY_PAUSE_NS);
	ret->status = status_of(r);
}

/*
 * Of a value that has a time of its own no more is known than of the BMC's clock, which tells whole
 * seconds: it is asked when that tells most, up to half a second before or behind its time.
 */
static uint64_t redfish_next_ns(struct watt_power *power, uint32_t group, uint64_t period_ns)
{
	struct redfish *redfish = watt_container_of(power, struct redfish, power);
	const struct total *total = &redfish->totals[group];
	uint64_t from_ns = watt_now_ns() + period_ns - WATT_NSEC_PER_SEC / 2;

	if (!total->has_time || from_ns < total->ask_again_ns)
		return 0;
	return watt_bmc_clock_best_ns(watt_redfish_get_clock(redfish->client), from_ns);
}

/* ---- opening ---- */

static int fetch(void *data, const char *path, json_t **ret)
{
	return watt_redfish_get(data, path, ret, NULL);
}

static int find_out(struct redfish *redfish)
{
	struct watt_redfish_library library = { fetch, redfish->client };
	int r;

	watt_redfish_set_limits(redfish->client, OPEN_TIMEOUT_NS, watt_now_ns() + OPEN_DEADLINE_NS);
	r = watt_redfish_look_at_root(&library, &redfish->plan);
	if (r < 0)
		return r;
	watt_redfish_set_sessions(redfish->client,
				  redfish->plan.sessions[0] ? redfish->plan.sessions : NULL);
	r = watt_redfish_discover(&library, &redfish->plan);
	watt_redfish_set_limits(redfish->client, READ_TIMEOUT_NS, 0);
	return r;
}

static int add_total(struct redfish *redfish, size_t i)
{
	const struct watt_redfish_total *total = &redfish->plan.totals[i];
	bool is_node = i == redfish->plan.node;
	char name[128], domain[128], label[128], path[512], clean[64];
	struct watt_channel channel = {
		.name = name,
		.source = "redfish",
		.domain = domain,
		.label = label,
		.path = path,
		.kind = WATT_DOMAIN_TOTAL,
		.quantity = total->is_energy ? WATT_QUANTITY_ENERGY : WATT_QUANTITY_POWER,
		.semantics = total->is_energy  ? WATT_SEMANTICS_COUNTER :
			     total->is_average ? WATT_SEMANTICS_AVERAGE :
						 WATT_SEMANTICS_INSTANT,
		.flags = WATT_CHANNEL_AGE_UNKNOWN | (is_node ? 0 : WATT_CHANNEL_OVERLAP_UNKNOWN) |
			 (total->period_ns ? 0 : WATT_CHANNEL_PERIOD_UNKNOWN),
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
		.group = (uint32_t)i,
		.scale_num = total->is_energy ? 1000 : 1, /* of uJ; of uW */
		.scale_den = 1,
		.period_ns = period_of(total),
		.window_ns = total->window_ns,
	};

	if (watt_clean_name(total->chassis, clean, sizeof(clean)) == 0)
		snprintf(clean, sizeof(clean), "%zu", i);
	snprintf(name, sizeof(name), "redfish/%s/%s", clean, total->is_energy ? "energy" : "power");
	snprintf(domain, sizeof(domain), is_node ? "node" : "node-%s", clean);
	snprintf(label, sizeof(label), "%s, chassis %s", redfish->plan.product, total->chassis);
	snprintf(path, sizeof(path), "%s%s", watt_redfish_get_url(redfish->client),
		 total->places[0].path);
	redfish->totals[i].plan = *total;
	redfish->totals[i].newness.usual_ns = total->period_ns;
	redfish->groups[i] =
		(struct watt_power_group){ .first = (uint32_t)i, .n = 1, .period_ns = POLL_NS };
	return watt_channels_add(&redfish->channels, &channel);
}

static void redfish_close(struct watt_power *power)
{
	struct redfish *redfish = watt_container_of(power, struct redfish, power);

	watt_redfish_client_free(redfish->client);
	watt_channels_done(&redfish->channels);
	free(redfish);
}

/* The sentence says what is wrong; it is cut to size. */
static int open_all(const struct watt_env *env, struct redfish **ret, char *problem, size_t size)
{
	struct redfish *redfish = calloc(1, sizeof(*redfish));
	size_t i;
	int r;

	if (!redfish)
		return -ENOMEM;
	redfish->power.ops = &watt_power_redfish;
	redfish->log = env->log;
	problem[0] = '\0';
	r = watt_redfish_client_open(env, &redfish->client, problem, size);
	if (r == 0) {
		r = find_out(redfish);
		if (r == -ENODEV)
			snprintf(problem, size, "%s at %s tells the power of no chassis",
				 redfish->plan.product, watt_redfish_get_url(redfish->client));
		else if (r < 0)
			snprintf(problem, size, "%s: %s", watt_redfish_get_url(redfish->client),
				 r == -EBADMSG && redfish->plan.product[0] ?
					 "that is no root of Redfish" :
					 watt_redfish_get_problem(redfish->client));
	}
	for (i = 0; i < redfish->plan.n_totals && r == 0; i++)
		r = add_total(redfish, i);
	if (r < 0) {
		redfish_close(&redfish->power);
		return r;
	}
	redfish->power.channels = redfish->channels.channel;
	redfish->power.n_channels = (uint32_t)redfish->channels.n;
	redfish->power.groups = redfish->groups;
	redfish->power.n_groups = (uint32_t)redfish->channels.n;
	*ret = redfish;
	return 0;
}

static bool is_asked_for(const struct watt_env *env)
{
	return env->redfish_url || env->redfish_auth;
}

static int redfish_open(const struct watt_env *env, struct watt_power **ret)
{
	struct redfish *redfish;
	char problem[512];
	int r;

	if (!is_asked_for(env))
		return -ENODEV;
	r = open_all(env, &redfish, problem, sizeof(problem));
	if (r < 0) {
		watt_log(&env->log, WATT_LOG_WARNING, "redfish: %s", problem);
		return r;
	}
	*ret = &redfish->power;
	return 0;
}

/* A BMC that did not answer may do so later; what it has is all that it will have. */
static int redfish_rescan(const struct watt_env *env, const struct watt_known *known,
			  struct watt_power **ret)
{
	return known->n ? -ENODEV : redfish_open(env, ret);
}

static const char *hint_of(int error)
{
	switch (error) {
	case -EACCES:
		return "--redfish-auth=FILE names a file with user,password; some readings want a "
		       "licence";
	case -EKEYREJECTED:
		return "--redfish-tls=FILE names the certificate to trust, sha256//PIN its key, "
		       "insecure nobody's";
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
		return "is it the address of the BMC, and can this machine reach it?";
	case -ENODEV:
		return "newer firmware may know EnvironmentMetrics or Power";
	default:
		return "";
	}
}

static void describe(const struct redfish *redfish, struct watt_diag *diag)
{
	const struct watt_redfish_plan *plan = &redfish->plan;
	const struct watt_redfish_total *node = &plan->totals[plan->node];
	bool is_report = node->places[0].form == WATT_REDFISH_REPORT;

	diag->state = WATT_AVAILABLE;
	diag->n_channels = redfish->power.n_channels;
	diag->period_ns = node->period_ns;
	snprintf(diag->why, sizeof(diag->why), "%.40s: %s %.20s is the node: %.90s; %.60s",
		 plan->product, is_report ? "a telemetry" : "chassis", node->chassis, plan->why,
		 node->why);
	snprintf(diag->path, sizeof(diag->path), "%s", redfish->channels.channel[plan->node].path);
}

static int redfish_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct redfish *redfish;
	char problem[512];
	int r = -ENODEV;

	if (!is_asked_for(env)) {
		diag->state = WATT_ABSENT;
		snprintf(diag->why, sizeof(diag->why), "nobody named a BMC to ask");
		snprintf(diag->hint, sizeof(diag->hint),
			 "--redfish-url=https://ADDRESS and --redfish-auth=FILE");
	} else {
		r = open_all(env, &redfish, problem, sizeof(problem));
		if (r == 0) {
			describe(redfish, diag);
			redfish_close(&redfish->power);
			return 0;
		}
		diag->state = r == -EACCES || r == -EKEYREJECTED ? WATT_FORBIDDEN : WATT_BROKEN;
		snprintf(diag->why, sizeof(diag->why), "%.250s", problem);
		snprintf(diag->hint, sizeof(diag->hint), "%s", hint_of(r));
	}
	diag->error = r;
	return r;
}

const struct watt_power_ops watt_power_redfish = {
	.name = "redfish",
	.summary = "the machine's total, as its BMC tells it",
	.flags = WATT_POWER_BLOCKING | WATT_POWER_FAREWELL, /* its session */
	.probe = redfish_probe,
	.open = redfish_open,
	.rescan = redfish_rescan,
	.read = redfish_read,
	.next_ns = redfish_next_ns,
	.close = redfish_close,
};
