/* SPDX-License-Identifier: Apache-2.0 */
/* Worlds of programs of 2 to 12 W; world.h. Steps of 1 ms, slices of 50. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "experiment.h"

const struct watt_channel world_channel = {
	.name = "package-0",
	.source = "world",
	.domain = "package-0",
	.kind = WATT_DOMAIN_PACKAGE,
	.quantity = WATT_QUANTITY_ENERGY,
	.origin = WATT_ORIGIN_MEASURED,
	.scale_num = WORLD_LSB_NJ,
	.scale_den = 1,
	.package_id = -1,
	.die_id = -1,
	.core_id = -1,
	.idle_uw = (uint64_t)(WORLD_IDLE_W * 1e6),
};

#define STEP_S 1e-3
#define STEP_NS 1000000ULL
#define TURN_STEPS 4      /* after so many, who waits may take the CPU of who runs */
#define SHORT_EVERY_MS 30 /* between the births of a program, as a mean */
#define TURBO 0.35
#define BASE_W 8.0
#define SIBLING 0.6
#define DRIFT_W 2.0
#define DRIFT_S 40.0
#define PHASE_S 10.0
#define PHASE 0.4
#define CYCLES_PER_NS 3.0
#define TURBO_CYCLES 0.15 /* with all CPUs busy, that part less */
#define IPC_LEAST 0.3     /* instructions for each cycle */
#define IPC_RANGE 2.7     /* by watts, and by what has nothing to do with them */
#define IPC_BY_WATTS 0.7
#define N_COUNTS 3

struct task {
	uint32_t pid;
	uint32_t group;
	double watts;
	double phase;
	double change_s;
	double burst_s;
	double pause_s;
	uint32_t left; /* of a short life: steps that it runs yet */
	bool is_short;
	bool is_on;
	bool is_over;
	uint64_t cpu_ns;
	uint64_t start_ns;
	uint64_t told_cpu_ns;
	double ipc;
	double counts[N_COUNTS]; /* in the order of the activities */
};

struct world {
	struct world_opts opts;
	uint64_t seed;
	uint64_t step;
	struct task *tasks;
	size_t n_tasks, cap_tasks;
	uint32_t *order;
	size_t cap_order;
	struct world_group *groups;
	double *watts; /* of each program of short lives */
	size_t n_groups;
	uint32_t next_pid;
	double energy_j;
	double steps_j[WORLD_STEPS];
	double seen_j; /* what the counter showed last */
	struct watt_usage *records;
	size_t n_records, cap_records;
	struct watt_cpu_time cpus[WORLD_MAX_CPUS];
	struct watt_usage_batch batch;
	size_t running[WORLD_MAX_CPUS];
	struct watt_activity *readings;
	size_t n_readings, cap_readings;
	struct task *gone; /* that nobody has told the counts of */
	size_t n_gone, cap_gone;
	struct watt_activity_place places[N_COUNTS];
	struct watt_activity_batch counts;
};

uint64_t world_now_ns(const struct world *w)
{
	return WORLD_START_NS + w->step * STEP_NS;
}

static double now_s(const struct world *w)
{
	return (double)w->step * STEP_S;
}

static void tell(struct world *w, const struct task *task, enum watt_usage_kind kind)
{
	struct watt_usage *record;

	must(watt_grow((void **)&w->records, &w->cap_records, w->n_records, sizeof(*w->records)));
	record = &w->records[w->n_records++];
	*record = (struct watt_usage){ .t_ns = world_now_ns(w),
				       .cpu_ns = task->cpu_ns,
				       .start_ns = task->start_ns,
				       .leader_start_ns = task->start_ns,
				       .cgroup_id = 1,
				       .tid = task->pid,
				       .tgid = task->pid,
				       .parent_tgid = 1,
				       .kind = (uint16_t)kind };
	memcpy(record->comm, w->groups[task->group].comm, sizeof(record->comm));
}

