/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wires the stages. Values come from the sources, are read by the engine, become curves in the
 * timeline and are divided in attrib; nothing is computed here.
 */
#include "pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "barriers.h"
#include "base/clock.h"
#include "base/util.h"
#include "base/words.h"
#include "clocks.h"
#include "executor.h"
#include "machine.h"
#include "naming.h"
#include "places.h"
#include "profile.h"
#include "sample/sample.h"
#include "sensors.h"
#include "source/host/pidns.h"
#include "source/select.h"
#include "tellers.h"

/* A sweep that comes later than that is no longer beside the readings that were due with it. */
#define LATE_SWEEP_NS WATT_NSEC_PER_MSEC
/* A full sweep now and then finds tasks whose death was lost. */
#define FULL_SWEEP_PERIOD_NS (10 * WATT_NSEC_PER_SEC)
/* How long a flush waits for names: it is for numbers. */
#define NAMES_PATIENCE_NS (100 * WATT_NSEC_PER_MSEC)
#define FETCH_SIZE 512
/* When a file that began is told what was learned: it waits for slow sensors no longer than this. */
#define LEARNED_AGAIN_NS WATT_NSEC_PER_SEC
#define LEARNED_LATEST_NS (60 * WATT_NSEC_PER_SEC)
#define READ_TIMEOUT_NS (200 * WATT_NSEC_PER_MSEC)

struct watt_pipeline {
	const struct watt_env *env;
	struct watt_sensors sensors;
	struct watt_engine *engine; /* that reads them */
	struct watt_clock_watch clocks;
	struct watt_places places;
	struct watt_activity_source *usage;
	struct watt_select_why usage_why; /* it is not a better one */
	struct watt_tellers tellers;
	struct watt_naming naming;
	struct watt_setup setup;
	char *prior; /* text of the profile; NULL: none */
	struct watt_executor *executor;
	struct watt_attrib *attrib;         /* of the executor, for questions */
	struct watt_recorder *recorder;     /* NULL: nothing is recorded */
	const struct watt_domain **domains; /* for the recorder */
	uint64_t full_sweep_ns;             /* when the last one was */
	bool has_threads;
	struct watt_barriers barriers; /* of the snapshots that are being waited for */
	uint32_t newest_cursor;
	uint64_t lost;      /* usage records lost at the last sweep */
	uint64_t told_lost; /* of them, those that a flush has told */
	uint64_t told_lost_samples;
	/* A file began there, and has yet to be told once more what was learned; 0: it was told. */
	uint64_t file_begin_ns;
	uint64_t told_learned_ns; /* when a file was told at its beginning */
};

/* Who chooses a key of counts that nobody makes is told, and CPU time divides. */
static void warn_of_keys(const struct watt_pipeline *p, const struct watt_options *options)
{
	size_t i;

	for (i = 0; i < options->share_keys.n && !options->is_precise; i++) {
		enum watt_share_key key = (enum watt_share_key)options->share_keys.list[i].value;

		if (key == WATT_KEY_CYCLES || key == WATT_KEY_INSTRUCTIONS)
			watt_log(
				&p->env->log, WATT_LOG_WARNING,
				"the share key '%s' needs precise mode (--precise), where they are "
				"counted: without it, CPU time divides",
				watt_share_key_name(key));
	}
}

