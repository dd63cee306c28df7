/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses sources. Automatically: every source that works, tests never, and a model only where
 * nothing measured covers the CPUs. By name: those, and an error if one of them doesn't work.
 */
#include "source/select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

enum watt_choice watt_select_choice(const struct watt_rules *rules, const char *name)
{
	enum watt_choice choice = WATT_CHOICE_AUTO;
	bool any_yes = false;
	size_t i;

	for (i = 0; rules && i < rules->n; i++) {
		bool yes = rules->list[i].value;

		any_yes |= rules->list[i].value == WATT_SOURCE_ALONE;
		if (!strcmp(rules->list[i].name, name))
			choice = yes ? WATT_CHOICE_YES : WATT_CHOICE_NO;
	}
	return any_yes && choice == WATT_CHOICE_AUTO ? WATT_CHOICE_NO : choice;
}

bool watt_select_is_of_cpus(const struct watt_channel *channel)
{
	switch (channel->kind) {
	case WATT_DOMAIN_TOTAL:
	case WATT_DOMAIN_PACKAGE:
	case WATT_DOMAIN_CORES:
	case WATT_DOMAIN_CPU_RAIL:
		return true;
	default:
		return false;
	}
}

bool watt_select_covers_cpus(const struct watt_power *power)
{
	uint32_t i;

	for (i = 0; i < power->n_channels; i++)
		if (watt_select_is_of_cpus(&power->channels[i]))
			return true;
	return false;
}

static int close_all(struct watt_power **sources, size_t n, int r)
{
	while (n-- > 0)
		sources[n]->ops->close(sources[n]);
	return r;
}

bool watt_select_is_wanted(const struct watt_power_ops *ops, const struct watt_rules *rules,
			   bool is_covered)
{
	enum watt_choice choice = watt_select_choice(rules, ops->name);

	if (choice != WATT_CHOICE_AUTO)
		return choice == WATT_CHOICE_YES;
	return !(ops->flags & (WATT_POWER_TEST | WATT_POWER_CONTEXT)) &&
	       !((ops->flags & WATT_POWER_FALLBACK) && is_covered);
}

int watt_select_complain(const struct watt_power_ops *ops, const struct watt_log *log, int r)
{
	watt_log(log, WATT_LOG_ERROR,
		 "the source %s does not work here: %s; wattribute doctor says why", ops->name,
		 strerror(-r));
	return r;
}

/* 0; 1: it does not work, and nobody asked for it. */
static int open_wanted(const struct watt_env *env, const struct watt_rules *rules,
		       const struct watt_power_ops *ops, struct watt_power **ret)
{
	int r = ops->open(env, ret);

	if (r < 0 && watt_select_choice(rules, ops->name) == WATT_CHOICE_YES)
		return watt_select_complain(ops, &env->log, r);
	return r < 0 ? 1 : 0;
}

int watt_select_quick(const struct watt_env *env, const struct watt_rules *rules,
		      struct watt_power **ret)
{
	size_t i, n = 0;
	int r;

	for (i = 0; watt_power_registry[i] && n < WATT_MAX_SOURCES; i++) {
		const struct watt_power_ops *ops = watt_power_registry[i];

		if (ops->flags & (WATT_POWER_BLOCKING | WATT_POWER_FALLBACK) ||
		    !watt_select_is_wanted(ops, rules, false))
			continue;
		r = open_wanted(env, rules, ops, &ret[n]);
		if (r < 0)
			return close_all(ret, n, r);
		n += r == 0;
	}
	return (int)n;
}

int watt_select_fallback(const struct watt_env *env, const struct watt_rules *rules,
			 const struct watt_power_ops *ops, bool is_covered, struct watt_power **ret)
{
	return watt_select_is_wanted(ops, rules, is_covered) ? open_wanted(env, rules, ops, ret) :
							       1;
}

static size_t rank(const struct watt_power *power)
{
	size_t i = 0;

	while (watt_power_registry[i] && watt_power_registry[i] != power->ops)
		i++;
	return i;
}

static int compare_ranks(const void *a, const void *b)
{
	size_t x = rank(*(struct watt_power *const *)a), y = rank(*(struct watt_power *const *)b);

	return (x > y) - (x < y);
}

void watt_select_sort(struct watt_power **sources, size_t n)
{
	if (n > 0)
		qsort(sources, n, sizeof(struct watt_power *), compare_ranks);
}

const struct watt_activity_ops *watt_select_usage_named(const char *name)
{
	size_t i;

	for (i = 0; watt_activity_registry[i]; i++)
		if (watt_activity_registry[i]->sweep &&
		    !strcmp(watt_activity_registry[i]->name, name))
			return watt_activity_registry[i];
	return NULL;
}

