/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws a plot. Power is drawn as it is known, constant in each window, so that an area is an
 * energy; where it is not known there is a gap. From above: title, names of the phases, panels
 * with their legend at the right, time axis.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/tally.h>
#include <wattribute/units.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "sink/axis.h"
#include "sink/palette.h"
#include "sink/plot.h"
#include "sink/svg.h"

#define MARGIN 18.0
#define HEAD 62.0        /* title and subtitle */
#define PHASES 22.0      /* names of phases */
#define PANEL_HEAD 26.0  /* its title */
#define PANEL_SPACE 14.0 /* below it */
#define FOOT 46.0        /* time axis */
#define LEGEND_MOST 236.0
#define LEGEND_ROWS 100
#define LEGEND_LEAST 150.0
#define LEGEND_SPACE 18.0
#define ROW 17.0 /* of a legend */
#define DEFAULT_WIDTH 1100.0
#define LEAST_PANEL 48.0
#define LEAST_AREA 160.0 /* width of a panel */

struct drawing {
	struct watt_svg svg;
	const struct watt_plot *plot;
	const struct watt_palette *colours;
	double width, height;
	double left;         /* of the panels */
	double area_width;   /* of the panels */
	double panel_height; /* of the part with lines */
	double legend_width;
	struct watt_axis time;
	int error; /* out of memory somewhere: the picture is not whole */
};

/* ---- sizes ---- */

static double fixed_height(const struct watt_plot *plot)
{
	return HEAD + (plot->n_phases ? PHASES : 0) + FOOT +
	       (double)plot->n_panels * (PANEL_HEAD + PANEL_SPACE);
}

static double wanted_panel_height(const struct watt_plot *plot)
{
	size_t i, rows = 0;

	for (i = 0; i < plot->n_panels; i++)
		if (plot->panels[i].n_lines > rows)
			rows = plot->panels[i].n_lines;
	/* A legend longer than this is cut. */
	if (rows > LEGEND_ROWS)
		rows = LEGEND_ROWS;
	return fmax(plot->n_panels > 1 ? 180 : 320, (double)rows * ROW + 10);
}

void watt_plot_size(const struct watt_plot *plot, const struct watt_plot_opts *opts,
		    double *ret_width, double *ret_height)
{
	double least = fixed_height(plot) + LEAST_PANEL * (double)plot->n_panels;

	*ret_width = opts->width > 0 ? opts->width : DEFAULT_WIDTH;
	*ret_height = opts->height > 0 ? opts->height :
					 fixed_height(plot) +
						 (double)plot->n_panels * wanted_panel_height(plot);
	*ret_width = fmax(*ret_width, LEGEND_LEAST + LEGEND_SPACE + 2 * MARGIN + 64 + LEAST_AREA);
	*ret_height = fmax(*ret_height, ceil(least));
}

/* ---- places ---- */

static double x_of(const struct drawing *d, double t_s)
{
	return d->left + d->area_width * (t_s - d->time.min) / (d->time.max - d->time.min);
}

static double y_of(const struct watt_svg_box *area, const struct watt_axis *axis, double power_w)
{
	return area->y + area->height * (axis->max - power_w) / (axis->max - axis->min);
}

static double panels_top(const struct drawing *d)
{
	return HEAD + (d->plot->n_phases ? PHASES : 0);
}

static struct watt_svg_box area_of(const struct drawing *d, size_t panel)
{
	return (struct watt_svg_box){
		.x = d->left,
		.y = panels_top(d) + PANEL_HEAD +
		     (double)panel * (d->panel_height + PANEL_HEAD + PANEL_SPACE),
		.width = d->area_width,
		.height = d->panel_height,
	};
}

static const char *colour_of(const struct drawing *d, const struct watt_plot_panel *panel,
			     size_t line)
{
	size_t i, n = 0;

	switch (panel->lines[line].role) {
	case WATT_PLOT_TOTAL:
		return d->colours->ink;
	case WATT_PLOT_OTHERS:
		return d->colours->others;
	case WATT_PLOT_IDLE:
		return panel->is_stacked ? d->colours->idle : d->colours->axis;
	case WATT_PLOT_UNATTRIBUTED:
		return d->colours->unattributed;
	case WATT_PLOT_SERIES:
		break;
	}
	for (i = 0; i < line; i++)
		n += panel->lines[i].role == WATT_PLOT_SERIES;
	return d->colours->series[n % WATT_PALETTE_SERIES];
}

