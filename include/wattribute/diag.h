/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file diag.h
 * @brief A diagnosis: whether a source works on this machine, why not, and what to do.
 *
 * Owned by whoever holds them; of an array, the first one has the size of all of them (types.h).
 */
#ifndef WATTRIBUTE_DIAG_H
#define WATTRIBUTE_DIAG_H

#include <wattribute/types.h>

WATT_BEGIN_DECLS

/** The four answers of a probe. */
enum watt_availability {
	WATT_AVAILABLE = 0,
	WATT_ABSENT = 1,    /**< this machine does not have it */
	WATT_FORBIDDEN = 2, /**< it is there, this user may not */
	WATT_BROKEN = 3,    /**< it is there and does not work */
};

/** What a source is for. */
enum watt_source_role {
	WATT_ROLE_POWER = 0,
	WATT_ROLE_USAGE = 1,
	WATT_ROLE_META = 2,
	WATT_ROLE_ACTIVITY = 3, /**< who did what beside the CPUs */
};

/** The answer of one source, filled in by watt_doctor(). */
struct watt_diag {
	size_t sz;           /**< sizeof(struct watt_diag), the caller's */
	const char *source;  /**< registry name, static */
	const char *summary; /**< what it is, static */
	enum watt_source_role role;
	enum watt_availability state;
	/** Negative errno behind the state; 0: none. -EACCES of an available one: some of it is
	 *  forbidden. */
	int32_t error;
	uint32_t n_channels;  /**< channels that it would give */
	uint32_t is_selected; /**< 1: a session with these options uses it */
	uint32_t is_test;     /**< 1: never chosen by itself (null, synth) */
	enum watt_origin origin;
	uint32_t uncertainty_ppm; /**< what accuracy to expect of a long mean; 0: unknown */
	uint64_t period_ns;       /**< refresh period of its fastest channel; 0: unknown */
	uint64_t read_cost_ns; /**< median cost of one read of all its channels, or of a sweep; 0: not measured */
	char path[256]; /**< what was looked at; empty: nothing in particular */
	char why[256];  /**< one sentence: what was found */
	char hint[256]; /**< one sentence: what to do about it; empty: nothing */
	/** What comes out of the power supplies that it shows, of what goes in; 0: unknown. */
	uint32_t efficiency_ppm;
	/** Where nobody tells how often one of its channels has a new value: it is asked that often,
	 *  and what changes tells it. 0: it is known. */
	uint64_t watched_ns;
};

/** The conclusion from all answers: can energy be measured here, and how well. */
struct watt_verdict {
	size_t sz;            /**< sizeof(struct watt_verdict), the caller's */
	uint32_t is_possible; /**< some power, and somebody to share it among */
	uint32_t is_measured; /**< at least a part of that power is measured */
	/** One or two sentences: by what, and where nothing measures, what would. UTF-8. */
	char text[1024];
};

/**
 * Draws the conclusion from what watt_doctor() filled in. @p n_diags may be 0.
 * @param is_utf8 whether it may be written "±40 %"; else "+-40 %".
 * @return 0; -EINVAL: a size that is not valid. -ENOMEM. Thread-safe.
 */
WATT_API int watt_verdict_draw(const struct watt_diag *diags, size_t n_diags, int is_utf8,
			       struct watt_verdict *ret);

/** "available", "absent", "forbidden", "broken"; never NULL. Thread-safe. */
WATT_API const char *watt_availability_name(enum watt_availability state);
/** "power", "usage", "meta"; never NULL. Thread-safe. */
WATT_API const char *watt_source_role_name(enum watt_source_role role);

WATT_END_DECLS

#endif
