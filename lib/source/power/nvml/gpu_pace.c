/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the two instants between which the newest value came, and where the next one lies: a
 * period later, some slack earlier and later. What is seen is cut with that. Where nothing is left
 * of it, the sensor does not keep its time so well: what is seen is believed, and the slack grows;
 * else it shrinks. It reads nothing itself.
 */
#include "source/power/nvml/gpu_pace.h"

#include "base/util.h"

/* Of the period: what a good clock may be off, and the worst that is still of use. */
#define MIN_SLACK 1000
#define MAX_SLACK 16
/* It gets smaller by a part of itself with each value that comes when it should. */
#define SLACK_DECAY 16
/* A part of what it contradicts goes into the period; over so many periods. */
#define PERIOD_GAIN 2
#define MAX_SPAN 8
/* The period is what it is told to be, within a quarter. */
#define PERIOD_RANGE 4
/* That part of it, where the value was the same and nobody saw it come. */
#define UNSEEN 16
/* While nobody looked before a value came, that much more, doubled as often. */
#define MAX_DOUBTS 9
/* How often a value that is late is looked for, later and later. */
#define MAX_AGAIN 3

/* The times between which something lies. */
struct span {
	uint64_t from_ns, to_ns;
};

static uint64_t middle_ns(struct span span)
{
	return span.from_ns + (span.to_ns - span.from_ns) / 2;
}

void watt_gpu_pace_init(struct watt_gpu_pace *pace, uint64_t period_ns, bool must_move)
{
	*pace = (struct watt_gpu_pace){ .told_ns = period_ns,
					.period_ns = period_ns,
					.slack_ns = period_ns / MAX_SLACK,
					.must_move = must_move };
}

void watt_gpu_pace_seed(struct watt_gpu_pace *pace, uint64_t from_ns, uint64_t to_ns,
			uint64_t read_ns)
{
	pace->from_ns = from_ns;
	pace->to_ns = to_ns;
	pace->before_ns = pace->after_ns = read_ns;
}

void watt_gpu_pace_lose(struct watt_gpu_pace *pace)
{
	pace->from_ns = pace->to_ns = pace->before_ns = pace->after_ns = 0;
	pace->slack_ns = pace->told_ns / MAX_SLACK;
	pace->n_again = pace->n_doubts = 0;
	pace->mark_from_ns = pace->mark_to_ns = 0;
}

/* Where the value n periods behind the newest one lies. Only where that is known. */
static struct span expect(const struct watt_gpu_pace *pace, uint64_t n)
{
	uint64_t slack_ns = WATT_MIN(n * pace->slack_ns, pace->period_ns / 2);
	uint64_t doubt_ns = WATT_MIN(slack_ns << pace->n_doubts, pace->period_ns / 2);

	return (struct span){ pace->from_ns + n * pace->period_ns - doubt_ns,
			      pace->to_ns + n * pace->period_ns + slack_ns };
}

/* How many periods behind the newest value this is; at least one. */
static uint64_t count_periods(const struct watt_gpu_pace *pace, uint64_t t_ns)
{
	uint64_t newest_ns = middle_ns((struct span){ pace->from_ns, pace->to_ns });
	uint64_t age_ns = t_ns > newest_ns ? t_ns - newest_ns : 0;

	return WATT_MAX((age_ns + pace->period_ns / 2) / pace->period_ns, (uint64_t)1);
}

/* As far as it contradicts the times of two values that are some periods apart. */
static void learn_period(struct watt_gpu_pace *pace, struct span found)
{
	uint64_t n, shortest_ns, longest_ns, period_ns = pace->period_ns;
	struct span mark = { pace->mark_from_ns, pace->mark_to_ns };

	n = (middle_ns(found) - middle_ns(mark) + period_ns / 2) / period_ns;
	if (mark.to_ns && n && found.from_ns > mark.to_ns) {
		shortest_ns = (found.from_ns - mark.to_ns) / n;
		longest_ns = (found.to_ns - mark.from_ns) / n;
		period_ns = WATT_MIN(WATT_MAX(period_ns, shortest_ns), longest_ns);
		period_ns = WATT_MAX(period_ns, pace->told_ns - pace->told_ns / PERIOD_RANGE);
		period_ns = WATT_MIN(period_ns, pace->told_ns + pace->told_ns / PERIOD_RANGE);
		pace->period_ns += (uint64_t)((int64_t)(period_ns - pace->period_ns) / PERIOD_GAIN);
	}
	if (!mark.to_ns || n >= MAX_SPAN || pace->slack_ns > pace->told_ns / MAX_SLACK / 4) {
		pace->mark_from_ns = found.from_ns;
		pace->mark_to_ns = found.to_ns;
	}
}

