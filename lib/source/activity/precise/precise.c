/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Precise mode: what each process does on the CPUs beside taking their time, counted at context
 * switches. Counts are of tasks in the kernel and of processes here. It must not divide anything.
 */
#include "source/activity/precise/precise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/htab.h"
#include "base/util.h"
#include "source/host/pidns.h"
#include "source/host/procdir.h"
#include "source/registry.h"

/* Who was away for so many readings gives its place in the kernel up; a part of all is looked at
 * in each. */
#define AWAY_READS 200
#define PARTS 64
/* Processes that are looked for in each reading: those that are gone are forgotten. */
#define LOOKED_FOR 16
#define TICK_NS (20 * WATT_NSEC_PER_MSEC)

/* What user space knows of a place in the kernel. */
struct seen {
	uint64_t tag;
	uint64_t counts[WATT_PRECISE_N];
	uint64_t read; /* the reading in which it had changed */
};

struct process {
	struct watt_hnode node; /* by pid and slot */
	uint32_t pid;
	uint32_t slot;
	uint64_t start_ns;
	uint64_t counts[WATT_PRECISE_N];
	uint64_t read; /* the reading in which it had done something */
};

struct precise {
	struct watt_activity_source base;
	struct watt_precise_object object;
	const struct watt_env *env;
	const struct watt_cpu_map *map;
	struct seen *seen; /* per place */
	struct watt_htab by_pid;
	struct process **processes;
	size_t n, cap, next;
	uint64_t n_reads, told_lost;
	char (*paths)[WATT_CPUS_PATH]; /* of slots */
	struct watt_activity_place *places;
	size_t n_places;
	uint32_t kinds[WATT_PRECISE_N]; /* those that are counted, as places of a slot are ordered */
	uint32_t n_kinds;
	struct watt_activity *readings;
	size_t n_readings, cap_readings;
};

/* ---- probe ---- */

static void add_word(struct watt_diag *diag, const char *word)
{
	size_t used = strlen(diag->why);

	snprintf(diag->why + used, sizeof(diag->why) - used, "%s", word);
}

/* What is counted, and what is missing and why: nothing is ever counted as none. */
static void tell_abilities(const struct watt_precise_abilities *abilities, struct watt_diag *diag)
{
	static const char *const cycles[] = {
		[WATT_PRECISE_NO_CYCLES] = "no cycles",
		[WATT_PRECISE_BY_PMU] = "cycles",
		[WATT_PRECISE_BY_APERF] = "cycles by APERF",
		[WATT_PRECISE_BY_FREQUENCY] = "cycles by the frequency of CPUs",
	};

	add_word(diag, "at each context switch, when asked for (--precise): ");
	add_word(diag, cycles[abilities->cycles]);
	add_word(diag, abilities->has_instructions ? ", instructions" : ", no instructions");
	if (!abilities->cycles || !abilities->has_instructions)
		add_word(diag, abilities->cycles_error == -EACCES ?
				       " (counters are forbidden)" :
				       " (no performance counters here)");
	add_word(diag, abilities->has_siblings ? ", time beside a busy sibling" : ", no siblings");
	add_word(diag, ", time in interrupts where the kernel doesn't keep it apart");
}

static int probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_precise_abilities abilities;
	int r = watt_activity_bpf.probe(env, diag);

	if (r < 0)
		return r;
	*diag->why = '\0';
	if (!watt_pidns_is_first(&env->procfs)) {
		diag->state = WATT_ABSENT;
		diag->error = -EXDEV;
		add_word(diag, "tasks are counted by the host's numbers, and procfs is of another "
			       "pid namespace");
		snprintf(diag->hint, sizeof(diag->hint),
			 "share the host's pid namespace (--pid=host)");
		return -EXDEV;
	}
	watt_precise_find_abilities(env, &abilities);
	tell_abilities(&abilities, diag);
	return 0;
}

/* ---- open, close ---- */

static void source_close(struct watt_activity_source *base)
{
	struct precise *src;
	size_t i;

	if (!base)
		return;
	src = watt_container_of(base, struct precise, base);
	watt_precise_object_close(&src->object);
	for (i = 0; i < src->n; i++)
		free(src->processes[i]);
	free(src->processes);
	watt_htab_done(&src->by_pid);
	free(src->seen);
	free(src->paths);
	free(src->places);
	free(src->readings);
	free(src);
}

static void list_kinds(struct precise *src)
{
	const struct watt_precise_abilities *abilities = &src->object.abilities;

	if (abilities->cycles)
		src->kinds[src->n_kinds++] = WATT_PRECISE_CYCLES;
	if (abilities->has_instructions)
		src->kinds[src->n_kinds++] = WATT_PRECISE_INSTRUCTIONS;
	if (abilities->has_siblings)
		src->kinds[src->n_kinds++] = WATT_PRECISE_SHARED_NS;
	if (abilities->has_irq)
		src->kinds[src->n_kinds++] = WATT_PRECISE_IRQ_NS;
}

