/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sample/engine.c and lib/sample/reader.c, with sources made up here */
#include "unit.h"

#include <pthread.h>
#include <signal.h>

#include "base/ring.h"
#include "base/util.h"
#include "sample/sample.h"

#define MAX_CHANNELS 8
#define MS WATT_NSEC_PER_MSEC

/* ---- a source that counts how often each of its groups was read ---- */

struct fake {
	struct watt_power power;
	struct watt_channel channels[MAX_CHANNELS];
	struct watt_power_group groups[MAX_CHANNELS];
	int64_t reads[MAX_CHANNELS];
	uint32_t bad_channel;            /* this one never has a value */
	struct watt_signal *hang;        /* NULL, or what a read waits for, for ever */
	uint32_t hanging_group;          /* with hang: in that group alone; UINT32_MAX: in any */
	struct watt_counter *is_hanging; /* with hang: says when it does */
	uint64_t took_signals;           /* of the reading thread: SIGTERM is not blocked */
	int *closed;
};

static void fake_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct fake *fake = watt_container_of(power, struct fake, power);
	const struct watt_power_group *g = &fake->groups[group];
	sigset_t mask;
	uint32_t i;

	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	if (!sigismember(&mask, SIGTERM))
		fake->took_signals++;
	if (fake->hang && (fake->hanging_group == UINT32_MAX || fake->hanging_group == group)) {
		watt_counter_set(fake->is_hanging, 1);
		watt_signal_wait(fake->hang, 0, UINT64_MAX / 2);
	}
	fake->reads[group]++;
	for (i = 0; i < g->n; i++) {
		bool is_bad = g->first + i == fake->bad_channel;

		ret[i] = (struct watt_sample){
			.t_before_ns = watt_now_ns(),
			.raw = is_bad ? 0 : fake->reads[group] * 100 + g->first + i,
			.status = is_bad ? WATT_STATUS_BROKEN : WATT_STATUS_OK,
		};
		ret[i].t_after_ns = watt_now_ns();
	}
}

static void fake_close(struct watt_power *power)
{
	struct fake *fake = watt_container_of(power, struct fake, power);

	if (fake->closed)
		__atomic_add_fetch(fake->closed, 1, __ATOMIC_RELEASE);
	free(fake);
}

static const struct watt_power_ops quick_ops = {
	.name = "quick",
	.read = fake_read,
	.close = fake_close,
};

static const struct watt_power_ops slow_ops = {
	.name = "slow",
	.flags = WATT_POWER_BLOCKING,
	.read = fake_read,
	.close = fake_close,
};

static const struct watt_power_ops tiered_ops = {
	.name = "slow",
	.flags = WATT_POWER_BLOCKING | WATT_POWER_TIERED,
	.read = fake_read,
	.close = fake_close,
};

static struct fake *fake_new(const struct watt_power_ops *ops)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	assert_non_null(fake);
	fake->bad_channel = fake->hanging_group = UINT32_MAX;
	fake->power.ops = ops;
	fake->power.channels = fake->channels;
	fake->power.groups = fake->groups;
	return fake;
}

static void fake_add(struct fake *fake, uint32_t n, uint64_t period_ns)
{
	fake->groups[fake->power.n_groups++] = (struct watt_power_group){
		.first = fake->power.n_channels,
		.n = n,
		.period_ns = period_ns,
	};
	for (; n > 0; n--)
		fake->channels[fake->power.n_channels++].group = fake->power.n_groups - 1;
}

static struct watt_engine *engine_new(const struct watt_engine_opts *opts, struct fake *a,
				      struct fake *b)
{
	struct watt_power *sources[2] = { &a->power, b ? &b->power : NULL };
	struct watt_engine *engine = NULL;

	assert_int_equal(watt_engine_new(opts, sources, b ? 2 : 1, &engine), 0);
	return engine;
}

static struct watt_reader_stats stats_of(const struct watt_engine *engine, size_t channel)
{
	struct watt_reader_stats stats;

	watt_engine_stats(engine, channel, &stats);
	return stats;
}

