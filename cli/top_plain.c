/* SPDX-License-Identifier: Apache-2.0 */
/* A plain table for each refresh. It writes whole lines only and no escape sequence. */
#include "top_plain.h"

#include <unistd.h>

#include <wattribute/balance.h>
#include <wattribute/units.h>

#include "page.h"
#include "table.h"
#include "top_columns.h"
#include "top_gpus.h"
#include "top_header.h"

/* Command lines can be endless; who wants all of one asks for JSON. */
#define WIDTH_PIPE 160

static void print_rows(const struct top_frame *frame, const struct top_columns *columns, FILE *out)
{
	struct table *table = table_new();
	char cell[TOP_CELL_SIZE];
	size_t i, k;

	for (i = 0; i < columns->n; i++)
		table_add_column(table, columns->column[i].title,
				 columns->column[i].is_right ? TABLE_RIGHT : TABLE_CUT);
	for (k = 0; k < frame->model->n_rows; k++)
		for (i = 0; i < columns->n; i++)
			table_add(table, "%s",
				  top_columns_cell(columns, i, &frame->model->rows[k], cell));
	table_print(table, out, isatty(STDOUT_FILENO) ? page_get_width(stdout, 1000) : WIDTH_PIPE);
	table_free(table);
}

static void print_gpus(const struct top_gpus *gpus, const struct watt_view *view, FILE *out)
{
	size_t i, width = isatty(STDOUT_FILENO) ? page_get_width(stdout, 1000) : WIDTH_PIPE;
	char line[TOP_GPUS_LINE];

	if (gpus->n)
		fprintf(out, "\n%s\n", top_gpus_titles(gpus, width, line));
	for (i = 0; i < gpus->n; i++) {
		const char *untold = top_gpus_untold(&gpus->gpu[i], view);

		fprintf(out, "%s\n", top_gpus_line(gpus, i, view, width, line));
		if (untold)
			fprintf(out, "  who uses it %s\n", untold);
	}
}

void top_plain_print(const struct top_frame *frame, FILE *out)
{
	struct top_columns columns = { .is_joules = frame->is_joules, .is_live = frame->is_live };
	struct watt_balance balance = { .sz = sizeof(balance) };
	struct top_gpus gpus;
	char line[1024], phase[256], number[WATT_UNITS_SIZE];

	watt_balance_draw(frame->view, &balance);
	fprintf(out, "%s, over %s%s\n", top_header_power(&balance, line, sizeof(line)),
		watt_units_time(number, (double)frame->view->window_ns / 1e9, 3),
		top_header_phase(frame->phase, phase, sizeof(phase)));
	fprintf(out, "%s\n", top_header_watts(&balance, line, sizeof(line)));
	fprintf(out, "%s since the start, %s ago\n",
		top_header_joules(&balance, line, sizeof(line)),
		watt_units_elapsed(number,
				   (double)(frame->view->t_ns - frame->view->start_ns) / 1e9));
	fprintf(out, "%s\n",
		top_header_trust(&balance, frame->view->quality, frame->usage, frame->late, line,
				 sizeof(line)));
	if (*top_header_node(frame->view, line, sizeof(line)))
		fprintf(out, "%s\n", line);
	top_gpus_find(&gpus, frame->view);
	if (*top_header_context(frame->view, &gpus, line, sizeof(line)))
		fprintf(out, "%s\n", line);
	print_gpus(&gpus, frame->view, out);
	fputc('\n', out);
	top_columns_choose(&columns, frame->model, frame->view, frame->has_domains, 0);
	print_rows(frame, &columns, out);
	if (frame->model->n_hidden)
		fprintf(out, "(%zu rows without '%s' are not shown)\n", frame->model->n_hidden,
			frame->model->filter);
	fputc('\n', out);
	fflush(out);
}
