/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recording costs: a session with 16 channels at 1 kHz and a snapshot a second, recorded to a
 * file, which attributes once a second; and at the same time a thread that sleeps and preads the
 * same 16 files and does nothing else, so that what slows one slows both. On real sysfs attributes,
 * which the bar is of, and on files in memory, which cost less to read than any sensor. Then, on
 * those, the same with slices of 50 ms, for attribution has a bar of its own, and that without a
 * recording. Memory early and late tells whether it grows.
 * usage: bench-record [SECONDS]
 */
#include "bench.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <wattribute/wattribute.h>

#include "../options_of.h"

#define N_CHANNELS 16
#define RATE_HZ 1000
#define PERIOD_NS (WATT_NSEC_PER_SEC / RATE_HZ)
#define SHIFT_NS 100 /* by which the bare loop's is longer: a tenth of one in a second */
#define EARLY_S 5
#define SYSFS_COUNTERS "/sys/class/net/lo/statistics/"

static void log_line(void *data, enum watt_log_level level, const char *text)
{
	if (level <= WATT_LOG_WARNING)
		fprintf(stderr, "%s\n", text);
}

/*
 * What the zones count: files in memory, or what the loopback device has received and sent. Those
 * that stand still would compress too well: 100 times a second there is something new.
 */
struct kind {
	const char *name;
	bool is_sysfs;
	char *tree;
	pid_t mover;
};

static void make_counter(const struct kind *kind, int i)
{
	char path[96], full[PATH_MAX];

	snprintf(path, sizeof(path), "class/powercap/intel-rapl:%d/energy_uj", i);
	if (!kind->is_sysfs) {
		bench_tree_write(kind->tree, path, "262143328850\n");
		return;
	}
	snprintf(full, sizeof(full), "%s/%s", kind->tree, path);
	if (symlink(i % 2 ? SYSFS_COUNTERS "tx_bytes" : SYSFS_COUNTERS "rx_bytes", full) < 0)
		bench_exit(1, "%s: %s", full, strerror(errno));
}

static void make_zones(const struct kind *kind)
{
	char path[96], text[32];
	int i;

	for (i = 0; i < N_CHANNELS; i++) {
		snprintf(path, sizeof(path), "class/powercap/intel-rapl:%d/name", i);
		snprintf(text, sizeof(text), "package-%d\n", i);
		bench_tree_write(kind->tree, path, text);
		snprintf(path, sizeof(path), "class/powercap/intel-rapl:%d/max_energy_range_uj", i);
		bench_tree_write(kind->tree, path,
				 kind->is_sysfs ? "1000000000000000\n" : "262143328850\n");
		make_counter(kind, i);
	}
}

static int open_zone(const char *tree, int i, int flags)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/class/powercap/intel-rapl:%d/energy_uj", tree, i);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		bench_exit(1, "%s: %s", path, strerror(errno));
	return fd;
}

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

_Noreturn static void rewrite(const char *tree)
{
	uint64_t seed = 1, energy_uj[N_CHANNELS] = { 0 };
	int fds[N_CHANNELS], i;
	char text[32];

	for (i = 0; i < N_CHANNELS; i++)
		fds[i] = open_zone(tree, i, O_WRONLY);
	for (;;) {
		for (i = 0; i < N_CHANNELS; i++) {
			energy_uj[i] += 200000 + draw(&seed) % 100000;
			snprintf(text, sizeof(text), "%012llu\n",
				 (unsigned long long)energy_uj[i] % 262143328850ULL);
			if (pwrite(fds[i], text, strlen(text), 0) < 0)
				_exit(1);
		}
		bench_sleep_ns(10 * WATT_NSEC_PER_MSEC);
	}
}

/* A socket that hears what it says; -1: there is no loopback here. */
static int open_echo(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&at, len) == 0 &&
	    getsockname(fd, (struct sockaddr *)&at, &len) == 0 &&
	    connect(fd, (struct sockaddr *)&at, len) == 0 && send(fd, "", 1, 0) == 1)
		return fd;
	close(fd);
	return -1;
}

