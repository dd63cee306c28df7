/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the shares of each window, and adds up. It must not read clocks. */
#include "source/synth/gpu.h"

#include "base/clock.h"

void watt_synth_gpu_init(struct watt_synth_gpu *gpu, const struct watt_synth_gpu_opts *opts)
{
	*gpu = (struct watt_synth_gpu){ .opts = *opts,
					.rng = { opts->seed },
					.next_us = opts->epoch_ns / WATT_NSEC_PER_USEC };
}

void watt_synth_gpu_done(struct watt_synth_gpu *gpu)
{
	uint32_t i;

	watt_synth_curve_done(&gpu->energy);
	for (i = 0; i < WATT_SYNTH_GPU_USERS; i++)
		watt_synth_curve_done(&gpu->times[i]);
}

/* One window: each user draws from what those before it have left. */
static int run_window(struct watt_synth_gpu *gpu)
{
	const struct watt_synth_gpu_opts *opts = &gpu->opts;
	uint64_t left = 1000, share;
	uint32_t i;
	int r = 0;

	for (i = 0; i < opts->n_users && r == 0; i++) {
		share = watt_synth_rng_below(&gpu->rng, left + 1);
		if (watt_synth_rng_chance(&gpu->rng, 200000))
			share = 0;
		left -= share;
		r = watt_synth_curve_step(&gpu->times[i], gpu->next_us, share);
	}
	if (r == 0)
		r = watt_synth_curve_step(&gpu->energy, gpu->next_us,
					  1000 * (uint64_t)opts->idle_w +
						  opts->busy_w * (1000 - left));
	gpu->next_us += opts->window_ns / WATT_NSEC_PER_USEC;
	return r;
}

int watt_synth_gpu_run(struct watt_synth_gpu *gpu, uint64_t t_ns)
{
	int r = 0;

	while (gpu->next_us * WATT_NSEC_PER_USEC <= t_ns && r == 0)
		r = run_window(gpu);
	return r;
}

int64_t watt_synth_gpu_energy_nj(const struct watt_synth_gpu *gpu, uint64_t t_ns)
{
	return watt_synth_curve_energy_nj(&gpu->energy, t_ns / WATT_NSEC_PER_USEC);
}

uint64_t watt_synth_gpu_time_ns(const struct watt_synth_gpu *gpu, uint32_t user, uint64_t t_ns)
{
	return (uint64_t)watt_synth_curve_energy_nj(&gpu->times[user], t_ns / WATT_NSEC_PER_USEC);
}

void watt_synth_gpu_forget(struct watt_synth_gpu *gpu, uint64_t t_ns)
{
	uint32_t i;

	watt_synth_curve_forget(&gpu->energy, t_ns / WATT_NSEC_PER_USEC);
	for (i = 0; i < gpu->opts.n_users; i++)
		watt_synth_curve_forget(&gpu->times[i], t_ns / WATT_NSEC_PER_USEC);
}

int64_t watt_synth_gpu_true_nj(const void *gpu, uint64_t t_ns)
{
	return watt_synth_gpu_energy_nj(gpu, t_ns);
}
