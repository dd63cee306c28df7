/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the threads of a process: who they are from their stat, once and now and then, and their
 * run time from schedstat, to the ns. A thread's CPU clock can be asked by its own process alone.
 */
#include "source/activity/procfs/proc_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/activity/proclist.h"
#include "source/host/pidstat.h"
#include "source/host/procdir.h"

/* How far the clock ticks of a thread may lag behind the run time of its process. */
#define TICKS_BEHIND 2

void watt_proc_threads_done(struct watt_proc_threads *threads)
{
	free(threads->list);
	*threads = (struct watt_proc_threads){ 0 };
}

/* ---- what is sent ---- */

static int send(const struct watt_proc_threads_opts *opts, const struct watt_proc_thread *thread,
		enum watt_usage_kind kind)
{
	struct watt_usage usage = opts->proc->usage;

	if (thread->tid != usage.tgid) { /* what else may be zombie is the leader */
		usage.flags &= (uint16_t)~WATT_USAGE_ZOMBIE;
		usage.start_ns = thread->start_ns;
		memcpy(usage.comm, thread->comm, sizeof(usage.comm));
	}
	usage.flags &= (uint16_t)~WATT_USAGE_WHOLE;
	usage.kind = (uint16_t)kind;
	usage.tid = thread->tid;
	usage.cpu = thread->cpu;
	usage.cpu_ns = thread->told_ns;
	return opts->send(opts->data, &usage);
}

static int send_end(const struct watt_proc_threads_opts *opts,
		    const struct watt_proc_thread *thread)
{
	int r = thread->is_new ? 0 : send(opts, thread, WATT_USAGE_EXIT);

	return r < 0 || thread->is_new ? r : send(opts, thread, WATT_USAGE_FREE);
}

static int send_ended(const struct watt_proc_threads *threads,
		      const struct watt_proc_threads_opts *opts)
{
	struct watt_usage usage = opts->proc->usage;

	usage.flags &= (uint16_t) ~(WATT_USAGE_ZOMBIE | WATT_USAGE_WHOLE);
	usage.flags |= WATT_USAGE_ENDED;
	usage.kind = WATT_USAGE_TASK;
	usage.cpu_ns = threads->ended_ns;
	return opts->send(opts->data, &usage);
}

/* ---- who is there ---- */

static int read_stat(const struct watt_root *task, uint32_t tid, struct watt_pidstat *ret)
{
	char text[1024];
	int r;

	r = watt_root_readf(task, text, sizeof(text), "%u/stat", (unsigned int)tid);
	if (r < 0)
		return r == -ENOENT || r == -ENODEV ? -ESRCH : r;
	return watt_pidstat_parse(text, ret);
}

static int meet(const struct watt_proc_threads_opts *opts, const struct watt_root *task,
		const struct watt_proclist_entry *entry, struct watt_proc_thread *ret)
{
	struct watt_pidstat stat;
	int r = read_stat(task, entry->pid, &stat);

	if (r < 0)
		return r;
	*ret = (struct watt_proc_thread){
		.tid = entry->pid, .inode = entry->inode, .cpu = stat.cpu, .is_new = true
	};
	memcpy(ret->comm, stat.comm, sizeof(ret->comm));
	if (entry->pid == opts->proc->usage.tgid) {
		ret->start_ns = opts->proc->usage.start_ns;
		return 0;
	}
	return watt_ticks_to_ns(stat.start_ticks, opts->reader->hz, &ret->start_ns);
}

/* Whether a thread that is listed is the one that is known. */
static bool is_still(const struct watt_proc_threads_opts *opts, const struct watt_root *task,
		     struct watt_proc_thread *thread, const struct watt_proclist_entry *entry)
{
	struct watt_proc_thread now;

	if (thread->tid == opts->proc->usage.tgid ||
	    (opts->reader->procfs->is_kernel && thread->inode == entry->inode))
		return true;
	if (meet(opts, task, entry, &now) < 0)
		return true; /* it will be gone the next time */
	thread->inode = now.inode;
	return now.start_ns == thread->start_ns;
}

