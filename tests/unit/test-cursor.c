/* SPDX-License-Identifier: Apache-2.0 */
/* lib/attrib/cursor.c and retire.c: many readers, each with windows that add up and rows of its own. */
#include "fast_and_slow.h"
#include "unit.h"

#include "attrib/state.h"
#include "base/idmap.h"

#define MS 1000000ULL
#define N_DOMAINS 2
#define N_PIDS 30
#define N_READERS 6
#define MAX_IDS 20000 /* of entities */
/* As retire.c has it. */
#define MAX_GONE 8192

struct bench {
	struct watt_timeline *tl;
	struct watt_attrib *at;
	struct watt_usage *records;
	size_t n, cap;
	uint64_t t_ms;
	uint64_t cpu_ms[N_PIDS];
	uint64_t cgroups[N_PIDS];
	uint32_t generation[N_PIDS];
	uint64_t thread_ms[N_PIDS][3];
	uint32_t n_threads[N_PIDS][3];
	uint64_t seed;
};

enum life {
	UNSEEN,
	ALIVE,
	GONE,
	OVER,
};

/* A reader, and what it was told. */
struct reader {
	uint32_t id;
	struct watt_snapshot *last;
	int64_t open_nj[N_DOMAINS], sum_nj[N_DOMAINS];
	int64_t open_idle_nj[N_DOMAINS], sum_idle_nj[N_DOMAINS];
	struct watt_idmap entities; /* positions in the next two */
	uint64_t *ids;
	enum life *lives;
};

static uint32_t rnd(struct bench *b, uint32_t below)
{
	b->seed = b->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(b->seed >> 33) % below;
}

static void open_bench(struct bench *b)
{
	static const struct watt_channel *const list[] = { &fast_and_slow[0], &fast_and_slow[1] };
	static const uint16_t slots[2] = { 0, 0 };
	struct watt_attrib_opts opts = {
		.channels = list, .n_channels = 2, .cpu_slot = slots, .n_cpus = 2, .n_slots = 1
	};

	memset(b, 0, sizeof(*b));
	b->seed = 42;
	assert_int_equal(watt_timeline_new(list, 2, &b->tl), 0);
	assert_int_equal(watt_attrib_new(&opts, &b->at), 0);
}

static void close_bench(struct bench *b)
{
	watt_attrib_free(b->at);
	watt_timeline_free(b->tl);
	free(b->records);
}

static struct watt_usage *add(struct bench *b, enum watt_usage_kind kind, uint32_t pid,
			      uint64_t cpu_ms)
{
	struct watt_usage *u;

	assert_int_equal(watt_grow((void **)&b->records, &b->cap, b->n, sizeof(*u)), 0);
	u = &b->records[b->n++];
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

/* Ends a slice of 100 ms in which both took 1 W. */
static void end_slice(struct bench *b)
{
	struct watt_usage_batch batch = { .records = b->records,
					  .n_records = b->n,
					  .flags = WATT_BATCH_DEATHS };
	uint64_t t_ns = (b->t_ms += 100) * MS;
	uint32_t c;

	batch.t_before_ns = batch.t_after_ns = t_ns;
	assert_int_equal(watt_attrib_push_usage(b->at, &batch), 0);
	for (c = 0; c < N_DOMAINS; c++) {
		struct watt_sample sample = { t_ns, t_ns, (int64_t)t_ns, c, WATT_STATUS_OK };

		assert_int_equal(watt_timeline_push(b->tl, &sample), 0);
	}
	assert_true(watt_attrib_advance(b->at, b->tl, t_ns) >= 0);
	b->n = 0;
}

static struct watt_snapshot *look(const struct bench *b, uint32_t cursor)
{
	const struct watt_look_opts opts = { .cursor = cursor, .t_ns = b->t_ms * MS };
	struct watt_snapshot *snap = NULL;

	assert_int_equal(watt_attrib_snapshot(b->at, b->tl, &opts, &snap), 0);
	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 0);
	assert_int_equal(watt_snapshot_get_quality(snap)->sum_failures, 0);
	return snap;
}

