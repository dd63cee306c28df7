/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes ops out of columns: the mirror of chunk.c. Everything in a chunk may be a lie, and what
 * makes no sense ends it.
 */
#include "record/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "record/text.h"
#include "record/value.h"
#include "record/who.h"

struct watt_chunk_reader {
	struct watt_values values;
	struct watt_predict predict;
	/* what the last op points to */
	struct watt_sample *samples;
	size_t cap_samples;
	struct watt_usage *records;
	size_t cap_records;
	struct watt_cpu_time *cpus;
	size_t cap_cpus;
	struct watt_activity_place *places;
	size_t cap_places;
	struct watt_activity *readings;
	size_t cap_readings;
	uint64_t *words;
	size_t cap_words;
	const char **texts;
	size_t cap_texts;
	struct watt_who who;
};

int watt_chunk_reader_new(uint32_t n_channels, struct watt_chunk_reader **ret)
{
	struct watt_chunk_reader *reader = calloc(1, sizeof(*reader));

	if (!reader || watt_unpacker_init(&reader->values.unpacker) < 0 ||
	    watt_predict_init(&reader->predict, n_channels) < 0) {
		watt_chunk_reader_free(reader);
		return -ENOMEM;
	}
	*ret = reader;
	return 0;
}

int watt_chunk_reader_grow(struct watt_chunk_reader *reader, uint32_t n_channels)
{
	return watt_predict_grow(&reader->predict, n_channels);
}

struct watt_chunk_reader *watt_chunk_reader_free(struct watt_chunk_reader *reader)
{
	if (!reader)
		return NULL;
	watt_unpacker_done(&reader->values.unpacker);
	watt_predict_done(&reader->predict);
	free(reader->samples);
	free(reader->records);
	free(reader->cpus);
	free(reader->places);
	free(reader->readings);
	free(reader->words);
	free(reader->texts);
	free(reader);
	return NULL;
}

int watt_chunk_reader_open(struct watt_chunk_reader *reader, const void *data, size_t size,
			   struct watt_chunk_fault *ret_fault)
{
	int r = watt_unpacker_open(&reader->values.unpacker, data, size, ret_fault);

	watt_predict_clear(&reader->predict);
	if (r == 0 && watt_values_cursor(&reader->values, WATT_COLUMN_OP)->n > WATT_CHUNK_OPS_MAX) {
		*ret_fault =
			(struct watt_chunk_fault){ "it has more ops than a chunk can have", 0 };
		memset(reader->values.unpacker.columns, 0, sizeof(reader->values.unpacker.columns));
		return -EBADMSG;
	}
	return r;
}

void watt_chunk_reader_borrow(struct watt_chunk_reader *reader, const struct watt_chunk *chunk)
{
	size_t i;

	watt_predict_clear(&reader->predict);
	for (i = 0; i < WATT_N_COLUMNS; i++) {
		const struct watt_column *column = &chunk->columns[i];

		reader->values.unpacker.columns[i] = (struct watt_column_cursor){
			column->data, column->data ? column->data + column->len : NULL, column->n
		};
	}
}

static int make_room(void **list, size_t *cap, size_t n, size_t size)
{
	void *grown;

	if (n <= *cap)
		return 0;
	grown = reallocarray(*list, n, size);
	if (!grown)
		return -ENOMEM;
	*list = grown;
	*cap = n;
	return 0;
}

/* ---- samples ---- */

