/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a sweep in: keeps the task tables and puts CPU time into slices.
 *
 * A task's time goes into the slice that ends with the sweep that saw it. A task that died puts
 * its last word into the slice in which it began to die, however late the word comes, as long as
 * that slice waits; afterwards it goes into the newest one and is counted as late.
 */
#include "attrib/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/reserve.h"
#include "base/util.h"

static uint32_t slot_of(const struct watt_attrib *at, uint32_t cpu)
{
	return cpu < at->n_cpus ? at->cpu_slot[cpu] : at->n_slots;
}

/* Clocks of sweeps and of CPU time are not read at one instant. */
#define SLACK_NS 1000000000ULL

#define MIN_TIDY 1024

/* Nobody can name those who are gone. New ones go on top, so they would lie there for ever. */
static void tidy_asks(struct watt_attrib *at)
{
	struct watt_asks *asks = &at->asks;
	size_t i, n = 0;

	if (asks->n_processes < WATT_MAX((size_t)MIN_TIDY, asks->tidy_at_n))
		return;
	for (i = 0; i < asks->n_processes; i++) {
		struct watt_process_ask ask = asks->processes[i];

		if (watt_tasks_find_process(&at->tasks, ask.pid, ask.start_ns))
			asks->processes[n++] = ask;
	}
	asks->n_processes = n;
	asks->tidy_at_n = 2 * n;
}

static int ask_name(struct watt_attrib *at, struct watt_process *process)
{
	struct watt_asks *asks = &at->asks;
	int r;

	if (process->is_asked || process->pid & WATT_USAGE_OUTSIDE)
		return 0;
	tidy_asks(at);
	r = watt_grow((void **)&asks->processes, &asks->cap_processes, asks->n_processes,
		      sizeof(*asks->processes));
	if (r < 0)
		return r;
	asks->processes[asks->n_processes++] =
		(struct watt_process_ask){ process->pid, process->start_ns };
	process->is_asked = true;
	return 0;
}

