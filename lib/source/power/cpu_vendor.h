/* SPDX-License-Identifier: Apache-2.0 */
/* Who made the CPUs. */
#ifndef WATT_SOURCE_POWER_CPU_VENDOR_H
#define WATT_SOURCE_POWER_CPU_VENDOR_H

#include <stdbool.h>

#include "source/source.h"

/* AMD, or Hygon, which has AMD's registers. False if cpuinfo can't be read. Thread-safe. */
bool watt_cpu_is_amd(const struct watt_env *env);
/* Of whatever maker. False if cpuinfo can't be read. Thread-safe. */
bool watt_cpu_is_arm(const struct watt_env *env);

#endif
