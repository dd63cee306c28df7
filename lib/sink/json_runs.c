/* SPDX-License-Identifier: Apache-2.0 */
/* Measured runs as JSON, by docs/schema/wattribute-stat-1.json. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/json.h>
#include <wattribute/run.h>
#include <wattribute/statistics.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "base/util.h"
#include "sink/json_value.h"

static void put_command(struct watt_json *json, const char *const *argv)
{
	struct watt_json_node array;

	if (!argv) {
		watt_json_null(json, json->root, "command");
		return;
	}
	array = watt_json_array(json, json->root, "command");
	for (; *argv; argv++)
		watt_json_append_text(json, array, *argv);
}

/* ---- a run ---- */

static void put_domain(struct watt_json *json, struct watt_json_node obj,
		       const struct watt_run *run, const struct watt_domain *domain, size_t i)
{
	const struct watt_run_loss *loss = &run->domain_loss[i];
	bool is_known = run->domain_known[i];

	watt_json_text(json, obj, "path", domain->path);
	watt_json_bool(json, obj, "is_partition", domain->is_partition);
	watt_json_text(json, obj, "origin", watt_origin_name(domain->origin));
	watt_json_text(json, obj, "status",
		       watt_status_name(is_known ? WATT_STATUS_OK : WATT_STATUS_NODATA));
	watt_json_text(json, obj, "users_status",
		       watt_status_name((enum watt_status)run->domain_users[i]));
	watt_json_known_energy(json, obj, "energy", is_known, run->domain_nj[i]);
	watt_json_known_energy(json, obj, "machine_energy", is_known, run->domain_machine_nj[i]);
	watt_json_uint(json, obj, "errors", loss->errors);
	watt_json_uint(json, obj, "resets", loss->resets);
	watt_json_time(json, obj, "gap_s", loss->gap_ns);
	watt_json_uint(json, obj, "ambiguous", loss->ambiguous);
}

static void put_interval(struct watt_json *json, struct watt_json_node obj,
			 const struct watt_run_interval *interval)
{
	watt_json_time(json, obj, "t_s", interval->end_ns);
	watt_json_time(json, obj, "elapsed_s", interval->elapsed_ns);
	watt_json_known_energy(json, obj, "energy", true, interval->energy_nj);
	watt_json_real(json, obj, "power_w", watt_run_interval_get(interval, WATT_RUN_POWER_W));
	watt_json_known_energy(json, obj, "machine_energy", true, interval->machine_nj);
	watt_json_time(json, obj, "cpu_s", interval->cpu_ns);
}

/* The machine's energy is that of whole slices: up to one more than the run. */
static double machine_window_s(const struct watt_run *run)
{
	return run->is_known && run->machine_w > 0 ?
		       (double)run->machine_nj / 1e9 / run->machine_w :
		       NAN;
}

static void put_label(struct watt_json *json, struct watt_json_node obj, const char *label)
{
	watt_json_text(json, obj, "label", *label ? label : NULL);
}

static void put_phase(struct watt_json *json, struct watt_json_node obj,
		      const struct watt_runs *runs, const struct watt_run *run,
		      const struct watt_run_phase *phase)
{
	bool is_known = phase->is_known;
	struct watt_json_node list, item;
	size_t i;

	put_label(json, obj, phase->label);
	watt_json_uint(json, obj, "count", phase->count);
	watt_json_time(json, obj, "elapsed_s", phase->elapsed_ns);
	watt_json_known_energy(json, obj, "energy", is_known, phase->energy_nj);
	watt_json_known_energy(json, obj, "machine_energy", is_known, phase->machine_nj);
	watt_json_real(json, obj, "power_w", watt_run_phase_get(phase, WATT_RUN_POWER_W));
	watt_json_real(json, obj, "machine_power_w", watt_run_phase_get(phase, WATT_RUN_MACHINE_W));
	watt_json_time(json, obj, "cpu_s", phase->cpu_ns);
	list = watt_json_array(json, obj, "domains");
	for (i = 0; i < phase->n_domains; i++) {
		const struct watt_domain *domain = watt_session_get_domain(runs->ses, i);

		item = watt_json_append(json, list);
		watt_json_text(json, item, "path", domain->path);
		watt_json_bool(json, item, "is_partition", domain->is_partition);
		watt_json_known_energy(json, item, "energy", run->domain_known[i],
				       phase->domain_nj[i]);
		watt_json_known_energy(json, item, "machine_energy", run->domain_known[i],
				       phase->domain_machine_nj[i]);
	}
}

