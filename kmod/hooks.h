/* SPDX-License-Identifier: GPL-2.0-only */
/* The few events that the kernel's counters forget: births, deaths, moves, packets, switches. */
#ifndef WATTRIBUTE_HOOKS_H
#define WATTRIBUTE_HOOKS_H

#include <linux/types.h>

/*
 * Begins to listen. with_moves: threads that move from one unit to another too; with_switches:
 * threads that leave their CPU too.
 * -ENOENT: this kernel lacks an event, said in a message.
 */
int watt_hooks_init(bool with_moves, bool with_switches);
/* Returns when no hook runs any more. Accepts that some were never set. */
void watt_hooks_done(void);

#endif
