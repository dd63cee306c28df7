/* SPDX-License-Identifier: GPL-2.0-only */
/* What the module says of itself. */
#ifndef WATTRIBUTE_STAT_H
#define WATTRIBUTE_STAT_H

struct seq_file;

int watt_stat_show(struct seq_file *file, void *unused);

#endif