/* More lines than colours differ by their dashes. */
static const char *dash_of(const struct watt_plot_panel *panel, size_t line)
{
	static const char *const dashes[] = { NULL, "6 2.5", "2 2", "8 2 2 2" };
	size_t i, n = 0;

	if (panel->lines[line].role == WATT_PLOT_IDLE)
		return "4 2";
	if (panel->lines[line].role != WATT_PLOT_SERIES)
		return NULL;
	for (i = 0; i < line; i++)
		n += panel->lines[i].role == WATT_PLOT_SERIES;
	return dashes[n / WATT_PALETTE_SERIES % WATT_ARRAY_SIZE(dashes)];
}

/* ---- lines and areas ---- */

static void draw_line(struct drawing *d, const struct watt_svg_box *area,
		      const struct watt_axis *axis, const struct watt_plot_panel *panel,
		      size_t index)
{
	const struct watt_plot_line *line = &panel->lines[index];
	const double *t_s = d->plot->t_s;
	double last = NAN;
	size_t i;

	for (i = 0; i < d->plot->n_windows; i++) {
		double y = isnan(line->power_w[i]) ? NAN : y_of(area, axis, line->power_w[i]);

		if (isnan(y)) {
			if (!isnan(last))
				watt_svg_to(&d->svg, x_of(d, t_s[i]), last);
			last = NAN;
			continue;
		}
		if (isnan(last)) {
			watt_svg_move(&d->svg, x_of(d, t_s[i]), y);
		} else if (fabs(y - last) >= 0.01) {
			watt_svg_to(&d->svg, x_of(d, t_s[i]), last);
			watt_svg_to(&d->svg, x_of(d, t_s[i]), y);
		}
		last = y;
	}
	if (!isnan(last))
		watt_svg_to(&d->svg, x_of(d, t_s[i]), last);
	watt_svg_draw(&d->svg,
		      (struct watt_svg_pen){ .stroke = colour_of(d, panel, index),
					     .width = line->role == WATT_PLOT_TOTAL  ? 1.8 :
						      line->role == WATT_PLOT_SERIES ? 1.3 :
										       1.0,
					     .dash = dash_of(panel, index) });
}

/* The borders of an area in each window; NAN: there is none. */
struct strip {
	double *from_w;
	double *to_w;
};

static void draw_strip_run(struct drawing *d, const struct watt_svg_box *area,
			   const struct watt_axis *axis, const struct strip *strip, size_t first,
			   size_t last)
{
	const double *t_s = d->plot->t_s;
	size_t i;

	watt_svg_move(&d->svg, x_of(d, t_s[first]), y_of(area, axis, strip->from_w[first]));
	for (i = first; i < last; i++) {
		double y = y_of(area, axis, strip->to_w[i]);

		watt_svg_to(&d->svg, x_of(d, t_s[i]), y);
		watt_svg_to(&d->svg, x_of(d, t_s[i + 1]), y);
	}
	for (i = last; i-- > first;) {
		double y = y_of(area, axis, strip->from_w[i]);

		watt_svg_to(&d->svg, x_of(d, t_s[i + 1]), y);
		watt_svg_to(&d->svg, x_of(d, t_s[i]), y);
	}
	watt_svg_close(&d->svg);
}

static void draw_strip(struct drawing *d, const struct watt_svg_box *area,
		       const struct watt_axis *axis, const struct strip *strip, const char *colour)
{
	size_t i = 0, first, n = d->plot->n_windows;

	while (i < n) {
		/* Where the area has no height there is nothing to draw. */
		while (i < n && (isnan(strip->to_w[i]) || strip->to_w[i] == strip->from_w[i]))
			i++;
		for (first = i; i < n; i++)
			if (isnan(strip->to_w[i]) || strip->to_w[i] == strip->from_w[i])
				break;
		if (i > first)
			draw_strip_run(d, area, axis, strip, first, i);
	}
	watt_svg_draw(&d->svg, (struct watt_svg_pen){ .fill = colour, .opacity = 0.92 });
}

/* Puts a line on top of those before it; what is negative goes below 0. */
static void stack(const struct watt_plot_line *line, size_t n, double *above_w, double *below_w,
		  struct strip *ret)
{
	size_t i;

