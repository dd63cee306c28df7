/* SPDX-License-Identifier: Apache-2.0 */
/* What the library says of sensors while they fail or are gone, and after it. */
#ifndef WATT_TESTS_SENSOR_LIVE_H
#define WATT_TESTS_SENSOR_LIVE_H

#include <stdbool.h>

#include "sensor_script.h"

/* With the sensors of this script, which is not played. Prints what it finds. */
bool sensor_live_judge(const struct sensor_script *script);

#endif
