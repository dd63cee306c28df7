/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session on a recording: its ops, told to the same stages as they were told to live. Time is
 * that of the ops; no clock is read here. What the file has lost or damaged is passed by, and told.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <wattribute/recording.h>

#include "base/clock.h"
#include "base/privacy.h"
#include "base/util.h"
#include "options.h"
#include "profile.h"
#include "session.h"

/* Numbers of cursors that no recording has: a session counts its own from 1. */
#define FIRST_CURSOR 0x80000000u

struct replay {
	struct watt_session ses;
	struct watt_recording *rec;
	struct watt_setup setup;     /* the recording's, with what is chosen now */
	struct watt_options options; /* a copy; its lists stand where they are not empty */
	struct watt_executor *executor;
	struct watt_log log;
	struct watt_sample *newest; /* per channel; t_after_ns 0: none yet */
	uint64_t now_ns;            /* of what was read last */
	uint64_t realtime_off_ns;   /* CLOCK_REALTIME minus CLOCK_MONOTONIC, modulo 2^64 */
	uint64_t missed_reads;      /* as the newest recorded snapshot has them */
	uint64_t lost_samples;
	uint64_t lost_usage; /* as the newest sweep has it */
	uint64_t told_lost_samples, told_lost_usage;
	uint64_t barrier_ns;    /* of the snapshot that is being waited for; 0: none */
	uint32_t newest_cursor; /* of the caller's: not those that are recorded */
	uint64_t n_damages;
	enum watt_privacy privacy;
	uint32_t owner_uid;
	char *prior;        /* text of the profile that is chosen now; NULL: none */
	char *told_cmdline; /* of the newest identity, as it may be told */
	int fd;
	bool is_started;
	bool has_all; /* a full sweep was there */
	bool is_own;  /* snapshots are the caller's: the recorded ones are passed by */
	bool is_over;
};

static struct replay *replay_of(const struct watt_session *ses)
{
	return watt_container_of(ses, struct replay, ses);
}

static void replay_close(struct watt_session *ses)
{
	struct replay *p = replay_of(ses);

	watt_executor_free(p->executor);
	watt_recording_close(p->rec);
	watt_lock_free(p->ses.lock);
	if (p->fd >= 0)
		close(p->fd);
	free(p->newest);
	free(p->told_cmdline);
	free(p->prior);
	watt_options_done(&p->options);
	free(p);
}

static int replay_start(struct watt_session *ses)
{
	struct replay *p = replay_of(ses);

	if (p->is_started)
		return -EALREADY;
	p->is_started = true;
	return 0;
}

/* Something is always due: readable for ever. */
static int replay_get_fd(const struct watt_session *ses)
{
	return replay_of(ses)->fd;
}

/* ---- ops ---- */

static void note_damage(struct replay *p, const char *what)
{
	if (!p->n_damages++)
		watt_log(&p->log, WATT_LOG_WARNING,
			 "the recording is damaged %.3f s after its beginning (%s); what is there "
			 "is left out",
			 (double)(p->now_ns - watt_recording_get_info(p->rec)->start_ns) / 1e9,
			 what);
}

/* Whether an op has to be told to the stages at all. */
static bool is_wanted(struct replay *p, const struct watt_op *op)
{
	switch (op->kind) {
	case WATT_OP_BARRIER:
	case WATT_OP_SNAPSHOT:
	case WATT_OP_LOOK:
		return !p->is_own;
	case WATT_OP_CURSOR:
		return !p->is_own || !op->cursor.is_open;
	case WATT_OP_USAGE:
		/* A later file of a recording begins in the middle: without a full sweep nobody
		 * knows what tasks had used before. */
		p->has_all = p->has_all || op->usage.flags & WATT_BATCH_FULL;
		return p->has_all;
	default:
		return true;
	}
}

