/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings on demand: whoever may ask has everything that the agent's sensors say written into a
 * file for some time. Each is a session of its own beside the agent's, with the agent's settings: it
 * disturbs no counter, and costs as much again while it runs. One runs at a time; their number and
 * size are bounded. A file is called by the time at which it began, "1795455001123.watt".
 *
 * Thread-safe, but for opening and closing it.
 */
#ifndef WATT_AGENT_RECORDINGS_H
#define WATT_AGENT_RECORDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "settings.h"

#define RECORDING_SECONDS_MAX 3600
#define RECORDING_BODY_MAX 1024 /* bytes of what asks for one */

struct recordings;

/*
 * NULL in *ret: the settings name no folder, so that none can be made. The folder is made where it is
 * not there. 0 or a negative errno; the log has the sentence.
 */
int recordings_open(struct recordings **ret, const struct settings *settings);
/* Ends what runs; files stay. NULL is allowed. */
void recordings_close(struct recordings *recordings);

/* What a request says: {"seconds": 10}. 0; -EINVAL, and the sentence in error. */
int recordings_parse(const char *text, size_t n, uint32_t *ret_seconds, char *error, size_t size);
/* The number in "1795455001123", the end of a path; -EINVAL: it is none. */
int recordings_parse_id(const char *text, uint64_t *ret_id);
/*
 * Begins one. 0; -EBUSY: another one runs; -EDQUOT: there are as many as there may be; another
 * negative errno: it can't be begun.
 */
int recordings_begin(struct recordings *recordings, uint32_t seconds, uint64_t *ret_id);
/*
 * A file that is done, opened for reading. -ENOENT; -EBUSY: it is being written; -EUCLEAN: its writer
 * was killed, and part of it is in another file beside it.
 */
int recordings_open_file(struct recordings *recordings, uint64_t id, int *ret_fd);
/* Forgets one; if it runs, it ends and is gone soon. 0; -ENOENT; another negative errno. */
int recordings_delete(struct recordings *recordings, uint64_t id);
/* What the answer to who began one says, as JSON; owned by the caller. */
char *recordings_describe_id(uint64_t id);
/* What there is, as JSON; owned by the caller. */
char *recordings_list(struct recordings *recordings);

#endif