static const struct watt_row *of_kind(const struct watt_snapshot *snap, enum watt_entity_kind kind)
{
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++)
		if (watt_snapshot_get_row(snap, i)->entity->kind == kind)
			return watt_snapshot_get_row(snap, i);
	return NULL;
}

/* ---- what is true of every snapshot of every reader ---- */

static void check_conserved(const struct watt_snapshot *snap, size_t d)
{
	const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);
	int64_t all_nj = watt_energy_to_nj(s->idle) + watt_energy_to_nj(s->unattributed);
	int64_t window_nj = s->window_idle_nj + s->window_unattributed_nj;
	int64_t users_nj = 0, users_window_nj = 0, owned_nj = 0;
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (watt_entity_kind_is_leaf(row->entity->kind)) {
			all_nj += watt_energy_to_nj(row->energy[d]);
			window_nj += row->window_nj[d];
		}
		if (row->entity->kind == WATT_ENTITY_PROCESS ||
		    row->entity->kind == WATT_ENTITY_EXITED)
			owned_nj += watt_energy_to_nj(row->energy[d]);
		if (row->entity->kind == WATT_ENTITY_USER) {
			users_nj += watt_energy_to_nj(row->energy[d]);
			users_window_nj += row->window_nj[d];
		}
	}
	assert_int_equal(all_nj, watt_energy_to_nj(s->energy));
	assert_int_equal(window_nj, s->window_nj);
	assert_int_equal(users_nj, owned_nj);
	assert_true(users_window_nj <= window_nj);
}

static bool is_one(const struct watt_row *row)
{
	return row->entity->kind == WATT_ENTITY_PROCESS ||
	       (row->entity->kind == WATT_ENTITY_THREAD && row->entity->identity);
}

/* The row's window begins where the row of the snapshot before ended. */
static void check_row(const struct reader *reader, const struct watt_row *row)
{
	const struct watt_row *last;
	size_t d;

	if (!reader->last || !is_one(row))
		return;
	last = watt_snapshot_find_row(reader->last, row->entity->id);
	for (d = 0; d < N_DOMAINS; d++)
		assert_int_equal(watt_energy_to_nj(row->energy[d]) - row->window_nj[d],
				 last ? watt_energy_to_nj(last->energy[d]) : 0);
	assert_int_equal(row->cpu_ns - row->window_cpu_ns, last ? last->cpu_ns : 0);
}

static enum life *find_life(struct reader *reader, uint64_t id)
{
	size_t *position = watt_idmap_get(&reader->entities, id);

	assert_non_null(position);
	if (*position == WATT_IDMAP_NONE) {
		*position = reader->entities.n - 1;
		assert_true(*position < MAX_IDS);
		reader->ids[*position] = id;
	}
	return &reader->lives[*position];
}

/* Who was shown is shown gone, once or as long as energy may come, and then never again. */
static void check_life(struct reader *reader, const struct watt_snapshot *snap)
{
	enum life *life;
	size_t i;

	for (i = 0; i < watt_snapshot_get_row_count(snap); i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (!is_one(row))
			continue;
		life = find_life(reader, row->entity->id);
		assert_int_not_equal(*life, OVER);
		if (row->entity->alive)
			assert_int_not_equal(*life, GONE);
		*life = row->entity->alive ? ALIVE : GONE;
	}
	for (i = 0; i < reader->entities.n; i++) {
		if (watt_snapshot_find_row(snap, reader->ids[i]))
			continue;
		assert_int_not_equal(reader->lives[i], ALIVE);
		reader->lives[i] = OVER;
	}
}

/* A process is the sum of its threads, for everybody who looks. */
static void check_threads(const struct watt_snapshot *snap, size_t d)
{
	size_t n = watt_snapshot_get_row_count(snap), i, k;

	for (i = 0; i < n; i++) {
		const struct watt_row *process = watt_snapshot_get_row(snap, i);
		int64_t all_nj = 0, window_nj = 0;

		if (process->entity->kind != WATT_ENTITY_PROCESS)
			continue;
		for (k = 0; k < n; k++) {
			const struct watt_row *row = watt_snapshot_get_row(snap, k);

			if (row->entity->kind != WATT_ENTITY_THREAD ||
			    row->entity->parent_id != process->entity->id)
				continue;
			all_nj += watt_energy_to_nj(row->energy[d]);
			window_nj += row->window_nj[d];
		}
		assert_int_equal(all_nj, watt_energy_to_nj(process->energy[d]));
		assert_int_equal(window_nj, process->window_nj[d]);
	}
}

