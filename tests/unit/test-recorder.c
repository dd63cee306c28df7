/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder: what it is told is in the file, whatever happens to it. */
#include "recordings.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"

/* For what must happen, on a machine that others use, too. */
#define PATIENCE_NS (60 * WATT_NSEC_PER_SEC)

static void set_limit(void *data)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void lift_limit(void *data)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int setup(void **state)
{
	*state = scratch_new();
	return 0;
}

/* Also what a test left that failed. */
static int teardown(void **state)
{
	lift_limit(NULL);
	umount2(*state, MNT_DETACH);
	scratch_remove(*state);
	return 0;
}

/* Something is waited for that a child does, until end_ns. */
static void wait_a_bit(pid_t child, uint64_t end_ns)
{
	assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
	assert_true(watt_now_ns() < end_ns);
	usleep(1000);
}

/* Reads the whole recording and compares it with the ops from its first on. Returns how many. */
static unsigned int read_all(const char *path, uint64_t seed)
{
	static struct ops ops;
	struct watt_recording *rec;
	struct heard heard = { 0 };
	struct watt_op op, expected;
	unsigned int n = 0;
	int r;

	ops_init(&ops, seed);
	assert_int_equal(watt_recording_open(path, hear, &heard, &rec), 0);
	while ((r = watt_recording_next_op(rec, &op)) == 0) {
		ops_next(&ops, &expected);
		ops_assert_equal(&op, &expected);
		n++;
	}
	assert_int_equal(r, 1);
	assert_int_equal(heard.n_errors, 0);
	watt_recording_close(rec);
	return n;
}

static void test_round_trip(void **state)
{
	char *path = path_in(*state, "run.watt"), *wal = path_in(*state, "run.watt-wal");
	uint64_t seed;

	for (seed = 1; seed <= 5; seed++) {
		unsigned int ticks = 1 + 23 * (unsigned int)seed;

		make_recording(path, seed, ticks);
		/* one file, nothing beside it */
		assert_int_equal(access(wal, F_OK), -1);
		assert_int_equal(read_all(path, seed), OPS_PER_TICK * ticks);
		assert_int_equal(unlink(path), 0);
	}
	free(path);
	free(wal);
}

static void test_info(void **state)
{
	char *path = path_in(*state, "run.watt");
	const struct watt_recording_info *info;
	const struct watt_setup *setup;
	struct ops_machine machine;
	struct watt_recording *rec;
	size_t i;

	ops_machine_init(&machine);
	make_recording(path, 7, 100);
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	info = watt_recording_get_info(rec);
	assert_string_equal(info->host, "zürich");
	assert_string_equal(info->cpu, "");
	assert_string_equal(info->command, "");
	assert_string_equal(info->usage, "bpf");
	assert_int_equal(info->memory_bytes, 1ull << 34);
	assert_int_equal(info->samples, 100 * 50 * OPS_CHANNELS);
	assert_true(info->usage_records > 1000);
	assert_true(info->chunks >= 6 && info->chunks <= 8);
	assert_true(info->start_ns >= OPS_START_NS);
	assert_int_equal(info->end_ns, OPS_START_NS + 100 * 50 * WATT_NSEC_PER_MSEC + 100);
	assert_int_equal(info->missed_reads, 99);
	assert_int_equal(info->is_complete, 1);
	assert_int_equal(info->format, 2);
	assert_int_equal(info->part, 1);
	assert_int_equal(info->lost_ns, 0);
	assert_true(info->bytes > 100000);
	setup = watt_recording_get_setup(rec);
	assert_int_equal(setup->n_channels, OPS_CHANNELS);
	assert_int_equal(setup->n_cpus, OPS_CPUS);
	assert_int_equal(setup->n_slots, 2);
	assert_memory_equal(setup->cpu_slot, machine.cpu_slot, sizeof(machine.cpu_slot));
	assert_memory_equal(setup->places, machine.places, sizeof(machine.places));
	assert_int_equal(setup->self_pid, 4711);
	assert_int_equal(setup->slice_ns, 50 * WATT_NSEC_PER_MSEC);
	for (i = 0; i < OPS_CHANNELS; i++) {
		struct watt_channel c = *setup->channels[i];
		const struct watt_channel *expected = &machine.channels[i];

		assert_string_equal(c.name, expected->name);
		assert_string_equal(c.domain, expected->domain);
		ops_assert_text(c.label, expected->label);
		c.name = expected->name;
		c.source = expected->source;
		c.domain = expected->domain;
		c.label = expected->label;
		c.path = expected->path;
		assert_memory_equal(&c, expected, sizeof(c));
	}
	watt_recording_close(rec);
	free(path);
}

