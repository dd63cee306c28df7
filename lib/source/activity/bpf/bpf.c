/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage by BPF: a sweep over all tasks in the kernel, and hooks for what happens between two
 * sweeps. Times per CPU are read in the kernel too, or come from /proc/stat. It must not look at a
 * task through /proc.
 */
#include "source/activity/bpf/bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/capability.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/util.h"
#include "source/host/cpustat.h"
#include "source/host/pidns.h"
#include "source/host/cpu_time.h"
#include "source/activity/bpf/event_ring.h"
#include "source/activity/merge.h"
#include "source/activity/bpf/move_log.h"

/* How long to wait for a hook that is in the middle of writing. */
#define BUSY_TRIES 1000
/* A ring that is full again so often is filled by others: the dead wait. */
#define BURY_TRIES 100
/* How often to ask for events that the hooks missed. */
#define MISSED_PERIOD_NS (250 * WATT_NSEC_PER_MSEC)

struct bpf_source {
	struct watt_activity_source base;
	struct watt_bpf_object object;
	struct watt_event_ring ring;
	struct watt_move_log moves;
	struct watt_cpu_clock clock;
	bool is_clock_tried;
	const struct watt_env *env;
	const struct watt_usage *mapped; /* the first records of the map; NULL: none */
	size_t mapped_size;
	struct watt_usage_list list;     /* the batch */
	struct watt_usage_list deferred; /* events that wait for the next batch */
	struct watt_usage_list tasks;    /* the sweep, if it took several passes */
	struct watt_merge merge;
	int stat_fd;
	char *stat_text;
	size_t stat_size;
	long hz;
	struct watt_cpu_time *cpus;
	size_t n_cpus;
	uint64_t lost;              /* here; the kernel counts its own */
	uint64_t missed, missed_ns; /* by the hooks, and when they were asked */
	uint32_t n_sweeps;
};

/* ---- probe ---- */

static bool has_capability(const struct __user_cap_data_struct *data, unsigned int cap)
{
	return data[cap / 32].effective & (1u << (cap % 32));
}

static bool is_permitted(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return true;
	return has_capability(data, CAP_SYS_ADMIN) ||
	       (has_capability(data, CAP_BPF) && has_capability(data, CAP_PERFMON));
}

