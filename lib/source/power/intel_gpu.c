/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What GPUs of Intel's are like, by the files of i915 and xe: clock, how long they were awake, what
 * holds them back. Their energy is hwmon's, or RAPL's. Nobody is accounted for any of it, and none
 * that sleeps is woken.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/util.h"
#include "source/channels.h"
#include "source/host/drm_gpu.h"
#include "source/host/status.h"
#include "source/registry.h"

#define CLASS "class/drm"
#define PATH_SIZE 192
#define PERIOD_NS WATT_NSEC_PER_SEC
#define N_GAUGES 7
#define MAX_FILES 4

enum form {
	NUMBER,    /* times a factor */
	ANY,       /* 100 % if any of its files says 1 */
	RESIDENCE, /* ms asleep so far: the part of the time since the reading before that was not */
};

/* Below class/drm/cardN; with '@' first, of the device's hwmonN. Whichever is there first. */
struct gauge {
	const char *part; /* of the channel's name */
	enum watt_quantity quantity;
	enum form form;
	int64_t mul;
	const char *files[MAX_FILES]; /* of ANY all that there are, else the first */
};

#define XE "device/tile0/gt0/"
#define I915 "gt/gt0/"

/* Of a driver: its name, and what it tells. Of several engines or tiles, the first ones. */
static const struct driver {
	const char *name;
	struct gauge gauges[N_GAUGES];
} drivers[] = {
	{ "i915",
	  { { "clock",
	      WATT_QUANTITY_FREQUENCY,
	      NUMBER,
	      1000000,
	      { I915 "rps_act_freq_mhz", "gt_act_freq_mhz" } },
	    { "awake",
	      WATT_QUANTITY_RATIO,
	      RESIDENCE,
	      1,
	      { I915 "rc6_residency_ms", "power/rc6_residency_ms" } },
	    { "held_by_power",
	      WATT_QUANTITY_RATIO,
	      ANY,
	      1,
	      { I915 "throttle_reason_pl1", I915 "throttle_reason_pl2", I915 "throttle_reason_pl4",
		I915 "throttle_reason_vr_tdc" } },
	    { "held_by_heat",
	      WATT_QUANTITY_RATIO,
	      ANY,
	      1,
	      { I915 "throttle_reason_thermal", I915 "throttle_reason_prochot",
		I915 "throttle_reason_ratl", I915 "throttle_reason_vr_thermalert" } },
	    { "temperature", WATT_QUANTITY_TEMPERATURE, NUMBER, 1, { "@temp1_input" } },
	    { "power_limit", WATT_QUANTITY_LIMIT, NUMBER, 1, { "@power1_max" } } } },
	{ "xe",
	  { { "clock", WATT_QUANTITY_FREQUENCY, NUMBER, 1000000, { XE "freq0/act_freq" } },
	    { "awake", WATT_QUANTITY_RATIO, RESIDENCE, 1, { XE "gtidle/idle_residency_ms" } },
	    { "held_by_power",
	      WATT_QUANTITY_RATIO,
	      ANY,
	      1,
	      { XE "freq0/throttle/reason_pl1", XE "freq0/throttle/reason_pl2",
		XE "freq0/throttle/reason_pl4", XE "freq0/throttle/reason_vr_tdc" } },
	    { "held_by_heat",
	      WATT_QUANTITY_RATIO,
	      ANY,
	      1,
	      { XE "freq0/throttle/reason_thermal", XE "freq0/throttle/reason_prochot",
		XE "freq0/throttle/reason_ratl", XE "freq0/throttle/reason_vr_thermalert" } },
	    { "temperature", WATT_QUANTITY_TEMPERATURE, NUMBER, 1, { "@temp2_input" } },
	    { "memory_temperature", WATT_QUANTITY_TEMPERATURE, NUMBER, 1, { "@temp3_input" } },
	    { "power_limit", WATT_QUANTITY_LIMIT, NUMBER, 1, { "@power1_max" } } } },
};

struct meter {
	const struct gauge *gauge;
	struct watt_file files[MAX_FILES];
	size_t n;
	int64_t asleep_ms; /* RESIDENCE: as it was at read_ns; 0: not read yet */
	uint64_t read_ns;
};

struct card {
	const struct driver *driver;
	struct watt_drm_gpu gpu;
	uint32_t first, n; /* its meters */
};

struct intel_gpu {
	struct watt_power power; /* first */
	const struct watt_env *env;
	struct watt_channels channels;
	struct card cards[WATT_DRM_CARDS];
	size_t n_cards;
	struct meter meters[WATT_DRM_CARDS * N_GAUGES];
	uint32_t group_card[WATT_DRM_CARDS];
	struct watt_power_group groups[WATT_DRM_CARDS];
	uint32_t n_groups;
};

/* ---- reading ---- */

static int read_any(struct meter *meter, int64_t *ret)
{
	bool is_any = false;
	int64_t value;
	size_t i;
	int r = 0;

	for (i = 0; i < meter->n && r == 0; i++) {
		r = watt_file_read_i64(&meter->files[i], &value);
		is_any |= r == 0 && value != 0;
	}
	if (r == 0)
		*ret = is_any ? 1000000 : 0;
	return r;
}

