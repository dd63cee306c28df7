/* SPDX-License-Identifier: Apache-2.0 */
/* The report as a JSON document, by docs/schema/wattribute-report-1.json. */
#include "sink/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "sink/registry.h"

/* ---- what can be chosen ---- */

const struct watt_sink_option watt_report_options[] = {
	{ "group", "process, thread, name, container, pod, unit, user, cgroup or job",
	  "what processes are put together by" },
	{ NULL },
};

int watt_report_set(struct watt_report_choice *choice, const char *option, const char *value)
{
	const char *name;
	int group;

	for (group = 0; (name = watt_ranking_group_name((enum watt_ranking_group)group)); group++)
		if (strcmp(name, value) == 0) {
			choice->group = (enum watt_ranking_group)group;
			return 0;
		}
	return -EINVAL;
}

/* ---- what is computed ---- */

/* Of the whole recording, as far as a supply told of it. */
static int look_outside(struct watt_report *report, const struct watt_view *end)
{
	const struct watt_phase *whole = watt_phases_get_whole(report->now->phases);
	_cleanup_free_ struct watt_domain_state *list = calloc(end->n_domains + 1, sizeof(*list));
	_cleanup_free_ const struct watt_domain_state **states =
		calloc(end->n_domains + 1, sizeof(*states));
	struct watt_view view = *end;
	size_t i;

	if (!list || !states)
		return -ENOMEM;
	view.states = states;
	for (i = 0; i < end->n_domains; i++) {
		list[i] = *end->states[i];
		list[i].window_ns = (uint64_t)whole->domains[i].known_ns;
		list[i].window_nj = whole->domains[i].energy_nj;
		if (list[i].window_ns)
			list[i].status = WATT_STATUS_OK; /* whatever it was at the end */
		states[i] = &list[i];
	}
	return watt_balance_look_outside(&view, whole->power_w, &report->balance);
}

/* Of the domains at the end; rows are not needed for what is shown of it. */
static int draw_balance(struct watt_report *report)
{
	const struct watt_series *series = report->now->series;
	size_t n = watt_series_get_info(series)->n_domains, i;
	struct watt_view view = { .sz = sizeof(view),
				  .domains = calloc(n + 1, sizeof(*view.domains)),
				  .states = calloc(n + 1, sizeof(*view.states)),
				  .n_domains = n };
	int r = view.domains && view.states ? 0 : -ENOMEM;

	for (i = 0; i < n && r == 0; i++) {
		view.domains[i] = watt_series_get_domain(series, i);
		view.states[i] = watt_series_get_state(series, i);
	}
	if (r == 0)
		r = watt_balance_draw(&view, &report->balance);
	if (r == 0)
		r = look_outside(report, &view);
	free(view.domains);
	free(view.states);
	return r;
}

int watt_report_init(struct watt_report *report, const struct watt_report_choice *choice,
		     const struct watt_sink_series *now, const struct watt_sink_series *before)
{
	int r = 0;

	*report = (struct watt_report){ .now = now,
					.before = before,
					.group = choice->group,
					.balance.sz = sizeof(report->balance) };
	if (watt_series_get_info(now->series)->n_windows)
		r = draw_balance(report);
	if (r == 0)
		r = watt_ranking_build(now->series, now->phases, choice->group, &report->ranking);
	if (r == 0 && before)
		r = watt_comparison_build(now->series, now->phases, before->series, before->phases,
					  &report->comparison);
	return r;
}

void watt_report_done(struct watt_report *report)
{
	watt_ranking_free(report->ranking);
	watt_comparison_free(report->comparison);
	*report = (struct watt_report){ 0 };
}

const char *watt_report_file(const struct watt_sink_about *about)
{
	const char *slash = about->file ? strrchr(about->file, '/') : NULL;

	return slash ? slash + 1 : about->file;
}

/* A time of the recording, from its first window. */
static int64_t since_ns(const struct watt_sink_series *told, uint64_t t_ns)
{
	return (int64_t)(t_ns - watt_series_get_info(told->series)->start_ns);
}

/* ---- values ---- */

static void put_known_text(struct watt_json *json, struct watt_json_node obj, const char *key,
			   const char *text)
{
	watt_json_text(json, obj, key, text && *text ? text : NULL);
}

