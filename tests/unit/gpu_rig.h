/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU of the fake NVML, measured by what the library has for that, on the script's time: its
 * channels, readings, news and curves; and what was true.
 */
#ifndef WATT_TESTS_GPU_RIG_H
#define WATT_TESTS_GPU_RIG_H

#include "fake_nvml.h"
#include "source/host/nvml.h"
#include "source/power/nvml/counter_check.h"
#include "source/power/nvml/gpu_news.h"
#include "source/power/nvml/gpu_reading.h"
#include "source/registry.h"
#include "timeline/timeline.h"

#define MS WATT_NSEC_PER_MSEC
#define US WATT_NSEC_PER_USEC
#define S WATT_NSEC_PER_SEC

#define RIG_STEPS 1024

/* How it is read. */
enum rig_pace {
	RIG_AT_VALUES,   /* as the source does: where a value is expected */
	RIG_AT_INTERVALS /* at fixed times, and a value is taken for half a reading old */
};

struct rig;

/* Told what a reading made of the first channel, while the clock stands where it was read. */
typedef void (*rig_seen_fn)(void *arg, const struct rig *rig, const struct watt_sample *first);

struct rig {
	struct fake fake;
	struct watt_power *power;
	struct watt_nvml *nvml;
	struct watt_gpu_news news;
	struct watt_channel *copies[WATT_GPU_MAX_METERS];
	struct watt_timeline *timeline;
	uint32_t n; /* channels of the GPU's first group that are used */
	uint64_t n_reads, first_ns, last_ns;
	uint64_t steps_ns[RIG_STEPS]; /* what the samples of the first channel speak of */
	size_t n_steps;
	/* so long before the first reading the counter was checked, as the source does; 0: never */
	uint64_t checked_ns;
	rig_seen_fn seen; /* NULL: nobody wants to know */
	void *seen_arg;
};

/* n_used: 0: all of its first group. */
static inline void rig_init(struct rig *rig, const char *script, uint32_t n_used)
{
	uint32_t i;

	*rig = (struct rig){ 0 };
	fake_init(&rig->fake, "WATT_FAKE_NVML", script);
	assert_int_equal(watt_power_nvml.open(&rig->fake.env, &rig->power), 0);
	assert_int_equal(watt_nvml_open(&rig->fake.env, &rig->nvml, NULL), 0);
	rig->n = n_used ? n_used : rig->power->groups[0].n;
	assert_in_range(rig->n, 1, WATT_GPU_MAX_METERS);
	for (i = 0; i < rig->n; i++)
		assert_int_equal(watt_channel_copy(&rig->power->channels[i], &rig->copies[i]), 0);
}

static inline void rig_drop(struct rig *rig)
{
	rig->timeline = watt_timeline_free(rig->timeline);
}

static inline void rig_done(struct rig *rig)
{
	uint32_t i;

	rig_drop(rig);
	for (i = 0; i < rig->n; i++)
		watt_channel_free(rig->copies[i]);
	watt_nvml_close(rig->nvml);
	rig->power->ops->close(rig->power);
	fake_done(&rig->fake);
}

static inline enum watt_gpu_way rig_way(const struct watt_channel *channel)
{
	const char *part = strrchr(channel->name, '/');

	return channel->quantity == WATT_QUANTITY_ENERGY ? WATT_WAY_COUNTER :
	       part && !strcmp(part, "/average")         ? WATT_WAY_AVERAGE :
							   WATT_WAY_INSTANT;
}

static inline void rig_read(struct rig *rig, uint64_t t_ns, struct watt_sample *samples)
{
	uint32_t i;

	rig->fake.set_clock(t_ns + 20 * US);
	rig->n_reads++;
	for (i = 0; i < rig->n; i++) {
		samples[i] = (struct watt_sample){ .t_before_ns = t_ns,
						   .t_after_ns = t_ns + 40 * US,
						   .channel = i };
		assert_int_equal(watt_gpu_read(rig->nvml, &rig->nvml->gpus[0],
					       rig_way(rig->copies[i]), WATT_SCOPE_GPU,
					       &samples[i].raw),
				 0);
	}
}

