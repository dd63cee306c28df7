/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/sweep.c and tracked.c: what usage records do to the accounts. */
#include "channel.h"
#include "unit.h"

#include "attrib/state.h"

#define MS 1000000ULL

static const struct watt_channel package =
	CHANNEL("p", "package-0", WATT_DOMAIN_PACKAGE, .package_id = 0);

struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_usage records[64];
	size_t n;
	struct watt_snapshot *snap;
};

static void open_bench(struct bench *b)
{
	static const struct watt_channel *const channels[] = { &package };
	static const uint16_t slots[2] = { 0, 0 };
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = 1,
					 .cpu_slot = slots,
					 .n_cpus = 2,
					 .n_slots = 1,
					 .self_pid = 7 };

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

static struct watt_usage *add(struct bench *b, enum watt_usage_kind kind, uint32_t pid,
			      uint64_t start_ns, uint64_t t_ms, uint64_t cpu_ms)
{
	struct watt_usage *u = &b->records[b->n++];

	*u = (struct watt_usage){ .t_ns = t_ms * MS,
				  .cpu_ns = cpu_ms * MS,
				  .start_ns = start_ns,
				  .leader_start_ns = start_ns,
				  .cgroup_id = 1,
				  .tid = pid,
				  .tgid = pid,
				  .parent_tgid = 1,
				  .uid = 5,
				  .kind = (uint16_t)kind,
				  .comm = "name" };
	return u;
}

/* Ends a slice at t_ms; the package takes 1 W all the time. */
static void end_slice(struct bench *b, uint64_t t_ms, uint32_t flags)
{
	struct watt_usage_batch batch = { .t_before_ns = t_ms * MS,
					  .t_after_ns = t_ms * MS,
					  .records = b->records,
					  .n_records = b->n,
					  .flags = flags };
	struct watt_sample sample = { .t_before_ns = t_ms * MS,
				      .t_after_ns = t_ms * MS,
				      .raw = (int64_t)(t_ms * MS) };

	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
	b->n = 0;
}

static void snapshot(struct bench *b, uint64_t t_ms)
{
	struct watt_look_opts opts = { .t_ns = t_ms * MS };

	assert_true(watt_attrib_advance(b->at, b->tl, t_ms * MS) >= 0);
	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(b->snap)->sum_failures, 0);
}

static const struct watt_row *find(struct bench *b, enum watt_entity_kind kind, uint32_t pid)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity->kind == kind &&
		    (!pid || (row->entity->identity && row->entity->identity->pid == pid)))
			return row;
	}
	return NULL;
}

/* What a task used before the session is not given to anybody. */
static void test_old_time_is_not_ours(void **state)
{
	struct bench b;

	open_bench(&b);
	add(&b, WATT_USAGE_TASK, 10, 100, 0, 5000);
	end_slice(&b, 100, WATT_BATCH_FULL);
	add(&b, WATT_USAGE_TASK, 10, 100, 200, 5030);
	add(&b, WATT_USAGE_TASK, 11, 90, 200, 900); /* older than the first sweep, missed by it */
	add(&b, WATT_USAGE_TASK, 12, 150, 200, 10); /* younger: all of it is ours */
	end_slice(&b, 200, 0);
	snapshot(&b, 200);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 10)->cpu_ns, 30 * MS);
	assert_null(find(&b, WATT_ENTITY_PROCESS, 11));
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 12)->cpu_ns, 10 * MS);
	assert_int_equal(watt_energy_to_nj(find(&b, WATT_ENTITY_PROCESS, 10)->total), 75 * MS);
	close_bench(&b);
}

