/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes, locks and watches the file of a recording. Each name is used without following a link at
 * it, and what is locked is compared with what has the name.
 * It must not know what is in the file.
 */
#include "record/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/util.h"

/* A byte that SQLite never locks, far behind the end of any file. */
#define LOCK_BYTE ((off_t)1 << 60)
#define SQLITE_MAGIC "SQLite format 3"
#define WAL_MAGIC "\x37\x7f\x06" /* and a byte that differs */

static const char *const tails[] = { "-wal", "-shm", "-journal" };

static int complain(const struct watt_log *log, int r, const char *path, const char *why)
{
	watt_log(log, WATT_LOG_ERROR, "%s: can't be recorded to: %s", path,
		 why ? why : strerror(-r));
	return r;
}

static char *name_beside(const char *path, const char *tail)
{
	char *name;

	return asprintf(&name, "%s%s", path, tail) < 0 ? NULL : name;
}

/* The folder without links, and the name in it. A name is never a URI or a word of SQLite's. */
static int resolve(const char *path, char **ret)
{
	_cleanup_free_ char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;
	const char *base = slash ? path + (slash - folder) + 1 : path;
	_cleanup_free_ char *real = NULL;

	if (!folder)
		return -ENOMEM;
	if (slash)
		slash[slash == folder] = '\0';
	real = realpath(slash ? folder : ".", NULL);
	if (!real)
		return -errno;
	return asprintf(ret, "%s/%s", strcmp(real, "/") == 0 ? "" : real, base) < 0 ? -ENOMEM : 0;
}

static int lock(int fd)
{
	struct flock range = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1
	};

	if (fcntl(fd, F_OFD_SETLK, &range) == 0)
		return 0;
	return errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool has_name(int fd, const char *path)
{
	struct stat named, open;

	return lstat(path, &named) == 0 && fstat(fd, &open) == 0 && is_same(&named, &open);
}

/* Whether there may be a file, and of what kind what is there is. 1: there is none. */
static int check_kind(const char *path, const char *shown, bool overwrite,
		      const struct watt_log *log)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 1 : complain(log, -errno, shown, NULL);
	if (S_ISDIR(st.st_mode))
		return complain(log, -EISDIR, shown, "it is a directory; give the name of a file");
	if (S_ISLNK(st.st_mode))
		return complain(log, -EMEDIUMTYPE, shown,
				"it is a symbolic link; give the name of the file itself");
	if (!S_ISREG(st.st_mode))
		return complain(log, -EMEDIUMTYPE, shown,
				"it is no plain file: a recording is a database and can't be "
				"written to a pipe or a device");
	if (!overwrite)
		return complain(log, -EEXIST, shown,
				"it is there already; remove it, or ask to overwrite it");
	return 0;
}

/* Locks what is to be replaced: nobody writes it, and nobody else replaces it. */
static int take_old(struct watt_place *place, const char *shown, const struct watt_log *log)
{
	char magic[sizeof(SQLITE_MAGIC)] = "";
	int r;

	place->old_fd = open(place->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	r = place->old_fd < 0 ? -errno : lock(place->old_fd);
	/* it was replaced between the two: by somebody who writes it now */
	if (r == 0 && !has_name(place->old_fd, place->path))
		r = -EBUSY;
	if (r < 0)
		return complain(log, r, shown,
				r == -EBUSY ? "another process is writing it" : NULL);
	place->is_old_recording = pread(place->old_fd, magic, sizeof(magic), 0) > 0 &&
				  memcmp(magic, SQLITE_MAGIC, sizeof(magic)) == 0;
	return 0;
}

/* Files that SQLite would take for parts of ours, and that are somebody's. */
static int check_beside(const struct watt_place *place, const char *shown,
			const struct watt_log *log)
{
	struct stat st;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(tails) && !place->is_old_recording; i++) {
		_cleanup_free_ char *name = name_beside(place->path, tails[i]);
		_cleanup_free_ char *beside = name_beside(shown, tails[i]);

		if (!name || !beside)
			return -ENOMEM;
		if (lstat(name, &st) == 0)
			return complain(log, -EEXIST, beside,
					"it is there already and would be taken for a part of the "
					"recording; remove it, or give another name");
	}
	return 0;
}

