/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage from procfs, where BPF can't be had: one record for each process that used the CPUs
 * since the sweep before. It asks known processes for their CPU clocks, and looks for new ones
 * only if /proc/stat says that there were forks. It sees no deaths, and threads only on request:
 * each is a file to read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/registry.h"
#include "source/host/status.h"
#include "source/host/cpustat.h"
#include "source/activity/procfs/proc.h"
#include "source/activity/procfs/proc_threads.h"
#include "source/activity/proclist.h"
#include "source/activity/procfs/unseen.h"

/* How often the name, user and cgroup of a busy process are read again: by its age. */
#define REFRESH_MIN_NS (20 * WATT_NSEC_PER_MSEC)
#define REFRESH_MAX_NS (2 * WATT_NSEC_PER_SEC)

#define STAT_SIZE_FIRST 16384
#define STAT_SIZE_MAX (16u << 20)
#define N_CPUS_MAX 65536

struct procfs {
	struct watt_activity_source base;
	const struct watt_env *env;
	struct watt_proc_reader reader;
	bool has_slots; /* the CPU that a record names matters */
	bool has_threads;
	bool is_started;
	bool has_warned;
	struct watt_file stat;
	char *text; /* of /proc/stat */
	size_t text_size;
	struct watt_cpu_time *cpus;
	size_t n_cpus;
	size_t cpus_cap;
	uint64_t forks;   /* since boot, at the last look for new processes */
	bool is_complete; /* all that were there by then are known */
	struct watt_proclist list;
	struct watt_proc **procs; /* by pid, ascending */
	size_t n_procs;
	size_t procs_cap;
	struct watt_proc **merged; /* room for the next procs */
	size_t merged_cap;
	struct watt_usage *records;
	size_t n_records;
	size_t records_cap;
	uint64_t open_ns; /* CLOCK_BOOTTIME */
	struct watt_unseen unseen;
};

static void warn_once(struct procfs *src, const char *what, int error)
{
	if (!src->has_warned)
		watt_log(&src->env->log, WATT_LOG_WARNING, "procfs: %s/%s: %s (told once)",
			 src->env->procfs.path, what, strerror(-error));
	src->has_warned = true;
}

static int put(void *data, const struct watt_usage *usage)
{
	struct procfs *src = data;
	int r;

	r = watt_grow((void **)&src->records, &src->records_cap, src->n_records,
		      sizeof(src->records[0]));
	if (r == 0)
		src->records[src->n_records++] = *usage;
	return r;
}

static int send(struct procfs *src, const struct watt_proc *proc, enum watt_usage_kind kind)
{
	struct watt_usage usage = proc->usage;

	usage.kind = (uint16_t)kind;
	return put(src, &usage);
}

static struct watt_proc_threads_opts threads_opts(struct procfs *src, struct watt_proc *proc)
{
	return (struct watt_proc_threads_opts){ .reader = &src->reader,
						.proc = proc,
						.has_places = src->has_slots,
						.send = put,
						.data = src };
}

static void proc_free(struct watt_proc *proc)
{
	if (proc->threads)
		watt_proc_threads_done(proc->threads);
	free(proc->threads);
	free(proc);
}

/* ---- /proc/stat ---- */

static int read_stat_text(struct procfs *src)
{
	for (;;) {
		char *text;
		int r;

		r = watt_file_read(&src->stat, src->text, src->text_size);
		if (r != -EMSGSIZE || src->text_size >= STAT_SIZE_MAX)
			return r;
		text = realloc(src->text, src->text_size * 2);
		if (!text)
			return -ENOMEM;
		src->text = text;
		src->text_size *= 2;
	}
}

/* Count of forks since boot; 0: it is not told. */
static uint64_t find_forks(const char *text)
{
	static const char key[] = "\nprocesses ";
	const char *p = strstr(text, key);
	uint64_t forks;

	if (!p)
		return 0;
	p += strlen(key);
	return watt_scan_u64(&p, &forks) < 0 ? 0 : forks;
}

static int parse_cpus(struct procfs *src)
{
	size_t n;
	int r;

	r = watt_cpustat_parse(src->text, src->reader.hz, src->cpus, src->cpus_cap, &n);
	if (r < 0)
		return r;
	if (n > src->cpus_cap) {
		if (n > N_CPUS_MAX)
			return -ERANGE;
		r = watt_grow((void **)&src->cpus, &src->cpus_cap, n, sizeof(src->cpus[0]));
		if (r < 0)
			return r;
		return parse_cpus(src);
	}
	src->n_cpus = WATT_MAX(src->n_cpus, n);
	return 0;
}

static bool has_irq_time(const struct procfs *src)
{
	size_t i;

	for (i = 0; i < src->n_cpus; i++)
		if (src->cpus[i].irq_ns > 0)
			return true;
	return false;
}

