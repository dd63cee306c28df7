/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as a page: a template that was built with the library, and in it the document and the
 * windows. All of it is data: no name can become markup or script, because no '<' gets out.
 *
 *     { "report": document, "series": { ... }, "other": windows of the other recording or null }
 *
 * Energies are integers of nJ, so that a sum over any windows on the page is exact; CPU time is
 * in us, each entity's rounded so that its sum is right to 1 us. An entity lists only windows in
 * which it used something, by the distance from the one before. Context is in the order of the
 * document's, in its units.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "sink/html_template.h"
#include "sink/registry.h"
#include "sink/report.h"

/* ---- domains ---- */

/* Ends of the windows, in us from the end before. */
static void put_times(struct watt_json *json, struct watt_json_node obj,
		      const struct watt_series *series)
{
	const struct watt_series_info *info = watt_series_get_info(series);
	struct watt_json_node array = watt_json_array(json, obj, "t");
	uint64_t last_us = 0;
	size_t w;

	for (w = 0; w < info->n_windows; w++) {
		uint64_t t_us = (watt_series_get_window(series, w)->t1_ns - info->start_ns) / 1000;

		watt_json_uint(json, array, NULL, t_us - last_us);
		last_us = t_us;
	}
}

/* One number of a domain in every window; null where it is not known. */
static void put_numbers(struct watt_json *json, struct watt_json_node obj, const char *key,
			const struct watt_series *series, size_t domain, size_t offset)
{
	struct watt_json_node array = watt_json_array(json, obj, key);
	size_t w;

	for (w = 0; w < watt_series_get_info(series)->n_windows; w++) {
		const struct watt_series_energy *energy =
			&watt_series_get_window(series, w)->domains[domain];
		int64_t value;

		memcpy(&value, (const char *)energy + offset, sizeof(value));
		if (energy->known_ns > 0 || value)
			watt_json_int(json, array, NULL, value);
		else
			watt_json_null(json, array, NULL);
	}
}

static void put_domain(struct watt_json *json, struct watt_json_node obj,
		       const struct watt_series *series, size_t d)
{
	struct watt_json_node known;
	size_t w;

	watt_json_text(json, obj, "path", watt_series_get_domain(series, d)->path);
	put_numbers(json, obj, "energy", series, d, offsetof(struct watt_series_energy, energy_nj));
	put_numbers(json, obj, "idle", series, d, offsetof(struct watt_series_energy, idle_nj));
	put_numbers(json, obj, "rest", series, d,
		    offsetof(struct watt_series_energy, unattributed_nj));
	/* For how long of each window the domain is known, in us. */
	known = watt_json_array(json, obj, "known");
	for (w = 0; w < watt_series_get_info(series)->n_windows; w++)
		watt_json_uint(json, known, NULL,
			       watt_series_get_window(series, w)->domains[d].known_ns / 1000);
}

/* ---- entities ---- */

/* Where in the windows an entity used something: the cells of a series, sorted by entity. */
struct use {
	size_t window;
	size_t cell;
};

struct uses {
	struct use *list;
	size_t *end; /* per entity: behind its last one; they begin where those before end */
};

static int uses_init(struct uses *uses, const struct watt_series *series)
{
	const struct watt_series_info *info = watt_series_get_info(series);
	size_t i, w, c, n = 0;

	for (w = 0; w < info->n_windows; w++)
		n += watt_series_get_window(series, w)->n_cells;
	*uses = (struct uses){ .list = calloc(n + 1, sizeof(*uses->list)),
			       .end = calloc(info->n_entities + 2, sizeof(*uses->end)) };
	if (!uses->list || !uses->end)
		return -ENOMEM;
	/* Counted one further on, so that each end is where the next one begins to be filled. */
	for (w = 0; w < info->n_windows; w++)
		for (c = 0; c < watt_series_get_window(series, w)->n_cells; c++)
			uses->end[watt_series_get_window(series, w)->entity_index[c] + 1]++;
	for (i = 1; i <= info->n_entities; i++)
		uses->end[i] += uses->end[i - 1];
	for (w = 0; w < info->n_windows; w++)
		for (c = 0; c < watt_series_get_window(series, w)->n_cells; c++) {
			i = watt_series_get_window(series, w)->entity_index[c];
			uses->list[uses->end[i]++] = (struct use){ w, c };
		}
	return 0;
}

