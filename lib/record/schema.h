/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a recording, of formats 1 and 2, as wattribute-recording(5) describes them. Constant. */
#ifndef WATT_RECORD_SCHEMA_H
#define WATT_RECORD_SCHEMA_H

#include <stddef.h>

/* "WAtt" in SQLite's head; and the version of the format, as its user_version. */
#define WATT_RECORDING_APPLICATION 0x57417474
#define WATT_RECORDING_FORMAT 2

struct watt_table {
	const char *name;
	const char *sql; /* what SQLite keeps of it, to the byte */
};

/* Ended by a name of NULL. */
extern const struct watt_table watt_recording_tables[];
/* Views and indexes, for people. */
extern const char *const watt_recording_views[];

#endif
