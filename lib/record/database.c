/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the database of a recording to read it: whole, still being written, or left by a process
 * that was killed, with or without the right to write beside it. The file may be anybody's:
 * nothing in it is executed, and its tables must be those of the format, to the byte.
 */
#include "record/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "record/schema.h"
#include "record/sql.h"

#define BUSY_MS 2000
/* Tables, indexes and views: those of the format, and some that somebody has added. */
#define OBJECTS_MAX 1000

/* Settings against files that were made to harm. */
static void defend(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, (int)WATT_CHUNK_MAX + (1 << 20));
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 100000);
	sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 100);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 20);
	sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 3);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
	sqlite3_busy_timeout(db, BUSY_MS);
}

/* SQLite's answer to the first read, which is when it opens everything that it needs. */
static int try_open(struct watt_recording *rec, const char *name, int flags, const char *vfs,
		    const char *pragma)
{
	int rc;

	sqlite3_close(rec->db);
	rec->db = NULL;
	rc = sqlite3_open_v2(name, &rec->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | flags,
			     vfs);
	if (rc != SQLITE_OK)
		return rc;
	defend(rec->db);
	watt_guard_set(&rec->guard, rec->db, rec->bytes);
	rc = sqlite3_exec(rec->db, pragma, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(rec->db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
	return rc;
}

/* Whether what follows in open_any() has a chance. */
static bool is_refused(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_IOERR:
	case SQLITE_BUSY:
		return true;
	default:
		return false;
	}
}

/* A name that means nothing else to SQLite, such as ":memory:". */
static char *plain_name(const char *path)
{
	char *name;

	return asprintf(&name, "%s%s", *path == '/' ? "" : "./", path) < 0 ? NULL : name;
}

/*
 * As a reader like any other; where the files beside it can't be made, with the log of the last
 * commits read into memory (nobody writes it then: a writer would have made them); and at last
 * without that log.
 */
static int open_any(struct watt_recording *rec)
{
	_cleanup_free_ char *uri = watt_sql_uri(rec->path, "?immutable=1");
	_cleanup_free_ char *name = plain_name(rec->path);
	int rc = name ? try_open(rec, name, 0, NULL, "PRAGMA cell_size_check=1") : SQLITE_NOMEM;

	if (is_refused(rc))
		rc = try_open(rec, name, 0, "unix-none", "PRAGMA locking_mode=EXCLUSIVE");
	if (is_refused(rc) && uri) {
		rc = try_open(rec, uri, SQLITE_OPEN_URI, NULL, "PRAGMA cell_size_check=1");
		if (rc == SQLITE_OK)
			watt_log(&rec->log, WATT_LOG_WARNING,
				 "%s: was not finished, and without the right to write beside it "
				 "its last seconds can't be read",
				 rec->path);
	}
	return rc;
}

/* With what is not in the file yet, but in the log beside it. */
static uint64_t count_bytes(const struct watt_recording *rec)
{
	_cleanup_free_ char *wal = NULL;
	struct stat st;

	if (asprintf(&wal, "%s-wal", rec->path) < 0) {
		wal = NULL;
		return rec->info.bytes;
	}
	return rec->info.bytes +
	       (stat(wal, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
}

static int check_file(struct watt_recording *rec)
{
	struct stat st;

	if (stat(rec->path, &st) < 0)
		return watt_recording_complain(rec, -errno, "can't be read: %s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return watt_recording_complain(rec, -EMEDIUMTYPE, "is a directory, no recording");
	if (!S_ISREG(st.st_mode))
		return watt_recording_complain(rec, -EMEDIUMTYPE,
					       "is no plain file, so it is no recording");
	if (st.st_size == 0)
		return watt_recording_complain(rec, -EMEDIUMTYPE, "is empty, no recording");
	if (access(rec->path, R_OK) < 0)
		return watt_recording_complain(rec, -errno, "can't be read: %s", strerror(errno));
	rec->info.bytes = (uint64_t)st.st_size;
	rec->bytes = count_bytes(rec);
	return 0;
}

static int get_number(struct watt_recording *rec, const char *sql, int64_t *ret)
{
	sqlite3_stmt *stmt;
	int r = watt_sql_prepare(rec->db, sql, &stmt);

	if (r == 0 && sqlite3_step(stmt) == SQLITE_ROW)
		*ret = sqlite3_column_int64(stmt, 0);
	else if (r == 0)
		r = -EBADMSG;
	sqlite3_finalize(stmt);
	return r;
}

int watt_recording_count(struct watt_recording *rec, const char *table, int64_t max, int64_t *ret)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM (SELECT 1 FROM %s LIMIT %lld)", table,
		 (long long)max);
	return get_number(rec, sql, ret);
}

const char *watt_recording_reason(const struct watt_recording *rec)
{
	return rec->guard.is_spent ? "its pages lead in circles: reading them would not end" :
				     sqlite3_errmsg(rec->db);
}

static int check_format(struct watt_recording *rec)
{
	int64_t application = 0, format = 0;

	if (get_number(rec, "PRAGMA application_id", &application) < 0 ||
	    get_number(rec, "PRAGMA user_version", &format) < 0)
		return watt_recording_complain(rec, -EBADMSG, "is damaged in its first page");
	if (application != WATT_RECORDING_APPLICATION)
		return watt_recording_complain(rec, -EMEDIUMTYPE,
					       "is an SQLite database, but no recording");
	if (format > WATT_RECORDING_FORMAT)
		return watt_recording_complain(rec, -EPROTONOSUPPORT,
					       "has format %lld, and this program reads formats up "
					       "to %d: a newer wattribute is needed",
					       (long long)format, WATT_RECORDING_FORMAT);
	if (format < 1)
		return watt_recording_complain(rec, -EBADMSG, "is damaged: it has no format");
	rec->info.format = (uint32_t)format;
	return 0;
}

/* A table that is not as it was made could compute its columns, or be a module's. */
static int check_table(struct watt_recording *rec, sqlite3_stmt *stmt,
		       const struct watt_table *table)
{
	const char *sql = NULL;

	sqlite3_bind_text(stmt, 1, table->name, -1, SQLITE_STATIC);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		sql = (const char *)sqlite3_column_text(stmt, 0);
	if (!sql || strcmp(sql, table->sql)) {
		int r = watt_recording_complain(rec, -EBADMSG, "is damaged: table %s is %s",
						table->name,
						sql ? "not as the format says" : "not there");

		sqlite3_reset(stmt);
		return r;
	}
	sqlite3_reset(stmt);
	return 0;
}

static int check_tables(struct watt_recording *rec)
{
	sqlite3_stmt *stmt;
	size_t i;
	int r = watt_sql_prepare(rec->db,
				 "SELECT sql FROM sqlite_schema WHERE type = 'table' AND "
				 "name = ? AND rootpage > 0",
				 &stmt);

	if (r < 0)
		return watt_recording_complain(rec, -EBADMSG, "is damaged: %s",
					       sqlite3_errmsg(rec->db));
	for (i = 0; watt_recording_tables[i].name && r == 0; i++)
		r = check_table(rec, stmt, &watt_recording_tables[i]);
	sqlite3_finalize(stmt);
	return r;
}

static int check_objects(struct watt_recording *rec)
{
	int64_t n = 0;
	int r = watt_recording_count(rec, "sqlite_schema", OBJECTS_MAX + 1, &n);

	if (r < 0)
		return watt_recording_complain(rec, -EBADMSG, "is damaged: %s",
					       watt_recording_reason(rec));
	if (n > OBJECTS_MAX)
		return watt_recording_complain(rec, -EBADMSG,
					       "has more tables, indexes and views than the %d of "
					       "a recording",
					       OBJECTS_MAX);
	return 0;
}

int watt_recording_open_database(struct watt_recording *rec)
{
	int rc, r = check_file(rec);

	if (r < 0)
		return r;
	rc = open_any(rec);
	if (rc != SQLITE_OK) {
		r = watt_sql_errno(rec->db, rc);
		if (r == -EMEDIUMTYPE)
			return watt_recording_complain(rec, r, "is no recording");
		if (r == -EBADMSG || rec->guard.is_spent || (rc & 0xff) == SQLITE_ERROR)
			return watt_recording_complain(rec, -EBADMSG, "is damaged: %s",
						       watt_recording_reason(rec));
		return watt_recording_complain(rec, r, "can't be read: %s",
					       sqlite3_errmsg(rec->db));
	}
	r = check_format(rec);
	if (r == 0)
		r = check_objects(rec);
	return r < 0 ? r : check_tables(rec);
}
