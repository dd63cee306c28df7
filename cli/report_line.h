/* SPDX-License-Identifier: Apache-2.0 */
/* What reports for a terminal are made of. */
#ifndef WATT_CLI_REPORT_LINE_H
#define WATT_CLI_REPORT_LINE_H

#include <stddef.h>
#include <stdio.h>

#include "table.h"

/* A sentence that grows, with commas. */
struct report_line {
	char text[1024];
	size_t n;
};

__attribute__((format(printf, 2, 3))) void report_say(struct report_line *line, const char *format,
						      ...);
/* Prints what was said, wrapped, and begins anew; nothing if nothing was said. */
void report_end(struct report_line *line, FILE *out, size_t indent, size_t width);
void report_title(const char *title, FILE *out);
/* With the decimals of a page; a part too small to be seen is not nothing. */
void report_number(struct table *table, double value, int decimals);

#endif