/* Samples by themselves, from any time on. */
static void test_samples(void **state)
{
	char *path = path_in(*state, "run.watt");
	struct watt_recording *rec;
	struct watt_sample samples[1000];
	uint64_t n = 0, late = OPS_START_NS + 3 * WATT_NSEC_PER_SEC;
	int i, r;

	make_recording(path, 3, 100);
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	while ((r = watt_recording_read_samples(rec, samples, 1000)) > 0)
		n += (uint64_t)r;
	assert_int_equal(r, 0);
	assert_int_equal(n, 100 * 50 * OPS_CHANNELS);
	assert_int_equal(watt_recording_seek(rec, late), 0);
	for (n = 0; (r = watt_recording_read_samples(rec, samples, 1000)) > 0; n += (uint64_t)r)
		for (i = 0; i < r; i++)
			assert_true(samples[i].t_before_ns >= late);
	assert_int_equal(n, 40 * 50 * OPS_CHANNELS);
	assert_int_equal(watt_recording_seek(rec, UINT64_MAX), 0);
	assert_int_equal(watt_recording_read_samples(rec, samples, 1000), 0);
	assert_int_equal(watt_recording_seek(rec, 0), 0);
	assert_int_equal(watt_recording_read_samples(rec, samples, 1000), 1000);
	watt_recording_close(rec);
	free(path);
}

/* ---- what happens to it ---- */

/* Puts a tick and waits until all but the current chunk is written, as if in real time. */
static void put_tick_and_wait(struct watt_recorder *recorder, struct ops *ops)
{
	uint64_t end_ns = watt_now_ns() + PATIENCE_NS;
	struct watt_record_stats stats;

	put_ticks(recorder, ops, 1);
	for (;;) {
		watt_recorder_get_stats(recorder, &stats);
		if (stats.samples + 17 * 50 * OPS_CHANNELS >= ops->samples_made || stats.error)
			break;
		assert_true(watt_now_ns() < end_ns);
	}
}

/* A process that records until it is killed, and tells how far it has come. */
static pid_t record_in_child(const char *path, _Atomic uint64_t *progress_ns)
{
	pid_t pid = fork_child();

	if (pid == 0) {
		static struct ops_machine machine;
		static struct ops ops;
		struct heard heard = { 0 };
		struct watt_recorder *recorder;

		ops_machine_init(&machine);
		ops_init(&ops, 1);
		recorder = record_to(path, &machine, NULL, &heard);
		for (;;) {
			put_tick_and_wait(recorder, &ops);
			*progress_ns = ops.now_ns;
		}
	}
	return pid;
}

