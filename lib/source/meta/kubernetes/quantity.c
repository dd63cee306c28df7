/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sign, digits with a point among them, and a suffix: of powers of 2, of powers of 10, or an
 * exponent. Digits are kept as they are until the suffix says what they are worth.
 */
#include "source/meta/kubernetes/quantity.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MAX_DIGITS 37 /* of 128 bits */
#define NANO_DIGITS 9

/* digits * 10^exponent, and more than that if something was cut off. */
struct number {
	watt_u128 digits;
	int64_t exponent;
	bool is_cut;
	bool has_digit;
	bool is_negative;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void add_digit(struct number *number, char c, bool is_behind_point)
{
	static const watt_u128 ten = 10;
	watt_u128 most = 1;
	int i;

	number->has_digit = true;
	for (i = 0; i < MAX_DIGITS; i++)
		most *= ten;
	if (number->digits < most) {
		number->digits = number->digits * ten + (watt_u128)(c - '0');
		number->exponent -= is_behind_point;
	} else {
		number->is_cut |= c != '0';
		number->exponent += !is_behind_point;
	}
}

static const char *scan_digits(const char *text, struct number *number)
{
	if (*text == '+' || *text == '-')
		number->is_negative = *text++ == '-';
	for (; is_digit(*text); text++)
		add_digit(number, *text, false);
	if (*text != '.')
		return text;
	for (text++; is_digit(*text); text++)
		add_digit(number, *text, true);
	return text;
}

/* "e3", "E-3". What is out of all bounds is cut to where nothing is left, or all is too much. */
static int scan_exponent(const char *text, int64_t *exponent)
{
	bool is_negative = false;
	int64_t value = 0;

	if (*text == '+' || *text == '-')
		is_negative = *text++ == '-';
	if (!is_digit(*text))
		return -EBADMSG;
	for (; is_digit(*text); text++)
		value = WATT_MIN(value * 10 + (*text - '0'), (int64_t)1000000);
	*exponent += is_negative ? -value : value;
	return *text ? -EBADMSG : 0;
}

/* Of a power of 2, *ret_shift is how many; of 10, it is added to the exponent. */
static int scan_suffix(const char *text, int64_t *exponent, unsigned int *ret_shift)
{
	static const struct {
		const char *name;
		int exponent;
		unsigned int shift;
	} suffixes[] = {
		{ "", 0, 0 },    { "n", -9, 0 },  { "u", -6, 0 },  { "m", -3, 0 },
		{ "k", 3, 0 },   { "M", 6, 0 },   { "G", 9, 0 },   { "T", 12, 0 },
		{ "P", 15, 0 },  { "E", 18, 0 },  { "Ki", 0, 10 }, { "Mi", 0, 20 },
		{ "Gi", 0, 30 }, { "Ti", 0, 40 }, { "Pi", 0, 50 }, { "Ei", 0, 60 },
	};
	size_t i;

	*ret_shift = 0;
	for (i = 0; i < WATT_ARRAY_SIZE(suffixes); i++)
		if (!strcmp(text, suffixes[i].name)) {
			*exponent += suffixes[i].exponent;
			*ret_shift = suffixes[i].shift;
			return 0;
		}
	return *text == 'e' || *text == 'E' ? scan_exponent(text + 1, exponent) : -EBADMSG;
}

/* digits * 2^shift * 10^exponent, of what is finer than one the next greater number. */
static watt_u128 scale(struct number number, unsigned int shift)
{
	const watt_u128 most = (watt_u128)WATT_QUANTITY_MAX;
	watt_u128 value = number.digits;
	bool is_cut = number.is_cut;

	/* what divides comes first where a product would not fit, and the other way round */
	while (value && (shift || number.exponent)) {
		if (shift && value <= most) {
			value *= 2;
			shift--;
		} else if (number.exponent < 0) {
			is_cut |= value % 10 != 0;
			value /= 10;
			number.exponent++;
		} else if (value > most) {
			return most;
		} else {
			value *= 10;
			number.exponent--;
		}
	}
	value += is_cut || (!value && number.digits);
	return WATT_MIN(value, most);
}

int watt_quantity_parse(const char *text, watt_i128 *ret)
{
	struct number number = { 0 };
	unsigned int shift;
	watt_u128 value;
	int r;

	text = scan_digits(text, &number);
	if (!number.has_digit)
		return -EBADMSG;
	r = scan_suffix(text, &number.exponent, &shift);
	if (r < 0)
		return r;
	number.exponent += NANO_DIGITS;
	value = scale(number, shift);
	*ret = number.is_negative ? -(watt_i128)value : (watt_i128)value;
	return 0;
}

const char *watt_quantity_print(watt_i128 quantity, char *buf, size_t size)
{
	watt_u128 value = (watt_u128)(quantity < 0 ? -quantity : quantity);
	uint64_t units = (uint64_t)(value / WATT_QUANTITY_ONE);
	uint32_t rest = (uint32_t)(value % WATT_QUANTITY_ONE);
	char digits[16];
	size_t n = NANO_DIGITS;

	snprintf(digits, sizeof(digits), "%09u", rest);
	while (n && digits[n - 1] == '0')
		digits[--n] = '\0';
	snprintf(buf, size, "%s%llu%s%s", quantity < 0 ? "-" : "", (unsigned long long)units,
		 n ? "." : "", digits);
	return buf;
}
