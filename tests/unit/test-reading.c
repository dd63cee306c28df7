/* SPDX-License-Identifier: Apache-2.0 */
/* One value of a document: lib/source/power/redfish/reading.c. */
#include "unit.h"

#include "base/util.h"
#include "source/power/redfish/reading.h"

#define T0 1714564800000000000LL

static const struct {
	enum watt_redfish_form form;
	const char *member;
	const char *json;
	int error;
	double value;
	int64_t time_ns;
} cases[] = {
	{ WATT_REDFISH_JOULES, "", "{'EnergyJoules': {'Reading': 7.5}}", 0, 7.5, 0 },
	{ WATT_REDFISH_JOULES, "", "{'EnergyJoules': {'Reading': 1, 'LifetimeReading': 9}}", 0, 9,
	  0 },
	{ WATT_REDFISH_JOULES, "", "{'EnergyJoules': null}", -ENODATA, 0, 0 },
	{ WATT_REDFISH_KWH, "", "{'EnergykWh': {'Reading': '0.5'}}", 0, 1.8e6, 0 },
	{ WATT_REDFISH_WATTS, "", "{'PowerWatts': {'Reading': 300}}", 0, 300, 0 },
	{ WATT_REDFISH_WATTS, "", "{'PowerWatts': 300}", 0, 300, 0 },
	{ WATT_REDFISH_WATTS, "", "{'PowerWatts': {'Reading': 0}}", -ENODATA, 0, 0 },
	{ WATT_REDFISH_WATTS, "", "{'PowerWatts': {'Reading': -3}}", -EBADMSG, 0, 0 },
	{ WATT_REDFISH_WATTS, "", "{'PowerWatts': {'Reading': 1e9}}", -EBADMSG, 0, 0 },
	{ WATT_REDFISH_SENSOR, "",
	  "{'Reading': 9, 'ReadingTime': '2024-05-01T12:00:00Z', 'ReadingType': 'Power'}", 0, 9,
	  T0 },
	{ WATT_REDFISH_SENSOR, "", "{'Reading': 9, 'ReadingTime': 'soon'}", 0, 9, 0 },
	{ WATT_REDFISH_SENSOR, "", "{'Reading': 2, 'ReadingUnits': 'kW.h'}", 0, 7.2e6, 0 },
	{ WATT_REDFISH_SENSOR, "", "{'Reading': 'many'}", -EBADMSG, 0, 0 },
	{ WATT_REDFISH_CONTROL, "1",
	  "{'PowerControl': [{'MemberId': 0, 'PowerConsumedWatts': 1},"
	  "{'MemberId': 1, 'PowerConsumedWatts': '22'}]}",
	  0, 22, 0 },
	{ WATT_REDFISH_CONTROL, "#1",
	  "{'PowerControl': [{'PowerConsumedWatts': 1}, {'PowerConsumedWatts': 2}]}", 0, 2, 0 },
	{ WATT_REDFISH_CONTROL, "2", "{'PowerControl': [{'MemberId': 0}]}", -ENOENT, 0, 0 },
	{ WATT_REDFISH_METER, "",
	  "{'PowerDetail': [{'Average': 5, 'Time': '2024-05-01T11:59:50Z'},"
	  "{'Average': 6, 'Time': '2024-05-01T12:00:00Z'}, {'Average': 7}]}",
	  0, 6, T0 },
	{ WATT_REDFISH_METER, "", "{'PowerDetail': []}", -ENODATA, 0, 0 },
	{ WATT_REDFISH_REPORT, "P",
	  "{'Timestamp': '2024-05-01T12:00:00Z', 'MetricValues': [{'MetricId': 'Q',"
	  "'MetricValue': '4'}, {'MetricId': 'P', 'MetricValue': '8'}]}",
	  0, 8, T0 },
	{ WATT_REDFISH_REPORT, "P", "{'MetricValues': [{'MetricId': 'P', 'MetricValue': null}]}",
	  -ENODATA, 0, 0 },
	{ WATT_REDFISH_REPORT, "P", "{'MetricValues': {}}", -ENOENT, 0, 0 },
	{ WATT_REDFISH_SENSOR, "AverageReading", "{'Reading': 9, 'AverageReading': 8}", 0, 8, 0 },
	{ WATT_REDFISH_SENSOR, "AverageReading", "{'Reading': 9}", -ENODATA, 0, 0 },
	{ WATT_REDFISH_OWN, "ts_fujitsu",
	  "{'Oem': {'ts_fujitsu': {'ChassisPowerConsumption': {'CurrentPowerConsumptionW': 7}}}}",
	  0, 7, 0 },
	{ WATT_REDFISH_OWN, "ts_fujitsu", "{'Oem': {'ts_fujitsu': {}}}", -ENOENT, 0, 0 },
	{ WATT_REDFISH_OWN, "Huawei",
	  "{'PowerSupplies': [{'Oem': {'Huawei': {'PowerInputWatts': 204}}}, {'Status': {'State': "
	  "'Absent'}}, {'Oem': {'Huawei': {'PowerInputWatts': 0}}}]}",
	  0, 204, 0 },
	{ WATT_REDFISH_OWN, "Huawei",
	  "{'PowerSupplies': [{'Oem': {'Huawei': {'PowerInputWatts': 204}}}, {'Oem': {'Huawei': "
	  "{'PowerInputWatts': null}}}]}",
	  -ENODATA, 0, 0 },
	{ WATT_REDFISH_OWN, "Huawei",
	  "{'PowerSupplies': [{'Oem': {'Huawei': {'PowerInputWatts': 0}}}]}", -ENODATA, 0, 0 },
	{ WATT_REDFISH_OWN, "Huawei", "{'PowerSupplies': [{'PowerInputWatts': 9}]}", -ENOENT, 0,
	  0 },
	{ WATT_REDFISH_OWN, "Huawei", "{'PowerSupplies': [{'Status': {'State': 'Absent'}}]}",
	  -ENOENT, 0, 0 },
	{ WATT_REDFISH_OWN, "Huawei", "{'PowerSupplies': {'Oem': 1}}", -ENOENT, 0, 0 },
	{ WATT_REDFISH_OWN, "Public", "{'Oem': {'Public': {'TotalPower': '7'}}}", 0, 7, 0 },
	{ WATT_REDFISH_OWN, "Public", "{'Oem': {'Public': {'TotalPower': 0}}}", -ENODATA, 0, 0 },
	{ WATT_REDFISH_OWN, "Public", "{'Oem': null}", -ENOENT, 0, 0 },
	{ WATT_REDFISH_SUPPLY, "", "{'InputPowerWatts': {'Reading': 0}}", 0, 0, 0 },
	{ WATT_REDFISH_SUPPLY, "", "{'InputPowerWatts': {}}", -ENODATA, 0, 0 },
};

