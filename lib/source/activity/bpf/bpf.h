/* SPDX-License-Identifier: Apache-2.0 */
/* The usage source "bpf", for the registry and for tests that choose how it walks. */
#ifndef WATT_SOURCE_ACTIVITY_BPF_H
#define WATT_SOURCE_ACTIVITY_BPF_H

#include "source/source.h"
#include "source/activity/bpf/bpf_object.h"

extern const struct watt_activity_ops watt_activity_bpf;

/* After so many sweeps the times of CPUs are read to the ns, where the kernel lets them. */
#define WATT_BPF_CLOCK_SWEEPS 20

/* As watt_activity_ops.open, with this way to walk and no other. sizes NULL: as is best. */
int watt_usage_bpf_open_mode(const struct watt_env *env, const struct watt_cpu_map *map,
			     enum watt_bpf_mode mode, const struct watt_bpf_sizes *sizes,
			     struct watt_activity_source **ret);

#endif
