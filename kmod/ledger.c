// SPDX-License-Identifier: GPL-2.0-only
#include "ledger.h"

#include <linux/mm.h>
#include <linux/slab.h>

#include "baseline.h"
#include "process.h"
#include "rapl.h"
#include "share.h"
#include "unit.h"

struct account {
	struct watt_baseline baseline;
	u64 last_nj;
};

static struct account *accounts; /* per unit; NULL: no RAPL */
static struct watt_amount total, idle;
static u64 n_checks, n_failures;

int watt_ledger_init(bool has_rapl)
{
	unsigned int unit;

	if (!has_rapl)
		return 0;
	accounts = kvcalloc(watt_units_count(), sizeof(*accounts), GFP_KERNEL);
	if (!accounts)
		return -ENOMEM;
	for (unit = 0; unit < watt_units_count(); unit++)
		accounts[unit].last_nj = watt_rapl_shared_nj(unit);
	return 0;
}

void watt_ledger_done(void)
{
	kvfree(accounts);
	accounts = NULL;
}

bool watt_ledger_has_rapl(void)
{
	return accounts;
}

/* Gives everybody what the split says; returns the sum. */
static u64 give(struct watt_process *active, unsigned int unit)
{
	struct watt_process *process;
	u64 given_nj = 0;

	for (process = active; process; process = watt_process_next_active(process)) {
		u64 share_nj = process->parts[unit].share_nj;

		given_nj += share_nj;
		watt_amount_add_milli(&process->energy, share_nj);
	}
	return given_nj;
}

static u64 busy_ns(const struct watt_process *active, unsigned int unit)
{
	const struct watt_process *process;
	u64 sum_ns = 0;

	for (process = active; process; process = watt_process_next_active(process))
		sum_ns += process->parts[unit].delta_ns;
	return sum_ns;
}

static void divide_unit(struct watt_process *active, unsigned int unit)
{
	struct account *account = &accounts[unit];
	u64 time_ns = watt_rapl_span_ns(unit), now_nj = watt_rapl_shared_nj(unit);
	u64 energy_nj = now_nj - account->last_nj;
	u64 idle_nj = watt_baseline_idle_nj(&account->baseline, time_ns, energy_nj);
	u64 given_nj = 0;

	account->last_nj = now_nj;
	watt_baseline_add(&account->baseline, time_ns, energy_nj, busy_ns(active, unit),
			  watt_unit_n_online(unit));
	if (watt_share_split(active, unit, energy_nj - idle_nj))
		given_nj = give(active, unit);
	else
		idle_nj = energy_nj;
	n_checks++;
	n_failures += given_nj + idle_nj != energy_nj;
	watt_amount_add_milli(&idle, idle_nj);
	watt_amount_add_milli(&total, energy_nj);
}

static void give_scores(struct watt_process *active)
{
	struct watt_process *process;

	for (process = active; process; process = watt_process_next_active(process)) {
		watt_amount_add_wide(&process->energy, process->parts[0].weight);
		watt_amount_add_wide(&total, process->parts[0].weight);
	}
}

void watt_ledger_divide(struct watt_process *active)
{
	unsigned int unit;

	if (!accounts) {
		give_scores(active);
		return;
	}
	for (unit = 0; unit < watt_units_count(); unit++)
		if (watt_rapl_is_read(unit))
			divide_unit(active, unit);
}

struct watt_amount watt_ledger_total(void)
{
	return total;
}

struct watt_amount watt_ledger_idle(void)
{
	return idle;
}

u64 watt_ledger_idle_uw(void)
{
	u64 power_uw = 0;
	unsigned int unit;

	for (unit = 0; accounts && unit < watt_units_count(); unit++)
		power_uw += accounts[unit].baseline.power_uw;
	return power_uw;
}

u64 watt_ledger_n_checks(void)
{
	return READ_ONCE(n_checks);
}

u64 watt_ledger_n_failures(void)
{
	return READ_ONCE(n_failures);
}
