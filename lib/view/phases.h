/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of phases, for the views that are computed from them. One thread per object. */
#ifndef WATT_VIEW_PHASES_H
#define WATT_VIEW_PHASES_H

#include <stdbool.h>

#include <wattribute/phase.h>

#include "base/textmap.h"
#include "view/series.h"

#define WATT_NO_PHASE SIZE_MAX

struct watt_phases {
	struct watt_phase *list; /* in the order of time */
	size_t n, list_cap;
	struct watt_phase *by_label; /* those of one label summed, in the order of their first ones */
	size_t n_labels, labels_cap;
	struct watt_textmap index; /* of by_label */
	/* Per label its first and its last phase, and per phase the next of its label, which is
	 * WATT_NO_PHASE behind the last. */
	size_t *first_of_label, *last_of_label, *next_of_label;
	struct watt_phase whole;
	bool has_marks;
};

#endif
