/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the source and keeps the books. Its own process is the ancestor of what is tested. */
#include "usage_rig.h"

#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/unit.h"
#include "base/clock.h"
#include "base/util.h"
#include "source/config/config.h"

static struct watt_config config;
static struct watt_env env = { .config = &config };
static uint16_t slots[65536];
static struct watt_cpu_map map;
static uint16_t packages[RIG_CPUS];

static void print_log(void *data, enum watt_log_level level, const char *text)
{
	fprintf(stderr, "# %s\n", text);
}

const char *rig_why_not(void)
{
	static char why[600];
	struct watt_diag diag = { 0 };

	if (getenv("WATT_TEST_VERBOSE"))
		env.log.fn = print_log;
	if (watt_root_open(&env.procfs, "/proc") < 0 || watt_root_open(&env.sysfs, "/sys") < 0)
		return "no /proc or /sys";
	if (watt_activity_bpf.probe(&env, &diag) == 0)
		return NULL;
	snprintf(why, sizeof(why), "%s; %s", diag.why, diag.hint);
	return why;
}

void rig_set_sysfs(const char *path)
{
	watt_root_close(&env.sysfs);
	assert_int_equal(watt_root_open(&env.sysfs, path), 0);
}

static int physical_package(uint32_t cpu)
{
	char path[96];
	int id = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
		 cpu);
	file = fopen(path, "re");
	if (file && fscanf(file, "%d", &id) != 1)
		id = 0;
	if (file)
		fclose(file);
	return id;
}

/* Packages are numbered in the order of their first CPUs. */
static void find_packages(uint32_t n_cpus)
{
	int ids[RIG_CPUS];
	uint16_t n = 0;

	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		int id = physical_package(cpu);

		for (packages[cpu] = 0; packages[cpu] < n && ids[packages[cpu]] != id;)
			packages[cpu]++;
		if (packages[cpu] == n)
			ids[n++] = id;
	}
	for (uint32_t cpu = 0; n == 1 && cpu < n_cpus; cpu++)
		packages[cpu] = (uint16_t)cpu;
}

uint16_t rig_package(uint32_t cpu)
{
	return packages[cpu];
}

static uint16_t slot_of(uint32_t cpu, enum rig_split split)
{
	if (split == RIG_BY_CPU)
		return (uint16_t)cpu;
	if (split == RIG_LATE && packages[cpu])
		return WATT_SLOT_NONE;
	return split == RIG_BY_PACKAGE ? packages[cpu] : 0;
}

struct rig *rig_open(enum watt_bpf_mode mode, enum rig_split split)
{
	return rig_open_sized(mode, split, NULL);
}

static void fill_map(enum rig_split split)
{
	map.n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	map.n_slots = 1;
	map.slot = slots;
	assert_true(map.n_cpus <= RIG_CPUS);
	find_packages(map.n_cpus);
	for (uint32_t cpu = 0; cpu < map.n_cpus; cpu++) {
		slots[cpu] = slot_of(cpu, split);
		if (slots[cpu] != WATT_SLOT_NONE && slots[cpu] >= map.n_slots)
			map.n_slots = slots[cpu] + 1u;
	}
	map.is_whole = split == RIG_LATE;
	if (map.is_whole)
		map.n_slots = map.n_cpus;
}

int rig_open_object(struct watt_bpf_object *object, enum watt_bpf_mode mode,
		    const struct watt_bpf_sizes *sizes)
{
	fill_map(RIG_WHOLE);
	return watt_bpf_object_open(object, &env, &map, mode, sizes);
}

struct rig *rig_open_sized(enum watt_bpf_mode mode, enum rig_split split,
			   const struct watt_bpf_sizes *sizes)
{
	struct watt_activity_source *source;
	struct rig *rig;
	int r;

	fill_map(split);
	r = watt_usage_bpf_open_mode(&env, &map, mode, sizes, &source);
	if (r < 0) {
		fprintf(stderr, "open: %s\n", strerror(-r));
		/* who knows the kernel knows that it can */
		if (getenv("WATT_TEST_ALL_WAYS"))
			fail_msg("this kernel walks over tasks in every way");
		return NULL;
	}
	rig = calloc(1, sizeof(*rig));
	assert_non_null(rig);
	rig->source = source;
	rig->mode = mode;
	rig->split = split;
	rig->n_slots = 1u << 16;
	rig->tasks = calloc(rig->n_slots, sizeof(struct rig_task *));
	rig->n_latest = 1u << 22;
	rig->latest = calloc(rig->n_latest, sizeof(struct rig_task *));
	return rig;
}

