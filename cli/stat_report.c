/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `wattribute stat`: for people one number a line, and what it is. */
#include "stat_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/json.h>
#include <wattribute/statistics.h>
#include <wattribute/units.h>

#include "domain_sums.h"
#include "domain_tree.h"
#include "latecomers.h"
#include "tally.h"
#include "text.h"
#include "totals.h"
#include "usage.h"
#include "xalloc.h"

#define WHOLE 9
#define DECIMALS 6

static struct watt_statistics over_runs(const struct stat_report *report,
					enum watt_run_measure measure)
{
	auto_free double *values = xcalloc(report->n_runs, sizeof(*values));
	size_t i;

	for (i = 0; i < report->n_runs; i++)
		values[i] = report->runs[i]->is_left_out ? NAN :
							   watt_run_get(report->runs[i], measure);
	return watt_statistics_of(values, report->n_runs);
}

/* "    12.3  J  what it is      sd 0.2, 95 %: +-0.1" */
static void print_text(FILE *out, const struct watt_statistics *s, const char *number,
		       const char *unit, int indent, const char *what)
{
	const char *sign = text_is_utf8() ? "±" : "+-";
	char sd[WATT_UNITS_SIZE], ci[WATT_UNITS_SIZE];

	fprintf(out, "%s %-2s %*s%s", number, unit, indent, "", what);
	if (s->n > 1) {
		size_t used = text_width(what) + (size_t)indent;

		fprintf(out, "%*s sd %s, 95 %%: %s%s", used < 36 ? (int)(36 - used) : 0, "",
			watt_units_number(sd, s->sd, 2, 4), sign,
			watt_units_number(ci, s->ci95, 2, 4));
	}
	fputc('\n', out);
}

static void print_line(FILE *out, const struct watt_statistics *s, const char *unit, int digits,
		       int indent, const char *what)
{
	char number[WATT_UNITS_SIZE];

	print_text(out, s, watt_units_column(number, s->mean, digits, WHOLE, DECIMALS), unit,
		   indent, what);
}

static void print_measure(const struct stat_report *report, FILE *out,
			  enum watt_run_measure measure, const char *unit, int digits, int indent,
			  const char *what)
{
	struct watt_statistics s = over_runs(report, measure);

	print_line(out, &s, unit, digits, indent, what);
}

/* What the machine's energy went to. */
enum part {
	COMMAND,
	OTHERS,
	IDLE,
	UNATTRIBUTED,
	N_PARTS,
};

/* All energies of a page have the decimals of one tally, so that they add up. */
struct page {
	const struct stat_report *report;
	struct watt_statistics machine, parts[N_PARTS];
	struct watt_statistics power, outside; /* W: of the domains, and of what supplies measure */
	struct watt_tally *tally;
};

static char *shown(char *buf, const struct page *page, double shown_j, double exact_j)
{
	return tally_column(buf, shown_j, exact_j, watt_tally_get_decimals(page->tally), WHOLE,
			    DECIMALS);
}

/* What the command used of a domain, and what the domain used. */
struct domain_use {
	struct watt_statistics own, machine;
};

static struct domain_use use_of(const struct stat_report *report, size_t i)
{
	auto_free double *own = xcalloc(report->n_runs, sizeof(*own));
	auto_free double *machine = xcalloc(report->n_runs, sizeof(*machine));
	struct domain_use use;
	size_t k;

	for (k = 0; k < report->n_runs; k++) {
		const struct watt_run *run = report->runs[k];

		own[k] = run->domain_known[i] && !run->is_left_out ?
				 (double)run->domain_nj[i] / 1e9 :
				 NAN;
		machine[k] = run->domain_known[i] && !run->is_left_out ?
				     (double)run->domain_machine_nj[i] / 1e9 :
				     NAN;
	}
	use.own = watt_statistics_of(own, report->n_runs);
	use.machine = watt_statistics_of(machine, report->n_runs);
	return use;
}

/*
 * What is shown of what the command, or the machine, used of each domain: those that make up the
 * machine add up to what is said of it above, and what lies in them to them.
 */
