/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections of code on a session of its own. Where one begins and ends is a cut: the caller's
 * thread ends a slice there, a thread of the meter's takes the snapshot when all of it has come.
 * By the public interface of the session alone.
 */
#include <wattribute/meter.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/ring.h"
#include "base/sized.h"
#include "base/util.h"
#include "env.h"
#include "options.h"

#define CUT_TIMEOUT_MS 3000
#define WARM_UP_MS 1000

/* What was used up to a moment. */
struct meter_cut {
	uint64_t t_ns;
	struct watt_snapshot *snap; /* when it is done */
	int error;
	bool is_done;
	bool is_unwanted; /* nobody waits for it: freed when it is done */
};

/* A section that has begun: the newest first. */
struct meter_section {
	struct meter_section *next;
	pthread_t thread;
	struct meter_cut *begin;
};

struct watt_meter {
	struct watt_session *ses; /* NULL: error says why */
	int error;
	char problem[256];
	watt_log_fn log; /* the caller's; NULL: none */
	void *log_data;
	pthread_t thread;
	bool has_thread;
	struct watt_signal news; /* a cut is new, or done, or the end has come */
	struct watt_lock *lock;  /* of what follows */
	struct meter_section *sections;
	struct meter_cut *pending; /* that is to be done: one at a time, so that all are exact */
	bool has_barrier;          /* attribution stops there: the thread may wait for the rest */
	bool is_closing;
};

/* ---- cuts ---- */

static void cut_free(struct meter_cut *cut)
{
	if (!cut)
		return;
	watt_snapshot_unref(cut->snap);
	free(cut);
}

static void drop_cut(struct watt_meter *meter, struct meter_cut *cut)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(meter->lock);

	if (cut->is_done)
		cut_free(cut);
	else
		cut->is_unwanted = true;
}

static void wait_for_cut(struct watt_meter *meter, const struct meter_cut *cut)
{
	for (;;) {
		uint32_t seen = watt_signal_get(&meter->news);
		bool is_done;

		watt_lock_take(meter->lock);
		is_done = cut->is_done;
		watt_lock_give(meter->lock);
		if (is_done)
			return;
		watt_signal_wait(&meter->news, seen, INT64_MAX);
	}
}

static bool try_turn(struct watt_meter *meter, struct meter_cut *cut)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(meter->lock);

	if (meter->pending)
		return false;
	meter->pending = cut;
	meter->has_barrier = false;
	return true;
}

/* Waits until no other cut is pending, and makes this the one. */
static void take_turn(struct watt_meter *meter, struct meter_cut *cut)
{
	uint32_t seen = watt_signal_get(&meter->news);

	while (!try_turn(meter, cut)) {
		watt_signal_wait(&meter->news, seen, INT64_MAX);
		seen = watt_signal_get(&meter->news);
	}
}

static void finish_cut(struct watt_meter *meter, struct meter_cut *cut, struct watt_snapshot *snap,
		       int error)
{
	watt_lock_take(meter->lock);
	meter->pending = NULL;
	cut->snap = snap;
	cut->error = error;
	cut->is_done = true;
	if (cut->is_unwanted)
		cut_free(cut);
	watt_lock_give(meter->lock);
	watt_signal_send(&meter->news);
}

/* A cut at this moment: a slice ends here, and nothing later is attributed before it is done. */
static struct meter_cut *add_cut(struct watt_meter *meter)
{
	struct meter_cut *cut = calloc(1, sizeof(*cut));
	struct watt_snapshot *snap = NULL;
	int r;

	if (!cut)
		return NULL;
	take_turn(meter, cut);
	cut->t_ns = watt_session_get_time_ns(meter->ses);
	watt_session_flush(meter->ses, 0);
	r = watt_session_snapshot_at(meter->ses, cut->t_ns, 0, &snap);
	if (r != -ETIMEDOUT) {
		finish_cut(meter, cut, snap, r);
		return cut;
	}
	watt_lock_take(meter->lock);
	meter->has_barrier = true;
	watt_lock_give(meter->lock);
	watt_signal_send(&meter->news);
	return cut;
}

