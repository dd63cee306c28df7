/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a file of a recording and commits chunks to it.
 * It must not retry: what to do about a failure is the caller's; nor touch a file that is no part
 * of the recording.
 */
#include "record/part.h"

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

struct watt_part {
	sqlite3 *db;
	struct watt_place place;
	sqlite3_stmt *chunk;
	sqlite3_stmt *mark;
	sqlite3_stmt *loss;
	sqlite3_stmt *longer_loss;
	sqlite3_stmt *meta;
	struct watt_rows rows;
	size_t n_channels; /* in the file */
	size_t n_domains;
	int reserve_fd; /* a file without a name; -1: none */
	bool is_moved;  /* the file is not where it was; what is in it is right */
	bool is_broken; /* somebody else changed what is in it: it is left alone */
};

/* ---- its name ---- */

char *watt_recording_part_path(const char *path, uint32_t part)
{
	const char *base = strrchr(path, '/');
	const char *dot;
	char *name;

	if (part == 1)
		return strdup(path);
	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	if (!dot || dot == base)
		dot = base + strlen(base);
	return asprintf(&name, "%.*s-%u%s", (int)(dot - path), path, part, dot) < 0 ? NULL : name;
}

bool watt_part_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

void watt_part_remove(const char *path, uint32_t part)
{
	static const char *const tails[] = { "", "-wal", "-shm" };
	_cleanup_free_ char *name = watt_recording_part_path(path, part);
	size_t i;

	for (i = 0; name && i < 3; i++) {
		char *full;

		if (asprintf(&full, "%s%s", name, tails[i]) < 0)
			return;
		unlink(full);
		free(full);
	}
}

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

static int make_tables(sqlite3 *db, const struct watt_part_head *head)
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
static int make_file(struct watt_place *place, const struct watt_part_head *head)
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

static int prepare(struct watt_part *part)
{
	sqlite3 *db = part->db;
	int r = watt_rows_init(&part->rows, db);

	if (r == 0)
		r = watt_sql_prepare(db,
				     "INSERT INTO chunks(t0_ns, t1_ns, n_samples, n_usage, "
				     "n_ops, data) VALUES(?, ?, ?, ?, ?, ?)",
				     &part->chunk);
	if (r == 0)
		r = watt_sql_prepare(db,
				     "INSERT INTO marks(t_ns, realtime_ns, pid, label) "
				     "VALUES(?, ?, ?, ?)",
				     &part->mark);
	if (r == 0)
		r = watt_sql_prepare(db,
				     "INSERT INTO losses(t0_ns, t1_ns, samples, "
				     "usage_records, why) VALUES(?, ?, ?, ?, ?)",
				     &part->loss);
	if (r == 0)
		r = watt_sql_prepare(db,
				     "UPDATE losses SET t1_ns = ?, samples = ?, "
				     "usage_records = ? "
				     "WHERE id = (SELECT max(id) FROM losses)",
				     &part->longer_loss);
	if (r == 0)
		r = watt_sql_prepare(db, "UPDATE meta SET value = ? WHERE key = ?", &part->meta);
	return r;
}

static int open_file(struct watt_part *part)
{
	int r;

	r = open_database(&part->place, &part->db);
	if (r < 0)
		return r;
	sqlite3_busy_timeout(part->db, BUSY_MS);
	r = watt_sql_run(part->db, "PRAGMA synchronous=FULL; PRAGMA journal_mode=WAL; "
				   "PRAGMA temp_store=MEMORY");
	return r < 0 ? r : prepare(part);
}

/*
 * Room that nobody sees, given back when the disk is full: then the loss can be written down. 0,
 * also where the file system has no files without a name; or why there is no room.
 */
static int open_reserve(struct watt_part *part)
{
	int fd, r;

	if (part->reserve_fd >= 0)
		return 0;
	fd = open_folder(part->place.path, O_TMPFILE | O_RDWR);
	if (fd < 0)
		return 0;
	if (fallocate(fd, 0, 0, RESERVE_BYTES) < 0) {
		r = -errno;
		close(fd);
		return r == -ENOSPC || r == -EDQUOT || r == -EFBIG ? r : 0;
	}
	part->reserve_fd = fd;
	return 0;
}

static void close_reserve(struct watt_part *part)
{
	if (part->reserve_fd >= 0)
		close(part->reserve_fd);
	part->reserve_fd = -1;
}

