/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module says of itself. */
#ifndef WATTRIBUTE_STAT_H
#define WATTRIBUTE_STAT_H

#include <linux/types.h>

struct seq_file;

/* Somebody who reads a file held RCU for so long. Any thread. */
void watt_stat_add_section(u64 time_ns);

int watt_stat_show(struct seq_file *file, void *unused);

#endif
