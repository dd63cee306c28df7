/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Perfetto trace: protocol buffers by its public schema (perfetto/trace/trace.proto), of which
 * the fields below are all that is used. The clock is the recording's CLOCK_MONOTONIC. A counter
 * has at the beginning of a window the mean power in it, and holds it until the next value; what
 * is not known is 0 on the counter, and a slice on a track of its own says so. Context is counters,
 * too, each in its unit.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/idmap.h"
#include "base/util.h"
#include "sink/protobuf.h"
#include "sink/registry.h"

/* Field numbers, by message. */
enum {
	TRACE_PACKET = 1,

	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_TIMESTAMP_CLOCK_ID = 58,
	PACKET_TRACK_DESCRIPTOR = 60,

	CLOCKS_CLOCK = 1,
	CLOCKS_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_PARENT_UUID = 5,
	TRACK_COUNTER = 8,
	TRACK_CHILD_ORDERING = 11,
	TRACK_ORDER_RANK = 12,
	TRACK_MERGE = 15,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	COUNTER_UNIT_NAME = 6,

	EVENT_TYPE = 9,
	EVENT_TRACK_UUID = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER_DOUBLE = 44,

	SYSTEM_UTSNAME = 1,
	SYSTEM_CPUS = 8,
	UTSNAME_SYSNAME = 1,
	UTSNAME_RELEASE = 3,
	UTSNAME_MACHINE = 4,
};

enum {
	CLOCK_REALTIME_ID = 1,
	CLOCK_MONOTONIC_ID = 3,
	SEQUENCE_ID = 1,
	SEQUENCE_BEGINS = 1,
	ORDER_EXPLICIT = 3,
	MERGE_NONE = 2,
	EVENT_SLICE_BEGIN = 1,
	EVENT_SLICE_END = 2,
	EVENT_COUNTER = 4,
};

/* Tracks that are always there; others are counted on from LAST. */
enum {
	UUID_PHASES = 1,
	UUID_DOMAINS,
	UUID_CONTEXT,
	UUID_OTHERS,
	UUID_MISSING,
	UUID_LOSSES,
	UUID_LAST,
};

struct counter {
	uint64_t uuid;
	double value;  /* W, or the unit of context */
	uint64_t seen; /* window that last told it, from 1 */
};

/* Of a domain, or of a channel of context. */
struct sensor_track {
	struct counter counter;
	uint64_t missing_uuid; /* 0: none yet */
	bool is_missing;
};

struct trace {
	struct watt_protobuf packet, inner, deep;
	uint64_t next_uuid;
	struct sensor_track *domains; /* in the order of their numbers */
	size_t n_domains, domains_cap;
	struct sensor_track *gauges; /* in their order: what comes later is behind */
	size_t n_gauges, gauges_cap;
	struct watt_idmap by_entity; /* position in entities */
	struct counter *entities;
	size_t n_entities, entities_cap;
	struct watt_idmap by_pid; /* pid + 1: uuid of the process */
	uint64_t n_windows;
	uint64_t end_ns;
	bool has_failed; /* out of memory in some packet */
};

static void write_packet(struct watt_sink *sink, struct trace *trace)
{
	struct watt_protobuf head = { 0 };

	watt_protobuf_message(&head, TRACE_PACKET, &trace->packet);
	trace->has_failed = trace->has_failed || head.has_failed;
	if (head.n > 0)
		fwrite(head.data, 1, head.n, sink->out);
	watt_protobuf_done(&head);
	watt_protobuf_clear(&trace->packet);
}

