/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute stat`: the energy of a command and all its descendants. The command keeps its
 * standard streams, its signals and its exit status; the report goes to standard error.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <wattribute/session.h>

#include "command.h"
#include "message.h"
#include "number.h"
#include "options.h"
#include "outlet.h"
#include "stat_report.h"
#include "stat_run.h"
#include "status.h"
#include "usage.h"
#include "xalloc.h"

static const char help_text[] =
	"Usage: wattribute stat [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	"       wattribute stat [OPTION...] -p PID\n"
	"The energy of a command and all its descendants while it runs.\n\n"
	"  -r, --repeat=N       run it N times: mean, deviation, 95 % interval\n"
	"  -I, --interval=MS    a line each interval, too\n"
	"  -d, --per-domain     a line per domain, too\n"
	"      --per-thread     a line per thread, too\n"
	"  -p, --pid=PID        a process that runs already, until it ends or Ctrl-C\n"
	"      --seconds=SEC    with -p: end after SEC\n"
	"  -o, --output=FILE    write the report to FILE, not to standard error\n"
	"      --json           one JSON document, to standard output or FILE\n\n" OPTIONS_POLICY_HELP
		OPTIONS_HELP
	"\nExit status: COMMAND's; 126, 127: it can't run; 1: not measured; 2: a mistake.\n";

struct stat_options {
	struct options common;
	uint64_t repeat;
	uint64_t pid; /* 0: a command */
	uint64_t interval_ns;
	uint64_t limit_ns;
	const char *output;
	bool has_domains;
	bool has_threads;
};

enum {
	OPTION_SECONDS = OPTIONS_OWN,
	OPTION_PER_THREAD,
};

static int take_number(const char *option, const char *text, uint64_t most, uint64_t *ret)
{
	if (number_count(text, 1, most, ret) < 0)
		return options_bad_value(option, text, "a number from 1 on");
	return 0;
}

static int take_time(const char *option, const char *text, uint64_t unit_ns, uint64_t *ret_ns)
{
	if (number_duration(text, unit_ns, ret_ns) < 0)
		return options_bad_value(option, text, "a time");
	return 0;
}

static int take_interval(const char *text, uint64_t *ret_ns)
{
	uint64_t interval_ns = 0;
	int r;

	r = take_time("--interval", text, 1000000, &interval_ns);
	if (r < 0)
		return r;
	if (interval_ns < 10000000)
		return options_bad_value("--interval", text, "10 ms or more");
	*ret_ns = interval_ns;
	return 0;
}

static int take_own(void *data, int code)
{
	struct stat_options *opts = data;

	switch (code) {
	case 'r':
		return take_number("--repeat", optarg, 1000000, &opts->repeat);
	case 'p':
		return take_number("--pid", optarg, 1 << 30, &opts->pid);
	case 'I':
		return take_interval(optarg, &opts->interval_ns);
	case OPTION_SECONDS:
		return take_time("--seconds", optarg, 1000000000, &opts->limit_ns);
	case 'o':
		opts->output = optarg;
		return 0;
	case 'd':
		opts->has_domains = true;
		return 0;
	case OPTION_PER_THREAD:
		opts->has_threads = true;
		return watt_options_set_threads(opts->common.session, 1);
	default:
		return -EINVAL;
	}
}

/* What makes no sense together. */
static int check(const struct stat_options *opts, int n_words)
{
	const char *mistake = NULL;

	if (opts->pid && n_words > 0)
		mistake = "a command and -p exclude each other";
	else if (opts->common.is_captured)
		mistake = OPTIONS_CAPTURED_MISTAKE;
	else if (!opts->pid && n_words == 0)
		mistake = "a command or -p is missing";
	else if (opts->pid && opts->repeat > 1)
		mistake = "-r and -p exclude each other";
	else if (opts->limit_ns && !opts->pid)
		mistake = "--seconds is for -p only";
	if (!mistake)
		return 0;
	message_usage("%s", mistake);
	return -EINVAL;
}

static int take_options(int argc, char **argv, struct stat_options *opts)
{
	static const struct option longs[] = {
		{ "repeat", required_argument, NULL, 'r' },
		{ "interval", required_argument, NULL, 'I' },
		{ "per-domain", no_argument, NULL, 'd' },
		{ "per-thread", no_argument, NULL, OPTION_PER_THREAD },
		{ "pid", required_argument, NULL, 'p' },
		{ "seconds", required_argument, NULL, OPTION_SECONDS },
		{ "output", required_argument, NULL, 'o' },
		OPTIONS_POLICY_LONG,
		OPTIONS_LONG,
	};
	int r;

	r = options_take(&opts->common, argc, argv, "+:r:I:dp:o:" OPTIONS_SHORT, longs, take_own,
			 opts);
	if (r < 0)
		return r;
	options_apply(&opts->common);
	return opts->common.is_help ? 0 : check(opts, argc - optind);
}

struct output {
	FILE *file;
	struct stat_setup *setup;
	struct stat_lines lines;
};

static void show_interval(void *data, const struct watt_run_interval *interval)
{
	struct output *output = data;

	stat_lines_print(&output->lines, output->file, interval, &output->setup->balance);
}

static FILE *open_output(const struct stat_options *opts)
{
	FILE *file;

	if (!opts->output)
		return opts->common.is_json ? stdout : stderr;
	file = fopen(opts->output, "we");
	if (!file)
		message_error("cannot write %s: %s", opts->output, strerror(errno));
	return file;
}

static int write_report(const struct stat_report *report, const struct stat_options *opts,
			FILE *file)
{
	int r = 0;

	if (opts->common.is_json)
		r = stat_report_json(report, file);
	else
		stat_report_print(report, file);
	if (r == 0 && fflush(file) == EOF)
		r = -errno;
	/* Nobody reads, and a signal said that nobody waits. */
	if (r < 0 && r != -EINTR)
		message_error("cannot write the report: %s", strerror(-r));
	return r;
}

/*
 * A run that failed did something else than those that did not, and one that was interrupted did
 * not do it to its end: they are no part of the mean, unless there are no others.
 */
static void leave_out(const struct stat_setup *setup, struct stat_report *report,
		      struct watt_run *const *runs)
{
	size_t i;

	for (i = 0; i < report->n_runs; i++) {
		bool is_cut = setup->is_interrupted && i + 1 == report->n_runs;

		runs[i]->is_left_out = setup->argv && (runs[i]->exit_status || is_cut);
		report->n_failed += runs[i]->is_left_out;
	}
	report->n_left_out = report->n_failed < report->n_runs ? report->n_failed : 0;
	for (i = 0; i < report->n_runs && !report->n_left_out; i++)
		runs[i]->is_left_out = 0;
}

/* Measures all runs, and writes the report of those that there were. Returns the exit status. */
static int measure_all(struct stat_setup *setup, const struct stat_options *opts,
		       const struct output *output)
{
	auto_free struct watt_run **runs = xcalloc(opts->repeat, sizeof(*runs));
	struct stat_report report = { .setup = setup,
				      .runs = (const struct watt_run *const *)runs,
				      .has_domains = opts->has_domains,
				      .has_threads = opts->has_threads,
				      .lines = &output->lines };
	int r = 0, status = STATUS_OK;
	size_t i;

	for (i = 0; i < opts->repeat && !setup->is_interrupted; i++) {
		r = stat_run_measure(setup, &runs[i]);
		if (r != 0)
			break;
		report.n_runs++;
		if (status == STATUS_OK)
			status = runs[i]->exit_status;
	}
	leave_out(setup, &report, runs);
	if (report.n_runs > 0 && write_report(&report, opts, output->file) < 0 &&
	    status == STATUS_OK)
		status = STATUS_FAILURE;
	for (i = 0; i < report.n_runs; i++)
		watt_run_free(runs[i]);
	return r == 0 ? status : r > 0 ? r : STATUS_FAILURE;
}

static int measure(const struct stat_options *opts, char *const *argv, FILE *file)
{
	struct stat_setup setup = { .events = EVENTS_INIT };
	struct output output = { .setup = &setup };
	struct outlet *outlet = NULL;
	int r, status = STATUS_FAILURE;

	setup.argv = opts->pid ? NULL : argv;
	setup.pid = (uint32_t)opts->pid;
	setup.interval_ns = opts->interval_ns;
	setup.limit_ns = opts->limit_ns;
	setup.show_interval = opts->common.is_json ? NULL : show_interval;
	setup.data = &output;
	setup.events.wants_marks = true;
	/* Signals are blocked before the session has threads that could take them. */
	r = events_open(&setup.events);
	if (r < 0) {
		message_error("cannot receive signals: %s", strerror(-r));
		return STATUS_FAILURE;
	}
	r = outlet_open(&setup.events, file, &outlet);
	if (r < 0) {
		message_error("cannot write the report: %s", strerror(-r));
		events_close(&setup.events);
		return STATUS_FAILURE;
	}
	output.file = outlet_get_file(outlet);
	/* Where deaths are not told by the kernel, orphans must come to us to be seen. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	r = options_open_session(&opts->common, &setup.ses);
	if (r == 0)
		r = usage_check_command(setup.ses, setup.argv);
	if (r < 0) {
		status = options_status(r);
	} else {
		if (strcmp(watt_session_get_usage_name(setup.ses), "procfs") != 0)
			prctl(PR_SET_CHILD_SUBREAPER, 0);
		r = watt_session_start(setup.ses);
		if (r < 0)
			message_error("cannot measure: %s", strerror(-r));
		else
			status = measure_all(&setup, opts, &output);
	}
	watt_session_close(setup.ses);
	outlet_close(outlet);
	events_close(&setup.events);
	return status;
}

int cmd_stat(int argc, char **argv)
{
	struct stat_options opts = { .repeat = 1 };
	FILE *file;
	int status;

	if (take_options(argc, argv, &opts) < 0)
		return STATUS_USAGE;
	if (opts.common.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	file = open_output(&opts);
	if (!file)
		return STATUS_FAILURE;
	status = measure(&opts, argv + optind, file);
	if (opts.output)
		fclose(file);
	return status;
}
