/* SPDX-License-Identifier: Apache-2.0 */
/* perf_event_open and reading groups. Must not know what is counted. */
#include "source/power/perf_rapl/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int watt_perf_event_open(uint32_t type, uint64_t config, uint32_t cpu, int group_fd)
{
	/* PMUs of the uncore refuse every kind of sampling and of exclusion */
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED,
	};
	long fd;

	fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int watt_perf_group_read(int leader_fd, uint32_t n, uint64_t *ret_counts, uint64_t *ret_enabled_ns)
{
	struct {
		uint64_t n;
		uint64_t enabled_ns;
		uint64_t counts[WATT_PERF_GROUP_MAX];
	} group;
	size_t size = sizeof(group.n) + sizeof(group.enabled_ns) + n * sizeof(group.counts[0]);
	ssize_t got;

	if (n > WATT_PERF_GROUP_MAX)
		return -EINVAL;
	do
		got = read(leader_fd, &group, sizeof(group));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	/* when its CPU goes offline, the kernel takes the events out and breaks up the group */
	if ((size_t)got != size || group.n != n)
		return -ENODEV;
	memcpy(ret_counts, group.counts, n * sizeof(group.counts[0]));
	*ret_enabled_ns = group.enabled_ns;
	return 0;
}
