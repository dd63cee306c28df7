/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: one document, or an object a line (jsonl) that can be read while it is written. Both hold
 * the same objects, by docs/schema/wattribute-export-1.json; a line has its type, too. Energies
 * are integers in nJ, so that sums stay exact.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/util.h"
#include "sink/json_value.h"
#include "sink/registry.h"

struct document {
	struct watt_json json;
	struct watt_json_node list; /* that items go to; lines have none */
	FILE *out;
	bool is_lines;
	struct watt_idmap entities; /* by id: position in texts */
	char **texts;               /* each entity as JSON: as it was told, or is to be told */
	size_t n_texts, texts_cap;
	uint64_t n_windows;
};

/* ---- objects and lists, in either form ---- */

static void begin_list(struct document *doc, const char *key)
{
	if (!doc->is_lines)
		doc->list = watt_json_array(&doc->json, doc->json.root, key);
}

static struct watt_json_node begin_item(struct document *doc, const char *type)
{
	if (!doc->is_lines)
		return watt_json_append(&doc->json, doc->list);
	watt_json_begin(&doc->json, (struct watt_json_layout){ 0 }, doc->out);
	watt_json_text(&doc->json, doc->json.root, "type", type);
	return doc->json.root;
}

static int end_item(struct document *doc)
{
	int r;

	if (!doc->is_lines)
		return doc->json.has_failed ? -ENOMEM : 0;
	r = watt_json_end(&doc->json);
	fputc('\n', doc->out);
	return r;
}

static void text_if_known(struct watt_json *json, struct watt_json_node obj, const char *key,
			  const char *text)
{
	watt_json_text(json, obj, key, text && *text ? text : NULL);
}

/* Positive quantities that are not known are 0 in the library. */
static void uint_or_null(struct watt_json *json, struct watt_json_node obj, const char *key,
			 uint64_t value)
{
	if (value == 0)
		watt_json_null(json, obj, key);
	else
		watt_json_uint(json, obj, key, value);
}

/* ---- the recording ---- */

static void put_recording(struct watt_sink *sink, struct watt_json *json, struct watt_json_node obj)
{
	const struct watt_recording_info *info = sink->about->info;

	watt_json_text(json, obj, "file", sink->about->file);
	watt_json_text(json, obj, "writer", info->writer);
	watt_json_uint(json, obj, "format", info->format);
	text_if_known(json, obj, "command", info->command);
	text_if_known(json, obj, "host", info->host);
	text_if_known(json, obj, "os", info->os);
	text_if_known(json, obj, "kernel", info->kernel);
	text_if_known(json, obj, "arch", info->arch);
	text_if_known(json, obj, "cpu", info->cpu);
	watt_json_uint(json, obj, "cpus", info->n_cpus);
	uint_or_null(json, obj, "packages", info->n_packages);
	uint_or_null(json, obj, "memory_bytes", info->memory_bytes);
	text_if_known(json, obj, "usage", info->usage);
	text_if_known(json, obj, "usage_why", info->usage_why);
	watt_json_time(json, obj, "slice_s", (uint64_t)(info->slice_ns));
	watt_json_time(json, obj, "start_monotonic_s", (uint64_t)(info->start_ns));
	watt_json_time(json, obj, "start_realtime_s", (uint64_t)(info->start_realtime_ns));
	watt_json_time(json, obj, "duration_s", (uint64_t)(info->end_ns - info->start_ns));
	watt_json_time(json, obj, "from_s",
		       (uint64_t)(watt_sink_since_ns(sink, sink->about->from_ns)));
	watt_json_time(json, obj, "to_s", (uint64_t)(watt_sink_since_ns(sink, sink->about->to_ns)));
	watt_json_uint(json, obj, "samples", info->samples);
	watt_json_uint(json, obj, "usage_records", info->usage_records);
	watt_json_uint(json, obj, "missed_reads", info->missed_reads);
	watt_json_uint(json, obj, "lost_samples", info->lost_samples);
	watt_json_uint(json, obj, "lost_usage_records", info->lost_usage);
	watt_json_uint(json, obj, "lost_marks", info->lost_marks);
	watt_json_time(json, obj, "lost_s", (uint64_t)(info->lost_ns));
	watt_json_uint(json, obj, "part", info->part);
	watt_json_bool(json, obj, "is_complete", info->is_complete);
}

