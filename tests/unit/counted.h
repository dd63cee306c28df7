/* SPDX-License-Identifier: Apache-2.0 */
/* A machine whose every window is made up, as the roster is told of it. */
#ifndef WATT_TESTS_COUNTED_H
#define WATT_TESTS_COUNTED_H

#include <stdio.h>
#include <string.h>

#include "roster.h"

#define N_DOMAINS 2
#define ROWS_MAX 512
#define S 1000000000ULL

/* A machine whose every window is known. */
struct machine {
	struct watt_domain domains[N_DOMAINS + 1];
	struct watt_domain_state states[N_DOMAINS + 1];
	const struct watt_domain *domain_list[N_DOMAINS + 1];
	const struct watt_domain_state *state_list[N_DOMAINS + 1];
	struct watt_row rows[ROWS_MAX];
	struct watt_entity entities[ROWS_MAX];
	struct watt_identity identities[ROWS_MAX];
	char names[ROWS_MAX][16];
	int64_t windows[ROWS_MAX][N_DOMAINS + 1];
	double uncertainties_j[ROWS_MAX][N_DOMAINS + 1];
	const struct watt_row *row_list[ROWS_MAX];
	struct census census;
};

static void machine_init(struct machine *machine)
{
	size_t i;

	memset(machine, 0, sizeof(*machine));
	for (i = 0; i < N_DOMAINS + 1; i++) {
		machine->domains[i].path = i == 0 ? "package-0" : i == 1 ? "dram-0" : "gpu-0";
		machine->domains[i].is_partition = 1;
		machine->domains[i].is_summed = 1;
		machine->states[i].window_ns = S;
		machine->domain_list[i] = &machine->domains[i];
		machine->state_list[i] = &machine->states[i];
	}
	machine->census = (struct census){
		.t_ns = 1000 * S,
		.realtime_ns = 1700000000 * S,
		.boot_ns = 5000 * S,
		.start_ns = 990 * S,
		.n_domains = N_DOMAINS,
		.domains = machine->domain_list,
		.states = machine->state_list,
		.rows = machine->row_list,
	};
}

/* A second later, with nobody and nothing yet. */
static void machine_step(struct machine *machine)
{
	size_t i;

	machine->census.t_ns += S;
	machine->census.realtime_ns += S;
	machine->census.boot_ns += S;
	machine->census.n_rows = 0;
	for (i = 0; i < N_DOMAINS + 1; i++) {
		machine->states[i].window_nj = 0;
		machine->states[i].window_idle_nj = 0;
		machine->states[i].window_unattributed_nj = 0;
	}
}

static void machine_idle(struct machine *machine, int64_t idle_nj, int64_t unattributed_nj)
{
	machine->states[0].window_idle_nj += idle_nj;
	machine->states[0].window_unattributed_nj += unattributed_nj;
	machine->states[0].window_nj += idle_nj + unattributed_nj;
}

/* Somebody used so much of both domains; leaves add to the machine's energy. */
static struct watt_row *machine_use(struct machine *machine, enum watt_entity_kind kind,
				    uint64_t id, const char *name, int64_t energy_nj)
{
	size_t n = machine->census.n_rows++;
	struct watt_row *row = &machine->rows[n];
	size_t i;

	assert_true(n < ROWS_MAX);
	memset(row, 0, sizeof(*row));
	memset(&machine->identities[n], 0, sizeof(machine->identities[n]));
	snprintf(machine->names[n], sizeof(machine->names[n]), "%s", name);
	machine->entities[n] = (struct watt_entity){ .id = id,
						     .kind = kind,
						     .alive = kind != WATT_ENTITY_EXITED,
						     .name = machine->names[n] };
	row->entity = &machine->entities[n];
	row->window_nj = machine->windows[n];
	row->window_uncertainty_j = machine->uncertainties_j[n];
	row->window_cpu_ns = (uint64_t)(energy_nj > 0 ? energy_nj / 10 : 0);
	for (i = 0; i < N_DOMAINS; i++) {
		machine->windows[n][i] = i == 0 ? energy_nj : energy_nj / 3;
		if (kind == WATT_ENTITY_PROCESS || kind == WATT_ENTITY_EXITED)
			machine->states[i].window_nj += machine->windows[n][i];
	}
	machine->row_list[n] = row;
	if (kind == WATT_ENTITY_PROCESS) {
		machine->identities[n].pid = (uint32_t)id;
		machine->entities[n].identity = &machine->identities[n];
	}
	return row;
}

#endif
