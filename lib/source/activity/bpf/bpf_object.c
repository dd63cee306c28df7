/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the BPF object with all it has; what this kernel refuses is found by loading each program
 * alone, and left out with a line in the log. It must not read a record.
 */
#include "source/activity/bpf/bpf_object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <usage.skel.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/util.h"
#include "source/host/cgroup_v1.h"
#include "source/host/pidns.h"
#include "source/host/bpf_log.h"

_Static_assert(sizeof(struct watt_bpf_record) == sizeof(struct watt_usage), "same record");

/* Room for the events of each CPU between two sweeps, and the bounds of the whole. */
#define RING_PER_CPU (512u << 10)
#define RING_LEAST (2u << 20)
#define RING_MOST (32u << 20)

/* Tasks for which there are places to be remembered in, at least and at most. */
#define SEEN_LEAST (8u << 10)
#define SEEN_MOST (256u << 10)

/* A pass that makes no way is followed by one that does: this is far beyond all that happens. */
#define PASSES_MOST 10000u

/* Records that can be written before user space has to take them. */
#define RECORDS (8u << 10)
/* After so long, and so many tasks, a pass over the tasks ends; the next one goes on from there. */
#define PASS_NS (500 * WATT_NSEC_PER_USEC)
#define PASS_TASKS (4u << 10)
/* Migrations of one CPU that wait to be read. */
#define MOVES 512u
#define MOVES_LEAST 32u
#define MOVES_READY_BYTES (1u << 20) /* for all, while there is only one package */
/* Dying tasks that are kept until they are counted. */
#define DYING 1024u

static bool keeps_dying(enum watt_bpf_mode mode)
{
	return mode == WATT_BPF_MODE_CALL || mode == WATT_BPF_MODE_ITER;
}

static struct bpf_program *hook_program(struct watt_usage_bpf *skel, enum watt_bpf_mode mode,
					uint32_t hook)
{
	switch (hook) {
	case WATT_BPF_HOOK_FORK:
		return skel->progs.on_fork;
	case WATT_BPF_HOOK_EXEC:
		return skel->progs.on_exec;
	case WATT_BPF_HOOK_EXIT:
		return keeps_dying(mode) ? skel->progs.on_exit_keep : skel->progs.on_exit;
	case WATT_BPF_HOOK_FREE:
		return skel->progs.on_free;
	case WATT_BPF_HOOK_CGROUP:
		return skel->progs.on_cgroup;
	default:
		return skel->progs.on_migrate;
	}
}

static struct bpf_link **hook_link(struct watt_usage_bpf *skel, enum watt_bpf_mode mode,
				   uint32_t hook)
{
	switch (hook) {
	case WATT_BPF_HOOK_FORK:
		return &skel->links.on_fork;
	case WATT_BPF_HOOK_EXEC:
		return &skel->links.on_exec;
	case WATT_BPF_HOOK_EXIT:
		return mode == WATT_BPF_MODE_CALL ? &skel->links.on_exit_keep :
						    &skel->links.on_exit;
	case WATT_BPF_HOOK_FREE:
		return &skel->links.on_free;
	case WATT_BPF_HOOK_CGROUP:
		return &skel->links.on_cgroup;
	default:
		return &skel->links.on_migrate;
	}
}

/* The v1 hierarchy that tells most apart. */
static enum watt_bpf_v1 choose_v1(const struct watt_env *env)
{
	static const char *const names[] = {
		[WATT_BPF_V1_CPUACCT] = "cpuacct", [WATT_BPF_V1_MEMORY] = "memory",
		[WATT_BPF_V1_PIDS] = "pids",       [WATT_BPF_V1_FREEZER] = "freezer",
		[WATT_BPF_V1_CPUSET] = "cpuset",   [WATT_BPF_V1_DEVICES] = "devices",
	};
	const char *name = watt_cgroup_v1_choose(&env->procfs, &env->sysfs);

