/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread that reads groups of channels at absolute deadlines into a ring. Between its start
 * and its end it must not allocate, lock, format or log, and it never reads twice to catch up.
 */
#include "sample/reader.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include "base/ring.h"
#include "base/util.h"
#include "sample/lateness.h"
#include "sample/schedule.h"

/* Above ordinary work, below the kernel's interrupt threads (50) that may have to feed us. */
#define READER_FIFO_PRIORITY 10
#define RING_MIN 1024u
#define RING_MAX 65536u
#define RING_SPAN_NS (2 * WATT_NSEC_PER_SEC)

struct channel_counts {
	struct watt_counter errors;
	struct watt_counter lost;
};

struct reader_group {
	struct watt_power *power;
	uint32_t index; /* in its source */
	uint32_t n;
	uint32_t first_channel; /* in the engine */
	struct watt_schedule schedule;
	struct channel_counts *counts; /* per channel of the group */
	struct watt_counter reads;
	struct watt_counter missed;
	struct watt_counter cost_ns;
	struct watt_counter due_ns; /* what schedule.due_ns is, for others to see */
	struct watt_lateness lateness;
};

struct watt_reader {
	struct reader_group *groups;
	size_t n_groups;
	struct channel_counts *counts;
	struct watt_sample *scratch; /* room for the largest group */
	struct watt_ring ring;
	char name[16];
	uint64_t epoch_ns;
	bool is_realtime_wanted;

	pthread_t thread;
	bool has_thread;
	bool is_detached;
	struct watt_signal wake; /* to the thread: look at the next two */
	struct watt_counter is_asked_to_stop;
	struct watt_counter requests; /* readings asked for by watt_reader_ask_now() */
	struct watt_signal news;      /* from the thread: look at the next two */
	struct watt_counter served;   /* of the requests */
	struct watt_counter has_ended;
	struct watt_counter is_realtime;
	struct watt_counter is_running;
};

/* ---- set up ---- */

static void add_group(struct watt_reader *reader, const struct watt_reader_opts *opts,
		      struct watt_power *power, uint32_t index, uint32_t source_first)
{
	const struct watt_power_group *from = &power->groups[index];
	struct reader_group *group = &reader->groups[reader->n_groups++];
	uint64_t period_ns = power->asked_period_ns ? power->asked_period_ns : opts->period_ns;

	group->power = power;
	group->index = index;
	group->n = from->n;
	group->first_channel = source_first + from->first;
	watt_schedule_init(&group->schedule, opts->epoch_ns,
			   watt_schedule_round_ns(WATT_MAX(period_ns, from->period_ns),
						  opts->quantum_ns));
	watt_counter_set(&group->due_ns, group->schedule.due_ns);
}

static uint32_t choose_ring_size(const struct watt_reader *reader)
{
	uint64_t want = 0;
	uint32_t size = RING_MIN;
	size_t i;

	for (i = 0; i < reader->n_groups; i++)
		want += reader->groups[i].n *
			(RING_SPAN_NS / reader->groups[i].schedule.period_ns + 1);
	while (size < want && size < RING_MAX)
		size *= 2;
	return size;
}

static int alloc_groups(struct watt_reader *reader, struct watt_power *const *sources,
			size_t n_sources)
{
	size_t n_groups = 0, n_channels = 0, n_largest = 0;
	size_t i, j;

	for (i = 0; i < n_sources; i++) {
		n_groups += sources[i]->n_groups;
		for (j = 0; j < sources[i]->n_groups; j++) {
			n_channels += sources[i]->groups[j].n;
			n_largest = WATT_MAX(n_largest, (size_t)sources[i]->groups[j].n);
		}
	}
	/* one more of each: a source without channels is unusual, not an error */
	reader->groups = calloc(n_groups + 1, sizeof(*reader->groups));
	reader->counts = calloc(n_channels + 1, sizeof(*reader->counts));
	reader->scratch = calloc(n_largest + 1, sizeof(*reader->scratch));
	return reader->groups && reader->counts && reader->scratch ? 0 : -ENOMEM;
}

static void share_counts(struct watt_reader *reader)
{
	struct channel_counts *counts = reader->counts;
	size_t i;

	for (i = 0; i < reader->n_groups; i++) {
		reader->groups[i].counts = counts;
		counts += reader->groups[i].n;
	}
}