static void put_known_number(struct watt_json *json, struct watt_json_node obj, const char *key,
			     uint64_t value)
{
	if (value)
		watt_json_uint(json, obj, key, value);
	else
		watt_json_null(json, obj, key);
}

static void put_known_bool(struct watt_json *json, struct watt_json_node obj, const char *key,
			   bool is_known, bool value)
{
	if (is_known)
		watt_json_bool(json, obj, key, value);
	else
		watt_json_null(json, obj, key);
}

/* Energies of those domains of which any is known, by their paths. */
static void put_domain_energies(struct watt_json *json, struct watt_json_node obj,
				const struct watt_series *series,
				const struct watt_series_energy *known, const int64_t *energy_nj)
{
	struct watt_json_node domains = watt_json_object(json, obj, "domains_nj");
	size_t d;

	for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
		if (known[d].known_ns > 0)
			watt_json_int(json, domains, watt_series_get_domain(series, d)->path,
				      energy_nj ? energy_nj[d] : known[d].energy_nj);
}

/* ---- the recording ---- */

static void put_recording(struct watt_json *json, struct watt_json_node doc,
			  const struct watt_sink_series *told)
{
	const struct watt_recording_info *info = told->about->info;
	const struct watt_series_info *series = watt_series_get_info(told->series);
	struct watt_json_node obj = watt_json_object(json, doc, "recording");

	watt_json_text(json, obj, "file", watt_report_file(told->about));
	put_known_text(json, obj, "command", info->command);
	put_known_text(json, obj, "host", info->host);
	put_known_text(json, obj, "os", info->os);
	put_known_text(json, obj, "kernel", info->kernel);
	put_known_text(json, obj, "arch", info->arch);
	put_known_text(json, obj, "cpu", info->cpu);
	put_known_number(json, obj, "n_cpus", info->n_cpus);
	put_known_number(json, obj, "n_packages", info->n_packages);
	put_known_number(json, obj, "memory_bytes", info->memory_bytes);
	put_known_text(json, obj, "usage", info->usage);
	put_known_text(json, obj, "usage_why", info->usage_why);
	put_known_text(json, obj, "writer", info->writer);
	put_known_number(json, obj, "format", info->format);
	put_known_number(json, obj, "part", info->part);
	watt_json_known_time(json, obj, "start_realtime_s", info->start_realtime_ns);
	watt_json_time(json, obj, "duration_s", series->end_ns - series->start_ns);
	watt_json_uint(json, obj, "windows", series->n_windows);
	watt_json_time(json, obj, "window_s", series->window_ns);
	watt_json_bool(json, obj, "is_complete", info->is_complete);
	watt_json_bool(json, obj, "is_aligned", info->is_snapshot_aligned);
	watt_json_uint(json, obj, "samples", info->samples);
	watt_json_uint(json, obj, "usage_records", info->usage_records);
	watt_json_uint(json, obj, "bytes", info->bytes);
}

static void put_sum(struct watt_json *json, struct watt_json_node obj, const struct watt_phase *sum)
{
	bool is_known = isfinite(sum->power_w);

	watt_json_known_energy(json, obj, "energy", is_known, sum->energy_nj);
	watt_json_known_energy(json, obj, "attributed", is_known,
			       sum->energy_nj - sum->idle_nj - sum->unattributed_nj);
	watt_json_known_energy(json, obj, "idle", is_known, sum->idle_nj);
	watt_json_known_energy(json, obj, "unattributed", is_known, sum->unattributed_nj);
	watt_json_real(json, obj, "power_w", sum->power_w);
	watt_json_known_energy(json, obj, "command", is_known && sum->has_command, sum->command_nj);
	if (sum->has_command)
		watt_json_time(json, obj, "command_cpu_s", sum->command_cpu_ns);
	else
		watt_json_null(json, obj, "command_cpu_s");
}

static void put_total(struct watt_json *json, struct watt_json_node doc,
		      const struct watt_report *report)
{
	const struct watt_balance *balance = &report->balance;
	struct watt_json_node obj = watt_json_object(json, doc, "total");

	put_sum(json, obj, watt_phases_get_whole(report->now->phases));
	watt_json_text(json, obj, "origin",
		       balance->is_known ? watt_origin_name(balance->origin) : NULL);
	watt_json_ratio(json, obj, "uncertainty_ratio", balance->uncertainty_ppm);
	put_known_text(json, obj, "share_key", balance->keys);
	watt_json_bool(json, obj, "is_complete", !*balance->missing);
	watt_json_text(json, obj, "outside", balance->has_outside ? balance->outside : NULL);
	watt_json_real(json, obj, "outside_power_w",
		       balance->has_outside ? balance->outside_w : NAN);
	watt_json_bool(json, obj, "is_baseline_ready", balance->is_baseline_ready);
	watt_json_text(json, obj, "baseline_from",
		       balance->has_baseline ? watt_baseline_from_name(balance->baseline_from) :
					       NULL);
}

