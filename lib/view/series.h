/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a series, for the views that are computed from it. One thread per object. */
#ifndef WATT_VIEW_SERIES_H
#define WATT_VIEW_SERIES_H

#include <stdbool.h>

#include <wattribute/series.h>

#include "base/idmap.h"
#include "view/folded.h"
#include "view/view.h"

/* Of a domain's gaps: what was told of, and what of it no window has had yet. */
struct watt_series_gap {
	uint64_t told_ns;
	uint64_t left_ns;
	uint64_t silent_ns; /* of the newest windows, which said themselves that they knew nothing */
};

/* How unsure one is, as windows tell it. */
struct watt_series_doubt {
	bool has_any;
	bool began_before; /* it had used something before the first window with it */
	double newest_j;   /* of all since the session's beginning, as its newest row has it */
	double sum_j;      /* of windows, as if all were off the same way: at most so much */
};

/* Of a gauge in the windows so far; the last ones may be missing: it had none. */
struct watt_series_means {
	double *list;
	size_t n, cap;
};

struct watt_series {
	struct watt_series_info info;
	struct watt_snapshot *snap;        /* owned: the newest one */
	struct watt_view last;             /* of it: the domains, their states, the quality */
	struct watt_series_energy *totals; /* per domain */
	struct watt_series_gap *gaps;      /* per domain, up to the newest window */
	/* Of all domains of all windows, whatever the sign: no sum of parts is more. */
	uint64_t sum_nj;
	struct watt_series_entity *entities;
	size_t entities_cap;
	struct watt_series_doubt *doubts; /* one each */
	size_t doubts_cap;
	struct watt_series_window *windows;
	size_t windows_cap;
	struct watt_idmap index;          /* of the entities by id */
	struct watt_series_gauge *gauges; /* in the order of their channels */
	size_t n_gauges, gauges_cap;
	struct watt_series_means *gauge_means; /* of each gauge */
	size_t gauge_means_cap;
	size_t max_entities;
	struct watt_folded folded; /* who is in the others */
	/* Who is kept apart, by id; the position says nothing. Empty: whoever comes to the top. */
	struct watt_idmap chosen;
	bool is_chosen;
};

/* An empty one. max_entities: of each kind that are kept apart; 0: 1,000. 0 or -ENOMEM. */
int watt_series_new(size_t max_entities, struct watt_series **ret);
/*
 * Adds one window. What the view shows must stay until the next one is added. 0; -EOVERFLOW: with
 * it there would be more than int64 nJ, and it is left out; -ENOMEM.
 */
int watt_series_add(struct watt_series *series, const struct watt_view *view, uint64_t t0_ns,
		    uint64_t t1_ns, size_t mark_index);
/* After the last window: folds what is too much for good. 0 or -ENOMEM. */
int watt_series_finish(struct watt_series *series);

/*
 * Has those kept apart, and nobody else, who used the most in a series of the same windows that
 * has been finished. Before the first window. 0 or -ENOMEM.
 */
int watt_series_choose(struct watt_series *series, const struct watt_series *first);
/* The others of a kind. 0 or -ENOMEM. */
int watt_series_others_of(struct watt_series *series, enum watt_entity_kind kind, size_t *ret);
/* How many are in the others who used more than one of their kind that is kept apart. */
size_t watt_series_count_misplaced(const struct watt_series *series);
/* Folds those of each kind who used the least, until so many are left. 0 or -ENOMEM. */
int watt_series_fold(struct watt_series *series, size_t keep);
/* How unsure everybody is, of all windows; span: all of them as one, NULL: there is none. */
void watt_series_tell_doubts(struct watt_series *series, const struct watt_snapshot *span);
/* One without energy yet, at *ret. 0 or -ENOMEM. */
int watt_series_new_entity(struct watt_series *series, enum watt_entity_kind kind, const char *name,
			   size_t *ret);
void watt_series_entity_done(struct watt_series_entity *entity);

/* Sums up context of a window, and forgets all of it. 0 or -ENOMEM. */
int watt_series_add_gauges(struct watt_series *series, const struct watt_view *view);
void watt_series_gauges_done(struct watt_series *series);

/* Whether any energy is known, of a domain in a window or in the whole. */
bool watt_series_is_known(const struct watt_series_energy *energy);
/* Adds a later part to a sum. */
void watt_series_add_energy(struct watt_series_energy *sum, const struct watt_series_energy *part);
/* Mean power of energies per domain in a window, each domain by its own time; NAN: not known. */
double watt_series_window_w(const struct watt_series *series,
			    const struct watt_series_window *window, const int64_t *energy_nj);

#endif
