/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording begins with: channels, domains, CPUs, the machine and who wrote it.
 * It must not change anything later.
 */
#include "record/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "record/check.h"
#include "record/sql.h"

int watt_rows_put_channels(sqlite3 *db, const struct watt_channel *const *channels, size_t first,
			   size_t n)
{
	sqlite3_stmt *stmt;
	size_t i;
	int r = watt_sql_prepare(db,
				 "INSERT INTO channels VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
				 "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
				 &stmt);

	for (i = first; i < n && r == 0; i++) {
		const struct watt_channel *c = channels[i];

		watt_sql_bind(stmt, "isssssssssiiiiiiiiiiiiiii", (int64_t)i, c->name, c->source,
			      c->domain, c->label, c->path, watt_domain_kind_name(c->kind),
			      watt_quantity_name(c->quantity), watt_semantics_name(c->semantics),
			      watt_origin_name(c->origin), (int64_t)c->flags,
			      (int64_t)c->package_id, (int64_t)c->die_id, (int64_t)c->core_id,
			      (int64_t)c->group, (int64_t)c->scale_num, (int64_t)c->scale_den,
			      (int64_t)c->wrap_nj, (int64_t)c->idle_uw, (int64_t)c->max_power_uw,
			      (int64_t)c->period_ns, (int64_t)c->window_ns, (int64_t)c->delay_ns,
			      (int64_t)c->coverage_ppm, (int64_t)c->uncertainty_ppm);
		r = watt_sql_step(db, stmt);
	}
	sqlite3_finalize(stmt);
	return r;
}

int watt_rows_put_domains(sqlite3 *db, const struct watt_domain *const *domains, size_t first,
			  size_t n)
{
	sqlite3_stmt *stmt;
	size_t i;
	int r = watt_sql_prepare(
		db, "INSERT INTO domains VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", &stmt);

	for (i = first; i < n && r == 0; i++) {
		const struct watt_domain *d = domains[i];

		watt_sql_bind(stmt, "isssssiiiiiiii", (int64_t)i, d->path, d->name,
			      watt_domain_kind_name(d->kind), watt_origin_name(d->origin),
			      watt_share_key_name(d->key), (int64_t)d->parent, (int64_t)d->channel,
			      (int64_t)d->is_summed, (int64_t)d->is_partition,
			      (int64_t)d->package_id, (int64_t)d->die_id, (int64_t)d->core_id,
			      (int64_t)d->uncertainty_ppm);
		r = watt_sql_step(db, stmt);
	}
	sqlite3_finalize(stmt);
	return r;
}

static int put_slots(sqlite3 *db, const struct watt_setup *setup)
{
	sqlite3_stmt *stmt;
	uint32_t i;
	int r = watt_sql_prepare(db, "INSERT INTO slots VALUES(?, ?, ?, ?)", &stmt);

	for (i = 0; i < setup->n_slots && r == 0; i++) {
		const struct watt_cpu_place *place = &setup->places[i];

		watt_sql_bind(stmt, "iiii", (int64_t)i, (int64_t)place->package_id,
			      (int64_t)place->die_id, (int64_t)place->core_id);
		r = watt_sql_step(db, stmt);
	}
	sqlite3_finalize(stmt);
	return r;
}

static int put_cpus(sqlite3 *db, const struct watt_setup *setup)
{
	static const struct watt_cpu_place nowhere = { -1, -1, -1 };
	sqlite3_stmt *stmt;
	uint32_t i;
	int r = watt_sql_prepare(db, "INSERT INTO cpus VALUES(?, ?, ?, ?, ?)", &stmt);

	for (i = 0; i < setup->n_cpus && r == 0; i++) {
		uint32_t slot = setup->cpu_slot[i];
		const struct watt_cpu_place *place = slot < setup->n_slots ? &setup->places[slot] :
									     &nowhere;

		watt_sql_bind(stmt, "iiiii", (int64_t)i, (int64_t)slot, (int64_t)place->package_id,
			      (int64_t)place->die_id, (int64_t)place->core_id);
		r = watt_sql_step(db, stmt);
	}
	sqlite3_finalize(stmt);
	return r;
}

/* ---- what has no table of its own ---- */