/* Whoever may block closes on its own thread, which nobody waits long for. */
static void wait_for_closed(const int *closed, int n)
{
	while (__atomic_load_n(closed, __ATOMIC_ACQUIRE) < n)
		usleep(500);
}

/* ---- without threads ---- */

static void test_channels(void **state)
{
	struct watt_engine_opts opts = { .epoch_ns = 1 };
	struct fake *a = fake_new(&quick_ops), *b = fake_new(&slow_ops);
	struct watt_engine *engine;
	static int closed;

	a->closed = b->closed = &closed;
	fake_add(a, 2, 0);
	fake_add(a, 1, 0);
	fake_add(b, 3, 0);
	engine = engine_new(&opts, a, b);
	assert_int_equal(watt_engine_channel_count(engine), 6);
	assert_ptr_equal(watt_engine_channel(engine, 2), &a->channels[2]);
	assert_ptr_equal(watt_engine_channel(engine, 3), &b->channels[0]);
	assert_null(watt_engine_channel(engine, 6));
	assert_null(watt_engine_free(engine));
	wait_for_closed(&closed, 2);
	assert_null(watt_engine_free(NULL));
}

static void test_failure_closes_sources(void **state)
{
	struct watt_engine_opts opts = { .ring_size = 3 };
	struct fake *a = fake_new(&quick_ops), *b = fake_new(&slow_ops);
	struct watt_power *sources[] = { &a->power, &b->power };
	struct watt_engine *engine = NULL;
	static int closed;

	a->closed = b->closed = &closed;
	fake_add(a, 1, 0);
	fake_add(b, 1, 0);
	assert_int_equal(watt_engine_new(&opts, sources, 2, &engine), -EINVAL);
	assert_null(engine);
	wait_for_closed(&closed, 2);
}

static void test_periods(void **state)
{
	struct watt_engine_opts opts = { .epoch_ns = 1000, .quantum_ns = 100, .period_ns = 150 };
	struct fake *fake = fake_new(&quick_ops);
	struct watt_engine *engine;

	fake_add(fake, 1, 0);
	fake_add(fake, 1, 199);
	fake_add(fake, 1, 1001);
	engine = engine_new(&opts, fake, NULL);
	assert_int_equal(stats_of(engine, 0).period_ns, 200);
	assert_int_equal(stats_of(engine, 1).period_ns, 200);
	assert_int_equal(stats_of(engine, 2).period_ns, 1100);
	assert_int_equal(watt_engine_run_due(engine, 999), 1000);
	assert_int_equal(fake->reads[0], 0);
	assert_int_equal(watt_engine_run_due(engine, 1000), 1200);
	assert_int_equal(fake->reads[2], 1);
	assert_int_equal(watt_engine_run_due(engine, 2099), 2100);
	assert_int_equal(fake->reads[0], 2);
	assert_int_equal(fake->reads[2], 1);
	assert_int_equal(watt_engine_run_due(engine, 2100), 2200);
	assert_int_equal(fake->reads[2], 2);
	watt_engine_free(engine);
}

static void test_default_period(void **state)
{
	struct watt_engine_opts opts = { .epoch_ns = 1 };
	struct fake *fake = fake_new(&quick_ops);
	struct watt_engine *engine;

	fake_add(fake, 1, 0);
	engine = engine_new(&opts, fake, NULL);
	assert_int_equal(stats_of(engine, 0).period_ns, MS);
	watt_engine_free(engine);
}

static void test_missed_and_late(void **state)
{
	struct watt_engine_opts opts = { .epoch_ns = 1000, .quantum_ns = 100 };
	struct fake *fake = fake_new(&quick_ops);
	struct watt_engine *engine;

	fake_add(fake, 1, 0);
	engine = engine_new(&opts, fake, NULL);
	watt_engine_run_due(engine, 1000);
	watt_engine_run_due(engine, 1107);
	assert_int_equal(stats_of(engine, 0).missed, 0);
	assert_int_equal(stats_of(engine, 0).lateness_max_ns, 7);
	/* 1200 to 1900 were slept through: one read, at 2000 */
	assert_int_equal(watt_engine_run_due(engine, 2003), 2100);
	assert_int_equal(stats_of(engine, 0).missed, 8);
	assert_int_equal(stats_of(engine, 0).reads, 3);
	assert_int_equal(stats_of(engine, 0).lateness_p50_ns, 3);
	assert_int_equal(stats_of(engine, 0).lateness_max_ns, 7);
	assert_int_equal(stats_of(engine, 0).is_realtime, 0);
	watt_engine_free(engine);
}

