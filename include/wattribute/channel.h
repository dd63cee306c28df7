/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file channel.h
 * @brief A channel: one thing that can be read, and all that is known about reading it.
 *
 * Immutable once its source is open; owned by the session (or source) and valid as long as it.
 * Any thread may read it.
 */
#ifndef WATTRIBUTE_CHANNEL_H
#define WATTRIBUTE_CHANNEL_H

#include <wattribute/types.h>

WATT_BEGIN_DECLS

/** What part of the machine a domain is; decides how its energy may be shared. */
enum watt_domain_kind {
	WATT_DOMAIN_TOTAL = 0, /**< the whole machine: psys, VDD_IN, a power meter; contains all */
	WATT_DOMAIN_PACKAGE = 1, /**< a CPU package (or die) */
	WATT_DOMAIN_CORES = 2,   /**< all cores of a package together (RAPL PP0) */
	WATT_DOMAIN_UNCORE = 3,  /**< RAPL PP1: integrated graphics */
	WATT_DOMAIN_DRAM = 4,    /**< memory of a package */
	WATT_DOMAIN_CORE = 5,    /**< one core */
	WATT_DOMAIN_GPU = 6,
	WATT_DOMAIN_RAIL = 7,      /**< a supply rail that serves nothing this library can name */
	WATT_DOMAIN_SUPPLY = 8,    /**< battery or adapter: shows the machine from outside */
	WATT_DOMAIN_CPU_RAIL = 9,  /**< a supply rail of the CPU (alone or with its neighbours) */
	WATT_DOMAIN_RESIDUAL = 10, /**< machine total minus its measured parts; computed */
	/** An instance of a GPU (MIG): what those in it have of the GPU's energy; computed */
	WATT_DOMAIN_GPU_INSTANCE = 11,
};

/** Bits of watt_channel.flags. */
enum watt_channel_flag {
	/** Its relation to the other domains is unknown: shown, never added to them. */
	WATT_CHANNEL_OVERLAP_UNKNOWN = 1u << 0,
	/** Power may be negative (a battery that charges, a bidirectional shunt). */
	WATT_CHANNEL_SIGNED = 1u << 1,
	/** It is there and could not be read when it was found: where it would be added, the sum
	 *  is incomplete until it is. Another channel of its domain is used rather than it. */
	WATT_CHANNEL_UNREAD = 1u << 2,
	/** How old its readings are is not known: it is found by comparing them with the parts of
	 *  the machine. delay_ns holds until then. */
	WATT_CHANNEL_AGE_UNKNOWN = 1u << 3,
	/** A counter that moves once in period_ns: as long as it stands still for no longer than
	 *  that, it has not been counted yet what was used since it moved. A power that has a new
	 *  value once in period_ns, and one sample of each, whose times are those between which it
	 *  came: it is the mean of window_ns until then. */
	WATT_CHANNEL_STEPS = 1u << 4,
	/** It is read for the sake of another channel of its source and domain that measures the
	 *  same: when that one's energy was used, or what it misses. It is never the one that is
	 *  used for the domain. */
	WATT_CHANNEL_HELPS = 1u << 5,
	/** How often it has a new value is not known, and is found by watching it: period_ns is what
	 *  is assumed until then. */
	WATT_CHANNEL_PERIOD_UNKNOWN = 1u << 6,
};

/**
 * One thing that can be read.
 *
 * canonical = raw * scale_num / scale_den, in nJ for energy and in uW for power. Conversion
 * happens in the timeline alone; raw values and scale are what is stored.
 *
 * `domain` is a path in the one domain tree: "package-0", "package-0/core", "dram-0", "psys",
 * "vdd_in/vdd_soc". A path lies inside its prefix. Two channels with the same path measure the
 * same thing: one is used, the others are shown as duplicates and never added.
 */
struct watt_channel {
	size_t sz;          /**< sizeof(struct watt_channel), the library's */
	const char *name;   /**< unique and stable across boots: "powercap/package-0/core" */
	const char *source; /**< the source's name in the registry: "powercap" */
	const char *domain; /**< path in the domain tree */
	const char *label;  /**< what the sensor calls itself; NULL if it does not */
	const char *path;   /**< what is read, for people: a file, an event; NULL if nothing */
	enum watt_domain_kind kind;
	enum watt_quantity quantity;
	enum watt_semantics semantics;
	enum watt_origin origin;
	uint32_t flags;     /**< enum watt_channel_flag */
	int32_t package_id; /**< physical package, -1: none */
	int32_t die_id;     /**< die in its package, -1: the package has one die, or none */
	int32_t core_id;    /**< core in its package, -1: none */
	uint32_t group;     /**< channels of one group are read by one call */
	uint64_t scale_num;
	uint64_t scale_den;
	uint64_t wrap_nj;      /**< modulus of a counter in nJ; 0: it never wraps */
	uint64_t idle_uw;      /**< power when nothing runs, where a model says it; 0: unknown */
	uint64_t max_power_uw; /**< more than this is not plausible; 0: unknown */
	uint64_t period_ns;    /**< how often the sensor has a new value; 0: unknown */
	uint64_t window_ns;    /**< averaging window; 0: none or unknown */
	uint64_t delay_ns;     /**< age of a value when it appears; 0: none or unknown */
	uint32_t coverage_ppm; /**< share of time that the sensor looks at, in 1e-6; 0: unknown */
	uint32_t uncertainty_ppm; /**< standard uncertainty of a long mean, in 1e-6; 0: unknown */
};

/** "package", "dram", ...; never NULL. Thread-safe. */
WATT_API const char *watt_domain_kind_name(enum watt_domain_kind kind);

WATT_END_DECLS

#endif