static int read_sample(struct watt_chunk_reader *reader, struct watt_sample *ret)
{
	struct watt_predict *predict = &reader->predict;
	uint64_t channel, read_ns, raw;
	int r;

	if (!predict->n_channels)
		return watt_values_refuse(&reader->values, WATT_COLUMN_SAMPLE_CHANNEL);
	r = watt_values_get_difference(&reader->values, WATT_COLUMN_SAMPLE_CHANNEL,
				       predict->channel, predict->n_channels - 1, &channel);
	if (r < 0)
		return r;
	ret->channel = (uint32_t)channel;
	r = watt_values_get_difference(&reader->values, WATT_COLUMN_SAMPLE_BEFORE,
				       watt_predict_sample_ns(predict, ret->channel), UINT64_MAX,
				       &ret->t_before_ns);
	if (r == 0)
		r = watt_values_get(&reader->values, WATT_COLUMN_SAMPLE_READ,
				    UINT64_MAX - ret->t_before_ns, &read_ns);
	if (r == 0)
		r = watt_values_get_difference(&reader->values, WATT_COLUMN_SAMPLE_RAW,
					       (uint64_t)predict->channels[channel].raw, UINT64_MAX,
					       &raw);
	if (r == 0)
		r = watt_values_get_u32(&reader->values, WATT_COLUMN_SAMPLE_STATUS,
					WATT_STATUS_PENDING, &ret->status);
	if (r < 0)
		return r;
	ret->t_after_ns = ret->t_before_ns + read_ns;
	ret->raw = (int64_t)raw;
	watt_predict_take_sample(predict, ret);
	return 0;
}

static int next_samples(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	size_t i, n = 0;
	int r = watt_values_get_count(&reader->values, WATT_COLUMN_SAMPLES,
				      WATT_COLUMN_SAMPLE_CHANNEL, &n);

	if (r == 0)
		r = make_room((void **)&reader->samples, &reader->cap_samples, n,
			      sizeof(*reader->samples));
	for (i = 0; r == 0 && i < n; i++)
		r = read_sample(reader, &reader->samples[i]);
	if (r < 0)
		return r;
	ret->samples.list = reader->samples;
	ret->samples.n = n;
	return 0;
}

int watt_chunk_reader_samples(struct watt_chunk_reader *reader, struct watt_sample *ret, size_t n,
			      struct watt_chunk_fault *ret_fault)
{
	size_t i;
	int r = 0;

	for (i = 0; i < n && watt_values_cursor(&reader->values, WATT_COLUMN_SAMPLE_CHANNEL)->n;
	     i++) {
		r = read_sample(reader, &ret[i]);
		if (r < 0) {
			*ret_fault = reader->values.fault;
			return r;
		}
	}
	return (int)i;
}

/* ---- usage ---- */

static int read_kind(struct watt_chunk_reader *reader, enum watt_column_id column, uint64_t max,
		     uint16_t *ret)
{
	uint64_t value;
	int r = watt_values_get(&reader->values, column, max, &value);

	if (r == 0)
		*ret = (uint16_t)value;
	return r;
}

/* What differs from the last record of the task. */
static int read_changes(struct watt_chunk_reader *reader, uint32_t changed, struct watt_usage *u)
{
	int r = 0;

	if (changed & WATT_CHANGED_START)
		r = watt_values_get_difference(&reader->values, WATT_COLUMN_USAGE_START,
					       u->start_ns, UINT64_MAX, &u->start_ns);
	if (r == 0 && changed & WATT_CHANGED_LEADER)
		r = watt_values_get_difference(&reader->values, WATT_COLUMN_USAGE_LEADER,
					       u->start_ns, UINT64_MAX, &u->leader_start_ns);
	if (r == 0 && changed & WATT_CHANGED_CGROUP)
		r = watt_values_get_difference(&reader->values, WATT_COLUMN_USAGE_CGROUP,
					       u->cgroup_id, UINT64_MAX, &u->cgroup_id);
	if (r == 0 && changed & WATT_CHANGED_TGID)
		r = watt_values_get_difference_u32(&reader->values, WATT_COLUMN_USAGE_TGID,
						   &u->tgid);
	if (r == 0 && changed & WATT_CHANGED_PARENT)
		r = watt_values_get_difference_u32(&reader->values, WATT_COLUMN_USAGE_PARENT,
						   &u->parent_tgid);
	if (r == 0 && changed & WATT_CHANGED_UID)
		r = watt_values_get_difference_u32(&reader->values, WATT_COLUMN_USAGE_UID, &u->uid);
	if (r == 0 && changed & WATT_CHANGED_CPU)
		r = watt_values_get_difference_u32(&reader->values, WATT_COLUMN_USAGE_CPU, &u->cpu);
	if (r == 0 && changed & WATT_CHANGED_KIND)
		r = read_kind(reader, WATT_COLUMN_USAGE_KIND, WATT_USAGE_CGROUP, &u->kind);
	if (r == 0 && changed & WATT_CHANGED_FLAGS)
		r = read_kind(reader, WATT_COLUMN_USAGE_FLAGS, UINT16_MAX, &u->flags);
	if (r == 0 && changed & WATT_CHANGED_COMM)
		r = watt_values_get_comm(&reader->values, WATT_COLUMN_USAGE_COMM, u->comm);
	return r;
}