static uint64_t file_bytes(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* SQLite says of every failed write that it failed; here is why. */
static int explain(const struct watt_part *part, int r)
{
	_cleanup_free_ char *wal = name_beside(part->place.path, "-wal");
	struct rlimit limit;

	/* a commit may be larger than the room that is left below the limit */
	if ((r == -EIO || r == -ENOSPC || r == -EFBIG) && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY &&
	    WATT_MAX(file_bytes(wal), file_bytes(part->place.path)) + WATT_CHUNK_MAX >
		    limit.rlim_cur)
		return -EFBIG;
	return r;
}

int watt_part_create(const char *path, bool overwrite, const struct watt_part_head *head,
		     const struct watt_log *log, struct watt_part **ret)
{
	struct watt_part *part = calloc(1, sizeof(*part));
	struct size_signal size_signal;
	int r;

	if (!part)
		return -ENOMEM;
	part->reserve_fd = -1;
	part->place = WATT_PLACE_INIT;
	part->n_channels = head->setup->n_channels;
	part->n_domains = head->n_domains;
	r = watt_place_take(&part->place, path, overwrite, head->uid, head->gid, log);
	if (r < 0) {
		watt_part_free(part);
		return r;
	}
	block_size_signal(&size_signal);
	r = make_file(&part->place, head);
	if (r == 0)
		r = open_file(part);
	if (r < 0) {
		r = complain(log, explain(part, r), path, NULL);
		watt_part_free(part);
	} else {
		open_reserve(part);
		watt_place_remember(&part->place);
		*ret = part;
	}
	restore_size_signal(&size_signal);
	return r;
}

struct watt_part *watt_part_free(struct watt_part *part)
{
	struct size_signal size_signal;

	if (!part)
		return NULL;
	watt_rows_done(&part->rows);
	sqlite3_finalize(part->chunk);
	sqlite3_finalize(part->mark);
	sqlite3_finalize(part->loss);
	sqlite3_finalize(part->longer_loss);
	sqlite3_finalize(part->meta);
	block_size_signal(&size_signal);
	if (part->is_broken)
		sqlite3_db_config(part->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_close(part->db);
	restore_size_signal(&size_signal);
	close_reserve(part);
	watt_place_done(&part->place);
	free(part);
	return NULL;
}

/* ---- committing ---- */

static int put_meta(struct watt_part *part, const char *key, uint64_t value)
{
	watt_sql_bind(part->meta, "is", (int64_t)value, key);
	return watt_sql_step(part->db, part->meta);
}

static int put_chunk(struct watt_part *part, const struct watt_part_entry *entry)
{
	const struct watt_chunk *chunk = entry->chunk;
	uint64_t t0_ns = chunk->t0_ns == UINT64_MAX ? chunk->t1_ns : chunk->t0_ns;
	int r;

	watt_sql_bind(part->chunk, "iiiii", (int64_t)t0_ns, (int64_t)chunk->t1_ns,
		      (int64_t)chunk->n_samples, (int64_t)chunk->n_usage, (int64_t)chunk->n_ops);
	sqlite3_bind_blob64(part->chunk, 6, entry->packed, entry->packed_size, SQLITE_STATIC);
	r = watt_sql_step(part->db, part->chunk);
	sqlite3_clear_bindings(part->chunk);
	return r;
}

/* Channels and domains that have come since the file was made. */
static int put_more(struct watt_part *part, const struct watt_part_entry *entry)
{
	int64_t check;
	int r;

	if (entry->n_channels <= part->n_channels && entry->n_domains <= part->n_domains)
		return 0;
	r = watt_rows_put_channels(part->db, entry->channels, part->n_channels, entry->n_channels);
	if (r == 0)
		r = watt_rows_put_domains(part->db, entry->domains, part->n_domains,
					  entry->n_domains);
	if (r == 0)
		r = watt_check_compute(part->db, &check);
	return r < 0 ? r : put_meta(part, "check", (uint64_t)check);
}

static int put_entry(struct watt_part *part, const struct watt_part_entry *entry)
{
	size_t i;
	int r = put_more(part, entry);

	if (r == 0 && entry->chunk)
		r = put_chunk(part, entry);

	for (i = 0; i < entry->n_marks && r == 0; i++) {
		const struct watt_mark *mark = &entry->marks[i];

		watt_sql_bind(part->mark, "iiis", (int64_t)mark->t_ns,
			      (int64_t)mark->t_ns + entry->realtime_offset_ns, (int64_t)mark->pid,
			      mark->label);
		r = watt_sql_step(part->db, part->mark);
	}
	for (i = 0; i < entry->n_snapshots && r == 0; i++)
		r = watt_rows_put_snapshot(&part->rows, entry->snapshots[i]);
	if (r == 0)
		r = put_meta(part, "missed_reads", entry->missed_reads);
	if (r == 0)
		r = put_meta(part, "lost_samples", entry->lost_samples);
	if (r == 0)
		r = put_meta(part, "lost_usage", entry->lost_usage);
	if (r == 0)
		r = put_meta(part, "lost_marks", entry->lost_marks);
	if (r == 0)
		r = put_meta(part, "slept_ns", entry->slept_ns);
	if (r == 0)
		r = put_meta(part, "ended_ns", entry->ended_ns);
	return r < 0 ? r : put_meta(part, "snapshot_aligned", entry->is_snapshot_aligned);
}

static int put_loss(struct watt_part *part, const struct watt_part_loss *loss)
{
	watt_sql_bind(part->loss, "iiiis", (int64_t)loss->t0_ns, (int64_t)loss->t1_ns,
		      (int64_t)loss->samples, (int64_t)loss->usage_records, loss->why);
	return watt_sql_step(part->db, part->loss);
}

/* Whether the file is as a recording of ours has to be, all of it: after others wrote to it. */
static bool is_sound(const struct watt_part *part)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	bool is_sound;

	is_sound =
		sqlite3_open_v2(part->place.path, &db,
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
static void leave_moved(struct watt_part *part)
{
	_cleanup_free_ char *wal = name_beside(part->place.path, "-wal");
	_cleanup_free_ char *shm = name_beside(part->place.path, "-shm");
	struct stat st;

	part->is_moved = true;
	watt_sql_run(part->db, "PRAGMA wal_checkpoint(TRUNCATE)");
	if (wal && shm && lstat(wal, &st) == 0 && st.st_ino == part->place.seen_wal.st_ino) {
		unlink(wal);
		unlink(shm);
	}
}

/* -ESTALE: others have taken the file away, or spoilt it. It stays so. */
static int check_place(struct watt_part *part)
{
	enum watt_place_state state;

	if (part->is_moved || part->is_broken)
		return -ESTALE;
	state = watt_place_look(&part->place);
	if (state == WATT_PLACE_OURS || (state == WATT_PLACE_TOUCHED && is_sound(part)))
		return 0;
	if (state == WATT_PLACE_MOVED)
		leave_moved(part);
	else
		part->is_broken = true;
	return -ESTALE;
}

int watt_part_commit(struct watt_part *part, const struct watt_part_entry *entry,
		     const struct watt_part_loss *losses, size_t n_losses)
{
	size_t i;
	int r = 0;

	r = check_place(part);
	/* after a failure: what was given back must be had again before anything else */
	if (r == 0 && entry)
		r = open_reserve(part);
	if (r == 0)
		r = watt_sql_run(part->db, "BEGIN IMMEDIATE");
	if (r < 0)
		return r;
	for (i = 0; i < n_losses && r == 0; i++)
		r = put_loss(part, &losses[i]);
	if (r == 0 && entry)
		r = put_entry(part, entry);
	if (r == 0)
		r = watt_sql_run(part->db, "COMMIT");
	if (r == 0 && entry) {
		part->n_channels = WATT_MAX(part->n_channels, entry->n_channels);
		part->n_domains = WATT_MAX(part->n_domains, entry->n_domains);
	}
	if (r == 0) {
		watt_place_remember(&part->place);
		return 0;
	}
	if (!sqlite3_get_autocommit(part->db))
		watt_sql_run(part->db, "ROLLBACK");
	watt_rows_forget(&part->rows);
	/* what we wrote is no database any more */
	if (r == -EBADMSG || r == -EMEDIUMTYPE) {
		part->is_broken = true;
		return -ESTALE;
	}
	if (r == -ENOSPC || r == -EDQUOT || r == -EFBIG || r == -EIO)
		close_reserve(part);
	return explain(part, r);
}

int watt_part_extend_loss(struct watt_part *part, const struct watt_part_loss *loss)
{
	int r = check_place(part);

	if (r < 0)
		return r;
	watt_sql_bind(part->longer_loss, "iii", (int64_t)loss->t1_ns, (int64_t)loss->samples,
		      (int64_t)loss->usage_records);
	r = explain(part, watt_sql_step(part->db, part->longer_loss));
	watt_place_remember(&part->place);
	return r;
}

uint64_t watt_part_get_bytes(const struct watt_part *part)
{
	_cleanup_free_ char *wal = name_beside(part->place.path, "-wal");

	return file_bytes(part->place.path) + file_bytes(wal);
}

static int make_one_file(struct watt_part *part)
{
	int r = put_meta(part, "complete", 1);

	/* journal_mode can't change while a statement is held */
	watt_rows_done(&part->rows);
	sqlite3_finalize(part->chunk);
	sqlite3_finalize(part->mark);
	sqlite3_finalize(part->loss);
	sqlite3_finalize(part->longer_loss);
	sqlite3_finalize(part->meta);
	part->chunk = part->mark = part->loss = part->longer_loss = part->meta = NULL;
	if (r == 0)
		r = watt_sql_run(part->db, "PRAGMA wal_checkpoint(TRUNCATE)");
	return r < 0 ? r : watt_sql_run(part->db, "PRAGMA journal_mode=DELETE");
}

int watt_part_finish(struct watt_part *part)
{
	struct size_signal size_signal;
	int r;

	close_reserve(part);
	r = check_place(part);
	if (r < 0)
		return r;
	block_size_signal(&size_signal);
	r = make_one_file(part);
	restore_size_signal(&size_signal);
	return r;
}
