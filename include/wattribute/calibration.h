/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file calibration.h
 * @brief Calibration: what sensors do is measured, by a load of one's own, and kept for all sessions
 * that are opened afterwards.
 */
#ifndef WATTRIBUTE_CALIBRATION_H
#define WATTRIBUTE_CALIBRATION_H

#include <wattribute/options.h>

WATT_BEGIN_DECLS

/** One reading of a GPU's sensor, as it was found to be. Strings are valid during the call. */
struct watt_gpu_sensor {
	size_t sz;             /**< sizeof(struct watt_gpu_sensor), the library's */
	const char *gpu;       /**< its place in the tree of domains */
	const char *name;      /**< of the card */
	const char *reading;   /**< "counter", "instant", "average" or "usage"; NULL: see error */
	const char *path;      /**< the file in which it is kept; NULL: it is not */
	uint64_t period_ns;    /**< it has a new value so often */
	uint64_t window_ns;    /**< which is the mean of so long; 0: of a counter */
	uint64_t delay_ns;     /**< and which can be read so long after that */
	uint32_t coverage_ppm; /**< the part of the time that it sees */
	uint32_t uncertainty_ppm; /**< standard uncertainty that follows from it */
	int error;                /**< 0, or why this GPU could not be measured: a negative errno */
};

typedef void (*watt_gpu_sensor_fn)(const struct watt_gpu_sensor *sensor, void *data);

/**
 * Measures the sensors of all GPUs of NVIDIA's, one after the other, while a kernel of the library's
 * own runs on the GPU and pauses, and keeps what was found for each card. Nothing else should use
 * the GPUs meanwhile. It blocks, and must be called after fork().
 *
 * 0: all GPUs were measured; -ENODEV: there is none; -EINVAL; or what went wrong with the last GPU
 * that could not be measured, of which tell has been told.
 *
 * @param options    where to look; NULL: this machine.
 * @param cuda_lib   instead of libcuda.so.1; NULL: that.
 * @param length_ns  of each GPU; at least 2 s. 0: 15 s.
 * @param tell       is called for each reading of each GPU.
 */
WATT_API int watt_gpu_calibrate(const struct watt_options *options, const char *cuda_lib,
				uint64_t length_ns, watt_gpu_sensor_fn tell, void *data);

WATT_END_DECLS

#endif
