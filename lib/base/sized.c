/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that begin with their size, taken from callers and given to them. */
#include "base/sized.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static size_t size_of(const void *sized)
{
	size_t size;

	memcpy(&size, sized, sizeof(size));
	return size;
}

int watt_sized_is_valid(const void *caller)
{
	return caller && size_of(caller) >= sizeof(size_t);
}

int watt_sized_take(const void *given, void *ret, size_t size)
{
	const char *bytes = given;
	size_t n, i;

	if (!watt_sized_is_valid(given))
		return -EINVAL;
	n = size_of(given);
	for (i = size; i < n; i++)
		if (bytes[i])
			return -EINVAL;
	memset(ret, 0, size);
	memcpy(ret, given, WATT_MIN(n, size));
	memcpy(ret, &size, sizeof(size));
	return 0;
}

void *watt_sized_copy_all(const void *given, size_t n, size_t size)
{
	size_t pace = n ? size_of(given) : 0, i;
	char *known = calloc(n + 1, size);

	for (i = 0; known && i < n; i++)
		memcpy(known + i * size, (const char *)given + i * pace, WATT_MIN(pace, size));
	return known;
}

void watt_sized_give(const void *result, size_t size, void *caller)
{
	size_t n = WATT_MIN(size_of(caller), size);

	memcpy(caller, result, n);
	memcpy(caller, &n, sizeof(n));
}
