/* SPDX-License-Identifier: Apache-2.0 */
/* lib/view/runs.c: stretches with one label are one phase, and threads are all of the run. */
#include "unit.h"

#include <math.h>

#include "view/runs.h"

/* Totals of a machine with two domains, made up. */
struct made_up {
	struct watt_totals totals;
	struct watt_view view;
	struct watt_domain_state states[2];
	const struct watt_domain_state *pointers[2];
	struct watt_row row;
	struct watt_energy of_row[2];
};

static void make(struct made_up *ret, int64_t machine_nj, int64_t command_nj, uint64_t cpu_ns)
{
	*ret = (struct made_up){ 0 };
	ret->of_row[0] = watt_energy_from_nj(command_nj);
	ret->of_row[1] = watt_energy_from_nj(command_nj / 2);
	ret->row = (struct watt_row){ .energy = ret->of_row,
				      .total = watt_energy_from_nj(command_nj),
				      .cpu_ns = cpu_ns };
	ret->states[0].energy = watt_energy_from_nj(machine_nj);
	ret->states[1].energy = watt_energy_from_nj(machine_nj / 2);
	ret->pointers[0] = &ret->states[0];
	ret->pointers[1] = &ret->states[1];
	ret->view = (struct watt_view){ .states = ret->pointers, .n_domains = 2 };
	ret->totals.view = &ret->view;
	ret->totals.balance.is_known = true;
	ret->totals.balance.energy = watt_energy_from_nj(machine_nj);
	ret->totals.row = &ret->row;
}

static struct watt_run_draft open_draft(void)
{
	struct watt_run_draft draft;

	assert_int_equal(watt_run_draft_init(&draft), 0);
	return draft;
}

static void add(struct watt_run_draft *draft, const char *label, uint64_t elapsed_ns,
		const struct watt_totals *from, const struct watt_totals *to)
{
	assert_int_equal(watt_run_add_phase(draft, label, elapsed_ns, from, to), 0);
}

static void test_sums(void **state)
{
	static const char *const labels[] = { "", "load", "solve", "load" };
	struct watt_run_draft draft = open_draft();
	const struct watt_run_phase *phase;
	struct made_up at[5];
	int64_t i;

	for (i = 0; i < 5; i++)
		make(&at[i], 1000 * i * i, 100 * i * i, (uint64_t)(10 * i * i));
	for (i = 0; i < 4; i++)
		add(&draft, labels[i], (uint64_t)i + 1, &at[i].totals, &at[i + 1].totals);
	assert_int_equal(draft.run->n_phases, 3);
	phase = draft.run->phases;
	assert_string_equal(phase[0].label, "");
	assert_string_equal(phase[1].label, "load");
	assert_string_equal(phase[2].label, "solve");
	assert_int_equal(phase[1].count, 2);
	assert_true(phase[1].is_known);
	assert_int_equal(phase[1].elapsed_ns, 2 + 4);
	assert_int_equal(phase[1].energy_nj, 100 * (3 + 7));
	assert_int_equal(phase[1].machine_nj, 1000 * (3 + 7));
	assert_int_equal(phase[1].cpu_ns, 10 * (3 + 7));
	assert_int_equal(phase[1].domain_nj[0], 1000);
	assert_int_equal(phase[1].domain_nj[1], 500);
	assert_int_equal(phase[1].domain_machine_nj[0], 10000);
	assert_int_equal(phase[1].domain_machine_nj[1], 5000);
	watt_run_draft_done(&draft);
}

/* What is not known is no 0, and a command that is not seen yet is no error. */
static void test_unknown(void **state)
{
	struct watt_run_draft draft = open_draft();
	struct made_up from, to;

	make(&from, 100, 10, 1);
	make(&to, 200, 20, 2);
	from.totals.row = to.totals.row = NULL;
	add(&draft, "dark", 5, &from.totals, &to.totals);
	assert_false(draft.run->phases[0].is_known);
	assert_int_equal(draft.run->phases[0].energy_nj, 0);
	assert_int_equal(draft.run->phases[0].machine_nj, 100);
	watt_run_draft_done(&draft);
}