/* Loads a program that does nothing. 0, or the kernel's answer. */
static int try_bpf(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, /* r0 = 0 */
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = WATT_ARRAY_SIZE(insns);
	attr.license = (uintptr_t) "GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

static int say(struct watt_diag *diag, enum watt_availability state, int error, const char *why,
	       const char *hint)
{
	diag->state = state;
	diag->error = error;
	watt_strlcpy(diag->why, why, sizeof(diag->why));
	watt_strlcpy(diag->hint, hint, sizeof(diag->hint));
	return error;
}

static int probe(const struct watt_env *env, struct watt_diag *diag)
{
	uint32_t inum;
	int r;

	watt_strlcpy(diag->path, "/sys/kernel/btf/vmlinux", sizeof(diag->path));
	if (!env->procfs.is_kernel)
		return say(diag, WATT_ABSENT, -ENODEV,
			   "the tasks of a captured machine are not in this kernel", "");
	if (!watt_pidns_is_first(&env->procfs) && watt_pidns_get_inum(&env->procfs, &inum) < 0)
		return say(diag, WATT_ABSENT, -EXDEV,
			   "procfs does not tell which pid namespace it is of, and BPF calls tasks "
			   "by the host's numbers",
			   "share the host's pid namespace (--pid=host), or name the host's procfs "
			   "by --procfs-root");
	if (access("/sys/kernel/btf/vmlinux", F_OK) < 0)
		return say(diag, WATT_ABSENT, -ENODEV,
			   "the kernel does not describe its types (BTF)",
			   "use a kernel with CONFIG_DEBUG_INFO_BTF");
	r = try_bpf();
	if (r == -ENOSYS)
		return say(diag, WATT_ABSENT, -ENODEV, "the kernel has no BPF",
			   "use a kernel with CONFIG_BPF_SYSCALL");
	if (!is_permitted() || r == -EPERM)
		return say(diag, WATT_FORBIDDEN, -EACCES, "loading BPF programs is not permitted",
			   "run as root, or setcap cap_bpf,cap_perfmon+ep");
	if (r < 0)
		return say(diag, WATT_BROKEN, r, "the kernel refuses the simplest BPF program", "");
	return say(diag, WATT_AVAILABLE, 0, "the kernel loads BPF programs and describes its types",
		   "");
}

/* ---- open, close ---- */

static void source_close(struct watt_activity_source *base)
{
	struct bpf_source *src;

	if (!base)
		return;
	src = watt_container_of(base, struct bpf_source, base);
	if (src->mapped)
		munmap((void *)src->mapped, src->mapped_size);
	watt_event_ring_close(&src->ring);
	watt_move_log_close(&src->moves);
	watt_cpu_clock_close(&src->clock);
	watt_bpf_object_close(&src->object);
	watt_usage_list_done(&src->list);
	watt_usage_list_done(&src->deferred);
	watt_usage_list_done(&src->tasks);
	watt_merge_done(&src->merge);
	if (src->stat_fd >= 0)
		close(src->stat_fd);
	free(src->stat_text);
	free(src->cpus);
	free(src);
}

static int open_cpus(struct bpf_source *src, const struct watt_env *env, size_t n_cpus)
{
	src->hz = sysconf(_SC_CLK_TCK);
	src->n_cpus = n_cpus;
	src->cpus = calloc(WATT_MAX(n_cpus, (size_t)1), sizeof(*src->cpus));
	/* Enough for the longest line of every CPU and the one of all. */
	src->stat_size = (n_cpus + 1) * 256;
	src->stat_text = malloc(src->stat_size);
	if (!src->cpus || !src->stat_text)
		return -ENOMEM;
	src->stat_fd = watt_root_open_fd(&env->procfs, "stat", O_RDONLY);
	return src->stat_fd < 0 ? src->stat_fd : 0;
}

static int open_all(struct bpf_source *src, const struct watt_env *env,
		    const struct watt_cpu_map *map, enum watt_bpf_mode mode,
		    const struct watt_bpf_sizes *sizes)
{
	int r;

	src->env = env;
	r = open_cpus(src, env, map->n_cpus);
	if (r < 0)
		return r;
	r = watt_bpf_object_open(&src->object, env, map, mode, sizes);
	if (r < 0)
		return r;
	r = watt_event_ring_open(&src->ring, watt_bpf_object_events_fd(&src->object),
				 src->object.sizes.ring_bytes);
	if (r < 0 || !((src->object.hooks | src->object.ready_hooks) & WATT_BPF_HOOK_MIGRATE))
		return r;
	return watt_move_log_open(&src->moves, watt_bpf_object_move_logs_fd(&src->object),
				  watt_bpf_object_moves_fd(&src->object), src->object.n_cpus,
				  src->object.sizes.n_moves);
}

int watt_usage_bpf_open_mode(const struct watt_env *env, const struct watt_cpu_map *map,
			     enum watt_bpf_mode mode, const struct watt_bpf_sizes *sizes,
			     struct watt_activity_source **ret)
{
	struct bpf_source *src;
	int r;

	if (!env->procfs.is_kernel)
		return -ENODEV;
	src = calloc(1, sizeof(*src));
	if (!src)
		return -ENOMEM;
	src->base.ops = &watt_activity_bpf;
	src->stat_fd = -1;
	r = open_all(src, env, map, mode, sizes);
	if (r < 0) {
		source_close(&src->base);
		return r;
	}
	*ret = &src->base;
	return 0;
}

static int source_open(const struct watt_env *env, const struct watt_cpu_map *map,
		       struct watt_activity_source **ret)
{
	return watt_usage_bpf_open_mode(env, map, WATT_BPF_MODE_AUTO, NULL, ret);
}

/* ---- sweep ---- */

/* Maps as much of the records as were ever written at once. */
static int map_records(struct bpf_source *src, size_t n)
{
	size_t page_size = src->ring.page_size, size = n * sizeof(struct watt_usage);
	void *mapped;

	size = (size + page_size - 1) / page_size * page_size;
	if (size <= src->mapped_size)
		return 0;
	if (src->mapped)
		munmap((void *)src->mapped, src->mapped_size);
	src->mapped = NULL;
	src->mapped_size = 0;
	mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, watt_bpf_object_records_fd(&src->object),
		      0);
	if (mapped == MAP_FAILED)
		return -errno;
	src->mapped = mapped;
	src->mapped_size = size;
	return 0;
}