/* All that are named, in place of those that wait for it: those have records to come. */
int watt_sweep_ask_again(struct watt_attrib *at)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;
	int r;

	at->asks.n_processes = 0;
	while ((node = watt_htab_iterate(&at->tasks.processes, &it))) {
		struct watt_process *process = watt_container_of(node, struct watt_process, node);

		if (!process->is_asked)
			continue;
		process->is_asked = false;
		r = ask_name(at, process);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The name a process has before anybody looked it up: what usage says. */
static struct watt_name *plain_name(const struct watt_process *process)
{
	struct watt_identity identity = {
		.pid = process->pid,
		.parent_pid = process->parent_pid,
		.start_ns = process->start_ns,
		.uid = process->uid,
		.missing = WATT_IDENTITY_EXE | WATT_IDENTITY_CMDLINE,
	};

	if (process->flags & WATT_USAGE_NO_UID)
		identity.missing |= WATT_IDENTITY_UID;
	memcpy(identity.comm, process->comm, sizeof(identity.comm));
	return watt_name_new_identity(&identity);
}

/* The process became another program: what was known of the one before no longer holds. */
static int rename_account(struct watt_process *process)
{
	struct watt_account *account = process->account;
	struct watt_name *name;

	if (process->is_asked ||
	    !memcmp(account->name->identity.comm, process->comm, sizeof(process->comm)))
		return 0;
	name = plain_name(process);
	if (!name)
		return -ENOMEM;
	watt_name_unref(account->name);
	account->name = name;
	return 0;
}

/* Who is outside of our pid namespace is nobody that we could name: all are one. */
static int join_outside(struct watt_attrib *at, struct watt_process *process)
{
	if (process->account)
		return 0;
	if (!at->outside)
		at->outside = watt_groups_add_outside(at);
	if (!at->outside)
		return -ENOMEM;
	process->account = at->outside;
	process->account->users++;
	return 0;
}

static int open_account(struct watt_attrib *at, struct watt_process *process)
{
	bool is_kthread = process->flags & WATT_USAGE_KTHREAD;

	if (process->pid & WATT_USAGE_OUTSIDE)
		return join_outside(at, process);
	if (process->account)
		return rename_account(process);
	process->account = watt_accounts_add(&at->accounts,
					     is_kthread ? WATT_ENTITY_KTHREAD : WATT_ENTITY_PROCESS,
					     plain_name(process));
	if (!process->account)
		return -ENOMEM;
	process->account->users++;
	process->account->count = 1;
	return 0;
}

static void set_sum(struct watt_account **sum, struct watt_account *to)
{
	size_t i;

	if (*sum == to)
		return;
	if (*sum) {
		(*sum)->users--;
		(*sum)->inside--;
	}
	*sum = to;
	if (!to)
		return;
	to->users++;
	to->inside++;
	to->count++;
	for (i = 0; i < WATT_ACCOUNT_UPS && to->up[i]; i++)
		to->up[i]->count++;
}

/* The sums that a process counts for now. */
static void update_sums(struct watt_attrib *at, struct watt_process *process)
{
	struct watt_account *owner = process->owner, *cgroup = process->cgroup;
	bool is_news;

	if (process->flags & WATT_USAGE_KTHREAD)
		owner = at->kernel;
	else if (!(process->flags & WATT_USAGE_NO_UID))
		owner = watt_groups_get_user(at, process->uid);
	if (!(process->flags & WATT_USAGE_NO_CGROUP))
		cgroup = watt_groups_get_cgroup(at, process->cgroup_id,
						process->flags & WATT_USAGE_CGROUP_V1,
						process->pid);
	is_news = (owner && !process->owner) || (cgroup && !process->cgroup);
	set_sum(&process->owner, owner);
	set_sum(&process->cgroup, cgroup);
	if (is_news && process->account && process->had_threads &&
	    watt_process_has_threads(at, process))
		watt_threads_join(at, process);
	if (process->account) {
		process->account->parent_id = cgroup ? cgroup->id : 0;
		process->account->tracked_id = process->tracked ? process->tracked->id : 0;
		if (cgroup && process->account->cgroup != cgroup->name) {
			watt_name_unref(process->account->cgroup);
			process->account->cgroup = watt_name_ref(cgroup->name);
		}
	}
}

struct watt_member *watt_sweep_get_actor(struct watt_attrib *at, struct watt_process *process)
{
	if (watt_process_has_threads(at, process))
		return watt_thread_get_rest(at, process, WATT_THREADS_UNKNOWN);
	return watt_member_get(&at->accounts, process->account,
			       (struct watt_account *const[WATT_MEMBER_SUMS]){
				       [WATT_MEMBER_CGROUP] = process->cgroup,
				       [WATT_MEMBER_OWNER] = process->owner,
				       [WATT_MEMBER_TRACKED] = process->tracked,
			       });
}

/* Who ran: the process, one of its threads, or (task NULL) those that have ended. */
static struct watt_member *runner_of(struct watt_attrib *at, struct watt_process *process,
				     struct watt_task *task, const struct watt_usage *u,
				     struct watt_last_use **ret_last_use)
{
	struct watt_member *runner;

	*ret_last_use = &process->last_use;
	if (!watt_process_has_threads(at, process) || process->account == at->outside)
		return watt_sweep_get_actor(at, process);
	if (!task)
		return watt_thread_get_rest(at, process, WATT_THREADS_ENDED);
	runner = watt_thread_get_actor(at, task, u->comm);
	if (runner)
		*ret_last_use = &task->thread->last_use;
	return runner;
}

static int add_time(struct watt_attrib *at, struct watt_process *process, struct watt_task *task,
		    struct watt_slice *slice, const struct watt_usage *u, uint64_t cpu_ns)
{
	struct watt_use use = { .amount = cpu_ns, .place = slot_of(at, u->cpu) };
	struct watt_last_use *last;
	uint32_t index;
	int r;

	r = open_account(at, process);
	if (r == 0)
		r = ask_name(at, process);
	if (r < 0)
		return r;
	update_sums(at, process);
	use.actor = runner_of(at, process, task, u, &last);
	if (!use.actor)
		return -ENOMEM;
	index = last->slice_seq == slice->seq ? last->index : 0;
	r = watt_slice_add_use(slice, WATT_ACTIVITY_CPU_TIME, &use, &index);
	if (r < 0)
		return r;
	if (slice->seq >= last->slice_seq)
		*last = (struct watt_last_use){ slice->seq, index };
	watt_member_add_cpu(use.actor, cpu_ns);
	watt_nobody_add_seen(at, use.place, cpu_ns);
	at->quality.busy_ns += cpu_ns;
	return 0;
}

bool watt_sweep_is_possible(const struct watt_attrib *at, uint64_t cpu_ns)
{
	uint64_t wall_ns = at->last_sweep_ns - at->first_sweep_ns + SLACK_NS;

	return cpu_ns <= (watt_u128)wall_ns * WATT_MAX(at->n_cpus, 1u);
}

/* Brings the task's curve up to cpu_ns. It never goes down: what was extrapolated stays. */
static int account_task(struct watt_attrib *at, struct watt_task *task, struct watt_slice *slice,
			const struct watt_usage *u)
{
	int r;

	if (u->cpu_ns <= task->cpu_ns)
		return 0;
	if (!watt_sweep_is_possible(at, u->cpu_ns - task->cpu_ns)) {
		at->quality.damaged_records++;
		task->cpu_ns = u->cpu_ns;
		return 0;
	}
	r = add_time(at, task->process, task, slice, u, u->cpu_ns - task->cpu_ns);
	if (r == 0)
		task->cpu_ns = u->cpu_ns;
	return r;
}

static bool is_any_alive(const struct watt_attrib *at, const struct watt_account *tracked)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;

	while ((node = watt_htab_iterate(&at->tasks.processes, &it)))
		if (watt_container_of(node, struct watt_process, node)->tracked == tracked)
			return true;
	return false;
}

