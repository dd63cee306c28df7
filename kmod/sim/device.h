/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devices of simulated sensors, as chips of hwmon and monitors of IIO are: described first and
 * then shown. A module has one class of them, which knows its subsystem; what scripts can say of a
 * device, and its list, are here. All calls are made with the simulator's mutex held, but
 * sim_device_find_sensor(), which any reader of a device that is shown may call.
 */
#ifndef WATTSIM_DEVICE_H
#define WATTSIM_DEVICE_H

#include "sensor.h"

struct platform_device;

#define SIM_DEVICES_MAX 32
#define SIM_DEVICE_SENSORS_MAX 32

/* First in the structure of its class. */
struct sim_device {
	struct list_head node;
	char name[SIM_TEXT_MAX];
	struct platform_device *platform;
	struct device *shown; /* the subsystem's; NULL: hidden */
	unsigned int n_sensors;
	struct sim_sensor *sensors[SIM_DEVICE_SENSORS_MAX]; /* changed while it is hidden only */
};

struct sim_device_class {
	const char *noun;     /* "chip" */
	const char *part;     /* "sensor", of a chip */
	const char *platform; /* name of the platform devices */
	const char *value;    /* "raw": what state calls what a sensor shows */
	struct sim_sensor_naming naming;
	unsigned int sensors_max; /* of a device */
	size_t device_size, sensor_size;
	/* sets shown; says why it can't, by sim_fail() */
	int (*show)(struct sim_device *device);
	void (*hide)(struct sim_device *device);
	int (*read)(struct sim_sensor *sensor, long *ret);
	/* not the module's: */
	struct list_head devices;
	unsigned int n_devices;
	int next_id; /* of the platform devices */
};

/* Verbs, for the device `target`. */
int sim_device_add(struct sim_device_class *class, const char *target);
int sim_device_show(struct sim_device_class *class, const char *target);
int sim_device_hide(struct sim_device_class *class, const char *target);
int sim_device_remove(struct sim_device_class *class, const char *target);
/* values as enum sim_sensor_key has them; what else the class keeps of a sensor is 0. */
int sim_device_add_sensor(struct sim_device_class *class, const char *target,
			  const struct sim_value *values, struct sim_sensor **ret);
/* values: the sensor's name, and the errno */
int sim_device_fail_sensor(struct sim_device_class *class, const char *target,
			   const struct sim_value *values);
int sim_device_get_sensor(struct sim_device_class *class, const char *target, const char *name,
			  struct sim_sensor **ret);

/* NULL: it has none. */
struct sim_sensor *sim_device_find_sensor(const struct sim_device *device, int type,
					  unsigned int index);
/* A line for each device and each of its sensors, for `state`. */
void sim_devices_list(const struct sim_device_class *class, struct seq_file *file);
/* All of them, when no verb can run any more. */
void sim_devices_free(struct sim_device_class *class);

#endif
