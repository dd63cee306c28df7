/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread that reads bundles at absolute deadlines, and does what it is asked to between two
 * readings. Where it has no tasks it must not allocate, lock, format or log, and it never reads
 * twice to catch up.
 */
#include "sample/reader.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/refcount.h"
#include "base/ring.h"
#include "base/util.h"

/* Above ordinary work, below the kernel's interrupt threads (50) that may have to feed us. */
#define READER_FIFO_PRIORITY 10
/* A thread that waits for a CPU gets one in this time, or the machine is lost. */
#define STARVED_NS (10 * WATT_NSEC_PER_SEC)
#define STARVED_PAUSE_NS (10 * WATT_NSEC_PER_MSEC)
#define LATE_START_NS WATT_NSEC_PER_SEC
#define FAREWELL_NS (2 * WATT_NSEC_PER_SEC)

struct watt_reader {
	struct watt_refcount refs; /* its owner, and its thread */
	char name[16];
	uint64_t epoch_ns;
	bool is_realtime_wanted;

	pthread_t thread;
	bool has_thread;
	bool is_given_up;
	bool has_farewell;
	struct watt_ring inbox;  /* of struct watt_task *, to the thread */
	struct watt_ring outbox; /* and back */
	size_t n_away;

	struct watt_bundle *first; /* the thread's, while there is one */
	struct watt_env env;       /* the same */
	bool is_quiet;             /* the same */

	struct watt_signal wake; /* to the thread: look at the next two, and at the inbox */
	struct watt_counter is_asked_to_stop;
	struct watt_counter requests; /* readings asked for by watt_reader_ask_now() */
	struct watt_signal news;      /* from the thread: look at the next two */
	struct watt_counter served;   /* of the requests */
	struct watt_counter has_ended;
	struct watt_counter is_realtime;
	struct watt_counter is_running;
	struct watt_counter busy_since_ns; /* 0: it sleeps */
	struct watt_counter busy_what;     /* a text */
	struct watt_counter is_asked_to_close;
};

/* ---- set up ---- */

static void drop_said(struct watt_task *task)
{
	free(watt_container_of(task, struct watt_said, task));
}

/* The log of sources that are opened by a task: the log's owner hears it from the reader's. */
static void say(void *data, enum watt_log_level level, const char *text)
{
	struct watt_reader *reader = data;
	struct watt_task *task;
	struct watt_said *said;

	/* what was sent must find room when it comes back */
	if (reader->is_quiet || watt_ring_count(&reader->outbox) >= WATT_READER_TASKS)
		return;
	said = calloc(1, sizeof(*said));
	if (!said)
		return;
	said->task.drop = drop_said;
	said->level = level;
	watt_strlcpy(said->text, text, sizeof(said->text));
	task = &said->task;
	watt_ring_push(&reader->outbox, &task, 1);
}

const struct watt_env *watt_reader_get_env(const struct watt_reader *reader)
{
	return &reader->env;
}

void watt_reader_set_env(struct watt_reader *reader, const struct watt_env *env)
{
	watt_env_ref(env);
	watt_env_unref(&reader->env);
	reader->env = *env;
	reader->env.log = (struct watt_log){ say, reader };
}

void watt_reader_set_quiet(struct watt_reader *reader, bool is_quiet)
{
	reader->is_quiet = is_quiet;
}

int watt_reader_new(const struct watt_reader_opts *opts, struct watt_reader **ret)
{
	struct watt_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return -ENOMEM;
	watt_refcount_init(&reader->refs);
	watt_strlcpy(reader->name, opts->name, sizeof(reader->name));
	reader->epoch_ns = opts->epoch_ns;
	reader->is_realtime_wanted = opts->is_realtime;
	if (opts->env)
		watt_reader_set_env(reader, opts->env);
	r = watt_ring_init(&reader->inbox, WATT_READER_TASKS, sizeof(struct watt_task *));
	if (r == 0)
		r = watt_ring_init(&reader->outbox, 2 * WATT_READER_TASKS,
				   sizeof(struct watt_task *));
	if (r < 0) {
		watt_reader_free(reader);
		return r;
	}
	*ret = reader;
	return 0;
}

