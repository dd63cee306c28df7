/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the options of the simulated machine by the machine it is to stand in for. */
#include "source/synth_live.h"

#include "base/clock.h"
#include "base/util.h"
#include "source/topology.h"

#define SEED 1
#define CPUS_LIMIT 256 /* it is simulated on one of them */

/* CPUs and packages; the packages are numbered from 0 as they are almost everywhere. */
static int count(const struct watt_env *env, uint32_t *ret_cpus, uint32_t *ret_packages)
{
	struct watt_topology topology = WATT_TOPOLOGY_INIT;
	uint32_t i, n_packages = 1;
	int r;

	r = watt_topology_open(env, &topology);
	if (r < 0)
		return r;
	*ret_cpus = WATT_MIN(topology.n_cpus, CPUS_LIMIT);
	for (i = 0; i < *ret_cpus; i++)
		if (topology.cpus[i].package_id >= (int32_t)n_packages)
			n_packages = (uint32_t)topology.cpus[i].package_id + 1;
	*ret_packages = WATT_MIN(n_packages, *ret_cpus);
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
	uint64_t boot_ns = watt_clock_ns(CLOCK_BOOTTIME), now_ns = watt_now_ns();
	int r;

	r = count(env, &opts.n_cpus, &opts.n_packages);
	if (r < 0)
		return r;
	opts.n_processes = 3 * opts.n_cpus + 5;
	opts.epoch_ns = env->epoch_ns ? env->epoch_ns : now_ns;
	opts.epoch_ns -= opts.epoch_ns % WATT_NSEC_PER_USEC;
	opts.boot_ahead_ns = boot_ns - now_ns;
	if (ret_epoch_ns)
		*ret_epoch_ns = opts.epoch_ns;
	return watt_synth_machine_new(&opts, ret);
}
