/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities by libcap, system calls by libseccomp. */
#include "rights.h"

#include <errno.h>
#include <pwd.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "message.h"
#include "xalloc.h"

static bool is_kept(cap_value_t cap, bool has_low_port)
{
	switch (cap) {
	case CAP_BPF:
	case CAP_PERFMON:
	case CAP_DAC_READ_SEARCH:
	case CAP_SYS_PTRACE:
		return true;
	case CAP_NET_BIND_SERVICE:
		return has_low_port;
	default:
		return false;
	}
}

/* ---- who it is ---- */

static int become(const char *user)
{
	const struct passwd *passwd;

	if (!user)
		return 0;
	errno = 0;
	passwd = getpwnam(user);
	if (!passwd) {
		message_error("user: there is no '%.60s'%s%s", user, errno ? ": " : "",
			      errno ? strerror(errno) : "");
		return errno ? -errno : -ENOENT;
	}
	if (geteuid() == passwd->pw_uid)
		return 0;
	if (cap_setgroups(passwd->pw_gid, 0, NULL) < 0 || cap_setuid(passwd->pw_uid) < 0) {
		int error = errno;

		message_error("user: cannot become '%.60s': %s; only root can", user,
			      strerror(error));
		return -error;
	}
	return 0;
}

/* ---- what it may ---- */

/* So that nothing that it starts can get them back. Without CAP_SETPCAP they stay. */
static void drop_bounds(bool has_low_port)
{
	cap_value_t cap;

	for (cap = 0; cap < cap_max_bits(); cap++)
		if (!is_kept(cap, has_low_port))
			cap_drop_bound(cap);
	cap_reset_ambient();
}

/* Of those that it has. */
static int keep_capabilities(bool has_low_port)
{
	cap_t had = cap_get_proc(), kept = cap_init();
	cap_value_t cap;
	int r = 0;

	for (cap = 0; had && kept && cap < cap_max_bits(); cap++) {
		cap_flag_value_t has = CAP_CLEAR;

		cap_get_flag(had, cap, CAP_PERMITTED, &has);
		if (has != CAP_SET || !is_kept(cap, has_low_port))
			continue;
		cap_set_flag(kept, CAP_PERMITTED, 1, &cap, CAP_SET);
		cap_set_flag(kept, CAP_EFFECTIVE, 1, &cap, CAP_SET);
	}
	if (!had || !kept || cap_set_proc(kept) < 0) {
		r = -errno;
		message_error("cannot give up rights: %s", strerror(errno));
	}
	cap_free(had);
	cap_free(kept);
	return r;
}

/* ---- what it may ask of the kernel ---- */

/* Nothing here is needed, and each would help who got into this process. */
static const char *const refused_calls[] = {
	"acct",
	"add_key",
	"chroot",
	"clock_adjtime",
	"clock_settime",
	"create_module",
	"delete_module",
	"finit_module",
	"fsconfig",
	"fsmount",
	"fsopen",
	"init_module",
	"io_uring_setup",
	"ioperm",
	"iopl",
	"kcmp",
	"kexec_file_load",
	"kexec_load",
	"keyctl",
	"mount",
	"mount_setattr",
	"move_mount",
	"open_tree",
	"personality",
	"pivot_root",
	"process_vm_readv",
	"process_vm_writev",
	"ptrace",
	"quotactl",
	"reboot",
	"request_key",
	"setdomainname",
	"sethostname",
	"setns",
	"settimeofday",
	"swapoff",
	"swapon",
	"syslog",
	"umount2",
	"unshare",
	"userfaultfd",
	"vhangup",
};

static void refuse_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	size_t i;
	int r = filter ? 0 : -ENOMEM;

	for (i = 0; i < ARRAY_SIZE(refused_calls) && r == 0; i++) {
		int call = seccomp_syscall_resolve_name(refused_calls[i]);

		/* What this machine's kernel never had needs no refusal. */
		if (call != __NR_SCMP_ERROR && call >= 0)
			r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
	}
	if (r == 0)
		r = seccomp_load(filter);
	if (r < 0)
		message_log(NULL, WATT_LOG_INFO, "no filter of system calls: the kernel has none");
	seccomp_release(filter);
}

int rights_drop(const char *user, bool has_low_port)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	int r;

	/* Kernels before 5.11 count maps of BPF as locked memory, and only root may raise that. */
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	drop_bounds(has_low_port);
	r = become(user);
	if (r == 0)
		r = keep_capabilities(has_low_port);
	if (r < 0)
		return r;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	refuse_calls();
	return 0;
}
