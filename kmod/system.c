// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU time and wakeups are those of all processes, exact; what the kernel had counted in ticks
 * before the module came is where they begin. The rest is counters of the kernel's own.
 */
#include "system.h"

#include <linux/cpumask.h>
#include <linux/kernel_stat.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/vmstat.h>
#include <net/net_namespace.h>

#include "process.h"

static struct watt_counts sum;

void watt_system_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct kernel_cpustat stat;

		kcpustat_cpu_fetch(&stat, cpu);
		sum.cpu_ns += stat.cpustat[CPUTIME_USER] + stat.cpustat[CPUTIME_NICE] +
			      stat.cpustat[CPUTIME_SYSTEM];
	}
}

void watt_system_add(const struct watt_counts *now, const struct watt_counts *before)
{
	sum.cpu_ns += now->cpu_ns - before->cpu_ns;
	sum.instructions += now->instructions - before->instructions;
	sum.wakeups += now->wakeups - before->wakeups;
}

static u64 memory_bytes(void)
{
	return (u64)(global_node_page_state(NR_ANON_MAPPED) +
		     global_node_page_state(NR_FILE_MAPPED) + global_node_page_state(NR_SHMEM))
	       << PAGE_SHIFT;
}

/* Blocks of 512 bytes, as block devices were asked for them. */
static void read_disks(struct watt_counts *ret)
{
#ifdef CONFIG_VM_EVENT_COUNTERS
	static unsigned long events[NR_VM_EVENT_ITEMS];

	all_vm_events(events);
	ret->disk_read_bytes = (u64)events[PGPGIN] << 9;
	ret->disk_write_bytes = (u64)events[PGPGOUT] << 9;
#endif
}

static void read_net(struct watt_counts *ret)
{
	struct net_device *device;

	ret->rx_packets = 0;
	ret->tx_packets = 0;
	rcu_read_lock();
	for_each_netdev_rcu(&init_net, device) {
		struct rtnl_link_stats64 stats;

		dev_get_stats(device, &stats);
		ret->rx_packets += stats.rx_packets;
		ret->tx_packets += stats.tx_packets;
	}
	rcu_read_unlock();
}

void watt_system_read(struct watt_counts *ret)
{
	*ret = sum;
	ret->mem_bytes = memory_bytes();
	read_disks(ret);
	read_net(ret);
}
