/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nvml source: energy or power of NVIDIA's GPUs, by the library of their driver. Where its
 * counter of energy stands a check it is read, else a power. A GPU that sleeps is not woken. Every
 * call may take long. It must not change a setting of a GPU.
 */
#include "source/host/nvml.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/channels.h"
#include "source/host/status.h"
#include "source/power/nvml/counter_check.h"
#include "source/power/nvml/gpu_gauge.h"
#include "source/power/nvml/gpu_timing.h"
#include "source/power/nvml/kept_timing.h"
#include "source/registry.h"

/* Of a counter, in each of its steps: when that happens is known as well as it is read often. */
#define READINGS 2
#define CHECK_PAUSE_NS (5 * WATT_NSEC_PER_MSEC)
/* Of what the GPU is like: each is a call, and none is a share of anybody's energy. */
#define GAUGE_PERIOD_NS WATT_NSEC_PER_SEC

struct meter {
	enum watt_gpu_way way;
	enum watt_gpu_scope scope;
	const struct watt_gpu_gauge *gauge; /* not NULL: this, instead of a power */
};

/* Of each GPU one of meters and one of gauges. */
#define MAX_GROUPS (2 * WATT_NVML_MAX_GPUS)

struct gpu_group {
	struct watt_nvml_gpu *gpu;
	uint32_t first; /* of its meters */
	uint32_t n;
};

struct nvml_power {
	struct watt_power power; /* first */
	struct watt_nvml *nvml;
	struct watt_channels channels;
	struct meter meters[WATT_NVML_MAX_GPUS * (WATT_N_SCOPES + WATT_N_GPU_GAUGES)];
	struct gpu_group gpus[MAX_GROUPS];
	struct watt_power_group groups[MAX_GROUPS];
	uint32_t n_groups;
};

/* ---- reading one value ---- */

static int read_way(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
		    const struct meter *meter, int64_t *ret)
{
	if (meter->gauge)
		return meter->gauge->read(nvml, gpu, ret);
	return watt_gpu_read(nvml, gpu, meter->way, meter->scope, ret);
}

static bool works(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, enum watt_gpu_way way,
		  enum watt_gpu_scope scope)
{
	const struct meter meter = { .way = way, .scope = scope };
	int64_t value;

	return read_way(nvml, gpu, &meter, &value) == WATT_NVML_SUCCESS;
}

static const char *const scope_names[WATT_N_SCOPES] = { "", "module", "memory" };

/* ---- whether counters can be believed ---- */

/* One reading of all that are not decided yet; returns how many there are. */
static size_t check_once(struct watt_nvml *nvml, struct watt_counter_check *checks)
{
	size_t i, undecided = 0;

	for (i = 0; i < nvml->n_gpus; i++) {
		const struct watt_nvml_gpu *gpu = &nvml->gpus[i];
		int64_t energy_mj, power_mw;

		if (checks[i].verdict || !gpu->device)
			continue;
		if (watt_gpu_read(nvml, gpu, WATT_WAY_COUNTER, WATT_SCOPE_GPU, &energy_mj) !=
		    WATT_NVML_SUCCESS)
			checks[i].verdict = WATT_COUNTER_STUCK;
		if (checks[i].verdict)
			continue;
		if (watt_gpu_read(nvml, gpu, WATT_WAY_ANY, WATT_SCOPE_GPU, &power_mw) !=
		    WATT_NVML_SUCCESS)
			power_mw = -1;
		undecided += watt_counter_check_push(&checks[i], watt_now_ns(), energy_mj,
						     power_mw) == WATT_COUNTER_UNDECIDED;
	}
	return undecided;
}

static void name_meter(const struct watt_nvml_gpu *gpu, enum watt_gpu_scope scope, char *buf,
		       size_t size)
{
	const char *part = scope_names[scope];

	snprintf(buf, size, "nvml/%s%s%s", gpu->path, *part ? "/" : "", part);
}