/* 0, or what is wrong: then the CPUs are as they were, and all processes are looked for. */
static int read_cpus(struct procfs *src, uint64_t *ret_forks)
{
	int r;

	*ret_forks = 0;
	r = read_stat_text(src);
	if (r == 0)
		r = -ENODATA;
	if (r > 0)
		r = parse_cpus(src);
	if (r < 0) {
		warn_once(src, "stat", r);
		return r;
	}
	*ret_forks = find_forks(src->text);
	src->unseen.is_irq_separate = src->unseen.is_irq_separate || has_irq_time(src);
	return 0;
}

/* ---- who is there ---- */

/* A new process. NULL: it can't be used, or is gone already. */
static struct watt_proc *meet(struct procfs *src, const struct watt_proclist_entry *entry)
{
	struct watt_proc *proc = malloc(sizeof(*proc));
	int r;

	r = proc ? watt_proc_meet(&src->reader, entry->pid, proc) : -ENOMEM;
	if (r == 0) {
		proc->inode = entry->inode;
		return proc;
	}
	free(proc);
	if (r != -ESRCH) {
		char what[32];

		snprintf(what, sizeof(what), "%u", (unsigned int)entry->pid);
		warn_once(src, what, r);
		src->is_complete = false;
	}
	return NULL;
}

/* It is gone. When it died and what it used at last is not known. */
static void bury(struct procfs *src, struct watt_proc *proc, uint64_t t_ns)
{
	if (!proc->is_new) {
		struct watt_proc_threads_opts opts = threads_opts(src, proc);

		proc->usage.t_ns = t_ns;
		/* without room the core finds out by the next full sweep */
		if (proc->threads && !proc->threads->is_whole)
			watt_proc_threads_bury(proc->threads, &opts);
		else if (send(src, proc, WATT_USAGE_EXIT) == 0)
			send(src, proc, WATT_USAGE_FREE);
	}
	proc_free(proc);
}

static bool is_still(struct procfs *src, struct watt_proc *proc,
		     const struct watt_proclist_entry *entry)
{
	/* elsewhere than in procfs, inode numbers say nothing of processes */
	bool is_same = src->env->procfs.is_kernel && proc->inode == entry->inode;

	proc->inode = entry->inode;
	return is_same || watt_proc_verify(&src->reader, proc) == 0;
}

/* Brings the processes known and those listed together; both are in the order of their pids. */
static size_t merge(struct procfs *src, uint64_t t_ns)
{
	const struct watt_proclist_entry *entry = src->list.entries, *end = entry + src->list.n;
	size_t i = 0, n = 0;

	while (i < src->n_procs || entry < end) {
		struct watt_proc *proc = i < src->n_procs ? src->procs[i] : NULL;

		if (proc && (entry == end || proc->usage.tgid < entry->pid)) {
			bury(src, proc, t_ns);
			i++;
			continue;
		}
		if (proc && proc->usage.tgid == entry->pid) {
			i++;
			if (is_still(src, proc, entry)) {
				src->merged[n++] = proc;
				entry++;
				continue;
			}
			bury(src, proc, t_ns);
		}
		proc = meet(src, entry++);
		if (proc)
			src->merged[n++] = proc;
	}
	return n;
}

static int find_processes(struct procfs *src, uint64_t t_ns)
{
	struct watt_proc **swap;
	size_t cap;
	int r;

	r = watt_proclist_read(&src->list);
	if (r < 0)
		return r;
	r = watt_grow((void **)&src->merged, &src->merged_cap, src->list.n, sizeof(src->merged[0]));
	if (r < 0)
		return r;
	src->is_complete = true;
	src->n_procs = merge(src, t_ns);
	swap = src->procs;
	cap = src->procs_cap;
	src->procs = src->merged;
	src->procs_cap = src->merged_cap;
	src->merged = swap;
	src->merged_cap = cap;
	return 0;
}

/* ---- what they used ---- */

static void schedule_refresh(struct procfs *src, struct watt_proc *proc, uint64_t t_ns)
{
	uint64_t now_ns = watt_clock_ns(CLOCK_BOOTTIME);
	uint64_t age_ns = now_ns > proc->usage.start_ns ? now_ns - proc->usage.start_ns : 0;
	uint64_t wait_ns = WATT_MIN(WATT_MAX(age_ns / 4, REFRESH_MIN_NS), REFRESH_MAX_NS);

	proc->refresh_ns = t_ns + wait_ns;
}

/* Reads its identity again and tells what changed. -ESRCH: it is gone. */
static int refresh(struct procfs *src, struct watt_proc *proc, uint64_t t_ns)
{
	int change;

	change = watt_proc_refresh(&src->reader, proc);
	if (change < 0)
		return change;
	schedule_refresh(src, proc, t_ns);
	if (change & WATT_PROC_NAME)
		send(src, proc, WATT_USAGE_EXEC);
	if (change & WATT_PROC_CGROUP)
		send(src, proc, WATT_USAGE_CGROUP);
	return 0;
}

