/* SPDX-License-Identifier: Apache-2.0 */
/* lib/view/total.c: what the machine took, and what of it is not known. */
#include "unit.h"

#include <math.h>

#include <wattribute/wattribute.h>

#include "../options_of.h"
#include "view/total.h"

#define S 1000000000ULL

static const struct watt_domain_state told = {
	.status = WATT_STATUS_OK,
	.energy = { .j = 100, .nj = 7 },
	.window_nj = 30 * (int64_t)S,
	.window_ns = 2 * S,
	.idle = { .j = 40 },
	.window_idle_nj = 10 * (int64_t)S,
	.unattributed = { .j = 1 },
	.window_unattributed_nj = 1 * (int64_t)S,
	.shared_idle = { .j = 2 },
	.window_shared_idle_nj = 2 * (int64_t)S,
	.baseline_ready = 1,
	.baseline_uw = 5000000,
	.key = WATT_KEY_CPU_TIME,
};

static struct watt_domain domain_named(const char *path, uint32_t uncertainty_ppm)
{
	return (struct watt_domain){ .path = path,
				     .kind = WATT_DOMAIN_PACKAGE,
				     .origin = WATT_ORIGIN_MEASURED,
				     .is_summed = 1,
				     .is_partition = 1,
				     .uncertainty_ppm = uncertainty_ppm };
}

static void test_adds_up(void **state)
{
	struct watt_domain a = domain_named("package-0", 20000), b = domain_named("dram-0", 50000);
	struct watt_domain inside = domain_named("package-0/core", 900000);
	struct watt_total total;

	inside.is_partition = 0;
	b.origin = WATT_ORIGIN_ESTIMATED;
	watt_total_init(&total);
	assert_int_equal(total.status, WATT_STATUS_ABSENT);
	assert_true(isnan(total.power_w));
	watt_total_add(&total, &a, &told);
	watt_total_add(&total, &inside, &told);
	watt_total_add(&total, &b, &told);
	assert_int_equal(total.status, WATT_STATUS_OK);
	assert_int_equal(total.origin, WATT_ORIGIN_ESTIMATED);
	assert_int_equal(total.uncertainty_ppm, 50000);
	assert_int_equal(total.n_domains, 2);
	assert_int_equal(total.n_known, 2);
	assert_int_equal(total.n_powers, 2);
	assert_int_equal(total.n_missing, 0);
	assert_int_equal(watt_energy_to_nj(total.energy), 200 * (int64_t)S + 14);
	assert_int_equal(total.energy.j, 200);
	assert_int_equal(total.idle.j, 80);
	assert_int_equal(total.unattributed.j, 2);
	assert_int_equal(total.shared_idle.j, 4);
	assert_int_equal(total.window_nj, 60 * (int64_t)S);
	assert_int_equal(total.window_idle_nj, 20 * (int64_t)S);
	assert_int_equal(total.window_unattributed_nj, 2 * (int64_t)S);
	assert_int_equal(total.window_shared_idle_nj, 4 * (int64_t)S);
	assert_true(total.power_w == 30 && total.idle_w == 10 && total.unattributed_w == 1);
	assert_true(total.baseline_w == 10);
	assert_int_equal(total.has_baseline, 1);
	assert_int_equal(total.is_baseline_ready, 1);
	assert_string_equal(total.domains, "package-0, dram-0");
	assert_string_equal(total.missing, "");
	assert_string_equal(total.why, "");
}

static void test_says_what_is_missing(void **state)
{
	struct watt_domain a = domain_named("package-0", 0), b = domain_named("package-1", 0);
	struct watt_domain c = domain_named("package-2", 0);
	struct watt_domain_state forbidden = { .status = WATT_STATUS_FORBIDDEN };
	struct watt_domain_state pending = { .status = WATT_STATUS_PENDING };
	struct watt_domain_state learning = told;
	struct watt_total total;

	learning.baseline_ready = 0;
	watt_total_init(&total);
	watt_total_add(&total, &a, &learning);
	watt_total_add(&total, &b, &forbidden);
	watt_total_add(&total, &c, &pending);
	assert_int_equal(total.status, WATT_STATUS_FORBIDDEN);
	assert_int_equal(total.n_domains, 3);
	assert_int_equal(total.n_known, 1);
	assert_int_equal(total.n_missing, 1);
	assert_int_equal(total.is_baseline_ready, 0);
	assert_string_equal(total.domains, "package-0");
	assert_string_equal(total.missing, "package-1");
	assert_string_equal(total.why, "incomplete: no energy of package-1 is known");
	watt_total_add(&total, &a, &told);
	assert_int_equal(total.is_baseline_ready, 0);

	watt_total_init(&total);
	watt_total_add(&total, &c, &pending);
	assert_int_equal(total.status, WATT_STATUS_PENDING);
	assert_int_equal(total.n_missing, 0);
	watt_total_add(&total, &a, &told);
	assert_int_equal(total.status, WATT_STATUS_PENDING);
}

