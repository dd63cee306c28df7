/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A meter: what a simulated thing truly uses. Its power is constant, or a square wave, or that of
 * a package in the ground truth. What sensors show of it is theirs (counter.h).
 */
#ifndef WATTSIM_METER_H
#define WATTSIM_METER_H

#include "energy.h"

struct sim_meter;

/*
 * Finds a meter and keeps it from being removed until it is put; -ENOENT. Both with the
 * simulator's mutex held.
 */
int sim_meter_get(const char *name, struct sim_meter **ret);
void sim_meter_put(struct sim_meter *meter);
const char *sim_meter_name(const struct sim_meter *meter);

/*
 * Brings a meter that follows the ground truth up to date. To be called before its energy is read,
 * without a lock, so that other CPUs can be waited for. In any context but NMI.
 */
void sim_meter_refresh(struct sim_meter *meter);
/*
 * What was used since the meter was made, as of the last multiple of update_ns (0: now). The
 * energy of a package of the ground truth is as of now, or up to 1 ms old. In any context but NMI.
 */
void sim_meter_energy(struct sim_meter *meter, u64 update_ns, struct sim_energy *ret);
u32 sim_meter_power_uw(struct sim_meter *meter);

#endif
