/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads groups of channels at their deadlines and hands the samples on. What it reads was set up
 * before: reading allocates nothing, locks nothing and formats nothing.
 */
#include "sample/bundle.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/ring.h"
#include "base/util.h"
#include "sample/lateness.h"
#include "sample/schedule.h"

#define RING_MIN 1024u
#define RING_MAX 65536u
#define RING_SPAN_NS (2 * WATT_NSEC_PER_SEC)

#define MEDIUM_NS (10 * WATT_NSEC_PER_MSEC)
#define SLOW_NS (100 * WATT_NSEC_PER_MSEC)

struct bundle_channel {
	uint32_t number;                /* in the engine */
	struct watt_counter is_retired; /* the consumer's word */
	struct watt_counter errors;
	struct watt_counter lost;
	int64_t newest; /* reading of a counter that may stand still */
	bool has_newest;
	bool may_stand; /* for want of a machine: that is no reading */
	bool is_context;
};

struct bundle_group {
	struct watt_power *power;
	uint32_t index; /* in its source */
	uint32_t n;
	struct watt_schedule schedule;
	struct bundle_channel *channels;
	struct watt_counter is_retired; /* none of them is wanted */
	struct watt_counter reads;
	struct watt_counter missed;
	struct watt_counter cost_ns;
	struct watt_counter due_ns; /* what schedule.due_ns is, for others to see */
	struct watt_lateness lateness;
};

struct watt_bundle {
	struct watt_bundle *next;
	struct watt_power **sources;
	size_t n_sources;
	struct bundle_group *groups;
	size_t n_groups;
	struct bundle_channel *channels;
	struct watt_sample *scratch; /* room for the largest group */
	bool is_warming;             /* what is read is before the first deadlines */
	struct watt_ring ring;
};

/* ---- set up ---- */

static uint64_t group_period_ns(const struct watt_bundle_opts *opts, const struct watt_power *power,
				uint32_t group)
{
	uint64_t period_ns = power->asked_period_ns ? power->asked_period_ns : opts->period_ns;

	return watt_schedule_round_ns(WATT_MAX(period_ns, power->groups[group].period_ns),
				      opts->quantum_ns);
}

static enum watt_tier tier_of(uint64_t period_ns)
{
	if (period_ns >= SLOW_NS)
		return WATT_TIER_SLOW;
	return period_ns >= MEDIUM_NS ? WATT_TIER_MEDIUM : WATT_TIER_FAST;
}

enum watt_tier watt_bundle_tier(const struct watt_bundle_opts *opts, const struct watt_power *power,
				uint32_t group)
{
	return tier_of(group_period_ns(opts, power, group));
}

static bool has_group(const struct watt_bundle_opts *opts, const struct watt_power *power,
		      uint32_t group)
{
	return !opts->tiers || opts->tiers & 1u << watt_bundle_tier(opts, power, group);
}

static int alloc_parts(struct watt_bundle *bundle, struct watt_power *const *sources,
		       size_t n_sources)
{
	size_t n_groups = 0, n_channels = 0, n_largest = 0;
	size_t i, j;

	for (i = 0; i < n_sources; i++) {
		n_groups += sources[i]->n_groups;
		for (j = 0; j < sources[i]->n_groups; j++) {
			n_channels += sources[i]->groups[j].n;
			n_largest = WATT_MAX(n_largest, (size_t)sources[i]->groups[j].n);
		}
	}
	/* one more of each: a source without channels is unusual, not an error */
	bundle->sources = calloc(n_sources + 1, sizeof(struct watt_power *));
	bundle->groups = calloc(n_groups + 1, sizeof(*bundle->groups));
	bundle->channels = calloc(n_channels + 1, sizeof(*bundle->channels));
	bundle->scratch = calloc(n_largest + 1, sizeof(*bundle->scratch));
	return bundle->sources && bundle->groups && bundle->channels && bundle->scratch ? 0 :
											  -ENOMEM;
}

static void update_retired(struct bundle_group *group)
{
	uint32_t i;

	for (i = 0; i < group->n; i++)
		if (!watt_counter_get(&group->channels[i].is_retired))
			return;
	watt_counter_set(&group->is_retired, 1);
}

