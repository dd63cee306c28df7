/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hears of new directories by inotify, and notes their inode numbers at once. What is in the
 * directories is not read.
 */
#include "source/meta/cgroup_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "source/host/cgroupfs.h"

struct seen {
	uint64_t id;
	char *path;
};

struct watt_cgroup_watch {
	const struct watt_root *sysfs;
	char place[256];
	int fd;
	char **paths; /* of watched directories, by watch descriptor; "" is the top */
	size_t n_paths;
	size_t n_watched;
	struct seen seen[WATT_CGROUP_WATCH_KEPT]; /* a ring */
	size_t n_seen;                            /* so far */
};

static int directory_fd(const struct watt_cgroup_watch *watch, const char *path)
{
	char full[PATH_MAX];
	int n = snprintf(full, sizeof(full), "%s%s", watch->place, path);

	if (n < 0 || (size_t)n >= sizeof(full))
		return -ENAMETOOLONG;
	return watt_root_open_fd(watch->sysfs, full, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

static int set_path(struct watt_cgroup_watch *watch, int wd, const char *path)
{
	size_t n = (size_t)wd + 1, cap = watch->n_paths ? watch->n_paths : 64;
	char **grown, *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	while (cap < n)
		cap *= 2;
	if (cap > watch->n_paths) {
		grown = reallocarray(watch->paths, cap, sizeof(*grown));
		if (!grown) {
			free(copy);
			return -ENOMEM;
		}
		memset(grown + watch->n_paths, 0, (cap - watch->n_paths) * sizeof(*grown));
		watch->paths = grown;
		watch->n_paths = cap;
	}
	watch->n_watched += !watch->paths[wd];
	free(watch->paths[wd]);
	watch->paths[wd] = copy;
	return 0;
}

static void remember(struct watt_cgroup_watch *watch, uint64_t id, const char *path)
{
	struct seen *seen = &watch->seen[watch->n_seen % WATT_CGROUP_WATCH_KEPT];
	char *copy = strdup(path);

	if (!copy)
		return;
	free(seen->path);
	*seen = (struct seen){ id, copy };
	watch->n_seen++;
}

static void add_directory(struct watt_cgroup_watch *watch, const char *path, bool is_new,
			  unsigned int depth);

static void add_children(struct watt_cgroup_watch *watch, int fd, const char *path, bool is_new,
			 unsigned int depth)
{
	_cleanup_closedir_ DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	char below[PATH_MAX];

	if (!dir) {
		close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		int n = snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);

		if (entry->d_name[0] == '.' || n < 0 || (size_t)n >= sizeof(below) ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		add_directory(watch, below, is_new, depth + 1);
	}
}

/* Watches first and looks then: what comes in between is seen twice, and not never. */
static void add_directory(struct watt_cgroup_watch *watch, const char *path, bool is_new,
			  unsigned int depth)
{
	int fd = directory_fd(watch, path), wd;
	char link[32];
	struct stat st;

	if (fd < 0)
		return;
	if (is_new && fstat(fd, &st) == 0)
		remember(watch, (uint64_t)st.st_ino, path);
	if (depth >= WATT_CGROUPFS_DEPTH_MAX || watch->n_watched >= WATT_CGROUP_WATCH_MAX) {
		close(fd);
		return;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	wd = inotify_add_watch(watch->fd, link, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
	if (wd < 0 || set_path(watch, wd, path) < 0) {
		close(fd);
		return;
	}
	add_children(watch, fd, path, is_new, depth);
}

static void take_event(struct watt_cgroup_watch *watch, const struct inotify_event *event)
{
	const char *top = event->wd >= 0 && (size_t)event->wd < watch->n_paths ?
				  watch->paths[event->wd] :
				  NULL;
	char path[PATH_MAX];
	int n;

	if (!top)
		return;
	if (event->mask & IN_IGNORED) {
		free(watch->paths[event->wd]);
		watch->paths[event->wd] = NULL;
		watch->n_watched--;
		return;
	}
	if (!(event->mask & IN_ISDIR))
		return;
	n = snprintf(path, sizeof(path), "%s/%s", top, event->name);
	if (n > 0 && (size_t)n < sizeof(path))
		add_directory(watch, path, true, 0);
}

void watt_cgroup_watch_read(struct watt_cgroup_watch *watch)
{
	_Alignas(struct inotify_event) char buf[16384];
	ssize_t n, at;

	while ((n = read(watch->fd, buf, sizeof(buf))) > 0) {
		for (at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(buf + at);

			take_event(watch, event);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
}

int watt_cgroup_watch_open(const struct watt_root *sysfs, const char *place,
			   struct watt_cgroup_watch **ret)
{
	struct watt_cgroup_watch *watch;

	if (strlen(place) >= sizeof(watch->place))
		return -ENAMETOOLONG;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	watch->sysfs = sysfs;
	watt_strlcpy(watch->place, place, sizeof(watch->place));
	watch->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watch->fd < 0) {
		int r = -errno;

		watt_cgroup_watch_close(watch);
		return r;
	}
	add_directory(watch, "", false, 0);
	if (!watch->n_watched) {
		watt_cgroup_watch_close(watch);
		return -ENOENT;
	}
	*ret = watch;
	return 0;
}

struct watt_cgroup_watch *watt_cgroup_watch_close(struct watt_cgroup_watch *watch)
{
	size_t i;

	if (!watch)
		return NULL;
	for (i = 0; i < watch->n_paths; i++)
		free(watch->paths[i]);
	free(watch->paths);
	for (i = 0; i < WATT_CGROUP_WATCH_KEPT; i++)
		free(watch->seen[i].path);
	if (watch->fd >= 0)
		close(watch->fd);
	free(watch);
	return NULL;
}

int watt_cgroup_watch_get_fd(const struct watt_cgroup_watch *watch)
{
	return watch->fd;
}

/* Numbers may be used again in a hierarchy of version 1: the newest counts. */
int watt_cgroup_watch_find(const struct watt_cgroup_watch *watch, uint64_t id, char *buf,
			   size_t size)
{
	size_t i, n = WATT_MIN(watch->n_seen, (size_t)WATT_CGROUP_WATCH_KEPT);

	for (i = 1; i <= n; i++) {
		const struct seen *seen =
			&watch->seen[(watch->n_seen - i) % WATT_CGROUP_WATCH_KEPT];

		if (seen->id != id)
			continue;
		if (strlen(seen->path) >= size)
			return -ENAMETOOLONG;
		watt_strlcpy(buf, seen->path, size);
		return 0;
	}
	return -ENOENT;
}
