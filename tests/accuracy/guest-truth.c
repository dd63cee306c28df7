/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far attribution is from the truth on a real kernel. The simulator (kmod/sim) accounts in the
 * kernel who runs on which CPU at each instant, at a known power, and shows the packages' energy as
 * zones of powercap; the library measures those through sysfs and attributes them by what the
 * kernel tells everybody. Both accounts of the same loads are held against each other, process by
 * process and package by package.
 *
 * Runs in the guest (tests/guest/tests/sim-truth), as root, with the simulator loaded. Prints one
 * row for each scenario, in the form of the table in docs/attribution.md; with -v also one for each
 * process. With -m it is the product's kernel module, which reads simulated registers, whose file is
 * held against the truth. Fails if a figure is worse than the bound beside its scenario.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <wattribute/wattribute.h>

#include "../guest/sim.h"

#define LOADS_MAX 16
#define CPUS_MAX 64
#define NS_PER_MS 1000000ULL
/* An emulated CPU may be stopped anywhere for long, by the machine that emulates it. */
#define TRIES 4
#define IDLE_BOUND 50 /* 1e-3 of the true idle power */
#define MSR_UNIT "0x606"
#define MSR_PACKAGE "0x611"
#define MODULE_FILE "/proc/energy/all"
#define NAME "load"
#define NAME_BRIEF "brief"

enum behaviour {
	STAY,    /* on the CPUs of package 0 */
	MIGRATE, /* from package to package, while running */
	THREADS, /* three threads, free to go anywhere */
	BREED,   /* children that live for a few ms */
};

struct scenario {
	const char *name;
	enum behaviour behaviour;
	unsigned int n_loads;
	uint32_t idle_uw;        /* of each package */
	uint32_t min_uw, max_uw; /* of the loads; all others use min_uw */
	uint32_t run_ms;
	/* Bounds, in 1e-3 of all dynamic energy: of the worst process, and of all together. */
	double worst_bound, total_bound;
};

static const struct scenario scenarios[] = {
	{ "equal tasks, one package", STAY, 8, 0, 10000000, 10000000, 4000, 5, 20 },
	{ "equal tasks that migrate, two packages", MIGRATE, 8, 0, 10000000, 10000000, 4000, 5,
	  20 },
	{ "the same beside 20 W of idle power", MIGRATE, 8, 20000000, 10000000, 10000000, 4000, 20,
	  60 },
	{ "threads on all CPUs", THREADS, 4, 0, 10000000, 10000000, 4000, 5, 20 },
	{ "short lives (all of a name as one)", BREED, 4, 0, 10000000, 10000000, 4000, 20, 40 },
	{ "tasks of 2 to 12 W, one package", STAY, 6, 0, 2000000, 12000000, 4000, 200, 800 },
};

struct load {
	pid_t pid;
	int go[2];   /* the parent says when */
	int done[2]; /* the child says when */
	uint32_t power_uw;
};

struct run {
	const struct scenario *scenario;
	struct load loads[LOADS_MAX];
	struct watt_session *session;
	struct watt_snapshot *snapshot;
	struct sim_truth before, after;
	int domain[SIM_PACKAGES_MAX]; /* of each package */
};

/* Sums over a scenario, in nJ. */
struct figures {
	double worst_nj, sum_nj, dynamic_nj;
	int64_t true_nj, got_nj;
	double idle_error_permille; /* NAN: not learned */
};

static bool is_of_module; /* hold the kernel module's files against the truth, not the library */
static int package_of_cpu[CPUS_MAX];
static int n_cpus;
static bool is_verbose;

_Noreturn static void die(const char *what, int error)
{
	fprintf(stderr, "guest-truth: %s: %s\n", what, strerror(error));
	exit(1);
}

/* ---- the loads ---- */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void busy(uint64_t time_ns)
{
	uint64_t end_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) + time_ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
}

static void rest(uint64_t time_ns)
{
	struct timespec ts = { .tv_nsec = (long)time_ns };

	nanosleep(&ts, NULL);
}

