/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of devices that come and go, as it tells udev. It may tell nothing, in a
 * container, or lose some: who asks looks now and then all the same. One thread per object.
 */
#ifndef WATT_BASE_UEVENT_H
#define WATT_BASE_UEVENT_H

#include <stdbool.h>
#include <stddef.h>

struct watt_uevent {
	bool is_of_set;        /* a device has come or is gone, or a driver has taken or left it */
	const char *subsystem; /* "hwmon"; borrowed of the message */
};

/*
 * Takes a message of the kernel apart: "add@/devices/...", then VARIABLE=value, each with its NUL.
 * 0; -EBADMSG: it is none; *ret is untouched then.
 */
int watt_uevent_parse(const char *message, size_t n, struct watt_uevent *ret);

struct watt_uevents {
	int fd; /* -1: the kernel tells nothing here */
};

/* 0; a negative errno: nothing will be told, and *ret may be asked and closed all the same. */
int watt_uevents_open(struct watt_uevents *ret);
void watt_uevents_close(struct watt_uevents *events);
/*
 * Calls hear() with the subsystem of every event of the set since the last call; with NULL, if
 * some were lost: anything may have come. Never waits.
 */
void watt_uevents_read(struct watt_uevents *events, void (*hear)(void *data, const char *subsystem),
		       void *data);

#endif
