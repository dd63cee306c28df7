/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of SVG 1.1 that every renderer knows. Widths of text are those of DejaVu Sans, among
 * the widest of its kind, so that what fits here fits anywhere.
 */
#include "sink/svg.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"
#include "sink/escape.h"

/* Advance of the characters from ' ' to '~', in thousandths of the font size. */
static const unsigned short advances[95] = {
	318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
	636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
	1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
	603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
	500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
	635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
};

#define BOLD_FACTOR 1.13
#define ELLIPSIS "\u2026"

static double advance_of(uint32_t c)
{
	if (c >= ' ' && c <= '~')
		return advances[c - ' '] / 1000.0;
	return c < 0x1100 ? 0.8 : 1.05;
}

/* Length of the next character, and its width. */
static size_t step(struct watt_svg_font font, const char *text, double *ret_width)
{
	uint32_t c = 0xfffd;
	size_t len = watt_utf8_decode(text, strnlen(text, 4), &c);

	*ret_width = advance_of(c) * font.size * (font.is_bold ? BOLD_FACTOR : 1);
	return len ? len : 1;
}

double watt_svg_text_width(struct watt_svg_font font, const char *text)
{
	double width = 0, one;

	while (*text) {
		text += step(font, text, &one);
		width += one;
	}
	return width;
}

/* Numbers with two decimals at most: less than can be seen. */
static void put_number(struct watt_svg *svg, double value)
{
	char buf[48];
	size_t n = (size_t)snprintf(buf, sizeof(buf), "%.2f", value);

	while (buf[n - 1] == '0')
		n--;
	if (buf[n - 1] == '.')
		n--;
	buf[n] = '\0';
	fputs(strcmp(buf, "-0") == 0 ? "0" : buf, svg->out);
}

static void put_attribute(struct watt_svg *svg, const char *name, double value)
{
	fprintf(svg->out, " %s=\"", name);
	put_number(svg, value);
	fputc('"', svg->out);
}

static void put_pen(struct watt_svg *svg, struct watt_svg_pen pen)
{
	fprintf(svg->out, " fill=\"%s\"", pen.fill ? pen.fill : "none");
	if (pen.opacity > 0 && pen.opacity < 1)
		put_attribute(svg, "fill-opacity", pen.opacity);
	if (!pen.stroke)
		return;
	fprintf(svg->out, " stroke=\"%s\" stroke-linejoin=\"round\"", pen.stroke);
	put_attribute(svg, "stroke-width", pen.width);
	if (pen.dash)
		fprintf(svg->out, " stroke-dasharray=\"%s\"", pen.dash);
}

void watt_svg_begin(struct watt_svg *svg, FILE *out, double width, double height, const char *title,
		    const char *text)
{
	*svg = (struct watt_svg){ .out = out };
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\"",
	      out);
	put_attribute(svg, "width", width);
	put_attribute(svg, "height", height);
	fprintf(out,
		" viewBox=\"0 0 %.0f %.0f\" role=\"img\" font-family=\"DejaVu Sans, Verdana, "
		"Helvetica, Arial, sans-serif\">\n<title>",
		width, height);
	watt_escape_xml(out, title, strlen(title));
	fputs("</title>\n<desc>", out);
	watt_escape_xml(out, text, strlen(text));
	fputs("</desc>\n", out);
}

void watt_svg_end(struct watt_svg *svg)
{
	fputs("</svg>\n", svg->out);
}

static void put_box(struct watt_svg *svg, struct watt_svg_box box)
{
	fputs("<rect", svg->out);
	put_attribute(svg, "x", box.x);
	put_attribute(svg, "y", box.y);
	put_attribute(svg, "width", box.width);
	put_attribute(svg, "height", box.height);
}

void watt_svg_box(struct watt_svg *svg, struct watt_svg_box box, struct watt_svg_pen pen)
{
	put_box(svg, box);
	put_pen(svg, pen);
	fputs("/>\n", svg->out);
}

