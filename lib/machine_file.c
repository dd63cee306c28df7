/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes folders of a captured machine. What is in an archive may come from anybody: unpacking it
 * is base/archive.h's, with limits that a machine of 65,536 CPUs keeps.
 */
#include "machine_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/cleanup.h"
#include "base/util.h"

#define FOLDER "/tmp/wattribute-machine-XXXXXX"

static const struct watt_archive_limits limits = {
	.max_entries = 1000000,
	.max_bytes = (uint64_t)2 << 30, /* each file takes a header of 512 bytes and whole blocks */
	.max_file_bytes = (uint64_t)64 << 20,
};

struct watt_machine_file {
	bool is_own; /* the folder is removed */
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

struct watt_machine_file *watt_machine_file_close(struct watt_machine_file *machine)
{
	int fd;

	if (machine && machine->is_own) {
		fd = open(machine->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			remove_below(fd);
		rmdir(machine->folder);
	}
	free(machine);
	return NULL;
}

/* ---- opening ---- */

static int unpack(const char *path, const struct watt_log *log, struct watt_machine_file *machine)
{
	char problem[WATT_ARCHIVE_PROBLEM_SIZE] = "";
	_cleanup_close_ int fd = -1;
	int r;

	watt_strlcpy(machine->folder, FOLDER, sizeof(machine->folder));
	if (!mkdtemp(machine->folder)) {
		r = -errno;
		watt_log(log, WATT_LOG_ERROR, "cannot make a folder in /tmp: %s", strerror(-r));
		return r;
	}
	machine->is_own = true;
	fd = open(machine->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = watt_archive_unpack(path, &limits, fd, problem);
	if (r < 0)
		watt_log(log, WATT_LOG_ERROR, "cannot use the machine %s: %s", path, problem);
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
	r = find(path, log, machine);
	if (r == 0) {
		snprintf(machine->sysfs, sizeof(machine->sysfs), "%s/sys", machine->folder);
		snprintf(machine->procfs, sizeof(machine->procfs), "%s/proc", machine->folder);
		r = check(path, log, machine);
	}
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
