/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes hooks take long, which look at the clock: those of tasks of a certain name. For tests only.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 hold_ns;
/* The first characters of the name, as a number. */
const volatile __u32 name;

static long is_over(__u32 i, __u64 *end_ns)
{
	return bpf_ktime_get_ns() >= *end_ns;
}

SEC("fentry/bpf_ktime_get_ns")
int on_clock(void *ctx)
{
	__u64 end_ns = bpf_ktime_get_ns() + hold_ns;
	char comm[16];

	if (!bpf_get_current_comm(comm, sizeof(comm)) && *(__u32 *)comm == name)
		bpf_loop(1u << 23, is_over, &end_ns, 0);
	return 0;
}