static void add_group(struct watt_bundle *bundle, const struct watt_bundle_opts *opts,
		      struct watt_power *power, uint32_t index, struct bundle_channel *channels)
{
	const struct watt_power_group *from = &power->groups[index];
	struct bundle_group *group = &bundle->groups[bundle->n_groups++];

	group->power = power;
	group->index = index;
	group->n = from->n;
	group->channels = channels;
	watt_schedule_init(&group->schedule, opts->epoch_ns, group_period_ns(opts, power, index));
	watt_counter_set(&group->due_ns, group->schedule.due_ns);
	update_retired(group);
}

static void add_source(struct watt_bundle *bundle, const struct watt_bundle_opts *opts,
		       struct watt_power *power, struct bundle_channel *channels,
		       const uint32_t *numbers)
{
	uint32_t i;

	for (i = 0; i < power->n_channels; i++) {
		channels[i].number = numbers[i];
		channels[i].may_stand = opts->is_captured &&
					power->channels[i].semantics == WATT_SEMANTICS_COUNTER;
		channels[i].is_context = watt_quantity_is_context(power->channels[i].quantity);
		watt_counter_set(&channels[i].is_retired, numbers[i] == WATT_CHANNEL_UNWANTED);
	}
	for (i = 0; i < power->n_groups; i++)
		if (has_group(opts, power, i))
			add_group(bundle, opts, power, i, channels + power->groups[i].first);
	watt_refcount_get(&power->parts);
	bundle->sources[bundle->n_sources++] = power;
}

/* Samples that come in RING_SPAN_NS at most. */
static uint64_t count_samples(const struct watt_bundle *bundle)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < bundle->n_groups; i++)
		n += bundle->groups[i].n *
		     (RING_SPAN_NS / bundle->groups[i].schedule.period_ns + 1);
	return n;
}

static uint32_t choose_ring_size(const struct watt_bundle *bundle)
{
	uint64_t want = count_samples(bundle);
	uint32_t size = RING_MIN;

	while (size < want && size < RING_MAX)
		size *= 2;
	return size;
}

int watt_bundle_new(const struct watt_bundle_opts *opts, struct watt_power *const *sources,
		    size_t n_sources, const uint32_t *numbers, struct watt_bundle **ret)
{
	struct watt_bundle *bundle = calloc(1, sizeof(*bundle));
	size_t i, n = 0;
	int r;

	if (!bundle)
		return -ENOMEM;
	r = alloc_parts(bundle, sources, n_sources);
	for (i = 0; r == 0 && i < n_sources; i++) {
		add_source(bundle, opts, sources[i], bundle->channels + n, numbers + n);
		n += sources[i]->n_channels;
	}
	if (r == 0)
		r = watt_ring_init(&bundle->ring,
				   opts->ring_size ? opts->ring_size : choose_ring_size(bundle),
				   sizeof(struct watt_sample));
	if (r < 0) {
		while (bundle->n_sources > 0) /* they stay the caller's */
			watt_refcount_put(&bundle->sources[--bundle->n_sources]->parts);
		watt_bundle_free(bundle);
		return r;
	}
	*ret = bundle;
	return 0;
}

struct watt_bundle *watt_bundle_free(struct watt_bundle *bundle)
{
	size_t i;

	if (!bundle)
		return NULL;
	for (i = 0; i < bundle->n_sources; i++)
		if (watt_refcount_put(&bundle->sources[i]->parts))
			bundle->sources[i]->ops->close(bundle->sources[i]);
	watt_ring_done(&bundle->ring);
	free(bundle->scratch);
	free(bundle->channels);
	free(bundle->groups);
	free(bundle->sources);
	free(bundle);
	return NULL;
}

/* ---- the thread that reads ---- */

struct watt_bundle *watt_bundle_next(const struct watt_bundle *bundle)
{
	return bundle->next;
}

void watt_bundle_set_next(struct watt_bundle *bundle, struct watt_bundle *next)
{
	bundle->next = next;
}

static bool is_news(struct bundle_channel *channel, const struct watt_sample *sample)
{
	if (sample->status == WATT_STATUS_NOTHING_NEW)
		return false;
	if (!channel->may_stand || sample->status != WATT_STATUS_OK)
		return true;
	if (channel->has_newest && channel->newest == sample->raw)
		return false;
	channel->newest = sample->raw;
	channel->has_newest = true;
	return true;
}

