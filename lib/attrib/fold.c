/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps memory bounded. A process that is gone and was shown gone is folded into the account of
 * all exited processes of its name; groups that nobody is in are folded when there are too many.
 * Folding adds, so every sum stays what it was.
 */
#include "attrib/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define MAX_EXITED_NAMES 512
#define MAX_GROUPS 4096
#define MAX_KEPT 4096 /* threads of somebody who is tracked that nobody has seen */
#define MIN_FOLD 2048 /* accounts from which on it is worth while between snapshots */
#define REST "(others)"
#define GONE "(gone)"

static bool is_process_kind(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_PROCESS || kind == WATT_ENTITY_KTHREAD;
}

static struct watt_account *find_or_add(struct watt_attrib *at, enum watt_entity_kind kind,
					const char *text)
{
	struct watt_account *account = watt_accounts_find(&at->accounts, kind, text);

	if (account)
		return account;
	account = watt_accounts_add(&at->accounts, kind, watt_name_new(text));
	if (account)
		account->is_alive = false;
	return account;
}

static struct watt_account *exited_of(struct watt_attrib *at, const struct watt_account *process)
{
	const char *comm = process->name->has_identity ? process->name->identity.comm :
							 process->name->text;
	struct watt_account *exited;

	exited = watt_accounts_find(&at->accounts, WATT_ENTITY_EXITED, comm);
	if (exited)
		return exited;
	if (at->accounts.n_of_kind[WATT_ENTITY_EXITED] >= MAX_EXITED_NAMES)
		comm = REST;
	return find_or_add(at, WATT_ENTITY_EXITED, comm);
}

/* Marked for removal: an account that is empty of meaning, having been folded. */
static bool is_folded(const struct watt_account *account)
{
	return account->count == 0 && account->users == 0 && !account->is_alive &&
	       !account->members && account->kind != WATT_ENTITY_EXITED;
}

/*
 * Before processes: who has threads that still wait is not over. Who tracks somebody wants to see
 * all threads of it once, those that are gone included.
 */
static int fold_threads(struct watt_attrib *at, bool shown)
{
	size_t i, n_kept = 0;
	int r = 0;

	/* what they are folded into comes behind them, and may go at once with its process */
	for (i = 0; at->accounts.has_threads && i < at->accounts.n && r == 0; i++) {
		struct watt_account *thread = at->accounts.list[i];

		if (thread->kind != WATT_ENTITY_THREAD || thread->is_alive || thread->users ||
		    thread->was_shown != shown)
			continue;
		if (shown || !thread->tracked_id || n_kept++ >= MAX_KEPT)
			r = watt_thread_fold(at, thread);
	}
	return r;
}

static int fold_processes(struct watt_attrib *at, bool shown)
{
	size_t i, n;
	int r = fold_threads(at, shown);

	if (r < 0)
		return r;
	n = at->accounts.n;
	for (i = 0; i < n; i++) {
		struct watt_account *process = at->accounts.list[i], *exited;

		if (!is_process_kind(process->kind) || process->is_alive || process->users ||
		    process->was_shown != shown)
			continue;
		exited = exited_of(at, process);
		if (!exited) {
			r = -ENOMEM;
			break;
		}
		watt_account_merge(&at->accounts, exited, process);
		watt_members_retire(&at->accounts, process);
		process->count = 0;
	}
	watt_accounts_sweep(&at->accounts, is_folded); /* also what was merged before an error */
	return r;
}

static bool is_group(enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_CGROUP || kind == WATT_ENTITY_CONTAINER ||
	       kind == WATT_ENTITY_POD || kind == WATT_ENTITY_UNIT || kind == WATT_ENTITY_JOB;
}

static struct watt_account *find_gone(const struct watt_attrib *at, enum watt_entity_kind kind)
{
	return kind == WATT_ENTITY_CGROUP ? at->gone_cgroups :
					    watt_accounts_find(&at->accounts, kind, GONE);
}

/* Made with the first group that goes into it: an account of nobody would be swept away. */
static struct watt_account *get_gone(struct watt_attrib *at, enum watt_entity_kind kind)
{
	struct watt_account *gone = find_gone(at, kind);

	if (!gone)
		gone = find_or_add(at, kind, GONE);
	if (kind == WATT_ENTITY_CGROUP)
		at->gone_cgroups = gone;
	return gone;
}

static int fold_groups(struct watt_attrib *at, enum watt_entity_kind kind)
{
	struct watt_account *gone = find_gone(at, kind);
	size_t i, n = at->accounts.n, u;
	int r = 0;

	if (at->accounts.n_of_kind[kind] <= MAX_GROUPS)
		return 0;
	for (i = 0; i < n; i++) {
		struct watt_account *group = at->accounts.list[i];

		if (group->kind != kind || group->users || group == gone || !group->count)
			continue;
		gone = get_gone(at, kind);
		if (!gone) {
			r = -ENOMEM;
			break;
		}
		if (kind == WATT_ENTITY_CGROUP)
			watt_groups_drop_cgroup(at, group);
		watt_account_merge(&at->accounts, gone, group);
		watt_account_retire(&at->accounts, gone, group->energy_nj);
		for (u = 0; u < WATT_ACCOUNT_UPS && group->up[u]; u++)
			watt_account_retire(&at->accounts, group->up[u], group->energy_nj);
		group->count = 0;
		group->is_alive = false;
	}
	watt_accounts_sweep(&at->accounts, is_folded);
	return r;
}

/* A group is alive as long as somebody is in it, or in a part of it. */
static void update_groups(struct watt_attrib *at)
{
	size_t i, u;

	for (i = 0; i < at->accounts.n; i++)
		if (is_group(at->accounts.list[i]->kind) ||
		    at->accounts.list[i]->kind == WATT_ENTITY_TRACKED)
			at->accounts.list[i]->is_alive = false;
	for (i = 0; i < at->accounts.n; i++) {
		struct watt_account *account = at->accounts.list[i];

		if (account->kind != WATT_ENTITY_CGROUP && account->kind != WATT_ENTITY_TRACKED)
			continue;
		account->is_alive = account->inside > 0;
		for (u = 0; account->is_alive && u < WATT_ACCOUNT_UPS && account->up[u]; u++)
			account->up[u]->is_alive = true;
	}
}

int watt_fold_before(struct watt_attrib *at)
{
	update_groups(at);
	return fold_processes(at, false);
}

static int fold_all_groups(struct watt_attrib *at)
{
	static const enum watt_entity_kind groups[] = {
		WATT_ENTITY_CGROUP, WATT_ENTITY_CONTAINER, WATT_ENTITY_POD,
		WATT_ENTITY_UNIT,   WATT_ENTITY_JOB,
	};
	size_t i;
	int r = 0;

	for (i = 0; i < WATT_ARRAY_SIZE(groups) && r == 0; i++)
		r = fold_groups(at, groups[i]);
	return r;
}

int watt_fold_after(struct watt_attrib *at)
{
	int r = fold_processes(at, true);

	return r < 0 ? r : fold_all_groups(at);
}

int watt_fold_between(struct watt_attrib *at)
{
	int r;

	if (at->accounts.n < at->fold_at_n)
		return 0;
	r = fold_processes(at, false);
	if (r == 0)
		r = fold_all_groups(at);
	at->fold_at_n = WATT_MAX((size_t)MIN_FOLD, 2 * at->accounts.n);
	return r;
}
