/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver's lists of processes are in memory. The size of their elements is not what the
 * name of the function says: it was 32 bytes in some releases where 24 were right, and 16 in
 * others. Thread-safe.
 */
#ifndef WATT_SOURCE_ACTIVITY_NVML_PROCESS_LIST_H
#define WATT_SOURCE_ACTIVITY_NVML_PROCESS_LIST_H

#include <stddef.h>
#include <stdint.h>

/* Every byte of the buffer before the driver writes into it. */
#define WATT_NVML_UNWRITTEN 0xa5
/* The largest element that a driver ever had. */
#define WATT_NVML_ELEMENT_MAX 32

/*
 * The pids in a buffer that the driver says to have written n elements to; room for n in ret.
 * 0; -EBADMSG: that can't be.
 */
int watt_nvml_list_parse(const uint8_t *buf, size_t size, size_t n, uint32_t *ret);

#endif
