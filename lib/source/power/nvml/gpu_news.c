/* SPDX-License-Identifier: Apache-2.0 */
/* One value, one sample: in between nothing is told, but for what has failed. */
#include "source/power/nvml/gpu_news.h"

#include "base/util.h"

/* A counter that stands still for so many periods has been counted: nothing was used. */
#define STILL 2
/* Of so many new values, those that come at other times. */
#define MEMORY 64
#define TOGETHER 4

void watt_gpu_news_init(struct watt_gpu_news *news, const struct watt_channel *channels, uint32_t n)
{
	uint32_t i;

	*news = (struct watt_gpu_news){ 0 };
	watt_gpu_pace_init(&news->pace, channels[0].period_ns,
			   channels[0].quantity == WATT_QUANTITY_ENERGY);
	for (i = 0; i < n; i++)
		news->meters[i].period_ns = channels[i].period_ns;
}

void watt_gpu_news_seed(struct watt_gpu_news *news, int64_t raw, uint64_t from_ns, uint64_t to_ns,
			uint64_t still_ns)
{
	news->meters[0].raw = raw;
	news->meters[0].has_raw = true;
	watt_gpu_pace_seed(&news->pace, from_ns, to_ns, still_ns);
}

/* Nothing is known but that it came within the last period. */
static void set_wide(const struct watt_gpu_news *news, uint32_t i, struct watt_sample *sample)
{
	uint64_t period_ns = news->meters[i].period_ns;

	sample->t_before_ns = sample->t_after_ns > period_ns ? sample->t_after_ns - period_ns : 0;
}

/*
 * A counter that moves shows whether others move with it. Next to a power, which may be the same
 * for long, they do until it is seen that they don't.
 */
static bool comes_with_first(const struct watt_gpu_news *news, uint32_t i)
{
	unsigned int n_without = TOGETHER * news->meters[i].n_without;

	return !i || (news->pace.must_move ? news->meters[i].n_with > n_without :
					     news->meters[i].n_with >= n_without);
}

static bool has_moved(const struct watt_gpu_news *news, uint32_t i,
		      const struct watt_sample *sample)
{
	return news->meters[i].has_raw && sample->status == WATT_STATUS_OK &&
	       sample->raw != news->meters[i].raw;
}

/* Both moved at one reading, or one at this and the other at the one just before. */
static void learn_together(struct watt_gpu_news *news, const struct watt_sample *samples,
			   uint32_t n)
{
	bool is_soon = samples[0].t_before_ns < news->pace.before_ns + news->pace.period_ns / 2;
	bool moves = has_moved(news, 0, &samples[0]), moved = news->meters[0].has_moved;
	uint32_t i;

	for (i = 1; i < n; i++) {
		bool other_moves = has_moved(news, i, &samples[i]);
		bool other_moved = news->meters[i].has_moved;

		if (moves && other_moves)
			news->meters[i].n_with++;
		else if (is_soon && ((moves && other_moved) || (other_moves && moved)))
			news->meters[i].n_without++;
		if (news->meters[i].n_with + news->meters[i].n_without >= MEMORY) {
			news->meters[i].n_with /= 2;
			news->meters[i].n_without /= 2;
		}
		news->meters[i].has_moved = other_moves;
	}
	news->meters[0].has_moved = moves;
}

/* A power that is the same, of a sensor that has a new value: another of its values shows it. */
static bool is_another(const struct watt_gpu_news *news, const struct watt_sample *samples,
		       uint32_t n)
{
	bool is = has_moved(news, 0, &samples[0]);
	uint32_t i;

	for (i = 1; i < n && !news->pace.must_move; i++)
		is |= comes_with_first(news, i) && has_moved(news, i, &samples[i]);
	return is;
}

static void keep(struct watt_gpu_news *news, const struct watt_sample *samples, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		news->meters[i].has_raw = samples[i].status == WATT_STATUS_OK;
		news->meters[i].raw = samples[i].raw;
	}
}

static void tell(struct watt_gpu_news *news, struct watt_sample *samples, uint32_t n, bool has_come)
{
	uint32_t i;

	news->told_ns = samples[0].t_after_ns;
	for (i = 0; i < n; i++) {
		if (samples[i].status != WATT_STATUS_OK)
			continue;
		if (has_come && comes_with_first(news, i)) {
			samples[i].t_before_ns = news->pace.from_ns;
			samples[i].t_after_ns = news->pace.to_ns;
		} else {
			set_wide(news, i, &samples[i]);
		}
	}
}

static void hush(struct watt_sample *samples, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (samples[i].status == WATT_STATUS_OK)
			samples[i].status = WATT_STATUS_NOTHING_NEW;
}

void watt_gpu_news_take(struct watt_gpu_news *news, struct watt_sample *samples, uint32_t n)
{
	const struct watt_sample *first = &samples[0];
	bool has_come;

	if (first->status != WATT_STATUS_OK) {
		watt_gpu_pace_lose(&news->pace);
		keep(news, samples, n);
		tell(news, samples, n, false);
		return;
	}
	learn_together(news, samples, n);
	has_come = watt_gpu_pace_see(&news->pace, first->t_before_ns, first->t_after_ns,
				     is_another(news, samples, n));
	/* what is told first is what is there, since its time is known or not */
	if (!news->told_ns)
		has_come = news->pace.to_ns;
	if (has_come || !news->told_ns || !news->meters[0].has_raw ||
	    first->t_after_ns >= news->told_ns + STILL * news->meters[0].period_ns) {
		keep(news, samples, n);
		tell(news, samples, n, has_come);
	} else {
		keep(news, samples, n);
		hush(samples, n);
	}
}
