/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of an answer: the group; the power now, the least, the most and the mean, two bytes each;
 * the BMC's time and the length of that mean, four bytes each; and whether it measures.
 */
#include "source/power/dcmi/dcmi_reading.h"

#include <errno.h>

#define READING_SIZE 18
#define AT_POWER 1
#define AT_STATE 17
#define STATE_MEASURES 0x40

int watt_dcmi_reading_parse(const uint8_t *data, size_t len, uint32_t *ret_w)
{
	uint32_t power_w;

	if (len != READING_SIZE || data[0] != WATT_DCMI_GROUP)
		return -EBADMSG;
	power_w = data[AT_POWER] | (uint32_t)data[AT_POWER + 1] << 8;
	if (!(data[AT_STATE] & STATE_MEASURES) || !power_w)
		return -ENODATA;
	*ret_w = power_w;
	return 0;
}
