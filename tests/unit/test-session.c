/* SPDX-License-Identifier: Apache-2.0 */
/* lib/session.c by the public interface alone, on the simulated machine. */
#include "unit.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <wattribute/wattribute.h>

#include "../options_of.h"

static struct watt_options *synth_options(void)
{
	return options_of("sources", "synth", "usage", "synth", "slice", "10ms", NULL);
}

static struct watt_session *open_synth(void)
{
	struct watt_session *ses = NULL;

	assert_int_equal(open_by(synth_options(), &ses), 0);
	assert_non_null(ses);
	return ses;
}

static struct watt_session *open_driven(void)
{
	struct watt_options *options = synth_options();
	struct watt_session *ses = NULL;

	watt_options_set_driven(options, 1);
	assert_int_equal(open_by(options, &ses), 0);
	return ses;
}

static void test_refuses_bad_options(void **state)
{
	struct watt_options *options = synth_options();
	struct watt_session *const none = (struct watt_session *)&none;
	struct watt_session *ses = none;

	assert_int_equal(watt_session_open(options, NULL), -EINVAL);
	assert_int_equal(watt_options_set(options, "share-key", "nowhere=none"), 0);
	assert_int_equal(watt_session_open(options, &ses), -ENOENT);
	watt_options_free(options);
	options = synth_options();
	assert_int_equal(watt_options_set(options, "sensor-delay", "nowhere=1"), 0);
	assert_int_equal(open_by(options, &ses), -ENOENT);
	options = synth_options();
	assert_int_equal(watt_options_set(options, "rate", "hwmon=1"), 0);
	assert_int_equal(open_by(options, &ses), -ENOENT);
	assert_int_equal(open_by(options_of("sources", "synth", "sysfs-root", "/nowhere", NULL),
				 &ses),
			 -ENOENT);
	assert_ptr_equal(ses, none);
	assert_null(watt_session_close(NULL));
}

static void test_out_of_range(void **state)
{
	char host[65];
	struct watt_session *ses = open_synth();
	size_t n_channels = watt_session_get_channel_count(ses);
	size_t n_domains = watt_session_get_domain_count(ses);
	struct watt_reader_stats stats = { .sz = sizeof(stats) };
	struct watt_tier_stats tier = { .sz = sizeof(tier) };
	struct watt_sample sample;
	int64_t difference_ppm;
	uint64_t id;

	assert_true(n_channels > 0 && n_domains > 0);
	assert_non_null(watt_session_get_channel(ses, n_channels - 1));
	assert_null(watt_session_get_channel(ses, n_channels));
	assert_null(watt_session_get_domain(ses, n_domains));
	assert_int_equal(watt_session_get_channel_domain(ses, n_channels), -1);
	assert_int_equal(watt_session_channel_is_duplicate(ses, n_channels), 0);
	assert_int_equal(watt_session_get_crosscheck(ses, n_channels, &difference_ppm), -EINVAL);
	assert_int_equal(watt_session_get_sample(ses, n_channels, &sample), -EINVAL);
	assert_int_equal(watt_session_get_sample(ses, 0, &sample), -ENODATA); /* not started */
	assert_int_equal(watt_session_get_reader_stats(ses, n_channels, &stats), -EINVAL);
	assert_int_equal(watt_session_get_tier_stats(ses, (enum watt_tier)3, &tier), -EINVAL);
	assert_int_equal(watt_session_get_tier_stats(ses, WATT_TIER_SLOW, &tier), 0);
	assert_int_equal(tier.reads, 0);
	assert_int_equal(watt_session_dispatch(ses), 0); /* nothing was done */
	assert_int_equal(watt_session_start(ses), 0);
	assert_int_equal(watt_session_start(ses), -EALREADY);
	assert_int_equal(watt_session_get_sample(ses, 0, &sample), 0);
	assert_int_equal(watt_session_track(ses, UINT32_MAX, &id), -ESRCH);
	assert_string_equal(watt_session_get_usage_name(ses), "synth");
	assert_int_equal(gethostname(host, sizeof(host)), 0);
	assert_string_equal(watt_session_get_host(ses), host);
	watt_session_close(ses);
}