static struct task *add_task(struct world *w, uint32_t group)
{
	must(watt_grow((void **)&w->tasks, &w->cap_tasks, w->n_tasks, sizeof(*w->tasks)));
	must(watt_grow((void **)&w->order, &w->cap_order, w->n_tasks, sizeof(*w->order)));
	w->order[w->n_tasks] = (uint32_t)w->n_tasks;
	w->tasks[w->n_tasks] = (struct task){
		.pid = w->next_pid++, .group = group, .phase = 1, .start_ns = world_now_ns(w)
	};
	return &w->tasks[w->n_tasks++];
}

/* Of its own numbers, so that a world is the same with and without. */
static double draw_ipc(const struct world *w, uint32_t program, double watts)
{
	uint64_t drawn = watt_hash_u64(w->opts.seed * 1000003 + program);
	double other = (double)(drawn >> 11) / (double)(1ULL << 53);

	return IPC_LEAST +
	       IPC_RANGE * (IPC_BY_WATTS * (watts - 2) / 10 + (1 - IPC_BY_WATTS) * other);
}

static double draw_watts(struct world *w)
{
	return w->opts.is_equal ? 6 : 2 + 10 * draw_part(&w->seed);
}

static void add_residents(struct world *w)
{
	uint32_t n_programs = w->opts.n_programs ? w->opts.n_programs : w->opts.n_tasks, i;
	double *watts = calloc(n_programs + 1, sizeof(*watts));

	must(watts ? 0 : -ENOMEM);
	for (i = 0; i < n_programs; i++)
		watts[i] = draw_watts(w);
	for (i = 0; i < w->opts.n_tasks; i++) {
		struct task *task = add_task(w, i);

		snprintf(w->groups[i].comm, sizeof(w->groups[i].comm), "run-%u", i % n_programs);
		w->groups[i].pid = task->pid;
		task->watts = watts[i % n_programs];
		task->ipc = draw_ipc(w, i % n_programs, task->watts);
		task->burst_s = 0.05 + 0.1 * draw_part(&w->seed);
		task->pause_s = w->opts.is_rare ? 1 : 0.1;
		if (w->opts.is_slow) {
			task->burst_s *= 20;
			task->pause_s = 2;
		}
		task->is_on = w->opts.never_stops || draw_part(&w->seed) < 0.5;
	}
	free(watts);
}

struct world *world_new(const struct world_opts *opts)
{
	struct world *w = calloc(1, sizeof(*w));
	uint32_t i;

	must(w ? 0 : -ENOMEM);
	w->opts = *opts;
	w->seed = opts->seed;
	w->next_pid = WORLD_FIRST_PID;
	w->n_groups = opts->n_tasks + opts->n_short_programs;
	w->groups = calloc(w->n_groups + 1, sizeof(*w->groups));
	w->watts = calloc(opts->n_short_programs + 1, sizeof(*w->watts));
	must(w->groups && w->watts ? 0 : -ENOMEM);
	add_residents(w);
	for (i = 0; i < opts->n_short_programs; i++) {
		w->watts[i] = draw_watts(w);
		snprintf(w->groups[opts->n_tasks + i].comm, sizeof(w->groups[0].comm), "cc-%u", i);
	}
	return w;
}

void world_free(struct world *w)
{
	if (!w)
		return;
	free(w->tasks);
	free(w->order);
	free(w->groups);
	free(w->watts);
	free(w->records);
	free(w->readings);
	free(w->gone);
	free(w);
}

static void give_birth(struct world *w)
{
	uint32_t n_residents = w->opts.n_tasks, i;

	for (i = 0; i < w->opts.n_short_programs; i++) {
		struct task *task;

		if (draw_part(&w->seed) * SHORT_EVERY_MS >= 1)
			continue;
		task = add_task(w, w->opts.n_tasks + i);
		task->is_short = task->is_on = true;
		task->watts = w->watts[i];
		task->ipc = draw_ipc(w, n_residents + i, task->watts);
		/* many are short, few are long */
		task->left = 2 + (uint32_t)(198 * draw_part(&w->seed) * draw_part(&w->seed) *
					    draw_part(&w->seed));
		tell(w, task, WATT_USAGE_FORK);
	}
}

