/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of the views: what people ask of snapshots. A sink sees snapshots through them.
 * One thread per object.
 */
#ifndef WATT_VIEW_VIEW_H
#define WATT_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include <wattribute/view.h>

/* As watt_view_new(), in place. 0 or -ENOMEM. */
int watt_view_init(struct watt_view *view, const struct watt_snapshot *snap);
void watt_view_done(struct watt_view *view);

/* Whether any energy is known of a domain's window. */
bool watt_view_is_known(const struct watt_domain_state *state);
/* Power of a row over the partition in the window; NAN: not known. */
double watt_view_row_w(const struct watt_view *view, const struct watt_row *row);
/* Whether a row used anything in the window. */
bool watt_view_has_used(const struct watt_view *view, const struct watt_row *row);

#endif
