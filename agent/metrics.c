/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics, family by family, from what the monitor knows. What is not known is left out: a
 * domain that has not said anything yet has no series, not one that is 0.
 */
#include "compat.h"
#include "context.h"
#include "monitor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "xalloc.h"

static void begin(struct exposition *ex, const char *name, enum exposition_type type,
		  const char *unit, const char *help)
{
	exposition_family(ex, &(struct exposition_family){ name, type, unit, help });
}

static void counter(struct exposition *ex, const char *name, const char *unit, const char *help)
{
	begin(ex, name, EXPOSITION_COUNTER, unit, help);
}

static void gauge(struct exposition *ex, const char *name, const char *unit, const char *help)
{
	begin(ex, name, EXPOSITION_GAUGE, unit, help);
}

/* When the counter of the sample before began; 0: with the session. */
static void created(struct exposition *ex, const struct monitor *monitor, const char *labels,
		    const char *domain, uint64_t created_ns)
{
	if (monitor->has_created)
		exposition_created(ex, labels, domain,
				   created_ns ? created_ns :
						monitor->roster.created_ns[ROSTER_CPU]);
}

static void created_domain(struct exposition *ex, const struct monitor *monitor, size_t index)
{
	created(ex, monitor, NULL, monitor_domain(monitor, index)->path,
		monitor->roster.created_ns[ROSTER_DOMAIN(index)]);
}

static void count(struct exposition *ex, const struct monitor *monitor, const char *name,
		  uint64_t value, const char *help)
{
	counter(ex, name, NULL, help);
	exposition_count(ex, NULL, value);
	created(ex, monitor, NULL, NULL, 0);
}

static void seconds(struct exposition *ex, const struct monitor *monitor, const char *name,
		    uint64_t value_ns, const char *help)
{
	counter(ex, name, "seconds", help);
	exposition_time(ex, NULL, value_ns);
	created(ex, monitor, NULL, NULL, 0);
}

/* ---- domains ---- */

static void write_domain_counter(struct exposition *ex, const struct monitor *monitor,
				 const char *name, const char *help, const struct roster_sum *sums)
{
	size_t i;

	counter(ex, name, "joules", help);
	for (i = 0; i < monitor_domain_count(monitor); i++) {
		const char *path = monitor_domain(monitor, i)->path;
		size_t column = ROSTER_DOMAIN(i);

		if (!monitor_has_counter(monitor, i))
			continue;
		exposition_energy(ex, NULL, path, sums[column].out);
		created(ex, monitor, NULL, path, monitor->roster.created_ns[column]);
	}
}

/* The process that takes most of a domain in the newest window; NULL: none takes anything. */
static const struct roster_user *find_greatest(const struct monitor *monitor, size_t domain)
{
	const struct roster_level *level = &monitor->roster.levels[LEVEL_PROCESS];
	const struct roster_user *greatest = NULL;
	double greatest_w = 0;
	size_t i;

	for (i = 0; i < level->n_users; i++) {
		double power_w = roster_user_power_w(level->users[i], domain);

		if (level->users[i]->leaving_ns || !(power_w > greatest_w))
			continue;
		greatest = level->users[i];
		greatest_w = power_w;
	}
	return greatest;
}

/* Whose energy it is most of all, as an example: what that process took in the newest window. */
static void write_exemplar(struct exposition *ex, const struct monitor *monitor, size_t domain)
{
	const struct roster_user *user;
	struct bytes labels = { 0 };

	if (ex->format != EXPOSITION_OPENMETRICS)
		return;
	user = find_greatest(monitor, domain);
	if (!user)
		return;
	exposition_copy_label(&labels, "pid", user->labels, "pid");
	exposition_copy_label(&labels, "comm", user->labels, "comm");
	if (labels.n)
		exposition_exemplar(ex, labels.data,
				    roster_user_power_w(user, domain) *
					    (double)monitor_state(monitor, domain)->window_ns / 1e9,
				    monitor->realtime_ns);
	bytes_done(&labels);
}

