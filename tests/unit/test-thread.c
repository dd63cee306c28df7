/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/thread.c: a process is the sum of its threads, to the nJ, whatever becomes of them. */
#include "fast_and_slow.h"
#include "unit.h"

#include "attrib/state.h"

#define MS 1000000ULL
#define MAX_RECORDS 400

struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_usage records[MAX_RECORDS];
	size_t n;
	uint64_t t_ms;
	struct watt_snapshot *snap;
};

static void open_bench(struct bench *b, bool has_threads)
{
	static const struct watt_channel *const list[] = { &fast_and_slow[0], &fast_and_slow[1] };
	static const uint16_t slots[2] = { 0, 0 };
	struct watt_attrib_opts opts = {
		.channels = list, .n_channels = 2, .cpu_slot = slots, .n_cpus = 2, .n_slots = 1
	};

	memset(b, 0, sizeof(*b));
	assert_int_equal(watt_timeline_new(list, 2, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
	if (has_threads)
		assert_int_equal(watt_attrib_show_threads(b->at), 0);
}

static void close_bench(struct bench *b)
{
	watt_snapshot_unref(b->snap);
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
}

static struct watt_usage *add(struct bench *b, enum watt_usage_kind kind, uint32_t tgid,
			      uint32_t tid, uint64_t cpu_ms)
{
	struct watt_usage *u = &b->records[b->n++];

	assert_true(b->n < MAX_RECORDS);
	*u = (struct watt_usage){ .t_ns = (b->t_ms + 1) * MS,
				  .cpu_ns = cpu_ms * MS,
				  .start_ns = 1000 + tid,
				  .leader_start_ns = 1000 + tgid,
				  .cgroup_id = 7,
				  .tid = tid,
				  .tgid = tgid,
				  .parent_tgid = 1,
				  .uid = 5,
				  .kind = (uint16_t)kind };
	snprintf(u->comm, sizeof(u->comm), "t%u", tid);
	return u;
}

/* Ends a slice of 100 ms of which no sensor has told. */
static void end_unmeasured(struct bench *b)
{
	struct watt_usage_batch batch = { .records = b->records, .n_records = b->n };

	b->t_ms += 100;
	batch.t_before_ns = batch.t_after_ns = b->t_ms * MS;
	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	b->n = 0;
}

/* Ends a slice of 100 ms in which both took 1 W. */
static void end_slice(struct bench *b)
{
	uint64_t t_ns;
	uint32_t c;

	end_unmeasured(b);
	t_ns = b->t_ms * MS;
	for (c = 0; c < 2; c++) {
		struct watt_sample sample = { t_ns, t_ns, (int64_t)t_ns, c, WATT_STATUS_OK };

		assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
	}
	assert_true(watt_attrib_advance(b->at, b->tl, t_ns) >= 0);
}

static void look(struct bench *b)
{
	struct watt_look_opts opts = { .t_ns = b->t_ms * MS };

	watt_snapshot_unref(b->snap);
	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &b->snap), 0);
}

/* By the rows alone: of every process that has threads, in every domain, and in the window. */
static void check_rows(const struct bench *b)
{
	size_t n = watt_snapshot_get_row_count(b->snap), i, k, d;

	for (i = 0; i < n; i++) {
		const struct watt_row *process = watt_snapshot_get_row(b->snap, i);
		int64_t energy_nj[2] = { 0 }, window_nj[2] = { 0 };
		uint64_t cpu_ns = 0;

		if (process->entity->kind != WATT_ENTITY_PROCESS || !b->at->accounts.has_threads)
			continue;
		for (k = 0; k < n; k++) {
			const struct watt_row *row = watt_snapshot_get_row(b->snap, k);

			if (row->entity->kind != WATT_ENTITY_THREAD ||
			    row->entity->parent_id != process->entity->id)
				continue;
			cpu_ns += row->cpu_ns;
			for (d = 0; d < 2; d++) {
				energy_nj[d] += watt_energy_to_nj(row->energy[d]);
				window_nj[d] += row->window_nj[d];
			}
		}
		assert_int_equal(cpu_ns, process->cpu_ns);
		for (d = 0; d < 2; d++) {
			assert_int_equal(energy_nj[d], watt_energy_to_nj(process->energy[d]));
			assert_int_equal(window_nj[d], process->window_nj[d]);
		}
	}
}

