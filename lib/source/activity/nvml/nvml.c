/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is on NVIDIA's GPUs: for each process the time that it had the engines, from samples of
 * utilisation that the driver keeps, each over a window of its own. Where there are none, the time
 * that the GPU was busy, in equal parts of those that have it open. It must not wake a GPU.
 */
#include "source/host/nvml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/activity/nvml/process_list.h"
#include "source/host/procdir.h"
#include "source/host/status.h"
#include "source/registry.h"

#define PERIOD_NS (500 * WATT_NSEC_PER_MSEC)
/* Windows of samples: before one is known, and at most. */
#define USUAL_WINDOW_NS (WATT_NSEC_PER_SEC / 6)
#define MAX_WINDOW_NS (2 * WATT_NSEC_PER_SEC)
#define MIN_WINDOW_NS (5 * WATT_NSEC_PER_MSEC)
/* After so long without a sample nobody did anything. */
#define QUIET_NS (1500 * WATT_NSEC_PER_MSEC)
/* So late a sample may come: with lists that are empty, that long is enough. */
#define SETTLED_NS (400 * WATT_NSEC_PER_MSEC)
/* Of somebody who is gone: what the driver tells of him later is still his. */
#define GONE_NS (60 * WATT_NSEC_PER_SEC)
/* What was lost is looked for so often. */
#define REOPEN_NS (10 * WATT_NSEC_PER_SEC)
#define MAX_SAMPLES 65536
#define MAX_LISTED 1024

struct user {
	uint32_t pid;
	uint64_t start_ns;
	uint64_t amount_ns;
	uint64_t told_ns;   /* end of what was told of it */
	uint64_t active_ns; /* end of the newest window in which it did something */
};

/* One GPU, whether it can be asked at the moment or not. */
struct place {
	char path[WATT_GPU_PATH_SIZE];
	uint64_t complete_ns; /* 0: nothing was told yet */
	uint64_t last_us;     /* the newest sample, as the driver counts */
	uint64_t window_ns;   /* of samples */
	uint64_t listed_ns;   /* when lists were read last; 0: never */
	uint64_t unused_ns;   /* nobody had it open then, nor since; 0: somebody has */
	bool has_no_samples;
	struct user *users;
	size_t n_users, cap_users;
};

struct nvml_activity {
	struct watt_activity_source source; /* first */
	const struct watt_env *env;
	struct watt_nvml *nvml;
	uint64_t opened_ns;
	struct place *places;
	size_t n_places, cap_places;
	struct watt_activity_place *told;
	size_t cap_told, n_told;
	struct watt_activity *readings;
	size_t n_readings, cap_readings;
	struct watt_nvml_process_sample *samples;
	unsigned int cap_samples;
};

/* ---- who ---- */

/* A pid that is another's now begins anew; of one that is gone its start is still known. */
static struct user *find_user(struct nvml_activity *self, struct place *place, uint32_t pid)
{
	uint64_t start_ns = watt_procdir_start_ns(&self->env->procfs, pid);
	struct user *user;
	size_t i;

	for (i = 0; i < place->n_users; i++) {
		user = &place->users[i];
		if (user->pid != pid)
			continue;
		if (!start_ns || user->start_ns == start_ns)
			return user;
		*user = (struct user){ .pid = pid, .start_ns = start_ns };
		return user;
	}
	if (watt_grow((void **)&place->users, &place->cap_users, place->n_users,
		      sizeof(*place->users)) < 0)
		return NULL;
	user = &place->users[place->n_users++];
	*user = (struct user){ .pid = pid, .start_ns = start_ns };
	return user;
}

static void forget_gone(struct nvml_activity *self, struct place *place, uint64_t now_ns)
{
	size_t i, n = 0;

	for (i = 0; i < place->n_users; i++) {
		struct user *user = &place->users[i];

		if (user->active_ns + GONE_NS > now_ns ||
		    (user->start_ns &&
		     watt_procdir_start_ns(&self->env->procfs, user->pid) == user->start_ns))
			place->users[n++] = *user;
	}
	place->n_users = n;
}

/* ---- what is told ---- */

static int tell(struct nvml_activity *self, size_t place, const struct user *user, uint64_t t_ns)
{
	int r = watt_grow((void **)&self->readings, &self->cap_readings, self->n_readings,
			  sizeof(*self->readings));

	if (r == 0)
		self->readings[self->n_readings++] =
			(struct watt_activity){ .t_ns = t_ns,
						.amount = user->amount_ns,
						.start_ns = user->start_ns,
						.pid = user->pid,
						.place = (uint32_t)place };
	return r;
}

