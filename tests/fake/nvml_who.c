/* SPDX-License-Identifier: Apache-2.0 */
/* Who is on the GPUs of the fake NVML: samples, lists, instances and their counters, accounting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvml_state.h"

#define HISTORY 100 /* samples of utilisation that are kept */

struct process_sample {
	uint32_t pid, pad;
	uint64_t timestamp_us;
	uint32_t sm, memory, encoder, decoder;
};

struct attributes {
	uint32_t sms, copy, decoder, encoder, jpeg, ofa, gpu_slices, compute_slices;
	uint64_t memory_mb;
};

struct account {
	uint32_t gpu_percent, memory_percent;
	uint64_t max_memory, time_ms, start_us;
	uint32_t is_running, reserved[5];
};

struct gpm_support {
	uint32_t version, is_supported;
};

struct gpm_metric {
	uint32_t id;
	int32_t result;
	double value;
	const char *names[3];
};

struct gpm_metrics {
	uint32_t version, n;
	struct gpm_sample *samples[2];
	struct gpm_metric list[333];
};

_Static_assert(sizeof(struct account) == 56, "as NVML has it");
_Static_assert(sizeof(struct gpm_metric) == 40, "as NVML has it");
_Static_assert(sizeof(struct gpm_metrics) == 13344, "as NVML has it");
_Static_assert(sizeof(struct process_sample) == 32, "as NVML has it");
_Static_assert(sizeof(struct attributes) == 40, "as NVML has it");

/* ---- who ---- */

static bool is_running(const struct process *process, uint64_t t_ns)
{
	return process->sm.n && process->sm.list[0].t_ns <= t_ns &&
	       steps_at(&process->sm, t_ns) != PROCESS_GONE;
}

/* What one process did in the window that ends at t_ns; false: nothing. */
static bool sample_process(const struct gpu *gpu, const struct process *process, uint64_t t_ns,
			   struct process_sample *ret)
{
	uint64_t area = steps_area(&process->sm, t_ns - gpu->sampling_ns, t_ns);

	if (!area)
		return false;
	*ret = (struct process_sample){ .pid = process->pid,
					.timestamp_us = fake_real_us(t_ns),
					.sm = (uint32_t)((area + gpu->sampling_ns / 2) /
							 gpu->sampling_ns) };
	return true;
}

PUBLIC int nvmlDeviceGetProcessUtilization(void *device, struct process_sample *samples,
					   unsigned int *count, unsigned long long last_seen_us);
PUBLIC int nvmlDeviceGetProcessUtilization(void *device, struct process_sample *samples,
					   unsigned int *count, unsigned long long last_seen_us)
{
	struct gpu *gpu = fake_gpu_of(device);
	struct process_sample sample;
	uint64_t newest, k, first;
	unsigned int i, n = 0;

	ENTER(device);
	if (gpu->lacks_samples || gpu->is_mig)
		return NOT_SUPPORTED;
	newest = fake_now_ns() / gpu->sampling_ns;
	first = newest > HISTORY ? newest - HISTORY : 1;
	for (k = first; k <= newest; k++)
		for (i = 0; i < gpu->n_processes; i++) {
			/* clocks are read anew each time: half a sample is not a new one */
			if (!sample_process(gpu, &gpu->processes[i], k * gpu->sampling_ns,
					    &sample) ||
			    sample.timestamp_us <= last_seen_us + gpu->sampling_ns / 2000)
				continue;
			if (samples && n < *count)
				samples[n] = sample;
			n++;
		}
	if (!n)
		return NOT_FOUND;
	if (!samples || n > *count) {
		*count = n;
		return INSUFFICIENT_SIZE;
	}
	*count = n;
	return SUCCESS;
}

struct memory {
	uint64_t total, free, used;
};

PUBLIC int nvmlDeviceGetMemoryInfo(void *device, struct memory *ret);
PUBLIC int nvmlDeviceGetMemoryInfo(void *device, struct memory *ret)
{
	struct gpu *gpu = fake_gpu_of(device);
	unsigned int i;

	ENTER(device);
	*ret = (struct memory){ .total = (uint64_t)gpu->card_mb << 20 };
	for (i = 0; i < gpu->n_processes; i++)
		if (is_running(&gpu->processes[i], fake_now_ns()))
			ret->used += gpu->processes[i].memory_bytes;
	ret->free = ret->total - ret->used;
	return gpu->card_mb ? SUCCESS : NOT_SUPPORTED;
}

