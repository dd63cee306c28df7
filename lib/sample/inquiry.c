/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A desk for each provider, where questions and answers lie; the worker on shift takes one
 * question at a time. A worker that is left behind with its question still puts the answer on the
 * desk if it ever comes, and goes home then. It must not know what is asked.
 */
#include "sample/inquiry.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ring.h"
#include "base/util.h"

#define DEADLINE_NS (2 * WATT_NSEC_PER_SEC)
#define STOP_TIMEOUT_NS (200 * WATT_NSEC_PER_MSEC)
#define MAX_HUNG 3
#define MAX_QUESTIONS 4096
#define STACK_SIZE ((size_t)1 << 20) /* paths, for each level of a deep tree */

struct desk {
	const struct watt_env *env;
	const struct watt_meta_ops *ops;
	uint64_t deadline_ns;
	int wake_fd;
	struct watt_signal ended; /* a worker did */
	pthread_mutex_t mutex;    /* of all that follows */
	uint32_t refs;            /* the inquiry's and the workers' */
	uint32_t shift;           /* number of the worker whose turn it is */
	pthread_t thread;         /* of that worker */
	bool has_worker;
	bool has_ended; /* that worker has only to be joined */
	bool is_closing;
	bool is_asleep;         /* it has to be woken for a question */
	uint64_t busy_since_ns; /* it is in a call since then; 0: in none */
	uint32_t n_hung;        /* workers that were left behind */
	struct watt_question *questions;
	size_t n_questions, cap_questions;
	struct watt_question *waiting; /* for what the provider may hear; the oldest first */
	size_t n_waiting, cap_waiting;
	struct watt_answer *answers;
	size_t n_answers, cap_answers;
	struct watt_inquiry_stats stats;
};

struct worker {
	struct desk *desk;
	uint32_t shift;
	struct watt_meta *meta; /* NULL: it could not be opened */
};

struct watt_inquiry {
	struct desk **desks;
	size_t n_desks;
	struct watt_answer *taken; /* from a desk, not handed on yet */
	size_t n_taken, next_taken;
	bool is_stopped;
};

/* ---- the desk ---- */

static struct desk *desk_new(const struct watt_env *env, const struct watt_meta_ops *ops,
			     uint64_t deadline_ns)
{
	struct desk *desk = calloc(1, sizeof(*desk));

	if (!desk)
		return NULL;
	desk->env = env;
	desk->ops = ops;
	desk->deadline_ns = deadline_ns ? deadline_ns : DEADLINE_NS;
	desk->refs = 1;
	desk->stats.name = ops->name;
	desk->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&desk->mutex, NULL);
	return desk;
}

/* Called with the mutex, which is given back. */
static void desk_unref(struct desk *desk)
{
	bool is_last = --desk->refs == 0;
	size_t i;

	pthread_mutex_unlock(&desk->mutex);
	if (!is_last)
		return;
	for (i = 0; i < desk->n_answers; i++)
		watt_answer_done(&desk->answers[i]);
	free(desk->answers);
	free(desk->questions);
	free(desk->waiting);
	if (desk->wake_fd >= 0)
		close(desk->wake_fd);
	pthread_mutex_destroy(&desk->mutex);
	free(desk);
}

static void wake(struct desk *desk)
{
	uint64_t one = 1;

	/* it fails only when the worker is woken already */
	if (write(desk->wake_fd, &one, sizeof(one)) < 0)
		return;
}

static size_t desk_room(const struct desk *desk)
{
	size_t n = desk->n_questions + desk->n_answers + (desk->busy_since_ns != 0);

	return desk->n_hung >= MAX_HUNG || n >= MAX_QUESTIONS ? 0 : MAX_QUESTIONS - n;
}

/* ---- the worker ---- */

static bool is_on_shift(const struct worker *worker)
{
	return worker->desk->shift == worker->shift && !worker->desk->is_closing;
}

/* With the mutex. What there is no room for is asked another time. */
static void ask_again(struct desk *desk)
{
	while (desk->n_waiting && watt_grow((void **)&desk->questions, &desk->cap_questions,
					    desk->n_questions, sizeof(*desk->questions)) == 0)
		desk->questions[desk->n_questions++] = desk->waiting[--desk->n_waiting];
}

/*
 * Sleeps until there is a question, or the provider hears something, which is told. Without the
 * mutex.
 */