/* Above idle: what somebody used, and what has no owner. */
static void write_domain_dynamic(struct exposition *ex, const struct monitor *monitor)
{
	const struct roster *roster = &monitor->roster;
	size_t i;

	counter(ex, "wattribute_node_dynamic_joules", "joules", "Of it, what is above idle.");
	for (i = 0; i < monitor_domain_count(monitor); i++) {
		size_t column = ROSTER_DOMAIN(i);

		if (!monitor_has_counter(monitor, i))
			continue;
		exposition_energy(ex, NULL, monitor_domain(monitor, i)->path,
				  roster->whole[column].out - roster->idle[column].out);
		write_exemplar(ex, monitor, i);
		created_domain(ex, monitor, i);
	}
}

static void write_domain_energies(struct exposition *ex, const struct monitor *monitor)
{
	const struct roster *roster = &monitor->roster;
	size_t i;

	write_domain_counter(ex, monitor, "wattribute_node_joules", "Energy that the domain took.",
			     roster->whole);
	write_domain_counter(ex, monitor, "wattribute_node_idle_joules",
			     "Of it, what the domain takes when nothing runs.", roster->idle);
	write_domain_dynamic(ex, monitor);
	write_domain_counter(ex, monitor, "wattribute_node_unattributed_joules",
			     "Of the dynamic energy, what has no honest owner.",
			     roster->unattributed);
	gauge(ex, "wattribute_node_net_joules", "joules",
	      "Energy of domains that also give energy back, as a battery.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (!monitor_is_counter(monitor, i) && monitor_state(monitor, i)->samples) {
			struct watt_energy net = monitor_state(monitor, i)->energy;

			exposition_energy(ex, NULL, monitor_domain(monitor, i)->path,
					  (nanojoules)net.j * 1000000000 + net.nj);
		}
	counter(ex, "wattribute_machine_joules", "joules",
		"Energy of the machine: the sum over the domains that cover it exactly once.");
	if (!monitor->total.n_known)
		return;
	exposition_energy(ex, NULL, NULL, roster->machine_nj);
	created(ex, monitor, NULL, NULL, 0);
}

static void write_domain_powers(struct exposition *ex, const struct monitor *monitor)
{
	size_t i;

	gauge(ex, "wattribute_node_watts", "watts", "Mean power in the newest window.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
				  monitor_power_w(monitor, i));
	gauge(ex, "wattribute_node_idle_watts", "watts",
	      "Power that the domain takes when nothing runs, once it is known.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (monitor_state(monitor, i)->baseline_ready)
			exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
					  (double)monitor_state(monitor, i)->baseline_uw / 1e6);
	gauge(ex, "wattribute_node_idle_uncertainty_watts", "watts",
	      "Standard uncertainty of idle power; while it is not known, of taking it for nothing.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (!isnan(monitor_idle_uncertainty_w(monitor, i)))
			exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
					  monitor_idle_uncertainty_w(monitor, i));
	gauge(ex, "wattribute_machine_watts", "watts",
	      "Mean power of the machine in the newest window, of those domains that tell.");
	exposition_number(ex, NULL, NULL, monitor->total.power_w);
	if (monitor->supplies.has_outside) {
		gauge(ex, "wattribute_machine_outside_watts", "watts",
		      "Mean power of the whole machine by its supplies, of which the sum is a part.");
		exposition_number(ex, NULL, NULL, monitor->supplies.outside_w);
	}
	gauge(ex, "wattribute_machine_missing_domains", NULL,
	      "Domains of the machine that can't be read: their energy is in no sum.");
	exposition_count(ex, NULL, monitor->total.n_missing);
}

static void write_domain_infos(struct exposition *ex, const struct monitor *monitor)
{
	size_t i;

	begin(ex, "wattribute_domain", EXPOSITION_INFO, NULL,
	      "How the domain's energy is known (origin) and shared (method), and where it is.");
	for (i = 0; i < monitor_domain_count(monitor); i++) {
		const struct watt_domain *domain = monitor_domain(monitor, i);
		struct bytes labels = { 0 };

		exposition_add_label(&labels, "kind", watt_domain_kind_name(domain->kind));
		exposition_add_label(&labels, "origin", watt_origin_name(domain->origin));
		exposition_add_label(&labels, "method",
				     watt_share_key_name(monitor_state(monitor, i)->key));
		exposition_add_label(&labels, "status",
				     watt_status_name(monitor_state(monitor, i)->status));
		if (domain->parent >= 0)
			exposition_add_label(&labels, "parent",
					     monitor_domain(monitor, (size_t)domain->parent)->path);
		exposition_add_label(&labels, "summed", domain->is_summed ? "true" : "false");
		exposition_add_label(&labels, "partition", domain->is_partition ? "true" : "false");
		exposition_number(ex, labels.data, domain->path, 1);
		bytes_done(&labels);
	}
}