/* A set comes, and is gone when it was seen to its end; others are not touched. */
static void test_tracks_and_untracks(void **state)
{
	struct watt_session *ses = open_synth();
	const struct watt_row *row = NULL;
	struct watt_snapshot *snap = NULL;
	uint64_t id = 0;
	uint32_t pid;
	size_t i;

	assert_int_equal(watt_session_start(ses), 0);
	assert_int_equal(watt_session_untrack(ses, 1), -ENOENT);
	assert_true(watt_session_flush(ses, 30000) >= 0);
	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	for (i = 0; (row = watt_snapshot_get_row(snap, i)); i++)
		if (row->entity->kind == WATT_ENTITY_PROCESS && row->entity->alive)
			break;
	assert_non_null(row);
	assert_int_equal(watt_session_untrack(ses, row->entity->id), -ENOENT);
	pid = row->entity->identity->pid;
	watt_snapshot_unref(snap);
	assert_int_equal(watt_session_track(ses, pid, &id), 0);
	assert_int_equal(watt_session_track(ses, pid, &id), -EBUSY);
	assert_int_equal(watt_session_untrack(ses, id), 0);
	assert_int_equal(watt_session_untrack(ses, id), -ENOENT);
	assert_int_equal(watt_session_track(ses, pid, &id), 0);
	watt_session_close(ses);
}

static bool is_leaf(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_PROCESS || kind == WATT_ENTITY_KTHREAD ||
	       kind == WATT_ENTITY_VM || kind == WATT_ENTITY_EXITED || kind == WATT_ENTITY_IRQ ||
	       kind == WATT_ENTITY_SOFTIRQ;
}

/* All that a domain used, in total and in the window, is somebody's; windows begin where the last
 * one ended. */
static void check_snapshot(const struct watt_snapshot *last, const struct watt_snapshot *snap)
{
	size_t n_rows = watt_snapshot_get_row_count(snap), d, i;

	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(snap)->sum_failures, 0);
	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);
		int64_t all_nj = watt_energy_to_nj(s->idle) + watt_energy_to_nj(s->unattributed);
		int64_t window_nj = s->window_idle_nj + s->window_unattributed_nj;

		for (i = 0; i < n_rows; i++) {
			const struct watt_row *row = watt_snapshot_get_row(snap, i);

			all_nj += is_leaf(row->entity->kind) ? watt_energy_to_nj(row->energy[d]) :
							       0;
			window_nj += is_leaf(row->entity->kind) ? row->window_nj[d] : 0;
		}
		assert_int_equal(all_nj, watt_energy_to_nj(s->energy));
		assert_int_equal(window_nj, s->window_nj);
		assert_int_equal(
			watt_energy_to_nj(s->energy) - s->window_nj,
			last ? watt_energy_to_nj(watt_snapshot_get_domain_state(last, d)->energy) :
			       0);
	}
}

