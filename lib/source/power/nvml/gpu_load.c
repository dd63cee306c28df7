/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel is text that the driver compiles itself (PTX), so that nothing of NVIDIA is needed to
 * build. Each of its threads multiplies until the GPU's own clock says that it is time.
 */
#include "source/power/nvml/gpu_load.h"

#include <errno.h>
#include <stdlib.h>

#include "base/dl.h"
#include "base/util.h"

#define MULTIPROCESSORS 16 /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
#define BLOCKS 4           /* on each */
#define THREADS 256        /* in each */

/* What it computes is never what the trap waits for, but a compiler can't know. */
static const char kernel[] = ".version 6.0\n"
			     ".target sm_50\n"
			     ".address_size 64\n"
			     ".visible .entry watt_spin(.param .u64 length_ns)\n"
			     "{\n"
			     ".reg .u64 %t<3>;\n"
			     ".reg .f32 %f<7>;\n"
			     ".reg .pred %p<2>;\n"
			     "ld.param.u64 %t0, [length_ns];\n"
			     "mov.u64 %t1, %globaltimer;\n"
			     "add.u64 %t1, %t1, %t0;\n"
			     "mov.f32 %f0, 0f3F7FFFF0;\n"
			     "mov.f32 %f1, 0f3F000000;\n"
			     "mov.f32 %f2, 0f3F800000;\n"
			     "mov.f32 %f3, 0f3FC00000;\n"
			     "mov.f32 %f4, 0f40000000;\n"
			     "mov.f32 %f5, 0f40200000;\n"
			     "again:\n"
			     "fma.rn.f32 %f2, %f2, %f0, %f1;\n"
			     "fma.rn.f32 %f3, %f3, %f0, %f1;\n"
			     "fma.rn.f32 %f4, %f4, %f0, %f1;\n"
			     "fma.rn.f32 %f5, %f5, %f0, %f1;\n"
			     "fma.rn.f32 %f2, %f2, %f0, %f1;\n"
			     "fma.rn.f32 %f3, %f3, %f0, %f1;\n"
			     "fma.rn.f32 %f4, %f4, %f0, %f1;\n"
			     "fma.rn.f32 %f5, %f5, %f0, %f1;\n"
			     "mov.u64 %t2, %globaltimer;\n"
			     "setp.lt.u64 %p0, %t2, %t1;\n"
			     "@%p0 bra again;\n"
			     "add.f32 %f2, %f2, %f3;\n"
			     "add.f32 %f4, %f4, %f5;\n"
			     "add.f32 %f6, %f2, %f4;\n"
			     "setp.lt.f32 %p1, %f6, 0f00000000;\n"
			     "@%p1 trap;\n"
			     "ret;\n"
			     "}\n";

struct cuda {
	int (*init)(unsigned int flags);
	int (*by_pci)(int *ret, const char *pci);
	int (*attribute)(int *ret, int which, int device);
	int (*retain)(void **ret, int device);
	int (*release)(int device);
	int (*make_current)(void *context);
	int (*load)(void **ret, const void *text);
	int (*unload)(void *module);
	int (*find)(void **ret, void *module, const char *name);
	int (*launch)(void *function, unsigned int blocks, unsigned int blocks_y,
		      unsigned int blocks_z, unsigned int threads, unsigned int threads_y,
		      unsigned int threads_z, unsigned int shared_bytes, void *stream,
		      void **arguments, void **extra);
	int (*wait)(void);
};

#define SYMBOL(member, name) WATT_DL_SYMBOL(struct cuda, member, name)

static const struct watt_dl_symbol symbols[] = {
	SYMBOL(init, "cuInit"),
	SYMBOL(by_pci, "cuDeviceGetByPCIBusId"),
	SYMBOL(attribute, "cuDeviceGetAttribute"),
	SYMBOL(retain, "cuDevicePrimaryCtxRetain"),
	SYMBOL(release, "cuDevicePrimaryCtxRelease_v2"),
	SYMBOL(make_current, "cuCtxSetCurrent"),
	SYMBOL(load, "cuModuleLoadData"),
	SYMBOL(unload, "cuModuleUnload"),
	SYMBOL(find, "cuModuleGetFunction"),
	SYMBOL(launch, "cuLaunchKernel"),
	SYMBOL(wait, "cuCtxSynchronize"),
};

struct watt_gpu_load {
	void *library;
	struct cuda cuda;
	int device;
	int n_multiprocessors;
	void *context; /* NULL: none yet */
	void *module;
	void *function;
};

static int prepare(struct watt_gpu_load *load, const char *pci)
{
	const struct cuda *cuda = &load->cuda;

	if (cuda->init(0) || cuda->by_pci(&load->device, pci))
		return -ENODEV;
	if (cuda->attribute(&load->n_multiprocessors, MULTIPROCESSORS, load->device) ||
	    load->n_multiprocessors < 1)
		return -ENODEV;
	if (cuda->retain(&load->context, load->device)) {
		load->context = NULL;
		return -EIO;
	}
	if (cuda->make_current(load->context))
		return -EIO;
	if (cuda->load(&load->module, kernel)) {
		load->module = NULL;
		return -EIO;
	}
	return cuda->find(&load->function, load->module, "watt_spin") ? -EIO : 0;
}

int watt_gpu_load_open(const char *lib, const char *pci, struct watt_gpu_load **ret)
{
	struct watt_gpu_load *load = calloc(1, sizeof(*load));
	int r;

	if (!load)
		return -ENOMEM;
	r = watt_dl_open(lib ? lib : "libcuda.so.1", &load->library);
	if (r == 0 && watt_dl_bind(load->library, symbols, WATT_ARRAY_SIZE(symbols), &load->cuda) <
			      WATT_ARRAY_SIZE(symbols))
		r = -ELIBBAD;
	if (r == 0)
		r = prepare(load, pci);
	if (r < 0) {
		watt_gpu_load_close(load);
		return r;
	}
	*ret = load;
	return 0;
}

int watt_gpu_load_start(struct watt_gpu_load *load, uint64_t length_ns)
{
	void *arguments[] = { &length_ns };

	return load->cuda.launch(load->function, (unsigned int)load->n_multiprocessors * BLOCKS, 1,
				 1, THREADS, 1, 1, 0, NULL, arguments, NULL) ?
		       -EIO :
		       0;
}

int watt_gpu_load_wait(struct watt_gpu_load *load)
{
	return load->cuda.wait() ? -EIO : 0;
}

struct watt_gpu_load *watt_gpu_load_close(struct watt_gpu_load *load)
{
	if (!load)
		return NULL;
	if (load->module)
		load->cuda.unload(load->module);
	if (load->context)
		load->cuda.release(load->device);
	watt_dl_close(load->library);
	free(load);
	return NULL;
}