static double *round_domains(const struct page *page, const struct watt_domain *const *domains,
			     const struct domain_use *uses, size_t n, bool is_own)
{
	auto_free double *exact = xcalloc(n, sizeof(*exact));
	auto_free double *parts = xcalloc(n, sizeof(*parts));
	auto_tally struct watt_tally *tally = NULL;
	double *shown = xcalloc(n, sizeof(*shown));
	int decimals = watt_tally_get_decimals(page->tally);
	size_t i;

	for (i = 0; i < n; i++) {
		exact[i] = is_own ? uses[i].own.mean : uses[i].machine.mean;
		parts[i] = domains[i]->is_partition ? exact[i] : NAN;
	}
	tally = tally_within(parts, n, is_own ? page->parts[COMMAND].mean : page->machine.mean,
			     is_own ? watt_tally_get_part(page->tally, COMMAND) :
				      watt_tally_get_whole(page->tally),
			     decimals);
	for (i = 0; i < n; i++)
		shown[i] = watt_tally_get_part(tally, i);
	domain_sums_round(domains, exact, n, decimals, shown);
	return shown;
}

static void print_domains(const struct page *page, FILE *out)
{
	const struct watt_session *ses = page->report->setup->ses;
	size_t n = page->report->runs[0]->n_domains, i;
	auto_free const struct watt_domain **domains = xcalloc(n, sizeof(*domains));
	auto_free struct domain_use *uses = xcalloc(n, sizeof(*uses));
	auto_free struct domain_tree_node *nodes = NULL;
	auto_free double *own = NULL, *machine = NULL;

	for (i = 0; i < n; i++) {
		domains[i] = watt_session_get_domain(ses, i);
		uses[i] = use_of(page->report, i);
	}
	own = round_domains(page, domains, uses, n, true);
	machine = round_domains(page, domains, uses, n, false);
	nodes = domain_tree_draw(domains, n);
	for (i = 0; i < n; i++) {
		size_t d = nodes[i].index;
		char number[WATT_UNITS_SIZE], whole[WATT_UNITS_SIZE];
		auto_free char *what = NULL;

		watt_units_fixed(whole, machine[d], watt_tally_get_decimals(page->tally), 0, 0);
		what = xasprintf("%s%s, of %s J", nodes[i].stem, domains[d]->name, whole);
		print_text(out, &uses[d].own, shown(number, page, own[d], uses[d].own.mean), "J", 2,
			   what);
	}
}

static void print_title(const struct stat_report *report, FILE *out)
{
	const struct watt_balance *balance = &report->setup->balance;
	char clean[256], number[WATT_UNITS_SIZE], usage[USAGE_TEXT_SIZE], idle[160];
	char *const *argv = report->setup->argv;

	if (argv) {
		fputs("\n Energy of '", out);
		for (; *argv; argv++)
			fprintf(out, "%s%s", text_clean(clean, sizeof(clean), *argv),
				argv[1] ? " " : "");
		fputc('\'', out);
	} else {
		fprintf(out, "\n Energy of process %u from now on", report->setup->pid);
	}
	if (report->n_runs > 1)
		fprintf(out, ", mean of %zu runs", report->n_runs - report->n_left_out);
	fputs("\n ", out);
	if (balance->has_outside)
		fprintf(out, "the whole machine measured (%s)\n of it ", balance->outside);
	fputs(balance->is_known ? watt_origin_name(balance->origin) : "not known", out);
	if (balance->uncertainty_ppm)
		fprintf(out, " %s", text_uncertainty(number, balance->uncertainty_ppm));
	totals_idle_text(balance, idle, sizeof(idle));
	fprintf(out, ", shared by %s%s%s%s\n CPU time by %s\n\n",
		*balance->keys && totals_is_shared(balance) ? balance->keys : "nothing",
		balance->idle_policy == WATT_IDLE_PROPORTIONAL ? ", idle energy too" : "",
		!*idle                     ? "" :
		balance->is_baseline_ready ? "\n " :
					     "; ",
		idle, usage_text(report->setup->ses, usage, sizeof(usage)));
}

