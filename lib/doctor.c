/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks every source what it can do here, and measures what a reading of it costs. All are asked at
 * once, each on a thread of its own: whoever hangs is left behind, with all that it may touch.
 */
#include "doctor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ring.h"
#include "base/sized.h"
#include "base/util.h"
#include "env.h"
#include "source/power/cpu_vendor.h"
#include "source/select.h"

#define COST_READS 9
/* Of what is slow, fewer are enough. */
#define COST_NS (500 * WATT_NSEC_PER_MSEC)
/* The longest that anybody waits for a diagnosis of what may hang. */
#define LIMIT_NS (10 * WATT_NSEC_PER_SEC)
/* So much longer for who counts CPU time: no device answers there, but a kernel that is busy. */
#define PATIENCE_WITH_KERNEL 6

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t read_all_ns(struct watt_power *power, struct watt_sample *samples)
{
	uint64_t t0_ns = watt_now_ns();
	uint32_t g;

	for (g = 0; g < power->n_groups; g++)
		power->ops->read(power, g, samples + power->groups[g].first);
	return watt_now_ns() - t0_ns;
}

/* What the open source knows better than its probe. */
static void measure_power(const struct watt_env *env, const struct watt_power_ops *ops,
			  struct watt_diag *diag, bool *ret_covers)
{
	uint64_t costs_ns[COST_READS], spent_ns = 0;
	struct watt_sample *samples;
	struct watt_power *power;
	uint32_t i, n = 0;
	int r;

	r = ops->open(env, &power);
	if (r < 0) {
		diag->state = r == -ENODEV                ? WATT_ABSENT :
			      r == -EACCES || r == -EPERM ? WATT_FORBIDDEN :
							    WATT_BROKEN;
		diag->error = r;
		return;
	}
	diag->n_channels = power->n_channels;
	samples = calloc(power->n_channels + 1, sizeof(*samples));
	while (samples && n < COST_READS && spent_ns < COST_NS) {
		costs_ns[n] = read_all_ns(power, samples);
		spent_ns += costs_ns[n++];
	}
	if (samples) {
		qsort(costs_ns, n, sizeof(costs_ns[0]), compare_u64);
		diag->read_cost_ns = costs_ns[n / 2];
	}
	free(samples);
	for (i = 0; i < power->n_channels; i++) {
		const struct watt_channel *channel = &power->channels[i];

		diag->origin = channel->origin;
		if (channel->flags & WATT_CHANNEL_PERIOD_UNKNOWN)
			diag->watched_ns = power->groups[channel->group].period_ns;
		else if (channel->period_ns &&
			 (!diag->period_ns || channel->period_ns < diag->period_ns))
			diag->period_ns = channel->period_ns;
	}
	*ret_covers = watt_select_covers_cpus(power);
	ops->close(power);
}

/*
 * That a source of usage works is known once it has swept: only loading tells whether the kernel
 * takes all of BPF's programs. A sweep beyond the first is what each one costs.
 */
static void measure_usage(const struct watt_env *env, const struct watt_activity_ops *ops,
			  struct watt_diag *diag)
{
	struct watt_activity_source *source = NULL;
	struct watt_usage_batch batch;
	struct watt_cpu_map map = { .n_slots = 1 };
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t t0_ns = 0;
	int r;

	map.n_cpus = n_cpus > 0 ? (uint32_t)n_cpus : 1;
	map.slot = calloc(map.n_cpus, sizeof(*map.slot));
	r = map.slot ? ops->open(env, &map, &source) : -ENOMEM;
	for (int i = 0; i < 2 && r >= 0; i++) {
		t0_ns = watt_now_ns();
		r = ops->sweep(source, false, &batch);
	}
	if (r < 0)
		watt_select_blame(r, diag);
	else
		diag->read_cost_ns = watt_now_ns() - t0_ns;
	if (source)
		ops->close(source);
	free(map.slot);
}

