/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two readers of one session, each at its own pace: one follows this process, the other one the
 * machine. Neither moves the other's windows. cc readers.c $(pkg-config --cflags --libs libwattribute)
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <wattribute/wattribute.h>

static const struct watt_row *find_self(const struct watt_snapshot *snap)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (row->entity->kind == WATT_ENTITY_PROCESS && row->entity->identity &&
		    row->entity->identity->pid == (uint32_t)getpid())
			return row;
	}
	return NULL;
}

static int tell_self(struct watt_cursor *cursor)
{
	struct watt_snapshot *snap;
	const struct watt_row *row;
	int r = watt_cursor_snapshot(cursor, &snap);

	if (r < 0)
		return r;
	row = find_self(snap);
	if (row)
		printf("  we: %.6f J, %.3f s of CPU since the last look\n",
		       (double)row->window_total_nj / 1e9, (double)row->window_cpu_ns / 1e9);
	watt_snapshot_unref(snap);
	return 0;
}

static int tell_machine(struct watt_cursor *cursor)
{
	struct watt_snapshot *snap;
	size_t i;
	int r = watt_cursor_snapshot(cursor, &snap);

	if (r < 0)
		return r;
	for (i = 0; i < watt_snapshot_get_domain_count(snap); i++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, i);

		printf("%s: %.6f J in %.3f s (%s)\n", watt_snapshot_get_domain(snap, i)->path,
		       (double)s->window_nj / 1e9, (double)s->window_ns / 1e9,
		       watt_status_name(s->status));
	}
	watt_snapshot_unref(snap);
	return 0;
}

static int run(struct watt_session *ses, struct watt_cursor *self, struct watt_cursor *machine)
{
	int round, r = watt_session_start(ses);

	for (round = 1; round <= 6 && r >= 0; round++) {
		r = watt_session_wait(ses, 100);
		if (r >= 0)
			r = tell_self(self);
		if (r >= 0 && round % 3 == 0)
			r = tell_machine(machine);
	}
	return r;
}

int main(void)
{
	struct watt_cursor *self = NULL, *machine = NULL;
	struct watt_session *ses = NULL;
	int r;

	r = watt_session_open(NULL, &ses);
	if (r == 0)
		r = watt_cursor_open(ses, &self);
	if (r == 0)
		r = watt_cursor_open(ses, &machine);
	if (r == 0)
		r = run(ses, self, machine);
	if (r < 0)
		fprintf(stderr, "not measured: %s\n", strerror(-r));
	watt_cursor_close(self);
	watt_cursor_close(machine);
	watt_session_close(ses);
	return r < 0;
}
