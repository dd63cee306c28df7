/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the size of elements by how much was written. It must not call the driver. */
#include "source/activity/nvml/process_list.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"

/* What ends in the value that stands for "unwritten" is taken for shorter than it is; no more. */
static size_t written_size(const uint8_t *buf, size_t size)
{
	while (size > 0 && buf[size - 1] == WATT_NVML_UNWRITTEN)
		size--;
	return size;
}

int watt_nvml_list_parse(const uint8_t *buf, size_t size, size_t n, uint32_t *ret)
{
	static const size_t strides[] = { 16, 24, WATT_NVML_ELEMENT_MAX };
	size_t written = written_size(buf, size), i = 0, stride;

	if (n > size / WATT_NVML_ELEMENT_MAX)
		return -EBADMSG;
	while (i < WATT_ARRAY_SIZE(strides) && n * strides[i] < written)
		i++;
	if (i == WATT_ARRAY_SIZE(strides))
		return -EBADMSG;
	stride = strides[i];
	/* less was written than the smallest elements take */
	if (n && written <= (n - 1) * strides[0])
		return -EBADMSG;
	for (i = 0; i < n; i++)
		memcpy(&ret[i], buf + i * stride, sizeof(ret[i]));
	return 0;
}
