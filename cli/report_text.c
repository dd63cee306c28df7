/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a recording for a terminal: what was measured, where the energy went, in which
 * phase, and what is to be known before it is believed. What is missing is said in words.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wattribute/units.h>

#include "domain_sums.h"
#include "domain_tree.h"
#include "page.h"
#include "report.h"
#include "report_line.h"
#include "table.h"
#include "tally.h"
#include "text.h"
#include "totals.h"
#include "xalloc.h"

#define DECIMALS 3
#define PHASES_MOST 40

static void say_machine(struct report_line *line, const struct watt_recording_info *info)
{
	char cpus[64];

	if (*info->host)
		report_say(line, "%s", info->host);
	if (*info->cpu)
		report_say(line, "%s", info->cpu);
	if (info->n_cpus) {
		snprintf(cpus, sizeof(cpus), "%u CPU%s", info->n_cpus,
			 info->n_cpus == 1 ? "" : "s");
		if (info->n_packages)
			report_say(line, "%s in %u package%s", cpus, info->n_packages,
				   info->n_packages == 1 ? "" : "s");
		else
			report_say(line, "%s", cpus);
	}
	if (info->memory_bytes)
		report_say(line, "%.0f GiB", (double)info->memory_bytes / (1 << 30));
	if (*info->os)
		report_say(line, "%s", info->os);
	if (*info->kernel)
		report_say(line, "Linux %s", info->kernel);
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
	struct report_line line = { 0 };

	fprintf(out, "%s%s%s: %s\n", page_style(out, PAGE_BOLD),
		text_clean(clean, sizeof(clean), run->path), page_style(out, PAGE_PLAIN),
		*info->command ? "the energy of a machine while it ran" :
				 "the energy of a whole machine");
	if (*info->command)
		report_say(&line, "%s", info->command);
	report_end(&line, out, 4, width);
	report_say(&line, "%s", format_time(when, sizeof(when), info->start_realtime_ns));
	report_say(&line, "%s",
		   watt_units_elapsed(number, (double)(watt_series_get_info(series)->end_ns -
						       watt_series_get_info(series)->start_ns) /
						      1e9));
	if (watt_series_get_info(series)->n_windows)
		report_say(&line, "%zu window%s of %s", watt_series_get_info(series)->n_windows,
			   watt_series_get_info(series)->n_windows == 1 ? "" : "s",
			   watt_units_time(number,
					   (double)watt_series_get_info(series)->window_ns / 1e9,
					   3));
	report_end(&line, out, 2, width);
	say_machine(&line, info);
	report_end(&line, out, 2, width);
}

