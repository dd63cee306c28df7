/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether this kernel keeps the time of irqs out of the tasks' time, found out by CO-RE. */
#ifndef WATT_BPF_IRQ_TIME_H
#define WATT_BPF_IRQ_TIME_H

/* There where it does. */
struct irqtime___any {
	__u64 total;
} __attribute__((preserve_access_index));

static __always_inline bool irq_time_is_separate(void)
{
	return bpf_core_type_exists(struct irqtime___any);
}

#endif
