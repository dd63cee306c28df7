/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sensor that costs nothing to read and says 0 W: the rest of the machinery alone, to see what
 * that costs. Simulated, and only by name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "source/registry.h"

static const struct watt_channel null_channel = {
	.sz = sizeof(null_channel),
	.name = "null/package-0",
	.source = "null",
	.domain = "package-0",
	.kind = WATT_DOMAIN_PACKAGE,
	/* A counter that never moves from zero would pass for a broken one. */
	.quantity = WATT_QUANTITY_POWER,
	.semantics = WATT_SEMANTICS_INSTANT,
	.origin = WATT_ORIGIN_SIMULATED,
	.package_id = 0,
	.die_id = -1,
	.core_id = -1,
	.scale_num = 1,
	.scale_den = 1,
	.coverage_ppm = 1000000,
};

static const struct watt_power_group null_group = { .n = 1 };

static void null_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	ret->t_before_ns = watt_now_ns();
	ret->t_after_ns = ret->t_before_ns;
	ret->raw = 0;
	ret->status = WATT_STATUS_OK;
}

static int null_open(const struct watt_env *env, struct watt_power **ret)
{
	struct watt_power *power = malloc(sizeof(*power));

	if (!power)
		return -ENOMEM;
	*power = (struct watt_power){ .ops = &watt_power_null,
				      .channels = &null_channel,
				      .n_channels = 1,
				      .groups = &null_group,
				      .n_groups = 1 };
	*ret = power;
	return 0;
}

static void null_close(struct watt_power *power)
{
	free(power);
}

static int null_probe(const struct watt_env *env, struct watt_diag *diag)
{
	diag->state = WATT_AVAILABLE;
	diag->n_channels = 1;
	snprintf(diag->why, sizeof(diag->why), "always there, for tests: 0 W at no cost");
	return 0;
}

const struct watt_power_ops watt_power_null = {
	.name = "null",
	.summary = "0 W at no cost, for tests of the machinery",
	.flags = WATT_POWER_TEST,
	.probe = null_probe,
	.open = null_open,
	.read = null_read,
	.close = null_close,
};
