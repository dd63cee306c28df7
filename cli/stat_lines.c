/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each line is the difference of two rounded sums, and not a rounded difference: so all of them add
 * up to the sum, though nobody knows yet what it will be when the first one is written.
 */
#include "stat_lines.h"

#include <math.h>
#include <string.h>

#include <wattribute/units.h>

#include "tally.h"

#define DECIMALS 6

/* By the first interval, or all energy before it where no sensor has told in it. */
static void begin(struct stat_lines *lines, const struct watt_run_interval *interval,
		  const struct watt_balance *balance)
{
	double machine_j = (double)interval->machine_nj / 1e9;
	int digits = tally_digits(balance->uncertainty_ppm);

	if (!(machine_j > 0))
		machine_j = fmax(watt_energy_to_j(balance->energy), 1);
	digits = tally_digits_for(machine_j, (double)interval->energy_nj / 1e9, digits, DECIMALS);
	*lines = (struct stat_lines){
		.is_begun = true,
		.decimals = watt_units_decimals(machine_j, digits, DECIMALS),
	};
}

/* What the sum is shown to have grown by. */
static double grow(const struct stat_lines *lines, int64_t *sum_nj, double *shown_j, int64_t by_nj)
{
	double before_j = *shown_j;

	*sum_nj += by_nj;
	*shown_j = tally_round((double)*sum_nj / 1e9, lines->decimals);
	return *shown_j - before_j;
}

static char *text(const struct stat_lines *lines, double shown_j, int64_t exact_nj, char *buf)
{
	return tally_column(buf, shown_j, (double)exact_nj, lines->decimals, 7, DECIMALS);
}

void stat_lines_print(struct stat_lines *lines, FILE *out, const struct watt_run_interval *interval,
		      const struct watt_balance *balance)
{
	double energy_j, machine_j;
	int digits = watt_units_digits(balance->uncertainty_ppm);
	char energy[WATT_UNITS_SIZE], power[WATT_UNITS_SIZE], machine[WATT_UNITS_SIZE];

	if (!lines->is_begun || interval->end_ns < lines->end_ns)
		begin(lines, interval, balance);
	lines->end_ns = interval->end_ns;
	energy_j = grow(lines, &lines->energy_nj, &lines->shown_j, interval->energy_nj);
	machine_j = grow(lines, &lines->machine_nj, &lines->shown_machine_j, interval->machine_nj);
	fprintf(out, "%12.3f s %s J %s W %s J machine %9.3f s CPU\n",
		(double)interval->end_ns / 1e9, text(lines, energy_j, interval->energy_nj, energy),
		watt_units_column(power, watt_run_interval_get(interval, WATT_RUN_POWER_W), digits,
				  5, DECIMALS),
		text(lines, machine_j, interval->machine_nj, machine),
		(double)interval->cpu_ns / 1e9);
	fflush(out);
}
