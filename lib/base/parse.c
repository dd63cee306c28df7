/* SPDX-License-Identifier: Apache-2.0 */
/* Text to numbers, strictly. Independent of the locale; allocates nothing. */
#include "base/parse.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/util.h"

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_space(const char *p)
{
	while (is_space(*p))
		p++;
	return p;
}

int watt_scan_u64(const char **cursor, uint64_t *ret)
{
	const char *p = skip_space(*cursor);
	uint64_t value = 0;

	if (!is_digit(*p))
		return -EBADMSG;
	for (; is_digit(*p); p++) {
		unsigned int digit = (unsigned int)(*p - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		value = value * 10 + digit;
	}
	*cursor = p;
	*ret = value;
	return 0;
}

int watt_parse_u64(const char *text, uint64_t *ret)
{
	uint64_t value;
	int r;

	r = watt_scan_u64(&text, &value);
	if (r < 0)
		return r;
	if (*skip_space(text))
		return -EBADMSG;
	*ret = value;
	return 0;
}

int watt_parse_i64(const char *text, int64_t *ret)
{
	uint64_t value, limit;
	bool negative;
	int r;

	text = skip_space(text);
	negative = *text == '-';
	if (*text == '-' || *text == '+')
		text++;
	if (!is_digit(*text))
		return -EBADMSG;
	r = watt_parse_u64(text, &value);
	if (r < 0)
		return r;
	limit = (uint64_t)INT64_MAX + negative;
	if (value > limit)
		return -ERANGE;
	*ret = negative ? (int64_t)-value : (int64_t)value;
	return 0;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int watt_parse_hex(const char *text, uint64_t *ret)
{
	uint64_t value = 0;

	text = skip_space(text);
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	if (hex_digit(*text) < 0)
		return -EBADMSG;
	for (; hex_digit(*text) >= 0; text++) {
		if (value >> 60)
			return -ERANGE;
		value = value << 4 | (uint64_t)hex_digit(*text);
	}
	if (*skip_space(text))
		return -EBADMSG;
	*ret = value;
	return 0;
}

/* A decimal number as digits * 10^exponent, as many digits as 64 bits hold. */
struct decimal {
	uint64_t digits;
	int64_t exponent;
	bool any;
};

static void decimal_digit(struct decimal *d, unsigned int digit, bool is_fraction)
{
	d->any = true;
	if (d->digits > (UINT64_MAX - digit) / 10) {
		d->exponent += !is_fraction; /* a digit too many: only its place counts */
		return;
	}
	d->digits = d->digits * 10 + digit;
	d->exponent -= is_fraction;
}

static int decimal_parse(const char *text, struct decimal *ret)
{
	struct decimal d = { 0 };
	uint64_t exponent;
	bool negative;

	for (text = skip_space(text); is_digit(*text); text++)
		decimal_digit(&d, (unsigned int)(*text - '0'), false);
	if (*text == '.')
		for (text++; is_digit(*text); text++)
			decimal_digit(&d, (unsigned int)(*text - '0'), true);
	if (!d.any)
		return -EBADMSG;
	if (*text == 'e' || *text == 'E') {
		text++;
		negative = *text == '-';
		if (*text == '-' || *text == '+')
			text++;
		if (!is_digit(*text) || watt_scan_u64(&text, &exponent) < 0)
			return -EBADMSG;
		if (exponent > 1000)
			return -ERANGE;
		d.exponent += negative ? -(int64_t)exponent : (int64_t)exponent;
	}
	if (*skip_space(text))
		return -EBADMSG;
	*ret = d;
	return 0;
}

/*
 * num / 10^n, with the power of ten cancelled first: 2^-32 has 22 digits, which is why it is
 * recognised through its reciprocal when the decimal does not fit.
 */
static int ratio_small(uint64_t digits, int64_t places, uint64_t *ret_num, uint64_t *ret_den)
{
	uint64_t num = digits, den = 1, common;

	while (places > 0) {
		if (den > UINT64_MAX / 10) {
			if (num < 10)
				return -ERANGE;
			num = (num + 5) / 10; /* beyond 19 places: keep what fits */
			places--;
			continue;
		}
		den *= 10;
		places--;
	}
	common = watt_gcd_u64(num, den);
	*ret_num = num / common;
	*ret_den = den / common;
	return 0;
}

/* Nearest power of two, if the number is one to 15 digits. */
static bool ratio_power_of_two(uint64_t digits, int64_t exponent, uint64_t *ret_num,
			       uint64_t *ret_den)
{
	long double value = digits, power = 1, error;
	int shift;

	for (; exponent < 0; exponent++)
		value /= 10;
	/* Cut digits put the value just below its power, where long double is exact enough. */
	for (shift = 0; shift < 63 && power * (1 - 1e-15L) > value; shift++)
		power /= 2;
	error = value - power;
	if (shift == 0 || error > power * 1e-15L || error < -power * 1e-15L)
		return false;
	*ret_num = 1;
	*ret_den = 1ULL << shift;
	return true;
}

int watt_parse_ratio(const char *text, uint64_t *ret_num, uint64_t *ret_den)
{
	struct decimal d;
	int r;

	r = decimal_parse(text, &d);
	if (r < 0)
		return r;
	if (d.digits == 0 || d.exponent < -60)
		return -ERANGE;
	while (d.digits % 10 == 0 && d.exponent < 0) {
		d.digits /= 10;
		d.exponent++;
	}
	if (d.exponent < 0 && ratio_power_of_two(d.digits, d.exponent, ret_num, ret_den))
		return 0;
	for (; d.exponent > 0; d.exponent--) {
		if (d.digits > UINT64_MAX / 10)
			return -ERANGE;
		d.digits *= 10;
	}
	return ratio_small(d.digits, -d.exponent, ret_num, ret_den);
}

static int cpulist_cpu(const char **cursor, unsigned int *ret)
{
	uint64_t value;
	int r;

	r = watt_scan_u64(cursor, &value);
	if (r < 0)
		return r;
	if (value >= 65536)
		return -ERANGE;
	*ret = (unsigned int)value;
	return 0;
}

int watt_parse_cpulist(const char *text, int (*fn)(unsigned int cpu, void *data), void *data)
{
	unsigned int first, last;
	int r;

	text = skip_space(text);
	while (*text) {
		r = cpulist_cpu(&text, &first);
		if (r < 0)
			return r;
		last = first;
		if (*text == '-') {
			text++;
			r = cpulist_cpu(&text, &last);
			if (r < 0)
				return r;
		}
		if (last < first)
			return -EBADMSG;
		for (; first <= last; first++) {
			r = fn(first, data);
			if (r != 0)
				return r;
		}
		text = skip_space(text);
		if (*text == ',')
			text++;
		else if (*text)
			return -EBADMSG;
	}
	return 0;
}

static char clean_char(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	if ((c >= 'a' && c <= 'z') || is_digit(c) || c == ':' || c == '_' || c == '-')
		return c;
	return '_';
}

size_t watt_clean_name(const char *label, char *buf, size_t size)
{
	size_t n = 0;

	for (; *label && n + 1 < size; label++) {
		char c = clean_char(*label);

		if (c == '_' && n == 0)
			continue;
		buf[n++] = c;
	}
	while (n > 0 && buf[n - 1] == '_')
		n--;
	if (size)
		buf[n] = '\0';
	return n;
}