static void put_thread(struct watt_json *json, struct watt_json_node obj,
		       const struct watt_run *run, const struct watt_run_thread *thread)
{
	watt_json_text(json, obj, "name", thread->name);
	watt_json_id(json, obj, "pid", thread->pid, 0);
	watt_json_id(json, obj, "tid", thread->tid, 0);
	watt_json_id(json, obj, "count", thread->count, 0);
	watt_json_known_energy(json, obj, "energy", run->is_known, thread->energy_nj);
	watt_json_time(json, obj, "cpu_s", thread->cpu_ns);
}

static void put_lists(struct watt_json *json, struct watt_json_node obj,
		      const struct watt_runs *runs, const struct watt_run *run)
{
	struct watt_json_node list;
	size_t i;

	list = watt_json_array(json, obj, "domains");
	for (i = 0; i < run->n_domains; i++)
		put_domain(json, watt_json_append(json, list), run,
			   watt_session_get_domain(runs->ses, i), i);
	list = watt_json_array(json, obj, "intervals");
	for (i = 0; i < run->n_intervals; i++)
		put_interval(json, watt_json_append(json, list), &run->intervals[i]);
	list = watt_json_array(json, obj, "phases");
	for (i = 0; i < run->n_phases; i++)
		put_phase(json, watt_json_append(json, list), runs, run, &run->phases[i]);
	if (!runs->has_threads)
		return;
	list = watt_json_array(json, obj, "threads");
	for (i = 0; i < run->n_threads; i++)
		put_thread(json, watt_json_append(json, list), run, &run->threads[i]);
}

static void put_run(struct watt_json *json, struct watt_json_node obj, const struct watt_runs *runs,
		    const struct watt_run *run)
{
	bool is_known = run->is_known;

	watt_json_text(json, obj, "status",
		       watt_status_name(is_known ? WATT_STATUS_OK : WATT_STATUS_PENDING));
	watt_json_known_energy(json, obj, "energy", is_known, run->energy_nj);
	watt_json_real(json, obj, "uncertainty_j",
		       is_known && run->uncertainty_j > 0 ? run->uncertainty_j : NAN);
	watt_json_known_energy(json, obj, "machine_energy", is_known, run->machine_nj);
	watt_json_known_energy(json, obj, "idle", is_known, run->idle_nj);
	watt_json_known_energy(json, obj, "unattributed", is_known, run->unattributed_nj);
	watt_json_known_energy(json, obj, "shared_idle", is_known, run->shared_idle_nj);
	watt_json_real(json, obj, "power_w", watt_run_get(run, WATT_RUN_POWER_W));
	watt_json_real(json, obj, "machine_power_w", watt_run_get(run, WATT_RUN_MACHINE_W));
	watt_json_real(json, obj, "machine_window_s", machine_window_s(run));
	watt_json_real(json, obj, "outside_power_w", run->outside_w > 0 ? run->outside_w : NAN);
	watt_json_time(json, obj, "cpu_s", run->cpu_ns);
	watt_json_real(json, obj, "rusage_cpu_s", run->rusage_s);
	watt_json_time(json, obj, "elapsed_s", run->elapsed_ns);
	if (runs->argv)
		watt_json_int(json, obj, "exit_status", run->exit_status);
	else
		watt_json_null(json, obj, "exit_status");
	watt_json_bool(json, obj, "is_left_out", run->is_left_out);
	put_lists(json, obj, runs, run);
}

/* ---- all of them ---- */

/* What is summed up over the runs. */
static const struct {
	enum watt_run_measure measure;
	const char *name, *unit;
} measures[] = {
	{ WATT_RUN_ENERGY_J, "energy", "j" },   { WATT_RUN_MACHINE_J, "machine_energy", "j" },
	{ WATT_RUN_POWER_W, "power", "w" },     { WATT_RUN_CPU_S, "cpu", "s" },
	{ WATT_RUN_ELAPSED_S, "elapsed", "s" },
};
#define N_MEASURES WATT_ARRAY_SIZE(measures)

static void fill_unknown(double *values, size_t n_runs, size_t i)
{
	size_t k;

	for (k = 0; k < N_MEASURES; k++)
		values[k * n_runs + i] = NAN;
}