/* package_id -1: everywhere */
static void go_to_package(int package_id)
{
	cpu_set_t set;
	int cpu;

	CPU_ZERO(&set);
	for (cpu = 0; cpu < n_cpus; cpu++)
		if (package_id < 0 || package_of_cpu[cpu] == package_id)
			CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity", errno);
}

/* Works and rests by turns, each load in a rhythm of its own. */
static void work(uint64_t end_ns, unsigned int i, bool is_migrating)
{
	unsigned int n;

	for (n = 0; now_ns(CLOCK_MONOTONIC) < end_ns; n++) {
		if (is_migrating && n % 3 == 0)
			go_to_package((int)(n / 3 + i) % 2);
		busy((3 + 2 * i) * NS_PER_MS);
		rest((1 + (i * 5) % 11) * NS_PER_MS);
	}
}

struct thread_args {
	uint64_t end_ns;
	unsigned int i;
};

static void *run_thread(void *data)
{
	const struct thread_args *args = data;

	work(args->end_ns, args->i, false);
	return NULL;
}

static void run_threads(uint64_t end_ns, unsigned int i)
{
	struct thread_args args[3];
	pthread_t threads[3];
	int t;

	for (t = 0; t < 3; t++) {
		args[t] = (struct thread_args){ end_ns, i + (unsigned int)t };
		if (pthread_create(&threads[t], NULL, run_thread, &args[t]))
			die("pthread_create", EAGAIN);
	}
	for (t = 0; t < 3; t++)
		pthread_join(threads[t], NULL);
}

static void breed(uint64_t end_ns, unsigned int i)
{
	unsigned int n;
	pid_t pid;

	for (n = 0; now_ns(CLOCK_MONOTONIC) < end_ns; n++) {
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_NAME, NAME_BRIEF);
			busy((1 + (n * 7 + i) % 9) * NS_PER_MS);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("fork", errno);
	}
}

