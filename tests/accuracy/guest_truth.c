/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far attribution is from the truth on a real kernel. The simulator (kmod/sim) accounts in the
 * kernel who runs on which CPU at each instant, at a known power, and shows the packages' energy as
 * sensors; a meter (guest_meter.h) measures those and attributes them by what the kernel tells
 * everybody. Both accounts of the same loads are held against each other, process by process.
 *
 * Runs in the guest (tests/guest/tests/sim-truth*), as root, with the simulator loaded. Prints one
 * row for each scenario, in the form of the table in docs/attribution.md; with -v also one for each
 * process. Fails if a figure is worse than the bound beside its scenario.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <unistd.h>

#include "guest_load.h"
#include "guest_meter.h"

#define RUN_MS 2000
/* Idle power is known when the machine was seen idle for a second. */
#define IDLE_MS 3000
#define IDLE_BOUND 50 /* 1e-3 of the true idle power */
#define MSR_UNIT "0x606"
#define MSR_PACKAGE "0x611"

struct scenario {
	const char *name;
	enum load_behaviour behaviour;
	unsigned int n_loads;
	uint32_t idle_uw;        /* of each package */
	uint32_t min_uw, max_uw; /* of the loads; all others use min_uw */
	/* Bounds, in 1e-3 of what the loads used: of the worst process, and of all together. */
	double worst_bound, total_bound;
	uint32_t run_ms; /* 0: as all do. Another length is only run when it is asked for */
};

#define W 1000000
/*
 * A boot that is repeated has the same figures to the last digit. One with other tests in it, or of
 * another build, has others: the sensor counts once a ms, which is 1.1 thousandths of a row, and what
 * falls where is up to when everything happens to start. 2.3 and 6.5 have been seen, by worst and all.
 */
static const struct scenario scenarios[] = {
	{ "equal tasks", LOAD_STAY, 8, 0, 10 * W, 10 * W, 4, 16 },
	{ "the same beside 20 W of idle power", LOAD_STAY, 8, 20 * W, 10 * W, 10 * W, 8, 40 },
	{ "migrating from package to package", LOAD_MIGRATE, 8, 0, 10 * W, 10 * W, 4, 16 },
	/*
	 * Packages that are taken for each other give each what the other used, and are off by 714 and
	 * 1,429. Where the host leaves the guest little time, who measures is seen to use much of it.
	 */
	{ "2 W and 12 W, each on its own", LOAD_APART, 2, 0, 2 * W, 12 * W, 400, 600 },
	{ "4 processes of 3 threads", LOAD_THREADS, 4, 0, 10 * W, 10 * W, 4, 16 },
	{ "short lives: children of 1 to 9 ms", LOAD_BREED, 4, 0, 10 * W, 10 * W, 4, 16 },
	{ "nice levels 0 to 18", LOAD_NICE, 7, 0, 10 * W, 10 * W, 4, 16 },
	{ "mostly asleep, woken each ms", LOAD_DOZE, 8, 0, 10 * W, 10 * W, 4, 16 },
	{ "from cgroup to cgroup", LOAD_REGROUP, 6, 0, 10 * W, 10 * W, 4, 16 },
	/* The limit of the key: CPU time does not tell who takes more power. */
	{ "tasks of 2 to 12 W", LOAD_STAY, 6, 0, 2 * W, 12 * W, 200, 800 },
	/*
	 * What learning adds, the seconds included in which nothing is known yet: how many those are is up
	 * to how the kernel happens to put them in turns. CPU time is off by 130 and 390.
	 */
	{ "2 to 12 W, while learning", LOAD_STAY, 6, 20 * W, 2 * W, 12 * W, 40, 120, 45000 },
};

/*
 * Beside those, where a clock of the host drives several CPUs: it stops one or the other for ten
 * milliseconds and more at any time, and then a sensor is read late, and a running task's time is
 * old, in each account in another place. Now and then that takes long: there are tries, since what
 * is wrong is wrong each time. Attribution by nothing is off by 190 and more, all together.
 */
#define HOST_WORST 30
#define HOST_TOTAL 100
#define HOST_TRIES 3

