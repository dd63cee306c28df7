/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses sources. Automatically: every source that works, tests never, and a model only where
 * nothing measured covers the CPUs. By name: those, and an error if one of them doesn't work.
 */
#include "source/select.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* The next name of a comma list: its length; 0: the end. */
static size_t next_name(const char **cursor, bool *ret_no)
{
	size_t len;

	*cursor += strspn(*cursor, ", ");
	*ret_no = **cursor == '-';
	*cursor += *ret_no;
	len = strcspn(*cursor, ", ");
	return len;
}

static bool is_known(const char *name, size_t len)
{
	size_t i;

	for (i = 0; watt_power_registry[i]; i++)
		if (strlen(watt_power_registry[i]->name) == len &&
		    !strncmp(watt_power_registry[i]->name, name, len))
			return true;
	return false;
}

static void list_names(char *buf, size_t size)
{
	size_t i, n = 0;

	buf[0] = '\0';
	for (i = 0; watt_power_registry[i]; i++) {
		const char *name = watt_power_registry[i]->name;

		if (n + strlen(name) + 3 > size)
			break;
		if (n)
			n = (size_t)(stpcpy(buf + n, ", ") - buf);
		n = (size_t)(stpcpy(buf + n, name) - buf);
	}
}

int watt_select_check(const char *list, const struct watt_log *log)
{
	char names[512];
	size_t len, n = 0;
	bool no;

	if (!list)
		return 0;
	for (; (len = next_name(&list, &no)); list += len, n++) {
		if (is_known(list, len))
			continue;
		list_names(names, sizeof(names));
		watt_log(log, WATT_LOG_ERROR, "no source is called '%.*s'; there are: %s", (int)len,
			 list, names);
		return -EINVAL;
	}
	if (n)
		return 0;
	watt_log(log, WATT_LOG_ERROR, "the list of sources is empty");
	return -EINVAL;
}

enum watt_choice watt_select_choice(const char *list, const char *name)
{
	enum watt_choice choice = WATT_CHOICE_AUTO;
	bool no, any_yes = false;
	size_t len;

	for (; list && (len = next_name(&list, &no)); list += len) {
		any_yes |= !no;
		if (strlen(name) == len && !strncmp(name, list, len))
			choice = no ? WATT_CHOICE_NO : WATT_CHOICE_YES;
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

bool watt_select_is_wanted(const struct watt_power_ops *ops, const char *list, bool is_covered)
{
	enum watt_choice choice = watt_select_choice(list, ops->name);

	if (choice != WATT_CHOICE_AUTO)
		return choice == WATT_CHOICE_YES;
	return !(ops->flags & WATT_POWER_TEST) &&
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
static int open_wanted(const struct watt_env *env, const char *list,
		       const struct watt_power_ops *ops, struct watt_power **ret)
{
	int r = ops->open(env, ret);

	if (r < 0 && watt_select_choice(list, ops->name) == WATT_CHOICE_YES)
		return watt_select_complain(ops, &env->log, r);
	return r < 0 ? 1 : 0;
}

int watt_select_quick(const struct watt_env *env, const char *list, struct watt_power **ret)
{
	size_t i, n = 0;
	int r;

	for (i = 0; watt_power_registry[i] && n < WATT_MAX_SOURCES; i++) {
		const struct watt_power_ops *ops = watt_power_registry[i];

		if (ops->flags & (WATT_POWER_BLOCKING | WATT_POWER_FALLBACK) ||
		    !watt_select_is_wanted(ops, list, false))
			continue;
		r = open_wanted(env, list, ops, &ret[n]);
		if (r < 0)
			return close_all(ret, n, r);
		n += r == 0;
	}
	return (int)n;
}

int watt_select_fallback(const struct watt_env *env, const char *list,
			 const struct watt_power_ops *ops, bool is_covered, struct watt_power **ret)
{
	return watt_select_is_wanted(ops, list, is_covered) ? open_wanted(env, list, ops, ret) : 1;
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

bool watt_select_activity_is_wanted(const struct watt_activity_ops *ops, const char *list)
{
	enum watt_choice choice = watt_select_choice(list, ops->name);

	if (!ops->read)
		return false;
	if (choice != WATT_CHOICE_AUTO)
		return choice == WATT_CHOICE_YES;
	return !(ops->flags & WATT_ACTIVITY_TEST);
}
