/* SPDX-License-Identifier: Apache-2.0 */
/* Channels that own their strings. Knows nothing of what they measure. */
#include "source/channels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "source/source.h"

static void channel_done(struct watt_channel *channel)
{
	free((char *)channel->name);
	free((char *)channel->domain);
	free((char *)channel->label);
	free((char *)channel->path);
}

/* Its strings are copied; source is not: it is static. */
static int copy_channel(const struct watt_channel *channel, struct watt_channel *ret)
{
	struct watt_channel copy = *channel;
	int r = 0;

	copy.sz = sizeof(copy);
	copy.name = watt_strdup(channel->name, &r);
	copy.domain = watt_strdup(channel->domain, &r);
	copy.label = watt_strdup(channel->label, &r);
	copy.path = watt_strdup(channel->path, &r);
	if (r < 0) {
		channel_done(&copy);
		return r;
	}
	*ret = copy;
	return 0;
}

int watt_channels_add(struct watt_channels *list, const struct watt_channel *channel)
{
	int r = watt_grow((void **)&list->channel, &list->cap, list->n, sizeof(*list->channel));

	if (r == 0)
		r = copy_channel(channel, &list->channel[list->n]);
	if (r == 0)
		list->n++;
	return r;
}

int watt_channel_copy(const struct watt_channel *channel, struct watt_channel **ret)
{
	struct watt_channel *copy = malloc(sizeof(*copy));
	int r = copy ? copy_channel(channel, copy) : -ENOMEM;

	if (r < 0) {
		free(copy);
		return r;
	}
	*ret = copy;
	return 0;
}

struct watt_channel *watt_channel_free(struct watt_channel *copy)
{
	if (copy)
		channel_done(copy);
	free(copy);
	return NULL;
}

void watt_channels_done(struct watt_channels *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		channel_done(&list->channel[i]);
	free(list->channel);
	*list = (struct watt_channels)WATT_CHANNELS_INIT;
}
