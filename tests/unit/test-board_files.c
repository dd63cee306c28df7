/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/source/power/sensor/boards: what is built in is what the reader of configuration files reads
 * in each of these files, so that a copy of one, changed, is a board of the user's.
 */
#include "unit.h"

#include "base/parse.h"
#include "source/config/config.h"
#include "source/power/sensor/board.h"

static void hear(void *data, enum watt_log_level level, const char *text)
{
	print_error("%s\n", text);
}

static const struct watt_board *built_in(const char *name)
{
	const struct watt_board *board;

	for (board = watt_boards; board->name; board++)
		if (!strcmp(board->name, name))
			return board;
	fail_msg("%s is not built in", name);
	return NULL;
}

static void check_text(const char *text, const char *want)
{
	assert_int_equal(!text, !want);
	if (want)
		assert_string_equal(text, want);
}

static void check_rail(const struct watt_board_rail *rail, const struct watt_config_rail *want)
{
	char clean[96];

	assert_true(watt_clean_name(want->label, clean, sizeof(clean)) > 0);
	assert_string_equal(rail->label, clean);
	assert_int_equal(!rail->address, !want->address);
	if (want->address)
		assert_string_equal(rail->address, want->address);
	assert_string_equal(rail->path, want->domain);
	assert_int_equal(rail->kind, want->kind);
	check_text(rail->chip, want->chip);
	assert_int_equal(rail->flags, want->is_alone ? WATT_CHANNEL_OVERLAP_UNKNOWN : 0);
}

static void check_texts(const char *const *texts, size_t n_want, char *const *want)
{
	size_t i;

	assert_int_equal(!texts, !n_want);
	for (i = 0; i < n_want; i++)
		assert_string_equal(texts[i], want[i]);
	if (texts)
		assert_null(texts[i]);
}

static void check_context(const struct watt_board *board, const struct watt_config_board *want)
{
	check_texts(board->gpu_loads, want->n_gpu_loads, want->gpu_loads);
	check_texts(board->zones, want->n_zones, want->zones);
	check_text(board->emc.activity, want->emc[WATT_CONFIG_EMC_ACTIVITY]);
	check_text(board->emc.period, want->emc[WATT_CONFIG_EMC_PERIOD]);
	check_text(board->emc.rate, want->emc[WATT_CONFIG_EMC_RATE]);
}

static void check_board(const struct watt_config_board *want)
{
	const struct watt_board *board = built_in(want->name);
	size_t i;

	for (i = 0; i < want->n_compatible; i++)
		assert_string_equal(board->modules[i], want->compatible[i]);
	assert_null(board->modules[i]);
	for (i = 0; i < want->n_rails; i++)
		check_rail(&board->rails[i], &want->rails[i]);
	assert_null(board->rails[i].label);
	check_context(board, want);
}

/* The files are this program's arguments. */
static char **files;
static int n_files;

static void test_files(void **state)
{
	static const struct watt_log log = { .fn = hear };
	int i, n;

	for (i = 0; i < n_files; i++) {
		struct watt_config *config = NULL;

		assert_int_equal(watt_config_open(files[i], &log, &config), 0);
		assert_int_equal(config->n_boards, 1);
		check_board(&config->boards[0]);
		watt_config_free(config);
	}
	for (n = 0; watt_boards[n].name; n++)
		continue;
	assert_int_equal(n, n_files);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
	};

	files = argv + 1;
	n_files = argc - 1;
	return cmocka_run_group_tests_name("board_files", tests, NULL, NULL);
}
