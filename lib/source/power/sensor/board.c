/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which supply rails of known boards contain which others, from their schematics and device
 * trees: a rail inside another is a path inside its path, and roots may be summed. Reads the
 * devicetree's compatible strings; it must not look for sensors.
 */
#include "source/power/sensor/board.h"

#include <string.h>

#include "base/cleanup.h"

#define TOTAL WATT_DOMAIN_TOTAL
#define CPU WATT_DOMAIN_CPU_RAIL
#define GPU WATT_DOMAIN_GPU
#define DRAM WATT_DOMAIN_DRAM
#define RAIL WATT_DOMAIN_RAIL
#define OVERLAP WATT_CHANNEL_OVERLAP_UNKNOWN

static const struct watt_board_rail agx_orin[] = {
	{ "vdd_gpu_soc", "0040", "vdd_gpu_soc", GPU },
	{ "vdd_cpu_cv", "0040", "vdd_cpu_cv", CPU },
	{ "vin_sys_5v0", "0040", "vin_sys_5v0", RAIL },
	{ "vddq_vdd2_1v8ao", "0041", "vin_sys_5v0/vddq_vdd2_1v8ao", DRAM },
	{ NULL },
};

/* Orin NX, Orin Nano and Xavier NX */
static const struct watt_board_rail nx[] = {
	{ "vdd_in", "0040", "vdd_in", TOTAL },
	{ "vdd_cpu_gpu_cv", "0040", "vdd_in/vdd_cpu_gpu_cv", CPU },
	{ "vdd_soc", "0040", "vdd_in/vdd_soc", RAIL },
	{ NULL },
};

static const struct watt_board_rail tx2_nx[] = {
	{ "vdd_in", "0040", "vdd_in", TOTAL },
	{ "vdd_cpu_gpu", "0040", "vdd_in/vdd_cpu_gpu", CPU },
	{ "vdd_soc", "0040", "vdd_in/vdd_soc", RAIL },
	{ NULL },
};

static const struct watt_board_rail agx_xavier[] = {
	{ "gpu", "0040", "gpu", GPU },
	{ "cpu", "0040", "cpu", CPU },
	{ "soc", "0040", "soc", RAIL },
	{ "cv", "0041", "cv", RAIL },
	{ "vddrq", "0041", "vddrq", DRAM },
	{ "sys5v", "0041", "sys5v", RAIL },
	{ NULL },
};

static const struct watt_board_rail nano[] = {
	{ "pom_5v_in", "0040", "pom_5v_in", TOTAL },
	{ "pom_5v_gpu", "0040", "pom_5v_in/pom_5v_gpu", GPU },
	{ "pom_5v_cpu", "0040", "pom_5v_in/pom_5v_cpu", CPU },
	{ NULL },
};

/*
 * vdd_in feeds the module and vdd_mux the carrier: neither is the whole machine, their sum is.
 * How the carrier's rails feed each other is not known.
 */
static const struct watt_board_rail tx1[] = {
	{ "vdd_in", "0040", "vdd_in", RAIL },
	{ "vdd_gpu", "0040", "vdd_in/vdd_gpu", GPU },
	{ "vdd_cpu", "0040", "vdd_in/vdd_cpu", CPU },
	{ "vdd_mux", "0042", "vdd_mux", RAIL },
	{ "vdd_5v_io_sys", "0042", "vdd_mux/vdd_5v_io_sys", RAIL, OVERLAP },
	{ "vdd_3v3_sys", "0042", "vdd_mux/vdd_3v3_sys", RAIL, OVERLAP },
	{ "vdd_3v3_io", "0043", "vdd_mux/vdd_3v3_io", RAIL, OVERLAP },
	{ "vdd_1v8_io", "0043", "vdd_mux/vdd_1v8_io", RAIL, OVERLAP },
	{ "vdd_m2_in", "0043", "vdd_mux/vdd_m2_in", RAIL, OVERLAP },
	{ NULL },
};

