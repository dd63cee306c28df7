/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: one document, or an object a line (jsonl) that can be read while it is written. Both hold
 * the same objects, by docs/schema/wattribute-export-1.json; a line has its type, too. Energies
 * are integers in nJ, so that sums stay exact.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "idmap.h"
#include "json_writer.h"
#include "xalloc.h"

struct document {
	struct json_writer json;
	bool is_lines;
	struct idmap entities; /* by id: position in texts */
	char **texts;          /* each entity as JSON: as it was told, or is to be told */
	size_t n_texts;
	uint64_t n_windows;
};

/* ---- objects and lists, in either form ---- */

static void begin_list(struct document *doc, const char *key)
{
	if (!doc->is_lines)
		json_begin(&doc->json, key, '[');
}

static void end_list(struct document *doc)
{
	if (!doc->is_lines)
		json_end(&doc->json, ']');
}

static struct json_writer *begin_item(struct document *doc, const char *type)
{
	doc->json.has_items = doc->json.has_items && !doc->is_lines;
	json_begin(&doc->json, NULL, '{');
	if (doc->is_lines)
		json_text(&doc->json, "type", type);
	return &doc->json;
}

static void end_item(struct document *doc)
{
	json_end(&doc->json, '}');
	if (doc->is_lines)
		fputc('\n', doc->json.out);
}

static void text_if_known(struct json_writer *json, const char *key, const char *text)
{
	json_text(json, key, text && *text ? text : NULL);
}

static void id_or_null(struct json_writer *json, const char *key, int64_t id)
{
	if (id < 0)
		json_put_null(json, key);
	else
		json_int(json, key, id);
}

static void ratio_or_null(struct json_writer *json, const char *key, uint32_t ppm)
{
	if (ppm == 0)
		json_put_null(json, key);
	else
		json_udecimal(json, key, ppm, 6);
}

/* Positive quantities that are not known are 0 in the library. */
static void quantity_or_null(struct json_writer *json, const char *key, uint64_t value,
			     unsigned int places)
{
	if (value == 0)
		json_put_null(json, key);
	else
		json_udecimal(json, key, value, places);
}

/* ---- the recording ---- */

static void put_recording(struct export *ex, struct json_writer *json)
{
	const struct watt_recording_info *info = ex->about->info;

	json_text(json, "file", ex->about->file);
	json_text(json, "writer", info->writer);
	json_uint(json, "format", info->format);
	text_if_known(json, "command", info->command);
	text_if_known(json, "host", info->host);
	text_if_known(json, "os", info->os);
	text_if_known(json, "kernel", info->kernel);
	text_if_known(json, "arch", info->arch);
	text_if_known(json, "cpu", info->cpu);
	json_uint(json, "cpus", info->n_cpus);
	quantity_or_null(json, "packages", info->n_packages, 0);
	quantity_or_null(json, "memory_bytes", info->memory_bytes, 0);
	text_if_known(json, "usage", info->usage);
	json_udecimal(json, "slice_s", info->slice_ns, 9);
	json_udecimal(json, "start_monotonic_s", info->start_ns, 9);
	json_udecimal(json, "start_realtime_s", info->start_realtime_ns, 9);
	json_udecimal(json, "duration_s", info->end_ns - info->start_ns, 9);
	json_decimal(json, "from_s", export_since_ns(ex, ex->about->from_ns), 9);
	json_decimal(json, "to_s", export_since_ns(ex, ex->about->to_ns), 9);
	json_uint(json, "samples", info->samples);
	json_uint(json, "usage_records", info->usage_records);
	json_uint(json, "missed_reads", info->missed_reads);
	json_uint(json, "lost_samples", info->lost_samples);
	json_uint(json, "lost_usage_records", info->lost_usage);
	json_udecimal(json, "lost_s", info->lost_ns, 9);
	json_uint(json, "part", info->part);
	json_bool(json, "is_complete", info->is_complete);
}

