/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the user about rates. A source that is not used here is a mistake, and is told. */
#include "rates.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
	return -ENOENT;
}

int watt_rates_apply(const struct watt_rules *rates, struct watt_power *const *sources, size_t n,
		     const struct watt_log *log)
{
	size_t i, s;

	for (i = 0; rates && i < rates->n; i++) {
		const struct watt_rule *rate = &rates->list[i];

		for (s = 0; s < n && strcmp(sources[s]->ops->name, rate->name) != 0; s++)
			continue;
		if (s == n)
			return complain_source(rate->name, sources, n, log);
		sources[s]->asked_period_ns = rate->value;
	}
	return 0;
}