/* The last word comes two sweeps after the death, and counts where the task died. */
static void test_last_word_counts_where_it_died(void **state)
{
	struct bench b;

	open_bench(&b);
	end_slice(&b, 100, WATT_BATCH_FULL);
	add(&b, WATT_USAGE_FORK, 20, 200, 110, 0);
	add(&b, WATT_USAGE_EXIT, 20, 200, 150, 0);
	add(&b, WATT_USAGE_FORK, 21, 210, 120, 0);
	add(&b, WATT_USAGE_TASK, 21, 210, 200, 10);
	end_slice(&b, 200, 0);
	snapshot(&b, 200);
	assert_null(find(&b, WATT_ENTITY_PROCESS, 20));
	assert_int_equal(watt_energy_to_nj(find(&b, WATT_ENTITY_PROCESS, 21)->total),
			 0); /* its slice waits */
	assert_int_equal(watt_attrib_dying_count(b.at, 200 * MS), 1);
	add(&b, WATT_USAGE_TASK, 21, 210, 300, 15);
	end_slice(&b, 300, 0);
	add(&b, WATT_USAGE_FREE, 20, 200, 310, 30);
	end_slice(&b, 400, 0);
	assert_int_equal(watt_attrib_dying_count(b.at, 400 * MS), 0);
	snapshot(&b, 400);
	/* 100 mJ of the first slice: 3/4 of it; all of the second is 21's */
	assert_int_equal(watt_energy_to_nj(find(&b, WATT_ENTITY_PROCESS, 21)->total),
			 25 * MS + 100 * MS);
	assert_int_equal(watt_energy_to_nj(find(&b, WATT_ENTITY_EXITED, 0)->total), 75 * MS);
	assert_int_equal(watt_snapshot_get_quality(b.snap)->late_cpu_ns, 0);
	close_bench(&b);
}

/* A word that comes when its slice had to go is counted as late, and is not lost. */
static void test_late_word(void **state)
{
	struct bench b;
	uint64_t t_ms;

	open_bench(&b);
	end_slice(&b, 100, WATT_BATCH_FULL);
	add(&b, WATT_USAGE_FORK, 20, 200, 110, 0);
	add(&b, WATT_USAGE_EXIT, 20, 200, 150, 0);
	for (t_ms = 200; t_ms <= 900; t_ms += 100) {
		end_slice(&b, t_ms, 0);
		assert_true(watt_attrib_advance(b.at, b.tl, t_ms * MS) >= 0);
	}
	add(&b, WATT_USAGE_FREE, 20, 200, 950, 30);
	end_slice(&b, 1000, 0);
	snapshot(&b, 1000);
	assert_int_equal(watt_snapshot_get_quality(b.snap)->late_cpu_ns, 30 * MS);
	assert_int_equal(find(&b, WATT_ENTITY_EXITED, 0)->cpu_ns, 30 * MS);
	close_bench(&b);
}

static void test_never_goes_down(void **state)
{
	struct bench b;

	open_bench(&b);
	add(&b, WATT_USAGE_TASK, 10, 100, 100, 0);
	end_slice(&b, 100, WATT_BATCH_FULL);
	add(&b, WATT_USAGE_TASK, 10, 100, 200, 50)->flags = WATT_USAGE_RUNNING;
	end_slice(&b, 200, 0);
	add(&b, WATT_USAGE_TASK, 10, 100, 300, 48); /* it had been extrapolated too far */
	end_slice(&b, 300, 0);
	add(&b, WATT_USAGE_TASK, 10, 100, 400, 60);
	end_slice(&b, 400, 0);
	snapshot(&b, 400);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 10)->cpu_ns, 60 * MS);
	close_bench(&b);
}

static void test_pid_comes_again(void **state)
{
	struct bench b;

	open_bench(&b);
	end_slice(&b, 100, WATT_BATCH_FULL);
	add(&b, WATT_USAGE_FORK, 20, 200, 110, 0);
	add(&b, WATT_USAGE_EXIT, 20, 200, 120, 0);
	add(&b, WATT_USAGE_FREE, 20, 200, 130, 5);
	add(&b, WATT_USAGE_FORK, 20, 300, 140, 0);
	add(&b, WATT_USAGE_TASK, 20, 300, 200, 20);
	end_slice(&b, 200, 0);
	snapshot(&b, 200);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 20)->cpu_ns, 20 * MS);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 20)->entity->identity->start_ns, 300);
	assert_int_equal(find(&b, WATT_ENTITY_EXITED, 0)->cpu_ns, 5 * MS);
	close_bench(&b);
}

