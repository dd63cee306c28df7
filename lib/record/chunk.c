/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts ops into columns. Everything that can fail is done before the first value is written, so
 * that an op is in a chunk as a whole or not at all.
 */
#include "record/chunk.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"

const struct watt_column_kind watt_column_kinds[WATT_N_COLUMNS] = {
#define X(id, name, encoding) { name, WATT_ENCODING_##encoding },
	WATT_COLUMNS(X)
#undef X
};

#define COLUMN(chunk, id) (&(chunk)->columns[WATT_COLUMN_##id])
#define PUT(chunk, id, value) watt_column_put(COLUMN(chunk, id), value)
#define PUT_DIFFERENCE(chunk, id, value, predicted) \
	watt_column_put_difference(COLUMN(chunk, id), value, predicted)

void watt_chunk_clear(struct watt_chunk *chunk)
{
	size_t i;

	for (i = 0; i < WATT_N_COLUMNS; i++)
		chunk->columns[i].len = chunk->columns[i].n = 0;
	chunk->t0_ns = UINT64_MAX;
	chunk->t1_ns = 0;
	chunk->n_samples = chunk->n_usage = 0;
	chunk->n_ops = 0;
}

void watt_chunk_done(struct watt_chunk *chunk)
{
	size_t i;

	for (i = 0; i < WATT_N_COLUMNS; i++)
		watt_column_done(&chunk->columns[i]);
}

size_t watt_chunk_size(const struct watt_chunk *chunk)
{
	size_t i, size = 0;

	for (i = 0; i < WATT_N_COLUMNS; i++)
		size += chunk->columns[i].len;
	return size;
}

/* Room for one number in each column from first to last, n times. */
static int reserve(struct watt_chunk *chunk, enum watt_column_id first, enum watt_column_id last,
		   size_t n)
{
	enum watt_column_id i;
	int r = 0;

	for (i = first; i <= last && r == 0; i++)
		r = watt_column_reserve(&chunk->columns[i], n * WATT_COLUMN_NUMBER_MAX);
	return r;
}

static void take_time(struct watt_chunk *chunk, uint64_t t_ns)
{
	chunk->t0_ns = WATT_MIN(chunk->t0_ns, t_ns);
	chunk->t1_ns = WATT_MAX(chunk->t1_ns, t_ns);
}

/* ---- samples ---- */

static int check_samples(const struct watt_op *op, uint32_t n_channels)
{
	const struct watt_sample *list = op->samples.list;
	size_t i;

	if (op->samples.n > WATT_OP_MAX)
		return -E2BIG;
	for (i = 0; i < op->samples.n; i++)
		if (list[i].channel >= n_channels || list[i].status > WATT_STATUS_PENDING ||
		    list[i].t_after_ns < list[i].t_before_ns)
			return -EINVAL;
	return 0;
}

static int put_samples(struct watt_chunk *chunk, struct watt_predict *predict,
		       const struct watt_op *op)
{
	size_t i, n = op->samples.n;
	int r = check_samples(op, predict->n_channels);

	if (r == 0)
		r = reserve(chunk, WATT_COLUMN_SAMPLES, WATT_COLUMN_SAMPLES, 1);
	if (r == 0)
		r = reserve(chunk, WATT_COLUMN_SAMPLE_CHANNEL, WATT_COLUMN_SAMPLE_STATUS, n);
	if (r < 0)
		return r;
	PUT(chunk, SAMPLES, n);
	for (i = 0; i < n; i++) {
		const struct watt_sample *sample = &op->samples.list[i];

		PUT_DIFFERENCE(chunk, SAMPLE_CHANNEL, sample->channel, predict->channel);
		PUT_DIFFERENCE(chunk, SAMPLE_BEFORE, sample->t_before_ns,
			       watt_predict_sample_ns(predict, sample->channel));
		PUT(chunk, SAMPLE_READ, sample->t_after_ns - sample->t_before_ns);
		PUT_DIFFERENCE(chunk, SAMPLE_RAW, (uint64_t)sample->raw,
			       (uint64_t)predict->channels[sample->channel].raw);
		PUT(chunk, SAMPLE_STATUS, sample->status);
		watt_predict_take_sample(predict, sample);
		take_time(chunk, sample->t_before_ns);
		take_time(chunk, sample->t_after_ns);
	}
	chunk->n_samples += n;
	return 0;
}

