/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the interface promises of small calls that others build on, by the shared object and the
 * public headers alone: names, one snapshot of the simulated machine, and one recording of it.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>
#include <wattribute/wattribute.h>

#include "../options_of.h"

#define SECOND 1000000000ULL

/* ---- names ---- */

#define NAMES(type, function, n) \
	static const char *name_of_##type(int value) \
	{ \
		return function((enum type)value); \
	} \
	static const int n_##type = n;

NAMES(watt_availability, watt_availability_name, WATT_BROKEN + 1)
NAMES(watt_source_role, watt_source_role_name, WATT_ROLE_ACTIVITY + 1)
NAMES(watt_domain_kind, watt_domain_kind_name, WATT_DOMAIN_RESIDUAL + 1)
NAMES(watt_entity_kind, watt_entity_kind_name, WATT_ENTITY_JOB + 1)
NAMES(watt_baseline_from, watt_baseline_from_name, WATT_BASELINE_GIVEN + 1)
NAMES(watt_idle_policy, watt_idle_policy_name, WATT_IDLE_REQUESTS + 1)
NAMES(watt_quantity, watt_quantity_name, WATT_QUANTITY_LIMIT + 1)
NAMES(watt_semantics, watt_semantics_name, WATT_SEMANTICS_AVERAGE + 1)
NAMES(watt_tier, watt_tier_name, WATT_TIER_SLOW + 1)

/* Each value has a name of its own, and one that is none has one, too: never NULL. */
static void check_names(const char *(*name_of)(int value), int n)
{
	int i, k;

	for (i = 0; i < n; i++) {
		assert_non_null(name_of(i));
		assert_true(*name_of(i));
		for (k = 0; k < i; k++)
			assert_string_not_equal(name_of(i), name_of(k));
	}
	assert_non_null(name_of(-1));
	assert_non_null(name_of(n + 1000));
}

static void test_names(void **state)
{
	check_names(name_of_watt_availability, n_watt_availability);
	check_names(name_of_watt_source_role, n_watt_source_role);
	check_names(name_of_watt_domain_kind, n_watt_domain_kind);
	check_names(name_of_watt_entity_kind, n_watt_entity_kind);
	check_names(name_of_watt_baseline_from, n_watt_baseline_from);
	check_names(name_of_watt_idle_policy, n_watt_idle_policy);
	check_names(name_of_watt_quantity, n_watt_quantity);
	check_names(name_of_watt_semantics, n_watt_semantics);
	check_names(name_of_watt_tier, n_watt_tier);
	assert_string_equal(watt_domain_kind_name(WATT_DOMAIN_PACKAGE), "package");
	assert_string_equal(watt_entity_kind_name(WATT_ENTITY_POD), "pod");
	assert_string_equal(watt_idle_policy_name(WATT_IDLE_PROPORTIONAL), "proportional");
	assert_string_equal(watt_tier_name(WATT_TIER_MEDIUM), "medium");
	(void)state;
}

static void test_quantities(void **state)
{
	int i;

	assert_string_equal(watt_quantity_unit(WATT_QUANTITY_ENERGY), "J");
	assert_string_equal(watt_quantity_unit(WATT_QUANTITY_POWER), "W");
	assert_string_equal(watt_quantity_unit(WATT_QUANTITY_TEMPERATURE), "C");
	assert_string_equal(watt_quantity_unit(WATT_QUANTITY_FREQUENCY), "Hz");
	assert_string_equal(watt_quantity_unit(WATT_QUANTITY_SPEED), "rpm");
	assert_non_null(watt_quantity_unit((enum watt_quantity)1000));
	for (i = WATT_QUANTITY_ENERGY; i <= WATT_QUANTITY_LIMIT; i++)
		assert_int_equal(watt_quantity_is_context((enum watt_quantity)i),
				 i != WATT_QUANTITY_ENERGY && i != WATT_QUANTITY_POWER);
	(void)state;
}

/* ---- one snapshot ---- */

static struct watt_session *open_synth(void)
{
	struct watt_options *options =
		options_of("sources", "synth", "usage", "synth", "slice", "20ms", NULL);
	struct watt_session *ses;

