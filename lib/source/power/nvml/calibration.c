/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load is on and off for random times, short and long ones, so that no window and no delay
 * looks like another. All sensors are read in one loop, as quickly as they answer.
 */
#include "source/power/nvml/calibration.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/power/nvml/sensor_fit.h"

#define MS WATT_NSEC_PER_MSEC
#define POLL_NS MS
/* Before the first reading that counts: the driver compiles, the clocks rise. */
#define WARM_UP_NS (200 * MS)
#define MAX_PULSES 8192
#define MAX_EDGES 65536

struct track {
	struct watt_sensor_edge *edges;
	size_t n, cap;
	uint64_t t_ns; /* of the newest reading; 0: none */
	int64_t value;
	bool is_deaf; /* this GPU does not tell it */
};

struct run {
	struct watt_nvml *nvml;
	struct watt_nvml_gpu *gpu;
	struct watt_gpu_load *load;
	struct watt_load_pulse *pulses;
	size_t n_pulses;
	uint64_t next_ns; /* the load's next beginning */
	uint32_t random;
	struct track tracks[WATT_KEPT_N_WAYS];
};

static uint32_t draw(struct run *run)
{
	run->random ^= run->random << 13;
	run->random ^= run->random >> 17;
	run->random ^= run->random << 5;
	return run->random;
}

static uint64_t draw_length_ns(struct run *run)
{
	static const uint64_t lengths_ms[] = { 6, 9, 14, 21, 33, 50, 77, 118, 180 };

	return lengths_ms[draw(run) % WATT_ARRAY_SIZE(lengths_ms)] * MS + draw(run) % (3 * MS);
}

/* Runs for so long from now on. */
static int pulse(struct run *run, uint64_t length_ns)
{
	uint64_t from_ns = watt_now_ns();
	int r = watt_gpu_load_start(run->load, length_ns);

	if (r == 0)
		run->pulses[run->n_pulses++] =
			(struct watt_load_pulse){ from_ns, from_ns + length_ns };
	return r;
}

/* The next pulse, where it is time. */
static int drive(struct run *run, uint64_t now_ns)
{
	int r;

	if (now_ns < run->next_ns || run->n_pulses == MAX_PULSES)
		return 0;
	r = watt_gpu_load_wait(run->load);
	if (r == 0)
		r = pulse(run, draw_length_ns(run));
	if (r == 0)
		run->next_ns = run->pulses[run->n_pulses - 1].to_ns + draw_length_ns(run);
	return r;
}

static int read_one(struct run *run, enum watt_gpu_way way)
{
	struct track *track = &run->tracks[way];
	uint64_t t_ns = watt_now_ns();
	int64_t value;
	int r;

	if (track->is_deaf || track->n == MAX_EDGES)
		return 0;
	r = watt_nvml_judge(run->nvml, run->gpu,
			    watt_gpu_read(run->nvml, run->gpu, way, WATT_SCOPE_GPU, &value));
	if (r == -EOPNOTSUPP || r == -EINVAL)
		track->is_deaf = true;
	if (r == -ENODEV || r == -ELIBBAD)
		return -ENODEV;
	if (r < 0)
		return 0;
	if (track->t_ns && value != track->value) {
		r = watt_grow((void **)&track->edges, &track->cap, track->n, sizeof(*track->edges));
		if (r == 0)
			track->edges[track->n++] =
				(struct watt_sensor_edge){ track->t_ns, t_ns, value };
	}
	track->t_ns = t_ns;
	track->value = value;
	return r;
}

static int poll_all(struct run *run, uint64_t length_ns)
{
	struct timespec pause = watt_timespec_from_ns(POLL_NS);
	uint64_t now_ns = watt_now_ns(), end_ns = now_ns + length_ns;
	enum watt_gpu_way way;
	int r = 0;

	run->next_ns = now_ns;
	while (r == 0 && now_ns < end_ns) {
		for (way = WATT_WAY_COUNTER; way < WATT_KEPT_N_WAYS && r == 0; way++) {
			r = drive(run, watt_now_ns());
			if (r == 0)
				r = read_one(run, way);
		}
		nanosleep(&pause, NULL);
		now_ns = watt_now_ns();
	}
	watt_gpu_load_wait(run->load);
	return r;
}

static int fit_all(struct run *run, struct watt_kept_timing *ret)
{
	struct watt_sensor_fit fit;
	enum watt_gpu_way way;
	bool is_any = false;
	int r;

	*ret = (struct watt_kept_timing){ 0 };
	for (way = WATT_WAY_COUNTER; way < WATT_KEPT_N_WAYS; way++) {
		bool is_counter = way == WATT_WAY_COUNTER;

		r = watt_sensor_fit(run->pulses, run->n_pulses, run->tracks[way].edges,
				    run->tracks[way].n, is_counter, &fit);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			continue;
		ret->way[way] = watt_sensor_fit_timing(&fit, is_counter);
		is_any = true;
	}
	return is_any ? 0 : -ENODATA;
}

int watt_calibration_run(struct watt_nvml *nvml, struct watt_nvml_gpu *gpu,
			 struct watt_gpu_load *load, uint64_t length_ns,
			 struct watt_kept_timing *ret)
{
	struct run run = { .nvml = nvml, .gpu = gpu, .load = load, .random = 2463534242u };
	enum watt_gpu_way way;
	int r;

	run.pulses = calloc(MAX_PULSES, sizeof(*run.pulses));
	if (!run.pulses)
		return -ENOMEM;
	r = watt_nvml_wake(nvml, gpu);
	if (r == 0)
		r = pulse(&run, WARM_UP_NS); /* long windows still see it */
	if (r == 0)
		r = watt_gpu_load_wait(load);
	if (r == 0)
		r = poll_all(&run, length_ns);
	if (r == 0)
		r = fit_all(&run, ret);
	for (way = WATT_WAY_NONE; way < WATT_KEPT_N_WAYS; way++)
		free(run.tracks[way].edges);
	free(run.pulses);
	return r;
}
