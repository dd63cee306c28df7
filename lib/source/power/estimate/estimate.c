/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy of the CPUs from their activity, for machines that have no counter (most VMs): for each
 * package, idle power * time of its online CPUs + (full - idle power) * their busy time. The sum
 * is made anew from totals at each read, so nothing drifts. Formula, figures and limits:
 * docs/sources/estimate.md. It must never pass for a measurement.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/util.h"
#include "source/config/config.h"
#include "source/host/cpustat.h"
#include "source/power/estimate/cpu_activity.h"
#include "source/power/estimate/cpu_model.h"
#include "source/power/cpuinfo.h"
#include "source/registry.h"
#include "source/host/status.h"
#include "source/host/topology.h"

/*
 * /proc/stat counts in 10 ms. At this pace its rounding is at most a tenth of a CPU's dynamic
 * power in one reading, it never adds up, and interpolation between readings spreads it.
 */
#define PERIOD_NS (100 * WATT_NSEC_PER_MSEC)
#define FJ_PER_UJ 1000000000
#define NJ_PER_UJ 1000
#define CPUINFO_MAX (64u << 20)
#define STAT_MAX (16u << 20)

struct package {
	char domain[24];
	char name[40];
	int32_t id;
	uint32_t uncertainty_ppm; /* of the least known of its CPUs */
	uint64_t idle_uw;         /* of the CPUs that are online now */
};

/* What is kept of one CPU. */
struct cpu {
	struct watt_cpu_model model;
	size_t package; /* index */
};

struct estimate {
	struct watt_power power; /* first */
	struct watt_power_group group;
	struct watt_channel *channels; /* one per package */
	struct package *packages;
	size_t n_packages;
	size_t cap_packages;
	struct cpu *cpus;
	struct watt_cpu_activity *activity; /* per CPU */
	struct watt_cpu_time *times;        /* per CPU; scratch of a read */
	watt_u128 *energy_fj;               /* per package; scratch of a read */
	size_t n_cpus;
	long hz;          /* of /proc/stat */
	bool is_captured; /* its files are of one instant */
	struct watt_file stat;
	char *buf;
	size_t buf_size;
};

static void estimate_close(struct watt_power *power)
{
	struct estimate *est = (struct estimate *)power;

	if (!est)
		return;
	watt_file_close(&est->stat);
	free(est->buf);
	free(est->energy_fj);
	free(est->times);
	free(est->activity);
	free(est->cpus);
	free(est->packages);
	free(est->channels);
	free(est);
}

static void cleanup_estimate(struct estimate **est)
{
	if (*est)
		estimate_close(&(*est)->power);
}

/* ---- reading ---- */

static void sum_energy(struct estimate *est, uint64_t now_ns)
{
	size_t i;

	watt_cpu_activity_update(est->activity, est->times, est->n_cpus, now_ns);
	memset(est->energy_fj, 0, est->n_packages * sizeof(*est->energy_fj));
	for (i = 0; i < est->n_cpus; i++)
		est->energy_fj[est->cpus[i].package] += watt_cpu_model_energy_fj(
			&est->cpus[i].model, est->activity[i].online_ns, est->activity[i].busy_ns);
}

static void estimate_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct estimate *est = (struct estimate *)power;
	uint64_t before_ns, after_ns;
	size_t i, n;
	int r;

	before_ns = watt_now_ns();
	r = watt_file_read(&est->stat, est->buf, est->buf_size);
	after_ns = watt_now_ns();
	if (r >= 0)
		r = watt_cpustat_parse(est->buf, est->hz, est->times, est->n_cpus, &n);
	if (r == 0 && !(est->is_captured &&
			watt_cpu_activity_is_same(est->activity, est->times, est->n_cpus)))
		/* The CPUs' lines are the first thing that the kernel writes into the file. */
		sum_energy(est, before_ns);
	for (i = 0; i < est->n_packages; i++) {
		ret[i].t_before_ns = before_ns;
		ret[i].t_after_ns = after_ns;
		ret[i].status = watt_status_from_errno(r);
		ret[i].raw = r == 0 ? (int64_t)(est->energy_fj[i] / FJ_PER_UJ) : 0;
	}
}

/* ---- opening ---- */

