/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the tables that results are computed from are as they were written. */
#ifndef WATT_RECORD_CHECK_H
#define WATT_RECORD_CHECK_H

#include <stdint.h>

#include <sqlite3.h>

/* A number that changes with any value of the tables channels, slots and cpus. */
int watt_check_compute(sqlite3 *db, int64_t *ret);

#endif