static bool sleep_until_news(struct worker *worker)
{
	struct desk *desk = worker->desk;
	struct pollfd fds[] = { { .fd = desk->wake_fd, .events = POLLIN },
				{ .fd = worker->meta ? worker->meta->fd : -1, .events = POLLIN } };
	uint64_t count;

	if (poll(fds, WATT_ARRAY_SIZE(fds), -1) < 0)
		return false;
	if (fds[0].revents && read(desk->wake_fd, &count, sizeof(count)) < 0)
		return false;
	if (!fds[1].revents)
		return false;
	pthread_mutex_lock(&desk->mutex);
	if (is_on_shift(worker))
		desk->busy_since_ns = watt_now_ns();
	pthread_mutex_unlock(&desk->mutex);
	desk->ops->listen(worker->meta);
	return true;
}

/* Takes the mutex again after a call, and notes that it came back. */
static void come_back(struct worker *worker)
{
	struct desk *desk = worker->desk;

	pthread_mutex_lock(&desk->mutex);
	if (desk->shift == worker->shift)
		desk->busy_since_ns = 0;
}

/* The one that has waited for longest gives way where there are too many. */
static int put_aside(struct desk *desk, const struct watt_question *question)
{
	int r = 0;

	if (desk->n_waiting == MAX_QUESTIONS) {
		desk->stats.unknown++;
		memmove(desk->waiting, desk->waiting + 1,
			--desk->n_waiting * sizeof(*desk->waiting));
	}
	r = watt_grow((void **)&desk->waiting, &desk->cap_waiting, desk->n_waiting,
		      sizeof(*desk->waiting));
	if (r < 0)
		return r;
	desk->waiting[desk->n_waiting] = *question;
	desk->waiting[desk->n_waiting++].n_asked++;
	return 0;
}

static void put_answer(struct worker *worker, const struct watt_question *question, int r,
		       struct watt_answer *answer)
{
	struct desk *desk = worker->desk;

	if (r == -EAGAIN && put_aside(desk, question) == 0)
		return;
	if (r < 0) {
		desk->stats.unknown++;
		return;
	}
	if (watt_grow((void **)&desk->answers, &desk->cap_answers, desk->n_answers,
		      sizeof(*answer)) < 0) {
		desk->stats.unknown++;
		watt_answer_done(answer);
		return;
	}
	desk->answers[desk->n_answers++] = *answer;
	desk->stats.answered++;
	desk->stats.late += desk->shift != worker->shift;
}

/* The newest first: who came last may be gone first. With the mutex, which it gives up. */
static void work_on_one(struct worker *worker)
{
	struct desk *desk = worker->desk;
	struct watt_question question = desk->questions[--desk->n_questions];
	struct watt_answer answer;
	int r = -EIO;

	desk->busy_since_ns = watt_now_ns();
	pthread_mutex_unlock(&desk->mutex);
	if (worker->meta)
		r = desk->ops->answer(worker->meta, &question, &answer);
	come_back(worker);
	put_answer(worker, &question, r, &answer);
}

static void go_home(struct worker *worker)
{
	struct desk *desk = worker->desk;

	pthread_mutex_unlock(&desk->mutex);
	if (worker->meta)
		desk->ops->close(worker->meta);
	pthread_mutex_lock(&desk->mutex);
	if (desk->shift != worker->shift)
		desk->n_hung--;
	else
		desk->has_ended = true;
	free(worker);
	watt_signal_send(&desk->ended);
	desk_unref(desk);
}

static void *run(void *data)
{
	struct worker *worker = data;
	struct desk *desk = worker->desk;
	bool has_heard;

	if (desk->ops->open(desk->env, &worker->meta) < 0)
		worker->meta = NULL;
	come_back(worker);
	while (is_on_shift(worker)) {
		if (desk->n_questions) {
			work_on_one(worker);
			continue;
		}
		desk->is_asleep = true;
		pthread_mutex_unlock(&desk->mutex);
		has_heard = sleep_until_news(worker);
		come_back(worker);
		if (!is_on_shift(worker))
			break;
		desk->is_asleep = false;
		if (has_heard)
			ask_again(desk);
	}
	go_home(worker);
	return NULL;
}

/* With default priority, whatever that of the caller is, and without the program's signals. */
static int create_thread(struct worker *worker, pthread_t *ret)
{
	struct sched_param normal = { 0 };
	pthread_attr_t attr;
	sigset_t all, old;
	int r;

	r = -pthread_attr_init(&attr);
	if (r < 0)
		return r;
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &normal);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(ret, &attr, run, worker);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