/* A thread that calls exec takes its leader's place; neither's time is counted twice. */
static void test_exec_of_a_thread(void **state)
{
	struct watt_usage *u;
	struct bench b;

	open_bench(&b);
	add(&b, WATT_USAGE_TASK, 30, 100, 100, 1000);
	u = add(&b, WATT_USAGE_TASK, 31, 110, 100, 400);
	u->tgid = 30;
	u->leader_start_ns = 100;
	end_slice(&b, 100, WATT_BATCH_FULL);
	u = add(&b, WATT_USAGE_EXEC, 31, 100, 110, 400);
	u->tgid = 30;
	u = add(&b, WATT_USAGE_FREE, 31, 100, 120, 1001); /* the old leader, by its new name */
	u->tgid = 30;
	add(&b, WATT_USAGE_TASK, 30, 100, 200, 450);
	end_slice(&b, 200, 0);
	snapshot(&b, 200);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 30)->cpu_ns, 51 * MS);
	close_bench(&b);
}

/* A thread whose birth was lost still belongs to its process. */
static void test_last_word_of_an_unknown_thread(void **state)
{
	struct watt_usage *u;
	struct bench b;

	open_bench(&b);
	end_slice(&b, 100, WATT_BATCH_FULL);
	add(&b, WATT_USAGE_FORK, 50, 200, 110, 0);
	u = add(&b, WATT_USAGE_FREE, 51, 210, 150, 7);
	u->tgid = 50;
	u->leader_start_ns = 0;
	end_slice(&b, 200, 0);
	snapshot(&b, 200);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 50)->cpu_ns, 7 * MS);
	assert_null(find(&b, WATT_ENTITY_EXITED, 0));
	close_bench(&b);
}

static void test_tracks_descendants(void **state)
{
	struct bench b;
	uint64_t id = 0;

	open_bench(&b);
	add(&b, WATT_USAGE_TASK, 7, 10, 100, 0);
	add(&b, WATT_USAGE_TASK, 40, 100, 100, 0)->parent_tgid = 7;
	add(&b, WATT_USAGE_TASK, 41, 101, 100, 0)->parent_tgid = 40; /* already there */
	end_slice(&b, 100, WATT_BATCH_FULL);
	assert_int_equal(watt_attrib_track(b.at, 99, &id), -ESRCH);
	assert_int_equal(watt_attrib_track(b.at, 40, &id), 0);
	assert_int_equal(watt_attrib_track(b.at, 40, &id), -EBUSY);
	add(&b, WATT_USAGE_FORK, 42, 200, 110, 0)->parent_tgid = 41;
	add(&b, WATT_USAGE_EXIT, 41, 101, 120, 0);
	add(&b, WATT_USAGE_FREE, 41, 101, 130, 10);
	add(&b, WATT_USAGE_TASK, 42, 200, 200, 20)->parent_tgid = 1; /* init adopted it */
	add(&b, WATT_USAGE_TASK, 43, 210, 200, 30)->parent_tgid = 7; /* and this came to us */
	add(&b, WATT_USAGE_TASK, 44, 220, 200, 40);                  /* a stranger */
	end_slice(&b, 200, 0);
	snapshot(&b, 200);
	assert_int_equal(find(&b, WATT_ENTITY_TRACKED, 0)->entity->id, id);
	assert_int_equal(find(&b, WATT_ENTITY_TRACKED, 0)->cpu_ns, 60 * MS);
	assert_int_equal(watt_energy_to_nj(find(&b, WATT_ENTITY_TRACKED, 0)->total), 60 * MS);
	close_bench(&b);
}

