/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a trace out of readings of single channels. The first reading of a rail, which is where
 * its energy begins, comes before its first deadline and is in none. Those of a slice are put in the
 * order of time; a row of a tier is over when one of its channels is read again. What was not read
 * anew has its newest value, and what has none is 0, as the format has no word for it, and counted.
 */
#include "record/nvmt_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/util.h"
#include "record/nvmt_journal.h"

/* So often what there is goes into the file: more is lost with the recorder. */
#define WRITE_NS (100 * WATT_NSEC_PER_MSEC)
/* What waits for a disk at most; what comes then is lost. */
#define WAITING_MAX ((size_t)64 << 20)
#define EVENTS_MAX ((size_t)1 << 20)
#define N_TIERS 3u

/* Places of fast values: what is no core comes first. */
enum {
	FAST_GPU,
	FAST_USED,
	FAST_AVAILABLE,
	FAST_EMC,
	FAST_CPUS,
	N_FAST = FAST_CPUS + WATT_NVMT_CORES,
};

/* Where a channel goes. */
struct target {
	bool is_wanted;
	uint8_t tier;
	uint8_t place;
	bool is_awaited; /* a rail whose first reading has not come */
	/* of a counter: its reading before */
	bool has_raw;
	int64_t raw;
	uint64_t t_ns;
};

/* A reading or a mark, at its time. */
struct event {
	uint64_t t_ns;
	uint64_t order; /* as it came */
	double value;   /* NAN: none */
	uint8_t tier;   /* N_TIERS: a mark */
	uint8_t place;
};

/* The row that is being filled. */
struct row {
	double values[N_FAST];
	uint32_t fresh;   /* a bit for each place that was read for this row */
	uint32_t places;  /* a bit for each place that there is */
	uint64_t t_ns;    /* of the newest reading in it */
	uint64_t told_ns; /* of the row before */
	uint64_t n;       /* rows so far */
};

struct watt_nvmt_writer {
	struct watt_log log;
	char *path;
	int fd;
	uint64_t begin_ns;
	uint64_t now_ns; /* of the newest op */
	uint8_t header[WATT_NVMT_HEADER_SIZE];
	const struct watt_channel *const *channels; /* borrowed from the last op */
	struct target *targets;
	size_t n_targets;
	struct event *events;
	size_t n_events, cap_events;
	uint64_t n_ordered;
	struct row rows[N_TIERS];
	uint64_t n_syncs;
	uint64_t n_unknown; /* values that are 0 and are not */
	uint64_t n_samples;
	size_t left_out[N_TIERS]; /* channels without room: cores, rails, zones */
	/* the writing thread's, with the lock */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool has_thread;
	bool is_closing;
	uint8_t *waiting;
	size_t n_waiting, cap_waiting;
	uint64_t bytes;
	uint64_t lost_bytes;
	bool is_header_new;
	int error;
};

/* ---- the file ---- */

/* Whole records or none of them: the journal ends where something is cut. */
static int write_whole(struct watt_nvmt_writer *writer, const uint8_t *data, size_t size)
{
	off_t end = lseek(writer->fd, 0, SEEK_CUR);
	int r = watt_write_all(writer->fd, data, size);

	if (r < 0 && end >= 0 && ftruncate(writer->fd, end) == 0)
		lseek(writer->fd, end, SEEK_SET);
	return r;
}

/* One turn: takes what waits, without the lock while it is written. */
static void write_waiting(struct watt_nvmt_writer *writer)
{
	uint8_t *data = writer->waiting;
	size_t n = writer->n_waiting;
	bool is_header_new = writer->is_header_new;
	uint8_t header[WATT_NVMT_HEADER_SIZE];
	int r = 0;

	writer->waiting = NULL;
	writer->n_waiting = writer->cap_waiting = 0;
	writer->is_header_new = false;
	memcpy(header, writer->header, sizeof(header));
	pthread_mutex_unlock(&writer->lock);
	if (is_header_new && pwrite(writer->fd, header, sizeof(header), 0) != sizeof(header))
		r = -EIO;
	if (r == 0)
		r = write_whole(writer, data, n);
	free(data);
	pthread_mutex_lock(&writer->lock);
	writer->error = r;
	if (r < 0)
		writer->lost_bytes += n;
	else
		writer->bytes += n;
}

