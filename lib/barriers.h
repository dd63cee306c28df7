/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times up to which readers wait for all of it, one of each. Attribution stops at the earliest,
 * so that nothing later gets into anybody's snapshot. One thread per object.
 */
#ifndef WATT_BARRIERS_H
#define WATT_BARRIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watt_barrier {
	uint32_t cursor;
	uint64_t t_ns;
	uint64_t asked_ns; /* when it was asked for last */
};

/* Zeros: there is none. */
struct watt_barriers {
	struct watt_barrier *list;
	size_t n, cap;
	uint64_t told_ns; /* the one that attribution knows of; 0: none */
};

void watt_barriers_done(struct watt_barriers *barriers);
/* The cursor waits for t_ns, and for nothing that it waited for before. 0 or -ENOMEM. */
int watt_barriers_put(struct watt_barriers *barriers, uint32_t cursor, uint64_t t_ns,
		      uint64_t now_ns);
/* It waits no more. */
void watt_barriers_drop(struct watt_barriers *barriers, uint32_t cursor);
/* Drops those that nobody has asked for lately: who gave up must not stop everybody. */
void watt_barriers_expire(struct watt_barriers *barriers, uint64_t now_ns);
/* The earliest; 0: there is none. */
uint64_t watt_barriers_first_ns(const struct watt_barriers *barriers);

#endif
