/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of `wattribute stat` as a table: sums of a run, or means over several. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/statistics.h>
#include <wattribute/units.h>

#include "domain_sums.h"
#include "stat_report.h"
#include "table.h"
#include "tally.h"
#include "text.h"
#include "xalloc.h"

enum column {
	TIME_S,
	ENERGY_J,
	POWER_W,
	MACHINE_J,
	CPU_S,
	N_COLUMNS,
};

static const enum watt_run_measure measures[N_COLUMNS] = {
	[TIME_S] = WATT_RUN_ELAPSED_S, [ENERGY_J] = WATT_RUN_ENERGY_J,
	[POWER_W] = WATT_RUN_POWER_W,  [MACHINE_J] = WATT_RUN_MACHINE_J,
	[CPU_S] = WATT_RUN_CPU_S,
};

static size_t count_phases(const struct watt_run_phases *phases)
{
	size_t n = 0;

	while (watt_run_phases_get_label(phases, n))
		n++;
	return n;
}

/* Over the runs that had the phase. */
static struct watt_statistics over_runs(const struct stat_report *report,
					const struct watt_run_phases *phases, size_t label,
					enum column column)
{
	auto_free double *values = xcalloc(report->n_runs, sizeof(*values));
	size_t i;

	for (i = 0; i < report->n_runs; i++) {
		const struct watt_run_phase *phase = watt_run_phases_get(phases, label, i);

		values[i] = phase && !report->runs[i]->is_left_out ?
				    watt_run_phase_get(phase, measures[column]) :
				    NAN;
	}
	return watt_statistics_of(values, report->n_runs);
}

static struct watt_statistics domain_over_runs(const struct stat_report *report,
					       const struct watt_run_phases *phases, size_t label,
					       size_t domain)
{
	auto_free double *values = xcalloc(report->n_runs, sizeof(*values));
	size_t i;

	for (i = 0; i < report->n_runs; i++) {
		const struct watt_run *run = report->runs[i];
		const struct watt_run_phase *phase = watt_run_phases_get(phases, label, i);
		bool is_known = phase && !run->is_left_out && domain < phase->n_domains &&
				run->domain_known[domain];

		values[i] = is_known ? (double)phase->domain_nj[domain] / 1e9 : NAN;
	}
	return watt_statistics_of(values, report->n_runs);
}

/* "12.3", or with several runs "12.3 ±0.4" */
static void add_cell(struct table *table, const struct watt_statistics *s, const char *number)
{
	const char *sign = text_is_utf8() ? "±" : "+-";
	char ci[WATT_UNITS_SIZE];

	if (s->n > 1)
		table_add(table, "%s %s%s", number, sign, watt_units_number(ci, s->ci95, 2, 4));
	else
		table_add(table, "%s", number);
}

static void add_number(struct table *table, const struct watt_statistics *s, int digits)
{
	char number[WATT_UNITS_SIZE];

	add_cell(table, s, watt_units_number(number, s->n ? s->mean : NAN, digits, 6));
}

/* The phases' energies, which add up to the command's, or the machine's. */
static struct watt_tally *tally_phases(const struct stat_report *report,
				       const struct watt_run_phases *phases, enum column column,
				       const struct watt_tally *tally)
{
	bool is_command = column == ENERGY_J;
	size_t n = count_phases(phases);
	auto_free double *parts = xcalloc(n, sizeof(*parts));
	auto_free double *wholes = xcalloc(report->n_runs, sizeof(*wholes));
	size_t i;

	for (i = 0; i < n; i++)
		parts[i] = over_runs(report, phases, i, column).mean;
	for (i = 0; i < report->n_runs; i++)
		wholes[i] = report->runs[i]->is_left_out ?
				    NAN :
				    watt_run_get(report->runs[i], measures[column]);
	return tally_within(parts, n, watt_statistics_of(wholes, report->n_runs).mean,
			    is_command ? watt_tally_get_part(tally, 0) :
					 watt_tally_get_whole(tally),
			    watt_tally_get_decimals(tally));
}

/* tallies: per column; NULL: its numbers are no sum. */
static void add_phase(const struct stat_report *report, const struct watt_run_phases *phases,
		      struct table *table, size_t i, struct watt_tally *const *tallies, int digits)
{
	const char *label = watt_run_phases_get_label(phases, i);
	enum column column;
	char number[WATT_UNITS_SIZE];

