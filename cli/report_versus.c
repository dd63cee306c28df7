/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two recordings compared, for a terminal: whether energy was saved, and by how much each part
 * differs. All energies have the same decimals, and so have powers and times. What the domains show
 * adds up to what the machine shows.
 */
#include <math.h>
#include <stdbool.h>

#include <wattribute/units.h>

#include "report.h"
#include "report_line.h"
#include "table.h"
#include "tally.h"
#include "text.h"
#include "xalloc.h"

#define DECIMALS 3

/* As wide as it must be to tell times and watts of both, too. */
#define WIDTH_OF_BOTH 120

/* Less than what is shown of it. */
static bool is_alike(const struct watt_comparison_row *row)
{
	return fabs(row->energy_ratio) < 0.0005;
}

static const char *verdict_of(const struct watt_comparison_row *row)
{
	if (!row->now->is_there || !row->before->is_there)
		return row->now->is_there ? "new" : row->before->is_there ? "gone" : "-";
	if (!isfinite(row->energy_j))
		return "not known";
	if (row->energy_basis == WATT_COMPARISON_NOTHING && is_alike(row))
		return "no difference seen";
	if (row->energy_basis == WATT_COMPARISON_NOTHING)
		return row->energy_j < 0 ? "less, unsure" :
		       row->energy_j > 0 ? "more, unsure" :
					   "the same";
	if (!row->is_energy_significant)
		return "may be chance";
	return row->energy_j < 0 ? "less" : "more";
}

static double change(double now, double before)
{
	return before != 0 ? (now - before) / before : NAN;
}

static void add_change(struct table *table, const struct watt_comparison_row *row, double ratio)
{
	if (row->now->is_there && row->before->is_there && isfinite(ratio))
		table_add(table, "%+.1f %%", ratio * 100);
	else
		table_add(table, "-");
}

static void add_name(struct table *table, const struct watt_comparison_row *row)
{
	size_t before = row->before->n_runs, now = row->now->n_runs;

	if (before > 1 || now > 1)
		table_add(table, "%s (mean of %zu and %zu)", row->name, before, now);
	else
		table_add(table, "%s", row->name);
}

/* Decimals of a page of two: what the greater one can stand. */
struct decimals {
	int energy, power, time;
};

static struct decimals decimals_of(const struct report *report)
{
	const struct watt_comparison_row *total =
		watt_comparison_get(report->comparison, WATT_COMPARISON_TOTAL, 0);
	const struct watt_comparison_side *now = total->now, *before = total->before;
	int digits = tally_digits(report->run->balance.uncertainty_ppm);

	return (struct decimals){
		watt_units_decimals(fmax(now->run_j, before->run_j), digits, DECIMALS),
		watt_units_decimals(fmax(now->power_w, before->power_w), digits, DECIMALS),
		watt_units_decimals(fmax(now->run_s, before->run_s), 4, DECIMALS),
	};
}

/* A column of a table: each number as it is, or, of parts, so that they add up to their whole. */
struct column {
	double (*get)(const struct watt_comparison_row *row);
	int decimals;
	struct watt_tally *tally; /* NULL: they are no parts */
};

enum {
	J_BEFORE,
	J_NOW,
	W_BEFORE,
	W_NOW,
	N_COLUMNS,
};

struct columns {
	struct column list[N_COLUMNS];
	int time_decimals;
	bool has_both; /* times and watts of both, too */
};

static double get_before_j(const struct watt_comparison_row *row)
{
	return row->before->is_there ? row->before->run_j : NAN;
}

static double get_now_j(const struct watt_comparison_row *row)
{
	return row->now->is_there ? row->now->run_j : NAN;
}

static double get_before_w(const struct watt_comparison_row *row)
{
	return row->before->is_there ? row->before->power_w : NAN;
}

static double get_now_w(const struct watt_comparison_row *row)
{
	return row->now->is_there ? row->now->power_w : NAN;
}

static struct columns columns_of(const struct report *report, size_t width)
{
	struct decimals decimals = decimals_of(report);

	return (struct columns){
		.list = { [J_BEFORE] = { .get = get_before_j, .decimals = decimals.energy },
			  [J_NOW] = { .get = get_now_j, .decimals = decimals.energy },
			  [W_BEFORE] = { .get = get_before_w, .decimals = decimals.power },
			  [W_NOW] = { .get = get_now_w, .decimals = decimals.power } },
		.time_decimals = decimals.time,
		.has_both = width == 0 || width >= WIDTH_OF_BOTH,
	};
}

