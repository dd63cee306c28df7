/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The channels of an engine by their numbers, which stay for ever: what each is, where it is read
 * now, and how it does. One thread per object (the engine's). Inside the stage only.
 */
#ifndef WATT_SAMPLE_CHANNEL_TABLE_H
#define WATT_SAMPLE_CHANNEL_TABLE_H

#include "source/source.h"

struct engine_bundle;

struct watt_table_channel {
	const struct watt_channel *channel;
	struct watt_channel *copy; /* of one that came later: its first source may go; else NULL */
	const struct watt_power_ops *ops;
	struct engine_bundle *bundle; /* that reads it; NULL: none does yet */
	enum watt_status status;      /* of the newest sample */
};

struct watt_channel_table {
	struct watt_table_channel **list;
	size_t n, cap;
};

/* Accepts one of zeros. */
void watt_channel_table_done(struct watt_channel_table *table);
/* Channel i of an open source; its number is the next one. 0 or -ENOMEM. */
int watt_channel_table_add(struct watt_channel_table *table, const struct watt_power *power,
			   uint32_t i, bool is_copied);
/* NULL: the source has none of this name. */
struct watt_table_channel *watt_channel_table_find(const struct watt_channel_table *table,
						   const struct watt_power_ops *ops,
						   const char *name, uint32_t *ret_number);
/* Its newest sample said that it is no more. */
bool watt_table_channel_is_gone(const struct watt_table_channel *channel);
/* Whether the source has any channel. */
bool watt_channel_table_has(const struct watt_channel_table *table,
			    const struct watt_power_ops *ops);
/* Whether any of them is gone. */
bool watt_channel_table_is_any_gone(const struct watt_channel_table *table,
				    const struct watt_power_ops *ops);
/* The names of those that are not, the table's own, into room for all of them. Returns how many. */
size_t watt_channel_table_list(const struct watt_channel_table *table,
			       const struct watt_power_ops *ops, const char **ret_names);

#endif
