/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the source "bpf" costs: a sweep per task by each way to walk, with a scan of /proc beside
 * it, and each hook over an empty program in the same place. Makes its own tasks and removes them.
 */
#include "bench.h"

#include <dirent.h>
#include <sched.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <empty.skel.h>
#include <usage_layout.h>
#include <usage.skel.h>

#include "../crowd.h"
#include "base/util.h"
#include "source/config/config.h"
#include "source/activity/bpf/bpf.h"
#include "source/activity/bpf/move_log.h"

#define ROUNDS 41
#define BY_SIZE "sweep by the number of tasks"
#define THREADS_EACH 500

static struct watt_config config;
static struct watt_env env = { .config = &config };
static uint16_t slots[65536];
static struct watt_cpu_map map = { .slot = slots };

/* ---- tasks ---- */

/*
 * Up to 1,000 tasks are processes, more are threads: they would not fit into memory. false: this
 * machine has no room for so many.
 */
static bool grow_crowd(struct crowd *crowd, unsigned int n_tasks)
{
	unsigned int n_each = n_tasks > 1000 ? THREADS_EACH : 1;

	if (crowd_id_limit() < n_tasks + n_tasks / 2) {
		fprintf(stderr, "%u tasks need a kernel.pid_max above %u\n", n_tasks,
			n_tasks + n_tasks / 2);
		return false;
	}
	crowd->is_apart = true;
	for (unsigned int i = 0; i < n_tasks; i += n_each) {
		if (crowd_add(crowd, n_each) == (int)n_each)
			continue;
		fprintf(stderr, "no more than %zu of %u tasks could be made\n", crowd->n_tasks,
			n_tasks);
		return false;
	}
	bench_sleep_ns(300 * WATT_NSEC_PER_MSEC);
	return true;
}

/* ---- the ways to look at them ---- */

static uint64_t sweep_cost_ns(struct watt_activity_source *source, bool is_full,
			      struct watt_usage_batch *batch)
{
	struct bench_series series = { 0 };
	uint64_t median_ns;
	int r;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start_ns = bench_thread_cpu_ns();

		r = source->ops->sweep(source, is_full, batch);
		if (r < 0)
			bench_exit(1, "sweep: %s", strerror(-r));
		bench_add(&series, bench_thread_cpu_ns() - start_ns);
		bench_sleep_ns(5 * WATT_NSEC_PER_MSEC);
	}
	median_ns = bench_percentile(&series, 500);
	bench_series_done(&series);
	return median_ns;
}

static void bench_mode(enum watt_bpf_mode mode, const char *name, double bar_us, const char *column)
{
	struct watt_activity_source *source;
	struct watt_usage_batch batch;
	uint64_t moved_ns, full_ns;
	char row[64];
	int r;

	r = watt_usage_bpf_open_mode(&env, &map, mode, NULL, &source);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", name, strerror(-r));
		return;
	}
	moved_ns = sweep_cost_ns(source, false, &batch);
	full_ns = sweep_cost_ns(source, true, &batch);
	bench_report("task sweep", (double)moved_ns / batch.n_tasks / 1e3, "us/task",
		     bar_us > 0 ? BENCH_AT_MOST : BENCH_NO_BAR, bar_us,
		     "%s, %u tasks, those that moved", name, batch.n_tasks);
	snprintf(row, sizeof(row), "%s, those that moved: a task", name);
	bench_cell(BY_SIZE, row, column, (double)moved_ns / batch.n_tasks / 1e3, "us");
	bench_report("full task sweep", (double)full_ns / batch.n_tasks / 1e3, "us/task",
		     BENCH_NO_BAR, 0, "%s, %u tasks, all of them told", name, batch.n_tasks);
	snprintf(row, sizeof(row), "%s, all of them told: a task", name);
	bench_cell(BY_SIZE, row, column, (double)full_ns / batch.n_tasks / 1e3, "us");
	source->ops->close(source);
}