/* For how long nothing is known of a domain, in all runs. */
static uint64_t gap_ns(const struct stat_report *report, size_t domain)
{
	uint64_t sum_ns = 0;
	size_t k;

	for (k = 0; k < report->n_runs; k++)
		sum_ns += report->runs[k]->domain_loss[domain].gap_ns;
	return sum_ns;
}

/* What a part of a whole did not tell, while the rest of it is known, is in that rest. */
static void print_told_by_rest(const struct stat_report *report,
			       const struct watt_domain *const *domains, size_t part, size_t rest,
			       FILE *out)
{
	uint64_t part_ns = gap_ns(report, part), rest_ns = gap_ns(report, rest);
	char number[WATT_UNITS_SIZE], path[128], rest_path[128];

	if (part_ns > rest_ns)
		fprintf(out, " %s told nothing for %s: what it took is in %s.\n",
			text_clean(path, sizeof(path), domains[part]->path),
			watt_units_time(number, (double)(part_ns - rest_ns) / 1e9, 2),
			text_clean(rest_path, sizeof(rest_path), domains[rest]->path));
}

/* Of the domains that make up the machine, for how long nothing is known of its energy. */
static uint64_t print_gaps(const struct stat_report *report, FILE *out)
{
	size_t n = report->runs[0]->n_domains, i;
	auto_free const struct watt_domain **domains = xcalloc(n, sizeof(*domains));
	uint64_t sum_ns = 0;
	int rest;

	for (i = 0; i < n; i++)
		domains[i] = watt_session_get_domain(report->setup->ses, i);
	for (i = 0; i < n; i++) {
		rest = domain_tree_find_rest(domains, n, i);
		if (rest >= 0)
			print_told_by_rest(report, domains, i, (size_t)rest, out);
		else if (domains[i]->is_partition)
			sum_ns += gap_ns(report, i);
	}
	return sum_ns;
}

static void print_missing(const struct stat_report *report, FILE *out)
{
	uint64_t unknown_ns, resets = 0, ambiguous = 0;
	char number[WATT_UNITS_SIZE], missing[192];
	size_t k, i;

	for (k = 0; k < report->n_runs; k++) {
		const struct watt_run *run = report->runs[k];

		for (i = 0; i < run->n_domains; i++) {
			if (!watt_session_get_domain(report->setup->ses, i)->is_partition)
				continue;
			resets += run->domain_loss[i].resets;
			ambiguous += run->domain_loss[i].ambiguous;
		}
	}
	if (*report->setup->balance.missing)
		fprintf(out, " The machine's energy is %s.\n",
			totals_missing_text(&report->setup->balance, missing, sizeof(missing)));
	unknown_ns = print_gaps(report, out);
	if (unknown_ns)
		fprintf(out, " No energy is known of %s%s.\n",
			watt_units_time(number, (double)unknown_ns / 1e9, 2),
			resets ? ": a counter began anew" : "");
	if (ambiguous)
		fprintf(out,
			" %llu times a counter may have wrapped unseen: energy may be missing.\n",
			(unsigned long long)ambiguous);
}

#define THREADS_MOST 40

/* All threads of a run make up what the command used in it. */
static struct watt_tally *tally_threads(const struct page *page, const struct watt_run *run)
{
	auto_free double *parts = xcalloc(run->n_threads, sizeof(*parts));
	bool is_one = page->report->n_runs == 1;
	size_t i;

	for (i = 0; i < run->n_threads; i++)
		parts[i] = (double)run->threads[i].energy_nj / 1e9;
	return tally_within(parts, run->n_threads, watt_run_get(run, WATT_RUN_ENERGY_J),
			    is_one ? watt_tally_get_part(page->tally, COMMAND) : NAN,
			    watt_tally_get_decimals(page->tally));
}