/* A residency is in whole ms: it may seem longer than the time. */
static int read_residence(struct meter *meter, int64_t *ret)
{
	int64_t before_ms = meter->asleep_ms, asleep_ns, value;
	uint64_t before_ns = meter->read_ns, dt_ns;
	int r = watt_file_read_i64(&meter->files[0], &value);

	if (r < 0)
		return r;
	meter->read_ns = watt_now_ns();
	meter->asleep_ms = value;
	dt_ns = meter->read_ns - before_ns;
	if (!before_ns || value < before_ms || dt_ns < WATT_NSEC_PER_MSEC)
		return -EAGAIN;
	asleep_ns = (value - before_ms) < INT64_MAX / 1000000 ? (value - before_ms) * 1000000 :
								INT64_MAX;
	*ret = (uint64_t)asleep_ns >= dt_ns ?
		       0 :
		       (int64_t)((watt_u128)(dt_ns - (uint64_t)asleep_ns) * 1000000 / dt_ns);
	return 0;
}

static int read_meter(struct meter *meter, int64_t *ret)
{
	int64_t value;
	int r;

	if (meter->gauge->form == ANY)
		return read_any(meter, ret);
	if (meter->gauge->form == RESIDENCE)
		return read_residence(meter, ret);
	r = watt_file_read_i64(&meter->files[0], &value);
	if (r == 0 && __builtin_mul_overflow(value, meter->gauge->mul, &value))
		r = -ERANGE;
	if (r == 0)
		*ret = value;
	return r;
}

static void intel_gpu_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct intel_gpu *self = watt_container_of(power, struct intel_gpu, power);
	struct card *card = &self->cards[self->group_card[group]];
	bool sleeps = watt_drm_gpu_is_asleep(&card->gpu);
	uint32_t i;

	for (i = 0; i < card->n; i++) {
		struct meter *meter = &self->meters[card->first + i];
		int64_t value = 0;
		int r = -EAGAIN;

		ret[i].t_before_ns = watt_now_ns();
		if (sleeps)
			meter->read_ns = 0;
		else
			r = read_meter(meter, &value);
		ret[i].t_after_ns = watt_now_ns();
		ret[i].raw = r < 0 ? 0 : value;
		ret[i].status = watt_status_from_errno(r);
	}
}

/* ---- cards ---- */

static const struct driver *find_driver(const char *name)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(drivers); i++)
		if (!strcmp(drivers[i].name, name))
			return &drivers[i];
	return NULL;
}

static int open_card(struct intel_gpu *self, const struct watt_drm_card *found)
{
	struct card *card = &self->cards[self->n_cards];

	*card = (struct card){ .driver = find_driver(found->driver) };
	if (!card->driver)
		return 0;
	self->n_cards++;
	return watt_drm_gpu_open(&card->gpu, self->env, found);
}

static int find_cards(struct intel_gpu *self)
{
	struct watt_drm_cards cards;
	size_t i;
	int r = watt_drm_cards_find(self->env, &cards);

	for (i = 0; r == 0 && i < cards.n; i++)
		r = open_card(self, &cards.list[i]);
	return r == 0 && !self->n_cards ? -ENODEV : r;
}

/* ---- channels ---- */

static void close_meter(struct meter *meter)
{
	size_t i;

	for (i = 0; i < meter->n; i++)
		watt_file_close(&meter->files[i]);
	meter->n = 0;
}

static int open_meter(const struct intel_gpu *self, const struct card *card,
		      const struct gauge *gauge, struct meter *meter)
{
	size_t i;
	int r = 0;

	*meter = (struct meter){ .gauge = gauge };
	for (i = 0; i < MAX_FILES && gauge->files[i] && r >= 0; i++) {
		const char *name = gauge->files[i];
		bool is_hwmon = *name == '@';

		if (meter->n && gauge->form != ANY)
			break;
		r = watt_drm_gpu_open_number(self->env, is_hwmon ? card->gpu.hwmon : card->gpu.card,
					     name + is_hwmon, &meter->files[meter->n]);
		meter->n += r > 0;
	}
	if (r < 0)
		close_meter(meter);
	return r;
}

static int add_gauge(struct intel_gpu *self, const struct card *card, const struct gauge *gauge,
		     const struct watt_known *known)
{
	struct meter *meter = &self->meters[self->channels.n];
	char name[160], domain[160], at[PATH_SIZE + 200];
	struct watt_channel channel = {
		.name = name,
		.source = "intel_gpu",
		.domain = domain,
		.label = gauge->part,
		.path = at,
		.kind = WATT_DOMAIN_GPU,
		.quantity = gauge->quantity,
		.semantics = WATT_SEMANTICS_INSTANT,
		.flags = gauge->quantity == WATT_QUANTITY_TEMPERATURE ? WATT_CHANNEL_SIGNED : 0,
		.group = self->n_groups,
		.package_id = -1,
		.die_id = -1,
		.core_id = -1,
		.scale_num = 1,
		.scale_den = 1,
		.period_ns = PERIOD_NS,
	};
	int r;

	snprintf(name, sizeof(name), "intel_gpu/%s/%s", card->gpu.path, gauge->part);
	snprintf(domain, sizeof(domain), "context/%s/%s", card->gpu.path, gauge->part);
	if (known && watt_known_has(known, name))
		return 0;
	r = open_meter(self, card, gauge, meter);
	if (r < 0 || !meter->n)
		return r;
	snprintf(at, sizeof(at), "%s/%s", self->env->sysfs.path, meter->files[0].path);
	r = watt_channels_add(&self->channels, &channel);
	if (r < 0)
		close_meter(meter);
	return r;
}

