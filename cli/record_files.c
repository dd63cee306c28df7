/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up what the files of a recording say of themselves. Those that are gone, by --keep or by
 * somebody else, count nothing; it must not complain: the recorder has said what went wrong.
 */
#include "record_files.h"

#include <stdbool.h>
#include <stdlib.h>

#include <wattribute/recording.h>

static void add_file(struct record_files *files, const struct watt_recording *rec)
{
	const struct watt_recording_info *info = watt_recording_get_info(rec);
	size_t i, n = watt_recording_get_mark_count(rec);
	uint64_t before_ns = files->newest_mark_ns;

	for (i = 0; i < n; i++) {
		uint64_t t_ns = watt_recording_get_mark(rec, i)->t_ns;

		files->marks += files->n == 0 || t_ns > before_ns;
		if (t_ns > files->newest_mark_ns)
			files->newest_mark_ns = t_ns;
	}
	files->n++;
	files->start_realtime_ns = info->start_realtime_ns;
	files->samples += info->samples;
	files->bytes += info->bytes;
	files->lost_ns += info->lost_ns;
	/* these count since the recording began */
	files->lost_samples = info->lost_samples;
	files->lost_usage = info->lost_usage;
	files->lost_marks = info->lost_marks;
	files->missed_reads = info->missed_reads;
}

/* A later file of the recording, and not what an earlier one of that name has left. */
static bool follows(const struct record_files *files, const struct watt_recording *rec,
		    uint32_t number)
{
	const struct watt_recording_info *info = watt_recording_get_info(rec);

	return info->part == number &&
	       (number == 1 || info->start_realtime_ns > files->start_realtime_ns);
}

/* Whether there is such a file of the recording. */
static bool read_file(struct record_files *files, const char *path, uint32_t number)
{
	struct watt_recording *rec = NULL;
	char *name = watt_recording_part_path(path, number);

	if (!name || watt_recording_open(name, NULL, NULL, &rec) < 0 ||
	    !follows(files, rec, number)) {
		watt_recording_close(rec);
		free(name);
		return false;
	}
	add_file(files, rec);
	watt_recording_close(rec);
	free(files->newest);
	files->newest = name;
	files->n_begun = number;
	return true;
}

void record_files_read(struct record_files *files, const char *path, uint32_t n_files)
{
	uint32_t i;

	*files = (struct record_files){ 0 };
	for (i = 1; i <= n_files; i++)
		read_file(files, path, i);
	/* the last chunk may have begun another one */
	while (n_files && read_file(files, path, i))
		i++;
}

void record_files_done(struct record_files *files)
{
	free(files->newest);
	*files = (struct record_files){ 0 };
}
