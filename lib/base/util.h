/* SPDX-License-Identifier: Apache-2.0 */
/* Small things that C lacks. */
#ifndef WATT_BASE_UTIL_H
#define WATT_BASE_UTIL_H

#include <stddef.h>
#include <stdint.h>

#define WATT_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* Each argument is evaluated once, and taken as the type that both have in common. */
#define WATT_MIN(a, b) WATT_CHOOSE(a, <, b, __COUNTER__)
#define WATT_MAX(a, b) WATT_CHOOSE(a, >, b, __COUNTER__)
/* One in another must not hide its names. */
#define WATT_CHOOSE(a, op, b, n) WATT_CHOOSE_AS(a, op, b, n)
#define WATT_CHOOSE_AS(a, op, b, n) \
	__extension__({ \
		__typeof__(1 ? (a) : (b)) watt_left_##n = (a); \
		__typeof__(1 ? (a) : (b)) watt_right_##n = (b); \
		watt_left_##n op watt_right_##n ? watt_left_##n : watt_right_##n; \
	})
#define watt_container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* 128 bits wide where products of two 64-bit quantities need it. */
__extension__ typedef __int128 watt_i128;
__extension__ typedef unsigned __int128 watt_u128;

/* Mixes all bits of a key; for hash tables. */
static inline uint64_t watt_hash_u64(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	x ^= x >> 33;
	return x;
}

/*
 * Says that this is about to be written, so that a walk over what lies about in memory does not wait
 * for each piece of it. Any address will do.
 */
static inline void watt_prefetch(const void *p)
{
	__builtin_prefetch(p, 1);
}

/* Greatest common divisor; 0 only of 0 and 0. */
uint64_t watt_gcd_u64(uint64_t a, uint64_t b);

/*
 * Grows *array (n elements of size bytes, room for *cap) so that one more fits. 0 or -ENOMEM;
 * what is there stays. New room is zeroed.
 */
int watt_make_room(void **array, size_t *cap, size_t n, size_t size);
static inline int watt_grow(void **array, size_t *cap, size_t n, size_t size)
{
	return n < *cap ? 0 : watt_make_room(array, cap, n, size);
}

/* Writes all of it, however often that takes. 0 or a negative errno. */
int watt_write_all(int fd, const void *data, size_t size);

/* A copy of a text; NULL of NULL. Without memory it is NULL, too, and *r is -ENOMEM. */
char *watt_strdup(const char *text, int *r);

/* Copies as much of src as fits and always terminates. */
void watt_strlcpy(char *dst, const char *src, size_t size);

#endif
