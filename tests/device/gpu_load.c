/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a GPU of NVIDIA's busy for a time, by kernels through its driver.
 * usage: gpu_load PCI SECONDS [LIBCUDA]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "source/power/nvml/gpu_load.h"

#define KERNEL_NS (100 * WATT_NSEC_PER_MSEC)

int main(int argc, char **argv)
{
	struct watt_gpu_load *load = NULL;
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 0;
	uint64_t end_ns;
	int r;

	if (!(seconds > 0 && seconds <= 3600)) {
		fprintf(stderr, "usage: gpu_load PCI SECONDS [LIBCUDA]\n");
		return 2;
	}
	r = watt_gpu_load_open(argc > 3 ? argv[3] : NULL, argv[1], &load);
	end_ns = watt_now_ns() + (uint64_t)(seconds * 1e9);
	while (r == 0 && watt_now_ns() < end_ns) {
		r = watt_gpu_load_start(load, KERNEL_NS);
		if (r == 0)
			r = watt_gpu_load_wait(load);
	}
	watt_gpu_load_close(load);
	if (r < 0)
		fprintf(stderr, "gpu_load: %s takes no kernels: %s\n", argv[1], strerror(-r));
	return r < 0;
}
