/* SPDX-License-Identifier: Apache-2.0 */
/* Reading recordings: what is none is refused, and damage hides nothing but what it hit. */
#include "recordings.h"

#include <sys/wait.h>

#include <sqlite3.h>

#include "record/schema.h"

static int setup(void **state)
{
	*state = scratch_new();
	return 0;
}

static int teardown(void **state)
{
	scratch_remove(*state);
	return 0;
}

static int try_open(const char *path, struct heard *heard)
{
	struct watt_recording *rec = NULL;
	int r;

	*heard = (struct heard){ 0 };
	r = watt_recording_open(path, hear, heard, &rec);
	if (r < 0) {
		/* one sentence, which says which file */
		assert_null(rec);
		assert_int_equal(heard->n_errors, 1);
		assert_non_null(strstr(heard->last, path));
	}
	watt_recording_close(rec);
	return r;
}

static void run_sql(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void test_what_is_no_recording(void **state)
{
	char *path = path_in(*state, "x.watt"), *fifo = path_in(*state, "fifo");
	struct heard heard;
	size_t i;

	assert_int_equal(try_open(path, &heard), -ENOENT);
	assert_int_equal(try_open(*state, &heard), -EMEDIUMTYPE);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(try_open(fifo, &heard), -EMEDIUMTYPE);
	scratch_write(*state, "x.watt", "");
	assert_int_equal(try_open(path, &heard), -EMEDIUMTYPE);
	for (i = 0; i < 40; i++) {
		char text[] = "SQLite format 3\0 and then something else; it is a text, no more";

		scratch_write_bytes(*state, "x.watt", text + i, sizeof(text) - i);
		assert_int_equal(try_open(path, &heard), -EMEDIUMTYPE);
	}
	scratch_unlink(*state, "x.watt");
	run_sql(path, "CREATE TABLE chunks(id)");
	assert_int_equal(try_open(path, &heard), -EMEDIUMTYPE);
	assert_int_equal(watt_recording_open(NULL, NULL, NULL, NULL), -EINVAL);
	free(path);
	free(fifo);
}

static void test_a_later_format(void **state)
{
	char *path = path_in(*state, "x.watt");
	struct heard heard;

	make_recording(path, 1, 20);
	run_sql(path, "PRAGMA user_version=3");
	assert_int_equal(try_open(path, &heard), -EPROTONOSUPPORT);
	assert_non_null(strstr(heard.last, "newer"));
	run_sql(path, "PRAGMA user_version=0");
	assert_int_equal(try_open(path, &heard), -EBADMSG);
	free(path);
}

/* Tables that are not as a recorder makes them. */
static void test_what_no_recorder_writes(void **state)
{
	static const char *const changes[] = {
		"DROP TABLE chunks",
		("DROP TABLE losses; "
		 "CREATE VIEW losses AS SELECT 1 t0_ns, 2 t1_ns, 3 samples, 4 usage_records, 'x' why"),
		"ALTER TABLE channels ADD COLUMN x",
		"DROP TABLE marks; CREATE VIRTUAL TABLE marks USING fts5(t_ns, pid, label)",
		"DROP TABLE meta; CREATE TABLE meta(key TEXT PRIMARY KEY, value AS (hex(key)))",
		"UPDATE channels SET kind = 'unknown' WHERE id = 3",
		"UPDATE channels SET scale_den = 0",
		"UPDATE channels SET scale_num = -5",
		"UPDATE channels SET name = ''",
		"UPDATE channels SET name = CAST(x'ff' AS TEXT) WHERE id = 1",
		"UPDATE channels SET name = 'a' || char(10)",
		"UPDATE channels SET domain = NULL",
		"UPDATE channels SET die_id = 'one'",
		"UPDATE channels SET package_id = 99999999999",
		"UPDATE channels SET period_ns = 1.5",
		"DELETE FROM channels WHERE id = 5",
		"DELETE FROM cpus",
		"UPDATE cpus SET slot = -1",
		"DELETE FROM slots",
		"UPDATE marks SET label = printf('%100d', 1)",
		"UPDATE marks SET label = 'a' || char(27) || 'b'",
		"INSERT INTO losses VALUES(1, 5, 4, 0, 0, 'x')",
		"UPDATE meta SET value = -1 WHERE key = 'slice_ns'",
		"UPDATE meta SET value = 0 WHERE key = 'slice_ns'",
		"UPDATE meta SET value = x'00' WHERE key = 'host'",
		"DELETE FROM meta",
	};
	char *path = path_in(*state, "x.watt");
	struct heard heard;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(changes); i++) {
		make_recording(path, 1, 20);
		run_sql(path, "DELETE FROM meta WHERE key = 'check'");
		run_sql(path, changes[i]);
		if (try_open(path, &heard) != -EBADMSG)
			fail_msg("not refused: %s", changes[i]);
		assert_int_equal(unlink(path), 0);
	}
	free(path);
}