	for (i = 0; i < n; i++) {
		double *sum_w = line->power_w[i] < 0 ? &below_w[i] : &above_w[i];

		ret->from_w[i] = *sum_w;
		ret->to_w[i] = *sum_w + line->power_w[i];
		if (!isnan(line->power_w[i]))
			*sum_w = ret->to_w[i];
	}
}

/* From below: the last line first, so that the legend has the order of the areas. */
static void draw_stack(struct drawing *d, const struct watt_svg_box *area,
		       const struct watt_axis *axis, const struct watt_plot_panel *panel)
{
	size_t n = d->plot->n_windows, i;
	_cleanup_free_ double *above_w = calloc(n + 1, sizeof(double));
	_cleanup_free_ double *below_w = calloc(n + 1, sizeof(double));
	_cleanup_free_ double *from_w = calloc(n + 1, sizeof(double));
	_cleanup_free_ double *to_w = calloc(n + 1, sizeof(double));
	struct strip strip = { from_w, to_w };

	if (!above_w || !below_w || !from_w || !to_w) {
		d->error = -ENOMEM;
		return;
	}
	for (i = panel->n_lines; i-- > 0;) {
		if (panel->lines[i].role == WATT_PLOT_TOTAL)
			continue;
		stack(&panel->lines[i], n, above_w, below_w, &strip);
		draw_strip(d, area, axis, &strip, colour_of(d, panel, i));
	}
	for (i = 0; i < panel->n_lines; i++)
		if (panel->lines[i].role == WATT_PLOT_TOTAL)
			draw_line(d, area, axis, panel, i);
}

static void draw_lines(struct drawing *d, const struct watt_svg_box *area,
		       const struct watt_axis *axis, const struct watt_plot_panel *panel)
{
	size_t i;

	/* The first ones matter most: they lie on top; the total above all. */
	for (i = panel->n_lines; i-- > 0;)
		if (panel->lines[i].role != WATT_PLOT_TOTAL)
			draw_line(d, area, axis, panel, i);
	for (i = 0; i < panel->n_lines; i++)
		if (panel->lines[i].role == WATT_PLOT_TOTAL)
			draw_line(d, area, axis, panel, i);
}

/* ---- the range of power ---- */

static void range_of(const struct drawing *d, const struct watt_plot_panel *panel,
		     double *ret_min_w, double *ret_max_w)
{
	double min_w = 0, max_w = 0;
	size_t i, w;

	for (w = 0; w < d->plot->n_windows; w++) {
		double above_w = 0, below_w = 0;

		for (i = 0; i < panel->n_lines; i++) {
			double power_w = panel->lines[i].power_w[w];

			if (isnan(power_w))
				continue;
			min_w = fmin(min_w, power_w);
			max_w = fmax(max_w, power_w);
			if (panel->lines[i].role != WATT_PLOT_TOTAL)
				*(power_w < 0 ? &below_w : &above_w) += power_w;
		}
		if (panel->is_stacked) {
			min_w = fmin(min_w, below_w);
			max_w = fmax(max_w, above_w);
		}
	}
	*ret_min_w = min_w;
	*ret_max_w = max_w;
}

/* ---- legend ---- */

#define LEGEND_DIGITS 4 /* of the total */

/* The means of a panel in one unit: lines that make up the total add up to it as they are shown. */
struct legend {
	const char *prefix;
	double factor;
	struct watt_tally *tally; /* of all lines but the total */
	double total_w;           /* NAN: there is none */
};

static void choose_prefix(struct legend *legend, double greatest_w)
{
	static const struct {
		double factor;
		const char *name;
	} prefixes[] = { { 1e3, "k" }, { 1, "" }, { 1e-3, "m" }, { 1e-6, "\u00b5" } };
	size_t i = 0;

	while (i + 1 < WATT_ARRAY_SIZE(prefixes) && greatest_w < prefixes[i].factor)
		i++;
	if (!(greatest_w > 0))
		i = 1;
	legend->prefix = prefixes[i].name;
	legend->factor = prefixes[i].factor;
}

