/* SPDX-License-Identifier: Apache-2.0 */
/* Which sources a session uses: what the user asked for, else the best that works. */
#ifndef WATT_SOURCE_SELECT_H
#define WATT_SOURCE_SELECT_H

#include <stdbool.h>

#include "base/rules.h"
#include "source/source.h"

#define WATT_MAX_SOURCES 32

/* What a list of sources says of one of them. */
enum watt_choice {
	WATT_CHOICE_AUTO = 0, /* not named: the automatic choice holds */
	WATT_CHOICE_YES = 1,
	WATT_CHOICE_NO = 2, /* "-name", or others are named */
};

/* NULL: no rules. */
enum watt_choice watt_select_choice(const struct watt_rules *rules, const char *name);
/* Whether a source is used, where the sources before it do (not) cover the CPUs. */
bool watt_select_is_wanted(const struct watt_power_ops *ops, const struct watt_rules *rules,
			   bool is_covered);
bool watt_select_is_of_cpus(const struct watt_channel *channel);
bool watt_select_covers_cpus(const struct watt_power *power);

/*
 * Opens the power sources to use that can't block and are no fallback, in the order of the
 * registry, into ret (room for WATT_MAX_SOURCES). Returns how many, or the error of a
 * source that was asked for by name.
 */
int watt_select_quick(const struct watt_env *env, const struct watt_rules *rules,
		      struct watt_power **ret);
/* Opens a fallback, if it is wanted. 0; 1: it is not, or does not work; as above. */
int watt_select_fallback(const struct watt_env *env, const struct watt_rules *rules,
			 const struct watt_power_ops *ops, bool is_covered,
			 struct watt_power **ret);
/* Says that a source that was asked for does not work. Returns r. */
int watt_select_complain(const struct watt_power_ops *ops, const struct watt_log *log, int r);
/* Puts them into the order of the registry. */
void watt_select_sort(struct watt_power **sources, size_t n);
/* The same for the one source of usage. */
const struct watt_activity_ops *watt_select_usage_named(const char *name);

/* Why a source of usage could not be opened, in one sentence. */
struct watt_select_why {
	char text[640];
};

/*
 * Opens the source of usage of this name; NULL or "auto": the first that works. *ret_why tells why
 * it is not one that stands before it; "" where it is the best, or the one that was asked for.
 * 0, or what the last one that was tried says.
 */
int watt_select_usage(const struct watt_env *env, const struct watt_cpu_map *map, const char *name,
		      struct watt_activity_source **ret, struct watt_select_why *ret_why);
/* Why a source did not open though its probe found nothing in its way: state, error, why, hint. */
void watt_select_blame(int error, struct watt_diag *diag);
/* Whether a source with readings of its own is used: it goes with the power source of its name. */
bool watt_select_activity_is_wanted(const struct watt_activity_ops *ops,
				    const struct watt_rules *rules, bool is_precise);

#endif