/* Counts that a domain has, and shares of a million. */
static const struct {
	const char *name, *help;
	size_t offset;
} domain_counts[] = {
	{ "wattribute_domain_samples", "Readings with a value.",
	  offsetof(struct watt_domain_state, samples) },
	{ "wattribute_domain_sample_errors", "Readings without a value.",
	  offsetof(struct watt_domain_state, errors) },
	{ "wattribute_domain_wraps", "Times that the sensor's counter began again.",
	  offsetof(struct watt_domain_state, wraps) },
	{ "wattribute_domain_resets", "Times that the sensor was set back.",
	  offsetof(struct watt_domain_state, resets) },
	{ "wattribute_domain_gaps", "Times without data for longer than allowed.",
	  offsetof(struct watt_domain_state, gaps) },
	{ "wattribute_domain_ambiguous_readings",
	  "Readings so far apart that the counter may have begun again unseen.",
	  offsetof(struct watt_domain_state, ambiguous) },
};

/* Of each residual: how long something was wrong with it. */
static void write_residual_times(struct exposition *ex, const struct monitor *monitor,
				 const char *name, const char *help, size_t offset)
{
	size_t i;

	counter(ex, name, "seconds", help);
	for (i = 0; i < monitor_domain_count(monitor); i++) {
		const char *state = (const char *)monitor_state(monitor, i);
		uint64_t t_ns;

		if (monitor_domain(monitor, i)->kind != WATT_DOMAIN_RESIDUAL)
			continue;
		memcpy(&t_ns, state + offset, sizeof(t_ns));
		exposition_energy(ex, NULL, monitor_domain(monitor, i)->path, t_ns);
		created_domain(ex, monitor, i);
	}
}

static void write_domain_counts(struct exposition *ex, const struct monitor *monitor)
{
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(domain_counts); k++) {
		counter(ex, domain_counts[k].name, NULL, domain_counts[k].help);
		for (i = 0; i < monitor_domain_count(monitor); i++) {
			const char *state = (const char *)monitor_state(monitor, i);
			uint64_t value;

			memcpy(&value, state + domain_counts[k].offset, sizeof(value));
			exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
					  (double)value);
			created_domain(ex, monitor, i);
		}
	}
	counter(ex, "wattribute_domain_gap_seconds", "seconds",
		"Time for which no energy is known.");
	for (i = 0; i < monitor_domain_count(monitor); i++) {
		exposition_energy(ex, NULL, monitor_domain(monitor, i)->path,
				  monitor_state(monitor, i)->gap_ns);
		created_domain(ex, monitor, i);
	}
	write_residual_times(ex, monitor, "wattribute_domain_clamped_seconds",
			     "Time for which the parts exceeded the total, and it was cut at 0.",
			     offsetof(struct watt_domain_state, clamped_ns));
	write_residual_times(ex, monitor, "wattribute_domain_transient_seconds",
			     "Time for which the parts changed faster than the total can show.",
			     offsetof(struct watt_domain_state, transient_ns));
	counter(ex, "wattribute_domain_late_joules", "joules",
		"Energy told too late to be attributed; it is in unattributed.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (monitor_has_counter(monitor, i)) {
			exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
					  watt_energy_to_j(monitor_state(monitor, i)->late));
			created_domain(ex, monitor, i);
		}
}

