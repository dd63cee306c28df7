/* SPDX-License-Identifier: Apache-2.0 */
/* `wattribute mark`: a shell script's watt_mark(). */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <wattribute/mark.h>

#include "command.h"
#include "events.h"
#include "listener.h"
#include "message.h"
#include "number.h"
#include "options.h"
#include "status.h"
#include "xalloc.h"

static const char help_text[] =
	"Usage: wattribute mark [OPTION...] LABEL\n"
	"       wattribute mark [OPTION...] --end\n"
	"Tells whoever measures that the phase LABEL begins now, or that the last one\n"
	"ends. Without options: the session that runs this command (WATTRIBUTE_MARKS says\n"
	"which), else the only one there is.\n\n"
	"      --recording=FILE  the session that writes FILE\n"
	"  -p, --pid=PID         the session in process PID, or that PID was started by\n"
	"  -e, --end             no phase from here on\n"
	"  -q, --quiet           nobody measures: say nothing, and succeed\n"
	"  -h, --help            this text\n\n"
	"Exit status: 0; 1 if nobody could be told; 2 for a mistake.\n";

struct mark_options {
	const char *recording;
	uint64_t pid; /* 0: not given */
	bool is_end;
	bool is_quiet;
	bool is_help;
};

enum {
	OPTION_RECORDING = OPTIONS_OWN
};

static int take(struct mark_options *opts, int code, char *const *argv)
{
	switch (code) {
	case OPTION_RECORDING:
		opts->recording = optarg;
		return 0;
	case 'p':
		if (number_count(optarg, 1, INT32_MAX, &opts->pid) < 0)
			return options_bad_value("--pid", optarg, "a process id");
		return 0;
	case 'e':
		opts->is_end = true;
		return 0;
	case 'q':
		opts->is_quiet = true;
		return 0;
	case 'h':
		opts->is_help = true;
		return 0;
	default:
		return options_complain(argv);
	}
}

static int check(const struct mark_options *opts, int n_words)
{
	const char *mistake = NULL;

	if (opts->recording && opts->pid)
		mistake = "--recording and --pid exclude each other";
	else if (opts->is_end && n_words > 0)
		mistake = "a label and --end exclude each other";
	else if (!opts->is_end && n_words == 0)
		mistake = "a label or --end is missing";
	else if (n_words > 1)
		mistake = "a label is one word: put it in quotes";
	if (!mistake)
		return 0;
	message_usage("%s", mistake);
	return -EINVAL;
}