/* A whole that counts less than its parts, as states made up with windows of their own. */
static void test_draw(void **state)
{
	struct watt_domain psys = domain_named("psys", 0), package = domain_named("package-0", 0);
	struct watt_domain rest = domain_named("psys/residual", 0);
	struct watt_domain_state less = told, nothing = told;
	const struct watt_domain *domains[] = { &psys, &package, &rest };
	const struct watt_domain_state *states[] = { &less, &told, &nothing };
	struct watt_view view = {
		.sz = sizeof(view), .domains = domains, .states = states, .n_domains = 3
	};
	struct watt_total total = { .sz = sizeof(total) };

	psys.is_partition = package.is_summed = rest.is_summed = 0;
	less.window_nj /= 2;
	nothing.energy = (struct watt_energy){ 0 };
	nothing.window_nj = nothing.window_idle_nj = nothing.window_unattributed_nj = 0;
	nothing.window_ns = 10 * S;
	assert_int_equal(watt_total_draw(NULL, &total), -EINVAL);
	assert_int_equal(watt_total_draw(&view, &total), 0);
	assert_int_equal(total.n_domains, 2);
	assert_true(total.power_w == 15);
	assert_int_equal(total.energy.j, 100);
	total.sz = 0;
	assert_int_equal(watt_total_draw(&view, &total), -EINVAL);
}

/* Names that don't fit are cut between two of them, and it is said. */
static void test_many(void **state)
{
	struct watt_domain_state broken = { .status = WATT_STATUS_BROKEN };
	struct watt_total total;
	char path[32];
	int i;

	watt_total_init(&total);
	for (i = 0; i < 1000; i++) {
		struct watt_domain domain = domain_named(path, 0);

		snprintf(path, sizeof(path), "package-%d", i);
		watt_total_add(&total, &domain, i % 2 ? &told : &broken);
	}
	assert_int_equal(total.n_missing, 500);
	assert_int_equal(total.n_known, 500);
	assert_string_equal(total.missing + strlen(total.missing) - 5, ", ...");
	assert_null(strstr(total.missing, "..., "));
	assert_string_equal(total.domains + strlen(total.domains) - 5, ", ...");
	assert_non_null(strstr(total.why, ", ... is known"));
}

/* The same as what the domains say, by one call; and what a balance says. */
static void test_of_snapshot(void **state)
{
	struct watt_balance balance = { .sz = sizeof(balance) };
	struct watt_total total = { .sz = sizeof(total) }, old;
	struct watt_energy sum = { 0 };
	struct watt_session *ses = NULL;
	struct watt_snapshot *snap;
	struct watt_view *view;
	size_t i;

	assert_int_equal(
		open_by(options_of("sources", "synth", "usage", "synth", "slice", "10ms", NULL),
			&ses),
		0);
	assert_int_equal(watt_session_start(ses), 0);
	assert_true(watt_session_flush(ses, 30000) >= 0);
	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	assert_int_equal(watt_snapshot_get_total(NULL, &total), -EINVAL);
	memset(&old, 0xff, sizeof(old));
	old.sz = 0;
	assert_int_equal(watt_snapshot_get_total(snap, &old), -EINVAL);
	old.sz = offsetof(struct watt_total, energy);
	assert_int_equal(watt_snapshot_get_total(snap, &old), 0);
	assert_int_equal(old.window_nj, -1);
	assert_int_equal(watt_snapshot_get_total(snap, &total), 0);
	assert_int_equal(old.status, total.status);
	for (i = 0; i < watt_snapshot_get_domain_count(snap); i++)
		if (watt_snapshot_get_domain(snap, i)->is_partition)
			sum = watt_energy_add(sum, watt_snapshot_get_domain_state(snap, i)->energy);
	assert_int_equal(watt_energy_compare(total.energy, sum), 0);
	assert_int_equal(total.origin, WATT_ORIGIN_SIMULATED);
	assert_int_equal(watt_view_new(snap, &view), 0);
	assert_int_equal(watt_balance_draw(view, &balance), 0);
	assert_int_equal(watt_energy_compare(total.energy, balance.energy), 0);
	assert_int_equal(watt_energy_compare(total.idle, balance.idle), 0);
	watt_view_free(view);
	watt_snapshot_unref(snap);
	watt_session_close(ses);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adds_up),     cmocka_unit_test(test_says_what_is_missing),
		cmocka_unit_test(test_draw),        cmocka_unit_test(test_many),
		cmocka_unit_test(test_of_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
