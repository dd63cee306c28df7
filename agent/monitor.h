/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor: the session, and what it had to tell the last time it was asked. It is asked at its
 * own pace; whoever wants to know gets what is there, and any number of them costs no more.
 *
 * Thread-safe: one thread refreshes, any may render.
 */
#ifndef WATT_AGENT_MONITOR_H
#define WATT_AGENT_MONITOR_H

#include <pthread.h>

#include <wattribute/balance.h>
#include <wattribute/cursor.h>
#include <wattribute/session.h>
#include <wattribute/total.h>

#include "exposition.h"
#include "history.h"
#include "roster.h"
#include "settings.h"
#include "takers.h"

/* A sensor as it was at the last refresh. */
struct monitor_sensor {
	const struct watt_channel *channel;
	struct watt_reader_stats stats;
	enum watt_status status;
	uint64_t age_ns;
	int domain; /* index; -1: none */
	bool has_stats, has_sample, is_duplicate;
};

/* A source of power as it was then: it may be open, on its way, or not to be had. */
struct monitor_source {
	const char *name;
	enum watt_status status;
};

/* What can be asked for. The first are those of enum exposition_format. */
enum document {
	DOCUMENT_TEXT = EXPOSITION_TEXT,
	DOCUMENT_OPENMETRICS = EXPOSITION_OPENMETRICS,
	DOCUMENT_STATUS, /* these are of api.h */
	DOCUMENT_HISTORY,
	DOCUMENT_SNAPSHOT,
	DOCUMENT_SOURCES,
	DOCUMENT_TAKERS, /* and the level's number: the history by who took it */
	DOCUMENT_TAKERS_LAST = DOCUMENT_TAKERS + LEVEL_N - 1,
	DOCUMENT_N,
};

/* What was pushed to another machine. All atomic. */
struct exports {
	uint64_t sent;            /* documents that were taken */
	uint64_t refused;         /* that will never be */
	uint64_t lost;            /* that had to go unsent: too many waited */
	uint64_t waiting;         /* that wait to be sent, or to be sent again */
	uint64_t tries_failed;    /* after which it is tried again */
	uint64_t rejected_points; /* in documents that were taken */
};

/* A document that was rendered once and is sent to many. */
struct rendering {
	struct bytes bytes; /* owned */
	int refs;           /* atomic */
};

struct rendering *rendering_ref(struct rendering *rendering);
void rendering_unref(struct rendering *rendering);

/* What all CPUs did together. */
struct monitor_cpus {
	uint64_t active_ns, idle_ns, irq_ns, softirq_ns;
};

struct monitor {
	pthread_mutex_t lock; /* of all that follows */
	struct watt_session *session;
	struct watt_cursor *cursor; /* its windows are nobody else's */
	struct watt_snapshot *snap; /* NULL: before the first refresh */
	struct roster roster;
	/* Per domain, with the newest window that had anything: one may be shorter than what a
	 * sensor needs. Owned. */
	struct watt_domain_state *states;
	bool *is_whole_gpu; /* of each of these domains */
	size_t n_states;
	struct watt_total total; /* the machine's, in those windows */
	/* Its supplies' word, of which that is a part: of this has_outside, outside_w and outside. */
	struct watt_balance supplies;
	struct monitor_cpus cpus;       /* since the session began */
	struct monitor_cpus cpu_window; /* in the newest window in which they did anything */
	struct monitor_sensor *sensors;
	size_t n_sensors;
	struct monitor_source *sources;
	size_t n_sources;
	struct history history;
	struct takers takers;                     /* of its steps */
	struct rendering *renderings[DOCUMENT_N]; /* of this refresh; NULL: nobody asked yet */
	struct bytes room[EXPOSITION_N]; /* where metrics were written, for the next time */
	uint64_t refreshes;
	uint64_t refresh_cost_ns;
	uint64_t unbalanced; /* refreshes after which the roster's sums were wrong: a bug */
	uint64_t realtime_ns;
	uint64_t t_ns;
	bool has_created;
	bool has_all_domains; /* in levels */
	bool has_exports;
	struct exports exports;
	uint64_t compat; /* bits of 1 << enum compat */
};

/* What the session is opened with, for others of the same kind; the caller frees it, whatever r is. */
int monitor_make_options(const struct settings *settings, struct watt_options **ret);

/* Opens the session and starts it. 0 or a negative errno; the log has the sentence. */
int monitor_open(struct monitor *monitor, const struct settings *settings);
void monitor_close(struct monitor *monitor);
/* What can change while it runs. */
void monitor_set(struct monitor *monitor, const struct settings *settings);
/* Asks the session. 0 or a negative errno. */
int monitor_refresh(struct monitor *monitor);
/* A document as it is now; the caller unrefs it. NULL: it can't be made. */
struct rendering *monitor_render(struct monitor *monitor, enum document document);

/* The domains of the newest snapshot; there must be one. */
static inline size_t monitor_domain_count(const struct monitor *monitor)
{
	return watt_snapshot_get_domain_count(monitor->snap);
}

static inline const struct watt_domain *monitor_domain(const struct monitor *monitor, size_t index)
{
	return watt_snapshot_get_domain(monitor->snap, index);
}

static inline const struct watt_domain_state *monitor_state(const struct monitor *monitor,
							    size_t index)
{
	return watt_snapshot_get_domain_state(monitor->snap, index);
}

/* Whether a domain's energy can be a counter: that of a battery goes both ways. */
bool monitor_is_counter(const struct monitor *monitor, size_t domain);
/* Whether it is one: it has said something, and what it says can only grow. */
bool monitor_has_counter(const struct monitor *monitor, size_t domain);
/* Whether users are told of in it: those that don't overlap, or all. */
bool monitor_is_in_levels(const struct monitor *monitor, size_t domain);
/* Mean power of a domain in the newest window in which it was told of; NAN: not known now. */
double monitor_power_w(const struct monitor *monitor, size_t domain);
/* Standard uncertainty of its idle power, or of taking it for nothing; NAN: not known. */
double monitor_idle_uncertainty_w(const struct monitor *monitor, size_t domain);

/* Writes all metrics; the caller has the lock. */
void metrics_write(struct exposition *ex, const struct monitor *monitor);

#endif
