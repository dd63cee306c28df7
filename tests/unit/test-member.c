/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/member.c: a sum is the sum of its members, whoever moves, and whenever it is known. */
#include "fast_and_slow.h"
#include "unit.h"

#include "attrib/state.h"

#define MS 1000000ULL
#define MAX_PIDS 40

struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_usage records[4 * MAX_PIDS];
	size_t n;
	uint64_t t_ms;
	struct watt_snapshot *snap;
};

static void open_bench(struct bench *b)
{
	static const struct watt_channel *const list[] = { &fast_and_slow[0], &fast_and_slow[1] };
	static const uint16_t slots[2] = { 0, 0 };
	struct watt_attrib_opts opts = {
		.channels = list, .n_channels = 2, .cpu_slot = slots, .n_cpus = 2, .n_slots = 1
	};

	memset(b, 0, sizeof(*b));
	assert_int_equal(watt_timeline_new(list, 2, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
}

static void close_bench(struct bench *b)
{
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

static struct watt_usage *add(struct bench *b, enum watt_usage_kind kind, uint32_t pid,
			      uint64_t cpu_ms)
{
	struct watt_usage *u = &b->records[b->n++];

	*u = (struct watt_usage){ .t_ns = (b->t_ms + 1) * MS,
				  .cpu_ns = cpu_ms * MS,
				  .start_ns = 1000 + pid,
				  .leader_start_ns = 1000 + pid,
				  .cgroup_id = 7,
				  .tid = pid,
				  .tgid = pid,
				  .parent_tgid = 1,
				  .uid = 5,
				  .kind = (uint16_t)kind,
				  .comm = "name" };
	return u;
}

static void look(struct bench *b)
{
	struct watt_look_opts opts = { .t_ns = b->t_ms * MS };

	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
}

/* Ends a slice of 100 ms in which both took 1 W. */
static void end_slice(struct bench *b)
{
	struct watt_usage_batch batch = { .records = b->records, .n_records = b->n };
	uint64_t t_ns = (b->t_ms += 100) * MS;
	uint32_t c;

	batch.t_before_ns = batch.t_after_ns = t_ns;
	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	for (c = 0; c < 2; c++) {
		struct watt_sample sample = { t_ns, t_ns, (int64_t)t_ns, c, WATT_STATUS_OK };

		assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
	}
	assert_true(watt_attrib_advance(b->at, b->tl, t_ns) >= 0);
	b->n = 0;
}

static void end_and_check(struct bench *b)
{
	const struct watt_quality *quality;

	end_slice(b);
	look(b);
	quality = watt_snapshot_get_quality(b->snap);
	assert_true(quality->sum_checks > 0);
	assert_int_equal(quality->sum_failures, 0);
	assert_int_equal(quality->check_failures, 0);
}

static const struct watt_row *of_kind(const struct bench *b, enum watt_entity_kind kind)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++)
		if (watt_snapshot_get_row(b->snap, i)->entity->kind == kind)
			return watt_snapshot_get_row(b->snap, i);
	fail();
	return NULL;
}

static int64_t total_nj(const struct bench *b, enum watt_entity_kind kind)
{
	return watt_energy_to_nj(of_kind(b, kind)->total);
}

/* What is told of it first says nothing of its cgroup and user; both have all of it all the same. */
static void test_migrates_before_its_first_sweep(void **state)
{
	struct bench b;
	int i;

	open_bench(&b);
	end_slice(&b);
	add(&b, WATT_USAGE_MIGRATE, 10, 40)->flags = WATT_USAGE_NO_UID | WATT_USAGE_NO_CGROUP;
	end_and_check(&b);
	assert_true(total_nj(&b, WATT_ENTITY_PROCESS) > 0);
	for (i = 2; i < 8; i++) {
		add(&b, WATT_USAGE_TASK, 10, (uint64_t)i * 40);
		end_and_check(&b);
		assert_int_equal(total_nj(&b, WATT_ENTITY_CGROUP),
				 total_nj(&b, WATT_ENTITY_PROCESS));
		assert_int_equal(total_nj(&b, WATT_ENTITY_USER), total_nj(&b, WATT_ENTITY_PROCESS));
		assert_int_equal(of_kind(&b, WATT_ENTITY_CGROUP)->cpu_ns, (uint64_t)i * 40 * MS);
		/* what was used before the window is not in the window */
		assert_int_equal(of_kind(&b, WATT_ENTITY_CGROUP)->window_total_nj,
				 of_kind(&b, WATT_ENTITY_PROCESS)->window_total_nj);
	}
	close_bench(&b);
	(void)state;
}

/* Energy that comes after the move is of the place where the time was spent. */
static void test_moves(void **state)
{
	struct bench b;
	uint64_t i;

	open_bench(&b);
	end_slice(&b);
	for (i = 1; i <= 4; i++) {
		add(&b, WATT_USAGE_TASK, 10, i * 50);
		end_and_check(&b);
	}
	for (; i <= 12; i++) {
		struct watt_usage *u = add(&b, WATT_USAGE_TASK, 10, i * 50);

		u->cgroup_id = 8;
		u->uid = 6;
		end_and_check(&b);
	}
	/* 4 slices of 2 W in one, and 8 in the other, less the 3 that are not told of yet */
	assert_int_equal(total_nj(&b, WATT_ENTITY_PROCESS), 2100 * MS);
	assert_int_equal(total_nj(&b, WATT_ENTITY_CGROUP), 800 * MS);
	assert_int_equal(total_nj(&b, WATT_ENTITY_USER), 800 * MS);
	close_bench(&b);
	(void)state;
}

/* A number that is wrong anywhere is found, in a cgroup that nobody has named, too. */
static void test_finds_what_is_wrong(void **state)
{
	struct watt_cgroup cgroup = { .id = 7, .path = "/a", .unit = "a.service" };
	size_t i, n_of_kind[WATT_ENTITY_JOB + 1] = { 0 };
	struct bench b;

	open_bench(&b);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 50);
	end_and_check(&b);
	assert_int_equal(watt_attrib_set_cgroup(b.at, &cgroup), 0);
	add(&b, WATT_USAGE_TASK, 10, 100);
	add(&b, WATT_USAGE_TASK, 11, 100)->cgroup_id = 8; /* it stays without a name */
	end_and_check(&b);
	for (i = 0; i < b.at->accounts.n; i++) {
		struct watt_account *account = b.at->accounts.list[i];

		n_of_kind[account->kind]++;
		if (account->kind == WATT_ENTITY_IDLE || account->kind == WATT_ENTITY_UNATTRIBUTED)
			continue;
		account->energy_nj[0]++;
		look(&b);
		assert_true(watt_snapshot_get_quality(b.snap)->sum_failures > 0);
		account->energy_nj[0]--;
		b.at->quality.sum_failures = 0;
	}
	assert_int_equal(n_of_kind[WATT_ENTITY_CGROUP], 2);
	assert_true(n_of_kind[WATT_ENTITY_USER] && n_of_kind[WATT_ENTITY_UNIT] &&
		    n_of_kind[WATT_ENTITY_PROCESS] == 2);
	look(&b);
	assert_int_equal(watt_snapshot_get_quality(b.snap)->sum_failures, 0);
	close_bench(&b);
	(void)state;
}

