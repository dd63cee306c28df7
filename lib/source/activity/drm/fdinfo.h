/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells of an open file of a GPU: which client of which device it is, how long that
 * had each engine, and how much memory it holds. Documentation/gpu/drm-usage-stats.rst.
 */
#ifndef WATT_SOURCE_ACTIVITY_DRM_FDINFO_H
#define WATT_SOURCE_ACTIVITY_DRM_FDINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/host/gpu_place.h"

#define WATT_FDINFO_ENGINES 16
#define WATT_FDINFO_REGIONS 8
#define WATT_FDINFO_NAME 24

/* What a driver has of one engine; the others are 0. */
struct watt_fdinfo_engine {
	char name[WATT_FDINFO_NAME];
	uint64_t busy_ns;
	uint64_t cycles;       /* of the client */
	uint64_t total_cycles; /* that there were; 0: not told */
	uint32_t capacity;     /* engines of that name; 0: not told, one */
	bool has_busy_ns;
};

/* Memory of one kind: of the card ("vram0", "local0"), of the machine ("system", "gtt"), ... */
struct watt_fdinfo_region {
	char name[WATT_FDINFO_NAME];
	uint64_t bytes; /* that are there, buffers that it shares with others included */
	uint8_t rank;   /* of the key that told them: the largest is the best */
};

struct watt_fdinfo {
	char driver[WATT_FDINFO_NAME];
	char pdev[WATT_PCI_SIZE]; /* empty: the device has no PCI address */
	uint64_t client_id;
	bool has_client_id;
	uint32_t n_engines;
	struct watt_fdinfo_engine engines[WATT_FDINFO_ENGINES];
	uint32_t n_regions;
	struct watt_fdinfo_region regions[WATT_FDINFO_REGIONS];
};

/*
 * 0; -ENODATA: it is no file of a GPU that tells of itself; -EBADMSG: what it tells makes no sense
 * (nothing is written then). Lines that are not known are passed over, as are engines for which
 * there is no room, and memory that makes no sense. Thread-safe.
 */
int watt_fdinfo_parse(const char *text, struct watt_fdinfo *ret);
/*
 * The memory that a client holds: of the card, if it has any of its own, else of the machine. 0;
 * -ENODATA: the driver does not tell.
 */
int watt_fdinfo_memory(const struct watt_fdinfo *info, uint64_t *ret_bytes);

#endif
