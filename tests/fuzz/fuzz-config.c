/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file. What is accepted must hold what config.h promises of it, and what is
 * refused must say why.
 */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/config/config.h"

static void hear(void *data, enum watt_log_level level, const char *text)
{
	check(strncmp(text, "fuzz:", 5) == 0);
	*(int *)data = 1;
}

static void check_board(const struct watt_config_board *board)
{
	size_t i;

	check(board->name && board->name[0] && board->n_compatible && board->n_rails);
	for (i = 0; i < board->n_compatible; i++)
		check(board->compatible[i] && board->compatible[i][0]);
	for (i = 0; i < board->n_rails; i++) {
		check(board->rails[i].label && board->rails[i].label[0]);
		check(board->rails[i].domain && board->rails[i].domain[0]);
		check(!board->rails[i].address || strlen(board->rails[i].address) == 4);
	}
}

static void check_config(const struct watt_config *config)
{
	size_t i;

	for (i = 0; i < config->n_chips; i++)
		check(config->chips[i].name && config->chips[i].name[0]);
	for (i = 0; i < config->n_rails; i++) {
		check(config->rails[i].label && config->rails[i].label[0]);
		check(config->rails[i].domain && config->rails[i].domain[0]);
	}
	for (i = 0; i < config->n_boards; i++)
		check_board(&config->boards[i]);
	for (i = 0; i < config->n_models; i++) {
		check(config->models[i].name && config->models[i].full_uw > 0);
		check(config->models[i].idle_uw <= config->models[i].full_uw);
		check(config->models[i].uncertainty_ppm <= 1000000);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_config *config = NULL;
	int has_said = 0;
	const struct watt_log log = { .fn = hear, .data = &has_said };
	int r;

	r = watt_config_parse((const char *)data, size, "fuzz", &log, &config);
	if (r == 0) {
		check(!has_said);
		check_config(config);
		watt_config_free(config);
	} else {
		check(!config);
		check(r == -EOPNOTSUPP || (r == -EINVAL && has_said));
	}
	return 0;
}
