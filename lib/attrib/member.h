/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A member: what one account used while it counted for the same sums: its cgroup, its user, the
 * set in which it is tracked, a thread's process. Whoever moves goes on as another member, so that a sum is always
 * the sum of its members, however late their energy comes; and that is checked.
 */
#ifndef WATT_ATTRIB_MEMBER_H
#define WATT_ATTRIB_MEMBER_H

#include "attrib/account.h"

/* The sums that a member counts for, by what they are. */
enum watt_member_sum {
	WATT_MEMBER_CGROUP,
	WATT_MEMBER_OWNER, /* its user, or the kernel */
	WATT_MEMBER_TRACKED,
	WATT_MEMBER_PROCESS, /* of a thread */
	WATT_MEMBER_SUMS,
};

struct watt_member {
	struct watt_account *self;
	struct watt_account *sums[WATT_MEMBER_SUMS]; /* NULL: none, or not known yet */
	struct watt_member *next;                    /* of the same account */
	uint32_t users;                              /* slices and activities that point here */
	uint64_t cpu_ns;
	uint64_t ahead_cpu_ns; /* of cpu_ns, as of the account; kept where threads are told */
	watt_i128 *energy_nj;  /* per domain */
	int64_t *told_nj;      /* per domain: as of watt_doubt */
};

/*
 * The member of an account that counts for these sums. A cgroup or an owner that was not known
 * until now gets all that was used meanwhile. NULL: no memory.
 */
struct watt_member *watt_member_get(const struct watt_accounts *accounts,
				    struct watt_account *account,
				    struct watt_account *const sums[WATT_MEMBER_SUMS]);
/* Gives a cgroup and an owner that were not known until now what was used meanwhile. */
void watt_members_join(const struct watt_accounts *accounts, struct watt_account *account,
		       struct watt_account *const sums[WATT_MEMBER_SUMS]);
/* All that the members of an account have goes to those of another one, in the same sums. */
int watt_members_move(const struct watt_accounts *accounts, struct watt_account *to,
		      struct watt_account *from);
/* Room for cap domains, of which there are n. 0 or -ENOMEM. */
int watt_members_resize(struct watt_account *account, size_t n, size_t cap);
/* The account goes: what its members had stays in their sums. */
void watt_members_retire(const struct watt_accounts *accounts, struct watt_account *account);
/*
 * The members of an account that count for this sum do so no more, and what they had stays in it.
 * Nobody points to them: they may be merged with others.
 */
void watt_members_leave(const struct watt_accounts *accounts, struct watt_account *account,
			enum watt_member_sum which, struct watt_account *sum);
/* Frees the members of an account. */
void watt_members_free(struct watt_account *account);

/* What watt_members_check() found. */
struct watt_sum_checks {
	uint64_t made;
	uint64_t failed;
};

/*
 * Whether each sum is the sum of its members, and each process too, in each domain. scratch_nj:
 * room for one number per domain.
 */
struct watt_sum_checks watt_members_check(const struct watt_accounts *accounts,
					  watt_i128 *scratch_nj);

/* The process, kernel thread or interrupts that a member is of; its threads run its program. */
static inline const struct watt_account *watt_member_get_user(const struct watt_member *member)
{
	const struct watt_account *process = member->sums[WATT_MEMBER_PROCESS];

	return process ? process : member->self;
}

static inline void watt_member_add_energy(struct watt_member *member, size_t domain,
					  int64_t energy_nj)
{
	size_t i;

	member->energy_nj[domain] += energy_nj;
	watt_account_add_energy(member->self, domain, energy_nj);
	for (i = 0; i < WATT_MEMBER_SUMS; i++)
		if (member->sums[i])
			watt_account_add_energy(member->sums[i], domain, energy_nj);
}

/* What another member has of a domain is its own now. */
static inline void watt_member_take(struct watt_member *member, const struct watt_member *from,
				    size_t domain)
{
	member->energy_nj[domain] += from->energy_nj[domain];
	member->told_nj[domain] =
		(int64_t)((uint64_t)member->told_nj[domain] + (uint64_t)from->told_nj[domain]);
}

static inline void watt_member_add_cpu(struct watt_member *member, uint64_t cpu_ns)
{
	size_t i;

	member->cpu_ns += cpu_ns;
	watt_account_add_cpu(member->self, cpu_ns);
	for (i = 0; i < WATT_MEMBER_SUMS; i++)
		if (member->sums[i])
			watt_account_add_cpu(member->sums[i], cpu_ns);
}

#endif