/* One source that is asked; exactly one of the three is not NULL. */
struct patient {
	const struct watt_power_ops *power;
	const struct watt_activity_ops *activity;
	const struct watt_meta_ops *meta;
	struct inquest *inquest;
	struct watt_diag blank; /* who it is */
	struct watt_diag diag;  /* the thread's until it has answered */
	bool covers;            /* the same: it measures the CPUs */
	bool has_answered;      /* the mutex's */
};

/* Belongs to who asks and to all threads; whoever is last frees it. */
struct inquest {
	struct watt_env_owner owner;
	struct watt_env env; /* the owner's, with a log that ends */
	struct watt_signal news;
	pthread_mutex_t mutex; /* of what follows */
	unsigned int refs;
	bool is_over;
	struct patient *patients;
	size_t n;
};

/* ---- what a thread does ---- */

/* What another architecture has is no advice here. */
static void say_impossible(struct watt_diag *diag)
{
	diag->error = -EOPNOTSUPP;
	watt_strlcpy(diag->why, "x86 CPUs have it, and these are Arm's", sizeof(diag->why));
	diag->hint[0] = '\0';
}

static void ask_power(const struct watt_env *env, struct patient *patient)
{
	struct watt_diag *diag = &patient->diag;

	if (patient->power->probe(env, diag) == 0)
		measure_power(env, patient->power, diag, &patient->covers);
	else if (diag->state == WATT_ABSENT && patient->power->flags & WATT_POWER_X86 &&
		 watt_cpu_is_arm(env))
		say_impossible(diag);
}

/* What is for tests counts nobody who is here. */
static void ask_activity(const struct watt_env *env, struct patient *patient)
{
	const struct watt_activity_ops *ops = patient->activity;

	if (ops->probe(env, &patient->diag) == 0 && ops->sweep && !patient->diag.is_test)
		measure_usage(env, ops, &patient->diag);
}

static void ask(const struct watt_env *env, struct patient *patient)
{
	if (patient->power)
		ask_power(env, patient);
	else if (patient->activity)
		ask_activity(env, patient);
	else
		patient->meta->probe(env, &patient->diag);
}

/* With the mutex, which it gives up. */
static void unref(struct inquest *inquest)
{
	bool is_last = --inquest->refs == 0;

	pthread_mutex_unlock(&inquest->mutex);
	if (!is_last)
		return;
	watt_env_close(&inquest->owner);
	pthread_mutex_destroy(&inquest->mutex);
	free(inquest->patients);
	free(inquest);
}

static void *run(void *data)
{
	struct patient *patient = data;
	struct inquest *inquest = patient->inquest;

	ask(&inquest->env, patient);
	pthread_mutex_lock(&inquest->mutex);
	patient->has_answered = true;
	watt_signal_send(&inquest->news);
	unref(inquest);
	return NULL;
}

/* The log of the caller is not there any more when it is over. */
static void tell(void *data, enum watt_log_level level, const char *text)
{
	struct inquest *inquest = data;

	pthread_mutex_lock(&inquest->mutex);
	if (!inquest->is_over)
		watt_log(&inquest->owner.env.log, level, "%s", text);
	pthread_mutex_unlock(&inquest->mutex);
}

/* ---- who asks ---- */

static size_t count_sources(void)
{
	size_t n = 0, i;

	for (i = 0; watt_power_registry[i]; i++)
		n++;
	for (i = 0; watt_activity_registry[i]; i++)
		n++;
	for (i = 0; watt_meta_registry[i]; i++)
		n++;
	return n;
}

static void add_patient(struct inquest *inquest, const struct patient *patient)
{
	struct patient *added = &inquest->patients[inquest->n++];

	*added = *patient;
	added->inquest = inquest;
	added->diag = added->blank;
}