static void test_samples(void **state)
{
	struct watt_engine_opts opts = { .epoch_ns = 1000, .quantum_ns = 100 };
	struct fake *a = fake_new(&quick_ops), *b = fake_new(&quick_ops);
	struct watt_sample samples[16] = { 0 };
	struct watt_engine *engine;
	uint64_t t_ns;
	uint32_t i;

	fake_add(a, 2, 0);
	fake_add(b, 3, 0);
	b->bad_channel = 1;
	engine = engine_new(&opts, a, b);
	for (t_ns = 1000; t_ns <= 1200; t_ns += 100)
		watt_engine_run_due(engine, t_ns);
	assert_int_equal(watt_engine_fetch(engine, samples, 4), 4);
	assert_int_equal(watt_engine_fetch(engine, samples + 4, 12), 11);
	assert_int_equal(watt_engine_fetch(engine, samples, 1), 0);
	for (i = 0; i < 15; i++) {
		uint32_t channel = i % 5, in_source = channel < 2 ? channel : channel - 2;

		assert_int_equal(samples[i].channel, channel);
		assert_true(samples[i].t_after_ns >= samples[i].t_before_ns);
		if (channel == 3) {
			assert_int_equal(samples[i].status, WATT_STATUS_BROKEN);
			continue;
		}
		assert_int_equal(samples[i].status, WATT_STATUS_OK);
		assert_int_equal(samples[i].raw, (i / 5 + 1) * 100 + in_source);
	}
	assert_int_equal(stats_of(engine, 3).errors, 3);
	assert_int_equal(stats_of(engine, 4).errors, 0);
	assert_int_equal(stats_of(engine, 9).reads, 0);
	watt_engine_free(engine);
}

static void test_loss_is_counted(void **state)
{
	struct watt_engine_opts opts = { .epoch_ns = 1000, .quantum_ns = 100, .ring_size = 4 };
	struct fake *fake = fake_new(&quick_ops);
	struct watt_sample samples[8] = { 0 };
	uint64_t missed = 9, lost = 9;
	struct watt_engine *engine;

	fake_add(fake, 3, 0);
	engine = engine_new(&opts, fake, NULL);
	watt_engine_run_due(engine, 1000);
	watt_engine_run_due(engine, 1100);
	watt_engine_run_due(engine, 1200);
	/* the oldest are kept */
	assert_int_equal(stats_of(engine, 0).lost, 1);
	assert_int_equal(stats_of(engine, 1).lost, 2);
	assert_int_equal(stats_of(engine, 2).lost, 2);
	watt_engine_losses(engine, &missed, &lost);
	assert_int_equal(missed, 0);
	assert_int_equal(lost, 5);
	assert_int_equal(watt_engine_fetch(engine, samples, 8), 4);
	assert_int_equal(samples[0].raw, 100);
	assert_int_equal(samples[3].raw, 200);
	watt_engine_run_due(engine, 1300);
	assert_int_equal(stats_of(engine, 0).lost, 1);
	watt_engine_free(engine);
}

/* Without a size the ring takes 2 s of readings, whatever the rate. */
static void test_ring_fits_the_rate(void **state)
{
	struct watt_engine_opts opts = { .epoch_ns = 1 };
	struct fake *fake = fake_new(&quick_ops);
	struct watt_engine *engine;
	uint64_t missed, lost, i;

	fake_add(fake, MAX_CHANNELS, 0);
	engine = engine_new(&opts, fake, NULL);
	for (i = 0; i < 2000; i++)
		watt_engine_run_due(engine, 1 + i * MS);
	watt_engine_losses(engine, &missed, &lost);
	assert_int_equal(missed, 0);
	assert_int_equal(lost, 0);
	for (; i < 20000; i++)
		watt_engine_run_due(engine, 1 + i * MS);
	watt_engine_losses(engine, &missed, &lost);
	assert_true(lost > 0);
	watt_engine_free(engine);
}

