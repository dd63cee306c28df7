/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda.so.1 in the same file as the fake NVML: a kernel that is launched has its GPU take more
 * for as long as it runs. It runs in time alone.
 */
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "nvml_script.h"

#define PUBLIC __attribute__((visibility("default")))

enum {
	SUCCESS = 0,
	INVALID_VALUE = 1,
	NO_DEVICE = 100,
	LAUNCH_FAILED = 719,
};

static struct gpu *current;

PUBLIC int cuInit(unsigned int flags);
PUBLIC int cuInit(unsigned int flags)
{
	/* in a process that asks nothing else of the driver nobody has read it yet */
	return flags || fake_script_read() ? INVALID_VALUE : SUCCESS;
}

PUBLIC int cuDeviceGetByPCIBusId(int *ret, const char *pci);
PUBLIC int cuDeviceGetByPCIBusId(int *ret, const char *pci)
{
	unsigned int i;

	for (i = 0; i < fake_script()->n_gpus; i++)
		if (strcasestr(fake_script()->gpus[i].pci, pci)) {
			*ret = (int)i;
			return SUCCESS;
		}
	return NO_DEVICE;
}

PUBLIC int cuDeviceGetAttribute(int *ret, int which, int device);
PUBLIC int cuDeviceGetAttribute(int *ret, int which, int device)
{
	*ret = 132;
	return which == 16 ? SUCCESS : INVALID_VALUE;
}

PUBLIC int cuDevicePrimaryCtxRetain(void **ret, int device);
PUBLIC int cuDevicePrimaryCtxRetain(void **ret, int device)
{
	*ret = &fake_script()->gpus[device];
	return SUCCESS;
}

PUBLIC int cuDevicePrimaryCtxRelease_v2(int device);
PUBLIC int cuDevicePrimaryCtxRelease_v2(int device)
{
	current = NULL;
	return SUCCESS;
}

PUBLIC int cuCtxSetCurrent(void *context);
PUBLIC int cuCtxSetCurrent(void *context)
{
	current = context;
	return SUCCESS;
}

PUBLIC int cuModuleLoadData(void **ret, const char *text);
PUBLIC int cuModuleLoadData(void **ret, const char *text)
{
	*ret = current;
	return strstr(text, ".entry") ? SUCCESS : INVALID_VALUE;
}

PUBLIC int cuModuleUnload(void *module);
PUBLIC int cuModuleUnload(void *module)
{
	return module == current ? SUCCESS : INVALID_VALUE;
}

PUBLIC int cuModuleGetFunction(void **ret, void *module, const char *name);
PUBLIC int cuModuleGetFunction(void **ret, void *module, const char *name)
{
	*ret = module;
	return SUCCESS;
}

PUBLIC int cuLaunchKernel(void *function, unsigned int blocks, unsigned int blocks_y,
			  unsigned int blocks_z, unsigned int threads, unsigned int threads_y,
			  unsigned int threads_z, unsigned int shared_bytes, void *stream,
			  void **arguments, void **extra);
PUBLIC int cuLaunchKernel(void *function, unsigned int blocks, unsigned int blocks_y,
			  unsigned int blocks_z, unsigned int threads, unsigned int threads_y,
			  unsigned int threads_z, unsigned int shared_bytes, void *stream,
			  void **arguments, void **extra)
{
	struct gpu *gpu = function;
	uint64_t now_ns = fake_now_ns(), begin_ns = now_ns;
	unsigned int n = gpu->n_kernels;

	if (n == MAX_KERNELS || !blocks || !threads)
		return LAUNCH_FAILED;
	/* one after the other */
	if (n && gpu->kernels[n - 1].end_ns > begin_ns)
		begin_ns = gpu->kernels[n - 1].end_ns;
	gpu->kernels[n].begin_ns = begin_ns;
	gpu->kernels[n].end_ns = begin_ns + *(const uint64_t *)arguments[0];
	gpu->kernels[n].before_ns = n ? gpu->kernels[n - 1].before_ns + gpu->kernels[n - 1].end_ns -
						    gpu->kernels[n - 1].begin_ns :
					0;
	gpu->n_kernels++;
	return SUCCESS;
}

PUBLIC int cuCtxSynchronize(void);
PUBLIC int cuCtxSynchronize(void)
{
	uint64_t now_ns = fake_now_ns(), end_ns;
	struct timespec ts;

	if (!current->n_kernels)
		return SUCCESS;
	end_ns = current->kernels[current->n_kernels - 1].end_ns;
	if (end_ns > now_ns) {
		ts.tv_sec = (time_t)((end_ns - now_ns) / 1000000000);
		ts.tv_nsec = (long)((end_ns - now_ns) % 1000000000);
		nanosleep(&ts, NULL);
	}
	return SUCCESS;
}
