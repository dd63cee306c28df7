/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes ops out of columns: the mirror of chunk.c. Everything in a chunk may be a lie, and what
 * makes no sense ends it. More than 800 lines: one for each value of each op.
 */
#include "record/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "record/text.h"
#include "record/unpack.h"

struct watt_chunk_reader {
	struct watt_unpacker unpacker;
	struct watt_predict predict;
	struct watt_chunk_fault fault;
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
	struct watt_identity identity;
	struct watt_cgroup cgroup;
	struct watt_container container;
	struct watt_label labels[WATT_LABELS_MAX];
};

int watt_chunk_reader_new(uint32_t n_channels, struct watt_chunk_reader **ret)
{
	struct watt_chunk_reader *reader = calloc(1, sizeof(*reader));

	if (!reader || watt_unpacker_init(&reader->unpacker) < 0 ||
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
	watt_unpacker_done(&reader->unpacker);
	watt_predict_done(&reader->predict);
	free(reader->samples);
	free(reader->records);
	free(reader->cpus);
	free(reader->places);
	free(reader->readings);
	free(reader);
	return NULL;
}

int watt_chunk_reader_open(struct watt_chunk_reader *reader, const void *data, size_t size,
			   struct watt_chunk_fault *ret_fault)
{
	watt_predict_clear(&reader->predict);
	return watt_unpacker_open(&reader->unpacker, data, size, ret_fault);
}

void watt_chunk_reader_borrow(struct watt_chunk_reader *reader, const struct watt_chunk *chunk)
{
	size_t i;

	watt_predict_clear(&reader->predict);
	for (i = 0; i < WATT_N_COLUMNS; i++) {
		const struct watt_column *column = &chunk->columns[i];

		reader->unpacker.columns[i] = (struct watt_column_cursor){
			column->data, column->data ? column->data + column->len : NULL, column->n
		};
	}
}

/* ---- values ---- */

static struct watt_column_cursor *cursor_of(struct watt_chunk_reader *reader,
					    enum watt_column_id column)
{
	return &reader->unpacker.columns[column];
}

/* The column ends too early, or holds what cannot be. */
static int refuse(struct watt_chunk_reader *reader, enum watt_column_id column)
{
	const struct watt_column_cursor *cursor = cursor_of(reader, column);

	reader->fault.what = watt_column_kinds[column].name;
	reader->fault.offset = cursor->p ? (size_t)(cursor->p - reader->unpacker.data) :
					   reader->unpacker.size;
	return -EBADMSG;
}

static int get(struct watt_chunk_reader *reader, enum watt_column_id column, uint64_t max,
	       uint64_t *ret)
{
	uint64_t value;

	if (watt_column_get(cursor_of(reader, column), &value) < 0 || value > max)
		return refuse(reader, column);
	*ret = value;
	return 0;
}

static int get_u32(struct watt_chunk_reader *reader, enum watt_column_id column, uint32_t max,
		   uint32_t *ret)
{
	uint64_t value;
	int r = get(reader, column, max, &value);

	if (r == 0)
		*ret = (uint32_t)value;
	return r;
}

static int get_difference(struct watt_chunk_reader *reader, enum watt_column_id column,
			  uint64_t predicted, uint64_t max, uint64_t *ret)
{
	uint64_t value;

	if (watt_column_get_difference(cursor_of(reader, column), predicted, &value) < 0 ||
	    value > max)
		return refuse(reader, column);
	*ret = value;
	return 0;
}

static int get_difference_u32(struct watt_chunk_reader *reader, enum watt_column_id column,
			      uint32_t *inout)
{
	uint64_t value;
	int r = get_difference(reader, column, *inout, UINT32_MAX, &value);

	if (r == 0)
		*inout = (uint32_t)value;
	return r;
}

/* A text without a NUL inside; NULL: there is none. */
static int get_text(struct watt_chunk_reader *reader, enum watt_column_id column, const char **ret)
{
	size_t len;

	if (watt_column_get_text(cursor_of(reader, column), WATT_TEXT_MAX, ret, &len) < 0 ||
	    (*ret && strlen(*ret) != len))
		return refuse(reader, column);
	return 0;
}

static int get_comm(struct watt_chunk_reader *reader, enum watt_column_id column, char ret[16])
{
	const char *text;
	size_t len;

	if (watt_column_get_text(cursor_of(reader, column), 15, &text, &len) < 0 || !text)
		return refuse(reader, column);
	memset(ret, 0, 16);
	memcpy(ret, text, len);
	return 0;
}

/* How many items an op has: as many must be left in `column`, before room is made for them. */
static int get_count(struct watt_chunk_reader *reader, enum watt_column_id count,
		     enum watt_column_id column, size_t *ret)
{
	uint64_t max = WATT_MIN((uint64_t)WATT_OP_MAX, cursor_of(reader, column)->n), n;
	int r = get(reader, count, max, &n);

	if (r == 0)
		*ret = (size_t)n;
	return r;
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
		return refuse(reader, WATT_COLUMN_SAMPLE_CHANNEL);
	r = get_difference(reader, WATT_COLUMN_SAMPLE_CHANNEL, predict->channel,
			   predict->n_channels - 1, &channel);
	if (r < 0)
		return r;
	ret->channel = (uint32_t)channel;
	r = get_difference(reader, WATT_COLUMN_SAMPLE_BEFORE,
			   watt_predict_sample_ns(predict, ret->channel), UINT64_MAX,
			   &ret->t_before_ns);
	if (r == 0)
		r = get(reader, WATT_COLUMN_SAMPLE_READ, UINT64_MAX - ret->t_before_ns, &read_ns);
	if (r == 0)
		r = get_difference(reader, WATT_COLUMN_SAMPLE_RAW,
				   (uint64_t)predict->channels[channel].raw, UINT64_MAX, &raw);
	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_SAMPLE_STATUS, WATT_STATUS_PENDING, &ret->status);
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
	int r = get_count(reader, WATT_COLUMN_SAMPLES, WATT_COLUMN_SAMPLE_CHANNEL, &n);

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

	for (i = 0; i < n && cursor_of(reader, WATT_COLUMN_SAMPLE_CHANNEL)->n; i++) {
		r = read_sample(reader, &ret[i]);
		if (r < 0) {
			*ret_fault = reader->fault;
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
	int r = get(reader, column, max, &value);

	if (r == 0)
		*ret = (uint16_t)value;
	return r;
}

/* What differs from the last record of the task. */
static int read_changes(struct watt_chunk_reader *reader, uint32_t changed, struct watt_usage *u)
{
	int r = 0;

	if (changed & WATT_CHANGED_START)
		r = get_difference(reader, WATT_COLUMN_USAGE_START, u->start_ns, UINT64_MAX,
				   &u->start_ns);
	if (r == 0 && changed & WATT_CHANGED_LEADER)
		r = get_difference(reader, WATT_COLUMN_USAGE_LEADER, u->start_ns, UINT64_MAX,
				   &u->leader_start_ns);
	if (r == 0 && changed & WATT_CHANGED_CGROUP)
		r = get_difference(reader, WATT_COLUMN_USAGE_CGROUP, u->cgroup_id, UINT64_MAX,
				   &u->cgroup_id);
	if (r == 0 && changed & WATT_CHANGED_TGID)
		r = get_difference_u32(reader, WATT_COLUMN_USAGE_TGID, &u->tgid);
	if (r == 0 && changed & WATT_CHANGED_PARENT)
		r = get_difference_u32(reader, WATT_COLUMN_USAGE_PARENT, &u->parent_tgid);
	if (r == 0 && changed & WATT_CHANGED_UID)
		r = get_difference_u32(reader, WATT_COLUMN_USAGE_UID, &u->uid);
	if (r == 0 && changed & WATT_CHANGED_CPU)
		r = get_difference_u32(reader, WATT_COLUMN_USAGE_CPU, &u->cpu);
	if (r == 0 && changed & WATT_CHANGED_KIND)
		r = read_kind(reader, WATT_COLUMN_USAGE_KIND, WATT_USAGE_CGROUP, &u->kind);
	if (r == 0 && changed & WATT_CHANGED_FLAGS)
		r = read_kind(reader, WATT_COLUMN_USAGE_FLAGS, UINT16_MAX, &u->flags);
	if (r == 0 && changed & WATT_CHANGED_COMM)
		r = get_comm(reader, WATT_COLUMN_USAGE_COMM, u->comm);
	return r;
}

static int read_record(struct watt_chunk_reader *reader, uint64_t predicted_ns,
		       struct watt_usage *ret)
{
	struct watt_predict *predict = &reader->predict;
	uint32_t tid = predict->tid, changed;
	struct watt_usage *last;
	int r = get_difference_u32(reader, WATT_COLUMN_USAGE_TID, &tid);

	if (r < 0)
		return r;
	last = watt_predict_task(predict, tid);
	r = get_difference(reader, WATT_COLUMN_USAGE_TIME, predicted_ns, UINT64_MAX, &last->t_ns);
	if (r == 0)
		r = get_difference(reader, WATT_COLUMN_USAGE_CPU_NS, last->cpu_ns, UINT64_MAX,
				   &last->cpu_ns);
	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_USAGE_CHANGED, WATT_CHANGED_ALL, &changed);
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
		r = get_difference(reader, times[i].column, *times[i].value, UINT64_MAX,
				   times[i].value);
	return r < 0 ? r : get_u32(reader, WATT_COLUMN_CPU_ONLINE, 1, &last->online);
}

static int read_batch(struct watt_chunk_reader *reader, struct watt_usage_batch *batch)
{
	uint64_t sweep_ns = 0;
	int r = get_difference(reader, WATT_COLUMN_BATCH_BEFORE, batch->t_before_ns, UINT64_MAX,
			       &batch->t_before_ns);

	if (r == 0)
		r = get(reader, WATT_COLUMN_BATCH_SWEEP, UINT64_MAX - batch->t_before_ns,
			&sweep_ns);
	if (r == 0)
		r = get_count(reader, WATT_COLUMN_BATCH_RECORDS, WATT_COLUMN_USAGE_TID,
			      &batch->n_records);
	if (r == 0)
		r = get_count(reader, WATT_COLUMN_BATCH_CPUS, WATT_COLUMN_CPU_USER, &batch->n_cpus);
	if (r == 0)
		r = get_difference(reader, WATT_COLUMN_BATCH_LOST, batch->lost, UINT64_MAX,
				   &batch->lost);
	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_BATCH_FLAGS, UINT32_MAX, &batch->flags);
	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_BATCH_TASKS, UINT32_MAX, &batch->n_tasks);
	if (r == 0)
		r = get_difference(reader, WATT_COLUMN_BATCH_UNSEEN, batch->unseen_ns, UINT64_MAX,
				   &batch->unseen_ns);
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
	int r = get_text(reader, WATT_COLUMN_PLACE_PATH, &ret->path);

	if (r == 0 && !ret->path)
		r = refuse(reader, WATT_COLUMN_PLACE_PATH);
	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_PLACE_KIND, WATT_N_ACTIVITIES - 1, &ret->kind);
	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_PLACE_UNITS, UINT32_MAX, &ret->n_units);
	if (r == 0)
		r = get_difference(reader, WATT_COLUMN_PLACE_COMPLETE, predict->complete_ns,
				   UINT64_MAX, &predict->complete_ns);
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
		return refuse(reader, WATT_COLUMN_READING_PLACE);
	r = get_u32(reader, WATT_COLUMN_READING_PLACE, (uint32_t)n_places - 1, &ret->place);
	if (r == 0)
		r = get_difference_u32(reader, WATT_COLUMN_READING_PID, &predict->activity_pid);
	if (r < 0)
		return r;
	ret->pid = predict->activity_pid;
	complete_ns = reader->places[ret->place].complete_ns;
	last = watt_predict_activity(predict, ret->pid, ret->place);
	r = get(reader, WATT_COLUMN_READING_AGE, complete_ns, &age_ns);
	if (r == 0)
		r = get_difference(reader, WATT_COLUMN_READING_AMOUNT, last->amount, UINT64_MAX,
				   &ret->amount);
	if (r == 0)
		r = get_difference(reader, WATT_COLUMN_READING_START, last->start_ns, UINT64_MAX,
				   &ret->start_ns);
	ret->t_ns = complete_ns - age_ns;
	*last = *ret;
	return r;
}

