/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of struct watt_attrib, shared by the files of this stage. */
#ifndef WATT_ATTRIB_STATE_H
#define WATT_ATTRIB_STATE_H

#include "attrib/attrib.h"

#include "attrib/account.h"
#include "attrib/activity.h"
#include "attrib/baseline.h"
#include "attrib/cpus.h"
#include "attrib/key.h"
#include "attrib/share.h"
#include "attrib/silence.h"
#include "attrib/slice.h"
#include "attrib/task.h"
#include "attrib/thread.h"
#include "attrib/tree.h"

#define WATT_NOT_JOINED UINT64_MAX

/* Where a window of one reader began in a ledger. */
struct watt_ledger_base {
	uint64_t t_ns;   /* attributed up to there */
	uint64_t n_told; /* as of the ledger */
	watt_i128 energy_nj;
	watt_i128 idle_nj;
	watt_i128 unattributed_nj;
	watt_i128 shared_idle_nj;
	uint64_t clamped_ns;
	uint64_t transient_ns;
};

/* What rows of a snapshot have in common: doubt.c */
struct watt_doubt_shown {
	bool is_known;              /* how unsure the domain is */
	bool is_untold_since_begin; /* of the reader's window */
	double idle_part;           /* of what was given since accounts were told */
};

/* What became of one domain's energy. */
struct watt_ledger {
	const struct watt_domain *domain;
	bool *has_place[WATT_N_ACTIVITIES]; /* per place of a kind: whether it is of the domain */
	uint32_t n_places[WATT_N_ACTIVITIES];
	struct watt_key_chain chain;
	uint64_t n_told;          /* how often accounts were told how unsure it is: doubt.c */
	uint64_t told_ns;         /* and up to where the last time */
	double variation;         /* relative variance of what anybody got then, as a mean */
	double untold_j;          /* dynamic energy since then */
	double untold_idle_j;     /* and how far idle energy may be off in it: doubt.c */
	bool is_idle_known;       /* in the newest slice */
	int64_t nobodys_carry;    /* as watt_share.carry, of those whom nobody knows */
	int64_t unreserved_carry; /* the same, of idle energy that nobody has reserved */
	enum watt_share_key key;  /* that divided the newest slice */
	uint32_t n_instances;     /* of a GPU: how many domains have a share of its own */
	bool is_started;
	bool is_usable;
	bool is_clamped; /* a residual's newest slice */
	uint64_t start_ns;
	uint64_t cursor_ns; /* attributed up to here */
	uint64_t next_seq;  /* slice to attribute next */
	uint64_t last_seq;  /* slice attributed last */
	/* Its energy counts from this slice on; 0: from the beginning; WATT_NOT_JOINED: it has come
	 * later, and has no reading yet. */
	uint64_t join_seq;
	uint64_t come_ns;  /* of one that has come later: when; 0: it was there at the beginning */
	watt_i128 last_nj; /* E(cursor) on the curve */
	watt_i128 energy_nj;
	watt_i128 idle_nj;
	watt_i128 unattributed_nj;
	watt_i128 late_nj;
	watt_i128 shared_idle_nj;          /* idle energy that who ran has got */
	struct watt_doubt_shown shown;     /* scratch of a snapshot */
	watt_i128 check_nj, check_base_nj; /* scratch of the conservation check */
	/* Of a residual: what its parts have had that the whole has not counted yet. */
	watt_i128 debt_nj;
	struct watt_silence silence;    /* of a part */
	struct watt_ledger_base *bases; /* per window */
	/* Of a residual: when its whole or any of its parts had no energy. */
	uint64_t gaps, gap_ns;
	uint64_t gap_end_ns; /* of the newest one */
	/* For so long its parts were more than the whole, and it was cut at 0. */
	uint64_t clamped_ns;
	uint64_t transient_ns; /* and for so long they changed faster than the whole can show */
	uint64_t doubtful_ns;  /* up to here it is not what it seems, by that */
	struct watt_baseline baseline;
};

struct watt_cgroup_ask {
	uint64_t id;
	uint32_t pid;
	bool v1;
};

struct watt_process_ask {
	uint32_t pid;
	uint64_t start_ns;
};

/* A growing list of questions, asked once each. */
struct watt_asks {
	struct watt_process_ask *processes;
	size_t n_processes, cap_processes;
	size_t tidy_at_n; /* processes at which to drop those that are gone */
	struct watt_cgroup_ask *cgroups;
	size_t n_cgroups, cap_cgroups;
	uint32_t *users;
	size_t n_users, cap_users;
	uint64_t *containers; /* ids of their accounts */
	size_t n_containers, cap_containers;
};