static void test_measures(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_snapshot *snaps[3] = { NULL };
	uint64_t cpu_ns = 0;
	int64_t energy_nj = 0;
	size_t i;

	assert_int_equal(watt_session_start(ses), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(watt_session_wait(ses, 100), 0);
		assert_int_equal(watt_session_flush(ses, 10000), 0);
		assert_int_equal(watt_session_snapshot(ses, &snaps[i]), 0);
		check_snapshot(i ? snaps[i - 1] : NULL, snaps[i]);
		assert_int_equal(watt_snapshot_get_sequence(snaps[i]), i + 1);
		if (i)
			assert_int_equal(watt_snapshot_get_window_start_ns(snaps[i]),
					 watt_snapshot_get_time_ns(snaps[i - 1]));
	}
	watt_session_close(ses); /* snapshots outlive it */
	for (i = 0; i < watt_snapshot_get_row_count(snaps[2]); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snaps[2], i);

		assert_ptr_equal(watt_snapshot_find_row(snaps[2], row->entity->id), row);
		assert_non_null(row->entity->name);
		cpu_ns += is_leaf(row->entity->kind) ? row->cpu_ns : 0;
		energy_nj += is_leaf(row->entity->kind) ? watt_energy_to_nj(row->total) : 0;
	}
	assert_true(cpu_ns > 0 && energy_nj > 0);
	assert_null(watt_snapshot_get_row(snaps[2], watt_snapshot_get_row_count(snaps[2])));
	assert_null(watt_snapshot_get_domain(snaps[2], watt_snapshot_get_domain_count(snaps[2])));
	assert_null(watt_snapshot_find_row(snaps[2], UINT64_MAX));
	for (i = 0; i < 3; i++)
		watt_snapshot_unref(snaps[i]);
}

/* Before the start there is nothing to tell, and that is no error. */
static void test_snapshot_before_start(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_snapshot *snap = NULL;
	size_t d;

	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		assert_int_equal(watt_snapshot_get_domain_state(snap, d)->status,
				 WATT_STATUS_PENDING);
		assert_int_equal(watt_energy_to_nj(watt_snapshot_get_domain_state(snap, d)->energy),
				 0);
	}
	check_snapshot(NULL, snap);
	watt_snapshot_unref(snap);
	watt_session_close(ses);
}

/* Windows between snapshots at times meet without a gap and add up to the whole, in every domain. */
static void test_snapshots_at_times(void **state)
{
	struct watt_session *ses = open_synth();
	size_t n = watt_session_get_domain_count(ses), d;
	struct watt_snapshot *snap = NULL;
	uint64_t t_ns, end_ns = 0;
	int64_t sum_nj[16] = { 0 };
	int i;

	assert_in_range(n, 1, 16);
	assert_int_equal(watt_session_start(ses), 0);
	t_ns = watt_session_get_time_ns(ses);
	assert_int_equal(watt_session_snapshot_at(ses, t_ns + 3600000000000ULL, 0, &snap),
			 -ETIMEDOUT);
	for (i = 1; i <= 5; i++) {
		assert_int_equal(watt_session_snapshot_at(ses, t_ns + (uint64_t)i * 25000000, 60000,
							  &snap),
				 0);
		assert_true(watt_snapshot_get_time_ns(snap) >= t_ns + (uint64_t)i * 25000000);
		if (end_ns)
			assert_int_equal(watt_snapshot_get_window_start_ns(snap), end_ns);
		end_ns = watt_snapshot_get_time_ns(snap);
		for (d = 0; d < n; d++) {
			const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);

			sum_nj[d] += s->window_nj;
			assert_int_equal(sum_nj[d], watt_energy_to_nj(s->energy));
			if (s->status == WATT_STATUS_OK)
				assert_int_equal(s->t_ns, end_ns);
		}
		assert_null(watt_snapshot_get_phase(snap));
		assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
		assert_int_equal(watt_snapshot_get_quality(snap)->sum_failures, 0);
		snap = watt_snapshot_unref(snap);
	}
	watt_session_close(ses);
}

/* ---- who does the work ---- */

#define SLEEP_NS 2600000000LL
/* The three rails of the machine's fixture that its energy is the sum of: mV times mA. */
#define ORIN_UW (19848LL * (152 + 96) + 4968LL * 912)

static struct watt_session *open_orin(uint32_t slice_us, int is_driven)
{
	struct watt_options *options = options_of("sysfs-root", fixture("jetson-agx-orin", "sys"),
						  "sources", "hwmon", "usage", "synth", "period",
						  "1ms", NULL);
	struct watt_session *ses = NULL;