PUBLIC int nvmlDeviceGetUtilizationRates(void *device, uint32_t *ret);
PUBLIC int nvmlDeviceGetUtilizationRates(void *device, uint32_t *ret)
{
	struct gpu *gpu = fake_gpu_of(device);
	uint32_t percent = 0, value;
	unsigned int i;

	ENTER(device);
	if (gpu->is_mig)
		return NOT_SUPPORTED;
	for (i = 0; i < gpu->n_processes; i++) {
		value = steps_at(&gpu->processes[i].sm, fake_now_ns());
		percent += value == PROCESS_GONE ? 0 : value;
	}
	ret[0] = percent > 100 ? 100 : percent;
	ret[1] = 0;
	return SUCCESS;
}

/* Those of an instance, or of the whole GPU. */
static int list_processes(void *device, enum list list, unsigned int *count, uint8_t *infos,
			  uint32_t stride)
{
	struct gpu *gpu = fake_gpu_of(device);
	const struct instance *instance = gpu ? NULL : device;
	unsigned int i, n = 0;

	if (instance)
		gpu = fake_gpu_of_instance(device);
	if (!gpu)
		return INVALID_ARGUMENT;
	for (i = 0; i < gpu->n_processes; i++) {
		const struct process *process = &gpu->processes[i];
		const uint32_t ids[2] = { process->gi, process->ci };

		if (!is_running(process, fake_now_ns()) || process->list != list ||
		    (instance && (instance->gi != process->gi || instance->ci != process->ci)))
			continue;
		if (n < *count) {
			memset(infos + n * stride, 0, stride);
			memcpy(infos + n * stride, &process->pid, 4);
			memcpy(infos + n * stride + 8, &process->memory_bytes, 8);
			if (stride >= 24)
				memcpy(infos + n * stride + 16, ids, 8);
		}
		n++;
	}
	i = *count;
	*count = n;
	return n > i ? INSUFFICIENT_SIZE : SUCCESS;
}

#define LIST(name, list, usual_stride) \
	PUBLIC int name(void *device, unsigned int *count, uint8_t *infos); \
	PUBLIC int name(void *device, unsigned int *count, uint8_t *infos) \
	{ \
		ENTER(device); \
		return list_processes(device, list, count, infos, \
				      (usual_stride) == 16 ? 16 : \
				      fake.script.stride   ? fake.script.stride : \
							     (usual_stride)); \
	}

LIST(nvmlDeviceGetComputeRunningProcesses, LIST_COMPUTE, 16)
LIST(nvmlDeviceGetGraphicsRunningProcesses, LIST_GRAPHICS, 16)
LIST(nvmlDeviceGetMPSComputeRunningProcesses, LIST_MPS, 16)
#ifndef FAKE_NVML_OLD
LIST(nvmlDeviceGetComputeRunningProcesses_v2, LIST_COMPUTE, 24)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, LIST_GRAPHICS, 24)
LIST(nvmlDeviceGetComputeRunningProcesses_v3, LIST_COMPUTE, 24)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, LIST_GRAPHICS, 24)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, LIST_MPS, 24)

/* ---- instances ---- */

static bool is_instance_there(const struct instance *instance)
{
	return instance->from_ns <= fake_now_ns() && fake_now_ns() < instance->until_ns;
}

/* Those of a GPU instance, of all compute instances in it. */
static uint32_t slices_of(const struct gpu *gpu, uint32_t gi)
{
	uint32_t n = 0;
	unsigned int i;

	for (i = 0; i < gpu->n_instances; i++)
		if (gpu->instances[i].gi == gi && is_instance_there(&gpu->instances[i]))
			n += gpu->instances[i].slices;
	return n;
}

PUBLIC int nvmlDeviceGetMigMode(void *device, unsigned int *ret, unsigned int *ret_pending);
PUBLIC int nvmlDeviceGetMigMode(void *device, unsigned int *ret, unsigned int *ret_pending)
{
	ENTER(device);
	*ret = *ret_pending = fake_gpu_of(device)->is_mig;
	return SUCCESS;
}

