// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of instructions for a machine that has none, for tests: each counts an instruction a ns.
 * Who writes Y to `taken` takes them away from those who have them, as another user of the hardware
 * would.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/timekeeping.h>

static bool taken;

static void fakepmu_read(struct perf_event *event)
{
	u64 now = ktime_get_mono_fast_ns();

	local64_add(now - local64_xchg(&event->hw.prev_count, now), &event->count);
}

static void fakepmu_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, ktime_get_mono_fast_ns());
}

static void fakepmu_stop(struct perf_event *event, int flags)
{
	fakepmu_read(event);
}

static int fakepmu_add(struct perf_event *event, int flags)
{
	if (READ_ONCE(taken))
		return -EAGAIN;
	if (flags & PERF_EF_START)
		fakepmu_start(event, flags);
	return 0;
}

static int fakepmu_event_init(struct perf_event *event)
{
	bool is_ours = event->attr.type == PERF_TYPE_HARDWARE &&
		       event->attr.config == PERF_COUNT_HW_INSTRUCTIONS;

	return is_ours && event->cpu >= 0 ? 0 : -ENOENT;
}

static struct pmu fakepmu = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.event_init = fakepmu_event_init,
	.add = fakepmu_add,
	.del = fakepmu_stop,
	.start = fakepmu_start,
	.stop = fakepmu_stop,
	.read = fakepmu_read,
};

/* A pinned event that comes has all of its CPU placed anew. */
static void place_anew(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.size = sizeof(attr),
		.pinned = 1,
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);

	if (!IS_ERR(event))
		perf_event_release_kernel(event);
}

static int taken_set(const char *text, const struct kernel_param *kp)
{
	int r = param_set_bool(text, kp);
	unsigned int cpu;

	if (r)
		return r;
	for_each_online_cpu(cpu)
		place_anew(cpu);
	return 0;
}

static const struct kernel_param_ops taken_ops = { .set = taken_set, .get = param_get_bool };
module_param_cb(taken, &taken_ops, &taken, 0644);

static int __init fakepmu_init(void)
{
	return perf_pmu_register(&fakepmu, "fakepmu", -1);
}

static void __exit fakepmu_exit(void)
{
	perf_pmu_unregister(&fakepmu);
}

module_init(fakepmu_init);
module_exit(fakepmu_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Counters of instructions for a machine that has none; for tests");
