/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a recording's numbers are to be believed: checks, losses, and how well all was seen. */
#include <math.h>

#include <wattribute/units.h>

#include "report.h"
#include "report_line.h"
#include "text.h"

#define LOSSES_MOST 10

static void print_checks(const struct report_run *run, FILE *out, size_t width)
{
	const struct watt_quality *quality = watt_series_get_quality(run->series);
	const struct watt_series *series = run->series;
	size_t n_failures = (size_t)quality->check_failures + (size_t)quality->sum_failures +
			    watt_series_get_info(series)->n_failures;
	struct report_line line = { 0 };

	report_say(&line,
		   "Conservation: %llu checks in the accounts, %llu of sums and %zu of windows",
		   (unsigned long long)quality->checks, (unsigned long long)quality->sum_checks,
		   watt_series_get_info(series)->n_checks);
	if (n_failures)
		report_say(&line, "%zu FAILED: this is a bug", n_failures);
	else
		report_say(&line, "all hold to the nJ");
	report_end(&line, out, 0, width);
}

/* Whether what nobody tells of a domain is in what is left of its whole. */
static bool is_in_residual(const struct report_run *run, const struct watt_domain *domain)
{
	size_t i;

	for (i = 0; i < watt_series_get_info(run->series)->n_domains; i++) {
		const struct watt_domain *other = watt_series_get_domain(run->series, i);

		if (other != domain && other->kind == WATT_DOMAIN_RESIDUAL && other->is_partition &&
		    other->parent == domain->parent)
			return true;
	}
	return false;
}

/* Of the domains that make up the machine, the one that is not known for longest. */
static uint64_t longest_gap_ns(const struct report_run *run, bool in_residual)
{
	uint64_t longest_ns = 0;
	size_t i;

	for (i = 0; i < watt_series_get_info(run->series)->n_domains; i++) {
		const struct watt_domain *domain = watt_series_get_domain(run->series, i);
		uint64_t unknown_ns = watt_series_get_state(run->series, i)->unknown_ns;

		if (domain->is_partition && unknown_ns > longest_ns &&
		    is_in_residual(run, domain) == in_residual)
			longest_ns = unknown_ns;
	}
	return longest_ns;
}

/* Times in which some sensor said nothing, and where what it did not tell is. */
static void say_gap(struct report_line *line, uint64_t gap_ns, const char *where)
{
	char number[WATT_UNITS_SIZE];

	if (gap_ns)
		report_say(line, "for %s not all sensors told something: what they missed is in %s",
			   watt_units_time(number, (double)gap_ns / 1e9, 3), where);
}

static void print_losses(const struct report_run *run, FILE *out, size_t width)
{
	struct report_line line = { 0 };
	char number[WATT_UNITS_SIZE];
	uint64_t lost_ns = longest_gap_ns(run, false), rest_ns = longest_gap_ns(run, true);
	size_t i;

	if (run->n_losses == 0 && run->info->is_complete && run->info->lost_ns == 0 &&
	    run->info->lost_samples == 0 && run->info->lost_usage == 0 &&
	    run->info->lost_marks == 0 && run->info->slept_ns == 0 && lost_ns == 0 &&
	    rest_ns == 0) {
		fputs("Losses: none\n", out);
		return;
	}
	if (!run->info->is_complete)
		report_say(&line,
			   "the recording was not finished: up to its last second is missing");
	if (run->info->lost_ns)
		report_say(&line, "of %s nothing is in the file",
			   watt_units_time(number, (double)run->info->lost_ns / 1e9, 3));
	if (run->info->slept_ns)
		report_say(&line, "the machine slept for %s: what was used meanwhile is in no sum",
			   watt_units_time(number, (double)run->info->slept_ns / 1e9, 3));
	say_gap(&line, lost_ns, "no sum");
	say_gap(&line, rest_ns, "the residual");
	if (run->info->lost_samples)
		report_say(&line, "%llu readings of sensors lost",
			   (unsigned long long)run->info->lost_samples);
	if (run->info->lost_usage)
		report_say(&line, "%llu records of tasks lost",
			   (unsigned long long)run->info->lost_usage);
	if (run->info->lost_marks)
		report_say(&line, "%llu marks came too fast to be taken or were too many",
			   (unsigned long long)run->info->lost_marks);
	fputs("Losses:\n", out);
	report_end(&line, out, 2, width);
	for (i = 0; i < run->n_losses && i < LOSSES_MOST; i++) {
		const struct report_loss *loss = &run->losses[i];

		report_say(&line, "%.3f to %.3f s: %s", report_time_s(run, loss->t0_ns),
			   report_time_s(run, loss->t1_ns), loss->why);
		if (loss->samples)
			report_say(&line, "%llu samples", (unsigned long long)loss->samples);
		if (loss->usage_records)
			report_say(&line, "%llu records of tasks",
				   (unsigned long long)loss->usage_records);
		report_end(&line, out, 2, width);
	}
	if (run->n_losses > LOSSES_MOST)
		fprintf(out, "  and %zu more (--json has all)\n", run->n_losses - LOSSES_MOST);
}

static void say_time(struct report_line *line, uint64_t time_ns, const char *what)
{
	char number[WATT_UNITS_SIZE];

	if (time_ns)
		report_say(line, "%s %s", watt_units_time(number, (double)time_ns / 1e9, 3), what);
}

static void say_count(struct report_line *line, uint64_t n, const char *what)
{
	if (n)
		report_say(line, "%llu %s", (unsigned long long)n, what);
}

