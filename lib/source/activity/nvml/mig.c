/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the instances of a GPU. It must not change how a GPU is divided. */
#include "source/activity/nvml/mig.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"

/* GPM tells nothing of less time than that. */
#define MIN_LOOK_NS (100 * WATT_NSEC_PER_MSEC)
#define LIST_NS WATT_NSEC_PER_SEC
#define UNKNOWN (-1.0)

bool watt_nvml_mig_is_on(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu)
{
	const struct watt_nvml_api *api = &nvml->api;
	unsigned int now = 0, pending;

	return api->mig_mode && api->max_instances && api->instance && api->gpu_instance_id &&
	       api->compute_instance_id &&
	       api->mig_mode(gpu->device, &now, &pending) == WATT_NVML_SUCCESS && now == 1;
}

/* ---- which there are ---- */

static struct watt_nvml_instance *find_instance(struct watt_nvml_mig *mig, uint32_t gi, uint32_t ci)
{
	struct watt_nvml_instance *instance;
	size_t i;

	for (i = 0; i < mig->n; i++)
		if (mig->list[i].gi == gi && mig->list[i].ci == ci)
			return &mig->list[i];
	if (mig->n == WATT_NVML_MAX_KNOWN)
		return NULL;
	instance = &mig->list[mig->n++];
	*instance = (struct watt_nvml_instance){ .gi = gi, .ci = ci };
	return instance;
}

static void describe(const struct watt_nvml *nvml, struct watt_nvml_instance *instance,
		     void *device)
{
	struct watt_nvml_attributes attributes = { 0 };

	if (!nvml->api.attributes || nvml->api.attributes(device, &attributes) != WATT_NVML_SUCCESS)
		attributes = (struct watt_nvml_attributes){ 0 };
	instance->device = device;
	instance->n_slices = WATT_MAX(attributes.compute_slices, 1u);
	instance->gpu_slices = WATT_MAX(attributes.gpu_slices, instance->n_slices);
}

static int look_at(const struct watt_nvml *nvml, struct watt_nvml_mig *mig, void *device)
{
	struct watt_nvml_instance *instance;
	unsigned int gi, ci;
	int code = nvml->api.gpu_instance_id(device, &gi);

	if (code == WATT_NVML_SUCCESS)
		code = nvml->api.compute_instance_id(device, &ci);
	if (code != WATT_NVML_SUCCESS)
		return code;
	instance = find_instance(mig, gi, ci);
	if (instance)
		describe(nvml, instance, device);
	return code;
}

/* Their handles are asked for anew each time: one of an instance that has gone may be another's. */
static int find_all(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
		    struct watt_nvml_mig *mig)
{
	unsigned int max = 0, i;
	int code = nvml->api.max_instances(gpu->device, &max);
	void *device;
	size_t k;

	for (k = 0; k < mig->n; k++)
		mig->list[k].device = NULL;
	for (i = 0; i < WATT_MIN(max, WATT_NVML_MAX_INSTANCES) && code == WATT_NVML_SUCCESS; i++) {
		code = nvml->api.instance(gpu->device, i, &device);
		if (code == WATT_NVML_SUCCESS)
			code = look_at(nvml, mig, device);
		/* there is none of that number, or it has gone just now */
		if (code == WATT_NVML_NOT_FOUND || code == WATT_NVML_INVALID_ARGUMENT)
			code = WATT_NVML_SUCCESS;
	}
	return code;
}

/* ---- how busy GPU instances were ---- */

static bool has_gpm(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu)
{
	const struct watt_nvml_api *api = &nvml->api;
	struct watt_nvml_gpm_support support = { .version = 1 };

	return api->gpm_support && api->gpm_alloc && api->gpm_free && api->gpm_sample &&
	       api->gpm_metrics && api->gpm_support(gpu->device, &support) == WATT_NVML_SUCCESS &&
	       support.is_supported;
}

static double part_of(const struct watt_nvml_gpm_metric *metric)
{
	if (metric->result != WATT_NVML_SUCCESS || !(metric->value >= 0))
		return UNKNOWN;
	return WATT_MIN(metric->value, 100.0) / 100;
}

/* Part of the slices that was busy between two samples, by what its SMs did where that is told. */
static double busy_between(const struct watt_nvml *nvml, void *before, void *after)
{
	struct watt_nvml_gpm_metrics metrics = { .version = 1, .n = 2 };
	double busy;

	metrics.samples[0] = before;
	metrics.samples[1] = after;
	metrics.list[0].id = WATT_NVML_GPM_SM_UTIL;
	metrics.list[1].id = WATT_NVML_GPM_GRAPHICS_UTIL;
	if (nvml->api.gpm_metrics(&metrics) != WATT_NVML_SUCCESS)
		return UNKNOWN;
	busy = part_of(&metrics.list[0]);
	return busy >= 0 ? busy : part_of(&metrics.list[1]);
}

static void free_sample(const struct watt_nvml *nvml, void *sample)
{
	if (sample && nvml && nvml->is_up && nvml->api.gpm_free)
		nvml->api.gpm_free(sample);
}