static void drop_tasks(struct watt_ring *ring)
{
	struct watt_task *task;

	while (watt_ring_pop(ring, &task, 1))
		task->drop(task);
}

static void close_bundles(struct watt_reader *reader)
{
	struct watt_bundle *bundle;

	while ((bundle = reader->first)) {
		reader->first = watt_bundle_next(bundle);
		watt_bundle_free(bundle);
	}
}

static void put(struct watt_reader *reader)
{
	if (!watt_refcount_put(&reader->refs))
		return;
	close_bundles(reader);
	if (reader->outbox.slots)
		drop_tasks(&reader->outbox);
	if (reader->inbox.slots)
		drop_tasks(&reader->inbox);
	watt_ring_done(&reader->outbox);
	watt_ring_done(&reader->inbox);
	watt_env_unref(&reader->env);
	free(reader);
}

struct watt_reader *watt_reader_free(struct watt_reader *reader)
{
	if (reader)
		put(reader);
	return NULL;
}

/* ---- what it is busy with ---- */

/* Returns when. */
static uint64_t begin(struct watt_reader *reader, const char *what)
{
	uint64_t now_ns = watt_now_ns();

	watt_counter_set(&reader->busy_what, (uintptr_t)what);
	watt_counter_publish(&reader->busy_since_ns, now_ns);
	return now_ns;
}

static void end(struct watt_reader *reader)
{
	watt_counter_set(&reader->busy_since_ns, 0);
}

uint64_t watt_reader_busy_since_ns(const struct watt_reader *reader, const char **ret_what)
{
	uint64_t since_ns = watt_counter_get_published(&reader->busy_since_ns);

	*ret_what = (const char *)(uintptr_t)watt_counter_get(&reader->busy_what);
	return since_ns;
}

/* ---- tasks ---- */

static void run_tasks(struct watt_reader *reader)
{
	struct watt_task *task;

	while (watt_ring_pop(&reader->inbox, &task, 1)) {
		begin(reader, task->what);
		task->run(reader, task);
		end(reader);
		/* there is room: no more are under way */
		watt_ring_push(&reader->outbox, &task, 1);
		watt_signal_send(&reader->news);
	}
}

int watt_reader_send(struct watt_reader *reader, struct watt_task *task)
{
	if (reader->n_away == WATT_READER_TASKS)
		return -EAGAIN;
	reader->n_away++;
	watt_ring_push(&reader->inbox, &task, 1);
	if (reader->has_thread)
		watt_signal_send(&reader->wake);
	else
		run_tasks(reader);
	return 0;
}

struct watt_task *watt_reader_receive(struct watt_reader *reader)
{
	struct watt_task *task;

	if (!watt_ring_pop(&reader->outbox, &task, 1))
		return NULL;
	reader->n_away -= task->run != NULL;
	return task;
}

int watt_reader_wait_task(const struct watt_reader *reader, uint64_t deadline_ns)
{
	uint32_t seen;

	for (;;) {
		seen = watt_signal_get(&reader->news);
		if (watt_ring_count(&reader->outbox))
			return 0;
		if (watt_signal_wait(&reader->news, seen, deadline_ns) < 0)
			return -ETIMEDOUT;
	}
}

void watt_reader_add(struct watt_reader *reader, struct watt_bundle *bundle)
{
	struct watt_bundle *last = reader->first;

	watt_bundle_set_next(bundle, NULL);
	while (last && watt_bundle_next(last))
		last = watt_bundle_next(last);
	if (last)
		watt_bundle_set_next(last, bundle);
	else
		reader->first = bundle;
}

void watt_reader_remove(struct watt_reader *reader, struct watt_bundle *bundle)
{
	struct watt_bundle *before = reader->first;

	if (before == bundle)
		reader->first = watt_bundle_next(bundle);
	while (before && watt_bundle_next(before) != bundle)
		before = watt_bundle_next(before);
	if (before)
		watt_bundle_set_next(before, watt_bundle_next(bundle));
}

/* ---- reading ---- */

static void read_all(struct watt_reader *reader)
{
	struct watt_bundle *bundle;

	for (bundle = reader->first; bundle; bundle = watt_bundle_next(bundle))
		watt_bundle_read_all(bundle);
}

