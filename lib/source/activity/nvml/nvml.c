/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is on NVIDIA's GPUs: for each process the time that it had the engines, from samples of
 * utilisation that the driver keeps, each over a window of its own. Where there are none, by
 * accounting, or the time that the GPU was busy, in equal parts of those that have it open. And how
 * much of its memory each holds. It must not wake a GPU.
 */
#include "source/host/nvml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/activity/nvml/accounting.h"
#include "source/activity/nvml/gpu_users.h"
#include "source/activity/nvml/mig.h"
#include "source/activity/nvml/process_list.h"
#include "source/host/pidns.h"
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
/* Who holds memory is looked for no more often: a list takes the driver some ms. */
#define MEMORY_NS WATT_NSEC_PER_SEC
/* What was lost is looked for so often. */
#define REOPEN_NS (10 * WATT_NSEC_PER_SEC)
#define MAX_SAMPLES 65536
#define FOREIGN_PIDS \
	"the driver tells pids of the machine, and this is a container with pids of its own"

/* One GPU, whether it can be asked at the moment or not. */
struct card {
	char path[WATT_GPU_PATH_SIZE];
	size_t place;          /* of its time */
	size_t memory;         /* of its memory, where memory_bytes is known */
	uint64_t memory_bytes; /* 0: not known */
	uint64_t held_ns;      /* when who holds memory was looked at; 0: never */
	uint64_t last_us;      /* the newest sample, as the driver counts */
	uint64_t window_ns;    /* of samples */
	uint64_t listed_ns;    /* when lists were read last; 0: never */
	uint64_t unused_ns;    /* nobody had it open then, nor since; 0: somebody has */
	bool has_memory_place;
	bool has_no_samples;
	enum watt_nvml_model said; /* by what its instances are told apart */
	struct watt_nvml_processes listed;
	struct watt_nvml_mig mig;
	struct watt_nvml_accounting accounting;
};

struct nvml_activity {
	struct watt_activity_source source; /* first */
	const struct watt_env *env;
	struct watt_nvml *nvml;
	uint64_t opened_ns;
	struct card *cards[WATT_NVML_MAX_GPUS];
	size_t n_cards;
	struct watt_gpu_users users;
	struct watt_nvml_process_sample *samples;
	unsigned int cap_samples;
};

static struct watt_gpu_place *place_of(struct nvml_activity *self, const struct card *card)
{
	return &self->users.places[card->place];
}

/* All that was done up to then is told. */
static void complete(struct nvml_activity *self, const struct card *card, uint64_t t_ns)
{
	struct watt_gpu_place *place = place_of(self, card);

	place->complete_ns = WATT_MAX(place->complete_ns, t_ns);
}

/* ---- samples of utilisation ---- */

