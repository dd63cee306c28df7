/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalable vector graphics, as much of them as charts need. Lengths are in pixels, y grows
 * downwards; colours are "#rrggbb". Text may be anything.
 */
#ifndef WATT_CLI_SVG_H
#define WATT_CLI_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct svg {
	FILE *out;
	unsigned int n_clips;
	bool is_open; /* a path */
	double x, y;  /* its newest point */
};

enum svg_anchor {
	SVG_START,
	SVG_MIDDLE,
	SVG_END,
};

struct svg_font {
	double size;
	enum svg_anchor anchor;
	bool is_bold;
	bool is_upright; /* turned by 90 degrees, to be read from below */
	const char *colour;
};

struct svg_box {
	double x, y, width, height;
};

/* How a line or an area looks. */
struct svg_pen {
	const char *fill;   /* NULL: none */
	const char *stroke; /* NULL: none */
	double width;
	double opacity;   /* of the fill; 0: 1 */
	const char *dash; /* NULL: a solid line */
};

/* title and text are for who can't see the picture. */
void svg_begin(struct svg *svg, FILE *out, double width, double height, const char *title,
	       const char *text);
void svg_end(struct svg *svg);
void svg_box(struct svg *svg, struct svg_box box, struct svg_pen pen);
void svg_line(struct svg *svg, double x0, double y0, double x1, double y1, struct svg_pen pen);
void svg_text(struct svg *svg, double x, double y, struct svg_font font, const char *text);
/* As much of the text as fits into a width; what is cut ends in an ellipsis. */
void svg_text_fit(struct svg *svg, double x, double y, struct svg_font font, const char *text,
		  double width);
/* A path: where it begins, straight lines to points, then how it looks. */
void svg_move(struct svg *svg, double x, double y);
void svg_to(struct svg *svg, double x, double y);
void svg_close(struct svg *svg);
void svg_draw(struct svg *svg, struct svg_pen pen);
/* What is drawn between these is seen inside the box alone. */
void svg_clip(struct svg *svg, struct svg_box box);
void svg_unclip(struct svg *svg);

/* Width of text; the font may be somewhat narrower where ours is not there, never wider. */
double svg_text_width(struct svg_font font, const char *text);

#endif
