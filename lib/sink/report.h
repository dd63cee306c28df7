/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the sinks that report on a recording: its numbers, for the document and for the page. */
#ifndef WATT_SINK_REPORT_H
#define WATT_SINK_REPORT_H

#include <wattribute/balance.h>
#include <wattribute/comparison.h>
#include <wattribute/ranking.h>

#include "sink/json_value.h"
#include "sink/sink.h"

/* Entities of a kind that are kept apart: more than anybody reads, and few enough for a page. */
#define WATT_REPORT_KEPT 500

/* What can be chosen of a report; zero: processes. */
struct watt_report_choice {
	enum watt_ranking_group group;
};

extern const struct watt_sink_option watt_report_options[];
/* -EINVAL: not this value. */
int watt_report_set(struct watt_report_choice *choice, const char *option, const char *value);

/* What is computed of the recordings. */
struct watt_report {
	const struct watt_sink_series *now;
	const struct watt_sink_series *before; /* to compare with; NULL: none */
	struct watt_balance balance; /* origin, uncertainty, keys; its energies are the whole's */
	struct watt_ranking *ranking;
	struct watt_comparison *comparison; /* NULL: none */
	enum watt_ranking_group group;
};

/* 0 or -ENOMEM; watt_report_done() in any case. */
int watt_report_init(struct watt_report *report, const struct watt_report_choice *choice,
		     const struct watt_sink_series *now, const struct watt_sink_series *before);
void watt_report_done(struct watt_report *report);
/* Writes the members of the document, by docs/schema/wattribute-report-1.json. */
void watt_report_put(const struct watt_report *report, struct watt_json *json,
		     struct watt_json_node doc);
/* Last part of the name of a recording's file; NULL: it has none. */
const char *watt_report_file(const struct watt_sink_about *about);

#endif