static int next_activity(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	size_t i, n_places = 0, n_readings = 0;
	int r = get_count(reader, WATT_COLUMN_ACTIVITY_PLACES, WATT_COLUMN_PLACE_PATH, &n_places);

	if (r == 0)
		r = get_count(reader, WATT_COLUMN_ACTIVITY_READINGS, WATT_COLUMN_READING_PLACE,
			      &n_readings);
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

/* ---- names ---- */

struct text {
	enum watt_column_id column;
	const char **text;
};

static int get_texts(struct watt_chunk_reader *reader, const struct text *texts, size_t n)
{
	size_t i;
	int r = 0;

	for (i = 0; i < n && r == 0; i++)
		r = get_text(reader, texts[i].column, texts[i].text);
	return r;
}

static int next_identity(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	const uint32_t missing = WATT_IDENTITY_EXE | WATT_IDENTITY_CMDLINE | WATT_IDENTITY_CGROUP |
				 WATT_IDENTITY_UID;
	struct watt_identity *identity = &reader->identity;
	const struct text texts[] = {
		{ WATT_COLUMN_IDENTITY_EXE, &identity->exe },
		{ WATT_COLUMN_IDENTITY_CMDLINE, &identity->cmdline },
		{ WATT_COLUMN_IDENTITY_VM, &identity->vm_name },
		{ WATT_COLUMN_IDENTITY_HYPERVISOR, &identity->hypervisor },
	};
	int r = get_u32(reader, WATT_COLUMN_IDENTITY_PID, UINT32_MAX, &identity->pid);

	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_IDENTITY_PARENT, UINT32_MAX, &identity->parent_pid);
	if (r == 0)
		r = get(reader, WATT_COLUMN_IDENTITY_START, UINT64_MAX, &identity->start_ns);
	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_IDENTITY_UID, UINT32_MAX, &identity->uid);
	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_IDENTITY_MISSING, missing, &identity->missing);
	if (r == 0)
		r = get_comm(reader, WATT_COLUMN_IDENTITY_COMM, identity->comm);
	if (r == 0)
		r = get_texts(reader, texts, WATT_ARRAY_SIZE(texts));
	ret->identity = identity;
	return r;
}

