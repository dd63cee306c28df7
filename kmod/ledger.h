/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledger: divides the energy of each sample. What all processes got and what is idle is what
 * RAPL counted, to the last nJ. Without RAPL the amount is the score. For the sampler alone.
 */
#ifndef WATTRIBUTE_LEDGER_H
#define WATTRIBUTE_LEDGER_H

#include <linux/types.h>

#include "amount.h"

struct watt_process;

int watt_ledger_init(bool has_rapl);
void watt_ledger_done(void);

bool watt_ledger_has_rapl(void);
/* Divides what RAPL counted since the last time among those with weights, by next_active. */
void watt_ledger_divide(struct watt_process *active);

/* Since the module was loaded. */
struct watt_amount watt_ledger_total(void);
struct watt_amount watt_ledger_idle(void);
/* Learned idle power of all units; 0: not known yet. */
u64 watt_ledger_idle_uw(void);
u64 watt_ledger_n_checks(void);
u64 watt_ledger_n_failures(void);

#endif