static void test_killed(void **state)
{
	_Atomic uint64_t *progress_ns =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t random = 5;
	int i, status;

	assert_true(progress_ns != MAP_FAILED);
	for (i = 0; i < 12; i++) {
		char *path = path_in(*state, "run.watt"), *wal = path_in(*state, "run.watt-wal");
		const struct watt_recording_info *info;
		struct watt_recording *rec;
		uint64_t end_ns;
		pid_t pid;

		*progress_ns = 0;
		pid = record_in_child(path, progress_ns);
		end_ns = watt_now_ns() + PATIENCE_NS;
		while (*progress_ns < OPS_START_NS + 4 * WATT_NSEC_PER_SEC)
			wait_a_bit(pid, end_ns);
		usleep((useconds_t)ops_below(&random, 50000));
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(access(wal, F_OK), 0);
		assert_true(read_all(path, 1) > OPS_PER_TICK * 60);
		assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
		info = watt_recording_get_info(rec);
		assert_int_equal(info->is_complete, 0);
		assert_true(info->end_ns + WATT_NSEC_PER_SEC >= *progress_ns);
		watt_recording_close(rec);
		scratch_unlink(*state, "run.watt");
		scratch_unlink(*state, "run.watt-wal");
		scratch_unlink(*state, "run.watt-shm");
		free(path);
		free(wal);
	}
	munmap(progress_ns, 4096);
}

static void test_read_while_written(void **state)
{
	static struct ops_machine machine;
	static struct ops ops;
	char *path = path_in(*state, "run.watt");
	struct heard heard = { 0 };
	struct watt_recorder *recorder;
	unsigned int before = 0, n;
	int i;

	ops_machine_init(&machine);
	ops_init(&ops, 9);
	recorder = record_to(path, &machine, NULL, &heard);
	for (i = 0; i < 100; i++) {
		put_tick_and_wait(recorder, &ops);
		if (i % 10)
			continue;
		n = read_all(path, 9);
		assert_true(n >= before && n <= OPS_PER_TICK * ops.ticks);
		assert_true(n + OPS_PER_TICK * 20 >= OPS_PER_TICK * ops.ticks);
		before = n;
	}
	watt_recorder_close(recorder);
	assert_int_equal(read_all(path, 9), OPS_PER_TICK * 100);
	assert_int_equal(heard.n, 0);
	free(path);
}

/* Names and marks that were told, of the ops that are in the file. */
struct told {
	unsigned int names;
	unsigned int marks;
	unsigned int ops;
};

static struct told count_told(const char *path)
{
	struct watt_recording *rec;
	struct told told = { 0 };
	struct watt_op op;

	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	for (; watt_recording_next_op(rec, &op) == 0; told.ops++) {
		told.names += op.kind >= WATT_OP_IDENTITY && op.kind <= WATT_OP_USER;
		told.marks += op.kind == WATT_OP_MARK;
	}
	watt_recording_close(rec);
	return told;
}

/*
 * Records while `block` keeps the disk from taking anything, and after `unblock`: the recording
 * goes on, has all names and marks, and says what it lacks.
 */
