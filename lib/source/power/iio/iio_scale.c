/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scale and offset of IIO channels as exact fractions. An offset with a fraction is moved into
 * the scale, so that raw values stay whole. Pure: it must not read files.
 */
#include "source/power/iio/iio_scale.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"

/* offset_num / offset_den with its sign; zero is allowed. */
static int parse_offset(const char *text, int64_t *ret_num, uint64_t *ret_den)
{
	uint64_t num, den;
	int64_t whole;
	int r;

	if (watt_parse_i64(text, &whole) == 0) {
		*ret_num = whole;
		*ret_den = 1;
		return 0;
	}
	text += strspn(text, " \t\n\v\f\r");
	if (strspn(text, "-0.") == strlen(text) && strchr(text, '0')) {
		*ret_num = 0;
		*ret_den = 1;
		return 0;
	}
	r = watt_parse_ratio(*text == '-' ? text + 1 : text, &num, &den);
	if (r < 0)
		return r;
	if (num > INT64_MAX || den > INT64_MAX)
		return -ERANGE;
	*ret_num = *text == '-' ? -(int64_t)num : (int64_t)num;
	*ret_den = den;
	return 0;
}

int watt_iio_scale_parse(const char *scale, const char *offset, struct watt_iio_scale *ret)
{
	struct watt_iio_scale s = WATT_IIO_SCALE_ONE;
	uint64_t offset_den;
	int r;

	if (scale) {
		r = watt_parse_ratio(scale, &s.num, &s.den);
		if (r < 0)
			return r;
	}
	if (offset) {
		r = parse_offset(offset, &s.add, &offset_den);
		if (r < 0)
			return r;
		s.mul = (int64_t)offset_den;
		r = watt_iio_fraction_multiply(s.num, s.den, 1, offset_den, &s.num, &s.den);
		if (r < 0)
			return r;
	}
	*ret = s;
	return 0;
}

static void reduce(uint64_t *a, uint64_t *b)
{
	uint64_t d = watt_gcd_u64(*a, *b);

	if (d > 1) {
		*a /= d;
		*b /= d;
	}
}

int watt_iio_fraction_multiply(uint64_t a_num, uint64_t a_den, uint64_t b_num, uint64_t b_den,
			       uint64_t *ret_num, uint64_t *ret_den)
{
	uint64_t num, den;

	reduce(&a_num, &a_den);
	reduce(&b_num, &b_den);
	reduce(&a_num, &b_den);
	reduce(&b_num, &a_den);
	if (__builtin_mul_overflow(a_num, b_num, &num) ||
	    __builtin_mul_overflow(a_den, b_den, &den))
		return -ERANGE;
	*ret_num = num;
	*ret_den = den;
	return 0;
}