/* Mean power of a part of each domain of the partition. */
static double part_w(const struct report_run *run, size_t offset)
{
	const struct watt_series *series = run->series;
	double power_w = 0;
	bool is_known = false;
	size_t d;

	for (d = 0; d < watt_series_get_info(series)->n_domains; d++) {
		const struct watt_series_energy *domains =
			watt_phases_get_whole(run->phases)->domains;
		int64_t energy_nj;
		double added_w;

		memcpy(&energy_nj, (const char *)&domains[d] + offset, sizeof(energy_nj));
		added_w = watt_series_added_w(series, domains, d, energy_nj);
		if (isnan(added_w))
			continue;
		power_w += added_w;
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

/* What became of the machine's energy. */
enum part {
	ATTRIBUTED,
	IDLE,
	UNATTRIBUTED,
	N_PARTS,
};

/* A quantity of a page: all of it has the decimals of one tally, so that what is shown adds up. */
struct sum {
	double parts[N_PARTS];
	struct watt_tally *tally;
};

struct page {
	const struct report_run *run;
	struct sum energy_j, power_w;
};

static void sum_init(struct sum *sum, double whole, double idle, double unattributed,
		     uint32_t uncertainty_ppm)
{
	sum->parts[ATTRIBUTED] = whole - idle - unattributed;
	sum->parts[IDLE] = idle;
	sum->parts[UNATTRIBUTED] = unattributed;
	sum->tally = tally_new(sum->parts, N_PARTS, tally_digits(uncertainty_ppm), DECIMALS);
}

static void page_init(struct page *page, const struct report_run *run)
{
	const struct watt_phase *whole = watt_phases_get_whole(run->phases);
	uint32_t uncertainty_ppm = run->balance.uncertainty_ppm;

	page->run = run;
	sum_init(&page->energy_j, (double)whole->energy_nj / 1e9, (double)whole->idle_nj / 1e9,
		 (double)whole->unattributed_nj / 1e9, uncertainty_ppm);
	sum_init(&page->power_w, whole->power_w,
		 part_w(run, offsetof(struct watt_series_energy, idle_nj)),
		 part_w(run, offsetof(struct watt_series_energy, unattributed_nj)),
		 uncertainty_ppm);
}

static void page_done(struct page *page)
{
	tally_free(&page->energy_j.tally);
	tally_free(&page->power_w.tally);
}

/* Parts of a part, or of the whole: N_PARTS. */
static struct watt_tally *tally_of(const struct sum *sum, enum part part, const double *parts,
				   size_t n)
{
	bool is_whole = part == N_PARTS;
	double whole = sum->parts[ATTRIBUTED] + sum->parts[IDLE] + sum->parts[UNATTRIBUTED];

	return tally_within(parts, n, is_whole ? whole : sum->parts[part],
			    is_whole ? watt_tally_get_whole(sum->tally) :
				       watt_tally_get_part(sum->tally, part),
			    watt_tally_get_decimals(sum->tally));
}

static char *fixed(char *buf, const struct sum *sum, double value, int whole)
{
	return watt_units_fixed(buf, value, watt_tally_get_decimals(sum->tally), whole, DECIMALS);
}

/* " 12.3  J   20.5  W  what it is, 40.1 %" */
static void print_part(const struct page *page, FILE *out, double energy_j, double power_w,
		       double share_ratio, const char *what)
{
	char energy[WATT_UNITS_SIZE], power[WATT_UNITS_SIZE];

	fprintf(out, "  %s J  %s W  %s", fixed(energy, &page->energy_j, energy_j, 7),
		fixed(power, &page->power_w, power_w, 5), what);
	if (isfinite(share_ratio))
		fprintf(out, ", %.1f %%", 100.0 * share_ratio);
	fputc('\n', out);
}

static double round_to(const struct sum *sum, double value)
{
	return tally_round(value, watt_tally_get_decimals(sum->tally));
}

/* The best measured total first: all of the machine, and what of it nobody tells apart. */
static void print_outside(const struct page *page, FILE *out)
{
	const struct watt_balance *balance = &page->run->balance;
	const struct watt_phase *whole = watt_phases_get_whole(page->run->phases);
	double power_w = round_to(&page->power_w, balance->outside_w);
	double energy_j = round_to(&page->energy_j, balance->outside_w * (double)whole->energy_nj /
							    1e9 / whole->power_w);
	auto_free char *title = xasprintf("the machine, measured (%s)", balance->outside);

	print_part(page, out, energy_j, power_w, NAN, title);
	print_part(page, out, energy_j - watt_tally_get_whole(page->energy_j.tally),
		   power_w - watt_tally_get_whole(page->power_w.tally), NAN,
		   "not told apart: screen, disks, losses and the like");
}

/* The machine, and what became of its energy: what is shown adds up. */
static void print_sum(const struct page *page, FILE *out)
{
	static const char *const names[] = { "attributed", "idle", "unattributed" };
	const struct watt_phase *whole = watt_phases_get_whole(page->run->phases);
	const struct watt_balance *balance = &page->run->balance;
	double whole_j = (double)whole->energy_nj / 1e9;
	size_t i;

	if (balance->has_outside)
		print_outside(page, out);
	print_part(page, out, watt_tally_get_whole(page->energy_j.tally),
		   isfinite(whole->power_w) ? watt_tally_get_whole(page->power_w.tally) : NAN, NAN,
		   balance->has_outside ? "told apart" : "the machine");
	for (i = 0; i < N_PARTS; i++)
		if (i != IDLE || page->run->balance.is_baseline_ready || whole->idle_nj)
			print_part(page, out, watt_tally_get_part(page->energy_j.tally, i),
				   watt_tally_get_part(page->power_w.tally, i),
				   whole_j != 0 ? page->energy_j.parts[i] / whole_j : 0, names[i]);
}

static void print_whole(const struct page *page, FILE *out, size_t width)
{
	const struct report_run *run = page->run;
	const struct watt_phase *whole = watt_phases_get_whole(run->phases);
	const struct watt_balance *balance = &run->balance;
	struct report_line line = { 0 };
	char number[WATT_UNITS_SIZE], keys[sizeof(balance->keys)], missing[192], idle[160];

	fputc('\n', out);
	print_sum(page, out);
	if (whole->has_command) {
		fputc('\n', out);
		print_part(page, out, (double)whole->command_nj / 1e9,
			   whole->power_w * (double)whole->command_nj / (double)whole->energy_nj,
			   (double)whole->command_nj / (double)whole->energy_nj,
			   "the command with all its descendants");
	}
	report_say(&line, "%s%s%s", watt_origin_name(balance->origin),
		   balance->uncertainty_ppm ? " " : "",
		   balance->uncertainty_ppm ? text_uncertainty(number, balance->uncertainty_ppm) :
					      "");
	report_say(&line, "shared by %s", without_none(balance->keys, keys, sizeof(keys)));
	if (*balance->missing)
		report_say(&line, "%s", totals_missing_text(balance, missing, sizeof(missing)));
	if (balance->has_baseline && !balance->is_baseline_ready)
		report_say(&line, "idle power did not become known: all is shared");
	else if (*totals_idle_text(balance, idle, sizeof(idle)))
		report_say(&line, "%s", idle);
	report_end(&line, out, 2, width);
}

static void add_tallied(struct table *table, const struct watt_tally *tally, size_t i)
{
	char number[WATT_UNITS_SIZE];

	table_add(table, "%s", watt_tally_text(tally, i, number));
}

/* Each part of those that make up the machine adds up to what is said of it above. */
static void round_partition(const struct page *page, const double (*exact_j)[N_PARTS],
			    double (*shown_j)[N_PARTS])
{
	const struct watt_series *series = page->run->series;
	size_t n = watt_series_get_info(series)->n_domains, d, i;
	auto_free double *column = xcalloc(n, sizeof(*column));

	for (i = 0; i < N_PARTS; i++) {
		auto_tally struct watt_tally *tally = NULL;

		for (d = 0; d < n; d++)
			column[d] = watt_series_get_domain(series, d)->is_partition ?
					    exact_j[d][i] :
					    NAN;
		tally = tally_of(&page->energy_j, (enum part)i, column, n);
		for (d = 0; d < n; d++)
			shown_j[d][i] = watt_tally_get_part(tally, d);
	}
}

static double sum_of(const double parts[N_PARTS])
{
	return parts[ATTRIBUTED] + parts[IDLE] + parts[UNATTRIBUTED];
}

/* Each of the others is what it must be beside them, and the sum of its own parts. */
static void round_others(const struct page *page, const struct watt_domain *const *domains,
			 const double (*exact_j)[N_PARTS], double (*shown_j)[N_PARTS])
{
	size_t n = watt_series_get_info(page->run->series)->n_domains, d, i;
	int decimals = watt_tally_get_decimals(page->energy_j.tally);
	auto_free double *exact = xcalloc(n, sizeof(*exact));
	auto_free double *shown = xcalloc(n, sizeof(*shown));

	for (d = 0; d < n; d++) {
		exact[d] = sum_of(exact_j[d]);
		shown[d] = sum_of(shown_j[d]);
	}
	domain_sums_round(domains, exact, n, decimals, shown);
	for (d = 0; d < n; d++) {
		auto_tally struct watt_tally *tally = NULL;

		if (domains[d]->is_partition)
			continue;
		tally = tally_of_shown(exact_j[d], N_PARTS, shown[d], decimals);
		for (i = 0; i < N_PARTS; i++)
			shown_j[d][i] = watt_tally_get_part(tally, i);
	}
}

static void round_powers(const struct page *page, const struct watt_domain *const *domains,
			 double *shown_w)
{
	const struct watt_phase *whole = watt_phases_get_whole(page->run->phases);
	size_t n = watt_series_get_info(page->run->series)->n_domains, d;
	auto_free double *exact = xcalloc(n, sizeof(*exact));
	auto_free double *column = xcalloc(n, sizeof(*column));
	auto_tally struct watt_tally *tally = NULL;

	for (d = 0; d < n; d++) {
		exact[d] = watt_series_power_w(&whole->domains[d], whole->domains[d].energy_nj);
		column[d] = domains[d]->is_partition ? exact[d] : NAN;
	}
	tally = tally_of(&page->power_w, N_PARTS, column, n);
	for (d = 0; d < n; d++)
		shown_w[d] = watt_tally_get_part(tally, d);
	domain_sums_round(domains, exact, n, watt_tally_get_decimals(page->power_w.tally), shown_w);
}

/*
 * Numbers of domains as they are shown: those that make up the machine add up to what is said of
 * it above, what lies in one to that, and each is the sum of its own parts.
 */
static void round_domains(const struct page *page, const struct watt_domain *const *domains,
			  double (*shown_j)[N_PARTS], double *shown_w)
{
	size_t n = watt_series_get_info(page->run->series)->n_domains, d;
	auto_free double(*exact_j)[N_PARTS] = xcalloc(n, sizeof(*exact_j));

	for (d = 0; d < n; d++) {
		const struct watt_series_energy *energy =
			&watt_phases_get_whole(page->run->phases)->domains[d];

		exact_j[d][IDLE] = (double)energy->idle_nj / 1e9;
		exact_j[d][UNATTRIBUTED] = (double)energy->unattributed_nj / 1e9;
		exact_j[d][ATTRIBUTED] =
			(double)(energy->energy_nj - energy->idle_nj - energy->unattributed_nj) /
			1e9;
	}
	round_partition(page, (const double(*)[N_PARTS])exact_j, shown_j);
	round_others(page, domains, (const double(*)[N_PARTS])exact_j, shown_j);
	round_powers(page, domains, shown_w);
}

/* "forbidden", "less than its parts"; both joined, and "" where nothing is to be said. */
static void add_state(struct table *table, const struct watt_domain *domain,
		      const struct watt_domain_state *state)
{
	const char *status = state->status == WATT_STATUS_OK ? "" : watt_status_name(state->status);
	const char *use = state->is_usable                     ? "" :
			  domain->kind == WATT_DOMAIN_RESIDUAL ? "parts exceed it" :
								 "less than its parts";

	table_add(table, "%s%s%s", status, *status && *use ? ", " : "", use);
}

static void add_domain(struct table *table, const struct page *page,
		       const struct domain_tree_node *node, const double shown_j[N_PARTS],
		       double shown_w)
{
	const struct report_run *run = page->run;
	const struct watt_domain *domain = watt_series_get_domain(run->series, node->index);
	const struct watt_domain_state *state = watt_series_get_state(run->series, node->index);
	const struct watt_series_energy *energy =
		&watt_phases_get_whole(run->phases)->domains[node->index];
	int decimals = watt_tally_get_decimals(page->energy_j.tally);
	bool is_known = energy->known_ns > 0;

	table_add(table, "%s%s", node->stem, domain->name);
	report_number(table, is_known ? sum_of(shown_j) : NAN, decimals);
	report_number(table, shown_w, watt_tally_get_decimals(page->power_w.tally));
	report_number(table, is_known && energy->is_baseline_ready ? shown_j[IDLE] : NAN, decimals);
	report_number(table, is_known ? shown_j[ATTRIBUTED] : NAN, decimals);
	report_number(table, is_known ? shown_j[UNATTRIBUTED] : NAN, decimals);
	table_add(table, "%s", watt_origin_name(domain->origin));
	add_state(table, domain, state);
}

static void print_domains(const struct page *page, FILE *out, size_t width)
{
	const struct watt_series *series = page->run->series;
	size_t n = watt_series_get_info(series)->n_domains, i;
	auto_free const struct watt_domain **domains = xcalloc(n, sizeof(*domains));
	auto_free double(*shown_j)[N_PARTS] = xcalloc(n, sizeof(*shown_j));
	auto_free double *shown_w = xcalloc(n, sizeof(*shown_w));
	auto_free struct domain_tree_node *nodes = NULL;
	struct table *table = table_new();

	for (i = 0; i < n; i++)
		domains[i] = watt_series_get_domain(series, i);
	round_domains(page, domains, shown_j, shown_w);
	nodes = domain_tree_draw(domains, n);
	report_title("Domains", out);
	table_add_column(table, "DOMAIN", TABLE_CUT);
	table_add_column(table, "J", TABLE_RIGHT);
	table_add_column(table, "W", TABLE_RIGHT);
	table_add_column(table, "IDLE J", TABLE_RIGHT);
	table_add_column(table, "DYNAMIC J", TABLE_RIGHT);
	table_add_column(table, "UNATTR. J", TABLE_RIGHT);
	table_add_column(table, "ORIGIN", 0);
	table_add_column(table, "AT THE END", 0);
	for (i = 0; i < n; i++)
		add_domain(table, page, &nodes[i], shown_j[nodes[i].index],
			   shown_w[nodes[i].index]);
	table_print(table, out, width);
	table_free(table);
}

/* The rows of a ranking as they are shown: users add up to what is attributed, all to the machine. */
struct ranked {
	struct watt_tally *energy_j, *power_w, *share;
};

static double idle_or(const struct watt_ranking_row *row, double value)
{
	return row->kind == WATT_ENTITY_IDLE || row->kind == WATT_ENTITY_UNATTRIBUTED ? NAN : value;
}

static struct ranked rank(const struct report *report, const struct page *page, size_t n)
{
	auto_free double *energy_j = xcalloc(n, sizeof(double));
	auto_free double *power_w = xcalloc(n, sizeof(double));
	auto_free double *percent = xcalloc(n, sizeof(double));
	size_t i;

	for (i = 0; i < n; i++) {
		const struct watt_ranking_row *row = watt_ranking_get(report->ranking, i);

		energy_j[i] = idle_or(row, (double)row->total_nj / 1e9);
		power_w[i] = idle_or(row, row->power_w);
		percent[i] = row->share_ratio * 100;
	}
	return (struct ranked){ tally_of(&page->energy_j, ATTRIBUTED, energy_j, n),
				tally_of(&page->power_w, ATTRIBUTED, power_w, n),
				tally_within(percent, n, 100, 100, 1) };
}

static double ranked_j(const struct report *report, const struct page *page,
		       const struct ranked *ranked, size_t i)
{
	switch (watt_ranking_get(report->ranking, i)->kind) {
	case WATT_ENTITY_IDLE:
		return watt_tally_get_part(page->energy_j.tally, IDLE);
	case WATT_ENTITY_UNATTRIBUTED:
		return watt_tally_get_part(page->energy_j.tally, UNATTRIBUTED);
	default:
		return watt_tally_get_part(ranked->energy_j, i);
	}
}

static void add_ranked(struct table *table, const struct report *report, const struct page *page,
		       const struct ranked *ranked, size_t i)
{
	const struct watt_ranking_row *row = watt_ranking_get(report->ranking, i);
	const struct watt_series_entity *entity = row->entity;
	bool is_idle = row->kind == WATT_ENTITY_IDLE;

	table_add(table, "%.0u", entity ? entity->pid : 0);
	if (is_idle || row->kind == WATT_ENTITY_UNATTRIBUTED) {
		add_tallied(table, page->energy_j.tally, is_idle ? IDLE : UNATTRIBUTED);
		add_tallied(table, page->power_w.tally, is_idle ? IDLE : UNATTRIBUTED);
	} else {
		add_tallied(table, ranked->energy_j, i);
		add_tallied(table, ranked->power_w, i);
	}
	if (isnan(row->uncertainty_j))
		table_add(table, "%s", "");
	else
		report_number(table, row->uncertainty_j,
			      watt_tally_get_decimals(page->energy_j.tally));
	report_number(table, row->peak_w, watt_tally_get_decimals(page->power_w.tally));
	if (is_idle || row->kind == WATT_ENTITY_UNATTRIBUTED)
		table_add(table, "%s", "");
	else
		table_add(table, "%.2f", (double)row->cpu_ns / 1e9);
	add_tallied(table, ranked->share, i);
	table_add(table, "%s", row->name);
}

static const char *const group_titles[] = {
	[WATT_RANKING_PROCESS] = "Processes",    [WATT_RANKING_NAME] = "Processes by name",
	[WATT_RANKING_CONTAINER] = "Containers", [WATT_RANKING_POD] = "Pods",
	[WATT_RANKING_UNIT] = "Units",           [WATT_RANKING_USER] = "Users",
	[WATT_RANKING_CGROUP] = "Cgroups",       [WATT_RANKING_JOB] = "Jobs",
	[WATT_RANKING_THREAD] = "Threads",
};

static struct table *ranking_table(void)
{
	struct table *table = table_new();

	table_add_column(table, "PID", TABLE_RIGHT);
	table_add_column(table, "J", TABLE_RIGHT);
	table_add_column(table, "W", TABLE_RIGHT);
	table_add_column(table, text_is_utf8() ? "\u00b1J" : "+-J", TABLE_RIGHT);
	table_add_column(table, "PEAK W", TABLE_RIGHT);
	table_add_column(table, "CPU s", TABLE_RIGHT);
	table_add_column(table, "%", TABLE_RIGHT);
	table_add_column(table, "NAME", TABLE_CUT);
	return table;
}

static void print_ranking(const struct report *report, const struct page *page, FILE *out,
			  size_t width)
{
	struct table *table = ranking_table();
	struct ranked ranked;
	size_t i, n = 0, n_rest = 0;
	double rest_j = 0;

	while (watt_ranking_get(report->ranking, n))
		n++;
	ranked = rank(report, page, n);
	report_title(group_titles[report->group], out);
	for (i = 0; i < n; i++) {
		if (report->n_shown && i >= report->n_shown) {
			rest_j += ranked_j(report, page, &ranked, i);
			n_rest++;
			continue;
		}
		add_ranked(table, report, page, &ranked, i);
	}
	table_print(table, out, width);
	table_free(table);
	if (n_rest)
		fprintf(out, "(and %zu more with %.*f J together; -n 0 shows all)\n", n_rest,
			watt_tally_get_decimals(page->energy_j.tally), rest_j);
	tally_free(&ranked.energy_j);
	tally_free(&ranked.power_w);
	tally_free(&ranked.share);
}

static const struct watt_phase *get_phase(const struct watt_phases *phases, size_t i, bool is_long)
{
	return is_long ? watt_phases_get_label(phases, i) : watt_phases_get(phases, i);
}

/* What the phases used of the machine, or of the command: it adds up to all of it. */
static struct watt_tally *tally_phases(const struct page *page, bool is_long, bool is_command)
{
	const struct watt_phases *phases = page->run->phases;
	const struct watt_phase *phase, *whole = watt_phases_get_whole(phases);
	int decimals = watt_tally_get_decimals(page->energy_j.tally);
	double shown_j = (double)whole->command_nj / 1e9;
	auto_free double *parts = NULL;
	size_t i, n = 0;

	while (get_phase(phases, n, is_long))
		n++;
	parts = xcalloc(n, sizeof(*parts));
	for (i = 0; (phase = get_phase(phases, i, is_long)); i++)
		parts[i] = phase->elapsed_ns == 0 ? NAN :
			   is_command             ? (double)phase->command_nj / 1e9 :
						    (double)phase->energy_nj / 1e9;
	if (is_command)
		return tally_within(parts, n, shown_j, shown_j, decimals);
	return tally_of(&page->energy_j, N_PARTS, parts, n);
}

static void print_phases(const struct page *page, FILE *out, size_t width)
{
	const struct report_run *run = page->run;
	const struct watt_phases *phases = run->phases;
	const struct watt_phase *phase;
	bool is_long = watt_phases_get(phases, PHASES_MOST);
	auto_tally struct watt_tally *energy_j = NULL, *command_j = NULL;
	struct table *table;
	size_t i;

	if (run->n_marks == 0)
		return;
	table = table_new();
	energy_j = tally_phases(page, is_long, false);
	command_j = tally_phases(page, is_long, true);
	report_title(is_long ? "Phases, those of one name together" : "Phases", out);
	table_add_column(table, "FROM s", TABLE_RIGHT);
	table_add_column(table, "TIMES", TABLE_RIGHT);
	table_add_column(table, "LENGTH s", TABLE_RIGHT);
	table_add_column(table, "J", TABLE_RIGHT);
	table_add_column(table, "W", TABLE_RIGHT);
	table_add_column(table, "COMMAND J", TABLE_RIGHT);
	table_add_column(table, "PHASE", TABLE_CUT);
	for (i = 0; (phase = get_phase(phases, i, is_long)); i++) {
		bool is_empty = phase->elapsed_ns == 0;

		table_add(table, "%.3f", report_time_s(run, phase->t0_ns));
		if (is_long)
			table_add(table, "%zu", phase->count);
		else
			table_add(table, "%s", "");
		table_add(table, "%.3f", (double)phase->elapsed_ns / 1e9);
		add_tallied(table, energy_j, i);
		report_number(table, phase->power_w, watt_tally_get_decimals(page->power_w.tally));
		if (watt_phases_get_whole(phases)->has_command)
			add_tallied(table, command_j, i);
		else
			table_add(table, "%s", "");
		table_add(table, "%s%s", *phase->label ? phase->label : "(no phase)",
			  is_empty ? " (shorter than a slice)" : "");
	}
	table_print(table, out, width);
	table_free(table);
}

/* What the machine was like, of what was recorded of that. */
static void print_context(const struct report_run *run, FILE *out, size_t width)
{
	const struct watt_series_gauge *gauge = watt_series_get_gauge(run->series, 0);
	char number[WATT_UNITS_SIZE];
	struct table *table;
	size_t i;

	if (!gauge)
		return;
	table = table_new();
	report_title("Context", out);
	table_add_column(table, "CHANNEL", TABLE_CUT);
	table_add_column(table, "MEAN", TABLE_RIGHT);
	table_add_column(table, "LEAST", TABLE_RIGHT);
	table_add_column(table, "GREATEST", TABLE_RIGHT);
	table_add_column(table, "AT THE END", 0);
	for (i = 0; (gauge = watt_series_get_gauge(run->series, i)); i++) {
		const double values[] = { gauge->mean, gauge->least, gauge->greatest };
		size_t k;

		table_add(table, "%s", gauge->name);
		for (k = 0; k < sizeof(values) / sizeof(values[0]); k++)
			table_add(table, "%s",
				  isnan(values[k]) ? "-" :
						     watt_units_quantity(number, gauge->quantity,
									 values[k], 3));
		table_add(table, "%s", watt_status_name(gauge->status));
	}
	table_print(table, out, width);
	table_free(table);
}

void report_text_print(const struct report *report, FILE *out, size_t width)
{
	const struct report_run *run = report->run;
	struct page page;

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
	page_init(&page, run);
	if (run->balance.is_known)
		print_whole(&page, out, width);
	else
		fputs("\n  No energy is known: no sensor gave two values.\n", out);
	print_domains(&page, out, width);
	print_context(run, out, width);
	print_phases(&page, out, width);
	if (run->balance.is_known)
		print_ranking(report, &page, out, width);
	page_done(&page);
	fputc('\n', out);
	report_trust_print(run, out, width);
}
