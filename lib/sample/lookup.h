/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lookup: a source is opened, or asked what has come, by a thread that may wait. A task of a
 * reader. Inside the stage only.
 */
#ifndef WATT_SAMPLE_LOOKUP_H
#define WATT_SAMPLE_LOOKUP_H

#include "sample/reader.h"

enum watt_lookup_kind {
	WATT_LOOKUP_OPEN,
	WATT_LOOKUP_CHANGES, /* whether the names of what there is have changed */
	WATT_LOOKUP_RESCAN,
};

struct watt_lookup {
	struct watt_task task; /* first */
	enum watt_lookup_kind kind;
	const struct watt_power_ops *ops;
	const struct watt_env *env; /* must outlive what is opened with it */
	char **known;               /* for RESCAN: owned */
	size_t n_known, cap_known;
	uint64_t names_hash; /* of the newest look for changes */
	/* out */
	bool has_changed;
	int error;
	struct watt_power *power; /* NULL: nothing was opened */
	uint64_t cost_ns;
};

int watt_lookup_new(const struct watt_power_ops *ops, const struct watt_env *env,
		    struct watt_lookup **ret);
/* Closes what it opened. Accepts NULL; returns NULL. */
struct watt_lookup *watt_lookup_free(struct watt_lookup *lookup);
/* For the next one: forgets what is known. */
void watt_lookup_clear(struct watt_lookup *lookup, enum watt_lookup_kind kind);
/* The name is copied. 0 or -ENOMEM. */
int watt_lookup_add_known(struct watt_lookup *lookup, const char *name);

#endif