/* What the source does when it is opened: looks at the counter until it believes it. */
static inline void rig_check(struct rig *rig, uint64_t t_ns)
{
	struct watt_counter_check check = { 0 };
	struct watt_sample samples[WATT_GPU_MAX_METERS];
	int64_t power_mw;

	do {
		rig_read(rig, t_ns, samples);
		assert_int_equal(watt_gpu_read(rig->nvml, &rig->nvml->gpus[0], WATT_WAY_INSTANT,
					       WATT_SCOPE_GPU, &power_mw),
				 0);
		t_ns += 5 * MS;
	} while (!watt_counter_check_push(&check, t_ns - 5 * MS, samples[0].raw, power_mw));
	assert_int_equal(check.verdict, WATT_COUNTER_TRUSTED);
	watt_gpu_news_seed(&rig->news, check.energy_mj, check.last_from_ns, check.last_to_ns,
			   check.t_ns);
}

/* step_ns: between readings at fixed times. */
static inline void rig_measure(struct rig *rig, enum rig_pace pace, uint64_t from_ns,
			       uint64_t to_ns, uint64_t step_ns)
{
	struct watt_sample samples[WATT_GPU_MAX_METERS];
	uint64_t t_ns = from_ns;
	uint32_t i;

	rig_drop(rig);
	for (i = 0; i < rig->n; i++) {
		/* a counter's step is seen half a reading after it, a power is half a period old */
		uint64_t age_ns = rig->copies[i]->quantity == WATT_QUANTITY_ENERGY ?
					  step_ns / 2 :
					  rig->copies[i]->period_ns / 2;

		rig->copies[i]->delay_ns = rig->power->channels[i].delay_ns;
		rig->copies[i]->flags = rig->power->channels[i].flags;
		if (pace == RIG_AT_VALUES)
			continue;
		rig->copies[i]->delay_ns += age_ns;
		if (rig->copies[i]->quantity == WATT_QUANTITY_POWER)
			rig->copies[i]->flags &= ~(uint32_t)WATT_CHANNEL_STEPS;
	}
	assert_int_equal(watt_timeline_new((const struct watt_channel *const *)rig->copies, rig->n,
					   &rig->timeline),
			 0);
	watt_gpu_news_init(&rig->news, rig->power->channels, rig->n);
	if (rig->checked_ns)
		rig_check(rig, from_ns - rig->checked_ns);
	rig->first_ns = from_ns;
	rig->last_ns = to_ns;
	rig->n_steps = 0;
	for (rig->n_reads = 0; t_ns < to_ns;) {
		rig_read(rig, t_ns, samples);
		if (pace == RIG_AT_VALUES)
			watt_gpu_news_take(&rig->news, samples, rig->n);
		if (samples[0].status == WATT_STATUS_OK && rig->seen)
			rig->seen(rig->seen_arg, rig, &samples[0]);
		if (samples[0].status == WATT_STATUS_OK && rig->n_steps < RIG_STEPS)
			rig->steps_ns[rig->n_steps++] =
				samples[0].t_before_ns +
				(samples[0].t_after_ns - samples[0].t_before_ns) / 2 -
				rig->copies[0]->delay_ns;
		for (i = 0; i < rig->n; i++)
			if (samples[i].status != WATT_STATUS_NOTHING_NEW)
				assert_in_range(watt_timeline_push(rig->timeline, &samples[i]), 0,
						1);
		t_ns = pace == RIG_AT_VALUES ? watt_gpu_pace_next_ns(&rig->news.pace) :
					       t_ns + step_ns;
	}
}

static inline int64_t rig_energy_nj(const struct rig *rig, uint64_t from_ns, uint64_t to_ns)
{
	watt_i128 e0_nj, e1_nj;

	assert_int_equal(watt_timeline_energy_nj(rig->timeline, 0, from_ns, &e0_nj), 0);
	assert_int_equal(watt_timeline_energy_nj(rig->timeline, 0, to_ns, &e1_nj), 0);
	return (int64_t)(e1_nj - e0_nj);
}

/* Mean power around an instant, in W. */
static inline double rig_power_w(const struct rig *rig, uint64_t t_ns, uint64_t width_ns)
{
	return (double)rig_energy_nj(rig, t_ns - width_ns / 2, t_ns + width_ns / 2) /
	       (double)width_ns;
}

static inline double rig_true_w(const struct rig *rig, uint64_t t_ns, uint64_t width_ns)
{
	return (double)rig->fake.energy_nj(0, t_ns - width_ns / 2, t_ns + width_ns / 2) /
	       (double)width_ns;
}

#endif
