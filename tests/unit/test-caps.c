/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording has at most, as wattribute-recording(5) states it: the reader refuses more and
 * says what and where, the recorder never writes it, and no file keeps SQLite busy without end.
 */
#include "recordings.h"

#include <sqlite3.h>
#include <zstd.h>

#include <wattribute/cursor.h>

#include "attrib/attrib.h"
#include "record/chunk.h"
#include "record/guard.h"

#define PAGE 4096
#define LEVELS 6

struct bench {
	char *folder;
	char *path;
};

static int setup(void **state)
{
	static struct bench b;

	b.folder = scratch_new();
	b.path = path_in(b.folder, "x.watt");
	*state = &b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	free(b->path);
	scratch_remove(b->folder);
	return 0;
}

static sqlite3 *open_db(const char *path)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=DELETE",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	return db;
}

static void run_sql(const char *path, const char *format, ...)
{
	sqlite3 *db = open_db(path);
	char *sql, *why = NULL;
	va_list args;

	va_start(args, format);
	sql = sqlite3_vmprintf(format, args);
	va_end(args);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", sql, why);
	sqlite3_free(sql);
	sqlite3_close(db);
}

static int64_t get_number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	int64_t value;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

/* Refused with one sentence, which says which file and what. */
static void assert_refused(const char *path, const char *what)
{
	struct watt_recording *rec = NULL;
	struct heard heard = { 0 };

	assert_int_equal(watt_recording_open(path, hear, &heard, &rec), -EBADMSG);
	assert_null(rec);
	assert_int_equal(heard.n_errors, 1);
	assert_non_null(strstr(heard.last, path));
	if (!strstr(heard.last, what))
		fail_msg("'%s' is not in '%s'", what, heard.last);
}

static struct watt_recording *open_accepted(const char *path)
{
	struct watt_recording *rec;
	struct heard heard = { 0 };

	if (watt_recording_open(path, hear, &heard, &rec) < 0)
		fail_msg("%s", heard.last);
	return rec;
}

static void add_rows(const char *path, const char *insert, int n)
{
	run_sql(path, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d) %s",
		n, insert);
}

/* ---- tables ---- */

static void test_channels(void **state)
{
	const struct bench *b = *state;
	struct watt_recording *rec;

	make_recording(b->path, 1, 20);
	run_sql(b->path, "DELETE FROM meta WHERE key IN ('check', 'first_channels'); "
			 "CREATE TEMP TABLE one AS SELECT * FROM channels WHERE id = 0; "
			 "WITH RECURSIVE n(i) AS (SELECT 16 UNION ALL SELECT i + 1 FROM n "
			 "LIMIT 16384 - 16) INSERT INTO channels SELECT i, name, source, domain, "
			 "label, path, kind, quantity, semantics, origin, flags, package_id, "
			 "die_id, core_id, read_group, scale_num, scale_den, wrap_nj, idle_uw, "
			 "max_power_uw, period_ns, window_ns, delay_ns, coverage_ppm, "
			 "uncertainty_ppm FROM n, one");
	rec = open_accepted(b->path);
	assert_int_equal(watt_recording_get_channel_count(rec), WATT_RECORDING_CHANNELS_MAX);
	watt_recording_close(rec);
	run_sql(b->path, "INSERT INTO channels(id) VALUES(16384)");
	assert_refused(b->path, "more channels than the 16384");
}

static void test_marks(void **state)
{
	const struct bench *b = *state;
	struct watt_recording *rec;

	make_recording(b->path, 1, 1);
	run_sql(b->path, "DELETE FROM marks");
	add_rows(b->path, "INSERT INTO marks SELECT i, i, i, 1, 'x' FROM n",
		 WATT_RECORDING_MARKS_MAX);
	rec = open_accepted(b->path);
	assert_int_equal(watt_recording_get_mark_count(rec), WATT_RECORDING_MARKS_MAX);
	watt_recording_close(rec);
	run_sql(b->path, "INSERT INTO marks VALUES(1000000, 1, 1, 1, 'x')");
	assert_refused(b->path, "more marks than the 262144");
}

