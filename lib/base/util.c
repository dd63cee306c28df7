/* SPDX-License-Identifier: Apache-2.0 */
/* Small things that C lacks. */
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t watt_gcd_u64(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

int watt_make_room(void **array, size_t *cap, size_t n, size_t size)
{
	size_t new_cap;
	void *p;

	new_cap = *cap ? *cap * 2 : 16;
	while (new_cap <= n)
		new_cap *= 2;
	p = reallocarray(*array, new_cap, size);
	if (!p)
		return -ENOMEM;
	memset((char *)p + *cap * size, 0, (new_cap - *cap) * size);
	*array = p;
	*cap = new_cap;
	return 0;
}

int watt_write_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size > 0) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

char *watt_strdup(const char *text, int *r)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		*r = -ENOMEM;
	return copy;
}

void watt_strlcpy(char *dst, const char *src, size_t size)
{
	size_t n = strnlen(src, size - 1);

	memcpy(dst, src, n);
	dst[n] = '\0';
}
