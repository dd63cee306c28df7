/* SPDX-License-Identifier: Apache-2.0 */
/* Opens recordings, and says what is wrong with them or with the times that were asked for. */
#include "recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/units.h>

#include "message.h"
#include "xalloc.h"

static const char *words(int error)
{
	switch (error) {
	case -EMEDIUMTYPE:
		return "it is not a recording";
	case -EPROTONOSUPPORT:
		return "a newer version of this program wrote it";
	case -EBADMSG:
		return "it is damaged";
	case -EOPNOTSUPP:
		return "this program was built without recordings";
	default:
		return strerror(-error);
	}
}

/* The library's own sentence is better, where there is one. */
static int complain(const char *path, unsigned int errors, int error)
{
	if (message_get_error_count() == errors)
		message_error("cannot read %s: %s", path, words(error));
	return error;
}

static void copy_marks(struct recording *recording)
{
	size_t i;

	recording->n_marks = watt_recording_get_mark_count(recording->rec);
	recording->marks = xcalloc(recording->n_marks, sizeof(*recording->marks));
	for (i = 0; i < recording->n_marks; i++)
		recording->marks[i] = *watt_recording_get_mark(recording->rec, i);
}

/* How long after the beginning; a time of the clock is where the recording says that it was. */
static int64_t since_ns(const struct recording *recording, const struct time_arg *arg)
{
	const struct watt_recording_info *info = recording->info;
	int64_t since_ns = time_arg_since_ns(arg, info->start_realtime_ns);

	if (arg->kind != TIME_ARG_WALL && arg->kind != TIME_ARG_OF_DAY)
		return since_ns;
	return (int64_t)(watt_recording_find_ns(recording->rec,
						info->start_realtime_ns + (uint64_t)since_ns) -
			 info->start_ns);
}

/* The part that was asked for must be one, and have data. */
static int choose_part(struct recording *recording, const struct time_arg *from,
		       const struct time_arg *to)
{
	const struct watt_recording_info *info = recording->info;
	int64_t length_ns = (int64_t)(info->end_ns - info->start_ns);
	int64_t from_ns = since_ns(recording, from), to_ns = length_ns;
	char length[WATT_UNITS_SIZE], number[WATT_UNITS_SIZE];

	watt_units_time(length, (double)length_ns / 1e9, 4);
	if (info->end_ns <= info->start_ns) {
		message_error("%s has no data: nothing was recorded", recording->path);
		return -ENODATA;
	}
	if (to->kind != TIME_ARG_NONE)
		to_ns = since_ns(recording, to);
	if (from_ns < 0 || from_ns >= length_ns) {
		message_error("--from is %s %s the beginning of %s, which is %s long",
			      watt_units_time(number, (double)llabs(from_ns) / 1e9, 4),
			      from_ns < 0 ? "before" : "after", recording->path, length);
		return -ENODATA;
	}
	if (to_ns <= from_ns) {
		message_error("--to is not after %s", from->kind == TIME_ARG_NONE ?
							      "the beginning of the recording" :
							      "--from");
		return -EINVAL;
	}
	if (to_ns > length_ns)
		message_note("%s ends after %s, before --to", recording->path, length);
	recording->from_ns = info->start_ns + (uint64_t)from_ns;
	recording->to_ns = to_ns < length_ns ? info->start_ns + (uint64_t)to_ns : info->end_ns;
	return 0;
}

int recording_open(struct recording *recording, const char *path, const struct time_arg *from,
		   const struct time_arg *to)
{
	unsigned int errors = message_get_error_count();
	int r;

	*recording = (struct recording){ .path = path };
	r = watt_recording_open(path, message_log, NULL, &recording->rec);
	if (r < 0)
		return complain(path, errors, r);
	recording->info = watt_recording_get_info(recording->rec);
	copy_marks(recording);
	r = choose_part(recording, from, to);
	if (r < 0)
		recording_close(recording);
	return r;
}

int recording_open_session(struct recording *recording, const struct watt_options *options)
{
	unsigned int errors = message_get_error_count();
	int r;

	r = watt_session_open_recording(recording->path, options, &recording->ses);
	if (r == -ENOENT) /* the file is there: an option names what is not */
		r = -EINVAL;
	if (r == 0)
		r = watt_session_start(recording->ses);
	return r < 0 ? complain(recording->path, errors, r) : 0;
}

int recording_go_to(struct recording *recording, uint64_t t_ns)
{
	struct watt_snapshot *snap = NULL;
	int r = 0;

	if (!recording->cursor)
		r = watt_cursor_open(recording->ses, &recording->cursor);
	if (r < 0 || t_ns <= recording->info->start_ns)
		return r;
	r = watt_cursor_snapshot_at(recording->cursor, t_ns, 0, &snap);
	watt_snapshot_unref(snap);
	return r;
}

int recording_replay(struct recording *recording, const struct watt_options *options)
{
	unsigned int errors = message_get_error_count();
	int r;

	r = recording_open_session(recording, options);
	if (r < 0)
		return r;
	r = recording_go_to(recording, recording->from_ns);
	return r < 0 ? complain(recording->path, errors, r) : 0;
}

struct watt_windows_opts recording_plan(const struct recording *recording, uint64_t window_ns)
{
	uint64_t slice_ns = recording->info->slice_ns;

	if (window_ns && window_ns < slice_ns)
		window_ns = slice_ns;
	if (!window_ns)
		window_ns = watt_windows_choose_ns(recording->to_ns - recording->from_ns, slice_ns);
	return (struct watt_windows_opts){ .sz = sizeof(struct watt_windows_opts),
					   .start_ns = recording->from_ns,
					   .end_ns = recording->to_ns,
					   .window_ns = window_ns,
					   .marks = recording->marks,
					   .n_marks = recording->n_marks,
					   .cursor = recording->cursor };
}

void recording_rewind(struct recording *recording)
{
	recording->cursor = watt_cursor_close(recording->cursor);
	recording->ses = watt_session_close(recording->ses);
}

void recording_close(struct recording *recording)
{
	recording_rewind(recording);
	watt_recording_close(recording->rec);
	free(recording->marks);
	*recording = (struct recording){ 0 };
}
