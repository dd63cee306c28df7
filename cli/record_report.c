/* SPDX-License-Identifier: Apache-2.0 */
/* Lines about a recording. What was lost is said in words, that nothing was, too. */
#include "record_report.h"

#include <stdarg.h>
#include <string.h>

#include <wattribute/units.h>

#include "domain_tree.h"
#include "text.h"
#include "totals.h"

#define COUNT_SIZE 32

/* "12,345" */
static char *format_count(char *buf, uint64_t value)
{
	char digits[COUNT_SIZE];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	size_t i, k = 0;

	for (i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			buf[k++] = ',';
		buf[k++] = digits[i];
	}
	buf[k] = '\0';
	return buf;
}

static char *format_bytes(char *buf, uint64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	double value = (double)bytes;
	size_t i = 0;

	for (; value >= 999.5 && i < 4; i++)
		value /= 1000;
	snprintf(buf, WATT_UNITS_SIZE, "%.*f %s", i == 0 || value >= 99.5 ? 0 : 1, value, units[i]);
	return buf;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Text that grows in a buffer; what does not fit is cut. */
struct line {
	char *buf;
	size_t size;
	size_t n;
};

__attribute__((format(printf, 3, 4))) static void add(struct line *line, const char *between,
						      const char *format, ...)
{
	va_list args;
	int n;

	if (line->n > 0 && line->n < line->size)
		line->n +=
			(size_t)snprintf(line->buf + line->n, line->size - line->n, "%s", between);
	if (line->n >= line->size)
		return;
	va_start(args, format);
	n = vsnprintf(line->buf + line->n, line->size - line->n, format, args);
	va_end(args);
	line->n += n > 0 ? (size_t)n : 0;
}

/* What is missing in the file, and what was never there. */
static char *format_losses(const struct record_files *files, char *buf, size_t size)
{
	const struct {
		uint64_t n;
		const char *what;
	} counts[] = {
		{ files->lost_samples, "samples lost" },
		{ files->lost_usage, "usage records lost" },
		{ files->lost_marks, "marks lost" },
		{ files->missed_reads, "reads missed" },
	};
	struct line line = { .buf = buf, .size = size };
	char number[WATT_UNITS_SIZE], count[COUNT_SIZE];
	size_t i;

	buf[0] = '\0';
	if (files->lost_ns)
		add(&line, ", ", "%s lost",
		    watt_units_time(number, (double)files->lost_ns / 1e9, 2));
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].n)
			add(&line, ", ", "%s %s", format_count(count, counts[i].n), counts[i].what);
	if (line.n == 0)
		snprintf(buf, size, "nothing lost");
	return buf;
}

/* What is known of the files while they are written. */
static struct record_files files_so_far(const struct watt_record_stats *stats,
					const struct record_run *run)
{
	const struct watt_quality *quality = run->totals.snap ? run->totals.view->quality : NULL;
	struct record_files files = { .samples = stats->samples, .lost_ns = stats->lost_ns };

	if (!quality)
		return files;
	files.lost_samples = quality->lost_samples;
	files.lost_usage = quality->lost_records;
	files.missed_reads = quality->missed_reads;
	return files;
}

static void add_power(struct line *line, const struct watt_balance *balance)
{
	char power[WATT_UNITS_SIZE];

	if (balance->has_power)
		add(line, "  ", "%s",
		    watt_units_power(power, balance->power_w,
				     watt_units_digits(balance->uncertainty_ppm)));
}

char *record_report_progress(const struct watt_session *ses, const struct record_run *run,
			     char *buf, size_t size)
{
	struct line line = { .buf = buf, .size = size };
	struct watt_record_stats stats = { .sz = sizeof(stats) };
	struct record_files files;
	char number[WATT_UNITS_SIZE], count[COUNT_SIZE], losses[160], label[WATT_MARK_SIZE * 2];

	buf[0] = '\0';
	watt_session_get_record_stats(ses, &stats);
	files = files_so_far(&stats, run);
	add(&line, "", "%s",
	    watt_units_elapsed(number, (double)(events_now_ns() - run->begin_ns) / 1e9));
	add(&line, "  ", "%s samples", format_count(count, stats.samples));
	add(&line, "  ", "%s", format_bytes(number, stats.bytes));
	if (run->n_marks)
		add(&line, "  ", "%s mark%s", format_count(count, run->n_marks),
		    plural(run->n_marks));
	add(&line, "  ", "%s", format_losses(&files, losses, sizeof(losses)));
	if (stats.error)
		add(&line, "  ", "NOT WRITTEN: %s", strerror(-stats.error));
	if (run->totals.snap)
		add_power(&line, &run->totals.balance);
	if (*run->mark.label)
		add(&line, "  ", "in '%s'", text_clean(label, sizeof(label), run->mark.label));
	return buf;
}

/* Of a domain that nobody could read for a while, or can't any more. */
static uint64_t unknown_ns(const struct watt_snapshot *snap, size_t domain)
{
	const struct watt_domain_state *state = watt_snapshot_get_domain_state(snap, domain);
	uint64_t t_ns = watt_snapshot_get_time_ns(snap), ns = state->unknown_ns;

	if (state->status != WATT_STATUS_OK && state->t_ns && t_ns > state->t_ns)
		ns += t_ns - state->t_ns;
	return watt_snapshot_get_domain(snap, domain)->is_partition ? ns : 0;
}