static void say_sensors(struct report_line *line, const struct report_run *run)
{
	uint64_t errors = 0, gaps = 0, gap_ns = 0, resets = 0, ambiguous = 0;
	struct watt_energy late = { 0 };
	char number[WATT_UNITS_SIZE];
	size_t d;

	for (d = 0; d < watt_series_get_info(run->series)->n_domains; d++) {
		const struct watt_domain_state *state = watt_series_get_state(run->series, d);

		errors += state->errors;
		if (watt_series_get_domain(run->series, d)->kind != WATT_DOMAIN_RESIDUAL) {
			gaps += state->gaps;
			gap_ns += state->gap_ns;
		}
		resets += state->resets;
		ambiguous += state->ambiguous;
		late = watt_energy_add(late, state->late);
	}
	say_count(line, errors, "readings without a value");
	watt_units_time(number, (double)gap_ns / 1e9, 3);
	if (gaps == 1)
		report_say(line, "a gap of %s", number);
	else if (gaps)
		report_say(line, "%llu gaps of %s in all", (unsigned long long)gaps, number);
	say_count(line, resets, "resets of counters");
	say_count(line, ambiguous, "times that a counter may have wrapped unseen");
	if (!watt_energy_is_zero(late))
		report_say(line, "%s came too late to be shared",
			   watt_units_energy(number, watt_energy_to_j(late), 3));
}

/* Of sensors that don't tell how old their values are, what was found. */
static void say_ages(struct report_line *line, const struct report_run *run)
{
	char age[WATT_UNITS_SIZE], error[WATT_UNITS_SIZE], name[128];
	size_t d;

	for (d = 0; d < watt_series_get_info(run->series)->n_domains; d++) {
		const struct watt_domain_state *state = watt_series_get_state(run->series, d);

		if (!state->found_delay_uncertainty_ns)
			continue;
		text_clean(name, sizeof(name), watt_series_get_domain(run->series, d)->path);
		report_say(line, "what %s told was %s old %s%s, as was found and is allowed for",
			   name, watt_units_time(age, (double)state->found_delay_ns / 1e9, 2),
			   text_is_utf8() ? "\u00b1" : "+-",
			   watt_units_time(error, (double)state->found_delay_uncertainty_ns / 1e9,
					   1));
	}
}

/* When a residual was not what it seems. */
static void say_doubts(struct report_line *line, const struct report_run *run)
{
	char number[WATT_UNITS_SIZE], name[128];
	size_t d;

	for (d = 0; d < watt_series_get_info(run->series)->n_domains; d++) {
		const struct watt_domain_state *state = watt_series_get_state(run->series, d);

		text_clean(name, sizeof(name), watt_series_get_domain(run->series, d)->path);
		if (state->clamped_ns)
			report_say(line, "%s was cut at 0 for %s, as its parts were more", name,
				   watt_units_time(number, (double)state->clamped_ns / 1e9, 3));
		if (state->transient_ns)
			report_say(
				line,
				"%s is in doubt at each instant of %s, as its parts changed faster "
				"than the total shows",
				name,
				watt_units_time(number, (double)state->transient_ns / 1e9, 3));
	}
}

/* Of domains of which nobody knows whether programs cause them, what turned out. */
static void say_significance(struct report_line *line, const struct report_run *run,
			     bool is_significant)
{
	const char *begin = is_significant ? "programs', too: " : "no program's: ";
	char name[128];
	size_t d, n = 0;

	for (d = 0; d < watt_series_get_info(run->series)->n_domains; d++) {
		const struct watt_domain_state *state = watt_series_get_state(run->series, d);

		if (isnan(state->significance_t) || !!state->is_significant != is_significant)
			continue;
		text_clean(name, sizeof(name), watt_series_get_domain(run->series, d)->path);
		report_say(line, "%s%s (t = %.1f)", n++ ? "" : begin, name, state->significance_t);
	}
}

static void print_quality(const struct report_run *run, FILE *out, size_t width)
{
	const struct watt_quality *quality = watt_series_get_quality(run->series);
	struct report_line line = { 0 };

	fputs("Quality:\n", out);
	if (quality->coverage_ppm)
		report_say(&line, "%.2f %% of the CPUs' time is accounted for",
			   quality->coverage_ppm / 1e4);
	else
		report_say(&line, "how much of the CPUs' time is accounted for is not known");
	report_say(&line, *run->info->usage_why ? "CPU time by %s (not by %s)" : "CPU time by %s",
		   *run->info->usage ? run->info->usage : "an unknown source",
		   run->info->usage_why);
	say_count(&line, quality->lost_records, "records of tasks lost");
	say_time(&line, quality->unseen_cpu_ns,
		 "of CPU time of processes that nobody saw: unattributed");
	say_time(&line, quality->late_cpu_ns, "of CPU time came too late");
	say_count(&line, quality->missed_reads, "readings skipped because their time had passed");
	say_count(&line, quality->lost_samples, "readings lost before they were fetched");
	report_end(&line, out, 2, width);
	say_sensors(&line, run);
	report_end(&line, out, 2, width);
	say_ages(&line, run);
	say_doubts(&line, run);
	report_end(&line, out, 2, width);
	say_significance(&line, run, true);
	say_significance(&line, run, false);
	report_end(&line, out, 2, width);
	if (!run->info->is_snapshot_aligned && watt_series_get_info(run->series)->n_windows)
		report_say(&line, "slow sensors may be a window behind fast ones");
	report_end(&line, out, 2, width);
	if (watt_series_get_info(run->series)->n_folded)
		fprintf(out, "  the %zu entities that used the least are put together\n",
			watt_series_get_info(run->series)->n_folded);
}

void report_trust_print(const struct report_run *run, FILE *out, size_t width)
{
	print_checks(run, out, width);
	print_losses(run, out, width);
	print_quality(run, out, width);
}
