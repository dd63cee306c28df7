/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the sensors of known drivers belong: GPUs, power meters, sockets, cores, supplies. What
 * no driver here knows is a rail (rail_place.h). Immutable, thread-safe.
 */
#ifndef WATT_SOURCE_POWER_HWMON_HWMON_PLACE_H
#define WATT_SOURCE_POWER_HWMON_HWMON_PLACE_H

#include "source/power/hwmon/cpu_ids.h"
#include "source/power/hwmon/hwmon_chip.h"
#include "source/power/sensor/rail_place.h"

/* What a placement may look at. Borrowed. */
struct watt_hwmon_world {
	const struct watt_env *env;
	const struct watt_rail_map *rails;
	struct watt_cpu_ids cpus;
};

/* One power of a chip. */
struct watt_hwmon_power {
	const struct watt_hwmon_chip *chip;
	const struct watt_sysfs_sensor *sensor; /* of a product: the current */
	const char *label;                      /* as read; NULL: none */
	const char *part;                       /* "power1" */
	uint32_t ordinal;                       /* how many chips of this name come before it */
	uint32_t n_powers;                      /* of this chip */
	uint32_t n_chips;                       /* of this name */
	bool is_psu;                            /* the chip is a power supply unit */
};

void watt_hwmon_place(const struct watt_hwmon_world *world, const struct watt_hwmon_power *power,
		      struct watt_place *ret);
/*
 * "Module Power Socket 1": which level of a socket a Grace power meter shows, and of which.
 * 0; -EBADMSG: it is none of them.
 */
enum watt_grace_level {
	WATT_GRACE_MODULE = 0, /* CPU, GPU, memory and losses */
	WATT_GRACE_SOCKET = 1, /* all of the CPU's package */
	WATT_GRACE_CPU = 2,    /* its cores */
	WATT_GRACE_SYSIO = 3,  /* its I/O */
};
int watt_grace_parse(const char *oem_info, enum watt_grace_level *ret_level, uint32_t *ret_socket);

#endif
