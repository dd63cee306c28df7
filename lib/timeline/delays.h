/* SPDX-License-Identifier: Apache-2.0 */
/* Delays that somebody assumes instead of those that the sources know of. */
#ifndef WATT_TIMELINE_DELAYS_H
#define WATT_TIMELINE_DELAYS_H

#include <stddef.h>

#include "base/log.h"
#include "base/rules.h"
#include "timeline/curve.h"

/* As watt_timeline_set_delays(), on curves[0..n). */
int watt_delays_apply(const struct watt_rules *delays, struct watt_curve *curves, size_t n,
		      const struct watt_log *log);

#endif