/* ---- usage ---- */

static size_t comm_length(const char comm[16])
{
	size_t n = 15;

	while (n && !comm[n - 1])
		n--;
	return n;
}

static int check_usage(const struct watt_usage_batch *batch)
{
	size_t i;

	if (batch->n_records > WATT_OP_MAX || batch->n_cpus > WATT_OP_MAX)
		return -E2BIG;
	if (batch->t_after_ns < batch->t_before_ns)
		return -EINVAL;
	for (i = 0; i < batch->n_records; i++)
		if (batch->records[i].kind > WATT_USAGE_CGROUP || batch->records[i].comm[15])
			return -EINVAL;
	return 0;
}

static int reserve_usage(struct watt_chunk *chunk, struct watt_predict *predict,
			 const struct watt_usage_batch *batch)
{
	int r = reserve(chunk, WATT_COLUMN_BATCH_BEFORE, WATT_COLUMN_BATCH_UNSEEN, 1);

	if (r == 0)
		r = reserve(chunk, WATT_COLUMN_USAGE_TID, WATT_COLUMN_USAGE_FLAGS,
			    batch->n_records);
	if (r == 0)
		r = watt_column_reserve(COLUMN(chunk, USAGE_COMM),
					batch->n_records * watt_column_text_size(15));
	if (r == 0)
		r = reserve(chunk, WATT_COLUMN_CPU_USER, WATT_COLUMN_CPU_ONLINE, batch->n_cpus);
	if (r == 0)
		r = watt_predict_reserve_tasks(predict, batch->n_records);
	if (r == 0)
		r = watt_predict_reserve_cpus(predict, batch->n_cpus);
	return r;
}

static void put_batch(struct watt_chunk *chunk, struct watt_predict *predict,
		      const struct watt_usage_batch *batch)
{
	const struct watt_usage_batch *last = &predict->batch;

	PUT_DIFFERENCE(chunk, BATCH_BEFORE, batch->t_before_ns, last->t_before_ns);
	PUT(chunk, BATCH_SWEEP, batch->t_after_ns - batch->t_before_ns);
	PUT(chunk, BATCH_RECORDS, batch->n_records);
	PUT(chunk, BATCH_CPUS, batch->n_cpus);
	PUT_DIFFERENCE(chunk, BATCH_LOST, batch->lost, last->lost);
	PUT(chunk, BATCH_FLAGS, batch->flags);
	PUT(chunk, BATCH_TASKS, batch->n_tasks);
	PUT_DIFFERENCE(chunk, BATCH_UNSEEN, batch->unseen_ns, last->unseen_ns);
	predict->batch = *batch;
}

static unsigned int changes(const struct watt_usage *now, const struct watt_usage *last)
{
	unsigned int changed = 0;

	changed |= now->start_ns != last->start_ns ? WATT_CHANGED_START : 0;
	changed |= now->leader_start_ns != last->leader_start_ns ? WATT_CHANGED_LEADER : 0;
	changed |= now->cgroup_id != last->cgroup_id ? WATT_CHANGED_CGROUP : 0;
	changed |= now->tgid != last->tgid ? WATT_CHANGED_TGID : 0;
	changed |= now->parent_tgid != last->parent_tgid ? WATT_CHANGED_PARENT : 0;
	changed |= now->uid != last->uid ? WATT_CHANGED_UID : 0;
	changed |= now->cpu != last->cpu ? WATT_CHANGED_CPU : 0;
	changed |= now->kind != last->kind ? WATT_CHANGED_KIND : 0;
	changed |= now->flags != last->flags ? WATT_CHANGED_FLAGS : 0;
	changed |= memcmp(now->comm, last->comm, sizeof(now->comm)) ? WATT_CHANGED_COMM : 0;
	return changed;
}