static void read_gpm(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
		     struct watt_nvml_gpm *gpm)
{
	void *sample = NULL;

	gpm->busy = UNKNOWN;
	if (nvml->api.gpm_alloc(&sample) != WATT_NVML_SUCCESS)
		return;
	if (nvml->api.gpm_sample(gpu->device, gpm->gi, sample) != WATT_NVML_SUCCESS) {
		free_sample(nvml, sample);
		return;
	}
	if (gpm->sample)
		gpm->busy = busy_between(nvml, gpm->sample, sample);
	free_sample(nvml, gpm->sample);
	gpm->sample = sample;
}

static struct watt_nvml_gpm *find_gpm(struct watt_nvml_mig *mig, uint32_t gi)
{
	size_t i;

	for (i = 0; i < mig->n_gpm; i++)
		if (mig->gpm[i].gi == gi)
			return &mig->gpm[i];
	return NULL;
}

static bool is_there(const struct watt_nvml_mig *mig, uint32_t gi)
{
	size_t i;

	for (i = 0; i < mig->n; i++)
		if (mig->list[i].device && mig->list[i].gi == gi)
			return true;
	return false;
}

/* Of every GPU instance once; what one that has gone had counted is no other's. */
static void read_all_gpm(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
			 struct watt_nvml_mig *mig)
{
	size_t i, n = 0;

	for (i = 0; i < mig->n_gpm; i++) {
		if (is_there(mig, mig->gpm[i].gi))
			mig->gpm[n++] = mig->gpm[i];
		else
			free_sample(nvml, mig->gpm[i].sample);
	}
	mig->n_gpm = n;
	for (i = 0; i < mig->n; i++)
		if (mig->list[i].device && !find_gpm(mig, mig->list[i].gi) &&
		    mig->n_gpm < WATT_NVML_MAX_INSTANCES)
			mig->gpm[mig->n_gpm++] =
				(struct watt_nvml_gpm){ .gi = mig->list[i].gi, .busy = UNKNOWN };
	for (i = 0; i < mig->n_gpm; i++)
		read_gpm(nvml, gpu, &mig->gpm[i]);
}

/* ---- how busy each was ---- */

/* Who has it open: a list may take the driver some ms, so it is asked for no more often. */
static void list_processes(const struct watt_nvml *nvml, struct watt_nvml_instance *instance,
			   uint64_t now_ns)
{
	struct watt_nvml_processes all;
	size_t i;

	if (instance->device && instance->listed_ns && now_ns < instance->listed_ns + LIST_NS)
		return;
	instance->n_processes = 0;
	instance->listed_ns = instance->device ? now_ns : 0;
	if (!instance->device)
		return;
	if (watt_nvml_list_fetch(nvml, instance->device, &all) != WATT_NVML_SUCCESS)
		return;
	for (i = 0; i < all.n && instance->n_processes < WATT_ARRAY_SIZE(instance->processes); i++)
		if (!all.list[i].is_server)
			instance->processes[instance->n_processes++] = all.list[i];
}

/* Compute slices of a GPU instance: of those of its parts in which anybody is, or of all. */
static uint32_t count_slices(const struct watt_nvml_mig *mig, uint32_t gi, bool is_used)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < mig->n; i++)
		if (mig->list[i].device && mig->list[i].gi == gi &&
		    (!is_used || mig->list[i].n_processes))
			n += mig->list[i].n_slices;
	return n;
}

/* What a GPU instance did is divided among its compute instances by those in which anybody is. */
static double find_busy(struct watt_nvml_mig *mig, const struct watt_nvml_instance *instance)
{
	const struct watt_nvml_gpm *gpm = find_gpm(mig, instance->gi);
	uint32_t used = count_slices(mig, instance->gi, true);
	double busy;

	if (!gpm || gpm->busy < 0)
		return instance->n_processes ? instance->n_slices : 0;
	if (used && !instance->n_processes)
		return 0;
	if (!used)
		used = count_slices(mig, instance->gi, false);
	busy = gpm->busy * instance->gpu_slices * instance->n_slices / used;
	return WATT_MIN(busy, (double)instance->n_slices);
}

/* ---- who ---- */

static int give_time(struct watt_gpu_users *users, const struct watt_nvml_instance *instance,
		     uint64_t now_ns)
{
	uint64_t dt_ns = now_ns - instance->looked_ns;
	size_t n = WATT_MAX(instance->n_processes, 1u), i;
	uint64_t amount_ns = (uint64_t)(instance->busy * (double)dt_ns / (double)n);
	int r = 0;

	for (i = 0; i < n && r == 0 && amount_ns; i++) {
		/* busy, and nobody is listed: those of somebody else's container */
		uint32_t pid = instance->n_processes ? instance->processes[i].pid : 0;
		struct watt_gpu_user *user = watt_gpu_users_find(users, instance->place, pid);

		r = user ? watt_gpu_users_add(users, instance->place, user, instance->looked_ns,
					      now_ns, amount_ns) :
			   -ENOMEM;
	}
	return r;
}