static int legend_init(struct legend *legend, const struct watt_plot_panel *panel)
{
	_cleanup_free_ double *parts = calloc(panel->n_lines, sizeof(*parts));
	double sum = 0, size = 0, greatest_w = 0, whole;
	size_t i;
	int decimals;

	*legend = (struct legend){ .total_w = NAN };
	if (!parts)
		return -ENOMEM;
	for (i = 0; i < panel->n_lines; i++) {
		const struct watt_plot_line *line = &panel->lines[i];

		greatest_w = fmax(greatest_w, fabs(line->mean_w));
		if (line->role == WATT_PLOT_TOTAL)
			legend->total_w = line->mean_w;
	}
	choose_prefix(legend, greatest_w);
	for (i = 0; i < panel->n_lines; i++) {
		const struct watt_plot_line *line = &panel->lines[i];

		parts[i] = line->role == WATT_PLOT_TOTAL ? NAN : line->mean_w / legend->factor;
		if (isfinite(parts[i])) {
			sum += parts[i];
			size += fabs(parts[i]);
		}
	}
	whole = legend->total_w / legend->factor;
	decimals = watt_units_decimals(greatest_w / legend->factor, LEGEND_DIGITS, 3);
	if (!(fabs(sum - whole) <= 1e-9 * size))
		whole = sum;
	return watt_tally_new_within(parts, panel->n_lines, whole, decimals, &legend->tally);
}

static char *power_text(const struct legend *legend, const struct watt_plot_panel *panel,
			size_t index, char *buf)
{
	size_t n;

	if (panel->lines[index].role != WATT_PLOT_TOTAL)
		watt_tally_text(legend->tally, index, buf);
	else
		watt_units_fixed(buf, legend->total_w / legend->factor,
				 watt_tally_get_decimals(legend->tally), 0, 0);
	n = strlen(buf);
	if (strcmp(buf, "-") != 0)
		snprintf(buf + n, WATT_UNITS_SIZE - n, " %sW", legend->prefix);
	return buf;
}

static void draw_legend_row(struct drawing *d, const struct watt_plot_panel *panel,
			    const struct legend *legend, size_t index, double x, double y)
{
	const struct watt_plot_line *line = &panel->lines[index];
	struct watt_svg_font name = { .size = 11.5, .colour = d->colours->ink };
	struct watt_svg_font value = { .size = 11,
				       .colour = d->colours->faint,
				       .anchor = WATT_SVG_END };
	char mean[WATT_UNITS_SIZE];
	double room;

	if (panel->is_stacked && line->role != WATT_PLOT_TOTAL)
		watt_svg_box(&d->svg, (struct watt_svg_box){ x, y - 9, 12, 10 },
			     (struct watt_svg_pen){ .fill = colour_of(d, panel, index),
						    .opacity = 0.92 });
	else
		watt_svg_line(&d->svg, x, y - 4, x + 16, y - 4,
			      (struct watt_svg_pen){ .stroke = colour_of(d, panel, index),
						     .width = 2.4,
						     .dash = dash_of(panel, index) });
	power_text(legend, panel, index, mean);
	watt_svg_text(&d->svg, x + d->legend_width, y, value, mean);
	room = d->legend_width - 22 - watt_svg_text_width(value, mean) - 10;
	name.is_bold = line->role == WATT_PLOT_TOTAL;
	watt_svg_text_fit(&d->svg, x + 22, y, name, line->label, room);
}

static void draw_legend(struct drawing *d, const struct watt_svg_box *area,
			const struct watt_plot_panel *panel)
{
	struct watt_svg_font faint = { .size = 10.5,
				       .colour = d->colours->faint,
				       .anchor = WATT_SVG_END };
	double x = area->x + area->width + LEGEND_SPACE, y = area->y + 10;
	size_t rows = (size_t)(area->height / ROW), i, shown;
	size_t n_totals = panel->lines[panel->n_lines - 1].role == WATT_PLOT_TOTAL;
	struct legend legend;
	char more[48];

	if (legend_init(&legend, panel) < 0) {
		d->error = -ENOMEM;
		return;
	}
	watt_svg_text(&d->svg, x + d->legend_width, area->y - 9, faint, "mean");
	shown = panel->n_lines <= rows || rows == 0 ? panel->n_lines : rows - 1;
	/* The total, which is the last line, stands first: a legend that is cut must have it. */
	for (i = 0; i < shown; i++)
		draw_legend_row(d, panel, &legend, (i + panel->n_lines - n_totals) % panel->n_lines,
				x, y + (double)i * ROW);
	watt_tally_free(legend.tally);
	if (shown == panel->n_lines)
		return;
	snprintf(more, sizeof(more), "and %zu more", panel->n_lines - shown);
	faint.anchor = WATT_SVG_START;
	watt_svg_text(&d->svg, x + 22, y + (double)shown * ROW, faint, more);
}

