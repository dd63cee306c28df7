/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the slope of a counter with the powers read beside it. When a step happened is known as
 * well as the readings are dense, and no better: the machine may be busy. It reads nothing itself.
 */
#include "source/power/nvml/counter_check.h"

#include "base/clock.h"
#include "base/util.h"

/* Between two steps, so that their number is no accident. */
#define SPAN_NS (40 * WATT_NSEC_PER_MSEC)
#define MAX_READINGS 100
/* Sensors look at a part of the time, and are wrong by some percent. */
#define FACTOR 2
#define SLACK_MW 10000

static void note_step(struct watt_counter_check *check, uint64_t t_ns, int64_t energy_mj)
{
	if (!check->n_steps++) {
		check->first_from_ns = check->t_ns;
		check->first_to_ns = t_ns;
		check->first_mj = energy_mj;
	}
	check->last_from_ns = check->t_ns;
	check->last_to_ns = t_ns;
}

static bool is_plausible(const struct watt_counter_check *check, int64_t energy_mj)
{
	watt_i128 counted = (watt_i128)(energy_mj - check->first_mj) * (watt_i128)WATT_NSEC_PER_SEC;
	uint64_t most_ns = check->last_to_ns - check->first_from_ns;
	uint64_t least_ns = check->last_from_ns > check->first_to_ns ?
				    check->last_from_ns - check->first_to_ns :
				    0;
	int64_t least_mw = check->least_mw / FACTOR - SLACK_MW;

	if (counted > (watt_i128)(check->most_mw * FACTOR + SLACK_MW) * most_ns)
		return false;
	return least_mw <= 0 || counted >= (watt_i128)least_mw * least_ns;
}

static enum watt_counter_verdict judge(const struct watt_counter_check *check, int64_t energy_mj)
{
	if (check->n_steps >= 2 && check->last_from_ns >= check->first_to_ns + SPAN_NS / 2 &&
	    check->last_to_ns >= check->first_from_ns + SPAN_NS)
		return is_plausible(check, energy_mj) ? WATT_COUNTER_TRUSTED :
							WATT_COUNTER_IMPOSSIBLE;
	return check->n >= MAX_READINGS ? WATT_COUNTER_STUCK : WATT_COUNTER_UNDECIDED;
}

enum watt_counter_verdict watt_counter_check_push(struct watt_counter_check *check, uint64_t t_ns,
						  int64_t energy_mj, int64_t power_mw)
{
	if (check->verdict)
		return check->verdict;
	if (power_mw >= 0) {
		check->most_mw = WATT_MAX(check->most_mw, power_mw);
		check->least_mw = check->n ? WATT_MIN(check->least_mw, power_mw) : power_mw;
	}
	if (check->n && energy_mj < check->energy_mj)
		check->verdict = WATT_COUNTER_IMPOSSIBLE;
	else if (check->n && energy_mj > check->energy_mj)
		note_step(check, t_ns, energy_mj);
	check->n++;
	check->t_ns = t_ns;
	check->energy_mj = energy_mj;
	if (!check->verdict)
		check->verdict = judge(check, energy_mj);
	return check->verdict;
}
