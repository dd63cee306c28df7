/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the table of an AMD GPU: nothing of what is refused, nothing negative, nothing beside
 * what is said to be there. */
#include "fuzz.h"

#include <string.h>

#include "source/power/amdgpu/gpu_metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_gpu_metrics metrics, before;
	uint8_t *copy = malloc(size ? size : 1);
	unsigned int i;

	if (!copy)
		return 0;
	/* of its own, so that a byte behind it is found */
	memcpy(copy, data, size);
	memset(&metrics, 0xa5, sizeof(metrics));
	before = metrics;
	if (watt_gpu_metrics_parse(copy, size, &metrics) < 0) {
		check(memcmp(&metrics, &before, sizeof(metrics)) == 0);
		free(copy);
		return 0;
	}
	check(metrics.format >= 1 && metrics.format <= 3);
	check((metrics.has >> WATT_GPU_N_METRICS) == 0);
	for (i = 0; i < WATT_GPU_N_METRICS; i++) {
		check(metrics.value[i] >= 0);
		check(metrics.value[i] == 0 || watt_gpu_metrics_has(&metrics, i));
	}
	check(metrics.value[WATT_GPU_METRIC_HELD_BY_HEAT] == 0 ||
	      metrics.value[WATT_GPU_METRIC_HELD_BY_HEAT] == 1000000);
	free(copy);
	return 0;
}