static int read_record(struct watt_chunk_reader *reader, uint64_t predicted_ns,
		       struct watt_usage *ret)
{
	struct watt_predict *predict = &reader->predict;
	uint32_t tid = predict->tid, changed;
	struct watt_usage *last;
	int r = watt_values_get_difference_u32(&reader->values, WATT_COLUMN_USAGE_TID, &tid);

	if (r < 0)
		return r;
	last = watt_predict_task(predict, tid);
	r = watt_values_get_difference(&reader->values, WATT_COLUMN_USAGE_TIME, predicted_ns,
				       UINT64_MAX, &last->t_ns);
	if (r == 0)
		r = watt_values_get_difference(&reader->values, WATT_COLUMN_USAGE_CPU_NS,
					       last->cpu_ns, UINT64_MAX, &last->cpu_ns);
	if (r == 0)
		r = watt_values_get_u32(&reader->values, WATT_COLUMN_USAGE_CHANGED,
					WATT_CHANGED_ALL, &changed);
	if (r == 0 && changed)
		r = read_changes(reader, changed, last);
	if (r < 0)
		return r;
	predict->tid = tid;
	*ret = *last;
	return 0;
}

static int read_cpu(struct watt_chunk_reader *reader, struct watt_cpu_time *last)
{
	struct {
		enum watt_column_id column;
		uint64_t *value;
	} times[] = {
		{ WATT_COLUMN_CPU_USER, &last->user_ns },
		{ WATT_COLUMN_CPU_SYSTEM, &last->system_ns },
		{ WATT_COLUMN_CPU_IDLE, &last->idle_ns },
		{ WATT_COLUMN_CPU_IRQ, &last->irq_ns },
		{ WATT_COLUMN_CPU_SOFTIRQ, &last->softirq_ns },
		{ WATT_COLUMN_CPU_STEAL, &last->steal_ns },
	};
	size_t i;
	int r = 0;

	for (i = 0; i < WATT_ARRAY_SIZE(times) && r == 0; i++)
		r = watt_values_get_difference(&reader->values, times[i].column, *times[i].value,
					       UINT64_MAX, times[i].value);
	return r < 0 ? r :
		       watt_values_get_u32(&reader->values, WATT_COLUMN_CPU_ONLINE, 1,
					   &last->online);
}

static int read_batch(struct watt_chunk_reader *reader, struct watt_usage_batch *batch)
{
	uint64_t sweep_ns = 0;
	int r = watt_values_get_difference(&reader->values, WATT_COLUMN_BATCH_BEFORE,
					   batch->t_before_ns, UINT64_MAX, &batch->t_before_ns);

	if (r == 0)
		r = watt_values_get(&reader->values, WATT_COLUMN_BATCH_SWEEP,
				    UINT64_MAX - batch->t_before_ns, &sweep_ns);
	if (r == 0)
		r = watt_values_get_count(&reader->values, WATT_COLUMN_BATCH_RECORDS,
					  WATT_COLUMN_USAGE_TID, &batch->n_records);
	if (r == 0)
		r = watt_values_get_count(&reader->values, WATT_COLUMN_BATCH_CPUS,
					  WATT_COLUMN_CPU_USER, &batch->n_cpus);
	if (r == 0)
		r = watt_values_get_difference(&reader->values, WATT_COLUMN_BATCH_LOST, batch->lost,
					       UINT64_MAX, &batch->lost);
	if (r == 0)
		r = watt_values_get_u32(&reader->values, WATT_COLUMN_BATCH_FLAGS, UINT32_MAX,
					&batch->flags);
	if (r == 0)
		r = watt_values_get_u32(&reader->values, WATT_COLUMN_BATCH_TASKS, UINT32_MAX,
					&batch->n_tasks);
	if (r == 0)
		r = watt_values_get_difference(&reader->values, WATT_COLUMN_BATCH_UNSEEN,
					       batch->unseen_ns, UINT64_MAX, &batch->unseen_ns);
	batch->t_after_ns = batch->t_before_ns + sweep_ns;
	return r;
}

