/* SPDX-License-Identifier: Apache-2.0 */
/* Takes values out of columns, and says where the first one lies that makes no sense. */
#include "record/value.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"

int watt_values_refuse(struct watt_values *values, enum watt_column_id column)
{
	const struct watt_column_cursor *cursor = watt_values_cursor(values, column);

	values->fault.what = watt_column_kinds[column].name;
	values->fault.offset = cursor->p ? (size_t)(cursor->p - values->unpacker.data) :
					   values->unpacker.size;
	return -EBADMSG;
}

int watt_values_get(struct watt_values *values, enum watt_column_id column, uint64_t max,
		    uint64_t *ret)
{
	uint64_t value;

	if (watt_column_get(watt_values_cursor(values, column), &value) < 0 || value > max)
		return watt_values_refuse(values, column);
	*ret = value;
	return 0;
}

int watt_values_get_u32(struct watt_values *values, enum watt_column_id column, uint32_t max,
			uint32_t *ret)
{
	uint64_t value;
	int r = watt_values_get(values, column, max, &value);

	if (r == 0)
		*ret = (uint32_t)value;
	return r;
}

int watt_values_get_difference(struct watt_values *values, enum watt_column_id column,
			       uint64_t predicted, uint64_t max, uint64_t *ret)
{
	uint64_t value;

	if (watt_column_get_difference(watt_values_cursor(values, column), predicted, &value) < 0 ||
	    value > max)
		return watt_values_refuse(values, column);
	*ret = value;
	return 0;
}

int watt_values_get_difference_u32(struct watt_values *values, enum watt_column_id column,
				   uint32_t *inout)
{
	uint64_t value;
	int r = watt_values_get_difference(values, column, *inout, UINT32_MAX, &value);

	if (r == 0)
		*inout = (uint32_t)value;
	return r;
}

int watt_values_get_text(struct watt_values *values, enum watt_column_id column, const char **ret)
{
	size_t len;

	if (watt_column_get_text(watt_values_cursor(values, column), WATT_TEXT_MAX, ret, &len) <
		    0 ||
	    (*ret && strlen(*ret) != len))
		return watt_values_refuse(values, column);
	return 0;
}

int watt_values_get_comm(struct watt_values *values, enum watt_column_id column, char ret[16])
{
	const char *text;
	size_t len;

	if (watt_column_get_text(watt_values_cursor(values, column), 15, &text, &len) < 0 || !text)
		return watt_values_refuse(values, column);
	memset(ret, 0, 16);
	memcpy(ret, text, len);
	return 0;
}

int watt_values_get_count(struct watt_values *values, enum watt_column_id count,
			  enum watt_column_id column, size_t *ret)
{
	uint64_t max = WATT_MIN((uint64_t)WATT_OP_MAX, watt_values_cursor(values, column)->n), n;
	int r = watt_values_get(values, count, max, &n);

	if (r == 0)
		*ret = (size_t)n;
	return r;
}
