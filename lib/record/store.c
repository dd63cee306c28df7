/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a file of a recording and commits chunks to it.
 * It must not retry: what to do about a failure is the caller's.
 */
#include "record/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "record/check.h"
#include "record/place.h"
#include "record/rows.h"
#include "record/schema.h"
#include "record/sql.h"

/* How long a program that reads the file by SQL may keep a lock before a commit fails. */
#define BUSY_MS 2000
/* Room that is kept for the words that there is no room. */
#define RESERVE_BYTES (512 << 10)

struct watt_store {
	sqlite3 *db;
	struct watt_place place;
	sqlite3_stmt *chunk;
	sqlite3_stmt *mark;
	sqlite3_stmt *loss;
	sqlite3_stmt *longer_loss;
	sqlite3_stmt *meta;
	struct watt_rows rows;
	int64_t realtime_offset_ns;
	size_t n_channels; /* in the file */
	size_t n_domains;
	int reserve_fd; /* a file without a name; -1: none */
	bool is_moved;  /* the file is not where it was; what is in it is right */
	bool is_broken; /* somebody else changed what is in it: it is left alone */
};

/* ---- making it ---- */

/* Appends to the name of the file: SQLite's other files, or the one that becomes it. */
static char *name_beside(const char *path, const char *tail)
{
	char *name;

	return asprintf(&name, "%s%s", path, tail) < 0 ? NULL : name;
}

/* The folder of a file, or a file without a name in it. A descriptor, or -1. */
static int open_folder(const char *path, int flags)
{
	_cleanup_free_ char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;

	if (slash)
		slash[slash == folder] = '\0';
	return folder ? open(slash ? folder : ".", flags | O_CLOEXEC, 0600) : -1;
}

/* So that the file has its name after a power loss too. Not every file system can. */
static void sync_folder(const char *path)
{
	_cleanup_close_ int fd = open_folder(path, O_RDONLY | O_DIRECTORY);

	if (fd >= 0)
		fsync(fd);
}

static int complain(const struct watt_log *log, int r, const char *path, const char *why)
{
	watt_log(log, WATT_LOG_ERROR, "%s: can't be recorded to: %s", path,
		 why ? why : strerror(-r));
	return r;
}

static int make_tables(sqlite3 *db, const struct watt_store_head *head)
{
	char pragmas[160];
	size_t i;
	int r;

	snprintf(pragmas, sizeof(pragmas),
		 "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=FULL; "
		 "PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN",
		 WATT_RECORDING_APPLICATION, WATT_RECORDING_FORMAT);
	r = watt_sql_run(db, pragmas);
	for (i = 0; watt_recording_tables[i].name && r == 0; i++)
		r = watt_sql_run(db, watt_recording_tables[i].sql);
	for (i = 0; watt_recording_views[i] && r == 0; i++)
		r = watt_sql_run(db, watt_recording_views[i]);
	if (r == 0)
		r = watt_rows_put_head(db, head);
	return r < 0 ? r : watt_sql_run(db, "COMMIT");
}

/*
 * A limit of the size of files is an error like a full disk. The signal that comes with it stays
 * where no handler sees it, unless it waited there before.
 */
struct size_signal {
	sigset_t before;
	bool was_pending;
};

static void block_size_signal(struct size_signal *state)
{
	sigset_t set;

	sigpending(&set);
	state->was_pending = sigismember(&set, SIGXFSZ);
	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &set, &state->before);
}

static void restore_size_signal(struct size_signal *state)
{
	static const struct timespec now;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	while (!state->was_pending && sigtimedwait(&set, NULL, &now) == SIGXFSZ)
		continue;
	pthread_sigmask(SIG_SETMASK, &state->before, NULL);
}

/* A database in the file that we made. No name on the way may be a link. */
static int open_database(const struct watt_place *place, sqlite3 **ret)
{
	int rc = sqlite3_open_v2(place->fresh ? place->fresh : place->path, ret,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
				 NULL);

	if (rc != SQLITE_OK)
		return watt_sql_errno(*ret, rc);
	return watt_place_is_ours(place) ? 0 : -ESTALE;
}

/* A whole file of another name, which then takes the place of the old one at once. */
static int make_file(struct watt_place *place, const struct watt_store_head *head)
{
	sqlite3 *db = NULL;
	int r;

	r = open_database(place, &db);
	if (r == 0)
		r = make_tables(db, head);
	sqlite3_close(db);
	if (r == 0)
		r = watt_place_publish(place);
	if (r == 0)
		sync_folder(place->path);
	return r;
}

