/* SPDX-License-Identifier: Apache-2.0 */
/* agent/roster.c on machines made up here: sums, bounds, and counters that never go back. */
#include "unit.h"

#include <math.h>

#include "counted.h"

static const struct roster_opts opts = {
	.levels = 1 << LEVEL_PROCESS | 1 << LEVEL_CONTAINER,
	.top = 4,
	.min_age_ns = 10 * S,
	.keep_ns = 3 * S,
	.own_pid = 4000000,
};

static const struct roster_user *find(const struct roster *roster, enum level_kind kind,
				      uint64_t id)
{
	const struct roster_level *level = &roster->levels[kind];
	size_t i;

	for (i = 0; i < level->n_users; i++)
		if (level->users[i]->id == id)
			return level->users[i];
	return NULL;
}

static void test_sums(void **state)
{
	struct machine machine;
	struct roster roster;

	machine_init(&machine);
	roster_init(&roster, &opts);
	machine_idle(&machine, 1000, 50);
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 300);
	machine_use(&machine, WATT_ENTITY_PROCESS, 8, "b", 600);
	machine_use(&machine, WATT_ENTITY_CONTAINER, 9, "c", 600);
	roster_update(&roster, &machine.census);
	assert_true(roster_is_balanced(&roster));
	assert_true(roster.whole[ROSTER_DOMAIN(0)].out == 1950);
	assert_true(roster.whole[ROSTER_DOMAIN(1)].out == 300);
	assert_true(roster.machine_nj == 2250);
	assert_true(roster.idle[ROSTER_DOMAIN(0)].out == 1000);
	assert_true(find(&roster, LEVEL_PROCESS, 7)->sums[ROSTER_DOMAIN(0)].out == 300);
	assert_true(find(&roster, LEVEL_PROCESS, 8)->sums[ROSTER_CPU].out == 60);
	assert_true(roster.levels[LEVEL_PROCESS].other[ROSTER_DOMAIN(0)].out == 0);
	assert_true(find(&roster, LEVEL_CONTAINER, 9)->sums[ROSTER_DOMAIN(0)].out == 600);
	assert_true(roster.levels[LEVEL_CONTAINER].other[ROSTER_DOMAIN(0)].out == 300);
	assert_true(roster.levels[LEVEL_CONTAINER].other[ROSTER_CPU].out == 30);
	/* It began with the session. */
	assert_int_equal(roster.created_ns[ROSTER_DOMAIN(0)], 1700000000 * S - 10 * S);
	roster_done(&roster);
}

/* The machine's is the sum over the partition, whatever else is beside it or above. */
static void test_machine(void **state)
{
	struct machine machine;
	struct roster roster;

	machine_init(&machine);
	machine.domains[0].is_partition = 0; /* a whole that is not believed */
	machine.domains[1].is_summed = 0;
	roster_init(&roster, &opts);
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 300);
	roster_update(&roster, &machine.census);
	assert_true(roster.whole[ROSTER_DOMAIN(0)].out == 300);
	assert_true(roster.machine_nj == 100);
	roster_done(&roster);
}

/* Its value stays for a while, and is then in `ended`: no rate has it twice. */
static void test_end(void **state)
{
	struct machine machine;
	struct roster roster;
	int i;

	machine_init(&machine);
	roster_init(&roster, &opts);
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 300);
	roster_update(&roster, &machine.census);
	for (i = 0; i < 3; i++) {
		machine_step(&machine);
		roster_update(&roster, &machine.census);
		assert_true(find(&roster, LEVEL_PROCESS, 7)->sums[ROSTER_DOMAIN(0)].out == 300);
		assert_int_equal(roster.levels[LEVEL_PROCESS].n_leaving, 1);
	}
	machine_step(&machine);
	roster_update(&roster, &machine.census);
	assert_null(find(&roster, LEVEL_PROCESS, 7));
	assert_true(roster.levels[LEVEL_PROCESS].ended[ROSTER_DOMAIN(0)].out == 300);
	assert_int_equal(roster.levels[LEVEL_PROCESS].n_leaving, 0);
	assert_int_equal(roster.levels[LEVEL_PROCESS].n_retired, 1);
	assert_true(roster_is_balanced(&roster));
	roster_done(&roster);
}

