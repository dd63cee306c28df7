/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: a template that was built with the program, and in it the document and the windows.
 * All of it is data: no name can become markup or script, because no '<' gets out.
 *
 *     { "report": document, "series": { ... }, "other": windows of the other recording or null }
 *
 * Energies are integers of nJ, so that a sum over any windows on the page is exact; CPU time is
 * in us, each entity's rounded so that its sum is right to 1 us. An entity lists only windows in
 * which it used something, by the distance from the one before.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_document.h"
#include "report_template.h"
#include "xalloc.h"

static json_t *window_times(const struct watt_series *series)
{
	json_t *array = json_array();
	uint64_t last_ns = watt_series_get_info(series)->start_ns;
	size_t w;

	/* Ends, in us from the end before. */
	for (w = 0; w < watt_series_get_info(series)->n_windows; w++) {
		uint64_t t_ns = watt_series_get_window(series, w)->t1_ns;

		report_append(
			array,
			report_integer((t_ns - watt_series_get_info(series)->start_ns) / 1000 -
				       (last_ns - watt_series_get_info(series)->start_ns) / 1000));
		last_ns = t_ns;
	}
	return array;
}

/* One number of a domain in every window; null where it is not known. */
static json_t *domain_numbers(const struct watt_series *series, size_t domain, size_t offset)
{
	json_t *array = json_array();
	size_t w;

	for (w = 0; w < watt_series_get_info(series)->n_windows; w++) {
		const struct watt_series_energy *energy =
			&watt_series_get_window(series, w)->domains[domain];
		int64_t value;

		memcpy(&value, (const char *)energy + offset, sizeof(value));
		report_append(array,
			      energy->known_ns > 0 || value ? json_integer(value) : json_null());
	}
	return array;
}

/* For how long of each window a domain is known, in us. */
static json_t *known_times(const struct watt_series *series, size_t domain)
{
	json_t *array = json_array();
	size_t w;

	for (w = 0; w < watt_series_get_info(series)->n_windows; w++)
		report_append(
			array,
			report_integer(watt_series_get_window(series, w)->domains[domain].known_ns /
				       1000));
	return array;
}

static json_t *domain_series(const struct watt_series *series, size_t d)
{
	json_t *obj = json_object();

	report_set(obj, "path", report_text_value(watt_series_get_domain(series, d)->path));
	report_set(obj, "energy",
		   domain_numbers(series, d, offsetof(struct watt_series_energy, energy_nj)));
	report_set(obj, "idle",
		   domain_numbers(series, d, offsetof(struct watt_series_energy, idle_nj)));
	report_set(obj, "rest",
		   domain_numbers(series, d, offsetof(struct watt_series_energy, unattributed_nj)));
	report_set(obj, "known", known_times(series, d));
	return obj;
}

/* What is written of an entity while its windows go by. */
struct track {
	json_t *windows; /* distances */
	json_t *energy;
	json_t *cpu;
	size_t last;
	uint64_t cpu_ns;
};

static json_t *entity_series(const struct watt_series_entity *entity, const struct track *track)
{
	auto_free char *name = NULL;
	json_t *obj = json_object();

	if (watt_ranking_name(entity, &name) < 0)
		name = xstrdup(entity->name);
	if (entity->id)
		report_set(obj, "id", report_integer(entity->id));
	report_set(obj, "name", report_text_value(name));
	report_set(obj, "comm", report_text_value(watt_ranking_short_name(entity)));
	report_set(obj, "kind", json_string(watt_entity_kind_name(entity->kind)));
	if (entity->is_others)
		report_set(obj, "others", json_true());
	if (entity->pid)
		report_set(obj, "pid", json_integer(entity->pid));
	if (entity->uid >= 0)
		report_set(obj, "uid", json_integer(entity->uid));
	if (entity->container)
		report_set(obj, "container", report_text_value(entity->container));
	if (entity->unit)
		report_set(obj, "unit", report_text_value(entity->unit));
	report_set(obj, "count", json_integer(entity->count));
	report_set(obj, "w", track->windows);
	report_set(obj, "e", track->energy);
	report_set(obj, "c", track->cpu);
	return obj;
}

static void follow(struct track *track, size_t w, const struct watt_series_window *window, size_t c)
{
	report_append(track->windows, json_integer((json_int_t)(w - track->last)));
	report_append(track->energy, json_integer(window->total_nj[c]));
	report_append(track->cpu, report_integer((track->cpu_ns + window->cpu_ns[c]) / 1000 -
						 track->cpu_ns / 1000));
	track->cpu_ns += window->cpu_ns[c];
	track->last = w;
}

/* Sums that the page does not offer would be half of its size. */
static bool is_on_page(enum watt_entity_kind kind)
{
	return kind != WATT_ENTITY_CGROUP && kind != WATT_ENTITY_KERNEL &&
	       kind != WATT_ENTITY_TRACKED;
}

static json_t *entities_series(const struct watt_series *series)
{
	auto_free struct track *tracks =
		xcalloc(watt_series_get_info(series)->n_entities, sizeof(*tracks));
	json_t *array = json_array();
	size_t i, w, c;

	for (i = 0; i < watt_series_get_info(series)->n_entities; i++)
		tracks[i] = (struct track){ .windows = json_array(),
					    .energy = json_array(),
					    .cpu = json_array() };
	for (w = 0; w < watt_series_get_info(series)->n_windows; w++) {
		const struct watt_series_window *window = watt_series_get_window(series, w);

		for (c = 0; c < window->n_cells; c++)
			follow(&tracks[window->entity_index[c]], w, window, c);
	}
	for (i = 0; i < watt_series_get_info(series)->n_entities; i++) {
		json_t *entity = entity_series(watt_series_get_entity(series, i), &tracks[i]);

		if (is_on_page(watt_series_get_entity(series, i)->kind))
			report_append(array, entity);
		else
			json_decref(entity);
	}
	return array;
}

static json_t *series_value(const struct watt_series *series)
{
	json_t *obj = json_object(), *domains = json_array();
	size_t d;

	report_set(obj, "t", window_times(series));
	for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
		report_append(domains, domain_series(series, d));
	report_set(obj, "domains", domains);
	report_set(obj, "entities", entities_series(series));
	return obj;
}

/* Of the other recording only the curves of power are shown. */
static json_t *other_value(const struct report *report)
{
	json_t *obj, *domains;
	size_t d;

	if (!report->other)
		return json_null();
	obj = json_object();
	domains = json_array();
	report_set(obj, "file", report_text_value(report_file_name(report->other->path)));
	report_set(obj, "t", window_times(report->other->series));
	for (d = 0; d < watt_series_get_info(report->other->series)->n_domains; d++)
		if (watt_series_get_domain(report->other->series, d)->is_partition)
			report_append(domains, domain_series(report->other->series, d));
	report_set(obj, "domains", domains);
	return obj;
}

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

int report_html_print(const struct report *report, FILE *out)
{
	json_t *data;
	char *text;

	if (report_template_size == 0)
		return -ENOPKG;
	data = json_object();
	report_set(data, "report", report_document(report));
	report_set(data, "series", series_value(report->run->series));
	report_set(data, "other", other_value(report));
	text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(data);
	if (!text)
		return -ENOMEM;
	fwrite(report_template, 1, report_template_hole, out);
	write_safely(text, out);
	fwrite(report_template + report_template_hole, 1,
	       report_template_size - report_template_hole, out);
	free(text);
	return ferror(out) ? -EIO : 0;
}
