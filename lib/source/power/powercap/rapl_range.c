/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the range that powercap prints to the modulus at which the counter really wraps.
 * Works on numbers alone; must not touch a file.
 */
#include "source/power/powercap/rapl_range.h"

#include <errno.h>

#include "base/util.h"

#define RAW_MAX 0xffffffffULL /* the hardware counter has 32 bits */

/*
 * The kernel prints floor((2^32 - 1) * unit_nj / 1000) with its unit rounded down to whole nJ.
 * One unit more moves that by 4.3 J, so at most one unit explains a given range.
 */
static uint64_t find_unit_nj(uint64_t range_uj)
{
	watt_u128 range_nj = (watt_u128)range_uj * 1000;
	watt_u128 unit_nj = (range_nj + RAW_MAX - 1) / RAW_MAX;

	if (unit_nj > RAW_MAX || unit_nj * RAW_MAX / 1000 != range_uj)
		return 0;
	return (uint64_t)unit_nj;
}

int watt_rapl_modulus_nj(uint64_t range_uj, uint64_t *ret_nj)
{
	uint64_t unit_nj = find_unit_nj(range_uj);
	watt_u128 modulus_nj;

	if (range_uj == 0)
		return -ERANGE;
	if (unit_nj)
		modulus_nj = (watt_u128)unit_nj << 32;
	else
		modulus_nj = ((watt_u128)range_uj + 1) * 1000;
	if (modulus_nj > INT64_MAX)
		return -ERANGE;
	*ret_nj = (uint64_t)modulus_nj;
	return 0;
}