void rig_bring(struct rig *rig)
{
	for (uint32_t cpu = 0; cpu < map.n_cpus; cpu++) {
		if (slots[cpu] != WATT_SLOT_NONE)
			continue;
		slots[cpu] = packages[cpu];
		rig->source->ops->place_cpu(rig->source, cpu, slots[cpu]);
	}
}

void rig_close(struct rig *rig)
{
	rig->source->ops->close(rig->source);
	for (size_t i = 0; i < rig->n_slots; i++)
		free(rig->tasks[i]);
	free(rig->tasks);
	free(rig->latest);
	free(rig);
}

/* The place of a task, or the one that it would have. */
static struct rig_task **find_task(const struct rig *rig, uint32_t tid, uint64_t start_ns)
{
	size_t i = (size_t)watt_hash_u64(start_ns ^ (uint64_t)tid << 32) & (rig->n_slots - 1);

	while (rig->tasks[i] && (rig->tasks[i]->tid != tid || rig->tasks[i]->start_ns != start_ns))
		i = (i + 1) & (rig->n_slots - 1);
	return &rig->tasks[i];
}

static struct rig_task *get_task(struct rig *rig, const struct watt_usage *record)
{
	struct rig_task **place = find_task(rig, record->tid, record->start_ns), *task = *place;

	if (task)
		return task;
	assert_true(++rig->n_tasks < rig->n_slots / 2);
	task = calloc(1, sizeof(*task));
	assert_non_null(task);
	task->tid = record->tid;
	task->start_ns = record->start_ns;
	*place = task;
	rig->latest[record->tid] = task;
	return task;
}

static bool is_ours(struct rig *rig, const struct watt_usage *record)
{
	uint32_t kin = record->tid == record->tgid ? record->parent_tgid : record->tgid;

	if (kin == (uint32_t)getpid())
		return true;
	return rig->latest[kin] && rig->latest[kin]->is_ours;
}

/* The time since the last record of a task belongs to the CPU that the record speaks of. */
static void take_time(struct rig_task *task, const struct watt_usage *record)
{
	bool is_known = task->is_forked || task->n_told;

	if (record->cpu_ns < task->cpu_ns) {
		task->has_backward = true;
		return;
	}
	assert_true(record->cpu < RIG_CPUS);
	if (is_known)
		task->slot_ns[record->cpu] += record->cpu_ns - task->cpu_ns;
	task->cpu_ns = record->cpu_ns;
}

static void take_event(struct rig *rig, struct rig_task *task, const struct watt_usage *record)
{
	assert_true(record->kind <= WATT_USAGE_CGROUP);
	task->n_events[record->kind] += record->t_ns >= rig->mark_ns;
	switch (record->kind) {
	case WATT_USAGE_TASK:
		assert_false(task->is_freed);
		task->n_told++;
		break;
	case WATT_USAGE_FORK:
		assert_false(task->is_forked || task->n_told);
		task->is_forked = true;
		task->is_ours = is_ours(rig, record);
		break;
	case WATT_USAGE_EXEC:
		memcpy(task->exec_comm, record->comm, sizeof(task->exec_comm));
		break;
	case WATT_USAGE_EXIT:
		task->is_exited = true;
		task->exit_ns = record->t_ns;
		break;
	case WATT_USAGE_FREE:
		assert_false(task->is_freed);
		task->is_freed = true;
		task->free_ns = record->cpu_ns;
		break;
	default:
		break;
	}
}

static void take(struct rig *rig, const struct watt_usage *record)
{
	struct rig_task *task = get_task(rig, record);

	assert_true(record->tid && record->tid < rig->n_latest && record->tgid);
	take_event(rig, task, record);
	if (record->kind != WATT_USAGE_EXIT)
		take_time(task, record);
	task->tgid = record->tgid;
	if (record->leader_start_ns) /* not known when the leader's memory is gone */
		task->leader_start_ns = record->leader_start_ns;
	task->cpu = record->cpu;
	if (record->parent_tgid)
		task->parent_tgid = record->parent_tgid;
	if (record->kind == WATT_USAGE_MIGRATE)
		return;
	task->flags = record->flags;
	task->uid = record->uid;
	task->cgroup_id = record->cgroup_id;
	memcpy(task->comm, record->comm, sizeof(task->comm));
}

void rig_sweep(struct rig *rig, bool is_full)
{
	int r = rig->source->ops->sweep(rig->source, is_full, &rig->batch);

	if (r < 0)
		fprintf(stderr, "sweep: %s\n", strerror(-r));
	assert_int_equal(r, 0);
	assert_true(rig->batch.lost >= rig->lost);
	rig->lost = rig->batch.lost;
	for (size_t i = 0; i < rig->batch.n_records; i++)
		take(rig, &rig->batch.records[i]);
}