static int give_memory(struct watt_gpu_users *users, const struct watt_nvml_gpu *gpu,
		       const struct watt_nvml_instance *instance, uint64_t memory_bytes,
		       uint64_t now_ns)
{
	char path[WATT_GPU_PLACE_SIZE];
	size_t place;
	int r;

	snprintf(path, sizeof(path), "%s/memory/mig-%u-%u", gpu->path, instance->gi, instance->ci);
	r = watt_gpu_users_find_place(users, path, WATT_ACTIVITY_GPU_MEMORY, &place);
	if (r == 0 && instance->looked_ns)
		r = watt_gpu_users_add_memory(users, place, instance->processes,
					      instance->n_processes, memory_bytes,
					      instance->looked_ns, now_ns);
	if (r == 0)
		users->places[place].complete_ns = now_ns;
	return r;
}

static int find_place(struct watt_gpu_users *users, const struct watt_nvml_gpu *gpu,
		      struct watt_nvml_instance *instance)
{
	char path[WATT_GPU_PLACE_SIZE];

	snprintf(path, sizeof(path), "%s/mig-%u-%u", gpu->path, instance->gi, instance->ci);
	return watt_gpu_users_find_place(users, path, WATT_ACTIVITY_GPU_TIME, &instance->place);
}

/* One that has gone is known to do nothing. */
static int read_instance(struct watt_nvml_mig *mig, const struct watt_nvml_gpu *gpu,
			 struct watt_nvml_instance *instance, struct watt_gpu_users *users,
			 uint64_t memory_bytes, uint64_t now_ns)
{
	int r = find_place(users, gpu, instance);

	if (r < 0)
		return r;
	instance->busy = instance->device ? find_busy(mig, instance) : 0;
	if (instance->device && instance->looked_ns)
		r = give_time(users, instance, now_ns);
	if (r == 0 && memory_bytes)
		r = give_memory(users, gpu, instance, memory_bytes, now_ns);
	users->places[instance->place].n_units = instance->device ? instance->n_slices : 0;
	users->places[instance->place].complete_ns = now_ns;
	instance->looked_ns = instance->device ? now_ns : 0;
	return r;
}

/* Of those that were there before: what GPM tells is of the time between two looks. */
static enum watt_nvml_model find_model(const struct watt_nvml_mig *mig)
{
	enum watt_nvml_model model = WATT_NVML_MODEL_NONE;
	size_t i, k;

	for (i = 0; i < mig->n; i++) {
		if (!mig->list[i].device || !mig->list[i].looked_ns)
			continue;
		for (k = 0; k < mig->n_gpm && mig->gpm[k].gi != mig->list[i].gi; k++)
			;
		if (k == mig->n_gpm || mig->gpm[k].busy < 0)
			return WATT_NVML_MODEL_OPEN;
		model = WATT_NVML_MODEL_GPM;
	}
	return model;
}

int watt_nvml_mig_read(struct watt_nvml_mig *mig, struct watt_nvml *nvml, struct watt_nvml_gpu *gpu,
		       struct watt_gpu_users *users, uint64_t memory_bytes)
{
	uint64_t now_ns = watt_now_ns();
	size_t i;
	int code, r = 0;

	if (mig->looked_ns && now_ns < mig->looked_ns + MIN_LOOK_NS)
		return 0;
	code = find_all(nvml, gpu, mig);
	if (code != WATT_NVML_SUCCESS)
		return watt_nvml_judge(nvml, gpu, code);
	for (i = 0; i < mig->n; i++)
		list_processes(nvml, &mig->list[i], now_ns);
	if (has_gpm(nvml, gpu))
		read_all_gpm(nvml, gpu, mig);
	mig->model = find_model(mig);
	now_ns = watt_now_ns();
	for (i = 0; i < mig->n && r == 0; i++)
		r = read_instance(mig, gpu, &mig->list[i], users, memory_bytes, now_ns);
	mig->looked_ns = now_ns;
	return r;
}

int watt_nvml_mig_end(struct watt_nvml_mig *mig, const struct watt_nvml_gpu *gpu,
		      struct watt_gpu_users *users, uint64_t memory_bytes, uint64_t now_ns)
{
	size_t i;
	int r = 0;

	for (i = 0; i < mig->n && r == 0; i++) {
		mig->list[i].device = NULL;
		mig->list[i].n_processes = 0;
		mig->list[i].listed_ns = 0;
		r = read_instance(mig, gpu, &mig->list[i], users, memory_bytes, now_ns);
	}
	return r;
}

size_t watt_nvml_mig_count(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
			   bool *ret_has_gpm)
{
	struct watt_nvml_mig mig = { 0 };

	*ret_has_gpm = has_gpm(nvml, gpu);
	return find_all(nvml, gpu, &mig) == WATT_NVML_SUCCESS ? mig.n : 0;
}

void watt_nvml_mig_done(struct watt_nvml_mig *mig, const struct watt_nvml *nvml)
{
	size_t i;

	for (i = 0; i < mig->n_gpm; i++)
		free_sample(nvml, mig->gpm[i].sample);
	mig->n_gpm = 0;
	for (i = 0; i < mig->n; i++)
		mig->list[i].looked_ns = mig->list[i].listed_ns = 0;
	mig->looked_ns = 0;
}
