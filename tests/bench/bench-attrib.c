/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the whole pipeline costs through the public interface: 1,000 sleeping processes and two
 * busy ones beside it, counters of two packages and a memory that are rewritten 100 times a
 * second, and a snapshot for every slice. Each rate in a process of its own, with a yardstick
 * beside it that shares the machine's hour; then what it adds that
 * threads are told apart, with a process of 1,000 that wake up in every slice; at last the command
 * itself, with all that it is linked to.
 * usage: bench-attrib [SECONDS [COMMAND]]
 */
#include "bench.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <wattribute/wattribute.h>

#include "../options_of.h"
#include "machine.h"

#define N_SLEEPERS 1000
#define N_BUSY 2
#define N_WAKERS 1000
#define N_STARTS 11
#define N_CURSORS 4

/*
 * What no look at so many tasks can do without: as many records as there are sleepers, a page or
 * two apart in no order, of each the lines that a sweep reads of a task, gone from the caches by
 * the next slice. On a slow or busy machine it slows down as a refresh does.
 */
#define RECORD_BYTES 8192
#define RECORD_LINES 6
#define LINE_BYTES 64
#define N_LOOKS_MOST 8192

static pid_t children[N_SLEEPERS + N_BUSY + 1];
static size_t n_children;

/* ---- what is measured ---- */

static pid_t fork_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_exit(1, "fork: %s", strerror(errno));
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

_Noreturn static void be_busy(void)
{
	for (;;) {
		uint64_t until_ns = watt_now_ns() + 4 * WATT_NSEC_PER_MSEC;

		while (watt_now_ns() < until_ns)
			;
		bench_sleep_ns(16 * WATT_NSEC_PER_MSEC);
	}
}

_Noreturn static void rewrite(struct machine *machine)
{
	for (;;) {
		machine_write(machine, watt_now_ns());
		bench_sleep_ns(10 * WATT_NSEC_PER_MSEC);
	}
}

static void start_world(struct machine *machine)
{
	int i;

	for (i = 0; i < N_SLEEPERS + N_BUSY + 1; i++) {
		children[i] = fork_child();
		if (children[i] == 0) {
			if (i == 0)
				rewrite(machine);
			if (i <= N_BUSY)
				be_busy();
			for (;;)
				pause();
		}
		n_children++;
	}
}

static void end_world(void)
{
	size_t i;

	for (i = 0; i < n_children; i++)
		kill(children[i], SIGKILL);
	for (i = 0; i < n_children; i++)
		waitpid(children[i], NULL, 0);
}

/* ---- the yardstick ---- */

struct yardstick {
	pid_t pid;
	struct looks {
		volatile uint32_t n;
		volatile uint64_t cpu_ns[N_LOOKS_MOST];
	} * looks; /* shared */
};

/* A ring through all records, each of which begins with the next one's number. */
static char *make_records(void)
{
	char *records = calloc(N_SLEEPERS, RECORD_BYTES);
	uint32_t order[N_SLEEPERS], seed = 1, i, j, kept;

	if (!records)
		_exit(1);
	for (i = 0; i < N_SLEEPERS; i++)
		order[i] = i;
	for (i = N_SLEEPERS - 1; i > 0; i--) {
		seed = seed * 1664525 + 1013904223;
		j = (seed >> 8) % (i + 1);
		kept = order[i];
		order[i] = order[j];
		order[j] = kept;
	}
	for (i = 0; i < N_SLEEPERS; i++)
		memcpy(records + (size_t)order[i] * RECORD_BYTES, &order[(i + 1) % N_SLEEPERS],
		       sizeof(order[i]));
	return records;
}

static uint32_t walk_records(const char *records)
{
	uint32_t at = 0, sum = 0, i, line;

	for (i = 0; i < N_SLEEPERS; i++) {
		const char *record = records + (size_t)at * RECORD_BYTES;

		for (line = 1; line < RECORD_LINES; line++)
			sum += *(const volatile uint32_t *)(record + line * LINE_BYTES * 5);
		at = *(const volatile uint32_t *)record;
	}
	return sum + at;
}