static void put_channel(struct json_writer *json, const struct watt_channel *channel, size_t i)
{
	json_uint(json, "index", i);
	json_text(json, "name", channel->name);
	json_text(json, "source", channel->source);
	json_text(json, "domain", channel->domain);
	json_text(json, "label", channel->label);
	json_text(json, "path", channel->path);
	json_text(json, "kind", watt_domain_kind_name(channel->kind));
	json_text(json, "quantity", watt_quantity_name(channel->quantity));
	json_text(json, "semantics", watt_semantics_name(channel->semantics));
	json_text(json, "origin", watt_origin_name(channel->origin));
	json_uint(json, "scale_num", channel->scale_num);
	json_uint(json, "scale_den", channel->scale_den);
	quantity_or_null(json, "wrap_nj", channel->wrap_nj, 0);
	quantity_or_null(json, "period_s", channel->period_ns, 9);
	quantity_or_null(json, "window_s", channel->window_ns, 9);
	quantity_or_null(json, "delay_s", channel->delay_ns, 9);
	quantity_or_null(json, "max_power_w", channel->max_power_uw, 6);
	ratio_or_null(json, "coverage_ratio", channel->coverage_ppm);
	ratio_or_null(json, "uncertainty_ratio", channel->uncertainty_ppm);
	id_or_null(json, "package_id", channel->package_id);
	id_or_null(json, "die_id", channel->die_id);
	id_or_null(json, "core_id", channel->core_id);
}

static void put_domain(const struct export_about *about, struct json_writer *json, size_t i)
{
	const struct watt_domain *domain = about->domains[i], *parent = NULL;

	if (domain->parent >= 0 && (size_t)domain->parent < about->n_domains)
		parent = about->domains[domain->parent];
	json_uint(json, "index", i);
	json_text(json, "path", domain->path);
	json_text(json, "kind", watt_domain_kind_name(domain->kind));
	json_text(json, "parent", parent ? parent->path : NULL);
	json_text(json, "origin", watt_origin_name(domain->origin));
	json_text(json, "share_key", watt_share_key_name(domain->key));
	json_bool(json, "is_summed", domain->is_summed);
	json_bool(json, "is_partition", domain->is_partition);
	id_or_null(json, "channel", domain->channel);
	id_or_null(json, "package_id", domain->package_id);
	id_or_null(json, "die_id", domain->die_id);
	id_or_null(json, "core_id", domain->core_id);
	ratio_or_null(json, "uncertainty_ratio", domain->uncertainty_ppm);
}

static void put_mark(struct export *ex, struct json_writer *json, const struct watt_mark *mark)
{
	json_decimal(json, "t_s", export_since_ns(ex, mark->t_ns), 9);
	json_udecimal(json, "realtime_s", export_realtime_ns(ex, mark->t_ns), 9);
	quantity_or_null(json, "pid", mark->pid, 0);
	json_text(json, "label", mark->label);
}

static void put_loss(struct export *ex, struct json_writer *json,
		     const struct watt_recording_loss *loss)
{
	json_decimal(json, "from_s", export_since_ns(ex, loss->t0_ns), 9);
	json_decimal(json, "to_s", export_since_ns(ex, loss->t1_ns), 9);
	json_uint(json, "samples", loss->samples);
	json_uint(json, "usage_records", loss->usage_records);
	json_text(json, "why", loss->why);
}

static void put_about(struct export *ex, struct document *doc)
{
	const struct export_about *about = ex->about;
	size_t i;

	begin_list(doc, "channels");
	for (i = 0; i < about->n_channels; i++) {
		put_channel(begin_item(doc, "channel"), about->channels[i], i);
		end_item(doc);
	}
	end_list(doc);
	begin_list(doc, "domains");
	for (i = 0; i < about->n_domains; i++) {
		put_domain(about, begin_item(doc, "domain"), i);
		end_item(doc);
	}
	end_list(doc);
	begin_list(doc, "marks");
	for (i = 0; i < about->n_marks; i++) {
		put_mark(ex, begin_item(doc, "mark"), about->marks[i]);
		end_item(doc);
	}
	end_list(doc);
	begin_list(doc, "losses");
	for (i = 0; i < about->n_losses; i++) {
		put_loss(ex, begin_item(doc, "loss"), about->losses[i]);
		end_item(doc);
	}
	end_list(doc);
}