/* So much, evenly between two instants, and nothing between what was told before and that. */
static int add_window(struct nvml_activity *self, size_t p, struct user *user, uint64_t from_ns,
		      uint64_t to_ns, uint64_t amount_ns)
{
	int r = 0;

	from_ns = WATT_MAX(from_ns, user->told_ns);
	if (to_ns <= from_ns)
		return 0;
	if (from_ns > user->told_ns)
		r = tell(self, p, user, from_ns);
	user->amount_ns += amount_ns;
	user->told_ns = user->active_ns = to_ns;
	return r < 0 ? r : tell(self, p, user, to_ns);
}

/* ---- samples of utilisation ---- */

/* Reads those that are newer than the last one. 0, or what the driver returned. */
static int fetch_samples(struct nvml_activity *self, const struct watt_nvml_gpu *gpu,
			 const struct place *place, unsigned int *ret_n)
{
	int code, tries = 4;

	if (!self->nvml->api.process_samples)
		return WATT_NVML_FUNCTION_NOT_FOUND;
	do {
		*ret_n = self->cap_samples;
		code = self->nvml->api.process_samples(gpu->device, *ret_n ? self->samples : NULL,
						       ret_n, place->last_us);
		if (code == WATT_NVML_INSUFFICIENT_SIZE && *ret_n <= MAX_SAMPLES) {
			unsigned int want = *ret_n + *ret_n / 2 + 16;
			void *samples = realloc(self->samples, want * sizeof(*self->samples));

			if (!samples)
				return WATT_NVML_INSUFFICIENT_SIZE;
			self->samples = samples;
			self->cap_samples = want;
		}
	} while (code == WATT_NVML_INSUFFICIENT_SIZE && --tries);
	if (code == WATT_NVML_SUCCESS)
		*ret_n = WATT_MIN(*ret_n, self->cap_samples);
	return code;
}

static int compare_samples(const void *a, const void *b)
{
	const struct watt_nvml_process_sample *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->timestamp_us > y->timestamp_us) - (x->timestamp_us < y->timestamp_us);
}

/* The shortest time between two samples of one process is the window of each. */
static void learn_window(struct place *place, const struct watt_nvml_process_sample *samples,
			 unsigned int n)
{
	unsigned int i;

	for (i = 1; i < n; i++) {
		uint64_t gap_ns = (samples[i].timestamp_us - samples[i - 1].timestamp_us) *
				  WATT_NSEC_PER_USEC;

		if (samples[i].pid == samples[i - 1].pid && gap_ns >= MIN_WINDOW_NS &&
		    gap_ns <= MAX_WINDOW_NS && (!place->window_ns || gap_ns < place->window_ns))
			place->window_ns = gap_ns;
	}
}

/* Whatever engine it had most: one that encodes has a part of the GPU, too. */
static uint64_t busy_percent(const struct watt_nvml_process_sample *sample)
{
	uint32_t percent = WATT_MAX(sample->sm, WATT_MAX(sample->encoder, sample->decoder));

	return WATT_MIN(percent, 100u);
}

static int add_sample(struct nvml_activity *self, size_t p,
		      const struct watt_nvml_process_sample *sample, uint64_t t_ns)
{
	struct place *place = &self->places[p];
	uint64_t window_ns = place->window_ns ? place->window_ns : USUAL_WINDOW_NS;
	struct user *user = find_user(self, place, sample->pid);
	uint64_t percent = busy_percent(sample);

	if (!user)
		return -ENOMEM;
	/* jitter is no time in which nothing happened */
	if (user->told_ns && t_ns > user->told_ns && t_ns - user->told_ns < window_ns * 3 / 2)
		window_ns = t_ns - user->told_ns;
	if (!percent)
		return 0;
	return add_window(self, p, user, t_ns > window_ns ? t_ns - window_ns : 0, t_ns,
			  window_ns * percent / 100);
}

/* Takes in what is new. Returns the end of the newest sample; 0: there is none. */
static int take_samples(struct nvml_activity *self, size_t p, unsigned int n, uint64_t now_ns,
			uint64_t *ret_newest_ns)
{
	struct place *place = &self->places[p];
	uint64_t real_ns = watt_clock_ns(CLOCK_REALTIME), newest_us = place->last_us;
	unsigned int i;
	int r = 0;

	qsort(self->samples, n, sizeof(*self->samples), compare_samples);
	learn_window(place, self->samples, n);
	for (i = 0; i < n && r == 0; i++) {
		uint64_t stamp_us = self->samples[i].timestamp_us;
		uint64_t stamp_ns = stamp_us * WATT_NSEC_PER_USEC;
		uint64_t t_ns;

		/* what the driver had kept, and what has no time that can be */
		if (stamp_us <= place->last_us || stamp_ns > real_ns ||
		    real_ns - stamp_ns >= now_ns)
			continue;
		t_ns = now_ns - (real_ns - stamp_ns);
		r = add_sample(self, p, &self->samples[i], t_ns);
		newest_us = WATT_MAX(newest_us, stamp_us);
		*ret_newest_ns = WATT_MAX(*ret_newest_ns, t_ns);
	}
	place->last_us = newest_us;
	return r;
}