static void check(struct bench *b)
{
	const struct watt_quality *quality;

	look(b);
	quality = watt_snapshot_get_quality(b->snap);
	assert_true(quality->sum_checks > 0);
	assert_int_equal(quality->sum_failures, 0);
	assert_int_equal(quality->check_failures, 0);
	check_rows(b);
}

static void end_and_check(struct bench *b)
{
	end_slice(b);
	check(b);
}

static const struct watt_row *find(const struct bench *b, enum watt_entity_kind kind,
				   const char *name)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(b->snap, i);

		if (row->entity->kind == kind && !strcmp(row->entity->name, name))
			return row;
	}
	return NULL;
}

static int64_t energy_of(const struct bench *b, enum watt_entity_kind kind, const char *name)
{
	const struct watt_row *row = find(b, kind, name);

	assert_non_null(row);
	return watt_energy_to_nj(row->energy[0]);
}

static size_t count(const struct bench *b, enum watt_entity_kind kind)
{
	size_t i, n = 0;

	for (i = 0; i < watt_snapshot_get_row_count(b->snap); i++)
		n += watt_snapshot_get_row(b->snap, i)->entity->kind == kind;
	return n;
}

static void test_shares(void **state)
{
	const struct watt_row *thread, *process;
	struct bench b;

	open_bench(&b, true);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 10);
	add(&b, WATT_USAGE_TASK, 10, 11, 20);
	add(&b, WATT_USAGE_TASK, 10, 12, 30);
	add(&b, WATT_USAGE_TASK, 20, 20, 40);
	end_and_check(&b);
	assert_int_equal(energy_of(&b, WATT_ENTITY_THREAD, "t10"), 10 * MS);
	assert_int_equal(energy_of(&b, WATT_ENTITY_THREAD, "t11"), 20 * MS);
	assert_int_equal(energy_of(&b, WATT_ENTITY_THREAD, "t12"), 30 * MS);
	assert_int_equal(energy_of(&b, WATT_ENTITY_PROCESS, "t10"), 60 * MS);
	assert_int_equal(energy_of(&b, WATT_ENTITY_THREAD, "t20"), 40 * MS);
	thread = find(&b, WATT_ENTITY_THREAD, "t12");
	process = find(&b, WATT_ENTITY_PROCESS, "t10");
	assert_int_equal(thread->entity->parent_id, process->entity->id);
	assert_int_equal(thread->entity->identity->pid, 10);
	assert_int_equal(thread->entity->identity->tid, 12);
	assert_int_equal(thread->entity->identity->start_ns, 1012);
	assert_int_equal(process->entity->identity->tid, 0);
	assert_int_equal(thread->entity->count, 1);
	assert_int_equal(thread->cpu_ns, 30 * MS);
	/* and what is told of the process alone */
	assert_int_equal(energy_of(&b, WATT_ENTITY_CGROUP, "cgroup 7"), 100 * MS);
	close_bench(&b);
	(void)state;
}

/* Without anybody asking, there are none, and processes have what they have with them. */
static void test_not_asked_for(void **state)
{
	struct bench with, without;
	struct bench *both[2] = { &with, &without };
	int64_t difference_nj;
	size_t i, k;

	for (i = 0; i < 2; i++) {
		open_bench(both[i], i == 0);
		end_slice(both[i]);
		for (k = 1; k < 50; k++) {
			add(both[i], WATT_USAGE_TASK, 10, 10, 13 * k);
			add(both[i], WATT_USAGE_TASK, 10, 11, 17 * k);
			add(both[i], WATT_USAGE_TASK, 20, 20, 29 * k);
			end_and_check(both[i]);
			if (i == 1)
				assert_int_equal(count(both[i], WATT_ENTITY_THREAD), 0);
		}
	}
	/* what can't be divided goes to one or another: less than 1 nJ a slice */
	difference_nj = energy_of(&with, WATT_ENTITY_PROCESS, "t10") -
			energy_of(&without, WATT_ENTITY_PROCESS, "t10");
	assert_in_range((uint64_t)(difference_nj + 50), 0, 100);
	assert_int_equal(watt_attrib_show_threads(without.at), -EBUSY);
	assert_int_equal(watt_attrib_show_threads(with.at), 0);
	close_bench(&with);
	close_bench(&without);
	(void)state;
}

