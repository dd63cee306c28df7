/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes UTF-8 strictly: no overlong form, no surrogate, nothing beyond U+10FFFF.
 * It must not depend on the locale.
 */
#include "record/text.h"

#include <stdint.h>

/* The smallest character that needs this many bytes. */
static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };

/* Bytes of the character at p, of which there are n; 0: it is none. */
static size_t decode(const unsigned char *p, size_t n, uint32_t *ret)
{
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4, i;
	uint32_t c = len == 1 ? p[0] : p[0] & (0xffu >> (len + 1));

	if (!len || len > n || p[0] >= 0xf8)
		return 0;
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < smallest[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*ret = c;
	return len;
}

bool watt_text_is_printable(const char *text, size_t len)
{
	size_t at = 0, n;
	uint32_t c;

	while (at < len) {
		n = decode((const unsigned char *)text + at, len - at, &c);
		if (!n || c < 0x20 || (c >= 0x7f && c < 0xa0))
			return false;
		at += n;
	}
	return true;
}
