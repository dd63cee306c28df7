/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a recording's tables, from what the session knows. Everything happens in the caller's
 * transaction. One thread per object.
 */
#ifndef WATT_RECORD_ROWS_H
#define WATT_RECORD_ROWS_H

#include <sqlite3.h>

#include "record/part.h"

/* The tables that never change after the file was made. 0 or a negative errno. */
int watt_rows_put_head(sqlite3 *db, const struct watt_part_head *head);

/* Rows [first, n) of the tables of channels and domains. The same. */
int watt_rows_put_channels(sqlite3 *db, const struct watt_channel *const *channels, size_t first,
			   size_t n);
int watt_rows_put_domains(sqlite3 *db, const struct watt_domain *const *domains, size_t first,
			  size_t n);

/* Windows, entities and their energy. */
struct watt_rows {
	sqlite3 *db;
	sqlite3_stmt *window;
	sqlite3_stmt *entity;
	sqlite3_stmt *energy; /* of those that add up to the domain's */
	sqlite3_stmt *sums;   /* of those that are sums of them */
	sqlite3_stmt *cpu_time;
	/* entities whose row was written, by what it held; a few that share a place are written
	 * again and again, which harms nothing */
	uint64_t *known;
};

/* 0 or a negative errno. */
int watt_rows_init(struct watt_rows *rows, sqlite3 *db);
/* Accepts one of zeros. */
void watt_rows_done(struct watt_rows *rows);
/* A transaction was undone: what was written is not there. */
void watt_rows_forget(struct watt_rows *rows);
int watt_rows_put_snapshot(struct watt_rows *rows, const struct watt_snapshot *snap);

#endif
