/* SPDX-License-Identifier: Apache-2.0 */
/* agent/exposition.c, read by a parser that knows the formats alone. */
#include "unit.h"

#include <math.h>

#include "exposition.h"
#include "metrics_text.h"

/* Something of every kind. */
static void write_all(struct exposition *ex, enum exposition_format format)
{
	static const struct exposition_family energy = { "x_joules", EXPOSITION_COUNTER, "joules",
							 "Energy." };
	static const struct exposition_family info = { "x", EXPOSITION_INFO, NULL, "What." };
	static const struct exposition_family empty = { "y_watts", EXPOSITION_GAUGE, "watts",
							"Nothing." };
	static const struct exposition_family power = { "x_watts", EXPOSITION_GAUGE, "watts",
							"Power." };

	exposition_begin(ex, format, NULL);
	exposition_family(ex, &energy);
	exposition_energy(ex, "pid=\"1\"", "package-0", 1500000000);
	exposition_created(ex, "pid=\"1\"", "package-0", 1700000000500000000);
	exposition_energy(ex, NULL, "package-0", (nanojoules)INT64_MAX * 1000);
	exposition_family(ex, &info);
	exposition_count(ex, "a=\"b\"", 1);
	exposition_family(ex, &empty);
	exposition_number(ex, NULL, NULL, NAN);
	exposition_family(ex, &power);
	exposition_number(ex, NULL, NULL, -2.5);
	exposition_end(ex);
}

static void test_text(void **state)
{
	struct exposition ex;
	struct metrics_text *mt;

	write_all(&ex, EXPOSITION_TEXT);
	mt = metrics_read(ex.bytes.data, false);
	assert_string_equal(mt->error, "");
	assert_int_equal(mt->n, 4);
	assert_int_equal(mt->n_families, 3);
	assert_true(metrics_find(mt, "x_joules_total{pid=\"1\",domain=\"package-0\"}")->value ==
		    1.5);
	assert_true(metrics_find(mt, "x_joules_total{domain=\"package-0\"}")->value_e9 ==
		    (nanojoules)INT64_MAX * 1000);
	assert_true(metrics_find(mt, "x_info{a=\"b\"}")->value == 1);
	assert_true(metrics_find(mt, "x_watts")->value == -2.5);
	metrics_free(mt);
	exposition_done(&ex);
}

static void test_openmetrics(void **state)
{
	const char *created = "x_joules_created{pid=\"1\",domain=\"package-0\"}";
	struct exposition ex;
	struct metrics_text *mt;

	write_all(&ex, EXPOSITION_OPENMETRICS);
	mt = metrics_read(ex.bytes.data, true);
	assert_string_equal(mt->error, "");
	assert_int_equal(mt->n, 5);
	assert_string_equal(mt->families[0], "x_joules");
	assert_string_equal(mt->types[1], "info");
	assert_true(metrics_find(mt, created)->value_e9 == 1700000000500000000);
	assert_non_null(strstr(ex.bytes.data, "# UNIT x_joules joules\n"));
	metrics_free(mt);
	exposition_done(&ex);
}

static void test_digits(void **state)
{
	static const struct {
		nanojoules nj;
		const char *text;
	} cases[] = {
		{ 0, "x 0\n" },
		{ 1, "x 0.000000001\n" },
		{ 100, "x 0.0000001\n" },
		{ 999999999, "x 0.999999999\n" },
		{ 1000000000, "x 1\n" },
		{ -1, "x -0.000000001\n" },
		{ -12500000000, "x -12.5\n" },
	};
	static const struct exposition_family family = { "x", EXPOSITION_GAUGE, NULL, "X." };
	struct exposition ex;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		exposition_begin(&ex, EXPOSITION_TEXT, NULL);
		exposition_family(&ex, &family);
		exposition_energy(&ex, NULL, NULL, cases[i].nj);
		assert_string_equal(strstr(ex.bytes.data, "\nx ") + 1, cases[i].text);
		exposition_done(&ex);
	}
}

static void test_hostile_labels(void **state)
{
	static const struct exposition_family family = { "x", EXPOSITION_GAUGE, NULL, "X." };
	struct bytes labels = { 0 };
	struct metrics_text *mt;
	struct exposition ex;

	exposition_add_label(&labels, "none", NULL);
	exposition_add_label(&labels, "empty", "");
	assert_int_equal(labels.n, 0);
	exposition_add_label(&labels, "a", "quote \" slash \\ line \n end");
	exposition_add_label(&labels, "b", "\xff\xc3\xa9}");
	assert_string_equal(labels.data,
			    "a=\"quote \\\" slash \\\\ line \\n end\",b=\"?\xc3\xa9}\"");
	exposition_begin(&ex, EXPOSITION_OPENMETRICS, NULL);
	exposition_family(&ex, &family);
	exposition_count(&ex, labels.data, 7);
	exposition_end(&ex);
	mt = metrics_read(ex.bytes.data, true);
	assert_string_equal(mt->error, "");
	assert_int_equal(mt->n, 1);
	metrics_free(mt);
	exposition_done(&ex);
	bytes_done(&labels);
}

