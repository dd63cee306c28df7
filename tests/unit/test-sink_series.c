/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sink/report.c, html.c, picture.c: the sinks of all windows at once, on a made-up machine. */
#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "sink/html_template.h"
#include "sink/png.h"
#include "sink/registry.h"
#include "told.h"
#include "view/series.h"

/* The library that finds fonts for pictures keeps what it has found. */
MAY_LEAK("leak:libfontconfig");

/* As a session has it: idle energy is the domains', and nobody used what is not known. */
static void settle(struct machine *m, size_t w, int64_t (*ret_nj)[N_DOMAINS])
{
	size_t i, d;

	for (i = 0; i < N_ROWS; i++) {
		for (d = 0; d < N_DOMAINS; d++)
			ret_nj[i][d] = is_missing(w, d) ? 0 : used_nj[w][i][d];
		rows[i].window_nj = ret_nj[i];
		rows[i].window_total_nj = ret_nj[i][0] + ret_nj[i][2];
	}
	for (d = 0; d < N_DOMAINS; d++)
		m->state[d].window_idle_nj = ret_nj[3][d];
}

static const struct watt_quality *made_quality;

static struct watt_series *make_series(struct machine *m)
{
	int64_t settled_nj[N_ROWS][N_DOMAINS];
	struct watt_series *series;
	size_t w;

	assert_int_equal(watt_series_new(0, &series), 0);
	series->info.window_ns = S;
	for (w = 0; w < N_WINDOWS; w++) {
		struct watt_sink_window window;

		make_window(m, w, &window);
		settle(m, w, settled_nj);
		window.view.quality = made_quality;
		assert_int_equal(watt_series_add(series, &window.view, window.t0_ns, window.t1_ns,
						 w < 1 ? WATT_NO_MARK :
						 w < 3 ? 0 :
							 1),
				 0);
	}
	assert_int_equal(watt_series_finish(series), 0);
	return series;
}

/* Whether this machine can render. */
static bool has_png(void)
{
	static const char svg[] = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int r = watt_png_write(NULL, svg, sizeof(svg) - 1, 10, 10, out);

	fclose(out);
	free(text);
	return r != -EOPNOTSUPP;
}

/* What a sink of series writes of the machine, and of the machine compared with itself. */
static char *reported(const struct watt_sink_ops *ops, const char *option, const char *value,
		      bool is_compared)
{
	struct watt_sink sink = { .ops = ops };
	struct machine m;
	struct watt_sink_series told = { .about = &m.about };
	struct watt_series *series;
	struct watt_phases *phases;
	char *text = NULL;
	size_t len;

	init(&m);
	series = make_series(&m);
	assert_int_equal(watt_phases_find(series, m.mark, 2, &phases), 0);
	told.series = series;
	told.phases = phases;
	sink.about = &m.about;
	sink.data = calloc(1, ops->data_size);
	sink.out = open_memstream(&text, &len);
	if (option)
		assert_int_equal(ops->set(&sink, option, value), 0);
	assert_int_equal(ops->series(&sink, &told, is_compared ? &told : NULL), 0);
	fclose(sink.out);
	free(sink.data);
	watt_phases_free(phases);
	watt_series_free(series);
	return text;
}

static int64_t sum_of_entities(json_t *doc)
{
	json_t *entity;
	int64_t sum_nj = 0;
	size_t i;

	json_array_foreach(json_object_get(doc, "entities"), i, entity)
		sum_nj += json_integer_value(json_object_get(entity, "energy_nj"));
	return sum_nj;
}

static void test_report(void **state)
{
	static const char *const groups[] = { "process", "name", "container", "user" };
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		char *text = reported(&watt_sink_report, "group", groups[i], i % 2);
		json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *total;
		double energy_j;

		assert_non_null(doc);
		assert_string_equal(json_string_value(json_object_get(doc, "group")), groups[i]);
		total = json_object_get(doc, "total");
		assert_int_equal(json_integer_value(json_object_get(total, "energy_nj")),
				 sum_of_used(0) + sum_of_used(2));
		assert_int_equal(sum_of_entities(doc), sum_of_used(0) + sum_of_used(2));
		energy_j = json_number_value(json_object_get(total, "energy_j"));
		assert_true((int64_t)(energy_j * 1e9 + 0.5) == sum_of_used(0) + sum_of_used(2));
		assert_int_equal(json_array_size(json_object_get(doc, "domains")), N_DOMAINS);
		assert_int_equal(
			json_array_size(json_object_get(json_object_get(doc, "losses"), "list")),
			1);
		assert_int_equal(json_is_object(json_object_get(doc, "comparison")), i % 2);
		json_decref(doc);
		free(text);
	}
}

static json_t *get(json_t *value, const char *key)
{
	value = json_object_get(value, key);
	if (!value)
		fail_msg("no %s", key);
	return value;
}

