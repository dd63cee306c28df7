/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in the columns of `top`. All of a quantity have the same decimals. */
#include "top_columns.h"

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "top_gpus.h"

#define NAME_LEAST 20
#define WHOLE 4
#define DECIMALS 3
#define DOMAIN_MOST 14

static struct top_column *add(struct top_columns *columns, enum top_column_kind kind, size_t width,
			      bool is_right, const char *title)
{
	struct top_column *column = &columns->column[columns->n];

	if (columns->n == TOP_COLUMNS_MAX)
		return NULL;
	*column = (struct top_column){ .kind = kind, .width = width, .is_right = is_right };
	text_clean(column->title, sizeof(column->title), title);
	columns->n++;
	return column;
}

static size_t used_width(const struct top_columns *columns)
{
	size_t i, sum = 0;

	for (i = 0; i < columns->n; i++)
		sum += columns->column[i].width + 1;
	return sum;
}

/* The end of a path tells more than its beginning. */
static const char *short_path(const char *path, char *buf)
{
	size_t len = strlen(path);

	if (len <= DOMAIN_MOST)
		return path;
	snprintf(buf, DOMAIN_MOST + 1, "~%s", path + len - (DOMAIN_MOST - 1));
	return buf;
}

/* The domains of the partition first: they add up to the column of watts. */
static void add_domains(struct top_columns *columns, const struct watt_view *view, size_t width)
{
	char title[DOMAIN_MOST + 1];
	int pass;
	size_t i;

	for (pass = 1; pass >= 0; pass--) {
		for (i = 0; i < view->n_domains; i++) {
			size_t least = strlen(view->domains[i]->path);
			struct top_column *column;

			least = least < 8 ? 8 : least > DOMAIN_MOST ? DOMAIN_MOST : least;
			if (columns->n + 1 >= TOP_COLUMNS_MAX ||
			    (view->domains[i]->is_partition != 0) != pass)
				continue;
			if (width > 0 && used_width(columns) + least + 1 + NAME_LEAST > width)
				continue;
			column = add(columns, TOP_COLUMN_DOMAIN, least, true,
				     short_path(view->domains[i]->path, title));
			column->domain = i;
		}
	}
}

/* Nothing that is added up has told of any energy. */
static bool is_unknown(const struct watt_view *view)
{
	size_t i;

	for (i = 0; i < view->n_domains; i++)
		if (view->domains[i]->is_partition && watt_view_has_energy(view->states[i]))
			return false;
	return true;
}

/* Of all that is added up, nothing is divided among anybody. */
static bool is_unshared(const struct watt_view *view)
{
	bool is_known = false;
	size_t i;

	for (i = 0; i < view->n_domains; i++) {
		if (!view->domains[i]->is_partition || !watt_view_has_energy(view->states[i]))
			continue;
		if (view->states[i]->key != WATT_KEY_NONE)
			return false;
		is_known = true;
	}
	return is_known;
}

/* Whether a key tells how unsure anybody's share is, and there is room to say so. */
static bool is_doubt_shown(const struct top_columns *columns, const struct top_model *model,
			   size_t width)
{
	size_t i, columns_more = model->group == TOP_BY_TREE ? 2 : 1;

	if (width &&
	    used_width(columns) + columns_more * (WHOLE + DECIMALS + 2) + NAME_LEAST > width)
		return false;
	for (i = 0; i < model->n_rows; i++)
		if (model->rows[i].uncertainty_w > 0)
			return true;
	return false;
}

static bool has_gpus(const struct watt_view *view)
{
	size_t i;

	for (i = 0; i < view->n_domains; i++)
		if (watt_view_is_gpu(view->domains[i]))
			return true;
	return false;
}

void top_columns_choose(struct top_columns *columns, const struct top_model *model,
			const struct watt_view *view, bool has_domains, size_t width)
{
	bool is_tree = model->group == TOP_BY_TREE;
	bool has_pid = model->group == TOP_BY_PROCESS || is_tree;

	columns->n = 0;
	columns->decimals_w = model->decimals_w;
	columns->decimals_j = model->decimals_j;
	columns->is_unknown = is_unknown(view);
	columns->is_unshared = is_unshared(view);
	if (has_pid) {
		add(columns, TOP_COLUMN_PID, 7, true, "PID");
		add(columns, TOP_COLUMN_USER, 8, false, "USER");
	} else {
		add(columns, TOP_COLUMN_COUNT, 7, true, "PROCS");
	}
	add(columns, TOP_COLUMN_CPU, 6, true, "CPU%");
	add(columns, TOP_COLUMN_POWER, WHOLE + DECIMALS + 1, true, "W");
	if (has_gpus(view))
		add(columns, TOP_COLUMN_GPU, WHOLE + DECIMALS + 1, true, "GPU W");
	add(columns, TOP_COLUMN_ENERGY, WHOLE + DECIMALS + 2, true, "J");
	if (is_doubt_shown(columns, model, width))
		add(columns, TOP_COLUMN_UNCERTAINTY, WHOLE + DECIMALS + 1, true,
		    text_is_utf8() ? "±W" : "+-W");
	if (is_tree)
		add(columns, TOP_COLUMN_TREE, WHOLE + DECIMALS + 1, true,
		    columns->is_joules ? "TREE J" : "TREE W");
	if (has_domains)
		add_domains(columns, view, width);
	add(columns, TOP_COLUMN_NAME, 0, false,
	    has_pid                          ? "COMMAND" :
	    model->group == TOP_BY_CONTAINER ? "CONTAINER" :
	    model->group == TOP_BY_UNIT      ? "UNIT" :
	    model->group == TOP_BY_USER      ? "USER" :
	    model->group == TOP_BY_JOB       ? "JOB" :
					       "CGROUP");
}