static int make_room_for_batch(struct watt_chunk_reader *reader,
			       const struct watt_usage_batch *batch)
{
	int r = make_room((void **)&reader->records, &reader->cap_records, batch->n_records,
			  sizeof(*reader->records));

	if (r == 0)
		r = make_room((void **)&reader->cpus, &reader->cap_cpus, batch->n_cpus,
			      sizeof(*reader->cpus));
	if (r == 0)
		r = watt_predict_reserve_tasks(&reader->predict, batch->n_records);
	if (r == 0)
		r = watt_predict_reserve_cpus(&reader->predict, batch->n_cpus);
	return r;
}

static int next_usage(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	struct watt_usage_batch *batch = &reader->predict.batch;
	uint64_t t_ns;
	size_t i;
	int r = read_batch(reader, batch);

	if (r == 0)
		r = make_room_for_batch(reader, batch);
	t_ns = batch->t_before_ns;
	for (i = 0; r == 0 && i < batch->n_records; i++) {
		r = read_record(reader, t_ns, &reader->records[i]);
		t_ns = reader->records[i].t_ns;
	}
	for (i = 0; r == 0 && i < batch->n_cpus; i++) {
		r = read_cpu(reader, &reader->predict.cpus[i]);
		reader->cpus[i] = reader->predict.cpus[i];
	}
	if (r < 0)
		return r;
	batch->records = reader->records;
	batch->cpus = reader->cpus;
	ret->usage = *batch;
	return 0;
}

/* ---- activities ---- */

static int read_place(struct watt_chunk_reader *reader, struct watt_activity_place *ret)
{
	struct watt_predict *predict = &reader->predict;
	int r = watt_values_get_text(&reader->values, WATT_COLUMN_PLACE_PATH, &ret->path);

	if (r == 0 && !ret->path)
		r = watt_values_refuse(&reader->values, WATT_COLUMN_PLACE_PATH);
	if (r == 0)
		r = watt_values_get_u32(&reader->values, WATT_COLUMN_PLACE_KIND,
					WATT_N_ACTIVITIES - 1, &ret->kind);
	if (r == 0)
		r = watt_values_get_u32(&reader->values, WATT_COLUMN_PLACE_UNITS, UINT32_MAX,
					&ret->n_units);
	if (r == 0)
		r = watt_values_get_difference(&reader->values, WATT_COLUMN_PLACE_COMPLETE,
					       predict->complete_ns, UINT64_MAX,
					       &predict->complete_ns);
	ret->complete_ns = predict->complete_ns;
	return r;
}

static int read_reading(struct watt_chunk_reader *reader, size_t n_places,
			struct watt_activity *ret)
{
	struct watt_predict *predict = &reader->predict;
	struct watt_activity *last;
	uint64_t complete_ns, age_ns = 0;
	int r;

