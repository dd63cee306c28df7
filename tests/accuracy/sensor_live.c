/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session of the library's own on simulated zones: one whose reads fail, one that is not there.
 * Missing is a status and no energy; when they are back all that they counted is there, once.
 */
#include "sensor_live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/wattribute.h>

#include "../options_of.h"
#include "../guest/sim.h"

#define POWER_UW 50000000
#define ALLOWED_NJ (2 * 61035 + 2000)
#define STEP_MS 200
#define PATIENCE_MS 10000

struct live {
	struct watt_session *session;
	struct watt_snapshot *snap;
	bool is_ok;
};

static void must(int r, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "live: %s: %s\n", what, strerror(-r));
	exit(1);
}

static const struct watt_domain_state *look(struct live *live, const char *path)
{
	size_t i;

	watt_snapshot_unref(live->snap);
	must(watt_session_snapshot(live->session, &live->snap), "snapshot");
	for (i = 0; i < watt_snapshot_get_domain_count(live->snap); i++)
		if (!strcmp(watt_snapshot_get_domain(live->snap, i)->path, path))
			return watt_snapshot_get_domain_state(live->snap, i);
	must(-ENOENT, path);
	return NULL;
}

/* Until the status is this, and everything up to now has been attributed. */
static struct watt_domain_state wait_for(struct live *live, const char *path,
					 enum watt_status status)
{
	const struct watt_domain_state *state;
	unsigned int waited_ms = 0;

	do {
		must(watt_session_wait(live->session, STEP_MS), "wait");
		state = look(live, path);
		waited_ms += STEP_MS;
	} while (state->status != status && waited_ms < PATIENCE_MS);
	printf("live %-16s %-8s %12.6f J, %" PRIu64 " errors%s\n", path,
	       watt_status_name(state->status), watt_energy_to_j(state->energy), state->errors,
	       state->status == status ? "" : ": WRONG status");
	live->is_ok = live->is_ok && state->status == status;
	return *state;
}

/* All that the meter has used is there, once. */
static void check_whole(struct live *live, const char *path, const char *meter)
{
	struct watt_domain_state state = wait_for(live, path, WATT_STATUS_OK);
	int64_t off_nj = watt_energy_to_nj(state.energy) - sim_meter_nj(meter);
	bool is_whole = llabs(off_nj) <= ALLOWED_NJ && !state.resets && !state.gaps;

	printf("live %-16s off by %+.6f J, allowed %.6f J%s\n", path, (double)off_nj / 1e9,
	       ALLOWED_NJ / 1e9, is_whole ? "" : ": WRONG");
	live->is_ok = live->is_ok && is_whole;
}

/* While it can't be read nothing is made up, however much is used. */
static void check_missing(struct live *live, const char *path, enum watt_status status)
{
	struct watt_domain_state a = wait_for(live, path, status), b;

	must(watt_session_wait(live->session, STEP_MS), "wait");
	b = wait_for(live, path, status);
	if (b.errors <= a.errors || watt_energy_to_nj(b.energy) != watt_energy_to_nj(a.energy)) {
		printf("live %s: WRONG while it is missing\n", path);
		live->is_ok = false;
	}
}

static void use(const char *meter, uint32_t power_uw)
{
	sim_say("meter set %s power_uw=%" PRIu32 "\n", meter, power_uw);
}

static void measure(struct live *live)
{
	wait_for(live, "package-0/core", WATT_STATUS_OK);
	use("b", POWER_UW);
	use("e", POWER_UW);
	must(watt_session_wait(live->session, STEP_MS), "wait");
	sim_say("zone fail package-0/core errno=5\nzone hide package-1/core\n");
	check_missing(live, "package-0/core", WATT_STATUS_BROKEN);
	check_missing(live, "package-1/core", WATT_STATUS_ABSENT);
	sim_say("zone fail package-0/core errno=0\nzone show package-1/core\n");
	wait_for(live, "package-0/core", WATT_STATUS_OK);
	wait_for(live, "package-1/core", WATT_STATUS_OK);
	use("b", 0);
	use("e", 0);
	must(watt_session_wait(live->session, STEP_MS), "wait");
	must(watt_session_flush(live->session, PATIENCE_MS), "flush");
	check_whole(live, "package-0/core", "b");
	check_whole(live, "package-1/core", "e");
}

bool sensor_live_judge(const struct sensor_script *script)
{
	struct live live = { .is_ok = true };

	sensor_script_set_up(script);
	must(open_by(options_of("sources", script->sources, NULL), &live.session), "open");
	must(watt_session_start(live.session), "start");
	measure(&live);
	watt_snapshot_unref(live.snap);
	watt_session_close(live.session);
	sensor_script_tear_down(script);
	return live.is_ok;
}
