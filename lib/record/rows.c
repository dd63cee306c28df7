/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables for people: energy of each entity in each window, from a snapshot.
 * It must not decide what is committed when.
 */
#include "record/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "record/sql.h"

#define N_KNOWN 8192

int watt_rows_init(struct watt_rows *rows, sqlite3 *db)
{
	static const char window[] = "INSERT INTO windows(t0_ns, t1_ns, realtime_ns, phase) "
				     "VALUES(?, ?, ?, ?)";
	static const char entity[] =
		"INSERT INTO entities VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
		"ON CONFLICT(id) DO UPDATE SET name = excluded.name, "
		"parent_id = excluded.parent_id, uid = excluded.uid, exe = excluded.exe, "
		"cmdline = excluded.cmdline, cgroup = excluded.cgroup, "
		"container = excluded.container, pod = excluded.pod, unit = excluded.unit, "
		"last_ns = excluded.last_ns";
	static const char energy[] = "INSERT INTO energy VALUES(?, ?, ?, ?)";
	static const char sums[] = "INSERT INTO sums VALUES(?, ?, ?, ?)";
	static const char cpu_time[] = "INSERT INTO cpu_time VALUES(?, ?, ?)";
	int r;

	*rows = (struct watt_rows){ .db = db };
	rows->known = calloc(N_KNOWN, sizeof(*rows->known));
	r = rows->known ? watt_sql_prepare(db, window, &rows->window) : -ENOMEM;
	if (r == 0)
		r = watt_sql_prepare(db, entity, &rows->entity);
	if (r == 0)
		r = watt_sql_prepare(db, energy, &rows->energy);
	if (r == 0)
		r = watt_sql_prepare(db, sums, &rows->sums);
	if (r == 0)
		r = watt_sql_prepare(db, cpu_time, &rows->cpu_time);
	return r;
}

void watt_rows_done(struct watt_rows *rows)
{
	sqlite3_finalize(rows->window);
	sqlite3_finalize(rows->entity);
	sqlite3_finalize(rows->energy);
	sqlite3_finalize(rows->sums);
	sqlite3_finalize(rows->cpu_time);
	free(rows->known);
	*rows = (struct watt_rows){ 0 };
}

void watt_rows_forget(struct watt_rows *rows)
{
	memset(rows->known, 0, N_KNOWN * sizeof(*rows->known));
}

/* ---- entities ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	return watt_hash_u64(hash + 1);
}

/* Changes when a row must be written again; it is never 0. */
static uint64_t entity_hash(const struct watt_entity *entity)
{
	uint64_t hash = watt_hash_u64(entity->id ^ entity->parent_id << 32);

	hash = hash_text(hash, entity->name);
	if (entity->identity) {
		hash = watt_hash_u64(hash + entity->identity->uid);
		hash = hash_text(hash, entity->identity->exe);
		hash = hash_text(hash, entity->identity->cmdline);
	}
	hash = hash_text(hash + !entity->alive, entity->cgroup ? entity->cgroup->path : NULL);
	return hash ? hash : 1;
}

