/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns the sources and deals them out to readers: all that are quick share one, each that can
 * block has its own, for all that it does, and each tier of those that can be divided. It must not
 * know what is read.
 */
#include "sample/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "sample/bundles.h"
#include "sample/channel_table.h"
#include "sample/crew.h"
#include "sample/search.h"

#define DEFAULT_QUANTUM_NS WATT_NSEC_PER_MSEC
#define DEFAULT_STOP_TIMEOUT_NS (2 * WATT_NSEC_PER_SEC)

struct watt_engine {
	struct watt_engine_opts opts;
	struct watt_crew crew;
	struct watt_bundles bundles;
	struct watt_channel_table channels;
	struct watt_search **searches;
	size_t n_searches, cap_searches;
	bool is_dealt; /* the sources of the beginning are numbered */
	bool is_started;
};

/* ---- set up ---- */

static bool is_blocking(const struct watt_power_ops *ops)
{
	return ops->flags & WATT_POWER_BLOCKING;
}

/* The sources that are there at the beginning, while they are dealt out. */
struct dealer {
	struct watt_power **sources; /* NULL: it is in a bundle */
	uint32_t *first_channel;
	size_t n;
};

static void dealer_done(struct dealer *dealer)
{
	size_t i;

	for (i = 0; dealer->sources && i < dealer->n; i++)
		if (dealer->sources[i])
			dealer->sources[i]->ops->close(dealer->sources[i]);
	free(dealer->sources);
	free(dealer->first_channel);
}

/* The bundle of each of its channels. */
static void take_channels(struct watt_engine *engine, const struct watt_deal *deal)
{
	const uint32_t *number = deal->numbers;
	uint32_t c;
	size_t i;

	for (i = 0; i < deal->n; i++)
		for (c = 0; c < deal->sources[i]->n_channels; c++)
			engine->channels.list[*number++]->bundle = deal->bundle[watt_bundles_tier(
				&engine->bundles, deal->sources[i], c)];
}

/* Deals out all that are left and are (not) slow; only: that one. */
static int deal_out(struct watt_engine *engine, struct dealer *dealer, bool is_slow, size_t only,
		    struct watt_crew_member *reader)
{
	struct watt_power **members = calloc(dealer->n + 1, sizeof(struct watt_power *));
	uint32_t *numbers = calloc(engine->channels.n + 1, sizeof(*numbers));
	struct watt_deal deal = { .sources = members, .numbers = numbers, .reader = reader };
	size_t i, n_numbers = 0;
	uint32_t c;
	int r = members && numbers ? 0 : -ENOMEM;

	for (i = 0; i < dealer->n && r == 0; i++) {
		struct watt_power *power = dealer->sources[i];

		if (!power || is_blocking(power->ops) != is_slow || (is_slow && i != only))
			continue;
		members[deal.n++] = power;
		for (c = 0; c < power->n_channels; c++)
			numbers[n_numbers++] = dealer->first_channel[i] + c;
	}
	if (r == 0)
		r = watt_bundles_add(&engine->bundles, &deal);
	if (r == 0) {
		watt_bundles_hand_first(&deal);
		take_channels(engine, &deal);
		for (i = 0; i < dealer->n; i++)
			if (dealer->sources[i] && is_blocking(dealer->sources[i]->ops) == is_slow &&
			    (!is_slow || i == only))
				dealer->sources[i] = NULL;
	}
	free(numbers);
	free(members);
	return r;
}

static int deal_all(struct watt_engine *engine, struct dealer *dealer)
{
	struct watt_crew_member *reader;
	size_t i;
	uint32_t c;
	int r = 0;

	for (i = 0; i < dealer->n; i++) {
		dealer->first_channel[i] = (uint32_t)engine->channels.n;
		for (c = 0; c < dealer->sources[i]->n_channels && r == 0; c++)
			r = watt_channel_table_add(&engine->channels, dealer->sources[i], c, false);
	}
	for (i = 0; i < dealer->n && r == 0; i++) {
		const struct watt_power_ops *ops;

		if (!dealer->sources[i])
			continue;
		ops = dealer->sources[i]->ops;
		r = watt_crew_get(&engine->crew, ops, &reader);
		if (r == 0)
			r = deal_out(engine, dealer, is_blocking(ops), i, reader);
	}
	return r;
}