/* The next command of ours is not an orphan of the one before, though it looks like it. */
static void test_tracks_one_after_another(void **state)
{
	uint64_t first = 0, second = 0;
	struct bench b;

	open_bench(&b);
	add(&b, WATT_USAGE_TASK, 7, 10, 100, 0);
	add(&b, WATT_USAGE_TASK, 40, 100, 100, 0)->parent_tgid = 7;
	end_slice(&b, 100, WATT_BATCH_FULL);
	assert_int_equal(watt_attrib_track(b.at, 40, &first), 0);
	add(&b, WATT_USAGE_FREE, 40, 100, 130, 10);
	add(&b, WATT_USAGE_TASK, 50, 210, 200, 0)->parent_tgid = 7;
	end_slice(&b, 200, 0);
	assert_int_equal(watt_attrib_track(b.at, 50, &second), 0);
	assert_int_equal(watt_attrib_track(b.at, 50, &second), -EBUSY);
	assert_int_not_equal(first, second);
	add(&b, WATT_USAGE_TASK, 50, 210, 300, 25)->parent_tgid = 7;
	end_slice(&b, 300, 0);
	snapshot(&b, 300);
	assert_int_equal(watt_snapshot_find_row(b.snap, second)->cpu_ns, 25 * MS);
	close_bench(&b);
}

/* A child that we bear ourselves is no orphan, nor is any when nobody of the set is alive. */
static void test_siblings_are_not_tracked(void **state)
{
	struct bench b;
	uint64_t id = 0;

	open_bench(&b);
	add(&b, WATT_USAGE_TASK, 7, 10, 100, 0);
	add(&b, WATT_USAGE_TASK, 40, 100, 100, 0)->parent_tgid = 7;
	end_slice(&b, 100, WATT_BATCH_FULL);
	assert_int_equal(watt_attrib_track(b.at, 40, &id), 0);
	add(&b, WATT_USAGE_FORK, 50, 150, 150, 0)->parent_tgid = 7;
	add(&b, WATT_USAGE_TASK, 50, 150, 200, 30)->parent_tgid = 7;
	add(&b, WATT_USAGE_TASK, 40, 100, 200, 5)->parent_tgid = 7;
	end_slice(&b, 200, 0);
	add(&b, WATT_USAGE_EXIT, 40, 100, 230, 5);
	add(&b, WATT_USAGE_FREE, 40, 100, 240, 5);
	end_slice(&b, 300, 0);
	add(&b, WATT_USAGE_TASK, 60, 310, 400, 70)->parent_tgid = 7;
	end_slice(&b, 400, 0);
	snapshot(&b, 400);
	assert_int_equal(watt_snapshot_find_row(b.snap, id)->cpu_ns, 5 * MS);
	close_bench(&b);
}

/* What was used before is in the set, however late it comes; what is used then is not. */
static void test_untracks(void **state)
{
	uint64_t id = 0, again = 0;
	struct bench b;

	open_bench(&b);
	add(&b, WATT_USAGE_TASK, 40, 100, 100, 0);
	add(&b, WATT_USAGE_TASK, 41, 101, 100, 0)->parent_tgid = 40;
	end_slice(&b, 100, WATT_BATCH_FULL);
	assert_int_equal(watt_attrib_track(b.at, 40, &id), 0);
	assert_int_equal(watt_attrib_untrack(b.at, 40, 99), -ENOENT);
	assert_int_equal(watt_attrib_untrack(b.at, 41, 101), -ENOENT);
	add(&b, WATT_USAGE_TASK, 40, 100, 200, 20);
	add(&b, WATT_USAGE_TASK, 41, 101, 200, 10)->parent_tgid = 40;
	end_slice(&b, 200, 0);
	assert_int_equal(watt_attrib_untrack(b.at, 40, 100 * MS), -ENOENT);
	assert_int_equal(watt_attrib_untrack(b.at, 40, 100), 0); /* its energy is yet to come */
	assert_int_equal(watt_attrib_untrack(b.at, 40, 100), -ENOENT);
	add(&b, WATT_USAGE_TASK, 40, 100, 300, 50);
	add(&b, WATT_USAGE_FORK, 42, 250, 250, 0)->parent_tgid = 40;
	add(&b, WATT_USAGE_TASK, 42, 250, 300, 5)->parent_tgid = 40;
	end_slice(&b, 300, 0);
	snapshot(&b, 300);
	assert_int_equal(watt_snapshot_find_row(b.snap, id)->cpu_ns, 30 * MS);
	assert_int_equal(watt_energy_to_nj(watt_snapshot_find_row(b.snap, id)->total), 100 * MS);
	assert_int_equal(watt_snapshot_find_row(b.snap, id)->entity->alive, 0);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 40)->entity->tracked_id, 0);
	/* It was seen to its end, and may begin again. */
	end_slice(&b, 400, 0);
	snapshot(&b, 400);
	assert_null(watt_snapshot_find_row(b.snap, id));
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 40)->cpu_ns, 50 * MS);
	assert_int_equal(watt_attrib_track(b.at, 40, &again), 0);
	add(&b, WATT_USAGE_TASK, 40, 100, 500, 57);
	end_slice(&b, 500, 0);
	snapshot(&b, 500);
	assert_int_equal(watt_snapshot_find_row(b.snap, again)->cpu_ns, 7 * MS);
	close_bench(&b);
}

