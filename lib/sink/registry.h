/* SPDX-License-Identifier: Apache-2.0 */
/* All sinks that there are. */
#ifndef WATT_SINK_REGISTRY_H
#define WATT_SINK_REGISTRY_H

#include "sink/sink.h"

/* Ends with NULL. */
extern const struct watt_sink_ops *const watt_sink_registry[];

extern const struct watt_sink_ops watt_sink_csv;
extern const struct watt_sink_ops watt_sink_emon;
extern const struct watt_sink_ops watt_sink_html;
extern const struct watt_sink_ops watt_sink_json;
extern const struct watt_sink_ops watt_sink_jsonl;
extern const struct watt_sink_ops watt_sink_nvmt;
extern const struct watt_sink_ops watt_sink_perfetto;
extern const struct watt_sink_ops watt_sink_png;
extern const struct watt_sink_ops watt_sink_report;
extern const struct watt_sink_ops watt_sink_snapshot;
extern const struct watt_sink_ops watt_sink_svg;

#endif