/* What the session has to know of an op for itself. */
static void note(struct replay *p, const struct watt_op *op)
{
	size_t i;

	switch (op->kind) {
	case WATT_OP_SAMPLES:
		for (i = 0; i < op->samples.n; i++)
			if (op->samples.list[i].channel < watt_recording_get_channel_count(p->rec))
				p->newest[op->samples.list[i].channel] = op->samples.list[i];
		break;
	case WATT_OP_USAGE:
		p->now_ns = WATT_MAX(p->now_ns, op->usage.t_after_ns);
		p->lost_usage = op->usage.lost;
		break;
	case WATT_OP_ADVANCE:
		p->now_ns = WATT_MAX(p->now_ns, op->advance_ns);
		break;
	case WATT_OP_SNAPSHOT:
	case WATT_OP_LOOK:
		p->realtime_off_ns = op->snapshot.realtime_ns - op->snapshot.t_ns;
		p->missed_reads = op->snapshot.missed_reads;
		p->lost_samples = op->snapshot.lost_samples;
		break;
	case WATT_OP_CLOCK:
		p->realtime_off_ns = op->clock.realtime_ns - op->clock.to_ns;
		break;
	case WATT_OP_MARK:
		watt_mark_queue_push(&p->ses.told, &op->mark);
		break;
	case WATT_OP_CHANNELS:
		p->setup.n_channels = WATT_MAX(p->setup.n_channels, op->channels.n);
		break;
	default:
		break;
	}
}

/* Who it is, without what is not to be told: ret is a copy, whose texts live until the next one. */
static int tell_identity(struct replay *p, const struct watt_identity *identity,
			 struct watt_identity *ret)
{
	size_t len;

	*ret = *identity;
	if (!identity->cmdline || !*identity->cmdline || p->privacy == WATT_PRIVACY_ALL)
		return 0;
	ret->cmdline = NULL;
	if (!watt_privacy_shows(p->privacy, p->owner_uid, identity)) {
		ret->missing |= WATT_IDENTITY_CMDLINE;
		return 0;
	}
	free(p->told_cmdline);
	p->told_cmdline = strdup(identity->cmdline);
	if (!p->told_cmdline)
		return -ENOMEM;
	len = watt_privacy_apply(p->privacy, p->told_cmdline, strlen(p->told_cmdline));
	p->told_cmdline[len] = '\0';
	ret->cmdline = p->told_cmdline;
	return 0;
}

/* Tells the stages an op of the file. */
static int tell(struct replay *p, const struct watt_op *op, union watt_executor_result *ret)
{
	struct watt_identity identity;
	struct watt_op told = *op;
	int r;

	if (op->kind != WATT_OP_IDENTITY)
		return watt_executor_apply(p->executor, op, ret);
	r = tell_identity(p, op->identity, &identity);
	told.identity = &identity;
	return r < 0 ? r : watt_executor_apply(p->executor, &told, ret);
}

static void say_end(struct replay *p)
{
	p->is_over = true;
	if (p->n_damages > 1)
		watt_log(&p->log, WATT_LOG_WARNING, "the recording is damaged in %llu places",
			 (unsigned long long)p->n_damages);
}

/* The names are in the recording, or nowhere. */
static void forget_questions(struct replay *p)
{
	struct watt_attrib *attrib = watt_executor_attrib(p->executor);
	struct watt_cgroup container;
	uint64_t id;
	uint32_t pid;
	bool v1;

	while (watt_attrib_next_nameless(attrib, &pid, &id) == 0)
		continue;
	while (watt_attrib_next_unknown_cgroup(attrib, &id, &v1, &pid) == 0)
		continue;
	while (watt_attrib_next_unknown_user(attrib, &pid) == 0)
		continue;
	while (watt_attrib_next_unknown_container(attrib, &container) == 0)
		continue;
}

/*
 * Tells the stages the next op that is there. Returns its kind, or 0: the recording is over, or a
 * negative errno. ret_snapshot: of a SNAPSHOT op, if these are wanted.
 */
static int take_next(struct replay *p, struct watt_snapshot **ret_snapshot)
{
	union watt_executor_result result = { 0 };
	struct watt_op op;
	int r;

	while (!p->is_over) {
		r = watt_recording_next_op(p->rec, &op);
		if (r == 1) {
			say_end(p);
			break;
		}
		if (r == -EBADMSG)
			note_damage(p, "what is stored can't be read");
		else if (r < 0)
			return r;
		if (r < 0)
			continue;
		note(p, &op);
		r = is_wanted(p, &op) ? tell(p, &op, &result) : 0;
		if (r == -EOVERFLOW) /* as it was live: there was no snapshot */
			continue;
		if (r == -ENOMEM)
			return r;
		/*
		 * Older recordings have the questions that were refused, too; and a later part does not
		 * have the sets whose first process had died before it began.
		 */
		if (r < 0 && op.kind != WATT_OP_TRACK && op.kind != WATT_OP_UNTRACK) {
			note_damage(p, r == -EMFILE ? "more readers at a time than a session has" :
						      "it says what can't be");
			continue;
		}
		if (op.kind == WATT_OP_ADVANCE)
			forget_questions(p);
		if (op.kind == WATT_OP_LOOK && !p->is_own)
			watt_snapshot_unref(result.snapshot);
		if (op.kind == WATT_OP_SNAPSHOT && !p->is_own && ret_snapshot)
			*ret_snapshot = result.snapshot;
		return (int)op.kind;
	}
	return 0;
}

