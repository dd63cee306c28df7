/* SPDX-License-Identifier: Apache-2.0 */
/* The options by which a person chooses a part of a recording, and the windows to cut it into. */
#ifndef WATT_CLI_EXCERPT_H
#define WATT_CLI_EXCERPT_H

#include <stdint.h>

#include "time_arg.h"

struct excerpt {
	struct time_arg from;
	struct time_arg to;
	uint64_t window_ns; /* 0: nobody said any */
};

enum excerpt_code {
	EXCERPT_FROM = 2048, /* above all codes of options.h and of commands */
	EXCERPT_TO,
	EXCERPT_WINDOW,
};

/* clang-format off */
#define EXCERPT_LONG \
	{ "window", required_argument, NULL, EXCERPT_WINDOW }, \
	{ "from", required_argument, NULL, EXCERPT_FROM }, \
	{ "to", required_argument, NULL, EXCERPT_TO }
/* clang-format on */

/*
 * Takes one option that getopt_long() found. 0; -EINVAL: it is none of these, or its value is
 * wrong and a line has been printed.
 */
int excerpt_take(struct excerpt *excerpt, int code);

#endif
