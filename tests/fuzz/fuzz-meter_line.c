/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a line of an instrument. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "source/power/meter/meter_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_meter_line line = { .value_uw = -1 };
	char *text = malloc(size + 1);
	int r;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	r = watt_meter_line_parse(text, &line);
	check(r == 0 || r == -ENODATA || r == -EBADMSG || r == -ERANGE);
	check((r == 0) == (line.value_uw >= 0));
	free(text);
	return 0;
}