/* ---- axes ---- */

static void draw_power_axis(struct drawing *d, const struct watt_svg_box *area,
			    const struct watt_axis *axis)
{
	struct watt_svg_font font = { .size = 11,
				      .anchor = WATT_SVG_END,
				      .colour = d->colours->faint };
	char label[WATT_AXIS_LABEL_SIZE];
	size_t i;

	for (i = 0; i < axis->n; i++) {
		double value = watt_axis_tick(axis, i), y = y_of(area, axis, value);
		bool is_zero = value == 0;

		watt_svg_line(&d->svg, area->x, y, area->x + area->width, y,
			      (struct watt_svg_pen){ .stroke = is_zero ? d->colours->axis :
									 d->colours->grid,
						     .width = 1 });
		watt_svg_text(&d->svg, area->x - 7, y + 4, font, watt_axis_label(axis, i, label));
	}
}

static void draw_power_unit(struct drawing *d, const struct watt_svg_box *area,
			    const struct watt_axis *axis)
{
	struct watt_svg_font font = { .size = 11, .anchor = WATT_SVG_MIDDLE, .is_upright = true };
	char text[32];

	snprintf(text, sizeof(text), "power (%s)", axis->unit);
	font.colour = d->colours->faint;
	/* A low panel has room for the unit alone. */
	watt_svg_text(&d->svg, MARGIN + 2, area->y + area->height / 2, font,
		      watt_svg_text_width(font, text) < area->height ? text : axis->unit);
}

static void draw_time_axis(struct drawing *d)
{
	struct watt_svg_font font = { .size = 11,
				      .anchor = WATT_SVG_MIDDLE,
				      .colour = d->colours->faint };
	struct watt_svg_box last = area_of(d, d->plot->n_panels - 1);
	char name[96];
	char label[WATT_AXIS_LABEL_SIZE];
	double y = last.y + last.height;
	size_t i;

	snprintf(name, sizeof(name), "time since the beginning of the recording (%s)",
		 d->time.unit);
	for (i = 0; i < d->time.n; i++) {
		double x = x_of(d, watt_axis_tick(&d->time, i));

		watt_svg_line(&d->svg, x, y, x, y + 4,
			      (struct watt_svg_pen){ .stroke = d->colours->axis, .width = 1 });
		watt_svg_text(&d->svg, x, y + 17, font, watt_axis_label(&d->time, i, label));
	}
	watt_svg_text_fit(&d->svg, d->left + d->area_width / 2, y + 35, font, name, d->area_width);
}

static void draw_time_grid(struct drawing *d, const struct watt_svg_box *area)
{
	size_t i;

	for (i = 0; i < d->time.n; i++) {
		double x = x_of(d, watt_axis_tick(&d->time, i));

		watt_svg_line(&d->svg, x, area->y, x, area->y + area->height,
			      (struct watt_svg_pen){ .stroke = d->colours->grid, .width = 1 });
	}
}

/* The widest label that the axes of all panels have. */
static double widest_label(struct drawing *d)
{
	struct watt_svg_font font = { .size = 11 };
	double width = 0;
	size_t i, j;

	for (i = 0; i < d->plot->n_panels; i++) {
		double min_w, max_w;
		struct watt_axis axis;

		range_of(d, &d->plot->panels[i], &min_w, &max_w);
		axis = watt_axis_power(min_w, max_w, (size_t)fmax(2, d->panel_height / 42));
		for (j = 0; j < axis.n; j++) {
			char label[WATT_AXIS_LABEL_SIZE];

			width = fmax(width,
				     watt_svg_text_width(font, watt_axis_label(&axis, j, label)));
		}
	}
	return width;
}

/* As many ticks of time as their labels have room. */
static void choose_time_axis(struct drawing *d)
{
	const double *t_s = d->plot->t_s;
	struct watt_svg_font font = { .size = 11 };
	size_t n;

	for (n = (size_t)fmax(2, d->area_width / 70);; n--) {
		char label[WATT_AXIS_LABEL_SIZE];
		double room, width;

		d->time = watt_axis_time(t_s[0], t_s[d->plot->n_windows], n);
		room = d->area_width * d->time.step / (d->time.max - d->time.min);
		width = watt_svg_text_width(font, watt_axis_label(&d->time, d->time.n - 1, label));
		if (n <= 1 || room > width + 16)
			return;
	}
}

