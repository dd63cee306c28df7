/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checkup: what doctor finds on this machine, with the agent's settings and its rights. It is
 * made when somebody asks and the last one is old, by a thread of its own, since a source that hangs
 * takes its time: nobody waits for it.
 *
 * Thread-safe.
 */
#ifndef WATT_AGENT_CHECKUP_H
#define WATT_AGENT_CHECKUP_H

#include "settings.h"

struct checkup;

/* 0 or a negative errno; the log has the sentence. */
int checkup_open(struct checkup **ret, const struct settings *settings);
/* One that is under way goes on by itself until it has ended. NULL: nothing happens. */
void checkup_close(struct checkup *checkup);
/*
 * The document of the last one, by the schema wattribute-doctor-1; the caller frees it. NULL: there
 * is none yet, and one is under way; *ret_error, which is 0 then, says if it can't be made.
 */
char *checkup_get(struct checkup *checkup, int *ret_error);

#endif
