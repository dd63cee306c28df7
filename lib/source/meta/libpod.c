/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What podman knows of its containers and pods: its database, which is SQLite since 4.8. It is read
 * whole into memory, so that nothing is locked or written beside it, and may be anybody's: nothing in
 * it is executed, and what a question may cost is bounded.
 */
#include "source/meta/state_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <sqlite3.h>

#include "base/utf8.h"

/* Steps of SQLite's machine for one question: some hundred are enough. */
#define STEPS_MOST 1000000
#define STEPS_AT_A_TIME 10000
/* Where the header says whether changes go to a log beside the file, to writers and to readers. */
#define WRITE_VERSION 18
#define READ_VERSION 19
#define HEADER_SIZE 100

static const char query[] = "SELECT c.Name, c.JSON, p.ID, p.Name FROM ContainerConfig AS c "
			    "LEFT JOIN PodConfig AS p ON p.ID = c.PodID WHERE c.ID = ?1";

static int count_steps(void *data)
{
	int *left = data;

	*left -= STEPS_AT_A_TIME;
	return *left < 0;
}

/* Settings against files that were made to harm. */
static void defend(sqlite3 *db, int *steps)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, (int)WATT_STATE_SIZE_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 100000);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 20);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_progress_handler(db, STEPS_AT_A_TIME, count_steps, steps);
}

/* What is in a log beside it is not here; podman leaves none when it is done. */
static int open_copy(const char *data, size_t len, int *steps, sqlite3 **ret)
{
	unsigned char *copy;
	int rc;

	if (len < HEADER_SIZE)
		return -EBADMSG;
	rc = sqlite3_open_v2(":memory:", ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	copy = rc == SQLITE_OK ? sqlite3_malloc64(len) : NULL;
	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, len);
	copy[WRITE_VERSION] = copy[READ_VERSION] = 1;
	defend(*ret, steps);
	rc = sqlite3_deserialize(*ret, "main", copy, (sqlite3_int64)len, (sqlite3_int64)len,
				 SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
	return rc == SQLITE_OK ? 0 : rc == SQLITE_NOMEM ? -ENOMEM : -EBADMSG;
}

/* As long as the row. What nobody could read is no name. */
static const char *take_text(sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);
	size_t len = (size_t)sqlite3_column_bytes(stmt, column);

	if (!text || !len || len > WATT_STATE_NAME_MAX || !watt_utf8_is_printable(text, len))
		return NULL;
	return text;
}

static bool is_id(const char *text)
{
	return text && strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

/* Image and labels are in podman's own description of the container. */
static json_t *take_config(sqlite3_stmt *stmt)
{
	const char *text = (const char *)sqlite3_column_text(stmt, 1);
	json_t *config = NULL;

	if (text)
		watt_state_parse(text, (size_t)sqlite3_column_bytes(stmt, 1), &config);
	return config;
}

static int keep_row(sqlite3_stmt *stmt, const char *id, struct watt_answer *ret)
{
	struct watt_container container = { .id = id, .runtime = "podman" };
	json_t *config = take_config(stmt);
	int r;

	container.name = take_text(stmt, 0);
	container.image = watt_state_text(config, "rootfsImageName");
	container.pod_uid = take_text(stmt, 2);
	container.pod_name = take_text(stmt, 3);
	if (!is_id(container.pod_uid))
		container.pod_uid = container.pod_name = NULL;
	r = watt_state_keep(&container, json_object_get(config, "labels"), ret);
	json_decref(config);
	return r;
}

static int ask(sqlite3 *db, const char *id, struct watt_answer *ret)
{
	sqlite3_stmt *stmt = NULL;
	int rc, r;

	rc = sqlite3_prepare_v2(db, query, -1, &stmt, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(stmt, 1, id, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		r = keep_row(stmt, id, ret);
	else
		r = rc == SQLITE_DONE ? -ENOENT : rc == SQLITE_NOMEM ? -ENOMEM : -EBADMSG;
	sqlite3_finalize(stmt);
	return r;
}

int watt_libpod_parse(const char *data, size_t len, const char *id, struct watt_answer *ret)
{
	int r, steps = STEPS_MOST;
	sqlite3 *db = NULL;

	r = open_copy(data, len, &steps, &db);
	if (r == 0)
		r = ask(db, id, ret);
	sqlite3_close(db);
	return r;
}
