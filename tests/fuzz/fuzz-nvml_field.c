/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what the driver filled in: no number below 0, and none where it is refused. */
#include "fuzz.h"

#include <string.h>

#include "source/host/nvml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_nvml_field field = { 0 };
	char text[64] = "", pci[WATT_PCI_SIZE] = "", path[WATT_GPU_PATH_SIZE];
	int64_t value = -1;

	memcpy(&field, data, size < sizeof(field) ? size : sizeof(field));
	check((watt_nvml_field_value(&field, &value) == 0) == (value >= 0));
	check(watt_nvml_error_text(field.result) != NULL);
	memcpy(text, data, size < sizeof(text) - 1 ? size : sizeof(text) - 1);
	if (watt_pci_parse(text, pci) < 0) {
		check(pci[0] == '\0');
		return 0;
	}
	watt_gpu_path(pci, path);
	check(strncmp(path, "gpu-", 4) == 0);
	return 0;
}
