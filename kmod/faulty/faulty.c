// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does what a module must not do, one fault for each checker of a debug kernel, to prove that they
 * are awake. Never load it anywhere else.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>

static char *fault = "";
module_param(fault, charp, 0);

static DEFINE_MUTEX(one);
static DEFINE_MUTEX(other);
static DEFINE_SPINLOCK(spinlock);
static int __rcu *shared;
static volatile int ten = 10;

struct timed {
	struct timer_list timer;
};

static void use_after_free(void)
{
	int *freed = kzalloc(sizeof(*freed), GFP_KERNEL);

	kfree(freed);
	if (freed)
		WRITE_ONCE(ten, READ_ONCE(*freed) ? 10 : 10);
}

static void leak(void)
{
	void *lost = kmalloc(5000, GFP_KERNEL);

	/* its only pointer is gone when this returns */
	OPTIMIZER_HIDE_VAR(lost);
}

static void order_of_locks(void)
{
	mutex_lock(&one);
	mutex_lock(&other);
	mutex_unlock(&other);
	mutex_unlock(&one);
	mutex_lock(&other);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&other);
}

static void sleep_in_atomic(void)
{
	spin_lock(&spinlock);
	might_sleep();
	spin_unlock(&spinlock);
}

static void rcu_unlocked(void)
{
	WRITE_ONCE(ten, rcu_dereference(shared) ? 10 : 10);
}

static void cpu_unpinned(void)
{
	WRITE_ONCE(ten, smp_processor_id() < 0 ? 0 : 10);
}

static void nothing(struct timer_list *timer)
{
}

static void timer_freed(void)
{
	struct timed *timed = kzalloc(sizeof(*timed), GFP_KERNEL);

	if (!timed)
		return;
	timer_setup(&timed->timer, nothing, 0);
	mod_timer(&timed->timer, jiffies + 1000 * HZ);
	kfree(timed);
}

static const struct {
	const char *name;
	void (*commit)(void);
} faults[] = {
	{ "use-after-free", use_after_free }, { "leak", leak },
	{ "order-of-locks", order_of_locks }, { "sleep-in-atomic", sleep_in_atomic },
	{ "rcu-unlocked", rcu_unlocked },     { "cpu-unpinned", cpu_unpinned },
	{ "timer-freed", timer_freed },
};

static int __init faulty_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (strcmp(faults[i].name, fault))
			continue;
		faults[i].commit();
		return 0;
	}
	return -EINVAL;
}

static void __exit faulty_exit(void)
{
}

module_init(faulty_init);
module_exit(faulty_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Faults for checkers to find; for tests");
