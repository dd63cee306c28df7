/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/power/perf_rapl/perf_plan.c */
#include "power.h"

#include "base/util.h"
#include "source/power/cpu_vendor.h"
#include "source/power/perf_rapl/perf_plan.h"

struct planned {
	struct power_world world;
	struct watt_topology topology;
	struct watt_perf_plan plan;
};

static void plan_fixture(struct planned *planned, const char *machine)
{
	static const char *const names[] = { "power", "power_core" };
	struct watt_env *env = &planned->world.env;
	struct watt_pmu pmu;
	size_t i;

	world_open_fixture(&planned->world, machine);
	planned->plan = (struct watt_perf_plan)WATT_PERF_PLAN_INIT;
	assert_int_equal(watt_topology_open(env, &planned->topology), 0);
	for (i = 0; i < WATT_ARRAY_SIZE(names); i++) {
		if (watt_pmu_open(env, names[i], &pmu) == -ENOENT)
			continue;
		assert_int_equal(watt_perf_plan_add(&planned->plan, &pmu, &planned->topology,
						    watt_cpu_is_amd(env), &env->log),
				 0);
		watt_pmu_done(&pmu);
	}
}

static void planned_done(struct planned *planned)
{
	watt_perf_plan_done(&planned->plan);
	watt_topology_done(&planned->topology);
	world_close(&planned->world);
}

/* The item that measures a domain; fails the test if there is none. */
static const struct watt_perf_item *item_of(const struct planned *planned, const char *domain)
{
	uint32_t i;

	for (i = 0; i < planned->plan.n_items; i++)
		if (!strcmp(planned->plan.items[i].zone.domain, domain))
			return &planned->plan.items[i];
	fail_msg("no item for %s", domain);
	return NULL;
}

static void test_packages(void **state)
{
	struct planned planned;
	const struct watt_perf_item *item;

	plan_fixture(&planned, "xeon-2s");
	assert_int_equal(planned.plan.n_items, 8);
	item = item_of(&planned, "package-1");
	assert_int_equal(item->cpu, 1);
	assert_int_equal(item->config, 2);
	assert_int_equal(item->type, 21);
	assert_string_equal(item->label, "power/energy-pkg/");
	assert_int_equal(item_of(&planned, "dram-1")->zone.kind, WATT_DOMAIN_DRAM);
	assert_int_equal(item_of(&planned, "package-0/core")->zone.package_id, 0);
	/* one machine total; that of the second package is another thing */
	assert_int_equal(item_of(&planned, "psys")->cpu, 0);
	assert_int_equal(item_of(&planned, "psys-1")->cpu, 1);
	planned_done(&planned);
}

static void test_dies(void **state)
{
	struct planned planned;
	const struct watt_perf_item *item;

	plan_fixture(&planned, "xeon-2s-2die");
	assert_int_equal(planned.plan.n_items, 12);
	item = item_of(&planned, "package-1-die-1/core");
	assert_int_equal(item->cpu, 6);
	assert_int_equal(item->zone.die_id, 1);
	assert_int_equal(item_of(&planned, "dram-0-die-1")->cpu, 2);
	planned_done(&planned);
}

static void test_cores(void **state)
{
	struct planned planned;
	const struct watt_perf_item *item;

	plan_fixture(&planned, "epyc");
	assert_int_equal(planned.plan.n_items, 2 + 8);
	assert_int_equal(planned.plan.n_pmus, 2);
	assert_int_equal(item_of(&planned, "package-1")->cpu, 4);
	item = item_of(&planned, "package-1/core-2");
	assert_int_equal(item->cpu, 6);
	assert_int_equal(item->pmu, 1);
	assert_int_equal(item->zone.kind, WATT_DOMAIN_CORE);
	assert_int_equal(item->zone.core_id, 2);
	assert_int_equal(item->zone.die_id, -1);
	planned_done(&planned);
}

static void test_left_out(void **state)
{
	struct watt_topology_cpu cpus[2] = { { 0, 0, 5, true, true }, { 0, 0, 5, true, true } };
	struct watt_topology topology = { cpus, 2 };
	uint32_t mask[] = { 0, 1, 77 };
	struct watt_pmu pmu = { .name = "power_core", .n_events = 2, .cpus = mask, .n_cpus = 3 };
	struct watt_perf_plan plan = WATT_PERF_PLAN_INIT;
	struct power_world world = { 0 };
	struct watt_log log = { world_log, &world };

	watt_strlcpy(pmu.events[0].name, "energy-core", sizeof(pmu.events[0].name));
	watt_strlcpy(pmu.events[1].name, "energy-soul", sizeof(pmu.events[1].name));
	assert_int_equal(watt_perf_plan_add(&plan, &pmu, &topology, false, &log), 0);
	assert_int_equal(plan.n_items, 1);
	assert_string_equal(plan.items[0].zone.domain, "package-0/core-5");
	assert_non_null(strstr(world.text, "energy-soul/ left out: unknown event"));
	assert_non_null(strstr(world.text, "CPU 1 left out: package-0/core-5 is measured already"));
	assert_non_null(strstr(world.text, "the core of CPU 77 is not known"));
	watt_perf_plan_done(&plan);
	/* on AMD "all cores" is one core */
	watt_strlcpy(pmu.events[0].name, "energy-cores", sizeof(pmu.events[0].name));
	assert_int_equal(watt_perf_plan_add(&plan, &pmu, &topology, true, &log), 0);
	assert_int_equal(plan.n_items, 0);
	watt_perf_plan_done(&plan);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packages),
		cmocka_unit_test(test_dies),
		cmocka_unit_test(test_cores),
		cmocka_unit_test(test_left_out),
	};

	return cmocka_run_group_tests_name("perf_plan", tests, NULL, NULL);
}
