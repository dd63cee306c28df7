/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both meters know zones, which are domains of one kind on all packages together, and users by
 * labels of their own. A user's labels are ours under other names.
 */
#include "compat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor.h"
#include "xalloc.h"

#define UW_PER_W 1e6

struct rename {
	const char *ours, *theirs;
};

/* ---- domains and zones ---- */

static bool is_told(const struct monitor *monitor, size_t index)
{
	enum watt_domain_kind kind = monitor_domain(monitor, index)->kind;

	return monitor_has_counter(monitor, index) && kind != WATT_DOMAIN_GPU &&
	       kind != WATT_DOMAIN_RESIDUAL;
}

/* "package" of all packages; what is no part of a processor is called as it is. */
static const char *zone_of(const struct watt_domain *domain)
{
	switch (domain->kind) {
	case WATT_DOMAIN_PACKAGE:
	case WATT_DOMAIN_UNCORE:
	case WATT_DOMAIN_DRAM:
		return watt_domain_kind_name(domain->kind);
	case WATT_DOMAIN_CORES:
		return "core";
	default:
		return domain->name;
	}
}

/* Whether no domain before it is of its zone. */
static bool is_first_of_zone(const struct monitor *monitor, size_t index)
{
	const char *zone = zone_of(monitor_domain(monitor, index));
	size_t i;

	for (i = 0; i < index; i++)
		if (is_told(monitor, i) && strcmp(zone_of(monitor_domain(monitor, i)), zone) == 0)
			return false;
	return true;
}

static bool is_in_zone(const struct monitor *monitor, size_t index, size_t first)
{
	return is_told(monitor, index) && strcmp(zone_of(monitor_domain(monitor, index)),
						 zone_of(monitor_domain(monitor, first))) == 0;
}

static nanojoules zone_energy(const struct monitor *monitor, size_t first,
			      const struct roster_sum *sums)
{
	nanojoules sum_nj = 0;
	size_t i;

	for (i = first; i < monitor_domain_count(monitor); i++)
		if (is_in_zone(monitor, i, first))
			sum_nj += sums[ROSTER_DOMAIN(i)].out;
	return sum_nj;
}

/* NAN while one of them is not known. */
static double zone_power(const struct monitor *monitor, size_t first,
			 const struct roster_user *user)
{
	double sum_w = 0;
	size_t i;

	for (i = first; i < monitor_domain_count(monitor); i++)
		if (is_in_zone(monitor, i, first))
			sum_w += roster_user_power_w(user, i);
	return sum_w;
}

/* ---- labels ---- */

/* Of a captured machine nobody knows it. */
static void add_node(struct bytes *labels, const struct monitor *monitor)
{
	const char *host = watt_session_get_host(monitor->session);

	if (host)
		exposition_add_label(labels, "node_name", host);
}

static void copy_labels(struct bytes *labels, const struct roster_user *user,
			const struct rename *renames)
{
	for (; renames->ours; renames++)
		exposition_copy_label(labels, renames->theirs, user->labels, renames->ours);
}

/* Labels and one more; owned by the caller. */
static char *with_label(const char *labels, const char *name, const char *value)
{
	struct bytes more = { 0 };

	bytes_add_text(&more, labels);
	exposition_add_label(&more, name, value);
	return more.data;
}

/* ---- Kepler ---- */

static const struct kepler_level {
	enum level_kind kind;
	const char *name;
	struct rename renames[8];
} kepler_levels[] = {
	{ LEVEL_PROCESS,
	  "process",
	  { { "pid", "pid" },
	    { "comm", "comm" },
	    { "exe", "exe" },
	    { "container_id", "container_id" } } },
	{ LEVEL_CONTAINER,
	  "container",
	  { { "container_id", "container_id" },
	    { "container", "container_name" },
	    { "runtime", "runtime" },
	    { "pod_uid", "pod_id" } } },
	{ LEVEL_VM,
	  "vm",
	  { { "pid", "vm_id" }, { "vm", "vm_name" }, { "hypervisor", "hypervisor" } } },
	{ LEVEL_POD,
	  "pod",
	  { { "pod_uid", "pod_id" }, { "pod", "pod_name" }, { "namespace", "pod_namespace" } } },
};

static void begin_kepler(struct exposition *ex, const char *level, const char *what,
			 enum exposition_type type, const char *unit, const char *help)
{
	/* The family keeps its name until the next one begins. */
	static __thread char name[96];

	snprintf(name, sizeof(name), "kepler_%s_cpu_%s", level, what);
	exposition_family(ex, &(struct exposition_family){ name, type, unit, help });
}

