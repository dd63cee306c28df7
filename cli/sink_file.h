/* SPDX-License-Identifier: Apache-2.0 */
/* One of the library's sinks that writes into a file of the C library. */
#ifndef WATT_CLI_SINK_FILE_H
#define WATT_CLI_SINK_FILE_H

#include <stdio.h>

#include <wattribute/sink.h>

/*
 * 0 or a negative errno, and a line has been printed. The file need not be open before something
 * is written; what points to it must outlive the sink.
 */
int sink_file_open(const char *name, FILE *const *file, struct watt_sink **ret);
/*
 * Puts a snapshot, and has it stand in the file. 0 or a negative errno; a line has been printed
 * unless it is -EPIPE or -EINTR: a reader that went or does not read when all shall end is no
 * failure.
 */
int sink_file_put(struct watt_sink *sink, FILE *file, struct watt_snapshot *snap);

#endif