static int next_cgroup(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	struct watt_cgroup *cgroup = &reader->cgroup;
	const struct text texts[] = {
		{ WATT_COLUMN_CGROUP_PATH, &cgroup->path },
		{ WATT_COLUMN_CGROUP_RUNTIME, &cgroup->runtime },
		{ WATT_COLUMN_CGROUP_CONTAINER, &cgroup->container },
		{ WATT_COLUMN_CGROUP_POD, &cgroup->pod_uid },
		{ WATT_COLUMN_CGROUP_UNIT, &cgroup->unit },
		{ WATT_COLUMN_CGROUP_USER_UNIT, &cgroup->user_unit },
	};
	int r = get(reader, WATT_COLUMN_CGROUP_ID, UINT64_MAX, &cgroup->id);

	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_CGROUP_V1, 1, &cgroup->v1);
	ret->cgroup = cgroup;
	if (r == 0)
		r = get_texts(reader, texts, WATT_ARRAY_SIZE(texts));
	cgroup->job = NULL;
	/* chunks of old recordings have no such column */
	if (r == 0 && cursor_of(reader, WATT_COLUMN_CGROUP_JOB)->n)
		r = get_text(reader, WATT_COLUMN_CGROUP_JOB, &cgroup->job);
	return r;
}

static int next_user(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	int r = get_u32(reader, WATT_COLUMN_USER_UID, UINT32_MAX, &ret->user.uid);

	if (r == 0)
		r = get_text(reader, WATT_COLUMN_USER_NAME, &ret->user.name);
	if (r == 0 && !ret->user.name)
		return refuse(reader, WATT_COLUMN_USER_NAME);
	return r;
}

