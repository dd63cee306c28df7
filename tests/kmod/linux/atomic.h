/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_ATOMIC_H
#define KMOD_LINUX_ATOMIC_H

#include <linux/types.h>

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

#endif
