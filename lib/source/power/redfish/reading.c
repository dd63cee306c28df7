/* SPDX-License-Identifier: Apache-2.0 */
/* One value out of each form of document that has some. */
#include "source/power/redfish/reading.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "base/util.h"
#include "source/power/redfish/document.h"

#define J_PER_KWH 3.6e6

/* A value, or an object with one: both are seen. */
static const json_t *reading_of(const json_t *value)
{
	return json_is_object(value) ? json_object_get(value, "Reading") : value;
}

static bool is_unit(const json_t *sensor, const char *type, const char *unit)
{
	const char *t = watt_redfish_text(sensor, "ReadingType");
	const char *u = watt_redfish_text(sensor, "ReadingUnits");

	return (t && !strcasecmp(t, type)) || (!t && u && !strcasecmp(u, unit));
}

bool watt_redfish_is_energy(const struct watt_redfish_place *place, const json_t *doc)
{
	switch (place->form) {
	case WATT_REDFISH_JOULES:
	case WATT_REDFISH_KWH:
		return true;
	case WATT_REDFISH_SENSOR:
		return is_unit(doc, "EnergyJoules", "J") || is_unit(doc, "EnergykWh", "kW.h");
	default:
		return false;
	}
}

/* No number and no error: it has no time. A time that makes no sense is none. */
static void read_time(const json_t *object, const char *key, struct watt_bmc_reading *ret)
{
	int64_t time_ns;

	if (watt_redfish_time(json_object_get(object, key), &time_ns) == 0)
		ret->time_ns = time_ns;
}

static const json_t *find_member(const json_t *list, const char *key, const char *wanted)
{
	const json_t *item, *value;
	char text[32];
	size_t i;

	json_array_foreach(list, i, item)
	{
		value = json_object_get(item, key);
		if (json_is_integer(value)) {
			snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
			if (!strcmp(text, wanted))
				return item;
		} else if (json_is_string(value) && !strcmp(json_string_value(value), wanted)) {
			return item;
		}
	}
	return NULL;
}

/* Members that have no name are named by their place. */
static const json_t *find_control(const json_t *power, const char *member)
{
	const json_t *list = json_object_get(power, "PowerControl");

	if (member[0] == '#')
		return json_array_get(list, (size_t)(member[1] - '0'));
	return find_member(list, "MemberId", member);
}

/* Lists in which the newest is at the end, at the beginning, or anywhere: by its time. */
static int read_meter(const json_t *doc, struct watt_bmc_reading *ret)
{
	const json_t *list = json_object_get(doc, "PowerDetail"), *item;
	struct watt_bmc_reading newest = { 0 };
	size_t i;

	json_array_foreach(list, i, item)
	{
		struct watt_bmc_reading reading = { 0 };

		if (watt_redfish_number(json_object_get(item, "Average"), &reading.value) < 0)
			continue;
		read_time(item, "Time", &reading);
		if (reading.time_ns > newest.time_ns)
			newest = reading;
	}
	if (!newest.time_ns)
		return -ENODATA;
	*ret = newest;
	return 0;
}

/* A number, as a text; 0: there is none. */
static uint64_t read_sequence(const json_t *report)
{
	const char *text = watt_redfish_text(report, "ReportSequence");
	uint64_t sequence;

	return text && watt_parse_u64(text, &sequence) == 0 ? sequence : 0;
}

static int read_report(const json_t *doc, const char *metric, struct watt_bmc_reading *ret)
{
	const json_t *list = json_object_get(doc, "MetricValues"), *item;
	bool is_there = false;
	size_t i;
	int r;

	json_array_foreach(list, i, item)
	{
		struct watt_bmc_reading reading = { 0 };
		const char *id = watt_redfish_text(item, "MetricId");

		if (!id || strcmp(id, metric))
			continue;
		is_there = true;
		r = watt_redfish_number(json_object_get(item, "MetricValue"), &reading.value);
		if (r < 0)
			continue;
		read_time(item, "Timestamp", &reading);
		if (!reading.time_ns)
			read_time(doc, "Timestamp", &reading);
		reading.sequence = read_sequence(doc);
		if (!ret->time_ns || reading.time_ns >= ret->time_ns)
			*ret = reading;
	}
	return ret->value != 0 ? 0 : is_there ? -ENODATA : -ENOENT;
}

static int read_sensor(const json_t *doc, const char *key, struct watt_bmc_reading *ret)
{
	int r = watt_redfish_number(json_object_get(doc, *key ? key : "Reading"), &ret->value);

	if (r < 0)
		return r;
	read_time(doc, "ReadingTime", ret);
	if (is_unit(doc, "EnergykWh", "kW.h"))
		ret->value *= J_PER_KWH;
	return 0;
}

bool watt_redfish_is_absent(const json_t *supply)
{
	const char *state = watt_redfish_text(json_object_get(supply, "Status"), "State");

	return state && !strcasecmp(state, "Absent");
}

/*
 * What all supplies take, together, as Huawei's iBMC tells it of each. One that others stand in for
 * takes nothing; where one tells nothing, the others are not the machine.
 */
