/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one process. A process that can't be read in part is used in part; it must never be an
 * error for the others.
 */
#include "source/activity/procfs/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/host/cgroupfile.h"
#include "source/host/procdir.h"
#include "source/host/pidns.h"
#include "source/host/pidstat.h"

/* Clock of a process that isn't this one; clock_getcpuclockid(3) asks the kernel to make it. */
static clockid_t process_clock(uint32_t pid)
{
	const clockid_t sched_clock = 2;

	return (clockid_t)(~pid << 3) | sched_clock;
}

void watt_proc_reader_init(struct watt_proc_reader *reader, const struct watt_root *procfs,
			   const struct watt_root *sysfs)
{
	struct timespec ts;

	*reader = (struct watt_proc_reader){ .procfs = procfs, .hz = sysconf(_SC_CLK_TCK) };
	watt_cgroupfs_init(&reader->cgroupfs, sysfs);
	reader->has_clock = watt_pidns_is_own(procfs) &&
			    clock_gettime(process_clock((uint32_t)getpid()), &ts) == 0;
}

static int read_stat(const struct watt_root *process, struct watt_pidstat *ret)
{
	char text[1024];
	int r;

	r = watt_root_read(process, "stat", text, sizeof(text));
	if (r == -ENOENT)
		return -ESRCH;
	return r < 0 ? r : watt_pidstat_parse(text, ret);
}

static int stat_cpu_ns(const struct watt_proc_reader *reader, const struct watt_pidstat *stat,
		       uint64_t *ret_ns)
{
	uint64_t ticks;

	if (__builtin_add_overflow(stat->utime_ticks, stat->stime_ticks, &ticks))
		return -ERANGE;
	return watt_ticks_to_ns(ticks, reader->hz, ret_ns);
}

/* Takes over what stat tells: bits of enum watt_proc_change. */
static int apply_stat(struct watt_proc *proc, const struct watt_pidstat *stat)
{
	struct watt_usage *usage = &proc->usage;
	int change = 0;

	if (memcmp(usage->comm, stat->comm, sizeof(usage->comm)) != 0)
		change = WATT_PROC_NAME;
	memcpy(usage->comm, stat->comm, sizeof(usage->comm));
	usage->parent_tgid = stat->parent_pid;
	usage->cpu = stat->cpu;
	usage->flags &= (uint16_t) ~(WATT_USAGE_KTHREAD | WATT_USAGE_ZOMBIE);
	if (stat->is_kthread)
		usage->flags |= WATT_USAGE_KTHREAD;
	if (stat->state == 'Z')
		usage->flags |= WATT_USAGE_ZOMBIE;
	return change;
}

/* A uid that was known stays so if it can't be read now. */
static void read_uid(const struct watt_root *process, struct watt_usage *usage)
{
	uint32_t uid;

	if (watt_procdir_uid(process, &uid) < 0)
		return;
	usage->uid = uid;
	usage->flags &= (uint16_t)~WATT_USAGE_NO_UID;
}

/*
 * A v2 cgroup is known by its inode number, as BPF knows it. Inode numbers of v1 hierarchies
 * clash with each other, and captured trees have none of their own: those get a hash.
 */
static uint64_t cgroup_id(const struct watt_proc_reader *reader,
			  const struct watt_cgroup_line *line)
{
	uint64_t id;

	if (!line->is_v1 && reader->procfs->is_kernel &&
	    watt_cgroupfs_inode(&reader->cgroupfs, line, &id) == 0)
		return id;
	return watt_cgroup_line_hash(line);
}

/* Bits of enum watt_proc_change. A cgroup that was known stays so if it can't be read now. */
static int read_cgroup(const struct watt_proc_reader *reader, const struct watt_root *process,
		       struct watt_usage *usage)
{
	char text[WATT_CGROUP_FILE_MAX];
	struct watt_cgroup_line line;
	uint64_t id;
	int r;

	r = watt_root_read(process, "cgroup", text, sizeof(text));
	if (r < 0 || watt_cgroup_line_pick(text, &line) < 0)
		return 0;
	if (line.is_removed && usage->cgroup_id != 0)
		return 0; /* its inode can't be had any more */
	id = cgroup_id(reader, &line);
	usage->flags &= (uint16_t) ~(WATT_USAGE_NO_CGROUP | WATT_USAGE_CGROUP_V1);
	if (line.is_v1)
		usage->flags |= WATT_USAGE_CGROUP_V1;
	if (id == usage->cgroup_id)
		return 0;
	usage->cgroup_id = id;
	return WATT_PROC_CGROUP;
}

static int meet_hidden(const struct watt_proc_reader *reader, struct watt_proc *proc)
{
	if (!reader->has_clock)
		return -EACCES;
	proc->is_hidden = true;
	proc->usage.start_ns = watt_clock_ns(CLOCK_BOOTTIME);
	watt_strlcpy(proc->usage.comm, "(hidden)", sizeof(proc->usage.comm));
	return 0;
}

