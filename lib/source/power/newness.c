/* SPDX-License-Identifier: Apache-2.0 */
/* Times and numbers tell for sure; values and ETags only when they change. */
#include "source/power/newness.h"

#include <string.h>

#include "base/clock.h"
#include "base/util.h"

/* What changes less often changes when the load does: no cadence is learnt of it. */
#define MAX_STEP_NS (60 * WATT_NSEC_PER_SEC)
#define MAX_TIMED_STEP_NS (600 * WATT_NSEC_PER_SEC)

enum news {
	AGAIN,
	UNKNOWN, /* a value that stands still may have been measured anew */
	NEW,
};

static enum news get_news(const struct watt_newness *newness,
			  const struct watt_bmc_reading *reading, const char *etag)
{
	const struct watt_bmc_reading *newest = &newness->newest;

	if (!newness->has_newest)
		return NEW;
	if (reading->time_ns)
		return reading->time_ns == newest->time_ns ? AGAIN : NEW;
	if (reading->sequence)
		return reading->sequence == newest->sequence ? AGAIN : NEW;
	/* an ETag may leave out what is measured: the same one says nothing */
	return reading->value != newest->value || strcmp(etag, newness->etag) ? NEW : UNKNOWN;
}

/* How long after the one before it is: by the times that both have, else by when they came. */
static uint64_t get_step_ns(const struct watt_newness *newness,
			    const struct watt_bmc_reading *reading, uint64_t now_ns)
{
	int64_t before_ns = newness->newest.time_ns;
	uint64_t step_ns;

	if (!reading->time_ns) {
		step_ns = newness->changed_ns ? now_ns - newness->changed_ns : 0;
		return step_ns <= MAX_STEP_NS ? step_ns : 0;
	}
	if (!before_ns || reading->time_ns < before_ns)
		return 0;
	step_ns = (uint64_t)(reading->time_ns - before_ns);
	return step_ns <= MAX_TIMED_STEP_NS ? step_ns : 0;
}

static void learn_cadence(struct watt_newness *newness, uint64_t step_ns)
{
	if (!newness->cadence_ns || step_ns < newness->cadence_ns)
		newness->cadence_ns = step_ns; /* more may be one that was missed */
	else if (step_ns < 2 * newness->cadence_ns)
		newness->cadence_ns += (step_ns - newness->cadence_ns) / 8;
}

/*
 * The second one counts at once, for power is known from two on. Where nobody tells how often it is
 * measured, a value that stands still is all that is known of now, until changes tell it.
 */
static uint64_t get_heartbeat_ns(const struct watt_newness *newness, uint64_t max_ns)
{
	if (newness->cadence_ns)
		return WATT_MIN(newness->cadence_ns + newness->cadence_ns / 2, max_ns);
	return newness->has_two ? WATT_MIN(newness->usual_ns, max_ns) : 0;
}

/* Since when a value that stands still may be there again. */
static uint64_t get_beat_ns(const struct watt_newness *newness, uint64_t now_ns)
{
	uint64_t beat_ns;

	if (!newness->cadence_ns || !newness->changed_ns)
		return now_ns;
	beat_ns = now_ns - (now_ns - newness->changed_ns) % newness->cadence_ns;
	return beat_ns > newness->taken_ns ? beat_ns : now_ns;
}

bool watt_newness_take(struct watt_newness *newness, const struct watt_bmc_reading *reading,
		       const char *etag, uint64_t now_ns, uint64_t max_heartbeat_ns)
{
	uint64_t heartbeat_ns = get_heartbeat_ns(newness, max_heartbeat_ns);
	enum news news = get_news(newness, reading, etag);
	uint64_t step_ns;

	if (news == AGAIN || (news == UNKNOWN && !newness->is_interrupted &&
			      now_ns - newness->taken_ns < heartbeat_ns))
		return false;
	if (news == NEW && newness->has_newest) {
		step_ns = get_step_ns(newness, reading, now_ns);
		if (step_ns)
			learn_cadence(newness, step_ns);
		/* since when the first one was there, nobody knows */
		newness->changed_ns = now_ns;
	}
	newness->newest = *reading;
	newness->has_two = newness->has_newest;
	newness->has_newest = true;
	newness->is_interrupted = false;
	newness->taken_ns = news == NEW ? now_ns : get_beat_ns(newness, now_ns);
	watt_strlcpy(newness->etag, etag, sizeof(newness->etag));
	return true;
}

void watt_newness_interrupt(struct watt_newness *newness)
{
	newness->changed_ns = 0;
	newness->is_interrupted = true;
}
