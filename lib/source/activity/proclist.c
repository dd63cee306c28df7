/* SPDX-License-Identifier: Apache-2.0 */
/* Lists processes. One directory stream is kept and rewound; nothing below is opened. */
#include "source/activity/proclist.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"

int watt_proclist_open(struct watt_proclist *list, const struct watt_root *procfs)
{
	int fd = watt_root_open_fd(procfs, ".", O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return fd;
	*list = (struct watt_proclist){ .dir = fdopendir(fd) };
	if (!list->dir) {
		close(fd);
		return -ENOMEM;
	}
	return 0;
}

void watt_proclist_close(struct watt_proclist *list)
{
	if (list->dir)
		closedir(list->dir);
	free(list->entries);
	*list = (struct watt_proclist){ 0 };
}

uint32_t watt_proclist_pid(const char *name)
{
	uint64_t pid = 0;

	if (*name == '0')
		return 0;
	for (; *name >= '0' && *name <= '9'; name++) {
		pid = pid * 10 + (uint64_t)(*name - '0');
		if (pid > UINT32_MAX)
			return 0;
	}
	return *name ? 0 : (uint32_t)pid;
}

static int compare_pid(const void *a, const void *b)
{
	const struct watt_proclist_entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int watt_proclist_read(struct watt_proclist *list)
{
	const struct dirent *entry;
	bool is_sorted = true;
	int r;

	list->n = 0;
	rewinddir(list->dir);
	while (errno = 0, (entry = readdir(list->dir))) {
		uint32_t pid = watt_proclist_pid(entry->d_name);

		if (pid == 0)
			continue;
		r = watt_grow((void **)&list->entries, &list->cap, list->n,
			      sizeof(list->entries[0]));
		if (r < 0)
			return r;
		if (list->n > 0 && list->entries[list->n - 1].pid > pid)
			is_sorted = false;
		list->entries[list->n++] = (struct watt_proclist_entry){ pid, entry->d_ino };
	}
	if (errno != 0)
		return -errno;
	/* procfs itself lists in order; only other trees need it */
	if (!is_sorted)
		qsort(list->entries, list->n, sizeof(list->entries[0]), compare_pid);
	return 0;
}