	assert_int_equal(watt_options_set_slice_ns(options, slice_us * 1000ULL), 0);
	assert_int_equal(watt_options_set_driven(options, is_driven), 0);
	assert_int_equal(open_by(options, &ses), 0);
	return ses;
}

/* A snapshot of all that happened up to now, in every domain. */
static struct watt_snapshot *snapshot_now(struct watt_session *ses)
{
	uint64_t now_ns = watt_session_get_time_ns(ses);
	struct watt_snapshot *snap = NULL;

	assert_int_equal(watt_session_flush(ses, 60000), 0);
	assert_int_equal(watt_session_snapshot_at(ses, now_ns, 60000, &snap), 0);
	assert_true(watt_snapshot_get_time_ns(snap) >= now_ns);
	assert_int_equal(watt_snapshot_get_quality(snap)->lost_samples, 0);
	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
	return snap;
}

static int64_t orin_nj(int64_t t_ns)
{
	return (int64_t)((double)ORIN_UW * (double)t_ns / 1e6);
}

/* The power of the fixture never changes, so that the energy of a window is known. */
static void check_orin(struct watt_session *ses)
{
	struct watt_snapshot *snap = snapshot_now(ses);
	int64_t sum_nj = 0, dt_ns, gap_ns = 0, late_ns = 0;
	size_t d;

	dt_ns = (int64_t)(watt_snapshot_get_time_ns(snap) -
			  watt_snapshot_get_window_start_ns(snap));
	assert_true(dt_ns >= SLEEP_NS);
	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);
		int64_t known_ns = (int64_t)s->window_ns - (int64_t)s->gap_ns;

		/* a busy machine may not have read for a while, and says so */
		if (dt_ns - known_ns > gap_ns)
			gap_ns = dt_ns - known_ns;
		/* and a sensor that was not waited for at the beginning has more in this window */
		if (known_ns - dt_ns > late_ns)
			late_ns = known_ns - dt_ns;
		if (watt_snapshot_get_domain(snap, d)->is_summed)
			sum_nj += s->window_nj;
	}
	assert_true(sum_nj >= orin_nj(dt_ns - gap_ns) - 1000);
	assert_true(sum_nj <= orin_nj(dt_ns + late_ns) + 1000);
	watt_snapshot_unref(snap);
}

/* 1 kHz, longer than the readers' rings have room for: with slices, driven, and between slices. */
static void test_nobody_comes(void **state)
{
	struct watt_session *sessions[] = { open_orin(50000, 0), open_orin(50000, 1),
					    open_orin(60000000, 0), open_orin(60000000, 1) };
	struct timespec pause = { .tv_sec = SLEEP_NS / 1000000000,
				  .tv_nsec = SLEEP_NS % 1000000000 };
	size_t i;

	for (i = 0; i < 4; i++) {
		assert_int_equal(watt_session_start(sessions[i]), 0);
		assert_int_equal(watt_session_wait(sessions[i], 20), 0);
		watt_snapshot_unref(snapshot_now(sessions[i]));
		assert_true(watt_session_dispatch(sessions[i]) >= 0);
	}
	nanosleep(&pause, NULL);
	assert_true(watt_session_dispatch(sessions[0]) > 1);
	assert_true(watt_session_dispatch(sessions[1]) > 1);
	for (i = 0; i < 4; i++) {
		check_orin(sessions[i]);
		watt_session_close(sessions[i]);
	}
}

/* Whoever polls and dispatches gets to know of every slice, whether it drives or not. */
static void test_event_loop(void **state)
{
	struct watt_session *sessions[] = { open_synth(), open_driven() };
	size_t i;
	int n;

	for (i = 0; i < 2; i++) {
		struct pollfd pfd = { .fd = watt_session_get_fd(sessions[i]), .events = POLLIN };

		assert_int_equal(poll(&pfd, 1, 0), 0);
		assert_int_equal(watt_session_start(sessions[i]), 0);
		for (n = 0; n < 5;) {
			int r;

			assert_int_equal(poll(&pfd, 1, 60000), 1);
			r = watt_session_dispatch(sessions[i]);
			assert_true(r >= 0);
			n += r;
		}
		watt_session_close(sessions[i]);
	}
}

