/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power sources of a session: which are open, which are still being opened, and what is opened
 * only when they turn out not to measure the CPUs. One thread per object.
 */
#ifndef WATT_POWERS_H
#define WATT_POWERS_H

#include "sample/sample.h"
#include "source/select.h"

struct watt_powers_opts {
	const struct watt_rules *sources; /* 1: use it; 0: leave it out */
	const struct watt_rules *rates;   /* of sources, as periods in ns */
	/* How long to wait for those that can block; whoever comes later joins while it runs. */
	uint64_t patience_ns;
	struct watt_engine_opts engine;
};

struct watt_powers {
	const struct watt_env *env;
	struct watt_engine *engine; /* the caller's to free */
	/* Those that are in use, or would be if they worked; in the order of the registry. */
	const struct watt_power_ops *ops[WATT_MAX_SOURCES];
	size_t n;
	/* Opened if the slow ones don't measure the CPUs, when all of them have answered. */
	const struct watt_power_ops *fallback[WATT_MAX_SOURCES];
	size_t n_fallbacks;
};

/*
 * Opens them, and makes the engine that reads them; *ret is complete enough to free the engine
 * whatever is returned. -ENODEV: none works; -ENOENT: a rate is of none that is used; or
 * the error of a source that was asked for by name. Where nothing can be measured without those that can block, or where one of them was
 * asked for by name, it waits until they answer or hang.
 */
int watt_powers_open(const struct watt_env *env, const struct watt_powers_opts *opts,
		     struct watt_powers *ret);
/* Takes what has come. Opens what was kept in reserve, when that is known to be needed. */
void watt_powers_poll(struct watt_powers *powers, uint64_t now_ns);

#endif