static char *kepler_user_labels(const struct monitor *monitor, const struct kepler_level *level,
				const struct roster_user *user, bool has_state)
{
	struct bytes labels = { 0 };

	copy_labels(&labels, user, level->renames);
	if (level->kind == LEVEL_PROCESS) {
		bool has_container = exposition_has_label(user->labels, "container_id");

		exposition_add_label(&labels, "type", has_container ? "container" : "regular");
	}
	/* Who has ended keeps its series for a while, and another one would count it twice. */
	if (has_state)
		exposition_add_label(&labels, "state", "running");
	add_node(&labels, monitor);
	return labels.data;
}

/* One sample for each zone: energy by sums, or else the power of a user. */
static void write_kepler_zones(struct exposition *ex, const struct monitor *monitor,
			       const char *labels, const struct roster_sum *sums,
			       const struct roster_user *user)
{
	size_t i;

	for (i = 0; i < monitor_domain_count(monitor); i++) {
		auto_free char *all = NULL;

		if (!is_told(monitor, i) || !is_first_of_zone(monitor, i))
			continue;
		all = with_label(labels, "zone", zone_of(monitor_domain(monitor, i)));
		if (sums)
			exposition_energy(ex, all, NULL, zone_energy(monitor, i, sums));
		else
			exposition_number(ex, all, NULL, zone_power(monitor, i, user));
	}
}

/* All that is not told of by name, so that processes are the whole of what is active. */
static char *kepler_other_labels(const struct monitor *monitor, const struct kepler_level *level)
{
	struct bytes labels = { 0 };

	exposition_add_label(
		&labels, level->kind == LEVEL_PROCESS ? "comm" : level->renames[1].theirs, "other");
	exposition_add_label(&labels, "state", "running");
	add_node(&labels, monitor);
	return labels.data;
}

static void write_kepler_level(struct exposition *ex, const struct monitor *monitor,
			       const struct kepler_level *level)
{
	const struct roster_level *members = &monitor->roster.levels[level->kind];
	auto_free char *other = kepler_other_labels(monitor, level);
	size_t i;

	begin_kepler(ex, level->name, "joules", EXPOSITION_COUNTER, "joules",
		     "Active energy, by zone.");
	for (i = 0; i < members->n_users; i++) {
		auto_free char *labels =
			kepler_user_labels(monitor, level, members->users[i], true);

		write_kepler_zones(ex, monitor, labels, members->users[i]->sums, NULL);
	}
	write_kepler_zones(ex, monitor, other, members->other, NULL);
	begin_kepler(ex, level->name, "watts", EXPOSITION_GAUGE, "watts", "Active power, by zone.");
	for (i = 0; i < members->n_users; i++) {
		auto_free char *labels =
			kepler_user_labels(monitor, level, members->users[i], true);

		if (!members->users[i]->leaving_ns)
			write_kepler_zones(ex, monitor, labels, NULL, members->users[i]);
	}
	if (level->kind != LEVEL_PROCESS && level->kind != LEVEL_CONTAINER)
		return;
	begin_kepler(ex, level->name, "seconds", EXPOSITION_COUNTER, "seconds", "CPU time.");
	for (i = 0; i < members->n_users; i++) {
		auto_free char *labels =
			kepler_user_labels(monitor, level, members->users[i], false);

		exposition_energy(ex, labels, NULL, members->users[i]->sums[ROSTER_CPU].out);
	}
}

enum kepler_part {
	PART_WHOLE,
	PART_ACTIVE,
	PART_IDLE,
	PART_N
};

static void add_kepler_domain(struct bytes *labels, const struct monitor *monitor, size_t index)
{
	const struct watt_domain *domain = monitor_domain(monitor, index);

	exposition_add_label(labels, "zone", zone_of(domain));
	exposition_add_label(labels, "path", domain->path);
	add_node(labels, monitor);
}

static void write_kepler_node_joules(struct exposition *ex, const struct monitor *monitor,
				     enum kepler_part part)
{
	static const char *const names[] = { "joules", "active_joules", "idle_joules" };
	const struct roster *roster = &monitor->roster;
	size_t i;

	begin_kepler(ex, "node", names[part], EXPOSITION_COUNTER, "joules",
		     "Energy of the node, by zone.");
	for (i = 0; i < monitor_domain_count(monitor); i++) {
		nanojoules whole_nj = roster->whole[ROSTER_DOMAIN(i)].out;
		nanojoules idle_nj = roster->idle[ROSTER_DOMAIN(i)].out;
		struct bytes labels = { 0 };

		if (!is_told(monitor, i))
			continue;
		add_kepler_domain(&labels, monitor, i);
		exposition_energy(ex, labels.data, NULL,
				  part == PART_WHOLE  ? whole_nj :
				  part == PART_ACTIVE ? whole_nj - idle_nj :
							idle_nj);
		bytes_done(&labels);
	}
}

