/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cray source: what the controller of an HPE Cray node measures, /sys/cray/pm_counters. All of
 * it is renewed together, some 10 times a second, and a counter tells that it was. It must not
 * write there: power caps are beside it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/channels.h"
#include "source/host/status.h"
#include "source/host/topology.h"
#include "source/power/cray/cray_counter.h"
#include "source/registry.h"

#define FOLDER "cray/pm_counters"
#define MAX_COUNTERS 32
#define USUAL_HZ 10
/* It is told what is renewed while it is read: then once more. */
#define TRIES 3
/* Longer than that, it is the controller that has nothing to say. */
#define SILENCE_NS (5 * WATT_NSEC_PER_SEC)

struct cray {
	struct watt_power power; /* first */
	const struct watt_env *env;
	struct watt_channels channels;
	struct watt_power_group group;
	struct watt_file freshness;
	struct watt_file files[MAX_COUNTERS];
	uint64_t fresh;    /* the freshness that was read last */
	uint64_t fresh_ns; /* when it had moved */
	bool has_fresh;
	bool is_silent; /* and that was told */
	uint64_t period_ns;
};

/* ---- reading ---- */

static int read_counter(struct cray *cray, size_t i, int64_t *ret)
{
	bool is_energy = cray->channels.channel[i].quantity == WATT_QUANTITY_ENERGY;
	char text[96];
	int r = watt_file_read(&cray->files[i], text, sizeof(text));

	if (r >= 0)
		r = watt_cray_counter_parse(text, is_energy ? 'J' : 'W', ret);
	return r;
}

/* All of one renewal. 0; -EAGAIN: it was renewed in between, each time. */
static int read_all(struct cray *cray, uint64_t fresh, struct watt_sample *ret)
{
	uint64_t after = fresh;
	size_t i;
	int r, try;

	for (try = 0; try < TRIES; try++) {
		for (i = 0; i < cray->channels.n; i++) {
			ret[i].t_before_ns = watt_now_ns();
			ret[i].raw = 0;
			ret[i].status = watt_status_from_errno(read_counter(cray, i, &ret[i].raw));
			ret[i].t_after_ns = watt_now_ns();
		}
		r = watt_file_read_u64(&cray->freshness, &after);
		if (r < 0 || after == fresh)
			return 0;
		fresh = after;
	}
	return -EAGAIN;
}

static void fill(struct cray *cray, uint32_t status, uint64_t now_ns, struct watt_sample *ret)
{
	size_t i;

	for (i = 0; i < cray->channels.n; i++)
		ret[i] = (struct watt_sample){ .t_before_ns = now_ns,
					       .t_after_ns = now_ns,
					       .status = (enum watt_status)status };
}

/* Once when it begins. */
static uint32_t stand_still(struct cray *cray, uint64_t now_ns)
{
	if (now_ns - cray->fresh_ns <= SILENCE_NS || cray->is_silent)
		return WATT_STATUS_NOTHING_NEW;
	cray->is_silent = true;
	watt_log(&cray->env->log, WATT_LOG_WARNING,
		 "cray: " FOLDER "/freshness stands still: the controller renews nothing any more");
	return WATT_STATUS_STALE;
}

static void cray_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct cray *cray = watt_container_of(power, struct cray, power);
	uint64_t now_ns = watt_now_ns(), fresh = 0;
	int r = watt_file_read_u64(&cray->freshness, &fresh);

	if (r < 0) {
		fill(cray, watt_status_from_errno(r), now_ns, ret);
		return;
	}
	if (cray->has_fresh && fresh == cray->fresh) {
		fill(cray, stand_still(cray, now_ns), now_ns, ret);
		return;
	}
	cray->has_fresh = true;
	cray->is_silent = false;
	cray->fresh = fresh;
	cray->fresh_ns = now_ns;
	if (read_all(cray, fresh, ret) < 0)
		fill(cray, WATT_STATUS_NOTHING_NEW, now_ns, ret);
}

/* ---- opening ---- */