static uint64_t count_reads(const struct watt_session *ses)
{
	struct watt_reader_stats stats = { .sz = sizeof(stats) };

	assert_int_equal(watt_session_get_reader_stats(ses, 0, &stats), 0);
	return stats.reads;
}

/* A sensor that is read but at the start is read beside a slice that ends late. */
static void test_reads_beside_a_late_slice(void **state)
{
	struct watt_options *options = options_of("sources", "synth", "usage", "synth", "slice",
						  "10ms", "rate", "synth=0.001", NULL);
	struct pollfd pfd = { .events = POLLIN };
	struct watt_session *ses = NULL;
	int n_tries = 0;

	watt_options_set_driven(options, 1);
	assert_int_equal(open_by(options, &ses), 0);
	assert_int_equal(watt_session_start(ses), 0);
	pfd.fd = watt_session_get_fd(ses);
	while (count_reads(ses) < 2 && n_tries++ < 1000) {
		assert_int_equal(poll(&pfd, 1, 60000), 1);
		usleep(3000);
		assert_true(watt_session_dispatch(ses) >= 0);
	}
	assert_true(count_reads(ses) >= 2);
	watt_session_close(ses);
}

static volatile sig_atomic_t n_signals;
static pthread_t waiter;

static void on_signal(int signal)
{
	(void)signal;
	n_signals += pthread_equal(pthread_self(), waiter) ? 1 : 1000000;
}

/* Fires each ms, at a handler that lets no call be restarted; 0: no more. */
static void set_timer(suseconds_t period_us)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct itimerval when = { .it_interval.tv_usec = period_us, .it_value.tv_usec = period_us };

	waiter = pthread_self();
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &when, NULL), 0);
}

/* Signals neither end a wait nor shorten it, and come to no thread of the library's. */
static void test_signals(void **state)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		struct watt_session *ses = i ? open_driven() : open_synth();
		int n_interrupted = 0;

		assert_int_equal(watt_session_start(ses), 0);
		set_timer(1000);
		while (n_interrupted < 20) {
			uint64_t begin_ns = watt_session_get_time_ns(ses);
			struct watt_snapshot *snap = NULL;

			n_signals = 0;
			assert_int_equal(watt_session_wait(ses, 20), 0);
			assert_true(watt_session_get_time_ns(ses) >= begin_ns + 20000000);
			n_interrupted += n_signals;
			assert_true(watt_session_flush(ses, 60000) >= 0);
			begin_ns = watt_session_get_time_ns(ses);
			assert_int_equal(watt_session_snapshot_at(ses, begin_ns, 60000, &snap), 0);
			watt_snapshot_unref(snap);
		}
		set_timer(0);
		assert_in_range(n_interrupted, 20, 999999);
		watt_session_close(ses);
	}
}

struct asker {
	struct watt_session *ses;
	uint64_t end_ns;
	int kind;
};

static void ask(struct watt_session *ses, int kind)
{
	struct watt_snapshot *snap = NULL;
	struct watt_reader_stats stats = { .sz = sizeof(stats) };
	struct watt_sample sample;
	struct watt_mark mark;
	uint64_t id;

	switch (kind) {
	case 0:
		assert_int_equal(watt_session_snapshot(ses, &snap), 0);
		assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
		watt_snapshot_unref(snap);
		break;
	case 1:
		assert_true(watt_session_dispatch(ses) >= 0);
		assert_int_equal(watt_session_get_sample(ses, 0, &sample), 0);
		assert_int_equal(watt_session_get_reader_stats(ses, 0, &stats), 0);
		assert_non_null(watt_session_get_domain(ses, 0));
		break;
	case 2:
		assert_true(watt_session_flush(ses, 60000) >= 0);
		assert_int_equal(watt_session_track(ses, UINT32_MAX, &id), -ESRCH);
		break;
	default:
		assert_int_equal(watt_session_snapshot_at(ses, watt_session_get_time_ns(ses), 60000,
							  &snap),
				 0);
		watt_snapshot_unref(snap);
		assert_int_equal(watt_mark_send(watt_session_get_marks_address(ses),
						&(struct watt_mark){ .label = "x" }),
				 0);
		while (watt_session_next_mark(ses, &mark) == 0)
			assert_string_equal(mark.label, "x");
		assert_int_equal(watt_session_wait(ses, 1), 0);
	}
}

