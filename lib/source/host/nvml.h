/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NVIDIA driver's library, opened while we run: its functions, its structs as they are in
 * memory, and the GPUs that it shows. Who reads power and who reads processes have one each, since
 * each has a thread of its own. Every call may take long. One thread per object.
 */
#ifndef WATT_SOURCE_HOST_NVML_H
#define WATT_SOURCE_HOST_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/host/gpu_place.h"
#include "source/source.h"

#define WATT_NVML_TEXT 96
#define WATT_NVML_MAX_GPUS 64

/* What functions return. */
enum watt_nvml_result {
	WATT_NVML_SUCCESS = 0,
	WATT_NVML_UNINITIALIZED = 1,
	WATT_NVML_INVALID_ARGUMENT = 2,
	WATT_NVML_NOT_SUPPORTED = 3,
	WATT_NVML_NO_PERMISSION = 4,
	WATT_NVML_NOT_FOUND = 6,
	WATT_NVML_INSUFFICIENT_SIZE = 7,
	WATT_NVML_DRIVER_NOT_LOADED = 9,
	WATT_NVML_TIMEOUT = 10,
	WATT_NVML_LIBRARY_NOT_FOUND = 12,
	WATT_NVML_FUNCTION_NOT_FOUND = 13,
	WATT_NVML_GPU_IS_LOST = 15,
	WATT_NVML_RESET_REQUIRED = 16,
	WATT_NVML_VERSION_MISMATCH = 18, /* the driver was upgraded and not loaded again */
	WATT_NVML_IN_USE = 19,
	WATT_NVML_NO_DATA = 21,
	WATT_NVML_ARGUMENT_VERSION = 25,
	WATT_NVML_DEPRECATED = 26,
	WATT_NVML_NOT_READY = 27,
	WATT_NVML_GPU_NOT_FOUND = 28,
};

struct watt_nvml_pci {
	char legacy[16];
	uint32_t domain, bus, device, device_id, subsystem_id;
	char id[32];
};

struct watt_nvml_field {
	uint32_t id;
	uint32_t scope;
	int64_t timestamp_us; /* since 1970 */
	int64_t latency_us;
	int32_t type;
	int32_t result;
	union {
		double real;
		uint32_t u32;
		uint64_t u64;
		int64_t i64;
		uint16_t u16;
	} value;
};

struct watt_nvml_process_sample {
	uint32_t pid;
	uint32_t reserved;
	uint64_t timestamp_us;                 /* since 1970: the end of its window */
	uint32_t sm, memory, encoder, decoder; /* percent */
};

struct watt_nvml_sample {
	uint64_t timestamp_us; /* since 1970 */
	uint64_t value;        /* of a type that is told beside it, as a field's */
};

struct watt_nvml_memory {
	uint64_t total, free, used; /* bytes */
};

struct watt_nvml_attributes {
	uint32_t sms, copy, decoder, encoder, jpeg, ofa, gpu_slices, compute_slices;
	uint64_t memory_mb;
};

/* What a process did in all of its life. */
struct watt_nvml_account {
	uint32_t gpu_percent, memory_percent; /* 0xffffffff: not known */
	uint64_t max_memory;
	uint64_t time_ms;  /* that it lived; 0 while it does */
	uint64_t start_us; /* since 1970 */
	uint32_t is_running;
	uint32_t reserved[5];
};

struct watt_nvml_gpm_support {
	uint32_t version; /* 1 */
	uint32_t is_supported;
};

struct watt_nvml_gpm_metric {
	uint32_t id;
	int32_t result;
	double value;
	const char *names[3];
};

#define WATT_NVML_GPM_METRICS 333
#define WATT_NVML_GPM_GRAPHICS_UTIL 1
#define WATT_NVML_GPM_SM_UTIL 2

struct watt_nvml_gpm_metrics {
	uint32_t version; /* 1 */
	uint32_t n;
	void *samples[2]; /* the earlier one first */
	struct watt_nvml_gpm_metric list[WATT_NVML_GPM_METRICS];
};

_Static_assert(sizeof(struct watt_nvml_attributes) == 40, "the driver's layout");
_Static_assert(sizeof(struct watt_nvml_account) == 56, "the driver's layout");
_Static_assert(sizeof(struct watt_nvml_gpm_metric) == 40, "the driver's layout");
_Static_assert(sizeof(struct watt_nvml_gpm_metrics) == 13344, "the driver's layout");
_Static_assert(sizeof(struct watt_nvml_pci) == 68, "the driver's layout");
_Static_assert(sizeof(struct watt_nvml_field) == 40, "the driver's layout");
_Static_assert(offsetof(struct watt_nvml_field, value) == 32, "the driver's layout");
_Static_assert(sizeof(struct watt_nvml_process_sample) == 32, "the driver's layout");
_Static_assert(sizeof(struct watt_nvml_sample) == 16, "the driver's layout");
_Static_assert(sizeof(struct watt_nvml_memory) == 24, "the driver's layout");

