/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a GPU is in the tree of domains, from its PCI address: who measures it and who tells what
 * was done on it must say the same. Thread-safe.
 */
#ifndef WATT_SOURCE_HOST_GPU_PLACE_H
#define WATT_SOURCE_HOST_GPU_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fs.h"

#define WATT_PCI_SIZE 20
#define WATT_GPU_PATH_SIZE 64

/*
 * "00000000:0D:00.0" or "0000:0d:00.0" to the form of sysfs, "0000:0d:00.0". 0, -EBADMSG; what it
 * would write is untouched then.
 */
int watt_pci_parse(const char *text, char ret[WATT_PCI_SIZE]);
/* "gpu-0000:0d:00_0", the path of a GPU of that address. */
void watt_gpu_path(const char *pci, char ret[WATT_GPU_PATH_SIZE]);
/* Whether the device of that address is suspended: whoever asks it anything would wake it. */
bool watt_pci_is_asleep(const struct watt_root *sysfs, const char *pci);

#endif
