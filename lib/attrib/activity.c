/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings of activities to curves, and curves to slices. A curve never goes down: what a count
 * that began again had lost is not known, and adds nothing.
 */
#include "attrib/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attrib/parts.h"
#include "base/clock.h"
#include "base/usage.h"
#include "base/util.h"

/* A source that has told nothing for so long is not waited for. */
#define PATIENCE_NS (10 * WATT_NSEC_PER_SEC)
/* A process that nobody knows is forgotten when nothing was told of it for so long. */
#define UNKNOWN_NS (60 * WATT_NSEC_PER_SEC)
/* Windows of readings are not those of the clock: a step may be somewhat longer than its time. */
#define SLACK_NS WATT_NSEC_PER_SEC
#define MAX_DEPARTED 16384

static void curve_free(struct watt_activity_at *place, struct watt_activity_curve *curve)
{
	watt_htab_remove(&place->by_pid, &curve->node);
	watt_actor_add_users(curve->actor, -1);
	free(curve->points);
	free(curve);
}

void watt_activities_done(struct watt_attrib *at)
{
	size_t kind, p, i;

	for (kind = 0; kind < WATT_N_ACTIVITIES; kind++) {
		for (p = 0; p < at->activities[kind].n_places; p++) {
			struct watt_activity_at *place = &at->activities[kind].places[p];

			for (i = 0; i < place->n; i++)
				curve_free(place, place->curves[i]);
			watt_htab_done(&place->by_pid);
			free(place->curves);
			free(place->path);
		}
		free(at->activities[kind].places);
	}
	for (i = 0; i < at->departures.n; i++)
		watt_actor_add_users(at->departures.list[i].actor, -1);
	free(at->departures.list);
}

/* ---- readings to curves ---- */

static int add_place(struct watt_attrib *at, const struct watt_activity_place *told)
{
	struct watt_activities *all = &at->activities[told->kind];
	struct watt_htab by_pid = { 0 };
	char *path;
	int r;

	r = watt_grow((void **)&all->places, &all->cap_places, all->n_places, sizeof(*all->places));
	if (r < 0)
		return r;
	path = strdup(told->path);
	if (!path)
		return -ENOMEM;
	r = watt_htab_init(&by_pid);
	if (r == 0)
		r = watt_ledgers_add_place(at, (enum watt_activity_kind)told->kind, path);
	if (r < 0) {
		watt_htab_done(&by_pid);
		free(path);
		return r;
	}
	all->places[all->n_places++] = (struct watt_activity_at){ .path = path, .by_pid = by_pid };
	return 0;
}

static struct watt_activity_at *find_place(const struct watt_attrib *at,
					   const struct watt_activity_place *told)
{
	const struct watt_activities *all = &at->activities[told->kind];
	size_t i;

	for (i = 0; i < all->n_places; i++)
		if (!strcmp(all->places[i].path, told->path))
			return &all->places[i];
	return NULL;
}

static int add_point(struct watt_activity_curve *curve, uint64_t t_ns, uint64_t amount)
{
	int r = watt_grow((void **)&curve->points, &curve->cap, curve->n, sizeof(*curve->points));

	if (r == 0)
		curve->points[curve->n++] = (struct watt_activity_point){ t_ns, amount };
	return r;
}

/* The curve of a process at a place; one of nobody becomes that of who turns out to be meant. */
static struct watt_activity_curve *find_curve(const struct watt_activity_at *place, uint32_t pid,
					      uint64_t start_ns)
{
	struct watt_hnode *node = watt_htab_first(&place->by_pid, watt_hash_u64(pid));

	for (; node; node = watt_htab_next(node)) {
		struct watt_activity_curve *curve =
			watt_container_of(node, struct watt_activity_curve, node);

		if (curve->pid != pid)
			continue;
		if (curve->start_ns == start_ns || !curve->actor) {
			curve->start_ns = start_ns;
			return curve;
		}
	}
	return NULL;
}

static struct watt_activity_curve *add_curve(struct watt_activity_at *place, uint32_t pid,
					     uint64_t start_ns)
{
	struct watt_activity_curve *curve;

	if (watt_grow((void **)&place->curves, &place->cap, place->n, sizeof(curve)) < 0)
		return NULL;
	curve = calloc(1, sizeof(*curve));
	if (!curve)
		return NULL;
	curve->pid = pid;
	curve->start_ns = start_ns;
	place->curves[place->n++] = curve;
	watt_htab_insert(&place->by_pid, &curve->node, watt_hash_u64(pid));
	return curve;
}

