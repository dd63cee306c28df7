/* SPDX-License-Identifier: Apache-2.0 */
/* lib/sample/lookup.c and handover.c, with the engine: sources that come late, go, come and hang. */
#include "unit.h"

#include <pthread.h>

#include "base/ring.h"
#include "base/util.h"
#include "sample/sample.h"

#define MAX_CHANNELS 8
#define MS WATT_NSEC_PER_MSEC

/* ---- a source that is quick and always there ---- */

/* The thread that reads it, which nothing but reading may hold up. */
static struct watt_counter has_fast_thread;
static pthread_t fast_thread;

static const struct watt_channel quick_channels[2] = { { .name = "q0" }, { .name = "q1" } };
static const struct watt_power_group quick_group = { .n = 2 };

static void quick_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	(void)power, (void)group;
	if (!watt_counter_get(&has_fast_thread)) {
		fast_thread = pthread_self();
		watt_counter_publish(&has_fast_thread, 1);
	}
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t t_ns = watt_now_ns();

		ret[i] = (struct watt_sample){ .t_before_ns = t_ns, .t_after_ns = t_ns, .raw = 1 };
	}
}

static void quick_close(struct watt_power *power)
{
	free(power);
}

static const struct watt_power_ops quick_ops = {
	.name = "quick",
	.read = quick_read,
	.close = quick_close,
};

/* ---- sources that do as the script says ---- */

enum phase {
	PHASE_NONE,
	PHASE_OPEN,
	PHASE_RESCAN,
	PHASE_READ,
	PHASE_CLOSE,
};

/* What the scripted sources do: written before an engine has them, and by counters after that. */
static struct script {
	struct watt_counter hangs_in; /* enum phase */
	struct watt_counter is_in;    /* the phase that hangs now */
	struct watt_signal go_on;
	struct watt_counter n_there;   /* channels that there are */
	struct watt_counter n_refused; /* and that can't be read */
	struct watt_counter is_gone;   /* the first of them has no value any more */
	struct watt_counter n_rescans;
	struct watt_counter n_opened; /* each has one writer: the thread of the source */
	struct watt_counter n_closed;
	pthread_t main_thread;
	struct watt_counter n_on_main; /* calls on the thread of the test */
	struct watt_counter n_on_fast; /* and, but for readings, on that of what is quick */
} script;

static void pass(enum phase phase)
{
	if (pthread_equal(pthread_self(), script.main_thread))
		watt_counter_add(&script.n_on_main, 1);
	if (phase != PHASE_READ && watt_counter_get_published(&has_fast_thread) &&
	    pthread_equal(pthread_self(), fast_thread))
		watt_counter_add(&script.n_on_fast, 1);
	if (watt_counter_get(&script.hangs_in) != phase)
		return;
	watt_counter_publish(&script.is_in, phase);
	while (watt_counter_get(&script.hangs_in) == phase)
		watt_signal_wait(&script.go_on, 0, watt_now_ns() + MS);
}

struct scripted {
	struct watt_power power;
	struct watt_channel channels[MAX_CHANNELS];
	struct watt_power_group groups[2];
	char names[MAX_CHANNELS][16];
	bool is_first; /* its first channel can go */
};

static const struct watt_power_ops scripted_slow, scripted_quick, scripted_watched, scripted_tiered;

static int scripted_make(const struct watt_power_ops *ops, const struct watt_known *known,
			 struct watt_power **ret)
{
	struct scripted *scripted = calloc(1, sizeof(*scripted));
	uint64_t i;

