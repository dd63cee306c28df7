/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a process is, from its directory in procfs. What can't be read is marked as missing: no
 * process may stop the others from being seen.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "base/privacy.h"
#include "source/meta/vm.h"
#include "source/host/pidstat.h"
#include "source/host/procdir.h"
#include "source/host/status.h"
#include "source/registry.h"

#define CMDLINE_MAX 4095 /* as the kernel kept it for long, and more than anybody reads */

struct process {
	struct watt_meta base;
	const struct watt_root *procfs;
	long hz;
	enum watt_privacy privacy;
	uint32_t owner_uid;
};

/* What was read of one process. */
struct reading {
	struct watt_identity id;
	char exe[PATH_MAX];
	char cmdline[CMDLINE_MAX + 1];
	struct watt_vm vm;
	bool is_kthread;
};

/* Reads at most size - 1 bytes and terminates them; the rest is left. */
static ssize_t read_head(const struct watt_root *root, const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = watt_root_open_fd(root, path, O_RDONLY | O_NONBLOCK);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	do {
		n = read(fd, buf + len, size - 1 - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			len += (size_t)n;
	} while (n != 0 && len < size - 1);
	buf[len] = '\0';
	return (ssize_t)len;
}

/* One space between arguments. The NULs behind them, often many, are padding. */
static size_t join_arguments(char *text, size_t len)
{
	size_t i;

	while (len > 0 && text[len - 1] == '\0')
		len--;
	for (i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	text[len] = '\0';
	return len;
}

static void read_exe(const struct watt_root *process, struct reading *reading)
{
	if (reading->is_kthread)
		return; /* has no program: nothing is missing */
	if (watt_root_readlink(process, "exe", reading->exe, sizeof(reading->exe)) < 0)
		reading->id.missing |= WATT_IDENTITY_EXE;
	else
		reading->id.exe = reading->exe;
}

static void read_cmdline(const struct process *meta, const struct watt_root *process,
			 struct reading *reading)
{
	struct watt_identity *id = &reading->id;
	ssize_t n = read_head(process, "cmdline", reading->cmdline, sizeof(reading->cmdline));

	if (n < 0)
		reading->cmdline[0] = '\0';
	if (watt_vm_find(id->exe, id->comm, reading->cmdline, (size_t)WATT_MAX(n, 0), id->pid,
			 &reading->vm) == 0) {
		id->vm_name = reading->vm.name;
		id->hypervisor = reading->vm.hypervisor;
	}
	/* what is not told is missing, and in no place that others read */
	if (n < 0 || (n > 0 && !watt_privacy_shows(meta->privacy, meta->owner_uid, id))) {
		id->missing |= WATT_IDENTITY_CMDLINE;
		return;
	}
	n = (ssize_t)watt_privacy_apply(meta->privacy, reading->cmdline, (size_t)n);
	join_arguments(reading->cmdline, (size_t)n);
	id->cmdline = reading->cmdline;
}

/* Whether the process is the one that started then; both clocks count since boot. */
static bool is_same_start(uint64_t start_ticks, uint64_t start_ns, long hz)
{
	uint64_t ns, tick_ns = WATT_NSEC_PER_SEC / (uint64_t)hz;

	if (watt_ticks_to_ns(start_ticks, hz, &ns) < 0)
		return false;
	return (ns > start_ns ? ns - start_ns : start_ns - ns) <= tick_ns;
}

/* Who it is at all. -ESRCH: gone, or another process; anything else: it can't be told. */
static int read_stat(const struct watt_root *process, long hz, struct reading *reading)
{
	struct watt_identity *id = &reading->id;
	struct watt_pidstat stat;
	char text[1024];
	int r;

	r = watt_root_read(process, "stat", text, sizeof(text));
	if (r == -ENOENT)
		return -ESRCH;
	if (r >= 0)
		r = watt_pidstat_parse(text, &stat);
	if (r < 0)
		return r == -EPERM ? -EACCES : r;
	if (!is_same_start(stat.start_ticks, id->start_ns, hz))
		return -ESRCH;
	memcpy(id->comm, stat.comm, sizeof(id->comm));
	id->parent_pid = stat.parent_pid;
	reading->is_kthread = stat.is_kthread;
	return 0;
}

static int read_process(const struct process *meta, const struct watt_root *process,
			struct reading *reading)
{
	int r;

	r = read_stat(process, meta->hz, reading);
	if (r < 0)
		return r;
	if (watt_procdir_uid(process, &reading->id.uid) < 0)
		reading->id.missing |= WATT_IDENTITY_UID;
	read_exe(process, reading);
	read_cmdline(meta, process, reading);
	return 0;
}

/* A copy of a text that moves *cursor on; NULL stays NULL. */
static const char *store(char **cursor, const char *text)
{
	char *copy = *cursor;

	if (!text)
		return NULL;
	*cursor = stpcpy(copy, text) + 1;
	return copy;
}

static int keep(const struct watt_identity *id, struct watt_answer *ret)
{
	const char *const texts[] = { id->exe, id->cmdline, id->vm_name, id->hypervisor };
	struct watt_answer answer = { .kind = WATT_ASK_PROCESS, .identity = *id };
	size_t i, size = 1;
	char *cursor;

	for (i = 0; i < WATT_ARRAY_SIZE(texts); i++)
		size += texts[i] ? strlen(texts[i]) + 1 : 0;
	cursor = answer.storage = malloc(size);
	if (!cursor)
		return -ENOMEM;
	answer.identity.exe = store(&cursor, id->exe);
	answer.identity.cmdline = store(&cursor, id->cmdline);
	answer.identity.vm_name = store(&cursor, id->vm_name);
	answer.identity.hypervisor = store(&cursor, id->hypervisor);
	*ret = answer;
	return 0;
}

/*
 * -ESRCH: it is gone, or its pid belongs to another process by now (its start differs by more than
 * a clock tick). -EACCES: procfs hides it (hidepid); -EBADMSG, -ERANGE: its stat can't be parsed.
 * What usage says of it is then all there is.
 */
static int process_answer(struct watt_meta *base, const struct watt_question *question,
			  struct watt_answer *ret)
{
	struct process *meta = watt_container_of(base, struct process, base);
	struct watt_root process = WATT_ROOT_INIT;
	struct reading reading;
	int r;

	reading.is_kthread = false;
	reading.id = (struct watt_identity){ .pid = question->process.pid,
					     .start_ns = question->process.start_ns };
	r = watt_procdir_open(meta->procfs, question->process.pid, &process);
	if (r < 0)
		return r == -EPERM ? -EACCES : r;
	r = read_process(meta, &process, &reading);
	watt_root_close(&process);
	return r < 0 ? r : keep(&reading.id, ret);
}

static int process_open(const struct watt_env *env, struct watt_meta **ret)
{
	struct process *meta = calloc(1, sizeof(*meta));

	if (!meta)
		return -ENOMEM;
	meta->base = (struct watt_meta){ &watt_meta_process, -1 };
	meta->procfs = &env->procfs;
	meta->hz = sysconf(_SC_CLK_TCK);
	meta->privacy = env->privacy ? env->privacy : WATT_PRIVACY_OWN;
	meta->owner_uid = env->owner_uid;
	*ret = &meta->base;
	return 0;
}

static void process_close(struct watt_meta *base)
{
	free(watt_container_of(base, struct process, base));
}

/* Looks at the first process: it is always there, and never one's own. */
static int process_probe(const struct watt_env *env, struct watt_diag *diag)
{
	struct watt_root first = WATT_ROOT_INIT;
	char text[PATH_MAX];
	int r;

	snprintf(diag->path, sizeof(diag->path), "%.200s/1", env->procfs.path);
	r = watt_procdir_open(&env->procfs, 1, &first);
	if (r == 0)
		r = watt_root_read(&first, "stat", text, sizeof(text));
	if (r == -ESRCH)
		r = -ENOENT;
	diag->state = watt_availability_from_errno(r);
	diag->error = WATT_MIN(r, 0);
	if (r < 0) {
		snprintf(diag->why, sizeof(diag->why), "the first process can't be read: %s",
			 strerror(-r));
		snprintf(diag->hint, sizeof(diag->hint),
			 "mount procfs without hidepid, or run as root");
	} else if (watt_root_readlink(&first, "exe", text, sizeof(text)) == -EACCES) {
		snprintf(diag->why, sizeof(diag->why),
			 "names processes, those of other users without their programs");
		snprintf(diag->hint, sizeof(diag->hint),
			 "which programs other users run is not told to this user: run as root, or "
			 "with CAP_SYS_PTRACE");
	} else {
		snprintf(diag->why, sizeof(diag->why),
			 "names processes, with programs and arguments");
	}
	watt_root_close(&first);
	return diag->error;
}

const struct watt_meta_ops watt_meta_process = {
	.name = "process",
	.summary = "names of processes",
	.answers = 1u << WATT_ASK_PROCESS,
	.probe = process_probe,
	.open = process_open,
	.answer = process_answer,
	.close = process_close,
};