static void begin_packet(struct trace *trace)
{
	watt_protobuf_clear(&trace->packet);
	watt_protobuf_uint(&trace->packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
}

/* ---- tracks ---- */

struct track {
	uint64_t uuid;
	uint64_t parent_uuid; /* 0: none */
	const char *name;     /* NULL: that of the process */
	const char *unit;     /* of a counter; NULL: it is none */
	bool is_ordered;      /* its children stand by rank */
	unsigned int rank;
	uint32_t pid; /* of a process; 0: it is none */
	const char *process;
};

static void write_track(struct watt_sink *sink, const struct track *track)
{
	struct trace *trace = sink->data;
	struct watt_protobuf *inner = &trace->inner, *deep = &trace->deep;

	watt_protobuf_clear(inner);
	watt_protobuf_uint(inner, TRACK_UUID, track->uuid);
	if (track->name)
		watt_protobuf_text(inner, TRACK_NAME, track->name);
	if (track->parent_uuid)
		watt_protobuf_uint(inner, TRACK_PARENT_UUID, track->parent_uuid);
	if (track->is_ordered)
		watt_protobuf_uint(inner, TRACK_CHILD_ORDERING, ORDER_EXPLICIT);
	if (track->rank)
		watt_protobuf_uint(inner, TRACK_ORDER_RANK, track->rank);
	if (track->unit) {
		/* Two of one name are two, not one. */
		watt_protobuf_uint(inner, TRACK_MERGE, MERGE_NONE);
		watt_protobuf_clear(deep);
		watt_protobuf_text(deep, COUNTER_UNIT_NAME, track->unit);
		watt_protobuf_message(inner, TRACK_COUNTER, deep);
	}
	if (track->pid) {
		watt_protobuf_clear(deep);
		watt_protobuf_uint(deep, PROCESS_PID, track->pid);
		watt_protobuf_text(deep, PROCESS_NAME, track->process);
		watt_protobuf_message(inner, TRACK_PROCESS, deep);
	}
	begin_packet(trace);
	watt_protobuf_message(&trace->packet, PACKET_TRACK_DESCRIPTOR, inner);
	write_packet(sink, trace);
}

/* ---- events ---- */

/* What only some events have is added before finish_event(). */
static void begin_event(struct watt_sink *sink, uint64_t t_ns, unsigned int type, uint64_t uuid)
{
	struct trace *trace = sink->data;

	watt_protobuf_clear(&trace->inner);
	watt_protobuf_uint(&trace->inner, EVENT_TYPE, type);
	watt_protobuf_uint(&trace->inner, EVENT_TRACK_UUID, uuid);
	begin_packet(trace);
	watt_protobuf_uint(&trace->packet, PACKET_TIMESTAMP, t_ns);
	watt_protobuf_uint(&trace->packet, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_MONOTONIC_ID);
}

static void finish_event(struct watt_sink *sink)
{
	struct trace *trace = sink->data;

	watt_protobuf_message(&trace->packet, PACKET_TRACK_EVENT, &trace->inner);
	write_packet(sink, trace);
}

static void write_counter(struct watt_sink *sink, uint64_t t_ns, uint64_t uuid, double value)
{
	struct trace *trace = sink->data;

	begin_event(sink, t_ns, EVENT_COUNTER, uuid);
	watt_protobuf_double(&trace->inner, EVENT_COUNTER_DOUBLE, value);
	finish_event(sink);
}

static void begin_slice(struct watt_sink *sink, uint64_t t_ns, uint64_t uuid, const char *name)
{
	struct trace *trace = sink->data;

	begin_event(sink, t_ns, EVENT_SLICE_BEGIN, uuid);
	watt_protobuf_text(&trace->inner, EVENT_NAME, name);
	finish_event(sink);
}

static void end_slice(struct watt_sink *sink, uint64_t t_ns, uint64_t uuid)
{
	begin_event(sink, t_ns, EVENT_SLICE_END, uuid);
	finish_event(sink);
}

/* A slice, as much of it as lies in what is exported. */
static void write_slice(struct watt_sink *sink, uint64_t t0_ns, uint64_t t1_ns, uint64_t uuid,
			const char *name)
{
	const struct watt_sink_about *about = sink->about;

	if (t0_ns < about->from_ns)
		t0_ns = about->from_ns;
	if (t1_ns > about->to_ns)
		t1_ns = about->to_ns;
	if (t0_ns >= t1_ns)
		return;
	begin_slice(sink, t0_ns, uuid, name);
	end_slice(sink, t1_ns, uuid);
}

/* ---- what stands at the beginning ---- */

static void put_clock(struct trace *trace, unsigned int id, uint64_t t_ns)
{
	watt_protobuf_clear(&trace->deep);
	watt_protobuf_uint(&trace->deep, CLOCK_ID, id);
	watt_protobuf_uint(&trace->deep, CLOCK_TIMESTAMP, t_ns);
	watt_protobuf_message(&trace->inner, CLOCKS_CLOCK, &trace->deep);
}

static void write_clocks(struct watt_sink *sink)
{
	struct trace *trace = sink->data;
	const struct watt_recording_info *info = sink->about->info;

	watt_protobuf_clear(&trace->inner);
	put_clock(trace, CLOCK_MONOTONIC_ID, info->start_ns);
	put_clock(trace, CLOCK_REALTIME_ID, info->start_realtime_ns);
	watt_protobuf_uint(&trace->inner, CLOCKS_PRIMARY, CLOCK_MONOTONIC_ID);
	begin_packet(trace);
	watt_protobuf_uint(&trace->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_BEGINS);
	watt_protobuf_message(&trace->packet, PACKET_CLOCK_SNAPSHOT, &trace->inner);
	write_packet(sink, trace);
}

static void write_system(struct watt_sink *sink)
{
	struct trace *trace = sink->data;
	const struct watt_recording_info *info = sink->about->info;

	watt_protobuf_clear(&trace->deep);
	watt_protobuf_text(&trace->deep, UTSNAME_SYSNAME, "Linux");
	watt_protobuf_text(&trace->deep, UTSNAME_RELEASE, info->kernel);
	watt_protobuf_text(&trace->deep, UTSNAME_MACHINE, info->arch);
	watt_protobuf_clear(&trace->inner);
	watt_protobuf_message(&trace->inner, SYSTEM_UTSNAME, &trace->deep);
	watt_protobuf_uint(&trace->inner, SYSTEM_CPUS, info->n_cpus);
	begin_packet(trace);
	watt_protobuf_message(&trace->packet, PACKET_SYSTEM_INFO, &trace->inner);
	write_packet(sink, trace);
}

static void write_phases(struct watt_sink *sink)
{
	const struct watt_sink_about *about = sink->about;
	struct track phases = { .uuid = UUID_PHASES, .name = "phases" };
	size_t i;

	write_track(sink, &phases);
	for (i = 0; i < about->n_marks; i++) {
		const struct watt_mark *mark = about->marks[i];
		bool is_last = i + 1 == about->n_marks;

		if (*mark->label)
			write_slice(sink, mark->t_ns,
				    is_last ? about->to_ns : about->marks[i + 1]->t_ns, UUID_PHASES,
				    mark->label);
	}
}

static void write_losses(struct watt_sink *sink)
{
	const struct watt_sink_about *about = sink->about;
	struct track losses = { .uuid = UUID_LOSSES, .name = "not recorded" };
	size_t i;

	if (about->n_losses)
		write_track(sink, &losses);
	for (i = 0; i < about->n_losses; i++)
		write_slice(sink, about->losses[i]->t0_ns, about->losses[i]->t1_ns, UUID_LOSSES,
			    about->losses[i]->why);
}

/* Those that have come since. */
static int add_domains(struct watt_sink *sink, const struct watt_domain *const *domains, size_t n)
{
	struct trace *trace = sink->data;

	while (trace->n_domains < n) {
		struct track track = { .uuid = trace->next_uuid,
				       .parent_uuid = UUID_DOMAINS,
				       .name = domains[trace->n_domains]->path,
				       .unit = "W",
				       .rank = (unsigned int)trace->n_domains + 1 };

		if (watt_grow((void **)&trace->domains, &trace->domains_cap, trace->n_domains,
			      sizeof(*trace->domains)) < 0)
			return -ENOMEM;
		trace->domains[trace->n_domains++] =
			(struct sensor_track){ .counter = { .uuid = trace->next_uuid++ } };
		write_track(sink, &track);
	}
	return 0;
}

/* Channels of context, in a group that is there where they are. */
static int add_gauges(struct watt_sink *sink, const struct watt_gauge *const *gauges, size_t n)
{
	struct trace *trace = sink->data;
	struct track group = { .uuid = UUID_CONTEXT, .name = "context", .is_ordered = true };

	if (n > 0 && trace->n_gauges == 0)
		write_track(sink, &group);
	while (trace->n_gauges < n) {
		const struct watt_gauge *gauge = gauges[trace->n_gauges];
		struct track track = { .uuid = trace->next_uuid,
				       .parent_uuid = UUID_CONTEXT,
				       .name = gauge->name,
				       .unit = watt_quantity_unit(gauge->quantity),
				       .rank = (unsigned int)trace->n_gauges + 1 };

		if (watt_grow((void **)&trace->gauges, &trace->gauges_cap, trace->n_gauges,
			      sizeof(*trace->gauges)) < 0)
			return -ENOMEM;
		trace->gauges[trace->n_gauges++] =
			(struct sensor_track){ .counter = { .uuid = trace->next_uuid++ } };
		write_track(sink, &track);
	}
	return 0;
}

static int begin(struct watt_sink *sink)
{
	struct trace *trace = sink->data;
	struct track domains = { .uuid = UUID_DOMAINS, .name = "power", .is_ordered = true };
	struct track others = { .uuid = UUID_OTHERS, .name = "no process" };
	int r;

	trace->next_uuid = UUID_LAST;
	write_clocks(sink);
	write_system(sink);
	write_phases(sink);
	write_losses(sink);
	write_track(sink, &domains);
	write_track(sink, &others);
	r = add_domains(sink, sink->about->domains, sink->about->n_domains);
	return r == 0 && trace->has_failed ? -ENOMEM : r;
}

/* ---- windows ---- */

/* Tells a counter's value from the beginning of the window on, where it is another one. */
static void tell(struct watt_sink *sink, struct counter *counter, uint64_t t_ns, double value)
{
	struct trace *trace = sink->data;

	if (counter->seen == 0 || counter->value != value)
		write_counter(sink, t_ns, counter->uuid, value);
	counter->value = value;
	counter->seen = trace->n_windows;
}

static void tell_missing(struct watt_sink *sink, struct sensor_track *sensor, const char *path,
			 uint64_t t_ns, bool is_missing)
{
	struct trace *trace = sink->data;
	struct track track = { .name = path };
	struct track group = { .uuid = UUID_MISSING, .name = "no data" };

	if (is_missing == sensor->is_missing)
		return;
	sensor->is_missing = is_missing;
	if (!is_missing) {
		end_slice(sink, t_ns, sensor->missing_uuid);
		return;
	}
	if (!sensor->missing_uuid) {
		write_track(sink, &group);
		sensor->missing_uuid = trace->next_uuid++;
		track.uuid = sensor->missing_uuid;
		track.parent_uuid = UUID_MISSING;
		write_track(sink, &track);
	}
	begin_slice(sink, t_ns, sensor->missing_uuid, "no data");
}

/* Tells from the beginning of the window on what is known of a sensor. */
static void tell_sensor(struct watt_sink *sink, struct sensor_track *sensor, const char *name,
			uint64_t t_ns, double value)
{
	tell_missing(sink, sensor, name, t_ns, isnan(value));
	tell(sink, &sensor->counter, t_ns, isnan(value) ? 0 : value);
}

/* 0: out of memory. */
static uint64_t process_uuid(struct watt_sink *sink, const struct watt_entity *entity,
			     bool *ret_is_new)
{
	struct trace *trace = sink->data;
	size_t *uuid = watt_idmap_get(&trace->by_pid, (uint64_t)entity->identity->pid + 1);
	struct track track = { .pid = entity->identity->pid, .process = entity->name };

	if (!uuid)
		return 0;
	*ret_is_new = *uuid == WATT_IDMAP_NONE;
	if (*ret_is_new) {
		*uuid = trace->next_uuid++;
		track.uuid = *uuid;
		write_track(sink, &track);
	}
	return *uuid;
}

static int add_entity(struct watt_sink *sink, const struct watt_entity *entity)
{
	struct trace *trace = sink->data;
	struct track track = { .name = entity->name, .unit = "W" };
	_cleanup_free_ char *name = NULL;
	bool is_new = true;
	int n = 0;

	if (watt_grow((void **)&trace->entities, &trace->entities_cap, trace->n_entities,
		      sizeof(*trace->entities)) < 0)
		return -ENOMEM;
	if (entity->identity && entity->identity->pid) {
		track.parent_uuid = process_uuid(sink, entity, &is_new);
		if (!track.parent_uuid)
			return -ENOMEM;
		/* A later process with the same pid has a name on its curve. */
		track.name = "power";
		if (!is_new)
			n = asprintf(&name, "power (%s)", entity->name);
	} else {
		track.parent_uuid = UUID_OTHERS;
		if (entity->kind == WATT_ENTITY_EXITED)
			n = asprintf(&name, "exited %s", entity->name);
	}
	if (n < 0) {
		name = NULL;
		return -ENOMEM;
	}
	if (name)
		track.name = name;
	track.uuid = trace->next_uuid++;
	write_track(sink, &track);
	trace->entities[trace->n_entities++] = (struct counter){ .uuid = track.uuid };
	return 0;
}

static int tell_row(struct watt_sink *sink, const struct watt_sink_window *window,
		    const struct watt_row *row)
{
	struct trace *trace = sink->data;
	double power_w = watt_view_row_w(&window->view, row);
	size_t *position, at;
	int r;

	/* Where power is not known, the domains' tracks say so. */
	if (isnan(power_w))
		power_w = 0;
	at = watt_idmap_find(&trace->by_entity, row->entity->id);
	if (at == WATT_IDMAP_NONE) {
		if (power_w == 0 && !sink->with_zeros)
			return 0;
		at = trace->n_entities;
		r = add_entity(sink, row->entity);
		if (r < 0)
			return r;
		position = watt_idmap_get(&trace->by_entity, row->entity->id);
		if (!position)
			return -ENOMEM;
		*position = at;
	}
	tell(sink, &trace->entities[at], window->t0_ns, power_w);
	return 0;
}

static int write_window(struct watt_sink *sink, const struct watt_sink_window *window)
{
	struct trace *trace = sink->data;
	const struct watt_view *view = &window->view;
	int r = 0;
	size_t i;

	trace->n_windows++;
	trace->end_ns = window->t1_ns;
	r = add_domains(sink, view->domains, view->n_domains);
	for (i = 0; i < view->n_domains && r == 0; i++) {
		double power_w = watt_view_power_w(view->states[i], view->states[i]->window_nj);

		tell_sensor(sink, &trace->domains[i], view->domains[i]->path, window->t0_ns,
			    power_w);
	}
	if (r == 0)
		r = add_gauges(sink, view->gauges, view->n_gauges);
	for (i = 0; i < view->n_gauges && r == 0; i++)
		tell_sensor(sink, &trace->gauges[i], view->gauges[i]->name, window->t0_ns,
			    view->gauges[i]->mean);
	for (i = 0; i < view->n_rows && r == 0; i++)
		if (watt_sink_has_kind(sink, view->rows[i]->entity->kind))
			r = tell_row(sink, window, view->rows[i]);
	/* Those that are gone from the snapshot use nothing. */
	for (i = 0; i < trace->n_entities; i++)
		if (trace->entities[i].seen != trace->n_windows)
			tell(sink, &trace->entities[i], window->t0_ns, 0);
	return r == 0 && trace->has_failed ? -ENOMEM : r;
}

static void end_sensors(struct watt_sink *sink, struct sensor_track *sensors, size_t n)
{
	const struct trace *trace = sink->data;
	size_t i;

	for (i = 0; i < n; i++) {
		tell_missing(sink, &sensors[i], NULL, trace->end_ns, false);
		write_counter(sink, trace->end_ns, sensors[i].counter.uuid,
			      sensors[i].counter.value);
	}
}

static int end(struct watt_sink *sink)
{
	struct trace *trace = sink->data;
	size_t i;

	if (!trace->n_windows)
		return 0;
	/* The last window ends, too. */
	end_sensors(sink, trace->domains, trace->n_domains);
	end_sensors(sink, trace->gauges, trace->n_gauges);
	for (i = 0; i < trace->n_entities; i++)
		if (trace->entities[i].value != 0)
			write_counter(sink, trace->end_ns, trace->entities[i].uuid,
				      trace->entities[i].value);
	return trace->has_failed ? -ENOMEM : 0;
}

static void done(struct watt_sink *sink)
{
	struct trace *trace = sink->data;

	watt_protobuf_done(&trace->packet);
	watt_protobuf_done(&trace->inner);
	watt_protobuf_done(&trace->deep);
	watt_idmap_done(&trace->by_entity);
	watt_idmap_done(&trace->by_pid);
	free(trace->domains);
	free(trace->gauges);
	free(trace->entities);
}

static const struct watt_sink_option options[] = {
	WATT_SINK_OPTION_KINDS,
	WATT_SINK_OPTION_ZEROS,
	{ NULL },
};

const struct watt_sink_ops watt_sink_perfetto = {
	.info = {
		.sz = sizeof(struct watt_sink_info),
		.name = "perfetto",
		.summary = "a trace for ui.perfetto.dev: power over time, phases",
		.suffixes = ".pftrace .perfetto-trace",
		.mime = "application/octet-stream",
		.options = options,
	},
	.data_size = sizeof(struct trace),
	.begin = begin,
	.window = write_window,
	.end = end,
	.done = done,
};