static int read_huawei(const json_t *power, struct watt_bmc_reading *ret)
{
	const json_t *supplies = json_object_get(power, "PowerSupplies"), *supply;
	int n = 0, r;
	size_t i;

	json_array_foreach(supplies, i, supply)
	{
		const json_t *own =
			json_object_get(json_object_get(supply, "Oem"), WATT_REDFISH_HUAWEI);
		double watts;

		if (watt_redfish_is_absent(supply))
			continue;
		r = watt_redfish_number(json_object_get(own, "PowerInputWatts"), &watts);
		if (r < 0)
			return own ? r : -ENOENT;
		ret->value += watts;
		n++;
	}
	return n ? 0 : -ENOENT;
}

/* Some tell the machine's power beside the standard's places. */
static int read_own(const json_t *power, const char *maker, struct watt_bmc_reading *ret)
{
	const json_t *own = json_object_get(json_object_get(power, "Oem"), maker);
	const char *key = "TotalPower";

	if (!strcmp(maker, WATT_REDFISH_HUAWEI))
		return read_huawei(power, ret);
	if (!strcmp(maker, WATT_REDFISH_FUJITSU)) {
		own = json_object_get(own, "ChassisPowerConsumption");
		key = "CurrentPowerConsumptionW";
	}
	return own ? watt_redfish_number(json_object_get(own, key), &ret->value) : -ENOENT;
}

/* LifetimeReading is not taken back to 0 by people. */
static int read_energy(const json_t *doc, const char *key, double scale,
		       struct watt_bmc_reading *ret)
{
	const json_t *energy = json_object_get(doc, key);
	int r = watt_redfish_number(json_object_get(energy, "LifetimeReading"), &ret->value);

	if (r < 0 || ret->value <= 0)
		r = watt_redfish_number(reading_of(energy), &ret->value);
	if (r < 0)
		return r;
	ret->value *= scale;
	return 0;
}

static int read_form(const struct watt_redfish_place *place, const json_t *doc,
		     struct watt_bmc_reading *ret)
{
	const json_t *control;

	switch (place->form) {
	case WATT_REDFISH_JOULES:
		return read_energy(doc, "EnergyJoules", 1, ret);
	case WATT_REDFISH_KWH:
		return read_energy(doc, "EnergykWh", J_PER_KWH, ret);
	case WATT_REDFISH_WATTS:
		return watt_redfish_number(reading_of(json_object_get(doc, "PowerWatts")),
					   &ret->value);
	case WATT_REDFISH_SENSOR:
		return read_sensor(doc, place->member, ret);
	case WATT_REDFISH_CONTROL:
		control = find_control(doc, place->member);
		return control ? watt_redfish_number(json_object_get(control, "PowerConsumedWatts"),
						     &ret->value) :
				 -ENOENT;
	case WATT_REDFISH_METER:
		return read_meter(doc, ret);
	case WATT_REDFISH_REPORT:
		return read_report(doc, place->member, ret);
	case WATT_REDFISH_OWN:
		return read_own(doc, place->member, ret);
	case WATT_REDFISH_SUPPLY:
		return watt_redfish_number(reading_of(json_object_get(doc, "InputPowerWatts")),
					   &ret->value);
	}
	return -EBADMSG;
}

int watt_redfish_read(const struct watt_redfish_place *place, const json_t *doc,
		      struct watt_bmc_reading *ret)
{
	struct watt_bmc_reading reading = { 0 };
	int r = read_form(place, doc, &reading);

	if (r < 0)
		return r;
	if (reading.value < 0)
		return -EBADMSG;
	/* a supply that others stand in for takes nothing; a machine that asks does */
	if (reading.value == 0 && place->form != WATT_REDFISH_SUPPLY)
		return -ENODATA;
	if (reading.value > 1e6 && !watt_redfish_is_energy(place, doc))
		return -EBADMSG;
	*ret = reading;
	return 0;
}

static bool has_power(const json_t *control)
{
	double watts;

	return watt_redfish_number(json_object_get(control, "PowerConsumedWatts"), &watts) == 0 &&
	       watts > 0;
}

int watt_redfish_choose_control(const json_t *power, char *ret_member, size_t size)
{
	const json_t *list = json_object_get(power, "PowerControl"), *item, *id;
	size_t i, chosen = 0;
	bool any = false;

	json_array_foreach(list, i, item)
	{
		const char *context = watt_redfish_text(item, "PhysicalContext");
		bool is_whole = context && (!strcasecmp(context, "Chassis") ||
					    !strcasecmp(context, "SystemBoard"));

		if (i > 9 || !has_power(item) || (any && !is_whole))
			continue;
		chosen = i;
		any = true;
		if (is_whole)
			break;
	}
	if (!any)
		return -ENODATA;
	id = json_object_get(json_array_get(list, chosen), "MemberId");
	if (json_is_integer(id))
		snprintf(ret_member, size, "%lld", (long long)json_integer_value(id));
	else if (json_is_string(id) && json_string_length(id) < size && json_string_length(id) &&
		 json_string_value(id)[0] != '#')
		watt_strlcpy(ret_member, json_string_value(id), size);
	else
		snprintf(ret_member, size, "#%zu", chosen);
	return 0;
}
