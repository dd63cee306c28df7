/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `wattribute stat` as JSON, by docs/schema/wattribute-stat-1.json. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include <wattribute/statistics.h>

#include "stat_report.h"
#include "text.h"
#include "xalloc.h"

/* Memory or the end, as everywhere in the command. */
static void set(json_t *obj, const char *key, json_t *value)
{
	if (!value || json_object_set_new(obj, key, value) < 0) {
		fputs("wattribute: out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
}

static json_t *real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_value(const char *text)
{
	json_t *value = json_string(text);
	char clean[4096];

	return value ? value : json_string(text_clean(clean, sizeof(clean), text));
}

static json_t *energy_or_null(bool is_known, int64_t energy_nj)
{
	return is_known ? json_integer(energy_nj) : json_null();
}

static json_t *command_value(char *const *argv)
{
	json_t *array;

	if (!argv)
		return json_null();
	array = json_array();
	for (; *argv; argv++)
		json_array_append_new(array, text_value(*argv));
	return array;
}

static void set_energy(json_t *obj, const char *key_nj, const char *key_j, bool is_known,
		       int64_t energy_nj)
{
	set(obj, key_nj, energy_or_null(is_known, energy_nj));
	set(obj, key_j, real_or_null(is_known ? (double)energy_nj / 1e9 : NAN));
}

static void set_loss(json_t *obj, const struct stat_loss *loss)
{
	set(obj, "errors", json_integer((json_int_t)loss->errors));
	set(obj, "resets", json_integer((json_int_t)loss->resets));
	set(obj, "gap_s", json_real((double)loss->gap_ns / 1e9));
	set(obj, "ambiguous", json_integer((json_int_t)loss->ambiguous));
}

static json_t *domains_value(const struct stat_report *report, const struct stat_run *run)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < run->n_domains; i++) {
		const struct watt_domain *domain = watt_session_get_domain(report->setup->ses, i);
		json_t *obj = json_object();

		set(obj, "path", text_value(domain->path));
		set(obj, "is_partition", json_boolean(domain->is_partition));
		set(obj, "origin", json_string(watt_origin_name(domain->origin)));
		set(obj, "status",
		    json_string(watt_status_name(run->domain_known[i] ? WATT_STATUS_OK :
									WATT_STATUS_NODATA)));
		set_energy(obj, "energy_nj", "energy_j", run->domain_known[i], run->domain_nj[i]);
		set_energy(obj, "machine_energy_nj", "machine_energy_j", run->domain_known[i],
			   run->domain_machine_nj[i]);
		set_loss(obj, &run->domain_loss[i]);
		json_array_append_new(array, obj);
	}
	return array;
}

static json_t *intervals_value(const struct stat_run *run)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < run->n_intervals; i++) {
		const struct stat_interval *interval = &run->intervals[i];
		json_t *obj = json_object();

		set(obj, "t_s", json_real((double)interval->end_ns / 1e9));
		set(obj, "elapsed_s", json_real((double)interval->elapsed_ns / 1e9));
		set(obj, "energy_nj", json_integer(interval->energy_nj));
		set(obj, "energy_j", json_real((double)interval->energy_nj / 1e9));
		set(obj, "power_w",
		    real_or_null((double)interval->energy_nj / (double)interval->elapsed_ns));
		set(obj, "machine_energy_nj", json_integer(interval->machine_nj));
		set(obj, "machine_energy_j", json_real((double)interval->machine_nj / 1e9));
		set(obj, "cpu_s", json_real((double)interval->cpu_ns / 1e9));
		json_array_append_new(array, obj);
	}
	return array;
}

static json_t *label_value(const char *label)
{
	return *label ? text_value(label) : json_null();
}

static json_t *phase_domains_value(const struct stat_report *report, const struct stat_run *run,
				   const struct stat_phase *phase)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < phase->n_domains; i++) {
		const struct watt_domain *domain = watt_session_get_domain(report->setup->ses, i);
		bool is_known = run->domain_known[i];
		json_t *obj = json_object();

		set(obj, "path", text_value(domain->path));
		set(obj, "is_partition", json_boolean(domain->is_partition));
		set_energy(obj, "energy_nj", "energy_j", is_known, phase->domain_nj[i]);
		set_energy(obj, "machine_energy_nj", "machine_energy_j", is_known,
			   phase->domain_machine_nj[i]);
		json_array_append_new(array, obj);
	}
	return array;
}

static double phase_power_w(const struct stat_phase *phase, int64_t energy_nj)
{
	return phase->is_known && phase->elapsed_ns ?
		       (double)energy_nj / (double)phase->elapsed_ns :
		       NAN;
}

