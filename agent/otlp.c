/* SPDX-License-Identifier: Apache-2.0 */
/* Documents by jansson. What is not known is left out. */
#include "otlp.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "xalloc.h"

#define CUMULATIVE 2 /* AGGREGATION_TEMPORALITY_CUMULATIVE */

/* ---- attributes ---- */

static void add_text(json_t *attributes, const char *key, const char *value)
{
	if (value && value[0])
		json_array_append_new(attributes, json_pack("{s:s, s:{s:s}}", "key", key, "value",
							    "stringValue", value));
}

/* 64 bits are texts in this encoding. */
static void add_integer(json_t *attributes, const char *key, const char *digits)
{
	json_array_append_new(attributes,
			      json_pack("{s:s, s:{s:s}}", "key", key, "value", "intValue", digits));
}

/* Labels of Prometheus' and what OpenTelemetry's conventions call the same. */
static const struct {
	const char *label, *attribute;
} names[] = {
	{ "comm", "process.executable.name" },
	{ "exe", "process.executable.path" },
	{ "container", "container.name" },
	{ "container_id", "container.id" },
	{ "image", "container.image.name" },
	{ "runtime", "container.runtime" },
	{ "pod", "k8s.pod.name" },
	{ "pod_uid", "k8s.pod.uid" },
	{ "namespace", "k8s.namespace.name" },
	{ "user", "user.name" },
};

static void add_label(json_t *attributes, const char *label, const char *value)
{
	char own[96];
	size_t i;

	if (strcmp(label, "pid") == 0) {
		add_integer(attributes, "process.pid", value);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(label, names[i].label) == 0) {
			add_text(attributes, names[i].attribute, value);
			return;
		}
	snprintf(own, sizeof(own), "wattribute.%s", label);
	add_text(attributes, own, value);
}

static json_t *make_attributes(const char *labels)
{
	json_t *attributes = json_array();
	char name[64], value[8192];

	while ((labels = exposition_next_label(labels, name, sizeof(name), value, sizeof(value))))
		add_label(attributes, name, value);
	return attributes;
}

/* By the conventions' list of types; what is on none of it keeps our word. */
static const char *hardware_type(enum watt_domain_kind kind)
{
	switch (kind) {
	case WATT_DOMAIN_PACKAGE:
	case WATT_DOMAIN_CORES:
	case WATT_DOMAIN_CORE:
	case WATT_DOMAIN_CPU_RAIL:
		return "cpu";
	case WATT_DOMAIN_DRAM:
		return "memory";
	case WATT_DOMAIN_GPU:
	case WATT_DOMAIN_UNCORE:
		return "gpu";
	case WATT_DOMAIN_SUPPLY:
		return "power_supply";
	default:
		return watt_domain_kind_name(kind);
	}
}

static json_t *make_domain_attributes(const struct monitor *monitor, size_t index)
{
	const struct watt_domain *domain = monitor_domain(monitor, index);
	const struct watt_domain_state *state = monitor_state(monitor, index);
	json_t *attributes = json_array();

	add_text(attributes, "hw.id", domain->path);
	add_text(attributes, "hw.type", hardware_type(domain->kind));
	if (domain->parent >= 0)
		add_text(attributes, "hw.parent",
			 monitor_domain(monitor, (size_t)domain->parent)->path);
	add_text(attributes, "wattribute.origin", watt_origin_name(domain->origin));
	add_text(attributes, "wattribute.method", watt_share_key_name(state->key));
	return attributes;
}

/* ---- points ---- */

static json_t *make_time(uint64_t realtime_ns)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, realtime_ns);
	return json_string(text);
}

/* Takes the attributes. A value that is not a number makes no point. */
static void add_point(json_t *points, const struct monitor *monitor, json_t *attributes,
		      uint64_t created_ns, double value)
{
	json_t *point = json_pack("{s:o, s:o}", "attributes", attributes, "timeUnixNano",
				  make_time(monitor->realtime_ns));

	if (!isfinite(value)) {
		json_decref(point);
		return;
	}
	if (created_ns)
		json_object_set_new(point, "startTimeUnixNano", make_time(created_ns));
	json_object_set_new(point, "asDouble", json_real(value));
	json_array_append_new(points, point);
}

static void add_metric(json_t *metrics, const char *name, const char *unit, const char *help,
		       const char *kind, json_t *data)
{
	if (json_array_size(json_object_get(data, "dataPoints")) == 0) {
		json_decref(data);
		return;
	}
	json_array_append_new(metrics, json_pack("{s:s, s:s, s:s, s:o}", "name", name, "unit", unit,
						 "description", help, kind, data));
}

