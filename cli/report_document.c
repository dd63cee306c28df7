/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON, by docs/schema/wattribute-report-1.json. */
#include "report_document.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "text.h"
#include "xalloc.h"

static void check_memory(int r)
{
	if (r == 0)
		return;
	message_error("out of memory");
	exit(EXIT_FAILURE);
}

void report_set(json_t *obj, const char *key, json_t *value)
{
	check_memory(value ? json_object_set_new(obj, key, value) : -1);
}

void report_append(json_t *array, json_t *value)
{
	check_memory(value ? json_array_append_new(array, value) : -1);
}

json_t *report_text_value(const char *text)
{
	auto_free char *clean = NULL;
	json_t *value;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	clean = xcalloc(strlen(text) + 1, 1);
	return json_string(text_clean(clean, strlen(text) + 1, text));
}

json_t *report_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *report_integer(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

void report_set_energy(json_t *obj, const char *key, bool is_known, int64_t energy_nj)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_nj", key);
	report_set(obj, name, is_known ? json_integer(energy_nj) : json_null());
	snprintf(name, sizeof(name), "%s_j", key);
	report_set(obj, name, report_real(is_known ? (double)energy_nj / 1e9 : NAN));
}

static json_t *known_text(const char *text)
{
	return report_text_value(text && *text ? text : NULL);
}

static json_t *known_number(uint64_t value)
{
	return value ? report_integer(value) : json_null();
}

static json_t *seconds(uint64_t time_ns)
{
	return json_real((double)time_ns / 1e9);
}

static json_t *ratio(uint32_t ppm)
{
	return report_real(ppm ? ppm / 1e6 : NAN);
}

static json_t *recording_value(const struct report_run *run)
{
	const struct watt_recording_info *info = run->info;
	const struct watt_series *series = run->series;
	json_t *obj = json_object();

	report_set(obj, "file", report_text_value(report_file_name(run->path)));
	report_set(obj, "command", known_text(info->command));
	report_set(obj, "host", known_text(info->host));
	report_set(obj, "os", known_text(info->os));
	report_set(obj, "kernel", known_text(info->kernel));
	report_set(obj, "arch", known_text(info->arch));
	report_set(obj, "cpu", known_text(info->cpu));
	report_set(obj, "n_cpus", known_number(info->n_cpus));
	report_set(obj, "n_packages", known_number(info->n_packages));
	report_set(obj, "memory_bytes", known_number(info->memory_bytes));
	report_set(obj, "usage", known_text(info->usage));
	report_set(obj, "writer", known_text(info->writer));
	report_set(obj, "format", known_number(info->format));
	report_set(obj, "part", known_number(info->part));
	report_set(obj, "start_realtime_s",
		   info->start_realtime_ns ? seconds(info->start_realtime_ns) : json_null());
	report_set(obj, "duration_s",
		   seconds(watt_series_get_info(series)->end_ns -
			   watt_series_get_info(series)->start_ns));
	report_set(obj, "windows",
		   json_integer((json_int_t)watt_series_get_info(series)->n_windows));
	report_set(obj, "window_s", seconds(watt_series_get_info(series)->window_ns));
	report_set(obj, "is_complete", json_boolean(info->is_complete));
	report_set(obj, "is_aligned", json_boolean(info->is_snapshot_aligned));
	report_set(obj, "samples", report_integer(info->samples));
	report_set(obj, "usage_records", report_integer(info->usage_records));
	report_set(obj, "bytes", report_integer(info->bytes));
	return obj;
}

static void set_sum(json_t *obj, const struct watt_phase *sum)
{
	bool is_known = isfinite(sum->power_w);

	report_set_energy(obj, "energy", is_known, sum->energy_nj);
	report_set_energy(obj, "attributed", is_known,
			  sum->energy_nj - sum->idle_nj - sum->unattributed_nj);
	report_set_energy(obj, "idle", is_known, sum->idle_nj);
	report_set_energy(obj, "unattributed", is_known, sum->unattributed_nj);
	report_set(obj, "power_w", report_real(sum->power_w));
	report_set_energy(obj, "command", is_known && sum->has_command, sum->command_nj);
	report_set(obj, "command_cpu_s",
		   sum->has_command ? seconds(sum->command_cpu_ns) : json_null());
}

static json_t *total_value(const struct report_run *run)
{
	const struct watt_balance *balance = &run->balance;
	json_t *obj = json_object();

	set_sum(obj, watt_phases_get_whole(run->phases));
	report_set(obj, "origin",
		   balance->is_known ? json_string(watt_origin_name(balance->origin)) :
				       json_null());
	report_set(obj, "uncertainty_ratio", ratio(balance->uncertainty_ppm));
	report_set(obj, "share_key", known_text(balance->keys));
	report_set(obj, "is_baseline_ready", json_boolean(balance->is_baseline_ready));
	return obj;
}

