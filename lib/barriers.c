/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for what; a handful of them at most. */
#include "barriers.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"

/* Who waits asks again some times a second. */
#define PATIENCE_NS (10 * WATT_NSEC_PER_SEC)

void watt_barriers_done(struct watt_barriers *barriers)
{
	free(barriers->list);
	*barriers = (struct watt_barriers){ 0 };
}

int watt_barriers_put(struct watt_barriers *barriers, uint32_t cursor, uint64_t t_ns,
		      uint64_t now_ns)
{
	size_t i = 0;
	int r;

	while (i < barriers->n && barriers->list[i].cursor != cursor)
		i++;
	r = watt_grow((void **)&barriers->list, &barriers->cap, i, sizeof(*barriers->list));
	if (r < 0)
		return r;
	barriers->list[i] = (struct watt_barrier){ cursor, t_ns, now_ns };
	barriers->n = WATT_MAX(barriers->n, i + 1);
	return 0;
}

void watt_barriers_drop(struct watt_barriers *barriers, uint32_t cursor)
{
	size_t i = 0;

	while (i < barriers->n && barriers->list[i].cursor != cursor)
		i++;
	if (i < barriers->n)
		barriers->list[i] = barriers->list[--barriers->n];
}

void watt_barriers_expire(struct watt_barriers *barriers, uint64_t now_ns)
{
	size_t i = 0;

	while (i < barriers->n)
		if (now_ns > barriers->list[i].asked_ns + PATIENCE_NS)
			barriers->list[i] = barriers->list[--barriers->n];
		else
			i++;
}

uint64_t watt_barriers_first_ns(const struct watt_barriers *barriers)
{
	uint64_t first_ns = 0;
	size_t i;

	for (i = 0; i < barriers->n; i++)
		if (!first_ns || barriers->list[i].t_ns < first_ns)
			first_ns = barriers->list[i].t_ns;
	return first_ns;
}
