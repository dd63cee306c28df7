/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a document of a BMC, read in each form. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "source/power/redfish/document.h"
#include "source/power/redfish/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_redfish_place place = { .member = "0" };
	char member[96] = "", text[64] = "";
	uint64_t duration_ns;
	json_t *doc;

	if (watt_redfish_parse((const char *)data, size, &doc) < 0)
		return 0;
	check(watt_redfish_find_error(doc, text, sizeof(text)) <= 0);
	check(strlen(text) < sizeof(text));
	if (watt_redfish_choose_control(doc, member, sizeof(member)) == 0) {
		check(member[0] && strlen(member) < sizeof(member));
		memcpy(place.member, member, sizeof(member));
	}
	for (place.form = WATT_REDFISH_JOULES; place.form <= WATT_REDFISH_OWN; place.form++) {
		struct watt_bmc_reading reading = { 0 };

		if (watt_redfish_read(&place, doc, &reading) < 0)
			continue;
		check(isfinite(reading.value) && reading.value >= 0);
		check(reading.value > 0 || place.form == WATT_REDFISH_SUPPLY);
		check(reading.time_ns >= 0);
	}
	if (watt_redfish_duration(json_object_get(doc, "SensingInterval"), &duration_ns) == 0)
		check(duration_ns <= 366ULL * 86400 * 1000000000);
	json_decref(doc);
	return 0;
}
