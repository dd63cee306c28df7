/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of numbers and texts.
 * It must not know what they mean.
 */
#include "record/column.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define MIN_CAP 256

int watt_column_reserve(struct watt_column *column, size_t bytes)
{
	size_t cap = WATT_MAX(column->cap, (size_t)MIN_CAP);
	uint8_t *data;

	if (bytes <= column->cap - column->len)
		return 0;
	while (cap - column->len < bytes)
		if (__builtin_mul_overflow(cap, (size_t)2, &cap))
			return -ENOMEM;
	data = realloc(column->data, cap);
	if (!data)
		return -ENOMEM;
	column->data = data;
	column->cap = cap;
	return 0;
}

void watt_column_done(struct watt_column *column)
{
	free(column->data);
	*column = (struct watt_column){ 0 };
}

size_t watt_column_text_size(size_t len)
{
	return WATT_COLUMN_NUMBER_MAX + len + 1;
}

void watt_column_put_text(struct watt_column *column, const char *text, size_t len)
{
	watt_column_put(column, text ? (uint64_t)len + 1 : 0);
	if (!text)
		return;
	memcpy(column->data + column->len, text, len);
	column->data[column->len + len] = '\0';
	column->len += len + 1;
}

int watt_column_get_text(struct watt_column_cursor *cursor, size_t max_len, const char **ret,
			 size_t *ret_len)
{
	uint64_t size;
	int r = watt_column_get(cursor, &size);

	if (r < 0)
		return r;
	if (size == 0) {
		*ret = NULL;
		*ret_len = 0;
		return 0;
	}
	if (size - 1 > max_len || size > (size_t)(cursor->end - cursor->p) ||
	    cursor->p[size - 1] != '\0')
		return -EBADMSG;
	*ret = (const char *)cursor->p;
	*ret_len = (size_t)size - 1;
	cursor->p += size;
	return 0;
}
