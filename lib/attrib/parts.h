/* SPDX-License-Identifier: Apache-2.0 */
/* Who did something in a slice, as the keys of a domain see it. One thread per object. */
#ifndef WATT_ATTRIB_PARTS_H
#define WATT_ATTRIB_PARTS_H

#include "attrib/state.h"

/* Whether anybody tells of these activities at a place of the domain. */
bool watt_parts_are_told(const struct watt_ledger *ledger, uint32_t needs);
/*
 * Whether it is told who does something in the domain, as its own key needs it: the worst of its
 * places. OK by what CPUs do; ABSENT: by a key that needs nothing.
 */
enum watt_status watt_parts_status(const struct watt_attrib *at, const struct watt_ledger *ledger);
/*
 * Whether a place lies in a device that is gone: there are sensors of domains that what is done there
 * divides, and all of them are absent.
 */
bool watt_parts_are_gone(const struct watt_attrib *at, enum watt_activity_kind kind, size_t place);
/* Whether the activities have come that any key of the domain can use. */
bool watt_parts_have_come(const struct watt_ledger *ledger, const struct watt_slice *slice);
/* What the key needs comes first. What it could do without may be missing. 0 or -ENOMEM. */
int watt_parts_collect(struct watt_attrib *at, const struct watt_ledger *ledger,
		       const struct watt_slice *slice, const struct watt_key_ops *ops,
		       struct watt_key_slice *view);

#endif
