/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's total, domain by domain. */
#ifndef WATT_VIEW_TOTAL_H
#define WATT_VIEW_TOTAL_H

#include <wattribute/total.h>

/* A sum to which nothing was added. */
void watt_total_init(struct watt_total *total);
/* Adds a domain if it is one of those that the sum is over. */
void watt_total_add(struct watt_total *total, const struct watt_domain *domain,
		    const struct watt_domain_state *state);
/*
 * The domain that has what this one of a view does not tell: what is left of the whole that both are
 * in. -1: there is none.
 */
int watt_total_find_rest(const struct watt_view *view, size_t part);

#endif