	if (!n_places)
		return watt_values_refuse(&reader->values, WATT_COLUMN_READING_PLACE);
	r = watt_values_get_u32(&reader->values, WATT_COLUMN_READING_PLACE, (uint32_t)n_places - 1,
				&ret->place);
	if (r == 0)
		r = watt_values_get_difference_u32(&reader->values, WATT_COLUMN_READING_PID,
						   &predict->activity_pid);
	if (r < 0)
		return r;
	ret->pid = predict->activity_pid;
	complete_ns = reader->places[ret->place].complete_ns;
	last = watt_predict_activity(predict, ret->pid, ret->place);
	r = watt_values_get(&reader->values, WATT_COLUMN_READING_AGE, complete_ns, &age_ns);
	if (r == 0)
		r = watt_values_get_difference(&reader->values, WATT_COLUMN_READING_AMOUNT,
					       last->amount, UINT64_MAX, &ret->amount);
	if (r == 0)
		r = watt_values_get_difference(&reader->values, WATT_COLUMN_READING_START,
					       last->start_ns, UINT64_MAX, &ret->start_ns);
	ret->t_ns = complete_ns - age_ns;
	*last = *ret;
	return r;
}

static int next_activity(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	size_t i, n_places = 0, n_readings = 0;
	int r = watt_values_get_count(&reader->values, WATT_COLUMN_ACTIVITY_PLACES,
				      WATT_COLUMN_PLACE_PATH, &n_places);

	if (r == 0)
		r = watt_values_get_count(&reader->values, WATT_COLUMN_ACTIVITY_READINGS,
					  WATT_COLUMN_READING_PLACE, &n_readings);
	if (r == 0)
		r = make_room((void **)&reader->places, &reader->cap_places, n_places,
			      sizeof(*reader->places));
	if (r == 0)
		r = make_room((void **)&reader->readings, &reader->cap_readings, n_readings,
			      sizeof(*reader->readings));
	if (r == 0)
		r = watt_predict_reserve_activities(&reader->predict);
	for (i = 0; r == 0 && i < n_places; i++)
		r = read_place(reader, &reader->places[i]);
	for (i = 0; r == 0 && i < n_readings; i++)
		r = read_reading(reader, n_places, &reader->readings[i]);
	if (r < 0)
		return r;
	ret->activity = (struct watt_activity_batch){ reader->places, n_places, reader->readings,
						      n_readings };
	return 0;
}

/* ---- moments ---- */

static int next_mark(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	const char *label = NULL;
	int r = watt_values_get(&reader->values, WATT_COLUMN_MARK_TIME, UINT64_MAX,
				&ret->mark.t_ns);

	if (r == 0)
		r = watt_values_get_u32(&reader->values, WATT_COLUMN_MARK_PID, UINT32_MAX,
					&ret->mark.pid);
	if (r == 0)
		r = watt_values_get_text(&reader->values, WATT_COLUMN_MARK_LABEL, &label);
	if (r < 0)
		return r;
	if (!label || strlen(label) >= sizeof(ret->mark.label) ||
	    !watt_text_is_printable(label, strlen(label)))
		return watt_values_refuse(&reader->values, WATT_COLUMN_MARK_LABEL);
	watt_strlcpy(ret->mark.label, label, sizeof(ret->mark.label));
	return 0;
}

static int next_snapshot(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	int r = watt_values_get(&reader->values, WATT_COLUMN_SNAPSHOT_TIME, UINT64_MAX,
				&ret->snapshot.t_ns);

	if (r == 0)
		r = watt_values_get(&reader->values, WATT_COLUMN_SNAPSHOT_REALTIME, UINT64_MAX,
				    &ret->snapshot.realtime_ns);
	if (r == 0)
		r = watt_values_get(&reader->values, WATT_COLUMN_SNAPSHOT_MISSED, UINT64_MAX,
				    &ret->snapshot.missed_reads);
	if (r == 0)
		r = watt_values_get(&reader->values, WATT_COLUMN_SNAPSHOT_LOST, UINT64_MAX,
				    &ret->snapshot.lost_samples);
	return r;
}

static int read_cursor(struct watt_chunk_reader *reader, enum watt_column_id column, uint32_t *ret)
{
	int r = watt_values_get_u32(&reader->values, column, UINT32_MAX, ret);

	return r == 0 && *ret == 0 ? watt_values_refuse(&reader->values, column) : r;
}

static int next_look(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	int r = next_snapshot(reader, ret);

	return r < 0 ? r : read_cursor(reader, WATT_COLUMN_LOOK_CURSOR, &ret->snapshot.cursor);
}