	assert_non_null(scripted);
	for (i = 0; i < watt_counter_get(&script.n_there); i++) {
		char *name = scripted->names[scripted->power.n_channels];

		snprintf(name, sizeof(scripted->names[0]), "c%u", (unsigned int)i);
		if (watt_known_has(known, name))
			continue;
		scripted->is_first |= i == 0;
		scripted->channels[scripted->power.n_channels++].name = name;
	}
	scripted->power.ops = ops;
	scripted->power.n_refused = (uint32_t)watt_counter_get(&script.n_refused);
	scripted->power.channels = scripted->channels;
	scripted->power.groups = scripted->groups;
	scripted->power.n_groups = 1;
	scripted->groups[0].n = scripted->power.n_channels;
	if (ops->flags & WATT_POWER_TIERED && scripted->power.n_channels > 1) {
		/* all but the first are of a slower tier */
		scripted->power.n_groups = 2;
		scripted->groups[0].n = 1;
		scripted->groups[1] = (struct watt_power_group){
			.first = 1, .n = scripted->power.n_channels - 1, .period_ns = 10 * MS
		};
		for (i = 1; i < scripted->power.n_channels; i++)
			scripted->channels[i].group = 1;
	}
	if (!scripted->power.n_channels) {
		free(scripted);
		return -ENODEV;
	}
	watt_counter_add(&script.n_opened, 1);
	*ret = &scripted->power;
	return 0;
}

static int slow_open(const struct watt_env *env, struct watt_power **ret)
{
	const struct watt_known nothing = { 0 };

	pass(PHASE_OPEN);
	watt_log(&env->log, WATT_LOG_INFO, "opened by %s", "its thread");
	return scripted_make(&scripted_slow, &nothing, ret);
}

static int slow_rescan(const struct watt_env *env, const struct watt_known *known,
		       struct watt_power **ret)
{
	pass(PHASE_RESCAN);
	return scripted_make(&scripted_slow, known, ret);
}

static int quick_rescan(const struct watt_env *env, const struct watt_known *known,
			struct watt_power **ret)
{
	int r;

	pass(PHASE_RESCAN);
	r = scripted_make(&scripted_quick, known, ret);
	watt_counter_publish(&script.n_rescans, watt_counter_get(&script.n_rescans) + 1);
	return r;
}

static int watched_open(const struct watt_env *env, struct watt_power **ret)
{
	const struct watt_known nothing = { 0 };

	return scripted_make(&scripted_watched, &nothing, ret);
}

static int watched_rescan(const struct watt_env *env, const struct watt_known *known,
			  struct watt_power **ret)
{
	int r = scripted_make(&scripted_watched, known, ret);

	watt_counter_publish(&script.n_rescans, watt_counter_get(&script.n_rescans) + 1);
	return r;
}

static int tiered_open(const struct watt_env *env, struct watt_power **ret)
{
	const struct watt_known nothing = { 0 };

	pass(PHASE_OPEN);
	return scripted_make(&scripted_tiered, &nothing, ret);
}

static void scripted_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct scripted *scripted = watt_container_of(power, struct scripted, power);
	uint32_t i;

	if (group == 0)
		pass(PHASE_READ);
	for (i = 0; i < scripted->groups[group].n; i++) {
		bool is_gone = scripted->is_first && group == 0 && i == 0 &&
			       watt_counter_get(&script.is_gone);

		ret[i] = (struct watt_sample){ .t_before_ns = watt_now_ns(),
					       .raw = is_gone ? 0 : 7,
					       .status = is_gone ? WATT_STATUS_ABSENT :
								   WATT_STATUS_OK };
		ret[i].t_after_ns = watt_now_ns();
	}
}

static void scripted_close(struct watt_power *power)
{
	pass(PHASE_CLOSE);
	watt_counter_publish(&script.n_closed, watt_counter_get(&script.n_closed) + 1);
	free(watt_container_of(power, struct scripted, power));
}

static const struct watt_power_ops scripted_slow = {
	.name = "slow",
	.flags = WATT_POWER_BLOCKING,
	.open = slow_open,
	.rescan = slow_rescan,
	.read = scripted_read,
	.close = scripted_close,
};

static const char *const watched[] = { "things", NULL };

static const struct watt_power_ops scripted_quick = {
	.name = "quick2",
	.rescan = quick_rescan,
	.watched = watched,
	.read = scripted_read,
	.close = scripted_close,
};

