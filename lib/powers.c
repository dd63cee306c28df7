/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens sources of power: what is quick at once, what can block on threads of its own, what is a
 * makeshift when nothing else measures. It must not read any of them.
 */
#include "powers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"

/* What takes longer to open hangs: nobody waits for it, whatever he asked for. */
#define OPEN_LIMIT_NS (5 * WATT_NSEC_PER_SEC)

/* The sources while they are collected. */
struct collection {
	struct watt_power *sources[WATT_MAX_SOURCES];
	struct watt_power pending[WATT_MAX_SOURCES]; /* no more than their names and rates */
	size_t n, n_pending;
	bool is_covered;
};

static bool is_slow(const struct watt_power_ops *ops)
{
	return ops->flags & WATT_POWER_BLOCKING;
}

static void list_wanted(struct watt_powers *powers, const struct watt_rules *sources)
{
	size_t i;

	for (i = 0; watt_power_registry[i] && powers->n < WATT_MAX_SOURCES; i++)
		if (watt_select_is_wanted(watt_power_registry[i], sources, false))
			powers->ops[powers->n++] = watt_power_registry[i];
}

/* They are being opened from here on. */
static int begin_slow(struct watt_powers *powers)
{
	size_t i;
	int r = 0;

	for (i = 0; i < powers->n && r == 0; i++)
		if (is_slow(powers->ops[i]))
			r = watt_engine_watch(powers->engine, powers->env, powers->ops[i], 0,
					      false);
	return r;
}

static bool is_any_slow_named(const struct watt_powers *powers, const struct watt_rules *sources)
{
	size_t i;

	for (i = 0; i < powers->n; i++)
		if (is_slow(powers->ops[i]) &&
		    watt_select_choice(sources, powers->ops[i]->name) == WATT_CHOICE_YES)
			return true;
	return false;
}

static void wait_for_slow(struct watt_powers *powers, const struct watt_powers_opts *opts,
			  const struct collection *all, uint64_t begin_ns)
{
	uint64_t patience_ns = WATT_MIN(opts->patience_ns, OPEN_LIMIT_NS);

	if (all->n == 0 || is_any_slow_named(powers, opts->sources))
		patience_ns = OPEN_LIMIT_NS;
	watt_engine_wait_open(powers->engine, begin_ns + patience_ns);
}

static void add_source(struct collection *all, struct watt_power *power)
{
	if (all->n == WATT_MAX_SOURCES) {
		power->ops->close(power);
		return;
	}
	all->sources[all->n++] = power;
	all->is_covered |= watt_select_covers_cpus(power);
}

static int collect_slow(struct watt_powers *powers, const struct watt_rules *sources,
			struct collection *all)
{
	struct watt_power *power;
	size_t i;
	int r;

	for (i = 0; i < powers->n; i++) {
		const struct watt_power_ops *ops = powers->ops[i];

		if (!is_slow(ops))
			continue;
		r = watt_engine_take_open(powers->engine, ops, &power);
		if (r == 0)
			add_source(all, power);
		else if (r == -EAGAIN)
			all->pending[all->n_pending++].ops = ops;
		else if (watt_select_choice(sources, ops->name) == WATT_CHOICE_YES)
			return watt_select_complain(ops, &powers->env->log, r);
	}
	return 0;
}

/* While somebody may still measure the CPUs, it waits. */
static int collect_fallbacks(struct watt_powers *powers, const struct watt_rules *sources,
			     struct collection *all)
{
	struct watt_power *power;
	size_t i;
	int r;

	for (i = 0; i < powers->n; i++) {
		const struct watt_power_ops *ops = powers->ops[i];

		if (!(ops->flags & WATT_POWER_FALLBACK))
			continue;
		if (all->n_pending && !all->is_covered &&
		    watt_select_choice(sources, ops->name) == WATT_CHOICE_AUTO) {
			powers->fallback[powers->n_fallbacks++] = ops;
			continue;
		}
		r = watt_select_fallback(powers->env, sources, ops, all->is_covered, &power);
		if (r < 0)
			return r;
		if (r == 0)
			add_source(all, power);
	}
	return 0;
}

static int collect(struct watt_powers *powers, const struct watt_powers_opts *opts,
		   struct collection *all)
{
	uint64_t begin_ns = watt_now_ns();
	size_t i;
	int r;

	r = watt_select_quick(powers->env, opts->sources, all->sources);
	if (r < 0)
		return r;
	all->n = (size_t)r;
	for (i = 0; i < all->n; i++)
		all->is_covered |= watt_select_covers_cpus(all->sources[i]);
	wait_for_slow(powers, opts, all, begin_ns);
	r = collect_slow(powers, opts->sources, all);
	if (r == 0)
		r = collect_fallbacks(powers, opts->sources, all);
	return r;
}

/* A source that is not used here is a mistake. */
static int complain_source(const char *name, struct watt_power *const *sources, size_t n,
			   const struct watt_log *log)
{
	char known[512] = "";
	size_t i, used = 0;

	for (i = 0; i < n && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 sources[i]->ops->name);
	watt_log(log, WATT_LOG_ERROR, "no source that is used here is called '%s'; there are: %s",
		 name, known);
	return -ENOENT;
}

