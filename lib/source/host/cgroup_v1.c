/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at directories' names only. What a name tells is container.c's business. */
#include "source/host/cgroup_v1.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/host/cgroupfile.h"
#include "source/source.h"

/* Those that BPF can look at; runtimes use all of them, batch schedulers some. */
static const char *const controllers[] = {
	"cpuacct", "memory", "pids", "freezer", "cpuset", "devices",
};

/* One line "name hierarchy cgroups enabled": 0, or -EBADMSG. */
static int parse_line(const char *line, const char *name, uint64_t *ret_n_cgroups)
{
	size_t len = strlen(name);
	uint64_t hierarchy, n;

	if (strncmp(line, name, len) != 0 || (line[len] != '\t' && line[len] != ' '))
		return -EBADMSG;
	line += len;
	if (watt_scan_u64(&line, &hierarchy) < 0 || watt_scan_u64(&line, &n) < 0 || !hierarchy)
		return -EBADMSG;
	*ret_n_cgroups = n;
	return 0;
}

uint64_t watt_cgroup_v1_count(const char *text, const char *controller)
{
	uint64_t n;

	while (*text) {
		if (parse_line(text, controller, &n) == 0)
			return n;
		text = strchrnul(text, '\n');
		text += *text == '\n';
	}
	return 0;
}

/* What the directories of a hierarchy tell at most: of containers it is no matter how deep. */
struct look {
	char path[WATT_CGROUP_PATH_MAX]; /* of the present one */
	unsigned int n_left;
	unsigned int tells;
};

static bool is_told(const struct look *look)
{
	return look->tells >= WATT_CGROUP_TELLS_CONTAINER || look->n_left == 0;
}

static void look_below(struct look *look, int dir_fd, size_t len, unsigned int depth);

static void look_at(struct look *look, int dir_fd, size_t len, unsigned int depth,
		    const struct dirent *entry)
{
	unsigned int tells;
	int n, fd;

	if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
		return;
	n = snprintf(look->path + len, sizeof(look->path) - len, "/%s", entry->d_name);
	if (n < 0 || (size_t)n >= sizeof(look->path) - len)
		return;
	fd = openat(dir_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return; /* a file, gone, or not ours */
	look->n_left--;
	tells = watt_cgroup_tells(look->path);
	look->tells = WATT_MAX(look->tells, tells);
	if (is_told(look) || depth + 1 >= WATT_CGROUP_V1_DEPTH) {
		close(fd);
		return;
	}
	look_below(look, fd, len + (size_t)n, depth + 1);
}

/* Closes dir_fd. */
static void look_below(struct look *look, int dir_fd, size_t len, unsigned int depth)
{
	_cleanup_closedir_ DIR *dir = fdopendir(dir_fd);
	const struct dirent *entry;

	if (!dir) {
		close(dir_fd);
		return;
	}
	while (!is_told(look) && (entry = readdir(dir)))
		look_at(look, dirfd(dir), len, depth, entry);
}

/* Services are in some hierarchies and not in others: they make none the better. */
static unsigned int hierarchy_tells(const struct watt_root *sysfs, const char *controller)
{
	struct look look = { .n_left = WATT_CGROUP_V1_LOOKS };
	char place[64];
	int fd;

	snprintf(place, sizeof(place), "fs/cgroup/%s", controller);
	fd = watt_root_open_fd(sysfs, place, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return WATT_CGROUP_TELLS_NOTHING;
	look_below(&look, fd, 0, 0);
	if (look.tells < WATT_CGROUP_TELLS_NAME)
		return WATT_CGROUP_TELLS_NOTHING;
	return WATT_MIN(look.tells, (unsigned int)WATT_CGROUP_TELLS_CONTAINER);
}

const char *watt_cgroup_v1_choose(const struct watt_root *procfs, const struct watt_root *sysfs)
{
	const char *best = NULL;
	unsigned int most = 0;
	uint64_t best_n = 0;
	char text[4096];
	size_t i;

	if (watt_root_read(procfs, "cgroups", text, sizeof(text)) < 0)
		return NULL;
	for (i = 0; i < WATT_ARRAY_SIZE(controllers); i++) {
		uint64_t n = watt_cgroup_v1_count(text, controllers[i]);
		/* the root alone tells nobody apart */
		unsigned int tells = n > 1 ? hierarchy_tells(sysfs, controllers[i]) : 0;

		if (n == 0 || tells < most || (tells == most && n <= best_n))
			continue;
		best = controllers[i];
		best_n = n;
		most = tells;
	}
	return best;
}