/* A value that could be, but was not written. */
static void test_changed_tables(void **state)
{
	static const char *const changes[] = {
		"UPDATE channels SET scale_num = scale_num + 1 WHERE id = 7",
		"UPDATE channels SET label = NULL WHERE id = 1",
		"UPDATE channels SET label = '' WHERE id = 0",
		"UPDATE cpus SET slot = 0 WHERE cpu = 2",
		"UPDATE slots SET core_id = 8 WHERE slot = 1",
		"UPDATE meta SET value = value + 1 WHERE key = 'check'",
	};
	char *path = path_in(*state, "x.watt");
	struct heard heard;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(changes); i++) {
		make_recording(path, 1, 20);
		assert_int_equal(try_open(path, &heard), 0);
		run_sql(path, changes[i]);
		if (try_open(path, &heard) != -EBADMSG)
			fail_msg("not refused: %s", changes[i]);
		assert_non_null(strstr(heard.last, "not those that were written"));
		assert_int_equal(unlink(path), 0);
	}
	free(path);
}

/* A view or trigger of the file's own is never run. */
static void test_nothing_in_it_runs(void **state)
{
	char *path = path_in(*state, "x.watt");
	struct heard heard;

	make_recording(path, 1, 20);
	run_sql(path, "DROP VIEW process_joules; "
		      "CREATE VIEW process_joules AS SELECT * FROM domain_watts2; "
		      "CREATE VIEW domain_watts2 AS SELECT * FROM process_joules; "
		      "CREATE TRIGGER t AFTER INSERT ON marks BEGIN DELETE FROM chunks; END");
	assert_int_equal(try_open(path, &heard), 0);
	free(path);
}

/* Ops that can be read, and damage that was met. Returns the number of ops. */
static unsigned int read_ops(const char *path, unsigned int *ret_damages, struct heard *heard)
{
	struct watt_recording *rec = NULL;
	struct watt_op op;
	unsigned int n = 0;
	int r;

	*ret_damages = 0;
	*heard = (struct heard){ 0 };
	if (watt_recording_open(path, hear, heard, &rec) < 0) {
		++*ret_damages;
		return 0;
	}
	while ((r = watt_recording_next_op(rec, &op)) <= 0) {
		assert_true(r == 0 || r == -EBADMSG);
		n += r == 0;
		*ret_damages += r < 0;
		assert_true(*ret_damages < 1000);
	}
	watt_recording_close(rec);
	return n;
}

static void test_a_damaged_chunk_hides_no_other(void **state)
{
	static const char *const changes[] = {
		"UPDATE chunks SET data = x'00' WHERE id = 3",
		"UPDATE chunks SET data = NULL WHERE id = 3",
		"UPDATE chunks SET data = 'text' WHERE id = 3",
		"UPDATE chunks SET data = zeroblob(100000) WHERE id = 3",
		"UPDATE chunks SET data = substr(data, 1, length(data) / 2) WHERE id = 3",
		"UPDATE chunks SET data = data || x'00' WHERE id = 3",
	};
	char *path = path_in(*state, "x.watt");
	struct watt_recording *rec;
	struct watt_sample samples[512];
	unsigned int all, damages, n_samples;
	struct heard heard;
	size_t i;
	int r;

	make_recording(path, 1, 100);
	all = read_ops(path, &damages, &heard);
	assert_int_equal(all, OPS_PER_TICK * 100);
	assert_int_equal(damages, 0);
	for (i = 0; i < WATT_ARRAY_SIZE(changes); i++) {
		unsigned int n;

		assert_int_equal(unlink(path), 0);
		make_recording(path, 1, 100);
		run_sql(path, changes[i]);
		n = read_ops(path, &damages, &heard);
		assert_int_equal(damages, 1);
		assert_int_equal(heard.n_errors, 1);
		assert_non_null(strstr(heard.last, "chunk 3 is damaged at byte"));
		assert_true(n < all && n > all - 140);
		/* the samples alone as well */
		assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
		for (n_samples = damages = 0;
		     (r = watt_recording_read_samples(rec, samples, 512));) {
			n_samples += r > 0 ? (unsigned int)r : 0;
			damages += r < 0;
		}
		assert_int_equal(damages, 1);
		assert_true(n_samples > 80 * 800 && n_samples < 100 * 800);
		watt_recording_close(rec);
	}
	free(path);
}