/*
 * Whether a child of the measuring process, seen for the first time, was born to somebody of the
 * set that is followed, and came to us when its parent died. What is told at its birth tells its
 * parent; and who has left nobody behind has no orphans.
 */
static bool is_orphan(const struct watt_attrib *at, const struct watt_usage *u)
{
	return at->adopt_into && u->parent_tgid == at->self_pid && u->kind != WATT_USAGE_FORK &&
	       is_any_alive(at, at->adopt_into);
}

static void inherit(struct watt_attrib *at, struct watt_process *process,
		    const struct watt_usage *u)
{
	struct watt_process *parent;

	if (!u->parent_tgid || u->parent_tgid == u->tgid)
		return;
	parent = watt_tasks_find_pid(&at->tasks, u->parent_tgid);
	if (parent && parent->tracked) {
		set_sum(&process->tracked, parent->tracked);
	} else if (is_orphan(at, u)) {
		set_sum(&process->tracked, at->adopt_into);
		process->is_adopted = true;
	}
}

/*
 * A task that is seen for the first time brings all its time if it was born in this session, and
 * none if it is older: what it used before is not ours to give.
 */
static bool is_older_than_session(const struct watt_attrib *at, const struct watt_usage *u)
{
	return u->start_ns <= at->tasks.newest_start_ns;
}

static void note_first_sweep(struct watt_attrib *at, const struct watt_usage *u)
{
	if (!at->had_sweep && u->kind == WATT_USAGE_TASK)
		at->tasks.newest_start_ns = WATT_MAX(at->tasks.newest_start_ns, u->start_ns);
}

/* Start times that the kernel rounds to its clock ticks are not those to the ns. */
#define START_SLACK_NS 20000000ULL

static bool is_start(uint64_t start_ns, uint64_t told_ns)
{
	return !told_ns ||
	       (start_ns > told_ns ? start_ns - told_ns : told_ns - start_ns) <= START_SLACK_NS;
}