/* How long one pass holds RCU: a pass ends by itself, unless something takes its CPU away. */
static void bench_passes(const char *column)
{
	struct bench_series series = { 0 };
	struct watt_bpf_object object;
	struct watt_bpf_sweep *sweep;
	uint32_t n_tasks = 0;
	int r;

	if (watt_bpf_object_open(&object, &env, &map, WATT_BPF_MODE_CALL, NULL) < 0)
		return;
	sweep = watt_bpf_object_sweep(&object);
	for (int i = 0; i < ROUNDS; i++) {
		r = watt_bpf_object_begin(&object, false);
		while (r >= 0 && (r = watt_bpf_object_walk(&object)) > 0)
			sweep->n_records = 0;
		if (r < 0)
			bench_exit(1, "pass: %s", strerror(-r));
		bench_add(&series, sweep->longest_ns);
		n_tasks = sweep->n_tasks;
	}
	bench_report("longest pass of a sweep", (double)bench_percentile(&series, 500) / 1e6, "ms",
		     BENCH_AT_MOST, 1, "calls, %u tasks, median of %d sweeps; worst %.3f ms",
		     n_tasks, ROUNDS, (double)bench_percentile(&series, 1000) / 1e6);
	bench_cell(BY_SIZE, "longest pass, which holds RCU", column,
		   (double)bench_percentile(&series, 500) / 1e6, "ms");
	bench_series_done(&series);
	watt_bpf_object_close(&object);
}

/* Reads and parses one stat file; false: it is gone. */
static bool scan_stat(const char *path, uint64_t *sum)
{
	unsigned long long user, system;
	char text[1024], *end;
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	end = strrchr(text, ')');
	if (!end || sscanf(end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			   &system) != 2)
		return false;
	*sum += user + system;
	return true;
}

static unsigned int scan_tasks(const char *pid, uint64_t *sum)
{
	char path[300];
	struct dirent *entry;
	unsigned int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/task/%.16s/stat", pid, entry->d_name);
		n += scan_stat(path, sum);
	}
	closedir(dir);
	return n;
}

/* All processes by PID/stat, or all threads by PID/task/TID/stat. */
static unsigned int scan_proc(bool is_by_thread)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	unsigned int n = 0;
	uint64_t sum = 0;
	char path[300];

	if (!dir)
		bench_exit(1, "/proc: %s", strerror(errno));
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/stat", entry->d_name);
		n += is_by_thread ? scan_tasks(entry->d_name, &sum) : scan_stat(path, &sum);
	}
	closedir(dir);
	return n;
}

static void bench_proc(bool is_by_thread, const char *column)
{
	struct bench_series series = { 0 };
	unsigned int n = 1;

	for (int i = 0; i < (is_by_thread ? 3 : 11); i++) {
		uint64_t start_ns = bench_thread_cpu_ns();

		n = scan_proc(is_by_thread);
		bench_add(&series, bench_thread_cpu_ns() - start_ns);
	}
	bench_report("scan of /proc", (double)bench_percentile(&series, 500) / n / 1e3, "us/task",
		     BENCH_NO_BAR, 0, "%s, %u of them",
		     is_by_thread ? "PID/task/TID/stat" : "PID/stat", n);
	bench_cell(BY_SIZE, "scan of /proc: a task", column,
		   (double)bench_percentile(&series, 500) / n / 1e3, "us");
	bench_series_done(&series);
}

/* ---- hooks ---- */

#define HOOK_ROUNDS 31

struct tally {
	uint64_t ns, n;
};

static struct tally read_tally(const struct bpf_program *program)
{
	struct bpf_prog_info info;
	uint32_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &len) < 0)
		return (struct tally){ 0 };
	return (struct tally){ .ns = info.run_time_ns, .n = info.run_cnt };
}

/* One program and the empty one in the same place, round by round. */
struct hook {
	const char *name;
	const struct bpf_program *programs[2];
	struct tally last[2];
	struct bench_series each_ns[2];
};

static void hook_round(struct hook *hook, bool is_counted)
{
	for (int i = 0; i < 2; i++) {
		struct tally now = read_tally(hook->programs[i]);
		uint64_t n = now.n - hook->last[i].n;

		if (is_counted && n)
			bench_add(&hook->each_ns[i], (now.ns - hook->last[i].ns) / n);
		hook->last[i] = now;
	}
}

static void hook_report(struct hook *hook, const char *mode, double bar_ns)
{
	double real_ns = (double)bench_percentile(&hook->each_ns[0], 500);
	double empty_ns = (double)bench_percentile(&hook->each_ns[1], 500);

	if (!hook->each_ns[0].n || !hook->each_ns[1].n)
		fprintf(stderr, "%s: never called\n", hook->name);
	else
		bench_report(hook->name, real_ns - empty_ns, "ns",
			     bar_ns > 0 ? BENCH_AT_MOST : BENCH_NO_BAR, bar_ns,
			     "%s, over an empty program's %.0f ns", mode, empty_ns);
	bench_series_done(&hook->each_ns[0]);
	bench_series_done(&hook->each_ns[1]);
}

