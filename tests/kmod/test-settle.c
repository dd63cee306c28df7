/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmod/settle.c: CPU time of threads that move between packages while they are read. A machine of
 * two packages is simulated, with a sampler that sees moves halfway.
 */
#include "../unit/unit.h"

#include "process.h"
#include "settle.h"

#define N_UNITS 2
#define N_THREADS 4
#define MS 1000000ULL
#define HOUR (3600000 * MS)

struct machine {
	struct watt_process *process;
	s64 base_ns[N_UNITS];
	u64 ran_ns[N_THREADS];
	u64 freed_ns; /* what threads ran that are freed */
	unsigned int at[N_THREADS];
	u64 truth_ns[N_UNITS]; /* since the first sample */
	u64 given_ns[N_UNITS];
	bool has_moved;
};

static void start(struct machine *machine, u64 before_ns)
{
	unsigned int i;

	*machine = (struct machine){ 0 };
	machine->process =
		calloc(1, sizeof(struct watt_process) + N_UNITS * sizeof(struct watt_part));
	assert_non_null(machine->process);
	for (i = 0; i < N_THREADS; i++)
		machine->ran_ns[i] = before_ns;
}

static void run(struct machine *machine, unsigned int thread, u64 ns)
{
	machine->ran_ns[thread] += ns;
	machine->truth_ns[machine->at[thread]] += ns;
}

/* The two halves of a move: what the hook notes, and when the thread is where it went. */
static void leave(struct machine *machine, unsigned int thread, unsigned int to)
{
	machine->base_ns[machine->at[thread]] += machine->ran_ns[thread];
	machine->base_ns[to] -= machine->ran_ns[thread];
	machine->has_moved = true;
}

static void arrive(struct machine *machine, unsigned int thread, unsigned int to)
{
	machine->at[thread] = to;
}

static u64 see(struct machine *machine)
{
	struct watt_part *parts = machine->process->parts;
	u64 run_ns = machine->freed_ns;
	unsigned int i;

	for (i = 0; i < N_UNITS; i++)
		parts[i].delta_ns = (u64)machine->base_ns[i];
	for (i = 0; i < N_THREADS; i++) {
		parts[machine->at[i]].delta_ns += machine->ran_ns[i];
		run_ns += machine->ran_ns[i];
	}
	return run_ns;
}

static void begin(struct machine *machine)
{
	watt_settle_begin(machine->process, N_UNITS, see(machine));
	machine->has_moved = false;
}

static enum watt_settled sample(struct machine *machine)
{
	enum watt_settled settled;
	unsigned int i;

	settled = watt_settle(machine->process, N_UNITS, see(machine), !machine->has_moved);
	machine->has_moved = false;
	for (i = 0; i < N_UNITS; i++)
		machine->given_ns[i] += machine->process->parts[i].delta_ns;
	return settled;
}

static u64 sum(const u64 *ns)
{
	return ns[0] + ns[1];
}

static void test_plain(void **state)
{
	struct machine machine;

	start(&machine, HOUR);
	begin(&machine);
	run(&machine, 0, 7 * MS);
	leave(&machine, 0, 1);
	arrive(&machine, 0, 1);
	run(&machine, 0, 5 * MS);
	assert_int_equal(sample(&machine), WATT_SETTLED);
	assert_int_equal(machine.given_ns[0], 7 * MS);
	assert_int_equal(machine.given_ns[1], 5 * MS);
	assert_int_equal(sample(&machine), WATT_SETTLED);
	assert_int_equal(sum(machine.given_ns), 12 * MS);
	free(machine.process);
}

/* Seen between the two halves, with an hour or less behind it: no time is lost, and none invented. */
static void check_halfway(u64 before_ns)
{
	struct machine machine;
	unsigned int i;

	start(&machine, before_ns);
	begin(&machine);
	for (i = 0; i < 600; i++) {
		unsigned int to = !machine.at[0];
		u64 given_ns = sum(machine.given_ns);

		run(&machine, 0, 90 * MS);
		run(&machine, 1, 10 * MS);
		if (i % 10 == 3)
			leave(&machine, 0, to);
		sample(&machine);
		assert_int_equal(sum(machine.given_ns) - given_ns, 100 * MS);
		if (i % 10 == 3)
			arrive(&machine, 0, to);
	}
	for (i = 0; i < N_UNITS; i++) {
		s64 error_ns = (s64)(machine.given_ns[i] - machine.truth_ns[i]);

		/* one sample's, at most */
		assert_in_range(error_ns + (s64)(100 * MS), 0, 200 * MS);
	}
	free(machine.process);
}

static void test_halfway(void **state)
{
	check_halfway(HOUR);
	check_halfway(25000 * MS);
	check_halfway(50 * MS);
	check_halfway(0);
}

/* The first reading was halfway: a package must not wait for an hour until it has its time. */
static void test_begins_halfway(void **state)
{
	struct machine machine;
	unsigned int i;

	start(&machine, HOUR);
	leave(&machine, 0, 1);
	begin(&machine);
	arrive(&machine, 0, 1);
	for (i = 0; i < 10; i++) {
		run(&machine, 0, 60 * MS);
		run(&machine, 1, 40 * MS);
		sample(&machine);
	}
	assert_int_equal(sum(machine.given_ns), 1000 * MS);
	assert_in_range(machine.given_ns[0], 300 * MS, 400 * MS);
	free(machine.process);
}

/* A thread that nobody noted when it exited is away until it is freed: its time comes back then. */
static void test_held(void **state)
{
	struct machine machine;
	u64 away_ns;

	start(&machine, 500 * MS);
	begin(&machine);
	run(&machine, 0, 10 * MS);
	run(&machine, 1, 10 * MS);
	assert_int_equal(sample(&machine), WATT_SETTLED);
	away_ns = machine.ran_ns[0];
	machine.ran_ns[0] = 0;
	run(&machine, 1, 10 * MS);
	assert_int_equal(sample(&machine), WATT_SETTLED_HELD);
	assert_int_equal(sum(machine.given_ns), 20 * MS);
	machine.base_ns[0] += (s64)away_ns;
	machine.freed_ns += away_ns;
	assert_int_equal(sample(&machine), WATT_SETTLED);
	assert_int_equal(sum(machine.given_ns), 30 * MS);
	assert_int_equal(machine.given_ns[0], 30 * MS);
	free(machine.process);
}

/* Nowhere, for a sample: it is given when it is somewhere. */
static void test_nowhere(void **state)
{
	struct machine machine;

	start(&machine, HOUR);
	begin(&machine);
	run(&machine, 0, 10 * MS);
	machine.base_ns[0] -= (s64)HOUR;
	assert_int_equal(sample(&machine), WATT_SETTLED_HELD);
	assert_int_equal(sum(machine.given_ns), 0);
	machine.base_ns[0] += (s64)HOUR;
	assert_int_equal(sample(&machine), WATT_SETTLED);
	assert_int_equal(machine.given_ns[0], 10 * MS);
	free(machine.process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),          cmocka_unit_test(test_halfway),
		cmocka_unit_test(test_begins_halfway), cmocka_unit_test(test_held),
		cmocka_unit_test(test_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