static void cray_close(struct watt_power *power)
{
	struct cray *cray = watt_container_of(power, struct cray, power);
	size_t i;

	for (i = 0; i < MAX_COUNTERS; i++)
		watt_file_close(&cray->files[i]);
	watt_file_close(&cray->freshness);
	watt_channels_done(&cray->channels);
	free(cray);
}

/* "accel2_power", "accel0_energy". */
static bool is_accelerator(const char *name, uint64_t *ret)
{
	const char *at = name + strlen("accel");

	if (strncmp(name, "accel", strlen("accel")) != 0 || watt_scan_digits(&at, ret) < 0)
		return false;
	return strcmp(at, "_energy") == 0 || strcmp(at, "_power") == 0;
}

/*
 * What a name of a file measures: "cpu_energy", "accel2_power", "energy". The CPUs and memory of a
 * node with one package are the package's; how those of several lie to their packages' counters,
 * and accelerators to their own sensors, is not known.
 */
static bool place(const char *name, bool is_alone, struct watt_channel *channel, char *domain,
		  size_t size)
{
	uint64_t n;

	if (!strcmp(name, "energy") || !strcmp(name, "power")) {
		channel->kind = WATT_DOMAIN_TOTAL;
		watt_strlcpy(domain, "node", size);
	} else if (!strcmp(name, "cpu_energy") || !strcmp(name, "cpu_power")) {
		channel->kind = is_alone ? WATT_DOMAIN_PACKAGE : WATT_DOMAIN_CPU_RAIL;
		watt_strlcpy(domain, is_alone ? "package-0" : "cpu", size);
	} else if (!strcmp(name, "memory_energy") || !strcmp(name, "memory_power")) {
		channel->kind = WATT_DOMAIN_DRAM;
		watt_strlcpy(domain, is_alone ? "dram-0" : "memory", size);
	} else if (!strcmp(name, "accel_energy") || !strcmp(name, "accel_power")) {
		channel->kind = WATT_DOMAIN_GPU;
		watt_strlcpy(domain, "accel", size);
	} else if (is_accelerator(name, &n)) {
		channel->kind = WATT_DOMAIN_GPU;
		snprintf(domain, size, "accel-%" PRIu64, n);
	} else {
		return false;
	}
	if (channel->kind == WATT_DOMAIN_PACKAGE || (channel->kind == WATT_DOMAIN_DRAM && is_alone))
		channel->package_id = 0;
	else if (channel->kind != WATT_DOMAIN_TOTAL)
		channel->flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
	return true;
}

static int add_counter(struct cray *cray, const struct watt_known *known, const char *file,
		       bool is_alone)
{
	bool is_energy = strstr(file, "energy") != NULL;
	char name[64], domain[32], path[128], at[400];
	struct watt_channel channel = {
		.name = name,
		.source = "cray",
		.domain = domain,
		.path = at,
		.quantity = is_energy ? WATT_QUANTITY_ENERGY : WATT_QUANTITY_POWER,
		.semantics = is_energy ? WATT_SEMANTICS_COUNTER : WATT_SEMANTICS_INSTANT,
		.flags = is_energy ? WATT_CHANNEL_STEPS : 0,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
		.scale_num = is_energy ? 1000 : 1, /* of uJ; of uW */
		.scale_den = 1,
		.period_ns = cray->period_ns,
	};
	size_t i = cray->channels.n;
	int64_t value;
	int r;

	if (i == MAX_COUNTERS || !place(file, is_alone, &channel, domain, sizeof(domain)))
		return 0;
	snprintf(name, sizeof(name), "cray/%s/%s", domain, is_energy ? "energy" : "power");
	if (watt_known_has(known, name))
		return 0;
	snprintf(path, sizeof(path), FOLDER "/%.64s", file);
	snprintf(at, sizeof(at), "%s/%s", cray->env->sysfs.path, path);
	r = watt_channels_add(&cray->channels, &channel);
	if (r == 0)
		r = watt_file_open(&cray->files[i], &cray->env->sysfs, path);
	if (r == -ENOMEM)
		return r;
	r = read_counter(cray, i, &value);
	if (r < 0)
		watt_log(&cray->env->log, WATT_LOG_WARNING, "cray: %s: %s", path,
			 watt_error_text(r));
	return 0;
}