static void write_domain_trust(struct exposition *ex, const struct monitor *monitor)
{
	size_t i;

	gauge(ex, "wattribute_domain_up", NULL, "1: the domain has a value now.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
				  monitor_state(monitor, i)->status == WATT_STATUS_OK);
	gauge(ex, "wattribute_domain_usable", NULL,
	      "Of a residual, 0: the parts exceed the total, and its energy means nothing.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (monitor_domain(monitor, i)->kind == WATT_DOMAIN_RESIDUAL)
			exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
					  monitor_state(monitor, i)->is_usable);
	gauge(ex, "wattribute_domain_uncertainty_ratio", "ratio",
	      "Standard uncertainty of the domain's energy, where it is known.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (monitor_domain(monitor, i)->uncertainty_ppm)
			exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
					  monitor_domain(monitor, i)->uncertainty_ppm / 1e6);
	gauge(ex, "wattribute_domain_delay_seconds", "seconds",
	      "How old the sensor's values are, as it was found where nobody tells it.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (monitor_state(monitor, i)->found_delay_uncertainty_ns)
			exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
					  (double)monitor_state(monitor, i)->found_delay_ns / 1e9);
	gauge(ex, "wattribute_domain_delay_uncertainty_seconds", "seconds",
	      "Standard uncertainty of that.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (monitor_state(monitor, i)->found_delay_uncertainty_ns)
			exposition_number(
				ex, NULL, monitor_domain(monitor, i)->path,
				(double)monitor_state(monitor, i)->found_delay_uncertainty_ns /
					1e9);
	gauge(ex, "wattribute_domain_share_significance", NULL,
	      "Where nobody knows whether programs cause it: t value of that; from 5 on they get it.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (!isnan(monitor_state(monitor, i)->significance_t))
			exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
					  monitor_state(monitor, i)->significance_t);
	gauge(ex, "wattribute_domain_share_uncertainty_ratio", "ratio",
	      "Standard uncertainty of how the energy is shared, where it is known.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (monitor_state(monitor, i)->key_uncertainty_ppm)
			exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
					  monitor_state(monitor, i)->key_uncertainty_ppm / 1e6);
	gauge(ex, "wattribute_domain_share_readiness_ratio", "ratio",
	      "How ready the domain's own way of sharing is; below 1 another one steps in.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		exposition_number(ex, NULL, monitor_domain(monitor, i)->path,
				  monitor_state(monitor, i)->key_readiness_ppm / 1e6);
}

/* ---- sources and sensors ---- */

/* What is not there is told of by nobody; what is on its way has no sensors yet. */
static void write_sources(struct exposition *ex, const struct monitor *monitor)
{
	size_t i;

	begin(ex, "wattribute_source", EXPOSITION_INFO, NULL,
	      "A source of power and how it does: one that opens late is pending until then.");
	for (i = 0; i < monitor->n_sources; i++) {
		const struct monitor_source *source = &monitor->sources[i];
		auto_free char *labels = xasprintf("source=\"%s\",status=\"%s\"", source->name,
						   watt_status_name(source->status));

		if (source->status != WATT_STATUS_ABSENT)
			exposition_count(ex, labels, 1);
	}
	gauge(ex, "wattribute_source_up", NULL,
	      "1: the source is open. 0: it is on its way, hangs, or can't be opened.");
	for (i = 0; i < monitor->n_sources; i++) {
		const struct monitor_source *source = &monitor->sources[i];
		auto_free char *labels = xasprintf("source=\"%s\"", source->name);

		if (source->status != WATT_STATUS_ABSENT)
			exposition_count(ex, labels, source->status == WATT_STATUS_OK);
	}
}

static char *sensor_labels(const struct monitor *monitor, const struct monitor_sensor *sensor,
			   bool is_info)
{
	struct bytes labels = { 0 };

	exposition_add_label(&labels, "sensor", sensor->channel->name);
	if (is_info) {
		exposition_add_label(&labels, "source", sensor->channel->source);
		exposition_add_label(&labels, "origin", watt_origin_name(sensor->channel->origin));
		exposition_add_label(&labels, "status", watt_status_name(sensor->status));
		exposition_add_label(&labels, "quantity",
				     watt_quantity_name(sensor->channel->quantity));
		exposition_add_label(&labels, "used", sensor->is_duplicate ? "false" : "true");
		if (sensor->domain >= 0 && (size_t)sensor->domain < monitor_domain_count(monitor))
			exposition_add_label(&labels, "domain",
					     monitor_domain(monitor, (size_t)sensor->domain)->path);
	}
	return labels.data;
}

static const struct {
	const char *name, *help;
	size_t offset;
} sensor_counts[] = {
	{ "wattribute_sensor_reads", "Readings of the sensor.",
	  offsetof(struct watt_reader_stats, reads) },
	{ "wattribute_sensor_read_errors", "Readings that gave no value.",
	  offsetof(struct watt_reader_stats, errors) },
	{ "wattribute_sensor_missed_reads", "Readings skipped because their time had passed.",
	  offsetof(struct watt_reader_stats, missed) },
	{ "wattribute_sensor_lost_samples", "Readings that nobody fetched.",
	  offsetof(struct watt_reader_stats, lost) },
};

static void write_sensor_states(struct exposition *ex, const struct monitor *monitor)
{
	size_t i;

	begin(ex, "wattribute_sensor", EXPOSITION_INFO, NULL, "What the sensor is.");
	for (i = 0; i < monitor->n_sensors; i++) {
		auto_free char *labels = sensor_labels(monitor, &monitor->sensors[i], true);

		exposition_count(ex, labels, 1);
	}
	gauge(ex, "wattribute_sensor_up", NULL, "1: its newest reading has a value.");
	for (i = 0; i < monitor->n_sensors; i++) {
		auto_free char *labels = sensor_labels(monitor, &monitor->sensors[i], false);

		exposition_count(ex, labels, monitor->sensors[i].status == WATT_STATUS_OK);
	}
	gauge(ex, "wattribute_sensor_age_seconds", "seconds", "Age of its newest reading.");
	for (i = 0; i < monitor->n_sensors; i++) {
		auto_free char *labels = sensor_labels(monitor, &monitor->sensors[i], false);

		if (monitor->sensors[i].has_sample)
			exposition_time(ex, labels, monitor->sensors[i].age_ns);
	}
}

/* One that came while the session ran began with its domain. */
static uint64_t sensor_created_ns(const struct monitor *monitor,
				  const struct monitor_sensor *sensor)
{
	bool has_domain = sensor->domain >= 0 &&
			  (size_t)sensor->domain < monitor_domain_count(monitor);

	return has_domain ? monitor->roster.created_ns[ROSTER_DOMAIN(sensor->domain)] : 0;
}

static void write_sensors(struct exposition *ex, const struct monitor *monitor)
{
	size_t i, k;

	write_sensor_states(ex, monitor);
	for (k = 0; k < ARRAY_SIZE(sensor_counts); k++) {
		counter(ex, sensor_counts[k].name, NULL, sensor_counts[k].help);
		for (i = 0; i < monitor->n_sensors; i++) {
			const struct monitor_sensor *sensor = &monitor->sensors[i];
			auto_free char *labels = sensor_labels(monitor, sensor, false);
			uint64_t value;

			memcpy(&value, (const char *)&sensor->stats + sensor_counts[k].offset,
			       sizeof(value));
			if (!sensor->has_stats)
				continue;
			exposition_count(ex, labels, value);
			created(ex, monitor, labels, NULL, sensor_created_ns(monitor, sensor));
		}
	}
}

/* What the machine was like. */
static void write_context(struct exposition *ex, const struct monitor *monitor)
{
	const struct context_names *names;
	size_t i;

	for (names = context_names; names->name; names++) {
		gauge(ex, names->name, names->unit, names->help);
		for (i = 0; i < watt_snapshot_get_gauge_count(monitor->snap); i++) {
			const struct watt_gauge *one = watt_snapshot_get_gauge(monitor->snap, i);
			struct bytes labels = { 0 };

			if (one->quantity != names->quantity)
				continue;
			exposition_add_label(&labels, "sensor", one->name);
			exposition_number(ex, labels.data, NULL, watt_gauge_get_now(one));
			bytes_done(&labels);
		}
	}
}

/* What each CPU did, to the ns. */
static void write_cpus(struct exposition *ex, const struct monitor *monitor)
{
	static const struct {
		const char *name, *help;
		bool is_busy;
	} families[] = {
		{ "wattribute_cpu_busy_seconds", "Time in which the CPU worked, or was stolen.",
		  true },
		{ "wattribute_cpu_online_seconds", "Time in which the CPU was online.", false },
	};
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(families); k++) {
		counter(ex, families[k].name, "seconds", families[k].help);
		for (i = 0; i < watt_snapshot_get_cpu_count(monitor->snap); i++) {
			const struct watt_cpu_state *cpu = watt_snapshot_get_cpu(monitor->snap, i);
			auto_free char *labels = xasprintf("cpu=\"%u\"", cpu->cpu);
			uint64_t busy_ns = cpu->user_ns + cpu->system_ns + cpu->irq_ns +
					   cpu->softirq_ns + cpu->steal_ns;

			exposition_time(ex, labels, families[k].is_busy ? busy_ns : cpu->wall_ns);
			created(ex, monitor, labels, NULL, 0);
		}
	}
}