/* What a command used before it was let go is its own, and the machine's in that time. */
static void test_start(void **state)
{
	struct watt_run_draft draft = open_draft();
	struct made_up from, to;

	make(&from, 1000, 100, 10);
	make(&to, 3000, 400, 40);
	watt_totals_start(&from.totals);
	watt_totals_start(&from.totals);
	add(&draft, "", 5, &from.totals, &to.totals);
	assert_int_equal(draft.run->phases[0].energy_nj, 400);
	assert_int_equal(draft.run->phases[0].machine_nj, 2000 + 100);
	assert_int_equal(draft.run->phases[0].cpu_ns, 40);
	assert_int_equal(draft.run->phases[0].domain_nj[1], 200);
	assert_int_equal(draft.run->phases[0].domain_machine_nj[1], 1000 + 50);
	watt_run_draft_done(&draft);
}

/* A label alone, before anything was measured. */
static void test_of_nothing(void **state)
{
	static const struct watt_totals none;
	struct watt_run_draft draft = open_draft();

	add(&draft, "load", 0, &none, &none);
	assert_int_equal(draft.run->n_phases, 1);
	assert_int_equal(draft.run->phases[0].n_domains, 0);
	assert_int_equal(draft.run->phases[0].energy_nj, 0);
	assert_false(draft.run->phases[0].is_known);
	watt_run_draft_done(&draft);
}

/* Each of many labels is found without looking at the others. */
static void test_many_labels(void **state)
{
	static const struct watt_totals none;
	struct watt_run_draft draft = open_draft();
	char label[WATT_MARK_SIZE];
	int i, n = 20000;

	for (i = 0; i < 2 * n; i++) {
		snprintf(label, sizeof(label), "label %d", i % n);
		add(&draft, label, 1, &none, &none);
	}
	assert_int_equal(draft.run->n_phases, n);
	assert_string_equal(draft.run->phases[777].label, "label 777");
	assert_int_equal(draft.run->phases[777].count, 2);
	assert_true(draft.index.n_compares < (uint64_t)n * 200);
	watt_run_draft_done(&draft);
}

/* A thread of set 9, as a snapshot has it. */
static void note(struct watt_run_draft *draft, uint64_t id, const char *name, int64_t used_nj,
		 uint64_t cpu_ns)
{
	const struct watt_identity identity = { .sz = sizeof(identity),
						.pid = 70,
						.tid = (uint32_t)id };
	const struct watt_entity entity = { .sz = sizeof(entity),
					    .id = id,
					    .kind = WATT_ENTITY_THREAD,
					    .name = name,
					    .count = 1,
					    .tracked_id = id == 5 ? 8 : 9,
					    .identity = &identity };
	const struct watt_row row = { .sz = sizeof(row),
				      .entity = &entity,
				      .tracked = watt_energy_from_nj(used_nj),
				      .tracked_cpu_ns = cpu_ns };
	const struct watt_row *rows[] = { &row };
	struct watt_view view = { .sz = sizeof(view), .rows = rows, .n_rows = 1 };

	assert_int_equal(watt_run_note_threads(draft, &view, 9), 0);
}

/* Each thread is as it was seen last, under its last name; the rest is of those nobody saw. */
static void test_threads(void **state)
{
	struct watt_run_draft draft = open_draft();
	const struct watt_run_thread *threads;

	note(&draft, 71, "loader", 100, 10);
	note(&draft, 72, "idle", 0, 0);
	note(&draft, 5, "another set's", 1000, 100);
	note(&draft, 71, "worker", 300, 30);
	draft.run->energy_nj = 350;
	draft.run->cpu_ns = 60;
	assert_int_equal(watt_run_end_threads(&draft), 0);
	assert_int_equal(draft.run->n_threads, 3);
	threads = draft.run->threads;
	assert_string_equal(threads[0].name, "worker");
	assert_int_equal(threads[0].tid, 71);
	assert_int_equal(threads[0].pid, 70);
	assert_int_equal(threads[0].energy_nj, 300);
	assert_int_equal(threads[0].cpu_ns, 30);
	assert_string_equal(threads[1].name, "(other threads)");
	assert_int_equal(threads[1].tid, 0);
	assert_int_equal(threads[1].energy_nj, 50);
	assert_int_equal(threads[1].cpu_ns, 30);
	assert_string_equal(threads[2].name, "idle");
	watt_run_draft_done(&draft);
}

/* Where threads are all of it, nobody else is named. */
static void test_threads_are_all(void **state)
{
	struct watt_run_draft draft = open_draft();

	note(&draft, 71, "worker", 300, 30);
	draft.run->energy_nj = 300;
	draft.run->cpu_ns = 30;
	assert_int_equal(watt_run_end_threads(&draft), 0);
	assert_int_equal(draft.run->n_threads, 1);
	watt_run_draft_done(&draft);
}

