/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the library against the moving machine, while processes keep the real CPUs busy: through
 * wraps, a reset, a sensor that goes away and comes back, and one that comes back at zero.
 *
 * How far a total may be off is computed, not chosen. A reading at t shows what was true at most
 * `age` before, where age is the longest time between the instant that a value stands for and
 * its replacement, as the writer saw it. So the difference of two instants is off by at most
 *     counter: P_max * age + quantum + 1 uJ + 2 * bend
 *     power:   |change of P| summed up * age + rounding * time + curvature * step^2 / 12 * time
 *              + 2 * bend
 * where step is the longest time between two readings, and bend = slope * step^2 / 8 is what a
 * straight line between two readings misses. No term is for the library, but that it looks whether
 * files outside sysfs are gone only now and then: until the next look it reads what they said last.
 */
#include "../unit/unit.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <wattribute/wattribute.h>

#include "../options_of.h"
#include "base/fs.h"
#include "base/ring.h"
#include "machine.h"

#define MS WATT_NSEC_PER_MSEC
#define TICK_NS MS
#define PERIOD_NS (10 * MS)
#define PHASE_MS 1200
#define ABSENT_MS 300
/* How long a file that is gone is read at most: to the next look, by a clock with ticks of 10 ms. */
#define UNNOTICED_NS (WATT_ROOT_LOOK_NS + 10 * MS)
#define N_LOADS 2

enum action {
	ACTION_RESET,
	ACTION_REMOVE,
	ACTION_RETURN,
	ACTION_RESTART
};

/* Between the writer's process and the test. */
struct shared {
	struct watt_counter is_ending;
	struct watt_counter action, sensor, requested; /* written by the test */
	struct watt_counter served, served_ns;         /* written by the writer */
	struct watt_counter age_ns;
};

struct bench {
	char *dir;
	struct shared *shared;
	struct machine *truth;
	pid_t writer;
	pid_t loads[N_LOADS];
	struct watt_session *session;
	int domain[MACHINE_N_SENSORS];
	size_t channel[MACHINE_N_SENSORS];
	unsigned int warnings;
};

static struct bench bench;

/* ---- the writer ---- */

static void act(struct machine *machine, struct shared *shared)
{
	enum machine_sensor sensor = (enum machine_sensor)watt_counter_get(&shared->sensor);
	uint64_t t_ns = watt_now_ns();

	switch ((enum action)watt_counter_get(&shared->action)) {
	case ACTION_RESET:
		machine_reset(machine, sensor, t_ns);
		break;
	case ACTION_REMOVE:
		machine_remove(machine, sensor);
		t_ns = watt_now_ns(); /* until then it could be read */
		break;
	case ACTION_RESTART:
		machine_reset(machine, sensor, t_ns);
		machine_return(machine, sensor, t_ns);
		break;
	case ACTION_RETURN:
		machine_return(machine, sensor, t_ns);
		break;
	}
	watt_counter_set(&shared->served_ns, t_ns);
}

_Noreturn static void run_writer(struct machine *machine, struct shared *shared)
{
	struct sched_param param = { .sched_priority = 20 };
	uint64_t t_ns, now_ns, last_ns = watt_now_ns();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1);
	sched_setscheduler(0, SCHED_FIFO, &param);
	for (t_ns = watt_now_ns(); !watt_counter_get(&shared->is_ending); t_ns += TICK_NS) {
		struct timespec ts = watt_timespec_from_ns(t_ns);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		if (watt_counter_get(&shared->requested) != watt_counter_get(&shared->served)) {
			act(machine, shared);
			/* what it wrote is out before it is told */
			atomic_thread_fence(memory_order_release);
			watt_counter_add(&shared->served, 1);
		}
		now_ns = watt_now_ns();
		machine_write(machine, now_ns);
		watt_counter_raise(&shared->age_ns, watt_now_ns() - last_ns);
		last_ns = now_ns;
	}
	_exit(0);
}