static size_t count_members(const struct bench *b)
{
	const struct watt_member *member;
	size_t i, n = 0;

	for (i = 0; i < b->at->accounts.n; i++)
		for (member = b->at->accounts.list[i]->members; member; member = member->next)
			n++;
	return n;
}

/* Years of it take no more room than a day, though the process lives on and is seen seldom. */
static void test_untracks_for_years(void **state)
{
	size_t i, n_accounts = 0, n_members = 0;
	struct bench b;
	uint64_t id = 0;

	open_bench(&b);
	add(&b, WATT_USAGE_TASK, 40, 100, 100, 0);
	end_slice(&b, 100, WATT_BATCH_FULL);
	for (i = 1; i <= 500; i++) {
		assert_int_equal(watt_attrib_track(b.at, 40, &id), 0);
		add(&b, WATT_USAGE_TASK, 40, 100, 100 + i * 100, i * 10);
		end_slice(&b, 100 + i * 100, 0);
		if (i % 10 == 0)
			snapshot(&b, 100 + i * 100);
		assert_int_equal(watt_attrib_untrack(b.at, 40, 100), 0);
		if (i == 20) {
			n_accounts = b.at->accounts.n;
			n_members = count_members(&b);
		}
	}
	assert_true(b.at->accounts.n <= n_accounts);
	assert_true(count_members(&b) <= n_members);
	snapshot(&b, 100 + 500 * 100);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 40)->cpu_ns, 5000 * MS);
	close_bench(&b);
}

/* A process that moves leaves what it used with the cgroup that it was in. */
static void test_moves_between_cgroups(void **state)
{
	int64_t first_nj = 0, second_nj = 0;
	struct bench b;
	size_t i;

	open_bench(&b);
	add(&b, WATT_USAGE_TASK, 10, 100, 100, 0);
	end_slice(&b, 100, WATT_BATCH_FULL);
	add(&b, WATT_USAGE_TASK, 10, 100, 200, 10);
	end_slice(&b, 200, 0);
	add(&b, WATT_USAGE_TASK, 10, 100, 300, 20)->cgroup_id = 2;
	end_slice(&b, 300, 0);
	snapshot(&b, 300);
	for (i = 0; i < watt_snapshot_get_row_count(b.snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b.snap, i);

		if (row->entity->kind == WATT_ENTITY_CGROUP &&
		    !strcmp(row->entity->name, "cgroup 1"))
			first_nj = watt_energy_to_nj(row->total);
		if (row->entity->kind == WATT_ENTITY_CGROUP &&
		    !strcmp(row->entity->name, "cgroup 2"))
			second_nj = watt_energy_to_nj(row->total);
	}
	assert_int_equal(first_nj, 100 * MS);
	assert_int_equal(second_nj, 100 * MS);
	close_bench(&b);
}

