/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of a chunk, each with what it can be: whatever is not that is a fault, and where it
 * lies is kept. All return 0 or -EBADMSG, and leave *ret alone on failure. One thread per object.
 */
#ifndef WATT_RECORD_VALUE_H
#define WATT_RECORD_VALUE_H

#include "record/unpack.h"

struct watt_values {
	struct watt_unpacker unpacker;
	struct watt_chunk_fault fault; /* of the newest -EBADMSG */
};

static inline struct watt_column_cursor *watt_values_cursor(struct watt_values *values,
							    enum watt_column_id column)
{
	return &values->unpacker.columns[column];
}

/* The column ends too early, or holds what cannot be: -EBADMSG. */
int watt_values_refuse(struct watt_values *values, enum watt_column_id column);
/* At most max. */
int watt_values_get(struct watt_values *values, enum watt_column_id column, uint64_t max,
		    uint64_t *ret);
int watt_values_get_u32(struct watt_values *values, enum watt_column_id column, uint32_t max,
			uint32_t *ret);
/* By how much it differs from what was predicted is what the column has. */
int watt_values_get_difference(struct watt_values *values, enum watt_column_id column,
			       uint64_t predicted, uint64_t max, uint64_t *ret);
int watt_values_get_difference_u32(struct watt_values *values, enum watt_column_id column,
				   uint32_t *inout);
/* A text without a NUL inside, as long as the chunk; NULL: there is none. */
int watt_values_get_text(struct watt_values *values, enum watt_column_id column, const char **ret);
int watt_values_get_comm(struct watt_values *values, enum watt_column_id column, char ret[16]);
/* How many items an op has: as many must be left in `column`, before room is made for them. */
int watt_values_get_count(struct watt_values *values, enum watt_column_id count,
			  enum watt_column_id column, size_t *ret);

#endif
