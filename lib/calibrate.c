/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibrates the GPUs that a session with the same options would read: one after the other, since
 * the load of one may slow another.
 */
#include <wattribute/calibration.h>

#include <errno.h>
#include <limits.h>

#include "base/clock.h"
#include "env.h"
#include "source/power/nvml/calibration.h"

#define USUAL_NS (15 * WATT_NSEC_PER_SEC)
#define LEAST_NS (2 * WATT_NSEC_PER_SEC)

struct calibration {
	struct watt_nvml *nvml;
	const char *cuda_lib;
	uint64_t length_ns;
	watt_gpu_sensor_fn tell;
	void *data;
};

static int measure(struct calibration *self, struct watt_nvml_gpu *gpu,
		   struct watt_kept_timing *ret)
{
	struct watt_gpu_load *load;
	int r = watt_gpu_load_open(self->cuda_lib, gpu->pci, &load);

	if (r < 0)
		return r;
	r = watt_calibration_run(self->nvml, gpu, load, self->length_ns, ret);
	watt_gpu_load_close(load);
	return r;
}

static void tell_found(const struct calibration *self, const struct watt_nvml_gpu *gpu,
		       const struct watt_kept_timing *found, const char *path)
{
	enum watt_gpu_way way;

	for (way = WATT_WAY_COUNTER; way < WATT_KEPT_N_WAYS; way++) {
		const struct watt_gpu_timing *timing = &found->way[way];
		const struct watt_gpu_sensor sensor = { .sz = sizeof(sensor),
							.gpu = gpu->path,
							.name = gpu->name,
							.reading = watt_kept_timing_name(way),
							.path = path,
							.period_ns = timing->period_ns,
							.window_ns = timing->window_ns,
							.delay_ns = timing->delay_ns,
							.coverage_ppm = timing->coverage_ppm,
							.uncertainty_ppm =
								timing->uncertainty_ppm };

		if (timing->period_ns)
			self->tell(&sensor, self->data);
	}
}

static int calibrate(struct calibration *self, struct watt_nvml_gpu *gpu)
{
	struct watt_gpu_sensor failed = { .sz = sizeof(failed),
					  .gpu = gpu->path,
					  .name = gpu->name };
	struct watt_kept_timing found;
	char path[PATH_MAX];
	int r = gpu->device ? measure(self, gpu, &found) : -EAGAIN;

	if (r < 0) {
		failed.error = r;
		self->tell(&failed, self->data);
		return r;
	}
	r = watt_kept_timing_write(self->nvml->env->state_dir, gpu->uuid, &found, path,
				   sizeof(path));
	tell_found(self, gpu, &found, r == 0 ? path : NULL);
	return r;
}

int watt_gpu_calibrate(const struct watt_options *options, const char *cuda_lib, uint64_t length_ns,
		       watt_gpu_sensor_fn tell, void *data)
{
	struct watt_env_owner owner = WATT_ENV_OWNER_INIT;
	struct calibration self = { .cuda_lib = cuda_lib,
				    .length_ns = length_ns ? length_ns : USUAL_NS,
				    .tell = tell,
				    .data = data };
	size_t i;
	int r, failed = 0;

	if (!tell || self.length_ns < LEAST_NS)
		return -EINVAL;
	r = watt_env_open(options, &owner);
	if (r == 0)
		r = watt_nvml_open(&owner.env, &self.nvml, NULL);
	for (i = 0; r == 0 && i < self.nvml->n_gpus; i++) {
		int code = calibrate(&self, &self.nvml->gpus[i]);

		failed = code < 0 ? code : failed;
	}
	watt_nvml_close(self.nvml);
	watt_env_close(&owner);
	return r < 0 ? r : failed;
}
