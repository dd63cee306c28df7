/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/groups.c: what sums there are, what is in what, and names that come late. */
#include "channel.h"
#include "unit.h"

#include "attrib/state.h"

#define MS 1000000ULL
#define POD_1 "11111111-1111-1111-1111-111111111111"
#define POD_2 "22222222-2222-2222-2222-222222222222"

static const struct watt_channel package =
	CHANNEL("p", "package-0", WATT_DOMAIN_PACKAGE, .package_id = 0);

struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_usage records[16];
	size_t n;
	uint64_t t_ms;
	struct watt_snapshot *snap;
};

static void open_bench(struct bench *b)
{
	static const struct watt_channel *const channels[] = { &package };
	static const uint16_t slots[2] = { 0, 0 };
	struct watt_attrib_opts opts = {
		.channels = channels, .n_channels = 1, .cpu_slot = slots, .n_cpus = 2, .n_slots = 1
	};

	memset(b, 0, sizeof(*b));
	assert_int_equal(watt_timeline_new(channels, 1, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
}

static void close_bench(struct bench *b)
{
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

static void add(struct bench *b, enum watt_usage_kind kind, uint32_t pid, uint64_t cgroup,
		uint64_t cpu_ms)
{
	b->records[b->n++] = (struct watt_usage){ .t_ns = (b->t_ms + 1) * MS,
						  .cpu_ns = cpu_ms * MS,
						  .start_ns = 1000 + pid,
						  .leader_start_ns = 1000 + pid,
						  .cgroup_id = cgroup,
						  .tid = pid,
						  .tgid = pid,
						  .parent_tgid = 1,
						  .uid = 5,
						  .kind = (uint16_t)kind,
						  .comm = "name" };
}

/* Ends a slice of 100 ms in which the package took 1 W, and takes a snapshot. */
static void end_slice(struct bench *b)
{
	struct watt_usage_batch batch = { .records = b->records, .n_records = b->n };
	struct watt_sample sample = { 0 };
	uint64_t t_ns = (b->t_ms += 100) * MS;
	struct watt_look_opts opts = { .t_ns = t_ns };

	batch.t_before_ns = batch.t_after_ns = t_ns;
	sample.t_before_ns = sample.t_after_ns = t_ns;
	sample.raw = (int64_t)t_ns;
	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
	assert_true(watt_attrib_advance(b->at, b->tl, t_ns) >= 0);
	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->sum_failures, 0);
	b->n = 0;
}

static void set(struct bench *b, uint64_t id, const char *container, const char *pod,
		const char *unit)
{
	struct watt_cgroup cgroup = {
		.id = id, .path = "/x", .container = container, .pod_uid = pod, .unit = unit
	};

	assert_int_equal(watt_attrib_set_cgroup(b->at, &cgroup), 0);
}

static const struct watt_row *nth(const struct bench *b, enum watt_entity_kind kind,
				  const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity->kind == kind && !strcmp(row->entity->name, name) && n-- == 0)
			return row;
	}
	return NULL;
}

static const struct watt_row *find(const struct bench *b, enum watt_entity_kind kind,
				   const char *name)
{
	return nth(b, kind, name, 0);
}

static const struct watt_row *cgroup_row(const struct bench *b, uint64_t id)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity->kind == WATT_ENTITY_CGROUP && row->entity->cgroup->id == id)
			return row;
	}
	return NULL;
}

/* What the children of an entity have is what it has, in time and energy. */
static void check_children(const struct bench *b, const struct watt_row *parent)
{
	int64_t energy_nj = 0;
	uint64_t cpu_ns = 0;
	size_t i;

	assert_non_null(parent);
	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity->parent_id != parent->entity->id)
			continue;
		energy_nj += watt_energy_to_nj(row->total);
		cpu_ns += row->cpu_ns;
	}
	assert_true(energy_nj > 0);
	assert_int_equal(energy_nj, watt_energy_to_nj(parent->total));
	assert_int_equal(cpu_ns, parent->cpu_ns);
}

static void run_three(struct bench *b, uint64_t cpu_ms)
{
	add(b, WATT_USAGE_TASK, 10, 1, cpu_ms);
	add(b, WATT_USAGE_TASK, 11, 2, 2 * cpu_ms);
	add(b, WATT_USAGE_TASK, 12, 3, 3 * cpu_ms);
	end_slice(b);
}

