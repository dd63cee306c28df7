/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

const struct context_names context_names[] = {
	{ WATT_QUANTITY_RATIO, "wattribute_context_ratio", "ratio",
	  "Loads and duty cycles, mean of the newest window.", "wattribute.context.utilization",
	  "1" },
	{ WATT_QUANTITY_TEMPERATURE, "wattribute_context_celsius", "celsius",
	  "Temperatures, mean of the newest window.", "hw.temperature", "Cel" },
	{ WATT_QUANTITY_FREQUENCY, "wattribute_context_hertz", "hertz",
	  "Clocks, mean of the newest window.", "wattribute.context.frequency", "Hz" },
	{ WATT_QUANTITY_MEMORY, "wattribute_context_bytes", "bytes",
	  "Memory, mean of the newest window.", "wattribute.context.memory", "By" },
	{ WATT_QUANTITY_SPEED, "wattribute_context_rpm", "rpm",
	  "Turns of fans in a minute, mean of the newest window.", "hw.fan.speed", "rpm" },
	{ WATT_QUANTITY_LIMIT, "wattribute_context_limit_watts", "watts",
	  "Power that may be taken, mean of the newest window.", "hw.power.limit", "W" },
	{ 0 },
};
