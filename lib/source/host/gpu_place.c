/* SPDX-License-Identifier: Apache-2.0 */
/* PCI addresses to paths of domains. It must not wake a device. */
#include "source/host/gpu_place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/device_sleep.h"
#include "base/parse.h"
#include "base/util.h"

/* Hexadecimal digits up to a character; moves *cursor behind it. */
static int take_hex(const char **cursor, size_t max_len, char end, unsigned int *ret)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	size_t len = strspn(*cursor, digits);
	char text[9];
	uint64_t value;

	if (len == 0 || len > max_len || len >= sizeof(text) || (*cursor)[len] != end)
		return -EBADMSG;
	watt_strlcpy(text, *cursor, len + 1);
	if (watt_parse_hex(text, &value) < 0)
		return -EBADMSG;
	*cursor += len + (end != '\0');
	*ret = (unsigned int)value;
	return 0;
}

int watt_pci_parse(const char *text, char ret[WATT_PCI_SIZE])
{
	unsigned int domain, bus, device, function;

	if (take_hex(&text, 8, ':', &domain) < 0 || take_hex(&text, 2, ':', &bus) < 0 ||
	    take_hex(&text, 2, '.', &device) < 0 || take_hex(&text, 1, '\0', &function) < 0)
		return -EBADMSG;
	snprintf(ret, WATT_PCI_SIZE, "%04x:%02x:%02x.%x", domain, bus, device, function);
	return 0;
}

void watt_gpu_path(const char *pci, char ret[WATT_GPU_PATH_SIZE])
{
	char clean[WATT_GPU_PATH_SIZE - 4];

	watt_clean_name(pci, clean, sizeof(clean));
	snprintf(ret, WATT_GPU_PATH_SIZE, "gpu-%s", clean);
}

bool watt_pci_is_asleep(const struct watt_root *sysfs, const char *pci)
{
	char dir[80];

	snprintf(dir, sizeof(dir), "bus/pci/devices/%s", pci);
	return watt_device_is_asleep(sysfs, dir);
}