/* Who has ended stays below the process, with those that ended before; slow energy comes later. */
static void test_ends(void **state)
{
	const struct watt_row *ended;
	struct bench b;
	uint32_t tid;

	open_bench(&b, true);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 50);
	add(&b, WATT_USAGE_TASK, 10, 11, 50);
	end_and_check(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 50);
	add(&b, WATT_USAGE_FREE, 10, 11, 100);
	end_and_check(&b);
	for (tid = 12; tid < 40; tid++) { /* born and gone between two sweeps */
		add(&b, WATT_USAGE_FREE, 10, tid, 1);
		add(&b, WATT_USAGE_TASK, 10, 10, 50 + tid);
		end_and_check(&b);
	}
	for (tid = 0; tid < 5; tid++) /* until no slice waits for the memory any more */
		end_and_check(&b);
	ended = find(&b, WATT_ENTITY_THREAD, "(ended threads)");
	assert_non_null(ended);
	assert_int_equal(ended->entity->count, 29);
	assert_int_equal(ended->cpu_ns, 128 * MS);
	assert_null(ended->entity->identity);
	assert_true(ended->entity->alive);
	assert_int_equal(count(&b, WATT_ENTITY_THREAD), 2);
	/* and with its process it goes */
	add(&b, WATT_USAGE_FREE, 10, 10, 100);
	end_and_check(&b);
	for (tid = 0; tid < 6; tid++)
		end_and_check(&b);
	assert_int_equal(count(&b, WATT_ENTITY_THREAD), 0);
	assert_int_equal(count(&b, WATT_ENTITY_PROCESS), 0);
	assert_int_equal(find(&b, WATT_ENTITY_EXITED, "t10")->entity->count, 1);
	assert_int_equal(b.at->accounts.n_of_kind[WATT_ENTITY_THREAD], 0);
	close_bench(&b);
	(void)state;
}

/* A tid that comes again is another thread; it may be of another process. */
static void test_tid_again(void **state)
{
	struct watt_usage *u;
	struct bench b;

	open_bench(&b, true);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 20);
	add(&b, WATT_USAGE_TASK, 10, 11, 80);
	end_and_check(&b);
	add(&b, WATT_USAGE_FREE, 10, 11, 80);
	u = add(&b, WATT_USAGE_TASK, 20, 20, 10);
	u = add(&b, WATT_USAGE_TASK, 20, 11, 30);
	u->start_ns = 5000;
	snprintf(u->comm, sizeof(u->comm), "again");
	end_and_check(&b);
	assert_int_equal(energy_of(&b, WATT_ENTITY_THREAD, "again"), 75 * MS);
	assert_int_equal(energy_of(&b, WATT_ENTITY_PROCESS, "t20"), 100 * MS);
	assert_int_equal(find(&b, WATT_ENTITY_THREAD, "again")->entity->parent_id,
			 find(&b, WATT_ENTITY_PROCESS, "t20")->entity->id);
	close_bench(&b);
	(void)state;
}

static void test_is_called_otherwise(void **state)
{
	struct watt_usage *u;
	struct bench b;
	uint64_t id;

	open_bench(&b, true);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 20);
	add(&b, WATT_USAGE_TASK, 10, 11, 80);
	end_and_check(&b);
	id = find(&b, WATT_ENTITY_THREAD, "t11")->entity->id;
	u = add(&b, WATT_USAGE_TASK, 10, 11, 90);
	snprintf(u->comm, sizeof(u->comm), "worker");
	end_and_check(&b);
	assert_null(find(&b, WATT_ENTITY_THREAD, "t11"));
	assert_int_equal(find(&b, WATT_ENTITY_THREAD, "worker")->entity->id, id);
	assert_non_null(find(&b, WATT_ENTITY_PROCESS, "t10"));
	/* it becomes another program, and takes its leader's number */
	u = add(&b, WATT_USAGE_EXEC, 10, 11, 90);
	snprintf(u->comm, sizeof(u->comm), "program");
	u = add(&b, WATT_USAGE_FREE, 10, 11, 20); /* the leader that was */
	u->start_ns = u->leader_start_ns;
	u = add(&b, WATT_USAGE_TASK, 10, 10, 95);
	snprintf(u->comm, sizeof(u->comm), "program");
	end_and_check(&b);
	assert_int_equal(find(&b, WATT_ENTITY_THREAD, "program")->entity->id, id);
	assert_int_equal(find(&b, WATT_ENTITY_THREAD, "program")->entity->identity->tid, 10);
	assert_int_equal(find(&b, WATT_ENTITY_THREAD, "program")->cpu_ns, 95 * MS);
	close_bench(&b);
	(void)state;
}

