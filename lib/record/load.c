/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the tables of a recording: channels, CPUs, marks, losses, and where its chunks are.
 * Everything is checked: what is not as a recorder writes it is damage.
 */
#include "record/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/util.h"
#include "record/check.h"
#include "record/sql.h"
#include "record/text.h"

#define MAX_TEXT 65535
#define MAX_CPUS 65536
#define MAX_PRIOR ((size_t)16 << 20)

/* The row that is read; what is wrong with it is remembered. */
struct row {
	struct watt_recording *rec;
	sqlite3_stmt *stmt;
	const char *table;
	int column;
	int r;
};

static void refuse(struct row *row, int r)
{
	if (row->r == 0)
		row->r = r;
}

/* The next column of the row: a number from min to max. */
static int64_t take(struct row *row, int64_t min, int64_t max)
{
	int column = row->column++;
	int64_t value = sqlite3_column_int64(row->stmt, column);

	if (sqlite3_column_type(row->stmt, column) != SQLITE_INTEGER || value < min || value > max)
		refuse(row, -EBADMSG);
	return value;
}

/* Quantities that must not be negative. */
static uint64_t take_u64(struct row *row)
{
	return (uint64_t)take(row, 0, INT64_MAX);
}

static uint32_t take_u32(struct row *row)
{
	return (uint32_t)take(row, 0, UINT32_MAX);
}

static int32_t take_id(struct row *row)
{
	return (int32_t)take(row, -1, INT32_MAX);
}

/* A text that the recording keeps; NULL where the table has none. */
static const char *take_long_text(struct row *row, size_t max)
{
	struct watt_recording *rec = row->rec;
	int column = row->column++;
	const char *text = (const char *)sqlite3_column_text(row->stmt, column);
	size_t len = (size_t)sqlite3_column_bytes(row->stmt, column);
	char *copy;

	if (sqlite3_column_type(row->stmt, column) == SQLITE_NULL)
		return NULL;
	if (!text || len > max || strlen(text) != len) {
		refuse(row, -EBADMSG);
		return NULL;
	}
	copy = strdup(text);
	if (!copy || watt_grow((void **)&rec->texts, &rec->cap_texts, rec->n_texts,
			       sizeof(*rec->texts)) < 0) {
		free(copy);
		refuse(row, -ENOMEM);
		return NULL;
	}
	rec->texts[rec->n_texts++] = copy;
	return copy;
}

static const char *take_text(struct row *row)
{
	return take_long_text(row, MAX_TEXT);
}

/* A name: there, not empty, and fit to be shown. */
static const char *take_name(struct row *row)
{
	const char *text = take_text(row);

	if (!text || !*text || !watt_text_is_printable(text, strlen(text)))
		refuse(row, -EBADMSG);
	return text;
}

typedef const char *(*namer)(unsigned int value);

/* The number of a word of this library. */
static unsigned int take_word(struct row *row, namer name, unsigned int n)
{
	const char *text = (const char *)sqlite3_column_text(row->stmt, row->column++);
	unsigned int i;

	for (i = 0; i < n && text; i++)
		if (!strcmp(name(i), text))
			return i;
	refuse(row, -EBADMSG);
	return 0;
}

static const char *name_kind(unsigned int i)
{
	return watt_domain_kind_name((enum watt_domain_kind)i);
}

static const char *name_quantity(unsigned int i)
{
	return watt_quantity_name((enum watt_quantity)i);
}

static const char *name_semantics(unsigned int i)
{
	return watt_semantics_name((enum watt_semantics)i);
}

static const char *name_origin(unsigned int i)
{
	return watt_origin_name((enum watt_origin)i);
}

/* Calls fn for each row. Complains. */
static int each(struct watt_recording *rec, const char *table, const char *sql,
		void (*fn)(struct row *row))
{
	struct row row = { .rec = rec, .table = table };
	int rc = SQLITE_OK, r = watt_sql_prepare(rec->db, sql, &row.stmt);

	while (r == 0 && row.r == 0 && (rc = sqlite3_step(row.stmt)) == SQLITE_ROW) {
		row.column = 0;
		fn(&row);
	}
	if (r == 0)
		r = row.r < 0 ? row.r : rc == SQLITE_DONE ? 0 : watt_sql_errno(rec->db, rc);
	sqlite3_finalize(row.stmt);
	if (r == 0 || r == -ENOMEM)
		return r;
	return watt_recording_complain(rec, -EBADMSG, "is damaged: table %s: %s", table,
				       row.r < 0 ? "a value is not valid" :
						   watt_recording_reason(rec));
}