static void test_views(void **state)
{
	const struct bench *b = *state;
	sqlite3 *db;
	char sql[64];
	int64_t i;

	make_recording(b->path, 1, 20);
	db = open_db(b->path);
	sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	for (i = get_number(db, "SELECT count(*) FROM sqlite_schema"); i < 1000; i++) {
		snprintf(sql, sizeof(sql), "CREATE VIEW v%d AS SELECT 1", (int)i);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	}
	assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	watt_recording_close(open_accepted(b->path));
	run_sql(b->path, "CREATE VIEW one_more AS SELECT 1");
	assert_refused(b->path, "more tables, indexes and views than the 1000");
}

/* ---- ops ---- */

/* A chunk of so many ops that have no columns. */
static size_t pack_ops(uint32_t n, void *packed, size_t size)
{
	static const uint8_t head[] = "WATT\1\0\1\0\2op";
	uint8_t *data = calloc(1, sizeof(head) + 8 + n), *p = data;
	size_t got;

	assert_non_null(data);
	p = mempcpy(p, head, sizeof(head) - 1);
	*p++ = 0;
	p = mempcpy(p, &n, 4);
	p = mempcpy(p, &n, 4);
	memset(p, WATT_OP_THREADS, n);
	got = ZSTD_compress(packed, size, data, (size_t)(p - data) + n, 1);
	assert_false(ZSTD_isError(got));
	free(data);
	return got;
}

static void test_ops(void **state)
{
	const struct bench *b = *state;
	static const uint32_t counts[] = { WATT_CHUNK_OPS_MAX, WATT_CHUNK_OPS_MAX + 1 };
	static char packed[1 << 20];
	struct watt_recording *rec;
	struct heard heard = { 0 };
	sqlite3_stmt *stmt;
	struct watt_op op;
	unsigned int n = 0, damages = 0;
	sqlite3 *db;
	size_t i;
	int r;

	make_recording(b->path, 1, 1);
	run_sql(b->path, "DELETE FROM chunks");
	db = open_db(b->path);
	assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO chunks VALUES(?, 1, 2, 0, 0, 0, ?)",
					    -1, &stmt, NULL),
			 SQLITE_OK);
	for (i = 0; i < 2; i++) {
		sqlite3_bind_int64(stmt, 1, (int64_t)i + 1);
		sqlite3_bind_blob(stmt, 2, packed, (int)pack_ops(counts[i], packed, sizeof(packed)),
				  SQLITE_TRANSIENT);
		assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
		sqlite3_reset(stmt);
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	assert_int_equal(watt_recording_open(b->path, hear, &heard, &rec), 0);
	while ((r = watt_recording_next_op(rec, &op)) <= 0) {
		assert_true(r == 0 || r == -EBADMSG);
		n += r == 0;
		damages += r < 0;
	}
	watt_recording_close(rec);
	assert_int_equal(n, WATT_CHUNK_OPS_MAX);
	assert_int_equal(damages, 1);
	assert_non_null(strstr(heard.last, "chunk 2"));
	assert_non_null(strstr(heard.last, "more ops than a chunk can have"));
}

/* ---- readers ---- */

static void test_readers(void **state)
{
	const struct bench *b = *state;
	static struct ops_machine machine;
	struct watt_op op = { .kind = WATT_OP_CURSOR, .cursor.is_open = true };
	struct watt_cursor *cursor = NULL;
	struct watt_options *options;
	struct heard heard = { 0 };
	struct watt_recorder *recorder;
	struct watt_snapshot *snap;
	struct watt_session *ses;
	int i;

	ops_machine_init(&machine);
	recorder = record_to(b->path, &machine, NULL, &heard);
	for (i = 1; i <= WATT_CURSORS_MAX + 1; i++) {
		op.cursor.id = (uint32_t)i;
		watt_recorder_put(recorder, &op);
	}
	watt_recorder_close(recorder);
	assert_int_equal(watt_options_new(&options), 0);
	watt_options_set_log(options, hear, &heard);
	assert_int_equal(watt_session_open_recording(b->path, options, &ses), 0);
	assert_string_equal(watt_session_get_host(ses), "zürich");
	assert_int_equal(watt_session_start(ses), 0);
	assert_int_equal(watt_session_next_snapshot(ses, &snap), 1);
	assert_int_equal(heard.n_warnings, 1);
	assert_non_null(strstr(heard.last, "more readers at a time"));
	assert_int_equal(watt_cursor_open(ses, &cursor), -EMFILE);
	assert_null(cursor);
	watt_session_close(ses);
	watt_options_free(options);
}

