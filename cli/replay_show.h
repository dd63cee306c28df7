/* SPDX-License-Identifier: Apache-2.0 */
/* How `wattribute replay` shows windows: a table, a line each, or JSON. */
#ifndef WATT_CLI_REPLAY_SHOW_H
#define WATT_CLI_REPLAY_SHOW_H

#include <stdbool.h>

#include "recording.h"
#include "table.h"
#include "top_model.h"

struct replay_show {
	bool is_json;
	bool is_table; /* of entities, for each window; else a line each */
	bool has_domains;
	struct top_model model;
	struct table *lines;    /* NULL: none yet */
	struct watt_sink *sink; /* of JSON; NULL: none yet */
};

/* Says of what recording the numbers are. */
void replay_show_begin(struct replay_show *show, const struct recording *recording);
/* 0 or a negative errno: the output can't be written. */
int replay_show_window(struct replay_show *show, const struct recording *recording,
		       const struct watt_window *window);
/* JSON of a snapshot, whatever its window. Errors as above. */
int replay_show_snapshot(struct replay_show *show, struct watt_snapshot *snap);
/* Prints what was collected, and what is missing in the recording. */
void replay_show_end(struct replay_show *show, const struct recording *recording);
void replay_show_done(struct replay_show *show);
/* Prints that no phase has this name, and which there are. */
void replay_show_complain_phase(const struct recording *recording, const char *label);

#endif
