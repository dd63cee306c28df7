/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up machine of two packages, as sinks are told of it, with names that want to break
 * readers.
 */
#ifndef WATT_TESTS_TOLD_H
#define WATT_TESTS_TOLD_H

#include <math.h>

#include "sink/sink.h"

#define N_DOMAINS 4
#define N_ROWS 6
#define N_WINDOWS 4
#define S 1000000000ULL
#define HOSTILE "a\",\n\xff<b>&\x1b"

/* package-0, its core, package-1, a battery that charges */
static struct watt_domain domains[N_DOMAINS] = {
	{ .path = "package-0",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .parent = -1,
	  .is_summed = 1,
	  .is_partition = 1 },
	{ .path = "package-0/core", .kind = WATT_DOMAIN_CORES, .parent = 0, .package_id = 0 },
	{ .path = "package-1",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .parent = -1,
	  .package_id = 1,
	  .is_summed = 1,
	  .is_partition = 1 },
	{ .path = "bat0", .kind = WATT_DOMAIN_SUPPLY, .parent = -1, .package_id = -1 },
};
static struct watt_identity who[N_ROWS] = { { .pid = 42, .comm = HOSTILE },
					    { .pid = 43, .comm = "b" },
					    { .pid = 42, .comm = "again" } };
static const struct watt_cgroup cgroup = { .path = "/x", .container = "c1" };
static struct watt_entity entities[N_ROWS] = {
	{ .id = 10, .kind = WATT_ENTITY_PROCESS, .name = HOSTILE, .cgroup = &cgroup },
	{ .id = 11, .kind = WATT_ENTITY_PROCESS, .name = "b" },
	{ .id = 12, .kind = WATT_ENTITY_PROCESS, .name = "again" },
	{ .id = 13, .kind = WATT_ENTITY_IDLE, .name = "idle" },
	{ .id = 14, .kind = WATT_ENTITY_EXITED, .name = "sh" },
	{ .id = 15, .kind = WATT_ENTITY_CONTAINER, .name = "c1" },
};
static struct watt_row rows[N_ROWS];
/* window, row, domain; the third process has the pid of the first, later */
static const int64_t used_nj[N_WINDOWS][N_ROWS][N_DOMAINS] = {
	{ { 1000000001, 5, 7, 0 },
	  { 3, 0, 0, 0 },
	  { 0 },
	  { 500, 1, 2, -900 },
	  { 0 },
	  { 1000000001, 5, 7, 0 } },
	{ { 2000, 0, 0, 0 }, { 0 }, { 0 }, { 500, 0, 500, -800 }, { 9, 9, 9, 0 }, { 2000, 0, 0, 0 } },
	{ { 0 }, { 0 }, { 77, 0, 88, 0 }, { 500, 0, 0, -700 }, { 0 }, { 0 } },
	{ { 0 }, { 0 }, { 5, 0, 0, 0 }, { 1, 0, 0, 0 }, { 0 }, { 0 } },
};

struct machine {
	struct watt_recording_info info;
	struct watt_channel channel;
	const struct watt_channel *channels[1];
	const struct watt_domain *domains[N_DOMAINS];
	struct watt_domain_state state[N_DOMAINS];
	const struct watt_domain_state *states[N_DOMAINS];
	const struct watt_row *rows[N_ROWS];
	struct watt_mark mark[2];
	const struct watt_mark *marks[2];
	struct watt_recording_loss loss;
	const struct watt_recording_loss *losses[1];
	struct watt_sink_about about;
};

static void init(struct machine *m)
{
	size_t i;

	*m = (struct machine){ .info = { .writer = "w",
					 .host = HOSTILE,
					 .os = "",
					 .kernel = "6.1",
					 .arch = "x86_64",
					 .cpu = "",
					 .command = "",
					 .usage = "bpf",
					 .start_ns = 100 * S,
					 .end_ns = 104 * S,
					 .start_realtime_ns = 1700000000 * S + 123 },
			       .mark = { { .t_ns = 101 * S, .label = HOSTILE },
					 { .t_ns = 103 * S } },
			       .loss = { .t0_ns = 102 * S, .t1_ns = 103 * S, .why = "disk full" } };
	m->channel = (struct watt_channel){ .name = "ch",
					    .source = "synth",
					    .domain = "package-0",
					    .scale_num = 1,
					    .scale_den = 3 };
	m->channels[0] = &m->channel;
	for (i = 0; i < N_DOMAINS; i++) {
		m->domains[i] = &domains[i];
		m->states[i] = &m->state[i];
	}
	for (i = 0; i < N_ROWS; i++) {
		rows[i].entity = &entities[i];
		m->rows[i] = &rows[i];
	}
	for (i = 0; i < 3; i++)
		entities[i].identity = &who[i];
	m->marks[0] = &m->mark[0];
	m->marks[1] = &m->mark[1];
	m->losses[0] = &m->loss;
	m->about = (struct watt_sink_about){ .file = "run.watt",
					     .info = &m->info,
					     .channels = m->channels,
					     .n_channels = 1,
					     .domains = m->domains,
					     .n_domains = N_DOMAINS,
					     .marks = m->marks,
					     .n_marks = 2,
					     .losses = m->losses,
					     .n_losses = 1,
					     .from_ns = 100 * S,
					     .to_ns = 104 * S };
}

/* The energy of package-1 is not known in the third window. */
static bool is_missing(size_t window, size_t domain)
{
	return window == 2 && domain == 2;
}

/* Of every row the same; of the last domains no key tells. */
static const double uncertainty_j[N_DOMAINS] = { 0.25, 0.5, NAN, NAN };

static void make_window(struct machine *m, size_t w, struct watt_sink_window *ret)
{
	size_t i, d;

	for (d = 0; d < N_DOMAINS; d++) {
		m->state[d] = (struct watt_domain_state){ .window_ns = S, .baseline_ready = 1 };
		if (is_missing(w, d))
			m->state[d] = (struct watt_domain_state){ .status = WATT_STATUS_NODATA };
		for (i = 0; i + 1 < N_ROWS && !is_missing(w, d); i++) {
			m->state[d].window_nj += used_nj[w][i][d];
		}
	}
	for (i = 0; i < N_ROWS; i++) {
		rows[i].window_nj = used_nj[w][i];
		rows[i].window_uncertainty_j = uncertainty_j;
		rows[i].window_total_nj = used_nj[w][i][0] + used_nj[w][i][2];
	}
	*ret = (struct watt_sink_window){ .view = { .domains = m->domains,
						    .states = m->states,
						    .rows = m->rows,
						    .n_domains = N_DOMAINS,
						    .n_rows = N_ROWS },
					  .index = w,
					  .t0_ns = (100 + w) * S,
					  .t1_ns = (101 + w) * S,
					  .t1_realtime_ns = (1700000001 + w) * S + 123,
					  .phase = w == 1 || w == 2 ? HOSTILE : NULL };
}

static int64_t sum_of_used(size_t domain)
{
	int64_t sum_nj = 0;
	size_t w, i;

	for (w = 0; w < N_WINDOWS; w++)
		for (i = 0; i + 1 < N_ROWS && !is_missing(w, domain); i++)
			sum_nj += used_nj[w][i][domain];
	return sum_nj;
}

#endif