static const struct watt_power_ops scripted_watched = {
	.name = "watched",
	.flags = WATT_POWER_BLOCKING,
	.open = watched_open,
	.rescan = watched_rescan,
	.watched = watched,
	.read = scripted_read,
	.close = scripted_close,
};

static const struct watt_power_ops scripted_tiered = {
	.name = "tiered",
	.flags = WATT_POWER_BLOCKING | WATT_POWER_TIERED,
	.open = tiered_open,
	.read = scripted_read,
	.close = scripted_close,
};

static void script_begin(enum phase hangs_in, uint64_t n_there)
{
	memset(&script, 0, sizeof(script));
	script.main_thread = pthread_self();
	watt_counter_set(&script.hangs_in, hangs_in);
	watt_counter_set(&script.n_there, n_there);
	watt_counter_set(&has_fast_thread, 0);
}

/* Drives the engine, whose clock stands still, until a channel has a sample with this status. */
static void wait_for_status_at(struct watt_engine *engine, uint32_t channel,
			       enum watt_status status, uint64_t stands_at_ns)
{
	uint64_t give_up_ns = watt_now_ns() + 20 * WATT_NSEC_PER_SEC;
	struct watt_sample samples[64];
	size_t n, i;

	for (;;) {
		watt_engine_poll(engine, stands_at_ns ? stands_at_ns : watt_now_ns());
		n = watt_engine_fetch(engine, samples, WATT_ARRAY_SIZE(samples));
		for (i = 0; i < n; i++) {
			assert_true(samples[i].channel < watt_engine_channel_count(engine));
			if (samples[i].channel == channel && samples[i].status == status)
				return;
		}
		assert_true(watt_now_ns() < give_up_ns);
		usleep(500);
	}
}

static void wait_for_status(struct watt_engine *engine, uint32_t channel, enum watt_status status)
{
	wait_for_status_at(engine, channel, status, 0);
}

static void wait_for_count(const struct watt_counter *counter, uint64_t n)
{
	uint64_t give_up_ns = watt_now_ns() + 30 * WATT_NSEC_PER_SEC;

	while (watt_counter_get_published(counter) < n) {
		assert_true(watt_now_ns() < give_up_ns);
		usleep(500);
	}
}

static struct watt_engine *engine_with(const struct watt_power_ops *ops, const struct watt_env *env,
				       struct watt_log log)
{
	struct watt_engine_opts opts = { .period_ns = MS, .log = log };
	struct watt_power *quick = malloc(sizeof(*quick));
	struct watt_engine *engine = NULL;

	assert_non_null(quick);
	*quick = (struct watt_power){ .ops = &quick_ops,
				      .channels = quick_channels,
				      .n_channels = 2,
				      .groups = &quick_group,
				      .n_groups = 1 };
	assert_int_equal(watt_engine_new(&opts, &quick, 1, &engine), 0);
	assert_int_equal(
		watt_engine_watch(engine, env, ops, 0, !(ops->flags & WATT_POWER_BLOCKING)), 0);
	return engine;
}

static void note_opened(void *data, enum watt_log_level level, const char *text)
{
	assert_true(pthread_equal(pthread_self(), script.main_thread));
	if (!strcmp(text, "opened by its thread"))
		++*(int *)data;
}

