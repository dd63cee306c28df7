/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file types.h
 * @brief Words that every other header uses: status, origin, quantity, semantics.
 *
 * Units. Inside the library and in this API: time in ns (CLOCK_MONOTONIC unless a name says
 * otherwise), energy of a window in nJ (int64), energy since the start as struct watt_energy, power
 * in uW, memory in bytes. Every identifier that holds a quantity ends in its unit.
 *
 * Errors. Functions return 0 or a negative errno, and leave their outputs untouched on failure:
 * -ENODEV absent, -EACCES forbidden, -ENODATA present but no value now, -EOPNOTSUPP never
 * possible, -ESTALE the counter was reset, -EINVAL the caller's mistake. A positive return is
 * documented where it exists. The library never prints, exits or installs signal handlers.
 *
 * Growth. A struct that may get more members, at its end, begins with its size, `sz`; what says of
 * itself that it never grows has none. No struct has another one inside that may grow.
 *
 * - What the library hands out by pointer is the library's: `sz` is the size that it has there.
 *   It never changes as long as it is promised to live. Never copy it by value. Who was built with
 *   newer headers than the library that runs asks WATT_HAS() before looking at a newer member.
 * - What the caller hands in (`*_opts`, an excerpt, runs) has the caller's `sz`. Members that the
 *   caller is too old to know are as if they were 0. Members that the library is too old to know
 *   must be 0, else -EINVAL: nothing that is asked for is silently not done.
 * - What the caller has filled in (results, statistics) has the caller's `sz` before the call, and
 *   after it that of what was filled in: never more than the caller's. WATT_HAS() tells here, too.
 *   Of an array of such structs the `sz` of the first says how far apart they are; the library puts
 *   it into each, and 0 into what it is too old to know.
 *
 * `sz` less than its own size is -EINVAL.
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

/** 1: the struct that @p ptr points to is large enough to have this member, 0: it is older. */
#define WATT_HAS(ptr, member) \
	((size_t)((const char *)(&(ptr)->member + 1) - (const char *)(ptr)) <= (ptr)->sz)

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
	/* context: what the machine was like, beside what it used */
	WATT_QUANTITY_RATIO = 2,       /**< a load, a duty cycle; canonical unit 1e-6 */
	WATT_QUANTITY_TEMPERATURE = 3, /**< canonical unit 0.001 degrees Celsius */
	WATT_QUANTITY_FREQUENCY = 4,   /**< canonical unit Hz */
	WATT_QUANTITY_MEMORY = 5,      /**< canonical unit byte */
	WATT_QUANTITY_SPEED = 6,       /**< of a fan; canonical unit one turn per minute */
	WATT_QUANTITY_LIMIT = 7,       /**< a power that may be taken; canonical unit uW */
};

/** What one raw value means. */
enum watt_semantics {
	WATT_SEMANTICS_COUNTER = 0, /**< cumulative since some instant */
	WATT_SEMANTICS_INSTANT = 1, /**< the value at the instant of the reading */
	WATT_SEMANTICS_AVERAGE = 2, /**< the mean over the window before the reading */
};

/**
 * An energy without bounds, exact to the nJ: j * 1,000,000,000 + nj, as struct timespec has times.
 * int64 nJ alone end after 107 days of 1 kW. A closed value: it never grows, and may be copied.
 */
struct watt_energy {
	int64_t j;  /**< whole joules, rounded down */
	int32_t nj; /**< the rest: 0 to 999,999,999, also where j is negative */
};

static inline struct watt_energy watt_energy_from_nj(int64_t energy_nj)
{
	struct watt_energy energy;

	energy.j = energy_nj / 1000000000;
	energy.nj = (int32_t)(energy_nj % 1000000000);
	if (energy.nj < 0) {
		energy.j--;
		energy.nj += 1000000000;
	}
	return energy;
}

static inline struct watt_energy watt_energy_add(struct watt_energy a, struct watt_energy b)
{
	a.j += b.j;
	a.nj += b.nj;
	if (a.nj >= 1000000000) {
		a.j++;
		a.nj -= 1000000000;
	}
	return a;
}

static inline struct watt_energy watt_energy_sub(struct watt_energy a, struct watt_energy b)
{
	a.j -= b.j;
	a.nj -= b.nj;
	if (a.nj < 0) {
		a.j--;
		a.nj += 1000000000;
	}
	return a;
}

/** Below 0, 0 or above 0, as @p a is less than, equal to or more than @p b. */
static inline int watt_energy_compare(struct watt_energy a, struct watt_energy b)
{
	if (a.j != b.j)
		return a.j < b.j ? -1 : 1;
	return (a.nj > b.nj) - (a.nj < b.nj);
}

static inline int watt_energy_is_zero(struct watt_energy energy)
{
	return energy.j == 0 && energy.nj == 0;
}

/** In joules, as exact as a double is. */
static inline double watt_energy_to_j(struct watt_energy energy)
{
	return (double)energy.j + (double)energy.nj / 1e9;
}

/** In nJ, exactly, where it fits: 9,223,372,035 J at most; beyond, the nearest that fits. */
static inline int64_t watt_energy_to_nj(struct watt_energy energy)
{
	if (energy.j > 9223372035)
		return INT64_MAX;
	if (energy.j < -9223372035)
		return INT64_MIN;
	return energy.j * 1000000000 + energy.nj;
}

/** "ok", "no data", ...; never NULL. Thread-safe. */
WATT_API const char *watt_status_name(enum watt_status status);
/** "measured", "estimated", "simulated"; never NULL. Thread-safe. */
WATT_API const char *watt_origin_name(enum watt_origin origin);
/** "energy", "power", "ratio", ...; never NULL. Thread-safe. */
WATT_API const char *watt_quantity_name(enum watt_quantity quantity);
/** The unit that it is shown in: "J", "W", "1", "C", "Hz", "B", "rpm"; never NULL. Thread-safe. */
WATT_API const char *watt_quantity_unit(enum watt_quantity quantity);
/** How many of the canonical unit that is: 1e9 nJ are 1 J. Thread-safe. */
WATT_API uint32_t watt_quantity_per_unit(enum watt_quantity quantity);
/** 1: no energy or power: it has no place in the domain tree, and nobody is accounted for it. */
WATT_API int watt_quantity_is_context(enum watt_quantity quantity);
/** "counter", "instant", "average"; never NULL. Thread-safe. */
WATT_API const char *watt_semantics_name(enum watt_semantics semantics);
/** Version of the library that runs, for example "0.1.0"; never NULL. Thread-safe. */
WATT_API const char *watt_version(void);

WATT_END_DECLS

#endif
