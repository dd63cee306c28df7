/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the directory of one process in procfs, and tells whose it is. */
#include "source/host/procdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parse.h"
#include "source/host/pidstat.h"

int watt_procdir_open(const struct watt_root *procfs, uint32_t pid, struct watt_root *ret)
{
	struct watt_root root = { .fd = -1, .is_kernel = procfs->is_kernel };
	int fd;

	snprintf(root.path, sizeof(root.path), "%u", (unsigned int)pid);
	fd = watt_root_open_fd(procfs, root.path, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return fd == -ENOENT ? -ESRCH : fd;
	root.fd = fd;
	*ret = root;
	return 0;
}

int watt_procdir_parse_uid(const char *text, uint32_t *ret)
{
	const char *p = strncmp(text, "Uid:", 4) == 0 ? text : strstr(text, "\nUid:");
	uint64_t real, effective;
	int r;

	if (!p)
		return -EBADMSG;
	p = strchr(p, ':') + 1;
	r = watt_scan_u64(&p, &real);
	if (r == 0)
		r = watt_scan_u64(&p, &effective);
	if (r < 0)
		return r;
	if (effective > UINT32_MAX)
		return -ERANGE;
	*ret = (uint32_t)effective;
	return 0;
}

int watt_procdir_uid(const struct watt_root *process, uint32_t *ret)
{
	char text[4096];
	struct stat st;
	int r;

	if (process->is_kernel) {
		/* the directory belongs to the effective uid even if its files do not */
		if (fstat(process->fd, &st) < 0)
			return -errno;
		*ret = st.st_uid;
		return 0;
	}
	r = watt_root_read(process, "status", text, sizeof(text));
	return r < 0 ? r : watt_procdir_parse_uid(text, ret);
}

uint64_t watt_procdir_start_ns(const struct watt_root *procfs, uint32_t pid)
{
	struct watt_pidstat stat;
	uint64_t start_ns;
	char text[1024];

	if (watt_root_readf(procfs, text, sizeof(text), "%u/stat", (unsigned int)pid) < 0 ||
	    watt_pidstat_parse(text, &stat) < 0 ||
	    watt_ticks_to_ns(stat.start_ticks, sysconf(_SC_CLK_TCK), &start_ns) < 0)
		return 0;
	return start_ns;
}
