/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An account: what one entity has used so far, per domain. And the list of all of them.
 *
 * Process-like accounts (processes, kernel threads, exited, irq, softirq) divide the dynamic
 * energy among them; all others are sums over processes seen in another way.
 */
#ifndef WATT_ATTRIB_ACCOUNT_H
#define WATT_ATTRIB_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attrib/name.h"
#include "base/htab.h"
#include "base/util.h"

#define WATT_ACCOUNT_UPS 4

struct watt_member;

/* What threads of a process used that are not accounts of their own. */
enum watt_thread_rest {
	WATT_THREADS_ENDED,
	WATT_THREADS_UNKNOWN, /* some thread did it, and nobody tells which */
	WATT_N_THREAD_RESTS,
};

/* What a window of one reader knows of an account, beside base_nj. */
struct watt_look {
	uint64_t base_cpu_ns; /* at its beginning */
	bool is_owed;         /* it was shown alive: when it is gone, it is shown once more */
};

/* How unsure what an account has of a domain is: doubt.c */
struct watt_doubt {
	int64_t told_nj;  /* lowest bits of energy_nj: what is in the spans by now */
	double variation; /* relative variance of what was told last; below 0: nothing yet */
};

/* The same of a span of time: of all, or of a window. */
struct watt_doubt_span {
	double variance_j2;
	double past_j; /* of its energy, what is off the same way as what comes next */
	double idle_j; /* beside that, what is off as idle power is, the same way everywhere */
};

/* What a container can reserve of a machine. */
enum watt_request_kind {
	WATT_REQUEST_CPU,    /* in thousandths of a CPU */
	WATT_REQUEST_MEMORY, /* in bytes */
	WATT_N_REQUESTS,
};

struct watt_request {
	uint64_t amount[WATT_N_REQUESTS];
};

struct watt_account {
	struct watt_hnode by_name; /* of those that are found by their names */
	struct watt_hnode by_id;
	uint64_t id;
	enum watt_entity_kind kind;
	uint32_t count; /* processes in it so far */
	uint32_t users; /* members, processes and slices that point here: it can't go while above 0 */
	uint32_t inside; /* of a sum: processes that are in it now */
	bool is_alive;
	uint64_t parent_id;
	struct watt_request request; /* of a container: what it has reserved */
	size_t reserve;              /* and scratch of reserve.c */
	uint32_t root_pid;           /* of a set that is tracked: the process that it began with */
	uint64_t root_start_ns;
	bool is_untracked;        /* the same: nobody counts for it any more */
	uint64_t tracked_id;      /* of a process or thread: the newest set that it counts for */
	struct watt_name *name;   /* owned; by which it is found */
	struct watt_name *title;  /* owned; what it is called instead, or NULL */
	struct watt_name *cgroup; /* owned; NULL: not known */
	struct watt_account *up[WATT_ACCOUNT_UPS]; /* sums that it is a part of; NULL: no more */
	struct watt_account *home; /* of a container: the pod or unit that it is in; NULL: none */
	/* Of a process whose threads are accounts; NULL: none yet. */
	struct watt_account *rest[WATT_N_THREAD_RESTS];
	/* Of a process that is gone: what it is retired into; NULL: nobody looked there yet. */
	struct watt_account *exited;
	uint64_t cpu_ns;
	/* Of cpu_ns, what lies behind the barrier at which a snapshot is taken. */
	uint64_t ahead_cpu_ns;
	struct watt_member *members; /* owned; of a process, and of what else is in sums */
	watt_i128 *energy_nj;        /* per domain */
	/* Of a sum, as is a process whose threads are accounts: what parts had that are no more,
	 * and scratch of the check; else NULL. */
	watt_i128 *retired_nj;
	watt_i128 *check_nj;
	int64_t *carry;                /* of watt_share; NULL of a sum */
	watt_i128 *bases_nj;           /* per window and domain: energy_nj at its beginning */
	struct watt_look *looks;       /* per window */
	struct watt_doubt *doubts;     /* per domain */
	struct watt_doubt_span *spans; /* per domain: of all, and behind it per window */
	size_t cap_domains;            /* that it has room for */
	bool is_promised;              /* of a thread: who reads is owed to be shown it gone */
	bool is_kept; /* for threads that some readers see in it, and others don't */
	/* Scratch of retiring, of a process: members of threads that are gone. */
	uint32_t n_gone_parts;
	/* Scratch of a snapshot, and of doubt.c. */
	size_t row;
	uint32_t doubt_at; /* among the sums that are told of now, plus 1 */
	bool is_hidden;    /* its reader sees it among those that are over */
	uint32_t n_hidden; /* of an account of those: who is in it for this reader alone */
};

