/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine as a whole, as the kernel counts it since it was started. */
#ifndef WATTRIBUTE_SYSTEM_H
#define WATTRIBUTE_SYSTEM_H

struct watt_counts;

void watt_system_init(void);
/* Adds what a process used since `before`. For the sampler. */
void watt_system_add(const struct watt_counts *now, const struct watt_counts *before);
void watt_system_read(struct watt_counts *ret);

#endif
