/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps memory bounded. A process that is gone is retired into the account of all exited processes
 * of its name when everybody who saw it has seen it gone; who did earlier sees it in there already.
 * So are threads, into what has ended of their process.
 * Groups that nobody is in are retired when there are too many. Retiring adds, so every sum stays
 * what it was, in every window.
 */
#include "attrib/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/doubt.h"
#include "base/util.h"

#define MAX_EXITED_NAMES 512
#define MAX_GONE_GROUPS 1024 /* of a kind */
#define MAX_GONE 8192        /* that wait for a reader to come back */
#define MIN_RETIRE 2048      /* accounts from which on it is worth while between snapshots */
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
	account = watt_accounts_add_keyed(&at->accounts, kind, watt_name_new(text),
					  watt_account_name_key(kind, text));
	if (account)
		account->is_alive = false;
	return account;
}

static struct watt_account *exited_of(struct watt_attrib *at, const struct watt_account *process)
{
	const char *comm = process->name->has_identity ? process->name->identity.comm :
							 process->name->text;
	struct watt_account *exited;

	if (process->exited)
		return process->exited;
	exited = watt_accounts_find(&at->accounts, WATT_ENTITY_EXITED, comm);
	if (exited)
		return exited;
	if (at->accounts.n_of_kind[WATT_ENTITY_EXITED] >= MAX_EXITED_NAMES)
		comm = REST;
	return find_or_add(at, WATT_ENTITY_EXITED, comm);
}

/* Marked for removal: an account that is empty of meaning, having been retired. */
static bool is_retired(const struct watt_account *account)
{
	return account->count == 0 && account->users == 0 && !account->is_alive &&
	       !account->members && !account->is_kept && account->kind != WATT_ENTITY_EXITED;
}

/* ---- who is gone, and who has seen it ---- */

static bool is_temporary(const struct watt_account *account)
{
	return is_process_kind(account->kind) || account->kind == WATT_ENTITY_THREAD;
}

/* Nothing more will come to it. Threads that are gone may be kept, and with them their process. */
static bool is_gone(const struct watt_account *account)
{
	return is_temporary(account) && !account->is_alive &&
	       account->users == account->n_gone_parts;
}

bool watt_retire_is_owing(const struct watt_account *account)
{
	if (account->is_untracked)
		return account->users > 0;
	return is_temporary(account) && !is_gone(account);
}

bool watt_retire_is_owed(const struct watt_attrib *at, const struct watt_account *account)
{
	size_t w;

	for (w = 0; w < at->accounts.n_windows; w++)
		if (account->looks[w].is_owed)
			return true;
	return false;
}

static bool is_rest(const struct watt_account *process, const struct watt_account *thread)
{
	return thread == process->rest[WATT_THREADS_ENDED] ||
	       thread == process->rest[WATT_THREADS_UNKNOWN];
}

bool watt_retire_is_hidden(const struct watt_attrib *at, const struct watt_account *account,
			   size_t reader)
{
	const struct watt_account *process;

	if (!is_gone(account))
		return false;
	if (account->kind != WATT_ENTITY_THREAD)
		return !account->looks[reader].is_owed;
	process = watt_accounts_find_id(&at->accounts, account->parent_id);
	if (!process || watt_retire_is_hidden(at, process, reader))
		return true;
	return !account->looks[reader].is_owed && !is_rest(process, account);
}

struct watt_account *watt_retire_get_over(const struct watt_attrib *at,
					  const struct watt_account *account)
{
	const struct watt_account *process;

	if (account->kind != WATT_ENTITY_THREAD)
		return account->exited;
	process = watt_accounts_find_id(&at->accounts, account->parent_id);
	return process && !process->is_hidden ? process->rest[WATT_THREADS_ENDED] : NULL;
}

/* What of the users of a process is but threads that are gone. */
static void count_gone_parts(struct watt_attrib *at)
{
	const struct watt_member *member;
	size_t i;

	if (!at->accounts.has_threads)
		return;
	for (i = 0; i < at->accounts.n; i++)
		at->accounts.list[i]->n_gone_parts = 0;
	for (i = 0; i < at->accounts.n; i++) {
		const struct watt_account *thread = at->accounts.list[i];

		if (thread->kind != WATT_ENTITY_THREAD || !is_gone(thread))
			continue;
		for (member = thread->members; member; member = member->next)
			member->sums[WATT_MEMBER_PROCESS]->n_gone_parts++;
	}
}

