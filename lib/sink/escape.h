/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of unknown origin inside a file of some format: whatever it holds, the file stays valid
 * and means the same to every reader. What is not UTF-8 becomes U+FFFD.
 */
#ifndef WATT_SINK_ESCAPE_H
#define WATT_SINK_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/*
 * A field by RFC 4180: in quotes where it must be. Control characters become U+FFFD, and what a
 * spreadsheet would take for a formula (= + - @ in front) gets an apostrophe before it.
 */
void watt_escape_csv(FILE *out, const char *text);
/* Text or the value of an attribute of XML 1.0: n bytes that are whole characters. */
void watt_escape_xml(FILE *out, const char *text, size_t n);
/* The same text as valid UTF-8 without control characters; free it. NULL: out of memory. */
char *watt_escape_utf8(const char *text);

#endif
