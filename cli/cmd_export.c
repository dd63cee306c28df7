/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute export`: a recording in the formats of other tools. It goes through the recording
 * once, and tells a format one window after the other.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "excerpt.h"
#include "export.h"
#include "message.h"
#include "number.h"
#include "options.h"
#include "output.h"
#include "policy.h"
#include "recorded.h"
#include "status.h"
#include "windows.h"
#include "xalloc.h"

static const char help_text[] =
	"Usage: wattribute export [OPTION...] FILE\n"
	"Writes what is in a recording for other tools.\n\n"
	"  -f, --format=FORMAT  csv (default), json, jsonl, perfetto or emon\n"
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

static const struct export_format *const formats[] = {
	&export_csv, &export_json, &export_jsonl, &export_perfetto, &export_emon,
};

struct request {
	const char *path;
	const char *output;
	const struct export_format *format;
	const char *what;
	struct excerpt excerpt;
	uint32_t kinds;
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

static int take_format(struct request *request, const char *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (strcmp(formats[i]->name, value) == 0) {
			request->format = formats[i];
			return 0;
		}
	return options_bad_value("--format", value, "csv, json, jsonl, perfetto or emon");
}

/* The kind of a name of n letters, or -1. */
static int kind_of(const char *name, size_t n)
{
	int kind;

	for (kind = 0; kind <= WATT_ENTITY_POD; kind++) {
		const char *known = watt_entity_kind_name((enum watt_entity_kind)kind);

		if (strlen(known) == n && strncmp(known, name, n) == 0)
			return kind;
	}
	return -1;
}

static int take_kinds(struct request *request, const char *value)
{
	const char *p = value;

	request->kinds = 0;
	if (strcmp(value, "all") == 0) {
		request->kinds = (1u << (WATT_ENTITY_POD + 1)) - 1;
		return 0;
	}
	for (;;) {
		size_t n = strcspn(p, ",");
		int kind = kind_of(p, n);

		if (kind < 0)
			return options_bad_value("--kinds", value,
						 "all or a list of kinds such as process,idle");
		request->kinds |= 1u << kind;
		if (!p[n])
			return 0;
		p += n + 1;
	}
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
		return take_kinds(request, optarg);
	case OPT_ZEROS:
		request->with_zeros = true;
		return 0;
	default:
		return excerpt_take(&request->excerpt, code);
	}
}

/* Whether the format can be asked for it. */
static int check_what(const struct request *request)
{
	const struct export_format *format = request->format;
	const char *what = request->what, *p = format->whats;
	size_t n = what ? strlen(what) : 0;

	if (!what)
		return 0;
	if (!p) {
		message_usage("--what is for csv; %s has everything in one file", format->name);
		return -EINVAL;
	}
	for (; *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");

		if (len == n && strncmp(p, what, n) == 0)
			return 0;
		p += len;
	}
	return options_bad_value("--what", what, "energy, domains, samples or marks");
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
	r = options_take_recording(&request->common, argc, argv, &request->path);
	return r < 0 ? r : check_what(request);
}

/* ---- the recording, laid open ---- */

static void about_init(struct export_about *about, const struct recorded *recorded)
{
	struct watt_recording *rec = recorded->rec;
	size_t i;

	*about = (struct export_about){ .file = recorded->path,
					.info = recorded->info,
					.n_channels = watt_recording_get_channel_count(rec),
					.n_marks = recorded->n_marks,
					.n_losses = watt_recording_get_loss_count(rec),
					.from_ns = recorded->from_ns,
					.to_ns = recorded->to_ns };
	about->channels = xcalloc(about->n_channels, sizeof(*about->channels));
	about->marks = xcalloc(about->n_marks, sizeof(*about->marks));
	about->losses = xcalloc(about->n_losses, sizeof(*about->losses));
	for (i = 0; i < about->n_channels; i++)
		about->channels[i] = watt_recording_get_channel(rec, i);
	for (i = 0; i < about->n_marks; i++)
		about->marks[i] = &recorded->marks[i];
	for (i = 0; i < about->n_losses; i++)
		about->losses[i] = watt_recording_get_loss(rec, i);
}

static void about_add_domains(struct export_about *about, const struct watt_session *ses)
{
	size_t i;

	about->n_domains = watt_session_get_domain_count(ses);
	about->domains = xcalloc(about->n_domains, sizeof(*about->domains));
	for (i = 0; i < about->n_domains; i++)
		about->domains[i] = watt_session_get_domain(ses, i);
}

static void about_done(struct export_about *about)
{
	free(about->channels);
	free(about->domains);
	free(about->marks);
	free(about->losses);
}

/* ---- the run ---- */

static int tell_window(struct export *ex, const struct window *window,
		       const struct windows_plan *plan, uint64_t index)
{
	struct export_window told = { .index = index, .t0_ns = window->t0_ns };
	int r;

	view_init(&told.view, window->snap);
	told.t1_ns = window->t1_ns;
	told.t1_realtime_ns = watt_snapshot_get_realtime_ns(window->snap);
	if (window->mark != WINDOWS_NO_MARK && *plan->marks[window->mark].label)
		told.phase = plan->marks[window->mark].label;
	r = ex->format->window(ex, &told);
	view_done(&told.view);
	if (r == 0 && ferror(ex->out))
		return errno ? -errno : -EIO;
	return r;
}

static int tell_windows(struct export *ex, const struct recorded *recorded, uint64_t window_ns)
{
	struct windows_plan plan = recorded_plan(recorded, window_ns);
	struct windows *windows = windows_new(recorded->ses, &plan);
	struct window window;
	uint64_t n = 0;
	int r;

	while ((r = windows_next(windows, &window)) == 0) {
		if (window.t1_ns > window.t0_ns)
			r = tell_window(ex, &window, &plan, n++);
		watt_snapshot_unref(window.snap);
		if (r < 0)
			break;
	}
	windows_free(windows);
	if (r < 0 && !ferror(ex->out))
		message_error("cannot read %s: %s", recorded->path, strerror(-r));
	return r < 0 ? r : 0;
}

/* Channels are apart by their delays, never by this much. */
#define SAMPLES_APART_NS 60000000000ULL

static int tell_samples(struct export *ex, struct recorded *recorded)
{
	struct watt_sample samples[1024];
	uint64_t from_ns = recorded->from_ns, to_ns = recorded->to_ns;
	int r, i;

	r = watt_recording_seek(recorded->rec, from_ns);
	while (r >= 0 && !ferror(ex->out)) {
		r = watt_recording_read_samples(recorded->rec, samples, ARRAY_SIZE(samples));
		if (r <= 0)
			break;
		for (i = 0; i < r; i++)
			if (samples[i].t_after_ns >= from_ns && samples[i].t_after_ns <= to_ns)
				ex->format->sample(ex, &samples[i]);
		if (samples[r - 1].t_before_ns > to_ns + SAMPLES_APART_NS)
			break;
	}
	if (r < 0)
		message_error("cannot read the samples of %s: %s", recorded->path, strerror(-r));
	return r < 0 ? r : 0;
}

static int write_all(struct export *ex, struct recorded *recorded, const struct request *request)
{
	const struct export_format *format = ex->format;
	enum export_need need = format->need ? format->need(ex) : EXPORT_WINDOWS;
	struct export_about about;
	int r = 0;

	about_init(&about, recorded);
	ex->about = &about;
	if (need == EXPORT_WINDOWS)
		r = recorded_replay(recorded, &request->common.session);
	if (r == 0 && need == EXPORT_WINDOWS)
		about_add_domains(&about, recorded->ses);
	if (r == 0)
		r = format->begin(ex);
	if (r == 0 && need == EXPORT_WINDOWS)
		r = tell_windows(ex, recorded, request->excerpt.window_ns);
	if (r == 0 && need == EXPORT_SAMPLES)
		r = tell_samples(ex, recorded);
	if (r == 0 && format->end)
		r = format->end(ex);
	if (format->done)
		format->done(ex);
	ex->about = NULL;
	about_done(&about);
	return r;
}

static int export_recording(const struct request *request)
{
	struct export ex = { .format = request->format,
			     .what = request->what,
			     .kinds = request->kinds,
			     .with_zeros = request->with_zeros };
	struct recorded recorded;
	struct output output;
	int r;

	r = recorded_open(&recorded, request->path, &request->excerpt.from, &request->excerpt.to);
	if (r < 0)
		return r;
	r = output_open(&output, request->output, request->can_replace);
	if (r == 0) {
		ex.out = output.file;
		r = write_all(&ex, &recorded, request);
		if (r == 0)
			r = output_commit(&output);
		else if (ferror(output.file))
			message_error("cannot write %s: %s",
				      output.path ? output.path : "the output", strerror(-r));
		output_discard(&output);
	}
	recorded_close(&recorded);
	return r;
}

int cmd_export(int argc, char **argv)
{
	struct request request = { .format = &export_csv,
				   .excerpt.window_ns = 1000000000,
				   .kinds = export_kinds_in_sum(),
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
