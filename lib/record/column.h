/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A column: the values of one kind in a chunk, one behind the other. Numbers are LEB128, signed
 * ones in zigzag; a text is its length + 1 (0: there is none) and its bytes with a NUL. Written
 * by one thread at a time. Reading trusts nothing.
 */
#ifndef WATT_RECORD_COLUMN_H
#define WATT_RECORD_COLUMN_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers are those of the file format: never change one. */
enum watt_encoding {
	WATT_ENCODING_UNSIGNED = 0,
	WATT_ENCODING_SIGNED = 1,
	WATT_ENCODING_TEXT = 2,
};

#define WATT_COLUMN_NUMBER_MAX 10 /* bytes of the longest number */

struct watt_column {
	uint8_t *data;
	size_t len;
	size_t cap;
	uint32_t n; /* values */
};

/* Makes room for so many bytes more. 0 or -ENOMEM. */
int watt_column_reserve(struct watt_column *column, size_t bytes);
/* Accepts one of zeros. */
void watt_column_done(struct watt_column *column);
/* Bytes that a text takes; NULL: none. */
size_t watt_column_text_size(size_t len);

/* ---- what follows needs room that was reserved ---- */

static inline void watt_column_put(struct watt_column *column, uint64_t value)
{
	uint8_t *p = column->data + column->len;

	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	column->len = (size_t)(p - column->data);
	column->n++;
}

/* By how much a value differs from what was predicted, modulo 2^64. */
static inline void watt_column_put_difference(struct watt_column *column, uint64_t value,
					      uint64_t predicted)
{
	uint64_t d = value - predicted;

	watt_column_put(column, (d << 1) ^ (0 - (d >> 63)));
}

/* text NULL: there is none. */
void watt_column_put_text(struct watt_column *column, const char *text, size_t len);

/* ---- reading ---- */

struct watt_column_cursor {
	const uint8_t *p;
	const uint8_t *end;
	uint32_t n; /* values not read yet */
};

/* The number at the cursor. 0; -EBADMSG: there is none, or it is longer than 64 bits. */
static inline int watt_column_get(struct watt_column_cursor *cursor, uint64_t *ret)
{
	const uint8_t *p = cursor->p;
	unsigned int shift = 0;
	uint64_t value = 0;

	if (!cursor->n)
		return -EBADMSG;
	for (; p < cursor->end && shift < 64; shift += 7) {
		uint64_t bits = *p & 0x7f;

		if (shift == 63 && bits > 1)
			break;
		value |= bits << shift;
		if (!(*p++ & 0x80)) {
			cursor->p = p;
			cursor->n--;
			*ret = value;
			return 0;
		}
	}
	return -EBADMSG;
}

/* What was written by watt_column_put_difference. */
static inline int watt_column_get_difference(struct watt_column_cursor *cursor, uint64_t predicted,
					     uint64_t *ret)
{
	uint64_t zigzag = 0;
	int r = watt_column_get(cursor, &zigzag);

	if (r == 0)
		*ret = predicted + ((zigzag >> 1) ^ (0 - (zigzag & 1)));
	return r;
}

/*
 * The text at the cursor, which stays where it is: *ret is NULL if there is none. A text longer
 * than max_len, without its NUL at the end, is -EBADMSG. It may have NULs inside.
 */
int watt_column_get_text(struct watt_column_cursor *cursor, size_t max_len, const char **ret,
			 size_t *ret_len);

#endif