static int begin(struct export *ex)
{
	struct document *doc = xcalloc(1, sizeof(*doc));
	struct json_writer *json = &doc->json;

	ex->data = doc;
	doc->is_lines = ex->format == &export_jsonl;
	*json = (struct json_writer){ .out = ex->out, .indent = 1 };
	if (doc->is_lines) {
		begin_item(doc, "recording");
	} else {
		json->line_levels = 2;
		json_begin(json, NULL, '{');
	}
	json_text(json, "schema", "wattribute-export-1");
	json_text(json, "version", watt_version());
	if (!doc->is_lines)
		json_begin(json, "recording", '{');
	put_recording(ex, json);
	end_item(doc);
	put_about(ex, doc);
	begin_list(doc, "windows");
	return 0;
}

/* ---- entities: told when they first used something, and again when they changed ---- */

static void put_process(struct json_writer *json, const struct watt_entity *entity)
{
	const struct watt_identity *who = entity->identity;

	if (!who) {
		json_put_null(json, "process");
		return;
	}
	json_begin(json, "process", '{');
	json_uint(json, "pid", who->pid);
	quantity_or_null(json, "parent_pid", who->parent_pid, 0);
	json_udecimal(json, "start_s", who->start_ns, 9);
	id_or_null(json, "uid", entity->missing & WATT_IDENTITY_UID ? -1 : (int64_t)who->uid);
	json_text(json, "comm", who->comm);
	json_text(json, "exe", who->exe);
	json_text(json, "cmdline", who->cmdline);
	json_text(json, "vm_name", who->vm_name);
	json_end(json, '}');
}

static void put_cgroup(struct json_writer *json, const struct watt_cgroup *cgroup)
{
	if (!cgroup) {
		json_put_null(json, "cgroup");
		return;
	}
	json_begin(json, "cgroup", '{');
	json_text(json, "path", cgroup->path);
	json_text(json, "runtime", cgroup->runtime);
	json_text(json, "container", cgroup->container);
	json_text(json, "pod_uid", cgroup->pod_uid);
	json_text(json, "unit", cgroup->unit);
	json_text(json, "user_unit", cgroup->user_unit);
	json_end(json, '}');
}

/* The members of an entity's object, as text: "id":1,... */
static char *entity_text(const struct watt_entity *entity)
{
	struct json_writer json = { 0 };
	uint32_t in_sum = export_kinds_in_sum();
	char *text = NULL;
	size_t size;

	json.out = open_memstream(&text, &size);
	if (!json.out)
		return xstrdup("");
	json_uint(&json, "id", entity->id);
	quantity_or_null(&json, "parent_id", entity->parent_id, 0);
	json_text(&json, "kind", watt_entity_kind_name(entity->kind));
	json_text(&json, "name", entity->name);
	json_bool(&json, "is_in_sum", in_sum & 1u << entity->kind);
	json_uint(&json, "count", entity->count);
	put_process(&json, entity);
	put_cgroup(&json, entity->cgroup);
	fclose(json.out);
	return text;
}

static void tell_entity(struct document *doc, const char *text)
{
	fprintf(doc->json.out, "{\"type\":\"entity\",%s}\n", text);
}

static void see_entity(struct document *doc, const struct watt_entity *entity)
{
	size_t *position = idmap_get(&doc->entities, entity->id);
	char *text = entity_text(entity);
	bool is_new = *position == IDMAP_NONE;

	if (is_new) {
		*position = doc->n_texts;
		doc->texts = xrealloc(doc->texts, doc->n_texts + 1, sizeof(*doc->texts));
		doc->texts[doc->n_texts++] = NULL;
	}
	if (doc->is_lines && (is_new || strcmp(doc->texts[*position], text) != 0))
		tell_entity(doc, text);
	free(doc->texts[*position]);
	doc->texts[*position] = text;
}

static bool is_shown(const struct export *ex, const struct view *view, const struct watt_row *row)
{
	return export_has_kind(ex, row->entity.kind) &&
	       (ex->with_zeros || export_has_used(view, row));
}

