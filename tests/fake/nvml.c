/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libnvidia-ml.so.1 without a GPU: it answers what its script says, which is the file that
 * FAKE_NVML_SCRIPT names, and knows the truth behind it. Layouts are written down once more here:
 * a mistake in those of the library must not be shared. FAKE_NVML_OLD builds a driver that lacks
 * what came later, FAKE_NVML_BARE one more: that has no functions for power and energy, but keeps
 * samples of it.
 */
#include "nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nvml_state.h"

#define BUFFER 120 /* samples of power that are kept */

struct pci_info {
	char legacy[16];
	uint32_t domain, bus, device, device_id, subsystem_id;
	char id[32];
};

struct field_value {
	uint32_t id, scope;
	int64_t timestamp_us, latency_us;
	int32_t type, result;
	union {
		uint32_t ui;
		unsigned long long ull;
	} value;
};

struct sample {
	uint64_t timestamp_us, value;
};

_Static_assert(sizeof(struct pci_info) == 68, "as NVML has it");
_Static_assert(sizeof(struct field_value) == 40, "as NVML has it");

struct fake_nvml fake = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t now_ns(void)
{
	return fake.has_stopped ? fake.stopped_ns : clock_ns(CLOCK_MONOTONIC) - fake.epoch_ns;
}

struct script *fake_script(void)
{
	return &fake.script;
}

uint64_t fake_now_ns(void)
{
	return now_ns();
}

/* How long kernels had run at an instant. */
static uint64_t kernels_before(const struct gpu *gpu, uint64_t t_ns)
{
	unsigned int i = gpu->n_kernels;
	uint64_t end_ns;

	while (i && gpu->kernels[i - 1].begin_ns >= t_ns)
		i--;
	if (!i)
		return 0;
	end_ns = gpu->kernels[i - 1].end_ns < t_ns ? gpu->kernels[i - 1].end_ns : t_ns;
	return gpu->kernels[i - 1].before_ns + end_ns - gpu->kernels[i - 1].begin_ns;
}

/* The truth: mW times ns, of what the script says and of what kernels add. */
static uint64_t power_area(const struct gpu *gpu, uint64_t t0_ns, uint64_t t1_ns)
{
	return steps_area(&gpu->power_mw, t0_ns, t1_ns) +
	       gpu->kernel_mw * (kernels_before(gpu, t1_ns) - kernels_before(gpu, t0_ns));
}

/* Of CLOCK_REALTIME, at an instant of the script. */
uint64_t fake_real_us(uint64_t t_ns)
{
	return (clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC) + fake.epoch_ns + t_ns) / 1000;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&ts, NULL);
}

struct gpu *fake_gpu_of(void *device)
{
	unsigned int i;

	for (i = 0; i < fake.script.n_gpus; i++)
		if (device == &fake.script.gpus[i])
			return device;
	return NULL;
}

/* Whose instance it is; NULL: it is none. */
struct gpu *fake_gpu_of_instance(const void *device)
{
	unsigned int i;

	for (i = 0; i < fake.script.n_gpus; i++)
		if (device >= (void *)fake.script.gpus[i].instances &&
		    device < (void *)(fake.script.gpus[i].instances + MAX_INSTANCES))
			return &fake.script.gpus[i];
	return NULL;
}

/* What happens before a function does its work: 0, or what it returns instead. */
int fake_enter(const char *function, void *device)
{
	struct gpu *gpu = device ? fake_gpu_of(device) : NULL;
	const struct fault *fault;
	uint64_t hang_ns = 0;
	int code = 0;

	if (device && !gpu)
		gpu = fake_gpu_of_instance(device);
	pthread_mutex_lock(&fake.lock);
	fake.calls++;
	fault = script_find_fault(&fake.script, gpu ? (int)gpu->index : -1, function, now_ns());
	if (fault) {
		code = fault->code;
		hang_ns = fault->hang_ns;
	}
	if (!fake.users && strncmp(function, "nvmlInit", 8))
		code = UNINITIALIZED;
	pthread_mutex_unlock(&fake.lock);
	if (hang_ns)
		sleep_ns(hang_ns);
	return code;
}

/* ---- what tests ask ---- */

PUBLIC int fake_nvml_load(const char *text);
PUBLIC void fake_nvml_set_clock(uint64_t t_ns);
PUBLIC int64_t fake_nvml_energy(unsigned int gpu, uint64_t t0_ns, uint64_t t1_ns);
PUBLIC uint64_t fake_nvml_busy(unsigned int gpu, unsigned int pid, uint64_t t0_ns, uint64_t t1_ns);
PUBLIC int fake_nvml_users(void);
PUBLIC uint64_t fake_nvml_calls(void);