/* With the mutex. */
static int begin_shift(struct desk *desk)
{
	struct worker *worker;
	int r;

	if (desk->has_worker || desk->n_hung >= MAX_HUNG)
		return 0;
	worker = calloc(1, sizeof(*worker));
	if (!worker)
		return -ENOMEM;
	worker->desk = desk;
	worker->shift = desk->shift;
	desk->refs++;
	desk->busy_since_ns = watt_now_ns();
	desk->is_asleep = false;
	r = create_thread(worker, &desk->thread);
	if (r < 0) {
		desk->refs--;
		desk->busy_since_ns = 0;
		free(worker);
		return r;
	}
	pthread_setname_np(desk->thread, "watt-meta");
	desk->has_worker = true;
	return 0;
}

/* With the mutex. */
static void leave_behind(struct desk *desk)
{
	pthread_detach(desk->thread);
	desk->has_worker = false;
	desk->busy_since_ns = 0;
	desk->shift++;
	desk->n_hung++;
	ask_again(desk); /* whoever comes next has heard nothing yet */
}

/* ---- the inquiry ---- */

int watt_inquiry_new(const struct watt_env *env, const struct watt_inquiry_opts *opts,
		     struct watt_inquiry **ret)
{
	const struct watt_meta_ops *const *providers = opts && opts->providers ? opts->providers :
										 watt_meta_registry;
	struct watt_inquiry *inquiry = calloc(1, sizeof(*inquiry));
	size_t n = 0;

	if (!inquiry)
		return -ENOMEM;
	while (providers[n])
		n++;
	inquiry->desks = calloc(n + 1, sizeof(struct desk *));
	for (; inquiry->desks && inquiry->n_desks < n; inquiry->n_desks++) {
		struct desk *desk =
			desk_new(env, providers[inquiry->n_desks], opts ? opts->deadline_ns : 0);

		if (!desk)
			break;
		inquiry->desks[inquiry->n_desks] = desk;
	}
	if (!inquiry->desks || inquiry->n_desks < n) {
		watt_inquiry_free(inquiry);
		return -ENOMEM;
	}
	*ret = inquiry;
	return 0;
}

static void ask_stop(struct desk *desk)
{
	pthread_mutex_lock(&desk->mutex);
	desk->is_closing = true;
	desk->n_questions = desk->n_waiting = 0;
	wake(desk);
	pthread_mutex_unlock(&desk->mutex);
}

/* How many of its workers hang. */
static int join(struct desk *desk, uint64_t deadline_ns)
{
	int n_hung;

	pthread_mutex_lock(&desk->mutex);
	while (desk->has_worker && !desk->has_ended) {
		uint32_t seen = watt_signal_get(&desk->ended);
		int r;

		pthread_mutex_unlock(&desk->mutex);
		r = watt_signal_wait(&desk->ended, seen, deadline_ns);
		pthread_mutex_lock(&desk->mutex);
		if (r < 0 && desk->has_worker && !desk->has_ended)
			leave_behind(desk);
	}
	n_hung = (int)desk->n_hung;
	pthread_mutex_unlock(&desk->mutex);
	if (desk->has_worker)
		pthread_join(desk->thread, NULL);
	desk->has_worker = false;
	return n_hung;
}

int watt_inquiry_stop(struct watt_inquiry *inquiry)
{
	uint64_t deadline_ns = watt_now_ns() + STOP_TIMEOUT_NS;
	int n_hung = 0;
	size_t i;

	for (i = 0; i < inquiry->n_desks; i++)
		ask_stop(inquiry->desks[i]);
	for (i = 0; i < inquiry->n_desks; i++)
		n_hung += join(inquiry->desks[i], deadline_ns);
	inquiry->is_stopped = true;
	return n_hung;
}

struct watt_inquiry *watt_inquiry_free(struct watt_inquiry *inquiry)
{
	size_t i;

	if (!inquiry)
		return NULL;
	if (!inquiry->is_stopped)
		watt_inquiry_stop(inquiry);
	while (inquiry->next_taken < inquiry->n_taken)
		watt_answer_done(&inquiry->taken[inquiry->next_taken++]);
	free(inquiry->taken);
	for (i = 0; i < inquiry->n_desks; i++) {
		pthread_mutex_lock(&inquiry->desks[i]->mutex);
		desk_unref(inquiry->desks[i]);
	}
	free(inquiry->desks);
	free(inquiry);
	return NULL;
}