/* ---- domains ---- */

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

static void put_sensor(struct watt_json *json, struct watt_json_node obj,
		       const struct watt_domain_state *state)
{
	watt_json_uint(json, obj, "samples", state->samples);
	watt_json_uint(json, obj, "errors", state->errors);
	watt_json_uint(json, obj, "wraps", state->wraps);
	watt_json_uint(json, obj, "resets", state->resets);
	watt_json_uint(json, obj, "gaps", state->gaps);
	watt_json_time(json, obj, "gap_s", state->gap_ns);
	watt_json_uint(json, obj, "ambiguous", state->ambiguous);
	watt_json_known_energy(json, obj, "late", true, watt_energy_to_nj(state->late));
}

static void put_domain(struct watt_json *json, struct watt_json_node obj,
		       const struct watt_sink_series *told, size_t i)
{
	const struct watt_series *series = told->series;
	const struct watt_domain *domain = watt_series_get_domain(series, i);
	const struct watt_domain *parent =
		domain->parent < 0 ? NULL : watt_series_get_domain(series, (size_t)domain->parent);
	const struct watt_domain_state *state = watt_series_get_state(series, i);
	const struct watt_series_energy *energy = &watt_phases_get_whole(told->phases)->domains[i];
	bool is_known = energy->known_ns > 0;

	watt_json_text(json, obj, "path", domain->path);
	watt_json_text(json, obj, "name", domain->name);
	watt_json_text(json, obj, "kind", watt_domain_kind_name(domain->kind));
	watt_json_text(json, obj, "parent", parent ? parent->path : NULL);
	watt_json_text(json, obj, "origin", watt_origin_name(domain->origin));
	watt_json_text(json, obj, "status", watt_status_name(state->status));
	watt_json_text(json, obj, "share_key", watt_share_key_name(domain->key));
	watt_json_bool(json, obj, "is_summed", domain->is_summed);
	watt_json_bool(json, obj, "is_partition", domain->is_partition);
	watt_json_bool(json, obj, "is_usable", state->is_usable);
	watt_json_bool(json, obj, "is_baseline_ready", state->baseline_ready);
	watt_json_baseline(json, obj, state);
	watt_json_significance(json, obj, state);
	watt_json_found_delay(json, obj, state->found_delay_ns, state->found_delay_uncertainty_ns);
	watt_json_ratio(json, obj, "uncertainty_ratio", domain->uncertainty_ppm);
	watt_json_known_energy(json, obj, "energy", is_known, energy->energy_nj);
	watt_json_known_energy(json, obj, "idle", is_known, energy->idle_nj);
	watt_json_known_energy(json, obj, "dynamic", is_known,
			       energy->energy_nj - energy->idle_nj - energy->unattributed_nj);
	watt_json_known_energy(json, obj, "unattributed", is_known, energy->unattributed_nj);
	watt_json_real(json, obj, "power_w", watt_series_power_w(energy, energy->energy_nj));
	watt_json_real(json, obj, "peak_w", peak_w(series, i));
	watt_json_time(json, obj, "known_s", energy->known_ns);
	put_sensor(json, obj, state);
}

/* ---- entities and phases ---- */

static void put_identity(struct watt_json *json, struct watt_json_node obj,
			 const struct watt_series_entity *entity)
{
	put_known_number(json, obj, "id", entity ? entity->id : 0);
	put_known_number(json, obj, "pid", entity ? entity->pid : 0);
	put_known_number(json, obj, "parent_pid", entity ? entity->parent_pid : 0);
	watt_json_id(json, obj, "uid", entity ? entity->uid : -1, -1);
	watt_json_text(json, obj, "comm", entity ? entity->name : NULL);
	watt_json_text(json, obj, "cmdline", entity ? entity->cmdline : NULL);
	watt_json_text(json, obj, "container", entity ? entity->container : NULL);
	watt_json_text(json, obj, "pod", entity ? entity->pod : NULL);
	watt_json_text(json, obj, "unit", entity ? entity->unit : NULL);
	watt_json_text(json, obj, "job", entity ? entity->job : NULL);
	put_known_bool(json, obj, "is_alive", entity, entity && !entity->is_dead);
}