PUBLIC int fake_nvml_load(const char *text)
{
	int line;

	pthread_mutex_lock(&fake.lock);
	line = script_parse(text, &fake.script);
	fake.epoch_ns = clock_ns(CLOCK_MONOTONIC) - fake.script.age_ns;
	fake.epoch_us = fake_real_us(0);
	fake.has_stopped = false;
	fake.is_loaded = true;
	pthread_mutex_unlock(&fake.lock);
	return line;
}

PUBLIC void fake_nvml_set_clock(uint64_t t_ns)
{
	fake.stopped_ns = t_ns;
	fake.has_stopped = true;
}

/* mW times ns are pJ */
PUBLIC int64_t fake_nvml_energy(unsigned int gpu, uint64_t t0_ns, uint64_t t1_ns)
{
	return (int64_t)(power_area(&fake.script.gpus[gpu], t0_ns, t1_ns) / 1000);
}

PUBLIC uint64_t fake_nvml_busy(unsigned int gpu, unsigned int pid, uint64_t t0_ns, uint64_t t1_ns)
{
	const struct gpu *g = &fake.script.gpus[gpu];
	unsigned int i;

	for (i = 0; i < g->n_processes; i++)
		if (g->processes[i].pid == pid)
			return steps_area(&g->processes[i].sm, t0_ns, t1_ns) / 100;
	return 0;
}

PUBLIC int fake_nvml_users(void)
{
	return fake.users;
}

PUBLIC uint64_t fake_nvml_calls(void)
{
	return fake.calls;
}

static int load_file(void)
{
	const char *path = getenv("FAKE_NVML_SCRIPT");
	static char text[65536];
	FILE *file;
	size_t len;
	int line;

	if (fake.is_loaded)
		return SUCCESS;
	file = path ? fopen(path, "re") : NULL;
	if (!file)
		return 9; /* the driver is not loaded */
	len = fread(text, 1, sizeof(text) - 1, file);
	text[len] = '\0';
	fclose(file);
	line = fake_nvml_load(text);
	if (line)
		fprintf(stderr, "%s:%d: the fake NVML does not know what this means\n", path, line);
	return line ? INVALID_ARGUMENT : SUCCESS;
}

int fake_script_read(void)
{
	return load_file();
}

/* ---- the library ---- */

PUBLIC int nvmlInitWithFlags(unsigned int flags);
PUBLIC int nvmlInitWithFlags(unsigned int flags)
{
	int code = load_file();

	if (code)
		return code;
	ENTER(NULL);
	pthread_mutex_lock(&fake.lock);
	fake.users++;
	pthread_mutex_unlock(&fake.lock);
	return SUCCESS;
}

PUBLIC int nvmlInit_v2(void);
PUBLIC int nvmlInit_v2(void)
{
	return nvmlInitWithFlags(0);
}

PUBLIC int nvmlShutdown(void);
PUBLIC int nvmlShutdown(void)
{
	ENTER(NULL);
	pthread_mutex_lock(&fake.lock);
	fake.users--;
	pthread_mutex_unlock(&fake.lock);
	return SUCCESS;
}

PUBLIC const char *nvmlErrorString(int code);
PUBLIC const char *nvmlErrorString(int code)
{
	return code ? "what the script says" : "Success";
}

static int copy_text(char *buf, unsigned int size, const char *text)
{
	if (strlen(text) >= size)
		return INSUFFICIENT_SIZE;
	memcpy(buf, text, strlen(text) + 1);
	return SUCCESS;
}

PUBLIC int nvmlSystemGetDriverVersion(char *buf, unsigned int size);
PUBLIC int nvmlSystemGetDriverVersion(char *buf, unsigned int size)
{
	ENTER(NULL);
	return copy_text(buf, size, fake.script.driver);
}

PUBLIC int nvmlDeviceGetCount_v2(unsigned int *ret);
PUBLIC int nvmlDeviceGetCount_v2(unsigned int *ret)
{
	ENTER(NULL);
	*ret = fake.script.n_gpus;
	return SUCCESS;
}

PUBLIC int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **ret);
PUBLIC int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **ret)
{
	if (index >= fake.script.n_gpus)
		return INVALID_ARGUMENT;
	ENTER(&fake.script.gpus[index]);
	*ret = &fake.script.gpus[index];
	return SUCCESS;
}

