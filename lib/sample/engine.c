/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns the open sources and deals them out to readers: all that are quick share one, each that
 * can block has its own. It must not know what is read.
 */
#include "sample/sample.h"

#include "base/clock.h"
#include "base/ring.h"
#include "base/util.h"
#include "sample/reader.h"

#define DEFAULT_QUANTUM_NS WATT_NSEC_PER_MSEC
#define DEFAULT_STOP_TIMEOUT_NS (2 * WATT_NSEC_PER_SEC)
#define NO_READER SIZE_MAX

struct engine_source {
	struct watt_power *power;
	uint32_t first_channel;
	size_t reader;
};

struct engine_reader {
	struct watt_reader *reader;
	const char *name; /* of its source, or "fast" */
	bool has_hung;
};

struct watt_engine {
	struct watt_engine_opts opts;
	struct engine_source *sources;
	size_t n_sources;
	struct engine_reader *readers;
	size_t n_readers;
	size_t fast_reader; /* NO_READER: all sources can block */
	size_t next_reader; /* whose samples are fetched first */
	size_t n_channels;
	bool is_started;
};

/* ---- set up ---- */

static bool is_blocking(const struct watt_power *power)
{
	return power->ops->flags & WATT_POWER_BLOCKING;
}

/* Adds a reader of these sources; its number goes to each of them. */
static int add_reader(struct watt_engine *engine, const char *name, const size_t *members,
		      size_t n_members)
{
	struct watt_reader_opts opts = {
		.name = name,
		.epoch_ns = engine->opts.epoch_ns,
		.quantum_ns = engine->opts.quantum_ns,
		.period_ns = engine->opts.period_ns,
		.ring_size = engine->opts.ring_size,
	};
	struct watt_power **powers = calloc(n_members, sizeof(*powers));
	uint32_t *first_channel = calloc(n_members, sizeof(*first_channel));
	size_t i;
	int r = -ENOMEM;

	if (!powers || !first_channel)
		goto out;
	for (i = 0; i < n_members; i++) {
		powers[i] = engine->sources[members[i]].power;
		first_channel[i] = engine->sources[members[i]].first_channel;
	}
	/* a source that can block may also compute for long: it must never be above others */
	opts.is_realtime = !is_blocking(powers[0]) && !engine->opts.is_never_realtime;
	r = watt_reader_new(&opts, powers, first_channel, n_members,
			    &engine->readers[engine->n_readers].reader);
	if (r < 0)
		goto out;
	for (i = 0; i < n_members; i++)
		engine->sources[members[i]].reader = engine->n_readers;
	engine->readers[engine->n_readers++].name = name;
out:
	free(first_channel);
	free(powers);
	return r;
}

static int add_fast_reader(struct watt_engine *engine)
{
	size_t *members = calloc(engine->n_sources + 1, sizeof(*members));
	size_t n = 0, i;
	int r = 0;

	if (!members)
		return -ENOMEM;
	for (i = 0; i < engine->n_sources; i++)
		if (!is_blocking(engine->sources[i].power))
			members[n++] = i;
	engine->fast_reader = n > 0 ? engine->n_readers : NO_READER;
	if (n > 0)
		r = add_reader(engine, "watt-fast", members, n);
	free(members);
	return r;
}

