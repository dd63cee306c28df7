/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names, numbers and ranges of powercap zones. Lines: name of the zone above, name, directory
 * name, range.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "source/power/powercap/powercap_scan.h"
#include "source/power/powercap/rapl_zone.h"

static void try_names(const char *parent, const char *name)
{
	struct watt_rapl_zone zone, again;

	if (watt_rapl_zone_parse(*parent ? parent : NULL, name, &zone) < 0)
		return;
	check(zone.domain[0] && zone.domain[0] != '/');
	check(zone.kind == WATT_DOMAIN_TOTAL || zone.package_id >= 0);
	again = zone;
	check(watt_rapl_zone_place(&again) == 0 && !strcmp(again.domain, zone.domain));
	check(watt_rapl_max_power_uw(zone.kind, (uint64_t)zone.package_id) > 0);
}

static void try_id(const char *text)
{
	struct watt_powercap_id id;

	if (watt_powercap_id_parse(text, &id) < 0)
		return;
	check(id.control[0] && !strchr(id.control, ':'));
	check(id.depth >= 1 && id.depth < strlen(text));
}

static void try_range(const char *text)
{
	uint64_t range_uj, modulus_nj;

	if (watt_parse_u64(text, &range_uj) < 0 || watt_rapl_modulus_nj(range_uj, &modulus_nj) < 0)
		return;
	/* one unit more than the range, and no unit is larger than the range */
	check(modulus_nj / 1000 >= range_uj && modulus_nj <= INT64_MAX);
	check(modulus_nj / 1000 - range_uj <= range_uj / 4294967 + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *rest = text;
	const char *lines[4] = { "", "", "", "" };
	size_t i;

	if (!text)
		return 0;
	for (i = 0; i < 4 && rest; i++)
		lines[i] = strsep(&rest, "\n");
	try_names(lines[0], lines[1]);
	try_id(lines[2]);
	try_range(lines[3]);
	free(text);
	return 0;
}