static void *run(void *data)
{
	struct watt_nvmt_writer *writer = data;
	struct timespec until;

	pthread_mutex_lock(&writer->lock);
	while (!writer->is_closing || writer->n_waiting) {
		until = watt_timespec_from_ns(watt_now_ns() + WRITE_NS);
		if (!writer->is_closing)
			pthread_cond_timedwait(&writer->wake, &writer->lock, &until);
		if (writer->n_waiting || writer->is_header_new)
			write_waiting(writer);
	}
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

static void put_record(struct watt_nvmt_writer *writer, uint8_t section, const uint8_t *data)
{
	size_t size = watt_nvmt_sample_size(section) + 1;
	int r = 0;

	pthread_mutex_lock(&writer->lock);
	while (r == 0 && writer->n_waiting + size > writer->cap_waiting)
		r = writer->cap_waiting >= WAITING_MAX ?
			    -ENOSPC :
			    watt_grow((void **)&writer->waiting, &writer->cap_waiting,
				      writer->cap_waiting, 1);
	if (r == 0) {
		writer->waiting[writer->n_waiting] = section;
		memcpy(writer->waiting + writer->n_waiting + 1, data, size - 1);
		writer->n_waiting += size;
	} else {
		writer->lost_bytes += size;
	}
	pthread_mutex_unlock(&writer->lock);
}

/* ---- rows ---- */

static double value_at(struct watt_nvmt_writer *writer, const struct row *row, uint32_t place)
{
	if (!(row->places & 1u << place))
		return 0;
	writer->n_unknown += isnan(row->values[place]);
	return isnan(row->values[place]) ? 0 : row->values[place];
}

static void put_fast(struct watt_nvmt_writer *writer, const struct row *row, uint8_t *at)
{
	double load = value_at(writer, row, FAST_GPU), sum = 0, emc = row->values[FAST_EMC];
	uint16_t permille = (uint16_t)lround(1000 * fmax(0, fmin(load, 1)));
	uint32_t i, n = 0;

	at[WATT_NVMT_FAST_GPU] = (uint8_t)permille;
	at[WATT_NVMT_FAST_GPU + 1] = (uint8_t)(permille >> 8);
	for (i = 0; i < WATT_NVMT_CORES; i++) {
		double busy = row->values[FAST_CPUS + i];

		if (!(row->places & 1u << (FAST_CPUS + i)))
			continue;
		writer->n_unknown += isnan(busy); /* it is offline */
		if (isnan(busy))
			continue;
		n++;
		sum += 100 * busy;
		watt_nvmt_put_float(at + WATT_NVMT_FAST_CPUS + 4 * i, (float)(100 * busy));
	}
	watt_nvmt_put_float(at + WATT_NVMT_FAST_CPU, n ? (float)(sum / n) : 0);
	watt_nvmt_put_u64(at + WATT_NVMT_FAST_RAM_USED,
			  (uint64_t)(value_at(writer, row, FAST_USED) / 1024));
	watt_nvmt_put_u64(at + WATT_NVMT_FAST_RAM_AVAILABLE,
			  (uint64_t)(value_at(writer, row, FAST_AVAILABLE) / 1024));
	watt_nvmt_put_float(at + WATT_NVMT_FAST_EMC,
			    row->places & 1u << FAST_EMC && !isnan(emc) ? (float)(100 * emc) : -1);
}

static void put_row(struct watt_nvmt_writer *writer, uint32_t tier)
{
	struct row *row = &writer->rows[tier];
	uint8_t at[WATT_NVMT_MEDIUM_SIZE] = { 0 };
	uint32_t i;

	/* what another thread read long ago makes no row of the past */
	if (!row->fresh || row->t_ns <= row->told_ns) {
		row->fresh = 0;
		return;
	}
	watt_nvmt_put_double(at, (double)(row->t_ns - writer->begin_ns) / 1e9);
	if (tier == WATT_NVMT_FAST)
		put_fast(writer, row, at);
	for (i = 0; i < WATT_NVMT_RAILS && tier == WATT_NVMT_MEDIUM; i++)
		watt_nvmt_put_float(at + WATT_NVMT_MEDIUM_POWER + 4 * i,
				    (float)(1e3 * value_at(writer, row, i)));
	for (i = 0; i < WATT_NVMT_ZONES && tier == WATT_NVMT_SLOW; i++)
		watt_nvmt_put_float(at + WATT_NVMT_SLOW_TEMPERATURE + 4 * i,
				    (float)value_at(writer, row, i));
	put_record(writer, (uint8_t)tier, at);
	row->told_ns = row->t_ns;
	row->fresh = 0;
	row->n++;
}

static void put_sync(struct watt_nvmt_writer *writer)
{
	uint8_t at[WATT_NVMT_SYNC_SIZE];

	watt_nvmt_put_u64(at, ++writer->n_syncs);
	watt_nvmt_put_u64(at + WATT_NVMT_SYNC_FAST, writer->rows[WATT_NVMT_FAST].n);
	put_record(writer, WATT_NVMT_SYNC, at);
}

static void take_event(struct watt_nvmt_writer *writer, const struct event *event)
{
	struct row *row;

	if (event->tier == N_TIERS) {
		put_row(writer, WATT_NVMT_FAST); /* what was read before it */
		put_sync(writer);
		return;
	}
	row = &writer->rows[event->tier];
	if (row->fresh & 1u << event->place)
		put_row(writer, event->tier);
	row->values[event->place] = event->value;
	row->fresh |= 1u << event->place;
	row->t_ns = WATT_MAX(row->t_ns, event->t_ns);
}

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void take_events(struct watt_nvmt_writer *writer)
{
	size_t i;

	if (writer->n_events)
		qsort(writer->events, writer->n_events, sizeof(*writer->events), compare_events);
	for (i = 0; i < writer->n_events; i++)
		take_event(writer, &writer->events[i]);
	writer->n_events = 0;
}

static void add_event(struct watt_nvmt_writer *writer, struct event event)
{
	event.order = writer->n_ordered++;
	if (writer->n_events >= EVENTS_MAX)
		take_events(writer);
	if (watt_grow((void **)&writer->events, &writer->cap_events, writer->n_events,
		      sizeof(*writer->events)) < 0)
		return;
	writer->events[writer->n_events++] = event;
}

/* ---- samples ---- */

/* The mean power since the reading before; NAN: there was none, or the counter stood or began anew. */
static double power_of_counter(struct target *target, const struct watt_channel *channel,
			       const struct watt_sample *sample, uint64_t t_ns)
{
	double energy_nj = (double)(sample->raw - target->raw) * (double)channel->scale_num /
			   (double)channel->scale_den;
	bool had_raw = target->has_raw;
	uint64_t dt_ns = t_ns - target->t_ns;

	if (had_raw && sample->raw < target->raw && channel->wrap_nj)
		energy_nj += (double)channel->wrap_nj;
	target->has_raw = true;
	target->raw = sample->raw;
	target->t_ns = t_ns;
	return had_raw && dt_ns && energy_nj >= 0 ? energy_nj / (double)dt_ns : NAN;
}

static void take_sample(struct watt_nvmt_writer *writer, const struct watt_sample *sample)
{
	struct target *target;
	const struct watt_channel *channel;
	uint64_t t_ns = sample->t_before_ns + (sample->t_after_ns - sample->t_before_ns) / 2;
	double value = NAN;

	if (sample->channel >= writer->n_targets || !writer->targets[sample->channel].is_wanted ||
	    t_ns < writer->begin_ns)
		return;
	target = &writer->targets[sample->channel];
	channel = writer->channels[sample->channel];
	if (sample->status != WATT_STATUS_OK)
		target->has_raw = false;
	else if (channel->quantity == WATT_QUANTITY_ENERGY)
		value = power_of_counter(target, channel, sample, t_ns);
	else
		value = (double)sample->raw * (double)channel->scale_num /
			(double)channel->scale_den / watt_quantity_per_unit(channel->quantity);
	if (target->is_awaited) {
		target->is_awaited = false;
		return;
	}
	writer->n_samples++;
	add_event(writer, (struct event){ .t_ns = t_ns,
					  .value = value,
					  .tier = target->tier,
					  .place = target->place });
}

void watt_nvmt_writer_put(struct watt_nvmt_writer *writer, const struct watt_op *op)
{
	size_t i;

	switch (op->kind) {
	case WATT_OP_SAMPLES:
		for (i = 0; i < op->samples.n; i++)
			take_sample(writer, &op->samples.list[i]);
		break;
	case WATT_OP_MARK:
		add_event(writer, (struct event){ .t_ns = op->mark.t_ns, .tier = N_TIERS });
		break;
	case WATT_OP_ADVANCE:
		writer->now_ns = op->advance_ns;
		take_events(writer);
		break;
	default:
		break;
	}
}

/* ---- what there is ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* The place of a fast channel; -1: it has none. */
static int fast_place(const struct watt_nvmt_writer *writer, const struct watt_channel *channel)
{
	static const char *const ends[] = { "/load", "/memory/used", "/memory/available",
					    "/memory/emc" };
	int i;

	for (i = 0; i < (int)WATT_ARRAY_SIZE(ends); i++)
		if (ends_with(channel->name, ends[i]) &&
		    !(writer->rows[WATT_NVMT_FAST].places & 1u << i))
			return i;
	if (channel->quantity != WATT_QUANTITY_RATIO || !ends_with(channel->name, "/busy"))
		return -1;
	return FAST_CPUS + writer->header[WATT_NVMT_AT_CORES];
}

static void name(uint8_t *at, const char *text)
{
	snprintf((char *)at, WATT_NVMT_NAME, "%s", text);
}

static const char *label_of(const struct watt_channel *channel)
{
	return channel->label && *channel->label ? channel->label : channel->name;
}

/* A place in a tier, if there is room. */
static void aim(struct watt_nvmt_writer *writer, size_t channel, uint32_t tier, uint32_t place,
		uint32_t limit)
{
	if (place >= limit) {
		writer->left_out[tier]++;
		return;
	}
	writer->targets[channel] = (struct target){ .is_wanted = true,
						    .tier = (uint8_t)tier,
						    .place = (uint8_t)place,
						    .is_awaited = tier == WATT_NVMT_MEDIUM };
	writer->rows[tier].places |= 1u << place;
	writer->rows[tier].values[place] = NAN;
}

static void aim_context(struct watt_nvmt_writer *writer, size_t i)
{
	const struct watt_channel *channel = writer->channels[i];
	uint8_t *n_zones = &writer->header[WATT_NVMT_AT_ZONES];
	uint32_t n = *n_zones;
	int place;

	if (channel->quantity == WATT_QUANTITY_TEMPERATURE) {
		aim(writer, i, WATT_NVMT_SLOW, n, WATT_NVMT_ZONES);
		if (n < WATT_NVMT_ZONES)
			name(writer->header + WATT_NVMT_AT_ZONE_NAMES + WATT_NVMT_NAME * n,
			     label_of(channel));
		*n_zones = (uint8_t)WATT_MIN(n + 1, (uint32_t)WATT_NVMT_ZONES);
		return;
	}
	place = fast_place(writer, channel);
	if (place < 0)
		return;
	aim(writer, i, WATT_NVMT_FAST, (uint32_t)place, N_FAST);
	if (place >= FAST_CPUS && place < N_FAST)
		writer->header[WATT_NVMT_AT_CORES]++;
	writer->header[WATT_NVMT_AT_EMC] |= place == FAST_EMC;
}

/* What measures a domain; those that are summed come first. */
static void aim_rails(struct watt_nvmt_writer *writer, const struct watt_domain *const *domains,
		      size_t n_domains)
{
	uint8_t *n_rails = &writer->header[WATT_NVMT_AT_RAILS];
	size_t i;
	int pass;

	for (pass = 1; pass >= 0; pass--)
		for (i = 0; i < n_domains; i++) {
			uint32_t n = *n_rails;
			int32_t channel = domains[i]->channel;

			if (channel < 0 || (size_t)channel >= writer->n_targets ||
			    writer->targets[channel].is_wanted ||
			    (int)!!domains[i]->is_summed != pass)
				continue;
			aim(writer, (size_t)channel, WATT_NVMT_MEDIUM, n, WATT_NVMT_RAILS);
			if (n < WATT_NVMT_RAILS)
				name(writer->header + WATT_NVMT_AT_RAIL_NAMES + WATT_NVMT_NAME * n,
				     label_of(writer->channels[channel]));
			*n_rails = (uint8_t)WATT_MIN(n + 1, (uint32_t)WATT_NVMT_RAILS);
		}
}

int watt_nvmt_writer_grow(struct watt_nvmt_writer *writer,
			  const struct watt_channel *const *channels, size_t n_channels,
			  const struct watt_domain *const *domains, size_t n_domains)
{
	struct target *targets =
		reallocarray(writer->targets, n_channels + 1, sizeof(*writer->targets));
	size_t i, first = writer->n_targets;

	if (!targets)
		return -ENOMEM;
	memset(&targets[first], 0, (n_channels + 1 - first) * sizeof(*targets));
	pthread_mutex_lock(&writer->lock);
	writer->targets = targets;
	writer->channels = channels;
	writer->n_targets = n_channels;
	memset(writer->left_out, 0, sizeof(writer->left_out));
	for (i = first; i < n_channels; i++)
		if (watt_quantity_is_context(channels[i]->quantity))
			aim_context(writer, i);
	aim_rails(writer, domains, n_domains);
	writer->is_header_new = true;
	pthread_mutex_unlock(&writer->lock);
	return 0;
}

/* ---- beginning and end ---- */

static void begin_header(struct watt_nvmt_writer *writer, const struct watt_machine *machine)
{
	static const uint32_t hz[] = { 1000, 100, 10 };
	uint32_t i;

	watt_nvmt_put_u32(writer->header + WATT_NVMT_AT_MAGIC, WATT_NVMT_MAGIC);
	watt_nvmt_put_u32(writer->header + WATT_NVMT_AT_VERSION, WATT_NVMT_VERSION);
	snprintf((char *)writer->header + WATT_NVMT_AT_BOARD, WATT_NVMT_BOARD, "%s",
		 machine->host ? machine->host : "");
	for (i = 0; i < WATT_ARRAY_SIZE(hz); i++)
		watt_nvmt_put_u32(writer->header + WATT_NVMT_AT_HZ + 4 * i, hz[i]);
	watt_nvmt_journal_mark(writer->header);
}

static int make_file(struct watt_nvmt_writer *writer, const struct watt_record_opts *opts)
{
	int flags = O_RDWR | O_CREAT | O_CLOEXEC | (opts->overwrite ? O_TRUNC : O_EXCL), r;

	writer->fd = open(writer->path, flags, 0666);
	if (writer->fd < 0)
		return -errno;
	if ((opts->uid || opts->gid) && fchown(writer->fd, opts->uid, opts->gid) < 0)
		return -errno;
	r = watt_write_all(writer->fd, writer->header, sizeof(writer->header));
	writer->bytes = sizeof(writer->header);
	return r;
}

static int start(struct watt_nvmt_writer *writer)
{
	pthread_condattr_t attr;
	int r;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&writer->wake, &attr);
	pthread_condattr_destroy(&attr);
	r = -pthread_create(&writer->thread, NULL, run, writer);
	writer->has_thread = r == 0;
	return r;
}