/* The sensors that are slow: the caller does not wait for them. */
static void wait_for_sensors(struct watt_meter *meter, struct meter_cut *cut)
{
	struct watt_snapshot *snap = NULL;
	int r = watt_session_snapshot_at(meter->ses, cut->t_ns, CUT_TIMEOUT_MS, &snap);

	/* what has come is better than nothing, and its status says so */
	if (r == -ETIMEDOUT)
		r = watt_session_snapshot(meter->ses, &snap);
	finish_cut(meter, cut, snap, r);
}

static void *run(void *data)
{
	struct watt_meter *meter = data;

	for (;;) {
		uint32_t seen = watt_signal_get(&meter->news);
		struct meter_cut *cut;
		bool is_closing;

		watt_lock_take(meter->lock);
		cut = meter->has_barrier ? meter->pending : NULL;
		is_closing = meter->is_closing;
		watt_lock_give(meter->lock);
		if (cut)
			wait_for_sensors(meter, cut);
		else if (is_closing)
			return NULL;
		else
			watt_signal_wait(&meter->news, seen, INT64_MAX);
	}
}

/* ---- results ---- */

static double joules_between(struct watt_energy from, struct watt_energy to)
{
	struct watt_energy energy = watt_energy_sub(to, from);

	return (double)energy.j + energy.nj / 1e9;
}

static const struct watt_row *find_self(const struct watt_snapshot *snap)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (row->entity->kind == WATT_ENTITY_PROCESS && row->entity->identity &&
		    row->entity->identity->pid == (uint32_t)getpid())
			return row;
	}
	return NULL;
}

static void fill_own(struct watt_meter_result *result, const struct watt_snapshot *from,
		     const struct watt_snapshot *to)
{
	const struct watt_row *begin = find_self(from), *end = find_self(to);

	result->own_energy_j = NAN;
	result->cpu_s = NAN;
	if (!end)
		return;
	result->cpu_s = (double)(end->cpu_ns - (begin ? begin->cpu_ns : 0)) / 1e9;
	result->own_energy_j =
		joules_between(begin ? begin->total : (struct watt_energy){ 0 }, end->total);
}

/* A domain of the machine's sum: what it makes of the whole. */
static void add_domain(struct watt_meter_result *result, const struct watt_domain *domain,
		       enum watt_status status, double joules)
{
	if (result->status == WATT_STATUS_OK)
		result->status = status;
	if (domain->origin > result->origin)
		result->origin = domain->origin;
	if (isnan(joules) && result->status == WATT_STATUS_OK)
		result->status = WATT_STATUS_PENDING;
	if (isnan(joules))
		return;
	result->energy_j = isnan(result->energy_j) ? joules : result->energy_j + joules;
}

/* Of a whole that is measured: what is left of it beside its parts is as sure as it is. */
static double variance_of(const struct watt_domain *domain, const struct watt_domain_state *state,
			  double joules)
{
	double part = joules * domain->uncertainty_ppm / 1e6;

	return state->is_usable && domain->uncertainty_ppm ? part * part : NAN;
}

/*
 * Energy of a domain between two snapshots. A sensor that answered late at one of them has told
 * of other times than these: its mean power counts, and its status is told.
 */
static double domain_joules(const struct watt_snapshot *from, const struct watt_snapshot *to,
			    size_t i, enum watt_status *ret_status, double *gap_s)
{
	const struct watt_domain_state *b = watt_snapshot_get_domain_state(to, i), *a;
	uint64_t from_ns = watt_snapshot_get_time_ns(from), to_ns = watt_snapshot_get_time_ns(to);
	double joules;

	*ret_status = b->status;
	if (i >= watt_snapshot_get_domain_count(from))
		return NAN;
	a = watt_snapshot_get_domain_state(from, i);
	if (*ret_status == WATT_STATUS_OK)
		*ret_status = a->status;
	if (!a->t_ns || b->t_ns <= a->t_ns)
		return NAN;
	*gap_s = fmax(*gap_s, (double)(b->gap_ns - a->gap_ns) / 1e9);
	joules = joules_between(a->energy, b->energy);
	if (a->t_ns != from_ns || b->t_ns != to_ns)
		joules *= (double)(to_ns - from_ns) / (double)(b->t_ns - a->t_ns);
	return joules;
}

