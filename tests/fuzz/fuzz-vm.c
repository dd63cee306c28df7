/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the arguments of a process. The first byte says whether the program's path is
 * known, and which hypervisor it is.
 */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "source/meta/vm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const programs[] = { NULL, "/usr/bin/qemu-system-x86_64", "/firecracker",
						"/usr/bin/cloud-hypervisor (deleted)" };
	struct watt_vm vm;
	const char *exe;
	char *argv;
	int r;

	if (size == 0)
		return 0;
	exe = programs[data[0] % WATT_ARRAY_SIZE(programs)];
	argv = malloc(size);
	if (!argv)
		return 0;
	memcpy(argv, data + 1, size - 1);
	argv[size - 1] = '\0';
	r = watt_vm_find(exe, "comm", argv, size - 1, 42, &vm);
	if (r != 0 && (r != -ENOENT || exe))
		abort();
	if (r == 0 && (!vm.hypervisor || !vm.name[0] || !memchr(vm.name, '\0', sizeof(vm.name))))
		abort();
	free(argv);
	return 0;
}
