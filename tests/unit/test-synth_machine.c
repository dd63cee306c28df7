/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/synth/machine.c, synth_machine_task.c and synth_machine_sweep.c */
#include "unit.h"

#include "source/synth/machine.h"

#define MS 1000000ULL
#define S 1000000000ULL

/* Everything at once: packages, memory, cores, threads, deaths, numbers that come again. */
static const struct watt_synth_machine_opts lively = {
	.seed = 42,
	.boot_ahead_ns = 5 * S,
	.n_cpus = 6,
	.n_packages = 2,
	.n_processes = 20,
	.n_kthreads = 3,
	.pid_max = 160,
	.idle_mw = 8000,
	.task_min_mw = 1000,
	.task_max_mw = 9000,
	.dram_idle_mw = 900,
	.dram_task_mw = 700,
	.run_us = 1500,
	.sleep_us = 4000,
	.migrate_ppm = 200000,
	.fork_ppm = 60000,
	.exit_ppm = 60000,
	.exec_ppm = 20000,
	.cgroup_ppm = 20000,
	.thread_ppm = 300000,
	.has_cores = true,
};

static struct watt_synth_machine *make(const struct watt_synth_machine_opts *opts)
{
	struct watt_synth_machine *machine;

	assert_int_equal(watt_synth_machine_new(opts, &machine), 0);
	return machine;
}

static void check_conservation(const struct watt_synth_machine *m)
{
	uint64_t now_ns = watt_synth_machine_now_ns(m);
	size_t d, i;

	for (d = 0; d < watt_synth_machine_domain_count(m); d++) {
		int64_t sum_nj =
			watt_synth_machine_idle_nj(m, d) + watt_synth_machine_gone_nj(m, d);

		for (i = 0; i < watt_synth_machine_task_count(m); i++)
			sum_nj += watt_synth_machine_task(m, i)->energy_nj[d];
		assert_int_equal(sum_nj, watt_synth_machine_energy_nj(m, d, now_ns));
	}
}

static void test_energy_is_conserved_exactly(void **state)
{
	struct watt_synth_machine *m = make(&lively);
	int64_t before_nj = 0, now_nj;
	uint64_t t_ns;

	check_conservation(m);
	for (t_ns = S; t_ns < 4 * S; t_ns += 7777777) {
		assert_int_equal(watt_synth_machine_run(m, t_ns), 0);
		assert_int_equal(watt_synth_machine_now_ns(m), t_ns / 1000 * 1000);
		check_conservation(m);
		now_nj = watt_synth_machine_energy_nj(m, 0, t_ns);
		assert_true(now_nj >= before_nj);
		before_nj = now_nj;
	}
	assert_true(before_nj > 8 * 2900000000LL);
	watt_synth_machine_free(m);
}

static void test_forgetful_machine_conserves_too(void **state)
{
	struct watt_synth_machine_opts opts = lively;
	struct watt_synth_machine *m, *keeps = make(&lively);

	opts.is_forgetful = true;
	m = make(&opts);
	assert_int_equal(watt_synth_machine_run(m, 5 * S), 0);
	assert_int_equal(watt_synth_machine_run(keeps, 5 * S), 0);
	check_conservation(m);
	assert_true(watt_synth_machine_gone_nj(m, 0) > 0);
	assert_int_equal(watt_synth_machine_gone_nj(keeps, 0), 0);
	assert_true(watt_synth_machine_task_count(m) < watt_synth_machine_task_count(keeps));
	assert_int_equal(watt_synth_machine_energy_nj(m, 1, 5 * S),
			 watt_synth_machine_energy_nj(keeps, 1, 5 * S));
	watt_synth_machine_forget(m, 4 * S);
	assert_int_equal(watt_synth_machine_energy_nj(m, 1, 4 * S + 333000),
			 watt_synth_machine_energy_nj(keeps, 1, 4 * S + 333000));
	watt_synth_machine_free(m);
	watt_synth_machine_free(keeps);
}