/* ---- the recorder ---- */

static void test_recorder_counts_what_is_too_much(void **state)
{
	const struct bench *b = *state;
	static struct ops_machine machine;
	static struct ops ops;
	struct watt_op op = { .kind = WATT_OP_MARK,
			      .mark = { .t_ns = OPS_START_NS, .label = "a" } };
	struct heard heard = { 0 };
	struct watt_record_stats stats;
	struct watt_recorder *recorder;
	struct watt_recording *rec;
	size_t i;

	ops_machine_init(&machine);
	ops_init(&ops, 1);
	recorder = record_to(b->path, &machine, NULL, &heard);
	watt_recorder_set_lost_marks(recorder, 2);
	for (i = 0; i < WATT_RECORDING_MARKS_MAX + 5; i++) {
		op.mark.t_ns++;
		watt_recorder_put(recorder, &op);
		/* the disk keeps up: what is tested is not what happens when it does not */
		for (stats.marks = i % 1024 ? i : 0;
		     i < WATT_RECORDING_MARKS_MAX && stats.marks + 2048 < i; usleep(100))
			watt_recorder_get_stats(recorder, &stats);
	}
	watt_recorder_set_lost_marks(recorder, 3);
	watt_recorder_close(recorder);
	assert_int_equal(heard.n_warnings, 1);
	assert_non_null(strstr(heard.last, "262144 marks"));
	rec = open_accepted(b->path);
	assert_int_equal(watt_recording_get_mark_count(rec), WATT_RECORDING_MARKS_MAX);
	assert_int_equal(watt_recording_get_info(rec)->lost_marks, 5 + 3);
	watt_recording_close(rec);
}

static void test_recorder_refuses_channels(void **state)
{
	const struct bench *b = *state;
	static const struct watt_channel *list[WATT_RECORDING_CHANNELS_MAX + 1];
	static struct ops_machine machine;
	struct heard heard = { 0 };
	const struct watt_log log = { hear, &heard };
	struct watt_recorder *recorder = NULL;
	size_t i;

	ops_machine_init(&machine);
	for (i = 0; i < WATT_ARRAY_SIZE(list); i++)
		list[i] = &machine.channels[0];
	machine.setup.channels = list;
	machine.setup.n_channels = WATT_ARRAY_SIZE(list);
	assert_int_equal(watt_recorder_new(b->path, NULL, &machine.setup, &machine.machine,
					   machine.domain_list, OPS_CHANNELS, &log, &recorder),
			 -E2BIG);
	assert_null(recorder);
	assert_int_equal(heard.n_errors, 1);
	assert_non_null(strstr(heard.last, "16385 channels"));
	assert_int_equal(access(b->path, F_OK), -1);
}

/* ---- circles ---- */

/* Makes a page of a table one whose every child is another page. */
static void make_interior(uint8_t page[PAGE], uint32_t child)
{
	const unsigned int n = 400;
	uint8_t *cell = page + PAGE;
	unsigned int i;

	memset(page, 0, PAGE);
	page[0] = 5;
	page[3] = (uint8_t)(n >> 8);
	page[4] = (uint8_t)n;
	page[10] = (uint8_t)(child >> 8);
	page[11] = (uint8_t)child;
	for (i = 0; i < n; i++) {
		cell -= 5;
		cell[2] = (uint8_t)(child >> 8);
		cell[3] = (uint8_t)child;
		cell[4] = 1; /* the key */
		page[12 + 2 * i] = (uint8_t)((cell - page) >> 8);
		page[13 + 2 * i] = (uint8_t)(cell - page);
	}
	page[5] = (uint8_t)((cell - page) >> 8);
	page[6] = (uint8_t)(cell - page);
}

