/* SPDX-License-Identifier: Apache-2.0 */
/* A package that tells at once, and a memory that tells three slices later. */
#ifndef WATT_TESTS_FAST_AND_SLOW_H
#define WATT_TESTS_FAST_AND_SLOW_H

#include "channel.h"

static const struct watt_channel fast_and_slow[2] = {
	CHANNEL("fast", "package-0", WATT_DOMAIN_PACKAGE, .package_id = -1),
	CHANNEL("slow", "dram-0", WATT_DOMAIN_DRAM, .package_id = -1, .delay_ns = 300000000),
};

#endif
