/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who uses the machine's energy just now: its total, and the processes that used the most, once a
 * second. cc processes.c $(pkg-config --cflags --libs libwattribute); ./a.out [SECONDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/wattribute.h>

#define N_SHOWN 5

static int is_shown(const struct watt_row *row, const struct watt_row *after)
{
	return watt_view_is_user(row->entity->kind) &&
	       (!after || row->window_total_nj < after->window_total_nj ||
		(row->window_total_nj == after->window_total_nj &&
		 row->entity->id > after->entity->id));
}

static int is_before(const struct watt_row *a, const struct watt_row *b)
{
	return a->window_total_nj > b->window_total_nj ||
	       (a->window_total_nj == b->window_total_nj && a->entity->id < b->entity->id);
}

/* The row that comes next, from the one that used the most downwards; NULL: there is none. */
static const struct watt_row *find_next(const struct watt_snapshot *snap,
					const struct watt_row *after)
{
	const struct watt_row *next = NULL;
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (is_shown(row, after) && (!next || is_before(row, next)))
			next = row;
	}
	return next;
}

static int tell(struct watt_session *ses)
{
	struct watt_total total = { sizeof(total) };
	const struct watt_row *row = NULL;
	struct watt_snapshot *snap;
	char power[WATT_UNITS_SIZE];
	int i, r;

	r = watt_session_snapshot(ses, &snap);
	if (r < 0)
		return r;
	watt_snapshot_get_total(snap, &total);
	printf("the machine: %s (%s, of %s) %s\n",
	       watt_units_power(power, total.power_w, watt_units_digits(total.uncertainty_ppm)),
	       total.n_known ? watt_origin_name(total.origin) : watt_status_name(total.status),
	       *total.domains ? total.domains : "nothing", total.why);
	for (i = 0; i < N_SHOWN && (row = find_next(snap, row)); i++)
		printf("  %10.6f J  %7.3f s  %s\n", (double)row->window_total_nj / 1e9,
		       (double)row->window_cpu_ns / 1e9, row->entity->name);
	watt_snapshot_unref(snap);
	return 0;
}

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 10;
	struct watt_session *ses = NULL;
	int r = watt_session_open(NULL, &ses);

	if (r == 0)
		r = watt_session_start(ses);
	while (r >= 0 && left-- > 0) {
		r = watt_session_wait(ses, 1000);
		if (r >= 0)
			r = tell(ses);
	}
	if (r < 0)
		fprintf(stderr, "not measured: %s\n", strerror(-r));
	watt_session_close(ses);
	return r < 0;
}
