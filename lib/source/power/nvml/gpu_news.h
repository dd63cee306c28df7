/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the readings of one GPU is new, and when it came: its sensors have a new value once in a
 * period, and are read somewhat more often. It is the first of them that is waited for; the others
 * may have their values at the same times, which is found out. It reads nothing itself. One thread
 * per object.
 */
#ifndef WATT_SOURCE_POWER_NVML_GPU_NEWS_H
#define WATT_SOURCE_POWER_NVML_GPU_NEWS_H

#include "source/power/nvml/gpu_pace.h"
#include "source/source.h"

/* Of one GPU: what its energy is taken from, what helps with that, and its scopes. */
#define WATT_GPU_MAX_METERS 4

struct watt_gpu_news {
	struct watt_gpu_pace pace;
	uint64_t told_ns; /* the newest reading of which samples were made; 0: none */
	struct {
		uint64_t period_ns;
		int64_t raw;
		bool has_raw;
		bool has_moved; /* at the newest reading */
		/* new values that were first read together with the first one's, and those that
		 * were not */
		unsigned int n_with, n_without;
	} meters[WATT_GPU_MAX_METERS];
};

/* Its channels, as they are read together; at most WATT_GPU_MAX_METERS. */
void watt_gpu_news_init(struct watt_gpu_news *news, const struct watt_channel *channels,
			uint32_t n);
/* The first one was looked at before: its value came between two instants, and was still there. */
void watt_gpu_news_seed(struct watt_gpu_news *news, int64_t raw, uint64_t from_ns, uint64_t to_ns,
			uint64_t still_ns);
/*
 * Takes what was just read, with the times of the calls. Of what is new, the times become those
 * between which the value came; of the rest, the status becomes WATT_STATUS_NOTHING_NEW.
 */
void watt_gpu_news_take(struct watt_gpu_news *news, struct watt_sample *samples, uint32_t n);

#endif
