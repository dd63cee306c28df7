/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that a command looks at: the file, what it says of itself, the part of it that was
 * asked for, and a session that goes through that part.
 */
#ifndef WATT_CLI_RECORDED_H
#define WATT_CLI_RECORDED_H

#include <stdbool.h>

#include <wattribute/recording.h>
#include <wattribute/sink.h>
#include <wattribute/window.h>

#include "moment.h"

struct recorded {
	const char *path;
	struct watt_recording *rec;
	const struct watt_recording_info *info;
	struct watt_mark *marks; /* copies, in the order of time */
	size_t n_marks;
	uint64_t from_ns; /* of what is looked at, CLOCK_MONOTONIC */
	uint64_t to_ns;
	struct watt_session *ses;   /* NULL until recorded_replay() */
	struct watt_cursor *cursor; /* whose windows are looked at; NULL until recorded_go_to() */
};

/*
 * Opens the recording, and of it what lies between two moments (of kind MOMENT_NONE: its beginning,
 * its end). 0 or a negative errno, and a line has been printed.
 */
int recorded_open(struct recorded *recorded, const char *path, const struct moment *from,
		  const struct moment *to);
/* Opens a session on it and starts it. 0 or a negative errno, and a line has been printed. */
int recorded_open_session(struct recorded *recorded, const struct watt_options *options);
/* The window of the cursor that is open ends there, and another one begins. 0 or a negative errno. */
int recorded_go_to(struct recorded *recorded, uint64_t t_ns);
/* The same as recorded_open_session(), and goes on to the beginning of the part that was asked for. */
int recorded_replay(struct recorded *recorded, const struct watt_options *options);
/* What there is to cut. window_ns 0: as many as a person can look at. */
struct watt_windows_opts recorded_plan(const struct recorded *recorded, uint64_t window_ns);
void recorded_close(struct recorded *recorded);

#endif