/* ---- lists of processes ---- */

typedef int (*list_fn)(void *device, unsigned int *count, void *infos);

/* Appends the pids of a list; of the newest layout that works. 0, or what the driver returned. */
static int fetch_list(const struct watt_nvml_gpu *gpu, const list_fn fns[3], uint32_t *pids,
		      size_t *n_pids)
{
	static const size_t size = (size_t)MAX_LISTED * WATT_NVML_ELEMENT_MAX;
	int code = WATT_NVML_FUNCTION_NOT_FOUND;
	uint8_t *buf = malloc(size);
	size_t i;

	if (!buf)
		return WATT_NVML_INSUFFICIENT_SIZE;
	for (i = 0; i < 3 && code != WATT_NVML_SUCCESS; i++) {
		unsigned int n = (unsigned int)(MAX_LISTED - *n_pids);

		if (!fns[i])
			continue;
		memset(buf, WATT_NVML_UNWRITTEN, size);
		code = fns[i](gpu->device, &n, buf);
		if (code == WATT_NVML_SUCCESS &&
		    watt_nvml_list_parse(buf, size, n, pids + *n_pids) < 0)
			code = WATT_NVML_NOT_SUPPORTED;
		if (code == WATT_NVML_SUCCESS)
			*n_pids += n;
	}
	free(buf);
	return code;
}

static size_t sort_out(uint32_t *pids, size_t n)
{
	size_t i, j, kept = 0;

	for (i = 0; i < n; i++) {
		for (j = 0; j < kept && pids[j] != pids[i]; j++)
			;
		if (j == kept)
			pids[kept++] = pids[i];
	}
	return kept;
}

/*
 * Success where any list can be read. *ret_is_whole: none failed, beside those that this GPU does
 * not have.
 */
static int fetch_lists(struct nvml_activity *self, const struct watt_nvml_gpu *gpu, uint32_t *pids,
		       size_t *ret_n, bool *ret_is_whole)
{
	const struct watt_nvml_api *api = &self->nvml->api;
	const list_fn lists[][3] = {
		{ api->compute_v3, api->compute_v2, api->compute_v1 },
		{ api->graphics_v3, api->graphics_v2, api->graphics_v1 },
		/* clients of one server that shares the GPU */
		{ api->mps_v3, api->mps_v2, api->mps_v1 },
	};
	int code, worst = WATT_NVML_FUNCTION_NOT_FOUND;
	bool is_any = false;
	size_t i;

	*ret_n = 0;
	*ret_is_whole = true;
	for (i = 0; i < WATT_ARRAY_SIZE(lists); i++) {
		code = fetch_list(gpu, lists[i], pids, ret_n);
		if (code == WATT_NVML_SUCCESS) {
			is_any = true;
		} else if (watt_nvml_error(code) != -EOPNOTSUPP) {
			*ret_is_whole = false;
			worst = code;
		}
	}
	*ret_n = sort_out(pids, *ret_n);
	return is_any ? WATT_NVML_SUCCESS : worst;
}

/* How busy a GPU is; one that can't say is busy while somebody has it open. */
static uint64_t utilization_percent(struct nvml_activity *self, const struct watt_nvml_gpu *gpu)
{
	uint32_t percents[2];

	if (!self->nvml->api.utilization ||
	    self->nvml->api.utilization(gpu->device, percents) != WATT_NVML_SUCCESS)
		return 100;
	return WATT_MIN(percents[0], 100u);
}

/* Nobody has it open, as far as all lists tell, and it does nothing. */
static bool is_unused(struct nvml_activity *self, const struct watt_nvml_gpu *gpu)
{
	uint32_t pids[MAX_LISTED];
	size_t n;
	bool is_whole;

	return fetch_lists(self, gpu, pids, &n, &is_whole) == WATT_NVML_SUCCESS && is_whole && !n &&
	       !utilization_percent(self, gpu);
}

/*
 * Where nobody was at one look, and nothing was told since although all that was before has had its
 * time to be, nobody did anything up to that look.
 */
