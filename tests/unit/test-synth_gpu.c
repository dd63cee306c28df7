/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lib/source/power/synth_gpu.c, lib/source/activity/synth_gpu.c and lib/sample/teller.c: a GPU
 * and who was on it, beside the sweeps of simulated tasks, live and replayed.
 */
#include "unit.h"

#include <wattribute/json.h>
#include <wattribute/wattribute.h>

#include "../options_of.h"
#include "base/clock.h"
#include "base/util.h"
#include "sample/teller.h"
#include "source/config/config.h"
#include "source/registry.h"
#include "source/synth/live.h"

#define MS WATT_NSEC_PER_MSEC

static const struct watt_config no_config;

static void open_env(struct watt_env *env)
{
	*env = (struct watt_env){ .sysfs = WATT_ROOT_INIT,
				  .procfs = WATT_ROOT_INIT,
				  .config = &no_config,
				  .epoch_ns = watt_now_ns() - 5000 * MS };
	assert_int_equal(watt_root_open(&env->sysfs, fixture("vm-xeon", "sys")), 0);
	assert_int_equal(watt_root_open(&env->procfs, "/proc"), 0);
}

static void close_env(struct watt_env *env)
{
	watt_root_close(&env->sysfs);
	watt_root_close(&env->procfs);
}

/* What it tells is what its twin takes, window by window. */
static void test_tells_the_truth(void **state)
{
	struct watt_activity_source *source;
	struct watt_activity_batch batch;
	struct watt_synth_gpu gpu;
	struct watt_env env;
	int64_t energy_nj;
	size_t i;

	open_env(&env);
	assert_true(watt_activity_synth_gpu.flags & WATT_ACTIVITY_TEST);
	assert_int_equal(watt_activity_synth_gpu.open(&env, NULL, &source), 0);
	watt_synth_live_gpu(&env, &gpu);
	assert_int_equal(source->ops->read(source, &batch), 0);
	assert_int_equal(batch.n_places, 1);
	assert_string_equal(batch.places[0].path, "gpu-0");
	assert_int_equal(batch.n_readings, 16 * WATT_SYNTH_GPU_USERS);
	assert_int_equal(batch.places[0].complete_ns, env.epoch_ns / 1000 * 1000 + 15 * 170 * MS);
	assert_int_equal(batch.readings[0].pid, getpid());
	assert_int_equal(watt_synth_gpu_run(&gpu, batch.places[0].complete_ns), 0);
	energy_nj = (int64_t)((batch.places[0].complete_ns - gpu.opts.epoch_ns) * gpu.opts.idle_w);
	for (i = 0; i < WATT_SYNTH_GPU_USERS; i++)
		energy_nj += (int64_t)(batch.readings[batch.n_readings - 1 - i].amount *
				       gpu.opts.busy_w);
	assert_int_equal(energy_nj, watt_synth_gpu_energy_nj(&gpu, batch.places[0].complete_ns));
	source->ops->close(source);
	watt_synth_gpu_done(&gpu);
	close_env(&env);
}

/* ---- a teller ---- */

static struct {
	_Atomic int opened, closed, readings, is_hung, is_released;
	_Atomic pid_t thread;  /* that opened it */
	_Atomic int elsewhere; /* calls by another one */
} slow;

static int slow_open(const struct watt_env *env, const struct watt_cpu_map *map,
		     struct watt_activity_source **ret)
{
	static struct watt_activity_source source;

	slow.thread = gettid();
	if (slow.opened++ == 0)
		return -EAGAIN; /* it works at the second try only */
	*ret = &source;
	return 0;
}

static int slow_read(struct watt_activity_source *source, struct watt_activity_batch *ret)
{
	slow.readings++;
	slow.elsewhere += gettid() != slow.thread;
	while (slow.is_hung && !slow.is_released)
		usleep(1000);
	*ret = (struct watt_activity_batch){ 0 };
	return 0;
}

static void slow_close(struct watt_activity_source *source)
{
	while (slow.is_hung && !slow.is_released)
		usleep(1000);
	slow.elsewhere += gettid() != slow.thread;
	slow.closed++;
}

static const struct watt_activity_ops slow_ops = {
	.name = "slow",
	.period_ns = 1,
	.open = slow_open,
	.read = slow_read,
	.close = slow_close,
};

