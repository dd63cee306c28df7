/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session that begins while no CPU of the second package is there. They and its sensor come, go
 * and come back while it runs: what runs there is given that package's energy, as much as the
 * simulator's account of who ran (kmod/sim) says, and nothing is lost on the way.
 *
 * Runs in the guest (tests/guest/tests/package-hotplug), as root, with the simulator loaded. Waits
 * for what must happen, never for a time. Any failure ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <wattribute/wattribute.h>

#include "../options_of.h"
#include "sim.h"

#define NS_PER_S 1000000000ULL
/* As long as a host that has three times more to do than CPUs may take. */
#define PATIENCE_S 90
#define ROUNDS 2
#define WORK_NS (NS_PER_S / 2) /* of CPU time, on either package */
#define POWER_UW 40000000
#define CPUS_MAX 64
#define FIRST "package-0"
#define SECOND "package-1"

static struct watt_session *session;
static int n_cpus;
static int package_of[CPUS_MAX];
static int n_come; /* CPUs of which the session's thread said so; atomic */

__attribute__((format(printf, 1, 2))) _Noreturn static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(NULL);
	_exit(1);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- the machine ---- */

static int read_package(int cpu)
{
	char path[96];
	int package = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		 cpu);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%d", &package) != 1)
		die("%s: %s", path, strerror(errno));
	fclose(file);
	return package;
}

static void put_online(int cpu, bool is_online)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, is_online ? "1" : "0", 1) != 1)
		die("%s: %s", path, strerror(errno));
	close(fd);
}

static void put_second_online(bool is_online)
{
	int cpu;

	for (cpu = 0; cpu < n_cpus; cpu++)
		if (package_of[cpu] == 1)
			put_online(cpu, is_online);
}

static int count_cpus(int package)
{
	int cpu, n = 0;

	for (cpu = 0; cpu < n_cpus; cpu++)
		n += package_of[cpu] == package;
	return n;
}

/* The simulator knows of packages that are there when it begins. */
static void make_machine(void)
{
	int cpu;

	n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	for (cpu = 0; cpu < n_cpus && cpu < CPUS_MAX; cpu++)
		package_of[cpu] = read_package(cpu);
	if (n_cpus > CPUS_MAX || !count_cpus(0) || !count_cpus(1))
		die("the machine has not two packages");
	sim_say("truth start\ntruth user power_uw=%d\ntruth kernel power_uw=%d\n", POWER_UW,
		POWER_UW);
	sim_say("meter add p0 package=0\nmeter add p1 package=1\n"
		"zone add " FIRST " meter=p0\nzone add " SECOND " meter=p1\n");
}

static void unmake_machine(void)
{
	sim_say("zone remove " FIRST "\nzone remove " SECOND "\n"
		"meter remove p0\nmeter remove p1\ntruth stop\n");
}

/* ---- the session ---- */

static void hear(void *data, enum watt_log_level level, const char *text)
{
	(void)data;
	if (level <= WATT_LOG_WARNING)
		printf("%s\n", text);
	if (strstr(text, "has come: it is in package 1"))
		__atomic_add_fetch(&n_come, 1, __ATOMIC_RELAXED);
}

static void open_session(void)
{
	struct watt_options *options =
		options_of("sources", "powercap", "share-key", "cpu_time", NULL);
	int r;

	watt_options_set_log(options, hear, NULL);
	r = open_by(options, &session);
	if (r == 0)
		r = watt_session_start(session);
	if (r < 0)
		die("no session: %s", strerror(-r));
}

/* Of a domain in a snapshot; -1: it has none. */
static int find_domain(const struct watt_snapshot *snap, const char *path)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_domain_count(snap); i++)
		if (!strcmp(watt_snapshot_get_domain(snap, i)->path, path))
			return (int)i;
	return -1;
}

static void check_quality(const struct watt_snapshot *snap)
{
	const struct watt_quality *quality = watt_snapshot_get_quality(snap);

	if (quality->check_failures || quality->sum_failures)
		die("sums do not hold: %" PRIu64 " and %" PRIu64, quality->check_failures,
		    quality->sum_failures);
	if (quality->lost_records || quality->damaged_records || quality->lost_samples)
		die("lost: %" PRIu64 " records, %" PRIu64 " damaged, %" PRIu64 " samples",
		    quality->lost_records, quality->damaged_records, quality->lost_samples);
}

/* Passes time until the domain has this status, and is attributed to after t_ns if that is OK. */
static void await_domain(const char *path, enum watt_status status, uint64_t t_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_S * NS_PER_S;
	const struct watt_domain_state *state = NULL;
	struct watt_snapshot *snap = NULL;
	bool is_there = false;
	int r = 0, i;

	while (!is_there && r >= 0) {
		if (clock_ns(CLOCK_MONOTONIC) > end_ns)
			die("%s does not become %s", path, watt_status_name(status));
		r = watt_session_wait(session, 20);
		if (r == 0)
			r = watt_session_snapshot(session, &snap);
		if (r < 0)
			break;
		check_quality(snap);
		i = find_domain(snap, path);
		state = i < 0 ? NULL : watt_snapshot_get_domain_state(snap, (size_t)i);
		is_there = state && state->status == status &&
			   (status != WATT_STATUS_OK || state->t_ns > t_ns);
		watt_snapshot_unref(snap);
	}
	if (r < 0)
		die("the session: %s", strerror(-r));
}

/* ---- who runs ---- */

struct load {
	pid_t pid;
	int go[2];   /* a byte: begin */
	int done[2]; /* a clock of its own: half of the work is done; all of it is */
};

static void work(struct load *load, uint64_t until_ns)
{
	uint64_t used_ns;

	do
		used_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	while (used_ns < until_ns);
	if (write(load->done[1], &used_ns, sizeof(used_ns)) != sizeof(used_ns))
		_exit(1);
}

