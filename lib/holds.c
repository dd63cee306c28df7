/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for what; a handful of them at most. */
#include "holds.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/util.h"

/* Who waits asks again some times a second. */
#define PATIENCE_NS (10 * WATT_NSEC_PER_SEC)

void watt_holds_done(struct watt_holds *holds)
{
	free(holds->list);
	*holds = (struct watt_holds){ 0 };
}

int watt_holds_put(struct watt_holds *holds, uint32_t cursor, uint64_t t_ns, uint64_t now_ns)
{
	size_t i = 0;
	int r;

	while (i < holds->n && holds->list[i].cursor != cursor)
		i++;
	r = watt_grow((void **)&holds->list, &holds->cap, i, sizeof(*holds->list));
	if (r < 0)
		return r;
	holds->list[i] = (struct watt_hold){ cursor, t_ns, now_ns };
	holds->n = WATT_MAX(holds->n, i + 1);
	return 0;
}

void watt_holds_drop(struct watt_holds *holds, uint32_t cursor)
{
	size_t i = 0;

	while (i < holds->n && holds->list[i].cursor != cursor)
		i++;
	if (i < holds->n)
		holds->list[i] = holds->list[--holds->n];
}

void watt_holds_expire(struct watt_holds *holds, uint64_t now_ns)
{
	size_t i = 0;

	while (i < holds->n)
		if (now_ns > holds->list[i].asked_ns + PATIENCE_NS)
			holds->list[i] = holds->list[--holds->n];
		else
			i++;
}

uint64_t watt_holds_first_ns(const struct watt_holds *holds)
{
	uint64_t first_ns = 0;
	size_t i;

	for (i = 0; i < holds->n; i++)
		if (!first_ns || holds->list[i].t_ns < first_ns)
			first_ns = holds->list[i].t_ns;
	return first_ns;
}