static void *ask_all_the_time(void *data)
{
	const struct asker *asker = data;

	do
		ask(asker->ses, asker->kind);
	while (watt_session_get_time_ns(asker->ses) < asker->end_ns);
	return NULL;
}

static void test_many_threads(void **state)
{
	size_t i, k;

	for (k = 0; k < 2; k++) {
		struct watt_session *ses = k ? open_driven() : open_synth();
		struct asker askers[8];
		pthread_t threads[8];

		assert_int_equal(watt_session_start(ses), 0);
		for (i = 0; i < 8; i++) {
			askers[i] = (struct asker){ ses, watt_session_get_time_ns(ses) + 200000000,
						    (int)(i % 4) };
			assert_int_equal(
				pthread_create(&threads[i], NULL, ask_all_the_time, &askers[i]), 0);
		}
		for (i = 0; i < 8; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
		watt_session_close(ses);
	}
}

#define N_CURSORS 4

/* One reader, in a thread of its own. */
struct reader {
	struct watt_session *ses;
	uint64_t end_ns;
	unsigned int number;
};

/* Its windows meet and add up, whatever the others do. */
static void check_window(const struct watt_snapshot *last, const struct watt_snapshot *snap,
			 int64_t *sum_nj)
{
	size_t d;

	for (d = 0; d < watt_snapshot_get_domain_count(snap); d++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);

		if (!last)
			sum_nj[d] = watt_energy_to_nj(s->energy) - s->window_nj;
		sum_nj[d] += s->window_nj;
		assert_int_equal(sum_nj[d], watt_energy_to_nj(s->energy));
	}
	if (last) {
		check_snapshot(last, snap);
		assert_int_equal(watt_snapshot_get_window_start_ns(snap),
				 watt_snapshot_get_time_ns(last));
		assert_int_equal(watt_snapshot_get_sequence(snap),
				 watt_snapshot_get_sequence(last) + 1);
	}
}

/* Every second one at a time; each of them has a pace of its own. */
static struct watt_snapshot *read_cursor(struct watt_cursor *cursor, const struct reader *reader,
					 unsigned int round)
{
	uint64_t t_ns = watt_session_get_time_ns(reader->ses);
	struct watt_snapshot *snap = NULL;

	if (round % 2) {
		assert_int_equal(watt_cursor_snapshot(cursor, &snap), 0);
		return snap;
	}
	assert_int_equal(watt_cursor_snapshot_at(cursor, t_ns, 60000, &snap), 0);
	assert_true(watt_snapshot_get_time_ns(snap) >= t_ns);
	return snap;
}

static void *read_all_the_time(void *data)
{
	const struct reader *reader = data;
	struct watt_snapshot *last = NULL, *snap;
	struct watt_cursor *cursor = NULL;
	int64_t sum_nj[16];
	unsigned int round = 0;

	do {
		if (!cursor)
			assert_int_equal(watt_cursor_open(reader->ses, &cursor), 0);
		snap = read_cursor(cursor, reader, round);
		check_window(last, snap, sum_nj);
		watt_snapshot_unref(last);
		last = snap;
		/* some go, and come again as another one */
		if (++round % (3 + 2 * reader->number) == 0) {
			cursor = watt_cursor_close(cursor);
			last = watt_snapshot_unref(last);
		}
		assert_int_equal(watt_session_wait(reader->ses, 1 + 2 * reader->number), 0);
	} while (watt_session_get_time_ns(reader->ses) < reader->end_ns);
	watt_snapshot_unref(last);
	watt_cursor_close(cursor);
	return NULL;
}

