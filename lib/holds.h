/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times up to which readers wait for all of it, one of each. Attribution stops at the earliest,
 * so that nothing later gets into anybody's snapshot. One thread per object.
 */
#ifndef WATT_HOLDS_H
#define WATT_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watt_hold {
	uint32_t cursor;
	uint64_t t_ns;
	uint64_t asked_ns; /* when it was asked for last */
};

/* Zeros: there is none. */
struct watt_holds {
	struct watt_hold *list;
	size_t n, cap;
	uint64_t told_ns; /* the one that attribution knows of; 0: none */
};

void watt_holds_done(struct watt_holds *holds);
/* The cursor waits for t_ns, and for nothing that it waited for before. 0 or -ENOMEM. */
int watt_holds_put(struct watt_holds *holds, uint32_t cursor, uint64_t t_ns, uint64_t now_ns);
/* It waits no more. */
void watt_holds_drop(struct watt_holds *holds, uint32_t cursor);
/* Drops those that nobody has asked for lately: who gave up must not stop everybody. */
void watt_holds_expire(struct watt_holds *holds, uint64_t now_ns);
/* The earliest; 0: there is none. */
uint64_t watt_holds_first_ns(const struct watt_holds *holds);

#endif
