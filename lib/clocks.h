/* SPDX-License-Identifier: Apache-2.0 */
/* What CLOCK_MONOTONIC does not tell, as ops: that the machine slept, or its clock was set. */
#ifndef WATT_CLOCKS_H
#define WATT_CLOCKS_H

#include <stdbool.h>

#include "base/clock_watch.h"
#include "base/log.h"
#include "record/record.h"

/* Looks, and says in the log what happened since the last look. Whether ret is an op to be applied. */
bool watt_clocks_look(struct watt_clock_watch *watch, const struct watt_log *log,
		      struct watt_op *ret);

#endif