/* ---- levels ---- */

static void write_sums(struct exposition *ex, const struct monitor *monitor, const char *labels,
		       const struct roster_sum *sums, uint64_t created_ns)
{
	size_t i;

	for (i = 0; i < monitor_domain_count(monitor); i++) {
		const char *path = monitor_domain(monitor, i)->path;

		if (!monitor_is_in_levels(monitor, i))
			continue;
		exposition_energy(ex, labels, path, sums[ROSTER_DOMAIN(i)].out);
		created(ex, monitor, labels, path,
			created_ns ? created_ns : monitor->roster.created_ns[ROSTER_DOMAIN(i)]);
	}
}

static void write_level_energy(struct exposition *ex, const struct monitor *monitor,
			       enum level_kind kind)
{
	const struct roster_level *level = &monitor->roster.levels[kind];
	auto_free char *name = xasprintf("wattribute_%s_joules", level_name(kind));
	auto_free char *ended = xasprintf("wattribute_%s_ended_joules", level_name(kind));
	size_t i;

	counter(ex, name, "joules",
		"Energy by user. Its sum with that of who has ended is the domain's.");
	for (i = 0; i < level->n_users; i++)
		write_sums(ex, monitor, level->users[i]->labels, level->users[i]->sums,
			   level->users[i]->created_ns);
	write_sums(ex, monitor, "kind=\"other\"", level->other, 0);
	write_sums(ex, monitor, "kind=\"idle\"", monitor->roster.idle, 0);
	write_sums(ex, monitor, "kind=\"unattributed\"", monitor->roster.unattributed, 0);
	gauge(ex, ended, "joules",
	      "Energy of those that are not told of any more. No part of a rate: it was told of.");
	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (monitor_is_in_levels(monitor, i))
			exposition_energy(ex, NULL, monitor_domain(monitor, i)->path,
					  level->ended[ROSTER_DOMAIN(i)].out);
}