/* A pid that is used again is somebody else under the same name: only one of them is told of. */
static void test_same_labels(void **state)
{
	struct machine machine;
	struct roster roster;

	machine_init(&machine);
	roster_init(&roster, &opts);
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 300);
	roster_update(&roster, &machine.census);
	machine_step(&machine);
	machine_use(&machine, WATT_ENTITY_PROCESS, 17, "a", 20);
	machine.identities[0].pid = 7;
	machine.entities[0].identity = &machine.identities[0];
	roster_update(&roster, &machine.census);
	assert_null(find(&roster, LEVEL_PROCESS, 7));
	assert_true(find(&roster, LEVEL_PROCESS, 17)->sums[ROSTER_DOMAIN(0)].out == 20);
	assert_int_equal(find(&roster, LEVEL_PROCESS, 17)->created_ns, 1700000001 * S);
	assert_true(roster.levels[LEVEL_PROCESS].ended[ROSTER_DOMAIN(0)].out == 300);
	assert_true(roster_is_balanced(&roster));
	roster_done(&roster);
}

/* After an exec the same process goes on under another name, from 0. */
static void test_rename(void **state)
{
	struct machine machine;
	struct roster roster;
	const struct roster_user *user;

	machine_init(&machine);
	roster_init(&roster, &opts);
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "sh", 300);
	roster_update(&roster, &machine.census);
	machine_step(&machine);
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "cc", 20);
	roster_update(&roster, &machine.census);
	user = find(&roster, LEVEL_PROCESS, 7);
	assert_string_equal(user->labels, "kind=\"process\",pid=\"7\",comm=\"cc\"");
	assert_true(user->sums[ROSTER_DOMAIN(0)].out == 20);
	assert_int_equal(roster.levels[LEVEL_PROCESS].n_users, 2);
	assert_int_equal(roster.levels[LEVEL_PROCESS].n_leaving, 1);
	assert_true(roster_is_balanced(&roster));
	roster_done(&roster);
}

/* A window in which nothing was told is not one in which nobody used anything. */
static void test_empty_window(void **state)
{
	struct machine machine;
	struct roster roster;
	size_t i;

	machine_init(&machine);
	roster_init(&roster, &opts);
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 3000000000);
	roster_update(&roster, &machine.census);
	assert_true(find(&roster, LEVEL_PROCESS, 7)->power_w == 4);
	machine_step(&machine);
	for (i = 0; i < N_DOMAINS; i++)
		machine.states[i].window_ns = 0;
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 0);
	roster_update(&roster, &machine.census);
	assert_true(find(&roster, LEVEL_PROCESS, 7)->power_w == 4);
	roster_done(&roster);
}

/* Domains know nothing of each other, and what one can't tell of is not known. */
static void test_uncertainty(void **state)
{
	struct machine machine;
	struct roster roster;

	machine_init(&machine);
	roster_init(&roster, &opts);
	machine.states[1].window_ns = 2 * S;
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 3000000000);
	machine.uncertainties_j[0][0] = 0.3;
	machine.uncertainties_j[0][1] = 0.8;
	machine_use(&machine, WATT_ENTITY_PROCESS, 8, "b", 3000000000);
	machine.uncertainties_j[1][0] = 0.3;
	machine.uncertainties_j[1][1] = NAN;
	roster_update(&roster, &machine.census);
	assert_true(fabs(find(&roster, LEVEL_PROCESS, 7)->uncertainty_w - 0.5) < 1e-12);
	assert_true(isnan(find(&roster, LEVEL_PROCESS, 8)->uncertainty_w));
	/* who used nothing of a domain need not know its doubts */
	machine_step(&machine);
	machine_use(&machine, WATT_ENTITY_PROCESS, 8, "b", 2);
	roster_update(&roster, &machine.census);
	assert_true(fabs(find(&roster, LEVEL_PROCESS, 8)->uncertainty_w - 0.3) < 1e-12);
	roster_done(&roster);
}