int watt_reader_new(const struct watt_reader_opts *opts, struct watt_power *const *sources,
		    const uint32_t *first_channel, size_t n_sources, struct watt_reader **ret)
{
	struct watt_reader *reader = calloc(1, sizeof(*reader));
	uint32_t j;
	size_t i;
	int r;

	if (!reader)
		return -ENOMEM;
	r = alloc_groups(reader, sources, n_sources);
	if (r < 0)
		goto err_free;
	for (i = 0; i < n_sources; i++)
		for (j = 0; j < sources[i]->n_groups; j++)
			add_group(reader, opts, sources[i], j, first_channel[i]);
	share_counts(reader);
	r = watt_ring_init(&reader->ring,
			   opts->ring_size ? opts->ring_size : choose_ring_size(reader),
			   sizeof(struct watt_sample));
	if (r < 0)
		goto err_free;
	watt_strlcpy(reader->name, opts->name, sizeof(reader->name));
	reader->epoch_ns = opts->epoch_ns;
	reader->is_realtime_wanted = opts->is_realtime;
	*ret = reader;
	return 0;
err_free:
	watt_reader_free(reader);
	return r;
}

struct watt_reader *watt_reader_free(struct watt_reader *reader)
{
	if (!reader)
		return NULL;
	watt_ring_done(&reader->ring);
	free(reader->scratch);
	free(reader->counts);
	free(reader->groups);
	free(reader);
	return NULL;
}

/* ---- reading: nothing here allocates, locks or formats ---- */

static void deliver(struct watt_reader *reader, struct reader_group *group)
{
	struct watt_sample *samples = reader->scratch;
	size_t pushed;
	uint32_t i;

	for (i = 0; i < group->n; i++) {
		samples[i].channel = group->first_channel + i;
		if (samples[i].status != WATT_STATUS_OK)
			watt_counter_add(&group->counts[i].errors, 1);
	}
	pushed = watt_ring_push(&reader->ring, samples, group->n);
	for (i = (uint32_t)pushed; i < group->n; i++)
		watt_counter_add(&group->counts[i].lost, 1);
}

/* Returns when the read had ended. */
static uint64_t read_group(struct watt_reader *reader, struct reader_group *group)
{
	uint64_t t_before_ns = watt_now_ns();
	uint64_t t_after_ns;

	group->power->ops->read(group->power, group->index, reader->scratch);
	t_after_ns = watt_now_ns();
	deliver(reader, group);
	watt_counter_add(&group->reads, 1);
	watt_counter_add(&group->cost_ns, t_after_ns - t_before_ns);
	return t_after_ns;
}

static uint64_t read_due_group(struct watt_reader *reader, struct reader_group *group,
			       uint64_t now_ns)
{
	uint64_t deadline_ns;
	uint64_t missed = watt_schedule_take(&group->schedule, now_ns, &deadline_ns);

	/* published before the read: if it hangs, others see since when */
	watt_counter_set(&group->due_ns, group->schedule.due_ns);
	watt_counter_add(&group->missed, missed);
	watt_lateness_add(&group->lateness, now_ns - deadline_ns);
	return read_group(reader, group);
}

static uint64_t next_due_ns(const struct watt_reader *reader)
{
	uint64_t due_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < reader->n_groups; i++)
		due_ns = WATT_MIN(due_ns, reader->groups[i].schedule.due_ns);
	return due_ns;
}

static void read_all(struct watt_reader *reader)
{
	size_t i;

	for (i = 0; i < reader->n_groups; i++)
		read_group(reader, &reader->groups[i]);
}

uint64_t watt_reader_run_due(struct watt_reader *reader, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < reader->n_groups; i++)
		if (watt_schedule_is_due(&reader->groups[i].schedule, now_ns))
			read_due_group(reader, &reader->groups[i], now_ns);
	return next_due_ns(reader);
}

/* As watt_reader_run_due(), by the real clock: it goes on while the groups are read. */
static uint64_t read_due(struct watt_reader *reader)
{
	uint64_t now_ns = watt_now_ns();
	size_t i;

	for (i = 0; i < reader->n_groups; i++)
		if (watt_schedule_is_due(&reader->groups[i].schedule, now_ns))
			now_ns = read_due_group(reader, &reader->groups[i], now_ns);
	return next_due_ns(reader);
}

static void skip_all(struct watt_reader *reader, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < reader->n_groups; i++) {
		struct reader_group *group = &reader->groups[i];

		watt_schedule_skip(&group->schedule, now_ns);
		watt_counter_set(&group->due_ns, group->schedule.due_ns);
	}
}