static int next_cursor(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	uint64_t is_open = 0;
	int r = read_cursor(reader, WATT_COLUMN_CURSOR_ID, &ret->cursor.id);

	if (r == 0)
		r = watt_values_get(&reader->values, WATT_COLUMN_CURSOR_TIME, UINT64_MAX,
				    &ret->cursor.t_ns);
	if (r == 0)
		r = watt_values_get(&reader->values, WATT_COLUMN_CURSOR_OPEN, 1, &is_open);
	ret->cursor.is_open = is_open;
	return r;
}

static int next_untrack(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	int r = watt_values_get_u32(&reader->values, WATT_COLUMN_UNTRACK_PID, UINT32_MAX,
				    &ret->untrack.pid);

	return r < 0 ? r :
		       watt_values_get(&reader->values, WATT_COLUMN_UNTRACK_START, UINT64_MAX,
				       &ret->untrack.start_ns);
}

static int next_advance(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	int r = watt_values_get_difference(&reader->values, WATT_COLUMN_ADVANCE_TIME,
					   reader->predict.advance_ns, UINT64_MAX,
					   &ret->advance_ns);

	if (r == 0)
		reader->predict.advance_ns = ret->advance_ns;
	return r;
}

static int next_channels(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	uint64_t n;
	int r = watt_values_get(&reader->values, WATT_COLUMN_CHANNELS, reader->predict.n_channels,
				&n);

	if (r == 0)
		ret->channels.n = (size_t)n;
	return r;
}

static int next_cpu_place(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	int32_t *const ids[] = { &ret->place.at.package_id, &ret->place.at.die_id,
				 &ret->place.at.core_id };
	uint32_t id = 0, i;
	int r = watt_values_get_u32(&reader->values, WATT_COLUMN_SLOT_CPU, UINT32_MAX,
				    &ret->place.cpu);

	if (r == 0)
		r = watt_values_get_u32(&reader->values, WATT_COLUMN_SLOT, UINT32_MAX,
					&ret->place.slot);
	for (i = 0; i < 3 && r == 0; i++) {
		r = watt_values_get_u32(&reader->values, WATT_COLUMN_SLOT_PACKAGE + i, INT32_MAX,
					&id);
		*ids[i] = (int32_t)id - 1;
	}
	return r;
}

static int next_clock(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	int r = watt_values_get(&reader->values, WATT_COLUMN_CLOCK_FROM, UINT64_MAX,
				&ret->clock.from_ns);

	if (r == 0)
		r = watt_values_get(&reader->values, WATT_COLUMN_CLOCK_TO, UINT64_MAX,
				    &ret->clock.to_ns);
	if (r == 0)
		r = watt_values_get(&reader->values, WATT_COLUMN_CLOCK_SLEPT, UINT64_MAX,
				    &ret->clock.slept_ns);
	if (r == 0)
		r = watt_values_get(&reader->values, WATT_COLUMN_CLOCK_REALTIME, UINT64_MAX,
				    &ret->clock.realtime_ns);
	return r;
}

static int next_learned(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	struct watt_values *values = &reader->values;
	size_t n_words = 0, n_texts = 0, i;
	int r = watt_values_get_text(values, WATT_COLUMN_LEARNED_DOMAIN, &ret->learned.domain);

	if (r == 0 && !ret->learned.domain)
		r = watt_values_refuse(values, WATT_COLUMN_LEARNED_DOMAIN);
	if (r == 0)
		r = watt_values_get_count(values, WATT_COLUMN_LEARNED_WORDS,
					  WATT_COLUMN_LEARNED_WORD, &n_words);
	if (r == 0)
		r = watt_values_get_count(values, WATT_COLUMN_LEARNED_TEXTS,
					  WATT_COLUMN_LEARNED_TEXT, &n_texts);
	if (r == 0)
		r = make_room((void **)&reader->words, &reader->cap_words, n_words,
			      sizeof(*reader->words));
	if (r == 0)
		r = make_room((void **)&reader->texts, &reader->cap_texts, n_texts,
			      sizeof(*reader->texts));
	for (i = 0; r == 0 && i < n_words; i++)
		r = watt_values_get(values, WATT_COLUMN_LEARNED_WORD, UINT64_MAX,
				    &reader->words[i]);
	for (i = 0; r == 0 && i < n_texts; i++) {
		r = watt_values_get_text(values, WATT_COLUMN_LEARNED_TEXT, &reader->texts[i]);
		if (r == 0 && !reader->texts[i])
			r = watt_values_refuse(values, WATT_COLUMN_LEARNED_TEXT);
	}
	ret->learned.words = reader->words;
	ret->learned.n_words = n_words;
	ret->learned.texts = reader->texts;
	ret->learned.n_texts = n_texts;
	return r;
}

