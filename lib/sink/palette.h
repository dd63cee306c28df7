/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours of pictures. The series can be told apart with any of the common colour blindnesses, on
 * their background, and are also named in the same order in the legend.
 */
#ifndef WATT_SINK_PALETTE_H
#define WATT_SINK_PALETTE_H

#define WATT_PALETTE_SERIES 10

struct watt_palette {
	const char *paper;
	const char *ink;   /* text, totals */
	const char *faint; /* text that matters less */
	const char *axis;
	const char *grid;
	const char *band;   /* every other phase */
	const char *gap;    /* where nothing is known */
	const char *others; /* the sum of all the rest */
	const char *idle;
	const char *unattributed;
	const char *series[WATT_PALETTE_SERIES];
};

/* The first eight, and the greys, are those of the page of reports (web/report/report.css). */
static const struct watt_palette watt_palette_light = {
	.paper = "#ffffff",
	.ink = "#1c2024",
	.faint = "#5d6670",
	.axis = "#8b95a1",
	.grid = "#ebe9e4",
	.band = "#f3f6f9",
	.gap = "#b9bfc7",
	.others = "#b9bfc7",
	.idle = "#dcdfe3",
	.unattributed = "#7d8691",
	.series = { "#0072b2", "#e69f00", "#56b4e9", "#d55e00", "#009e73", "#cc79a7", "#d8c62f",
		    "#785ef0", "#882255", "#44aa99" },
};

static const struct watt_palette watt_palette_dark = {
	.paper = "#14171a",
	.ink = "#e7e9ec",
	.faint = "#98a2ad",
	.axis = "#5b646e",
	.grid = "#272c32",
	.band = "#1b2026",
	.gap = "#5b646e",
	.others = "#5b646e",
	.idle = "#343b43",
	.unattributed = "#8b95a1",
	.series = { "#3d94d1", "#e69f00", "#7cc7f2", "#e2702a", "#20b389", "#d68fb8", "#e5d95a",
		    "#9685f5", "#c45a8f", "#72d6c9" },
};

#endif