_Noreturn static void be_yardstick(struct looks *looks, unsigned int rate_hz)
{
	const char *records = make_records();

	for (;;) {
		uint64_t cpu_ns = bench_thread_cpu_ns();

		walk_records(records);
		cpu_ns = bench_thread_cpu_ns() - cpu_ns;
		if (looks->n < N_LOOKS_MOST)
			looks->cpu_ns[looks->n++] = cpu_ns;
		bench_sleep_ns(WATT_NSEC_PER_SEC / rate_hz);
	}
}

static struct yardstick start_yardstick(unsigned int rate_hz)
{
	struct yardstick yardstick;

	yardstick.looks = mmap(NULL, sizeof(*yardstick.looks), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (yardstick.looks == MAP_FAILED)
		bench_exit(1, "yardstick: %s", strerror(errno));
	yardstick.pid = fork_child();
	if (yardstick.pid == 0)
		be_yardstick(yardstick.looks, rate_hz);
	return yardstick;
}

/* Its median, and the end of it. */
static double end_yardstick_ms(struct yardstick *yardstick)
{
	struct bench_series series = { 0 };
	double median_ms;
	uint32_t i;

	kill(yardstick->pid, SIGKILL);
	waitpid(yardstick->pid, NULL, 0);
	for (i = 0; i < yardstick->looks->n; i++)
		bench_add(&series, yardstick->looks->cpu_ns[i]);
	median_ms = (double)bench_percentile(&series, 500) / 1e6;
	bench_series_done(&series);
	munmap(yardstick->looks, sizeof(*yardstick->looks));
	return median_ms;
}

/* ---- measuring ---- */

static void log_line(void *data, enum watt_log_level level, const char *text)
{
	if (level <= WATT_LOG_WARNING)
		fprintf(stderr, "%s\n", text);
}

static struct watt_session *open_session(const char *sysfs, unsigned int rate_hz, const char *usage,
					 bool has_threads)
{
	struct watt_options *options = options_of("sysfs-root", sysfs, "sources", "powercap",
						  usage ? "usage" : NULL, usage, NULL);
	struct watt_session *ses;
	int r;

	watt_options_set_slice_ns(options, 1000000000 / rate_hz);
	watt_options_set_driven(options, 1);
	watt_options_set_threads(options, has_threads);
	watt_options_set_log(options, log_line, NULL);
	r = open_by(options, &ses);
	if (r < 0)
		bench_exit(1, "session: %s", strerror(-r));
	r = watt_session_start(ses);
	if (r < 0)
		bench_exit(1, "start: %s", strerror(-r));
	return ses;
}

struct costs {
	struct bench_series refresh_ns; /* CPU time of sweep, attribution and snapshot */
	uint64_t cpu_ns;                /* all threads, all told */
	uint64_t wall_ns;
	size_t rows;
};

/* Readers, and what of a refresh is theirs. */
struct readers {
	struct watt_cursor *cursors[N_CURSORS];
	size_t n;             /* 0: the session's own window alone */
	uint64_t lateness_ns; /* how late they end each slice */
};

static int look(struct watt_session *ses, const struct readers *readers, struct costs *costs)
{
	struct watt_snapshot *snap;
	size_t i = 0;
	int r;

	do {
		r = readers->n ? watt_cursor_snapshot(readers->cursors[i], &snap) :
				 watt_session_snapshot(ses, &snap);
		if (r < 0)
			return r;
		costs->rows = watt_snapshot_get_row_count(snap);
		watt_snapshot_unref(snap);
	} while (++i < readers->n);
	return 0;
}

/* One slice and its snapshots, if it is time. */
static void refresh(struct watt_session *ses, const struct readers *readers, struct costs *costs)
{
	struct pollfd pfd = { .fd = watt_session_get_fd(ses), .events = POLLIN };
	uint64_t cpu_ns;

	poll(&pfd, 1, 1000);
	if (readers->lateness_ns)
		bench_sleep_ns(readers->lateness_ns);
	cpu_ns = bench_thread_cpu_ns();
	if (watt_session_dispatch(ses) <= 0)
		return;
	if (look(ses, readers, costs) < 0)
		return;
	bench_add(&costs->refresh_ns, bench_thread_cpu_ns() - cpu_ns);
}

static void refresh_for(struct watt_session *ses, const struct readers *readers,
			unsigned long seconds, struct costs *costs)
{
	uint64_t begin_ns = watt_now_ns(), cpu_ns = bench_cpu_ns();

	while (watt_now_ns() < begin_ns + seconds * WATT_NSEC_PER_SEC)
		refresh(ses, readers, costs);
	costs->cpu_ns = bench_cpu_ns() - cpu_ns;
	costs->wall_ns = watt_now_ns() - begin_ns;
}

static void measure_rate(const char *sysfs, unsigned int rate_hz, unsigned long seconds)
{
	enum bench_bar bar = rate_hz == 20 ? BENCH_AT_MOST : BENCH_NO_BAR;
	struct watt_session *ses = open_session(sysfs, rate_hz, NULL, false);
	struct costs warm_up = { 0 }, costs = { 0 };
	const struct readers own = { 0 };
	double n, mean_ms, median_ms, yardstick_ms;
	struct yardstick yardstick;
	char name[64];

	refresh_for(ses, &own, 2, &warm_up);
	yardstick = start_yardstick(rate_hz);
	refresh_for(ses, &own, seconds, &costs);
	yardstick_ms = end_yardstick_ms(&yardstick);
	n = (double)costs.refresh_ns.n;
	mean_ms = (double)costs.cpu_ns / 1e6 / n;
	snprintf(name, sizeof(name), "%u Hz, %zu rows, %s: ", rate_hz, costs.rows,
		 watt_session_get_usage_name(ses));
	bench_report("agent: CPU of one core", 100.0 * (double)costs.cpu_ns / (double)costs.wall_ns,
		     "%", bar, 1, "%sreader threads included", name);
	median_ms = (double)bench_percentile(&costs.refresh_ns, 500) / 1e6;
	bench_report("agent: refresh, median CPU", median_ms, "ms", bar, 0.5,
		     "%ssweep to snapshot; p99 %.3f ms, with the readers %.3f ms", name,
		     (double)bench_percentile(&costs.refresh_ns, 990) / 1e6, mean_ms);
	if (yardstick_ms > 0)
		bench_report("agent: refresh over yardstick", median_ms / yardstick_ms, "x",
			     BENCH_NO_BAR, 0,
			     "%sthe yardstick's median %.3f ms: %d records, %d lines of each", name,
			     yardstick_ms, N_SLEEPERS, RECORD_LINES);
	bench_report("agent: resident memory",
		     (double)bench_memory_bytes(getpid(), "Rss") / 1048576, "MiB", bar, 12,
		     "%s%.1f MiB of it its own", name,
		     (double)bench_memory_bytes(getpid(), "Anonymous") / 1048576);
	watt_session_close(ses);
}

/* Each of them looks after every slice. */
static void measure_cursors(const char *sysfs, size_t n, unsigned long seconds)
{
	struct watt_session *ses = open_session(sysfs, 20, NULL, false);
	struct costs warm_up = { 0 }, costs = { 0 };
	struct readers readers = { .n = n };
	size_t i;

	for (i = 0; i < n; i++)
		if (watt_cursor_open(ses, &readers.cursors[i]) < 0)
			bench_exit(1, "no cursor");
	refresh_for(ses, &readers, 2, &warm_up);
	refresh_for(ses, &readers, seconds, &costs);
	bench_report("agent: refresh, median CPU",
		     (double)bench_percentile(&costs.refresh_ns, 500) / 1e6, "ms",
		     n == 1 ? BENCH_AT_MOST : BENCH_NO_BAR, 0.5,
		     "20 Hz, %zu rows, sweep to snapshots of %zu cursors; p99 %.3f ms", costs.rows,
		     n, (double)bench_percentile(&costs.refresh_ns, 990) / 1e6);
	for (i = 0; i < n; i++)
		watt_cursor_close(readers.cursors[i]);
	watt_session_close(ses);
}

/* As on a machine that lets who measures wait: sensors are read beside each late sweep, too. */
static void measure_late(const char *sysfs, unsigned long seconds)
{
	struct watt_session *ses = open_session(sysfs, 20, NULL, false);
	struct costs warm_up = { 0 }, costs = { 0 };
	const struct readers late = { .lateness_ns = 3 * WATT_NSEC_PER_MSEC };

	refresh_for(ses, &late, 2, &warm_up);
	refresh_for(ses, &late, seconds, &costs);
	bench_report("agent: CPU of one core", 100.0 * (double)costs.cpu_ns / (double)costs.wall_ns,
		     "%", BENCH_AT_MOST, 1,
		     "20 Hz, %zu rows, each slice 3 ms late: reader threads included", costs.rows);
	bench_report("agent: refresh, median CPU",
		     (double)bench_percentile(&costs.refresh_ns, 500) / 1e6, "ms", BENCH_AT_MOST,
		     0.5, "20 Hz, %zu rows, each slice 3 ms late; p99 %.3f ms", costs.rows,
		     (double)bench_percentile(&costs.refresh_ns, 990) / 1e6);
	watt_session_close(ses);
}

/* ---- threads ---- */

static void *wake_up(void *data)
{
	(void)data;
	for (;;)
		bench_sleep_ns(40 * WATT_NSEC_PER_MSEC);
	return NULL;
}

/* One process of many threads that all use a little. */
static pid_t start_wakers(void)
{
	pid_t pid = fork_child();
	pthread_t thread;
	int i;

	if (pid > 0)
		return pid;
	for (i = 0; i < N_WAKERS; i++)
		if (pthread_create(&thread, NULL, wake_up, NULL) != 0)
			_exit(1);
	for (;;)
		pause();
}

/* Median CPU time of a refresh at 20 Hz; 0: this usage does not work here. */
static double refresh_us(const char *sysfs, const char *usage, bool has_threads,
			 unsigned long seconds, size_t *ret_rows)
{
	struct watt_session *ses = open_session(sysfs, 20, usage, has_threads);
	struct costs warm_up = { 0 }, costs = { 0 };
	const struct readers own = { 0 };
	double us;

	refresh_for(ses, &own, 1, &warm_up);
	refresh_for(ses, &own, seconds, &costs);
	us = (double)bench_percentile(&costs.refresh_ns, 500) / 1e3;
	*ret_rows = costs.rows;
	watt_session_close(ses);
	bench_series_done(&warm_up.refresh_ns);
	bench_series_done(&costs.refresh_ns);
	return us;
}

static void measure_threads(const char *sysfs, unsigned long seconds)
{
	static const char *const usages[] = { "bpf", "procfs" };
	pid_t pid = start_wakers();
	double without_us, with_us;
	size_t i, rows;

	for (i = 0; i < sizeof(usages) / sizeof(usages[0]); i++) {
		if (i == 0 && geteuid() != 0)
			continue;
		without_us = refresh_us(sysfs, usages[i], false, seconds, &rows);
		with_us = refresh_us(sysfs, usages[i], true, seconds, &rows);
		bench_report("agent: threads told apart", (with_us - without_us) / N_WAKERS,
			     "us/thread", BENCH_NO_BAR, 0,
			     "20 Hz, %s, %d threads that ran in the slice, %zu rows: a refresh of "
			     "%.2f ms, %.2f ms without",
			     usages[i], N_WAKERS, rows, with_us / 1e3, without_us / 1e3);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static uint64_t first_sample_ns(const char *sysfs, struct bench_series *cpu)
{
	uint64_t begin_ns = watt_now_ns(), cpu_ns = bench_cpu_ns(), took_ns;
	struct watt_session *ses = open_session(sysfs, 20, NULL, false);
	struct watt_sample sample;

	while (watt_session_get_sample(ses, 0, &sample) < 0) {
		if (watt_now_ns() > begin_ns + 5 * WATT_NSEC_PER_SEC)
			bench_exit(1, "no sample in 5 s");
		watt_session_wait(ses, 1);
	}
	took_ns = sample.t_after_ns - begin_ns;
	bench_add(cpu, bench_cpu_ns() - cpu_ns);
	watt_session_close(ses);
	return took_ns;
}

static void measure_start(const char *sysfs)
{
	struct bench_series series = { 0 }, cpu = { 0 };
	int i;

	for (i = 0; i < N_STARTS; i++)
		bench_add(&series, first_sample_ns(sysfs, &cpu));
	bench_report("start to first sample", (double)bench_percentile(&series, 500) / 1e6, "ms",
		     BENCH_AT_MOST, 50,
		     "median of %d, %.1f ms of it CPU time; max %.1f ms; %d processes there",
		     N_STARTS, (double)bench_percentile(&cpu, 500) / 1e6,
		     (double)bench_percentile(&series, 1000) / 1e6, N_SLEEPERS);
	bench_series_done(&series);
	bench_series_done(&cpu);
}

/* 20 slices a second, and every second a table of all processes as JSON. */
static pid_t start_command(const char *command, const char *sysfs)
{
	pid_t pid = fork_child();
	int fd;

	if (pid > 0)
		return pid;
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(fd, STDOUT_FILENO);
	execl(command, command, "top", "--json", "--delay=1", "--slice=50", "--sources=powercap",
	      "--sysfs-root", sysfs, (char *)NULL);
	_exit(127);
}

static void measure_command(const char *command, const char *sysfs, unsigned long seconds)
{
	pid_t pid = start_command(command, sysfs);
	uint64_t wall_ns, cpu_ns;
	clockid_t clock;
	int status;

	bench_sleep_ns(2 * WATT_NSEC_PER_SEC);
	if (waitpid(pid, &status, WNOHANG) != 0 || clock_getcpuclockid(pid, &clock) != 0) {
		fprintf(stderr, "%s top: it did not run\n", command);
		return;
	}
	wall_ns = watt_now_ns();
	cpu_ns = watt_clock_ns(clock);
	bench_sleep_ns(seconds * WATT_NSEC_PER_SEC);
	cpu_ns = watt_clock_ns(clock) - cpu_ns;
	wall_ns = watt_now_ns() - wall_ns;
	bench_report("command: CPU of one core", 100.0 * (double)cpu_ns / (double)wall_ns, "%",
		     BENCH_AT_MOST, 1, "wattribute top --json: 20 Hz, a document a second");
	bench_report("command: resident memory", (double)bench_memory_bytes(pid, "Rss") / 1048576,
		     "MiB", BENCH_AT_MOST, 12,
		     "wattribute top --json: 20 Hz, a document a second; %.1f MiB of it its own",
		     (double)bench_memory_bytes(pid, "Anonymous") / 1048576);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

enum {
	START = 0, /* not a rate: what is measured instead */
	LATE = 999,
	THREADS = 1000,
	CURSORS = 2000, /* and more: so many of them */
};

/* In a process of its own, so that no memory is left over from what was measured before. */
static void run_apart(const char *sysfs, unsigned int rate_hz, unsigned long seconds)
{
	int status;
	pid_t pid = fork_child();

	if (pid == 0) {
		if (rate_hz >= CURSORS)
			measure_cursors(sysfs, rate_hz - CURSORS, seconds);
		else if (rate_hz == LATE)
			measure_late(sysfs, seconds);
		else if (rate_hz == START)
			measure_start(sysfs);
		else if (rate_hz == THREADS)
			measure_threads(sysfs, seconds);
		else
			measure_rate(sysfs, rate_hz, seconds);
		exit(0);
	}
	waitpid(pid, &status, 0);
	if (status != 0)
		fprintf(stderr, "the measurement at %u Hz failed\n", rate_hz);
}

int main(int argc, char **argv)
{
	static const unsigned int rates_hz[] = { START, 1,       20,          LATE,
						 100,   THREADS, CURSORS + 1, CURSORS + N_CURSORS };
	unsigned long seconds = bench_arg(argc, argv, 10);
	char *tree = bench_tree_new();
	struct machine *machine;
	size_t i;

	if (machine_new(tree, watt_now_ns(), &machine) < 0)
		bench_exit(1, "%s: no machine", tree);
	start_world(machine);
	for (i = 0; i < sizeof(rates_hz) / sizeof(rates_hz[0]); i++)
		run_apart(tree, rates_hz[i], seconds);
	measure_command(argc > 2 ? argv[2] : "build/cli/wattribute", tree, seconds);
	end_world();
	machine_free(machine);
	bench_tree_remove(tree);
	return 0;
}
