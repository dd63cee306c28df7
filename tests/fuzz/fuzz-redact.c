/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a command line: nothing grows, the second time shows nothing more, and what a NUL ends
 * is no part of what follows it.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/redact.h"

#define SIZE_MAX_FUZZED 8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char secret[] = "tool\0--password=hunter2";
	char *once, *twice;
	size_t n, again, len;

	if (size > SIZE_MAX_FUZZED)
		return 0;
	len = size + sizeof(secret);
	once = malloc(len);
	twice = malloc(len);
	if (once && twice) {
		/* whatever comes before an argument of its own, its secret is found */
		memcpy(once, data, size);
		once[size] = '\0';
		memcpy(once + size + 1, secret, sizeof(secret) - 1);
		n = watt_redact(once, len);
		check(n <= len);
		check(memmem(data, size, "hunter2", 7) || !memmem(once, n, "hunter2", 7));
		memcpy(twice, once, n);
		again = watt_redact(twice, n);
		check(again <= n);
		if (size) {
			memcpy(once, data, size);
			check(watt_redact(once, size) <= size);
		}
	}
	free(once);
	free(twice);
	return 0;
}
