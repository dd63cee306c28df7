/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as /proc/PID/cgroup, as /proc/cgroups and as a cgroup path: no crash, and every string
 * lies inside the storage, which has not a byte to spare.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "source/host/cgroup_v1.h"
#include "source/host/cgroupfile.h"
#include "source/source.h"

static void check_inside(const char *text, const char *storage, size_t size)
{
	if (text && (text < storage || text + strlen(text) >= storage + size))
		abort();
}

static void parse_path(const char *path)
{
	size_t size = watt_cgroup_parse_size(path);
	char *storage = malloc(size);
	struct watt_cgroup cgroup;

	if (!storage)
		return;
	watt_cgroup_parse(path, storage, &cgroup);
	if (strcmp(cgroup.path, path) != 0)
		abort();
	check_inside(cgroup.path, storage, size);
	check_inside(cgroup.container, storage, size);
	check_inside(cgroup.pod_uid, storage, size);
	check_inside(cgroup.unit, storage, size);
	check_inside(cgroup.user_unit, storage, size);
	check_inside(cgroup.job, storage, size);
	watt_cgroup_tells(path);
	free(storage);
}

static void parse_file(const char *text)
{
	struct watt_cgroup_line line;
	char *path;

	if (watt_cgroup_line_pick(text, &line) < 0)
		return;
	if (line.path_len == 0 || line.path[0] != '/' || line.path_len >= WATT_CGROUP_PATH_MAX ||
	    !(watt_cgroup_line_hash(&line) & WATT_CGROUP_ID_HASHED))
		abort();
	path = strndup(line.path, line.path_len);
	if (path)
		parse_path(path);
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);

	if (!text)
		return 0;
	parse_file(text);
	parse_path(text);
	watt_cgroup_v1_count(text, "memory");
	free(text);
	return 0;
}