/* Brings those known and those listed together; both are in the order of their tids. */
static int merge(struct watt_proc_threads *threads, const struct watt_proc_threads_opts *opts,
		 const struct watt_root *task, const struct watt_proclist *list)
{
	struct watt_proc_thread *merged = calloc(list->n + 1, sizeof(*merged));
	size_t i = 0, k = 0, n = 0;
	int r = merged ? 0 : -ENOMEM;

	while (r == 0 && (i < threads->n || k < list->n)) {
		struct watt_proc_thread *known = i < threads->n ? &threads->list[i] : NULL;
		const struct watt_proclist_entry *entry = k < list->n ? &list->entries[k] : NULL;

		if (known && entry && known->tid == entry->pid &&
		    is_still(opts, task, known, entry)) {
			merged[n++] = *known;
			i++, k++;
		} else if (known && (!entry || known->tid <= entry->pid)) {
			r = send_end(opts, known);
			i++;
		} else if (entry) {
			n += meet(opts, task, entry, &merged[n]) == 0;
			k++;
		}
	}
	if (r < 0) {
		free(merged);
		return r;
	}
	free(threads->list);
	threads->list = merged;
	threads->n = n;
	threads->cap = list->n + 1;
	return 0;
}

/* The kernel counts the threads of a process as directories in task: there is no need to list one. */
static bool is_leader_alone(const struct watt_proc_threads *threads,
			    const struct watt_proc_threads_opts *opts, const struct watt_root *task)
{
	struct stat st;

	return threads->n == 1 && opts->reader->procfs->is_kernel && fstat(task->fd, &st) == 0 &&
	       st.st_nlink == 3;
}

static int find_threads(struct watt_proc_threads *threads,
			const struct watt_proc_threads_opts *opts, const struct watt_root *task)
{
	struct watt_proclist list = { 0 };
	int r;

	if (is_leader_alone(threads, opts, task))
		return 0;
	r = watt_proclist_open(&list, task);
	if (r == 0)
		r = watt_proclist_read(&list);
	if (r == 0)
		r = merge(threads, opts, task, &list);
	watt_proclist_close(&list);
	return r == -ENOENT ? -ESRCH : r;
}

/* ---- what they used ---- */

/* Where the kernel keeps no such statistics, all are 0: then by clock ticks. */
static int read_run_time(const struct watt_proc_threads_opts *opts, const struct watt_root *task,
			 uint32_t tid, uint64_t *ret_ns, bool *ret_is_coarse)
{
	struct watt_pidstat stat;
	const char *p;
	char text[128];
	int r;

	p = text;
	if (watt_root_readf(task, text, sizeof(text), "%u/schedstat", (unsigned int)tid) > 0 &&
	    watt_scan_u64(&p, ret_ns) == 0 && *ret_ns)
		return 0;
	r = read_stat(task, tid, &stat);
	if (r < 0)
		return r;
	*ret_is_coarse = true;
	if (stat.utime_ticks > UINT64_MAX - stat.stime_ticks)
		return -ERANGE;
	return watt_ticks_to_ns(stat.utime_ticks + stat.stime_ticks, opts->reader->hz, ret_ns);
}

static void refresh(const struct watt_root *task, struct watt_proc_thread *thread)
{
	struct watt_pidstat stat;

	if (read_stat(task, thread->tid, &stat) < 0)
		return;
	thread->cpu = stat.cpu;
	memcpy(thread->comm, stat.comm, sizeof(thread->comm));
}

/* Who calls exec takes the place of a leader that had used something else. */
static uint64_t take_run_time(struct watt_proc_thread *thread, uint64_t run_ns, uint64_t most_ns)
{
	uint64_t more_ns;

	thread->seen_ns = WATT_MIN(thread->seen_ns, run_ns);
	more_ns = WATT_MIN(run_ns - thread->seen_ns, most_ns);
	thread->seen_ns += more_ns;
	thread->told_ns += more_ns;
	return more_ns;
}

