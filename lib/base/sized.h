/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs that begin with their size and cross the border of the library: <wattribute/types.h> says
 * what is promised of them. Nobody else looks at a caller's struct.
 */
#ifndef WATT_BASE_SIZED_H
#define WATT_BASE_SIZED_H

#include <stddef.h>

/*
 * What the caller filled in, as this library knows it: size bytes at ret, 0 where the caller is
 * older. -EINVAL: no size, or something is asked for that only newer libraries know.
 */
int watt_sized_take(const void *given, void *ret, size_t size);

/* Whether the caller's struct says how large it is. */
int watt_sized_is_valid(const void *caller);

/*
 * An array of the caller's, whose structs are as far apart as the first is large, as this library
 * knows them; the caller frees it, also where n is 0. NULL: no memory. It is valid.
 */
void *watt_sized_copy_all(const void *given, size_t n, size_t size);

/*
 * Fills in a caller's struct from one of size bytes, as much as both know: so much is its size
 * from then on. It is valid.
 */
void watt_sized_give(const void *result, size_t size, void *caller);

#endif