/* Works and sleeps by turns, so that the machine is neither idle nor full. */
_Noreturn static void run_load(uint64_t busy_ns, uint64_t idle_ns)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		struct timespec ts = watt_timespec_from_ns(idle_ns);
		uint64_t until_ns = watt_now_ns() + busy_ns;

		while (watt_now_ns() < until_ns)
			;
		nanosleep(&ts, NULL);
	}
}

/* Returns when it was done. */
static uint64_t request(enum action action, enum machine_sensor sensor)
{
	struct shared *shared = bench.shared;

	watt_counter_set(&shared->action, (uint64_t)action);
	watt_counter_set(&shared->sensor, (uint64_t)sensor);
	atomic_thread_fence(memory_order_release);
	watt_counter_add(&shared->requested, 1);
	while (watt_counter_get(&shared->served) != watt_counter_get(&shared->requested))
		watt_session_wait(bench.session, 1);
	atomic_thread_fence(memory_order_acquire);
	return watt_counter_get(&shared->served_ns);
}

/* ---- set up ---- */

static void log_line(void *data, enum watt_log_level level, const char *text)
{
	if (level <= WATT_LOG_WARNING) {
		bench.warnings++;
		fprintf(stderr, "%s\n", text);
	}
}

static void find_channels(void)
{
	size_t i;
	int s;

	for (s = 0; s < MACHINE_N_SENSORS; s++) {
		const char *file = machine_get_model((enum machine_sensor)s)->file;

		bench.domain[s] = -1;
		for (i = 0; i < watt_session_get_channel_count(bench.session); i++) {
			const char *path = watt_session_get_channel(bench.session, i)->path;

			if (!path || !strstr(path, file))
				continue;
			bench.channel[s] = i;
			bench.domain[s] = watt_session_get_channel_domain(bench.session, i);
		}
		if (bench.domain[s] < 0)
			fail_msg("no domain is measured by %s", file);
	}
}

static void start_processes(void)
{
	size_t i;

	fflush(NULL);
	bench.writer = fork_child();
	if (bench.writer == 0)
		run_writer(bench.truth, bench.shared);
	for (i = 0; i < N_LOADS; i++) {
		bench.loads[i] = fork_child();
		if (bench.loads[i] == 0)
			run_load((3 + i) * MS, 9 * MS);
	}
}