/* The life of a load: waits for its word, works, says so, and waits for its end. */
_Noreturn static void live(const struct scenario *scenario, const struct load *load, unsigned int i)
{
	uint64_t end_ns;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, NAME);
	if (scenario->behaviour == STAY)
		go_to_package(0);
	if (read(load->go[0], &c, 1) != 1)
		_exit(1);
	end_ns = now_ns(CLOCK_MONOTONIC) + scenario->run_ms * NS_PER_MS;
	if (scenario->behaviour == THREADS)
		run_threads(end_ns, i);
	else if (scenario->behaviour == BREED)
		breed(end_ns, i);
	else
		work(end_ns, i, scenario->behaviour == MIGRATE);
	if (write(load->done[1], "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static uint32_t power_of(const struct scenario *scenario, unsigned int i)
{
	return scenario->min_uw +
	       (scenario->max_uw - scenario->min_uw) / (scenario->n_loads - 1) * i;
}

static void start_loads(struct run *run)
{
	const struct scenario *scenario = run->scenario;
	unsigned int i;

	for (i = 0; i < scenario->n_loads; i++) {
		struct load *load = &run->loads[i];

		if (pipe(load->go) || pipe(load->done))
			die("pipe", errno);
		fflush(NULL);
		load->pid = fork();
		if (load->pid < 0)
			die("fork", errno);
		if (load->pid == 0)
			live(scenario, load, i);
		load->power_uw = power_of(scenario, i);
		if (scenario->max_uw > scenario->min_uw)
			sim_say("truth process pid=%d power_uw=%u\n", load->pid, load->power_uw);
	}
	for (i = 0; i < scenario->n_loads; i++)
		if (write(run->loads[i].go[1], "", 1) != 1)
			die("write", errno);
}

static void await_loads(struct run *run)
{
	unsigned int i;
	uint64_t end_ns = now_ns(CLOCK_MONOTONIC) + run->scenario->run_ms * NS_PER_MS;
	char c;

	while (now_ns(CLOCK_MONOTONIC) < end_ns)
		if (run->session)
			watt_session_wait(run->session, 50);
		else
			rest(50 * NS_PER_MS);
	for (i = 0; i < run->scenario->n_loads; i++)
		if (read(run->loads[i].done[0], &c, 1) != 1)
			die("a load died", EIO);
}

static void end_loads(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->scenario->n_loads; i++) {
		struct load *load = &run->loads[i];

		kill(load->pid, SIGKILL);
		waitpid(load->pid, NULL, 0);
		close(load->go[0]);
		close(load->go[1]);
		close(load->done[0]);
		close(load->done[1]);
	}
}

/* ---- the machine ---- */

static void read_topology(void)
{
	char path[128];
	FILE *file;

	for (n_cpus = 0; n_cpus < CPUS_MAX; n_cpus++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", n_cpus);
		file = fopen(path, "re");
		if (!file)
			break;
		if (fscanf(file, "%d", &package_of_cpu[n_cpus]) != 1)
			die(path, EBADMSG);
		fclose(file);
	}
}

static void start_machine(const struct scenario *scenario)
{
	struct sim_truth truth;
	size_t i;

	sim_say("truth start\ntruth user power_uw=%u\ntruth kernel power_uw=%u\n", scenario->min_uw,
		scenario->min_uw);
	sim_truth_read(&truth);
	for (i = 0; i < truth.n_packages; i++) {
		int id = truth.package_id[i];

		sim_say("truth idle package=%d power_uw=%u\nmeter add p%d package=%d\n", id,
			scenario->idle_uw, id, id);
		if (is_of_module)
			sim_say("msr counter " MSR_PACKAGE " meter=p%d package=%d\n", id, id);
		else
			sim_say("zone add package-%d meter=p%d\n", id, id);
	}
	sim_truth_done(&truth);
}

static void stop_machine(const struct sim_truth *truth)
{
	size_t i;

	for (i = 0; i < truth->n_packages; i++) {
		int id = truth->package_id[i];

		if (is_of_module)
			sim_say("msr remove " MSR_PACKAGE " package=%d\n", id);
		else
			sim_say("zone remove package-%d\n", id);
		sim_say("meter remove p%d\n", id);
	}
	sim_say("truth stop\n");
}

/* ---- the library ---- */

static void log_line(void *data, enum watt_log_level level, const char *text)
{
	if (level <= WATT_LOG_WARNING)
		fprintf(stderr, "%s\n", text);
}

static void find_domains(struct run *run)
{
	char path[32];
	size_t i, d;

	for (i = 0; i < run->before.n_packages; i++) {
		snprintf(path, sizeof(path), "package-%d", run->before.package_id[i]);
		run->domain[i] = -1;
		for (d = 0; d < watt_session_get_domain_count(run->session); d++)
			if (!strcmp(watt_session_get_domain(run->session, d)->path, path))
				run->domain[i] = (int)d;
		if (run->domain[i] < 0)
			die(path, ENOENT);
	}
}

static void measure(struct run *run)
{
	struct watt_session_opts opts = { .sz = sizeof(opts),
					  .sources = "powercap",
					  .log = log_line };
	int r = watt_session_open(&opts, &run->session);

	if (r == 0)
		r = watt_session_start(run->session);
	if (r < 0)
		die("no session", -r);
	sim_truth_read(&run->before);
	find_domains(run);
	/* idle power is known when the machine was seen idle for a second */
	watt_session_wait(run->session, run->scenario->idle_uw ? 3000 : 200);
	start_loads(run);
	await_loads(run);
	r = watt_session_snapshot_at(run->session, now_ns(CLOCK_MONOTONIC), 5000, &run->snapshot);
	if (r < 0)
		die("no snapshot", -r);
	sim_truth_read(&run->after);
}

/* ---- the module ---- */

static void run_command(const char *command)
{
	if (system(command))
		die(command, ECANCELED);
}

/* When the window that the module shows ended. */
static uint64_t read_window_ns(void)
{
	FILE *file = fopen(MODULE_FILE, "re");
	uint64_t t_ns = 0;

	if (!file)
		die(MODULE_FILE, errno);
	if (fscanf(file, "timestamp=%" SCNu64, &t_ns) != 1)
		die(MODULE_FILE, EBADMSG);
	fclose(file);
	return t_ns;
}

static void await_window(uint64_t after_ns)
{
	while (read_window_ns() < after_ns)
		rest(50 * NS_PER_MS);
}

/* Loads the module, which looks for RAPL when it is. */
static void measure_by_module(struct run *run)
{
	run_command("insmod /modules/wattribute.ko sample_ns=25000000 window_ns=200000000");
	await_window(1);
	sim_truth_read(&run->before);
	if (run->scenario->idle_uw)
		sleep(3);
	start_loads(run);
	await_loads(run);
	await_window(now_ns(CLOCK_MONOTONIC));
	sim_truth_read(&run->after);
}

/* What all packages together gave a process, by the module's file. */
static int64_t read_module_nj(uint32_t pid)
{
	FILE *file = fopen(MODULE_FILE, "re");
	int64_t uj, nj, got_nj = -1;
	char line[512];
	uint32_t found;

	if (!file)
		die(MODULE_FILE, errno);
	while (got_nj < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "pid=%" SCNu32 " energy=%" SCNd64 ".%" SCNd64, &found, &uj, &nj) ==
			    3 &&
		    found == pid)
			got_nj = uj * 1000 + nj;
	fclose(file);
	if (got_nj < 0)
		die("the module lacks a load", ENOENT);
	return got_nj;
}

