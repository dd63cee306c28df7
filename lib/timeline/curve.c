/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw readings of one channel to its energy curve. Counters by their differences, power by the
 * trapezoid rule. A gap is flat: no energy is made up for time without data.
 */
#include "timeline/curve.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "timeline/counter.h"
#include "timeline/stretch.h"

#define MAX_POINTS (1u << 16)
/* A shape of more is not followed. */
#define MAX_SHAPED_POINTS (1u << 12)
/* Of them, one nJ. */
#define HALF_UW_NS 2000000
/* Distance of power readings at which the trapezoid between them is not believed. */
#define MIN_GAP_NS (500 * WATT_NSEC_PER_MSEC)
/* However quick a sensor is, the machine may be too busy to read it. */
#define MIN_PATIENCE_NS (2 * WATT_NSEC_PER_SEC)
/* Of a sensor of which nobody knows how often it is read. */
#define UNKNOWN_PATIENCE_NS (10 * WATT_NSEC_PER_SEC)

void watt_curve_init(struct watt_curve *curve, const struct watt_channel *channel)
{
	*curve = (struct watt_curve){ .channel = channel,
				      .delay_ns = channel->delay_ns,
				      .found_delay_ns = channel->delay_ns };
	curve->stats.status = WATT_STATUS_PENDING;
}

void watt_curve_done(struct watt_curve *curve)
{
	free(curve->points);
	curve->points = NULL;
	curve->n = curve->cap = 0;
}

static struct watt_point *point_at(const struct watt_curve *curve, size_t i)
{
	return &curve->points[(curve->head + i) & (curve->cap - 1)];
}

/* For so many points more. */
static int make_room(struct watt_curve *curve, size_t n)
{
	size_t cap = curve->cap ? curve->cap : 64, i;
	struct watt_point *points;

	if (curve->n + n <= curve->cap)
		return 0;
	while (cap < curve->n + n && cap < MAX_POINTS)
		cap *= 2;
	while (curve->n + n > cap) { /* nobody asks for the oldest: let it go */
		curve->head = (curve->head + 1) & (curve->cap - 1);
		curve->n--;
	}
	if (cap == curve->cap)
		return 0;
	points = malloc(cap * sizeof(*points));
	if (!points)
		return -ENOMEM;
	for (i = 0; i < curve->n; i++)
		points[i] = *point_at(curve, i);
	free(curve->points);
	curve->points = points;
	curve->cap = cap;
	curve->head = 0;
	return 0;
}

static void add_point(struct watt_curve *curve, uint64_t t_ns, bool is_gap)
{
	curve->n++;
	*point_at(curve, curve->n - 1) = (struct watt_point){ curve->energy_nj, t_ns, is_gap };
	if (!curve->stats.first_ns)
		curve->stats.first_ns = t_ns;
	curve->stats.last_ns = t_ns;
	if (is_gap)
		curve->stats.gaps++;
}

/* A power that has one sample of each value. */
static bool is_stepped_power(const struct watt_channel *channel)
{
	return (channel->flags & WATT_CHANNEL_STEPS) && channel->quantity == WATT_QUANTITY_POWER;
}

uint64_t watt_curve_effective_ns(const struct watt_curve *curve, const struct watt_sample *sample)
{
	uint64_t t_ns = sample->t_before_ns + (sample->t_after_ns - sample->t_before_ns) / 2;
	uint64_t age_ns = curve->delay_ns;

	if (curve->channel->semantics == WATT_SEMANTICS_AVERAGE &&
	    !is_stepped_power(curve->channel))
		age_ns += curve->channel->window_ns / 2;
	return t_ns > age_ns ? t_ns - age_ns : 0;
}

void watt_curve_set_found_delay(struct watt_curve *curve, uint64_t delay_ns)
{
	if (!curve->is_delay_told)
		curve->found_delay_ns = delay_ns;
}