/* now_ns is the first bundle's; with a clock, it is looked at for each of the others. */
static uint64_t read_due(struct watt_reader *reader, uint64_t now_ns, bool has_clock)
{
	uint64_t due_ns = UINT64_MAX, t_ns;
	struct watt_bundle *bundle;

	for (bundle = reader->first; bundle; bundle = watt_bundle_next(bundle)) {
		if (has_clock && bundle != reader->first)
			now_ns = watt_now_ns();
		t_ns = watt_bundle_read_due(bundle, now_ns, has_clock);
		due_ns = WATT_MIN(due_ns, t_ns);
	}
	return due_ns;
}

uint64_t watt_reader_run_due(struct watt_reader *reader, uint64_t now_ns)
{
	return read_due(reader, now_ns, false);
}

static void skip_all(struct watt_reader *reader, uint64_t now_ns)
{
	struct watt_bundle *bundle;

	for (bundle = reader->first; bundle; bundle = watt_bundle_next(bundle))
		watt_bundle_skip(bundle, now_ns);
}

static void tell_served(struct watt_reader *reader, uint64_t request)
{
	/* whoever sees that it is served has to find the samples in the ring */
	watt_counter_publish(&reader->served, request);
	watt_signal_send(&reader->news);
}

/* Whether there was one. */
static bool serve_request(struct watt_reader *reader)
{
	uint64_t request = watt_counter_get(&reader->requests);

	if (request == watt_counter_get(&reader->served))
		return false;
	read_all(reader);
	tell_served(reader, request);
	return true;
}

/* ---- the thread ---- */

static void become_punctual(struct watt_reader *reader)
{
	struct sched_param param = { .sched_priority = READER_FIFO_PRIORITY };

	prctl(PR_SET_NAME, reader->name);
	/* 50 us otherwise; real-time threads have none */
	prctl(PR_SET_TIMERSLACK, 1);
	if (reader->is_realtime_wanted &&
	    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) == 0)
		watt_counter_set(&reader->is_realtime, 1);
}

static void read_first(struct watt_reader *reader)
{
	uint64_t request = watt_counter_get(&reader->requests);
	struct watt_bundle *bundle;

	begin(reader, "reading it");
	/* energy begins at once: it does not wait for the first deadline */
	if (watt_now_ns() >= reader->epoch_ns)
		for (bundle = reader->first; bundle; bundle = watt_bundle_next(bundle))
			watt_bundle_read_first(bundle);
	tell_served(reader, request);
	/* what passed meanwhile belongs to the start and is nobody's lateness */
	skip_all(reader, watt_now_ns());
	end(reader);
}

static void loop(struct watt_reader *reader)
{
	uint64_t now_ns, due_ns;
	uint32_t seen;

	for (;;) {
		seen = watt_signal_get(&reader->wake);
		if (watt_counter_get(&reader->is_asked_to_stop))
			break;
		run_tasks(reader);
		now_ns = begin(reader, "reading it");
		if (serve_request(reader))
			now_ns = watt_now_ns();
		due_ns = read_due(reader, now_ns, true);
		end(reader);
		watt_signal_wait(&reader->wake, seen, due_ns);
	}
}

static void *run(void *data)
{
	struct watt_reader *reader = data;

	become_punctual(reader);
	if (!watt_counter_get(&reader->is_asked_to_close)) {
		read_first(reader);
		loop(reader);
	}
	if (watt_counter_get(&reader->is_asked_to_close)) {
		begin(reader, "closing it");
		close_bundles(reader);
		end(reader);
	}
	watt_counter_set(&reader->has_ended, 1);
	watt_signal_send(&reader->news);
	put(reader);
	return NULL;
}