static int read_label(struct watt_chunk_reader *reader, struct watt_label *ret)
{
	int r = get_text(reader, WATT_COLUMN_LABEL_KEY, &ret->key);

	if (r == 0 && !ret->key)
		r = refuse(reader, WATT_COLUMN_LABEL_KEY);
	if (r == 0)
		r = get_text(reader, WATT_COLUMN_LABEL_VALUE, &ret->value);
	return r == 0 && !ret->value ? refuse(reader, WATT_COLUMN_LABEL_VALUE) : r;
}

static int next_container(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	struct watt_container *container = &reader->container;
	const struct text texts[] = {
		{ WATT_COLUMN_CONTAINER_ID, &container->id },
		{ WATT_COLUMN_CONTAINER_RUNTIME, &container->runtime },
		{ WATT_COLUMN_CONTAINER_NAME, &container->name },
		{ WATT_COLUMN_CONTAINER_IMAGE, &container->image },
		{ WATT_COLUMN_CONTAINER_POD, &container->pod_uid },
		{ WATT_COLUMN_CONTAINER_POD_NAME, &container->pod_name },
		{ WATT_COLUMN_CONTAINER_NAMESPACE, &container->pod_namespace },
	};
	uint32_t i;
	int r = get_texts(reader, texts, WATT_ARRAY_SIZE(texts));

	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_CONTAINER_LABELS, WATT_LABELS_MAX,
			    &container->n_labels);
	for (i = 0; r == 0 && i < container->n_labels; i++)
		r = read_label(reader, &reader->labels[i]);
	container->labels = reader->labels;
	ret->container = container;
	return r;
}

