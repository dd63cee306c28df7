/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sink/json_runs.c, read with another library */
#include "unit.h"

#include <math.h>

#include <jansson.h>
#include <wattribute/json.h>
#include <wattribute/run.h>

#include "../options_of.h"

static struct watt_session *open_synth(void)
{
	struct watt_options *options = options_of("sources", "synth", "usage", "synth", NULL);
	struct watt_session *ses = NULL;

	assert_int_equal(watt_options_set_driven(options, 1), 0);
	assert_int_equal(open_by(options, &ses), 0);
	return ses;
}

#define N_DOMAINS 2
#define N_RUNS 3

static uint8_t known[N_DOMAINS] = { 1, 0 };
static int64_t used_nj[N_DOMAINS] = { 1500000001, 7 };
static struct watt_run_loss losses[N_DOMAINS] = { { .errors = 1 }, { .gap_ns = 2000000000 } };
static struct watt_run_interval interval = { .elapsed_ns = 1000000000, .energy_nj = 250000000 };
static struct watt_run_phase phase = { .label = "load \xff",
				       .count = 2,
				       .is_known = 1,
				       .elapsed_ns = 500000000,
				       .energy_nj = 1000000000,
				       .n_domains = N_DOMAINS,
				       .domain_nj = used_nj,
				       .domain_machine_nj = used_nj };
static uint8_t users[N_DOMAINS] = { WATT_STATUS_FORBIDDEN };
static char worker_name[] = "a\"b";
static struct watt_run_thread worker = { .name = worker_name, .pid = 42, .tid = 43, .energy_nj = 9 };

static struct watt_run make_run(size_t i)
{
	return (struct watt_run){ .sz = sizeof(struct watt_run),
				  .is_known = i != 2, /* of the last one only times are known */
				  .exit_status = 3,
				  .energy_nj = (int64_t)(i + 1) * 1000000000,
				  .machine_nj = 10000000000,
				  .machine_w = i == 1 ? NAN : 4,
				  .rusage_s = NAN,
				  .uncertainty_j = i == 1 ? NAN : 0.25,
				  .elapsed_ns = 2000000000,
				  .n_domains = N_DOMAINS,
				  .domain_known = known,
				  .domain_nj = used_nj,
				  .domain_machine_nj = used_nj,
				  .domain_loss = losses,
				  .domain_users = users,
				  .intervals = &interval,
				  .n_intervals = 1,
				  .phases = &phase,
				  .n_phases = i == 1,
				  .threads = &worker,
				  .n_threads = 1 };
}

static json_t *get(json_t *value, const char *key)
{
	value = json_object_get(value, key);
	if (!value)
		fail_msg("no %s", key);
	return value;
}

static void check_runs(json_t *runs)
{
	json_t *run = json_array_get(runs, 0), *domains = get(run, "domains");

	assert_int_equal(json_array_size(runs), N_RUNS);
	assert_int_equal(json_integer_value(get(run, "energy_nj")), 1000000000);
	assert_true(json_real_value(get(run, "power_w")) == 0.5);
	assert_true(json_is_null(get(run, "rusage_cpu_s")));
	/* What the machine took is of 2.5 s at 4 W, and the run took 2 s. */
	assert_true(json_real_value(get(run, "machine_window_s")) == 2.5);
	assert_true(json_is_null(get(json_array_get(runs, 1), "machine_window_s")));
	assert_true(json_is_null(get(json_array_get(runs, 2), "machine_window_s")));
	assert_true(json_real_value(get(run, "uncertainty_j")) == 0.25);
	assert_true(json_is_null(get(json_array_get(runs, 1), "uncertainty_j")));
	assert_true(json_is_null(get(json_array_get(runs, 2), "uncertainty_j")));
	assert_int_equal(json_integer_value(get(run, "exit_status")), 3);
	assert_int_equal(json_integer_value(get(json_array_get(domains, 0), "energy_nj")),
			 1500000001);
	assert_true(json_real_value(get(json_array_get(domains, 0), "energy_j")) == 1.500000001);
	assert_true(json_is_null(get(json_array_get(domains, 1), "energy_nj")));
	assert_string_equal(json_string_value(get(json_array_get(domains, 1), "status")),
			    "no data");
	assert_true(json_real_value(get(json_array_get(domains, 1), "gap_s")) == 2);
	assert_string_equal(json_string_value(get(json_array_get(domains, 0), "users_status")),
			    "forbidden");
	assert_string_equal(json_string_value(get(json_array_get(domains, 1), "users_status")),
			    "ok");
	assert_string_equal(json_string_value(get(json_array_get(get(run, "threads"), 0), "name")),
			    "a\"b");
	assert_true(json_is_null(get(json_array_get(runs, 2), "energy_nj")));
	assert_true(json_is_null(get(json_array_get(runs, 2), "power_w")));
}

/* Of what is known: two energies, three times, and one phase in one run. */
static void check_summary(json_t *summary)
{
	json_t *label = json_array_get(get(summary, "phases"), 0);

	assert_true(json_real_value(get(summary, "energy_mean_j")) == 1.5);
	assert_true(json_real_value(get(summary, "elapsed_mean_s")) == 2);
	assert_int_equal(json_array_size(get(summary, "phases")), 1);
	assert_string_equal(json_string_value(get(label, "label")), "load \xef\xbf\xbd");
	assert_int_equal(json_integer_value(get(label, "runs")), 1);
	assert_true(json_real_value(get(label, "power_mean_w")) == 2);
	assert_true(json_real_value(get(label, "elapsed_mean_s")) == 0.5);
	assert_true(json_is_null(get(label, "energy_stddev_j")));
}

static void test_document(void **state)
{
	static const char *const argv[] = { "make", "-j", NULL };
	struct watt_balance balance = { .sz = sizeof(balance), .keys = "cpu_time" };
	struct watt_quality quality = { .checks = 5 };
	struct watt_run run[N_RUNS] = { make_run(0), make_run(1), make_run(2) };
	const struct watt_run *runs[N_RUNS] = { &run[0], &run[1], &run[2] };
	struct watt_runs all = { .sz = sizeof(all),
				 .ses = open_synth(),
				 .argv = argv,
				 .has_threads = 1,
				 .balance = &balance,
				 .quality = &quality,
				 .runs = runs,
				 .n_runs = N_RUNS };
	char *text = NULL;
	json_t *doc;

	assert_int_equal(watt_runs_to_json(&all, 0, &text), 0);
	doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(doc);
	assert_string_equal(json_string_value(get(doc, "schema")), "wattribute-stat-1");
	assert_int_equal(json_array_size(get(doc, "command")), 2);
	assert_true(json_is_null(get(doc, "pid")));
	assert_true(json_is_null(get(doc, "origin")));
	check_runs(get(doc, "runs"));
	check_summary(get(doc, "summary"));
	assert_int_equal(json_integer_value(get(get(doc, "quality"), "checks")), 5);
	json_decref(doc);
	free(text);
	all.sz = 8;
	assert_int_equal(watt_runs_to_json(&all, 0, &text), -EINVAL);
	all.sz = sizeof(all);
	run[1].sz = 0;
	assert_int_equal(watt_runs_to_json(&all, 0, &text), -EINVAL);
	assert_int_equal(watt_runs_to_json(NULL, 0, &text), -EINVAL);
	watt_session_close((struct watt_session *)all.ses);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_document) };

	return cmocka_run_group_tests_name("json_runs", tests, NULL, NULL);
}
