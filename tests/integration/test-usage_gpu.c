/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two activities beside each other: tasks of the running kernel, told by BPF on sweeps, and the
 * simulated GPU, told every 170 ms and 400 ms late. Each user of the GPU gets what it took of it, as
 * the GPU's twin knows; the CPUs' energy goes to who ran; all of it adds up; and the recording gives
 * the same bytes. Needs root; says why and skips otherwise.
 */
#include "../unit/unit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <wattribute/json.h>
#include <wattribute/wattribute.h>

#include "../options_of.h"
#include "base/clock.h"
#include "base/util.h"
#include "record/record.h"
#include "source/activity/bpf/bpf.h"
#include "source/config/config.h"
#include "source/synth/live.h"
#include "timeline/timeline.h"

#define MS WATT_NSEC_PER_MSEC
#define S WATT_NSEC_PER_SEC
#define WINDOW_NS (3 * S)
#define DEADLINE_MS 30000
/* The twin goes in whole us, and a session in ns: at most one us of all its power at each end. */
#define EDGES_NJ 1000000
#define TRIES 4
#define MAX_SNAPSHOTS 200
#define MAX_SWEEPS 20000

/* What was read of the GPU, and when was swept, as the recording has it. */
struct told {
	struct watt_timeline *readings;
	size_t gpu; /* its channel */
	uint64_t sweeps_ns[MAX_SWEEPS];
	size_t n_sweeps;
	uint64_t epoch_ns; /* of the GPU: the first that is told of who used it */
};

static char *texts[MAX_SNAPSHOTS];
static size_t n_texts;
static struct told told;

static const char *why_not(void)
{
	static const struct watt_config config;
	static struct watt_env env = { .config = &config,
				       .sysfs = WATT_ROOT_INIT,
				       .procfs = WATT_ROOT_INIT };
	static char why[600];
	struct watt_diag diag = { 0 };
	int r;

	if (watt_root_open(&env.procfs, "/proc") < 0)
		return "no /proc";
	r = watt_activity_bpf.probe(&env, &diag);
	watt_root_close(&env.procfs);
	snprintf(why, sizeof(why), "%s; %s", diag.why, diag.hint);
	return r < 0 ? why : NULL;
}

static size_t domain_of(const struct watt_snapshot *snap, enum watt_domain_kind kind)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_domain_count(snap); i++)
		if (watt_snapshot_get_domain(snap, i)->kind == kind)
			return i;
	fail();
	return 0;
}

static void keep_text(const struct watt_snapshot *snap)
{
	assert_true(n_texts < MAX_SNAPSHOTS);
	assert_int_equal(watt_snapshot_to_json(snap, 0, &texts[n_texts++]), 0);
}

/* ---- live ---- */

static bool is_leaf(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_PROCESS || kind == WATT_ENTITY_KTHREAD ||
	       kind == WATT_ENTITY_EXITED || kind == WATT_ENTITY_IRQ ||
	       kind == WATT_ENTITY_SOFTIRQ || kind == WATT_ENTITY_VM;
}

/* Every domain is the sum of what its parts got, and the checks that are always made say so. */
static void check_sums(const struct watt_snapshot *snap)
{
	const struct watt_quality *quality = watt_snapshot_get_quality(snap);
	size_t d, i;

	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);
		int64_t sum_nj = s->window_idle_nj + s->window_unattributed_nj;

		for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
			const struct watt_row *row = watt_snapshot_get_row(snap, i);

			if (is_leaf(row->entity->kind))
				sum_nj += row->window_nj[d];
		}
		assert_int_equal(sum_nj, s->window_nj);
	}
	assert_true(quality->checks > 0);
	assert_int_equal(quality->check_failures, 0);
	assert_int_equal(quality->sum_failures, 0);
}

static struct watt_snapshot *take(struct watt_session *ses, uint64_t t_ns)
{
	struct watt_snapshot *snap;

	assert_int_equal(watt_session_snapshot_at(ses, t_ns, DEADLINE_MS, &snap), 0);
	keep_text(snap);
	check_sums(snap);
	return snap;
}

static bool is_shared(const struct watt_snapshot *snap)
{
	return watt_snapshot_get_domain_state(snap, domain_of(snap, WATT_DOMAIN_GPU))->key ==
	       WATT_KEY_GPU_TIME;
}

/* The window that is judged: it begins when those on the GPU are told of. */
static struct watt_snapshot *run(struct watt_session *ses)
{
	uint64_t deadline_ns = watt_now_ns() + DEADLINE_MS * MS, t_ns = 0;
	struct watt_snapshot *snap;
	bool is_ready = false;

	while (!is_ready) {
		assert_true(watt_now_ns() < deadline_ns);
		snap = take(ses, watt_now_ns() + 200 * MS);
		is_ready = is_shared(snap);
		t_ns = watt_snapshot_get_time_ns(snap);
		watt_snapshot_unref(snap);
	}
	return take(ses, t_ns + WINDOW_NS);
}

