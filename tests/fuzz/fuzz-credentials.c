/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a file of users and passwords. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "source/power/redfish/credentials.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_credentials who = { 0 };
	unsigned int line = 0;
	char *text = malloc(size + 1);
	int r;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	r = watt_credentials_parse(text, "node", &who, &line);
	check(r == 0 || r == -ENOENT || r == -EBADMSG);
	check((r == 0) == (who.user[0] != '\0'));
	check(line <= size);
	free(text);
	return 0;
}