static void put_changes(struct watt_chunk *chunk, unsigned int changed,
			const struct watt_usage *now, const struct watt_usage *last)
{
	if (changed & WATT_CHANGED_START)
		PUT_DIFFERENCE(chunk, USAGE_START, now->start_ns, last->start_ns);
	if (changed & WATT_CHANGED_LEADER)
		PUT_DIFFERENCE(chunk, USAGE_LEADER, now->leader_start_ns, now->start_ns);
	if (changed & WATT_CHANGED_CGROUP)
		PUT_DIFFERENCE(chunk, USAGE_CGROUP, now->cgroup_id, last->cgroup_id);
	if (changed & WATT_CHANGED_TGID)
		PUT_DIFFERENCE(chunk, USAGE_TGID, now->tgid, last->tgid);
	if (changed & WATT_CHANGED_PARENT)
		PUT_DIFFERENCE(chunk, USAGE_PARENT, now->parent_tgid, last->parent_tgid);
	if (changed & WATT_CHANGED_UID)
		PUT_DIFFERENCE(chunk, USAGE_UID, now->uid, last->uid);
	if (changed & WATT_CHANGED_CPU)
		PUT_DIFFERENCE(chunk, USAGE_CPU, now->cpu, last->cpu);
	if (changed & WATT_CHANGED_KIND)
		PUT(chunk, USAGE_KIND, now->kind);
	if (changed & WATT_CHANGED_FLAGS)
		PUT(chunk, USAGE_FLAGS, now->flags);
	if (changed & WATT_CHANGED_COMM)
		watt_column_put_text(COLUMN(chunk, USAGE_COMM), now->comm, comm_length(now->comm));
}

static void put_record(struct watt_chunk *chunk, struct watt_predict *predict,
		       const struct watt_usage *now, uint64_t predicted_ns)
{
	struct watt_usage *last = watt_predict_task(predict, now->tid);
	unsigned int changed = changes(now, last);

	PUT_DIFFERENCE(chunk, USAGE_TID, now->tid, predict->tid);
	PUT_DIFFERENCE(chunk, USAGE_TIME, now->t_ns, predicted_ns);
	PUT_DIFFERENCE(chunk, USAGE_CPU_NS, now->cpu_ns, last->cpu_ns);
	PUT(chunk, USAGE_CHANGED, changed);
	if (changed)
		put_changes(chunk, changed, now, last);
	*last = *now;
	predict->tid = now->tid;
}

static void put_cpu(struct watt_chunk *chunk, const struct watt_cpu_time *now,
		    struct watt_cpu_time *last)
{
	PUT_DIFFERENCE(chunk, CPU_USER, now->user_ns, last->user_ns);
	PUT_DIFFERENCE(chunk, CPU_SYSTEM, now->system_ns, last->system_ns);
	PUT_DIFFERENCE(chunk, CPU_IDLE, now->idle_ns, last->idle_ns);
	PUT_DIFFERENCE(chunk, CPU_IRQ, now->irq_ns, last->irq_ns);
	PUT_DIFFERENCE(chunk, CPU_SOFTIRQ, now->softirq_ns, last->softirq_ns);
	PUT_DIFFERENCE(chunk, CPU_STEAL, now->steal_ns, last->steal_ns);
	PUT(chunk, CPU_ONLINE, now->online);
	*last = *now;
}

static int put_usage(struct watt_chunk *chunk, struct watt_predict *predict,
		     const struct watt_op *op)
{
	const struct watt_usage_batch *batch = &op->usage;
	uint64_t t_ns = batch->t_before_ns;
	int r = check_usage(batch);
	size_t i;

	if (r == 0)
		r = reserve_usage(chunk, predict, batch);
	if (r < 0)
		return r;
	put_batch(chunk, predict, batch);
	for (i = 0; i < batch->n_records; i++) {
		put_record(chunk, predict, &batch->records[i], t_ns);
		t_ns = batch->records[i].t_ns;
	}
	for (i = 0; i < batch->n_cpus; i++)
		put_cpu(chunk, &batch->cpus[i], &predict->cpus[i]);
	chunk->n_usage += batch->n_records;
	take_time(chunk, batch->t_before_ns);
	take_time(chunk, batch->t_after_ns);
	return 0;
}

