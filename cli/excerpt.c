/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the options about a part of a recording. It must not look into one. */
#include "excerpt.h"

#include <errno.h>
#include <getopt.h>

#include "number.h"
#include "options.h"

int excerpt_take(struct excerpt *excerpt, int code)
{
	switch (code) {
	case EXCERPT_FROM:
		return time_arg_take("--from", optarg, &excerpt->from);
	case EXCERPT_TO:
		return time_arg_take("--to", optarg, &excerpt->to);
	case EXCERPT_WINDOW:
		if (number_duration(optarg, 1000000000, &excerpt->window_ns) < 0)
			return options_bad_value("--window", optarg, "a time such as 1s or 100ms");
		return 0;
	default:
		return -EINVAL;
	}
}
