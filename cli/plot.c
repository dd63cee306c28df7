/* SPDX-License-Identifier: Apache-2.0 */
/* From the windows of a recording to the lines of a picture. */
#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/view.h>

#include "message.h"
#include "xalloc.h"

/* A panel while it is made: which domains it is the sum of, and who has a line. */
struct making {
	const struct watt_series *series;
	const bool *is_part; /* per domain */
	size_t *line_of;     /* per entity: its line; SIZE_MAX: none */
	struct plot_panel *panel;
};

static struct plot_panel *add_panel(struct plot *plot, char *title, bool is_stacked)
{
	struct plot_panel *panel;

	plot->panels = xrealloc(plot->panels, plot->n_panels + 1, sizeof(*plot->panels));
	panel = &plot->panels[plot->n_panels++];
	*panel = (struct plot_panel){ .title = title, .is_stacked = is_stacked };
	return panel;
}

static size_t add_line(struct plot_panel *panel, size_t n_windows, enum plot_role role, char *label)
{
	panel->lines = xrealloc(panel->lines, panel->n_lines + 1, sizeof(*panel->lines));
	panel->lines[panel->n_lines] = (struct plot_line){
		.label = label, .role = role, .power_w = xcalloc(n_windows, sizeof(double))
	};
	return panel->n_lines++;
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

static char *label_of(const struct watt_series_entity *entity)
{
	if (entity->kind == WATT_ENTITY_EXITED)
		return xasprintf("%s (exited)", entity->name);
	if (entity->pid)
		return xasprintf("%s (%u)", entity->name, entity->pid);
	return xstrdup(entity->name);
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

/* Gives the top ones a line each, and all others one together. */
static void choose_lines(struct making *making, size_t top)
{
	const struct watt_series *series = making->series;
	auto_free struct rank *ranks =
		xcalloc(watt_series_get_info(series)->n_entities, sizeof(*ranks));
	size_t i, n = 0, line, n_windows = watt_series_get_info(series)->n_windows;

	making->line_of =
		xcalloc(watt_series_get_info(series)->n_entities, sizeof(*making->line_of));
	for (i = 0; i < watt_series_get_info(series)->n_entities; i++) {
		const struct watt_series_entity *entity = watt_series_get_entity(series, i);

		making->line_of[i] = SIZE_MAX;
		if (watt_view_is_user(entity->kind) && energy_of(making, entity->energy_nj) != 0)
			ranks[n++] = (struct rank){ i, energy_of(making, entity->energy_nj) };
	}
	qsort(ranks, n, sizeof(*ranks), by_energy);
	for (i = 0; i < n && i < top; i++) {
		const struct watt_series_entity *entity =
			watt_series_get_entity(series, ranks[i].index);

		if (!entity->is_others)
			making->line_of[ranks[i].index] =
				add_line(making->panel, n_windows, PLOT_SERIES, label_of(entity));
	}
	/* Others of other kinds that the series has summed up already are among them. */
	line = SIZE_MAX;
	for (i = 0; i < n; i++) {
		if (making->line_of[ranks[i].index] != SIZE_MAX)
			continue;
		if (line == SIZE_MAX)
			line = add_line(making->panel, n_windows, PLOT_OTHERS, xstrdup("others"));
		making->line_of[ranks[i].index] = line;
	}
}

/* ---- power ---- */

/* Adds nJ of a domain to a line, in a window; where nothing is known of any domain: NAN. */
static void add_power(struct plot_line *line, size_t window,
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

static void fill_lines(struct making *making)
{
	const struct watt_series *series = making->series;
	struct plot_panel *panel = making->panel;
	size_t total, idle, unattributed, known, missing, w, d, i;

	unattributed = add_line(panel, watt_series_get_info(series)->n_windows, PLOT_UNATTRIBUTED,
				xstrdup("unattributed"));
	idle = add_line(panel, watt_series_get_info(series)->n_windows, PLOT_IDLE, xstrdup("idle"));
	total = add_line(panel, watt_series_get_info(series)->n_windows, PLOT_TOTAL,
			 xstrdup("total"));
	for (w = 0; w < watt_series_get_info(series)->n_windows; w++) {
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
}

/* What is 0 all the time needs no line; the total always has one. */
static void drop_empty(struct plot_panel *panel)
{
	size_t i, n = 0;

	for (i = 0; i < panel->n_lines; i++) {
		struct plot_line *line = &panel->lines[i];

		if (line->role == PLOT_TOTAL || line->energy_j != 0) {
			panel->lines[n++] = *line;
			continue;
		}
		free(line->label);
		free(line->power_w);
	}
	panel->n_lines = n;
}

static void make_panel(struct plot *plot, const struct watt_series *series, const bool *is_part,
		       char *title, const struct plot_opts *opts, bool is_stacked)
{
	struct making making = { .series = series, .is_part = is_part };

	making.panel = add_panel(plot, title, is_stacked);
	making.panel->is_partial = xcalloc(plot->n_windows, sizeof(bool));
	choose_lines(&making, opts->top);
	fill_lines(&making);
	drop_empty(making.panel);
	free(making.line_of);
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

/* A panel for each package that has domains of the kind, in their order. */
static void make_packages(struct plot *plot, const struct watt_series *series,
			  const struct plot_opts *opts, enum watt_domain_kind kind)
{
	auto_free bool *is_part = xcalloc(watt_series_get_info(series)->n_domains, sizeof(bool));
	int64_t last = -1;

	for (;;) {
		int64_t next = INT64_MAX;
		const char *path = NULL;
		size_t d, n = 0;

		for (d = 0; d < watt_series_get_info(series)->n_domains; d++) {
			const struct watt_domain *domain = watt_series_get_domain(series, d);

			if (domain->kind == kind && package_of(domain) > last &&
			    package_of(domain) < next)
				next = package_of(domain);
		}
		if (next == INT64_MAX)
			return;
		for (d = 0; d < watt_series_get_info(series)->n_domains; d++) {
			const struct watt_domain *domain = watt_series_get_domain(series, d);

			is_part[d] = domain->kind == kind && package_of(domain) == next;
			if (is_part[d] && n++ == 0)
				path = domain->path;
		}
		if (has_energy(series, is_part))
			make_panel(plot, series, is_part,
				   n > 1 ? xasprintf("package-%lld", (long long)next) :
					   xstrdup(path),
				   opts, opts->is_stacked > 0);
		last = next;
	}
}

static void make_processes(struct plot *plot, const struct watt_series *series,
			   const struct plot_opts *opts)
{
	auto_free bool *is_part = xcalloc(watt_series_get_info(series)->n_domains, sizeof(bool));
	size_t d;

	for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
		is_part[d] = watt_series_get_domain(series, d)->is_partition;
	if (has_energy(series, is_part))
		make_panel(plot, series, is_part, xstrdup("machine"), opts, opts->is_stacked != 0);
}

/* The domains with the most energy, in the order of the tree. */
static void choose_domains(const struct watt_series *series, bool *chosen, size_t top,
			   bool is_stacked)
{
	auto_free struct rank *ranks =
		xcalloc(watt_series_get_info(series)->n_domains, sizeof(*ranks));
	size_t i, n = 0;

	for (i = 0; i < watt_series_get_info(series)->n_domains; i++)
		if (watt_series_get_total(series, i)->known_ns > 0 &&
		    (!is_stacked || watt_series_get_domain(series, i)->is_partition))
			ranks[n++] =
				(struct rank){ i, watt_series_get_total(series, i)->energy_nj };
	qsort(ranks, n, sizeof(*ranks), by_energy);
	/* Areas are of everything: what is left out would be missing from the sum. */
	for (i = 0; i < n && (is_stacked || i < top); i++)
		chosen[ranks[i].index] = true;
}

static void fill_domain(struct plot_line *line, const struct watt_series *series, size_t d)
{
	size_t w;

	for (w = 0; w < watt_series_get_info(series)->n_windows; w++) {
		const struct watt_series_energy *domain =
			&watt_series_get_window(series, w)->domains[d];

		if (domain->known_ns > 0)
			add_power(line, w, domain, domain->energy_nj);
		else
			line->power_w[w] = NAN;
	}
}

static void fill_total(struct plot_panel *panel, struct plot_line *line,
		       const struct watt_series *series)
{
	auto_free bool *is_part = xcalloc(watt_series_get_info(series)->n_domains, sizeof(bool));
	size_t w, d, known, missing;

	for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
		is_part[d] = watt_series_get_domain(series, d)->is_partition;
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
}

static void make_domains(struct plot *plot, const struct watt_series *series,
			 const struct plot_opts *opts)
{
	auto_free bool *chosen = xcalloc(watt_series_get_info(series)->n_domains, sizeof(bool));
	struct plot_panel *panel;
	size_t d, line, n = 0;

	choose_domains(series, chosen, opts->top, opts->is_stacked > 0);
	for (d = 0; d < watt_series_get_info(series)->n_domains; d++)
		n += chosen[d];
	if (!n)
		return;
	panel = add_panel(plot, xstrdup("domains"), opts->is_stacked > 0);
	panel->is_partial = xcalloc(plot->n_windows, sizeof(bool));
	for (d = 0; d < watt_series_get_info(series)->n_domains; d++) {
		if (!chosen[d])
			continue;
		line = add_line(panel, watt_series_get_info(series)->n_windows, PLOT_SERIES,
				xstrdup(watt_series_get_domain(series, d)->path));
		fill_domain(&panel->lines[line], series, d);
	}
	line = add_line(panel, watt_series_get_info(series)->n_windows, PLOT_TOTAL,
			xstrdup("machine"));
	fill_total(panel, &panel->lines[line], series);
	/* One domain is the machine. */
	if (n == 1 && panel->lines[0].energy_j == panel->lines[line].energy_j) {
		free(panel->lines[line].label);
		free(panel->lines[line].power_w);
		panel->n_lines--;
	}
}

/* ---- time ---- */

static double since_s(const struct plot_opts *opts, uint64_t t_ns)
{
	return (double)(int64_t)(t_ns - opts->begin_ns) / 1e9;
}

static void copy_times(struct plot *plot, const struct watt_series *series,
		       const struct plot_opts *opts)
{
	size_t w;

	plot->n_windows = watt_series_get_info(series)->n_windows;
	plot->t_s = xcalloc(plot->n_windows + 1, sizeof(*plot->t_s));
	for (w = 0; w < plot->n_windows; w++)
		plot->t_s[w] = since_s(opts, watt_series_get_window(series, w)->t0_ns);
	plot->t_s[w] = since_s(opts, watt_series_get_info(series)->end_ns);
}

static void copy_phases(struct plot *plot, const struct watt_mark *marks, size_t n_marks,
			const struct plot_opts *opts)
{
	size_t i;

	plot->phases = xcalloc(n_marks, sizeof(*plot->phases));
	for (i = 0; i < n_marks; i++) {
		double t0_s = since_s(opts, marks[i].t_ns);
		double t1_s = i + 1 < n_marks ? since_s(opts, marks[i + 1].t_ns) :
						plot->t_s[plot->n_windows];

		t0_s = fmax(t0_s, plot->t_s[0]);
		t1_s = fmin(t1_s, plot->t_s[plot->n_windows]);
		if (*marks[i].label && t1_s > t0_s)
			plot->phases[plot->n_phases++] =
				(struct plot_span){ t0_s, t1_s, marks[i].label };
	}
}

void plot_add_loss(struct plot *plot, double t0_s, double t1_s, const char *why)
{
	t0_s = fmax(t0_s, plot->t_s[0]);
	t1_s = fmin(t1_s, plot->t_s[plot->n_windows]);
	if (t1_s <= t0_s)
		return;
	plot->losses = xrealloc(plot->losses, plot->n_losses + 1, sizeof(*plot->losses));
	plot->losses[plot->n_losses++] = (struct plot_span){ t0_s, t1_s, why };
}

int plot_make(struct plot *plot, const struct watt_series *series, const struct watt_mark *marks,
	      size_t n_marks, const struct plot_opts *opts)
{
	static const char *const titles[] = { "Power by CPU package", "Power by process",
					      "Power by domain" };

	*plot = (struct plot){ .title = xstrdup(titles[opts->what]), .subtitle = xstrdup("") };
	copy_times(plot, series, opts);
	copy_phases(plot, marks, n_marks, opts);
	if (opts->what == PLOT_PACKAGE) {
		make_packages(plot, series, opts, WATT_DOMAIN_PACKAGE);
		if (!plot->n_panels)
			make_packages(plot, series, opts, WATT_DOMAIN_CPU_RAIL);
	} else if (opts->what == PLOT_PROCESSES) {
		make_processes(plot, series, opts);
	} else {
		make_domains(plot, series, opts);
	}
	if (plot->n_panels)
		return 0;
	message_error("there is no energy of %s in this time; --what=domains shows what there is",
		      opts->what == PLOT_PACKAGE ? "a CPU package" : "anything");
	plot_done(plot);
	return -ENODATA;
}

static void panel_done(struct plot_panel *panel)
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

void plot_done(struct plot *plot)
{
	size_t i;

	for (i = 0; i < plot->n_panels; i++)
		panel_done(&plot->panels[i]);
	free(plot->panels);
	free(plot->phases);
	free(plot->losses);
	free(plot->t_s);
	free(plot->title);
	free(plot->subtitle);
	*plot = (struct plot){ 0 };
}
