/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sink/sink.c: every sink of the registry is told of the simulated machine, live */
#include "unit.h"

#include "../options_of.h"

#include <wattribute/recording.h>
#include <wattribute/sink.h>
#include <wattribute/window.h>

#include "sink/registry.h"

struct text {
	char *data;
	size_t n;
	int error; /* what every write answers from now on */
};

static int keep(void *data, const void *bytes, size_t n)
{
	struct text *text = data;

	if (text->error)
		return text->error;
	text->data = realloc(text->data, text->n + n + 1);
	assert_non_null(text->data);
	memcpy(text->data + text->n, bytes, n);
	text->n += n;
	text->data[text->n] = '\0';
	return 0;
}

static struct watt_sink *open_sink(const char *name, struct text *text)
{
	struct watt_sink_opts opts = { .sz = sizeof(opts), .write = keep, .write_data = text };
	struct watt_sink *sink = NULL;

	assert_int_equal(watt_sink_open(name, &opts, &sink), 0);
	return sink;
}

static struct watt_session *open_synth(void)
{
	struct watt_session *ses = NULL;

	assert_int_equal(
		open_by(options_of("sources", "synth", "usage", "synth", "slice", "10ms", NULL),
			&ses),
		0);
	assert_int_equal(watt_session_start(ses), 0);
	return ses;
}

/* The next window of the session, told to a sink. */
static int put_next(struct watt_session *ses, struct watt_sink *sink)
{
	struct watt_snapshot *snap = NULL;
	int r;

	assert_int_equal(watt_session_snapshot_at(ses, watt_session_get_time_ns(ses) + 20000000,
						  20000, &snap),
			 0);
	r = watt_sink_put_snapshot(sink, snap);
	watt_snapshot_unref(snap);
	return r;
}

static size_t count_lines(const struct text *text)
{
	size_t i, n = 0;

	for (i = 0; i < text->n; i++)
		n += text->data[i] == '\n';
	return n;
}

static void test_registry(void **state)
{
	const struct watt_sink_info *info;
	size_t i;

	for (i = 0; (info = watt_sink_get_info(i)); i++) {
		const struct watt_sink_option *option = info->options;

		assert_true(info->name && info->summary && info->suffixes && info->mime);
		assert_ptr_equal(watt_sink_find_info(info->name), info);
		for (; option && option->name; option++)
			assert_true(option->values && option->summary);
	}
	assert_true(i >= 10);
	assert_null(watt_sink_find_info("no such"));
}

static void test_mistakes(void **state)
{
	struct text text = { 0 };
	struct watt_sink_opts opts = { .sz = sizeof(opts) };
	struct watt_sink *sink = NULL;

	assert_int_equal(watt_sink_open("csv", &opts, &sink), -EINVAL);
	opts.write = keep;
	assert_int_equal(watt_sink_open("no such", &opts, &sink), -ENOENT);
	sink = open_sink("csv", &text);
	assert_int_equal(watt_sink_set(sink, "colour", "red"), -ENOENT);
	assert_int_equal(watt_sink_set(sink, "what", "nonsense"), -EINVAL);
	assert_int_equal(watt_sink_set(sink, "zeros", "perhaps"), -EINVAL);
	assert_int_equal(watt_sink_set(sink, "kinds", "process,ghost"), -EINVAL);
	assert_int_equal(watt_sink_set(sink, "kinds", "process,"), -EINVAL);
	assert_int_equal(watt_sink_set(sink, "kinds", "process,idle"), 0);
	assert_int_equal(sink->kinds, 1u << WATT_ENTITY_PROCESS | 1u << WATT_ENTITY_IDLE);
	assert_true(watt_sink_put_recording(sink, "/does/not/exist", NULL) < 0);
	assert_null(watt_sink_close(sink));
	assert_null(watt_sink_close(NULL));
	assert_int_equal(text.n, 0);
}

/* Those that take windows. Others see all of a recording at once. */
static void test_live(void **state)
{
	struct watt_session *ses = open_synth();
	const struct watt_sink_info *info;
	size_t i;

	for (i = 0; (info = watt_sink_get_info(i)); i++) {
		struct text text = { 0 };
		struct watt_sink *sink = open_sink(info->name, &text);

		if (sink->ops->series) {
			assert_int_equal(put_next(ses, sink), -EOPNOTSUPP);
			watt_sink_close(sink);
			continue;
		}
		assert_int_equal(put_next(ses, sink), 0);
		assert_int_equal(put_next(ses, sink), 0);
		assert_int_equal(watt_sink_put_recording(sink, "x", NULL), -EALREADY);
		assert_int_equal(watt_sink_set(sink, "zeros", "yes"), -EALREADY);
		assert_int_equal(watt_sink_finish(sink), 0);
		assert_true(text.n > 0);
		watt_sink_close(sink);
		free(text.data);
	}
	watt_session_close(ses);
}

