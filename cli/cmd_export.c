/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute export`: a recording in the formats of other tools. The library has the formats.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/sink.h>

#include "command.h"
#include "excerpt.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "policy.h"
#include "recorded.h"
#include "sink_file.h"
#include "status.h"
#include "xalloc.h"

static const char help_text[] =
	"Usage: wattribute export [OPTION...] FILE\n"
	"Writes what is in a recording for other tools.\n\n"
	"  -f, --format=FORMAT  csv (default), json, jsonl, perfetto, emon or snapshot\n"
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
	"  -h, --help           this text\n\n" POLICY_HELP
	"\nExample: wattribute export -f perfetto -o run.pftrace --window=100ms run.watt\n";

struct request {
	const char *path;
	const char *output;
	const struct watt_sink_info *format;
	const char *what;
	struct excerpt excerpt;
	const char *kinds;
	bool with_zeros;
	bool can_replace;
	struct options common;
};

/* ---- options ---- */

enum {
	OPT_FORCE = OPTIONS_OWN,
	OPT_KINDS,
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

static int take_format(struct request *request, const char *value)
{
	auto_free char *names = format_names();

	request->format = watt_sink_find_info(value);
	return request->format ? 0 : options_bad_value("--format", value, names);
}

static int take_own(void *data, int code)
{
	struct request *request = data;

	switch (code) {
	case 'f':
		return take_format(request, optarg);
	case 'o':
		request->output = optarg;
		return 0;
	case 'w':
		request->what = optarg;
		return 0;
	case OPT_FORCE:
		request->can_replace = true;
		return 0;
	case OPT_KINDS:
		request->kinds = optarg;
		return 0;
	case OPT_ZEROS:
		request->with_zeros = true;
		return 0;
	default:
		return excerpt_take(&request->excerpt, code);
	}
}

static int take_all(struct request *request, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "what", required_argument, NULL, 'w' },
		{ "force", no_argument, NULL, OPT_FORCE },
		EXCERPT_LONG,
		{ "kinds", required_argument, NULL, OPT_KINDS },
		{ "zeros", no_argument, NULL, OPT_ZEROS },
		POLICY_LONG,
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int r;

	r = options_take(&request->common, argc, argv, ":f:o:w:" OPTIONS_SHORT, longs, take_own,
			 request);
	if (r < 0)
		return r;
	if (request->common.is_help)
		return 0;
	return options_take_recording(&request->common, argc, argv, &request->path);
}

/* ---- the run ---- */

static const struct watt_sink_option *find_option(const struct watt_sink_info *info,
						  const char *name)
{
	const struct watt_sink_option *option = info->options;

	for (; option && option->name; option++)
		if (strcmp(option->name, name) == 0)
			return option;
	return NULL;
}

/* What a person has chosen with --name=value; value NULL: nothing. */
static int choose(struct watt_sink *sink, const struct request *request, const char *name,
		  const char *value)
{
	const struct watt_sink_option *option = find_option(request->format, name);
	auto_free char *flag = xasprintf("--%s", name);
	int r;

	if (!value)
		return 0;
	r = watt_sink_set(sink, name, value);
	if (r == -ENOENT)
		message_usage("%s has no %s", request->format->name, flag);
	else if (r == -EINVAL)
		options_bad_value(flag, value, option->values);
	return r < 0 ? -EINVAL : 0;
}

static int choose_all(struct watt_sink *sink, const struct request *request)
{
	int r;

	r = choose(sink, request, "what", request->what);
	if (r == 0)
		r = choose(sink, request, "kinds", request->kinds);
	if (r == 0)
		r = choose(sink, request, "zeros", request->with_zeros ? "yes" : NULL);
	return r;
}

static int tell(struct watt_sink *sink, const struct request *request,
		const struct recorded *recorded, FILE *file)
{
	struct watt_excerpt part = { .sz = sizeof(part),
				     .from_ns = recorded->from_ns,
				     .to_ns = recorded->to_ns,
				     .window_ns = request->excerpt.window_ns,
				     .session = &request->common.session };
	unsigned int errors = message_get_error_count();
	int r;

	r = watt_sink_put_recording(sink, recorded->path, &part);
	if (r == 0)
		r = watt_sink_finish(sink);
	if (r < 0 && ferror(file))
		message_error("cannot write %s: %s",
			      request->output ? request->output : "the output", strerror(-r));
	else if (r < 0 && message_get_error_count() == errors)
		message_error("cannot read %s: %s", recorded->path, strerror(-r));
	return r;
}

static int write_all(const struct request *request, const struct recorded *recorded,
		     struct output *output)
{
	struct watt_sink *sink = NULL;
	int r;

	r = sink_file_open(request->format->name, output->file, &sink);
	if (r == 0)
		r = choose_all(sink, request);
	if (r == 0)
		r = tell(sink, request, recorded, output->file);
	watt_sink_close(sink);
	return r;
}

static int export_recording(const struct request *request)
{
	struct recorded recorded;
	struct output output;
	int r;

	r = recorded_open(&recorded, request->path, &request->excerpt.from, &request->excerpt.to);
	if (r < 0)
		return r;
	r = output_open(&output, request->output, request->can_replace);
	if (r == 0) {
		r = write_all(request, &recorded, &output);
		if (r == 0)
			r = output_commit(&output);
		output_discard(&output);
	}
	recorded_close(&recorded);
	return r;
}

int cmd_export(int argc, char **argv)
{
	struct request request = { .format = watt_sink_find_info("csv"),
				   .excerpt.window_ns = 1000000000,
				   .common = OPTIONS_INIT };
	int r;

	if (take_all(&request, argc, argv) < 0)
		return STATUS_USAGE;
	if (request.common.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	r = export_recording(&request);
	return r == 0 ? STATUS_OK : r == -EINVAL ? STATUS_USAGE : STATUS_FAILURE;
}
