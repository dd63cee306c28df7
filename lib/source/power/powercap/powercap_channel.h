/* SPDX-License-Identifier: Apache-2.0 */
/* The channel that a powercap zone makes. */
#ifndef WATT_SOURCE_POWER_POWERCAP_POWERCAP_CHANNEL_H
#define WATT_SOURCE_POWER_POWERCAP_POWERCAP_CHANNEL_H

#include "source/channels.h"
#include "source/power/powercap/powercap_scan.h"

/* Name of its channel, which a zone has for good. */
void watt_powercap_channel_name(const struct watt_powercap_zone *zone, char *buf, size_t size);
/* Path of what is read, below the root of sysfs. */
void watt_powercap_value_path(const struct watt_powercap_zone *zone, char *buf, size_t size);
/*
 * Appends the channel of a zone, with the modulus, bound and window that its files tell. What
 * they do not tell is unknown in the channel, with a warning where it matters. 0 or -ENOMEM.
 */
int watt_powercap_channel_add(const struct watt_env *env, const struct watt_powercap_zone *zone,
			      uint32_t group, bool is_amd, bool is_unread,
			      struct watt_channels *list);

#endif
