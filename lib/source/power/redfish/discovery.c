/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of each chassis one reading, the best that it has: counted energy, then means with a time, then
 * power. Of all chassis one: that which holds computers and is held by no other. Readings of one
 * machine overlap, so they are never added; supplies are, for each feeds a part of it.
 */
#include "source/power/redfish/discovery.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/power/redfish/document.h"

#define ROOT "/redfish/v1/"
#define MAX_MEMBERS 64
#define MAX_SENSORS 128
#define MAX_REPORTS 32
/* What a sensor says of itself and can be. */
#define LEAST_SENSING_NS (10 * WATT_NSEC_PER_MSEC)
#define MOST_SENSING_NS (600 * WATT_NSEC_PER_SEC)

struct search {
	const struct watt_redfish_library *library;
	struct watt_redfish_plan *plan;
	json_t *root;
	int error; /* the first that is no "there is none" */
};

/* NULL: there is none; an answer of another kind is kept, for when nothing is found. */
static json_t *get(struct search *s, const char *path)
{
	json_t *doc;
	int r;

	if (!path)
		return NULL;
	r = s->library->get(s->library->data, path, &doc);
	if (r == 0)
		return doc;
	if (r != -ENOENT && s->error == 0)
		s->error = r;
	return NULL;
}

static json_t *follow(struct search *s, const json_t *object, const char *key)
{
	return get(s, watt_redfish_link(object, key));
}

static const char *member_path(const json_t *collection, size_t i)
{
	const char *path = watt_redfish_text(
		json_array_get(json_object_get(collection, "Members"), i), "@odata.id");

	return path && path[0] == '/' ? path : NULL;
}

static size_t count_members(const json_t *collection, size_t max)
{
	return WATT_MIN(json_array_size(json_object_get(collection, "Members")), max);
}