/* Places are those of slots, the one behind all of CPUs that are in none, by kinds. */
static int make_places(struct precise *src)
{
	uint32_t slot, n_slots = src->map->n_slots + 1;

	list_kinds(src);
	src->paths = calloc(n_slots, sizeof(*src->paths));
	src->places = calloc((size_t)n_slots * WATT_PRECISE_N, sizeof(*src->places));
	src->seen = calloc((size_t)src->object.n_sets * WATT_PRECISE_WAYS, sizeof(*src->seen));
	if (!src->paths || !src->places || !src->seen)
		return -ENOMEM;
	src->n_places = (size_t)n_slots * src->n_kinds;
	for (slot = 0; slot < n_slots; slot++)
		watt_activity_cpus_path(slot, src->paths[slot]);
	return watt_htab_init(&src->by_pid);
}

static void tell_log(const struct precise *src)
{
	struct watt_diag diag = { 0 };

	tell_abilities(&src->object.abilities, &diag);
	watt_log(&src->env->log,
		 src->object.abilities.cycles && src->object.abilities.has_instructions ?
			 WATT_LOG_INFO :
			 WATT_LOG_WARNING,
		 "precise: %s", diag.why);
}

int watt_precise_open_as(const struct watt_env *env, const struct watt_cpu_map *map,
			 const struct watt_precise_opts *opts, struct watt_activity_source **ret)
{
	struct precise *src;
	int r;

	if (!env->procfs.is_kernel || !map)
		return -ENODEV;
	if (!watt_pidns_is_first(&env->procfs))
		return -EXDEV;
	src = calloc(1, sizeof(*src));
	if (!src)
		return -ENOMEM;
	src->base.ops = &watt_activity_precise;
	src->env = env;
	src->map = map;
	r = watt_precise_object_open(&src->object, env, map, opts);
	if (r == 0)
		r = make_places(src);
	if (r < 0) {
		source_close(&src->base);
		return r;
	}
	tell_log(src);
	*ret = &src->base;
	return 0;
}

static int source_open(const struct watt_env *env, const struct watt_cpu_map *map,
		       struct watt_activity_source **ret)
{
	return watt_precise_open_as(env, map, NULL, ret);
}

/* ---- what tasks did, by process ---- */

static uint64_t hash_of(uint32_t pid, uint32_t slot)
{
	return watt_hash_u64(pid | (uint64_t)slot << 32);
}

static struct process *find_process(struct precise *src, uint32_t pid, uint64_t start_ns,
				    uint32_t slot)
{
	struct watt_hnode *node = watt_htab_first(&src->by_pid, hash_of(pid, slot));
	struct process *process;

	for (; node; node = watt_htab_next(node)) {
		process = watt_container_of(node, struct process, node);
		if (process->pid == pid && process->slot == slot && process->start_ns == start_ns)
			return process;
	}
	if (watt_grow((void **)&src->processes, &src->cap, src->n, sizeof(process)) < 0)
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->slot = slot;
	process->start_ns = start_ns;
	src->processes[src->n++] = process;
	watt_htab_insert(&src->by_pid, &process->node, hash_of(pid, slot));
	return process;
}

/* What has come to a place of the kernel since it was read last. It may change meanwhile. */
static int take_place(struct precise *src, const struct watt_precise_task *task, struct seen *seen)
{
	uint64_t tag = __atomic_load_n(&task->tag, __ATOMIC_ACQUIRE);
	struct process *process;
	size_t i;

	if (tag == WATT_PRECISE_FREE || tag == WATT_PRECISE_BEING_MADE)
		return 0;
	if (seen->tag != tag)
		*seen = (struct seen){ .tag = tag };
	process = find_process(src, task->tgid, task->leader_start_ns, task->slot);
	if (!process)
		return -ENOMEM;
	for (i = 0; i < WATT_PRECISE_N; i++) {
		uint64_t count = __atomic_load_n(&task->counts[i], __ATOMIC_RELAXED);

		if (count == seen->counts[i])
			continue;
		process->counts[i] += count - seen->counts[i];
		process->read = src->n_reads;
		seen->counts[i] = count;
		seen->read = src->n_reads;
	}
	return 0;
}

static int take_set(struct precise *src, size_t set)
{
	size_t way;
	int r = 0;

	for (way = 0; way < WATT_PRECISE_WAYS && r == 0; way++)
		r = take_place(src, &src->object.tasks[set].ways[way],
			       &src->seen[set * WATT_PRECISE_WAYS + way]);
	return r;
}

static int take_changes(struct precise *src)
{
	const struct watt_precise_object *object = &src->object;
	size_t n = (size_t)object->n_cpus * object->n_words, at;
	int r = 0;

	for (at = 0; at < n && r == 0; at++) {
		uint64_t bits;

		if (!__atomic_load_n(&object->changed[at], __ATOMIC_RELAXED))
			continue;
		bits = __atomic_exchange_n(&object->changed[at], 0, __ATOMIC_ACQ_REL);
		for (; bits && r == 0; bits &= bits - 1)
			r = take_set(src,
				     at % object->n_words * 64 + (size_t)__builtin_ctzll(bits));
	}
	return r;
}

