/* SPDX-License-Identifier: GPL-2.0-only */
/* Which registers this CPU counts its energy in, and in which unit. */
#ifndef WATTRIBUTE_RAPL_MSR_H
#define WATTRIBUTE_RAPL_MSR_H

#include <linux/types.h>

#include "rapl.h"

/* nJ = raw * nj >> shift; raw has 32 bits. msr 0: there is no such domain. */
struct watt_rapl_register {
	u32 msr;
	u32 shift;
	u64 nj;
};

struct watt_rapl_model {
	bool is_per_die;  /* else per package */
	bool is_per_core; /* the domain core is one counter for each core */
	struct watt_rapl_register registers[WATT_RAPL_N];
};

/* -ENODEV: this CPU has none. */
int watt_rapl_model_read(struct watt_rapl_model *ret);

#endif