static double peak_w(const struct watt_series *series, size_t domain)
{
	double peak_w = NAN;
	size_t w;

	for (w = 0; w < watt_series_get_info(series)->n_windows; w++) {
		const struct watt_series_energy *energy =
			&watt_series_get_window(series, w)->domains[domain];

		peak_w = fmax(peak_w, watt_series_power_w(energy, energy->energy_nj));
	}
	return peak_w;
}

static void set_sensor(json_t *obj, const struct watt_domain_state *state)
{
	report_set(obj, "samples", report_integer(state->samples));
	report_set(obj, "errors", report_integer(state->errors));
	report_set(obj, "wraps", report_integer(state->wraps));
	report_set(obj, "resets", report_integer(state->resets));
	report_set(obj, "gaps", report_integer(state->gaps));
	report_set(obj, "gap_s", seconds(state->gap_ns));
	report_set(obj, "ambiguous", report_integer(state->ambiguous));
	report_set_energy(obj, "late", true, watt_energy_to_nj(state->late));
}

static json_t *domain_value(const struct report_run *run, size_t i)
{
	const struct watt_domain *domain = watt_series_get_domain(run->series, i);
	const struct watt_domain_state *state = watt_series_get_state(run->series, i);
	const struct watt_series_energy *energy = &watt_phases_get_whole(run->phases)->domains[i];
	bool is_known = energy->known_ns > 0;
	json_t *obj = json_object();

	report_set(obj, "path", report_text_value(domain->path));
	report_set(obj, "name", report_text_value(domain->name));
	report_set(obj, "kind", json_string(watt_domain_kind_name(domain->kind)));
	report_set(obj, "parent",
		   domain->parent < 0 ?
			   json_null() :
			   report_text_value(
				   watt_series_get_domain(run->series, domain->parent)->path));
	report_set(obj, "origin", json_string(watt_origin_name(domain->origin)));
	report_set(obj, "status", json_string(watt_status_name(state->status)));
	report_set(obj, "share_key", json_string(watt_share_key_name(domain->key)));
	report_set(obj, "is_summed", json_boolean(domain->is_summed));
	report_set(obj, "is_partition", json_boolean(domain->is_partition));
	report_set(obj, "is_usable", json_boolean(state->is_usable));
	report_set(obj, "is_baseline_ready", json_boolean(state->baseline_ready));
	report_set(obj, "uncertainty_ratio", ratio(domain->uncertainty_ppm));
	report_set_energy(obj, "energy", is_known, energy->energy_nj);
	report_set_energy(obj, "idle", is_known, energy->idle_nj);
	report_set_energy(obj, "dynamic", is_known,
			  energy->energy_nj - energy->idle_nj - energy->unattributed_nj);
	report_set_energy(obj, "unattributed", is_known, energy->unattributed_nj);
	report_set(obj, "power_w", report_real(watt_series_power_w(energy, energy->energy_nj)));
	report_set(obj, "peak_w", report_real(peak_w(run->series, i)));
	report_set(obj, "known_s", seconds(energy->known_ns));
	set_sensor(obj, state);
	return obj;
}

static void set_identity(json_t *obj, const struct watt_series_entity *entity)
{
	report_set(obj, "id", known_number(entity ? entity->id : 0));
	report_set(obj, "pid", known_number(entity ? entity->pid : 0));
	report_set(obj, "parent_pid", known_number(entity ? entity->parent_pid : 0));
	report_set(obj, "uid",
		   entity && entity->uid >= 0 ? json_integer(entity->uid) : json_null());
	report_set(obj, "comm", report_text_value(entity ? entity->name : NULL));
	report_set(obj, "cmdline", report_text_value(entity ? entity->cmdline : NULL));
	report_set(obj, "container", report_text_value(entity ? entity->container : NULL));
	report_set(obj, "pod", report_text_value(entity ? entity->pod : NULL));
	report_set(obj, "unit", report_text_value(entity ? entity->unit : NULL));
	report_set(obj, "is_alive", entity ? json_boolean(!entity->is_dead) : json_null());
}

