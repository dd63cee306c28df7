/* SPDX-License-Identifier: Apache-2.0 */
/* What asks the agent for a recording, and the names of recordings: taken, or refused in a sentence. */
#include "fuzz.h"

#include <string.h>

#include "recordings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[256] = "", text[64];
	uint32_t seconds = 0;
	uint64_t id = 0;

	if (recordings_parse((const char *)data, size, &seconds, error, sizeof(error)) == 0)
		check(seconds >= 1 && seconds <= RECORDING_SECONDS_MAX);
	else
		check(!seconds && strchr(error, '\n'));
	if (size < sizeof(text)) {
		memcpy(text, data, size);
		text[size] = '\0';
		if (recordings_parse_id(text, &id) == 0)
			check(id && text[0] != '0' && strspn(text, "0123456789") == strlen(text));
	}
	return 0;
}