/* Walks until every task was told of. The records are in *ret_tasks, borrowed. */
static int walk(struct bpf_source *src, bool is_full, const struct watt_usage **ret_tasks,
		size_t *ret_n, uint32_t *ret_n_tasks)
{
	struct watt_bpf_sweep *sweep = watt_bpf_object_sweep(&src->object);
	bool is_over = false;
	int r;

	src->tasks.n = 0;
	src->n_sweeps++;
	r = watt_bpf_object_begin(&src->object, is_full);
	while (r >= 0 && !is_over) {
		r = watt_bpf_object_walk(&src->object);
		if (r < 0)
			break;
		is_over = r == 0;
		r = map_records(src, sweep->n_records);
		if (r < 0 || (is_over && !src->tasks.n))
			break;
		r = watt_usage_list_append(&src->tasks, src->mapped, sweep->n_records);
		sweep->n_records = 0;
	}
	if (r < 0)
		return r;
	*ret_tasks = src->tasks.n ? src->tasks.records : src->mapped;
	*ret_n = src->tasks.n ? src->tasks.n : sweep->n_records;
	*ret_n_tasks = sweep->n_tasks;
	return 0;
}

/* Takes all events out of the ring. *n_before: how many were there before the position start. */
static int drain(struct bpf_source *src, unsigned long start, size_t *n_before)
{
	unsigned long end = watt_event_ring_position(&src->ring), position = 0;
	struct watt_usage event;
	size_t tries = 0;
	int r;

	while (watt_event_ring_consumed(&src->ring) < end && tries < BUSY_TRIES) {
		r = watt_event_ring_next(&src->ring, &event, &position);
		if (r > 0) {
			tries++;
			continue;
		}
		if (r == -EBADMSG || (!r && watt_usage_list_append(&src->list, &event, 1) < 0))
			src->lost++;
		else if (r < 0)
			return r;
		else if (position < start)
			*n_before = src->list.n;
	}
	return 0;
}

/*
 * All that happened before the sweep: what waited, what is in the ring, and the dead. Where those
 * find no room, it is made, and no one is lost.
 */