static void test_read_now_without_threads(void **state)
{
	struct watt_engine_opts opts = { .epoch_ns = 1000, .quantum_ns = 100 };
	struct fake *a = fake_new(&quick_ops), *b = fake_new(&slow_ops);
	struct watt_engine *engine;

	fake_add(a, 1, 0);
	fake_add(b, 1, 0);
	engine = engine_new(&opts, a, b);
	assert_int_equal(watt_engine_read_now(engine, 0), 0);
	assert_int_equal(a->reads[0], 1);
	assert_int_equal(b->reads[0], 0);
	/* it is outside the schedule */
	assert_int_equal(watt_engine_run_due(engine, 1000), 1100);
	assert_int_equal(stats_of(engine, 0).missed, 0);
	watt_engine_free(engine);
}

/* ---- with threads ---- */

/* Fetches until a channel has given n samples. They must be in order and without a hole. */
static void fetch_samples(struct watt_engine *engine, uint32_t channel, size_t n)
{
	uint64_t give_up_ns = watt_now_ns() + 20 * WATT_NSEC_PER_SEC;
	int64_t last = 0;
	size_t got = 0;

	while (got < n) {
		struct watt_sample samples[4];
		size_t k = watt_engine_fetch(engine, samples, 4), i;

		for (i = 0; i < k; i++) {
			if (samples[i].channel != channel)
				continue;
			assert_true(last == 0 || samples[i].raw == last + 100);
			last = samples[i].raw;
			got++;
		}
		assert_true(watt_now_ns() < give_up_ns);
		if (k == 0)
			usleep(500);
	}
}

static void test_threads(void **state)
{
	struct watt_engine_opts opts = { .quantum_ns = MS, .period_ns = MS };
	struct fake *a = fake_new(&quick_ops), *b = fake_new(&slow_ops);
	struct watt_engine *engine;

	fake_add(a, 2, 0);
	fake_add(b, 1, 2 * MS);
	engine = engine_new(&opts, a, b);
	assert_int_equal(watt_engine_start(engine), 0);
	assert_int_equal(watt_engine_start(engine), -EBUSY);
	fetch_samples(engine, 1, 30);
	fetch_samples(engine, 2, 10);
	assert_true(stats_of(engine, 0).reads >= 30);
	assert_int_equal(stats_of(engine, 0).lost, 0);
	assert_int_equal(watt_engine_stop(engine), 0);
	assert_int_equal(a->took_signals, 0);
	/* it can go on later, and the pause is not a miss */
	watt_engine_start(engine);
	fetch_samples(engine, 2, 2);
	watt_engine_free(engine);
}

static void test_first_sample_comes_at_once(void **state)
{
	struct watt_engine_opts opts = { .period_ns = 3600 * WATT_NSEC_PER_SEC };
	struct fake *fake = fake_new(&quick_ops);
	struct watt_engine *engine;

	fake_add(fake, 1, 0);
	engine = engine_new(&opts, fake, NULL);
	assert_int_equal(watt_engine_start(engine), 0);
	fetch_samples(engine, 0, 1);
	assert_int_equal(stats_of(engine, 0).missed, 0);
	assert_int_equal(stats_of(engine, 0).lateness_max_ns, 0);
	watt_engine_free(engine);
}

static void test_nothing_before_the_epoch(void **state)
{
	uint64_t epoch_ns = watt_now_ns() + 20 * MS;
	struct watt_engine_opts opts = { .epoch_ns = epoch_ns };
	struct fake *fake = fake_new(&quick_ops);
	struct watt_sample sample = { 0 };
	struct watt_engine *engine;

	fake_add(fake, 1, 0);
	engine = engine_new(&opts, fake, NULL);
	assert_int_equal(watt_engine_start(engine), 0);
	while (watt_engine_fetch(engine, &sample, 1) == 0)
		usleep(500);
	assert_true(sample.t_before_ns >= epoch_ns);
	watt_engine_free(engine);
}