static void put_channel(struct watt_json *json, struct watt_json_node obj,
			const struct watt_channel *channel, size_t i)
{
	watt_json_uint(json, obj, "index", i);
	watt_json_text(json, obj, "name", channel->name);
	watt_json_text(json, obj, "source", channel->source);
	watt_json_text(json, obj, "domain", channel->domain);
	watt_json_text(json, obj, "label", channel->label);
	watt_json_text(json, obj, "path", channel->path);
	watt_json_text(json, obj, "kind", watt_domain_kind_name(channel->kind));
	watt_json_text(json, obj, "quantity", watt_quantity_name(channel->quantity));
	watt_json_text(json, obj, "semantics", watt_semantics_name(channel->semantics));
	watt_json_text(json, obj, "origin", watt_origin_name(channel->origin));
	watt_json_uint(json, obj, "scale_num", channel->scale_num);
	watt_json_uint(json, obj, "scale_den", channel->scale_den);
	uint_or_null(json, obj, "wrap_nj", channel->wrap_nj);
	watt_json_known_time(json, obj, "period_s", channel->period_ns);
	watt_json_known_time(json, obj, "window_s", channel->window_ns);
	watt_json_known_time(json, obj, "delay_s", channel->delay_ns);
	if (channel->max_power_uw)
		watt_json_nano(json, obj, "max_power_w", (int64_t)channel->max_power_uw * 1000);
	else
		watt_json_null(json, obj, "max_power_w");
	watt_json_ratio(json, obj, "coverage_ratio", channel->coverage_ppm);
	watt_json_ratio(json, obj, "uncertainty_ratio", channel->uncertainty_ppm);
	watt_json_id(json, obj, "package_id", channel->package_id, -1);
	watt_json_id(json, obj, "die_id", channel->die_id, -1);
	watt_json_id(json, obj, "core_id", channel->core_id, -1);
}

static void put_domain(const struct watt_sink_about *about, struct watt_json *json,
		       struct watt_json_node obj, size_t i)
{
	const struct watt_domain *domain = about->domains[i], *parent = NULL;

	if (domain->parent >= 0 && (size_t)domain->parent < about->n_domains)
		parent = about->domains[domain->parent];
	watt_json_uint(json, obj, "index", i);
	watt_json_text(json, obj, "path", domain->path);
	watt_json_text(json, obj, "kind", watt_domain_kind_name(domain->kind));
	watt_json_text(json, obj, "parent", parent ? parent->path : NULL);
	watt_json_text(json, obj, "origin", watt_origin_name(domain->origin));
	watt_json_text(json, obj, "share_key", watt_share_key_name(domain->key));
	watt_json_bool(json, obj, "is_summed", domain->is_summed);
	watt_json_bool(json, obj, "is_partition", domain->is_partition);
	watt_json_id(json, obj, "channel", domain->channel, -1);
	watt_json_id(json, obj, "package_id", domain->package_id, -1);
	watt_json_id(json, obj, "die_id", domain->die_id, -1);
	watt_json_id(json, obj, "core_id", domain->core_id, -1);
	watt_json_ratio(json, obj, "uncertainty_ratio", domain->uncertainty_ppm);
}

static void put_mark(struct watt_sink *sink, struct watt_json *json, struct watt_json_node obj,
		     const struct watt_mark *mark)
{
	watt_json_time(json, obj, "t_s", (uint64_t)(watt_sink_since_ns(sink, mark->t_ns)));
	watt_json_time(json, obj, "realtime_s",
		       (uint64_t)(watt_sink_realtime_ns(sink, mark->t_ns)));
	uint_or_null(json, obj, "pid", mark->pid);
	watt_json_text(json, obj, "label", mark->label);
}

