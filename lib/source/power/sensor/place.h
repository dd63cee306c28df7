/* SPDX-License-Identifier: Apache-2.0 */
/* A place in the domain tree: where the power of a sensor belongs, and what it feeds. */
#ifndef WATT_SOURCE_POWER_SENSOR_PLACE_H
#define WATT_SOURCE_POWER_SENSOR_PLACE_H

#include <stdint.h>

#include <wattribute/channel.h>

#define WATT_PLACE_PATH_SIZE 192

struct watt_place {
	char path[WATT_PLACE_PATH_SIZE];
	enum watt_domain_kind kind;
	uint32_t flags; /* enum watt_channel_flag */
	int32_t package_id;
	int32_t die_id;
	int32_t core_id;
};

#define WATT_PLACE_INIT \
	{ \
		.kind = WATT_DOMAIN_RAIL, .package_id = -1, .die_id = -1, .core_id = -1 \
	}

#endif
