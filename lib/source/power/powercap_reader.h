/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a powercap zone, read again and again. One thread per object. */
#ifndef WATT_SOURCE_POWER_POWERCAP_READER_H
#define WATT_SOURCE_POWER_POWERCAP_READER_H

#include "source/power/powercap_scan.h"

struct watt_powercap_reader {
	const struct watt_env *env;            /* borrowed */
	const struct watt_powercap_zone *zone; /* borrowed */
	struct watt_file file;
	bool is_zero;      /* it has never shown anything but 0 */
	bool is_gone;      /* its zone was removed: when it is back it may have another number */
	uint64_t retry_ns; /* do not look for it before */
};

/* Opens it and looks whether it gives a number. On failure there is nothing to close. */
int watt_powercap_reader_open(struct watt_powercap_reader *reader, const struct watt_env *env,
			      const struct watt_powercap_zone *zone);
void watt_powercap_reader_close(struct watt_powercap_reader *reader);
/*
 * Reads the value at now_ns. As watt_file_read_u64; -ERANGE beyond 63 bits; -ENODEV while the zone
 * is not there. Looking for a zone that was removed allocates; nothing else here does.
 */
int watt_powercap_reader_read(struct watt_powercap_reader *reader, uint64_t now_ns, uint64_t *ret);

#endif
