/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts at each context switch what the kernel keeps for nobody: cycles and instructions of each
 * task, how long its core's other thread was busy beside it, and how long interrupts took of its
 * time. Loaded in precise mode only; it must do no more than it has to.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "precise_layout.h"
#include "irq_time.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Run time that is taken for time, until the clock is read: what handlers took of it is not in it. */
#define LENT_MOST_NS 100000
#define UNKNOWN (~0ULL)

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))

/* User space sets how many entries each map has. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watt_precise_set);
} tasks SEC(".maps");

/* Per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watt_precise_cpu);
} cpus SEC(".maps");

/* Bits of sets that have changed, of each CPU for itself. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} changed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cycles SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} instructions SEC(".maps");

const volatile __u32 set_mask;
const volatile bool has_cycles;
const volatile bool has_instructions;
const volatile bool has_siblings;
const volatile bool has_frequency; /* cycles are made of time */
const volatile bool is_bare;       /* for who measures: looks for tasks, and counts nothing */

/* The kernel keeps irq time apart: nobody has to count it. */
__u32 is_irq_separate;

static __always_inline struct watt_precise_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

static __always_inline __u64 tag_of(const struct task_struct *task, __u32 slot)
{
	return (task->start_boottime ^ (__u64)task->pid << 42 ^ (__u64)slot << 32) | 2;
}

static __always_inline bool take_place(struct watt_precise_task *place, struct task_struct *task,
				       __u64 tag, __u32 slot)
{
	if (__sync_val_compare_and_swap(&place->tag, WATT_PRECISE_FREE, WATT_PRECISE_BEING_MADE) !=
	    WATT_PRECISE_FREE)
		return false;
	for (int i = 0; i < WATT_PRECISE_N; i++)
		place->counts[i] = 0;
	place->tgid = task->tgid;
	place->slot = slot;
	place->leader_start_ns = task->group_leader->start_boottime;
	WRITE_ONCE(place->tag, tag);
	return true;
}

/* The place of a task, which it gets where it has none; NULL: all of its set are taken. */
static __always_inline struct watt_precise_task *find(struct task_struct *task, __u32 slot,
						      __u32 *ret_set)
{
	__u32 at = ((__u32)task->pid + slot * 0x51ed) & set_mask;
	struct watt_precise_set *set = bpf_map_lookup_elem(&tasks, &at);
	__u64 tag = tag_of(task, slot);

	*ret_set = at;
	if (!set)
		return NULL;
	for (int i = 0; i < WATT_PRECISE_WAYS; i++)
		if (set->ways[i].tag == tag)
			return &set->ways[i];
	for (int i = 0; i < WATT_PRECISE_WAYS; i++)
		if (take_place(&set->ways[i], task, tag, slot))
			return &set->ways[i];
	return NULL;
}

/* Behind the counts: who sees the bit sees them. */
static __always_inline void note_change(const struct watt_precise_cpu *cpu, __u32 set)
{
	__u32 at = cpu->first_word + set / 64;
	__u64 *word = bpf_map_lookup_elem(&changed, &at);

	if (word)
		WRITE_ONCE(*word, READ_ONCE(*word) | 1ULL << set % 64);
}

/* What has been done since the last look at this CPU. */
struct step {
	__u64 now_ns;
	__u64 sibling_busy_ns;
	__u32 sibling_turns;
	__u32 lent_ns;
	__u64 counters[2];
	__u64 counts[WATT_PRECISE_N];
};

static __always_inline __u64 read_counter(void *map)
{
	struct bpf_perf_event_value value;

	if (bpf_perf_event_read_value(map, BPF_F_CURRENT_CPU, &value, sizeof(value)) < 0)
		return 0;
	return value.counter;
}

/*
 * One task after the other beside a sibling that has been busy all the time: a task has shared what it
 * ran, which the kernel counts in any case. The clock, which costs most, is read now and then only.
 */