static int prepare(struct watt_store *store)
{
	sqlite3 *db = store->db;
	int r = watt_rows_init(&store->rows, db);

	if (r == 0)
		r = watt_sql_prepare(db,
				     "INSERT INTO chunks(t0_ns, t1_ns, n_samples, n_usage, "
				     "n_ops, data) VALUES(?, ?, ?, ?, ?, ?)",
				     &store->chunk);
	if (r == 0)
		r = watt_sql_prepare(db,
				     "INSERT INTO marks(t_ns, realtime_ns, pid, label) "
				     "VALUES(?, ?, ?, ?)",
				     &store->mark);
	if (r == 0)
		r = watt_sql_prepare(db,
				     "INSERT INTO losses(t0_ns, t1_ns, samples, "
				     "usage_records, why) VALUES(?, ?, ?, ?, ?)",
				     &store->loss);
	if (r == 0)
		r = watt_sql_prepare(db,
				     "UPDATE losses SET t1_ns = ?, samples = ?, "
				     "usage_records = ? "
				     "WHERE id = (SELECT max(id) FROM losses)",
				     &store->longer_loss);
	if (r == 0)
		r = watt_sql_prepare(db, "UPDATE meta SET value = ? WHERE key = ?", &store->meta);
	return r;
}

static int open_file(struct watt_store *store)
{
	int r;

	r = open_database(&store->place, &store->db);
	if (r < 0)
		return r;
	sqlite3_busy_timeout(store->db, BUSY_MS);
	r = watt_sql_run(store->db, "PRAGMA synchronous=FULL; PRAGMA journal_mode=WAL; "
				    "PRAGMA temp_store=MEMORY");
	return r < 0 ? r : prepare(store);
}

/*
 * Room that nobody sees, given back when the disk is full: then the loss can be written down. 0,
 * also where the file system has no files without a name; or why there is no room.
 */
static int open_reserve(struct watt_store *store)
{
	int fd, r;

	if (store->reserve_fd >= 0)
		return 0;
	fd = open_folder(store->place.path, O_TMPFILE | O_RDWR);
	if (fd < 0)
		return 0;
	if (fallocate(fd, 0, 0, RESERVE_BYTES) < 0) {
		r = -errno;
		close(fd);
		return r == -ENOSPC || r == -EDQUOT || r == -EFBIG ? r : 0;
	}
	store->reserve_fd = fd;
	return 0;
}

static void close_reserve(struct watt_store *store)
{
	if (store->reserve_fd >= 0)
		close(store->reserve_fd);
	store->reserve_fd = -1;
}