int watt_nvmt_writer_new(const char *path, const struct watt_record_opts *opts,
			 const struct watt_setup *setup, const struct watt_machine *machine,
			 const struct watt_domain *const *domains, size_t n_domains,
			 const struct watt_log *log, struct watt_nvmt_writer **ret)
{
	struct watt_nvmt_writer *writer = calloc(1, sizeof(*writer));
	int r;

	if (!writer)
		return -ENOMEM;
	if (log)
		writer->log = *log;
	writer->fd = -1;
	writer->begin_ns = writer->now_ns = watt_now_ns();
	pthread_mutex_init(&writer->lock, NULL);
	writer->path = strdup(path);
	r = writer->path ? 0 : -ENOMEM;
	begin_header(writer, machine);
	if (r == 0)
		r = watt_nvmt_writer_grow(writer, setup->channels, setup->n_channels, domains,
					  n_domains);
	if (r == 0)
		r = make_file(writer, opts);
	if (r < 0)
		watt_log(&writer->log, WATT_LOG_ERROR, "%s: can't be recorded to: %s", path,
			 strerror(-r));
	if (r == 0)
		r = start(writer);
	if (r < 0)
		watt_nvmt_writer_close(writer);
	else
		*ret = writer;
	return r;
}

static void tell(struct watt_nvmt_writer *writer)
{
	static const struct {
		const char *what;
		int limit;
	} tiers[] = { { "cores", WATT_NVMT_CORES },
		      { "rails", WATT_NVMT_RAILS },
		      { "thermal zones", WATT_NVMT_ZONES } };
	size_t i;

	for (i = 0; i < N_TIERS; i++)
		if (writer->left_out[i])
			watt_log(&writer->log, WATT_LOG_WARNING,
				 "NVMT has room for %d %s: %zu are left out", tiers[i].limit,
				 tiers[i].what, writer->left_out[i]);
	if (writer->n_unknown)
		watt_log(&writer->log, WATT_LOG_WARNING,
			 "NVMT has no word for what is not known: %llu values are 0 in it",
			 (unsigned long long)writer->n_unknown);
}

