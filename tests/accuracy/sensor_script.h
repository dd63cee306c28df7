/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What simulated sensors go through while the product measures them. All powers are 0 when a script
 * begins and when it ends, so that a counter's total is known exactly, whenever measuring began
 * and ended. Talks to the simulator; knows nothing of the product.
 */
#ifndef WATT_TESTS_SENSOR_SCRIPT_H
#define WATT_TESTS_SENSOR_SCRIPT_H

#include <stdbool.h>

#define SENSOR_SCRIPT_LOG "/tmp/guest_sensors.log"

struct sensor_script {
	const char *name;
	const char *sources; /* of the product, that its sensors are for */
	unsigned int n_meters;
	const char *up;      /* makes the sensors */
	bool begins_above_0; /* a counter that never moved would be taken for a dead one */
	void (*play)(void);
	const char *down; /* and removes them */
};

/* Ends the program if there is none of this name. */
const struct sensor_script *sensor_script_find(const char *name);
/* Meters begin with 0 W, and with nothing used unless they are to begin above 0. */
void sensor_script_set_up(const struct sensor_script *script);
void sensor_script_tear_down(const struct sensor_script *script);
/* In a process of its own. Each power goes to the log, which is written anew. */
void sensor_script_play(const struct sensor_script *script);

#endif