static json_t *entity_value(const struct report_run *run, const struct watt_ranking_row *row)
{
	const struct watt_series_entity *entity = row->entity;
	bool is_unused = row->kind == WATT_ENTITY_IDLE || row->kind == WATT_ENTITY_UNATTRIBUTED;
	json_t *obj = json_object(), *domains = json_object();
	size_t d;

	report_set(obj, "name", report_text_value(row->name));
	report_set(obj, "kind",
		   json_string(row->is_rest ? "rest" : watt_entity_kind_name(row->kind)));
	set_identity(obj, entity);
	report_set(obj, "count", json_integer(row->count));
	report_set_energy(obj, "energy", isfinite(row->power_w), row->total_nj);
	report_set(obj, "power_w", report_real(row->power_w));
	report_set(obj, "peak_w", report_real(row->peak_w));
	report_set(obj, "cpu_s", is_unused ? json_null() : seconds(row->cpu_ns));
	report_set(obj, "share_ratio", report_real(row->share_ratio));
	for (d = 0; d < watt_series_get_info(run->series)->n_domains; d++)
		if (watt_phases_get_whole(run->phases)->domains[d].known_ns > 0)
			report_set(domains, watt_series_get_domain(run->series, d)->path,
				   json_integer(row->energy_nj[d]));
	report_set(obj, "domains_nj", domains);
	return obj;
}

static json_t *phase_value(const struct report_run *run, const struct watt_phase *phase)
{
	json_t *obj = json_object(), *domains = json_object();
	size_t d;

	report_set(obj, "label", known_text(phase->label));
	report_set(obj, "start_s", json_real(report_time_s(run, phase->t0_ns)));
	report_set(obj, "end_s", json_real(report_time_s(run, phase->t1_ns)));
	report_set(obj, "duration_s", seconds(phase->elapsed_ns));
	report_set(obj, "windows",
		   json_integer((json_int_t)(phase->end_index - phase->first_index)));
	set_sum(obj, phase);
	for (d = 0; d < watt_series_get_info(run->series)->n_domains; d++)
		if (phase->domains[d].known_ns > 0)
			report_set(domains, watt_series_get_domain(run->series, d)->path,
				   json_integer(phase->domains[d].energy_nj));
	report_set(obj, "domains_nj", domains);
	return obj;
}

static json_t *losses_value(const struct report_run *run)
{
	const struct watt_recording_info *info = run->info;
	json_t *obj = json_object(), *list = json_array();
	size_t i;

	report_set(obj, "lost_s", seconds(info->lost_ns));
	report_set(obj, "samples", report_integer(info->lost_samples));
	report_set(obj, "usage_records", report_integer(info->lost_usage));
	for (i = 0; i < run->n_losses; i++) {
		const struct report_loss *loss = &run->losses[i];
		json_t *entry = json_object();

		report_set(entry, "start_s", json_real(report_time_s(run, loss->t0_ns)));
		report_set(entry, "end_s", json_real(report_time_s(run, loss->t1_ns)));
		report_set(entry, "samples", report_integer(loss->samples));
		report_set(entry, "usage_records", report_integer(loss->usage_records));
		report_set(entry, "why", report_text_value(loss->why));
		report_append(list, entry);
	}
	report_set(obj, "list", list);
	return obj;
}

static json_t *conservation_value(const struct report_run *run)
{
	const struct watt_quality *quality = watt_series_get_quality(run->series);
	json_t *obj = json_object();

	report_set(obj, "checks", report_integer(quality ? quality->checks : 0));
	report_set(obj, "failures", report_integer(quality ? quality->check_failures : 0));
	report_set(obj, "sum_checks", report_integer(quality ? quality->sum_checks : 0));
	report_set(obj, "sum_failures", report_integer(quality ? quality->sum_failures : 0));
	report_set(obj, "window_checks",
		   report_integer(watt_series_get_info(run->series)->n_checks));
	report_set(obj, "window_failures",
		   report_integer(watt_series_get_info(run->series)->n_failures));
	return obj;
}

static json_t *quality_value(const struct report_run *run)
{
	static const struct watt_quality unknown = { 0 };
	const struct watt_quality *quality = watt_series_get_quality(run->series) ?
						     watt_series_get_quality(run->series) :
						     &unknown;
	json_t *obj = json_object();

	report_set(obj, "coverage_ratio", ratio(quality->coverage_ppm));
	report_set(obj, "sweeps", report_integer(quality->sweeps));
	report_set(obj, "sweep_cost_s", seconds(quality->sweep_cost_ns));
	report_set(obj, "lost_records", report_integer(quality->lost_records));
	report_set(obj, "unseen_cpu_s", seconds(quality->unseen_cpu_ns));
	report_set(obj, "late_cpu_s", seconds(quality->late_cpu_ns));
	report_set(obj, "missed_reads", report_integer(quality->missed_reads));
	report_set(obj, "lost_samples", report_integer(quality->lost_samples));
	report_set(obj, "busy_s", seconds(quality->busy_ns));
	report_set(obj, "idle_s", seconds(quality->idle_ns));
	report_set(obj, "wall_s", seconds(quality->wall_ns));
	report_set(obj, "folded_entities",
		   report_integer(watt_series_get_info(run->series)->n_folded));
	return obj;
}

