/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises virtual machine monitors by their program, and reads the machine's name from their
 * arguments. It must not open anything, nor talk to a monitor.
 */
#include "source/meta/vm.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

/* The arguments of a process, one after the other. */
struct args {
	const char *p;
	const char *end;
};

static const char *args_next(struct args *args)
{
	const char *arg = args->p;

	if (arg >= args->end)
		return NULL;
	args->p = arg + strlen(arg) + 1;
	return arg;
}

/* Value of "-opt value", "--opt value" or "--opt=value"; NULL: it is not given. */
static const char *args_value(struct args args, const char *option)
{
	size_t len = strlen(option);
	const char *arg;

	args_next(&args);
	while ((arg = args_next(&args))) {
		if (*arg != '-')
			continue;
		arg += arg[1] == '-' ? 2 : 1;
		if (strncmp(arg, option, len) != 0)
			continue;
		if (arg[len] == '\0')
			return args_next(&args);
		if (arg[len] == '=')
			return arg + len + 1;
	}
	return NULL;
}

/* Copies up to a single ','; ",," is how QEMU writes a comma. Returns where it stopped. */
static const char *copy_value(const char *p, char *buf, size_t size)
{
	size_t n = 0;

	for (; *p; p++) {
		if (*p == ',' && *++p != ',')
			break;
		if (n + 1 < size)
			buf[n++] = *p;
	}
	buf[n] = '\0';
	return p;
}