static int replay_next_snapshot(struct watt_session *ses, struct watt_snapshot **ret)
{
	struct replay *p = replay_of(ses);
	int r;

	if (p->is_own)
		return -EINVAL;
	do {
		r = take_next(p, ret);
	} while (r > 0 && r != WATT_OP_SNAPSHOT);
	if (r == 0)
		*ret = NULL;
	return r < 0 ? r : r == 0;
}

/* ---- as if it were live ---- */

/* Those who ask meanwhile don't wait until all of it is read. */
static void let_others(struct replay *p)
{
	watt_lock_give(p->ses.lock);
	watt_lock_take(p->ses.lock);
}

static int set_barrier(struct replay *p, uint64_t t_ns)
{
	struct watt_op op = { .kind = WATT_OP_BARRIER, .barrier_ns = t_ns };

	p->barrier_ns = t_ns;
	return watt_executor_apply(p->executor, &op, NULL);
}

/* Attributes what the barrier lets go now. */
static int advance(struct replay *p)
{
	struct watt_op op = { .kind = WATT_OP_ADVANCE, .advance_ns = p->now_ns };

	return p->has_all ? watt_executor_apply(p->executor, &op, NULL) : 0;
}

/* From now on, snapshots are cut where the caller says. */
static int take_over(struct replay *p)
{
	if (p->is_own)
		return 0;
	p->is_own = true;
	return set_barrier(p, 0);
}

static int replay_dispatch(struct watt_session *ses)
{
	struct replay *p = replay_of(ses);
	int r;

	r = take_over(p);
	if (r < 0)
		return r;
	do {
		r = take_next(p, NULL);
	} while (r > 0 && r != WATT_OP_ADVANCE);
	if (r == 0)
		return -ENODATA;
	return r < 0 ? r : 1;
}

static int replay_wait(struct watt_session *ses, uint64_t timeout_ns)
{
	struct replay *p = replay_of(ses);
	uint64_t end_ns = p->now_ns + timeout_ns;
	int r = 0;

	while (r >= 0 && p->now_ns < end_ns) {
		r = replay_dispatch(ses);
		let_others(p);
	}
	return WATT_MIN(r, 0);
}

static bool is_settled(const struct replay *p, uint64_t t_ns)
{
	size_t i;

	for (i = 0; i < watt_attrib_domain_count(p->ses.attrib); i++) {
		int32_t channel = watt_attrib_domain(p->ses.attrib, i)->channel;

		if (channel >= 0 && p->newest[channel].status == WATT_STATUS_OK &&
		    watt_attrib_settled_ns(p->ses.attrib, i) < t_ns)
			return false;
	}
	return true;
}

/* What the live run lost since the last flush, as far as it is recorded. */
static int take_losses(struct replay *p)
{
	int losses = 0;

	if (p->lost_samples != p->told_lost_samples)
		losses |= WATT_FLUSH_LOST_SAMPLES;
	if (p->lost_usage != p->told_lost_usage)
		losses |= WATT_FLUSH_LOST_USAGE;
	p->told_lost_samples = p->lost_samples;
	p->told_lost_usage = p->lost_usage;
	return losses;
}

static int replay_flush(struct watt_session *ses, uint64_t timeout_ns)
{
	struct replay *p = replay_of(ses);
	uint64_t t0_ns = p->now_ns;
	int r = 0;

	while (watt_attrib_dying_count(p->ses.attrib, t0_ns) || !is_settled(p, t0_ns)) {
		r = replay_dispatch(ses);
		if (r < 0)
			return r;
		if (p->now_ns - t0_ns >= timeout_ns)
			return -ETIMEDOUT;
		let_others(p);
	}
	return take_losses(p);
}

static int take_snapshot(struct replay *p, uint32_t cursor, uint64_t t_ns,
			 struct watt_snapshot **ret)
{
	struct watt_op op = { .kind = cursor ? WATT_OP_LOOK : WATT_OP_SNAPSHOT,
			      .snapshot = { .t_ns = t_ns,
					    .realtime_ns = t_ns + p->realtime_off_ns,
					    .cursor = cursor,
					    .missed_reads = p->missed_reads,
					    .lost_samples = p->lost_samples } };
	union watt_executor_result result;
	int r;