static void make_deaths(void)
{
	for (int i = 0; i < 60; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static void make_migrations(void)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	for (unsigned int i = 0; i < 200; i++) {
		CPU_ZERO(&one);
		CPU_SET(i % map.n_cpus, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

static void run_hooks(struct watt_bpf_object *object, struct hook *hooks, size_t n)
{
	struct watt_usage_list list = { 0 };
	struct watt_move_log moves;

	if (watt_move_log_open(&moves, watt_bpf_object_move_logs_fd(object),
			       watt_bpf_object_moves_fd(object), object->n_cpus,
			       object->sizes.n_moves) < 0)
		bench_exit(1, "migrations: %s", strerror(errno));
	for (int round = 0; round < HOOK_ROUNDS; round++) {
		make_deaths();
		make_migrations();
		bench_sleep_ns(20 * WATT_NSEC_PER_MSEC);
		for (size_t i = 0; i < n; i++)
			hook_round(&hooks[i], round > 0);
		watt_bpf_object_bury(object);
		watt_bpf_object_begin(object, false);
		while (watt_bpf_object_walk(object) > 0)
			watt_bpf_object_sweep(object)->n_records = 0;
		list.n = 0;
		watt_move_log_drain(&moves, UINT64_MAX, &list);
	}
	watt_usage_list_done(&list);
	watt_move_log_close(&moves);
}

static void bench_hooks(enum watt_bpf_mode mode, const char *name)
{
	struct watt_bpf_object object;
	struct watt_empty_bpf *empty;
	int stats, r;

	map.n_slots = map.n_cpus;
	r = watt_bpf_object_open(&object, &env, &map, mode, NULL);
	if (r < 0)
		bench_exit(1, "%s: %s", name, strerror(-r));
	empty = watt_empty_bpf__open_and_load();
	if (!empty || watt_empty_bpf__attach(empty) < 0)
		bench_exit(1, "the empty programs: %s", strerror(errno));
	struct hook hooks[] = {
		{ "hook at fork", { object.skel->progs.on_fork, empty->progs.empty_fork } },
		{ "hook at exit",
		  { mode == WATT_BPF_MODE_HOOK ? object.skel->progs.on_exit :
						 object.skel->progs.on_exit_keep,
		    empty->progs.empty_exit } },
		{ "hook at migration",
		  { object.skel->progs.on_migrate, empty->progs.empty_migrate } },
		{ "hook at free", { object.skel->progs.on_free, empty->progs.empty_free } },
	};
	size_t n = mode == WATT_BPF_MODE_HOOK ? 4 : 3;

	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0)
		bench_exit(1, "statistics of BPF: %s", strerror(errno));
	run_hooks(&object, hooks, n);
	close(stats);
	for (size_t i = 0; i < n; i++)
		hook_report(&hooks[i], name, i == 2 ? 100 : 0);
	watt_empty_bpf__destroy(empty);
	watt_bpf_object_close(&object);
	map.n_slots = 1;
}

/* ---- */

static int no_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

int main(void)
{
	static const unsigned int sizes[] = { 100, 1000, 10000, 50000 };
	struct watt_diag diag = { 0 };
	struct crowd crowd = { .n = 0 };
	char column[32];

	if (watt_root_open(&env.procfs, "/proc") < 0 || watt_root_open(&env.sysfs, "/sys") < 0)
		bench_exit(BENCH_SKIP, "no /proc or /sys");
	if (watt_activity_bpf.probe(&env, &diag) < 0)
		bench_exit(BENCH_SKIP, "%s; %s", diag.why, diag.hint);
	libbpf_set_print(no_print);
	map.n_slots = 1;
	map.n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	for (uint32_t cpu = 0; cpu < map.n_cpus; cpu++)
		slots[cpu] = (uint16_t)cpu;
	for (size_t i = 0; i < WATT_ARRAY_SIZE(sizes); i++) {
		snprintf(column, sizeof(column), "%u tasks", sizes[i]);
		if (grow_crowd(&crowd, sizes[i])) {
			bench_mode(WATT_BPF_MODE_CALL, "calls", sizes[i] >= 1000 ? 0.25 : 0,
				   column);
			bench_passes(column);
			bench_mode(WATT_BPF_MODE_ITER, "iterator", 0, column);
			bench_proc(sizes[i] > 1000, column);
		}
		crowd_kill(&crowd);
	}
	bench_hooks(WATT_BPF_MODE_CALL, "keeps the dying");
	bench_hooks(WATT_BPF_MODE_HOOK, "free hook");
	return 0;
}
