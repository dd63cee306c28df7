/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that a command looks at: the file, what it says of itself, the part of it that was
 * asked for, and a session that goes through that part.
 */
#ifndef WATT_CLI_RECORDING_H
#define WATT_CLI_RECORDING_H

#include <stdbool.h>

#include <wattribute/recording.h>
#include <wattribute/sink.h>
#include <wattribute/window.h>

#include "time_arg.h"

struct recording {
	const char *path;
	struct watt_recording *rec;
	const struct watt_recording_info *info;
	struct watt_mark *marks; /* copies, in the order of time */
	size_t n_marks;
	uint64_t from_ns; /* of what is looked at, CLOCK_MONOTONIC */
	uint64_t to_ns;
	struct watt_session *ses;   /* NULL until recording_replay() */
	struct watt_cursor *cursor; /* whose windows are looked at; NULL until recording_go_to() */
};

/*
 * Opens the recording, and of it what lies between two times (of kind TIME_ARG_NONE: its beginning,
 * its end). 0 or a negative errno, and a line has been printed.
 */
int recording_open(struct recording *recording, const char *path, const struct time_arg *from,
		   const struct time_arg *to);
/* Opens a session on it and starts it. 0 or a negative errno, and a line has been printed. */
int recording_open_session(struct recording *recording, const struct watt_options *options);
/* The window of the cursor that is open ends there, and another one begins. 0 or a negative errno. */
int recording_go_to(struct recording *recording, uint64_t t_ns);
/* The same as recording_open_session(), and goes on to the beginning of the part that was asked for. */
int recording_replay(struct recording *recording, const struct watt_options *options);
/* What there is to cut. window_ns 0: as many as a person can look at. */
struct watt_windows_opts recording_plan(const struct recording *recording, uint64_t window_ns);
/* Gives up the session: recording_replay() begins anew. */
void recording_rewind(struct recording *recording);
void recording_close(struct recording *recording);

#endif
