/* SPDX-License-Identifier: GPL-2.0-only */
/* Control types of powercap: what zones are in. All with the simulator's mutex held. */
#ifndef WATTSIM_POWERCAP_CONTROL_H
#define WATTSIM_POWERCAP_CONTROL_H

#include <linux/powercap.h>

#include "sim.h"

/* A control type that has zones. */
struct sim_control {
	struct list_head node;
	char name[SIM_TEXT_MAX];
	struct powercap_control_type *type;
	unsigned int users;
};

/* Makes it, if it is not there; "" is the usual one. It stays until it is put. */
int sim_control_get(const char *name, struct sim_control **ret);
void sim_control_put(struct sim_control *used);

#endif
