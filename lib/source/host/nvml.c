/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens libnvidia-ml.so.1 and finds its GPUs. A GPU of a laptop that sleeps is only woken by who
 * uses it. It must not know what is read from them.
 */
#include "source/host/nvml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/dl.h"
#include "base/util.h"

#define DRIVER "bus/pci/drivers/nvidia"
/* Devices are only attached when they are looked up. */
#define INIT_NO_ATTACH 2

/* Never the unversioned name: that is a stub for linkers, which fails. */
static const char *const files[] = {
	"libnvidia-ml.so.1",
	"/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
	"/run/nvidia/driver/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
	"/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1",
	"/usr/lib/wsl/lib/libnvidia-ml.so.1",
};

#define SYMBOL(member, name) WATT_DL_SYMBOL(struct watt_nvml_api, member, name)

/* The names with a number: those without are of the oldest layouts. */
static const struct watt_dl_symbol symbols[] = {
	SYMBOL(init, "nvmlInit_v2"),
	SYMBOL(shutdown, "nvmlShutdown"),
	SYMBOL(count, "nvmlDeviceGetCount_v2"),
	SYMBOL(by_index, "nvmlDeviceGetHandleByIndex_v2"),
	SYMBOL(init_with_flags, "nvmlInitWithFlags"),
	SYMBOL(driver_version, "nvmlSystemGetDriverVersion"),
	SYMBOL(by_pci, "nvmlDeviceGetHandleByPciBusId_v2"),
	SYMBOL(pci, "nvmlDeviceGetPciInfo_v3"),
	SYMBOL(name, "nvmlDeviceGetName"),
	SYMBOL(uuid, "nvmlDeviceGetUUID"),
	SYMBOL(architecture, "nvmlDeviceGetArchitecture"),
	SYMBOL(power, "nvmlDeviceGetPowerUsage"),
	SYMBOL(energy, "nvmlDeviceGetTotalEnergyConsumption"),
	SYMBOL(fields, "nvmlDeviceGetFieldValues"),
	SYMBOL(samples, "nvmlDeviceGetSamples"),
	SYMBOL(limits, "nvmlDeviceGetPowerManagementLimitConstraints"),
	SYMBOL(enforced_limit, "nvmlDeviceGetEnforcedPowerLimit"),
	SYMBOL(temperature, "nvmlDeviceGetTemperature"),
	SYMBOL(clock, "nvmlDeviceGetClockInfo"),
	SYMBOL(memory, "nvmlDeviceGetMemoryInfo"),
	SYMBOL(event_reasons, "nvmlDeviceGetCurrentClocksEventReasons"),
	SYMBOL(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons"),
	SYMBOL(process_samples, "nvmlDeviceGetProcessUtilization"),
	SYMBOL(utilization, "nvmlDeviceGetUtilizationRates"),
	SYMBOL(compute_v3, "nvmlDeviceGetComputeRunningProcesses_v3"),
	SYMBOL(compute_v2, "nvmlDeviceGetComputeRunningProcesses_v2"),
	SYMBOL(compute_v1, "nvmlDeviceGetComputeRunningProcesses"),
	SYMBOL(graphics_v3, "nvmlDeviceGetGraphicsRunningProcesses_v3"),
	SYMBOL(graphics_v2, "nvmlDeviceGetGraphicsRunningProcesses_v2"),
	SYMBOL(graphics_v1, "nvmlDeviceGetGraphicsRunningProcesses"),
	SYMBOL(mps_v3, "nvmlDeviceGetMPSComputeRunningProcesses_v3"),
	SYMBOL(mps_v2, "nvmlDeviceGetMPSComputeRunningProcesses_v2"),
	SYMBOL(mps_v1, "nvmlDeviceGetMPSComputeRunningProcesses"),
	SYMBOL(mig_mode, "nvmlDeviceGetMigMode"),
	SYMBOL(max_instances, "nvmlDeviceGetMaxMigDeviceCount"),
	SYMBOL(instance, "nvmlDeviceGetMigDeviceHandleByIndex"),
	SYMBOL(gpu_instance_id, "nvmlDeviceGetGpuInstanceId"),
	SYMBOL(compute_instance_id, "nvmlDeviceGetComputeInstanceId"),
	SYMBOL(attributes, "nvmlDeviceGetAttributes_v2"),
	SYMBOL(gpm_support, "nvmlGpmQueryDeviceSupport"),
	SYMBOL(gpm_alloc, "nvmlGpmSampleAlloc"),
	SYMBOL(gpm_free, "nvmlGpmSampleFree"),
	SYMBOL(gpm_sample, "nvmlGpmMigSampleGet"),
	SYMBOL(gpm_metrics, "nvmlGpmMetricsGet"),
	SYMBOL(accounting_mode, "nvmlDeviceGetAccountingMode"),
	SYMBOL(accounting_pids, "nvmlDeviceGetAccountingPids"),
	SYMBOL(account, "nvmlDeviceGetAccountingStats"),
};

static int open_library(struct watt_nvml *nvml)
{
	const char *const given[] = { nvml->env->nvml_lib };
	const char *const *list = given[0] ? given : files;
	size_t n = given[0] ? 1 : WATT_ARRAY_SIZE(files), i;
	const struct watt_nvml_api *api = &nvml->api;
	int r = -ENOENT;

	/* the driver of this machine knows nothing of one that was captured */
	if (!given[0] && !nvml->env->sysfs.is_kernel)
		return -ENODEV;
	for (i = 0; i < n && r == -ENOENT; i++)
		r = watt_dl_open(list[i], &nvml->library);
	if (r < 0)
		return r == -ENOENT ? -ENODEV : r;
	watt_dl_bind(nvml->library, symbols, WATT_ARRAY_SIZE(symbols), &nvml->api);
	return api->init && api->shutdown && api->count && api->by_index ? 0 : -ELIBBAD;
}

static struct watt_nvml_gpu *add_gpu(struct watt_nvml *nvml, const char *pci)
{
	struct watt_nvml_gpu *gpu;
	size_t i;

	for (i = 0; i < nvml->n_gpus; i++)
		if (!strcmp(nvml->gpus[i].pci, pci))
			return &nvml->gpus[i];
	if (nvml->n_gpus == WATT_NVML_MAX_GPUS)
		return NULL;
	gpu = &nvml->gpus[nvml->n_gpus++];
	watt_strlcpy(gpu->pci, pci, sizeof(gpu->pci));
	watt_gpu_path(pci, gpu->path);
	return gpu;
}

/* Those that the driver has and that sleep; returns how many are awake. */
static size_t find_sleepers(struct watt_nvml *nvml)
{
	const struct watt_root *sysfs = &nvml->env->sysfs;
	struct watt_names names = WATT_NAMES_INIT;
	char pci[WATT_PCI_SIZE];
	size_t i, awake = 0;

	if (watt_root_list(sysfs, DRIVER, "", &names) < 0)
		return 1; /* who can't look has to ask */
	for (i = 0; i < names.n; i++) {
		if (watt_pci_parse(names.name[i], pci) < 0)
			continue;
		if (watt_pci_is_asleep(sysfs, pci))
			add_gpu(nvml, pci);
		else
			awake++;
	}
	watt_names_free(&names);
	return nvml->n_gpus ? awake : 1;
}

static int start(struct watt_nvml *nvml, bool has_sleepers)
{
	int code;

	if (has_sleepers && nvml->api.init_with_flags)
		code = nvml->api.init_with_flags(INIT_NO_ATTACH);
	else
		code = nvml->api.init();
	nvml->is_up = code == WATT_NVML_SUCCESS;
	if (nvml->is_up && nvml->api.driver_version)
		nvml->api.driver_version(nvml->driver, sizeof(nvml->driver));
	nvml->driver[sizeof(nvml->driver) - 1] = '\0';
	return code;
}

static void describe(struct watt_nvml *nvml, struct watt_nvml_gpu *gpu, void *device)
{
	const struct watt_nvml_api *api = &nvml->api;

	gpu->device = device;
	if (!api->name || api->name(device, gpu->name, sizeof(gpu->name)) != 0)
		watt_strlcpy(gpu->name, "NVIDIA GPU", sizeof(gpu->name));
	if (!api->uuid || api->uuid(device, gpu->uuid, sizeof(gpu->uuid)) != 0)
		gpu->uuid[0] = '\0';
	if (!api->architecture || api->architecture(device, &gpu->architecture) != 0)
		gpu->architecture = 0;
	gpu->name[sizeof(gpu->name) - 1] = gpu->uuid[sizeof(gpu->uuid) - 1] = '\0';
}

/* One that can't be asked who it is has no place in the tree. */
static int add_device(struct watt_nvml *nvml, unsigned int index)
{
	struct watt_nvml_pci info = { 0 };
	struct watt_nvml_gpu *gpu;
	char pci[WATT_PCI_SIZE];
	void *device;
	int code;

	code = nvml->api.by_index(index, &device);
	if (code != WATT_NVML_SUCCESS)
		return code;
	code = nvml->api.pci ? nvml->api.pci(device, &info) : WATT_NVML_FUNCTION_NOT_FOUND;
	if (code != WATT_NVML_SUCCESS)
		return code;
	info.id[sizeof(info.id) - 1] = '\0';
	if (watt_pci_parse(info.id, pci) < 0)
		return WATT_NVML_INVALID_ARGUMENT;
	gpu = add_gpu(nvml, pci);
	if (gpu && !gpu->device)
		describe(nvml, gpu, device);
	return WATT_NVML_SUCCESS;
}

/* By the addresses of those that are awake: who asks for all of them by number wakes the others. */
static int list_awake(struct watt_nvml *nvml)
{
	struct watt_names names = WATT_NAMES_INIT;
	char pci[WATT_PCI_SIZE];
	void *device;
	size_t i;
	int code = WATT_NVML_FUNCTION_NOT_FOUND;

	if (!nvml->api.by_pci || watt_root_list(&nvml->env->sysfs, DRIVER, "", &names) < 0)
		return code;
	for (i = 0; i < names.n; i++) {
		struct watt_nvml_gpu *gpu;

		if (watt_pci_parse(names.name[i], pci) < 0 ||
		    watt_pci_is_asleep(&nvml->env->sysfs, pci))
			continue;
		code = nvml->api.by_pci(pci, &device);
		gpu = code == WATT_NVML_SUCCESS ? add_gpu(nvml, pci) : NULL;
		if (gpu)
			describe(nvml, gpu, device);
	}
	watt_names_free(&names);
	return code;
}

/* What the last GPU that could not be used said; 0: all can. */
static int list_gpus(struct watt_nvml *nvml)
{
	unsigned int n = 0, i;
	int code, last = WATT_NVML_SUCCESS;

	if (nvml->n_gpus)
		return list_awake(nvml);
	code = nvml->api.count(&n);
	if (code != WATT_NVML_SUCCESS)
		return code;
	for (i = 0; i < WATT_MIN(n, WATT_NVML_MAX_GPUS); i++) {
		code = add_device(nvml, i);
		last = code ? code : last;
	}
	return last;
}

/* -ENODEV: there is nothing to measure. */
static int come_up(struct watt_nvml *nvml, int *ret_code)
{
	size_t awake = find_sleepers(nvml);

	if (awake)
		*ret_code = start(nvml, nvml->n_gpus > 0);
	if (*ret_code)
		return watt_nvml_error(*ret_code);
	if (awake)
		*ret_code = list_gpus(nvml);
	if (nvml->n_gpus)
		return 0;
	return *ret_code ? watt_nvml_error(*ret_code) : -ENODEV;
}

int watt_nvml_open(const struct watt_env *env, struct watt_nvml **ret, int *ret_code)
{
	struct watt_nvml *nvml = calloc(1, sizeof(*nvml));
	int code = 0, r;

	if (!nvml)
		return -ENOMEM;
	nvml->env = env;
	r = open_library(nvml);
	if (r == 0)
		r = come_up(nvml, &code);
	if (ret_code)
		*ret_code = code;
	if (r < 0) {
		watt_nvml_close(nvml);
		return r;
	}
	*ret = nvml;
	return 0;
}

static void go_down(struct watt_nvml *nvml)
{
	if (nvml->is_up)
		nvml->api.shutdown();
	nvml->is_up = false;
	nvml->library = watt_dl_close(nvml->library);
}

struct watt_nvml *watt_nvml_close(struct watt_nvml *nvml)
{
	if (nvml)
		go_down(nvml);
	free(nvml);
	return NULL;
}

int watt_nvml_wake(struct watt_nvml *nvml, struct watt_nvml_gpu *gpu)
{
	void *device;
	int code = WATT_NVML_SUCCESS;

	if (gpu->is_lost || !nvml->library)
		return -ENODEV;
	if (watt_pci_is_asleep(&nvml->env->sysfs, gpu->pci))
		return -EAGAIN;
	if (gpu->device)
		return 0;
	if (!nvml->is_up)
		code = start(nvml, true);
	if (code == WATT_NVML_SUCCESS)
		code = nvml->api.by_pci ? nvml->api.by_pci(gpu->pci, &device) :
					  WATT_NVML_FUNCTION_NOT_FOUND;
	if (code != WATT_NVML_SUCCESS)
		return watt_nvml_judge(nvml, gpu, code);
	describe(nvml, gpu, device);
	return 0;
}

static void lose(struct watt_nvml_gpu *gpu)
{
	gpu->device = NULL;
	gpu->is_lost = true;
}

/* A library that is open is not looked for again: only without it a new one can be found. */
static void lose_driver(struct watt_nvml *nvml)
{
	size_t i;

	for (i = 0; i < nvml->n_gpus; i++)
		lose(&nvml->gpus[i]);
	go_down(nvml);
}

int watt_nvml_read_field(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, uint32_t id,
			 uint32_t scope, int64_t *ret)
{
	struct watt_nvml_field field = { .id = id, .scope = scope, .type = -1 };
	int code;

	if (!nvml->api.fields)
		return WATT_NVML_FUNCTION_NOT_FOUND;
	code = nvml->api.fields(gpu->device, 1, &field);
	if (code == WATT_NVML_SUCCESS)
		code = field.result;
	if (code == WATT_NVML_SUCCESS && watt_nvml_field_value(&field, ret) < 0)
		code = WATT_NVML_NOT_SUPPORTED;
	return code;
}

static void tell_loss(const struct watt_nvml *nvml, const char *pci, int code)
{
	watt_log(&nvml->env->log, nvml->is_second ? WATT_LOG_DEBUG : WATT_LOG_WARNING,
		 "nvml: %s%s%s; it is looked for again", pci, *pci ? ": " : "",
		 watt_nvml_error_text(code));
}

int watt_nvml_judge(struct watt_nvml *nvml, struct watt_nvml_gpu *gpu, int code)
{
	switch (code) {
	case WATT_NVML_UNINITIALIZED:
	case WATT_NVML_DRIVER_NOT_LOADED:
	case WATT_NVML_VERSION_MISMATCH:
		tell_loss(nvml, "", code);
		lose_driver(nvml);
		break;
	case WATT_NVML_GPU_IS_LOST:
	case WATT_NVML_RESET_REQUIRED:
	case WATT_NVML_GPU_NOT_FOUND:
		tell_loss(nvml, gpu->pci, code);
		lose(gpu);
		break;
	default:
		break;
	}
	return watt_nvml_error(code);
}
