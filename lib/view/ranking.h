/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a ranking. One thread per object. */
#ifndef WATT_VIEW_RANKING_H
#define WATT_VIEW_RANKING_H

#include <wattribute/ranking.h>

struct watt_ranking {
	enum watt_ranking_group group;
	struct watt_ranking_row *rows; /* by energy */
	size_t n, cap;
	size_t n_domains;
};

#endif