static void uses_done(struct uses *uses)
{
	free(uses->list);
	free(uses->end);
}

static void put_uses(struct watt_json *json, struct watt_json_node obj,
		     const struct watt_series *series, const struct use *uses, size_t n)
{
	struct watt_json_node array = watt_json_array(json, obj, "w");
	uint64_t cpu_ns = 0;
	size_t i;

	for (i = 0; i < n; i++)
		watt_json_uint(json, array, NULL, uses[i].window - (i ? uses[i - 1].window : 0));
	array = watt_json_array(json, obj, "e");
	for (i = 0; i < n; i++)
		watt_json_int(
			json, array, NULL,
			watt_series_get_window(series, uses[i].window)->total_nj[uses[i].cell]);
	/* how unsure each is, in nJ as well; what nobody knows is null */
	array = watt_json_array(json, obj, "u");
	for (i = 0; i < n; i++) {
		double doubt_j =
			watt_series_get_window(series, uses[i].window)->uncertainty_j[uses[i].cell];

		if (isfinite(doubt_j))
			watt_json_uint(json, array, NULL, (uint64_t)(doubt_j * 1e9 + 0.5));
		else
			watt_json_null(json, array, NULL);
	}
	array = watt_json_array(json, obj, "c");
	for (i = 0; i < n; i++) {
		uint64_t sum_ns =
			cpu_ns +
			watt_series_get_window(series, uses[i].window)->cpu_ns[uses[i].cell];

		watt_json_uint(json, array, NULL, sum_ns / 1000 - cpu_ns / 1000);
		cpu_ns = sum_ns;
	}
}

static int put_entity(struct watt_json *json, struct watt_json_node obj,
		      const struct watt_series_entity *entity)
{
	char *name;
	int r;

	r = watt_ranking_name(entity, &name);
	if (r < 0)
		return r;
	if (entity->id)
		watt_json_uint(json, obj, "id", entity->id);
	watt_json_text(json, obj, "name", name);
	free(name);
	watt_json_text(json, obj, "comm", watt_ranking_short_name(entity));
	watt_json_text(json, obj, "kind", watt_entity_kind_name(entity->kind));
	if (entity->is_others)
		watt_json_bool(json, obj, "others", true);
	if (entity->pid)
		watt_json_uint(json, obj, "pid", entity->pid);
	if (entity->uid >= 0)
		watt_json_int(json, obj, "uid", entity->uid);
	if (entity->container)
		watt_json_text(json, obj, "container", entity->container);
	if (entity->unit)
		watt_json_text(json, obj, "unit", entity->unit);
	watt_json_uint(json, obj, "count", entity->count);
	/* how unsure all of it is, in J */
	watt_json_real(json, obj, "s", entity->uncertainty_j);
	return 0;
}

/* Sums that the page does not offer would be half of its size. */
static bool is_on_page(enum watt_entity_kind kind)
{
	return kind != WATT_ENTITY_CGROUP && kind != WATT_ENTITY_KERNEL &&
	       kind != WATT_ENTITY_TRACKED && kind != WATT_ENTITY_THREAD;
}

static int put_entities(struct watt_json *json, struct watt_json_node obj,
			const struct watt_series *series)
{
	struct watt_json_node array = watt_json_array(json, obj, "entities");
	struct uses uses;
	size_t i, first;
	int r;

	r = uses_init(&uses, series);
	for (i = 0; r == 0 && i < watt_series_get_info(series)->n_entities; i++) {
		const struct watt_series_entity *entity = watt_series_get_entity(series, i);
		struct watt_json_node item;

		if (!is_on_page(entity->kind))
			continue;
		first = i ? uses.end[i - 1] : 0;
		item = watt_json_append(json, array);
		r = put_entity(json, item, entity);
		put_uses(json, item, series, uses.list + first, uses.end[i] - first);
	}
	uses_done(&uses);
	return r;
}

/* ---- context ---- */

