/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader: one thread, the bundles that it reads, and the tasks that it is given between its
 * readings. Its owner is one other thread, the consumer of the bundles. Inside the stage only.
 */
#ifndef WATT_SAMPLE_READER_H
#define WATT_SAMPLE_READER_H

#include <wattribute/session.h>

#include "sample/bundle.h"

struct watt_reader;

/* Tasks and answers that may be under way at once. */
#define WATT_READER_TASKS 64

/*
 * Something for the thread of a reader to do. Belongs to the thread from when it is sent until it
 * is received.
 */
struct watt_task {
	void (*run)(struct watt_reader *reader, struct watt_task *task);
	/* Frees it, with what it holds: where it ended, there is nobody to receive it. */
	void (*drop)(struct watt_task *task);
	const char *what; /* "opening it", static: for when it takes too long */
	void *owner;      /* whose it is; NULL: nobody waits for its answer */
};

/* What somebody had to say on the thread: comes to the owner as a task without run. */
struct watt_said {
	struct watt_task task; /* first */
	enum watt_log_level level;
	char text[240];
};

struct watt_reader_opts {
	const char *name;           /* of the thread, at most 15 characters */
	const struct watt_env *env; /* for sources that tasks open; NULL: none does */
	uint64_t epoch_ns;
	bool is_realtime; /* try SCHED_FIFO */
};

int watt_reader_new(const struct watt_reader_opts *opts, struct watt_reader **ret);
/*
 * Only when no thread of it runs, or when it was given up: then its thread frees it, with all that
 * it reads, whenever it comes back. Accepts NULL; returns NULL.
 */
struct watt_reader *watt_reader_free(struct watt_reader *reader);

/* 0, or a negative errno of pthread_create(). -EBUSY: it has one. */
int watt_reader_start(struct watt_reader *reader);
/* Tells the thread to end, without waiting. */
void watt_reader_ask_stop(struct watt_reader *reader);
/* The same; before it ends, the thread closes what it reads. Starts a thread if there is none. */
int watt_reader_ask_close(struct watt_reader *reader);
/*
 * Waits for the thread to end; behind the deadline, while it only waits for a CPU. -ETIMEDOUT: it
 * hangs; it is given up. What its sources were opened with must stay for ever.
 */
int watt_reader_join(struct watt_reader *reader, uint64_t deadline_ns);
/* From now on, what its thread began less than two seconds ago is waited for, too. */
void watt_reader_set_farewell(struct watt_reader *reader);
/* Since when the thread is busy with one thing, and with what; 0: it is not, or there is none. */
uint64_t watt_reader_busy_since_ns(const struct watt_reader *reader, const char **ret_what);

/*
 * Gives the thread a task; without a thread it is done here and now. -EAGAIN: too many are under
 * way.
 */
int watt_reader_send(struct watt_reader *reader, struct watt_task *task);
/* A task that is done; NULL: none is. */
struct watt_task *watt_reader_receive(struct watt_reader *reader);
/* Waits until there is something to receive. 0 or -ETIMEDOUT. */
int watt_reader_wait_task(const struct watt_reader *reader, uint64_t deadline_ns);
/*
 * Before its thread starts: the environment is copied, but for what it points to; that stays as
 * long as the reader does, if the environment has a keeper.
 */
void watt_reader_set_env(struct watt_reader *reader, const struct watt_env *env);
/* The environment for sources that are opened on its thread: what is logged comes as watt_said. */
const struct watt_env *watt_reader_get_env(const struct watt_reader *reader);
/* Whether what its sources were opened with stays for as long as it needs it. */
bool watt_reader_keeps_env(const struct watt_reader *reader);
/* Within a task: what is logged is for nobody, or for the owner again. */
void watt_reader_set_quiet(struct watt_reader *reader, bool is_quiet);
/* Within a task, or while no thread runs: from now on, reads the bundle, and owns it. */
void watt_reader_add(struct watt_reader *reader, struct watt_bundle *bundle);
/* The same: reads it no more. The caller owns it. */
void watt_reader_remove(struct watt_reader *reader, struct watt_bundle *bundle);

/* Without a thread: reads what is due. Returns the next deadline, UINT64_MAX if there is none. */
uint64_t watt_reader_run_due(struct watt_reader *reader, uint64_t now_ns);
/* Asks the thread to read all groups now; without one, reads them. */
void watt_reader_ask_now(struct watt_reader *reader);
/* Waits until the newest request is served. 0 or -ETIMEDOUT. */
int watt_reader_wait_now(struct watt_reader *reader, uint64_t deadline_ns);

/* Any thread. */
bool watt_reader_is_running(const struct watt_reader *reader);
bool watt_reader_is_realtime(const struct watt_reader *reader);

#endif