static void write_level_rest(struct exposition *ex, const struct monitor *monitor,
			     enum level_kind kind)
{
	const struct roster_level *level = &monitor->roster.levels[kind];
	auto_free char *cpu = xasprintf("wattribute_%s_cpu_seconds", level_name(kind));
	auto_free char *ended = xasprintf("wattribute_%s_ended_cpu_seconds", level_name(kind));
	auto_free char *watts = xasprintf("wattribute_%s_watts", level_name(kind));
	auto_free char *unsure =
		xasprintf("wattribute_%s_share_uncertainty_watts", level_name(kind));
	size_t i;

	counter(ex, cpu, "seconds", "CPU time by user.");
	for (i = 0; i < level->n_users; i++) {
		const struct roster_user *user = level->users[i];

		exposition_energy(ex, user->labels, NULL, user->sums[ROSTER_CPU].out);
		created(ex, monitor, user->labels, NULL, user->created_ns);
	}
	exposition_energy(ex, "kind=\"other\"", NULL, level->other[ROSTER_CPU].out);
	created(ex, monitor, "kind=\"other\"", NULL, 0);
	gauge(ex, ended, "seconds", "CPU time of those that are not told of any more.");
	exposition_energy(ex, NULL, NULL, level->ended[ROSTER_CPU].out);
	gauge(ex, watts, "watts",
	      "Mean power by user in the newest window, over domains that don't overlap.");
	for (i = 0; i < level->n_users; i++)
		if (!level->users[i]->leaving_ns)
			exposition_number(ex, level->users[i]->labels, NULL,
					  level->users[i]->power_w);
	gauge(ex, unsure, "watts",
	      "Standard uncertainty of that as to who used it, where it is known.");
	for (i = 0; i < level->n_users; i++)
		if (!level->users[i]->leaving_ns)
			exposition_number(ex, level->users[i]->labels, NULL,
					  level->users[i]->uncertainty_w);
}

