/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the files of one recording.
 * It must not touch a file that is no part of it.
 */
#include "record/part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

char *watt_part_path(const char *path, uint32_t part)
{
	const char *base = strrchr(path, '/');
	const char *dot;
	char *name;

	if (part == 1)
		return strdup(path);
	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	if (!dot || dot == base)
		dot = base + strlen(base);
	return asprintf(&name, "%.*s-%u%s", (int)(dot - path), path, part, dot) < 0 ? NULL : name;
}

bool watt_part_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

void watt_part_remove(const char *path, uint32_t part)
{
	static const char *const tails[] = { "", "-wal", "-shm" };
	_cleanup_free_ char *name = watt_part_path(path, part);
	size_t i;

	for (i = 0; name && i < 3; i++) {
		char *full;

		if (asprintf(&full, "%s%s", name, tails[i]) < 0)
			return;
		unlink(full);
		free(full);
	}
}
