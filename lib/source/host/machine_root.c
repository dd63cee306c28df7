/* SPDX-License-Identifier: Apache-2.0 */
/* A captured machine, or a host seen from a container, has its files beside its procfs. */
#include "source/host/machine_root.h"

#include <errno.h>
#include <fcntl.h>

int watt_machine_root_open(const struct watt_root *procfs, struct watt_root *ret)
{
	struct watt_root root = WATT_ROOT_INIT;

	root.fd = openat(procfs->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root.fd < 0)
		return -errno;
	*ret = root;
	return 0;
}