static int next_op(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	switch (ret->kind) {
	case WATT_OP_SAMPLES:
		return next_samples(reader, ret);
	case WATT_OP_USAGE:
		return next_usage(reader, ret);
	case WATT_OP_ACTIVITY:
		return next_activity(reader, ret);
	case WATT_OP_IDENTITY:
		return watt_who_next_identity(&reader->who, &reader->values, ret);
	case WATT_OP_CGROUP:
		return watt_who_next_cgroup(&reader->who, &reader->values, ret);
	case WATT_OP_USER:
		return watt_who_next_user(&reader->values, ret);
	case WATT_OP_TRACK:
		return watt_values_get_u32(&reader->values, WATT_COLUMN_TRACK_PID, UINT32_MAX,
					   &ret->track_pid);
	case WATT_OP_MARK:
		return next_mark(reader, ret);
	case WATT_OP_ADVANCE:
		return next_advance(reader, ret);
	case WATT_OP_BARRIER:
		return watt_values_get(&reader->values, WATT_COLUMN_BARRIER_TIME, UINT64_MAX,
				       &ret->barrier_ns);
	case WATT_OP_SNAPSHOT:
		return next_snapshot(reader, ret);
	case WATT_OP_LOOK:
		return next_look(reader, ret);
	case WATT_OP_CURSOR:
		return next_cursor(reader, ret);
	case WATT_OP_CHANNELS:
		return next_channels(reader, ret);
	case WATT_OP_THREADS:
		return 0;
	case WATT_OP_CONTAINER:
		return watt_who_next_container(&reader->who, &reader->values, ret);
	case WATT_OP_UNTRACK:
		return next_untrack(reader, ret);
	case WATT_OP_PLACE:
		return next_cpu_place(reader, ret);
	case WATT_OP_CLOCK:
		return next_clock(reader, ret);
	case WATT_OP_LEARNED:
		return next_learned(reader, ret);
	}
	return watt_values_refuse(&reader->values, WATT_COLUMN_OP);
}

/* Behind the last op no column may have anything left. */
static int end(struct watt_chunk_reader *reader)
{
	enum watt_column_id i;

	for (i = 0; i < WATT_N_COLUMNS; i++)
		if (watt_values_cursor(&reader->values, i)->n ||
		    watt_values_cursor(&reader->values, i)->p !=
			    watt_values_cursor(&reader->values, i)->end)
			return watt_values_refuse(&reader->values, i);
	return 1;
}

int watt_chunk_reader_next(struct watt_chunk_reader *reader, struct watt_op *ret,
			   struct watt_chunk_fault *ret_fault)
{
	struct watt_op op = { 0 };
	uint64_t kind;
	int r;

	if (!watt_values_cursor(&reader->values, WATT_COLUMN_OP)->n) {
		r = end(reader);
	} else {
		r = watt_values_get(&reader->values, WATT_COLUMN_OP, WATT_OP_LAST, &kind);
		op.kind = r == 0 ? (enum watt_op_kind)kind : 0;
		r = r == 0 ? next_op(reader, &op) : r;
	}
	if (r == -EBADMSG)
		*ret_fault = reader->values.fault;
	if (r == 0)
		*ret = op;
	return r;
}