	for (size_t i = 1; name && i < WATT_ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return (enum watt_bpf_v1)i;
	return WATT_BPF_V1_NONE;
}

/* How old the counter of a running task can be: a tick, or where CPUs run without, a second. */
static uint64_t counter_age_ns(const struct watt_env *env)
{
	char text[256];
	struct timespec tick;
	int len;

	len = watt_root_read(&env->sysfs, "devices/system/cpu/nohz_full", text, sizeof(text));
	if (len > 0 && strcmp(text, "(null)") != 0)
		return 2 * WATT_NSEC_PER_SEC;
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0)
		return 10 * WATT_NSEC_PER_MSEC;
	return watt_timespec_to_ns(&tick);
}

static uint32_t ring_bytes(uint32_t n_cpus)
{
	uint32_t bytes = RING_LEAST;

	while (bytes < RING_MOST && bytes < (uint64_t)n_cpus * RING_PER_CPU)
		bytes *= 2;
	return bytes;
}

/*
 * Two places for each task that there can be, in sets of four: of 100,000 tasks, one in 200 finds
 * its set full.
 */
static uint32_t n_seen(const struct watt_env *env)
{
	uint64_t n_tasks = SEEN_MOST;
	uint32_t n = SEEN_LEAST;
	char text[32];

	if (watt_root_read(&env->procfs, "sys/kernel/threads-max", text, sizeof(text)) > 0)
		n_tasks = strtoull(text, NULL, 10);
	while (n < SEEN_MOST && n < 2 * n_tasks)
		n *= 2;
	return n / WATT_BPF_SEEN_WAYS;
}

/* Where nothing may ever come of it, less memory is kept. */
static uint32_t n_moves(uint32_t n_cpus, bool is_whole)
{
	uint32_t n = MOVES;

	while (is_whole && n > MOVES_LEAST &&
	       (uint64_t)n * n_cpus * sizeof(struct watt_usage) > MOVES_READY_BYTES)
		n /= 2;
	return n;
}

/* Those that are given, and the best of the others. */
static void choose_sizes(struct watt_bpf_object *object, const struct watt_env *env,
			 const struct watt_cpu_map *map, const struct watt_bpf_sizes *given)
{
	struct watt_bpf_sizes *sizes = &object->sizes;

	if (given)
		*sizes = *given;
	if (!sizes->n_records)
		sizes->n_records = RECORDS;
	if (!sizes->n_seen)
		sizes->n_seen = n_seen(env);
	if (!sizes->n_moves)
		sizes->n_moves = n_moves(object->n_cpus, map->is_whole);
	if (!sizes->n_dying)
		sizes->n_dying = DYING;
	if (!sizes->ring_bytes)
		sizes->ring_bytes = ring_bytes(object->n_cpus);
	if (!sizes->pass_tasks)
		sizes->pass_tasks = PASS_TASKS;
	if (!sizes->pass_ns)
		sizes->pass_ns = PASS_NS;
}

static void set_sizes(struct watt_usage_bpf *skel, const struct watt_bpf_object *object,
		      enum watt_bpf_mode mode, uint32_t hooks)
{
	const struct watt_bpf_sizes *sizes = &object->sizes;

	skel->rodata->n_records_most = sizes->n_records;
	skel->rodata->n_seen = sizes->n_seen;
	skel->rodata->seen_bits = (uint32_t)__builtin_ctz(sizes->n_seen);
	skel->rodata->n_quiet = sizes->n_seen;
	skel->rodata->n_moves = sizes->n_moves;
	skel->rodata->n_dying = sizes->n_dying;
	skel->rodata->pass_tasks = sizes->pass_tasks;
	skel->rodata->pass_ns = sizes->pass_ns;
	bpf_map__set_max_entries(skel->maps.records, sizes->n_records);
	bpf_map__set_max_entries(skel->maps.seen, sizes->n_seen);
	if (mode == WATT_BPF_MODE_CALL) {
		bpf_map__set_max_entries(skel->maps.quiet, sizes->n_seen);
		bpf_map__set_max_entries(skel->maps.order, sizes->n_seen);
	}
	bpf_map__set_autocreate(skel->maps.dying, keeps_dying(mode));
	bpf_map__set_max_entries(skel->maps.dying, sizes->n_dying);
	bpf_map__set_autocreate(skel->maps.task_names, object->pidns_inum);
	bpf_map__set_autocreate(skel->maps.changed_tids, object->pidns_inum);
	bpf_map__set_max_entries(skel->maps.clocks, object->n_cpus);
	bpf_map__set_max_entries(skel->maps.cpu_slots, object->n_cpus);
	if (hooks & WATT_BPF_HOOK_MIGRATE) {
		bpf_map__set_max_entries(skel->maps.moves, object->n_cpus * sizes->n_moves);
		bpf_map__set_max_entries(skel->maps.move_logs, object->n_cpus);
	}
	bpf_map__set_max_entries(skel->maps.events, sizes->ring_bytes);
}