static void test_the_domains(void **state)
{
	struct watt_synth_machine *m = make(&lively);
	const struct watt_synth_domain *domain;
	const uint16_t *slots;
	uint32_t n_slots;

	assert_int_equal(watt_synth_machine_domain_count(m), 2 + 2 + 6);
	assert_string_equal(watt_synth_machine_domain(m, 1)->path, "package-1");
	domain = watt_synth_machine_domain(m, 2);
	assert_string_equal(domain->path, "dram-0");
	assert_int_equal(domain->kind, WATT_DOMAIN_DRAM);
	domain = watt_synth_machine_domain(m, 7);
	assert_string_equal(domain->path, "package-1/core-3");
	assert_int_equal(domain->kind, WATT_DOMAIN_CORE);
	assert_int_equal(domain->package_id, 1);
	assert_int_equal(domain->core_id, 3);
	slots = watt_synth_machine_cpu_slots(m, &n_slots);
	assert_int_equal(n_slots, 6);
	assert_int_equal(slots[5], 5);
	watt_synth_machine_free(m);
}

/* What records say of one task, as an observer would add it up. */
struct seen {
	uint32_t tid;
	uint64_t start_ns;
	uint64_t cpu_ns;
	uint64_t slot_ns[8];
	uint64_t last_t_ns;
	bool is_freed;
	bool has_exited;
};

struct observer {
	struct seen seen[4096];
	size_t n;
	size_t n_kinds[8];
	const uint16_t *slots;
};

static struct seen *find_seen(struct observer *obs, uint32_t tid, uint64_t start_ns)
{
	size_t i;

	for (i = 0; i < obs->n; i++)
		if (obs->seen[i].tid == tid && obs->seen[i].start_ns == start_ns)
			return &obs->seen[i];
	return NULL;
}

static void observe_record(struct observer *obs, const struct watt_usage *u)
{
	struct seen *seen = find_seen(obs, u->tid, u->start_ns);

	if (!seen) {
		assert_true(obs->n < sizeof(obs->seen) / sizeof(obs->seen[0]));
		seen = &obs->seen[obs->n++];
		*seen = (struct seen){ .tid = u->tid, .start_ns = u->start_ns };
	}
	assert_false(seen->is_freed);
	assert_true(u->cpu_ns >= seen->cpu_ns && u->t_ns >= seen->last_t_ns);
	if (seen->has_exited)
		assert_true(u->kind == WATT_USAGE_TASK || u->kind == WATT_USAGE_FREE ||
			    u->kind == WATT_USAGE_MIGRATE);
	seen->slot_ns[obs->slots[u->cpu]] += u->cpu_ns - seen->cpu_ns;
	seen->cpu_ns = u->cpu_ns;
	seen->last_t_ns = u->t_ns;
	seen->is_freed = u->kind == WATT_USAGE_FREE;
	seen->has_exited |= u->kind == WATT_USAGE_EXIT;
	obs->n_kinds[u->kind]++;
}

static void observe(struct observer *obs, struct watt_synth_machine *m, bool full)
{
	struct watt_usage_batch batch;
	size_t i;

	assert_int_equal(watt_synth_machine_sweep(m, full, &batch), 0);
	assert_int_equal(batch.t_after_ns, watt_synth_machine_now_ns(m));
	assert_int_equal(batch.lost, 0);
	for (i = 0; i < batch.n_records; i++)
		observe_record(obs, &batch.records[i]);
}

/* Who believes every record knows each task's time on each slot, to the ns. */
static void check_against_truth(struct observer *obs, const struct watt_synth_machine *m)
{
	size_t i, d;

	assert_int_equal(obs->n, watt_synth_machine_task_count(m));
	for (i = 0; i < watt_synth_machine_task_count(m); i++) {
		const struct watt_synth_task *task = watt_synth_machine_task(m, i);
		struct seen *seen = find_seen(obs, task->tid, task->start_ns);
		uint64_t package_nj[2] = { 0 };

		assert_non_null(seen);
		assert_int_equal(seen->cpu_ns, task->cpu_ns);
		assert_int_equal(seen->is_freed, !task->is_alive);
		for (d = 0; d < 6; d++) {
			uint64_t nj = seen->slot_ns[d] / 1000 * task->power_mw;

			assert_int_equal(task->energy_nj[4 + d], nj);
			package_nj[d / 3] += nj;
		}
		assert_int_equal(task->energy_nj[0], package_nj[0]);
		assert_int_equal(task->energy_nj[1], package_nj[1]);
	}
}