/* Finds the account of a cgroup or a user by its number. */
struct watt_number_node {
	struct watt_hnode node;
	uint64_t number;
	bool v1;
	bool is_asked;        /* the question is on the list */
	uint32_t asked_sweep; /* when it was put there last */
	struct watt_account *account;
};

/* CPU time that no task explains. */
struct watt_nobody {
	uint64_t told_ns; /* of watt_usage_batch.unseen_ns: taken so far */
	/* Per place: what its CPUs were busy for, less whom it was given to. */
	int64_t *balance_ns;
	uint32_t n_places;
};

/* Where a window of one reader began for a channel of context. */
struct watt_gauge_base {
	uint64_t t_ns; /* 0: before its first reading */
	uint64_t gap_ns;
	watt_i128 sum;
};

/* One reader and its window. That of id 0 is the session's own, and is always there. */
struct watt_cursor_state {
	uint32_t id;
	bool is_open;
	uint64_t window_start_ns; /* 0: with the first sweep */
	uint64_t n_snapshots;
	struct watt_gauge_base *gauges; /* per channel, as many as had readings in its snapshots */
	size_t n_gauges;
};

struct watt_attrib {
	struct watt_tree tree;
	struct watt_ledger *ledgers; /* per domain */
	size_t n_ledgers;
	size_t n_channels;
	const struct watt_channel **channels; /* of which there are so many */
	uint16_t *cpu_slot;
	uint32_t n_cpus;
	uint32_t n_slots;
	struct watt_cpu_place *places; /* of each slot; NULL: one has all */
	const struct watt_key_ops *const *keys;
	struct watt_rules share_keys;     /* as in the options */
	const struct watt_profile *prior; /* the same; NULL: none */
	uint64_t grace_ns;
	uint64_t horizon_ns;
	uint32_t self_pid;
	enum watt_idle_policy idle_policy;
	uint64_t memory_bytes;         /* of the machine; 0: not known */
	struct watt_reserve *reserves; /* of the newest slice: reserve.c */
	size_t n_reserves, cap_reserves;
	uint64_t reserved_ns; /* when they were looked up */
	struct watt_tasks tasks;
	struct watt_activities activities[WATT_N_ACTIVITIES];
	struct watt_departures departures;
	struct watt_slices slices;
	struct watt_accounts accounts;
	size_t retire_at_n; /* accounts at which to retire, if no snapshot does it before */
	size_t n_gone; /* processes and threads that are gone, and kept for who has to see it */
	struct watt_htab cgroups; /* of watt_number_node */
	struct watt_htab users;
	bool has_late_cgroups; /* cgroups got names that those in them don't know yet */
	struct watt_asks asks;
	struct watt_account *idle, *unattributed, *irq, *softirq, *kernel;
	struct watt_account *outside; /* of our pid namespace; NULL: nobody there used anything yet */
	struct watt_account *gone_cgroups; /* NULL: none had to be retired yet */
	struct watt_part *parts;           /* scratch */
	struct watt_share *shares;
	size_t cap_parts, cap_shares;
	struct watt_cpus cpus;
	struct watt_nobody nobody;
	size_t n_untracked;              /* sets that are not purged yet */
	struct watt_account *adopt_into; /* children of self_pid are tracked here; NULL: nowhere */
	bool had_sweep;
	uint64_t first_sweep_ns;
	uint64_t last_sweep_ns;
	uint64_t barrier_ns; /* slices that begin here or later have to wait; 0: none */
	uint64_t now_ns;     /* of the last advance */
	const struct watt_timeline *timeline; /* the same; NULL: there was none */
	struct watt_cursor_state *cursors;    /* per window of the accounts */
	struct watt_quality quality;          /* what this stage knows */
};

/* attrib.c */
const struct watt_key_ops *const *watt_keys_of(const struct watt_attrib_opts *opts);
/* Places that are instances of a GPU become domains. 0 or -ENOMEM. */
int watt_attrib_add_instances(struct watt_attrib *at);
/* sweep.c */
int watt_sweep_ask_again(struct watt_attrib *at);
/*
 * The process of this pid and start (0: any), and the sums that it counts for; also one that
 * departed. 0; -ESRCH: nobody knows it; -ENOMEM. *ret is not counted.
 */