/* Of each run by itself: no thread is the same in two of them. */
static void print_threads(const struct page *page, FILE *out)
{
	const struct stat_report *report = page->report;
	char energy[WATT_UNITS_SIZE], clean[64];
	size_t k, i;

	for (k = 0; k < report->n_runs; k++) {
		const struct watt_run *run = report->runs[k];
		auto_tally struct watt_tally *tally = tally_threads(page, run);

		if (report->n_runs > 1)
			fprintf(out, "\n Threads of run %zu:\n", k + 1);
		else
			fputs("\n Threads:\n", out);
		for (i = 0; i < run->n_threads && i < THREADS_MOST; i++) {
			const struct watt_run_thread *thread = &run->threads[i];

			fprintf(out, "%s J %12.6f s  %s",
				shown(energy, page, watt_tally_get_part(tally, i),
				      (double)thread->energy_nj),
				(double)thread->cpu_ns / 1e9,
				text_clean(clean, sizeof(clean), thread->name));
			if (thread->tid)
				fprintf(out, " (%u of %u)", thread->tid, thread->pid);
			fputc('\n', out);
		}
		if (i < run->n_threads)
			fprintf(out, " and %zu more that used less\n", run->n_threads - i);
	}
}

/* What could make the numbers wrong, if anything did. */
static void print_losses(const struct stat_report *report, FILE *out)
{
	const struct watt_quality *quality = &report->setup->quality;
	char number[WATT_UNITS_SIZE];

	print_missing(report, out);
	if (report->n_left_out)
		fprintf(out, " %zu of %zu runs failed or were interrupted: left out.\n",
			report->n_left_out, report->n_runs);
	else if (report->n_failed && report->n_runs > 1)
		fprintf(out, " %zu of %zu runs failed or were interrupted.\n", report->n_failed,
			report->n_runs);
	if (quality->lost_records)
		fprintf(out, " %llu records of tasks were lost.\n",
			(unsigned long long)quality->lost_records);
	if (quality->unseen_cpu_ns)
		fprintf(out,
			" About %s of CPU time is of processes that nobody saw (hidden, or ended\n"
			" between two looks): its energy is unattributed.\n",
			watt_units_time(number, (double)quality->unseen_cpu_ns / 1e9, 2));
	if (quality->lost_samples)
		fprintf(out, " %llu readings of sensors were lost.\n",
			(unsigned long long)quality->lost_samples);
	if (quality->check_failures)
		fprintf(out, " %llu conservation checks FAILED: this is a bug.\n",
			(unsigned long long)quality->check_failures);
	if (quality->sum_failures)
		fprintf(out, " %llu checks of sums FAILED: this is a bug.\n",
			(unsigned long long)quality->sum_failures);
}

/* Whether all of the machine was measured, of which its domains are a part. */
static bool has_outside(const struct page *page)
{
	return page->outside.n && page->outside.mean > 0 && page->power.mean > 0;
}

/* Where nothing was shared, that somebody used 0 is not known. */
static bool is_untold(const struct page *page, size_t part)
{
	return !totals_is_shared(&page->report->setup->balance) && page->parts[part].mean == 0 &&
	       (part == COMMAND || part == OTHERS);
}

/* ", +-0.3 J", by what the key knows of its own shares; "": nothing, or many runs tell. */
static const char *doubt_text(const struct stat_report *report, char *buf, size_t size)
{
	const struct watt_run *run = report->runs[0];
	char number[WATT_UNITS_SIZE];

	buf[0] = '\0';
	if (report->n_runs == 1 && run->is_known && run->uncertainty_j > 0)
		snprintf(buf, size, ", %s%s J", text_is_utf8() ? "±" : "+-",
			 watt_units_number(number, run->uncertainty_j, 2, DECIMALS));
	return buf;
}