static void record_through_failure(const char *path, void (*block)(void *data),
				   void (*unblock)(void *data), void *data, const char *why)
{
	static struct ops_machine machine;
	static struct ops ops, again;
	struct told expected = { 0 }, got;
	const struct watt_recording_loss *loss;
	const struct watt_recording_info *info;
	struct watt_record_stats stats;
	struct heard heard = { 0 };
	struct watt_recorder *recorder;
	struct watt_recording *rec;
	struct watt_op op;
	unsigned int i;

	ops_machine_init(&machine);
	ops_init(&ops, 2);
	recorder = record_to(path, &machine, NULL, &heard);
	for (i = 0; i < 40; i++)
		put_tick_and_wait(recorder, &ops);
	assert_false(watt_recorder_needs_all(recorder));
	block(data);
	for (i = 0; i < 4000; i++) {
		put_ticks(recorder, &ops, 1);
		watt_recorder_get_stats(recorder, &stats);
		if (stats.error && stats.lost_ns > 2 * WATT_NSEC_PER_SEC)
			break;
		usleep(3000);
	}
	assert_true(stats.error < 0);
	assert_true(stats.lost_ns > 2 * WATT_NSEC_PER_SEC);
	/* what is there can be read all the time */
	got = count_told(path);
	assert_true(got.ops > 100);
	unblock(data);
	for (i = 0; i < 4000 && stats.error; i++) {
		put_ticks(recorder, &ops, 1);
		watt_recorder_get_stats(recorder, &stats);
		usleep(3000);
	}
	assert_int_equal(stats.error, 0);
	for (i = 0; i < 40; i++) {
		put_ticks(recorder, &ops, 1);
		usleep(2000);
	}
	assert_true(watt_recorder_needs_all(recorder));
	assert_false(watt_recorder_needs_all(recorder));
	watt_recorder_get_stats(recorder, &stats);
	watt_recorder_close(recorder);
	assert_int_equal(heard.n_warnings, 1);
	assert_non_null(strstr(heard.last, why));

	ops_init(&again, 2);
	for (i = 0; i < OPS_PER_TICK * ops.ticks; i++) {
		ops_next(&again, &op);
		expected.names += op.kind >= WATT_OP_IDENTITY && op.kind <= WATT_OP_USER;
		expected.marks += op.kind == WATT_OP_MARK;
	}
	got = count_told(path);
	assert_int_equal(got.names, expected.names);
	assert_int_equal(got.marks, expected.marks);
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	info = watt_recording_get_info(rec);
	assert_int_equal(info->is_complete, 1);
	assert_true(info->lost_ns > 2 * WATT_NSEC_PER_SEC);
	assert_int_equal(watt_recording_get_loss_count(rec), 1);
	loss = watt_recording_get_loss(rec, 0);
	assert_string_equal(loss->why, why);
	assert_int_equal(loss->samples + info->samples, ops.samples_made);
	assert_true(loss->t0_ns > OPS_START_NS && loss->t1_ns < info->end_ns);
	watt_recording_close(rec);
}

static void fill_folder(void *data)
{
	char *path = path_in(data, "ballast"), block[4096] = { 0 };
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	while (write(fd, block, sizeof(block)) == (ssize_t)sizeof(block))
		;
	close(fd);
	free(path);
}

static void empty_folder(void *data)
{
	scratch_unlink(data, "ballast");
}

static void test_full_disk(void **state)
{
	char *path = path_in(*state, "run.watt");

	if (mount("tmpfs", *state, "tmpfs", 0, "size=8m") < 0) {
		print_message("needs the right to mount a small file system: %s\n",
			      strerror(errno));
		free(path);
		skip();
	}
	record_through_failure(path, fill_folder, empty_folder, *state, "disk full");
	assert_int_equal(umount(*state), 0);
	free(path);
}

/* The room that was kept back takes the words when there is never room again. */
static void test_full_disk_to_the_end(void **state)
{
	static struct ops_machine machine;
	static struct ops ops;
	char *path = path_in(*state, "run.watt");
	struct heard heard = { 0 };
	struct watt_recorder *recorder;
	struct watt_recording *rec;
	const struct watt_recording_loss *loss;
	struct watt_record_stats stats;
	uint64_t lost = 0;
	unsigned int i;

	if (mount("tmpfs", *state, "tmpfs", 0, "size=8m") < 0) {
		print_message("needs the right to mount a small file system: %s\n",
			      strerror(errno));
		free(path);
		skip();
	}
	ops_machine_init(&machine);
	ops_init(&ops, 2);
	recorder = record_to(path, &machine, NULL, &heard);
	for (i = 0; i < 40; i++)
		put_tick_and_wait(recorder, &ops);
	fill_folder(*state);
	for (i = 0; i < 600; i++) {
		put_ticks(recorder, &ops, 1);
		usleep(3000);
	}
	watt_recorder_get_stats(recorder, &stats);
	assert_int_equal(stats.error, -ENOSPC);
	watt_recorder_close(recorder);
	assert_int_equal(watt_recording_open(path, hear, &heard, &rec), 0);
	assert_true(watt_recording_get_loss_count(rec) > 0);
	for (i = 0; (loss = watt_recording_get_loss(rec, i)); i++)
		lost += loss->samples;
	loss = watt_recording_get_loss(rec, watt_recording_get_loss_count(rec) - 1);
	assert_int_equal(lost + watt_recording_get_info(rec)->samples, ops.samples_made);
	assert_true(loss->t1_ns + 2 * WATT_NSEC_PER_SEC > ops.now_ns);
	watt_recording_close(rec);
	assert_int_equal(umount(*state), 0);
	free(path);
}

