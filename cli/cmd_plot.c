/* SPDX-License-Identifier: Apache-2.0 */
/* `wattribute plot`: pictures of a recording, without a browser. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "excerpt.h"
#include "message.h"
#include "number.h"
#include "options.h"
#include "output.h"
#include "plot.h"
#include "policy.h"
#include "recorded.h"
#include "status.h"
#include "units.h"
#include "xalloc.h"

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
	"  -v, --verbose, -h, --help\n\n" POLICY_HELP
	"\nExample: wattribute plot -o run.png --what=processes run.watt\n";

struct request {
	const char *path;
	const char *output;
	struct plot_opts opts;
	struct excerpt excerpt;
	bool can_replace;
	struct options common;
};

/* ---- options ---- */

enum {
	OPT_FORCE = OPTIONS_OWN,
	OPT_TOP,
	OPT_STACKED,
	OPT_LINES,
	OPT_SIZE,
	OPT_DARK,
};

static int take_what(struct request *request, const char *value)
{
	static const char *const names[] = { "package", "processes", "domains" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], value) == 0) {
			request->opts.what = (enum plot_what)i;
			return 0;
		}
	return options_bad_value("--what", value, "package, processes or domains");
}

static int take_size(struct request *request, const char *value)
{
	char text[32] = "";
	char *x;
	uint64_t width = 0, height = 0;

	if (strlen(value) < sizeof(text))
		strcpy(text, value);
	x = strchr(text, 'x');
	if (x)
		*x++ = '\0';
	if (!x || number_count(text, 100, 20000, &width) < 0 ||
	    number_count(x, 100, 20000, &height) < 0)
		return options_bad_value("--size", value,
					 "a width and a height in pixels such as 1600x900 "
					 "(100 to 20000)");
	request->opts.width = (double)width;
	request->opts.height = (double)height;
	return 0;
}

static int take_top(struct request *request, const char *value)
{
	uint64_t top = 0;

	if (number_count(value, 1, 1000, &top) < 0)
		return options_bad_value("--top", value, "a number from 1 to 1000");
	request->opts.top = (size_t)top;
	return 0;
}

static int take_own(void *data, int code)
{
	struct request *request = data;

	switch (code) {
	case 'o':
		request->output = optarg;
		return 0;
	case 'w':
		return take_what(request, optarg);
	case OPT_FORCE:
		request->can_replace = true;
		return 0;
	case OPT_TOP:
		return take_top(request, optarg);
	case OPT_STACKED:
	case OPT_LINES:
		request->opts.is_stacked = code == OPT_STACKED;
		return 0;
	case OPT_SIZE:
		return take_size(request, optarg);
	case OPT_DARK:
		request->opts.is_dark = true;
		return 0;
	default:
		return excerpt_take(&request->excerpt, code);
	}
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t n = name ? strlen(name) : 0, len = strlen(suffix);

	return n > len && strcasecmp(name + n - len, suffix) == 0;
}

static int check(const struct request *request)
{
	const char *output = request->output;

	if (!output || strcmp(output, "-") == 0 || has_suffix(output, ".svg") ||
	    has_suffix(output, ".png"))
		return 0;
	message_usage("--output: '%s' ends neither in .svg nor in .png", output);
	return -EINVAL;
}

static int take_all(struct request *request, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "what", required_argument, NULL, 'w' },
		{ "force", no_argument, NULL, OPT_FORCE },
		{ "top", required_argument, NULL, OPT_TOP },
		{ "stacked", no_argument, NULL, OPT_STACKED },
		{ "lines", no_argument, NULL, OPT_LINES },
		EXCERPT_LONG,
		{ "size", required_argument, NULL, OPT_SIZE },
		{ "dark", no_argument, NULL, OPT_DARK },
		POLICY_LONG,
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int r;

	r = options_take(&request->common, argc, argv, ":o:w:" OPTIONS_SHORT, longs, take_own,
			 request);
	if (r < 0)
		return r;
	if (request->common.is_help)
		return 0;
	r = options_take_recording(&request->common, argc, argv, &request->path);
	return r < 0 ? r : check(request);
}

/* ---- the picture ---- */