/* Takes the points. */
static void add_counter(json_t *metrics, const char *name, const char *unit, const char *help,
			json_t *points)
{
	add_metric(metrics, name, unit, help, "sum",
		   json_pack("{s:o, s:i, s:b}", "dataPoints", points, "aggregationTemporality",
			     CUMULATIVE, "isMonotonic", 1));
}

static void add_gauge(json_t *metrics, const char *name, const char *unit, const char *help,
		      json_t *points)
{
	add_metric(metrics, name, unit, help, "gauge", json_pack("{s:o}", "dataPoints", points));
}

static double joules(const struct roster_sum *sum)
{
	return (double)sum->out / 1e9;
}

/* ---- the machine and its domains ---- */

static json_t *make_machine_attributes(void)
{
	json_t *attributes = json_array();

	add_text(attributes, "hw.id", "machine");
	add_text(attributes, "hw.type", "host");
	return attributes;
}

static void add_machine(json_t *metrics, const struct monitor *monitor)
{
	const struct roster *roster = &monitor->roster;
	json_t *energy = json_array(), *power = json_array();

	if (monitor->total.n_known)
		add_point(energy, monitor, make_machine_attributes(),
			  roster->created_ns[ROSTER_CPU], (double)roster->machine_nj / 1e9);
	add_point(power, monitor, make_machine_attributes(), 0, monitor->total.power_w);
	add_counter(metrics, "hw.host.energy", "J", "Energy of the machine.", energy);
	add_gauge(metrics, "hw.host.power", "W", "Mean power of the machine in the newest window.",
		  power);
	if (!monitor->supplies.has_outside)
		return;
	power = json_array();
	add_point(power, monitor, make_machine_attributes(), 0, monitor->supplies.outside_w);
	add_gauge(metrics, "wattribute.machine.outside.power", "W",
		  "Mean power of the whole machine by its supplies, of which the sum is a part.",
		  power);
}

/* The same for all domains: of these sums, the counters. */
static json_t *make_domain_points(const struct monitor *monitor, const struct roster_sum *sums)
{
	json_t *points = json_array();
	size_t i;

	for (i = 0; i < monitor_domain_count(monitor); i++)
		if (monitor_has_counter(monitor, i))
			add_point(points, monitor, make_domain_attributes(monitor, i),
				  monitor->roster.created_ns[ROSTER_DOMAIN(i)],
				  joules(&sums[ROSTER_DOMAIN(i)]));
	return points;
}

static void add_domains(json_t *metrics, const struct monitor *monitor)
{
	const struct roster *roster = &monitor->roster;
	json_t *power = json_array();
	size_t i;

	for (i = 0; i < monitor_domain_count(monitor); i++)
		add_point(power, monitor, make_domain_attributes(monitor, i), 0,
			  monitor_power_w(monitor, i));
	add_counter(metrics, "hw.energy", "J", "Energy that the component took.",
		    make_domain_points(monitor, roster->whole));
	add_gauge(metrics, "hw.power", "W", "Mean power in the newest window.", power);
	add_counter(metrics, "wattribute.idle.energy", "J",
		    "Of the component's energy, what it takes when nothing runs.",
		    make_domain_points(monitor, roster->idle));
	add_counter(metrics, "wattribute.unattributed.energy", "J",
		    "Of the component's energy above idle, what has no honest owner.",
		    make_domain_points(monitor, roster->unattributed));
}

/* What the machine was like: temperatures, loads, clocks, fans, memory. */
static void add_context(json_t *metrics, const struct monitor *monitor)
{
	const struct context_names *kind;
	size_t i;

	for (kind = context_names; kind->name; kind++) {
		json_t *points = json_array();

		for (i = 0; i < watt_snapshot_get_gauge_count(monitor->snap); i++) {
			const struct watt_gauge *one = watt_snapshot_get_gauge(monitor->snap, i);
			json_t *attributes;

			if (one->quantity != kind->quantity)
				continue;
			attributes = json_array();
			add_text(attributes, "hw.id", one->name);
			add_point(points, monitor, attributes, 0, watt_gauge_get_now(one));
		}
		add_gauge(metrics, kind->otlp_name, kind->otlp_unit, kind->help, points);
	}
}

/* ---- users ---- */

