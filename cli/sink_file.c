/* SPDX-License-Identifier: Apache-2.0 */
/* Takes bytes from a sink, and says what goes wrong. */
#include "sink_file.h"

#include <errno.h>
#include <string.h>

#include "message.h"

static int write_bytes(void *data, const void *bytes, size_t n)
{
	FILE *const *file = data;

	errno = 0;
	if (fwrite(bytes, 1, n, *file) == n)
		return 0;
	return errno ? -errno : -EIO;
}

int sink_file_open(const char *name, FILE *const *file, struct watt_sink **ret)
{
	struct watt_sink_opts opts = { .sz = sizeof(opts),
				       .write = write_bytes,
				       .write_data = (void *)file,
				       .log = message_log };
	int r;

	r = watt_sink_open(name, &opts, ret);
	if (r < 0)
		message_error("cannot write %s: %s", name, strerror(-r));
	return r;
}

int sink_file_put(struct watt_sink *sink, FILE *file, struct watt_snapshot *snap)
{
	int r;

	r = watt_sink_put_snapshot(sink, snap);
	errno = 0;
	if (r == 0 && fflush(file) == EOF)
		r = errno ? -errno : -EIO;
	if (r < 0 && r != -EPIPE && r != -EINTR)
		message_error("cannot write the output: %s", strerror(-r));
	return r;
}
