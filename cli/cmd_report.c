/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute report`: what is in a recording, for a person: a summary for the terminal, a page
 * for the browser, a document for scripts, and how it differs from another recording.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "message.h"
#include "number.h"
#include "options.h"
#include "output.h"
#include "page.h"
#include "policy.h"
#include "report.h"
#include "status.h"

#define ROWS 25
#define WIDTH_MOST 140
/* Nobody reads a pipe column by column. */
#define WIDTH_PIPE 160

static const char help_text[] =
	"Usage: wattribute report [OPTION...] FILE\n"
	"What is in a recording: where the energy went, in which phase, and whether to believe it.\n\n"
	"  -o, --output=PAGE    an HTML page with charts and everything in it, for a browser;\n"
	"                       with --json: the document\n"
	"  -f, --force          replace a file that is there\n"
	"      --vs=OTHER       compare with another recording, the one before: mean powers with\n"
	"                       intervals of 95 %\n"
	"  -g, --group=BY       process, name, container, pod, unit, user or cgroup\n"
	"  -n, --rows=N         rows of a table; 0: all (25)\n"
	"      --window=TIME    length of a window; by default some hundred of them\n"
	"      --from=TIME      begin there: 90s or 1m30s after the beginning, or a time of the\n"
	"                       clock, 13:45:00 or 2026-11-21T13:45:00Z\n"
	"      --to=TIME        end there\n"
	"      --json           a JSON document\n"
	"  -v, --verbose        say more\n"
	"  -h, --help           this text\n\n" POLICY_HELP
	"\nExample: wattribute report -o run.html --vs=before.watt run.watt\n";

struct report_options {
	struct options common;
	struct report_request request;
	enum watt_ranking_group group;
	uint64_t rows;
	const char *output; /* NULL: standard output */
	const char *other;  /* NULL: nothing is compared */
	const char *path;
	bool can_replace;
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
			return 0;
		}
	return options_bad_value("--group", text,
				 "process, name, container, pod, unit, user or cgroup");
}

static int take_own(void *data, int code)
{
	struct report_options *opts = data;

	switch (code) {
	case 'o':
		opts->output = optarg;
		return 0;
	case 'g':
		return take_group(opts, optarg);
	case 'n':
		if (number_count(optarg, 0, 1000000, &opts->rows) < 0)
			return options_bad_value("--rows", optarg, "a number; 0 means all");
		return 0;
	case OPTION_VS:
		opts->other = optarg;
		return 0;
	case 'f':
		opts->can_replace = true;
		return 0;
	default:
		return excerpt_take(&opts->request.excerpt, code);
	}
}

static int take_options(int argc, char **argv, struct report_options *opts)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "force", no_argument, NULL, 'f' },
		{ "vs", required_argument, NULL, OPTION_VS },
		{ "group", required_argument, NULL, 'g' },
		{ "rows", required_argument, NULL, 'n' },
		EXCERPT_LONG,
		POLICY_LONG,
		{ "json", no_argument, NULL, OPTIONS_JSON },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int r;

	r = options_take(&opts->common, argc, argv, ":o:fg:n:" OPTIONS_SHORT, longs, take_own,
			 opts);
	if (r < 0)
		return r;
	if (opts->common.is_help)
		return 0;
	return options_take_recording(&opts->common, argc, argv, &opts->path);
}

/* ---- writing ---- */

static void print_text(const struct report *report, FILE *out)
{
	size_t width = isatty(fileno(out)) ? page_get_width(out, WIDTH_MOST) : WIDTH_PIPE;

	report_text_print(report, out, width);
	if (report->other)
		report_text_compare(report, out, width);
}

static int write_report(const struct report *report, const struct report_options *opts, FILE *out)
{
	int r = 0;

	if (opts->common.is_json)
		r = report_json_print(report, out);
	else if (opts->output)
		r = report_html_print(report, out);
	else
		print_text(report, out);
	if (r == -EOPNOTSUPP)
		message_error("no JSON: %s", options_json_error(r));
	else if (r == -ENOPKG)
		message_error(
			"no page: this program was built without it, because npm or the network "
			"was missing; the terminal and --json show the same numbers");
	else if (r < 0)
		message_error("cannot write the report: %s", strerror(-r));
	return r;
}

static void tell_output(const struct report_options *opts)
{
	struct stat st;

	if (opts->output && strcmp(opts->output, "-") != 0 && stat(opts->output, &st) == 0)
		message_note("wrote %s, %.1f MB", opts->output, (double)st.st_size / 1e6);
}

static int write_output(const struct report *report, const struct report_options *opts)
{
	struct output output;
	int r;

	r = output_open(&output, opts->output, opts->can_replace);
	if (r < 0)
		return r;
	r = write_report(report, opts, output.file);
	if (r == 0)
		r = output_commit(&output);
	output_discard(&output);
	if (r == 0)
		tell_output(opts);
	return r;
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

static int run_report(const struct report_options *opts)
{
	/* What is compared is the same part of both only if a person says so: all of the other. */
	struct report_request whole = { .excerpt.window_ns = opts->request.excerpt.window_ns,
					.session = opts->request.session };
	struct report_run run = { 0 }, other = { 0 };
	struct report report = { .run = &run, .group = opts->group, .n_shown = (size_t)opts->rows };
	int r;

	r = report_load(&run, opts->path, &opts->request);
	if (r == 0 && opts->other) {
		report.other = &other;
		r = report_load(&other, opts->other, &whole);
	}
	if (r == 0)
		r = compute(&report);
	if (r == 0)
		r = write_output(&report, opts);
	watt_ranking_free(report.ranking);
	watt_comparison_free(report.comparison);
	report_run_done(&other);
	report_run_done(&run);
	return r < 0 ? STATUS_FAILURE : STATUS_OK;
}

int cmd_report(int argc, char **argv)
{
	struct report_options opts = { .common = OPTIONS_INIT, .rows = ROWS };

	if (take_options(argc, argv, &opts) < 0)
		return STATUS_USAGE;
	if (opts.common.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	opts.request.session = &opts.common.session;
	return run_report(&opts);
}