struct run {
	const struct scenario *scenario;
	struct load loads[LOADS_MAX];
	struct sim_truth before, after;
	struct meter_account account;
};

/* Sums over a scenario, in nJ. */
struct figures {
	double worst_nj, sum_nj;
	int64_t true_nj, got_nj;
	double idle_error_permille; /* NAN: not learned */
};

static const struct meter *meter = &meter_library;
static bool is_verbose;
static bool is_by_host; /* the clock is the host's */
static bool is_misled;
static bool is_swapped; /* packages are taken for each other */

/* ---- the machine ---- */

/* Of a package; what it reads is that one's. */
static void start_sensor(int id, int read)
{
	sim_say("meter add p%d package=%d\n", id, read);
	if (!strcmp(meter->sensor, "msr"))
		sim_say("msr value " MSR_UNIT " value=0xa0e03 package=%d\n"
			"msr counter " MSR_PACKAGE " meter=p%d package=%d\n",
			id, id, id);
	else
		sim_say("zone add package-%d meter=p%d\n", id, id);
}

static void stop_sensor(int id)
{
	if (!strcmp(meter->sensor, "msr"))
		sim_say("msr remove " MSR_UNIT " package=%d\nmsr remove " MSR_PACKAGE
			" package=%d\n",
			id, id);
	else
		sim_say("zone remove package-%d\n", id);
	sim_say("meter remove p%d\n", id);
}

static void start_machine(const struct scenario *scenario)
{
	struct sim_truth truth;
	size_t i;

	sim_say("truth start\ntruth user power_uw=%u\ntruth kernel power_uw=%u\n", scenario->min_uw,
		scenario->min_uw);
	sim_truth_read(&truth);
	for (i = 0; i < truth.n_packages; i++) {
		size_t read = is_swapped ? truth.n_packages - 1 - i : i;

		sim_say("truth idle package=%d power_uw=%u\n", truth.package_id[i],
			scenario->idle_uw);
		start_sensor(truth.package_id[i], truth.package_id[read]);
	}
	sim_truth_done(&truth);
}

static void stop_machine(const struct sim_truth *truth)
{
	size_t i;

	for (i = 0; i < truth->n_packages; i++)
		stop_sensor(truth->package_id[i]);
	sim_say("truth stop\n");
}

/* ---- a run ---- */

static uint32_t power_of(const struct scenario *scenario, unsigned int i)
{
	return scenario->min_uw +
	       (scenario->max_uw - scenario->min_uw) / (scenario->n_loads - 1) * i;
}

static uint32_t run_ms_of(const struct scenario *scenario)
{
	return scenario->run_ms ? scenario->run_ms : RUN_MS;
}

static void start_loads(struct run *run)
{
	const struct scenario *scenario = run->scenario;
	unsigned int i;

	for (i = 0; i < scenario->n_loads; i++) {
		load_start(&run->loads[i], scenario->behaviour, i, run_ms_of(scenario));
		if (scenario->max_uw > scenario->min_uw)
			sim_say("truth process pid=%d power_uw=%u\n", run->loads[i].pid,
				power_of(scenario, i));
	}
	for (i = 0; i < scenario->n_loads; i++)
		load_go(&run->loads[i]);
}

static void measure(struct run *run)
{
	unsigned int i;

	start_machine(run->scenario);
	meter->begin();
	sim_truth_read(&run->before);
	meter->wait(run->scenario->idle_uw ? IDLE_MS : 200);
	start_loads(run);
	meter->wait(run_ms_of(run->scenario));
	for (i = 0; i < run->scenario->n_loads; i++)
		load_await(&run->loads[i]);
	meter->end(&run->before, &run->account);
	sim_truth_read(&run->after);
}

static void end(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->scenario->n_loads; i++)
		load_end(&run->loads[i]);
	meter->done();
	stop_machine(&run->after);
	sim_truth_done(&run->before);
	sim_truth_done(&run->after);
	meter_account_done(&run->account);
}

/* ---- one against the other ---- */

