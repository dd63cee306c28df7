/* SPDX-License-Identifier: Apache-2.0 */
/* `wattribute plot`: pictures of a recording, without a browser. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "conversion.h"
#include "message.h"
#include "status.h"

static const char help_text[] =
	"Usage: wattribute plot [OPTION...] FILE\n"
	"Draws a recording: power over time, with the phases that were marked.\n\n"
	"  -o, --output=FILE    there (a name in .svg or .png); SVG to standard output\n"
	"      --force          replace a file that is there\n"
	"  -w, --what=WHAT      package (default): each CPU package, its top processes\n"
	"                       and its total; processes: the machine; domains\n"
	"      --top=N          lines of processes or domains (default 10)\n"
	"      --stacked        areas on top of each other (default for processes)\n"
	"      --lines          lines (default for the others)\n"
	"      --window=TIME    length of a window (by default, as many as can be seen)\n"
	"      --from=TIME      begin there: 1m30s after the beginning, or at a time of\n"
	"                       the clock such as 13:45:00 or 2026-11-21T13:45:00Z\n"
	"      --to=TIME        end there\n"
	"      --size=WxH       in pixels, such as 1600x900\n"
	"      --dark           light on dark\n"
	"  -v, --verbose, -h, --help\n\n" OPTIONS_POLICY_HELP
	"\nExample: wattribute plot -o run.png --what=processes run.watt\n";

enum {
	OPT_TOP = OPTIONS_OWN,
	OPT_STACKED,
	OPT_LINES,
	OPT_SIZE,
	OPT_DARK,
};

static int take_own(void *data, int code)
{
	struct conversion *plot = data;

	switch (code) {
	case 'w':
		conversion_choose(plot, "what", optarg);
		return 0;
	case OPT_TOP:
		conversion_choose(plot, "top", optarg);
		return 0;
	case OPT_STACKED:
	case OPT_LINES:
		conversion_choose(plot, "style", code == OPT_STACKED ? "stacked" : "lines");
		return 0;
	case OPT_SIZE:
		conversion_choose(plot, "size", optarg);
		return 0;
	case OPT_DARK:
		conversion_choose(plot, "theme", "dark");
		return 0;
	default:
		return conversion_take(plot, code);
	}
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), len = strlen(suffix);

	return n > len && strcasecmp(name + n - len, suffix) == 0;
}

/* By the name of the file. */
static int choose_format(struct conversion *plot)
{
	const char *output = plot->output;

	plot->format = output && has_suffix(output, ".png") ? "png" : "svg";
	if (!output || strcmp(output, "-") == 0 || has_suffix(output, ".svg") ||
	    has_suffix(output, ".png"))
		return 0;
	message_usage("--output: '%s' ends neither in .svg nor in .png", output);
	return -EINVAL;
}

int cmd_plot(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "what", required_argument, NULL, 'w' },
		{ "top", required_argument, NULL, OPT_TOP },
		{ "stacked", no_argument, NULL, OPT_STACKED },
		{ "lines", no_argument, NULL, OPT_LINES },
		{ "size", required_argument, NULL, OPT_SIZE },
		{ "dark", no_argument, NULL, OPT_DARK },
		CONVERSION_LONG,
	};
	struct conversion plot = { 0 };
	int r;

	if (conversion_take_all(&plot, argc, argv, ":o:w:" OPTIONS_SHORT, longs, take_own, &plot) <
	    0)
		return STATUS_USAGE;
	if (plot.common.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	r = choose_format(&plot);
	if (r == 0)
		r = conversion_run(&plot);
	return r == 0 ? STATUS_OK : r == -EINVAL ? STATUS_USAGE : STATUS_FAILURE;
}