static bool is_forbidden(int r)
{
	return r == -EACCES || r == -EPERM;
}

static int meet_process(const struct watt_proc_reader *reader, const struct watt_root *process,
			struct watt_proc *proc)
{
	struct watt_pidstat stat;
	int r;

	r = read_stat(process, &stat);
	if (is_forbidden(r)) {
		read_uid(process, &proc->usage);
		return meet_hidden(reader, proc);
	}
	if (r < 0)
		return r;
	r = watt_ticks_to_ns(stat.start_ticks, reader->hz, &proc->usage.start_ns);
	if (r < 0)
		return r;
	apply_stat(proc, &stat);
	read_uid(process, &proc->usage);
	read_cgroup(reader, process, &proc->usage);
	return 0;
}

int watt_proc_meet(const struct watt_proc_reader *reader, uint32_t pid, struct watt_proc *ret)
{
	struct watt_proc proc = {
		.usage = { .tid = pid,
			   .tgid = pid,
			   .flags = WATT_USAGE_WHOLE | WATT_USAGE_NO_UID | WATT_USAGE_NO_CGROUP },
		.is_new = true,
	};
	struct watt_root process = WATT_ROOT_INIT;
	int r;

	r = watt_procdir_open(reader->procfs, pid, &process);
	if (r < 0 && !is_forbidden(r))
		return r;
	r = r < 0 ? meet_hidden(reader, &proc) : meet_process(reader, &process, &proc);
	watt_root_close(&process);
	if (r < 0)
		return r;
	proc.usage.leader_start_ns = proc.usage.start_ns;
	*ret = proc;
	return 0;
}

/* The stat of this very process. */
static int read_own_stat(const struct watt_proc_reader *reader, const struct watt_proc *proc,
			 const struct watt_root *process, struct watt_pidstat *ret)
{
	struct watt_pidstat stat;
	uint64_t start_ns;
	int r;

	r = read_stat(process, &stat);
	if (r < 0)
		return r;
	r = watt_ticks_to_ns(stat.start_ticks, reader->hz, &start_ns);
	if (r < 0)
		return r;
	if (start_ns != proc->usage.start_ns && !proc->is_hidden)
		return -ESRCH;
	*ret = stat;
	return 0;
}

int watt_proc_verify(const struct watt_proc_reader *reader, const struct watt_proc *proc)
{
	struct watt_root process = WATT_ROOT_INIT;
	struct watt_pidstat stat;
	int r;

	r = watt_procdir_open(reader->procfs, proc->usage.tgid, &process);
	if (r == 0)
		r = read_own_stat(reader, proc, &process, &stat);
	watt_root_close(&process);
	return r == -ESRCH ? r : 0;
}

/* The same, by pid; notes the CPU that it ran on last. */
static int locate(const struct watt_proc_reader *reader, struct watt_proc *proc,
		  struct watt_pidstat *ret)
{
	struct watt_root process = WATT_ROOT_INIT;
	int r;

	r = watt_procdir_open(reader->procfs, proc->usage.tgid, &process);
	if (r == 0)
		r = read_own_stat(reader, proc, &process, ret);
	watt_root_close(&process);
	if (r == 0)
		proc->usage.cpu = ret->cpu;
	return r;
}

int watt_proc_locate(const struct watt_proc_reader *reader, struct watt_proc *proc)
{
	struct watt_pidstat stat;

	return locate(reader, proc, &stat);
}

static int read_cpu_by_stat(const struct watt_proc_reader *reader, struct watt_proc *proc,
			    uint64_t *ret_ns)
{
	struct watt_pidstat stat;
	int r;

	r = locate(reader, proc, &stat);
	return r < 0 ? r : stat_cpu_ns(reader, &stat, ret_ns);
}

int watt_proc_read_cpu(const struct watt_proc_reader *reader, struct watt_proc *proc,
		       uint64_t *ret_ns)
{
	struct timespec ts;

	if (!reader->has_clock)
		return read_cpu_by_stat(reader, proc, ret_ns);
	if (clock_gettime(process_clock(proc->usage.tgid), &ts) < 0)
		return errno == EINVAL ? -ESRCH : -errno;
	*ret_ns = watt_timespec_to_ns(&ts);
	return 0;
}

int watt_proc_refresh(const struct watt_proc_reader *reader, struct watt_proc *proc)
{
	struct watt_root process = WATT_ROOT_INIT;
	struct watt_pidstat stat;
	int r;

	if (proc->is_hidden)
		return 0;
	r = watt_procdir_open(reader->procfs, proc->usage.tgid, &process);
	if (r < 0)
		return r == -ESRCH ? r : 0;
	r = read_own_stat(reader, proc, &process, &stat);
	if (r == 0) {
		r = apply_stat(proc, &stat);
		read_uid(&process, &proc->usage);
		r |= read_cgroup(reader, &process, &proc->usage);
	}
	watt_root_close(&process);
	return r == -ESRCH || r >= 0 ? r : 0;
}
