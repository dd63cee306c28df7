/* SPDX-License-Identifier: Apache-2.0 */
/* From the windows of a recording to the lines of a picture. */
#include "sink/plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wattribute/units.h>

#include "base/cleanup.h"
#include "base/util.h"

/* A panel while it is made: which domains it is the sum of, and who has a line. */
struct making {
	const struct watt_series *series;
	const bool *is_part; /* per domain */
	size_t *line_of;     /* per entity: its line; SIZE_MAX: none */
	struct watt_plot_panel *panel;
};

/* Grows an array by one element, zeroed. NULL: out of memory. */
static void *add(void **array, size_t *n, size_t size)
{
	void *grown = realloc(*array, (*n + 1) * size);

	if (!grown)
		return NULL;
	*array = grown;
	return memset((char *)grown + (*n)++ * size, 0, size);
}

static int add_panel(struct watt_plot *plot, const char *title, bool is_stacked,
		     struct watt_plot_panel **ret)
{
	struct watt_plot_panel *panel =
		add((void **)&plot->panels, &plot->n_panels, sizeof(*plot->panels));

	if (!panel)
		return -ENOMEM;
	panel->is_stacked = is_stacked;
	panel->title = strdup(title);
	panel->is_partial = calloc(plot->n_windows + 1, sizeof(bool));
	if (!panel->title || !panel->is_partial)
		return -ENOMEM;
	*ret = panel;
	return 0;
}

/* *ret_index: its place in the panel. */
static int add_line(struct watt_plot_panel *panel, size_t n_windows, enum watt_plot_role role,
		    const char *label, size_t *ret_index)
{
	struct watt_plot_line *line =
		add((void **)&panel->lines, &panel->n_lines, sizeof(*panel->lines));

	if (!line)
		return -ENOMEM;
	line->role = role;
	line->mean_w = NAN;
	line->label = strdup(label);
	line->power_w = calloc(n_windows + 1, sizeof(double));
	if (!line->label || !line->power_w)
		return -ENOMEM;
	*ret_index = panel->n_lines - 1;
	return 0;
}

/* ---- who has a line ---- */

struct rank {
	size_t index;
	int64_t energy_nj;
};

