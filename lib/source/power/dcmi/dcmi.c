/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dcmi source: the machine's total, as its own BMC says it to whoever asks from inside, by the
 * kernel's driver for IPMI. It needs no network, no password, and the right to open the device. It
 * asks for the power and for nothing else: the same device can switch the machine off.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/host/status.h"
#include "source/power/dcmi/dcmi_reading.h"
#include "source/power/dcmi/ipmi_link.h"
#include "source/power/newness.h"
#include "source/registry.h"

#define FOLDER "class/ipmi"
#define NETFN_GROUP 0x2c
#define GET_POWER_READING 0x02
#define MODE_SYSTEM 0x01
#define POLL_NS WATT_NSEC_PER_SEC
#define MAX_POLL_NS (10 * WATT_NSEC_PER_SEC)
/*
 * A question costs the kernel up to as much CPU time as it takes: without interrupts its driver asks
 * the BMC byte by byte. At most one part in so many of all time is spent on that.
 */
#define REST 50
#define MAX_HEARTBEAT_NS (5 * WATT_NSEC_PER_SEC)
#define REOPEN_NS (2 * WATT_NSEC_PER_SEC)
#define MAX_POWER_UW 65535000000ULL /* two bytes */

struct dcmi {
	struct watt_power power; /* first */
	struct watt_channel channel;
	struct watt_power_group group;
	struct watt_log log;
	struct watt_ipmi_link link;
	struct watt_newness newness;
	char path[32];
	uint64_t reopen_ns; /* not before */
	bool is_gone;       /* and that was told */
};

static const struct watt_channel channel_model = {
	.name = "dcmi/node/power",
	.source = "dcmi",
	.domain = "node",
	.label = "the machine, by its BMC (DCMI)",
	.kind = WATT_DOMAIN_TOTAL,
	.quantity = WATT_QUANTITY_POWER,
	.semantics = WATT_SEMANTICS_INSTANT,
	.origin = WATT_ORIGIN_MEASURED,
	.flags = WATT_CHANNEL_AGE_UNKNOWN,
	.package_id = -1,
	.die_id = -1,
	.core_id = -1,
	.scale_num = 1000000, /* of uW: it tells whole watts */
	.scale_den = 1,
	.max_power_uw = MAX_POWER_UW,
};

/* ---- reading ---- */

static int ask_power(struct dcmi *dcmi, uint32_t *ret_w)
{
	static const struct watt_ipmi_question question = {
		.netfn = NETFN_GROUP,
		.command = GET_POWER_READING,
		.data = { WATT_DCMI_GROUP, MODE_SYSTEM },
		.len = 4,
	};
	uint8_t answer[WATT_IPMI_ANSWER_MAX];
	int r = watt_ipmi_link_ask(&dcmi->link, &question, answer);

	return r < 0 ? r : watt_dcmi_reading_parse(answer, (size_t)r, ret_w);
}

static int open_again(struct dcmi *dcmi, uint64_t now_ns)
{
	if (dcmi->link.fd >= 0)
		return 0;
	if (now_ns < dcmi->reopen_ns)
		return -EPIPE;
	dcmi->reopen_ns = now_ns + REOPEN_NS;
	return watt_ipmi_link_open(&dcmi->link, dcmi->path);
}

static uint32_t status_of(int r)
{
	return r == -EPIPE || r == -ETIMEDOUT ? WATT_STATUS_STALE : watt_status_from_errno(r);
}

/* Once when it begins. */
static void tell_gone(struct dcmi *dcmi, int r)
{
	if (r < 0 && !dcmi->is_gone)
		watt_log(&dcmi->log, WATT_LOG_WARNING, "dcmi: the BMC at %s: %s; it is asked again",
			 dcmi->path,
			 r == -ETIMEDOUT ? "it does not answer any more" :
			 r == -ENODATA   ? "it does not measure now" :
					   watt_error_text(r));
	dcmi->is_gone = r < 0;
}

/* A value that stands still may be an old one, or a new one that is the same. */
static void take(struct dcmi *dcmi, uint32_t power_w, struct watt_sample *ret)
{
	struct watt_bmc_reading reading = { .value = power_w };
	uint64_t ago_ns;

	ret->status = WATT_STATUS_NOTHING_NEW;
	if (!watt_newness_take(&dcmi->newness, &reading, "", ret->t_after_ns, MAX_HEARTBEAT_NS))
		return;
	ago_ns = ret->t_after_ns - dcmi->newness.taken_ns;
	ret->t_before_ns -= ago_ns;
	ret->t_after_ns -= ago_ns;
	ret->raw = power_w;
	ret->status = WATT_STATUS_OK;
}

static void dcmi_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct dcmi *dcmi = watt_container_of(power, struct dcmi, power);
	uint32_t power_w = 0;
	int r;

	*ret = (struct watt_sample){ .t_before_ns = watt_now_ns() };
	r = open_again(dcmi, ret->t_before_ns);
	if (r == 0)
		r = ask_power(dcmi, &power_w);
	ret->t_after_ns = watt_now_ns();
	tell_gone(dcmi, r);
	if (r == 0) {
		take(dcmi, power_w, ret);
		return;
	}
	watt_newness_interrupt(&dcmi->newness);
	ret->status = status_of(r);
}

/* ---- opening ---- */

static void dcmi_close(struct watt_power *power)
{
	struct dcmi *dcmi = watt_container_of(power, struct dcmi, power);

	watt_ipmi_link_close(&dcmi->link);
	free(dcmi);
}

