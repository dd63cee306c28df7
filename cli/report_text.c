/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a recording for a terminal: what was measured, where the energy went, in which
 * phase, and what is to be known before it is believed. What is missing is said in words.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wattribute/units.h>

#include "domain_tree.h"
#include "page.h"
#include "report.h"
#include "table.h"
#include "text.h"
#include "totals.h"
#include "xalloc.h"

#define WHOLE 4
#define LINE_MOST 100 /* of sentences: longer lines are hard to read */
#define DECIMALS 3
#define PHASES_MOST 40
#define LOSSES_MOST 10

/* A sentence that grows, with commas. */
struct line {
	char text[1024];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void say(struct line *line, const char *format, ...)
{
	char part[512];
	va_list args;
	int n;

	va_start(args, format);
	vsnprintf(part, sizeof(part), format, args);
	va_end(args);
	n = snprintf(line->text + line->n, sizeof(line->text) - line->n, "%s%s",
		     line->n ? ", " : "", part);
	line->n = n < 0 || line->n + (size_t)n >= sizeof(line->text) ? sizeof(line->text) - 1 :
								       line->n + (size_t)n;
}

static void end(struct line *line, FILE *out, size_t indent, size_t width)
{
	char clean[sizeof(line->text)];

	if (line->n) {
		fprintf(out, "%*s", (int)indent, "");
		text_wrap(out, text_clean(clean, sizeof(clean), line->text), indent, indent + 2,
			  width < LINE_MOST ? width : LINE_MOST);
	}
	*line = (struct line){ 0 };
}

static void print_title(const char *title, FILE *out)
{
	fprintf(out, "\n%s%s%s\n", page_style(out, PAGE_BOLD), title, page_style(out, PAGE_PLAIN));
}

static void say_machine(struct line *line, const struct watt_recording_info *info)
{
	char cpus[64];

	if (*info->host)
		say(line, "%s", info->host);
	if (*info->cpu)
		say(line, "%s", info->cpu);
	if (info->n_cpus) {
		snprintf(cpus, sizeof(cpus), "%u CPU%s", info->n_cpus,
			 info->n_cpus == 1 ? "" : "s");
		if (info->n_packages)
			say(line, "%s in %u package%s", cpus, info->n_packages,
			    info->n_packages == 1 ? "" : "s");
		else
			say(line, "%s", cpus);
	}
	if (info->memory_bytes)
		say(line, "%.0f GiB", (double)info->memory_bytes / (1 << 30));
	if (*info->os)
		say(line, "%s", info->os);
	if (*info->kernel)
		say(line, "Linux %s", info->kernel);
}

static char *format_time(char *buf, size_t size, uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	struct tm tm;

	if (realtime_ns == 0 || !localtime_r(&seconds, &tm))
		snprintf(buf, size, "at an unknown time");
	else
		strftime(buf, size, "%Y-%m-%d %H:%M:%S %z", &tm);
	return buf;
}

static void print_head(const struct report_run *run, FILE *out, size_t width)
{
	const struct watt_recording_info *info = run->info;
	const struct watt_series *series = run->series;
	char when[64], number[WATT_UNITS_SIZE], clean[512];
	struct line line = { 0 };

	fprintf(out, "%s%s%s: %s\n", page_style(out, PAGE_BOLD),
		text_clean(clean, sizeof(clean), run->path), page_style(out, PAGE_PLAIN),
		*info->command ? "the energy of a machine while it ran" :
				 "the energy of a whole machine");
	if (*info->command)
		say(&line, "%s", info->command);
	end(&line, out, 4, width);
	say(&line, "%s", format_time(when, sizeof(when), info->start_realtime_ns));
	say(&line, "%s",
	    watt_units_elapsed(number, (double)(watt_series_get_info(series)->end_ns -
						watt_series_get_info(series)->start_ns) /
					       1e9));
	if (watt_series_get_info(series)->n_windows)
		say(&line, "%zu window%s of %s", watt_series_get_info(series)->n_windows,
		    watt_series_get_info(series)->n_windows == 1 ? "" : "s",
		    watt_units_time(number, (double)watt_series_get_info(series)->window_ns / 1e9,
				    3));
	end(&line, out, 2, width);
	say_machine(&line, info);
	end(&line, out, 2, width);
}

/* " 12.3  J   20.5  W  what it is, 40.1 %" */
static void print_part(const struct report_run *run, FILE *out, int64_t energy_nj, double power_w,
		       const char *what)
{
	int digits = watt_units_digits(run->balance.uncertainty_ppm);
	int64_t whole_nj = watt_phases_get_whole(run->phases)->energy_nj;
	char energy[WATT_UNITS_SIZE], power[WATT_UNITS_SIZE];

	fprintf(out, "  %s J  %s W  %s",
		watt_units_column(energy, (double)energy_nj / 1e9, digits, 7, 3),
		watt_units_column(power, power_w, digits, 5, 3), what);
	if (whole_nj)
		fprintf(out, ", %.1f %%", 100.0 * (double)energy_nj / (double)whole_nj);
	fputc('\n', out);
}

/* Mean power of a part of each domain of the partition. */
static double part_w(const struct report_run *run, size_t offset)
{
	const struct watt_series *series = run->series;
	double power_w = 0;
	bool is_known = false;
	size_t d;

	for (d = 0; d < watt_series_get_info(series)->n_domains; d++) {
		const struct watt_series_energy *energy =
			&watt_phases_get_whole(run->phases)->domains[d];
		int64_t energy_nj;

		if (!watt_series_get_domain(series, d)->is_partition || energy->known_ns == 0)
			continue;
		memcpy(&energy_nj, (const char *)energy + offset, sizeof(energy_nj));
		power_w += watt_series_power_w(energy, energy_nj);
		is_known = true;
	}
	return is_known ? power_w : NAN;
}

/* A domain that can't be shared is seen by what of it is unattributed. */
static const char *without_none(const char *keys, char *buf, size_t size)
{
	const char *none = strstr(keys, ", none");

	if (strncmp(keys, "none, ", 6) == 0)
		return keys + 6;
	snprintf(buf, size, "%.*s%s", none ? (int)(none - keys) : (int)strlen(keys), keys,
		 none ? none + 6 : "");
	return *keys && strcmp(keys, "none") != 0 ? buf : "nothing";
}

/* The machine, and what became of its energy: what is shown adds up. */
static void print_sum(const struct report_run *run, FILE *out)
{
	static const char *const names[] = { "attributed", "idle", "unattributed" };
	const struct watt_phase *whole = watt_phases_get_whole(run->phases);
	int digits = watt_units_digits(run->balance.uncertainty_ppm) + 1;
	double idle_w = part_w(run, offsetof(struct watt_series_energy, idle_nj));
	double rest_w = part_w(run, offsetof(struct watt_series_energy, unattributed_nj));
	const int64_t parts_nj[] = { whole->energy_nj - whole->idle_nj - whole->unattributed_nj,
				     whole->idle_nj, whole->unattributed_nj };
	double parts_w[] = { whole->power_w - idle_w - rest_w, idle_w, rest_w }, parts_j[3];
	double whole_j = 0, whole_w = whole->power_w;
	char energy[WATT_UNITS_SIZE], power[WATT_UNITS_SIZE];
	int decimals_j, decimals_w;
	size_t i;

	for (i = 0; i < 3; i++)
		parts_j[i] = (double)parts_nj[i] / 1e9;
	decimals_j = watt_units_round_parts(&whole_j, parts_j, 3, digits, 3);
	decimals_w = watt_units_round_parts(&whole_w, parts_w, 3, digits, 3);
	fprintf(out, "  %s J  %s W  the machine\n",
		watt_units_fixed(energy, whole_j, decimals_j, 7, 3),
		watt_units_fixed(power, whole_w, decimals_w, 5, 3));
	for (i = 0; i < 3; i++)
		if (i != 1 || run->balance.is_baseline_ready || whole->idle_nj)
			fprintf(out, "  %s J  %s W  %s, %.1f %%\n",
				watt_units_fixed(energy, parts_j[i], decimals_j, 7, 3),
				watt_units_fixed(power, parts_w[i], decimals_w, 5, 3), names[i],
				whole->energy_nj ?
					100.0 * (double)parts_nj[i] / (double)whole->energy_nj :
					0);
}

static void print_whole(const struct report_run *run, FILE *out, size_t width)
{
	const struct watt_phase *whole = watt_phases_get_whole(run->phases);
	const struct watt_balance *balance = &run->balance;
	struct line line = { 0 };
	char number[WATT_UNITS_SIZE], keys[sizeof(balance->keys)], missing[192];

	fputc('\n', out);
	print_sum(run, out);
	if (whole->has_command) {
		fputc('\n', out);
		print_part(run, out, whole->command_nj,
			   whole->power_w * (double)whole->command_nj / (double)whole->energy_nj,
			   "the command with all its descendants");
	}
	say(&line, "%s%s%s", watt_origin_name(balance->origin), balance->uncertainty_ppm ? " " : "",
	    balance->uncertainty_ppm ? text_uncertainty(number, balance->uncertainty_ppm) : "");
	say(&line, "shared by %s", without_none(balance->keys, keys, sizeof(keys)));
	if (*balance->missing)
		say(&line, "%s", totals_missing_text(balance, missing, sizeof(missing)));
	if (balance->has_baseline && !balance->is_baseline_ready)
		say(&line, "idle power did not become known: all is shared");
	end(&line, out, 2, width);
}

static void add_number(struct table *table, double value, int digits)
{
	char number[WATT_UNITS_SIZE];

	if (isfinite(value))
		table_add(table, "%s", watt_units_column(number, value, digits, WHOLE, DECIMALS));
	else
		table_add(table, "-");
}

static void add_domain(struct table *table, const struct report_run *run,
		       const struct domain_tree_node *node)
{
	const struct watt_domain *domain = watt_series_get_domain(run->series, node->index);
	const struct watt_domain_state *state = watt_series_get_state(run->series, node->index);
	const struct watt_series_energy *energy =
		&watt_phases_get_whole(run->phases)->domains[node->index];
	int digits = watt_units_digits(domain->uncertainty_ppm);
	bool is_known = energy->known_ns > 0;
	int64_t dynamic_nj = energy->energy_nj - energy->idle_nj - energy->unattributed_nj;

	table_add(table, "%s%s", node->stem, domain->name);
	add_number(table, is_known ? (double)energy->energy_nj / 1e9 : NAN, digits);
	add_number(table, watt_series_power_w(energy, energy->energy_nj), digits);
	add_number(table,
		   is_known && energy->is_baseline_ready ? (double)energy->idle_nj / 1e9 : NAN,
		   digits);
	add_number(table, is_known ? (double)dynamic_nj / 1e9 : NAN, digits);
	add_number(table, is_known ? (double)energy->unattributed_nj / 1e9 : NAN, digits);
	table_add(table, "%s", watt_origin_name(domain->origin));
	table_add(table, "%s%s",
		  state->status == WATT_STATUS_OK ? "" : watt_status_name(state->status),
		  state->is_usable                     ? "" :
		  domain->kind == WATT_DOMAIN_RESIDUAL ? "parts exceed it" :
							 "less than its parts");
}

static void print_domains(const struct report_run *run, FILE *out, size_t width)
{
	size_t n = watt_series_get_info(run->series)->n_domains, i;
	auto_free const struct watt_domain **domains = xcalloc(n, sizeof(*domains));
	auto_free struct domain_tree_node *nodes = NULL;
	struct table *table = table_new();

	for (i = 0; i < n; i++)
		domains[i] = watt_series_get_domain(run->series, i);
	nodes = domain_tree_draw(domains, n);
	print_title("Domains", out);
	table_add_column(table, "DOMAIN", TABLE_CUT);
	table_add_column(table, "J    ", TABLE_RIGHT);
	table_add_column(table, "W    ", TABLE_RIGHT);
	table_add_column(table, "IDLE J", TABLE_RIGHT);
	table_add_column(table, "DYNAMIC J", TABLE_RIGHT);
	table_add_column(table, "UNATTR. J", TABLE_RIGHT);
	table_add_column(table, "ORIGIN", 0);
	table_add_column(table, "AT THE END", 0);
	for (i = 0; i < n; i++)
		add_domain(table, run, &nodes[i]);
	table_print(table, out, width);
	table_free(table);
}

static void add_ranked(struct table *table, const struct report *report,
		       const struct watt_ranking_row *row)
{
	const struct watt_series_entity *entity = row->entity;
	int digits = watt_units_digits(report->run->balance.uncertainty_ppm);

	table_add(table, "%.0u", entity ? entity->pid : 0);
	add_number(table, (double)row->total_nj / 1e9, digits);
	add_number(table, row->power_w, digits);
	add_number(table, row->peak_w, digits);
	if (row->kind == WATT_ENTITY_IDLE || row->kind == WATT_ENTITY_UNATTRIBUTED)
		table_add(table, "%s", "");
	else
		table_add(table, "%.2f", (double)row->cpu_ns / 1e9);
	table_add(table, isfinite(row->share_ratio) ? "%.1f" : "-", row->share_ratio * 100);
	table_add(table, "%s", row->name);
}

static const char *const group_titles[] = {
	[WATT_RANKING_PROCESS] = "Processes",    [WATT_RANKING_NAME] = "Processes by name",
	[WATT_RANKING_CONTAINER] = "Containers", [WATT_RANKING_POD] = "Pods",
	[WATT_RANKING_UNIT] = "Units",           [WATT_RANKING_USER] = "Users",
	[WATT_RANKING_CGROUP] = "Cgroups",       [WATT_RANKING_JOB] = "Jobs",
	[WATT_RANKING_THREAD] = "Threads",
};

static void print_ranking(const struct report *report, FILE *out, size_t width)
{
	const struct watt_ranking_row *row;
	struct table *table = table_new();
	int64_t rest_nj = 0;
	size_t i, n_rest = 0;
	char number[WATT_UNITS_SIZE];

	print_title(group_titles[report->group], out);
	table_add_column(table, "PID", TABLE_RIGHT);
	table_add_column(table, "J    ", TABLE_RIGHT);
	table_add_column(table, "W    ", TABLE_RIGHT);
	table_add_column(table, "PEAK W  ", TABLE_RIGHT);
	table_add_column(table, "CPU s", TABLE_RIGHT);
	table_add_column(table, "%", TABLE_RIGHT);
	table_add_column(table, "NAME", TABLE_CUT);
	for (i = 0; (row = watt_ranking_get(report->ranking, i)); i++) {
		if (report->n_shown && i >= report->n_shown) {
			rest_nj += row->total_nj;
			n_rest++;
			continue;
		}
		add_ranked(table, report, row);
	}
	table_print(table, out, width);
	table_free(table);
	if (n_rest)
		fprintf(out, "(and %zu more with %s together; -n 0 shows all)\n", n_rest,
			watt_units_energy(number, (double)rest_nj / 1e9, 3));
}

static void print_phases(const struct report_run *run, FILE *out, size_t width)
{
	const struct watt_phases *phases = run->phases;
	const struct watt_phase *phase;
	bool is_long = watt_phases_get(phases, PHASES_MOST);
	int digits = watt_units_digits(run->balance.uncertainty_ppm);
	struct table *table = table_new();
	size_t i;

	if (run->n_marks == 0) {
		table_free(table);
		return;
	}
	print_title(is_long ? "Phases, those of one name together" : "Phases", out);
	table_add_column(table, "FROM s", TABLE_RIGHT);
	table_add_column(table, "TIMES", TABLE_RIGHT);
	table_add_column(table, "LENGTH s", TABLE_RIGHT);
	table_add_column(table, "J    ", TABLE_RIGHT);
	table_add_column(table, "W    ", TABLE_RIGHT);
	table_add_column(table, "COMMAND J", TABLE_RIGHT);
	table_add_column(table, "PHASE", TABLE_CUT);
	for (i = 0;
	     (phase = is_long ? watt_phases_get_label(phases, i) : watt_phases_get(phases, i));
	     i++) {
		bool is_empty = phase->elapsed_ns == 0;

		table_add(table, "%.3f", report_time_s(run, phase->t0_ns));
		if (is_long)
			table_add(table, "%zu", phase->count);
		else
			table_add(table, "%s", "");
		table_add(table, "%.3f", (double)phase->elapsed_ns / 1e9);
		add_number(table, is_empty ? NAN : (double)phase->energy_nj / 1e9, digits);
		add_number(table, phase->power_w, digits);
		if (watt_phases_get_whole(phases)->has_command)
			add_number(table, is_empty ? NAN : (double)phase->command_nj / 1e9, digits);
		else
			table_add(table, "%s", "");
		table_add(table, "%s%s", *phase->label ? phase->label : "(no phase)",
			  is_empty ? " (shorter than a slice)" : "");
	}
	table_print(table, out, width);
	table_free(table);
}

static void print_checks(const struct report_run *run, FILE *out, size_t width)
{
	const struct watt_quality *quality = watt_series_get_quality(run->series);
	const struct watt_series *series = run->series;
	size_t n_failures = (size_t)quality->check_failures + (size_t)quality->sum_failures +
			    watt_series_get_info(series)->n_failures;
	struct line line = { 0 };

	say(&line, "Conservation: %llu checks in the accounts, %llu of sums and %zu of windows",
	    (unsigned long long)quality->checks, (unsigned long long)quality->sum_checks,
	    watt_series_get_info(series)->n_checks);
	if (n_failures)
		say(&line, "%zu FAILED: this is a bug", n_failures);
	else
		say(&line, "all hold to the nJ");
	end(&line, out, 0, width);
}

/* Of the domains that make up the machine, the one that is not known for longest. */
static uint64_t longest_gap_ns(const struct report_run *run)
{
	uint64_t longest_ns = 0;
	size_t i;

	for (i = 0; i < watt_series_get_info(run->series)->n_domains; i++) {
		uint64_t gap_ns = watt_series_get_state(run->series, i)->gap_ns;

		if (watt_series_get_domain(run->series, i)->is_partition && gap_ns > longest_ns)
			longest_ns = gap_ns;
	}
	return longest_ns;
}

static void print_losses(const struct report_run *run, FILE *out, size_t width)
{
	struct line line = { 0 };
	char number[WATT_UNITS_SIZE];
	size_t i;

	uint64_t gap_ns = longest_gap_ns(run);

	if (run->n_losses == 0 && run->info->is_complete && run->info->lost_ns == 0 &&
	    run->info->lost_samples == 0 && run->info->lost_usage == 0 && gap_ns == 0) {
		fputs("Losses: none\n", out);
		return;
	}
	if (!run->info->is_complete)
		say(&line, "the recording was not finished: up to its last second is missing");
	if (run->info->lost_ns)
		say(&line, "of %s nothing is in the file",
		    watt_units_time(number, (double)run->info->lost_ns / 1e9, 3));
	if (gap_ns)
		say(&line, "for %s not all sensors told something: what they missed is in no sum",
		    watt_units_time(number, (double)gap_ns / 1e9, 3));
	if (run->info->lost_samples)
		say(&line, "%llu readings of sensors lost",
		    (unsigned long long)run->info->lost_samples);
	if (run->info->lost_usage)
		say(&line, "%llu records of tasks lost", (unsigned long long)run->info->lost_usage);
	fputs("Losses:\n", out);
	end(&line, out, 2, width);
	for (i = 0; i < run->n_losses && i < LOSSES_MOST; i++) {
		const struct report_loss *loss = &run->losses[i];

		say(&line, "%.3f to %.3f s: %s", report_time_s(run, loss->t0_ns),
		    report_time_s(run, loss->t1_ns), loss->why);
		if (loss->samples)
			say(&line, "%llu samples", (unsigned long long)loss->samples);
		if (loss->usage_records)
			say(&line, "%llu records of tasks",
			    (unsigned long long)loss->usage_records);
		end(&line, out, 2, width);
	}
	if (run->n_losses > LOSSES_MOST)
		fprintf(out, "  and %zu more (--json has all)\n", run->n_losses - LOSSES_MOST);
}

static void say_time(struct line *line, uint64_t time_ns, const char *what)
{
	char number[WATT_UNITS_SIZE];

	if (time_ns)
		say(line, "%s %s", watt_units_time(number, (double)time_ns / 1e9, 3), what);
}

static void say_count(struct line *line, uint64_t n, const char *what)
{
	if (n)
		say(line, "%llu %s", (unsigned long long)n, what);
}

static void say_sensors(struct line *line, const struct report_run *run)
{
	uint64_t errors = 0, gaps = 0, gap_ns = 0, resets = 0, ambiguous = 0;
	struct watt_energy late = { 0 };
	char number[WATT_UNITS_SIZE];
	size_t d;

	for (d = 0; d < watt_series_get_info(run->series)->n_domains; d++) {
		errors += watt_series_get_state(run->series, d)->errors;
		gaps += watt_series_get_state(run->series, d)->gaps;
		gap_ns += watt_series_get_state(run->series, d)->gap_ns;
		resets += watt_series_get_state(run->series, d)->resets;
		ambiguous += watt_series_get_state(run->series, d)->ambiguous;
		late = watt_energy_add(late, watt_series_get_state(run->series, d)->late);
	}
	say_count(line, errors, "readings without a value");
	if (gaps)
		say(line, "%llu gaps of %s in all", (unsigned long long)gaps,
		    watt_units_time(number, (double)gap_ns / 1e9, 3));
	say_count(line, resets, "resets of counters");
	say_count(line, ambiguous, "times that a counter may have wrapped unseen");
	if (!watt_energy_is_zero(late))
		say(line, "%s came too late to be shared",
		    watt_units_energy(number, watt_energy_to_j(late), 3));
}

static void print_quality(const struct report_run *run, FILE *out, size_t width)
{
	const struct watt_quality *quality = watt_series_get_quality(run->series);
	struct line line = { 0 };

	fputs("Quality:\n", out);
	if (quality->coverage_ppm)
		say(&line, "%.2f %% of the CPUs' time is accounted for",
		    quality->coverage_ppm / 1e4);
	else
		say(&line, "how much of the CPUs' time is accounted for is not known");
	say(&line, *run->info->usage_why ? "CPU time by %s (not by %s)" : "CPU time by %s",
	    *run->info->usage ? run->info->usage : "an unknown source", run->info->usage_why);
	say_count(&line, quality->lost_records, "records of tasks lost");
	say_time(&line, quality->unseen_cpu_ns,
		 "of CPU time of processes that nobody saw: unattributed");
	say_time(&line, quality->late_cpu_ns, "of CPU time came too late");
	say_count(&line, quality->missed_reads, "readings skipped because their time had passed");
	say_count(&line, quality->lost_samples, "readings lost before they were fetched");
	end(&line, out, 2, width);
	say_sensors(&line, run);
	end(&line, out, 2, width);
	if (!run->info->is_snapshot_aligned && watt_series_get_info(run->series)->n_windows)
		say(&line, "slow sensors may be a window behind fast ones");
	end(&line, out, 2, width);
	if (watt_series_get_info(run->series)->n_folded)
		fprintf(out, "  the %zu entities that used the least are put together\n",
			watt_series_get_info(run->series)->n_folded);
}

void report_text_print(const struct report *report, FILE *out, size_t width)
{
	const struct report_run *run = report->run;

	print_head(run, out, width);
	if (watt_series_get_info(run->series)->n_windows == 0 ||
	    watt_series_get_info(run->series)->n_domains == 0) {
		fprintf(out, "\n  %s\n",
			watt_series_get_info(run->series)->n_windows == 0 ?
				"There is no complete window in this recording: it ended before "
				"anything was attributed." :
				"No sensor is in this recording.");
		return;
	}
	if (run->balance.is_known)
		print_whole(run, out, width);
	else
		fputs("\n  No energy is known: no sensor gave two values.\n", out);
	print_domains(run, out, width);
	print_phases(run, out, width);
	if (run->balance.is_known)
		print_ranking(report, out, width);
	fputc('\n', out);
	print_checks(run, out, width);
	print_losses(run, out, width);
	print_quality(run, out, width);
}

/* ---- two recordings ---- */

/* As wide as it must be to tell times and watts of both, too. */
#define WIDTH_OF_BOTH 120

static const char *verdict_of(const struct watt_comparison_row *row)
{
	if (!row->now->is_there || !row->before->is_there)
		return row->now->is_there ? "new" : row->before->is_there ? "gone" : "-";
	if (!isfinite(row->energy_j))
		return "not known";
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

static void add_comparison(struct table *table, const struct watt_comparison_row *row, int digits,
			   bool has_both)
{
	const char *sign = text_is_utf8() ? "\u00b1" : "+-";
	const struct watt_comparison_side *now = row->now, *before = row->before;

	add_name(table, row);
	add_number(table, before->is_there ? before->run_j : NAN, digits);
	add_number(table, now->is_there ? now->run_j : NAN, digits);
	add_change(table, row, row->energy_ratio);
	if (row->energy_basis != WATT_COMPARISON_NOTHING && isfinite(row->energy_ci95_ratio))
		table_add(table, "%s%.1f %%", sign, row->energy_ci95_ratio * 100);
	else
		table_add(table, "-");
	table_add(table, "%s", verdict_of(row));
	if (has_both) {
		add_number(table, before->is_there ? before->run_s : NAN, 3);
		add_number(table, now->is_there ? now->run_s : NAN, 3);
	}
	add_change(table, row, change(now->run_s, before->run_s));
	if (has_both) {
		add_number(table, before->is_there ? before->power_w : NAN, digits);
		add_number(table, now->is_there ? now->power_w : NAN, digits);
	}
	add_change(table, row, row->difference_ratio);
}

static struct table *comparison_table(const char *title, bool has_both)
{
	struct table *table = table_new();

	table_add_column(table, title, TABLE_CUT);
	table_add_column(table, "J BEFORE", TABLE_RIGHT);
	table_add_column(table, "J NOW  ", TABLE_RIGHT);
	table_add_column(table, "ENERGY", TABLE_RIGHT);
	table_add_column(table, "95 %", TABLE_RIGHT);
	table_add_column(table, "VERDICT", 0);
	if (has_both) {
		table_add_column(table, "s BEFORE", TABLE_RIGHT);
		table_add_column(table, "s NOW  ", TABLE_RIGHT);
	}
	table_add_column(table, "TIME", TABLE_RIGHT);
	if (has_both) {
		table_add_column(table, "W BEFORE", TABLE_RIGHT);
		table_add_column(table, "W NOW  ", TABLE_RIGHT);
	}
	table_add_column(table, "POWER", TABLE_RIGHT);
	return table;
}

static void print_list(const struct report *report, enum watt_comparison_list list,
		       const char *title, FILE *out, size_t width)
{
	int digits = watt_units_digits(report->run->balance.uncertainty_ppm);
	bool has_both = width == 0 || width >= WIDTH_OF_BOTH;
	const struct watt_comparison_row *row;
	struct table *table;
	size_t i;

	if (!watt_comparison_get(report->comparison, list, 0))
		return;
	fputc('\n', out);
	table = comparison_table(title, has_both);
	for (i = 0; (row = watt_comparison_get(report->comparison, list, i)); i++)
		if (!report->n_shown || i < report->n_shown)
			add_comparison(table, row, digits, has_both);
	table_print(table, out, width);
	table_free(table);
}

/* The machine, and the command where both have one. */
static void print_total(const struct report *report, FILE *out, size_t width)
{
	int digits = watt_units_digits(report->run->balance.uncertainty_ppm);
	bool has_both = width == 0 || width >= WIDTH_OF_BOTH;
	const struct watt_comparison_row *total, *command;
	struct table *table = comparison_table("WHOLE", has_both);

	total = watt_comparison_get(report->comparison, WATT_COMPARISON_TOTAL, 0);
	command = watt_comparison_get(report->comparison, WATT_COMPARISON_COMMAND, 0);
	fputc('\n', out);
	add_comparison(table, total, digits, has_both);
	if (command->now->is_there && command->before->is_there)
		add_comparison(table, command, digits, has_both);
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
static void say_verdict(const struct watt_comparison_row *row, const char *who, int digits,
			struct line *line)
{
	const struct watt_comparison_side *now = row->now, *before = row->before;
	char energy[2][WATT_UNITS_SIZE], time[2][WATT_UNITS_SIZE], power[2][WATT_UNITS_SIZE];

	if (!isfinite(row->energy_ratio)) {
		say(line, "%s: its energy is not known of both", who);
		return;
	}
	say(line, "%s used %s instead of %s: %.1f %% %s energy", who,
	    watt_units_energy(energy[0], now->run_j, digits),
	    watt_units_energy(energy[1], before->run_j, digits), fabs(row->energy_ratio) * 100,
	    row->energy_ratio > 0 ? "more" : "less");
	say(line, "in %s instead of %s", watt_units_time(time[0], now->run_s, 3),
	    watt_units_time(time[1], before->run_s, 3));
	say(line, "at %s instead of %s on average",
	    watt_units_power(power[0], now->power_w, digits),
	    watt_units_power(power[1], before->power_w, digits));
	say(line, "%s", sureness(row));
}

/* The answer: whether energy was saved. What was followed first, since it is what was changed. */
static void print_verdict(const struct report *report, FILE *out, size_t width)
{
	static const struct {
		enum watt_comparison_list list;
		const char *who;
	} answers[] = { { WATT_COMPARISON_COMMAND, "The command" },
			{ WATT_COMPARISON_TOTAL, "The machine" } };
	int digits = watt_units_digits(report->run->balance.uncertainty_ppm);
	size_t i;

	fputc('\n', out);
	for (i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		const struct watt_comparison_row *row =
			watt_comparison_get(report->comparison, answers[i].list, 0);
		struct line line = { 0 };

		if (!row->now->is_there || !row->before->is_there)
			continue;
		say_verdict(row, answers[i].who, digits, &line);
		end(&line, out, 0, width);
	}
}

void report_text_compare(const struct report *report, FILE *out, size_t width)
{
	const struct watt_comparison_row *total =
		watt_comparison_get(report->comparison, WATT_COMPARISON_TOTAL, 0);
	char clean[512], number[2][WATT_UNITS_SIZE];

	print_title("Compared with another recording", out);
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