/* A job has all its cgroups, beside the containers that run in it. */
static void test_job(void **state)
{
	const struct watt_cgroup step = { .id = 1, .path = "/s", .job = "slurm:7" };
	const struct watt_cgroup box = {
		.id = 2, .path = "/c", .job = "slurm:7", .container = "aa", .unit = "slurmd.service"
	};
	const struct watt_row *job;
	struct bench b;

	open_bench(&b);
	run_three(&b, 0);
	run_three(&b, 10);
	assert_int_equal(watt_attrib_set_cgroup(b.at, &step), 0);
	assert_int_equal(watt_attrib_set_cgroup(b.at, &box), 0);
	run_three(&b, 20);
	job = find(&b, WATT_ENTITY_JOB, "slurm:7");
	assert_non_null(job);
	assert_string_equal(job->entity->cgroup->job, "slurm:7");
	assert_int_equal(job->cpu_ns, cgroup_row(&b, 1)->cpu_ns + cgroup_row(&b, 2)->cpu_ns);
	assert_int_equal(watt_energy_to_nj(job->total),
			 watt_energy_to_nj(cgroup_row(&b, 1)->total) +
				 watt_energy_to_nj(cgroup_row(&b, 2)->total));
	assert_true(watt_energy_to_nj(job->total) > 0);
	close_bench(&b);
}

/* A pod has its containers, and the cgroups that are in it directly; answered late as well. */
static void test_container_is_in_its_pod(void **state)
{
	const struct watt_row *pod;
	struct bench b;

	open_bench(&b);
	run_three(&b, 0);
	run_three(&b, 10);
	set(&b, 1, "aa", POD_1, "a.scope");
	set(&b, 2, "bb", POD_1, NULL);
	run_three(&b, 20);
	set(&b, 3, NULL, POD_1, NULL);
	run_three(&b, 30);
	pod = find(&b, WATT_ENTITY_POD, POD_1);
	check_children(&b, pod);
	check_children(&b, find(&b, WATT_ENTITY_CONTAINER, "aa"));
	assert_int_equal(find(&b, WATT_ENTITY_CONTAINER, "aa")->entity->parent_id, pod->entity->id);
	assert_int_equal(find(&b, WATT_ENTITY_CONTAINER, "bb")->entity->parent_id, pod->entity->id);
	assert_int_equal(cgroup_row(&b, 1)->entity->parent_id,
			 find(&b, WATT_ENTITY_CONTAINER, "aa")->entity->id);
	assert_int_equal(cgroup_row(&b, 3)->entity->parent_id, pod->entity->id);
	assert_int_equal(pod->entity->parent_id, 0);
	assert_int_equal(pod->cpu_ns, 180 * MS);
	assert_int_equal(watt_energy_to_nj(pod->total),
			 300 * MS); /* all that there was since the start */
	close_bench(&b);
}

static void test_container_is_in_its_unit(void **state)
{
	struct bench b;

	open_bench(&b);
	run_three(&b, 0);
	run_three(&b, 5);
	set(&b, 1, "aa", NULL, "web.service");
	set(&b, 2, NULL, NULL, "web.service");
	set(&b, 3, "cc", NULL, NULL);
	run_three(&b, 10);
	check_children(&b, find(&b, WATT_ENTITY_UNIT, "web.service"));
	assert_int_equal(find(&b, WATT_ENTITY_CONTAINER, "aa")->entity->parent_id,
			 find(&b, WATT_ENTITY_UNIT, "web.service")->entity->id);
	assert_int_equal(find(&b, WATT_ENTITY_CONTAINER, "cc")->entity->parent_id, 0);
	close_bench(&b);
}

/* Names of containers, as lxc has them, are not unique: each pod has its own. */
static void test_one_name_in_two_pods(void **state)
{
	const struct watt_row *a, *b1;
	struct bench b;

	open_bench(&b);
	run_three(&b, 0);
	run_three(&b, 5);
	set(&b, 1, "web", POD_1, NULL);
	set(&b, 2, "web", POD_2, NULL);
	set(&b, 3, "web", POD_2, NULL);
	run_three(&b, 10);
	a = nth(&b, WATT_ENTITY_CONTAINER, "web", 0);
	b1 = nth(&b, WATT_ENTITY_CONTAINER, "web", 1);
	assert_non_null(a);
	assert_non_null(b1);
	assert_null(nth(&b, WATT_ENTITY_CONTAINER, "web", 2));
	assert_int_equal(a->cpu_ns, 10 * MS);
	assert_int_equal(b1->cpu_ns, 50 * MS);
	check_children(&b, find(&b, WATT_ENTITY_POD, POD_1));
	check_children(&b, find(&b, WATT_ENTITY_POD, POD_2));
	close_bench(&b);
}

