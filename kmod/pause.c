// SPDX-License-Identifier: GPL-2.0-only
#include "pause.h"

#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>

/*
 * The thread goes before others, to be in time; not for longer than this, or those who wait for its
 * CPU would.
 */
#define FIRST_MAX_NS NSEC_PER_MSEC

static u64 sample_ns, section_ns; /* when they began */
static u64 section_max_ns;
static bool is_thread; /* and not who loads the module, who takes the first sample */
static bool is_first;

static u64 end_section(void)
{
	u64 now_ns = ktime_get_ns();

	section_max_ns = max(section_max_ns, now_ns - section_ns);
	return now_ns;
}

static void go_first(void)
{
	sched_set_fifo_low(current);
	is_first = true;
}

void watt_pause_thread(void)
{
	is_thread = true;
	section_max_ns = 0;
	go_first();
}

void watt_pause_thread_ends(void)
{
	is_thread = false;
	is_first = false;
}

void watt_pause_begin(void)
{
	sample_ns = ktime_get_ns();
	section_ns = sample_ns;
}

void watt_pause_resume(void)
{
	section_ns = ktime_get_ns();
}

void watt_pause(void)
{
	u64 now_ns = end_section();

	if (is_first && now_ns - sample_ns > FIRST_MAX_NS / 2) {
		sched_set_normal(current, MIN_NICE);
		is_first = false;
	}
	cond_resched();
	watt_pause_resume();
}

void watt_pause_after_one(void)
{
	static unsigned int n;

	if (++n % WATT_PAUSE_EVERY == 0)
		watt_pause();
}

void watt_pause_rcu(void)
{
	rcu_read_unlock();
	watt_pause();
	rcu_read_lock();
}

void watt_pause_end(void)
{
	u64 now_ns = end_section();

	if (is_thread && !is_first && now_ns - sample_ns < FIRST_MAX_NS / 4)
		go_first();
}

u64 watt_pause_section_max_ns(void)
{
	return READ_ONCE(section_max_ns);
}
