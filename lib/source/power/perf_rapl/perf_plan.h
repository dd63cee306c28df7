/* SPDX-License-Identifier: Apache-2.0 */
/* Which energy events to open on which CPU, and what each of them measures. */
#ifndef WATT_SOURCE_POWER_PERF_RAPL_PERF_PLAN_H
#define WATT_SOURCE_POWER_PERF_RAPL_PERF_PLAN_H

#include "source/power/perf_rapl/perf_pmu.h"
#include "source/power/powercap/rapl_zone.h"
#include "source/host/topology.h"

struct watt_perf_item {
	char label[72]; /* "power/energy-pkg/" */
	uint32_t pmu;   /* how many PMUs were added to the plan before its own */
	uint32_t type;
	uint32_t cpu;
	uint64_t config;
	uint64_t scale_num; /* count to nJ */
	uint64_t scale_den;
	struct watt_rapl_zone zone;
};

struct watt_perf_plan {
	struct watt_perf_item *items; /* by PMU, then by CPU */
	uint32_t n_items;
	size_t cap;
	uint32_t n_pmus;
};

#define WATT_PERF_PLAN_INIT \
	{ \
		0 \
	}

/*
 * Adds the events of a PMU. Events that are not known, and those that would measure a domain of
 * the plan again, are left out with a warning. 0 or -ENOMEM.
 */
int watt_perf_plan_add(struct watt_perf_plan *plan, const struct watt_pmu *pmu,
		       const struct watt_topology *topology, bool is_amd,
		       const struct watt_log *log);
void watt_perf_plan_done(struct watt_perf_plan *plan);

#endif
