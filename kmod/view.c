// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may see what: with CAP_SYS_ADMIN in the initial user namespace everything, else the caller's
 * own cgroup of the default hierarchy with all below it, and of that what its pid namespace has.
 * With hidepid, which is of the mount, only its own processes: the owner of a mount, who could do
 * without hidepid, sees all, and so do the members of the group that the mount names.
 */
#include "view.h"

#include <linux/capability.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>

#include "process.h"

int watt_view_open_all(struct watt_view *ret)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	*ret = (struct watt_view){ .pid_ns = get_pid_ns(&init_pid_ns) };
	return 0;
}

static bool hides_others(struct file *file)
{
	struct super_block *sb = file_inode(file)->i_sb;
	const struct proc_fs_info *mount = proc_sb_info(sb);
	enum proc_hidepid hidepid = READ_ONCE(mount->hide_pid);

	if (hidepid == HIDEPID_OFF || file_ns_capable(file, sb->s_user_ns, CAP_SYS_PTRACE))
		return false;
	return hidepid == HIDEPID_NOT_PTRACEABLE || !in_group_p(mount->pid_gid);
}

int watt_view_open_cgroup(struct file *file, struct watt_view *ret)
{
	struct cgroup *cgroup;

	do {
		rcu_read_lock();
		cgroup = task_css_set(current)->dfl_cgrp;
		if (!cgroup_tryget(cgroup))
			cgroup = NULL; /* moved away just now */
		rcu_read_unlock();
	} while (!cgroup);
	/* Below the root is everything: also where the default hierarchy is not in use. */
	if (!cgroup_parent(cgroup) && !capable(CAP_SYS_ADMIN)) {
		cgroup_put(cgroup);
		return -EACCES;
	}
	*ret = (struct watt_view){
		.cgroup = cgroup,
		.pid_ns = get_pid_ns(task_active_pid_ns(current)),
		.is_own = hides_others(file),
		.uid = current_fsuid(),
	};
	return 0;
}

void watt_view_close(struct watt_view *view)
{
	if (view->cgroup)
		cgroup_put(view->cgroup);
	put_pid_ns(view->pid_ns);
}

pid_t watt_view_pid(const struct watt_view *view, const struct watt_process *process)
{
	struct cgroup *cgroup;

	if (view->cgroup) {
		cgroup = READ_ONCE(process->cgroup);
		if (!cgroup || !cgroup_is_descendant(cgroup, view->cgroup))
			return 0;
	}
	if (view->is_own && !uid_eq(READ_ONCE(process->uid), view->uid))
		return 0;
	return pid_nr_ns(process->pid, view->pid_ns);
}
