/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of sinks, in the order in which people see them. */
#include "sink/registry.h"

/* one sink per line */
/* clang-format off */
const struct watt_sink_ops *const watt_sink_registry[] = {
	&watt_sink_csv,
	&watt_sink_json,
	&watt_sink_jsonl,
	&watt_sink_perfetto,
	&watt_sink_emon,
	&watt_sink_nvmt,
	&watt_sink_snapshot,
	&watt_sink_report,
	&watt_sink_html,
	&watt_sink_svg,
	&watt_sink_png,
	NULL,
};
/* clang-format on */
