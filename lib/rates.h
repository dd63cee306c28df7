/* SPDX-License-Identifier: Apache-2.0 */
/* How often a person wants sources to be read. */
#ifndef WATT_RATES_H
#define WATT_RATES_H

#include "base/rules.h"
#include "source/source.h"

/*
 * Says to each source that is named how often it is to be read, as a period in ns. 0; -ENOENT: a
 * source is not used here, and the log has the sentence.
 */
int watt_rates_apply(const struct watt_rules *rates, struct watt_power *const *sources, size_t n,
		     const struct watt_log *log);

#endif