struct meta {
	sqlite3 *db;
	sqlite3_stmt *stmt;
	int r;
};

static void put_text(struct meta *meta, const char *key, const char *text)
{
	if (meta->r < 0 || !text)
		return;
	watt_sql_bind(meta->stmt, "ss", key, text);
	meta->r = watt_sql_step(meta->db, meta->stmt);
}

static void put_rules(struct meta *meta, const char *key, const struct watt_rules *rules,
		      const struct watt_rule_syntax *syntax)
{
	_cleanup_free_ char *text = NULL;

	if (meta->r == 0)
		meta->r = watt_rules_print(rules, syntax, &text);
	put_text(meta, key, text);
}

static void put_number(struct meta *meta, const char *key, int64_t value)
{
	if (meta->r < 0)
		return;
	watt_sql_bind(meta->stmt, "si", key, value);
	meta->r = watt_sql_step(meta->db, meta->stmt);
}

static int put_meta(sqlite3 *db, const struct watt_part_head *head)
{
	struct meta meta = { .db = db };
	char writer[64];

	snprintf(writer, sizeof(writer), "wattribute %s", watt_version());
	meta.r = watt_sql_prepare(db, "INSERT INTO meta VALUES(?, ?)", &meta.stmt);
	put_text(&meta, "writer", writer);
	put_text(&meta, "host", head->machine->host);
	put_text(&meta, "os", head->machine->os);
	put_text(&meta, "kernel", head->machine->kernel);
	put_text(&meta, "arch", head->machine->arch);
	put_text(&meta, "cpu", head->machine->cpu);
	put_text(&meta, "command", head->command);
	put_text(&meta, "usage", head->setup->usage);
	if (head->setup->usage_why && *head->setup->usage_why)
		put_text(&meta, "usage_why", head->setup->usage_why);
	if (head->setup->idle_policy != WATT_IDLE_SEPARATE)
		put_text(&meta, "idle_policy", watt_idle_policy_name(head->setup->idle_policy));
	put_text(&meta, "prior", head->setup->prior);
	put_rules(&meta, "share_keys", head->setup->share_keys, &watt_share_key_syntax);
	put_rules(&meta, "delays", head->setup->delays, &watt_delay_syntax);
	put_text(&meta, "recording", head->recording);
	put_number(&meta, "part", head->part);
	put_number(&meta, "memory_bytes", (int64_t)head->machine->memory_bytes);
	put_number(&meta, "packages", head->machine->n_packages);
	put_number(&meta, "self_pid", head->setup->self_pid);
	put_number(&meta, "slice_ns", (int64_t)head->setup->slice_ns);
	put_number(&meta, "realtime_offset_ns", head->realtime_offset_ns);
	put_number(&meta, "first_channels", (int64_t)head->setup->n_channels);
	put_number(&meta, "missed_reads", 0);
	put_number(&meta, "lost_samples", 0);
	put_number(&meta, "lost_usage", 0);
	put_number(&meta, "lost_marks", 0);
	put_number(&meta, "slept_ns", 0);
	put_number(&meta, "ended_ns", 0);
	put_number(&meta, "snapshot_aligned", 0);
	put_number(&meta, "complete", 0);
	sqlite3_finalize(meta.stmt);
	return meta.r;
}

static int put_check(sqlite3 *db)
{
	struct meta meta = { .db = db };
	int64_t check;

	meta.r = watt_check_compute(db, &check);
	if (meta.r == 0)
		meta.r = watt_sql_prepare(db, "INSERT INTO meta VALUES(?, ?)", &meta.stmt);
	if (meta.r == 0)
		put_number(&meta, "check", check);
	sqlite3_finalize(meta.stmt);
	return meta.r;
}

int watt_rows_put_head(sqlite3 *db, const struct watt_part_head *head)
{
	int r = put_meta(db, head);

	if (r == 0)
		r = watt_rows_put_channels(db, head->setup->channels, 0, head->setup->n_channels);
	if (r == 0)
		r = watt_rows_put_domains(db, head->domains, 0, head->n_domains);
	if (r == 0)
		r = put_slots(db, head->setup);
	if (r == 0)
		r = put_cpus(db, head->setup);
	return r < 0 ? r : put_check(db);
}