static int open_flow(struct watt_pipeline *p, const struct watt_options *options)
{
	size_t len;
	int r;

	p->setup = (struct watt_setup){
		.channels = p->sensors.channels,
		.n_channels = p->sensors.n_channels,
		.cpu_slot = p->places.map.slot,
		.n_cpus = p->places.map.n_cpus,
		.n_slots = p->places.map.n_slots,
		.places = p->places.list,
		.self_pid = watt_pidns_orphans_pid(&p->env->procfs),
		.slice_ns = options->slice_ns,
		.usage = p->usage->ops->name,
		.usage_why = p->usage_why.text,
		.idle_policy = options->idle_policy,
		.memory_bytes = watt_machine_read_memory_bytes(p->env),
		.share_keys = &options->share_keys,
		.delays = &options->delays,
	};
	r = options->prior ? watt_profile_slurp(options->prior, &p->env->log, &p->prior, &len) : 0;
	if (r < 0)
		return r;
	p->setup.prior = p->prior;
	r = watt_executor_new(&p->setup, &p->env->log, &p->executor);
	if (r < 0)
		return r;
	p->attrib = watt_executor_attrib(p->executor);
	watt_naming_connect(&p->naming, p->executor);
	return 0;
}

int watt_pipeline_new(const struct watt_env *env, const struct watt_options *options,
		      struct watt_pipeline **ret)
{
	struct watt_pipeline *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	*ret = p; /* whatever becomes of it: a thread may have begun to open a source */
	p->env = env;
	p->has_threads = options->has_threads;
	r = watt_sensors_open(env, options, &p->sensors);
	p->engine = p->sensors.engine;
	if (r == 0)
		r = watt_places_open(env, p->sensors.channels, p->sensors.n_channels, &p->places);
	if (r == 0)
		r = watt_select_usage(p->env, &p->places.map, options->usage, &p->usage,
				      &p->usage_why);
	if (r == 0)
		r = watt_tellers_open(p->env, options, &p->places.map, &p->tellers);
	if (r == 0)
		warn_of_keys(p, options);
	if (r == 0)
		r = watt_naming_init(&p->naming, env);
	if (r == 0)
		r = open_flow(p, options);
	if (r == 0)
		r = watt_sensors_connect(&p->sensors, p->attrib);
	return r;
}

int watt_pipeline_stop(struct watt_pipeline *p)
{
	uint64_t deadline_ns = watt_now_ns() + WATT_SLOW_STOP_NS;
	int n_hung = p ? watt_tellers_stop(&p->tellers, deadline_ns) : 0;

	if (p && p->engine && watt_engine_stop(p->engine) > 0)
		n_hung += watt_engine_count_stranded(p->engine);
	if (p)
		n_hung += watt_naming_stop(&p->naming);
	return n_hung;
}

struct watt_pipeline *watt_pipeline_free(struct watt_pipeline *p)
{
	if (!p)
		return NULL;
	watt_recorder_close(p->recorder);
	watt_executor_free(p->executor);
	watt_barriers_done(&p->barriers);
	free(p->domains);
	free(p->prior);
	watt_naming_done(&p->naming);
	watt_tellers_done(&p->tellers);
	if (p->usage)
		p->usage->ops->close(p->usage);
	watt_places_done(&p->places);
	watt_sensors_done(&p->sensors);
	free(p);
	return NULL;
}

static int list_domains(struct watt_pipeline *p)
{
	size_t n = watt_attrib_domain_count(p->attrib), i;
	const struct watt_domain **domains;

	domains = reallocarray(p->domains, n + 1, sizeof(struct watt_domain *));
	if (!domains)
		return -ENOMEM;
	p->domains = domains;
	for (i = 0; i < n; i++)
		domains[i] = watt_attrib_domain(p->attrib, i);
	return 0;
}

int watt_pipeline_record(struct watt_pipeline *p, const char *path,
			 const struct watt_record_opts *opts)
{
	struct watt_machine_text machine;
	int r;

	if (p->recorder)
		return -EALREADY;
	r = list_domains(p);
	if (r < 0)
		return r;
	watt_machine_read(p->env, &machine);
	r = watt_recorder_new(path, opts, &p->setup, &machine.machine, p->domains,
			      watt_attrib_domain_count(p->attrib), &p->env->log, &p->recorder);
	watt_executor_record(p->executor, p->recorder);
	return r;
}

