/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Context in windows: what a load, a temperature or a clock was on the mean, as the difference of
 * two sums over time. So windows lie side by side, as those of energy do. It must not share anything
 * among anybody.
 */
#include "attrib/state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/snapshot.h"

/* Of a curve, one nJ is 1 uW over 1000000 ns: so much of the canonical unit times 1 ns. */
#define UNIT_NS_PER_SUM 1000000.0
/* Sums are whole: a temperature's of 0.05 ms has steps of 0.02 C. A shorter time is of the next window. */
#define SHORTEST_NS 500000

int watt_gauges_grow(struct watt_attrib *at, const struct watt_channel *const *channels, size_t n)
{
	const struct watt_channel **list;

	list = reallocarray(at->channels, n + 1, sizeof(struct watt_channel *));
	if (!list)
		return -ENOMEM;
	if (n)
		memcpy(list, channels, n * sizeof(struct watt_channel *));
	at->channels = list;
	at->n_channels = n;
	return 0;
}

uint64_t watt_gauges_oldest_ns(const struct watt_attrib *at, uint64_t slices_ns)
{
	return at->barrier_ns ? WATT_MIN(at->barrier_ns, slices_ns) : slices_ns;
}

static bool is_gauge(const struct watt_attrib *at, size_t channel)
{
	return watt_quantity_is_context(at->channels[channel]->quantity);
}

static double value_of(const struct watt_channel *channel, double canonical)
{
	return canonical / watt_quantity_per_unit(channel->quantity);
}

/* Where its curve is at t_ns, or at its newest reading before. false: it has none. */
static bool look(const struct watt_timeline *tl, size_t channel, uint64_t t_ns,
		 const struct watt_curve_stats *stats, struct watt_gauge_base *ret)
{
	ret->t_ns = WATT_MIN(t_ns, stats->last_ns);
	ret->gap_ns = stats->gap_ns;
	return stats->first_ns && ret->t_ns >= stats->first_ns &&
	       watt_timeline_energy_nj(tl, channel, ret->t_ns, &ret->sum) == 0;
}

/*
 * How much of a window is not known. All gaps are counted when they end, of those that lie ahead,
 * too; and old ones are forgotten: of both the more.
 */
static uint64_t gaps_between_ns(const struct watt_timeline *tl, size_t channel,
				const struct watt_gauge_base *from,
				const struct watt_gauge_base *to)
{
	uint64_t t_ns = from->t_ns, gap_ns = 0;
	struct watt_gap gap;

	while (watt_timeline_find_gap(tl, channel, t_ns, to->t_ns, &gap)) {
		gap_ns += gap.t1_ns - gap.t0_ns;
		t_ns = gap.t1_ns;
	}
	return WATT_MAX(gap_ns, to->gap_ns - from->gap_ns);
}

/* false: so little of the window is known that its mean would be coarse. */
static bool fill_mean(struct watt_gauge *gauge, const struct watt_channel *channel,
		      const struct watt_gauge_base *from, const struct watt_gauge_base *to,
		      uint64_t gap_ns)
{
	if (to->t_ns <= from->t_ns + gap_ns)
		return true;
	if (to->t_ns < from->t_ns + gap_ns + SHORTEST_NS)
		return false;
	gauge->known_ns = to->t_ns - from->t_ns - gap_ns;
	gauge->mean = value_of(channel, (double)(to->sum - from->sum) * UNIT_NS_PER_SUM /
						(double)gauge->known_ns);
	return true;
}

static void fill_gauge(struct watt_gauge *gauge, const struct watt_channel *channel,
		       const struct watt_curve_stats *stats)
{
	gauge->sz = sizeof(*gauge);
	gauge->quantity = channel->quantity;
	gauge->status = stats->samples || stats->errors ? stats->status : WATT_STATUS_PENDING;
	gauge->value = gauge->mean = NAN;
	gauge->samples = stats->samples;
	gauge->errors = stats->errors;
	if (stats->samples && stats->status == WATT_STATUS_OK)
		gauge->value = value_of(channel, (double)stats->raw * (double)channel->scale_num /
							 (double)channel->scale_den);
}

