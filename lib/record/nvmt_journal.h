/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace that is not whole: how it is written, so that nothing is lost with its writer, and how a
 * trace is made of it. Pure but for the files. Thread-safe.
 *
 * It begins with the header of a trace, without counts and with WATT_NVMT_JOURNAL in its reserved
 * bytes. Behind it are samples and sync points as they came, each with its section before it in a
 * byte.
 */
#ifndef WATT_RECORD_NVMT_JOURNAL_H
#define WATT_RECORD_NVMT_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nvmt.h"

#define WATT_NVMT_JOURNAL "journal"

/* Bytes of a sample of a section. */
size_t watt_nvmt_sample_size(unsigned int section);
/* Marks a header, or tells whether it is marked. */
void watt_nvmt_journal_mark(uint8_t header[WATT_NVMT_HEADER_SIZE]);
bool watt_nvmt_journal_is(const uint8_t header[WATT_NVMT_HEADER_SIZE]);
/*
 * Writes the trace to the beginning of another file, with what the counts and rates are. A journal
 * that ends in the middle of something is taken up to there. 0 or a negative errno.
 */
int watt_nvmt_journal_finish(int journal_fd, const uint8_t header[WATT_NVMT_HEADER_SIZE],
			     int trace_fd);
/* The same into a file that nobody sees. Its descriptor, or a negative errno. */
int watt_nvmt_journal_open(int journal_fd, const uint8_t header[WATT_NVMT_HEADER_SIZE]);
/*
 * Writes a trace as far as it goes: so many samples of each section, which lie one behind the other
 * in it. 0 or a negative errno.
 */
int watt_nvmt_copy(int trace_fd, const uint64_t counts[WATT_NVMT_SECTIONS], int fd);

#endif