static void test_read_now(void **state)
{
	struct watt_engine_opts opts = { .period_ns = 3600 * WATT_NSEC_PER_SEC };
	struct fake *fake = fake_new(&quick_ops);
	struct watt_sample samples[32];
	struct watt_engine *engine;
	uint64_t asked_ns = 0;
	size_t n = 0;
	int i;

	fake_add(fake, 1, 0);
	engine = engine_new(&opts, fake, NULL);
	assert_int_equal(watt_engine_start(engine), 0);
	/* its first reading, which nobody asked for */
	assert_int_equal(watt_engine_wait_now(engine, 20 * WATT_NSEC_PER_SEC), 0);
	assert_int_equal(fake->reads[0], 1);
	for (i = 0; i < 20; i++) {
		asked_ns = watt_now_ns();
		assert_int_equal(watt_engine_read_now(engine, 20 * WATT_NSEC_PER_SEC), 0);
		n = watt_engine_fetch(engine, samples, 32);
		assert_true(n >= 1);
		assert_true(samples[n - 1].t_before_ns >= asked_ns);
		/* written by the reader without more ado: the thread sanitizer watches the order */
		assert_int_equal(fake->reads[0], i + 2);
	}
	watt_engine_free(engine);
}

/* Energy begins with the first reading; context is told from its first deadline on. */
static void test_warm_up(void **state)
{
	struct watt_engine_opts opts = { .period_ns = 3600 * WATT_NSEC_PER_SEC };
	struct fake *fake = fake_new(&quick_ops);
	struct watt_sample samples[4];
	struct watt_engine *engine;

	fake_add(fake, 3, 0);
	fake->channels[0].quantity = WATT_QUANTITY_TEMPERATURE;
	fake->channels[1].quantity = WATT_QUANTITY_ENERGY;
	fake->channels[2].quantity = WATT_QUANTITY_POWER;
	fake->bad_channel = 0; /* nor is it told that it had no value */
	engine = engine_new(&opts, fake, NULL);
	assert_int_equal(watt_engine_start(engine), 0);
	assert_int_equal(watt_engine_wait_now(engine, 20 * WATT_NSEC_PER_SEC), 0);
	assert_int_equal(watt_engine_fetch(engine, samples, 4), 2);
	assert_int_equal(samples[0].channel, 1);
	assert_int_equal(samples[1].channel, 2);
	assert_int_equal(stats_of(engine, 0).errors, 0);
	/* whoever asks is told of all */
	assert_int_equal(watt_engine_read_now(engine, 20 * WATT_NSEC_PER_SEC), 0);
	assert_int_equal(watt_engine_fetch(engine, samples, 4), 3);
	watt_engine_free(engine);
}

struct told {
	int hangs; /* warnings */
	int not_waited_for;
};

static void count_told(void *data, enum watt_log_level level, const char *text)
{
	struct told *told = data;

	told->hangs += level == WATT_LOG_WARNING && strstr(text, ": a read hangs");
	told->not_waited_for += level == WATT_LOG_INFO &&
				strstr(text, "slow: a read is not waited for");
}

