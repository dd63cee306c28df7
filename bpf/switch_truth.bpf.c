/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The truth that the source is held against: who ran on which CPU and for how long, counted at
 * every context switch. For tests only.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "switch_truth.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct truth_key);
	__type(value, __u64);
} ran SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64);
} last SEC(".maps");

const volatile __u32 parent_tgid;

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev)
{
	struct truth_key key = { .tid = prev->pid, .cpu = bpf_get_smp_processor_id() };
	__u64 now_ns = prev->se.sum_exec_runtime, *last_ns, *ran_ns, delta_ns = now_ns;

	if (prev->real_parent->tgid != parent_tgid)
		return 0;
	last_ns = bpf_map_lookup_elem(&last, &key.tid);
	if (last_ns)
		delta_ns -= *last_ns;
	bpf_map_update_elem(&last, &key.tid, &now_ns, BPF_ANY);
	ran_ns = bpf_map_lookup_elem(&ran, &key);
	if (ran_ns)
		*ran_ns += delta_ns;
	else
		bpf_map_update_elem(&ran, &key, &delta_ns, BPF_ANY);
	return 0;
}