PUBLIC int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **ret);
PUBLIC int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **ret)
{
	unsigned int i;

	for (i = 0; i < fake.script.n_gpus; i++)
		if (strcasestr(fake.script.gpus[i].pci, id)) {
			ENTER(&fake.script.gpus[i]);
			*ret = &fake.script.gpus[i];
			return SUCCESS;
		}
	return NOT_FOUND;
}

PUBLIC int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *ret);
PUBLIC int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *ret)
{
	struct gpu *gpu = fake_gpu_of(device);

	ENTER(device);
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->id, sizeof(ret->id), "%.31s", gpu->pci);
	sscanf(gpu->pci, "%x:%x:%x", &ret->domain, &ret->bus, &ret->device);
	return SUCCESS;
}

PUBLIC int nvmlDeviceGetName(void *device, char *buf, unsigned int size);
PUBLIC int nvmlDeviceGetName(void *device, char *buf, unsigned int size)
{
	ENTER(device);
	return copy_text(buf, size, fake_gpu_of(device)->name);
}

PUBLIC int nvmlDeviceGetUUID(void *device, char *buf, unsigned int size);
PUBLIC int nvmlDeviceGetUUID(void *device, char *buf, unsigned int size)
{
	ENTER(device);
	return copy_text(buf, size, fake_gpu_of(device)->uuid);
}

PUBLIC int nvmlDeviceGetArchitecture(void *device, unsigned int *ret);
PUBLIC int nvmlDeviceGetArchitecture(void *device, unsigned int *ret)
{
	ENTER(device);
	*ret = fake_gpu_of(device)->architecture;
	return SUCCESS;
}

/* ---- power and energy ---- */

#ifndef FAKE_NVML_BARE
/* When the values that can be read now were taken. */
static uint64_t published_ns(const struct gpu *gpu)
{
	uint64_t t_ns = now_ns();

	if (gpu->period_ns)
		t_ns -= t_ns % gpu->period_ns;
	return t_ns > gpu->delay_ns ? t_ns - gpu->delay_ns : 0;
}

#endif

static uint32_t mean_until_mw(const struct gpu *gpu, uint64_t t_ns, uint64_t window_ns)
{
	uint64_t from_ns = t_ns > window_ns ? t_ns - window_ns : 0;

	if (t_ns == from_ns)
		return steps_at(&gpu->power_mw, t_ns);
	return (uint32_t)(power_area(gpu, from_ns, t_ns) / (t_ns - from_ns));
}

#ifndef FAKE_NVML_BARE
static uint32_t mean_mw(const struct gpu *gpu, uint64_t window_ns)
{
	return mean_until_mw(gpu, published_ns(gpu), window_ns);
}

/* What was counted before the script began is in it, too. */
static unsigned long long energy_mj(const struct gpu *gpu)
{
	if (gpu->is_stuck)
		return 0;
	return 5000000 + power_area(gpu, 0, published_ns(gpu)) / 1000000000 * gpu->energy_factor;
}

PUBLIC int nvmlDeviceGetPowerUsage(void *device, unsigned int *ret_mw);
PUBLIC int nvmlDeviceGetPowerUsage(void *device, unsigned int *ret_mw)
{
	struct gpu *gpu = fake_gpu_of(device);

	ENTER(device);
	if (gpu->lacks_usage)
		return NOT_SUPPORTED;
	*ret_mw = mean_mw(gpu, gpu->lacks_average ? gpu->window_ns : 1000000000);
	return SUCCESS;
}

PUBLIC int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret_mj);
PUBLIC int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret_mj)
{
	struct gpu *gpu = fake_gpu_of(device);

	ENTER(device);
	if (gpu->lacks_energy)
		return NOT_SUPPORTED;
	*ret_mj = energy_mj(gpu);
	return SUCCESS;
}
#endif

/* Those of power: each is of its own time, and there at once. */
PUBLIC int nvmlDeviceGetSamples(void *device, int kind, unsigned long long last_seen_us,
				int *ret_type, unsigned int *count, struct sample *samples);
PUBLIC int nvmlDeviceGetSamples(void *device, int kind, unsigned long long last_seen_us,
				int *ret_type, unsigned int *count, struct sample *samples)
{
	struct gpu *gpu = fake_gpu_of(device);
	uint64_t newest = now_ns() / gpu->buffer_ns, k = newest > BUFFER ? newest - BUFFER : 0;
	unsigned int n = 0;

	ENTER(device);
	if (kind || gpu->lacks_buffer)
		return NOT_SUPPORTED;
	*ret_type = 1;
	for (k++; k <= newest; k++) {
		/* clocks are read anew each time: half a sample is not a new one */
		if (fake_real_us(k * gpu->buffer_ns) <= last_seen_us + gpu->buffer_ns / 2000)
			continue;
		if (samples && n < *count)
			samples[n] = (struct sample){ fake_real_us(k * gpu->buffer_ns),
						      mean_until_mw(gpu, k * gpu->buffer_ns,
								    gpu->window_ns) };
		n++;
	}
	if (!n)
		return NOT_FOUND;
	newest = *count;
	*count = n;
	return samples && n <= newest ? SUCCESS : INSUFFICIENT_SIZE;
}