int watt_sweep_find_actor(struct watt_attrib *at, uint32_t pid, uint64_t start_ns,
			  struct watt_member **ret, uint64_t *ret_start_ns);
/* A process that has an account, in the sums that it counts for now. NULL: no memory. */
struct watt_member *watt_sweep_get_actor(struct watt_attrib *at, struct watt_process *process);
/* Nobody can run for longer than all CPUs together since the first sweep, and some more. */
bool watt_sweep_is_possible(const struct watt_attrib *at, uint64_t cpu_ns);
/* nobody.c */
int watt_nobody_init(struct watt_attrib *at);
void watt_nobody_done(struct watt_attrib *at);
/* Time of a task that was seen at a place. */
void watt_nobody_add_seen(struct watt_attrib *at, uint32_t place, uint64_t cpu_ns);
/* What CPUs were busy for since the batch before: before at->cpus takes this one. */
void watt_nobody_add_busy(struct watt_attrib *at, const struct watt_usage_batch *batch);
/* Puts what the batch tells of nobody into its slice. 0 or -ENOMEM. */
int watt_nobody_push(struct watt_attrib *at, struct watt_slice *slice,
		     const struct watt_usage_batch *batch);
/* activity.c */
void watt_activities_done(struct watt_attrib *at);
/* Whether any source tells of activities at all. */
bool watt_activities_have_places(const struct watt_attrib *at);
/* Whether a place is told of, and is there now. */
bool watt_activities_are_there(const struct watt_attrib *at, enum watt_activity_kind kind,
			       const char *path);
/*
 * Whether it can be told who did something at a place up to t_ns. FORBIDDEN: by numbers of another
 * pid namespace alone; ABSENT: the place has gone; PENDING, STALE: nothing is told, yet or any more.
 */
enum watt_status watt_activities_status(const struct watt_attrib *at, enum watt_activity_kind kind,
					size_t index, uint64_t t_ns);
/* A process is gone: keeps its actor as long as somebody may tell of it. */
void watt_activities_depart(struct watt_attrib *at, const struct watt_departed *departed);
/* Fills the slices of which everything is known, or has had time enough to be. 0 or -ENOMEM. */
int watt_activities_fill(struct watt_attrib *at, uint64_t now_ns);
/* CPU time in slices that a barrier keeps back, per account: barrier.c */
void watt_barrier_count_ahead(struct watt_attrib *at);
/* accounts of a stage: groups.c */
int watt_groups_ask_again(struct watt_attrib *at);
int watt_groups_init(struct watt_attrib *at);
/* The one account of all who are outside of the pid namespace that is shown. NULL: no memory. */
struct watt_account *watt_groups_add_outside(struct watt_attrib *at);
void watt_groups_done(struct watt_attrib *at);
struct watt_account *watt_groups_get_cgroup(struct watt_attrib *at, uint64_t id, bool v1,
					    uint32_t pid);
/* Tells those in a cgroup what it turned out to be. */
void watt_groups_spread_names(struct watt_attrib *at);
/* Forgets the number of a cgroup's account. */
void watt_groups_drop_cgroup(struct watt_attrib *at, const struct watt_account *account);
struct watt_account *watt_groups_get_user(struct watt_attrib *at, uint32_t uid);
/* gauge.c */
/* There are so many channels. 0 or -ENOMEM. */
int watt_gauges_grow(struct watt_attrib *at, const struct watt_channel *const *channels, size_t n);
/* What is older is not asked of a channel of context, where slices are kept from there on. */
uint64_t watt_gauges_oldest_ns(const struct watt_attrib *at, uint64_t slices_ns);
/* Fills those of a snapshot, and begins the reader's next window of them. 0 or -ENOMEM. */
int watt_gauges_fill(struct watt_attrib *at, const struct watt_timeline *tl, size_t reader,
		     struct watt_snapshot *snap);
/* A reader's first window of them begins: nothing is kept of one before. 0 or -ENOMEM. */
int watt_gauges_begin(struct watt_attrib *at, size_t reader, uint64_t t_ns);
void watt_gauges_done(struct watt_attrib *at);
/* cursor.c */
int watt_cursors_init(struct watt_attrib *at);
/* The window of a cursor. 0 or -ESRCH. */
int watt_cursors_find(const struct watt_attrib *at, uint32_t id, size_t *ret_reader);
/* A window begins at t_ns, with what is attributed by now. */
void watt_cursors_begin_window(struct watt_attrib *at, size_t reader, uint64_t t_ns);
/* Retires what is over into what stays, so that memory is bounded: retire.c */
/* Before a reader looks, and behind. */
int watt_retire_before(struct watt_attrib *at, size_t reader);
int watt_retire_after(struct watt_attrib *at);
/* Whether the reader sees a process or thread among those that are over by now. */
bool watt_retire_is_hidden(const struct watt_attrib *at, const struct watt_account *account,
			   size_t reader);