int watt_pipeline_end_recording(struct watt_pipeline *p, uint64_t t_ns)
{
	int r;

	if (!p->recorder)
		return -ENODATA;
	r = watt_recorder_end(p->recorder, t_ns);
	if (r == 0)
		watt_executor_record(p->executor, NULL);
	return r;
}

int watt_pipeline_record_stats(const struct watt_pipeline *p, struct watt_record_stats *ret)
{
	if (!p->recorder)
		return -ENODATA;
	watt_recorder_get_stats(p->recorder, ret);
	return 0;
}

/* ---- what the executor is told ---- */

/* Channels that have come: before any sample of theirs. */
static int take_channels(struct watt_pipeline *p)
{
	struct watt_op op = { .kind = WATT_OP_CHANNELS };
	size_t first = p->sensors.n_channels;
	int r = watt_sensors_poll(&p->sensors);

	if (r <= 0)
		return r;
	p->setup.channels = op.channels.list = p->sensors.channels;
	p->setup.n_channels = op.channels.n = p->sensors.n_channels;
	r = watt_executor_apply(p->executor, &op, NULL);
	if (r == 0)
		r = watt_sensors_pair(&p->sensors, first);
	if (r == 0 && p->recorder)
		r = list_domains(p);
	if (r == 0 && p->recorder)
		r = watt_recorder_grow(p->recorder, p->setup.channels, p->setup.n_channels,
				       p->domains, watt_attrib_domain_count(p->attrib));
	return r;
}

/* That the machine slept is known before what was read behind it. Nothing fails there. */
static void look_at_clocks(struct watt_pipeline *p)
{
	struct watt_op op;

	if (watt_clocks_look(&p->clocks, &p->env->log, &op))
		watt_executor_apply(p->executor, &op, NULL);
}

static int fetch(struct watt_pipeline *p)
{
	struct watt_sample samples[FETCH_SIZE];
	struct watt_op op;
	size_t n;
	int r;

	r = take_channels(p);
	if (r < 0)
		return r;
	do {
		n = watt_engine_fetch(p->engine, samples, FETCH_SIZE);
		look_at_clocks(p);
		if (!n)
			break;
		op = (struct watt_op){ .kind = WATT_OP_SAMPLES, .samples = { samples, n } };
		r = watt_executor_apply(p->executor, &op, NULL);
		if (r < 0)
			return r;
		watt_sensors_note(&p->sensors, samples, n);
	} while (n == FETCH_SIZE);
	return 0;
}

/* A file that begins now has to hold all that is known. */
static int tell_all(struct watt_pipeline *p)
{
	struct watt_op op;
	int r = 0;

	if (!p->recorder || !watt_recorder_needs_all(p->recorder))
		return 0;
	p->full_sweep_ns = 0;
	p->file_begin_ns = watt_now_ns();
	while (r == 0 && watt_places_recall(&p->places, &op))
		r = watt_executor_apply(p->executor, &op, NULL);
	return r < 0 ? r : watt_attrib_ask_again(p->attrib);
}

/* What every domain has learned: live it changes nothing. */
static int tell_learned(struct watt_pipeline *p)
{
	size_t i;
	int r = 0;

	for (i = 0; i < watt_attrib_domain_count(p->attrib) && r == 0; i++) {
		struct watt_op op = { .kind = WATT_OP_LEARNED };
		struct watt_words words;

		r = watt_attrib_save_learned(p->attrib, i, &words);
		if (r == -ENODATA) {
			r = 0;
			continue;
		}
		if (r < 0)
			break;
		op.learned.domain = watt_attrib_domain(p->attrib, i)->path;
		op.learned.words = words.list;
		op.learned.n_words = words.n;
		op.learned.texts = (const char *const *)words.texts;
		op.learned.n_texts = words.n_texts;
		r = watt_executor_apply(p->executor, &op, NULL);
		watt_words_done(&words);
	}
	return r;
}

