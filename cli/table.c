/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned columns. A table that is too wide loses from its cuttable columns, never a number. */
#include "table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "xalloc.h"

#define COLUMNS_MAX 32
#define CELL_MAX 1024
#define GAP 2

struct column {
	char *title;
	unsigned int flags;
};

struct table {
	struct column columns[COLUMNS_MAX];
	size_t n_columns;
	char **cells;
	size_t n_cells;
	size_t cap;
};

struct table *table_new(void)
{
	return xcalloc(1, sizeof(struct table));
}

struct table *table_free(struct table *table)
{
	size_t i;

	if (!table)
		return NULL;
	for (i = 0; i < table->n_columns; i++)
		free(table->columns[i].title);
	for (i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
	return NULL;
}

void table_add_column(struct table *table, const char *title, unsigned int flags)
{
	char clean[CELL_MAX];

	if (table->n_columns == COLUMNS_MAX)
		return;
	table->columns[table->n_columns].title = xstrdup(text_clean(clean, sizeof(clean), title));
	table->columns[table->n_columns++].flags = flags;
}

void table_add(struct table *table, const char *format, ...)
{
	char text[CELL_MAX], clean[CELL_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (table->n_cells == table->cap) {
		table->cap = table->cap ? table->cap * 2 : 64;
		table->cells = xrealloc(table->cells, table->cap, sizeof(*table->cells));
	}
	table->cells[table->n_cells++] = xstrdup(text_clean(clean, sizeof(clean), text));
}

size_t table_get_row_count(const struct table *table)
{
	return table->n_columns ? table->n_cells / table->n_columns : 0;
}

/* Widths that the content asks for; 0 for a column without any. Returns their sum with gaps. */
static size_t measure(const struct table *table, size_t *widths)
{
	size_t i, sum = 0;

	memset(widths, 0, COLUMNS_MAX * sizeof(*widths));
	for (i = 0; i < table->n_cells; i++) {
		size_t width = text_width(table->cells[i]);

		if (width > widths[i % table->n_columns])
			widths[i % table->n_columns] = width;
	}
	for (i = 0; i < table->n_columns; i++) {
		size_t title = text_width(table->columns[i].title);

		if (widths[i] == 0)
			continue;
		if (title > widths[i])
			widths[i] = title;
		sum += widths[i] + (sum ? GAP : 0);
	}
	return sum;
}

/* Takes what is too much from the widest columns that may be cut. */
static void shrink(const struct table *table, size_t *widths, size_t excess)
{
	while (excess > 0) {
		size_t i, widest = COLUMNS_MAX;

		for (i = 0; i < table->n_columns; i++)
			if ((table->columns[i].flags & TABLE_CUT) && widths[i] > 4 &&
			    (widest == COLUMNS_MAX || widths[i] > widths[widest]))
				widest = i;
		if (widest == COLUMNS_MAX)
			return;
		widths[widest]--;
		excess--;
	}
}

static void print_row(const struct table *table, const size_t *widths, FILE *out,
		      const char *const *cells)
{
	size_t i, pad = 0;

	for (i = 0; i < table->n_columns; i++) {
		char cell[CELL_MAX + 8];
		size_t width;

		if (widths[i] == 0)
			continue;
		text_fit(cell, sizeof(cell), cells[i], widths[i]);
		width = text_width(cell);
		/* Padding is written when something follows: no line ends in spaces. */
		if (table->columns[i].flags & TABLE_RIGHT)
			pad += widths[i] - width;
		if (*cell)
			fprintf(out, "%*s%s", (int)pad, "", cell);
		pad = (*cell ? 0 : pad) + GAP;
		if (!(table->columns[i].flags & TABLE_RIGHT))
			pad += widths[i] - width;
	}
	fputc('\n', out);
}

void table_print(const struct table *table, FILE *out, size_t width)
{
	const char *titles[COLUMNS_MAX];
	size_t widths[COLUMNS_MAX], sum, row, i;

	if (table->n_columns == 0)
		return;
	sum = measure(table, widths);
	if (width > 0 && sum > width)
		shrink(table, widths, sum - width);
	for (i = 0; i < table->n_columns; i++)
		titles[i] = table->columns[i].title;
	print_row(table, widths, out, titles);
	for (row = 0; row < table_get_row_count(table); row++)
		print_row(table, widths, out,
			  (const char *const *)table->cells + row * table->n_columns);
}