/* What a source that counts processes tells of threads that it never saw. */
static void test_ended_unseen(void **state)
{
	struct bench b;
	int i;

	open_bench(&b, true);
	add(&b, WATT_USAGE_TASK, 10, 10, 5);
	add(&b, WATT_USAGE_TASK, 10, 10, 1000)->flags = WATT_USAGE_ENDED; /* before us */
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 30);
	add(&b, WATT_USAGE_TASK, 10, 10, 1075)->flags = WATT_USAGE_ENDED;
	end_and_check(&b);
	assert_int_equal(energy_of(&b, WATT_ENTITY_THREAD, "t10"), 25 * MS);
	assert_int_equal(energy_of(&b, WATT_ENTITY_THREAD, "(ended threads)"), 75 * MS);
	/* of a process that was born here all of it counts */
	add(&b, WATT_USAGE_TASK, 5000, 5000, 60);
	add(&b, WATT_USAGE_TASK, 5000, 5000, 20)->flags = WATT_USAGE_ENDED;
	end_and_check(&b);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, "t5000")->cpu_ns, 80 * MS);
	add(&b, WATT_USAGE_FREE, 5000, 5000, 60);
	for (i = 0; i < 6; i++)
		end_and_check(&b);
	assert_int_equal(count(&b, WATT_ENTITY_EXITED), 1);
	close_bench(&b);
	/* nor is it lost where threads are not asked for */
	open_bench(&b, false);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 60);
	add(&b, WATT_USAGE_TASK, 10, 10, 20)->flags = WATT_USAGE_ENDED;
	end_and_check(&b);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, "t10")->cpu_ns, 80 * MS);
	close_bench(&b);
	(void)state;
}

/* Kernel threads are threads: nothing is below them. */
static void test_kernel_threads(void **state)
{
	struct bench b;

	open_bench(&b, true);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 20)->flags = WATT_USAGE_KTHREAD;
	end_and_check(&b);
	assert_int_equal(count(&b, WATT_ENTITY_THREAD), 0);
	assert_int_equal(count(&b, WATT_ENTITY_KTHREAD), 1);
	close_bench(&b);
	(void)state;
}

/* Its cgroup is known when some of its threads are gone already: it was in it all the time. */
static void test_cgroup_comes_late(void **state)
{
	const uint16_t unknown = WATT_USAGE_NO_CGROUP | WATT_USAGE_NO_UID;
	struct bench b;
	int i;

	open_bench(&b, true);
	end_slice(&b);
	add(&b, WATT_USAGE_MIGRATE, 10, 10, 10)->flags = unknown;
	add(&b, WATT_USAGE_MIGRATE, 10, 11, 30)->flags = unknown;
	add(&b, WATT_USAGE_FREE, 10, 12, 60)->flags = unknown;
	end_and_check(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 20);
	end_and_check(&b);
	for (i = 0; i < 5; i++)
		end_and_check(&b);
	assert_int_equal(energy_of(&b, WATT_ENTITY_CGROUP, "cgroup 7"),
			 energy_of(&b, WATT_ENTITY_PROCESS, "t10"));
	assert_int_equal(energy_of(&b, WATT_ENTITY_USER, "5"),
			 energy_of(&b, WATT_ENTITY_PROCESS, "t10"));
	close_bench(&b);
	(void)state;
}

