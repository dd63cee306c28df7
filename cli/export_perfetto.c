/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Perfetto trace: protocol buffers by its public schema (perfetto/trace/trace.proto), of which
 * the fields below are all that is used. The clock is the recording's CLOCK_MONOTONIC. A counter
 * has at the beginning of a window the mean power in it, and holds it until the next value; what
 * is not known is 0 on the counter, and a slice on a track of its own says so.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "idmap.h"
#include "protobuf.h"
#include "xalloc.h"

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
	UUID_OTHERS,
	UUID_MISSING,
	UUID_LOSSES,
	UUID_LAST,
};

struct counter {
	uint64_t uuid;
	double power_w;
	uint64_t seen; /* window that last told it, from 1 */
};

struct trace {
	struct protobuf packet, inner, deep;
	uint64_t next_uuid;
	struct counter *domains;
	uint64_t *missing_uuid; /* per domain: its track; 0: none yet */
	bool *is_missing;
	struct idmap by_entity; /* position in entities */
	struct counter *entities;
	size_t n_entities;
	struct idmap by_pid; /* pid + 1: uuid of the process */
	uint64_t n_windows;
	uint64_t end_ns;
};

static void write_packet(struct export *ex, struct trace *trace)
{
	struct protobuf head = { 0 };

	protobuf_message(&head, TRACE_PACKET, &trace->packet);
	fwrite(head.data, 1, head.n, ex->out);
	protobuf_done(&head);
	protobuf_clear(&trace->packet);
}

