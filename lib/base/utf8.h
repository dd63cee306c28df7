/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, strictly: no longer forms, no surrogates, nothing above U+10FFFF. */
#ifndef WATT_BASE_UTF8_H
#define WATT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of the character that text begins with, of which there are n; its code point in *ret
 * (NULL is allowed). 0: it is none. NUL is a character.
 */
size_t watt_utf8_decode(const char *text, size_t n, uint32_t *ret);
/* Whether n bytes are characters that can be printed: none of C0, C1 and DEL among them. */
bool watt_utf8_is_printable(const char *text, size_t n);
/* How many of n bytes of valid text fit into size bytes without cutting a character. */
size_t watt_utf8_fit(const char *text, size_t n, size_t size);

#endif