/* Of who is tracked, each thread is seen once, though all ended before anybody looked. */
static void test_tracked(void **state)
{
	const struct watt_row *row;
	uint64_t id;
	struct bench b;
	uint32_t tid;

	open_bench(&b, true);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 0);
	add(&b, WATT_USAGE_TASK, 20, 20, 0);
	end_slice(&b);
	assert_int_equal(watt_attrib_track(b.at, 10, &id), 0);
	for (tid = 11; tid < 15; tid++)
		add(&b, WATT_USAGE_FREE, 10, tid, 10);
	add(&b, WATT_USAGE_FREE, 20, 21, 10);
	add(&b, WATT_USAGE_FREE, 10, 10, 10);
	end_slice(&b);
	end_slice(&b);
	end_and_check(&b);
	assert_int_equal(count(&b, WATT_ENTITY_THREAD), 6); /* and those that ended of the other */
	row = find(&b, WATT_ENTITY_THREAD, "t14");
	assert_int_equal(row->entity->tracked_id, id);
	assert_int_equal(row->cpu_ns, 10 * MS);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, "t10")->entity->tracked_id, id);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, "t20")->entity->tracked_id, 0);
	/* the set has what its threads used, and nothing of the other's */
	assert_int_equal(watt_snapshot_find_row(b.snap, id)->cpu_ns, 5 * 10 * MS);
	end_and_check(&b);
	end_and_check(&b);
	end_and_check(&b);
	assert_null(find(&b, WATT_ENTITY_THREAD, "t14"));
	assert_null(find(&b, WATT_ENTITY_PROCESS, "t10"));
	close_bench(&b);
	(void)state;
}

static int64_t tracked_nj(const struct bench *b, const char *name)
{
	return watt_energy_to_nj(find(b, WATT_ENTITY_THREAD, name)->tracked);
}

/* What a thread used before is no part of its set, though its energy comes when it is in it. */
static void test_tracked_later(void **state)
{
	const struct watt_row *set, *row;
	struct bench b;
	uint64_t id;

	open_bench(&b, true);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 0);
	add(&b, WATT_USAGE_TASK, 10, 11, 0);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 10);
	add(&b, WATT_USAGE_TASK, 10, 11, 20);
	end_unmeasured(&b);
	assert_int_equal(watt_attrib_track(b.at, 10, &id), 0);
	check(&b);
	assert_int_equal(tracked_nj(&b, "t10") + tracked_nj(&b, "t11"), 0);
	add(&b, WATT_USAGE_TASK, 10, 10, 40);
	add(&b, WATT_USAGE_TASK, 10, 11, 40);
	end_and_check(&b);
	set = watt_snapshot_find_row(b.snap, id);
	row = find(&b, WATT_ENTITY_THREAD, "t10");
	assert_int_equal(row->tracked_cpu_ns, 30 * MS);
	assert_int_equal(row->cpu_ns, 40 * MS);
	assert_true(tracked_nj(&b, "t10") > 0);
	assert_true(tracked_nj(&b, "t10") < watt_energy_to_nj(row->total));
	assert_int_equal(tracked_nj(&b, "t10") + tracked_nj(&b, "t11"),
			 watt_energy_to_nj(set->total));
	/* of a snapshot of one time, nothing behind it */
	watt_attrib_set_barrier(b.at, b.t_ms * MS);
	add(&b, WATT_USAGE_TASK, 10, 10, 50);
	end_and_check(&b);
	row = find(&b, WATT_ENTITY_THREAD, "t10");
	assert_int_equal(row->tracked_cpu_ns, 30 * MS);
	assert_int_equal(row->cpu_ns, 40 * MS);
	close_bench(&b);
	(void)state;
}

/* A thread that slept while its set ended goes on as the one that it was before. */
static void test_untracked(void **state)
{
	struct bench b;
	uint64_t id;

	open_bench(&b, true);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 0);
	add(&b, WATT_USAGE_TASK, 10, 11, 10);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 11, 20);
	end_slice(&b);
	assert_int_equal(watt_attrib_track(b.at, 10, &id), 0);
	add(&b, WATT_USAGE_TASK, 10, 11, 30);
	end_slice(&b);
	end_and_check(&b);
	assert_int_equal(watt_attrib_untrack(b.at, 10, 1010), 0);
	end_and_check(&b);
	end_and_check(&b); /* who reads has seen it once more */
	end_and_check(&b);
	assert_int_equal(count(&b, WATT_ENTITY_TRACKED), 0);
	add(&b, WATT_USAGE_TASK, 10, 11, 40);
	end_slice(&b);
	end_and_check(&b);
	assert_int_equal(find(&b, WATT_ENTITY_THREAD, "t11")->cpu_ns, 40 * MS);
	assert_int_equal(find(&b, WATT_ENTITY_PROCESS, "t10")->cpu_ns, 40 * MS);
	close_bench(&b);
	(void)state;
}

