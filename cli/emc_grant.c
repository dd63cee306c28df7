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

/* Folders need to be gone through, files to be read; a folder comes before what is in it. */
static const char *const paths[] = {
	"kernel/debug",
	"kernel/debug/cactmon",
	"kernel/debug/cactmon/mc_all",
	"kernel/debug/cactmon/sample_period_usec",
	"kernel/debug/clk",
	"kernel/debug/clk/emc",
	"kernel/debug/clk/emc/clk_rate",
};

#define N_PATHS (sizeof(paths) / sizeof(paths[0]))

/* What a path is, or was. */
struct right {
	uid_t uid;
	gid_t gid;
	mode_t mode;
	bool is_folder;
};

static int open_root(const char *sysfs)
{
	int fd = open(sysfs, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		message_error("%s: %s", sysfs, strerror(errno));
	return fd < 0 ? -errno : fd;
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

static int look(int root, const char *sysfs, size_t i, struct right *ret)
{
	struct stat st;

	if (fstatat(root, paths[i], &st, AT_SYMLINK_NOFOLLOW) < 0) {
		message_error("%s/%s: %s; %s", sysfs, paths[i], strerror(errno),
			      errno == EACCES ?
				      "only root can grant it" :
				      "this kernel shows no activity of the EMC: 'modprobe "
				      "tegra_cactmon_mc_all' may help, or mount debugfs");
		return -errno;
	}
	*ret = (struct right){ st.st_uid, st.st_gid, st.st_mode & 07777, S_ISDIR(st.st_mode) };
	if (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode))
		return 0;
	message_error("%s/%s is neither a folder nor a file", sysfs, paths[i]);
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

static int change(int root, const char *sysfs, size_t i, const struct right *right)
{
	/* the owner first: it clears bits of the mode */
	if (fchownat(root, paths[i], right->uid, right->gid, AT_SYMLINK_NOFOLLOW) == 0 &&
	    fchmodat(root, paths[i], right->mode, 0) == 0)
		return 0;
	message_error("%s/%s: %s", sysfs, paths[i], strerror(errno));
	return -errno;
}

static void tell(const char *sysfs, size_t i, const struct right *from, const struct right *to)
{
	printf("%s/%s: %04o %u:%u is now %04o %u:%u\n", sysfs, paths[i], (unsigned int)from->mode,
	       from->uid, from->gid, (unsigned int)to->mode, to->uid, to->gid);
}

/* ---- what there was ---- */

static int write_state(const char *state, const struct right *rights, const bool *is_changed)
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
	for (i = 0; i < N_PATHS; i++)
		if (is_changed[i])
			fprintf(out, "%s %u %u %o\n", paths[i], rights[i].uid, rights[i].gid,
				(unsigned int)rights[i].mode);
	if (fflush(out) == 0 && fsync(fd) == 0 && fclose(out) == 0)
		return 0;
	message_error("%s: %s", state, strerror(errno));
	unlink(state);
	return -EIO;
}

static int find_path(const char *path)
{
	size_t i;

	for (i = 0; i < N_PATHS; i++)
		if (!strcmp(paths[i], path))
			return (int)i;
	return -1;
}

/* "kernel/debug 0 0 700" */
static int read_line(const char *line, struct right *rights, bool *is_changed)
{
	char path[64], owner[16], group[16], bits[16], end;
	uint64_t uid, gid, mode;
	int i;

	if (sscanf(line, "%63s %15s %15s %15s%c", path, owner, group, bits, &end) != 5 ||
	    end != '\n' || number_count(owner, 0, UINT_MAX, &uid) < 0 ||
	    number_count(group, 0, UINT_MAX, &gid) < 0 || number_octal(bits, 07777, &mode) < 0)
		return -EINVAL;
	i = find_path(path);
	if (i < 0 || is_changed[i])
		return -EINVAL;
	rights[i] = (struct right){ .uid = (uid_t)uid, .gid = (gid_t)gid, .mode = (mode_t)mode };
	is_changed[i] = true;
	return 0;
}

static int read_state(const char *state, struct right *rights, bool *is_changed)
{
	FILE *in = fopen(state, "re");
	unsigned int n = 0;
	char line[128];
	int r = 0;

	if (!in) {
		message_error(errno == ENOENT ?
				      "%s: nothing was granted since the machine started" :
				      "%s: %m",
			      state);
		return -errno;
	}
	while (r == 0 && fgets(line, sizeof(line), in)) {
		n++;
		r = read_line(line, rights, is_changed);
	}
	fclose(in);
	if (r < 0)
		message_error("%s:%u: this is no line of what was there before; nothing is changed",
			      state, n);
	return r;
}

/* ---- */

/* Undoes the first n, the newest first. */
static void roll_back(int root, const char *sysfs, const struct right *rights,
		      const bool *is_changed, size_t n)
{
	while (n-- > 0)
		if (is_changed[n])
			change(root, sysfs, n, &rights[n]);
}

static int grant_all(int root, const char *sysfs, gid_t gid, const char *state)
{
	struct right before[N_PATHS], after[N_PATHS];
	bool is_changed[N_PATHS] = { false };
	size_t i, n = 0;
	int r = 0;

	for (i = 0; i < N_PATHS && r == 0; i++) {
		r = look(root, sysfs, i, &before[i]);
		if (r == 0)
			n += is_changed[i] = wants(&before[i], gid, &after[i]);
	}
	if (r == 0 && n == 0)
		puts("Nothing needs to be granted: the group reads all of it already.");
	if (r < 0 || n == 0)
		return r;
	r = write_state(state, before, is_changed);
	if (r < 0)
		return r;
	for (i = 0; i < N_PATHS && r == 0; i++) {
		r = is_changed[i] ? change(root, sysfs, i, &after[i]) : 0;
		if (r == 0 && is_changed[i])
			tell(sysfs, i, &before[i], &after[i]);
	}
	if (r == 0)
		return 0;
	roll_back(root, sysfs, before, is_changed, i);
	unlink(state);
	return r;
}

int emc_grant(const char *sysfs, const char *group, const char *state)
{
	int root, r;
	gid_t gid;

	r = find_group(group, &gid);
	if (r < 0)
		return r;
	root = open_root(sysfs);
	if (root < 0)
		return root;
	r = grant_all(root, sysfs, gid, state);
	close(root);
	if (r == 0)
		printf("Until the machine restarts; 'wattribute board --undo-emc' takes it back.\n");
	return r;
}

int emc_revoke(const char *sysfs, const char *state)
{
	struct right before[N_PATHS], now;
	bool is_changed[N_PATHS] = { false };
	size_t i = N_PATHS;
	int root, r;

	r = read_state(state, before, is_changed);
	if (r < 0)
		return r;
	root = open_root(sysfs);
	if (root < 0)
		return root;
	/* what is inside first: a folder that is closed shuts in what is in it for others than root */
	while (i-- > 0 && r == 0) {
		r = is_changed[i] ? look(root, sysfs, i, &now) : 0;
		if (r == 0 && is_changed[i])
			r = change(root, sysfs, i, &before[i]);
		if (r == 0 && is_changed[i])
			tell(sysfs, i, &now, &before[i]);
	}
	close(root);
	if (r == 0 && unlink(state) < 0) {
		message_error("%s: %s", state, strerror(errno));
		r = -errno;
	}
	return r;
}
