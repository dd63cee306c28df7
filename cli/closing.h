/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a session whose recording may lie on a disk that does not answer. */
#ifndef WATT_CLI_CLOSING_H
#define WATT_CLI_CLOSING_H

#include <stdbool.h>

#include <wattribute/session.h>

#include "events.h"

/*
 * Closes the session. Who waits long is told why, and may end the waiting by a signal: then it is
 * false, and the session still has a thread that the end of the process ends.
 */
bool closing_close(struct watt_session *ses, const struct events *ev, const char *path);

#endif
