/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the source of counts as it is not by itself; for tests, and for those who measure. */
#ifndef WATT_SOURCE_ACTIVITY_PRECISE_H
#define WATT_SOURCE_ACTIVITY_PRECISE_H

#include "source/activity/precise/precise_object.h"

int watt_precise_open_as(const struct watt_env *env, const struct watt_cpu_map *map,
			 const struct watt_precise_opts *opts, struct watt_activity_source **ret);

#endif