static bool has_word(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

/* ---- the root ---- */

static const char *find_sessions(const json_t *root)
{
	const char *path = watt_redfish_link(json_object_get(root, "Links"), "Sessions");
	const char *service = watt_redfish_link(root, "SessionService");

	if (path)
		return path;
	return service ? "/redfish/v1/SessionService/Sessions" : NULL;
}

static void name_product(const json_t *root, struct watt_redfish_plan *plan)
{
	const char *vendor = watt_redfish_text(root, "Vendor");
	const char *product = watt_redfish_text(root, "Product");
	const json_t *oem = json_object_get(root, "Oem");
	const char *key = json_object_iter_key(json_object_iter((json_t *)oem));

	if (!vendor)
		vendor = key;
	snprintf(plan->product, sizeof(plan->product), "%.40s%s%.50s", vendor ? vendor : "a BMC",
		 product ? " " : "", product ? product : "");
}

int watt_redfish_look_at_root(const struct watt_redfish_library *library,
			      struct watt_redfish_plan *ret)
{
	const char *sessions;
	json_t *root;
	int r;

	*ret = (struct watt_redfish_plan){ 0 };
	r = library->get(library->data, ROOT, &root);
	if (r < 0)
		return r;
	if (!watt_redfish_text(root, "RedfishVersion") && !watt_redfish_link(root, "Chassis"))
		r = -EBADMSG;
	sessions = find_sessions(root);
	if (sessions)
		watt_strlcpy(ret->sessions, sessions, sizeof(ret->sessions));
	name_product(root, ret);
	json_decref(root);
	return r;
}

/* ---- one chassis ---- */

static void take_place(struct watt_redfish_total *total, enum watt_redfish_form form,
		       const char *path, const char *why)
{
	struct watt_redfish_place *place = &total->places[total->n_places];

	if (strlen(path) >= sizeof(place->path) || total->n_places == WATT_REDFISH_MAX_SUPPLIES)
		return;
	place->form = form;
	watt_strlcpy(place->path, path, sizeof(place->path));
	watt_strlcpy(total->why, why, sizeof(total->why));
	total->n_places++;
}

static bool has_value(enum watt_redfish_form form, const char *member, const json_t *doc)
{
	struct watt_redfish_place place = { .form = form };
	struct watt_bmc_reading reading;

	watt_strlcpy(place.member, member, sizeof(place.member));
	return watt_redfish_read(&place, doc, &reading) == 0;
}

/* A count of whole or tenths of kWh stands still for minutes: it tells nothing of now. */
static bool is_fine_kwh(const json_t *doc)
{
	struct watt_redfish_place place = { .form = WATT_REDFISH_KWH };
	struct watt_bmc_reading reading;
	double hundredths;

	if (watt_redfish_read(&place, doc, &reading) < 0)
		return false;
	hundredths = reading.value / 36000;
	return fabs(hundredths - round(hundredths)) > 1e-6;
}

static bool look_for_energy(const json_t *environment, const char *path,
			    struct watt_redfish_total *total)
{
	if (has_value(WATT_REDFISH_JOULES, "", environment))
		take_place(total, WATT_REDFISH_JOULES, path, "EnergyJoules counts its energy");
	else if (is_fine_kwh(environment))
		take_place(total, WATT_REDFISH_KWH, path, "EnergykWh counts its energy finely");
	total->is_energy = total->n_places > 0;
	return total->is_energy;
}

/*
 * How often a sensor is measured, where it says so. And where it has the mean of as long as lies
 * between two of its measurements, that misses nothing: it is read instead.
 */
static void take_interval(const json_t *sensor, struct watt_redfish_total *total)
{
	const json_t *mean = json_object_get(sensor, "AverageReading");
	uint64_t sensing_ns, mean_ns;
	double watts;

	if (watt_redfish_duration(json_object_get(sensor, "SensingInterval"), &sensing_ns) < 0 ||
	    sensing_ns < LEAST_SENSING_NS || sensing_ns > MOST_SENSING_NS)
		return;
	total->period_ns = sensing_ns;
	if (watt_redfish_duration(json_object_get(sensor, "AveragingInterval"), &mean_ns) < 0 ||
	    mean_ns < sensing_ns / 2 || mean_ns > sensing_ns + sensing_ns / 2 ||
	    watt_redfish_is_energy(&total->places[0], sensor) ||
	    watt_redfish_number(mean, &watts) < 0 || !(watts > 0))
		return;
	watt_strlcpy(total->places[0].member, "AverageReading", sizeof(total->places[0].member));
	total->is_average = true;
	total->window_ns = mean_ns;
}

/* The sensor behind PowerWatts, if it says when it looked. */
static bool look_for_source(struct search *s, const json_t *environment,
			    struct watt_redfish_total *total)
{
	const char *path =
		watt_redfish_text(json_object_get(environment, "PowerWatts"), "DataSourceUri");
	json_t *sensor = path && path[0] == '/' ? get(s, path) : NULL;
	int64_t time_ns;

	if (sensor && has_value(WATT_REDFISH_SENSOR, "", sensor) &&
	    watt_redfish_time(json_object_get(sensor, "ReadingTime"), &time_ns) == 0)
		take_place(total, WATT_REDFISH_SENSOR, path,
			   "the sensor behind PowerWatts says when it looked");
	if (total->n_places > 0)
		take_interval(sensor, total);
	json_decref(sensor);
	return total->n_places > 0;
}

static bool look_at_environment(struct search *s, const json_t *chassis,
				struct watt_redfish_total *total)
{
	const char *path = watt_redfish_link(chassis, "EnvironmentMetrics");
	json_t *environment = get(s, path);

	if (!environment)
		return false;
	if (!look_for_energy(environment, path, total) &&
	    has_value(WATT_REDFISH_WATTS, "", environment) &&
	    !look_for_source(s, environment, total))
		take_place(total, WATT_REDFISH_WATTS, path, "PowerWatts of its environment");
	json_decref(environment);
	return total->n_places > 0;
}

/* Means of 10 s, each with its time: they miss nothing between two questions. */
static bool look_for_meter(struct search *s, const json_t *power, struct watt_redfish_total *total)
{
	static const char *const makers[] = { "Hpe", "Hp" };
	const json_t *oem = json_object_get(power, "Oem");
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(makers) && total->n_places == 0; i++) {
		const json_t *own = json_object_get(oem, makers[i]);
		const char *path =
			watt_redfish_link(json_object_get(own, "Links"), "FastPowerMeter");
		json_t *meter;

		if (!path)
			path = watt_redfish_link(own, "FastPowerMeter");
		meter = path ? get(s, path) : NULL;
		if (meter && has_value(WATT_REDFISH_METER, "", meter)) {
			take_place(total, WATT_REDFISH_METER, path,
				   "FastPowerMeter has the mean of each 10 s with its time");
			total->is_average = true;
			total->period_ns = total->window_ns = 10 * WATT_NSEC_PER_SEC;
		}
		json_decref(meter);
	}
	return total->n_places > 0;
}

