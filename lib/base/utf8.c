/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes UTF-8. It must not read a byte behind what it was given. */
#include "base/utf8.h"

size_t watt_utf8_decode(const char *text, size_t n, uint32_t *ret)
{
	/* The least code point that needs so many bytes: a longer form is not valid. */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	uint32_t code;
	size_t len, i;

	if (n == 0)
		return 0;
	len = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (len == 0 || len > n || p[0] >= 0xf8)
		return 0;
	code = len == 1 ? p[0] : p[0] & (0xffu >> (len + 1));
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3fu);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	if (ret)
		*ret = code;
	return len;
}

bool watt_utf8_is_printable(const char *text, size_t n)
{
	uint32_t code = 0;
	size_t i, len;

	for (i = 0; i < n; i += len) {
		len = watt_utf8_decode(text + i, n - i, &code);
		if (len == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0))
			return false;
	}
	return true;
}

size_t watt_utf8_fit(const char *text, size_t n, size_t size)
{
	size_t fit = n < size ? n : size;

	while (fit > 0 && fit < n && ((unsigned char)text[fit] & 0xc0) == 0x80)
		fit--;
	return fit;
}
