/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sweep through procfs costs with many sleeping processes beside it, what the usual scan
 * of every /proc/PID/stat costs in the same run, and what meta needs to say who one process is.
 * usage: bench-procfs [PROCESSES]
 */
#include "bench.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "source/config/config.h"
#include "source/host/pidstat.h"
#include "source/registry.h"

#define ROUNDS 41
#define US 1e-3

static pid_t *children;
static unsigned long n_children;

static void start_children(unsigned long n)
{
	children = calloc(n, sizeof(*children));
	if (!children)
		bench_exit(1, "out of memory");
	for (; n_children < n; n_children++) {
		pid_t pid = fork();

		if (pid < 0)
			bench_exit(BENCH_SKIP, "only %lu processes: %s", n_children,
				   strerror(errno));
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		children[n_children] = pid;
	}
}

static void stop_children(void)
{
	unsigned long i;

	for (i = 0; i < n_children; i++)
		kill(children[i], SIGKILL);
	for (i = 0; i < n_children; i++)
		waitpid(children[i], NULL, 0);
	free(children);
}

/* A fork makes the source look for new processes; vfork spares the copy of this one. */
static void fork_once(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* The scan that everybody does: list, then open, read, parse and close one file each. */
static uint64_t scan_by_stat(void)
{
	uint64_t begin_ns = bench_thread_cpu_ns();
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct watt_pidstat stat;
		char path[300], text[1024];
		ssize_t n;
		int fd;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		if (n > 0) {
			text[n] = '\0';
			watt_pidstat_parse(text, &stat);
		}
	}
	if (dir)
		closedir(dir);
	return bench_thread_cpu_ns() - begin_ns;
}

static uint64_t sweep(struct watt_activity_source *src, bool full, struct watt_usage_batch *batch)
{
	uint64_t begin_ns = bench_thread_cpu_ns();

	if (src->ops->sweep(src, full, batch) < 0)
		bench_exit(1, "the sweep failed");
	return bench_thread_cpu_ns() - begin_ns;
}

enum what {
	QUIET,
	FORKS,
	FULL,
	SCAN,
	N_WHAT
};

static void bench_sweeps(struct watt_activity_source *src)
{
	static const char *const names[] = { [QUIET] = "procfs sweep, no forks",
					     [FORKS] = "procfs sweep, after a fork",
					     [FULL] = "procfs sweep, full",
					     [SCAN] = "scan of /proc/PID/stat" };
	struct bench_series series[N_WHAT] = { 0 };
	struct watt_usage_batch batch = { 0 };
	unsigned int i, k;

	for (i = 0; i < ROUNDS; i++) {
		sweep(src, false, &batch);
		bench_add(&series[QUIET], sweep(src, false, &batch));
		fork_once();
		bench_add(&series[FORKS], sweep(src, false, &batch));
		bench_add(&series[FULL], sweep(src, true, &batch));
		bench_add(&series[SCAN], scan_by_stat());
		bench_sleep_ns(5 * WATT_NSEC_PER_MSEC);
	}
	for (k = 0; k < N_WHAT; k++) {
		uint64_t cost_ns = bench_percentile(&series[k], 500);

		bench_report(names[k], (double)cost_ns * US, "us", BENCH_NO_BAR, 0,
			     "%u processes, median of %d, CPU time; %.2f us each", batch.n_tasks,
			     ROUNDS, (double)cost_ns * US / batch.n_tasks);
		bench_series_done(&series[k]);
	}
}

/* First sight of all processes, and who they are. */
static void bench_first(const struct watt_env *env, struct watt_activity_source *src)
{
	struct watt_usage_batch batch;
	struct bench_series series = { 0 };
	uint64_t cost_ns = sweep(src, true, &batch);
	struct watt_meta *meta;
	size_t i;

	bench_report("procfs sweep, the first", (double)cost_ns * US, "us", BENCH_NO_BAR, 0,
		     "%u processes; %.1f us each", batch.n_tasks,
		     (double)cost_ns * US / batch.n_tasks);
	if (watt_meta_process.open(env, &meta) < 0)
		bench_exit(1, "out of memory");
	for (i = 0; i < batch.n_records; i++) {
		const struct watt_usage *u = &batch.records[i];
		uint64_t begin_ns = bench_thread_cpu_ns();
		struct watt_question question = { .kind = WATT_ASK_PROCESS };
		struct watt_answer answer;

		question.process.pid = u->tgid;
		question.process.start_ns = u->start_ns;
		if (meta->ops->answer(meta, &question, &answer) < 0)
			continue;
		bench_add(&series, bench_thread_cpu_ns() - begin_ns);
		watt_answer_done(&answer);
	}
	meta->ops->close(meta);
	bench_report("identity of a process", (double)bench_percentile(&series, 500) * US, "us",
		     BENCH_AT_MOST, 50, "median of %zu processes, CPU time; p99 %.1f us", series.n,
		     (double)bench_percentile(&series, 990) * US);
	bench_series_done(&series);
}

int main(int argc, char **argv)
{
	static const struct watt_config config;
	static uint16_t slot[1];
	const struct watt_cpu_map map = { .n_cpus = 1, .n_slots = 1, .slot = slot };
	struct watt_env env = { .sysfs = WATT_ROOT_INIT,
				.procfs = WATT_ROOT_INIT,
				.config = &config };
	struct watt_activity_source *src;

	start_children(bench_arg(argc, argv, 1000));
	if (watt_root_open(&env.procfs, "/proc") < 0 || watt_root_open(&env.sysfs, "/sys") < 0 ||
	    watt_activity_procfs.open(&env, &map, &src) < 0)
		bench_exit(BENCH_SKIP, "no procfs here");
	bench_first(&env, src);
	bench_sweeps(src);
	src->ops->close(src);
	watt_root_close(&env.procfs);
	watt_root_close(&env.sysfs);
	stop_children();
	return 0;
}
