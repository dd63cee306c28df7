/* SPDX-License-Identifier: Apache-2.0 */
/* The rails of Jetsons that hwmon shows, as their fixtures have them. */
#ifndef WATT_TESTS_JETSON_RAILS_H
#define WATT_TESTS_JETSON_RAILS_H

#include "sensors.h"

static const struct expected agx_orin[] = {
	{ "hwmon/1-0040/vdd_gpu_soc", "vdd_gpu_soc", WATT_DOMAIN_GPU, 19848 * 152, SIGNED, -1 },
	{ "hwmon/1-0040/vdd_cpu_cv", "vdd_cpu_cv", WATT_DOMAIN_CPU_RAIL, 19848 * 96, SIGNED, -1 },
	{ "hwmon/1-0040/vin_sys_5v0", "vin_sys_5v0", WATT_DOMAIN_RAIL, 4968 * 912, SIGNED, -1 },
	{ "hwmon/1-0041/vddq_vdd2_1v8ao", "vin_sys_5v0/vddq_vdd2_1v8ao", WATT_DOMAIN_DRAM,
	  4968 * 144, SIGNED, -1 },
};

static const struct expected orin_nano[] = {
	{ "hwmon/1-0040/vdd_in", "vdd_in", WATT_DOMAIN_TOTAL, 5032 * 1144, SIGNED, -1 },
	{ "hwmon/1-0040/vdd_cpu_gpu_cv", "vdd_in/vdd_cpu_gpu_cv", WATT_DOMAIN_CPU_RAIL, 5024 * 320,
	  SIGNED, -1 },
	{ "hwmon/1-0040/vdd_soc", "vdd_in/vdd_soc", WATT_DOMAIN_RAIL, 5024 * 304, SIGNED, -1 },
};

static const struct expected thor[] = {
	{ "hwmon/2-0040/vdd_gpu", "vin/vdd_gpu", WATT_DOMAIN_GPU, 19848 * 120, SIGNED, -1 },
	{ "hwmon/2-0040/vdd_cpu_soc_mss", "vin/vdd_cpu_soc_mss", WATT_DOMAIN_CPU_RAIL, 19848 * 328,
	  SIGNED, -1 },
	{ "hwmon/2-0040/vin_sys_5v0", "vin/vin_sys_5v0", WATT_DOMAIN_RAIL, 4968 * 1312, SIGNED,
	  -1 },
	{ "hwmon/2-0044/vin", "vin", WATT_DOMAIN_TOTAL, 24620000, 0, -1 },
};

static const struct expected orin_nx[] = {
	{ "hwmon/1-0040/vdd_in", "vdd_in", WATT_DOMAIN_TOTAL, 4944 * 976, SIGNED, -1 },
	{ "hwmon/1-0040/vdd_cpu_gpu_cv", "vdd_in/vdd_cpu_gpu_cv", WATT_DOMAIN_CPU_RAIL, 4944 * 168,
	  SIGNED, -1 },
	{ "hwmon/1-0040/vdd_soc", "vdd_in/vdd_soc", WATT_DOMAIN_RAIL, 4944 * 264, SIGNED, -1 },
};

static const struct expected xavier_nx[] = {
	{ "hwmon/7-0040/vdd_in", "vdd_in", WATT_DOMAIN_TOTAL, 5032 * 752, SIGNED, -1 },
	{ "hwmon/7-0040/vdd_cpu_gpu_cv", "vdd_in/vdd_cpu_gpu_cv", WATT_DOMAIN_CPU_RAIL, 5032 * 112,
	  SIGNED, -1 },
	{ "hwmon/7-0040/vdd_soc", "vdd_in/vdd_soc", WATT_DOMAIN_RAIL, 5032 * 240, SIGNED, -1 },
};

static const struct expected agx_xavier[] = {
	{ "hwmon/1-0040/gpu", "gpu", WATT_DOMAIN_GPU, 19176 * 32, SIGNED, -1 },
	{ "hwmon/1-0040/cpu", "cpu", WATT_DOMAIN_CPU_RAIL, 19176 * 72, SIGNED, -1 },
	{ "hwmon/1-0040/soc", "soc", WATT_DOMAIN_RAIL, 19176 * 112, SIGNED, -1 },
	{ "hwmon/1-0041/cv", "cv", WATT_DOMAIN_RAIL, 0, SIGNED, -1 },
	{ "hwmon/1-0041/vddrq", "vddrq", WATT_DOMAIN_DRAM, 19176 * 40, SIGNED, -1 },
	{ "hwmon/1-0041/sys5v", "sys5v", WATT_DOMAIN_RAIL, 19176 * 168, SIGNED, -1 },
};

#endif