static bool can_answer(const struct desk *desk, enum watt_question_kind kind)
{
	return desk->ops->answers & 1u << kind;
}

size_t watt_inquiry_room(struct watt_inquiry *inquiry, enum watt_question_kind kind)
{
	size_t i, room = MAX_QUESTIONS;
	bool can_any = false;

	for (i = 0; i < inquiry->n_desks; i++) {
		struct desk *desk = inquiry->desks[i];

		if (!can_answer(desk, kind))
			continue;
		can_any = true;
		pthread_mutex_lock(&desk->mutex);
		room = WATT_MIN(room, desk_room(desk));
		pthread_mutex_unlock(&desk->mutex);
	}
	return can_any ? room : 0;
}

static int put_question(struct desk *desk, const struct watt_question *question)
{
	int r;

	if (!desk_room(desk))
		return -EAGAIN;
	r = begin_shift(desk);
	if (r == 0)
		r = watt_grow((void **)&desk->questions, &desk->cap_questions, desk->n_questions,
			      sizeof(*question));
	if (r < 0)
		return r;
	desk->questions[desk->n_questions++] = *question;
	desk->stats.asked++;
	if (desk->is_asleep)
		wake(desk);
	desk->is_asleep = false;
	return 0;
}

int watt_inquiry_ask(struct watt_inquiry *inquiry, const struct watt_question *question)
{
	size_t i;
	int r = -EAGAIN;

	for (i = 0; i < inquiry->n_desks; i++) {
		struct desk *desk = inquiry->desks[i];

		if (!can_answer(desk, question->kind))
			continue;
		pthread_mutex_lock(&desk->mutex);
		r = put_question(desk, question);
		pthread_mutex_unlock(&desk->mutex);
	}
	return r;
}

/* Swaps what was handed on for what lies there. */
static void take_from(struct watt_inquiry *inquiry, struct desk *desk)
{
	struct watt_answer *emptied = inquiry->taken;

	pthread_mutex_lock(&desk->mutex);
	inquiry->taken = desk->answers;
	inquiry->n_taken = desk->n_answers;
	inquiry->next_taken = 0;
	desk->answers = NULL;
	desk->n_answers = desk->cap_answers = 0;
	pthread_mutex_unlock(&desk->mutex);
	free(emptied);
}

int watt_inquiry_next(struct watt_inquiry *inquiry, struct watt_answer *ret)
{
	size_t i;

	for (i = 0; i < inquiry->n_desks && inquiry->next_taken == inquiry->n_taken; i++)
		take_from(inquiry, inquiry->desks[i]);
	if (inquiry->next_taken == inquiry->n_taken)
		return 1;
	*ret = inquiry->taken[inquiry->next_taken++];
	return 0;
}

void watt_inquiry_tend(struct watt_inquiry *inquiry, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < inquiry->n_desks; i++) {
		struct desk *desk = inquiry->desks[i];

		pthread_mutex_lock(&desk->mutex);
		if (desk->busy_since_ns && now_ns > desk->busy_since_ns + desk->deadline_ns)
			leave_behind(desk);
		if (desk->n_questions)
			begin_shift(desk);
		pthread_mutex_unlock(&desk->mutex);
	}
}

size_t watt_inquiry_pending(struct watt_inquiry *inquiry)
{
	size_t i, n = inquiry->n_taken - inquiry->next_taken;

	for (i = 0; i < inquiry->n_desks; i++) {
		struct desk *desk = inquiry->desks[i];

		pthread_mutex_lock(&desk->mutex);
		n += desk->n_answers;
		if (desk->n_hung < MAX_HUNG)
			n += desk->n_questions + (desk->busy_since_ns != 0);
		pthread_mutex_unlock(&desk->mutex);
	}
	return n;
}

int watt_inquiry_get_stats(struct watt_inquiry *inquiry, size_t i, struct watt_inquiry_stats *ret)
{
	struct desk *desk;

	if (i >= inquiry->n_desks)
		return -EINVAL;
	desk = inquiry->desks[i];
	pthread_mutex_lock(&desk->mutex);
	*ret = desk->stats;
	ret->hung = desk->n_hung;
	pthread_mutex_unlock(&desk->mutex);
	return 0;
}
