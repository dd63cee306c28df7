/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends what a database makes SQLite do without end: each query of a file has so many steps as a
 * file of its size can need. One thread per object.
 */
#ifndef WATT_RECORD_GUARD_H
#define WATT_RECORD_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

/* Steps of SQLite's machine between two looks at the guard. */
#define WATT_GUARD_PERIOD 1000

struct watt_guard {
	uint64_t n_steps; /* since it began, to a period */
	uint64_t max_steps;
	bool is_spent; /* a query was ended, at any time */
};

/* Sets the guard on a database whose files have so many bytes; it must outlive the database. */
void watt_guard_set(struct watt_guard *guard, sqlite3 *db, uint64_t bytes);
/* What comes now has all its steps again. */
void watt_guard_begin(struct watt_guard *guard);

#endif
