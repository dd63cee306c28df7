/* SPDX-License-Identifier: Apache-2.0 */
/* Lines about GPUs. Missing is "-" or said in a word, never shown as 0. */
#include "top_gpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/units.h>

#include "text.h"
#include "usage.h"

#define PATH_MOST 28
#define NAME_LEAST 12
#define NAME_MOST 32
/* From so many columns on there is room for more of each. */
#define WIDE 110
#define BAR_MOST 60

/* ---- what each is like ---- */

/* "nvml/gpu-0000:0d:00_0/load" tells of that domain; returns its last part. NULL: of another. */
static const char *part_of(const struct watt_gauge *gauge, const char *path)
{
	const char *of = strchr(gauge->name, '/');
	const char *part = strrchr(gauge->name, '/');
	size_t len = strlen(path);

	if (!of || part == of || (size_t)(part - of - 1) != len || strncmp(of + 1, path, len))
		return NULL;
	return part + 1;
}

/* "NVIDIA H100 load" is the load of an NVIDIA H100. */
static void take_model(struct top_gpu *gpu, const struct watt_gauge *gauge, const char *part)
{
	size_t len = gauge->label ? strlen(gauge->label) : 0, tail = strlen(part) + 1;
	char name[sizeof(gpu->model)];

	if (*gpu->model || len <= tail || strcmp(gauge->label + len - tail + 1, part) != 0 ||
	    len - tail >= sizeof(name))
		return;
	memcpy(name, gauge->label, len - tail);
	name[len - tail] = '\0';
	text_clean(gpu->model, sizeof(gpu->model), name);
}

static void take_gauge(struct top_gpu *gpu, const struct watt_gauge *gauge, const char *part)
{
	const struct {
		const char *part;
		double *value;
	} numbers[] = {
		{ "load", &gpu->load },
		{ "memory_used", &gpu->memory_b },
		{ "temperature", &gpu->temperature_c },
		{ "hotspot_temperature", &gpu->temperature_c },
		{ "clock", &gpu->clock_hz },
		{ "memory_clock", &gpu->memory_clock_hz },
		{ "power_limit", &gpu->limit_w },
	};
	size_t i;

	take_model(gpu, gauge, part);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(part, numbers[i].part) && isnan(*numbers[i].value))
			*numbers[i].value = watt_gauge_get_now(gauge);
	if (!strcmp(part, "held_by_power"))
		gpu->is_held_by_power = watt_gauge_get_now(gauge) > 0;
	if (!strcmp(part, "held_by_heat"))
		gpu->is_held_by_heat = watt_gauge_get_now(gauge) > 0;
}

static void add_gpu(struct top_gpus *gpus, const struct watt_view *view, size_t domain)
{
	const struct watt_domain_state *state = view->states[domain];
	const char *path = view->domains[domain]->path, *part;
	struct top_gpu *gpu = &gpus->gpu[gpus->n++];
	size_t i, width;

	*gpu = (struct top_gpu){ .domain = domain,
				 .is_part = !watt_view_is_whole_gpu(view, domain),
				 .power_w = watt_view_power_w(state, state->window_nj),
				 .limit_w = NAN,
				 .load = NAN,
				 .memory_b = NAN,
				 .temperature_c = NAN,
				 .clock_hz = NAN,
				 .memory_clock_hz = NAN };
	for (i = 0; i < view->n_gauges; i++) {
		part = part_of(view->gauges[i], path);
		if (part)
			take_gauge(gpu, view->gauges[i], part);
	}
	width = text_width(gpu->is_part ? view->domains[domain]->name : path) + 2 * gpu->is_part;
	gpus->path_width = width > gpus->path_width ? width : gpus->path_width;
	if (gpus->path_width > PATH_MOST)
		gpus->path_width = PATH_MOST;
}

static void add_below(struct top_gpus *gpus, const struct watt_view *view, int32_t parent)
{
	size_t i;

	for (i = 0; i < view->n_domains && gpus->n < TOP_GPUS_MAX; i++) {
		if (view->domains[i]->parent != parent)
			continue;
		if (watt_view_is_gpu(view->domains[i]))
			add_gpu(gpus, view, i);
		add_below(gpus, view, (int32_t)i);
	}
}