/* Checks, losses and where each number is from are in the document, not in the program alone. */
static void test_report_says_how_sure(void **state)
{
	static const struct watt_quality quality = { .checks = 16,
						     .check_failures = 1,
						     .sum_checks = 40,
						     .sum_failures = 2,
						     .coverage_ppm = 500000,
						     .lost_records = 3 };
	char *text;
	json_t *doc, *domain;

	domains[0].origin = WATT_ORIGIN_ESTIMATED;
	domains[0].uncertainty_ppm = 300000;
	made_quality = &quality;
	text = reported(&watt_sink_report, NULL, NULL, false);
	made_quality = NULL;
	domains[0].origin = WATT_ORIGIN_MEASURED;
	domains[0].uncertainty_ppm = 0;
	doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(doc);
	assert_int_equal(json_integer_value(get(get(doc, "conservation"), "checks")), 16);
	assert_int_equal(json_integer_value(get(get(doc, "conservation"), "failures")), 1);
	assert_int_equal(json_integer_value(get(get(doc, "conservation"), "sum_checks")), 40);
	assert_int_equal(json_integer_value(get(get(doc, "conservation"), "sum_failures")), 2);
	assert_true(json_real_value(get(get(doc, "quality"), "coverage_ratio")) == 0.5);
	assert_int_equal(json_integer_value(get(get(doc, "quality"), "lost_records")), 3);
	assert_string_equal(json_string_value(get(get(doc, "total"), "origin")), "estimated");
	assert_true(json_real_value(get(get(doc, "total"), "uncertainty_ratio")) == 0.3);
	domain = json_array_get(get(doc, "domains"), 0);
	assert_string_equal(json_string_value(get(domain, "origin")), "estimated");
	assert_true(json_real_value(get(domain, "uncertainty_ratio")) == 0.3);
	assert_string_equal(
		json_string_value(get(json_array_get(get(get(doc, "losses"), "list"), 0), "why")),
		"disk full");
	json_decref(doc);
	free(text);
}

/* Nothing that a name says can end the script that the data are in. */
static void test_html(void **state)
{
	const char *from, *p;
	char *text, *data;
	json_t *doc;

	if (watt_html_template_size == 0)
		skip();
	text = reported(&watt_sink_html, NULL, NULL, true);
	from = text + watt_html_template_hole;
	data = strndup(from, strcspn(from, "<"));
	for (p = data; *p; p++)
		assert_true(*p != '>' && *p != '&');
	doc = json_loads(data, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(doc);
	assert_int_equal(sum_of_entities(json_object_get(doc, "report")),
			 sum_of_used(0) + sum_of_used(2));
	assert_int_equal(json_array_size(json_object_get(json_object_get(doc, "series"), "t")),
			 N_WINDOWS);
	assert_true(json_is_object(json_object_get(doc, "other")));
	json_decref(doc);
	free(data);
	free(text);
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

static void test_svg(void **state)
{
	char *text = reported(&watt_sink_svg, "what", "package", false);

	assert_int_equal(strncmp(text, "<?xml", 5), 0);
	assert_string_equal(text + strlen(text) - 7, "</svg>\n");
	/* the title, a panel for each package, and where one has no data */
	assert_int_equal(count(text, ">Power by CPU package<"), 2);
	assert_int_equal(count(text, ">package-0<"), 1);
	assert_int_equal(count(text, ">package-1<"), 1);
	assert_int_equal(count(text, "<b>"), 0);
	/* where package-1 is not known there is no line at 0, but a gap that says so */
	assert_int_equal(count(text, ">no data<"), 1);
	/* and nothing was recorded for a while, in either panel */
	assert_int_equal(count(text, ">disk full<"), 2);
	free(text);
	text = reported(&watt_sink_svg, "size", "640x480", false);
	assert_non_null(strstr(text, "viewBox=\"0 0 640 480\""));
	free(text);
}

#define NO_PNG 77

/* What librsvg keeps for good is the child's, which no leak is looked for in. */
static _Noreturn void render(FILE *file)
{
	char *text;

	if (!has_png())
		_exit(NO_PNG);
	text = reported(&watt_sink_png, "size", "640x480", false);
	fwrite(text, 1, 24, file);
	_exit(fflush(file) == 0 ? 0 : 1);
}

/* Where librsvg is missing that is said; a picture is one. */
static void test_png(void **state)
{
	FILE *file = tmpfile();
	char head[24];
	int status;
	pid_t pid;

	assert_non_null(file);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		render(file);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_PNG) {
		fclose(file);
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	rewind(file);
	assert_int_equal(fread(head, 1, sizeof(head), file), sizeof(head));
	assert_memory_equal(head, "\x89PNG\r\n\x1a\n", 8);
	/* width and height of its first chunk */
	assert_memory_equal(head + 12, "IHDR\0\0\x02\x80\0\0\x01\xe0", 12);
	fclose(file);
}

static void test_choices_of_pictures(void **state)
{
	static const char *const wrong[][2] = {
		{ "what", "all" },      { "top", "0" },        { "top", "1001" },
		{ "top", "x" },         { "style", "dotted" }, { "size", "640" },
		{ "size", "x480" },     { "size", "99x480" },  { "size", "640x20001" },
		{ "size", "640x480x" }, { "theme", "blue" },   { "theme", "" },
	};
	struct watt_sink sink = { .ops = &watt_sink_svg,
				  .data = calloc(1, watt_sink_svg.data_size) };
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(sink.ops->set(&sink, wrong[i][0], wrong[i][1]), -EINVAL);
	assert_int_equal(sink.ops->set(&sink, "top", "1000"), 0);
	assert_int_equal(sink.ops->set(&sink, "style", "lines"), 0);
	assert_int_equal(sink.ops->set(&sink, "theme", "dark"), 0);
	free(sink.data);
}

static void test_group_is_known(void **state)
{
	struct watt_sink sink = { .data = calloc(1, watt_sink_report.data_size) };

	assert_int_equal(watt_sink_report.set(&sink, "group", "colour"), -EINVAL);
	assert_int_equal(watt_sink_html.set(&sink, "group", ""), -EINVAL);
	free(sink.data);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_report_says_how_sure),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_group_is_known),
		cmocka_unit_test(test_svg),
		cmocka_unit_test(test_png),
		cmocka_unit_test(test_choices_of_pictures),
	};

	return cmocka_run_group_tests_name("sink_series", tests, NULL, NULL);
}