/* What only a maker's own documents tell of. */
static void look_for_own(const json_t *power, const char *path, struct watt_redfish_total *total)
{
	static const struct {
		const char *member, *why;
	} makers[] = {
		{ WATT_REDFISH_FUJITSU, "ChassisPowerConsumption of Fujitsu's own" },
		{ WATT_REDFISH_INSPUR, "TotalPower of Inspur's own" },
		{ WATT_REDFISH_HUAWEI, "PowerInputWatts of Huawei's own, of all supplies" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(makers) && total->n_places == 0; i++) {
		if (!has_value(WATT_REDFISH_OWN, makers[i].member, power))
			continue;
		take_place(total, WATT_REDFISH_OWN, path, makers[i].why);
		watt_strlcpy(total->places[0].member, makers[i].member,
			     sizeof(total->places[0].member));
	}
}

static bool look_at_power(struct search *s, const json_t *chassis, struct watt_redfish_total *total)
{
	const char *path = watt_redfish_link(chassis, "Power");
	json_t *power = get(s, path);
	char member[sizeof(total->places[0].member)];

	if (!power)
		return false;
	if (!look_for_meter(s, power, total) &&
	    watt_redfish_choose_control(power, member, sizeof(member)) == 0) {
		take_place(total, WATT_REDFISH_CONTROL, path,
			   json_array_size(json_object_get(power, "PowerControl")) > 1 ?
				   "the PowerControl of the chassis; others are parts of it" :
				   "its PowerControl");
		if (total->n_places)
			watt_strlcpy(total->places[0].member, member, sizeof(member));
	}
	if (total->n_places == 0)
		look_for_own(power, path, total);
	json_decref(power);
	return total->n_places > 0;
}

/* false: one of them tells nothing; without it, the others are not the machine. */
static bool add_supply(struct search *s, const char *path, struct watt_redfish_total *total)
{
	json_t *supply = get(s, path), *metrics;
	const char *where;
	bool ok;

	if (!supply)
		return false;
	if (watt_redfish_is_absent(supply)) {
		json_decref(supply);
		return true;
	}
	where = watt_redfish_link(supply, "Metrics");
	metrics = get(s, where);
	ok = metrics && has_value(WATT_REDFISH_SUPPLY, "", metrics);
	if (ok)
		take_place(total, WATT_REDFISH_SUPPLY, where,
			   "what all its power supplies take, together");
	json_decref(metrics);
	json_decref(supply);
	return ok;
}

static bool look_at_supplies(struct search *s, const json_t *chassis,
			     struct watt_redfish_total *total)
{
	json_t *subsystem = follow(s, chassis, "PowerSubsystem");
	json_t *list = subsystem ? follow(s, subsystem, "PowerSupplies") : NULL;
	size_t n = json_array_size(json_object_get(list, "Members")), i;
	bool ok = n <= WATT_REDFISH_MAX_SUPPLIES;

	for (i = 0; i < n && ok; i++)
		ok = add_supply(s, member_path(list, i), total);
	if (!ok)
		total->n_places = 0;
	json_decref(list);
	json_decref(subsystem);
	return total->n_places > 0;
}

/* How makers call the sensor of the whole machine. */
static int rank_sensor(const char *path)
{
	static const char *const names[] = { "total_energy",   "total_power",  "totalpower",
					     "totalhsc_power", "system_power", "systeminputpower",
					     "syspwr",         "sys_power",    "psu_total",
					     "pwr_consumption" };
	const char *name = strrchr(path, '/');
	int i;

	for (i = 0; i < (int)WATT_ARRAY_SIZE(names); i++)
		if (has_word(name, names[i]))
			return i;
	return -1;
}

static bool look_at_sensors(struct search *s, const json_t *chassis,
			    struct watt_redfish_total *total)
{
	json_t *list = follow(s, chassis, "Sensors"), *sensor;
	const char *best = NULL;
	int best_rank = -1;
	size_t i;

	for (i = 0; i < count_members(list, MAX_SENSORS); i++) {
		const char *path = member_path(list, i);
		int rank = path ? rank_sensor(path) : -1;

		if (rank < 0 || (best && rank >= best_rank))
			continue;
		best = path;
		best_rank = rank;
	}
	sensor = get(s, best);
	if (sensor && has_value(WATT_REDFISH_SENSOR, "", sensor)) {
		take_place(total, WATT_REDFISH_SENSOR, best, "a sensor with the name of a total");
		if (total->n_places) {
			total->is_energy = watt_redfish_is_energy(&total->places[0], sensor);
			take_interval(sensor, total);
		}
	}
	json_decref(sensor);
	json_decref(list);
	return total->n_places > 0;
}

static void name_chassis(const json_t *chassis, const char *path, char *buf, size_t size)
{
	const char *id = watt_redfish_text(chassis, "Id");
	const char *slash = strrchr(path, '/');

	if (!id || !id[0])
		id = slash ? slash + 1 : path;
	snprintf(buf, size, "%s", id);
}

static void look_at_chassis(struct search *s, const char *path)
{
	struct watt_redfish_total *total = &s->plan->totals[s->plan->n_totals];
	json_t *chassis = get(s, path);
	const json_t *links = json_object_get(chassis, "Links");

	if (!chassis)
		return;
	*total = (struct watt_redfish_total){ 0 };
	name_chassis(chassis, path, total->chassis, sizeof(total->chassis));
	total->is_contained = watt_redfish_link(links, "ContainedBy");
	total->is_of_systems = json_array_size(json_object_get(links, "ComputerSystems")) > 0;
	if (look_at_environment(s, chassis, total) || look_at_power(s, chassis, total) ||
	    look_at_supplies(s, chassis, total) || look_at_sensors(s, chassis, total))
		s->plan->n_totals++;
	json_decref(chassis);
}

/* ---- reports ---- */

static bool look_at_report(struct search *s, const char *path)
{
	static const char *const metrics[] = { "SystemInputPower", "SystemPowerConsumption" };
	struct watt_redfish_total *total = &s->plan->totals[0];
	json_t *report = get(s, path);
	size_t i;

	*total = (struct watt_redfish_total){ .is_of_systems = true };
	for (i = 0; report && i < WATT_ARRAY_SIZE(metrics) && total->n_places == 0; i++) {
		if (!has_value(WATT_REDFISH_REPORT, metrics[i], report))
			continue;
		take_place(total, WATT_REDFISH_REPORT, path, metrics[i]);
		watt_strlcpy(total->places[0].member, metrics[i], sizeof(total->places[0].member));
		watt_strlcpy(total->chassis, "report", sizeof(total->chassis));
	}
	json_decref(report);
	s->plan->n_totals = total->n_places > 0;
	return total->n_places > 0;
}

/* Where no chassis tells, a report may. */
static void look_at_reports(struct search *s)
{
	json_t *service = follow(s, s->root, "TelemetryService");
	json_t *list = service ? follow(s, service, "MetricReports") : NULL;
	size_t i;

	for (i = 0; i < count_members(list, MAX_REPORTS); i++) {
		const char *path = member_path(list, i);

		if (has_word(path, "power") && look_at_report(s, path))
			break;
	}
	json_decref(list);
	json_decref(service);
}

/* ---- the node ---- */

static int rank_total(const struct watt_redfish_total *total)
{
	return (total->is_contained ? 0 : 2) + (total->is_of_systems ? 1 : 0);
}

static void choose_node(struct watt_redfish_plan *plan)
{
	size_t i, n_equal = 0;

	for (i = 1; i < plan->n_totals; i++)
		if (rank_total(&plan->totals[i]) > rank_total(&plan->totals[plan->node]))
			plan->node = i;
	for (i = 0; i < plan->n_totals; i++)
		n_equal += rank_total(&plan->totals[i]) == rank_total(&plan->totals[plan->node]);
	if (plan->n_totals == 1)
		snprintf(plan->why, sizeof(plan->why), "%s of %zu chassis has a power",
			 plan->totals[0].places[0].form == WATT_REDFISH_REPORT ? "none" :
										 "no other",
			 plan->n_chassis);
	else if (n_equal > 1)
		snprintf(plan->why, sizeof(plan->why),
			 "it is the first of %zu that could be; the others are shown, not added",
			 n_equal);
	else
		snprintf(plan->why, sizeof(plan->why), "%s; %zu others are shown, not added",
			 plan->totals[plan->node].is_contained ? "the computers are in it" :
								 "no other chassis contains it",
			 plan->n_totals - 1);
}

/* How often makers are known to have something new, where no document says it. */
static void guess_periods(struct watt_redfish_plan *plan)
{
	static const struct {
		const char *maker;
		uint64_t period_ns;
	} makers[] = { { "HP", 10 * WATT_NSEC_PER_SEC },
		       { "Lenovo", 30 * WATT_NSEC_PER_SEC },
		       { "Dell", 5 * WATT_NSEC_PER_SEC } };
	size_t i, m;

	for (i = 0; i < plan->n_totals; i++)
		for (m = 0; m < WATT_ARRAY_SIZE(makers); m++)
			if (!plan->totals[i].period_ns && has_word(plan->product, makers[m].maker))
				plan->totals[i].period_ns = makers[m].period_ns;
}

int watt_redfish_discover(const struct watt_redfish_library *library,
			  struct watt_redfish_plan *plan)
{
	struct search s = { .library = library, .plan = plan };
	json_t *list;
	size_t i;
	int r;

	r = library->get(library->data, ROOT, &s.root);
	if (r < 0)
		return r;
	list = follow(&s, s.root, "Chassis");
	plan->n_chassis = count_members(list, MAX_MEMBERS);
	for (i = 0; i < plan->n_chassis && plan->n_totals < WATT_REDFISH_MAX_TOTALS; i++)
		look_at_chassis(&s, member_path(list, i));
	json_decref(list);
	if (plan->n_totals == 0)
		look_at_reports(&s);
	json_decref(s.root);
	if (plan->n_totals == 0)
		return s.error < 0 ? s.error : -ENODEV;
	choose_node(plan);
	guess_periods(plan);
	return 0;
}
