/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tells user space what every CPU did since boot, as /proc/stat does, but in ns: reads what the
 * kernel keeps per CPU. An object of its own, because not every kernel lets its data be named.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "usage_layout.h"

char LICENSE[] SEC("license") = "GPL";

/* Bits of tick_sched.flags since Linux 6.9: the kernel has no type for them. */
#define TICK_IDLE_ACTIVE (1ul << 2)
#define TICK_NOHZ (1ul << 4)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Fewer members than the kernel's, under names of their own: BTF tells where they are. */
struct kernel_cpustat___any {
	__u64 cpustat[1];
};

/*
 * As new kernels keep idle times, 7.2 among them: in the counts of the CPU, by a clock, and with
 * what the hypervisor has stolen meanwhile to be taken off later.
 */
struct kernel_cpustat___clock {
	bool idle_elapse;
	__u64 idle_entrytime;
	__u64 idle_stealtime[2];
};

enum cpu_usage_stat___any {
	CPUTIME_USER___any,
	CPUTIME_NICE___any,
	CPUTIME_SYSTEM___any,
	CPUTIME_SOFTIRQ___any,
	CPUTIME_IRQ___any,
	CPUTIME_IDLE___any,
	CPUTIME_IOWAIT___any,
	CPUTIME_STEAL___any,
};

struct tick_sched___any {
	__s64 idle_entrytime;
	__s64 idle_sleeptime;
	__s64 iowait_sleeptime;
};

struct tick_sched___flags {
	unsigned long flags;
};

enum tick_nohz_mode___bits {
	NOHZ_MODE_INACTIVE___bits,
};

struct tick_sched___bits {
	enum tick_nohz_mode___bits nohz_mode;
	unsigned int idle_active : 1;
};

enum cpuhp_state___any {
	CPUHP_AP_ONLINE_IDLE___any = 1,
};

struct cpuhp_cpu_state___any {
	enum cpuhp_state___any state;
};

#pragma clang attribute pop

extern const struct kernel_cpustat___any kernel_cpustat __ksym;
extern const struct tick_sched___any tick_cpu_sched __ksym;
extern const struct cpuhp_cpu_state___any cpuhp_state __ksym;

/* Per CPU; user space sets how many there are. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watt_bpf_cpu_time);
} times SEC(".maps");

const volatile __u32 n_cpus = 1;
/* CPUs that are online and whose idle time is counted in ticks only. */
__u32 n_coarse;

struct idle {
	__s64 slept_ns;
	__s64 since_ns;
	__s64 stolen_ns; /* of the period that has not ended, at most */
	bool is_active;
};

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))

