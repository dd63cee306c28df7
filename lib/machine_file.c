/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes folders of a captured machine. What is in an archive may come from anybody: unpacking it
 * is base/archive.h's, with limits that a machine of 65,536 CPUs keeps.
 */
#include "machine_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/cleanup.h"
#include "base/util.h"

#define PLACE "/tmp"
#define PREFIX "wattribute-machine-"
#define FOLDER PLACE "/" PREFIX "XXXXXX"
/* Another one that starts may take a folder for left before it is locked. */
#define TRIES 8
#define LINK_MAX_SIZE 1024

static const struct watt_archive_limits limits = {
	.max_entries = 1000000,
	.max_bytes = (uint64_t)2 << 30, /* each file takes a header of 512 bytes and whole blocks */
	.max_file_bytes = (uint64_t)64 << 20,
};

struct watt_machine_file {
	int fd; /* of a folder of its own, which is removed; locked, so that nobody else does; or -1 */
	char folder[200];
	char sysfs[208];
	char procfs[208];
};

/* ---- removing ---- */

static void remove_below(int fd)
{
	_cleanup_closedir_ DIR *dir = fdopendir(fd);
	struct dirent *entry;

	if (!dir)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) == 0)
			continue;
		fd = openat(dirfd(dir), entry->d_name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			remove_below(fd); /* as deep as archives may be */
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
}

/* Through a descriptor of its own: the lock is of the one that is given. */
static void remove_folder(int fd, const char *path)
{
	int below = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (below >= 0)
		remove_below(below);
	rmdir(path);
}

struct watt_machine_file *watt_machine_file_close(struct watt_machine_file *machine)
{
	if (machine && machine->fd >= 0) {
		remove_folder(machine->fd, machine->folder);
		close(machine->fd);
	}
	free(machine);
	return NULL;
}

/* ---- what was left behind by those that were killed ---- */

