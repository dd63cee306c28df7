/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts at context switches on the running kernel, held against what is known of a load. Counters
 * are software ones where there is no PMU: the clock of each CPU counts as its cycles. Needs root;
 * says why and skips otherwise.
 */
#include "../unit/unit.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/activity/precise/precise.h"
#include "source/config/config.h"
#include "source/registry.h"

static struct watt_config config;
static struct watt_env env = { .config = &config };
static uint16_t slots[1024];
static struct watt_cpu_map map = { .slot = slots, .n_slots = 1 };
static const struct watt_precise_event clock_event = { PERF_TYPE_SOFTWARE,
						       PERF_COUNT_SW_CPU_CLOCK };
static char log_text[1024];

static void keep_log(void *data, enum watt_log_level level, const char *text)
{
	if (level <= WATT_LOG_WARNING)
		snprintf(log_text, sizeof(log_text), "%s", text);
	if (getenv("WATT_TEST_VERBOSE"))
		fprintf(stderr, "# %s\n", text);
}

static const char *why_not(void)
{
	static struct watt_diag diag;

	env.log.fn = keep_log;
	if (watt_root_open(&env.procfs, "/proc") < 0 || watt_root_open(&env.sysfs, "/sys") < 0)
		return "no /proc or /sys";
	map.n_cpus = WATT_MIN((uint32_t)sysconf(_SC_NPROCESSORS_CONF), 1024u);
	return watt_activity_precise.probe(&env, &diag) < 0 ? diag.why : NULL;
}

static void stay_on(uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Spins on a CPU, all the time or, when it naps, in turns. */
static pid_t start_load(uint32_t cpu, bool naps)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	stay_on(cpu);
	for (;;) {
		uint64_t end_ns = watt_now_ns() + 2 * WATT_NSEC_PER_MSEC;

		while (watt_now_ns() < end_ns)
			;
		if (naps)
			usleep(2000);
	}
}

