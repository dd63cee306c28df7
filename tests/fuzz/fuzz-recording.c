/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file: it is refused with one sentence, or read to its end. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/record.h"

static char path[64];

static void remove_file(void)
{
	unlink(path);
}

static void write_file(const uint8_t *data, size_t size)
{
	int fd;

	if (!path[0]) {
		const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

		snprintf(path, sizeof(path), "%s/watt-fuzz-%d", folder, (int)getpid());
		atexit(remove_file);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	check(fd >= 0);
	check(write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static void count(void *data, enum watt_log_level level, const char *text)
{
	unsigned int *n = data;

	check(strlen(text) > strlen(path));
	*n += level == WATT_LOG_ERROR;
}

static void read_ops(struct watt_recording *rec)
{
	struct watt_op op;
	unsigned int i;
	int r = 0;

	for (i = 0; i < 100000 && r != 1; i++) {
		r = watt_recording_next_op(rec, &op);
		check(r == 0 || r == 1 || r == -EBADMSG || r == -ENOMEM);
	}
}

static void read_values(struct watt_recording *rec)
{
	struct watt_sample samples[64];
	unsigned int i;
	size_t c;

	for (c = 0; c < watt_recording_get_channel_count(rec); c++)
		check(watt_recording_get_channel(rec, c)->scale_den > 0);
	check(!watt_recording_get_channel(rec, c));
	for (c = 0; c < watt_recording_get_mark_count(rec); c++)
		check(strlen(watt_recording_get_mark(rec, c)->label) < WATT_MARK_SIZE);
	for (c = 0; c < watt_recording_get_loss_count(rec); c++)
		check(watt_recording_get_loss(rec, c)->why);
	for (i = 0; i < 10000; i++)
		if (watt_recording_read_samples(rec, samples, 64) == 0)
			break;
	check(watt_recording_seek(rec, watt_recording_get_info(rec)->end_ns) == 0);
	watt_recording_read_samples(rec, samples, 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watt_recording *rec = NULL;
	unsigned int n_errors = 0;
	int r;

	write_file(data, size);
	r = watt_recording_open(path, count, &n_errors, &rec);
	if (r < 0) {
		check(!rec && (n_errors == 1 || r == -ENOMEM));
		return 0;
	}
	read_ops(rec);
	read_values(rec);
	watt_recording_close(rec);
	return 0;
}
