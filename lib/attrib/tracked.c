/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of processes that somebody asked to follow: a process and all its descendants, until nobody
 * wants to know of them any more. What they used stays with the processes: a set is a sum of it.
 */
#include "attrib/state.h"

#include <errno.h>
#include <string.h>

/* Children of those who are tracked are tracked too, until nobody is added. */
static bool track_children(struct watt_attrib *at, struct watt_account *tracked)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;
	bool any = false;

	while ((node = watt_htab_iterate(&at->tasks.processes, &it))) {
		struct watt_process *process = watt_container_of(node, struct watt_process, node);
		struct watt_process *parent;

		if (process->tracked || !process->parent_pid)
			continue;
		parent = watt_tasks_find_pid(&at->tasks, process->parent_pid);
		if (!parent || parent->tracked != tracked)
			continue;
		process->tracked = tracked;
		tracked->users++;
		tracked->inside++;
		tracked->count++;
		any = true;
	}
	return any;
}

int watt_attrib_track(struct watt_attrib *at, uint32_t pid, uint64_t *ret_entity_id)
{
	struct watt_process *process = watt_tasks_find_pid(&at->tasks, pid);
	struct watt_account *tracked;

	if (!process)
		return -ESRCH;
	/* A child of ours was adopted as if it were an orphan of the set before: it begins its own. */
	if (process->tracked && process->is_adopted) {
		process->tracked->users--;
		process->tracked->inside--;
		process->tracked = NULL;
	}
	process->is_adopted = false;
	if (process->tracked)
		return -EBUSY;
	tracked =
		watt_accounts_add(&at->accounts, WATT_ENTITY_TRACKED, watt_name_new(process->comm));
	if (!tracked)
		return -ENOMEM;
	process->tracked = tracked;
	tracked->users++;
	tracked->inside++;
	tracked->count = 1;
	tracked->root_pid = process->pid;
	tracked->root_start_ns = process->start_ns;
	if (at->self_pid && process->parent_pid == at->self_pid)
		at->adopt_into = tracked;
	while (track_children(at, tracked))
		;
	*ret_entity_id = tracked->id;
	return 0;
}

/* ---- no more ---- */

static struct watt_account *find_set(const struct watt_attrib *at, uint32_t pid, uint64_t start_ns)
{
	size_t i;

	for (i = 0; i < at->accounts.n; i++) {
		struct watt_account *account = at->accounts.list[i];

		if (account->kind == WATT_ENTITY_TRACKED && !account->is_untracked &&
		    account->root_pid == pid && account->root_start_ns == start_ns)
			return account;
	}
	return NULL;
}

int watt_attrib_find_tracked(const struct watt_attrib *at, uint64_t entity_id, uint32_t *ret_pid,
			     uint64_t *ret_start_ns)
{
	const struct watt_account *account = watt_accounts_find_id(&at->accounts, entity_id);

	if (!account || account->kind != WATT_ENTITY_TRACKED || account->is_untracked)
		return -ENOENT;
	*ret_pid = account->root_pid;
	*ret_start_ns = account->root_start_ns;
	return 0;
}

static void let_go(struct watt_attrib *at, struct watt_account *tracked)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;

	while ((node = watt_htab_iterate(&at->tasks.processes, &it))) {
		struct watt_process *process = watt_container_of(node, struct watt_process, node);

		if (process->tracked != tracked)
			continue;
		process->tracked = NULL;
		process->is_adopted = false;
		tracked->users--;
		tracked->inside--;
		if (process->account)
			process->account->tracked_id = 0;
	}
}

int watt_attrib_untrack(struct watt_attrib *at, uint32_t pid, uint64_t start_ns)
{
	struct watt_account *tracked = find_set(at, pid, start_ns);

	if (!tracked)
		return -ENOENT;
	let_go(at, tracked);
	if (at->adopt_into == tracked)
		at->adopt_into = NULL;
	tracked->is_untracked = true;
	at->n_untracked++;
	/* who reads sees it once more, with all that it has */
	watt_retire_owe(at, tracked);
	return 0;
}

/* Whether something may still come to it: of slices that wait for their energy. */
static bool is_used(const struct watt_attrib *at, const struct watt_account *tracked)
{
	const struct watt_member *member;
	size_t i;

	for (i = 0; i < at->accounts.n; i++)
		for (member = at->accounts.list[i]->members; member; member = member->next)
			if (member->sums[WATT_MEMBER_TRACKED] == tracked && member->users)
				return true;
	return false;
}

/* Threads remember the newest of their members, and one that leaves may be no more. */
static void forget_actors(struct watt_attrib *at, const struct watt_account *tracked)
{
	struct watt_htab_iter it = { 0 };
	struct watt_hnode *node;

	while ((node = watt_htab_iterate(&at->tasks.tasks, &it))) {
		struct watt_thread *thread =
			watt_container_of(node, struct watt_task, node)->thread;

		if (thread && thread->actor && thread->actor->sums[WATT_MEMBER_TRACKED] == tracked)
			thread->actor = NULL;
	}
}

static void leave(struct watt_attrib *at, struct watt_account *tracked)
{
	size_t i;

	forget_actors(at, tracked);
	for (i = 0; i < at->accounts.n; i++)
		watt_members_leave(&at->accounts, at->accounts.list[i], WATT_MEMBER_TRACKED,
				   tracked);
}

void watt_tracked_settle(struct watt_attrib *at)
{
	size_t i;

	for (i = 0; at->n_untracked && i < at->accounts.n; i++) {
		struct watt_account *tracked = at->accounts.list[i];

		if (!tracked->is_untracked || !tracked->count)
			continue;
		if (tracked->users && !is_used(at, tracked))
			leave(at, tracked);
		if (tracked->users || watt_retire_is_owed(at, tracked))
			continue;
		tracked->count = 0;
		tracked->is_alive = false;
		at->n_untracked--;
	}
}
