/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy counter of a GPU that is not there: the twin of the activity source of the same name,
 * which tells who was on it. Simulated, and only by name. Its reads allocate, as those of synth.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "source/registry.h"
#include "source/synth/live.h"
#include "source/synth/sensor.h"

#define PERIOD_NS (10 * WATT_NSEC_PER_MSEC)

struct synth_gpu {
	struct watt_power power; /* first */
	struct watt_power_group group;
	struct watt_channel channel;
	struct watt_synth_sensor sensor;
	struct watt_synth_gpu gpu;
};

static void synth_gpu_close(struct watt_power *power)
{
	struct synth_gpu *synth = (struct synth_gpu *)power;

	watt_synth_gpu_done(&synth->gpu);
	free(synth);
}

static void synth_gpu_read(struct watt_power *power, uint32_t group, struct watt_sample *ret)
{
	struct synth_gpu *synth = (struct synth_gpu *)power;
	uint64_t t_ns = watt_now_ns();

	if (watt_synth_gpu_run(&synth->gpu, t_ns) < 0) {
		*ret = (struct watt_sample){ .t_before_ns = t_ns,
					     .t_after_ns = t_ns,
					     .channel = ret->channel,
					     .status = WATT_STATUS_BROKEN };
		return;
	}
	watt_synth_sensor_read(&synth->sensor, watt_synth_gpu_true_nj, &synth->gpu, t_ns, ret);
	watt_synth_gpu_forget(&synth->gpu, t_ns - WATT_NSEC_PER_SEC);
}

static int synth_gpu_open(const struct watt_env *env, struct watt_power **ret)
{
	struct synth_gpu *synth = calloc(1, sizeof(*synth));

	if (!synth)
		return -ENOMEM;
	watt_synth_live_gpu(env, &synth->gpu);
	synth->sensor = (struct watt_synth_sensor){ .quantity = WATT_QUANTITY_ENERGY,
						    .semantics = WATT_SEMANTICS_COUNTER };
	synth->channel =
		(struct watt_channel){ .sz = sizeof(synth->channel),
				       .name = "synth_gpu/gpu-0",
				       .source = "synth_gpu",
				       .domain = "gpu-0",
				       .kind = WATT_DOMAIN_GPU,
				       .package_id = -1,
				       .die_id = -1,
				       .core_id = -1,
				       .idle_uw = synth->gpu.opts.idle_w * UINT64_C(1000000) };
	watt_synth_sensor_describe(&synth->sensor, &synth->channel);
	synth->group = (struct watt_power_group){ .n = 1, .period_ns = PERIOD_NS };
	synth->power = (struct watt_power){ .ops = &watt_power_synth_gpu,
					    .channels = &synth->channel,
					    .n_channels = 1,
					    .groups = &synth->group,
					    .n_groups = 1 };
	*ret = &synth->power;
	return 0;
}

static int synth_gpu_probe(const struct watt_env *env, struct watt_diag *diag)
{
	diag->state = WATT_AVAILABLE;
	diag->n_channels = 1;
	diag->period_ns = PERIOD_NS;
	snprintf(diag->why, sizeof(diag->why), "always there, for tests: a simulated GPU");
	return 0;
}

const struct watt_power_ops watt_power_synth_gpu = {
	.name = "synth_gpu",
	.summary = "a simulated GPU, for tests",
	.flags = WATT_POWER_TEST,
	.probe = synth_gpu_probe,
	.open = synth_gpu_open,
	.read = synth_gpu_read,
	.close = synth_gpu_close,
};