/* Index of the package with this number; it is made if need be. */
static int find_package(struct estimate *est, int32_t id, size_t *ret)
{
	struct package *package;
	size_t i;
	int r;

	for (i = 0; i < est->n_packages; i++)
		if (est->packages[i].id == id) {
			*ret = i;
			return 0;
		}
	r = watt_grow((void **)&est->packages, &est->cap_packages, est->n_packages,
		      sizeof(*est->packages));
	if (r < 0)
		return r;
	package = &est->packages[est->n_packages];
	*package = (struct package){ .id = id };
	snprintf(package->domain, sizeof(package->domain), "package-%d", id);
	snprintf(package->name, sizeof(package->name), "estimate/%s", package->domain);
	*ret = est->n_packages++;
	return 0;
}

static int place_cpu(struct estimate *est, struct cpu *cpu, int32_t package_id, bool is_online)
{
	struct package *package;
	int r;

	r = find_package(est, package_id, &cpu->package);
	if (r < 0)
		return r;
	package = &est->packages[cpu->package];
	package->uncertainty_ppm = WATT_MAX(package->uncertainty_ppm, cpu->model.uncertainty_ppm);
	package->idle_uw += is_online ? cpu->model.idle_uw : 0;
	return 0;
}

/* CPUs that the machine tells no package of are in the first. */
static int place_cpus(struct estimate *est, const struct watt_topology *topology)
{
	static const struct watt_topology_cpu untold = { .is_online = true };
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < est->n_cpus; i++) {
		const struct watt_topology_cpu *cpu = i < topology->n_cpus ? &topology->cpus[i] :
									     &untold;

		r = place_cpu(est, &est->cpus[i], cpu->package_id, cpu->is_online);
	}
	return r;
}

/* CPUs that cpuinfo does not list (offline ones, or no cpuinfo) are taken for the first it does. */
static int find_models(struct estimate *est, const struct watt_env *env)
{
	_cleanup_free_ char *text = NULL;
	struct watt_cpuinfo info = { 0 };
	struct watt_cpu_model model;
	const char *cursor;
	size_t len, i;
	int r;

	r = watt_root_slurp(&env->procfs, "cpuinfo", CPUINFO_MAX, &text, &len);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		watt_log(&env->log, WATT_LOG_WARNING,
			 "estimate: %s/cpuinfo can't be read (%s); using figures of a generic CPU",
			 env->procfs.path, strerrordesc_np(-r));
	cursor = r == 0 ? text : "";
	if (watt_cpuinfo_next(&cursor, &info) != 0)
		cursor = "";
	watt_cpu_model_find(&info, env->config, &model);
	for (i = 0; i < est->n_cpus; i++)
		est->cpus[i].model = model;
	while (watt_cpuinfo_next(&cursor, &info) == 0)
		if (info.cpu < est->n_cpus)
			watt_cpu_model_find(&info, env->config, &est->cpus[info.cpu].model);
	return 0;
}

static int make_channels(struct estimate *est)
{
	size_t i;

	est->channels = calloc(est->n_packages, sizeof(*est->channels));
	est->energy_fj = calloc(est->n_packages, sizeof(*est->energy_fj));
	if (!est->channels || !est->energy_fj)
		return -ENOMEM;
	for (i = 0; i < est->n_packages; i++) {
		const struct package *package = &est->packages[i];

		est->channels[i] = (struct watt_channel){
			.sz = sizeof(struct watt_channel),
			.name = package->name,
			.source = "estimate",
			.domain = package->domain,
			.path = "/proc/stat",
			.kind = WATT_DOMAIN_PACKAGE,
			.quantity = WATT_QUANTITY_ENERGY,
			.semantics = WATT_SEMANTICS_COUNTER,
			.origin = WATT_ORIGIN_ESTIMATED,
			.package_id = package->id,
			.die_id = -1,
			.core_id = -1,
			.scale_num = NJ_PER_UJ,
			.scale_den = 1,
			.idle_uw = package->idle_uw,
			.period_ns = PERIOD_NS,
			.coverage_ppm = 1000000,
			.uncertainty_ppm = package->uncertainty_ppm,
		};
	}
	return 0;
}

/* Reads it once at full length; twice that and some is room for interrupts that come later. */
static int open_stat(struct estimate *est, const struct watt_env *env, size_t *ret_n_cpus)
{
	_cleanup_free_ char *text = NULL;
	struct watt_cpu_time none;
	size_t len;
	int r;

	r = watt_root_slurp(&env->procfs, "stat", STAT_MAX, &text, &len);
	if (r < 0)
		return r;
	if (memchr(text, '\0', len))
		return -EBADMSG;
	est->hz = sysconf(_SC_CLK_TCK);
	r = watt_cpustat_parse(text, est->hz, &none, 0, ret_n_cpus);
	if (r < 0)
		return r;
	est->buf_size = 2 * len + 16384;
	est->buf = malloc(est->buf_size);
	if (!est->buf)
		return -ENOMEM;
	return watt_file_open(&est->stat, &env->procfs, "stat");
}

