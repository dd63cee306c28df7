/* SPDX-License-Identifier: Apache-2.0 */
/* Second names of a file and of what SQLite keeps beside it. Nothing is copied. */
#include "kept.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "xalloc.h"

void kept_take(struct kept *kept, const char *path)
{
	static const char *const tails[KEPT_FILES] = { "", "-wal", "-journal" };
	size_t i;

	*kept = (struct kept){ 0 };
	for (i = 0; i < KEPT_FILES; i++) {
		kept->places[i] = xasprintf("%s%s", path, tails[i]);
		kept->names[i] = xasprintf("%s.before-%d%s", path, (int)getpid(), tails[i]);
		/* The name itself, not what it may point to. */
		if (linkat(AT_FDCWD, kept->places[i], AT_FDCWD, kept->names[i], 0) == 0)
			continue;
		free(kept->names[i]);
		kept->names[i] = NULL;
	}
}

void kept_restore(struct kept *kept)
{
	size_t i;

	if (!kept->names[0])
		return;
	for (i = 0; i < KEPT_FILES; i++) {
		if (!kept->names[i])
			continue;
		rename(kept->names[i], kept->places[i]);
		free(kept->names[i]);
		kept->names[i] = NULL;
	}
}

void kept_drop(struct kept *kept)
{
	size_t i;

	for (i = 0; i < KEPT_FILES; i++) {
		if (kept->names[i])
			unlink(kept->names[i]);
		free(kept->names[i]);
		free(kept->places[i]);
	}
	*kept = (struct kept){ 0 };
}
