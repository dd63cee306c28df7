/* SPDX-License-Identifier: Apache-2.0 */
/* Text to numbers, strictly. Independent of the locale; allocates nothing. */
#include "base/parse.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "base/util.h"

#define MAX_TIME_NS (365 * 86400 * WATT_NSEC_PER_SEC)

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

int watt_scan_digits(const char **cursor, uint64_t *ret)
{
	return is_digit(**cursor) ? watt_scan_u64(cursor, ret) : -EBADMSG;
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

/* "12.5" in units of 1e-9, and what is behind it; white space is not allowed. */
static int scan_nano(const char **cursor, watt_u128 *ret)
{
	uint64_t whole, part = 0, unit = 1000000000;
	int r;

	if (!is_digit(**cursor))
		return -EBADMSG;
	r = watt_scan_u64(cursor, &whole);
	if (r < 0)
		return r;
	if (**cursor == '.') {
		if (!is_digit((*cursor)[1]))
			return -EBADMSG;
		for ((*cursor)++; is_digit(**cursor); (*cursor)++) {
			unit /= 10;
			part += (uint64_t)(**cursor - '0') * unit;
		}
	}
	*ret = (watt_u128)whole * 1000000000 + part;
	return 0;
}

int watt_parse_time(const char *text, uint64_t unit_ns, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		uint64_t unit_ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", WATT_NSEC_PER_USEC },
		{ "ms", WATT_NSEC_PER_MSEC },
		{ "s", WATT_NSEC_PER_SEC },
		{ "m", 60 * WATT_NSEC_PER_SEC },
		{ "min", 60 * WATT_NSEC_PER_SEC },
		{ "h", 3600 * WATT_NSEC_PER_SEC },
		{ "d", 86400 * WATT_NSEC_PER_SEC },
	};
	watt_u128 nano;
	size_t i;
	int r;

	r = scan_nano(&text, &nano);
	if (r < 0)
		return r;
	for (i = 0; *text && i < WATT_ARRAY_SIZE(units) && strcmp(units[i].name, text) != 0; i++)
		continue;
	if (i == WATT_ARRAY_SIZE(units))
		return -EBADMSG;
	if (*text)
		unit_ns = units[i].unit_ns;
	if (nano > (watt_u128)MAX_TIME_NS * 1000000000 / unit_ns)
		return -ERANGE;
	*ret_ns = (uint64_t)(nano * unit_ns / 1000000000);
	return 0;
}

int watt_parse_rate(const char *text, uint64_t *ret_period_ns)
{
	watt_u128 rate_nhz, period_ns;
	int r;

	r = scan_nano(&text, &rate_nhz);
	if (r < 0)
		return r;
	if (strcasecmp(text, "kHz") == 0)
		rate_nhz *= 1000;
	else if (*text && strcasecmp(text, "Hz") != 0)
		return -EBADMSG;
	if (rate_nhz == 0)
		return -ERANGE;
	period_ns = (watt_u128)WATT_NSEC_PER_SEC * 1000000000 / rate_nhz;
	if (period_ns == 0 || period_ns > MAX_TIME_NS)
		return -ERANGE;
	*ret_period_ns = (uint64_t)period_ns;
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
		if (watt_scan_digits(&text, &exponent) < 0)
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
			num = num / 10 + (num % 10 >= 5); /* beyond 19 places: keep what fits */
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

/*
 * Bytes of a letter or sign beyond ASCII that a name can have; 0: it begins with none. Spaces, what
 * turns the direction of text and what has no shape are none.
 */
static size_t take_letter(const char *text)
{
	size_t n = strnlen(text, 4), len;
	uint32_t code;

	len = watt_utf8_decode(text, n, &code);
	if (len < 2 || code <= 0xa0 || code == 0xad || (code >= 0x2000 && code < 0x2070) ||
	    code == 0x3000 || code == 0xfeff || (code >= 0xfff0 && code < 0x10000) ||
	    code >= 0xe0000)
		return 0;
	return len;
}

size_t watt_clean_name(const char *label, char *buf, size_t size)
{
	size_t n = 0, len;

	for (; *label && n + 1 < size; label += len) {
		char c = clean_char(*label);

		len = take_letter(label);
		if (n + len + 1 > size)
			break;
		if (len) {
			memcpy(buf + n, label, len);
			n += len;
			continue;
		}
		len = 1;
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

bool watt_parse_is_deeper(const char *json, size_t len, size_t most)
{
	bool is_text = false;
	size_t i, depth = 0;

	for (i = 0; i < len && depth <= most; i++) {
		if (is_text && json[i] == '\\')
			i++;
		else if (json[i] == '"')
			is_text = !is_text;
		else if (!is_text && (json[i] == '{' || json[i] == '['))
			depth++;
		else if (!is_text && (json[i] == '}' || json[i] == ']') && depth)
			depth--;
	}
	return depth > most;
}
