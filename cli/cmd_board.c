/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute board`: what the devicetree calls this machine, its sensors on supply rails and of
 * context, how long each takes to read and how fast it can be read then; and the file that describes a board that
 * nobody knows yet.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wattribute/board.h>
#include <wattribute/session.h>
#include <wattribute/units.h>

#include "board_rails.h"
#include "command.h"
#include "diags.h"
#include "emc_grant.h"
#include "message.h"
#include "options.h"
#include "page.h"
#include "status.h"
#include "table.h"
#include "text.h"
#include "xalloc.h"

#define PERIOD_NS 10000000u
#define LISTEN_MS 1000u

static const char help_text[] =
	"Usage: wattribute board [OPTION...]\n"
	"What the devicetree calls this machine, its sensors on supply rails and of\n"
	"context, and how long each takes to read. Listens for a second.\n\n"
	"      --yaml            what a configuration file needs to describe this board\n"
	"      --setup-emc=GROUP let this group read how busy the memory controller is\n"
	"      --undo-emc        take that back\n"
	"      --emc-state=FILE  where it is written down (" EMC_GRANT_STATE ")\n\n"
	"Where values come from:\n"
	"  --config=FILE, --machine=FILE, --sysfs-root=DIR, --procfs-root=DIR,\n"
	"  -v, --verbose, -h, --help\n"
	"\nTIER: how often a sensor can be read with less than a tenth of a CPU's time:\n"
	"fast is 1000 Hz, medium 100 Hz, slow 10 Hz.\n";

enum code {
	CODE_YAML = OPTIONS_OWN,
	CODE_SETUP_EMC,
	CODE_UNDO_EMC,
	CODE_EMC_STATE,
	CODE_SYSFS_ROOT,
};

struct choice {
	struct options *opts;
	bool is_yaml;
	bool is_undo;
	const char *group; /* NULL: nothing is granted */
	const char *state;
	const char *sysfs;
};

/* clang-format off */
static const struct option longs[] = {
	{ "yaml", no_argument, NULL, CODE_YAML },
	{ "config", required_argument, NULL, OPTIONS_SESSION },
	{ "machine", required_argument, NULL, OPTIONS_SESSION },
	{ "setup-emc", required_argument, NULL, CODE_SETUP_EMC },
	{ "undo-emc", no_argument, NULL, CODE_UNDO_EMC },
	{ "emc-state", required_argument, NULL, CODE_EMC_STATE },
	{ "sysfs-root", required_argument, NULL, CODE_SYSFS_ROOT },
	{ "procfs-root", required_argument, NULL, OPTIONS_SESSION },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};
/* clang-format on */

static int take_own(void *data, int code)
{
	struct choice *choice = data;

	switch (code) {
	case CODE_YAML:
		choice->is_yaml = true;
		return 0;
	case CODE_SETUP_EMC:
		choice->group = optarg;
		return 0;
	case CODE_UNDO_EMC:
		choice->is_undo = true;
		return 0;
	case CODE_EMC_STATE:
		choice->state = optarg;
		return 0;
	case CODE_SYSFS_ROOT:
		choice->sysfs = optarg;
		return watt_options_set_sysfs_root(choice->opts->session, optarg);
	default:
		return -EINVAL;
	}
}

/* ---- what a person sees ---- */

static void print_strings(const struct watt_board_info *info)
{
	const char *text;
	char clean[256];
	size_t i;

	fputs("Devicetree: ", stdout);
	for (i = 0; (text = watt_board_info_get_compatible(info, i)); i++)
		printf("%s%s", i ? ", " : "", text_clean(clean, sizeof(clean), text));
	puts(i ? "" : "no compatible strings");
}

static void print_board(const struct watt_board_info *info)
{
	const char *name = watt_board_info_get_name(info);
	char clean[256];

	if (!info) {
		puts("Board: this machine has no devicetree; rails are known by their rules only");
		return;
	}
	if (name)
		printf("Board: %s (%s)\n", text_clean(clean, sizeof(clean), name),
		       watt_board_info_is_configured(info) ? "by the configuration file" :
							     "built in");
	else
		puts("Board: not known; 'wattribute board --yaml' writes what describes it");
	print_strings(info);
}

static void add_speed(struct table *table, const struct board_rail *rail)
{
	char number[WATT_UNITS_SIZE];

	if (rail->n_reads)
		table_add(table, "%s", watt_units_time(number, (double)rail->read_ns / 1e9, 3));
	else
		table_add(table, "%s", watt_status_name(rail->status));
	table_add(table, "%s", rail->n_reads ? board_tier_name(board_tier_of(rail->read_ns)) : "-");
}

static void add_rail(struct table *table, const struct board_rail *rail)
{
	table_add(table, "%s", rail->label);
	table_add(table, "%s", rail->channel);
	table_add(table, "%s", rail->is_known ? rail->domain : "not known");
	add_speed(table, rail);
}

static void add_context(struct table *table, const struct board_rail *rail)
{
	char number[WATT_UNITS_SIZE];

	table_add(table, "%s", rail->channel);
	table_add(table, "%s",
		  rail->n_reads ? watt_units_quantity(number, rail->quantity, rail->value, 3) :
				  "-");
	add_speed(table, rail);
}

static void print_table(struct table *table)
{
	putchar('\n');
	table_print(table, stdout, isatty(STDOUT_FILENO) ? page_get_width(stdout, 1000) : 0);
	table_free(table);
}

static void print_rails(const struct board_rails *rails)
{
	struct table *table;
	size_t i, n = rails->n - rails->n_context;

	if (!n) {
		puts("No sensor of hwmon or iio measures a supply rail here.");
		return;
	}
	table = table_new();

	table_add_column(table, "RAIL", TABLE_CUT);
	table_add_column(table, "CHANNEL", TABLE_CUT);
	table_add_column(table, "DOMAIN", 0);
	table_add_column(table, "A READING", TABLE_RIGHT);
	table_add_column(table, "TIER", 0);
	for (i = 0; i < n; i++)
		add_rail(table, &rails->list[i]);
	print_table(table);
}

/* What the board was like: it has no domain, and is added to nothing. */
static void print_context(const struct board_rails *rails)
{
	struct table *table;
	size_t i;

	if (!rails->n_context)
		return;
	table = table_new();
	table_add_column(table, "CONTEXT", TABLE_CUT);
	table_add_column(table, "VALUE", TABLE_RIGHT);
	table_add_column(table, "A READING", TABLE_RIGHT);
	table_add_column(table, "TIER", 0);
	for (i = rails->n - rails->n_context; i < rails->n; i++)
		add_context(table, &rails->list[i]);
	print_table(table);
}

/* All sensors of a source are read one after the other, at one rate. */
static void print_rates(const struct board_rails *rails)
{
	char number[WATT_UNITS_SIZE];
	const char *source = NULL;
	uint64_t sweep_ns;

	if (rails->n)
		putchar('\n');
	while ((source = board_rails_next_source(rails, source, &sweep_ns))) {
		enum board_tier tier = board_tier_of(sweep_ns);

		printf("All sensors of %s take %s: %s, --rate=%s=%u\n", source,
		       watt_units_time(number, (double)sweep_ns / 1e9, 3), board_tier_name(tier),
		       source, board_tier_hz(tier));
	}
}

static void print_all(const struct watt_board_info *info, const struct board_rails *rails)
{
	print_board(info);
	print_rails(rails);
	print_context(rails);
	print_rates(rails);
}

/* ---- what a configuration file needs ---- */

/* In double quotes, as JSON and YAML both read it. */
static void print_quoted(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 127)
			printf("\\x%02x", (unsigned char)*text);
		else
			printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	}
	putchar('"');
}

static void print_yaml_rail(const struct board_rails *rails, const struct board_rail *rail)
{
	char place[256];

	fputs("      - {label: ", stdout);
	print_quoted(rail->label);
	if (rail->address[0])
		printf(", address: \"%s\"", rail->address);
	printf(", domain: \"%s\", kind: %s%s}\n",
	       board_rails_place(rails, rail, place, sizeof(place)),
	       watt_domain_kind_name(rail->kind), rail->is_alone ? ", alone: true" : "");
}

/* What has no label can't be named. */
static bool is_described(const struct board_rail *rail)
{
	return rail->clean[0] && !rail->is_context;
}

/* What there is of one quantity, as a list; nothing if there is none. */
static void
print_yaml_list(const struct board_rails *rails, const char *key, enum watt_quantity quantity,
		const char *(*text_of)(const struct watt_channel *channel, const char *sysfs),
		const char *sysfs)
{
	const char *text;
	size_t i, n = 0;

	for (i = rails->n - rails->n_context; i < rails->n; i++) {
		text = text_of(watt_session_get_channel(rails->ses, rails->list[i].index), sysfs);
		if (rails->list[i].quantity != quantity || !text)
			continue;
		if (n++ == 0)
			printf("    %s: [", key);
		else
			fputs(", ", stdout);
		print_quoted(text);
	}
	if (n)
		puts("]");
}

/* Where it is on the board, wherever its files lie now. */
static const char *gpu_load_of(const struct watt_channel *channel, const char *sysfs)
{
	const char *end = strrchr(channel->name, '/');
	static char file[PATH_MAX];

	if (!end || strcmp(end, "/load") != 0 || !channel->path ||
	    strncmp(channel->path, sysfs, strlen(sysfs)) != 0)
		return NULL;
	snprintf(file, sizeof(file), "/sys%s", channel->path + strlen(sysfs));
	return file;
}

static const char *zone_of(const struct watt_channel *channel, const char *sysfs)
{
	return channel->label;
}

static int print_yaml(const struct watt_board_info *info, const struct board_rails *rails,
		      const char *sysfs)
{
	const char *compatible = watt_board_info_get_compatible(info, 0);
	const char *name = watt_board_info_get_name(info);
	size_t i, n = 0;

	for (i = 0; i < rails->n; i++)
		n += is_described(&rails->list[i]);
	if (!compatible || !n) {
		message_error("%s: there is nothing to describe",
			      compatible ? "no sensor with a label measures a supply rail here" :
					   "this machine has no devicetree that names its board");
		return -ENODEV;
	}
	puts("# A board for wattribute.yaml(5). A rail that is \"alone\" is shown and added to\n"
	     "# nothing: give it the domain of what feeds it (vdd_in/vdd_soc), or leave it alone\n"
	     "# in doubt. Rails without another above them are added to the machine's energy.\n"
	     "boards:");
	fputs("  - name: ", stdout);
	print_quoted(name ? name : compatible);
	fputs("\n    compatible: [", stdout);
	print_quoted(compatible);
	puts("]");
	print_yaml_list(rails, "gpu_load", WATT_QUANTITY_RATIO, gpu_load_of, sysfs);
	print_yaml_list(rails, "thermal", WATT_QUANTITY_TEMPERATURE, zone_of, sysfs);
	puts("    rails:");
	for (i = 0; i < rails->n; i++)
		if (is_described(&rails->list[i]))
			print_yaml_rail(rails, &rails->list[i]);
	return 0;
}

/* ---- */

/* A source that is named must be there: it is named where it is. */
static void ask_for_context(struct watt_options *options)
{
	struct watt_diag *diags;
	size_t i, n;

	if (diags_get(options, &diags, &n) < 0)
		return;
	for (i = 0; i < n; i++)
		if (strcmp(diags[i].source, "context") == 0 && diags[i].state == WATT_AVAILABLE)
			watt_options_set(options, "sources", "+context");
	free(diags);
}

static int show(const struct options *opts, const struct choice *choice)
{
	struct watt_board_info *info = NULL;
	struct board_rails rails = { 0 };
	int r = watt_board_info_read(opts->session, &info);

	if (r == -ENOENT)
		r = 0;
	ask_for_context(opts->session);
	if (r == 0)
		r = board_rails_listen(&rails, opts->session, LISTEN_MS);
	if (r == 0 && choice->is_yaml)
		r = print_yaml(info, &rails, choice->sysfs);
	else if (r == 0)
		print_all(info, &rails);
	else if (!message_get_error_count())
		message_error("cannot look at the board: %s", strerror(-r));
	board_rails_clear(&rails);
	watt_board_info_free(info);
	return r;
}

/* Those that the board names: where it has none of its own, as the boards that are built in. */
static int setup_emc(const struct options *opts, const struct choice *choice)
{
	const char *files[8] = { NULL };
	struct watt_board_info *info = NULL;
	size_t i;
	int r = watt_board_info_read(opts->session, &info);

	if (r < 0 && r != -ENOENT) {
		if (!message_get_error_count())
			message_error("cannot look at the board: %s", strerror(-r));
		return options_status(r);
	}
	for (i = 0; i + 1 < sizeof(files) / sizeof(files[0]); i++) {
		files[i] = watt_board_info_get_emc_file(info, i);
		if (!files[i])
			break;
	}
	r = emc_grant(choice->sysfs, files, choice->group, choice->state);
	watt_board_info_free(info);
	return r < 0 ? STATUS_FAILURE : STATUS_OK;
}

int cmd_board(int argc, char **argv)
{
	struct options opts = { 0 };
	struct choice choice = { .opts = &opts, .state = EMC_GRANT_STATE, .sysfs = "/sys" };
	int r;

	options_begin(&opts);
	watt_options_set_period_ns(opts.session, PERIOD_NS);
	watt_options_set_usage(opts.session, "procfs"); /* nothing is attributed */
	r = options_take(&opts, argc, argv, ":" OPTIONS_SHORT, longs, take_own, &choice);
	if (r == 0)
		r = options_finish(&opts, argc, argv);
	if (r < 0)
		return STATUS_USAGE;
	if (opts.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	if (choice.is_yaml + choice.is_undo + !!choice.group > 1) {
		message_usage(
			"--yaml, --setup-emc and --undo-emc are things of their own; give one");
		return STATUS_USAGE;
	}
	if (choice.group)
		return setup_emc(&opts, &choice);
	if (choice.is_undo)
		return emc_revoke(choice.sysfs, choice.state) < 0 ? STATUS_FAILURE : STATUS_OK;
	r = show(&opts, &choice);
	return r < 0 ? options_status(r) : STATUS_OK;
}
