/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the many cgroups of a process is the one, from the text of /proc/PID/cgroup.
 *
 * A process is in one v2 cgroup and in one of each v1 hierarchy. The line that tells most of it
 * is its cgroup: a container, a pod or a job, the deeper the better; then what systemd did not
 * make; then a unit. Where they tell as much it is the v2 one, unless that is the root; else the
 * first v1 hierarchy in which it is not in the root, in the order cpuacct, memory, pids,
 * name=systemd, any other.
 */
#ifndef WATT_SOURCE_HOST_CGROUPFILE_H
#define WATT_SOURCE_HOST_CGROUPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer paths than this are not taken: the kernel's own limit is a page. */
#define WATT_CGROUP_PATH_MAX 4096
/* Room for the file: some fifteen hierarchies, deep ones. */
#define WATT_CGROUP_FILE_MAX 32768
/* Set in an id that is a hash and no inode number. */
#define WATT_CGROUP_ID_HASHED (1ULL << 63)

/* Borrows from the text that it was picked from. */
struct watt_cgroup_line {
	const char *controllers; /* "" for v2, "cpu,cpuacct", "name=systemd" */
	size_t controllers_len;
	const char *path; /* "/" and what follows */
	size_t path_len;
	bool is_v1;
	bool is_removed; /* the directory is gone; who is left in it dies */
};

/* Next line of the text at *cursor: 0; 1: no more; -EBADMSG: not such a line (cursor is past it). */
int watt_cgroup_line_next(const char **cursor, struct watt_cgroup_line *ret);
/* 0; -EBADMSG: no usable line at all. A malformed line among good ones is left out. */
int watt_cgroup_line_pick(const char *text, struct watt_cgroup_line *ret);
/* The best line of v2 (is_v1 false) or of v1 alone: 0, or -ENOENT. */
int watt_cgroup_line_pick_version(const char *text, bool is_v1, struct watt_cgroup_line *ret);

/* Whether the line's hierarchy has this controller, "memory" or "name=systemd". */
bool watt_cgroup_line_has(const struct watt_cgroup_line *line, const char *name);
/*
 * A number for a cgroup that has no inode to show: a hash of its controllers and path, with
 * WATT_CGROUP_ID_HASHED set.
 */
uint64_t watt_cgroup_line_hash(const struct watt_cgroup_line *line);

#endif
