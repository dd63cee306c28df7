/* SPDX-License-Identifier: Apache-2.0 */
/* Opens recordings, and says what is wrong with them or with the times that were asked for. */
#include "recorded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "units.h"
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

static void copy_marks(struct recorded *recorded)
{
	size_t i;

	recorded->n_marks = watt_recording_get_mark_count(recorded->rec);
	recorded->marks = xcalloc(recorded->n_marks, sizeof(*recorded->marks));
	for (i = 0; i < recorded->n_marks; i++)
		recorded->marks[i] = *watt_recording_get_mark(recorded->rec, i);
}

/* The part that was asked for must be one, and have data. */
static int choose_part(struct recorded *recorded, const struct moment *from,
		       const struct moment *to)
{
	const struct watt_recording_info *info = recorded->info;
	int64_t length_ns = (int64_t)(info->end_ns - info->start_ns);
	int64_t from_ns = moment_since_ns(from, info->start_realtime_ns), to_ns = length_ns;
	char length[UNITS_SIZE], number[UNITS_SIZE];

	units_time(length, (double)length_ns / 1e9, 4);
	if (info->end_ns <= info->start_ns) {
		message_error("%s has no data: nothing was recorded", recorded->path);
		return -ENODATA;
	}
	if (to->kind != MOMENT_NONE)
		to_ns = moment_since_ns(to, info->start_realtime_ns);
	if (from_ns < 0 || from_ns >= length_ns) {
		message_error("--from is %s %s the beginning of %s, which is %s long",
			      units_time(number, (double)llabs(from_ns) / 1e9, 4),
			      from_ns < 0 ? "before" : "after", recorded->path, length);
		return -ENODATA;
	}
	if (to_ns <= from_ns) {
		message_error("--to is not after %s", from->kind == MOMENT_NONE ?
							      "the beginning of the recording" :
							      "--from");
		return -EINVAL;
	}
	if (to_ns > length_ns)
		message_note("%s ends after %s, before --to", recorded->path, length);
	recorded->from_ns = info->start_ns + (uint64_t)from_ns;
	recorded->to_ns = to_ns < length_ns ? info->start_ns + (uint64_t)to_ns : info->end_ns;
	return 0;
}

int recorded_open(struct recorded *recorded, const char *path, const struct moment *from,
		  const struct moment *to)
{
	unsigned int errors = message_get_error_count();
	int r;

	*recorded = (struct recorded){ .path = path };
	r = watt_recording_open(path, message_log, NULL, &recorded->rec);
	if (r < 0)
		return complain(path, errors, r);
	recorded->info = watt_recording_get_info(recorded->rec);
	copy_marks(recorded);
	r = choose_part(recorded, from, to);
	if (r < 0)
		recorded_close(recorded);
	return r;
}

int recorded_open_session(struct recorded *recorded, const struct watt_options *options)
{
	unsigned int errors = message_get_error_count();
	int r;

	r = watt_session_open_recording(recorded->path, options, &recorded->ses);
	if (r == -ENOENT) /* the file is there: an option names what is not */
		r = -EINVAL;
	if (r == 0)
		r = watt_session_start(recorded->ses);
	return r < 0 ? complain(recorded->path, errors, r) : 0;
}

int recorded_go_to(struct recorded *recorded, uint64_t t_ns)
{
	struct watt_snapshot *snap = NULL;
	int r = 0;

	if (!recorded->cursor)
		r = watt_cursor_open(recorded->ses, &recorded->cursor);
	if (r < 0 || t_ns <= recorded->info->start_ns)
		return r;
	r = watt_cursor_snapshot_at(recorded->cursor, t_ns, 0, &snap);
	watt_snapshot_unref(snap);
	return r;
}

int recorded_replay(struct recorded *recorded, const struct watt_options *options)
{
	unsigned int errors = message_get_error_count();
	int r;

	r = recorded_open_session(recorded, options);
	if (r < 0)
		return r;
	r = recorded_go_to(recorded, recorded->from_ns);
	return r < 0 ? complain(recorded->path, errors, r) : 0;
}

struct watt_windows_opts recorded_plan(const struct recorded *recorded, uint64_t window_ns)
{
	uint64_t slice_ns = recorded->info->slice_ns;

	if (window_ns && window_ns < slice_ns)
		window_ns = slice_ns;
	if (!window_ns)
		window_ns = watt_windows_choose_ns(recorded->to_ns - recorded->from_ns, slice_ns);
	return (struct watt_windows_opts){ .sz = sizeof(struct watt_windows_opts),
					   .start_ns = recorded->from_ns,
					   .end_ns = recorded->to_ns,
					   .window_ns = window_ns,
					   .marks = recorded->marks,
					   .n_marks = recorded->n_marks,
					   .cursor = recorded->cursor };
}

void recorded_close(struct recorded *recorded)
{
	watt_cursor_close(recorded->cursor);
	watt_session_close(recorded->ses);
	watt_recording_close(recorded->rec);
	free(recorded->marks);
	*recorded = (struct recorded){ 0 };
}
