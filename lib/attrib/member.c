/* SPDX-License-Identifier: Apache-2.0 */
/* Members of sums, and the check that sums are what their members are. */
#include "attrib/member.h"

#include "attrib/doubt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_only(const struct watt_member *member)
{
	return member->self->members == member && !member->next;
}

static void add_old(const struct watt_accounts *accounts, struct watt_account *sum,
		    const struct watt_member *member)
{
	const struct watt_account *self = member->self;
	size_t w, d;

	for (d = 0; d < accounts->n_domains; d++)
		sum->energy_nj[d] += member->energy_nj[d];
	watt_doubt_join(accounts, sum, member, is_only(member));
	for (w = 0; is_only(member) && w < accounts->n_windows; w++)
		for (d = 0; d < accounts->n_domains; d++)
			watt_account_get_base(sum, w)[d] += watt_account_get_base(self, w)[d];
}

/* What it used before it was known where it belongs; of a lone member, what of it is old, too. */
static void join(const struct watt_accounts *accounts, struct watt_member *member, size_t which,
		 struct watt_account *sum)
{
	size_t u;

	member->sums[which] = sum;
	sum->users++;
	add_old(accounts, sum, member);
	for (u = 0; u < WATT_ACCOUNT_UPS && sum->up[u]; u++)
		add_old(accounts, sum->up[u], member);
	watt_account_add_cpu(sum, member->cpu_ns);
}

static void join_unknown(const struct watt_accounts *accounts, struct watt_account *account,
			 size_t which, struct watt_account *sum)
{
	struct watt_member *member;

	for (member = account->members; member && sum; member = member->next)
		if (!member->sums[which])
			join(accounts, member, which, sum);
}

static int resize(struct watt_member *member, size_t n, size_t cap)
{
	watt_i128 *energy_nj = calloc(cap + 1, sizeof(*energy_nj) + sizeof(*member->told_nj));
	int64_t *told_nj;

	if (!energy_nj)
		return -ENOMEM;
	told_nj = (int64_t *)(energy_nj + cap + 1);
	if (n) {
		memcpy(energy_nj, member->energy_nj, n * sizeof(*energy_nj));
		memcpy(told_nj, member->told_nj, n * sizeof(*told_nj));
	}
	free(member->energy_nj);
	member->energy_nj = energy_nj;
	member->told_nj = told_nj;
	return 0;
}

int watt_members_resize(struct watt_account *account, size_t n, size_t cap)
{
	struct watt_member *member;
	int r = 0;

	for (member = account->members; member && r == 0; member = member->next)
		r = resize(member, n, cap);
	return r;
}

static struct watt_member *member_new(const struct watt_accounts *accounts,
				      struct watt_account *account,
				      struct watt_account *const sums[WATT_MEMBER_SUMS])
{
	struct watt_member *member;
	size_t i;

	member = calloc(1, sizeof(*member));
	if (!member || resize(member, 0, accounts->cap_domains) < 0) {
		free(member);
		return NULL;
	}
	member->self = account;
	for (i = 0; i < WATT_MEMBER_SUMS; i++) {
		member->sums[i] = sums[i];
		if (sums[i])
			sums[i]->users++;
	}
	member->next = account->members;
	account->members = member;
	return member;
}

void watt_members_join(const struct watt_accounts *accounts, struct watt_account *account,
		       struct watt_account *const sums[WATT_MEMBER_SUMS])
{
	join_unknown(accounts, account, WATT_MEMBER_CGROUP, sums[WATT_MEMBER_CGROUP]);
	join_unknown(accounts, account, WATT_MEMBER_OWNER, sums[WATT_MEMBER_OWNER]);
}

struct watt_member *watt_member_get(const struct watt_accounts *accounts,
				    struct watt_account *account,
				    struct watt_account *const sums[WATT_MEMBER_SUMS])
{
	struct watt_member *member;

	watt_members_join(accounts, account, sums);
	for (member = account->members; member; member = member->next)
		if (!memcmp(member->sums, sums, sizeof(member->sums)))
			return member;
	return member_new(accounts, account, sums);
}

int watt_members_move(const struct watt_accounts *accounts, struct watt_account *to,
		      struct watt_account *from)
{
	const struct watt_member *member;
	struct watt_member *same;
	size_t i;

	/* before anything has moved: it may fail */
	for (member = from->members; member; member = member->next)
		if (!watt_member_get(accounts, to, member->sums))
			return -ENOMEM;
	for (member = from->members; member; member = member->next) {
		same = watt_member_get(accounts, to, member->sums);
		for (i = 0; i < accounts->n_domains; i++)
			watt_member_take(same, member, i);
		same->cpu_ns += member->cpu_ns;
	}
	watt_members_free(from);
	return 0;
}

