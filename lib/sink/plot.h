/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture of power over time: panels one above the other with one time axis, each with lines or
 * areas and a legend. Plain values, in W and in seconds since the recording began.
 */
#ifndef WATT_SINK_PLOT_H
#define WATT_SINK_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sink/sink.h"

enum watt_plot_what {
	WATT_PLOT_PACKAGE,   /* a panel for each CPU package: its top processes and its total */
	WATT_PLOT_PROCESSES, /* one panel: the machine, by process */
	WATT_PLOT_DOMAINS,   /* one panel: all domains */
};

enum watt_plot_role {
	WATT_PLOT_SERIES,
	WATT_PLOT_TOTAL,
	WATT_PLOT_OTHERS,
	WATT_PLOT_IDLE,
	WATT_PLOT_UNATTRIBUTED,
};

struct watt_plot_line {
	char *label;
	enum watt_plot_role role;
	double *power_w; /* for each window; NAN: not known */
	double energy_j; /* over the windows in which it is known */
	double mean_w;   /* each domain over its own time, as a report has it; NAN: not known */
};

struct watt_plot_panel {
	char *title;
	bool is_stacked; /* areas on top of each other; the total stays a line */
	struct watt_plot_line *lines;
	size_t n_lines;
	bool *is_partial; /* per window: some of what it is the sum of is not known */
};

/* A part of the time with a name: a phase, or why nothing was recorded. */
struct watt_plot_span {
	double t0_s;
	double t1_s;
	const char *label; /* borrowed */
};

struct watt_plot {
	const char *title;
	char *subtitle;
	double *t_s; /* borders of the windows: n_windows + 1 */
	size_t n_windows;
	struct watt_plot_panel *panels;
	size_t n_panels;
	struct watt_plot_span *phases;
	size_t n_phases;
	struct watt_plot_span *losses;
	size_t n_losses;
};

struct watt_plot_opts {
	enum watt_plot_what what;
	size_t top;     /* lines of processes in a panel */
	int is_stacked; /* -1: as fits what is shown */
	bool is_dark;
	double width; /* 0: chosen */
	double height;
};

/* What a series shows. 0; -ENODATA: it has no energy of what is asked; -ENOMEM. */
int watt_plot_make(struct watt_plot *plot, const struct watt_sink_series *told,
		   const struct watt_plot_opts *opts);
void watt_plot_done(struct watt_plot *plot);

/* The size that the picture will have. */
void watt_plot_size(const struct watt_plot *plot, const struct watt_plot_opts *opts,
		    double *ret_width, double *ret_height);
/* SVG. 0 or -ENOMEM. */
int watt_plot_draw(const struct watt_plot *plot, const struct watt_plot_opts *opts, FILE *out);

#endif