static void fill_domains(struct watt_meter_result *result, const struct watt_snapshot *from,
			 const struct watt_snapshot *to)
{
	size_t n = watt_snapshot_get_domain_count(to), i;
	double variance = 0;

	result->energy_j = NAN;
	result->n_domains = (uint32_t)WATT_MIN(n, (size_t)WATT_METER_DOMAINS);
	for (i = 0; i < n; i++) {
		const struct watt_domain *domain = watt_snapshot_get_domain(to, i);
		enum watt_status status;
		double joules = domain_joules(from, to, i, &status, &result->gap_s);

		if (i < WATT_METER_DOMAINS)
			result->domain_energy_j[i] = joules;
		if (domain->is_partition)
			add_domain(result, domain, status, joules);
		if (domain->is_summed && !isnan(joules))
			variance +=
				variance_of(domain, watt_snapshot_get_domain_state(to, i), joules);
	}
	if (result->energy_j > 0 && variance > 0)
		result->uncertainty_ppm = (uint32_t)(sqrt(variance) / result->energy_j * 1e6 + 0.5);
}

static void fill(struct watt_meter_result *result, const struct watt_snapshot *from,
		 const struct watt_snapshot *to)
{
	result->status = WATT_STATUS_OK;
	result->elapsed_s =
		(double)(watt_snapshot_get_time_ns(to) - watt_snapshot_get_time_ns(from)) / 1e9;
	fill_domains(result, from, to);
	fill_own(result, from, to);
	result->power_w = result->energy_j / result->elapsed_s;
}

/* ---- sections ---- */

int watt_meter_begin(struct watt_meter *meter)
{
	struct meter_section *section;

	if (!meter)
		return -EINVAL;
	if (!meter->ses)
		return meter->error;
	section = calloc(1, sizeof(*section));
	if (!section)
		return -ENOMEM;
	section->thread = pthread_self();
	section->begin = add_cut(meter);
	if (!section->begin) {
		free(section);
		return -ENOMEM;
	}
	watt_lock_take(meter->lock);
	section->next = meter->sections;
	meter->sections = section;
	watt_lock_give(meter->lock);
	return 0;
}

/* Takes the newest one of this thread from the list; NULL: there is none. */
static struct meter_section *take_section(struct watt_meter *meter)
{
	_cleanup_lock_ struct watt_lock *held = watt_lock_take(meter->lock);
	struct meter_section **at = &meter->sections, *section;

	while (*at && !pthread_equal((*at)->thread, pthread_self()))
		at = &(*at)->next;
	section = *at;
	if (section)
		*at = section->next;
	return section;
}

static int end_section(struct watt_meter *meter, struct meter_cut *begin,
		       struct watt_meter_result *result)
{
	struct meter_cut *end = add_cut(meter);
	int r;

	if (!end)
		return -ENOMEM;
	wait_for_cut(meter, begin);
	wait_for_cut(meter, end);
	r = begin->error < 0 ? begin->error : end->error;
	if (r == 0)
		fill(result, begin->snap, end->snap);
	drop_cut(meter, end);
	return r;
}

int watt_meter_end(struct watt_meter *meter, struct watt_meter_result *ret)
{
	struct watt_meter_result result = { 0 };
	_cleanup_free_ struct meter_section *section = NULL;
	int r;

	if (!meter)
		return -EINVAL;
	if (!meter->ses)
		return meter->error;
	section = take_section(meter);
	if (!section)
		return -EINVAL;
	r = watt_sized_is_valid(ret) ? 0 : -EINVAL;
	if (r == 0)
		r = end_section(meter, section->begin, &result);
	drop_cut(meter, section->begin);
	if (r < 0)
		return r;
	watt_sized_give(&result, sizeof(result), ret);
	return 0;
}

