/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One sensor of a device (device.h): which of its kind it is, and the meter that it shows. The
 * device owns it.
 */
#ifndef WATTSIM_SENSOR_H
#define WATTSIM_SENSOR_H

#include "counter.h"
#include "sim.h"

/* First in the structure of its class. */
struct sim_sensor {
	int type;                /* as the subsystem counts types */
	unsigned int index;      /* of its type, from 0 */
	char name[SIM_TEXT_MAX]; /* "power1" */
	char label[SIM_TEXT_MAX];
	u32 voltage_mv;             /* of a voltage, and of a current */
	struct sim_counter counter; /* in uJ; its error is that of the sensor */
};

struct sim_sensor_type {
	const char *prefix; /* "power", before the number */
	int type;
	unsigned int first; /* number of index 0 */
};

/* How the sensors of a class are named. */
struct sim_sensor_naming {
	const struct sim_sensor_type *types;
	size_t n_types;
	unsigned int index_max;
	const char *help; /* all names, for messages */
};

/* The keys of what adds a sensor begin with these. */
enum sim_sensor_key {
	SIM_SENSOR_NAME,
	SIM_SENSOR_METER,
	SIM_SENSOR_LABEL,
	SIM_SENSOR_VOLTAGE,
	SIM_SENSOR_KEYS
};

#define SIM_KEY_LABEL \
	{ \
		"label", SIM_TEXT, false, 0, SIM_TEXT_MAX - 1 \
	}
#define SIM_KEY_VOLTAGE \
	{ \
		"voltage_mv", SIM_NUMBER, false, 1, 1000000 \
	}

/* "power1" to its type and index. 0, or -EINVAL and sim_fail() has said why. */
int sim_sensor_parse(const struct sim_sensor_naming *naming, const char *name, int *ret_type,
		     unsigned int *ret_index);
/* The rest of it; type and index are set. Ends with sim_counter_done(&sensor->counter). */
int sim_sensor_init(struct sim_sensor *sensor, const struct sim_value *values);
/* What its meter uses now; or the errno with which it is to fail. */
int sim_sensor_power_uw(struct sim_sensor *sensor, u32 *ret);

#endif