/* Beside it, and then instead of it: whatever happens meanwhile, one of the two is there. */
static int finish(struct watt_nvmt_writer *writer)
{
	_cleanup_free_ char *made = NULL;
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	if (asprintf(&made, "%s.finishing", writer->path) < 0)
		return -ENOMEM;
	if (fstat(writer->fd, &st) < 0)
		return -errno;
	fd = open(made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0777);
	if (fd < 0)
		return -errno;
	r = fchown(fd, st.st_uid, st.st_gid) < 0 && errno != EPERM ? -errno : 0;
	writer->header[WATT_NVMT_AT_CORES] =
		(uint8_t)WATT_MAX(writer->header[WATT_NVMT_AT_CORES], 1);
	if (r == 0)
		r = watt_nvmt_journal_finish(writer->fd, writer->header, fd);
	if (r == 0 && rename(made, writer->path) < 0)
		r = -errno;
	if (r < 0)
		unlink(made);
	return r;
}

static void end(struct watt_nvmt_writer *writer)
{
	uint32_t tier;
	int r;

	take_events(writer);
	for (tier = 0; tier < N_TIERS; tier++)
		put_row(writer, tier);
	pthread_mutex_lock(&writer->lock);
	writer->is_closing = true;
	pthread_cond_signal(&writer->wake);
	pthread_mutex_unlock(&writer->lock);
	pthread_join(writer->thread, NULL);
	tell(writer);
	r = finish(writer);
	if (r < 0)
		watt_log(&writer->log, WATT_LOG_ERROR,
			 "%s: could not be finished: %s; 'wattribute export -f nvmt' makes a trace "
			 "of it",
			 writer->path, strerror(-r));
}

struct watt_nvmt_writer *watt_nvmt_writer_close(struct watt_nvmt_writer *writer)
{
	if (!writer)
		return NULL;
	if (writer->has_thread) {
		end(writer);
		pthread_cond_destroy(&writer->wake);
	}
	pthread_mutex_destroy(&writer->lock);
	if (writer->fd >= 0)
		close(writer->fd);
	free(writer->waiting);
	free(writer->events);
	free(writer->targets);
	free(writer->path);
	free(writer);
	return NULL;
}

void watt_nvmt_writer_get_stats(struct watt_nvmt_writer *writer, struct watt_record_stats *ret)
{
	pthread_mutex_lock(&writer->lock);
	*ret = (struct watt_record_stats){ .samples = writer->n_samples,
					   .marks = writer->n_syncs,
					   .bytes = writer->bytes,
					   .files = 1,
					   .error = writer->error,
					   .elapsed_ns = writer->now_ns - writer->begin_ns };
	/* what does not fit into the file is time of which nothing is there */
	if (writer->lost_bytes)
		ret->lost_ns =
			ret->elapsed_ns * writer->lost_bytes / (writer->lost_bytes + writer->bytes);
	pthread_mutex_unlock(&writer->lock);
}