static int add_readers(struct watt_engine *engine)
{
	size_t i;
	int r = add_fast_reader(engine);

	for (i = 0; i < engine->n_sources && r >= 0; i++)
		if (is_blocking(engine->sources[i].power))
			r = add_reader(engine, engine->sources[i].power->ops->name, &i, 1);
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

static void close_sources(struct watt_power *const *sources, size_t n_sources)
{
	size_t i;

	for (i = 0; i < n_sources; i++)
		sources[i]->ops->close(sources[i]);
}

int watt_engine_new(const struct watt_engine_opts *opts, struct watt_power *const *sources,
		    size_t n_sources, struct watt_engine **ret)
{
	struct watt_engine *engine = calloc(1, sizeof(*engine));
	size_t i;
	int r = -ENOMEM;

	if (!engine)
		goto err_close;
	engine->sources = calloc(n_sources + 1, sizeof(*engine->sources));
	engine->readers = calloc(n_sources + 1, sizeof(*engine->readers));
	if (!engine->sources || !engine->readers)
		goto err_close;
	take_opts(engine, opts);
	for (i = 0; i < n_sources; i++) {
		engine->sources[i] = (struct engine_source){
			.power = sources[i],
			.first_channel = (uint32_t)engine->n_channels,
			.reader = NO_READER,
		};
		engine->n_channels += sources[i]->n_channels;
	}
	engine->n_sources = n_sources;
	r = add_readers(engine);
	if (r < 0) {
		watt_engine_free(engine);
		return r;
	}
	*ret = engine;
	return 0;
err_close:
	close_sources(sources, n_sources);
	watt_engine_free(engine);
	return r;
}

static bool has_hung(const struct watt_engine *engine, const struct engine_source *source)
{
	return source->reader != NO_READER && engine->readers[source->reader].has_hung;
}

struct watt_engine *watt_engine_free(struct watt_engine *engine)
{
	size_t i;

	if (!engine)
		return NULL;
	watt_engine_stop(engine);
	for (i = 0; i < engine->n_sources; i++)
		if (!has_hung(engine, &engine->sources[i]))
			engine->sources[i].power->ops->close(engine->sources[i].power);
	/* a thread that hangs will come back to its reader and its sources one day */
	for (i = 0; i < engine->n_readers; i++)
		if (!engine->readers[i].has_hung)
			watt_reader_free(engine->readers[i].reader);
	free(engine->readers);
	free(engine->sources);
	free(engine);
	return NULL;
}

/* ---- running ---- */

int watt_engine_start(struct watt_engine *engine)
{
	size_t i;
	int r = 0;

	if (engine->is_started)
		return -EBUSY;
	engine->is_started = true;
	for (i = 0; i < engine->n_readers && r >= 0; i++)
		r = watt_reader_start(engine->readers[i].reader);
	if (r < 0)
		watt_engine_stop(engine);
	return r;
}

int watt_engine_stop(struct watt_engine *engine)
{
	uint64_t deadline_ns = watt_now_ns() + engine->opts.stop_timeout_ns;
	int n_hung = 0;
	size_t i;

	for (i = 0; i < engine->n_readers; i++)
		watt_reader_ask_stop(engine->readers[i].reader);
	for (i = 0; i < engine->n_readers; i++) {
		struct engine_reader *reader = &engine->readers[i];

		if (watt_reader_join(reader->reader, deadline_ns) == 0)
			continue;
		n_hung++;
		if (!reader->has_hung)
			watt_log(&engine->opts.log, WATT_LOG_WARNING,
				 "%s: a read hangs; its thread and memory are given up",
				 reader->name);
		reader->has_hung = true;
	}
	engine->is_started = false;
	return n_hung;
}

uint64_t watt_engine_run_due(struct watt_engine *engine, uint64_t now_ns)
{
	uint64_t due_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < engine->n_readers; i++) {
		uint64_t t_ns = watt_reader_run_due(engine->readers[i].reader, now_ns);

		due_ns = WATT_MIN(due_ns, t_ns);
	}
	return due_ns;
}

int watt_engine_read_now(struct watt_engine *engine, uint64_t timeout_ns)
{
	struct watt_reader *reader;

	if (engine->fast_reader == NO_READER)
		return 0;
	reader = engine->readers[engine->fast_reader].reader;
	watt_reader_ask_now(reader);
	return watt_reader_wait_now(reader, watt_now_ns() + timeout_ns);
}

/* ---- what others see ---- */

size_t watt_engine_fetch(struct watt_engine *engine, struct watt_sample *ret, size_t n)
{
	size_t done = 0;
	size_t i;

	/* whoever was first is last the next time, lest one that floods hide the others */
	for (i = 0; i < engine->n_readers && done < n; i++) {
		size_t at = (engine->next_reader + i) % engine->n_readers;

		done += watt_reader_fetch(engine->readers[at].reader, ret + done, n - done);
	}
	if (engine->n_readers > 0)
		engine->next_reader = (engine->next_reader + 1) % engine->n_readers;
	return done;
}

size_t watt_engine_channel_count(const struct watt_engine *engine)
{
	return engine->n_channels;
}

static const struct engine_source *find_source(const struct watt_engine *engine, size_t channel)
{
	size_t i;

	for (i = 0; i < engine->n_sources; i++)
		if (channel - engine->sources[i].first_channel <
		    engine->sources[i].power->n_channels)
			return &engine->sources[i];
	return NULL;
}

const struct watt_channel *watt_engine_channel(const struct watt_engine *engine, size_t index)
{
	const struct engine_source *source = find_source(engine, index);

	return source ? &source->power->channels[index - source->first_channel] : NULL;
}

void watt_engine_losses(const struct watt_engine *engine, uint64_t *ret_missed, uint64_t *ret_lost)
{
	size_t i;

	*ret_missed = 0;
	*ret_lost = 0;
	for (i = 0; i < engine->n_readers; i++)
		watt_reader_add_losses(engine->readers[i].reader, ret_missed, ret_lost);
}

void watt_engine_stats(const struct watt_engine *engine, size_t channel,
		       struct watt_reader_stats *ret)
{
	const struct engine_source *source = find_source(engine, channel);

	*ret = (struct watt_reader_stats){ 0 };
	if (source)
		watt_reader_get_stats(engine->readers[source->reader].reader, (uint32_t)channel,
				      ret);
}
