/* SPDX-License-Identifier: Apache-2.0 */
/* Where recordings are made: one writer for each, nobody else's files, and no silence. */
#include "recordings.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct watt_record_opts over = { .sz = sizeof(over), .overwrite = 1 };

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

static int try_record(const char *path, const struct watt_record_opts *opts, struct heard *heard)
{
	static struct ops_machine machine;
	const struct watt_log log = { hear, heard };
	struct watt_recorder *recorder = NULL;
	int r;

	*heard = (struct heard){ 0 };
	ops_machine_init(&machine);
	r = watt_recorder_new(path, opts, &machine.setup, &machine.machine, machine.domain_list,
			      OPS_CHANNELS, &log, &recorder);
	watt_recorder_close(recorder);
	return r;
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void assert_text(const char *path, const char *text)
{
	char found[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(read(fd, found, sizeof(found) - 1) >= 0);
	close(fd);
	assert_string_equal(found, text);
}

/* ---- one writer ---- */

struct race {
	int go[2];
	int told[2];
	int end[2];
};

/* One of many that begin at once; whoever has the file keeps it until all others have tried. */
__attribute__((noreturn)) static void
run_rival(const char *path, const struct watt_record_opts *opts, const struct race *race)
{
	static struct ops_machine machine;
	static struct ops ops;
	struct heard heard = { 0 };
	const struct watt_log log = { hear, &heard };
	struct watt_recorder *recorder = NULL;
	char byte;
	int r;

	close(race->end[1]);
	ops_machine_init(&machine);
	ops_init(&ops, 1);
	if (read(race->go[0], &byte, 1) != 1)
		_exit(99);
	r = watt_recorder_new(path, opts, &machine.setup, &machine.machine, machine.domain_list,
			      OPS_CHANNELS, &log, &recorder);
	if (write(race->told[1], "t", 1) != 1 || read(race->end[0], &byte, 1) != 0)
		_exit(98);
	if (r == 0)
		put_ticks(recorder, &ops, 40);
	watt_recorder_close(recorder);
	_exit(heard.n_warnings ? 97 : -r);
}

#define N_RIVALS 6

static void check_rivals(const char *path, const struct watt_record_opts *opts)
{
	struct watt_recording *rec;
	int i, status, winners = 0;
	pid_t pids[N_RIVALS];
	struct race race;
	char bytes[N_RIVALS] = { 0 };

	assert_int_equal(pipe2(race.go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(race.told, O_CLOEXEC), 0);
	assert_int_equal(pipe2(race.end, O_CLOEXEC), 0);
	for (i = 0; i < N_RIVALS; i++) {
		pids[i] = fork_child();
		if (pids[i] == 0)
			run_rival(path, opts, &race);
	}
	assert_int_equal(write(race.go[1], bytes, N_RIVALS), N_RIVALS);
	for (i = 0; i < N_RIVALS; i++)
		assert_int_equal(read(race.told[0], bytes, 1), 1);
	close(race.end[1]);
	for (i = 0; i < N_RIVALS; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 0)
			winners++;
		else
			assert_true(WEXITSTATUS(status) == EEXIST || WEXITSTATUS(status) == EBUSY);
	}
	assert_int_equal(winners, 1);
	for (i = 0; i < 2; i++) {
		close(race.go[i]);
		close(race.told[i]);
	}
	close(race.end[0]);
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	assert_int_equal(watt_recording_get_info(rec)->is_complete, 1);
	assert_true(watt_recording_get_info(rec)->samples > 0);
	watt_recording_close(rec);
}

static void test_one_of_many_at_once(void **state)
{
	char *path = path_in(*state, "run.watt");
	int i;

	for (i = 0; i < 5; i++) {
		unlink(path);
		check_rivals(path, NULL);
		check_rivals(path, &over);
	}
	free(path);
}

static void test_busy(void **state)
{
	static struct ops_machine machine;
	char *path = path_in(*state, "run.watt");
	struct heard heard = { 0 }, other;
	struct watt_recorder *recorder;

	ops_machine_init(&machine);
	recorder = record_to(path, &machine, NULL, &heard);
	assert_int_equal(try_record(path, &over, &other), -EBUSY);
	assert_int_equal(try_record(path, NULL, &other), -EEXIST);
	watt_recorder_close(recorder);
	assert_int_equal(try_record(path, &over, &other), 0);
	assert_int_equal(heard.n, 0);
	free(path);
}

/* ---- nobody else's files ---- */

static void test_files_beside_stay(void **state)
{
	static const char *const tails[] = { "-wal", "-shm", "-journal" };
	char *path = path_in(*state, "data"), *fresh = path_in(*state, "data.new");
	struct heard heard;
	size_t i;

	write_text(fresh, "precious");
	for (i = 0; i < 3; i++) {
		char name[16], *beside;

		snprintf(name, sizeof(name), "data%s", tails[i]);
		beside = path_in(*state, name);
		write_text(beside, "precious");
		assert_int_equal(try_record(path, NULL, &heard), -EEXIST);
		assert_non_null(strstr(heard.last, beside));
		assert_int_equal(try_record(path, &over, &heard), -EEXIST);
		/* also where the name itself is that of a file that is no recording */
		write_text(path, "text");
		assert_int_equal(try_record(path, &over, &heard), -EEXIST);
		assert_text(path, "text");
		assert_text(beside, "precious");
		unlink(path);
		unlink(beside);
		free(beside);
	}
	assert_int_equal(try_record(path, NULL, &heard), 0);
	assert_text(fresh, "precious");
	free(path);
	free(fresh);
}

/* A link in the way of the name makes nobody's file, and nothing is left of what failed. */
static void test_nothing_is_left_of_a_failure(void **state)
{
	char *path = path_in(*state, "run.watt"), *target = path_in(*state, "target");
	struct heard heard;

	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(try_record(path, &over, &heard), -EMEDIUMTYPE);
	assert_int_equal(try_record(path, NULL, &heard), -EMEDIUMTYPE);
	assert_int_equal(access(target, F_OK), -1);
	assert_int_equal(unlink(path), 0);
	/* the folder is empty again: it can be removed and made */
	assert_int_equal(rmdir(*state), 0);
	assert_int_equal(mkdir(*state, 0700), 0);
	free(path);
	free(target);
}

static void test_names_that_mean_something_elsewhere(void **state)
{
	static const char *const names[] = { ":memory:", "file:run.watt?mode=memory",
					     "file::memory:", "with space%20.watt" };
	char before[4096];
	struct heard heard;
	size_t i;

	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(*state), 0);
	for (i = 0; i < 4; i++) {
		struct watt_recording *rec;

		assert_int_equal(try_record(names[i], NULL, &heard), 0);
		assert_int_equal(access(names[i], F_OK), 0);
		assert_int_equal(watt_recording_open(names[i], NULL, NULL, &rec), 0);
		watt_recording_close(rec);
	}
	assert_int_equal(chdir(before), 0);
}

static void test_private_and_owned(void **state)
{
	struct watt_record_opts opts = { .sz = sizeof(opts), .uid = 1234, .gid = 4321 };
	char *path = path_in(*state, "run.watt");
	mode_t mask = umask(0);
	struct heard heard;
	struct stat st;

	assert_int_equal(try_record(path, NULL, &heard), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_uid, geteuid());
	unlink(path);
	if (geteuid() == 0) {
		assert_int_equal(try_record(path, &opts, &heard), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_uid, 1234);
		assert_int_equal(st.st_gid, 4321);
	}
	umask(mask);
	free(path);
}

/* As another user, who may not write there; its exit status is the errno. */
static void test_forbidden_folder(void **state)
{
	char *path = path_in(*state, "run.watt");
	struct heard heard;
	int status;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(*state, 0755), 0);
	pid = fork_child();
	if (pid == 0) {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(99);
		_exit(-try_record(path, NULL, &heard));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EACCES);
	free(path);
}

