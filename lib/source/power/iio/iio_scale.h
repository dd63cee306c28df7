/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of IIO: (raw + offset) * scale, kept as exact fractions. Thread-safe. */
#ifndef WATT_SOURCE_POWER_IIO_IIO_SCALE_H
#define WATT_SOURCE_POWER_IIO_IIO_SCALE_H

#include <stdint.h>

/* canonical = (raw * mul + add) * num / den */
struct watt_iio_scale {
	int64_t mul;
	int64_t add;
	uint64_t num;
	uint64_t den;
};

#define WATT_IIO_SCALE_ONE \
	{ \
		1, 0, 1, 1 \
	}

/*
 * From the text of the scale and offset files; NULL: there is none. -EBADMSG: not a decimal
 * number; -ERANGE: too large, or a scale of zero.
 */
int watt_iio_scale_parse(const char *scale, const char *offset, struct watt_iio_scale *ret);
/* ret = a / b * c / d, reduced. -ERANGE: does not fit. */
int watt_iio_fraction_multiply(uint64_t a_num, uint64_t a_den, uint64_t b_num, uint64_t b_den,
			       uint64_t *ret_num, uint64_t *ret_den);

#endif