static void note_open(struct reader *reader, const struct bench *b)
{
	size_t d;

	for (d = 0; d < N_DOMAINS; d++) {
		reader->open_nj[d] = (int64_t)b->at->ledgers[d].energy_nj;
		reader->open_idle_nj[d] = (int64_t)b->at->ledgers[d].idle_nj;
	}
}

static void read_and_check(struct reader *reader, const struct bench *b)
{
	struct watt_snapshot *snap = look(b, reader->id);
	size_t d, i;

	for (d = 0; d < N_DOMAINS; d++) {
		const struct watt_domain_state *s = watt_snapshot_get_domain_state(snap, d);

		check_conserved(snap, d);
		if (b->at->accounts.has_threads)
			check_threads(snap, d);
		reader->sum_nj[d] += s->window_nj;
		reader->sum_idle_nj[d] += s->window_idle_nj;
		assert_int_equal(reader->open_nj[d] + reader->sum_nj[d],
				 watt_energy_to_nj(s->energy));
		assert_int_equal(reader->open_idle_nj[d] + reader->sum_idle_nj[d],
				 watt_energy_to_nj(s->idle));
	}
	for (i = 0; i < watt_snapshot_get_row_count(snap); i++)
		check_row(reader, watt_snapshot_get_row(snap, i));
	check_life(reader, snap);
	if (reader->last) {
		assert_int_equal(watt_snapshot_get_window_start_ns(snap),
				 watt_snapshot_get_time_ns(reader->last));
		assert_int_equal(watt_snapshot_get_sequence(snap),
				 watt_snapshot_get_sequence(reader->last) + 1);
	}
	watt_snapshot_unref(reader->last);
	reader->last = snap;
}

static void open_reader(struct reader *reader, const struct bench *b, uint32_t id)
{
	*reader = (struct reader){ .id = id };
	reader->lives = calloc(MAX_IDS, sizeof(*reader->lives));
	reader->ids = calloc(MAX_IDS, sizeof(*reader->ids));
	assert_true(reader->lives && reader->ids);
	if (id)
		assert_int_equal(watt_attrib_open_cursor(b->at, id, b->t_ms * MS), 0);
	note_open(reader, b);
}

static void close_reader(struct reader *reader, const struct bench *b)
{
	if (reader->id)
		assert_int_equal(watt_attrib_close_cursor(b->at, reader->id), 0);
	watt_snapshot_unref(reader->last);
	watt_idmap_done(&reader->entities);
	free(reader->ids);
	free(reader->lives);
}

/* ---- anything, in any order ---- */

static void live(struct bench *b)
{
	uint32_t pid;

	for (pid = 0; pid < N_PIDS; pid++) {
		uint32_t what = rnd(b, 100);
		struct watt_usage *u;

		if (rnd(b, 3))
			continue;
		b->cpu_ms[pid] += rnd(b, 50);
		if (what < 10)
			b->cgroups[pid] = rnd(b, 6);
		u = add(b,
			what < 8  ? WATT_USAGE_FREE :
			what < 11 ? WATT_USAGE_EXEC :
				    WATT_USAGE_TASK,
			pid + 2, b->cpu_ms[pid]);
		/* numbers are used again */
		u->start_ns = u->leader_start_ns =
			5000 + b->generation[pid] * 100ULL * N_PIDS + pid;
		u->cgroup_id = b->cgroups[pid];
		u->parent_tgid = 0;
		snprintf(u->comm, sizeof(u->comm), "n%u", pid % 7);
		if (u->kind == WATT_USAGE_FREE) {
			b->generation[pid]++;
			b->cpu_ms[pid] = 0;
		}
	}
	if (rnd(b, 7) == 0) {
		struct watt_cgroup cgroup = { .id = rnd(b, 6), .path = "/x", .unit = "u.service" };

		watt_attrib_set_cgroup(b->at, &cgroup);
	}
}

