/* SPDX-License-Identifier: Apache-2.0 */
/* Inode numbers of cgroup directories, and their paths. It must not read what is in them. */
#include "source/host/cgroupfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/util.h"

void watt_cgroupfs_init(struct watt_cgroupfs *fs, const struct watt_root *sysfs)
{
	static const char *const places[] = { "fs/cgroup", "fs/cgroup/unified" };
	char path[64];
	size_t i;

	*fs = (struct watt_cgroupfs){ .sysfs = sysfs };
	for (i = 0; i < WATT_ARRAY_SIZE(places) && !fs->v2; i++) {
		snprintf(path, sizeof(path), "%s/cgroup.controllers", places[i]);
		if (watt_root_exists(sysfs, path))
			fs->v2 = places[i];
	}
}

static int directory_inode(const struct watt_root *sysfs, const char *path, uint64_t *ret)
{
	struct stat st;

	/* "/../x" is outside of what this mount shows */
	if (strstr(path, "/../"))
		return -ENOENT;
	if (fstatat(sysfs->fd, path, &st, 0) < 0)
		return -errno;
	*ret = (uint64_t)st.st_ino;
	return 0;
}

int watt_cgroupfs_inode(const struct watt_cgroupfs *fs, const struct watt_cgroup_line *line,
			uint64_t *ret)
{
	char path[WATT_CGROUP_PATH_MAX + 256];
	const char *controllers = line->controllers;
	size_t len = line->controllers_len;
	int n;

	if (!line->is_v1 && !fs->v2)
		return -ENOENT;
	if (len > strlen("name=") && strncmp(controllers, "name=", strlen("name=")) == 0) {
		controllers += strlen("name=");
		len -= strlen("name=");
	}
	if (line->is_v1)
		n = snprintf(path, sizeof(path), "fs/cgroup/%.*s%.*s", (int)len, controllers,
			     (int)line->path_len, line->path);
	else
		n = snprintf(path, sizeof(path), "%s%.*s", fs->v2, (int)line->path_len, line->path);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	return directory_inode(fs->sysfs, path, ret);
}

/* Number of this kind of handle; no header for programs has it. */
#define FILEID_KERNFS 0xfe

static int path_of_fd(int fd, char *buf, size_t size)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return (int)n;
}

/* Asks the kernel for the directory with this number. Needs CAP_DAC_READ_SEARCH. */
static int find_by_handle(int mount_fd, uint64_t inode, char *buf, size_t size)
{
	union {
		struct file_handle head;
		unsigned char bytes[sizeof(struct file_handle) + sizeof(uint64_t)];
	} handle = { .head = { .handle_bytes = sizeof(inode), .handle_type = FILEID_KERNFS } };
	char mount[PATH_MAX], path[PATH_MAX];
	_cleanup_close_ int fd = -1;
	int mount_len, len;

	memcpy(handle.bytes + sizeof(struct file_handle), &inode, sizeof(inode));
	fd = open_by_handle_at(mount_fd, &handle.head, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno == ESTALE ? -ENOENT : -errno;
	mount_len = path_of_fd(mount_fd, mount, sizeof(mount));
	len = path_of_fd(fd, path, sizeof(path));
	if (mount_len < 0 || len < mount_len || strncmp(path, mount, (size_t)mount_len) != 0)
		return -ENOENT;
	if ((size_t)(len - mount_len) + 2 > size)
		return -ENAMETOOLONG;
	watt_strlcpy(buf, len > mount_len ? path + mount_len : "/", size);
	return 0;
}

/* A walk through the directories below a mount; buf holds the path of the present one. */
struct walk {
	uint64_t inode;
	char *buf;
	size_t size;
	size_t n_left; /* directories that may still be looked at */
};

static int walk_below(struct walk *walk, int dir_fd, size_t len, unsigned int depth);

static int walk_entry(struct walk *walk, int dir_fd, size_t len, unsigned int depth,
		      const struct dirent *entry)
{
	int n, fd;

	if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
		return -ENOENT;
	if (walk->n_left == 0)
		return -ENOSPC;
	walk->n_left--;
	n = snprintf(walk->buf + len, walk->size - len, "/%s", entry->d_name);
	if (n < 0 || (size_t)n >= walk->size - len)
		return -ENOENT;
	if (entry->d_ino == walk->inode)
		return 0;
	fd = openat(dir_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -ENOENT; /* gone, or not ours: look on */
	return walk_below(walk, fd, len + (size_t)n, depth + 1);
}

/* Closes dir_fd. */
static int walk_below(struct walk *walk, int dir_fd, size_t len, unsigned int depth)
{
	_cleanup_closedir_ DIR *dir = fdopendir(dir_fd);
	const struct dirent *entry;
	int r = -ENOENT;

	if (!dir) {
		close(dir_fd);
		return -ENOENT;
	}
	if (depth >= WATT_CGROUPFS_DEPTH_MAX)
		return -ENOENT;
	while (r == -ENOENT && (entry = readdir(dir)))
		r = walk_entry(walk, dirfd(dir), len, depth, entry);
	return r;
}

static int find_by_walk(int mount_fd, uint64_t inode, char *buf, size_t size)
{
	struct walk walk = { inode, buf, size, WATT_CGROUPFS_WALK_MAX };
	int fd = openat(mount_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : walk_below(&walk, fd, 0, 0);
}

int watt_cgroupfs_find(const struct watt_cgroupfs *fs, uint64_t inode, char *buf, size_t size)
{
	_cleanup_close_ int mount_fd = -1;
	struct stat st;
	int r;

	if (!fs->v2 || size < sizeof("/"))
		return -ENOENT;
	mount_fd = watt_root_open_fd(fs->sysfs, fs->v2, O_RDONLY | O_DIRECTORY);
	if (mount_fd < 0)
		return mount_fd;
	if (fstat(mount_fd, &st) == 0 && (uint64_t)st.st_ino == inode) {
		watt_strlcpy(buf, "/", size);
		return 0;
	}
	r = find_by_handle(mount_fd, inode, buf, size);
	if (r == 0 || (r == -ENOENT && fs->sysfs->is_kernel))
		return r;
	return find_by_walk(mount_fd, inode, buf, size);
}
