/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds who listens for marks: the sockets in the folders that the caller may look into, and the
 * abstract names that the kernel lists. A socket counts only if somebody answers there.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <wattribute/mark.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "mark/address.h"

_Static_assert(WATT_MARK_ADDRESS_SIZE >= sizeof(((struct sockaddr_un *)NULL)->sun_path),
	       "every address fits");

struct list {
	struct watt_mark_listener *room;
	size_t n_room;
	size_t n;
};

static void add(struct list *list, uint32_t pid, const char *address)
{
	struct watt_mark_listener listener = { .pid = pid };

	if (watt_mark_probe_address(address) < 0)
		return;
	watt_strlcpy(listener.address, address, sizeof(listener.address));
	if (list->n < list->n_room)
		list->room[list->n] = listener;
	list->n++;
}

static void add_directory(struct list *list, const char *directory)
{
	_cleanup_closedir_ DIR *dir = opendir(directory);
	char address[512];
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		uint32_t pid = watt_mark_parse_name(entry->d_name);

		snprintf(address, sizeof(address), "%s/%s/" WATT_MARKS_SOCKET, directory,
			 entry->d_name);
		if (pid > 0)
			add(list, pid, address);
	}
}

/* Root sees all users'. */
static void add_users(struct list *list)
{
	_cleanup_closedir_ DIR *dir = opendir("/run/user");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char directory[64], *end;
		unsigned long uid = strtoul(entry->d_name, &end, 10);

		if (end == entry->d_name || *end || uid == 0 || uid >= UINT32_MAX)
			continue;
		watt_mark_directory((uid_t)uid, directory, sizeof(directory));
		add_directory(list, directory);
	}
}

static bool is_mine(uint32_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return stat(path, &st) == 0 && (st.st_uid == geteuid() || geteuid() == 0);
}

/*
 * Whether one of its descriptors is the socket. An abstract name is anybody's to take, and says what
 * whoever took it likes: the kernel's list of what a process has open does not.
 */
static bool has_socket(uint32_t pid, unsigned long inode)
{
	char path[64], wanted[64], target[64];
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		if (!strcmp(target, wanted))
			return true;
	}
	return false;
}

/* The column before the name; 0: it is no number. */
static unsigned long inode_before(const char *line, const char *name)
{
	while (name > line && name[-1] == ' ')
		name--;
	while (name > line && name[-1] != ' ')
		name--;
	return strtoul(name, NULL, 10);
}

/* A line of /proc/net/unix ends in the name, an abstract one with '@' in front. */
static void add_abstract(struct list *list)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/net/unix", "re");
	char line[512], name[64];

	while (file && fgets(line, sizeof(line), file)) {
		const char *address = strstr(line, " " WATT_MARKS_ABSTRACT);
		unsigned long inode;
		size_t n;
		uint32_t pid;

		if (!address)
			continue;
		line[strcspn(line, "\n")] = '\0';
		inode = inode_before(line, address);
		address++;
		n = strcspn(address + strlen(WATT_MARKS_ABSTRACT), "/");
		if (n >= sizeof(name) || strlen(address) >= WATT_MARK_ADDRESS_SIZE)
			continue;
		memcpy(name, address + strlen(WATT_MARKS_ABSTRACT), n);
		name[n] = '\0';
		pid = watt_mark_parse_name(name);
		if (pid > 0 && is_mine(pid) && has_socket(pid, inode))
			add(list, pid, address);
	}
}

static int compare(const void *a, const void *b)
{
	const struct watt_mark_listener *x = a, *y = b;

	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) :
				  strcmp(x->address, y->address);
}

int watt_mark_list(struct watt_mark_listener *ret, size_t *ret_n)
{
	struct list list = { .room = ret };
	char directory[64];

	if (!ret_n || (!ret && *ret_n > 0))
		return -EINVAL;
	list.n_room = *ret_n;
	watt_mark_directory(geteuid(), directory, sizeof(directory));
	add_directory(&list, directory);
	if (geteuid() == 0)
		add_users(&list);
	add_abstract(&list);
	if (ret && list.n > 0)
		qsort(ret, WATT_MIN(list.n, list.n_room), sizeof(*ret), compare);
	*ret_n = list.n;
	return 0;
}