/* Leaves those that are wanted; returns how many. */
static size_t number_samples(struct watt_bundle *bundle, struct bundle_group *group)
{
	struct watt_sample *samples = bundle->scratch;
	size_t kept = 0;
	uint32_t i;

	for (i = 0; i < group->n; i++) {
		if (watt_counter_get(&group->channels[i].is_retired) ||
		    (bundle->is_warming && group->channels[i].is_context) ||
		    !is_news(&group->channels[i], &samples[i]))
			continue;
		if (kept < i)
			samples[kept] = samples[i];
		samples[kept].channel = group->channels[i].number;
		if (samples[kept++].status != WATT_STATUS_OK)
			watt_counter_add(&group->channels[i].errors, 1);
	}
	return kept;
}

static void deliver(struct watt_bundle *bundle, struct bundle_group *group)
{
	size_t n = number_samples(bundle, group);
	size_t pushed = watt_ring_push(&bundle->ring, bundle->scratch, n);
	uint32_t i;

	for (i = 0; i < group->n && pushed < n; i++)
		if (group->channels[i].number == bundle->scratch[pushed].channel) {
			watt_counter_add(&group->channels[i].lost, 1);
			pushed++;
		}
}

/* Returns when the read had ended. */
static uint64_t read_group(struct watt_bundle *bundle, struct bundle_group *group)
{
	uint64_t t_before_ns = watt_now_ns();
	uint64_t t_after_ns;

	group->power->ops->read(group->power, group->index, bundle->scratch);
	t_after_ns = watt_now_ns();
	deliver(bundle, group);
	watt_counter_add(&group->reads, 1);
	watt_counter_add(&group->cost_ns, t_after_ns - t_before_ns);
	return t_after_ns;
}

/* Where the source knows when there is something new, it is read then. */
static void pace_group(struct bundle_group *group, uint64_t now_ns)
{
	const struct watt_power_ops *ops = group->power->ops;
	uint64_t due_ns;

	if (!ops->next_ns)
		return;
	due_ns = ops->next_ns(group->power, group->index, group->schedule.period_ns);
	if (!due_ns)
		return;
	watt_schedule_move(&group->schedule, now_ns, due_ns);
	watt_counter_set(&group->due_ns, group->schedule.due_ns);
}

static uint64_t read_due_group(struct watt_bundle *bundle, struct bundle_group *group,
			       uint64_t now_ns)
{
	uint64_t deadline_ns;
	uint64_t missed = watt_schedule_take(&group->schedule, now_ns, &deadline_ns);

	/* published before the read: if it hangs, others see since when */
	watt_counter_set(&group->due_ns, group->schedule.due_ns);
	watt_counter_add(&group->missed, missed);
	watt_lateness_add(&group->lateness, now_ns - deadline_ns);
	return read_group(bundle, group);
}

void watt_bundle_read_all(struct watt_bundle *bundle)
{
	size_t i;

	for (i = 0; i < bundle->n_groups; i++)
		if (!watt_counter_get(&bundle->groups[i].is_retired))
			read_group(bundle, &bundle->groups[i]);
}

void watt_bundle_read_first(struct watt_bundle *bundle)
{
	bundle->is_warming = true;
	watt_bundle_read_all(bundle);
	bundle->is_warming = false;
}

uint64_t watt_bundle_read_due(struct watt_bundle *bundle, uint64_t now_ns, bool has_clock)
{
	uint64_t due_ns = UINT64_MAX, t_ns;
	size_t i;

	for (i = 0; i < bundle->n_groups; i++) {
		struct bundle_group *group = &bundle->groups[i];

		if (watt_counter_get(&group->is_retired))
			continue;
		if (watt_schedule_is_due(&group->schedule, now_ns)) {
			t_ns = read_due_group(bundle, group, now_ns);
			if (has_clock)
				pace_group(group, t_ns);
			now_ns = has_clock ? t_ns : now_ns;
		}
		due_ns = WATT_MIN(due_ns, group->schedule.due_ns);
	}
	return due_ns;
}

void watt_bundle_skip(struct watt_bundle *bundle, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < bundle->n_groups; i++) {
		struct bundle_group *group = &bundle->groups[i];

		watt_schedule_skip(&group->schedule, now_ns);
		watt_counter_set(&group->due_ns, group->schedule.due_ns);
	}
}