static void test_cursors(void **state)
{
	size_t i, k;

	for (k = 0; k < 2; k++) {
		struct watt_session *ses = k ? open_driven() : open_synth();
		struct watt_snapshot *first = NULL, *snap = NULL;
		struct reader readers[N_CURSORS];
		pthread_t threads[N_CURSORS];

		assert_int_equal(watt_session_start(ses), 0);
		assert_int_equal(watt_session_snapshot(ses, &first), 0);
		for (i = 0; i < N_CURSORS; i++) {
			readers[i] = (struct reader){ ses,
						      watt_session_get_time_ns(ses) + 200000000,
						      (unsigned int)i };
			assert_int_equal(pthread_create(&threads[i], NULL, read_all_the_time,
							&readers[i]),
					 0);
		}
		for (i = 0; i < N_CURSORS; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
		/* they have not touched the session's own window */
		assert_int_equal(watt_session_snapshot(ses, &snap), 0);
		check_snapshot(first, snap);
		assert_int_equal(watt_snapshot_get_sequence(snap), 2);
		assert_int_equal(watt_snapshot_get_window_start_ns(snap),
				 watt_snapshot_get_time_ns(first));
		watt_snapshot_unref(first);
		watt_snapshot_unref(snap);
		watt_session_close(ses);
	}
}

/* Who waits for a time that is far away holds up nobody who asks for an earlier one, or for now. */
static void test_cursors_wait_apart(void **state)
{
	struct watt_session *ses = open_synth();
	struct watt_cursor *far = NULL, *near = NULL;
	struct watt_snapshot *snap = NULL;
	uint64_t t_ns;

	assert_int_equal(watt_cursor_open(ses, &far), 0); /* before the session begins */
	assert_int_equal(watt_session_start(ses), 0);
	assert_int_equal(watt_cursor_open(ses, &near), 0);
	t_ns = watt_session_get_time_ns(ses);
	assert_int_equal(watt_cursor_snapshot_at(far, t_ns + 3600000000000ULL, 0, &snap),
			 -ETIMEDOUT);
	assert_int_equal(watt_cursor_snapshot_at(near, t_ns, 60000, &snap), 0);
	assert_in_range(watt_snapshot_get_time_ns(snap), t_ns, t_ns + 3000000000000ULL);
	watt_snapshot_unref(snap);
	assert_int_equal(watt_cursor_snapshot(near, &snap), 0);
	watt_snapshot_unref(snap);
	/* and it may change its mind */
	assert_int_equal(watt_cursor_snapshot_at(far, watt_session_get_time_ns(ses), 60000, &snap),
			 0);
	check_snapshot(NULL, snap);
	watt_snapshot_unref(snap);
	assert_null(watt_cursor_close(near));
	assert_null(watt_cursor_close(NULL));
	assert_int_equal(watt_cursor_open(NULL, &near), -EINVAL);
	assert_int_equal(watt_cursor_open(ses, NULL), -EINVAL);
	watt_cursor_close(far);
	watt_session_close(ses);
}

static void wait_for_slice(struct watt_session *ses)
{
	uint64_t give_up_ns = watt_session_get_time_ns(ses) + 30000000000ULL;
	int r = 0;

	while (r == 0 && watt_session_get_time_ns(ses) < give_up_ns) {
		assert_int_equal(watt_session_wait(ses, 15), 0);
		r = watt_session_dispatch(ses);
	}
	assert_true(r > 0);
}

/* A child that executes something has no part in the session, which goes on. */
static void test_fork(void **state)
{
	struct watt_session *ses = open_synth();
	int i, status;

	assert_int_equal(watt_session_start(ses), 0);
	for (i = 0; i < 5; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		wait_for_slice(ses);
	}
	watt_session_close(ses);
}

/* Takes a mark of this process, and a snapshot that ends there. */
static struct watt_snapshot *mark_and_cut(struct watt_session *ses, const char *label)
{
	struct watt_mark mark = { .t_ns = watt_session_get_time_ns(ses) }, told;
	struct watt_snapshot *snap = NULL;
	struct pollfd pfd = { .fd = watt_session_get_fd(ses), .events = POLLIN };
	int r;

	strcpy(mark.label, label);
	assert_int_equal(watt_mark_send(watt_session_get_marks_address(ses), &mark), 0);
	do {
		assert_int_equal(poll(&pfd, 1, 60000), 1);
		assert_true(watt_session_dispatch(ses) >= 0);
		r = watt_session_next_mark(ses, &told);
	} while (r == 1);
	assert_int_equal(r, 0);
	assert_string_equal(told.label, label);
	assert_int_equal(told.pid, getpid());
	assert_int_equal(watt_session_next_mark(ses, &told), 1);
	assert_int_equal(watt_session_snapshot_at(ses, told.t_ns, 60000, &snap), 0);
	assert_true(watt_snapshot_get_time_ns(snap) >= told.t_ns);
	return snap;
}

static void test_phases(void **state)
{
	static const char *const labels[] = { "load", "solve", "", "load" };
	struct watt_session *ses = open_synth();
	uint64_t end_ns = 0;
	size_t i;

	assert_null(watt_session_get_marks_address(ses));
	assert_int_equal(watt_session_start(ses), 0);
	assert_non_null(watt_session_get_marks_address(ses));
	for (i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		struct watt_snapshot *snap = mark_and_cut(ses, labels[i]);

		/* the window that ends here is of the phase before */
		if (i == 0 || !labels[i - 1][0])
			assert_null(watt_snapshot_get_phase(snap));
		else
			assert_string_equal(watt_snapshot_get_phase(snap), labels[i - 1]);
		if (i > 0)
			assert_int_equal(watt_snapshot_get_window_start_ns(snap), end_ns);
		end_ns = watt_snapshot_get_time_ns(snap);
		watt_snapshot_unref(snap);
	}
	watt_session_close(ses);
}

/* Who never asks for marks loses the oldest and nothing else. */
static void test_marks_are_kept_within_bounds(void **state)
{
	struct watt_session *ses = open_driven();
	struct watt_mark mark = { 0 };
	int i, n = 0;

	assert_int_equal(watt_session_start(ses), 0);
	for (i = 0; i < 300; i++) {
		snprintf(mark.label, sizeof(mark.label), "%d", i);
		assert_int_equal(watt_mark_send(watt_session_get_marks_address(ses), &mark), 0);
		assert_true(watt_session_dispatch(ses) >= 0);
	}
	assert_int_equal(watt_session_next_mark(ses, &mark), 0);
	assert_string_equal(mark.label, "44");
	for (n = 1; watt_session_next_mark(ses, &mark) == 0; n++)
		continue;
	assert_int_equal(n, 256);
	assert_string_equal(mark.label, "299");
	watt_session_close(ses);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses_bad_options),
		cmocka_unit_test(test_snapshots_at_times),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_marks_are_kept_within_bounds),
		cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_tracks_and_untracks),
		cmocka_unit_test(test_measures),
		cmocka_unit_test(test_snapshot_before_start),
		cmocka_unit_test(test_nobody_comes),
		cmocka_unit_test(test_event_loop),
		cmocka_unit_test(test_reads_beside_a_late_slice),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_cursors),
		cmocka_unit_test(test_cursors_wait_apart),
		cmocka_unit_test(test_fork),
	};

	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
