/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process runs a virtual machine, and which one, from its program and arguments. */
#ifndef WATT_SOURCE_META_VM_H
#define WATT_SOURCE_META_VM_H

#include <stddef.h>
#include <stdint.h>

#define WATT_VM_NAME_MAX 256

struct watt_vm {
	const char *hypervisor; /* "qemu", "firecracker", "cloud-hypervisor"; static */
	char name[WATT_VM_NAME_MAX];
};

/*
 * exe: the link's target, NULL if it can't be read; comm: then that, and the first argument,
 * tell the program. argv: the bytes of /proc/PID/cmdline, terminated by a NUL behind argv_len
 * bytes; it may be cut anywhere. A machine without a name is called by its uuid, its socket or
 * "<hypervisor>-<pid>". 0, or -ENOENT: it runs none. Thread-safe.
 */
int watt_vm_find(const char *exe, const char *comm, const char *argv, size_t argv_len, uint32_t pid,
		 struct watt_vm *ret);

#endif
