/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated GPU with known truth: processes share its one engine, and from one window to the
 * next each has another share of it. It goes in whole us, shares are in thousandths and powers in
 * whole W, so every time and energy at every such instant is an integer and nothing is rounded:
 * idle + sum of what its processes took = its energy, exactly. The same options give the same GPU.
 * One thread per object.
 */
#ifndef WATT_SOURCE_SYNTH_GPU_H
#define WATT_SOURCE_SYNTH_GPU_H

#include <stdint.h>

#include "source/synth/curve.h"
#include "source/synth/rng.h"

#define WATT_SYNTH_GPU_USERS 4

struct watt_synth_gpu_opts {
	uint64_t seed;
	uint64_t epoch_ns;  /* when it begins, in whole us */
	uint64_t window_ns; /* how long shares stay the same, in whole us */
	uint32_t idle_w;
	uint32_t busy_w; /* more than idle, when its engine is never idle */
	uint32_t n_users;
};

struct watt_synth_gpu {
	struct watt_synth_gpu_opts opts;
	struct watt_synth_rng rng;
	uint64_t next_us; /* end of the window that is known */
	struct watt_synth_curve energy;
	struct watt_synth_curve times[WATT_SYNTH_GPU_USERS]; /* thousandths times us are ns */
};

void watt_synth_gpu_init(struct watt_synth_gpu *gpu, const struct watt_synth_gpu_opts *opts);
void watt_synth_gpu_done(struct watt_synth_gpu *gpu);
/* Lets it go on until t_ns. 0 or -ENOMEM. */
int watt_synth_gpu_run(struct watt_synth_gpu *gpu, uint64_t t_ns);
/* Since the epoch, at any instant up to that which was not forgotten. */
int64_t watt_synth_gpu_energy_nj(const struct watt_synth_gpu *gpu, uint64_t t_ns);
/* Time of one of its users on the engine. */
uint64_t watt_synth_gpu_time_ns(const struct watt_synth_gpu *gpu, uint32_t user, uint64_t t_ns);
/* Before t_ns nothing will be asked any more. */
void watt_synth_gpu_forget(struct watt_synth_gpu *gpu, uint64_t t_ns);
/* A watt_synth_energy_fn: data is the GPU. */
int64_t watt_synth_gpu_true_nj(const void *gpu, uint64_t t_ns);

#endif