static void take_opts(struct watt_engine *engine, const struct watt_engine_opts *opts)
{
	engine->opts = *opts;
	if (engine->opts.epoch_ns == 0)
		engine->opts.epoch_ns = watt_now_ns();
	if (engine->opts.quantum_ns == 0)
		engine->opts.quantum_ns = DEFAULT_QUANTUM_NS;
	if (engine->opts.stop_timeout_ns == 0)
		engine->opts.stop_timeout_ns = DEFAULT_STOP_TIMEOUT_NS;
}

int watt_engine_add(struct watt_engine *engine, struct watt_power *const *sources, size_t n_sources)
{
	struct dealer dealer = { .n = n_sources };
	size_t i;
	int r = -ENOMEM;

	dealer.sources = calloc(n_sources + 1, sizeof(struct watt_power *));
	dealer.first_channel = calloc(n_sources + 1, sizeof(*dealer.first_channel));
	if (!dealer.sources)
		for (i = 0; i < n_sources; i++)
			sources[i]->ops->close(sources[i]);
	for (i = 0; dealer.sources && i < n_sources; i++)
		dealer.sources[i] = sources[i];
	if (dealer.sources && dealer.first_channel)
		r = deal_all(engine, &dealer);
	dealer_done(&dealer);
	engine->is_dealt = true;
	return r;
}

int watt_engine_new(const struct watt_engine_opts *opts, struct watt_power *const *sources,
		    size_t n_sources, struct watt_engine **ret)
{
	struct watt_engine *engine = calloc(1, sizeof(*engine));
	size_t i;
	int r = 0;

	if (!engine) {
		for (i = 0; i < n_sources; i++)
			sources[i]->ops->close(sources[i]);
		return -ENOMEM;
	}
	take_opts(engine, opts);
	engine->crew.opts = engine->bundles.opts = &engine->opts;
	engine->bundles.crew = &engine->crew;
	if (n_sources > 0)
		r = watt_engine_add(engine, sources, n_sources);
	if (r < 0) {
		watt_engine_free(engine);
		return r;
	}
	*ret = engine;
	return 0;
}

/* ---- what comes while it runs ---- */

