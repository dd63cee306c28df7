/* SPDX-License-Identifier: Apache-2.0 */
/* Marks that wait for the caller of a session. Bounded: who never asks loses the oldest. */
#ifndef WATT_MARK_QUEUE_H
#define WATT_MARK_QUEUE_H

#include <stddef.h>

#include <wattribute/mark.h>

#define WATT_MARK_QUEUE_SIZE 256

/* All zero is an empty one. */
struct watt_mark_queue {
	struct watt_mark marks[WATT_MARK_QUEUE_SIZE];
	size_t first;
	size_t n;
};

static inline void watt_mark_queue_push(struct watt_mark_queue *queue, const struct watt_mark *mark)
{
	queue->marks[(queue->first + queue->n) % WATT_MARK_QUEUE_SIZE] = *mark;
	if (queue->n < WATT_MARK_QUEUE_SIZE)
		queue->n++;
	else
		queue->first = (queue->first + 1) % WATT_MARK_QUEUE_SIZE;
}

/* 0; 1: it is empty. */
static inline int watt_mark_queue_pop(struct watt_mark_queue *queue, struct watt_mark *ret)
{
	if (queue->n == 0)
		return 1;
	*ret = queue->marks[queue->first];
	queue->first = (queue->first + 1) % WATT_MARK_QUEUE_SIZE;
	queue->n--;
	return 0;
}

#endif