/*
 * A table of 400^6 times its rows, in a file of a few pages: each page of the tree says that all
 * its children are one page.
 */
static void make_circles(const char *path, const char *table)
{
	uint8_t page[PAGE], leaf[PAGE], head[PAGE];
	uint32_t root, n_pages, i;
	char sql[128];
	sqlite3 *db = open_db(path);
	FILE *file;

	snprintf(sql, sizeof(sql), "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
	root = (uint32_t)get_number(db, sql);
	n_pages = (uint32_t)get_number(db, "PRAGMA page_count");
	assert_int_equal(get_number(db, "PRAGMA page_size"), PAGE);
	sqlite3_close(db);
	file = fopen(path, "r+e");
	assert_non_null(file);
	assert_int_equal(fread(head, PAGE, 1, file), 1);
	assert_int_equal(fseek(file, (long)(root - 1) * PAGE, SEEK_SET), 0);
	assert_int_equal(fread(leaf, PAGE, 1, file), 1);
	assert_int_equal(leaf[0], 13);
	for (i = 0; i < LEVELS; i++) {
		make_interior(page, n_pages + i + 1);
		assert_int_equal(
			fseek(file, (long)(i ? n_pages + i - 1 : root - 1) * PAGE, SEEK_SET), 0);
		assert_int_equal(fwrite(page, PAGE, 1, file), 1);
	}
	assert_int_equal(fseek(file, (long)(n_pages + LEVELS - 1) * PAGE, SEEK_SET), 0);
	assert_int_equal(fwrite(leaf, PAGE, 1, file), 1);
	head[30] = (uint8_t)((n_pages + LEVELS) >> 8);
	head[31] = (uint8_t)(n_pages + LEVELS);
	rewind(file);
	assert_int_equal(fwrite(head, PAGE, 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

static void test_circles(void **state)
{
	static const char *const tables[][2] = {
		{ "losses", "lead in circles" },    { "windows", "lead in circles" },
		{ "marks", "more marks than" },     { "channels", "more channels than" },
		{ "cpus", "a value is not valid" },
	};
	const struct bench *b = *state;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(tables); i++) {
		make_recording(b->path, 1, 1);
		run_sql(b->path, "DELETE FROM marks; DELETE FROM losses; DELETE FROM windows; "
				 "INSERT INTO marks VALUES(1, 1, 1, 1, 'x'); "
				 "INSERT INTO losses VALUES(1, 1, 2, 0, 0, 'x'); "
				 "INSERT INTO windows VALUES(1, 1, 2, 1, 'x')");
		make_circles(b->path, tables[i][0]);
		assert_refused(b->path, tables[i][1]);
		assert_int_equal(unlink(b->path), 0);
	}
}

/* By steps: how long they take is the machine's. */
static void test_guard(void **state)
{
	const struct bench *b = *state;
	struct watt_guard guard;
	int64_t before;
	sqlite3 *db;

	make_recording(b->path, 1, 1);
	run_sql(b->path, "INSERT INTO losses VALUES(1, 1, 2, 0, 0, 'x')");
	make_circles(b->path, "losses");
	db = open_db(b->path);
	watt_guard_set(&guard, db, 1000);
	assert_int_equal(guard.max_steps, 1000000 + 32 * 1000);
	assert_int_equal(sqlite3_exec(db, "SELECT why FROM losses", NULL, NULL, NULL),
			 SQLITE_INTERRUPT);
	assert_true(guard.is_spent);
	assert_int_equal(guard.n_steps, guard.max_steps);
	/* and nothing is ended that is not long */
	before = (int64_t)guard.n_steps;
	watt_guard_set(&guard, db, 1000);
	assert_int_equal(sqlite3_exec(db, "SELECT count(*) FROM chunks", NULL, NULL, NULL),
			 SQLITE_OK);
	assert_false(guard.is_spent);
	assert_true((int64_t)guard.n_steps < before);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_channels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_marks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_views, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ops, setup, teardown),
		cmocka_unit_test_setup_teardown(test_readers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_recorder_counts_what_is_too_much, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_recorder_refuses_channels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_circles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_guard, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
