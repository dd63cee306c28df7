/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/sink/plot.c, plot_draw.c and svg.c, on made-up machines of any size. With WATT_PLOTS=FOLDER the
 * pictures are kept there for people to look at.
 */
#include "unit.h"

#include <math.h>

#include "sink/plot.h"
#include "sink/svg.h"
#include "view/series.h"

#define S 1000000000ULL

struct shape {
	const char *name;
	size_t n_packages, n_processes, n_windows;
	double watts;    /* of a package */
	bool is_battery; /* one domain, that charges */
	bool has_gap;
	size_t n_phases;
	uint64_t window_ns;
};

struct machine {
	struct watt_series series;
	struct watt_domain *domain;
	const struct watt_domain **domains;
	struct watt_mark marks[64];
	size_t n_marks;
	bool has_gap;
	uint32_t random;
};

static double draw(struct machine *m)
{
	m->random = m->random * 1664525 + 1013904223;
	return (m->random >> 8) / 16777216.0;
}

static const char *const names[] = {
	"postgres",
	"chromium-browser",
	"node",
	"\"a<b>&'c\"",
	"python3",
	"a name that is much too long for any "
	"legend that anybody could want to read",
	"kworker/u8:2-events_unbound",
	"\xff\xfe\x1b[31m",
	"\u6f22\u5b57"
	"\u304b\u306a",
	"sh",
};

static void make_entities(struct machine *m, const struct shape *shape)
{
	struct watt_series *series = &m->series;
	size_t i;

	series->info.n_entities = shape->n_processes;
	series->entities = calloc(shape->n_processes, sizeof(*series->entities));
	for (i = 0; i < shape->n_processes; i++) {
		struct watt_series_entity *entity = &series->entities[i];

		entity->kind = i % 7 == 6 ? WATT_ENTITY_EXITED : WATT_ENTITY_PROCESS;
		entity->pid = entity->kind == WATT_ENTITY_PROCESS ? 1000 + 37 * (uint32_t)i : 0;
		entity->name = strdup(names[i % (sizeof(names) / sizeof(names[0]))]);
		entity->energy_nj = calloc(series->info.n_domains, sizeof(int64_t));
	}
}

static void make_domains(struct machine *m, const struct shape *shape)
{
	struct watt_series *series = &m->series;
	size_t d, n = shape->is_battery ? 1 : 2 * shape->n_packages;

	series->info.n_domains = n;
	m->domain = calloc(n, sizeof(*m->domain));
	m->domains = calloc(n, sizeof(*m->domains));
	for (d = 0; d < n; d++) {
		char path[64];

		snprintf(path, sizeof(path), d % 2 ? "package-%zu/core" : "package-%zu", d / 2);
		m->domain[d] = (struct watt_domain){
			.path = strdup(shape->is_battery ? "bat0" : path),
			.kind = shape->is_battery ? WATT_DOMAIN_SUPPLY :
				d % 2             ? WATT_DOMAIN_CORES :
						    WATT_DOMAIN_PACKAGE,
			.parent = -1,
			.package_id = shape->is_battery ? -1 : (int32_t)(d / 2),
			.is_partition = d % 2 == 0,
			.origin = WATT_ORIGIN_SIMULATED,
		};
		m->domains[d] = &m->domain[d];
	}
	series->last.domains = m->domains;
	series->totals = calloc(n, sizeof(*series->totals));
}

static void make_window(struct machine *m, const struct shape *shape, size_t w)
{
	struct watt_series *series = &m->series;
	struct watt_series_window *window = &series->windows[w];
	size_t i, d, n = series->info.n_domains;
	double t = (double)w / (double)shape->n_windows;

	window->t0_ns = 50 * S + w * shape->window_ns;
	window->t1_ns = window->t0_ns + shape->window_ns;
	window->domains = calloc(n, sizeof(*window->domains));
	window->n_cells = shape->n_processes;
	window->entity_index = calloc(shape->n_processes, sizeof(uint32_t));
	window->energy_nj = calloc(shape->n_processes * n, sizeof(int64_t));
	for (d = 0; d < n; d++)
		window->domains[d].known_ns = shape->has_gap && w > shape->n_windows / 2 &&
							      w < shape->n_windows * 6 / 10 &&
							      d / 2 == 0 ?
						      0 :
						      shape->window_ns;
	for (i = 0; i < shape->n_processes; i++) {
		window->entity_index[i] = (uint32_t)i;
		for (d = 0; d < n; d++) {
			double phase = sin(6.3 * (t * (double)(1 + i % 5) + (double)(i + d) / 7));
			double power_w = shape->watts * 0.7 / (double)(i + 1) / 3 *
					 (phase > 0 ? 1 + draw(m) * 0.3 : 0.1);
			int64_t nj =
				(int64_t)(power_w * (double)shape->window_ns * (d % 2 ? 0.6 : 1));

			if (shape->is_battery)
				nj = (int64_t)(-power_w * (double)shape->window_ns * 0.2);
			window->energy_nj[i * n + d] = nj;
			if (window->domains[d].known_ns) {
				window->domains[d].energy_nj += nj;
				series->entities[i].energy_nj[d] += nj;
			}
		}
	}
	for (d = 0; d < n; d++) {
		int64_t idle_nj = (int64_t)(shape->watts * 0.2 * (double)shape->window_ns);

		if (shape->is_battery)
			idle_nj = (int64_t)(sin(9 * t) * shape->watts * (double)shape->window_ns);
		if (!window->domains[d].known_ns)
			continue;
		window->domains[d].idle_nj = idle_nj;
		window->domains[d].energy_nj += idle_nj;
		series->totals[d].energy_nj += window->domains[d].energy_nj;
		series->totals[d].known_ns += window->domains[d].known_ns;
	}
}