/* A read that never returns costs its own channels, and a bounded wait at the end. */
static void test_hung_source(void **state)
{
	static struct watt_signal never;
	static struct watt_counter is_hanging;
	struct told told = { 0 };
	static int closed;
	struct watt_engine_opts opts = { .period_ns = MS,
					 /* for the quick one; who can hang has less */
					 .stop_timeout_ns = 60 * WATT_NSEC_PER_SEC,
					 .log = { count_told, &told } };
	struct fake *a = fake_new(&quick_ops), *b = fake_new(&slow_ops);
	uint64_t start_ns = watt_now_ns();
	struct watt_engine *engine;
	bool is_soon;

	a->closed = b->closed = &closed;
	b->hang = &never;
	b->is_hanging = &is_hanging;
	fake_add(a, 1, 0);
	fake_add(b, 1, 0);
	engine = engine_new(&opts, a, b);
	assert_int_equal(watt_engine_start(engine), 0);
	while (!watt_counter_get(&is_hanging))
		usleep(500);
	fetch_samples(engine, 0, 30);
	assert_int_equal(watt_engine_read_now(engine, 20 * WATT_NSEC_PER_SEC), 0);
	assert_int_equal(stats_of(engine, 1).reads, 0);
	/* its deadlines go by while it hangs, and that shows */
	while (stats_of(engine, 1).missed == 0)
		usleep(500);
	assert_int_equal(watt_engine_stop(engine), 1);
	is_soon = watt_now_ns() - start_ns < 5 * WATT_NSEC_PER_SEC;
	assert_int_equal(watt_engine_stop(engine), 1);
	assert_int_equal(watt_engine_start(engine), -EBUSY);
	watt_engine_free(engine);
	assert_int_equal(told.not_waited_for + told.hangs, 1);
	if (is_soon) /* not a busy machine, where it took long enough to be one that hangs */
		assert_int_equal(told.hangs, 0);
	assert_int_equal(closed, 1);
}

static void test_hung_fast_source(void **state)
{
	static struct watt_signal never;
	static struct watt_counter is_hanging;
	struct told told = { 0 };
	struct watt_engine_opts opts = { .period_ns = MS,
					 .stop_timeout_ns = 20 * MS,
					 .log = { count_told, &told } };
	struct fake *fake = fake_new(&quick_ops);
	struct watt_engine *engine;

	fake->hang = &never;
	fake->is_hanging = &is_hanging;
	fake_add(fake, 1, 0);
	engine = engine_new(&opts, fake, NULL);
	assert_int_equal(watt_engine_start(engine), 0);
	assert_int_equal(watt_engine_read_now(engine, 20 * MS), -ETIMEDOUT);
	watt_engine_free(engine);
	assert_int_equal(told.hangs, 1);
}

/* Of a source with tiers: one that hangs holds up no other, and the misses are its own. */
static void test_tiers(void **state)
{
	static struct watt_signal never;
	static struct watt_counter is_hanging;
	struct watt_engine_opts opts = { .period_ns = MS };
	struct fake *fake = fake_new(&tiered_ops);
	struct watt_tier_stats fast, slow;
	struct watt_engine *engine;
	static int closed;
	int n_hung;

	fake->closed = &closed;
	fake->hang = &never;
	fake->is_hanging = &is_hanging;
	fake->hanging_group = 2;
	fake_add(fake, 2, 0);
	fake_add(fake, 1, 10 * MS);
	fake_add(fake, 1, 100 * MS);
	fake_add(fake, 1, 2 * MS);
	engine = engine_new(&opts, fake, NULL);
	assert_int_equal(watt_engine_start(engine), 0);
	while (!watt_counter_get(&is_hanging))
		usleep(500);
	fetch_samples(engine, 1, 30);
	fetch_samples(engine, 2, 5);
	fetch_samples(engine, 4, 10);
	assert_int_equal(stats_of(engine, 3).reads, 0);
	assert_int_equal(stats_of(engine, 2).period_ns, 10 * MS);
	while (stats_of(engine, 3).missed == 0)
		usleep(500);
	watt_engine_tier_stats(engine, WATT_TIER_SLOW, &slow);
	assert_int_equal(slow.reads, 0);
	assert_true(slow.missed > 0);
	/* on a busy machine others may not have ended in time */
	n_hung = watt_engine_stop(engine);
	assert_true(n_hung >= 1);
	/* two channels are read by one call */
	watt_engine_tier_stats(engine, WATT_TIER_FAST, &fast);
	if (n_hung == 1) {
		assert_int_equal(fast.reads, stats_of(engine, 0).reads + stats_of(engine, 4).reads);
		assert_int_equal(fast.missed,
				 stats_of(engine, 0).missed + stats_of(engine, 4).missed);
	}
	watt_engine_free(engine);
	/* who hangs has it still */
	assert_int_equal(closed, 0);
}