bool watt_activities_are_there(const struct watt_attrib *at, enum watt_activity_kind kind,
			       const char *path)
{
	const struct watt_activity_place place = { .path = path, .kind = kind };
	const struct watt_activity_at *found = find_place(at, &place);

	return found && found->n_units;
}

static void set_actor(struct watt_activity_curve *curve, struct watt_member *actor)
{
	watt_actor_add_users(actor, 1);
	watt_actor_add_users(curve->actor, -1);
	curve->actor = actor;
}

/* What was done since the newest point. More than there was time for was done at another time. */
static uint64_t step_of(const struct watt_activity_at *place, uint32_t kind,
			const struct watt_activity_curve *curve, uint64_t amount, uint64_t dt_ns)
{
	watt_u128 most =
		((watt_u128)dt_ns * place->n_units + SLACK_NS) * watt_activity_most_per_ns(kind);
	uint64_t step = amount > curve->raw ? amount - curve->raw : 0;

	return step <= most ? step : 0;
}

/* A reading that comes after its time was said to be complete counts from then on. */
static int push_point(struct watt_activity_at *place, uint32_t kind,
		      struct watt_activity_curve *curve, uint64_t t_ns, uint64_t amount)
{
	const struct watt_activity_point *last;
	uint64_t step;
	int r = 0;

	if (!curve->n && place->first_ns)
		r = add_point(curve, place->complete_ns, 0);
	else if (!curve->n)
		curve->raw = amount; /* what was done before anybody looked is not ours to give */
	else if (curve->points[curve->n - 1].t_ns < place->complete_ns)
		r = add_point(curve, place->complete_ns, curve->points[curve->n - 1].amount);
	if (r < 0)
		return r;
	if (!curve->n)
		return add_point(curve, t_ns, 0);
	last = &curve->points[curve->n - 1];
	if (t_ns <= last->t_ns)
		return 0;
	step = step_of(place, kind, curve, amount, t_ns - last->t_ns);
	r = add_point(curve, t_ns, last->amount + step);
	if (r == 0)
		curve->raw = amount;
	return r;
}

static int push_reading(struct watt_attrib *at, struct watt_activity_at *place, uint32_t kind,
			const struct watt_activity *reading)
{
	struct watt_member *actor = NULL;
	struct watt_activity_curve *curve;
	uint64_t start_ns = reading->start_ns;
	int r;

	r = watt_sweep_find_actor(at, reading->pid, reading->start_ns, &actor, &start_ns);
	if (r == -ENOMEM)
		return r;
	curve = find_curve(place, reading->pid, start_ns);
	if (!curve)
		curve = add_curve(place, reading->pid, start_ns);
	if (!curve)
		return -ENOMEM;
	if (r == 0)
		set_actor(curve, actor);
	return push_point(place, kind, curve, reading->t_ns, reading->amount);
}

static bool is_valid(const struct watt_activity_batch *batch)
{
	size_t i;

	for (i = 0; i < batch->n_places; i++)
		if (batch->places[i].kind == WATT_ACTIVITY_CPU_TIME ||
		    batch->places[i].kind >= WATT_N_ACTIVITIES)
			return false;
	for (i = 0; i < batch->n_readings; i++)
		if (batch->readings[i].place >= batch->n_places ||
		    batch->readings[i].t_ns > batch->places[batch->readings[i].place].complete_ns)
			return false;
	return true;
}

int watt_attrib_push_activity(struct watt_attrib *at, const struct watt_activity_batch *batch)
{
	bool has_new = false;
	size_t i;
	int r = is_valid(batch) ? 0 : -EINVAL;

	for (i = 0; i < batch->n_places && r == 0; i++)
		if (!find_place(at, &batch->places[i])) {
			r = add_place(at, &batch->places[i]);
			has_new = true;
		}
	if (r == 0 && has_new)
		r = watt_attrib_add_instances(at);
	for (i = 0; i < batch->n_places && r == 0; i++) {
		struct watt_activity_at *place = find_place(at, &batch->places[i]);

		place->n_units = batch->places[i].n_units;
		place->is_outside = false;
	}
	for (i = 0; i < batch->n_readings && r == 0; i++) {
		const struct watt_activity *reading = &batch->readings[i];
		const struct watt_activity_place *told = &batch->places[reading->place];
		struct watt_activity_at *place = find_place(at, told);

		place->is_outside |= !!(reading->pid & WATT_USAGE_OUTSIDE);
		r = push_reading(at, place, told->kind, reading);
	}
	for (i = 0; i < batch->n_places && r == 0; i++) {
		const struct watt_activity_place *told = &batch->places[i];
		struct watt_activity_at *place = find_place(at, told);

		place->complete_ns = WATT_MAX(place->complete_ns, told->complete_ns);
		if (!place->first_ns)
			place->first_ns = place->complete_ns;
	}
	return r;
}

