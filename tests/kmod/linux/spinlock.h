/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_SPINLOCK_H
#define KMOD_LINUX_SPINLOCK_H

typedef struct {
	int unused;
} spinlock_t;

#endif