/* It answers late: the others are read meanwhile, and its channels are behind theirs. */
static void test_opens_late(void **state)
{
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	struct watt_reader_stats stats;
	struct watt_engine *engine;
	int n_said = 0;

	script_begin(PHASE_OPEN, 2);
	engine = engine_with(&scripted_slow, &env, (struct watt_log){ note_opened, &n_said });
	wait_for_count(&script.is_in, PHASE_OPEN);
	assert_int_equal(watt_engine_start(engine), 0);
	wait_for_status(engine, 1, WATT_STATUS_OK);
	assert_int_equal(watt_engine_read_now(engine, 20 * WATT_NSEC_PER_SEC), 0);
	assert_int_equal(watt_engine_channel_count(engine), 2);
	watt_counter_set(&script.hangs_in, PHASE_NONE);
	wait_for_status(engine, 3, WATT_STATUS_OK);
	assert_int_equal(watt_engine_channel_count(engine), 4);
	assert_string_equal(watt_engine_channel(engine, 2)->name, "c0");
	assert_int_equal(watt_engine_channel_status(engine, 3), WATT_STATUS_OK);
	assert_true(watt_engine_channel_is_blocking(engine, 3));
	watt_engine_stats(engine, 3, &stats);
	assert_true(stats.reads > 0);
	assert_int_equal(n_said, 1);
	watt_engine_free(engine);
	wait_for_count(&script.n_closed, 1);
	assert_int_equal(watt_counter_get(&script.n_on_main), 0);
}

/* It comes late, and each of its tiers has a thread: one is read while the other hangs. */
static void test_tiers_come_late(void **state)
{
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	struct watt_engine *engine;

	script_begin(PHASE_OPEN, 3);
	engine = engine_with(&scripted_tiered, &env, (struct watt_log){ 0 });
	assert_int_equal(watt_engine_start(engine), 0);
	wait_for_status(engine, 1, WATT_STATUS_OK);
	watt_counter_set(&script.hangs_in, PHASE_READ);
	wait_for_status(engine, 4, WATT_STATUS_OK);
	wait_for_status(engine, 3, WATT_STATUS_OK);
	wait_for_count(&script.is_in, PHASE_READ);
	assert_int_equal(watt_engine_channel_status(engine, 2), WATT_STATUS_PENDING);
	watt_counter_set(&script.hangs_in, PHASE_NONE);
	wait_for_status(engine, 2, WATT_STATUS_OK);
	watt_engine_free(engine);
	wait_for_count(&script.n_closed, 1);
	assert_int_equal(watt_counter_get(&script.n_on_main), 0);
}

/* Wherever it hangs, the others go on and the end comes; it cleans up when it comes back. */
static void test_hangs_anywhere(void **state)
{
	static const enum phase phases[] = { PHASE_OPEN, PHASE_READ, PHASE_CLOSE };
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	struct watt_engine *engine;
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(phases); i++) {
		script_begin(phases[i], 1);
		engine = engine_with(&scripted_slow, &env, (struct watt_log){ 0 });
		assert_int_equal(watt_engine_start(engine), 0);
		if (phases[i] == PHASE_CLOSE)
			wait_for_status(engine, 2, WATT_STATUS_OK);
		else
			while (watt_counter_get_published(&script.is_in) != phases[i]) {
				watt_engine_poll(engine, watt_now_ns());
				usleep(500);
			}
		wait_for_status(engine, 0, WATT_STATUS_OK);
		watt_engine_free(engine);
		assert_int_equal(watt_counter_get(&script.is_in), phases[i]);
		watt_counter_set(&script.hangs_in, PHASE_NONE);
		wait_for_count(&script.n_closed, 1);
		assert_int_equal(watt_counter_get(&script.n_on_main), 0);
	}
}

/* Has the engine look as if it were t_ns, until the thread of the slow one is there. */
static void wait_for_phase(struct watt_engine *engine, enum phase phase, uint64_t t_ns)
{
	uint64_t give_up_ns = watt_now_ns() + 30 * WATT_NSEC_PER_SEC;

	while (watt_counter_get_published(&script.is_in) != phase) {
		assert_true(watt_now_ns() < give_up_ns);
		watt_engine_poll(engine, t_ns);
		usleep(500);
	}
}