static int gather(struct bpf_source *src, size_t *n_before)
{
	int r;

	src->list.n = 0;
	r = watt_usage_list_append(&src->list, src->deferred.records, src->deferred.n);
	if (r < 0)
		return r;
	src->deferred.n = 0;
	*n_before = src->list.n;
	for (int i = 0; i < BURY_TRIES; i++) {
		r = watt_bpf_object_bury(&src->object);
		if (r <= 0)
			return r;
		r = drain(src, ULONG_MAX, n_before);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Asking takes some us per 100 CPUs. */
static uint64_t count_lost(struct bpf_source *src, uint64_t now_ns)
{
	if (!src->missed_ns || now_ns - src->missed_ns >= MISSED_PERIOD_NS) {
		src->missed = watt_bpf_object_missed(&src->object);
		src->missed_ns = now_ns;
	}
	return src->lost + src->missed + watt_bpf_object_lost(&src->object) +
	       watt_move_log_lost(&src->moves);
}

/*
 * Without it there is /proc/stat. Loading it takes as long as all the rest, and libbpf's copy of the
 * kernel's types some 10 MiB that glibc would keep: a measurement that is over in a second does
 * better without.
 */
static void open_clock(struct bpf_source *src)
{
	src->is_clock_tried = true;
	(void)watt_cpu_clock_open(&src->clock, src->env, src->n_cpus);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

/* A CPU's line that can't be read leaves the times as they were. */
static void read_cpus(struct bpf_source *src, uint32_t *flags)
{
	size_t n_listed;
	ssize_t n;

	if (!src->is_clock_tried && src->n_sweeps >= WATT_BPF_CLOCK_SWEEPS)
		open_clock(src);
	if (watt_cpu_clock_read(&src->clock, src->cpus, src->n_cpus) >= 0) {
		*flags |= WATT_BATCH_CPU_NS;
		return;
	}
	n = pread(src->stat_fd, src->stat_text, src->stat_size - 1, 0);
	if (n <= 0)
		return;
	src->stat_text[n] = '\0';
	watt_cpustat_parse(src->stat_text, src->hz, src->cpus, src->n_cpus, &n_listed);
}

static uint32_t batch_flags(const struct bpf_source *src, bool is_full)
{
	uint32_t abilities = watt_bpf_object_sweep(&src->object)->abilities, flags = 0;

	if (is_full)
		flags |= WATT_BATCH_FULL;
	if (watt_bpf_object_sees_deaths(&src->object))
		flags |= WATT_BATCH_DEATHS;
	if (!(abilities & WATT_BPF_HAS_ON_CPU))
		flags |= WATT_BATCH_COARSE;
	if (abilities & WATT_BPF_HAS_IRQTIME)
		flags |= WATT_BATCH_IRQ_SEPARATE;
	return flags;
}

static int source_sweep(struct watt_activity_source *base, bool full, struct watt_usage_batch *ret)
{
	struct bpf_source *src = watt_container_of(base, struct bpf_source, base);
	const struct watt_usage *tasks = NULL;
	bool is_full = full || !src->n_sweeps;
	uint64_t t_before_ns, t_after_ns;
	size_t n_tasks = 0, n_before = 0;
	uint32_t n_walked = 0, flags;
	unsigned long start;
	int r;

	r = gather(src, &n_before);
	if (r < 0)
		return r;
	t_before_ns = watt_now_ns();
	start = watt_event_ring_position(&src->ring);
	r = walk(src, is_full, &tasks, &n_tasks, &n_walked);
	if (r < 0)
		return r;
	t_after_ns = watt_now_ns();
	r = drain(src, start, &n_before);
	if (r < 0)
		return r;
	if (src->moves.logs) {
		/* What came later may be of a task whose birth is not in the list yet. */
		r = watt_move_log_drain(&src->moves, t_after_ns, &src->list);
		if (r < 0)
			return r;
		n_before = watt_usage_list_sort(&src->list, t_before_ns);
	}
	r = watt_merge(&src->merge, &src->list, n_before, tasks, n_tasks, &src->deferred);
	if (r < 0)
		return r;
	flags = batch_flags(src, is_full);
	read_cpus(src, &flags);
	*ret = (struct watt_usage_batch){
		.t_before_ns = t_before_ns,
		.t_after_ns = t_after_ns,
		.records = src->list.records,
		.n_records = src->list.n,
		.cpus = src->cpus,
		.n_cpus = src->n_cpus,
		.lost = count_lost(src, t_after_ns),
		.flags = flags,
		.n_tasks = n_walked,
	};
	return 0;
}

static void source_place_cpu(struct watt_activity_source *base, uint32_t cpu, uint32_t slot)
{
	struct bpf_source *src = watt_container_of(base, struct bpf_source, base);

	watt_bpf_object_place_cpu(&src->object, src->env, cpu, slot);
}

const struct watt_activity_ops watt_activity_bpf = {
	.name = "bpf",
	.summary = "every task, counted in the kernel",
	.probe = probe,
	.open = source_open,
	.sweep = source_sweep,
	.place_cpu = source_place_cpu,
	.close = source_close,
};
