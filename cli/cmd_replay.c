/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute replay`: a recording attributed again. Without options, what the live run said; with
 * them, another part, other windows, or another way to attribute the same readings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/recording.h>

#include "command.h"
#include "excerpt.h"
#include "message.h"
#include "number.h"
#include "options.h"
#include "recording.h"
#include "replay_show.h"
#include "status.h"
#include "text.h"
#include "top_choice.h"

static const char help_text[] =
	"Usage: wattribute replay [OPTION...] FILE\n"
	"Attributes a recording again, as the live run did or otherwise.\n\n"
	"      --from=TIME      begin there: 90s or 1m30s after the beginning, or of the\n"
	"                       clock, 13:45:00 or 2026-11-21T13:45:00Z\n"
	"      --to=TIME        end there\n"
	"      --phase=LABEL    only phases of this name, each for itself\n"
	"      --window=TIME    a line for each window of this length, not one table\n"
	"  -g, --group=BY       process, tree, container, unit, user, cgroup or job\n"
	"  -s, --sort=KEY       power, energy, cpu, pid or name\n"
	"  -f, --filter=TEXT    only rows with TEXT in their name\n"
	"  -H, --threads        threads below their processes\n"
	"  -D, --domains        a column per domain\n"
	"      --json           JSON documents, one line each; without a part or windows\n"
	"                       the very lines of the live run\n"
	"  -v, --verbose        say more\n"
	"  -h, --help           this text\n\n" OPTIONS_POLICY_HELP
	"\nExample: wattribute replay --phase=solve --idle-policy=proportional run.watt\n";

struct replay_options {
	struct options common;
	struct replay_show show;
	struct excerpt excerpt;
	const char *phase; /* NULL: all */
	const char *path;
};

enum {
	OPTION_PHASE = OPTIONS_OWN,
};

/* ---- options ---- */

static int take_own(void *data, int code)
{
	struct replay_options *opts = data;

	switch (code) {
	case OPTION_PHASE:
		if (!*optarg)
			return options_bad_value("--phase", optarg, "the label of a mark");
		opts->phase = optarg;
		return 0;
	case 'g':
	case 's':
	case 'f':
		return top_choice_take(&opts->show.model, code);
	case 'H':
		opts->show.model.has_threads = true;
		return watt_options_set_threads(opts->common.session, 1);
	case 'D':
		opts->show.has_domains = true;
		return 0;
	default:
		return excerpt_take(&opts->excerpt, code);
	}
}

static int take_options(int argc, char **argv, struct replay_options *opts)
{
	static const struct option longs[] = {
		EXCERPT_LONG,
		{ "phase", required_argument, NULL, OPTION_PHASE },
		{ "group", required_argument, NULL, 'g' },
		{ "sort", required_argument, NULL, 's' },
		{ "filter", required_argument, NULL, 'f' },
		{ "threads", no_argument, NULL, 'H' },
		{ "domains", no_argument, NULL, 'D' },
		OPTIONS_POLICY_LONG,
		{ "json", no_argument, NULL, OPTIONS_JSON },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int r;

	r = options_take(&opts->common, argc, argv, ":g:s:f:HD" OPTIONS_SHORT, longs, take_own,
			 opts);
	if (r < 0)
		return r;
	opts->show.is_json = opts->common.is_json;
	opts->show.is_table = opts->excerpt.window_ns == 0;
	if (opts->common.is_help)
		return 0;
	return options_take_recording(&opts->common, argc, argv, &opts->path);
}

/* ---- parts ---- */

/* A part of the recording, and the mark that began it. */
struct part {
	uint64_t t0_ns;
	uint64_t t1_ns;
	size_t mark; /* WATT_NO_MARK: none */
};

/* The next phase of the label, from a mark on, that lies, some of it, in what was asked for. False: no
 * more. */
static bool find_phase(const struct recording *recording, const char *label, size_t from,
		       struct part *ret)
{
	size_t i;

	for (i = from; i < recording->n_marks; i++) {
		struct part part = { .t0_ns = recording->marks[i].t_ns,
				     .t1_ns = i + 1 < recording->n_marks ?
						      recording->marks[i + 1].t_ns :
						      recording->info->end_ns,
				     .mark = i };

		if (part.t0_ns < recording->from_ns)
			part.t0_ns = recording->from_ns;
		if (part.t1_ns > recording->to_ns)
			part.t1_ns = recording->to_ns;
		if (strcmp(recording->marks[i].label, label) || part.t0_ns >= part.t1_ns)
			continue;
		*ret = part;
		return true;
	}
	return false;
}

static int show_part(const struct replay_options *opts, struct replay_show *show,
		     struct recording *recording, const struct part *part)
{
	struct watt_windows_opts plan = { .sz = sizeof(plan),
					  .start_ns = part->t0_ns,
					  .end_ns = part->t1_ns,
					  .window_ns = opts->excerpt.window_ns };
	struct watt_windows *windows;
	struct watt_window window;
	int r;

	r = recording_go_to(recording, part->t0_ns);
	if (r < 0)
		return r;
	plan.cursor = recording->cursor;
	if (plan.window_ns && plan.window_ns < recording->info->slice_ns)
		plan.window_ns = recording->info->slice_ns; /* nothing is finer */
	if (!plan.window_ns) {
		plan.window_ns = part->t1_ns - part->t0_ns;
	} else {
		plan.marks = recording->marks;
		plan.n_marks = recording->n_marks;
	}
	r = watt_windows_open(recording->ses, &plan, &windows);
	if (r < 0)
		return r;
	while ((r = watt_windows_next(windows, &window)) == 0) {
		if (window.t1_ns > window.t0_ns)
			r = replay_show_window(show, recording, &window);
		watt_snapshot_unref(window.snap);
		if (r < 0)
			break;
	}
	watt_windows_close(windows);
	return r < 0 ? r : 0;
}

static int show_phases(const struct replay_options *opts, struct replay_show *show,
		       struct recording *recording)
{
	struct part part;
	size_t from = 0;
	int r = 0;

	while (r == 0 && find_phase(recording, opts->phase, from, &part)) {
		r = show_part(opts, show, recording, &part);
		from = part.mark + 1;
	}
	return r;
}

static int show_parts(const struct replay_options *opts, struct replay_show *show,
		      struct recording *recording)
{
	const struct part whole = { recording->from_ns, recording->to_ns, WATT_NO_MARK };

	return opts->phase ? show_phases(opts, show, recording) :
			     show_part(opts, show, recording, &whole);
}

/* ---- the run ---- */

/* What the live run said. */
static int show_own(struct replay_show *show, struct recording *recording)
{
	struct watt_snapshot *snap;
	uint64_t n = 0;
	int r;

	while ((r = watt_session_next_snapshot(recording->ses, &snap)) == 0) {
		r = replay_show_snapshot(show, snap);
		watt_snapshot_unref(snap);
		if (r < 0)
			return r;
		n++;
	}
	if (r >= 0 && n == 0)
		message_note("%s has no snapshots of the live run; --window makes some",
			     recording->path);
	return r < 0 ? r : 0;
}

static bool is_as_live(const struct replay_options *opts)
{
	return opts->common.is_json && !opts->excerpt.window_ns && !opts->phase &&
	       opts->excerpt.from.kind == TIME_ARG_NONE && opts->excerpt.to.kind == TIME_ARG_NONE;
}

static int replay(struct replay_options *opts)
{
	struct replay_show *show = &opts->show;
	unsigned int errors = message_get_error_count();
	struct recording recording;
	struct part first;
	int r;

	r = recording_open(&recording, opts->path, &opts->excerpt.from, &opts->excerpt.to);
	if (r < 0)
		return r;
	if (opts->phase && !find_phase(&recording, opts->phase, 0, &first)) {
		replay_show_complain_phase(&recording, opts->phase);
		r = -ENODATA;
	}
	if (r == 0)
		r = recording_open_session(&recording, opts->common.session);
	if (r == 0) {
		replay_show_begin(show, &recording);
		r = is_as_live(opts) ? show_own(show, &recording) :
				       show_parts(opts, show, &recording);
		replay_show_end(show, &recording);
	}
	if (r < 0 && r != -EPIPE && message_get_error_count() == errors)
		message_error("cannot replay %s: %s", opts->path, strerror(-r));
	recording_close(&recording);
	return r;
}

int cmd_replay(int argc, char **argv)
{
	struct replay_options opts = { 0 };
	int r;

	if (take_options(argc, argv, &opts) < 0)
		return STATUS_USAGE;
	if (opts.common.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	r = replay(&opts);
	replay_show_done(&opts.show);
	return r < 0 && r != -EPIPE ? options_status(r) : STATUS_OK;
}