static void wake(struct world *w, struct task *task)
{
	double length_s;

	if (task->is_short || w->opts.never_stops || task->change_s > now_s(w))
		return;
	task->is_on = !task->is_on;
	length_s = task->is_on ? task->burst_s : task->pause_s;
	task->change_s = now_s(w) + 2 * draw_part(&w->seed) * length_s;
}

static void shuffle(struct world *w)
{
	size_t i, j;
	uint32_t other;

	for (i = w->n_tasks; i > 1; i--) {
		j = (size_t)(draw_part(&w->seed) * (double)i);
		other = w->order[i - 1];
		w->order[i - 1] = w->order[j];
		w->order[j] = other;
	}
}

static void schedule(struct world *w)
{
	size_t i;

	give_birth(w);
	for (i = 0; i < w->n_tasks; i++)
		wake(w, &w->tasks[i]);
	if (w->step % TURN_STEPS == 0)
		shuffle(w);
	if (!w->opts.has_phases || w->step % (uint64_t)(PHASE_S / STEP_S))
		return;
	for (i = 0; i < w->n_tasks; i++)
		w->tasks[i].phase = 1 + PHASE * (2 * draw_part(&w->seed) - 1);
}

static bool has_busy_sibling(const struct world *w, size_t i, size_t n)
{
	size_t n_cores = w->opts.n_cpus / 2;

	return w->opts.has_smt && (i >= n_cores || i + n_cores < n);
}

/* Idle cores first; only then does a task get a busy core's other thread. */
static double factor_of(const struct world *w, size_t i, size_t n)
{
	double factor = 1;

	if (w->opts.has_turbo && n > 1)
		factor = 1 - TURBO * (double)(n - 1) / (w->opts.n_cpus - 1);
	if (has_busy_sibling(w, i, n))
		factor *= SIBLING;
	return factor;
}

static void count(const struct world *w, struct task *task, size_t i, size_t n)
{
	double cycles = CYCLES_PER_NS * STEP_NS;

	if (w->opts.has_turbo && n > 1)
		cycles *= 1 - TURBO_CYCLES * (double)(n - 1) / (w->opts.n_cpus - 1);
	task->counts[0] += cycles;
	task->counts[1] += cycles * task->ipc * (has_busy_sibling(w, i, n) ? SIBLING : 1);
	task->counts[2] += has_busy_sibling(w, i, n) ? (double)STEP_NS : 0;
}

/* Leakage as a triangle, without a sine: the same bits everywhere. */
static double drift_w(const struct world *w)
{
	double at = now_s(w) / DRIFT_S;

	at -= (double)(uint64_t)at;
	return DRIFT_W * (at < 0.5 ? 4 * at - 1 : 3 - 4 * at);
}

static void end(struct world *w, struct task *task)
{
	task->is_over = true;
	task->is_on = false;
	tell(w, task, WATT_USAGE_EXIT);
}

static void run_step(struct world *w)
{
	size_t *running = w->running;
	size_t n = 0, i;
	double power_w = WORLD_IDLE_W + (w->opts.has_drift ? drift_w(w) : 0);

	for (i = 0; i < w->n_tasks && n < w->opts.n_cpus; i++)
		if (w->tasks[w->order[i]].is_on)
			running[n++] = w->order[i];
	w->step++;
	for (i = 0; i < n; i++) {
		struct task *task = &w->tasks[running[i]];
		double own_w = task->watts * task->phase * factor_of(w, i, n) +
			       (w->opts.has_base ? BASE_W / (double)n : 0);

		task->cpu_ns += STEP_NS;
		count(w, task, i, n);
		w->groups[task->group].true_j += own_w * STEP_S;
		power_w += own_w;
		w->cpus[i].user_ns += STEP_NS;
		if (task->is_short && --task->left == 0)
			end(w, task);
	}
	for (; i < w->opts.n_cpus; i++)
		w->cpus[i].idle_ns += STEP_NS;
	w->energy_j += power_w * STEP_S;
	w->steps_j[(w->step - 1) % WORLD_STEPS] = w->energy_j;
	if (w->step % WORLD_STEPS == 0)
		w->seen_j = w->energy_j - draw_part(&w->seed) * STEP_S * power_w;
}

