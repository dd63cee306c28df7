/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that is handed on in the order of asking: a thread that works without a pause can't keep
 * it from those who have a short question. Any thread; the same thread not twice.
 */
#ifndef WATT_BASE_LOCK_H
#define WATT_BASE_LOCK_H

struct watt_lock;

/* NULL: no memory. */
struct watt_lock *watt_lock_new(void);
/* Nobody may have it or wait for it. Accepts NULL; returns NULL. */
struct watt_lock *watt_lock_free(struct watt_lock *lock);
/* Waits for one's turn; returns the lock, for _cleanup_lock_. */
struct watt_lock *watt_lock_take(struct watt_lock *lock);
void watt_lock_give(struct watt_lock *lock);

static inline void watt_cleanup_lock(struct watt_lock **lock)
{
	watt_lock_give(*lock);
}

/* struct watt_lock *held = watt_lock_take(lock): given back at the end of the scope. */
#define _cleanup_lock_ __attribute__((cleanup(watt_cleanup_lock), unused))

#endif