static int find_departed(const struct watt_attrib *at, uint32_t pid, uint64_t start_ns,
			 struct watt_member **ret, uint64_t *ret_start_ns)
{
	size_t i = at->departures.n;

	while (i-- > 0) {
		const struct watt_departed *departed = &at->departures.list[i];

		if (departed->pid != pid || !is_start(departed->start_ns, start_ns))
			continue;
		*ret = departed->actor;
		*ret_start_ns = departed->start_ns;
		return 0;
	}
	return -ESRCH;
}

int watt_sweep_find_actor(struct watt_attrib *at, uint32_t pid, uint64_t start_ns,
			  struct watt_member **ret, uint64_t *ret_start_ns)
{
	struct watt_process *process = watt_tasks_find_pid(&at->tasks, pid);
	int r;

	if (!process || !is_start(process->start_ns, start_ns))
		return find_departed(at, pid, start_ns, ret, ret_start_ns);
	r = open_account(at, process);
	if (r == 0)
		r = ask_name(at, process);
	if (r < 0)
		return r;
	update_sums(at, process);
	*ret = watt_sweep_get_actor(at, process);
	*ret_start_ns = process->start_ns;
	return *ret ? 0 : -ENOMEM;
}

static void close_process(struct watt_attrib *at, struct watt_process *process)
{
	struct watt_departed departed = { .pid = process->pid,
					  .start_ns = process->start_ns,
					  .end_ns = at->last_sweep_ns };

	if (process->account && watt_activities_have_places(at)) {
		departed.actor = watt_sweep_get_actor(at, process);
		watt_activities_depart(at, &departed);
	}
	if (process->account && process->account != at->outside) {
		watt_threads_close(process);
		process->account->is_alive = false;
	}
	if (process->account)
		process->account->users--;
	set_sum(&process->cgroup, NULL);
	set_sum(&process->owner, NULL);
	set_sum(&process->tracked, NULL);
	watt_tasks_remove_process(&at->tasks, process);
}

static void settle(struct watt_attrib *at, struct watt_task *task)
{
	struct watt_slice *slice = watt_slices_find(&at->slices, task->pending_slice);

	if (slice && slice->pending)
		slice->pending--;
	else if (task->pending_slice == at->slices.next_seq && at->slices.next_pending)
		at->slices.next_pending--;
	task->pending_slice = 0;
}

static void remove_task(struct watt_attrib *at, struct watt_task *task)
{
	struct watt_process *process = task->process;

	settle(at, task);
	watt_thread_close(task);
	watt_tasks_remove(&at->tasks, task);
	if (!process->n_tasks)
		close_process(at, process);
}

static void begin_dying(struct watt_attrib *at, struct watt_task *task, uint64_t t_ns)
{
	struct watt_slice *slice;

	if (task->exit_ns)
		return;
	task->exit_ns = t_ns;
	at->tasks.n_dying++;
	slice = watt_slices_find_time(&at->slices, t_ns);
	if (slice) {
		slice->pending++;
		task->pending_slice = slice->seq;
	} else if (t_ns > at->last_sweep_ns) {
		at->slices.next_pending++;
		task->pending_slice = at->slices.next_seq;
	}
}

/* The last word of a task goes where it died. */
static int last_word(struct watt_attrib *at, struct watt_task *task, struct watt_slice *newest,
		     const struct watt_usage *u)
{
	struct watt_slice *slice = watt_slices_find(&at->slices, task->pending_slice);

	if (!slice) {
		if (task->exit_ns && task->exit_ns <= newest->t0_ns && u->cpu_ns > task->cpu_ns)
			at->quality.late_cpu_ns += u->cpu_ns - task->cpu_ns;
		slice = newest;
	}
	return account_task(at, task, slice, u);
}

