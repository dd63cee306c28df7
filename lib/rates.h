/* SPDX-License-Identifier: Apache-2.0 */
/* How often a person wants sources to be read. */
#ifndef WATT_RATES_H
#define WATT_RATES_H

#include "source/source.h"

/*
 * text as watt_session_opts.rates; NULL: nothing is asked. Says to each source that is named how
 * often it is to be read. 0; -EINVAL, and a line in the log; -ENOMEM.
 */
int watt_rates_apply(const char *text, struct watt_power *const *sources, size_t n,
		     const struct watt_log *log);

#endif