void rig_mark(struct rig *rig)
{
	rig->mark_ns = watt_now_ns();
	for (size_t i = 0; i < rig->n_slots; i++) {
		struct rig_task *task = rig->tasks[i];

		if (task)
			memset(task->n_events, 0, sizeof(task->n_events));
	}
}

uint64_t rig_missing(const struct rig *one, const struct rig *other)
{
	static const struct rig_task nothing;
	uint64_t n = 0;

	for (size_t i = 0; i < one->n_slots; i++) {
		const struct rig_task *a = one->tasks[i], *b;

		if (!a)
			continue;
		b = *find_task(other, a->tid, a->start_ns);
		if (!b)
			b = &nothing;
		for (int kind = WATT_USAGE_TASK + 1; kind <= WATT_USAGE_CGROUP; kind++)
			if (a->n_events[kind] > b->n_events[kind])
				n += a->n_events[kind] - b->n_events[kind];
	}
	return n;
}

static bool is_unfreed(const struct rig_task *task)
{
	return task && task->is_ours && !task->is_freed;
}

static size_t count_unfreed(const struct rig *rig)
{
	size_t n = 0;

	for (size_t i = 0; i < rig->n_slots; i++)
		n += is_unfreed(rig->tasks[i]);
	return n;
}

static void print_unfreed(const struct rig *rig)
{
	for (size_t i = 0; i < rig->n_slots; i++) {
		const struct rig_task *task = rig->tasks[i];

		if (is_unfreed(task))
			fprintf(stderr, "never freed: %u of %u (%s), %u ns, told %u times%s\n",
				task->tid, task->tgid, task->comm, (unsigned int)task->cpu_ns,
				task->n_told, task->is_exited ? ", exited" : "");
	}
}

bool rig_may_lose(void)
{
	struct utsname name;

	return uname(&name) == 0 && atoi(name.release) >= 7;
}

/* Sweeps now and then until it is over; false: in vain. */
static bool sweep_until(struct rig *rig, bool (*is_over)(const struct rig *rig, size_t n), size_t n)
{
	for (int i = 0; i < 1500; i++) {
		rig_sweep(rig, false);
		if (is_over(rig, n))
			return true;
		usleep(20000);
	}
	return false;
}

static bool are_freed(const struct rig *rig, size_t n)
{
	return count_unfreed(rig) <= rig->lost;
}

bool rig_wait_freed(struct rig *rig)
{
	if (sweep_until(rig, are_freed, 0))
		return true;
	print_unfreed(rig);
	return false;
}

static bool are_counted(const struct rig *rig, size_t n)
{
	return rig_ours_count(rig) + rig->lost >= n;
}

bool rig_wait_count(struct rig *rig, size_t n)
{
	return sweep_until(rig, are_counted, n);
}

struct rig_task *rig_latest(struct rig *rig, pid_t tid)
{
	return rig->latest[tid];
}

const struct watt_usage *rig_record(struct rig *rig, pid_t tid, uint16_t kind)
{
	for (size_t i = 0; i < rig->batch.n_records; i++) {
		const struct watt_usage *record = &rig->batch.records[i];

		if (record->tid == (uint32_t)tid && record->kind == kind)
			return record;
	}
	return NULL;
}

uint64_t rig_ours_ns(const struct rig *rig)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < rig->n_slots; i++) {
		if (rig->tasks[i] && rig->tasks[i]->is_ours)
			sum_ns += rig->tasks[i]->cpu_ns;
	}
	return sum_ns;
}

size_t rig_ours_count(const struct rig *rig)
{
	size_t n = 0;

	for (size_t i = 0; i < rig->n_slots; i++)
		n += rig->tasks[i] && rig->tasks[i]->is_ours;
	return n;
}

void child_burn_ns(uint64_t ns)
{
	uint64_t end_ns = watt_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (watt_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		for (volatile int i = 0; i < 20000; i++)
			;
}

void child_spin(void *ns)
{
	child_burn_ns(*(uint64_t *)ns);
}

void child_pause(void *nothing)
{
	pause();
}

pid_t child_spawn(void (*fn)(void *), void *data)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		fn(data);
		_exit(0);
	}
	return pid;
}

void child_reap(pid_t pid)
{
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

bool child_is_dead(pid_t pid)
{
	siginfo_t info = { 0 };

	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG), 0);
	return info.si_pid == pid;
}

void child_reap_settled(pid_t pid, struct rusage *ret)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	usleep(20000);
	assert_int_equal(wait4(pid, NULL, 0, ret), pid);
}

void child_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	child_reap(pid);
}