static int take_known(struct watt_attrib *at, struct watt_task *task, struct watt_slice *slice,
		      const struct watt_usage *u)
{
	int r = 0;

	switch ((enum watt_usage_kind)u->kind) {
	case WATT_USAGE_TASK:
		if (!(u->flags & WATT_USAGE_ZOMBIE))
			return account_task(at, task, slice, u);
		r = last_word(at, task, slice, u);
		settle(at, task);
		return r;
	case WATT_USAGE_MIGRATE:
		return account_task(at, task, slice, u);
	case WATT_USAGE_FREE:
		r = last_word(at, task, slice, u);
		remove_task(at, task);
		return r;
	case WATT_USAGE_EXIT:
		begin_dying(at, task, u->t_ns);
		return 0;
	case WATT_USAGE_FORK:
	case WATT_USAGE_EXEC:
	case WATT_USAGE_CGROUP:
		return 0;
	}
	return 0;
}

static void take_cgroup(struct watt_process *process, const struct watt_usage *u)
{
	if (!(u->flags & WATT_USAGE_NO_CGROUP))
		process->cgroup_id = u->cgroup_id;
}

/* Threads that nobody told of before they ended. A process that is older had some before us. */
static int take_ended(struct watt_attrib *at, struct watt_slice *slice, const struct watt_usage *u)
{
	struct watt_process *process =
		watt_tasks_find_process(&at->tasks, u->tgid, u->leader_start_ns);
	uint64_t cpu_ns;

	if (!process)
		return 0;
	if (!process->is_ended_counted && (!at->had_sweep || is_older_than_session(at, u)))
		process->ended_ns = u->cpu_ns;
	process->is_ended_counted = true;
	if (u->cpu_ns <= process->ended_ns)
		return 0;
	cpu_ns = u->cpu_ns - process->ended_ns;
	process->ended_ns = u->cpu_ns;
	if (watt_sweep_is_possible(at, cpu_ns))
		return add_time(at, process, NULL, slice, u, cpu_ns);
	at->quality.damaged_records++;
	return 0;
}

static int take_record(struct watt_attrib *at, struct watt_slice *slice, const struct watt_usage *u)
{
	bool task_is_new, process_is_new;
	struct watt_task *task;
	int r;

	if (u->kind == WATT_USAGE_EXEC && u->tid != u->tgid) {
		watt_tasks_exec_swap(&at->tasks, u);
		return 0;
	}
	if (u->flags & WATT_USAGE_ENDED)
		return take_ended(at, slice, u);
	note_first_sweep(at, u);
	task = watt_tasks_touch(&at->tasks, u, &task_is_new, &process_is_new);
	if (!task)
		return -ENOMEM;
	if (!at->had_sweep ||
	    (task_is_new && u->kind != WATT_USAGE_FORK && is_older_than_session(at, u)))
		task->cpu_ns = WATT_MAX(task->cpu_ns, u->cpu_ns);
	take_cgroup(task->process, u);
	if (process_is_new)
		inherit(at, task->process, u);
	r = watt_thread_rename(task, u->comm);
	return r < 0 ? r : take_known(at, task, slice, u);
}

/*
 * A death that was lost is believed after two full sweeps: who is taken for dead by mistake would
 * bring all its time once more. A dying task has left the list and may still send its last word.
 */
static bool is_lost(const struct watt_attrib *at, struct watt_task *task)
{
	uint32_t age = at->tasks.sweep - task->sweep;

	if (task->exit_ns)
		return age > 64;
	return age && ++task->n_unseen >= 2;
}

/* Tasks that are gone, and nobody said so. */
static void forget_unseen(struct watt_attrib *at)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;

	while ((node = watt_htab_iterate(&at->tasks.tasks, &it))) {
		struct watt_task *task = watt_container_of(node, struct watt_task, node);

		if (is_lost(at, task))
			remove_task(at, task);
	}
}

/* Possible CPUs can be many more than there are: only those that could run count as capacity. */
static void take_online(const struct watt_attrib *at, struct watt_slice *slice,
			const struct watt_usage_batch *batch)
{
	uint32_t *n_online = slice->uses[WATT_ACTIVITY_CPU_TIME].n_units;
	uint32_t i;

	for (i = 0; i < at->n_cpus; i++)
		if (!batch->n_cpus || (i < batch->n_cpus && batch->cpus[i].online))
			n_online[slot_of(at, i)]++;
}