static int open_cpus(struct estimate *est, const struct watt_env *env,
		     const struct watt_topology *topology)
{
	int r;

	est->cpus = calloc(est->n_cpus, sizeof(*est->cpus));
	est->activity = calloc(est->n_cpus, sizeof(*est->activity));
	est->times = calloc(est->n_cpus, sizeof(*est->times));
	if (!est->cpus || !est->activity || !est->times)
		return -ENOMEM;
	r = find_models(est, env);
	if (r < 0)
		return r;
	r = place_cpus(est, topology);
	if (r < 0)
		return r;
	return make_channels(est);
}

static int open_inside(const struct watt_env *env, struct estimate **ret)
{
	_cleanup_(watt_topology_done) struct watt_topology topology = WATT_TOPOLOGY_INIT;
	_cleanup_(cleanup_estimate) struct estimate *est = calloc(1, sizeof(*est));
	size_t n_cpus;
	int r;

	if (!est)
		return -ENOMEM;
	est->stat = (struct watt_file)WATT_FILE_INIT;
	est->is_captured = env->is_captured;
	r = open_stat(est, env, &n_cpus);
	if (r < 0)
		return r;
	r = watt_topology_open_quietly(env, &topology);
	if (r < 0)
		return r;
	/* CPUs that come online later have a number too. */
	est->n_cpus = WATT_MAX(n_cpus, topology.n_cpus);
	r = open_cpus(est, env, &topology);
	if (r < 0)
		return r;
	est->group =
		(struct watt_power_group){ .n = (uint32_t)est->n_packages, .period_ns = PERIOD_NS };
	est->power = (struct watt_power){ .ops = &watt_power_estimate,
					  .channels = est->channels,
					  .n_channels = (uint32_t)est->n_packages,
					  .groups = &est->group,
					  .n_groups = 1 };
	*ret = est;
	est = NULL;
	return 0;
}

static int estimate_open(const struct watt_env *env, struct watt_power **ret)
{
	struct estimate *est;
	int r;

	r = open_inside(env, &est);
	if (r < 0)
		return r;
	*ret = &est->power;
	return 0;
}

/* ---- probing ---- */

static void describe(const struct estimate *est, struct watt_diag *diag)
{
	const struct watt_cpu_model *model = &est->cpus[0].model;
	uint32_t ppm = 0;
	size_t i;
	int n;

	for (i = 0; i < est->n_packages; i++)
		ppm = WATT_MAX(ppm, est->packages[i].uncertainty_ppm);
	diag->n_channels = (uint32_t)est->n_packages;
	diag->uncertainty_ppm = ppm;
	diag->period_ns = PERIOD_NS;
	n = snprintf(diag->why, sizeof(diag->why),
		     "no counter needed: %.80s, %.2f W idle to %.2f W busy per logical CPU",
		     model->name, model->idle_uw / 1e6, model->full_uw / 1e6);
	/* 0: the user's own figures, and not said how good they are. */
	if (ppm)
		snprintf(diag->why + n, sizeof(diag->why) - (size_t)n, ", within +-%g %%",
			 ppm / 1e4);
	snprintf(diag->hint, sizeof(diag->hint),
		 "watts that you measured yourself make it better: estimate.models in the "
		 "configuration file");
}

static void describe_failure(int r, struct watt_diag *diag)
{
	diag->state = watt_availability_from_errno(r);
	snprintf(diag->why, sizeof(diag->why), "%.200s: %s", diag->path,
		 r == -EBADMSG ? "not what /proc/stat looks like" : strerrordesc_np(-r));
	if (diag->state != WATT_BROKEN)
		snprintf(diag->hint, sizeof(diag->hint), "mount procfs where this process sees it");
}

static int estimate_probe(const struct watt_env *env, struct watt_diag *diag)
{
	_cleanup_(cleanup_estimate) struct estimate *est = NULL;
	int r;

	snprintf(diag->path, sizeof(diag->path), "%.240s/stat", env->procfs.path);
	r = open_inside(env, &est);
	diag->error = r;
	if (r < 0) {
		describe_failure(r, diag);
		return r;
	}
	diag->state = WATT_AVAILABLE;
	describe(est, diag);
	return 0;
}

const struct watt_power_ops watt_power_estimate = {
	.name = "estimate",
	.summary = "CPU power by a model of their activity",
	.flags = WATT_POWER_FALLBACK,
	.probe = estimate_probe,
	.open = estimate_open,
	.read = estimate_read,
	.close = estimate_close,
};