/* Names outlive the channels: a snapshot may live longer than the session. */
static int alloc_gauges(struct watt_snapshot *snap, const struct watt_attrib *at)
{
	size_t i, n = 0, size = 1;

	for (i = 0; i < at->n_channels; i++) {
		const struct watt_channel *channel = at->channels[i];

		if (!is_gauge(at, i))
			continue;
		n++;
		size += strlen(channel->name) + 1;
		size += channel->label ? strlen(channel->label) + 1 : 0;
	}
	snap->gauges = calloc(n + 1, sizeof(*snap->gauges));
	snap->gauge_texts = malloc(size);
	return snap->gauges && snap->gauge_texts ? 0 : -ENOMEM;
}

static const char *keep_text(char **at, const char *text)
{
	const char *kept = *at;

	if (!text)
		return NULL;
	*at = stpcpy(*at, text) + 1;
	return kept;
}

static int grow_bases(struct watt_cursor_state *cursor, size_t n)
{
	struct watt_gauge_base *gauges;

	if (cursor->n_gauges >= n)
		return 0;
	gauges = reallocarray(cursor->gauges, n, sizeof(*gauges));
	if (!gauges)
		return -ENOMEM;
	memset(&gauges[cursor->n_gauges], 0, (n - cursor->n_gauges) * sizeof(*gauges));
	cursor->gauges = gauges;
	cursor->n_gauges = n;
	return 0;
}

int watt_gauges_fill(struct watt_attrib *at, const struct watt_timeline *tl, size_t reader,
		     struct watt_snapshot *snap)
{
	struct watt_cursor_state *cursor = &at->cursors[reader];
	char *text;
	size_t i;

	if (alloc_gauges(snap, at) < 0 || grow_bases(cursor, at->n_channels) < 0)
		return -ENOMEM;
	text = snap->gauge_texts;
	for (i = 0; i < at->n_channels; i++) {
		const struct watt_channel *channel = at->channels[i];
		struct watt_curve_stats stats = { 0 };
		struct watt_gauge_base now;
		struct watt_gauge *gauge;

		if (!is_gauge(at, i))
			continue;
		gauge = &snap->gauges[snap->n_gauges++];
		watt_timeline_get_stats(tl, i, &stats);
		fill_gauge(gauge, channel, &stats);
		gauge->name = keep_text(&text, channel->name);
		gauge->label = keep_text(&text, channel->label);
		if (!look(tl, i, snap->t_ns, &stats, &now))
			continue;
		if (!cursor->gauges[i].t_ns)
			cursor->gauges[i] = (struct watt_gauge_base){ .t_ns = stats.first_ns };
		if (fill_mean(gauge, channel, &cursor->gauges[i], &now,
			      gaps_between_ns(tl, i, &cursor->gauges[i], &now)))
			cursor->gauges[i] = now;
	}
	return 0;
}

static void forget(struct watt_cursor_state *cursor)
{
	free(cursor->gauges);
	cursor->gauges = NULL;
	cursor->n_gauges = 0;
}

int watt_gauges_begin(struct watt_attrib *at, size_t reader, uint64_t t_ns)
{
	struct watt_cursor_state *cursor = &at->cursors[reader];
	struct watt_gauge_base now;
	size_t i;

	forget(cursor);
	if (grow_bases(cursor, at->n_channels) < 0)
		return -ENOMEM;
	for (i = 0; i < at->n_channels && at->timeline; i++) {
		struct watt_curve_stats stats = { 0 };

		watt_timeline_get_stats(at->timeline, i, &stats);
		if (is_gauge(at, i) && look(at->timeline, i, t_ns, &stats, &now))
			cursor->gauges[i] = now;
	}
	return 0;
}

void watt_gauges_done(struct watt_attrib *at)
{
	size_t i;

	for (i = 0; at->cursors && i < at->accounts.n_windows; i++)
		forget(&at->cursors[i]);
	free(at->channels);
}
