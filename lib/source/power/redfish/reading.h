/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a document a value is, and what it says. Pure. */
#ifndef WATT_SOURCE_REDFISH_READING_H
#define WATT_SOURCE_REDFISH_READING_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "source/power/newness.h"

/* In what form a BMC tells power or energy. */
enum watt_redfish_form {
	WATT_REDFISH_JOULES = 0,  /* EnvironmentMetrics: EnergyJoules */
	WATT_REDFISH_KWH = 1,     /* EnvironmentMetrics: EnergykWh */
	WATT_REDFISH_WATTS = 2,   /* EnvironmentMetrics: PowerWatts */
	WATT_REDFISH_SENSOR = 3,  /* Sensor of W, J or kW.h: Reading */
	WATT_REDFISH_CONTROL = 4, /* Power: PowerControl, one of its members */
	WATT_REDFISH_METER = 5,   /* the newest mean of a meter of HPE's */
	WATT_REDFISH_REPORT = 6,  /* MetricReport: the value of a metric */
	WATT_REDFISH_SUPPLY = 7,  /* metrics of a power supply: InputPowerWatts */
	WATT_REDFISH_OWN = 8,     /* Power: what a maker has beside PowerControl */
};

/* Members of a place of WATT_REDFISH_OWN. */
#define WATT_REDFISH_FUJITSU "ts_fujitsu"
#define WATT_REDFISH_INSPUR "Public"
#define WATT_REDFISH_HUAWEI "Huawei"

/* One value of a document. */
struct watt_redfish_place {
	enum watt_redfish_form form;
	char path[256];  /* of the document */
	char member[96]; /* of PowerControl, by its MemberId; of a report, the MetricId;
			  * of a Sensor, instead of Reading; of a maker's, whose */
};

/* Whether it counts energy. Of a sensor, that document tells. */
bool watt_redfish_is_energy(const struct watt_redfish_place *place, const json_t *doc);
/*
 * 0; -ENODATA: null, nothing, or a power of 0, which is what is written where nothing is known;
 * -EBADMSG: something that can't be; -ENOENT: the member is not there any more.
 */
int watt_redfish_read(const struct watt_redfish_place *place, const json_t *doc,
		      struct watt_bmc_reading *ret);
/* Whether the bay of a power supply is empty. */
bool watt_redfish_is_absent(const json_t *supply);
/*
 * The member of PowerControl that is the chassis: the one that says so, else the first that has a
 * power. They overlap: they are never added. -ENODATA: none has one.
 */
int watt_redfish_choose_control(const json_t *power, char *ret_member, size_t size);

#endif
