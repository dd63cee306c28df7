/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load for one GPU of NVIDIA's: a kernel that computes for a given time, by the driver's
 * libcuda.so.1, which is opened while we run. One thread per object.
 */
#ifndef WATT_SOURCE_POWER_NVML_GPU_LOAD_H
#define WATT_SOURCE_POWER_NVML_GPU_LOAD_H

#include <stdint.h>

struct watt_gpu_load;

/*
 * lib NULL: libcuda.so.1. -ENOENT: there is no such library; -ELIBBAD: it lacks what is needed;
 * -ENODEV: it does not have this GPU; -EIO: the GPU takes no kernel; -ENOMEM.
 */
int watt_gpu_load_open(const char *lib, const char *pci, struct watt_gpu_load **ret);
/* Begins, and does not wait for the end. 0 or -EIO. */
int watt_gpu_load_start(struct watt_gpu_load *load, uint64_t length_ns);
/* Waits until nothing runs any more. 0 or -EIO. */
int watt_gpu_load_wait(struct watt_gpu_load *load);
/* Accepts NULL; returns NULL. */
struct watt_gpu_load *watt_gpu_load_close(struct watt_gpu_load *load);

#endif
