/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time of a recording, as a person says it: so long after its beginning ("90s", "1m30s",
 * "2.5"), or a time of the clock on the wall ("2026-11-21 13:45:00", "13:45", "@1795268700").
 */
#ifndef WATT_CLI_TIME_ARG_H
#define WATT_CLI_TIME_ARG_H

#include <stdbool.h>
#include <stdint.h>

enum time_arg_kind {
	TIME_ARG_NONE = 0,   /* nobody said any */
	TIME_ARG_SINCE = 1,  /* ns after the beginning */
	TIME_ARG_WALL = 2,   /* ns since the Epoch */
	TIME_ARG_OF_DAY = 3, /* ns since midnight, local time */
};

struct time_arg {
	enum time_arg_kind kind;
	uint64_t ns;
};

/* 0; -EINVAL: it is none of these. */
int time_arg_parse(const char *text, struct time_arg *ret);
/* The same of an option; a line has been printed if it is none. */
int time_arg_take(const char *option, const char *text, struct time_arg *ret);
/*
 * How long after the beginning, which was at start_realtime_ns, CLOCK_REALTIME; negative: before
 * it. A time of day is that of the day of the beginning, or of the next one if it is earlier.
 */
int64_t time_arg_since_ns(const struct time_arg *arg, uint64_t start_realtime_ns);

#endif
