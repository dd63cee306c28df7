/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts a session by asking for snapshots at the times of a grid and of all marks. The session
 * answers with the end of a slice, which may be a little later; the next cut is after that.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <wattribute/window.h>

#include "base/util.h"
#include "base/sized.h"

#define WINDOWS_MAX 1200

struct watt_windows {
	struct watt_session *ses;
	struct watt_windows_opts plan;
	uint64_t t_ns;    /* the end of the newest window */
	size_t next_mark; /* the first one later than t_ns */
	bool is_over;
};

uint64_t watt_windows_choose_ns(uint64_t duration_ns, uint64_t slice_ns)
{
	static const uint64_t steps_ms[] = { 1,     2,     5,      10,     20,     50,     100,
					     200,   500,   1000,   2000,   5000,   10000,  20000,
					     30000, 60000, 120000, 300000, 600000, 1800000 };
	uint64_t longest_ns = steps_ms[WATT_ARRAY_SIZE(steps_ms) - 1] * 1000000;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(steps_ms); i++) {
		uint64_t step_ns = steps_ms[i] * 1000000;

		if (step_ns >= slice_ns && duration_ns / WINDOWS_MAX < step_ns)
			return step_ns;
	}
	while (duration_ns / WINDOWS_MAX >= longest_ns)
		longest_ns *= 2;
	return longest_ns;
}

static void pass_marks(struct watt_windows *w)
{
	while (w->next_mark < w->plan.n_marks && w->plan.marks[w->next_mark].t_ns <= w->t_ns)
		w->next_mark++;
}

int watt_windows_open(struct watt_session *ses, const struct watt_windows_opts *opts,
		      struct watt_windows **ret)
{
	struct watt_windows_opts plan;
	struct watt_windows *w;

	if (!ses || !ret || watt_sized_take(opts, &plan, sizeof(plan)) < 0 ||
	    plan.end_ns < plan.start_ns)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->ses = ses;
	w->plan = plan;
	w->t_ns = plan.start_ns;
	if (w->plan.window_ns == 0)
		w->plan.window_ns = watt_windows_choose_ns(plan.end_ns - plan.start_ns, 0);
	pass_marks(w);
	*ret = w;
	return 0;
}

struct watt_windows *watt_windows_close(struct watt_windows *windows)
{
	free(windows);
	return NULL;
}

/* The next time to cut: the grid counts from the start, so that marks don't shift it. */
static uint64_t next_cut_ns(const struct watt_windows *w)
{
	const struct watt_windows_opts *plan = &w->plan;
	uint64_t n = (w->t_ns - plan->start_ns) / plan->window_ns + 1;
	uint64_t cut_ns = plan->start_ns + n * plan->window_ns;

	if (w->next_mark < plan->n_marks && plan->marks[w->next_mark].t_ns < cut_ns)
		cut_ns = plan->marks[w->next_mark].t_ns;
	return cut_ns < plan->end_ns ? cut_ns : plan->end_ns;
}

static int look_at(const struct watt_windows *w, uint64_t t_ns, struct watt_snapshot **ret)
{
	if (w->plan.cursor)
		return watt_cursor_snapshot_at(w->plan.cursor, t_ns, w->plan.timeout_ms, ret);
	return watt_session_snapshot_at(w->ses, t_ns, w->plan.timeout_ms, ret);
}

static int look(const struct watt_windows *w, struct watt_snapshot **ret)
{
	return w->plan.cursor ? watt_cursor_snapshot(w->plan.cursor, ret) :
				watt_session_snapshot(w->ses, ret);
}

int watt_windows_next(struct watt_windows *w, struct watt_window *ret)
{
	struct watt_snapshot *snap = NULL;
	uint64_t cut_ns = next_cut_ns(w);
	size_t mark;
	int r;

	if (w->is_over)
		return 1;
	r = look_at(w, cut_ns, &snap);
	if (r == -ENODATA) {
		/* The data end before: what is left of them is the last window. */
		w->is_over = true;
		r = look(w, &snap);
	}
	if (r < 0)
		return r;
	mark = w->next_mark ? w->next_mark - 1 : WATT_NO_MARK;
	*ret = (struct watt_window){ .snap = snap,
				     .t0_ns = watt_snapshot_get_window_start_ns(snap),
				     .t1_ns = watt_snapshot_get_time_ns(snap),
				     .mark_index = mark };
	w->t_ns = ret->t1_ns > cut_ns ? ret->t1_ns : cut_ns;
	w->is_over = w->is_over || w->t_ns >= w->plan.end_ns;
	pass_marks(w);
	return 0;
}