/* Reads those that are newer than the last one. 0, or what the driver returned. */
static int fetch_samples(struct nvml_activity *self, const struct watt_nvml_gpu *gpu,
			 const struct card *card, unsigned int *ret_n)
{
	int code, tries = 4;

	if (!self->nvml->api.process_samples)
		return WATT_NVML_FUNCTION_NOT_FOUND;
	do {
		*ret_n = self->cap_samples;
		code = self->nvml->api.process_samples(gpu->device, *ret_n ? self->samples : NULL,
						       ret_n, card->last_us);
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
static void learn_window(struct card *card, const struct watt_nvml_process_sample *samples,
			 unsigned int n)
{
	unsigned int i;

	for (i = 1; i < n; i++) {
		uint64_t gap_ns = (samples[i].timestamp_us - samples[i - 1].timestamp_us) *
				  WATT_NSEC_PER_USEC;

		if (samples[i].pid == samples[i - 1].pid && gap_ns >= MIN_WINDOW_NS &&
		    gap_ns <= MAX_WINDOW_NS && (!card->window_ns || gap_ns < card->window_ns))
			card->window_ns = gap_ns;
	}
}

/* Whatever engine it had most: one that encodes has a part of the GPU, too. */
static uint64_t busy_percent(const struct watt_nvml_process_sample *sample)
{
	uint32_t percent = WATT_MAX(sample->sm, WATT_MAX(sample->encoder, sample->decoder));

	return WATT_MIN(percent, 100u);
}

/* What a server of MPS did, its clients did. */
static int add_to_clients(struct nvml_activity *self, const struct card *card, uint64_t from_ns,
			  uint64_t to_ns, uint64_t amount_ns)
{
	const struct watt_nvml_processes *all = &card->listed;
	size_t i;
	int r = 0;

	for (i = all->n - all->n_clients; i < all->n && r == 0; i++) {
		struct watt_gpu_user *user =
			watt_gpu_users_find(&self->users, card->place, all->list[i].pid);

		r = user ? watt_gpu_users_add(&self->users, card->place, user, from_ns, to_ns,
					      amount_ns / all->n_clients) :
			   -ENOMEM;
	}
	return r;
}

static bool is_server(const struct card *card, uint32_t pid)
{
	size_t i;

	for (i = 0; i < card->listed.n; i++)
		if (card->listed.list[i].pid == pid)
			return card->listed.list[i].is_server;
	return false;
}

static int add_sample(struct nvml_activity *self, struct card *card,
		      const struct watt_nvml_process_sample *sample, uint64_t t_ns)
{
	uint64_t window_ns = card->window_ns ? card->window_ns : USUAL_WINDOW_NS, from_ns;
	struct watt_gpu_user *user = watt_gpu_users_find(&self->users, card->place, sample->pid);
	uint64_t percent = busy_percent(sample);

	if (!user)
		return -ENOMEM;
	/* jitter is no time in which nothing happened */
	if (user->told_ns && t_ns > user->told_ns && t_ns - user->told_ns < window_ns * 3 / 2)
		window_ns = t_ns - user->told_ns;
	if (!percent)
		return 0;
	from_ns = t_ns > window_ns ? t_ns - window_ns : 0;
	if (is_server(card, sample->pid))
		return add_to_clients(self, card, from_ns, t_ns, window_ns * percent / 100);
	return watt_gpu_users_add(&self->users, card->place, user, from_ns, t_ns,
				  window_ns * percent / 100);
}

/* Takes in what is new. Returns the end of the newest sample; 0: there is none. */
static int take_samples(struct nvml_activity *self, struct card *card, unsigned int n,
			uint64_t now_ns, uint64_t *ret_newest_ns)
{
	uint64_t real_ns = watt_clock_ns(CLOCK_REALTIME), newest_us = card->last_us;
	unsigned int i;
	int r = 0;

	qsort(self->samples, n, sizeof(*self->samples), compare_samples);
	learn_window(card, self->samples, n);
	for (i = 0; i < n && r == 0; i++) {
		uint64_t stamp_us = self->samples[i].timestamp_us;
		uint64_t stamp_ns = stamp_us * WATT_NSEC_PER_USEC;
		uint64_t t_ns;

		/* what the driver had kept, and what has no time that can be */
		if (stamp_us <= card->last_us || stamp_ns > real_ns || real_ns - stamp_ns >= now_ns)
			continue;
		t_ns = now_ns - (real_ns - stamp_ns);
		r = add_sample(self, card, &self->samples[i], t_ns);
		newest_us = WATT_MAX(newest_us, stamp_us);
		*ret_newest_ns = WATT_MAX(*ret_newest_ns, t_ns);
	}
	card->last_us = newest_us;
	return r;
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
static bool is_unused(struct nvml_activity *self, const struct watt_nvml_gpu *gpu,
		      struct card *card)
{
	struct watt_nvml_processes *all = &card->listed;

	return watt_nvml_list_fetch(self->nvml, gpu->device, all) == WATT_NVML_SUCCESS &&
	       all->is_whole && !all->n && !utilization_percent(self, gpu);
}

/*
 * Where nobody was at one look, and nothing was told since although all that was before has had its
 * time to be, nobody did anything up to that look.
 */
static void look_for_nobody(struct nvml_activity *self, const struct watt_nvml_gpu *gpu,
			    struct card *card, uint64_t now_ns)
{
	if (!is_unused(self, gpu, card)) {
		card->unused_ns = 0;
		return;
	}
	if (card->unused_ns && now_ns < card->unused_ns + SETTLED_NS)
		return;
	complete(self, card, card->unused_ns);
	card->unused_ns = now_ns;
}

static int read_samples(struct nvml_activity *self, struct watt_nvml_gpu *gpu, struct card *card,
			uint64_t now_ns)
{
	uint64_t newest_ns = 0;
	unsigned int n = 0;
	int code, r = 0;

	code = fetch_samples(self, gpu, card, &n);
	if (code == WATT_NVML_SUCCESS)
		r = take_samples(self, card, n, now_ns, &newest_ns);
	else if (code != WATT_NVML_NOT_FOUND)
		return watt_nvml_judge(self->nvml, gpu, code);
	if (newest_ns)
		card->unused_ns = 0;
	else
		look_for_nobody(self, gpu, card, now_ns);
	/* without a sample for so long, nobody did anything */
	if (now_ns > QUIET_NS)
		newest_ns = WATT_MAX(newest_ns, now_ns - QUIET_NS);
	complete(self, card, newest_ns);
	return r;
}

/* ---- lists of processes, and accounting ---- */

/* Of all who have it open, and of whom nothing more is known. */
static int claim_for_all(struct card *card, uint64_t from_ns, uint64_t to_ns)
{
	struct watt_nvml_accounting *accounting = &card->accounting;
	size_t i;

	accounting->n_claims = 0;
	for (i = 0; i < card->listed.n && from_ns && to_ns > from_ns; i++) {
		const struct watt_nvml_process *process = &card->listed.list[i];
		int r = watt_grow((void **)&accounting->claims, &accounting->cap_claims,
				  accounting->n_claims, sizeof(*accounting->claims));

		if (r < 0)
			return r;
		if (!process->is_server)
			accounting->claims[accounting->n_claims++] = (struct watt_nvml_claim){
				.pid = process->pid, .from_ns = from_ns, .to_ns = to_ns
			};
	}
	return 0;
}

/* What is not known of somebody: of the busy time that nobody is known to have, his part. */
static void fill_claims(struct watt_nvml_accounting *accounting, uint64_t busy_ns)
{
	uint64_t known_ns = 0, others_ns = 0;
	size_t i;

	for (i = 0; i < accounting->n_claims; i++) {
		const struct watt_nvml_claim *claim = &accounting->claims[i];

		known_ns += claim->is_known ? claim->busy_ns : 0;
		others_ns += claim->is_known ? 0 : claim->to_ns - claim->from_ns;
	}
	busy_ns = busy_ns > known_ns ? busy_ns - known_ns : 0;
	for (i = 0; i < accounting->n_claims; i++) {
		struct watt_nvml_claim *claim = &accounting->claims[i];
		uint64_t time_ns = claim->to_ns - claim->from_ns;

		if (!claim->is_known)
			claim->busy_ns = WATT_MIN(
				(uint64_t)((watt_u128)busy_ns * time_ns / others_ns), time_ns);
	}
}

static int give_claims(struct nvml_activity *self, const struct card *card)
{
	size_t i;
	int r = 0;

	for (i = 0; i < card->accounting.n_claims && r == 0; i++) {
		const struct watt_nvml_claim *claim = &card->accounting.claims[i];
		struct watt_gpu_user *user;

		if (!claim->busy_ns)
			continue;
		user = watt_gpu_users_find(&self->users, card->place, claim->pid);
		r = user ? watt_gpu_users_add(&self->users, card->place, user, claim->from_ns,
					      claim->to_ns, claim->busy_ns) :
			   -ENOMEM;
	}
	return r;
}

static int read_lists(struct nvml_activity *self, struct watt_nvml_gpu *gpu, struct card *card,
		      uint64_t now_ns)
{
	uint64_t dt_ns = card->listed_ns ? now_ns - card->listed_ns : 0;
	int code, r;

	code = watt_nvml_list_fetch(self->nvml, gpu->device, &card->listed);
	if (code != WATT_NVML_SUCCESS)
		return watt_nvml_judge(self->nvml, gpu, code);
	if (watt_nvml_accounting_is_on(self->nvml, gpu))
		r = watt_nvml_accounting_read(&card->accounting, self->nvml, gpu, &card->listed,
					      card->listed_ns, now_ns);
	else
		r = claim_for_all(card, card->listed_ns, now_ns);
	if (r == 0) {
		fill_claims(&card->accounting, dt_ns * utilization_percent(self, gpu) / 100);
		r = give_claims(self, card);
	}
	card->listed_ns = now_ns;
	complete(self, card, now_ns);
	return r;
}

/* ---- memory ---- */

static void find_memory(const struct nvml_activity *self, const struct watt_nvml_gpu *gpu,
			struct card *card)
{
	struct watt_nvml_memory memory = { 0 };

	if (!card->memory_bytes && self->nvml->api.memory &&
	    self->nvml->api.memory(gpu->device, &memory) == WATT_NVML_SUCCESS)
		card->memory_bytes = memory.total;
}

static int give_memory(struct nvml_activity *self, struct card *card, uint64_t now_ns)
{
	char path[WATT_GPU_PLACE_SIZE];
	int r;

	snprintf(path, sizeof(path), "%s/memory", card->path);
	r = watt_gpu_users_find_place(&self->users, path, WATT_ACTIVITY_GPU_MEMORY, &card->memory);
	if (r == 0 && card->held_ns)
		r = watt_gpu_users_add_memory(&self->users, card->memory, card->listed.list,
					      card->listed.n, card->memory_bytes, card->held_ns,
					      now_ns);
	if (r < 0)
		return r;
	self->users.places[card->memory].complete_ns = now_ns;
	card->has_memory_place = true;
	return 0;
}

/* Who has it open, and how much of its memory each holds. */
static int read_holders(struct nvml_activity *self, const struct watt_nvml_gpu *gpu,
			struct card *card, uint64_t now_ns)
{
	int r = 0;

	if (card->held_ns && now_ns < card->held_ns + MEMORY_NS)
		return 0;
	if (watt_nvml_list_fetch(self->nvml, gpu->device, &card->listed) != WATT_NVML_SUCCESS)
		return 0; /* its place says for itself up to when it is known */
	if (card->memory_bytes)
		r = give_memory(self, card, now_ns);
	card->held_ns = now_ns;
	return r;
}

/* ---- all GPUs ---- */

static struct card *find_card(struct nvml_activity *self, const char *path)
{
	struct card *card;
	size_t i;

	for (i = 0; i < self->n_cards; i++)
		if (!strcmp(self->cards[i]->path, path))
			return self->cards[i];
	if (self->n_cards == WATT_ARRAY_SIZE(self->cards))
		return NULL;
	card = calloc(1, sizeof(*card));
	if (!card)
		return NULL;
	watt_strlcpy(card->path, path, sizeof(card->path));
	if (watt_gpu_users_find_place(&self->users, path, WATT_ACTIVITY_GPU_TIME, &card->place) <
	    0) {
		free(card);
		return NULL;
	}
	self->cards[self->n_cards++] = card;
	return card;
}

static void say_model(const struct nvml_activity *self, const struct watt_nvml_gpu *gpu,
		      struct card *card)
{
	if (card->mig.model == WATT_NVML_MODEL_NONE || card->mig.model == card->said)
		return;
	watt_log(&self->env->log, WATT_LOG_INFO,
		 "nvml: %s is divided (MIG): what an instance takes is modelled by %s; all that "
		 "have it open are taken for equally busy",
		 gpu->pci,
		 card->mig.model == WATT_NVML_MODEL_GPM ? "how busy its multiprocessors are (GPM)" :
							  "its slices while anybody has it open");
	card->said = card->mig.model;
}

/* What is told of instances is all that is told of the GPU. */
static int read_instances(struct nvml_activity *self, struct watt_nvml_gpu *gpu, struct card *card)
{
	int r = watt_nvml_mig_read(&card->mig, self->nvml, gpu, &self->users, card->memory_bytes);

	place_of(self, card)->n_units = 0;
	if (r < 0)
		return r;
	say_model(self, gpu, card);
	complete(self, card, card->mig.looked_ns);
	if (card->has_memory_place) /* it was whole before */
		self->users.places[card->memory].complete_ns = card->mig.looked_ns;
	return 0;
}

static int read_whole(struct nvml_activity *self, struct watt_nvml_gpu *gpu, struct card *card,
		      uint64_t now_ns)
{
	int r = read_holders(self, gpu, card, now_ns);

	if (r == 0)
		r = watt_nvml_mig_end(&card->mig, gpu, &self->users, card->memory_bytes, now_ns);
	if (r < 0)
		return r;
	r = card->has_no_samples ? -EOPNOTSUPP : read_samples(self, gpu, card, now_ns);
	place_of(self, card)->n_units = 1;
	if (r == -EOPNOTSUPP && !card->has_no_samples) {
		watt_log(&self->env->log, WATT_LOG_INFO,
			 "nvml: %s: the driver does not tell what each process does at a time; %s",
			 gpu->pci,
			 watt_nvml_accounting_is_on(self->nvml, gpu) ?
				 "by accounting it tells what each did in all of its life" :
				 "all that have it open are taken for equally busy");
		card->has_no_samples = true;
	}
	if (r == -EOPNOTSUPP)
		r = read_lists(self, gpu, card, now_ns);
	return r;
}

static int read_gpu(struct nvml_activity *self, struct watt_nvml_gpu *gpu, uint64_t now_ns)
{
	struct card *card = find_card(self, gpu->path);
	int r;

	if (!card)
		return -ENOMEM;
	r = watt_nvml_wake(self->nvml, gpu);
	if (r == -EAGAIN) { /* nobody uses one that sleeps */
		complete(self, card, now_ns);
		if (card->has_memory_place)
			self->users.places[card->memory].complete_ns = now_ns;
		card->listed_ns = card->held_ns = 0;
		return 0;
	}
	if (r < 0)
		return 0; /* its place says for itself up to when it is known */
	find_memory(self, gpu, card);
	if (watt_nvml_mig_is_on(self->nvml, gpu))
		r = read_instances(self, gpu, card);
	else
		r = read_whole(self, gpu, card, now_ns);
	return r == -ENOMEM ? r : 0;
}

static bool is_anything_lost(const struct watt_nvml *nvml)
{
	size_t i;

	for (i = 0; i < nvml->n_gpus; i++)
		if (nvml->gpus[i].is_lost)
			return true;
	return !nvml->library;
}

static void close_library(struct nvml_activity *self)
{
	size_t i;

	for (i = 0; i < self->n_cards; i++) {
		watt_nvml_mig_done(&self->cards[i]->mig, self->nvml);
		self->cards[i]->listed_ns = self->cards[i]->held_ns = 0;
	}
	self->nvml = watt_nvml_close(self->nvml);
}

/* What is lost may be back, under another handle. */
static int reopen(struct nvml_activity *self, uint64_t now_ns)
{
	int r;

	if (self->nvml && (!is_anything_lost(self->nvml) || now_ns < self->opened_ns + REOPEN_NS))
		return 0;
	close_library(self);
	self->opened_ns = now_ns;
	r = watt_nvml_open(self->env, &self->nvml, NULL);
	if (r == 0)
		self->nvml->is_second = true; /* to who reads their power */
	return r;
}

static int nvml_read(struct watt_activity_source *src, struct watt_activity_batch *ret)
{
	struct nvml_activity *self = (struct nvml_activity *)src;
	size_t i;
	int r;

	watt_gpu_users_begin(&self->users);
	r = reopen(self, watt_now_ns());
	if (r < 0)
		return r;
	for (i = 0; i < self->nvml->n_gpus && r == 0; i++)
		r = read_gpu(self, &self->nvml->gpus[i], watt_now_ns());
	return r < 0 ? r : watt_gpu_users_end(&self->users, watt_now_ns(), ret);
}

static void nvml_close(struct watt_activity_source *src)
{
	struct nvml_activity *self = (struct nvml_activity *)src;
	size_t i;

	close_library(self);
	for (i = 0; i < self->n_cards; i++) {
		watt_nvml_accounting_done(&self->cards[i]->accounting);
		free(self->cards[i]);
	}
	watt_gpu_users_done(&self->users);
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
	self->users.procfs = &env->procfs;
	self->users.is_outside = !watt_pidns_has_machine_pids(&env->procfs);
	self->source.ops = &watt_activity_nvml;
	r = reopen(self, watt_now_ns());
	if (r < 0) {
		nvml_close(&self->source);
		return r;
	}
	if (self->users.is_outside)
		watt_log(&env->log, WATT_LOG_WARNING,
			 "nvml: " FOREIGN_PIDS ": what processes use of GPUs is unattributed");
	*ret = &self->source;
	return 0;
}

/* ---- the probe ---- */

#define SAY(field, ...) snprintf(diag->field, sizeof(diag->field), __VA_ARGS__)
/* How many instances GPUs are divided into, and by what those are told apart. */
static void explain_instances(struct watt_nvml *nvml, struct watt_diag *diag)
{
	size_t len = strlen(diag->why), n = 0, with_gpm = 0, i;

	for (i = 0; i < nvml->n_gpus; i++) {
		size_t found;
		bool has_gpm;

		if (!nvml->gpus[i].device || !watt_nvml_mig_is_on(nvml, &nvml->gpus[i]))
			continue;
		found = watt_nvml_mig_count(nvml, &nvml->gpus[i], &has_gpm);
		n += found;
		with_gpm += has_gpm ? found : 0;
	}
	if (n)
		snprintf(diag->why + len, sizeof(diag->why) - len,
			 "; %zu instance%s (MIG), modelled by %s", n, n == 1 ? "" : "s",
			 with_gpm == n ? "GPM" :
			 with_gpm      ? "GPM or by who has them open" :
					 "who has them open");
}

static void explain(struct watt_nvml *nvml, struct watt_diag *diag)
{
	size_t accounted = 0, i;

	SAY(why, "processes on %zu GPU%s", nvml->n_gpus, nvml->n_gpus == 1 ? "" : "s");
	explain_instances(nvml, diag);
	for (i = 0; i < nvml->n_gpus; i++)
		accounted += nvml->gpus[i].device &&
			     watt_nvml_accounting_is_on(nvml, &nvml->gpus[i]);
	if (accounted)
		snprintf(diag->why + strlen(diag->why), sizeof(diag->why) - strlen(diag->why),
			 "; accounting is on");
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
		explain(nvml, diag);
	if (r == 0 && !watt_pidns_has_machine_pids(&env->procfs)) {
		size_t len = strlen(diag->why);

		snprintf(diag->why + len, sizeof(diag->why) - len,
			 "; all that they use is unattributed");
		SAY(hint, "%s: give it those of the host (hostPID, --pid=host)", FOREIGN_PIDS);
	}
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