/* ---- activities ---- */

static int check_activity(const struct watt_activity_batch *batch)
{
	size_t i;

	if (batch->n_places > WATT_OP_MAX || batch->n_readings > WATT_OP_MAX)
		return -E2BIG;
	for (i = 0; i < batch->n_places; i++)
		if (!batch->places[i].path || strlen(batch->places[i].path) > WATT_TEXT_MAX)
			return -EINVAL;
	for (i = 0; i < batch->n_readings; i++)
		if (batch->readings[i].place >= batch->n_places ||
		    batch->readings[i].t_ns > batch->places[batch->readings[i].place].complete_ns)
			return -EINVAL;
	return 0;
}

static int reserve_activity(struct watt_chunk *chunk, struct watt_predict *predict,
			    const struct watt_activity_batch *batch)
{
	size_t i, bytes = 0;
	int r = watt_predict_reserve_activities(predict);

	for (i = 0; i < batch->n_places; i++)
		bytes += watt_column_text_size(strlen(batch->places[i].path));
	if (r == 0)
		r = reserve(chunk, WATT_COLUMN_ACTIVITY_PLACES, WATT_COLUMN_ACTIVITY_READINGS, 1);
	if (r == 0)
		r = watt_column_reserve(COLUMN(chunk, PLACE_PATH), bytes);
	if (r == 0)
		r = reserve(chunk, WATT_COLUMN_PLACE_KIND, WATT_COLUMN_PLACE_COMPLETE,
			    batch->n_places);
	if (r == 0)
		r = reserve(chunk, WATT_COLUMN_READING_PLACE, WATT_COLUMN_READING_START,
			    batch->n_readings);
	return r;
}

static void put_place(struct watt_chunk *chunk, struct watt_predict *predict,
		      const struct watt_activity_place *place)
{
	watt_column_put_text(COLUMN(chunk, PLACE_PATH), place->path, strlen(place->path));
	PUT(chunk, PLACE_KIND, place->kind);
	PUT(chunk, PLACE_UNITS, place->n_units);
	PUT_DIFFERENCE(chunk, PLACE_COMPLETE, place->complete_ns, predict->complete_ns);
	predict->complete_ns = place->complete_ns; /* of the past: it is no time of the chunk */
}

static void put_reading(struct watt_chunk *chunk, struct watt_predict *predict,
			const struct watt_activity *now, uint64_t complete_ns)
{
	struct watt_activity *last = watt_predict_activity(predict, now->pid, now->place);

	PUT(chunk, READING_PLACE, now->place);
	PUT_DIFFERENCE(chunk, READING_PID, now->pid, predict->activity_pid);
	PUT(chunk, READING_AGE, complete_ns - now->t_ns);
	PUT_DIFFERENCE(chunk, READING_AMOUNT, now->amount, last->amount);
	PUT_DIFFERENCE(chunk, READING_START, now->start_ns, last->start_ns);
	predict->activity_pid = now->pid;
	*last = *now;
}

static int put_activity(struct watt_chunk *chunk, struct watt_predict *predict,
			const struct watt_activity_batch *batch)
{
	size_t i;
	int r = check_activity(batch);

	if (r == 0)
		r = reserve_activity(chunk, predict, batch);
	if (r < 0)
		return r;
	PUT(chunk, ACTIVITY_PLACES, batch->n_places);
	PUT(chunk, ACTIVITY_READINGS, batch->n_readings);
	for (i = 0; i < batch->n_places; i++)
		put_place(chunk, predict, &batch->places[i]);
	for (i = 0; i < batch->n_readings; i++)
		put_reading(chunk, predict, &batch->readings[i],
			    batch->places[batch->readings[i].place].complete_ns);
	return 0;
}

