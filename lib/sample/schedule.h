/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a group of channels is read: at epoch + k * period, each deadline at most once, unless a
 * source knows better when there is something new. Pure arithmetic, it must not look at a clock.
 * One thread per object.
 */
#ifndef WATT_SAMPLE_SCHEDULE_H
#define WATT_SAMPLE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct watt_schedule {
	uint64_t epoch_ns;
	uint64_t period_ns; /* never 0 */
	uint64_t due_ns;    /* the next deadline */
};

/* A period as a multiple of the quantum, at least one; never shorter than what was asked for. */
uint64_t watt_schedule_round_ns(uint64_t period_ns, uint64_t quantum_ns);

/* The first deadline is the epoch. */
void watt_schedule_init(struct watt_schedule *schedule, uint64_t epoch_ns, uint64_t period_ns);
/* Drops all deadlines up to now, as if they had never been. */
void watt_schedule_skip(struct watt_schedule *schedule, uint64_t now_ns);
bool watt_schedule_is_due(const struct watt_schedule *schedule, uint64_t now_ns);
/*
 * Takes the newest deadline that has come; those before it are missed. Returns how many. Only
 * when it is due.
 */
uint64_t watt_schedule_take(struct watt_schedule *schedule, uint64_t now_ns,
			    uint64_t *ret_deadline_ns);
/* The next deadline is this one, on no grid; not before now, and at most two periods later. */
void watt_schedule_move(struct watt_schedule *schedule, uint64_t now_ns, uint64_t due_ns);

#endif
