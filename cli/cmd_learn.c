/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute learn`: which program takes how many watts, as it is learned: live, while a command
 * runs, of a recording, or of a profile that was kept. Writes profiles, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <wattribute/json.h>
#include <wattribute/profile.h>
#include <wattribute/units.h>

#include "child.h"
#include "command.h"
#include "events.h"
#include "latecomers.h"
#include "message.h"
#include "number.h"
#include "options.h"
#include "output.h"
#include "page.h"
#include "recording.h"
#include "status.h"
#include "table.h"
#include "xalloc.h"

#define ROWS 25
#define FLUSH_MS 3000
#define REFRESH_NS 1000000000ULL
#define FIRST_BYTES 16
#define LATE_SIZE 512

static const char help_text[] =
	"Usage: wattribute learn [OPTION...] [-- COMMAND...]\n"
	"       wattribute learn [OPTION...] FILE\n"
	"Which program takes how many watts on a busy CPU, as the key 'learned' has it:\n"
	"live, while a command runs, of a recording, or of a profile that was kept.\n\n"
	"  -o, --output=PROFILE  keep it in a file, for --prior\n"
	"  -f, --force           replace a file that is there\n"
	"      --prior=PROFILE   begin with what a file says, and go on learning\n"
	"      --seconds=N       end after this time\n"
	"  -n, --rows=N          programs of a domain; 0: all (25)\n"
	"      --json            a JSON document, as in the file\n\n" OPTIONS_POLICY_HELP
		OPTIONS_HELP "Example: wattribute learn -o host.json --seconds=60\n"
	"         wattribute stat --prior=host.json -- make\n";

struct learn {
	struct options common;
	const char *output; /* NULL: none */
	bool can_replace;
	uint64_t rows;
	uint64_t seconds;     /* 0: until it is ended */
	char *const *command; /* NULL: none */
	const char *path;     /* of a recording or profile; NULL: none */
	struct events events;
	int exit_status; /* of the command */
};

enum {
	OPT_SECONDS = OPTIONS_OWN,
};

static int take_own(void *data, int code)
{
	struct learn *learn = data;

	switch (code) {
	case 'o':
		learn->output = optarg;
		return 0;
	case 'f':
		learn->can_replace = true;
		return 0;
	case 'n':
		if (number_count(optarg, 0, 1000000, &learn->rows) < 0)
			return options_bad_value("--rows", optarg, "a number; 0 means all");
		return 0;
	default:
		if (number_count(optarg, 1, 86400 * 366, &learn->seconds) < 0)
			return options_bad_value("--seconds", optarg, "a number of seconds");
		return 0;
	}
}

/* ---- showing ---- */

/* What is known of the domain as a whole, in a line. */
static void print_head(const struct watt_profile_domain *domain, size_t n, FILE *out)
{
	char mean[WATT_UNITS_SIZE], spread[WATT_UNITS_SIZE];

	if (!(domain->mean_w > 0)) {
		fprintf(out, "%s: nothing is learned yet: idle power has to be known first\n",
			domain->path);
		return;
	}
	watt_units_power(mean, domain->mean_w, 3);
	watt_units_power(spread, domain->spread_w, 2);
	fprintf(out,
		"%s: %zu program%s from %llu slices, %s a busy CPU and +-%s from one to another\n",
		domain->path, n, n == 1 ? "" : "s", (unsigned long long)domain->n_slices, mean,
		spread);
	if (domain->key == WATT_KEY_NONE)
		fprintf(out,
			"  no program gets its energy: that they cause it is not significant\n");
	else if (domain->key == WATT_KEY_LEARNED)
		fprintf(out,
			"  divides by what is learned: watts lie %.1f times as far apart as "
			"they are unsure\n",
			domain->significance_ratio);
	else
		fprintf(out, "  divides by %s: what is learned %s\n",
			watt_share_key_name(domain->key),
			domain->readiness_ppm < 200000 ? "is not sure enough yet" :
							 "does not tell programs apart");
}

static void print_domain(const struct learn *learn, const struct watt_profile *profile, size_t d,
			 FILE *out)
{
	size_t n = watt_profile_get_program_count(profile, d), i;
	size_t shown = learn->rows && learn->rows < n ? (size_t)learn->rows : n;
	struct table *table = table_new();

	print_head(watt_profile_get_domain(profile, d), n, out);
	table_add_column(table, "WATTS", TABLE_RIGHT);
	table_add_column(table, "+-", TABLE_RIGHT);
	table_add_column(table, "CPU TIME", TABLE_RIGHT);
	table_add_column(table, "SLICES", TABLE_RIGHT);
	table_add_column(table, "PROGRAM", TABLE_CUT);
	table_add_column(table, "CGROUP", TABLE_CUT);
	for (i = 0; i < shown; i++) {
		const struct watt_profile_program *one = watt_profile_get_program(profile, d, i);
		char time[WATT_UNITS_SIZE];

		table_add(table, "%.2f", one->power_w);
		table_add(table, "%.2f", one->uncertainty_w);
		table_add(table, "%s", watt_units_time(time, one->cpu_s, 3));
		table_add(table, "%llu", (unsigned long long)one->n_slices);
		table_add(table, "%s", one->name);
		table_add(table, "%s", one->cgroup ? one->cgroup : "");
	}
	if (shown)
		table_print(table, out, isatty(fileno(out)) ? page_get_width(out, 200) : 0);
	if (shown < n)
		fprintf(out, "  and %zu more; --rows=0 shows all\n", n - shown);
	table_free(table);
}

static void print(const struct learn *learn, const struct watt_profile *profile, FILE *out)
{
	size_t d;

	for (d = 0; d < watt_profile_get_domain_count(profile); d++) {
		if (d)
			fputc('\n', out);
		print_domain(learn, profile, d, out);
	}
}

static int print_json(const struct watt_profile *profile, FILE *out)
{
	auto_free char *text = NULL;
	int r = watt_profile_to_json(profile, WATT_JSON_PRETTY, &text);

	if (r < 0)
		message_error("no JSON: %s", strerror(-r));
	else
		fprintf(out, "%s\n", text);
	return r;
}

static int keep(const struct learn *learn, const struct watt_profile *profile)
{
	struct output output;
	int r = output_open(&output, learn->output, learn->can_replace);

	if (r < 0)
		return r;
	r = print_json(profile, output.file);
	if (r == 0)
		r = output_commit(&output);
	output_discard(&output);
	return r;
}

/* The end of all ways. */
static int show(const struct learn *learn, const struct watt_profile *profile)
{
	int r = learn->output ? keep(learn, profile) : 0;

	if (r == 0 && learn->common.is_json)
		return learn->output ? 0 : print_json(profile, stdout);
	if (r == 0)
		print(learn, profile, stdout);
	return r;
}

/* Why no domain has the key 'learned', and what to do. */
static void explain(const struct watt_session *ses)
{
	const struct watt_domain *domain, *other = NULL;
	size_t i;

	for (i = 0; (domain = watt_session_get_domain(ses, i)); i++)
		if (!other && domain->origin == WATT_ORIGIN_MEASURED)
			other = domain;
	if (other)
		message_error("nothing is learned here: what is measured is divided otherwise, as "
			      "%s by '%s'; --share-key=%s=learned learns of that",
			      other->path, watt_share_key_name(other->key), other->path);
	else
		message_error("nothing is learned here: no sensor measures power, and an estimate "
			      "tells no more than CPU time; 'wattribute doctor' says what sensors "
			      "need, and --share-key=learned learns of the estimate all the same");
}

static int get_profile(struct watt_session *ses, struct watt_profile **ret)
{
	int r = watt_session_get_profile(ses, ret);

	if (r == -ENODATA)
		explain(ses);
	else if (r < 0)
		message_error("cannot tell what was learned: %s", strerror(-r));
	return r;
}

static int show_session(const struct learn *learn, struct watt_session *ses)
{
	struct watt_profile *profile;
	int r = get_profile(ses, &profile);

	if (r < 0)
		return r;
	r = show(learn, profile);
	watt_profile_free(profile);
	return r;
}

/* ---- live ---- */

/* A terminal shows how it goes, unless a command writes there, too. */
static int refresh(const struct learn *learn, struct watt_session *ses)
{
	struct watt_profile *profile;
	int r;

	if (learn->command || learn->common.is_json || !isatty(STDOUT_FILENO))
		return 0;
	r = watt_session_get_profile(ses, &profile);
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	fputs("\033[H\033[2J", stdout);
	print(learn, profile, stdout);
	fflush(stdout);
	watt_profile_free(profile);
	return 0;
}

/* Whether it is over. */
static bool take_signal(struct learn *learn, struct child *child)
{
	const struct events *ev = &learn->events;

	if (ev->signal == SIGCHLD || ev->signal == SIGWINCH || ev->signal == SIGCONT)
		return false;
	if (!learn->command)
		return true;
	if (!ev->is_from_terminal && child->pid > 0)
		kill(child->pid, ev->signal);
	return false;
}

static bool has_ended(struct learn *learn, struct child *child)
{
	struct rusage usage;
	int status;

	if (!learn->command || child_reap(child, &status, &usage) <= 0)
		return false;
	learn->exit_status = WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) :
						   WEXITSTATUS(status);
	return true;
}

static int wait_for_end(struct learn *learn, struct watt_session *ses, struct child *child)
{
	uint64_t next_ns = events_now_ns() + REFRESH_NS;
	uint64_t limit_ns = learn->seconds ? events_now_ns() + learn->seconds * 1000000000ULL :
					     EVENTS_NEVER;
	int r = 0;

	while (r == 0 && events_now_ns() < limit_ns) {
		int happened =
			events_wait(&learn->events, ses, next_ns < limit_ns ? next_ns : limit_ns);

		if (happened < 0)
			return happened;
		if ((happened & EVENTS_SIGNAL) && take_signal(learn, child))
			return 0;
		if ((happened & (EVENTS_PROCESS | EVENTS_SIGNAL)) && has_ended(learn, child))
			return 0;
		if (events_now_ns() < next_ns)
			continue;
		next_ns += REFRESH_NS;
		r = refresh(learn, ses);
	}
	return r;
}

/* 0; a positive exit status: the command can't be run; negative. */
static int start_command(struct learn *learn, struct watt_session *ses, struct child *child)
{
	int r = child_start(child, learn->command, watt_session_get_marks_address(ses));

	if (r < 0) {
		message_error("cannot start a process: %s", strerror(-r));
		return r;
	}
	learn->events.process_fd = child->pidfd;
	r = child_release(child);
	if (r == 0)
		return 0;
	message_error("cannot run '%s': %s", learn->command[0], strerror(-r));
	return r == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

/* Nobody is to wait for the end of a command to be told that nothing can be learned. */
static int check(struct watt_session *ses)
{
	struct watt_profile *profile = NULL;
	char late[LATE_SIZE];
	int r;

	if (*latecomers_list(ses, late, sizeof(late)))
		return 0;
	r = get_profile(ses, &profile);
	watt_profile_free(profile);
	return r;
}

static int measure(struct learn *learn, struct watt_session *ses)
{
	struct child child = CHILD_INIT;
	int r = check(ses);

	if (r < 0)
		return r;
	r = watt_session_start(ses);
	if (r == 0 && learn->command)
		r = start_command(learn, ses, &child);
	if (r == 0)
		r = wait_for_end(learn, ses, &child);
	learn->events.process_fd = -1;
	child_close(&child);
	if (r == 0) {
		r = watt_session_flush(ses, FLUSH_MS);
		r = r == -ETIMEDOUT || r > 0 ? 0 : r;
	}
	if (r < 0)
		message_error("cannot measure: %s", strerror(-r));
	return r == 0 ? show_session(learn, ses) : r;
}

static int run_live(struct learn *learn)
{
	struct watt_session *ses = NULL;
	int r = options_open_session(&learn->common, &ses);

	if (r < 0)
		return r;
	learn->events = (struct events)EVENTS_INIT;
	r = events_open(&learn->events);
	if (r == 0)
		r = measure(learn, ses);
	events_close(&learn->events);
	watt_session_close(ses);
	return r;
}

/* ---- files ---- */

/* A profile is JSON; everything else is for who reads recordings to judge. */
static bool is_profile(const char *path)
{
	char begin[FIRST_BYTES] = "";
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(begin, 1, sizeof(begin) - 1, file) : 0;

	if (file)
		fclose(file);
	return n && begin[strspn(begin, " \t\r\n")] == '{';
}

static int run_profile(const struct learn *learn)
{
	struct watt_profile *profile;
	int r = watt_profile_read(learn->path, message_log, NULL, &profile);

	if (r < 0)
		return r;
	r = show(learn, profile);
	watt_profile_free(profile);
	return r;
}

static int replay(struct watt_session *ses)
{
	struct watt_snapshot *snap;
	int r;

	while ((r = watt_session_next_snapshot(ses, &snap)) == 0)
		watt_snapshot_unref(snap);
	while (r >= 0)
		r = watt_session_dispatch(ses);
	return r == -ENODATA ? 0 : r;
}

static int run_recording(const struct learn *learn)
{
	const struct time_arg whole = { 0 };
	struct recording recording;
	int r = recording_open(&recording, learn->path, &whole, &whole);

	if (r < 0)
		return r;
	r = recording_open_session(&recording, learn->common.session);
	if (r == 0) {
		r = replay(recording.ses);
		if (r < 0)
			message_error("cannot replay %s: %s", learn->path, strerror(-r));
	}
	if (r == 0)
		r = show_session(learn, recording.ses);
	recording_close(&recording);
	return r;
}

static int run(struct learn *learn)
{
	if (!learn->path)
		return run_live(learn);
	return is_profile(learn->path) ? run_profile(learn) : run_recording(learn);
}

/* ---- what is asked ---- */

static int take_words(struct learn *learn, int argc, char **argv)
{
	bool is_command = optind > 0 && strcmp(argv[optind - 1], "--") == 0;

	if (optind < argc && is_command)
		learn->command = &argv[optind];
	else if (optind < argc)
		learn->path = argv[optind++];
	if (learn->command && learn->common.is_captured) {
		message_usage(OPTIONS_CAPTURED_MISTAKE);
		return -EINVAL;
	}
	if (learn->command) {
		options_apply(&learn->common);
		return 0;
	}
	return options_finish(&learn->common, argc, argv);
}

int cmd_learn(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "force", no_argument, NULL, 'f' },
		{ "rows", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, OPT_SECONDS },
		OPTIONS_POLICY_LONG,
		OPTIONS_LONG,
	};
	struct learn learn = { .rows = ROWS };
	int r;

	if (options_take(&learn.common, argc, argv, ":o:fn:" OPTIONS_SHORT, longs, take_own,
			 &learn) < 0 ||
	    take_words(&learn, argc, argv) < 0)
		return STATUS_USAGE;
	if (learn.common.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	r = run(&learn);
	if (r > 0)
		return r;
	return r < 0 ? options_status(r) : learn.exit_status;
}
