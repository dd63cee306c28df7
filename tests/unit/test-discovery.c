/* SPDX-License-Identifier: Apache-2.0 */
/* What the node's total is, of documents in memory: lib/source/power/redfish/discovery.c. */
#include "unit.h"

#include "base/clock.h"
#include "base/util.h"
#include "source/power/redfish/discovery.h"

#define ROOT "/redfish/v1/"
#define LINK(path) "{'@odata.id': '" path "'}"

struct page {
	const char *path, *json;
	int error;
};

static int get(void *data, const char *path, json_t **ret)
{
	const struct page *page = data;
	char json[2048], *at;

	for (; page->path; page++)
		if (!strcmp(page->path, path))
			break;
	if (!page->path)
		return -ENOENT;
	if (page->error)
		return page->error;
	snprintf(json, sizeof(json), "%s", page->json);
	for (at = json; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	*ret = json_loads(json, 0, NULL);
	return *ret ? 0 : -EBADMSG;
}

static int discover(const struct page *pages, struct watt_redfish_plan *ret)
{
	struct watt_redfish_library library = { get, (void *)pages };
	int r = watt_redfish_look_at_root(&library, ret);

	return r < 0 ? r : watt_redfish_discover(&library, ret);
}

/* Rack, server in it, and a riser of the server: the server holds the computer, the rack all. */
static void test_chassis_in_chassis(void **state)
{
	static const struct page pages[] = {
		{ ROOT, "{'RedfishVersion': '1', 'Chassis': " LINK("/c") "}", 0 },
		{ "/c",
		  "{'Members': [" LINK("/c/riser") ", " LINK("/c/server") ", " LINK("/c/rack") "]}",
		  0 },
		{ "/c/riser",
		  "{'Id': 'riser', 'Links': {'ContainedBy': " LINK(
			  "/c/server") "},"
				       "'EnvironmentMetrics': " LINK("/c/riser/e") "}",
		  0 },
		{ "/c/server",
		  "{'Id': 'server', 'Links': {'ContainedBy': " LINK(
			  "/c/rack") ","
				     "'ComputerSystems': [" LINK(
					     "/s/1") "]}, 'EnvironmentMetrics': " LINK("/c/server/e") "}",
		  0 },
		{ "/c/rack", "{'Id': 'rack', 'EnvironmentMetrics': " LINK("/c/rack/e") "}", 0 },
		{ "/c/riser/e", "{'PowerWatts': {'Reading': 20}}", 0 },
		{ "/c/server/e", "{'PowerWatts': {'Reading': 300}}", 0 },
		{ "/c/rack/e", "{'PowerWatts': {'Reading': 900}}", 0 },
		{ NULL, NULL, 0 },
	};
	struct page only_server[WATT_ARRAY_SIZE(pages)];
	struct watt_redfish_plan plan;

	assert_int_equal(discover(pages, &plan), 0);
	assert_int_equal(plan.n_totals, 3);
	assert_string_equal(plan.totals[plan.node].chassis, "rack");
	memcpy(only_server, pages, sizeof(pages));
	only_server[7].error = -ENOENT;
	assert_int_equal(discover(only_server, &plan), 0);
	assert_int_equal(plan.n_totals, 2);
	assert_string_equal(plan.totals[plan.node].chassis, "server");
	assert_non_null(strstr(plan.why, "the computers are in it"));
}

/* One supply that tells nothing, and the others together are not the machine. */
static void test_supplies_are_added_only_all(void **state)
{
	struct page pages[] = {
		{ ROOT, "{'RedfishVersion': '1', 'Chassis': " LINK("/c") "}", 0 },
		{ "/c", "{'Members': [" LINK("/c/1") "]}", 0 },
		{ "/c/1", "{'PowerSubsystem': " LINK("/p") "}", 0 },
		{ "/p", "{'PowerSupplies': " LINK("/p/s") "}", 0 },
		{ "/p/s", "{'Members': [" LINK("/p/s/0") ", " LINK("/p/s/1") "]}", 0 },
		{ "/p/s/0", "{'Metrics': " LINK("/p/s/0/m") "}", 0 },
		{ "/p/s/1", "{'Metrics': " LINK("/p/s/1/m") "}", 0 },
		{ "/p/s/0/m", "{'InputPowerWatts': {'Reading': 120}}", 0 },
		{ "/p/s/1/m", "{'InputPowerWatts': {'Reading': 0}}", 0 },
		{ NULL, NULL, 0 },
	};
	struct watt_redfish_plan plan;

	assert_int_equal(discover(pages, &plan), 0);
	assert_int_equal(plan.totals[0].n_places, 2);
	assert_string_equal(plan.totals[0].chassis, "1");
	pages[8].json = "{'InputPowerWatts': {'Reading': null}}";
	assert_int_equal(discover(pages, &plan), -ENODEV);
	pages[6].json = "{'Status': {'State': 'Absent'}}";
	assert_int_equal(discover(pages, &plan), 0);
	assert_int_equal(plan.totals[0].n_places, 1);
}

/* Energy that is counted is taken before power, if it is counted finely. */
static void test_energy_before_power(void **state)
{
	static const struct {
		const char *json;
		enum watt_redfish_form form;
	} cases[] = {
		{ "{'PowerWatts': {'Reading': 20}, 'EnergyJoules': {'Reading': 5}}",
		  WATT_REDFISH_JOULES },
		{ "{'PowerWatts': {'Reading': 20}, 'EnergykWh': {'Reading': 12.3456}}",
		  WATT_REDFISH_KWH },
		{ "{'PowerWatts': {'Reading': 20}, 'EnergykWh': {'Reading': 12.3}}",
		  WATT_REDFISH_WATTS },
		{ "{'PowerWatts': {'Reading': 20, 'DataSourceUri': '/sensor'}}",
		  WATT_REDFISH_SENSOR },
		{ "{'PowerWatts': {'Reading': 20, 'DataSourceUri': 'http://x/sensor'}}",
		  WATT_REDFISH_WATTS },
	};
	struct page pages[] = {
		{ ROOT, "{'RedfishVersion': '1', 'Chassis': " LINK("/c") "}", 0 },
		{ "/c", "{'Members': [" LINK("/c/1") "]}", 0 },
		{ "/c/1", "{'EnvironmentMetrics': " LINK("/e") "}", 0 },
		{ "/e", NULL, 0 },
		{ "/sensor", "{'Reading': 20, 'ReadingTime': '2024-05-01T12:00:00Z'}", 0 },
		{ NULL, NULL, 0 },
	};
	struct watt_redfish_plan plan;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		pages[3].json = cases[i].json;
		assert_int_equal(discover(pages, &plan), 0);
		assert_int_equal(plan.totals[0].places[0].form, cases[i].form);
		assert_int_equal(plan.totals[0].is_energy, i < 2);
	}
}