static char *format_user(const struct top_columns *columns, const struct top_row *row, char *buf)
{
	struct passwd entry, *found = NULL;
	char room[1024];

	if (row->uid < 0)
		return strcpy(buf, "");
	/* Another machine's users are not in our passwd file. */
	if (columns->is_live &&
	    getpwuid_r((uid_t)row->uid, &entry, room, sizeof(room), &found) == 0 && found)
		return text_clean(buf, TOP_CELL_SIZE, found->pw_name);
	snprintf(buf, TOP_CELL_SIZE, "%lld", (long long)row->uid);
	return buf;
}

/* What is shown adds up; but a part too small to be seen is not nothing. */
static char *format_quantity(double value, double shown, int decimals, char *buf)
{
	if (isnan(value))
		return strcpy(buf, "-");
	if (value > 0 && shown == 0)
		snprintf(buf, TOP_CELL_SIZE, "<%.*f", decimals, pow(10, -decimals));
	else
		snprintf(buf, TOP_CELL_SIZE, "%.*f", decimals, shown == 0 ? 0 : shown);
	return buf;
}

/* Rounded by itself: it is in no sum. */
static char *format_alone(double value, int decimals, char *buf)
{
	double scale = pow(10, decimals);

	return format_quantity(value, round(value * scale) / scale, decimals, buf);
}

static char *format_name(const struct top_row *row, char *buf)
{
	snprintf(buf, TOP_CELL_SIZE, "%s%s", row->stem, row->name);
	return buf;
}

static bool is_nobody(const struct top_row *row)
{
	return row->kind == WATT_ENTITY_IDLE || row->kind == WATT_ENTITY_UNATTRIBUTED;
}

static bool is_quantity(enum top_column_kind kind)
{
	return kind == TOP_COLUMN_POWER || kind == TOP_COLUMN_UNCERTAINTY ||
	       kind == TOP_COLUMN_ENERGY || kind == TOP_COLUMN_TREE || kind == TOP_COLUMN_GPU ||
	       kind == TOP_COLUMN_DOMAIN;
}

/* Nobody told what it used: that is no 0. */
static bool is_untold(const struct top_columns *columns, const struct top_row *row)
{
	bool may_be_known = !columns->is_unknown && (!columns->is_unshared || is_nobody(row));

	return !may_be_known && watt_energy_is_zero(row->energy) && watt_energy_is_zero(row->tree);
}

char *top_columns_cell(const struct top_columns *columns, size_t i, const struct top_row *row,
		       char *buf)
{
	const struct top_column *column = &columns->column[i];

	buf[0] = '\0';
	if (is_quantity(column->kind) && is_untold(columns, row))
		return strcpy(buf, "-");
	switch (column->kind) {
	case TOP_COLUMN_PID:
		if (row->pid)
			snprintf(buf, TOP_CELL_SIZE, "%u", row->pid);
		break;
	case TOP_COLUMN_COUNT:
		if (row->count)
			snprintf(buf, TOP_CELL_SIZE, "%u", row->count);
		break;
	case TOP_COLUMN_USER:
		return format_user(columns, row, buf);
	case TOP_COLUMN_CPU:
		if (!is_nobody(row))
			snprintf(buf, TOP_CELL_SIZE, "%.1f", row->cpu_ratio * 100);
		break;
	case TOP_COLUMN_POWER:
		return format_quantity(row->power_w, row->shown_w, columns->decimals_w, buf);
	case TOP_COLUMN_GPU:
		return format_alone(row->gpu_w, columns->decimals_w, buf);
	case TOP_COLUMN_ENERGY:
		return format_quantity(watt_energy_to_j(row->energy), row->shown_j,
				       columns->decimals_j, buf);
	case TOP_COLUMN_UNCERTAINTY:
		return is_nobody(row) ? buf :
					format_alone(row->uncertainty_w, columns->decimals_w, buf);
	case TOP_COLUMN_TREE:
		if (columns->is_joules)
			return format_quantity(watt_energy_to_j(row->tree), row->shown_tree_j,
					       columns->decimals_j, buf);
		return format_quantity(row->tree_w, row->shown_tree_w, columns->decimals_w, buf);
	case TOP_COLUMN_DOMAIN:
		if (columns->is_joules)
			return format_alone(watt_energy_to_j(row->domain[column->domain]),
					    columns->decimals_j, buf);
		return format_alone(row->domain_w[column->domain], columns->decimals_w, buf);
	case TOP_COLUMN_NAME:
		return format_name(row, buf);
	}
	return buf;
}
