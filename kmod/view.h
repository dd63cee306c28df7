/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may see what. */
#ifndef WATTRIBUTE_VIEW_H
#define WATTRIBUTE_VIEW_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct cgroup;
struct file;
struct pid_namespace;
struct watt_process;

/* What one open file shows; fixed when it is opened, by who opens it. */
struct watt_view {
	struct cgroup *cgroup; /* NULL: all */
	struct pid_namespace *pid_ns;
	bool is_own; /* others' processes are hidden */
	kuid_t uid;  /* whose own */
};

/* The whole machine. -EACCES: not for the caller. */
int watt_view_open_all(struct watt_view *ret);
/*
 * The caller's cgroup and those below, and of these what the mount by which the file in procfs is
 * opened shows. -EACCES: that is the whole machine, and not for it.
 */
int watt_view_open_cgroup(struct file *file, struct watt_view *ret);
void watt_view_close(struct watt_view *view);

/* The pid by which the view knows a process; 0: it does not see it. Under RCU. */
pid_t watt_view_pid(const struct watt_view *view, const struct watt_process *process);

#endif
