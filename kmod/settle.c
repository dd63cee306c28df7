// SPDX-License-Identifier: GPL-2.0-only
#include "settle.h"

#include "compat.h"
#include "process.h"

void watt_settle_begin(struct watt_process *process, unsigned int n_units, u64 run_ns)
{
	unsigned int i;

	process->run_ns = run_ns;
	for (i = 0; i < n_units; i++) {
		process->parts[i].cpu_ns = process->parts[i].delta_ns;
		process->parts[i].delta_ns = 0;
	}
}

/* What a place seems to have more than it was given; 0: it seems to have less. */
static u64 above_ns(const struct watt_part *part)
{
	s64 more_ns = (s64)(part->delta_ns - part->cpu_ns);

	return more_ns > 0 ? more_ns : 0;
}

static void give_nothing(struct watt_process *process, unsigned int n_units)
{
	unsigned int i;

	for (i = 0; i < n_units; i++)
		process->parts[i].delta_ns = 0;
}

/*
 * To places that seem to have more, in proportion; the last of them has what rounding leaves.
 * is_first: the first time that places are right; what the first reading said of them need not be.
 */
static void give(struct watt_process *process, unsigned int n_units, u64 new_ns, u64 sum_ns,
		 bool is_first)
{
	unsigned int i;

	for (i = 0; i < n_units; i++) {
		struct watt_part *part = &process->parts[i];
		u64 seen_ns = part->delta_ns, more_ns = above_ns(part);

		part->delta_ns = more_ns ? watt_mul_div(new_ns, more_ns, sum_ns) : 0;
		new_ns -= part->delta_ns;
		sum_ns -= more_ns;
		part->cpu_ns += part->delta_ns;
		if (is_first)
			part->cpu_ns = seen_ns;
	}
}

enum watt_settled watt_settle(struct watt_process *process, unsigned int n_units, u64 run_ns,
			      bool is_quiet)
{
	s64 new_ns = (s64)(run_ns - process->run_ns);
	u64 sum_ns = 0;
	unsigned int i;

	for (i = 0; i < n_units; i++)
		sum_ns += above_ns(&process->parts[i]);
	if (new_ns <= 0 || !sum_ns) {
		give_nothing(process, n_units);
		return new_ns ? WATT_SETTLED_HELD : WATT_SETTLED;
	}
	process->run_ns = run_ns;
	give(process, n_units, new_ns, sum_ns, is_quiet && !process->is_placed);
	process->is_placed |= is_quiet;
	return sum_ns == (u64)new_ns ? WATT_SETTLED : WATT_SETTLED_HALFWAY;
}
