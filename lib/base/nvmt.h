/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of NVMT traces, version 1: a header, then all fast, medium and slow samples and all
 * sync points. Packed, little endian. Immutable, thread-safe.
 */
#ifndef WATT_BASE_NVMT_H
#define WATT_BASE_NVMT_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WATT_NVMT_MAGIC 0x4e564d54u
#define WATT_NVMT_VERSION 1u

/* Room for names and values. */
enum {
	WATT_NVMT_CORES = 16,
	WATT_NVMT_RAILS = 8,
	WATT_NVMT_ZONES = 16,
	WATT_NVMT_BOARD = 32,
	WATT_NVMT_NAME = 24,
};

/* Sections, in the order of the file. */
enum {
	WATT_NVMT_FAST = 0,
	WATT_NVMT_MEDIUM = 1,
	WATT_NVMT_SLOW = 2,
	WATT_NVMT_SYNC = 3
};
#define WATT_NVMT_SECTIONS 4

/* Sizes in bytes. */
#define WATT_NVMT_HEADER_SIZE 728
#define WATT_NVMT_FAST_SIZE 98
#define WATT_NVMT_MEDIUM_SIZE 104
#define WATT_NVMT_SLOW_SIZE 72
#define WATT_NVMT_SYNC_SIZE 16

/* Offsets in the header: the rates of the three kinds of samples and the four counts are arrays. */
enum {
	WATT_NVMT_AT_MAGIC = 0,
	WATT_NVMT_AT_VERSION = 4,
	WATT_NVMT_AT_BOARD = 8,
	WATT_NVMT_AT_CORES = 40,
	WATT_NVMT_AT_RAILS = 41,
	WATT_NVMT_AT_ZONES = 42,
	WATT_NVMT_AT_EMC = 43,
	WATT_NVMT_AT_HZ = 44,
	WATT_NVMT_AT_COUNTS = 56,
	WATT_NVMT_AT_RAIL_NAMES = 88,
	WATT_NVMT_AT_ZONE_NAMES = 280,
};
_Static_assert(WATT_NVMT_AT_ZONE_NAMES + WATT_NVMT_ZONES * WATT_NVMT_NAME + 64 ==
		       WATT_NVMT_HEADER_SIZE,
	       "reserved bytes end the header");

/* Offsets in samples; time_s is at 0. */
enum {
	WATT_NVMT_FAST_GPU = 8,
	WATT_NVMT_FAST_CPUS = 10,
	WATT_NVMT_FAST_CPU = 74,
	WATT_NVMT_FAST_RAM_USED = 78,
	WATT_NVMT_FAST_RAM_AVAILABLE = 86,
	WATT_NVMT_FAST_EMC = 94,
	WATT_NVMT_MEDIUM_VOLTAGE = 8,
	WATT_NVMT_MEDIUM_CURRENT = 40,
	WATT_NVMT_MEDIUM_POWER = 72,
	WATT_NVMT_SLOW_TEMPERATURE = 8,
	WATT_NVMT_SYNC_FAST = 8,
};

static inline uint32_t watt_nvmt_get_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static inline uint64_t watt_nvmt_get_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

static inline float watt_nvmt_get_float(const uint8_t *at)
{
	uint32_t bits = watt_nvmt_get_u32(at);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline double watt_nvmt_get_double(const uint8_t *at)
{
	uint64_t bits = watt_nvmt_get_u64(at);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The name in a field of so many bytes, as text that can be printed; room for as many. */
static inline void watt_nvmt_get_name(char *to, const uint8_t *from, size_t size)
{
	size_t i;

	for (i = 0; i < size - 1 && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] < 127 ? (char)from[i] : '?';
	to[i] = '\0';
}

static inline void watt_nvmt_put_u32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static inline void watt_nvmt_put_u64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

static inline void watt_nvmt_put_float(uint8_t *at, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	watt_nvmt_put_u32(at, bits);
}

static inline void watt_nvmt_put_double(uint8_t *at, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	watt_nvmt_put_u64(at, bits);
}

#endif