/* Why nothing was found is kept: a licence that is missing is another thing than no sensor. */
/* The standard's place goes before a maker's own; which of them was taken is told. */
static void test_makers_own(void **state)
{
	static const struct {
		const char *power, *why;
		int error;
	} cases[] = {
		{ "{'Oem': {'ts_fujitsu': {'ChassisPowerConsumption': {'CurrentPowerConsumptionW': "
		  "212}}}}",
		  "ChassisPowerConsumption of Fujitsu's own", 0 },
		{ "{'PowerControl': [{'PowerConsumedWatts': 0}], 'Oem': {'Public': {'TotalPower': 212}}}",
		  "TotalPower of Inspur's own", 0 },
		{ "{'PowerControl': [{'PowerConsumedWatts': null}], 'PowerSupplies': [{'Oem': {'Huawei': "
		  "{'PowerInputWatts': 212}}}]}",
		  "PowerInputWatts of Huawei's own, of all supplies", 0 },
		{ "{'PowerControl': [{'PowerConsumedWatts': 210}], 'Oem': {'Public': {'TotalPower': 212}}}",
		  "its PowerControl", 0 },
		{ "{'Oem': {'Public': {'TotalPower': null}, 'ts_fujitsu': 3}}", NULL, -ENODEV },
	};
	struct page pages[] = {
		{ ROOT, "{'RedfishVersion': '1', 'Chassis': " LINK("/c") "}", 0 },
		{ "/c", "{'Members': [" LINK("/c/1") "]}", 0 },
		{ "/c/1", "{'Power': " LINK("/p") "}", 0 },
		{ "/p", NULL, 0 },
		{ NULL, NULL, 0 },
	};
	struct watt_redfish_plan plan;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		pages[3].json = cases[i].power;
		assert_int_equal(discover(pages, &plan), cases[i].error);
		if (!cases[i].error)
			assert_string_equal(plan.totals[0].why, cases[i].why);
	}
}