static void list_patients(struct inquest *inquest)
{
	size_t i;

	for (i = 0; watt_power_registry[i]; i++) {
		const struct watt_power_ops *ops = watt_power_registry[i];
		const struct patient patient = {
			.power = ops,
			.blank = { .source = ops->name,
				   .summary = ops->summary,
				   .role = WATT_ROLE_POWER,
				   .is_test = !!(ops->flags &
						 (WATT_POWER_TEST | WATT_POWER_CONTEXT)) },
		};

		add_patient(inquest, &patient);
	}
	for (i = 0; watt_activity_registry[i]; i++) {
		const struct watt_activity_ops *ops = watt_activity_registry[i];
		const struct patient patient = {
			.activity = ops,
			.blank = { .source = ops->name,
				   .summary = ops->summary,
				   .role = ops->sweep ? WATT_ROLE_USAGE : WATT_ROLE_ACTIVITY,
				   .is_test = !!(ops->flags & WATT_ACTIVITY_TEST),
				   .period_ns = ops->sweep ? 0 : ops->period_ns },
		};

		add_patient(inquest, &patient);
	}
	for (i = 0; watt_meta_registry[i]; i++) {
		const struct watt_meta_ops *ops = watt_meta_registry[i];
		const struct patient patient = {
			.meta = ops,
			.blank = { .source = ops->name,
				   .summary = ops->summary,
				   .role = WATT_ROLE_META },
		};

		add_patient(inquest, &patient);
	}
}

