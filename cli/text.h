/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for terminals: names come from anybody, so nothing that a terminal obeys may pass. What
 * is left is counted in columns, not bytes.
 */
#ifndef WATT_CLI_TEXT_H
#define WATT_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Takes the locale's characters (numbers stay as in C). Call it once, before anything prints. */
void text_init(void);
/* Whether the locale writes UTF-8; without it all text is plain ASCII. */
bool text_is_utf8(void);
/* For tests. */
void text_set_utf8(bool is_utf8);
/* Decodes one character of UTF-8; returns its length, or 0 if there is no valid one. */
size_t text_decode(const char *text, uint32_t *ret);

/*
 * Copies src without control characters, escape sequences, characters that turn the direction of
 * writing, or broken UTF-8: each becomes '?'. Never cuts a character; returns dst.
 */
char *text_clean(char *dst, size_t size, const char *src);
/* Columns that clean text takes. */
size_t text_width(const char *text);
/* Copies as much of clean text as fits into columns; what is cut ends in '~'. Returns dst. */
char *text_fit(char *dst, size_t size, const char *text, size_t columns);
/*
 * Prints clean text broken at spaces, so that no line is longer than width. The first line begins
 * at column `used`; the others are indented by `indent`. Ends the line.
 */
void text_wrap(FILE *out, const char *text, size_t used, size_t indent, size_t width);
/* watt_units_uncertainty() in the characters that the locale has. */
char *text_uncertainty(char *buf, uint32_t uncertainty_ppm);

#endif