/* ---- names ---- */

struct text {
	enum watt_column_id column;
	const char *text;
};

static int reserve_texts(struct watt_chunk *chunk, const struct text *texts, size_t n)
{
	size_t i, len;
	int r = 0;

	for (i = 0; i < n && r == 0; i++) {
		len = texts[i].text ? strlen(texts[i].text) : 0;
		r = len > WATT_TEXT_MAX ? -E2BIG :
					  watt_column_reserve(&chunk->columns[texts[i].column],
							      watt_column_text_size(len));
	}
	return r;
}

static void put_texts(struct watt_chunk *chunk, const struct text *texts, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		watt_column_put_text(&chunk->columns[texts[i].column], texts[i].text,
				     texts[i].text ? strlen(texts[i].text) : 0);
}

static int put_identity(struct watt_chunk *chunk, const struct watt_identity *identity)
{
	const struct text texts[] = {
		{ WATT_COLUMN_IDENTITY_EXE, identity->exe },
		{ WATT_COLUMN_IDENTITY_CMDLINE, identity->cmdline },
		{ WATT_COLUMN_IDENTITY_VM, identity->vm_name },
		{ WATT_COLUMN_IDENTITY_HYPERVISOR, identity->hypervisor },
	};
	int r = identity->comm[15] ? -EINVAL : 0;

	if (r == 0)
		r = reserve(chunk, WATT_COLUMN_IDENTITY_PID, WATT_COLUMN_IDENTITY_MISSING, 1);
	if (r == 0)
		r = watt_column_reserve(COLUMN(chunk, IDENTITY_COMM), watt_column_text_size(15));
	if (r == 0)
		r = reserve_texts(chunk, texts, WATT_ARRAY_SIZE(texts));
	if (r < 0)
		return r;
	PUT(chunk, IDENTITY_PID, identity->pid);
	PUT(chunk, IDENTITY_PARENT, identity->parent_pid);
	PUT(chunk, IDENTITY_START, identity->start_ns);
	PUT(chunk, IDENTITY_UID, identity->uid);
	PUT(chunk, IDENTITY_MISSING, identity->missing);
	watt_column_put_text(COLUMN(chunk, IDENTITY_COMM), identity->comm,
			     comm_length(identity->comm));
	put_texts(chunk, texts, WATT_ARRAY_SIZE(texts));
	return 0;
}

static int put_cgroup(struct watt_chunk *chunk, const struct watt_cgroup *cgroup)
{
	const struct text texts[] = {
		{ WATT_COLUMN_CGROUP_PATH, cgroup->path },
		{ WATT_COLUMN_CGROUP_RUNTIME, cgroup->runtime },
		{ WATT_COLUMN_CGROUP_CONTAINER, cgroup->container },
		{ WATT_COLUMN_CGROUP_POD, cgroup->pod_uid },
		{ WATT_COLUMN_CGROUP_UNIT, cgroup->unit },
		{ WATT_COLUMN_CGROUP_USER_UNIT, cgroup->user_unit },
		{ WATT_COLUMN_CGROUP_JOB, cgroup->job },
	};
	int r = reserve(chunk, WATT_COLUMN_CGROUP_ID, WATT_COLUMN_CGROUP_V1, 1);

	if (r == 0)
		r = reserve_texts(chunk, texts, WATT_ARRAY_SIZE(texts));
	if (r < 0)
		return r;
	PUT(chunk, CGROUP_ID, cgroup->id);
	PUT(chunk, CGROUP_V1, cgroup->v1);
	put_texts(chunk, texts, WATT_ARRAY_SIZE(texts));
	return 0;
}

static int put_user(struct watt_chunk *chunk, const struct watt_op *op)
{
	const struct text text = { WATT_COLUMN_USER_NAME, op->user.name };
	int r = op->user.name ? reserve(chunk, WATT_COLUMN_USER_UID, WATT_COLUMN_USER_UID, 1) :
				-EINVAL;

	if (r == 0)
		r = reserve_texts(chunk, &text, 1);
	if (r < 0)
		return r;
	PUT(chunk, USER_UID, op->user.uid);
	put_texts(chunk, &text, 1);
	return 0;
}