/* Whether the domains that are well have got behind a time. */
static bool is_attributed(const struct watt_pipeline *p, uint64_t t_ns)
{
	size_t i;

	for (i = 0; i < watt_attrib_domain_count(p->attrib); i++)
		if (watt_attrib_settled_ns(p->attrib, i) < t_ns)
			return false;
	return true;
}

/*
 * A file that has begun is told what was learned twice: at its beginning, to divide by from then on;
 * and when all slices of before and all names are through, which is to the bit what is known live.
 */
static int tell_learned_again(struct watt_pipeline *p)
{
	uint64_t now_ns = watt_now_ns();

	if (!p->file_begin_ns || now_ns < p->file_begin_ns + LEARNED_AGAIN_NS)
		return 0;
	if ((!is_attributed(p, p->file_begin_ns) || !watt_attrib_knows_names(p->attrib)) &&
	    now_ns < p->file_begin_ns + LEARNED_LATEST_NS)
		return 0;
	p->file_begin_ns = 0;
	return tell_learned(p);
}

/* CPUs that have come: before what ran there. */
static int take_cpus(struct watt_pipeline *p, const struct watt_usage_batch *batch, uint64_t now_ns)
{
	struct watt_op op;
	int r = 0;

	while (r == 0 && watt_places_find(&p->places, batch, now_ns, &op)) {
		if (p->usage->ops->place_cpu)
			p->usage->ops->place_cpu(p->usage, op.place.cpu, op.place.slot);
		r = watt_executor_apply(p->executor, &op, NULL);
	}
	return r;
}

static int sweep(struct watt_pipeline *p)
{
	uint64_t now_ns = watt_now_ns();
	bool full = now_ns - p->full_sweep_ns >= FULL_SWEEP_PERIOD_NS;
	struct watt_op op = { .kind = WATT_OP_USAGE };
	struct watt_usage_batch *batch = &op.usage;
	int r;

	r = p->usage->ops->sweep(p->usage, full, batch);
	if (r < 0) {
		watt_log(&p->env->log, WATT_LOG_WARNING, "a sweep over the tasks failed: %s",
			 strerror(-r));
		return r;
	}
	if (batch->flags & WATT_BATCH_FULL)
		p->full_sweep_ns = now_ns;
	if (batch->lost != p->lost)
		p->full_sweep_ns = 0;
	p->lost = batch->lost;
	r = take_cpus(p, batch, now_ns);
	if (r == 0)
		r = watt_executor_apply(p->executor, &op, NULL);
	/* behind the sweep with which the file begins */
	if (r == 0 && p->file_begin_ns > p->told_learned_ns && batch->flags & WATT_BATCH_FULL) {
		p->told_learned_ns = now_ns;
		r = tell_learned(p);
	}
	return r;
}

static int advance(struct watt_pipeline *p)
{
	struct watt_op op = { .kind = WATT_OP_ADVANCE, .advance_ns = watt_now_ns() };

	return watt_executor_apply(p->executor, &op, NULL);
}

static int attribute(struct watt_pipeline *p)
{
	int r;

	r = fetch(p);
	if (r < 0)
		return r;
	watt_crosschecks_compare(&p->sensors.crosschecks, watt_now_ns(), &p->env->log);
	watt_naming_ask(&p->naming);
	r = watt_tellers_take(&p->tellers, &p->env->log, p->executor);
	return r < 0 ? r : advance(p);
}

/* Attribution stops at the earliest of the barriers. */
static int set_barrier(struct watt_pipeline *p)
{
	struct watt_op op = { .kind = WATT_OP_BARRIER,
			      .barrier_ns = watt_barriers_first_ns(&p->barriers) };

	if (op.barrier_ns == p->barriers.told_ns)
		return 0;
	p->barriers.told_ns = op.barrier_ns;
	return watt_executor_apply(p->executor, &op, NULL);
}