static bool has_level(const struct monitor *monitor, int kind)
{
	return monitor->roster.opts.levels & 1u << kind;
}

static void write_level_counts(struct exposition *ex, const struct monitor *monitor)
{
	int kind;

	gauge(ex, "wattribute_level_members", NULL, "Users told of by name, those that ended too.");
	for (kind = 0; kind < LEVEL_N; kind++) {
		auto_free char *labels =
			xasprintf("level=\"%s\"", level_name((enum level_kind)kind));

		if (has_level(monitor, kind))
			exposition_count(ex, labels, monitor->roster.levels[kind].n_users);
	}
	counter(ex, "wattribute_level_retired", NULL, "Users that are not told of any more.");
	for (kind = 0; kind < LEVEL_N; kind++) {
		auto_free char *labels =
			xasprintf("level=\"%s\"", level_name((enum level_kind)kind));

		if (!has_level(monitor, kind))
			continue;
		exposition_count(ex, labels, monitor->roster.levels[kind].n_retired);
		created(ex, monitor, labels, NULL, 0);
	}
}

static void write_levels(struct exposition *ex, const struct monitor *monitor)
{
	int kind;

	for (kind = 0; kind < LEVEL_N; kind++) {
		if (!has_level(monitor, kind))
			continue;
		write_level_energy(ex, monitor, (enum level_kind)kind);
		write_level_rest(ex, monitor, (enum level_kind)kind);
	}
	write_level_counts(ex, monitor);
}

/* ---- how well it is measured ---- */

static void write_quality(struct exposition *ex, const struct monitor *monitor)
{
	const struct watt_quality *quality = watt_snapshot_get_quality(monitor->snap);

	count(ex, monitor, "wattribute_conservation_checks", quality->checks + quality->sum_checks,
	      "Checks made that all parts add up to the whole, to the nJ.");
	count(ex, monitor, "wattribute_conservation_errors",
	      quality->check_failures + quality->sum_failures + monitor->unbalanced,
	      "Checks that failed: anything but 0 is a bug of this program.");
	count(ex, monitor, "wattribute_held_windows", monitor->roster.n_held,
	      "Windows of domains held back until nothing in them goes backwards.");
	count(ex, monitor, "wattribute_lost_usage_records", quality->lost_records,
	      "Records of who ran that were lost.");
	count(ex, monitor, "wattribute_damaged_usage_records", quality->damaged_records,
	      "Records of who ran that can't be true, and were left out.");
	seconds(ex, monitor, "wattribute_unseen_cpu_seconds", quality->unseen_cpu_ns,
		"CPU time of tasks that nobody saw, estimated; its energy is unattributed.");
	seconds(ex, monitor, "wattribute_late_cpu_seconds", quality->late_cpu_ns,
		"CPU time that was told too late to be given energy.");
	count(ex, monitor, "wattribute_missed_reads", quality->missed_reads,
	      "Readings of all sensors skipped because their time had passed.");
	count(ex, monitor, "wattribute_lost_samples", quality->lost_samples,
	      "Readings of all sensors that nobody fetched.");
	count(ex, monitor, "wattribute_sweeps", quality->sweeps, "Looks at all tasks.");
	seconds(ex, monitor, "wattribute_sweep_seconds", quality->sweep_cost_ns, "Time in them.");
	gauge(ex, "wattribute_cpu_coverage_ratio", "ratio",
	      "How much of the CPUs' time is accounted for.");
	if (quality->coverage_ppm)
		exposition_number(ex, NULL, NULL, quality->coverage_ppm / 1e6);
}

