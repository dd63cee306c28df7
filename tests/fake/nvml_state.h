/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the fake NVML share: its state, and what every function does first. */
#ifndef WATT_TESTS_FAKE_NVML_STATE_H
#define WATT_TESTS_FAKE_NVML_STATE_H

#include <pthread.h>

#include "nvml_script.h"

#define PUBLIC __attribute__((visibility("default")))

enum {
	SUCCESS = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	INSUFFICIENT_SIZE = 7,
	ARGUMENT_VERSION = 25,
	NOT_READY = 27,
};

/* Handles point at what they are of. */
struct fake_nvml {
	pthread_mutex_t lock;
	struct script script;
	uint64_t epoch_ns;
	uint64_t epoch_us;   /* the same of CLOCK_REALTIME */
	uint64_t stopped_ns; /* the time, where has_stopped */
	bool has_stopped, is_loaded;
	int users;
	uint64_t calls;
};

extern struct fake_nvml fake;

/* Of CLOCK_REALTIME, at an instant of the script. */
uint64_t fake_real_us(uint64_t t_ns);
/* NULL: it is none. */
struct gpu *fake_gpu_of(void *device);
/* Whose instance it is; NULL: it is none. */
struct gpu *fake_gpu_of_instance(const void *device);
/* What happens before a function does its work: 0, or what it returns instead. */
int fake_enter(const char *function, void *device);

#define ENTER(device) \
	do { \
		int enter_code = fake_enter(__func__, device); \
\
		if (enter_code) \
			return enter_code; \
	} while (0)

#endif