/* Two that wake each other on a CPU: nothing but switches. */
static void start_pair(uint32_t cpu, pid_t *ret)
{
	int pipes[2][2], i;
	char ball = 0;

	for (i = 0; i < 2; i++)
		assert_int_equal(pipe(pipes[i]), 0);
	for (i = 0; i < 2; i++) {
		ret[i] = fork();
		if (ret[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		stay_on(cpu);
		while (read(pipes[i][0], &ball, 1) == 1)
			if (write(pipes[!i][1], &ball, 1) != 1)
				break;
		_exit(1);
	}
	assert_int_equal(write(pipes[0][1], &ball, 1), 1);
	for (i = 0; i < 2; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

static void stop_load(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static uint64_t cpu_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &time), 0);
	return watt_timespec_to_ns(&time);
}

/* On a busy machine it may not run at all for some time. */
static void let_run(pid_t pid, uint64_t ns)
{
	uint64_t end_ns = cpu_ns(pid) + ns;

	while (cpu_ns(pid) < end_ns)
		usleep(1000);
}

/* What a process has done of a kind, as far as a batch tells; false: it does not. */
static bool find(const struct watt_activity_batch *batch, pid_t pid, uint32_t kind, uint64_t *ret)
{
	bool has_any = false;
	size_t i;

	for (i = 0; i < batch->n_readings; i++) {
		const struct watt_activity *reading = &batch->readings[i];

		if (reading->pid != (uint32_t)pid || batch->places[reading->place].kind != kind)
			continue;
		*ret = (has_any ? *ret : 0) + reading->amount;
		has_any = true;
	}
	return has_any;
}

static struct watt_activity_source *open_as(const struct watt_precise_opts *opts)
{
	struct watt_activity_source *src = NULL;
	int r = watt_precise_open_as(&env, &map, opts, &src);

	if (r < 0)
		fail_msg("precise mode: %s", strerror(-r));
	return src;
}

static void read_all(struct watt_activity_source *src, struct watt_activity_batch *ret)
{
	assert_int_equal(src->ops->read(src, ret), 0);
}

/* What a process has done, and how long it had run just before that was read, and just after. */
struct look {
	uint64_t amount, before_ns, after_ns;
};

static void look_at(struct watt_activity_source *src, struct watt_activity_batch *batch,
		    const pid_t *pids, uint32_t kind, struct look *ret)
{
	int i;

	for (i = 0; i < 2; i++)
		ret[i].before_ns = cpu_ns(pids[i]);
	read_all(src, batch);
	for (i = 0; i < 2; i++) {
		ret[i].after_ns = cpu_ns(pids[i]);
		ret[i].amount = 0;
		find(batch, pids[i], kind, &ret[i].amount);
	}
}

/* Who reads may be stopped between the two, while they go on: the ratio is at least and at most this. */
struct ratio {
	double least, most;
};

static struct ratio divide(const struct look *begin, const struct look *end, const char *word)
{
	double amount = (double)(end->amount - begin->amount);
	struct ratio ratio;

	assert_true(end->amount > begin->amount && end->before_ns > begin->after_ns);
	ratio.least = amount / (double)(end->after_ns - begin->before_ns);
	ratio.most = amount / (double)(end->before_ns - begin->after_ns);
	if (getenv("WATT_TEST_VERBOSE"))
		fprintf(stderr, "# %s %.3f to %.3f of %.1f ms\n", word, ratio.least, ratio.most,
			(double)(end->before_ns - begin->after_ns) / 1e6);
	return ratio;
}

/*
 * A counter that counts ns of its CPU gives each task its own run time: to a part of it, as the
 * kernel's clocks and the host's theft differ.
 */
static void test_counters(void **state)
{
	const struct watt_precise_opts opts = { .cycles = &clock_event,
						.instructions = &clock_event };
	struct watt_activity_source *src = open_as(&opts);
	struct watt_activity_batch batch;
	pid_t pids[2] = { start_load(0, false), start_load(0, true) };
	struct look begin[2], end[2];
	uint64_t other = 0;
	int i;

	for (i = 0; i < 2; i++)
		let_run(pids[i], 10 * WATT_NSEC_PER_MSEC);
	look_at(src, &batch, pids, WATT_ACTIVITY_CYCLES, begin);
	usleep(500000);
	for (i = 0; i < 2; i++)
		let_run(pids[i], 10 * WATT_NSEC_PER_MSEC);
	look_at(src, &batch, pids, WATT_ACTIVITY_CYCLES, end);
	for (i = 0; i < 2; i++) {
		struct ratio ratio = divide(&begin[i], &end[i], "counted");

		assert_true(begin[i].amount > 0);
		assert_true(ratio.most > 0.9 && ratio.least < 1.15);
		/* the other counter is another one of the same clock */
		assert_true(find(&batch, pids[i], WATT_ACTIVITY_INSTRUCTIONS, &other));
		assert_true(other > end[i].amount / 10 * 9 && other < end[i].amount / 10 * 11);
	}
	for (i = 0; i < 2; i++)
		stop_load(pids[i]);
	src->ops->close(src);
}

/* Of a task that never stops, what it has done is told all the same, and so is a death. */
static void test_running_and_dead(void **state)
{
	const struct watt_precise_opts opts = { .cycles = &clock_event };
	struct watt_activity_source *src = open_as(&opts);
	struct watt_activity_batch batch;
	uint64_t first = 0, second = 0, last = 0;
	pid_t pid = start_load(map.n_cpus - 1, false);

	let_run(pid, 10 * WATT_NSEC_PER_MSEC);
	read_all(src, &batch);
	assert_true(find(&batch, pid, WATT_ACTIVITY_CYCLES, &first));
	let_run(pid, 20 * WATT_NSEC_PER_MSEC);
	read_all(src, &batch);
	assert_true(find(&batch, pid, WATT_ACTIVITY_CYCLES, &second));
	assert_true(second > first);
	let_run(pid, 10 * WATT_NSEC_PER_MSEC);
	stop_load(pid);
	read_all(src, &batch);
	assert_true(find(&batch, pid, WATT_ACTIVITY_CYCLES, &last));
	assert_true(last > second);
	read_all(src, &batch);
	assert_false(find(&batch, pid, WATT_ACTIVITY_CYCLES, &last));
	src->ops->close(src);
}

/* Beside a busy sibling all of its time is shared; beside one that naps half, roughly, as it is. */
static void test_siblings(void **state)
{
	const struct watt_precise_opts opts = { .is_paired = true };
	struct watt_activity_source *src;
	struct watt_activity_batch batch;
	struct look begin[2], end[2];
	struct ratio shared[2];
	pid_t pids[2];
	int i;

	if (map.n_cpus < 2)
		skip();
	src = open_as(&opts);
	pids[0] = start_load(0, false);
	pids[1] = start_load(1, true);
	for (i = 0; i < 2; i++)
		let_run(pids[i], 10 * WATT_NSEC_PER_MSEC);
	look_at(src, &batch, pids, WATT_ACTIVITY_SHARED_TIME, begin);
	usleep(500000);
	for (i = 0; i < 2; i++)
		let_run(pids[i], 10 * WATT_NSEC_PER_MSEC);
	look_at(src, &batch, pids, WATT_ACTIVITY_SHARED_TIME, end);
	for (i = 0; i < 2; i++) {
		shared[i] = divide(&begin[i], &end[i], "shared");
		assert_true(shared[i].least <= 1.15);
	}
	/* CPU 0 is never idle, and whoever naps runs beside it */
	assert_true(shared[1].most > 0.85);
	/* CPU 1 is idle for a part, unless others of this machine fill it */
	assert_true(shared[0].most > 0.2);
	for (i = 0; i < 2; i++)
		stop_load(pids[i]);
	src->ops->close(src);
}

/*
 * Who runs for microseconds at a time beside a busy sibling has it by his run time, and has no more of
 * it than that.
 */
static void test_short_turns(void **state)
{
	const struct watt_precise_opts opts = { .is_paired = true };
	struct watt_activity_source *src;
	struct watt_activity_batch batch;
	struct look begin[2], end[2];
	pid_t pids[2], spinner;
	int i;

	if (map.n_cpus < 2)
		skip();
	src = open_as(&opts);
	spinner = start_load(0, false);
	start_pair(1, pids);
	for (i = 0; i < 2; i++)
		let_run(pids[i], 10 * WATT_NSEC_PER_MSEC);
	look_at(src, &batch, pids, WATT_ACTIVITY_SHARED_TIME, begin);
	for (i = 0; i < 2; i++)
		let_run(pids[i], 100 * WATT_NSEC_PER_MSEC);
	look_at(src, &batch, pids, WATT_ACTIVITY_SHARED_TIME, end);
	for (i = 0; i < 2; i++) {
		struct ratio shared = divide(&begin[i], &end[i], "in short turns shared");

		assert_true(begin[i].amount > 0);
		/* an emulated CPU that is stopped now and then had 0.73 once */
		assert_true(shared.most > 0.5 && shared.least < 1.15);
	}
	for (i = 0; i < 2; i++)
		stop_load(pids[i]);
	stop_load(spinner);
	src->ops->close(src);
}

/* Places are few: who finds none is not counted, and that is said. */
static void test_no_room(void **state)
{
	const struct watt_precise_opts opts = { .cycles = &clock_event, .n_sets = 1 };
	struct watt_activity_source *src = open_as(&opts);
	struct watt_activity_batch batch;
	pid_t pids[8];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(pids); i++)
		pids[i] = start_load(0, true);
	for (i = 0; i < WATT_ARRAY_SIZE(pids); i++)
		let_run(pids[i], 5 * WATT_NSEC_PER_MSEC);
	log_text[0] = '\0';
	read_all(src, &batch);
	assert_non_null(strstr(log_text, "more tasks run than there are places for"));
	for (i = 0; i < WATT_ARRAY_SIZE(pids); i++)
		stop_load(pids[i]);
	src->ops->close(src);
}

/* What is missing is said, and no place tells of it. */
static void test_missing(void **state)
{
	static const struct watt_precise_event none = { PERF_TYPE_SOFTWARE, 0xffff };
	const struct watt_precise_opts opts = { .cycles = &clock_event, .instructions = &none };
	struct watt_activity_source *src;
	struct watt_activity_batch batch;
	size_t i;

	log_text[0] = '\0';
	src = open_as(&opts);
	assert_non_null(strstr(log_text, "no instructions"));
	read_all(src, &batch);
	for (i = 0; i < batch.n_places; i++)
		assert_int_not_equal(batch.places[i].kind, WATT_ACTIVITY_INSTRUCTIONS);
	src->ops->close(src);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters), cmocka_unit_test(test_running_and_dead),
		cmocka_unit_test(test_siblings), cmocka_unit_test(test_short_turns),
		cmocka_unit_test(test_no_room),  cmocka_unit_test(test_missing),
	};
	const char *why = why_not();

	if (why) {
		printf("SKIP %s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
