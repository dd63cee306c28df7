/* SPDX-License-Identifier: Apache-2.0 */
/* Who made the CPUs, from the first block of /proc/cpuinfo. Must not ask the CPU. */
#include "source/power/cpu_vendor.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "source/power/cpuinfo.h"

bool watt_cpu_is_amd(const struct watt_env *env)
{
	_cleanup_close_ int fd = watt_root_open_fd(&env->procfs, "cpuinfo", O_RDONLY);
	struct watt_cpuinfo info;
	const char *cursor;
	char text[4096];
	ssize_t n;

	if (fd < 0)
		return false;
	/* the first CPU says it; reading on would ask every CPU for its frequency */
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	cursor = text;
	if (watt_cpuinfo_next(&cursor, &info) != 0)
		return false;
	return !strcmp(info.vendor, "AuthenticAMD") || !strcmp(info.vendor, "HygonGenuine");
}
