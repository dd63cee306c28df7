/* SPDX-License-Identifier: Apache-2.0 */
/* Names come from anybody; a process can choose its own to break a reader. */
#include "sink/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static const char replacement[] = "\xef\xbf\xbd";

/* The next character: *ret_len bytes, or 0xfffd for a byte that is none. */
static uint32_t next(const char *text, size_t *ret_len)
{
	uint32_t c = 0xfffd;

	*ret_len = watt_utf8_decode(text, strnlen(text, 4), &c);
	if (*ret_len == 0)
		*ret_len = 1;
	return c;
}

static int is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/* What a spreadsheet would run: a name must not become a formula. */
static bool is_formula(const char *text)
{
	return *text && strchr("=+-@\t\r", *text);
}

void watt_escape_csv(FILE *out, const char *text)
{
	int is_quoted = text[strcspn(text, "\",\r\n")] || *text == ' ' ||
			(*text && text[strlen(text) - 1] == ' ');
	size_t len;

	if (is_quoted)
		fputc('"', out);
	if (is_formula(text))
		fputc('\'', out);
	for (; *text; text += len) {
		uint32_t c = next(text, &len);

		if (c == '"')
			fputs("\"\"", out);
		else if (c == 0xfffd || (is_control(c) && c != '\n' && c != '\r' && c != '\t'))
			fputs(replacement, out);
		else
			fwrite(text, 1, len, out);
	}
	if (is_quoted)
		fputc('"', out);
}

static const char *xml_entity(uint32_t c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	case 0xfffd:
	case 0xfffe:
	case 0xffff:
		return replacement;
	default:
		return is_control(c) ? replacement : NULL;
	}
}

void watt_escape_xml(FILE *out, const char *text, size_t n)
{
	const char *end = text + n;
	size_t len;

	for (; text < end; text += len) {
		const char *entity = xml_entity(next(text, &len));

		if (entity)
			fputs(entity, out);
		else
			fwrite(text, 1, len, out);
	}
}

char *watt_escape_utf8(const char *text)
{
	char *clean = calloc(strlen(text) + 1, sizeof(replacement) - 1), *end = clean;
	size_t len;

	if (!clean)
		return NULL;
	for (; *text; text += len) {
		uint32_t c = next(text, &len);

		if (c == 0xfffd || is_control(c))
			end = stpcpy(end, replacement);
		else
			end = mempcpy(end, text, len);
	}
	*end = '\0';
	return clean;
}
