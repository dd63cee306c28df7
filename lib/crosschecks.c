/* SPDX-License-Identifier: Apache-2.0 */
/* Compares duplicate channels with those in use. Reads nothing itself. */
#include "crosschecks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"

/* Counters move every ms or so: 2 s leave 0.1 %. */
#define COMPARE_AFTER_NS (2 * WATT_NSEC_PER_SEC)

int watt_crosschecks_add(struct watt_crosschecks *dups, const struct watt_channel *used,
			 uint32_t used_index, const struct watt_channel *duplicate,
			 uint32_t duplicate_index)
{
	int r;

	r = watt_grow((void **)&dups->list, &dups->cap, dups->n, sizeof(*dups->list));
	if (r < 0)
		return r;
	dups->list[dups->n++] = (struct watt_crosscheck_pair){
		.used = used_index,
		.duplicate = duplicate_index,
		.used_reading.channel = used,
		.duplicate_reading.channel = duplicate,
		.error = -EAGAIN,
	};
	return 0;
}

void watt_crosschecks_done(struct watt_crosschecks *dups)
{
	free(dups->list);
	*dups = (struct watt_crosschecks){ 0 };
}

static uint64_t distance_ns(const struct watt_sample *a, const struct watt_sample *b)
{
	return a->t_before_ns > b->t_before_ns ? a->t_before_ns - b->t_before_ns :
						 b->t_before_ns - a->t_before_ns;
}

static void take_pair(struct watt_crosscheck_pair *dup, const struct watt_sample *used,
		      const struct watt_sample *duplicate)
{
	if (dup->n_pairs == 0) {
		dup->used_reading.first = *used;
		dup->duplicate_reading.first = *duplicate;
	}
	dup->used_reading.last = *used;
	dup->duplicate_reading.last = *duplicate;
	dup->n_pairs++;
}

/* A duplicate may be read much less often: each of its readings goes with the nearest of the other. */
static void take_used(struct watt_crosscheck_pair *dup, const struct watt_sample *sample)
{
	const struct watt_sample *nearest = sample;

	if (dup->waiting.t_after_ns) {
		if (dup->newest_used.t_after_ns && distance_ns(&dup->newest_used, &dup->waiting) <
							   distance_ns(sample, &dup->waiting))
			nearest = &dup->newest_used;
		take_pair(dup, nearest, &dup->waiting);
		dup->waiting.t_after_ns = 0;
	}
	dup->newest_used = *sample;
}

void watt_crosschecks_push(struct watt_crosschecks *dups, const struct watt_sample *sample)
{
	size_t i;

	if (sample->status != WATT_STATUS_OK)
		return;
	for (i = 0; i < dups->n; i++) {
		if (dups->list[i].used == sample->channel)
			take_used(&dups->list[i], sample);
		if (dups->list[i].duplicate == sample->channel)
			dups->list[i].waiting = *sample;
	}
	if (dups->n && !dups->due_ns && !dups->is_done)
		dups->due_ns = sample->t_after_ns + COMPARE_AFTER_NS;
}

static void compare(struct watt_crosscheck_pair *dup, const struct watt_log *log)
{
	const struct watt_crosscheck *result = &dup->result;

	if (dup->n_pairs < 2 || dup->error != -EAGAIN)
		return;
	dup->error = watt_crosscheck(&dup->used_reading, &dup->duplicate_reading, &dup->result);
	if (dup->error < 0 || result->is_agreeing)
		return;
	watt_log(log, WATT_LOG_WARNING,
		 "%s and %s measure %s and do not agree: %.3f W and %.3f W; %s is used",
		 dup->used_reading.channel->name, dup->duplicate_reading.channel->name,
		 dup->used_reading.channel->domain, (double)result->power_a_uw / 1e6,
		 (double)result->power_b_uw / 1e6, dup->used_reading.channel->name);
}

void watt_crosschecks_compare(struct watt_crosschecks *dups, uint64_t now_ns,
			      const struct watt_log *log)
{
	size_t i;

	if (!dups->due_ns || now_ns < dups->due_ns)
		return;
	for (i = 0; i < dups->n; i++)
		compare(&dups->list[i], log);
	dups->is_done = true;
	for (i = 0; i < dups->n; i++)
		dups->is_done &= dups->list[i].error != -EAGAIN;
	dups->due_ns = dups->is_done ? 0 : now_ns + COMPARE_AFTER_NS;
}

const struct watt_crosscheck_pair *watt_crosschecks_find(const struct watt_crosschecks *dups,
							 size_t index)
{
	size_t i;

	for (i = 0; i < dups->n; i++)
		if (dups->list[i].duplicate == index)
			return &dups->list[i];
	return NULL;
}
