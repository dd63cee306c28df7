/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A RAPL zone: which part of the machine it is and its place in the domain tree. The same for
 * powercap and perf, so that both give the same paths. Pure; thread-safe.
 */
#ifndef WATT_SOURCE_POWER_POWERCAP_RAPL_ZONE_H
#define WATT_SOURCE_POWER_POWERCAP_RAPL_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include <wattribute/channel.h>

struct watt_rapl_zone {
	enum watt_domain_kind kind;
	int32_t package_id; /* -1: of no package (psys) */
	int32_t die_id;     /* -1: the package has one die */
	int32_t core_id;    /* -1: not one core */
	char domain[64];    /* "package-0-die-1/core" */
};

/* Fills domain from the other fields. -EINVAL: RAPL has no such zone. */
int watt_rapl_zone_place(struct watt_rapl_zone *zone);
/*
 * From the names that powercap gives a zone and the one above it (NULL: top-level). -ENOENT: not
 * a name that RAPL uses.
 */
int watt_rapl_zone_parse(const char *parent, const char *name, struct watt_rapl_zone *ret);

/*
 * What power is not plausible for a zone. limit_uw: the largest limit that the machine states
 * for it, 0: none. The limit times 4 (limits may be exceeded for a while, and in 1 ms a counter
 * can show the energy of two), at most a bound by kind, which holds alone without a limit.
 */
uint64_t watt_rapl_max_power_uw(enum watt_domain_kind kind, uint64_t limit_uw);
/* What to expect of a long mean; is_amd: the counters are a model, not a measurement. */
uint32_t watt_rapl_uncertainty_ppm(enum watt_domain_kind kind, bool is_amd);
/*
 * The exact modulus of a counter as powercap shows it. range_uj: content of max_energy_range_uj,
 * which is the largest value that energy_uj can show; the counter wraps one unit of the hardware
 * later. -ERANGE: the range is 0, or the modulus does not fit in 63 bits.
 */
int watt_rapl_modulus_nj(uint64_t range_uj, uint64_t *ret_nj);

#endif