/* ---- one against the other ---- */

static const struct watt_row *find_row(const struct run *run, const struct sim_process *process)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(run->snapshot); i++) {
		const struct watt_row *row = watt_snapshot_get_row(run->snapshot, i);

		if (row->entity.kind == WATT_ENTITY_PROCESS && row->entity.identity &&
		    row->entity.identity->pid == process->pid &&
		    row->entity.identity->start_ns == process->start_ns)
			return row;
	}
	return NULL;
}

static void compare(const struct run *run, const char *name, const int64_t *true_nj,
		    const int64_t *got_nj, struct figures *figures)
{
	double error_nj = 0;
	size_t i;

	for (i = 0; i < run->before.n_packages; i++) {
		error_nj += fabs((double)(got_nj[i] - true_nj[i]));
		figures->true_nj += true_nj[i];
		figures->got_nj += got_nj[i];
		if (is_verbose)
			printf("  %-16s package-%d  true %12.6f J  got %12.6f J  %+9.6f J  %+8.3f\n",
			       name, run->before.package_id[i], (double)true_nj[i] / 1e9,
			       (double)got_nj[i] / 1e9, (double)(got_nj[i] - true_nj[i]) / 1e9,
			       true_nj[i] ?
				       1e3 * (double)(got_nj[i] - true_nj[i]) / (double)true_nj[i] :
				       0.0);
	}
	figures->worst_nj = fmax(figures->worst_nj, error_nj);
	figures->sum_nj += error_nj;
}

/* The module tells the sum over the packages. */
static void compare_by_module(const struct run *run, const char *name,
			      const struct sim_process *process, struct figures *figures)
{
	int64_t got_nj = read_module_nj(process->pid), true_nj = 0;
	double error_nj;
	size_t i;

	for (i = 0; i < run->before.n_packages; i++)
		true_nj += process->energy_nj[i];
	error_nj = (double)(got_nj - true_nj);
	if (is_verbose)
		printf("  %-16s all        true %12.6f J  got %12.6f J  %+9.6f J\n", name,
		       (double)true_nj / 1e9, (double)got_nj / 1e9, error_nj / 1e9);
	figures->true_nj += true_nj;
	figures->got_nj += got_nj;
	figures->worst_nj = fmax(figures->worst_nj, fabs(error_nj));
	figures->sum_nj += fabs(error_nj);
}