/* How often all of it is renewed. */
static uint64_t read_period_ns(const struct watt_env *env)
{
	uint64_t hz = 0;

	if (watt_root_read_u64(&env->sysfs, FOLDER "/raw_scan_hz", &hz) < 0 || hz == 0 || hz > 1000)
		hz = USUAL_HZ;
	return WATT_NSEC_PER_SEC / hz;
}

static bool has_one_package(const struct watt_env *env)
{
	struct watt_topology topology = WATT_TOPOLOGY_INIT;
	bool is_alone = true;
	uint32_t i;

	if (watt_topology_open_quietly(env, &topology) < 0)
		return false;
	for (i = 0; i < topology.n_cpus; i++)
		is_alone &= !topology.cpus[i].is_known || topology.cpus[i].package_id == 0;
	watt_topology_done(&topology);
	return is_alone;
}

static int add_all(struct cray *cray, const struct watt_known *known)
{
	struct watt_names names = WATT_NAMES_INIT;
	bool is_alone = has_one_package(cray->env);
	size_t i;
	int r;

	r = watt_root_list(&cray->env->sysfs, FOLDER, "", &names);
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? -ENODEV : r;
	cray->period_ns = read_period_ns(cray->env);
	for (i = 0; i < names.n && r == 0; i++)
		r = add_counter(cray, known, names.name[i], is_alone);
	watt_names_free(&names);
	/* where it is missing each read says so */
	if (r == 0 &&
	    watt_file_open(&cray->freshness, &cray->env->sysfs, FOLDER "/freshness") == -ENOMEM)
		r = -ENOMEM;
	return r == 0 && !cray->channels.n ? -ENODEV : r;
}

static const char *const cray_watched[] = { FOLDER, NULL };

static int cray_rescan(const struct watt_env *env, const struct watt_known *known,
		       struct watt_power **ret)
{
	struct cray *cray = calloc(1, sizeof(*cray));
	size_t i;
	int r;

	if (!cray)
		return -ENOMEM;
	cray->env = env;
	cray->freshness = (struct watt_file)WATT_FILE_INIT;
	for (i = 0; i < MAX_COUNTERS; i++)
		cray->files[i] = (struct watt_file)WATT_FILE_INIT;
	r = add_all(cray, known);
	if (r < 0) {
		cray_close(&cray->power);
		return r;
	}
	cray->group = (struct watt_power_group){ .n = (uint32_t)cray->channels.n,
						 .period_ns = cray->period_ns / 2 };
	cray->power = (struct watt_power){ .ops = &watt_power_cray,
					   .channels = cray->channels.channel,
					   .n_channels = (uint32_t)cray->channels.n,
					   .groups = &cray->group,
					   .n_groups = 1 };
	*ret = &cray->power;
	return 0;
}

static int cray_open(const struct watt_env *env, struct watt_power **ret)
{
	const struct watt_known nothing = { 0 };

	return cray_rescan(env, &nothing, ret);
}

static int cray_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_power *power;
	int r = cray_open(env, &power);

	diag->error = r;
	diag->state = watt_availability_from_errno(r);
	snprintf(diag->path, sizeof(diag->path), "%.200s/" FOLDER, env->sysfs.path);
	if (r < 0) {
		snprintf(diag->why, sizeof(diag->why), "%s",
			 r == -ENODEV ? "this is no HPE Cray node, or its driver is not loaded" :
					watt_error_text(r));
		return r;
	}
	diag->n_channels = power->n_channels;
	diag->period_ns = power->channels[0].period_ns;
	snprintf(diag->why, sizeof(diag->why), "%u counters of the node's controller",
		 power->n_channels);
	cray_close(power);
	return 0;
}

const struct watt_power_ops watt_power_cray = {
	.name = "cray",
	.summary = "HPE Cray node: pm_counters of its controller",
	.flags = WATT_POWER_BLOCKING,
	.probe = cray_probe,
	.open = cray_open,
	.rescan = cray_rescan,
	.watched = cray_watched,
	.read = cray_read,
	.close = cray_close,
};
