/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording's tables look like. A released format never changes: another table or column
 * is another format.
 */
#include "record/schema.h"

const struct watt_table watt_recording_tables[] = {
	{ "meta", "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID" },
	{ "channels",
	  "CREATE TABLE channels(id INTEGER PRIMARY KEY, name TEXT, source TEXT, domain TEXT, "
	  "label TEXT, path TEXT, kind TEXT, quantity TEXT, semantics TEXT, origin TEXT, "
	  "flags INTEGER, package_id INTEGER, die_id INTEGER, core_id INTEGER, "
	  "read_group INTEGER, scale_num INTEGER, scale_den INTEGER, wrap_nj INTEGER, "
	  "idle_uw INTEGER, max_power_uw INTEGER, period_ns INTEGER, window_ns INTEGER, "
	  "delay_ns INTEGER, coverage_ppm INTEGER, uncertainty_ppm INTEGER)" },
	{ "domains",
	  "CREATE TABLE domains(id INTEGER PRIMARY KEY, path TEXT, name TEXT, kind TEXT, "
	  "origin TEXT, share_key TEXT, parent INTEGER, channel INTEGER, is_summed INTEGER, "
	  "is_partition INTEGER, package_id INTEGER, die_id INTEGER, core_id INTEGER, "
	  "uncertainty_ppm INTEGER)" },
	{ "slots",
	  "CREATE TABLE slots(slot INTEGER PRIMARY KEY, package_id INTEGER, die_id INTEGER, "
	  "core_id INTEGER)" },
	{ "cpus", "CREATE TABLE cpus(cpu INTEGER PRIMARY KEY, slot INTEGER, package_id INTEGER, "
		  "die_id INTEGER, core_id INTEGER)" },
	{ "entities", "CREATE TABLE entities(id INTEGER PRIMARY KEY, kind TEXT, name TEXT, "
		      "parent_id INTEGER, pid INTEGER, start_ns INTEGER, uid INTEGER, exe TEXT, "
		      "cmdline TEXT, cgroup TEXT, container TEXT, pod TEXT, unit TEXT, "
		      "first_ns INTEGER, last_ns INTEGER)" },
	{ "marks", "CREATE TABLE marks(id INTEGER PRIMARY KEY, t_ns INTEGER, realtime_ns INTEGER, "
		   "pid INTEGER, label TEXT)" },
	{ "windows", "CREATE TABLE windows(id INTEGER PRIMARY KEY, t0_ns INTEGER, t1_ns INTEGER, "
		     "realtime_ns INTEGER, phase TEXT)" },
	{ "energy", "CREATE TABLE energy(window INTEGER, entity INTEGER, domain INTEGER, "
		    "energy_nj INTEGER, PRIMARY KEY(window, entity, domain)) WITHOUT ROWID" },
	{ "sums", "CREATE TABLE sums(window INTEGER, entity INTEGER, domain INTEGER, "
		  "energy_nj INTEGER, PRIMARY KEY(window, entity, domain)) WITHOUT ROWID" },
	{ "cpu_time", "CREATE TABLE cpu_time(window INTEGER, entity INTEGER, cpu_ns INTEGER, "
		      "PRIMARY KEY(window, entity)) WITHOUT ROWID" },
	{ "losses", "CREATE TABLE losses(id INTEGER PRIMARY KEY, t0_ns INTEGER, t1_ns INTEGER, "
		    "samples INTEGER, usage_records INTEGER, why TEXT)" },
	{ "chunks", "CREATE TABLE chunks(id INTEGER PRIMARY KEY, t0_ns INTEGER, t1_ns INTEGER, "
		    "n_samples INTEGER, n_usage INTEGER, n_ops INTEGER, data BLOB)" },
	{ NULL, NULL },
};

/*
 * Energy of each entity over the domains that cover the machine once. By total(), which is as exact
 * as a double is: sum() fails beyond int64 nJ, which are 107 days of 1 kW.
 */
#define JOULES(table) \
	"(SELECT entity, total(energy_nj) AS nj FROM " table " WHERE domain IN " \
	"(SELECT id FROM domains WHERE is_partition) GROUP BY entity) j ON j.entity = e.id "
#define SECONDS \
	"(SELECT entity, total(cpu_ns) AS ns FROM cpu_time GROUP BY entity) s ON s.entity = e.id "
/* Entities of one kind that are sums of processes, those that are gone included. */
#define SUM_VIEW(kind) \
	"CREATE VIEW " kind "_joules AS SELECT e.name AS " kind ", j.nj / 1e9 AS joules, " \
	"s.ns / 1e9 AS cpu_seconds FROM entities e JOIN " JOULES("sums") "LEFT JOIN " SECONDS \
									 "WHERE e.kind = '" kind \
									 "' ORDER BY joules DESC"

const char *const watt_recording_views[] = {
	"CREATE INDEX chunks_time ON chunks(id, t0_ns, t1_ns, n_samples, n_usage)",
	"CREATE VIEW entity_joules AS SELECT e.id, e.kind, e.pid, e.name, j.nj / 1e9 AS joules, "
	"s.ns / 1e9 AS cpu_seconds, e.cmdline FROM entities e JOIN " JOULES(
		"energy") "LEFT JOIN " SECONDS "ORDER BY joules DESC",
	"CREATE VIEW process_joules AS SELECT pid, name, joules, cpu_seconds, cmdline "
	"FROM entity_joules WHERE kind IN ('process', 'kthread', 'vm')",
	SUM_VIEW("cgroup"),
	SUM_VIEW("container"),
	SUM_VIEW("pod"),
	SUM_VIEW("unit"),
	SUM_VIEW("user"),
	SUM_VIEW("tracked"),
	"CREATE VIEW domain_watts AS SELECT w.id AS window, w.t1_ns, w.realtime_ns, w.phase, "
	"d.path AS domain, total(e.energy_nj) / (w.t1_ns - w.t0_ns) AS watts, "
	"total(e.energy_nj) / 1e9 AS joules FROM energy e JOIN windows w ON w.id = e.window "
	"JOIN domains d ON d.id = e.domain GROUP BY w.id, d.id",
	"CREATE VIEW domain_joules AS SELECT d.path AS domain, d.is_summed, d.is_partition, "
	"total(e.energy_nj) / 1e9 AS joules FROM energy e JOIN domains d ON d.id = e.domain "
	"GROUP BY d.id",
	"CREATE VIEW phase_joules AS SELECT w.phase, d.path AS domain, "
	"total(e.energy_nj) / 1e9 AS joules, count(DISTINCT w.id) AS windows "
	"FROM energy e JOIN windows w ON w.id = e.window JOIN domains d ON d.id = e.domain "
	"GROUP BY w.phase, d.id",
	NULL,
};
