/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power supply units, by the names of their drivers and the labels that the kernel gives to all
 * PMBus chips. It reads the input's voltage alone, and that only to know what the chip is.
 */
#include "source/power/hwmon/psu.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"

/* No board is fed by this, and no mains is below: 100 V in Japan, less 20 %. */
#define MAINS_MV 80000

/* As their chips are called: units with an input and outputs that can be pulled out. */
static const char *const drivers[] = {
	"acbel_fsg032", "aps_379", "bpa_rs600", "bpd_rs600", "cffps",    "cffps1",  "cffps2",
	"d1u74t",       "dps460",  "dps650ab",  "dps800",    "dps920ab", "hac300s", "intel_crps185",
	"ipsps1",       "pfe1100", "pfe3000",   "ym2151e",   "yh5151e",
};

static bool is_psu_driver(const char *name)
{
	char clean[64];
	char *p;
	size_t i;

	watt_strlcpy(clean, name, sizeof(clean));
	for (p = clean; *p; p++)
		if (*p == '-') /* older kernels leave it, newer ones don't */
			*p = '_';
	for (i = 0; i < WATT_ARRAY_SIZE(drivers); i++)
		if (!strcmp(clean, drivers[i]))
			return true;
	return false;
}

static bool is_fed_by_mains(const struct watt_env *env, const struct watt_hwmon_chip *chip,
			    const struct watt_sysfs_sensor *input)
{
	/* what it is made for also holds while it is unplugged */
	static const char *const suffixes[] = { "_input", "_rated_max" };
	uint64_t value_mv;
	char text[32];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(suffixes); i++)
		if (watt_hwmon_chip_attribute(env, chip, input, suffixes[i], text, sizeof(text)) >
			    0 &&
		    watt_parse_u64(text, &value_mv) == 0 && value_mv >= MAINS_MV)
			return true;
	return false;
}

bool watt_psu_is(const struct watt_env *env, const struct watt_hwmon_chip *chip)
{
	const struct watt_sysfs_sensor *voltages;
	size_t n, i;

	if (is_psu_driver(chip->name))
		return true;
	voltages = watt_sysfs_sensors_get(&chip->sensors, WATT_SYSFS_VOLTAGE, &n);
	for (i = 0; i < n; i++)
		if (!strcmp(voltages[i].clean, "vin") && is_fed_by_mains(env, chip, &voltages[i]))
			return true;
	return false;
}

/* "pout1" and "vout1" are the first output; 0: it is none. */
static uint64_t output_of(const char *label)
{
	uint64_t number = 0;

	if ((strncmp(label, "pout", 4) && strncmp(label, "vout", 4)) ||
	    watt_parse_u64(label + 4, &number) < 0)
		return 0;
	return number;
}

bool watt_psu_place(const struct watt_hwmon_chip *chip, const char *label, struct watt_place *ret)
{
	uint64_t output = output_of(label);
	char device[96];

	watt_clean_name(chip->device, device, sizeof(device));
	if (!strcmp(label, "pin")) {
		ret->kind = WATT_DOMAIN_SUPPLY;
		snprintf(ret->path, sizeof(ret->path), "supply-%s", device);
		return true;
	}
	if (!output || output > 99)
		return false;
	/* never added, also where its input can't be read and it stands alone */
	ret->kind = WATT_DOMAIN_RAIL;
	ret->flags |= WATT_CHANNEL_OVERLAP_UNKNOWN;
	snprintf(ret->path, sizeof(ret->path), "supply-%s/out%u", device, (unsigned int)output);
	return true;
}

bool watt_psu_is_apparent(const char *label)
{
	return !strcmp(label, "vin");
}