/* Of what a process used, the part since this source began. */
static void count_seen(struct procfs *src, struct watt_proc *proc, uint64_t cpu_ns)
{
	bool was_before = proc->is_new && (!src->is_started || proc->usage.start_ns < src->open_ns);

	if (was_before)
		return;
	watt_unseen_add(&src->unseen, cpu_ns - proc->usage.cpu_ns);
	src->unseen.n_coarse += !src->reader.has_clock && !proc->is_coarse;
	proc->is_coarse = !src->reader.has_clock;
}

/* What a process used, by thread where that is asked for and can be had. */
static int send_usage(struct procfs *src, struct watt_proc *proc, bool full)
{
	struct watt_proc_threads_opts opts = threads_opts(src, proc);
	int r;

	if (!src->has_threads || proc->is_hidden || proc->usage.flags & WATT_USAGE_KTHREAD)
		return send(src, proc, WATT_USAGE_TASK);
	if (!proc->threads)
		proc->threads = calloc(1, sizeof(*proc->threads));
	if (!proc->threads)
		return -ENOMEM;
	opts.is_full = full;
	opts.wants_names = full || (proc->refresh_ns && proc->usage.t_ns >= proc->refresh_ns);
	r = proc->threads->is_whole ? -EOPNOTSUPP : watt_proc_threads_read(proc->threads, &opts);
	if (r == 0 || r == -ENOMEM || (r == -ESRCH && src->env->procfs.is_kernel))
		return r;
	/* what can't be read by thread now is told with the next reading */
	proc->threads->is_whole |= !proc->threads->told_ns;
	return proc->threads->is_whole ? send(src, proc, WATT_USAGE_TASK) : 0;
}

/* -ESRCH: it is gone; -ENOMEM. Any other trouble leaves it as it was. */
static int account(struct procfs *src, struct watt_proc *proc, bool full)
{
	bool has_moved, was_new = proc->is_new;
	uint64_t cpu_ns, t_ns = watt_now_ns();
	int r;

	r = watt_proc_read_cpu(&src->reader, proc, &cpu_ns);
	if (r < 0)
		return r == -ESRCH ? r : 0;
	has_moved = cpu_ns > proc->usage.cpu_ns;
	if (!has_moved && !full && !was_new)
		return 0;
	if (has_moved) {
		count_seen(src, proc, cpu_ns);
		proc->usage.cpu_ns = cpu_ns;
	}
	if (has_moved && src->has_slots)
		watt_proc_locate(&src->reader, proc);
	proc->usage.t_ns = t_ns;
	r = send_usage(src, proc, full);
	if (r < 0)
		return r;
	proc->is_new = false;
	if (was_new)
		schedule_refresh(src, proc, t_ns);
	if (has_moved && !was_new && t_ns >= proc->refresh_ns)
		return refresh(src, proc, t_ns);
	return 0;
}

static int account_all(struct procfs *src, bool full)
{
	size_t i, n = 0;
	int r, error = 0;

	for (i = 0; i < src->n_procs; i++) {
		struct watt_proc *proc = src->procs[i];

		r = account(src, proc, full);
		if (r == -ESRCH) {
			bury(src, proc, watt_now_ns());
			continue;
		}
		if (r < 0)
			error = r;
		src->procs[n++] = proc;
	}
	src->n_procs = n;
	return error;
}

static int procfs_sweep(struct watt_activity_source *base, bool full, struct watt_usage_batch *ret)
{
	struct procfs *src = watt_container_of(base, struct procfs, base);
	uint64_t t_before_ns = watt_now_ns(), forks, tick_ns;
	bool has_cpus;
	int r;

	src->n_records = 0;
	full = full || !src->is_started;
	has_cpus = read_cpus(src, &forks) == 0;
	if (full || !src->reader.has_clock || !src->is_complete || !forks || forks != src->forks) {
		r = find_processes(src, t_before_ns);
		if (r < 0)
			return r;
		src->forks = forks;
	}
	r = account_all(src, full);
	if (r < 0)
		return r;
	tick_ns = WATT_NSEC_PER_SEC / (uint64_t)src->reader.hz;
	if (has_cpus)
		watt_unseen_update(&src->unseen, src->cpus, src->n_cpus, tick_ns);
	src->is_started = true;
	*ret = (struct watt_usage_batch){
		.t_before_ns = t_before_ns,
		.t_after_ns = watt_now_ns(),
		.records = src->records,
		.n_records = src->n_records,
		.cpus = src->cpus,
		.n_cpus = src->n_cpus,
		.flags = WATT_BATCH_COARSE | (full ? WATT_BATCH_FULL : 0u) |
			 (src->unseen.is_irq_separate ? WATT_BATCH_IRQ_SEPARATE : 0u),
		.n_tasks = (uint32_t)src->n_procs,
		.unseen_ns = src->unseen.unseen_ns,
	};
	return 0;
}

