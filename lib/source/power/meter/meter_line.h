/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instrument says, a line each: "W 231.5", the power that it shows, or "J 1234567.8", the
 * energy that it has counted. Lines that are empty or begin with # say nothing. Pure.
 */
#ifndef WATT_SOURCE_METER_LINE_H
#define WATT_SOURCE_METER_LINE_H

#include <stddef.h>
#include <stdint.h>

#include <wattribute/types.h>

/* Longer lines are none. */
#define WATT_METER_LINE_MAX 256

struct watt_meter_line {
	enum watt_quantity quantity;
	int64_t value_uw; /* or in uJ */
};

/*
 * One line, without its end. 0; -ENODATA: it says nothing; -EBADMSG: it is none of them; -ERANGE:
 * more than any machine takes.
 */
int watt_meter_line_parse(const char *line, struct watt_meter_line *ret);

#endif