static json_t *phases_value(const struct stat_report *report, const struct stat_run *run)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < run->phases.n; i++) {
		const struct stat_phase *phase = &run->phases.list[i];
		bool is_known = phase->is_known;
		json_t *obj = json_object();

		set(obj, "label", label_value(phase->label));
		set(obj, "count", json_integer((json_int_t)phase->count));
		set(obj, "elapsed_s", json_real((double)phase->elapsed_ns / 1e9));
		set_energy(obj, "energy_nj", "energy_j", is_known, phase->energy_nj);
		set_energy(obj, "machine_energy_nj", "machine_energy_j", is_known,
			   phase->machine_nj);
		set(obj, "power_w", real_or_null(phase_power_w(phase, phase->energy_nj)));
		set(obj, "machine_power_w", real_or_null(phase_power_w(phase, phase->machine_nj)));
		set(obj, "cpu_s", json_real((double)phase->cpu_ns / 1e9));
		set(obj, "domains", phase_domains_value(report, run, phase));
		json_array_append_new(array, obj);
	}
	return array;
}

static json_t *threads_value(const struct stat_run *run)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < run->threads.n; i++) {
		const struct stat_thread *thread = &run->threads.list[i];
		json_t *obj = json_object();

		set(obj, "name", text_value(thread->name));
		set(obj, "pid", thread->pid ? json_integer(thread->pid) : json_null());
		set(obj, "tid", thread->tid ? json_integer(thread->tid) : json_null());
		set(obj, "count", json_integer(thread->count));
		set_energy(obj, "energy_nj", "energy_j", run->is_known, thread->energy_nj);
		set(obj, "cpu_s", json_real((double)thread->cpu_ns / 1e9));
		json_array_append_new(array, obj);
	}
	return array;
}

static json_t *run_value(const struct stat_report *report, const struct stat_run *run)
{
	json_t *obj = json_object();
	bool is_known = run->is_known;

	set(obj, "status",
	    json_string(watt_status_name(is_known ? WATT_STATUS_OK : WATT_STATUS_PENDING)));
	set_energy(obj, "energy_nj", "energy_j", is_known, run->energy_nj);
	set_energy(obj, "machine_energy_nj", "machine_energy_j", is_known, run->machine_nj);
	set_energy(obj, "idle_nj", "idle_j", is_known, run->idle_nj);
	set_energy(obj, "unattributed_nj", "unattributed_j", is_known, run->unattributed_nj);
	set_energy(obj, "shared_idle_nj", "shared_idle_j", is_known, run->shared_idle_nj);
	set(obj, "power_w",
	    real_or_null(is_known ? (double)run->energy_nj / (double)run->elapsed_ns : NAN));
	set(obj, "machine_power_w", real_or_null(is_known ? run->machine_w : NAN));
	set(obj, "cpu_s", json_real((double)run->cpu_ns / 1e9));
	set(obj, "rusage_cpu_s", real_or_null(run->rusage_s));
	set(obj, "elapsed_s", json_real((double)run->elapsed_ns / 1e9));
	set(obj, "exit_status", report->setup->argv ? json_integer(run->exit_status) : json_null());
	set(obj, "domains", domains_value(report, run));
	set(obj, "intervals", intervals_value(run));
	set(obj, "phases", phases_value(report, run));
	if (report->has_threads)
		set(obj, "threads", threads_value(run));
	return obj;
}

static void set_summary(json_t *obj, const char *key, const char *unit, const double *values,
			size_t n)
{
	struct watt_statistics s = watt_statistics_of(values, n);
	auto_free char *mean = xasprintf("%s_mean_%s", key, unit);
	auto_free char *sd = xasprintf("%s_stddev_%s", key, unit);
	auto_free char *ci95 = xasprintf("%s_ci95_%s", key, unit);

	set(obj, mean, real_or_null(s.mean));
	set(obj, sd, real_or_null(s.sd));
	set(obj, ci95, real_or_null(s.ci95));
}

/* One phase over the runs that had it. */
static json_t *phase_summary_value(const struct stat_report *report, const char *label)
{
	size_t n = report->n_runs, i;
	auto_free double *energy = xcalloc(n, sizeof(double)), *power = xcalloc(n, sizeof(double));
	auto_free double *machine = xcalloc(n, sizeof(double)), *cpu = xcalloc(n, sizeof(double));
	auto_free double *elapsed = xcalloc(n, sizeof(double));
	json_t *obj = json_object();

	for (i = 0; i < n; i++) {
		const struct stat_phase *phase = stat_phases_find(&report->runs[i].phases, label);
		bool is_known = phase && phase->is_known;

		energy[i] = is_known ? (double)phase->energy_nj / 1e9 : NAN;
		machine[i] = is_known ? (double)phase->machine_nj / 1e9 : NAN;
		power[i] = phase ? phase_power_w(phase, phase->energy_nj) : NAN;
		cpu[i] = phase ? (double)phase->cpu_ns / 1e9 : NAN;
		elapsed[i] = phase ? (double)phase->elapsed_ns / 1e9 : NAN;
	}
	set(obj, "label", label_value(label));
	set(obj, "runs", json_integer((json_int_t)watt_statistics_of(elapsed, n).n));
	set_summary(obj, "energy", "j", energy, n);
	set_summary(obj, "machine_energy", "j", machine, n);
	set_summary(obj, "power", "w", power, n);
	set_summary(obj, "cpu", "s", cpu, n);
	set_summary(obj, "elapsed", "s", elapsed, n);
	return obj;
}