/* The limit is there from the beginning: it is told, and ends nobody. */
static void test_size_limit_from_the_beginning(void **state)
{
	char *path = path_in(*state, "run.watt");
	struct rlimit limit;
	struct heard heard;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(try_record(path, NULL, &heard), -EFBIG);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(heard.n_errors, 1);
	assert_int_equal(access(path, F_OK), -1);
	free(path);
}

/* ---- no silence ---- */

/* A chunk after the other, each when the one before has been dealt with. */
static void record_until(struct watt_recorder *recorder, struct ops *ops, uint64_t chunks)
{
	struct watt_record_stats stats;
	uint64_t before;

	watt_recorder_get_stats(recorder, &stats);
	while (stats.chunks < chunks && !stats.error) {
		before = stats.chunks;
		put_ticks(recorder, ops, 20);
		while (stats.chunks == before && !stats.error) {
			usleep(500);
			watt_recorder_get_stats(recorder, &stats);
		}
	}
}

/* What is done to the file while it is written is told, and what comes then counts as lost. */
static void check_harm(const char *path, void (*harm)(const char *path))
{
	static struct ops_machine machine;
	static struct ops ops;
	struct watt_record_stats stats;
	struct watt_recorder *recorder;
	struct heard heard = { 0 };
	unsigned int n_looks = 0;

	ops_machine_init(&machine);
	ops_init(&ops, 1);
	recorder = record_to(path, &machine, NULL, &heard);
	record_until(recorder, &ops, 2);
	harm(path);
	record_until(recorder, &ops, UINT64_MAX);
	/* the error is told a moment before what it cost */
	do {
		usleep(500);
		watt_recorder_get_stats(recorder, &stats);
	} while (!stats.lost_ns && n_looks++ < 60000);
	assert_int_equal(stats.error, -ESTALE);
	assert_true(stats.lost_ns > 0);
	watt_recorder_close(recorder);
	assert_int_equal(heard.n_errors, 1);
	assert_non_null(strstr(heard.last, path));
}

