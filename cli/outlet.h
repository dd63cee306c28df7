/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of a command that has blocked the signals that end it. A pipe that nobody reads
 * and a stopped terminal keep a write waiting for ever: a thread of its own waits there, and the
 * command stays able to hear that it shall end. One thread uses an outlet.
 */
#ifndef WATT_CLI_OUTLET_H
#define WATT_CLI_OUTLET_H

#include <stdio.h>

#include "events.h"

struct outlet;

/* Into what to writes to. The events are open; both outlive the outlet. 0 or a negative errno. */
int outlet_open(const struct events *ev, FILE *to, struct outlet **ret);
/*
 * What is printed there stands in that file or pipe when the stream has been flushed. A signal that
 * ends the command gives a reader a moment more; then that write fails, with EINTR, and all that
 * come after it.
 */
FILE *outlet_get_file(const struct outlet *outlet);
/* NULL is allowed. Returns NULL. */
struct outlet *outlet_close(struct outlet *outlet);

#endif