/* NULL: this driver has no such function. Those above the line are always there. */
struct watt_nvml_api {
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned int *ret);
	int (*by_index)(unsigned int index, void **ret);
	/* ---- */
	int (*init_with_flags)(unsigned int flags);
	int (*driver_version)(char *buf, unsigned int size);
	int (*by_pci)(const char *id, void **ret);
	int (*pci)(void *device, struct watt_nvml_pci *ret);
	int (*name)(void *device, char *buf, unsigned int size);
	int (*uuid)(void *device, char *buf, unsigned int size);
	int (*architecture)(void *device, unsigned int *ret);
	int (*power)(void *device, unsigned int *ret_mw);
	int (*energy)(void *device, unsigned long long *ret_mj);
	int (*fields)(void *device, int n, struct watt_nvml_field *fields);
	int (*samples)(void *device, int kind, unsigned long long last_seen_us, int *ret_type,
		       unsigned int *count, struct watt_nvml_sample *samples);
	int (*limits)(void *device, unsigned int *ret_min_mw, unsigned int *ret_max_mw);
	int (*enforced_limit)(void *device, unsigned int *ret_mw);
	int (*temperature)(void *device, int sensor, unsigned int *ret_degrees);
	int (*clock)(void *device, int which, unsigned int *ret_mhz);
	int (*memory)(void *device, struct watt_nvml_memory *ret);
	int (*event_reasons)(void *device, unsigned long long *ret);
	int (*throttle_reasons)(void *device, unsigned long long *ret); /* the same, earlier */
	int (*process_samples)(void *device, struct watt_nvml_process_sample *samples,
			       unsigned int *count, unsigned long long last_seen_us);
	int (*utilization)(void *device, uint32_t ret_percents[2]);
	/* lists of processes: the newest layout that the driver has, and older ones */
	int (*compute_v3)(void *device, unsigned int *count, void *infos);
	int (*compute_v2)(void *device, unsigned int *count, void *infos);
	int (*compute_v1)(void *device, unsigned int *count, void *infos);
	int (*graphics_v3)(void *device, unsigned int *count, void *infos);
	int (*graphics_v2)(void *device, unsigned int *count, void *infos);
	int (*graphics_v1)(void *device, unsigned int *count, void *infos);
	int (*mps_v3)(void *device, unsigned int *count, void *infos);
	int (*mps_v2)(void *device, unsigned int *count, void *infos);
	int (*mps_v1)(void *device, unsigned int *count, void *infos);
	int (*mig_mode)(void *device, unsigned int *ret, unsigned int *ret_pending);
	/* instances: handles of their own, that die with them */
	int (*max_instances)(void *device, unsigned int *ret);
	int (*instance)(void *device, unsigned int index, void **ret);
	int (*gpu_instance_id)(void *instance, unsigned int *ret);
	int (*compute_instance_id)(void *instance, unsigned int *ret);
	int (*attributes)(void *instance, struct watt_nvml_attributes *ret);
	int (*gpm_support)(void *device, struct watt_nvml_gpm_support *ret);
	int (*gpm_alloc)(void **ret);
	int (*gpm_free)(void *sample);
	int (*gpm_sample)(void *device, unsigned int gpu_instance, void *sample);
	int (*gpm_metrics)(struct watt_nvml_gpm_metrics *metrics);
	/* accounting, where somebody has switched it on */
	int (*accounting_mode)(void *device, int *ret);
	int (*accounting_pids)(void *device, unsigned int *count, unsigned int *pids);
	int (*account)(void *device, unsigned int pid, struct watt_nvml_account *ret);
};

struct watt_nvml_gpu {
	void *device; /* NULL: it sleeps, or is lost */
	bool is_lost;
	unsigned int architecture; /* 0: not known */
	char pci[WATT_PCI_SIZE];
	char path[WATT_GPU_PATH_SIZE]; /* in the tree of domains */
	char uuid[WATT_NVML_TEXT];     /* empty: not known yet */
	char name[WATT_NVML_TEXT];
};

struct watt_nvml {
	const struct watt_env *env;
	void *library;
	struct watt_nvml_api api;
	bool is_up;     /* initialised; false: everybody sleeps, or the driver has gone */
	bool is_second; /* somebody else loses what this one loses, and warns of it */
	char driver[80];
	struct watt_nvml_gpu gpus[WATT_NVML_MAX_GPUS];
	size_t n_gpus;
};

/*
 * Opens the library and lists the GPUs. Those that are suspended are listed and not asked.
 * -ENODEV: no library, driver or GPU; -EACCES; -ELIBBAD: the library is not that of the driver, or
 * none at all; -ENOMEM, -EIO. ret_code, if not NULL: what the library said, 0 if it did not come
 * to that.
 */
int watt_nvml_open(const struct watt_env *env, struct watt_nvml **ret, int *ret_code);
/* Accepts NULL; returns NULL. */
struct watt_nvml *watt_nvml_close(struct watt_nvml *nvml);
/*
 * To be called before a GPU is asked anything: 0; -EAGAIN: it sleeps; -ENODEV: it is lost. One
 * that has woken up is looked up.
 */
int watt_nvml_wake(struct watt_nvml *nvml, struct watt_nvml_gpu *gpu);
/*
 * What a function returned for a GPU, as an errno, and its consequences: a GPU that is lost is not
 * asked again; where the driver itself has gone, the library is closed and no GPU is.
 */
int watt_nvml_judge(struct watt_nvml *nvml, struct watt_nvml_gpu *gpu, int code);
/* As judge, without consequences. Thread-safe. */
int watt_nvml_error(int code);
/* What a code means, for people; never NULL. Thread-safe. */
const char *watt_nvml_error_text(int code);

/*
 * The number that a field holds, whatever its type. 0; -EBADMSG: its type is none of a whole
 * number; -ERANGE: it is negative or does not fit; or what its own result says. Thread-safe.
 */
int watt_nvml_field_value(const struct watt_nvml_field *field, int64_t *ret);
/* Asks a GPU that is awake for one field: what the driver returned. */
int watt_nvml_read_field(struct watt_nvml *nvml, const struct watt_nvml_gpu *gpu, uint32_t id,
			 uint32_t scope, int64_t *ret);

#endif