static json_t *phase_summaries_value(const struct stat_report *report)
{
	struct stat_phases labels = stat_report_labels(report);
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < labels.n; i++)
		json_array_append_new(array, phase_summary_value(report, labels.list[i].label));
	stat_phases_done(&labels);
	return array;
}

static json_t *summary_value(const struct stat_report *report)
{
	size_t n = report->n_runs, i;
	auto_free double *energy = xcalloc(n, sizeof(double)), *power = xcalloc(n, sizeof(double));
	auto_free double *machine = xcalloc(n, sizeof(double)), *cpu = xcalloc(n, sizeof(double));
	auto_free double *elapsed = xcalloc(n, sizeof(double));
	json_t *obj = json_object();

	for (i = 0; i < n; i++) {
		const struct stat_run *run = &report->runs[i];

		energy[i] = run->is_known ? (double)run->energy_nj / 1e9 : NAN;
		machine[i] = run->is_known ? (double)run->machine_nj / 1e9 : NAN;
		cpu[i] = (double)run->cpu_ns / 1e9;
		elapsed[i] = (double)run->elapsed_ns / 1e9;
		power[i] = energy[i] / elapsed[i];
	}
	set_summary(obj, "energy", "j", energy, n);
	set_summary(obj, "machine_energy", "j", machine, n);
	set_summary(obj, "power", "w", power, n);
	set_summary(obj, "cpu", "s", cpu, n);
	set_summary(obj, "elapsed", "s", elapsed, n);
	set(obj, "phases", phase_summaries_value(report));
	return obj;
}

static json_t *quality_value(const struct watt_quality *quality)
{
	json_t *obj = json_object();

	set(obj, "checks", json_integer((json_int_t)quality->checks));
	set(obj, "check_failures", json_integer((json_int_t)quality->check_failures));
	set(obj, "sum_checks", json_integer((json_int_t)quality->sum_checks));
	set(obj, "sum_failures", json_integer((json_int_t)quality->sum_failures));
	set(obj, "lost_records", json_integer((json_int_t)quality->lost_records));
	set(obj, "unseen_cpu_s", json_real((double)quality->unseen_cpu_ns / 1e9));
	set(obj, "late_cpu_s", json_real((double)quality->late_cpu_ns / 1e9));
	set(obj, "lost_samples", json_integer((json_int_t)quality->lost_samples));
	return obj;
}

static json_t *sources_value(const struct watt_session *ses)
{
	json_t *array = json_array();
	enum watt_status status;
	const char *name;
	size_t i;

	for (i = 0; (name = watt_session_get_source(ses, i, &status)); i++) {
		json_t *obj = json_object();

		set(obj, "name", json_string(name));
		set(obj, "status", json_string(watt_status_name(status)));
		json_array_append_new(array, obj);
	}
	return array;
}

int stat_report_json(const struct stat_report *report, FILE *out)
{
	const struct stat_setup *setup = report->setup;
	const struct watt_balance *balance = &setup->balance;
	json_t *doc = json_object(), *runs = json_array();
	size_t i;
	int r;

	set(doc, "schema", json_string("wattribute-stat-1"));
	set(doc, "version", json_string(watt_version()));
	set(doc, "command", command_value(setup->argv));
	set(doc, "pid", setup->argv ? json_null() : json_integer(setup->pid));
	set(doc, "usage", json_string(watt_session_get_usage_name(setup->ses)));
	set(doc, "origin",
	    balance->is_known ? json_string(watt_origin_name(balance->origin)) : json_null());
	set(doc, "uncertainty_ratio",
	    real_or_null(balance->uncertainty_ppm ? balance->uncertainty_ppm / 1e6 : NAN));
	set(doc, "share_key", json_string(balance->keys));
	set(doc, "idle_policy", json_string(watt_idle_policy_name(balance->idle_policy)));
	set(doc, "is_complete", json_boolean(!*balance->missing));
	set(doc, "is_baseline_ready", json_boolean(balance->is_baseline_ready));
	for (i = 0; i < report->n_runs; i++)
		json_array_append_new(runs, run_value(report, &report->runs[i]));
	set(doc, "runs", runs);
	set(doc, "summary", summary_value(report));
	set(doc, "sources", sources_value(setup->ses));
	set(doc, "quality", quality_value(&setup->quality));
	r = json_dumpf(doc, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	fputc('\n', out);
	json_decref(doc);
	return r < 0 ? -EIO : 0;
}
