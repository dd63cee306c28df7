/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers are drawn, and served in their order, as at a counter. */
#include "base/lock.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct watt_lock {
	pthread_mutex_t mutex; /* of what follows, held for moments only */
	pthread_cond_t turn;
	uint64_t drawn;  /* numbers */
	uint64_t served; /* numbers that are done */
};

struct watt_lock *watt_lock_new(void)
{
	struct watt_lock *lock = calloc(1, sizeof(*lock));

	if (!lock)
		return NULL;
	pthread_mutex_init(&lock->mutex, NULL);
	pthread_cond_init(&lock->turn, NULL);
	return lock;
}

struct watt_lock *watt_lock_free(struct watt_lock *lock)
{
	if (!lock)
		return NULL;
	pthread_cond_destroy(&lock->turn);
	pthread_mutex_destroy(&lock->mutex);
	free(lock);
	return NULL;
}

struct watt_lock *watt_lock_take(struct watt_lock *lock)
{
	uint64_t number;

	pthread_mutex_lock(&lock->mutex);
	number = lock->drawn++;
	while (lock->served != number)
		pthread_cond_wait(&lock->turn, &lock->mutex);
	pthread_mutex_unlock(&lock->mutex);
	return lock;
}

void watt_lock_give(struct watt_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	lock->served++;
	if (lock->served != lock->drawn)
		pthread_cond_broadcast(&lock->turn);
	pthread_mutex_unlock(&lock->mutex);
}
