/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_SCHED_H
#define KMOD_LINUX_SCHED_H

#define TASK_COMM_LEN 16

struct task_struct;

#endif