static int reserve_labels(struct watt_chunk *chunk, const struct watt_container *container)
{
	size_t i, keys = 0, values = 0;
	int r;

	if (container->n_labels > WATT_LABELS_MAX)
		return -E2BIG;
	for (i = 0; i < container->n_labels; i++) {
		const struct watt_label *label = &container->labels[i];

		if (strlen(label->key) > WATT_TEXT_MAX || strlen(label->value) > WATT_TEXT_MAX)
			return -E2BIG;
		keys += watt_column_text_size(strlen(label->key));
		values += watt_column_text_size(strlen(label->value));
	}
	r = reserve(chunk, WATT_COLUMN_CONTAINER_LABELS, WATT_COLUMN_CONTAINER_LABELS, 1);
	if (r == 0)
		r = watt_column_reserve(COLUMN(chunk, LABEL_KEY), keys);
	if (r == 0)
		r = watt_column_reserve(COLUMN(chunk, LABEL_VALUE), values);
	return r;
}

static int put_container(struct watt_chunk *chunk, const struct watt_container *container)
{
	const struct text texts[] = {
		{ WATT_COLUMN_CONTAINER_ID, container->id },
		{ WATT_COLUMN_CONTAINER_RUNTIME, container->runtime },
		{ WATT_COLUMN_CONTAINER_NAME, container->name },
		{ WATT_COLUMN_CONTAINER_IMAGE, container->image },
		{ WATT_COLUMN_CONTAINER_POD, container->pod_uid },
		{ WATT_COLUMN_CONTAINER_POD_NAME, container->pod_name },
		{ WATT_COLUMN_CONTAINER_NAMESPACE, container->pod_namespace },
	};
	uint32_t i;
	int r = reserve_texts(chunk, texts, WATT_ARRAY_SIZE(texts));

	if (r == 0)
		r = reserve_labels(chunk, container);
	if (r < 0)
		return r;
	put_texts(chunk, texts, WATT_ARRAY_SIZE(texts));
	PUT(chunk, CONTAINER_LABELS, container->n_labels);
	for (i = 0; i < container->n_labels; i++) {
		const struct text label[] = {
			{ WATT_COLUMN_LABEL_KEY, container->labels[i].key },
			{ WATT_COLUMN_LABEL_VALUE, container->labels[i].value },
		};

		put_texts(chunk, label, WATT_ARRAY_SIZE(label));
	}
	return 0;
}

/* ---- moments ---- */

static int put_mark(struct watt_chunk *chunk, const struct watt_mark *mark)
{
	size_t len = strnlen(mark->label, sizeof(mark->label));
	int r = len < sizeof(mark->label) ?
			reserve(chunk, WATT_COLUMN_MARK_TIME, WATT_COLUMN_MARK_PID, 1) :
			-EINVAL;

	if (r == 0)
		r = watt_column_reserve(COLUMN(chunk, MARK_LABEL), watt_column_text_size(len));
	if (r < 0)
		return r;
	PUT(chunk, MARK_TIME, mark->t_ns);
	PUT(chunk, MARK_PID, mark->pid);
	watt_column_put_text(COLUMN(chunk, MARK_LABEL), mark->label, len);
	take_time(chunk, mark->t_ns);
	return 0;
}

static int put_snapshot(struct watt_chunk *chunk, const struct watt_op *op)
{
	int r = reserve(chunk, WATT_COLUMN_SNAPSHOT_TIME, WATT_COLUMN_SNAPSHOT_LOST, 1);

	if (r < 0)
		return r;
	PUT(chunk, SNAPSHOT_TIME, op->snapshot.t_ns);
	PUT(chunk, SNAPSHOT_REALTIME, op->snapshot.realtime_ns);
	PUT(chunk, SNAPSHOT_MISSED, op->snapshot.missed_reads);
	PUT(chunk, SNAPSHOT_LOST, op->snapshot.lost_samples);
	take_time(chunk, op->snapshot.t_ns);
	return 0;
}

