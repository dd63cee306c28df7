/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture of power over time: panels one above the other with one time axis, each with lines or
 * areas and a legend. Plain values, in W and in seconds since the recording began.
 */
#ifndef WATT_CLI_PLOT_H
#define WATT_CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <wattribute/series.h>

enum plot_what {
	PLOT_PACKAGE,   /* a panel for each CPU package: its top processes and its total */
	PLOT_PROCESSES, /* one panel: the machine, by process */
	PLOT_DOMAINS,   /* one panel: all domains */
};

enum plot_role {
	PLOT_SERIES,
	PLOT_TOTAL,
	PLOT_OTHERS,
	PLOT_IDLE,
	PLOT_UNATTRIBUTED,
};

struct plot_line {
	char *label;
	enum plot_role role;
	double *power_w; /* for each window; NAN: not known */
	double energy_j; /* over the windows in which it is known */
};

struct plot_panel {
	char *title;
	bool is_stacked; /* areas on top of each other; the total stays a line */
	struct plot_line *lines;
	size_t n_lines;
	bool *is_partial; /* per window: some of what it is the sum of is not known */
};

/* A part of the time with a name: a phase, or why nothing was recorded. */
struct plot_span {
	double t0_s;
	double t1_s;
	const char *label; /* borrowed */
};

struct plot {
	char *title;
	char *subtitle;
	double *t_s; /* borders of the windows: n_windows + 1 */
	size_t n_windows;
	struct plot_panel *panels;
	size_t n_panels;
	struct plot_span *phases;
	size_t n_phases;
	struct plot_span *losses;
	size_t n_losses;
};

struct plot_opts {
	enum plot_what what;
	size_t top;     /* lines of processes in a panel */
	int is_stacked; /* -1: as fits what is shown */
	bool is_dark;
	uint64_t begin_ns; /* time 0 of the axis, CLOCK_MONOTONIC */
	double width;      /* 0: chosen */
	double height;
};

/*
 * What a series shows. marks are those of its windows. 0; -ENODATA: it has no energy of what is
 * asked, and a line has been printed.
 */
int plot_make(struct plot *plot, const struct watt_series *series, const struct watt_mark *marks,
	      size_t n_marks, const struct plot_opts *opts);
/* Adds a time for which nothing was recorded. */
void plot_add_loss(struct plot *plot, double t0_s, double t1_s, const char *why);
void plot_done(struct plot *plot);

/* The size that the picture will have. */
void plot_size(const struct plot *plot, const struct plot_opts *opts, double *ret_width,
	       double *ret_height);
void plot_draw(const struct plot *plot, const struct plot_opts *opts, FILE *out);

/* Renders SVG text of this size into a PNG file. 0 or a negative errno, and a line. */
int plot_png(const char *svg, size_t len, double width, double height, FILE *out);

#endif
