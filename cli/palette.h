/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours of pictures. The series can be told apart with any of the common colour blindnesses, on
 * their background, and are also named in the same order in the legend.
 */
#ifndef WATT_CLI_PALETTE_H
#define WATT_CLI_PALETTE_H

#define PALETTE_SERIES 10

struct palette {
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
	const char *series[PALETTE_SERIES];
};

static const struct palette palette_light = {
	.paper = "#ffffff",
	.ink = "#1c1f24",
	.faint = "#5c636e",
	.axis = "#8a919c",
	.grid = "#e6e8ec",
	.band = "#f3f5f8",
	.gap = "#b9bec7",
	.others = "#a3a8b1",
	.idle = "#d5d9df",
	.unattributed = "#7d5a50",
	.series = { "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#882255",
		    "#999933", "#332288", "#44aa99" },
};

static const struct palette palette_dark = {
	.paper = "#14171c",
	.ink = "#eef0f3",
	.faint = "#a2a9b4",
	.axis = "#6b7380",
	.grid = "#2a2f37",
	.band = "#1b1f26",
	.gap = "#565d68",
	.others = "#767d88",
	.idle = "#454b55",
	.unattributed = "#b08a7c",
	.series = { "#4c9be8", "#f0b13a", "#3cc79f", "#e39ac3", "#93d3f7", "#ff8040", "#d1699c",
		    "#c9c95a", "#9a8cff", "#72d6c9" },
};

#endif
