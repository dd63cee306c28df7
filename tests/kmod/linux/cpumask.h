/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_CPUMASK_H
#define KMOD_LINUX_CPUMASK_H

/* One CPU, which is there. */
static inline int cpu_online(unsigned int cpu)
{
	return !cpu;
}

#endif