static int take_options(int argc, char **argv, struct mark_options *opts)
{
	static const struct option longs[] = {
		{ "recording", required_argument, NULL, OPTION_RECORDING },
		{ "pid", required_argument, NULL, 'p' },
		{ "end", no_argument, NULL, 'e' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int code;

	while ((code = getopt_long(argc, argv, ":p:eqh", longs, NULL)) != -1)
		if (take(opts, code, argv) < 0)
			return -EINVAL;
	return opts->is_help ? 0 : check(opts, argc - optind);
}

/* ---- to whom ---- */

/* Nobody is there to be told: a failure, unless the user said that it is none. */
__attribute__((format(printf, 2, 3))) static int nobody(const struct mark_options *opts,
							const char *format, ...)
{
	char text[512];
	va_list args;

	if (opts->is_quiet)
		return STATUS_OK;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	message_error("%s", text);
	return STATUS_FAILURE;
}

static int complain_send(const char *address, const struct watt_mark *mark, int error)
{
	/* The address is one that the library found, or has the look of one. */
	if (error == -EINVAL)
		return message_usage("a label is UTF-8 text without control characters, not '%s'",
				     mark->label);
	if (error == -EAGAIN)
		message_error("the session is too busy, and the mark is lost");
	else if (error == -EACCES || error == -EPERM)
		message_error("not allowed to tell %s: it is another user's", address);
	else
		message_error("cannot tell %s: %s", address, strerror(-error));
	return STATUS_FAILURE;
}

static int send_to(const struct watt_mark_listener *listener, const struct watt_mark *mark)
{
	int r = watt_mark_send(listener->address, mark);

	return r < 0 ? complain_send(listener->address, mark, r) : STATUS_OK;
}

static int mark_environment(const struct mark_options *opts, const char *address,
			    const struct watt_mark *mark)
{
	bool is_address = (address[0] == '/' || address[0] == '@') && address[1];
	int r = is_address ? watt_mark_send(address, mark) : -ENAMETOOLONG;

	if (r == 0)
		return STATUS_OK;
	if (r == -ENOENT || r == -ECONNREFUSED)
		return nobody(opts, "the session that WATTRIBUTE_MARKS names has ended: %s",
			      address);
	if (r != -ENAMETOOLONG)
		return complain_send(address, mark, r);
	message_error("WATTRIBUTE_MARKS is no address of a session: '%s'", address);
	return STATUS_FAILURE;
}

static int mark_recording(const struct mark_options *opts, const struct listeners *listeners,
			  const struct watt_mark *mark)
{
	const struct watt_mark_listener *listener;
	struct stat st;

	if (stat(opts->recording, &st) < 0) {
		message_error("cannot read %s: %s", opts->recording, strerror(errno));
		return STATUS_FAILURE;
	}
	listener = listeners_of_file(listeners, opts->recording);
	if (!listener)
		return nobody(opts, "nobody writes %s now, or it is another user who does",
			      opts->recording);
	return send_to(listener, mark);
}

static int mark_pid(const struct mark_options *opts, const struct listeners *listeners,
		    const struct watt_mark *mark)
{
	const struct watt_mark_listener *listener =
		listeners_of_pid(listeners, (uint32_t)opts->pid);
	auto_free char *all = NULL;

	if (listener)
		return send_to(listener, mark);
	all = listeners_describe(listeners);
	return nobody(opts, "process %u does not measure, and was not started by one that does%s%s",
		      (uint32_t)opts->pid, *all ? "; there is " : "", all);
}

static int mark_only(const struct mark_options *opts, const struct listeners *listeners,
		     const struct watt_mark *mark)
{
	auto_free char *all = NULL;

	if (listeners->n == 0)
		return nobody(opts, "nothing measures now; start 'wattribute record' or "
				    "'wattribute stat' first");
	if (listeners->n == 1)
		return send_to(&listeners->list[0], mark);
	all = listeners_describe(listeners);
	message_error("%zu sessions measure; choose one by --pid: %s", listeners->n, all);
	return STATUS_FAILURE;
}

static int tell(const struct mark_options *opts, const struct watt_mark *mark)
{
	const char *address = getenv("WATTRIBUTE_MARKS");
	struct listeners listeners;
	int status;

	if (!opts->recording && !opts->pid && address && *address)
		return mark_environment(opts, address, mark);
	listeners_find(&listeners);
	if (opts->recording)
		status = mark_recording(opts, &listeners, mark);
	else if (opts->pid)
		status = mark_pid(opts, &listeners, mark);
	else
		status = mark_only(opts, &listeners, mark);
	listeners_done(&listeners);
	return status;
}

int cmd_mark(int argc, char **argv)
{
	struct watt_mark mark = { .t_ns = events_now_ns() };
	struct mark_options opts = { 0 };
	const char *label = "";

	if (take_options(argc, argv, &opts) < 0)
		return STATUS_USAGE;
	if (opts.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	if (!opts.is_end)
		label = argv[optind];
	if (strlen(label) >= sizeof(mark.label)) {
		message_usage("a label of %zu bytes is too long; %zu fit", strlen(label),
			      sizeof(mark.label) - 1);
		return STATUS_USAGE;
	}
	strcpy(mark.label, label);
	return tell(&opts, &mark);
}