static int by_energy(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	uint64_t size_x = (uint64_t)llabs(x->energy_nj), size_y = (uint64_t)llabs(y->energy_nj);

	if (size_x != size_y)
		return size_x < size_y ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* NULL: out of memory. */
static char *label_of(const struct watt_series_entity *entity)
{
	char *label = NULL;
	int n;

	if (entity->kind == WATT_ENTITY_EXITED)
		n = asprintf(&label, "%s (exited)", entity->name);
	else if (entity->pid)
		n = asprintf(&label, "%s (%u)", entity->name, entity->pid);
	else
		return strdup(entity->name);
	return n < 0 ? NULL : label;
}

static int64_t energy_of(const struct making *making, const int64_t *energy_nj)
{
	int64_t sum_nj = 0;
	size_t d;

	for (d = 0; d < watt_series_get_info(making->series)->n_domains; d++)
		if (making->is_part[d])
			sum_nj += energy_nj[d];
	return sum_nj;
}

static int add_entity(struct making *making, size_t index)
{
	const struct watt_series *series = making->series;
	_cleanup_free_ char *label = label_of(watt_series_get_entity(series, index));

	if (!label)
		return -ENOMEM;
	return add_line(making->panel, watt_series_get_info(series)->n_windows, WATT_PLOT_SERIES,
			label, &making->line_of[index]);
}

/* Others of other kinds that the series has summed up already are among them. */
static int add_others(struct making *making, const struct rank *ranks, size_t n)
{
	size_t i, line = SIZE_MAX;
	int r = 0;

	for (i = 0; i < n && r == 0; i++) {
		if (making->line_of[ranks[i].index] != SIZE_MAX)
			continue;
		if (line == SIZE_MAX)
			r = add_line(making->panel, watt_series_get_info(making->series)->n_windows,
				     WATT_PLOT_OTHERS, "others", &line);
		making->line_of[ranks[i].index] = line;
	}
	return r;
}

/* Gives the top ones a line each, and all others one together. */
static int choose_lines(struct making *making, size_t top)
{
	const struct watt_series *series = making->series;
	size_t i, n = 0, n_entities = watt_series_get_info(series)->n_entities;
	_cleanup_free_ struct rank *ranks = calloc(n_entities + 1, sizeof(*ranks));
	int r = 0;

	making->line_of = calloc(n_entities + 1, sizeof(*making->line_of));
	if (!ranks || !making->line_of)
		return -ENOMEM;
	for (i = 0; i < n_entities; i++) {
		const struct watt_series_entity *entity = watt_series_get_entity(series, i);

		making->line_of[i] = SIZE_MAX;
		if (watt_view_is_user(entity->kind) && energy_of(making, entity->energy_nj) != 0)
			ranks[n++] = (struct rank){ i, energy_of(making, entity->energy_nj) };
	}
	qsort(ranks, n, sizeof(*ranks), by_energy);
	for (i = 0; i < n && making->panel->n_lines < top && r == 0; i++)
		if (!watt_series_get_entity(series, ranks[i].index)->is_others)
			r = add_entity(making, ranks[i].index);
	return r < 0 ? r : add_others(making, ranks, n);
}

/* ---- power ---- */

/* Adds nJ of a domain to a line, in a window; where nothing is known of any domain: NAN. */
static void add_power(struct watt_plot_line *line, size_t window,
		      const struct watt_series_energy *domain, int64_t energy_nj)
{
	double power_w = watt_series_power_w(domain, energy_nj);

	if (isnan(power_w))
		return;
	line->power_w[window] += power_w;
	line->energy_j += (double)energy_nj / 1e9;
}

static void add_cells(struct making *making, size_t w)
{
	const struct watt_series *series = making->series;
	const struct watt_series_window *window = watt_series_get_window(series, w);
	size_t i, d, n = watt_series_get_info(series)->n_domains;

	for (i = 0; i < window->n_cells; i++) {
		size_t line = making->line_of[window->entity_index[i]];

		if (line == SIZE_MAX)
			continue;
		for (d = 0; d < n; d++)
			if (making->is_part[d])
				add_power(&making->panel->lines[line], w, &window->domains[d],
					  window->energy_nj[i * n + d]);
	}
}

/* Of the domains that are known at any time: how many are, and are not, in a window. */
static void count_known(const struct watt_series *series, const bool *is_part, size_t w,
			size_t *ret_known, size_t *ret_missing)
{
	size_t d;

	*ret_known = *ret_missing = 0;
	for (d = 0; d < watt_series_get_info(series)->n_domains; d++) {
		if (!is_part[d] || watt_series_get_total(series, d)->known_ns == 0)
			continue;
		if (watt_series_get_window(series, w)->domains[d].known_ns > 0)
			++*ret_known;
		else
			++*ret_missing;
	}
}

static void add_mean(struct watt_plot_line *line, const struct watt_series_energy *total,
		     int64_t energy_nj)
{
	double power_w = watt_series_power_w(total, energy_nj);

	if (!isnan(power_w))
		line->mean_w = isnan(line->mean_w) ? power_w : line->mean_w + power_w;
}

/* Over all of the time, and not of the means of windows: those are not all of the same length. */
static void fill_means(struct making *making, size_t total, size_t idle, size_t unattributed)
{
	const struct watt_series *series = making->series;
	struct watt_plot_line *lines = making->panel->lines;
	size_t d, i;

	for (d = 0; d < watt_series_get_info(series)->n_domains; d++) {
		const struct watt_series_energy *whole = watt_series_get_total(series, d);

		if (!making->is_part[d])
			continue;
		add_mean(&lines[total], whole, whole->energy_nj);
		add_mean(&lines[idle], whole, whole->idle_nj);
		add_mean(&lines[unattributed], whole, whole->unattributed_nj);
		for (i = 0; i < watt_series_get_info(series)->n_entities; i++)
			if (making->line_of[i] != SIZE_MAX)
				add_mean(&lines[making->line_of[i]], whole,
					 watt_series_get_entity(series, i)->energy_nj[d]);
	}
}

static int fill_lines(struct making *making)
{
	const struct watt_series *series = making->series;
	struct watt_plot_panel *panel = making->panel;
	size_t n_windows = watt_series_get_info(series)->n_windows;
	size_t total = 0, idle = 0, unattributed = 0, known, missing, w, d, i;

	if (add_line(panel, n_windows, WATT_PLOT_UNATTRIBUTED, "unattributed", &unattributed) < 0 ||
	    add_line(panel, n_windows, WATT_PLOT_IDLE, "idle", &idle) < 0 ||
	    add_line(panel, n_windows, WATT_PLOT_TOTAL, "total", &total) < 0)
		return -ENOMEM;
	for (w = 0; w < n_windows; w++) {
		add_cells(making, w);
		for (d = 0; d < watt_series_get_info(series)->n_domains; d++) {
			const struct watt_series_energy *domain =
				&watt_series_get_window(series, w)->domains[d];

			if (!making->is_part[d])
				continue;
			add_power(&panel->lines[total], w, domain, domain->energy_nj);
			add_power(&panel->lines[idle], w, domain, domain->idle_nj);
			add_power(&panel->lines[unattributed], w, domain, domain->unattributed_nj);
		}
		count_known(series, making->is_part, w, &known, &missing);
		panel->is_partial[w] = known && missing;
		for (i = 0; i < panel->n_lines && !known; i++)
			panel->lines[i].power_w[w] = NAN;
	}
	fill_means(making, total, idle, unattributed);
	return 0;
}

/* What is 0 all the time needs no line; the total always has one. */
static void drop_empty(struct watt_plot_panel *panel)
{
	size_t i, n = 0;

	for (i = 0; i < panel->n_lines; i++) {
		struct watt_plot_line *line = &panel->lines[i];

		if (line->role == WATT_PLOT_TOTAL || line->energy_j != 0) {
			panel->lines[n++] = *line;
			continue;
		}
		free(line->label);
		free(line->power_w);
	}
	panel->n_lines = n;
}

static int make_panel(struct watt_plot *plot, const struct watt_series *series, const bool *is_part,
		      const char *title, const struct watt_plot_opts *opts, bool is_stacked)
{
	struct making making = { .series = series, .is_part = is_part };
	int r;

	r = add_panel(plot, title, is_stacked, &making.panel);
	if (r == 0)
		r = choose_lines(&making, opts->top);
	if (r == 0)
		r = fill_lines(&making);
	if (r == 0)
		drop_empty(making.panel);
	free(making.line_of);
	return r;
}

/* ---- what is shown ---- */

static bool has_energy(const struct watt_series *series, const bool *is_part)
{
	size_t d;

	for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
		if (is_part[d] && watt_series_get_total(series, d)->known_ns > 0)
			return true;
	return false;
}

static int32_t package_of(const struct watt_domain *domain)
{
	return domain->package_id < 0 ? 0 : domain->package_id;
}

/* The next package after `last` that has domains of the kind; INT64_MAX: there is none. */
static int64_t next_package(const struct watt_series *series, enum watt_domain_kind kind,
			    int64_t last)
{
	int64_t next = INT64_MAX;
	size_t d;

	for (d = 0; d < watt_series_get_info(series)->n_domains; d++) {
		const struct watt_domain *domain = watt_series_get_domain(series, d);

		if (domain->kind == kind && package_of(domain) > last && package_of(domain) < next)
			next = package_of(domain);
	}
	return next;
}

/* A panel for each package that has domains of the kind, in their order. */
static int make_packages(struct watt_plot *plot, const struct watt_series *series,
			 const struct watt_plot_opts *opts, enum watt_domain_kind kind)
{
	size_t n_domains = watt_series_get_info(series)->n_domains, d, n;
	_cleanup_free_ bool *is_part = calloc(n_domains + 1, sizeof(bool));
	int64_t package = -1;
	int r = is_part ? 0 : -ENOMEM;

	while (r == 0 && (package = next_package(series, kind, package)) != INT64_MAX) {
		const char *path = NULL;
		char title[32];

		for (n = 0, d = 0; d < n_domains; d++) {
			const struct watt_domain *domain = watt_series_get_domain(series, d);

			is_part[d] = domain->kind == kind && package_of(domain) == package;
			if (is_part[d] && n++ == 0)
				path = domain->path;
		}
		snprintf(title, sizeof(title), "package-%lld", (long long)package);
		if (has_energy(series, is_part))
			r = make_panel(plot, series, is_part, n == 1 ? path : title, opts,
				       opts->is_stacked > 0);
	}
	return r;
}

/* The domains that cover the machine once; NULL: out of memory. */
static bool *partition_of(const struct watt_series *series)
{
	size_t n = watt_series_get_info(series)->n_domains, d;
	bool *is_part = calloc(n + 1, sizeof(bool));

	for (d = 0; d < n && is_part; d++)
		is_part[d] = watt_series_get_domain(series, d)->is_partition;
	return is_part;
}

static int make_processes(struct watt_plot *plot, const struct watt_series *series,
			  const struct watt_plot_opts *opts)
{
	_cleanup_free_ bool *is_part = partition_of(series);

	if (!is_part)
		return -ENOMEM;
	if (!has_energy(series, is_part))
		return 0;
	return make_panel(plot, series, is_part, "machine", opts, opts->is_stacked != 0);
}

/* The domains with the most energy, in the order of the tree. */
static int choose_domains(const struct watt_series *series, bool *chosen, size_t top,
			  bool is_stacked)
{
	size_t n_domains = watt_series_get_info(series)->n_domains, i, n = 0;
	_cleanup_free_ struct rank *ranks = calloc(n_domains + 1, sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (i = 0; i < n_domains; i++)
		if (watt_series_get_total(series, i)->known_ns > 0 &&
		    (!is_stacked || watt_series_get_domain(series, i)->is_partition))
			ranks[n++] =
				(struct rank){ i, watt_series_get_total(series, i)->energy_nj };
	qsort(ranks, n, sizeof(*ranks), by_energy);
	/* Areas are of everything: what is left out would be missing from the sum. */
	for (i = 0; i < n && (is_stacked || i < top); i++)
		chosen[ranks[i].index] = true;
	return 0;
}

static void fill_domain(struct watt_plot_line *line, const struct watt_series *series, size_t d)
{
	const struct watt_series_energy *whole = watt_series_get_total(series, d);
	size_t w;

	add_mean(line, whole, whole->energy_nj);
	for (w = 0; w < watt_series_get_info(series)->n_windows; w++) {
		const struct watt_series_energy *domain =
			&watt_series_get_window(series, w)->domains[d];

		if (domain->known_ns > 0)
			add_power(line, w, domain, domain->energy_nj);
		else
			line->power_w[w] = NAN;
	}
}

static int fill_total(struct watt_plot_panel *panel, struct watt_plot_line *line,
		      const struct watt_series *series)
{
	_cleanup_free_ bool *is_part = partition_of(series);
	size_t w, d, known, missing;

	if (!is_part)
		return -ENOMEM;
	for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
		if (is_part[d])
			add_mean(line, watt_series_get_total(series, d),
				 watt_series_get_total(series, d)->energy_nj);
	for (w = 0; w < watt_series_get_info(series)->n_windows; w++) {
		for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
			if (is_part[d])
				add_power(line, w, &watt_series_get_window(series, w)->domains[d],
					  watt_series_get_window(series, w)->domains[d].energy_nj);
		count_known(series, is_part, w, &known, &missing);
		panel->is_partial[w] = known && missing;
		if (!known)
			line->power_w[w] = NAN;
	}
	return 0;
}

static void drop_last(struct watt_plot_panel *panel)
{
	struct watt_plot_line *line = &panel->lines[--panel->n_lines];

	free(line->label);
	free(line->power_w);
}

/* A line for each that was chosen, and one for the machine. */
static int fill_domains(struct watt_plot_panel *panel, const struct watt_series *series,
			const bool *chosen)
{
	size_t n_windows = watt_series_get_info(series)->n_windows, d, line = 0;
	int r = 0;

	for (d = 0; d < watt_series_get_info(series)->n_domains && r == 0; d++) {
		if (!chosen[d])
			continue;
		r = add_line(panel, n_windows, WATT_PLOT_SERIES,
			     watt_series_get_domain(series, d)->path, &line);
		if (r == 0)
			fill_domain(&panel->lines[line], series, d);
	}
	if (r == 0)
		r = add_line(panel, n_windows, WATT_PLOT_TOTAL, "machine", &line);
	if (r == 0)
		r = fill_total(panel, &panel->lines[line], series);
	/* One domain is the machine. */
	if (r == 0 && line == 1 && panel->lines[0].energy_j == panel->lines[1].energy_j)
		drop_last(panel);
	return r;
}

static int make_domains(struct watt_plot *plot, const struct watt_series *series,
			const struct watt_plot_opts *opts)
{
	size_t n_domains = watt_series_get_info(series)->n_domains, d, n = 0;
	_cleanup_free_ bool *chosen = calloc(n_domains + 1, sizeof(bool));
	struct watt_plot_panel *panel;
	int r;

	r = chosen ? choose_domains(series, chosen, opts->top, opts->is_stacked > 0) : -ENOMEM;
	for (d = 0; d < n_domains && r == 0; d++)
		n += chosen[d];
	if (r < 0 || !n)
		return r;
	r = add_panel(plot, "domains", opts->is_stacked > 0, &panel);
	return r < 0 ? r : fill_domains(panel, series, chosen);
}

/* ---- time ---- */

/* Time 0 of the axis is the beginning of the recording. */
static double since_s(const struct watt_sink_series *told, uint64_t t_ns)
{
	return (double)(int64_t)(t_ns - told->about->info->start_ns) / 1e9;
}

static int copy_times(struct watt_plot *plot, const struct watt_sink_series *told)
{
	const struct watt_series_info *info = watt_series_get_info(told->series);
	size_t w;

	plot->t_s = calloc(info->n_windows + 1, sizeof(*plot->t_s));
	if (!plot->t_s)
		return -ENOMEM;
	plot->n_windows = info->n_windows;
	for (w = 0; w < plot->n_windows; w++)
		plot->t_s[w] = since_s(told, watt_series_get_window(told->series, w)->t0_ns);
	plot->t_s[w] = since_s(told, info->end_ns);
	return 0;
}

/* As much of a time as lies inside the picture; nothing of what does not. */
static int add_span(const struct watt_plot *plot, struct watt_plot_span **spans, size_t *n,
		    struct watt_plot_span span)
{
	struct watt_plot_span *added;

	span.t0_s = fmax(span.t0_s, plot->t_s[0]);
	span.t1_s = fmin(span.t1_s, plot->t_s[plot->n_windows]);
	if (span.t1_s <= span.t0_s)
		return 0;
	added = add((void **)spans, n, sizeof(**spans));
	if (!added)
		return -ENOMEM;
	*added = span;
	return 0;
}

static int copy_spans(struct watt_plot *plot, const struct watt_sink_series *told)
{
	const struct watt_sink_about *about = told->about;
	int r = 0;
	size_t i;

	for (i = 0; i < about->n_marks && r == 0; i++) {
		struct watt_plot_span phase = { since_s(told, about->marks[i]->t_ns),
						i + 1 < about->n_marks ?
							since_s(told, about->marks[i + 1]->t_ns) :
							plot->t_s[plot->n_windows],
						about->marks[i]->label };

		if (*phase.label)
			r = add_span(plot, &plot->phases, &plot->n_phases, phase);
	}
	for (i = 0; i < about->n_losses && r == 0; i++) {
		struct watt_plot_span loss = { since_s(told, about->losses[i]->t0_ns),
					       since_s(told, about->losses[i]->t1_ns),
					       about->losses[i]->why };

		r = add_span(plot, &plot->losses, &plot->n_losses, loss);
	}
	return r;
}

/* The least certain one of all that is added. */
static enum watt_origin origin_of(const struct watt_series *series)
{
	enum watt_origin origin = WATT_ORIGIN_MEASURED;
	size_t d;

	for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
		if (watt_series_get_domain(series, d)->is_partition &&
		    watt_series_get_domain(series, d)->origin > origin)
			origin = watt_series_get_domain(series, d)->origin;
	return origin;
}

/* The greatest one of all that is added; 0: unknown. */
static uint32_t uncertainty_of(const struct watt_series *series)
{
	uint32_t uncertainty_ppm = 0;
	size_t d;

	for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
		if (watt_series_get_domain(series, d)->is_partition)
			uncertainty_ppm =
				WATT_MAX(uncertainty_ppm,
					 watt_series_get_domain(series, d)->uncertainty_ppm);
	return uncertainty_ppm;
}

/* "run.watt - host - 2026-11-21 13:00:05 UTC - 5m 20s in windows of 500 ms - simulated" */
static int make_subtitle(struct watt_plot *plot, const struct watt_sink_series *told)
{
	const struct watt_recording_info *info = told->about->info;
	const struct watt_series_info *series = watt_series_get_info(told->series);
	time_t start_s = (time_t)(info->start_realtime_ns / 1000000000);
	const char *slash = strrchr(told->about->file, '/');
	char when[32] = "", length[WATT_UNITS_SIZE], window[WATT_UNITS_SIZE];
	char accuracy[WATT_UNITS_SIZE];
	uint32_t uncertainty_ppm = uncertainty_of(told->series);
	struct tm tm;
	int n;

	if (gmtime_r(&start_s, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	n = asprintf(&plot->subtitle,
		     "%s%s%s%s%s%s \u00b7 %s \u00b7 %s in windows of %s \u00b7 %s%s%s",
		     slash ? slash + 1 : told->about->file, *info->command ? " \u00b7 " : "",
		     info->command, *info->host ? " \u00b7 " : "", info->host,
		     info->is_complete ? "" : " (unfinished)", when,
		     watt_units_elapsed(length, (double)(series->end_ns - series->start_ns) / 1e9),
		     watt_units_time(window, (double)series->window_ns / 1e9, 3),
		     watt_origin_name(origin_of(told->series)), uncertainty_ppm ? " " : "",
		     uncertainty_ppm ? watt_units_uncertainty(accuracy, uncertainty_ppm, 1) : "");
	if (n >= 0)
		return 0;
	plot->subtitle = NULL;
	return -ENOMEM;
}

static int make_panels(struct watt_plot *plot, const struct watt_series *series,
		       const struct watt_plot_opts *opts)
{
	int r;

	if (opts->what == WATT_PLOT_PROCESSES)
		return make_processes(plot, series, opts);
	if (opts->what == WATT_PLOT_DOMAINS)
		return make_domains(plot, series, opts);
	r = make_packages(plot, series, opts, WATT_DOMAIN_PACKAGE);
	if (r == 0 && !plot->n_panels)
		r = make_packages(plot, series, opts, WATT_DOMAIN_CPU_RAIL);
	return r;
}

int watt_plot_make(struct watt_plot *plot, const struct watt_sink_series *told,
		   const struct watt_plot_opts *opts)
{
	static const char *const titles[] = { "Power by CPU package", "Power by process",
					      "Power by domain" };
	int r;

	*plot = (struct watt_plot){ .title = titles[opts->what] };
	r = copy_times(plot, told);
	if (r == 0)
		r = copy_spans(plot, told);
	if (r == 0)
		r = make_subtitle(plot, told);
	if (r == 0)
		r = make_panels(plot, told->series, opts);
	if (r == 0 && !plot->n_panels)
		r = -ENODATA;
	if (r < 0)
		watt_plot_done(plot);
	return r;
}

static void panel_done(struct watt_plot_panel *panel)
{
	size_t i;

	for (i = 0; i < panel->n_lines; i++) {
		free(panel->lines[i].label);
		free(panel->lines[i].power_w);
	}
	free(panel->lines);
	free(panel->title);
	free(panel->is_partial);
}

void watt_plot_done(struct watt_plot *plot)
{
	size_t i;

	for (i = 0; i < plot->n_panels; i++)
		panel_done(&plot->panels[i]);
	free(plot->panels);
	free(plot->phases);
	free(plot->losses);
	free(plot->t_s);
	free(plot->subtitle);
	*plot = (struct watt_plot){ 0 };
}