/* Until it is open it is pending, when it takes too long for anything it is stale, never all right. */
static void test_what_is_said_meanwhile(void **state)
{
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	uint64_t t0_ns = watt_now_ns(), late_ns;
	struct watt_engine *engine;

	script_begin(PHASE_OPEN, 1);
	engine = engine_with(&scripted_slow, &env, (struct watt_log){ 0 });
	assert_int_equal(watt_engine_start(engine), 0);
	wait_for_phase(engine, PHASE_OPEN, t0_ns);
	assert_int_equal(watt_engine_source_status(engine, &scripted_slow), WATT_STATUS_PENDING);
	late_ns = watt_now_ns() + 6 * WATT_NSEC_PER_SEC;
	watt_engine_poll(engine, late_ns);
	assert_int_equal(watt_engine_source_status(engine, &scripted_slow), WATT_STATUS_STALE);
	/* it opens, and hangs in its first reading */
	watt_counter_set(&script.hangs_in, PHASE_READ);
	wait_for_phase(engine, PHASE_READ, t0_ns);
	assert_int_equal(watt_engine_source_status(engine, &scripted_slow), WATT_STATUS_OK);
	assert_int_equal(watt_engine_channel_status(engine, 2), WATT_STATUS_PENDING);
	late_ns = watt_now_ns() + 6 * WATT_NSEC_PER_SEC;
	watt_engine_poll(engine, late_ns);
	assert_int_equal(watt_engine_source_status(engine, &scripted_slow), WATT_STATUS_STALE);
	assert_int_equal(watt_engine_channel_status(engine, 2), WATT_STATUS_STALE);
	assert_int_not_equal(watt_engine_channel_status(engine, 0), WATT_STATUS_STALE);
	watt_counter_set(&script.hangs_in, PHASE_NONE);
	wait_for_status_at(engine, 2, WATT_STATUS_OK, t0_ns);
	assert_int_equal(watt_engine_source_status(engine, &scripted_slow), WATT_STATUS_OK);
	assert_int_equal(watt_engine_channel_status(engine, 2), WATT_STATUS_OK);
	watt_engine_free(engine);
}

/* A rescan that hangs keeps neither those who read nor the end waiting. */
static void test_rescan_hangs(void **state)
{
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	struct watt_engine *engine;

	script_begin(PHASE_RESCAN, 1);
	engine = engine_with(&scripted_quick, &env, (struct watt_log){ 0 });
	assert_int_equal(watt_engine_start(engine), 0);
	while (watt_counter_get_published(&script.is_in) != PHASE_RESCAN) {
		watt_engine_poll(engine, watt_now_ns());
		usleep(500);
	}
	wait_for_status(engine, 0, WATT_STATUS_OK);
	assert_int_equal(watt_counter_get(&has_fast_thread), 1);
	watt_engine_free(engine);
	watt_counter_set(&script.hangs_in, PHASE_NONE);
	wait_for_count(&script.n_closed, 1);
	assert_int_equal(watt_counter_get(&script.n_on_main), 0);
	assert_int_equal(watt_counter_get(&script.n_on_fast), 0);
}

/* What can block looks for more on its own thread; if that hangs, all of it is stale. */
static void test_slow_rescan_hangs(void **state)
{
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	uint64_t t_ns = watt_now_ns(), give_up_ns = t_ns + 30 * WATT_NSEC_PER_SEC;
	struct watt_engine *engine;

	script_begin(PHASE_RESCAN, 1);
	engine = engine_with(&scripted_slow, &env, (struct watt_log){ 0 });
	assert_int_equal(watt_engine_start(engine), 0);
	wait_for_status(engine, 2, WATT_STATUS_OK);
	while (watt_counter_get_published(&script.is_in) != PHASE_RESCAN) {
		assert_true(watt_now_ns() < give_up_ns);
		watt_engine_poll(engine, t_ns += WATT_NSEC_PER_SEC);
		usleep(500);
	}
	wait_for_status_at(engine, 0, WATT_STATUS_OK, watt_now_ns());
	watt_engine_poll(engine, watt_now_ns() + 6 * WATT_NSEC_PER_SEC);
	assert_int_equal(watt_engine_source_status(engine, &scripted_slow), WATT_STATUS_STALE);
	assert_int_equal(watt_engine_channel_status(engine, 2), WATT_STATUS_STALE);
	watt_engine_free(engine);
	watt_counter_set(&script.hangs_in, PHASE_NONE);
	wait_for_count(&script.n_closed, 1);
	assert_int_equal(watt_counter_get(&script.n_on_main), 0);
	assert_int_equal(watt_counter_get(&script.n_on_fast), 0);
}

