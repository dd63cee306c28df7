/* SPDX-License-Identifier: Apache-2.0 */
/* lib/places.c, and what attribution makes of CPUs that come: energy of where they are. */
#include "channel.h"
#include "power.h"

#include "attrib/attrib.h"
#include "places.h"

#define MS 1000000ULL
#define CPU(n, file) "sys/devices/system/cpu/cpu" #n "/topology/" file
#define CPU_NEW 2 /* of four: the first two are there from the beginning */

static struct watt_channel package(const char *name, int32_t id)
{
	return (struct watt_channel)CHANNEL(name, name, WATT_DOMAIN_PACKAGE, .package_id = id);
}

/* ---- attribution ---- */

/* Three packages at 10 W each, of which the third has no CPU yet; a task that runs on the new CPU. */
struct bench {
	struct watt_channel packages[3];
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_snapshot *snap;
	uint64_t t_ns;
	uint64_t cpu_ns;
	uint64_t energy_nj;
	uint32_t cpu; /* on which it runs */
};

static void open_bench_at(struct bench *b, const uint16_t *slots,
			  const struct watt_cpu_place *places)
{
	const struct watt_channel *const channels[] = { &b->packages[0], &b->packages[1],
							&b->packages[2] };
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = 3,
					 .cpu_slot = slots,
					 .n_cpus = 4,
					 .n_slots = 3,
					 .places = places };

	*b = (struct bench){ .packages = { package("package-0", 0), package("package-1", 1),
					   package("package-2", 2) },
			     .t_ns = 1000 * MS,
			     .cpu = CPU_NEW };
	assert_int_equal(watt_timeline_new(channels, 3, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
}

static void open_bench(struct bench *b)
{
	static const uint16_t slots[4] = { 0, 1, UINT16_MAX, UINT16_MAX };
	static const struct watt_cpu_place places[3] = { { 0, -1, -1 },
							 { 1, -1, -1 },
							 { -1, -1, -1 } };

	open_bench_at(b, slots, places);
}

static void close_bench(struct bench *b)
{
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

/* 100 ms, all of which the task runs. */
static void step(struct bench *b)
{
	struct watt_usage u = { .t_ns = b->t_ns += 100 * MS,
				.cpu_ns = b->cpu_ns += 100 * MS,
				.start_ns = 1,
				.leader_start_ns = 1,
				.cgroup_id = 1,
				.tid = 9,
				.tgid = 9,
				.cpu = b->cpu,
				.comm = "task" };
	struct watt_usage_batch batch = { .t_before_ns = b->t_ns,
					  .t_after_ns = b->t_ns,
					  .records = &u,
					  .n_records = 1,
					  .flags = WATT_BATCH_FULL };
	uint32_t i;

	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	b->energy_nj += 1000 * MS;
	for (i = 0; i < 3; i++) {
		struct watt_sample sample = { b->t_ns, b->t_ns, (int64_t)b->energy_nj, i,
					      WATT_STATUS_OK };

		assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
	}
	assert_true(watt_attrib_advance(b->at, b->tl, b->t_ns) >= 0);
}

static int64_t energy_of_task(struct bench *b, size_t domain)
{
	struct watt_look_opts opts = { .t_ns = b->t_ns };
	size_t i;

	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->sum_failures, 0);
	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity->kind == WATT_ENTITY_PROCESS)
			return row->energy[domain].j * 1000000000 + row->energy[domain].nj;
	}
	return 0;
}

static void check_energies(struct bench *b, unsigned int e0, unsigned int e1, unsigned int e2)
{
	assert_int_equal(energy_of_task(b, 0), e0 * 1000 * MS);
	assert_int_equal(energy_of_task(b, 1), e1 * 1000 * MS);
	assert_int_equal(energy_of_task(b, 2), e2 * 1000 * MS);
}

static void test_joins_a_package(void **state)
{
	static const struct watt_cpu_place place = { 1, -1, -1 };
	struct bench b;

	open_bench(&b);
	step(&b);
	step(&b);
	check_energies(&b, 0, 0, 0); /* nobody knows where it runs */
	assert_int_equal(watt_attrib_place_cpu(b.at, CPU_NEW, 1, &place), 0);
	step(&b);
	step(&b);
	check_energies(&b, 0, 2, 0);
	assert_int_equal(watt_attrib_place_cpu(b.at, CPU_NEW, 1, &place), 0); /* told again */
	step(&b);
	check_energies(&b, 0, 3, 0);
	close_bench(&b);
}

