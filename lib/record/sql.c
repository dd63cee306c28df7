/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is needed of SQLite, with the errors of this library.
 * It must not know any table.
 */
#include "record/sql.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int watt_sql_errno(sqlite3 *db, int rc)
{
	int last = errno, error = db ? sqlite3_system_errno(db) : 0;

	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOTADB:
		return -EMEDIUMTYPE;
	case SQLITE_CORRUPT:
		return -EBADMSG;
	case SQLITE_CANTOPEN:
		return error ? -error : -EACCES;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_IOERR:
		/* of a commit to a WAL SQLite tells no more; what failed last is that write */
		if (!error && last == EDQUOT)
			return -EDQUOT;
		return error ? -error : -EIO;
	default:
		return error ? -error : -EIO;
	}
}

int watt_sql_run(sqlite3 *db, const char *sql)
{
	return watt_sql_errno(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

int watt_sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret)
{
	return watt_sql_errno(db, sqlite3_prepare_v2(db, sql, -1, ret, NULL));
}

int watt_sql_step(sqlite3 *db, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt), r = watt_sql_errno(db, rc);

	sqlite3_reset(stmt);
	return r;
}

void watt_sql_bind(sqlite3_stmt *stmt, const char *types, ...)
{
	const char *text;
	va_list args;
	int i;

	va_start(args, types);
	for (i = 1; *types; i++, types++) {
		if (*types == 'i') {
			sqlite3_bind_int64(stmt, i, va_arg(args, int64_t));
			continue;
		}
		text = va_arg(args, const char *);
		if (text)
			sqlite3_bind_text(stmt, i, text, -1, SQLITE_TRANSIENT);
		else
			sqlite3_bind_null(stmt, i);
	}
	va_end(args);
}

char *watt_sql_uri(const char *path, const char *query)
{
	static const char hex[] = "0123456789abcdef";
	char *uri = malloc(3 * strlen(path) + strlen(query) + sizeof("file:./")), *p = uri;

	if (!uri)
		return NULL;
	p = stpcpy(p, *path == '/' ? "file:" : "file:./");
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c > ' ' && c < 0x7f && !strchr("%?#&", c)) {
			*p++ = (char)c;
			continue;
		}
		*p++ = '%';
		*p++ = hex[c >> 4];
		*p++ = hex[c & 15];
	}
	strcpy(p, query);
	return uri;
}
