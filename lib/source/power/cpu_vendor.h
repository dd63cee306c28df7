/* SPDX-License-Identifier: Apache-2.0 */
/* Who made the CPUs. */
#ifndef WATT_SOURCE_POWER_CPU_VENDOR_H
#define WATT_SOURCE_POWER_CPU_VENDOR_H

#include <stdbool.h>

#include "source/source.h"

/* From text as in /proc/cpuinfo: AMD, or Hygon which has AMD's registers. Thread-safe. */
bool watt_cpuinfo_is_amd(const char *text);
/* The same from the machine's cpuinfo; false if it can't be read. */
bool watt_cpu_is_amd(const struct watt_env *env);

#endif