/* Deaths that nobody told of are found by full sweeps; one alone may have been mistaken. */
static void test_forgets_the_unseen(void **state)
{
	uint64_t id;
	struct bench b;

	open_bench(&b);
	add(&b, WATT_USAGE_TASK, 10, 100, 100, 0);
	add(&b, WATT_USAGE_TASK, 11, 101, 100, 0);
	end_slice(&b, 100, WATT_BATCH_FULL);
	add(&b, WATT_USAGE_TASK, 11, 101, 200, 5);
	end_slice(&b, 200, WATT_BATCH_FULL);
	add(&b, WATT_USAGE_TASK, 10, 100, 300, 5);
	end_slice(&b, 300, 0);
	snapshot(&b, 300);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 10)->cpu_ns, 5 * MS);
	add(&b, WATT_USAGE_TASK, 11, 101, 400, 6);
	end_slice(&b, 400, WATT_BATCH_FULL);
	add(&b, WATT_USAGE_TASK, 11, 101, 500, 7);
	end_slice(&b, 500, WATT_BATCH_FULL);
	assert_int_equal(watt_attrib_track(b.at, 10, &id), -ESRCH);
	assert_int_equal(watt_attrib_track(b.at, 11, &id), 0);
	close_bench(&b);
}

/* Ten thousand short lives leave one row per name, and all their time. */
static void test_memory_is_bounded(void **state)
{
	const struct watt_row *row;
	struct bench b;
	uint32_t i;

	open_bench(&b);
	end_slice(&b, 100, WATT_BATCH_FULL);
	for (i = 0; i < 10000; i++) {
		add(&b, WATT_USAGE_FORK, 1000 + i, 1000 + i, 0, 0);
		add(&b, WATT_USAGE_FREE, 1000 + i, 1000 + i, 0, 1);
		if (b.n == 64 || i == 9999)
			end_slice(&b, 200 + i, 0);
		if (i % 1000 == 999)
			snapshot(&b, 200 + i);
	}
	end_slice(&b, 20000, 0);
	snapshot(&b, 20000);
	row = find(&b, WATT_ENTITY_EXITED, 0);
	assert_int_equal(row->entity->count, 10000);
	assert_int_equal(row->cpu_ns, 10000 * MS);
	assert_true(watt_snapshot_get_row_count(b.snap) < 16);
	close_bench(&b);
}

/* A caller that takes no snapshots for days finds the memory as it was, and nothing is lost. */
static void test_memory_is_bounded_without_snapshots(void **state)
{
	struct bench b;
	uint32_t i;

	open_bench(&b);
	end_slice(&b, 100, WATT_BATCH_FULL);
	for (i = 0; i < 20000; i++) {
		add(&b, WATT_USAGE_FORK, 1000 + i, 1000 + i, 0, 0);
		add(&b, WATT_USAGE_FREE, 1000 + i, 1000 + i, 0, 1)->cgroup_id = 100 + i;
		if (b.n < 64 && i < 19999)
			continue;
		end_slice(&b, 200 + i, 0);
		assert_true(watt_attrib_advance(b.at, b.tl, (200 + i) * MS) >= 0);
		assert_true(b.at->accounts.n < 20000);
		assert_true(b.at->accounts.n_of_kind[WATT_ENTITY_PROCESS] <= 4096);
	}
	snapshot(&b, 40000);
	assert_int_equal(find(&b, WATT_ENTITY_EXITED, 0)->entity->count, 20000);
	assert_int_equal(find(&b, WATT_ENTITY_EXITED, 0)->cpu_ns, 20000 * MS);
	close_bench(&b);
}

/* More cgroups than are kept, all in use: none may go, and then all but one. */
static void test_more_groups_than_are_kept(void **state)
{
	uint32_t i, n = 5000, step;
	size_t n_groups = 0;
	struct bench b;

	open_bench(&b);
	end_slice(&b, 100, WATT_BATCH_FULL);
	for (step = 1; step <= 2; step++) {
		for (i = 0; i < n; i++) {
			add(&b, WATT_USAGE_TASK, 1000 + i, 1000 + i, 0, step)->cgroup_id = 100 + i;
			if (b.n == 64 || i == n - 1)
				end_slice(&b, step * 10000 + i, 0);
		}
		snapshot(&b, step * 10000 + n);
	}
	for (i = 0; i < n; i++) {
		add(&b, WATT_USAGE_FREE, 1000 + i, 1000 + i, 0, 3)->cgroup_id = 100 + i;
		if (b.n == 64 || i == n - 1)
			end_slice(&b, 30000 + i, 0);
	}
	snapshot(&b, 40000);
	snapshot(&b, 41000);
	for (i = 0; i < watt_snapshot_get_row_count(b.snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b.snap, i);

		n_groups += row->entity->kind == WATT_ENTITY_CGROUP;
	}
	assert_int_equal(n_groups, 1);
	assert_string_equal(find(&b, WATT_ENTITY_CGROUP, 0)->entity->name, "(gone)");
	assert_int_equal(find(&b, WATT_ENTITY_CGROUP, 0)->cpu_ns, 3 * n * MS);
	close_bench(&b);
}

