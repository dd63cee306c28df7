/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of the user about delays. A pattern that no channel has is a mistake: who makes it is told
 * what there is.
 */
#include "timeline/delays.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Whether a name is what a pattern says, in which * is any text. */
static bool matches(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			retry = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static int complain_channel(const char *pattern, const struct watt_curve *curves, size_t n,
			    const struct watt_log *log)
{
	char known[768] = "";
	size_t i, used = 0;

	for (i = 0; i < n && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 curves[i].channel->name);
	watt_log(log, WATT_LOG_ERROR, "no channel here is called '%s'; there are: %s", pattern,
		 known);
	return -ENOENT;
}

int watt_delays_apply(const struct watt_rules *delays, struct watt_curve *curves, size_t n,
		      const struct watt_log *log)
{
	size_t i, c;

	for (i = 0; delays && i < delays->n; i++) {
		const struct watt_rule *delay = &delays->list[i];
		bool any = false;

		for (c = 0; c < n; c++) {
			if (!matches(delay->name, curves[c].channel->name))
				continue;
			curves[c].delay_ns = delay->value;
			curves[c].is_delay_told = true;
			any = true;
		}
		if (!any)
			return complain_channel(delay->name, curves, n, log);
	}
	return 0;
}