int watt_reader_start(struct watt_reader *reader)
{
	sigset_t all, old;
	int r;

	if (reader->has_thread)
		return -EBUSY;
	watt_counter_set(&reader->is_asked_to_stop, 0);
	watt_counter_set(&reader->has_ended, 0);
	watt_counter_set(&reader->is_realtime, 0);
	skip_all(reader, watt_now_ns());
	/* its first reading: who waits for it wants no second one */
	watt_counter_add(&reader->requests, 1);
	watt_refcount_get(&reader->refs);
	/* the program's signals are for its own threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&reader->thread, NULL, run, reader);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r < 0)
		watt_refcount_put(&reader->refs);
	reader->has_thread = r == 0;
	watt_counter_set(&reader->is_running, reader->has_thread);
	return r;
}

void watt_reader_ask_stop(struct watt_reader *reader)
{
	watt_counter_set(&reader->is_asked_to_stop, 1);
	watt_signal_send(&reader->wake);
}

int watt_reader_ask_close(struct watt_reader *reader)
{
	watt_counter_set(&reader->is_asked_to_close, 1);
	if (reader->is_given_up && watt_counter_get(&reader->has_ended))
		reader->has_thread = reader->is_given_up = false;
	if (!reader->has_thread)
		return reader->first ? watt_reader_start(reader) : 0;
	watt_reader_ask_stop(reader);
	return 0;
}

/*
 * Behind the deadline only what can hang is not waited for. A thread that is busy with nothing waits
 * for a CPU, and ends when it gets one: who left it behind could end the program before it has let
 * go of what it holds. What it begins then may hang, too, and has a time of its own.
 */
static bool is_worth_waiting(const struct watt_reader *reader, uint64_t deadline_ns,
			     uint64_t limit_ns)
{
	uint64_t now_ns = watt_now_ns(), since_ns;
	uint64_t patience_ns = 0;
	const char *what;

	since_ns = watt_reader_busy_since_ns(reader, &what);
	if (now_ns >= limit_ns)
		return false;
	if (reader->has_farewell)
		patience_ns = FAREWELL_NS;
	else if (since_ns > deadline_ns)
		patience_ns = LATE_START_NS;
	return !since_ns || now_ns < since_ns + patience_ns;
}

void watt_reader_set_farewell(struct watt_reader *reader)
{
	reader->has_farewell = true;
}

int watt_reader_join(struct watt_reader *reader, uint64_t deadline_ns)
{
	uint64_t limit_ns = WATT_MAX(deadline_ns, watt_now_ns()) + STARVED_NS;
	uint64_t until_ns = deadline_ns;
	uint32_t seen;

	if (!reader->has_thread)
		return 0;
	if (reader->is_given_up)
		return -ETIMEDOUT;
	for (;;) {
		seen = watt_signal_get(&reader->news);
		if (watt_counter_get(&reader->has_ended))
			break;
		if (watt_signal_wait(&reader->news, seen, until_ns) == 0)
			continue;
		if (!is_worth_waiting(reader, deadline_ns, limit_ns)) {
			pthread_detach(reader->thread);
			reader->is_given_up = true;
			return -ETIMEDOUT;
		}
		until_ns = watt_now_ns() + STARVED_PAUSE_NS;
	}
	pthread_join(reader->thread, NULL);
	reader->has_thread = false;
	watt_counter_set(&reader->is_running, 0);
	return 0;
}

void watt_reader_ask_now(struct watt_reader *reader)
{
	if (!reader->has_thread) {
		read_all(reader);
		return;
	}
	watt_counter_add(&reader->requests, 1);
	watt_signal_send(&reader->wake);
}

int watt_reader_wait_now(struct watt_reader *reader, uint64_t deadline_ns)
{
	uint64_t request = watt_counter_get(&reader->requests);
	uint32_t seen;

	if (!reader->has_thread)
		return 0;
	for (;;) {
		seen = watt_signal_get(&reader->news);
		if (watt_counter_get_published(&reader->served) >= request)
			return 0;
		if (watt_signal_wait(&reader->news, seen, deadline_ns) < 0)
			return -ETIMEDOUT;
	}
}

/* ---- what others see ---- */

bool watt_reader_keeps_env(const struct watt_reader *reader)
{
	return reader->env.keeper != NULL;
}

bool watt_reader_is_running(const struct watt_reader *reader)
{
	return watt_counter_get(&reader->is_running);
}

bool watt_reader_is_realtime(const struct watt_reader *reader)
{
	return watt_counter_get(&reader->is_realtime);
}
