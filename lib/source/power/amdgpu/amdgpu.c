/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The amdgpu source: what the driver of AMD's GPUs tells beside hwmon. A counter of energy in its
 * binary table, where that stands a check; power, where hwmon has none; and what the GPU is like.
 * One reading of the table is one sample of all that is in it. A GPU that sleeps is not woken.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/channels.h"
#include "source/host/drm_gpu.h"
#include "source/host/status.h"
#include "source/power/amdgpu/amdgpu_gauge.h"
#include "source/power/amdgpu/gpu_metrics.h"
#include "source/power/nvml/counter_check.h"
#include "source/registry.h"

#define CLASS "class/drm"
#define TABLE "gpu_metrics"
#define PATH_SIZE 192
/* The driver asks the firmware for a table at most once in some ms, and keeps it in between. */
#define METER_PERIOD_NS (10 * WATT_NSEC_PER_MSEC)
#define GAUGE_PERIOD_NS WATT_NSEC_PER_SEC
#define CHECK_PAUSE_NS (5 * WATT_NSEC_PER_MSEC)
/* Of a table that always says the same; as the check itself looks at a counter. */
#define MAX_CHECKS 100
/* 2^-16 J are nJ times this over that. */
#define ENERGY_NUM 1000000000
#define ENERGY_DEN 65536
/* As NVML's: the sensor of a board may be off by 5 %, always by the same part. */
#define UNCERTAINTY_PPM 28868
#define N_METERS 2

/* One channel: of the table, or of a file. */
struct meter {
	enum watt_gpu_metric metric;
	struct watt_file file; /* used if it has a path */
	int64_t mul;
};

struct card {
	struct watt_drm_gpu gpu;
	struct watt_file table;
	struct watt_gpu_metrics metrics; /* as it was when it was found; format 0: there is none */
	struct watt_counter_check check;
	bool is_open;
	/* a counter of 32 bits goes on behind its end */
	uint64_t before, above;
};

struct group {
	struct card *card;
	uint32_t first, n;
};

struct amdgpu {
	struct watt_power power; /* first */
	const struct watt_env *env;
	struct watt_channels channels;
	struct card cards[WATT_DRM_CARDS];
	size_t n_cards;
	struct meter meters[WATT_DRM_CARDS * (N_METERS + WATT_N_AMDGPU_GAUGES)];
	struct group groups[2 * WATT_DRM_CARDS];
	struct watt_power_group power_groups[2 * WATT_DRM_CARDS];
	uint32_t n_groups;
};

/* ---- reading ---- */

static int read_table(struct card *card, struct watt_gpu_metrics *ret)
{
	char table[WATT_GPU_METRICS_SIZE];
	int n;

	if (!card->table.path)
		return -ENODATA;
	n = watt_file_read_bytes(&card->table, table, sizeof(table));
	if (n == -ENODEV) /* another driver's counter begins anew */
		card->before = card->above = 0;
	return n < 0 ? n : watt_gpu_metrics_parse(table, (size_t)n, ret);
}

/* Of some cards it has 32 bits, whatever the table has room for. */
static int64_t unwrap(struct card *card, uint64_t raw)
{
	const uint64_t span = 1ull << 32;

	if (raw < card->before && card->before < span && card->before - raw > span / 2)
		card->above += span;
	card->before = raw;
	return (int64_t)(card->above + raw);
}

static int take_metric(struct card *card, const struct watt_gpu_metrics *metrics,
		       enum watt_gpu_metric metric, int64_t *ret)
{
	if (!watt_gpu_metrics_has(metrics, metric))
		return -ENODATA;
	*ret = metric == WATT_GPU_METRIC_ENERGY ? unwrap(card, (uint64_t)metrics->value[metric]) :
						  metrics->value[metric];
	return 0;
}

static int read_meter(struct card *card, struct meter *meter, const struct watt_gpu_metrics *table,
		      int table_error, int64_t *ret)
{
	int64_t value;
	int r;

	if (!meter->file.path)
		return table_error < 0 ? table_error : take_metric(card, table, meter->metric, ret);
	r = watt_file_read_i64(&meter->file, &value);
	if (r == 0 && __builtin_mul_overflow(value, meter->mul, &value))
		r = -ERANGE;
	if (r == 0)
		*ret = value;
	return r;
}