static void test_young_are_other(void **state)
{
	struct machine machine;
	struct roster roster;
	int i;

	machine_init(&machine);
	roster_init(&roster, &opts);
	for (i = 0; i < 11; i++) {
		machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 100);
		machine.identities[0].start_ns = 5000 * S;
		roster_update(&roster, &machine.census);
		assert_true((find(&roster, LEVEL_PROCESS, 7) != NULL) == (i == 10));
		machine_step(&machine);
	}
	assert_true(roster.levels[LEVEL_PROCESS].other[ROSTER_DOMAIN(0)].out == 1000);
	assert_true(find(&roster, LEVEL_PROCESS, 7)->sums[ROSTER_DOMAIN(0)].out == 100);
	assert_true(roster_is_balanced(&roster));
	roster_done(&roster);
}

/* The greatest are told of; a newcomer must use clearly more than whom it displaces. */
static void test_top(void **state)
{
	struct machine machine;
	struct roster roster;
	uint64_t id;
	int i;

	machine_init(&machine);
	roster_init(&roster, &opts);
	for (id = 1; id <= 6; id++)
		machine_use(&machine, WATT_ENTITY_PROCESS, id, "a", (int64_t)id * 1000);
	roster_update(&roster, &machine.census);
	assert_int_equal(roster.levels[LEVEL_PROCESS].n_users, 4);
	assert_null(find(&roster, LEVEL_PROCESS, 2));
	assert_true(roster.levels[LEVEL_PROCESS].other[ROSTER_DOMAIN(0)].out == 3000);
	for (i = 0; i < 30; i++) {
		machine_step(&machine);
		for (id = 1; id <= 6; id++)
			machine_use(&machine, WATT_ENTITY_PROCESS, id, "a",
				    id == 1 ? 4000 : (int64_t)id * 1000);
		roster_update(&roster, &machine.census);
	}
	assert_null(find(&roster, LEVEL_PROCESS, 1));
	machine_step(&machine);
	for (id = 1; id <= 6; id++)
		machine_use(&machine, WATT_ENTITY_PROCESS, id, "a",
			    id == 1 ? 7000 : (int64_t)id * 1000);
	roster_update(&roster, &machine.census);
	assert_true(find(&roster, LEVEL_PROCESS, 1)->sums[ROSTER_DOMAIN(0)].out == 7000);
	/* Whom it displaced is told of for a while yet, and goes on counting. */
	assert_true(find(&roster, LEVEL_PROCESS, 3)->leaving_ns);
	assert_true(find(&roster, LEVEL_PROCESS, 3)->sums[ROSTER_DOMAIN(0)].out == 96000);
	assert_true(roster_is_balanced(&roster));
	roster_done(&roster);
}

static void run_for(struct roster *roster, struct machine *machine, uint64_t first, int steps,
		    uint64_t newcomer)
{
	uint64_t id;

	for (; steps; steps--) {
		machine_step(machine);
		for (id = first; id < first + 4; id++)
			machine_use(machine, WATT_ENTITY_PROCESS, id, "a", 1000);
		if (newcomer)
			machine_use(machine, WATT_ENTITY_PROCESS, newcomer, "a", 9000);
		roster_update(roster, &machine->census);
	}
}

/* Twice as many as are wanted, and not one more, also when one comes who displaces another. */
static void test_most(void **state)
{
	struct roster_opts patient = opts;
	struct machine machine;
	struct roster roster;

	patient.keep_ns = UINT64_MAX;
	machine_init(&machine);
	roster_init(&roster, &patient);
	run_for(&roster, &machine, 1, 2, 0);
	run_for(&roster, &machine, 11, 60, 0);
	assert_int_equal(roster.levels[LEVEL_PROCESS].n_users, 8);
	run_for(&roster, &machine, 11, 1, 21);
	assert_non_null(find(&roster, LEVEL_PROCESS, 21));
	assert_int_equal(roster.levels[LEVEL_PROCESS].n_users, 8);
	assert_true(roster_is_balanced(&roster));
	roster_done(&roster);
}

/* The agent itself is told of, however little it uses. */
static void test_own(void **state)
{
	struct machine machine;
	struct roster roster;
	uint64_t id;

	machine_init(&machine);
	roster_init(&roster, &opts);
	for (id = 1; id <= 6; id++)
		machine_use(&machine, WATT_ENTITY_PROCESS, id, "a", 1000);
	machine_use(&machine, WATT_ENTITY_PROCESS, opts.own_pid, "agent", 1);
	roster_update(&roster, &machine.census);
	assert_non_null(find(&roster, LEVEL_PROCESS, opts.own_pid));
	assert_true(roster.own[ROSTER_DOMAIN(0)].out == 1);
	roster_done(&roster);
}