struct watt_accounts {
	struct watt_account **list; /* as they came */
	size_t n, cap;
	size_t n_domains;
	size_t cap_domains; /* that every account has room for */
	size_t n_windows;   /* the same */
	size_t n_of_kind[WATT_ENTITY_JOB + 1];
	uint64_t next_id;
	bool has_threads; /* a process is the sum of its threads */
	struct watt_htab by_name, by_id;
};

/* 0 or -ENOMEM. */
int watt_accounts_init(struct watt_accounts *accounts, size_t n_domains);
void watt_accounts_done(struct watt_accounts *accounts);
/*
 * Adds one; takes the reference to name. NULL: no memory, and the name is gone. Ids count what came
 * with usage and its like, so that they are the same whoever looks, when and how often.
 */
struct watt_account *watt_accounts_add(struct watt_accounts *accounts, enum watt_entity_kind kind,
				       struct watt_name *name_take);
/*
 * The same of what is there because somebody looked: its id is made of what it stands for. key:
 * a hash of that.
 */
struct watt_account *watt_accounts_add_keyed(struct watt_accounts *accounts,
					     enum watt_entity_kind kind,
					     struct watt_name *name_take, uint64_t key);
/* The key of one that is found by its name. */
uint64_t watt_account_name_key(enum watt_entity_kind kind, const char *text);
/* The account with this id; NULL: it is gone. */
struct watt_account *watt_accounts_find_id(const struct watt_accounts *accounts, uint64_t id);
/* There are so many domains now. 0, or -ENOMEM and nothing has changed for anybody. */
int watt_accounts_grow(struct watt_accounts *accounts, size_t n_domains);
/* There are so many windows now; those that are new begin with the session. 0 or -ENOMEM. */
int watt_accounts_add_windows(struct watt_accounts *accounts, size_t n_windows);
/* The account of a name, of kind exited, container, pod, unit or job; NULL: none. */
struct watt_account *watt_accounts_find(const struct watt_accounts *accounts,
					enum watt_entity_kind kind, const char *text);
/* The next one of the same kind and name, as two pods can have a container "web" each. */
struct watt_account *watt_accounts_find_next(const struct watt_account *account);
/* Adds all that `from` has, in all windows too. */
void watt_account_merge(const struct watt_accounts *accounts, struct watt_account *to,
			const struct watt_account *from);
/* A part of a sum is no more: what it had stays in it. */
void watt_account_retire(const struct watt_accounts *accounts, struct watt_account *sum,
			 const watt_i128 *energy_nj);
/* Makes `sum` contain `part` from now on and from its beginning. */
void watt_account_link(const struct watt_accounts *accounts, struct watt_account *part,
		       struct watt_account *sum);
/*
 * Says what a container is in: its parent, which it is no part of by itself, since its cgroups
 * are. home NULL: nothing that has all of it.
 */
void watt_account_set_home(struct watt_account *account, struct watt_account *home);
/* Frees the accounts that `is_over` names, in one pass. */
void watt_accounts_purge(struct watt_accounts *accounts,
			 bool (*is_over)(const struct watt_account *account));
/* A window begins here. */
void watt_accounts_rebase(struct watt_accounts *accounts, size_t reader);

/* Whether the kind divides energy, rather than summing it again. */
bool watt_entity_kind_is_leaf(enum watt_entity_kind kind);
/* Whether it is the sum of others. */
bool watt_entity_kind_is_sum(enum watt_entity_kind kind);

/* What it is called. */
static inline struct watt_name *watt_account_get_title(const struct watt_account *account)
{
	return account->title ? account->title : account->name;
}

/* What it had of each domain when the window began. */
static inline watt_i128 *watt_account_get_base(const struct watt_account *account, size_t reader)
{
	return &account->bases_nj[reader * account->cap_domains];
}

/* Where its doubts are, of a window or, where reader is WATT_DOUBT_ALL, since the beginning. */
#define WATT_DOUBT_ALL SIZE_MAX
static inline struct watt_doubt_span *watt_account_get_spans(const struct watt_account *account,
							     size_t reader)
{
	return &account->spans[(reader + 1) * account->cap_domains];
}

static inline void watt_account_add_energy(struct watt_account *account, size_t domain,
					   int64_t energy_nj)
{
	size_t i;

	account->energy_nj[domain] += energy_nj;
	for (i = 0; i < WATT_ACCOUNT_UPS && account->up[i]; i++)
		account->up[i]->energy_nj[domain] += energy_nj;
}

static inline void watt_account_add_cpu(struct watt_account *account, uint64_t cpu_ns)
{
	size_t i;

	account->cpu_ns += cpu_ns;
	for (i = 0; i < WATT_ACCOUNT_UPS && account->up[i]; i++)
		account->up[i]->cpu_ns += cpu_ns;
}

#endif
