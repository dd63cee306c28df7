/* SPDX-License-Identifier: Apache-2.0 */
/* From files of procfs alone; it must not enter a namespace. */
#include "source/host/pidns.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/parse.h"
#include "source/host/pidstat.h"

/* The kernel never gives another namespace this inode number (PROC_PID_INIT_INO). */
#define FIRST_NAMESPACE "pid:[4026531836]"
/* The first of the kernel's threads has this number there, and none is in any other namespace. */
#define KTHREADD 2

/* The number behind a key at the beginning of a line; *ret_rest is what follows it. */
static int find_number(const char *text, const char *key, uint64_t *ret, const char **ret_rest)
{
	const char *p = strstr(text, key);

	if (!p)
		return -ENODATA;
	p += strlen(key);
	while (*p == ' ' || *p == '\t')
		p++;
	if (*p == '-')
		return -ESRCH; /* a pidfd of who is gone */
	if (watt_scan_u64(&p, ret) < 0)
		return -EBADMSG;
	*ret_rest = p;
	return 0;
}

bool watt_pidns_is_own(const struct watt_root *procfs)
{
	char text[4096];
	uint64_t pid = 0;
	const char *rest;
	int r;

	if (!procfs->is_kernel || watt_root_read(procfs, "self/status", text, sizeof(text)) < 0)
		return false;
	r = find_number(text, "\nNSpid:", &pid, &rest);
	if (r == -ENODATA) /* a kernel without pid namespaces */
		r = find_number(text, "\nPid:", &pid, &rest);
	/* one number and no other: from procfs to us there is no namespace between */
	return r == 0 && pid == (uint64_t)getpid() && (*rest == '\n' || *rest == '\0');
}

static bool has_kernel_threads(const struct watt_root *procfs)
{
	struct watt_pidstat stat;
	char text[1024];

	return watt_root_readf(procfs, text, sizeof(text), "%d/stat", KTHREADD) > 0 &&
	       watt_pidstat_parse(text, &stat) == 0 && stat.is_kthread;
}

bool watt_pidns_is_first(const struct watt_root *procfs)
{
	char name[64], text[4096];
	int r;

	if (!procfs->is_kernel)
		return false;
	r = watt_root_readlink(procfs, "self/ns/pid", name, sizeof(name));
	if (r == -ENOENT && watt_root_read(procfs, "self/status", text, sizeof(text)) > 0)
		return true; /* a kernel without pid namespaces */
	/* who is in the first one is seen by no procfs but that of the first one */
	if (r >= 0 && !strcmp(name, FIRST_NAMESPACE))
		return true;
	return has_kernel_threads(procfs);
}

bool watt_pidns_has_machine_pids(const struct watt_root *procfs)
{
	char name[64];

	if (procfs->is_kernel)
		return watt_pidns_is_first(procfs);
	return watt_root_readlink(procfs, "self/ns/pid", name, sizeof(name)) < 0 ||
	       !strcmp(name, FIRST_NAMESPACE);
}

int watt_pidns_get_inum(const struct watt_root *procfs, uint32_t *ret)
{
	char name[64];
	const char *p = name + strlen("pid:[");
	uint64_t inum;
	int r;

	if (!procfs->is_kernel)
		return -ENODEV;
	/* the first process of a namespace can't be of another one */
	r = watt_root_readlink(procfs, "1/ns/pid", name, sizeof(name));
	if (r < 0 && watt_pidns_is_own(procfs))
		r = watt_root_readlink(procfs, "self/ns/pid", name, sizeof(name));
	if (r < 0)
		return r;
	if (strncmp(name, "pid:[", strlen("pid:[")) || watt_scan_u64(&p, &inum) < 0 || !inum ||
	    inum > UINT32_MAX)
		return -EBADMSG;
	*ret = (uint32_t)inum;
	return 0;
}

int watt_pidns_translate(const struct watt_root *procfs, uint32_t pid, uint32_t *ret)
{
	char text[1024];
	const char *rest;
	uint64_t number = 0;
	int fd, r;

	if (!procfs->is_kernel || watt_pidns_is_own(procfs)) {
		*ret = pid;
		return 0;
	}
	fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd < 0)
		return errno == EINVAL ? -ESRCH : -errno;
	/* each procfs tells of a pidfd by its own numbers */
	r = watt_root_readf(procfs, text, sizeof(text), "self/fdinfo/%d", fd);
	close(fd);
	if (r < 0)
		return r == -ENOENT ? -EXDEV : r;
	r = find_number(text, "\nPid:", &number, &rest);
	if (r < 0)
		return r;
	if (!number || number > UINT32_MAX)
		return -EXDEV;
	*ret = (uint32_t)number;
	return 0;
}

uint32_t watt_pidns_orphans_pid(const struct watt_root *procfs)
{
	int is_subreaper = 0;
	uint32_t pid;

	if (getpid() != 1 && (prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper) < 0 || !is_subreaper))
		return 0;
	return watt_pidns_translate(procfs, (uint32_t)getpid(), &pid) < 0 ? 0 : pid;
}