/*
 * All at once: it takes as long as one does. Not those that are measured already: whoever looks for
 * what has come reads them, too, and would be late by all of that time.
 */
static void check_counters(struct watt_nvml *nvml, const struct watt_known *known,
			   struct watt_counter_check *checks)
{
	struct timespec pause = watt_timespec_from_ns(CHECK_PAUSE_NS);
	char name[160];
	size_t i;

	for (i = 0; i < nvml->n_gpus && known; i++) {
		name_meter(&nvml->gpus[i], WATT_SCOPE_GPU, name, sizeof(name));
		if (watt_known_has(known, name))
			checks[i].verdict = WATT_COUNTER_STUCK;
	}
	while (check_once(nvml, checks))
		nanosleep(&pause, NULL);
	for (i = 0; i < nvml->n_gpus; i++)
		if (checks[i].verdict == WATT_COUNTER_IMPOSSIBLE)
			watt_log(&nvml->env->log, WATT_LOG_WARNING,
				 "nvml: %s counts energy that does not fit its power; its power is "
				 "read instead",
				 nvml->gpus[i].pci);
}

/* ---- channels ---- */

static enum watt_gpu_way choose_way(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
				    const struct watt_counter_check *check)
{
	static const enum watt_gpu_way powers[] = { WATT_WAY_INSTANT, WATT_WAY_AVERAGE,
						    WATT_WAY_USAGE };
	size_t i;

	if (!gpu->device)
		return WATT_WAY_ANY;
	if (check->verdict == WATT_COUNTER_TRUSTED)
		return WATT_WAY_COUNTER;
	for (i = 0; i < WATT_ARRAY_SIZE(powers); i++)
		if (works(nvml, gpu, powers[i], WATT_SCOPE_GPU))
			return powers[i];
	return WATT_WAY_NONE;
}

/* What a calibration of this very card has found; all zeros: nothing that can be used. */
static int read_kept(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
		     struct watt_kept_timing *ret, char ret_path[PATH_MAX])
{
	int r = gpu->uuid[0] ?
			watt_kept_timing_read(nvml->env->state_dir, gpu->uuid, ret, ret_path) :
			-ENOENT;

	if (r < 0)
		*ret = (struct watt_kept_timing){ 0 };
	return r;
}

/* One that is there and can't be used is no loss without a word. */
static void tell_unusable(const struct watt_nvml *nvml, const char *path, int r)
{
	if (r < 0 && r != -ENOENT && r != -EINVAL)
		watt_log(&nvml->env->log, WATT_LOG_WARNING,
			 "nvml: the calibration %s can't be used (%s): 'wattribute calibrate gpu' "
			 "makes it anew",
			 path, r == -EBADMSG ? "it is damaged" : strerrordesc_np(-r));
}

/* The first power that was measured; WATT_KEPT_N_WAYS: none. */
static enum watt_gpu_way find_measured(const struct watt_kept_timing *kept)
{
	enum watt_gpu_way way;

	for (way = WATT_WAY_INSTANT; way < WATT_KEPT_N_WAYS && !kept->way[way].period_ns; way++)
		;
	return way;
}

static struct watt_gpu_timing timing_of(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
					enum watt_gpu_way way, const struct watt_kept_timing *kept)
{
	bool has_average = gpu->device && works(nvml, gpu, WATT_WAY_AVERAGE, WATT_SCOPE_GPU);

	if (way < WATT_KEPT_N_WAYS && kept->way[way].period_ns)
		return kept->way[way];
	if (way == WATT_WAY_COUNTER)
		return watt_gpu_timing_counter(gpu->architecture);
	/* where there is a mean over 1 s, the old function returns it */
	if (way == WATT_WAY_AVERAGE ||
	    (way == WATT_WAY_USAGE && gpu->architecture >= WATT_GPU_ADA) ||
	    (way == WATT_WAY_USAGE && has_average))
		return watt_gpu_timing_average();
	return watt_gpu_timing_instant(gpu->architecture, has_average);
}