/* How often a sensor is measured, and a mean of as long, where it tells that. */
static void test_intervals(void **state)
{
#define MS WATT_NSEC_PER_MSEC
	static const struct {
		const char *more;
		uint64_t period_ns, window_ns;
	} cases[] = {
		{ "", 0, 0 },
		{ ", 'SensingInterval': 'PT0.5S'", 500 * MS, 0 },
		{ ", 'SensingInterval': 'PT1M30S'", 90000 * MS, 0 },
		{ ", 'SensingInterval': 'PT0S'", 0, 0 },
		{ ", 'SensingInterval': 'P3D'", 0, 0 },
		{ ", 'SensingInterval': 'often'", 0, 0 },
		{ ", 'AveragingInterval': 'PT5S', 'AverageReading': 9", 0, 0 },
		{ ", 'SensingInterval': 'PT5S', 'AveragingInterval': 'PT5S', 'AverageReading': 9",
		  5000 * MS, 5000 * MS },
		{ ", 'SensingInterval': 'PT1S', 'AveragingInterval': 'PT10M', 'AverageReading': 9",
		  1000 * MS, 0 },
		{ ", 'SensingInterval': 'PT5S', 'AveragingInterval': 'PT5S', 'AverageReading': null",
		  5000 * MS, 0 },
	};
	struct page pages[] = {
		{ ROOT, "{'RedfishVersion': '1', 'Chassis': " LINK("/c") "}", 0 },
		{ "/c", "{'Members': [" LINK("/c/1") "]}", 0 },
		{ "/c/1", "{'Sensors': " LINK("/s") "}", 0 },
		{ "/s", "{'Members': [" LINK("/s/total_power") "]}", 0 },
		{ "/s/total_power", NULL, 0 },
		{ NULL, NULL, 0 },
	};
	struct watt_redfish_plan plan;
	char sensor[256];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		snprintf(sensor, sizeof(sensor), "{'Reading': 300, 'ReadingType': 'Power'%s}",
			 cases[i].more);
		pages[4].json = sensor;
		assert_int_equal(discover(pages, &plan), 0);
		assert_int_equal(plan.totals[0].period_ns, cases[i].period_ns);
		assert_int_equal(plan.totals[0].window_ns, cases[i].window_ns);
		assert_int_equal(plan.totals[0].is_average, cases[i].window_ns > 0);
		assert_string_equal(plan.totals[0].places[0].member,
				    cases[i].window_ns ? "AverageReading" : "");
	}
}

static void test_why_there_is_nothing(void **state)
{
	struct page pages[] = {
		{ ROOT, "{'RedfishVersion': '1', 'Chassis': " LINK("/c") "}", 0 },
		{ "/c", "{'Members': [" LINK("/c/1") ", 7, {}, " LINK("not-here") "]}", 0 },
		{ "/c/1", "{'Power': " LINK("/p") "}", 0 },
		{ "/p", "{'PowerControl': [{}]}", 0 },
		{ NULL, NULL, 0 },
	};
	struct watt_redfish_plan plan;

	assert_int_equal(discover(pages, &plan), -ENODEV);
	pages[3].error = -EACCES;
	assert_int_equal(discover(pages, &plan), -EACCES);
	pages[0].json = "{'name': 'a web server'}";
	assert_int_equal(discover(pages, &plan), -EBADMSG);
	pages[0].error = -ETIMEDOUT;
	assert_int_equal(discover(pages, &plan), -ETIMEDOUT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chassis_in_chassis),
		cmocka_unit_test(test_supplies_are_added_only_all),
		cmocka_unit_test(test_energy_before_power),
		cmocka_unit_test(test_makers_own),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_why_there_is_nothing),
	};

	return cmocka_run_group_tests_name("discovery", tests, NULL, NULL);
}
