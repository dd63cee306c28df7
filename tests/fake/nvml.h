/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests ask of the fake libnvidia-ml.so.1 beside the functions that the real one has. They
 * are found by dlsym() in the open library. Seconds are those of the script: 0 is when it was read.
 */
#ifndef WATT_TESTS_FAKE_NVML_H
#define WATT_TESTS_FAKE_NVML_H

#include <stdint.h>

/* Takes another script, at once. Returns the number of the line that makes no sense; 0: none. */
typedef int (*fake_nvml_load_fn)(const char *text);
/* Stops the clock at so many ns of the script. */
typedef void (*fake_nvml_set_clock_fn)(uint64_t t_ns);
/* True energy of a GPU between two instants, in nJ. */
typedef int64_t (*fake_nvml_energy_fn)(unsigned int gpu, uint64_t t0_ns, uint64_t t1_ns);
/* True time of a process on its engine, in ns. */
typedef uint64_t (*fake_nvml_busy_fn)(unsigned int gpu, unsigned int pid, uint64_t t0_ns,
				      uint64_t t1_ns);
/* How often it was initialised and not shut down. */
typedef int (*fake_nvml_users_fn)(void);
/* Calls of all functions so far. */
typedef uint64_t (*fake_nvml_calls_fn)(void);

#endif