static int put_look(struct watt_chunk *chunk, const struct watt_op *op)
{
	int r = reserve(chunk, WATT_COLUMN_LOOK_CURSOR, WATT_COLUMN_LOOK_CURSOR, 1);

	if (r == 0)
		r = put_snapshot(chunk, op);
	if (r == 0)
		PUT(chunk, LOOK_CURSOR, op->snapshot.cursor);
	return r;
}

static int put_cursor(struct watt_chunk *chunk, const struct watt_op *op)
{
	int r = reserve(chunk, WATT_COLUMN_CURSOR_ID, WATT_COLUMN_CURSOR_OPEN, 1);

	if (r < 0)
		return r;
	PUT(chunk, CURSOR_ID, op->cursor.id);
	PUT(chunk, CURSOR_TIME, op->cursor.t_ns);
	PUT(chunk, CURSOR_OPEN, op->cursor.is_open);
	return 0;
}

static int put_untrack(struct watt_chunk *chunk, const struct watt_op *op)
{
	int r = reserve(chunk, WATT_COLUMN_UNTRACK_PID, WATT_COLUMN_UNTRACK_START, 1);

	if (r < 0)
		return r;
	PUT(chunk, UNTRACK_PID, op->untrack.pid);
	PUT(chunk, UNTRACK_START, op->untrack.start_ns);
	return 0;
}

/* Ids are written from 1 on; 0: none. */
static int put_cpu_place(struct watt_chunk *chunk, const struct watt_op *op)
{
	int r = reserve(chunk, WATT_COLUMN_SLOT_CPU, WATT_COLUMN_SLOT_CORE, 1);

	if (r < 0)
		return r;
	PUT(chunk, SLOT_CPU, op->place.cpu);
	PUT(chunk, SLOT, op->place.slot);
	PUT(chunk, SLOT_PACKAGE, (uint32_t)op->place.at.package_id + 1);
	PUT(chunk, SLOT_DIE, (uint32_t)op->place.at.die_id + 1);
	PUT(chunk, SLOT_CORE, (uint32_t)op->place.at.core_id + 1);
	return 0;
}

static int put_clock(struct watt_chunk *chunk, const struct watt_op *op)
{
	int r = reserve(chunk, WATT_COLUMN_CLOCK_FROM, WATT_COLUMN_CLOCK_REALTIME, 1);

	if (r < 0)
		return r;
	PUT(chunk, CLOCK_FROM, op->clock.from_ns);
	PUT(chunk, CLOCK_TO, op->clock.to_ns);
	PUT(chunk, CLOCK_SLEPT, op->clock.slept_ns);
	PUT(chunk, CLOCK_REALTIME, op->clock.realtime_ns);
	take_time(chunk, op->clock.to_ns);
	return 0;
}

static int put_learned(struct watt_chunk *chunk, const struct watt_op *op)
{
	const struct text domain = { WATT_COLUMN_LEARNED_DOMAIN, op->learned.domain };
	size_t i, size = 0;
	int r;

	if (op->learned.n_words > WATT_OP_MAX || op->learned.n_texts > WATT_LEARNED_TEXTS_MAX)
		return -E2BIG;
	for (i = 0; i < op->learned.n_texts; i++) {
		size_t len = strlen(op->learned.texts[i]);

		if (len > WATT_TEXT_MAX)
			return -E2BIG;
		size += watt_column_text_size(len);
	}
	r = reserve_texts(chunk, &domain, 1);
	if (r == 0)
		r = reserve(chunk, WATT_COLUMN_LEARNED_WORDS, WATT_COLUMN_LEARNED_TEXTS, 1);
	if (r == 0)
		r = reserve(chunk, WATT_COLUMN_LEARNED_WORD, WATT_COLUMN_LEARNED_WORD,
			    op->learned.n_words);
	if (r == 0)
		r = watt_column_reserve(COLUMN(chunk, LEARNED_TEXT), size);
	if (r < 0)
		return r;
	put_texts(chunk, &domain, 1);
	PUT(chunk, LEARNED_WORDS, op->learned.n_words);
	PUT(chunk, LEARNED_TEXTS, op->learned.n_texts);
	for (i = 0; i < op->learned.n_words; i++)
		PUT(chunk, LEARNED_WORD, op->learned.words[i]);
	for (i = 0; i < op->learned.n_texts; i++)
		watt_column_put_text(COLUMN(chunk, LEARNED_TEXT), op->learned.texts[i],
				     strlen(op->learned.texts[i]));
	return 0;
}

