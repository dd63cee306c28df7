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
#include "source/meta/meta.h"
#include "source/meta/vm.h"
#include "source/host/pidstat.h"
#include "source/host/procdir.h"

#define CMDLINE_MAX 4095 /* as the kernel kept it for long, and more than anybody reads */

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

static int read_exe(const struct watt_root *process, bool is_kthread, struct watt_identity *id)
{
	char path[PATH_MAX];
	int r;

	if (is_kthread)
		return 0; /* has no program: nothing is missing */
	r = watt_root_readlink(process, "exe", path, sizeof(path));
	if (r < 0) {
		id->missing |= WATT_IDENTITY_EXE;
		return 0;
	}
	id->exe = strdup(path);
	return id->exe ? 0 : -ENOMEM;
}

static int set_vm(const char *cmdline, size_t len, struct watt_identity *id)
{
	struct watt_vm vm;

	if (watt_vm_find(id->exe, id->comm, cmdline, len, id->pid, &vm) < 0)
		return 0;
	id->vm_name = strdup(vm.name);
	id->hypervisor = strdup(vm.hypervisor);
	return id->vm_name && id->hypervisor ? 0 : -ENOMEM;
}

static int read_cmdline(const struct watt_root *process, struct watt_identity *id)
{
	char text[CMDLINE_MAX + 1];
	ssize_t n;
	int r;

	n = read_head(process, "cmdline", text, sizeof(text));
	if (n < 0) {
		id->missing |= WATT_IDENTITY_CMDLINE;
		n = 0;
		text[0] = '\0';
	}
	r = set_vm(text, (size_t)n, id);
	if (r < 0 || (id->missing & WATT_IDENTITY_CMDLINE))
		return r;
	join_arguments(text, (size_t)n);
	id->cmdline = strdup(text);
	return id->cmdline ? 0 : -ENOMEM;
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
static int read_stat(const struct watt_root *process, long hz, struct watt_identity *id,
		     bool *ret_is_kthread)
{
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
	*ret_is_kthread = stat.is_kthread;
	return 0;
}

static int read_process(const struct watt_root *process, long hz, struct watt_identity *id)
{
	bool is_kthread;
	int r;

	r = read_stat(process, hz, id, &is_kthread);
	if (r < 0)
		return r;
	if (watt_procdir_uid(process, &id->uid) < 0)
		id->missing |= WATT_IDENTITY_UID;
	r = read_exe(process, is_kthread, id);
	return r < 0 ? r : read_cmdline(process, id);
}

int watt_meta_read_process(struct watt_meta *meta, uint32_t pid, uint64_t start_ns,
			   struct watt_identity *ret)
{
	struct watt_identity id = { .pid = pid, .start_ns = start_ns };
	struct watt_root process = WATT_ROOT_INIT;
	int r;

	r = watt_procdir_open(&meta->env->procfs, pid, &process);
	if (r < 0)
		return r == -EPERM ? -EACCES : r;
	r = read_process(&process, meta->hz, &id);
	watt_root_close(&process);
	if (r < 0) {
		watt_identity_done(&id);
		return r;
	}
	*ret = id;
	return 0;
}

void watt_identity_done(struct watt_identity *identity)
{
	free((char *)identity->exe);
	free((char *)identity->cmdline);
	free((char *)identity->vm_name);
	free((char *)identity->hypervisor);
	identity->exe = identity->cmdline = identity->vm_name = identity->hypervisor = NULL;
}