static void amdgpu_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct amdgpu *self = watt_container_of(power, struct amdgpu, power);
	const struct group *g = &self->groups[group];
	struct watt_gpu_metrics metrics;
	uint64_t before_ns = watt_now_ns(), after_ns;
	int r = watt_drm_gpu_is_asleep(&g->card->gpu) ? -EAGAIN : 0, table_error = r;
	uint32_t i;

	if (r == 0)
		table_error = read_table(g->card, &metrics);
	after_ns = watt_now_ns();
	for (i = 0; i < g->n; i++) {
		struct meter *meter = &self->meters[g->first + i];
		int64_t value = 0;
		int error = r;

		if (r == 0 && meter->file.path)
			before_ns = watt_now_ns();
		if (r == 0)
			error = read_meter(g->card, meter, &metrics, table_error, &value);
		if (r == 0 && meter->file.path)
			after_ns = watt_now_ns();
		ret[i].t_before_ns = before_ns;
		ret[i].t_after_ns = after_ns;
		ret[i].raw = error < 0 ? 0 : value;
		ret[i].status = watt_status_from_errno(error);
	}
}

/* ---- cards ---- */

/* 0: it can be read or sleeps; -ENOMEM. */
static int open_card(struct amdgpu *self, const struct watt_drm_card *found)
{
	struct card *card = &self->cards[self->n_cards];
	char path[PATH_SIZE];
	int r;

	*card = (struct card){ .table = WATT_FILE_INIT };
	self->n_cards++;
	r = watt_drm_gpu_open(&card->gpu, self->env, found);
	if (r < 0 || card->gpu.is_asleep)
		return r;
	snprintf(path, sizeof(path), "%s/" TABLE, card->gpu.dir);
	r = watt_file_open(&card->table, &self->env->sysfs, path);
	if (r == -ENOMEM)
		return r;
	if (r < 0) /* older cards have none */
		watt_file_close(&card->table);
	else
		r = read_table(card, &card->metrics);
	card->is_open = true;
	if (r < 0 && r != -ENOENT)
		watt_log(&self->env->log, WATT_LOG_WARNING, "amdgpu: %s/" TABLE " %s",
			 card->gpu.dir,
			 r == -EOPNOTSUPP ? "is of a revision that is not known here" :
			 r == -EBADMSG    ? "is damaged" :
					    watt_error_text(r));
	return 0;
}

static int find_cards(struct amdgpu *self)
{
	struct watt_drm_cards cards;
	size_t i;
	int r;

	r = watt_drm_cards_find(self->env, &cards);
	for (i = 0; r == 0 && i < cards.n; i++)
		if (!strcmp(cards.list[i].driver, "amdgpu"))
			r = open_card(self, &cards.list[i]);
	return r;
}

/* ---- whether a counter can be believed ---- */

static void name_meter(const struct card *card, char *buf, size_t size)
{
	snprintf(buf, size, "amdgpu/%s", card->gpu.path);
}

static bool check_once(struct card *card)
{
	struct watt_gpu_metrics metrics;
	int64_t power_mw = -1, energy_mj;

	if (card->check.verdict || !watt_gpu_metrics_has(&card->metrics, WATT_GPU_METRIC_ENERGY))
		return false;
	if (read_table(card, &metrics) < 0 ||
	    !watt_gpu_metrics_has(&metrics, WATT_GPU_METRIC_ENERGY)) {
		card->check.verdict = WATT_COUNTER_STUCK;
		return false;
	}
	if (watt_gpu_metrics_has(&metrics, WATT_GPU_METRIC_POWER))
		power_mw = metrics.value[WATT_GPU_METRIC_POWER] / 1000;
	energy_mj = (int64_t)((watt_i128)metrics.value[WATT_GPU_METRIC_ENERGY] * 1000 / ENERGY_DEN);
	return watt_counter_check_push(&card->check, watt_now_ns(), energy_mj, power_mw) ==
	       WATT_COUNTER_UNDECIDED;
}