/* What the command used; where that is too little for the sensors, not 0. */
static void print_command(const struct page *page, FILE *out)
{
	struct watt_statistics share = over_runs(page->report, WATT_RUN_SHARE);
	struct watt_statistics cpu = over_runs(page->report, WATT_RUN_CPU_S);
	struct watt_statistics rusage = over_runs(page->report, WATT_RUN_RUSAGE_S);
	double energy_j = watt_tally_get_part(page->tally, COMMAND);
	double cpu_s = cpu.mean > 0 ? cpu.mean : rusage.mean;
	auto_free char *what = NULL;
	char number[WATT_UNITS_SIZE], doubt[WATT_UNITS_SIZE + 8];

	doubt_text(page->report, doubt, sizeof(doubt));
	if (is_untold(page, COMMAND)) {
		energy_j = NAN;
		what = xstrdup("the command: nothing tells who used the energy");
	} else if (energy_j == 0 && cpu_s > 0) {
		energy_j = NAN;
		what = xasprintf("the command: below what could be resolved, for %s of CPU time",
				 watt_units_time(number, cpu_s, 2));
	} else if (isfinite(share.mean)) {
		what = xasprintf("the command, %.1f %% of %s%s", share.mean * 100,
				 has_outside(page) ? "what is told apart" : "the machine", doubt);
	} else {
		what = xasprintf("the command%s", doubt);
	}
	print_text(out, &page->parts[COMMAND], shown(number, page, energy_j, energy_j), "J", 0,
		   what);
}

/*
 * With lines of -I, the page has their decimals, and what they add up to. Else it has as many as it
 * takes for the command, which is asked for, not to be 0.
 */
static struct watt_tally *tally_page(const struct stat_report *report, double means[N_PARTS],
				     double machine)
{
	const struct stat_lines *lines = report->lines;
	int digits = tally_digits(report->setup->balance.uncertainty_ppm);

	if (!lines || !lines->is_begun || report->n_runs > 1 || !isfinite(machine))
		return tally_new(means, N_PARTS,
				 tally_digits_for(machine, means[COMMAND], digits, DECIMALS),
				 DECIMALS);
	means[COMMAND] = lines->shown_j;
	return tally_of_shown(means, N_PARTS, lines->shown_machine_j, lines->decimals);
}

static void page_init(struct page *page, const struct stat_report *report)
{
	static const enum watt_run_measure measures[] = { WATT_RUN_ENERGY_J, WATT_RUN_OTHERS_J,
							  WATT_RUN_IDLE_J,
							  WATT_RUN_UNATTRIBUTED_J };
	double means[N_PARTS];
	size_t i;

	*page = (struct page){ .report = report,
			       .machine = over_runs(report, WATT_RUN_MACHINE_J),
			       .power = over_runs(report, WATT_RUN_MACHINE_W),
			       .outside = over_runs(report, WATT_RUN_OUTSIDE_W) };
	for (i = 0; i < N_PARTS; i++) {
		page->parts[i] = over_runs(report, measures[i]);
		means[i] = page->parts[i].mean;
	}
	page->tally = tally_page(report, means, page->machine.mean);
}

/* "the machine in 2.0 s" */
static char *title_of(const struct page *page, const char *what)
{
	char time[WATT_UNITS_SIZE];

	return page->power.mean > 0 ?
		       xasprintf("%s in %s", what,
				 watt_units_time(time, page->machine.mean / page->power.mean, 3)) :
		       xasprintf("%s in that time", what);
}

/*
 * The best measured total first: all of the machine, by what supplies measure from outside, and
 * what of it no sensor tells apart.
 */
static void print_outside(const struct page *page, FILE *out)
{
	static const struct watt_statistics one = { .n = 1 };
	double whole_j = page->outside.mean * page->machine.mean / page->power.mean, rest_j;
	auto_free char *title = title_of(page, "the machine");
	char number[WATT_UNITS_SIZE];

	whole_j = tally_round(whole_j, watt_tally_get_decimals(page->tally));
	rest_j = whole_j - watt_tally_get_whole(page->tally);
	print_text(out, &one, shown(number, page, whole_j, whole_j), "J", 0, title);
	print_text(out, &one, shown(number, page, rest_j, rest_j), "J", 2,
		   "not told apart: screen, disks, losses and the like");
}

