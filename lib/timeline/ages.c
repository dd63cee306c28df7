/* SPDX-License-Identifier: Apache-2.0 */
/* Histories of the parts, lists of what slow channels said, and a search from time to time. */
#include "timeline/ages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "timeline/history.h"

#define MAX_READINGS 200
/* So many new ones are worth another search; of a channel that is slow, those of so long. */
#define SEARCH_READINGS 10
#define SEARCH_NS (10 * WATT_NSEC_PER_SEC)
/* Searches one after the other in which an age does not hold: it is believed no more. */
#define MAX_DOUBTS 3
/* What a watt more of a part adds to the total, as long as that is guessed. */
#define MIN_GUESSED 0.7
#define MAX_GUESSED 1.7
/* The parts are remembered for so many periods of the slowest, if that is not too long. */
#define KEPT_PERIODS 40
/* A part that has said nothing for so long is not waited for. */
#define PATIENCE_STEPS (10 * WATT_NSEC_PER_SEC / WATT_HISTORY_STEP_NS)

struct age {
	const struct watt_channel *channel;
	int group; /* of parts that share a factor; -1: it is none */
	struct watt_history history;

	struct watt_observation *readings; /* oldest first; NULL: its age is not sought */
	size_t n;
	size_t n_new;
	uint64_t searched_ns;
	int64_t raw;      /* of the newest that was new */
	uint64_t read_ns; /* when that was read */
	bool has_raw;
	struct watt_match match;
	bool is_found;
	struct watt_match guess; /* of the last search, if that found nothing; n 0: there is none */
	unsigned int n_doubts;   /* searches since then in which it did not hold */
};

struct watt_ages {
	struct age *list;
	size_t n;
	double *sums[WATT_MATCH_PARTS]; /* of each group, while it is searched */
};