int watt_pipeline_tick(struct watt_pipeline *p, uint64_t due_ns)
{
	int swept, r;

	watt_barriers_expire(&p->barriers, watt_now_ns());
	r = set_barrier(p);
	if (r == 0)
		r = tell_all(p);
	/* before the sweep: who is named now may be gone behind it */
	if (r == 0)
		r = watt_naming_take_answers(&p->naming);
	if (r < 0)
		return r;
	/* what is counted between two readings is taken for even: a late sweep needs one of its own */
	if (due_ns && watt_now_ns() > due_ns + LATE_SWEEP_NS)
		watt_engine_ask_now(p->engine);
	swept = sweep(p);
	r = attribute(p); /* also without a sweep: what was read would be lost in the rings */
	if (r >= 0)
		r = tell_learned_again(p);
	return swept < 0 ? swept : r;
}

/* Before the first sweep, and told to the recording too. */
static int show_threads(struct watt_pipeline *p)
{
	const struct watt_op op = { .kind = WATT_OP_THREADS };

	if (!p->has_threads)
		return 0;
	if (p->usage->ops->show_threads)
		p->usage->ops->show_threads(p->usage);
	return watt_executor_apply(p->executor, &op, NULL);
}

int watt_pipeline_start(struct watt_pipeline *p)
{
	uint64_t deadline_ns = watt_now_ns() + READ_TIMEOUT_NS;
	int r;

	r = show_threads(p);
	if (r == 0)
		r = watt_engine_start(p->engine);
	if (r < 0)
		return r;
	/* the curves must begin before the first slice does: with its first reading */
	r = watt_engine_wait_now(p->engine, READ_TIMEOUT_NS);
	if (r < 0 && r != -ETIMEDOUT)
		return r;
	watt_tellers_wait(&p->tellers, deadline_ns);
	return watt_pipeline_tick(p, 0);
}

int watt_pipeline_drain(struct watt_pipeline *p)
{
	int r = fetch(p);

	return r < 0 ? r : advance(p);
}

uint64_t watt_pipeline_room_ns(const struct watt_pipeline *p)
{
	return watt_engine_room_ns(p->engine);
}

int watt_pipeline_flush_begin(struct watt_pipeline *p)
{
	int r = sweep(p);

	if (r == 0)
		watt_engine_ask_now(p->engine);
	return r;
}

int watt_pipeline_flush_wait(struct watt_pipeline *p)
{
	int r = watt_engine_wait_now(p->engine, READ_TIMEOUT_NS);

	return r == -ETIMEDOUT ? 0 : r; /* what is missing is seen by who looks for it */
}

/* Who waits for an earlier time lets nothing be attributed behind it. */
static uint64_t get_end_ns(const struct watt_pipeline *p, uint64_t t_ns)
{
	return p->barriers.told_ns ? WATT_MIN(p->barriers.told_ns, t_ns) : t_ns;
}

int watt_pipeline_flush_end(struct watt_pipeline *p, uint64_t t_ns, uint64_t timeout_ns)
{
	uint64_t patience_ns = WATT_MIN(timeout_ns, NAMES_PATIENCE_NS);
	int r = attribute(p);

	if (r == 0)
		r = watt_naming_take_answers(&p->naming);
	if (r < 0)
		return r;
	/* a source may know what happened only up to a moment before it was asked */
	return watt_attrib_last_sweep_ns(p->attrib) < t_ns ||
	       watt_attrib_dying_count(p->attrib, t_ns) ||
	       !watt_sensors_is_settled(&p->sensors, get_end_ns(p, t_ns)) ||
	       (watt_naming_is_pending(&p->naming) && watt_now_ns() - t_ns < patience_ns);
}

void watt_pipeline_flush_explain(struct watt_pipeline *p, uint64_t t_ns)
{
	size_t n_dying = watt_attrib_dying_count(p->attrib, t_ns);
	uint64_t swept_ns = watt_attrib_last_sweep_ns(p->attrib);

	if (swept_ns < t_ns)
		watt_log(&p->env->log, WATT_LOG_INFO,
			 "flush: what tasks did in the last %.6f s is not known",
			 (double)(t_ns - swept_ns) / 1e9);
	if (n_dying)
		watt_log(&p->env->log, WATT_LOG_INFO,
			 "flush: the last word of %zu tasks that died has not come", n_dying);
	watt_sensors_explain(&p->sensors, get_end_ns(p, t_ns));
}