/* One trouble after the other, without a good moment between: each is written down. */
static void test_two_troubles(void **state)
{
	static struct ops_machine machine;
	static struct ops ops;
	char *path = path_in(*state, "run.watt");
	struct heard heard = { 0 };
	struct watt_recorder *recorder;
	struct watt_recording *rec;
	struct watt_record_stats stats;
	unsigned int i;

	if (mount("tmpfs", *state, "tmpfs", 0, "size=8m") < 0) {
		print_message("needs the right to mount a small file system: %s\n",
			      strerror(errno));
		free(path);
		skip();
	}
	ops_machine_init(&machine);
	ops_init(&ops, 2);
	recorder = record_to(path, &machine, NULL, &heard);
	for (i = 0; i < 40; i++)
		put_tick_and_wait(recorder, &ops);
	for (i = 0; i < 400; i++) {
		if (i == 20)
			fill_folder(*state);
		if (i == 140)
			set_limit(NULL);
		if (i == 260) {
			lift_limit(NULL);
			empty_folder(*state);
		}
		put_ticks(recorder, &ops, 1);
		usleep(4000);
	}
	watt_recorder_get_stats(recorder, &stats);
	assert_int_equal(stats.error, 0);
	watt_recorder_close(recorder);
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	assert_int_equal(watt_recording_get_loss_count(rec), 2);
	assert_string_equal(watt_recording_get_loss(rec, 0)->why, "disk full");
	assert_string_equal(watt_recording_get_loss(rec, 1)->why, "file size limit reached");
	assert_int_equal(watt_recording_get_info(rec)->samples +
				 watt_recording_get_loss(rec, 0)->samples +
				 watt_recording_get_loss(rec, 1)->samples,
			 ops.samples_made);
	assert_true(watt_recording_get_loss(rec, 0)->t1_ns <=
		    watt_recording_get_loss(rec, 1)->t0_ns);
	watt_recording_close(rec);
	assert_int_equal(umount(*state), 0);
	free(path);
}

/* SIGXFSZ would end the process if the writer's thread did not keep it off. */
static void test_size_limit(void **state)
{
	char *path = path_in(*state, "run.watt");

	record_through_failure(path, set_limit, lift_limit, NULL, "file size limit reached");
	free(path);
}

/* ---- several files ---- */

/* As a session does: a full sweep where one is asked for. */
static void put_ticks_as_asked(struct watt_recorder *recorder, struct ops *ops, unsigned int ticks)
{
	while (ticks--) {
		put_tick_and_wait(recorder, ops);
		if (watt_recorder_needs_all(recorder))
			ops->is_full = true;
	}
}

/* The first of each kind of op in a file of a rotated recording; its number of samples. */
static uint64_t check_part(const char *path, uint32_t part)
{
	struct watt_recording *rec;
	struct heard heard = { 0 };
	struct watt_op op;
	uint64_t samples;
	bool has_swept = false;

	assert_int_equal(watt_recording_open(path, hear, &heard, &rec), 0);
	assert_int_equal(watt_recording_get_info(rec)->part, part);
	assert_int_equal(watt_recording_get_info(rec)->is_complete, 1);
	assert_int_equal(watt_recording_get_channel_count(rec), OPS_CHANNELS);
	while (watt_recording_next_op(rec, &op) == 0) {
		if (op.kind == WATT_OP_USAGE && !has_swept) {
			assert_true(op.usage.flags & WATT_BATCH_FULL);
			has_swept = true;
		}
		/* behind the first file, nothing is told before the sweep that knows all tasks */
		if (part > 1 && !has_swept)
			assert_true(op.kind != WATT_OP_SAMPLES && op.kind != WATT_OP_ADVANCE);
	}
	assert_true(has_swept);
	samples = watt_recording_get_info(rec)->samples;
	watt_recording_close(rec);
	assert_int_equal(heard.n, 0);
	return samples;
}

