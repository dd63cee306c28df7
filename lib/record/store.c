/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a file of a recording and commits chunks to it.
 * It must not retry: what to do about a failure is the caller's.
 */
#include "record/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "record/rows.h"
#include "record/check.h"
#include "record/schema.h"
#include "record/sql.h"

/* How long a program that reads the file by SQL may keep a lock before a commit fails. */
#define BUSY_MS 2000
/* Room that is kept for the words that there is no room. */
#define RESERVE_BYTES (512 << 10)

struct watt_store {
	sqlite3 *db;
	char *path;
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

static void unlink_beside(const char *path, const char *tail)
{
	_cleanup_free_ char *name = name_beside(path, tail);

	if (name)
		unlink(name);
}

/* What SQLite left of a file that is no more: it must never be taken for a part of the new one. */
static void unlink_leftovers(const char *path)
{
	unlink_beside(path, "-wal");
	unlink_beside(path, "-shm");
	unlink_beside(path, "-journal");
}

static int complain(const struct watt_log *log, int r, const char *path, const char *why)
{
	watt_log(log, WATT_LOG_ERROR, "%s: can't be recorded to: %s", path,
		 why ? why : strerror(-r));
	return r;
}

/* Another process that has the file open as a recorder holds a lock on it. */
static bool is_being_written(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	return fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Whether the file may be made, or one that is there be replaced. */
static int check_place(const char *path, bool overwrite, const struct watt_log *log)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : complain(log, -errno, path, NULL);
	if (S_ISDIR(st.st_mode))
		return complain(log, -EISDIR, path, "it is a directory; give the name of a file");
	if (S_ISLNK(st.st_mode))
		return complain(log, -EMEDIUMTYPE, path,
				"it is a symbolic link; give the name of the file itself");
	if (!S_ISREG(st.st_mode))
		return complain(log, -EMEDIUMTYPE, path,
				"it is no plain file: a recording is a database and can't be "
				"written to a pipe or a device");
	if (!overwrite)
		return complain(log, -EEXIST, path,
				"it is there already; remove it, or ask to overwrite it");
	if (is_being_written(path))
		return complain(log, -EBUSY, path, "another process is writing it");
	return 0;
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

/* A whole file of another name, which then takes the place of the old one at once. */
static int make_file(const char *path, bool overwrite, const struct watt_store_head *head)
{
	_cleanup_free_ char *fresh = name_beside(path, ".new");
	sqlite3 *db = NULL;
	int r, rc;

	if (!fresh)
		return -ENOMEM;
	unlink(fresh);
	rc = sqlite3_open_v2(
		fresh, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	r = rc == SQLITE_OK ? make_tables(db, head) : watt_sql_errno(db, rc);
	sqlite3_close(db);
	if (r == 0) {
		unlink_leftovers(path);
		if (renameat2(AT_FDCWD, fresh, AT_FDCWD, path, overwrite ? 0 : RENAME_NOREPLACE) <
		    0)
			r = -errno;
		/* not every file system can do that */
		if (r == -EINVAL && link(fresh, path) == 0)
			r = 0;
	}
	if (r < 0 || access(fresh, F_OK) == 0)
		unlink(fresh);
	if (r == 0)
		sync_folder(path);
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
	int rc = sqlite3_open_v2(store->path, &store->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc != SQLITE_OK)
		return watt_sql_errno(store->db, rc);
	sqlite3_busy_timeout(store->db, BUSY_MS);
	rc = watt_sql_run(store->db, "PRAGMA synchronous=FULL; PRAGMA journal_mode=WAL; "
				     "PRAGMA temp_store=MEMORY");
	return rc < 0 ? rc : prepare(store);
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
	fd = open_folder(store->path, O_TMPFILE | O_RDWR);
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

int watt_store_create(const char *path, bool overwrite, const struct watt_store_head *head,
		      const struct watt_log *log, struct watt_store **ret)
{
	struct watt_store *store;
	int r = check_place(path, overwrite, log);

	if (r < 0)
		return r;
	store = calloc(1, sizeof(*store));
	if (!store)
		return -ENOMEM;
	store->reserve_fd = -1;
	store->realtime_offset_ns = head->realtime_offset_ns;
	store->n_channels = head->setup->n_channels;
	store->n_domains = head->n_domains;
	store->path = strdup(path);
	r = store->path ? make_file(path, overwrite, head) : -ENOMEM;
	if (r == 0)
		r = open_file(store);
	if (r < 0) {
		watt_store_free(store);
		return complain(log, r, path, NULL);
	}
	open_reserve(store);
	*ret = store;
	return 0;
}

struct watt_store *watt_store_free(struct watt_store *store)
{
	if (!store)
		return NULL;
	watt_rows_done(&store->rows);
	sqlite3_finalize(store->chunk);
	sqlite3_finalize(store->mark);
	sqlite3_finalize(store->loss);
	sqlite3_finalize(store->longer_loss);
	sqlite3_finalize(store->meta);
	sqlite3_close(store->db);
	close_reserve(store);
	free(store->path);
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

static uint64_t file_bytes(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* SQLite says of every failed write that it failed; here is why. */
static int explain(const struct watt_store *store, int r)
{
	_cleanup_free_ char *wal = name_beside(store->path, "-wal");
	struct rlimit limit;

	/* a commit may be larger than the room that is left below the limit */
	if (r == -EIO && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    WATT_MAX(file_bytes(wal), file_bytes(store->path)) + WATT_CHUNK_MAX > limit.rlim_cur)
		return -EFBIG;
	return r;
}

int watt_store_commit(struct watt_store *store, const struct watt_store_entry *entry,
		      const struct watt_store_loss *losses, size_t n_losses)
{
	size_t i;
	int r = 0;

	/* after a failure: what was given back must be had again before anything else */
	if (entry)
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
	if (r == 0)
		return 0;
	if (!sqlite3_get_autocommit(store->db))
		watt_sql_run(store->db, "ROLLBACK");
	watt_rows_forget(&store->rows);
	if (r == -ENOSPC || r == -EDQUOT || r == -EFBIG || r == -EIO)
		close_reserve(store);
	return explain(store, r);
}

int watt_store_extend_loss(struct watt_store *store, const struct watt_store_loss *loss)
{
	watt_sql_bind(store->longer_loss, "iii", (int64_t)loss->t1_ns, (int64_t)loss->samples,
		      (int64_t)loss->usage_records);
	return explain(store, watt_sql_step(store->db, store->longer_loss));
}

uint64_t watt_store_get_bytes(const struct watt_store *store)
{
	_cleanup_free_ char *wal = name_beside(store->path, "-wal");

	return file_bytes(store->path) + file_bytes(wal);
}

int watt_store_finish(struct watt_store *store)
{
	int r;

	close_reserve(store);
	r = put_meta(store, "complete", 1);
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
