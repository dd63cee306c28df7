/* SPDX-License-Identifier: Apache-2.0 */
/* One refresh of `top`: a snapshot and all that was drawn from it. Borrowed for one drawing. */
#ifndef WATT_CLI_TOP_FRAME_H
#define WATT_CLI_TOP_FRAME_H

#include "sparkline.h"
#include "top_model.h"

struct top_frame {
	const struct watt_view *view;
	const struct top_model *model;
	const struct sparkline *history;
	const char *usage;
	const char *late;  /* sources that are not open yet; "" or NULL: none */
	const char *phase; /* that the newest mark began; "" or NULL: none */
	bool has_domains;
	bool is_joules;
	bool is_live; /* the machine is this one, not a captured tree */
	bool is_paused;
};

#endif