/* Says to each that is named how often it is to be read. */
static int set_rates(const struct watt_rules *rates, struct watt_power *const *sources, size_t n,
		     const struct watt_log *log)
{
	size_t i, s;

	for (i = 0; rates && i < rates->n; i++) {
		const struct watt_rule *rate = &rates->list[i];

		for (s = 0; s < n && strcmp(sources[s]->ops->name, rate->name) != 0; s++)
			continue;
		if (s == n)
			return complain_source(rate->name, sources, n, log);
		sources[s]->asked_period_ns = rate->value;
	}
	return 0;
}

/* Those that are still being opened are known by their names alone. */
static int apply_rates(struct watt_powers *powers, const struct watt_rules *rates,
		       struct collection *all)
{
	struct watt_power *known[2 * WATT_MAX_SOURCES];
	size_t i, n = 0;
	int r;

	for (i = 0; i < all->n; i++)
		known[n++] = all->sources[i];
	for (i = 0; i < all->n_pending; i++)
		known[n++] = &all->pending[i];
	r = set_rates(rates, known, n, &powers->env->log);
	for (i = 0; i < n; i++)
		watt_engine_ask_period(powers->engine, known[i]->ops, known[i]->asked_period_ns);
	return r;
}

/* By more than makeshifts. */
static bool is_well_covered(const struct collection *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (!(all->sources[i]->ops->flags & WATT_POWER_FALLBACK) &&
		    watt_select_covers_cpus(all->sources[i]))
			return true;
	return false;
}

/* What comes to quick ones, too. A fallback that is not needed is not looked for. */
static int watch_quick(struct watt_powers *powers, const struct watt_rules *sources,
		       const struct collection *all)
{
	bool is_covered = is_well_covered(all);
	size_t i, s;
	int r = 0;

	for (i = 0; i < powers->n && r == 0; i++) {
		const struct watt_power_ops *ops = powers->ops[i];
		uint64_t asked_period_ns = 0;

		if (is_slow(ops) || !watt_select_is_wanted(ops, sources, is_covered))
			continue;
		for (s = 0; s < all->n; s++)
			if (all->sources[s]->ops == ops)
				asked_period_ns = all->sources[s]->asked_period_ns;
		r = watt_engine_watch(powers->engine, powers->env, ops, asked_period_ns, true);
	}
	return r;
}

static int close_all(struct collection *all, int r)
{
	while (all->n > 0) {
		struct watt_power *power = all->sources[--all->n];

		power->ops->close(power);
	}
	return r;
}

int watt_powers_open(const struct watt_env *env, const struct watt_powers_opts *opts,
		     struct watt_powers *ret)
{
	struct collection all = { 0 };
	int rates_error, r;

	*ret = (struct watt_powers){ .env = env };
	list_wanted(ret, opts->sources);
	r = watt_engine_new(&opts->engine, NULL, 0, &ret->engine);
	if (r == 0)
		r = begin_slow(ret);
	if (r == 0)
		r = collect(ret, opts, &all);
	if (r == 0 && all.n == 0 && all.n_pending == 0)
		r = -ENODEV;
	if (r < 0)
		return close_all(&all, r);
	watt_select_sort(all.sources, all.n);
	rates_error = apply_rates(ret, opts->rates, &all);
	/* from here on, the sources are the engine's */
	r = watt_engine_add(ret->engine, all.sources, all.n);
	if (r == 0)
		r = rates_error;
	return r < 0 ? r : watch_quick(ret, opts->sources, &all);
}

static bool is_any_pending(const struct watt_powers *powers)
{
	size_t i;

	for (i = 0; i < powers->n; i++)
		if (watt_engine_source_status(powers->engine, powers->ops[i]) ==
		    WATT_STATUS_PENDING)
			return true;
	return false;
}

static bool is_covered(const struct watt_powers *powers)
{
	size_t i;

	for (i = 0; i < watt_engine_channel_count(powers->engine); i++)
		if (watt_select_is_of_cpus(watt_engine_channel(powers->engine, i)))
			return true;
	return false;
}

static void open_fallbacks(struct watt_powers *powers)
{
	bool is_needed = !is_covered(powers);
	size_t i;
	int r;

	for (i = 0; i < powers->n_fallbacks && is_needed; i++) {
		r = watt_engine_watch(powers->engine, powers->env, powers->fallback[i], 0, false);
		if (r < 0)
			watt_log(&powers->env->log, WATT_LOG_WARNING, "%s can't be opened: %s",
				 powers->fallback[i]->name, strerror(-r));
	}
	powers->n_fallbacks = 0;
}

void watt_powers_poll(struct watt_powers *powers, uint64_t now_ns)
{
	watt_engine_poll(powers->engine, now_ns);
	if (powers->n_fallbacks && !is_any_pending(powers))
		open_fallbacks(powers);
}
