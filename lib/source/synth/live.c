/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the options of the simulated machine by the machine it is to stand in for. */
#include "source/synth/live.h"

#include "base/clock.h"
#include "base/util.h"
#include "source/host/topology.h"

#define SEED 1
#define CPUS_LIMIT 256 /* it is simulated on one of them */

/* Of the machine that it stands in for. A package that has no CPU here just idles. */
struct shape {
	uint32_t n_cpus;
	uint32_t n_packages;
	uint16_t packages[CPUS_LIMIT]; /* per CPU */
};

static int read_shape(const struct watt_env *env, struct shape *ret)
{
	struct watt_topology topology = WATT_TOPOLOGY_INIT;
	uint32_t i;
	int r;

	r = watt_topology_open_quietly(env, &topology);
	if (r < 0)
		return r;
	ret->n_cpus = WATT_MIN(topology.n_cpus, CPUS_LIMIT);
	ret->n_packages = 1;
	for (i = 0; i < ret->n_cpus; i++) {
		uint32_t package = (uint32_t)topology.cpus[i].package_id;

		/* Packages are numbered from 0 almost everywhere; elsewhere all are one. */
		ret->packages[i] = package < ret->n_cpus ? (uint16_t)package : 0;
		ret->n_packages = WATT_MAX(ret->n_packages, ret->packages[i] + 1u);
	}
	watt_topology_done(&topology);
	return 0;
}

int watt_synth_live_open(const struct watt_env *env, bool has_events,
			 struct watt_synth_machine **ret, uint64_t *ret_epoch_ns)
{
	struct watt_synth_machine_opts opts = {
		.seed = SEED,
		.task_min_mw = 2000,
		.task_max_mw = 8000,
		.dram_idle_mw = 1000,
		.dram_task_mw = 1000,
		.n_kthreads = 2,
		.fork_ppm = 20000,
		.exit_ppm = 20000,
		.exec_ppm = 5000,
		.thread_ppm = 300000,
		.is_forgetful = true,
		.is_mute = !has_events,
	};
	struct shape shape;
	uint64_t boot_ns = watt_clock_ns(CLOCK_BOOTTIME), now_ns = watt_now_ns();
	int r;

	r = read_shape(env, &shape);
	if (r < 0)
		return r;
	opts.n_cpus = shape.n_cpus;
	opts.n_packages = shape.n_packages;
	opts.cpu_packages = shape.packages;
	opts.n_processes = 3 * opts.n_cpus + 5;
	opts.epoch_ns = env->epoch_ns ? env->epoch_ns : now_ns;
	opts.epoch_ns -= opts.epoch_ns % WATT_NSEC_PER_USEC;
	opts.boot_ahead_ns = boot_ns - now_ns;
	if (ret_epoch_ns)
		*ret_epoch_ns = opts.epoch_ns;
	return watt_synth_machine_new(&opts, ret);
}

void watt_synth_live_gpu(const struct watt_env *env, struct watt_synth_gpu *ret)
{
	struct watt_synth_gpu_opts opts = {
		.seed = SEED,
		.epoch_ns = env->epoch_ns ? env->epoch_ns : watt_now_ns(),
		.window_ns = 170 * WATT_NSEC_PER_MSEC,
		.idle_w = 20,
		.busy_w = 150,
		.n_users = WATT_SYNTH_GPU_USERS,
	};

	opts.epoch_ns -= opts.epoch_ns % WATT_NSEC_PER_USEC;
	watt_synth_gpu_init(ret, &opts);
}
