/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of every source, for the registry alone. */
#ifndef WATT_SOURCE_REGISTRY_H
#define WATT_SOURCE_REGISTRY_H

#include "source/source.h"

#ifdef WATT_HAVE_JSON
extern const struct watt_meta_ops watt_meta_bundle;
extern const struct watt_meta_ops watt_meta_docker;
extern const struct watt_meta_ops watt_meta_podman;
#endif
#ifdef WATT_HAVE_KUBELET
extern const struct watt_meta_ops watt_meta_kubernetes;
#endif
extern const struct watt_meta_ops watt_meta_cgroup;
extern const struct watt_meta_ops watt_meta_passwd;
extern const struct watt_meta_ops watt_meta_process;
extern const struct watt_power_ops watt_power_amdgpu;
extern const struct watt_power_ops watt_power_intel_gpu;
extern const struct watt_power_ops watt_power_context;
extern const struct watt_power_ops watt_power_cray;
extern const struct watt_power_ops watt_power_dcmi;
extern const struct watt_power_ops watt_power_hwmon;
extern const struct watt_power_ops watt_power_iio;
extern const struct watt_power_ops watt_power_nvml;
extern const struct watt_power_ops watt_power_power_supply;
extern const struct watt_power_ops watt_power_estimate;
extern const struct watt_power_ops watt_power_kmod;
extern const struct watt_power_ops watt_power_meter;
extern const struct watt_power_ops watt_power_nut;
extern const struct watt_power_ops watt_power_null;
extern const struct watt_power_ops watt_power_synth;
extern const struct watt_power_ops watt_power_synth_gpu;
#ifdef WATT_HAVE_BPF
extern const struct watt_activity_ops watt_activity_bpf;
extern const struct watt_activity_ops watt_activity_precise;
#endif
extern const struct watt_activity_ops watt_activity_drm;
extern const struct watt_activity_ops watt_activity_nvml;
extern const struct watt_activity_ops watt_activity_procfs;
extern const struct watt_activity_ops watt_activity_synth;
extern const struct watt_activity_ops watt_activity_synth_gpu;
#ifdef WATT_HAVE_REDFISH
extern const struct watt_power_ops watt_power_redfish;
#endif
extern const struct watt_power_ops watt_power_perf_rapl;
extern const struct watt_power_ops watt_power_powercap;

#endif