static void put_loss(struct watt_sink *sink, struct watt_json *json, struct watt_json_node obj,
		     const struct watt_recording_loss *loss)
{
	watt_json_time(json, obj, "from_s", (uint64_t)(watt_sink_since_ns(sink, loss->t0_ns)));
	watt_json_time(json, obj, "to_s", (uint64_t)(watt_sink_since_ns(sink, loss->t1_ns)));
	watt_json_uint(json, obj, "samples", loss->samples);
	watt_json_uint(json, obj, "usage_records", loss->usage_records);
	watt_json_text(json, obj, "why", loss->why);
}

static int put_about(struct watt_sink *sink, struct document *doc)
{
	const struct watt_sink_about *about = sink->about;
	struct watt_json *json = &doc->json;
	int r = 0;
	size_t i;

	begin_list(doc, "channels");
	for (i = 0; i < about->n_channels && r == 0; i++) {
		put_channel(json, begin_item(doc, "channel"), about->channels[i], i);
		r = end_item(doc);
	}
	begin_list(doc, "domains");
	for (i = 0; i < about->n_domains && r == 0; i++) {
		put_domain(about, json, begin_item(doc, "domain"), i);
		r = end_item(doc);
	}
	begin_list(doc, "marks");
	for (i = 0; i < about->n_marks && r == 0; i++) {
		put_mark(sink, json, begin_item(doc, "mark"), about->marks[i]);
		r = end_item(doc);
	}
	begin_list(doc, "losses");
	for (i = 0; i < about->n_losses && r == 0; i++) {
		put_loss(sink, json, begin_item(doc, "loss"), about->losses[i]);
		r = end_item(doc);
	}
	return r;
}

static int begin(struct watt_sink *sink)
{
	struct document *doc = sink->data;
	struct watt_json *json = &doc->json;
	struct watt_json_node obj;
	int r;

	doc->out = sink->out;
	doc->is_lines = sink->ops == &watt_sink_jsonl;
	if (doc->is_lines) {
		obj = begin_item(doc, "recording");
	} else {
		struct watt_json_layout layout = { .indent = 1, .line_levels = 2 };

		watt_json_begin(json, layout, sink->out);
		obj = json->root;
	}
	watt_json_text(json, obj, "schema", "wattribute-export-1");
	watt_json_text(json, obj, "version", watt_version());
	if (!doc->is_lines)
		obj = watt_json_object(json, obj, "recording");
	put_recording(sink, json, obj);
	r = end_item(doc);
	if (r == 0)
		r = put_about(sink, doc);
	begin_list(doc, "windows");
	return r;
}

/* ---- entities: told when they first used something, and again when they changed ---- */

static void put_process(struct watt_json *json, struct watt_json_node parent,
			const struct watt_entity *entity)
{
	const struct watt_identity *who = entity->identity;
	struct watt_json_node obj;

	if (!who) {
		watt_json_null(json, parent, "process");
		return;
	}
	obj = watt_json_object(json, parent, "process");
	watt_json_uint(json, obj, "pid", who->pid);
	if (who->tid)
		watt_json_uint(json, obj, "tid", who->tid);
	uint_or_null(json, obj, "parent_pid", who->parent_pid);
	watt_json_time(json, obj, "start_s", (uint64_t)(who->start_ns));
	watt_json_id(json, obj, "uid", entity->missing & WATT_IDENTITY_UID ? -1 : (int64_t)who->uid,
		     -1);
	watt_json_text(json, obj, "comm", who->comm);
	watt_json_text(json, obj, "exe", who->exe);
	watt_json_text(json, obj, "cmdline", who->cmdline);
	watt_json_text(json, obj, "vm_name", who->vm_name);
}

