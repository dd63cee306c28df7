/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the board that this machine is, in what the user wrote and then in what is built in. The
 * user's is made to look like the others, so that nobody else has to know of two kinds.
 */
#include "source/power/sensor/board_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "source/config/config.h"
#include "source/power/sensor/rail_place.h"

static bool is_board(const struct watt_config_board *board, const char *compatible, size_t len)
{
	const char *p;
	size_t i;

	for (p = compatible; p < compatible + len; p += strlen(p) + 1)
		for (i = 0; i < board->n_compatible; i++)
			if (strstr(p, board->compatible[i]))
				return true;
	return false;
}

static void take_rail(struct watt_board_choice *choice, size_t i,
		      const struct watt_config_rail *from)
{
	struct watt_board_rail *rail = &choice->own_rails[i];

	watt_clean_name(from->label, choice->own_labels[i], sizeof(choice->own_labels[i]));
	rail->label = choice->own_labels[i];
	rail->address = from->address;
	rail->path = from->domain;
	rail->kind = from->kind >= 0 ? (enum watt_domain_kind)from->kind :
				       watt_rail_kind_of_label(rail->label);
	rail->flags = from->is_alone ? WATT_CHANNEL_OVERLAP_UNKNOWN : 0;
	rail->chip = from->chip;
}

static int take_board(struct watt_board_choice *choice, const struct watt_config_board *board)
{
	size_t i;

	choice->own_rails = calloc(board->n_rails + 1, sizeof(*choice->own_rails));
	choice->own_labels = calloc(board->n_rails, sizeof(*choice->own_labels));
	if (!choice->own_rails || !choice->own_labels)
		return -ENOMEM;
	for (i = 0; i < board->n_rails; i++)
		take_rail(choice, i, &board->rails[i]);
	choice->own = (struct watt_board){
		.name = board->name,
		.rails = choice->own_rails,
		.gpu_loads = (const char *const *)board->gpu_loads,
		.zones = (const char *const *)board->zones,
		.emc = { .activity = board->emc[WATT_CONFIG_EMC_ACTIVITY],
			 .period = board->emc[WATT_CONFIG_EMC_PERIOD],
			 .rate = board->emc[WATT_CONFIG_EMC_RATE] },
	};
	choice->board = &choice->own;
	return 0;
}

int watt_board_choose(const struct watt_env *env, struct watt_board_choice *ret)
{
	const struct watt_config *config = env->config;
	_cleanup_free_ char *text = NULL;
	size_t i, len = 0;

	*ret = (struct watt_board_choice){ 0 };
	if (watt_board_read_compatible(env, &text, &len) < 0)
		return 0;
	for (i = 0; config && i < config->n_boards; i++)
		if (is_board(&config->boards[i], text, len))
			return take_board(ret, &config->boards[i]);
	ret->board = watt_board_find(text, len);
	return 0;
}

void watt_board_choice_done(struct watt_board_choice *choice)
{
	free(choice->own_rails);
	free(choice->own_labels);
	*choice = (struct watt_board_choice){ 0 };
}

bool watt_board_is_configured(const struct watt_board_choice *choice)
{
	return choice->board == &choice->own;
}
