/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one question at a time to the thread of a source. It must not know what is told. */
#include "sample/teller.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/util.h"
#include "sample/reader.h"
#include "sample/sample.h"

/* A source that can't be opened is tried again so much later. */
#define RETRY_NS (10 * WATT_NSEC_PER_SEC)
#define PAUSE_NS WATT_NSEC_PER_MSEC
/* While somebody waits for what it knows, it is asked again so often. */
#define HURRY_NS (50 * WATT_NSEC_PER_MSEC)

/* One reading, and the source. Belongs to the thread while it is under way. */
struct question {
	struct watt_task task; /* first */
	const struct watt_activity_ops *ops;
	const struct watt_cpu_map *map;      /* borrowed */
	struct watt_activity_source *source; /* NULL: it is not open */
	struct watt_activity_batch batch;
	int error;    /* of the last reading; 0: the batch is there */
	bool is_last; /* the source is to be closed */
};

struct watt_teller {
	struct watt_log log;
	struct watt_reader *reader;
	struct question *question; /* NULL: it is under way, or lost with the thread */
	bool is_answered;
	uint64_t told_ns; /* when it answered last */
	uint64_t next_ns; /* when to ask again */
	int told_error;   /* that the log has heard of */
};

static void run_question(struct watt_reader *reader, struct watt_task *task)
{
	struct question *q = watt_container_of(task, struct question, task);

	q->error = 0;
	if (q->is_last) {
		if (q->source)
			q->ops->close(q->source);
		q->source = NULL;
		return;
	}
	if (!q->source)
		q->error = q->ops->open(watt_reader_get_env(reader), q->map, &q->source);
	if (q->error == 0)
		q->error = q->ops->read(q->source, &q->batch);
}

static void drop_question(struct watt_task *task)
{
	struct question *q = watt_container_of(task, struct question, task);

	if (q->source)
		q->ops->close(q->source);
	free(q);
}

/* Takes what comes from the thread. */
static void receive(struct watt_teller *teller)
{
	struct watt_task *task;

	while ((task = watt_reader_receive(teller->reader))) {
		if (task->owner) {
			teller->question = watt_container_of(task, struct question, task);
			teller->is_answered = true;
			continue;
		}
		if (!task->run) {
			struct watt_said *said = watt_container_of(task, struct watt_said, task);

			watt_log(&teller->log, said->level, "%s", said->text);
		}
		task->drop(task);
	}
}

static void ask(struct watt_teller *teller)
{
	struct question *q = teller->question;

	teller->question = NULL;
	teller->is_answered = false;
	if (watt_reader_send(teller->reader, &q->task) < 0)
		teller->question = q;
}

static void tell_error(struct watt_teller *teller)
{
	const struct question *q = teller->question;

	/* what is not there is nothing to speak of */
	if (q->error < 0 && q->error != -ENODEV && q->error != teller->told_error)
		watt_log(&teller->log,
			 q->ops->flags & WATT_ACTIVITY_ASKED ? WATT_LOG_WARNING : WATT_LOG_INFO,
			 "activity by %s does not work here: %s", q->ops->name,
			 strerror(-q->error));
	teller->told_error = q->error;
}

int watt_teller_poll(struct watt_teller *teller, uint64_t now_ns, struct watt_activity_batch *ret)
{
	struct question *q;
	bool is_new;

	receive(teller);
	q = teller->question;
	if (!q)
		return -EAGAIN;
	is_new = teller->is_answered;
	teller->is_answered = false;
	if (is_new) {
		tell_error(teller);
		teller->told_ns = now_ns;
		teller->next_ns = now_ns + (q->error ? RETRY_NS : q->ops->period_ns);
		if (q->error)
			return -EAGAIN;
		*ret = q->batch;
		return 0;
	}
	if (now_ns >= teller->next_ns)
		ask(teller);
	return -EAGAIN;
}

void watt_teller_hurry(struct watt_teller *teller)
{
	if (teller->question && teller->question->error == 0)
		teller->next_ns = WATT_MIN(teller->next_ns, teller->told_ns + HURRY_NS);
}

int watt_teller_wait(struct watt_teller *teller, uint64_t deadline_ns)
{
	struct timespec pause = watt_timespec_from_ns(PAUSE_NS);

	for (;;) {
		receive(teller);
		if (teller->question)
			return teller->is_answered ? 0 : -ENODATA;
		if (watt_now_ns() >= deadline_ns)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

int watt_teller_new(const struct watt_env *env, const struct watt_activity_ops *ops,
		    const struct watt_cpu_map *map, struct watt_teller **ret)
{
	struct watt_teller *teller = calloc(1, sizeof(*teller));
	struct watt_reader_opts opts = { .env = env, .epoch_ns = watt_now_ns() };
	char name[16];
	int r = -ENOMEM;

	if (!teller)
		return -ENOMEM;
	teller->log = env->log;
	snprintf(name, sizeof(name), "watt-%.10s", ops->name);
	opts.name = name;
	teller->question = calloc(1, sizeof(*teller->question));
	if (teller->question)
		r = watt_reader_new(&opts, &teller->reader);
	if (r == 0) {
		*teller->question = (struct question){
			.task = { .run = run_question,
				  .drop = drop_question,
				  .what = "reading it",
				  .owner = teller },
			.ops = ops,
			.map = map,
		};
		r = watt_reader_start(teller->reader);
	}
	if (r < 0) {
		watt_teller_free(teller);
		return r;
	}
	ask(teller);
	*ret = teller;
	return 0;
}

/* Where it is open it is closed by its thread: that can block, too. */
int watt_teller_stop(struct watt_teller *teller, uint64_t deadline_ns)
{
	receive(teller);
	if (teller->question && teller->question->source) {
		teller->question->is_last = true;
		teller->question->task.what = "closing it";
		ask(teller);
		watt_reader_wait_task(teller->reader, deadline_ns);
		receive(teller);
	}
	watt_reader_ask_stop(teller->reader);
	return watt_reader_join(teller->reader, deadline_ns) < 0;
}

struct watt_teller *watt_teller_free(struct watt_teller *teller)
{
	if (!teller)
		return NULL;
	if (teller->reader) {
		watt_teller_stop(teller, watt_now_ns() + WATT_SLOW_STOP_NS);
		receive(teller);
	}
	if (teller->question)
		drop_question(&teller->question->task);
	watt_reader_free(teller->reader);
	free(teller);
	return NULL;
}