/* Of the session itself only if somebody asks it, or nobody else reads. */
static bool is_read(const struct watt_attrib *at, size_t reader)
{
	size_t w;

	if (reader > 0)
		return at->cursors[reader].is_open;
	for (w = 1; w < at->accounts.n_windows; w++)
		if (at->cursors[w].is_open)
			return at->cursors[0].n_snapshots > 0;
	return true;
}

/*
 * Who tracks somebody wants to see all threads of it once, those included that came and went
 * between two looks, and so their processes.
 */
static void promise_threads(struct watt_attrib *at)
{
	struct watt_account *process;
	size_t i, w;

	for (i = 0; at->accounts.has_threads && i < at->accounts.n; i++) {
		struct watt_account *thread = at->accounts.list[i];

		if (thread->kind != WATT_ENTITY_THREAD || !thread->tracked_id ||
		    thread->is_promised || !is_gone(thread))
			continue;
		thread->is_promised = true;
		process = watt_accounts_find_id(&at->accounts, thread->parent_id);
		for (w = 0; process && w < at->accounts.n_windows; w++)
			if (is_read(at, w))
				thread->looks[w].is_owed = process->looks[w].is_owed = true;
	}
}

void watt_retire_owe(const struct watt_attrib *at, struct watt_account *account)
{
	size_t w;

	for (w = 0; w < at->accounts.n_windows; w++)
		account->looks[w].is_owed = is_read(at, w);
}

/* Nothing more will be in it than those who read have yet to see. */
static bool is_over(const struct watt_account *account)
{
	return is_gone(account) || account->is_untracked;
}

/* Too many wait to be seen: the oldest of them wait no longer. */
static void give_up(struct watt_attrib *at)
{
	size_t i, w, n = 0;

	for (i = 0; i < at->accounts.n; i++)
		n += is_over(at->accounts.list[i]) && watt_retire_is_owed(at, at->accounts.list[i]);
	for (i = 0; n > MAX_GONE; i++) {
		struct watt_account *account = at->accounts.list[i];

		if (!is_over(account) || !watt_retire_is_owed(at, account))
			continue;
		for (w = 0; w < at->accounts.n_windows; w++)
			account->looks[w].is_owed = false;
		n--;
	}
}

static void count_gone(struct watt_attrib *at)
{
	size_t i;

	at->n_gone = 0;
	for (i = 0; i < at->accounts.n; i++)
		at->n_gone += is_gone(at->accounts.list[i]);
}

/* ---- retiring ---- */

/* Before processes: who has threads that still wait is not over. */
static int retire_threads(struct watt_attrib *at)
{
	size_t i;
	int r = 0;

	/* what they are retired into comes behind them, and may go at once with its process */
	for (i = 0; at->accounts.has_threads && i < at->accounts.n && r == 0; i++) {
		struct watt_account *thread = at->accounts.list[i];

		if (thread->kind == WATT_ENTITY_THREAD && is_gone(thread) &&
		    !watt_retire_is_owed(at, thread))
			r = watt_thread_retire(at, thread);
	}
	return r;
}

static int retire_process(struct watt_attrib *at, struct watt_account *process)
{
	struct watt_account *exited = exited_of(at, process);
	size_t i;

	if (!exited || watt_doubt_settle(at, process) < 0)
		return -ENOMEM;
	watt_account_merge(&at->accounts, exited, process);
	watt_members_retire(&at->accounts, process);
	process->count = 0;
	for (i = 0; i < WATT_N_THREAD_RESTS; i++)
		if (process->rest[i])
			process->rest[i]->is_kept = false;
	return 0;
}