static void test_brings_a_package(void **state)
{
	static const struct watt_cpu_place place = { 2, -1, -1 };
	struct bench b;

	open_bench(&b);
	step(&b);
	step(&b);
	check_energies(&b, 0, 0, 0);
	assert_int_equal(watt_attrib_place_cpu(b.at, CPU_NEW, 2, &place), 0);
	step(&b);
	step(&b);
	check_energies(&b, 0, 0, 2);
	close_bench(&b);
}

/*
 * A machine that was one package, by whatever number, has all energy; so have CPUs of which nobody
 * knows where they are. With the first CPU of another package each has its own.
 */
static void test_second_package(void **state)
{
	static const uint16_t slots[4] = { 0, 0, UINT16_MAX, UINT16_MAX };
	static const struct watt_cpu_place nowhere[3] = { { -1, -1, -1 },
							  { -1, -1, -1 },
							  { -1, -1, -1 } };
	static const struct watt_cpu_place first = { 0, -1, -1 }, second = { 1, -1, -1 };
	struct bench b;

	open_bench_at(&b, slots, nowhere);
	step(&b);
	step(&b);
	check_energies(&b, 1, 1, 1);
	assert_int_equal(watt_attrib_place_cpu(b.at, CPU_NEW, 0, &nowhere[0]), 0);
	step(&b);
	check_energies(&b, 2, 2, 2); /* it was one of the one package */
	assert_int_equal(watt_attrib_place_cpu(b.at, 0, 0, &first), 0);
	assert_int_equal(watt_attrib_place_cpu(b.at, 3, 1, &second), 0);
	step(&b);
	check_energies(&b, 3, 2, 2);
	step(&b);
	check_energies(&b, 4, 2, 2);
	b.cpu = 3;
	step(&b);
	check_energies(&b, 4, 3, 2);
	close_bench(&b);
}

static void test_refuses(void **state)
{
	static const struct watt_cpu_place place = { 1, -1, -1 }, other = { 2, -1, -1 };
	struct bench b;

	open_bench(&b);
	assert_int_equal(watt_attrib_place_cpu(b.at, 4, 1, &place), -EINVAL);
	assert_int_equal(watt_attrib_place_cpu(b.at, CPU_NEW, 3, &place), -EINVAL);
	assert_int_equal(watt_attrib_place_cpu(b.at, CPU_NEW, 1, &other), -EINVAL);
	step(&b);
	step(&b);
	check_energies(&b, 0, 0, 0);
	close_bench(&b);
}

/* ---- the machine ---- */

static void write_online(const char *dir, const char *online)
{
	scratch_write(dir, "sys/devices/system/cpu/possible", "0-4\n");
	scratch_write(dir, "sys/devices/system/cpu/online", online);
}

static struct watt_op find(struct watt_places *places, const struct watt_usage_batch *batch,
			   uint64_t now_ns)
{
	struct watt_op op;

	assert_true(watt_places_find(places, batch, now_ns, &op));
	assert_int_equal(op.kind, WATT_OP_PLACE);
	return op;
}

static void test_machine(void **state)
{
	struct watt_cpu_time cpus[5] = { { .online = 1 }, { .online = 1 } };
	const struct watt_usage_batch batch = { .cpus = cpus, .n_cpus = 5 };
	const struct watt_channel p0 = package("package-0", 0), *channel = &p0;
	char *dir = scratch_new();
	struct power_world world;
	struct watt_places places;
	struct watt_op op;

	write_online(dir, "0-1\n");
	scratch_write(dir, CPU(0, "physical_package_id"), "0\n");
	scratch_write(dir, CPU(1, "physical_package_id"), "1\n");
	world_open(&world, dir);
	assert_int_equal(watt_places_open(&world.env, &channel, 1, &places), 0);
	assert_int_equal(places.map.n_slots, 2 + 3); /* as many may come */
	assert_false(watt_places_find(&places, &batch, 1, &op));

	/* online, but nobody knows where; that is looked at again, and not all the time */
	cpus[2].online = 1;
	assert_false(watt_places_find(&places, &batch, 2, &op));
	scratch_write(dir, CPU(2, "physical_package_id"), "1\n");
	assert_false(watt_places_find(&places, &batch, 999 * MS, &op));
	op = find(&places, &batch, 1001 * MS);
	assert_int_equal(op.place.cpu, 2);
	assert_int_equal(op.place.slot, 1);
	assert_int_equal(op.place.at.package_id, 1);
	assert_false(watt_places_find(&places, &batch, 1002 * MS, &op));

	/* two at once, of a package that nobody knew */
	cpus[3].online = cpus[4].online = 1;
	scratch_write(dir, CPU(3, "physical_package_id"), "4\n");
	scratch_write(dir, CPU(4, "physical_package_id"), "4\n");
	op = find(&places, &batch, 1003 * MS);
	assert_int_equal(op.place.cpu, 3);
	assert_int_equal(op.place.slot, 2);
	assert_int_equal(op.place.at.package_id, 4);
	op = find(&places, &batch, 1003 * MS);
	assert_int_equal(op.place.cpu, 4);
	assert_int_equal(op.place.slot, 2);
	assert_false(watt_places_find(&places, &batch, 1003 * MS, &op));

	/* it goes, and comes again: it is where it was */
	cpus[3].online = 0;
	assert_false(watt_places_find(&places, &batch, 1004 * MS, &op));
	cpus[3].online = 1;
	assert_false(watt_places_find(&places, &batch, 1005 * MS, &op));
	assert_int_equal(places.map.slot[3], 2);

	assert_true(watt_places_recall(&places, &op));
	assert_int_equal(op.place.cpu, 2);
	assert_true(watt_places_recall(&places, &op));
	assert_true(watt_places_recall(&places, &op));
	assert_int_equal(op.place.cpu, 4);
	assert_false(watt_places_recall(&places, &op));
	watt_places_done(&places);
	world_close(&world);
	scratch_remove(dir);
}

