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
#include <linux/rcupdate.h>
#include <linux/vmstat.h>
#include <net/net_namespace.h>

#include "pause.h"
#include "process.h"

#define DEVICES_AT_ONCE 16 /* each has sums of each CPU */
#define TRIES_MAX 3

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

/* Lets others run. False: the device has gone, and with it the place in the list. */
static bool rest_at(struct net_device *device)
{
	bool is_there;

	dev_hold(device);
	watt_pause_rcu();
	is_there = device->reg_state == NETREG_REGISTERED && net_eq(dev_net(device), &init_net);
	dev_put(device);
	return is_there;
}

/* False: a device went meanwhile. A host of containers has thousands. */
static bool try_net(u64 *ret_rx, u64 *ret_tx)
{
	struct net_device *device;
	unsigned int n = 0;
	bool r = true;

	*ret_rx = 0;
	*ret_tx = 0;
	rcu_read_lock();
	for_each_netdev_rcu(&init_net, device) {
		struct rtnl_link_stats64 stats;

		dev_get_stats(device, &stats);
		*ret_rx += stats.rx_packets;
		*ret_tx += stats.tx_packets;
		if (++n % DEVICES_AT_ONCE == 0 && !rest_at(device)) {
			r = false;
			break;
		}
	}
	rcu_read_unlock();
	return r;
}

/* Where devices come and go all the time it is what it was. */
static void read_net(struct watt_counts *ret)
{
	static u64 rx, tx;
	u64 now_rx, now_tx;
	unsigned int i;

	for (i = 0; i < TRIES_MAX; i++) {
		if (!try_net(&now_rx, &now_tx))
			continue;
		rx = now_rx;
		tx = now_tx;
		break;
	}
	ret->rx_packets = rx;
	ret->tx_packets = tx;
}

void watt_system_read(struct watt_counts *ret)
{
	*ret = sum;
	ret->mem_bytes = memory_bytes();
	read_disks(ret);
	watt_pause_resume(); /* that may sleep */
	read_net(ret);
}