/* ---- moments ---- */

static int next_mark(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	const char *label = NULL;
	int r = get(reader, WATT_COLUMN_MARK_TIME, UINT64_MAX, &ret->mark.t_ns);

	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_MARK_PID, UINT32_MAX, &ret->mark.pid);
	if (r == 0)
		r = get_text(reader, WATT_COLUMN_MARK_LABEL, &label);
	if (r < 0)
		return r;
	if (!label || strlen(label) >= sizeof(ret->mark.label) ||
	    !watt_text_is_printable(label, strlen(label)))
		return refuse(reader, WATT_COLUMN_MARK_LABEL);
	watt_strlcpy(ret->mark.label, label, sizeof(ret->mark.label));
	return 0;
}

static int next_snapshot(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	int r = get(reader, WATT_COLUMN_SNAPSHOT_TIME, UINT64_MAX, &ret->snapshot.t_ns);

	if (r == 0)
		r = get(reader, WATT_COLUMN_SNAPSHOT_REALTIME, UINT64_MAX,
			&ret->snapshot.realtime_ns);
	if (r == 0)
		r = get(reader, WATT_COLUMN_SNAPSHOT_MISSED, UINT64_MAX,
			&ret->snapshot.missed_reads);
	if (r == 0)
		r = get(reader, WATT_COLUMN_SNAPSHOT_LOST, UINT64_MAX, &ret->snapshot.lost_samples);
	return r;
}

