/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives a group, and not everybody, the right to read what the memory controller of a Tegra did, and
 * takes it back. debugfs has no access lists: the group of a file is all that there is. It must not
 * touch anything but the files that are named here.
 */
#include "emc_grant.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "number.h"

#define PATHS_MAX 32
#define PATH_SIZE 256

/* What a path is, or was. */
struct right {
	uid_t uid;
	gid_t gid;
	mode_t mode;
	bool is_folder;
};

/*
 * Files below sysfs, and the folders that lead there: these need to be gone through, files to be
 * read. A folder comes before what is in it.
 */
struct paths {
	const char *sysfs;
	int root; /* of it */
	char list[PATHS_MAX][PATH_SIZE];
	struct right before[PATHS_MAX];
	bool is_changed[PATHS_MAX];
	size_t n;
};

static int open_root(struct paths *paths)
{
	paths->root = open(paths->sysfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (paths->root >= 0)
		return 0;
	message_error("%s: %s", paths->sysfs, strerror(errno));
	return -errno;
}

/* ---- paths ---- */

static int find_path(const struct paths *paths, const char *path)
{
	size_t i;

	for (i = 0; i < paths->n; i++)
		if (!strcmp(paths->list[i], path))
			return (int)i;
	return -1;
}

/* The first len bytes of a path, which is new or not; nothing that leads out of the folder. */
static int add_path(struct paths *paths, const char *path, size_t len)
{
	char text[PATH_SIZE], around[PATH_SIZE + 2];

	if (!len || len >= sizeof(text) || path[0] == '/')
		return -EINVAL;
	memcpy(text, path, len);
	text[len] = '\0';
	snprintf(around, sizeof(around), "/%s/", text);
	if (strstr(around, "/../") || strstr(around, "/./") || strstr(around, "//"))
		return -EINVAL;
	if (find_path(paths, text) >= 0)
		return 0;
	if (paths->n == PATHS_MAX)
		return -E2BIG;
	memcpy(paths->list[paths->n++], text, len + 1);
	return 0;
}

/* A file, with the folders that lead to it. */
static int add_file(struct paths *paths, const char *file)
{
	const char *end;
	int r = 0;

	for (end = strchr(file, '/'); end && r == 0; end = strchr(end + 1, '/'))
		r = add_path(paths, file, (size_t)(end - file));
	if (r == 0)
		r = add_path(paths, file, strlen(file));
	if (r < 0)
		message_error("%s/%s: no file below %s is called that", paths->sysfs, file,
			      paths->sysfs);
	return r;
}

/* ---- groups ---- */

static int find_group(const char *text, gid_t *ret)
{
	const struct group *group = getgrnam(text);
	uint64_t number;

	if (group) {
		*ret = group->gr_gid;
		return 0;
	}
	if (number_count(text, 0, (gid_t)-1 - 1, &number) < 0) {
		message_error("there is no group '%s'; 'getent group' lists those that there are",
			      text);
		return -ENOENT;
	}
	*ret = (gid_t)number;
	return 0;
}

/* ---- what there is ---- */

static int look(const struct paths *paths, size_t i, struct right *ret)
{
	struct stat st;

	if (fstatat(paths->root, paths->list[i], &st, AT_SYMLINK_NOFOLLOW) < 0) {
		message_error("%s/%s: %s; %s", paths->sysfs, paths->list[i], strerror(errno),
			      errno == EACCES ?
				      "only root can grant it" :
				      "this kernel shows no activity of the EMC: 'modprobe "
				      "tegra_cactmon_mc_all' may help, or mount debugfs");
		return -errno;
	}
	*ret = (struct right){ st.st_uid, st.st_gid, st.st_mode & 07777, S_ISDIR(st.st_mode) };
	if (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode))
		return 0;
	message_error("%s/%s is neither a folder nor a file", paths->sysfs, paths->list[i]);
	return -EINVAL;
}

/* What the group needs; a folder that all go through already is left as it is. */
static bool wants(const struct right *right, gid_t gid, struct right *ret)
{
	mode_t others = right->is_folder ? S_IXOTH : S_IROTH,
	       own = right->is_folder ? S_IXGRP : S_IRGRP;

	*ret = *right;
	if (right->mode & others || (right->gid == gid && right->mode & own))
		return false;
	/* what root's group had is not the new one's */
	ret->mode = (right->mode & ~(mode_t)S_IRWXG) | own;
	ret->gid = gid;
	return true;
}

static int change(const struct paths *paths, size_t i, const struct right *right)
{
	const char *path = paths->list[i];

	/* the owner first: it clears bits of the mode */
	if (fchownat(paths->root, path, right->uid, right->gid, AT_SYMLINK_NOFOLLOW) == 0 &&
	    fchmodat(paths->root, path, right->mode, 0) == 0)
		return 0;
	message_error("%s/%s: %s", paths->sysfs, path, strerror(errno));
	return -errno;
}

static void tell(const struct paths *paths, size_t i, const struct right *from,
		 const struct right *to)
{
	printf("%s/%s: %04o %u:%u is now %04o %u:%u\n", paths->sysfs, paths->list[i],
	       (unsigned int)from->mode, from->uid, from->gid, (unsigned int)to->mode, to->uid,
	       to->gid);
}

/* ---- what there was ---- */