/* So many rows a recorder writes at most; what has more is refused before any is kept. */
static int check_count(struct watt_recording *rec, const char *table, int64_t max)
{
	int64_t n = 0;
	int r = watt_recording_count(rec, table, max + 1, &n);

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return watt_recording_complain(rec, -EBADMSG, "is damaged: table %s: %s", table,
					       watt_recording_reason(rec));
	if (n > max)
		return watt_recording_complain(
			rec, -EBADMSG, "has more %s than the %lld that a recording can have", table,
			(long long)max);
	return 0;
}

/* ---- channels ---- */

static void load_channel(struct row *row)
{
	struct watt_recording *rec = row->rec;
	struct watt_channel *c;
	int r = watt_grow((void **)&rec->channels, &rec->cap_channels, rec->n_channels,
			  sizeof(*rec->channels));

	if (r < 0) {
		refuse(row, r);
		return;
	}
	take(row, (int64_t)rec->n_channels, (int64_t)rec->n_channels);
	c = &rec->channels[rec->n_channels++];
	c->sz = sizeof(*c);
	c->name = take_name(row);
	c->source = take_name(row);
	c->domain = take_name(row);
	c->label = take_text(row);
	c->path = take_text(row);
	c->kind = (enum watt_domain_kind)take_word(row, name_kind, WATT_DOMAIN_RESIDUAL + 1);
	c->quantity = (enum watt_quantity)take_word(row, name_quantity, WATT_QUANTITY_LIMIT + 1);
	c->semantics =
		(enum watt_semantics)take_word(row, name_semantics, WATT_SEMANTICS_AVERAGE + 1);
	c->origin = (enum watt_origin)take_word(row, name_origin, WATT_ORIGIN_SIMULATED + 1);
	c->flags = take_u32(row);
	c->package_id = take_id(row);
	c->die_id = take_id(row);
	c->core_id = take_id(row);
	c->group = take_u32(row);
	c->scale_num = (uint64_t)take(row, 1, INT64_MAX);
	c->scale_den = (uint64_t)take(row, 1, INT64_MAX);
	c->wrap_nj = take_u64(row);
	c->idle_uw = take_u64(row);
	c->max_power_uw = take_u64(row);
	c->period_ns = take_u64(row);
	c->window_ns = take_u64(row);
	c->delay_ns = take_u64(row);
	c->coverage_ppm = take_u32(row);
	c->uncertainty_ppm = take_u32(row);
}

static int load_channels(struct watt_recording *rec)
{
	size_t i;
	int r = check_count(rec, "channels", WATT_RECORDING_CHANNELS_MAX);

	if (r == 0)
		r = each(rec, "channels", "SELECT * FROM channels ORDER BY id", load_channel);
	if (r < 0)
		return r;
	rec->channel_list = calloc(rec->n_channels + 1, sizeof(struct watt_channel *));
	if (!rec->channel_list)
		return -ENOMEM;
	for (i = 0; i < rec->n_channels; i++)
		rec->channel_list[i] = &rec->channels[i];
	rec->setup.channels = rec->channel_list;
	/* those behind them came later */
	rec->setup.n_channels = rec->has_first_channels ? (size_t)rec->first_channels :
							  rec->n_channels;
	if (rec->setup.n_channels > rec->n_channels)
		return watt_recording_complain(rec, -EBADMSG, "is damaged: channels are missing");
	return 0;
}

/* ---- CPUs ---- */

static void load_slot(struct row *row)
{
	struct watt_recording *rec = row->rec;
	struct watt_cpu_place *place;
	int r = watt_grow((void **)&rec->places, &rec->cap_places, rec->setup.n_slots,
			  sizeof(*rec->places));

	if (r < 0) {
		refuse(row, r);
		return;
	}
	if (take(row, rec->setup.n_slots, rec->setup.n_slots) >= MAX_CPUS - 1)
		refuse(row, -EBADMSG);
	place = &rec->places[rec->setup.n_slots++];
	place->package_id = take_id(row);
	place->die_id = take_id(row);
	place->core_id = take_id(row);
}

static void load_cpu(struct row *row)
{
	struct watt_recording *rec = row->rec;
	int r = watt_grow((void **)&rec->cpu_slot, &rec->cap_cpus, rec->setup.n_cpus,
			  sizeof(*rec->cpu_slot));

	if (r < 0) {
		refuse(row, r);
		return;
	}
	if (take(row, rec->setup.n_cpus, rec->setup.n_cpus) >= MAX_CPUS)
		refuse(row, -EBADMSG);
	rec->cpu_slot[rec->setup.n_cpus++] = (uint16_t)take(row, 0, UINT16_MAX);
}