/* ---- two recordings ---- */

static json_t *side_value(const struct watt_comparison_side *side)
{
	json_t *obj = json_object();

	if (!side->is_there) {
		json_decref(obj);
		return json_null();
	}
	report_set_energy(obj, "energy", true, side->energy_nj);
	report_set(obj, "elapsed_s", json_real((double)side->elapsed_ns / 1e9));
	report_set(obj, "power_w", report_real(side->power_w));
	report_set(obj, "power_ci95_w", report_real(side->power_ci95_w));
	report_set(obj, "windows", json_integer((json_int_t)side->n_windows));
	report_set(obj, "batches",
		   side->n_batches ? json_integer((json_int_t)side->n_batches) : json_null());
	return obj;
}

static json_t *row_value(const struct watt_comparison_row *row)
{
	json_t *obj = json_object();

	report_set(obj, "name", report_text_value(row->name));
	report_set(obj, "before", side_value(row->before));
	report_set(obj, "now", side_value(row->now));
	report_set(obj, "difference_w", report_real(row->difference_w));
	report_set(obj, "difference_ci95_w", report_real(row->difference_ci95_w));
	report_set(obj, "difference_ratio", report_real(row->difference_ratio));
	report_set(obj, "difference_ci95_ratio", report_real(row->difference_ci95_ratio));
	report_set(obj, "is_significant",
		   row->is_known ? json_boolean(row->is_significant) : json_null());
	return obj;
}

static json_t *list_value(const struct report *report, enum watt_comparison_list list)
{
	const struct watt_comparison_row *row;
	json_t *array = json_array();
	size_t i;

	for (i = 0; (row = watt_comparison_get(report->comparison, list, i)); i++)
		report_append(array, row_value(row));
	return array;
}

static json_t *comparison_value(const struct report *report)
{
	const struct watt_comparison *comparison = report->comparison;
	const struct watt_comparison_row *command;
	json_t *obj;

	if (!report->other)
		return json_null();
	command = watt_comparison_get(comparison, WATT_COMPARISON_COMMAND, 0);
	obj = json_object();
	report_set(obj, "file", report_text_value(report_file_name(report->other->path)));
	report_set(obj, "method", json_string("batch means, Welch t, 95 %"));
	report_set(obj, "total",
		   row_value(watt_comparison_get(comparison, WATT_COMPARISON_TOTAL, 0)));
	report_set(obj, "command",
		   command->now->is_there || command->before->is_there ? row_value(command) :
									 json_null());
	report_set(obj, "domains", list_value(report, WATT_COMPARISON_DOMAINS));
	report_set(obj, "phases", list_value(report, WATT_COMPARISON_PHASES));
	report_set(obj, "entities", list_value(report, WATT_COMPARISON_NAMES));
	report_set(obj, "entities_left_out",
		   report_integer(watt_comparison_get_left_out(comparison)));
	return obj;
}

/* ---- the document ---- */

json_t *report_document(const struct report *report)
{
	const struct report_run *run = report->run;
	const struct watt_ranking_row *row;
	const struct watt_phase *phase;
	json_t *doc = json_object(), *domains = json_array(), *phases = json_array();
	json_t *entities = json_array();
	size_t i;

	report_set(doc, "schema", json_string("wattribute-report-1"));
	report_set(doc, "version", json_string(watt_version()));
	report_set(doc, "recording", recording_value(run));
	report_set(doc, "total", total_value(run));
	for (i = 0; i < watt_series_get_info(run->series)->n_domains; i++)
		report_append(domains, domain_value(run, i));
	report_set(doc, "domains", domains);
	for (i = 0; run->n_marks > 0 && (phase = watt_phases_get(run->phases, i)); i++)
		report_append(phases, phase_value(run, phase));
	report_set(doc, "phases", phases);
	report_set(doc, "group", json_string(watt_ranking_group_name(report->group)));
	for (i = 0; (row = watt_ranking_get(report->ranking, i)); i++)
		report_append(entities, entity_value(run, row));
	report_set(doc, "entities", entities);
	report_set(doc, "conservation", conservation_value(run));
	report_set(doc, "losses", losses_value(run));
	report_set(doc, "quality", quality_value(run));
	report_set(doc, "comparison", comparison_value(report));
	return doc;
}

int report_json_print(const struct report *report, FILE *out)
{
	json_t *doc = report_document(report);
	int r;

	r = json_dumpf(doc, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0 ||
			    fputc('\n', out) == EOF ?
		    -errno :
		    0;
	json_decref(doc);
	return r;
}
