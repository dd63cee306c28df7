/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a list of processes of any length: no more of them than there is room for. */
#include "fuzz.h"

#include <string.h>

#include "source/activity/nvml/process_list.h"

#define ROOM 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t buf[ROOM * WATT_NVML_ELEMENT_MAX];
	struct watt_nvml_process found[ROOM + 1] = { { 0 } };
	size_t n = size ? data[0] : 0;

	memset(buf, WATT_NVML_UNWRITTEN, sizeof(buf));
	if (size > 1)
		memcpy(buf, data + 1, size - 1 < sizeof(buf) ? size - 1 : sizeof(buf));
	found[ROOM].pid = 0x5a5a5a5a;
	if (watt_nvml_list_parse(buf, sizeof(buf), n, found) == 0)
		check(n <= ROOM);
	else
		check(found[0].pid == 0);
	check(found[ROOM].pid == 0x5a5a5a5a);
	return 0;
}