static void test_records_tell_the_whole_truth(void **state)
{
	struct observer *obs = calloc(1, sizeof(*obs));
	struct watt_synth_machine *m = make(&lively);
	uint32_t n_slots;
	uint64_t t_ns;
	int kind;

	assert_non_null(obs);
	obs->slots = watt_synth_machine_cpu_slots(m, &n_slots);
	observe(obs, m, true);
	for (t_ns = S; t_ns <= 3 * S; t_ns += 50 * MS) {
		assert_int_equal(watt_synth_machine_run(m, t_ns), 0);
		observe(obs, m, t_ns % (500 * MS) == 0);
	}
	assert_int_equal(watt_synth_machine_run(m, 3 * S + 1), 0);
	observe(obs, m, true);
	check_against_truth(obs, m);
	for (kind = WATT_USAGE_TASK; kind <= WATT_USAGE_CGROUP; kind++)
		assert_true(obs->n_kinds[kind] > 0);
	watt_synth_machine_free(m);
	free(obs);
}

static void test_pids_come_again(void **state)
{
	struct watt_synth_machine *m = make(&lively);
	size_t i, j, n_again = 0;

	assert_int_equal(watt_synth_machine_run(m, 5 * S), 0);
	for (i = 0; i < watt_synth_machine_task_count(m); i++)
		for (j = 0; j < i; j++) {
			const struct watt_synth_task *a = watt_synth_machine_task(m, i);
			const struct watt_synth_task *b = watt_synth_machine_task(m, j);

			if (a->tid != b->tid)
				continue;
			n_again++;
			assert_true(a->start_ns != b->start_ns);
			assert_false(a->is_alive && b->is_alive);
		}
	assert_true(n_again > 0);
	watt_synth_machine_free(m);
}

static void test_cpu_time_adds_up(void **state)
{
	struct watt_synth_machine *m = make(&lively);
	struct watt_usage_batch batch;
	uint64_t busy_ns = 0, task_ns = 0;
	size_t i;

	assert_int_equal(watt_synth_machine_run(m, 3 * S), 0);
	assert_int_equal(watt_synth_machine_sweep(m, true, &batch), 0);
	assert_int_equal(batch.n_cpus, 6);
	for (i = 0; i < batch.n_cpus; i++) {
		assert_int_equal(batch.cpus[i].user_ns + batch.cpus[i].idle_ns, 2 * S);
		busy_ns += batch.cpus[i].user_ns;
	}
	for (i = 0; i < watt_synth_machine_task_count(m); i++)
		task_ns += watt_synth_machine_task(m, i)->cpu_ns;
	assert_int_equal(busy_ns, task_ns);
	assert_true(busy_ns > S);
	watt_synth_machine_free(m);
}

static void test_same_seed_same_bytes(void **state)
{
	struct watt_synth_machine_opts other = lively;
	struct watt_synth_machine *a = make(&lively), *b = make(&lively), *c;
	struct watt_usage_batch batch_a, batch_b, batch_c;
	uint64_t t_ns;

	other.seed++;
	c = make(&other);
	/* However it is cut into steps. */
	for (t_ns = S; t_ns < 2 * S; t_ns += 3333333)
		assert_int_equal(watt_synth_machine_run(b, t_ns), 0);
	assert_int_equal(watt_synth_machine_run(a, 2 * S), 0);
	assert_int_equal(watt_synth_machine_run(b, 2 * S), 0);
	assert_int_equal(watt_synth_machine_run(c, 2 * S), 0);
	assert_int_equal(watt_synth_machine_sweep(a, true, &batch_a), 0);
	assert_int_equal(watt_synth_machine_sweep(b, true, &batch_b), 0);
	assert_int_equal(watt_synth_machine_sweep(c, true, &batch_c), 0);
	assert_true(batch_a.n_records > 100);
	assert_int_equal(batch_a.n_records, batch_b.n_records);
	assert_memory_equal(batch_a.records, batch_b.records,
			    batch_a.n_records * sizeof(*batch_a.records));
	assert_memory_equal(batch_a.cpus, batch_b.cpus, batch_a.n_cpus * sizeof(*batch_a.cpus));
	assert_true(batch_c.n_records != batch_a.n_records ||
		    memcmp(batch_a.records, batch_c.records,
			   batch_a.n_records * sizeof(*batch_a.records)));
	watt_synth_machine_free(a);
	watt_synth_machine_free(b);
	watt_synth_machine_free(c);
}