/* A quarter of the time that has passed: what is read later speaks of later, whatever happens. */
static void move_delay(struct watt_curve *curve, const struct watt_sample *sample)
{
	uint64_t t_ns = sample->t_before_ns + (sample->t_after_ns - sample->t_before_ns) / 2;
	uint64_t step_ns = t_ns > curve->read_ns ? (t_ns - curve->read_ns) / 4 : 0;

	if (curve->is_delay_told || curve->delay_ns == curve->found_delay_ns)
		;
	else if (!curve->has_value)
		curve->delay_ns = curve->found_delay_ns;
	else if (curve->delay_ns < curve->found_delay_ns)
		curve->delay_ns = WATT_MIN(curve->delay_ns + step_ns, curve->found_delay_ns);
	else
		curve->delay_ns = curve->delay_ns - curve->found_delay_ns > step_ns ?
					  curve->delay_ns - step_ns :
					  curve->found_delay_ns;
	curve->read_ns = t_ns;
}

static uint64_t gap_limit_ns(const struct watt_curve *curve)
{
	uint64_t limit_ns = WATT_MAX(MIN_GAP_NS, 4 * curve->typical_ns);

	limit_ns = WATT_MAX(limit_ns, 4 * curve->channel->period_ns);
	return WATT_MAX(limit_ns, 2 * curve->channel->window_ns);
}

/* From the newest point on, as it is known how its energy lies. The last one is its end. */
static void add_stretch(struct watt_curve *curve, const struct watt_stretch *stretch)
{
	struct watt_bend bends[WATT_STRETCH_MAX_BENDS];
	size_t n = watt_stretch_find_bends(stretch, bends), i;
	watt_i128 energy0_nj = curve->energy_nj;
	uint64_t t0_ns = curve->stats.last_ns;

	for (i = 0; i < n; i++) {
		curve->energy_nj = energy0_nj + bends[i].energy_nj;
		add_point(curve, t0_ns + bends[i].at_ns, false);
	}
}

static void add_step(struct watt_curve *curve, watt_i128 energy_nj, uint64_t dt_ns,
		     const struct watt_hint *hint)
{
	const struct watt_stretch stretch = { .length_ns = dt_ns,
					      .seen_ns = hint->window_ns,
					      .seen_uw = hint->power_uw,
					      .before_uw = curve->power_uw,
					      .has_before = curve->has_power,
					      .has_energy = true,
					      .energy_nj = energy_nj };

	add_stretch(curve, &stretch);
}

static void push_counter(struct watt_curve *curve, int64_t raw, uint64_t t_ns,
			 const struct watt_hint *hint)
{
	struct watt_counter_step step;
	uint64_t dt_ns = t_ns - curve->stats.last_ns;

	if (curve->has_slept) {
		curve->stats.gap_ns += dt_ns;
		add_point(curve, t_ns, true);
		return;
	}
	step = watt_counter_step(curve->channel, curve->raw, raw, dt_ns);
	curve->stats.wraps += step.event == WATT_COUNTER_WRAPPED;
	curve->stats.resets += step.event == WATT_COUNTER_RESET;
	curve->stats.ambiguous += step.is_ambiguous;
	if (hint && hint->has_power && step.event != WATT_COUNTER_RESET) {
		add_step(curve, step.energy_nj, dt_ns, hint);
		return;
	}
	curve->energy_nj += step.energy_nj;
	if (step.event == WATT_COUNTER_RESET)
		curve->stats.gap_ns += dt_ns;
	add_point(curve, t_ns, step.event == WATT_COUNTER_RESET);
}

/* The trapezoid from the newest reading to this one. What is less than 1 nJ is kept. */
static void add_area(struct watt_curve *curve, int64_t power_uw, uint64_t dt_ns)
{
	int64_t double_uw, area;
	watt_i128 energy_nj;

	if (!__builtin_add_overflow(curve->power_uw, power_uw, &double_uw) &&
	    !__builtin_mul_overflow(double_uw, dt_ns, &area) &&
	    !__builtin_add_overflow(area, curve->area_rest, &area)) {
		int64_t area_nj = area / HALF_UW_NS - (area % HALF_UW_NS < 0);

		curve->area_rest = area - area_nj * HALF_UW_NS;
		energy_nj = area_nj;
	} else {
		watt_i128 wide = ((watt_i128)curve->power_uw + power_uw) * (watt_i128)dt_ns +
				 curve->area_rest;

		energy_nj = wide / HALF_UW_NS - (wide % HALF_UW_NS < 0);
		curve->area_rest = (int64_t)(wide - energy_nj * HALF_UW_NS);
	}
	curve->energy_nj += energy_nj;
}