static void serve_request(struct watt_reader *reader)
{
	uint64_t request = watt_counter_get(&reader->requests);

	if (request == watt_counter_get(&reader->served))
		return;
	read_all(reader);
	/* whoever sees that it is served has to find the samples in the ring */
	watt_counter_publish(&reader->served, request);
	watt_signal_send(&reader->news);
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

static void *run(void *data)
{
	struct watt_reader *reader = data;
	uint32_t seen;

	become_punctual(reader);
	/* a first value at once: nobody wants to wait for the first deadline */
	if (watt_now_ns() >= reader->epoch_ns)
		read_all(reader);
	/* what passed meanwhile belongs to the start and is nobody's lateness */
	skip_all(reader, watt_now_ns());
	for (;;) {
		uint64_t due_ns;

		seen = watt_signal_get(&reader->wake);
		if (watt_counter_get(&reader->is_asked_to_stop))
			break;
		serve_request(reader);
		due_ns = read_due(reader);
		watt_signal_wait(&reader->wake, seen, due_ns);
	}
	watt_counter_set(&reader->has_ended, 1);
	watt_signal_send(&reader->news);
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
	/* the program's signals are for its own threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&reader->thread, NULL, run, reader);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	reader->has_thread = r == 0;
	watt_counter_set(&reader->is_running, reader->has_thread);
	return r;
}

void watt_reader_ask_stop(struct watt_reader *reader)
{
	watt_counter_set(&reader->is_asked_to_stop, 1);
	watt_signal_send(&reader->wake);
}

int watt_reader_join(struct watt_reader *reader, uint64_t deadline_ns)
{
	uint32_t seen;

	if (!reader->has_thread)
		return 0;
	if (reader->is_detached)
		return -ETIMEDOUT;
	for (;;) {
		seen = watt_signal_get(&reader->news);
		if (watt_counter_get(&reader->has_ended))
			break;
		if (watt_signal_wait(&reader->news, seen, deadline_ns) < 0) {
			pthread_detach(reader->thread);
			reader->is_detached = true;
			return -ETIMEDOUT;
		}
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

size_t watt_reader_fetch(struct watt_reader *reader, struct watt_sample *ret, size_t n)
{
	return watt_ring_pop(&reader->ring, ret, n);
}

static const struct reader_group *find_group(const struct watt_reader *reader, uint32_t channel)
{
	size_t i;

	for (i = 0; i < reader->n_groups; i++)
		if (channel - reader->groups[i].first_channel < reader->groups[i].n)
			return &reader->groups[i];
	return NULL;
}

/* Deadlines that pass while a read hangs are missed as well, only not counted yet. */
static uint64_t overdue(const struct watt_reader *reader, const struct reader_group *group)
{
	uint64_t due_ns = watt_counter_get(&group->due_ns);
	uint64_t now_ns = watt_now_ns();

	if (!watt_counter_get(&reader->is_running) || now_ns <= due_ns)
		return 0;
	return (now_ns - due_ns) / group->schedule.period_ns;
}

void watt_reader_add_losses(const struct watt_reader *reader, uint64_t *missed, uint64_t *lost)
{
	uint32_t j;
	size_t i;

	for (i = 0; i < reader->n_groups; i++) {
		const struct reader_group *group = &reader->groups[i];

		*missed += watt_counter_get(&group->missed) + overdue(reader, group);
		for (j = 0; j < group->n; j++)
			*lost += watt_counter_get(&group->counts[j].lost);
	}
}

void watt_reader_get_stats(const struct watt_reader *reader, uint32_t channel,
			   struct watt_reader_stats *ret)
{
	const struct reader_group *group = find_group(reader, channel);
	const struct channel_counts *counts;

	*ret = (struct watt_reader_stats){ 0 };
	if (!group)
		return;
	counts = &group->counts[channel - group->first_channel];
	ret->reads = watt_counter_get(&group->reads);
	ret->errors = watt_counter_get(&counts->errors);
	ret->missed = watt_counter_get(&group->missed) + overdue(reader, group);
	ret->lost = watt_counter_get(&counts->lost);
	ret->cost_ns = watt_counter_get(&group->cost_ns);
	ret->lateness_p50_ns = watt_lateness_percentile_ns(&group->lateness, 500);
	ret->lateness_p99_ns = watt_lateness_percentile_ns(&group->lateness, 990);
	ret->lateness_max_ns = watt_lateness_max_ns(&group->lateness);
	ret->period_ns = group->schedule.period_ns;
	ret->is_realtime = (uint32_t)watt_counter_get(&reader->is_realtime);
}