static void write_kepler_node_watts(struct exposition *ex, const struct monitor *monitor)
{
	size_t i;

	begin_kepler(ex, "node", "watts", EXPOSITION_GAUGE, "watts", "Power of the node, by zone.");
	for (i = 0; i < monitor_domain_count(monitor); i++) {
		struct bytes labels = { 0 };

		if (!is_told(monitor, i))
			continue;
		add_kepler_domain(&labels, monitor, i);
		exposition_number(ex, labels.data, NULL, monitor_power_w(monitor, i));
		bytes_done(&labels);
	}
}

void compat_write_kepler(struct exposition *ex, const struct monitor *monitor)
{
	size_t i;
	int part;

	for (part = 0; part < PART_N; part++)
		write_kepler_node_joules(ex, monitor, (enum kepler_part)part);
	write_kepler_node_watts(ex, monitor);
	for (i = 0; i < ARRAY_SIZE(kepler_levels); i++)
		if (monitor->roster.opts.levels & 1u << kepler_levels[i].kind)
			write_kepler_level(ex, monitor, &kepler_levels[i]);
}

/* ---- Scaphandre ---- */

static void begin_scaphandre(struct exposition *ex, const char *name, const char *help)
{
	exposition_family(ex, &(struct exposition_family){ name, EXPOSITION_GAUGE, NULL, help });
}

static void write_sockets(struct exposition *ex, const struct monitor *monitor)
{
	char socket[16];
	size_t i;

	begin_scaphandre(ex, "scaph_socket_power_microwatts", "Power of a processor.");
	for (i = 0; i < monitor_domain_count(monitor); i++) {
		const struct watt_domain *domain = monitor_domain(monitor, i);
		struct bytes labels = { 0 };

		if (domain->kind != WATT_DOMAIN_PACKAGE)
			continue;
		snprintf(socket, sizeof(socket), "%" PRId32, domain->package_id);
		exposition_add_label(&labels, "socket_id", socket);
		exposition_number(ex, labels.data, NULL,
				  round(monitor_power_w(monitor, i) * UW_PER_W));
		bytes_done(&labels);
	}
}

static void write_parts(struct exposition *ex, const struct monitor *monitor)
{
	char socket[16];
	size_t i;

	begin_scaphandre(ex, "scaph_domain_power_microwatts", "Power of a part of a processor.");
	for (i = 0; i < monitor_domain_count(monitor); i++) {
		const struct watt_domain *domain = monitor_domain(monitor, i);
		struct bytes labels = { 0 };

		if (domain->kind != WATT_DOMAIN_CORES && domain->kind != WATT_DOMAIN_UNCORE &&
		    domain->kind != WATT_DOMAIN_DRAM)
			continue;
		snprintf(socket, sizeof(socket), "%" PRId32, domain->package_id);
		exposition_add_label(&labels, "domain_name", zone_of(domain));
		exposition_add_label(&labels, "socket_id", socket);
		exposition_number(ex, labels.data, NULL,
				  round(monitor_power_w(monitor, i) * UW_PER_W));
		bytes_done(&labels);
	}
}

static void write_processes(struct exposition *ex, const struct monitor *monitor)
{
	static const struct rename renames[] = {
		{ "pid", "pid" }, { "comm", "comm" },
		{ "exe", "exe" }, { "container_id", "container_id" },
		{ NULL, NULL },
	};
	const struct roster_level *level = &monitor->roster.levels[LEVEL_PROCESS];
	size_t i;

	begin_scaphandre(ex, "scaph_process_power_consumption_microwatts",
			 "Active power of a process.");
	for (i = 0; i < level->n_users; i++) {
		struct bytes labels = { 0 };

		if (level->users[i]->leaving_ns)
			continue;
		copy_labels(&labels, level->users[i], renames);
		exposition_number(ex, labels.data, NULL,
				  round(level->users[i]->power_w * UW_PER_W));
		bytes_done(&labels);
	}
}

void compat_write_scaphandre(struct exposition *ex, const struct monitor *monitor)
{
	begin_scaphandre(ex, "scaph_host_power_microwatts", "Power of the machine.");
	exposition_number(ex, NULL, NULL, round(monitor->total.power_w * UW_PER_W));
	begin_scaphandre(ex, "scaph_host_energy_microjoules", "Energy of the machine so far.");
	if (monitor->total.n_known)
		exposition_count(ex, NULL, (uint64_t)(monitor->roster.machine_nj / 1000));
	write_sockets(ex, monitor);
	write_parts(ex, monitor);
	if (monitor->roster.opts.levels & 1u << LEVEL_PROCESS)
		write_processes(ex, monitor);
}