static int load_cpus(struct watt_recording *rec)
{
	int r = each(rec, "slots", "SELECT * FROM slots ORDER BY slot", load_slot);

	if (r == 0)
		r = each(rec, "cpus", "SELECT * FROM cpus ORDER BY cpu", load_cpu);
	if (r < 0)
		return r;
	if (!rec->setup.n_slots || !rec->setup.n_cpus)
		return watt_recording_complain(rec, -EBADMSG, "is damaged: it knows no CPU");
	rec->setup.places = rec->places;
	rec->setup.cpu_slot = rec->cpu_slot;
	rec->info.n_cpus = rec->setup.n_cpus;
	return 0;
}

/* ---- what has no table of its own ---- */

static void load_meta(struct row *row)
{
	struct watt_recording *rec = row->rec;
	struct watt_recording_info *info = &rec->info;
	const char *key = (const char *)sqlite3_column_text(row->stmt, 0);
	const struct {
		const char *key;
		const char **ret;
	} texts[] = {
		{ "writer", &info->writer },
		{ "host", &info->host },
		{ "os", &info->os },
		{ "kernel", &info->kernel },
		{ "arch", &info->arch },
		{ "cpu", &info->cpu },
		{ "usage", &info->usage },
		{ "usage_why", &info->usage_why },
		{ "command", &info->command },
		{ "idle_policy", &rec->idle_policy },
		{ "share_keys", &rec->share_keys_text },
		{ "delays", &rec->delays_text },
	};
	const struct {
		const char *key;
		uint64_t *ret;
	} numbers[] = {
		{ "memory_bytes", &info->memory_bytes }, { "slice_ns", &info->slice_ns },
		{ "missed_reads", &info->missed_reads }, { "lost_samples", &info->lost_samples },
		{ "lost_usage", &info->lost_usage },     { "lost_marks", &info->lost_marks },
		{ "slept_ns", &info->slept_ns },         { "ended_ns", &rec->ended_ns },
	};
	const struct {
		const char *key;
		uint32_t *ret;
	} words[] = {
		{ "part", &info->part },
		{ "packages", &info->n_packages },
		{ "self_pid", &rec->setup.self_pid },
		{ "complete", &info->is_complete },
		{ "snapshot_aligned", &info->is_snapshot_aligned },
	};
	size_t i;

	row->column = 1;
	for (i = 0; i < WATT_ARRAY_SIZE(texts) && key; i++)
		if (!strcmp(key, texts[i].key))
			*texts[i].ret = take_text(row);
	for (i = 0; i < WATT_ARRAY_SIZE(numbers) && key; i++)
		if (!strcmp(key, numbers[i].key))
			*numbers[i].ret = take_u64(row);
	for (i = 0; i < WATT_ARRAY_SIZE(words) && key; i++)
		if (!strcmp(key, words[i].key))
			*words[i].ret = take_u32(row);
	if (key && !strcmp(key, "prior"))
		rec->setup.prior = take_long_text(row, MAX_PRIOR);
	if (key && !strcmp(key, "realtime_offset_ns"))
		rec->realtime_offset_ns = take(row, INT64_MIN, INT64_MAX);
	if (key && !strcmp(key, "first_channels")) {
		rec->first_channels = take_u64(row);
		rec->has_first_channels = true;
	}
	if (key && !strcmp(key, "check")) {
		rec->check = take(row, INT64_MIN, INT64_MAX);
		rec->has_check = true;
	}
}

/* A window in which the clock was set counts as before it: nobody knows when in it that was. */
static void load_clock_step(struct row *row)
{
	struct watt_recording *rec = row->rec;
	int r = watt_grow((void **)&rec->clock_steps, &rec->cap_clock_steps, rec->n_clock_steps,
			  sizeof(*rec->clock_steps));

	if (r < 0) {
		refuse(row, r);
		return;
	}
	rec->clock_steps[rec->n_clock_steps].t_ns = take_u64(row);
	rec->clock_steps[rec->n_clock_steps++].realtime_offset_ns = take(row, INT64_MIN, INT64_MAX);
}

/*
 * Windows say what the clock on the wall said at their ends. They are for people: what is wrong with
 * them spoils nothing else. Half a second is much more than what two clocks that are read one after
 * the other are off by.
 */
