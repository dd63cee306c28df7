/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of what was written last, by channel, by task and by CPU.
 * It must not know how differences are stored.
 */
#include "record/predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define MIN_TASKS 64

int watt_predict_init(struct watt_predict *predict, uint32_t n_channels)
{
	*predict = (struct watt_predict){ .n_channels = n_channels };
	predict->channels = calloc((size_t)n_channels + 1, sizeof(*predict->channels));
	return predict->channels ? 0 : -ENOMEM;
}

int watt_predict_grow(struct watt_predict *predict, uint32_t n_channels)
{
	struct watt_predict_channel *channels;

	if (n_channels <= predict->n_channels)
		return 0;
	channels = reallocarray(predict->channels, (size_t)n_channels + 1, sizeof(*channels));
	if (!channels)
		return -ENOMEM;
	memset(channels + predict->n_channels, 0,
	       (n_channels - predict->n_channels + 1) * sizeof(*channels));
	predict->channels = channels;
	predict->n_channels = n_channels;
	return 0;
}

void watt_predict_done(struct watt_predict *predict)
{
	free(predict->channels);
	free(predict->tasks);
	free(predict->slots);
	free(predict->cpus);
	free(predict->activities);
	*predict = (struct watt_predict){ 0 };
}

void watt_predict_clear(struct watt_predict *predict)
{
	if (predict->channels)
		memset(predict->channels, 0, predict->n_channels * sizeof(*predict->channels));
	if (predict->slots)
		memset(predict->slots, 0, predict->n_slots * sizeof(*predict->slots));
	if (predict->cpus)
		memset(predict->cpus, 0, predict->n_cpus * sizeof(*predict->cpus));
	predict->batch = (struct watt_usage_batch){ 0 };
	predict->t_after_ns = predict->advance_ns = predict->complete_ns = 0;
	predict->activity_pid = 0;
	if (predict->activities)
		memset(predict->activities, 0,
		       WATT_PREDICT_ACTIVITIES * sizeof(*predict->activities));
	predict->channel = predict->n_tasks = predict->tid = 0;
}

static uint32_t *find_slot(const struct watt_predict *predict, uint32_t tid)
{
	uint32_t mask = predict->n_slots - 1;
	uint32_t at = (uint32_t)watt_hash_u64(tid) & mask;

	while (predict->slots[at] && predict->tasks[predict->slots[at] - 1].tid != tid)
		at = (at + 1) & mask;
	return &predict->slots[at];
}

int watt_predict_reserve_tasks(struct watt_predict *predict, size_t n)
{
	size_t want = predict->n_tasks + n, cap = WATT_MAX(predict->cap_tasks, (uint32_t)MIN_TASKS);
	struct watt_usage *tasks;
	uint32_t *slots, i;

	if (predict->slots && want <= predict->cap_tasks)
		return 0;
	while (cap < want)
		cap *= 2;
	if (cap > UINT32_MAX / 4)
		return -ENOMEM;
	tasks = reallocarray(predict->tasks, cap, sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	predict->tasks = tasks;
	slots = calloc(cap * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(predict->slots);
	predict->slots = slots;
	predict->n_slots = (uint32_t)cap * 2;
	predict->cap_tasks = (uint32_t)cap;
	for (i = 0; i < predict->n_tasks; i++)
		*find_slot(predict, tasks[i].tid) = i + 1;
	return 0;
}

int watt_predict_reserve_cpus(struct watt_predict *predict, size_t n)
{
	struct watt_cpu_time *cpus;

	if (n <= predict->n_cpus)
		return 0;
	cpus = reallocarray(predict->cpus, n, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	memset(cpus + predict->n_cpus, 0, (n - predict->n_cpus) * sizeof(*cpus));
	predict->cpus = cpus;
	predict->n_cpus = n;
	return 0;
}

struct watt_usage *watt_predict_task(struct watt_predict *predict, uint32_t tid)
{
	uint32_t *slot = find_slot(predict, tid);
	struct watt_usage *task;

	if (*slot)
		return &predict->tasks[*slot - 1];
	task = &predict->tasks[predict->n_tasks++];
	*slot = predict->n_tasks;
	*task = (struct watt_usage){ .tid = tid, .tgid = tid };
	return task;
}

int watt_predict_reserve_activities(struct watt_predict *predict)
{
	if (!predict->activities)
		predict->activities = calloc(WATT_PREDICT_ACTIVITIES, sizeof(*predict->activities));
	return predict->activities ? 0 : -ENOMEM;
}

struct watt_activity *watt_predict_activity(struct watt_predict *predict, uint32_t pid,
					    uint32_t place)
{
	uint64_t hash = watt_hash_u64(pid | (uint64_t)place << 32);

	return &predict->activities[hash % WATT_PREDICT_ACTIVITIES];
}
