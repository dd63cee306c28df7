/* SPDX-License-Identifier: Apache-2.0 */
/* Archives where the library was built without libarchive: there are none. */
#include "base/archive.h"

#include <errno.h>
#include <stdio.h>

int watt_archive_unpack(const char *path, const struct watt_archive_limits *limits, int dir_fd,
			char problem[WATT_ARCHIVE_PROBLEM_SIZE])
{
	snprintf(problem, WATT_ARCHIVE_PROBLEM_SIZE, "this build reads no archives (libarchive)");
	return -EOPNOTSUPP;
}

int watt_archive_writer_open(int fd, const char *name, struct watt_archive_writer **ret)
{
	return -EOPNOTSUPP;
}

int watt_archive_writer_add(struct watt_archive_writer *writer, const char *path, const void *data,
			    size_t size)
{
	return -EOPNOTSUPP;
}

int watt_archive_writer_link(struct watt_archive_writer *writer, const char *path,
			     const char *target)
{
	return -EOPNOTSUPP;
}

int watt_archive_writer_finish(struct watt_archive_writer *writer)
{
	return -EOPNOTSUPP;
}

struct watt_archive_writer *watt_archive_writer_free(struct watt_archive_writer *writer)
{
	return NULL;
}
