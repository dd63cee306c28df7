/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of a file of a recording, and whose it is: a name that is free or may be replaced, a
 * lock that says that somebody writes there, and an eye on what others do to the file meanwhile.
 * One thread at a time.
 */
#ifndef WATT_RECORD_PLACE_H
#define WATT_RECORD_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/log.h"

struct watt_place {
	char *path;  /* absolute; no folder in it is a link, so it is a file's name only */
	char *fresh; /* the name until it is published; NULL: it is */
	int fd;      /* of the file; holds the lock; -1: none */
	int old_fd;  /* of the file that is to be replaced; locked, too; -1: none */
	bool is_old_recording; /* what lies beside the old file is its own */
	struct stat seen;      /* the file when we had last written to it */
	struct stat seen_wal;
};

#define WATT_PLACE_INIT ((struct watt_place){ .fd = -1, .old_fd = -1 })

/*
 * Makes an empty file of a name that nobody had, 0600, of this owner (0: ours), and locks it. Logs
 * one sentence on failure: -EEXIST, -EBUSY (it is being written), -EACCES, -EROFS, -ENOENT,
 * -EISDIR, -EMEDIUMTYPE (not a plain file), -ENOSPC, ...
 */
int watt_place_take(struct watt_place *place, const char *path, bool overwrite, uint32_t uid,
		    uint32_t gid, const struct watt_log *log);
/* Gives the file its name, at once, in the place of the old one. Negative errno. */
int watt_place_publish(struct watt_place *place);
/* Whether the name is still that of the file. */
bool watt_place_is_ours(const struct watt_place *place);
/* Remembers what the file and its log look like after a commit. */
void watt_place_remember(struct watt_place *place);
enum watt_place_state {
	WATT_PLACE_OURS,    /* nobody else has touched it */
	WATT_PLACE_TOUCHED, /* somebody wrote to it: perhaps a reader that tidied up */
	WATT_PLACE_CUT,     /* something is missing of what was there */
	WATT_PLACE_MOVED,   /* removed, renamed or replaced */
};
enum watt_place_state watt_place_look(const struct watt_place *place);
/* Gives the lock back, and removes what was never published. */
void watt_place_done(struct watt_place *place);

#endif