/* ---- the agent itself ---- */

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static uint64_t own_memory_bytes(void)
{
	char text[128], *resident = NULL;
	uint64_t pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fgets(text, sizeof(text), file))
		resident = strchr(text, ' ');
	if (resident)
		pages = strtoull(resident, NULL, 10);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void write_build(struct exposition *ex, const struct monitor *monitor)
{
	enum watt_idle_policy policy = watt_snapshot_get_idle_policy(monitor->snap);
	struct bytes labels = { 0 };

	begin(ex, "wattribute_build", EXPOSITION_INFO, NULL, "The program and how it measures.");
	exposition_add_label(&labels, "version", watt_version());
	exposition_add_label(&labels, "usage", watt_session_get_usage_name(monitor->session));
	exposition_add_label(&labels, "usage_why", watt_session_get_usage_why(monitor->session));
	exposition_add_label(&labels, "idle_policy", watt_idle_policy_name(policy));
	exposition_count(ex, labels.data, 1);
	bytes_done(&labels);
}

static uint64_t load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void write_exports(struct exposition *ex, const struct monitor *monitor)
{
	const struct exports *exports = &monitor->exports;

	if (!monitor->has_exports)
		return;
	count(ex, monitor, "wattribute_otlp_documents_sent", load(&exports->sent),
	      "Documents pushed by OTLP that were taken.");
	counter(ex, "wattribute_otlp_documents_lost", NULL,
		"Documents that were not: refused, or too many waited.");
	exposition_count(ex, "reason=\"refused\"", load(&exports->refused));
	created(ex, monitor, "reason=\"refused\"", NULL, 0);
	exposition_count(ex, "reason=\"full\"", load(&exports->lost));
	created(ex, monitor, "reason=\"full\"", NULL, 0);
	count(ex, monitor, "wattribute_otlp_points_rejected", load(&exports->rejected_points),
	      "Data points that the receiver left out of documents that it took.");
	count(ex, monitor, "wattribute_otlp_tries_failed", load(&exports->tries_failed),
	      "Tries to push after which it is tried again.");
	gauge(ex, "wattribute_otlp_documents_waiting", NULL, "Documents that wait to be pushed.");
	exposition_count(ex, NULL, load(&exports->waiting));
}

static void write_agent(struct exposition *ex, const struct monitor *monitor)
{
	uint64_t memory_bytes = own_memory_bytes();

	write_build(ex, monitor);
	seconds(ex, monitor, "wattribute_agent_cpu_seconds", own_cpu_ns(),
		"CPU time of this program.");
	write_domain_counter(ex, monitor, "wattribute_agent_joules",
			     "Energy of this program, by what it ran.", monitor->roster.own);
	gauge(ex, "wattribute_agent_resident_memory_bytes", "bytes", "Memory of this program.");
	if (memory_bytes)
		exposition_count(ex, NULL, memory_bytes);
	count(ex, monitor, "wattribute_agent_refreshes", monitor->refreshes,
	      "Times that what is served was brought up to date.");
	seconds(ex, monitor, "wattribute_agent_refresh_cpu_seconds", monitor->refresh_cost_ns,
		"CPU time in that.");
	gauge(ex, "wattribute_agent_refresh_timestamp_seconds", "seconds",
	      "When that was done last.");
	exposition_time(ex, NULL, monitor->realtime_ns);
}

void metrics_write(struct exposition *ex, const struct monitor *monitor)
{
	write_domain_energies(ex, monitor);
	write_domain_powers(ex, monitor);
	write_domain_infos(ex, monitor);
	write_domain_counts(ex, monitor);
	write_domain_trust(ex, monitor);
	write_sources(ex, monitor);
	write_sensors(ex, monitor);
	/* Who wants to know what a machine was like says so: on a large one it is many series. */
	if (monitor->snap && watt_snapshot_get_gauge_count(monitor->snap) > 0) {
		write_context(ex, monitor);
		write_cpus(ex, monitor);
	}
	write_levels(ex, monitor);
	write_quality(ex, monitor);
	write_agent(ex, monitor);
	write_exports(ex, monitor);
	if (monitor->compat & 1u << COMPAT_KEPLER)
		compat_write_kepler(ex, monitor);
	if (monitor->compat & 1u << COMPAT_SCAPHANDRE)
		compat_write_scaphandre(ex, monitor);
	if (monitor->compat & 1u << COMPAT_TYCHO)
		compat_write_tycho(ex, monitor);
}