/* Interrupts are nobody's: they are actors of their own. */
static int add_kernel_time(struct watt_slice *slice, struct watt_member *member, uint32_t slot,
			   uint64_t now_ns, uint64_t was_ns, uint32_t *use_index)
{
	struct watt_use use = { .actor = member, .place = slot };

	if (now_ns <= was_ns)
		return 0;
	use.amount = now_ns - was_ns;
	watt_member_add_cpu(member, use.amount);
	return watt_slice_add_use(slice, WATT_ACTIVITY_CPU_TIME, &use, use_index);
}

static int take_irq(struct watt_attrib *at, struct watt_slice *slice,
		    const struct watt_usage_batch *batch)
{
	size_t i, n = WATT_MIN(batch->n_cpus, at->cpus.n);
	uint32_t irq_use = 0, softirq_use = 0;
	int r = 0;

	if (!(batch->flags & WATT_BATCH_IRQ_SEPARATE))
		return 0;
	for (i = 0; i < n && r == 0; i++) {
		const struct watt_cpu_time *now = &batch->cpus[i], *was = &at->cpus.newest[i];
		uint32_t slot = slot_of(at, (uint32_t)i);

		if (!now->online || !was->online)
			continue;
		r = add_kernel_time(slice, at->softirq->members, slot, now->softirq_ns,
				    was->softirq_ns, &softirq_use);
		if (r == 0)
			r = add_kernel_time(slice, at->irq->members, slot, now->irq_ns, was->irq_ns,
					    &irq_use);
	}
	return r;
}

static void take_quality(struct watt_attrib *at, const struct watt_usage_batch *batch)
{
	struct watt_quality *q = &at->quality;

	q->lost_records = batch->lost;
	q->unseen_cpu_ns = batch->unseen_ns;
	q->usage_flags = batch->flags;
	q->sweeps++;
	q->sweep_cost_ns += batch->t_after_ns - batch->t_before_ns;
}

int watt_attrib_push_usage(struct watt_attrib *at, const struct watt_usage_batch *batch)
{
	uint64_t t_ns = batch->t_before_ns + (batch->t_after_ns - batch->t_before_ns) / 2;
	uint64_t t0_ns = at->had_sweep ? at->last_sweep_ns : t_ns;
	struct watt_slice *slice;
	bool has_all; /* a task whose record was lost lives, and would bring all its time again */
	size_t i;
	int r;

	if (batch->t_after_ns < batch->t_before_ns || t_ns < t0_ns)
		return -EINVAL;
	slice = watt_slices_add(&at->slices, t0_ns, t_ns);
	if (!slice || watt_slice_open(slice, WATT_ACTIVITY_CPU_TIME, at->n_slots + 1) < 0)
		return -ENOMEM;
	at->tasks.sweep++;
	at->last_sweep_ns = t_ns;
	take_online(at, slice, batch);
	r = take_irq(at, slice, batch);
	if (r < 0)
		return r;
	has_all = (batch->flags & WATT_BATCH_FULL) && batch->lost == at->quality.lost_records;
	take_quality(at, batch);
	watt_nobody_add_busy(at, batch);
	r = watt_cpus_push(&at->cpus, batch, t_ns - t0_ns);
	for (i = 0; i < batch->n_records && r == 0; i++)
		r = take_record(at, slice, &batch->records[i]);
	if (r == 0)
		r = watt_nobody_push(at, slice, batch);
	if (r == 0)
		r = watt_reserves_push(at, slice);
	if (r < 0)
		return r;
	slice->uses[WATT_ACTIVITY_CPU_TIME].is_complete = true;
	if (has_all)
		forget_unseen(at);
	if (!at->had_sweep)
		at->first_sweep_ns = t_ns;
	at->had_sweep = true;
	return 0;
}
