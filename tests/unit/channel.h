/* SPDX-License-Identifier: Apache-2.0 */
/* Channels of a machine that never was: counters in nJ, unless more is said. */
#ifndef WATT_TESTS_CHANNEL_H
#define WATT_TESTS_CHANNEL_H

#include <wattribute/channel.h>

/* An initialiser. What is said last is the package, and whatever else differs, as .field = value. */
#define CHANNEL(name_, domain_, kind_, ...) \
	{ \
		.name = (name_), .source = "t", .domain = (domain_), .kind = (kind_), \
		.scale_num = 1, .scale_den = 1, .die_id = -1, .core_id = -1, __VA_ARGS__ \
	}

#endif
