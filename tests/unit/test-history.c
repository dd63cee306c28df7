/* SPDX-License-Identifier: Apache-2.0 */
/* agent/history.c, on a simulated machine. */
#include "unit.h"

#include <math.h>

#include <wattribute/session.h>

#include "../options_of.h"
#include "history.h"

/* Snapshots of a session as long as a step takes are slow to come by: the step is moved instead. */
static void test_ring(void **state)
{
	static struct history history;
	struct watt_session *session;
	struct watt_snapshot *snap;
	size_t i, n_domains;

	assert_int_equal(open_by(options_of("sources", "synth", "usage", "synth", NULL), &session),
			 0);
	assert_int_equal(watt_session_start(session), 0);
	assert_int_equal(watt_session_snapshot(session, &snap), 0);
	n_domains = watt_snapshot_get_domain_count(snap);
	assert_null(history_get(&history, 0));
	history_add(&history, snap);
	assert_null(history_get(&history, 0));
	for (i = 0; i < HISTORY_POINTS + 5; i++) {
		history.begin_ns = watt_snapshot_get_time_ns(snap) - HISTORY_STEP_NS;
		history.energy_nj[0] = (int64_t)i * 1000;
		history.known_ns[0] = 1000;
		history.known_ns[1] = 0;
		history_add(&history, snap);
	}
	assert_int_equal(history.n, HISTORY_POINTS);
	assert_null(history_get(&history, HISTORY_POINTS));
	for (i = 0; i < HISTORY_POINTS; i++) {
		const struct history_point *point = history_get(&history, i);

		assert_int_equal(point->n_domains, n_domains);
		assert_true(point->power_w[0] >= 0);
		/* The oldest have gone, and the order stayed. */
		if (!watt_snapshot_get_domain_state(snap, 0)->window_ns)
			assert_true(point->power_w[0] == (float)(i + 5));
	}
	if (!watt_snapshot_get_domain_state(snap, 1)->window_ns)
		assert_true(isnan(history_get(&history, 0)->power_w[1]));
	watt_snapshot_unref(snap);
	watt_session_close(session);
	history_done(&history);
	assert_null(history_get(&history, 0));
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_ring) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
