/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances of a GPU (MIG), and who is in them. The driver tells neither their power nor what a
 * process does: what an instance did is how busy its slices were, by GPM where the GPU has it, else
 * whether anybody has it open; those in it are taken for equally busy. One thread per object.
 */
#ifndef WATT_SOURCE_ACTIVITY_NVML_MIG_H
#define WATT_SOURCE_ACTIVITY_NVML_MIG_H

#include "source/activity/nvml/gpu_users.h"
#include "source/activity/nvml/process_list.h"
#include "source/host/nvml.h"

/* Of one GPU at a time. */
#define WATT_NVML_MAX_INSTANCES 8
/* Of one GPU in all its time: ids are used again. */
#define WATT_NVML_MAX_KNOWN 64

struct watt_nvml_instance {
	uint32_t gi, ci;     /* of the GPU instance, of the compute instance in it */
	uint32_t n_slices;   /* of the compute instance: at least 1 */
	uint32_t gpu_slices; /* of the GPU instance */
	void *device;        /* NULL: it is not there now */
	double busy;         /* slices, as a mean since the look before; below 0: nobody tells */
	size_t place;        /* of its time */
	uint64_t looked_ns;  /* 0: not yet */
	uint64_t listed_ns;  /* when who is in it was asked for; 0: not yet */
	struct watt_nvml_process processes[64];
	size_t n_processes;
};

/* How far the counters of a GPU instance were at the last look. */
struct watt_nvml_gpm {
	uint32_t gi;
	void *sample; /* the driver's; NULL: none */
	double busy;  /* part of its slices since then, 0 to 1; below 0: not known */
};

/* By what instances were told apart. */
enum watt_nvml_model {
	WATT_NVML_MODEL_NONE = 0, /* nobody looked, or there are none */
	WATT_NVML_MODEL_GPM = 1,
	WATT_NVML_MODEL_OPEN = 2, /* busy are those that anybody has open */
};

struct watt_nvml_mig {
	struct watt_nvml_instance list[WATT_NVML_MAX_KNOWN];
	size_t n;
	struct watt_nvml_gpm gpm[WATT_NVML_MAX_INSTANCES];
	size_t n_gpm;
	uint64_t looked_ns;
	enum watt_nvml_model model; /* of the last look */
};

/* Whether the GPU is divided now. */
bool watt_nvml_mig_is_on(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu);
/* How many instances there are, and whether GPM tells how busy they are. */
size_t watt_nvml_mig_count(const struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu,
			   bool *ret_has_gpm);
/*
 * Takes in what every instance did since the look before; memory_bytes: of the GPU, 0: not known.
 * 0, -ENOMEM, or what watt_nvml_judge() makes of the driver's answer.
 */
int watt_nvml_mig_read(struct watt_nvml_mig *mig, struct watt_nvml *nvml, struct watt_nvml_gpu *gpu,
		       struct watt_gpu_users *users, uint64_t memory_bytes);
/* The GPU is whole again: its instances are gone. 0 or -ENOMEM. */
int watt_nvml_mig_end(struct watt_nvml_mig *mig, const struct watt_nvml_gpu *gpu,
		      struct watt_gpu_users *users, uint64_t memory_bytes, uint64_t now_ns);
/* Before the library is closed: what happens until it is open again nobody knows. Accepts zeros. */
void watt_nvml_mig_done(struct watt_nvml_mig *mig, const struct watt_nvml *nvml);

#endif