/* What the shape misses, from one reading to the next: in a straight line from w0 to w1. */
struct miss_line {
	double w0, w1;
};

static double get_missed_j(const struct miss_line *miss, uint64_t at_ns, uint64_t dt_ns)
{
	double at_s = (double)at_ns / 1e9, share = (double)at_ns / (double)dt_ns;

	return at_s * (miss->w0 + (miss->w1 - miss->w0) * share / 2);
}

/*
 * From the newest point on as the shape goes, with what it misses added, so that it agrees with
 * both readings. What is clamped, for energy never goes back, is not made up for later. The last
 * point is the caller's. false: the shape is not known for all of it, and nothing was added.
 */
static bool follow_shape(struct watt_curve *curve, const struct watt_shape *shape,
			 const struct miss_line *miss, uint64_t t_ns, watt_i128 *ret_nj)
{
	uint64_t t0_ns = curve->stats.last_ns, dt_ns = t_ns - t0_ns, at_ns;
	watt_i128 energy0_nj = curve->energy_nj, end_nj;
	double e0_j, e_j;

	if (!shape->get_j(shape, t0_ns, &e0_j) || !shape->get_j(shape, t_ns, &e_j))
		return false;
	end_nj = energy0_nj + (watt_i128)(1e9 * (e_j - e0_j + get_missed_j(miss, dt_ns, dt_ns)));
	*ret_nj = WATT_MAX(end_nj, energy0_nj);
	at_ns = (t0_ns / shape->step_ns + 1) * shape->step_ns;
	for (; at_ns < t_ns; at_ns += shape->step_ns) {
		watt_i128 energy_nj;

		if (!shape->get_j(shape, at_ns, &e_j))
			continue; /* a straight line, there */
		energy_nj =
			energy0_nj +
			(watt_i128)(1e9 * (e_j - e0_j + get_missed_j(miss, at_ns - t0_ns, dt_ns)));
		curve->energy_nj = WATT_MIN(WATT_MAX(energy_nj, curve->energy_nj), *ret_nj);
		add_point(curve, at_ns, false);
	}
	return true;
}

/* Which instant a reading is of that the curve has at t_ns: it goes to the age in small steps. */
static uint64_t shape_at_ns(const struct watt_curve *curve, const struct watt_shape *shape,
			    uint64_t t_ns)
{
	int64_t off_ns = (int64_t)curve->delay_ns - (int64_t)shape->age_ns;

	return (uint64_t)WATT_MAX((int64_t)t_ns + off_ns, 0);
}

/* Where the shape was not followed before, from what it misses at the reading before. */
static bool see_miss(struct watt_curve *curve, int64_t power_uw, uint64_t t_ns,
		     const struct watt_shape *shape, struct miss_line *ret)
{
	uint64_t last_ns = curve->stats.last_ns;
	uint64_t last_at_ns = shape_at_ns(curve, shape, last_ns);
	uint64_t at_ns = shape_at_ns(curve, shape, t_ns);

	watt_miss_follow(&curve->miss, shape);
	if (!curve->miss.to_ns && !watt_miss_see(&curve->miss, shape, last_ns, last_ns, last_at_ns,
						 (double)curve->power_uw / 1e6))
		return false;
	ret->w0 = curve->miss.power_w;
	if (!watt_miss_see(&curve->miss, shape, last_ns, t_ns, at_ns, (double)power_uw / 1e6))
		return false;
	ret->w1 = curve->miss.power_w;
	return true;
}

/* false: by a straight line, then. */
static bool push_shaped(struct watt_curve *curve, int64_t power_uw, uint64_t t_ns,
			const struct watt_shape *shape)
{
	watt_i128 energy_nj;
	struct miss_line miss;

	if (!shape || !shape->is_followed || !see_miss(curve, power_uw, t_ns, shape, &miss) ||
	    !follow_shape(curve, shape, &miss, t_ns, &energy_nj)) {
		curve->miss = (struct watt_miss){ 0 };
		return false;
	}
	curve->energy_nj = energy_nj;
	return true;
}