int watt_pipeline_take_losses(struct watt_pipeline *p, uint64_t t_ns)
{
	uint64_t missed, lost_samples;
	int losses = 0;
	size_t i;

	watt_engine_losses(p->engine, &missed, &lost_samples);
	if (lost_samples != p->told_lost_samples)
		losses |= WATT_FLUSH_LOST_SAMPLES;
	if (p->lost != p->told_lost)
		losses |= WATT_FLUSH_LOST_USAGE;
	for (i = 0; i < watt_attrib_domain_count(p->attrib); i++)
		if (watt_sensors_is_silent(&p->sensors, i) &&
		    watt_attrib_settled_ns(p->attrib, i) < get_end_ns(p, t_ns))
			losses |= WATT_FLUSH_SILENT_SENSOR;
	p->told_lost_samples = lost_samples;
	p->told_lost = p->lost;
	return losses;
}

static int take_snapshot(struct watt_pipeline *p, uint32_t cursor, uint64_t t_ns,
			 uint64_t realtime_ns, struct watt_snapshot **ret)
{
	struct watt_op op = {
		.kind = cursor ? WATT_OP_LOOK : WATT_OP_SNAPSHOT,
		.snapshot = { .t_ns = t_ns, .realtime_ns = realtime_ns, .cursor = cursor }
	};
	union watt_executor_result result;
	int r;

	r = watt_naming_take_answers(&p->naming);
	if (r < 0)
		return r;
	watt_engine_losses(p->engine, &op.snapshot.missed_reads, &op.snapshot.lost_samples);
	r = watt_executor_apply(p->executor, &op, &result);
	if (r == 0)
		*ret = result.snapshot;
	return r;
}

static int release(struct watt_pipeline *p, uint32_t cursor)
{
	watt_barriers_drop(&p->barriers, cursor);
	return set_barrier(p);
}

int watt_pipeline_snapshot(struct watt_pipeline *p, uint32_t cursor, struct watt_snapshot **ret)
{
	int r = release(p, cursor);

	if (r < 0)
		return r;
	return take_snapshot(p, cursor, watt_now_ns(), watt_clock_ns(CLOCK_REALTIME), ret);
}

/* 0: not all has come yet, or another reader waits for an earlier time. */
static uint64_t get_cut_ns(const struct watt_pipeline *p, uint64_t t_ns)
{
	return p->barriers.told_ns == t_ns ? watt_executor_ready_ns(p->executor, t_ns) : 0;
}

int watt_pipeline_snapshot_at(struct watt_pipeline *p, uint32_t cursor, uint64_t t_ns,
			      struct watt_snapshot **ret)
{
	bool was_told = p->barriers.told_ns == t_ns;
	uint64_t cut_ns = 0, since_ns;
	int r = watt_barriers_put(&p->barriers, cursor, t_ns, watt_now_ns());

	if (r == 0)
		r = set_barrier(p);
	if (was_told)
		cut_ns = get_cut_ns(p, t_ns);
	/* What is needed may be here already, in the rings even. */
	if (r == 0 && !cut_ns) {
		r = watt_pipeline_drain(p);
		cut_ns = get_cut_ns(p, t_ns);
	}
	if (r < 0)
		return r;
	if (!cut_ns)
		return -EAGAIN;
	since_ns = watt_now_ns() - cut_ns;
	r = take_snapshot(p, cursor, cut_ns, watt_clock_ns(CLOCK_REALTIME) - since_ns, ret);
	return r < 0 ? r : release(p, cursor);
}