static void put_cgroup(struct watt_json *json, struct watt_json_node parent,
		       const struct watt_cgroup *cgroup)
{
	struct watt_json_node obj;

	if (!cgroup) {
		watt_json_null(json, parent, "cgroup");
		return;
	}
	obj = watt_json_object(json, parent, "cgroup");
	watt_json_text(json, obj, "path", cgroup->path);
	watt_json_text(json, obj, "runtime", cgroup->runtime);
	watt_json_text(json, obj, "container", cgroup->container);
	watt_json_text(json, obj, "pod_uid", cgroup->pod_uid);
	watt_json_text(json, obj, "unit", cgroup->unit);
	watt_json_text(json, obj, "user_unit", cgroup->user_unit);
	watt_json_text(json, obj, "job", cgroup->job);
}

/* An entity's object as text; NULL: out of memory. */
static char *entity_text(const struct watt_entity *entity)
{
	uint32_t in_sum = watt_sink_kinds_in_sum();
	struct watt_json json;
	char *text;

	watt_json_begin(&json, (struct watt_json_layout){ 0 }, NULL);
	watt_json_uint(&json, json.root, "id", entity->id);
	uint_or_null(&json, json.root, "parent_id", entity->parent_id);
	watt_json_text(&json, json.root, "kind", watt_entity_kind_name(entity->kind));
	watt_json_text(&json, json.root, "name", entity->name);
	watt_json_bool(&json, json.root, "is_in_sum", in_sum & 1u << entity->kind);
	watt_json_uint(&json, json.root, "count", entity->count);
	put_process(&json, json.root, entity);
	put_cgroup(&json, json.root, entity->cgroup);
	return watt_json_done(&json, &text) == 0 ? text : NULL;
}

static int tell_entity(struct document *doc, const char *text)
{
	struct watt_json_node obj = begin_item(doc, "entity");

	/* Without its braces. */
	watt_json_members(&doc->json, obj, text + 1, strlen(text) - 2);
	return end_item(doc);
}

static int see_entity(struct document *doc, const struct watt_entity *entity)
{
	size_t *position = watt_idmap_get(&doc->entities, entity->id);
	char *text = entity_text(entity);
	bool is_new;
	int r = 0;

	if (!position || !text ||
	    watt_grow((void **)&doc->texts, &doc->texts_cap, doc->n_texts, sizeof(char *)) < 0) {
		free(text);
		return -ENOMEM;
	}
	is_new = *position == WATT_IDMAP_NONE;
	if (is_new)
		*position = doc->n_texts++;
	if (doc->is_lines && (is_new || strcmp(doc->texts[*position], text) != 0))
		r = tell_entity(doc, text);
	free(doc->texts[*position]);
	doc->texts[*position] = text;
	return r;
}

static bool is_shown(const struct watt_sink *sink, const struct watt_view *view,
		     const struct watt_row *row)
{
	return watt_sink_has_kind(sink, row->entity->kind) &&
	       (sink->with_zeros || watt_view_has_used(view, row));
}

/* ---- windows ---- */

static void put_energy(struct watt_json *json, struct watt_json_node obj, const char *key,
		       bool is_known, int64_t energy_nj)
{
	if (is_known)
		watt_json_int(json, obj, key, energy_nj);
	else
		watt_json_null(json, obj, key);
}

static void put_state(struct watt_json *json, struct watt_json_node obj,
		      const struct watt_domain_state *state)
{
	bool is_known = watt_view_is_known(state);

	watt_json_text(json, obj, "status", watt_status_name(state->status));
	put_energy(json, obj, "energy_nj", is_known, state->window_nj);
	put_energy(json, obj, "idle_nj", is_known, state->window_idle_nj);
	put_energy(json, obj, "unattributed_nj", is_known, state->window_unattributed_nj);
	watt_json_real(json, obj, "power_w",
		       is_known ? watt_view_power_w(state, state->window_nj) : NAN);
	watt_json_time(json, obj, "known_s", (uint64_t)(state->window_ns));
	watt_json_bool(json, obj, "is_baseline_ready", state->baseline_ready);
}

