/* SPDX-License-Identifier: Apache-2.0 */
/* Any message as one of the kernel's: no crash, a subsystem that ends, nothing when it is refused. */
#include "fuzz.h"

#include <string.h>

#include "base/uevent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_uevent event = { .subsystem = "untouched" };
	char *message = malloc(size + !size);

	if (!message)
		return 0;
	if (size)
		memcpy(message, data, size);
	if (watt_uevent_parse(message, size, &event) < 0) {
		check(!strcmp(event.subsystem, "untouched"));
	} else {
		check(event.subsystem > message && event.subsystem < message + size);
		check(strlen(event.subsystem) > 0);
		check(event.subsystem + strlen(event.subsystem) < message + size);
	}
	free(message);
	return 0;
}