static void compare_load(const struct run *run, const struct load *load, struct figures *figures)
{
	const struct sim_process *process = sim_truth_find(&run->after, (uint32_t)load->pid, 0);
	int64_t got_nj[SIM_PACKAGES_MAX] = { 0 };
	const struct watt_row *row;
	char name[32];
	size_t i;

	if (!process)
		die("the truth lacks a load", ENOENT);
	snprintf(name, sizeof(name), "%d (%.1f W)", load->pid, load->power_uw / 1e6);
	if (is_of_module) {
		compare_by_module(run, name, process, figures);
		return;
	}
	row = find_row(run, process);
	if (!row)
		die("the snapshot lacks a load", ENOENT);
	for (i = 0; i < run->before.n_packages; i++)
		got_nj[i] = row->energy_nj[run->domain[i]];
	if (is_verbose)
		printf("  %-16s time       true %12.6f s  got %12.6f s  %+9.6f s\n", name,
		       (double)process->run_ns / 1e9, (double)row->cpu_ns / 1e9,
		       ((double)row->cpu_ns - (double)process->run_ns) / 1e9);
	compare(run, name, process->energy_nj, got_nj, figures);
}

/* All processes of a name, however they are grouped. */
static void compare_name(const struct run *run, const char *name, struct figures *figures)
{
	int64_t true_nj[SIM_PACKAGES_MAX] = { 0 }, got_nj[SIM_PACKAGES_MAX] = { 0 };
	size_t i, p;

	for (p = 0; p < run->after.n_processes; p++)
		for (i = 0; i < run->before.n_packages; i++)
			if (!strcmp(run->after.processes[p].name, name))
				true_nj[i] += run->after.processes[p].energy_nj[i];
	for (p = 0; p < watt_snapshot_get_row_count(run->snapshot); p++) {
		const struct watt_row *row = watt_snapshot_get_row(run->snapshot, p);

		for (i = 0; i < run->before.n_packages; i++)
			if (row->entity.kind <= WATT_ENTITY_EXITED &&
			    !strcmp(row->entity.name, name))
				got_nj[i] += row->energy_nj[run->domain[i]];
	}
	compare(run, name, true_nj, got_nj, figures);
}

static void compare_idle(const struct run *run, struct figures *figures)
{
	const struct watt_domain_state *state;
	double error = is_of_module ? NAN : 0;
	size_t i;

	for (i = 0; i < run->before.n_packages; i++) {
		figures->dynamic_nj += (double)(run->after.total_nj[i] - run->before.total_nj[i] -
						run->after.idle_nj[i] + run->before.idle_nj[i]);
		if (is_of_module)
			continue;
		state = watt_snapshot_get_domain_state(run->snapshot, (size_t)run->domain[i]);
		if (!state->baseline_ready || !run->scenario->idle_uw)
			error = NAN;
		else
			error = fmax(error,
				     fabs((double)state->baseline_uw / run->scenario->idle_uw - 1) *
					     1e3);
	}
	figures->idle_error_permille = error;
}

/* Where what is neither idle nor a load's went. */
static void show_rest(const struct run *run)
{
	size_t p, i;

	for (i = 0; i < run->before.n_packages; i++) {
		const struct watt_domain_state *state =
			watt_snapshot_get_domain_state(run->snapshot, (size_t)run->domain[i]);

		printf("  package-%d: true %.6f J (without idle %.6f J), got %.6f J: idle %.6f J, "
		       "unattributed %.6f J",
		       run->before.package_id[i],
		       (double)(run->after.total_nj[i] - run->before.total_nj[i]) / 1e9,
		       (double)(run->after.total_nj[i] - run->before.total_nj[i] -
				run->after.idle_nj[i] + run->before.idle_nj[i]) /
			       1e9,
		       (double)state->energy_nj / 1e9, (double)state->idle_nj / 1e9,
		       (double)state->unattributed_nj / 1e9);
		for (p = 0; p < watt_snapshot_get_row_count(run->snapshot); p++) {
			const struct watt_row *row = watt_snapshot_get_row(run->snapshot, p);

			if (row->entity.kind == WATT_ENTITY_IRQ ||
			    row->entity.kind == WATT_ENTITY_SOFTIRQ)
				printf(", %s %.6f J", row->entity.name,
				       (double)row->energy_nj[run->domain[i]] / 1e9);
		}
		printf("\n");
	}
}