/* Threads come and go. */
static void live_threads(struct bench *b)
{
	uint32_t pid;

	for (pid = 0; pid < N_PIDS; pid += 3) {
		uint32_t t = rnd(b, 3);
		struct watt_usage *u;

		b->thread_ms[pid][t] += rnd(b, 30);
		u = add(b, rnd(b, 4) ? WATT_USAGE_TASK : WATT_USAGE_FREE, pid + 2,
			b->thread_ms[pid][t]);
		u->tid = 100 + pid * 3 + t;
		u->start_ns = 900000 + b->n_threads[pid][t];
		u->leader_start_ns = 5000 + b->generation[pid] * 100ULL * N_PIDS + pid;
		u->cgroup_id = b->cgroups[pid];
		u->parent_tgid = 0;
		if (u->kind != WATT_USAGE_FREE)
			continue;
		b->n_threads[pid][t]++;
		b->thread_ms[pid][t] = 0;
	}
}

/* Paces are 1, 2, 3, 5, 8 and 13 slices; some come late, and go and come again. */
static void run_anything(bool has_threads)
{
	static const uint32_t paces[N_READERS] = { 1, 2, 3, 5, 8, 13 };
	struct reader readers[N_READERS];
	uint32_t step, r, next_id = 100;
	struct bench b;

	open_bench(&b);
	if (has_threads)
		assert_int_equal(watt_attrib_show_threads(b.at), 0);
	for (r = 0; r < N_READERS; r++)
		open_reader(&readers[r], &b, r);
	for (step = 1; step < 400; step++) {
		live(&b);
		if (has_threads)
			live_threads(&b);
		end_slice(&b);
		for (r = 0; r < N_READERS; r++)
			if (step % paces[r] == 0)
				read_and_check(&readers[r], &b);
		if (step % 40 == 0) {
			r = 1 + rnd(&b, N_READERS - 1);
			close_reader(&readers[r], &b);
			if (rnd(&b, 2))
				live(&b), end_slice(&b);
			open_reader(&readers[r], &b, next_id++);
		}
	}
	for (r = 0; r < N_READERS; r++) {
		read_and_check(&readers[r], &b);
		close_reader(&readers[r], &b);
	}
	close_bench(&b);
}

static void test_anything(void **state)
{
	run_anything(false);
	(void)state;
}

static void test_anything_with_threads(void **state)
{
	run_anything(true);
	(void)state;
}

/* ---- one thing at a time ---- */

/* A process that dies between the looks of two is shown gone to each of them once. */
static void test_last_row(void **state)
{
	struct watt_snapshot *snap;
	const struct watt_row *row;
	struct bench b;
	uint64_t id;
	int64_t nj;

	open_bench(&b);
	assert_int_equal(watt_attrib_open_cursor(b.at, 1, 0), 0);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 50);
	end_slice(&b);
	snap = look(&b, 0);
	id = of_kind(snap, WATT_ENTITY_PROCESS)->entity->id;
	watt_snapshot_unref(snap);
	watt_snapshot_unref(look(&b, 1));
	add(&b, WATT_USAGE_FREE, 10, 100);
	end_slice(&b);
	end_slice(&b);
	end_slice(&b);
	end_slice(&b);
	end_slice(&b); /* dram was three slices late: all is there */
	snap = look(&b, 0);
	row = watt_snapshot_find_row(snap, id);
	assert_non_null(row);
	assert_int_equal(row->entity->alive, 0);
	nj = watt_energy_to_nj(row->total);
	assert_null(of_kind(snap, WATT_ENTITY_EXITED));
	watt_snapshot_unref(snap);
	assert_int_equal(watt_attrib_gone_count(b.at), 1);

	/* the first one has seen it: it sees it among the exited; the second one has not */
	snap = look(&b, 0);
	assert_null(watt_snapshot_find_row(snap, id));
	row = of_kind(snap, WATT_ENTITY_EXITED);
	assert_non_null(row);
	assert_int_equal(watt_energy_to_nj(row->total), nj);
	assert_int_equal(row->window_total_nj, 0);
	assert_int_equal(row->entity->count, 1);
	assert_int_equal(row->cpu_ns, 100 * MS);
	watt_snapshot_unref(snap);
	snap = look(&b, 1);
	row = watt_snapshot_find_row(snap, id);
	assert_non_null(row);
	assert_int_equal(row->entity->alive, 0);
	assert_int_equal(watt_energy_to_nj(row->total), nj);
	assert_int_equal(row->window_cpu_ns, 50 * MS);
	assert_null(of_kind(snap, WATT_ENTITY_EXITED));
	watt_snapshot_unref(snap);

	assert_int_equal(watt_attrib_gone_count(b.at), 0);
	snap = look(&b, 1);
	assert_null(watt_snapshot_find_row(snap, id));
	assert_int_equal(watt_energy_to_nj(of_kind(snap, WATT_ENTITY_EXITED)->total), nj);
	assert_int_equal(of_kind(snap, WATT_ENTITY_EXITED)->window_total_nj, 0);
	watt_snapshot_unref(snap);
	close_bench(&b);
	(void)state;
}