/* A part of a whole whose rest is known then: the rest has what it took. */
static int find_rest(const struct totals *totals, size_t part)
{
	int rest = domain_tree_find_rest(totals->view->domains, totals->view->n_domains, part);

	return rest >= 0 && !unknown_ns(totals->snap, (size_t)rest) ? rest : -1;
}

static void print_unknown(const struct totals *totals, FILE *out)
{
	char time[WATT_UNITS_SIZE], path[128], rest_path[128];
	uint64_t ns;
	size_t i;
	int rest;

	for (i = 0; i < totals->view->n_domains; i++) {
		ns = unknown_ns(totals->snap, i);
		rest = find_rest(totals, i);
		if (!ns)
			continue;
		fprintf(out, " For %s nothing is known of %s",
			watt_units_time(time, (double)ns / 1e9, 2),
			text_clean(path, sizeof(path), totals->view->domains[i]->path));
		if (rest >= 0)
			fprintf(out, ": what it took is in %s",
				text_clean(rest_path, sizeof(rest_path),
					   totals->view->domains[rest]->path));
		fputs(".\n", out);
	}
}

/* A mean is of all the time: it would be too small where some of the time is not known. */
static bool is_all_known(const struct totals *totals)
{
	size_t i;

	for (i = 0; i < totals->view->n_domains; i++)
		if (unknown_ns(totals->snap, i) && find_rest(totals, i) < 0)
			return false;
	return true;
}

static void print_energy(const struct record_run *run, FILE *out)
{
	const struct watt_balance *balance = &run->totals.balance;
	int digits = watt_units_digits(balance->uncertainty_ppm);
	char energy[WATT_UNITS_SIZE], power[WATT_UNITS_SIZE], missing[192];

	if (!run->totals.snap || !balance->is_known) {
		fprintf(out, " No energy is known.\n");
		return;
	}
	fprintf(out, " The machine used %s",
		watt_units_energy(energy, watt_energy_to_j(balance->energy), digits));
	if (is_all_known(&run->totals))
		fprintf(out, ", %s on average", watt_units_power(power, balance->mean_w, digits));
	fprintf(out, " (%s).", watt_origin_name(balance->origin));
	if (run->totals.row)
		fprintf(out, " The command used %s.",
			watt_units_energy(energy, watt_energy_to_j(run->totals.row->total),
					  digits));
	if (*balance->missing)
		fprintf(out, " That is %s.",
			totals_missing_text(balance, missing, sizeof(missing)));
	fputc('\n', out);
	print_unknown(&run->totals, out);
}

/* Those that are there; --keep may have deleted some, and somebody else all. */
static void print_files(const struct record_end *end, FILE *out)
{
	const struct record_files *files = &end->files;
	char number[WATT_UNITS_SIZE], count[COUNT_SIZE], losses[200];

	format_losses(files, losses, sizeof(losses));
	if (files->n == 0) {
		fprintf(out, ", but no recording is there any more: all of it is lost.\n");
		return;
	}
	if (files->n > 1)
		fprintf(out, " and %u more file%s", files->n - 1, plural(files->n - 1));
	if (files->n < files->n_begun)
		fprintf(out, " (%u older one%s not kept)", files->n_begun - files->n,
			files->n_begun - files->n == 1 ? " is" : "s are");
	fprintf(out, ": %s samples of %zu channel%s, ", format_count(count, files->samples),
		end->n_channels, plural(end->n_channels));
	fprintf(out, "%s mark%s, %s; %s.\n", format_count(count, files->marks),
		plural(files->marks), format_bytes(number, files->bytes), losses);
}

void record_report_look_at_tiers(struct record_end *end, const struct watt_session *ses)
{
	size_t i;

	for (i = 0; i < RECORD_N_TIERS; i++) {
		end->tiers[i].sz = sizeof(end->tiers[i]);
		watt_session_get_tier_stats(ses, (enum watt_tier)i, &end->tiers[i]);
	}
}

/* Of the deadlines of each tier, those that had passed. Nothing, where all were met. */
static void print_tiers(const struct record_end *end, FILE *out)
{
	char missed[COUNT_SIZE], all[COUNT_SIZE];
	const char *between = " Deadlines that had passed and were skipped: ";
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < RECORD_N_TIERS; i++)
		sum += end->tiers[i].missed;
	for (i = 0; i < RECORD_N_TIERS && sum > 0; i++) {
		const struct watt_tier_stats *tier = &end->tiers[i];

		if (!tier->reads && !tier->missed)
			continue;
		fprintf(out, "%s%s %s of %s", between, watt_tier_name((enum watt_tier)i),
			format_count(missed, tier->missed),
			format_count(all, tier->reads + tier->missed));
		between = ", ";
	}
	if (sum > 0)
		fputs(".\n", out);
}

void record_report_summary(const struct record_end *end, const struct record_run *run, FILE *out)
{
	const struct watt_record_stats *stats = &end->stats;
	char number[WATT_UNITS_SIZE], clean[512];

	text_clean(clean, sizeof(clean), end->files.n ? end->files.newest : end->path);
	fprintf(out, " Recorded %s in %s",
		watt_units_elapsed(number, (double)stats->elapsed_ns / 1e9), clean);
	print_files(end, out);
	print_tiers(end, out);
	if (stats->error)
		fprintf(out, " The end could not be written: %s.\n", strerror(-stats->error));
	print_energy(run, out);
	if (end->files.n)
		fprintf(out, " Look at it:  wattribute report %s\n", clean);
}