/* "run.watt - host - 2026-11-21 13:00:05 UTC - 5m 20s in windows of 500 ms - simulated" */
static char *subtitle_of(const struct recorded *recorded, const struct watt_series *series)
{
	const struct watt_recording_info *info = recorded->info;
	time_t start_s = (time_t)(info->start_realtime_ns / 1000000000);
	const char *slash = strrchr(recorded->path, '/');
	char when[32] = "", length[UNITS_SIZE], window[UNITS_SIZE];
	enum watt_origin origin = WATT_ORIGIN_MEASURED;
	struct tm tm;
	size_t d;

	if (gmtime_r(&start_s, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
		if (watt_series_get_domain(series, d)->is_partition &&
		    watt_series_get_domain(series, d)->origin > origin)
			origin = watt_series_get_domain(series, d)->origin;
	return xasprintf("%s%s%s%s%s%s \u00b7 %s \u00b7 %s in windows of %s \u00b7 %s",
			 slash ? slash + 1 : recorded->path, *info->command ? " \u00b7 " : "",
			 info->command, *info->host ? " \u00b7 " : "", info->host,
			 recorded->info->is_complete ? "" : " (unfinished)", when,
			 units_elapsed(length, (double)(watt_series_get_info(series)->end_ns -
							watt_series_get_info(series)->start_ns) /
						       1e9),
			 units_time(window, (double)watt_series_get_info(series)->window_ns / 1e9,
				    3),
			 watt_origin_name(origin));
}

static void add_losses(struct plot *plot, const struct recorded *recorded)
{
	uint64_t begin_ns = recorded->info->start_ns;
	size_t i;

	for (i = 0; i < watt_recording_get_loss_count(recorded->rec); i++) {
		const struct watt_recording_loss *loss = watt_recording_get_loss(recorded->rec, i);

		plot_add_loss(plot, (double)(int64_t)(loss->t0_ns - begin_ns) / 1e9,
			      (double)(int64_t)(loss->t1_ns - begin_ns) / 1e9, loss->why);
	}
}

static int write_png(const struct plot *plot, const struct plot_opts *opts, FILE *out)
{
	double width, height;
	char *svg = NULL;
	size_t len = 0;
	FILE *text = open_memstream(&svg, &len);
	int r;

	if (!text)
		return -ENOMEM;
	plot_size(plot, opts, &width, &height);
	plot_draw(plot, opts, text);
	fclose(text);
	r = plot_png(svg, len, width, height, out);
	free(svg);
	return r;
}

static void note_size(const struct plot *plot, const struct plot_opts *opts)
{
	double width, height;

	plot_size(plot, opts, &width, &height);
	if (opts->width > 0 && (width > opts->width || height > opts->height))
		message_note("%zu panels need more than %.0fx%.0f: it is %.0fx%.0f", plot->n_panels,
			     opts->width, opts->height, width, height);
}

static int write_plot(const struct request *request, const struct plot *plot)
{
	struct output output;
	int r;

	r = output_open(&output, request->output, request->can_replace);
	if (r < 0)
		return r;
	note_size(plot, &request->opts);
	if (has_suffix(request->output, ".png"))
		r = write_png(plot, &request->opts, output.file);
	else
		plot_draw(plot, &request->opts, output.file);
	if (r == 0)
		r = output_commit(&output);
	output_discard(&output);
	return r;
}

static int draw(struct request *request, struct recorded *recorded)
{
	struct watt_windows_opts plan = recorded_plan(recorded, request->excerpt.window_ns);
	struct watt_series *series = NULL;
	struct plot plot;
	int r;

	request->opts.begin_ns = recorded->info->start_ns;
	r = recorded_replay(recorded, &request->common.session);
	if (r < 0)
		return r;
	r = watt_series_read(recorded->ses, &plan, 0, &series);
	if (r < 0) {
		message_error("cannot read %s: %s", recorded->path, strerror(-r));
	} else {
		r = plot_make(&plot, series, recorded->marks, recorded->n_marks, &request->opts);
		if (r == 0) {
			free(plot.subtitle);
			plot.subtitle = subtitle_of(recorded, series);
			add_losses(&plot, recorded);
			r = write_plot(request, &plot);
			plot_done(&plot);
		}
	}
	watt_series_free(series);
	return r;
}

int cmd_plot(int argc, char **argv)
{
	struct request request = { .opts = { .top = 10, .is_stacked = -1 },
				   .common = OPTIONS_INIT };
	struct recorded recorded;
	int r;

	if (take_all(&request, argc, argv) < 0)
		return STATUS_USAGE;
	if (request.common.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	r = recorded_open(&recorded, request.path, &request.excerpt.from, &request.excerpt.to);
	if (r == 0) {
		r = draw(&request, &recorded);
		recorded_close(&recorded);
	}
	return r == 0 ? STATUS_OK : r == -EINVAL ? STATUS_USAGE : STATUS_FAILURE;
}
