/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a sensor that has a new value once in a while has its next one. The instant at which a value
 * came is known to lie between two others; each reading narrows that down: one in the middle of
 * where the next value is expected, one behind it. No more readings than at fixed times, and when a
 * value came is known to a part of its period. Pure, it must not look at a clock. One per device.
 */
#ifndef WATT_SOURCE_POWER_NVML_GPU_PACE_H
#define WATT_SOURCE_POWER_NVML_GPU_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct watt_gpu_pace {
	uint64_t told_ns;        /* the period that it should have */
	uint64_t period_ns;      /* the one that it has, as it was found so far */
	uint64_t slack_ns;       /* so much earlier or later than that may the next value come */
	uint64_t from_ns, to_ns; /* the newest value came between these; 0: not known yet */
	uint64_t mark_from_ns, mark_to_ns; /* the same of one some periods ago */
	uint64_t before_ns, after_ns;      /* the newest reading; 0: none */
	unsigned int n_again;  /* readings behind the time at which a value was expected */
	unsigned int n_doubts; /* values since there was a reading just before one came */
	bool must_move;        /* its value is never the same again, as a counter's */
};

void watt_gpu_pace_init(struct watt_gpu_pace *pace, uint64_t period_ns, bool must_move);
/*
 * A reading, between two instants, whose value is another one than that of the reading before, or
 * is not. true: a value came, at a time that from_ns and to_ns are around; what does not move may
 * be a new value that is the same, and is taken for one when it is time.
 */
bool watt_gpu_pace_see(struct watt_gpu_pace *pace, uint64_t before_ns, uint64_t after_ns,
		       bool is_another);
/* A value came between two instants, and was read last at a third one. */
void watt_gpu_pace_seed(struct watt_gpu_pace *pace, uint64_t from_ns, uint64_t to_ns,
			uint64_t read_ns);
/* Nothing is known any more, but for the period. */
void watt_gpu_pace_lose(struct watt_gpu_pace *pace);
/* When to read it again, behind the newest reading. 0: there is none, nothing is known. */
uint64_t watt_gpu_pace_next_ns(const struct watt_gpu_pace *pace);

#endif
