/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a recording hold when it has ended: read from them, not remembered. */
#ifndef WATT_CLI_RECORD_FILES_H
#define WATT_CLI_RECORD_FILES_H

#include <stdint.h>

struct record_files {
	uint32_t n;   /* that can be read; 0: none, and the rest says nothing */
	char *newest; /* of them */
	uint64_t samples;
	uint64_t marks; /* each once, also those with which a later file begins again */
	uint64_t bytes;
	uint64_t lost_ns;
	uint64_t lost_samples;
	uint64_t lost_usage;
	uint64_t lost_marks;
	uint64_t missed_reads;
	uint32_t n_begun; /* the number of the newest */
	uint64_t newest_mark_ns;
	uint64_t start_realtime_ns; /* of the newest */
};

/* Reads what is left of n_files files, the first of which is path. */
void record_files_read(struct record_files *files, const char *path, uint32_t n_files);
void record_files_done(struct record_files *files);

#endif
