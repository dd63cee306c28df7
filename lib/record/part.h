/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a rotated recording: run.watt, run-2.watt, run-3.watt. Thread-safe. */
#ifndef WATT_RECORD_PART_H
#define WATT_RECORD_PART_H

#include <stdbool.h>
#include <stdint.h>

/* Name of a part, from 1; free() it. NULL: no memory. */
char *watt_part_path(const char *path, uint32_t part);
bool watt_part_exists(const char *path);
/* Removes a part and what SQLite keeps beside it. */
void watt_part_remove(const char *path, uint32_t part);

#endif
