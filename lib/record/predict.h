/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the next values of a chunk are likely to be, from those before them: writer and reader
 * keep the same. Empty at the begin of each chunk. One thread per object.
 */
#ifndef WATT_RECORD_PREDICT_H
#define WATT_RECORD_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/sample.h>

#include "base/activity.h"
#include "base/usage.h"

struct watt_predict_channel {
	uint64_t t_before_ns; /* of its last sample */
	uint64_t step_ns;     /* from the one before it */
	int64_t raw;
	bool is_seen;
};

struct watt_predict {
	/* of the last sample of any channel; channel: the next one is expected to be this */
	uint64_t t_after_ns;
	uint32_t channel;
	struct watt_predict_channel *channels;
	uint32_t n_channels;
	/* the last record of each task */
	struct watt_usage *tasks;
	uint32_t n_tasks;
	uint32_t cap_tasks;
	uint32_t *slots; /* 1 + index into tasks; 0: free */
	uint32_t n_slots;
	uint32_t tid; /* of the last record */
	/* the last batch; its cpus are kept in a table */
	struct watt_usage_batch batch;
	struct watt_cpu_time *cpus;
	size_t n_cpus;
	uint64_t advance_ns;
	/* the last batch of activities */
	uint64_t complete_ns;
	uint32_t activity_pid;
	struct watt_activity *activities; /* by hashes of pids; one may be of another pid */
};

#define WATT_PREDICT_ACTIVITIES 1024

/* 0 or -ENOMEM. */
int watt_predict_init(struct watt_predict *predict, uint32_t n_channels);
/* There are so many channels now. 0 or -ENOMEM. */
int watt_predict_grow(struct watt_predict *predict, uint32_t n_channels);
/* Accepts one of zeros. */
void watt_predict_done(struct watt_predict *predict);
/* Forgets all. */
void watt_predict_clear(struct watt_predict *predict);
/* Makes room for so many tasks more. 0 or -ENOMEM. */
int watt_predict_reserve_tasks(struct watt_predict *predict, size_t n);
/* Makes room for that many CPUs. 0 or -ENOMEM. */
int watt_predict_reserve_cpus(struct watt_predict *predict, size_t n);
/* Makes room for activities. 0 or -ENOMEM. */
int watt_predict_reserve_activities(struct watt_predict *predict);
/* The last reading like this one, which the next one is to replace; needs room. */
struct watt_activity *watt_predict_activity(struct watt_predict *predict, uint32_t pid,
					    uint32_t place);
/* The last record of a task, which the next one is to replace; needs room. */
struct watt_usage *watt_predict_task(struct watt_predict *predict, uint32_t tid);

/*
 * When a sample is read: in one pass the channels follow each other at once; the first of a pass
 * comes as long after its last reading as that one after the one before.
 */
static inline uint64_t watt_predict_sample_ns(const struct watt_predict *predict, uint32_t channel)
{
	const struct watt_predict_channel *own = &predict->channels[channel];

	if (channel >= predict->channel || !own->is_seen)
		return predict->t_after_ns;
	return own->t_before_ns + own->step_ns;
}

static inline void watt_predict_take_sample(struct watt_predict *predict,
					    const struct watt_sample *sample)
{
	struct watt_predict_channel *own = &predict->channels[sample->channel];

	own->step_ns = own->is_seen ? sample->t_before_ns - own->t_before_ns : 0;
	own->t_before_ns = sample->t_before_ns;
	own->raw = sample->raw;
	own->is_seen = true;
	predict->t_after_ns = sample->t_after_ns;
	predict->channel = sample->channel + 1;
}

#endif
