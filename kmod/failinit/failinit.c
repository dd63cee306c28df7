// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets no folder "energy" come into procfs, for tests: the module that wants it has started its
 * thread by then, and has to undo all.
 */
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/string.h>

static unsigned int refused;
module_param(refused, uint, 0444);

/* Where the probed function is left to. */
void failinit_return(void);
asm(".text\n"
    ".globl failinit_return\n"
    ".type failinit_return,@function\n"
    "failinit_return:\n" ASM_RET "\n"
    ".size failinit_return,.-failinit_return\n");

/* struct proc_dir_entry *proc_mkdir(const char *name, struct proc_dir_entry *parent) */
static int before(struct kprobe *probe, struct pt_regs *regs)
{
	if (strcmp((const char *)regs->di, "energy") != 0)
		return 0;
	refused++;
	regs->ax = 0;
	regs->ip = (unsigned long)failinit_return;
	return 1;
}

/* A probe with this is never turned into a jump, which could not send its caller elsewhere. */
static void stay_a_probe(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.symbol_name = "proc_mkdir",
	.pre_handler = before,
	.post_handler = stay_a_probe,
};

static int __init failinit_init(void)
{
	return register_kprobe(&probe);
}

static void __exit failinit_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(failinit_init);
module_exit(failinit_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Lets the module fail at its last step; for tests");
