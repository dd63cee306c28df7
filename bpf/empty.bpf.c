/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that do nothing where the real ones are: what the mere call costs. For benchmarks only.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sched_process_fork")
int empty_fork(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_process_exit")
int empty_exit(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_process_free")
int empty_free(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_switch")
int empty_switch(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int empty_migrate(void *ctx)
{
	return 0;
}