/* Loads the walk of `mode` and the hooks, nothing else; types are those of btf_path, if any. */
static int load_by(const struct watt_bpf_object *object, const struct watt_env *env,
		   enum watt_bpf_mode mode, uint32_t hooks, const char *btf_path,
		   struct watt_usage_bpf **ret)
{
	const struct bpf_object_open_opts opts = { .sz = sizeof(opts),
						   .btf_custom_path = btf_path };
	struct watt_usage_bpf *skel;
	int r;

	errno = 0;
	skel = watt_usage_bpf__open_opts(&opts);
	if (!skel)
		return errno ? -errno : -ENOMEM;
	skel->rodata->v1_controller = choose_v1(env);
	bpf_program__set_autoload(skel->progs.sweep_call, mode == WATT_BPF_MODE_CALL);
	bpf_program__set_autoload(skel->progs.sweep_iter, mode != WATT_BPF_MODE_CALL);
	bpf_program__set_autoload(skel->progs.bury_call, keeps_dying(mode));
	bpf_program__set_autoload(skel->progs.on_exit, false);
	bpf_program__set_autoload(skel->progs.on_exit_keep, false);
	for (uint32_t hook = 1; hook & WATT_BPF_HOOKS_ALL; hook <<= 1)
		bpf_program__set_autoload(hook_program(skel, mode, hook), hooks & hook);
	skel->rodata->tick_ns = counter_age_ns(env);
	skel->rodata->keeps_dying = keeps_dying(mode);
	skel->rodata->walks_by_hand = mode == WATT_BPF_MODE_CALL;
	skel->rodata->pidns_inum = object->pidns_inum;
	set_sizes(skel, object, mode, hooks);
	r = watt_usage_bpf__load(skel);
	if (r < 0) {
		watt_usage_bpf__destroy(skel);
		return r;
	}
	*ret = skel;
	return 0;
}

/*
 * A type that the kernel does not have is searched for in its modules, and only CAP_SYS_ADMIN may
 * list those. Where the kernel's own types are named as a file, nobody looks elsewhere.
 */
static int load(const struct watt_bpf_object *object, const struct watt_env *env,
		enum watt_bpf_mode mode, uint32_t hooks, struct watt_usage_bpf **ret)
{
	int r = load_by(object, env, mode, hooks, NULL, ret);

	return r == -EPERM || r == -EACCES ?
		       load_by(object, env, mode, hooks, "/sys/kernel/btf/vmlinux", ret) :
		       r;
}

/* What of `hooks` loads at all, each alone. */
static uint32_t find_hooks(const struct watt_bpf_object *object, const struct watt_env *env,
			   enum watt_bpf_mode mode, uint32_t hooks)
{
	struct watt_usage_bpf *skel;
	uint32_t good = 0;
	int r;

	for (uint32_t hook = 1; hook & WATT_BPF_HOOKS_ALL; hook <<= 1) {
		if (!(hooks & hook))
			continue;
		r = load(object, env, mode, hook, &skel);
		if (r < 0)
			continue;
		watt_usage_bpf__destroy(skel);
		good |= hook;
	}
	return good;
}