/* Per domain: what was used, what was lost, and for how long nobody knows. */
static void test_domains(void **state)
{
	static const struct watt_domain domain = { .sz = sizeof(domain),
						   .path = "package-0",
						   .is_partition = 1 };
	const struct watt_domain *domains[] = { &domain, &domain };
	struct watt_run_draft draft = open_draft();
	struct watt_balance balance;
	struct made_up from, to;

	make(&from, 1000, 0, 0);
	make(&to, 4000, 600, 60);
	from.view.domains = to.view.domains = domains;
	to.states[0].window_ns = 80;
	to.states[1].window_ns = 100;
	to.states[0].errors = 3;
	from.states[0].errors = 1;
	to.states[0].unknown_ns = 7;
	from.states[0].unknown_ns = 2;
	from.states[0].t_ns = from.states[1].t_ns = 1000;
	to.states[0].t_ns = to.states[1].t_ns = 1000 + 100;
	draft.run->elapsed_ns = 100;
	balance = to.totals.balance;
	balance.sz = sizeof(balance);
	assert_int_equal(watt_run_note(&draft, &to.view, 9), 0);
	assert_int_equal(watt_run_fill(&draft, &from.totals, &to.totals, &balance), 0);
	assert_true(draft.run->is_known);
	assert_int_equal(draft.run->energy_nj, 600);
	assert_int_equal(draft.run->machine_nj, 3000);
	assert_int_equal(draft.run->domain_nj[1], 300);
	assert_int_equal(draft.run->domain_machine_nj[1], 1500);
	assert_int_equal(draft.run->domain_loss[0].errors, 2);
	assert_int_equal(draft.run->domain_loss[0].gap_ns, 5 + 20);
	assert_int_equal(draft.run->domain_loss[1].gap_ns, 0);
	assert_true(fabs(draft.run->machine_w - 45) < 1e-9);
	assert_true(isnan(draft.run->outside_w));
	watt_run_draft_done(&draft);
}

/* What is not known is no number, and what is too little for the sensors is not known. */
static void test_measures(void **state)
{
	struct watt_run run = { .sz = sizeof(run),
				.is_known = 1,
				.energy_nj = 3000000000,
				.machine_nj = 12000000000,
				.idle_nj = 4000000000,
				.unattributed_nj = 1000000000,
				.shared_idle_nj = 500000000,
				.machine_w = 6,
				.outside_w = NAN,
				.rusage_s = 0.5,
				.cpu_ns = 250000000,
				.elapsed_ns = 2000000000 };
	struct watt_run_phase phase = { .is_known = 1,
					.energy_nj = 1000000000,
					.machine_nj = 4000000000,
					.cpu_ns = 100000000,
					.elapsed_ns = 500000000 };
	struct watt_run_interval interval = { .energy_nj = 1500000000,
					      .machine_nj = 6000000000,
					      .cpu_ns = 200000000,
					      .elapsed_ns = 500000000 };

	assert_true(watt_run_get(&run, WATT_RUN_ENERGY_J) == 3);
	assert_true(watt_run_get(&run, WATT_RUN_MACHINE_J) == 12);
	assert_true(watt_run_get(&run, WATT_RUN_IDLE_J) == 4);
	assert_true(watt_run_get(&run, WATT_RUN_UNATTRIBUTED_J) == 1);
	assert_true(watt_run_get(&run, WATT_RUN_OTHERS_J) == 4);
	assert_true(watt_run_get(&run, WATT_RUN_SHARED_IDLE_J) == 0.5);
	assert_true(watt_run_get(&run, WATT_RUN_SHARE) == 0.25);
	assert_true(watt_run_get(&run, WATT_RUN_POWER_W) == 1.5);
	assert_true(watt_run_get(&run, WATT_RUN_MACHINE_W) == 6);
	assert_true(isnan(watt_run_get(&run, WATT_RUN_OUTSIDE_W)));
	assert_true(watt_run_get(&run, WATT_RUN_CPU_S) == 0.25);
	assert_true(watt_run_get(&run, WATT_RUN_RUSAGE_S) == 0.5);
	assert_true(watt_run_get(&run, WATT_RUN_ELAPSED_S) == 2);
	assert_true(watt_run_phase_get(&phase, WATT_RUN_POWER_W) == 2);
	assert_true(watt_run_phase_get(&phase, WATT_RUN_MACHINE_W) == 8);
	assert_true(watt_run_phase_get(&phase, WATT_RUN_SHARE) == 0.25);
	assert_true(isnan(watt_run_phase_get(&phase, WATT_RUN_IDLE_J)));
	assert_true(watt_run_interval_get(&interval, WATT_RUN_ENERGY_J) == 1.5);
	assert_true(watt_run_interval_get(&interval, WATT_RUN_POWER_W) == 3);
	assert_true(watt_run_interval_get(&interval, WATT_RUN_MACHINE_W) == 12);
	assert_true(watt_run_interval_get(&interval, WATT_RUN_CPU_S) == 0.2);
	assert_true(watt_run_interval_get(&interval, WATT_RUN_ELAPSED_S) == 0.5);
	interval.energy_nj = 0; /* it ran, and the sensors have told nothing yet */
	assert_true(isnan(watt_run_interval_get(&interval, WATT_RUN_POWER_W)));
	interval.cpu_ns = 0;
	assert_true(watt_run_interval_get(&interval, WATT_RUN_POWER_W) == 0);
	interval.elapsed_ns = 0;
	assert_true(isnan(watt_run_interval_get(&interval, WATT_RUN_POWER_W)));
	run.energy_nj = phase.energy_nj = 0;
	assert_true(watt_run_get(&run, WATT_RUN_ENERGY_J) == 0);
	assert_true(isnan(watt_run_get(&run, WATT_RUN_POWER_W)));
	assert_true(isnan(watt_run_phase_get(&phase, WATT_RUN_POWER_W)));
	run.cpu_ns = 0;
	assert_true(isnan(watt_run_get(&run, WATT_RUN_POWER_W))); /* getrusage has seen it */
	run.rusage_s = 0;
	assert_true(watt_run_get(&run, WATT_RUN_POWER_W) == 0);
	run.is_known = phase.is_known = 0;
	assert_true(isnan(watt_run_get(&run, WATT_RUN_ENERGY_J)));
	assert_true(isnan(watt_run_get(&run, WATT_RUN_MACHINE_W)));
	assert_true(isnan(watt_run_phase_get(&phase, WATT_RUN_MACHINE_J)));
	assert_true(watt_run_get(&run, WATT_RUN_ELAPSED_S) == 2);
}

