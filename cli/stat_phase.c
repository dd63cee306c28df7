/* SPDX-License-Identifier: Apache-2.0 */
/* Sums stretches of a run by their labels. */
#include "stat_phase.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

const struct watt_run_phase *stat_phases_find(const struct watt_run *run, struct labels *index,
					      const char *label)
{
	size_t i = labels_find(index, label);

	return i == LABELS_NONE ? NULL : &run->phases[i];
}

static struct watt_run_phase *find_or_add(struct watt_run *run, struct labels *index,
					  const char *label, size_t n_domains)
{
	size_t i = labels_get(index, label);
	struct watt_run_phase *phase;

	if (i < run->n_phases)
		return &run->phases[i];
	run->phases = xrealloc(run->phases, run->n_phases + 1, sizeof(*run->phases));
	phase = &run->phases[run->n_phases++];
	*phase = (struct watt_run_phase){ .n_domains = n_domains };
	strncpy(phase->label, label, sizeof(phase->label) - 1);
	phase->domain_nj = xcalloc(n_domains, sizeof(*phase->domain_nj));
	phase->domain_machine_nj = xcalloc(n_domains, sizeof(*phase->domain_machine_nj));
	return phase;
}

void stat_phases_add(struct watt_run *run, struct labels *index, const char *label,
		     uint64_t elapsed_ns, const struct totals *from, const struct totals *to)
{
	struct watt_run_phase *phase =
		find_or_add(run, index, label, to->view ? to->view->n_domains : 0);
	size_t i;

	phase->count++;
	phase->is_known = phase->is_known || (to->balance.is_known && to->row);
	phase->elapsed_ns += elapsed_ns;
	phase->energy_nj += totals_difference_nj(totals_get_energy(from), totals_get_energy(to));
	phase->machine_nj += totals_difference_nj(from->balance.energy, to->balance.energy);
	phase->cpu_ns += totals_get_cpu_ns(to) - totals_get_cpu_ns(from);
	for (i = 0; i < phase->n_domains; i++) {
		phase->domain_nj[i] += totals_difference_nj(totals_get_domain_energy(from, i),
							    totals_get_domain_energy(to, i));
		phase->domain_machine_nj[i] += totals_difference_nj(
			totals_get_machine_energy(from, i), totals_get_machine_energy(to, i));
	}
}

void stat_phases_done(struct watt_run *run)
{
	size_t i;

	for (i = 0; i < run->n_phases; i++) {
		free(run->phases[i].domain_nj);
		free(run->phases[i].domain_machine_nj);
	}
	free(run->phases);
	run->phases = NULL;
	run->n_phases = 0;
}