static void put_entity(struct watt_json *json, struct watt_json_node obj,
		       const struct watt_sink_series *told, const struct watt_ranking_row *row)
{
	bool is_unused = row->kind == WATT_ENTITY_IDLE || row->kind == WATT_ENTITY_UNATTRIBUTED;

	watt_json_text(json, obj, "name", row->name);
	watt_json_text(json, obj, "kind", row->is_rest ? "rest" : watt_entity_kind_name(row->kind));
	put_identity(json, obj, row->entity);
	watt_json_uint(json, obj, "count", row->count);
	watt_json_known_energy(json, obj, "energy", isfinite(row->power_w), row->total_nj);
	watt_json_real(json, obj, "power_w", row->power_w);
	watt_json_real(json, obj, "peak_w", row->peak_w);
	watt_json_real(json, obj, "uncertainty_j", row->uncertainty_j);
	if (is_unused)
		watt_json_null(json, obj, "cpu_s");
	else
		watt_json_time(json, obj, "cpu_s", row->cpu_ns);
	watt_json_real(json, obj, "share_ratio", row->share_ratio);
	put_domain_energies(json, obj, told->series, watt_phases_get_whole(told->phases)->domains,
			    row->energy_nj);
}

static void put_phase(struct watt_json *json, struct watt_json_node obj,
		      const struct watt_sink_series *told, const struct watt_phase *phase)
{
	put_known_text(json, obj, "label", phase->label);
	watt_json_nano(json, obj, "start_s", since_ns(told, phase->t0_ns));
	watt_json_nano(json, obj, "end_s", since_ns(told, phase->t1_ns));
	watt_json_time(json, obj, "duration_s", phase->elapsed_ns);
	watt_json_uint(json, obj, "windows", phase->end_index - phase->first_index);
	put_sum(json, obj, phase);
	put_domain_energies(json, obj, told->series, phase->domains, NULL);
}

/* ---- whether to believe it ---- */

static void put_losses(struct watt_json *json, struct watt_json_node doc,
		       const struct watt_sink_series *told)
{
	const struct watt_sink_about *about = told->about;
	struct watt_json_node obj = watt_json_object(json, doc, "losses"), list, entry;
	size_t i;

	watt_json_time(json, obj, "lost_s", about->info->lost_ns);
	watt_json_uint(json, obj, "samples", about->info->lost_samples);
	watt_json_uint(json, obj, "usage_records", about->info->lost_usage);
	watt_json_uint(json, obj, "marks", about->info->lost_marks);
	list = watt_json_array(json, obj, "list");
	for (i = 0; i < about->n_losses; i++) {
		const struct watt_recording_loss *loss = about->losses[i];

		entry = watt_json_append(json, list);
		watt_json_nano(json, entry, "start_s", since_ns(told, loss->t0_ns));
		watt_json_nano(json, entry, "end_s", since_ns(told, loss->t1_ns));
		watt_json_uint(json, entry, "samples", loss->samples);
		watt_json_uint(json, entry, "usage_records", loss->usage_records);
		watt_json_text(json, entry, "why", loss->why);
	}
}

static void put_conservation(struct watt_json *json, struct watt_json_node doc,
			     const struct watt_series *series)
{
	const struct watt_quality *quality = watt_series_get_quality(series);
	struct watt_json_node obj = watt_json_object(json, doc, "conservation");

	watt_json_uint(json, obj, "checks", quality ? quality->checks : 0);
	watt_json_uint(json, obj, "failures", quality ? quality->check_failures : 0);
	watt_json_uint(json, obj, "sum_checks", quality ? quality->sum_checks : 0);
	watt_json_uint(json, obj, "sum_failures", quality ? quality->sum_failures : 0);
	watt_json_uint(json, obj, "window_checks", watt_series_get_info(series)->n_checks);
	watt_json_uint(json, obj, "window_failures", watt_series_get_info(series)->n_failures);
}

