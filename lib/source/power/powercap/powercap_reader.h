/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a powercap zone, read again and again. One thread per object. */
#ifndef WATT_SOURCE_POWER_POWERCAP_POWERCAP_READER_H
#define WATT_SOURCE_POWER_POWERCAP_POWERCAP_READER_H

#include "source/power/powercap/powercap_scan.h"

struct watt_powercap_reader {
	const struct watt_env *env;            /* borrowed */
	const struct watt_powercap_zone *zone; /* borrowed */
	struct watt_file file;
	bool is_unread; /* it gave no number when it was opened */
	bool is_zero;   /* it has never shown anything but 0 */
	bool is_gone;   /* its zone was removed: when it is back it may have another number */
};

/*
 * Opens it and looks whether it gives a number. On failure it is to be closed, or to be read
 * again, when it may give one.
 */
int watt_powercap_reader_open(struct watt_powercap_reader *reader, const struct watt_env *env,
			      const struct watt_powercap_zone *zone);
void watt_powercap_reader_close(struct watt_powercap_reader *reader);
/*
 * As watt_file_read_u64; -ERANGE beyond 63 bits; -ENODEV: the zone was removed, and stays so until
 * it is opened again.
 */
int watt_powercap_reader_read(struct watt_powercap_reader *reader, uint64_t *ret);
#endif
