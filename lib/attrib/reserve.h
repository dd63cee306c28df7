/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The idle policy `requests`: who reserved a part of the CPUs pays for that part of idle energy, and
 * who reserved memory for that part of what memory takes when nothing runs; who runs without a
 * reservation shares the rest. A container's part goes to its first process, so that processes
 * still add up to it.
 */
#ifndef WATT_ATTRIB_RESERVE_H
#define WATT_ATTRIB_RESERVE_H

#include "attrib/key.h"
#include "attrib/slice.h"

struct watt_attrib;
struct watt_ledger;

/* What the labels of a container say that it requests. */
void watt_reserve_parse(const struct watt_container *container, struct watt_request *ret);
/* Notes in a new slice who holds reservations in it. 0 or -ENOMEM. */
int watt_reserves_push(struct watt_attrib *at, struct watt_slice *slice);
/*
 * Divides the idle energy of a slice of a domain by this policy, if it is chosen and the domain is
 * shared by CPU time; the first n parts have weights, and ledger->key is who weighed them. 0 or
 * -ENOMEM; *ret_given_nj is what somebody got: the rest of it stays idle.
 */
int watt_reserves_share(struct watt_attrib *at, struct watt_ledger *ledger,
			const struct watt_slice *slice, const struct watt_key_slice *view, size_t n,
			int64_t idle_nj, int64_t *ret_given_nj);
void watt_reserves_done(struct watt_attrib *at);

#endif