/* ---- phases and gaps ---- */

static void draw_phase_bands(struct drawing *d, const struct watt_svg_box *area)
{
	size_t i;

	for (i = 0; i < d->plot->n_phases; i++) {
		const struct watt_plot_span *phase = &d->plot->phases[i];
		double x0 = x_of(d, phase->t0_s), x1 = x_of(d, phase->t1_s);

		if (i % 2 == 0)
			watt_svg_box(&d->svg,
				     (struct watt_svg_box){ x0, area->y, x1 - x0, area->height },
				     (struct watt_svg_pen){ .fill = d->colours->band });
	}
}

static void draw_phase_borders(struct drawing *d, const struct watt_svg_box *area)
{
	struct watt_svg_pen pen = { .stroke = d->colours->axis, .width = 1, .dash = "3 3" };
	size_t i;

	for (i = 0; i < d->plot->n_phases; i++) {
		const struct watt_plot_span *phase = &d->plot->phases[i];
		double x0 = x_of(d, phase->t0_s), x1 = x_of(d, phase->t1_s);
		bool is_joined = i + 1 < d->plot->n_phases &&
				 d->plot->phases[i + 1].t0_s == phase->t1_s;

		watt_svg_line(&d->svg, x0, area->y, x0, area->y + area->height, pen);
		if (!is_joined)
			watt_svg_line(&d->svg, x1, area->y, x1, area->y + area->height, pen);
	}
}

static void draw_phase_names(struct drawing *d)
{
	struct watt_svg_font font = { .size = 11,
				      .anchor = WATT_SVG_MIDDLE,
				      .colour = d->colours->ink };
	size_t i;

	for (i = 0; i < d->plot->n_phases; i++) {
		const struct watt_plot_span *phase = &d->plot->phases[i];
		double x0 = x_of(d, phase->t0_s), x1 = x_of(d, phase->t1_s);

		watt_svg_box(&d->svg,
			     (struct watt_svg_box){ x0 + 0.5, HEAD, fmax(x1 - x0 - 1, 0.5), 18 },
			     (struct watt_svg_pen){ .fill = i % 2 ? d->colours->band :
								    d->colours->grid });
		watt_svg_text_fit(&d->svg, (x0 + x1) / 2, HEAD + 13, font, phase->label,
				  x1 - x0 - 8);
	}
}

#define HATCH_STEP 8.0
#define GAP_HEAD 18.0 /* what says why, which lines behind it would hide */

/*
 * Nobody takes what is hatched for a value: an area of a colour could be one. The lines of all gaps
 * are those of one grid, cut where a gap ends.
 */
static void draw_hatch(struct drawing *d, const struct watt_svg_box *box)
{
	struct watt_svg_pen pen = { .stroke = d->colours->faint, .width = 0.7 };
	double right = box->x + box->width, foot = box->y + box->height;
	long first = lround(ceil((box->x - box->height) / HATCH_STEP));
	long i, end = lround(ceil(right / HATCH_STEP));

	for (i = first; i < end; i++) {
		double x = (double)i * HATCH_STEP;
		double from = fmax(x, box->x), to = fmin(x + box->height, right);

		if (to <= from)
			continue;
		watt_svg_move(&d->svg, from, foot - (from - x));
		watt_svg_to(&d->svg, to, foot - (to - x));
	}
	watt_svg_draw(&d->svg, pen);
}

static void draw_gap(struct drawing *d, const struct watt_svg_box *area, double t0_s, double t1_s,
		     const char *why)
{
	struct watt_svg_font font = { .size = 10.5,
				      .anchor = WATT_SVG_MIDDLE,
				      .colour = d->colours->faint };
	double x0 = x_of(d, t0_s), x1 = x_of(d, t1_s);
	struct watt_svg_box box = { x0, area->y, fmax(x1 - x0, 1), area->height };

	watt_svg_box(&d->svg, box,
		     (struct watt_svg_pen){ .fill = d->colours->gap, .opacity = 0.35 });
	box.y += GAP_HEAD;
	box.height -= GAP_HEAD;
	draw_hatch(d, &box);
	watt_svg_text_fit(&d->svg, (x0 + x1) / 2, area->y + 13, font, why, x1 - x0 - 6);
}