/* A full sweep that lost records has not seen everybody: who is missing may live. */
static void test_keeps_the_unseen_when_records_are_lost(void **state)
{
	struct watt_usage_batch lossy = {
		.t_before_ns = 200 * MS, .t_after_ns = 200 * MS, .flags = WATT_BATCH_FULL, .lost = 1
	};
	struct bench b;

	open_bench(&b);
	end_slice(&b, 50, WATT_BATCH_FULL);
	add(&b, WATT_USAGE_TASK, 10, 100, 100, 30);
	end_slice(&b, 100, 0);
	assert_int_equal(watt_attrib_push_usage(b.at, &lossy), 0);
	lossy.t_before_ns = lossy.t_after_ns = 300 * MS;
	lossy.records = add(&b, WATT_USAGE_TASK, 10, 100, 300, 40);
	lossy.n_records = 1;
	assert_int_equal(watt_attrib_push_usage(b.at, &lossy), 0);
	b.n = 0;
	snapshot(&b, 300);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, 10)->cpu_ns, 40 * MS);
	assert_null(find(&b, WATT_ENTITY_EXITED, 0)); /* it has not died and come again */
	close_bench(&b);
}

/* Two of 256 possible CPUs are there, and both are busy: that is no idle machine. */
static void test_possible_cpus_are_no_capacity(void **state)
{
	static const uint16_t slots[256] = { 0 };
	static const struct watt_channel *const channels[] = { &package };
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = 1,
					 .cpu_slot = slots,
					 .n_cpus = 256,
					 .n_slots = 1 };
	struct watt_cpu_time cpus[256] = { [0] = { .online = 1 }, [1] = { .online = 1 } };
	struct bench b = { 0 };
	uint64_t t_ms;

	assert_int_equal(watt_timeline_new(channels, 1, &b.tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b.at), 0);
	for (t_ms = 100; t_ms <= 5000; t_ms += 50) {
		struct watt_usage_batch batch = { .t_before_ns = t_ms * MS,
						  .t_after_ns = t_ms * MS,
						  .records = b.records,
						  .n_records = 1,
						  .cpus = cpus,
						  .n_cpus = 256,
						  .flags = WATT_BATCH_FULL };
		struct watt_sample sample = { t_ms * MS, t_ms * MS, (int64_t)(t_ms * MS), 0, 0 };

		b.n = 0;
		add(&b, WATT_USAGE_TASK, 10, 100, t_ms, 2 * t_ms);
		assert_int_equal(watt_attrib_push_usage(b.at, &batch), 0);
		assert_int_equal(watt_timeline_push(b.tl, &sample), 0);
	}
	snapshot(&b, 5000);
	assert_int_equal(watt_snapshot_get_domain_state(b.snap, 0)->baseline_ready, 0);
	assert_int_equal(watt_energy_to_nj(find(&b, WATT_ENTITY_PROCESS, 10)->total), 4900 * MS);
	close_bench(&b);
}

/* Questions that nobody comes to answer don't pile up. */
static void test_questions_are_bounded(void **state)
{
	struct bench b;
	uint32_t i;

	open_bench(&b);
	end_slice(&b, 100, WATT_BATCH_FULL);
	for (i = 0; i < 10000; i++) {
		add(&b, WATT_USAGE_FORK, 1000 + i, 1000 + i, 0, 0);
		add(&b, WATT_USAGE_FREE, 1000 + i, 1000 + i, 0, 1);
		add(&b, WATT_USAGE_TASK, 10, 100, 0, i)->cgroup_id = 2; /* it has no name */
		end_slice(&b, 200 + i, 0);
		assert_true(watt_attrib_advance(b.at, b.tl, (200 + i) * MS) >= 0);
	}
	assert_true(b.at->asks.n_processes <= 2048);
	assert_int_equal(b.at->asks.n_cgroups, 2);
	close_bench(&b);
}