static void compare_at(const char *name, const char *where, int64_t true_nj, int64_t got_nj,
		       struct figures *figures)
{
	figures->true_nj += true_nj;
	figures->got_nj += got_nj;
	if (is_verbose)
		printf("  %-16s %-10s true %12.6f J  got %12.6f J  %+9.6f J  %+8.3f\n", name, where,
		       (double)true_nj / 1e9, (double)got_nj / 1e9,
		       (double)(got_nj - true_nj) / 1e9,
		       true_nj ? 1e3 * (double)(got_nj - true_nj) / (double)true_nj : 0.0);
}

static void compare(const struct run *run, const char *name, const int64_t *true_nj,
		    const int64_t *got_nj, struct figures *figures)
{
	int64_t all_nj = 0;
	double error_nj = 0;
	char where[32];
	size_t i;

	for (i = 0; i < run->before.n_packages; i++) {
		snprintf(where, sizeof(where), "package-%d", run->before.package_id[i]);
		all_nj += true_nj[i];
		if (meter->has_packages) {
			error_nj += fabs((double)(got_nj[i] - true_nj[i]));
			compare_at(name, where, true_nj[i], got_nj[i], figures);
		}
	}
	if (!meter->has_packages) {
		error_nj = fabs((double)(got_nj[0] - all_nj));
		compare_at(name, "all", all_nj, got_nj[0], figures);
	}
	figures->worst_nj = fmax(figures->worst_nj, error_nj);
	figures->sum_nj += error_nj;
}

static const struct meter_row *find_row(const struct run *run, const struct sim_process *process)
{
	size_t i;

	for (i = 0; i < run->account.n_rows; i++) {
		const struct meter_row *row = &run->account.rows[i];

		if (row->pid == process->pid &&
		    (!row->start_ns || row->start_ns == process->start_ns))
			return row;
	}
	return NULL;
}

static void compare_load(const struct run *run, unsigned int i, struct figures *figures)
{
	const struct sim_process *process =
		sim_truth_find(&run->after, (uint32_t)run->loads[i].pid, 0);
	const struct meter_row *row;
	char name[32];

	if (!process)
		load_die("the truth lacks a load", ENOENT);
	row = find_row(run, process);
	if (!row)
		load_die("the meter lacks a load", ENOENT);
	snprintf(name, sizeof(name), "%u (%.1f W)", process->pid, power_of(run->scenario, i) / 1e6);
	compare(run, name, process->energy_nj, row->energy_nj, figures);
}

/* All processes of a name, living or not, as one: meters may tell the dead together, or nameless. */
static void compare_name(const struct run *run, const char *name, struct figures *figures)
{
	int64_t true_nj[SIM_PACKAGES_MAX] = { 0 }, got_nj[SIM_PACKAGES_MAX] = { 0 };
	size_t i, p;

	for (p = 0; p < run->after.n_processes; p++)
		for (i = 0; i < run->before.n_packages; i++)
			if (!strcmp(run->after.processes[p].name, name))
				true_nj[i] += run->after.processes[p].energy_nj[i];
	for (p = 0; p < run->account.n_rows; p++) {
		const struct meter_row *row = &run->account.rows[p];

		for (i = 0; i < run->before.n_packages; i++)
			if (!strcmp(row->name, name) || (row->is_exited && !row->name[0]))
				got_nj[i] += row->energy_nj[i];
	}
	compare(run, name, true_nj, got_nj, figures);
}

static double idle_error_permille(const struct run *run)
{
	double error = 0;
	size_t i;

	for (i = 0; i < run->before.n_packages; i++) {
		if (!run->scenario->idle_uw || isnan(run->account.idle_uw[i]))
			return NAN;
		error = fmax(error,
			     fabs(run->account.idle_uw[i] / run->scenario->idle_uw - 1) * 1e3);
	}
	return error;
}

static struct figures compare_all(const struct run *run)
{
	struct figures figures = { .idle_error_permille = idle_error_permille(run) };
	unsigned int i;

	for (i = 0; i < run->scenario->n_loads; i++)
		compare_load(run, i, &figures);
	if (run->scenario->behaviour == LOAD_BREED)
		compare_name(run, LOAD_NAME_BRIEF, &figures);
	return figures;
}

