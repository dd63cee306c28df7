/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a simulated machine, for synth_machine*.c alone. One thread per object. */
#ifndef WATT_SOURCE_SYNTH_MACHINE_STATE_H
#define WATT_SOURCE_SYNTH_MACHINE_STATE_H

#include "source/synth/curve.h"
#include "source/synth/machine.h"
#include "source/synth/rng.h"

/* Numbers of tasks begin with it. */
#define WATT_SYNTH_FIRST_PID 100

enum watt_synth_state {
	WATT_SYNTH_SLEEPING, /* until until_us */
	WATT_SYNTH_READY,
	WATT_SYNTH_RUNNING, /* until until_us, since since_us of it is not charged yet */
	WATT_SYNTH_ZOMBIE,  /* until until_us */
	WATT_SYNTH_GONE,
};

struct watt_synth_actor {
	struct watt_synth_task truth;    /* first */
	struct watt_synth_actor *leader; /* itself, if it leads */
	uint32_t n_threads;              /* of a leader: that are not gone, itself included */
	uint32_t parent_tgid;
	uint32_t uid;
	uint32_t cgroup;
	uint32_t program; /* gives comm */
	uint32_t cpu;     /* where it runs or ran last */
	enum watt_synth_state state;
	bool is_dying; /* EXIT was said */
	uint64_t until_us;
	uint64_t since_us;
	uint64_t told_cpu_ns; /* by the last sweep; UINT64_MAX: no sweep saw it */
	int64_t energy_nj[];  /* per domain */
};

struct watt_synth_cpu {
	uint32_t package;
	struct watt_synth_actor *running; /* NULL: idle */
	uint64_t busy_us;
};

struct watt_synth_machine {
	struct watt_synth_machine_opts opts; /* with what zeros stand for */
	struct watt_synth_rng rng;
	uint64_t epoch_us;
	uint64_t now_us;
	struct watt_synth_cpu *cpus;
	uint16_t *slots;
	struct watt_synth_domain *domains;
	struct watt_synth_curve *curves; /* per domain */
	uint64_t *active_mw;             /* per domain: of the tasks that run */
	int64_t *gone_nj;                /* per domain */
	size_t n_domains;
	struct watt_synth_actor **live;
	size_t n_live;
	size_t cap_live;
	struct watt_synth_actor **dead;
	size_t n_dead;
	size_t cap_dead;
	uint32_t last_pid;
	uint32_t n_programs;
	struct watt_usage *records; /* events since the last sweep, then its tasks */
	size_t n_records;
	size_t cap_records;
	uint64_t lost;
	struct watt_cpu_time *times;
};

/* The power of a domain is now that of idling plus active_mw. 0 or -ENOMEM. */
int watt_synth_domain_step(struct watt_synth_machine *m, size_t domain);
/* Gives every idle CPU a ready task, if there is one for it. 0 or -ENOMEM. */
int watt_synth_fill_cpus(struct watt_synth_machine *m);
/* Charges a running task up to now, to itself, its CPU and its domains. */
void watt_synth_task_charge(struct watt_synth_machine *m, struct watt_synth_actor *task);
/* Notes an event of the task now; it may get lost. 0 or -ENOMEM. */
int watt_synth_event(struct watt_synth_machine *m, const struct watt_synth_actor *task,
		     enum watt_usage_kind kind);

/* A new task, ready to run; leader NULL: it leads a process of its own. */
int watt_synth_task_new(struct watt_synth_machine *m, const struct watt_synth_actor *parent,
			struct watt_synth_actor *leader, bool is_kthread,
			struct watt_synth_actor **ret);
/* What task does at the end of its run. */
int watt_synth_task_decide(struct watt_synth_machine *m, struct watt_synth_actor *task);
/* The zombie is reaped: it leaves the living. */
int watt_synth_task_reap(struct watt_synth_machine *m, struct watt_synth_actor *task);

#endif