static int make_fresh(struct watt_place *place, uint32_t uid, uint32_t gid)
{
	int r;

	place->fresh = name_beside(place->path, ".XXXXXX");
	if (!place->fresh)
		return -ENOMEM;
	place->fd = mkostemp(place->fresh, O_CLOEXEC);
	if (place->fd < 0) {
		r = -errno;
		free(place->fresh);
		place->fresh = NULL;
		return r;
	}
	if ((uid || gid) && fchown(place->fd, uid, gid) < 0)
		return -errno;
	r = lock(place->fd);
	/* Where there are no locks nobody else has one either. */
	return r == -ENOLCK || r == -EOPNOTSUPP || r == -EINVAL ? 0 : r;
}

int watt_place_take(struct watt_place *place, const char *path, bool overwrite, uint32_t uid,
		    uint32_t gid, const struct watt_log *log)
{
	int r = resolve(path, &place->path);

	if (r < 0)
		return complain(log, r, path, NULL);
	r = check_kind(place->path, path, overwrite, log);
	if (r == 0)
		r = take_old(place, path, log);
	if (r >= 0)
		r = check_beside(place, path, log);
	if (r < 0)
		return r;
	r = make_fresh(place, uid, gid);
	return r < 0 ? complain(log, r, path, NULL) : 0;
}

/* What SQLite left of a file that is no more must never be taken for a part of the new one. */
static void unlink_leftovers(const struct watt_place *place)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(tails) && place->is_old_recording; i++) {
		_cleanup_free_ char *name = name_beside(place->path, tails[i]);

		if (name)
			unlink(name);
	}
}

static int rename_fresh(const struct watt_place *place)
{
	if (place->old_fd >= 0)
		return rename(place->fresh, place->path) < 0 ? -errno : 0;
	if (renameat2(AT_FDCWD, place->fresh, AT_FDCWD, place->path, RENAME_NOREPLACE) == 0)
		return 0;
	/* not every file system can do that */
	if (errno != EINVAL || link(place->fresh, place->path) < 0)
		return -errno;
	unlink(place->fresh);
	return 0;
}

int watt_place_publish(struct watt_place *place)
{
	int r;

	if (place->old_fd >= 0 && !has_name(place->old_fd, place->path))
		return -EBUSY;
	unlink_leftovers(place);
	r = rename_fresh(place);
	if (r < 0)
		return r;
	free(place->fresh);
	place->fresh = NULL;
	if (place->old_fd >= 0)
		close(place->old_fd);
	place->old_fd = -1;
	return watt_place_is_ours(place) ? 0 : -ESTALE;
}

bool watt_place_is_ours(const struct watt_place *place)
{
	return has_name(place->fd, place->fresh ? place->fresh : place->path);
}

static int look_at_wal(const struct watt_place *place, struct stat *ret)
{
	_cleanup_free_ char *wal = name_beside(place->path, "-wal");

	return wal && lstat(wal, ret) == 0 ? 0 : -ENOENT;
}

/* One that was cut while we wrote behind that place begins with nothing. */
static bool is_wal_cut(const struct watt_place *place)
{
	_cleanup_free_ char *name = name_beside(place->path, "-wal");
	_cleanup_close_ int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	unsigned char magic[4];

	return fd >= 0 && pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, WAL_MAGIC, 3) != 0;
}

void watt_place_remember(struct watt_place *place)
{
	if (fstat(place->fd, &place->seen) < 0)
		place->seen = (struct stat){ 0 };
	if (look_at_wal(place, &place->seen_wal) < 0)
		place->seen_wal = (struct stat){ 0 };
}

enum watt_place_state watt_place_look(const struct watt_place *place)
{
	const struct timespec *before = &place->seen.st_mtim;
	struct stat st, wal = { 0 };

	if (!watt_place_is_ours(place))
		return WATT_PLACE_MOVED;
	if (fstat(place->fd, &st) < 0 || st.st_size < place->seen.st_size)
		return WATT_PLACE_CUT;
	if (place->seen_wal.st_ino &&
	    (look_at_wal(place, &wal) < 0 || !is_same(&wal, &place->seen_wal) ||
	     wal.st_size < place->seen_wal.st_size))
		return WATT_PLACE_CUT;
	if (is_wal_cut(place))
		return WATT_PLACE_CUT;
	return st.st_mtim.tv_sec == before->tv_sec && st.st_mtim.tv_nsec == before->tv_nsec ?
		       WATT_PLACE_OURS :
		       WATT_PLACE_TOUCHED;
}

void watt_place_done(struct watt_place *place)
{
	if (place->fresh && place->fd >= 0 && watt_place_is_ours(place))
		unlink(place->fresh);
	if (place->fd >= 0)
		close(place->fd);
	if (place->old_fd >= 0)
		close(place->old_fd);
	free(place->fresh);
	free(place->path);
	*place = WATT_PLACE_INIT;
}
