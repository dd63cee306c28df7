/* SPDX-License-Identifier: Apache-2.0 */
#include "tellers.h"

#include <errno.h>

#include "base/clock.h"

int watt_tellers_open(const struct watt_env *env, const struct watt_options *options,
		      const struct watt_cpu_map *map, struct watt_tellers *ret)
{
	size_t i;
	int r = 0;

	for (i = 0; watt_activity_registry[i] && r == 0; i++) {
		const struct watt_activity_ops *ops = watt_activity_registry[i];

		if (!watt_select_activity_is_wanted(ops, &options->sources, options->is_precise) ||
		    ret->n == WATT_MAX_SOURCES)
			continue;
		r = watt_teller_new(env, ops, map, &ret->list[ret->n]);
		ret->n += r == 0;
	}
	return r;
}

void watt_tellers_wait(struct watt_tellers *tellers, uint64_t deadline_ns)
{
	size_t i;

	for (i = 0; i < tellers->n; i++)
		watt_teller_wait(tellers->list[i], deadline_ns);
}

int watt_tellers_take(struct watt_tellers *tellers, const struct watt_log *log,
		      struct watt_executor *executor)
{
	struct watt_op op = { .kind = WATT_OP_ACTIVITY };
	size_t i;
	int r = 0;

	for (i = 0; i < tellers->n && r >= 0; i++) {
		/* who has been heard is asked again: it is behind a sweep that it best is read */
		while (r >= 0 &&
		       watt_teller_poll(tellers->list[i], watt_now_ns(), &op.activity) == 0)
			r = watt_executor_apply(executor, &op, NULL);
		if (r == -EINVAL) {
			watt_log(log, WATT_LOG_WARNING,
				 "a source of activity contradicts itself: left out");
			r = 0;
		}
	}
	return r;
}

void watt_tellers_hurry(struct watt_tellers *tellers)
{
	size_t i;

	for (i = 0; i < tellers->n; i++)
		watt_teller_hurry(tellers->list[i]);
}

int watt_tellers_stop(struct watt_tellers *tellers, uint64_t deadline_ns)
{
	int n_hung = 0;
	size_t i;

	for (i = 0; i < tellers->n; i++)
		n_hung += watt_teller_stop(tellers->list[i], deadline_ns);
	return n_hung;
}

void watt_tellers_done(struct watt_tellers *tellers)
{
	size_t i;

	for (i = 0; i < tellers->n; i++)
		watt_teller_free(tellers->list[i]);
}