/* What is missing is not what the kernel knows: to try with less would only hide it. */
static bool is_shortage(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

static int load_what_works(const struct watt_bpf_object *object, const struct watt_env *env,
			   enum watt_bpf_mode mode, uint32_t hooks, struct watt_usage_bpf **ret,
			   uint32_t *ret_hooks)
{
	struct watt_usage_bpf *skel;
	int r;

	r = load(object, env, mode, hooks, ret);
	if (r >= 0) {
		*ret_hooks = hooks;
		return 0;
	}
	if (is_shortage(r))
		return r;
	r = load(object, env, mode, 0, &skel);
	if (r < 0)
		return r;
	watt_usage_bpf__destroy(skel);
	*ret_hooks = find_hooks(object, env, mode, hooks);
	if (keeps_dying(mode) && !(*ret_hooks & WATT_BPF_HOOK_EXIT))
		return -EOPNOTSUPP;
	return load(object, env, mode, *ret_hooks, ret);
}

/* Where the dying are kept, the free hook has nothing to add. */
static uint32_t unused_hooks(enum watt_bpf_mode mode)
{
	return keeps_dying(mode) ? WATT_BPF_HOOK_FREE : 0;
}

static int load_best_mode(struct watt_bpf_object *object, const struct watt_env *env,
			  uint32_t hooks, enum watt_bpf_mode wanted)
{
	static const enum watt_bpf_mode modes[] = { WATT_BPF_MODE_CALL, WATT_BPF_MODE_ITER,
						    WATT_BPF_MODE_HOOK };
	int r = -EOPNOTSUPP;

	for (size_t i = 0; i < WATT_ARRAY_SIZE(modes); i++) {
		if (wanted != WATT_BPF_MODE_AUTO && wanted != modes[i])
			continue;
		if (object->pidns_inum && modes[i] != WATT_BPF_MODE_CALL)
			continue; /* an iterator comes to nobody outside */
		object->mode = modes[i];
		r = load_what_works(object, env, modes[i], hooks & ~unused_hooks(modes[i]),
				    &object->skel, &object->hooks);
		if (r >= 0)
			return 0;
		if (is_shortage(r))
			return r;
	}
	return object->pidns_inum ? -EXDEV : r;
}

static int attach_hook(struct watt_bpf_object *object, const struct watt_env *env, uint32_t hook,
		       bool is_loaded)
{
	struct bpf_program *program = hook_program(object->skel, object->mode, hook);
	struct bpf_link *link = NULL;
	int error = 0;

	if (is_loaded)
		link = bpf_program__attach(program);
	if (link) {
		*hook_link(object->skel, object->mode, hook) = link;
		object->hooks |= hook;
		return 0;
	}
	error = errno;
	if (is_loaded && is_shortage(-error))
		return -error; /* that is no fault of the hook */
	watt_log(&env->log, WATT_LOG_WARNING, "usage: bpf: no hook at %s here%s%s",
		 bpf_program__section_name(program), is_loaded ? ": " : "",
		 is_loaded ? strerror(error) : "");
	return 0;
}

/* Those of `later` are attached when they are needed. */
static int attach(struct watt_bpf_object *object, const struct watt_env *env, uint32_t wanted,
		  uint32_t later)
{
	struct watt_usage_bpf *skel = object->skel;
	uint32_t loaded = object->hooks;
	int r;

	object->ready_hooks = loaded & later;
	object->hooks = 0;
	for (uint32_t hook = 1; hook & WATT_BPF_HOOKS_ALL; hook <<= 1) {
		if (!((loaded | wanted) & hook & ~later & ~unused_hooks(object->mode)))
			continue;
		r = attach_hook(object, env, hook, loaded & hook);
		if (r < 0)
			return r;
	}
	if (object->mode == WATT_BPF_MODE_CALL)
		return 0;
	skel->links.sweep_iter = bpf_program__attach(skel->progs.sweep_iter);
	return skel->links.sweep_iter ? 0 : -errno;
}

static int fill_slots(struct watt_bpf_object *object, const struct watt_cpu_map *map)
{
	int fd = bpf_map__fd(object->skel->maps.cpu_slots), r;

	for (uint32_t cpu = 0; cpu < map->n_cpus; cpu++) {
		uint32_t slot = map->slot[cpu];

		r = bpf_map_update_elem(fd, &cpu, &slot, BPF_ANY);
		if (r < 0)
			return r;
	}
	return 0;
}

void watt_bpf_object_place_cpu(struct watt_bpf_object *object, const struct watt_env *env,
			       uint32_t cpu, uint32_t slot)
{
	bpf_map_update_elem(bpf_map__fd(object->skel->maps.cpu_slots), &cpu, &slot, BPF_ANY);
	if (!slot || !(object->ready_hooks & WATT_BPF_HOOK_MIGRATE))
		return;
	object->ready_hooks &= ~(uint32_t)WATT_BPF_HOOK_MIGRATE;
	watt_bpf_log_begin(&env->log);
	if (attach_hook(object, env, WATT_BPF_HOOK_MIGRATE, true) < 0)
		watt_log(
			&env->log, WATT_LOG_WARNING,
			"usage: bpf: who goes from one package to another is found by sweeps only");
	watt_bpf_log_end();
}

static int open_all(struct watt_bpf_object *object, const struct watt_env *env,
		    const struct watt_cpu_map *map, enum watt_bpf_mode mode,
		    const struct watt_bpf_sizes *sizes)
{
	uint32_t hooks = WATT_BPF_HOOKS_ALL, n_cpus = map->n_cpus;
	int n_possible, r;

	n_possible = libbpf_num_possible_cpus();
	if (n_possible > 0)
		n_cpus = WATT_MAX(n_cpus, (uint32_t)n_possible);
	if (map->n_slots < 2)
		hooks &= ~(uint32_t)WATT_BPF_HOOK_MIGRATE;
	object->n_cpus = n_cpus;
	if (!watt_pidns_is_first(&env->procfs) &&
	    watt_pidns_get_inum(&env->procfs, &object->pidns_inum) < 0)
		return -EXDEV;
	choose_sizes(object, env, map, sizes);
	r = load_best_mode(object, env, hooks, mode);
	if (r < 0)
		return r;
	if (map->n_slots > 1) {
		r = fill_slots(object, map);
		if (r < 0)
			return r;
	}
	return attach(object, env, hooks, map->is_whole ? WATT_BPF_HOOK_MIGRATE : 0);
}

int watt_bpf_object_open(struct watt_bpf_object *object, const struct watt_env *env,
			 const struct watt_cpu_map *map, enum watt_bpf_mode mode,
			 const struct watt_bpf_sizes *sizes)
{
	int r;

	memset(object, 0, sizeof(*object));
	object->iter_fd = -1;
	watt_bpf_log_begin(&env->log);
	r = open_all(object, env, map, mode, sizes);
	watt_bpf_log_end();
	if (r < 0)
		watt_bpf_object_close(object);
	return r;
}

static void close_iter(struct watt_bpf_object *object)
{
	if (object->iter_fd >= 0)
		close(object->iter_fd);
	object->iter_fd = -1;
}

void watt_bpf_object_close(struct watt_bpf_object *object)
{
	if (object->skel)
		close_iter(object);
	watt_usage_bpf__destroy(object->skel);
	memset(object, 0, sizeof(*object));
}

static int call(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &opts);
}