static uint64_t file_bytes(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* SQLite says of every failed write that it failed; here is why. */
static int explain(const struct watt_store *store, int r)
{
	_cleanup_free_ char *wal = name_beside(store->place.path, "-wal");
	struct rlimit limit;

	/* a commit may be larger than the room that is left below the limit */
	if ((r == -EIO || r == -ENOSPC || r == -EFBIG) && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY &&
	    WATT_MAX(file_bytes(wal), file_bytes(store->place.path)) + WATT_CHUNK_MAX >
		    limit.rlim_cur)
		return -EFBIG;
	return r;
}

int watt_store_create(const char *path, bool overwrite, const struct watt_store_head *head,
		      const struct watt_log *log, struct watt_store **ret)
{
	struct watt_store *store = calloc(1, sizeof(*store));
	struct size_signal size_signal;
	int r;

	if (!store)
		return -ENOMEM;
	store->reserve_fd = -1;
	store->place = WATT_PLACE_INIT;
	store->realtime_offset_ns = head->realtime_offset_ns;
	store->n_channels = head->setup->n_channels;
	store->n_domains = head->n_domains;
	r = watt_place_take(&store->place, path, overwrite, head->uid, head->gid, log);
	if (r < 0) {
		watt_store_free(store);
		return r;
	}
	block_size_signal(&size_signal);
	r = make_file(&store->place, head);
	if (r == 0)
		r = open_file(store);
	if (r < 0) {
		r = complain(log, explain(store, r), path, NULL);
		watt_store_free(store);
	} else {
		open_reserve(store);
		watt_place_remember(&store->place);
		*ret = store;
	}
	restore_size_signal(&size_signal);
	return r;
}

struct watt_store *watt_store_free(struct watt_store *store)
{
	struct size_signal size_signal;

	if (!store)
		return NULL;
	watt_rows_done(&store->rows);
	sqlite3_finalize(store->chunk);
	sqlite3_finalize(store->mark);
	sqlite3_finalize(store->loss);
	sqlite3_finalize(store->longer_loss);
	sqlite3_finalize(store->meta);
	block_size_signal(&size_signal);
	if (store->is_broken)
		sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_close(store->db);
	restore_size_signal(&size_signal);
	close_reserve(store);
	watt_place_done(&store->place);
	free(store);
	return NULL;
}

/* ---- committing ---- */

static int put_meta(struct watt_store *store, const char *key, uint64_t value)
{
	watt_sql_bind(store->meta, "is", (int64_t)value, key);
	return watt_sql_step(store->db, store->meta);
}

static int put_chunk(struct watt_store *store, const struct watt_store_entry *entry)
{
	const struct watt_chunk *chunk = entry->chunk;
	uint64_t t0_ns = chunk->t0_ns == UINT64_MAX ? chunk->t1_ns : chunk->t0_ns;
	int r;

	watt_sql_bind(store->chunk, "iiiii", (int64_t)t0_ns, (int64_t)chunk->t1_ns,
		      (int64_t)chunk->n_samples, (int64_t)chunk->n_usage, (int64_t)chunk->n_ops);
	sqlite3_bind_blob64(store->chunk, 6, entry->packed, entry->packed_size, SQLITE_STATIC);
	r = watt_sql_step(store->db, store->chunk);
	sqlite3_clear_bindings(store->chunk);
	return r;
}

/* Channels and domains that have come since the file was made. */
static int put_more(struct watt_store *store, const struct watt_store_entry *entry)
{
	int64_t check;
	int r;

	if (entry->n_channels <= store->n_channels && entry->n_domains <= store->n_domains)
		return 0;
	r = watt_rows_put_channels(store->db, entry->channels, store->n_channels,
				   entry->n_channels);
	if (r == 0)
		r = watt_rows_put_domains(store->db, entry->domains, store->n_domains,
					  entry->n_domains);
	if (r == 0)
		r = watt_check_compute(store->db, &check);
	return r < 0 ? r : put_meta(store, "check", (uint64_t)check);
}

static int put_entry(struct watt_store *store, const struct watt_store_entry *entry)
{
	size_t i;
	int r = put_more(store, entry);

	if (r == 0 && entry->chunk)
		r = put_chunk(store, entry);

	for (i = 0; i < entry->n_marks && r == 0; i++) {
		const struct watt_mark *mark = &entry->marks[i];

		watt_sql_bind(store->mark, "iiis", (int64_t)mark->t_ns,
			      (int64_t)mark->t_ns + store->realtime_offset_ns, (int64_t)mark->pid,
			      mark->label);
		r = watt_sql_step(store->db, store->mark);
	}
	for (i = 0; i < entry->n_snapshots && r == 0; i++)
		r = watt_rows_put_snapshot(&store->rows, entry->snapshots[i]);
	if (r == 0)
		r = put_meta(store, "missed_reads", entry->missed_reads);
	if (r == 0)
		r = put_meta(store, "lost_samples", entry->lost_samples);
	if (r == 0)
		r = put_meta(store, "lost_usage", entry->lost_usage);
	return r < 0 ? r : put_meta(store, "snapshot_aligned", entry->is_snapshot_aligned);
}

static int put_loss(struct watt_store *store, const struct watt_store_loss *loss)
{
	watt_sql_bind(store->loss, "iiiis", (int64_t)loss->t0_ns, (int64_t)loss->t1_ns,
		      (int64_t)loss->samples, (int64_t)loss->usage_records, loss->why);
	return watt_sql_step(store->db, store->loss);
}

/* Whether the file is as a recording of ours has to be, all of it: after others wrote to it. */
static bool is_sound(const struct watt_store *store)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	bool is_sound;

	is_sound =
		sqlite3_open_v2(store->place.path, &db,
				SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
				NULL) == SQLITE_OK &&
		watt_sql_prepare(db, "PRAGMA quick_check(1)", &stmt) == 0 &&
		sqlite3_step(stmt) == SQLITE_ROW &&
		!strcmp((const char *)sqlite3_column_text(stmt, 0), "ok");
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return is_sound;
}

