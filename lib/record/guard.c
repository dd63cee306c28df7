/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of a file may say that the same page comes again and again: of a few kilobytes SQLite
 * would read rows for years. It counts its steps, and so they are limited, not the time.
 */
#include "record/guard.h"

/* A row of the tables takes some 20 bytes and, sorted, some 100 steps; those of the format more. */
#define STEPS_PER_BYTE 32
#define STEPS_ALWAYS 1000000

static int look(void *data)
{
	struct watt_guard *guard = data;

	guard->n_steps += WATT_GUARD_PERIOD;
	if (guard->n_steps < guard->max_steps)
		return 0;
	guard->is_spent = true;
	return 1;
}

void watt_guard_set(struct watt_guard *guard, sqlite3 *db, uint64_t bytes)
{
	*guard = (struct watt_guard){ .max_steps = STEPS_ALWAYS + STEPS_PER_BYTE * bytes };
	sqlite3_progress_handler(db, WATT_GUARD_PERIOD, look, guard);
}

void watt_guard_begin(struct watt_guard *guard)
{
	guard->n_steps = 0;
}