static void look_for_nobody(struct nvml_activity *self, const struct watt_nvml_gpu *gpu,
			    struct place *place, uint64_t now_ns)
{
	if (!is_unused(self, gpu)) {
		place->unused_ns = 0;
		return;
	}
	if (place->unused_ns && now_ns < place->unused_ns + SETTLED_NS)
		return;
	place->complete_ns = WATT_MAX(place->complete_ns, place->unused_ns);
	place->unused_ns = now_ns;
}

static int read_samples(struct nvml_activity *self, struct watt_nvml_gpu *gpu, size_t p,
			uint64_t now_ns)
{
	struct place *place = &self->places[p];
	uint64_t newest_ns = 0;
	unsigned int n = 0;
	int code, r = 0;

	code = fetch_samples(self, gpu, place, &n);
	if (code == WATT_NVML_SUCCESS)
		r = take_samples(self, p, n, now_ns, &newest_ns);
	else if (code != WATT_NVML_NOT_FOUND)
		return watt_nvml_judge(self->nvml, gpu, code);
	if (newest_ns)
		place->unused_ns = 0;
	else
		look_for_nobody(self, gpu, place, now_ns);
	/* without a sample for so long, nobody did anything */
	if (now_ns > QUIET_NS)
		newest_ns = WATT_MAX(newest_ns, now_ns - QUIET_NS);
	place->complete_ns = WATT_MAX(place->complete_ns, newest_ns);
	return r;
}

static int read_lists(struct nvml_activity *self, struct watt_nvml_gpu *gpu, size_t p,
		      uint64_t now_ns)
{
	struct place *place = &self->places[p];
	uint32_t pids[MAX_LISTED];
	uint64_t dt_ns = place->listed_ns ? now_ns - place->listed_ns : 0, busy_ns;
	size_t n, i;
	bool is_whole;
	int code, r = 0;

	code = fetch_lists(self, gpu, pids, &n, &is_whole);
	if (code != WATT_NVML_SUCCESS)
		return watt_nvml_judge(self->nvml, gpu, code);
	busy_ns = n ? dt_ns * utilization_percent(self, gpu) / 100 / n : 0;
	for (i = 0; i < n && r == 0 && busy_ns; i++) {
		struct user *user = find_user(self, place, pids[i]);

		r = user ? add_window(self, p, user, place->listed_ns, now_ns, busy_ns) : -ENOMEM;
	}
	place->listed_ns = place->complete_ns = now_ns;
	return r;
}

/* ---- all GPUs ---- */

static struct place *find_place(struct nvml_activity *self, const char *path)
{
	struct place *place;
	size_t i;

	for (i = 0; i < self->n_places; i++)
		if (!strcmp(self->places[i].path, path))
			return &self->places[i];
	if (watt_grow((void **)&self->places, &self->cap_places, self->n_places,
		      sizeof(*self->places)) < 0)
		return NULL;
	place = &self->places[self->n_places++];
	*place = (struct place){ 0 };
	watt_strlcpy(place->path, path, sizeof(place->path));
	return place;
}

static int read_gpu(struct nvml_activity *self, struct watt_nvml_gpu *gpu, uint64_t now_ns)
{
	struct place *place = find_place(self, gpu->path);
	size_t p;
	int r;

	if (!place)
		return -ENOMEM;
	p = (size_t)(place - self->places);
	r = watt_nvml_wake(self->nvml, gpu);
	if (r == -EAGAIN) { /* nobody uses one that sleeps */
		place->complete_ns = now_ns;
		place->listed_ns = 0;
		return 0;
	}
	if (r < 0)
		return 0; /* its place says for itself up to when it is known */
	r = place->has_no_samples ? -EOPNOTSUPP : read_samples(self, gpu, p, now_ns);
	if (r == -EOPNOTSUPP && !place->has_no_samples) {
		watt_log(&self->env->log, WATT_LOG_INFO,
			 "nvml: %s: the driver does not tell what each process does; all that have "
			 "it open are taken for equally busy",
			 gpu->pci);
		place->has_no_samples = true;
	}
	if (r == -EOPNOTSUPP)
		r = read_lists(self, gpu, p, now_ns);
	return r == -ENOMEM ? r : 0;
}

/* Who is there and was not told of up to the end did nothing since. */
static int end_place(struct nvml_activity *self, size_t p, uint64_t now_ns)
{
	struct place *place = &self->places[p];
	size_t i;
	int r = 0;

	if (!place->complete_ns)
		return 0;
	for (i = 0; i < place->n_users && r == 0; i++)
		if (place->users[i].told_ns < place->complete_ns) {
			r = tell(self, p, &place->users[i], place->complete_ns);
			place->users[i].told_ns = place->complete_ns;
		}
	forget_gone(self, place, now_ns);
	return r;
}