/* Five digits are more than anybody sees, and than most sensors have. */
static double shorten(double value)
{
	double step = value != 0 && isfinite(value) ? pow(10, floor(log10(fabs(value))) - 4) : 1;

	return step >= 1 ? round(value / step) * step : round(value * (1 / step)) / (1 / step);
}

static void put_context(struct watt_json *json, struct watt_json_node obj,
			const struct watt_series *series)
{
	struct watt_json_node list = watt_json_array(json, obj, "context"), means;
	size_t i, w;

	for (i = 0; watt_series_get_gauge(series, i); i++) {
		means = watt_json_array(json, list, NULL);
		for (w = 0; w < watt_series_get_info(series)->n_windows; w++)
			watt_json_real(json, means, NULL,
				       shorten(watt_series_get_gauge_mean(series, i, w)));
	}
}

/* ---- the data ---- */

static int put_series(struct watt_json *json, struct watt_json_node data,
		      const struct watt_series *series)
{
	struct watt_json_node obj = watt_json_object(json, data, "series"), domains;
	size_t d;

	put_times(json, obj, series);
	domains = watt_json_array(json, obj, "domains");
	for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
		put_domain(json, watt_json_append(json, domains), series, d);
	put_context(json, obj, series);
	return put_entities(json, obj, series);
}

/* Of the other recording only the curves of power are shown. */
static void put_other(struct watt_json *json, struct watt_json_node data,
		      const struct watt_sink_series *other)
{
	struct watt_json_node obj, domains;
	size_t d;

	if (!other) {
		watt_json_null(json, data, "other");
		return;
	}
	obj = watt_json_object(json, data, "other");
	watt_json_text(json, obj, "file", watt_report_file(other->about));
	put_times(json, obj, other->series);
	domains = watt_json_array(json, obj, "domains");
	for (d = 0; d < watt_series_get_info(other->series)->n_domains; d++)
		if (watt_series_get_domain(other->series, d)->is_partition)
			put_domain(json, watt_json_append(json, domains), other->series, d);
}

static int make_data(const struct watt_report *report, char **ret)
{
	struct watt_json json;
	char *text;
	int r, made;

	watt_json_begin(&json, (struct watt_json_layout){ 0 }, NULL);
	watt_report_put(report, &json, watt_json_object(&json, json.root, "report"));
	made = put_series(&json, json.root, report->now->series);
	put_other(&json, json.root, report->before);
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

/* ---- the page ---- */

/* JSON has '<', '>' and '&' in strings only, where they may be written as numbers. */
static void write_safely(const char *text, FILE *out)
{
	for (;;) {
		size_t n = strcspn(text, "<>&");

		fwrite(text, 1, n, out);
		text += n;
		if (!*text)
			return;
		fprintf(out, "\\u%04x", (unsigned char)*text++);
	}
}

static int set(struct watt_sink *sink, const char *option, const char *value)
{
	return watt_report_set(sink->data, option, value);
}

static int write_series(struct watt_sink *sink, const struct watt_sink_series *now,
			const struct watt_sink_series *before)
{
	struct watt_report report;
	char *data = NULL;
	int r;

	if (watt_html_template_size == 0) {
		watt_log(&sink->log, WATT_LOG_ERROR,
			 "no page: this program was built without it, because npm or the network "
			 "was missing; the terminal and --json show the same numbers");
		return -ENOPKG;
	}
	r = watt_report_init(&report, sink->data, now, before);
	if (r == 0)
		r = make_data(&report, &data);
	if (r == 0) {
		fwrite(watt_html_template, 1, watt_html_template_hole, sink->out);
		write_safely(data, sink->out);
		fwrite(watt_html_template + watt_html_template_hole, 1,
		       watt_html_template_size - watt_html_template_hole, sink->out);
	}
	free(data);
	watt_report_done(&report);
	return r;
}

const struct watt_sink_ops watt_sink_html = {
	.info = {
		.sz = sizeof(struct watt_sink_info),
		.name = "html",
		.summary = "a page with charts and everything in it, for a browser",
		.suffixes = ".html",
		.mime = "text/html",
		.options = watt_report_options,
	},
	.data_size = sizeof(struct watt_report_choice),
	.n_kept = WATT_REPORT_KEPT,
	.set = set,
	.series = write_series,
};