static void make(struct machine *m, const struct shape *shape)
{
	struct watt_series *series = &m->series;
	size_t w;

	*m = (struct machine){ .random = 7, .has_gap = shape->has_gap };
	make_domains(m, shape);
	make_entities(m, shape);
	series->info.n_windows = shape->n_windows;
	series->windows = calloc(shape->n_windows, sizeof(*series->windows));
	series->info.window_ns = shape->window_ns;
	for (w = 0; w < shape->n_windows; w++)
		make_window(m, shape, w);
	series->info.start_ns = series->windows[0].t0_ns;
	series->info.end_ns = series->windows[w - 1].t1_ns;
	for (w = 0; w < shape->n_phases; w++) {
		struct watt_mark *mark = &m->marks[m->n_marks++];

		/* One is too short for its name, one ends without another. */
		mark->t_ns = series->info.start_ns +
			     (series->info.end_ns - series->info.start_ns) * (w * w + 1) /
				     (shape->n_phases * shape->n_phases + 1);
		if (w % 4 != 3)
			snprintf(mark->label, sizeof(mark->label), "phase %zu <&>", w);
	}
}

static void done(struct machine *m)
{
	struct watt_series *series = &m->series;
	size_t i;

	for (i = 0; i < series->info.n_entities; i++) {
		free(series->entities[i].name);
		free(series->entities[i].energy_nj);
	}
	for (i = 0; i < series->info.n_windows; i++) {
		free(series->windows[i].domains);
		free(series->windows[i].entity_index);
		free(series->windows[i].energy_nj);
	}
	for (i = 0; i < series->info.n_domains; i++)
		free((char *)m->domain[i].path);
	free(series->entities);
	free(series->windows);
	free(series->totals);
	free(m->domain);
	free(m->domains);
}

/* ---- what a picture must be ---- */

struct text_box {
	double x0, y0, x1, y1;
	char text[256];
};