/* ---- windows ---- */

static void put_energy(struct json_writer *json, const char *key, bool is_known, int64_t energy_nj)
{
	if (is_known)
		json_int(json, key, energy_nj);
	else
		json_put_null(json, key);
}

static void put_state(struct json_writer *json, const struct watt_domain_state *state)
{
	bool is_known = export_is_known(state);

	json_begin(json, NULL, '{');
	json_text(json, "status", watt_status_name(state->status));
	put_energy(json, "energy_nj", is_known, state->window_nj);
	put_energy(json, "idle_nj", is_known, state->window_idle_nj);
	put_energy(json, "unattributed_nj", is_known, state->window_unattributed_nj);
	json_put_real(json, "power_w", is_known ? view_power_w(state, state->window_nj) : NAN);
	json_udecimal(json, "known_s", state->window_ns, 9);
	json_bool(json, "is_baseline_ready", state->baseline_ready);
	json_end(json, '}');
}

static void put_row(struct json_writer *json, const struct view *view, const struct watt_row *row)
{
	size_t i;

	json_begin(json, NULL, '{');
	json_uint(json, "id", row->entity.id);
	json_udecimal(json, "cpu_s", row->window_cpu_ns, 9);
	json_int(json, "total_nj", row->window_total_nj);
	json_put_real(json, "power_w", export_row_w(view, row));
	json_begin(json, "energy_nj", '[');
	for (i = 0; i < view->n_domains; i++)
		put_energy(json, NULL, export_is_known(view->states[i]), row->window_nj[i]);
	json_end(json, ']');
	json_end(json, '}');
}

static int write_window(struct export *ex, const struct export_window *window)
{
	struct document *doc = ex->data;
	const struct view *view = &window->view;
	struct json_writer *json;
	size_t i;

	for (i = 0; i < view->n_rows; i++)
		if (is_shown(ex, view, view->rows[i]))
			see_entity(doc, &view->rows[i]->entity);
	json = begin_item(doc, "window");
	json_uint(json, "index", window->index);
	json_decimal(json, "from_s", export_since_ns(ex, window->t0_ns), 9);
	json_decimal(json, "to_s", export_since_ns(ex, window->t1_ns), 9);
	json_udecimal(json, "to_realtime_s", window->t1_realtime_ns, 9);
	json_text(json, "phase", window->phase);
	json_begin(json, "domains", '[');
	for (i = 0; i < view->n_domains; i++)
		put_state(json, view->states[i]);
	json_end(json, ']');
	json_begin(json, "entities", '[');
	for (i = 0; i < view->n_rows; i++)
		if (is_shown(ex, view, view->rows[i]))
			put_row(json, view, view->rows[i]);
	json_end(json, ']');
	end_item(doc);
	doc->n_windows++;
	return 0;
}

static int end(struct export *ex)
{
	struct document *doc = ex->data;
	size_t i;

	end_list(doc);
	if (doc->is_lines) {
		/* Who reads a stream knows by this that it is whole. */
		json_uint(begin_item(doc, "end"), "windows", doc->n_windows);
		end_item(doc);
		return 0;
	}
	begin_list(doc, "entities");
	for (i = 0; i < doc->n_texts; i++) {
		begin_item(doc, "entity");
		fputs(doc->texts[i], ex->out);
		end_item(doc);
	}
	end_list(doc);
	json_end(&doc->json, '}');
	fputc('\n', ex->out);
	return 0;
}

static void done(struct export *ex)
{
	struct document *doc = ex->data;
	size_t i;

	if (!doc)
		return;
	for (i = 0; i < doc->n_texts; i++)
		free(doc->texts[i]);
	free(doc->texts);
	idmap_done(&doc->entities);
	free(doc);
	ex->data = NULL;
}

const struct export_format export_json = {
	.name = "json",
	.begin = begin,
	.window = write_window,
	.end = end,
	.done = done,
};

const struct export_format export_jsonl = {
	.name = "jsonl",
	.begin = begin,
	.window = write_window,
	.end = end,
	.done = done,
};
