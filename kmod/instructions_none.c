// SPDX-License-Identifier: GPL-2.0-only
/* A kernel that has no counters of hardware events counts no instructions. */
#include "instructions.h"

int watt_instructions_init(void)
{
	return 0;
}

void watt_instructions_done(void)
{
}

bool watt_instructions_has_counters(void)
{
	return false;
}

void watt_instructions_start(void)
{
}

bool watt_instructions_has(void)
{
	return false;
}

void watt_instructions_switch(struct task_struct *from, const struct task_struct *to)
{
}

void watt_instructions_update(bool with_running)
{
}

u64 watt_instructions_take(struct watt_process *process)
{
	return 0;
}

u64 watt_instructions_n_disbelieved(void)
{
	return 0;
}