/* Nobody waits for a sensor that has been without a value for long, nor for what needs it. */
static void test_waits_for_no_dead_sensor(void **state)
{
	static const struct watt_channel total =
		CHANNEL("t", "in", WATT_DOMAIN_TOTAL, .package_id = -1);
	static const struct watt_channel *const channels[] = { &package, &total };
	static const uint16_t slots[1] = { 0 };
	struct watt_attrib_opts opts = { .channels = channels,
					 .n_channels = 2,
					 .cpu_slot = slots,
					 .n_cpus = 1,
					 .n_slots = 1,
					 .horizon_ns = 1000 * MS };
	struct bench b = { 0 };
	uint64_t t_ms, silent_ms;

	for (silent_ms = 0; silent_ms <= 2000; silent_ms += 2000) {
		assert_int_equal(watt_timeline_new(channels, 2, &b.tl), 0);
		assert_int_equal(watt_attrib_new(&opts, &b.at), 0);
		for (t_ms = 100; t_ms <= 8000; t_ms += 100) {
			struct watt_sample s = { t_ms * MS, t_ms * MS, (int64_t)(2 * t_ms * MS), 1,
						 WATT_STATUS_OK };

			if (t_ms > silent_ms && t_ms < 6000)
				s.status = WATT_STATUS_NODATA;
			assert_int_equal(watt_timeline_push(b.tl, &s), 0);
			end_slice(&b, t_ms, WATT_BATCH_FULL);
			assert_true(watt_attrib_advance(b.at, b.tl, t_ms * MS) >= 0);
			if (t_ms > silent_ms + 2000)
				assert_true(b.at->slices.n <= 1);
		}
		snapshot(&b, 8000); /* and what it counted meanwhile is not lost */
		assert_int_equal(
			watt_energy_to_nj(watt_snapshot_get_domain_state(b.snap, 0)->energy),
			(silent_ms ? 2 * 7900 : 2 * 2000) * MS);
		assert_int_equal(watt_snapshot_get_domain_state(b.snap, 0)->t_ns, 8000 * MS);
		close_bench(&b);
		b = (struct bench){ 0 };
	}
}

static void test_refuses_time_going_back(void **state)
{
	struct watt_usage_batch batch = { .t_before_ns = 50 * MS, .t_after_ns = 50 * MS };
	struct bench b;

	open_bench(&b);
	end_slice(&b, 100, WATT_BATCH_FULL);
	assert_int_equal(watt_attrib_push_usage(b.at, &batch), -EINVAL);
	batch.t_before_ns = 200 * MS;
	assert_int_equal(watt_attrib_push_usage(b.at, &batch), -EINVAL);
	close_bench(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_old_time_is_not_ours),
		cmocka_unit_test(test_last_word_counts_where_it_died),
		cmocka_unit_test(test_late_word),
		cmocka_unit_test(test_never_goes_down),
		cmocka_unit_test(test_pid_comes_again),
		cmocka_unit_test(test_exec_of_a_thread),
		cmocka_unit_test(test_last_word_of_an_unknown_thread),
		cmocka_unit_test(test_tracks_descendants),
		cmocka_unit_test(test_tracks_one_after_another),
		cmocka_unit_test(test_siblings_are_not_tracked),
		cmocka_unit_test(test_untracks),
		cmocka_unit_test(test_untracks_for_years),
		cmocka_unit_test(test_moves_between_cgroups),
		cmocka_unit_test(test_forgets_the_unseen),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_memory_is_bounded_without_snapshots),
		cmocka_unit_test(test_more_groups_than_are_kept),
		cmocka_unit_test(test_keeps_the_unseen_when_records_are_lost),
		cmocka_unit_test(test_possible_cpus_are_no_capacity),
		cmocka_unit_test(test_questions_are_bounded),
		cmocka_unit_test(test_waits_for_no_dead_sensor),
		cmocka_unit_test(test_refuses_time_going_back),
	};

	return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