static bool is_anything_lost(const struct watt_nvml *nvml)
{
	size_t i;

	for (i = 0; i < nvml->n_gpus; i++)
		if (nvml->gpus[i].is_lost)
			return true;
	return !nvml->library;
}

/* What is lost may be back, under another handle. */
static int reopen(struct nvml_activity *self, uint64_t now_ns)
{
	if (self->nvml && (!is_anything_lost(self->nvml) || now_ns < self->opened_ns + REOPEN_NS))
		return 0;
	self->nvml = watt_nvml_close(self->nvml);
	self->opened_ns = now_ns;
	return watt_nvml_open(self->env, &self->nvml, NULL);
}

static int fill_batch(struct nvml_activity *self, struct watt_activity_batch *ret)
{
	void *told = reallocarray(self->told, self->n_places + 1, sizeof(*self->told));
	size_t i;

	if (!told)
		return -ENOMEM;
	self->told = told;
	for (i = 0; i < self->n_places; i++)
		self->told[i] = (struct watt_activity_place){ self->places[i].path,
							      self->places[i].complete_ns,
							      WATT_ACTIVITY_GPU_TIME, 1 };
	*ret = (struct watt_activity_batch){ self->told, self->n_places, self->readings,
					     self->n_readings };
	return 0;
}

static int nvml_read(struct watt_activity_source *src, struct watt_activity_batch *ret)
{
	struct nvml_activity *self = (struct nvml_activity *)src;
	uint64_t now_ns = watt_now_ns();
	size_t i;
	int r;

	self->n_readings = 0;
	r = reopen(self, now_ns);
	if (r < 0)
		return r;
	for (i = 0; i < self->nvml->n_gpus && r == 0; i++)
		r = read_gpu(self, &self->nvml->gpus[i], watt_now_ns());
	now_ns = watt_now_ns();
	for (i = 0; i < self->n_places && r == 0; i++)
		r = end_place(self, i, now_ns);
	return r < 0 ? r : fill_batch(self, ret);
}

static void nvml_close(struct watt_activity_source *src)
{
	struct nvml_activity *self = (struct nvml_activity *)src;
	size_t i;

	watt_nvml_close(self->nvml);
	for (i = 0; i < self->n_places; i++)
		free(self->places[i].users);
	free(self->places);
	free(self->told);
	free(self->readings);
	free(self->samples);
	free(self);
}

static int nvml_open(const struct watt_env *env, const struct watt_cpu_map *map,
		     struct watt_activity_source **ret)
{
	struct nvml_activity *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return -ENOMEM;
	self->env = env;
	self->source.ops = &watt_activity_nvml;
	r = reopen(self, watt_now_ns());
	if (r < 0) {
		nvml_close(&self->source);
		return r;
	}
	*ret = &self->source;
	return 0;
}

/* ---- the probe ---- */

#define SAY(field, ...) snprintf(diag->field, sizeof(diag->field), __VA_ARGS__)
/* The number that the kernel has for the first of all pid namespaces. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

static bool sees_all_pids(const struct watt_env *env)
{
	char link[64];

	return watt_root_readlink(&env->procfs, "self/ns/pid", link, sizeof(link)) < 0 ||
	       !strcmp(link, FIRST_PID_NAMESPACE);
}

static int nvml_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_nvml *nvml = NULL;
	int code = 0, r;

	r = watt_nvml_open(env, &nvml, &code);
	diag->error = r;
	diag->state = watt_availability_from_errno(r);
	if (code)
		SAY(why, "%s (NVML says %d)", watt_nvml_error_text(code), code);
	else if (r < 0)
		SAY(why, "there is no NVIDIA GPU, or its driver's library is not installed");
	else
		SAY(why, "processes on %zu GPU%s", nvml->n_gpus, nvml->n_gpus == 1 ? "" : "s");
	if (r == 0 && !sees_all_pids(env))
		SAY(hint, "the driver tells pids of the machine, and this is a container with pids "
			  "of its own: give it those of the host (hostPID, --pid=host)");
	diag->period_ns = PERIOD_NS;
	watt_nvml_close(nvml);
	return r;
}

const struct watt_activity_ops watt_activity_nvml = {
	.name = "nvml",
	.summary = "processes on NVIDIA's GPUs",
	.period_ns = PERIOD_NS,
	.probe = nvml_probe,
	.open = nvml_open,
	.read = nvml_read,
	.close = nvml_close,
};
