/* SPDX-License-Identifier: GPL-2.0-only */
/* /proc/energy and debugfs's energy. */
#ifndef WATTRIBUTE_FILES_H
#define WATTRIBUTE_FILES_H

int watt_files_init(void);
/* Returns when nobody reads any more, and none can. */
void watt_files_done(void);

#endif