/* Numbers for the channels of a source that has come. */
static int number_channels(struct watt_engine *engine, const struct watt_power *power,
			   uint32_t *numbers)
{
	struct watt_table_channel *channel;
	uint32_t i;
	int r;

	for (i = 0; i < power->n_channels; i++) {
		channel = watt_channel_table_find(&engine->channels, power->ops,
						  power->channels[i].name, &numbers[i]);
		if (channel && !watt_table_channel_is_gone(channel)) {
			numbers[i] = WATT_CHANNEL_UNWANTED; /* it came back by itself */
			continue;
		}
		if (channel)
			continue;
		numbers[i] = (uint32_t)engine->channels.n;
		r = watt_channel_table_add(&engine->channels, power, i, true);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool is_any_estimated(const struct watt_engine *engine)
{
	size_t i;

	for (i = 0; i < engine->channels.n; i++)
		if (engine->channels.list[i]->channel->origin == WATT_ORIGIN_ESTIMATED)
			return true;
	return false;
}

/* What was estimated when it began is so to the end: numbers that were told don't change. */
static void say_arrival(const struct watt_engine *engine, const struct watt_table_channel *channel)
{
	const struct watt_channel *what = channel->channel;
	bool is_of_machine = what->kind == WATT_DOMAIN_TOTAL || what->kind == WATT_DOMAIN_PACKAGE ||
			     what->kind == WATT_DOMAIN_CPU_RAIL;

	watt_log(&engine->opts.log, WATT_LOG_INFO, "%s %s", what->name,
		 channel->bundle ? "is back" : "has come: its energy counts from now on");
	if (!channel->bundle && is_of_machine && what->origin == WATT_ORIGIN_MEASURED &&
	    !(what->flags & WATT_CHANNEL_OVERLAP_UNKNOWN) && is_any_estimated(engine))
		watt_log(&engine->opts.log, WATT_LOG_WARNING,
			 "%s measures now, and the machine's energy goes on being estimated as it "
			 "began: start again to have it measured",
			 what->name);
}

static int start_late(const struct watt_engine *engine, struct watt_crew_member *reader)
{
	if (!engine->is_started || watt_reader_is_running(reader->reader))
		return 0;
	return watt_reader_start(reader->reader);
}

/* Numbered channels of a source that has come, by the bundles that they are in now. */
static void move_channels(struct watt_engine *engine, const struct watt_deal *deal)
{
	const struct watt_power *power = deal->sources[0];
	uint32_t i;

	for (i = 0; i < power->n_channels; i++) {
		struct watt_table_channel *channel;

		if (deal->numbers[i] == WATT_CHANNEL_UNWANTED)
			continue;
		channel = engine->channels.list[deal->numbers[i]];
		say_arrival(engine, channel);
		if (channel->bundle)
			watt_bundles_leave(&engine->bundles, channel->bundle, deal->numbers[i]);
		channel->bundle = deal->bundle[watt_bundles_tier(&engine->bundles, power, i)];
		channel->status = WATT_STATUS_PENDING;
	}
}

/* What can block is open before the start, and not read. */
static int hand_arrival(const struct watt_engine *engine, const struct watt_deal *deal)
{
	size_t tier;
	int r = 0;

	for (tier = 0; tier < WATT_N_TIERS && engine->is_started && r == 0; tier++) {
		struct engine_bundle *bundle = deal->bundle[tier];

		if (!bundle || bundle->is_handed)
			continue;
		r = start_late(engine, bundle->reader);
		if (r == 0)
			r = watt_bundles_hand_over(bundle, WATT_HANDOVER_READ);
	}
	return r;
}

static int take_arrival(struct watt_engine *engine, const struct watt_search *search,
			struct watt_power *power)
{
	uint32_t *numbers = calloc(power->n_channels + 1, sizeof(*numbers));
	struct watt_deal deal = { .sources = &power, .n = 1, .numbers = numbers };
	int r = numbers ? number_channels(engine, power, numbers) : -ENOMEM;

	deal.reader = is_blocking(search->ops) ? watt_crew_find(&engine->crew, search->reader) :
						 engine->crew.fast;
	power->asked_period_ns = search->asked_period_ns;
	if (r == 0)
		r = watt_bundles_add(&engine->bundles, &deal);
	if (r < 0) {
		power->ops->close(power);
		free(numbers);
		return r;
	}
	move_channels(engine, &deal);
	r = hand_arrival(engine, &deal);
	free(numbers);
	return r;
}

static int add_search(struct watt_engine *engine, const struct watt_power_ops *ops,
		      uint64_t asked_period_ns, struct watt_crew_member *finder, bool was_tried)
{
	struct watt_search *search;
	int r = watt_grow((void **)&engine->searches, &engine->cap_searches, engine->n_searches,
			  sizeof(struct watt_search *));

	if (r == 0)
		r = watt_search_new(ops, finder->reader, asked_period_ns, engine->opts.epoch_ns,
				    &search);
	if (r < 0)
		return r;
	engine->searches[engine->n_searches++] = search;
	if (was_tried)
		watt_search_skip_open(search, engine->opts.epoch_ns);
	return 0;
}

/* It is opened now, on its thread. */
static int watch_slow(struct watt_engine *engine, const struct watt_env *env,
		      const struct watt_power_ops *ops, uint64_t asked_period_ns)
{
	struct watt_crew_member *reader;
	int r = watt_crew_add_waiting(&engine->crew, ops, env, &reader);

	if (r == 0)
		r = add_search(engine, ops, asked_period_ns, reader, false);
	return r < 0 ? r : watt_reader_start(reader->reader);
}

/* It was opened before, or tried: only what comes is of interest. */
static int watch_opened(struct watt_engine *engine, const struct watt_env *env,
			const struct watt_power_ops *ops, uint64_t asked_period_ns)
{
	struct watt_crew_member *reader = watt_crew_find_waiting(&engine->crew, ops);
	int r = 0;

	if (!ops->rescan)
		return 0;
	if (reader)
		watt_crew_set_env(&engine->crew, ops, env);
	else
		r = watt_crew_add_waiting(&engine->crew, ops, env, &reader);
	if (r == 0)
		r = add_search(engine, ops, asked_period_ns, reader, true);
	return r;
}

static int watch_quick(struct watt_engine *engine, const struct watt_env *env,
		       const struct watt_power_ops *ops, uint64_t asked_period_ns, bool was_tried)
{
	struct watt_crew_member *reader;
	int r = 0;

	if (!ops->rescan && was_tried)
		return 0;
	r = watt_crew_get(&engine->crew, ops, &reader);
	if (r == 0)
		r = watt_crew_add_finder(&engine->crew, env);
	if (r == 0)
		r = start_late(engine, reader);
	if (r == 0)
		r = start_late(engine, engine->crew.finder);
	if (r == 0)
		r = add_search(engine, ops, asked_period_ns, engine->crew.finder, was_tried);
	return r;
}

int watt_engine_watch(struct watt_engine *engine, const struct watt_env *env,
		      const struct watt_power_ops *ops, uint64_t asked_period_ns, bool was_tried)
{
	int r;

	if (!is_blocking(ops))
		r = watch_quick(engine, env, ops, asked_period_ns, was_tried);
	else if (was_tried)
		r = watch_opened(engine, env, ops, asked_period_ns);
	else
		r = watch_slow(engine, env, ops, asked_period_ns);
	watt_engine_poll(engine, watt_now_ns());
	return r;
}

/* Asks what has come, and says what is known. Without memory it is asked the next time. */
static void look(struct watt_engine *engine, struct watt_search *search)
{
	const char **names = calloc(engine->channels.n + 1, sizeof(char *));
	struct watt_search_view view = {
		names, 0, watt_channel_table_is_any_gone(&engine->channels, search->ops)
	};

	if (names) {
		view.n_names = watt_channel_table_list(&engine->channels, search->ops, names);
		watt_search_look(search, &view);
	}
	free(names);
}

static void search_soon(struct watt_engine *engine, const struct watt_power_ops *ops)
{
	size_t i;

	for (i = 0; i < engine->n_searches; i++)
		if (engine->searches[i]->ops == ops)
			watt_search_hurry(engine->searches[i]);
}

static void take_answer(struct watt_engine *engine, struct watt_lookup *lookup, uint64_t now_ns)
{
	struct watt_search *search = lookup->task.owner;
	struct watt_power *power = watt_search_take_answer(search, lookup, &engine->opts.log);
	int r = 0;

	if (power && engine->is_dealt)
		r = take_arrival(engine, search, power);
	else if (power)
		search->power = power;
	if (r < 0)
		watt_log(&engine->opts.log, WATT_LOG_WARNING, "%s: what has come can't be read: %s",
			 search->ops->name, strerror(-r));
	watt_search_plan(search, watt_channel_table_is_any_gone(&engine->channels, search->ops),
			 now_ns);
}

static void receive(struct watt_engine *engine, struct watt_reader *reader, uint64_t now_ns)
{
	struct watt_task *task;

	while ((task = watt_reader_receive(reader))) {
		if (task->owner) {
			take_answer(engine, watt_container_of(task, struct watt_lookup, task),
				    now_ns);
			continue;
		}
		if (!task->run) {
			struct watt_said *said = watt_container_of(task, struct watt_said, task);

			watt_log(&engine->opts.log, said->level, "%s", said->text);
		}
		task->drop(task);
	}
}

void watt_engine_poll(struct watt_engine *engine, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < engine->crew.n; i++) {
		struct watt_crew_member *member = engine->crew.members[i];

		receive(engine, member->reader, now_ns);
		if (member->is_blocking)
			watt_crew_watch_deadline(&engine->crew, member, now_ns);
	}
	for (i = 0; i < engine->n_searches; i++) {
		struct watt_search *search = engine->searches[i];

		if (watt_search_is_due(search, engine->is_started, now_ns))
			look(engine, search);
	}
}

void watt_engine_hear(struct watt_engine *engine, const char *subsystem)
{
	size_t i;

	for (i = 0; i < engine->n_searches; i++)
		watt_search_hear(engine->searches[i], subsystem);
}

/* ---- what is opened at the beginning ---- */

static struct watt_search *find_search(const struct watt_engine *engine,
				       const struct watt_power_ops *ops)
{
	size_t i;

	for (i = 0; i < engine->n_searches; i++)
		if (engine->searches[i]->ops == ops)
			return engine->searches[i];
	return NULL;
}

int watt_engine_wait_open(struct watt_engine *engine, uint64_t deadline_ns)
{
	size_t i;
	int r = 0;

	for (i = 0; i < engine->n_searches && r == 0; i++) {
		struct watt_search *search = engine->searches[i];

		receive(engine, search->reader, watt_now_ns());
		while (watt_search_is_being_opened(search) && r == 0) {
			r = watt_reader_wait_task(search->reader, deadline_ns);
			receive(engine, search->reader, watt_now_ns());
		}
	}
	return r;
}

int watt_engine_take_open(struct watt_engine *engine, const struct watt_power_ops *ops,
			  struct watt_power **ret)
{
	struct watt_search *search = find_search(engine, ops);

	if (!search)
		return -ENODEV;
	receive(engine, search->reader, watt_now_ns());
	if (watt_search_is_being_opened(search))
		return -EAGAIN;
	if (!search->power)
		return search->error < 0 ? search->error : -ENODEV;
	*ret = search->power;
	search->power = NULL;
	return 0;
}

void watt_engine_ask_period(struct watt_engine *engine, const struct watt_power_ops *ops,
			    uint64_t period_ns)
{
	struct watt_search *search = find_search(engine, ops);

	if (search)
		search->asked_period_ns = period_ns;
}

enum watt_status watt_engine_source_status(const struct watt_engine *engine,
					   const struct watt_power_ops *ops)
{
	const struct watt_search *search = find_search(engine, ops);

	if (search && is_blocking(ops) && watt_crew_find(&engine->crew, search->reader)->has_hung)
		return WATT_STATUS_STALE;
	if (watt_channel_table_has(&engine->channels, ops))
		return WATT_STATUS_OK;
	return search ? watt_search_status(search) : WATT_STATUS_ABSENT;
}

/* ---- the end ---- */

struct watt_engine *watt_engine_free(struct watt_engine *engine)
{
	size_t i;

	if (!engine)
		return NULL;
	watt_bundles_hand_all(&engine->bundles, WATT_HANDOVER_KEEP);
	watt_engine_stop(engine);
	watt_crew_close_waiting(&engine->crew);
	for (i = 0; i < engine->n_searches; i++)
		watt_search_free(engine->searches[i]);
	watt_bundles_done(&engine->bundles);
	watt_crew_done(&engine->crew);
	watt_channel_table_done(&engine->channels);
	free(engine->searches);
	free(engine);
	return NULL;
}

/* ---- running ---- */

int watt_engine_start(struct watt_engine *engine)
{
	int r;

	if (engine->is_started)
		return -EBUSY;
	engine->is_started = true;
	r = watt_crew_start(&engine->crew);
	if (r >= 0)
		r = watt_bundles_hand_all(&engine->bundles, WATT_HANDOVER_READ);
	if (r < 0)
		watt_engine_stop(engine);
	return r;
}

int watt_engine_stop(struct watt_engine *engine)
{
	int n_hung = watt_crew_stop(&engine->crew);

	engine->is_started = false;
	return n_hung;
}

int watt_engine_count_stranded(const struct watt_engine *engine)
{
	return watt_crew_count_stranded(&engine->crew);
}

uint64_t watt_engine_run_due(struct watt_engine *engine, uint64_t now_ns)
{
	return watt_crew_run_due(&engine->crew, now_ns);
}

void watt_engine_ask_now(struct watt_engine *engine)
{
	if (engine->crew.fast)
		watt_reader_ask_now(engine->crew.fast->reader);
}

int watt_engine_wait_now(struct watt_engine *engine, uint64_t timeout_ns)
{
	if (!engine->crew.fast)
		return 0;
	return watt_reader_wait_now(engine->crew.fast->reader, watt_now_ns() + timeout_ns);
}

int watt_engine_read_now(struct watt_engine *engine, uint64_t timeout_ns)
{
	watt_engine_ask_now(engine);
	return watt_engine_wait_now(engine, timeout_ns);
}

uint64_t watt_engine_room_ns(const struct watt_engine *engine)
{
	return watt_bundles_room_ns(&engine->bundles);
}

/* ---- what others see ---- */

static void note_statuses(struct watt_engine *engine, const struct watt_sample *samples, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct watt_table_channel *channel = engine->channels.list[samples[i].channel];
		bool was_gone = watt_table_channel_is_gone(channel);

		channel->status = (enum watt_status)samples[i].status;
		if (watt_table_channel_is_gone(channel) && !was_gone)
			search_soon(engine, channel->ops);
	}
}