/* Asks one thing at a time, on another thread; one that hangs is left behind. */
static void test_teller(void **state)
{
	struct watt_activity_batch batch;
	struct watt_teller *teller;
	struct watt_env env;
	uint64_t now_ns = watt_now_ns();
	int i;

	open_env(&env);
	assert_int_equal(watt_teller_new(&env, &slow_ops, NULL, &teller), 0);
	assert_int_equal(watt_teller_wait(teller, now_ns + 60000 * MS), 0);
	assert_int_equal(watt_teller_poll(teller, now_ns, &batch), -EAGAIN); /* the error */
	assert_int_equal(watt_teller_poll(teller, now_ns + 9000 * MS, &batch), -EAGAIN);
	assert_int_equal(watt_teller_wait(teller, now_ns + 60000 * MS), -ENODATA);
	now_ns += 11000 * MS;
	for (i = 0; i < 3; i++) {
		now_ns += MS;
		assert_int_equal(watt_teller_poll(teller, now_ns, &batch), -EAGAIN);
		assert_int_equal(watt_teller_wait(teller, now_ns + 60000 * MS), 0);
		assert_int_equal(watt_teller_poll(teller, now_ns, &batch), 0);
	}
	assert_int_equal(slow.readings, 3);
	slow.is_hung = 1;
	assert_int_equal(watt_teller_poll(teller, now_ns + MS, &batch), -EAGAIN);
	assert_int_equal(watt_teller_wait(teller, watt_now_ns() + 20 * MS), -ETIMEDOUT);
	assert_int_equal(watt_teller_poll(teller, now_ns + 2 * MS, &batch), -EAGAIN);
	assert_int_equal(watt_teller_stop(teller, watt_now_ns() + 20 * MS), 1);
	watt_teller_free(teller);
	assert_int_equal(slow.closed, 0);
	slow.is_released = 1;
	for (i = 0; i < 10000 && !slow.closed; i++)
		usleep(1000);
	assert_int_equal(slow.closed, 1); /* when it came back */
	assert_int_equal(slow.elsewhere, 0);
	close_env(&env);
}

/* One that is open and at rest is closed by its thread, too; where that hangs nobody waits. */
static void test_teller_closes(void **state)
{
	struct watt_activity_batch batch;
	struct watt_teller *teller;
	struct watt_env env;
	uint64_t now_ns = watt_now_ns();
	int hangs, i;

	for (hangs = 0; hangs < 2; hangs++) {
		memset(&slow, 0, sizeof(slow));
		slow.opened = 1; /* it works at once */
		open_env(&env);
		assert_int_equal(watt_teller_new(&env, &slow_ops, NULL, &teller), 0);
		assert_int_equal(watt_teller_wait(teller, now_ns + 60000 * MS), 0);
		assert_int_equal(watt_teller_poll(teller, now_ns, &batch), 0);
		slow.is_hung = hangs;
		assert_int_equal(
			watt_teller_stop(teller, watt_now_ns() + (hangs ? 20 : 60000) * MS), hangs);
		assert_int_equal(slow.closed, !hangs);
		watt_teller_free(teller);
		slow.is_released = 1;
		for (i = 0; i < 30000 && !slow.closed; i++)
			usleep(1000);
		assert_int_equal(slow.closed, 1);
		assert_int_equal(slow.elsewhere, 0);
		close_env(&env);
	}
}

/* ---- a session ---- */

static size_t gpu_of(const struct watt_snapshot *snap)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_domain_count(snap); i++)
		if (!strcmp(watt_snapshot_get_domain(snap, i)->path, "gpu-0"))
			return i;
	fail();
	return 0;
}

static char *text_of(const struct watt_snapshot *snap)
{
	char *text;

	assert_int_equal(watt_snapshot_to_json(snap, 0, &text), 0);
	return text;
}

/* Of users of the GPU: the two that the sweeps know. The other two are nobody that they know. */
static void check_users(const struct watt_snapshot *snap)
{
	size_t gpu = gpu_of(snap), i, n = 0;
	const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, gpu);

	assert_int_equal(watt_snapshot_get_domain(snap, gpu)->key, WATT_KEY_GPU_TIME);
	assert_int_equal(s->key, WATT_KEY_GPU_TIME);
	assert_int_equal(s->key_readiness_ppm, 1000000);
	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		n += (row->entity->kind == WATT_ENTITY_PROCESS ||
		      row->entity->kind == WATT_ENTITY_EXITED) &&
		     row->window_nj[gpu];
	}
	assert_in_range(n, 1, 2);
	assert_true(s->window_unattributed_nj > 0);
}

/* The same bytes come out of the recording, and what was on the GPU is among them. */
static void test_live_and_replay(void **state)
{
	struct watt_session *ses;
	struct watt_snapshot *snap;
	char *dir = scratch_new(), path[256], *live, *replayed;

	snprintf(path, sizeof(path), "%s/gpu.watt", dir);
	assert_int_equal(open_by(options_of("sources", "synth,synth_gpu", "usage", "synth", "slice",
					    "20ms", NULL),
				 &ses),
			 0);
	assert_int_equal(watt_session_record(ses, path, NULL), 0);
	assert_int_equal(watt_session_start(ses), 0);
	usleep(2500000);
	assert_int_equal(watt_session_snapshot(ses, &snap), 0);
	check_users(snap);
	live = text_of(snap);
	watt_snapshot_unref(snap);
	watt_session_close(ses);
	assert_int_equal(watt_session_open_recording(path, NULL, &ses), 0);
	assert_int_equal(watt_session_next_snapshot(ses, &snap), 0);
	replayed = text_of(snap);
	assert_string_equal(live, replayed);
	watt_snapshot_unref(snap);
	watt_session_close(ses);
	free(live);
	free(replayed);
	scratch_remove(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tells_the_truth),
		cmocka_unit_test(test_teller),
		cmocka_unit_test(test_teller_closes),
		cmocka_unit_test(test_live_and_replay),
	};

	return cmocka_run_group_tests_name("synth_gpu", tests, NULL, NULL);
}