/* Ours, and nobody has it: whoever has one holds its lock until he ends, however that is. */
static void remove_left(const char *name)
{
	char path[sizeof(PLACE) + NAME_MAX + 1];
	_cleanup_close_ int fd = -1;
	struct stat st;

	snprintf(path, sizeof(path), PLACE "/%s", name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		remove_folder(fd, path);
}

static void sweep(void)
{
	_cleanup_closedir_ DIR *dir = opendir(PLACE);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			remove_left(entry->d_name);
}

/* ---- opening ---- */

/* Whether the folder at the path is still the open one. */
static bool is_there(int fd, const char *path)
{
	struct stat here, there;

	return fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_ino == there.st_ino &&
	       here.st_dev == there.st_dev;
}

/* 0; -EAGAIN: somebody who sweeps was quicker. */
static int make_folder(struct watt_machine_file *machine)
{
	watt_strlcpy(machine->folder, FOLDER, sizeof(machine->folder));
	if (!mkdtemp(machine->folder))
		return -errno;
	machine->fd = open(machine->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (machine->fd >= 0 && flock(machine->fd, LOCK_EX | LOCK_NB) == 0 &&
	    is_there(machine->fd, machine->folder))
		return 0;
	if (machine->fd >= 0)
		close(machine->fd);
	machine->fd = -1;
	return -EAGAIN;
}

static int unpack(const char *path, const struct watt_log *log, struct watt_machine_file *machine)
{
	char problem[WATT_ARCHIVE_PROBLEM_SIZE] = "";
	int i, r = -EAGAIN;

	sweep();
	for (i = 0; i < TRIES && r == -EAGAIN; i++)
		r = make_folder(machine);
	if (r < 0) {
		watt_log(log, WATT_LOG_ERROR, "cannot make a folder in " PLACE ": %s",
			 strerror(-r));
		return r;
	}
	r = watt_archive_unpack(path, &limits, machine->fd, problem);
	if (r < 0)
		watt_log(log, WATT_LOG_ERROR, "cannot use the machine %s: %s", path, problem);
	return r;
}

/* ---- a folder of somebody's own: it may not lead out of itself, as no archive may ---- */

struct links {
	const char *folder; /* for messages */
	const struct watt_log *log;
	char path[PATH_MAX]; /* below the folder */
	unsigned int depth;
};

static int check_below(struct links *links, int fd, size_t len);

static int check_link(const struct links *links, int fd, const char *name)
{
	char target[LINK_MAX_SIZE];
	ssize_t n = readlinkat(fd, name, target, sizeof(target) - 1);

	if (n < 0)
		return 0; /* no link */
	target[n] = '\0';
	if (watt_archive_check_link(links->path, target) == 0)
		return 0;
	watt_log(links->log, WATT_LOG_ERROR,
		 "cannot use the machine %s: its link %s leads out of it, to %s", links->folder,
		 links->path, target);
	return -EINVAL;
}

static int check_entry(struct links *links, int fd, size_t len, const char *name,
		       unsigned char type)
{
	int n, below;

	n = snprintf(links->path + len, sizeof(links->path) - len, "%s%s", len ? "/" : "", name);
	if (n < 0 || (size_t)n >= sizeof(links->path) - len)
		return -ENAMETOOLONG;
	if (type == DT_LNK || type == DT_UNKNOWN) {
		int r = check_link(links, fd, name);

		if (r < 0 || type == DT_LNK)
			return r;
	} else if (type != DT_DIR) {
		return 0;
	}
	below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return below < 0 ? 0 : check_below(links, below, len + (size_t)n);
}

/* Closes fd. */
static int check_below(struct links *links, int fd, size_t len)
{
	_cleanup_closedir_ DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	int r = 0;

	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	if (++links->depth > WATT_ARCHIVE_MAX_DEPTH)
		r = -ELOOP;
	while (r == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = check_entry(links, dirfd(dir), len, entry->d_name, entry->d_type);
	links->depth--;
	return r;
}

/* What else is beside the two is not read. */
static int check_links(const char *folder, const struct watt_log *log)
{
	static const char *const names[] = { "sys", "proc" };
	struct links links = { .folder = folder, .log = log };
	_cleanup_close_ int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : 0;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(names) && r == 0; i++)
		r = check_entry(&links, fd, 0, names[i], DT_UNKNOWN);
	if (r < 0 && r != -EINVAL)
		watt_log(log, WATT_LOG_ERROR, "cannot use the machine %s: %s%s%s", folder,
			 links.path, links.path[0] ? ": " : "", strerror(-r));
	return r;
}

static int find(const char *path, const struct watt_log *log, struct watt_machine_file *machine)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		int r = -errno;

		watt_log(log, WATT_LOG_ERROR, "cannot open %s: %s", path, strerror(-r));
		return r;
	}
	if (!S_ISDIR(st.st_mode))
		return unpack(path, log, machine);
	if (strlen(path) >= sizeof(machine->folder)) {
		watt_log(log, WATT_LOG_ERROR, "cannot open %s: %s", path, strerror(ENAMETOOLONG));
		return -ENAMETOOLONG;
	}
	watt_strlcpy(machine->folder, path, sizeof(machine->folder));
	return 0;
}

static int check(const char *path, const struct watt_log *log,
		 const struct watt_machine_file *machine)
{
	const char *const folders[] = { machine->sysfs, machine->procfs };
	struct stat st;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(folders); i++) {
		if (stat(folders[i], &st) == 0 && S_ISDIR(st.st_mode))
			continue;
		watt_log(log, WATT_LOG_ERROR,
			 "%s is no machine: it has no folder %s; 'wattribute capture' writes one",
			 path, strrchr(folders[i], '/') + 1);
		return -EINVAL;
	}
	return 0;
}

int watt_machine_file_open(const char *path, const struct watt_log *log,
			   struct watt_machine_file **ret)
{
	struct watt_machine_file *machine = calloc(1, sizeof(*machine));
	int r;

	if (!machine)
		return -ENOMEM;
	machine->fd = -1;
	r = find(path, log, machine);
	if (r == 0) {
		snprintf(machine->sysfs, sizeof(machine->sysfs), "%s/sys", machine->folder);
		snprintf(machine->procfs, sizeof(machine->procfs), "%s/proc", machine->folder);
		r = check(path, log, machine);
	}
	if (r == 0 && machine->fd < 0)
		r = check_links(path, log);
	if (r < 0) {
		watt_machine_file_close(machine);
		return r;
	}
	*ret = machine;
	return 0;
}

const char *watt_machine_file_get_sysfs(const struct watt_machine_file *machine)
{
	return machine->sysfs;
}

const char *watt_machine_file_get_procfs(const struct watt_machine_file *machine)
{
	return machine->procfs;
}
