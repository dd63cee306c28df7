/* SPDX-License-Identifier: Apache-2.0 */
/* What the devicetree and the tables of boards tell of a machine, without opening a source. */
#include <wattribute/board.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "env.h"
#include "source/power/sensor/board.h"
#include "source/power/sensor/rail_place.h"

#define N_EMC 3

struct watt_board_info {
	char *name;
	bool is_configured;
	char *compatible; /* texts, each ended by NUL */
	size_t len;
	char *emc[N_EMC]; /* below the root of sysfs; NULL: the board says nothing */
};

static void list_emc(const struct watt_board_emc *emc, const char *ret[N_EMC])
{
	ret[0] = emc->activity;
	ret[1] = emc->period;
	ret[2] = emc->rate;
}

static int copy_texts(struct watt_board_info *info, const struct watt_board *board)
{
	const char *files[N_EMC];
	int i;

	list_emc(&board->emc, files);
	info->name = strdup(board->name);
	if (!info->name)
		return -ENOMEM;
	for (i = 0; i < N_EMC && files[i]; i++) {
		info->emc[i] = strdup(files[i]);
		if (!info->emc[i])
			return -ENOMEM;
	}
	return 0;
}

static int take_board(struct watt_board_info *info, const struct watt_env *env)
{
	struct watt_rail_map *map = NULL;
	const struct watt_board *board;
	int r = watt_rail_map_new(env, &map);

	if (r < 0)
		return r;
	board = watt_rail_map_board(map);
	info->is_configured = watt_rail_map_is_configured(map);
	if (board)
		r = copy_texts(info, board);
	watt_rail_map_free(map);
	return r;
}

static int read_info(struct watt_board_info *info, const struct watt_env *env)
{
	int r = watt_board_read_compatible(env, &info->compatible, &info->len);

	return r < 0 ? r : take_board(info, env);
}

int watt_board_info_read(const struct watt_options *options, struct watt_board_info **ret)
{
	struct watt_env_owner owner = WATT_ENV_OWNER_INIT;
	struct watt_board_info *info;
	int r;

	if (!ret)
		return -EINVAL;
	info = calloc(1, sizeof(*info));
	if (!info)
		return -ENOMEM;
	r = watt_env_open(options, &owner);
	if (r == 0)
		r = read_info(info, &owner.env);
	watt_env_close(&owner);
	if (r < 0) {
		watt_board_info_free(info);
		return r;
	}
	*ret = info;
	return 0;
}

void watt_board_info_free(struct watt_board_info *info)
{
	size_t i;

	if (!info)
		return;
	for (i = 0; i < N_EMC; i++)
		free(info->emc[i]);
	free(info->name);
	free(info->compatible);
	free(info);
}

const char *watt_board_info_get_name(const struct watt_board_info *info)
{
	return info ? info->name : NULL;
}

int watt_board_info_is_configured(const struct watt_board_info *info)
{
	return info && info->is_configured;
}

const char *watt_board_info_get_compatible(const struct watt_board_info *info, size_t index)
{
	const char *p;

	if (!info)
		return NULL;
	for (p = info->compatible; p < info->compatible + info->len; p += strlen(p) + 1)
		if (*p && index-- == 0)
			return p;
	return NULL;
}

const char *watt_board_info_get_emc_file(const struct watt_board_info *info, size_t index)
{
	const struct watt_board *board = watt_boards;
	const char *files[N_EMC];

	if (index >= N_EMC)
		return NULL;
	if (info && info->emc[0])
		return info->emc[index];
	while (board->name && !board->emc.activity)
		board++;
	list_emc(&board->emc, files);
	return files[index];
}
