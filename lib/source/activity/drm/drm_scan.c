/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the list of processes, and reads links of descriptors. It reads no other file of them. */
#include "source/activity/drm/drm_scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/util.h"
#include "source/activity/proclist.h"
#include "source/host/procdir.h"

#define DEVICES "/dev/dri/"
/* Whoever has one open may open more; others begin with a second, and are looked at every 16. */
#define OPEN_PAUSE_NS WATT_NSEC_PER_SEC
#define MAX_PAUSE_NS (16 * WATT_NSEC_PER_SEC)
#define MAX_FDS 64

struct watt_drm_scan {
	const struct watt_root *procfs;
	struct watt_proclist list;
	struct watt_drm_process *processes;
	size_t n, cap;
	struct watt_drm_process *spare; /* the list to come */
	size_t spare_cap;
	size_t n_forbidden;
};

int watt_drm_scan_new(const struct watt_root *procfs, struct watt_drm_scan **ret)
{
	struct watt_drm_scan *scan = calloc(1, sizeof(*scan));
	int r = -ENOMEM;

	if (scan) {
		scan->procfs = procfs;
		r = watt_proclist_open(&scan->list, procfs);
	}
	if (r < 0) {
		free(scan);
		return r;
	}
	*ret = scan;
	return 0;
}

static void forget_process(struct watt_drm_process *process)
{
	free(process->fds);
	process->fds = NULL;
}

struct watt_drm_scan *watt_drm_scan_free(struct watt_drm_scan *scan)
{
	size_t i;

	if (!scan)
		return NULL;
	for (i = 0; i < scan->n; i++)
		forget_process(&scan->processes[i]);
	watt_proclist_close(&scan->list);
	free(scan->processes);
	free(scan->spare);
	free(scan);
	return NULL;
}

static int add_fd(struct watt_drm_process *process, const char *name)
{
	uint64_t fd;
	int r;

	if (watt_parse_u64(name, &fd) < 0 || fd > INT32_MAX || process->n_fds == MAX_FDS)
		return 0;
	r = watt_grow((void **)&process->fds, &process->cap_fds, process->n_fds,
		      sizeof(*process->fds));
	if (r == 0)
		process->fds[process->n_fds++] = (uint32_t)fd;
	return r;
}

static int look_at_fds(struct watt_drm_scan *scan, struct watt_drm_process *process)
{
	struct watt_names names = WATT_NAMES_INIT;
	char path[64], target[64];
	size_t i;
	int r;

	process->n_fds = 0;
	snprintf(path, sizeof(path), "%u/fd", process->pid);
	r = watt_root_list(scan->procfs, path, "", &names);
	if (r < 0) {
		scan->n_forbidden += r == -EACCES || r == -EPERM;
		return 0; /* gone, or somebody else's */
	}
	for (i = 0; i < names.n && r == 0; i++) {
		snprintf(path, sizeof(path), "%u/fd/%.20s", process->pid, names.name[i]);
		if (watt_root_readlink(scan->procfs, path, target, sizeof(target)) > 0 &&
		    !strncmp(target, DEVICES, strlen(DEVICES)))
			r = add_fd(process, names.name[i]);
	}
	watt_names_free(&names);
	return r;
}

static int look_at(struct watt_drm_scan *scan, struct watt_drm_process *process, uint64_t now_ns)
{
	int r;

	if (now_ns < process->next_ns)
		return 0;
	r = look_at_fds(scan, process);
	if (process->n_fds && !process->start_ns)
		process->start_ns = watt_procdir_start_ns(scan->procfs, process->pid);
	if (process->n_fds || !process->pause_ns)
		process->pause_ns = OPEN_PAUSE_NS;
	else
		process->pause_ns = WATT_MIN(2 * process->pause_ns, MAX_PAUSE_NS);
	process->next_ns = now_ns + process->pause_ns;
	return r;
}

/* Both are by pid: who is in both stays, who is new begins. */
static int follow_list(struct watt_drm_scan *scan)
{
	struct watt_drm_process *old = scan->processes, *now;
	size_t i, o = 0, cap;

	if (scan->list.n > scan->spare_cap) {
		now = reallocarray(scan->spare, scan->list.n, sizeof(*now));
		if (!now)
			return -ENOMEM;
		scan->spare = now;
		scan->spare_cap = scan->list.n;
	}
	now = scan->spare;
	for (i = 0; i < scan->list.n; i++) {
		const struct watt_proclist_entry *entry = &scan->list.entries[i];

		while (o < scan->n && old[o].pid < entry->pid)
			forget_process(&old[o++]);
		now[i] = (struct watt_drm_process){ .pid = entry->pid, .inode = entry->inode };
		if (o < scan->n && old[o].pid == entry->pid) {
			if (old[o].inode == entry->inode)
				now[i] = old[o];
			else
				forget_process(&old[o]);
			o++;
		}
	}
	while (o < scan->n)
		forget_process(&old[o++]);
	scan->spare = old;
	cap = scan->spare_cap;
	scan->spare_cap = scan->cap;
	scan->cap = cap;
	scan->processes = now;
	scan->n = scan->list.n;
	return 0;
}

int watt_drm_scan_run(struct watt_drm_scan *scan, uint64_t now_ns)
{
	size_t i;
	int r;

	r = watt_proclist_read(&scan->list);
	if (r == 0)
		r = follow_list(scan);
	scan->n_forbidden = 0;
	for (i = 0; i < scan->n && r == 0; i++)
		r = look_at(scan, &scan->processes[i], now_ns);
	return r;
}

struct watt_drm_process *watt_drm_scan_get(struct watt_drm_scan *scan, size_t *ret_n)
{
	*ret_n = scan->n;
	return scan->processes;
}

size_t watt_drm_scan_forbidden(const struct watt_drm_scan *scan)
{
	return scan->n_forbidden;
}