static void free_tallies(struct columns *columns)
{
	size_t i;

	for (i = 0; i < N_COLUMNS; i++)
		tally_free(&columns->list[i].tally);
}

static size_t count(const struct report *report, enum watt_comparison_list list)
{
	size_t n = 0;

	while (watt_comparison_get(report->comparison, list, n))
		n++;
	return n;
}

/* The rows of a list are all there is of the machine. */
static void make_parts(struct columns *columns, const struct report *report,
		       enum watt_comparison_list list)
{
	size_t n = count(report, list), c, i;
	auto_free double *parts = xcalloc(n, sizeof(*parts));

	for (c = 0; c < N_COLUMNS; c++) {
		struct column *column = &columns->list[c];
		double whole = column->get(
			watt_comparison_get(report->comparison, WATT_COMPARISON_TOTAL, 0));

		for (i = 0; i < n; i++)
			parts[i] = column->get(watt_comparison_get(report->comparison, list, i));
		if (isfinite(whole))
			column->tally = tally_within(parts, n, whole,
						     tally_round(whole, column->decimals),
						     column->decimals);
	}
}

static void add_number(struct table *table, const struct column *column,
		       const struct watt_comparison_row *row, size_t i)
{
	char number[WATT_UNITS_SIZE];

	if (column->tally)
		table_add(table, "%s", watt_tally_text(column->tally, i, number));
	else
		report_number(table, column->get(row), column->decimals);
}

/* i: of its list */
static void add_comparison(struct table *table, const struct watt_comparison_row *row, size_t i,
			   const struct columns *columns)
{
	const char *sign = text_is_utf8() ? "\u00b1" : "+-";
	const struct watt_comparison_side *now = row->now, *before = row->before;

	add_name(table, row);
	add_number(table, &columns->list[J_BEFORE], row, i);
	add_number(table, &columns->list[J_NOW], row, i);
	add_change(table, row, row->energy_ratio);
	if (row->energy_basis != WATT_COMPARISON_NOTHING && isfinite(row->energy_ci95_ratio))
		table_add(table, "%s%.1f %%", sign, row->energy_ci95_ratio * 100);
	else
		table_add(table, "-");
	table_add(table, "%s", verdict_of(row));
	if (columns->has_both) {
		report_number(table, before->is_there ? before->run_s : NAN,
			      columns->time_decimals);
		report_number(table, now->is_there ? now->run_s : NAN, columns->time_decimals);
	}
	add_change(table, row, change(now->run_s, before->run_s));
	if (columns->has_both) {
		add_number(table, &columns->list[W_BEFORE], row, i);
		add_number(table, &columns->list[W_NOW], row, i);
	}
	add_change(table, row, row->difference_ratio);
}

static struct table *comparison_table(const char *title, bool has_both)
{
	struct table *table = table_new();

	table_add_column(table, title, TABLE_CUT);
	table_add_column(table, "J BEFORE", TABLE_RIGHT);
	table_add_column(table, "J NOW", TABLE_RIGHT);
	table_add_column(table, "ENERGY", TABLE_RIGHT);
	table_add_column(table, "95 %", TABLE_RIGHT);
	table_add_column(table, "VERDICT", 0);
	if (has_both) {
		table_add_column(table, "s BEFORE", TABLE_RIGHT);
		table_add_column(table, "s NOW", TABLE_RIGHT);
	}
	table_add_column(table, "TIME", TABLE_RIGHT);
	if (has_both) {
		table_add_column(table, "W BEFORE", TABLE_RIGHT);
		table_add_column(table, "W NOW", TABLE_RIGHT);
	}
	table_add_column(table, "POWER", TABLE_RIGHT);
	return table;
}

static void print_list(const struct report *report, enum watt_comparison_list list,
		       const char *title, FILE *out, size_t width)
{
	struct columns columns = columns_of(report, width);
	const struct watt_comparison_row *row;
	struct table *table;
	size_t i;

	if (!watt_comparison_get(report->comparison, list, 0))
		return;
	if (list == WATT_COMPARISON_DOMAINS)
		make_parts(&columns, report, list);
	fputc('\n', out);
	table = comparison_table(title, columns.has_both);
	for (i = 0; (row = watt_comparison_get(report->comparison, list, i)); i++)
		if (!report->n_shown || i < report->n_shown)
			add_comparison(table, row, i, &columns);
	table_print(table, out, width);
	table_free(table);
	free_tallies(&columns);
}

