/* SPDX-License-Identifier: Apache-2.0 */
/* How many owners an immutable object has, when they may be in different threads. */
#ifndef WATT_BASE_REFCOUNT_H
#define WATT_BASE_REFCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>

struct watt_refcount {
	atomic_uint n;
};

static inline void watt_refcount_init(struct watt_refcount *count)
{
	atomic_init(&count->n, 1);
}

static inline void watt_refcount_get(struct watt_refcount *count)
{
	atomic_fetch_add_explicit(&count->n, 1, memory_order_relaxed);
}

/* True for the last owner, who frees the object. */
static inline bool watt_refcount_put(struct watt_refcount *count)
{
	return atomic_fetch_sub_explicit(&count->n, 1, memory_order_acq_rel) == 1;
}

#endif