static uint8_t *slurp(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "re");
	uint8_t *data;
	struct stat st;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	data = malloc((size_t)st.st_size);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, (size_t)st.st_size, file), st.st_size);
	fclose(file);
	*ret_size = (size_t)st.st_size;
	return data;
}

/* Bytes changed all over the file: the rest is read, or it is refused; nothing worse. */
static void test_flipped_bytes(void **state)
{
	char *path = path_in(*state, "x.watt"), *broken = path_in(*state, "broken.watt");
	unsigned int damages, all;
	struct heard heard;
	size_t size, i;
	uint8_t *data;

	make_recording(path, 1, 40);
	all = read_ops(path, &damages, &heard);
	data = slurp(path, &size);
	for (i = 0; i < size; i += i < 4096 ? 5 : 197) {
		data[i] ^= (uint8_t)(1 + i % 255);
		scratch_write_bytes(*state, "broken.watt", data, size);
		assert_true(read_ops(broken, &damages, &heard) <= all);
		data[i] ^= (uint8_t)(1 + i % 255);
	}
	free(data);
	free(path);
	free(broken);
}

static void test_truncated(void **state)
{
	char *path = path_in(*state, "x.watt"), *broken = path_in(*state, "broken.watt");
	unsigned int damages, all;
	struct heard heard;
	size_t size, n;
	uint8_t *data;

	make_recording(path, 1, 100);
	all = read_ops(path, &damages, &heard);
	data = slurp(path, &size);
	for (n = 100; n < size; n += 3001) {
		scratch_write_bytes(*state, "broken.watt", data, n);
		assert_true(read_ops(broken, &damages, &heard) <= all);
		assert_true(damages > 0);
	}
	free(data);
	free(path);
	free(broken);
}

/* Leaves a recording as a killed process does. */
static void make_killed(const char *path)
{
	struct watt_record_stats stats;
	int status;
	pid_t pid = fork_child();

	if (pid == 0) {
		static struct ops_machine machine;
		static struct ops ops;
		struct heard heard = { 0 };
		struct watt_recorder *recorder;

		ops_machine_init(&machine);
		ops_init(&ops, 1);
		recorder = record_to(path, &machine, NULL, &heard);
		put_ticks(recorder, &ops, 100);
		do
			watt_recorder_get_stats(recorder, &stats);
		while (stats.chunks < 6);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* Opened by somebody who may not write beside it, and from a medium that nobody can write. */
static void test_killed_and_read_only(void **state)
{
	char *path = path_in(*state, "x.watt"), *wal = path_in(*state, "x.watt-wal");
	int status;
	pid_t pid;

	if (getuid() != 0) {
		print_message("needs root, to become somebody else\n");
		free(path);
		free(wal);
		skip();
	}
	make_killed(path);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(chmod(wal, 0644), 0);
	assert_int_equal(chmod(*state, 0755), 0);
	pid = fork_child();
	if (pid == 0) {
		struct heard heard;
		unsigned int damages, n;

		if (setgid(65534) || setuid(65534))
			_exit(1);
		n = read_ops(path, &damages, &heard);
		if (n < 500)
			fprintf(stderr, "%u ops: %s\n", n, heard.last);
		_exit(n < 500 || damages || heard.n_errors ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	free(path);
	free(wal);
}

/* A name that means something in a URI. */
static void test_odd_names(void **state)
{
	char *path = path_in(*state, "a?mode=ro%20#b & c.watt");
	unsigned int damages;
	struct heard heard;

	make_recording(path, 1, 20);
	assert_int_equal(read_ops(path, &damages, &heard), OPS_PER_TICK * 20);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_is_no_recording, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_later_format, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_no_recorder_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_in_it_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_damaged_chunk_hides_no_other, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_flipped_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed_and_read_only, setup, teardown),
		cmocka_unit_test_setup_teardown(test_odd_names, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
