/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/host/topology.c */
#include "power.h"

#include "source/host/topology.h"

#define CPU(n, file) "sys/devices/system/cpu/cpu" #n "/topology/" file

struct split {
	struct watt_topology topology;
	struct watt_cpu_map map;
	struct watt_cpu_place *places;
};

/* Channels are given by the places they are at, ended by package -2. */
static struct split split_dir(const char *dir, const struct watt_cpu_place *wanted)
{
	struct watt_channel channels[8];
	const struct watt_channel *pointers[8];
	struct power_world world;
	struct split split;
	size_t n = 0;

	for (; wanted[n].package_id != -2; n++) {
		channels[n] = (struct watt_channel){ .package_id = wanted[n].package_id,
						     .die_id = wanted[n].die_id,
						     .core_id = wanted[n].core_id };
		pointers[n] = &channels[n];
	}
	world_open(&world, dir);
	assert_int_equal(watt_topology_open(&world.env, &split.topology), 0);
	assert_int_equal(
		watt_cpu_map_build(&split.topology, pointers, n, &split.map, &split.places), 0);
	assert_int_equal(split.map.n_cpus, split.topology.n_cpus);
	world_close(&world);
	return split;
}

static struct split split_fixture(const char *machine, const struct watt_cpu_place *wanted)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s/%s", getenv("WATT_FIXTURES"), machine);
	return split_dir(dir, wanted);
}

static void split_done(struct split *split)
{
	watt_topology_done(&split->topology);
	watt_cpu_map_done(&split->map);
	free(split->places);
}

static void check_place(const struct watt_cpu_place *place, int package_id, int die_id, int core_id)
{
	assert_int_equal(place->package_id, package_id);
	assert_int_equal(place->die_id, die_id);
	assert_int_equal(place->core_id, core_id);
}

static const struct watt_cpu_place nothing[] = { { -2, 0, 0 } };
static const struct watt_cpu_place packages[] = { { -1, -1, -1 },
						  { 0, -1, -1 },
						  { 1, -1, -1 },
						  { -2, 0, 0 } };
static const struct watt_cpu_place dies[] = { { 0, 0, -1 }, { 0, 1, -1 }, { -2, 0, 0 } };
static const struct watt_cpu_place cores[] = { { 0, -1, -1 }, { 0, -1, 3 }, { -2, 0, 0 } };

static void test_packages(void **state)
{
	struct split split = split_fixture("xeon-2s", packages);
	uint32_t i;

	/* its CPUs alternate between the packages */
	assert_int_equal(split.map.n_cpus, 8);
	assert_int_equal(split.map.n_slots, 2);
	check_place(&split.places[0], 0, -1, -1);
	check_place(&split.places[1], 1, -1, -1);
	for (i = 0; i < 8; i++)
		assert_int_equal(split.map.slot[i], i % 2);
	split_done(&split);
}

static void test_not_needed(void **state)
{
	struct split split = split_fixture("xeon-2s", nothing);

	assert_int_equal(split.map.n_slots, 1);
	check_place(&split.places[0], -1, -1, -1);
	assert_int_equal(split.map.slot[7], 0);
	split_done(&split);
	/* a counter per package, and one package */
	split = split_fixture("laptop-client", packages);
	assert_int_equal(split.map.n_slots, 1);
	check_place(&split.places[0], -1, -1, -1);
	split_done(&split);
}

static void test_dies(void **state)
{
	struct split split = split_fixture("xeon-2s-2die", dies);

	assert_int_equal(split.map.n_slots, 4 + 2); /* of CPUs that may come */
	check_place(&split.places[1], 0, 1, -1);
	check_place(&split.places[2], 1, 0, -1);
	assert_int_equal(split.map.slot[1], 0);
	assert_int_equal(split.map.slot[2], 1);
	assert_int_equal(split.map.slot[7], 3);
	/* possible and never seen: in no package yet */
	assert_int_equal(split.map.n_cpus, 10);
	assert_int_equal(split.map.slot[9], WATT_SLOT_NONE);
	assert_false(split.topology.cpus[8].is_online);
	split_done(&split);
	split = split_fixture("xeon-2s-2die", packages);
	assert_int_equal(split.map.n_slots, 2 + 2);
	assert_int_equal(split.map.slot[7], 1);
	split_done(&split);
}

static void test_cores(void **state)
{
	struct split split = split_fixture("laptop-client", cores);

	/* two threads share a core */
	assert_int_equal(split.map.n_slots, 4);
	check_place(&split.places[3], 0, 0, 3);
	assert_int_equal(split.map.slot[0], split.map.slot[1]);
	assert_int_equal(split.map.slot[7], 3);
	split_done(&split);
}