void watt_pipeline_hurry(struct watt_pipeline *p)
{
	watt_tellers_hurry(&p->tellers);
}

int watt_pipeline_open_cursor(struct watt_pipeline *p, uint32_t *ret_cursor)
{
	struct watt_op op = {
		.kind = WATT_OP_CURSOR,
		.cursor = { .t_ns = watt_now_ns(), .id = p->newest_cursor + 1, .is_open = true }
	};
	int r = watt_executor_apply(p->executor, &op, NULL);

	if (r == 0)
		*ret_cursor = ++p->newest_cursor;
	return r;
}

void watt_pipeline_close_cursor(struct watt_pipeline *p, uint32_t cursor)
{
	struct watt_op op = { .kind = WATT_OP_CURSOR, .cursor = { .id = cursor } };

	release(p, cursor);
	watt_executor_apply(p->executor, &op, NULL);
}

int watt_pipeline_mark(struct watt_pipeline *p, const struct watt_mark *mark)
{
	struct watt_op op = { .kind = WATT_OP_MARK, .mark = *mark };

	look_at_clocks(p);
	return watt_executor_apply(p->executor, &op, NULL);
}

void watt_pipeline_set_lost_marks(struct watt_pipeline *p, uint64_t n)
{
	if (p->recorder)
		watt_recorder_set_lost_marks(p->recorder, n);
}

int watt_pipeline_track(struct watt_pipeline *p, uint32_t pid, uint64_t *ret_entity_id)
{
	struct watt_op op = { .kind = WATT_OP_TRACK };
	union watt_executor_result result;
	int r;

	r = watt_pidns_translate(&p->env->procfs, pid, &op.track_pid);
	if (r == -EXDEV)
		watt_log(&p->env->log, WATT_LOG_ERROR,
			 "process %u is not in the pid namespace that %s shows", (unsigned int)pid,
			 p->env->procfs.path);
	if (r == 0)
		r = sweep(p); /* whoever was born a moment ago is known after it */
	if (r == 0)
		r = watt_executor_apply(p->executor, &op, &result);
	if (r == 0)
		*ret_entity_id = result.entity_id;
	return r;
}

int watt_pipeline_untrack(struct watt_pipeline *p, uint64_t entity_id)
{
	const struct watt_attrib *attrib = watt_executor_attrib(p->executor);
	struct watt_op op = { .kind = WATT_OP_UNTRACK };
	int r;

	r = watt_attrib_find_tracked(attrib, entity_id, &op.untrack.pid, &op.untrack.start_ns);
	if (r == 0)
		r = sweep(p);
	return r < 0 ? r : watt_executor_apply(p->executor, &op, NULL);
}

/* ---- what there is ---- */

const struct watt_setup *watt_pipeline_setup(const struct watt_pipeline *p)
{
	return &p->setup;
}

const struct watt_attrib *watt_pipeline_attrib(const struct watt_pipeline *p)
{
	return p->attrib;
}

int watt_pipeline_crosscheck(const struct watt_pipeline *p, size_t i, int64_t *ret_difference_ppm)
{
	return watt_sensors_crosscheck(&p->sensors, i, ret_difference_ppm);
}

int watt_pipeline_sample(const struct watt_pipeline *p, size_t i, struct watt_sample *ret)
{
	return watt_sensors_sample(&p->sensors, i, ret);
}

const char *watt_pipeline_source(const struct watt_pipeline *p, size_t i,
				 enum watt_status *ret_status)
{
	return watt_sensors_source(&p->sensors, i, ret_status);
}

void watt_pipeline_reader_stats(const struct watt_pipeline *p, size_t i,
				struct watt_reader_stats *ret)
{
	watt_engine_stats(p->engine, i, ret);
}

void watt_pipeline_tier_stats(const struct watt_pipeline *p, enum watt_tier tier,
			      struct watt_tier_stats *ret)
{
	watt_engine_tier_stats(p->engine, tier, ret);
}
