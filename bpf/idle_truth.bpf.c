/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The truth that idle times are held against: for how long the idle task of one CPU ran, and since
 * when it does, by every context switch there. For an experiment only.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 wanted_cpu;
__u64 idle_ns;
__u64 since_ns; /* 0: it does not run */

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now_ns;

	if (bpf_get_smp_processor_id() != wanted_cpu)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (prev->pid == 0 && since_ns)
		idle_ns += now_ns - since_ns;
	since_ns = next->pid == 0 ? now_ns : 0;
	return 0;
}