	table_add(table, " %s", *label ? label : "(in no phase)");
	for (column = TIME_S; column < N_COLUMNS; column++) {
		struct watt_statistics s = over_runs(report, phases, i, column);

		if (tallies[column])
			add_cell(table, &s, watt_tally_text(tallies[column], i, number));
		else
			add_number(table, &s, column == TIME_S || column == CPU_S ? 4 : digits);
	}
}

/* One line of what the phase used of a domain, below the phase's own. */
static void add_domain(struct table *table, const struct watt_domain *domain,
		       const struct watt_statistics *used, double shown_j, int decimals)
{
	char number[WATT_UNITS_SIZE];
	enum column column;

	if (used->n == 0)
		return;
	table_add(table, "   %s", domain->path);
	for (column = TIME_S; column < N_COLUMNS; column++)
		if (column == ENERGY_J)
			add_cell(table, used, watt_units_fixed(number, shown_j, decimals, 0, 0));
		else
			table_add(table, "%s", "");
}

/* All of them: they add up to the phase as it is shown. */
static void add_domains(const struct stat_report *report, const struct watt_run_phases *phases,
			struct table *table, size_t label, const struct watt_tally *energies)
{
	size_t n = report->runs[0]->n_domains, d;
	auto_free const struct watt_domain **domains = xcalloc(n, sizeof(*domains));
	auto_free struct watt_statistics *used = xcalloc(n, sizeof(*used));
	auto_free double *exact = xcalloc(n, sizeof(*exact));
	auto_free double *shown = xcalloc(n, sizeof(*shown));
	auto_tally struct watt_tally *tally = NULL;
	int decimals = watt_tally_get_decimals(energies);

	for (d = 0; d < n; d++) {
		domains[d] = watt_session_get_domain(report->setup->ses, d);
		used[d] = domain_over_runs(report, phases, label, d);
		exact[d] = used[d].mean;
		shown[d] = domains[d]->is_partition ? exact[d] : NAN;
	}
	tally = tally_within(shown, n, over_runs(report, phases, label, ENERGY_J).mean,
			     watt_tally_get_part(energies, label), decimals);
	for (d = 0; d < n; d++)
		shown[d] = watt_tally_get_part(tally, d);
	domain_sums_round(domains, exact, n, decimals, shown);
	for (d = 0; d < n; d++)
		add_domain(table, domains[d], &used[d], shown[d], decimals);
}

void stat_report_phases(const struct stat_report *report, const struct watt_tally *tally, FILE *out)
{
	int digits = watt_units_digits(report->setup->balance.uncertainty_ppm);
	struct watt_run_phases *phases;
	struct watt_tally *tallies[N_COLUMNS] = { NULL };
	struct table *table;
	size_t i;

	/* Only without memory is it not there now. */
	if (watt_run_phases_new(report->runs, report->n_runs, &phases) < 0)
		abort();
	if (count_phases(phases) == 0) {
		watt_run_phases_free(phases);
		return;
	}
	tallies[ENERGY_J] = tally_phases(report, phases, ENERGY_J, tally);
	tallies[MACHINE_J] = tally_phases(report, phases, MACHINE_J, tally);
	table = table_new();
	table_add_column(table, " PHASE", TABLE_CUT);
	table_add_column(table, "TIME s", TABLE_RIGHT);
	table_add_column(table, "ENERGY J", TABLE_RIGHT);
	table_add_column(table, "POWER W", TABLE_RIGHT);
	table_add_column(table, "MACHINE J", TABLE_RIGHT);
	table_add_column(table, "CPU s", TABLE_RIGHT);
	for (i = 0; watt_run_phases_get_label(phases, i); i++) {
		add_phase(report, phases, table, i, tallies, digits);
		if (report->has_domains)
			add_domains(report, phases, table, i, tallies[ENERGY_J]);
	}
	fputc('\n', out);
	table_print(table, out, 0);
	table_free(table);
	for (i = 0; i < N_COLUMNS; i++)
		watt_tally_free(tallies[i]);
	watt_run_phases_free(phases);
}
