/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes text of unknown origin safe for terminals, and measures it in columns.
 * UTF-8 is decoded here and not by the locale, so that a broken byte can never hide a good one.
 */
#include "text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include <wattribute/units.h>

static bool utf8;

void text_init(void)
{
	setlocale(LC_CTYPE, "");
	utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

bool text_is_utf8(void)
{
	return utf8;
}

void text_set_utf8(bool is_utf8)
{
	utf8 = is_utf8;
}

size_t text_decode(const char *text, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	size_t len, i;
	uint32_t c;

	len = s[0] < 0x80 ? 1 :
	      s[0] < 0xc2 ? 0 :
	      s[0] < 0xe0 ? 2 :
	      s[0] < 0xf0 ? 3 :
	      s[0] < 0xf5 ? 4 :
			    0;
	if (len == 0)
		return 0;
	c = len == 1 ? s[0] : s[0] & (0x7fu >> len);
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (len > 1 && (c < least[len] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff))
		return 0;
	*ret = c;
	return len;
}

/* Columns of a character, or -1 if it may not be shown. */
static int columns_of(uint32_t c)
{
	if (c < 0x80)
		return c >= 0x20 && c < 0x7f ? 1 : -1;
	if (!utf8 || c < 0xa0)
		return -1;
	/* Marks that turn the direction, and ones that take no room and can't be seen. */
	if ((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe0fff))
		return -1;
	return wcwidth((wchar_t)c);
}

char *text_clean(char *dst, size_t size, const char *src)
{
	size_t n = 0;

	while (*src) {
		uint32_t c = 0;
		size_t len = text_decode(src, &c);

		if (len > 0 && columns_of(c) >= 0) {
			if (n + len >= size)
				break;
			memcpy(dst + n, src, len);
			n += len;
		} else {
			if (n + 1 >= size)
				break;
			dst[n++] = '?';
		}
		src += len > 0 ? len : 1;
	}
	dst[n] = '\0';
	return dst;
}

/* Bytes of the first character of clean text, and its columns. */
static size_t step(const char *text, size_t *ret_columns)
{
	uint32_t c = 0;
	size_t len = text_decode(text, &c);
	int columns = len > 0 ? columns_of(c) : 1;

	*ret_columns = columns < 0 ? 1 : (size_t)columns;
	return len > 0 ? len : 1;
}

size_t text_width(const char *text)
{
	size_t width = 0, columns;

	while (*text) {
		text += step(text, &columns);
		width += columns;
	}
	return width;
}

/* Bytes of text that fit into columns. */
static size_t bytes_in(const char *text, size_t columns)
{
	size_t n = 0, used = 0;

	while (text[n]) {
		size_t one, len = step(text + n, &one);

		if (used + one > columns)
			break;
		used += one;
		n += len;
	}
	return n;
}

char *text_fit(char *dst, size_t size, const char *text, size_t columns)
{
	bool is_cut = text_width(text) > columns;
	size_t n = bytes_in(text, is_cut && columns > 0 ? columns - 1 : columns);

	if (n + 2 > size) {
		text_clean(dst, size, text);
		return dst;
	}
	memcpy(dst, text, n);
	if (is_cut && columns > 0)
		dst[n++] = '~';
	dst[n] = '\0';
	return dst;
}

void text_wrap(FILE *out, const char *text, size_t used, size_t indent, size_t width)
{
	bool is_first = true;

	while (*text) {
		size_t room = width > used ? width - used : 1;
		size_t n = bytes_in(text, room), end;

		if (!is_first)
			fprintf(out, "%*s", (int)indent, "");
		end = n;
		if (text[n]) {
			while (end > 0 && text[end] != ' ')
				end--;
			/* A word longer than the line is not broken: paths are to be copied. */
			if (end == 0)
				end = strcspn(text, " ");
		}
		fprintf(out, "%.*s\n", (int)end, text);
		text += end;
		text += strspn(text, " ");
		used = indent;
		is_first = false;
	}
	if (is_first)
		fputc('\n', out);
}

char *text_uncertainty(char *buf, uint32_t uncertainty_ppm)
{
	return watt_units_uncertainty(buf, uncertainty_ppm, text_is_utf8());
}