/* Who died before its cgroup was explained is in it all the same. */
static void test_late_name_reaches_the_dead(void **state)
{
	const struct watt_row *row;
	struct bench b;

	open_bench(&b);
	run_three(&b, 0);
	add(&b, WATT_USAGE_TASK, 10, 1, 10);
	add(&b, WATT_USAGE_FREE, 10, 1, 20);
	end_slice(&b);
	set(&b, 1, "aa", POD_1, NULL);
	add(&b, WATT_USAGE_TASK, 11, 1, 1); /* keeps the dead one's row waiting for nothing */
	end_slice(&b);
	row = find(&b, WATT_ENTITY_CONTAINER, "aa");
	assert_non_null(row);
	assert_int_equal(row->cpu_ns, 21 * MS);
	assert_string_equal(row->entity->cgroup->path, "/x");
	close_bench(&b);
}

/* A process that never runs again learns what its cgroup turned out to be. */
static void test_late_name_reaches_sleepers(void **state)
{
	const struct watt_row *row;
	struct bench b;

	open_bench(&b);
	run_three(&b, 0);
	run_three(&b, 10);
	row = find(&b, WATT_ENTITY_PROCESS, "name");
	assert_non_null(row);
	assert_null(row->entity->cgroup->path);
	assert_true(row->entity->missing & WATT_IDENTITY_CGROUP);
	set(&b, 1, "aa", NULL, NULL);
	end_slice(&b);
	row = find(&b, WATT_ENTITY_PROCESS, "name");
	assert_string_equal(row->entity->cgroup->container, "aa");
	assert_false(row->entity->missing & WATT_IDENTITY_CGROUP);
	close_bench(&b);
}

static void call(struct bench *b, const char *id, const char *name, const char *pod_uid,
		 const char *pod_name)
{
	static const struct watt_label labels[] = { { "tier", "front" }, { "empty", "" } };
	struct watt_container container = { .id = id,
					    .name = name,
					    .runtime = "docker",
					    .pod_uid = pod_uid,
					    .pod_name = pod_name,
					    .pod_namespace = pod_name ? "default" : NULL,
					    .labels = labels,
					    .n_labels = 2 };

	assert_int_equal(watt_attrib_set_container(b->at, &container), 0);
}

/* A container is asked for once, by its id; its name comes whenever it does. */
static void test_late_name_of_a_container(void **state)
{
	struct watt_container stranger = { .id = "zz", .name = "x" };
	struct watt_container less = { .id = "aa", .image = "nginx" };
	const struct watt_row *row, *before;
	struct watt_cgroup asked;
	struct bench b;

	open_bench(&b);
	run_three(&b, 0);
	run_three(&b, 10);
	assert_int_equal(watt_attrib_next_unknown_container(b.at, &asked), 1);
	set(&b, 1, "aa", NULL, NULL);
	set(&b, 2, "aa", NULL, NULL);
	assert_int_equal(watt_attrib_next_unknown_container(b.at, &asked), 0);
	assert_string_equal(asked.container, "aa");
	assert_int_equal(watt_attrib_next_unknown_container(b.at, &asked), 1);
	run_three(&b, 20);
	before = find(&b, WATT_ENTITY_CONTAINER, "aa");
	assert_null(before->entity->container);
	assert_int_equal(watt_attrib_set_container(b.at, &stranger), -ESRCH);
	call(&b, "aa", "web-1", NULL, NULL);
	call(&b, "aa", "web-1", NULL, NULL);
	run_three(&b, 30);
	row = find(&b, WATT_ENTITY_CONTAINER, "web-1");
	assert_non_null(row);
	assert_null(find(&b, WATT_ENTITY_CONTAINER, "aa"));
	assert_int_equal(row->cpu_ns, 90 * MS);
	assert_string_equal(row->entity->container->id, "aa");
	assert_string_equal(row->entity->container->runtime, "docker");
	assert_null(row->entity->container->image);
	assert_int_equal(row->entity->container->n_labels, 2);
	assert_string_equal(row->entity->container->labels[0].key, "tier");
	assert_string_equal(row->entity->container->labels[0].value, "front");
	assert_string_equal(row->entity->container->labels[1].value, "");
	/* who knows less than who told before takes nothing away */
	assert_int_equal(watt_attrib_set_container(b.at, &less), 0);
	run_three(&b, 35);
	row = find(&b, WATT_ENTITY_CONTAINER, "web-1");
	assert_string_equal(row->entity->container->image, "nginx");
	assert_int_equal(row->entity->container->n_labels, 2);
	/* another cgroup of it is still found by the id */
	set(&b, 3, "aa", NULL, NULL);
	run_three(&b, 40);
	row = find(&b, WATT_ENTITY_CONTAINER, "web-1");
	assert_int_equal(row->cpu_ns, 240 * MS);
	check_children(&b, row);
	close_bench(&b);
}

