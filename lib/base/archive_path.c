/* SPDX-License-Identifier: Apache-2.0 */
/* What may be in an archive: paths and links that stay inside. */
#include "base/archive.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define MAX_PATH_SIZE 1024

const char *watt_archive_skip_here(const char *path)
{
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	return path;
}

int watt_archive_check_path(const char *path)
{
	const char *name = watt_archive_skip_here(path);
	size_t depth = 0, len;

	if (strlen(path) >= MAX_PATH_SIZE)
		return -ENAMETOOLONG;
	for (; *name; name += len + (name[len] == '/')) {
		len = strcspn(name, "/");
		if (len == 0 || len > NAME_MAX || (len <= 2 && strspn(name, ".") >= len) ||
		    ++depth > WATT_ARCHIVE_MAX_DEPTH)
			return -EINVAL;
	}
	return path[0] == '/' ? -EINVAL : 0;
}

static size_t depth_of(const char *path)
{
	size_t depth = 0;

	for (path = watt_archive_skip_here(path); *path; path++)
		depth += *path == '/' && path[1];
	return depth;
}

/*
 * ".." may only be in front: behind another link of the archive it would lead elsewhere than it
 * seems to. Whoever follows links of this kind only, never leaves the folder.
 */
int watt_archive_check_link(const char *path, const char *target)
{
	size_t up = 0;

	while (strncmp(target, "..", 2) == 0 && (target[2] == '/' || !target[2])) {
		target += target[2] ? 3 : 2;
		up++;
	}
	if (up > depth_of(path))
		return -EINVAL;
	return watt_archive_check_path(target);
}