/* Nobody owes a row to who is gone or came later. */
static void test_close_lets_go(void **state)
{
	struct bench b;

	open_bench(&b);
	assert_int_equal(watt_attrib_open_cursor(b.at, 1, 0), 0);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 50);
	end_slice(&b);
	watt_snapshot_unref(look(&b, 0));
	watt_snapshot_unref(look(&b, 1));
	assert_int_equal(watt_attrib_open_cursor(b.at, 2, b.t_ms * MS), 0);
	add(&b, WATT_USAGE_FREE, 10, 60);
	for (int i = 0; i < 5; i++)
		end_slice(&b);
	watt_snapshot_unref(look(&b, 0));
	assert_int_equal(watt_attrib_gone_count(b.at), 1);
	assert_int_equal(watt_attrib_close_cursor(b.at, 1), 0);
	watt_snapshot_unref(look(&b, 0));
	assert_int_equal(watt_attrib_gone_count(b.at), 0);
	close_bench(&b);
	(void)state;
}

static void test_opened_late(void **state)
{
	struct watt_snapshot *snap;
	const struct watt_row *row;
	struct bench b;
	int i;

	open_bench(&b);
	end_slice(&b);
	for (i = 1; i <= 10; i++) {
		add(&b, WATT_USAGE_TASK, 10, (uint64_t)i * 50);
		end_slice(&b);
	}
	assert_int_equal(watt_attrib_open_cursor(b.at, 9, b.t_ms * MS), 0);
	for (; i <= 14; i++) {
		add(&b, WATT_USAGE_TASK, 10, (uint64_t)i * 50);
		end_slice(&b);
	}
	snap = look(&b, 9);
	assert_int_equal(watt_snapshot_get_window_start_ns(snap), 1100 * MS);
	assert_int_equal(watt_snapshot_get_sequence(snap), 1);
	row = of_kind(snap, WATT_ENTITY_PROCESS);
	assert_int_equal(row->window_cpu_ns, 200 * MS);
	assert_int_equal(row->window_nj[0], 400 * MS);
	assert_int_equal(row->window_nj[1], 400 * MS); /* other slices: dram is late */
	assert_int_equal(watt_snapshot_get_domain_state(snap, 0)->window_ns, 400 * MS);
	assert_int_equal(watt_energy_to_nj(row->energy[0]), 1400 * MS);
	watt_snapshot_unref(snap);

	/* the session's own window has not been touched */
	snap = look(&b, 0);
	assert_int_equal(of_kind(snap, WATT_ENTITY_PROCESS)->window_nj[0], 1400 * MS);
	assert_int_equal(watt_snapshot_get_sequence(snap), 1);
	watt_snapshot_unref(snap);
	close_bench(&b);
	(void)state;
}

