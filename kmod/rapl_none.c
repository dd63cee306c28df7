// SPDX-License-Identifier: GPL-2.0-only
/* RAPL on machines that can't have it: one unit, no domains. The amount is the score. */
#include "rapl.h"

#include "unit.h"

int watt_rapl_init(bool *ret)
{
	*ret = false;
	return watt_units_init(false, false);
}

void watt_rapl_done(void)
{
}

void watt_rapl_read(bool with_all)
{
}

bool watt_rapl_has(unsigned int unit, enum watt_rapl_domain domain)
{
	return false;
}

bool watt_rapl_has_any(enum watt_rapl_domain domain)
{
	return false;
}

u64 watt_rapl_energy_nj(unsigned int unit, enum watt_rapl_domain domain)
{
	return 0;
}

const char *watt_rapl_name(enum watt_rapl_domain domain)
{
	return "";
}

bool watt_rapl_is_read(unsigned int unit)
{
	return false;
}

u64 watt_rapl_span_ns(unsigned int unit)
{
	return 0;
}

u64 watt_rapl_shared_nj(unsigned int unit)
{
	return 0;
}

u64 watt_rapl_n_errors(void)
{
	return 0;
}

u64 watt_rapl_n_resets(void)
{
	return 0;
}