/* Each label once, as runs had it first; a run that did not have it has none. */
static void test_phases_of_runs(void **state)
{
	struct watt_run_phase first[] = { { .label = "load" }, { .label = "" } };
	struct watt_run_phase second[] = { { .label = "" }, { .label = "solve" } };
	const struct watt_run runs[] = {
		{ .sz = sizeof(struct watt_run), .phases = first, .n_phases = 2 },
		{ .sz = sizeof(struct watt_run) },
		{ .sz = sizeof(struct watt_run), .phases = second, .n_phases = 2 },
	};
	const struct watt_run *const list[] = { &runs[0], &runs[1], &runs[2] };
	struct watt_run_phases *phases = NULL;

	assert_int_equal(watt_run_phases_new(list, 3, NULL), -EINVAL);
	assert_int_equal(watt_run_phases_new(NULL, 3, &phases), -EINVAL);
	assert_null(phases);
	assert_int_equal(watt_run_phases_new(list, 3, &phases), 0);
	assert_string_equal(watt_run_phases_get_label(phases, 0), "load");
	assert_string_equal(watt_run_phases_get_label(phases, 1), "");
	assert_string_equal(watt_run_phases_get_label(phases, 2), "solve");
	assert_null(watt_run_phases_get_label(phases, 3));
	assert_ptr_equal(watt_run_phases_get(phases, 0, 0), &first[0]);
	assert_ptr_equal(watt_run_phases_get(phases, 1, 0), &first[1]);
	assert_ptr_equal(watt_run_phases_get(phases, 1, 2), &second[0]);
	assert_ptr_equal(watt_run_phases_get(phases, 2, 2), &second[1]);
	assert_null(watt_run_phases_get(phases, 0, 1));
	assert_null(watt_run_phases_get(phases, 0, 2));
	assert_null(watt_run_phases_get(phases, 3, 0));
	assert_null(watt_run_phases_get(phases, 0, 3));
	assert_null(watt_run_phases_free(phases));
	assert_int_equal(watt_run_phases_new(NULL, 0, &phases), 0);
	assert_null(watt_run_phases_get_label(phases, 0));
	assert_null(watt_run_phases_free(phases));
	assert_null(watt_run_phases_free(NULL));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measures),
		cmocka_unit_test(test_phases_of_runs),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_of_nothing),
		cmocka_unit_test(test_many_labels),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_threads_are_all),
		cmocka_unit_test(test_domains),
	};

	return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