/* The machine, and all that its energy went to: what is shown adds up. */
static void print_machine(const struct page *page, FILE *out)
{
	const struct watt_balance *balance = &page->report->setup->balance;
	bool is_shared = balance->idle_policy == WATT_IDLE_PROPORTIONAL;
	const char *const names[] = { "the command", "all others that ran",
				      is_shared ? "idle while nobody ran" : "idle",
				      "unattributed" };
	int indent = has_outside(page) ? 2 : 0;
	auto_free char *title = indent ? xstrdup("told apart") : title_of(page, "the machine");
	struct watt_statistics shared;
	char number[WATT_UNITS_SIZE];
	size_t i;

	if (indent)
		print_outside(page, out);
	print_text(out, &page->machine,
		   shown(number, page, page->machine.n ? watt_tally_get_whole(page->tally) : NAN,
			 page->machine.mean),
		   "J", indent, title);
	for (i = 0; i < N_PARTS; i++)
		if (i != IDLE || balance->is_baseline_ready)
			print_text(out, &page->parts[i],
				   shown(number, page,
					 is_untold(page, i) ? NAN :
							      watt_tally_get_part(page->tally, i),
					 page->parts[i].mean),
				   "J", indent + 2, names[i]);
	if (is_shared && balance->is_baseline_ready) {
		shared = over_runs(page->report, WATT_RUN_SHARED_IDLE_J);
		print_text(out, &shared, shown(number, page, shared.mean, shared.mean), "J",
			   indent + 2, "idle, shared by all who ran, and in what they used");
	}
}

static void print_latecomers(const struct stat_report *report, FILE *out)
{
	char late[160];

	if (*latecomers_list(report->setup->ses, late, sizeof(late)))
		fprintf(out, "\nNot open yet, and not in the numbers: %s.\n", late);
	if (*latecomers_list_broken(report->setup->ses, late, sizeof(late)))
		fprintf(out, "\nBroken, and not in the numbers: %s (wattribute doctor says why).\n",
			late);
}

void stat_report_print(const struct stat_report *report, FILE *out)
{
	const struct watt_balance *balance = &report->setup->balance;
	int digits = watt_units_digits(balance->uncertainty_ppm);
	struct page page;

	if (report->n_runs == 0)
		return;
	page_init(&page, report);
	print_title(report, out);
	print_command(&page, out);
	if (report->has_domains)
		print_domains(&page, out);
	print_machine(&page, out);
	fputc('\n', out);
	print_measure(report, out, WATT_RUN_POWER_W, "W", digits, 0, "the command, on average");
	if (has_outside(&page))
		print_measure(report, out, WATT_RUN_OUTSIDE_W, "W", 3, 0,
			      "the machine, on average");
	print_measure(report, out, WATT_RUN_MACHINE_W, "W", digits, has_outside(&page) ? 2 : 0,
		      has_outside(&page) ? "told apart" : "the machine, on average");
	fputc('\n', out);
	print_measure(report, out, WATT_RUN_CPU_S, "s", 6, 0, "CPU time, with all descendants");
	if (report->setup->argv)
		print_measure(report, out, WATT_RUN_RUSAGE_S, "s", 6, 2,
			      "of it waited for (getrusage)");
	print_measure(report, out, WATT_RUN_ELAPSED_S, "s", 6, 0, "elapsed");
	stat_report_phases(report, page.tally, out);
	if (report->has_threads)
		print_threads(&page, out);
	watt_tally_free(page.tally);
	print_losses(report, out);
	print_latecomers(report, out);
	fputc('\n', out);
}

int stat_report_json(const struct stat_report *report, FILE *out)
{
	const struct stat_setup *setup = report->setup;
	struct watt_runs all = { .sz = sizeof(all),
				 .ses = setup->ses,
				 .argv = (const char *const *)setup->argv,
				 .pid = setup->pid,
				 .has_threads = report->has_threads,
				 .balance = &setup->balance,
				 .quality = &setup->quality,
				 .runs = report->runs,
				 .n_runs = report->n_runs };
	auto_free char *text = NULL;
	int r;

	r = watt_runs_to_json(&all, WATT_JSON_PRETTY, &text);
	if (r < 0)
		return r;
	errno = 0;
	fprintf(out, "%s\n", text);
	return ferror(out) ? (errno ? -errno : -EIO) : 0;
}