_Noreturn static void talk(int fd)
{
	static char text[30000];
	uint64_t seed = 1;

	for (;;) {
		if (send(fd, text, 20000 + draw(&seed) % 10000, 0) < 0)
			_exit(1);
		while (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0)
			;
		bench_sleep_ns(10 * WATT_NSEC_PER_MSEC);
	}
}

/* Whether this machine has such files. */
static bool begin_kind(struct kind *kind)
{
	int fd = kind->is_sysfs ? open_echo() : -1;

	if (kind->is_sysfs && (fd < 0 || access(SYSFS_COUNTERS "rx_bytes", R_OK) < 0)) {
		close(fd);
		return false;
	}
	kind->tree = bench_tree_new();
	make_zones(kind);
	kind->mover = fork();
	if (kind->mover == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (kind->is_sysfs)
			talk(fd);
		rewrite(kind->tree);
	}
	close(fd);
	return true;
}

static void end_kind(struct kind *kind)
{
	kill(kind->mover, SIGKILL);
	waitpid(kind->mover, NULL, 0);
	bench_tree_remove(kind->tree);
}

/* ---- the session ---- */

struct outcome {
	double cpu_percent;
	double early_mib, late_mib; /* resident */
	uint64_t samples, bytes, lost_ns;
	struct watt_reader_stats reader;
};

static struct watt_session *open_session(const char *tree, const char *slice, const char *file)
{
	const struct watt_record_opts record_opts = { .sz = sizeof(record_opts), .overwrite = 1 };
	struct watt_options *options =
		options_of("sysfs-root", tree, "sources", "powercap", "slice", slice, NULL);
	struct watt_session *ses;
	int r;

	watt_options_set_period_ns(options, 1000000000 / RATE_HZ);
	watt_options_set_log(options, log_line, NULL);
	r = open_by(options, &ses);
	if (r == 0 && file)
		r = watt_session_record(ses, file, &record_opts);
	if (r == -EOPNOTSUPP)
		bench_exit(BENCH_SKIP, "built without recordings");
	if (r == 0)
		r = watt_session_start(ses);
	if (r < 0)
		bench_exit(1, "session: %s", strerror(-r));
	if (watt_session_get_channel_count(ses) != N_CHANNELS)
		bench_exit(1, "%zu channels", watt_session_get_channel_count(ses));
	return ses;
}

/* As `wattribute record` does: a snapshot at each second. */
static void run_for(struct watt_session *ses, unsigned long seconds)
{
	uint64_t t_ns = watt_session_get_time_ns(ses);
	struct watt_snapshot *snap;
	unsigned long i;
	int r;

	for (i = 0; i < seconds; i++) {
		t_ns += WATT_NSEC_PER_SEC;
		r = watt_session_snapshot_at(ses, t_ns, 5000, &snap);
		if (r < 0)
			bench_exit(1, "snapshot: %s", strerror(-r));
		watt_snapshot_unref(snap);
	}
}

/* Closes the session. */
static struct outcome take_outcome(struct watt_session *ses, const char *file)
{
	struct watt_record_stats stats = { .sz = sizeof(stats) };
	struct outcome o = { .late_mib = (double)bench_memory_bytes(getpid(), "Rss") / 1048576 };

	o.reader.sz = sizeof(o.reader);
	watt_session_get_reader_stats(ses, 0, &o.reader);
	if (file)
		watt_session_get_record_stats(ses, &stats);
	o.samples = stats.samples;
	o.bytes = stats.bytes;
	o.lost_ns = stats.lost_ns;
	watt_session_close(ses);
	return o;
}

/* ---- the least that it can cost ---- */

struct bare_loop {
	const char *tree;
	atomic_bool is_over;
	struct bench_series late_ns;
	pthread_t thread;
};

/*
 * Who reads right after the other finds the caches warm: the period is a little longer than the
 * session's, so that the loop comes by its deadlines on both sides.
 */