static void check_op(const struct watt_op *op, uint32_t cpu, uint32_t slot, int32_t package_id)
{
	assert_int_equal(op->place.cpu, cpu);
	assert_int_equal(op->place.slot, slot);
	assert_int_equal(op->place.at.package_id, package_id);
}

/* One package has all, also what comes to it; then there are two. */
static void test_whole(void **state)
{
	struct watt_cpu_time cpus[5] = { { .online = 1 } };
	const struct watt_usage_batch batch = { .cpus = cpus, .n_cpus = 5 };
	const struct watt_channel p0 = package("package-0", 0), *channel = &p0;
	char *dir = scratch_new();
	struct power_world world;
	struct watt_places places;
	struct watt_op op;

	write_online(dir, "0\n");
	scratch_write(dir, CPU(0, "physical_package_id"), "3\n");
	world_open(&world, dir);
	assert_int_equal(watt_places_open(&world.env, &channel, 1, &places), 0);
	assert_int_equal(places.map.n_slots, 1 + 4);
	assert_true(places.map.is_whole);
	assert_int_equal(places.list[0].package_id, -1); /* whatever the packages are called */
	assert_false(watt_places_find(&places, &batch, 1, &op));

	cpus[1].online = 1;
	scratch_write(dir, CPU(1, "physical_package_id"), "3\n");
	op = find(&places, &batch, 2);
	check_op(&op, 1, 0, -1);
	assert_true(places.map.is_whole);
	assert_false(watt_places_find(&places, &batch, 2, &op));

	/* two of another one: first is told where those were that had everything */
	cpus[3].online = cpus[4].online = 1;
	scratch_write(dir, CPU(3, "physical_package_id"), "7\n");
	scratch_write(dir, CPU(4, "physical_package_id"), "7\n");
	op = find(&places, &batch, 3);
	check_op(&op, 0, 0, 3);
	op = find(&places, &batch, 3);
	check_op(&op, 3, 1, 7);
	op = find(&places, &batch, 3);
	check_op(&op, 4, 1, 7);
	assert_false(places.map.is_whole);
	assert_false(watt_places_find(&places, &batch, 3, &op));

	/* a file that begins now is told so too */
	assert_true(watt_places_recall(&places, &op));
	check_op(&op, 0, 0, 3);
	assert_true(watt_places_recall(&places, &op));
	check_op(&op, 1, 0, 3);
	watt_places_done(&places);
	world_close(&world);
	scratch_remove(dir);
}

/* Nothing can come, or nothing is measured by package: one slot has all. */
static void test_undivided(void **state)
{
	struct watt_channel p0 = package("package-0", 0);
	const struct watt_channel *channel = &p0;
	char *dir = scratch_new();
	struct power_world world;
	struct watt_places places;

	write_online(dir, "0-4\n");
	scratch_write(dir, CPU(0, "physical_package_id"), "0\n");
	world_open(&world, dir);
	assert_int_equal(watt_places_open(&world.env, &channel, 1, &places), 0);
	assert_int_equal(places.map.n_slots, 1);
	watt_places_done(&places);
	write_online(dir, "0\n");
	p0.package_id = -1;
	assert_int_equal(watt_places_open(&world.env, &channel, 1, &places), 0);
	assert_int_equal(places.map.n_slots, 1);
	assert_false(places.map.is_whole);
	watt_places_done(&places);
	world_close(&world);
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joins_a_package), cmocka_unit_test(test_brings_a_package),
		cmocka_unit_test(test_second_package),  cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_machine),         cmocka_unit_test(test_whole),
		cmocka_unit_test(test_undivided),
	};

	return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
