/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing list of channels that owns their strings, for a source while it opens. Immutable
 * afterwards. One thread per object.
 */
#ifndef WATT_SOURCE_CHANNELS_H
#define WATT_SOURCE_CHANNELS_H

#include <stddef.h>

#include <wattribute/channel.h>

struct watt_channels {
	struct watt_channel *channel;
	size_t n;
	size_t cap;
};

#define WATT_CHANNELS_INIT \
	{ \
		0 \
	}

/* Appends a copy; its strings are copied too (source is not: it is static). 0 or -ENOMEM. */
int watt_channels_add(struct watt_channels *list, const struct watt_channel *channel);
void watt_channels_done(struct watt_channels *list);

#endif
