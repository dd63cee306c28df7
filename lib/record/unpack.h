/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a chunk, taken apart into columns. One thread per object. */
#ifndef WATT_RECORD_UNPACK_H
#define WATT_RECORD_UNPACK_H

#include "record/chunk.h"

struct watt_unpacker {
	void *zstd;
	uint8_t *data; /* unpacked */
	size_t size;
	size_t cap;
	struct watt_column_cursor columns[WATT_N_COLUMNS];
};

/* 0 or -ENOMEM. */
int watt_unpacker_init(struct watt_unpacker *unpacker);
/* Accepts one of zeros. */
void watt_unpacker_done(struct watt_unpacker *unpacker);
/* Columns that nobody knows are skipped. 0; -EBADMSG with the fault, no column then; -ENOMEM. */
int watt_unpacker_open(struct watt_unpacker *unpacker, const void *data, size_t size,
		       struct watt_chunk_fault *ret_fault);

#endif
