/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Kalman filter of one number: what no part tells of, which goes on from one reading to the next.
 * No exp() and the like here, whose last digits are other ones on other processors.
 */
#include "timeline/shape.h"

#include "base/clock.h"
#include "base/util.h"

/* So finely are the instants tried that a reading may be of. */
#define GRAIN_NS (250 * WATT_NSEC_PER_MSEC)
/* How what no part tells of changes: fans, disks, and factors that are not quite right. */
#define CHANGE_W2_PER_S 20.0
/* Of a reading: the steps in which BMCs count. */
#define READING_W2 1.0
/* Of the standard deviations that are expected: what misses by more is no accident. */
#define FAR 3.0

static bool get_power_w(const struct watt_shape *shape, uint64_t t0_ns, uint64_t t1_ns,
			double *ret_w)
{
	double e0_j, e1_j;

	if (!shape->get_j(shape, t0_ns, &e0_j) || !shape->get_j(shape, t1_ns, &e1_j))
		return false;
	*ret_w = (e1_j - e0_j) / ((double)(t1_ns - t0_ns) / 1e9);
	return true;
}

/* How what no part tells of may change between two readings, and their own noise. */
static double expect_change_w2(uint64_t dt_ns)
{
	return READING_W2 + CHANGE_W2_PER_S * (double)dt_ns / 1e9;
}

/* What the parts took in the window of a reading, over all instants that it may be of. */
static bool look_around(const struct watt_shape *shape, uint64_t at_ns, uint64_t spread_ns,
			double *ret_w, double *ret_var_w2)
{
	int64_t n_side = (int64_t)((spread_ns + GRAIN_NS - 1) / GRAIN_NS), i;
	double sum = 0, squares = 0, power_w;
	int n = 0;

	for (i = -n_side; i <= n_side; i++) {
		int64_t off_ns = n_side ? i * (int64_t)spread_ns / n_side : 0;
		int64_t from_ns = (int64_t)at_ns + off_ns - (int64_t)(shape->window_ns / 2);

		if (from_ns < 0 || !get_power_w(shape, (uint64_t)from_ns,
						(uint64_t)from_ns + shape->window_ns, &power_w))
			continue;
		sum += power_w;
		squares += power_w * power_w;
		n++;
	}
	if (n == 0)
		return false;
	*ret_w = sum / n;
	*ret_var_w2 = WATT_MAX(squares / n - *ret_w * *ret_w, 0);
	return true;
}

void watt_miss_follow(struct watt_miss *miss, const struct watt_shape *shape)
{
	double shape_w;

	if (miss->from_ns == miss->to_ns)
		return;
	if (!get_power_w(shape, miss->from_ns, miss->to_ns, &shape_w)) {
		*miss = (struct watt_miss){ 0 };
		return;
	}
	miss->power_w += miss->shape_w - shape_w;
	miss->shape_w = shape_w;
}

bool watt_miss_see(struct watt_miss *miss, const struct watt_shape *shape, uint64_t from_ns,
		   uint64_t t_ns, uint64_t at_ns, double power_w)
{
	double parts_w, var_w2, shape_w = 0, gain, off_w;

	if (!look_around(shape, at_ns, shape->spread_ns, &parts_w, &var_w2))
		return false;
	if (from_ns < t_ns && !get_power_w(shape, from_ns, t_ns, &shape_w))
		return false;
	/* where the age is a guess, it is rather the parts' steps that may be taken for what they miss */
	miss->is_vague = !shape->is_found && var_w2 > expect_change_w2(t_ns - from_ns);
	var_w2 += READING_W2;
	if (!miss->to_ns) {
		miss->power_w = power_w - parts_w;
		miss->doubt_w2 = var_w2;
	} else {
		miss->doubt_w2 += CHANGE_W2_PER_S * (double)(t_ns - from_ns) / 1e9;
		gain = miss->doubt_w2 / (miss->doubt_w2 + var_w2);
		off_w = power_w - parts_w - miss->power_w;
		miss->is_vague |= off_w * off_w > FAR * FAR * (miss->doubt_w2 + var_w2);
		miss->power_w += gain * off_w;
		miss->doubt_w2 *= 1 - gain;
		/* several such readings one after the other */
		miss->is_vague |= miss->doubt_w2 > expect_change_w2(t_ns - from_ns);
	}
	miss->from_ns = from_ns;
	miss->to_ns = t_ns;
	miss->shape_w = shape_w;
	return true;
}

bool watt_shape_is_bent(const struct watt_shape *shape, uint64_t at_ns, uint64_t dt_ns)
{
	double parts_w, var_w2;
	uint64_t middle_ns = at_ns > dt_ns / 2 ? at_ns - dt_ns / 2 : 0;

	return look_around(shape, middle_ns, shape->spread_ns + dt_ns / 2, &parts_w, &var_w2) &&
	       var_w2 > expect_change_w2(dt_ns);
}