	assert_int_equal(watt_options_set_threads(options, 1), 0);
	assert_int_equal(watt_options_set_threads(NULL, 1), -EINVAL);
	assert_int_equal(open_by(options, &ses), 0);
	return ses;
}

/* What there was in some slices. */
static struct watt_snapshot *look(struct watt_session *ses)
{
	struct watt_snapshot *snap;

	assert_int_equal(watt_session_wait(ses, 200), 0);
	assert_true(watt_session_flush(ses, 30000) >= 0);
	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	return snap;
}

/* What a view makes of a domain is what its state says. */
static void check_domain(const struct watt_domain *domain,
			 const struct watt_domain_state *domain_state)
{
	struct watt_domain_state none = { .sz = sizeof(none), .status = WATT_STATUS_FORBIDDEN };

	assert_int_equal(watt_view_has_energy(domain_state), 1);
	assert_int_equal(watt_view_has_energy(&none), 0);
	assert_true(domain_state->window_ns > 0);
	assert_true(fabs(watt_view_power_w(domain_state, domain_state->window_nj) -
			 (double)domain_state->window_nj / (double)domain_state->window_ns) < 1e-9);
	assert_true(isnan(watt_view_power_w(&none, 0)));
	assert_int_equal(watt_domain_is_missing(domain, domain_state), 0);
	assert_int_equal(watt_domain_is_missing(domain, &none), domain->is_partition);
}

/* A card that has a part, and the graphics of a CPU whose users' time on it is known. */
static void check_gpus(void)
{
	const struct watt_domain package = { .kind = WATT_DOMAIN_PACKAGE, .parent = -1 };
	const struct watt_domain graphics = { .kind = WATT_DOMAIN_UNCORE,
					      .key = WATT_KEY_GPU_TIME,
					      .parent = 0 };
	const struct watt_domain uncore = { .kind = WATT_DOMAIN_UNCORE, .parent = 0 };
	const struct watt_domain card = { .kind = WATT_DOMAIN_GPU, .parent = -1 };
	const struct watt_domain part = { .kind = WATT_DOMAIN_GPU_INSTANCE, .parent = 3 };
	const struct watt_domain *domains[] = { &package, &graphics, &uncore, &card, &part };
	static const int is_gpu[] = { 0, 1, 0, 1, 1 }, is_whole[] = { 0, 1, 0, 1, 0 };
	const struct watt_view view = { .sz = sizeof(view), .domains = domains, .n_domains = 5 };
	size_t i;

	for (i = 0; i < view.n_domains; i++) {
		assert_int_equal(watt_view_is_gpu(domains[i]), is_gpu[i]);
		assert_int_equal(watt_view_is_whole_gpu(&view, i), is_whole[i]);
	}
}

/* Of what is divided, kernel threads and interrupts are the kernel's. */
static void check_kinds(void)
{
	assert_int_equal(watt_view_is_kernel(WATT_ENTITY_KTHREAD), 1);
	assert_int_equal(watt_view_is_kernel(WATT_ENTITY_IRQ), 1);
	assert_int_equal(watt_view_is_kernel(WATT_ENTITY_SOFTIRQ), 1);
	assert_int_equal(watt_view_is_kernel(WATT_ENTITY_PROCESS), 0);
	assert_int_equal(watt_view_is_kernel(WATT_ENTITY_KERNEL), 0);
}

static void test_snapshot(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_snapshot *snap;
	struct watt_view *view;
	size_t i, n_threads = 0;

	assert_int_equal(watt_session_start(ses), 0);
	snap = look(ses);
	assert_ptr_equal(watt_snapshot_ref(snap), snap);
	assert_null(watt_snapshot_unref(snap));
	assert_int_equal(watt_view_new(snap, &view), 0); /* there is one owner left */
	for (i = 0; i < view->n_domains; i++)
		check_domain(view->domains[i], view->states[i]);
	for (i = 0; i < view->n_rows; i++) {
		n_threads += view->rows[i]->entity->kind == WATT_ENTITY_THREAD;
		/* by CPU time alone, nobody knows how wrong a share is */
		if (view->rows[i]->window_total_nj)
			assert_false(watt_view_uncertainty_w(view, view->rows[i]) > 0);
	}
	assert_true(n_threads > 0);
	check_kinds();
	check_gpus();
	watt_view_free(view);
	watt_snapshot_unref(snap);
	watt_session_close(ses);
	(void)state;
}