static uint64_t max_power_uw(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu)
{
	unsigned int min_mw, max_mw;

	if (!gpu->device || !nvml->api.limits ||
	    nvml->api.limits(gpu->device, &min_mw, &max_mw) != WATT_NVML_SUCCESS)
		return 0;
	/* limits may be exceeded for a moment */
	return 4 * (uint64_t)max_mw * 1000;
}

/* A module has CPUs, too: what of it is counted elsewhere nobody says. */
static void place_scope(const struct watt_nvml_gpu *gpu, enum watt_gpu_scope scope, char *path,
			size_t size, struct watt_channel *channel)
{
	if (scope == WATT_SCOPE_MODULE) {
		snprintf(path, size, "%s:module", gpu->path);
		channel->flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
	} else {
		snprintf(path, size, "%s%s%s", gpu->path, scope ? "/" : "", scope_names[scope]);
	}
	channel->kind = scope == WATT_SCOPE_GPU ? WATT_DOMAIN_GPU : WATT_DOMAIN_RAIL;
}

static void describe(struct nvml_power *self, const struct watt_nvml_gpu *gpu,
		     const struct meter *meter, const struct watt_kept_timing *kept,
		     struct watt_channel *channel)
{
	struct watt_gpu_timing timing = timing_of(self->nvml, gpu, meter->way, kept);
	bool is_counter = meter->way == WATT_WAY_COUNTER;

	channel->source = "nvml";
	channel->quantity = is_counter ? WATT_QUANTITY_ENERGY : WATT_QUANTITY_POWER;
	channel->semantics = is_counter ? WATT_SEMANTICS_COUNTER : WATT_SEMANTICS_AVERAGE;
	channel->package_id = channel->die_id = channel->core_id = -1;
	channel->group = self->n_groups;
	channel->scale_num = is_counter ? 1000000 : 1000;
	channel->scale_den = 1;
	channel->max_power_uw = max_power_uw(self->nvml, gpu);
	channel->period_ns = timing.period_ns;
	channel->window_ns = timing.window_ns;
	channel->flags |= is_counter ? WATT_CHANNEL_STEPS : 0;
	/* of values that come in steps, the one that is read is half a step old; a step is seen
	 * half a reading after it happened */
	channel->delay_ns = timing.delay_ns +
			    (is_counter ? timing.period_ns / READINGS / 2 : timing.period_ns / 2);
	channel->coverage_ppm = timing.coverage_ppm;
	channel->uncertainty_ppm = timing.uncertainty_ppm;
}

/* 1: added; 0: somebody has it; -ENOMEM. */
static int add_meter(struct nvml_power *self, const struct watt_nvml_gpu *gpu,
		     const struct meter *meter, const struct watt_known *known)
{
	char name[160], path[128], label[2 * WATT_NVML_TEXT + 16];
	struct watt_channel channel = { .name = name, .domain = path, .label = label };
	const char *part = scope_names[meter->scope];
	struct watt_kept_timing kept;
	char file[PATH_MAX];
	int r;

	name_meter(gpu, meter->scope, name, sizeof(name));
	if (known && watt_known_has(known, name))
		return 0;
	snprintf(label, sizeof(label), "%s%s%s%s%s", gpu->name[0] ? gpu->name : "asleep",
		 gpu->uuid[0] ? " " : "", gpu->uuid, *part ? " " : "", part);
	place_scope(gpu, meter->scope, path, sizeof(path), &channel);
	channel.path = gpu->pci;
	r = read_kept(self->nvml, gpu, &kept, file);
	if (meter->scope == WATT_SCOPE_GPU)
		tell_unusable(self->nvml, file, r);
	describe(self, gpu, meter, &kept, &channel);
	self->meters[self->channels.n] = *meter;
	r = watt_channels_add(&self->channels, &channel);
	return r < 0 ? r : 1;
}