static void begin_packet(struct trace *trace)
{
	protobuf_clear(&trace->packet);
	protobuf_uint(&trace->packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
}

/* ---- tracks ---- */

struct track {
	uint64_t uuid;
	uint64_t parent_uuid; /* 0: none */
	const char *name;     /* NULL: that of the process */
	bool is_counter;
	bool is_ordered; /* its children stand by rank */
	unsigned int rank;
	uint32_t pid; /* of a process; 0: it is none */
	const char *process;
};

static void write_track(struct export *ex, const struct track *track)
{
	struct trace *trace = ex->data;
	struct protobuf *inner = &trace->inner, *deep = &trace->deep;

	protobuf_clear(inner);
	protobuf_uint(inner, TRACK_UUID, track->uuid);
	if (track->name)
		protobuf_text(inner, TRACK_NAME, track->name);
	if (track->parent_uuid)
		protobuf_uint(inner, TRACK_PARENT_UUID, track->parent_uuid);
	if (track->is_ordered)
		protobuf_uint(inner, TRACK_CHILD_ORDERING, ORDER_EXPLICIT);
	if (track->rank)
		protobuf_uint(inner, TRACK_ORDER_RANK, track->rank);
	if (track->is_counter) {
		/* Two of one name are two, not one. */
		protobuf_uint(inner, TRACK_MERGE, MERGE_NONE);
		protobuf_clear(deep);
		protobuf_text(deep, COUNTER_UNIT_NAME, "W");
		protobuf_message(inner, TRACK_COUNTER, deep);
	}
	if (track->pid) {
		protobuf_clear(deep);
		protobuf_uint(deep, PROCESS_PID, track->pid);
		protobuf_text(deep, PROCESS_NAME, track->process);
		protobuf_message(inner, TRACK_PROCESS, deep);
	}
	begin_packet(trace);
	protobuf_message(&trace->packet, PACKET_TRACK_DESCRIPTOR, inner);
	write_packet(ex, trace);
}

/* ---- events ---- */

/* What only some events have is added before finish_event(). */
static void begin_event(struct export *ex, uint64_t t_ns, unsigned int type, uint64_t uuid)
{
	struct trace *trace = ex->data;

	protobuf_clear(&trace->inner);
	protobuf_uint(&trace->inner, EVENT_TYPE, type);
	protobuf_uint(&trace->inner, EVENT_TRACK_UUID, uuid);
	begin_packet(trace);
	protobuf_uint(&trace->packet, PACKET_TIMESTAMP, t_ns);
	protobuf_uint(&trace->packet, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_MONOTONIC_ID);
}

static void finish_event(struct export *ex)
{
	struct trace *trace = ex->data;

	protobuf_message(&trace->packet, PACKET_TRACK_EVENT, &trace->inner);
	write_packet(ex, trace);
}

static void write_counter(struct export *ex, uint64_t t_ns, uint64_t uuid, double power_w)
{
	struct trace *trace = ex->data;

	begin_event(ex, t_ns, EVENT_COUNTER, uuid);
	protobuf_double(&trace->inner, EVENT_COUNTER_DOUBLE, power_w);
	finish_event(ex);
}

static void begin_slice(struct export *ex, uint64_t t_ns, uint64_t uuid, const char *name)
{
	struct trace *trace = ex->data;

	begin_event(ex, t_ns, EVENT_SLICE_BEGIN, uuid);
	protobuf_text(&trace->inner, EVENT_NAME, name);
	finish_event(ex);
}

static void end_slice(struct export *ex, uint64_t t_ns, uint64_t uuid)
{
	begin_event(ex, t_ns, EVENT_SLICE_END, uuid);
	finish_event(ex);
}

/* A slice, as much of it as lies in what is exported. */
static void write_slice(struct export *ex, uint64_t t0_ns, uint64_t t1_ns, uint64_t uuid,
			const char *name)
{
	const struct export_about *about = ex->about;

	if (t0_ns < about->from_ns)
		t0_ns = about->from_ns;
	if (t1_ns > about->to_ns)
		t1_ns = about->to_ns;
	if (t0_ns >= t1_ns)
		return;
	begin_slice(ex, t0_ns, uuid, name);
	end_slice(ex, t1_ns, uuid);
}

/* ---- what stands at the beginning ---- */

static void put_clock(struct trace *trace, unsigned int id, uint64_t t_ns)
{
	protobuf_clear(&trace->deep);
	protobuf_uint(&trace->deep, CLOCK_ID, id);
	protobuf_uint(&trace->deep, CLOCK_TIMESTAMP, t_ns);
	protobuf_message(&trace->inner, CLOCKS_CLOCK, &trace->deep);
}

static void write_clocks(struct export *ex)
{
	struct trace *trace = ex->data;
	const struct watt_recording_info *info = ex->about->info;

	protobuf_clear(&trace->inner);
	put_clock(trace, CLOCK_MONOTONIC_ID, info->start_ns);
	put_clock(trace, CLOCK_REALTIME_ID, info->start_realtime_ns);
	protobuf_uint(&trace->inner, CLOCKS_PRIMARY, CLOCK_MONOTONIC_ID);
	begin_packet(trace);
	protobuf_uint(&trace->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_BEGINS);
	protobuf_message(&trace->packet, PACKET_CLOCK_SNAPSHOT, &trace->inner);
	write_packet(ex, trace);
}

static void write_system(struct export *ex)
{
	struct trace *trace = ex->data;
	const struct watt_recording_info *info = ex->about->info;

	protobuf_clear(&trace->deep);
	protobuf_text(&trace->deep, UTSNAME_SYSNAME, "Linux");
	protobuf_text(&trace->deep, UTSNAME_RELEASE, info->kernel);
	protobuf_text(&trace->deep, UTSNAME_MACHINE, info->arch);
	protobuf_clear(&trace->inner);
	protobuf_message(&trace->inner, SYSTEM_UTSNAME, &trace->deep);
	protobuf_uint(&trace->inner, SYSTEM_CPUS, info->n_cpus);
	begin_packet(trace);
	protobuf_message(&trace->packet, PACKET_SYSTEM_INFO, &trace->inner);
	write_packet(ex, trace);
}

static void write_phases(struct export *ex)
{
	const struct export_about *about = ex->about;
	struct track phases = { .uuid = UUID_PHASES, .name = "phases" };
	size_t i;

	write_track(ex, &phases);
	for (i = 0; i < about->n_marks; i++) {
		const struct watt_mark *mark = about->marks[i];
		bool is_last = i + 1 == about->n_marks;

		if (*mark->label)
			write_slice(ex, mark->t_ns,
				    is_last ? about->to_ns : about->marks[i + 1]->t_ns, UUID_PHASES,
				    mark->label);
	}
}

static void write_losses(struct export *ex)
{
	const struct export_about *about = ex->about;
	struct track losses = { .uuid = UUID_LOSSES, .name = "not recorded" };
	size_t i;

	if (about->n_losses)
		write_track(ex, &losses);
	for (i = 0; i < about->n_losses; i++)
		write_slice(ex, about->losses[i]->t0_ns, about->losses[i]->t1_ns, UUID_LOSSES,
			    about->losses[i]->why);
}

static int begin(struct export *ex)
{
	struct trace *trace = xcalloc(1, sizeof(*trace));
	struct track domains = { .uuid = UUID_DOMAINS, .name = "power", .is_ordered = true };
	struct track others = { .uuid = UUID_OTHERS, .name = "no process" };
	size_t n = ex->about->n_domains, i;

	ex->data = trace;
	trace->next_uuid = UUID_LAST;
	trace->domains = xcalloc(n, sizeof(*trace->domains));
	trace->missing_uuid = xcalloc(n, sizeof(*trace->missing_uuid));
	trace->is_missing = xcalloc(n, sizeof(*trace->is_missing));
	write_clocks(ex);
	write_system(ex);
	write_phases(ex);
	write_losses(ex);
	write_track(ex, &domains);
	write_track(ex, &others);
	for (i = 0; i < n; i++) {
		struct track track = { .parent_uuid = UUID_DOMAINS,
				       .name = ex->about->domains[i]->path,
				       .is_counter = true,
				       .rank = (unsigned int)i + 1 };

		track.uuid = trace->next_uuid++;
		trace->domains[i].uuid = track.uuid;
		write_track(ex, &track);
	}
	return 0;
}

/* ---- windows ---- */

/* Tells a counter's power from the beginning of the window on, where it is another one. */
static void tell(struct export *ex, struct counter *counter, uint64_t t_ns, double power_w)
{
	struct trace *trace = ex->data;

	if (counter->seen == 0 || counter->power_w != power_w)
		write_counter(ex, t_ns, counter->uuid, power_w);
	counter->power_w = power_w;
	counter->seen = trace->n_windows;
}

static void tell_missing(struct export *ex, size_t i, uint64_t t_ns, bool is_missing)
{
	struct trace *trace = ex->data;
	struct track track = { .name = ex->about->domains[i]->path };
	struct track group = { .uuid = UUID_MISSING, .name = "no data" };

	if (is_missing == trace->is_missing[i])
		return;
	trace->is_missing[i] = is_missing;
	if (!is_missing) {
		end_slice(ex, t_ns, trace->missing_uuid[i]);
		return;
	}
	if (!trace->missing_uuid[i]) {
		write_track(ex, &group);
		trace->missing_uuid[i] = trace->next_uuid++;
		track.uuid = trace->missing_uuid[i];
		track.parent_uuid = UUID_MISSING;
		write_track(ex, &track);
	}
	begin_slice(ex, t_ns, trace->missing_uuid[i], "no data");
}

static uint64_t process_uuid(struct export *ex, const struct watt_entity *entity, bool *ret_is_new)
{
	struct trace *trace = ex->data;
	size_t *uuid = idmap_get(&trace->by_pid, (uint64_t)entity->identity->pid + 1);
	struct track track = { .pid = entity->identity->pid, .process = entity->name };

	*ret_is_new = *uuid == IDMAP_NONE;
	if (*ret_is_new) {
		*uuid = trace->next_uuid++;
		track.uuid = *uuid;
		write_track(ex, &track);
	}
	return *uuid;
}

static struct counter *add_entity(struct export *ex, const struct watt_entity *entity)
{
	struct trace *trace = ex->data;
	struct track track = { .name = entity->name, .is_counter = true };
	auto_free char *name = NULL;
	bool is_new = true;

	trace->entities =
		xrealloc(trace->entities, trace->n_entities + 1, sizeof(*trace->entities));
	if (entity->identity && entity->identity->pid) {
		track.parent_uuid = process_uuid(ex, entity, &is_new);
		/* A later process with the same pid. */
		name = is_new ? xstrdup("power") : xasprintf("power (%s)", entity->name);
		track.name = name;
	} else {
		track.parent_uuid = UUID_OTHERS;
		if (entity->kind == WATT_ENTITY_EXITED)
			track.name = name = xasprintf("exited %s", entity->name);
	}
	track.uuid = trace->next_uuid++;
	write_track(ex, &track);
	trace->entities[trace->n_entities] = (struct counter){ .uuid = track.uuid };
	return &trace->entities[trace->n_entities++];
}

static void tell_row(struct export *ex, const struct export_window *window,
		     const struct watt_row *row)
{
	struct trace *trace = ex->data;
	double power_w = export_row_w(&window->view, row);
	size_t *position;

	/* Where power is not known, the domains' tracks say so. */
	if (isnan(power_w))
		power_w = 0;
	position = idmap_get(&trace->by_entity, row->entity.id);
	if (*position == IDMAP_NONE) {
		if (power_w == 0 && !ex->with_zeros)
			return;
		*position = trace->n_entities;
		add_entity(ex, &row->entity);
	}
	tell(ex, &trace->entities[*position], window->t0_ns, power_w);
}

static int write_window(struct export *ex, const struct export_window *window)
{
	struct trace *trace = ex->data;
	const struct view *view = &window->view;
	size_t i;

	trace->n_windows++;
	trace->end_ns = window->t1_ns;
	for (i = 0; i < view->n_domains; i++) {
		double power_w = view_power_w(view->states[i], view->states[i]->window_nj);

		tell_missing(ex, i, window->t0_ns, isnan(power_w));
		tell(ex, &trace->domains[i], window->t0_ns, isnan(power_w) ? 0 : power_w);
	}
	for (i = 0; i < view->n_rows; i++)
		if (export_has_kind(ex, view->rows[i]->entity.kind))
			tell_row(ex, window, view->rows[i]);
	/* Those that are gone from the snapshot use nothing. */
	for (i = 0; i < trace->n_entities; i++)
		if (trace->entities[i].seen != trace->n_windows)
			tell(ex, &trace->entities[i], window->t0_ns, 0);
	return 0;
}

static int end(struct export *ex)
{
	struct trace *trace = ex->data;
	size_t i;

	if (!trace->n_windows)
		return 0;
	/* The last window ends, too. */
	for (i = 0; i < ex->about->n_domains; i++) {
		tell_missing(ex, i, trace->end_ns, false);
		write_counter(ex, trace->end_ns, trace->domains[i].uuid, trace->domains[i].power_w);
	}
	for (i = 0; i < trace->n_entities; i++)
		if (trace->entities[i].power_w != 0)
			write_counter(ex, trace->end_ns, trace->entities[i].uuid,
				      trace->entities[i].power_w);
	return 0;
}

static void done(struct export *ex)
{
	struct trace *trace = ex->data;

	if (!trace)
		return;
	protobuf_done(&trace->packet);
	protobuf_done(&trace->inner);
	protobuf_done(&trace->deep);
	idmap_done(&trace->by_entity);
	idmap_done(&trace->by_pid);
	free(trace->domains);
	free(trace->missing_uuid);
	free(trace->is_missing);
	free(trace->entities);
	free(trace);
	ex->data = NULL;
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.begin = begin,
	.window = write_window,
	.end = end,
	.done = done,
};
