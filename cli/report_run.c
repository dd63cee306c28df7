/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a recording, and computes what a report shows of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "report.h"
#include "xalloc.h"

/* Entities of a kind that are kept apart: more than anybody reads, and few enough for a page. */
#define ENTITIES 500

static void copy_losses(struct report_run *run)
{
	size_t i;

	run->n_losses = watt_recording_get_loss_count(run->recording.rec);
	run->losses = xcalloc(run->n_losses, sizeof(*run->losses));
	for (i = 0; i < run->n_losses; i++) {
		const struct watt_recording_loss *loss =
			watt_recording_get_loss(run->recording.rec, i);

		run->losses[i] = (struct report_loss){ .t0_ns = loss->t0_ns,
						       .t1_ns = loss->t1_ns,
						       .samples = loss->samples,
						       .usage_records = loss->usage_records,
						       .why = loss->why };
	}
}

/*
 * Who used the most is known at the end. Where he was not kept apart from the beginning, because
 * others had used more until then, it is read once more.
 */
static int read_series(struct report_run *run, const struct report_request *request)
{
	struct watt_windows_opts plan = recording_plan(&run->recording, request->excerpt.window_ns);
	struct watt_series *first;
	int r;

	r = watt_series_read(run->recording.ses, &plan, ENTITIES, &run->series);
	if (r < 0 || watt_series_get_info(run->series)->n_misplaced == 0)
		return r;
	first = run->series;
	run->series = NULL;
	recording_rewind(&run->recording);
	r = recording_replay(&run->recording, request->options);
	plan = recording_plan(&run->recording, request->excerpt.window_ns);
	if (r == 0)
		r = watt_series_read_again(run->recording.ses, &plan, first, &run->series);
	watt_series_free(first);
	return r;
}

int report_load(struct report_run *run, const char *path, const struct report_request *request)
{
	int r;

	*run = (struct report_run){ .path = path };
	r = recording_open(&run->recording, path, &request->excerpt.from, &request->excerpt.to);
	if (r < 0)
		return r;
	run->info = run->recording.info;
	run->marks = run->recording.marks;
	run->n_marks = run->recording.n_marks;
	copy_losses(run);
	r = recording_replay(&run->recording, request->options);
	if (r < 0)
		return r;
	r = read_series(run, request);
	if (r == -EOVERFLOW)
		message_error("%s has more energy than 9.2e9 J, as much as one report can have: "
			      "this is the part before; give others by --from and --to",
			      path);
	else if (r < 0)
		message_error("%s can be read up to here only: %s", path, strerror(-r));
	/* What was read before is worth to be shown. */
	if (!run->series || (r < 0 && watt_series_get_info(run->series)->n_windows == 0))
		return r;
	r = report_run_finish(run);
	if (r < 0)
		message_error("cannot report on %s: %s", path, strerror(-r));
	return r;
}

/* Of the domains at the end; rows are not needed for what is shown of it. */
static void draw_balance(struct report_run *run)
{
	size_t n = watt_series_get_info(run->series)->n_domains, i;
	auto_free const struct watt_domain **domains = xcalloc(n, sizeof(*domains));
	auto_free const struct watt_domain_state **states = xcalloc(n, sizeof(*states));
	const struct watt_view view = { .domains = domains, .states = states, .n_domains = n };

	for (i = 0; i < n; i++) {
		domains[i] = watt_series_get_domain(run->series, i);
		states[i] = watt_series_get_state(run->series, i);
	}
	watt_balance_draw(&view, &run->balance);
}

/* Of the whole recording, as far as a supply told of it. */
static void look_outside(struct report_run *run)
{
	const struct watt_phase *whole = watt_phases_get_whole(run->phases);
	size_t n = watt_series_get_info(run->series)->n_domains, i;
	auto_free const struct watt_domain **domains = xcalloc(n, sizeof(*domains));
	auto_free const struct watt_domain_state **states = xcalloc(n, sizeof(*states));
	auto_free struct watt_domain_state *list = xcalloc(n, sizeof(*list));
	const struct watt_view view = {
		.sz = sizeof(view), .domains = domains, .states = states, .n_domains = n
	};

	for (i = 0; i < n; i++) {
		list[i] = *watt_series_get_state(run->series, i);
		list[i].window_ns = (uint64_t)whole->domains[i].known_ns;
		list[i].window_nj = whole->domains[i].energy_nj;
		if (list[i].window_ns)
			list[i].status = WATT_STATUS_OK; /* whatever it was at the end */
		domains[i] = watt_series_get_domain(run->series, i);
		states[i] = &list[i];
	}
	watt_balance_look_outside(&view, whole->power_w, &run->balance);
}

int report_run_finish(struct report_run *run)
{
	int r;

	run->balance = (struct watt_balance){ .sz = sizeof(run->balance) };
	if (watt_series_get_info(run->series)->n_windows)
		draw_balance(run);
	r = watt_phases_find(run->series, run->marks, run->n_marks, &run->phases);
	if (r == 0 && run->balance.is_known)
		look_outside(run);
	return r;
}

void report_run_done(struct report_run *run)
{
	run->phases = watt_phases_free(run->phases);
	run->series = watt_series_free(run->series);
	free(run->losses);
	run->losses = NULL;
	run->n_losses = 0;
	recording_close(&run->recording);
}

double report_time_s(const struct report_run *run, uint64_t t_ns)
{
	return ((double)t_ns - (double)watt_series_get_info(run->series)->start_ns) / 1e9;
}
