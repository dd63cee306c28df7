/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_SLAB_H
#define KMOD_LINUX_SLAB_H

#include <stdlib.h>

#define GFP_KERNEL 0

static inline void *kvcalloc(size_t n, size_t size, int flags)
{
	(void)flags;
	return calloc(n, size);
}

static inline void kvfree(const void *memory)
{
	free((void *)memory);
}

#endif
