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
#include "source/power/nvml/gpu_buffer.h"
#include "source/power/nvml/gpu_gauge.h"
#include "source/power/nvml/gpu_news.h"
#include "source/power/nvml/gpu_timing.h"
#include "source/power/nvml/kept_timing.h"
#include "source/registry.h"

/* Of each value, at most: one before it comes and one behind. */
#define READINGS 2
/* The driver keeps more than that, and so many are fetched by one call. */
#define BATCH 10
/* One that sees more of the time has nothing to add to a counter, nor misses anything. */
#define MAX_HELPED_PPM 750000
#define CHECK_PAUSE_NS (5 * WATT_NSEC_PER_MSEC)
/* Of what the GPU is like: each is a call, and none is a share of anybody's energy. */
#define GAUGE_PERIOD_NS WATT_NSEC_PER_SEC

struct meter {
	enum watt_gpu_way way;
	bool helps; /* it is read for the sake of the first one */
	enum watt_gpu_scope scope;
	const struct watt_gpu_gauge *gauge; /* not NULL: this, instead of a power */
};

/* Of each GPU one of meters and one of gauges. */
#define MAX_GROUPS (2 * WATT_NVML_MAX_GPUS)

struct gpu_group {
	struct watt_nvml_gpu *gpu;
	uint32_t first; /* of its meters */
	uint32_t n;
	bool is_gauges;
	struct watt_gpu_news news;      /* of meters */
	struct watt_gpu_buffer *buffer; /* NULL: it is read in another way */
};

struct nvml_power {
	struct watt_power power; /* first */
	struct watt_nvml *nvml;
	struct watt_channels channels;
	struct meter meters[WATT_NVML_MAX_GPUS * (WATT_GPU_MAX_METERS + WATT_N_GPU_GAUGES)];
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

static const char *get_part(const struct meter *meter)
{
	return meter->helps ? watt_kept_timing_name(meter->way) : scope_names[meter->scope];
}

static void name_meter(const struct watt_nvml_gpu *gpu, const struct meter *meter, char *buf,
		       size_t size)
{
	const char *part = get_part(meter);

	snprintf(buf, size, "nvml/%s%s%s", gpu->path, *part ? "/" : "", part);
}

/*
 * All at once: it takes as long as one does. Not those that are measured already: whoever looks for
 * what has come reads them, too, and would be late by all of that time.
 */
static void check_counters(struct watt_nvml *nvml, const struct watt_known *known,
			   struct watt_counter_check *checks)
{
	static const struct meter whole = { .scope = WATT_SCOPE_GPU };
	struct timespec pause = watt_timespec_from_ns(CHECK_PAUSE_NS);
	char name[160];
	size_t i;

