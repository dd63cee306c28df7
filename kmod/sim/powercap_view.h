/* SPDX-License-Identifier: GPL-2.0-only */
/* A zone as the class of powercap shows it. With the simulator's mutex held. */
#ifndef WATTSIM_POWERCAP_VIEW_H
#define WATTSIM_POWERCAP_VIEW_H

#include "powercap_zone.h"

/* Registers the zone; what it is in has to be shown. What fails says why by sim_fail(). */
int sim_view_show(struct sim_zone *zone);
/* With all that is in it. When this returns nobody reads its counter any more. */
void sim_view_hide(struct sim_zone *zone);
/* "intel-rapl:0" */
const char *sim_view_name(const struct sim_view *view);

#endif