#define CPU_STAT(stat, name) \
	stat_ns(stat, bpf_core_enum_value(enum cpu_usage_stat___any, CPUTIME_##name##___any))

static __always_inline __u64 stat_ns(const struct kernel_cpustat___any *stat, __u64 i)
{
	const __u64 *ns = (const void *)&stat->cpustat;

	return READ_ONCE(ns[i]);
}

static __always_inline bool has_nohz(const struct tick_sched___any *tick)
{
	const struct tick_sched___flags *flags = (const void *)tick;
	const struct tick_sched___bits *bits = (const void *)tick;

	if (bpf_core_field_exists(flags->flags))
		return flags->flags & TICK_NOHZ;
	return bits->nohz_mode !=
	       bpf_core_enum_value(enum tick_nohz_mode___bits, NOHZ_MODE_INACTIVE___bits);
}

/* Not inline: where there is no such bit, not even its address may be computed ahead of the loop. */
static __noinline bool is_idle_bit(const struct tick_sched___bits *bits)
{
	return BPF_CORE_READ_BITFIELD(bits, idle_active);
}

static __always_inline bool is_idle(const struct tick_sched___any *tick)
{
	const struct tick_sched___flags *flags = (const void *)tick;

	if (bpf_core_field_exists(flags->flags))
		return READ_ONCE(flags->flags) & TICK_IDLE_ACTIVE;
	return is_idle_bit((const void *)tick);
}

/* Not inline, as is_idle_bit(). */
static __noinline bool read_idle_of_tick(const struct tick_sched___any *tick, struct idle *ret)
{
	ret->slept_ns = READ_ONCE(tick->idle_sleeptime) + READ_ONCE(tick->iowait_sleeptime);
	ret->since_ns = READ_ONCE(tick->idle_entrytime);
	ret->stolen_ns = 0;
	barrier();
	ret->is_active = is_idle(tick);
	return ret->is_active;
}

static __noinline __s64 stolen_ns(const struct kernel_cpustat___clock *clock)
{
	return READ_ONCE(clock->idle_stealtime[0]) + READ_ONCE(clock->idle_stealtime[1]);
}

static __noinline bool read_idle_of_clock(const struct kernel_cpustat___any *stat, struct idle *ret)
{
	const struct kernel_cpustat___clock *clock = (const void *)stat;

	ret->slept_ns = CPU_STAT(stat, IDLE) + CPU_STAT(stat, IOWAIT);
	ret->since_ns = READ_ONCE(clock->idle_entrytime);
	ret->stolen_ns = 0;
	if (bpf_core_field_exists(clock->idle_stealtime))
		ret->stolen_ns = stolen_ns(clock);
	barrier();
	ret->is_active = READ_ONCE(clock->idle_elapse);
	return ret->is_active;
}

static __always_inline void read_idle(const struct kernel_cpustat___any *stat,
				      const struct tick_sched___any *tick, struct idle *ret)
{
	const struct kernel_cpustat___clock *clock = (const void *)stat;

	if (bpf_core_field_exists(clock->idle_elapse))
		read_idle_of_clock(stat, ret);
	else
		read_idle_of_tick(tick, ret);
}

/* Whether it is read as it was before. */
static __always_inline bool is_settled(const struct kernel_cpustat___any *stat,
				       const struct tick_sched___any *tick, struct idle *idle)
{
	struct idle first = *idle;

	barrier();
	read_idle(stat, tick, idle);
	return first.slept_ns == idle->slept_ns && first.since_ns == idle->since_ns &&
	       first.is_active == idle->is_active;
}

/*
 * Idle and waiting for I/O, the period that has not ended yet included. It is read until two
 * readings are the same, a few times: whoever writes it takes no lock. No loop: Linux 6.1 takes
 * none in what bpf_loop calls.
 */
static __always_inline __u64 idle_ns(const struct kernel_cpustat___any *stat,
				     const struct tick_sched___any *tick)
{
	struct idle idle;
	__s64 now_ns;

	read_idle(stat, tick, &idle);
	if (!is_settled(stat, tick, &idle) && !is_settled(stat, tick, &idle))
		is_settled(stat, tick, &idle);
	now_ns = bpf_ktime_get_ns();
	now_ns -= idle.stolen_ns;
	if (!idle.is_active || now_ns < idle.since_ns)
		return idle.slept_ns;
	return idle.slept_ns + (now_ns - idle.since_ns);
}

static __always_inline bool is_online(__u32 cpu)
{
	const struct cpuhp_cpu_state___any *hotplug = bpf_per_cpu_ptr(&cpuhp_state, cpu);

	return hotplug && hotplug->state >= bpf_core_enum_value(enum cpuhp_state___any,
								CPUHP_AP_ONLINE_IDLE___any);
}

static long tell_cpu(__u32 cpu, void *data)
{
	const struct kernel_cpustat___any *stat = bpf_per_cpu_ptr(&kernel_cpustat, cpu);
	const struct tick_sched___any *tick = bpf_per_cpu_ptr(&tick_cpu_sched, cpu);
	struct watt_bpf_cpu_time *time = bpf_map_lookup_elem(&times, &cpu);

	if (!time)
		return 1;
	time->online = 0;
	if (!stat || !tick || !is_online(cpu))
		return 0;
	time->user_ns = CPU_STAT(stat, USER) + CPU_STAT(stat, NICE);
	time->system_ns = CPU_STAT(stat, SYSTEM);
	time->irq_ns = CPU_STAT(stat, IRQ);
	time->softirq_ns = CPU_STAT(stat, SOFTIRQ);
	time->steal_ns = CPU_STAT(stat, STEAL);
	if (has_nohz(tick)) {
		time->idle_ns = idle_ns(stat, tick);
	} else {
		time->idle_ns = CPU_STAT(stat, IDLE) + CPU_STAT(stat, IOWAIT);
		n_coarse++;
	}
	time->online = 1;
	return 0;
}

SEC("syscall")
int read_cpus(void *ctx)
{
	n_coarse = 0;
	bpf_loop(n_cpus, tell_cpu, NULL, 0);
	return 0;
}
