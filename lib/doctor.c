/* SPDX-License-Identifier: Apache-2.0 */
/* Asks every source what it can do here, and measures what a reading of it costs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/session.h>

#include "base/clock.h"
#include "base/util.h"
#include "env.h"
#include "source/select.h"

#define COST_READS 9

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t read_all_ns(struct watt_power *power, struct watt_sample *samples)
{
	uint64_t t0_ns = watt_now_ns();
	uint32_t g;

	for (g = 0; g < power->n_groups; g++)
		power->ops->read(power, g, samples + power->groups[g].first);
	return watt_now_ns() - t0_ns;
}

/* What the open source knows better than its probe. */
static void measure_power(const struct watt_env *env, const struct watt_power_ops *ops,
			  struct watt_diag *diag, bool *ret_covers)
{
	uint64_t costs_ns[COST_READS];
	struct watt_sample *samples;
	struct watt_power *power;
	uint32_t i;
	int r;

	r = ops->open(env, &power);
	if (r < 0) {
		diag->state = r == -ENODEV                ? WATT_ABSENT :
			      r == -EACCES || r == -EPERM ? WATT_FORBIDDEN :
							    WATT_BROKEN;
		diag->error = r;
		return;
	}
	diag->n_channels = power->n_channels;
	samples = calloc(power->n_channels + 1, sizeof(*samples));
	for (i = 0; samples && i < COST_READS; i++)
		costs_ns[i] = read_all_ns(power, samples);
	if (samples) {
		qsort(costs_ns, COST_READS, sizeof(costs_ns[0]), compare_u64);
		diag->read_cost_ns = costs_ns[COST_READS / 2];
	}
	free(samples);
	for (i = 0; i < power->n_channels; i++) {
		const struct watt_channel *channel = &power->channels[i];

		diag->origin = channel->origin;
		if (channel->period_ns &&
		    (!diag->period_ns || channel->period_ns < diag->period_ns))
			diag->period_ns = channel->period_ns;
	}
	*ret_covers = watt_select_covers_cpus(power);
	ops->close(power);
}

static void ask_power(const struct watt_env *env, const char *list,
		      const struct watt_power_ops *ops, bool *is_covered, struct watt_diag *diag)
{
	bool covers = false;
	int r;

	diag->source = ops->name;
	diag->summary = ops->summary;
	diag->role = WATT_ROLE_POWER;
	diag->is_test = !!(ops->flags & WATT_POWER_TEST);
	r = ops->probe(env, diag);
	if (r == 0)
		measure_power(env, ops, diag, &covers);
	diag->is_selected = diag->state == WATT_AVAILABLE &&
			    watt_select_is_wanted(ops, list, *is_covered);
	*is_covered |= diag->is_selected && covers;
}

static bool usage_is_wanted(const char *name, const struct watt_activity_ops *ops, bool have_one)
{
	if (name && strcmp(name, "auto"))
		return !strcmp(name, ops->name);
	return !have_one && !(ops->flags & WATT_ACTIVITY_TEST);
}

static void ask_usage(const struct watt_env *env, const char *name,
		      const struct watt_activity_ops *ops, bool *have_one, struct watt_diag *diag)
{
	diag->source = ops->name;
	diag->summary = ops->summary;
	diag->role = WATT_ROLE_USAGE;
	diag->is_test = !!(ops->flags & WATT_ACTIVITY_TEST);
	ops->probe(env, diag);
	diag->is_selected = diag->state == WATT_AVAILABLE && usage_is_wanted(name, ops, *have_one);
	*have_one |= diag->is_selected;
}

static void ask_activity(const struct watt_env *env, const char *list,
			 const struct watt_activity_ops *ops, struct watt_diag *diag)
{
	diag->source = ops->name;
	diag->summary = ops->summary;
	diag->role = WATT_ROLE_ACTIVITY;
	diag->is_test = !!(ops->flags & WATT_ACTIVITY_TEST);
	diag->period_ns = ops->period_ns;
	ops->probe(env, diag);
	diag->is_selected = diag->state == WATT_AVAILABLE &&
			    watt_select_activity_is_wanted(ops, list);
}

static void ask_meta(const struct watt_env *env, const struct watt_meta_ops *ops,
		     struct watt_diag *diag)
{
	diag->source = ops->name;
	diag->summary = ops->summary;
	diag->role = WATT_ROLE_META;
	ops->probe(env, diag);
	diag->is_selected = diag->state == WATT_AVAILABLE;
}

static void ask_all(const struct watt_env *env, const struct watt_session_opts *opts,
		    struct watt_diag *diags, size_t max, size_t *ret_n)
{
	bool is_covered = false, have_usage = false;
	size_t i, n = 0;

	for (i = 0; watt_power_registry[i]; i++, n++) {
		struct watt_diag diag = { 0 };

		ask_power(env, opts->sources, watt_power_registry[i], &is_covered, &diag);
		if (n < max)
			diags[n] = diag;
	}
	for (i = 0; watt_activity_registry[i]; i++, n++) {
		struct watt_diag diag = { 0 };

		if (watt_activity_registry[i]->sweep)
			ask_usage(env, opts->usage, watt_activity_registry[i], &have_usage, &diag);
		else
			ask_activity(env, opts->sources, watt_activity_registry[i], &diag);
		if (n < max)
			diags[n] = diag;
	}
	for (i = 0; watt_meta_registry[i]; i++, n++) {
		struct watt_diag diag = { 0 };

		ask_meta(env, watt_meta_registry[i], &diag);
		if (n < max)
			diags[n] = diag;
	}
	*ret_n = n;
}

int watt_doctor(const struct watt_session_opts *opts, struct watt_diag *ret, size_t *ret_n)
{
	struct watt_env_owner owner = WATT_ENV_OWNER_INIT;
	struct watt_session_opts full;
	int r;

	r = watt_opts_copy(opts, &full, sizeof(full));
	if (r < 0 || !ret_n || (*ret_n && !ret))
		return -EINVAL;
	r = watt_env_open(&full, &owner);
	if (r == 0)
		r = watt_select_check(full.sources, &owner.env.log);
	if (r == 0)
		ask_all(&owner.env, &full, ret, *ret_n, ret_n);
	watt_env_close(&owner);
	return r;
}