/* What was seen, and what must have been between that. */
static void push_value(struct watt_curve *curve, int64_t power_uw, uint64_t dt_ns,
		       const struct watt_hint *hint)
{
	struct watt_stretch stretch = { .length_ns = dt_ns,
					.seen_ns = curve->channel->window_ns,
					.seen_uw = power_uw,
					.before_uw = curve->power_uw,
					.has_before = true };

	if (hint && hint->has_energy) {
		stretch.has_energy = true;
		stretch.energy_nj = hint->energy_nj;
	}
	add_stretch(curve, &stretch);
}

static void push_power(struct watt_curve *curve, int64_t power_uw, uint64_t t_ns,
		       const struct watt_shape *shape, const struct watt_hint *hint)
{
	uint64_t dt_ns = t_ns - curve->stats.last_ns;
	bool is_gap = curve->lost_sight || dt_ns > gap_limit_ns(curve);

	if (!is_gap && is_stepped_power(curve->channel) && curve->channel->window_ns) {
		push_value(curve, power_uw, dt_ns, hint);
		return;
	}
	if (is_gap) {
		curve->stats.gap_ns += dt_ns;
		curve->miss = (struct watt_miss){ 0 };
	} else if (!push_shaped(curve, power_uw, t_ns, shape)) {
		add_area(curve, power_uw, dt_ns);
	}
	add_point(curve, t_ns, is_gap);
}

static void learn_typical(struct watt_curve *curve, uint64_t dt_ns)
{
	if (!curve->typical_ns)
		curve->typical_ns = dt_ns;
	else if (dt_ns < 4 * curve->typical_ns)
		curve->typical_ns += (int64_t)(dt_ns - curve->typical_ns) / 8;
	else
		curve->typical_ns += curve->typical_ns / 8;
}

/* It will have moved when its period is over, by what was used since it did. */
static bool is_between_steps(const struct watt_curve *curve, int64_t raw, uint64_t t_ns)
{
	const struct watt_channel *channel = curve->channel;

	return (channel->flags & WATT_CHANNEL_STEPS) && curve->has_value && !curve->lost_sight &&
	       channel->quantity == WATT_QUANTITY_ENERGY && raw == curve->raw &&
	       t_ns - curve->stats.last_ns < 2 * channel->period_ns;
}

/* What was counted while it stood at 0 and until now is of this measurement: it began with 0. */
static void begin(struct watt_curve *curve, int64_t raw, uint64_t t_ns)
{
	struct watt_counter_step step;

	if (curve->zero_ns && t_ns > curve->zero_ns) {
		step = watt_counter_step(curve->channel, 0, raw, t_ns - curve->zero_ns);
		curve->energy_nj = step.energy_nj;
		curve->stats.begins_at_zero = step.event != WATT_COUNTER_RESET;
	}
	add_point(curve, t_ns, false);
}

/* A counter that has not moved from 0 tells nothing yet; when it moves, it has moved from there. */
static void note_silence(struct watt_curve *curve, enum watt_status status, uint64_t t_ns)
{
	bool is_zero = status == WATT_STATUS_STUCK && !curve->has_value &&
		       curve->channel->quantity == WATT_QUANTITY_ENERGY;

	curve->zero_ns = is_zero ? t_ns : 0;
	curve->stats.errors++;
	curve->lost_sight = true;
}

/* Points from the newest reading to this one. */
static size_t count_points(const struct watt_curve *curve, uint64_t t_ns,
			   const struct watt_shape *shape)
{
	if (shape && shape->is_followed && curve->has_value)
		return (t_ns - curve->stats.last_ns) / shape->step_ns + 2;
	return curve->channel->flags & WATT_CHANNEL_STEPS ? WATT_STRETCH_MAX_BENDS : 1;
}

/* Of what was added behind t0_ns. */
static void mark_transient(struct watt_curve *curve, uint64_t t0_ns, const struct watt_shape *shape)
{
	uint64_t t_ns = curve->stats.last_ns;
	bool is_followed = curve->miss.to_ns == t_ns;
	size_t i;

	if (point_at(curve, curve->n - 1)->is_gap)
		return;
	if (is_followed ? !curve->miss.is_vague :
			  !watt_shape_is_bent(shape, shape_at_ns(curve, shape, t_ns), t_ns - t0_ns))
		return;
	for (i = curve->n; i-- > 0 && point_at(curve, i)->t_ns > t0_ns;)
		point_at(curve, i)->is_transient = true;
}