static void test_lost_records_are_counted(void **state)
{
	struct watt_synth_machine_opts opts = lively;
	struct watt_usage_batch all, some;
	struct watt_synth_machine *m;

	m = make(&opts);
	assert_int_equal(watt_synth_machine_run(m, 2 * S), 0);
	assert_int_equal(watt_synth_machine_sweep(m, true, &all), 0);
	assert_int_equal(all.lost, 0);
	watt_synth_machine_free(m);
	opts.lose_ppm = 1000000;
	m = make(&opts);
	assert_int_equal(watt_synth_machine_run(m, 2 * S), 0);
	assert_int_equal(watt_synth_machine_sweep(m, true, &some), 0);
	assert_true(some.lost > 100);
	assert_int_equal(some.n_records, some.n_tasks);
	watt_synth_machine_free(m);
}

/* CPUs of a package need not be neighbours. */
static void test_interleaved_packages(void **state)
{
	static const uint16_t packages[] = { 0, 1, 0, 1 };
	struct watt_synth_machine_opts opts = { .n_packages = 2, .cpu_packages = packages };
	struct watt_synth_machine *m = make(&opts);
	const uint16_t *slots;
	uint32_t n_slots;

	slots = watt_synth_machine_cpu_slots(m, &n_slots);
	assert_int_equal(n_slots, 2);
	assert_memory_equal(slots, packages, sizeof(packages));
	assert_int_equal(watt_synth_machine_run(m, 2 * S), 0);
	check_conservation(m);
	watt_synth_machine_free(m);
	opts.n_packages = 1;
	assert_int_equal(watt_synth_machine_new(&opts, &m), -EINVAL);
}

static void test_defaults_and_contradictions(void **state)
{
	static const struct watt_synth_machine_opts bad[] = {
		{ .n_cpus = 2, .n_packages = 3 },
		{ .task_min_mw = 5, .task_max_mw = 4 },
		{ .epoch_ns = 1500 },
		{ .pid_max = 105 },
		{ .idle_mw = 1000001 },
	};
	struct watt_synth_machine *m = make(&(struct watt_synth_machine_opts){ 0 });
	size_t i;

	assert_int_equal(watt_synth_machine_cpu_count(m), 4);
	assert_int_equal(watt_synth_machine_domain_count(m), 1);
	assert_int_equal(watt_synth_machine_task_count(m), 8);
	assert_int_equal(watt_synth_machine_now_ns(m), S);
	assert_int_equal(watt_synth_machine_run(m, 2 * S), 0);
	assert_int_equal(watt_synth_machine_run(m, S), -EINVAL);
	assert_null(watt_synth_machine_free(m));
	assert_null(watt_synth_machine_free(NULL));
	m = NULL;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(watt_synth_machine_new(&bad[i], &m), -EINVAL);
	assert_null(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_energy_is_conserved_exactly),
		cmocka_unit_test(test_forgetful_machine_conserves_too),
		cmocka_unit_test(test_the_domains),
		cmocka_unit_test(test_records_tell_the_whole_truth),
		cmocka_unit_test(test_pids_come_again),
		cmocka_unit_test(test_cpu_time_adds_up),
		cmocka_unit_test(test_same_seed_same_bytes),
		cmocka_unit_test(test_lost_records_are_counted),
		cmocka_unit_test(test_interleaved_packages),
		cmocka_unit_test(test_defaults_and_contradictions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
