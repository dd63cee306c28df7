/* SPDX-License-Identifier: Apache-2.0 */
#include "attrib/silence.h"

#include <errno.h>

#include "attrib/state.h"

static size_t channel_of(const struct watt_ledger *part)
{
	return (size_t)part->domain->channel;
}

/* What the curve has of the newest stretch. */
static int stretch_nj(const struct watt_ledger *part, const struct watt_timeline *tl,
		      watt_i128 *ret_nj)
{
	watt_i128 from_nj, to_nj;
	int r = watt_timeline_energy_nj(tl, channel_of(part), part->silence.from_ns, &from_nj);

	if (r == 0)
		r = watt_timeline_energy_nj(tl, channel_of(part), part->silence.to_ns, &to_nj);
	if (r == 0)
		*ret_nj = to_nj - from_nj;
	return r;
}

int watt_silence_curve_nj(const struct watt_ledger *part, const struct watt_timeline *tl,
			  uint64_t t_ns, watt_i128 *ret_nj)
{
	const struct watt_silence *silence = &part->silence;
	watt_i128 energy_nj, stretch = 0;
	int r = watt_timeline_energy_nj(tl, channel_of(part), t_ns, &energy_nj);

	if (r == 0 && t_ns > silence->to_ns && silence->to_ns)
		r = stretch_nj(part, tl, &stretch);
	else if (r == 0 && t_ns > silence->from_ns && silence->to_ns)
		r = watt_timeline_energy_nj(tl, channel_of(part), silence->from_ns, &energy_nj);
	if (r == 0)
		*ret_nj = energy_nj - stretch - silence->energy_nj;
	return r;
}

/*
 * Of a power, what is behind a reading without a value is a gap, whatever comes; of a counter only
 * if it never comes back, or as another.
 */
static bool is_given_up(const struct watt_attrib *at, const struct watt_ledger *part,
			const struct watt_curve_stats *stats)
{
	if (!stats->first_ns || stats->status == WATT_STATUS_OK ||
	    stats->status == WATT_STATUS_PENDING)
		return false;
	return stats->status == WATT_STATUS_ABSENT ||
	       at->channels[part->domain->channel]->quantity == WATT_QUANTITY_POWER ||
	       at->now_ns > stats->last_ns + stats->patience_ns;
}

int watt_silence_end_nj(const struct watt_attrib *at, const struct watt_ledger *part,
			const struct watt_timeline *tl, watt_i128 *ret_nj)
{
	struct watt_curve_stats stats = { .status = WATT_STATUS_PENDING };

	if (part->domain->channel < 0)
		return -EAGAIN;
	watt_timeline_get_stats(tl, channel_of(part), &stats);
	/* the part has not yet passed another */
	if (part->silence.to_ns && part->silence.from_ns != stats.last_ns)
		return -EAGAIN;
	if (!is_given_up(at, part, &stats))
		return -EAGAIN;
	return watt_silence_curve_nj(part, tl, stats.last_ns, ret_nj);
}

bool watt_silence_is_taken(const struct watt_attrib *at, const struct watt_ledger *part,
			   const struct watt_timeline *tl)
{
	watt_i128 energy_nj;

	return watt_silence_end_nj(at, part, tl, &energy_nj) == 0;
}

bool watt_silence_take(struct watt_ledger *part, const struct watt_timeline *tl, uint64_t t_ns)
{
	struct watt_curve_stats stats = { 0 };

	watt_timeline_get_stats(tl, channel_of(part), &stats);
	if (t_ns <= stats.last_ns)
		return false;
	part->silence.from_ns = stats.last_ns;
	part->silence.to_ns = t_ns;
	return true;
}

void watt_silence_pass(struct watt_ledger *part, const struct watt_timeline *tl)
{
	struct watt_silence *silence = &part->silence;
	uint64_t t_ns = silence->from_ns, known_ns;
	struct watt_gap gap;
	watt_i128 energy_nj;

	if (!silence->to_ns || part->cursor_ns < silence->to_ns ||
	    stretch_nj(part, tl, &energy_nj) < 0)
		return;
	known_ns = silence->to_ns - silence->from_ns;
	while (watt_timeline_find_gap(tl, channel_of(part), t_ns, silence->to_ns, &gap)) {
		known_ns -= gap.t1_ns - gap.t0_ns;
		t_ns = gap.t1_ns;
	}
	silence->energy_nj += energy_nj;
	silence->gaps += known_ns > 0;
	silence->gap_ns += known_ns;
	silence->from_ns = silence->to_ns = 0;
}

bool watt_silence_find_gap(const struct watt_ledger *part, const struct watt_timeline *tl,
			   uint64_t t0_ns, uint64_t t1_ns, struct watt_gap *ret)
{
	const struct watt_silence *silence = &part->silence;
	struct watt_gap found, gap;
	bool is_silent_part;

	gap.t0_ns = WATT_MAX(t0_ns, silence->from_ns);
	gap.t1_ns = WATT_MIN(t1_ns, silence->to_ns);
	is_silent_part = gap.t0_ns < gap.t1_ns;
	if (watt_timeline_find_gap(tl, channel_of(part), t0_ns, t1_ns, &found) &&
	    (!is_silent_part || found.t0_ns <= gap.t0_ns))
		*ret = found;
	else if (is_silent_part)
		*ret = gap;
	else
		return false;
	return true;
}