void watt_members_retire(const struct watt_accounts *accounts, struct watt_account *account)
{
	const struct watt_member *member;
	size_t i;

	for (member = account->members; member; member = member->next)
		for (i = 0; i < WATT_MEMBER_SUMS; i++)
			if (member->sums[i])
				watt_account_retire(accounts, member->sums[i], member->energy_nj);
	watt_members_free(account);
}

static void member_free(struct watt_member *member)
{
	size_t i;

	for (i = 0; i < WATT_MEMBER_SUMS; i++)
		if (member->sums[i])
			member->sums[i]->users--;
	free(member->energy_nj);
	free(member);
}

static struct watt_member *find_same(const struct watt_member *member)
{
	struct watt_member *other;

	for (other = member->self->members; other; other = other->next)
		if (other != member && !memcmp(other->sums, member->sums, sizeof(other->sums)))
			return other;
	return NULL;
}

void watt_members_leave(const struct watt_accounts *accounts, struct watt_account *account,
			enum watt_member_sum which, struct watt_account *sum)
{
	struct watt_member **at = &account->members, *member, *same;
	size_t i;

	while ((member = *at)) {
		if (member->sums[which] != sum) {
			at = &member->next;
			continue;
		}
		watt_account_retire(accounts, sum, member->energy_nj);
		member->sums[which] = NULL;
		sum->users--;
		same = find_same(member);
		if (!same) {
			at = &member->next;
			continue;
		}
		for (i = 0; i < accounts->n_domains; i++)
			watt_member_take(same, member, i);
		same->cpu_ns += member->cpu_ns;
		*at = member->next;
		member_free(member);
	}
}

void watt_members_free(struct watt_account *account)
{
	struct watt_member *member;

	while ((member = account->members)) {
		account->members = member->next;
		member_free(member);
	}
}

/* ---- the check ---- */

static void add_all(watt_i128 *to, const watt_i128 *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] += from[i];
}

static void begin_check(const struct watt_accounts *accounts)
{
	size_t i;

	for (i = 0; i < accounts->n; i++) {
		struct watt_account *account = accounts->list[i];

		if (account->retired_nj)
			memcpy(account->check_nj, account->retired_nj,
			       accounts->n_domains * sizeof(*account->check_nj));
	}
}

static bool is_nothing(const struct watt_member *member, size_t n)
{
	size_t i;

	for (i = 0; i < n && !member->energy_nj[i]; i++)
		;
	return i == n;
}

/* A process is its members. None of them is in no cgroup when another one is in one. */
static void check_process(const struct watt_accounts *accounts, const struct watt_account *account,
			  watt_i128 *scratch_nj, struct watt_sum_checks *checks)
{
	size_t n = accounts->n_domains, i;
	const struct watt_member *member;

	memset(scratch_nj, 0, n * sizeof(*scratch_nj));
	for (member = account->members; member; member = member->next) {
		add_all(scratch_nj, member->energy_nj, n);
		for (i = 0; i < WATT_MEMBER_SUMS; i++)
			if (member->sums[i])
				add_all(member->sums[i]->check_nj, member->energy_nj, n);
		for (i = 0; i <= WATT_MEMBER_OWNER; i++)
			checks->failed += !member->sums[i] && account->members->sums[i] &&
					  !is_nothing(member, n);
	}
	checks->made += n;
	for (i = 0; i < n; i++)
		checks->failed += scratch_nj[i] != account->energy_nj[i];
}

struct watt_sum_checks watt_members_check(const struct watt_accounts *accounts,
					  watt_i128 *scratch_nj)
{
	struct watt_sum_checks checks = { 0 };
	size_t i, d, u;

	begin_check(accounts);
	for (i = 0; i < accounts->n; i++) {
		const struct watt_account *account = accounts->list[i];

		if (account->members)
			check_process(accounts, account, scratch_nj, &checks);
		for (u = 0; u < WATT_ACCOUNT_UPS && account->up[u]; u++)
			add_all(account->up[u]->check_nj, account->energy_nj, accounts->n_domains);
	}
	for (i = 0; i < accounts->n; i++) {
		const struct watt_account *account = accounts->list[i];

		if (!account->retired_nj)
			continue;
		checks.made += accounts->n_domains;
		for (d = 0; d < accounts->n_domains; d++)
			checks.failed += account->check_nj[d] != account->energy_nj[d];
	}
	return checks;
}