static void put_quality(struct watt_json *json, struct watt_json_node doc,
			const struct watt_series *series)
{
	static const struct watt_quality unknown = { 0 };
	const struct watt_quality *quality = watt_series_get_quality(series);
	struct watt_json_node obj = watt_json_object(json, doc, "quality");

	if (!quality)
		quality = &unknown;
	watt_json_ratio(json, obj, "coverage_ratio", quality->coverage_ppm);
	watt_json_uint(json, obj, "sweeps", quality->sweeps);
	watt_json_time(json, obj, "sweep_cost_s", quality->sweep_cost_ns);
	watt_json_uint(json, obj, "lost_records", quality->lost_records);
	watt_json_time(json, obj, "unseen_cpu_s", quality->unseen_cpu_ns);
	watt_json_time(json, obj, "late_cpu_s", quality->late_cpu_ns);
	watt_json_uint(json, obj, "missed_reads", quality->missed_reads);
	watt_json_uint(json, obj, "lost_samples", quality->lost_samples);
	watt_json_time(json, obj, "busy_s", quality->busy_ns);
	watt_json_time(json, obj, "idle_s", quality->idle_ns);
	watt_json_time(json, obj, "wall_s", quality->wall_ns);
	watt_json_uint(json, obj, "folded_entities", watt_series_get_info(series)->n_folded);
}

/* ---- two recordings ---- */

static void put_side(struct watt_json *json, struct watt_json_node row, const char *key,
		     const struct watt_comparison_side *side)
{
	struct watt_json_node obj;

	if (!side->is_there) {
		watt_json_null(json, row, key);
		return;
	}
	obj = watt_json_object(json, row, key);
	watt_json_known_energy(json, obj, "energy", true, side->energy_nj);
	watt_json_time(json, obj, "elapsed_s", side->elapsed_ns);
	watt_json_real(json, obj, "power_w", side->power_w);
	watt_json_real(json, obj, "power_ci95_w", side->power_ci95_w);
	watt_json_uint(json, obj, "windows", side->n_windows);
	put_known_number(json, obj, "batches", side->n_batches);
	watt_json_uint(json, obj, "runs", side->n_runs);
	watt_json_real(json, obj, "run_j", side->run_j);
	watt_json_real(json, obj, "run_ci95_j", side->run_ci95_j);
	watt_json_real(json, obj, "run_s", side->run_s);
}

static void put_difference(struct watt_json *json, struct watt_json_node obj,
			   const struct watt_comparison_row *row)
{
	watt_json_text(json, obj, "name", row->name);
	put_side(json, obj, "before", row->before);
	put_side(json, obj, "now", row->now);
	watt_json_real(json, obj, "difference_w", row->difference_w);
	watt_json_real(json, obj, "difference_ci95_w", row->difference_ci95_w);
	watt_json_real(json, obj, "difference_ratio", row->difference_ratio);
	watt_json_real(json, obj, "difference_ci95_ratio", row->difference_ci95_ratio);
	put_known_bool(json, obj, "is_significant", row->is_known, row->is_significant);
	watt_json_real(json, obj, "energy_j", row->energy_j);
	watt_json_real(json, obj, "energy_ci95_j", row->energy_ci95_j);
	watt_json_real(json, obj, "energy_ratio", row->energy_ratio);
	watt_json_real(json, obj, "energy_ci95_ratio", row->energy_ci95_ratio);
	watt_json_text(json, obj, "energy_basis",
		       row->energy_basis == WATT_COMPARISON_RUNS    ? "runs" :
		       row->energy_basis == WATT_COMPARISON_WINDOWS ? "windows" :
								      NULL);
	put_known_bool(json, obj, "is_energy_significant",
		       row->energy_basis != WATT_COMPARISON_NOTHING, row->is_energy_significant);
}

static void put_differences(struct watt_json *json, struct watt_json_node obj, const char *key,
			    const struct watt_report *report, enum watt_comparison_list list)
{
	struct watt_json_node array = watt_json_array(json, obj, key);
	const struct watt_comparison_row *row;
	size_t i;

	for (i = 0; (row = watt_comparison_get(report->comparison, list, i)); i++)
		put_difference(json, watt_json_append(json, array), row);
}

