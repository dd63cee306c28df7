// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps from the module what it should hear of threads that end, for tests: as where a CPU does not
 * run a tracepoint yet that has been enabled. To be loaded before it.
 */
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>

/* What is not heard: that a thread exits, that it is freed. */
static bool exits, frees;
module_param(exits, bool, 0644);
module_param(frees, bool, 0644);

/* How often it was not. */
static unsigned int missed;
module_param(missed, uint, 0444);

/* Where the probed function is left to. */
void deaf_return(void);
asm(".text\n"
    ".globl deaf_return\n"
    ".type deaf_return,@function\n"
    "deaf_return:\n" ASM_RET "\n"
    ".size deaf_return,.-deaf_return\n");

static int leave(struct pt_regs *regs, bool is_deaf)
{
	if (!is_deaf)
		return 0;
	WRITE_ONCE(missed, missed + 1);
	regs->ip = (unsigned long)deaf_return;
	return 1;
}

static int before_exit(struct kprobe *probe, struct pt_regs *regs)
{
	return leave(regs, READ_ONCE(exits));
}

static int before_free(struct kprobe *probe, struct pt_regs *regs)
{
	return leave(regs, READ_ONCE(frees));
}

/* A probe with this is never turned into a jump, which could not send its caller elsewhere. */
static void stay_a_probe(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probes[2];
static bool is_set;

static void set(void)
{
	static const struct kprobe fresh[] = {
		{ .symbol_name = "wattribute:on_exit",
		  .pre_handler = before_exit,
		  .post_handler = stay_a_probe },
		{ .symbol_name = "wattribute:on_free",
		  .pre_handler = before_free,
		  .post_handler = stay_a_probe },
	};
	struct kprobe *both[] = { &probes[0], &probes[1] };
	int r;

	memcpy(probes, fresh, sizeof(probes));
	r = register_kprobes(both, 2);
	is_set = !r;
	if (r)
		pr_err("deaf: no probe (%d)\n", r);
}

static void unset(void)
{
	struct kprobe *both[] = { &probes[0], &probes[1] };

	if (is_set)
		unregister_kprobes(both, 2);
	is_set = false;
}

/* Its code is there before its start, and after its end. */
static int on_module(struct notifier_block *block, unsigned long event, void *data)
{
	const struct module *module = data;

	if (strcmp(module->name, "wattribute") != 0)
		return NOTIFY_DONE;
	if (event == MODULE_STATE_COMING)
		set();
	else if (event == MODULE_STATE_GOING)
		unset();
	return NOTIFY_DONE;
}

static struct notifier_block block = { .notifier_call = on_module };

static int __init deaf_init(void)
{
	return register_module_notifier(&block);
}

static void __exit deaf_exit(void)
{
	unregister_module_notifier(&block);
	unset();
}

module_init(deaf_init);
module_exit(deaf_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Keeps the ends of threads from the module; for tests");