/* The newest file there is: one may have been begun after anybody asked how many there are. */
static uint32_t newest_part(char *dir, const char *stem, uint32_t known)
{
	char name[32], *part;
	bool is_there = true;
	uint32_t i;

	for (i = known; is_there; i++) {
		snprintf(name, sizeof(name), "%s-%u.watt", stem, i + 1);
		part = path_in(dir, name);
		is_there = access(part, F_OK) == 0;
		free(part);
	}
	return i - 1;
}

static void test_rotation_by_time(void **state)
{
	static struct ops_machine machine;
	static struct ops ops;
	const struct watt_record_opts opts = { .sz = sizeof(opts), .max_seconds = 3 };
	char *path = path_in(*state, "run.watt"), name[32], *part;
	struct heard heard = { 0 };
	struct watt_recorder *recorder;
	struct watt_record_stats stats;
	uint64_t samples = 0;
	uint32_t i, n_files;

	ops_machine_init(&machine);
	ops_init(&ops, 3);
	recorder = record_to(path, &machine, &opts, &heard);
	put_ticks_as_asked(recorder, &ops, 300);
	watt_recorder_get_stats(recorder, &stats);
	watt_recorder_close(recorder);
	n_files = newest_part(*state, "run", stats.files);
	assert_true(n_files >= 4 && n_files <= 5);
	for (i = 1; i <= n_files; i++) {
		snprintf(name, sizeof(name), i == 1 ? "run.watt" : "run-%u.watt", i);
		part = path_in(*state, name);
		samples += check_part(part, i);
		free(part);
	}
	assert_int_equal(samples, ops.samples_made);
	assert_int_equal(heard.n_warnings + heard.n_errors, 0);
	free(path);
}

static void test_rotation_by_size_keeps_the_newest(void **state)
{
	static struct ops_machine machine;
	static struct ops ops;
	const struct watt_record_opts opts = { .sz = sizeof(opts), .max_bytes = 400000, .keep = 2 };
	char *path = path_in(*state, "a.b.watt"), name[32], *part;
	struct heard heard = { 0 };
	struct watt_recorder *recorder;
	struct watt_record_stats stats;
	uint32_t i, n_files;

	ops_machine_init(&machine);
	ops_init(&ops, 3);
	recorder = record_to(path, &machine, &opts, &heard);
	put_ticks_as_asked(recorder, &ops, 400);
	watt_recorder_get_stats(recorder, &stats);
	watt_recorder_close(recorder);
	n_files = newest_part(*state, "a.b", stats.files);
	assert_true(n_files > 3);
	for (i = 1; i <= n_files; i++) {
		snprintf(name, sizeof(name), i == 1 ? "a.b.watt" : "a.b-%u.watt", i);
		part = path_in(*state, name);
		if (i + 2 > n_files)
			assert_true(check_part(part, i) > 0);
		else
			assert_int_equal(access(part, F_OK), -1);
		free(part);
	}
	free(path);
}

/* A next file that can't be made: the first goes on. */
static void test_rotation_that_fails(void **state)
{
	static struct ops_machine machine;
	static struct ops ops;
	const struct watt_record_opts opts = { .sz = sizeof(opts), .max_seconds = 2 };
	char *path = path_in(*state, "run.watt"), *next = path_in(*state, "run-2.watt");
	struct heard heard = { 0 };
	struct watt_recorder *recorder;
	struct watt_record_stats stats;

	ops_machine_init(&machine);
	ops_init(&ops, 3);
	recorder = record_to(path, &machine, &opts, &heard);
	assert_int_equal(mkdir(next, 0755), 0);
	put_ticks_as_asked(recorder, &ops, 200);
	watt_recorder_get_stats(recorder, &stats);
	watt_recorder_close(recorder);
	assert_int_equal(stats.files, 1);
	assert_int_equal(stats.lost_ns, 0);
	assert_int_equal(check_part(path, 1), ops.samples_made);
	assert_true(heard.n_warnings >= 1);
	free(path);
	free(next);
}