bool watt_select_is_power(const char *name)
{
	size_t i;

	for (i = 0; watt_power_registry[i]; i++)
		if (!strcmp(watt_power_registry[i]->name, name))
			return true;
	return false;
}

bool watt_select_is_teller(const char *name)
{
	size_t i;

	for (i = 0; watt_activity_registry[i]; i++)
		if (watt_activity_registry[i]->read && !watt_activity_registry[i]->flags &&
		    !strcmp(watt_activity_registry[i]->name, name))
			return !watt_select_is_power(name);
	return false;
}

/* By its own name, and not since others are named. */
static bool is_left_out(const struct watt_rules *rules, const char *name)
{
	bool is = false;
	size_t i;

	for (i = 0; rules && i < rules->n; i++)
		if (!strcmp(rules->list[i].name, name))
			is = rules->list[i].value == WATT_SOURCE_OUT;
	return is;
}

bool watt_select_activity_is_wanted(const struct watt_activity_ops *ops,
				    const struct watt_rules *rules, bool is_precise)
{
	/* a choice among powers says nothing of who measures none, such as drm */
	enum watt_choice choice = watt_select_is_power(ops->name) ?
					  watt_select_choice(rules, ops->name) :
					  WATT_CHOICE_AUTO;

	if (!ops->read)
		return false;
	if (ops->flags & WATT_ACTIVITY_ASKED)
		return is_precise;
	if (is_left_out(rules, ops->name))
		return false;
	if (choice != WATT_CHOICE_AUTO)
		return choice == WATT_CHOICE_YES;
	return !(ops->flags & WATT_ACTIVITY_TEST);
}

void watt_select_blame(int error, struct watt_diag *diag)
{
	const char *why = strerror(-error), *hint = "";

	diag->error = error;
	diag->state = error == -ENODEV || error == -EOPNOTSUPP ? WATT_ABSENT : WATT_BROKEN;
	if (error == -EMFILE || error == -ENFILE) {
		why = "too many open files";
		hint = "raise the limit (ulimit -n)";
	} else if (error == -EXDEV) {
		diag->state = WATT_ABSENT;
		why = "it calls tasks by the host's numbers, and this kernel can't tell those that "
		      "procfs has, of a pid namespace";
		hint = "share the host's pid namespace (--pid=host), or name the host's procfs by "
		       "--procfs-root";
	} else if (error == -EPERM || error == -EACCES) {
		diag->state = WATT_FORBIDDEN;
		why = "the kernel does not permit it";
		hint = "run as root, or with CAP_BPF and CAP_PERFMON";
	}
	watt_strlcpy(diag->why, why, sizeof(diag->why));
	watt_strlcpy(diag->hint, hint, sizeof(diag->hint));
}

/* What a source of usage says of itself where it could not be opened, or else the kernel's word. */
static void explain(const struct watt_env *env, const struct watt_activity_ops *ops, int error,
		    struct watt_select_why *ret)
{
	struct watt_diag diag = { .state = WATT_ABSENT };

	if (error == -EMFILE || error == -ENFILE || ops->probe(env, &diag) >= 0 || !*diag.why)
		watt_select_blame(error, &diag);
	snprintf(ret->text, sizeof(ret->text), "%s: %s%s%s", ops->name, diag.why,
		 *diag.hint ? "; " : "", diag.hint);
}

static int open_usage_named(const struct watt_env *env, const struct watt_cpu_map *map,
			    const char *name, struct watt_activity_source **ret)
{
	const struct watt_activity_ops *ops = watt_select_usage_named(name);
	struct watt_select_why why = { .text = "" };
	int r = ops->open(env, map, ret);

	if (r < 0) {
		explain(env, ops, r, &why);
		watt_log(&env->log, WATT_LOG_ERROR, "usage does not work here by %s", why.text);
	}
	return r;
}

int watt_select_usage(const struct watt_env *env, const struct watt_cpu_map *map, const char *name,
		      struct watt_activity_source **ret, struct watt_select_why *ret_why)
{
	size_t i;
	int r = -ENODEV;

	ret_why->text[0] = '\0';
	if (name && strcmp(name, "auto"))
		return open_usage_named(env, map, name, ret);
	for (i = 0; watt_activity_registry[i]; i++) {
		const struct watt_activity_ops *ops = watt_activity_registry[i];

		if (!ops->sweep || (ops->flags & WATT_ACTIVITY_TEST))
			continue;
		r = ops->open(env, map, ret);
		if (r == 0)
			return 0;
		if (!*ret_why->text)
			explain(env, ops, r, ret_why);
		watt_log(&env->log, WATT_LOG_INFO, "usage by %s does not work here: %s", ops->name,
			 strerror(-r));
	}
	return r;
}