/* The oldest are given up when thousands wait for a reader that does not come; nothing is lost. */
static void test_never_comes_back(void **state)
{
	static const uint32_t n = MAX_GONE + 100;
	struct watt_snapshot *snap;
	const struct watt_row *row;
	size_t n_gone = 0, i;
	struct bench b;
	uint32_t pid;

	open_bench(&b);
	assert_int_equal(watt_attrib_open_cursor(b.at, 1, 0), 0);
	end_slice(&b);
	for (pid = 2; pid < 2 + n; pid++)
		add(&b, WATT_USAGE_TASK, pid, 1);
	end_slice(&b);
	watt_snapshot_unref(look(&b, 1));
	for (pid = 2; pid < 2 + n; pid++)
		add(&b, WATT_USAGE_FREE, pid, 2);
	for (i = 0; i < 5; i++)
		end_slice(&b);
	watt_snapshot_unref(look(&b, 0));
	assert_int_equal(watt_attrib_gone_count(b.at), MAX_GONE);
	snap = look(&b, 1);
	for (i = 0; i < watt_snapshot_get_row_count(snap); i++)
		n_gone += watt_snapshot_get_row(snap, i)->entity->kind == WATT_ENTITY_PROCESS;
	assert_int_equal(n_gone, MAX_GONE);
	row = of_kind(snap, WATT_ENTITY_EXITED);
	assert_int_equal(row->entity->count, 100);
	assert_int_equal(row->window_cpu_ns, 100 * MS);
	check_conserved(snap, 0);
	check_conserved(snap, 1);
	watt_snapshot_unref(snap);
	close_bench(&b);
	(void)state;
}

/* A window that is wrong is found, whoever's it is. */
static void test_finds_what_is_wrong(void **state)
{
	const struct watt_look_opts opts = { .cursor = 1 };
	struct watt_snapshot *snap;
	struct bench b;
	size_t i;

	open_bench(&b);
	end_slice(&b);
	add(&b, WATT_USAGE_TASK, 10, 50);
	end_slice(&b);
	assert_int_equal(watt_attrib_open_cursor(b.at, 1, b.t_ms * MS), 0);
	for (i = 0; b.at->accounts.list[i]->kind != WATT_ENTITY_PROCESS; i++)
		;
	watt_account_get_base(b.at->accounts.list[i], 1)[0]++;
	watt_snapshot_unref(look(&b, 0));
	assert_int_equal(watt_attrib_snapshot(b.at, b.tl, &opts, &snap), 0);
	assert_int_equal(watt_snapshot_get_quality(snap)->check_failures, 1);
	watt_snapshot_unref(snap);
	close_bench(&b);
	(void)state;
}

static void test_mistakes(void **state)
{
	const struct watt_look_opts opts = { .cursor = 4 };
	struct watt_snapshot *snap = NULL;
	struct bench b;
	uint64_t t_ns;

	open_bench(&b);
	assert_int_equal(watt_attrib_open_cursor(b.at, 0, 0), -EEXIST);
	assert_int_equal(watt_attrib_close_cursor(b.at, 0), -EINVAL);
	assert_int_equal(watt_attrib_close_cursor(b.at, 4), -ESRCH);
	assert_int_equal(watt_attrib_snapshot(b.at, b.tl, &opts, &snap), -ESRCH);
	assert_int_equal(watt_attrib_window_start_ns(b.at, 4, &t_ns), -ESRCH);
	assert_null(snap);
	assert_int_equal(watt_attrib_open_cursor(b.at, 4, 0), 0);
	assert_int_equal(watt_attrib_open_cursor(b.at, 4, 0), -EEXIST);
	assert_int_equal(watt_attrib_window_start_ns(b.at, 4, &t_ns), 0);
	assert_int_equal(t_ns, 0);
	assert_int_equal(watt_attrib_close_cursor(b.at, 4), 0);
	assert_int_equal(watt_attrib_close_cursor(b.at, 4), -ESRCH);
	close_bench(&b);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_anything),
		cmocka_unit_test(test_anything_with_threads),
		cmocka_unit_test(test_last_row),
		cmocka_unit_test(test_close_lets_go),
		cmocka_unit_test(test_opened_late),
		cmocka_unit_test(test_never_comes_back),
		cmocka_unit_test(test_finds_what_is_wrong),
		cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