static void harm_remove(const char *path)
{
	assert_int_equal(unlink(path), 0);
}

static void harm_rename(const char *path)
{
	char to[4096];

	snprintf(to, sizeof(to), "%s.moved", path);
	assert_int_equal(rename(path, to), 0);
}

static void harm_replace(const char *path)
{
	char from[4096];

	snprintf(from, sizeof(from), "%s.other", path);
	write_text(from, "mine");
	assert_int_equal(rename(from, path), 0);
}

static void harm_truncate(const char *path)
{
	assert_int_equal(truncate(path, 0), 0);
}

static void harm_truncate_log(const char *path)
{
	char wal[4096];

	snprintf(wal, sizeof(wal), "%s-wal", path);
	assert_int_equal(truncate(wal, 0), 0);
}

/* All of it: what is still in the log too may be spoilt without harm. */
static void harm_overwrite(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1 } };
	char zeros[4096] = { 0 };
	struct stat st;
	off_t at;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	for (at = 0; at < st.st_size; at += (off_t)sizeof(zeros))
		assert_int_equal(pwrite(fd, zeros, sizeof(zeros), at), sizeof(zeros));
	/* a clock of the file system that did not tick meanwhile hides nothing */
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static void test_harm(void **state)
{
	static void (*const harms[])(const char *path) = {
		harm_remove,   harm_rename,       harm_replace,
		harm_truncate, harm_truncate_log, harm_overwrite,
	};
	size_t i;

	for (i = 0; i < sizeof(harms) / sizeof(*harms); i++) {
		char name[32], *path;

		snprintf(name, sizeof(name), "run-%zu.watt", i);
		path = path_in(*state, name);
		check_harm(path, harms[i]);
		free(path);
	}
}

/* A file of another name is whole up to there; one that took its name is left alone. */
static void test_what_is_left_after_harm(void **state)
{
	char *path = path_in(*state, "run.watt"), *moved = path_in(*state, "run.watt.moved");
	struct watt_recording *rec;

	check_harm(path, harm_rename);
	assert_int_equal(watt_recording_open(moved, NULL, NULL, &rec), 0);
	assert_true(watt_recording_get_info(rec)->chunks >= 2);
	watt_recording_close(rec);
	assert_int_equal(unlink(moved), 0);
	check_harm(path, harm_replace);
	assert_text(path, "mine");
	free(path);
	free(moved);
}

/* Somebody who only reads by SQL, and tidies up when he closes, does no harm. */
static void test_a_touch_is_no_harm(void **state)
{
	static struct ops_machine machine;
	static struct ops ops;
	char *path = path_in(*state, "run.watt");
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1 } };
	struct heard heard = { 0 };
	struct watt_recorder *recorder;
	struct watt_recording *rec;

	ops_machine_init(&machine);
	ops_init(&ops, 1);
	recorder = record_to(path, &machine, NULL, &heard);
	record_until(recorder, &ops, 2);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	record_until(recorder, &ops, 4);
	watt_recorder_close(recorder);
	assert_int_equal(heard.n, 0);
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	assert_int_equal(watt_recording_get_info(rec)->is_complete, 1);
	watt_recording_close(rec);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_of_many_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files_beside_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_left_of_a_failure, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_that_mean_something_elsewhere, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_private_and_owned, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forbidden_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_size_limit_from_the_beginning, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_harm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_left_after_harm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_touch_is_no_harm, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