/* ---- the consumer ---- */

uint64_t watt_bundle_room_ns(const struct watt_bundle *bundle)
{
	uint64_t n = count_samples(bundle);

	return n ? RING_SPAN_NS * ((uint64_t)bundle->ring.mask + 1) / n : UINT64_MAX;
}

size_t watt_bundle_fetch(struct watt_bundle *bundle, struct watt_sample *ret, size_t n)
{
	return watt_ring_pop(&bundle->ring, ret, n);
}

static struct bundle_channel *find_channel(const struct watt_bundle *bundle, uint32_t number,
					   struct bundle_group **ret_group)
{
	size_t i;
	uint32_t j;

	for (i = 0; i < bundle->n_groups; i++)
		for (j = 0; j < bundle->groups[i].n; j++)
			if (bundle->groups[i].channels[j].number == number) {
				*ret_group = &bundle->groups[i];
				return &bundle->groups[i].channels[j];
			}
	return NULL;
}

void watt_bundle_retire(struct watt_bundle *bundle, uint32_t number)
{
	struct bundle_group *group;
	struct bundle_channel *channel = find_channel(bundle, number, &group);

	if (!channel)
		return;
	watt_counter_set(&channel->is_retired, 1);
	update_retired(group);
}

bool watt_bundle_is_retired(const struct watt_bundle *bundle)
{
	size_t i;

	for (i = 0; i < bundle->n_groups; i++)
		if (!watt_counter_get(&bundle->groups[i].is_retired))
			return false;
	return true;
}

/* Deadlines that pass while a read hangs are missed as well, only not counted yet. */
static uint64_t overdue(const struct bundle_group *group, bool is_running)
{
	uint64_t due_ns = watt_counter_get(&group->due_ns);
	uint64_t now_ns = watt_now_ns();

	if (!is_running || watt_counter_get(&group->is_retired) || now_ns <= due_ns)
		return 0;
	return (now_ns - due_ns) / group->schedule.period_ns;
}

void watt_bundle_add_losses(const struct watt_bundle *bundle, bool is_running, uint64_t *missed,
			    uint64_t *lost)
{
	uint32_t j;
	size_t i;

	for (i = 0; i < bundle->n_groups; i++) {
		const struct bundle_group *group = &bundle->groups[i];

		*missed += watt_counter_get(&group->missed) + overdue(group, is_running);
		for (j = 0; j < group->n; j++)
			*lost += watt_counter_get(&group->channels[j].lost);
	}
}

void watt_bundle_add_tier_stats(const struct watt_bundle *bundle, enum watt_tier tier,
				bool is_running, struct watt_tier_stats *ret)
{
	size_t i;

	for (i = 0; i < bundle->n_groups; i++) {
		const struct bundle_group *group = &bundle->groups[i];

		if (tier_of(group->schedule.period_ns) != tier)
			continue;
		ret->reads += watt_counter_get(&group->reads);
		ret->missed += watt_counter_get(&group->missed) + overdue(group, is_running);
		ret->cost_ns += watt_counter_get(&group->cost_ns);
		ret->lateness_max_ns =
			WATT_MAX(ret->lateness_max_ns, watt_lateness_max_ns(&group->lateness));
	}
}

void watt_bundle_get_stats(const struct watt_bundle *bundle, uint32_t number, bool is_running,
			   struct watt_reader_stats *ret)
{
	struct bundle_group *group;
	const struct bundle_channel *channel = find_channel(bundle, number, &group);

	*ret = (struct watt_reader_stats){ 0 };
	if (!channel)
		return;
	ret->reads = watt_counter_get(&group->reads);
	ret->errors = watt_counter_get(&channel->errors);
	ret->missed = watt_counter_get(&group->missed) + overdue(group, is_running);
	ret->lost = watt_counter_get(&channel->lost);
	ret->cost_ns = watt_counter_get(&group->cost_ns);
	ret->lateness_p50_ns = watt_lateness_percentile_ns(&group->lateness, 500);
	ret->lateness_p99_ns = watt_lateness_percentile_ns(&group->lateness, 990);
	ret->lateness_max_ns = watt_lateness_max_ns(&group->lateness);
	ret->period_ns = group->schedule.period_ns;
}
