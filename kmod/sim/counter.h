/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A register that counts a meter's energy in units of its own, and wraps. The part that shows it
 * owns it; reading is safe in any context but NMI, beside a change under the simulator's mutex.
 */
#ifndef WATTSIM_COUNTER_H
#define WATTSIM_COUNTER_H

#include <linux/spinlock.h>

#include "meter.h"

struct sim_counter {
	struct sim_meter *meter;
	raw_spinlock_t lock;    /* what follows */
	u64 unit_num, unit_den; /* unit_num / unit_den nJ a count */
	u64 update_ns;
	unsigned int bits;        /* it wraps at 2^bits counts */
	struct sim_energy origin; /* the meter's energy when the counter showed start */
	u64 start;
	int error; /* what reads return, if not 0 */
};

/* Takes over the reference on the meter. Begins at 0. */
void sim_counter_init(struct sim_counter *counter, struct sim_meter *meter, u64 unit_num,
		      u64 unit_den, unsigned int bits, u64 update_ns);
void sim_counter_done(struct sim_counter *counter);
/* What the register shows; a negative errno if it was told to fail. */
int sim_counter_read(struct sim_counter *counter, u64 *ret);
/* From now on it counts from value. */
void sim_counter_set(struct sim_counter *counter, u64 value);
/* The meter's energy when it began to count, or was set. */
void sim_counter_origin(struct sim_counter *counter, struct sim_energy *ret);
void sim_counter_fail(struct sim_counter *counter, int error);
u64 sim_counter_max(const struct sim_counter *counter);

#endif