static const struct watt_board_rail tx2[] = {
	{ "vdd_in", "0041", "vdd_in", RAIL },
	{ "vdd_sys_gpu", "0040", "vdd_in/vdd_sys_gpu", GPU },
	{ "vdd_sys_soc", "0040", "vdd_in/vdd_sys_soc", RAIL },
	{ "vdd_4v0_wifi", "0040", "vdd_in/vdd_4v0_wifi", RAIL },
	{ "vdd_sys_cpu", "0041", "vdd_in/vdd_sys_cpu", CPU },
	{ "vdd_sys_ddr", "0041", "vdd_in/vdd_sys_ddr", DRAM },
	{ "vdd_mux", "0042", "vdd_mux", RAIL },
	{ "vdd_5v0_io_sys", "0042", "vdd_mux/vdd_5v0_io_sys", RAIL, OVERLAP },
	{ "vdd_3v3_sys", "0042", "vdd_mux/vdd_3v3_sys", RAIL, OVERLAP },
	{ "vdd_3v3_io_slp", "0043", "vdd_mux/vdd_3v3_io_slp", RAIL, OVERLAP },
	{ "vdd_1v8_io", "0043", "vdd_mux/vdd_1v8_io", RAIL, OVERLAP },
	{ "vdd_3v3_sys_m2", "0043", "vdd_mux/vdd_3v3_sys_m2", RAIL, OVERLAP },
	{ NULL },
};

static const struct watt_board_rail thor[] = {
	{ "vin", NULL, "vin", TOTAL },
	{ "vdd_gpu", NULL, "vin/vdd_gpu", GPU },
	{ "vdd_cpu_soc_mss", NULL, "vin/vdd_cpu_soc_mss", CPU },
	{ NULL },
};

#define MODULES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* A module is named in the strings of every carrier that it is sold with. */
static const struct watt_board boards[] = {
	{ "Jetson AGX Orin", MODULES("p3701"), agx_orin },
	{ "Jetson Orin NX or Nano", MODULES("p3767"), nx },
	{ "Jetson Xavier NX", MODULES("p3668"), nx },
	{ "Jetson AGX Xavier", MODULES("p2888", "p2972"), agx_xavier },
	{ "Jetson TX2 NX", MODULES("p3636"), tx2_nx },
	{ "Jetson TX2", MODULES("p3310", "p3489", "p2771"), tx2 },
	{ "Jetson Nano", MODULES("p3448", "p3450", "jetson-nano"), nano },
	{ "Jetson TX1", MODULES("p2180", "p2371-2180", "jetson-tx1"), tx1 },
	{ "Jetson Thor", MODULES("p3834"), thor },
	{ NULL },
};

static bool board_has(const struct watt_board *board, const char *compatible)
{
	const char *const *module;

	for (module = board->modules; *module; module++)
		if (strstr(compatible, *module))
			return true;
	return false;
}

const struct watt_board *watt_board_find(const char *compatible, size_t len)
{
	const struct watt_board *board;
	const char *p;

	for (p = compatible; p < compatible + len; p += strlen(p) + 1)
		for (board = boards; board->name; board++)
			if (board_has(board, p))
				return board;
	return NULL;
}

int watt_board_read_compatible(const struct watt_env *env, char **ret, size_t *ret_len)
{
	int r = watt_root_slurp(&env->sysfs, "firmware/devicetree/base/compatible", 65536, ret,
				ret_len);

	if (r < 0)
		r = watt_root_slurp(&env->procfs, "device-tree/compatible", 65536, ret, ret_len);
	return r;
}

const struct watt_board_rail *watt_board_find_rail(const struct watt_board *board,
						   const char *label, const char *address)
{
	const struct watt_board_rail *rail;

	for (rail = board->rails; rail->label; rail++)
		if (!strcmp(rail->label, label) &&
		    (!rail->address || (address && !strcmp(rail->address, address))))
			return rail;
	return NULL;
}

const struct watt_board_rail *watt_board_find_label(const struct watt_board *board,
						    const char *label)
{
	const struct watt_board_rail *rail;

	for (rail = board->rails; rail->label; rail++)
		if (!strcmp(rail->label, label))
			return rail;
	return NULL;
}

const struct watt_board *watt_board_find_by_labels(const char *const *labels, size_t n)
{
	const struct watt_board *board;
	size_t i;

	for (board = boards; n && board->name; board++) {
		for (i = 0; i < n && watt_board_find_label(board, labels[i]); i++)
			continue;
		if (i == n)
			return board;
	}
	return NULL;
}
