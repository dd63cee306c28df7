/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what a BMC tells of whole machines, by the links of its documents, and decides which of it
 * is the node's total. It must not know how documents are fetched.
 */
#ifndef WATT_SOURCE_REDFISH_DISCOVERY_H
#define WATT_SOURCE_REDFISH_DISCOVERY_H

#include <stddef.h>

#include "source/power/redfish/reading.h"

#define WATT_REDFISH_MAX_TOTALS 8
#define WATT_REDFISH_MAX_SUPPLIES 8

/* Who fetches documents: as watt_redfish_get(). */
struct watt_redfish_library {
	int (*get)(void *data, const char *path, json_t **ret);
	void *data;
};

/* The power of one chassis: of one place, or of all its supplies together. */
struct watt_redfish_total {
	char chassis[64];
	struct watt_redfish_place places[WATT_REDFISH_MAX_SUPPLIES];
	size_t n_places;
	bool is_energy;
	bool is_contained;  /* in another chassis of the list */
	bool is_of_systems; /* computers are in it */
	bool is_average;
	uint64_t period_ns; /* as its maker is known for; 0: unknown */
	uint64_t window_ns;
	char why[96]; /* why this reading of all that there are */
};

struct watt_redfish_plan {
	char product[96];   /* whose it is, for people */
	char sessions[256]; /* where sessions begin; "": nowhere */
	struct watt_redfish_total totals[WATT_REDFISH_MAX_TOTALS];
	size_t n_totals;
	size_t node; /* index of the node's own */
	size_t n_chassis;
	char why[160]; /* why that is the node's */
};

/*
 * The root alone: product and sessions. It may be asked without a password. 0, -EBADMSG: that is
 * no root of Redfish, or what get() returns.
 */
int watt_redfish_look_at_root(const struct watt_redfish_library *library,
			      struct watt_redfish_plan *ret);
/* All the rest. -ENODEV: nothing there tells the power of a machine; or what get() returns. */
int watt_redfish_discover(const struct watt_redfish_library *library,
			  struct watt_redfish_plan *plan);

#endif