static int put_advance(struct watt_chunk *chunk, struct watt_predict *predict, uint64_t t_ns)
{
	int r = reserve(chunk, WATT_COLUMN_ADVANCE_TIME, WATT_COLUMN_ADVANCE_TIME, 1);

	if (r < 0)
		return r;
	PUT_DIFFERENCE(chunk, ADVANCE_TIME, t_ns, predict->advance_ns);
	predict->advance_ns = t_ns;
	take_time(chunk, t_ns);
	return 0;
}

/* Of the ops that are one number. */
static int put_number(struct watt_chunk *chunk, enum watt_column_id column, uint64_t value)
{
	int r = reserve(chunk, column, column, 1);

	if (r == 0)
		watt_column_put(&chunk->columns[column], value);
	return r;
}

static int put_op(struct watt_chunk *chunk, struct watt_predict *predict, const struct watt_op *op)
{
	int r;

	switch (op->kind) {
	case WATT_OP_SAMPLES:
		return put_samples(chunk, predict, op);
	case WATT_OP_USAGE:
		return put_usage(chunk, predict, op);
	case WATT_OP_ACTIVITY:
		return put_activity(chunk, predict, &op->activity);
	case WATT_OP_IDENTITY:
		return put_identity(chunk, op->identity);
	case WATT_OP_CGROUP:
		return put_cgroup(chunk, op->cgroup);
	case WATT_OP_USER:
		return put_user(chunk, op);
	case WATT_OP_TRACK:
		return put_number(chunk, WATT_COLUMN_TRACK_PID, op->track_pid);
	case WATT_OP_MARK:
		return put_mark(chunk, &op->mark);
	case WATT_OP_ADVANCE:
		return put_advance(chunk, predict, op->advance_ns);
	case WATT_OP_BARRIER:
		return put_number(chunk, WATT_COLUMN_BARRIER_TIME, op->barrier_ns);
	case WATT_OP_SNAPSHOT:
		return put_snapshot(chunk, op);
	case WATT_OP_LOOK:
		return put_look(chunk, op);
	case WATT_OP_CURSOR:
		return put_cursor(chunk, op);
	case WATT_OP_CHANNELS:
		r = watt_predict_grow(predict, (uint32_t)op->channels.n);
		return r < 0 ? r : put_number(chunk, WATT_COLUMN_CHANNELS, op->channels.n);
	case WATT_OP_THREADS:
		return 0; /* it says all by being there */
	case WATT_OP_CONTAINER:
		return put_container(chunk, op->container);
	case WATT_OP_UNTRACK:
		return put_untrack(chunk, op);
	case WATT_OP_PLACE:
		return put_cpu_place(chunk, op);
	case WATT_OP_CLOCK:
		return put_clock(chunk, op);
	case WATT_OP_LEARNED:
		return put_learned(chunk, op);
	}
	return -EINVAL;
}

int watt_chunk_put(struct watt_chunk *chunk, struct watt_predict *predict, const struct watt_op *op)
{
	int r = chunk->n_ops < WATT_CHUNK_OPS_MAX ?
			reserve(chunk, WATT_COLUMN_OP, WATT_COLUMN_OP, 1) :
			-E2BIG;

	if (r == 0)
		r = put_op(chunk, predict, op);
	if (r < 0)
		return r;
	PUT(chunk, OP, op->kind);
	chunk->n_ops++;
	return 0;
}