static int add_scopes(struct nvml_power *self, const struct watt_nvml_gpu *gpu,
		      const struct watt_known *known)
{
	enum watt_gpu_scope scope;
	int r = 0;

	for (scope = WATT_SCOPE_MODULE; scope < WATT_N_SCOPES && gpu->device && r >= 0; scope++) {
		struct meter meter = { .scope = scope };

		if (works(self->nvml, gpu, WATT_WAY_INSTANT, scope))
			meter.way = WATT_WAY_INSTANT;
		else if (works(self->nvml, gpu, WATT_WAY_AVERAGE, scope))
			meter.way = WATT_WAY_AVERAGE;
		if (meter.way)
			r = add_meter(self, gpu, &meter, known);
	}
	return r;
}

static int add_gpu(struct nvml_power *self, struct watt_nvml_gpu *gpu,
		   const struct watt_counter_check *check, const struct watt_known *known)
{
	struct meter meter = { .way = choose_way(self->nvml, gpu, check) };
	uint32_t first = (uint32_t)self->channels.n, n, i;
	int r = 0;

	if (meter.way)
		r = add_meter(self, gpu, &meter, known);
	if (r >= 0)
		r = add_scopes(self, gpu, known);
	n = (uint32_t)self->channels.n - first;
	if (r < 0 || !n)
		return r;
	self->gpus[self->n_groups] = (struct gpu_group){ gpu, first, n };
	self->groups[self->n_groups] = (struct watt_power_group){
		.first = first, .n = n, .period_ns = self->channels.channel[first].period_ns
	};
	for (i = first; i < first + n; i++)
		self->groups[self->n_groups].period_ns =
			WATT_MIN(self->groups[self->n_groups].period_ns,
				 self->channels.channel[i].period_ns);
	if (meter.way == WATT_WAY_COUNTER)
		self->groups[self->n_groups].period_ns /= READINGS;
	self->n_groups++;
	return 0;
}

/* ---- what a GPU is like ---- */

/* 1: added; 0: this GPU does not tell it, or somebody has it; -ENOMEM. */
static int add_gauge(struct nvml_power *self, const struct watt_nvml_gpu *gpu,
		     const struct watt_gpu_gauge *gauge, const struct watt_known *known)
{
	char name[160], path[160], label[WATT_NVML_TEXT + 32];
	struct watt_channel channel = { .name = name,
					.source = "nvml",
					.domain = path,
					.label = label,
					.path = gpu->pci,
					.kind = WATT_DOMAIN_GPU,
					.quantity = gauge->quantity,
					.semantics = WATT_SEMANTICS_INSTANT,
					.group = self->n_groups,
					.package_id = -1,
					.die_id = -1,
					.core_id = -1,
					.scale_num = gauge->scale_num,
					.scale_den = 1,
					.flags = gauge->is_signed ? WATT_CHANNEL_SIGNED : 0,
					.period_ns = GAUGE_PERIOD_NS };
	int64_t value;
	int r;

	snprintf(name, sizeof(name), "nvml/%s/%s", gpu->path, gauge->part);
	if ((known && watt_known_has(known, name)) ||
	    gauge->read(self->nvml, gpu, &value) != WATT_NVML_SUCCESS)
		return 0;
	snprintf(path, sizeof(path), "context/%s/%s", gpu->path, gauge->part);
	snprintf(label, sizeof(label), "%s %s", gpu->name, gauge->part);
	self->meters[self->channels.n] = (struct meter){ .gauge = gauge };
	r = watt_channels_add(&self->channels, &channel);
	return r < 0 ? r : 1;
}