PUBLIC int nvmlDeviceGetPowerManagementLimitConstraints(void *device, unsigned int *ret_min_mw,
							unsigned int *ret_max_mw);
PUBLIC int nvmlDeviceGetPowerManagementLimitConstraints(void *device, unsigned int *ret_min_mw,
							unsigned int *ret_max_mw)
{
	ENTER(device);
	*ret_min_mw = 100000;
	*ret_max_mw = 1000000;
	return SUCCESS;
}

#ifndef FAKE_NVML_OLD
static int scoped_mw(const struct gpu *gpu, uint32_t scope, uint64_t window_ns, uint32_t *ret_mw)
{
	if (scope > 2 || (scope == 1 && !gpu->module_mw) || (scope == 2 && !gpu->memory_mw))
		return NOT_SUPPORTED;
	*ret_mw = scope == 2 ? gpu->memory_mw :
			       mean_mw(gpu, window_ns) + (scope == 1 ? gpu->module_mw : 0);
	return SUCCESS;
}

static int read_field(const struct gpu *gpu, struct field_value *field)
{
	field->timestamp_us = (int64_t)fake_real_us(now_ns());
	field->latency_us = 1;
	field->type = 1;
	switch (field->id) {
	case 82:
		field->value.ui = gpu->memory_degrees;
		return gpu->memory_degrees ? SUCCESS : NOT_SUPPORTED;
	case 83:
		field->type = 3;
		field->value.ull = energy_mj(gpu);
		return gpu->lacks_energy ? NOT_SUPPORTED : SUCCESS;
	case 185:
		return gpu->lacks_average ?
			       NOT_SUPPORTED :
			       scoped_mw(gpu, field->scope, 1000000000, &field->value.ui);
	case 186:
		return gpu->lacks_instant ?
			       NOT_SUPPORTED :
			       scoped_mw(gpu, field->scope, gpu->window_ns, &field->value.ui);
	default:
		return INVALID_ARGUMENT;
	}
}

PUBLIC int nvmlDeviceGetFieldValues(void *device, int n, struct field_value *values);
PUBLIC int nvmlDeviceGetFieldValues(void *device, int n, struct field_value *values)
{
	int i;

	ENTER(device);
	for (i = 0; i < n; i++)
		values[i].result = read_field(fake_gpu_of(device), &values[i]);
	return SUCCESS;
}
#endif

/* ---- what it is like ---- */

PUBLIC int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *ret);
PUBLIC int nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *ret)
{
	struct gpu *gpu = fake_gpu_of(device);

	ENTER(device);
	if (sensor)
		return INVALID_ARGUMENT;
	*ret = gpu->degrees;
	return gpu->degrees ? SUCCESS : NOT_SUPPORTED;
}

PUBLIC int nvmlDeviceGetClockInfo(void *device, int which, unsigned int *ret);
PUBLIC int nvmlDeviceGetClockInfo(void *device, int which, unsigned int *ret)
{
	struct gpu *gpu = fake_gpu_of(device);

	ENTER(device);
	*ret = which == 2 ? gpu->memory_clock_mhz : gpu->clock_mhz;
	return gpu->clock_mhz ? SUCCESS : NOT_SUPPORTED;
}

PUBLIC int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned int *ret);
PUBLIC int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned int *ret)
{
	struct gpu *gpu = fake_gpu_of(device);

	ENTER(device);
	*ret = gpu->limit_mw;
	return gpu->limit_mw ? SUCCESS : NOT_SUPPORTED;
}

#ifdef FAKE_NVML_OLD
#define GET_REASONS nvmlDeviceGetCurrentClocksThrottleReasons
#else
#define GET_REASONS nvmlDeviceGetCurrentClocksEventReasons
#endif

PUBLIC int GET_REASONS(void *device, unsigned long long *ret);
PUBLIC int GET_REASONS(void *device, unsigned long long *ret)
{
	struct gpu *gpu = fake_gpu_of(device);

	ENTER(device);
	*ret = steps_at(&gpu->reasons, now_ns());
	return gpu->reasons.n ? SUCCESS : NOT_SUPPORTED;
}
