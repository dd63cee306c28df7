/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a BMC's answer to DCMI's question for the power. */
#include "fuzz.h"

#include <errno.h>

#include "source/power/dcmi/dcmi_reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t power_w = 0;
	int r = watt_dcmi_reading_parse(data, size, &power_w);

	check(r == 0 || r == -EBADMSG || r == -ENODATA);
	check((r == 0) == (power_w > 0));
	check(power_w <= UINT16_MAX);
	check(r == -EBADMSG || (size == 18 && data[0] == WATT_DCMI_GROUP));
	return 0;
}
