/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens counters on each CPU and loads the programs that read them; what this machine does not
 * have is left out. It must not know who a task is.
 */
#include "source/activity/precise/precise_object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <precise.skel.h>

#include "base/parse.h"
#include "base/util.h"
#include "source/host/bpf_log.h"

/* Places for 32,768 tasks that ran of late. */
#define SETS 8192u
#define MSR_PMU "bus/event_source/devices/msr/"
#define CPU_DIR "devices/system/cpu/cpu"

/* ---- counters ---- */

static int open_event(const struct watt_precise_event *event, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = event->type, .config = event->config, .pinned = 1
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* On each CPU that is online. 0, or why the first one has none. */
static int open_events(struct watt_precise_object *object, int which,
		       const struct watt_precise_event *event)
{
	int *fds = object->fds[which], r = -ENODEV;
	uint32_t cpu;

	for (cpu = 0; cpu < object->n_cpus; cpu++) {
		fds[cpu] = open_event(event, cpu);
		if (fds[cpu] >= 0)
			r = 0;
		else if (r == -ENODEV)
			r = fds[cpu];
	}
	return r;
}

static const struct watt_precise_event hardware_cycles = { PERF_TYPE_HARDWARE,
							   PERF_COUNT_HW_CPU_CYCLES };
static const struct watt_precise_event hardware_instructions = { PERF_TYPE_HARDWARE,
								 PERF_COUNT_HW_INSTRUCTIONS };

/* APERF counts the cycles of a CPU that does not sleep; the kernel shows it as an event. */
static bool find_aperf(const struct watt_env *env, struct watt_precise_event *ret)
{
	static const char name[] = "event=";
	uint64_t type, config;
	char text[64];

	if (!env->sysfs.is_kernel || watt_root_read_u64(&env->sysfs, MSR_PMU "type", &type) < 0 ||
	    watt_root_read(&env->sysfs, MSR_PMU "events/aperf", text, sizeof(text)) <= 0 ||
	    strncmp(text, name, strlen(name)) != 0 ||
	    watt_parse_hex(text + strlen(name), &config) < 0)
		return false;
	*ret = (struct watt_precise_event){ (uint32_t)type, config };
	return true;
}

static bool read_freq_khz(const struct watt_env *env, uint32_t cpu, uint32_t *ret)
{
	char path[96];
	uint64_t khz;

	snprintf(path, sizeof(path), CPU_DIR "%u/cpufreq/scaling_cur_freq", cpu);
	if (watt_root_read_u64(&env->sysfs, path, &khz) < 0 || !khz || khz > 100000000)
		return false;
	*ret = (uint32_t)khz;
	return true;
}

/* ---- siblings ---- */

struct next {
	uint32_t cpu, first, found;
	bool has_any, has_next;
};

static int take_sibling(unsigned int cpu, void *data)
{
	struct next *next = data;

	if (cpu != next->cpu && !next->has_any) {
		next->first = cpu;
		next->has_any = true;
	}
	if (cpu > next->cpu && !next->has_next) {
		next->found = cpu;
		next->has_next = true;
	}
	return 0;
}

/* The next CPU of its core, behind the last one the first; plus 1. 0: it has the core for itself. */
static uint32_t find_sibling(const struct watt_env *env, uint32_t cpu)
{
	struct next next = { .cpu = cpu };
	char path[96], text[256];

	snprintf(path, sizeof(path), CPU_DIR "%u/topology/thread_siblings_list", cpu);
	if (watt_root_read(&env->sysfs, path, text, sizeof(text)) <= 0 ||
	    watt_parse_cpulist(text, take_sibling, &next) < 0 || !next.has_any)
		return 0;
	return 1 + (next.has_next ? next.found : next.first);
}

static int count_cpu(unsigned int cpu, void *data)
{
	*(uint32_t *)data = cpu + 1;
	return 0;
}

/* ---- what there is ---- */

static int try_event(const struct watt_precise_event *event)
{
	int fd = open_event(event, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

void watt_precise_find_abilities(const struct watt_env *env, struct watt_precise_abilities *ret)
{
	struct watt_precise_event aperf;
	uint32_t n_cpus = 1, cpu, khz;
	char text[256];

	*ret = (struct watt_precise_abilities){ 0 };
	if (watt_root_read(&env->sysfs, "devices/system/cpu/possible", text, sizeof(text)) > 0)
		(void)watt_parse_cpulist(text, count_cpu, &n_cpus);
	for (cpu = 0; cpu < n_cpus; cpu++)
		ret->has_siblings |= find_sibling(env, cpu) > 0;
	ret->cycles_error = try_event(&hardware_cycles);
	ret->instructions_error = try_event(&hardware_instructions);
	ret->has_instructions = ret->instructions_error == 0;
	if (ret->cycles_error == 0)
		ret->cycles = WATT_PRECISE_BY_PMU;
	else if (find_aperf(env, &aperf) && try_event(&aperf) == 0)
		ret->cycles = WATT_PRECISE_BY_APERF;
	else if (read_freq_khz(env, 0, &khz))
		ret->cycles = WATT_PRECISE_BY_FREQUENCY;
}

static int make_fds(struct watt_precise_object *object)
{
	uint32_t i, cpu;

	for (i = 0; i < 2; i++) {
		object->fds[i] = calloc(object->n_cpus, sizeof(int));
		if (!object->fds[i])
			return -ENOMEM;
		for (cpu = 0; cpu < object->n_cpus; cpu++)
			object->fds[i][cpu] = -1;
	}
	return 0;
}

static void open_cycles(struct watt_precise_object *object, const struct watt_env *env,
			const struct watt_precise_opts *opts)
{
	struct watt_precise_abilities *abilities = &object->abilities;
	struct watt_precise_event aperf;
	uint32_t khz;

	abilities->cycles_error =
		open_events(object, 0, opts->cycles ? opts->cycles : &hardware_cycles);
	if (abilities->cycles_error == 0)
		abilities->cycles = WATT_PRECISE_BY_PMU;
	else if (find_aperf(env, &aperf) && open_events(object, 0, &aperf) == 0)
		abilities->cycles = WATT_PRECISE_BY_APERF;
	else if (read_freq_khz(env, 0, &khz))
		abilities->cycles = WATT_PRECISE_BY_FREQUENCY;
}

static void open_counters(struct watt_precise_object *object, const struct watt_env *env,
			  const struct watt_precise_opts *opts)
{
	struct watt_precise_abilities *abilities = &object->abilities;
	uint32_t cpu;

	if (opts->is_bare)
		return;
	open_cycles(object, env, opts);
	abilities->instructions_error = open_events(
		object, 1, opts->instructions ? opts->instructions : &hardware_instructions);
	abilities->has_instructions = abilities->instructions_error == 0;
	abilities->has_siblings = opts->is_paired && object->n_cpus > 1;
	for (cpu = 0; cpu < object->n_cpus; cpu++)
		abilities->has_siblings |= find_sibling(env, cpu) > 0;
}

/* ---- load ---- */

static bool is_by_counter(const struct watt_precise_object *object)
{
	return object->abilities.cycles == WATT_PRECISE_BY_PMU ||
	       object->abilities.cycles == WATT_PRECISE_BY_APERF;
}

static void set_sizes(struct watt_precise_object *object, const struct watt_precise_opts *opts)
{
	struct watt_precise_bpf *skel = object->skel;

	skel->rodata->set_mask = object->n_sets - 1;
	skel->rodata->is_bare = opts->is_bare;
	skel->rodata->has_cycles = is_by_counter(object);
	skel->rodata->has_instructions = object->abilities.has_instructions;
	skel->rodata->has_siblings = object->abilities.has_siblings;
	skel->rodata->has_frequency = object->abilities.cycles == WATT_PRECISE_BY_FREQUENCY;
	bpf_map__set_max_entries(skel->maps.tasks, object->n_sets);
	bpf_map__set_max_entries(skel->maps.cpus, object->n_cpus);
	bpf_map__set_max_entries(skel->maps.changed, object->n_cpus * object->n_words);
	bpf_map__set_max_entries(skel->maps.cycles, object->n_cpus);
	bpf_map__set_max_entries(skel->maps.instructions, object->n_cpus);
	bpf_program__set_autoattach(skel->progs.look_now, false);
}

static int map_of(const struct bpf_map *map, size_t size, void **ret, size_t *ret_size)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);

	size = (size + page_size - 1) / page_size * page_size;
	*ret = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (*ret == MAP_FAILED) {
		*ret = NULL;
		return -errno;
	}
	*ret_size = size;
	return 0;
}

static int map_all(struct watt_precise_object *object)
{
	struct watt_precise_bpf *skel = object->skel;
	int r;

	r = map_of(skel->maps.tasks, object->n_sets * sizeof(*object->tasks),
		   (void **)&object->tasks, &object->tasks_size);
	if (r == 0)
		r = map_of(skel->maps.cpus, object->n_cpus * sizeof(*object->cpus),
			   (void **)&object->cpus, &object->cpus_size);
	if (r == 0)
		r = map_of(skel->maps.changed,
			   (size_t)object->n_cpus * object->n_words * sizeof(*object->changed),
			   (void **)&object->changed, &object->changed_size);
	return r;
}

static int hand_over(const struct watt_precise_object *object, int which, const struct bpf_map *map)
{
	uint32_t cpu;

	for (cpu = 0; cpu < object->n_cpus; cpu++)
		if (object->fds[which][cpu] >= 0 &&
		    bpf_map_update_elem(bpf_map__fd(map), &cpu, &object->fds[which][cpu], BPF_ANY) <
			    0)
			return -errno;
	return 0;
}

static uint32_t slot_of(const struct watt_cpu_map *map, uint32_t cpu)
{
	uint32_t slot = __atomic_load_n(&map->slot[cpu], __ATOMIC_RELAXED);

	return slot == WATT_SLOT_NONE ? map->n_slots : slot;
}

static void set_cpus(struct watt_precise_object *object, const struct watt_env *env,
		     const struct watt_cpu_map *map, const struct watt_precise_opts *opts)
{
	uint32_t cpu;

	for (cpu = 0; cpu < object->n_cpus; cpu++) {
		object->cpus[cpu].slot = slot_of(map, cpu);
		object->cpus[cpu].first_word = cpu * object->n_words;
		object->cpus[cpu].sibling = find_sibling(env, cpu);
		if (opts->is_paired)
			object->cpus[cpu].sibling = (cpu ^ 1) < object->n_cpus ? (cpu ^ 1) + 1 : 0;
	}
}

/* On one CPU, by the function that is called there. -ENXIO: it is offline. */
static int look(const struct watt_precise_object *object, uint32_t cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	opts.flags = BPF_F_TEST_RUN_ON_CPU;
	opts.cpu = cpu;
	return bpf_prog_test_run_opts(bpf_program__fd(object->skel->progs.look_now), &opts);
}

/* Interrupts are looked at where the kernel does not do so itself. */
static int attach(struct watt_precise_object *object, const struct watt_precise_opts *opts)
{
	struct watt_precise_bpf *skel = object->skel;
	int r = look(object, 0);

	if (r < 0)
		return r;
	object->abilities.has_irq = !skel->bss->is_irq_separate && !opts->is_bare;
	if (!object->abilities.has_irq) {
		bpf_program__set_autoattach(skel->progs.on_irq_entry, false);
		bpf_program__set_autoattach(skel->progs.on_irq_exit, false);
		bpf_program__set_autoattach(skel->progs.on_softirq_entry, false);
		bpf_program__set_autoattach(skel->progs.on_softirq_exit, false);
	}
	if (!opts->is_bare && !object->abilities.has_irq && !object->abilities.has_siblings &&
	    !object->abilities.cycles && !object->abilities.has_instructions)
		return -EOPNOTSUPP;
	return watt_precise_bpf__attach(skel);
}

static int load(struct watt_precise_object *object, const struct watt_env *env,
		const struct watt_cpu_map *map, const struct watt_precise_opts *opts)
{
	int r;

	errno = 0;
	object->skel = watt_precise_bpf__open();
	if (!object->skel)
		return errno ? -errno : -ENOMEM;
	set_sizes(object, opts);
	r = watt_precise_bpf__load(object->skel);
	if (r == 0)
		r = map_all(object);
	if (r == 0 && is_by_counter(object))
		r = hand_over(object, 0, object->skel->maps.cycles);
	if (r == 0 && object->abilities.has_instructions)
		r = hand_over(object, 1, object->skel->maps.instructions);
	if (r < 0)
		return r;
	set_cpus(object, env, map, opts);
	r = attach(object, opts);
	if (r == 0)
		watt_precise_object_look(object, env, map);
	return r;
}

int watt_precise_object_open(struct watt_precise_object *object, const struct watt_env *env,
			     const struct watt_cpu_map *map, const struct watt_precise_opts *opts)
{
	static const struct watt_precise_opts usual;
	int r;

	opts = opts ? opts : &usual;
	*object = (struct watt_precise_object){ .n_cpus = map->n_cpus };
	object->n_sets = opts->n_sets ? opts->n_sets : SETS;
	object->n_words = (object->n_sets + 63) / 64;
	r = map->n_cpus ? make_fds(object) : -ENODEV;
	if (r < 0)
		return r;
	open_counters(object, env, opts);
	watt_bpf_log_begin(&env->log);
	r = load(object, env, map, opts);
	watt_bpf_log_end();
	if (r < 0)
		watt_precise_object_close(object);
	return r;
}

static void close_fds(struct watt_precise_object *object, int which)
{
	uint32_t cpu;

	for (cpu = 0; object->fds[which] && cpu < object->n_cpus; cpu++)
		if (object->fds[which][cpu] >= 0)
			close(object->fds[which][cpu]);
	free(object->fds[which]);
}

void watt_precise_object_close(struct watt_precise_object *object)
{
	if (object->tasks)
		munmap(object->tasks, object->tasks_size);
	if (object->cpus)
		munmap(object->cpus, object->cpus_size);
	if (object->changed)
		munmap(object->changed, object->changed_size);
	watt_precise_bpf__destroy(object->skel);
	close_fds(object, 0);
	close_fds(object, 1);
	*object = (struct watt_precise_object){ 0 };
}

void watt_precise_object_look(struct watt_precise_object *object, const struct watt_env *env,
			      const struct watt_cpu_map *map)
{
	uint32_t cpu;

	for (cpu = 0; cpu < object->n_cpus; cpu++) {
		uint32_t khz;

		/* what it has done until now was done at the old frequency, in the old slot */
		(void)look(object, cpu);
		object->cpus[cpu].slot = slot_of(map, cpu);
		if (object->abilities.cycles == WATT_PRECISE_BY_FREQUENCY &&
		    read_freq_khz(env, cpu, &khz))
			object->cpus[cpu].freq_khz = khz;
	}
}

uint64_t watt_precise_object_lost(const struct watt_precise_object *object)
{
	uint64_t lost = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < object->n_cpus; cpu++)
		lost += object->cpus[cpu].lost_looks;
	return lost;
}
