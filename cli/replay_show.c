/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of a recording for people and for programs. It computes nothing. */
#include "replay_show.h"

#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <wattribute/balance.h>
#include <wattribute/units.h>

#include "message.h"
#include "options.h"
#include "page.h"
#include "sink_file.h"
#include "text.h"
#include "top_frame.h"
#include "top_plain.h"
#include "usage.h"
#include "xalloc.h"

/* Command lines can be endless. */
#define WIDTH_PIPE 160

static double since_s(const struct recording *recording, uint64_t t_ns)
{
	return (double)(int64_t)(t_ns - recording->info->start_ns) / 1e9;
}

void replay_show_begin(struct replay_show *show, const struct recording *recording)
{
	const struct watt_recording_info *info = recording->info;
	time_t start_s = (time_t)(info->start_realtime_ns / 1000000000);
	char clean[256], when[64] = "", length[WATT_UNITS_SIZE];
	struct tm tm;

	if (show->is_json)
		return;
	if (localtime_r(&start_s, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %Z", &tm);
	printf("%s: %s from %s", text_clean(clean, sizeof(clean), recording->path),
	       watt_units_time(length, since_s(recording, info->end_ns), 4), when);
	if (*info->host)
		printf(", on %s", text_clean(clean, sizeof(clean), info->host));
	if (*info->command)
		printf(", '%s'", text_clean(clean, sizeof(clean), info->command));
	if (info->part > 1)
		printf(", part %u", info->part);
	putchar('\n');
}

/* ---- one window ---- */

int replay_show_snapshot(struct replay_show *show, struct watt_snapshot *snap)
{
	int r = 0;

	if (!show->sink)
		r = sink_file_open("snapshot", &stdout, &show->sink);
	return r < 0 ? r : sink_file_put(show->sink, stdout, snap);
}

static void show_table(struct replay_show *show, const struct recording *recording,
		       const struct watt_window *window, const struct watt_view *view)
{
	char usage[USAGE_TEXT_SIZE];
	const char *phase = watt_snapshot_get_phase(window->snap);
	struct top_frame frame = {
		.view = view,
		.model = &show->model,
		.usage = usage_text(recording->ses, usage, sizeof(usage)),
		.has_domains = show->has_domains,
	};
	char clean[256];

	printf("from %.3f s to %.3f s", since_s(recording, window->t0_ns),
	       since_s(recording, window->t1_ns));
	if (phase)
		printf(", phase '%s'", text_clean(clean, sizeof(clean), phase));
	printf("\n\n");
	top_model_build(&show->model, view);
	top_plain_print(&frame, stdout);
}

static void add_power(struct table *table, double power_w, bool is_known, int digits)
{
	char number[WATT_UNITS_SIZE];

	table_add(table, "%s", is_known ? watt_units_number(number, power_w, digits, 3) : "?");
}

/* Who used most, of those that are somebody. */
static void add_most(struct table *table, const struct top_model *model, int digits)
{
	char number[WATT_UNITS_SIZE];
	size_t i;

	for (i = 0; i < model->n_rows; i++) {
		const struct top_row *row = &model->rows[i];

		if (row->kind == WATT_ENTITY_IDLE || row->kind == WATT_ENTITY_UNATTRIBUTED ||
		    isnan(row->power_w) || row->power_w <= 0)
			continue;
		table_add(table, "%s %s", watt_units_power(number, row->power_w, digits),
			  row->name);
		return;
	}
	table_add(table, "%s", "");
}

static struct table *new_lines(void)
{
	static const char *const titles[] = { "FROM s",     "TO s", "W",
					      "ATTRIBUTED", "IDLE", "UNATTRIBUTED" };
	struct table *table = table_new();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(titles); i++)
		table_add_column(table, titles[i], TABLE_RIGHT);
	table_add_column(table, "PHASE", TABLE_CUT);
	table_add_column(table, "MOST", TABLE_CUT);
	return table;
}

static void add_line(struct replay_show *show, const struct recording *recording,
		     const struct watt_window *window, const struct watt_view *view)
{
	const char *phase = watt_snapshot_get_phase(window->snap);
	struct watt_balance balance = { .sz = sizeof(balance) };
	int digits;

	if (!show->lines)
		show->lines = new_lines();
	watt_balance_draw(view, &balance);
	top_model_build(&show->model, view);
	digits = watt_units_digits(balance.uncertainty_ppm);
	table_add(show->lines, "%.3f", since_s(recording, window->t0_ns));
	table_add(show->lines, "%.3f", since_s(recording, window->t1_ns));
	add_power(show->lines, balance.power_w, balance.has_power, digits);
	add_power(show->lines, balance.attributed_w, balance.has_power, digits);
	add_power(show->lines, balance.idle_w, balance.has_power && balance.is_baseline_ready,
		  digits);
	add_power(show->lines, balance.unattributed_w, balance.has_power, digits);
	table_add(show->lines, "%s", phase ? phase : "");
	add_most(show->lines, &show->model, digits);
}

int replay_show_window(struct replay_show *show, const struct recording *recording,
		       const struct watt_window *window)
{
	struct watt_view *view;
	int r;

	if (show->is_json)
		return replay_show_snapshot(show, window->snap);
	r = watt_view_new(window->snap, &view);
	if (r < 0)
		return r;
	errno = 0;
	if (show->is_table)
		show_table(show, recording, window, view);
	else
		add_line(show, recording, window, view);
	watt_view_free(view);
	return ferror(stdout) ? (errno ? -errno : -EIO) : 0;
}

/* ---- the end ---- */

static void tell_losses(const struct recording *recording)
{
	const struct watt_recording_info *info = recording->info;
	size_t i, n = watt_recording_get_loss_count(recording->rec);
	char number[WATT_UNITS_SIZE];

	for (i = 0; i < n; i++) {
		const struct watt_recording_loss *loss = watt_recording_get_loss(recording->rec, i);

		message_note("from %.3f s to %.3f s something is missing: %s",
			     since_s(recording, loss->t0_ns), since_s(recording, loss->t1_ns),
			     loss->why);
	}
	if (info->lost_ns)
		message_note("the recording has nothing of %s in all",
			     watt_units_time(number, (double)info->lost_ns / 1e9, 3));
	if (!info->is_complete)
		message_note("the recording was not finished: up to its last second is missing");
}

void replay_show_end(struct replay_show *show, const struct recording *recording)
{
	if (show->lines)
		table_print(show->lines, stdout,
			    isatty(STDOUT_FILENO) ? page_get_width(stdout, 1000) : WIDTH_PIPE);
	fflush(stdout);
	tell_losses(recording);
}

void replay_show_done(struct replay_show *show)
{
	if (show->lines)
		table_free(show->lines);
	watt_sink_close(show->sink);
	top_model_done(&show->model);
}

/* Labels that are named to whoever asked for another. */
#define KNOWN_MAX 50

static int compare(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void keep(void *label)
{
}

void replay_show_complain_phase(const struct recording *recording, const char *label)
{
	auto_free char *known = xstrdup("");
	char clean[WATT_MARK_SIZE];
	void *labels = NULL; /* a tree of them */
	size_t n = 0, i;

	for (i = 0; i < recording->n_marks; i++) {
		const char *mark = recording->marks[i].label;
		const char **known_mark;
		char *more;

		if (!*mark)
			continue;
		known_mark = tsearch(mark, &labels, compare);
		if (!known_mark || *known_mark != mark || n++ >= KNOWN_MAX)
			continue;
		text_clean(clean, sizeof(clean), recording->marks[i].label);
		more = xasprintf("%s%s%s", known, *known ? ", " : "", clean);
		free(known);
		known = more;
	}
	if (n > KNOWN_MAX)
		message_error("no phase there is called '%s'; there are %zu: %s, ...", label, n,
			      known);
	else if (*known)
		message_error("no phase there is called '%s'; there are: %s", label, known);
	else
		message_error("no phase there is called '%s': nobody marked any", label);
	tdestroy(labels, keep);
}