static int64_t energy_of(const struct watt_snapshot *snap, size_t domain, pid_t pid)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (row->entity->kind == WATT_ENTITY_PROCESS &&
		    row->entity->identity->pid == (uint32_t)pid)
			return row->window_nj[domain];
	}
	fail_msg("process %d is not in the snapshot", (int)pid);
	return 0;
}

/* ---- the truth ---- */

static void take_op(const struct watt_op *op)
{
	size_t i;

	if (op->kind == WATT_OP_ACTIVITY && !told.epoch_ns && op->activity.n_readings)
		told.epoch_ns = op->activity.readings[0].t_ns;
	for (i = 0; op->kind == WATT_OP_SAMPLES && i < op->samples.n; i++)
		assert_true(watt_timeline_push(told.readings, &op->samples.list[i]) >= 0);
	if (op->kind == WATT_OP_USAGE) {
		assert_true(told.n_sweeps < MAX_SWEEPS);
		told.sweeps_ns[told.n_sweeps++] =
			op->usage.t_before_ns + (op->usage.t_after_ns - op->usage.t_before_ns) / 2;
	}
}

static void read_told(struct watt_recording *rec)
{
	size_t n = watt_recording_get_channel_count(rec);
	const struct watt_channel **channels = calloc(n, sizeof(*channels));
	struct watt_op op;

	told = (struct told){ .gpu = n };
	assert_non_null(channels);
	for (size_t i = 0; i < n; i++) {
		channels[i] = watt_recording_get_channel(rec, i);
		if (!strcmp(channels[i]->source, "synth_gpu"))
			told.gpu = i;
	}
	assert_true(told.gpu < n);
	assert_int_equal(watt_timeline_new(channels, n, &told.readings), 0);
	while (watt_recording_next_op(rec, &op) == 0)
		take_op(&op);
	assert_true(told.epoch_ns > 0);
	free(channels);
}

/* What readings say that it took until t_ns, less what it did: between two of them, its power may
 * change, and nobody who reads it knows when. */
static int64_t error_nj(const struct watt_synth_gpu *gpu, uint64_t t_ns)
{
	struct watt_curve_stats stats;
	watt_i128 read_nj;

	watt_timeline_get_stats(told.readings, told.gpu, &stats);
	assert_int_equal(watt_timeline_energy_nj(told.readings, told.gpu, t_ns, &read_nj), 0);
	return (int64_t)read_nj - (watt_synth_gpu_energy_nj(gpu, t_ns) -
				   watt_synth_gpu_energy_nj(gpu, stats.first_ns));
}

/* By how much what anybody got of the window may differ from the truth: no more than its slices'
 * energies do, which are exact where no power changes at their ends. */
static int64_t allowed_nj(const struct watt_synth_gpu *gpu, uint64_t t0_ns, uint64_t t1_ns)
{
	int64_t sum_nj = EDGES_NJ;
	size_t n = 0;

	for (size_t i = 0; i < told.n_sweeps; i++) {
		if (told.sweeps_ns[i] < t0_ns || told.sweeps_ns[i] > t1_ns)
			continue;
		sum_nj += 2 * llabs(error_nj(gpu, told.sweeps_ns[i])) + 2;
		n++;
	}
	assert_true(n >= 2);
	return sum_nj;
}

static int64_t took_nj(const struct watt_synth_gpu *gpu, uint32_t user, uint64_t t0_ns,
		       uint64_t t1_ns)
{
	return (int64_t)((watt_synth_gpu_time_ns(gpu, user, t1_ns) -
			  watt_synth_gpu_time_ns(gpu, user, t0_ns)) *
			 gpu->opts.busy_w);
}

static void assert_took(const char *who, int64_t got_nj, int64_t truth_nj, int64_t most_nj)
{
	fprintf(stderr, "%s: %.6f J, truth %.6f J, at most %.6f J apart\n", who,
		(double)got_nj / 1e9, (double)truth_nj / 1e9, (double)most_nj / 1e9);
	assert_true(truth_nj > 0);
	assert_true(llabs(got_nj - truth_nj) <= most_nj);
}

/*
 * The first two users are this process and its parent; the others are on no machine. False: the host
 * stopped this machine for so long that slices were given up before their users were told of, which
 * has their energy unattributed, and nobody gets what is another's.
 */
