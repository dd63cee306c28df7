/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute report`: what is in a recording, for a person: a summary for the terminal, a page
 * for the browser, a document for scripts, and how it differs from another recording.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "conversion.h"
#include "message.h"
#include "number.h"
#include "page.h"
#include "report.h"
#include "status.h"

#define ROWS 25
#define WIDTH_MOST 140
/* Nobody reads a pipe column by column. */
#define WIDTH_PIPE 160

static const char help_text[] =
	"Usage: wattribute report [OPTION...] FILE\n"
	"What is in a recording: where the energy went, in which phase, and whether to\n"
	"believe it.\n\n"
	"  -o, --output=PAGE    an HTML page with charts and everything in it, for a\n"
	"                       browser; with --json: the document\n"
	"  -f, --force          replace a file that is there\n"
	"      --vs=OTHER       compare with another recording, the one before: energy,\n"
	"                       time and power, with intervals of 95 %\n"
	"  -g, --group=BY       process, thread, name, container, pod, unit, user,\n"
	"                       cgroup or job\n"
	"  -n, --rows=N         rows of a table; 0: all (25)\n"
	"      --window=TIME    length of a window; by default some hundred of them\n"
	"      --from=TIME      begin there: 90s or 1m30s after the beginning, or at\n"
	"                       13:45:00 or 2026-11-21T13:45:00Z\n"
	"      --to=TIME        end there\n"
	"      --json           a JSON document\n"
	"  -v, --verbose, -h, --help\n\n" OPTIONS_POLICY_HELP
	"\nExample: wattribute report -o run.html --vs=before.watt run.watt\n";

struct report_options {
	struct conversion conversion; /* to a page or a document */
	enum watt_ranking_group group;
	uint64_t rows;
};

enum {
	OPTION_VS = OPTIONS_OWN,
};

/* ---- options ---- */

static int take_group(struct report_options *opts, const char *text)
{
	const char *name;
	int group;

	for (group = 0; (name = watt_ranking_group_name((enum watt_ranking_group)group)); group++)
		if (strcmp(name, text) == 0) {
			opts->group = (enum watt_ranking_group)group;
			watt_options_set_threads(opts->conversion.common.session,
						 opts->group == WATT_RANKING_THREAD);
			conversion_choose(&opts->conversion, "group", name);
			return 0;
		}
	return options_bad_value(
		"--group", text,
		"process, thread, name, container, pod, unit, user, cgroup or job");
}

static int take_own(void *data, int code)
{
	struct report_options *opts = data;

	switch (code) {
	case 'g':
		return take_group(opts, optarg);
	case 'n':
		if (number_count(optarg, 0, 1000000, &opts->rows) < 0)
			return options_bad_value("--rows", optarg, "a number; 0 means all");
		return 0;
	case OPTION_VS:
		opts->conversion.other = optarg;
		return 0;
	case 'f':
		return conversion_take(&opts->conversion, CONVERSION_FORCE);
	default:
		return conversion_take(&opts->conversion, code);
	}
}

/* ---- text ---- */

static void print_text(const struct report *report, FILE *out)
{
	size_t width = isatty(fileno(out)) ? page_get_width(out, WIDTH_MOST) : WIDTH_PIPE;

	report_text_print(report, out, width);
	if (report->other)
		report_text_compare(report, out, width);
}

static int compute(struct report *report)
{
	const struct report_run *run = report->run, *other = report->other;
	int r;

	r = watt_ranking_build(run->series, run->phases, report->group, &report->ranking);
	if (r == 0 && other)
		r = watt_comparison_build(run->series, run->phases, other->series, other->phases,
					  &report->comparison);
	if (r < 0)
		message_error("cannot report: %s", strerror(-r));
	return r;
}

static int run_text(const struct report_options *opts)
{
	const struct conversion *asked = &opts->conversion;
	struct report_request request = { asked->excerpt, asked->common.session };
	/* What is compared is the same part of both only if a person says so: all of the other. */
	struct report_request whole = { .excerpt.window_ns = asked->excerpt.window_ns,
					.options = request.options };
	struct report_run run = { 0 }, other = { 0 };
	struct report report = { .run = &run, .group = opts->group, .n_shown = (size_t)opts->rows };
	int r;

	r = report_load(&run, asked->path, &request);
	if (r == 0 && asked->other) {
		report.other = &other;
		r = report_load(&other, asked->other, &whole);
	}
	if (r == 0)
		r = compute(&report);
	if (r == 0)
		print_text(&report, stdout);
	watt_ranking_free(report.ranking);
	watt_comparison_free(report.comparison);
	report_run_done(&other);
	report_run_done(&run);
	return r;
}

/* ---- pages and documents ---- */

static void tell_output(const char *output)
{
	struct stat st;

	if (output && strcmp(output, "-") != 0 && stat(output, &st) == 0)
		message_note("wrote %s, %.1f MB", output, (double)st.st_size / 1e6);
}

static int run_conversion(struct conversion *conversion)
{
	int r;

	conversion->format = conversion->common.is_json ? "report" : "html";
	r = conversion_run(conversion);
	if (r == 0)
		tell_output(conversion->output);
	return r;
}

int cmd_report(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "force", no_argument, NULL, 'f' },
		{ "vs", required_argument, NULL, OPTION_VS },
		{ "group", required_argument, NULL, 'g' },
		{ "rows", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, OPTIONS_JSON },
		CONVERSION_LONG,
	};
	struct report_options opts = { .rows = ROWS };
	struct conversion *conversion = &opts.conversion;
	int r;

	if (conversion_take_all(conversion, argc, argv, ":o:fg:n:" OPTIONS_SHORT, longs, take_own,
				&opts) < 0)
		return STATUS_USAGE;
	if (conversion->common.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	if (conversion->common.is_json || conversion->output)
		r = run_conversion(conversion);
	else
		r = run_text(&opts);
	return r < 0 ? options_status(r) : STATUS_OK;
}