	r = watt_executor_apply(p->executor, &op, &result);
	if (r == 0)
		*ret = result.snapshot;
	return r;
}

static int replay_snapshot(struct watt_session *ses, uint32_t cursor, struct watt_snapshot **ret)
{
	struct replay *p = replay_of(ses);
	bool had_barrier = p->barrier_ns;
	int r;

	r = take_over(p);
	if (r == 0 && had_barrier)
		r = set_barrier(p, 0);
	if (r == 0 && had_barrier)
		r = advance(p);
	return r < 0 ? r : take_snapshot(p, cursor, p->now_ns, ret);
}

static int replay_snapshot_at(struct watt_session *ses, uint32_t cursor, uint64_t t_ns,
			      uint64_t timeout_ns, struct watt_snapshot **ret)
{
	struct replay *p = replay_of(ses);
	uint64_t cut_ns;
	int r;

	(void)timeout_ns; /* what is there is there */
	r = take_over(p);
	if (r == 0 && p->barrier_ns != t_ns)
		r = set_barrier(p, t_ns);
	if (r == 0)
		r = advance(p);
	while (r >= 0 && !(cut_ns = watt_executor_ready_ns(p->executor, t_ns)))
		r = replay_dispatch(ses);
	if (r < 0)
		return r;
	r = take_snapshot(p, cursor, cut_ns, ret);
	return r < 0 ? r : set_barrier(p, 0);
}

static int replay_open_cursor(struct watt_session *ses, uint32_t *ret_cursor)
{
	struct replay *p = replay_of(ses);
	struct watt_op op = { .kind = WATT_OP_CURSOR,
			      .cursor = { .t_ns = p->now_ns,
					  .id = FIRST_CURSOR + p->newest_cursor,
					  .is_open = true } };
	int r;

	r = watt_executor_apply(p->executor, &op, NULL);
	if (r < 0)
		return r;
	*ret_cursor = op.cursor.id;
	p->newest_cursor++;
	return 0;
}

static void replay_close_cursor(struct watt_session *ses, uint32_t cursor)
{
	struct watt_op op = { .kind = WATT_OP_CURSOR, .cursor = { .id = cursor } };

	watt_executor_apply(replay_of(ses)->executor, &op, NULL);
}

static uint64_t replay_get_time_ns(const struct watt_session *ses)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(ses->lock);

	return replay_of(ses)->now_ns;
}

static int replay_track(struct watt_session *ses, uint32_t pid, uint64_t *ret_entity_id)
{
	struct watt_op op = { .kind = WATT_OP_TRACK, .track_pid = pid };
	union watt_executor_result result;
	int r;

	r = watt_executor_apply(replay_of(ses)->executor, &op, &result);
	if (r == 0)
		*ret_entity_id = result.entity_id;
	return r;
}

static int replay_untrack(struct watt_session *ses, uint64_t entity_id)
{
	struct watt_executor *executor = replay_of(ses)->executor;
	struct watt_op op = { .kind = WATT_OP_UNTRACK };
	int r = watt_attrib_find_tracked(watt_executor_attrib(executor), entity_id, &op.untrack.pid,
					 &op.untrack.start_ns);

	return r < 0 ? r : watt_executor_apply(executor, &op, NULL);
}

static int replay_record(struct watt_session *ses, const char *path,
			 const struct watt_record_opts *opts)
{
	(void)ses, (void)path, (void)opts;
	return -EOPNOTSUPP; /* the file is there: copy it */
}

static int replay_end_recording(struct watt_session *ses, uint64_t t_ns)
{
	(void)ses, (void)t_ns;
	return -ENODATA;
}

static int replay_get_record_stats(const struct watt_session *ses, struct watt_record_stats *ret)
{
	(void)ses, (void)ret;
	return -ENODATA;
}

static int replay_get_crosscheck(const struct watt_session *ses, size_t index,
				 int64_t *ret_difference_ppm)
{
	(void)ses, (void)index, (void)ret_difference_ppm;
	return -EOPNOTSUPP;
}

static int replay_get_sample(const struct watt_session *ses, size_t index, struct watt_sample *ret)
{
	const struct replay *p = replay_of(ses);

	if (!p->newest[index].t_after_ns)
		return -ENODATA;
	*ret = p->newest[index];
	return 0;
}

static int replay_get_reader_stats(const struct watt_session *ses, size_t index,
				   struct watt_reader_stats *ret)
{
	(void)ses, (void)index, (void)ret;
	return -ENODATA;
}