/* A window that takes something back is kept until it is covered; nothing is lost. */
static void test_negative_window(void **state)
{
	struct machine machine;
	struct roster roster;

	machine_init(&machine);
	roster_init(&roster, &opts);
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 300);
	roster_update(&roster, &machine.census);
	machine_step(&machine);
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", -90);
	machine_use(&machine, WATT_ENTITY_PROCESS, 8, "b", 500);
	roster_update(&roster, &machine.census);
	assert_true(find(&roster, LEVEL_PROCESS, 7)->sums[ROSTER_DOMAIN(0)].out == 300);
	assert_true(find(&roster, LEVEL_PROCESS, 8)->sums[ROSTER_DOMAIN(0)].out == 0);
	assert_true(roster.whole[ROSTER_DOMAIN(0)].out == 300);
	assert_int_equal(roster.n_held, 2);
	assert_true(roster_is_balanced(&roster));
	machine_step(&machine);
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 120);
	machine_use(&machine, WATT_ENTITY_PROCESS, 8, "b", 0);
	roster_update(&roster, &machine.census);
	assert_true(find(&roster, LEVEL_PROCESS, 7)->sums[ROSTER_DOMAIN(0)].out == 330);
	assert_true(find(&roster, LEVEL_PROCESS, 8)->sums[ROSTER_DOMAIN(0)].out == 500);
	assert_true(roster.whole[ROSTER_DOMAIN(0)].out == 830);
	assert_true(roster_is_balanced(&roster));
	roster_done(&roster);
}

/* A sensor that appears later is a column more, which began then. */
static void test_new_domain(void **state)
{
	struct machine machine;
	struct roster roster;

	machine_init(&machine);
	roster_init(&roster, &opts);
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 300);
	roster_update(&roster, &machine.census);
	machine_step(&machine);
	machine.census.n_domains = N_DOMAINS + 1;
	machine_use(&machine, WATT_ENTITY_PROCESS, 7, "a", 300);
	machine.windows[0][N_DOMAINS] = 40;
	machine.states[N_DOMAINS].window_nj = 45;
	roster_update(&roster, &machine.census);
	assert_true(find(&roster, LEVEL_PROCESS, 7)->sums[ROSTER_DOMAIN(2)].out == 40);
	assert_true(roster.levels[LEVEL_PROCESS].other[ROSTER_DOMAIN(2)].out == 5);
	assert_int_equal(roster.created_ns[ROSTER_DOMAIN(2)], 1700000001 * S);
	assert_true(roster_is_balanced(&roster));
	roster_done(&roster);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* What a counter had the last time, by its labels and when it began. */
struct memory {
	char *labels;
	uint64_t created_ns;
	nanojoules out;
};

static void check_counters(const struct roster *roster, struct memory *memory, size_t *n)
{
	const struct roster_level *level = &roster->levels[LEVEL_PROCESS];
	size_t i, k;

	for (i = 0; i < level->n_users; i++) {
		const struct roster_user *user = level->users[i];
		nanojoules out = user->sums[ROSTER_DOMAIN(0)].out;

		for (k = 0; k < i; k++)
			assert_string_not_equal(level->users[k]->labels, user->labels);
		for (k = 0; k < *n; k++)
			if (memory[k].created_ns == user->created_ns &&
			    strcmp(memory[k].labels, user->labels) == 0)
				break;
		if (k < *n)
			assert_true(out >= memory[k].out);
		else
			memory[(*n)++] =
				(struct memory){ strdup(user->labels), user->created_ns, 0 };
		assert_true(*n < 4096);
		memory[k].out = out;
	}
}