/* Not of those that are measured already: whoever reads them would wait for it. */
static void check_counters(struct amdgpu *self, const struct watt_known *known)
{
	struct timespec pause = watt_timespec_from_ns(CHECK_PAUSE_NS);
	bool is_undecided = true;
	char name[160];
	size_t i, n;

	for (i = 0; known && i < self->n_cards; i++) {
		name_meter(&self->cards[i], name, sizeof(name));
		if (watt_known_has(known, name))
			self->cards[i].check.verdict = WATT_COUNTER_STUCK;
	}
	/* what was captured stands still */
	for (n = 0; is_undecided && n < MAX_CHECKS && !self->env->is_captured; n++) {
		if (n)
			nanosleep(&pause, NULL);
		is_undecided = false;
		for (i = 0; i < self->n_cards; i++)
			is_undecided |= check_once(&self->cards[i]);
	}
	for (i = 0; i < self->n_cards; i++)
		if (self->cards[i].check.verdict == WATT_COUNTER_IMPOSSIBLE)
			watt_log(&self->env->log, WATT_LOG_WARNING,
				 "amdgpu: %s counts energy that does not fit its power; its power "
				 "is read instead",
				 self->cards[i].gpu.device);
}

/* ---- channels ---- */

static int add_channel(struct amdgpu *self, const struct card *card, struct watt_channel *channel,
		       const struct meter *meter)
{
	char at[400];
	int r;

	channel->source = "amdgpu";
	channel->kind = WATT_DOMAIN_GPU;
	channel->package_id = channel->die_id = channel->core_id = -1;
	channel->group = self->n_groups;
	channel->scale_num = channel->scale_num ? channel->scale_num : 1;
	channel->scale_den = channel->scale_den ? channel->scale_den : 1;
	snprintf(at, sizeof(at), "%s/%s", self->env->sysfs.path,
		 meter->file.path ? meter->file.path : card->table.path);
	channel->path = at;
	self->meters[self->channels.n] = *meter;
	r = watt_channels_add(&self->channels, channel);
	channel->path = NULL;
	return r;
}

static bool has_hwmon_power(const struct amdgpu *self, const struct card *card)
{
	static const char *const files[] = { "power1_average", "power1_input" };
	char path[PATH_SIZE];
	size_t i;

	for (i = 0; card->gpu.hwmon[0] && i < WATT_ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", card->gpu.hwmon, files[i]);
		if (watt_root_exists(&self->env->sysfs, path))
			return true;
	}
	return false;
}

/* What of its power to read; WATT_GPU_N_METRICS: nothing. */
static enum watt_gpu_metric choose_meter(const struct amdgpu *self, const struct card *card)
{
	if (card->check.verdict == WATT_COUNTER_TRUSTED)
		return WATT_GPU_METRIC_ENERGY;
	if (watt_gpu_metrics_has(&card->metrics, WATT_GPU_METRIC_GFX_POWER))
		return WATT_GPU_METRIC_GFX_POWER;
	if (watt_gpu_metrics_has(&card->metrics, WATT_GPU_METRIC_POWER) &&
	    card->metrics.format == 1 && !has_hwmon_power(self, card))
		return WATT_GPU_METRIC_POWER;
	return WATT_GPU_N_METRICS;
}

static int add_meter(struct amdgpu *self, const struct card *card, const struct watt_known *known)
{
	const struct meter meter = { .metric = choose_meter(self, card), .file = WATT_FILE_INIT };
	bool is_counter = meter.metric == WATT_GPU_METRIC_ENERGY;
	char name[160];
	struct watt_channel channel = {
		.name = name,
		.domain = card->gpu.path,
		.label = meter.metric == WATT_GPU_METRIC_GFX_POWER ? "graphics" : NULL,
		.quantity = is_counter ? WATT_QUANTITY_ENERGY : WATT_QUANTITY_POWER,
		.semantics = is_counter ? WATT_SEMANTICS_COUNTER : WATT_SEMANTICS_AVERAGE,
		.scale_num = is_counter ? ENERGY_NUM : 1,
		.scale_den = is_counter ? ENERGY_DEN : 1,
		.uncertainty_ppm = UNCERTAINTY_PPM,
	};

	name_meter(card, name, sizeof(name));
	if (meter.metric == WATT_GPU_N_METRICS || (known && watt_known_has(known, name)))
		return 0;
	/* it lies in the package, which nobody tells of RAPL's counter */
	if (card->metrics.format > 1)
		channel.flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
	return add_channel(self, card, &channel, &meter);
}