/* ---- curves to slices ---- */

/* What was done up to t_ns. */
static uint64_t amount_at(const struct watt_activity_curve *curve, uint64_t t_ns)
{
	const struct watt_activity_point *a, *b;
	size_t lo = 0, hi = curve->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (curve->points[mid].t_ns < t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < curve->n && curve->points[lo].t_ns == t_ns)
		return curve->points[lo].amount;
	if (lo == 0)
		return 0; /* before it began */
	a = &curve->points[lo - 1];
	if (lo == curve->n)
		return a->amount;
	b = a + 1;
	return a->amount + (uint64_t)((watt_u128)(b->amount - a->amount) * (t_ns - a->t_ns) /
				      (b->t_ns - a->t_ns));
}

static bool is_waited_for(const struct watt_activity_at *place, uint64_t now_ns)
{
	return place->complete_ns + PATIENCE_NS > now_ns;
}

enum watt_status watt_activities_status(const struct watt_attrib *at, enum watt_activity_kind kind,
					size_t index, uint64_t t_ns)
{
	const struct watt_activity_at *place = &at->activities[kind].places[index];

	if (!place->n_units)
		return WATT_STATUS_ABSENT;
	if (!place->first_ns)
		return WATT_STATUS_PENDING;
	if (!is_waited_for(place, t_ns))
		return WATT_STATUS_STALE;
	return place->is_outside ? WATT_STATUS_FORBIDDEN : WATT_STATUS_OK;
}

/* Of a device that is gone nobody tells: what is done elsewhere must not wait for it. */
static bool can_fill(const struct watt_attrib *at, enum watt_activity_kind kind,
		     const struct watt_slice *slice, uint64_t now_ns)
{
	const struct watt_activities *all = &at->activities[kind];
	size_t i;

	for (i = 0; i < all->n_places; i++)
		if (all->places[i].complete_ns < slice->t1_ns &&
		    is_waited_for(&all->places[i], now_ns) && !watt_parts_are_gone(at, kind, i))
			return false;
	return true;
}

/* The sums that a process counts for now, if it still lives. */
static int update_actor(struct watt_attrib *at, struct watt_activity_curve *curve)
{
	struct watt_member *actor;
	uint64_t start_ns;
	int r;

	r = watt_sweep_find_actor(at, curve->pid, curve->start_ns, &actor, &start_ns);
	if (r == 0 && (!curve->start_ns || start_ns == curve->start_ns)) {
		curve->start_ns = start_ns;
		set_actor(curve, actor);
	}
	return r == -ENOMEM ? r : 0;
}

static int fill_place(struct watt_attrib *at, enum watt_activity_kind kind, size_t p,
		      struct watt_slice *slice)
{
	struct watt_activity_at *place = &at->activities[kind].places[p];
	size_t i;
	int r = 0;

	if (slice->t0_ns < place->first_ns || slice->t1_ns > place->complete_ns) {
		slice->uses[kind].n_units[p] = WATT_UNITS_UNKNOWN;
		return 0;
	}
	slice->uses[kind].n_units[p] = place->n_units;
	for (i = 0; i < place->n && r == 0; i++) {
		struct watt_activity_curve *curve = place->curves[i];
		struct watt_use use = { .place = (uint32_t)p };
		uint32_t first = 0;

		use.amount = amount_at(curve, slice->t1_ns) - amount_at(curve, slice->t0_ns);
		if (!use.amount)
			continue;
		r = update_actor(at, curve);
		use.actor = curve->actor;
		if (r == 0)
			r = watt_slice_add_use(slice, kind, &use, &first);
	}
	return r;
}

static int fill(struct watt_attrib *at, enum watt_activity_kind kind, struct watt_slice *slice)
{
	struct watt_activities *all = &at->activities[kind];
	size_t p;
	int r;

	r = watt_slice_open(slice, kind, (uint32_t)all->n_places);
	for (p = 0; p < all->n_places && r == 0; p++)
		r = fill_place(at, kind, p, slice);
	if (r == 0)
		slice->uses[kind].is_complete = true;
	return r;
}