void top_gpus_find(struct top_gpus *gpus, const struct watt_view *view)
{
	gpus->n = 0;
	gpus->path_width = 0;
	add_below(gpus, view, -1);
}

bool top_gpus_has_gauge(const struct top_gpus *gpus, const struct watt_view *view,
			const struct watt_gauge *gauge)
{
	size_t i;

	for (i = 0; i < gpus->n; i++)
		if (part_of(gauge, view->domains[gpus->gpu[i].domain]->path))
			return true;
	return false;
}

/* ---- lines ---- */

/* Pads text, which is clean, to the width of a column. */
static size_t put(char *buf, size_t used, const char *text, size_t width, bool is_right)
{
	char cut[128];
	size_t len;

	text_fit(cut, sizeof(cut), text, width);
	len = width - text_width(cut);
	return used + (size_t)snprintf(buf + used, TOP_GPUS_LINE - used, "%*s%s%*s ",
				       is_right ? (int)len : 0, "", cut, is_right ? 0 : (int)len,
				       "");
}

static char *end(char *buf, size_t width)
{
	char whole[TOP_GPUS_LINE];
	size_t len = strlen(buf);

	while (len > 0 && buf[len - 1] == ' ')
		buf[--len] = '\0';
	if (width == 0 || text_width(buf) <= width)
		return buf;
	strcpy(whole, buf);
	return text_fit(buf, TOP_GPUS_LINE, whole, width);
}

static bool is_wide(size_t width)
{
	return width == 0 || width >= WIDE;
}

static const struct column {
	const char *title;
	size_t width;
	bool is_for_wide;
} columns[] = {
	{ "POWER", 8, false },    { "LIMIT", 8, false }, { "LOAD", 6, false },
	{ "MEMORY", 9, false },   { "TEMP", 6, false },  { "CLOCK", 8, false },
	{ "MEM CLOCK", 9, true },
};

char *top_gpus_titles(const struct top_gpus *gpus, size_t width, char *buf)
{
	size_t i, used = put(buf, 0, "GPU", gpus->path_width, false);

	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (!columns[i].is_for_wide || is_wide(width))
			used = put(buf, used, columns[i].title, columns[i].width, true);
	used = put(buf, used, "HELD BY", 10, false);
	if (is_wide(width))
		put(buf, used, "MODEL", sizeof(gpus->gpu[0].model), false);
	return end(buf, width);
}

static const char *quantity(char *buf, enum watt_quantity quantity, double value, int digits)
{
	return isnan(value) ? "-" : watt_units_quantity(buf, quantity, value, digits);
}

char *top_gpus_line(const struct top_gpus *gpus, size_t i, const struct watt_view *view,
		    size_t width, char *buf)
{
	const struct top_gpu *gpu = &gpus->gpu[i];
	const struct watt_domain *domain = view->domains[gpu->domain];
	char path[128], clean[128], number[sizeof(columns) / sizeof(columns[0])][WATT_UNITS_SIZE];
	const char *cells[] = {
		isnan(gpu->power_w) ? watt_status_name(view->states[gpu->domain]->status) :
				      watt_units_power(number[0], gpu->power_w,
						       watt_units_digits(domain->uncertainty_ppm)),
		isnan(gpu->limit_w) ? "-" : watt_units_power(number[1], gpu->limit_w, 3),
		quantity(number[2], WATT_QUANTITY_RATIO, gpu->load, 2),
		quantity(number[3], WATT_QUANTITY_MEMORY, gpu->memory_b, 3),
		quantity(number[4], WATT_QUANTITY_TEMPERATURE, gpu->temperature_c, 2),
		quantity(number[5], WATT_QUANTITY_FREQUENCY, gpu->clock_hz, 3),
		quantity(number[6], WATT_QUANTITY_FREQUENCY, gpu->memory_clock_hz, 3),
	};
	size_t k, used;

	snprintf(path, sizeof(path), "%s%s", gpu->is_part ? "  " : "",
		 text_clean(clean, sizeof(clean) - 2, gpu->is_part ? domain->name : domain->path));
	used = put(buf, 0, path, gpus->path_width, false);
	for (k = 0; k < sizeof(columns) / sizeof(columns[0]); k++)
		if (!columns[k].is_for_wide || is_wide(width))
			used = put(buf, used, cells[k], columns[k].width, true);
	used = put(buf, used,
		   gpu->is_held_by_power && gpu->is_held_by_heat ? "power,heat" :
		   gpu->is_held_by_power                         ? "power" :
		   gpu->is_held_by_heat                          ? "heat" :
								   "",
		   10, false);
	if (is_wide(width))
		put(buf, used, gpu->model, sizeof(gpu->model), false);
	return end(buf, width);
}

