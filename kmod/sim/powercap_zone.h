/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A zone of powercap: its name, its place and its counter. It is named by the path of names from
 * the top, "package-0/core", after the control type if that is not the usual one,
 * "intel-rapl-mmio:package-0". It is in the class as long as it is shown; its counter goes on while
 * it is hidden. All but the counter with the simulator's mutex held; what fails says why by
 * sim_fail().
 */
#ifndef WATTSIM_POWERCAP_ZONE_H
#define WATTSIM_POWERCAP_ZONE_H

#include "counter.h"
#include "sim.h"

struct sim_control;
struct sim_view;

struct sim_zone {
	struct list_head node; /* parents before their children */
	char id[SIM_TEXT_MAX]; /* as the script has it */
	struct sim_zone *parent;
	struct sim_control *control;
	struct sim_counter counter; /* in units of unit_nj */
	u64 limit_uw;               /* 0: without a constraint */
	struct sim_view *view;      /* NULL: hidden */
};

struct sim_zone_spec {
	const char *meter;
	u64 unit_nj;
	unsigned int bits;
	u64 update_ns;
	u64 shown_uj;
	u64 limit_uw;
};

/* Adds it and shows it. */
int sim_zone_add(const char *id, const struct sim_zone_spec *spec);
/* -EBUSY: a zone is in it. */
int sim_zone_remove(struct sim_zone *zone);
void sim_zones_free(void);

int sim_zone_get(const char *id, struct sim_zone **ret);
/* The one after zone, or the first one; NULL: no more. */
struct sim_zone *sim_zone_next(const struct sim_zone *zone);
/* The last name of the path. */
const char *sim_zone_name(const struct sim_zone *zone);

/* In any context. What it shows now; the largest value that it can show. */
int sim_zone_energy_uj(struct sim_zone *zone, u64 *ret);
u64 sim_zone_max_uj(const struct sim_zone *zone);
/* It goes on from this value, of at most 10^15. */
void sim_zone_set_uj(struct sim_zone *zone, u64 shown_uj);

#endif