static int replay_get_tier_stats(const struct watt_session *ses, enum watt_tier tier,
				 struct watt_tier_stats *ret)
{
	(void)ses, (void)tier, (void)ret;
	return -ENODATA;
}

static const char *replay_get_source(const struct watt_session *ses, size_t index,
				     enum watt_status *ret_status)
{
	(void)ses, (void)index, (void)ret_status;
	return NULL;
}

static const struct watt_session_ops replay_ops = {
	.close = replay_close,
	.start = replay_start,
	.get_fd = replay_get_fd,
	.dispatch = replay_dispatch,
	.wait = replay_wait,
	.flush = replay_flush,
	.snapshot = replay_snapshot,
	.snapshot_at = replay_snapshot_at,
	.open_cursor = replay_open_cursor,
	.close_cursor = replay_close_cursor,
	.next_snapshot = replay_next_snapshot,
	.get_time_ns = replay_get_time_ns,
	.track = replay_track,
	.untrack = replay_untrack,
	.record = replay_record,
	.end_recording = replay_end_recording,
	.get_record_stats = replay_get_record_stats,
	.get_crosscheck = replay_get_crosscheck,
	.get_sample = replay_get_sample,
	.get_reader_stats = replay_get_reader_stats,
	.get_tier_stats = replay_get_tier_stats,
	.get_source = replay_get_source,
};

/* ---- opening ---- */

/* What is chosen now stands in place of what the live run did. */
static void choose(struct watt_setup *setup, const struct watt_options *options)
{
	if (options->has_idle_policy)
		setup->idle_policy = options->idle_policy;
	if (options->share_keys.n)
		setup->share_keys = &options->share_keys;
	if (options->delays.n)
		setup->delays = &options->delays;
}

/* A profile that is chosen now, in place of the live run's. */
static int choose_prior(struct replay *p)
{
	size_t len;
	int r;

	if (!p->options.prior)
		return 0;
	r = watt_profile_slurp(p->options.prior, &p->log, &p->prior, &len);
	if (r == 0)
		p->setup.prior = p->prior;
	return r;
}

/* Who sweeps by process alone has recorded whether it told of threads. */
static int show_threads(struct replay *p)
{
	const struct watt_op op = { .kind = WATT_OP_THREADS };

	if (!strcmp(p->setup.usage, "procfs"))
		return 0;
	return watt_executor_apply(p->executor, &op, NULL);
}

static int open_parts(struct replay *p, const char *path)
{
	const struct watt_recording_info *info;
	int r;

	r = watt_recording_open(path, p->log.fn, p->log.data, &p->rec);
	if (r < 0)
		return r;
	info = watt_recording_get_info(p->rec);
	p->now_ns = info->start_ns;
	p->realtime_off_ns = info->start_realtime_ns - info->start_ns;
	p->setup = *watt_recording_get_setup(p->rec);
	choose(&p->setup, &p->options);
	r = choose_prior(p);
	if (r < 0)
		return r;
	p->newest = calloc(watt_recording_get_channel_count(p->rec) + 1, sizeof(*p->newest));
	if (!p->newest)
		return -ENOMEM;
	p->fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
	if (p->fd < 0)
		return -errno;
	r = watt_executor_new(&p->setup, &p->log, &p->executor);
	/* what is assumed instead has to be learned from what is there */
	if (r == 0 && info->part > 1 && !p->options.prior)
		watt_executor_begin_in_middle(p->executor);
	return r == 0 && p->options.has_threads ? show_threads(p) : r;
}

int watt_replay_open(const char *path, const struct watt_options *options,
		     struct watt_session **ret)
{
	struct replay *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->fd = -1;
	p->ses.lock = watt_lock_new();
	if (!p->ses.lock) {
		free(p);
		return -ENOMEM;
	}
	p->ses.ops = &replay_ops;
	r = watt_options_init(&p->options, options);
	p->log = (struct watt_log){ p->options.log, p->options.log_data };
	p->privacy = p->options.privacy ? p->options.privacy : WATT_PRIVACY_USERS;
	p->owner_uid = p->options.has_owner ? p->options.owner_uid : geteuid();
	if (r == 0)
		r = open_parts(p, path);
	if (r < 0) {
		replay_close(&p->ses);
		return r;
	}
	p->ses.setup = &p->setup;
	p->ses.host = watt_recording_get_info(p->rec)->host;
	if (!p->ses.host[0])
		p->ses.host = NULL;
	p->ses.attrib = watt_executor_attrib(p->executor);
	*ret = &p->ses;
	return 0;
}