static int push_good(struct watt_curve *curve, int64_t raw, uint64_t t_ns,
		     const struct watt_shape *shape, const struct watt_hint *hint)
{
	const struct watt_channel *channel = curve->channel;
	bool is_power = channel->quantity != WATT_QUANTITY_ENERGY; /* or else as one */
	int64_t power_uw = is_power ? (int64_t)watt_counter_nj(channel, raw) : 0;
	uint64_t last_ns = curve->stats.last_ns;
	int r;

	if (count_points(curve, t_ns, shape) > MAX_SHAPED_POINTS)
		shape = NULL;
	/* before anything is counted: after an error it is counted again */
	r = make_room(curve, count_points(curve, t_ns, shape));
	if (r < 0)
		return r;
	if (curve->has_value)
		learn_typical(curve, t_ns - curve->stats.last_ns);
	if (!curve->has_value)
		begin(curve, raw, t_ns);
	else if (is_power)
		push_power(curve, power_uw, t_ns, shape, hint);
	else
		push_counter(curve, raw, t_ns, hint);
	if (shape && curve->has_value)
		mark_transient(curve, last_ns, shape);
	curve->raw = curve->stats.raw = raw;
	curve->has_power = is_power || (hint && hint->has_power);
	curve->power_uw = is_power ? power_uw : curve->has_power ? hint->power_uw : 0;
	curve->has_value = true;
	curve->lost_sight = curve->has_slept = false;
	curve->stats.samples++;
	return 0;
}

/* Where a channel states none: more than any machine takes. */
#define MAX_POWER_UW 1000000000000LL

/* What is not a power that can be: registers of all ones, and what is of another unit. */
static bool is_possible(const struct watt_channel *channel, int64_t raw)
{
	watt_i128 value;

	if (channel->quantity != WATT_QUANTITY_POWER)
		return true;
	value = watt_counter_nj(channel, raw);
	return (value < 0 ? -value : value) <=
	       (watt_i128)(channel->max_power_uw ? channel->max_power_uw : MAX_POWER_UW);
}

void watt_curve_sleep(struct watt_curve *curve, uint64_t from_ns, uint64_t to_ns)
{
	/* one that no reading has met yet goes on */
	if (!curve->sleep_to_ns)
		curve->sleep_from_ns = from_ns;
	curve->sleep_to_ns = to_ns;
}

/* Whether the machine may have slept between the newest good reading and this one. */
static void note_sleep(struct watt_curve *curve, const struct watt_sample *sample)
{
	if (!curve->sleep_to_ns || sample->t_after_ns <= curve->sleep_from_ns)
		return;
	if (curve->read_ns < curve->sleep_to_ns)
		curve->lost_sight = curve->has_slept = true;
	/* what was read behind it knows nothing of it */
	if (sample->t_before_ns >= curve->sleep_to_ns)
		curve->sleep_from_ns = curve->sleep_to_ns = 0;
}

int watt_curve_push(struct watt_curve *curve, const struct watt_sample *sample,
		    const struct watt_shape *shape, const struct watt_hint *hint)
{
	enum watt_status status = (enum watt_status)sample->status;
	uint64_t t_ns;

	if (status == WATT_STATUS_OK && sample->raw < 0 &&
	    !(curve->channel->flags & WATT_CHANNEL_SIGNED))
		status = WATT_STATUS_BROKEN;
	if (status == WATT_STATUS_OK && !is_possible(curve->channel, sample->raw))
		status = WATT_STATUS_BROKEN;
	curve->stats.status = status;
	if (status != WATT_STATUS_OK) {
		note_silence(curve, status, watt_curve_effective_ns(curve, sample));
		return 0;
	}
	note_sleep(curve, sample);
	move_delay(curve, sample);
	t_ns = watt_curve_effective_ns(curve, sample);
	if (curve->has_value && t_ns <= curve->stats.last_ns) {
		curve->stats.disordered++;
		return 0;
	}
	if (is_between_steps(curve, sample->raw, t_ns)) {
		curve->stats.samples++;
		return 0;
	}
	return push_good(curve, sample->raw, t_ns, shape, hint);
}