/* 1: it can be read; 0: it can't; -ENOMEM. */
static int open_gauge(struct amdgpu *self, const struct card *card,
		      const struct watt_amdgpu_gauge *gauge, struct meter *meter)
{
	*meter = (struct meter){ .metric = gauge->metric, .file = WATT_FILE_INIT };
	if (gauge->metric < WATT_GPU_N_METRICS &&
	    watt_gpu_metrics_has(&card->metrics, gauge->metric))
		return 1;
	if (!gauge->file)
		return 0;
	meter->mul = gauge->mul;
	return watt_drm_gpu_open_number(self->env,
					gauge->is_hwmon ? card->gpu.hwmon : card->gpu.dir,
					gauge->file, &meter->file);
}

static int add_gauge(struct amdgpu *self, const struct card *card,
		     const struct watt_amdgpu_gauge *gauge, const struct watt_known *known)
{
	char name[160], path[160];
	struct watt_channel channel = {
		.name = name,
		.domain = path,
		.label = gauge->part,
		.quantity = gauge->quantity,
		.semantics = WATT_SEMANTICS_INSTANT,
		.flags = gauge->quantity == WATT_QUANTITY_TEMPERATURE ? WATT_CHANNEL_SIGNED : 0,
		.period_ns = GAUGE_PERIOD_NS,
	};
	struct meter meter;
	int r;

	snprintf(name, sizeof(name), "amdgpu/%s/%s", card->gpu.path, gauge->part);
	snprintf(path, sizeof(path), "context/%s/%s", card->gpu.path, gauge->part);
	if (known && watt_known_has(known, name))
		return 0;
	r = open_gauge(self, card, gauge, &meter);
	if (r <= 0)
		return r;
	r = add_channel(self, card, &channel, &meter);
	if (r < 0)
		watt_file_close(&meter.file);
	return r;
}

/* Makes a group of the channels from `first` on, if there are any. */
static void end_group(struct amdgpu *self, struct card *card, uint32_t first, uint64_t period_ns)
{
	uint32_t n = (uint32_t)self->channels.n - first;

	if (!n)
		return;
	self->groups[self->n_groups] = (struct group){ card, first, n };
	self->power_groups[self->n_groups++] =
		(struct watt_power_group){ .first = first, .n = n, .period_ns = period_ns };
}

static int add_card(struct amdgpu *self, struct card *card, const struct watt_known *known)
{
	uint32_t first = (uint32_t)self->channels.n;
	size_t i;
	int r;

	if (!card->is_open)
		return 0;
	r = add_meter(self, card, known);
	end_group(self, card, first, METER_PERIOD_NS);
	first = (uint32_t)self->channels.n;
	for (i = 0; i < WATT_N_AMDGPU_GAUGES && r == 0; i++)
		r = add_gauge(self, card, &watt_amdgpu_gauges[i], known);
	end_group(self, card, first, GAUGE_PERIOD_NS);
	return r;
}

/* ---- the source ---- */

static void amdgpu_close(struct watt_power *power)
{
	struct amdgpu *self = watt_container_of(power, struct amdgpu, power);
	size_t i;

	for (i = 0; i < self->channels.n; i++)
		watt_file_close(&self->meters[i].file);
	for (i = 0; i < self->n_cards; i++) {
		watt_file_close(&self->cards[i].table);
		watt_drm_gpu_close(&self->cards[i].gpu);
	}
	watt_channels_done(&self->channels);
	free(self);
}

