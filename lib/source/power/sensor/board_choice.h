/* SPDX-License-Identifier: Apache-2.0 */
/* The board that a machine is: one of the user's, or one that is built in. */
#ifndef WATT_SOURCE_POWER_SENSOR_BOARD_CHOICE_H
#define WATT_SOURCE_POWER_SENSOR_BOARD_CHOICE_H

#include <stdbool.h>

#include "source/power/sensor/board.h"

struct watt_board_choice {
	const struct watt_board *board; /* NULL: not known */
	/* what the user wrote of it, as a board that is built in; labels cleaned */
	struct watt_board own;
	struct watt_board_rail *own_rails;
	char (*own_labels)[96];
};

/* The user's board, if one is meant here, or else a built-in one. The object must not be moved. */
int watt_board_choose(const struct watt_env *env, struct watt_board_choice *ret);
/* Accepts what watt_board_choose() failed with. */
void watt_board_choice_done(struct watt_board_choice *choice);
bool watt_board_is_configured(const struct watt_board_choice *choice);

#endif
