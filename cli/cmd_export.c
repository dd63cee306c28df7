/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute export`: a recording in the formats of other tools. The library has the formats.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/sink.h>

#include "command.h"
#include "conversion.h"
#include "status.h"
#include "xalloc.h"

static const char help_text[] =
	"Usage: wattribute export [OPTION...] FILE\n"
	"Writes what is in a recording for other tools.\n\n"
	"  -f, --format=FORMAT  csv (default), json, jsonl, perfetto, emon, nvmt,\n"
	"                       snapshot, report, html, svg or png\n"
	"  -o, --output=FILE    there instead of to standard output\n"
	"      --force          replace a file that is there\n"
	"  -w, --what=WHAT      csv: energy (default), domains, samples or marks\n"
	"      --window=TIME    length of a window (default 1s); marks cut them, too\n"
	"      --from=TIME      begin there: 1m30s after the beginning, or at a time of\n"
	"                       the clock such as 13:45:00 or 2026-11-21T13:45:00Z\n"
	"      --to=TIME        end there\n"
	"      --kinds=LIST     entities of these kinds such as container,pod, or all; by\n"
	"                       default processes and what else sums up to the energy\n"
	"      --zeros          entities that used nothing in a window, too\n"
	"  -v, --verbose        say more\n"
	"  -h, --help           this text\n\n" OPTIONS_POLICY_HELP
	"\nExample: wattribute export -f perfetto -o run.pftrace --window=100ms run.watt\n";

enum {
	OPT_KINDS = OPTIONS_OWN,
	OPT_ZEROS,
};

/* "csv, json or emon" */
static char *format_names(void)
{
	const struct watt_sink_info *info;
	char *names = xstrdup("");
	size_t i;

	for (i = 0; (info = watt_sink_get_info(i)); i++) {
		const char *between = !i ? "" : watt_sink_get_info(i + 1) ? ", " : " or ";
		char *more = xasprintf("%s%s%s", names, between, info->name);

		free(names);
		names = more;
	}
	return names;
}

static int take_format(struct conversion *export, const char *value)
{
	const struct watt_sink_info *info = watt_sink_find_info(value);
	auto_free char *names = format_names();

	if (!info)
		return options_bad_value("--format", value, names);
	export->format = info->name;
	return 0;
}

/* Whether a word is in a list with commas. */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (;; list += strcspn(list, ",") + 1) {
		if (strcspn(list, ",") == n && strncmp(list, word, n) == 0)
			return true;
		if (!list[strcspn(list, ",")])
			return false;
	}
}

static int take_own(void *data, int code)
{
	struct conversion *export = data;

	switch (code) {
	case 'f':
		return take_format(export, optarg);
	case 'w':
		conversion_choose(export, "what", optarg);
		return 0;
	case OPT_KINDS:
		conversion_choose(export, "kinds", optarg);
		if (has_word(optarg, "thread"))
			watt_options_set_threads(export->common.session, 1);
		return 0;
	case OPT_ZEROS:
		conversion_choose(export, "zeros", "yes");
		return 0;
	default:
		return conversion_take(export, code);
	}
}

int cmd_export(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "what", required_argument, NULL, 'w' },
		{ "kinds", required_argument, NULL, OPT_KINDS },
		{ "zeros", no_argument, NULL, OPT_ZEROS },
		CONVERSION_LONG,
	};
	struct conversion export = { 0 };
	int r;

	export.format = "csv";
	export.window_ns = 1000000000;
	if (conversion_take_all(&export, argc, argv, ":f:o:w:" OPTIONS_SHORT, longs, take_own,
				&export) < 0)
		return STATUS_USAGE;
	if (export.common.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	r = conversion_run(&export);
	return r == 0 ? STATUS_OK : r == -EINVAL ? STATUS_USAGE : STATUS_FAILURE;
}
