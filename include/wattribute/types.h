/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file types.h
 * @brief Words that every other header uses: status, origin, quantity, semantics.
 *
 * Units. Inside the library and in this API: time in ns (CLOCK_MONOTONIC unless a name says
 * otherwise), energy in nJ (int64) or uJ (uint64 totals), power in uW, memory in bytes. Every
 * identifier that holds a quantity ends in its unit.
 *
 * Errors. Functions return 0 or a negative errno, and leave their outputs untouched on failure:
 * -ENODEV absent, -EACCES forbidden, -ENODATA present but no value now, -EOPNOTSUPP never
 * possible, -ESTALE the counter was reset, -EINVAL the caller's mistake. A positive return is
 * documented where it exists. The library never prints, exits or installs signal handlers.
 *
 * Growth. Structs handed out by pointer are owned by the library, immutable and may grow at
 * their end in a later release: read them through the pointer, never copy them by value.
 * Structs handed in (`*_opts`) start with their size.
 */
#ifndef WATTRIBUTE_TYPES_H
#define WATTRIBUTE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define WATT_BEGIN_DECLS extern "C" {
#define WATT_END_DECLS }
#else
#define WATT_BEGIN_DECLS
#define WATT_END_DECLS
#endif

#if defined(__GNUC__)
#define WATT_API __attribute__((visibility("default")))
#else
#define WATT_API
#endif

WATT_BEGIN_DECLS

/** What a reading is worth. A value that is not WATT_STATUS_OK has no number. */
enum watt_status {
	WATT_STATUS_OK = 0,     /**< the value is what the sensor says */
	WATT_STATUS_NODATA = 1, /**< present, but no value at this moment (EAGAIN, powered off) */
	WATT_STATUS_ABSENT = 2, /**< it was removed, or never there */
	WATT_STATUS_FORBIDDEN = 3, /**< it is there, this user may not read it */
	WATT_STATUS_BROKEN = 4,    /**< it answers with an error or with something unreadable */
	WATT_STATUS_STUCK = 5,     /**< it answers, but its counter never moves from zero */
	WATT_STATUS_PENDING = 6,   /**< not known yet: too early */
	WATT_STATUS_STALE = 7,     /**< it has said nothing for longer than it ever should */
};

/** Where a number comes from. Travels with it to every output. */
enum watt_origin {
	WATT_ORIGIN_MEASURED = 0,
	WATT_ORIGIN_ESTIMATED = 1, /**< a model computed it from activity */
	WATT_ORIGIN_SIMULATED = 2, /**< a simulator or a generator made it */
};

/** What is counted. */
enum watt_quantity {
	WATT_QUANTITY_ENERGY = 0, /**< canonical unit nJ */
	WATT_QUANTITY_POWER = 1,  /**< canonical unit uW */
};

/** What one raw value means. */
enum watt_semantics {
	WATT_SEMANTICS_COUNTER = 0, /**< cumulative since some instant */
	WATT_SEMANTICS_INSTANT = 1, /**< the value at the instant of the reading */
	WATT_SEMANTICS_AVERAGE = 2, /**< the mean over the window before the reading */
};

/** "ok", "no data", ...; never NULL. Thread-safe. */
WATT_API const char *watt_status_name(enum watt_status status);
/** "measured", "estimated", "simulated"; never NULL. Thread-safe. */
WATT_API const char *watt_origin_name(enum watt_origin origin);
/** "energy", "power"; never NULL. Thread-safe. */
WATT_API const char *watt_quantity_name(enum watt_quantity quantity);
/** "counter", "instant", "average"; never NULL. Thread-safe. */
WATT_API const char *watt_semantics_name(enum watt_semantics semantics);
/** Version of the library that runs, for example "0.1.0"; never NULL. Thread-safe. */
WATT_API const char *watt_version(void);

WATT_END_DECLS

#endif