/* ---- who is gone ---- */

static void free_places(struct precise *src)
{
	size_t n = (size_t)src->object.n_sets * WATT_PRECISE_WAYS, part = n / PARTS, i;
	size_t first = src->n_reads % PARTS * part;

	for (i = first; i < first + part; i++) {
		struct watt_precise_task *task =
			&src->object.tasks[i / WATT_PRECISE_WAYS].ways[i % WATT_PRECISE_WAYS];
		__u64 tag = src->seen[i].tag; /* as BPF has it */

		/* who comes back begins at 0 */
		if (tag && src->n_reads - src->seen[i].read > AWAY_READS &&
		    __atomic_compare_exchange_n(&task->tag, &tag, WATT_PRECISE_FREE, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			src->seen[i] = (struct seen){ 0 };
	}
}

/* procfs tells when it began in ticks. */
static bool is_there(const struct precise *src, const struct process *process)
{
	uint64_t start_ns = watt_procdir_start_ns(&src->env->procfs, process->pid);

	return start_ns && process->start_ns < start_ns + TICK_NS &&
	       start_ns < process->start_ns + TICK_NS;
}

static void forget_process(struct precise *src, size_t i)
{
	watt_htab_remove(&src->by_pid, &src->processes[i]->node);
	free(src->processes[i]);
	src->processes[i] = src->processes[--src->n];
}

/* Behind what was told of the last that it did. */
static void forget_processes(struct precise *src)
{
	size_t i;

	for (i = 0; i < LOOKED_FOR && src->n > 0; i++) {
		const struct process *process;

		src->next = src->next ? src->next - 1 : src->n - 1;
		if (src->next >= src->n)
			continue;
		process = src->processes[src->next];
		if (src->n_reads - process->read > AWAY_READS && !is_there(src, process))
			forget_process(src, src->next);
	}
}

/* ---- read ---- */

static int tell_process(struct precise *src, const struct process *process, uint64_t t_ns)
{
	uint32_t i;

	for (i = 0; i < src->n_kinds; i++) {
		int r = watt_grow((void **)&src->readings, &src->cap_readings, src->n_readings,
				  sizeof(*src->readings));

		if (r < 0)
			return r;
		src->readings[src->n_readings++] = (struct watt_activity){
			.t_ns = t_ns,
			.amount = process->counts[src->kinds[i]],
			.start_ns = process->start_ns,
			.pid = process->pid,
			.place = process->slot * src->n_kinds + i,
		};
	}
	return 0;
}

static void tell_places(struct precise *src, uint64_t t_ns)
{
	uint32_t slot, i, cpu, n_units;

	for (slot = 0; slot <= src->map->n_slots; slot++) {
		for (cpu = 0, n_units = 0; cpu < src->object.n_cpus; cpu++)
			n_units += src->object.cpus[cpu].slot == slot;
		for (i = 0; i < src->n_kinds; i++)
			src->places[slot * src->n_kinds + i] = (struct watt_activity_place){
				.path = src->paths[slot],
				.complete_ns = t_ns,
				.kind = WATT_ACTIVITY_CYCLES + src->kinds[i],
				.n_units = n_units ? n_units : 1,
			};
	}
}

static void tell_lost(struct precise *src)
{
	uint64_t lost = watt_precise_object_lost(&src->object);

	if (lost > src->told_lost && !src->told_lost)
		watt_log(&src->env->log, WATT_LOG_WARNING,
			 "precise: more tasks run than there are places for; what some of them do "
			 "is counted for nobody");
	src->told_lost = lost;
}

static int source_read(struct watt_activity_source *base, struct watt_activity_batch *ret)
{
	struct precise *src = watt_container_of(base, struct precise, base);
	uint64_t t_ns;
	size_t i;
	int r;

	src->n_reads++;
	watt_precise_object_look(&src->object, src->env, src->map);
	t_ns = watt_now_ns();
	r = take_changes(src);
	src->n_readings = 0;
	for (i = 0; i < src->n && r == 0; i++)
		if (src->processes[i]->read == src->n_reads)
			r = tell_process(src, src->processes[i], t_ns);
	if (r < 0)
		return r;
	tell_places(src, t_ns);
	tell_lost(src);
	free_places(src);
	forget_processes(src);
	*ret = (struct watt_activity_batch){ src->places, src->n_places, src->readings,
					     src->n_readings };
	return 0;
}

const struct watt_activity_ops watt_activity_precise = {
	.name = "precise",
	.summary = "cycles and more, counted at context switches",
	.flags = WATT_ACTIVITY_ASKED,
	.probe = probe,
	.open = source_open,
	.read = source_read,
	.close = source_close,
};