static int load_clock_steps(struct watt_recording *rec)
{
	static const char query[] =
		"SELECT t1_ns, now FROM (SELECT id, t1_ns, realtime_ns - t1_ns AS now, "
		"lag(realtime_ns - t1_ns) OVER (ORDER BY id) AS before FROM windows) "
		"WHERE before NOT NULL AND now - before NOT BETWEEN -500000000 AND 500000000 "
		"ORDER BY id LIMIT 1000";
	const struct watt_log log = rec->log;
	int r;

	rec->log.fn = NULL;
	r = each(rec, "windows", query, load_clock_step);
	rec->log = log;
	if (r == -EBADMSG)
		rec->n_clock_steps = 0;
	return r == -EBADMSG ? 0 : r;
}

static int load_rules(struct watt_recording *rec, const char *key, const char *text,
		      const struct watt_rule_syntax *syntax, struct watt_rules *ret)
{
	_cleanup_free_ char *word = NULL;
	int r = text ? watt_rules_parse(ret, syntax, text, &word) : 0;

	if (r == 0 || r == -ENOMEM)
		return r;
	return watt_recording_complain(rec, -EBADMSG,
				       "is damaged: in %s of table meta, '%s' is not %s", key, word,
				       syntax->expected);
}

/* What somebody chose about attribution; what is not there was not chosen. */
static int load_choices(struct watt_recording *rec)
{
	enum watt_idle_policy policy = WATT_IDLE_SEPARATE;
	int r;

	while (rec->idle_policy && strcmp(watt_idle_policy_name(policy), rec->idle_policy) != 0)
		if (policy++ == WATT_IDLE_REQUESTS)
			return watt_recording_complain(
				rec, -EBADMSG,
				"is damaged: table meta has no idle_policy that is known, but '%s'",
				rec->idle_policy);
	rec->setup.idle_policy = policy;
	rec->setup.memory_bytes = rec->info.memory_bytes;
	rec->setup.share_keys = &rec->share_keys;
	rec->setup.delays = &rec->delays;
	r = load_rules(rec, "share_keys", rec->share_keys_text, &watt_share_key_syntax,
		       &rec->share_keys);
	return r < 0 ? r :
		       load_rules(rec, "delays", rec->delays_text, &watt_delay_syntax,
				  &rec->delays);
}

static int load_info(struct watt_recording *rec)
{
	struct watt_recording_info *info = &rec->info;
	const char **texts[] = { &info->writer, &info->host,      &info->os,
				 &info->kernel, &info->arch,      &info->cpu,
				 &info->usage,  &info->usage_why, &info->command };
	int r = each(rec, "meta", "SELECT key, value FROM meta", load_meta);
	size_t i;

	if (r < 0)
		return r;
	for (i = 0; i < WATT_ARRAY_SIZE(texts); i++)
		if (!*texts[i])
			*texts[i] = "";
	if (!info->part || !info->slice_ns)
		return watt_recording_complain(
			rec, -EBADMSG, "is damaged: table meta lacks its part or its slice");
	rec->setup.slice_ns = info->slice_ns;
	rec->setup.usage = info->usage;
	rec->setup.usage_why = info->usage_why;
	return load_choices(rec);
}

/* Last, so that a value that can't be is named by what it is. */
static int check_tables(struct watt_recording *rec)
{
	int64_t check = 0;
	int r = rec->has_check ? watt_check_compute(rec->db, &check) : 0;

	if (r == 0 && check == rec->check)
		return 0;
	return watt_recording_complain(rec, -EBADMSG,
				       "is damaged: its channels or CPUs are not those that were "
				       "written");
}

/* ---- marks, losses, chunks ---- */

static void load_mark(struct row *row)
{
	struct watt_recording *rec = row->rec;
	struct watt_mark *mark;
	const char *label;
	int r = watt_grow((void **)&rec->marks, &rec->cap_marks, rec->n_marks, sizeof(*rec->marks));

	if (r < 0) {
		refuse(row, r);
		return;
	}
	mark = &rec->marks[rec->n_marks++];
	mark->t_ns = take_u64(row);
	mark->pid = take_u32(row);
	label = (const char *)sqlite3_column_text(row->stmt, row->column);
	if (!label || strlen(label) >= sizeof(mark->label) ||
	    strlen(label) != (size_t)sqlite3_column_bytes(row->stmt, row->column) ||
	    !watt_text_is_printable(label, strlen(label)))
		refuse(row, -EBADMSG);
	else
		watt_strlcpy(mark->label, label, sizeof(mark->label));
}