/* ---- where it may be made ---- */

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
	if (r < 0) {
		assert_int_equal(heard->n_errors, 1);
		assert_non_null(strstr(heard->last, path));
	}
	return r;
}

static void test_places(void **state)
{
	const struct watt_record_opts over = { .sz = sizeof(over), .overwrite = 1 };
	char *path = path_in(*state, "run.watt"), *link = path_in(*state, "link.watt");
	char *fifo = path_in(*state, "fifo"), *nowhere = path_in(*state, "no/run.watt");
	struct heard heard;

	assert_int_equal(try_record(path, NULL, &heard), 0);
	assert_int_equal(try_record(path, NULL, &heard), -EEXIST);
	assert_int_equal(try_record(path, &over, &heard), 0);
	assert_int_equal(try_record(*state, &over, &heard), -EISDIR);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(try_record(link, &over, &heard), -EMEDIUMTYPE);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(try_record(fifo, &over, &heard), -EMEDIUMTYPE);
	assert_int_equal(try_record(nowhere, NULL, &heard), -ENOENT);
	free(path);
	free(link);
	free(fifo);
	free(nowhere);
}

/* What was there stays there, and what SQLite left of another file is no part of the new one. */
static void test_overwriting(void **state)
{
	static struct ops_machine machine;
	static struct ops ops;
	const struct watt_record_opts over = { .sz = sizeof(over), .overwrite = 1 };
	char *path = path_in(*state, "run.watt");
	struct heard heard = { 0 };
	struct watt_recorder *recorder;
	struct watt_record_stats stats;
	uint64_t end_ns = watt_now_ns() + PATIENCE_NS;
	pid_t pid;
	int status;

	pid = fork_child();
	if (pid == 0) {
		ops_machine_init(&machine);
		ops_init(&ops, 1);
		recorder = record_to(path, &machine, NULL, &heard);
		put_ticks(recorder, &ops, 100);
		do
			watt_recorder_get_stats(recorder, &stats);
		while (stats.chunks < 5);
		pause();
		_exit(0);
	}
	while (access(path, F_OK) < 0 || count_told(path).ops < 100)
		wait_a_bit(pid, end_ns);
	assert_int_equal(try_record(path, &over, &heard), -EBUSY);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(try_record(path, NULL, &heard), -EEXIST);
	assert_true(count_told(path).ops > 100);
	assert_int_equal(try_record(path, &over, &heard), 0);
	assert_int_equal(count_told(path).ops, 0);
	free(path);
}

/* However long it lasts, and although the disk does not keep up at this speed. */
static void test_memory_is_bounded(void **state)
{
	static struct ops_machine machine;
	static struct ops ops;
	char *path = path_in(*state, "run.watt");
	struct heard heard = { 0 };
	struct watt_recorder *recorder;
	size_t before, after;
	struct mallinfo2 info;

	ops_machine_init(&machine);
	ops_init(&ops, 4);
	recorder = record_to(path, &machine, NULL, &heard);
	put_ticks(recorder, &ops, 3000);
	info = mallinfo2();
	before = info.uordblks + info.hblkhd;
	put_ticks(recorder, &ops, 20000);
	info = mallinfo2();
	after = info.uordblks + info.hblkhd;
	watt_recorder_close(recorder);
	assert_true(after <= before + (4 << 20));
	assert_true(after < 32 << 20);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_info, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_while_written, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_disk_to_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_troubles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_size_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rotation_by_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rotation_by_size_keeps_the_newest, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_rotation_that_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_places, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overwriting, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory_is_bounded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
