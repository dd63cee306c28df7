/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording holds, a second of its time after the other: the same calls as on a machine
 * that is measured now. cc replay.c $(pkg-config --cflags --libs libwattribute); ./a.out run.watt
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <wattribute/wattribute.h>

/* Of the time since the snapshot before; *whole becomes the total since the beginning. */
static int tell(struct watt_session *ses, struct watt_total *whole)
{
	struct watt_snapshot *snap;
	int r = watt_session_snapshot(ses, &snap);

	if (r < 0)
		return r;
	whole->sz = sizeof(*whole);
	watt_snapshot_get_total(snap, whole);
	printf("%8.3f s  %12.6f J  %s\n",
	       (double)(watt_snapshot_get_time_ns(snap) - watt_snapshot_get_start_ns(snap)) / 1e9,
	       (double)whole->window_nj / 1e9, whole->why);
	watt_snapshot_unref(snap);
	return 0;
}

static int replay(struct watt_session *ses)
{
	struct watt_total whole = { sizeof(whole) };
	int r = watt_session_start(ses), told;

	do {
		if (r == 0)
			r = watt_session_wait(ses, 1000);
		if (r < 0 && r != -ENODATA)
			return r;
		told = tell(ses, &whole); /* what was before the end, too */
	} while (r == 0 && told == 0);
	if (told == 0)
		printf("all together: %.6f J of %s\n", watt_energy_to_j(whole.energy),
		       *whole.domains ? whole.domains : "nothing");
	return told;
}

int main(int argc, char **argv)
{
	struct watt_session *ses = NULL;
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: %s RECORDING\n", argv[0]);
		return 2;
	}
	r = watt_session_open_recording(argv[1], NULL, &ses);
	if (r == 0)
		r = replay(ses);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
	watt_session_close(ses);
	return r < 0;
}
