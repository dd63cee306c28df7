// SPDX-License-Identifier: GPL-2.0-only
/*
 * RAPL's registers and units: Intel's Software Developer's Manual, volume 4, and AMD's Processor
 * Programming References. A hypervisor may show registers that always read zero.
 */
#include "rapl_msr.h"

#include <linux/smp.h>
#include <linux/string.h>
#include <asm/processor.h>

#include "compat.h"

#define INTEL_UNIT 0x606
#define INTEL_PACKAGE 0x611
#define INTEL_DRAM 0x619
#define INTEL_CORE 0x639
#define INTEL_UNCORE 0x641
#define INTEL_PSYS 0x64d
#define AMD_UNIT 0xc0010299
#define AMD_CORE 0xc001029a
#define AMD_PACKAGE 0xc001029b

#define NJ_PER_J 1000000000ULL
/* Servers count memory in a unit of their own, whatever the unit's register says. */
#define SERVER_DRAM_NJ 15300

enum quirk {
	ATOM_UNIT = 1, /* 2^n uJ instead of 2^-n J */
	SERVER_DRAM = 2,
	PSYS_JOULES = 4, /* psys counts whole J */
};

struct model {
	u8 number; /* of family 6 */
	u8 quirks;
};

static const struct model intel_models[] = {
	{ 0x37, ATOM_UNIT },                                               /* Silvermont */
	{ 0x4a, ATOM_UNIT },   { 0x5a, ATOM_UNIT },   { 0x4c, ATOM_UNIT }, /* Airmont */
	{ 0x3f, SERVER_DRAM },                                             /* Haswell */
	{ 0x4f, SERVER_DRAM },                                             /* Broadwell */
	{ 0x55, SERVER_DRAM },                        /* Skylake, Cascade Lake, Cooper Lake */
	{ 0x57, SERVER_DRAM },                        /* Knights Landing */
	{ 0x85, SERVER_DRAM },                        /* Knights Mill */
	{ 0x6a, SERVER_DRAM },                        /* Ice Lake */
	{ 0x6c, SERVER_DRAM }, { 0x8f, PSYS_JOULES }, /* Sapphire Rapids */
	{ 0xcf, PSYS_JOULES },                        /* Emerald Rapids */
};

static unsigned int quirks_of(u8 family, u8 number)
{
	unsigned int i;

	for (i = 0; family == 6 && i < ARRAY_SIZE(intel_models); i++)
		if (intel_models[i].number == number)
			return intel_models[i].quirks;
	return 0;
}

/* The exponent of the energy unit. */
static int read_exponent(u32 msr, u32 *ret)
{
	u64 value;

	if (watt_rdmsr_on_cpu(raw_smp_processor_id(), msr, &value) || !value)
		return -ENODEV;
	*ret = value >> 8 & 0x1f;
	return 0;
}

static int read_intel(struct watt_rapl_model *ret, unsigned int quirks)
{
	static const u32 msrs[WATT_RAPL_N] = { INTEL_PACKAGE, INTEL_CORE, INTEL_UNCORE, INTEL_DRAM,
					       INTEL_PSYS };
	unsigned int i;
	u32 exponent;
	int r;

	r = read_exponent(INTEL_UNIT, &exponent);
	if (r)
		return r;
	ret->is_per_die = true;
	for (i = 0; i < WATT_RAPL_N; i++) {
		struct watt_rapl_register *reg = &ret->registers[i];

		reg->msr = msrs[i];
		if (quirks & ATOM_UNIT) {
			reg->nj = 1000ULL << exponent;
		} else {
			reg->nj = NJ_PER_J;
			reg->shift = exponent;
		}
	}
	if (quirks & SERVER_DRAM)
		ret->registers[WATT_RAPL_DRAM] =
			(struct watt_rapl_register){ .msr = INTEL_DRAM, .nj = SERVER_DRAM_NJ };
	if (quirks & PSYS_JOULES)
		ret->registers[WATT_RAPL_PSYS] =
			(struct watt_rapl_register){ .msr = INTEL_PSYS, .nj = NJ_PER_J };
	return 0;
}

static int read_amd(struct watt_rapl_model *ret)
{
	u32 exponent;
	int r;

	r = read_exponent(AMD_UNIT, &exponent);
	if (r)
		return r;
	ret->is_per_core = true;
	ret->registers[WATT_RAPL_PACKAGE] = (struct watt_rapl_register){ .msr = AMD_PACKAGE,
									 .nj = NJ_PER_J,
									 .shift = exponent };
	ret->registers[WATT_RAPL_CORE] =
		(struct watt_rapl_register){ .msr = AMD_CORE, .nj = NJ_PER_J, .shift = exponent };
	return 0;
}

int watt_rapl_model_read(struct watt_rapl_model *ret)
{
	const struct cpuinfo_x86 *cpu = &boot_cpu_data;

	memset(ret, 0, sizeof(*ret));
	if (cpu->x86_vendor == X86_VENDOR_INTEL && cpu->x86 >= 6)
		return read_intel(ret, quirks_of(cpu->x86, cpu->x86_model));
	if (cpu->x86_vendor == X86_VENDOR_HYGON ||
	    (cpu->x86_vendor == X86_VENDOR_AMD && cpu->x86 >= 0x17))
		return read_amd(ret);
	return -ENODEV;
}
