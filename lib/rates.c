/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the user about rates. A source that is not used here is a mistake, and is told. */
#include "rates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"

#define MIN_PERIOD_NS WATT_NSEC_PER_MSEC
#define MAX_PERIOD_NS (3600 * WATT_NSEC_PER_SEC)
#define MAX_RATE_HZ 1000

/* "100", "0.5Hz", "1kHz": at most six decimals. */
static int parse_rate(const char *text, uint64_t *ret_period_ns)
{
	uint64_t rate_hz, rate_uhz, unit_uhz = 1000000;
	int r;

	r = watt_scan_u64(&text, &rate_hz);
	if (r < 0)
		return r;
	if (rate_hz > MAX_RATE_HZ)
		return -ERANGE;
	rate_uhz = rate_hz * unit_uhz;
	if (*text == '.') {
		for (text++; *text >= '0' && *text <= '9' && unit_uhz > 1; text++) {
			unit_uhz /= 10;
			rate_uhz += (uint64_t)(*text - '0') * unit_uhz;
		}
	}
	if (strcasecmp(text, "kHz") == 0)
		rate_uhz *= 1000;
	else if (*text && strcasecmp(text, "Hz") != 0)
		return -EBADMSG;
	if (rate_uhz == 0)
		return -ERANGE;
	*ret_period_ns = 1000000 * WATT_NSEC_PER_SEC / rate_uhz;
	return *ret_period_ns < MIN_PERIOD_NS || *ret_period_ns > MAX_PERIOD_NS ? -ERANGE : 0;
}

static int complain_source(const char *name, struct watt_power *const *sources, size_t n,
			   const struct watt_log *log)
{
	char known[512] = "";
	size_t i, used = 0;

	for (i = 0; i < n && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 sources[i]->ops->name);
	watt_log(log, WATT_LOG_ERROR, "no source that is used here is called '%s'; there are: %s",
		 name, known);
	return -EINVAL;
}

/* One word of the list, which is ours to write into. */
static int apply_word(char *word, struct watt_power *const *sources, size_t n,
		      const struct watt_log *log)
{
	char *equals = strchr(word, '=');
	uint64_t period_ns;
	size_t i;

	if (!equals || parse_rate(equals + 1, &period_ns) < 0) {
		watt_log(log, WATT_LOG_ERROR,
			 "'%s' is not a rate such as SOURCE=100Hz (one in an hour to 1 kHz)", word);
		return -EINVAL;
	}
	*equals = '\0';
	for (i = 0; i < n && strcmp(sources[i]->ops->name, word) != 0; i++)
		continue;
	if (i == n)
		return complain_source(word, sources, n, log);
	sources[i]->asked_period_ns = period_ns;
	return 0;
}

int watt_rates_apply(const char *text, struct watt_power *const *sources, size_t n,
		     const struct watt_log *log)
{
	_cleanup_free_ char *copy = NULL;
	char *rest, *word;
	int r = 0;

	if (!text)
		return 0;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	for (rest = copy; r == 0 && (word = strsep(&rest, ","));)
		r = apply_word(word, sources, n, log);
	return r;
}