/* A line stands when its window was put, not later: somebody waits for it. */
static void test_lines_are_live(void **state)
{
	struct watt_session *ses = open_synth();
	struct text text = { 0 };
	struct watt_sink *sink = open_sink("snapshot", &text);

	assert_int_equal(put_next(ses, sink), 0);
	assert_int_equal(count_lines(&text), 1);
	assert_int_equal(put_next(ses, sink), 0);
	assert_int_equal(count_lines(&text), 2);
	assert_int_equal(strncmp(text.data, "{\"schema\":\"wattribute-snapshot-1\"", 33), 0);
	watt_sink_close(sink);
	free(text.data);
	watt_session_close(ses);
}

static void test_samples_are_not_live(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_snapshot *snap = NULL;
	struct text text = { 0 };
	struct watt_sink *sink = open_sink("csv", &text);

	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	assert_int_equal(watt_sink_set(sink, "what", "samples"), 0);
	assert_int_equal(watt_sink_put_snapshot(sink, snap), -EOPNOTSUPP);
	watt_snapshot_unref(snap);
	watt_sink_close(sink);
	watt_session_close(ses);
}

/* What the caller can't write ends the writing, and he hears his own error. */
static void test_write_error(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_snapshot *snap = NULL;
	struct text text = { .error = -ENOSPC };
	struct watt_sink *sink = open_sink("jsonl", &text);

	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	assert_int_equal(watt_sink_put_snapshot(sink, snap), -ENOSPC);
	assert_int_equal(watt_sink_finish(sink), -ENOSPC);
	watt_snapshot_unref(snap);
	watt_sink_close(sink);
	watt_session_close(ses);
}

/* Ten windows of the simulated machine. Returns when the fifth of them ended. */
static uint64_t record(const char *path)
{
	struct watt_session *ses = NULL;
	uint64_t fifth_ns = 0;
	unsigned int i;
	int r;

	assert_int_equal(
		open_by(options_of("sources", "synth", "usage", "synth", "slice", "10ms", NULL),
			&ses),
		0);
	r = watt_session_record(ses, path, NULL);
	if (r == -EOPNOTSUPP) {
		watt_session_close(ses);
		skip();
	}
	assert_int_equal(r, 0);
	assert_int_equal(watt_session_start(ses), 0);
	for (i = 1; i <= 10; i++) {
		struct watt_snapshot *snap = NULL;

		assert_int_equal(watt_session_snapshot_at(ses, watt_session_get_time_ns(ses), 60000,
							  &snap),
				 0);
		if (i == 5)
			fifth_ns = watt_snapshot_get_time_ns(snap);
		watt_snapshot_unref(snap);
	}
	watt_session_close(ses);
	return fifth_ns;
}

/* The first window of a part begins with the part, not with the recording. */
static void test_part_of_a_recording(void **state)
{
	char *dir = scratch_new(), path[PATH_MAX], *line;
	struct watt_excerpt part = { .sz = sizeof(part), .window_ns = 60000000000 };
	struct watt_recording *rec = NULL;
	struct text text = { 0 };
	struct watt_sink *sink;
	double from_s = 0;

	snprintf(path, sizeof(path), "%s/a.watt", dir);
	part.from_ns = record(path);
	sink = open_sink("csv", &text);
	assert_int_equal(watt_sink_set(sink, "what", "domains"), 0);
	assert_int_equal(watt_sink_put_recording(sink, path, &part), 0);
	assert_int_equal(watt_sink_finish(sink), 0);
	line = strchr(text.data, '\n');
	assert_non_null(line);
	assert_int_equal(sscanf(line, "\n0,%lf", &from_s), 1);
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	assert_int_equal((int64_t)(from_s * 1e9 + 0.5),
			 (int64_t)(part.from_ns - watt_recording_get_info(rec)->start_ns));
	watt_recording_close(rec);
	watt_sink_close(sink);
	free(text.data);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_lines_are_live),
		cmocka_unit_test(test_samples_are_not_live),
		cmocka_unit_test(test_write_error),
		cmocka_unit_test(test_part_of_a_recording),
	};

	return cmocka_run_group_tests_name("sink", tests, NULL, NULL);
}