static void forget_points(struct watt_activity_curve *curve, uint64_t t_ns)
{
	size_t gone = 0;

	while (curve->n - gone > 1 && curve->points[gone + 1].t_ns <= t_ns)
		gone++;
	curve->n -= gone;
	memmove(curve->points, curve->points + gone, curve->n * sizeof(*curve->points));
}

/* Whether somebody may still tell of it though it is gone. */
static bool is_departed(const struct watt_attrib *at, const struct watt_activity_curve *curve)
{
	size_t i;

	for (i = 0; i < at->departures.n; i++)
		if (at->departures.list[i].actor->self == curve->actor->self)
			return true;
	return false;
}

static bool is_over(const struct watt_attrib *at, const struct watt_activity_at *place,
		    const struct watt_activity_curve *curve, uint64_t t_ns)
{
	uint64_t last_ns = curve->points[curve->n - 1].t_ns;

	if (last_ns > t_ns)
		return false;
	if (!curve->actor)
		return place->complete_ns > last_ns + UNKNOWN_NS;
	return !curve->actor->self->is_alive && !is_departed(at, curve);
}

/* Nobody will ask for anything before t_ns. */
static void forget(struct watt_attrib *at, struct watt_activities *all, uint64_t t_ns)
{
	size_t p, i, n;

	for (p = 0; p < all->n_places; p++) {
		struct watt_activity_at *place = &all->places[p];

		for (i = 0, n = 0; i < place->n; i++) {
			forget_points(place->curves[i], t_ns);
			if (is_over(at, place, place->curves[i], t_ns))
				curve_free(place, place->curves[i]);
			else
				place->curves[n++] = place->curves[i];
		}
		place->n = n;
	}
}

/* ---- who is gone ---- */

bool watt_activities_have_places(const struct watt_attrib *at)
{
	size_t kind;

	for (kind = 0; kind < WATT_N_ACTIVITIES; kind++)
		if (at->activities[kind].n_places)
			return true;
	return false;
}

static void drop_departed(struct watt_departures *departures, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		watt_actor_add_users(departures->list[i].actor, -1);
	departures->n -= n;
	memmove(departures->list, departures->list + n, departures->n * sizeof(*departures->list));
}

void watt_activities_depart(struct watt_attrib *at, const struct watt_departed *departed)
{
	struct watt_departures *departures = &at->departures;

	if (!departed->actor || !watt_activities_have_places(at))
		return;
	if (departures->n == MAX_DEPARTED)
		drop_departed(departures, MAX_DEPARTED / 4);
	if (watt_grow((void **)&departures->list, &departures->cap, departures->n,
		      sizeof(*departures->list)) < 0)
		return; /* what is told of it later is nobody's */
	watt_actor_add_users(departed->actor, 1);
	departures->list[departures->n++] = *departed;
}

/* Those of whom every place has told all. */
static void forget_departed(struct watt_attrib *at, uint64_t now_ns)
{
	uint64_t told_ns = now_ns;
	size_t kind, p, n = 0;

	for (kind = 0; kind < WATT_N_ACTIVITIES; kind++)
		for (p = 0; p < at->activities[kind].n_places; p++)
			if (is_waited_for(&at->activities[kind].places[p], now_ns))
				told_ns = WATT_MIN(told_ns,
						   at->activities[kind].places[p].complete_ns);
	while (n < at->departures.n && at->departures.list[n].end_ns < told_ns)
		n++;
	if (n)
		drop_departed(&at->departures, n);
}

int watt_activities_fill(struct watt_attrib *at, uint64_t now_ns)
{
	enum watt_activity_kind kind;

	for (kind = 0; kind < WATT_N_ACTIVITIES; kind++) {
		struct watt_activities *all = &at->activities[kind];
		struct watt_slice *slice;
		uint64_t oldest = at->slices.next_seq - at->slices.n;

		if (!all->n_places)
			continue;
		all->next_seq = WATT_MAX(all->next_seq, oldest);
		while ((slice = watt_slices_find(&at->slices, all->next_seq)) &&
		       can_fill(at, kind, slice, now_ns)) {
			int r = fill(at, kind, slice);

			if (r < 0)
				return r;
			all->next_seq++;
		}
		forget(at, all, slice ? slice->t0_ns : at->last_sweep_ns);
	}
	forget_departed(at, now_ns);
	return 0;
}
