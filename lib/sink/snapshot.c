/* SPDX-License-Identifier: Apache-2.0 */
/* Whole snapshots, a JSON document a line: by docs/schema/wattribute-snapshot-1.json. */
#include <stdlib.h>

#include <wattribute/json.h>

#include "sink/registry.h"

static int write_window(struct watt_sink *sink, const struct watt_sink_window *window)
{
	char *text;
	int r;

	r = watt_snapshot_to_json(window->snap, 0, &text);
	if (r < 0)
		return r;
	fputs(text, sink->out);
	fputc('\n', sink->out);
	free(text);
	return 0;
}

const struct watt_sink_ops watt_sink_snapshot = {
	.info = {
		.sz = sizeof(struct watt_sink_info),
		.name = "snapshot",
		.summary = "whole snapshots as JSON, one a line, with their totals",
		.suffixes = ".jsonl",
		.mime = "application/jsonl",
	},
	.window = write_window,
};