static void put_comparison(struct watt_json *json, struct watt_json_node doc,
			   const struct watt_report *report)
{
	const struct watt_comparison *comparison = report->comparison;
	const struct watt_comparison_row *command;
	struct watt_json_node obj;

	if (!comparison) {
		watt_json_null(json, doc, "comparison");
		return;
	}
	obj = watt_json_object(json, doc, "comparison");
	watt_json_text(json, obj, "file", watt_report_file(report->before->about));
	watt_json_text(json, obj, "method", "batch means, Welch t, 95 %");
	put_difference(json, watt_json_object(json, obj, "total"),
		       watt_comparison_get(comparison, WATT_COMPARISON_TOTAL, 0));
	command = watt_comparison_get(comparison, WATT_COMPARISON_COMMAND, 0);
	if (command->now->is_there || command->before->is_there)
		put_difference(json, watt_json_object(json, obj, "command"), command);
	else
		watt_json_null(json, obj, "command");
	put_differences(json, obj, "domains", report, WATT_COMPARISON_DOMAINS);
	put_differences(json, obj, "phases", report, WATT_COMPARISON_PHASES);
	put_differences(json, obj, "entities", report, WATT_COMPARISON_NAMES);
	watt_json_uint(json, obj, "entities_left_out", watt_comparison_get_left_out(comparison));
}

/* ---- the document ---- */

static void put_gauge(struct watt_json *json, struct watt_json_node obj,
		      const struct watt_series_gauge *gauge)
{
	watt_json_text(json, obj, "name", gauge->name);
	watt_json_text(json, obj, "quantity", watt_quantity_name(gauge->quantity));
	watt_json_text(json, obj, "unit", watt_quantity_unit(gauge->quantity));
	watt_json_text(json, obj, "status", watt_status_name(gauge->status));
	watt_json_real(json, obj, "mean", gauge->mean);
	watt_json_real(json, obj, "least", gauge->least);
	watt_json_real(json, obj, "greatest", gauge->greatest);
	watt_json_time(json, obj, "known_s", gauge->known_ns);
}

void watt_report_put(const struct watt_report *report, struct watt_json *json,
		     struct watt_json_node doc)
{
	const struct watt_sink_series *now = report->now;
	const struct watt_ranking_row *row;
	const struct watt_series_gauge *gauge;
	const struct watt_phase *phase;
	struct watt_json_node list;
	size_t i;

	watt_json_text(json, doc, "schema", "wattribute-report-1");
	watt_json_text(json, doc, "version", watt_version());
	put_recording(json, doc, now);
	put_total(json, doc, report);
	list = watt_json_array(json, doc, "domains");
	for (i = 0; i < watt_series_get_info(now->series)->n_domains; i++)
		put_domain(json, watt_json_append(json, list), now, i);
	list = watt_json_array(json, doc, "phases");
	for (i = 0; now->about->n_marks > 0 && (phase = watt_phases_get(now->phases, i)); i++)
		put_phase(json, watt_json_append(json, list), now, phase);
	watt_json_text(json, doc, "group", watt_ranking_group_name(report->group));
	list = watt_json_array(json, doc, "entities");
	for (i = 0; (row = watt_ranking_get(report->ranking, i)); i++)
		put_entity(json, watt_json_append(json, list), now, row);
	list = watt_json_array(json, doc, "context");
	for (i = 0; (gauge = watt_series_get_gauge(now->series, i)); i++)
		put_gauge(json, watt_json_append(json, list), gauge);
	put_conservation(json, doc, now->series);
	put_losses(json, doc, now);
	put_quality(json, doc, now->series);
	put_comparison(json, doc, report);
}

static int set(struct watt_sink *sink, const char *option, const char *value)
{
	return watt_report_set(sink->data, option, value);
}

static int write_series(struct watt_sink *sink, const struct watt_sink_series *now,
			const struct watt_sink_series *before)
{
	struct watt_report report;
	struct watt_json json;
	int r;

	r = watt_report_init(&report, sink->data, now, before);
	if (r == 0) {
		watt_json_begin(&json, watt_json_pretty, sink->out);
		watt_report_put(&report, &json, json.root);
		r = watt_json_end(&json);
		fputc('\n', sink->out);
	}
	watt_report_done(&report);
	return r;
}

const struct watt_sink_ops watt_sink_report = {
	.info = {
		.sz = sizeof(struct watt_sink_info),
		.name = "report",
		.summary = "what a report shows, as a JSON document",
		.suffixes = ".json",
		.mime = "application/json",
		.options = watt_report_options,
	},
	.data_size = sizeof(struct watt_report_choice),
	.n_kept = WATT_REPORT_KEPT,
	.set = set,
	.series = write_series,
};