/* ---- who is on it ---- */

const char *top_gpus_untold(const struct top_gpu *gpu, const struct watt_view *view)
{
	return gpu->is_part ? NULL : usage_untold(view->states[gpu->domain]->users_status);
}

static bool is_nobody(const struct top_row *row)
{
	return row->kind == WATT_ENTITY_IDLE || row->kind == WATT_ENTITY_UNATTRIBUTED;
}

struct by_power {
	const struct top_model *model;
	size_t domain;
};

static int compare(const void *left, const void *right, void *data)
{
	const struct by_power *by = data;
	const struct top_row *a = &by->model->rows[*(const size_t *)left];
	const struct top_row *b = &by->model->rows[*(const size_t *)right];
	double a_w = a->domain_w[by->domain], b_w = b->domain_w[by->domain];
	int by_w;

	if (is_nobody(a) != is_nobody(b))
		return is_nobody(a) - is_nobody(b);
	by_w = (b_w > a_w) - (b_w < a_w);
	return by_w ? by_w : (a->id > b->id) - (a->id < b->id);
}

size_t top_gpus_users(const struct top_gpu *gpu, const struct top_model *model, size_t *ret)
{
	struct by_power by = { model, gpu->domain };
	size_t i, n = 0;

	/* threads are parts of the process above them */
	for (i = 0; i < model->n_rows; i++)
		if (!model->rows[i].process_id && model->rows[i].domain_w[gpu->domain] > 0)
			ret[n++] = i;
	if (n > 0)
		qsort_r(ret, n, sizeof(*ret), compare, &by);
	return n;
}

/* A bar of eighths of a column, or of '#' where the terminal has no such characters. */
static void draw_bar(char *buf, size_t size, double share, size_t width)
{
	size_t eighths = (size_t)(fmin(fmax(share, 0), 1) * 8 * (double)width + 0.5), used = 0, i;

	for (i = 0; i < width && used + 4 < size; i++) {
		size_t left = eighths > 8 * i ? eighths - 8 * i : 0;

		if (!text_is_utf8())
			buf[used++] = left >= 4 ? '#' : ' ';
		else if (left >= 8)
			used += (size_t)snprintf(buf + used, size - used, "\u2588");
		else if (left > 0) /* U+2588 is the whole block, U+258F its first eighth */
			used += (size_t)snprintf(buf + used, size - used, "\xe2\x96%c",
						 (char)(0x90 - left));
		else
			buf[used++] = ' ';
	}
	buf[used] = '\0';
}

char *top_gpus_bar(const struct top_gpu *gpu, const struct top_row *row, size_t width, char *buf)
{
	/* indent, pid and power stand before and behind name and bar */
	size_t room = width ? width : 120, fixed = 2 + 8 + 6 + 10, name_width, bar_width, used;
	char pid[16] = "", number[WATT_UNITS_SIZE], part[16], bar[4 * BAR_MOST + 4];
	double power_w = row->domain_w[gpu->domain], share = power_w / gpu->power_w;

	room = room > fixed + NAME_LEAST ? room - fixed : NAME_LEAST;
	name_width = room / 2 > NAME_MOST ? NAME_MOST : room / 2;
	bar_width = room - name_width > BAR_MOST ? BAR_MOST : room - name_width;
	if (row->pid)
		snprintf(pid, sizeof(pid), "%u", row->pid);
	snprintf(part, sizeof(part), "%.0f %%", 100 * share);
	draw_bar(bar, sizeof(bar), share, bar_width - 1);
	buf[0] = '\0';
	used = put(buf, 0, "", 1, false);
	used = put(buf, used, pid, 7, true);
	used = put(buf, used, row->name, name_width, false);
	used += (size_t)snprintf(buf + used, TOP_GPUS_LINE - used, "%s ", bar);
	used = put(buf, used, part, 5, true);
	put(buf, used, watt_units_power(number, power_w, 3), 8, true);
	return end(buf, width);
}
