/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a supply rail belongs in the domain tree. The same physical rail gets the same path
 * whichever subsystem shows it; two different rails never do. Immutable, thread-safe.
 */
#ifndef WATT_SOURCE_POWER_SENSOR_RAIL_PLACE_H
#define WATT_SOURCE_POWER_SENSOR_RAIL_PLACE_H

#include <stdbool.h>

#include "source/power/sensor/place.h"
#include "source/source.h"

/* One rail of one device. */
struct watt_rail {
	const char *device; /* stable name: "1-0040" */
	const char *label;  /* as the sensor gives it; NULL: none */
	const char *part;   /* which of the device's rails, the same in every subsystem: "ch0" */
	bool is_alone;      /* the device has no other rail */
};

struct watt_rail_map;

/* Looks at the board, the user's rules and the labels of all sensors. env must outlive it. */
int watt_rail_map_new(const struct watt_env *env, struct watt_rail_map **ret);
/* Accepts NULL; returns NULL. */
struct watt_rail_map *watt_rail_map_free(struct watt_rail_map *map);

/* By the user's rule or the board's table. false: neither knows this rail. */
bool watt_rail_map_find(const struct watt_rail_map *map, const struct watt_rail *rail,
			struct watt_place *ret);
/* As above; a rail that is not known gets a place of its own, with unknown overlap. */
void watt_rail_map_place(const struct watt_rail_map *map, const struct watt_rail *rail,
			 struct watt_place *ret);
/* The cleaned label of the rail whose sensor is a chip without labels; NULL: not known. */
const char *watt_rail_map_label_of_chip(const struct watt_rail_map *map, const char *chip);
/* The board, as long as the map; NULL: not known. */
const struct watt_board *watt_rail_map_board(const struct watt_rail_map *map);
/* Whether that board is the user's, not one that is built in. */
bool watt_rail_map_is_configured(const struct watt_rail_map *map);

/* A place of its own: "1-0040:vdd_x". */
void watt_rail_own_path(const struct watt_rail *rail, char *buf, size_t size);
/* What a rail feeds, by the words in its cleaned label. */
enum watt_domain_kind watt_rail_kind_of_label(const char *clean);

#endif