/* Where there is no thread to be had, it is asked here and now. */
static void start(struct inquest *inquest, struct patient *patient)
{
	pthread_t thread;
	sigset_t all, old;
	int r;

	pthread_mutex_lock(&inquest->mutex);
	inquest->refs++;
	pthread_mutex_unlock(&inquest->mutex);
	/* the program's signals are for its own threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&thread, NULL, run, patient);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r == 0)
		pthread_detach(thread);
	else
		run(patient);
}

static bool is_of_kernel(const struct patient *patient)
{
	return patient->activity && patient->activity->sweep;
}

static uint64_t patience_ns(const struct patient *patient, uint64_t limit_ns)
{
	return is_of_kernel(patient) ? limit_ns * PATIENCE_WITH_KERNEL : limit_ns;
}

/* Whether all have, except those of the kernel if they are to be left out. */
static bool have_answered(struct inquest *inquest, bool with_kernel)
{
	bool have_all = true;
	size_t i;

	pthread_mutex_lock(&inquest->mutex);
	for (i = 0; i < inquest->n; i++)
		if (with_kernel || !is_of_kernel(&inquest->patients[i]))
			have_all &= inquest->patients[i].has_answered;
	pthread_mutex_unlock(&inquest->mutex);
	return have_all;
}

static void wait_for_answers(struct inquest *inquest, bool with_kernel, uint64_t deadline_ns)
{
	uint32_t seen;

	do
		seen = watt_signal_get(&inquest->news);
	while (!have_answered(inquest, with_kernel) &&
	       watt_signal_wait(&inquest->news, seen, deadline_ns) == 0);
}

static bool usage_is_wanted(const char *name, const struct watt_activity_ops *ops, bool have_one)
{
	if (name && strcmp(name, "auto"))
		return !strcmp(name, ops->name);
	return !have_one && !(ops->flags & WATT_ACTIVITY_TEST);
}

static bool is_wanted(const struct patient *patient, const struct watt_options *options,
		      bool is_covered, bool have_usage)
{
	if (patient->power)
		return watt_select_is_wanted(patient->power, &options->sources, is_covered);
	if (patient->meta)
		return true;
	if (patient->activity->sweep)
		return usage_is_wanted(options->usage, patient->activity, have_usage);
	return watt_select_activity_is_wanted(patient->activity, &options->sources,
					      options->is_precise);
}

/* Of one that has not come back no more is known than who it is. */
static struct watt_diag describe_hung(const struct patient *patient, uint64_t limit_ns)
{
	struct watt_diag diag = patient->blank;
	bool can_go = patient->power ||
		      (patient->activity && patient->activity->read && !patient->activity->flags);

	diag.state = WATT_BROKEN;
	diag.error = -ETIMEDOUT;
	snprintf(diag.why, sizeof(diag.why), "it did not answer within %.0f s",
		 (double)patience_ns(patient, limit_ns) / 1e9);
	snprintf(diag.hint, sizeof(diag.hint),
		 "look in the kernel's log for a device that hangs%s%s",
		 can_go ? "; leave it out by --sources=-" : "", can_go ? diag.source : "");
	return diag;
}

/* The size of the first says how far apart they are, and so no size is changed. */
static void give(struct watt_diag *diag, size_t i, struct watt_diag *ret)
{
	diag->sz = ret->sz;
	memset((char *)ret + i * diag->sz, 0, diag->sz);
	memcpy((char *)ret + i * diag->sz, diag, WATT_MIN(diag->sz, sizeof(*diag)));
}

/* In the order of the registry: whether one is used depends on those before it. */
static void collect(struct inquest *inquest, const struct watt_options *options, uint64_t limit_ns,
		    struct watt_diag *ret, size_t max)
{
	bool is_covered = false, have_usage = false;
	size_t i;

	pthread_mutex_lock(&inquest->mutex);
	for (i = 0; i < inquest->n; i++) {
		const struct patient *patient = &inquest->patients[i];
		struct watt_diag diag = patient->has_answered ? patient->diag :
								describe_hung(patient, limit_ns);

		if (inquest->env.is_captured)
			diag.hint[0] = '\0'; /* nobody can do anything there */
		diag.is_selected = diag.state == WATT_AVAILABLE &&
				   is_wanted(patient, options, is_covered, have_usage);
		is_covered |= diag.is_selected && patient->power && patient->covers;
		have_usage |= diag.is_selected && diag.role == WATT_ROLE_USAGE;
		if (i < max)
			give(&diag, i, ret);
	}
	inquest->is_over = true;
	pthread_mutex_unlock(&inquest->mutex);
}

static int open_inquest(const struct watt_options *options, struct inquest **ret)
{
	struct inquest *inquest = calloc(1, sizeof(*inquest));
	int r;

	if (!inquest)
		return -ENOMEM;
	*ret = inquest;
	inquest->owner = (struct watt_env_owner)WATT_ENV_OWNER_INIT;
	inquest->refs = 1;
	r = -pthread_mutex_init(&inquest->mutex, NULL);
	if (r < 0)
		return r;
	r = watt_env_open(options, &inquest->owner);
	if (r < 0)
		return r;
	inquest->patients = calloc(count_sources() + 1, sizeof(*inquest->patients));
	if (!inquest->patients)
		return -ENOMEM;
	inquest->env = inquest->owner.env;
	inquest->env.log = (struct watt_log){ tell, inquest };
	list_patients(inquest);
	return 0;
}

int watt_doctor_within(const struct watt_options *options, uint64_t limit_ns, struct watt_diag *ret,
		       size_t *ret_n)
{
	struct inquest *inquest = NULL;
	size_t i;
	int r;

	if (!ret_n || (*ret_n && !watt_sized_is_valid(ret)))
		return -EINVAL;
	r = open_inquest(options, &inquest);
	if (r == 0) {
		uint64_t begun_ns = watt_now_ns();

		for (i = 0; i < inquest->n; i++)
			start(inquest, &inquest->patients[i]);
		wait_for_answers(inquest, false, begun_ns + limit_ns);
		wait_for_answers(inquest, true, begun_ns + limit_ns * PATIENCE_WITH_KERNEL);
		collect(inquest, &inquest->owner.options, limit_ns, ret, *ret_n);
		*ret_n = inquest->n;
	}
	if (inquest) {
		pthread_mutex_lock(&inquest->mutex);
		unref(inquest);
	}
	return r;
}

int watt_doctor(const struct watt_options *options, struct watt_diag *ret, size_t *ret_n)
{
	return watt_doctor_within(options, LIMIT_NS, ret, ret_n);
}
