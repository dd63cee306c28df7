/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is on the simulated GPU: this process, its parent, and two processes of the simulated
 * machine. It tells every 170 ms, and 400 ms late. Simulated, and only by name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "source/host/pidns.h"
#include "source/host/procdir.h"
#include "source/registry.h"
#include "source/synth/live.h"

#define DELAY_NS (400 * WATT_NSEC_PER_MSEC)
#define WINDOWS_MAX 16 /* told at a time */

struct synth_gpu {
	struct watt_activity_source source; /* first */
	struct watt_synth_gpu gpu;
	uint32_t pids[WATT_SYNTH_GPU_USERS];
	uint64_t starts_ns[WATT_SYNTH_GPU_USERS];
	uint64_t told_ns; /* end of the last window that was told; 0: none was */
	struct watt_activity_place place;
	struct watt_activity readings[WINDOWS_MAX * WATT_SYNTH_GPU_USERS];
};

/* As procfs calls it, which is not always as it calls itself; one that is not there is nobody. */
static void find_real(struct synth_gpu *synth, const struct watt_env *env, uint32_t user, pid_t pid)
{
	if (watt_pidns_translate(&env->procfs, (uint32_t)pid, &synth->pids[user]) == 0)
		synth->starts_ns[user] = watt_procdir_start_ns(&env->procfs, synth->pids[user]);
}

/* The first two processes of the simulated machine, which begins with them. */
static int find_simulated(struct synth_gpu *synth, const struct watt_env *env)
{
	struct watt_synth_machine *machine;
	uint32_t n = 2;
	size_t i;
	int r;

	r = watt_synth_live_open(env, false, &machine, NULL);
	if (r < 0)
		return r;
	for (i = 0; i < watt_synth_machine_task_count(machine) && n < WATT_SYNTH_GPU_USERS; i++) {
		const struct watt_synth_task *task = watt_synth_machine_task(machine, i);

		if (task->is_kthread || task->tid != task->tgid)
			continue;
		synth->pids[n] = task->tgid;
		synth->starts_ns[n++] = task->start_ns;
	}
	watt_synth_machine_free(machine);
	return 0;
}

static void synth_gpu_close(struct watt_activity_source *src)
{
	struct synth_gpu *synth = (struct synth_gpu *)src;

	watt_synth_gpu_done(&synth->gpu);
	free(synth);
}

static int synth_gpu_open(const struct watt_env *env, const struct watt_cpu_map *map,
			  struct watt_activity_source **ret)
{
	struct synth_gpu *synth = calloc(1, sizeof(*synth));
	int r;

	if (!synth)
		return -ENOMEM;
	watt_synth_live_gpu(env, &synth->gpu);
	find_real(synth, env, 0, getpid());
	find_real(synth, env, 1, getppid());
	r = find_simulated(synth, env);
	if (r < 0) {
		synth_gpu_close(&synth->source);
		return r;
	}
	synth->source.ops = &watt_activity_synth_gpu;
	*ret = &synth->source;
	return 0;
}

static void tell_window(struct synth_gpu *synth, uint64_t t_ns, size_t *n)
{
	uint32_t i;

	for (i = 0; i < WATT_SYNTH_GPU_USERS; i++) {
		struct watt_activity *reading = &synth->readings[*n];

		if (!synth->pids[i] || !synth->starts_ns[i])
			continue; /* its pid alone could be another's */
		*reading = (struct watt_activity){
			.t_ns = t_ns,
			.amount = watt_synth_gpu_time_ns(&synth->gpu, i, t_ns),
			.start_ns = synth->starts_ns[i],
			.pid = synth->pids[i],
		};
		++*n;
	}
}

static int synth_gpu_read(struct watt_activity_source *src, struct watt_activity_batch *ret)
{
	struct synth_gpu *synth = (struct synth_gpu *)src;
	const struct watt_synth_gpu_opts *opts = &synth->gpu.opts;
	uint64_t now_ns = watt_now_ns(), t_ns = synth->told_ns + opts->window_ns;
	size_t n = 0;
	int windows, r;

	r = watt_synth_gpu_run(&synth->gpu, now_ns);
	if (r < 0)
		return r;
	if (!synth->told_ns)
		t_ns = opts->epoch_ns;
	for (windows = 0; windows < WINDOWS_MAX; windows++, t_ns += opts->window_ns) {
		if (t_ns + DELAY_NS > now_ns && t_ns != opts->epoch_ns)
			break;
		tell_window(synth, t_ns, &n);
		synth->told_ns = t_ns;
	}
	watt_synth_gpu_forget(&synth->gpu, synth->told_ns);
	synth->place =
		(struct watt_activity_place){ "gpu-0", synth->told_ns, WATT_ACTIVITY_GPU_TIME, 1 };
	*ret = (struct watt_activity_batch){ &synth->place, 1, synth->readings, n };
	return 0;
}

static int synth_gpu_probe(const struct watt_env *env, struct watt_diag *diag)
{
	diag->state = WATT_AVAILABLE;
	snprintf(diag->why, sizeof(diag->why),
		 "always there, for tests: processes on the simulated GPU");
	return 0;
}

const struct watt_activity_ops watt_activity_synth_gpu = {
	.name = "synth_gpu",
	.summary = "processes on a simulated GPU, for tests",
	.flags = WATT_ACTIVITY_TEST,
	.period_ns = 170 * WATT_NSEC_PER_MSEC,
	.probe = synth_gpu_probe,
	.open = synth_gpu_open,
	.read = synth_gpu_read,
	.close = synth_gpu_close,
};