/* Processes come and go, run and are taken something from: everything holds at every moment. */
static void test_churn(void **state)
{
	struct memory *memory = calloc(4096, sizeof(*memory));
	nanojoules before[5] = { 0 }, after[5], whole_nj = 0;
	struct machine machine;
	struct roster roster;
	uint32_t seed = 12345;
	size_t n = 0, i;
	int step;

	machine_init(&machine);
	roster_init(&roster, &opts);
	for (step = 0; step < 500; step++) {
		size_t level_size;

		machine_step(&machine);
		machine_idle(&machine, next_random(&seed) % 1000, next_random(&seed) % 10);
		for (i = 0; i < 20; i++) {
			/* Each lives for some ten seconds, under one of few pids. */
			uint64_t life = ((uint64_t)step + i * 7) / (8 + i % 5);

			if (next_random(&seed) % 10 == 0)
				continue;
			machine_use(&machine, WATT_ENTITY_PROCESS, 1 + i + 1000 * (life + 1), "p",
				    (int64_t)(next_random(&seed) % 1000) - 5);
			machine.identities[machine.census.n_rows - 1].pid = (uint32_t)i % 12;
		}
		machine_use(&machine, WATT_ENTITY_EXITED, 999, "p", next_random(&seed) % 500);
		whole_nj += machine.states[0].window_nj;
		roster_update(&roster, &machine.census);
		assert_true(roster_is_balanced(&roster));
		level_size = roster.levels[LEVEL_PROCESS].n_users;
		assert_true(level_size <= 2 * opts.top);
		after[0] = roster.whole[ROSTER_DOMAIN(0)].out;
		after[1] = roster.idle[ROSTER_DOMAIN(0)].out;
		after[2] = roster.unattributed[ROSTER_DOMAIN(0)].out;
		after[3] = roster.levels[LEVEL_PROCESS].other[ROSTER_DOMAIN(0)].out;
		after[4] = roster.levels[LEVEL_PROCESS].ended[ROSTER_DOMAIN(0)].out;
		for (i = 0; i < 5; i++) {
			assert_true(after[i] >= before[i]);
			before[i] = after[i];
		}
		check_counters(&roster, memory, &n);
	}
	assert_true(roster.n_held > 0);
	assert_true(roster.levels[LEVEL_PROCESS].n_retired > 50);
	assert_true(roster.whole[ROSTER_DOMAIN(0)].out + roster.whole[ROSTER_DOMAIN(0)].held ==
		    whole_nj);
	roster_done(&roster);
	while (n)
		free(memory[--n].labels);
	free(memory);
}

static void test_labels(void **state)
{
	struct watt_identity identity = { .pid = 12, .exe = "/usr/bin/\"x\"" };
	struct watt_cgroup cgroup = { .container = "0123", .unit = "a.service" };
	struct watt_container container = { .id = "0123",
					    .name = "web",
					    .pod_name = "web-1",
					    .pod_namespace = "default",
					    .pod_uid = "u-1" };
	struct watt_entity entity = {
		.kind = WATT_ENTITY_PROCESS, .name = "x", .identity = &identity, .cgroup = &cgroup
	};
	struct watt_row row = { .entity = &entity };
	char *labels = roster_labels(LEVEL_PROCESS, &row);

	assert_string_equal(labels, "kind=\"process\",pid=\"12\",comm=\"x\","
				    "exe=\"/usr/bin/\\\"x\\\"\",container_id=\"0123\","
				    "unit=\"a.service\"");
	free(labels);
	entity = (struct watt_entity){ .kind = WATT_ENTITY_KTHREAD, .name = "kworker/0:1-events" };
	labels = roster_labels(LEVEL_PROCESS, &row);
	assert_string_equal(labels, "kind=\"kthread\",comm=\"kworker/0:1\"");
	free(labels);
	entity = (struct watt_entity){ .kind = WATT_ENTITY_CONTAINER,
				       .name = "web",
				       .container = &container };
	labels = roster_labels(LEVEL_CONTAINER, &row);
	assert_string_equal(labels, "kind=\"container\",container_id=\"0123\",container=\"web\","
				    "pod=\"web-1\",namespace=\"default\",pod_uid=\"u-1\"");
	free(labels);
	entity.kind = WATT_ENTITY_POD;
	entity.container = NULL;
	entity.name = "u-2";
	labels = roster_labels(LEVEL_POD, &row);
	assert_string_equal(labels, "kind=\"pod\",pod_uid=\"u-2\"");
	free(labels);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_same_labels),
		cmocka_unit_test(test_rename),
		cmocka_unit_test(test_uncertainty),
		cmocka_unit_test(test_young_are_other),
		cmocka_unit_test(test_empty_window),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_negative_window),
		cmocka_unit_test(test_new_domain),
		cmocka_unit_test(test_churn),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