static uint32_t rnd(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33) % below;
}

static void name_somebody(struct bench *b, uint64_t *seed)
{
	static const char *const containers[] = { NULL, "aa", "bb", "cc" };
	static const char *const pods[] = { NULL, "p1", "p2" };
	struct watt_cgroup cgroup = { .id = rnd(seed, 6), .path = "/x" };

	cgroup.container = containers[rnd(seed, 4)];
	cgroup.pod_uid = pods[cgroup.container ? rnd(seed, 3) : 0];
	if (!cgroup.container)
		cgroup.unit = "u.service";
	watt_attrib_set_cgroup(b->at, &cgroup);
}

/* Births, deaths, moves, exec, names that come late, tracked trees and retirement, in any order. */
static void test_anything(void **state)
{
	uint64_t cpu_ms[MAX_PIDS] = { 0 }, cgroups[MAX_PIDS] = { 0 }, seed = 42, id = 0;
	uint64_t root_start_ns;
	uint32_t generation[MAX_PIDS] = { 0 }, pid, step, root;
	struct bench b;

	open_bench(&b);
	end_slice(&b);
	for (step = 0; step < 600; step++) {
		for (pid = 0; pid < MAX_PIDS; pid++) {
			struct watt_usage *u;
			uint32_t what = rnd(&seed, 100);

			if (rnd(&seed, 3))
				continue;
			cpu_ms[pid] += rnd(&seed, 50);
			if (what < 10)
				cgroups[pid] = rnd(&seed, 6);
			u = add(&b,
				what < 3  ? WATT_USAGE_EXIT :
				what < 8  ? WATT_USAGE_FREE :
				what < 30 ? WATT_USAGE_MIGRATE :
				what < 34 ? WATT_USAGE_EXEC :
					    WATT_USAGE_TASK,
				pid + 2, cpu_ms[pid]);
			u->start_ns = u->leader_start_ns =
				5000 + generation[pid] * 100ULL * MAX_PIDS + pid;
			u->cgroup_id = cgroups[pid];
			u->uid = cgroups[pid] % 3;
			u->parent_tgid = 2 + pid / 2;
			snprintf(u->comm, sizeof(u->comm), "n%u", pid % 7);
			if (u->kind == WATT_USAGE_MIGRATE)
				u->flags = WATT_USAGE_NO_UID | WATT_USAGE_NO_CGROUP;
			if (u->kind == WATT_USAGE_FREE) {
				generation[pid]++;
				cpu_ms[pid] = 0;
			}
		}
		if (step % 7 == 0)
			name_somebody(&b, &seed);
		if (step % 41 == 0)
			watt_attrib_track(b.at, 2 + rnd(&seed, MAX_PIDS), &id);
		if (step % 67 == 0 &&
		    watt_attrib_find_tracked(b.at, id, &root, &root_start_ns) == 0)
			assert_int_equal(watt_attrib_untrack(b.at, root, root_start_ns), 0);
		if (step % 3)
			end_slice(&b);
		else
			end_and_check(&b);
	}
	close_bench(&b);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_migrates_before_its_first_sweep),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_finds_what_is_wrong),
		cmocka_unit_test(test_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