static int set_up(void **state)
{
	struct watt_options *options = options_of("sources", "powercap,hwmon", NULL);

	bench.dir = strdup(access("/dev/shm", W_OK) == 0 ? "/dev/shm/watt-test-XXXXXX" :
							   "/tmp/watt-test-XXXXXX");
	assert_non_null(mkdtemp(bench.dir));
	bench.shared = mmap(NULL, sizeof(*bench.shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(bench.shared != MAP_FAILED);
	assert_int_equal(machine_new(bench.dir, watt_now_ns(), &bench.truth), 0);
	start_processes();
	assert_int_equal(watt_options_set_slice_ns(options, PERIOD_NS), 0);
	assert_int_equal(watt_options_set_period_ns(options, PERIOD_NS), 0);
	assert_int_equal(watt_options_set_sysfs_root(options, bench.dir), 0);
	watt_options_set_log(options, log_line, NULL);
	assert_int_equal(open_by(options, &bench.session), 0);
	find_channels();
	assert_int_equal(watt_session_start(bench.session), 0);
	return watt_session_wait(bench.session, 200);
}

static int tear_down(void **state)
{
	size_t i;

	bench.session = watt_session_close(bench.session);
	watt_counter_set(&bench.shared->is_ending, 1);
	for (i = 0; i < N_LOADS; i++) {
		kill(bench.loads[i], SIGKILL);
		waitpid(bench.loads[i], NULL, 0);
	}
	waitpid(bench.writer, NULL, 0);
	machine_free(bench.truth);
	munmap(bench.shared, sizeof(*bench.shared));
	scratch_remove(bench.dir);
	return 0;
}

/* ---- holding the totals against the truth ---- */

/* Where all sensors stood at one moment. */
struct mark {
	struct watt_snapshot *snap;
	const struct watt_domain_state *state[MACHINE_N_SENSORS];
	struct watt_reader_stats reader[MACHINE_N_SENSORS];
};

/* Waits until everything is attributed beyond after_ns. */
static struct mark take_mark(uint64_t after_ns)
{
	uint64_t give_up_ns = watt_now_ns() + 10 * WATT_NSEC_PER_SEC;
	struct mark mark;
	int s, behind;

	do {
		assert_true(watt_now_ns() < give_up_ns);
		assert_int_equal(watt_session_wait(bench.session, 50), 0);
		assert_int_equal(watt_session_snapshot(bench.session, &mark.snap), 0);
		for (s = 0, behind = 0; s < MACHINE_N_SENSORS; s++) {
			mark.state[s] =
				watt_snapshot_get_domain_state(mark.snap, (size_t)bench.domain[s]);
			behind += mark.state[s]->t_ns <= after_ns;
			mark.reader[s].sz = sizeof(mark.reader[s]);
			watt_session_get_reader_stats(bench.session, bench.channel[s],
						      &mark.reader[s]);
		}
		if (behind)
			watt_snapshot_unref(mark.snap);
	} while (behind);
	return mark;
}

/* The longest time between two readings, if nothing happened but lateness. */
static double step_s(const struct mark *a, const struct mark *b, int s)
{
	uint64_t missed = b->reader[s].missed - a->reader[s].missed;

	return (double)(b->reader[s].period_ns * (1 + missed) + b->reader[s].lateness_max_ns) / 1e9;
}

static double tolerance_j(const struct mark *a, const struct mark *b, int s, double age_s)
{
	const struct machine_model *model = machine_get_model((enum machine_sensor)s);
	double time_s = (double)(b->state[s]->t_ns - a->state[s]->t_ns) / 1e9;
	double step = step_s(a, b, s);
	double omega = 2 * M_PI / model->period_s;
	double bend_j = model->swing_w * omega * step * step / 8;
	double change_w;

	if (model->quantum_j > 0)
		return (model->mean_w + model->swing_w) * age_s + model->quantum_j + 1e-6 +
		       2 * bend_j;
	/* up and down by the swing, twice a period; and a tenth for voltage and current apart */
	change_w = 1.1 * model->swing_w * 4 * (time_s / model->period_s + 1);
	return change_w * age_s + model->error_w * time_s +
	       model->swing_w * omega * omega * step * step / 12 * time_s + 2 * bend_j;
}

/* Of a counter that went round more often than can be known. */
static double whole_turns_j(const struct machine_model *model, double lacking_j)
{
	double range_j = (double)(model->range_uj + 1) / 1e6;

	return fmax(round(lacking_j / range_j), 0) * range_j;
}

/*
 * Checks one sensor between two marks. Energy in (hidden0, hidden1] is allowed to be unknown, and
 * must be then: no sensor showed it. The readings around it may be a step away.
 */
static void check_sensor(const struct mark *a, const struct mark *b, int s, uint64_t hidden0_ns,
			 uint64_t hidden1_ns)
{
	const struct machine_model *model = machine_get_model((enum machine_sensor)s);
	double age_s = (double)watt_counter_get(&bench.shared->age_ns) / 1e9;
	double measured_j = (double)(watt_energy_to_nj(b->state[s]->energy) -
				     watt_energy_to_nj(a->state[s]->energy)) /
			    1e9;
	double true_j = machine_energy_j(bench.truth, (enum machine_sensor)s, a->state[s]->t_ns,
					 b->state[s]->t_ns);
	double allowed_j = tolerance_j(a, b, s, age_s);
	double gap_s = (double)(b->state[s]->gap_ns - a->state[s]->gap_ns) / 1e9;

	/* a reader that stood still so long itself knows that it can't know, and says so */
	if (b->state[s]->ambiguous > a->state[s]->ambiguous)
		true_j -= whole_turns_j(model, true_j - measured_j);
	if (hidden1_ns > hidden0_ns) {
		true_j -= machine_energy_j(bench.truth, (enum machine_sensor)s, hidden0_ns,
					   hidden1_ns);
		allowed_j += (model->mean_w + model->swing_w) *
			     (2 * (step_s(a, b, s) + age_s) + (double)UNNOTICED_NS / 1e9);
	} else if (model->quantum_j <= 0) {
		allowed_j += (model->mean_w + model->swing_w) * gap_s;
	}
	print_message("%-10s true %10.6f J, measured %10.6f J, off by %+.6f J, allowed %.6f J\n",
		      model->name, true_j, measured_j, measured_j - true_j, allowed_j);
	if (fabs(measured_j - true_j) > allowed_j)
		fail_msg("%s: off by %.6f J where %.6f J are allowed", model->name,
			 measured_j - true_j, allowed_j);
}

static void check_others(const struct mark *a, const struct mark *b, int but)
{
	int s;

	for (s = 0; s < MACHINE_N_SENSORS; s++)
		if (s != but)
			check_sensor(a, b, s, 0, 0);
}

static void drop_marks(struct mark *a, struct mark *b)
{
	watt_snapshot_unref(a->snap);
	watt_snapshot_unref(b->snap);
}

static void let_pass(uint32_t ms)
{
	assert_int_equal(watt_session_wait(bench.session, ms), 0);
}

/* ---- the tests: one after the other on the same session ---- */

static void test_wraps(void **state)
{
	struct mark a = take_mark(0), b;

	let_pass(PHASE_MS + 600);
	b = take_mark(a.state[0]->t_ns);
	check_others(&a, &b, -1);
	assert_true(b.state[MACHINE_PACKAGE_0]->wraps > a.state[MACHINE_PACKAGE_0]->wraps);
	assert_true(b.state[MACHINE_DRAM_0]->wraps > a.state[MACHINE_DRAM_0]->wraps);
	assert_int_equal(b.state[MACHINE_PACKAGE_1]->wraps, 0);
	assert_int_equal(b.state[MACHINE_PACKAGE_0]->resets, 0);
	drop_marks(&a, &b);
}

static void test_reset(void **state)
{
	const int s = MACHINE_PACKAGE_1;
	struct mark a = take_mark(0), b;
	uint64_t reset_ns;

	let_pass(PHASE_MS / 3);
	reset_ns = request(ACTION_RESET, MACHINE_PACKAGE_1);
	let_pass(PHASE_MS / 3);
	b = take_mark(reset_ns + 50 * MS);
	/* what it had counted since the reading before is lost, and nothing else */
	check_sensor(&a, &b, s, reset_ns - 1, reset_ns);
	check_others(&a, &b, s);
	assert_int_equal(b.state[s]->resets, a.state[s]->resets + 1);
	assert_int_equal(b.state[s]->wraps, 0);
	drop_marks(&a, &b);
}

/* What was hidden from gone_ns to back_ns is told as a gap, but for where nobody had looked yet. */
static void check_gap(const struct mark *a, const struct mark *b, int s, uint64_t gone_ns,
		      uint64_t back_ns)
{
	uint64_t gap_ns = b->state[s]->gap_ns - a->state[s]->gap_ns;

	assert_true(gap_ns + UNNOTICED_NS >= back_ns - gone_ns);
	assert_true(gap_ns <= b->state[s]->t_ns - a->state[s]->t_ns);
}

/* A counter that was away and had gone on: nothing is lost, its zone was only not to be seen. */
static void test_counter_comes_back(void **state)
{
	const int s = MACHINE_PACKAGE_0;
	struct mark a = take_mark(0), b;
	uint64_t back_ns;

	request(ACTION_REMOVE, MACHINE_PACKAGE_0);
	let_pass(ABSENT_MS);
	back_ns = request(ACTION_RETURN, MACHINE_PACKAGE_0);
	b = take_mark(back_ns + 100 * MS);
	check_others(&a, &b, -1);
	assert_true(b.state[s]->errors > a.state[s]->errors);
	assert_int_equal(b.state[s]->resets, a.state[s]->resets);
	assert_int_equal(b.state[s]->status, WATT_STATUS_OK);
	drop_marks(&a, &b);
}

/* A zone whose driver was unloaded and loaded again: it counts from zero. */
static void test_counter_restarts(void **state)
{
	const int s = MACHINE_PACKAGE_1;
	struct mark a = take_mark(0), b;
	uint64_t gone_ns, back_ns;

	let_pass(PHASE_MS / 3);
	gone_ns = request(ACTION_REMOVE, MACHINE_PACKAGE_1);
	let_pass(ABSENT_MS);
	back_ns = request(ACTION_RESTART, MACHINE_PACKAGE_1);
	b = take_mark(back_ns + 100 * MS);
	check_sensor(&a, &b, s, gone_ns, back_ns);
	check_others(&a, &b, s);
	assert_int_equal(b.state[s]->resets, a.state[s]->resets + 1);
	check_gap(&a, &b, s, gone_ns, back_ns);
	drop_marks(&a, &b);
}

/* Power that nobody saw is nobody's energy. */
static void test_power_comes_back(void **state)
{
	const int s = MACHINE_CARD;
	struct mark a = take_mark(0), b;
	uint64_t gone_ns, back_ns;

	gone_ns = request(ACTION_REMOVE, MACHINE_CARD);
	let_pass(ABSENT_MS);
	back_ns = request(ACTION_RETURN, MACHINE_CARD);
	b = take_mark(back_ns + 100 * MS);
	check_sensor(&a, &b, s, gone_ns, back_ns);
	check_others(&a, &b, s);
	check_gap(&a, &b, s, gone_ns, back_ns);
	drop_marks(&a, &b);
}

/* After all this everything is exact again. */
static void test_nothing_stays(void **state)
{
	struct mark a = take_mark(0), b;
	int s;

	let_pass(PHASE_MS);
	b = take_mark(a.state[0]->t_ns + PHASE_MS * MS / 2);
	check_others(&a, &b, -1);
	for (s = 0; s < MACHINE_N_SENSORS; s++) {
		assert_int_equal(b.state[s]->resets, a.state[s]->resets);
		assert_int_equal(b.state[s]->gap_ns, a.state[s]->gap_ns);
		assert_int_equal(b.state[s]->errors, a.state[s]->errors);
	}
	drop_marks(&a, &b);
}

/* Whatever the sensors did, every joule of them has an owner. */
static void test_conservation(void **state)
{
	struct mark mark = take_mark(0);
	size_t i;
	int s;

	assert_true(watt_snapshot_get_quality(mark.snap)->checks > 0);
	assert_int_equal(watt_snapshot_get_quality(mark.snap)->check_failures, 0);
	for (s = 0; s < MACHINE_N_SENSORS; s++) {
		int64_t sum_nj = watt_energy_to_nj(mark.state[s]->idle) +
				 watt_energy_to_nj(mark.state[s]->unattributed);

		for (i = 0; i < watt_snapshot_get_row_count(mark.snap); i++) {
			const struct watt_row *row = watt_snapshot_get_row(mark.snap, i);

			if (row->entity->kind <= WATT_ENTITY_SOFTIRQ ||
			    row->entity->kind == WATT_ENTITY_VM)
				sum_nj += watt_energy_to_nj(row->energy[bench.domain[s]]);
		}
		assert_true(sum_nj == watt_energy_to_nj(mark.state[s]->energy));
	}
	watt_snapshot_unref(mark.snap);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_counter_comes_back),
		cmocka_unit_test(test_counter_restarts),
		cmocka_unit_test(test_power_comes_back),
		cmocka_unit_test(test_nothing_stays),
		cmocka_unit_test(test_conservation),
	};

	return cmocka_run_group_tests_name("moving_machine", tests, set_up, tear_down);
}
