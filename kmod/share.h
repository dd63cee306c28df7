/* SPDX-License-Identifier: GPL-2.0-only */
/* Divides energy among processes by their weights, to the last nJ. */
#ifndef WATTRIBUTE_SHARE_H
#define WATTRIBUTE_SHARE_H

#include <linux/types.h>

struct watt_process;

/*
 * Sets parts[unit].share_nj of all in the list, linked by next_active: they sum up to amount_nj
 * exactly. Rounded down, the rest goes one nJ each to those that this and earlier divisions owe
 * most. Weights whose sum has more than 62 bits all lose their lowest ones. False, and nothing is
 * set: nobody has a weight.
 */
bool watt_share_split(struct watt_process *active, unsigned int unit, u64 amount_nj);

#endif
