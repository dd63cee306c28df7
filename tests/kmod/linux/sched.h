/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_SCHED_H
#define KMOD_LINUX_SCHED_H

#define TASK_COMM_LEN 16

#define TASK_DEAD 0x80
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))

#define task_is_running(task) (!READ_ONCE((task)->__state))

/* One that nobody runs. */
struct task_struct {
	unsigned int __state;
};

#endif
