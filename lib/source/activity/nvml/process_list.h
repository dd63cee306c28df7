/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's lists of processes that have a GPU, or an instance of it, open. The size of their
 * elements is not what the name of the function says: it was 32 bytes in some releases where 24
 * were right, and 16 in others. Thread-safe.
 */
#ifndef WATT_SOURCE_ACTIVITY_NVML_PROCESS_LIST_H
#define WATT_SOURCE_ACTIVITY_NVML_PROCESS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/host/nvml.h"

/* Every byte of the buffer before the driver writes into it. */
#define WATT_NVML_UNWRITTEN 0xa5
/* The largest element that a driver ever had. */
#define WATT_NVML_ELEMENT_MAX 32
#define WATT_NVML_MAX_LISTED 1024
#define WATT_NVML_BYTES_UNKNOWN UINT64_MAX

struct watt_nvml_process {
	uint32_t pid;
	bool is_server; /* of MPS: what it does, its clients do */
	uint64_t bytes; /* of the GPU's memory; WATT_NVML_BYTES_UNKNOWN */
};

struct watt_nvml_processes {
	struct watt_nvml_process list[WATT_NVML_MAX_LISTED]; /* each pid once */
	size_t n;
	size_t n_clients; /* of MPS, at the end of the list */
	bool is_whole;    /* no list failed, beside those that this GPU does not have */
};

/*
 * What is in a buffer that the driver says to have written n elements to; room for n in ret.
 * 0; -EBADMSG: that can't be.
 */
int watt_nvml_list_parse(const uint8_t *buf, size_t size, size_t n, struct watt_nvml_process *ret);
/*
 * All who have a GPU or an instance open, for compute, graphics, or as clients of MPS. Success where
 * any list can be read, else what the driver returned.
 */
int watt_nvml_list_fetch(const struct watt_nvml *nvml, void *device,
			 struct watt_nvml_processes *ret);

#endif
