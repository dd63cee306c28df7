/* SPDX-License-Identifier: Apache-2.0 */
/* One value of HPE Cray's pm_counters: "1234 J", or with its time, "1234 J 1688000000000000 us". */
#ifndef WATT_SOURCE_CRAY_COUNTER_H
#define WATT_SOURCE_CRAY_COUNTER_H

#include <stdint.h>

/*
 * unit: 'J' or 'W'. The value in millionths of it. 0; -EBADMSG: it is no such text; -ERANGE: it is
 * more than any machine has. *ret is untouched then.
 */
int watt_cray_counter_parse(const char *text, char unit, int64_t *ret);

#endif