/* What is both expected and seen; what is seen, where that is nothing. */
static struct span cut(struct watt_gpu_pace *pace, struct span seen)
{
	uint64_t n = count_periods(pace, middle_ns(seen));
	struct span expected = expect(pace, n), found;

	found.from_ns = WATT_MAX(expected.from_ns, seen.from_ns);
	found.to_ns = WATT_MIN(expected.to_ns, seen.to_ns);
	pace->n_doubts = seen.from_ns < expected.from_ns ?
				 WATT_MIN(pace->n_doubts + 1, (unsigned int)MAX_DOUBTS) :
				 0;
	if (found.from_ns > found.to_ns) {
		pace->slack_ns *= 2;
		found = seen;
	} else if (!pace->n_doubts) {
		pace->slack_ns -= pace->slack_ns / SLACK_DECAY;
	}
	pace->slack_ns = WATT_MIN(WATT_MAX(pace->slack_ns, pace->told_ns / MIN_SLACK),
				  pace->told_ns / MAX_SLACK);
	if (!pace->n_doubts)
		learn_period(pace, found);
	return found;
}

/* It came since the reading before, and no longer ago than a period, or there were others since. */
static void see_another(struct watt_gpu_pace *pace, uint64_t before_ns, uint64_t after_ns)
{
	uint64_t period_ago_ns = before_ns > pace->told_ns ? before_ns - pace->told_ns : 0;
	uint64_t from_ns = WATT_MAX(pace->before_ns, period_ago_ns);
	struct span seen = { from_ns, after_ns };

	/* which of several values it is, of a reading that took so long, nobody knows */
	if (pace->to_ns && after_ns - before_ns < pace->period_ns / 2)
		seen = cut(pace, seen);
	pace->from_ns = seen.from_ns;
	pace->to_ns = seen.to_ns;
	pace->n_again = 0;
}

/* One that has never moved since it is looked at. */
static bool begin_unseen(struct watt_gpu_pace *pace, uint64_t before_ns)
{
	if (pace->must_move || before_ns < pace->told_ns)
		return false;
	pace->from_ns = before_ns - pace->told_ns;
	pace->to_ns = before_ns;
	return true;
}

/* Whether a value that is the same has come meanwhile. */
static bool pass_unseen(struct watt_gpu_pace *pace, uint64_t before_ns)
{
	uint64_t n, drift_ns;
	struct span passed;

	if (!pace->to_ns)
		return begin_unseen(pace, before_ns);
	if (before_ns <= pace->to_ns)
		return false;
	n = WATT_MAX((before_ns - pace->to_ns) / pace->period_ns, (uint64_t)1);
	if (before_ns < expect(pace, n).to_ns)
		return false;
	if (pace->must_move) {
		pace->n_again++;
		return false;
	}
	/* nobody saw it: it is less and less known when it was, but to a period */
	drift_ns = n * pace->slack_ns / UNSEEN;
	passed = (struct span){ pace->from_ns + n * pace->period_ns - drift_ns,
				pace->to_ns + n * pace->period_ns + drift_ns };
	if (passed.to_ns - passed.from_ns > pace->period_ns) {
		passed.from_ns = middle_ns(passed) - pace->period_ns / 2;
		passed.to_ns = passed.from_ns + pace->period_ns;
	}
	pace->from_ns = passed.from_ns;
	pace->to_ns = passed.to_ns;
	return true;
}

bool watt_gpu_pace_see(struct watt_gpu_pace *pace, uint64_t before_ns, uint64_t after_ns,
		       bool is_another)
{
	bool has_come = is_another && pace->after_ns;

	if (has_come)
		see_another(pace, before_ns, after_ns);
	else if (pace->after_ns)
		has_come = pass_unseen(pace, before_ns);
	pace->before_ns = before_ns;
	pace->after_ns = after_ns;
	return has_come;
}

uint64_t watt_gpu_pace_next_ns(const struct watt_gpu_pace *pace)
{
	uint64_t now_ns = pace->after_ns, n, middle, behind_ns;
	struct span expected;

	if (!now_ns)
		return 0;
	if (!pace->to_ns)
		return now_ns + pace->told_ns / 2;
	n = now_ns > pace->to_ns ? (now_ns - pace->to_ns) / pace->period_ns : 0;
	for (n = WATT_MAX(n, (uint64_t)1);; n++) {
		expected = expect(pace, n);
		middle = middle_ns(expected);
		behind_ns = expected.to_ns + pace->slack_ns;
		if (now_ns < middle)
			return middle;
		if (now_ns < behind_ns)
			return behind_ns;
		/* it is late: it was not there when it had to be */
		if (pace->n_again && pace->n_again <= MAX_AGAIN)
			return now_ns + (pace->slack_ns << pace->n_again);
	}
}
