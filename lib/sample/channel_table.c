/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine reads, in the order in which it came. Nothing ever leaves. */
#include "sample/channel_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void watt_channel_table_done(struct watt_channel_table *table)
{
	size_t i;

	for (i = 0; i < table->n; i++) {
		watt_channel_free(table->list[i]->copy);
		free(table->list[i]);
	}
	free(table->list);
	*table = (struct watt_channel_table){ 0 };
}

int watt_channel_table_add(struct watt_channel_table *table, const struct watt_power *power,
			   uint32_t i, bool is_copied)
{
	struct watt_table_channel *channel = calloc(1, sizeof(*channel));
	int r = channel ? 0 : -ENOMEM;

	if (r == 0)
		r = watt_grow((void **)&table->list, &table->cap, table->n,
			      sizeof(struct watt_table_channel *));
	if (r == 0 && is_copied)
		r = watt_channel_copy(&power->channels[i], &channel->copy);
	if (r < 0) {
		free(channel);
		return r;
	}
	channel->channel = is_copied ? channel->copy : &power->channels[i];
	channel->ops = power->ops;
	channel->status = WATT_STATUS_PENDING;
	table->list[table->n++] = channel;
	return 0;
}

struct watt_table_channel *watt_channel_table_find(const struct watt_channel_table *table,
						   const struct watt_power_ops *ops,
						   const char *name, uint32_t *ret_number)
{
	size_t i;

	for (i = 0; i < table->n; i++)
		if (table->list[i]->ops == ops && !strcmp(table->list[i]->channel->name, name)) {
			*ret_number = (uint32_t)i;
			return table->list[i];
		}
	return NULL;
}

bool watt_table_channel_is_gone(const struct watt_table_channel *channel)
{
	return channel->status == WATT_STATUS_ABSENT;
}

bool watt_channel_table_has(const struct watt_channel_table *table,
			    const struct watt_power_ops *ops)
{
	size_t i;

	for (i = 0; i < table->n; i++)
		if (table->list[i]->ops == ops)
			return true;
	return false;
}

bool watt_channel_table_is_any_gone(const struct watt_channel_table *table,
				    const struct watt_power_ops *ops)
{
	size_t i;

	for (i = 0; i < table->n; i++)
		if (table->list[i]->ops == ops && watt_table_channel_is_gone(table->list[i]))
			return true;
	return false;
}

size_t watt_channel_table_list(const struct watt_channel_table *table,
			       const struct watt_power_ops *ops, const char **ret_names)
{
	size_t i, n = 0;

	for (i = 0; i < table->n; i++)
		if (table->list[i]->ops == ops && !watt_table_channel_is_gone(table->list[i]))
			ret_names[n++] = table->list[i]->channel->name;
	return n;
}