/* ---- open, close, probe ---- */

static void procfs_close(struct watt_activity_source *base)
{
	struct procfs *src;
	size_t i;

	if (!base)
		return;
	src = watt_container_of(base, struct procfs, base);
	for (i = 0; i < src->n_procs; i++)
		proc_free(src->procs[i]);
	free(src->procs);
	free(src->merged);
	free(src->records);
	free(src->cpus);
	free(src->text);
	watt_unseen_done(&src->unseen);
	watt_proclist_close(&src->list);
	watt_file_close(&src->stat);
	free(src);
}

static int procfs_init(struct procfs *src)
{
	int r;

	src->text_size = STAT_SIZE_FIRST;
	src->text = malloc(src->text_size);
	if (!src->text)
		return -ENOMEM;
	r = watt_file_open(&src->stat, &src->env->procfs, "stat");
	if (r == -ENOMEM)
		return r;
	src->open_ns = watt_clock_ns(CLOCK_BOOTTIME);
	watt_proc_reader_init(&src->reader, &src->env->procfs, &src->env->sysfs);
	return watt_proclist_open(&src->list, &src->env->procfs);
}

static void procfs_show_threads(struct watt_activity_source *base)
{
	watt_container_of(base, struct procfs, base)->has_threads = true;
}

static void procfs_place_cpu(struct watt_activity_source *base, uint32_t cpu, uint32_t slot)
{
	watt_container_of(base, struct procfs, base)->has_slots |= slot > 0;
}

static int procfs_open(const struct watt_env *env, const struct watt_cpu_map *map,
		       struct watt_activity_source **ret)
{
	struct procfs *src = calloc(1, sizeof(*src));
	int r;

	if (!src)
		return -ENOMEM;
	src->base.ops = &watt_activity_procfs;
	src->env = env;
	src->has_slots = map->n_slots > 1 && !map->is_whole;
	src->stat = (struct watt_file)WATT_FILE_INIT;
	r = procfs_init(src);
	if (r < 0) {
		procfs_close(&src->base);
		return r;
	}
	*ret = &src->base;
	return 0;
}

static int probe_failed(struct watt_diag *diag, int error, const char *what)
{
	diag->state = watt_availability_from_errno(error);
	diag->error = error;
	snprintf(diag->why, sizeof(diag->why), "%s can't be read: %s", what, strerror(-error));
	snprintf(diag->hint, sizeof(diag->hint), "mount procfs, or name it with --procfs-root");
	return error;
}

static int procfs_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_proclist list = { 0 };
	struct watt_proc_reader reader;
	_cleanup_free_ char *text = NULL;
	struct watt_cpu_time cpu;
	size_t len, n;
	int r;

	snprintf(diag->path, sizeof(diag->path), "%s", env->procfs.path);
	r = watt_root_slurp(&env->procfs, "stat", STAT_SIZE_MAX, &text, &len);
	if (r == 0)
		r = watt_cpustat_parse(text, sysconf(_SC_CLK_TCK), &cpu, 1, &n);
	if (r < 0)
		return probe_failed(diag, r, "stat");
	r = watt_proclist_open(&list, &env->procfs);
	if (r == 0)
		r = watt_proclist_read(&list);
	n = list.n;
	watt_proclist_close(&list);
	if (r < 0)
		return probe_failed(diag, r, "the list of processes");
	watt_proc_reader_init(&reader, &env->procfs, &env->sysfs);
	diag->state = WATT_AVAILABLE;
	diag->error = 0;
	diag->period_ns = reader.has_clock ? 0 : WATT_NSEC_PER_SEC / (uint64_t)reader.hz;
	snprintf(diag->why, sizeof(diag->why), "%zu processes, run time to the %s", n,
		 reader.has_clock ? "ns" : "clock tick");
	if (env->procfs.is_kernel && !watt_root_exists(&env->procfs, "1/stat")) {
		diag->error = -EACCES;
		snprintf(diag->hint, sizeof(diag->hint),
			 "procfs hides processes of others (hidepid): run as root to see them");
	}
	return 0;
}

const struct watt_activity_ops watt_activity_procfs = {
	.name = "procfs",
	.summary = "CPU time of processes from procfs",
	.probe = procfs_probe,
	.open = procfs_open,
	.sweep = procfs_sweep,
	.place_cpu = procfs_place_cpu,
	.show_threads = procfs_show_threads,
	.close = procfs_close,
};