/* Value of key in "a=b,key=value,c=d". What stands alone first is the value of implied. */
static bool list_value(const char *list, const char *key, bool is_implied, char *buf, size_t size)
{
	size_t len = strlen(key);
	bool is_first = true;

	while (*list) {
		size_t name = strcspn(list, "=,");
		char skipped[2];

		if (list[name] == '=' && name == len && strncmp(list, key, len) == 0) {
			copy_value(list + len + 1, buf, size);
			return buf[0] != '\0';
		}
		if (is_first && is_implied && list[name] != '=') {
			copy_value(list, buf, size);
			return buf[0] != '\0';
		}
		is_first = false;
		list = copy_value(list, skipped, sizeof(skipped));
	}
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Program name of a path, without what the kernel adds when the file was replaced. */
static void program_name(const char *path, char *buf, size_t size)
{
	static const char deleted[] = " (deleted)";
	size_t len;

	watt_strlcpy(buf, base_name(path), size);
	len = strlen(buf);
	if (len > strlen(deleted) && strcmp(buf + len - strlen(deleted), deleted) == 0)
		buf[len - strlen(deleted)] = '\0';
}

static const char *program_hypervisor(const char *name)
{
	/* a kernel's comm has 15 bytes: the longer name arrives cut */
	if (strncmp(name, "qemu-system-", strlen("qemu-system-")) == 0 ||
	    strcmp(name, "qemu-kvm") == 0 || strcmp(name, "kvm") == 0)
		return "qemu";
	if (strcmp(name, "firecracker") == 0)
		return "firecracker";
	if (strcmp(name, "cloud-hypervisor") == 0 || strcmp(name, "cloud-hyperviso") == 0)
		return "cloud-hypervisor";
	if (strcmp(name, "VBoxHeadless") == 0 || strcmp(name, "VirtualBoxVM") == 0)
		return "virtualbox";
	if (strcmp(name, "vmware-vmx") == 0 || strcmp(name, "vmware-vmx-debu") == 0)
		return "vmware";
	if (strcmp(name, "qemu-dm") == 0)
		return "xen";
	if (strcmp(name, "bhyve") == 0 || strcmp(name, "crosvm") == 0)
		return name[0] == 'b' ? "bhyve" : "crosvm";
	return NULL;
}

static bool has_option(struct args args, const char *option)
{
	const char *arg;

	args_next(&args);
	while ((arg = args_next(&args)))
		if (*arg == '-' && strcmp(arg + (arg[1] == '-' ? 2 : 1), option) == 0)
			return true;
	return false;
}

/* Xen has its devices emulated by QEMU: its machines are not QEMU's. */
static const char *find_real(const char *hypervisor, struct args args)
{
	if (hypervisor && strcmp(hypervisor, "qemu") == 0 &&
	    (has_option(args, "xen-domid") || has_option(args, "xen-attach")))
		return "xen";
	return hypervisor;
}

static const char *find_hypervisor(const char *exe, const char *comm, struct args args)
{
	const char *hypervisor = NULL, *arg = args_next(&args);
	char name[64];

	if (exe) {
		program_name(exe, name, sizeof(name));
		return program_hypervisor(name);
	}
	if (arg) {
		program_name(arg, name, sizeof(name));
		hypervisor = program_hypervisor(name);
	}
	return hypervisor ? hypervisor : program_hypervisor(comm);
}

static bool copy_option(struct args args, const char *option, char *buf, size_t size)
{
	const char *value = args_value(args, option);

	if (!value || !*value)
		return false;
	watt_strlcpy(buf, value, size);
	return true;
}

static bool qemu_name(struct args args, char *buf, size_t size)
{
	const char *name = args_value(args, "name");

	return (name && list_value(name, "guest", true, buf, size)) ||
	       copy_option(args, "uuid", buf, size);
}

/* It has no name of its own: the platform's uuid, or what its control socket is called. */
static bool cloud_hypervisor_name(struct args args, char *buf, size_t size)
{
	const char *platform = args_value(args, "platform");
	const char *sock = args_value(args, "api-socket");
	char path[WATT_VM_NAME_MAX], *dot;

	if (platform && list_value(platform, "uuid", false, buf, size))
		return true;
	if (!sock || !list_value(sock, "path", true, path, sizeof(path)))
		return false;
	watt_strlcpy(buf, base_name(path), size);
	dot = strrchr(buf, '.');
	if (dot)
		*dot = '\0';
	return buf[0] != '\0';
}

/* What a machine is called by a file of it: "/vms/web/web.vmx" is "web". */
static bool file_name(const char *path, char *buf, size_t size)
{
	char *dot;

	watt_strlcpy(buf, base_name(path), size);
	dot = strrchr(buf, '.');
	if (dot)
		*dot = '\0';
	return buf[0] != '\0';
}

static const char *args_last(struct args args)
{
	const char *arg, *last = NULL;

	args_next(&args);
	while ((arg = args_next(&args)))
		last = arg;
	return last;
}

static bool virtualbox_name(struct args args, char *buf, size_t size)
{
	return copy_option(args, "comment", buf, size) || copy_option(args, "startvm", buf, size) ||
	       copy_option(args, "s", buf, size);
}

/* The last argument is the machine's file. */
static bool vmware_name(struct args args, char *buf, size_t size)
{
	const char *last = args_last(args);

	return last && strstr(last, ".vmx") && file_name(last, buf, size);
}

/* The last argument is the machine's name. */
static bool bhyve_name(struct args args, char *buf, size_t size)
{
	const char *last = args_last(args);

	if (last && *last && *last != '-') {
		watt_strlcpy(buf, last, size);
		return true;
	}
	return copy_option(args, "U", buf, size);
}

static bool crosvm_name(struct args args, char *buf, size_t size)
{
	const char *sock = args_value(args, "socket");

	if (copy_option(args, "name", buf, size))
		return true;
	if (!sock)
		sock = args_value(args, "s");
	return sock && file_name(sock, buf, size);
}

static const struct {
	const char *hypervisor;
	bool (*name)(struct args args, char *buf, size_t size);
} namers[] = {
	{ "qemu", qemu_name },
	{ "xen", qemu_name },
	{ "cloud-hypervisor", cloud_hypervisor_name },
	{ "virtualbox", virtualbox_name },
	{ "vmware", vmware_name },
	{ "bhyve", bhyve_name },
	{ "crosvm", crosvm_name },
};

static bool find_name(const char *hypervisor, struct args args, char *buf, size_t size)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(namers); i++)
		if (strcmp(namers[i].hypervisor, hypervisor) == 0)
			return namers[i].name(args, buf, size);
	return copy_option(args, "id", buf, size);
}

int watt_vm_find(const char *exe, const char *comm, const char *argv, size_t argv_len, uint32_t pid,
		 struct watt_vm *ret)
{
	struct args args = { argv, argv + argv_len };
	struct watt_vm vm = { .hypervisor = find_real(find_hypervisor(exe, comm, args), args) };

	if (!vm.hypervisor)
		return -ENOENT;
	if (!find_name(vm.hypervisor, args, vm.name, sizeof(vm.name)))
		snprintf(vm.name, sizeof(vm.name), "%s-%u", vm.hypervisor, (unsigned int)pid);
	*ret = vm;
	return 0;
}