/* JSON with the quotes that C has no use for. */
static json_t *parse(const char *text)
{
	char *json = strdup(text), *at;
	json_t *doc;

	for (at = json; *at; at++)
		*at = *at == '\'' ? '"' : *at;
	doc = json_loads(json, 0, NULL);
	assert_non_null(doc);
	free(json);
	return doc;
}

static void test_forms(void **state)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_redfish_place place = { .form = cases[i].form };
		struct watt_bmc_reading reading = { -1, -1 };
		json_t *doc = parse(cases[i].json);

		strcpy(place.member, cases[i].member);
		assert_int_equal(watt_redfish_read(&place, doc, &reading), cases[i].error);
		assert_true(reading.value == (cases[i].error ? -1 : cases[i].value));
		assert_true(reading.time_ns == (cases[i].error ? -1 : cases[i].time_ns));
		json_decref(doc);
	}
}

/* Reports are numbered; a number that is none, or is left out, is 0. */
static void test_report_sequence(void **state)
{
	static const struct {
		const char *member;
		uint64_t sequence;
	} reports[] = { { "'ReportSequence': '127', ", 127 }, { "'ReportSequence': 127, ", 0 },
			{ "'ReportSequence': 'x', ", 0 },     { "'ReportSequence': '12x', ", 0 },
			{ "'ReportSequence': '-1', ", 0 },    { "", 0 } };
	const struct watt_redfish_place place = { .form = WATT_REDFISH_REPORT, .member = "P" };
	char text[128];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(reports); i++) {
		struct watt_bmc_reading reading;
		json_t *doc;

		snprintf(text, sizeof(text),
			 "{%s'MetricValues': [{'MetricId': 'P', 'MetricValue': '5'}]}",
			 reports[i].member);
		doc = parse(text);
		assert_int_equal(watt_redfish_read(&place, doc, &reading), 0);
		assert_int_equal(reading.sequence, reports[i].sequence);
		json_decref(doc);
	}
}

static void test_which_control_is_the_chassis(void **state)
{
	static const struct {
		const char *json, *member;
	} lists[] = {
		{ "[{'MemberId': '3', 'PowerConsumedWatts': 5}]", "3" },
		{ "[{'MemberId': 3, 'PowerConsumedWatts': 5}]", "3" },
		{ "[{'PowerConsumedWatts': 5}]", "#0" },
		{ "[{'MemberId': '0', 'PhysicalContext': 'CPU', 'PowerConsumedWatts': 5},"
		  "{'MemberId': '1', 'PhysicalContext': 'Chassis', 'PowerConsumedWatts': 9}]",
		  "1" },
		{ "[{'MemberId': '0', 'PowerConsumedWatts': null},"
		  "{'MemberId': '1', 'PowerConsumedWatts': 9}]",
		  "1" },
		{ "[{'MemberId': '0', 'PowerConsumedWatts': 0}]", NULL },
		{ "[]", NULL },
		{ "7", NULL },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(lists); i++) {
		char text[256], member[16] = "";
		json_t *doc;

		snprintf(text, sizeof(text), "{'PowerControl': %s}", lists[i].json);
		doc = parse(text);
		assert_int_equal(watt_redfish_choose_control(doc, member, sizeof(member)),
				 lists[i].member ? 0 : -ENODATA);
		assert_string_equal(member, lists[i].member ? lists[i].member : "");
		json_decref(doc);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_report_sequence),
		cmocka_unit_test(test_which_control_is_the_chassis),
	};

	return cmocka_run_group_tests_name("reading", tests, NULL, NULL);
}
