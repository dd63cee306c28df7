/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a recording: power over time, as SVG or, rendered from the same, as PNG. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/util.h"
#include "sink/plot.h"
#include "sink/png.h"
#include "sink/registry.h"

#define TOP 10
#define TOP_MOST 1000
#define LEAST_PIXELS 100
#define MOST_PIXELS 20000

/* What was chosen; zero everywhere is what nobody has chosen. */
struct choice {
	enum watt_plot_what what;
	size_t top;
	bool is_stacked, is_lines; /* neither: as fits what is shown */
	bool is_dark;
	double width, height;
};

/* ---- what can be chosen ---- */

/* The place of a word among others; -EINVAL: it is none of them. */
static int find_word(const char *const *words, size_t n, const char *word)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(words[i], word) == 0)
			return (int)i;
	return -EINVAL;
}

static int parse_pixels(const char *text, double *ret)
{
	uint64_t pixels;

	if (watt_parse_u64(text, &pixels) < 0 || pixels < LEAST_PIXELS || pixels > MOST_PIXELS)
		return -EINVAL;
	*ret = (double)pixels;
	return 0;
}

/* "1600x900" */
static int set_size(struct choice *choice, const char *value)
{
	double width, height;
	char text[32], *x;

	if (strlen(value) >= sizeof(text))
		return -EINVAL;
	strcpy(text, value);
	x = strchr(text, 'x');
	if (!x)
		return -EINVAL;
	*x++ = '\0';
	if (parse_pixels(text, &width) < 0 || parse_pixels(x, &height) < 0)
		return -EINVAL;
	choice->width = width;
	choice->height = height;
	return 0;
}

static int set_top(struct choice *choice, const char *value)
{
	uint64_t top;

	if (watt_parse_u64(value, &top) < 0 || top < 1 || top > TOP_MOST)
		return -EINVAL;
	choice->top = (size_t)top;
	return 0;
}

static int set(struct watt_sink *sink, const char *option, const char *value)
{
	static const char *const whats[] = { "package", "processes", "domains" };
	static const char *const styles[] = { "stacked", "lines" };
	static const char *const themes[] = { "light", "dark" };
	struct choice *choice = sink->data;
	int i;

	if (strcmp(option, "size") == 0)
		return set_size(choice, value);
	if (strcmp(option, "top") == 0)
		return set_top(choice, value);
	if (strcmp(option, "what") == 0) {
		i = find_word(whats, WATT_ARRAY_SIZE(whats), value);
		if (i >= 0)
			choice->what = (enum watt_plot_what)i;
	} else if (strcmp(option, "style") == 0) {
		i = find_word(styles, WATT_ARRAY_SIZE(styles), value);
		if (i >= 0) {
			choice->is_stacked = i == 0;
			choice->is_lines = i == 1;
		}
	} else {
		i = find_word(themes, WATT_ARRAY_SIZE(themes), value);
		if (i >= 0)
			choice->is_dark = i == 1;
	}
	return i < 0 ? i : 0;
}

static struct watt_plot_opts opts_of(const struct choice *choice)
{
	return (struct watt_plot_opts){ .what = choice->what,
					.top = choice->top ? choice->top : TOP,
					.is_stacked = choice->is_stacked ? 1 :
						      choice->is_lines   ? 0 :
									   -1,
					.is_dark = choice->is_dark,
					.width = choice->width,
					.height = choice->height };
}

/* ---- drawing ---- */

static void note_size(const struct watt_sink *sink, const struct watt_plot *plot,
		      const struct watt_plot_opts *opts)
{
	double width, height;

	watt_plot_size(plot, opts, &width, &height);
	if (opts->width > 0 && (width > opts->width || height > opts->height))
		watt_log(&sink->log, WATT_LOG_WARNING,
			 "%zu panels need more than %.0fx%.0f: it is %.0fx%.0f", plot->n_panels,
			 opts->width, opts->height, width, height);
}

static int draw_png(struct watt_sink *sink, const struct watt_plot *plot,
		    const struct watt_plot_opts *opts)
{
	_cleanup_free_ char *svg = NULL;
	double width, height;
	size_t len = 0;
	FILE *text = open_memstream(&svg, &len);
	int r;

	if (!text)
		return -ENOMEM;
	watt_plot_size(plot, opts, &width, &height);
	r = watt_plot_draw(plot, opts, text);
	if (fclose(text) != 0)
		r = -ENOMEM;
	return r < 0 ? r : watt_png_write(&sink->log, svg, len, width, height, sink->out);
}

static int write_series(struct watt_sink *sink, const struct watt_sink_series *told,
			const struct watt_sink_series *before)
{
	struct watt_plot_opts opts = opts_of(sink->data);
	struct watt_plot plot;
	int r;

	(void)before;
	r = watt_plot_make(&plot, told, &opts);
	if (r == -ENODATA)
		watt_log(
			&sink->log, WATT_LOG_ERROR,
			"there is no energy of %s in this time; --what=domains shows what there is",
			opts.what == WATT_PLOT_PACKAGE ? "a CPU package" : "anything");
	if (r < 0)
		return r;
	note_size(sink, &plot, &opts);
	r = sink->ops == &watt_sink_png ? draw_png(sink, &plot, &opts) :
					  watt_plot_draw(&plot, &opts, sink->out);
	watt_plot_done(&plot);
	return r;
}

static const struct watt_sink_option options[] = {
	{ "what", "package, processes or domains",
	  "each CPU package with its top processes; the machine; domains" },
	{ "top", "a number from 1 to 1000", "lines of processes or domains" },
	{ "style", "stacked or lines", "areas on top of each other, or lines" },
	{ "size", "a width and a height in pixels such as 1600x900 (100 to 20000)",
	  "of the picture" },
	{ "theme", "light or dark", "dark on light, or light on dark" },
	{ NULL },
};

/* clang-format off */
#define PICTURE_OPS \
	.data_size = sizeof(struct choice), \
	.set = set, \
	.series = write_series, \
	.is_alone = true
/* clang-format on */

const struct watt_sink_ops watt_sink_svg = {
	.info = {
		.sz = sizeof(struct watt_sink_info),
		.name = "svg",
		.summary = "a picture of power over time",
		.suffixes = ".svg",
		.mime = "image/svg+xml",
		.options = options,
	},
	PICTURE_OPS,
};

const struct watt_sink_ops watt_sink_png = {
	.info = {
		.sz = sizeof(struct watt_sink_info),
		.name = "png",
		.summary = "the same in pixels",
		.suffixes = ".png",
		.mime = "image/png",
		.options = options,
	},
	PICTURE_OPS,
};