/* And where; NULL: in its process, which is hidden itself. */
struct watt_account *watt_retire_get_over(const struct watt_attrib *at,
					  const struct watt_account *account);
/* Whether any reader has to see it once more. */
bool watt_retire_is_owed(const struct watt_attrib *at, const struct watt_account *account);
/* All who read have to see it once more. */
void watt_retire_owe(const struct watt_attrib *at, struct watt_account *account);
/* Sets that nobody is tracked in any more go when all that is theirs is there and was seen. */
void watt_tracked_settle(struct watt_attrib *at);
/* Whether who sees the account now has to see it once more when it is gone. */
bool watt_retire_is_owing(const struct watt_account *account);
/* When there are twice as many as were left last time: the caller may never take snapshots. */
int watt_retire_between(struct watt_attrib *at);
/* ledger.c */
/* Adds those that are missing for the domains of the tree. is_late: they have come just now. */
int watt_ledgers_grow(struct watt_attrib *at, const struct watt_channel *const *channels,
		      bool is_late);
/* Lets those in that have come later and have readings now. */
void watt_ledgers_join(struct watt_attrib *at, const struct watt_timeline *tl);
void watt_ledgers_done(struct watt_attrib *at);
/* Counts a check that a division adds up. */
void watt_ledger_check(struct watt_attrib *at, bool is_right);
/* There are so many windows now. 0 or -ENOMEM. */
int watt_ledgers_add_windows(struct watt_attrib *at, size_t n_windows);
int watt_ledger_advance(struct watt_attrib *at, struct watt_ledger *ledger,
			const struct watt_timeline *tl, uint64_t now_ns);
/*
 * How its sensor is; of a residual, how the first of its whole and of the parts that it waits for is
 * that is not well.
 */
enum watt_status watt_ledger_status(const struct watt_attrib *at, const struct watt_ledger *ledger,
				    const struct watt_timeline *tl);
/* The keys of its domain, with what is known from before: profile.c. 0 or -ENOMEM. */
int watt_ledger_open_keys(const struct watt_attrib *at, struct watt_ledger *ledger);
/* How ready the key is that was chosen for the domain. Of one that divides itself. */
uint32_t watt_ledger_key_readiness_ppm(const struct watt_ledger *ledger);
/*
 * E(t) of a domain on its curve without its silence, or of a residual from those of the parts that
 * count in slice `seq`.
 */
int watt_ledger_curve_nj(const struct watt_attrib *at, const struct watt_ledger *ledger,
			 const struct watt_timeline *tl, uint64_t t_ns, uint64_t seq,
			 watt_i128 *ret_nj);

/* ledger_places.c */
/* Which places that are there by now are the domain's. 0 or -ENOMEM. */
int watt_ledger_init_places(const struct watt_attrib *at, struct watt_ledger *ledger);
/* A slot has its place: which of them each domain has is found anew. */
void watt_ledgers_take_slots(struct watt_attrib *at);
/* A place of a kind is new: finds out which domains it is of. 0 or -ENOMEM. */
int watt_ledgers_add_place(struct watt_attrib *at, enum watt_activity_kind kind, const char *path);
/* instance.c */
static inline bool watt_ledger_is_instance(const struct watt_ledger *ledger)
{
	return ledger->domain->kind == WATT_DOMAIN_GPU_INSTANCE;
}
/* Who divides the energy of a domain: itself, or of an instance the GPU's. */
const struct watt_ledger *watt_ledger_get_divider(const struct watt_attrib *at,
						  const struct watt_ledger *ledger);
/* Whether a place is the instance's: in its GPU, and called as it is, as "gpu-0/memory/mig-1-0". */
bool watt_instance_has_path(const struct watt_domain *instance, const char *path);
bool watt_instance_is_there(const struct watt_attrib *at, const struct watt_ledger *instance);
/* The GPU has divided a slice among n parts: what its instances have of it, they have now. */
void watt_instances_advance(struct watt_attrib *at, const struct watt_ledger *gpu,
			    const struct watt_slice *slice, const struct watt_key_slice *view,
			    size_t n);

#endif