/* "&lt;" is one character. */
static void unescape(char *text)
{
	static const char *const entities[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&#39;" };
	char *to = text;
	size_t i;

	while (*text) {
		for (i = 0; i < 5 && strncmp(text, entities[i], strlen(entities[i])); i++)
			continue;
		assert_true(*text != '&' || i < 5);
		*to++ = i < 5 ? "<>&\"'"[i] : *text;
		text += i < 5 ? strlen(entities[i]) : 1;
	}
	*to = '\0';
}

static double number_after(const char *element, const char *name)
{
	const char *found = strstr(element, name);

	assert_non_null(found);
	return strtod(found + strlen(name), NULL);
}

static struct text_box box_of(const char *element)
{
	const char *content = strchr(element, '>') + 1, *end = strstr(content, "</text>");
	double x = number_after(element, " x=\""), y = number_after(element, " y=\"");
	struct watt_svg_font font = { .size = number_after(element, "font-size=\"") };
	struct text_box box = { 0 };
	double width;
	char head[512];

	assert_true(end && end - content < (long)sizeof(box.text) && content - element < 500);
	snprintf(head, sizeof(head), "%.*s", (int)(content - element), element);
	memcpy(box.text, content, (size_t)(end - content));
	unescape(box.text);
	font.is_bold = strstr(head, "bold") != NULL;
	width = watt_svg_text_width(font, box.text);
	box.x0 = strstr(head, "middle") ? x - width / 2 : strstr(head, "\"end") ? x - width : x;
	box.x1 = box.x0 + width;
	box.y0 = y - 0.75 * font.size;
	box.y1 = y + 0.2 * font.size;
	if (strstr(head, "rotate"))
		box = (struct text_box){ x - font.size, y - width / 2, x, y + width / 2, "turned" };
	return box;
}

static void assert_apart(const struct text_box *boxes, size_t n, double width, double height)
{
	size_t i, j;

	for (i = 0; i < n; i++) {
		const struct text_box *a = &boxes[i];

		if (a->x0 < 0 || a->y0 < 0 || a->x1 > width || a->y1 > height)
			fail_msg("'%s' leaves the picture", a->text);
		for (j = i + 1; j < n; j++) {
			const struct text_box *b = &boxes[j];

			if (a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1)
				fail_msg("'%s' and '%s' overlap", a->text, b->text);
		}
	}
}

/* Every element is closed, no byte is there that XML can't have, no number is none. */
static void assert_well_formed(const char *svg)
{
	const char *p;
	int depth = 0;

	assert_null(strstr(svg, "nan"));
	assert_null(strstr(svg, "inf\""));
	for (p = svg; *p; p++)
		assert_true((unsigned char)*p >= 0x20 || *p == '\n');
	for (p = strstr(svg, "<svg"); (p = strchr(p, '<')); p++) {
		const char *end = strchr(p, '>');

		assert_non_null(end);
		assert_true(!memchr(p + 1, '<', (size_t)(end - p - 1)));
		if (p[1] == '/')
			depth--;
		else if (end[-1] != '/')
			depth++;
		assert_true(depth >= 0);
	}
	assert_int_equal(depth, 0);
}

/* Slanting lines of the paths that are made of nothing else: those of gaps. */
static size_t count_hatches(const char *svg)
{
	size_t n = 0;

	for (svg = strstr(svg, "<path d=\""); svg; svg = strstr(svg + 1, "<path d=\"")) {
		const char *path = svg + 9, *end = strchr(path, '"');

		if (!memchr(path, 'H', (size_t)(end - path)) &&
		    !memchr(path, 'V', (size_t)(end - path)) && end[-1] != 'Z' &&
		    strstr(end, "stroke-width=\"0.7\"") < strchr(end, '>'))
			for (; path < end; path++)
				n += *path == 'L';
	}
	return n;
}

static void check_picture(const char *svg, const struct watt_plot *plot,
			  const struct watt_plot_opts *opts)
{
	static struct text_box boxes[4096];
	double width, height;
	const char *p = svg;
	size_t n = 0;

	watt_plot_size(plot, opts, &width, &height);
	assert_well_formed(svg);
	while ((p = strstr(p, "<text"))) {
		assert_true(n < 4096);
		boxes[n++] = box_of(p++);
	}
	assert_true(n > 5);
	assert_apart(boxes, n, width, height);
}

static void keep(const char *name, const char *svg, size_t len)
{
	char path[PATH_MAX];
	FILE *file;

	if (!getenv("WATT_PLOTS"))
		return;
	snprintf(path, sizeof(path), "%s/%s.svg", getenv("WATT_PLOTS"), name);
	file = fopen(path, "w");
	assert_non_null(file);
	fwrite(svg, 1, len, file);
	fclose(file);
}

/* What a sink is told of the machine. */
struct told {
	struct watt_recording_info info;
	struct watt_sink_about about;
	const struct watt_mark *marks[64];
	struct watt_sink_series series;
};

static void tell(struct machine *m, struct told *ret)
{
	size_t i;

	*ret = (struct told){ .info = { .command = "make -j8",
					.host = "host",
					.is_complete = 1,
					.start_realtime_ns = 1795266005 * S,
					.start_ns = m->series.info.start_ns } };
	for (i = 0; i < m->n_marks; i++)
		ret->marks[i] = &m->marks[i];
	ret->about = (struct watt_sink_about){ .file = "/tmp/run.watt",
					       .info = &ret->info,
					       .marks = ret->marks,
					       .n_marks = m->n_marks };
	ret->series = (struct watt_sink_series){ .about = &ret->about, .series = &m->series };
}

static void draw_one(struct machine *m, const char *name, struct watt_plot_opts opts)
{
	struct watt_recording_loss loss;
	const struct watt_recording_loss *losses[1] = { &loss };
	struct watt_plot plot;
	struct told told;
	char *svg = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&svg, &len);

	tell(m, &told);
	loss = (struct watt_recording_loss){ .t0_ns = m->series.info.start_ns + 20 * S,
					     .t1_ns = m->series.info.start_ns + 30 * S,
					     .why = "disk full" };
	if (strstr(name, "loss")) {
		told.about.losses = losses;
		told.about.n_losses = 1;
	}
	assert_int_equal(watt_plot_make(&plot, &told.series, &opts), 0);
	assert_int_equal(plot.n_losses, told.about.n_losses);
	assert_ptr_equal(
		strstr(plot.subtitle,
		       "run.watt \u00b7 make -j8 \u00b7 host \u00b7 2026-11-21 13:00:05 UTC"),
		plot.subtitle);
	assert_int_equal(watt_plot_draw(&plot, &opts, out), 0);
	fclose(out);
	keep(name, svg, len);
	check_picture(svg, &plot, &opts);
	if (m->has_gap || told.about.n_losses)
		assert_in_range(count_hatches(svg), 4, 10000);
	else
		assert_int_equal(count_hatches(svg), 0);
	free(svg);
	watt_plot_done(&plot);
}