int watt_bpf_object_begin(struct watt_bpf_object *object, bool is_full)
{
	struct watt_bpf_sweep *sweep = watt_bpf_object_sweep(object);

	sweep->number++;
	sweep->is_full = is_full;
	sweep->n_records = 0;
	sweep->n_passes = 0;
	sweep->n_tasks = 0;
	sweep->is_over = 0;
	sweep->longest_ns = 0;
	sweep->n_steps = 0;
	close_iter(object);
	if (object->mode != WATT_BPF_MODE_CALL) {
		object->iter_fd = bpf_iter_create(bpf_link__fd(object->skel->links.sweep_iter));
		if (object->iter_fd < 0)
			return -errno;
	}
	return 0;
}

int watt_bpf_object_bury(struct watt_bpf_object *object)
{
	uint32_t head;
	int r;

	if (!keeps_dying(object->mode))
		return 0;
	/* A syscall less where nobody died in the last two sweeps. */
	head = __atomic_load_n(&object->skel->bss->dying_head, __ATOMIC_RELAXED);
	if (head == object->skel->bss->dying_tail && head == object->skel->bss->dying_last)
		return 0;
	r = call(object->skel->progs.bury_call);
	if (r < 0)
		return r;
	return watt_bpf_object_sweep(object)->is_ring_full ? 1 : 0;
}