static int add_card(struct intel_gpu *self, struct card *card, const struct watt_known *known)
{
	size_t i;
	int r = 0;

	card->first = (uint32_t)self->channels.n;
	for (i = 0; i < N_GAUGES && card->driver->gauges[i].part && r >= 0; i++)
		r = add_gauge(self, card, &card->driver->gauges[i], known);
	card->n = (uint32_t)self->channels.n - card->first;
	if (r < 0 || !card->n)
		return r;
	self->group_card[self->n_groups] = (uint32_t)(card - self->cards);
	self->groups[self->n_groups++] = (struct watt_power_group){ .first = card->first,
								    .n = card->n,
								    .period_ns = PERIOD_NS };
	return 0;
}

/* ---- the source ---- */

static void intel_gpu_close(struct watt_power *power)
{
	struct intel_gpu *self = watt_container_of(power, struct intel_gpu, power);
	size_t i;

	for (i = 0; i < self->channels.n; i++)
		close_meter(&self->meters[i]);
	for (i = 0; i < self->n_cards; i++)
		watt_drm_gpu_close(&self->cards[i].gpu);
	watt_channels_done(&self->channels);
	free(self);
}

/* Of those that all sleep nothing is known: they are asked again. */
static int add_all(struct intel_gpu *self, const struct watt_known *known, uint32_t *ret_n_asleep)
{
	size_t i;
	int r = find_cards(self);

	*ret_n_asleep = 0;
	for (i = 0; i < self->n_cards && r >= 0; i++) {
		if (self->cards[i].gpu.is_asleep)
			(*ret_n_asleep)++;
		else
			r = add_card(self, &self->cards[i], known);
	}
	if (r < 0 || self->channels.n)
		return WATT_MIN(r, 0);
	return *ret_n_asleep ? -EAGAIN : -ENODEV;
}

static int intel_gpu_rescan(const struct watt_env *env, const struct watt_known *known,
			    struct watt_power **ret)
{
	struct intel_gpu *self = calloc(1, sizeof(*self));
	uint32_t n_asleep;
	int r;

	if (!self)
		return -ENOMEM;
	self->env = env;
	r = add_all(self, known, &n_asleep);
	if (r < 0) {
		intel_gpu_close(&self->power);
		return r;
	}
	self->power = (struct watt_power){ .ops = &watt_power_intel_gpu,
					   .channels = self->channels.channel,
					   .n_channels = (uint32_t)self->channels.n,
					   .groups = self->groups,
					   .n_groups = self->n_groups,
					   .n_refused = n_asleep };
	*ret = &self->power;
	return 0;
}

static int intel_gpu_open(const struct watt_env *env, struct watt_power **ret)
{
	return intel_gpu_rescan(env, NULL, ret);
}

/* ---- the probe ---- */

#define SAY(field, ...) snprintf(diag->field, sizeof(diag->field), __VA_ARGS__)

static int intel_gpu_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct intel_gpu *self = calloc(1, sizeof(*self));
	uint32_t n_asleep;
	int r;

	if (!self)
		return -ENOMEM;
	self->env = env;
	r = add_all(self, NULL, &n_asleep);
	diag->error = r;
	diag->state = watt_availability_from_errno(r);
	SAY(path, CLASS "/card*");
	if (r == 0)
		SAY(why, "%zu GPU%s, by %s: %zu values%s", self->n_cards,
		    self->n_cards == 1 ? "" : "s", self->cards[0].driver->name, self->channels.n,
		    n_asleep ? "; some are asleep" : "");
	else if (n_asleep)
		SAY(why, "%u GPU%s, asleep: not woken to be asked", n_asleep,
		    n_asleep == 1 ? "" : "s");
	else if (self->n_cards)
		SAY(why, "%s tells nothing of clocks here", self->cards[0].driver->name);
	else
		SAY(why, "there is no GPU of Intel's with the driver i915 or xe");
	diag->n_channels = (uint32_t)self->channels.n;
	diag->period_ns = PERIOD_NS;
	intel_gpu_close(&self->power);
	return r;
}

static const char *const watched[] = { CLASS, NULL };

const struct watt_power_ops watt_power_intel_gpu = {
	.name = "intel_gpu",
	.summary = "GPUs of Intel: what they are like",
	.flags = WATT_POWER_BLOCKING,
	.probe = intel_gpu_probe,
	.open = intel_gpu_open,
	.rescan = intel_gpu_rescan,
	.watched = watched,
	.read = intel_gpu_read,
	.close = intel_gpu_close,
};
