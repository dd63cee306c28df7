/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of phases, for the views that are computed from them. One thread per object. */
#ifndef WATT_VIEW_PHASES_H
#define WATT_VIEW_PHASES_H

#include <stdbool.h>

#include <wattribute/phase.h>

#include "view/series.h"

struct watt_phases {
	struct watt_phase *list; /* in the order of time */
	size_t n, list_cap;
	struct watt_phase *by_label; /* those of one label summed, in the order of their first ones */
	size_t n_labels, labels_cap;
	struct watt_phase whole;
	bool has_marks;
};

#endif