/* One user's energy in each domain that users are told of. */
static void add_sums(json_t *points, const struct monitor *monitor, const char *labels,
		     const struct roster_sum *sums, uint64_t created_ns)
{
	const struct roster *roster = &monitor->roster;
	size_t i;

	for (i = 0; i < monitor_domain_count(monitor); i++) {
		size_t column = ROSTER_DOMAIN(i);
		json_t *attributes;

		if (!monitor_is_in_levels(monitor, i))
			continue;
		attributes = make_attributes(labels);
		add_text(attributes, "hw.id", monitor_domain(monitor, i)->path);
		add_point(points, monitor, attributes,
			  created_ns ? created_ns : roster->created_ns[column],
			  joules(&sums[column]));
	}
}

static void add_level(json_t *metrics, const struct monitor *monitor, enum level_kind kind)
{
	const struct roster_level *level = &monitor->roster.levels[kind];
	auto_free char *energy = xasprintf("wattribute.%s.energy", level_name(kind));
	auto_free char *cpu = xasprintf("wattribute.%s.cpu.time", level_name(kind));
	auto_free char *ended = xasprintf("wattribute.%s.ended.energy", level_name(kind));
	json_t *energies = json_array(), *times = json_array(), *gone = json_array();
	size_t i;

	for (i = 0; i < level->n_users; i++) {
		const struct roster_user *user = level->users[i];

		add_sums(energies, monitor, user->labels, user->sums, user->created_ns);
		add_point(times, monitor, make_attributes(user->labels), user->created_ns,
			  joules(&user->sums[ROSTER_CPU]));
	}
	if (level->other) {
		add_sums(energies, monitor, "kind=\"other\"", level->other, 0);
		add_sums(gone, monitor, "", level->ended, 0);
	}
	add_counter(metrics, energy, "J",
		    "Energy by user. Its sum with what is ended, idle and unattributed is the "
		    "component's.",
		    energies);
	add_gauge(
		metrics, ended, "J",
		"Energy of those that are not told of any more. No part of a rate: it was told of.",
		gone);
	add_counter(metrics, cpu, "s", "CPU time by user.", times);
}

/* ---- the document ---- */

static void add_quality(json_t *metrics, const struct monitor *monitor)
{
	const struct watt_quality *quality = watt_snapshot_get_quality(monitor->snap);
	json_t *errors = json_array();

	add_point(errors, monitor, json_array(), monitor->roster.created_ns[ROSTER_CPU],
		  (double)(quality->check_failures + quality->sum_failures + monitor->unbalanced));
	add_counter(metrics, "wattribute.conservation.errors", "{check}",
		    "Checks that failed of all parts adding up: anything but 0 is a bug.", errors);
}

static json_t *make_metrics(const struct monitor *monitor)
{
	json_t *metrics = json_array();
	int kind;

	add_machine(metrics, monitor);
	add_domains(metrics, monitor);
	add_context(metrics, monitor);
	for (kind = 0; kind < LEVEL_N; kind++)
		if (monitor->roster.opts.levels & 1u << kind)
			add_level(metrics, monitor, (enum level_kind)kind);
	add_quality(metrics, monitor);
	return metrics;
}

static json_t *make_resource(const char *host)
{
	json_t *attributes = json_array();

	add_text(attributes, "service.name", "wattribute");
	add_text(attributes, "service.version", watt_version());
	if (host)
		add_text(attributes, "host.name", host);
	return attributes;
}

char *otlp_document(const struct monitor *monitor)
{
	json_t *document;
	char *text;

	if (!monitor->snap)
		return NULL;
	document = json_pack("{s:[{s:{s:o}, s:[{s:{s:s, s:s}, s:o}]}]}", "resourceMetrics",
			     "resource", "attributes",
			     make_resource(watt_session_get_host(monitor->session)), "scopeMetrics",
			     "scope", "name", "wattribute", "version", watt_version(), "metrics",
			     make_metrics(monitor));
	text = json_dumps(document, JSON_COMPACT);
	json_decref(document);
	return text;
}

uint64_t otlp_rejected_points(const char *answer, size_t n)
{
	json_t *document = json_loadb(answer, n, 0, NULL);
	json_t *count =
		json_object_get(json_object_get(document, "partialSuccess"), "rejectedDataPoints");
	json_int_t points = json_is_string(count) ? strtoll(json_string_value(count), NULL, 10) :
						    json_integer_value(count);

	json_decref(document);
	return points > 0 ? (uint64_t)points : 0;
}
