/* SPDX-License-Identifier: Apache-2.0 */
/* Words, quotes, errors and numbers; nothing of it depends on a locale. */
#include "source/power/nut/nut_line.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/util.h"

/* A MW. */
#define MAX_MICRO (1000000LL * 1000000)

/* Puts the word at *cursor to `to`, moves both on. */
static int take_word(const char **cursor, char **to)
{
	const char *at = *cursor;
	bool is_quoted = *at == '"';

	if (is_quoted)
		at++;
	for (;;) {
		unsigned char c = (unsigned char)*at;

		if (is_quoted ? c == '"' : (!c || c == ' ' || c == '"'))
			break;
		if (c < ' ' || c == 0x7f)
			return -EBADMSG; /* an open quote ends here, too */
		if (c == '\\' && is_quoted) {
			if (at[1] != '"' && at[1] != '\\')
				return -EBADMSG;
			at++;
		}
		*(*to)++ = *at++;
	}
	if (is_quoted)
		at++;
	if (*at && *at != ' ')
		return -EBADMSG;
	*(*to)++ = '\0';
	*cursor = at;
	return 0;
}

int watt_nut_line_parse(const char *text, struct watt_nut_line *ret)
{
	char *to = ret->text;
	int r;

	ret->n_words = 0;
	if (strlen(text) >= sizeof(ret->text))
		return -EMSGSIZE;
	for (;;) {
		while (*text == ' ')
			text++;
		if (!*text)
			return 0;
		if (ret->n_words == WATT_NUT_WORDS_MAX)
			return -EBADMSG;
		ret->words[ret->n_words] = to;
		r = take_word(&text, &to);
		if (r < 0)
			return r;
		ret->n_words++;
	}
}

int watt_nut_line_error(const struct watt_nut_line *line)
{
	static const struct {
		const char *name;
		int error;
	} errors[] = {
		{ "DATA-STALE", -EAGAIN },         { "DRIVER-NOT-CONNECTED", -EAGAIN },
		{ "VAR-NOT-SUPPORTED", -ENODATA }, { "UNKNOWN-UPS", -ENXIO },
		{ "ACCESS-DENIED", -EACCES },
	};
	size_t i;

	if (line->n_words == 0 || strcmp(line->words[0], "ERR") != 0)
		return 0;
	for (i = 0; i < WATT_ARRAY_SIZE(errors) && line->n_words > 1; i++)
		if (!strcmp(line->words[1], errors[i].name))
			return errors[i].error;
	return -EBADMSG;
}

/* "231.5" is 231500000; what is finer is cut. */
static int parse_micro(const char *text, int64_t *ret)
{
	int64_t value = 0, unit = 1000000;
	bool any = false;

	if (*text == '-')
		return -ERANGE;
	for (; isdigit((unsigned char)*text); text++, any = true) {
		value = value * 10 + (*text - '0') * 1000000LL;
		if (value > MAX_MICRO)
			return -ERANGE;
	}
	if (*text == '.')
		for (text++; isdigit((unsigned char)*text); text++, any = true) {
			unit /= 10;
			value += (*text - '0') * unit;
		}
	if (!any || *text)
		return -EBADMSG;
	*ret = value;
	return 0;
}

int watt_nut_line_value(const struct watt_nut_line *line, const char *ups, const char *name,
			int64_t *ret)
{
	if (line->n_words != 4 || strcmp(line->words[0], "VAR") != 0 ||
	    strcmp(line->words[1], ups) != 0 || strcmp(line->words[2], name) != 0)
		return -EBADMSG;
	return parse_micro(line->words[3], ret);
}

int watt_nut_check_name(const char *name)
{
	const char *p;

	for (p = name; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr("\"\\@", *p))
			return -EINVAL;
	return p == name || p - name > 64 ? -EINVAL : 0;
}