static void load_loss(struct row *row)
{
	struct watt_recording *rec = row->rec;
	struct watt_recording_loss *loss;
	int r = watt_grow((void **)&rec->losses, &rec->cap_losses, rec->n_losses,
			  sizeof(*rec->losses));

	if (r < 0) {
		refuse(row, r);
		return;
	}
	loss = &rec->losses[rec->n_losses++];
	loss->sz = sizeof(*loss);
	loss->t0_ns = take_u64(row);
	loss->t1_ns = take_u64(row);
	loss->samples = take_u64(row);
	loss->usage_records = take_u64(row);
	loss->why = take_name(row);
	if (loss->t1_ns < loss->t0_ns)
		refuse(row, -EBADMSG);
	else
		rec->info.lost_ns += loss->t1_ns - loss->t0_ns;
}

static void load_chunk(struct row *row)
{
	struct watt_recording *rec = row->rec;
	struct watt_recording_info *info = &rec->info;
	struct watt_chunk_place *chunk;
	int r = watt_grow((void **)&rec->chunks, &rec->cap_chunks, rec->n_chunks,
			  sizeof(*rec->chunks));

	if (r < 0) {
		refuse(row, r);
		return;
	}
	chunk = &rec->chunks[rec->n_chunks];
	chunk->id = take(row, rec->n_chunks ? chunk[-1].id + 1 : 1, INT64_MAX - 1);
	chunk->t0_ns = take_u64(row);
	chunk->t1_ns = take_u64(row);
	chunk->n_samples = (uint64_t)take(row, 0, (int64_t)WATT_CHUNK_MAX);
	chunk->n_usage = (uint64_t)take(row, 0, (int64_t)WATT_CHUNK_MAX);
	if (chunk->t0_ns > chunk->t1_ns)
		refuse(row, -EBADMSG);
	if (row->r < 0)
		return;
	rec->n_chunks++;
	if (chunk->t1_ns) {
		info->start_ns = info->end_ns ? WATT_MIN(info->start_ns, chunk->t0_ns) :
						chunk->t0_ns;
		info->end_ns = WATT_MAX(info->end_ns, chunk->t1_ns);
	}
	info->samples += chunk->n_samples;
	info->usage_records += chunk->n_usage;
	info->chunks++;
}

/* The index has all but the data, and is much smaller. What is damaged ends the list early. */
static int load_chunks(struct watt_recording *rec)
{
	static const char *const queries[] = {
		"SELECT id, t0_ns, t1_ns, n_samples, n_usage FROM chunks INDEXED BY chunks_time "
		"ORDER BY id",
		"SELECT id, t0_ns, t1_ns, n_samples, n_usage FROM chunks ORDER BY id",
	};
	struct watt_recording_info info = rec->info;
	struct watt_log log = rec->log;
	int r;

	rec->log.fn = NULL; /* of the index: the table may know better */
	r = each(rec, "chunks", queries[0], load_chunk);
	rec->log = log;
	if (r == -EBADMSG) {
		rec->info = info;
		rec->n_chunks = 0;
		r = each(rec, "chunks", queries[1], load_chunk);
	}
	if (r != -EBADMSG)
		return r;
	rec->is_list_damaged = true;
	return 0;
}

int watt_recording_load(struct watt_recording *rec)
{
	int r = load_info(rec);

	if (r == 0)
		r = load_channels(rec);
	if (r == 0)
		r = load_cpus(rec);
	if (r == 0)
		r = check_tables(rec);
	if (r == 0)
		r = check_count(rec, "marks", WATT_RECORDING_MARKS_MAX);
	if (r == 0)
		r = each(rec, "marks", "SELECT t_ns, pid, label FROM marks ORDER BY t_ns, id",
			 load_mark);
	if (r == 0)
		r = each(rec, "losses",
			 "SELECT t0_ns, t1_ns, samples, usage_records, why FROM losses "
			 "ORDER BY t0_ns, id",
			 load_loss);
	if (r == 0)
		r = load_clock_steps(rec);
	if (r == 0)
		r = load_chunks(rec);
	if (r == 0 && rec->guard.is_spent)
		r = watt_recording_complain(rec, -EBADMSG, "is damaged: %s",
					    watt_recording_reason(rec));
	if (rec->ended_ns > rec->info.start_ns && rec->ended_ns < rec->info.end_ns)
		rec->info.end_ns = rec->ended_ns;
	if (r == 0)
		rec->info.start_realtime_ns =
			rec->info.start_ns + (uint64_t)rec->realtime_offset_ns;
	return r;
}