static void *run_bare_loop(void *data)
{
	struct sched_param param = { .sched_priority = 10 };
	struct bare_loop *loop = data;
	int fds[N_CHANNELS], k;
	uint64_t t_ns;
	char buf[64];

	for (k = 0; k < N_CHANNELS; k++)
		fds[k] = open_zone(loop->tree, k, O_RDONLY);
	prctl(PR_SET_TIMERSLACK, 1);
	sched_setscheduler(0, SCHED_FIFO, &param);
	t_ns = watt_now_ns();
	while (!atomic_load_explicit(&loop->is_over, memory_order_relaxed)) {
		struct timespec ts = watt_timespec_from_ns(t_ns += PERIOD_NS + SHIFT_NS);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		bench_add(&loop->late_ns, watt_now_ns() - t_ns);
		for (k = 0; k < N_CHANNELS; k++)
			if (pread(fds[k], buf, sizeof(buf), 0) <= 0)
				bench_exit(1, "pread: %s", strerror(errno));
	}
	for (k = 0; k < N_CHANNELS; k++)
		close(fds[k]);
	return NULL;
}

static void start_bare_loop(struct bare_loop *loop)
{
	if (pthread_create(&loop->thread, NULL, run_bare_loop, loop) != 0)
		bench_exit(1, "no thread");
}

static void end_bare_loop(struct bare_loop *loop)
{
	atomic_store(&loop->is_over, true);
	pthread_join(loop->thread, NULL);
}

static uint64_t bare_cpu_ns(const struct bare_loop *loop)
{
	clockid_t clock;

	if (pthread_getcpuclockid(loop->thread, &clock) != 0)
		bench_exit(1, "the bare loop has no clock");
	return watt_clock_ns(clock);
}

/* ---- both at once ---- */

/* CPU time of each second: what else the machine does only adds to it. */
struct costs {
	struct bench_series bare_ns, session_ns;
};

static double percent_of_core(struct bench_series *cpu_ns, unsigned int permille)
{
	return 100.0 * (double)bench_percentile(cpu_ns, permille) / (double)WATT_NSEC_PER_SEC;
}

static double ratio_at(struct costs *costs, unsigned int permille)
{
	return percent_of_core(&costs->session_ns, permille) /
	       percent_of_core(&costs->bare_ns, permille);
}

static void costs_done(struct costs *costs)
{
	bench_series_done(&costs->bare_ns);
	bench_series_done(&costs->session_ns);
}

static void measure_second(struct watt_session *ses, const struct bare_loop *loop,
			   struct costs *costs)
{
	uint64_t bare_ns = bare_cpu_ns(loop), all_ns = bench_cpu_ns();

	run_for(ses, 1);
	all_ns = bench_cpu_ns() - all_ns;
	bare_ns = bare_cpu_ns(loop) - bare_ns;
	bench_add(&costs->bare_ns, bare_ns);
	bench_add(&costs->session_ns, all_ns - bare_ns);
}

/* The series are the caller's. */
static struct outcome measure(const char *tree, const char *slice, const char *file,
			      unsigned long seconds, struct costs *costs, struct bare_loop *loop)
{
	struct watt_session *ses = open_session(tree, slice, file);
	struct outcome o;
	double early_mib;
	unsigned long i;

	*costs = (struct costs){ 0 };
	*loop = (struct bare_loop){ .tree = tree };
	run_for(ses, EARLY_S);
	early_mib = (double)bench_memory_bytes(getpid(), "Rss") / 1048576;
	start_bare_loop(loop);
	run_for(ses, 1);
	for (i = 0; i < seconds; i++)
		measure_second(ses, loop, costs);
	end_bare_loop(loop);
	o = take_outcome(ses, file);
	o.cpu_percent = percent_of_core(&costs->session_ns, 250);
	o.early_mib = early_mib;
	return o;
}

/* ---- the recorder, with hardly any attribution ---- */

static void report_recorder(const struct kind *kind, const struct outcome *alone,
			    struct costs *costs)
{
	const struct watt_reader_stats *reader = &alone->reader;