int watt_ages_new(struct watt_ages **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct watt_ages *watt_ages_free(struct watt_ages *ages)
{
	size_t i;

	if (!ages)
		return NULL;
	for (i = 0; i < ages->n; i++) {
		watt_history_done(&ages->list[i].history);
		free(ages->list[i].readings);
	}
	for (i = 0; i < WATT_MATCH_PARTS; i++)
		free(ages->sums[i]);
	free(ages->list);
	free(ages);
	return NULL;
}

/* Parts of which the machine's total is made, each once: cores are in their package. */
static int group_of(const struct watt_ages *ages, const struct watt_channel *channel)
{
	size_t i;

	if (channel->flags & (WATT_CHANNEL_OVERLAP_UNKNOWN | WATT_CHANNEL_AGE_UNKNOWN) ||
	    channel->origin == WATT_ORIGIN_ESTIMATED)
		return -1;
	for (i = 0; i < ages->n; i++)
		if (ages->list[i].group >= 0 &&
		    !strcmp(ages->list[i].channel->domain, channel->domain))
			return -1;
	switch (channel->kind) {
	case WATT_DOMAIN_PACKAGE:
	case WATT_DOMAIN_CPU_RAIL:
		return 0;
	case WATT_DOMAIN_DRAM:
		return 1;
	case WATT_DOMAIN_GPU:
		return 2;
	default:
		return -1;
	}
}

/* The first channels may have come before a slow one. */
static int reserve_histories(struct watt_ages *ages)
{
	uint64_t n_steps = 0;
	size_t i;
	int r;

	for (i = 0; i < ages->n; i++)
		if (ages->list[i].readings)
			n_steps = WATT_MAX(n_steps, ages->list[i].channel->period_ns *
							    KEPT_PERIODS / WATT_HISTORY_STEP_NS);
	for (i = 0; i < ages->n; i++) {
		if (ages->list[i].group < 0)
			continue;
		r = watt_history_reserve(&ages->list[i].history, n_steps);
		if (r < 0)
			return r;
	}
	return 0;
}

int watt_ages_grow(struct watt_ages *ages, const struct watt_curve *curves, size_t n_curves)
{
	struct age *list;

	if (n_curves <= ages->n)
		return 0;
	list = reallocarray(ages->list, n_curves, sizeof(*list));
	if (!list)
		return -ENOMEM;
	ages->list = list;
	for (; ages->n < n_curves; ages->n++) {
		const struct watt_channel *channel = curves[ages->n].channel;
		struct age *age = &list[ages->n];

		*age = (struct age){ .channel = channel, .group = group_of(ages, channel) };
		if (!watt_ages_is_sought(channel))
			continue;
		age->readings = calloc(MAX_READINGS, sizeof(*age->readings));
		if (!age->readings)
			return -ENOMEM;
	}
	return reserve_histories(ages);
}

/* ---- the search ---- */

/* The steps that all parts know that still say something. */
static bool find_span(const struct watt_ages *ages, uint64_t *ret_first, uint64_t *ret_end)
{
	uint64_t newest = 0, first = 0, end = UINT64_MAX;
	size_t i;

	for (i = 0; i < ages->n; i++)
		if (ages->list[i].history.energy_j)
			newest = WATT_MAX(newest, ages->list[i].history.end);
	for (i = 0; i < ages->n; i++) {
		const struct watt_history *history = &ages->list[i].history;

		if (!history->energy_j || history->end + PATIENCE_STEPS < newest)
			continue;
		first = WATT_MAX(first, history->first);
		end = WATT_MIN(end, history->end);
	}
	*ret_first = first;
	*ret_end = end;
	return newest && first + 1 < end;
}

static int sum_group(struct watt_ages *ages, int group, uint64_t first, uint64_t end,
		     const double **ret)
{
	double *sum = ages->sums[group];
	uint64_t step;
	size_t i;

	*ret = NULL;
	for (i = 0; i < ages->n; i++) {
		const struct watt_history *history = &ages->list[i].history;

		if (ages->list[i].group != group || !history->energy_j || history->first > first ||
		    history->end < end)
			continue;
		if (!sum)
			sum = ages->sums[group] = malloc(WATT_HISTORY_MAX_STEPS * sizeof(*sum));
		if (!sum)
			return -ENOMEM;
		if (!*ret)
			memset(sum, 0, (size_t)(end - first) * sizeof(*sum));
		*ret = sum;
		for (step = first; step < end; step++)
			sum[step - first] += watt_history_get_j(history, step) -
					     watt_history_get_j(history, first);
	}
	return 0;
}

static int search(struct watt_ages *ages, struct age *age)
{
	struct watt_match_parts parts = { .step_ns = WATT_HISTORY_STEP_NS };
	struct watt_match match = { 0 };
	int group, r;

	if (!find_span(ages, &parts.first, &parts.end))
		return 0;
	for (group = 0; group < WATT_MATCH_PARTS; group++) {
		r = sum_group(ages, group, parts.first, parts.end, &parts.energy_j[group]);
		if (r < 0)
			return r;
	}
	r = watt_match_find(&parts, age->readings, age->n, &match);
	age->guess = match;
	if (r == 0)
		age->match = match;
	/* one search that finds nothing may be a quiet moment, or something that no part tells of */
	if (r == 0 || !age->is_found ||
	    watt_match_holds(&parts, age->readings, age->n, &age->match))
		age->n_doubts = 0;
	else
		age->n_doubts++;
	/* what is found is used; and what is believed no more, is used no more */
	age->is_found = r == 0 || (age->is_found && age->n_doubts < MAX_DOUBTS);
	return r == 0 || age->n_doubts == MAX_DOUBTS;
}

/* ---- what comes ---- */

static void keep_reading(struct age *age, const struct watt_observation *reading)
{
	if (age->n == MAX_READINGS)
		memmove(age->readings, age->readings + 1, --age->n * sizeof(*age->readings));
	age->readings[age->n++] = *reading;
	age->n_new++;
}

/* Power of a slow channel as it was read; a value that stands still may be an old one. */
static void see_reading(struct age *age, const struct watt_curve *curve,
			const struct watt_sample *sample, watt_i128 energy0_nj)
{
	uint64_t t_ns = sample->t_before_ns + (sample->t_after_ns - sample->t_before_ns) / 2;
	struct watt_observation reading = { .t_ns = t_ns };
	bool is_new = !age->has_raw || sample->raw != age->raw;

	if (!is_new)
		return;
	if (age->channel->quantity == WATT_QUANTITY_ENERGY && t_ns > age->read_ns) {
		reading.window_ns = t_ns - age->read_ns;
		reading.power_w =
			(double)(curve->energy_nj - energy0_nj) / (double)reading.window_ns;
	} else {
		reading.power_w = (double)curve->power_uw / 1e6;
		if (age->channel->semantics == WATT_SEMANTICS_AVERAGE)
			reading.window_ns = age->channel->window_ns;
	}
	if (age->has_raw || age->channel->quantity == WATT_QUANTITY_POWER)
		keep_reading(age, &reading);
	age->raw = sample->raw;
	age->read_ns = t_ns;
	age->has_raw = true;
}

int watt_ages_see(struct watt_ages *ages, size_t channel, const struct watt_curve *curve,
		  const struct watt_sample *sample, uint64_t t0_ns, watt_i128 energy0_nj)
{
	struct age *age = &ages->list[channel];

	if (age->group >= 0 && t0_ns)
		return watt_history_add(&age->history, t0_ns, energy0_nj, curve->stats.last_ns,
					curve->energy_nj);
	if (!age->readings)
		return 0;
	see_reading(age, curve, sample, energy0_nj);
	if (!age->n_new ||
	    (age->n_new < SEARCH_READINGS && sample->t_after_ns < age->searched_ns + SEARCH_NS))
		return 0;
	age->n_new = 0;
	age->searched_ns = sample->t_after_ns;
	return search(ages, age);
}

const struct watt_match *watt_ages_get(const struct watt_ages *ages, size_t channel)
{
	if (!ages || channel >= ages->n || !ages->list[channel].is_found)
		return NULL;
	return &ages->list[channel].match;
}

const struct watt_match *watt_ages_guess(const struct watt_ages *ages, size_t channel)
{
	if (!ages || channel >= ages->n || !ages->list[channel].guess.n)
		return NULL;
	return &ages->list[channel].guess;
}

/* Less than nothing is what chance has found; and what is only guessed is near to 1. */
static double get_factor(const struct age *age, int group)
{
	if (age->is_found)
		return age->match.factor[group];
	if (!age->guess.n)
		return 1;
	return WATT_MIN(WATT_MAX(age->guess.factor[group], MIN_GUESSED), MAX_GUESSED);
}

bool watt_ages_get_shape_j(const struct watt_shape *shape, uint64_t t_ns, double *ret_j)
{
	const struct watt_ages *ages = shape->ages;
	const struct age *age = &ages->list[shape->channel];
	double sum_j = 0, energy_j, factor;
	bool is_any = false;
	size_t i;

	for (i = 0; i < ages->n; i++) {
		const struct age *part = &ages->list[i];

		if (part->group < 0 || !part->history.energy_j)
			continue;
		factor = get_factor(age, part->group);
		if (factor <= 0)
			continue;
		if (!watt_history_find_j(&part->history, t_ns, &energy_j))
			return false;
		sum_j += factor * energy_j;
		is_any = true;
	}
	*ret_j = sum_j;
	return is_any;
}