/* Asks each device for the power, until one has it: what that takes says how often it is asked. */
static int open_first(struct dcmi *dcmi, const struct watt_names *names)
{
	uint64_t begin_ns, period_ns;
	uint32_t power_w;
	int r = -ENODEV;
	size_t i;

	for (i = 0; i < names->n && r < 0; i++) {
		snprintf(dcmi->path, sizeof(dcmi->path), "/dev/%.24s", names->name[i]);
		begin_ns = watt_now_ns();
		r = watt_ipmi_link_open(&dcmi->link, dcmi->path);
		if (r == 0)
			r = ask_power(dcmi, &power_w);
		if (r < 0)
			watt_ipmi_link_close(&dcmi->link);
	}
	if (r < 0)
		return r;
	period_ns = WATT_MAX(REST * (watt_now_ns() - begin_ns), POLL_NS);
	dcmi->group.period_ns = WATT_MIN(period_ns, MAX_POLL_NS);
	return 0;
}

static int find_device(const struct watt_env *env, struct dcmi *dcmi)
{
	struct watt_names names = WATT_NAMES_INIT;
	int r;

	if (env->is_captured)
		return -ENODEV;
	r = watt_root_list(&env->sysfs, FOLDER, "ipmi", &names);
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? -ENODEV : r;
	r = open_first(dcmi, &names);
	watt_names_free(&names);
	return r;
}

/* In any case *ret_path says which device was asked last; empty: there is none. */
static int open_at(const struct watt_env *env, struct dcmi **ret, char *ret_path, size_t size)
{
	struct dcmi *dcmi = calloc(1, sizeof(*dcmi));
	int r;

	*ret_path = '\0';
	if (!dcmi)
		return -ENOMEM;
	dcmi->log = env->log;
	dcmi->link = (struct watt_ipmi_link)WATT_IPMI_LINK_INIT;
	r = find_device(env, dcmi);
	watt_strlcpy(ret_path, dcmi->path, size);
	if (r < 0) {
		dcmi_close(&dcmi->power);
		return r;
	}
	dcmi->channel = channel_model;
	dcmi->channel.path = dcmi->path;
	dcmi->channel.period_ns = dcmi->group.period_ns;
	dcmi->group.n = 1;
	dcmi->power = (struct watt_power){ .ops = &watt_power_dcmi,
					   .channels = &dcmi->channel,
					   .n_channels = 1,
					   .groups = &dcmi->group,
					   .n_groups = 1 };
	*ret = dcmi;
	return 0;
}

static int dcmi_open(const struct watt_env *env, struct watt_power **ret)
{
	char path[32];
	struct dcmi *dcmi;
	int r = open_at(env, &dcmi, path, sizeof(path));

	if (r == 0)
		*ret = &dcmi->power;
	/* a BMC that can't is as none */
	return r == -EOPNOTSUPP ? -ENODEV : r;
}

/* A BMC that did not answer may do so later. */
static int dcmi_rescan(const struct watt_env *env, const struct watt_known *known,
		       struct watt_power **ret)
{
	return known->n ? -ENODEV : dcmi_open(env, ret);
}

struct cause {
	int error;
	enum watt_availability state;
	const char *why, *hint;
};

/* The path is empty where there is no device. */
static const struct cause *find_cause(int error, const char *path)
{
	static const struct cause causes[] = {
		{ EOPNOTSUPP, WATT_ABSENT, "the BMC has no DCMI, or none that tells power",
		  "its Redfish may: --redfish-url" },
		{ EACCES, WATT_FORBIDDEN, "this user may not ask the BMC",
		  "run it as root, or let a group read the device" },
		{ EPERM, WATT_FORBIDDEN, "this user may not ask the BMC",
		  "run it as root, or let this container have the device" },
		{ ENOENT, WATT_BROKEN, "the kernel has it, and there is no such device here",
		  "let this container have the device" },
		{ ETIMEDOUT, WATT_BROKEN, "the BMC does not answer",
		  "it may be starting; ipmitool mc info asks it, too" },
		{ EAGAIN, WATT_BROKEN, "the BMC is busy", "it is asked again" },
		{ ENODATA, WATT_BROKEN, "the BMC does not measure now, or says 0 W",
		  "its power monitoring may be switched off in its settings" },
		{ EBADMSG, WATT_BROKEN, "the BMC's answer makes no sense",
		  "its firmware may be old" },
	};
	static const struct cause none = { ENODEV, WATT_ABSENT,
					   "the kernel knows no BMC, or does not show it",
					   "modprobe ipmi_si ipmi_devintf" };
	size_t i;

	if (!*path)
		return &none;
	for (i = 0; i < WATT_ARRAY_SIZE(causes); i++)
		if (causes[i].error == -error)
			return &causes[i];
	return NULL;
}

static void explain(int error, struct watt_diag *diag)
{
	const struct cause *cause = find_cause(error, diag->path);

	diag->state = cause ? cause->state : WATT_BROKEN;
	watt_strlcpy(diag->why, cause ? cause->why : watt_error_text(error), sizeof(diag->why));
	watt_strlcpy(diag->hint, cause ? cause->hint : "", sizeof(diag->hint));
}

static int dcmi_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct dcmi *dcmi;
	int r = open_at(env, &dcmi, diag->path, sizeof(diag->path));

	diag->error = r;
	if (r < 0) {
		explain(r, diag);
		return r;
	}
	diag->state = WATT_AVAILABLE;
	diag->n_channels = 1;
	diag->period_ns = dcmi->group.period_ns;
	snprintf(diag->why, sizeof(diag->why), "the machine's total, in whole watts");
	dcmi_close(&dcmi->power);
	return 0;
}

const struct watt_power_ops watt_power_dcmi = {
	.name = "dcmi",
	.summary = "the machine's BMC from inside: IPMI, DCMI",
	.flags = WATT_POWER_BLOCKING,
	.probe = dcmi_probe,
	.open = dcmi_open,
	.rescan = dcmi_rescan,
	.read = dcmi_read,
	.close = dcmi_close,
};