static const struct shape shapes[] = {
	{ "one", 1, 1, 60, 15, false, false, 0, S },
	{ "two", 2, 12, 300, 45, false, true, 5, S },
	{ "two-loss", 2, 12, 300, 45, false, true, 3, S / 5 },
	{ "many", 8, 100, 1200, 280, false, true, 9, S / 2 },
	{ "long", 4, 40, 1000, 1500, false, false, 30, 60 * S },
	{ "short", 1, 9, 3, 0.004, false, false, 2, S / 1000 },
	{ "battery", 1, 6, 200, 12, true, true, 3, S },
};

static void test_pictures(void **state)
{
	static const char *const whats[] = { "package", "processes", "domains" };
	size_t i, what;
	int is_stacked;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct machine m;

		make(&m, &shapes[i]);
		for (what = 0; what < 3; what++)
			for (is_stacked = 0; is_stacked < 2; is_stacked++) {
				struct watt_plot_opts opts = { .what = (enum watt_plot_what)what,
							       .top = 10,
							       .is_stacked = is_stacked,
							       .is_dark = i % 2 };
				char name[64];

				if (shapes[i].is_battery && what == WATT_PLOT_PACKAGE)
					continue;
				snprintf(name, sizeof(name), "%s-%s%s", shapes[i].name, whats[what],
					 is_stacked ? "-stacked" : "");
				draw_one(&m, name, opts);
			}
		done(&m);
	}
}

static void test_sizes(void **state)
{
	static const double sizes[][2] = {
		{ 100, 100 }, { 480, 320 }, { 800, 600 }, { 1600, 900 }, { 4000, 400 },
	};
	struct machine m;
	size_t i;

	make(&m, &shapes[3]);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct watt_plot_opts opts = {
			.top = 20, .is_stacked = 0, .width = sizes[i][0], .height = sizes[i][1]
		};
		char name[64];

		snprintf(name, sizeof(name), "size-%.0fx%.0f", sizes[i][0], sizes[i][1]);
		draw_one(&m, name, opts);
		opts.what = WATT_PLOT_PROCESSES;
		opts.is_stacked = 1;
		snprintf(name, sizeof(name), "size-%.0fx%.0f-processes", sizes[i][0], sizes[i][1]);
		draw_one(&m, name, opts);
	}
	done(&m);
}

/* The lines of a panel add up to its total, whatever is left out by name. */
/* Means are those of a report: energy over the time for which it is known, each domain by itself. */
static void assert_mean_is_the_report_s(const struct watt_plot *plot,
					const struct watt_series *series)
{
	double total_w = NAN, whole_w = 0;
	size_t i;

	for (i = 0; i < plot->panels[0].n_lines; i++)
		if (plot->panels[0].lines[i].role == WATT_PLOT_TOTAL)
			total_w = plot->panels[0].lines[i].mean_w;
	for (i = 0; i < series->info.n_domains; i++)
		if (series->last.domains[i]->is_partition)
			whole_w += watt_series_power_w(&series->totals[i],
						       series->totals[i].energy_nj);
	assert_true(fabs(total_w - whole_w) < 1e-9 * whole_w);
}

