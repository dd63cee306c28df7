/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to an instrument: "unix:PATH", "tcp:HOST:PORT" or "exec:COMMAND", from which lines come.
 * One thread per object.
 */
#ifndef WATT_SOURCE_METER_LINK_H
#define WATT_SOURCE_METER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "source/power/meter/meter_line.h"

struct watt_meter_link {
	int fd;    /* -1: it is not there */
	pid_t pid; /* of the command, and of its group; 0: there is none */
	char text[WATT_METER_LINE_MAX];
	size_t len;
	bool is_skipping; /* the rest of a line that is too long, or began before us */
};

#define WATT_METER_LINK_INIT \
	{ \
		.fd = -1 \
	}

/* Whether there is a way of that kind. */
bool watt_meter_link_is_place(const char *place);
/* 0; -EINVAL: no such kind of place; or why it is not there: -ENOENT, -ECONNREFUSED, ... */
int watt_meter_link_open(struct watt_meter_link *link, const char *place);
/*
 * The newest line that says something, of those that have come. -EAGAIN: none has; -EPIPE: it has
 * ended; -EBADMSG or -ERANGE: the newest line is none.
 */
int watt_meter_link_read(struct watt_meter_link *link, struct watt_meter_line *ret);
/* Waits until something comes, or it ends. -ETIMEDOUT. */
int watt_meter_link_wait(const struct watt_meter_link *link, int timeout_ms);
/* Ends the command. Accepts one that is not open. */
void watt_meter_link_close(struct watt_meter_link *link);

#endif
