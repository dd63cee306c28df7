/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts of threads. When they are made and what they are given is decided in sweep.c. */
#include "attrib/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/doubt.h"
#include "attrib/state.h"
#include "base/util.h"

bool watt_process_has_threads(const struct watt_attrib *at, const struct watt_process *process)
{
	return at->accounts.has_threads && process->account->kind == WATT_ENTITY_PROCESS;
}

static struct watt_name *name_of(const struct watt_task *task, const char comm[16])
{
	const struct watt_process *process = task->process;
	struct watt_identity identity = {
		.pid = process->pid,
		.parent_pid = process->parent_pid,
		.start_ns = task->start_ns,
		.uid = process->uid,
		.missing = WATT_IDENTITY_EXE | WATT_IDENTITY_CMDLINE,
		.tid = task->tid,
	};

	if (process->flags & WATT_USAGE_NO_UID)
		identity.missing |= WATT_IDENTITY_UID;
	memcpy(identity.comm, comm[0] ? comm : process->comm, sizeof(identity.comm));
	return watt_name_new_identity(&identity);
}

/* number: its own in its process. */
static struct watt_account *account_new(struct watt_attrib *at, const struct watt_account *process,
					struct watt_name *name_take, uint64_t number)
{
	struct watt_account *account =
		watt_accounts_add_keyed(&at->accounts, WATT_ENTITY_THREAD, name_take,
					watt_hash_u64(watt_hash_u64(process->id) + number));

	if (account)
		account->parent_id = process->id;
	return account;
}

static struct watt_account *get_rest(struct watt_attrib *at, struct watt_account *process,
				     enum watt_thread_rest which)
{
	static const char *const names[] = {
		[WATT_THREADS_ENDED] = "(ended threads)",
		[WATT_THREADS_UNKNOWN] = "(unknown thread)",
	};

	if (!process->rest[which])
		process->rest[which] = account_new(at, process, watt_name_new(names[which]), which);
	if (process->rest[which])
		process->rest[which]->is_alive = process->is_alive;
	return process->rest[which];
}

static int open_thread(struct watt_attrib *at, struct watt_task *task, const char comm[16])
{
	if (!task->thread)
		task->thread = calloc(1, sizeof(*task->thread));
	if (!task->thread)
		return -ENOMEM;
	if (task->thread->account)
		return 0;
	task->thread->account = account_new(at, task->process->account, name_of(task, comm),
					    watt_hash_u64(task->start_ns) + task->tid);
	if (!task->thread->account)
		return -ENOMEM;
	task->thread->account->count = 1;
	task->thread->account->users++;
	return 0;
}

struct watt_member *watt_thread_get_actor(struct watt_attrib *at, struct watt_task *task,
					  const char comm[16])
{
	const struct watt_process *process = task->process;
	struct watt_account *const sums[WATT_MEMBER_SUMS] = {
		[WATT_MEMBER_CGROUP] = process->cgroup,
		[WATT_MEMBER_OWNER] = process->owner,
		[WATT_MEMBER_TRACKED] = process->tracked,
		[WATT_MEMBER_PROCESS] = process->account,
	};

	if (open_thread(at, task, comm) < 0)
		return NULL;
	/* it hardly ever changes, and a list need not be searched for each record then */
	if (!task->thread->actor || memcmp(task->thread->actor->sums, sums, sizeof(sums)))
		task->thread->actor = watt_member_get(&at->accounts, task->thread->account, sums);
	task->thread->account->tracked_id = process->account->tracked_id;
	return task->thread->actor;
}

struct watt_member *watt_thread_get_rest(struct watt_attrib *at, struct watt_process *process,
					 enum watt_thread_rest which)
{
	struct watt_account *rest = get_rest(at, process->account, which);

	if (!rest)
		return NULL;
	return watt_member_get(&at->accounts, rest,
			       (struct watt_account *const[WATT_MEMBER_SUMS]){
				       [WATT_MEMBER_CGROUP] = process->cgroup,
				       [WATT_MEMBER_OWNER] = process->owner,
				       [WATT_MEMBER_TRACKED] = process->tracked,
				       [WATT_MEMBER_PROCESS] = process->account,
			       });
}

int watt_thread_rename(struct watt_task *task, const char comm[16])
{
	const struct watt_identity *known;
	struct watt_name *name;

	if (!task->thread || !task->thread->account || !comm[0])
		return 0;
	known = &task->thread->account->name->identity;
	if (known->tid == task->tid && !memcmp(known->comm, comm, sizeof(known->comm)))
		return 0;
	name = name_of(task, comm);
	if (!name)
		return -ENOMEM;
	watt_name_unref(task->thread->account->name);
	task->thread->account->name = name;
	return 0;
}

void watt_threads_join(struct watt_attrib *at, const struct watt_process *process)
{
	struct watt_account *const sums[WATT_MEMBER_SUMS] = {
		[WATT_MEMBER_CGROUP] = process->cgroup,
		[WATT_MEMBER_OWNER] = process->owner,
	};
	size_t i;

	for (i = 0; i < at->accounts.n; i++) {
		struct watt_account *thread = at->accounts.list[i];

		if (thread->kind == WATT_ENTITY_THREAD && thread->parent_id == process->account->id)
			watt_members_join(&at->accounts, thread, sums);
	}
}

void watt_thread_close(struct watt_task *task)
{
	if (!task->thread || !task->thread->account)
		return;
	task->thread->account->is_alive = false;
	task->thread->account->users--;
	task->thread->account = NULL;
}

void watt_threads_close(struct watt_process *process)
{
	size_t i;

	for (i = 0; process->account && i < WATT_N_THREAD_RESTS; i++)
		if (process->account->rest[i])
			process->account->rest[i]->is_alive = false;
}

struct watt_account *watt_thread_get_ended(struct watt_attrib *at, struct watt_account *process)
{
	return get_rest(at, process, WATT_THREADS_ENDED);
}

static uint32_t count_members(const struct watt_account *account)
{
	const struct watt_member *member;
	uint32_t n = 0;

	for (member = account->members; member; member = member->next)
		n++;
	return n;
}

int watt_thread_retire(struct watt_attrib *at, struct watt_account *thread)
{
	struct watt_account *process, *ended;
	int r;

	r = watt_doubt_settle(at, thread);
	if (r < 0)
		return r;
	process = watt_accounts_find_id(&at->accounts, thread->parent_id);
	/* the last one goes with its process, which is the sum of its threads until then */
	if (!process || (!process->is_alive && !watt_retire_is_owed(at, process) &&
			 process->users == count_members(thread))) {
		watt_members_retire(&at->accounts, thread);
		thread->count = 0;
		thread->is_kept = false;
		return 0;
	}
	if (thread == process->rest[WATT_THREADS_ENDED])
		return 0;
	ended = get_rest(at, process, WATT_THREADS_ENDED);
	if (!ended)
		return -ENOMEM;
	r = watt_members_move(&at->accounts, ended, thread);
	if (r < 0)
		return r;
	watt_account_merge(&at->accounts, ended, thread);
	thread->count = 0;
	return 0;
}