/* part / whole of an energy; over years of silence, energy times time is more than 128 bits. */
static watt_i128 part_of(watt_i128 energy_nj, uint64_t part_ns, uint64_t whole_ns)
{
	watt_i128 whole = (watt_i128)whole_ns;

	if (energy_nj == (int64_t)energy_nj)
		return energy_nj * (watt_i128)part_ns / whole;
	return energy_nj / whole * (watt_i128)part_ns +
	       energy_nj % whole * (watt_i128)part_ns / whole;
}

/* Index of the first point at or after t_ns; n if there is none. */
static size_t find_point(const struct watt_curve *curve, uint64_t t_ns)
{
	size_t lo = 0, hi = curve->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (point_at(curve, mid)->t_ns < t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int watt_curve_energy_nj(const struct watt_curve *curve, uint64_t t_ns, watt_i128 *ret_nj)
{
	const struct watt_point *a, *b;
	size_t i = find_point(curve, t_ns);

	if (i == curve->n)
		return -EAGAIN;
	b = point_at(curve, i);
	if (b->t_ns == t_ns) {
		*ret_nj = b->energy_nj;
		return 0;
	}
	if (i == 0)
		return -ENODATA;
	a = point_at(curve, i - 1);
	*ret_nj = a->energy_nj +
		  part_of(b->energy_nj - a->energy_nj, t_ns - a->t_ns, b->t_ns - a->t_ns);
	return 0;
}

uint64_t watt_curve_edge_ns(const struct watt_curve *curve, uint64_t t_ns)
{
	size_t i = find_point(curve, t_ns);
	uint64_t edge_ns = UINT64_MAX;

	if (i < curve->n)
		edge_ns = point_at(curve, i)->t_ns - t_ns;
	if (i > 0)
		edge_ns = WATT_MIN(edge_ns, t_ns - point_at(curve, i - 1)->t_ns);
	return curve->n ? edge_ns : 0;
}

bool watt_curve_find_gap(const struct watt_curve *curve, uint64_t t0_ns, uint64_t t1_ns,
			 struct watt_gap *ret)
{
	size_t i;

	for (i = find_point(curve, t0_ns + 1); i < curve->n && t0_ns < t1_ns; i++) {
		uint64_t from_ns = i ? point_at(curve, i - 1)->t_ns : t0_ns;

		if (from_ns >= t1_ns)
			break;
		if (!point_at(curve, i)->is_gap)
			continue;
		ret->t0_ns = WATT_MAX(from_ns, t0_ns);
		ret->t1_ns = WATT_MIN(point_at(curve, i)->t_ns, t1_ns);
		return true;
	}
	return false;
}

uint64_t watt_curve_transient_ns(const struct watt_curve *curve, uint64_t t0_ns, uint64_t t1_ns)
{
	uint64_t sum_ns = 0;
	size_t i;

	for (i = find_point(curve, t0_ns + 1); i < curve->n && t0_ns < t1_ns; i++) {
		uint64_t end_ns = WATT_MIN(point_at(curve, i)->t_ns, t1_ns);

		if (i && point_at(curve, i)->is_transient)
			sum_ns += end_ns - t0_ns;
		t0_ns = end_ns;
	}
	return sum_ns;
}

uint64_t watt_curve_pace_ns(const struct watt_curve *curve)
{
	return WATT_MAX(curve->channel->period_ns, curve->typical_ns);
}

uint64_t watt_curve_patience_ns(const struct watt_curve *curve)
{
	uint64_t period_ns = watt_curve_pace_ns(curve);

	/* a reading speaks of an instant that is so much older than itself */
	return (period_ns ? MIN_PATIENCE_NS + 4 * period_ns : UNKNOWN_PATIENCE_NS) +
	       curve->delay_ns + curve->channel->window_ns / 2;
}

void watt_curve_forget(struct watt_curve *curve, uint64_t t_ns)
{
	t_ns = t_ns > curve->keep_ns ? t_ns - curve->keep_ns : 0;
	while (curve->n > 2 && point_at(curve, 1)->t_ns <= t_ns) {
		curve->head = (curve->head + 1) & (curve->cap - 1);
		curve->n--;
	}
}