size_t watt_engine_fetch(struct watt_engine *engine, struct watt_sample *ret, size_t n)
{
	size_t done = watt_bundles_fetch(&engine->bundles, ret, n);

	note_statuses(engine, ret, done);
	return done;
}

size_t watt_engine_channel_count(const struct watt_engine *engine)
{
	return engine->channels.n;
}

const struct watt_channel *watt_engine_channel(const struct watt_engine *engine, size_t index)
{
	return index < engine->channels.n ? engine->channels.list[index]->channel : NULL;
}

bool watt_engine_channel_is_blocking(const struct watt_engine *engine, size_t index)
{
	return is_blocking(engine->channels.list[index]->ops);
}

enum watt_status watt_engine_channel_status(const struct watt_engine *engine, size_t index)
{
	const struct watt_table_channel *channel = engine->channels.list[index];

	if (channel->bundle && channel->bundle->reader->has_hung)
		return WATT_STATUS_STALE;
	return channel->status;
}

void watt_engine_losses(const struct watt_engine *engine, uint64_t *ret_missed, uint64_t *ret_lost)
{
	watt_bundles_losses(&engine->bundles, ret_missed, ret_lost);
}

void watt_engine_tier_stats(const struct watt_engine *engine, enum watt_tier tier,
			    struct watt_tier_stats *ret)
{
	watt_bundles_tier_stats(&engine->bundles, tier, ret);
}

void watt_engine_stats(const struct watt_engine *engine, size_t channel,
		       struct watt_reader_stats *ret)
{
	const struct engine_bundle *bundle =
		channel < engine->channels.n ? engine->channels.list[channel]->bundle : NULL;
	const struct watt_reader *reader = bundle ? bundle->reader->reader : NULL;

	*ret = (struct watt_reader_stats){ 0 };
	if (!bundle)
		return;
	watt_bundle_get_stats(bundle->bundle, (uint32_t)channel, watt_reader_is_running(reader),
			      ret);
	ret->is_realtime = watt_reader_is_realtime(reader);
}