/* Half on a CPU of the second package; that CPU goes away, and the rest is done where it may be. */
_Noreturn static void run_load(struct load *load)
{
	cpu_set_t set;
	char byte;
	int cpu;

	CPU_ZERO(&set);
	for (cpu = 0; cpu < n_cpus; cpu++)
		if (package_of[cpu] == 1)
			CPU_SET(cpu, &set);
	if (read(load->go[0], &byte, 1) != 1 || sched_setaffinity(0, sizeof(set), &set) < 0)
		_exit(1);
	work(load, WORK_NS);
	if (read(load->go[0], &byte, 1) != 1)
		_exit(1);
	work(load, 2 * WORK_NS);
	for (;;)
		pause();
}

static void start_load(struct load *load)
{
	if (pipe(load->go) < 0 || pipe(load->done) < 0)
		die("pipe: %s", strerror(errno));
	fflush(NULL);
	load->pid = fork();
	if (load->pid < 0)
		die("fork: %s", strerror(errno));
	if (load->pid == 0)
		run_load(load);
}

/* Lets it do its next half; what it says to have used. */
static uint64_t let_work(struct load *load)
{
	uint64_t used_ns;

	if (write(load->go[1], "", 1) != 1 ||
	    read(load->done[0], &used_ns, sizeof(used_ns)) != sizeof(used_ns))
		die("the load has ended");
	return used_ns;
}

static void end_load(struct load *load)
{
	kill(load->pid, SIGKILL);
	waitpid(load->pid, NULL, 0);
	close(load->go[0]);
	close(load->go[1]);
	close(load->done[0]);
	close(load->done[1]);
}

/* ---- one against the other ---- */

static const struct watt_row *find_row(const struct watt_snapshot *snap, pid_t pid)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (row->entity->kind == WATT_ENTITY_PROCESS && row->entity->identity &&
		    row->entity->identity->pid == (uint32_t)pid)
			return row;
	}
	die("the snapshot lacks the load");
}

/*
 * A quarter: what else runs there has its part, and a host that stops one CPU or the other for tens
 * of milliseconds, which is a joule each, makes who reads late. A package without its CPUs, or CPUs
 * without their package, would give it nothing, or the energy of both.
 */
static void compare(const char *path, int64_t true_nj, int64_t got_nj)
{
	int64_t error_nj = got_nj > true_nj ? got_nj - true_nj : true_nj - got_nj;

	printf("  %s: %.3f J, in truth %.3f J\n", path, (double)got_nj / 1e9,
	       (double)true_nj / 1e9);
	if (error_nj > true_nj / 4)
		die("that is too far off");
}

static void compare_load(const struct load *load, uint64_t used_ns)
{
	static const char *const paths[] = { FIRST, SECOND };
	struct watt_snapshot *snap = NULL;
	const struct sim_process *process;
	const struct watt_row *row;
	struct sim_truth truth;
	int r, i, p;

	r = watt_session_snapshot_at(session, clock_ns(CLOCK_MONOTONIC), PATIENCE_S * 1000, &snap);
	if (r < 0)
		die("no snapshot: %s", strerror(-r));
	check_quality(snap);
	row = find_row(snap, load->pid);
	sim_truth_read(&truth);
	process = sim_truth_find(&truth, (uint32_t)load->pid, 0);
	if (!process || truth.n_packages != 2)
		die("the truth lacks the load");
	for (p = 0; p < 2; p++) {
		i = find_domain(snap, paths[truth.package_id[p]]);
		if (i < 0)
			die("no domain %s", paths[truth.package_id[p]]);
		compare(paths[truth.package_id[p]], process->energy_nj[p],
			watt_energy_to_nj(row->energy[i]));
	}
	if (row->cpu_ns < used_ns || row->cpu_ns > used_ns + NS_PER_S / 10)
		die("%" PRIu64 " ns of CPU time instead of %" PRIu64, row->cpu_ns, used_ns);
	sim_truth_done(&truth);
	watt_snapshot_unref(snap);
}

static void go_round(int round)
{
	uint64_t from_ns, used_ns;
	struct load load;

	printf("round %d\n", round);
	start_load(&load);
	put_second_online(true);
	sim_say("zone show " SECOND "\n");
	await_domain(SECOND, WATT_STATUS_OK, clock_ns(CLOCK_MONOTONIC));
	if (__atomic_load_n(&n_come, __ATOMIC_RELAXED) != count_cpus(1))
		die("%d CPUs were told of", n_come);
	let_work(&load);
	put_second_online(false);
	used_ns = let_work(&load);
	/* its sensor goes when all that it counted was read */
	from_ns = clock_ns(CLOCK_MONOTONIC);
	await_domain(SECOND, WATT_STATUS_OK, from_ns);
	compare_load(&load, used_ns);
	sim_say("zone hide " SECOND "\n");
	await_domain(SECOND, WATT_STATUS_ABSENT, 0);
	end_load(&load);
}

int main(void)
{
	int round;

	make_machine();
	put_second_online(false);
	sim_say("zone hide " SECOND "\n");
	open_session();
	await_domain(FIRST, WATT_STATUS_OK, clock_ns(CLOCK_MONOTONIC));
	if (watt_session_get_domain_count(session) != 1)
		die("there is more than the first package");
	for (round = 0; round < ROUNDS; round++)
		go_round(round);
	if (watt_session_get_domain_count(session) != 2)
		die("%zu domains", watt_session_get_domain_count(session));
	watt_session_close(session);
	put_second_online(true);
	sim_say("zone show " SECOND "\n");
	unmake_machine();
	return 0;
}
