/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a CPU is, and what one of its kind takes per logical CPU, idle and busy.
 *
 * Servers: SPECpower_ssj2008 results (https://www.spec.org/power_ssj2008/results/), averaged per
 * microarchitecture and logical CPU by the Cloud Carbon Footprint project (methodology and data:
 * https://www.cloudcarbonfootprint.org/docs/methodology, its ccf-coefficients output of 2026).
 * These are whole servers at the wall, divided by their logical CPUs. Everything else is of our
 * own reckoning, from published consumption of typical machines, and says so by its uncertainty.
 * Why these uncertainties: docs/sources/estimate.md. It must not read files.
 */
#include "source/power/estimate/cpu_model.h"

#include <stdbool.h>
#include <string.h>

enum kind {
	KIND_GENERIC,
	KIND_SANDY_BRIDGE,
	KIND_IVY_BRIDGE,
	KIND_HASWELL,
	KIND_BROADWELL,
	KIND_SKYLAKE,
	KIND_CASCADE_LAKE,
	KIND_ICE_LAKE,
	KIND_SAPPHIRE_RAPIDS,
	KIND_EMERALD_RAPIDS,
	KIND_GRANITE_RAPIDS,
	KIND_INTEL_DESKTOP,
	KIND_INTEL_LAPTOP,
	KIND_ATOM,
	KIND_ZEN1,
	KIND_ZEN2,
	KIND_ZEN3,
	KIND_ZEN4,
	KIND_ZEN4C,
	KIND_ZEN5,
	KIND_AMD_DESKTOP,
	KIND_AMD_LAPTOP,
	KIND_NEOVERSE_N1,
	KIND_NEOVERSE_V1,
	KIND_NEOVERSE_N2,
	KIND_NEOVERSE_V2,
	KIND_ARM_SERVER,
	KIND_CORTEX_A_BIG,
	KIND_CORTEX_A_SMALL,
};

/* Of a whole server, by many results of one microarchitecture. */
#define BY_RESULTS_PPM 350000
/* Of a neighbour's results, or of a few. */
#define BY_NEIGHBOUR_PPM 500000
/* Of a class of machines that differ more than their CPUs do. */
#define BY_CLASS_PPM 600000

static const struct watt_cpu_model models[] = {
	/* The average over all, as the project uses it for CPUs that it does not know. */
	[KIND_GENERIC] = { "generic CPU", 740000, 3500000, BY_CLASS_PPM },
	[KIND_SANDY_BRIDGE] = { "Sandy Bridge", 2212243, 8630871, BY_RESULTS_PPM },
	[KIND_IVY_BRIDGE] = { "Ivy Bridge", 1707431, 5556944, BY_RESULTS_PPM },
	[KIND_HASWELL] = { "Haswell", 1857353, 5595384, BY_RESULTS_PPM },
	[KIND_BROADWELL] = { "Broadwell", 712834, 3685328, BY_RESULTS_PPM },
	[KIND_SKYLAKE] = { "Skylake", 612989, 4104170, BY_RESULTS_PPM },
	[KIND_CASCADE_LAKE] = { "Cascade Lake", 690298, 4063194, BY_RESULTS_PPM },
	[KIND_ICE_LAKE] = { "Ice Lake", 766797, 3758203, BY_RESULTS_PPM },
	[KIND_SAPPHIRE_RAPIDS] = { "Sapphire Rapids", 1036286, 4160476, BY_RESULTS_PPM },
	[KIND_EMERALD_RAPIDS] = { "Emerald Rapids", 814010, 4482031, BY_RESULTS_PPM },
	[KIND_GRANITE_RAPIDS] = { "Granite Rapids", 581588, 2527471, BY_RESULTS_PPM },
	/* One-socket servers with desktop CPUs ("Coffee Lake" there). */
	[KIND_INTEL_DESKTOP] = { "Intel Core desktop", 1138426, 5421759, BY_NEIGHBOUR_PPM },
	/* 15 to 45 W over 8 to 16 logical CPUs, 2 to 5 W idle. */
	[KIND_INTEL_LAPTOP] = { "Intel Core laptop", 300000, 2200000, BY_CLASS_PPM },
	[KIND_ATOM] = { "Intel Atom", 500000, 2500000, BY_CLASS_PPM },
	[KIND_ZEN1] = { "Zen", 846788, 2604167, BY_RESULTS_PPM },
	[KIND_ZEN2] = { "Zen 2", 474262, 1692962, BY_RESULTS_PPM },
	[KIND_ZEN3] = { "Zen 3", 455625, 1957334, BY_RESULTS_PPM },
	[KIND_ZEN4] = { "Zen 4", 739148, 2282155, BY_RESULTS_PPM },
	/* Four results with two EPYC 9754, not averaged with their faster sisters. */
	[KIND_ZEN4C] = { "Zen 4c", 247000, 1299000, BY_NEIGHBOUR_PPM },
	/* As Zen 4: the average given for Zen 5 counts logical CPUs wrongly. */
	[KIND_ZEN5] = { "Zen 5", 739148, 2282155, BY_NEIGHBOUR_PPM },
	[KIND_AMD_DESKTOP] = { "Ryzen desktop", 1138426, 5421759, BY_CLASS_PPM },
	[KIND_AMD_LAPTOP] = { "Ryzen laptop", 300000, 2200000, BY_CLASS_PPM },
	/* Ampere Altra. */
	[KIND_NEOVERSE_N1] = { "Neoverse N1", 1060000, 1940000, BY_NEIGHBOUR_PPM },
	/* No results of Graviton 3 and its like: the project puts Zen 2 in their place. */
	[KIND_NEOVERSE_V1] = { "Neoverse V1", 474262, 1692962, BY_NEIGHBOUR_PPM },
	[KIND_NEOVERSE_N2] = { "Neoverse N2", 474262, 1692962, BY_NEIGHBOUR_PPM },
	[KIND_NEOVERSE_V2] = { "Neoverse V2", 474262, 1692962, BY_NEIGHBOUR_PPM },
	[KIND_ARM_SERVER] = { "Arm server", 474262, 1692962, BY_CLASS_PPM },
	/* Single-board computers: 2 to 3 W idle and 6 to 9 W busy on four CPUs. */
	[KIND_CORTEX_A_BIG] = { "Cortex-A, large", 650000, 1900000, BY_CLASS_PPM },
	[KIND_CORTEX_A_SMALL] = { "Cortex-A, small", 350000, 900000, BY_CLASS_PPM },
};

/* CPUs of one family (Intel: 6) whose model is first to last. */
struct x86_range {
	uint8_t first;
	uint8_t last;
	uint8_t kind;
};

static const struct x86_range intel_family_6[] = {
	{ 0x1c, 0x1c, KIND_ATOM },
	{ 0x26, 0x27, KIND_ATOM },
	{ 0x2a, 0x2a, KIND_INTEL_DESKTOP },
	{ 0x2d, 0x2d, KIND_SANDY_BRIDGE },
	{ 0x35, 0x37, KIND_ATOM },
	{ 0x3a, 0x3a, KIND_INTEL_DESKTOP },
	{ 0x3c, 0x3c, KIND_INTEL_DESKTOP },
	{ 0x3d, 0x3d, KIND_INTEL_LAPTOP },
	{ 0x3e, 0x3e, KIND_IVY_BRIDGE },
	{ 0x3f, 0x3f, KIND_HASWELL },
	{ 0x45, 0x45, KIND_INTEL_LAPTOP },
	{ 0x46, 0x47, KIND_INTEL_DESKTOP },
	{ 0x4a, 0x4a, KIND_ATOM },
	{ 0x4c, 0x4d, KIND_ATOM },
	{ 0x4e, 0x4e, KIND_INTEL_LAPTOP },
	{ 0x4f, 0x4f, KIND_BROADWELL },
	{ 0x55, 0x55, KIND_SKYLAKE }, /* Cascade Lake by its stepping */
	{ 0x56, 0x56, KIND_BROADWELL },
	{ 0x5a, 0x5a, KIND_ATOM },
	{ 0x5c, 0x5d, KIND_ATOM },
	{ 0x5e, 0x5e, KIND_INTEL_DESKTOP },
	{ 0x5f, 0x5f, KIND_ATOM },
	{ 0x66, 0x66, KIND_INTEL_LAPTOP },
	{ 0x6a, 0x6a, KIND_ICE_LAKE },
	{ 0x6c, 0x6c, KIND_ICE_LAKE },
	{ 0x7a, 0x7a, KIND_ATOM },
	{ 0x7d, 0x7e, KIND_INTEL_LAPTOP },
	{ 0x86, 0x86, KIND_ATOM },
	{ 0x8a, 0x8a, KIND_INTEL_LAPTOP },
	{ 0x8c, 0x8d, KIND_INTEL_LAPTOP },
	{ 0x8e, 0x8e, KIND_INTEL_LAPTOP },
	{ 0x8f, 0x8f, KIND_SAPPHIRE_RAPIDS },
	{ 0x96, 0x96, KIND_ATOM },
	{ 0x97, 0x97, KIND_INTEL_DESKTOP },
	{ 0x9a, 0x9a, KIND_INTEL_LAPTOP },
	{ 0x9c, 0x9c, KIND_ATOM },
	{ 0x9e, 0x9e, KIND_INTEL_DESKTOP },
	{ 0xa5, 0xa5, KIND_INTEL_DESKTOP },
	{ 0xa6, 0xa6, KIND_INTEL_LAPTOP },
	{ 0xa7, 0xa7, KIND_INTEL_DESKTOP },
	{ 0xaa, 0xaa, KIND_INTEL_LAPTOP },
	{ 0xac, 0xac, KIND_INTEL_LAPTOP },
	{ 0xad, 0xae, KIND_GRANITE_RAPIDS },
	{ 0xb5, 0xb5, KIND_INTEL_LAPTOP },
	{ 0xb7, 0xb7, KIND_INTEL_DESKTOP },
	{ 0xba, 0xba, KIND_INTEL_LAPTOP },
	{ 0xbd, 0xbd, KIND_INTEL_LAPTOP },
	{ 0xbe, 0xbe, KIND_ATOM },
	{ 0xbf, 0xbf, KIND_INTEL_DESKTOP },
	{ 0xc5, 0xc5, KIND_INTEL_LAPTOP },
	{ 0xc6, 0xc6, KIND_INTEL_DESKTOP },
	{ 0xcf, 0xcf, KIND_EMERALD_RAPIDS },
};

static const struct x86_range amd_family_17[] = {
	{ 0x00, 0x07, KIND_ZEN1 },       { 0x08, 0x0f, KIND_AMD_DESKTOP },
	{ 0x10, 0x2f, KIND_AMD_LAPTOP }, { 0x30, 0x3f, KIND_ZEN2 },
	{ 0x60, 0x6f, KIND_AMD_LAPTOP }, { 0x70, 0x7f, KIND_AMD_DESKTOP },
	{ 0x90, 0xaf, KIND_AMD_LAPTOP },
};

static const struct x86_range amd_family_19[] = {
	{ 0x00, 0x0f, KIND_ZEN3 },        { 0x10, 0x1f, KIND_ZEN4 },
	{ 0x20, 0x2f, KIND_AMD_DESKTOP }, { 0x40, 0x5f, KIND_AMD_LAPTOP },
	{ 0x60, 0x6f, KIND_AMD_DESKTOP }, { 0x70, 0x7f, KIND_AMD_LAPTOP },
	{ 0xa0, 0xaf, KIND_ZEN4C },
};

static const struct x86_range amd_family_1a[] = {
	{ 0x00, 0x1f, KIND_ZEN5 },
	{ 0x20, 0x3f, KIND_AMD_LAPTOP },
	{ 0x40, 0x4f, KIND_AMD_DESKTOP },
	{ 0x60, 0x7f, KIND_AMD_LAPTOP },
};

struct arm_part {
	uint16_t part;
	uint8_t kind;
};

/* Implementer 0x41, Arm itself. */
static const struct arm_part arm_parts[] = {
	{ 0xd03, KIND_CORTEX_A_SMALL }, { 0xd04, KIND_CORTEX_A_SMALL },
	{ 0xd05, KIND_CORTEX_A_SMALL }, { 0xd07, KIND_CORTEX_A_BIG },
	{ 0xd08, KIND_CORTEX_A_BIG },   { 0xd09, KIND_CORTEX_A_BIG },
	{ 0xd0a, KIND_CORTEX_A_BIG },   { 0xd0b, KIND_CORTEX_A_BIG },
	{ 0xd0c, KIND_NEOVERSE_N1 },    { 0xd0d, KIND_CORTEX_A_BIG },
	{ 0xd40, KIND_NEOVERSE_V1 },    { 0xd41, KIND_CORTEX_A_BIG },
	{ 0xd42, KIND_CORTEX_A_BIG },   { 0xd44, KIND_CORTEX_A_BIG },
	{ 0xd46, KIND_CORTEX_A_SMALL }, { 0xd47, KIND_CORTEX_A_BIG },
	{ 0xd48, KIND_CORTEX_A_BIG },   { 0xd49, KIND_NEOVERSE_N2 },
	{ 0xd4b, KIND_CORTEX_A_BIG },   { 0xd4d, KIND_CORTEX_A_BIG },
	{ 0xd4e, KIND_CORTEX_A_BIG },   { 0xd4f, KIND_NEOVERSE_V2 },
	{ 0xd80, KIND_CORTEX_A_SMALL }, { 0xd81, KIND_CORTEX_A_BIG },
	{ 0xd82, KIND_CORTEX_A_BIG },
};

enum implementer {
	IMPLEMENTER_ARM = 0x41,
	IMPLEMENTER_CAVIUM = 0x43,
	IMPLEMENTER_FUJITSU = 0x46,
	IMPLEMENTER_HISILICON = 0x48,
	IMPLEMENTER_NVIDIA = 0x4e,
	IMPLEMENTER_AMPERE = 0xc0,
};

static enum kind kind_in_ranges(const struct x86_range *ranges, size_t n, uint32_t model)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (model >= ranges[i].first && model <= ranges[i].last)
			return ranges[i].kind;
	return KIND_GENERIC;
}

static enum kind kind_of_intel(const struct watt_cpuinfo *info)
{
	enum kind kind;

	if (info->family != 6)
		return KIND_GENERIC;
	kind = kind_in_ranges(intel_family_6, WATT_ARRAY_SIZE(intel_family_6), info->model);
	/* One model number for three generations: steppings 5 to 7 and 10, 11 are the later two. */
	if (kind == KIND_SKYLAKE && info->stepping >= 5)
		return KIND_CASCADE_LAKE;
	return kind;
}

static enum kind kind_of_amd(const struct watt_cpuinfo *info)
{
	uint32_t model = info->model;

	switch (info->family) {
	case 0x17:
		return kind_in_ranges(amd_family_17, WATT_ARRAY_SIZE(amd_family_17), model);
	case 0x19:
		return kind_in_ranges(amd_family_19, WATT_ARRAY_SIZE(amd_family_19), model);
	case 0x1a:
		return kind_in_ranges(amd_family_1a, WATT_ARRAY_SIZE(amd_family_1a), model);
	default:
		return KIND_GENERIC;
	}
}

static enum kind kind_of_arm(const struct watt_cpuinfo *info)
{
	size_t i;

	switch (info->implementer) {
	case IMPLEMENTER_ARM:
		for (i = 0; i < WATT_ARRAY_SIZE(arm_parts); i++)
			if (info->part == arm_parts[i].part)
				return arm_parts[i].kind;
		/* Below 0xd00 are the 32-bit ones. */
		return info->part < 0xd00 ? KIND_CORTEX_A_SMALL : KIND_GENERIC;
	case IMPLEMENTER_CAVIUM:
	case IMPLEMENTER_FUJITSU:
	case IMPLEMENTER_HISILICON:
	case IMPLEMENTER_AMPERE:
		return KIND_ARM_SERVER;
	case IMPLEMENTER_NVIDIA:
		return KIND_CORTEX_A_BIG;
	default:
		return KIND_GENERIC;
	}
}

static enum kind kind_of(const struct watt_cpuinfo *info)
{
	if (!strcmp(info->vendor, "GenuineIntel"))
		return kind_of_intel(info);
	if (!strcmp(info->vendor, "AuthenticAMD"))
		return kind_of_amd(info);
	if (!strcmp(info->vendor, "HygonGenuine"))
		return KIND_ZEN1;
	if (info->implementer)
		return kind_of_arm(info);
	return KIND_GENERIC;
}

/* Most Arm machines tell no model name: there the name from our table stands in for it. */
static bool user_model_matches(const struct watt_config_model *user,
			       const struct watt_cpuinfo *info, const struct watt_cpu_model *ours)
{
	if (!user->match)
		return true;
	return strcasestr(info->name[0] ? info->name : ours->name, user->match) != NULL;
}

void watt_cpu_model_find(const struct watt_cpuinfo *info, const struct watt_config *config,
			 struct watt_cpu_model *ret)
{
	const struct watt_cpu_model *ours = &models[kind_of(info)];
	size_t i;

	for (i = 0; i < config->n_models; i++) {
		const struct watt_config_model *user = &config->models[i];

		if (!user_model_matches(user, info, ours))
			continue;
		*ret = (struct watt_cpu_model){ user->name, user->idle_uw, user->full_uw,
						user->uncertainty_ppm };
		return;
	}
	*ret = *ours;
}

watt_u128 watt_cpu_model_energy_fj(const struct watt_cpu_model *model, uint64_t online_ns,
				   uint64_t busy_ns)
{
	return (watt_u128)model->idle_uw * online_ns +
	       (watt_u128)(model->full_uw - model->idle_uw) * busy_ns;
}
