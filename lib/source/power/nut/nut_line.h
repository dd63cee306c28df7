/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What upsd, the server of Network UPS Tools, says: lines of words, some of them in quotes, as its
 * documented protocol has them. Pure.
 */
#ifndef WATT_SOURCE_POWER_NUT_NUT_LINE_H
#define WATT_SOURCE_POWER_NUT_NUT_LINE_H

#include <stdint.h>

/* Longer lines are none. */
#define WATT_NUT_LINE_MAX 1024
#define WATT_NUT_WORDS_MAX 8

struct watt_nut_line {
	char text[WATT_NUT_LINE_MAX]; /* the words, each with a NUL behind it */
	char *words[WATT_NUT_WORDS_MAX];
	unsigned int n_words;
};

/*
 * One line without its end. Quotes and what they escape are undone. 0; -EBADMSG: quotes that don't
 * end, a control character, or too many words; -EMSGSIZE.
 */
int watt_nut_line_parse(const char *text, struct watt_nut_line *ret);
/*
 * 0, or what the server refuses: -EAGAIN: its driver has nothing new to say; -ENODATA: it has no
 * such value; -ENXIO: no such UPS; -EACCES; -EBADMSG: anything else.
 */
int watt_nut_line_error(const struct watt_nut_line *line);
/* "VAR ups name value": its value in millionths. -EBADMSG: it is no such line or no number;
 * -ERANGE: negative, or more than any machine takes. */
int watt_nut_line_value(const struct watt_nut_line *line, const char *ups, const char *name,
			int64_t *ret);
/* Whether a name can be asked for as it is: without spaces, quotes and control characters. */
int watt_nut_check_name(const char *name);

#endif