	bench_report("recording: CPU over the bare loop's", ratio_at(costs, 250), "times",
		     kind->is_sysfs ? BENCH_AT_MOST : BENCH_NO_BAR, 1.25,
		     "1 kHz, 16 channels on %s, attributed once a second: %.2f %% of a core, all "
		     "threads and the file included; lower quartiles of the seconds, by the upper "
		     "ones %.2f times",
		     kind->name, alone->cpu_percent, ratio_at(costs, 750));
	bench_report("recording: lateness p50", (double)reader->lateness_p50_ns / 1e3, "us",
		     BENCH_NO_BAR, 0, "%s, %s", kind->name,
		     reader->is_realtime ? "SCHED_FIFO" : "SCHED_OTHER");
	bench_report("recording: lateness p99", (double)reader->lateness_p99_ns / 1e3, "us",
		     reader->is_realtime ? BENCH_AT_MOST : BENCH_NO_BAR, 100,
		     "%s: max %.0f us, %llu deadlines missed, %llu samples lost, %.3f s lost",
		     kind->name, (double)reader->lateness_max_ns / 1e3,
		     (unsigned long long)reader->missed, (unsigned long long)reader->lost,
		     (double)alone->lost_ns / 1e9);
}

static struct outcome measure_recorder(const struct kind *kind, const char *file,
				       unsigned long seconds)
{
	struct bare_loop loop;
	struct costs costs;
	struct outcome alone = measure(kind->tree, "1s", file, seconds, &costs, &loop);

	bench_report("recording: bare loop of sleep and pread",
		     percent_of_core(&costs.bare_ns, 250), "%", BENCH_NO_BAR, 0,
		     "1 kHz, 16 files on %s: no recorder can cost less; lateness p50 %.1f us, "
		     "p99 %.1f us",
		     kind->name, (double)bench_percentile(&loop.late_ns, 500) / 1e3,
		     (double)bench_percentile(&loop.late_ns, 990) / 1e3);
	report_recorder(kind, &alone, &costs);
	bench_series_done(&loop.late_ns);
	costs_done(&costs);
	return alone;
}

/* All of it: attribution may cost what it may in an agent. */
static void report_session(const struct outcome *with, const struct outcome *without,
			   const struct outcome *alone, unsigned long seconds)
{
	double samples = (double)with->samples;

	bench_report("recording: CPU of one core", with->cpu_percent, "%", BENCH_NO_BAR, 0,
		     "the same with attribution at 20 Hz; without a file %.2f %%",
		     without->cpu_percent);
	bench_report("recording: attribution", with->cpu_percent - alone->cpu_percent, "%",
		     BENCH_AT_MOST, 1,
		     "of one core, beside what is above: of who runs here, and "
		     "who they are");
	bench_report("recording: size", samples > 0 ? (double)with->bytes / samples : 0, "B",
		     BENCH_NO_BAR, 0, "per sample, all that this machine runs included; %.1f MiB",
		     (double)with->bytes / 1048576);
	bench_report("recording: resident memory", with->early_mib, "MiB", BENCH_NO_BAR, 0,
		     "after %d s", EARLY_S);
	bench_report("recording: resident memory", with->late_mib, "MiB", BENCH_NO_BAR, 0,
		     "after %lu s; without a file %.2f MiB", EARLY_S + seconds, without->late_mib);
}

/* What a session with attribution costs above one of the recorder's. */
static void measure_attribution(const struct kind *kind, const char *file,
				const struct outcome *alone, unsigned long seconds)
{
	struct bare_loop loops[2];
	struct costs costs[2];
	struct outcome without = measure(kind->tree, "50ms", NULL, seconds, &costs[0], &loops[0]);
	struct outcome with = measure(kind->tree, "50ms", file, seconds, &costs[1], &loops[1]);
	size_t i;

	report_session(&with, &without, alone, seconds);
	for (i = 0; i < 2; i++) {
		bench_series_done(&loops[i].late_ns);
		costs_done(&costs[i]);
	}
}

int main(int argc, char **argv)
{
	struct kind kinds[] = { { .name = "sysfs", .is_sysfs = true }, { .name = "tmpfs" } };
	unsigned long seconds = bench_arg(argc, argv, 30);
	struct outcome alone;
	char *file;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!begin_kind(&kinds[i])) {
			fprintf(stderr, "no loopback device here: nothing is read of sysfs\n");
			continue;
		}
		if (asprintf(&file, "%s/bench.watt", kinds[i].tree) < 0)
			return 1;
		alone = measure_recorder(&kinds[i], file, seconds);
		if (!kinds[i].is_sysfs)
			measure_attribution(&kinds[i], file, &alone, seconds);
		free(file);
		end_kind(&kinds[i]);
	}
	return 0;
}