static __always_inline bool take_run_time(const struct watt_precise_cpu *cpu, __u64 ran_ns,
					  struct step *ret)
{
	if (ran_ns > LENT_MOST_NS || cpu->lent_ns + ran_ns > LENT_MOST_NS)
		return false;
	ret->now_ns = cpu->since_ns + ran_ns;
	ret->sibling_busy_ns = cpu->sibling_busy_ns + ran_ns;
	ret->lent_ns = cpu->lent_ns + ran_ns;
	ret->counts[WATT_PRECISE_SHARED_NS] = ran_ns;
	return true;
}

/*
 * Time beside a busy sibling. What is read of it may be written meanwhile: what comes of that is cut
 * to what can be. One task after the other beside a sibling that has been idle all the time: nothing
 * has come, and the clock need not be read either. Nobody has shared more than he ran: ran_ns, or
 * UNKNOWN.
 */
static __always_inline void measure_time(const struct watt_precise_cpu *cpu, __u64 ran_ns,
					 bool is_next_busy, struct step *ret)
{
	bool goes_on = !has_frequency && cpu->turns & 1 && is_next_busy;
	const struct watt_precise_cpu *sibling = NULL;
	__u64 busy_ns = 0, since_ns;
	__s64 shared_ns, most_ns;
	__u32 at = cpu->sibling - 1;

	if (cpu->sibling)
		sibling = bpf_map_lookup_elem(&cpus, &at);
	if (sibling)
		ret->sibling_turns = READ_ONCE(sibling->turns);
	if (goes_on && ret->sibling_turns & 1 && ret->sibling_turns == cpu->sibling_turns &&
	    take_run_time(cpu, ran_ns, ret))
		return;
	if (sibling)
		busy_ns = READ_ONCE(sibling->busy_ns);
	ret->now_ns = cpu->since_ns;
	ret->sibling_busy_ns = busy_ns;
	ret->lent_ns = cpu->lent_ns;
	if (goes_on && !(ret->sibling_turns & 1) && busy_ns == cpu->sibling_busy_ns)
		return;
	ret->now_ns = bpf_ktime_get_ns();
	ret->lent_ns = 0;
	if (sibling && ret->sibling_turns & 1) {
		since_ns = READ_ONCE(sibling->since_ns);
		ret->sibling_busy_ns += since_ns < ret->now_ns ? ret->now_ns - since_ns : 0;
	}
	most_ns = ret->now_ns - cpu->since_ns;
	shared_ns = ret->sibling_busy_ns - cpu->sibling_busy_ns;
	if (ran_ns != UNKNOWN && most_ns > (__s64)ran_ns)
		most_ns = ran_ns;
	shared_ns = shared_ns < most_ns ? shared_ns : most_ns;
	ret->counts[WATT_PRECISE_SHARED_NS] = shared_ns > 0 ? shared_ns : 0;
}

static __always_inline void measure(const struct watt_precise_cpu *cpu, __u64 ran_ns,
				    bool is_next_busy, struct step *ret)
{
	if (has_siblings || has_frequency)
		measure_time(cpu, ran_ns, is_next_busy, ret);
	if (has_cycles)
		ret->counters[0] = read_counter(&cycles);
	if (has_instructions)
		ret->counters[1] = read_counter(&instructions);
	ret->counts[WATT_PRECISE_CYCLES] = ret->counters[0] - cpu->counters[0];
	ret->counts[WATT_PRECISE_INSTRUCTIONS] = ret->counters[1] - cpu->counters[1];
	if (has_frequency)
		ret->counts[WATT_PRECISE_CYCLES] =
			(ret->now_ns - cpu->since_ns) * cpu->freq_khz / 1000000;
	ret->counts[WATT_PRECISE_IRQ_NS] = cpu->irq_ns - cpu->irq_told_ns;
}