void watt_svg_line(struct watt_svg *svg, double x0, double y0, double x1, double y1,
		   struct watt_svg_pen pen)
{
	fputs("<line", svg->out);
	put_attribute(svg, "x1", x0);
	put_attribute(svg, "y1", y0);
	put_attribute(svg, "x2", x1);
	put_attribute(svg, "y2", y1);
	put_pen(svg, pen);
	fputs("/>\n", svg->out);
}

/* The first n bytes of a text, and what comes behind them. */
static void put_text(struct watt_svg *svg, double x, double y, struct watt_svg_font font,
		     const char *text, size_t n, const char *tail)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	fputs("<text", svg->out);
	put_attribute(svg, "x", x);
	put_attribute(svg, "y", y);
	put_attribute(svg, "font-size", font.size);
	fprintf(svg->out, " fill=\"%s\"", font.colour);
	if (font.anchor != WATT_SVG_START)
		fprintf(svg->out, " text-anchor=\"%s\"", anchors[font.anchor]);
	if (font.is_bold)
		fputs(" font-weight=\"bold\"", svg->out);
	if (font.is_upright) {
		fputs(" transform=\"rotate(-90 ", svg->out);
		put_number(svg, x);
		fputc(' ', svg->out);
		put_number(svg, y);
		fputs(")\"", svg->out);
	}
	fputc('>', svg->out);
	watt_escape_xml(svg->out, text, n);
	fprintf(svg->out, "%s</text>\n", tail);
}

void watt_svg_text(struct watt_svg *svg, double x, double y, struct watt_svg_font font,
		   const char *text)
{
	put_text(svg, x, y, font, text, strlen(text), "");
}

void watt_svg_text_fit(struct watt_svg *svg, double x, double y, struct watt_svg_font font,
		       const char *text, double width)
{
	double used = 0, one, ellipsis = watt_svg_text_width(font, ELLIPSIS);
	size_t n = 0, kept = 0;

	if (watt_svg_text_width(font, text) <= width) {
		watt_svg_text(svg, x, y, font, text);
		return;
	}
	while (text[n]) {
		size_t len = step(font, text + n, &one);

		if (used + one + ellipsis > width)
			break;
		used += one;
		n += len;
		kept++;
	}
	/* A letter or two and dots say nothing. */
	if (kept < 3)
		return;
	put_text(svg, x, y, font, text, n, ELLIPSIS);
}

void watt_svg_move(struct watt_svg *svg, double x, double y)
{
	fputs(svg->is_open ? "M" : "<path d=\"M", svg->out);
	put_number(svg, x);
	fputc(' ', svg->out);
	put_number(svg, y);
	svg->is_open = true;
	svg->x = x;
	svg->y = y;
}

/* Charts are made of level and upright lines: half a point each. */
void watt_svg_to(struct watt_svg *svg, double x, double y)
{
	bool is_level = fabs(y - svg->y) < 0.005, is_upright = fabs(x - svg->x) < 0.005;

	if (is_level && is_upright)
		return;
	fputc(is_level ? 'H' : is_upright ? 'V' : 'L', svg->out);
	if (!is_upright)
		put_number(svg, x);
	if (!is_level && !is_upright)
		fputc(' ', svg->out);
	if (!is_level)
		put_number(svg, y);
	svg->x = x;
	svg->y = y;
}

void watt_svg_close(struct watt_svg *svg)
{
	fputc('Z', svg->out);
}

void watt_svg_draw(struct watt_svg *svg, struct watt_svg_pen pen)
{
	if (!svg->is_open)
		return;
	fputc('"', svg->out);
	put_pen(svg, pen);
	fputs("/>\n", svg->out);
	svg->is_open = false;
}

void watt_svg_clip(struct watt_svg *svg, struct watt_svg_box box)
{
	fprintf(svg->out, "<clipPath id=\"clip%u\">", ++svg->n_clips);
	put_box(svg, box);
	fprintf(svg->out, "/></clipPath>\n<g clip-path=\"url(#clip%u)\">\n", svg->n_clips);
}

void watt_svg_unclip(struct watt_svg *svg)
{
	fputs("</g>\n", svg->out);
}