static void test_tiers_come_and_go(void **state)
{
	struct watt_engine_opts opts = { .period_ns = MS };
	struct fake *fake = fake_new(&tiered_ops);
	struct watt_engine *engine;
	static int closed;
	int i;

	fake->closed = &closed;
	fake_add(fake, 1, 0);
	fake_add(fake, 1, 10 * MS);
	fake_add(fake, 1, 100 * MS);
	engine = engine_new(&opts, fake, NULL);
	for (i = 0; i < 20; i++) {
		assert_int_equal(watt_engine_start(engine), 0);
		fetch_samples(engine, (uint32_t)i % 3, 1);
		if (watt_engine_stop(engine) > 0)
			break; /* a busy machine: one has not ended in time, and is given up */
	}
	watt_engine_free(engine);
	wait_for_closed(&closed, 1);
	usleep(1000);
	assert_int_equal(__atomic_load_n(&closed, __ATOMIC_ACQUIRE), 1);
}

/* All is read at one pace: one thread does it, and reads in order. */
static void test_one_tier(void **state)
{
	struct watt_engine_opts opts = { .epoch_ns = 1, .period_ns = 200 * MS };
	struct fake *fake = fake_new(&tiered_ops);
	struct watt_sample samples[3];
	struct watt_engine *engine;
	uint32_t i;

	fake_add(fake, 1, 0);
	fake_add(fake, 1, 10 * MS);
	fake_add(fake, 1, 100 * MS);
	engine = engine_new(&opts, fake, NULL);
	watt_engine_run_due(engine, 1);
	assert_int_equal(watt_engine_fetch(engine, samples, 3), 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(samples[i].channel, i);
	watt_engine_free(engine);
}

static void test_stop_and_start_often(void **state)
{
	struct watt_engine_opts opts = { .period_ns = MS };
	struct fake *a = fake_new(&quick_ops), *b = fake_new(&slow_ops);
	struct watt_engine *engine;
	int i;

	fake_add(a, 2, 0);
	fake_add(b, 2, 0);
	engine = engine_new(&opts, a, b);
	for (i = 0; i < 50; i++) {
		assert_int_equal(watt_engine_start(engine), 0);
		if (watt_engine_stop(engine) > 0)
			break; /* a busy machine: one has not ended in time, and is given up */
	}
	watt_engine_free(engine);
}

static void *watch_stats(void *data)
{
	struct watt_reader_stats stats = { 0 };

	while (stats.reads < 30)
		watt_engine_stats(data, 0, &stats);
	return NULL;
}

static void test_stats_from_another_thread(void **state)
{
	struct watt_engine_opts opts = { .period_ns = MS };
	struct fake *fake = fake_new(&quick_ops);
	struct watt_engine *engine;
	pthread_t thread;

	fake_add(fake, 1, 0);
	engine = engine_new(&opts, fake, NULL);
	assert_int_equal(watt_engine_start(engine), 0);
	assert_int_equal(pthread_create(&thread, NULL, watch_stats, engine), 0);
	fetch_samples(engine, 0, 20);
	assert_int_equal(pthread_join(thread, NULL), 0);
	watt_engine_free(engine);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_channels),
		cmocka_unit_test(test_failure_closes_sources),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_default_period),
		cmocka_unit_test(test_missed_and_late),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_loss_is_counted),
		cmocka_unit_test(test_ring_fits_the_rate),
		cmocka_unit_test(test_read_now_without_threads),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_first_sample_comes_at_once),
		cmocka_unit_test(test_nothing_before_the_epoch),
		cmocka_unit_test(test_read_now),
		cmocka_unit_test(test_warm_up),
		cmocka_unit_test(test_hung_source),
		cmocka_unit_test(test_hung_fast_source),
		cmocka_unit_test(test_tiers),
		cmocka_unit_test(test_tiers_come_and_go),
		cmocka_unit_test(test_one_tier),
		cmocka_unit_test(test_stop_and_start_often),
		cmocka_unit_test(test_stats_from_another_thread),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