	for (i = 0; i < nvml->n_gpus && known; i++) {
		name_meter(&nvml->gpus[i], &whole, name, sizeof(name));
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

/* Best first. */
static enum watt_gpu_way choose_way(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
				    const struct watt_counter_check *check,
				    struct watt_gpu_buffer **ret_buffer)
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
	return watt_gpu_buffer_open(nvml, gpu, ret_buffer) == WATT_NVML_SUCCESS ? WATT_WAY_BUFFER :
										  WATT_WAY_NONE;
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

/* What it keeps is of the sensor's own pace; of that, it sees the part that the table says. */
static void time_buffer(const struct watt_gpu_buffer *buffer, struct watt_gpu_timing *timing)
{
	timing->period_ns = watt_gpu_buffer_period_ns(buffer);
	timing->window_ns = timing->period_ns * timing->coverage_ppm / 1000000;
}

static void describe(struct nvml_power *self, const struct watt_nvml_gpu *gpu,
		     const struct meter *meter, const struct watt_kept_timing *kept,
		     struct watt_channel *channel)
{
	struct watt_gpu_timing timing = timing_of(self->nvml, gpu, meter->way, kept);
	bool is_counter = meter->way == WATT_WAY_COUNTER;

	if (meter->way == WATT_WAY_BUFFER)
		time_buffer(self->gpus[self->n_groups].buffer, &timing);

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
	/* one that sees more than a period has no end that it would tell of */
	channel->flags |= timing.window_ns <= timing.period_ns ? WATT_CHANNEL_STEPS : 0;
	channel->flags |= meter->helps ? WATT_CHANNEL_HELPS : 0;
	/* samples have the times between which their value came */
	channel->delay_ns = timing.delay_ns;
	channel->coverage_ppm = timing.coverage_ppm;
	channel->uncertainty_ppm = timing.uncertainty_ppm;
}

/* 1: added; 0: somebody has it; -ENOMEM. */
static int add_meter(struct nvml_power *self, const struct watt_nvml_gpu *gpu,
		     const struct meter *meter, const struct watt_known *known)
{
	char name[160], path[128], label[2 * WATT_NVML_TEXT + 16];
	struct watt_channel channel = { .name = name, .domain = path, .label = label };
	const char *part = get_part(meter);
	struct watt_kept_timing kept;
	char file[PATH_MAX];
	int r;

	name_meter(gpu, meter, name, sizeof(name));
	if (known && watt_known_has(known, name))
		return 0;
	snprintf(label, sizeof(label), "%s%s%s%s%s", gpu->name[0] ? gpu->name : "asleep",
		 gpu->uuid[0] ? " " : "", gpu->uuid, *part ? " " : "", part);
	place_scope(gpu, meter->scope, path, sizeof(path), &channel);
	channel.path = gpu->pci;
	r = read_kept(self->nvml, gpu, &kept, file);
	if (meter->scope == WATT_SCOPE_GPU && !meter->helps)
		tell_unusable(self->nvml, file, r);
	describe(self, gpu, meter, &kept, &channel);
	self->meters[self->channels.n] = *meter;
	r = watt_channels_add(&self->channels, &channel);
	return r < 0 ? r : 1;
}

/*
 * Of a counter, the power at the end of each step, where its sensor looks at no more than a part of
 * that; of a power that sees a part of the time, the mean of all of it.
 */
static int add_witness(struct nvml_power *self, const struct watt_nvml_gpu *gpu,
		       enum watt_gpu_way way, const struct watt_known *known)
{
	struct meter witness = { .helps = true };
	struct watt_kept_timing kept;
	char file[PATH_MAX];

	witness.way = way == WATT_WAY_COUNTER ? WATT_WAY_INSTANT :
		      way == WATT_WAY_INSTANT ? WATT_WAY_AVERAGE :
						WATT_WAY_NONE;
	if (!witness.way || !works(self->nvml, gpu, witness.way, WATT_SCOPE_GPU))
		return 0;
	read_kept(self->nvml, gpu, &kept, file);
	if (timing_of(self->nvml, gpu, WATT_WAY_INSTANT, &kept).coverage_ppm > MAX_HELPED_PPM)
		return 0;
	return add_meter(self, gpu, &witness, known);
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

/* What is read of it at once: as often as the quickest of its sensors needs. */
static void add_group(struct nvml_power *self, struct watt_nvml_gpu *gpu, uint32_t first,
		      const struct watt_counter_check *check)
{
	struct gpu_group *group = &self->gpus[self->n_groups];
	const struct watt_channel *channels = &self->channels.channel[first];
	uint32_t n = (uint32_t)self->channels.n - first, i;
	uint64_t period_ns = channels[0].period_ns;

	group->gpu = gpu;
	group->first = first;
	group->n = n;
	watt_gpu_news_init(&group->news, channels, n);
	if (self->meters[first].way == WATT_WAY_COUNTER)
		watt_gpu_news_seed(&group->news, check->energy_mj, check->last_from_ns,
				   check->last_to_ns, check->t_ns);
	for (i = 1; i < n; i++)
		period_ns = WATT_MIN(period_ns, channels[i].period_ns);
	period_ns = group->buffer ? BATCH * period_ns : period_ns / READINGS;
	self->groups[self->n_groups++] =
		(struct watt_power_group){ .first = first, .n = n, .period_ns = period_ns };
}

static int add_gpu(struct nvml_power *self, struct watt_nvml_gpu *gpu,
		   const struct watt_counter_check *check, const struct watt_known *known)
{
	struct gpu_group *group = &self->gpus[self->n_groups];
	struct meter meter = { .way = choose_way(self->nvml, gpu, check, &group->buffer) };
	uint32_t first = (uint32_t)self->channels.n;
	int r = 0;

	if (meter.way)
		r = add_meter(self, gpu, &meter, known);
	if (r > 0)
		r = add_witness(self, gpu, meter.way, known);
	/* what has times of its own is by itself */
	if (r >= 0 && !group->buffer)
		r = add_scopes(self, gpu, known);
	if (r >= 0 && self->channels.n > first) {
		add_group(self, gpu, first, check);
		return 0;
	}
	group->buffer = watt_gpu_buffer_close(group->buffer);
	return r;
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
	self->gpus[self->n_groups] =
		(struct gpu_group){ .gpu = gpu, .first = first, .n = n, .is_gauges = true };
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

	uint32_t i;

	if (!self)
		return;
	for (i = 0; i < self->n_groups; i++)
		watt_gpu_buffer_close(self->gpus[i].buffer);
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

/* One of those that the driver keeps. */
static void read_buffer(struct nvml_power *self, struct gpu_group *group, struct watt_sample *ret)
{
	int64_t value = 0;
	uint64_t t_ns = 0;
	int r, code = WATT_NVML_SUCCESS;

	ret->t_before_ns = watt_now_ns();
	r = watt_nvml_wake(self->nvml, group->gpu);
	if (r == 0)
		code = watt_gpu_buffer_take(group->buffer, self->nvml, group->gpu, &value, &t_ns);
	if (r == 0)
		r = watt_nvml_judge(self->nvml, group->gpu, code);
	ret->t_after_ns = watt_now_ns();
	ret->status = code == WATT_NVML_NO_DATA ? WATT_STATUS_NOTHING_NEW :
						  watt_status_from_errno(r);
	ret->raw = r == 0 ? value : 0;
	if (r == 0)
		ret->t_before_ns = ret->t_after_ns = t_ns;
}

/* All of a GPU's at once; what one of them says may be the end of the others. */
static void read_meters(struct nvml_power *self, struct gpu_group *group, struct watt_sample *ret)
{
	struct watt_gpu_question questions[WATT_GPU_MAX_METERS];
	uint64_t t_before_ns = watt_now_ns(), t_after_ns;
	int awake = watt_nvml_wake(self->nvml, group->gpu), r;
	uint32_t i;

	for (i = 0; i < group->n; i++)
		questions[i] =
			(struct watt_gpu_question){ .way = self->meters[group->first + i].way,
						    .scope = self->meters[group->first + i].scope };
	if (awake == 0)
		watt_gpu_ask(self->nvml, group->gpu, questions, group->n);
	t_after_ns = watt_now_ns();
	for (i = 0; i < group->n; i++) {
		r = group->gpu->is_lost ? -ENODEV : awake;
		if (r == 0)
			r = watt_nvml_judge(self->nvml, group->gpu, questions[i].code);
		ret[i] = (struct watt_sample){ .t_before_ns = t_before_ns,
					       .t_after_ns = t_after_ns,
					       .status = watt_status_from_errno(r),
					       .raw = r == 0 ? questions[i].value : 0 };
	}
}

static void nvml_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct nvml_power *self = (struct nvml_power *)power;
	struct gpu_group *g = &self->gpus[group];
	uint32_t i;

	if (g->buffer) {
		read_buffer(self, g, ret);
		return;
	}
	if (g->is_gauges) {
		for (i = 0; i < g->n; i++)
			read_meter(self, g->gpu, &self->meters[g->first + i], &ret[i]);
		return;
	}
	read_meters(self, g, ret);
	watt_gpu_news_take(&g->news, ret, g->n);
}

static uint64_t nvml_next_ns(struct watt_power *power, uint32_t group, uint64_t period_ns)
{
	const struct nvml_power *self = (const struct nvml_power *)power;
	const struct gpu_group *g = &self->gpus[group];

	if (g->buffer)
		return watt_gpu_buffer_has_more(g->buffer) ? 1 : 0;
	/* who asks for it more seldom gets what there is then */
	if (g->is_gauges || period_ns > self->groups[group].period_ns + WATT_NSEC_PER_MSEC)
		return 0;
	return watt_gpu_pace_next_ns(&g->news.pace);
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
	.next_ns = nvml_next_ns,
	.close = nvml_close,
};