/* A group of its own, which is read less often than powers are. */
static int add_gauges(struct nvml_power *self, struct watt_nvml_gpu *gpu,
		      const struct watt_known *known)
{
	uint32_t first = (uint32_t)self->channels.n, n;
	size_t i;
	int r = 0;

	for (i = 0; i < WATT_N_GPU_GAUGES && gpu->device && r >= 0; i++)
		r = add_gauge(self, gpu, &watt_gpu_gauges[i], known);
	n = (uint32_t)self->channels.n - first;
	if (r < 0 || !n)
		return r;
	self->gpus[self->n_groups] = (struct gpu_group){ gpu, first, n };
	self->groups[self->n_groups++] =
		(struct watt_power_group){ .first = first, .n = n, .period_ns = GAUGE_PERIOD_NS };
	return 0;
}

static int add_gpus(struct nvml_power *self, const struct watt_known *known)
{
	struct watt_counter_check *checks = calloc(WATT_NVML_MAX_GPUS, sizeof(*checks));
	size_t n_meters, i;
	int r = 0;

	if (!checks)
		return -ENOMEM;
	check_counters(self->nvml, known, checks);
	for (i = 0; i < self->nvml->n_gpus && r >= 0; i++)
		r = add_gpu(self, &self->nvml->gpus[i], &checks[i], known);
	/* only of those whose power is read here */
	n_meters = self->n_groups;
	for (i = 0; i < n_meters && r >= 0; i++)
		r = add_gauges(self, self->gpus[i].gpu, known);
	free(checks);
	if (r < 0)
		return r;
	return self->channels.n ? 0 : -ENODEV;
}

/* ---- the source ---- */

static void nvml_close(struct watt_power *power)
{
	struct nvml_power *self = (struct nvml_power *)power;

	if (!self)
		return;
	watt_nvml_close(self->nvml);
	watt_channels_done(&self->channels);
	free(self);
}

static int nvml_rescan(const struct watt_env *env, const struct watt_known *known,
		       struct watt_power **ret)
{
	struct nvml_power *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return -ENOMEM;
	r = watt_nvml_open(env, &self->nvml, NULL);
	if (r == 0)
		r = add_gpus(self, known);
	if (r < 0) {
		nvml_close(&self->power);
		return r;
	}
	self->power = (struct watt_power){ .ops = &watt_power_nvml,
					   .channels = self->channels.channel,
					   .n_channels = (uint32_t)self->channels.n,
					   .groups = self->groups,
					   .n_groups = self->n_groups };
	*ret = &self->power;
	return 0;
}

static int nvml_open(const struct watt_env *env, struct watt_power **ret)
{
	return nvml_rescan(env, NULL, ret);
}

static void read_meter(struct nvml_power *self, struct watt_nvml_gpu *gpu,
		       const struct meter *meter, struct watt_sample *ret)
{
	int64_t value = 0;
	int r;

	ret->t_before_ns = watt_now_ns();
	r = watt_nvml_wake(self->nvml, gpu);
	if (r == 0)
		r = watt_nvml_judge(self->nvml, gpu, read_way(self->nvml, gpu, meter, &value));
	ret->t_after_ns = watt_now_ns();
	ret->status = watt_status_from_errno(r);
	ret->raw = r == 0 ? value : 0;
}

static void nvml_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct nvml_power *self = (struct nvml_power *)power;
	const struct gpu_group *g = &self->gpus[group];
	uint32_t i;

	for (i = 0; i < g->n; i++)
		read_meter(self, g->gpu, &self->meters[g->first + i], &ret[i]);
}

/* ---- the probe ---- */

#define SAY(field, ...) snprintf(diag->field, sizeof(diag->field), __VA_ARGS__)

