/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines on the one grid epoch + k * period. Pure arithmetic, it must not look at a clock. */
#include "sample/schedule.h"

uint64_t watt_schedule_round_ns(uint64_t period_ns, uint64_t quantum_ns)
{
	uint64_t n = period_ns / quantum_ns + (period_ns % quantum_ns != 0);

	if (n == 0)
		n = 1;
	return n > UINT64_MAX / quantum_ns ? UINT64_MAX / quantum_ns * quantum_ns : n * quantum_ns;
}

void watt_schedule_init(struct watt_schedule *schedule, uint64_t epoch_ns, uint64_t period_ns)
{
	schedule->epoch_ns = epoch_ns;
	schedule->period_ns = period_ns;
	schedule->due_ns = epoch_ns;
}

/* The newest deadline at or before now, which must not be before the epoch. */
static uint64_t newest_deadline_ns(const struct watt_schedule *schedule, uint64_t now_ns)
{
	return now_ns - (now_ns - schedule->epoch_ns) % schedule->period_ns;
}

/* A period of centuries must not bring the next deadline back into the past. */
static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void watt_schedule_skip(struct watt_schedule *schedule, uint64_t now_ns)
{
	if (watt_schedule_is_due(schedule, now_ns))
		schedule->due_ns =
			add_saturated(newest_deadline_ns(schedule, now_ns), schedule->period_ns);
}

bool watt_schedule_is_due(const struct watt_schedule *schedule, uint64_t now_ns)
{
	return now_ns >= schedule->due_ns;
}

uint64_t watt_schedule_take(struct watt_schedule *schedule, uint64_t now_ns,
			    uint64_t *ret_deadline_ns)
{
	uint64_t missed = (now_ns - schedule->due_ns) / schedule->period_ns;
	uint64_t deadline_ns = schedule->due_ns + missed * schedule->period_ns;

	schedule->due_ns = add_saturated(deadline_ns, schedule->period_ns);
	*ret_deadline_ns = deadline_ns;
	return missed;
}

void watt_schedule_move(struct watt_schedule *schedule, uint64_t now_ns, uint64_t due_ns)
{
	uint64_t latest_ns = add_saturated(now_ns, schedule->period_ns);

	latest_ns = add_saturated(latest_ns, schedule->period_ns);
	if (due_ns < now_ns)
		due_ns = now_ns;
	schedule->due_ns = due_ns < latest_ns ? due_ns : latest_ns;
}
