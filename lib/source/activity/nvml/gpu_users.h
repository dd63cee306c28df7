/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who used GPUs, as it is told: places, and at each of them a cumulative count of every process.
 * Amounts come as windows, in the order of time for one process. One thread per object.
 */
#ifndef WATT_SOURCE_ACTIVITY_NVML_GPU_USERS_H
#define WATT_SOURCE_ACTIVITY_NVML_GPU_USERS_H

#include "base/activity.h"
#include "base/fs.h"
#include "source/activity/nvml/process_list.h"
#include "source/host/gpu_place.h"

#define WATT_GPU_PLACE_SIZE (WATT_GPU_PATH_SIZE + 64)

struct watt_gpu_user {
	uint32_t pid; /* 0: somebody whom nobody knows; with WATT_USAGE_OUTSIDE */
	uint64_t start_ns;
	uint64_t amount_ns;
	uint64_t told_ns;   /* end of what was told of it */
	uint64_t active_ns; /* end of the newest window in which it did something */
};

/* One place of one kind. */
struct watt_gpu_place {
	char path[WATT_GPU_PLACE_SIZE];
	enum watt_activity_kind kind;
	uint32_t n_units;     /* as watt_activity_place */
	uint64_t complete_ns; /* 0: nothing was told yet */
	struct watt_gpu_user *users;
	size_t n_users, cap_users;
};

struct watt_gpu_users {
	const struct watt_root *procfs;
	/* the driver's pids are not those of procfs: whoever has such a number here is another one */
	bool is_outside;
	struct watt_gpu_place *places; /* they move when one is added */
	size_t n_places, cap_places;
	struct watt_activity *readings;
	size_t n_readings, cap_readings;
	struct watt_activity_place *told;
};

/* procfs is borrowed; the object begins as zeros beside that. Accepts one of zeros. */
void watt_gpu_users_done(struct watt_gpu_users *users);
/* A new batch begins. */
void watt_gpu_users_begin(struct watt_gpu_users *users);
/* The place of this path and kind, a new one if there is none. 0 or -ENOMEM. */
int watt_gpu_users_find_place(struct watt_gpu_users *users, const char *path,
			      enum watt_activity_kind kind, size_t *ret);
/*
 * A process at a place. A pid that is another's now begins anew; of one that is gone its start is
 * still known. Valid until the next one is found. NULL: no memory.
 */
struct watt_gpu_user *watt_gpu_users_find(struct watt_gpu_users *users, size_t index, uint32_t pid);
/*
 * So much, evenly between two instants, and nothing between what was told before and that.
 * 0 or -ENOMEM.
 */
int watt_gpu_users_add(struct watt_gpu_users *users, size_t place, struct watt_gpu_user *user,
		       uint64_t from_ns, uint64_t to_ns, uint64_t amount_ns);
/* So much of the memory was held between two instants, as a list says. 0 or -ENOMEM. */
int watt_gpu_users_add_memory(struct watt_gpu_users *users, size_t place,
			      const struct watt_nvml_process *list, size_t n, uint64_t memory_bytes,
			      uint64_t from_ns, uint64_t to_ns);
/*
 * Ends the batch: who is at a place and was not told of up to its end did nothing since.
 * 0 or -ENOMEM; what *ret has is borrowed until the next batch begins.
 */
int watt_gpu_users_end(struct watt_gpu_users *users, uint64_t now_ns,
		       struct watt_activity_batch *ret);

#endif