PUBLIC int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned int *ret);
PUBLIC int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned int *ret)
{
	ENTER(device);
	*ret = MAX_INSTANCES;
	return SUCCESS;
}

PUBLIC int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned int index, void **ret);
PUBLIC int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned int index, void **ret)
{
	struct gpu *gpu = fake_gpu_of(device);

	ENTER(device);
	if (index >= gpu->n_instances || !is_instance_there(&gpu->instances[index]))
		return NOT_FOUND;
	*ret = &gpu->instances[index];
	return SUCCESS;
}

PUBLIC int nvmlDeviceGetGpuInstanceId(struct instance *instance, unsigned int *ret);
PUBLIC int nvmlDeviceGetGpuInstanceId(struct instance *instance, unsigned int *ret)
{
	ENTER(instance);
	*ret = instance->gi;
	return SUCCESS;
}

PUBLIC int nvmlDeviceGetComputeInstanceId(struct instance *instance, unsigned int *ret);
PUBLIC int nvmlDeviceGetComputeInstanceId(struct instance *instance, unsigned int *ret)
{
	ENTER(instance);
	*ret = instance->ci;
	return SUCCESS;
}

PUBLIC int nvmlDeviceGetAttributes_v2(struct instance *instance, struct attributes *ret);
PUBLIC int nvmlDeviceGetAttributes_v2(struct instance *instance, struct attributes *ret)
{
	ENTER(instance);
	*ret = (struct attributes){ .gpu_slices =
					    slices_of(fake_gpu_of_instance(instance), instance->gi),
				    .compute_slices = instance->slices };
	return SUCCESS;
}

/* ---- counters of instances (GPM) ---- */

struct gpm_sample {
	const struct gpu *gpu;
	uint32_t gi;
	uint64_t t_ns;
};

PUBLIC int nvmlGpmQueryDeviceSupport(void *device, struct gpm_support *ret);
PUBLIC int nvmlGpmQueryDeviceSupport(void *device, struct gpm_support *ret)
{
	ENTER(device);
	if (ret->version != 1)
		return ARGUMENT_VERSION;
	ret->is_supported = fake_gpu_of(device)->has_gpm;
	return SUCCESS;
}

PUBLIC int nvmlGpmSampleAlloc(struct gpm_sample **ret);
PUBLIC int nvmlGpmSampleAlloc(struct gpm_sample **ret)
{
	ENTER(NULL);
	*ret = calloc(1, sizeof(**ret));
	return *ret ? SUCCESS : INSUFFICIENT_SIZE;
}

PUBLIC int nvmlGpmSampleFree(struct gpm_sample *sample);
PUBLIC int nvmlGpmSampleFree(struct gpm_sample *sample)
{
	free(sample);
	return SUCCESS;
}

PUBLIC int nvmlGpmMigSampleGet(void *device, unsigned int gi, struct gpm_sample *sample);
PUBLIC int nvmlGpmMigSampleGet(void *device, unsigned int gi, struct gpm_sample *sample)
{
	struct gpu *gpu = fake_gpu_of(device);

	ENTER(device);
	if (!gpu->has_gpm)
		return NOT_SUPPORTED;
	if (!slices_of(gpu, gi))
		return NOT_FOUND;
	*sample = (struct gpm_sample){ gpu, gi, fake_now_ns() };
	return SUCCESS;
}

/* Percent of the multiprocessors of a GPU instance that were busy. */
static double sm_percent(const struct gpm_sample *from, const struct gpm_sample *to)
{
	double sum = 0;
	unsigned int i, k;

	for (i = 0; i < from->gpu->n_processes; i++) {
		const struct process *process = &from->gpu->processes[i];

		for (k = 0; k < from->gpu->n_instances && process->gi == from->gi; k++)
			if (from->gpu->instances[k].gi == process->gi &&
			    from->gpu->instances[k].ci == process->ci)
				sum += (double)steps_area(&process->sm, from->t_ns, to->t_ns) *
				       from->gpu->instances[k].slices;
	}
	return sum / (double)(to->t_ns - from->t_ns) / slices_of(from->gpu, from->gi);
}