/* A byte comes when there is no room for more records, and the end when all tasks were visited. */
static int walk_iter(struct watt_bpf_object *object)
{
	ssize_t n;
	char byte;

	do {
		n = read(object->iter_fd, &byte, 1);
	} while (n < 0 && (errno == EAGAIN || errno == EINTR));
	if (n < 0)
		return -errno;
	if (n)
		return 1;
	close_iter(object);
	return 0;
}

int watt_bpf_object_walk(struct watt_bpf_object *object)
{
	struct watt_bpf_sweep *sweep = watt_bpf_object_sweep(object);
	int r;

	if (object->mode != WATT_BPF_MODE_CALL)
		return walk_iter(object);
	while (sweep->n_passes < PASSES_MOST) {
		r = call(object->skel->progs.sweep_call);
		if (r < 0)
			return r;
		if (sweep->is_over)
			return 0;
		if (sweep->n_records >= object->sizes.n_records)
			return 1;
	}
	return -EAGAIN;
}

struct watt_bpf_sweep *watt_bpf_object_sweep(const struct watt_bpf_object *object)
{
	return &object->skel->bss->sweep;
}

bool watt_bpf_object_sees_deaths(const struct watt_bpf_object *object)
{
	uint32_t needed = (WATT_BPF_HOOK_EXIT | WATT_BPF_HOOK_FREE) & ~unused_hooks(object->mode);

	return (object->hooks & needed) == needed;
}

uint64_t watt_bpf_object_lost(const struct watt_bpf_object *object)
{
	return __atomic_load_n(&object->skel->bss->lost, __ATOMIC_RELAXED);
}

uint64_t watt_bpf_program_missed(int fd)
{
	struct bpf_prog_info info;
	uint32_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (bpf_obj_get_info_by_fd(fd, &info, &len) < 0)
		return 0;
	return info.recursion_misses;
}

/* Records that nobody will ever tell, because a hook was skipped once. */
static uint64_t records_of(uint32_t hook, enum watt_bpf_mode mode)
{
	/* who is not kept as dying has no end either */
	return hook == WATT_BPF_HOOK_EXIT && keeps_dying(mode) ? 2 : 1;
}

uint64_t watt_bpf_object_missed(const struct watt_bpf_object *object)
{
	uint64_t missed = 0;

	for (uint32_t hook = 1; hook & WATT_BPF_HOOKS_ALL; hook <<= 1)
		if (object->hooks & hook)
			missed += records_of(hook, object->mode) *
				  watt_bpf_program_missed(bpf_program__fd(
					  hook_program(object->skel, object->mode, hook)));
	return missed;
}

int watt_bpf_object_records_fd(const struct watt_bpf_object *object)
{
	return bpf_map__fd(object->skel->maps.records);
}

int watt_bpf_object_moves_fd(const struct watt_bpf_object *object)
{
	return bpf_map__fd(object->skel->maps.moves);
}

int watt_bpf_object_move_logs_fd(const struct watt_bpf_object *object)
{
	return bpf_map__fd(object->skel->maps.move_logs);
}

int watt_bpf_object_events_fd(const struct watt_bpf_object *object)
{
	return bpf_map__fd(object->skel->maps.events);
}
