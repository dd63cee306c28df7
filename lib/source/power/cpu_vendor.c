/* SPDX-License-Identifier: Apache-2.0 */
/* Who made the CPUs, from the first vendor_id line of /proc/cpuinfo. Must not ask the CPU. */
#include "source/power/cpu_vendor.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The value of the line "vendor_id\t: X", or NULL. */
static const char *find_vendor(const char *text)
{
	static const char key[] = "vendor_id";
	const char *line = text;

	while (line && strncmp(line, key, sizeof(key) - 1)) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return NULL;
	line += sizeof(key) - 1;
	return line + strspn(line, " \t:");
}

static bool line_is(const char *line, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(line, word, len) && (line[len] == '\n' || line[len] == '\0');
}

bool watt_cpuinfo_is_amd(const char *text)
{
	const char *vendor = find_vendor(text);

	return vendor && (line_is(vendor, "AuthenticAMD") || line_is(vendor, "HygonGenuine"));
}

bool watt_cpu_is_amd(const struct watt_env *env)
{
	_cleanup_close_ int fd = watt_root_open_fd(&env->procfs, "cpuinfo", O_RDONLY);
	char text[4096];
	ssize_t n;

	if (fd < 0)
		return false;
	/* the first CPU says it; reading on would ask every CPU for its frequency */
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return watt_cpuinfo_is_amd(text);
}
