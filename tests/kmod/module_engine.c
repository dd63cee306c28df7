/* SPDX-License-Identifier: Apache-2.0 */
#include "module_engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "pause.h"
#include "process.h"
#include "rapl.h"
#include "score.h"
#include "unit.h"

static struct watt_process **processes;
static unsigned int n_processes;
static u64 span_ns, shared_nj[ENGINE_UNITS];
static uint64_t total_before_nj, idle_before_nj; /* the module counts since it is loaded */

/* ---- what the module has beside it */

unsigned int watt_units_count(void)
{
	return ENGINE_UNITS;
}

unsigned int watt_unit_n_online(unsigned int unit)
{
	return ENGINE_CPUS;
}

void watt_pause_after_one(void)
{
}

bool watt_rapl_is_read(unsigned int unit)
{
	return true;
}

u64 watt_rapl_span_ns(unsigned int unit)
{
	return span_ns;
}

u64 watt_rapl_shared_nj(unsigned int unit)
{
	return shared_nj[unit];
}

/* ---- */

static uint64_t to_nj(struct watt_amount amount)
{
	return amount.whole * 1000 + amount.milli;
}

void module_engine_open(unsigned int n)
{
	size_t bytes = sizeof(struct watt_process) + ENGINE_UNITS * sizeof(struct watt_part);
	unsigned int i;
	int r;

	bytes = (bytes + 15) & ~(size_t)15; /* weights want it */
	processes = calloc(n, sizeof(*processes));
	assert(processes);
	for (i = 0; i < n; i++) {
		processes[i] = aligned_alloc(16, bytes);
		assert(processes[i]);
		memset(processes[i], 0, bytes);
	}
	n_processes = n;
	memset(shared_nj, 0, sizeof(shared_nj));
	r = watt_ledger_init(true);
	assert(!r);
	(void)r;
	total_before_nj = to_nj(watt_ledger_total());
	idle_before_nj = to_nj(watt_ledger_idle());
}

void module_engine_close(void)
{
	unsigned int i;

	watt_ledger_done();
	for (i = 0; i < n_processes; i++)
		free(processes[i]);
	free(processes);
}

void module_engine_divide(const struct engine_use *uses, uint64_t time_ns,
			  const uint64_t energy_nj[ENGINE_UNITS])
{
	const struct watt_weights weights = { .cpu_ns = 1000 };
	struct watt_process *active = NULL;
	unsigned int i, unit;

	for (i = 0; i < n_processes; i++) {
		const struct watt_counts before = processes[i]->now;

		for (unit = 0; unit < ENGINE_UNITS; unit++)
			processes[i]->parts[unit].delta_ns = unit == uses[i].unit ? uses[i].cpu_ns :
										    0;
		if (!watt_score_weigh(processes[i], &before, &weights, time_ns))
			continue;
		processes[i]->next_active = active;
		active = processes[i];
	}
	span_ns = time_ns;
	for (unit = 0; unit < ENGINE_UNITS; unit++)
		shared_nj[unit] += energy_nj[unit];
	watt_ledger_divide(active);
}

uint64_t module_engine_process_nj(unsigned int process)
{
	return to_nj(processes[process]->energy);
}

uint64_t module_engine_total_nj(void)
{
	return to_nj(watt_ledger_total()) - total_before_nj;
}

uint64_t module_engine_idle_nj(void)
{
	return to_nj(watt_ledger_idle()) - idle_before_nj;
}

uint64_t module_engine_idle_uw(void)
{
	return watt_ledger_idle_uw();
}

uint64_t module_engine_n_failures(void)
{
	return watt_ledger_n_failures();
}