static void test_missing(void **state)
{
	char *dir = scratch_new();
	struct split split;

	scratch_write(dir, "sys/x", "");
	split = split_dir(dir, packages);
	assert_true(split.map.n_cpus >= 1);
	assert_int_equal(split.map.n_slots, 1);
	split_done(&split);
	scratch_write(dir, "sys/devices/system/cpu/possible", "0-3\n");
	split = split_dir(dir, cores);
	assert_int_equal(split.map.n_cpus, 4);
	assert_int_equal(split.map.n_slots, 1);
	assert_true(split.topology.cpus[3].is_online && split.topology.cpus[3].is_known);
	assert_int_equal(split.topology.cpus[3].package_id, 0);
	split_done(&split);
	scratch_remove(dir);
}

static void test_offline(void **state)
{
	char *dir = scratch_new();
	struct split split;

	scratch_write(dir, "sys/devices/system/cpu/possible", "0-3\n");
	scratch_write(dir, "sys/devices/system/cpu/online", "0,2\n");
	scratch_write(dir, CPU(0, "physical_package_id"), "0\n");
	scratch_write(dir, CPU(1, "physical_package_id"), "1\n");
	scratch_write(dir, CPU(2, "physical_package_id"), "1\n");
	split = split_dir(dir, packages);
	assert_int_equal(split.map.n_slots, 2 + 1);
	check_place(&split.places[2], -1, -1, -1);
	assert_int_equal(split.map.slot[1], 1);
	assert_false(split.topology.cpus[1].is_online);
	assert_int_equal(split.map.slot[3], WATT_SLOT_NONE);
	split_done(&split);
	scratch_remove(dir);
}

static void test_garbage(void **state)
{
	char *dir = scratch_new();
	struct power_world world;
	struct watt_topology topology;

	scratch_write(dir, "sys/devices/system/cpu/possible", "0-1\n");
	scratch_write_bytes(dir, "sys/devices/system/cpu/online", "0\0-1\n", 6);
	scratch_write(dir, CPU(0, "physical_package_id"), "99999999999999999999\n");
	scratch_write(dir, CPU(1, "physical_package_id"), "-1\n");
	scratch_write(dir, CPU(1, "die_id"), "two\n");
	scratch_write(dir, CPU(1, "core_id"), "-7\n");
	world_open(&world, dir);
	assert_int_equal(watt_topology_open(&world.env, &topology), 0);
	assert_int_equal(topology.n_cpus, 2);
	assert_int_equal(topology.cpus[0].package_id, 0);
	assert_int_equal(topology.cpus[1].package_id, 0);
	assert_int_equal(topology.cpus[1].die_id, 0);
	assert_int_equal(topology.cpus[1].core_id, -1);
	assert_int_equal(world.n_warnings, 4);
	watt_topology_done(&topology);
	world_close(&world);
	scratch_remove(dir);
}

/* However many CPUs are wrong, each kind of file is told of once, with the first of them. */
static void test_many_bad_cpus(void **state)
{
	char *dir = scratch_new(), path[96];
	struct power_world world;
	struct watt_topology topology;
	unsigned int i;

	scratch_write(dir, "sys/devices/system/cpu/possible", "0-4099\n");
	scratch_write(dir, "sys/devices/system/cpu/online", "0-4099\n");
	for (i = 2; i < 34; i++) {
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpu%u/topology/physical_package_id", i);
		scratch_write(dir, path, i < 32 ? "x\n" : "0\n");
	}
	scratch_write(dir, CPU(33, "core_id"), "-7\n");
	world_open(&world, dir);
	assert_int_equal(watt_topology_open(&world.env, &topology), 0);
	assert_int_equal(topology.n_cpus, 4100);
	assert_int_equal(world.n_warnings, 2);
	assert_non_null(
		strstr(world.text, "cpu2/topology/physical_package_id, and of 29 more CPUs: its"));
	assert_non_null(strstr(world.text, "cpu33/topology/core_id: "));
	watt_topology_done(&topology);
	/* those who ask once more add nothing */
	assert_int_equal(watt_topology_open_quietly(&world.env, &topology), 0);
	assert_int_equal(world.n_warnings, 2);
	watt_topology_done(&topology);
	world_close(&world);
	scratch_remove(dir);
}

/* Whatever machine runs this: every CPU that is online is somewhere. */
static void test_this_machine(void **state)
{
	struct watt_env env = { .sysfs = WATT_ROOT_INIT };
	struct watt_topology topology;
	uint32_t i, n_online = 0;

	assert_int_equal(watt_root_open(&env.sysfs, "/sys"), 0);
	assert_int_equal(watt_topology_open(&env, &topology), 0);
	for (i = 0; i < topology.n_cpus; i++) {
		n_online += topology.cpus[i].is_online;
		assert_true(topology.cpus[i].is_known || !topology.cpus[i].is_online);
	}
	assert_true(n_online > 0);
	watt_topology_done(&topology);
	watt_root_close(&env.sysfs);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packages),     cmocka_unit_test(test_not_needed),
		cmocka_unit_test(test_dies),         cmocka_unit_test(test_cores),
		cmocka_unit_test(test_missing),      cmocka_unit_test(test_offline),
		cmocka_unit_test(test_garbage),      cmocka_unit_test(test_many_bad_cpus),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