/* Somebody who listens has just come: all containers are asked for again. */
static void test_asks_again(void **state)
{
	struct watt_cgroup asked;
	struct bench b;

	open_bench(&b);
	run_three(&b, 0);
	run_three(&b, 10);
	set(&b, 1, "aa", NULL, NULL);
	assert_int_equal(watt_attrib_next_unknown_container(b.at, &asked), 0);
	call(&b, "aa", "web-1", NULL, NULL);
	assert_int_equal(watt_attrib_ask_again(b.at), 0);
	assert_int_equal(watt_attrib_next_unknown_container(b.at, &asked), 0);
	assert_string_equal(asked.container, "aa");
	assert_int_equal(watt_attrib_next_unknown_container(b.at, &asked), 1);
	close_bench(&b);
}

/* No path told the pod, but the runtime knows it: what was attributed before is in it. */
static void test_late_pod(void **state)
{
	const struct watt_row *pod;
	struct bench b;

	open_bench(&b);
	run_three(&b, 0);
	run_three(&b, 10);
	set(&b, 1, "aa", NULL, "a.scope");
	set(&b, 2, "aa", NULL, "a.scope");
	run_three(&b, 20);
	call(&b, "aa", "app", POD_1, "web-0");
	run_three(&b, 30);
	pod = find(&b, WATT_ENTITY_POD, "default/web-0");
	check_children(&b, pod);
	assert_int_equal(pod->cpu_ns, 90 * MS);
	assert_string_equal(pod->entity->container->pod_uid, POD_1);
	assert_null(pod->entity->container->id);
	assert_int_equal(find(&b, WATT_ENTITY_CONTAINER, "app")->entity->parent_id,
			 pod->entity->id);
	/* a later cgroup of the container is in the pod too, and so is another container of it */
	set(&b, 3, "aa", NULL, NULL);
	run_three(&b, 40);
	check_children(&b, find(&b, WATT_ENTITY_POD, "default/web-0"));
	assert_int_equal(find(&b, WATT_ENTITY_POD, "default/web-0")->cpu_ns, 240 * MS);
	close_bench(&b);
}

/* A pod alone, as a node's agent tells it. */
static void test_name_of_a_pod(void **state)
{
	struct bench b;

	open_bench(&b);
	run_three(&b, 0);
	run_three(&b, 10);
	set(&b, 1, "aa", POD_1, NULL);
	call(&b, NULL, NULL, POD_1, "web-0");
	run_three(&b, 20);
	assert_non_null(find(&b, WATT_ENTITY_POD, "default/web-0"));
	assert_non_null(find(&b, WATT_ENTITY_CONTAINER, "aa"));
	close_bench(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job),
		cmocka_unit_test(test_container_is_in_its_pod),
		cmocka_unit_test(test_container_is_in_its_unit),
		cmocka_unit_test(test_one_name_in_two_pods),
		cmocka_unit_test(test_late_name_reaches_the_dead),
		cmocka_unit_test(test_late_name_reaches_sleepers),
		cmocka_unit_test(test_late_name_of_a_container),
		cmocka_unit_test(test_asks_again),
		cmocka_unit_test(test_late_pod),
		cmocka_unit_test(test_name_of_a_pod),
	};

	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