/* The machine, and the command where both have one. */
static void print_total(const struct report *report, FILE *out, size_t width)
{
	struct columns columns = columns_of(report, width);
	const struct watt_comparison_row *total, *command;
	struct table *table = comparison_table("WHOLE", columns.has_both);

	total = watt_comparison_get(report->comparison, WATT_COMPARISON_TOTAL, 0);
	command = watt_comparison_get(report->comparison, WATT_COMPARISON_COMMAND, 0);
	fputc('\n', out);
	add_comparison(table, total, 0, &columns);
	if (command->now->is_there && command->before->is_there)
		add_comparison(table, command, 0, &columns);
	table_print(table, out, width);
	table_free(table);
}

/* What the interval is about, in words. */
static const char *sureness(const struct watt_comparison_row *row)
{
	switch (row->energy_basis) {
	case WATT_COMPARISON_RUNS:
		return row->is_energy_significant ? "more than runs differ by chance" :
						    "no more than runs differ by chance";
	case WATT_COMPARISON_WINDOWS:
		return row->is_energy_significant ?
			       "more than these recordings vary within" :
			       "no more than these recordings vary within: may be chance";
	case WATT_COMPARISON_NOTHING:
		break;
	}
	return "too little data to say how sure that is";
}

/* "The command used 142 J instead of 135 J, 5.2 % more energy: 1.2 % less time at ..." */
static void say_verdict(const struct watt_comparison_row *row, const char *who,
			struct decimals decimals, struct report_line *line)
{
	const struct watt_comparison_side *now = row->now, *before = row->before;
	char time[2][WATT_UNITS_SIZE], change[32];

	if (!isfinite(row->energy_ratio)) {
		report_say(line, "%s: its energy is not known of both", who);
		return;
	}
	if (is_alike(row))
		snprintf(change, sizeof(change), "as much");
	else
		snprintf(change, sizeof(change), "%.1f %% %s", fabs(row->energy_ratio) * 100,
			 row->energy_ratio > 0 ? "more" : "less");
	report_say(line, "%s used %.*f J instead of %.*f J: %s energy", who, decimals.energy,
		   now->run_j, decimals.energy, before->run_j, change);
	report_say(line, "in %s instead of %s", watt_units_time(time[0], now->run_s, 3),
		   watt_units_time(time[1], before->run_s, 3));
	report_say(line, "at %.*f W instead of %.*f W on average", decimals.power, now->power_w,
		   decimals.power, before->power_w);
	report_say(line, "%s", sureness(row));
}

/* The answer: whether energy was saved. What was followed first, since it is what was changed. */
static void print_verdict(const struct report *report, FILE *out, size_t width)
{
	static const struct {
		enum watt_comparison_list list;
		const char *who;
	} answers[] = { { WATT_COMPARISON_COMMAND, "The command" },
			{ WATT_COMPARISON_TOTAL, "The machine" } };
	struct decimals decimals = decimals_of(report);
	size_t i;

	fputc('\n', out);
	for (i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		const struct watt_comparison_row *row =
			watt_comparison_get(report->comparison, answers[i].list, 0);
		struct report_line line = { 0 };

		if (!row->now->is_there || !row->before->is_there)
			continue;
		say_verdict(row, answers[i].who, decimals, &line);
		report_end(&line, out, 0, width);
	}
}

void report_text_compare(const struct report *report, FILE *out, size_t width)
{
	const struct watt_comparison_row *total =
		watt_comparison_get(report->comparison, WATT_COMPARISON_TOTAL, 0);
	char clean[512], number[2][WATT_UNITS_SIZE];

	report_title("Compared with another recording", out);
	fprintf(out, "before: %s, %s\n", text_clean(clean, sizeof(clean), report->other->path),
		watt_units_elapsed(number[0], (double)total->before->elapsed_ns / 1e9));
	fprintf(out, "now:    %s, %s\n", text_clean(clean, sizeof(clean), report->run->path),
		watt_units_elapsed(number[1], (double)total->now->elapsed_ns / 1e9));
	print_verdict(report, out, width);
	print_total(report, out, width);
	print_list(report, WATT_COMPARISON_DOMAINS, "DOMAIN", out, width);
	print_list(report, WATT_COMPARISON_PHASES, "PHASE", out, width);
	print_list(report, WATT_COMPARISON_NAMES, "NAME", out, width);
	fputs("\nDifferences are in % of before, and the verdict is on energy. Its interval is from\n"
	      "the runs of a phase where it was there several times. Else it is from windows, and\n"
	      "runs of the same work may differ by more: to learn by how much, have it in a phase\n"
	      "several times. 'unsure': there is too little data for an interval. Of 20 differences\n"
	      "that are none, one is 'more' or 'less' by chance.\n",
	      out);
}
