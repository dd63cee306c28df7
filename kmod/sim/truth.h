/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ground truth: what each package and process really used, by who ran on each CPU at each
 * instant and a figure of power per task. Off until a script starts it.
 */
#ifndef WATTSIM_TRUTH_H
#define WATTSIM_TRUTH_H

#include "energy.h"

struct dentry;

#define SIM_PACKAGES_MAX 8
#define SIM_TRUTH_UPDATE_NS 1000000

/*
 * Accounts what runs, up to now, if it was not done within the last SIM_TRUTH_UPDATE_NS. Each CPU
 * does so itself, where it can be waited for. In any context but NMI.
 */
void sim_truth_refresh(void);
/* What a package has used as of the last refresh, and uses now. In any context but NMI. */
int sim_truth_energy(int package_id, struct sim_energy *ret);
int sim_truth_power_uw(int package_id, u32 *ret);

/*
 * While somebody holds it the truth goes on: `truth stop` fails. With the simulator's mutex held;
 * -ENODEV if it is not started or there is no such package.
 */
int sim_truth_hold(int package_id);
void sim_truth_release(void);

int sim_truth_init(struct dentry *dir);
void sim_truth_exit(void);

#endif
