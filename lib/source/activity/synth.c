/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tasks of the simulated machine used: the twin of the power source synth, so that the
 * two together show a machine whose truth is known. Simulated, and only by name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "source/registry.h"
#include "source/host/status.h"
#include "source/synth/live.h"

struct synth_usage {
	struct watt_activity_source source; /* first */
	struct watt_synth_machine *machine;
	bool was_swept;
};

static int synth_open(const struct watt_env *env, const struct watt_cpu_map *map,
		      struct watt_activity_source **ret)
{
	struct synth_usage *synth = calloc(1, sizeof(*synth));
	int r;

	if (!synth)
		return -ENOMEM;
	r = watt_synth_live_open(env, true, &synth->machine, NULL);
	if (r < 0) {
		free(synth);
		return r;
	}
	synth->source.ops = &watt_activity_synth;
	*ret = &synth->source;
	return 0;
}

static int synth_sweep(struct watt_activity_source *src, bool full, struct watt_usage_batch *ret)
{
	struct synth_usage *synth = (struct synth_usage *)src;
	uint64_t now_ns = watt_now_ns();
	int r;

	r = watt_synth_machine_run(synth->machine, now_ns);
	if (r < 0)
		return r;
	watt_synth_machine_forget(synth->machine, now_ns);
	r = watt_synth_machine_sweep(synth->machine, full || !synth->was_swept, ret);
	if (r == 0)
		synth->was_swept = true;
	return r;
}

static void synth_close(struct watt_activity_source *src)
{
	struct synth_usage *synth = (struct synth_usage *)src;

	if (!synth)
		return;
	watt_synth_machine_free(synth->machine);
	free(synth);
}

static int synth_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_synth_machine *machine;
	int r;

	r = watt_synth_live_open(env, true, &machine, NULL);
	diag->error = r;
	diag->state = watt_availability_from_errno(r);
	if (r < 0) {
		snprintf(diag->why, sizeof(diag->why), "the simulation can't begin: %s",
			 strerrordesc_np(-r));
		return r;
	}
	watt_synth_machine_free(machine);
	snprintf(diag->why, sizeof(diag->why),
		 "always there, for tests: the tasks of the simulated machine");
	return 0;
}

const struct watt_activity_ops watt_activity_synth = {
	.name = "synth",
	.summary = "tasks of a simulated machine, for tests",
	.flags = WATT_ACTIVITY_TEST,
	.probe = synth_probe,
	.open = synth_open,
	.sweep = synth_sweep,
	.close = synth_close,
};