static void put_statistics(struct watt_json *json, struct watt_json_node obj, const double *values,
			   size_t n_runs)
{
	char key[64];
	size_t i;

	for (i = 0; i < N_MEASURES; i++) {
		struct watt_statistics s = watt_statistics_of(values + i * n_runs, n_runs);

		snprintf(key, sizeof(key), "%s_mean_%s", measures[i].name, measures[i].unit);
		watt_json_real(json, obj, key, s.mean);
		snprintf(key, sizeof(key), "%s_stddev_%s", measures[i].name, measures[i].unit);
		watt_json_real(json, obj, key, s.sd);
		snprintf(key, sizeof(key), "%s_ci95_%s", measures[i].name, measures[i].unit);
		watt_json_real(json, obj, key, s.ci95);
	}
}

/* One phase over the runs that had it. */
static void put_phase_summary(struct watt_json *json, struct watt_json_node obj,
			      const struct watt_runs *runs, const struct watt_run_phases *phases,
			      size_t label, double *values)
{
	size_t i, k, n = 0;

	for (i = 0; i < runs->n_runs; i++) {
		const struct watt_run_phase *phase = watt_run_phases_get(phases, label, i);

		if (!phase || runs->runs[i]->is_left_out) {
			fill_unknown(values, runs->n_runs, i);
			continue;
		}
		for (k = 0; k < N_MEASURES; k++)
			values[k * runs->n_runs + i] =
				watt_run_phase_get(phase, measures[k].measure);
		n++;
	}
	put_label(json, obj, watt_run_phases_get_label(phases, label));
	watt_json_uint(json, obj, "runs", n);
	put_statistics(json, obj, values, runs->n_runs);
}

static int put_phases(struct watt_json *json, struct watt_json_node list,
		      const struct watt_runs *runs, double *values)
{
	struct watt_run_phases *phases;
	size_t i;
	int r = watt_run_phases_new(runs->runs, runs->n_runs, &phases);

	if (r < 0)
		return r;
	for (i = 0; watt_run_phases_get_label(phases, i); i++)
		put_phase_summary(json, watt_json_append(json, list), runs, phases, i, values);
	watt_run_phases_free(phases);
	return 0;
}

static int put_summary(struct watt_json *json, const struct watt_runs *runs)
{
	_cleanup_free_ double *values = calloc(runs->n_runs * N_MEASURES + 1, sizeof(double));
	struct watt_json_node obj = watt_json_object(json, json->root, "summary"), list;
	size_t i, k, n_left_out = 0;

	if (!values)
		return -ENOMEM;
	for (i = 0; i < runs->n_runs; i++) {
		const struct watt_run *run = runs->runs[i];

		if (run->is_left_out) {
			n_left_out++;
			fill_unknown(values, runs->n_runs, i);
			continue;
		}
		for (k = 0; k < N_MEASURES; k++)
			values[k * runs->n_runs + i] = watt_run_get(run, measures[k].measure);
	}
	watt_json_uint(json, obj, "runs", runs->n_runs - n_left_out);
	watt_json_uint(json, obj, "left_out", n_left_out);
	put_statistics(json, obj, values, runs->n_runs);
	list = watt_json_array(json, obj, "phases");
	return put_phases(json, list, runs, values);
}

static void put_sources(struct watt_json *json, const struct watt_session *ses)
{
	struct watt_json_node list = watt_json_array(json, json->root, "sources"), item;
	enum watt_status status;
	const char *name;
	size_t i;

	for (i = 0; (name = watt_session_get_source(ses, i, &status)); i++) {
		item = watt_json_append(json, list);
		watt_json_text(json, item, "name", name);
		watt_json_text(json, item, "status", watt_status_name(status));
	}
}

static void put_quality(struct watt_json *json, const struct watt_quality *quality)
{
	struct watt_json_node obj = watt_json_object(json, json->root, "quality");

	watt_json_uint(json, obj, "checks", quality->checks);
	watt_json_uint(json, obj, "check_failures", quality->check_failures);
	watt_json_uint(json, obj, "sum_checks", quality->sum_checks);
	watt_json_uint(json, obj, "sum_failures", quality->sum_failures);
	watt_json_uint(json, obj, "lost_records", quality->lost_records);
	watt_json_time(json, obj, "unseen_cpu_s", quality->unseen_cpu_ns);
	watt_json_time(json, obj, "late_cpu_s", quality->late_cpu_ns);
	watt_json_uint(json, obj, "lost_samples", quality->lost_samples);
}