/* What goes and comes back has the number that it had; what comes is behind all others. */
static void test_comes_and_goes(void **state)
{
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	struct watt_engine *engine;
	uint64_t opened;

	script_begin(PHASE_NONE, 1);
	engine = engine_with(&scripted_quick, &env, (struct watt_log){ 0 });
	assert_int_equal(watt_engine_start(engine), 0);
	wait_for_status(engine, 2, WATT_STATUS_OK);
	assert_int_equal(watt_engine_channel_count(engine), 3);
	watt_counter_set(&script.is_gone, 1);
	wait_for_status(engine, 2, WATT_STATUS_ABSENT);
	watt_counter_set(&script.n_there, 3);
	wait_for_status(engine, 4, WATT_STATUS_OK);
	assert_int_equal(watt_engine_channel_count(engine), 5);
	assert_string_equal(watt_engine_channel(engine, 4)->name, "c2");
	opened = watt_counter_get(&script.n_opened);
	watt_counter_set(&script.is_gone, 0);
	wait_for_status(engine, 2, WATT_STATUS_OK);
	assert_int_equal(watt_engine_channel_count(engine), 5);
	watt_engine_free(engine);
	assert_true(watt_counter_get(&script.n_opened) >= opened);
	assert_int_equal(watt_counter_get(&script.n_closed), watt_counter_get(&script.n_opened));
}

/* What is gone is searched at once, not when it would have been time to look for more. */
static void test_searched_soon(void **state)
{
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	uint64_t t_ns, give_up_ns, opened;
	struct watt_engine *engine;

	script_begin(PHASE_NONE, 1);
	engine = engine_with(&scripted_quick, &env, (struct watt_log){ 0 });
	assert_int_equal(watt_engine_start(engine), 0);
	t_ns = watt_now_ns() + 10 * WATT_NSEC_PER_SEC;
	wait_for_status_at(engine, 2, WATT_STATUS_OK, t_ns);
	opened = watt_counter_get(&script.n_opened);
	watt_counter_set(&script.is_gone, 1);
	wait_for_status_at(engine, 2, WATT_STATUS_ABSENT, t_ns);
	give_up_ns = watt_now_ns() + 20 * WATT_NSEC_PER_SEC;
	while (watt_counter_get(&script.n_opened) == opened) {
		assert_true(watt_now_ns() < give_up_ns);
		watt_engine_poll(engine, t_ns + 200 * MS);
		usleep(500);
	}
	watt_engine_free(engine);
}

/* What is not complete when its name is there is not forgotten. */
static void test_comes_in_pieces(void **state)
{
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	uint64_t t_ns = watt_now_ns(), give_up_ns = t_ns + 30 * WATT_NSEC_PER_SEC;
	struct watt_engine *engine;

	script_begin(PHASE_NONE, 0);
	engine = engine_with(&scripted_quick, &env, (struct watt_log){ 0 });
	assert_int_equal(watt_engine_start(engine), 0);
	while (watt_counter_get_published(&script.n_rescans) == 0) {
		assert_true(watt_now_ns() < give_up_ns);
		watt_engine_poll(engine, t_ns += 200 * MS);
		usleep(500);
	}
	watt_counter_set(&script.n_there, 1);
	while (watt_engine_channel_count(engine) == 2) {
		assert_true(watt_now_ns() < give_up_ns);
		watt_engine_poll(engine, t_ns += 200 * MS);
		usleep(500);
	}
	watt_engine_free(engine);
}

