/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of all sources, in the order of preference.
 * A new source is one line here, one in registry.h and one in the build list of its folder.
 */
#include "source/source.h"

#include "source/registry.h"

/* one source per line */
/* clang-format off */
const struct watt_power_ops *const watt_power_registry[] = {
	&watt_power_meter,
	&watt_power_nut,
#ifdef WATT_HAVE_REDFISH
	&watt_power_redfish,
#endif
	&watt_power_perf_rapl,
	&watt_power_powercap,
	&watt_power_cray,
	&watt_power_amdgpu,
	&watt_power_intel_gpu,
	&watt_power_hwmon,
	&watt_power_dcmi,
	&watt_power_nvml,
	&watt_power_iio,
	&watt_power_power_supply,
	&watt_power_kmod,
	&watt_power_context,
	&watt_power_estimate,
	&watt_power_null,
	&watt_power_synth,
	&watt_power_synth_gpu,
	NULL,
};

const struct watt_activity_ops *const watt_activity_registry[] = {
#ifdef WATT_HAVE_BPF
	&watt_activity_bpf,
#endif
	&watt_activity_procfs,
	&watt_activity_nvml,
	&watt_activity_drm,
#ifdef WATT_HAVE_BPF
	&watt_activity_precise,
#endif
	&watt_activity_synth,
	&watt_activity_synth_gpu,
	NULL,
};

const struct watt_meta_ops *const watt_meta_registry[] = {
	&watt_meta_process,
	&watt_meta_cgroup,
	&watt_meta_passwd,
#ifdef WATT_HAVE_JSON
	&watt_meta_docker,
	&watt_meta_podman,
	&watt_meta_bundle,
#endif
#ifdef WATT_HAVE_KUBELET
	&watt_meta_kubernetes,
#endif
	NULL,
};
/* clang-format on */
