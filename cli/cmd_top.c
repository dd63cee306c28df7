/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute top`: where the watts go, live. On a terminal a full screen; into a pipe, a file or
 * a dumb terminal a plain table for each refresh; with --json a document for each.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wattribute/balance.h>
#include <wattribute/cursor.h>
#include <wattribute/json.h>
#include <wattribute/session.h>

#include "command.h"
#include "events.h"
#include "latecomers.h"
#include "message.h"
#include "number.h"
#include "options.h"
#include "outlet.h"
#include "sink_file.h"
#include "status.h"
#include "text.h"
#include "top_choice.h"
#include "top_frame.h"
#include "top_header.h"
#include "top_plain.h"
#include "top_screen.h"
#include "usage.h"
#include "xalloc.h"

#define DELAY_NS 1000000000ULL
/* A screen need not wait for sensors behind slow buses. */
#define SCREEN_OPEN_WAIT_MS 20
/* On a screen the first picture comes early: nobody likes to look at nothing. */
#define FIRST_NS 300000000ULL
/* So long a refresh waits for sensors that tell late, and is asked again so often. */
#define PATIENCE_NS 500000000ULL
#define RETRY_NS 10000000ULL
#define EMPTY_MAX 100

static const char help_text[] =
	"Usage: wattribute top [OPTION...]\n"
	"Where the watts go, live. On a terminal a full screen: press h for its keys.\n\n"
	"  -d, --delay=SEC      time between refreshes (1)\n"
	"  -n, --count=N        end after N refreshes\n"
	"  -1, --once           end after one, and print a plain table\n"
	"      --seconds=SEC    end after SEC\n"
	"  -g, --group=BY       process, tree, container, unit, user, cgroup or job\n"
	"  -s, --sort=KEY       power, energy, cpu, gpu, pid or name\n"
	"  -f, --filter=TEXT    only rows with TEXT in their name\n"
	"  -H, --threads        threads below their processes\n"
	"  -D, --domains        a column per domain\n"
	"  -p, --plain          plain tables on a terminal, too\n"
	"      --json           a JSON document per refresh, one line each\n\n" OPTIONS_POLICY_HELP
		OPTIONS_HELP;

struct top_options {
	struct options common;
	uint64_t delay_ns;
	uint64_t count;    /* 0: no end */
	uint64_t limit_ns; /* 0: no end */
	bool is_once;
	bool is_plain;
	bool has_domains;
};

enum {
	OPTION_SECONDS = OPTIONS_OWN
};

struct top {
	const struct top_options *opts;
	struct watt_session *ses;
	struct watt_cursor *cursor; /* whose windows are shown */
	struct events events;
	struct top_model model;
	struct top_screen *screen; /* NULL: plain or JSON */
	struct outlet *outlet;     /* NULL: a screen */
	FILE *out;                 /* its stream */
	struct watt_sink *sink;    /* of JSON; else NULL */
	struct sparkline history;
	struct watt_snapshot *snap; /* of the newest refresh */
	struct watt_mark mark;      /* the newest; its label is the phase */
	struct watt_view *view;     /* of it; NULL: none yet */
	uint64_t refreshes;
	uint64_t due_ns;      /* of the refresh that waits for a sensor; 0: none does */
	bool is_behind;       /* the newest one has not waited to the end */
	bool is_hasty;        /* somebody wants to see what there is */
	unsigned int n_empty; /* times that keys were announced and none came */
	bool has_domains;
	bool has_threads; /* the session counts them */
	bool is_joules;
	bool is_paused;
	bool is_done;
};

/* What its options fill in. */
struct top_own {
	struct top_options *opts;
	struct top_model *model;
};

static int take_time(const char *option, const char *text, uint64_t least_ns, uint64_t *ret_ns)
{
	uint64_t time_ns = 0;

	if (number_duration(text, 1000000000, &time_ns) < 0 || time_ns < least_ns)
		return options_bad_value(option, text,
					 "a time such as 2s or 500ms (0.1 s or more)");
	*ret_ns = time_ns;
	return 0;
}

static int take_own(void *data, int code)
{
	struct top_own *own = data;
	struct top_options *opts = own->opts;

	switch (code) {
	case 'd':
		return take_time("--delay", optarg, 100000000, &opts->delay_ns);
	case OPTION_SECONDS:
		return take_time("--seconds", optarg, 100000000, &opts->limit_ns);
	case 'n':
		if (number_count(optarg, 1, UINT32_MAX, &opts->count) < 0)
			return options_bad_value("--count", optarg, "a number from 1 on");
		return 0;
	case '1':
		opts->is_once = true;
		return 0;
	case 'g':
	case 's':
	case 'f':
		return top_choice_take(own->model, code);
	case 'H':
		own->model->has_threads = true;
		return watt_options_set_threads(opts->common.session, 1);
	case 'D':
		opts->has_domains = true;
		return 0;
	case 'p':
		opts->is_plain = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int take_options(int argc, char **argv, struct top_options *opts, struct top_model *model)
{
	static const struct option longs[] = {
		{ "delay", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'n' },
		{ "once", no_argument, NULL, '1' },
		{ "seconds", required_argument, NULL, OPTION_SECONDS },
		{ "group", required_argument, NULL, 'g' },
		{ "sort", required_argument, NULL, 's' },
		{ "filter", required_argument, NULL, 'f' },
		{ "threads", no_argument, NULL, 'H' },
		{ "domains", no_argument, NULL, 'D' },
		{ "plain", no_argument, NULL, 'p' },
		OPTIONS_POLICY_LONG,
		OPTIONS_LONG,
	};
	struct top_own own = { opts, model };
	int r;

	r = options_take(&opts->common, argc, argv, ":d:n:1g:s:f:HDp" OPTIONS_SHORT, longs,
			 take_own, &own);
	if (r < 0)
		return r;
	if (opts->is_once)
		opts->count = 1;
	return options_finish(&opts->common, argc, argv);
}

/* Whether the terminal is this job's: the kernel stops another one that changes its modes. */
static bool has_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	       tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static bool wants_screen(const struct top_options *opts)
{
	const char *term = getenv("TERM");

	return !opts->common.is_json && !opts->is_plain && !opts->is_once && has_terminal() &&
	       term && *term && strcmp(term, "dumb") != 0;
}

/* Whether the users are those of this machine. */
static bool is_live(const struct top *top)
{
	return !top->opts->common.is_elsewhere &&
	       strcmp(watt_session_get_usage_name(top->ses), "synth") != 0;
}

/* Of the machine's parts, those that have told nothing for the window. */
static void list_behind(const struct top *top, char *buf, size_t size)
{
	size_t i, n = strlen(buf);

	for (i = 0; top->is_behind && i < top->view->n_domains && n < size; i++)
		if (top->view->domains[i]->is_partition &&
		    top->view->states[i]->status == WATT_STATUS_OK &&
		    top->view->states[i]->window_ns == 0)
			n += (size_t)snprintf(buf + n, size - n, "%s%s (pending)", n ? ", " : "",
					      top->view->domains[i]->path);
}

static void draw(struct top *top)
{
	char late[96], usage[USAGE_TEXT_SIZE];
	struct top_frame frame = {
		.view = top->view,
		.model = &top->model,
		.history = &top->history,
		.usage = usage_text(top->ses, usage, sizeof(usage)),
		.late = late,
		.phase = top->mark.label,
		.has_domains = top->has_domains,
		.is_joules = top->is_joules,
		.is_live = is_live(top),
		.is_paused = top->is_paused,
	};

	if (!top->snap)
		return;
	latecomers_list(top->ses, late, sizeof(late));
	list_behind(top, late, sizeof(late));
	if (top->screen)
		top_screen_draw(top->screen, &frame);
	else
		top_plain_print(&frame, top->out);
}

static void remember_power(struct top *top)
{
	struct watt_balance balance = { .sz = sizeof(balance) };

	watt_balance_draw(top->view, &balance);
	sparkline_add(&top->history, balance.has_power ? balance.power_w : NAN);
}

/*
 * What is known of the time up to when it was due, once all sensors have told: columns of one
 * window. Who waits too long for one gets what there is, and is told whom it lacks.
 * -ETIMEDOUT: ask again.
 */
static int look(struct top *top, struct watt_snapshot **ret)
{
	uint64_t now_ns = events_now_ns();
	int r;

	if (!top->due_ns)
		top->due_ns = now_ns;
	r = watt_cursor_snapshot_at(top->cursor, top->due_ns, 0, ret);
	top->is_behind = r == -ETIMEDOUT && (top->is_hasty || now_ns - top->due_ns >= PATIENCE_NS);
	if (top->is_behind)
		r = watt_cursor_snapshot(top->cursor, ret);
	if (r == -ETIMEDOUT)
		return r;
	top->due_ns = 0;
	top->is_hasty = false;
	return r;
}

/* Takes a snapshot and shows it. -ETIMEDOUT: not yet. */
static int refresh_now(struct top *top)
{
	struct watt_snapshot *snap;
	struct watt_view *view;
	int r;

	while (watt_session_next_mark(top->ses, &top->mark) == 0)
		continue;
	r = look(top, &snap);
	if (r < 0)
		return r;
	r = watt_view_new(snap, &view);
	if (r < 0) {
		watt_snapshot_unref(snap);
		return r;
	}
	watt_view_free(top->view);
	watt_snapshot_unref(top->snap);
	top->snap = snap;
	top->view = view;
	top->refreshes++;
	if (top->opts->common.is_json)
		return sink_file_put(top->sink, top->out, snap);
	remember_power(top);
	top_model_build(&top->model, top->view);
	errno = 0;
	draw(top);
	return !top->screen && ferror(top->out) ? (errno ? -errno : -EIO) : 0;
}

/* Threads are counted on request: all is measured from now on, and with them. */
static int begin_anew(struct top *top)
{
	struct watt_cursor *cursor = NULL;
	struct watt_session *ses;
	int r;

	watt_options_set_threads(top->opts->common.session, 1);
	r = options_open_session(&top->opts->common, &ses);
	if (r < 0)
		return r;
	r = watt_cursor_open(ses, &cursor);
	if (r == 0)
		r = watt_session_start(ses);
	if (r < 0) {
		watt_cursor_close(cursor);
		watt_session_close(ses);
		return r;
	}
	watt_cursor_close(top->cursor);
	watt_session_close(top->ses);
	top->cursor = cursor;
	top->ses = ses;
	top->has_threads = true;
	top->due_ns = 0;
	top->is_hasty = true;
	return refresh_now(top);
}

static int toggle_threads(struct top *top)
{
	top->model.has_threads = !top->model.has_threads;
	if (top->model.has_threads && !top->has_threads)
		return begin_anew(top);
	if (top->snap)
		top_model_build(&top->model, top->view);
	return 0;
}

static int take_keys(struct top *top, bool *ret_refresh)
{
	int r = 0;
	enum top_action action = top_screen_take_key(top->screen, &top->model);

	/* An input that is at its end stays readable for ever. */
	top->n_empty = action == TOP_NOTHING ? top->n_empty + 1 : 0;
	if (top->n_empty > EMPTY_MAX)
		top->is_done = true;
	for (; action != TOP_NOTHING && r == 0;
	     action = top_screen_take_key(top->screen, &top->model)) {
		if (action == TOP_QUIT)
			top->is_done = true;
		else if (action == TOP_PAUSE)
			top->is_paused = !top->is_paused;
		else if (action == TOP_THREADS)
			r = toggle_threads(top);
		else if (action == TOP_DOMAINS)
			top->has_domains = !top->has_domains;
		else if (action == TOP_JOULES)
			top->is_joules = !top->is_joules;
		else if (action == TOP_REBUILD && top->snap)
			top_model_build(&top->model, top->view);
		else if (action == TOP_REFRESH)
			*ret_refresh = top->is_hasty = true;
	}
	draw(top);
	return r;
}

static void take_signal(struct top *top)
{
	switch (top->events.signal) {
	case SIGWINCH:
	case SIGCONT:
		if (!top->screen)
			break;
		top_screen_resize(top->screen);
		draw(top);
		break;
	case SIGCHLD:
	case SIGUSR1:
	case SIGUSR2:
		break;
	default:
		top->is_done = true;
	}
}

/* A reader that has gone is nobody's mistake. */
static bool is_failure(int r)
{
	return r < 0 && r != -EPIPE;
}

static int run(struct top *top)
{
	const struct top_options *opts = top->opts;
	uint64_t begin_ns = events_now_ns();
	uint64_t end_ns = opts->limit_ns ? begin_ns + opts->limit_ns : EVENTS_NEVER;
	uint64_t next_ns = begin_ns + (top->screen ? FIRST_NS : opts->delay_ns);

	while (!top->is_done) {
		bool is_due = false;
		int r = 0;
		uint64_t until_ns = top->due_ns || next_ns < end_ns ? next_ns : end_ns;
		int happened = events_wait(&top->events, top->ses, until_ns);

		if (happened < 0) {
			message_error("cannot measure: %s", strerror(-happened));
			return happened;
		}
		if (happened & EVENTS_SIGNAL)
			take_signal(top);
		if (happened & EVENTS_INPUT)
			r = take_keys(top, &is_due);
		if (happened & EVENTS_DEADLINE) {
			is_due = is_due || !top->is_paused;
			next_ns = (top->due_ns ? top->due_ns : events_now_ns()) + opts->delay_ns;
		}
		if (r == 0 && is_due && !top->is_done)
			r = refresh_now(top);
		if (r == -ETIMEDOUT) {
			next_ns = events_now_ns() + RETRY_NS;
			r = 0;
			continue;
		}
		/* The signal is still to be taken. */
		if (r < 0 && r != -EINTR) {
			if (is_failure(r) && message_get_error_count() == 0)
				message_error("cannot show the watts: %s", strerror(-r));
			return r;
		}
		if ((opts->count && top->refreshes >= opts->count) || events_now_ns() >= end_ns)
			top->is_done = true;
	}
	return 0;
}

/* What stays in the terminal when the screen is gone: the equation of the whole time. */
static void print_farewell(const struct top *top)
{
	struct watt_balance balance = { .sz = sizeof(balance) };
	char line[256];

	if (!top->snap)
		return;
	watt_balance_draw(top->view, &balance);
	puts(top_header_joules(&balance, line, sizeof(line)));
}

static int open_outlet(struct top *top)
{
	int r;

	r = outlet_open(&top->events, stdout, &top->outlet);
	if (r < 0) {
		message_error("cannot write the output: %s", strerror(-r));
		return r;
	}
	top->out = outlet_get_file(top->outlet);
	if (top->opts->common.is_json)
		r = sink_file_open("snapshot", &top->out, &top->sink);
	return r;
}

static int show(struct top *top)
{
	bool had_screen = false;
	int r;

	r = watt_session_start(top->ses);
	if (r < 0) {
		message_error("cannot measure: %s", strerror(-r));
		return r;
	}
	/* A terminal that can't be used that way gets plain tables. */
	if (wants_screen(top->opts) && top_screen_open(&top->screen) == 0) {
		top->events.input_fd = STDIN_FILENO;
		had_screen = true;
	} else {
		r = open_outlet(top);
		if (r < 0)
			return r;
	}
	r = run(top);
	top->screen = top_screen_close(top->screen);
	if (had_screen)
		print_farewell(top);
	return r;
}

/* A screen shows what there is, and what comes when it comes; a table is printed once. */
static int open_session(struct top_options *opts, struct watt_session **ret)
{
	if (wants_screen(opts))
		watt_options_set_open_wait_ms(opts->common.session, SCREEN_OPEN_WAIT_MS);
	return options_open_session(&opts->common, ret);
}

int cmd_top(int argc, char **argv)
{
	struct top_options opts = { .delay_ns = DELAY_NS };
	struct top top = { .opts = &opts, .events = EVENTS_INIT };
	int r;

	/* A terminal is no file: who looks at it may see these by ps, too. */
	options_begin(&opts.common);
	if (isatty(STDOUT_FILENO))
		watt_options_set_privacy(opts.common.session, WATT_PRIVACY_USERS);
	if (take_options(argc, argv, &opts, &top.model) < 0)
		return STATUS_USAGE;
	if (opts.common.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	top.has_domains = opts.has_domains;
	top.has_threads = top.model.has_threads;
	/* Signals are blocked before the session has threads that could take them. */
	r = events_open(&top.events);
	if (r < 0)
		message_error("cannot receive signals: %s", strerror(-r));
	else
		r = open_session(&opts, &top.ses);
	if (r == 0)
		r = watt_cursor_open(top.ses, &top.cursor);
	if (r == 0)
		r = show(&top);
	watt_sink_close(top.sink);
	outlet_close(top.outlet);
	watt_view_free(top.view);
	watt_snapshot_unref(top.snap);
	watt_cursor_close(top.cursor);
	watt_session_close(top.ses);
	top_model_done(&top.model);
	events_close(&top.events);
	return is_failure(r) ? options_status(r) : STATUS_OK;
}