/* ---- the meter ---- */

static int start_thread(struct watt_meter *meter)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&meter->thread, NULL, run, meter);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r == 0)
		pthread_setname_np(meter->thread, "watt-meter");
	meter->has_thread = r == 0;
	return r;
}

/* While it opens, a mistake is kept for watt_meter_get_problem(); the caller hears everything. */
static void hear(void *data, enum watt_log_level level, const char *text)
{
	struct watt_meter *meter = data;

	if (level == WATT_LOG_ERROR && !meter->has_thread)
		watt_strlcpy(meter->problem, text, sizeof(meter->problem));
	if (meter->log)
		meter->log(meter->log_data, level, text);
}

static bool has_spoken(const struct watt_session *ses)
{
	struct watt_sample sample;
	size_t i;

	for (i = 0; i < watt_session_get_channel_count(ses); i++)
		if (watt_session_get_sample(ses, i, &sample) == -ENODATA)
			return false;
	return true;
}

/* The first section wants all of its energy: no sensor may begin in the middle of it. */
static void warm_up(struct watt_session *ses)
{
	uint64_t end_ns = watt_session_get_time_ns(ses) + WARM_UP_MS * WATT_NSEC_PER_MSEC;
	struct watt_snapshot *snap = NULL;

	while (!has_spoken(ses) && watt_session_get_time_ns(ses) < end_ns)
		watt_session_wait(ses, 1);
	watt_session_flush(ses, 0);
	if (watt_session_snapshot_at(ses, watt_session_get_time_ns(ses), WARM_UP_MS, &snap) == 0)
		watt_snapshot_unref(snap);
}

static int open_session(struct watt_meter *meter, const struct watt_options *options)
{
	struct watt_options own;
	int r = watt_options_init(&own, options);

	if (r < 0)
		return r;
	meter->log = own.log;
	meter->log_data = own.log_data;
	watt_options_set_log(&own, hear, meter);
	watt_options_set_driven(&own, 0);
	r = watt_session_open(&own, &meter->ses);
	watt_options_done(&own);
	if (r == 0)
		r = watt_session_start(meter->ses);
	if (r == 0)
		warm_up(meter->ses);
	if (r == 0)
		r = start_thread(meter);
	if (r < 0)
		meter->ses = watt_session_close(meter->ses);
	return r;
}

struct watt_meter *watt_meter_open(const struct watt_options *options)
{
	struct watt_meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return NULL;
	meter->lock = watt_lock_new();
	if (!meter->lock) {
		free(meter);
		return NULL;
	}
	meter->error = open_session(meter, options);
	if (meter->error < 0 && !meter->problem[0])
		watt_strlcpy(meter->problem, strerror(-meter->error), sizeof(meter->problem));
	return meter;
}

static void stop_thread(struct watt_meter *meter)
{
	watt_lock_take(meter->lock);
	meter->is_closing = true;
	watt_lock_give(meter->lock);
	watt_signal_send(&meter->news);
	pthread_join(meter->thread, NULL);
}

struct watt_meter *watt_meter_close(struct watt_meter *meter)
{
	struct meter_section *section;

	if (!meter)
		return NULL;
	while ((section = meter->sections)) { /* never ended */
		meter->sections = section->next;
		drop_cut(meter, section->begin);
		free(section);
	}
	if (meter->has_thread)
		stop_thread(meter);
	watt_session_close(meter->ses);
	watt_lock_free(meter->lock);
	free(meter);
	return NULL;
}

const struct watt_domain *watt_meter_get_domain(const struct watt_meter *meter, size_t index)
{
	return meter && meter->ses ? watt_session_get_domain(meter->ses, index) : NULL;
}

const char *watt_meter_get_problem(const struct watt_meter *meter)
{
	return meter && meter->error < 0 ? meter->problem : NULL;
}