/* A number that is wrong in a thread or its process is found. */
static void test_finds_what_is_wrong(void **state)
{
	static const enum watt_entity_kind kinds[] = { WATT_ENTITY_THREAD, WATT_ENTITY_PROCESS };
	struct bench b;
	size_t i, k;

	open_bench(&b, true);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 10, 50);
	add(&b, WATT_USAGE_TASK, 10, 11, 50);
	end_and_check(&b);
	for (k = 0; k < WATT_ARRAY_SIZE(kinds); k++) {
		for (i = 0; b.at->accounts.list[i]->kind != kinds[k]; i++)
			;
		b.at->accounts.list[i]->energy_nj[0]++;
		look(&b);
		assert_true(watt_snapshot_get_quality(b.snap)->sum_failures > 0);
		b.at->accounts.list[i]->energy_nj[0]--;
		b.at->quality.sum_failures = 0;
	}
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

#define N_PROCESSES 8
#define N_THREADS 5 /* of each */

struct life {
	uint64_t cpu_ms[N_PROCESSES][N_THREADS];
	uint32_t generation[N_PROCESSES][N_THREADS];
	uint32_t leader[N_PROCESSES]; /* its generation, of which the process is */
};

static void live(struct bench *b, struct life *life, uint32_t p, uint32_t i, uint64_t *seed)
{
	uint32_t what = rnd(seed, 100), tgid = 10 + p * N_THREADS, k;
	enum watt_usage_kind kind = what < 3  ? WATT_USAGE_EXIT :
				    what < 15 ? WATT_USAGE_FREE :
				    what < 30 ? WATT_USAGE_MIGRATE :
						WATT_USAGE_TASK;
	struct watt_usage *u;

	life->cpu_ms[p][i] += rnd(seed, 20);
	u = add(b, kind, tgid, tgid + i, life->cpu_ms[p][i]);
	u->leader_start_ns = 5000 + life->leader[p] * 1000 + tgid;
	u->start_ns = i ? 6000 + life->generation[p][i] * 1000 + tgid + i : u->leader_start_ns;
	u->cgroup_id = (life->leader[p] + rnd(seed, 50) / 49) % 3;
	u->uid = p % 3;
	if (kind == WATT_USAGE_MIGRATE)
		u->flags = WATT_USAGE_NO_UID | WATT_USAGE_NO_CGROUP;
	snprintf(u->comm, sizeof(u->comm), "n%u", what % 7);
	if (kind != WATT_USAGE_FREE)
		return;
	life->generation[p][i]++;
	life->cpu_ms[p][i] = 0;
	if (i)
		return;
	life->leader[p]++;
	for (k = 1; k < N_THREADS; k++) { /* they are another process' from now on */
		life->generation[p][k]++;
		life->cpu_ms[p][k] = 0;
	}
}

/* Births, deaths, exec, moves, in any order: the sums are right all the time. */
static void test_anything(void **state)
{
	struct life life = { 0 };
	uint64_t seed = 7, id;
	uint32_t step, p, i;
	struct bench b;

	open_bench(&b, true);
	end_slice(&b);
	for (step = 0; step < 400; step++) {
		for (p = 0; p < N_PROCESSES; p++)
			for (i = 0; i < N_THREADS; i++)
				if (!rnd(&seed, 3))
					live(&b, &life, p, i, &seed);
		if (step % 41 == 0)
			watt_attrib_track(b.at, 10 + N_THREADS * rnd(&seed, N_PROCESSES), &id);
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
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_not_asked_for),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_tid_again),
		cmocka_unit_test(test_is_called_otherwise),
		cmocka_unit_test(test_ended_unseen),
		cmocka_unit_test(test_kernel_threads),
		cmocka_unit_test(test_cgroup_comes_late),
		cmocka_unit_test(test_tracked),
		cmocka_unit_test(test_tracked_later),
		cmocka_unit_test(test_untracked),
		cmocka_unit_test(test_finds_what_is_wrong),
		cmocka_unit_test(test_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