static void test_session(void **state)
{
	struct watt_session *ses = open_synth();
	enum watt_status users = WATT_STATUS_BROKEN;
	char *text = NULL;
	uint32_t ppm = 7;

	assert_int_equal(watt_session_get_efficiency(ses, 0, &ppm), -ENOENT);
	assert_int_equal(watt_session_get_efficiency(ses, 100000, &ppm), -EINVAL);
	assert_int_equal(ppm, 7);
	assert_int_equal(watt_session_get_users_status(ses, 0, &users), 0);
	assert_int_equal(users, WATT_STATUS_OK); /* the time of CPUs */
	assert_int_equal(watt_session_get_users_status(ses, 100000, &users), -EINVAL);
	assert_int_equal(watt_session_get_users_status(ses, 0, NULL), -EINVAL);
	assert_string_equal(watt_session_get_usage_why(ses), ""); /* it was chosen */
	assert_int_equal(watt_sources_to_json(ses, 0, &text), 0);
	assert_non_null(strstr(text, "\"wattribute-sources-1\""));
	assert_null(strchr(text, '\n'));
	free(text);
	assert_int_equal(watt_sources_to_json(ses, WATT_JSON_PRETTY, &text), 0);
	assert_non_null(strchr(text, '\n'));
	free(text);
	watt_session_close(ses);
	(void)state;
}

static void tell_nobody(const struct watt_gpu_sensor *sensor, void *data)
{
	(void)sensor, (void)data;
}

/* What it finds, test-gpu holds, with a driver of its own. */
static void test_calibration(void **state)
{
	struct watt_options *options = options_of("nvml-lib", "/nowhere.so", NULL);

	assert_int_equal(watt_gpu_calibrate(options, NULL, 0, NULL, NULL), -EINVAL);
	assert_int_equal(watt_gpu_calibrate(options, NULL, SECOND, tell_nobody, NULL), -EINVAL);
	assert_true(watt_gpu_calibrate(options, NULL, 2 * SECOND, tell_nobody, NULL) < 0);
	watt_options_free(options);
	(void)state;
}

/* ---- one recording ---- */

static char folder[] = "/tmp/watt-public-XXXXXX";
static char path[64];

static int record(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_mark mark = { 0 };
	struct watt_snapshot *snap;
	int r;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/run.watt", folder);
	r = watt_session_record(ses, path, NULL);
	if (r == -EOPNOTSUPP) {
		path[0] = '\0';
	} else {
		assert_int_equal(r, 0);
		assert_int_equal(watt_session_start(ses), 0);
		strcpy(mark.label, "load");
		watt_snapshot_unref(look(ses));
		mark.t_ns = watt_session_get_time_ns(ses);
		assert_int_equal(watt_mark_send(watt_session_get_marks_address(ses), &mark), 0);
		snap = look(ses);
		watt_snapshot_unref(snap);
	}
	watt_session_close(ses);
	return 0;
}

static int forget(void **state)
{
	(void)state;
	if (path[0])
		unlink(path);
	return rmdir(folder);
}

static void test_recording(void **state)
{
	const struct watt_recording_info *info;
	struct watt_recording *rec;
	char *part;

	if (!path[0])
		skip();
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	info = watt_recording_get_info(rec);
	assert_int_equal(watt_recording_get_realtime_ns(rec, info->start_ns),
			 info->start_realtime_ns);
	assert_int_equal(watt_recording_get_realtime_ns(rec, info->start_ns + SECOND),
			 info->start_realtime_ns + SECOND);
	assert_int_equal(watt_recording_find_ns(rec, info->start_realtime_ns + 5),
			 info->start_ns + 5);
	watt_recording_close(rec);
	part = watt_recording_part_path("a/run.watt", 1);
	assert_string_equal(part, "a/run.watt");
	free(part);
	part = watt_recording_part_path("a/run.watt", 3);
	assert_string_equal(part, "a/run-3.watt");
	free(part);
	(void)state;
}

