/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite knows when its pages do not fit together, but not when a value in one was changed.
 * This is against accidents, not against people.
 */
#include "record/check.h"

#include "base/util.h"
#include "record/sql.h"

/* FNV-1a over the text of each value, and its end. */
static uint64_t hash_value(uint64_t hash, const unsigned char *text, int len)
{
	int i;

	for (i = 0; i < len; i++)
		hash = (hash ^ text[i]) * 0x100000001b3ULL;
	return (hash ^ (text ? 0x100 : 0x101)) * 0x100000001b3ULL;
}

static int hash_table(sqlite3 *db, const char *sql, uint64_t *hash)
{
	sqlite3_stmt *stmt;
	int rc = SQLITE_OK, i, r = watt_sql_prepare(db, sql, &stmt);

	while (r == 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		for (i = 0; i < sqlite3_column_count(stmt); i++) {
			const unsigned char *text = sqlite3_column_text(stmt, i);

			*hash = hash_value(*hash, text, sqlite3_column_bytes(stmt, i));
		}
	sqlite3_finalize(stmt);
	return r < 0 ? r : watt_sql_errno(db, rc);
}

int watt_check_compute(sqlite3 *db, int64_t *ret)
{
	static const char *const tables[] = {
		"SELECT * FROM channels ORDER BY id",
		"SELECT * FROM slots ORDER BY slot",
		"SELECT * FROM cpus ORDER BY cpu",
	};
	uint64_t hash = 0xcbf29ce484222325ULL;
	size_t i;
	int r = 0;

	for (i = 0; i < WATT_ARRAY_SIZE(tables) && r == 0; i++)
		r = hash_table(db, tables[i], &hash);
	if (r == 0)
		*ret = (int64_t)hash;
	return r;
}