static void put_row(struct watt_json *json, struct watt_json_node obj, const struct watt_view *view,
		    const struct watt_row *row)
{
	struct watt_json_node list;
	size_t i;

	watt_json_uint(json, obj, "id", row->entity->id);
	watt_json_time(json, obj, "cpu_s", row->window_cpu_ns);
	watt_json_int(json, obj, "total_nj", row->window_total_nj);
	watt_json_real(json, obj, "power_w", watt_view_row_w(view, row));
	list = watt_json_array(json, obj, "energy_nj");
	for (i = 0; i < view->n_domains; i++)
		put_energy(json, list, NULL, watt_view_is_known(view->states[i]),
			   row->window_nj[i]);
	list = watt_json_array(json, obj, "uncertainty_j");
	for (i = 0; i < view->n_domains; i++)
		watt_json_real(json, list, NULL,
			       watt_view_is_known(view->states[i]) ? row->window_uncertainty_j[i] :
								     NAN);
}

static int write_window(struct watt_sink *sink, const struct watt_sink_window *window)
{
	struct document *doc = sink->data;
	const struct watt_view *view = &window->view;
	struct watt_json *json = &doc->json;
	struct watt_json_node obj, list;
	int r = 0;
	size_t i;

	for (i = 0; i < view->n_rows && r == 0; i++)
		if (is_shown(sink, view, view->rows[i]))
			r = see_entity(doc, view->rows[i]->entity);
	if (r < 0)
		return r;
	obj = begin_item(doc, "window");
	watt_json_uint(json, obj, "index", window->index);
	watt_json_time(json, obj, "from_s", (uint64_t)watt_sink_since_ns(sink, window->t0_ns));
	watt_json_time(json, obj, "to_s", (uint64_t)watt_sink_since_ns(sink, window->t1_ns));
	watt_json_time(json, obj, "to_realtime_s", window->t1_realtime_ns);
	watt_json_text(json, obj, "phase", window->phase);
	list = watt_json_array(json, obj, "domains");
	for (i = 0; i < view->n_domains; i++)
		put_state(json, watt_json_append(json, list), view->states[i]);
	list = watt_json_array(json, obj, "entities");
	for (i = 0; i < view->n_rows; i++)
		if (is_shown(sink, view, view->rows[i]))
			put_row(json, watt_json_append(json, list), view, view->rows[i]);
	doc->n_windows++;
	return end_item(doc);
}

static int end(struct watt_sink *sink)
{
	struct document *doc = sink->data;
	size_t i;
	int r = 0;

	if (doc->is_lines) {
		/* Who reads a stream knows by this that it is whole. */
		watt_json_uint(&doc->json, begin_item(doc, "end"), "windows", doc->n_windows);
		return end_item(doc);
	}
	begin_list(doc, "entities");
	for (i = 0; i < doc->n_texts && r == 0; i++)
		r = tell_entity(doc, doc->texts[i]);
	if (r == 0)
		r = watt_json_end(&doc->json);
	fputc('\n', sink->out);
	return r;
}

static void done(struct watt_sink *sink)
{
	struct document *doc = sink->data;
	size_t i;

	for (i = 0; i < doc->n_texts; i++)
		free(doc->texts[i]);
	free(doc->texts);
	free(doc->json.text);
	watt_idmap_done(&doc->entities);
}

static const struct watt_sink_option options[] = {
	WATT_SINK_OPTION_KINDS,
	WATT_SINK_OPTION_ZEROS,
	{ NULL },
};

/* clang-format off */
#define DOCUMENT_OPS \
	.data_size = sizeof(struct document), \
	.begin = begin, \
	.window = write_window, \
	.end = end, \
	.done = done
/* clang-format on */

const struct watt_sink_ops watt_sink_json = {
	.info = {
		.sz = sizeof(struct watt_sink_info),
		.name = "json",
		.summary = "one document with everything",
		.suffixes = ".json",
		.mime = "application/json",
		.options = options,
	},
	DOCUMENT_OPS,
};

const struct watt_sink_ops watt_sink_jsonl = {
	.info = {
		.sz = sizeof(struct watt_sink_info),
		.name = "jsonl",
		.summary = "the same, an object a line, to be read while it is written",
		.suffixes = ".jsonl",
		.mime = "application/jsonl",
		.options = options,
	},
	DOCUMENT_OPS,
};