static struct watt_session *replay(void)
{
	struct watt_session *ses;

	assert_int_equal(watt_session_open_recording(path, NULL, &ses), 0);
	assert_int_equal(watt_session_start(ses), 0);
	return ses;
}

/* Totals, states and quality are those of the windows; the same again is the same. */
static void check_series(const struct watt_series *series, const struct watt_series *again)
{
	const struct watt_series_info *info = watt_series_get_info(series);
	size_t d, w;

	assert_int_equal(watt_series_get_info(again)->n_windows, info->n_windows);
	for (d = 0; d < info->n_domains; d++) {
		int64_t sum_nj = 0;

		for (w = 0; w < info->n_windows; w++)
			sum_nj += watt_series_get_window(series, w)->domains[d].energy_nj;
		assert_int_equal(watt_series_get_total(series, d)->energy_nj, sum_nj);
		assert_int_equal(watt_series_get_total(again, d)->energy_nj, sum_nj);
		assert_int_equal(watt_series_get_state(series, d)->status, WATT_STATUS_OK);
	}
	assert_null(watt_series_get_total(series, info->n_domains));
	assert_null(watt_series_get_state(series, info->n_domains));
	assert_int_equal(watt_series_get_quality(series)->check_failures, 0);
	assert_true(watt_series_get_quality(series)->checks > 0);
}

/* Phases of one label are one; and of two recordings of few programs, none is left out. */
static void check_phases(const struct watt_series *series, const struct watt_series *again,
			 const struct watt_recording *rec)
{
	const struct watt_mark *mark = watt_recording_get_mark(rec, 0);
	struct watt_phases *phases, *phases_again;
	struct watt_comparison *comparison;
	size_t i, n = 0;

	assert_non_null(mark);
	assert_int_equal(watt_phases_find(series, mark, 1, &phases), 0);
	for (i = 0; watt_phases_get_label(phases, i); i++)
		n += !strcmp(watt_phases_get_label(phases, i)->label, "load");
	assert_int_equal(n, 1);
	assert_int_equal(watt_phases_find(again, mark, 1, &phases_again), 0);
	assert_int_equal(watt_comparison_build(series, phases, again, phases_again, &comparison),
			 0);
	assert_int_equal(watt_comparison_get_left_out(comparison), 0);
	watt_comparison_free(comparison);
	watt_phases_free(phases_again);
	watt_phases_free(phases);
}

static void check_entities(const struct watt_series *series)
{
	size_t i, n = watt_series_get_info(series)->n_entities;
	char *name;

	assert_true(n > 0);
	for (i = 0; i < n; i++) {
		const struct watt_series_entity *entity = watt_series_get_entity(series, i);

		assert_int_equal(watt_ranking_name(entity, &name), 0);
		assert_true(*name);
		assert_non_null(watt_ranking_short_name(entity));
		free(name);
	}
}

static void test_series(void **state)
{
	struct watt_windows_opts opts = { .sz = sizeof(opts), .window_ns = SECOND / 10 };
	struct watt_session *ses, *again_ses;
	struct watt_series *series, *again;
	struct watt_recording *rec;

	if (!path[0])
		skip();
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	opts.start_ns = watt_recording_get_info(rec)->start_ns;
	opts.end_ns = watt_recording_get_info(rec)->end_ns;
	ses = replay();
	assert_int_equal(watt_series_read(ses, &opts, 0, &series), 0);
	again_ses = replay();
	assert_int_equal(watt_series_read_again(again_ses, &opts, series, &again), 0);
	check_series(series, again);
	check_phases(series, again, rec);
	check_entities(series);
	watt_series_free(again);
	watt_series_free(series);
	watt_session_close(again_ses);
	watt_session_close(ses);
	watt_recording_close(rec);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),       cmocka_unit_test(test_quantities),
		cmocka_unit_test(test_snapshot),    cmocka_unit_test(test_session),
		cmocka_unit_test(test_calibration), cmocka_unit_test(test_recording),
		cmocka_unit_test(test_series),
	};

	return cmocka_run_group_tests_name("public", tests, record, forget);
}