static int write_state(const char *state, const struct paths *paths)
{
	int fd = open(state, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	size_t i;

	if (!out) {
		message_error(errno == EEXIST ? "%s: it was granted before; 'wattribute board "
						"--undo-emc' takes that back" :
						"%s: %m",
			      state);
		return -errno;
	}
	for (i = 0; i < paths->n; i++)
		if (paths->is_changed[i])
			fprintf(out, "%u %u %o %s\n", paths->before[i].uid, paths->before[i].gid,
				(unsigned int)paths->before[i].mode, paths->list[i]);
	if (fflush(out) == 0 && fsync(fd) == 0 && fclose(out) == 0)
		return 0;
	message_error("%s: %s", state, strerror(errno));
	unlink(state);
	return -EIO;
}

/* "0 0 700 kernel/debug"; the folder of a file may have spaces, so it comes last. */
static int read_line(char *line, struct paths *paths)
{
	char owner[16], group[16], bits[16];
	uint64_t uid, gid, mode;
	size_t n = paths->n;
	int begin = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%15s %15s %15s %n", owner, group, bits, &begin) != 3 || !begin ||
	    number_count(owner, 0, UINT_MAX, &uid) < 0 ||
	    number_count(group, 0, UINT_MAX, &gid) < 0 || number_octal(bits, 07777, &mode) < 0 ||
	    add_path(paths, line + begin, strlen(line + begin)) < 0 || paths->n == n)
		return -EINVAL;
	paths->before[n] =
		(struct right){ .uid = (uid_t)uid, .gid = (gid_t)gid, .mode = (mode_t)mode };
	paths->is_changed[n] = true;
	return 0;
}

/* Only what this user wrote: anybody else's file would say what root does. */
static FILE *open_state(const char *state)
{
	FILE *in = fopen(state, "re");
	struct stat st;

	if (!in) {
		message_error(errno == ENOENT ?
				      "%s: nothing was granted since the machine started" :
				      "%s: %m",
			      state);
		return NULL;
	}
	if (fstat(fileno(in), &st) == 0 && st.st_uid == geteuid())
		return in;
	message_error("%s: somebody else wrote it; nothing is changed", state);
	fclose(in);
	errno = EPERM;
	return NULL;
}

static int read_state(const char *state, struct paths *paths)
{
	FILE *in = open_state(state);
	char line[PATH_SIZE + 64];
	unsigned int n = 0;
	int r = 0;

	if (!in)
		return -errno;
	while (r == 0 && fgets(line, sizeof(line), in)) {
		n++;
		r = read_line(line, paths);
	}
	fclose(in);
	if (r < 0)
		message_error("%s:%u: this is no line of what was there before; nothing is changed",
			      state, n);
	return r;
}

/* ---- */

/* Undoes the first n, the newest first. */
static void roll_back(const struct paths *paths, size_t n)
{
	while (n-- > 0)
		if (paths->is_changed[n])
			change(paths, n, &paths->before[n]);
}

static int change_all(const struct paths *paths, const struct right *after)
{
	size_t i;
	int r = 0;

	for (i = 0; i < paths->n && r == 0; i++) {
		r = paths->is_changed[i] ? change(paths, i, &after[i]) : 0;
		if (r == 0 && paths->is_changed[i])
			tell(paths, i, &paths->before[i], &after[i]);
	}
	if (r < 0)
		roll_back(paths, i);
	return r;
}

static int grant_all(struct paths *paths, gid_t gid, const char *state)
{
	struct right after[PATHS_MAX];
	size_t i, n = 0;
	int r = 0;

	for (i = 0; i < paths->n && r == 0; i++) {
		r = look(paths, i, &paths->before[i]);
		if (r == 0)
			n += paths->is_changed[i] = wants(&paths->before[i], gid, &after[i]);
	}
	if (r == 0 && n == 0)
		puts("Nothing needs to be granted: the group reads all of it already.");
	if (r < 0 || n == 0)
		return r;
	r = write_state(state, paths);
	if (r < 0)
		return r;
	r = change_all(paths, after);
	if (r < 0)
		unlink(state);
	else
		puts("Until the machine restarts; 'wattribute board --undo-emc' takes it back.");
	return r;
}

int emc_grant(const char *sysfs, const char *const *files, const char *group, const char *state)
{
	struct paths paths = { .sysfs = sysfs, .root = -1 };
	int r;
	gid_t gid;

	r = find_group(group, &gid);
	for (; *files && r == 0; files++)
		r = add_file(&paths, *files);
	if (r == 0)
		r = open_root(&paths);
	if (r < 0)
		return r;
	r = grant_all(&paths, gid, state);
	close(paths.root);
	return r;
}

/* What is inside first: a folder that is closed shuts in what is in it for others than root. */
static int take_back(const struct paths *paths)
{
	struct right now;
	size_t i = paths->n;
	int r = 0;

	while (i-- > 0 && r == 0) {
		r = look(paths, i, &now);
		if (r == 0)
			r = change(paths, i, &paths->before[i]);
		if (r == 0)
			tell(paths, i, &now, &paths->before[i]);
	}
	return r;
}

int emc_revoke(const char *sysfs, const char *state)
{
	struct paths paths = { .sysfs = sysfs, .root = -1 };
	int r;

	r = read_state(state, &paths);
	if (r == 0)
		r = open_root(&paths);
	if (r < 0)
		return r;
	r = take_back(&paths);
	close(paths.root);
	if (r == 0 && unlink(state) < 0) {
		message_error("%s: %s", state, strerror(errno));
		r = -errno;
	}
	return r;
}
