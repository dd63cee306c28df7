// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sensors of all devices have in common: names, and what the keys say.
 */
#include "sensor.h"

#include <linux/export.h>
#include <linux/string.h>

#define VOLTAGE_MV 12000
#define NJ_PER_UJ 1000

int sim_sensor_parse(const struct sim_sensor_naming *naming, const char *name, int *ret_type,
		     unsigned int *ret_index)
{
	unsigned int number;
	size_t i, len;

	for (i = 0; i < naming->n_types; i++) {
		const struct sim_sensor_type *type = &naming->types[i];

		len = strlen(type->prefix);
		if (strncmp(name, type->prefix, len) || kstrtouint(name + len, 10, &number))
			continue;
		if (number < type->first || number - type->first > naming->index_max)
			break;
		*ret_type = type->type;
		*ret_index = number - type->first;
		return 0;
	}
	return sim_fail(-EINVAL, "'%s' is not %s", name, naming->help);
}

int sim_sensor_init(struct sim_sensor *sensor, const struct sim_value *values)
{
	struct sim_meter *meter;
	int r = sim_meter_get(values[SIM_SENSOR_METER].text, &meter);

	if (r)
		return r;
	sim_counter_init(&sensor->counter, meter, NJ_PER_UJ, 1, 63, 0);
	strscpy(sensor->name, values[SIM_SENSOR_NAME].text, sizeof(sensor->name));
	strscpy(sensor->label, values[SIM_SENSOR_LABEL].text, sizeof(sensor->label));
	sensor->voltage_mv = (u32)sim_number_or(&values[SIM_SENSOR_VOLTAGE], VOLTAGE_MV);
	return 0;
}

int sim_sensor_power_uw(struct sim_sensor *sensor, u32 *ret)
{
	u64 unused;
	int r = sim_counter_read(&sensor->counter, &unused);

	if (!r)
		*ret = sim_meter_power_uw(sensor->counter.meter);
	return r;
}
EXPORT_SYMBOL_GPL(sim_sensor_power_uw);