static void tell_counts(struct world *w, const struct task *task, uint64_t t_ns)
{
	uint32_t i;

	for (i = 0; i < N_COUNTS; i++) {
		must(watt_grow((void **)&w->readings, &w->cap_readings, w->n_readings,
			       sizeof(*w->readings)));
		w->readings[w->n_readings++] =
			(struct watt_activity){ .t_ns = t_ns,
						.amount = (uint64_t)task->counts[i],
						.start_ns = task->start_ns,
						.pid = task->pid,
						.place = i };
	}
}

/* Counts are read at a pace of their own. */
static void read_counts(struct world *w)
{
	uint64_t t_ns = world_now_ns(w);
	size_t i;

	w->n_readings = 0;
	for (i = 0; i < w->n_tasks; i++)
		tell_counts(w, &w->tasks[i], t_ns);
	for (i = 0; i < w->n_gone; i++)
		tell_counts(w, &w->gone[i], t_ns);
	w->n_gone = 0;
	for (i = 0; i < N_COUNTS; i++)
		w->places[i] = (struct watt_activity_place){ "cpus-0", t_ns,
							     WATT_ACTIVITY_CYCLES + (uint32_t)i,
							     w->opts.n_cpus };
	w->counts = (struct watt_activity_batch){ w->places, N_COUNTS, w->readings, w->n_readings };
}

const struct watt_activity_batch *world_counts(const struct world *w)
{
	return &w->counts;
}

/* Who is gone is told, and forgotten. */
static void sweep(struct world *w)
{
	size_t i, n = 0;

	for (i = 0; i < w->n_tasks; i++) {
		struct task *task = &w->tasks[i];

		if (!task->is_over && task->cpu_ns != task->told_cpu_ns)
			tell(w, task, WATT_USAGE_TASK);
		task->told_cpu_ns = task->cpu_ns;
		if (!task->is_over) {
			w->tasks[n++] = *task;
			continue;
		}
		tell(w, task, WATT_USAGE_FREE);
		must(watt_grow((void **)&w->gone, &w->cap_gone, w->n_gone, sizeof(*w->gone)));
		w->gone[w->n_gone++] = *task;
	}
	if (n == w->n_tasks)
		return;
	w->n_tasks = n;
	for (i = 0; i < n; i++)
		w->order[i] = (uint32_t)i;
	shuffle(w);
}

const struct watt_usage_batch *world_run(struct world *w)
{
	uint32_t i;

	w->n_records = 0;
	for (i = 0; i < WORLD_STEPS; i++) {
		schedule(w);
		run_step(w);
		if (i == 0)
			read_counts(w);
	}
	sweep(w);
	for (i = 0; i < w->opts.n_cpus; i++)
		w->cpus[i].online = 1;
	w->batch = (struct watt_usage_batch){ .t_before_ns = world_now_ns(w),
					      .t_after_ns = world_now_ns(w),
					      .records = w->records,
					      .n_records = w->n_records,
					      .cpus = w->cpus,
					      .n_cpus = w->opts.n_cpus,
					      .flags = WATT_BATCH_DEATHS | WATT_BATCH_IRQ_SEPARATE |
						       WATT_BATCH_CPU_NS };
	return &w->batch;
}

int64_t world_read(const struct world *w)
{
	return (int64_t)(w->seen_j * 1e9 / WORLD_LSB_NJ);
}

size_t world_group_count(const struct world *w)
{
	return w->n_groups;
}

const struct world_group *world_group(const struct world *w, size_t i)
{
	return &w->groups[i];
}

size_t world_task_count(const struct world *w)
{
	return w->n_tasks;
}

void world_task(const struct world *w, size_t i, uint32_t *ret_pid, uint32_t *ret_group,
		uint64_t *ret_cpu_ns)
{
	*ret_pid = w->tasks[i].pid;
	*ret_group = w->tasks[i].group;
	*ret_cpu_ns = w->tasks[i].cpu_ns;
}

double world_energy_j(const struct world *w)
{
	return w->energy_j;
}

double world_step_j(const struct world *w, uint32_t step)
{
	return w->steps_j[step];
}
