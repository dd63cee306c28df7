/* SPDX-License-Identifier: Apache-2.0 */
/* The exact modulus of a RAPL counter as powercap shows it. Pure; thread-safe. */
#ifndef WATT_SOURCE_POWER_POWERCAP_RAPL_RANGE_H
#define WATT_SOURCE_POWER_POWERCAP_RAPL_RANGE_H

#include <stdint.h>

/*
 * range_uj: content of max_energy_range_uj, which is the largest value that energy_uj can show.
 * The counter wraps one unit of the hardware later. -ERANGE: the range is 0, or the modulus does
 * not fit in 63 bits.
 */
int watt_rapl_modulus_nj(uint64_t range_uj, uint64_t *ret_nj);

#endif