static void bind_entity(sqlite3_stmt *stmt, const struct watt_entity *entity, uint64_t t0_ns,
			uint64_t t1_ns)
{
	static const struct watt_cgroup none = { 0 };
	const struct watt_cgroup *cgroup = entity->cgroup ? entity->cgroup : &none;
	const struct watt_identity *identity = entity->identity;

	watt_sql_bind(stmt, "issi", (int64_t)entity->id, watt_entity_kind_name(entity->kind),
		      entity->name, (int64_t)entity->parent_id);
	if (identity) {
		sqlite3_bind_int64(stmt, 5, identity->pid);
		sqlite3_bind_int64(stmt, 6, (int64_t)identity->start_ns);
		if (!(identity->missing & WATT_IDENTITY_UID))
			sqlite3_bind_int64(stmt, 7, identity->uid);
		sqlite3_bind_text(stmt, 8, identity->exe, -1, SQLITE_TRANSIENT);
		sqlite3_bind_text(stmt, 9, identity->cmdline, -1, SQLITE_TRANSIENT);
	}
	sqlite3_bind_text(stmt, 10, cgroup->path, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(stmt, 11, cgroup->container, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(stmt, 12, cgroup->pod_uid, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(stmt, 13, cgroup->unit, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(stmt, 14, (int64_t)t0_ns);
	sqlite3_bind_int64(stmt, 15, (int64_t)t1_ns);
}

static int put_entity(struct watt_rows *rows, const struct watt_entity *entity, uint64_t t0_ns,
		      uint64_t t1_ns)
{
	uint64_t *known = &rows->known[watt_hash_u64(entity->id) % N_KNOWN];
	uint64_t hash = entity_hash(entity);
	int r;

	if (*known == hash)
		return 0;
	sqlite3_clear_bindings(rows->entity);
	bind_entity(rows->entity, entity, t0_ns, t1_ns);
	r = watt_sql_step(rows->db, rows->entity);
	if (r == 0)
		*known = hash;
	return r;
}

/* ---- energy ---- */

/* Whether it is one of those whose energies add up to the domain's. */
static bool is_leaf(enum watt_entity_kind kind)
{
	switch (kind) {
	case WATT_ENTITY_PROCESS:
	case WATT_ENTITY_KTHREAD:
	case WATT_ENTITY_EXITED:
	case WATT_ENTITY_IRQ:
	case WATT_ENTITY_SOFTIRQ:
	case WATT_ENTITY_IDLE:
	case WATT_ENTITY_UNATTRIBUTED:
	case WATT_ENTITY_VM:
		return true;
	default:
		return false;
	}
}

static bool is_active(const struct watt_row *row, size_t n_domains)
{
	size_t i;

	for (i = 0; i < n_domains; i++)
		if (row->window_nj[i])
			return true;
	return row->window_cpu_ns;
}

static int put_energy(struct watt_rows *rows, int64_t window, const struct watt_row *row,
		      size_t n_domains)
{
	sqlite3_stmt *stmt = is_leaf(row->entity->kind) ? rows->energy : rows->sums;
	int64_t id = (int64_t)row->entity->id;
	size_t i;
	int r = 0;

	for (i = 0; i < n_domains && r == 0; i++) {
		if (!row->window_nj[i])
			continue;
		watt_sql_bind(stmt, "iiii", window, id, (int64_t)i, row->window_nj[i]);
		r = watt_sql_step(rows->db, stmt);
	}
	if (r < 0 || !row->window_cpu_ns)
		return r;
	watt_sql_bind(rows->cpu_time, "iii", window, id, (int64_t)row->window_cpu_ns);
	return watt_sql_step(rows->db, rows->cpu_time);
}

int watt_rows_put_snapshot(struct watt_rows *rows, const struct watt_snapshot *snap)
{
	uint64_t t0_ns = watt_snapshot_get_window_start_ns(snap);
	uint64_t t1_ns = watt_snapshot_get_time_ns(snap);
	size_t i, n_domains = watt_snapshot_get_domain_count(snap);
	int64_t window;
	int r;

	watt_sql_bind(rows->window, "iiis", (int64_t)t0_ns, (int64_t)t1_ns,
		      (int64_t)watt_snapshot_get_realtime_ns(snap), watt_snapshot_get_phase(snap));
	r = watt_sql_step(rows->db, rows->window);
	window = sqlite3_last_insert_rowid(rows->db);
	for (i = 0; i < watt_snapshot_get_row_count(snap) && r == 0; i++) {
		const struct watt_row *row = watt_snapshot_get_row(snap, i);

		if (!is_active(row, n_domains))
			continue;
		r = put_entity(rows, row->entity, t0_ns, t1_ns);
		if (r == 0)
			r = put_energy(rows, window, row, n_domains);
	}
	return r;
}
