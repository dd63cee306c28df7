/* SPDX-License-Identifier: Apache-2.0 */
/* cli/stat_phase.c: stretches with one label are one phase. */
#include "unit.h"

#include "stat_phase.h"

/* Totals of a machine with two domains, made up. */
struct made_up {
	struct totals totals;
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

static void test_sums(void **state)
{
	static const char *const labels[] = { "", "load", "solve", "load" };
	struct watt_run run = { 0 };
	struct labels index = { 0 };
	const struct watt_run_phase *phase;
	struct made_up at[5];
	int64_t i;

	for (i = 0; i < 5; i++)
		make(&at[i], 1000 * i * i, 100 * i * i, (uint64_t)(10 * i * i));
	for (i = 0; i < 4; i++)
		stat_phases_add(&run, &index, labels[i], (uint64_t)i + 1, &at[i].totals,
				&at[i + 1].totals);
	assert_int_equal(run.n_phases, 3);
	assert_string_equal(run.phases[0].label, "");
	assert_string_equal(run.phases[1].label, "load");
	assert_string_equal(run.phases[2].label, "solve");
	phase = stat_phases_find(&run, &index, "load");
	assert_ptr_equal(phase, &run.phases[1]);
	assert_int_equal(phase->count, 2);
	assert_true(phase->is_known);
	assert_int_equal(phase->elapsed_ns, 2 + 4);
	assert_int_equal(phase->energy_nj, 100 * (3 + 7));
	assert_int_equal(phase->machine_nj, 1000 * (3 + 7));
	assert_int_equal(phase->cpu_ns, 10 * (3 + 7));
	assert_int_equal(phase->domain_nj[0], 1000);
	assert_int_equal(phase->domain_nj[1], 500);
	assert_int_equal(phase->domain_machine_nj[0], 10000);
	assert_int_equal(phase->domain_machine_nj[1], 5000);
	assert_null(stat_phases_find(&run, &index, "write"));
	stat_phases_done(&run);
	labels_done(&index);
	assert_int_equal(run.n_phases, 0);
}

/* What is not known is no 0, and a command that is not seen yet is no error. */
static void test_unknown(void **state)
{
	struct watt_run run = { 0 };
	struct labels index = { 0 };
	struct made_up from, to;

	make(&from, 100, 10, 1);
	make(&to, 200, 20, 2);
	from.totals.row = to.totals.row = NULL;
	stat_phases_add(&run, &index, "dark", 5, &from.totals, &to.totals);
	assert_false(run.phases[0].is_known);
	assert_int_equal(run.phases[0].energy_nj, 0);
	assert_int_equal(run.phases[0].machine_nj, 100);
	stat_phases_done(&run);
	labels_done(&index);
}

/* A label alone, before anything was measured. */
static void test_of_nothing(void **state)
{
	static const struct totals none;
	struct watt_run run = { 0 };
	struct labels index = { 0 };

	stat_phases_add(&run, &index, "load", 0, &none, &none);
	assert_int_equal(run.n_phases, 1);
	assert_int_equal(run.phases[0].n_domains, 0);
	assert_int_equal(run.phases[0].energy_nj, 0);
	assert_false(run.phases[0].is_known);
	stat_phases_done(&run);
	labels_done(&index);
}

/* Each of many labels is found without looking at the others. */
static void test_many_labels(void **state)
{
	static const struct totals none;
	struct watt_run run = { 0 };
	struct labels index = { 0 };
	char label[WATT_MARK_SIZE];
	int i, n = 20000;

	for (i = 0; i < 2 * n; i++) {
		snprintf(label, sizeof(label), "label %d", i % n);
		stat_phases_add(&run, &index, label, 1, &none, &none);
	}
	assert_int_equal(run.n_phases, n);
	assert_string_equal(run.phases[777].label, "label 777");
	assert_int_equal(run.phases[777].count, 2);
	assert_true(index.n_compares < (uint64_t)n * 200);
	stat_phases_done(&run);
	labels_done(&index);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_of_nothing),
		cmocka_unit_test(test_many_labels),
	};

	return cmocka_run_group_tests_name("stat-phase", tests, NULL, NULL);
}
