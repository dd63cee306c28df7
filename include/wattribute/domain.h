/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file domain.h
 * @brief A domain: a node of the tree of everything that takes energy in the machine.
 *
 * The tree says what contains what. The machine's energy is the sum over its roots; a domain
 * that another one contains, and a channel that measures the same thing again, is never added.
 * Owned by the session. What is there never changes and keeps its number; domains that come while
 * a session runs are behind all others. Where a whole comes after its parts, their numbers give
 * another struct from then on, whose parent it is: a parent may have the higher number. What is
 * summed stays the same: it may then have a parent that is not.
 */
#ifndef WATTRIBUTE_DOMAIN_H
#define WATTRIBUTE_DOMAIN_H

#include <wattribute/channel.h>

WATT_BEGIN_DECLS

/** By what a domain's dynamic energy is shared. */
enum watt_share_key {
	WATT_KEY_NONE = 0,     /**< nothing on this machine tells: all goes to unattributed */
	WATT_KEY_CPU_TIME = 1, /**< CPU time on the CPUs of the domain */
	WATT_KEY_GPU_TIME = 2, /**< time on the engines of the GPU */
	/** CPU time, or a GPU's time on its engines, weighed by the watts that each program is
	 *  learned to take; by that time alone where that can't be told */
	WATT_KEY_LEARNED = 3,
	WATT_KEY_GPU_MEMORY = 4,   /**< memory of the GPU that is held, and how long */
	WATT_KEY_CYCLES = 5,       /**< cycles of the CPUs, in precise mode; without, CPU time */
	WATT_KEY_INSTRUCTIONS = 6, /**< their instructions, the same */
	/** In options alone: the best for the kind of the domain. No domain ever has it. */
	WATT_KEY_AUTO = 255,
};

/** What becomes of the energy that a domain takes when nothing runs. */
enum watt_idle_policy {
	WATT_IDLE_SEPARATE = 0, /**< it goes to an entity of its own: idle */
	/** Who runs in a slice shares it, as the dynamic energy; where nobody runs it stays idle. */
	WATT_IDLE_PROPORTIONAL = 1,
	/** Containers pay for the part of the CPUs that they request of Kubernetes, or of the memory
	 *  for what memory takes; who runs in a slice without a request shares the rest, and where
	 *  nobody does it stays idle. */
	WATT_IDLE_REQUESTS = 2,
};

/** How the power that a domain takes when nothing runs is known. */
enum watt_baseline_from {
	WATT_BASELINE_UNKNOWN = 0, /**< not at all yet: all energy counts as dynamic */
	WATT_BASELINE_SEEN = 1,    /**< it was seen idle for a second */
	/** It never was idle: by a line through its power at what it was seen to do */
	WATT_BASELINE_EXTRAPOLATED = 2,
	WATT_BASELINE_GIVEN = 3, /**< by the source, as a model's */
};

/** One node of the tree. */
struct watt_domain {
	size_t sz;        /**< sizeof(struct watt_domain), the library's */
	const char *path; /**< "package-0/core" */
	const char *name; /**< last part of the path: "core" */
	enum watt_domain_kind kind;
	enum watt_origin origin;
	/** By what its energy is to be shared. Where that is not known its state has another one. */
	enum watt_share_key key;
	int32_t parent; /**< index of the domain that contains it; -1: a root */
	/** Index of the channel that measures it; -1: computed (residual, instance of a GPU). */
	int32_t channel;
	/** 1: nothing that is believed contains it. Where it counts less than its parts the
	 *  machine's energy is theirs: sums are over the partition. */
	uint32_t is_summed;
	/** 1: the machine's energy, and who used it, is the sum over these: they cover the summed
	 *  domains without overlap, and each can be attributed as finely as this machine allows. */
	uint32_t is_partition;
	int32_t package_id; /**< -1: not of one package */
	int32_t die_id;
	int32_t core_id;
	uint32_t uncertainty_ppm; /**< of the channel; 0: unknown */
};

/** "none", "cpu_time", "gpu_time", "learned", "gpu_memory", "cycles", "instructions", "auto"; never
 *  NULL. Thread-safe. */
WATT_API const char *watt_share_key_name(enum watt_share_key key);
/** "separate", "proportional", "requests"; never NULL. Thread-safe. */
WATT_API const char *watt_idle_policy_name(enum watt_idle_policy policy);
/** "unknown", "seen", "extrapolated", "given"; never NULL. Thread-safe. */
WATT_API const char *watt_baseline_from_name(enum watt_baseline_from from);

WATT_END_DECLS

#endif
