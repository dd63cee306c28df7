/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalable vector graphics, as much of them as charts need. Lengths are in pixels, y grows
 * downwards; colours are "#rrggbb". Text may be anything.
 */
#ifndef WATT_SINK_SVG_H
#define WATT_SINK_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct watt_svg {
	FILE *out;
	unsigned int n_clips;
	bool is_open; /* a path */
	double x, y;  /* its newest point */
};

enum watt_svg_anchor {
	WATT_SVG_START,
	WATT_SVG_MIDDLE,
	WATT_SVG_END,
};

struct watt_svg_font {
	double size;
	enum watt_svg_anchor anchor;
	bool is_bold;
	bool is_upright; /* turned by 90 degrees, to be read from below */
	const char *colour;
};

struct watt_svg_box {
	double x, y, width, height;
};

/* How a line or an area looks. */
struct watt_svg_pen {
	const char *fill;   /* NULL: none */
	const char *stroke; /* NULL: none */
	double width;
	double opacity;   /* of the fill; 0: 1 */
	const char *dash; /* NULL: a solid line */
};

/* title and text are for who can't see the picture. */
void watt_svg_begin(struct watt_svg *svg, FILE *out, double width, double height, const char *title,
		    const char *text);
void watt_svg_end(struct watt_svg *svg);
void watt_svg_box(struct watt_svg *svg, struct watt_svg_box box, struct watt_svg_pen pen);
void watt_svg_line(struct watt_svg *svg, double x0, double y0, double x1, double y1,
		   struct watt_svg_pen pen);
void watt_svg_text(struct watt_svg *svg, double x, double y, struct watt_svg_font font,
		   const char *text);
/* As much of the text as fits into a width; what is cut ends in an ellipsis. */
void watt_svg_text_fit(struct watt_svg *svg, double x, double y, struct watt_svg_font font,
		       const char *text, double width);
/* A path: where it begins, straight lines to points, then how it looks. */
void watt_svg_move(struct watt_svg *svg, double x, double y);
void watt_svg_to(struct watt_svg *svg, double x, double y);
void watt_svg_close(struct watt_svg *svg);
void watt_svg_draw(struct watt_svg *svg, struct watt_svg_pen pen);
/* What is drawn between these is seen inside the box alone. */
void watt_svg_clip(struct watt_svg *svg, struct watt_svg_box box);
void watt_svg_unclip(struct watt_svg *svg);

/* Width of text; the font may be somewhat narrower where ours is not there, never wider. */
double watt_svg_text_width(struct watt_svg_font font, const char *text);

#endif