/* Of cards that all sleep nothing is known: they are asked again. */
static int add_all(struct amdgpu *self, const struct watt_known *known, uint32_t *ret_n_asleep)
{
	size_t i;
	int r = find_cards(self);

	*ret_n_asleep = 0;
	if (r < 0)
		return r;
	check_counters(self, known);
	for (i = 0; i < self->n_cards && r == 0; i++) {
		r = add_card(self, &self->cards[i], known);
		*ret_n_asleep += self->cards[i].gpu.is_asleep;
	}
	if (r < 0 || self->channels.n)
		return r;
	return *ret_n_asleep ? -EAGAIN : -ENODEV;
}

static int amdgpu_rescan(const struct watt_env *env, const struct watt_known *known,
			 struct watt_power **ret)
{
	struct amdgpu *self = calloc(1, sizeof(*self));
	uint32_t n_asleep;
	int r;

	if (!self)
		return -ENOMEM;
	self->env = env;
	r = add_all(self, known, &n_asleep);
	if (r < 0) {
		amdgpu_close(&self->power);
		return r;
	}
	self->power = (struct watt_power){ .ops = &watt_power_amdgpu,
					   .channels = self->channels.channel,
					   .n_channels = (uint32_t)self->channels.n,
					   .groups = self->power_groups,
					   .n_groups = self->n_groups,
					   .n_refused = n_asleep };
	*ret = &self->power;
	return 0;
}

static int amdgpu_open(const struct watt_env *env, struct watt_power **ret)
{
	return amdgpu_rescan(env, NULL, ret);
}

/* ---- the probe ---- */

#define SAY(field, ...) snprintf(diag->field, sizeof(diag->field), __VA_ARGS__)

static void explain(const struct amdgpu *self, struct watt_diag *diag)
{
	const struct card *card = NULL;
	size_t i, asleep = 0;
	char table[64] = "no table of its driver";

	for (i = 0; i < self->n_cards; i++) {
		asleep += self->cards[i].gpu.is_asleep;
		if (!card && self->cards[i].is_open)
			card = &self->cards[i];
	}
	if (!card) {
		SAY(why, "%zu GPU%s, asleep: not woken to be asked", asleep,
		    asleep == 1 ? "" : "s");
		return;
	}
	if (card->metrics.format)
		snprintf(table, sizeof(table), "table %u.%u%s", card->metrics.format,
			 card->metrics.content,
			 watt_gpu_metrics_has(&card->metrics, WATT_GPU_METRIC_ENERGY) ?
				 " with a counter of energy" :
				 "");
	SAY(why, "%zu GPU%s: %s, %s%s", self->n_cards, self->n_cards == 1 ? "" : "s",
	    card->gpu.device, table, asleep ? "; some are asleep" : "");
}

static int amdgpu_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct amdgpu *self = calloc(1, sizeof(*self));
	struct watt_env quiet = *env;
	int r;

	if (!self)
		return -ENOMEM;
	quiet.log = (struct watt_log){ 0 };
	self->env = &quiet;
	r = find_cards(self);
	if (r == 0 && !self->n_cards)
		r = -ENODEV;
	diag->error = r;
	diag->state = watt_availability_from_errno(r);
	SAY(path, CLASS "/card*/device/" TABLE);
	if (r == 0)
		explain(self, diag);
	else
		SAY(why, "there is no GPU of AMD's with the driver amdgpu");
	diag->n_channels = (uint32_t)self->n_cards;
	diag->period_ns = METER_PERIOD_NS;
	diag->uncertainty_ppm = UNCERTAINTY_PPM;
	amdgpu_close(&self->power);
	return r;
}

static const char *const watched[] = { CLASS, NULL };

const struct watt_power_ops watt_power_amdgpu = {
	.name = "amdgpu",
	.summary = "GPUs of AMD: energy, and what they are like",
	.flags = WATT_POWER_BLOCKING,
	.probe = amdgpu_probe,
	.open = amdgpu_open,
	.rescan = amdgpu_rescan,
	.watched = watched,
	.read = amdgpu_read,
	.close = amdgpu_close,
};
