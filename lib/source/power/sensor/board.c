/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the board that a machine is, by the devicetree's compatible strings, and its rails. What is
 * known of boards is in the files boards/ beside this one. It must not look for sensors.
 */
#include "source/power/sensor/board.h"

#include <string.h>

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
		for (board = watt_boards; board->name; board++)
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

	for (board = watt_boards; n && board->name; board++) {
		for (i = 0; i < n && watt_board_find_label(board, labels[i]); i++)
			continue;
		if (i == n)
			return board;
	}
	return NULL;
}