/* Whether the machine's energy is known for all the time of every run. */
static bool is_complete(const struct watt_runs *runs)
{
	size_t k, i;

	for (k = 0; k < runs->n_runs; k++)
		for (i = 0; i < runs->runs[k]->n_domains; i++)
			if (watt_session_get_domain(runs->ses, i)->is_partition &&
			    runs->runs[k]->domain_loss[i].gap_ns)
				return false;
	return !*runs->balance->missing;
}

static void put_head(struct watt_json *json, const struct watt_runs *runs)
{
	const struct watt_balance *balance = runs->balance;

	put_command(json, runs->argv);
	if (runs->argv)
		watt_json_null(json, json->root, "pid");
	else
		watt_json_uint(json, json->root, "pid", runs->pid);
	watt_json_text(json, json->root, "usage", watt_session_get_usage_name(runs->ses));
	watt_json_text(json, json->root, "usage_why",
		       *watt_session_get_usage_why(runs->ses) ?
			       watt_session_get_usage_why(runs->ses) :
			       NULL);
	watt_json_text(json, json->root, "origin",
		       balance->is_known ? watt_origin_name(balance->origin) : NULL);
	watt_json_ratio(json, json->root, "uncertainty_ratio", balance->uncertainty_ppm);
	watt_json_text(json, json->root, "share_key", balance->keys);
	watt_json_text(json, json->root, "idle_policy",
		       watt_idle_policy_name(balance->idle_policy));
	watt_json_bool(json, json->root, "is_complete", is_complete(runs));
	watt_json_text(json, json->root, "outside", balance->has_outside ? balance->outside : NULL);
	watt_json_bool(json, json->root, "is_baseline_ready", balance->is_baseline_ready);
	watt_json_text(json, json->root, "baseline_from",
		       balance->has_baseline ? watt_baseline_from_name(balance->baseline_from) :
					       NULL);
}

/* The caller's, as this library knows them. */
struct known {
	struct watt_runs all;
	struct watt_balance balance;
	struct watt_run *list;
	const struct watt_run **runs;
};

static void known_done(struct known *known)
{
	free(known->list);
	free(known->runs);
}

/* -EINVAL: something is missing, or from the future. */
static int take_known(const struct watt_runs *runs, struct known *ret)
{
	size_t i;
	int r;

	*ret = (struct known){ 0 };
	r = watt_sized_take(runs, &ret->all, sizeof(ret->all));
	if (r == 0 && (!ret->all.ses || !ret->all.quality))
		r = -EINVAL;
	if (r == 0)
		r = watt_sized_take(ret->all.balance, &ret->balance, sizeof(ret->balance));
	if (r < 0)
		return r;
	ret->list = calloc(ret->all.n_runs + 1, sizeof(*ret->list));
	ret->runs = calloc(ret->all.n_runs + 1, sizeof(struct watt_run *));
	if (!ret->list || !ret->runs)
		return -ENOMEM;
	for (i = 0; i < ret->all.n_runs && r == 0; i++) {
		r = watt_sized_take(ret->all.runs[i], &ret->list[i], sizeof(ret->list[i]));
		ret->runs[i] = &ret->list[i];
	}
	ret->all.runs = ret->runs;
	ret->all.balance = &ret->balance;
	return r;
}

static int write_runs(const struct watt_runs *runs, uint32_t flags, char **ret)
{
	struct watt_json json;
	struct watt_json_node list;
	char *text;
	int r, made;
	size_t i;

	watt_json_init(&json, flags, "wattribute-stat-1");
	put_head(&json, runs);
	list = watt_json_array(&json, json.root, "runs");
	for (i = 0; i < runs->n_runs; i++)
		put_run(&json, watt_json_append(&json, list), runs, runs->runs[i]);
	made = put_summary(&json, runs);
	put_sources(&json, runs->ses);
	put_quality(&json, runs->quality);
	r = watt_json_done(&json, &text);
	if (r < 0)
		return r;
	if (made < 0) {
		free(text);
		return made;
	}
	*ret = text;
	return 0;
}

int watt_runs_to_json(const struct watt_runs *runs, uint32_t flags, char **ret)
{
	struct known known;
	int r;

	if (!ret)
		return -EINVAL;
	r = take_known(runs, &known);
	if (r == 0)
		r = write_runs(&known.all, flags, ret);
	known_done(&known);
	return r;
}
