/* SPDX-License-Identifier: Apache-2.0 */
/* A trace: it is refused with one sentence, or its ops are such as a session takes. */
#include "fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/record.h"

static void count(void *data, enum watt_log_level level, const char *text)
{
	unsigned int *n = data;

	*n += level == WATT_LOG_ERROR && *text;
}

static void check_samples(const struct watt_recording *rec, const struct watt_op *op,
			  uint64_t newest_ns)
{
	size_t i;

	check(op->samples.n > 0);
	for (i = 0; i < op->samples.n; i++) {
		const struct watt_sample *sample = &op->samples.list[i];

		check(sample->channel < watt_recording_get_channel_count(rec));
		check(sample->t_after_ns > newest_ns || sample->t_after_ns == 1000000000);
		check(sample->status == WATT_STATUS_OK || sample->raw == 0);
		check(sample->raw > -2000000000000 && sample->raw < 2000000000000);
	}
}

static void check_ops(struct watt_recording *rec)
{
	const struct watt_recording_info *info = watt_recording_get_info(rec);
	uint64_t newest_ns = 0;
	struct watt_op op;
	size_t i;

	while (watt_recording_next_op(rec, &op) == 0) {
		if (op.kind == WATT_OP_SAMPLES)
			check_samples(rec, &op, newest_ns);
		if (op.kind == WATT_OP_MARK)
			check(op.mark.t_ns > newest_ns || newest_ns == 0);
		for (i = 0; op.kind == WATT_OP_USAGE && i < op.usage.n_cpus; i++)
			check(op.usage.cpus[i].user_ns <= op.usage.t_after_ns);
		if (op.kind == WATT_OP_ADVANCE) {
			check(op.advance_ns > newest_ns);
			newest_ns = op.advance_ns;
		}
	}
	check(newest_ns >= info->end_ns);
}

static size_t count_samples(struct watt_recording *rec, size_t size)
{
	struct watt_sample samples[64];
	size_t n = 0;
	int r;

	while ((r = watt_recording_read_samples(rec, samples, size)) > 0)
		n += (size_t)r;
	check(r == 0);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t magic[] = { 0x54, 0x4d, 0x56, 0x4e };
	struct watt_recording *rec = NULL;
	unsigned int n_errors = 0;
	char path[64];
	size_t n;
	int fd = memfd_create("trace", MFD_CLOEXEC);

	if (fd < 0 || size < sizeof(magic)) {
		close(fd);
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check(pwrite(fd, data, size, 0) == (ssize_t)size);
	check(pwrite(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic));
	if (watt_recording_open(path, count, &n_errors, &rec) == 0) {
		check_ops(rec);
		n = count_samples(rec, 64);
		watt_recording_seek(rec, 0);
		check(count_samples(rec, 1) == n && n <= watt_recording_get_info(rec)->samples);
		watt_recording_close(rec);
	} else {
		check(!rec && n_errors == 1);
	}
	close(fd);
	return 0;
}