static void test_lines_add_up(void **state)
{
	struct watt_plot_opts opts = { .what = WATT_PLOT_PROCESSES, .top = 5, .is_stacked = 1 };
	struct machine m;
	struct told told;
	struct watt_plot plot;
	size_t i, w, gaps = 0;

	make(&m, &shapes[1]);
	tell(&m, &told);
	assert_int_equal(watt_plot_make(&plot, &told.series, &opts), 0);
	assert_int_equal(plot.n_panels, 1);
	/* 5 processes, others, idle, total; nothing is unattributed */
	assert_int_equal(plot.panels[0].n_lines, 8);
	for (w = 0; w < plot.n_windows; w++) {
		double sum_w = 0, total_w = 0;

		for (i = 0; i < plot.panels[0].n_lines; i++) {
			const struct watt_plot_line *line = &plot.panels[0].lines[i];

			*(line->role == WATT_PLOT_TOTAL ? &total_w : &sum_w) += line->power_w[w];
		}
		assert_true(fabs(sum_w - total_w) < 1e-6 * total_w);
	}
	assert_mean_is_the_report_s(&plot, &m.series);
	watt_plot_done(&plot);
	/* What the series has put together takes no place of those that are asked for. */
	m.series.entities[0].is_others = m.series.entities[1].is_others = true;
	assert_int_equal(watt_plot_make(&plot, &told.series, &opts), 0);
	assert_int_equal(plot.panels[0].n_lines, 8);
	watt_plot_done(&plot);
	opts.what = WATT_PLOT_PACKAGE;
	assert_int_equal(watt_plot_make(&plot, &told.series, &opts), 0);
	assert_int_equal(plot.n_panels, 2);
	for (w = 0; w < plot.n_windows; w++)
		gaps += isnan(plot.panels[0].lines[0].power_w[w]);
	assert_int_equal(gaps, 29);
	watt_plot_done(&plot);
	done(&m);
}

/* The picture says how sure its watts are: as the least sure of what is added up, or nothing. */
static void test_says_how_sure_it_is(void **state)
{
	static const struct {
		uint32_t ppm[2];
		bool is_second_added;
		const char *end; /* of the subtitle */
	} cases[] = {
		{ { 0, 0 }, true, " \u00b7 estimated" },
		{ { 350000, 0 }, true, " \u00b7 estimated \u00b135 %" },
		{ { 30000, 50000 }, true, " \u00b7 estimated \u00b15 %" },
		{ { 30000, 50000 }, false, " \u00b7 estimated \u00b13 %" },
	};
	struct watt_plot_opts opts = { .what = WATT_PLOT_PACKAGE };
	struct watt_plot plot;
	struct machine m;
	struct told told;
	size_t i, d;

	make(&m, &shapes[0]);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (d = 0; d < 2; d++) {
			m.domain[d].origin = WATT_ORIGIN_ESTIMATED;
			m.domain[d].uncertainty_ppm = cases[i].ppm[d];
			m.domain[d].is_partition = d == 0 || cases[i].is_second_added;
		}
		tell(&m, &told);
		assert_int_equal(watt_plot_make(&plot, &told.series, &opts), 0);
		assert_string_equal(strrchr(plot.subtitle, '\0') - strlen(cases[i].end),
				    cases[i].end);
		watt_plot_done(&plot);
	}
	done(&m);
}

static void test_nothing_to_draw(void **state)
{
	struct watt_plot_opts opts = { .what = WATT_PLOT_PACKAGE, .top = 5, .is_stacked = -1 };
	struct machine m;
	struct told told;
	struct watt_plot plot;

	make(&m, &shapes[6]);
	tell(&m, &told);
	assert_int_equal(watt_plot_make(&plot, &told.series, &opts), -ENODATA);
	done(&m);
}

/* ---- text ---- */

static char *fitted(const char *text, double width)
{
	struct watt_svg svg;
	struct watt_svg_font font = { .size = 10, .colour = "#000000" };
	char *out = NULL, *from, *copy = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&out, &len);

	svg = (struct watt_svg){ .out = file };
	watt_svg_text_fit(&svg, 0, 0, font, text, width);
	fclose(file);
	from = strchr(out, '>');
	if (from)
		copy = strndup(from + 1, strcspn(from + 1, "<"));
	free(out);
	return copy;
}

static void assert_fits(const char *text, double width, const char *expected)
{
	char *found = fitted(text, width);

	if (expected)
		assert_string_equal(found, expected);
	else
		assert_null(found);
	free(found);
}

static void test_text_is_cut(void **state)
{
	assert_fits("postgres", 100, "postgres");
	assert_fits("postgres", 40, "postg\u2026");
	/* no half characters, no half entities */
	assert_fits("\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc", 40, "\u00fc\u00fc\u00fc\u2026");
	assert_fits("&&&&&&&&", 40, "&amp;&amp;&amp;\u2026");
	assert_fits("postgres", 22, NULL);
	assert_fits("", 0, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pictures),     cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_lines_add_up), cmocka_unit_test(test_nothing_to_draw),
		cmocka_unit_test(test_text_is_cut),  cmocka_unit_test(test_says_how_sure_it_is),
	};

	return cmocka_run_group_tests_name("plot", tests, NULL, NULL);
}