static __always_inline void give(struct watt_precise_cpu *cpu, struct task_struct *task,
				 const struct step *step)
{
	struct watt_precise_task *place;
	__u32 set;

	place = find(task, cpu->slot, &set);
	if (!place) {
		cpu->lost_looks++;
		return;
	}
	if (has_cycles || has_frequency)
		place->counts[WATT_PRECISE_CYCLES] += step->counts[WATT_PRECISE_CYCLES];
	if (has_instructions)
		place->counts[WATT_PRECISE_INSTRUCTIONS] += step->counts[WATT_PRECISE_INSTRUCTIONS];
	if (has_siblings)
		place->counts[WATT_PRECISE_SHARED_NS] += step->counts[WATT_PRECISE_SHARED_NS];
	place->counts[WATT_PRECISE_IRQ_NS] += step->counts[WATT_PRECISE_IRQ_NS];
	note_change(cpu, set);
}

/* Beside an idle sibling and without counters, there is nothing to be told most of the time. */
static __always_inline bool has_any(const struct step *step)
{
	return is_bare || has_cycles || has_instructions || has_frequency ||
	       step->counts[WATT_PRECISE_SHARED_NS] || step->counts[WATT_PRECISE_IRQ_NS];
}

/* A counter that can't be read for once says 0: what it has counted meanwhile is nobody's. */
static __always_inline bool is_whole(const struct watt_precise_cpu *cpu, const struct step *step)
{
	return (!has_cycles || (step->counters[0] && cpu->counters[0])) &&
	       (!has_instructions || (step->counters[1] && cpu->counters[1]));
}

/* next runs from here on; NULL: the same, whose run time is that of the last tick. */
static __always_inline void look(struct watt_precise_cpu *cpu, struct task_struct *task,
				 const struct task_struct *next)
{
	bool is_next_busy = next ? next->pid != 0 : task->pid != 0;
	struct step step = {};
	__u64 ran_ns = UNKNOWN;

	if (next && cpu->begun_ns)
		ran_ns = task->se.sum_exec_runtime - cpu->begun_ns;
	measure(cpu, ran_ns, is_next_busy, &step);
	if (task->pid && cpu->is_known && has_any(&step) && is_whole(cpu, &step))
		give(cpu, task, &step);
	if (has_siblings && cpu->turns & 1)
		cpu->busy_ns += step.now_ns - cpu->since_ns;
	cpu->since_ns = step.now_ns;
	cpu->sibling_busy_ns = step.sibling_busy_ns;
	cpu->sibling_turns = step.sibling_turns;
	cpu->lent_ns = step.lent_ns;
	cpu->begun_ns = next ? next->se.sum_exec_runtime : 0;
	if (has_cycles)
		cpu->counters[0] = step.counters[0];
	if (has_instructions)
		cpu->counters[1] = step.counters[1];
	cpu->irq_told_ns = cpu->irq_ns;
	if ((cpu->turns & 1) != is_next_busy)
		cpu->turns++;
	cpu->is_known = 1;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct watt_precise_cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	cpu->irq_depth = 0; /* no handler switches; its end may have been missed */
	look(cpu, prev, next);
	return 0;
}

/* On each CPU when user space asks: a task that runs for long has done something, too. */
SEC("raw_tp")
int look_now(void *ctx)
{
	struct watt_precise_cpu *cpu = this_cpu();
	struct task_struct *task = bpf_get_current_task_btf();

	is_irq_separate = irq_time_is_separate();
	if (cpu)
		look(cpu, task, NULL);
	return 0;
}

static __always_inline int enter(void)
{
	struct watt_precise_cpu *cpu = this_cpu();

	if (cpu && cpu->irq_depth++ == 0)
		cpu->irq_since_ns = bpf_ktime_get_ns();
	return 0;
}

/* Where nobody saw it begin, nothing is known of it. */
static __always_inline int leave(void)
{
	struct watt_precise_cpu *cpu = this_cpu();

	if (cpu && cpu->irq_depth && --cpu->irq_depth == 0)
		cpu->irq_ns += bpf_ktime_get_ns() - cpu->irq_since_ns;
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int on_irq_entry(void *ctx)
{
	return enter();
}

SEC("tp_btf/irq_handler_exit")
int on_irq_exit(void *ctx)
{
	return leave();
}

SEC("tp_btf/softirq_entry")
int on_softirq_entry(void *ctx)
{
	return enter();
}

SEC("tp_btf/softirq_exit")
int on_softirq_exit(void *ctx)
{
	return leave();
}