/* Those that nobody is owed a last row of. */
static int retire_processes(struct watt_attrib *at)
{
	size_t i, n;
	int r;

	count_gone_parts(at);
	promise_threads(at);
	give_up(at);
	r = retire_threads(at);
	if (r < 0)
		return r;
	count_gone_parts(at);
	n = at->accounts.n;
	for (i = 0; i < n && r == 0; i++) {
		struct watt_account *process = at->accounts.list[i];

		if (is_process_kind(process->kind) && is_gone(process) && !process->users &&
		    !watt_retire_is_owed(at, process))
			r = retire_process(at, process);
	}
	watt_tracked_settle(at);
	watt_accounts_purge(&at->accounts, is_retired); /* also what was merged before an error */
	count_gone(at);
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

/* Made with the first group that goes into it: an account of nobody would be purged. */
static struct watt_account *get_gone(struct watt_attrib *at, enum watt_entity_kind kind)
{
	struct watt_account *gone = find_gone(at, kind);

	if (!gone)
		gone = find_or_add(at, kind, GONE);
	if (kind == WATT_ENTITY_CGROUP)
		at->gone_cgroups = gone;
	return gone;
}

static bool is_gone_group(const struct watt_account *group, enum watt_entity_kind kind)
{
	return group->kind == kind && !group->users && group->count;
}

/* Those who live are no reason: there can be as many as the machine bears. */
static bool are_too_many_gone(const struct watt_attrib *at, enum watt_entity_kind kind)
{
	size_t i, n = 0;

	if (at->accounts.n_of_kind[kind] <= MAX_GONE_GROUPS)
		return false;
	for (i = 0; i < at->accounts.n; i++)
		n += is_gone_group(at->accounts.list[i], kind);
	return n > MAX_GONE_GROUPS;
}

static int retire_groups(struct watt_attrib *at, enum watt_entity_kind kind)
{
	struct watt_account *gone = find_gone(at, kind);
	size_t i, n = at->accounts.n, u;
	int r = 0;

	if (!are_too_many_gone(at, kind))
		return 0;
	for (i = 0; i < n; i++) {
		struct watt_account *group = at->accounts.list[i];

		if (!is_gone_group(group, kind) || group == gone)
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
	watt_accounts_purge(&at->accounts, is_retired);
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

static int hide_thread(struct watt_attrib *at, const struct watt_account *thread, size_t reader)
{
	struct watt_account *process = watt_accounts_find_id(&at->accounts, thread->parent_id);
	struct watt_account *ended;

	if (!process || watt_retire_is_hidden(at, process, reader))
		return 0;
	ended = watt_thread_get_ended(at, process);
	if (!ended)
		return -ENOMEM;
	ended->is_kept = true;
	return 0;
}

/* What others wait for and this reader is done with, it sees among the exited or the ended. */
static int hide(struct watt_attrib *at, size_t reader)
{
	size_t i, n = at->accounts.n;
	int r = 0;

	for (i = 0; at->n_gone && i < n && r == 0; i++) {
		struct watt_account *account = at->accounts.list[i];

		if (!watt_retire_is_hidden(at, account, reader))
			continue;
		if (account->kind == WATT_ENTITY_THREAD) {
			r = hide_thread(at, account, reader);
			continue;
		}
		account->exited = exited_of(at, account);
		r = account->exited ? 0 : -ENOMEM;
	}
	return r;
}

int watt_retire_before(struct watt_attrib *at, size_t reader)
{
	int r;

	update_groups(at);
	r = retire_processes(at);
	return r < 0 ? r : hide(at, reader);
}

static int retire_all_groups(struct watt_attrib *at)
{
	static const enum watt_entity_kind groups[] = {
		WATT_ENTITY_CGROUP, WATT_ENTITY_CONTAINER, WATT_ENTITY_POD,
		WATT_ENTITY_UNIT,   WATT_ENTITY_JOB,
	};
	size_t i;
	int r = 0;

	for (i = 0; i < WATT_ARRAY_SIZE(groups) && r == 0; i++)
		r = retire_groups(at, groups[i]);
	return r;
}

int watt_retire_after(struct watt_attrib *at)
{
	int r = retire_processes(at);

	return r < 0 ? r : retire_all_groups(at);
}

int watt_retire_between(struct watt_attrib *at)
{
	int r;

	if (at->accounts.n < at->retire_at_n)
		return 0;
	r = watt_retire_after(at);
	at->retire_at_n = WATT_MAX((size_t)MIN_RETIRE, 2 * at->accounts.n);
	return r;
}
