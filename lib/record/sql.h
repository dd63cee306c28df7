/* SPDX-License-Identifier: Apache-2.0 */
/* Short words for SQLite. One thread per connection at a time. */
#ifndef WATT_RECORD_SQL_H
#define WATT_RECORD_SQL_H

#include <stdint.h>

#include <sqlite3.h>

/* The negative errno of what failed last on a connection. */
int watt_sql_errno(sqlite3 *db, int rc);
/* Statements without results. 0 or a negative errno. */
int watt_sql_run(sqlite3 *db, const char *sql);
int watt_sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret);
/* Runs a prepared statement that has no result, and makes it ready for the next time. */
int watt_sql_step(sqlite3 *db, sqlite3_stmt *stmt);
/* Binds values to the parameters from 1 on, by a word of types: 'i' int64, 's' text or NULL. */
void watt_sql_bind(sqlite3_stmt *stmt, const char *types, ...);
/* "file:" and the path as a URI wants it, with a query behind it; free() it. NULL: no memory. */
char *watt_sql_uri(const char *path, const char *query);

#endif
