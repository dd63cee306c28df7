/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a snapshot: one allocation of numbers, and references to names. */
#ifndef WATT_ATTRIB_SNAPSHOT_H
#define WATT_ATTRIB_SNAPSHOT_H

#include <stdbool.h>

#include <wattribute/mark.h>
#include <wattribute/snapshot.h>

#include "attrib/name.h"
#include "base/refcount.h"

struct watt_snapshot {
	struct watt_refcount refs;
	uint64_t t_ns;
	uint64_t realtime_ns;
	uint64_t start_ns;
	uint64_t window_start_ns;
	uint64_t sequence;
	bool has_phase;
	char phase[WATT_MARK_SIZE];
	enum watt_idle_policy idle_policy;
	struct watt_quality quality;
	size_t n_domains;
	struct watt_domain *domains; /* copies; their paths are in paths */
	struct watt_domain_state *states;
	char *paths;
	size_t n_cpus;
	struct watt_cpu_state *cpus;
	size_t n_gauges;
	struct watt_gauge *gauges;
	char *gauge_texts; /* what their names point into */
	size_t n_rows, cap_rows;
	struct watt_row *rows;        /* owned, as one piece with all that follows */
	struct watt_entity *entities; /* one per row */
	struct watt_name **names;     /* two per row, referenced: its own, its cgroup's or NULL */
	struct watt_energy *energies; /* what the rows point to */
	int64_t *windows;             /* the same */
	double *uncertainties;        /* the same, of all, then of the windows, then of idle */
};

#endif
