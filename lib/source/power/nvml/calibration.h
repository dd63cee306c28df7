/* SPDX-License-Identifier: Apache-2.0 */
/* Measures what each sensor of a GPU does, while a load of its own goes on and off. */
#ifndef WATT_SOURCE_POWER_NVML_CALIBRATION_H
#define WATT_SOURCE_POWER_NVML_CALIBRATION_H

#include "source/power/nvml/gpu_load.h"
#include "source/power/nvml/kept_timing.h"

/*
 * Takes length_ns. Fills in those ways of which something was found. 0; -ENODATA: of none; -EIO:
 * the GPU takes no more kernels; -EAGAIN: it sleeps; -ENODEV: it is lost; -ENOMEM.
 */
int watt_calibration_run(struct watt_nvml *nvml, struct watt_nvml_gpu *gpu,
			 struct watt_gpu_load *load, uint64_t length_ns,
			 struct watt_kept_timing *ret);

#endif