PUBLIC int nvmlGpmMetricsGet(struct gpm_metrics *metrics);
PUBLIC int nvmlGpmMetricsGet(struct gpm_metrics *metrics)
{
	const struct gpm_sample *from = metrics->samples[0], *to = metrics->samples[1];
	uint32_t i;

	ENTER(NULL);
	if (metrics->version != 1)
		return ARGUMENT_VERSION;
	if (from->gpu != to->gpu || from->gi != to->gi)
		return INVALID_ARGUMENT;
	for (i = 0; i < metrics->n; i++) {
		struct gpm_metric *metric = &metrics->list[i];

		metric->result = metric->id != 1 && metric->id != 2 ? NOT_SUPPORTED :
				 to->t_ns < from->t_ns + 100000000  ? NOT_READY :
								      SUCCESS;
		if (metric->result == SUCCESS) /* graphics: any of them was busy */
			metric->value = metric->id == 2 ? sm_percent(from, to) : 100;
	}
	return SUCCESS;
}
#endif

/* ---- accounting ---- */

PUBLIC int nvmlDeviceGetAccountingMode(void *device, int *ret);
PUBLIC int nvmlDeviceGetAccountingMode(void *device, int *ret)
{
	ENTER(device);
	*ret = fake_gpu_of(device)->is_accounted && !fake_gpu_of(device)->is_mig;
	return SUCCESS;
}

/* Switching it on is root's, and never ours: nobody may call it. */
PUBLIC int nvmlDeviceSetAccountingMode(void *device, int mode);
PUBLIC int nvmlDeviceSetAccountingMode(void *device, int mode)
{
	fprintf(stderr, "somebody sets the accounting mode of %s to %d\n", fake_gpu_of(device)->pci,
		mode);
	abort();
}

PUBLIC int nvmlDeviceGetAccountingPids(void *device, unsigned int *count, unsigned int *pids);
PUBLIC int nvmlDeviceGetAccountingPids(void *device, unsigned int *count, unsigned int *pids)
{
	const struct gpu *gpu = fake_gpu_of(device);
	unsigned int i, n = 0;

	ENTER(device);
	if (!gpu->is_accounted || gpu->is_mig)
		return NOT_SUPPORTED;
	for (i = 0; i < gpu->n_processes; i++) {
		const struct process *process = &gpu->processes[i];

		if (!process->sm.n || process->sm.list[0].t_ns > fake_now_ns())
			continue;
		if (n < *count)
			pids[n] = process->pid;
		n++;
	}
	i = *count;
	*count = n;
	return n > i ? INSUFFICIENT_SIZE : SUCCESS;
}

static uint64_t end_of(const struct process *process)
{
	const struct step *last = &process->sm.list[process->sm.n - 1];

	return last->value == PROCESS_GONE && last->t_ns < fake_now_ns() ? last->t_ns :
									   fake_now_ns();
}

PUBLIC int nvmlDeviceGetAccountingStats(void *device, unsigned int pid, struct account *ret);
PUBLIC int nvmlDeviceGetAccountingStats(void *device, unsigned int pid, struct account *ret)
{
	const struct gpu *gpu = fake_gpu_of(device);
	uint64_t begin_ns, end_ns;
	unsigned int i;

	ENTER(device);
	for (i = 0; i < gpu->n_processes && gpu->processes[i].pid != pid; i++)
		;
	if (!gpu->is_accounted || gpu->is_mig)
		return NOT_SUPPORTED;
	if (i == gpu->n_processes || !gpu->processes[i].sm.n ||
	    gpu->processes[i].sm.list[0].t_ns > fake_now_ns())
		return NOT_FOUND;
	begin_ns = gpu->processes[i].sm.list[0].t_ns;
	end_ns = end_of(&gpu->processes[i]);
	*ret = (struct account){ .start_us = fake.epoch_us + begin_ns / 1000,
				 .is_running = is_running(&gpu->processes[i], fake_now_ns()) };
	ret->time_ms = ret->is_running ? 0 : (end_ns - begin_ns) / 1000000;
	if (end_ns > begin_ns)
		ret->gpu_percent = (uint32_t)((steps_area(&gpu->processes[i].sm, begin_ns, end_ns) +
					       (end_ns - begin_ns) / 2) /
					      (end_ns - begin_ns));
	return SUCCESS;
}