/* What was written until now is in the file, whatever name it has now. */
static void leave_moved(struct watt_store *store)
{
	_cleanup_free_ char *wal = name_beside(store->place.path, "-wal");
	_cleanup_free_ char *shm = name_beside(store->place.path, "-shm");
	struct stat st;

	store->is_moved = true;
	watt_sql_run(store->db, "PRAGMA wal_checkpoint(TRUNCATE)");
	if (wal && shm && lstat(wal, &st) == 0 && st.st_ino == store->place.seen_wal.st_ino) {
		unlink(wal);
		unlink(shm);
	}
}

/* -ESTALE: others have taken the file away, or spoilt it. It stays so. */
static int check_place(struct watt_store *store)
{
	enum watt_place_state state;

	if (store->is_moved || store->is_broken)
		return -ESTALE;
	state = watt_place_look(&store->place);
	if (state == WATT_PLACE_OURS || (state == WATT_PLACE_TOUCHED && is_sound(store)))
		return 0;
	if (state == WATT_PLACE_MOVED)
		leave_moved(store);
	else
		store->is_broken = true;
	return -ESTALE;
}

int watt_store_commit(struct watt_store *store, const struct watt_store_entry *entry,
		      const struct watt_store_loss *losses, size_t n_losses)
{
	size_t i;
	int r = 0;

	r = check_place(store);
	/* after a failure: what was given back must be had again before anything else */
	if (r == 0 && entry)
		r = open_reserve(store);
	if (r == 0)
		r = watt_sql_run(store->db, "BEGIN IMMEDIATE");
	if (r < 0)
		return r;
	for (i = 0; i < n_losses && r == 0; i++)
		r = put_loss(store, &losses[i]);
	if (r == 0 && entry)
		r = put_entry(store, entry);
	if (r == 0)
		r = watt_sql_run(store->db, "COMMIT");
	if (r == 0 && entry) {
		store->n_channels = WATT_MAX(store->n_channels, entry->n_channels);
		store->n_domains = WATT_MAX(store->n_domains, entry->n_domains);
	}
	if (r == 0) {
		watt_place_remember(&store->place);
		return 0;
	}
	if (!sqlite3_get_autocommit(store->db))
		watt_sql_run(store->db, "ROLLBACK");
	watt_rows_forget(&store->rows);
	/* what we wrote is no database any more */
	if (r == -EBADMSG || r == -EMEDIUMTYPE) {
		store->is_broken = true;
		return -ESTALE;
	}
	if (r == -ENOSPC || r == -EDQUOT || r == -EFBIG || r == -EIO)
		close_reserve(store);
	return explain(store, r);
}

int watt_store_extend_loss(struct watt_store *store, const struct watt_store_loss *loss)
{
	int r = check_place(store);

	if (r < 0)
		return r;
	watt_sql_bind(store->longer_loss, "iii", (int64_t)loss->t1_ns, (int64_t)loss->samples,
		      (int64_t)loss->usage_records);
	r = explain(store, watt_sql_step(store->db, store->longer_loss));
	watt_place_remember(&store->place);
	return r;
}

uint64_t watt_store_get_bytes(const struct watt_store *store)
{
	_cleanup_free_ char *wal = name_beside(store->place.path, "-wal");

	return file_bytes(store->place.path) + file_bytes(wal);
}

static int make_one_file(struct watt_store *store)
{
	int r = put_meta(store, "complete", 1);

	/* journal_mode can't change while a statement is held */
	watt_rows_done(&store->rows);
	sqlite3_finalize(store->chunk);
	sqlite3_finalize(store->mark);
	sqlite3_finalize(store->loss);
	sqlite3_finalize(store->longer_loss);
	sqlite3_finalize(store->meta);
	store->chunk = store->mark = store->loss = store->longer_loss = store->meta = NULL;
	if (r == 0)
		r = watt_sql_run(store->db, "PRAGMA wal_checkpoint(TRUNCATE)");
	return r < 0 ? r : watt_sql_run(store->db, "PRAGMA journal_mode=DELETE");
}

int watt_store_finish(struct watt_store *store)
{
	struct size_signal size_signal;
	int r;

	close_reserve(store);
	r = check_place(store);
	if (r < 0)
		return r;
	block_size_signal(&size_signal);
	r = make_one_file(store);
	restore_size_signal(&size_signal);
	return r;
}
