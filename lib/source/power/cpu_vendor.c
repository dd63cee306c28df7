/* SPDX-License-Identifier: Apache-2.0 */
/* Who made the CPUs, from the first block of /proc/cpuinfo. Must not ask the CPU. */
#include "source/power/cpu_vendor.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "source/power/cpuinfo.h"

/* 0; 1: it can't be read, or names no CPU. */
static int read_first(const struct watt_env *env, struct watt_cpuinfo *ret)
{
	_cleanup_close_ int fd = watt_root_open_fd(&env->procfs, "cpuinfo", O_RDONLY);
	const char *cursor;
	char text[4096];
	ssize_t n;

	if (fd < 0)
		return 1;
	/* the first CPU says it; reading on would ask every CPU for its frequency */
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 1;
	text[n] = '\0';
	cursor = text;
	return watt_cpuinfo_next(&cursor, ret) == 0 ? 0 : 1;
}

bool watt_cpu_is_amd(const struct watt_env *env)
{
	struct watt_cpuinfo info;

	return read_first(env, &info) == 0 &&
	       (!strcmp(info.vendor, "AuthenticAMD") || !strcmp(info.vendor, "HygonGenuine"));
}

bool watt_cpu_is_arm(const struct watt_env *env)
{
	struct watt_cpuinfo info;

	return read_first(env, &info) == 0 && info.implementer;
}
