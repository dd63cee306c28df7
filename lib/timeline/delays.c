/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of the user about delays. A pattern that no channel has is a mistake: who makes it is told
 * what there is.
 */
#include "timeline/delays.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"

#define MAX_DELAY_MS 60000

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

/* "12.5": at most six decimals, which are nanoseconds. */
static int parse_ms(const char *text, uint64_t *ret_ns)
{
	uint64_t ms, ns = 0, unit_ns = WATT_NSEC_PER_MSEC;
	int r;

	r = watt_scan_u64(&text, &ms);
	if (r < 0)
		return r;
	if (*text == '.') {
		for (text++; *text >= '0' && *text <= '9' && unit_ns > 1; text++) {
			unit_ns /= 10;
			ns += (uint64_t)(*text - '0') * unit_ns;
		}
	}
	if (*text)
		return -EBADMSG;
	if (ms > MAX_DELAY_MS || (ms == MAX_DELAY_MS && ns))
		return -ERANGE;
	*ret_ns = ms * WATT_NSEC_PER_MSEC + ns;
	return 0;
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
	return -EINVAL;
}

/* One word of the list, which is ours to write into. */
static int apply_word(char *word, struct watt_curve *curves, size_t n, const struct watt_log *log)
{
	char *equals = strrchr(word, '=');
	uint64_t delay_ns;
	bool any = false;
	size_t i;

	if (!equals || parse_ms(equals + 1, &delay_ns) < 0) {
		watt_log(log, WATT_LOG_ERROR,
			 "'%s' is not a delay such as CHANNEL=20 (0 to %d milliseconds)", word,
			 MAX_DELAY_MS);
		return -EINVAL;
	}
	*equals = '\0';
	for (i = 0; i < n; i++) {
		if (!matches(word, curves[i].channel->name))
			continue;
		curves[i].delay_ns = delay_ns;
		any = true;
	}
	return any ? 0 : complain_channel(word, curves, n, log);
}

int watt_delays_apply(const char *text, struct watt_curve *curves, size_t n,
		      const struct watt_log *log)
{
	char *copy, *rest, *word;
	int r = 0;

	if (!text)
		return 0;
	copy = rest = strdup(text);
	if (!copy)
		return -ENOMEM;
	while (r == 0 && (word = strsep(&rest, ",")))
		r = apply_word(word, curves, n, log);
	free(copy);
	return r;
}
