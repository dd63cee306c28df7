/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute record`: every sample into a file, while a command runs or until the user has
 * enough. The command keeps its standard streams, its signals and its exit status.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <wattribute/json.h>
#include <wattribute/recording.h>

#include "caller.h"
#include "closing.h"
#include "command.h"
#include "kept.h"
#include "message.h"
#include "number.h"
#include "options.h"
#include "outlet.h"
#include "page.h"
#include "sink_file.h"
#include "record_report.h"
#include "record_run.h"
#include "status.h"
#include "text.h"
#include "usage.h"
#include "xalloc.h"

static const char help_text[] =
	"Usage: wattribute record [OPTION...] [-o FILE] [--] [COMMAND [ARGUMENT...]]\n"
	"Records everything that is measured, while COMMAND runs or until Ctrl-C.\n\n"
	"  -o, --output=FILE      the recording (wattribute-DATE-TIME.watt)\n"
	"  -r, --rate=RATE,...    read so often at most: 100Hz (1kHz), SOURCE=RATE\n"
	"      --for=TIME         end after TIME: 10s, 5m, 1h\n"
	"      --rotate-size=SIZE begin another file beyond SIZE: 500M, 2G\n"
	"      --rotate-time=TIME begin another file after TIME\n"
	"      --keep=N           keep the newest N files, delete older ones\n"
	"      --threads          threads, too, and not only processes\n"
	"      --format=FORMAT    watt (default), or nvmt: a trace of fastnvmetrics\n"
	"  -f, --force            replace a file that is there\n"
	"  -q, --quiet            print nothing but errors\n"
	"      --json             a snapshot a second and at each mark, one line each\n" OPTIONS_POLICY_HELP
		OPTIONS_HELP
	"Exit status: COMMAND's; 1 if something is missing in the file, 2 for a mistake.\n";

/* No sensor of the kinds that are read in a file is quicker. */
#define DEFAULT_PERIOD_NS 1000000

struct record_options {
	struct options common;
	struct watt_record_opts record;
	const char *output;
	uint64_t limit_ns;
	bool is_quiet;
	bool has_rate;
};

enum {
	OPTION_FOR = OPTIONS_OWN,
	OPTION_ROTATE_SIZE,
	OPTION_ROTATE_TIME,
	OPTION_KEEP,
	OPTION_FORMAT,
	OPTION_THREADS,
};

static int take_time(const char *option, const char *text, uint64_t *ret_ns)
{
	if (number_duration(text, 1000000000, ret_ns) < 0)
		return options_bad_value(option, text, "a time such as 10s, 5m or 1h");
	return 0;
}

static int take_rotate_time(struct record_options *opts, const char *text)
{
	uint64_t time_ns = 0;
	int r = take_time("--rotate-time", text, &time_ns);

	if (r < 0)
		return r;
	if (time_ns < 1000000000)
		return options_bad_value("--rotate-time", text, "1 s or more");
	opts->record.max_seconds = (uint32_t)(time_ns / 1000000000);
	return 0;
}

static int take_format(struct record_options *opts, const char *text)
{
	if (!strcmp(text, "watt"))
		opts->record.format = WATT_RECORD_ALL;
	else if (!strcmp(text, "nvmt"))
		opts->record.format = WATT_RECORD_NVMT;
	else
		return options_bad_value("--format", text, "watt or nvmt");
	return 0;
}

static int take_own(void *data, int code)
{
	struct record_options *opts = data;
	uint64_t keep = 0;

	switch (code) {
	case 'o':
		opts->output = optarg;
		return 0;
	case 'r':
		opts->has_rate = true;
		return options_set(&opts->common, "rate", optarg);
	case OPTION_FORMAT:
		return take_format(opts, optarg);
	case OPTION_FOR:
		return take_time("--for", optarg, &opts->limit_ns);
	case OPTION_ROTATE_SIZE:
		if (number_size(optarg, &opts->record.max_bytes) < 0 ||
		    opts->record.max_bytes < 1 << 20)
			return options_bad_value("--rotate-size", optarg,
						 "a size such as 500M or 2G (1M or more)");
		return 0;
	case OPTION_ROTATE_TIME:
		return take_rotate_time(opts, optarg);
	case OPTION_THREADS:
		return watt_options_set_threads(opts->common.session, 1);
	case OPTION_KEEP:
		if (number_count(optarg, 1, 1000000, &keep) < 0)
			return options_bad_value("--keep", optarg, "a number from 1 on");
		opts->record.keep = (uint32_t)keep;
		return 0;
	case 'f':
		opts->record.overwrite = 1;
		return 0;
	case 'q':
		opts->is_quiet = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int check(const struct record_options *opts, int n_words)
{
	const struct watt_record_opts *record = &opts->record;

	if (opts->output && strcmp(opts->output, "-") == 0)
		message_usage("a recording can't go to standard output: it is a database file");
	else if (opts->common.is_captured && n_words > 0)
		message_usage("%s", OPTIONS_CAPTURED_MISTAKE);
	else if (record->format == WATT_RECORD_NVMT && (record->max_bytes || record->max_seconds))
		message_usage(
			"a trace is one file: --rotate-size and --rotate-time are for recordings");
	else if (record->keep && !record->max_bytes && !record->max_seconds)
		message_usage("--keep is for --rotate-size and --rotate-time");
	else
		return 0;
	return -EINVAL;
}

/* Sensors of supply rails at 100 Hz. */
#define TRACE_PERIOD_NS 10000000

/* A trace has context, read as often as fastnvmetrics does, where nobody says something else. */
static void choose_tiers(struct record_options *opts)
{
	struct watt_options *session = opts->common.session;
	const char *sources = opts->common.sources;

	if (!sources)
		watt_options_set(session, "sources", "+context");
	if (opts->has_rate)
		return;
	watt_options_set_period_ns(session, TRACE_PERIOD_NS);
	if (!sources || strstr(sources, "context"))
		watt_options_set(session, "rate", "context=1000");
}

static int take_options(int argc, char **argv, struct record_options *opts)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "rate", required_argument, NULL, 'r' },
		{ "for", required_argument, NULL, OPTION_FOR },
		{ "rotate-size", required_argument, NULL, OPTION_ROTATE_SIZE },
		{ "rotate-time", required_argument, NULL, OPTION_ROTATE_TIME },
		{ "keep", required_argument, NULL, OPTION_KEEP },
		{ "threads", no_argument, NULL, OPTION_THREADS },
		{ "format", required_argument, NULL, OPTION_FORMAT },
		{ "force", no_argument, NULL, 'f' },
		{ "quiet", no_argument, NULL, 'q' },
		OPTIONS_POLICY_LONG,
		OPTIONS_LONG,
	};
	int r;

	r = options_take(&opts->common, argc, argv, "+:o:r:fq" OPTIONS_SHORT, longs, take_own,
			 opts);
	if (r < 0)
		return r;
	if (opts->record.format == WATT_RECORD_NVMT)
		choose_tiers(opts);
	options_apply(&opts->common);
	return opts->common.is_help ? 0 : check(opts, argc - optind);
}

/* ---- while it is made ---- */

struct view_of_run {
	struct watt_session *ses;
	struct record_run run;
	struct kept *kept;      /* what the recording replaces, until the command runs */
	struct outlet *outlet;  /* of --json; NULL: none */
	FILE *out;              /* its stream */
	struct watt_sink *sink; /* into it */
	bool is_unread;         /* the outlet takes nothing any more */
	bool has_line;          /* there is a line on the terminal that changes */
};

static int put_snapshot(void *data, struct watt_snapshot *snap)
{
	struct view_of_run *view = data;
	int r;

	if (view->is_unread)
		return 0;
	r = sink_file_put(view->sink, view->out, snap);
	if (r != -EINTR)
		return r;
	/* The signal is the command's or ends the recording; nobody reads what comes until then. */
	view->is_unread = true;
	return 0;
}

static void let_old_go(void *data)
{
	struct view_of_run *view = data;

	kept_drop(view->kept);
}

static void show_progress(void *data)
{
	struct view_of_run *view = data;
	char line[512], fitting[512];

	record_report_progress(view->ses, &view->run, line, sizeof(line));
	text_fit(fitting, sizeof(fitting), line, page_get_width(stderr, sizeof(fitting)) - 1);
	fprintf(stderr, "\r%s\033[K", fitting);
	fflush(stderr);
	view->has_line = true;
}

/* A command has the terminal for itself. */
static bool wants_progress(const struct record_options *opts, char *const *argv)
{
	const char *term = getenv("TERM");

	return !opts->is_quiet && !argv && isatty(STDERR_FILENO) && term &&
	       strcmp(term, "dumb") != 0;
}

/* ---- the whole ---- */

static char *default_name(const char *end)
{
	time_t now = time(NULL);
	char name[64];
	struct tm tm;

	if (!localtime_r(&now, &tm))
		return xasprintf("wattribute.%s", end);
	strftime(name, sizeof(name), "wattribute-%Y%m%d-%H%M%S", &tm);
	return xasprintf("%s.%s", name, end);
}

/* One of a command's words; with quotes where it would be taken for several. */
static char *quote(const char *word)
{
	return xasprintf(strpbrk(word, " \t\n") ? "\"%s\"" : "%s", word);
}

/* The words of a command as one text. */
static char *join(char *const *argv)
{
	char *text, *longer;

	if (!argv)
		return NULL;
	text = quote(*argv);
	for (argv++; *argv; argv++) {
		auto_free char *word = quote(*argv);

		longer = xasprintf("%s %s", text, word);
		free(text);
		text = longer;
	}
	return text;
}

/* Who records with the rights of root, by sudo, keeps the file. */
static void own_for_caller(struct watt_record_opts *record)
{
	caller_get_uid(&record->uid);
	caller_get_gid(&record->gid);
}

static int begin_recording(const struct record_options *opts, struct watt_session *ses,
			   const char *path, char *const *argv)
{
	unsigned int errors = message_get_error_count();
	auto_free char *command = join(argv);
	struct watt_record_opts record = opts->record;
	int r;

	if (!record.overwrite && access(path, F_OK) == 0) {
		message_error("%s is there already; --force replaces it", path);
		return -EEXIST;
	}
	record.command = command;
	own_for_caller(&record);
	r = watt_session_record(ses, path, &record);
	if (r < 0 && message_get_error_count() == errors)
		message_error("cannot record to %s: %s", path, strerror(-r));
	return r;
}

/* A reader of --json that has gone ends the recording, not this process. */
static void block_sigpipe(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Of the file that is read again: what was lost since the counters were looked at is there too. */
static void read_files(struct record_end *end)
{
	bool is_ours = end->stats.error != -ESTALE || end->stats.files > 1;

	record_files_read(&end->files, end->path, is_ours ? end->stats.files : 0);
	if (end->files.lost_ns < end->stats.lost_ns && end->files.n >= end->stats.files)
		end->files.lost_ns = end->stats.lost_ns;
}

static int end_status(const struct record_run *run, const struct record_end *end, int r)
{
	bool is_incomplete = end->stats.lost_ns || end->stats.error || end->files.lost_ns ||
			     !end->files.n;

	if (r > 0)
		return r;
	if (run->exit_status)
		return run->exit_status;
	return (r < 0 && r != -EPIPE) || is_incomplete ? STATUS_FAILURE : STATUS_OK;
}

static int open_outlet(struct view_of_run *view, const struct events *events)
{
	int r;

	r = outlet_open(events, stdout, &view->outlet);
	if (r < 0)
		message_error("cannot write the output: %s", strerror(-r));
	if (r < 0)
		return r;
	view->out = outlet_get_file(view->outlet);
	return sink_file_open("snapshot", &view->out, &view->sink);
}

/* Measures until the end. The session is closed behind it, so that the file is finished. */
static int record(const struct record_options *opts, struct watt_session *ses,
		  struct events *events, struct kept *kept, const char *path, char *const *argv)
{
	struct record_end end = { .path = path, .n_channels = watt_session_get_channel_count(ses) };
	struct view_of_run view = { .ses = ses, .kept = kept };
	struct record_setup setup = {
		.ses = ses,
		.events = *events,
		.argv = argv,
		.limit_ns = opts->limit_ns,
		.take = opts->common.is_json ? put_snapshot : NULL,
		.begun = let_old_go,
		.show = wants_progress(opts, argv) ? show_progress : NULL,
		.data = &view,
	};
	int r = 0, status;

	setup.events.wants_marks = true;
	if (opts->common.is_json)
		r = open_outlet(&view, &setup.events);
	if (r == 0)
		r = record_run(&setup, &view.run);
	watt_sink_close(view.sink);
	outlet_close(view.outlet);
	end.stats.sz = sizeof(end.stats);
	watt_session_get_record_stats(ses, &end.stats);
	record_report_look_at_tiers(&end, ses);
	if (view.has_line)
		fputs("\r\033[K", stderr);
	/* Whatever would be said of the file would have to wait for its disk too. */
	if (!closing_close(ses, events, path)) {
		record_run_done(&view.run);
		return STATUS_FAILURE;
	}
	/* Nobody wants the recording of a command that could not be run. */
	if (r > 0) {
		unlink(path);
		kept_restore(kept);
	} else {
		read_files(&end);
		if (!opts->is_quiet)
			record_report_summary(&end, &view.run, stderr);
	}
	status = end_status(&view.run, &end, r);
	record_files_done(&end.files);
	record_run_done(&view.run);
	return status;
}

static int open_and_record(const struct record_options *opts, const char *path, char *const *argv)
{
	struct events events = EVENTS_INIT;
	struct watt_session *ses = NULL;
	struct kept kept = { 0 };
	int r, status = STATUS_FAILURE;

	/* Signals are blocked before the session has threads that could take them. */
	r = events_open(&events);
	if (r < 0) {
		message_error("cannot receive signals: %s", strerror(-r));
		return STATUS_FAILURE;
	}
	block_sigpipe();
	/* Where deaths are not told by the kernel, orphans must come to us to be seen. */
	prctl(PR_SET_CHILD_SUBREAPER, argv != NULL);
	r = options_open_session(&opts->common, &ses);
	if (r == 0)
		r = usage_check_command(ses, argv);
	if (r < 0)
		status = options_status(r);
	if (r == 0 && argv && opts->record.overwrite)
		kept_take(&kept, path);
	if (r == 0)
		r = begin_recording(opts, ses, path, argv);
	if (r == 0) {
		if (strcmp(watt_session_get_usage_name(ses), "procfs") != 0)
			prctl(PR_SET_CHILD_SUBREAPER, 0);
		status = record(opts, ses, &events, &kept, path, argv);
	} else {
		watt_session_close(ses);
	}
	kept_drop(&kept);
	events_close(&events);
	return status;
}

int cmd_record(int argc, char **argv)
{
	struct record_options opts = { .record = { .sz = sizeof(struct watt_record_opts) } };
	auto_free char *path = NULL;

	options_begin(&opts.common);
	watt_options_set_period_ns(opts.common.session, DEFAULT_PERIOD_NS);
	if (take_options(argc, argv, &opts) < 0)
		return STATUS_USAGE;
	if (opts.common.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	path = opts.output ? xstrdup(opts.output) :
			     default_name(opts.record.format == WATT_RECORD_NVMT ? "nvmt" : "watt");
	return open_and_record(&opts, path, optind < argc ? argv + optind : NULL);
}