static struct figures compare_all(const struct run *run)
{
	struct figures figures = { 0 };
	unsigned int i;

	for (i = 0; i < run->scenario->n_loads; i++)
		compare_load(run, &run->loads[i], &figures);
	if (run->scenario->behaviour == BREED && !is_of_module)
		compare_name(run, NAME_BRIEF, &figures);
	compare_idle(run, &figures);
	if (is_verbose && !is_of_module)
		show_rest(run);
	return figures;
}

static double worst_permille(const struct figures *figures)
{
	return 1e3 * figures->worst_nj / figures->dynamic_nj;
}

static double sum_permille(const struct figures *figures)
{
	return 1e3 * figures->sum_nj / figures->dynamic_nj;
}

static bool is_within_bounds(const struct scenario *scenario, const struct figures *figures)
{
	return worst_permille(figures) <= scenario->worst_bound &&
	       sum_permille(figures) <= scenario->total_bound &&
	       (scenario->idle_uw == 0 || is_of_module ||
		figures->idle_error_permille <= IDLE_BOUND);
}

static void show_figures(const struct scenario *scenario, const struct figures *figures)
{
	printf("| %-40s | %7.3f | %7.3f | ", scenario->name, worst_permille(figures),
	       sum_permille(figures));
	if (isnan(figures->idle_error_permille))
		printf("%7s |", "-");
	else
		printf("%7.3f |", figures->idle_error_permille);
	printf(" %.3f J of %.3f J%s\n", (double)figures->got_nj / 1e9,
	       (double)figures->true_nj / 1e9,
	       is_within_bounds(scenario, figures) ? "" : "  TOO FAR OFF");
	fflush(stdout);
}

static struct figures run_once(const struct scenario *scenario)
{
	struct run run = { .scenario = scenario };
	struct figures figures;

	start_machine(scenario);
	if (is_of_module)
		measure_by_module(&run);
	else
		measure(&run);
	figures = compare_all(&run);
	if (!is_of_module && watt_snapshot_get_quality(run.snapshot)->check_failures)
		die("energy is not conserved", EPROTO);
	end_loads(&run);
	watt_snapshot_unref(run.snapshot);
	watt_session_close(run.session);
	if (is_of_module)
		run_command("rmmod wattribute");
	stop_machine(&run.after);
	sim_truth_done(&run.before);
	sim_truth_done(&run.after);
	return figures;
}

/* Returns 1 if it fails each time. */
static int run_scenario(const struct scenario *scenario)
{
	struct figures figures;
	int i;

	for (i = 0; i < TRIES; i++) {
		figures = run_once(scenario);
		show_figures(scenario, &figures);
		if (is_within_bounds(scenario, &figures))
			return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	int failed = 0, option;
	size_t i;

	while ((option = getopt(argc, argv, "mv")) != -1) {
		is_of_module |= option == 'm';
		is_verbose |= option == 'v';
		if (option == '?') {
			fprintf(stderr, "usage: guest-truth [-m] [-v]\n");
			return 2;
		}
	}
	read_topology();
	if (is_of_module)
		sim_say("msr value " MSR_UNIT " value=0xa0e03\n");
	printf("in thousandths of all dynamic energy:\n");
	printf("| %-40s | %7s | %7s | %7s |\n", "scenario", "worst", "all", "idle");
	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		failed += run_scenario(&scenarios[i]);
	return failed != 0;
}