static int read_cursor(struct watt_chunk_reader *reader, enum watt_column_id column, uint32_t *ret)
{
	int r = get_u32(reader, column, UINT32_MAX, ret);

	return r == 0 && *ret == 0 ? refuse(reader, column) : r;
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
		r = get(reader, WATT_COLUMN_CURSOR_TIME, UINT64_MAX, &ret->cursor.t_ns);
	if (r == 0)
		r = get(reader, WATT_COLUMN_CURSOR_OPEN, 1, &is_open);
	ret->cursor.is_open = is_open;
	return r;
}

static int next_untrack(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	int r = get_u32(reader, WATT_COLUMN_UNTRACK_PID, UINT32_MAX, &ret->untrack.pid);

	return r < 0 ? r :
		       get(reader, WATT_COLUMN_UNTRACK_START, UINT64_MAX, &ret->untrack.start_ns);
}

static int next_advance(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	int r = get_difference(reader, WATT_COLUMN_ADVANCE_TIME, reader->predict.advance_ns,
			       UINT64_MAX, &ret->advance_ns);

	if (r == 0)
		reader->predict.advance_ns = ret->advance_ns;
	return r;
}

static int next_channels(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	uint64_t n;
	int r = get(reader, WATT_COLUMN_CHANNELS, reader->predict.n_channels, &n);

	if (r == 0)
		ret->channels.n = (size_t)n;
	return r;
}

static int next_cpu_place(struct watt_chunk_reader *reader, struct watt_op *ret)
{
	int32_t *const ids[] = { &ret->place.at.package_id, &ret->place.at.die_id,
				 &ret->place.at.core_id };
	uint32_t id = 0, i;
	int r = get_u32(reader, WATT_COLUMN_SLOT_CPU, UINT32_MAX, &ret->place.cpu);

	if (r == 0)
		r = get_u32(reader, WATT_COLUMN_SLOT, UINT32_MAX, &ret->place.slot);
	for (i = 0; i < 3 && r == 0; i++) {
		r = get_u32(reader, WATT_COLUMN_SLOT_PACKAGE + i, INT32_MAX, &id);
		*ids[i] = (int32_t)id - 1;
	}
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
		return next_identity(reader, ret);
	case WATT_OP_CGROUP:
		return next_cgroup(reader, ret);
	case WATT_OP_USER:
		return next_user(reader, ret);
	case WATT_OP_TRACK:
		return get_u32(reader, WATT_COLUMN_TRACK_PID, UINT32_MAX, &ret->track_pid);
	case WATT_OP_MARK:
		return next_mark(reader, ret);
	case WATT_OP_ADVANCE:
		return next_advance(reader, ret);
	case WATT_OP_BARRIER:
		return get(reader, WATT_COLUMN_BARRIER_TIME, UINT64_MAX, &ret->barrier_ns);
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
		return next_container(reader, ret);
	case WATT_OP_UNTRACK:
		return next_untrack(reader, ret);
	case WATT_OP_PLACE:
		return next_cpu_place(reader, ret);
	}
	return refuse(reader, WATT_COLUMN_OP);
}

/* Behind the last op no column may have anything left. */
static int end(struct watt_chunk_reader *reader)
{
	enum watt_column_id i;

	for (i = 0; i < WATT_N_COLUMNS; i++)
		if (cursor_of(reader, i)->n || cursor_of(reader, i)->p != cursor_of(reader, i)->end)
			return refuse(reader, i);
	return 1;
}

int watt_chunk_reader_next(struct watt_chunk_reader *reader, struct watt_op *ret,
			   struct watt_chunk_fault *ret_fault)
{
	struct watt_op op = { 0 };
	uint64_t kind;
	int r;

	if (!cursor_of(reader, WATT_COLUMN_OP)->n) {
		r = end(reader);
	} else {
		r = get(reader, WATT_COLUMN_OP, WATT_OP_LAST, &kind);
		op.kind = r == 0 ? (enum watt_op_kind)kind : 0;
		r = r == 0 ? next_op(reader, &op) : r;
	}
	if (r == -EBADMSG)
		*ret_fault = reader->fault;
	if (r == 0)
		*ret = op;
	return r;
}
