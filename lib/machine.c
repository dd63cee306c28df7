/* SPDX-License-Identifier: Apache-2.0 */
/* Reads who a machine is from procfs, sysfs and os-release. It must not measure anything. */
#include "machine.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/util.h"
#include "source/power/cpuinfo.h"
#include "source/host/topology.h"

/* Only the first block: reading on would ask every CPU for its frequency. */
static void read_cpu(const struct watt_env *env, char *ret, size_t size)
{
	_cleanup_close_ int fd = watt_root_open_fd(&env->procfs, "cpuinfo", O_RDONLY);
	struct watt_cpuinfo info;
	const char *cursor;
	char text[4096];
	ssize_t n;

	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return;
	text[n] = '\0';
	cursor = text;
	if (watt_cpuinfo_next(&cursor, &info) == 0)
		watt_strlcpy(ret, info.name, size);
}

uint64_t watt_machine_read_memory_bytes(const struct watt_env *env)
{
	static const char key[] = "MemTotal:";
	char text[4096];
	const char *line;

	if (watt_root_read(&env->procfs, "meminfo", text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, key);
	return line ? strtoull(line + strlen(key), NULL, 10) * 1024 : 0;
}

static uint32_t count_packages(const struct watt_env *env)
{
	struct watt_topology topology = WATT_TOPOLOGY_INIT;
	uint32_t i, n = 0;

	if (watt_topology_open_quietly(env, &topology) < 0)
		return 0;
	for (i = 0; i < topology.n_cpus; i++) {
		uint32_t j = 0;

		while (j < i && (!topology.cpus[j].is_known ||
				 topology.cpus[j].package_id != topology.cpus[i].package_id))
			j++;
		n += j == i && topology.cpus[i].is_known;
	}
	watt_topology_done(&topology);
	return n;
}

/* As the shell would take the value of an assignment, which is what the file consists of. */
static void unquote(const char *value, char *ret, size_t size)
{
	char quote = *value == '"' || *value == '\'' ? *value++ : '\0';
	size_t n = 0;

	while (*value && *value != '\n' && *value != quote && n + 1 < size) {
		if (*value == '\\' && quote != '\'' && value[1] && value[1] != '\n')
			value++;
		ret[n++] = *value++;
	}
	ret[n] = '\0';
}

void watt_machine_parse_os(const char *text, char *ret, size_t size)
{
	static const char key[] = "PRETTY_NAME=";
	const char *line = text;

	ret[0] = '\0';
	for (; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, strlen(key)) == 0)
			unquote(line + strlen(key), ret, size);
	}
}

static void read_os(char *ret, size_t size)
{
	static const char *const paths[] = { "etc/os-release", "usr/lib/os-release" };
	struct watt_root root = WATT_ROOT_INIT;
	char text[4096];
	size_t i;

	if (watt_root_open(&root, "/") < 0)
		return;
	for (i = 0; i < WATT_ARRAY_SIZE(paths) && !ret[0]; i++)
		if (watt_root_read(&root, paths[i], text, sizeof(text)) >= 0)
			watt_machine_parse_os(text, ret, size);
	watt_root_close(&root);
}

/* What a captured machine's procfs can't tell, and this one's owner can. */
static void read_own(struct watt_machine_text *ret)
{
	struct utsname name;

	if (uname(&name) == 0)
		watt_strlcpy(ret->arch, name.machine, sizeof(ret->arch));
	read_os(ret->os, sizeof(ret->os));
}

static const char *or_unknown(const char *text)
{
	return text[0] && watt_utf8_is_printable(text, strlen(text)) ? text : NULL;
}

const char *watt_machine_read_host(const struct watt_env *env, char ret[WATT_HOST_SIZE])
{
	if (watt_root_read(&env->procfs, "sys/kernel/hostname", ret, WATT_HOST_SIZE) < 0)
		ret[0] = '\0';
	return or_unknown(ret);
}

void watt_machine_read(const struct watt_env *env, struct watt_machine_text *ret)
{
	const struct watt_root *proc = &env->procfs;

	*ret = (struct watt_machine_text){ 0 };
	if (watt_root_read(proc, "sys/kernel/osrelease", ret->kernel, sizeof(ret->kernel)) < 0)
		ret->kernel[0] = '\0';
	read_cpu(env, ret->cpu, sizeof(ret->cpu));
	if (proc->is_kernel)
		read_own(ret);
	ret->machine = (struct watt_machine){
		.host = watt_machine_read_host(env, ret->host),
		.os = or_unknown(ret->os),
		.kernel = or_unknown(ret->kernel),
		.arch = or_unknown(ret->arch),
		.cpu = or_unknown(ret->cpu),
		.memory_bytes = watt_machine_read_memory_bytes(env),
		.n_packages = count_packages(env),
	};
}