/* What was measured of the first GPU's power, behind the rest; and what to do about the others. */
static void explain_timing(const struct watt_nvml *nvml, struct watt_diag *diag)
{
	size_t len = strlen(diag->why), i, unknown = 0;
	struct watt_kept_timing kept;
	char file[PATH_MAX];

	for (i = 0; i < nvml->n_gpus; i++) {
		enum watt_gpu_way way;

		read_kept(nvml, &nvml->gpus[i], &kept, file);
		way = find_measured(&kept);
		unknown += nvml->gpus[i].device && way == WATT_KEPT_N_WAYS;
		if (i == 0 && way < WATT_KEPT_N_WAYS)
			snprintf(diag->why + len, sizeof(diag->why) - len,
				 "; calibrated: %s power every %.1f ms, of %.1f ms, %.1f ms late",
				 watt_kept_timing_name(way), (double)kept.way[way].period_ns / 1e6,
				 (double)kept.way[way].window_ns / 1e6,
				 (double)kept.way[way].delay_ns / 1e6);
	}
	if (unknown)
		SAY(hint,
		    "what the sensors of %zu GPU%s see is taken from a table: 'wattribute "
		    "calibrate gpu' measures it",
		    unknown, unknown == 1 ? "" : "s");
}

static void explain_gpus(struct watt_nvml *nvml, struct watt_diag *diag)
{
	size_t i, asleep = 0;

	for (i = 0; i < nvml->n_gpus; i++)
		asleep += !nvml->gpus[i].device;
	SAY(path, "%s", nvml->env->nvml_lib ? nvml->env->nvml_lib : "libnvidia-ml.so.1");
	if (asleep == nvml->n_gpus)
		SAY(why, "%zu GPU%s, asleep: not woken to be asked", asleep,
		    asleep == 1 ? "" : "s");
	else
		SAY(why, "driver %s, %zu GPU%s: %s%s", nvml->driver[0] ? nvml->driver : "unknown",
		    nvml->n_gpus, nvml->n_gpus == 1 ? "" : "s", nvml->gpus[0].name,
		    nvml->n_gpus > 1 ? ", ..." : "");
	explain_timing(nvml, diag);
	diag->n_channels = (uint32_t)nvml->n_gpus;
	diag->period_ns = watt_gpu_timing_counter(nvml->gpus[0].architecture).period_ns;
	diag->uncertainty_ppm = watt_gpu_timing_average().uncertainty_ppm;
}

static void explain_failure(const struct watt_env *env, int r, int code, struct watt_diag *diag)
{
	if (code) {
		SAY(why, "%s (NVML says %d)", watt_nvml_error_text(code), code);
		if (code == WATT_NVML_VERSION_MISMATCH)
			SAY(hint,
			    "reboot, or unload the kernel modules nvidia* and load them again");
		else if (code == WATT_NVML_NO_PERMISSION)
			SAY(hint,
			    "let this user read and write /dev/nvidiactl and /dev/nvidia0; in a "
			    "container, ask its runtime for the GPU");
	} else if (r == -ENODEV && !env->nvml_lib) {
		SAY(why, "there is no NVIDIA GPU, or its driver's library libnvidia-ml.so.1 is not "
			 "installed");
	} else if (r == -ENODEV) {
		SAY(why, "no file of that name, or no GPU behind it");
	} else {
		SAY(why, "the library can't be used: %s", watt_error_text(r));
		SAY(hint, "give --nvml-lib the libnvidia-ml.so.1 of the driver that is loaded");
	}
}

static int nvml_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_nvml *nvml = NULL;
	int code = 0, r;

	r = watt_nvml_open(env, &nvml, &code);
	diag->error = r;
	diag->state = watt_availability_from_errno(r);
	if (r == 0)
		explain_gpus(nvml, diag);
	else
		explain_failure(env, r, code, diag);
	watt_nvml_close(nvml);
	return r;
}

static const char *const watched[] = { "bus/pci/drivers/nvidia", NULL };

const struct watt_power_ops watt_power_nvml = {
	.name = "nvml",
	.summary = "NVIDIA GPUs, by the library of their driver",
	.flags = WATT_POWER_BLOCKING,
	.probe = nvml_probe,
	.open = nvml_open,
	.rescan = nvml_rescan,
	.watched = watched,
	.read = nvml_read,
	.close = nvml_close,
};