enum knowledge {
	KNOWN,
	PARTIAL,
	UNKNOWN,
};

static enum knowledge knowledge_of(const struct watt_plot_panel *panel, size_t window)
{
	size_t i;

	for (i = 0; i < panel->n_lines; i++)
		if (!isnan(panel->lines[i].power_w[window]))
			return panel->is_partial[window] ? PARTIAL : KNOWN;
	return UNKNOWN;
}

/* Where the panel has no value, or the value of a part alone. */
static void draw_gaps(struct drawing *d, const struct watt_svg_box *area,
		      const struct watt_plot_panel *panel)
{
	size_t i = 0, first, n = d->plot->n_windows;

	while (i < n) {
		enum knowledge knowledge = knowledge_of(panel, i);

		for (first = i; i < n && knowledge_of(panel, i) == knowledge; i++)
			continue;
		if (knowledge != KNOWN)
			draw_gap(d, area, d->plot->t_s[first], d->plot->t_s[i],
				 knowledge == UNKNOWN ? "no data" : "incomplete");
	}
	for (i = 0; i < d->plot->n_losses; i++)
		draw_gap(d, area, d->plot->losses[i].t0_s, d->plot->losses[i].t1_s,
			 d->plot->losses[i].label);
}

/* ---- all of it ---- */

static void draw_panel(struct drawing *d, size_t index)
{
	const struct watt_plot_panel *panel = &d->plot->panels[index];
	struct watt_svg_font font = { .size = 12.5, .is_bold = true, .colour = d->colours->ink };
	struct watt_svg_box area = area_of(d, index);
	double min_w, max_w;
	struct watt_axis axis;

	range_of(d, panel, &min_w, &max_w);
	axis = watt_axis_power(min_w, max_w, (size_t)fmax(2, d->panel_height / 42));
	watt_svg_text_fit(&d->svg, area.x, area.y - 9, font, panel->title, area.width);
	draw_phase_bands(d, &area);
	draw_time_grid(d, &area);
	draw_power_axis(d, &area, &axis);
	draw_gaps(d, &area, panel);
	watt_svg_clip(&d->svg,
		      (struct watt_svg_box){ area.x, area.y - 1, area.width, area.height + 2 });
	if (panel->is_stacked)
		draw_stack(d, &area, &axis, panel);
	else
		draw_lines(d, &area, &axis, panel);
	watt_svg_unclip(&d->svg);
	draw_phase_borders(d, &area);
	draw_power_unit(d, &area, &axis);
	draw_legend(d, &area, panel);
}

static void draw_head(struct drawing *d)
{
	struct watt_svg_font title = { .size = 17, .is_bold = true, .colour = d->colours->ink };
	struct watt_svg_font subtitle = { .size = 11.5, .colour = d->colours->faint };
	double width = d->width - 2 * MARGIN;

	watt_svg_text_fit(&d->svg, MARGIN, 29, title, d->plot->title, width);
	watt_svg_text_fit(&d->svg, MARGIN, 48, subtitle, d->plot->subtitle, width);
}

int watt_plot_draw(const struct watt_plot *plot, const struct watt_plot_opts *opts, FILE *out)
{
	struct drawing d = { .plot = plot };
	size_t i;

	d.colours = opts->is_dark ? &watt_palette_dark : &watt_palette_light;
	watt_plot_size(plot, opts, &d.width, &d.height);
	d.panel_height = (d.height - fixed_height(plot)) / (double)plot->n_panels;
	d.left = MARGIN + 14 + widest_label(&d) + 10;
	d.legend_width = fmax(LEGEND_LEAST, fmin(LEGEND_MOST, d.width * 0.24));
	d.area_width = d.width - d.left - LEGEND_SPACE - d.legend_width - MARGIN;
	choose_time_axis(&d);
	watt_svg_begin(&d.svg, out, d.width, d.height, plot->title, plot->subtitle);
	watt_svg_box(&d.svg, (struct watt_svg_box){ 0, 0, d.width, d.height },
		     (struct watt_svg_pen){ .fill = d.colours->paper });
	draw_head(&d);
	draw_phase_names(&d);
	for (i = 0; i < plot->n_panels; i++)
		draw_panel(&d, i);
	draw_time_axis(&d);
	watt_svg_end(&d.svg);
	return d.error;
}