/*
 * Of what the loads used: on a busy host all else may use ten times as much, beside which nothing
 * looks far off.
 */
static double permille(double part_nj, const struct figures *figures)
{
	return 1e3 * part_nj / (double)figures->true_nj;
}

static bool is_within_bounds(const struct scenario *scenario, const struct figures *figures)
{
	double worst_bound = scenario->worst_bound + meter->idle_bound;
	double total_bound = scenario->total_bound + meter->idle_bound;

	if (is_by_host) {
		worst_bound += HOST_WORST;
		total_bound += HOST_TOTAL;
	}
	return permille(figures->worst_nj, figures) <= worst_bound &&
	       permille(figures->sum_nj, figures) <= total_bound &&
	       !(figures->idle_error_permille > IDLE_BOUND);
}

static void show_figures(const struct scenario *scenario, const struct figures *figures)
{
	printf("| %-34s | %-7s | %7.3f | %7.3f | ", scenario->name, meter->name,
	       permille(figures->worst_nj, figures), permille(figures->sum_nj, figures));
	if (isnan(figures->idle_error_permille))
		printf("%7s |", "-");
	else
		printf("%7.3f |", figures->idle_error_permille);
	printf(" %.3f J of %.3f J%s\n", (double)figures->got_nj / 1e9,
	       (double)figures->true_nj / 1e9,
	       is_within_bounds(scenario, figures) ? "" : "  TOO FAR OFF");
	fflush(stdout);
}

static bool is_possible(const struct scenario *scenario)
{
	bool needs_two = scenario->behaviour == LOAD_MIGRATE || scenario->behaviour == LOAD_APART;

	return !needs_two || load_n_packages() > 1;
}

static bool try_scenario(const struct scenario *scenario)
{
	struct run run = { .scenario = scenario };
	struct figures figures;

	measure(&run);
	figures = compare_all(&run);
	end(&run);
	show_figures(scenario, &figures);
	return is_within_bounds(scenario, &figures);
}

/* Returns 1 if it is too far off. */
static int run_scenario(const struct scenario *scenario)
{
	int n_tries = is_by_host && !is_misled && !is_swapped ? HOST_TRIES : 1, i;

	for (i = 0; i < n_tries; i++)
		if (try_scenario(scenario))
			return 0;
	return 1;
}

static const struct meter *find_meter(const char *name)
{
	static const struct meter *const all[] = { &meter_library, &meter_command, &meter_module };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}

static int usage(void)
{
	fprintf(stderr, "usage: guest_truth [-pvwx] [-s TEXT] library|command|module\n"
			"  -p       the sensors of packages read each other's energy\n"
			"  -w       the clock is the host's: wider bounds, three tries\n"
			"  -s TEXT  only scenarios that have TEXT in their names\n"
			"  -x       let the meter attribute by something that says nothing\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *wanted = "";
	int failed = 0, n_run = 0, option;
	size_t i;

	while ((option = getopt(argc, argv, "ps:vwx")) != -1) {
		is_swapped |= option == 'p';
		is_verbose |= option == 'v';
		is_by_host |= option == 'w';
		if (option == 's')
			wanted = optarg;
		else if (option == 'x')
			is_misled = true;
		else if (option == '?')
			return usage();
	}
	if (is_misled)
		meter_mislead();
	meter = optind + 1 == argc ? find_meter(argv[optind]) : NULL;
	if (!meter)
		return usage();
	printf("in thousandths of what the loads used:\n");
	printf("| %-34s | %-7s | %7s | %7s | %7s |\n", "scenario", "meter", "worst", "all", "idle");
	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (!strstr(scenarios[i].name, wanted) || (scenarios[i].run_ms && !*wanted))
			continue;
		if (!is_possible(&scenarios[i])) {
			printf("| %-34s | not run: it needs two packages\n", scenarios[i].name);
			continue;
		}
		n_run++;
		failed += run_scenario(&scenarios[i]);
	}
	if (!n_run)
		fprintf(stderr, "guest_truth: no scenario of '%s' can be run here\n", wanted);
	return failed || !n_run;
}