static void test_choice(void **state)
{
	static const struct {
		const char *accept;
		enum exposition_format format;
	} cases[] = {
		{ NULL, EXPOSITION_TEXT },
		{ "", EXPOSITION_TEXT },
		{ "*/*", EXPOSITION_TEXT },
		{ "text/html", EXPOSITION_TEXT },
		{ "application/openmetrics-text", EXPOSITION_OPENMETRICS },
		{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
		  "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  EXPOSITION_OPENMETRICS },
		{ "application/openmetrics-text; version=2.0.0, text/plain", EXPOSITION_TEXT },
		{ "application/openmetrics-text;q=0.3, text/plain;q=0.5", EXPOSITION_TEXT },
		{ "text/plain;q=0.5,application/openmetrics-text ; q=0.5", EXPOSITION_OPENMETRICS },
		{ "application/openmetrics-text;q=0", EXPOSITION_TEXT },
		{ "application/openmetrics-text;q=2", EXPOSITION_TEXT },
		{ "application/openmetrics-text;q=x", EXPOSITION_TEXT },
		{ "application/openmetrics-textile", EXPOSITION_TEXT },
		{ ";;,;q=;,,", EXPOSITION_TEXT },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(exposition_choose(cases[i].accept), cases[i].format);
}

/* A parser that takes anything would prove nothing. */
static void test_parser_is_strict(void **state)
{
	static const char *const texts[] = {
		"x 1\n",
		"# TYPE x gauge\nx 1",
		"# TYPE x gauge\nx one\n",
		"# TYPE x gauge\nx\n",
		"# TYPE x gauge\nx 1\nx 1\n",
		"# TYPE x gauge\ny 1\n",
		"# TYPE x gauge\nx 1\n# TYPE y gauge\ny 1\n# TYPE x gauge\nx{a=\"b\"} 1\n",
		"# TYPE x gauge\nx{a=b} 1\n",
		"# TYPE x gauge\nx{a=\"b} 1\n",
		"# TYPE x gauge\nx{a=\"\\t\"} 1\n",
		"# TYPE x counter\nx 1\n",
		"# TYPE x summer\nx 1\n",
		"# TYPE 1x gauge\n1x 1\n",
		"# EOF\n",
	};
	static const char *const open_texts[] = {
		"# TYPE x gauge\nx 1\n",
		"# TYPE x gauge\nx 1\n# EOF\nx 2\n",
		"# TYPE x counter\nx 1\n# EOF\n",
		"# TYPE x_total counter\nx_total 1\n# EOF\n",
		"# TYPE x_joules gauge\n# UNIT x_joules watts\nx_joules 1\n# EOF\n",
		"# TYPE x gauge\nx_created 1\n# EOF\n",
	};
	struct metrics_text *mt;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		mt = metrics_read(texts[i], false);
		assert_string_not_equal(mt->error, "");
		metrics_free(mt);
	}
	for (i = 0; i < sizeof(open_texts) / sizeof(open_texts[0]); i++) {
		mt = metrics_read(open_texts[i], true);
		assert_string_not_equal(mt->error, "");
		metrics_free(mt);
	}
}

static void test_copies_labels(void **state)
{
	struct bytes labels = { 0 }, to = { 0 };

	exposition_add_label(&labels, "comm", "a\"b\\,pid=\"9");
	exposition_add_label(&labels, "pid", "12");
	assert_true(exposition_has_label(labels.data, "pid"));
	assert_false(exposition_has_label(labels.data, "id"));
	assert_false(exposition_has_label(NULL, "pid"));
	exposition_copy_label(&to, "process", labels.data, "pid");
	exposition_copy_label(&to, "nothing", labels.data, "exe");
	exposition_copy_label(&to, "name", labels.data, "comm");
	assert_string_equal(to.data, "process=\"12\",name=\"a\\\"b\\\\,pid=\\\"9\"");
	bytes_done(&labels);
	bytes_done(&to);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),          cmocka_unit_test(test_openmetrics),
		cmocka_unit_test(test_digits),        cmocka_unit_test(test_hostile_labels),
		cmocka_unit_test(test_choice),        cmocka_unit_test(test_parser_is_strict),
		cmocka_unit_test(test_copies_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