/* Lets time pass until so many rescans were made, or so many channels are there. */
static void pass_until(struct watt_engine *engine, uint64_t *t_ns, uint64_t n_rescans,
		       size_t n_channels)
{
	uint64_t give_up_ns = watt_now_ns() + 30 * WATT_NSEC_PER_SEC;

	while (watt_counter_get_published(&script.n_rescans) < n_rescans ||
	       watt_engine_channel_count(engine) < n_channels) {
		assert_true(watt_now_ns() < give_up_ns);
		watt_engine_poll(engine, *t_ns += 200 * MS);
		usleep(500);
	}
}

/* What could not be read is tried again, though no name changes; and no more when it could. */
static void test_refused_is_tried_again(void **state)
{
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	uint64_t t_ns = watt_now_ns(), n_rescans;
	struct watt_engine *engine;
	int i;

	script_begin(PHASE_NONE, 1);
	watt_counter_set(&script.n_refused, 2);
	engine = engine_with(&scripted_watched, &env, (struct watt_log){ 0 });
	assert_int_equal(watt_engine_start(engine), 0);
	pass_until(engine, &t_ns, 5, 3); /* three of them since the names were new */
	watt_counter_set(&script.n_refused, 1);
	watt_counter_set(&script.n_there, 2);
	pass_until(engine, &t_ns, 0, 4);
	assert_string_equal(watt_engine_channel(engine, 3)->name, "c1");
	watt_counter_set(&script.n_refused, 0);
	watt_counter_set(&script.n_there, 3);
	pass_until(engine, &t_ns, 0, 5);
	/* nothing is left: nobody looks any more */
	n_rescans = watt_counter_get_published(&script.n_rescans);
	for (i = 0; i < 200; i++) {
		watt_engine_poll(engine, t_ns += 200 * MS);
		usleep(500);
	}
	assert_int_equal(watt_counter_get_published(&script.n_rescans), n_rescans);
	watt_engine_free(engine);
}

/* The kernel told of such a device: looked at now, though no name has changed yet. */
static void test_heard_of(void **state)
{
	static const char *const subsystems[] = { "things", NULL };
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	uint64_t t_ns = watt_now_ns(), stands_ns;
	struct watt_engine *engine;
	uint64_t n_rescans;
	size_t i;

	script_begin(PHASE_NONE, 1);
	engine = engine_with(&scripted_watched, &env, (struct watt_log){ 0 });
	assert_int_equal(watt_engine_start(engine), 0);
	pass_until(engine, &t_ns, 3, 3); /* the names were new, and are so no more */
	for (i = 0; i < 2; i++) {
		pass_until(engine, &t_ns, 3 + 3 * i, 3 + i);
		n_rescans = watt_counter_get_published(&script.n_rescans);
		watt_counter_set(&script.n_there, 2 + i);
		watt_engine_hear(engine, "thing");
		watt_engine_hear(engine, "hwmon");
		assert_int_equal(watt_counter_get_published(&script.n_rescans), n_rescans);
		watt_engine_hear(engine, subsystems[i]);
		stands_ns = t_ns;
		wait_for_status_at(engine, (uint32_t)(3 + i), WATT_STATUS_OK, stands_ns);
	}
	watt_engine_free(engine);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opens_late),
		cmocka_unit_test(test_tiers_come_late),
		cmocka_unit_test(test_hangs_anywhere),
		cmocka_unit_test(test_what_is_said_meanwhile),
		cmocka_unit_test(test_rescan_hangs),
		cmocka_unit_test(test_slow_rescan_hangs),
		cmocka_unit_test(test_comes_and_goes),
		cmocka_unit_test(test_searched_soon),
		cmocka_unit_test(test_comes_in_pieces),
		cmocka_unit_test(test_refused_is_tried_again),
		cmocka_unit_test(test_heard_of),
	};

	return cmocka_run_group_tests_name("lookup", tests, NULL, NULL);
}
