/* SPDX-License-Identifier: Apache-2.0 */
/* A growing list of channels that owns their strings. Knows nothing of what they measure. */
#include "source/channels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static void channel_done(struct watt_channel *channel)
{
	free((char *)channel->name);
	free((char *)channel->domain);
	free((char *)channel->label);
	free((char *)channel->path);
}

static int copy_text(const char *text, const char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

int watt_channels_add(struct watt_channels *list, const struct watt_channel *channel)
{
	struct watt_channel copy = *channel;
	int r;

	r = watt_grow((void **)&list->channel, &list->cap, list->n, sizeof(*list->channel));
	if (r < 0)
		return r;
	copy.name = copy.domain = copy.label = copy.path = NULL;
	if (copy_text(channel->name, &copy.name) < 0 ||
	    copy_text(channel->domain, &copy.domain) < 0 ||
	    copy_text(channel->label, &copy.label) < 0 ||
	    copy_text(channel->path, &copy.path) < 0) {
		channel_done(&copy);
		return -ENOMEM;
	}
	list->channel[list->n++] = copy;
	return 0;
}

void watt_channels_done(struct watt_channels *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		channel_done(&list->channel[i]);
	free(list->channel);
	*list = (struct watt_channels)WATT_CHANNELS_INIT;
}