static int account_thread(const struct watt_proc_threads_opts *opts, const struct watt_root *task,
			  struct watt_proc_thread *thread, uint64_t more_ns)
{
	if (opts->wants_names || (more_ns && opts->has_places))
		refresh(task, thread);
	if (!more_ns && !opts->is_full && !thread->is_new)
		return 0;
	thread->is_new = false;
	return send(opts, thread, WATT_USAGE_TASK);
}

/*
 * The run time of the process before and after that of its threads is read bounds what all of them
 * can have used: what they lack of the first is of threads that ended.
 */
static int account(struct watt_proc_threads *threads, const struct watt_proc_threads_opts *opts,
		   const struct watt_root *task, const uint64_t *run_ns, bool is_coarse)
{
	uint64_t least_ns = opts->proc->usage.cpu_ns, most_ns = least_ns, behind_ns = 0, more_ns;
	bool has_ended;
	size_t i;
	int r = 0;

	if (watt_proc_read_cpu(opts->reader, opts->proc, &most_ns) < 0)
		return -ESRCH;
	for (i = 0; i < threads->n && r == 0; i++) {
		more_ns = most_ns > threads->told_ns ? most_ns - threads->told_ns : 0;
		more_ns = take_run_time(&threads->list[i], run_ns[i], more_ns);
		threads->told_ns += more_ns;
		r = account_thread(opts, task, &threads->list[i], more_ns);
	}
	if (r < 0)
		return r;
	if (is_coarse)
		behind_ns =
			TICKS_BEHIND * WATT_NSEC_PER_SEC / (uint64_t)opts->reader->hz * threads->n;
	has_ended = least_ns > threads->told_ns + behind_ns;
	if (has_ended) {
		threads->ended_ns += least_ns - behind_ns - threads->told_ns;
		threads->told_ns = least_ns - behind_ns;
	}
	return has_ended || opts->is_full || opts->proc->is_new ? send_ended(threads, opts) : 0;
}

static int read_and_account(struct watt_proc_threads *threads,
			    const struct watt_proc_threads_opts *opts, const struct watt_root *task)
{
	_cleanup_free_ uint64_t *run_ns = calloc(threads->n, sizeof(*run_ns));
	bool is_coarse = !opts->reader->has_clock;
	size_t i;

	if (!run_ns)
		return -ENOMEM;
	for (i = 0; i < threads->n; i++) /* one that is gone will be missed the next time */
		if (read_run_time(opts, task, threads->list[i].tid, &run_ns[i], &is_coarse) < 0)
			run_ns[i] = threads->list[i].seen_ns;
	return account(threads, opts, task, run_ns, is_coarse);
}

int watt_proc_threads_read(struct watt_proc_threads *threads,
			   const struct watt_proc_threads_opts *opts)
{
	struct watt_root process = WATT_ROOT_INIT, task = WATT_ROOT_INIT;
	int r;

	r = watt_procdir_open(opts->reader->procfs, opts->proc->usage.tgid, &process);
	if (r == 0) {
		r = watt_root_open_fd(&process, "task", O_RDONLY | O_DIRECTORY);
		if (r >= 0) {
			task.fd = r;
			task.is_kernel = process.is_kernel;
			r = find_threads(threads, opts, &task);
		}
	}
	if (r == 0 && !threads->n)
		r = -ESRCH;
	if (r == 0)
		r = read_and_account(threads, opts, &task);
	watt_root_close(&task);
	watt_root_close(&process);
	return r == -ENOENT ? -ESRCH : r;
}

int watt_proc_threads_bury(struct watt_proc_threads *threads,
			   const struct watt_proc_threads_opts *opts)
{
	size_t i;
	int r = 0;

	for (i = 0; i < threads->n && r == 0; i++)
		r = send_end(opts, &threads->list[i]);
	return r;
}