static bool check_gpu(const struct watt_snapshot *snap)
{
	size_t d = domain_of(snap, WATT_DOMAIN_GPU);
	const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);
	uint64_t t1_ns = s->t_ns, t0_ns = t1_ns - s->window_ns;
	struct watt_env env = { .epoch_ns = told.epoch_ns };
	struct watt_synth_gpu gpu;
	int64_t most_nj, nobody_nj;
	bool is_whole;

	watt_synth_live_gpu(&env, &gpu);
	assert_int_equal(watt_synth_gpu_run(&gpu, t1_ns + S), 0);
	most_nj = allowed_nj(&gpu, t0_ns, t1_ns);
	assert_int_equal(s->key, WATT_KEY_GPU_TIME);
	assert_true(s->window_ns >= WINDOW_NS);
	nobody_nj = took_nj(&gpu, 2, t0_ns, t1_ns) + took_nj(&gpu, 3, t0_ns, t1_ns);
	is_whole = s->window_unattributed_nj <= nobody_nj + most_nj;
	if (is_whole) {
		assert_took("this process", energy_of(snap, d, getpid()),
			    took_nj(&gpu, 0, t0_ns, t1_ns), most_nj);
		assert_took("its parent", energy_of(snap, d, getppid()),
			    took_nj(&gpu, 1, t0_ns, t1_ns), most_nj);
		assert_took("nobody", s->window_unattributed_nj, nobody_nj, most_nj);
		assert_took("idle", s->window_idle_nj, (int64_t)(s->window_ns * gpu.opts.idle_w),
			    most_nj);
	} else {
		fprintf(stderr, "too late: %.6f J unattributed, truth %.6f J\n",
			(double)s->window_unattributed_nj / 1e9, (double)nobody_nj / 1e9);
		assert_true(energy_of(snap, d, getpid()) <=
			    took_nj(&gpu, 0, t0_ns, t1_ns) + most_nj);
		assert_true(energy_of(snap, d, getppid()) <=
			    took_nj(&gpu, 1, t0_ns, t1_ns) + most_nj);
	}
	watt_synth_gpu_done(&gpu);
	return is_whole;
}

/* Beside it: the CPUs' energy by what BPF tells, of whichever package they ran on; and who never had
 * the GPU has none of it. */
static void check_cpus(const struct watt_snapshot *snap, pid_t burner)
{
	int64_t sum_nj = 0;

	for (size_t d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);

		if (watt_snapshot_get_domain(snap, d)->kind != WATT_DOMAIN_PACKAGE)
			continue;
		assert_int_equal(s->key, WATT_KEY_CPU_TIME);
		sum_nj += energy_of(snap, d, burner);
	}
	assert_true(sum_nj > 0);
	assert_int_equal(energy_of(snap, domain_of(snap, WATT_DOMAIN_GPU), burner), 0);
}

/* ---- both ---- */

static void check_replay(const char *path)
{
	struct watt_session *ses;
	struct watt_snapshot *snap;
	char *text;

	assert_int_equal(watt_session_open_recording(path, NULL, &ses), 0);
	for (size_t i = 0; i < n_texts; i++) {
		assert_int_equal(watt_session_next_snapshot(ses, &snap), 0);
		assert_int_equal(watt_snapshot_to_json(snap, 0, &text), 0);
		assert_string_equal(text, texts[i]);
		check_sums(snap);
		watt_snapshot_unref(snap);
		free(text);
		free(texts[i]);
	}
	assert_int_equal(watt_session_next_snapshot(ses, &snap), 1);
	watt_session_close(ses);
	n_texts = 0;
}

static pid_t burn(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		uint64_t end_ns = watt_clock_ns(CLOCK_THREAD_CPUTIME_ID) + 5 * MS;

		while (watt_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
			;
		usleep(5000);
	}
}

/* Whether it could be seen. */
static bool try_beside(void)
{
	char *dir = scratch_new(), path[256];
	struct watt_recording *rec;
	struct watt_session *ses;
	struct watt_snapshot *snap;
	pid_t burner = burn();
	bool is_whole;

	snprintf(path, sizeof(path), "%s/gpu.watt", dir);
	/* What is learned of a program may be that it takes nothing. */
	assert_int_equal(open_by(options_of("sources", "synth,synth_gpu", "usage", "bpf", "slice",
					    "20ms", "share-key", "auto,package=cpu_time", NULL),
				 &ses),
			 0);
	assert_string_equal(watt_session_get_usage_name(ses), "bpf");
	assert_int_equal(watt_session_record(ses, path, NULL), 0);
	assert_int_equal(watt_session_start(ses), 0);
	snap = run(ses);
	watt_session_close(ses);
	kill(burner, SIGKILL);
	assert_int_equal(waitpid(burner, NULL, 0), burner);
	assert_int_equal(watt_recording_open(path, NULL, NULL, &rec), 0);
	read_told(rec);
	is_whole = check_gpu(snap);
	if (is_whole)
		check_cpus(snap, burner);
	watt_timeline_free(told.readings);
	watt_recording_close(rec);
	watt_snapshot_unref(snap);
	check_replay(path);
	scratch_remove(dir);
	return is_whole;
}

static void test_beside(void **state)
{
	bool is_seen = false;

	for (int i = 0; i < TRIES && !is_seen; i++)
		is_seen = try_beside();
	assert_true(is_seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_beside) };
	const char *why = why_not();

	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
